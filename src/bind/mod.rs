//! Binding: from a loaded file to a deformable character, and the attachment of its skin to its bones.
//!
//! Deformation runs on the **control mesh**, vertices welded by position and ordered for locality; the vertices of the
//! **display mesh**, split at seams, copy from them.

mod attach;
mod cache;
mod character;
mod deforming;
mod heat;
mod morphs;
pub(crate) mod packed;
mod planar;
mod report;
pub mod shapes;
mod smooth;
#[cfg(test)]
mod tests;

pub use attach::{BindOptions, Binding, MAX_SMOOTH, bind_attachments, point_on, project};
pub use cache::{Cache, Key};
pub use heat::{HeatSite, heat_weights, kept_heat_weights};
pub use morphs::{MorphTarget, Morphs};
pub use report::{BindReport, Gap};

use crate::base::BoneId;
use crate::base::math::Vec3;
use crate::geom::{ControlMesh, DisplayMesh};
use crate::rig::Skeleton;

/// A deformable character: immutable data shared by every deformation method.
#[derive(Clone, Debug, Default)]
pub struct Character {
    /// Hierarchy of nodes, with joints and bones.
    pub skeleton: Skeleton,
    /// The mesh that is deformed.
    pub control: ControlMesh,
    /// The mesh that is drawn.
    pub display: DisplayMesh,
}

/// The attachment of every control vertex to a bone (thesis ch. 3): `a = p + t (c - p)`, `s = x - a`.
#[derive(Clone, Debug, Default)]
pub struct Attachments {
    /// Bone per control vertex.
    pub bone: Vec<BoneId>,
    /// Parameter along the bone, 0 at its head, 1 at its tail.
    pub t: Vec<f32>,
    /// Scale vector per control vertex in bind space, metres.
    pub scale_vector: Vec<Vec3>,
}
