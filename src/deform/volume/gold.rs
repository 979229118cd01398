//! The gold standard: an as-rigid-as-possible energy of a volume, minimised to convergence in f64. Tests and
//! measurements compare deformers with this minimum.
//!
//! Energy A: cubes, one rotation per cube and a unit weight per edge of a cube (Chao, Pinkall, Sanan, Schröder, *A Simple
//! Geometric Model for Elastic Deformations*, 2010). Energy B: tetrahedra, `½ Σ vol |F - R|²`
//! ([`super::tets`]). Both have the form
//!
//! `E = ½ Σ_e Σ_ij w_ij |(x'_i - x'_j) - R_e (x_i - x_j)|²`
//!
//! over the pairs of nodes of each element `e`. For a tetrahedron with shape gradients `g`, `w_ij = -vol g_i · g_j`, since
//! the gradients of an element sum to zero.
//!
//! The local step fits each element's rotation; the global step solves one linear system, factored once per set of held
//! nodes. Neither step can raise the energy. [`Gold::minimise`] alternates both steps; [`super::settle`] also
//! extrapolates them, and so needs fewer steps.

use crate::base::math::{DMat3, DQuat, DVec3};
use crate::base::{Error, Result};
use crate::geom::{CUBE_EDGES, Cholesky, Entry, apart, fit_rotation, root, unite};
use rayon::prelude::*;

/// Edges of a tetrahedron as pairs of corners.
const TETRAHEDRON: [[usize; 2]; 6] = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]];

/// Number of groups of elements that are summed separately. The number is fixed, so that sums are bitwise equal on
/// every machine.
const PARTS: usize = 8;

/// A volume made of elements that prefer to move rigidly.
#[derive(Clone, Debug)]
pub struct Elements {
    /// Nodes at rest.
    rest: Vec<DVec3>,
    pairs: Vec<Pair>,
    /// Number of node pairs per element; equal for all elements.
    per_element: usize,
}

/// Two nodes of an element, with the weight of the vector between them in the energy.
#[derive(Clone, Copy, Debug)]
struct Pair {
    nodes: [u32; 2],
    weight: f64,
}

impl Elements {
    /// Creates cubes with energy A. Energies are in squared units of the positions. To compare grids, divide energies
    /// by the squared edge length of a cube.
    ///
    /// # Errors
    /// [`Error::Input`] for a corner beyond the nodes.
    pub fn cubes(rest: &[DVec3], cells: &[[u32; 8]]) -> Result<Self> {
        check(rest.len(), cells.iter().flatten())?;
        let pair = |cell: &[u32; 8], [i, j]: [usize; 2]| Pair { nodes: [cell[i], cell[j]], weight: 1.0 };
        let pairs = cells.iter().flat_map(|cell| CUBE_EDGES.map(|edge| pair(cell, edge))).collect();
        Ok(Self { rest: rest.to_vec(), pairs, per_element: CUBE_EDGES.len() })
    }

    /// Tetrahedra with energy B.
    ///
    /// # Errors
    /// [`Error::Input`] for a corner beyond the nodes, or a tetrahedron without volume.
    pub fn tetrahedra(rest: &[DVec3], cells: &[[u32; 4]]) -> Result<Self> {
        check(rest.len(), cells.iter().flatten())?;
        let mut pairs = Vec::with_capacity(cells.len() * TETRAHEDRON.len());
        for (number, cell) in cells.iter().enumerate() {
            let x = cell.map(|n| rest[n as usize]);
            let edges = DMat3::from_cols(x[1] - x[0], x[2] - x[0], x[3] - x[0]);
            let volume = edges.determinant().abs() / 6.0;
            let inverse = edges.inverse().transpose();
            if !(volume > 0.0 && inverse.is_finite()) {
                let problem = format!("tetrahedron {number} has no volume");
                return Err(Error::input(problem, "remove it from the mesh"));
            }
            let [b, c, d] = [inverse.x_axis, inverse.y_axis, inverse.z_axis];
            let gradient = [-(b + c + d), b, c, d];
            pairs.extend(TETRAHEDRON.map(|[i, j]| Pair {
                nodes: [cell[i], cell[j]],
                weight: -volume * gradient[i].dot(gradient[j]),
            }));
        }
        Ok(Self { rest: rest.to_vec(), pairs, per_element: TETRAHEDRON.len() })
    }

