//! Navigation: the user pulls, rotates, scales and jumps. This changes the transform from the room to the world, never
//! the document.
//!
//! World space is the character's space; tools record strokes in world space. Floor space is the space of the ground on
//! which the user stands: the turntable rotates the character relative to the floor. Room space is the space of the
//! headset's tracked room: pulling, rotating and scaling move the room relative to the floor.
//! [`Navigation::world_from_room`] transforms hands and eyes to world space. Only lines on the floor need
//! [`Navigation::world_from_floor`].

mod travel;
mod viewpoint;

use super::{Rigid, Similarity};
use crate::base::math::{Aabb, Quat, Turn, Vec3};
use std::collections::VecDeque;
pub use travel::{JumpArc, Travel};
pub use viewpoint::{VIEWPOINTS, Viewpoint};

/// Range of world metres per room metre.
pub const SCALE_RANGE: [f32; 2] = [0.01, 100.0];
/// Rotation per snap step of the thumbstick, radians.
pub const SNAP: f32 = std::f32::consts::PI / 6.0;
/// Initial distance from the user to the character, room metres.
const STAND: f32 = 1.3;
/// Size at which a very small or very large character is displayed initially, room metres.
const NICE: f32 = 1.6;
/// Sizes of a character that is displayed at life size initially, metres.
const COMFORTABLE: std::ops::Range<f32> = 0.25..4.0;
/// Number of views that [`Rules::First`] keeps for *Last view*.
const HISTORY: usize = 64;

/// The rules of view commands and of hands, by the version of the take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rules {
    /// Rules for takes of version 1: the turntable moves the user around the character, and repeated *Last view*
    /// commands step back through the history of views.
    First,
    /// Rules for takes of version 2: the turntable rotates the character, and *Last view* alternates between two views.
    /// Hands do not take keys on the motion path, and the trigger does not pin a held joint.
    Second,
    /// Rules for takes of version 3: those of version 2, but hands take keys on the motion path, and the trigger pins a
    /// held joint. The stick of the free hand does not jump or fly.
    Third,
    /// Rules for takes of version 4: those of version 3, but the stick of the free hand jumps or flies. A change of a
    /// sculpt layer ends the display of the motion. The motion stands still while a grab is recorded, and the recording
    /// thins all keys.
    Fourth,
    /// Rules for takes of version 5: those of version 4, but a sculpt layer changes on a motion that stays on display, the
    /// motion plays while a grab is recorded, and the recording keeps all keys of joints above a pin. Hands that move grips
    /// or the cage are not recorded.
    Fifth,
    /// Rules for takes of version 6: those of version 5, but hands that move grips or the cage are recorded, too, and a
    /// motion that played plays on after a recording. Only strokes of the line tool are steady or straight.
    Sixth,
    /// Rules for takes of version 7: those of version 6, but all strokes are freehand, steady or straight, as the user has
    /// chosen. A recording replaces a clip for the whole time, and the copy of the displayed pose is an undo step of its own;
    /// strokes keep the copy. The trigger of the grab tool makes this copy anywhere.
    Seventh,
    /// Rules for takes of version 8: those of version 7, but a recording leaves the motion of clips before and after
    /// it, and is one undo step with the copy of the displayed pose. The base pose keeps what clips give to the copy.
    /// The trigger of the grab tool makes the copy only near the body. Strokes and hands take control joints, and a
    /// grab of the whole body turns joints below a pinned joint.
    Eighth,
    /// Rules for takes of version 9: those of version 8, but strokes and hands do not take control joints, and a grab of the
    /// whole body keeps what hangs on a pinned joint, unless a hand or another pin is there. The turntable's axis is in the
    /// middle of the skin, without rigid parts such as a sword. A ring of the cage has the vertices that are about as far
    /// along the nearest bone, and about as far from it, as the grabbed vertex.
    Ninth,
    /// Rules for takes of version 10: those of version 9, but a ring of the cage goes around a limb along a section of the
    /// cage. A hand takes marks and knots where they are after linear blend skinning.
    Tenth,
    /// Rules for takes of version 11: those of version 10, but a hand at the skin takes marks and knots where they show.
    /// A hand that reaches for a displayed motion copies the pose at once, as an undo step.
    Eleventh,
    /// Rules for takes of version 12: those of version 11, but the copy of the displayed pose joins the undo step of the
    /// hand's act, and a cancelled act reverts the copy. A hand that is nearer to a joint than to a key on the motion path
    /// takes the joint.
    Twelfth,
    /// Rules for takes of version 13: those of version 12, but a motion that played plays on after a cancelled act, and a
    /// cancelled drag of a knot or of a drawn bone's joint leaves what can be redone. A grab does not bend a limb that is
    /// straight at its beginning. A hand that taps the body does not move it, and a grab above all skin moves the whole
    /// body. Undo cancels a pull at the world.
    Thirteenth,
    /// Current rules: those of version 13, but with mirror on, marks, pulls, offset strokes and drags of knots act on both
    /// sides of the body. The command *Shape on the other side* changes a mirror image that is already there.
    #[default]
    Now,
}

