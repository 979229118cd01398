//! The drawn surface: display positions, face normals, vertex normals (thesis 6.4; methods, section 5).
//!
//! - **Copy**: a display vertex takes the position of its control vertex. Morph targets displace display
//!   vertices in bind space. The displacement `Δ_i` is carried to the pose by `A_i`, the linear part of the
//!   blended skinning transform, which is exact for LBS: `x' = x'_control + A_i Δ_i`.
//! - **Normals**: the mean of the adjacent faces' normals weighted by their areas. Binding decides which
//!   faces take part ([`bind()`]): those on the same side of the source's hard edges, across its texture
//!   seams.
//! - **The source's own normals** are preserved: where they deviate from the computed ones (authored, or
//!   weighted differently), the deviation is stored in a surface frame and reapplied in every pose. The
//!   bind pose therefore shows the file's normals.

mod bind;
mod cpu;
mod gpu;
mod normal_frame;

pub use bind::{Crease, Surface, bind};
pub use cpu::Display;
pub use gpu::{SurfacePipelines, SurfaceState};
pub use normal_frame::SourceNormal;
