//! The window's camera: it turns about a place, as in Blender.

use crate::base::math::{Aabb, Quat, Turn, Vec3};
use crate::render::{Camera, Tangents, View};
use serde::{Deserialize, Serialize};
use std::f32::consts::{FRAC_PI_2, PI};

/// Angle of view of the nearly parallel lens, radians: a telescope from far away.
const PARALLEL: f32 = 0.02;
/// Radians per logical pixel of an orbiting drag.
const ORBIT: f32 = 0.0075;
/// A step of the wheel shows so much more or less.
const ZOOM: f32 = 0.88;
/// Metres of height shown, at least and at most.
const HEIGHTS: [f32; 2] = [1e-5, 1e5];
/// Eyes stand so far apart as a share of the distance of what they look at: what is comfortable on a screen.
const EYES: f32 = 1.0 / 30.0;

/// A lens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lens {
    /// As an eye sees.
    #[default]
    Perspective,
    /// Lines that are parallel stay so, but for a hair.
    Parallel,
}

impl Lens {
    /// For people.
    pub fn label(self) -> &'static str {
        ["Perspective", "Orthographic"][self as usize]
    }
}

/// Where the camera stands.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stand {
    /// What it looks at and turns about, world, metres.
    pub target: Vec3,
    /// About +Y, radians: 0 sees the front of a character that faces +Z, a quarter turn its left side.
    pub yaw: f32,
    /// Raises it, radians, within a quarter turn.
    pub pitch: f32,
    /// What the picture shows at the target from its lower to its upper edge, metres.
    pub height: f32,
    /// Its lens.
    pub lens: Lens,
}

impl Default for Stand {
    fn default() -> Self {
        Self { target: Vec3::Y * 0.9, yaw: 0.5, pitch: 0.15, height: 2.2, lens: Lens::Perspective }
    }
}

/// A side from which to look.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "named after the character's sides")]
pub enum Side {
    Front,
    Back,
    Left,
    Right,
    Top,
    Bottom,
}

/// The camera, the floor on which the turntable turns the character, and the view before.
#[derive(Clone, Debug, Default)]
pub struct Orbit {
    stand: Stand,
    /// World from floor: the world is the character's space.
    floor: Turn,
    /// The view before the last command about it.
    before: Option<(Stand, Turn)>,
    /// A drag is under way: the view before it.
    drag: Option<(Stand, Turn)>,
    /// The last command was a zoom, or the turntable turns: the view before it is remembered.
    zooming: bool,
    turning: bool,
}

impl Orbit {
    /// Where it stands.
    pub fn stand(&self) -> &Stand {
        &self.stand
    }

    /// World from floor.
    pub fn floor(&self) -> &Turn {
        &self.floor
    }

    /// Stands elsewhere; [`Orbit::back`] goes back.
    pub fn go(&mut self, stand: Stand) {
        if stand != self.stand {
            if self.drag.is_none() {
                self.remember();
            }
            self.stand = sane(stand);
        }
    }

    /// A drag begins: all that comes until [`Orbit::end`] is one step back.
    pub fn begin(&mut self) {
        self.drag = Some((self.stand, self.floor));
    }

    /// A drag ends.
    pub fn end(&mut self) {
        // A click is no drag.
        if let Some(before) = self.drag.take().filter(|d| *d != (self.stand, self.floor)) {
            (self.before, self.zooming) = (Some(before), false);
        }
    }

    /// To the view before the last drag, zoom or jump, or before the turntable began to turn; from there back to this one.
    /// False where there is nothing to go to.
    pub fn back(&mut self) -> bool {
        self.end();
        let Some((stand, floor)) = self.before.take() else { return false };
        self.remember();
        (self.stand, self.floor) = (stand, floor);
        true
    }

    fn remember(&mut self) {
        (self.before, self.zooming) = (Some((self.stand, self.floor)), false);
    }

    /// Turns about the target by a drag, logical pixels right and down.
    pub fn orbit(&mut self, by: [f32; 2]) {
        let s = self.stand;
        self.stand = sane(Stand { yaw: s.yaw - by[0] * ORBIT, pitch: s.pitch + by[1] * ORBIT, ..s });
    }

