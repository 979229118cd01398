//! End-to-end tests of the window on a virtual X server, and of the headset on a real OpenXR runtime.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod desktop;
mod headset;
mod man;
mod program;
mod tasks;
mod window;
