//! Strokes and grabs that pose a skeleton: which joints a stroke takes, where its offset puts them, chains, pins and the
//! whole body.
//!
//! A grab is kept as turns and shifts on top of the newest stroke ([`StrokeLayer::adjustments`]), or in the pose below all
//! strokes where there is none, so that an offset can still be drawn again below it.

mod frames;
mod full_body;
mod grab;
mod layer;
mod linkage;
mod pinned;
mod plane;
mod posing;
mod reduce;
mod sample;
mod select;
mod stroke;

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
