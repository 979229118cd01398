//! Poses a skeleton by strokes and by grabs: joint selection, stroke warps, joint chains, pins and full-body grabs.
//! Strokes also draw chains of bones inside a mesh without a skeleton.
//!
//! A grab is stored in the newest stroke layer, as rotations and translations applied after its strokes
//! ([`StrokeLayer::adjustments`]). The user can therefore still redraw the offset stroke. Without strokes, a grab
//! changes the base pose.

mod bones;
mod fingers;
mod frames;
mod full_body;
mod grab;
mod layer;
#[cfg(test)]
mod limit_tests;
mod linkage;
mod pinned;
mod plane;
mod posing;
mod reduce;
mod sample;
mod select;
mod stroke;

pub use bones::{BoneChain, attach, joints_of_line, rig_bones, validate_chains};
pub use fingers::{FingerRig, Fingers, HandPlaces};
pub use frames::{Frames, Warp};
pub use full_body::FullBodyGrab;
pub use grab::{Goal, Grab};
pub use layer::{Adjustment, StrokeLayer};
pub use plane::{WorkingPlane, ray_through};
pub use posing::{Lengths, Poser, Posing, RootMotion, carries_all, pose_by_stroke};
pub use reduce::{reduce, tolerance_in_space};
pub use sample::Sample;
pub use select::{Selected, select};
pub use stroke::{MAX_KNOTS, Stroke};
