//! Offsets by formula: scale vectors grow along a stroke or a bone (thesis 5.1, 5.2).

use super::Easing;
use serde::{Deserialize, Serialize};
use std::f32::consts::TAU;

/// An offset by formula: `|s|` becomes `|s| (1 + amount f)`, where `f` is given by the curve.
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
    /// Returns whether all numbers are finite and within their limits.
    pub fn is_sound(&self) -> bool {
        let wave = match self.curve {
            Curve::Wave(w) => [w.count, w.speed, w.phase],
            _ => [0.0; 3],
        };
        self.amount.is_finite() && self.amount.abs() <= 100.0 && wave.iter().all(|v| v.abs() <= 1e4)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parabola_is_the_thesis_s_and_waves_travel_at_their_speed() {
        let profile = Profile { curve: Curve::Parabola, amount: 0.25, along: Along::Stroke };
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
}
