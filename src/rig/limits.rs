//! Limits of a joint's rotation: a range of twist about the bone and a cone of swing (docs/internals.md, *Limits of
//! joints*).
//!
//! A rotation `Q` relative to the rest pose, in the joint's bone frame (see [`super::bone_frames`]), is split into `Q =
//! Q_swing Q_twist`: first the twist about the bone (the frame's z), then the swing, whose axis is at a right angle to
//! z. The *swing vector* is the swing's axis times its angle; it has the components x and y. The allowed swing vectors
//! form four quarters of ellipses, whose half-axes are the four half-angles. This set is convex, so the nearest allowed
//! swing vector is unique and depends continuously on the swing. A half-angle of zero on both sides of an axis makes a
//! hinge about the other axis.
//!
//! The swing vectors `v` and `-v` of length π are the same swing, and a swing by half a turn has no unique twist.
//! There, and where both ends of the range of twist are equally far, no nearest rotation depends continuously on `Q`.

use super::{Pose, Skeleton};
use crate::base::math::{DQuat, DVec2, DVec3, Quat, Trs};
use crate::base::{Error, NodeId, Result};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::f64::consts::{PI, TAU};

/// Rotations beyond a limit by at most this angle, radians, are rounding errors and count as allowed.
const ROUNDING: f64 = 1e-5;
/// Half-angles below this, radians, on both sides of an axis make a hinge.
const THIN: f64 = 0.02;
/// Half-angles and ends of ranges within this angle of half a turn, radians, are no limit.
const OPEN: f64 = 1e-3;
/// Number of halvings with which a limit is extended.
const HALVINGS: usize = 48;

/// The limits of all joints that have one, by node.
pub type Limits = BTreeMap<NodeId, Limit>;

/// The range of a joint's rotation. The rest pose is always in the range.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limit {
    /// Rotation from the bone frame to the node's local space, quaternion `(x, y, z, w)`. The frame's z runs along the
    /// bone; x is the joint's bend axis.
    pub frame: [f32; 4],
    /// Least and greatest twist about z, radians: -π..=0 and 0..=π.
    pub twist: [f32; 2],
    /// Greatest swing about +x, -x, +y and -y, radians: 0..=π each.
    pub swing: [f32; 4],
}

/// A rotation, split into swing and twist.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SwingTwist {
    /// Axis of the swing times its angle, 0..=π radians; x and y of the bone frame.
    pub swing: DVec2,
    /// Angle of the twist about z, -π..=π radians.
    pub twist: f64,
    /// Cosine of half the angle of the swing; the twist is undefined where it is zero.
    pub sure: f64,
}

impl SwingTwist {
    /// Splits a unit quaternion.
    pub fn new(q: DQuat) -> Self {
        let q = if q.w < 0.0 { -q } else { q };
        let sure = q.z.hypot(q.w);
        // The twist part of a swing by half a turn is undefined and counts as zero.
        let twist = if sure > 1e-9 { 2.0 * q.z.atan2(q.w) } else { 0.0 };
        // The vector part of `q * twist^-1`.
        let (sin, cos) = (0.5 * twist).sin_cos();
        let across = DVec2::new(q.x * cos - q.y * sin, q.y * cos + q.x * sin);
        let length = across.length();
        let angle = 2.0 * length.atan2(sure);
        let swing = if length > 0.0 { across * (angle / length) } else { DVec2::ZERO };
        Self { swing, twist, sure }
    }

    /// Returns the rotation.
    pub fn rotation(&self) -> DQuat {
        swing(self.swing) * DQuat::from_rotation_z(self.twist)
    }
}

/// Returns the rotation of a swing vector.
pub(crate) fn swing(vector: DVec2) -> DQuat {
    DQuat::from_scaled_axis(vector.extend(0.0))
}

impl Limit {
    /// Returns the limit that allows every rotation. `frame` is the rotation from the bone frame to the node's space.
    pub fn open(frame: DQuat) -> Self {
        let pi = std::f32::consts::PI;
        Self { frame: frame.as_quat().into(), twist: [-pi, pi], swing: [pi; 4] }
    }

    /// Returns the rotation from the bone frame to the node's local space.
    pub fn frame(&self) -> DQuat {
        Quat::from_array(self.frame).as_dquat().normalize()
    }

