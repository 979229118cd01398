//! Both faces from end to end: the window on an X server without a screen, the headset on a real OpenXR runtime.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod desk;
mod desktop;
mod headset;
mod man;
mod program;
