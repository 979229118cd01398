//! Channels as curves that an animator edits: one curve per component, or the three Euler angles of a rotation. The curves of
//! a rotation show the motion of the quaternions; an edit of a curve changes the quaternion or its tangents.

use super::{Segment, Segments, is_hold, quaternion};
use crate::asset::{Interpolation, Property};
use crate::base::math::{DMat3, DQuat, DVec3, Trs, euler_of_rotation, rotation_of_euler};
use crate::base::{Error, Result};
use crate::document::{Channel, Document, KeyAt, KeyEdit, KeyPart, Target};
use crate::rig::{Skeleton, keep_limit};
use std::f64::consts::{PI, TAU};

/// Rotation between two samples of a motion whose Euler angles are followed, radians.
const TURN: f64 = 0.2;
/// Largest number of these samples between two keys.
const SAMPLES: usize = 24;
/// Square of the damping with which velocities become rates of Euler angles. Where two axes coincide, the rates are not
/// unique.
const DAMPING: f64 = 1e-12;
/// Smallest absolute scale of a key that an edit of a curve gives.
const LEAST_SCALE: f64 = 1e-6;

/// The curves of a channel: its values per key, or continuous Euler angles in radians if the channel holds rotations (order
/// XYZ: about X, then about Y, then about Z).
#[derive(Clone, Debug, PartialEq)]
pub struct KeyCurves {
    channel: Channel,
    segments: Segments,
    /// One value per curve and key.
    values: Vec<f64>,
}

impl KeyCurves {
    /// Returns the curves of a channel.
    pub fn new(channel: &Channel) -> Self {
        let segments = Segments::new(channel);
        let mut out = Self { channel: channel.clone(), segments, values: Vec::new() };
        if out.segments.is_rotation() {
            out.follow_angles();
        } else {
            out.values = out.segments.values.iter().flatten().map(|v| f64::from(*v)).collect();
        }
        out
    }

    /// The target of the channel.
    pub fn target(&self) -> &Target {
        &self.channel.target
    }

    /// Whether these are the curves of a channel.
    pub fn is_of(&self, channel: &Channel) -> bool {
        self.channel == *channel
    }

    /// Interpolation of the channel.
    pub fn interpolation(&self) -> Interpolation {
        self.channel.interpolation
    }

    /// Number of curves.
    pub fn count(&self) -> usize {
        if self.segments.is_rotation() { 3 } else { self.channel.width() }
    }

    /// Times of the keys, seconds, without the additional keys that end held values.
    pub fn times(&self) -> &[f64] {
        &self.segments.times
    }

    /// Returns the value of a curve at a key.
    pub fn value(&self, key: usize, curve: usize) -> f64 {
        self.values[key * self.count() + curve]
    }

    /// Returns the slope of a curve before (side 0) or after (side 1) a key, per second; `None` before the first key, after
    /// the last key and after a held value. A held value has the slope 0.
    pub fn slope(&self, key: usize, curve: usize, side: usize) -> Option<f64> {
        let tangent = self.tangent(key, side)?;
        if !self.segments.is_rotation() {
            return tangent.get(curve).map(|v| f64::from(*v));
        }
        let (_, velocity) = self.velocity(key, &tangent);
        Some(rates(self.angles(key), velocity)[curve])
    }

    /// Whether both sides of a key have one slope, so that they change together.
    pub fn is_aligned(&self, key: usize, curve: usize) -> bool {
        let [Some(a), Some(b)] = [0, 1].map(|side| self.slope(key, curve, side)) else { return false };
        (a - b).abs() <= 1e-3 * a.abs().max(b.abs()) + 1e-6
    }

