//! Rigid attachment: a vertex keeps its place relative to its attachment point (thesis, *Expressive Skinning
//! Methods for 3D Character Animation*, section 4.1, first stage).
//!
//! `a' = p' + t (c' - p')`, `x' = a' + R_p s`. Needs no weights and follows changes of bone length; breaks at
//! joints, which is what the second stages ([`super::irs`], [`super::springs`]) mend. Vertices of rigid props
//! follow their node's transform.

mod cpu;
mod gpu;

pub use cpu::Rigid;
pub use gpu::{RigidPipeline, RigidState};
