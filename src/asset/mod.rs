//! glTF 2.0 in: a file becomes a plain [`Asset`], everything decoded and checked, nothing lost.
//!
//! Every index in an [`Asset`] is valid, every float finite, every hierarchy a forest: the modules below this
//! one need not check again.
//!
//! One rule decides between refusing and mending: what makes the shape unknowable is an error (missing or
//! overlapping data, indices out of range, cycles, infinite positions); what can be mended without moving a
//! vertex of the rest shape is mended and told as a [`Problem`]. [`limits`] bounds what a hostile file costs.

pub mod limits;
mod load;
mod look;
mod model;
mod motion;

pub use look::*;
pub use model::*;
pub use motion::*;
