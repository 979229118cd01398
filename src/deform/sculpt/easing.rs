//! Easing functions: curves from 0 to 1, with the names of web animation (R. Penner, "Programming Macromedia Flash
//! MX", 2002, chapter 7). The thesis applies them along a bone (5.1 and figure 22).

use serde::{Deserialize, Serialize};
use std::f32::consts::{FRAC_PI_2, TAU};

/// Overshoot parameter of [`Easing::BackIn`] and its variants; it gives an overshoot of 10 %.
const BACK: f32 = 1.701_58;

macro_rules! easings {
    ($($name:ident $text:literal $shape:ident $part:ident;)*) => {
        /// An easing curve from 0 to 1 over `t` in 0..=1.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
        pub enum Easing {
            /// The identity function.
            #[default]
            #[serde(rename = "linear")]
            Linear,
            $(#[doc = concat!("`", $text, "`.")] #[serde(rename = $text)] $name,)*
        }

        impl Easing {
            /// All curves, in the order of menus.
            pub const ALL: &'static [Self] = &[Self::Linear, $(Self::$name),*];

            /// Returns the name in files and on the command line, e.g. `cubic-in`.
            pub fn name(self) -> &'static str {
                match self {
                    Self::Linear => "linear",
                    $(Self::$name => $text,)*
                }
            }

            /// Returns the value at `t`, which is clamped to 0..=1. Values of back and elastic curves leave 0..=1.
            pub fn at(self, t: f32) -> f32 {
                let t = if t.is_nan() { 0.0 } else { t.clamp(0.0, 1.0) };
                match self {
                    Self::Linear => t,
                    $(Self::$name => $part($shape, t),)*
                }
            }
        }
    };
}

easings! {
    SineIn "sine-in" sine starting;
    SineOut "sine-out" sine ending;
    SineInOut "sine-in-out" sine both;
    QuadIn "quad-in" quad starting;
    QuadOut "quad-out" quad ending;
    QuadInOut "quad-in-out" quad both;
    CubicIn "cubic-in" cubic starting;
    CubicOut "cubic-out" cubic ending;
    CubicInOut "cubic-in-out" cubic both;
    QuarticIn "quartic-in" quartic starting;
    QuarticOut "quartic-out" quartic ending;
    QuarticInOut "quartic-in-out" quartic both;
    QuinticIn "quintic-in" quintic starting;
    QuinticOut "quintic-out" quintic ending;
    QuinticInOut "quintic-in-out" quintic both;
    ExpoIn "expo-in" expo starting;
    ExpoOut "expo-out" expo ending;
    ExpoInOut "expo-in-out" expo both;
    CircIn "circ-in" circ starting;
    CircOut "circ-out" circ ending;
    CircInOut "circ-in-out" circ both;
    BackIn "back-in" back starting;
    BackOut "back-out" back ending;
    BackInOut "back-in-out" back both;
    ElasticIn "elastic-in" elastic starting;
    ElasticOut "elastic-out" elastic ending;
    ElasticInOut "elastic-in-out" elastic both;
    BounceIn "bounce-in" bounce starting;
    BounceOut "bounce-out" bounce ending;
    BounceInOut "bounce-in-out" bounce both;
}

fn starting(shape: fn(f32) -> f32, t: f32) -> f32 {
    shape(t)
}

fn ending(shape: fn(f32) -> f32, t: f32) -> f32 {
    1.0 - shape(1.0 - t)
}

fn both(shape: fn(f32) -> f32, t: f32) -> f32 {
    if t < 0.5 { 0.5 * shape(2.0 * t) } else { 1.0 - 0.5 * shape(2.0 - 2.0 * t) }
}

fn sine(t: f32) -> f32 {
    // Exactly 1 at the end, where the cosine has a rounding error.
    if t >= 1.0 { 1.0 } else { 1.0 - (t * FRAC_PI_2).cos() }
}

fn quad(t: f32) -> f32 {
    t * t
}

fn cubic(t: f32) -> f32 {
    t * t * t
}

fn quartic(t: f32) -> f32 {
    quad(quad(t))
}

fn quintic(t: f32) -> f32 {
    quartic(t) * t
}

/// Shifted and scaled by about a thousandth, so that the curve begins at exactly 0.
fn expo(t: f32) -> f32 {
    ((10.0 * (t - 1.0)).exp2() - 0.5f32.powi(10)) / (1.0 - 0.5f32.powi(10))
}

fn circ(t: f32) -> f32 {
    1.0 - (1.0 - t * t).max(0.0).sqrt()
}

fn back(t: f32) -> f32 {
    t * t * ((BACK + 1.0) * t - BACK)
}

fn elastic(t: f32) -> f32 {
    if t <= 0.0 || t >= 1.0 {
        return t;
    }
    -(10.0 * (t - 1.0)).exp2() * ((t - 1.075) * TAU / 0.3).sin()
}

fn bounce(t: f32) -> f32 {
    let u = 1.0 - t;
    let (shift, floor) = match u * 2.75 {
        v if v < 1.0 => (0.0, 0.0),
        v if v < 2.0 => (1.5, 0.75),
        v if v < 2.5 => (2.25, 0.9375),
        _ => (2.625, 0.984_375),
    };
    let v = u - shift / 2.75;
    1.0 - (7.5625 * v * v + floor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_curve_leads_from_none_to_all_without_a_jump() {
        assert_eq!(Easing::ALL.len(), 31);
        for &easing in Easing::ALL {
            let name = easing.name();
            assert!(easing.at(0.0).abs() < 1e-6 && (easing.at(1.0) - 1.0).abs() < 1e-6, "{name}");
            assert_eq!((easing.at(-3.0), easing.at(f32::NAN)), (easing.at(0.0), easing.at(0.0)));
            // The steepest curve, elastic, has a slope of 40.
            for k in 0..1000 {
                let (a, b) = (easing.at(k as f32 / 1000.0), easing.at((k + 1) as f32 / 1000.0));
                assert!((b - a).abs() < 0.07 && (-0.4..1.4).contains(&a), "{name} at {k}");
            }
            let text = serde_json::to_string(&easing).unwrap();
            assert_eq!(text, format!("\"{name}\""));
            assert_eq!(serde_json::from_str::<Easing>(&text).unwrap(), easing);
        }
        assert_eq!(Easing::CubicIn.at(0.5), 0.125);
        assert_eq!(Easing::QuarticOut.at(0.5), 1.0 - 0.0625);
        assert!((Easing::BounceOut.at(0.5) - 0.765_625).abs() < 1e-6);
    }
}
