//! Rigid attachment: a vertex keeps its position relative to its attachment point on a bone (thesis, *Expressive
//! Skinning Methods for 3D Character Animation*, section 4.1, first stage).
//!
//! `a' = p' + t (c' - p')`, `x' = a' + R_p s`: `p` and `c` are the bone's head and tail, `s` the scale vector. The
//! method needs no skin weights and follows changes of bone length. It leaves gaps at joints, which a second stage
//! ([`super::irs`] or [`super::springs`]) closes. Vertices of rigid props follow their node's transform.

mod cpu;

pub use cpu::Rigid;
