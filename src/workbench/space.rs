//! Rigid device poses, and the similarity transform from room to world.

use crate::base::math::{Quat, Turn, Vec3};
use serde::{Deserialize, Serialize};

/// A rigid pose: metres, right-handed, +Y up; devices look along -Z.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rigid {
    /// Position, metres.
    pub position: Vec3,
    /// Rotation from device space to the pose's space, unit quaternion.
    pub orientation: Quat,
}

impl Default for Rigid {
    fn default() -> Self {
        Self { position: Vec3::ZERO, orientation: Quat::IDENTITY }
    }
}

impl Rigid {
    /// Transforms a point from device space to the pose's space.
    pub fn point(&self, local: Vec3) -> Vec3 {
        self.position + self.orientation * local
    }

    /// The viewing direction, -Z of the device.
    pub fn forward(&self) -> Vec3 {
        self.orientation * Vec3::NEG_Z
    }
}

/// A transform from room to world. Walking, pulling and scaling change this transform; edits never change it.
///
/// The *room* is the runtime's reference space (LOCAL_FLOOR), real metres; the *world* is the document's space.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Similarity {
    /// World position of the room's origin, metres.
    pub translation: Vec3,
    /// World from room, unit quaternion.
    pub rotation: Quat,
    /// World metres per room metre; 0.5 shows the character at twice its real size.
    pub scale: f32,
}

impl Default for Similarity {
    fn default() -> Self {
        Self { translation: Vec3::ZERO, rotation: Quat::IDENTITY, scale: 1.0 }
    }
}

impl Similarity {
    /// Transforms a point from room to world.
    pub fn point(&self, room: Vec3) -> Vec3 {
        self.translation + self.rotation * (room * self.scale)
    }

    /// Rotates a direction from room to world, without scaling.
    pub fn direction(&self, room: Vec3) -> Vec3 {
        self.rotation * room
    }

    /// Transforms a device pose from room to world.
    pub fn rigid(&self, room: &Rigid) -> Rigid {
        Rigid { position: self.point(room.position), orientation: self.rotation * room.orientation }
    }

    /// Transforms a point from world to room.
    pub fn inverse_point(&self, world: Vec3) -> Vec3 {
        (self.rotation.inverse() * (world - self.translation)) / self.scale
    }

    /// Returns the transform from room to world, where `self` is the transform from room to floor.
    pub fn turned(&self, world_from_floor: &Turn) -> Self {
        if *world_from_floor == Turn::NONE {
            return *self;
        }
        let rotation = (world_from_floor.rotation() * self.rotation).normalize();
        Self { translation: world_from_floor.point(self.translation), rotation, ..*self }
    }

    /// Returns the transform from room to floor, where `self` is the transform from room to world.
    pub fn turned_back(&self, world_from_floor: &Turn) -> Self {
        if *world_from_floor == Turn::NONE {
            return *self;
        }
        let rotation = (world_from_floor.rotation().inverse() * self.rotation).normalize();
        Self { translation: world_from_floor.inverse_point(self.translation), rotation, ..*self }
    }

    /// Transforms a pose from world to room.
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
