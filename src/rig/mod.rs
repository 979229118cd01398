//! The skeleton, its pose, and the resulting world transforms of joints and bones.

mod bone_frames;
mod bones;
mod build;
mod chains;
mod grip;
mod joints;
mod limits;
mod mirror;
mod names;
mod partway;
mod placement;
mod posable;
mod pose;
mod pose_file;
mod reflection;
mod rest;
mod rotate;
mod scale;
mod skeleton;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod world64;

pub use bone_frames::bone_frames;
pub(crate) use bone_frames::hinges;
pub use build::LEAST_WEIGHT;
pub(crate) use build::{in_scene, skin_of};
pub use chains::{Chain, ChainKind, chains};
pub use grip::{GripHold, GripPose};
pub use joints::{LimbJoint, limb_joints, move_joint, turn_joint};
pub(crate) use limits::{JointLimit, JointLimits, SwingTwist, swing};
pub use limits::{Limit, Limits, keep_limit, limit_angles, relative_rotation, rotation_of_angles};
pub use mirror::{Mirror, Plane};
pub use names::named_node;
pub use placement::local_from_world;
pub use posable::posable;
pub(crate) use posable::{marked_parents, node_positions};
pub use pose::{BonePose, Pose, PosedRig};
pub use pose_file::{load_pose, parse_pose, pose_text};
pub use reflection::Reflection;
pub use rest::RestShift;
pub use rotate::{Axis, Turns, parse_rotation, rotate_joint};
pub use skeleton::{Bone, Joint, RigNode, Skeleton, SkinPlacement};
#[cfg(test)]
pub(crate) use testing::{chain, moved, random, skeleton, tree};
pub(crate) use world64::{
    best_turn, is_regular, local_affine, local_with, nearest, smallest_turn, turn_between, world,
    world_from_parent, world_into,
};
