//! The headset: tracked controllers on an OpenXR runtime.

pub mod actions;
pub mod controls;
pub mod doctor;
pub mod profiles;