    /// Returns the allowed rotation nearest to `q`, a unit quaternion relative to the rest pose in the bone frame: its
    /// swing vector and its twist are the nearest allowed ones. Returns an allowed `q` unchanged, bit by bit.
    pub fn clamp(&self, q: DQuat) -> DQuat {
        let parts = SwingTwist::new(q);
        let nearest = self.nearest(&parts);
        if beyond(&parts, &nearest) <= ROUNDING || !q.is_finite() {
            return q;
        }
        let out = nearest.rotation();
        if out.dot(q) < 0.0 { -out } else { out }
    }

    /// Returns how far a rotation is beyond the limit, radians; 0 for an allowed rotation.
    pub fn excess(&self, q: DQuat) -> f64 {
        let parts = SwingTwist::new(q);
        beyond(&parts, &self.nearest(&parts))
    }

    /// Returns the nearest allowed swing and twist, each for itself.
    fn nearest(&self, parts: &SwingTwist) -> SwingTwist {
        let [low, high] = self.twist.map(f64::from);
        let twist = if (low..=high).contains(&parts.twist) || high - low >= TAU - OPEN {
            parts.twist
        } else {
            // Both ways around the circle.
            let apart =
                |end: f64| (parts.twist - end).rem_euclid(TAU).min((end - parts.twist).rem_euclid(TAU));
            if apart(low) < apart(high) { low } else { high }
        };
        let half = self.half(parts.swing);
        SwingTwist { swing: in_ellipse(parts.swing, half), twist, sure: parts.sure }
    }

    /// Returns the half-angles of the quarter in which a swing vector lies.
    fn half(&self, v: DVec2) -> DVec2 {
        let [right, left, up, down] = self.swing.map(f64::from);
        DVec2::new(if v.x >= 0.0 { right } else { left }, if v.y >= 0.0 { up } else { down })
    }

    /// Returns the swing vector on the cone's rim at an angle, radians: 0 is +x, π/2 is +y.
    pub fn rim(&self, angle: f64) -> DVec2 {
        let way = DVec2::from_angle(angle);
        self.half(way) * way
    }

    /// Returns the limit, extended as little as possible so that it allows `q`: it adds the same angle to the
    /// half-angles of the two sides to which `q` swings.
    pub fn including(&self, q: DQuat) -> Self {
        let (mut out, parts) = (*self, SwingTwist::new(q));
        let nearest = self.nearest(&parts);
        if beyond(&parts, &nearest) <= ROUNDING || !q.is_finite() {
            return out;
        }
        if (parts.twist - nearest.twist).abs() * parts.sure > ROUNDING {
            let end = usize::from(parts.twist > 0.0);
            out.twist[end] = outwards(parts.twist);
        }
        if parts.swing.distance(nearest.swing) > ROUNDING {
            let half = self.half(parts.swing);
            let wider = |more: f64| (half + DVec2::splat(more)).min(DVec2::splat(PI));
            let inside = |more: f64| ratio(parts.swing, wider(more)) <= 1.0;
            let (mut low, mut high) = (0.0, PI);
            for _ in 0..HALVINGS {
                let middle = 0.5 * (low + high);
                if inside(middle) { high = middle } else { low = middle }
            }
            let [x, y] = [parts.swing.x, parts.swing.y];
            for (used, side) in [(x.abs(), usize::from(x < 0.0)), (y.abs(), 2 + usize::from(y < 0.0))] {
                // A swing about one axis leaves the half-angles of the other as they are.
                if used > ROUNDING {
                    out.swing[side] = outwards((f64::from(out.swing[side]) + high).min(PI));
                }
            }
        }
        out
    }

