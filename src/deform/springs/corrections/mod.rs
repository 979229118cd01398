//! Corrections after the iterations: they restore lost volume and open inverted triangles.
//!
//! Springs act along the surface and towards the bone, so their equilibrium does not depend on volume. The corrections
//! therefore measure the tissue of every joint as the sum of the prisms between its triangles and their attachment
//! points. A growth factor per joint scales the scale vectors until the volume equals the bind volume. The growth
//! factor fades with the distance from the deformation at the joint. This is a local volume correction as in D. Rohmer,
//! S. Hahmann and M.-P. Cani, "Local volume preservation for skinned characters", 2008, but along scale vectors: a
//! smooth factor on scale vectors causes no folds. A triangle is inverted if its normal opposes the rotated rest
//! normal. Projections of the signed area (M. Müller et al., "Position based dynamics", 2007) then push inverted
//! triangles open. The projections move no other triangles. Rigid motions change neither volume nor orientation, so
//! they cause no corrections. The volume correction is limited to a fraction of the scale vector, and a push to a
//! fraction of a triangle's size.
//!
//! Prisms show how much volume each joint lost, but not the whole loss: where limbs leave a trunk, the attachment
//! points enclose additional volume. The volume of the whole mesh (with its boundary holes closed) is therefore
//! measured too. Any loss that the joints' prisms do not explain is distributed over the joints in proportion to the
//! deformation of their tissue. Compressed or folded skin does not grow, because it would fold deeper; the skin
//! around it grows instead. Over some rings of vertices, growth rises gradually: a step between skin that grows and
//! skin that does not would tear the skin. Opening triangles changes the volume, so another round of volume correction
//! and a few more pushes follow.
//!
//! By default, two rounds of pushes and two more at the end open single inverted triangles. More rounds would push whole folds apart: these would be rough,
//! and more triangles would cross.

pub mod bind;
pub mod cpu;
pub mod gpu;

#[cfg(test)]
mod tests;

/// Rounds of the volume correction before triangles are opened; one more round follows afterwards. Each round is a
/// step of Newton's method for one growth factor per joint.
pub(super) const ROUNDS: u32 = 2;
/// A joint gets a part of the whole mesh's volume loss if its prisms' volume changes by more than this fraction.
pub(super) const IDLE: f32 = 0.01;
/// Skin grows in full if its area, projected along the rotated rest normals, is at least this fraction of its bind
/// area. Growth falls to zero at zero area.
pub(super) const FREE: f32 = 0.5;
/// Number of rings of vertices over which compressed skin lowers the growth of the skin around it; an even number.
pub(super) const SPREAD: usize = 16;
const _: () = assert!(SPREAD.is_multiple_of(2), "the responses must end in the buffer in which they began");
/// Maximum relative change of scale vectors per round.
pub(super) const LIMIT: f32 = 0.12;
/// Relative changes of volume below this are rounding errors.
pub(super) const DEAD: f32 = 1e-5;
/// Tissue counts as a sheet without volume if the volume of its prisms is at most this fraction of area times height.
pub(super) const SHEET: f32 = 0.01;
/// Lower limit of the derivative of a joint's volume by its growth factor, relative to bind: folds hardly grow.
pub(super) const STIFFEST: f32 = 0.5;
/// Triangles open until their area, projected along the rotated rest normal, is this fraction of the bind area.
pub(super) const OPEN: f32 = 0.1;
/// Limit on the move of a vertex in one push, in multiples of the square root of twice the triangle's area.
pub(super) const PUSH: f32 = 0.5;
/// Over-relaxation factor: the mean of several triangles' required moves is too short for each triangle.
pub(super) const RELAXATION: f32 = 1.5;
/// Maximum number of rounds that open inverted triangles.
pub(super) const MOST: u32 = 4;
