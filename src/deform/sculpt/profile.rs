//! Offsets by formula: scale vectors grow along a stroke or a bone (thesis 5.1, 5.2).

use super::Easing;
use crate::base::math::{Quat, Vec3};
use serde::{Deserialize, Serialize};
use std::f32::consts::{PI, TAU};

/// An offset by formula: the length `|s|` becomes `|s| (1 + amount f g)`, and the angle between `s` and the bone becomes
/// smaller by `tilt f g` (thesis, equation 24). `f` is the function along the stroke or the bone, `g` the function around
/// the bone.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// The function `f(t)`.
    pub curve: Curve,
    /// Relative growth of the distance to the bone at `f = 1`; negative values shrink it. A parabola with amount 0.25
    /// is the thesis's `1.25 - (0.5 - t)^2`.
    pub amount: f32,
    /// The path that defines the parameter `t`.
    #[serde(default)]
    pub along: Along,
    /// The function `g` around the bone; `None` is 1 all round.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub around: Option<Around>,
    /// Rotation of the scale vectors towards the bone's tail at `f g = 1`, radians; it moves the skin along the bone.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub tilt: f32,
}

impl Default for Profile {
    fn default() -> Self {
        Self { curve: Curve::Even, amount: 0.0, along: Along::Stroke, around: None, tilt: 0.0 }
    }
}

fn is_zero(value: &f32) -> bool {
    *value == 0.0
}

/// A function of the angle around a bone.
///
/// The parameter of the curve is 0.5 in the direction [`Around::facing`], and 0 and 1 on the opposite side. An easing
/// curve is mirrored, so that it is 1 in this direction and 0 on the opposite side. Waves have a whole number of
/// wavelengths around the bone.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Around {
    /// The function.
    pub curve: Curve,
    /// Direction around the bone, radians, -π..=π. 0 is the side that faces the front (+Z in the bind pose); the angle
    /// grows anticlockwise about the bone, seen from its tail.
    #[serde(default)]
    pub facing: f32,
}

impl Around {
    /// Returns the function's value at an angle around the bone, radians, and at the time `seconds`.
    pub fn at(&self, angle: f32, seconds: f64) -> f32 {
        // The angle from the direction, -0.5..=0.5 of a full rotation.
        let from = ((angle - self.facing) / TAU + 0.5).rem_euclid(1.0) - 0.5;
        match self.curve {
            Curve::Ease(easing) => easing.at(1.0 - 2.0 * from.abs()),
            Curve::Wave(wave) => {
                Curve::Wave(Wave { count: wave.count.round(), ..wave }).at(from + 0.5, seconds)
            }
            curve => curve.at(from + 0.5, seconds),
        }
    }
}

/// The place of a vertex around its bone, bind space.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct About {
    /// Angle around the bone, radians, as for [`Around::facing`].
    pub angle: f32,
    /// Direction of the bone, unit length; zero for a bone without length.
    pub axis: Vec3,
}

impl About {
    /// Returns the place of a scale vector around a bone with the direction `axis`, unit length or zero.
    pub fn new(axis: Vec3, scale_vector: Vec3) -> Self {
        let front = front_of(axis);
        let angle = scale_vector.dot(axis.cross(front)).atan2(scale_vector.dot(front));
        Self { angle, axis }
    }
}

/// Returns the unit vector across a bone that points to the front (+Z), or upwards if the bone itself points to the
/// front. `axis` is the direction of the bone.
pub fn front_of(axis: Vec3) -> Vec3 {
    let across = |v: Vec3| (v - axis * axis.dot(v)).try_normalize();
    let front = if axis.z.abs() < 0.9 { across(Vec3::Z) } else { across(Vec3::Y) };
    front.unwrap_or_else(|| axis.try_normalize().map_or(Vec3::Z, Vec3::any_orthonormal_vector))
}

/// The path along which a profile's parameter `t` increases from 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Along {
    /// The layer's stroke; `t` is proportional to its arc length.
    #[default]
    Stroke,
    /// The bone to which a vertex is attached, from head to tail (thesis, equation 24).
    Bone,
}

