//! Blend of linear blend skinning (LBS, loses volume at bends) and dual quaternion skinning (DQS, bulges).
//!
//! `x' = (1 - f) x_lbs + f x_dqs`, with a single factor for all vertices or a painted factor per vertex.

mod cpu;
mod gpu;
mod painted;

pub use cpu::{Blend, Factor};
pub(super) use gpu::BlendFactors;
pub use painted::Painted;
