//! Blend of linear blend and dual quaternion skinning: the first loses volume at a bend, the second bulges.
//!
//! `x' = (1 - f) x_lbs + f x_dqs`, with one factor for all vertices or one painted per vertex.

mod cpu;
mod gpu;

pub use cpu::{Blend, Factor};
pub(super) use gpu::BlendFactors;
