//! Skinning with optimized centres of rotation.
//!
//! B. H. Le, J. K. Hodgins, *Real-time Skeletal Skinning with Optimized Centers of Rotation*, ACM TOG 2016. Binding
//! precomputes a centre `p*` per vertex from the surface points with similar weights ([`centers`]). In each frame,
//! blended quaternions rotate the vertex about its centre, and linear blend skinning (LBS) moves the centre. The
//! method neither collapses when twisted nor bulges when bent.

mod bind;
mod cpu;
mod gpu;

pub use bind::{SIGMA, center_coordinates, centers};
pub use cpu::Cor;
pub(super) use gpu::CorCenters;
