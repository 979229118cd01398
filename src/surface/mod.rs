//! Drawings on the skin: marks, rings, regions, sculpt layers and silhouettes.
//!
//! The points of a mark are stored as triangle index and barycentric weights. Lines for rendering can be anchored to
//! such points; the renderer then moves the lines with the posed surface.

mod across;
mod grip;
mod guide;
mod knots;
mod limb;
mod mark;
mod offset;
mod region;
mod ring;
mod sculpt;
mod silhouette;
mod surroundings;

pub use across::ring_across;
pub use grip::{Grip, closes, enclosed};
pub use guide::{line_mark, ring_mark};
pub use knots::{mark_knots, with_knot};
pub use limb::segment_bones;
pub use mark::{MAX_MARK_POINTS, SurfacePoint, SurfaceStroke};
pub use offset::OffsetCurve;
pub use region::Round;
pub use region::{Reach, Region};
pub use region::{mirrored_mark, mirrored_points};
pub use ring::{Ring, RingFinder, close_ring};
pub(crate) use sculpt::MAX_SCULPTS;
pub use sculpt::{
    Form, STIFFNESS, Sculpt, bind_sculpts, drawn, mirrored_offset, mirrored_sculpt, turns, twins,
};
pub use silhouette::{Accent, SilSketch, silsketch};
pub use surroundings::Surroundings;
