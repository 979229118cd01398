//! Animation: evaluates clips, and builds clips from poses.
//!
//! [`crate::asset::Clip`] is the keyframe format of this module. The loader reads clips, [`sample()`] evaluates a clip
//! into a [`crate::rig::Pose`], [`clip_from_poses`] builds a clip, and `export` writes it.

mod build;
mod curve;
mod ranges;
mod sample;
mod thin;

pub use build::clip_from_poses;
pub use curve::Curve;
pub use ranges::limits_of_clips;
pub use sample::{evaluate, sample};
pub use thin::{thin, thin_channel};