/// A function of `t` in 0..=1; waves also depend on time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Curve {
    /// 1 everywhere, so that the region swells evenly.
    Even,
    /// `1 - (2t - 1)^2`: a bulge that is 0 at both ends.
    Parabola,
    /// An easing curve from 0 to 1.
    Ease(Easing),
    /// A moving sine wave (thesis figure 26).
    Wave(Wave),
}

/// The function `sin(2π (count t - speed seconds) + phase)`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wave {
    /// Number of wavelengths between `t` = 0 and `t` = 1.
    pub count: f32,
    /// Frequency, waves per second; with a positive speed the waves travel from `t` = 0 to `t` = 1.
    pub speed: f32,
    /// Phase, radians.
    #[serde(default)]
    pub phase: f32,
}

impl Curve {
    /// Returns the function's value at `t` and at the time `seconds`.
    pub fn at(&self, t: f32, seconds: f64) -> f32 {
        match self {
            Self::Even => 1.0,
            Self::Parabola => 1.0 - (2.0 * t - 1.0).powi(2),
            Self::Ease(easing) => easing.at(t),
            Self::Wave(wave) => {
                // Whole periods are removed in f64, because f32 loses the fraction after about an hour.
                let passed = (f64::from(wave.speed) * seconds).rem_euclid(1.0) as f32;
                (TAU * (wave.count * t - passed) + wave.phase).sin()
            }
        }
    }

    /// Returns whether the function changes with time.
    pub fn moves(&self) -> bool {
        matches!(self, Self::Wave(wave) if wave.speed != 0.0)
    }
}

impl Profile {
    /// Returns the offset of a vertex: `s` is its scale vector, `t` its parameter, `about` its place around the bone.
    /// `amplitude` is the factor on length and angle.
    pub fn offset(&self, s: Vec3, t: f32, about: &About, amplitude: f32, seconds: f64) -> Vec3 {
        let around = self.around.map_or(1.0, |around| around.at(about.angle, seconds));
        let f = self.curve.at(t, seconds) * around;
        // Clamps the scale vector to zero length, so that it never crosses the bone.
        let grown = (amplitude * self.amount * f).max(-1.0);
        if self.tilt == 0.0 {
            return s * grown;
        }
        let across = s.cross(about.axis);
        let Some(axis) = across.try_normalize() else { return s * grown };
        // The scale vector stops at the bone's direction and at the opposite direction.
        let angle = across.length().atan2(s.dot(about.axis));
        let turn = (amplitude * self.tilt * f).clamp(angle - PI, angle);
        Quat::from_axis_angle(axis, turn) * s * (1.0 + grown) - s
    }

    /// Returns whether the offset changes with time.
    pub fn moves(&self) -> bool {
        self.curve.moves() || self.around.is_some_and(|around| around.curve.moves())
    }

