//! Limits of joints in a linkage. While goals and pins relax, a joint beyond its limit has the energy `½ k c²`, where
//! `c` is the rotation to the nearest allowed one. The relaxed joints are then put onto their limits, and pins are met
//! by motions that limits leave free: a joint that would leave its limit loses the direction in which it would leave.

use super::{LARGEST, Linkage, Place, scaled_axis};
use crate::base::math::{DMat3, DQuat, DVec3};
use crate::rig::{JointLimit, Skeleton};

/// Half the difference, radians, between the rotations that give the stiffness of a limit.
const PROBE: f64 = 1e-4;
/// Maximum number of times that a step is computed, because more and more joints are at their limits.
const ROUNDS: usize = 6;
/// Small rotation, radians, that shows whether a limit blocks a direction. Larger rotations leave a curved limit in
/// other directions, too.
const SMALL: f64 = 1e-3;
/// Part of that rotation that a limit must take away to count as blocking.
const BLOCKED: f64 = 0.05;

impl Linkage {
    /// Returns the energy of the joints beyond their limits, for a stiffness per square radian.
    pub(super) fn limit_energy(&self, stiffness: f64) -> f64 {
        let square = |(k, limit): &(usize, JointLimit)| limit.correction(self.now[*k].0).length_squared();
        0.5 * stiffness * self.limits.iter().map(square).sum::<f64>()
    }

    /// Adds the limits' forces to the right-hand side and their stiffness to the matrix.
    pub(super) fn add_limits(&mut self, stiffness: f64) {
        let count = 3 * self.active.len();
        for (k, limit) in &self.limits {
            let place = self.place_of[*k];
            let now = self.now[*k].0;
            // Most joints are far from their limits.
            if place == usize::MAX || limit.margin(now) > 10.0 * PROBE {
                continue;
            }
            let force = limit.correction(now) * stiffness;
            // A limit is stiff on one side only. On the limit, the difference across it gives half the stiffness.
            let change = |axis: DVec3| {
                let at = |way: f64| limit.correction(DQuat::from_scaled_axis(axis * way) * now);
                (at(-PROBE) - at(PROBE)) * (0.5 / PROBE)
            };
            let block = DMat3::from_cols(change(DVec3::X), change(DVec3::Y), change(DVec3::Z));
            let block = (block + block.transpose()) * (0.5 * stiffness);
            if !force.is_finite() || !block.is_finite() {
                continue;
            }
            let i = 3 * place;
            for r in 0..3 {
                self.right[i + r] += force[r];
                for c in 0..3 {
                    self.matrix[(i + r) * count + i + c] += block.col(c)[r];
                }
            }
        }
    }

    /// Puts all joints that are beyond their limits onto their limits.
    pub(super) fn clamp(&mut self, skeleton: &Skeleton) {
        let mut changed = false;
        for (k, limit) in &self.limits {
            let now = self.now[*k].0;
            let kept = limit.clamp(now);
            if kept != now {
                changed = true;
                self.now[*k].0 = kept;
                self.moved[*k] = scaled_axis(kept * self.reference[*k].0.inverse());
            }
        }
        if changed {
            self.forward(skeleton);
        }
    }

    /// Returns the part of a motion that the limit of a degree of freedom leaves free.
    pub(super) fn let_through(&self, freedom: usize, motion: DVec3) -> DVec3 {
        self.free.get(freedom).map_or(motion, |free| *free * motion)
    }

    /// Takes one Gauss-Newton step towards the pins within the limits and returns its largest rotation.
    pub(super) fn gauss_limited(&mut self, skeleton: &Skeleton, places: &[Place]) -> f64 {
        self.set_levers(skeleton);
        self.free.fill(DMat3::IDENTITY);
        for _ in 0..ROUNDS {
            if !self.set_step(places) {
                return f64::NAN;
            }
            if !self.block() {
                break;
            }
        }
        let largest = self.largest();
        if !largest.is_finite() {
            return f64::NAN;
        }
        self.remember();
        self.go(skeleton, (LARGEST / largest).min(1.0));
        self.clamp(skeleton);
        largest
    }

    /// Takes from each joint the direction in which the step would leave its limit; returns whether there is any.
    fn block(&mut self) -> bool {
        let mut blocked = false;
        for (k, limit) in &self.limits {
            let Some(probe) = self.step[*k].try_normalize().map(|way| way * SMALL) else { continue };
            let wanted = DQuat::from_scaled_axis(probe) * self.now[*k].0;
            let lost = scaled_axis(wanted * limit.clamp(wanted).inverse());
            if lost.length() <= BLOCKED * SMALL {
                continue;
            }
            let way = self.free[*k] * lost;
            if way.length() > BLOCKED * lost.length() {
                let way = way.normalize();
                let outer = DMat3::from_cols(way * way.x, way * way.y, way * way.z);
                let free = (DMat3::IDENTITY - outer) * self.free[*k];
                // Keeps the projection symmetric.
                self.free[*k] = (free + free.transpose()) * 0.5;
                blocked = true;
            }
        }
        blocked
    }
}
