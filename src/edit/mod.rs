//! Strokes, posing, and the document: everything the user does to a character.

mod frames;
mod reduce;
mod spline;
mod stroke;

pub use frames::{Frames, Warp};
pub use reduce::{reduce, tolerance_in_space, tolerance_in_window};
pub use spline::Spline;
pub use stroke::{MAX_KNOTS, Sample, Stroke};
