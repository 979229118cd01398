//! End-to-end tests of the headset: `sinew vr` runs under a real OpenXR runtime with the validation layers of OpenXR
//! and Vulkan. A puppet simulates the headset and the controllers; no physical headset or display is needed.

pub mod bed;
mod body;
mod bones;
mod cages;
mod details;
mod drawing;
mod faces;
mod flesh;
mod grips;
mod mirror;
mod one_session;
mod palette;
mod review;
pub mod shaping;
pub mod stage;
mod stereo;
mod takes;
mod travel;
mod trouble;
mod whole;