    /// Appends the values of all curves at times in seconds, increasing, to `out`.
    pub fn sample(&self, times: &[f64], out: &mut Vec<f64>) {
        let mut value = vec![0.0; self.channel.width()];
        if !self.segments.is_rotation() {
            for &time in times {
                self.channel.curve().evaluate(time, &mut value);
                out.extend(value.iter().map(|v| f64::from(*v)));
            }
            return;
        }
        let (mut near, mut last) = (self.angles(0), 0);
        for &time in times {
            // The angles at the keys are known, so that errors of coarse samples do not add up.
            let key = self.segments.times.partition_point(|t| *t <= time).saturating_sub(1);
            if key != last {
                (near, last) = (self.angles(key), key);
            }
            self.channel.curve().evaluate(time, &mut value);
            near = nearest_angles(quaternion(&value).normalize(), near);
            out.extend(near);
        }
    }

    /// Returns the edit that gives a curve another value at a key. The other curves keep their values, and in a CUBICSPLINE all
    /// keep their slopes. A rotation stays within the limit of its joint, as far as the key is within the limit.
    pub fn set_value(
        &self,
        (document, skeleton): (&Document, &Skeleton),
        key: usize,
        curve: usize,
        value: f64,
    ) -> KeyEdit {
        let old = &self.segments.values[key];
        if !self.segments.is_rotation() {
            let scale = matches!(self.target(), Target::Node { property: Property::Scale, .. });
            let value = if scale && value.abs() < LEAST_SCALE { LEAST_SCALE.copysign(value) } else { value };
            return self.edit(key, [KeyPart::value(curve, value as f32)].into());
        }
        let old = quaternion(old);
        let mut angles = self.angles(key);
        let before = rotation_of_euler(angles);
        // The sign of the quaternion follows the angles.
        let size = old.length() * if before.dot(old) < 0.0 { -1.0 } else { 1.0 };
        angles[curve] = value;
        let mut turned = rotation_of_euler(angles);
        if let Target::Node { node, .. } = self.target() {
            let trs = |q: DQuat| Trs { rotation: q.as_quat().into(), ..Trs::IDENTITY };
            let mut after = trs(turned);
            if keep_limit(skeleton, document.limits(), *node, &trs(before), &mut after) {
                let kept = after.rotation().as_dquat().normalize();
                turned = if kept.dot(turned) < 0.0 { -kept } else { kept };
                angles = nearest_angles(turned, angles);
            }
        }
        let mut new = Turned { value: turned * size, tangents: [None, None] };
        if self.channel.interpolation == Interpolation::CubicSpline {
            new.tangents = [0, 1].map(|side| {
                let held = side == 1 && self.segments.segments.get(key) == Some(&Segment::Hold);
                let tangent = self.tangent(key, side).filter(|_| !held)?;
                let (along, velocity) = self.velocity(key, &tangent);
                let rates = rates(self.angles(key), velocity);
                Some(derivative(new.value, along, jacobian(angles) * DVec3::from(rates)))
            });
        }
        self.edit(key, new.parts(true))
    }

    /// Returns the edit that gives a curve a slope per second before (side 0), after (side 1) or on both sides of a key; `None`
    /// if the key has no slope there. The other curves keep their slopes.
    pub fn set_slope(&self, key: usize, curve: usize, slope: f64, sides: [bool; 2]) -> Option<KeyEdit> {
        let tangents = [0, 1].map(|side| self.tangent(key, side).filter(|_| sides[side]));
        if tangents.iter().all(Option::is_none) {
            return None;
        }
        if !self.segments.is_rotation() {
            let [arriving, leaving] = tangents.map(|t| t.map(|_| slope as f32));
            let part = KeyPart { component: curve, value: None, arriving, leaving };
            return Some(self.edit(key, vec![part]));
        }
        let value = quaternion(&self.segments.values[key]);
        let tangents = tangents.map(|tangent| {
            let (along, velocity) = self.velocity(key, &tangent?);
            let angles = self.angles(key);
            let change = slope - rates(angles, velocity)[curve];
            Some(derivative(value, along, velocity + jacobian(angles).col(curve) * change))
        });
        Some(self.edit(key, Turned { value, tangents }.parts(false)))
    }

    /// Returns the curves after a change of the times of keys by a number of seconds, as [`KeyEdit::Move`] gives it.
    pub fn moved(&self, times: &[f64], seconds: f64) -> Self {
        let mut channel = self.channel.clone();
        let mut keys: Vec<usize> = times.iter().filter_map(|t| channel.key_at(*t).ok()).collect();
        keys.sort_unstable();
        keys.dedup();
        channel.retime(&keys, |t| t + seconds, 1.0);
        Self::new(&channel)
    }

