//! The drawn surface: display positions, face normals, vertex normals (thesis 6.4; docs/internals.md, *Display surface
//! and normals*).
//!
//! - **Copy**: a display vertex gets the position of its control vertex. Morph targets displace display vertices in
//!   bind space. `A_i`, the linear part of the blended skinning transform, transforms the displacement `Δ_i` to the
//!   pose: `x' = x'_control + A_i Δ_i`. This is exact for LBS.
//! - **Normals**: the mean of the adjacent faces' normals, weighted by area. Binding selects the faces ([`bind()`]):
//!   those on the vertex's side of the source's hard edges, including faces across texture seams.
//! - **Source normals** are preserved. Where they deviate from the computed normals (because they are authored or
//!   weighted differently), the deviation is stored in a surface frame and applied again in every pose. The bind pose
//!   therefore shows the file's normals.

mod bind;
mod cpu;
mod gpu;
mod normal_frame;
mod strain;

pub use bind::{Crease, Surface, bind, hard_edges};
pub use cpu::Display;
pub use gpu::{SurfacePipelines, SurfaceState};
pub use normal_frame::SourceNormal;
pub use strain::{OPACITY, StrainState, color_of_strain};
