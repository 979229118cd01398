//! What stands in the room: the character as posed, and what the hands hold.

use crate::base::math::Vec3;

/// A bone with its flesh.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Capsule {
    /// Of its axis, room, metres.
    pub ends: [Vec3; 2],
    /// Metres of the room.
    pub radius: f32,
}

/// What panels keep clear of.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Surroundings {
    /// The character as posed.
    pub body: Vec<Capsule>,
    /// Whether the left and the right hand hold the character or the world.
    pub holds: [bool; 2],
}

impl Surroundings {
    /// The middle of the character, room, metres.
    pub fn middle(&self) -> Option<Vec3> {
        let sum: Vec3 = self.body.iter().map(|c| c.ends[0] + c.ends[1]).sum();
        (!self.body.is_empty()).then(|| sum / (2 * self.body.len()) as f32)
    }
}
