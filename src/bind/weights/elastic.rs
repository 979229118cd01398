//! Energy-minimising weights: how far a joint's rotation spreads into the flesh around the joint.
//!
//! L. Kavan, O. Sorkine, *Elasticity-Inspired Deformers for Character Articulation*, 2012, section 3.2. The flesh is a
//! grid of cubes. The joint and its descendants rotate by a few sample rotations `S` about the joint. A node at `x`
//! moves to `x + w (S x - x)`. The weights `w` minimise the elastic energy of the cubes (Chao, Pinkall, Sanan, Schröder,
//! 2010, with one rotation `R` per cube), summed over the samples (equation 3):
//!
//! `E(w) = ½ Σ_samples Σ_cubes Σ_edges |(x_a + w_a c_a) - (x_b + w_b c_b) - R (x_a - x_b)|²`, with `c = S x - x`.
//!
//! The local step fits the rotations. The global step solves a linear system for `w`. The matrix of that system is
//! constant and factored once. Neither step can raise the energy. No inequality constrains the weights.
//!
//! **Differs** from the paper: the weights of the fixed side are one minus those of the rotating side, so one weight
//! per node suffices. The minimisation starts from harmonic weights. Nodes whose harmonic weight is almost 0 or 1 get
//! exactly 0 or 1, which changes no weight by more than 0.001. So the cost of a joint does not grow with the size of
//! the body.

use crate::base::Result;
use crate::base::math::{DMat3, DQuat, DVec3};
use crate::geom::{CUBE_EDGES, Cholesky, Columns, Cubes, Entry, nearest_rotation};

/// Number of local and global steps.
pub const STEPS: usize = 12;
/// Nodes with a harmonic weight within this distance of 0 or 1 are not solved for, except in cubes with other free
/// nodes.
const SPREAD: f64 = 3e-3;
/// A node that no sample moves by more than the square root of this, in edge lengths of a cube, has no effect on the
/// energy. It gets the mean weight of its neighbours.
const STILL: f64 = 1e-6;

/// A joint in the flesh.
pub struct Hinge<'a> {
    /// The cubes of the flesh.
    pub cubes: &'a Cubes,
    /// Per node: `Some(true)` for nodes fixed to bones that rotate with the joint, `Some(false)` for nodes fixed to
    /// other bones, `None` for free nodes.
    pub side: &'a [Option<bool>],
    /// Weights to start from, between 0 and 1. Nodes fixed to rotating bones have 1, nodes fixed to other bones 0.
    pub start: &'a [f64],
    /// Position of the joint, in the space of the nodes.
    pub pivot: DVec3,
}

/// The result of a minimisation.
#[derive(Clone, Debug, Default)]
pub struct Minimum {
    /// Weight of each node.
    pub weights: Vec<f64>,
    /// Elastic energy before each step and after the last step, in squared edge lengths of a cube.
    pub energies: Vec<f64>,
}

/// Sample rotations of swing: a quarter turn both ways about two axes across the unit vector `bone`.
pub fn swing_samples(bone: DVec3) -> Vec<DQuat> {
    let frame = DQuat::from_rotation_arc(DVec3::Z, bone);
    [DVec3::X, DVec3::Y].iter().flat_map(|&across| quarter_turns(frame * across)).collect()
}

/// Sample rotations of twist: a quarter turn both ways about the unit vector `bone`.
pub fn twist_samples(bone: DVec3) -> Vec<DQuat> {
    quarter_turns(bone).to_vec()
}

fn quarter_turns(axis: DVec3) -> [DQuat; 2] {
    [-1.0, 1.0].map(|sign| DQuat::from_axis_angle(axis, sign * std::f64::consts::FRAC_PI_2))
}

impl Hinge<'_> {
    /// Returns the weights that minimise the energy over the samples.
    ///
    /// # Errors
    /// [`crate::base::Error::Input`] if the linear system cannot be factored.
    pub fn minimise(&self, samples: &[DQuat], steps: usize) -> Result<Minimum> {
        let mut solve = Solve::new(self, samples)?;
        let mut energies = vec![solve.local_step()];
        for _ in 0..steps {
            solve.global_step();
            energies.push(solve.local_step());
        }
        solve.fill_still();
        Ok(Minimum { weights: solve.weights, energies })
    }

    /// Returns, per node, whether the weight is solved for. That is the case for free nodes whose harmonic weight is
    /// not almost 0 or 1, and for the other free nodes of their cubes.
    fn unknown(&self) -> Vec<bool> {
        let open =
            |n: usize| self.side[n].is_none() && self.start[n] > SPREAD && self.start[n] < 1.0 - SPREAD;
        let open: Vec<bool> = (0..self.side.len()).map(open).collect();
        let mut out = open.clone();
        for cell in self.cubes.cells.iter().filter(|c| c.iter().any(|&n| open[n as usize])) {
            cell.iter().for_each(|&n| out[n as usize] |= self.side[n as usize].is_none());
        }
        out
    }
}

