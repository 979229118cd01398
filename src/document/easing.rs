//! Easing of chosen keys. glTF has one interpolation per channel, so a channel whose keys differ becomes a CUBICSPLINE
//! whose tangents reproduce its other segments.
//!
//! A segment between two keys holds the first value, or is a curve with a slope at each end. A hold in a CUBICSPLINE has
//! an additional key with the held value shortly before the next key, because a cubic curve cannot jump.

mod curves;

use super::keys::exact;
use super::{Channel, Document, KeyAt, KeyEdit, Slot, Target};
use crate::asset::Interpolation;
use crate::base::math::DQuat;
pub use curves::KeyCurves;
use serde::{Deserialize, Serialize};

/// Distance of a hold's additional key from the next key, seconds. `f32` times up to 1024 s represent this distance.
const HOLD: f64 = 1.0 / 8192.0;
/// Largest distance at which two keys of a channel count as one key of the dope sheet, seconds.
pub const SAME_KEY: f64 = 1e-3;
/// Largest relative difference of a tangent from the slope of a straight segment.
const STRAIGHT: f32 = 1e-5;

/// How the motion passes through a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Easing {
    /// The value holds until the next key.
    Step,
    /// The slopes are those of straight lines to both neighbours.
    Linear,
    /// One slope for both sides, without overshoot.
    Smooth,
    /// The motion comes to rest at the key.
    In,
    /// The motion leaves the key from rest.
    Out,
    /// The motion rests at the key on both sides.
    InOut,
}

impl Easing {
    /// All presets, in the order of the panel.
    pub const ALL: [Self; 6] = [Self::Step, Self::Linear, Self::Smooth, Self::In, Self::Out, Self::InOut];

    /// Name for the user interface.
    pub fn label(self) -> &'static str {
        ["Step", "Linear", "Smooth", "Ease in", "Ease out", "Ease both"][self as usize]
    }
}

/// The slope of a segment at one end.
#[derive(Clone, Debug, PartialEq)]
enum Slope {
    /// The slope of the straight segment; for rotations, of the slerp.
    Straight,
    /// A glTF tangent, units per second.
    Tangent(Vec<f32>),
}

/// The motion from a key to the next key.
#[derive(Clone, Debug, PartialEq)]
enum Segment {
    Hold,
    Curve { leaving: Slope, arriving: Slope },
}

impl Segment {
    const STRAIGHT: Self = Self::Curve { leaving: Slope::Straight, arriving: Slope::Straight };
}

/// A channel in the form in which each segment is independent of the others.
#[derive(Clone, Debug, PartialEq)]
struct Segments {
    target: Target,
    times: Vec<f64>,
    /// One value per key; quaternions have unit length and the signs that a spline needs.
    values: Vec<Vec<f32>>,
    /// The values of the channel, for an interpolation that needs no signs.
    plain: Vec<Vec<f32>>,
    /// One segment less than keys.
    segments: Vec<Segment>,
    /// The tangents before the first and after the last key. They have no effect.
    outer: [Vec<f32>; 2],
    /// Interpolation of the channel, which a single key keeps.
    was: Interpolation,
}

impl Segments {
    fn new(channel: &Channel) -> Self {
        let (width, count) = (channel.width(), channel.times.len());
        let cubic = channel.interpolation == Interpolation::CubicSpline;
        let part = |key: usize, block: usize| {
            channel.values[(3 * key + block) * width..(3 * key + block + 1) * width].to_vec()
        };
        let outer =
            if cubic { [part(0, 0), part(count - 1, 2)] } else { [vec![0.0; width], vec![0.0; width]] };
        let mut out = Self {
            target: channel.target.clone(),
            times: Vec::with_capacity(count),
            values: Vec::with_capacity(count),
            plain: Vec::with_capacity(count),
            segments: Vec::with_capacity(count),
            outer,
            was: channel.interpolation,
        };
        for key in 0..count {
            if cubic && is_hold(channel, key) {
                if let Some(held) = out.segments.last_mut() {
                    *held = Segment::Hold;
                }
                continue;
            }
            out.push(channel.times[key], channel.value(key), cubic);
            if key + 1 < count {
                out.segments.push(match channel.interpolation {
                    Interpolation::Step => Segment::Hold,
                    Interpolation::Linear => Segment::STRAIGHT,
                    Interpolation::CubicSpline => Segment::Curve {
                        leaving: Slope::Tangent(part(key, 2)),
                        arriving: Slope::Tangent(part(key + 1, 0)),
                    },
                });
            }
        }
        out
    }