    fn edit(&self, key: usize, parts: Vec<KeyPart>) -> KeyEdit {
        let key = KeyAt { target: self.target().clone(), time: self.segments.times[key] };
        KeyEdit::Curve { key, parts }
    }

    fn angles(&self, key: usize) -> [f64; 3] {
        [0, 1, 2].map(|curve| self.values[3 * key + curve])
    }

    /// Returns the tangent before or after a key.
    fn tangent(&self, key: usize, side: usize) -> Option<Vec<f32>> {
        let first = (key + side).checked_sub(1)?;
        match self.segments.segments.get(first)? {
            Segment::Hold => (side == 1).then(|| vec![0.0; self.channel.width()]),
            Segment::Curve { leaving, arriving } => {
                Some(std::mem::take(&mut self.segments.tangents(first, [leaving, arriving])[1 - side]))
            }
        }
    }

    /// Returns the component of a tangent along the quaternion of a key, relative to it, and the angular velocity in the axes
    /// of the joint, radians per second.
    fn velocity(&self, key: usize, tangent: &[f32]) -> (f64, DVec3) {
        let rate = inverse(quaternion(&self.segments.values[key])) * quaternion(tangent);
        (rate.w, 2.0 * DVec3::new(rate.x, rate.y, rate.z))
    }

    /// Finds the Euler angles of all keys, continuous along the motion.
    fn follow_angles(&mut self) {
        let turn = |value: &[f32]| quaternion(value).normalize();
        let Segments { times, values, .. } = &self.segments;
        let Some(first) = values.first() else { return };
        let mut angles = euler_of_rotation(turn(first));
        let (mut out, mut between) = (angles.to_vec(), [0.0; 4]);
        for key in 1..times.len() {
            let [from, to] = [key - 1, key].map(|k| turn(&values[k]));
            let count = (from.angle_between(to) / TURN).ceil() as usize;
            let count = match self.channel.interpolation {
                Interpolation::Step => 1,
                Interpolation::Linear => count.clamp(1, SAMPLES),
                Interpolation::CubicSpline => (count + 4).min(SAMPLES),
            };
            for i in 1..count {
                let time = times[key - 1] + (times[key] - times[key - 1]) * i as f64 / count as f64;
                self.channel.curve().evaluate(time, &mut between);
                angles = nearest_angles(turn(&between), angles);
            }
            angles = nearest_angles(to, angles);
            out.extend(angles);
        }
        self.values = out;
    }
}

/// A quaternion with its tangents before and after a key.
struct Turned {
    value: DQuat,
    tangents: [Option<DQuat>; 2],
}

impl Turned {
    /// Returns the parts of an edit, with or without the value.
    fn parts(&self, sets: bool) -> Vec<KeyPart> {
        let component = |component: usize| {
            let of = |q: DQuat| q.to_array()[component] as f32;
            let [arriving, leaving] = self.tangents.map(|t| t.map(of));
            KeyPart { component, value: sets.then(|| of(self.value)), arriving, leaving }
        };
        (0..4).map(component).collect()
    }
}

/// Inverts a quaternion of any length.
fn inverse(q: DQuat) -> DQuat {
    q.conjugate() * (1.0 / q.length_squared())
}

/// Returns the derivative of a quaternion of any length from its relative growth and its angular velocity in its own axes, per
/// second.
fn derivative(value: DQuat, along: f64, velocity: DVec3) -> DQuat {
    let half = 0.5 * velocity;
    value * DQuat::from_xyzw(half.x, half.y, half.z, along)
}

/// Returns the matrix that maps rates of Euler angles to an angular velocity in the axes of the joint.
fn jacobian([x, y, _]: [f64; 3]) -> DMat3 {
    let ((sx, cx), (sy, cy)) = (x.sin_cos(), y.sin_cos());
    DMat3::from_cols(DVec3::X, DVec3::new(0.0, cx, -sx), DVec3::new(-sy, cy * sx, cy * cx))
}

