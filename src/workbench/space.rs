//! Rigid poses of devices and the similarity between the room and the world of the character.

use crate::base::math::{Quat, Turn, Vec3};
use serde::{Deserialize, Serialize};

/// Where a device is and how it is turned: metres, right-handed, +Y up, a device looks along its -Z.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rigid {
    /// Metres.
    pub position: Vec3,
    /// Space from device, unit.
    pub orientation: Quat,
}

impl Default for Rigid {
    fn default() -> Self {
        Self { position: Vec3::ZERO, orientation: Quat::IDENTITY }
    }
}

impl Rigid {
    /// A point of the device's space in the space it stands in.
    pub fn point(&self, local: Vec3) -> Vec3 {
        self.position + self.orientation * local
    }

    /// The direction it looks.
    pub fn forward(&self) -> Vec3 {
        self.orientation * Vec3::NEG_Z
    }
}

/// World from room: what walking, pulling and scaling the world change, and no edit ever does.
///
/// The *room* is the runtime's reference space (LOCAL_FLOOR), in metres of the real room; the *world* is the document's.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Similarity {
    /// Where the room's origin is in the world, metres.
    pub translation: Vec3,
    /// World from room.
    pub rotation: Quat,
    /// World metres per room metre: 0.5 shows the character twice as large as life.
    pub scale: f32,
}

impl Default for Similarity {
    fn default() -> Self {
        Self { translation: Vec3::ZERO, rotation: Quat::IDENTITY, scale: 1.0 }
    }
}

impl Similarity {
    /// A room point in the world.
    pub fn point(&self, room: Vec3) -> Vec3 {
        self.translation + self.rotation * (room * self.scale)
    }

    /// A room direction in the world, not scaled.
    pub fn direction(&self, room: Vec3) -> Vec3 {
        self.rotation * room
    }

    /// A device's pose in the world.
    pub fn rigid(&self, room: &Rigid) -> Rigid {
        Rigid { position: self.point(room.position), orientation: self.rotation * room.orientation }
    }

    /// A world point in the room.
    pub fn inverse_point(&self, world: Vec3) -> Vec3 {
        (self.rotation.inverse() * (world - self.translation)) / self.scale
    }

    /// World from room, where `self` is floor from room.
    pub fn turned(&self, world_from_floor: &Turn) -> Self {
        if *world_from_floor == Turn::NONE {
            return *self;
        }
        let rotation = (world_from_floor.rotation() * self.rotation).normalize();
        Self { translation: world_from_floor.point(self.translation), rotation, ..*self }
    }

    /// Floor from room, where `self` is world from room.
    pub fn turned_back(&self, world_from_floor: &Turn) -> Self {
        if *world_from_floor == Turn::NONE {
            return *self;
        }
        let rotation = (world_from_floor.rotation().inverse() * self.rotation).normalize();
        Self { translation: world_from_floor.inverse_point(self.translation), rotation, ..*self }
    }

    /// A world pose in the room.
    pub fn inverse_rigid(&self, world: &Rigid) -> Rigid {
        Rigid {
            position: self.inverse_point(world.position),
            orientation: self.rotation.inverse() * world.orientation,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_and_world_are_inverse_to_each_other() {
        let world_from_room = Similarity {
            translation: Vec3::new(0.3, -1.0, 2.0),
            rotation: Quat::from_rotation_y(0.7),
            scale: 2.5,
        };
        let hand = Rigid { position: Vec3::new(0.2, 1.3, -0.4), orientation: Quat::from_rotation_x(0.4) };
        let back = world_from_room.inverse_rigid(&world_from_room.rigid(&hand));
        assert!((back.position - hand.position).length() < 1e-6);
        assert!(back.orientation.angle_between(hand.orientation) < 1e-3);
        let tip = world_from_room.rigid(&hand).point(Vec3::NEG_Z);
        let expected = world_from_room.point(hand.position) + world_from_room.direction(hand.forward());
        assert!((tip - expected).length() < 1e-6);
    }
}
