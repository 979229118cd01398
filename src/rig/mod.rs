//! The skeleton, its pose, and what a pose means for bones.

mod pose;
mod skeleton;

pub use pose::{BonePose, Pose, PosedRig};
pub use skeleton::{Bone, Joint, RigNode, Skeleton};
