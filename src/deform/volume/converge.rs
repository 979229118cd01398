//! The minimum of the volume's energy in f64: the gold standard of the deformer.
//!
//! L-BFGS finds the positions of all nodes that are not held (Liu, Nocedal, *On the Limited Memory BFGS Method for
//! Large Scale Optimization*, 1989). The initial Hessian of L-BFGS is the Laplacian of the cubes' edges, which the code
//! factors once. The rotations come from eigenvectors ([`fit_rotation`]), not from the iteration of [`super::solve`],
//! so that both solvers are independent. They share only the cubes.

use super::gold::Minimum;
use super::levels::{Level, NEAR};
use super::schedule::Stiffness;
use super::tissue::Tissue;
use crate::base::Result;
use crate::base::math::{DMat3, DQuat, DVec3, Vec3};
use crate::geom::{Cholesky, Entry, fit_rotation};
use rayon::prelude::*;
use std::collections::VecDeque;

/// Steps that L-BFGS remembers.
const MEMORY: usize = 12;
/// Maximum number of times that a step is halved if it does not lower the energy enough.
const HALVINGS: usize = 30;
/// Steps of the search in [`to_unit_volume`].
const VOLUME_STEPS: usize = 20;
/// Smallest squared gradient of the determinant by which [`to_unit_volume`] divides. A rotation has 3.
const FLATTEST: f64 = 0.1;
/// Fraction of the predicted decrease of the energy that a step must reach (Armijo condition).
const ENOUGH: f64 = 1e-4;

/// The minimiser for one character. One factored matrix serves all poses.
pub struct Flesh {
    tissue: Tissue,
    lambda: f64,
    /// Per node: stiffness of the spring that pulls it to its start position.
    spring: Vec<f64>,
    /// Row of each node in the linear system; `None` if the node is held.
    row: Vec<Option<usize>>,
    factor: Cholesky,
}

/// Returns the shortest change that gives a deformation the determinant 1.
pub(super) fn to_unit_volume(deformation: DMat3) -> DMat3 {
    let dot = |a: &DMat3, b: &DMat3| a.x_axis.dot(b.x_axis) + a.y_axis.dot(b.y_axis) + a.z_axis.dot(b.z_axis);
    let mut change = DMat3::ZERO;
    for _ in 0..VOLUME_STEPS {
        let t = deformation + change;
        let [x, y, z] = [t.x_axis, t.y_axis, t.z_axis];
        let gradient = DMat3::from_cols(y.cross(z), z.cross(x), x.cross(y));
        let missing = dot(&gradient, &change) + 1.0 - t.determinant();
        change = gradient * (missing / dot(&gradient, &gradient).max(FLATTEST));
    }
    change
}

impl Flesh {
    /// Factors the Laplacian; `None` without cubes.
    ///
    /// # Errors
    /// [`crate::base::Error::Input`] if memory is short.
    pub fn new(tissue: &Tissue, stiffness: Stiffness) -> Result<Option<Self>> {
        let (Some(level), Some(own)) = (tissue.cells.levels.first(), tissue.levels.first()) else {
            return Ok(None);
        };
        let mut row: Vec<Option<usize>> =
            own.nodes.iter().map(|n| if n.cubes > 0.0 { Some(0) } else { None }).collect();
        row.iter_mut().flatten().enumerate().for_each(|(i, row)| *row = i);
        let free = row.iter().flatten().count();
        let lambda = f64::from(stiffness.lambda);
        let spring: Vec<f64> = own.nodes.iter().map(|n| f64::from(stiffness.spring(n))).collect();
        // The weight of an edge combines the shear modulus, which resists every change of shape, with the mean of the λ
        // term over all directions, a third of λ.
        let edge = 0.5 * (1.0 + lambda / 6.0);
        let mut lower = Vec::with_capacity(36 * level.cells.len());
        for (cell, factor) in level.cells.iter().zip(&own.weight) {
            let weight = edge * f64::from(*factor);
            for (k, near) in NEAR.iter().enumerate() {
                for &n in near {
                    let rows = [cell[n], cell[n + (1 << k)]].map(|n| row[n as usize]);
                    rows.iter().flatten().for_each(|&r| lower.push(Entry::new(r, r, weight)));
                    if let [Some(a), Some(b)] = rows {
                        lower.push(Entry::new(a.max(b), a.min(b), -weight));
                    }
                }
            }
        }
        for (n, r) in row.iter().enumerate() {
            if let Some(r) = r {
                lower.push(Entry::new(*r, *r, spring[n]));
            }
        }
        let factor =
            Cholesky::new(free, &lower, "the volume's matrix", "fill the character with fewer cubes")?;
        Ok(Some(Self { tissue: tissue.clone(), lambda, spring, row, factor }))
    }

    fn level(&self) -> &Level {
        &self.tissue.cells.levels[0]
    }