    fn is_rotation(&self) -> bool {
        self.target.rotates()
    }

    /// Adds a key. Splines interpolate the components of quaternions. A quaternion that was a key of another kind of
    /// interpolation therefore gets unit length, and the sign that brings it nearer to the previous key.
    fn push(&mut self, time: f64, value: &[f32], cubic: bool) {
        self.plain.push(value.to_vec());
        let mut value = value.to_vec();
        if self.is_rotation() && !cubic {
            let length = value.iter().map(|v| v * v).sum::<f32>().sqrt();
            let dot = |last: &Vec<f32>| last.iter().zip(&value).map(|(a, b)| a * b).sum::<f32>();
            let sign = if self.values.last().is_some_and(|last| dot(last) < 0.0) { -1.0 } else { 1.0 };
            if sign < 0.0 || (length - 1.0).abs() > 1e-4 {
                value.iter_mut().for_each(|v| *v *= sign / length);
            }
        }
        self.times.push(time);
        self.values.push(value);
    }

    /// Returns the velocity of the straight segment after `key`: units per second, for rotations the angular velocity
    /// in the axes of the joint, radians per second.
    fn velocity(&self, key: usize) -> Vec<f64> {
        let interval = self.times[key + 1] - self.times[key];
        let (from, to) = (&self.values[key], &self.values[key + 1]);
        if self.is_rotation() {
            let turn = quaternion(from).conjugate() * quaternion(to);
            let turn = if turn.w < 0.0 { -turn } else { turn };
            return (turn.to_scaled_axis() / interval).to_array().to_vec();
        }
        from.iter().zip(to).map(|(a, b)| (f64::from(*b) - f64::from(*a)) / interval).collect()
    }

    /// Returns the glTF tangent of a velocity at a key. The derivative of a rotation `q` with the angular velocity `w`
    /// is `q * (w / 2, 0)`.
    fn tangent(&self, key: usize, velocity: &[f64]) -> Vec<f32> {
        match *velocity {
            [x, y, z] if self.is_rotation() => {
                let rate = DQuat::from_xyzw(x / 2.0, y / 2.0, z / 2.0, 0.0);
                // The product of two quaternions is defined for any length.
                (quaternion(&self.values[key]) * rate).to_array().map(|v| v as f32).to_vec()
            }
            _ => velocity.iter().map(|v| *v as f32).collect(),
        }
    }

    /// Returns the velocity of [`Easing::Smooth`] at a key: the mean slope of both neighbours; zero where the motion
    /// turns back; at most three times the smaller slope, which keeps the curve monotone (Fritsch & Carlson, "Monotone
    /// piecewise cubic interpolation", 1980). The first and the last key have the slope of their only segment.
    fn smooth(&self, key: usize) -> Vec<f64> {
        let last = self.segments.len();
        match (key.checked_sub(1).map(|k| self.velocity(k)), (key < last).then(|| self.velocity(key))) {
            (Some(before), Some(after)) => {
                let limited = |(a, b): (&f64, &f64)| {
                    let most = 3.0 * a.abs().min(b.abs());
                    if a * b <= 0.0 { 0.0 } else { (0.5 * (a + b)).clamp(-most, most) }
                };
                before.iter().zip(&after).map(limited).collect()
            }
            (Some(one), None) | (None, Some(one)) => one,
            (None, None) => Vec::new(),
        }
    }