    /// Returns whether all numbers are finite and within their limits.
    pub fn is_sound(&self) -> bool {
        let sound = |curve: &Curve| match curve {
            Curve::Wave(w) => [w.count, w.speed, w.phase].iter().all(|v| v.abs() <= 1e4),
            _ => true,
        };
        let around = self.around.is_none_or(|a| sound(&a.curve) && a.facing.abs() <= TAU);
        let tilt = self.tilt.is_finite() && self.tilt.abs() <= PI;
        self.amount.is_finite() && self.amount.abs() <= 100.0 && sound(&self.curve) && around && tilt
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parabola_is_the_thesis_s_and_waves_travel_at_their_speed() {
        let profile = Profile { curve: Curve::Parabola, amount: 0.25, ..Profile::default() };
        for k in 0..=20 {
            let t = k as f32 / 20.0;
            let print = 1.25 - (0.5 - t).powi(2);
            assert!((1.0 + profile.amount * profile.curve.at(t, 3.0) - print).abs() < 1e-6);
        }
        let wave = Curve::Wave(Wave { count: 3.0, speed: 1.5, phase: 0.4 });
        for (t, seconds) in [(0.1f32, 0.0), (0.4, 0.7), (0.9, 2.0)] {
            // The value at t moves to t + speed/count dt after the time dt.
            let moved = wave.at(t + 0.5 * 0.1, seconds + 0.1);
            assert!((moved - wave.at(t, seconds)).abs() < 1e-5);
            assert!((wave.at(t, seconds + 7200.0) - wave.at(t, seconds)).abs() < 1e-4);
        }
        assert!(wave.moves() && !Curve::Parabola.moves());
        let text = serde_json::to_string(&wave).unwrap();
        assert_eq!(text, r#"{"wave":{"count":3.0,"speed":1.5,"phase":0.4}}"#);
        assert_eq!(
            serde_json::from_str::<Curve>(r#"{"ease":"cubic-in"}"#).unwrap(),
            Curve::Ease(Easing::CubicIn)
        );
    }

    #[test]
    fn a_profile_around_a_bone_faces_its_direction_and_a_tilt_turns_towards_the_tail() {
        // A bone along +Y: angle 0 is the front (+Z), and a quarter further is the side (+X).
        let axis = Vec3::Y;
        let angle = |s: Vec3| About::new(axis, s).angle;
        for (s, is) in [(Vec3::Z, 0.0), (Vec3::X, PI / 2.0), (Vec3::NEG_X, -PI / 2.0)] {
            assert!((angle(s) - is).abs() < 1e-6 && (angle(s * 3.0 + axis) - is).abs() < 1e-6);
            let turned = Quat::from_axis_angle(axis, is) * front_of(axis);
            assert!(turned.distance(s) < 1e-6);
        }
        let around = |curve, facing| Some(Around { curve, facing });
        let bulge = Profile { amount: 0.5, around: around(Curve::Parabola, PI / 2.0), ..Profile::default() };
        let at = |profile: &Profile, s: Vec3| profile.offset(s, 0.3, &About::new(axis, s), 1.0, 0.0);
        assert!(at(&bulge, Vec3::X).distance(Vec3::X * 0.5) < 1e-6);
        assert!(at(&bulge, Vec3::NEG_X).length() < 1e-6);
        // A quarter away, the parabola is 1 - (1/2)^2.
        assert!(at(&bulge, Vec3::Z).distance(Vec3::Z * 0.375) < 1e-6);
        let ease = Profile { amount: 1.0, around: around(Curve::Ease(Easing::Linear), 0.0), ..bulge };
        for (s, is) in [(Vec3::Z, 1.0), (Vec3::X, 0.5), (Vec3::NEG_X, 0.5), (Vec3::NEG_Z, 0.0)] {
            assert!(at(&ease, s).distance(s * is) < 1e-5);
        }
        // Waves close: both sides of the seam have one value.
        let wave = Curve::Wave(Wave { count: 2.6, speed: 0.0, phase: 0.3 });
        let flutes = Around { curve: wave, facing: 0.7 };
        assert!((flutes.at(0.7 + PI - 1e-4, 0.0) - flutes.at(0.7 - PI + 1e-4, 0.0)).abs() < 1e-2);
        assert!(!Profile { around: Some(flutes), ..bulge }.moves());
        // Angle and length are independent (equation 24), and the tilt stops at the bone.
        let tilt = Profile { tilt: 0.4, amount: 0.5, ..Profile::default() };
        let s = Vec3::new(0.0, 0.2, 0.6);
        let e = s + at(&tilt, s);
        assert!((e.length() - 1.5 * s.length()).abs() < 1e-6);
        assert!((s.angle_between(axis) - e.angle_between(axis) - 0.4).abs() < 1e-5 && e.x.abs() < 1e-6);
        let far = Profile { tilt: PI, amount: 0.0, ..tilt };
        assert!((s + at(&far, s)).normalize().distance(axis) < 1e-3);
        let half = far.offset(s, 0.3, &About::new(axis, s), -1.0, 0.0);
        assert!((s + half).normalize().distance(-axis) < 1e-3 && at(&far, axis).length() < 1e-6);
        assert!(tilt.is_sound() && !Profile { tilt: 9.0, ..tilt }.is_sound());
        assert!(!Profile { around: around(Curve::Even, f32::NAN), ..tilt }.is_sound());
        // Files of layers without these fields stay as they were.
        let plain = Profile { amount: 0.3, ..Profile::default() };
        let text = serde_json::to_string(&plain).unwrap();
        assert_eq!(text, r#"{"curve":"even","amount":0.3,"along":"stroke"}"#);
        let all = Profile { around: around(wave, 0.5), tilt: 0.1, ..plain };
        let text = serde_json::to_string(&all).unwrap();
        assert_eq!(serde_json::from_str::<Profile>(&text).unwrap(), all);
    }
}
