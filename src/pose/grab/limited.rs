//! A chain of joints with limits: damped least squares over the directions in which the joints are free.
//!
//! A step first lets every joint turn freely. A joint that would leave its limit loses the direction in which it would
//! leave, and the step is computed again, so that the other joints make up for it. Then the joints are put back onto
//! their limits, because limits are curved. A step that does not bring the point nearer is shortened.

use super::{DAMPING, DONE, LARGEST_TURN, Links, Work};
use crate::base::NodeId;
use crate::base::math::{DMat3, DQuat, DVec3};
use crate::rig::{JointLimit, JointLimits, is_regular, nearest, turn_between, world_from_parent};

/// Maximum number of steps of a solve.
const STEPS: usize = 100;
/// Maximum number of times that a step is computed, because more and more joints are at their limits.
const ROUNDS: usize = 6;
/// Maximum number of halvings of a step.
const HALVINGS: usize = 6;
/// A solve ends when a step brings the point nearer by less than this fraction of the chain's length.
const STALLED: f64 = 1e-8;
/// Small rotation, radians, that shows whether a limit blocks a direction. Larger rotations leave a curved limit in
/// other directions, too.
const PROBE: f64 = 1e-3;
/// Part of that rotation that a limit must take away to count as blocking.
const BLOCKED: f64 = 0.05;

/// The limit of a joint of a chain.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounded {
    limit: JointLimit,
    /// Linear part of the parent's world transform, and the joint's local rotation, at the beginning of the solve.
    parent: DMat3,
    local: DQuat,
}

/// Returns the limits of a chain's joints; empty if no joint has one.
pub(super) fn bounded(work: &Work, nodes: &[NodeId], limits: &JointLimits) -> Vec<Option<Bounded>> {
    if nodes.iter().all(|n| limits.of(*n).is_none()) {
        return Vec::new();
    }
    let bound = |node: &NodeId| {
        let parent = world_from_parent(work.skeleton, *node, &work.world).matrix3;
        let limit = *limits.of(*node).filter(|_| is_regular(parent))?;
        let local = work.pose.local[node.index()].rotation().as_dquat().normalize();
        Some(Bounded { limit, parent, local })
    };
    nodes.iter().map(bound).collect()
}

impl Links {
    /// Returns the world-space rotation since the beginning that the limit of a joint allows for `turn`.
    fn allowed(&self, joint: usize, turn: DQuat) -> DQuat {
        let Some(Some(bounded)) = self.limits.get(joint) else { return turn };
        let Bounded { limit, parent, local } = bounded;
        let above = joint.checked_sub(1).map_or(DQuat::IDENTITY, |i| self.turn[i]);
        let Some(own) = turn_between(*parent, above.inverse() * turn, *parent) else { return turn };
        let now = (own * *local).normalize();
        let kept = limit.clamp(now);
        if kept == now {
            return turn;
        }
        let own = DMat3::from_quat(kept * local.inverse());
        (above * nearest(*parent * own * parent.inverse())).normalize()
    }

    /// Puts a joint back onto its limit. All joints after it follow.
    pub(super) fn bound(&mut self, joint: usize) {
        let allowed = self.allowed(joint, self.turn[joint]);
        if allowed != self.turn[joint] {
            self.turn_from(joint, (allowed * self.turn[joint].inverse()).normalize());
        }
    }

    /// Like [`Links::reach`] for a chain with limits; `length` is the length of the chain up to `end`.
    pub(super) fn reach_limited(&mut self, end: usize, wanted: DVec3, carry: bool, length: f64) {
        let place = |links: &Self| links.at.get(end).copied().unwrap_or(links.tip);
        for _ in 0..STEPS {
            let left = (wanted - place(self)).length();
            if left <= DONE * length {
                break;
            }
            let turns = self.step(end, place(self), wanted, length);
            let largest = turns.iter().map(|t| t.length()).fold(0.0, f64::max);
            if !largest.is_finite() || largest < 1e-12 {
                break;
            }
            let mut scale = (LARGEST_TURN / largest).min(1.0);
            let mut nearer = None;
            for _ in 0..=HALVINGS {
                let mut next = self.clone();
                next.go(end, &turns, scale, carry);
                let now = (wanted - place(&next)).length();
                if now < left {
                    nearer = Some((next, now));
                    break;
                }
                scale *= 0.5;
            }
            let Some((next, now)) = nearer else { break };
            *self = next;
            if left - now < STALLED * length {
                break;
            }
        }
    }

    /// Turns the joints before `end`, each by a world-space rotation vector times `scale`, within their limits.
    fn go(&mut self, end: usize, turns: &[DVec3], scale: f64, carry: bool) {
        for (joint, turn) in turns.iter().enumerate() {
            let turn = DQuat::from_scaled_axis(*turn * scale);
            self.turn_from(joint, turn);
            if !carry {
                // The joints from `end` on keep their directions.
                self.turn_from(end, turn.inverse());
            }
        }
        (0..self.at.len()).for_each(|joint| self.bound(joint));
    }

    /// Returns the rotation vectors of the joints before `end` that bring the point `x` towards `wanted`.
    fn step(&self, end: usize, x: DVec3, wanted: DVec3, length: f64) -> Vec<DVec3> {
        let step = (wanted - x).clamp_length_max(0.3 * length);
        let joints = self.at[..end].iter().zip(&self.ease);
        // Projects a rotation vector onto the directions in which the joint is free.
        let mut free = vec![DMat3::IDENTITY; end];
        let mut turns: Vec<DVec3> = Vec::new();
        for _ in 0..ROUNDS {
            let mut normal = DMat3::from_diagonal(DVec3::splat((DAMPING * length).powi(2)));
            for ((p, ease), free) in joints.clone().zip(&free) {
                let lever = cross(x - *p);
                normal += lever * *free * lever.transpose() * (ease * ease);
            }
            let force = normal.inverse() * step;
            let turn =
                |((p, ease), free): ((&DVec3, &f64), &DMat3)| *free * (x - *p).cross(force) * (ease * ease);
            turns = joints.clone().zip(&free).map(turn).collect();
            let mut blocked = false;
            for (joint, turn) in turns.iter().enumerate() {
                let Some(probe) = turn.try_normalize().map(|way| way * PROBE) else { continue };
                let wanted = DQuat::from_scaled_axis(probe) * self.turn[joint];
                let lost = scaled_axis(wanted * self.allowed(joint, wanted).inverse());
                if lost.length() <= BLOCKED * PROBE {
                    continue;
                }
                let way = free[joint] * lost;
                if way.length() > BLOCKED * lost.length() {
                    let way = way.normalize();
                    let outer = DMat3::from_cols(way * way.x, way * way.y, way * way.z);
                    free[joint] = (DMat3::IDENTITY - outer) * free[joint];
                    // Keeps the projection symmetric.
                    free[joint] = (free[joint] + free[joint].transpose()) * 0.5;
                    blocked = true;
                }
            }
            if !blocked {
                break;
            }
        }
        turns
    }
}

fn scaled_axis(turn: DQuat) -> DVec3 {
    if turn.w < 0.0 { (-turn).to_scaled_axis() } else { turn.to_scaled_axis() }
}

/// Returns the matrix that maps a rotation vector to the motion of the point at `v` from the joint, negated.
fn cross(v: DVec3) -> DMat3 {
    DMat3::from_cols(DVec3::new(0.0, v.z, -v.y), DVec3::new(-v.z, 0.0, v.x), DVec3::new(v.y, -v.x, 0.0))
}