    fn ease(&mut self, key: usize, easing: Easing) {
        let flat = Slope::Tangent(vec![0.0; self.values[key].len()]);
        let [arrives, leaves] = match easing {
            Easing::Step => {
                if let Some(after) = self.segments.get_mut(key) {
                    *after = Segment::Hold;
                }
                return;
            }
            Easing::Linear => [Some(Slope::Straight), Some(Slope::Straight)],
            Easing::Smooth => {
                let slope = Slope::Tangent(self.tangent(key, &self.smooth(key)));
                [Some(slope.clone()), Some(slope)]
            }
            Easing::In => [Some(flat), None],
            Easing::Out => [None, Some(flat)],
            Easing::InOut => [Some(flat.clone()), Some(flat)],
        };
        // A hold belongs to the key before it.
        if let Some(Segment::Curve { arriving, .. }) =
            key.checked_sub(1).and_then(|k| self.segments.get_mut(k))
        {
            *arriving = arrives.unwrap_or_else(|| arriving.clone());
        }
        if let Some(after) = self.segments.get_mut(key) {
            if *after == Segment::Hold {
                *after = Segment::STRAIGHT;
            }
            if let (Segment::Curve { leaving, .. }, Some(leaves)) = (after, leaves) {
                *leaving = leaves;
            }
        }
    }

    /// Returns the tangents of the straight segment after `key`, at both ends. For rotations, a component along the
    /// quaternion lets the spline follow the slerp in the segment too; the component does not change the slope.
    fn straight(&self, key: usize) -> [Vec<f32>; 2] {
        let velocity = self.velocity(key);
        let mut out = [self.tangent(key, &velocity), self.tangent(key + 1, &velocity)];
        if self.is_rotation() {
            let interval = self.times[key + 1] - self.times[key];
            let speed = velocity.iter().map(|v| v * v).sum::<f64>().sqrt();
            let along = (along(speed * interval / 4.0) / interval) as f32;
            for (end, sign) in [(0, along), (1, -along)] {
                let value = &self.values[key + end];
                out[end].iter_mut().zip(value).for_each(|(tangent, q)| *tangent += sign * q);
            }
        }
        out
    }

    /// Whether the curve after `key` is straight.
    fn is_straight(&self, key: usize, slopes: [&Slope; 2]) -> bool {
        slopes.into_iter().zip(self.straight(key)).all(|(slope, wanted)| {
            let Slope::Tangent(tangent) = slope else { return true };
            let size = wanted.iter().fold(1e-3f32, |m, v| m.max(v.abs()));
            tangent.iter().zip(&wanted).all(|(a, b)| (a - b).abs() <= STRAIGHT * size)
        })
    }

    /// Returns the tangents of the curve after `key`, at both ends.
    fn tangents(&self, key: usize, slopes: [&Slope; 2]) -> [Vec<f32>; 2] {
        if let [Slope::Straight, Slope::Straight] = slopes {
            return self.straight(key);
        }
        [0, 1].map(|end| match slopes[end] {
            Slope::Straight => self.tangent(key + end, &self.velocity(key)),
            Slope::Tangent(tangent) => tangent.clone(),
        })
    }

    /// Returns the simplest interpolation that has all segments.
    fn interpolation(&self) -> Interpolation {
        let straight = |(key, segment): (usize, &Segment)| match segment {
            Segment::Hold => false,
            Segment::Curve { leaving, arriving } => self.is_straight(key, [leaving, arriving]),
        };
        if self.segments.is_empty() {
            self.was
        } else if self.segments.iter().all(|s| *s == Segment::Hold) {
            Interpolation::Step
        } else if self.segments.iter().enumerate().all(straight) {
            Interpolation::Linear
        } else {
            Interpolation::CubicSpline
        }
    }

    /// Returns the channel with the simplest interpolation that has all segments.
    fn channel(self) -> Channel {
        let interpolation = self.interpolation();
        self.channel_as(interpolation)
    }