/// The state of a minimisation.
struct Solve<'a> {
    cubes: &'a Cubes,
    /// Cubes with an unknown node.
    cells: Vec<[u32; 8]>,
    /// Row of each node in the linear system; `None` for nodes with a known weight.
    row: Vec<Option<usize>>,
    /// Per sample: displacement `S x - x` of each node, in edge lengths of a cube.
    moved: Vec<Vec<DVec3>>,
    /// Unknown nodes that no sample moves, in ascending order.
    still: Vec<u32>,
    factor: Cholesky,
    /// The part of the right-hand side that comes from known weights.
    known: Vec<f64>,
    /// Rotation per sample and cube.
    rotations: Vec<DQuat>,
    weights: Vec<f64>,
}

impl<'a> Solve<'a> {
    fn new(hinge: &Hinge<'a>, samples: &[DQuat]) -> Result<Self> {
        let cubes = hinge.cubes;
        let unknown = hinge.unknown();
        let near = |cell: &&[u32; 8]| cell.iter().any(|&n| unknown[n as usize]);
        let cells: Vec<[u32; 8]> = cubes.cells.iter().filter(near).copied().collect();
        let mut touched = vec![false; unknown.len()];
        cells.iter().flatten().for_each(|&n| touched[n as usize] = true);
        let displacement = |s: DQuat, n: usize| {
            let x = (cubes.nodes[n] - hinge.pivot) / cubes.size;
            if touched[n] { s * x - x } else { DVec3::ZERO }
        };
        let moved: Vec<Vec<DVec3>> =
            samples.iter().map(|&s| (0..unknown.len()).map(|n| displacement(s, n)).collect()).collect();
        let (mut row, mut rows, mut still) = (vec![None; unknown.len()], 0, Vec::new());
        for n in (0..unknown.len()).filter(|&n| unknown[n]) {
            if moved.iter().all(|m| m[n].length_squared() < STILL) {
                still.push(n as u32);
            } else {
                row[n] = Some(rows);
                rows += 1;
            }
        }
        let weight = |n: usize| match hinge.side[n] {
            Some(rotates) => f64::from(u8::from(rotates)),
            None if unknown[n] => hinge.start[n],
            None => hinge.start[n].round(),
        };
        let weights: Vec<f64> = (0..row.len()).map(weight).collect();
        let product = |a: usize, b: usize| moved.iter().map(|m| m[a].dot(m[b])).sum::<f64>();
        let (mut lower, mut known) = (Vec::new(), vec![0.0; rows]);
        for (cell, edge) in cells.iter().flat_map(|cell| CUBE_EDGES.map(|edge| (cell, edge))) {
            let [a, b] = edge.map(|k| cell[k] as usize);
            for (own, other) in [(a, b), (b, a)] {
                let Some(r) = row[own] else { continue };
                lower.push(Entry::new(r, r, product(own, own)));
                match row[other] {
                    Some(c) if c < r => lower.push(Entry::new(r, c, -product(own, other))),
                    Some(_) => {}
                    None => known[r] += weights[other] * product(own, other),
                }
            }
        }
        let factor =
            Cholesky::new(rows, &lower, "the matrix of a joint's weights", "move the joint into the body")?;
        let rotations = vec![DQuat::IDENTITY; samples.len() * cells.len()];
        Ok(Self { cubes, cells, row, moved, still, factor, known, rotations, weights })
    }

    /// Returns the rest position of a node, in edge lengths of a cube.
    fn rest(&self, node: u32) -> DVec3 {
        self.cubes.nodes[node as usize] / self.cubes.size
    }

    /// Fits the rotations to the present weights; returns the energy.
    fn local_step(&mut self) -> f64 {
        let mut rotations = std::mem::take(&mut self.rotations);
        let mut energy = 0.0;
        for (moved, rotations) in self.moved.iter().zip(rotations.chunks_mut(self.cells.len().max(1))) {
            for (cell, rotation) in self.cells.iter().zip(rotations) {
                let (mut rest, mut posed) = ([DVec3::ZERO; 8], [DVec3::ZERO; 8]);
                for (k, &n) in cell.iter().enumerate() {
                    rest[k] = self.rest(n);
                    posed[k] = rest[k] + self.weights[n as usize] * moved[n as usize];
                }
                let mut covariance = DMat3::ZERO;
                for [a, b] in CUBE_EDGES {
                    let (rest, posed) = (rest[a] - rest[b], posed[a] - posed[b]);
                    covariance += DMat3::from_cols(posed.x * rest, posed.y * rest, posed.z * rest);
                }
                *rotation = nearest_rotation(covariance, *rotation);
                let r = DMat3::from_quat(*rotation);
                for [a, b] in CUBE_EDGES {
                    energy += 0.5 * (posed[a] - posed[b] - r * (rest[a] - rest[b])).length_squared();
                }
            }
        }
        self.rotations = rotations;
        energy
    }