/// Returns the rates of Euler angles at an angular velocity in the axes of the joint, per second: the least squares solution
/// where the angle about Y is a quarter turn.
fn rates(angles: [f64; 3], velocity: DVec3) -> [f64; 3] {
    let jacobian = jacobian(angles);
    let square = jacobian.transpose() * jacobian + DMat3::from_diagonal(DVec3::splat(DAMPING));
    (square.inverse() * (jacobian.transpose() * velocity)).to_array()
}

/// Returns the Euler angles of a rotation that are nearest to other angles. A rotation has two triples within a turn.
fn nearest_angles(rotation: DQuat, near: [f64; 3]) -> [f64; 3] {
    let [x, y, z] = euler_of_rotation(rotation);
    let close = |angles: [f64; 3]| {
        let turns = |i: usize| angles[i] + TAU * ((near[i] - angles[i]) / TAU).round();
        [0, 1, 2].map(turns)
    };
    let far = |angles: &[f64; 3]| angles.iter().zip(near).map(|(a, b)| (a - b).abs()).sum::<f64>();
    let (one, other) = (close([x, y, z]), close([x + PI, PI - y, z + PI]));
    if far(&other) < far(&one) { other } else { one }
}

impl KeyPart {
    /// Sets the value of a component.
    fn value(component: usize, value: f32) -> Self {
        Self { component, value: Some(value), arriving: None, leaving: None }
    }
}

impl Channel {
    /// Sets parts of a key, see [`KeyEdit::Curve`].
    pub(in crate::document) fn set_parts(&mut self, key: usize, parts: &[KeyPart]) -> Result<()> {
        let width = self.width();
        if parts.iter().any(|p| p.component >= width) {
            let problem = format!("a key of {:?} has {width} components", self.target);
            return Err(Error::input(problem, "count components from 0"));
        }
        let cubic = |c: &Self| c.interpolation == Interpolation::CubicSpline;
        let holds = |c: &Self, key: usize| cubic(c) && key < c.times.len() && is_hold(c, key);
        if holds(self, key) {
            let problem =
                format!("the key at {} s only ends the value that the key before it holds", self.times[key]);
            return Err(Error::input(problem, "change the key before it"));
        }
        let leaves = parts.iter().any(|p| p.leaving.is_some());
        let bends = leaves || parts.iter().any(|p| p.arriving.is_some());
        // The conversion comes first and does not depend on the new numbers, so that a later edit of a drag replaces an
        // earlier one exactly.
        let mut key = key;
        if bends && (!cubic(self) || leaves && holds(self, key + 1)) {
            let time = self.times[key];
            self.become_spline(leaves.then_some(time));
            key = self.key_at(time).unwrap_or(key);
        }
        let (ends_hold, after_hold) = (holds(self, key + 1), key > 0 && holds(self, key - 1));
        let (stride, value) = (self.stride(), if cubic(self) { width } else { 0 });
        for part in parts {
            let at = key * stride + part.component;
            if let Some(new) = part.value {
                self.values[at + value] = new;
                if ends_hold {
                    self.values[at + stride + value] = new;
                }
            }
            if let Some(new) = part.arriving.filter(|_| !after_hold) {
                self.values[at] = new;
            }
            if let Some(new) = part.leaving {
                self.values[at + 2 * width] = new;
            }
        }
        Ok(())
    }

    /// Makes the channel a CUBICSPLINE with the same curve. A value that the key at `released` (seconds) holds becomes a
    /// straight segment.
    fn become_spline(&mut self, released: Option<f64>) {
        let mut segments = Segments::new(self);
        let key = released.and_then(|time| segments.times.iter().position(|t| *t == time));
        if let Some(held) = key.and_then(|k| segments.segments.get_mut(k)).filter(|s| **s == Segment::Hold) {
            *held = Segment::STRAIGHT;
        }
        *self = segments.channel_as(Interpolation::CubicSpline);
    }
}

#[cfg(test)]
mod tests;