    /// Returns the channel with an interpolation that has all segments.
    fn channel_as(self, interpolation: Interpolation) -> Channel {
        let (mut times, mut values) = (Vec::new(), Vec::new());
        let cubic = interpolation == Interpolation::CubicSpline;
        let mut arriving = self.outer[0].clone();
        for key in 0..self.times.len() {
            times.push(self.times[key]);
            if !cubic {
                values.extend(&self.plain[key]);
                continue;
            }
            let flat = vec![0.0; self.values[key].len()];
            let (leaving, next) = match self.segments.get(key) {
                None => (self.outer[1].clone(), flat.clone()),
                Some(Segment::Hold) => (flat.clone(), flat.clone()),
                Some(Segment::Curve { leaving, arriving }) => self.tangents(key, [leaving, arriving]).into(),
            };
            values.extend([&arriving[..], &self.values[key], &leaving].concat());
            arriving = next;
            if self.segments.get(key) == Some(&Segment::Hold) {
                let (from, to) = (self.times[key], self.times[key + 1]);
                let before = exact((to - HOLD).max(0.5 * (from + to)));
                if before > from && before < to {
                    times.push(before);
                    values.extend([&flat[..], &self.values[key], &flat].concat());
                }
            }
        }
        Channel { target: self.target, interpolation, times, values }
    }
}

/// Returns the component of a tangent along its quaternion, per segment, with which a spline from one quaternion to the
/// next passes through the slerp at a quarter and three quarters of the segment. `a` is a quarter of the rotation's angle,
/// radians.
fn along(a: f64) -> f64 {
    // Below 11 degrees the spline needs no correction, and the quotient would lose precision.
    if a < 0.05 {
        return 0.0;
    }
    let (sin, cos) = a.sin_cos();
    let (tan, speed) = ((0.5 * a).tan(), 2.0 * a);
    // In the plane of the slerp, symmetric about its middle: y / x of the Hermite curve at a quarter equals -tan(a / 2).
    (22.0 * sin - 3.0 * speed * cos - 32.0 * tan * cos - 6.0 * speed * tan * sin)
        / (6.0 * tan * cos - 3.0 * sin)
}

fn quaternion(value: &[f32]) -> DQuat {
    let part = |i: usize| f64::from(value.get(i).copied().unwrap_or(0.0));
    DQuat::from_xyzw(part(0), part(1), part(2), part(3))
}

/// Whether a key of a CUBICSPLINE only ends a hold: it has the value of the key before it, the next key follows at once,
/// and the motion rests between both.
fn is_hold(channel: &Channel, key: usize) -> bool {
    let width = channel.width();
    let Some(next) = channel.times.get(key + 1).filter(|_| key > 0) else { return false };
    let at = |key: usize, block: usize| &channel.values[(3 * key + block) * width..][..width];
    next - channel.times[key] <= SAME_KEY
        && channel.value(key) == channel.value(key - 1)
        && at(key - 1, 2).iter().chain(at(key, 0)).all(|v| *v == 0.0)
}

impl Document {
    /// Returns the edit that gives keys an easing; `None` if nothing changes. A channel whose keys all hold becomes STEP,
    /// a channel of straight segments LINEAR, any other channel CUBICSPLINE. In a CUBICSPLINE, a straight rotation
    /// deviates from its slerp by less than 0.001 degrees.
    pub fn easing(&self, keys: &[KeyAt], easing: Easing) -> Option<KeyEdit> {
        let mut sorted: Vec<&KeyAt> = keys.iter().collect();
        sorted.sort_by(|a, b| a.target.cmp(&b.target).then(a.time.total_cmp(&b.time)));
        let mut slots = Vec::new();
        for chosen in sorted.chunk_by(|a, b| a.target == b.target) {
            let Some(channel) = self.motion.channel(&chosen[0].target) else { continue };
            let mut segments = Segments::new(channel);
            for key in 0..segments.times.len() {
                if chosen.binary_search_by(|k| k.time.total_cmp(&segments.times[key])).is_ok() {
                    segments.ease(key, easing);
                }
            }
            let eased = segments.channel();
            if eased != *channel {
                slots.push(Slot { target: channel.target.clone(), channel: Some(eased) });
            }
        }
        (!slots.is_empty()).then_some(KeyEdit::Channels(slots))
    }
}

#[cfg(test)]
mod tests;