    /// Turns the character on the floor about the vertical through a place of the world: the turntable. Camera and floor
    /// stay where they are to each other.
    pub fn turn(&mut self, centre: Vec3, angle: f32) {
        if !std::mem::replace(&mut self.turning, true) {
            self.remember();
        }
        let s = self.stand;
        let target = Turn::NONE.about(centre, angle).point(s.target);
        self.stand = sane(Stand { target, yaw: s.yaw + angle, ..s });
        self.floor = self.floor.about(centre, angle);
    }

    /// The turntable is switched off.
    pub fn stop_turning(&mut self) {
        self.turning = false;
    }

    /// Shows another character as it was made, in a picture of this aspect. Nothing leads back to the one before.
    pub fn meet(&mut self, bounds: &Aabb, aspect: f32) {
        self.frame(bounds, aspect);
        *self = Self { stand: self.stand, ..Self::default() };
    }

    /// Moves with what is held, pixels right and down of a picture `rows` high.
    pub fn pan(&mut self, by: [f32; 2], rows: f32) {
        let (turn, s) = (self.rotation(), self.stand);
        let per_pixel = s.height / rows.max(1.0);
        let target = s.target - turn * Vec3::new(by[0], -by[1], 0.0) * per_pixel;
        self.stand = sane(Stand { target, ..s });
    }

    /// Comes nearer by steps of the wheel; what is under the pointer stays there. `pointer` is its place from the
    /// middle of the picture as a share of the picture's height, right and up.
    pub fn zoom(&mut self, steps: f32, pointer: [f32; 2]) {
        if self.drag.is_none() && !self.zooming {
            self.remember();
            self.zooming = true;
        }
        let s = self.stand;
        let height = (s.height * ZOOM.powf(steps)).clamp(HEIGHTS[0], HEIGHTS[1]);
        let shift = self.rotation() * Vec3::new(pointer[0], pointer[1], 0.0) * (s.height - height);
        self.stand = sane(Stand { height, target: s.target + shift, ..s });
    }

    /// Looks from a side, at the same place; `PARALLEL` as Blender does is left to the user.
    pub fn look_from(&mut self, side: Side) {
        let (yaw, pitch) = match side {
            Side::Front => (0.0, 0.0),
            Side::Back => (PI, 0.0),
            Side::Left => (FRAC_PI_2, 0.0),
            Side::Right => (-FRAC_PI_2, 0.0),
            Side::Top => (0.0, FRAC_PI_2),
            Side::Bottom => (0.0, -FRAC_PI_2),
        };
        self.go(Stand { yaw, pitch, ..self.stand });
    }

    /// Shows a whole box in a picture of this aspect.
    pub fn frame(&mut self, bounds: &Aabb, aspect: f32) {
        if bounds.is_empty() {
            return;
        }
        let s = self.stand;
        let camera = Camera::framing(bounds, aspect.max(0.05), s.yaw, s.pitch);
        let height = 2.0 * (camera.fov_y * 0.5).tan() * camera.eye.distance(camera.target);
        self.go(Stand { target: camera.target, height, ..s });
    }

    /// World from camera: it looks along its -Z.
    pub fn rotation(&self) -> Quat {
        Quat::from_rotation_y(self.stand.yaw) * Quat::from_rotation_x(-self.stand.pitch)
    }

    /// Distance of the target, metres.
    pub fn distance(&self) -> f32 {
        0.5 * self.stand.height / self.tangent()
    }

    /// Where it is, world, metres.
    pub fn eye(&self) -> Vec3 {
        self.stand.target + self.rotation() * Vec3::Z * self.distance()
    }

    /// Metres at the target that a pixel of a picture `rows` high covers.
    pub fn per_pixel(&self, rows: f32) -> f32 {
        self.stand.height / rows.max(1.0)
    }

