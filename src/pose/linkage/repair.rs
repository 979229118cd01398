//! Meets pins exactly by the smallest rotations and translations since the reference pose. Gauss-Newton steps solve `(J
//! W⁻¹ Jᵀ + ε) λ = e + J v` and set `v ← W⁻¹ Jᵀ λ` until the pins hold. `v` holds the motions since the reference pose,
//! `W` their stiffness, `e` the pin errors, and `J` the derivatives of the pins with respect to `v`. The unknowns `λ`
//! belong to the pins only.

use super::{ARM, HOLDS, LARGEST, Linkage, Place, factor, substitute};
use crate::base::math::{DMat3, DVec3};
use crate::rig::Skeleton;

/// Maximum number of steps.
const STEPS: usize = 25;
/// Compliance `ε` of pins, as a fraction of the character's squared size; it regularises contradictory pins.
const COMPLIANCE: f64 = 1e-11;
/// The iteration ends only after a step below this size, in radians or as a fraction of the character's size.
const DONE: f64 = 1e-6;

impl Linkage {
    /// Makes the pins hold exactly by small changes of the degrees of freedom. The pins must nearly hold before the
    /// call.
    pub(super) fn repair(&mut self, skeleton: &Skeleton, places: &[Place]) {
        self.reference.copy_from_slice(&self.now);
        self.moved.fill(DVec3::ZERO);
        for _ in 0..STEPS {
            let largest = if self.limits.is_empty() {
                self.gauss(skeleton, places)
            } else {
                self.gauss_limited(skeleton, places)
            };
            if largest.is_nan() || largest < DONE && self.lost(places) < HOLDS {
                break;
            }
        }
    }

    /// Takes one Gauss-Newton step and returns its largest rotation.
    fn gauss(&mut self, skeleton: &Skeleton, places: &[Place]) -> f64 {
        self.set_levers(skeleton);
        if !self.set_step(places) {
            return f64::NAN;
        }
        let largest = self.largest();
        if !largest.is_finite() {
            return f64::NAN;
        }
        self.remember();
        self.go(skeleton, (LARGEST / largest).min(1.0));
        largest
    }

    /// Computes a Gauss-Newton step; returns false on failure.
    pub(super) fn set_step(&mut self, places: &[Place]) -> bool {
        let arm = ARM * self.size;
        let pins = self.asks.iter().filter(|a| a.pin).count();
        let count = 6 * pins;
        let of = |asks: &[super::Ask]| -> usize { asks.iter().filter(|a| a.pin).count() };
        for (a, (ask, wanted)) in self.asks.iter().zip(places).enumerate().filter(|(_, (ask, _))| ask.pin) {
            let row = 6 * of(&self.asks[..a]);
            let [place, turn] = self.left(ask, wanted);
            let (mut place, mut turn) = (place, turn * arm);
            for lever in &self.levers[a] {
                let v = self.let_through(lever.freedom, self.moved[lever.freedom]);
                place += lever.place * v;
                turn += lever.turn * v * arm;
            }
            self.right[row..row + 3].copy_from_slice(&place.to_array());
            self.right[row + 3..row + 6].copy_from_slice(&turn.to_array());
            for b in (0..=a).filter(|b| self.asks[*b].pin) {
                let column = 6 * of(&self.asks[..b]);

                let blocks = self.blocks(a, b, arm);
                for (i, j, block) in blocks {
                    for r in 0..3 {
                        for c in 0..3 {
                            self.matrix[(row + i + r) * count + column + j + c] = block.col(c)[r];
                        }
                    }
                }
            }
            let give = COMPLIANCE * self.size * self.size;
            (row..row + 6).for_each(|d| self.matrix[d * count + d] += give);
        }
        if !factor(&mut self.matrix[..count * count], count) {
            return false;
        }
        substitute(&self.matrix[..count * count], &mut self.right[..count], count);
        for k in 0..self.step.len() {
            self.step[k] = -self.let_through(k, self.moved[k]);
        }
        for (a, levers) in self.levers.iter().enumerate().filter(|(a, _)| self.asks[*a].pin) {
            let row = 6 * of(&self.asks[..a]);
            let place = DVec3::from_slice(&self.right[row..row + 3]);
            let turn = DVec3::from_slice(&self.right[row + 3..row + 6]) * arm;
            for lever in levers {
                let pulled = lever.place.transpose() * place + lever.turn.transpose() * turn;
                let pulled = self.let_through(lever.freedom, pulled);
                self.step[lever.freedom] += pulled * self.freedoms[lever.freedom].ease;
            }
        }
        true
    }

    /// Returns the position and rotation blocks of `J W⁻¹ Jᵀ` for two points.
    fn blocks(&self, a: usize, b: usize, arm: f64) -> [(usize, usize, DMat3); 4] {
        let [mut xx, mut xt, mut tx, mut tt] = [DMat3::ZERO; 4];
        let mut rest = self.levers[b].iter().peekable();
        for lever in &self.levers[a] {
            while rest.next_if(|o| o.freedom < lever.freedom).is_some() {}
            let Some(other) = rest.next_if(|o| o.freedom == lever.freedom) else { continue };
            let ease = self.freedoms[lever.freedom].ease;
            let (mut x, mut t) = (other.place.transpose() * ease, other.turn.transpose() * (ease * arm));
            if let Some(free) = self.free.get(lever.freedom) {
                (x, t) = (*free * x, *free * t);
            }
            xx += lever.place * x;
            xt += lever.place * t;
            tx += lever.turn * x * arm;
            tt += lever.turn * t * arm;
        }
        [(0, 0, xx), (0, 3, xt), (3, 0, tx), (3, 3, tt)]
    }
}
