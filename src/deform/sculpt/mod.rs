//! Sculpt layers (thesis, chapter 5; methods, section 6): offsets of a region's vertices relative to their
//! bones, added to whatever else deforms them.
//!
//! A vertex's offset is `D = e - s`, where `s` is its scale vector in bind and `e` the one that the layer wants, both
//! in bind orientation. Decoded in a pose it is `Q D`, with `Q` the blend of the joints' rotations by skin weight. A
//! pose changes only `Q`, so it does not matter whether the character was posed before or after it was sculpted
//! ([`encode`], [`decode`]). **(differs)** The thesis uses the rotation of the one bone that a vertex is attached to; a
//! region that crosses a joint would tear there. On vertices that follow one joint both are the same.
//!
//! - A **drawn** layer gives `D` at the kinematic vertices. Between amplitude 0 and 1 the length of the
//!   scale vector changes linearly and its direction along an arc ([`arc`]). Passive vertices take the
//!   weighted mean of the nearest kinematic ones, times their falloff.
//! - A **profile** gives `D = amount f(t) s`, times the falloff, at each vertex's own parameter `t`.
//! - Several layers on one vertex add up: each was drawn on the result of the others. Stiffness adds up
//!   too.
//!
//! Geometric methods move their vertices by `Q D` ([`cpu::displace`]). The methods that rotate scale
//! vectors, rigid and IRS, rotate `s + D` in place of `s`, which is the radial method (equation 24). In the
//! springs a layer is a force `k (target - x)` with `target = a' + Q (s + D)` on every vertex of the
//! region; `k` fades with the falloff ([`super::springs`]).

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
pub use profile::{Along, Curve, Profile, Wave};

use crate::base::SculptId;
use crate::base::math::{Quat, Vec3};

/// Number of kinematic vertices that a passive vertex follows.
pub const SOURCES: usize = 4;

/// A sculpt layer bound to a character's control mesh.
#[derive(Clone, Debug, PartialEq)]
pub struct BoundSculpt {
    /// The layer's id; [`SculptState::id`] refers to it.
    pub id: SculptId,
    /// The moved vertices, each once: the kinematic ones, then the passive ones.
    pub vertices: Vec<u32>,
    /// Scale vector `s` of each vertex, bind space, metres.
    pub scale_vectors: Vec<Vec3>,
    /// Factor on offset and stiffness per vertex: 1 for kinematic vertices.
    pub falloff: Vec<f32>,
    /// The layer's offsets or formula.
    pub form: BoundForm,
}

/// The offsets of a layer, drawn or by formula.
#[derive(Clone, Debug, PartialEq)]
pub enum BoundForm {
    /// Drawn offsets.
    Drawn {
        /// Offset `D` at amplitude 1 of each kinematic vertex, bind space, metres.
        offsets: Vec<Vec3>,
        /// Per passive vertex, the kinematic vertices that it follows, as indices into `offsets`, with
        /// weights that sum to 1.
        sources: Vec<[(u32, f32); SOURCES]>,
    },
    /// Offsets by a formula.
    Profile {
        /// The formula.
        profile: Profile,
        /// Parameter `t` of each vertex, 0..=1.
        t: Vec<f32>,
    },
}

/// The state of a sculpt layer at one moment.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct SculptState {
    /// The layer.
    pub id: SculptId,
    /// Factor on the offset: 0 is off, 1 as authored. May be negative.
    pub amplitude: f32,
    /// Stiffness of the layer's force in the springs, in quarters of a vertex's number of neighbours, >= 0:
    /// the lower, the more the layer yields to them. Geometric methods ignore it.
    pub stiffness: f32,
    /// Time for waves, seconds.
    pub seconds: f64,
}

/// Encodes the displacement from `from` to `to` (world, metres) of a vertex with the blended rotation
/// `rotation` as an offset in bind orientation. `from` is the vertex's position without this layer, so that
/// an offset stroke that lies on its baseline changes nothing in any pose.
pub fn encode(rotation: Quat, from: Vec3, to: Vec3) -> Vec3 {
    rotation.conjugate() * (to - from)
}

/// The world position with the layer of a vertex that is at `from` without it.
pub fn decode(rotation: Quat, from: Vec3, offset: Vec3) -> Vec3 {
    from + rotation * offset
}

/// Scale vectors shorter than this fraction of their result have no direction to rotate from.
const NO_DIRECTION: f32 = 1e-3;

/// The offset at `amplitude` of a scale vector `s` whose offset at 1 is `offset`: the length changes
/// linearly, the direction along the arc. Lengths do not become negative.
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
        // A straight path, possibly through the bone, where the arc is undetermined.
        if a.dot(b) < 0.0 {
            return offset * amplitude;
        }
        a
    };
    turned * length - s
}
