//! Viewpoints that the user keeps. They are relative to the character, so a viewpoint of the face shows the face of
//! another character of similar proportions, at any scale.

use super::{Navigation, SCALE_RANGE};
use crate::base::math::{Aabb, Quat, Vec3};
use crate::workbench::{Rigid, Similarity};
use serde::{Deserialize, Serialize};

/// Number of viewpoints that the user can keep.
pub const VIEWPOINTS: usize = 4;
/// Range of distances from the head to the target for a viewpoint that the window has kept, metres of the room.
const COMFORTABLE: [f32; 2] = [0.5, 2.5];
/// Smallest distance from a head to the target, as a fraction of the diagonal of the bounding box.
const NEAREST: f32 = 0.02;

/// A place from which the user looks at a target. The unit of length is the diagonal of the character's bounding box;
/// the origin is the centre of the box.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Viewpoint {
    /// The point that the user looks at.
    pub target: Vec3,
    /// Rotation of the eye about +Y, radians. 0 shows the front of a character that faces +Z.
    pub yaw: f32,
    /// Elevation of the eye above the target, radians.
    pub pitch: f32,
    /// Distance from the eye to the target.
    pub distance: f32,
    /// Length of a metre of the room; `None` for a viewpoint of the window, which has no room.
    pub scale: Option<f32>,
}

impl Viewpoint {
    /// The viewpoint of an eye that looks at a target, both in world space.
    pub fn new(bounds: &Aabb, eye: Vec3, target: Vec3) -> Self {
        let unit = unit(bounds);
        let away = eye - target;
        let way = away.try_normalize().unwrap_or(Vec3::Z);
        Self {
            target: (target - bounds.center()) / unit,
            yaw: way.x.atan2(way.z),
            pitch: way.y.clamp(-1.0, 1.0).asin(),
            distance: away.length() / unit,
            scale: None,
        }
    }

    /// The target in the world of a character with these bounds, metres.
    pub fn target_in(&self, bounds: &Aabb) -> Vec3 {
        bounds.center() + self.target * unit(bounds)
    }

    /// Distance from the eye to the target in the world of a character with these bounds, metres.
    pub fn distance_in(&self, bounds: &Aabb) -> f32 {
        self.distance * unit(bounds)
    }

    /// Whether all numbers are valid; a file may hold others.
    pub fn is_sane(&self) -> bool {
        let lengths = self.distance > 0.0 && self.scale.is_none_or(|s| s.is_finite() && s > 0.0);
        let finite = [self.yaw, self.pitch, self.distance].iter().all(|v| v.is_finite());
        self.target.is_finite() && finite && lengths
    }

    /// Direction from the target to the eye.
    fn away(&self) -> Vec3 {
        Quat::from_rotation_y(self.yaw) * Quat::from_rotation_x(-self.pitch) * Vec3::Z
    }
}

impl Navigation {
    /// Returns the viewpoint of a head. Its target is the point of the line of sight that is nearest to the centre of
    /// the character. `bounds` is in world space.
    pub fn viewpoint(&self, bounds: &Aabb, head: &Rigid) -> Viewpoint {
        let head = self.world_from_room.rigid(head);
        let forward = head.forward();
        let along = (bounds.center() - head.position).dot(forward).max(NEAREST * unit(bounds));
        let target = head.position + forward * along;
        let scale = Some(self.world_from_room.scale / unit(bounds));
        Viewpoint { scale, ..Viewpoint::new(bounds, head.position, target) }
    }

    /// Moves the user to a viewpoint. The head keeps its tilt, so the user looks up or down to see a target above or
    /// below. `bounds` is in world space.
    pub fn go_to(&mut self, viewpoint: &Viewpoint, bounds: &Aabb, head: &Rigid) {
        self.let_go();
        self.remember(self.view);
        let distance = viewpoint.distance_in(bounds);
        let scale = viewpoint.scale.map_or_else(
            || distance / (distance / self.world_from_room.scale).clamp(COMFORTABLE[0], COMFORTABLE[1]),
            |scale| scale * unit(bounds),
        );
        let forward = head.forward();
        let turn = Quat::from_rotation_y(viewpoint.yaw - (-forward.x).atan2(-forward.z));
        let scale = scale.clamp(SCALE_RANGE[0], SCALE_RANGE[1]);
        let eye = viewpoint.target_in(bounds) + viewpoint.away() * distance;
        let translation = eye - turn * (head.position * scale);
        let room = Similarity { translation, rotation: turn, scale };
        self.stand(room.turned_back(&self.view.world_from_floor));
    }
}

/// The unit of length of viewpoints, metres.
fn unit(bounds: &Aabb) -> f32 {
    let diagonal = bounds.diagonal();
    if diagonal.is_finite() && diagonal > 0.0 { diagonal } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PERSON: Aabb = Aabb { min: Vec3::new(-0.8, 0.0, -0.2), max: Vec3::new(0.8, 1.8, 0.2) };

    fn head() -> Rigid {
        Rigid {
            position: Vec3::new(0.3, 1.6, 0.2),
            orientation: Quat::from_rotation_y(0.8) * Quat::from_rotation_x(-0.2),
        }
    }

    #[test]
    fn a_kept_viewpoint_comes_back_after_the_user_moved_the_head_and_the_world() {
        let mut n = Navigation::default();
        n.life_size(&PERSON, &head());
        n.turn(PERSON.center(), 0.5);
        n.stop_turning();
        let kept = n.viewpoint(&PERSON, &head());
        let before = n.world_from_room().rigid(&head());
        n.pull([Some(Vec3::ZERO), Some(Vec3::X)], false);
        n.pull([Some(Vec3::Y), Some(Vec3::X * 2.0)], false);
        n.pull([None; 2], false);
        let moved = Rigid { position: Vec3::new(-0.5, 1.4, 1.0), orientation: Quat::from_rotation_y(-1.9) };
        let last = *n.world_from_room();
        n.go_to(&kept, &PERSON, &moved);
        let now = n.world_from_room().rigid(&moved);
        assert!(now.position.distance(before.position) < 1e-4, "{now:?} {before:?}");
        assert!((n.world_from_room().scale - 1.0).abs() < 1e-5);
        let level = |r: &Rigid| (r.forward() * Vec3::new(1.0, 0.0, 1.0)).normalize();
        assert!(level(&now).dot(level(&before)) > 1.0 - 1e-5);
        assert!(n.undo() && *n.world_from_room() == last, "the view before is the last view");
    }

    #[test]
    fn a_viewpoint_fits_a_character_of_another_size_and_one_of_the_window_is_never_too_near() {
        let big = Aabb { min: PERSON.min * 50.0, max: PERSON.max * 50.0 };
        let mut n = Navigation::default();
        n.life_size(&PERSON, &head());
        let kept = n.viewpoint(&PERSON, &head());
        let eye = n.world_from_room().point(head().position);
        n.go_to(&kept, &big, &head());
        let far = n.world_from_room().point(head().position);
        assert!(far.distance(eye * 50.0) < 1e-2 && (n.world_from_room().scale - 50.0).abs() < 1e-3);
        let face = Viewpoint::new(&PERSON, Vec3::new(0.0, 1.7, 0.35), Vec3::new(0.0, 1.7, 0.1));
        assert!(face.is_sane() && face.scale.is_none() && face.yaw == 0.0);
        n.go_to(&face, &PERSON, &head());
        let s = n.world_from_room();
        assert!((0.25 / s.scale - COMFORTABLE[0]).abs() < 1e-4, "{s:?}");
        assert!(s.point(head().position).distance(Vec3::new(0.0, 1.7, 0.35)) < 1e-5);
    }
}
