//! Skinning with optimized centres of rotation.
//!
//! B. H. Le, J. K. Hodgins, *Real-time Skeletal Skinning with Optimized Centers of Rotation*, ACM TOG 2016: per
//! vertex a centre `p*` is precomputed from vertices with similar weights ([`centers`]); at run time the vertex
//! is turned about it by blended quaternions while the centre itself is moved by LBS. Neither collapses at a
//! twist nor bulges at a bend.

mod bind;
mod cpu;
mod gpu;

pub use bind::{SIGMA, centers};
pub use cpu::Cor;
pub use gpu::{CorPipeline, CorState};