    /// Returns the smallest limit that allows all rotations of a list, with a margin, radians, on every side.
    pub fn around(frame: DQuat, rotations: impl Iterator<Item = DQuat> + Clone, margin: f64) -> Self {
        let parts = rotations.map(SwingTwist::new);
        let (mut twist, mut reach) = ([0.0_f64; 2], [0.0_f64; 4]);
        for p in parts.clone() {
            twist = [twist[0].min(p.twist), twist[1].max(p.twist)];
            for (side, v) in [p.swing.x, -p.swing.x, p.swing.y, -p.swing.y].into_iter().enumerate() {
                reach[side] = reach[side].max(v);
            }
        }
        reach.iter_mut().for_each(|reach| *reach += margin);
        // The ellipses through the extreme swings may leave out diagonal swings. Each side grows by the larger of the
        // factors that its two quarters need.
        let side = |v: DVec2| [usize::from(v.x < 0.0), 2 + usize::from(v.y < 0.0)];
        let mut grow = [1.0_f64; 4];
        for p in parts {
            let [i, j] = side(p.swing);
            let with_margin = p.swing + p.swing.normalize_or_zero() * margin;
            let needed = ratio(with_margin, DVec2::new(reach[i], reach[j]));
            [i, j].into_iter().for_each(|s| grow[s] = grow[s].max(needed));
        }
        let mut out = Self::open(frame);
        for s in 0..4 {
            out.swing[s] = outwards((reach[s] * grow[s]).min(PI));
        }
        out.twist = [-outwards((margin - twist[0]).min(PI)), outwards((twist[1] + margin).min(PI))];
        out
    }

    /// Returns the angle by which a rotation can go on to the nearest end of its range, radians; 0 at the limit,
    /// infinite without an end. The two thin sides of a hinge do not count, because a hinge always stands there.
    pub fn room(&self, q: DQuat) -> f64 {
        let parts = SwingTwist::new(q);
        let [low, high] = self.twist.map(f64::from);
        let to = |end: f64, at: f64| if end >= PI - OPEN { f64::INFINITY } else { (end - at).max(0.0) };
        let mut room = f64::INFINITY;
        if high - low > THIN {
            room = room.min(to(high, parts.twist)).min(to(-low, -parts.twist));
        }
        let [right, left, up, down] = self.swing.map(f64::from);
        let v = parts.swing;
        let (wide, tall) = (right + left > THIN, up + down > THIN);
        if wide {
            room = room.min(to(right, v.x)).min(to(left, -v.x));
        }
        if tall {
            room = room.min(to(up, v.y)).min(to(down, -v.y));
        }
        let half = self.half(v);
        if wide && tall && half.max_element() < PI - OPEN {
            let share = ratio(v, half);
            if share > 1e-9 {
                room = room.min(((1.0 - share) * v.length() / share).max(0.0));
            }
        }
        room
    }

    /// Returns a lower bound of the angle from an allowed rotation to the next forbidden one, radians; 0 beyond the
    /// limit.
    fn margin(&self, parts: &SwingTwist) -> f64 {
        let [low, high] = self.twist.map(f64::from);
        let twist = if high - low >= TAU - OPEN { PI } else { (high - parts.twist).min(parts.twist - low) };
        let half = self.half(parts.swing);
        let least = self.swing.iter().map(|half| f64::from(*half)).fold(PI, f64::min);
        // The ellipse, scaled by the ratio, touches the swing vector; between it and the limit lies at least the
        // thinnest side.
        let swing = if least >= PI - OPEN { PI } else { (1.0 - ratio(parts.swing, half)) * least };
        // The twist changes fast where the swing is nearly half a turn.
        swing.min(twist * parts.sure).max(0.0)
    }

    /// Returns the limit with every number in its range.
    pub fn sane(self) -> Self {
        let pi = std::f32::consts::PI;
        let within =
            |v: f32, low: f32, high: f32| if v.is_finite() { v.clamp(low, high) } else { low + high };
        Self {
            twist: [within(self.twist[0], -pi, 0.0), within(self.twist[1], 0.0, pi)],
            swing: self.swing.map(|v| within(v, 0.0, pi)),
            ..self
        }
    }

    /// Checks the limit of an untrusted file.
    ///
    /// # Errors
    /// A number is outside its range, or the frame is no rotation.
    pub fn validate(&self) -> Result<()> {
        let length = Quat::from_array(self.frame).length();
        if self.sane() == *self && (0.9..1.1).contains(&length) {
            return Ok(());
        }
        Err(Error::input(
            "a limit of a joint has an angle outside its range, or no frame",
            "give twists from -π to 0 and from 0 to π, swings from 0 to π, and a unit quaternion",
        ))
    }
}

/// Rounds an angle up to `f32`, so that the limit allows the angle itself.
fn outwards(angle: f64) -> f32 {
    let near = angle as f32;
    let near = if f64::from(near.abs()) < angle.abs() {
        near + near.signum() * near.abs() * f32::EPSILON
    } else {
        near
    };
    near.clamp(-std::f32::consts::PI, std::f32::consts::PI)
}

