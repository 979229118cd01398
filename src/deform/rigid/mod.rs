//! Rigid attachment: a vertex keeps its position relative to its attachment point (thesis, *Expressive
//! Skinning Methods for 3D Character Animation*, section 4.1, first stage).
//!
//! `a' = p' + t (c' - p')`, `x' = a' + R_p s`. The method needs no weights and follows changes of bone
//! length. It breaks the surface at joints, which the second stages ([`super::irs`], [`super::springs`])
//! repair. Vertices of rigid props follow their node's transform.

mod cpu;

pub use cpu::Rigid;
