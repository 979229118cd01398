//! The window, from end to end: `sinew edit` on a real X server (Xvfb), moved by X's own test events, looked at by
//! screenshots, with Vulkan's validation layer switched on. Nothing in between knows that it is a test.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod bed;
#[path = "../common/data.rs"]
mod data;
#[path = "../common/desktop.rs"]
mod desktop;
mod drop;
mod first;
mod flesh;
mod looking;
#[path = "../common/man.rs"]
mod man;
mod motion;
mod opening;
mod posing;
#[path = "../common/program.rs"]
#[allow(dead_code, reason = "the headset's scenarios use the rest")]
mod program;
mod stage;
mod whole;
