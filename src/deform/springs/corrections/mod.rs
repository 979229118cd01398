//! What the springs leave undone, mended at the end of a frame: lost volume, and inverted triangles.
//!
//! Springs act along the surface and towards the bone, so their equilibrium does not depend on volume. After the
//! iterations, the tissue of every joint is measured as the sum of the prisms between its triangles and their
//! attachment points. One factor lengthens or shortens its scale vectors until the volume is that in bind; the factor
//! fades with the distance from where the joint deforms. This is a local volume correction as in D. Rohmer, S. Hahmann
//! and M.-P. Cani, "Local volume preservation for skinned characters", 2008, but along scale vectors: a smooth factor
//! on them causes no folds. Then triangles that oppose the rotated rest normal are pushed open by projections of their
//! signed area (M. Müller et al., "Position based dynamics", 2007), which does not move any others. Rigid motions
//! change neither volume nor sides, so both corrections are exact there. Both are bounded: by a fraction of the scale
//! vector and by a fraction of a triangle's size.
//!
//! Prisms show which joint lost how much, but not the whole loss: where limbs leave a trunk the attachment
//! points enclose a volume of their own. The volume of the whole mesh is therefore measured too (with lids
//! over its boundaries), and the part that the joints' prisms do not account for is distributed over the
//! joints in proportion to the deformation of their tissue. Compressed or folded skin does not grow,
//! because it would fold deeper; the skin around it grows instead. Opening triangles changes the volume, so
//! another round of volume correction and a few more pushes follow.
//!
//! On the GPU a round of pushes processes a list of vertices: at first those of the inverted triangles, then those that
//! the last round moved and their neighbours. Elsewhere nothing can change, so the result equals that of processing all
//! vertices, as the CPU reference does. A dispatch is as large as its list, and empty if nothing is left to push. A
//! vertex reads only results of the last round, so the order of a list does not change a bit.

pub mod bind;
pub mod cpu;
pub mod gpu;

#[cfg(test)]
mod tests;

/// Rounds of the volume correction before triangles are opened: Newton's method on one factor per joint.
/// One more follows.
pub(super) const ROUNDS: u32 = 2;
/// A joint whose prisms changed by less than this fraction of their absolute volume does not take part in
/// distributing the whole mesh's loss.
pub(super) const IDLE: f32 = 0.01;
/// Skin grows in full if its area, projected along the rotated rest normals, is at least this fraction of
/// that in bind, and not at all if that area is zero.
pub(super) const FREE: f32 = 0.5;
/// Maximum relative change of scale vectors per round.
pub(super) const LIMIT: f32 = 0.35;
/// Relative changes of volume below this are rounding.
pub(super) const DEAD: f32 = 1e-5;
/// Tissue whose prisms hold at most this fraction of the volume that they would have with scale vectors
/// perpendicular to the skin is a sheet without volume.
pub(super) const SHEET: f32 = 0.01;
/// Lower bound on a joint's change of volume by its factor, relative to that in bind: a folded joint hardly responds.
pub(super) const STIFFEST: f32 = 0.5;
/// Triangles are opened until their area, projected along the rotated rest normal, is this fraction of that in bind.
pub(super) const OPEN: f32 = 0.1;
/// A push moves a vertex by at most this factor times the square root of twice the triangle's area.
pub(super) const PUSH: f32 = 0.5;
/// Over-relaxation: the mean of several triangles' requirements falls short of each.
pub(super) const RELAXATION: f32 = 1.5;
/// Maximum rounds of untangling.
pub(super) const MOST: u32 = 64;