/// A view: the room's place on the floor, and the character's rotation on the turntable.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct View {
    floor_from_room: Similarity,
    world_from_floor: Turn,
}

/// Transform of the room in the world, with its history.
#[derive(Clone, Debug, Default)]
pub struct Navigation {
    view: View,
    /// World from room, derived from `view`.
    world_from_room: Similarity,
    /// Views before recent commands, newest last. Only [`Rules::First`] keeps more than one.
    history: VecDeque<View>,
    drag: Option<Drag>,
    /// Whether the turntable runs. The view before its start is already in `history`.
    turning: bool,
    /// Whether the user flies. The view before the flight is already in `history`.
    flying: bool,
    rules: Rules,
}

/// A pull in progress, with its initial state.
#[derive(Clone, Copy, Debug)]
struct Drag {
    /// Floor from room at the start of the pull.
    start: Similarity,
    /// Room positions of the pulling hands at the start of the pull.
    hands: [Option<Vec3>; 2],
    /// View before the pull began, for the history. It stays the same while hands join and leave.
    before: View,
}

/// Whether a character of this size, metres, is very small or very large.
pub(super) fn is_extreme(size: f32) -> bool {
    size > 0.0 && !COMFORTABLE.contains(&size)
}

impl Navigation {
    /// Sets the rules of view commands.
    pub fn keep_to(&mut self, rules: Rules) {
        self.rules = rules;
    }

    /// The rules of view commands.
    pub fn rules(&self) -> Rules {
        self.rules
    }

    /// World from room.
    pub fn world_from_room(&self) -> &Similarity {
        &self.world_from_room
    }

    /// World from floor.
    pub fn world_from_floor(&self) -> &Turn {
        &self.view.world_from_floor
    }

    /// Sets both transforms from a window's camera. Ignores invalid transforms.
    pub fn put(&mut self, world_from_room: Similarity, world_from_floor: Turn) {
        let s = &world_from_room;
        let finite = s.translation.is_finite() && s.rotation.is_finite() && s.scale.is_finite();
        if finite && s.scale > 0.0 && world_from_floor.is_finite() {
            self.drag = None;
            self.view = View { floor_from_room: s.turned_back(&world_from_floor), world_from_floor };
            self.world_from_room = world_from_room;
        }
    }

    /// Sets the view and updates `world_from_room`.
    fn go(&mut self, view: View) {
        self.view = view;
        self.world_from_room = view.floor_from_room.turned(&view.world_from_floor);
    }

    /// Sets floor from room.
    fn stand(&mut self, floor_from_room: Similarity) {
        self.go(View { floor_from_room, ..self.view });
    }

