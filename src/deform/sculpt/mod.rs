//! Sculpt layers (thesis, chapter 5; docs/internals.md, *Sculpt layers*): offsets of a region's vertices relative to
//! their bones, added to the result of all other deformers.
//!
//! The scale vector `s` of a vertex points from its attachment point on the bone to the vertex. The offset is
//! `D = e - s`, where `e` is the sculpted scale vector; both are in bind orientation. In a pose the offset becomes
//! `Q D`, where `Q` is the blend of the joints' rotations by skin weight. Only `Q` depends on the pose, so posing and
//! sculpting commute ([`encode`], [`decode`]). **(differs)** The thesis uses the rotation of the vertex's bone, which
//! tears regions that cross a joint. For a vertex with a single joint both rotations are equal.
//!
//! - A **drawn** layer stores `D` at the kinematic vertices. Between amplitude 0 and 1 the length of the scale vector
//!   changes linearly and its direction along an arc ([`arc`]). A passive vertex gets the weighted mean of the
//!   nearest kinematic offsets, times its falloff.
//! - A **profile** layer grows and tilts `s` by functions along the bone and around it ([`Profile`]), times the
//!   falloff.
//! - Several layers on one vertex add up, because each layer was drawn on the result of the previous ones. Their
//!   stiffnesses add up too.
//!
//! Geometric methods move their vertices by `Q D` ([`cpu::displace`]). The methods that rotate scale vectors (rigid
//! and IRS) rotate `s + D` instead of `s`, as in the thesis (equation 24). In the springs a layer is a force
//! `k (target - x)` with `target = a' + Q (s + D)` on every vertex of the region, where `a'` is the posed attachment
//! point. The stiffness `k` is scaled by the falloff ([`super::springs`]).

pub mod cpu;
mod easing;
mod field;
pub mod gpu;
#[cfg(test)]
mod graph_tests;
mod profile;
#[cfg(test)]
mod tests;

pub use easing::Easing;
pub use field::{Field, Offset, Reform};
pub use profile::{About, Along, Around, Curve, Profile, Wave, front_of};

use crate::base::SculptId;
use crate::base::math::{Quat, Vec3};

/// Number of kinematic vertices whose offsets a passive vertex averages.
pub const SOURCES: usize = 4;

/// A sculpt layer bound to a character's control mesh.
#[derive(Clone, Debug, PartialEq)]
pub struct BoundSculpt {
    /// The layer's id; [`SculptState::id`] refers to it.
    pub id: SculptId,
    /// The vertices that the layer moves, without duplicates: first the kinematic, then the passive ones.
    pub vertices: Vec<u32>,
    /// Scale vector `s` of each vertex, bind space, metres: from its attachment point on the bone to the vertex.
    pub scale_vectors: Vec<Vec3>,
    /// Factor on offset and stiffness per vertex, 0..=1; 1 for kinematic vertices.
    pub falloff: Vec<f32>,
    /// The layer's offsets, drawn or by formula.
    pub form: BoundForm,
}

/// Offsets of a sculpt layer, drawn or by formula.
#[derive(Clone, Debug, PartialEq)]
pub enum BoundForm {
    /// Offsets drawn by the user.
    Drawn {
        /// Offset `D` of each kinematic vertex at amplitude 1, bind space, metres.
        offsets: Vec<Vec3>,
        /// Kinematic vertices that each passive vertex averages: indices into `offsets`, and weights that sum to 1.
        sources: Vec<[(u32, f32); SOURCES]>,
    },
    /// Offsets computed by a formula.
    Profile {
        /// The formula of the offsets.
        profile: Profile,
        /// Parameter `t` of each vertex, 0..=1.
        t: Vec<f32>,
        /// Place of each vertex around its bone.
        about: Vec<About>,
    },
}

/// The state of a sculpt layer in one frame.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct SculptState {
    /// Id of the layer.
    pub id: SculptId,
    /// Factor on the offset: 0 is off, 1 is the authored offset. May be negative.
    pub amplitude: f32,
    /// Stiffness of the layer's force in the springs, in quarters of a vertex's number of neighbours, >= 0. With a
    /// lower stiffness the springs reduce the offset more. Geometric methods ignore the stiffness.
    pub stiffness: f32,
    /// Time at which wave profiles are evaluated, seconds.
    pub seconds: f64,
}

/// Encodes the displacement from `from` to `to` (world, metres) as an offset in bind orientation. `rotation` is the
/// vertex's blended rotation, and `from` its position without this layer. If `from` and `to` are equal, the offset is
/// zero in any pose: an offset stroke that coincides with its baseline has no effect.
pub fn encode(rotation: Quat, from: Vec3, to: Vec3) -> Vec3 {
    rotation.conjugate() * (to - from)
}

/// Returns the world position of a vertex with the layer; `from` is its world position without the layer.
pub fn decode(rotation: Quat, from: Vec3, offset: Vec3) -> Vec3 {
    from + rotation * offset
}

/// If one length is below this fraction of the other, the offset is scaled linearly instead of along an arc.
const NO_DIRECTION: f32 = 1e-3;

/// Returns the offset at `amplitude` for a scale vector `s` whose offset at amplitude 1 is `offset`. The length
/// changes linearly, the direction along the arc. Lengths do not become negative.
pub fn arc(s: Vec3, offset: Vec3, amplitude: f32) -> Vec3 {
    let e = s + offset;
    let (from, to) = (s.length(), e.length());
    if amplitude == 1.0 {
        return offset;
    }
    if from <= NO_DIRECTION * to || to <= NO_DIRECTION * from {
        return offset * amplitude;
    }
    let (a, b) = (s / from, e / to);
    let axis = a.cross(b);
    let sine = axis.length();
    let length = (from + (to - from) * amplitude).max(0.0);
    let turned = if sine > 1e-6 {
        let angle = sine.atan2(a.dot(b)) * amplitude;
        a * angle.cos() + (axis / sine).cross(a) * angle.sin()
    } else {
        // Opposite directions determine no arc, so the offset passes straight through the bone.
        if a.dot(b) < 0.0 {
            return offset * amplitude;
        }
        a
    };
    turned * length - s
}
