//! The headset front end, from end to end: `sinew vr` under the real OpenXR runtime, moved by a puppet, with the
//! validation layers of OpenXR and Vulkan switched on. Without a display and without a headset.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../common/data.rs"]
mod data;

mod bed;
mod body;
#[path = "../common/desktop.rs"]
#[allow(dead_code, reason = "the window's scenarios use the rest")]
mod desktop;
mod drawing;
mod endurance;
mod faces;
#[path = "../common/man.rs"]
mod man;
mod mirror;
mod palette;
#[path = "../common/program.rs"]
#[allow(dead_code, reason = "the window's scenarios use the rest")]
mod program;
mod review;
mod shaping;
mod stage;
mod stereo;
mod takes;
mod trouble;
mod whole;