    /// Pulls the world with the hands that hold it; `hands` are their positions in the room. One hand translates the
    /// world. Two hands also scale it and rotate it about the vertical axis, or about any axis with `roll`. During the
    /// pull, hands may take and release the world; the pull ends when no hand holds it.
    pub fn pull(&mut self, hands: [Option<Vec3>; 2], roll: bool) {
        if hands == [None; 2] {
            return self.let_go();
        }
        let joined = |d: &Drag| (0..2).all(|h| d.hands[h].is_some() == hands[h].is_some());
        let drag = match self.drag {
            Some(drag) if joined(&drag) => drag,
            other => {
                let start = self.view.floor_from_room;
                Drag { start, hands, before: other.map_or(self.view, |d| d.before) }
            }
        };
        self.drag = Some(drag);
        self.stand(match (drag.hands, hands) {
            ([Some(a), Some(b)], [Some(x), Some(y)]) => two_hands(&drag.start, [a, b], [x, y], roll),
            ([Some(a), _], [Some(x), _]) | ([_, Some(a)], [_, Some(x)]) => one_hand(&drag.start, a, x),
            _ => self.view.floor_from_room,
        });
    }

    /// Ends a pull and adds the previous view to the history.
    fn let_go(&mut self) {
        if let Some(drag) = self.drag.take()
            && drag.before != self.view
        {
            self.remember(drag.before);
        }
    }

    /// Ends a pull and shows the view before it.
    pub fn drop_pull(&mut self) {
        if let Some(drag) = self.drag.take() {
            self.stand(drag.before.floor_from_room);
        }
    }

    /// Whether a pull is in progress.
    pub fn is_pulling(&self) -> bool {
        self.drag.is_some()
    }

    /// Rotates the view about the head by a number of steps of [`SNAP`]; a positive number rotates to the right. `head`
    /// is a position in the room.
    pub fn snap_turn(&mut self, steps: i32, head: Vec3) {
        self.let_go();
        self.remember(self.view);
        self.turn_about(head, Quat::from_rotation_y(-SNAP * (steps % 12) as f32));
    }

    /// Rotates the character on the turntable about the vertical axis through `centre` (world) by `angle`, radians.
    /// The floor keeps its place around the user.
    pub fn turn(&mut self, centre: Vec3, angle: f32) {
        if self.rules == Rules::First {
            return self.orbit(centre, angle);
        }
        if !std::mem::replace(&mut self.turning, true) {
            self.remember(self.view);
        }
        // The transform from room to floor stays constant, so the floor stays in place around the user.
        self.go(View { world_from_floor: self.view.world_from_floor.about(centre, angle), ..self.view });
    }

    /// Ends the rotation of the turntable.
    pub fn stop_turning(&mut self) {
        self.turning = false;
    }

    /// Rotates the user about `centre`: the turntable of [`Rules::First`].
    fn orbit(&mut self, centre: Vec3, angle: f32) {
        let turn = Quat::from_rotation_y(angle);
        let carried = |s: &Similarity| Similarity {
            rotation: (turn * s.rotation).normalize(),
            translation: centre + turn * (s.translation - centre),
            ..*s
        };
        self.stand(carried(&self.view.floor_from_room));
        if let Some(drag) = &mut self.drag {
            drag.start = carried(&drag.start);
        }
    }

    /// Sets world scale 1 and places the user in front of the character, facing it. `bounds` is in world space.
    pub fn life_size(&mut self, bounds: &Aabb, head: &Rigid) {
        self.let_go();
        self.remember(self.view);
        self.stand_before(bounds, head, 1.0);
    }

    /// Sets the initial view: that of [`Self::life_size`], but with a comfortable scale for very small and very large
    /// characters.
    pub fn first(&mut self, bounds: &Aabb, head: &Rigid) {
        let size = bounds.size().max_element();
        let scale = if is_extreme(size) { size / NICE } else { 1.0 };
        self.history.clear();
        self.drag = None;
        (self.turning, self.flying) = (false, false);
        self.stand_before(bounds, head, scale);
    }

    /// Makes the world upright, with the user's head fixed.
    pub fn level(&mut self, head: Vec3) {
        self.let_go();
        let before = self.view;
        let now = before.floor_from_room;
        let forward = now.rotation * Vec3::Z;
        let upright = Quat::from_rotation_y(forward.x.atan2(forward.z));
        if self.rules != Rules::First {
            // A quaternion and its negative are the same rotation.
            if now.rotation.dot(upright).abs() > 1.0 - 1e-6 {
                return;
            }
            self.remember(before);
        }
        self.hold(Similarity { rotation: upright, ..now }, head, now.point(head));
    }

