//! Linear blend skinning: `x' = Σ w_ij T_j x` over all influences in the file.
//!
//! N. Magnenat-Thalmann, R. Laperrière, D. Thalmann, *Joint-Dependent Local Deformations for Hand Animation
//! and Object Grasping*, 1988. The method loses volume at bends and collapses when twisted.

mod cpu;
mod pack;

pub(in crate::deform) use cpu::blend;
pub use cpu::{Lbs, linear_parts};
pub use pack::{PackedInfluences, TailEntry};
