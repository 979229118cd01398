//! Sculpt layers (thesis, chapter 5; methods, section 6): offsets of a region's vertices relative to their
//! bones, added to whatever else deforms them.
//!
//! A vertex's offset is `D = e - s`, where `s` is its scale vector in bind and `e` the one the edit wants, both in
//! bind orientation. Decoded in a pose it is `Q D`, with `Q` the blend of the joints' rotations by skin weight: a pose
//! changes `Q` alone, so that it does not matter whether the character was posed before it was edited or after
//! ([`encode`], [`decode`]). **(differs)** The thesis takes the rotation of the one bone that a vertex is attached to;
//! a region that crosses a joint would tear there. On vertices that follow one joint both are the same.
//!
//! - Of a **drawn** edit `D` is given at the kinematic vertices; between rest and edit the length of the scale vector
//!   changes linearly and its direction on the arc ([`arc`]). Passive vertices take the mean of the nearest kinematic
//!   ones, times their falloff.
//! - Of a **profile** `D = amount f(t) s`, times the falloff, at each vertex's own parameter `t`.
//! - Several edits of one vertex add up: each was drawn on what the others had left. Stiffness adds up too.
//!
//! Geometric methods move their vertices by `Q D` ([`cpu::displace`]); the methods that turn scale vectors, rigid and
//! IRS, turn `s + D` in place of `s`, which is the radial method (equation 24). In the springs an edit is a force
//! `k (target - x)` with `target = a' + Q (s + D)` on every vertex of the region, `k` fading with the falloff
//! ([`super::springs`]).

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

/// How many kinematic vertices a passive one takes its offset from.
pub const SOURCES: usize = 4;

/// An edit bound to a character's control mesh.
#[derive(Clone, Debug, PartialEq)]
pub struct BoundSculpt {
    /// Whose states are its.
    pub id: SculptId,
    /// The vertices that it moves, none twice: the kinematic ones, then the passive ones.
    pub vertices: Vec<u32>,
    /// `s` of each, bind space, metres.
    pub scale_vectors: Vec<Vec3>,
    /// Share of the offset and of the stiffness that each takes: 1 for kinematic vertices.
    pub falloff: Vec<f32>,
    /// What it does to them.
    pub form: BoundForm,
}

/// What an edit does to its vertices.
#[derive(Clone, Debug, PartialEq)]
pub enum BoundForm {
    /// By targets.
    Drawn {
        /// `D` at amplitude 1 of each kinematic vertex, bind space, metres.
        offsets: Vec<Vec3>,
        /// For each passive vertex the kinematic ones that it follows, as indices into `offsets`, with weights that sum
        /// to 1.
        sources: Vec<[(u32, f32); SOURCES]>,
    },
    /// By formula.
    Profile {
        /// The formula.
        profile: Profile,
        /// `t` of each vertex, 0..=1.
        t: Vec<f32>,
    },
}

/// An edit at a moment.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct SculptState {
    /// Which one.
    pub id: SculptId,
    /// Factor on its offset: 0 is none, 1 as it was made. Any sign.
    pub amplitude: f32,
    /// Stiffness of its force in the springs, in quarters of a vertex's number of neighbours, >= 0: how much it yields
    /// to them. Geometric methods do not look at it.
    pub stiffness: f32,
    /// The time of waves, seconds.
    pub seconds: f64,
}

/// The offset from `from` to `to`, world, of a vertex whose joints turn it by `rotation`: as it is kept, in bind
/// orientation. `from` is where the vertex is without this edit, so that an offset stroke that lies on its baseline
/// changes nothing in any pose.
pub fn encode(rotation: Quat, from: Vec3, to: Vec3) -> Vec3 {
    rotation.conjugate() * (to - from)
}

/// Where a vertex that is at `from` without the edit is with it.
pub fn decode(rotation: Quat, from: Vec3, offset: Vec3) -> Vec3 {
    from + rotation * offset
}

/// Scale vectors shorter than this share of what they become have no direction to turn from.
const NO_DIRECTION: f32 = 1e-3;

/// The offset of a scale vector `s` at an amplitude, where it is `offset` at 1: length linearly, direction on the arc.
/// Lengths do not become negative.
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
        // Straight on, or straight through the bone, where no arc is known.
        if a.dot(b) < 0.0 {
            return offset * amplitude;
        }
        a
    };
    turned * length - s
}
