//! The skeleton, its pose, and the resulting transforms of joints and bones.

mod bones;
mod build;
mod pose;
mod skeleton;
#[cfg(test)]
mod tests;

pub(crate) use build::{in_scene, skin_of};
pub use pose::{BonePose, Pose, PosedRig};
pub use skeleton::{Bone, Joint, RigNode, Skeleton, SkinPlacement};
