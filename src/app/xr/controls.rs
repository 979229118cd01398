//! Converts raw action values of a controller to the controls of a [`Hand`]. Independent of OpenXR.

use crate::base::math::{Quat, Vec3};
use crate::workbench::{Hand, Rigid, Tracked, Tracking};

/// Raw action values of one hand.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Raw {
    /// Value of [`super::profiles::Act::Draw`], 0..=1.
    pub draw: f32,
    /// Value of [`super::profiles::Act::Grab`], 0..=1.
    pub grab: f32,
    /// Position of [`super::profiles::Act::Stick`], each axis -1..=1.
    pub stick: [f32; 2],
    /// Whether [`super::profiles::Act::Undo`] is pressed.
    pub undo: bool,
    /// Whether [`super::profiles::Act::Redo`] is pressed.
    pub redo: bool,
    /// Whether [`super::profiles::Act::Menu`] is pressed.
    pub menu: bool,
    /// Position of [`super::profiles::Act::Pad`], each axis -1..=1.
    pub pad: [f32; 2],
    /// Whether [`super::profiles::Act::PadPress`] is pressed.
    pub pad_press: bool,
}

/// Pinch hysteresis: a pinch begins above the first value and ends below the second.
const PINCH: [f32; 2] = [0.7, 0.4];
/// Minimum cosine between palm normal and head direction at which the palm faces the user (37 degrees).
const FACING: f32 = 0.8;

/// State of a tracked bare hand's pinch. A pinch that begins while the palm faces the head acts as the menu button
/// until it ends, and does not draw.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Palm {
    pinching: bool,
    menu: bool,
}

impl Palm {
    /// Returns the pinch value for drawing, and whether the menu is pressed. `grip` is the hand's pose and `head` the
    /// position of the eyes, both in the same space; `hand` is 0 for the left hand.
    fn update(&mut self, hand: usize, draw: f32, grip: &Tracked, head: Vec3) -> (f32, bool) {
        if self.pinching && draw < PINCH[1] {
            *self = Self::default();
        } else if !self.pinching && draw > PINCH[0] {
            // The grip pose's +X points out of the left palm and into the right palm.
            let out = grip.pose.orientation * if hand == 0 { Vec3::X } else { Vec3::NEG_X };
            let to_head = (head - grip.pose.position).normalize_or_zero();
            self.menu = grip.tracking != Tracking::Lost && out.dot(to_head) > FACING;
            self.pinching = true;
        }
        (if self.menu { 0.0 } else { draw }, self.menu)
    }
}

/// Sets all controls of a hand from raw action values; the poses of the hand do not change. A press on the left side of
/// the trackpad means undo, a press on the right side redo. A press at the top or bottom acts as the stick's vertical
/// axis. A touch without a press does nothing, because the thumb rests on the trackpad.
///
/// For a bare hand, `palm` is the state of the hand's pinch and the position of the head; for a controller, `palm` is
/// `None`.
pub fn fill(hand: usize, raw: &Raw, palm: Option<(&mut Palm, Vec3)>, out: &mut Hand) {
    let number = |v: f32, low: f32| if v.is_finite() { v.clamp(low, 1.0) } else { 0.0 };
    out.draw = number(raw.draw, 0.0);
    out.grab = number(raw.grab, 0.0);
    out.stick = raw.stick.map(|v| number(v, -1.0));
    (out.undo, out.redo, out.menu) = (raw.undo, raw.redo, raw.menu);
    let [x, y] = raw.pad.map(|v| number(v, -1.0));
    if raw.pad_press && x.abs() > y.abs() {
        out.undo |= x < 0.0;
        out.redo |= x > 0.0;
    } else if raw.pad_press {
        out.stick[1] = if out.stick[1] == 0.0 { y } else { out.stick[1] };
    }
    if let Some((palm, head)) = palm {
        let (draw, menu) = palm.update(hand, out.draw, &out.grip, head);
        out.draw = draw;
        out.menu |= menu;
    }
}

/// Location of an OpenXR space.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Located {
    /// Whether position and orientation are both valid.
    pub valid: bool,
    /// Whether position and orientation are both tracked.
    pub tracked: bool,
    /// Position, metres.
    pub position: [f32; 3],
    /// Orientation, quaternion xyzw.
    pub orientation: [f32; 4],
}

