//! glTF 2.0 import: converts a file to a plain [`Asset`]. All data is decoded and validated, and nothing is lost.
//!
//! Every index in an [`Asset`] is valid, every float is finite, and the hierarchy is a forest. Other modules need not
//! check these properties again.
//!
//! Files with ambiguous geometry are rejected: missing or overlapping data, indices out of range, cycles, infinite
//! positions. Flaws that can be repaired without moving a vertex of the rest shape are repaired and reported as a
//! [`Problem`]. [`limits`] bounds the cost of a hostile file.

pub mod limits;
mod load;
mod look;
mod model;
mod motion;

pub use look::*;
pub use model::*;
pub use motion::*;