    /// Solves for the weights that minimise the energy for the present rotations.
    fn global_step(&mut self) {
        let mut right = self.known.clone();
        for (moved, rotations) in self.moved.iter().zip(self.rotations.chunks(self.cells.len().max(1))) {
            for (cell, rotation) in self.cells.iter().zip(rotations) {
                let r = DMat3::from_quat(*rotation);
                for [a, b] in CUBE_EDGES {
                    let rest = self.rest(cell[a]) - self.rest(cell[b]);
                    let wanted = r * rest - rest;
                    for (n, wanted) in [(cell[a], wanted), (cell[b], -wanted)] {
                        if let Some(r) = self.row[n as usize] {
                            right[r] += moved[n as usize].dot(wanted);
                        }
                    }
                }
            }
        }
        let mut x = Columns::from_fn(right.len(), 1, |r, _| right[r]);
        self.factor.solve(&mut x);
        for (w, row) in self.weights.iter_mut().zip(&self.row) {
            if let Some(row) = row {
                *w = x[(*row, 0)];
            }
        }
    }

    /// Gives the nodes that no sample moves the mean weight of their neighbours.
    fn fill_still(&mut self) {
        let mut sums = vec![(0.0, 0u32); self.still.len()];
        for (cell, edge) in self.cells.iter().flat_map(|cell| CUBE_EDGES.map(|edge| (cell, edge))) {
            for [own, other] in [edge, [edge[1], edge[0]]].map(|e| e.map(|k| cell[k])) {
                if let Ok(at) = self.still.binary_search(&own)
                    && self.still.binary_search(&other).is_err()
                {
                    sums[at].0 += self.weights[other as usize];
                    sums[at].1 += 1;
                }
            }
        }
        for (&n, (sum, count)) in self.still.iter().zip(sums).filter(|s| s.1.1 > 0) {
            self.weights[n as usize] = sum / f64::from(count);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::quasi_harmonic::quasi_harmonic_weights;
    use super::super::testing::{block, grid};
    use super::*;

    /// A bar along x with a joint in its middle; the second half of its core rotates.
    fn bent_bar() -> (Cubes, Vec<Option<bool>>, Vec<f64>, DVec3) {
        let cubes = grid(1.0, block([16, 4, 4]));
        let core = |x: &DVec3| (x.y - 2.0).abs() < 0.5 && (x.z - 2.0).abs() < 0.5 && x.x != 8.0;
        let side: Vec<Option<bool>> = cubes.nodes.iter().map(|x| core(x).then_some(x.x > 8.0)).collect();
        let start = harmonic(&cubes, &side);
        (cubes, side, start, DVec3::new(8.0, 2.0, 2.0))
    }

    fn harmonic(cubes: &Cubes, side: &[Option<bool>]) -> Vec<f64> {
        let bone = |rotates: bool| -> Vec<u32> {
            (0..side.len() as u32).filter(|&n| side[n as usize] == Some(rotates)).collect()
        };
        let handles = [bone(true), bone(false)];
        quasi_harmonic_weights(cubes, &handles, 0, &|_| true).unwrap().unwrap().swap_remove(0)
    }

    #[test]
    fn the_energy_falls_at_every_step_and_mirrored_sides_sum_to_one() {
        let (cubes, side, start, pivot) = bent_bar();
        let hinge = Hinge { cubes: &cubes, side: &side, start: &start, pivot };
        for samples in [swing_samples(DVec3::X), twist_samples(DVec3::X)] {
            let minimum = hinge.minimise(&samples, 8).unwrap();
            let falls = minimum.energies.windows(2).all(|e| e[1] <= e[0] * (1.0 + 1e-12));
            assert!(falls && minimum.energies[8] < 0.98 * minimum.energies[0], "{:?}", minimum.energies);
            for (n, x) in cubes.nodes.iter().enumerate() {
                let opposite = DVec3::new(16.0 - x.x, x.y, x.z);
                let m = cubes.nodes.iter().position(|y| *y == opposite).unwrap();
                let sum = minimum.weights[n] + minimum.weights[m];
                assert!((sum - 1.0).abs() < 1e-6, "{x}: {sum}");
                assert!((-0.01..=1.01).contains(&minimum.weights[n]), "{x}: {}", minimum.weights[n]);
                assert!(side[n].is_none_or(|s| minimum.weights[n] == f64::from(u8::from(s))));
            }
        }
    }

    #[test]
    fn the_known_cylinder_is_reproduced() {
        let Some(known) = super::super::known::cylinder() else { return };
        let start = harmonic(&known.cubes, &known.side);
        let hinge = Hinge { cubes: &known.cubes, side: &known.side, start: &start, pivot: DVec3::ZERO };
        let cases = [
            (swing_samples(DVec3::Z), &known.swing, 826.03),
            (twist_samples(DVec3::Z), &known.twist, 430.11),
        ];
        for (samples, weights, energy) in cases {
            let minimum = hinge.minimise(&samples, STEPS).unwrap();
            let last = minimum.energies[STEPS];
            assert!((last / energy - 1.0).abs() < 1e-4, "{last}");
            for (n, x) in known.cubes.nodes.iter().enumerate().filter(|(_, x)| **x != DVec3::ZERO) {
                let off = (minimum.weights[n] - weights[n]).abs();
                assert!(off < 1e-3, "{x}: {} {}", minimum.weights[n], weights[n]);
            }
        }
    }
}