impl Located {
    /// Returns the pose and its tracking quality. An invalid location keeps the pose of `last` and counts as lost.
    pub fn after(&self, last: &Tracked) -> Tracked {
        let orientation = Quat::from_array(self.orientation);
        let sane = self.position.iter().chain(&self.orientation).all(|v| v.is_finite())
            && (orientation.length_squared() - 1.0).abs() < 0.1;
        if !self.valid || !sane {
            return Tracked { tracking: Tracking::Lost, ..*last };
        }
        let pose = Rigid { position: self.position.into(), orientation: orientation.normalize() };
        Tracked { pose, tracking: if self.tracked { Tracking::Tracked } else { Tracking::Inferred } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f32::consts::FRAC_PI_2;

    fn filled(raw: Raw) -> Hand {
        let mut hand = Hand::default();
        fill(1, &raw, None, &mut hand);
        hand
    }

    #[test]
    fn a_pressed_pad_has_four_sides_and_a_touched_one_none() {
        let pad = |pad, pad_press| filled(Raw { pad, pad_press, ..Raw::default() });
        let at = |hand: &Hand| (hand.undo, hand.redo, hand.stick[1]);
        assert_eq!(at(&pad([-0.9, 0.2], true)), (true, false, 0.0));
        assert_eq!(at(&pad([0.7, -0.2], true)), (false, true, 0.0));
        assert_eq!(at(&pad([0.1, 0.8], true)), (false, false, 0.8));
        assert_eq!(pad([-0.9, 0.2], false), Hand::default());
        let both = filled(Raw { stick: [0.0, -0.5], pad: [0.0, 1.0], pad_press: true, ..Raw::default() });
        assert_eq!(both.stick[1], -0.5);
    }

    #[test]
    fn values_out_of_range_are_brought_back() {
        let hand = filled(Raw { draw: 1.5, grab: f32::NAN, stick: [-2.0, f32::INFINITY], ..Raw::default() });
        assert_eq!((hand.draw, hand.grab, hand.stick), (1.0, 0.0, [-1.0, 0.0]));
    }

    #[test]
    fn a_pinch_before_the_face_is_the_menu_until_it_ends() {
        let head = Vec3::new(0.0, 1.6, 0.0);
        // The pose is in front of the face; the rotation maps +X, the left palm's normal, to +Z, towards the head.
        let facing =
            Rigid { position: Vec3::new(0.0, 1.6, -0.4), orientation: Quat::from_rotation_y(-FRAC_PI_2) };
        let away = Rigid { orientation: Quat::from_rotation_y(FRAC_PI_2), ..facing };
        let (mut palm, mut hand) = (Palm::default(), Hand::default());
        let mut pinch = |pose, draw, tracking| {
            hand.grip = Tracked { pose, tracking };
            fill(0, &Raw { draw, ..Raw::default() }, Some((&mut palm, head)), &mut hand);
            (hand.draw, hand.menu)
        };
        let tracked = Tracking::Tracked;
        assert_eq!(pinch(facing, 0.5, tracked), (0.5, false));
        assert_eq!(pinch(facing, 0.9, tracked), (0.0, true));
        // A hand that rotates during the pinch does not start to draw, and the pinch does not end.
        assert_eq!(pinch(away, 0.9, tracked), (0.0, true));
        assert_eq!(pinch(away, 0.1, tracked), (0.1, false));
        assert_eq!(pinch(away, 0.9, tracked), (0.9, false));
        assert_eq!(pinch(facing, 0.9, tracked), (0.9, false));
        assert_eq!(pinch(facing, 0.0, tracked), (0.0, false));
        assert_eq!(pinch(facing, 0.9, Tracking::Lost), (0.9, false));
    }

    #[test]
    fn a_lost_pose_stays_where_it_was_and_nonsense_counts_as_lost() {
        let good = Located {
            valid: true,
            tracked: true,
            position: [1.0, 2.0, 3.0],
            orientation: [0.0, 0.0, 0.0, 1.0],
        };
        let known = good.after(&Tracked::default());
        assert_eq!((known.tracking, known.pose.position), (Tracking::Tracked, Vec3::new(1.0, 2.0, 3.0)));
        assert_eq!(Located { tracked: false, ..good }.after(&known).tracking, Tracking::Inferred);
        for bad in [
            Located::default(),
            Located { position: [f32::NAN, 0.0, 0.0], ..good },
            Located { orientation: [0.0; 4], ..good },
        ] {
            let lost = bad.after(&known);
            assert_eq!((lost.tracking, lost.pose), (Tracking::Lost, known.pose));
        }
    }
}