    /// Returns the volume with other stiffnesses: a factor per element.
    ///
    /// # Panics
    /// Unless there is one factor per element.
    #[must_use]
    pub fn stiffened(mut self, factors: impl ExactSizeIterator<Item = f64>) -> Self {
        assert_eq!(factors.len() * self.per_element, self.pairs.len(), "one factor per element");
        for (pairs, factor) in self.pairs.chunks_mut(self.per_element).zip(factors) {
            pairs.iter_mut().for_each(|pair| pair.weight *= factor);
        }
        self
    }

    /// Returns the energy of a shape with the optimal rotation of every element.
    ///
    /// # Panics
    /// Unless there is one position per node.
    pub fn energy(&self, x: &[DVec3]) -> f64 {
        let mut rotations = vec![DQuat::IDENTITY; self.pairs.len() / self.per_element];
        self.rotate(x, &mut rotations, fit_rotation);
        self.energy_with(x, &rotations)
    }

    /// Runs the local step. `fit` computes an element's new rotation from two arguments: the transpose of `Σ w posed
    /// restᵀ`, and the element's current rotation.
    fn rotate(&self, x: &[DVec3], rotations: &mut [DQuat], fit: impl Fn(DMat3, DQuat) -> DQuat + Sync) {
        let elements = self.pairs.par_chunks(self.per_element).zip(rotations);
        elements.for_each(|(pairs, rotation)| {
            let covariance = pairs.iter().fold(DMat3::ZERO, |sum, pair| {
                let (rest, posed) = (self.along(&self.rest, pair), self.along(x, pair));
                sum + DMat3::from_cols(posed.x * rest, posed.y * rest, posed.z * rest) * pair.weight
            });
            *rotation = fit(covariance, *rotation);
        });
    }

    fn energy_with(&self, x: &[DVec3], rotations: &[DQuat]) -> f64 {
        let of = |pair: &Pair, r: &DMat3| {
            let off = self.along(x, pair) - *r * self.along(&self.rest, pair);
            0.5 * pair.weight * off.length_squared()
        };
        let part = |(pairs, rotations): (&[Pair], &[DQuat])| {
            let elements = pairs.chunks(self.per_element).zip(rotations);
            let energy = |(pairs, rotation): (&[Pair], &DQuat)| {
                let r = DMat3::from_quat(*rotation);
                pairs.iter().map(|pair| of(pair, &r)).sum::<f64>()
            };
            elements.map(energy).sum::<f64>()
        };
        self.parts(rotations).map(part).collect::<Vec<_>>().into_iter().sum()
    }

    /// The elements with their rotations, in [`PARTS`] parts.
    fn parts<'a>(
        &'a self,
        rotations: &'a [DQuat],
    ) -> impl IndexedParallelIterator<Item = (&'a [Pair], &'a [DQuat])> {
        let count = rotations.len().div_ceil(PARTS).max(1);
        self.pairs.par_chunks(count * self.per_element).zip(rotations.par_chunks(count))
    }

    /// The vector between a pair's nodes.
    fn along(&self, x: &[DVec3], pair: &Pair) -> DVec3 {
        x[pair.nodes[0] as usize] - x[pair.nodes[1] as usize]
    }
}

fn check<'a>(nodes: usize, mut corners: impl Iterator<Item = &'a u32>) -> Result<()> {
    match corners.find(|&&n| n as usize >= nodes) {
        None => Ok(()),
        Some(n) => {
            let problem = format!("an element has node {n}, the volume {nodes} nodes");
            Err(Error::input(problem, "make the elements again from this volume"))
        }
    }
}

/// The minimiser of a volume's energy for one set of held nodes.
pub struct Gold {
    elements: Elements,
    /// Row of each node in the linear system; `None` if the node is held.
    row: Vec<Option<usize>>,
    /// Rotation of each element.
    pub(super) rotations: Vec<DQuat>,
    factor: Cholesky,
    right: Vec<DVec3>,
}

/// The result of [`Gold::minimise`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Minimum {
    /// The energy of the shape.
    pub energy: f64,
    /// Steps that were made.
    pub steps: usize,
    /// Whether the last step lowered the energy by less than the tolerance.
    pub converged: bool,
}