    /// Whether [`Self::undo`] can restore a view.
    pub fn has_history(&self) -> bool {
        !self.history.is_empty()
    }

    /// Restores the view before the last pull, rotation or jump, or before the turntable started; a second call
    /// restores the view before the first call. Returns false if there is no earlier view.
    pub fn undo(&mut self) -> bool {
        self.let_go();
        let Some(before) = self.history.pop_back() else { return false };
        if self.rules != Rules::First {
            self.remember(self.view);
        }
        self.go(before);
        true
    }

    /// Compensates for a moved room origin, so that the world keeps its place around the user.
    pub fn recentred(&mut self, new_from_old: &Rigid) {
        let q = new_from_old.orientation.inverse();
        let moved = |s: &Similarity| Similarity {
            translation: s.point(q * -new_from_old.position),
            rotation: (s.rotation * q).normalize(),
            scale: s.scale,
        };
        let carried = |v: &View| View { floor_from_room: moved(&v.floor_from_room), ..*v };
        self.go(carried(&self.view));
        self.history.iter_mut().for_each(|v| *v = carried(v));
        if let Some(drag) = &mut self.drag {
            drag.start = moved(&drag.start);
            drag.before = carried(&drag.before);
            drag.hands = drag.hands.map(|h| h.map(|p| new_from_old.point(p)));
        }
    }

    fn remember(&mut self, before: View) {
        let most = if self.rules == Rules::First { HISTORY } else { 1 };
        if self.history.len() == most {
            self.history.pop_front();
        }
        self.history.push_back(before);
    }

    fn turn_about(&mut self, head: Vec3, turn: Quat) {
        let now = self.view.floor_from_room;
        let rotation = (turn * now.rotation).normalize();
        self.hold(Similarity { rotation, ..now }, head, now.point(head));
    }

    /// Sets the transform from room to floor to `s`, translated such that the room point `room` maps to the floor point
    /// `floor`.
    fn hold(&mut self, s: Similarity, room: Vec3, floor: Vec3) {
        self.stand(Similarity { translation: floor - s.rotation * (room * s.scale), ..s });
    }

    /// Places the user in front of the character and resets the turntable.
    fn stand_before(&mut self, bounds: &Aabb, head: &Rigid, scale: f32) {
        self.drag = None;
        self.view.world_from_floor = Turn::NONE;
        let scale = scale.clamp(SCALE_RANGE[0], SCALE_RANGE[1]);
        // A glTF character faces +Z, so the user must look along -Z.
        let forward = head.forward();
        let yaw = (-forward.x).atan2(-forward.z);
        let (centre, half) = (bounds.center(), bounds.size() * 0.5);
        let ground = if bounds.is_empty() { 0.0 } else { bounds.min.y };
        let place = Vec3::new(centre.x, ground, centre.z + half.z + STAND * scale);
        let facing = Similarity { translation: Vec3::ZERO, rotation: Quat::from_rotation_y(-yaw), scale };
        self.hold(facing, Vec3::new(head.position.x, 0.0, head.position.z), place);
    }
}

/// Returns `start`, a transform from room space, with a new translation that keeps the held point in the hand. `held`
/// and `hand` are the hand's room positions at the start and now.
fn one_hand(start: &Similarity, held: Vec3, hand: Vec3) -> Similarity {
    let translation = start.point(held) - start.rotation * (hand * start.scale);
    Similarity { translation, ..*start }
}