    /// Returns the energy divided by `μ h`, including the springs. Writes the gradient at the nodes to `gradient`; the
    /// gradient is zero at held nodes.
    fn energy(&self, x: &[DVec3], start: &[DVec3], gradient: &mut [DVec3]) -> f64 {
        let h = f64::from(self.level().size);
        let of = |(cell, factor): (&[u32; 8], &f32)| {
            let x = cell.map(|n| x[n as usize]);
            let edge = |k: usize, near: usize| x[near + (1 << k)] - x[near];
            let mean: [DVec3; 3] =
                std::array::from_fn(|k| NEAR[k].iter().map(|&n| edge(k, n)).sum::<DVec3>() * 0.25);
            let columns = DMat3::from_cols(mean[0], mean[1], mean[2]);
            let r = DMat3::from_quat(fit_rotation(columns.transpose(), DQuat::IDENTITY));
            let r = [r.x_axis, r.y_axis, r.z_axis];
            let change = to_unit_volume(columns * (1.0 / h));
            let change = [change.x_axis, change.y_axis, change.z_axis].map(|d| d * h);
            let mut force = [DVec3::ZERO; 8];
            let mut sum = 1.5 * self.lambda * change.iter().map(|d| d.length_squared()).sum::<f64>();
            for k in 0..3 {
                for near in NEAR[k] {
                    let off = edge(k, near) - r[k] * h;
                    sum += 0.25 * off.length_squared();
                    let pull = off * 0.5 - change[k] * (0.75 * self.lambda);
                    force[near] -= pull;
                    force[near + (1 << k)] += pull;
                }
            }
            let factor = f64::from(*factor);
            (sum * factor, force.map(|f| f * factor))
        };
        let cells: Vec<(f64, [DVec3; 8])> =
            self.level().cells.par_iter().zip(&self.tissue.levels[0].weight).map(of).collect();
        gradient.fill(DVec3::ZERO);
        let mut sum = 0.0;
        for (cell, (energy, force)) in self.level().cells.iter().zip(&cells) {
            sum += energy;
            cell.iter().zip(force).for_each(|(&n, f)| gradient[n as usize] += *f);
        }
        for (n, gradient) in gradient.iter_mut().enumerate() {
            if self.row[n].is_none() {
                *gradient = DVec3::ZERO;
            } else if self.spring[n] > 0.0 {
                let off = x[n] - start[n];
                sum += 0.5 * self.spring[n] * off.length_squared();
                *gradient += off * self.spring[n];
            }
        }
        sum
    }

    /// Multiplies the gradient by the inverse of the initial Hessian.
    fn precondition(&self, gradient: &[DVec3]) -> Vec<DVec3> {
        let mut right: Vec<DVec3> =
            gradient.iter().zip(&self.row).filter(|g| g.1.is_some()).map(|g| *g.0).collect();
        self.factor.solve_vectors(&mut right);
        self.row.iter().map(|row| row.map_or(DVec3::ZERO, |r| right[r])).collect()
    }

    /// Minimises the energy, starting from `x`. Stops after `most` steps, or when a step lowers the energy by less than
    /// `tolerance` times the energy. The springs pull the nodes to `start`. The returned energy is divided by `μ h³`.
    ///
    /// # Panics
    /// If the number of positions differs from the number of nodes.
    pub fn minimise(&self, x: &mut [Vec3], start: &[Vec3], tolerance: f64, most: usize) -> Minimum {
        let wide = |x: &[Vec3]| x.iter().map(|x| x.as_dvec3()).collect::<Vec<_>>();
        let (mut at, start) = (wide(x), wide(start));
        let dot = |a: &[DVec3], b: &[DVec3]| a.iter().zip(b).map(|(a, b)| a.dot(*b)).sum::<f64>();
        let mut gradient = vec![DVec3::ZERO; at.len()];
        let mut next = gradient.clone();
        let mut energy = self.energy(&at, &start, &mut gradient);
        let mut memory: VecDeque<(Vec<DVec3>, Vec<DVec3>, f64)> = VecDeque::new();
        let mut out = Minimum { energy, steps: 0, converged: false };
        while out.steps < most && !out.converged {
            let mut q = gradient.clone();
            let mut factors = Vec::new();
            for (s, y, sy) in memory.iter().rev() {
                let a = dot(s, &q) / sy;
                q.iter_mut().zip(y).for_each(|(q, y)| *q -= *y * a);
                factors.push(a);
            }
            let mut direction = self.precondition(&q);
            for ((s, y, sy), a) in memory.iter().zip(factors.iter().rev()) {
                let b = dot(y, &direction) / sy;
                direction.iter_mut().zip(s).for_each(|(d, s)| *d += *s * (a - b));
            }
            let slope = -dot(&direction, &gradient);
            let mut step = 1.0;
            let mut found = None;
            for _ in 0..HALVINGS {
                let moved: Vec<DVec3> = at.iter().zip(&direction).map(|(x, d)| *x - *d * step).collect();
                let there = self.energy(&moved, &start, &mut next);
                if there <= energy + ENOUGH * step * slope {
                    found = Some((moved, there));
                    break;
                }
                step *= 0.5;
            }
            let Some((moved, there)) = found else {
                out.converged = true;
                break;
            };
            let s: Vec<DVec3> = moved.iter().zip(&at).map(|(a, b)| *a - *b).collect();
            let y: Vec<DVec3> = next.iter().zip(&gradient).map(|(a, b)| *a - *b).collect();
            let sy = dot(&s, &y);
            if sy > 1e-12 * dot(&y, &y).sqrt() * dot(&s, &s).sqrt() {
                memory.push_back((s, y, sy));
                if memory.len() > MEMORY {
                    memory.pop_front();
                }
            }
            out.converged = energy - there <= tolerance * there;
            (at, energy) = (moved, there);
            std::mem::swap(&mut gradient, &mut next);
            out.steps += 1;
        }
        x.iter_mut().zip(&at).for_each(|(x, at)| *x = at.as_vec3());
        out.energy = energy / f64::from(self.level().size).powi(2);
        out
    }
}
