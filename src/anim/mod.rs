//! Animation: evaluates clips, and builds clips from poses.
//!
//! A [`crate::asset::Clip`] is the only form of keyframe data: the loader reads it, [`sample()`] evaluates it into a
//! [`crate::rig::Pose`], [`clip_from_poses`] builds it, and `export` writes it.

mod build;
mod curve;
mod sample;
mod thin;

pub use build::clip_from_poses;
pub use curve::Curve;
pub use sample::{evaluate, sample};
pub use thin::{thin, thin_channel};
