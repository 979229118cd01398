//! The window, from end to end: `sinew edit` on a real X server (Xvfb), moved by X's own test events, looked at by
//! screenshots, with Vulkan's validation layer switched on. Nothing in between knows that it is a test.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod bed;
mod desktop;
mod drop;
mod opening;
mod posing;
mod stage;
