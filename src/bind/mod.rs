//! Binding: builds a deformable character from a loaded file and attaches its skin to its bones.
//!
//! Deformation runs on the **control mesh**, whose vertices are welded by position and ordered for locality. The
//! **display mesh** has separate vertices at UV and normal seams; they copy the result from the control mesh.

mod attach;
mod cache;
mod character;
mod deforming;
mod heat;
mod morphs;
mod options;
pub(crate) mod packed;
mod planar;
mod report;
pub mod shapes;
mod smooth;
#[cfg(test)]
mod tests;
pub mod weights;

pub use attach::{bind_attachments, point_on, project};
pub use cache::{Cache, Key};
pub use character::placement_of;
pub(crate) use heat::kept_influences;
pub use heat::{HeatSite, heat_weights, kept_heat_weights};
pub use morphs::{MorphTarget, Morphs};
pub use options::{
    BindOptions, Binding, MAX_REATTACHED, MAX_SMOOTH, MAX_TURN, Reattached, Smoothing, VertexRuns,
};
pub use planar::dividing_square;
pub use report::{BindReport, Gap};

use crate::base::BoneId;
use crate::base::math::Vec3;
use crate::geom::{ControlMesh, DisplayMesh};
use crate::rig::Skeleton;

/// A deformable character: immutable data shared by all deformation methods.
#[derive(Clone, Debug, Default)]
pub struct Character {
    /// Hierarchy of nodes with joints and bones.
    pub skeleton: Skeleton,
    /// The control mesh, which is deformed.
    pub control: ControlMesh,
    /// The display mesh, which is drawn.
    pub display: DisplayMesh,
}

/// Attachment of every control vertex to a bone (thesis ch. 3). For a vertex `x` and a bone from `p` to `c`, the
/// attachment point is `a = p + t (c - p)` and the scale vector is `s = x - a`.
#[derive(Clone, Debug, Default)]
pub struct Attachments {
    /// Bone of each control vertex.
    pub bone: Vec<BoneId>,
    /// Position of the attachment point along the bone, 0 at its head, 1 at its tail.
    pub t: Vec<f32>,
    /// Scale vector (attachment point to vertex) of each control vertex, bind space, metres.
    pub scale_vector: Vec<Vec3>,
}
