//! What is drawn on the skin: marks, rings, regions, sculpt layers and silhouettes.
//!
//! Marks are triangles and weights; segments of a picture can be anchored to them, and the renderer puts those onto the
//! surface that it draws.

mod guide;
mod limb;
mod mark;
mod region;
mod ring;
mod sculpt;
mod silhouette;

pub use guide::{line_mark, ring_mark};
pub use mark::{MAX_MARK_POINTS, SurfacePoint, SurfaceStroke};
pub use region::Round;
pub use region::mirrored_mark;
pub use region::{Reach, Region};
pub use ring::{Ring, RingFinder, close_ring};
pub(crate) use sculpt::MAX_SCULPTS;
pub use sculpt::{Form, STIFFNESS, Sculpt, bind_sculpts, drawn, mirrored_sculpt, turns};
pub use silhouette::{Accent, SilSketch, silsketch};
