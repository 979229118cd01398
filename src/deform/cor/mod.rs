//! Skinning with optimized centres of rotation.
//!
//! B. H. Le, J. K. Hodgins, *Real-time Skeletal Skinning with Optimized Centers of Rotation*, ACM TOG 2016.
//! Binding precomputes a centre `p*` per vertex from vertices with similar weights ([`centers`]). At run
//! time blended quaternions rotate the vertex about its centre, and LBS moves the centre. The method
//! neither collapses when twisted nor bulges when bent.

mod bind;
mod cpu;

pub use bind::{SIGMA, centers};
pub use cpu::Cor;
