//! The window's camera: it orbits about a target point, as in Blender.

use crate::base::math::{Aabb, Quat, Turn, Vec3};
use crate::render::{Camera, Tangents, View};
use serde::{Deserialize, Serialize};
use std::f32::consts::{FRAC_PI_2, PI};

/// Vertical field of view of the nearly orthographic lens, radians. To compensate, the camera is far away from the
/// target.
const PARALLEL: f32 = 0.02;
/// Rotation per logical pixel of an orbiting drag, radians.
const ORBIT: f32 = 0.0075;
/// Factor on the visible height per step of the wheel.
const ZOOM: f32 = 0.88;
/// Smallest and largest visible height, metres.
const HEIGHTS: [f32; 2] = [1e-5, 1e5];
/// Distance between the eyes of the stereo preview, as a fraction of the distance to the target.
const EYES: f32 = 1.0 / 30.0;

/// The camera's kind of projection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lens {
    /// Perspective projection.
    #[default]
    Perspective,
    /// Nearly orthographic projection, with a tiny field of view.
    Parallel,
}

impl Lens {
    /// The displayed name.
    pub fn label(self) -> &'static str {
        ["Perspective", "Orthographic"][self as usize]
    }
}

/// The camera's view parameters.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stand {
    /// The point that the camera looks at and orbits about, world space, metres.
    pub target: Vec3,
    /// Rotation about +Y, radians. 0 shows the front of a character that faces +Z, a quarter rotation its left side.
    pub yaw: f32,
    /// Elevation of the camera above the target, radians, within a quarter rotation.
    pub pitch: f32,
    /// Height of the view at the target's distance, metres.
    pub height: f32,
    /// Kind of projection.
    pub lens: Lens,
}

impl Default for Stand {
    fn default() -> Self {
        Self { target: Vec3::Y * 0.9, yaw: 0.5, pitch: 0.15, height: 2.2, lens: Lens::Perspective }
    }
}

impl Stand {
    /// Distance from which the perspective lens shows the same height, metres.
    pub fn portrait_distance(&self) -> f32 {
        0.5 * self.height / (0.5 * Camera::PORTRAIT).tan()
    }

    /// The view from this distance with the perspective lens. An orthographic lens shows the same height.
    pub fn at_portrait_distance(self, distance: f32) -> Self {
        Self { height: 2.0 * distance * (0.5 * Camera::PORTRAIT).tan(), ..self }
    }
}

/// A side from which the camera looks at the character.
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

/// The camera, the floor on which the turntable rotates the character, and the previous view.
#[derive(Clone, Debug, Default)]
pub struct Orbit {
    stand: Stand,
    /// Transform from floor to world. World space is the character's space.
    floor: Turn,
    /// View before the last camera command.
    before: Option<(Stand, Turn)>,
    /// View before the current drag; `None` outside a drag.
    drag: Option<(Stand, Turn)>,
    /// Whether the last camera command was a zoom. Consecutive zooms count as one change of the view.
    zooming: bool,
    turning: bool,
}

impl Orbit {
    /// The current view parameters.
    pub fn stand(&self) -> &Stand {
        &self.stand
    }

    /// Transform from floor to world.
    pub fn floor(&self) -> &Turn {
        &self.floor
    }

    /// Sets the view parameters. [`Orbit::back`] restores the previous view.
    pub fn go(&mut self, stand: Stand) {
        if stand != self.stand {
            if self.drag.is_none() {
                self.remember();
            }
            self.stand = sane(stand);
        }
    }

    /// Begins a drag. [`Orbit::back`] reverts all changes between this call and [`Orbit::end`] in one step.
    pub fn begin(&mut self) {
        self.drag = Some((self.stand, self.floor));
    }

    /// Ends a drag.
    pub fn end(&mut self) {
        // A drag without any change is a click and does not save a view.
        if let Some(before) = self.drag.take().filter(|d| *d != (self.stand, self.floor)) {
            (self.before, self.zooming) = (Some(before), false);
        }
    }

    /// Swaps the current view with the view before the last drag, zoom, jump or start of the turntable. Returns false
    /// if no other view is stored.
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