impl Gold {
    /// Factors the system of all nodes that are not held.
    ///
    /// # Errors
    /// [`Error::Input`] if a held node does not exist, or some part of the volume has no held node.
    pub fn new(elements: Elements, held: &[u32]) -> Result<Self> {
        let count = elements.rest.len();
        check(count, held.iter())?;
        let mut row = vec![Some(0); count];
        held.iter().for_each(|&n| row[n as usize] = None);
        row.iter_mut().flatten().enumerate().for_each(|(index, row)| *row = index);
        let mut part = apart(count);
        elements.pairs.iter().for_each(|pair| unite(&mut part, pair.nodes[0], pair.nodes[1]));
        let mut known = vec![false; count];
        held.iter().for_each(|&n| known[root(&mut part, n) as usize] = true);
        if let Some(n) = (0..count as u32).find(|&n| !known[root(&mut part, n) as usize]) {
            let problem = format!("the part of the volume with node {n} has no held node");
            return Err(Error::input(problem, "hold at least one node of each part"));
        }
        let free = row.iter().flatten().count();
        let mut lower = Vec::with_capacity(3 * elements.pairs.len());
        for Pair { nodes, weight } in &elements.pairs {
            let rows = nodes.map(|n| row[n as usize]);
            lower.extend(rows.iter().flatten().map(|&r| Entry::new(r, r, *weight)));
            if let [Some(a), Some(b)] = rows {
                lower.push(Entry::new(a.max(b), a.min(b), -weight));
            }
        }
        let factor = Cholesky::new(free, &lower, "the volume's matrix", "repair its flat elements")?;
        let rotations = vec![DQuat::IDENTITY; elements.pairs.len() / elements.per_element];
        Ok(Self { elements, row, rotations, factor, right: vec![DVec3::ZERO; free] })
    }

    /// The volume.
    pub fn elements(&self) -> &Elements {
        &self.elements
    }

    /// Runs one local and one global step. `x` has a position per node; held nodes do not move. Returns the energy
    /// before the step.
    ///
    /// # Panics
    /// Unless there is one position per node.
    pub fn step(&mut self, x: &mut [DVec3]) -> f64 {
        let before = self.rotate(x, fit_rotation);
        self.place(x);
        before
    }

    /// The local step; returns the energy.
    pub(super) fn rotate(&mut self, x: &[DVec3], fit: impl Fn(DMat3, DQuat) -> DQuat + Sync) -> f64 {
        self.elements.rotate(x, &mut self.rotations, fit);
        self.elements.energy_with(x, &self.rotations)
    }

    /// The global step: moves the nodes that are not held to the minimum for the present rotations.
    pub(super) fn place(&mut self, x: &mut [DVec3]) {
        let (elements, row, free) = (&self.elements, &self.row, self.right.len());
        let part = |(pairs, rotations): (&[Pair], &[DQuat])| {
            let mut right = vec![DVec3::ZERO; free];
            for (pairs, rotation) in pairs.chunks(elements.per_element).zip(rotations) {
                let r = DMat3::from_quat(*rotation);
                for pair in pairs {
                    let wanted = r * elements.along(&elements.rest, pair) * pair.weight;
                    let [a, b] = pair.nodes.map(|n| n as usize);
                    for (own, other, wanted) in [(a, b, wanted), (b, a, -wanted)] {
                        let Some(own) = row[own] else { continue };
                        right[own] += wanted;
                        if row[other].is_none() {
                            right[own] += x[other] * pair.weight;
                        }
                    }
                }
            }
            right
        };
        let parts: Vec<_> = elements.parts(&self.rotations).map(part).collect();
        self.right.fill(DVec3::ZERO);
        for part in parts {
            self.right.iter_mut().zip(part).for_each(|(sum, part)| *sum += part);
        }
        self.factor.solve_vectors(&mut self.right);
        for (x, row) in x.iter_mut().zip(&self.row) {
            if let Some(row) = row {
                *x = self.right[*row];
            }
        }
    }

    /// Runs steps from `x` until a step lowers the energy by less than `tolerance` times the energy, but at most `most`
    /// steps.
    ///
    /// # Panics
    /// Unless there is one position per node.
    pub fn minimise(&mut self, x: &mut [DVec3], tolerance: f64, most: usize) -> Minimum {
        let mut last = f64::INFINITY;
        for steps in 0..most {
            let energy = self.step(x);
            if last - energy <= tolerance * energy {
                return Minimum { energy, steps, converged: true };
            }
            last = energy;
        }
        Minimum { energy: self.elements.energy(x), steps: most, converged: false }
    }
}

#[cfg(test)]
mod tests;
