//! What the springs leave undone, mended at the end of a frame: lost volume, and inverted triangles.
//!
//! Springs act along the surface and towards the bone, so that nothing in their equilibrium knows of volume. After the
//! iterations, every joint's flesh is measured as the sum of the prisms between its triangles and their attachment
//! points, and its scale vectors are lengthened or shortened by one factor, which fades with the distance from where the
//! joint deforms, until the volume is that in bind (a local volume correction as of D. Rohmer, S. Hahmann and M.-P. Cani,
//! "Local volume preservation for skinned characters", 2008, but along scale vectors: a smooth factor on them folds
//! nothing). Then triangles that oppose the rest normal turned along are pushed open by projections of their signed area
//! (M. Müller et al., "Position based dynamics", 2007), which leaves all others alone. Rigid motions change neither
//! volume nor sides, so that both are exact there, and both are bounded: by a share of the scale vector, and by a share of
//! a triangle's size.
//!
//! Prisms tell which joint lost how much, but not all of it: where limbs leave a trunk the attachment points enclose a
//! volume of their own. So the volume of the whole mesh is measured too (its boundaries closed by lids), and what the
//! joints' prisms do not account for is shared out among the joints by how much their flesh deforms. Skin that is pressed
//! together or folded does not grow, or it would fold deeper: what is around it does. Opening triangles changes the
//! volume, so another round follows it, and a few more pushes.
//!
//! On the GPU a round of pushes looks at a list of vertices: at first those of the triangles that are turned, then those
//! that the round before has moved and what is around them. Elsewhere nothing can change, so that it is the same as
//! looking everywhere, which the twin does. A dispatch is as large as its list, and empty once nothing is left to push. A
//! vertex sees only what the round before has left: the order of a list changes no bit.

pub mod bind;
pub mod cpu;
pub mod gpu;

#[cfg(test)]
mod tests;

/// Rounds of the volume correction before triangles are opened: Newton's method on one factor a joint. One more follows.
pub(super) const ROUNDS: u32 = 2;
/// A joint whose prisms have changed by less than this share of their volume, signs aside, takes no part in what the whole
/// mesh lost.
pub(super) const IDLE: f32 = 0.01;
/// Skin grows in full where its area, as seen along the turned rest normals, is at least this share of that in bind, and
/// not at all where it is none.
pub(super) const FREE: f32 = 0.5;
/// Scale vectors change by no more than this share in a round.
pub(super) const LIMIT: f32 = 0.35;
/// Changes of volume below this share are rounding.
pub(super) const DEAD: f32 = 1e-5;
/// Flesh whose prisms hold no more than this share of what they would if scale vectors stood upright on the skin is a
/// sheet, without a volume.
pub(super) const SHEET: f32 = 0.01;
/// A joint's volume counts as changing by no less than this share of what it does in bind when scale vectors grow: a
/// folded one hardly answers.
pub(super) const STIFFEST: f32 = 0.5;
/// Triangles are opened until their area, as seen along the turned rest normal, is this share of that in bind.
pub(super) const OPEN: f32 = 0.1;
/// A push moves a vertex by no more than this many times the root of twice the triangle's area.
pub(super) const PUSH: f32 = 0.5;
/// Over-relaxation: the mean of what several triangles ask falls short of each.
pub(super) const RELAXATION: f32 = 1.5;
/// Most rounds of untangling.
pub(super) const MOST: u32 = 64;