/// Returns the angle between a rotation and its nearest allowed one, approximately: the twist of a swing by nearly half
/// a turn moves little.
fn beyond(parts: &SwingTwist, nearest: &SwingTwist) -> f64 {
    let twist = (parts.twist - nearest.twist).abs();
    parts.swing.distance(nearest.swing).hypot(twist.min(TAU - twist) * parts.sure)
}

/// Returns the factor by which an ellipse at the origin must grow to reach a point.
fn ratio(v: DVec2, half: DVec2) -> f64 {
    let part = |v: f64, half: f64| if v == 0.0 { 0.0 } else { v / half };
    part(v.x, half.x).hypot(part(v.y, half.y))
}

/// Returns the point of an ellipse at the origin, with its interior, nearest to a point (Eberly, "Distance from a point
/// to an ellipse", 2013: the root of one convex function).
fn in_ellipse(v: DVec2, half: DVec2) -> DVec2 {
    // All half-angles of half a turn allow every swing, whose vector may be longer than π by rounding.
    if ratio(v, half) <= 1.0 || half.min_element() >= PI - OPEN {
        return v;
    }
    let (a, b, p) = (half.x, half.y, v.abs());
    let least = 1e-9;
    let out = if a <= least || p.x == 0.0 && b > least {
        DVec2::new(0.0, p.y.min(b))
    } else if b <= least {
        DVec2::new(p.x.min(a), 0.0)
    } else if p.y == 0.0 && p.x >= a {
        DVec2::new(a, 0.0)
    } else {
        // Newton's method from below the root never passes it, because the function is convex and falls.
        let mut t = (a * p.x - a * a).max(b * p.y - b * b).max(0.0);
        for _ in 0..60 {
            let (x, y) = (a * p.x / (t + a * a), b * p.y / (t + b * b));
            let value = x * x + y * y - 1.0;
            let slope = -2.0 * (x * x / (t + a * a) + y * y / (t + b * b));
            let next = t - value / slope;
            if next <= t || value <= 0.0 || !next.is_finite() {
                break;
            }
            t = next;
        }
        DVec2::new(a * a * p.x / (t + a * a), b * b * p.y / (t + b * b))
    };
    out.copysign(v)
}

/// The limit of a joint in a grab or a stroke.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JointLimit {
    limit: Limit,
    /// Rotation from the bone frame at rest to the parent's space, and from the bone frame to the node's space.
    rest: DQuat,
    frame: DQuat,
}

impl JointLimit {
    /// Binds a limit to a joint with the local rotation `rest` in the rest pose.
    pub fn new(limit: &Limit, rest: DQuat) -> Self {
        let frame = limit.frame();
        Self { limit: *limit, rest: rest.normalize() * frame, frame }
    }

    /// Returns the limit, extended so that it allows a local rotation. A joint that starts beyond its limit may stay
    /// there or go back, but not further out.
    pub fn including(&self, local: DQuat) -> Self {
        Self { limit: self.limit.including(self.relative(local)), ..*self }
    }

    /// Returns a local rotation relative to the rest pose, in the bone frame.
    pub fn relative(&self, local: DQuat) -> DQuat {
        self.rest.inverse() * local.normalize() * self.frame
    }

    /// Returns the allowed local rotation nearest to `local`; an allowed one unchanged.
    pub fn clamp(&self, local: DQuat) -> DQuat {
        let q = self.relative(local);
        let nearest = self.limit.clamp(q);
        if nearest == q {
            return local;
        }
        let out = (self.rest * nearest * self.frame.inverse()).normalize();
        if out.dot(local) < 0.0 { -out } else { out }
    }

    /// Returns the rotation vector, in the parent's space, from `local` to the nearest allowed rotation.
    pub fn correction(&self, local: DQuat) -> DVec3 {
        let q = self.relative(local);
        let parts = SwingTwist::new(q);
        let nearest = self.limit.nearest(&parts);
        if (nearest.swing, nearest.twist) == (parts.swing, parts.twist) {
            return DVec3::ZERO;
        }
        let turn = nearest.rotation() * q.inverse();
        self.rest * if turn.w < 0.0 { (-turn).to_scaled_axis() } else { turn.to_scaled_axis() }
    }

