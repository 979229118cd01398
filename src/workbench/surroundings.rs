//! Obstacles in the room that panels avoid.

use crate::base::math::Vec3;

/// A bone with its soft tissue, approximated by a capsule.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Capsule {
    /// End points of the axis, room space, metres.
    pub ends: [Vec3; 2],
    /// Radius, room metres.
    pub radius: f32,
}

/// Obstacles that panels avoid.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Surroundings {
    /// Capsules of the posed character.
    pub body: Vec<Capsule>,
    /// For the left and the right hand: whether the hand holds the character or the world.
    pub holds: [bool; 2],
}

impl Surroundings {
    /// Mean of the capsule ends, room space, metres; `None` without capsules.
    pub fn middle(&self) -> Option<Vec3> {
        let sum: Vec3 = self.body.iter().map(|c| c.ends[0] + c.ends[1]).sum();
        (!self.body.is_empty()).then(|| sum / (2 * self.body.len()) as f32)
    }
}
