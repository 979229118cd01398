//! Minimises the energy of posture and goals by Newton's method. The Hessian includes the exact change of forces under
//! rotation, so that a limb pulled straight does not oscillate. Up to three full steps may raise the energy; otherwise
//! the step is shortened until the energy falls (Armijo's rule).
//!
//! Pins and goals start soft and become stiff over several rounds, because stiff goals make the energy a narrow curved
//! valley, in which steps are short. If the caller gives rotations that bend straight limbs, the posture prefers them
//! until the last round, because a straight limb has no gradient towards shortening.

use super::{ARM, LARGEST, Linkage, Place, factor, substitute};
use crate::base::NodeId;
use crate::base::math::{DMat3, DVec3};
use crate::rig::Skeleton;

/// Per round, the compliances of pins, of goal positions and of goal rotations, as fractions of the character's squared
/// size.
const ROUNDS: [[f64; 3]; 4] =
    [[1e-3, 1e-2, 1e-1], [1e-4, 1e-3, 1e-2], [1e-5, 1e-4, 1e-3], [1e-7, 1e-5, 1e-3]];
/// Per round, the stiffness of limits per square radian. In the last round, limits are stiffer than pins: the pose at
/// the beginning of a grab meets both, so goals yield to them.
const LIMITS: [f64; 4] = [1e2, 1e3, 1e4, 1e7];
/// Maximum number of steps of the earlier rounds and of the last round.
const STEPS: [usize; 2] = [8, 30];
/// A round ends after a step in which no joint rotates by more than this value, radians, and none translates by more
/// than this fraction of the character's size. The first value is for the earlier rounds, the second for the last
/// round.
const DONE: [f64; 2] = [3e-2, 1e-6];
/// Goal distance, as a fraction of the character's size, beyond which a goal pulls with constant force.
const PULL: f64 = 0.15;
/// Maximum number of consecutive full steps that may raise the energy before it must fall.
const AHEAD: usize = 3;
/// Maximum number of halvings of a step that does not lower the energy.
const HALVINGS: usize = 10;
/// Armijo constant: the required fraction of the energy decrease that the gradient predicts.
const ARMIJO: f64 = 1e-4;
/// Initial shift that makes the matrix positive definite, relative to the stiffness of the longest bone's joint.
const SHIFT: f64 = 0.1;

impl Linkage {
    /// Minimises the energy and leaves the result in the degrees of freedom.
    pub(super) fn relax(&mut self, skeleton: &Skeleton, bent: Option<&[(NodeId, DVec3)]>, places: &[Place]) {
        let first = if bent.is_some() { 0 } else { 2 };
        for (k, compliance) in ROUNDS.iter().enumerate().skip(first) {
            let last = k + 1 == ROUNDS.len();
            self.bent.fill(DVec3::ZERO);
            for (node, turn) in bent.unwrap_or_default().iter().filter(|_| !last) {
                if let Some(k) = self.of_node[node.index()][0] {
                    self.bent[k] += *turn;
                }
            }
            let [pin, goal, turned] = compliance.map(|c| 1.0 / (c * self.size * self.size));
            let stiff = [pin, goal, turned, LIMITS[k]];
            let mut steps = 0;
            while steps < STEPS[usize::from(last)] {
                let largest = self.descend(skeleton, places, stiff, &mut steps);
                if largest.is_nan() || largest < DONE[usize::from(last)] {
                    break;
                }
            }
        }
    }

    /// Takes full steps until the energy falls below its initial value. If it does not, takes one shortened step
    /// instead. Returns the step's largest rotation, or NaN on failure.
    fn descend(&mut self, skeleton: &Skeleton, places: &[Place], stiff: [f64; 4], steps: &mut usize) -> f64 {
        let energy = self.energy(places, stiff);
        for (k, before) in self.kept.iter_mut().enumerate() {
            *before = (self.now[k], self.moved[k]);
        }
        // A full step along a curved valley leaves the valley and raises the energy; the next step returns to it.
        let mut first = f64::NAN;
        for k in 0..AHEAD {
            let slope = self.newton(skeleton, places, stiff);
            *steps += 1;
            let largest = self.largest();
            if slope.is_nan() || !largest.is_finite() {
                break;
            }
            if k == 0 {
                first = largest;
            }
            self.remember();
            let share = (LARGEST / largest).min(1.0);
            self.go(skeleton, share);
            let now = self.energy(places, stiff);
            if now <= energy + ARMIJO * share * slope.min(0.0) || now <= energy && largest < DONE[1] {
                return first;
            }
        }
        self.before.copy_from_slice(&self.kept);
        self.go(skeleton, 0.0);
        let slope = self.newton(skeleton, places, stiff);
        *steps += 1;
        let mut share = 0.5 * (LARGEST / self.largest()).min(1.0);
        if slope.is_nan() || !share.is_finite() {
            return f64::NAN;
        }
        for _ in 0..HALVINGS {
            self.go(skeleton, share);
            if self.energy(places, stiff) <= energy + ARMIJO * share * slope {
                return first;
            }
            share *= 0.5;
        }
        self.go(skeleton, 0.0);
        f64::NAN
    }

