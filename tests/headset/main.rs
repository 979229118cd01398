//! The headset front end, from end to end: `sinew vr` under the real OpenXR runtime, moved by a puppet, with the
//! validation layers of OpenXR and Vulkan switched on. Without a display and without a headset.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod bed;
mod body;
mod drawing;
mod endurance;
mod palette;
mod review;
mod stage;
mod stereo;
mod takes;
mod trouble;