    /// Rotates the camera about the target by a drag. `by` is the drag to the right and down, logical pixels.
    pub fn orbit(&mut self, by: [f32; 2]) {
        let s = self.stand;
        self.stand = sane(Stand { yaw: s.yaw - by[0] * ORBIT, pitch: s.pitch + by[1] * ORBIT, ..s });
    }

    /// Turntable: rotates the character on the floor about the vertical axis through `centre` by `angle`, radians. The
    /// camera moves with the floor, so the floor stands still in the picture.
    pub fn turn(&mut self, centre: Vec3, angle: f32) {
        if !std::mem::replace(&mut self.turning, true) {
            self.remember();
        }
        let s = self.stand;
        let target = Turn::NONE.about(centre, angle).point(s.target);
        self.stand = sane(Stand { target, yaw: s.yaw + angle, ..s });
        self.floor = self.floor.about(centre, angle);
    }

    /// Notes that the turntable stopped.
    pub fn stop_turning(&mut self) {
        self.turning = false;
    }

    /// Frames a newly opened character and resets floor and view history. `aspect` is width over height.
    pub fn meet(&mut self, bounds: &Aabb, aspect: f32) {
        self.frame(bounds, aspect);
        *self = Self { stand: self.stand, ..Self::default() };
    }

    /// Pans so that a point at the target's distance follows the mouse. `by` is the drag to the right and down, in
    /// pixels of a picture that is `rows` pixels high.
    pub fn pan(&mut self, by: [f32; 2], rows: f32) {
        let (turn, s) = (self.rotation(), self.stand);
        let per_pixel = s.height / rows.max(1.0);
        let target = s.target - turn * Vec3::new(by[0], -by[1], 0.0) * per_pixel;
        self.stand = sane(Stand { target, ..s });
    }

    /// Zooms in by steps of the wheel and keeps the point under the pointer in place. `pointer` is relative to the
    /// picture's centre, right and up, as a fraction of the picture's height.
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

    /// Looks at the current target from a side. Keeps the lens.
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

    /// Fits a bounding box into a picture of this aspect ratio.
    pub fn frame(&mut self, bounds: &Aabb, aspect: f32) {
        if bounds.is_empty() {
            return;
        }
        let s = self.stand;
        let camera = Camera::framing(bounds, aspect.max(0.05), s.yaw, s.pitch);
        let height = 2.0 * (camera.fov_y * 0.5).tan() * camera.eye.distance(camera.target);
        self.go(Stand { target: camera.target, height, ..s });
    }

    /// Rotation from camera to world space. The camera looks along its -Z axis.
    pub fn rotation(&self) -> Quat {
        Quat::from_rotation_y(self.stand.yaw) * Quat::from_rotation_x(-self.stand.pitch)
    }

    /// Distance from the camera to the target, metres.
    pub fn distance(&self) -> f32 {
        0.5 * self.stand.height / self.tangent()
    }

    /// Position of the camera, world space, metres.
    pub fn eye(&self) -> Vec3 {
        self.stand.target + self.rotation() * Vec3::Z * self.distance()
    }

    /// Size of a pixel at the target's distance, metres, for a picture that is `rows` pixels high.
    pub fn per_pixel(&self, rows: f32) -> f32 {
        self.stand.height / rows.max(1.0)
    }

    fn tangent(&self) -> f32 {
        match self.stand.lens {
            Lens::Perspective => (0.5 * Camera::PORTRAIT).tan(),
            Lens::Parallel => (0.5 * PARALLEL).tan(),
        }
    }

    /// Returns the render view for a picture of this aspect ratio.
    pub fn view(&self, aspect: f32) -> View {
        self.eye_view(aspect, 0.0)
    }

    /// Returns the views of the left and the right eye, converging on the target.
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

/// Makes all parameters finite and clamps them to their ranges.
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
            // A point at the target's depth follows the drag: 90 of 600 rows down and 60 right.
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
            // A click without a drag does not save a view.
            orbit.begin();
            orbit.end();
            assert!(orbit.back() && *orbit.stand() == dragged);
            assert!(orbit.back() && *orbit.stand() == framed);
            // Consecutive steps of the wheel count as one change of the view.
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
        // The turntable continues after a drag; the view before the drag stays the one to return to.
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