    /// Computes a Newton step and returns the energy's slope along it, NaN on failure.
    fn newton(&mut self, skeleton: &Skeleton, places: &[Place], stiff: [f64; 4]) -> f64 {
        let count = 3 * self.active.len();
        self.assemble(skeleton, places, stiff);
        let mut shift = 0.0;
        loop {
            self.factor[..count * count].copy_from_slice(&self.matrix[..count * count]);
            (0..count).for_each(|i| self.factor[i * count + i] += shift * self.scale(i));
            if factor(&mut self.factor[..count * count], count) {
                break;
            }
            shift = if shift == 0.0 { SHIFT } else { 4.0 * shift };
            if shift > 1e12 {
                return f64::NAN;
            }
        }
        let mut slope = 0.0;
        self.gradient.clear();
        self.gradient.extend_from_slice(&self.right[..count]);
        substitute(&self.factor[..count * count], &mut self.right[..count], count);
        self.step.fill(DVec3::ZERO);
        for (i, k) in self.active.iter().enumerate() {
            let step = DVec3::from_slice(&self.right[3 * i..3 * i + 3]);
            slope -= step.dot(DVec3::from_slice(&self.gradient[3 * i..3 * i + 3]));
            self.step[*k] = step;
        }
        slope
    }

    /// Returns the stiffness of the degree of freedom that an unknown belongs to.
    fn scale(&self, unknown: usize) -> f64 {
        let f = &self.freedoms[self.active[unknown / 3]];
        if f.shifts { 1.0 / f.ease } else { 1.0 }
    }

    fn energy(&self, places: &[Place], [pin, goal, turned, limit]: [f64; 4]) -> f64 {
        let mut energy = 0.0;
        for (k, f) in self.freedoms.iter().enumerate() {
            energy += 0.5 * (self.moved[k] - self.bent[k]).length_squared() / f.ease;
        }
        let arm = (ARM * self.size).powi(2);
        for (ask, wanted) in self.asks.iter().zip(places) {
            let [place, turn] = self.left(ask, wanted);
            if ask.pin {
                energy += 0.5 * pin * (place.length_squared() + arm * turn.length_squared());
            } else {
                let (far, pull) = (place.length(), PULL * self.size);
                let miss = if far < pull { 0.5 * far * far } else { pull * (far - 0.5 * pull) };
                energy += goal * miss + 0.5 * turned * arm * turn.length_squared();
            }
        }
        if self.limits.is_empty() { energy } else { energy + self.limit_energy(limit) }
    }

    /// Sets the matrix to the energy's Hessian, and the right-hand side to its negative gradient.
    fn assemble(&mut self, skeleton: &Skeleton, places: &[Place], [pin, goal, turned, limit]: [f64; 4]) {
        self.set_levers(skeleton);
        let count = 3 * self.active.len();
        self.matrix[..count * count].fill(0.0);
        for (i, k) in self.active.iter().enumerate() {
            let stiffness = 1.0 / self.freedoms[*k].ease;
            let force = (self.bent[*k] - self.moved[*k]) * stiffness;
            self.right[3 * i..3 * i + 3].copy_from_slice(&force.to_array());
            (3 * i..3 * i + 3).for_each(|d| self.matrix[d * count + d] = stiffness);
        }
        self.add_limits(limit);
        let arm = (ARM * self.size).powi(2);
        for (a, wanted) in places.iter().enumerate() {
            let ask = self.asks[a];
            let [place, turn] = self.left(&ask, wanted);
            let (far, pull) = (place.length(), PULL * self.size);
            // The force that pulls the point, and the derivative of this force with respect to the point's position.
            let (force, change) = if ask.pin {
                (place * pin, DMat3::from_diagonal(DVec3::splat(pin)))
            } else if far < pull {
                (place * goal, DMat3::from_diagonal(DVec3::splat(goal)))
            } else {
                let way = place / far;
                let across = DMat3::IDENTITY - outer(way, way);
                (way * pull * goal, across * (goal * pull / far))
            };
            let twist = arm * if ask.pin { pin } else { turned };
            let levers = &self.levers[a];
            for (l, low) in levers.iter().enumerate() {
                let i = 3 * self.place_of[low.freedom];
                let pulled = low.place.transpose() * force + low.turn.transpose() * turn * twist;
                (0..3).for_each(|d| self.right[i + d] += pulled[d]);
                // Rotations of the joints above also rotate the arm from this joint and thereby change the torque.
                let bend = DMat3::from_diagonal(DVec3::splat(force.dot(low.arm))) - outer(low.arm, force);
                for (h, high) in levers[..=l].iter().enumerate() {
                    let bend = if h == l { (bend + bend.transpose()) * 0.5 } else { bend };
                    let block = high.place.transpose() * change * low.place
                        + high.turn.transpose() * low.turn * twist
                        + high.axes.transpose() * bend * low.axes;
                    let j = 3 * self.place_of[high.freedom];
                    for r in 0..3 {
                        for c in 0..3 {
                            self.matrix[(i + c) * count + j + r] += block.col(c)[r];
                        }
                    }
                }
            }
        }
    }
}

fn outer(a: DVec3, b: DVec3) -> DMat3 {
    DMat3::from_cols(a * b.x, a * b.y, a * b.z)
}