/// Scales, rotates and translates `start`, a transform from room space, such that both held points follow the hands.
/// `held` and `hands` are the hands' room positions at the start and now. The midpoint follows exactly, even where a
/// limit on scale or rotation stops the held points.
fn two_hands(start: &Similarity, held: [Vec3; 2], hands: [Vec3; 2], roll: bool) -> Similarity {
    let (before, now) = (held[1] - held[0], hands[1] - hands[0]);
    // Hands that touch give no direction. The lower bound on the distances keeps the ratio finite.
    let ratio = before.length().max(1e-3) / now.length().max(1e-3);
    let scale = (start.scale * ratio).clamp(SCALE_RANGE[0], SCALE_RANGE[1]);
    // Rotation from the hands' current direction in the room to the initial direction.
    let turn = if roll {
        match (now.try_normalize(), before.try_normalize()) {
            (Some(n), Some(b)) => Quat::from_rotation_arc(n, b),
            _ => Quat::IDENTITY,
        }
    } else {
        // The world's up axis, in room space.
        let up = start.rotation.inverse() * Vec3::Y;
        let flat = |v: Vec3| v - up * v.dot(up);
        let (n, b) = (flat(now), flat(before));
        // The yaw is undefined if one hand is above the other.
        if n.length() < 0.2 * now.length() || b.length() < 0.2 * before.length() {
            Quat::IDENTITY
        } else {
            Quat::from_axis_angle(up, up.dot(n.cross(b)).atan2(n.dot(b)))
        }
    };
    let rotation = (start.rotation * turn).normalize();
    let middle = (hands[0] + hands[1]) * 0.5;
    let world = start.point((held[0] + held[1]) * 0.5);
    Similarity { translation: world - rotation * (middle * scale), rotation, scale }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: Vec3, b: Vec3) -> bool {
        (a - b).length() < 1e-4 * (1.0 + a.length())
    }

    #[test]
    fn a_pulled_world_stays_in_the_hand_and_comes_back_by_one_undo() {
        let mut n = Navigation::default();
        let hand = Vec3::new(0.2, 1.0, -0.3);
        n.pull([None, Some(hand)], false);
        let held = n.world_from_room().point(hand);
        for i in 1..=10 {
            let moved = hand + Vec3::new(0.03, -0.02, 0.05) * i as f32;
            n.pull([None, Some(moved)], false);
            assert!(close(n.world_from_room().point(moved), held));
        }
        n.pull([None; 2], false);
        let pulled = *n.world_from_room();
        for view in [Similarity::default(), pulled, Similarity::default()] {
            assert!(!n.is_pulling() && n.undo());
            assert_eq!(*n.world_from_room(), view);
        }
    }

    #[test]
    fn two_hands_scale_and_yaw_and_roll_only_when_asked() {
        for roll in [false, true] {
            let mut n = Navigation::default();
            let (a, b) = (Vec3::new(-0.2, 1.2, -0.4), Vec3::new(0.2, 1.2, -0.4));
            n.pull([Some(a), Some(b)], roll);
            let turned = Quat::from_rotation_y(0.5) * Quat::from_rotation_z(0.4);
            let middle = (a + b) * 0.5;
            let spread = |p: Vec3| middle + turned * ((p - middle) * 2.0);
            n.pull([Some(spread(a)), Some(spread(b))], roll);
            let s = *n.world_from_room();
            assert!((s.scale - 0.5).abs() < 1e-5);
            assert!(close(s.point(middle), middle));
            let up = s.rotation * Vec3::Y;
            if roll {
                assert!(close(s.point(spread(a)), a) && close(s.point(spread(b)), b));
                assert!(up.y < 0.99);
            } else {
                assert!(close(up, Vec3::Y));
                // Without roll, the line through the held points stays in its vertical plane.
                let (p, q) = (s.point(spread(a)), s.point(spread(b)));
                assert!((q - p).z.abs() < 1e-4 && (q - p).x > 0.0);
            }
            n.pull([Some(spread(a)), None], roll);
            n.pull([None; 2], roll);
            assert!(n.undo() && *n.world_from_room() == Similarity::default(), "one pull, one step");
        }
    }

    #[test]
    fn scale_stays_in_range_and_everything_finite() {
        let mut n = Navigation::default();
        for (x, y) in [(1e-9, 1.0), (1.0, 1e-9), (0.0, 0.0)] {
            for _ in 0..8 {
                n.pull([Some(Vec3::ZERO), Some(Vec3::X * x)], false);
                n.pull([Some(Vec3::ZERO), Some(Vec3::X * y)], true);
                n.pull([None; 2], false);
                let s = n.world_from_room();
                assert!(s.translation.is_finite() && s.rotation.is_normalized());
                assert!((SCALE_RANGE[0]..=SCALE_RANGE[1]).contains(&s.scale));
            }
        }
    }

    #[test]
    fn turns_keep_the_head_and_recentring_keeps_the_world() {
        let mut n = Navigation::default();
        let head = Vec3::new(0.4, 1.7, 0.3);
        n.pull([Some(Vec3::ZERO), None], false);
        n.pull([Some(Vec3::new(0.3, 0.1, 2.0)), None], false);
        let eye = n.world_from_room().point(head);
        n.snap_turn(2, head);
        assert!(close(n.world_from_room().point(head), eye));
        let right = n.world_from_room().direction(Vec3::NEG_Z);
        assert!(right.x > 0.8, "turning right looks towards +X: {right}");
        let new_from_old =
            Rigid { position: Vec3::new(1.0, 0.0, -2.0), orientation: Quat::from_rotation_y(1.1) };
        let hand = Vec3::new(0.2, 1.0, 0.6);
        let (before, tip) = (*n.world_from_room(), n.world_from_room().point(hand));
        n.recentred(&new_from_old);
        assert!(close(n.world_from_room().point(new_from_old.point(hand)), tip));
        assert!(
            n.world_from_room().rotation.angle_between(before.rotation * Quat::from_rotation_y(-1.1)) < 1e-3
        );
        // A pull in progress continues without a jump.
        let held = Vec3::new(0.3, 0.1, 2.0);
        n.pull([Some(new_from_old.point(held)), None], false);
        assert!(close(n.world_from_room().point(new_from_old.point(hand)), tip));
    }

    #[test]
    fn life_size_stands_before_the_character_and_looks_at_it() {
        let bounds = Aabb { min: Vec3::new(1.0, 0.5, -3.0), max: Vec3::new(2.0, 2.3, -2.6) };
        let mut n = Navigation::default();
        let head = Rigid { position: Vec3::new(0.7, 1.6, -0.4), orientation: Quat::from_rotation_y(2.0) };
        n.life_size(&bounds, &head);
        let s = n.world_from_room();
        assert_eq!(s.scale, 1.0);
        let eye = s.point(head.position);
        assert!(close(s.direction(head.forward()), Vec3::NEG_Z));
        assert!((eye.x - 1.5).abs() < 1e-4 && eye.z > -2.6 + 1.0 && (eye.y - 2.1).abs() < 1e-4, "{eye}");
        n.first(&Aabb { min: Vec3::ZERO, max: Vec3::splat(160.0) }, &head);
        assert!((n.world_from_room().scale - 100.0).abs() < 1e-3);
    }

    #[test]
    fn takes_of_version_1_find_their_turntable_and_their_steps_back() {
        let mut n = Navigation::default();
        n.keep_to(Rules::First);
        let centre = Vec3::new(0.1, 0.9, -0.3);
        // Expected result, computed exactly as version 1 did.
        let mut then = Similarity::default();
        let mut steps = vec![then];
        for i in 0..4 {
            let hand = Vec3::new(0.2, 1.0, -0.3);
            n.pull([Some(hand), None], false);
            n.pull([Some(hand + Vec3::X * 0.1), None], false);
            n.pull([None; 2], false);
            then = one_hand(&then, hand, hand + Vec3::X * 0.1);
            for _ in 0..50 {
                let turn = Quat::from_rotation_y(0.004);
                then.rotation = (turn * then.rotation).normalize();
                then.translation = centre + turn * (then.translation - centre);
                n.turn(centre, 0.004);
            }
            assert_eq!(*n.world_from_room(), then, "{i}");
            steps.push(then);
        }
        assert_eq!(*n.world_from_floor(), Turn::NONE);
        steps.pop();
        for before in steps.into_iter().rev() {
            assert!(n.undo());
            assert_eq!(*n.world_from_room(), before);
        }
        assert!(!n.undo());
    }
}