    fn tangent(&self) -> f32 {
        match self.stand.lens {
            Lens::Perspective => (0.5 * Camera::PORTRAIT).tan(),
            Lens::Parallel => (0.5 * PARALLEL).tan(),
        }
    }

    /// What it sees in a picture of this aspect.
    pub fn view(&self, aspect: f32) -> View {
        self.eye_view(aspect, 0.0)
    }

    /// The left and the right eye's view, converging on the target.
    pub fn stereo(&self, aspect: f32) -> [View; 2] {
        let half = 0.5 * EYES * self.distance();
        [self.eye_view(aspect, -half), self.eye_view(aspect, half)]
    }

    fn eye_view(&self, aspect: f32, offset: f32) -> View {
        let up = self.tangent();
        let right = up * aspect.max(1e-3);
        let distance = self.distance();
        let shift = -offset / distance;
        let tangents = Tangents { left: -right + shift, right: right + shift, up, down: -up };
        let rotation = self.rotation();
        View::new(self.eye() + rotation * Vec3::X * offset, rotation, tangents, distance * 1e-3)
    }
}

/// Everything finite and in range.
fn sane(mut s: Stand) -> Stand {
    let usual = Stand::default();
    s.target =
        if s.target.is_finite() { s.target.clamp(Vec3::splat(-1e6), Vec3::splat(1e6)) } else { usual.target };
    s.yaw = if s.yaw.is_finite() { (s.yaw + PI).rem_euclid(2.0 * PI) - PI } else { usual.yaw };
    s.pitch = if s.pitch.is_finite() { s.pitch.clamp(-FRAC_PI_2, FRAC_PI_2) } else { usual.pitch };
    s.height = if s.height.is_finite() { s.height.clamp(HEIGHTS[0], HEIGHTS[1]) } else { usual.height };
    s
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(orbit: &Orbit, point: Vec3) -> [f32; 2] {
        orbit.view(1.5).project(point).unwrap()
    }

    #[test]
    fn the_target_stays_in_the_middle_and_what_is_panned_or_zoomed_at_under_the_pointer() {
        for lens in [Lens::Perspective, Lens::Parallel] {
            let mut orbit = Orbit::default();
            orbit.go(Stand { lens, ..Stand::default() });
            orbit.orbit([130.0, -40.0]);
            let [u, v] = seen(&orbit, orbit.stand().target);
            assert!((u - 0.5).abs() < 1e-4 && (v - 0.5).abs() < 1e-4);
            // A point at the target's depth goes with the hand: 90 of 600 rows down and 60 right.
            let point = orbit.stand().target + orbit.rotation() * Vec3::new(0.2, 0.3, 0.0);
            let before = seen(&orbit, point);
            orbit.pan([60.0, 90.0], 600.0);
            let after = seen(&orbit, point);
            assert!((after[0] - before[0] - 60.0 / 900.0).abs() < 1e-3, "{before:?} {after:?}");
            assert!((after[1] - before[1] - 90.0 / 600.0).abs() < 1e-3);
            let pointer = [(after[0] - 0.5) * 1.5, 0.5 - after[1]];
            orbit.zoom(3.0, pointer);
            let near = seen(&orbit, point);
            assert!((near[0] - after[0]).abs() < 1e-3 && (near[1] - after[1]).abs() < 1e-3, "{near:?}");
        }
    }

    #[test]
    fn sides_show_the_character_as_it_faces_z() {
        let mut orbit = Orbit::default();
        orbit.frame(&Aabb { min: Vec3::new(-0.8, 0.0, -0.2), max: Vec3::new(0.8, 1.8, 0.2) }, 1.5);
        let (left, up, front) = (Vec3::X, Vec3::Y, Vec3::Z);
        for (side, right_is, up_is) in [
            (Side::Front, left, up),
            (Side::Back, -left, up),
            (Side::Left, -front, up),
            (Side::Right, front, up),
            (Side::Top, left, -front),
            (Side::Bottom, left, front),
        ] {
            orbit.look_from(side);
            let t = orbit.stand().target;
            let [u, _] = seen(&orbit, t + right_is * 0.3);
            let [_, v] = seen(&orbit, t + up_is * 0.3);
            assert!(u > 0.55 && v < 0.45, "{side:?} {u} {v}");
        }
    }

    #[test]
    fn framing_shows_all_and_views_can_be_taken_back() {
        let bounds = Aabb { min: Vec3::new(3.0, 0.0, -0.2), max: Vec3::new(3.5, 0.02, 0.2) };
        for lens in [Lens::Perspective, Lens::Parallel] {
            let mut orbit = Orbit::default();
            orbit.go(Stand { lens, ..Stand::default() });
            let first = *orbit.stand();
            orbit.frame(&bounds, 1.5);
            for corner in [bounds.min, bounds.max] {
                let [u, v] = seen(&orbit, corner);
                assert!((0.0..=1.0).contains(&u) && (0.0..=1.0).contains(&v), "{u} {v}");
            }
            let framed = *orbit.stand();
            orbit.begin();
            (0..9).for_each(|_| orbit.orbit([3.0, 1.0]));
            orbit.end();
            let dragged = *orbit.stand();
            assert!(orbit.back() && *orbit.stand() == framed && framed != first);
            // A click in between is no view.
            orbit.begin();
            orbit.end();
            assert!(orbit.back() && *orbit.stand() == dragged);
            assert!(orbit.back() && *orbit.stand() == framed);
            // Steps of the wheel that follow each other are one.
            (0..5).for_each(|_| orbit.zoom(1.0, [0.1, 0.2]));
            assert!(orbit.back() && *orbit.stand() == framed);
        }
    }

    #[test]
    fn the_turntable_turns_the_character_before_a_still_camera_and_floor() {
        let mut orbit = Orbit::default();
        let (axis, floor) = (Vec3::new(0.3, 0.0, -0.2), Vec3::new(2.0, 0.0, 1.0));
        let first = orbit.clone();
        let on_floor = |o: &Orbit, p: Vec3| seen(o, o.floor().point(p));
        let (still, turned) = (on_floor(&orbit, floor), seen(&orbit, floor));
        (0..90).for_each(|_| orbit.turn(axis, 0.01));
        let near = |a: [f32; 2], b: [f32; 2]| (a[0] - b[0]).hypot(a[1] - b[1]) < 1e-4;
        assert!(near(on_floor(&orbit, floor), still) && near(seen(&orbit, axis), seen(&first, axis)));
        assert!(!near(seen(&orbit, floor), turned));
        orbit.begin();
        orbit.orbit([30.0, 0.0]);
        orbit.end();
        // It goes on after a drag; the view before that is the one to go back to.
        let before = orbit.before;
        orbit.turn(axis, 0.01);
        assert_eq!(orbit.before, before);
        let view = orbit.view(1.5);
        assert!(orbit.back() && orbit.back() && orbit.view(1.5) == view);
        orbit.stop_turning();
        orbit.turn(axis, 0.01);
        assert!(orbit.back() && orbit.view(1.5) == view && !near(on_floor(&orbit, floor), turned));
    }

    #[test]
    fn nothing_that_is_dragged_makes_a_view_that_is_no_view() {
        let mut orbit = Orbit::default();
        for by in [[f32::NAN, 1.0], [1e30, -1e30], [f32::INFINITY, 0.0]] {
            orbit.orbit(by);
            orbit.pan(by, 0.0);
            orbit.zoom(by[0], [by[1], 0.0]);
            let view = orbit.view(1.0);
            assert!(view.eye.is_finite() && view.clip_from_world.is_finite(), "{by:?}");
        }
    }

    #[test]
    fn both_eyes_see_the_target_at_the_same_place() {
        let orbit = Orbit::default();
        let [left, right] = orbit.stereo(1.2);
        let at = |v: &View, p: Vec3| v.project(p).unwrap()[0];
        let t = orbit.stand().target;
        assert!((at(&left, t) - at(&right, t)).abs() < 1e-5);
        let near = t + orbit.rotation() * Vec3::Z * 0.2;
        assert!(at(&left, near) > at(&right, near), "what is near is crossed");
    }
}