    /// Returns a lower bound of the angle from an allowed local rotation to the next forbidden one, radians; 0 beyond
    /// the limit.
    pub fn margin(&self, local: DQuat) -> f64 {
        self.limit.margin(&SwingTwist::new(self.relative(local)))
    }

    /// See [`Limit::room`].
    pub fn room(&self, local: DQuat) -> f64 {
        self.limit.room(self.relative(local))
    }

    /// See [`Limit::excess`].
    #[cfg(test)]
    pub fn excess(&self, local: DQuat) -> f64 {
        self.limit.excess(self.relative(local))
    }
}

/// Returns a local rotation of a node relative to the rest pose, in the bone frame of a limit; see [`Limit::clamp`].
pub fn relative_rotation(skeleton: &Skeleton, node: NodeId, limit: &Limit, local: Quat) -> DQuat {
    let rest = skeleton.nodes[node.index()].rest.rotation().as_dquat();
    JointLimit::new(limit, rest).relative(local.as_dquat())
}

/// Returns the angles of a local rotation in the bone frame of a limit: bend, sideways and twist, radians.
pub fn limit_angles(skeleton: &Skeleton, node: NodeId, limit: &Limit, local: Quat) -> [f64; 3] {
    let SwingTwist { swing, twist, .. } = SwingTwist::new(relative_rotation(skeleton, node, limit, local));
    [swing.x, swing.y, twist]
}

/// Returns the local rotation that has these angles; see [`limit_angles`].
pub fn rotation_of_angles(
    skeleton: &Skeleton,
    node: NodeId,
    limit: &Limit,
    [bend, side, twist]: [f64; 3],
) -> Quat {
    let rest = skeleton.nodes[node.index()].rest.rotation().as_dquat();
    let JointLimit { rest, frame, .. } = JointLimit::new(limit, rest);
    let parts = SwingTwist { swing: DVec2::new(bend, side), twist, sure: 1.0 };
    (rest * parts.rotation() * frame.inverse()).normalize().as_quat()
}

/// Keeps a joint within its limit after a change of its local transform from `before` to `after`. A rotation that was
/// beyond the limit may stay or go back. Returns whether the limit changed the new rotation.
pub fn keep_limit(skeleton: &Skeleton, limits: &Limits, node: NodeId, before: &Trs, after: &mut Trs) -> bool {
    let Some(limit) = limits.get(&node).filter(|_| before.rotation != after.rotation) else { return false };
    let Some(rest) = skeleton.nodes.get(node.index()).map(|n| n.rest.rotation().as_dquat()) else {
        return false;
    };
    let limit = JointLimit::new(limit, rest).including(before.rotation().as_dquat().normalize());
    let wanted = after.rotation().as_dquat().normalize();
    let kept = limit.clamp(wanted);
    if kept == wanted {
        return false;
    }
    after.rotation = kept.as_quat().into();
    true
}

/// The limits of a character's joints, by node.
#[derive(Clone, Debug, Default)]
pub(crate) struct JointLimits {
    /// Empty if no joint has a limit.
    of: Vec<Option<JointLimit>>,
}

impl JointLimits {
    /// Binds the limits of a document to a skeleton. Joints that are beyond their limits in the pose `start` may stay
    /// there.
    pub fn new(skeleton: &Skeleton, limits: &Limits, start: &Pose) -> Self {
        if limits.is_empty() {
            return Self::default();
        }
        let bind = |(i, node): (usize, &super::RigNode)| {
            let limit = limits.get(&NodeId::from(i))?;
            let bound = JointLimit::new(limit, node.rest.rotation().as_dquat());
            Some(bound.including(start.local.get(i)?.rotation().as_dquat().normalize()))
        };
        Self { of: skeleton.nodes.iter().enumerate().map(bind).collect() }
    }

    /// Returns the limit of a node's joint.
    pub fn of(&self, node: NodeId) -> Option<&JointLimit> {
        self.of.get(node.index())?.as_ref()
    }

    /// Returns the allowed local rotation of a node nearest to `local`; an allowed one unchanged.
    pub fn clamp(&self, node: NodeId, local: DQuat) -> DQuat {
        self.of(node).map_or(local, |limit| limit.clamp(local))
    }
}

#[cfg(test)]
mod tests;
