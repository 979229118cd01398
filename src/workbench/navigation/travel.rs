//! Travel by the stick of the free hand: jumps to a place on the floor, and flight.

use super::Navigation;
use crate::base::math::Vec3;
use crate::workbench::Rigid;
use serde::{Deserialize, Serialize};

/// Initial speed of the arc that shows where a jump ends, metres of the room per second.
const THROW: f32 = 6.0;
/// Acceleration of the arc downwards, metres of the room per second squared.
const FALL: f32 = 9.8;

/// What the stick of the free hand does when the user pushes it forward or pulls it back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Travel {
    /// Pushed forward, it shows a place on the floor; released, the user jumps there.
    #[default]
    Jump,
    /// The user flies in the direction of the hand.
    Fly,
    /// Nothing.
    Off,
}

impl Travel {
    /// All kinds of travel, in the order of the panel.
    pub const ALL: [Self; 3] = [Self::Jump, Self::Fly, Self::Off];

    /// Name for the user interface.
    pub fn label(self) -> &'static str {
        ["Jump", "Fly", "Off"][self as usize]
    }
}

/// The arc from a hand to the place on the floor where a jump ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JumpArc {
    start: Vec3,
    speed: Vec3,
    fall: f32,
    seconds: f32,
}

impl JumpArc {
    /// Throws the arc from a hand in world space to the floor at height `ground`. `scale` is the number of world metres
    /// per room metre. Returns `None` for a hand below the floor.
    pub fn throw(hand: &Rigid, ground: f32, scale: f32) -> Option<Self> {
        let (speed, fall) = (hand.forward() * (THROW * scale), FALL * scale);
        let height = hand.position.y - ground;
        let seconds = (speed.y + (speed.y * speed.y + 2.0 * fall * height).sqrt()) / fall;
        (height > 0.0 && seconds.is_finite()).then_some(Self { start: hand.position, speed, fall, seconds })
    }

    /// A point of the arc, world space; 0 is the hand, 1 the place.
    pub fn point(&self, share: f32) -> Vec3 {
        let t = share * self.seconds;
        self.start + self.speed * t - Vec3::Y * (0.5 * self.fall * t * t)
    }

    /// The place on the floor, world space.
    pub fn place(&self) -> Vec3 {
        self.point(1.0)
    }
}

impl Navigation {
    /// Moves the user such that the head is above a place. The head keeps its height and direction. `head` is a position
    /// in the room, `place` a point in world space.
    pub fn jump(&mut self, head: Vec3, place: Vec3) {
        self.let_go();
        self.remember(self.view);
        let way = place - self.world_from_room.point(head);
        self.shift(Vec3::new(way.x, 0.0, way.z));
    }

    /// Moves the user by `way`, world space. All calls until [`Self::stop_flying`] are one change of the view.
    pub fn fly(&mut self, way: Vec3) {
        if !std::mem::replace(&mut self.flying, true) {
            self.let_go();
            self.remember(self.view);
        }
        self.shift(way);
    }

    /// Ends a flight.
    pub fn stop_flying(&mut self) {
        self.flying = false;
    }

    fn shift(&mut self, way: Vec3) {
        let now = self.view.floor_from_room;
        let way = self.view.world_from_floor.rotation().inverse() * way;
        if way.is_finite() {
            self.stand(super::Similarity { translation: now.translation + way, ..now });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::math::Quat;

    #[test]
    fn an_arc_ends_on_the_floor_in_front_of_the_hand_also_if_it_points_up() {
        for (scale, pitch) in [(1.0, -0.4), (1.0, 0.9), (0.02, 0.3), (30.0, -1.2)] {
            let hand = Rigid {
                position: Vec3::new(0.2, 1.1 * scale + 0.3, -0.4),
                orientation: Quat::from_rotation_y(0.7) * Quat::from_rotation_x(pitch),
            };
            let arc = JumpArc::throw(&hand, 0.3, scale).unwrap();
            let place = arc.place();
            assert!((place.y - 0.3).abs() < 1e-4 * scale.max(1.0), "{place}");
            let (way, forward) = (place - hand.position, hand.forward());
            assert!(way.x * forward.x > 0.0 && way.z * forward.z > 0.0);
            assert!(way.length() < 8.0 * scale && arc.point(0.0) == hand.position);
        }
        assert_eq!(JumpArc::throw(&Rigid::default(), 0.1, 1.0), None);
    }

    #[test]
    fn a_jump_moves_the_head_above_the_place_also_on_a_turned_floor_and_is_one_step_back() {
        let mut n = Navigation::default();
        n.turn(Vec3::new(0.4, 0.0, 0.2), 1.1);
        n.stop_turning();
        let (head, place) = (Vec3::new(0.3, 1.7, 0.2), Vec3::new(2.0, -0.5, 3.0));
        let before = *n.world_from_room();
        n.jump(head, place);
        let now = n.world_from_room().point(head);
        assert!((now - Vec3::new(2.0, before.point(head).y, 3.0)).length() < 1e-5, "{now}");
        assert_eq!(n.world_from_room().rotation, before.rotation);
        assert!(n.undo() && *n.world_from_room() == before);
        for _ in 0..9 {
            n.fly(Vec3::new(0.1, 0.05, 0.0));
        }
        n.stop_flying();
        let flown = n.world_from_room().point(head) - before.point(head);
        assert!((flown - Vec3::new(0.9, 0.45, 0.0)).length() < 1e-5, "{flown}");
        assert!(n.undo());
        assert!((n.world_from_room().translation - before.translation).length() < 1e-6);
    }
}
