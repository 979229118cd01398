//! The headset front end, from end to end: `sinew vr` under the real OpenXR runtime, moved by a puppet, with the
//! validation layers of OpenXR and Vulkan switched on. Without a display and without a headset.

mod bed;
mod body;
mod drawing;
mod faces;
mod mirror;
mod one_session;
mod palette;
mod review;
mod shaping;
mod stage;
mod stereo;
mod takes;
mod trouble;
mod whole;
