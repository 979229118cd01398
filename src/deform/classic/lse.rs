//! Laplacian surface editing of a region (thesis 2.2.2, eq. 3-4).
//!
//! The method preserves the differential coordinates `δ_i = x_i - mean of its neighbours` up to a transform of each
//! cell, `T_i = s I + [h]× + t`. The transform is linear in the unknown positions: it is the least-squares fit of eq.
//! 4, substituted into the energy (Sorkine et al. 2004). The method therefore finds small rotations and scales
//! directly, but large rotations only approximately. Each refinement round fits an exact rotation and scale of each
//! cell to the last result. It then solves again with these transforms ("incorporate both V and V'" in the paper).

mod transform;

use super::Lists;
use super::factored;
use super::patch::Patch;
use crate::base::math::{DMat3, DVec3, Vec3};
use crate::base::{Error, Result};
use crate::geom::{Adjacency, Cholesky, Entry};
use transform::Frame;

/// Weight of the pull towards the given positions, relative to the mean diagonal of the matrix. The pull fixes what
/// the held vertices leave undetermined, such as rotations about a single held vertex. Elsewhere it has no effect.
const PULL: f64 = 1e-13;

/// Limit on pairs of vertices in a common cell. Only extreme meshes exceed it, such as a fan of 10 000 triangles.
const MAX_PAIRS: usize = 20_000_000;

/// Settings of the LSE solver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LseOptions {
    /// Refinement rounds after eq. 4, default 1. With 0, large rotations stay distorted; with a dozen they are exact.
    pub rounds: u32,
}

impl Default for LseOptions {
    fn default() -> Self {
        Self { rounds: 1 }
    }
}

/// A region of a mesh with a rest shape and factored matrices.
pub struct Lse {
    patch: Patch,
    options: LseOptions,
    ring: Adjacency,
    frames: Vec<Frame>,
    /// Cholesky factor of the matrix of eq. 4, three rows per unknown.
    implicit: Cholesky,
    /// Cholesky factor of the plain Laplacian, one row per unknown; `None` without refinement rounds.
    plain: Option<Cholesky>,
    pull: [f64; 2],
    x: Vec<DVec3>,
}

/// Returns the vertices of a cell: vertex `i` and its neighbours.
fn cell(ring: &Adjacency, i: usize) -> impl Iterator<Item = u32> + '_ {
    std::iter::once(i as u32).chain(ring.of(i).iter().copied())
}

impl Lse {
    /// Factorises the matrices of a region. `rest` has a position for every vertex of the mesh, metres; the solver
    /// preserves the details of this shape. `triangles` has all triangles of the mesh.
    ///
    /// # Errors
    /// Same as [`super::Arap::new`]; also if a single vertex has thousands of neighbours.
    pub fn new(
        rest: &[Vec3],
        triangles: &[[u32; 3]],
        lists: &Lists<'_>,
        options: LseOptions,
    ) -> Result<Self> {
        let patch = Patch::new(rest, triangles, lists)?;
        let ring = Adjacency::of_triangles(patch.vertex.len(), &patch.triangles);
        let pairs = |i: usize| (ring.of(i).len() + 1).saturating_pow(2);
        if (0..patch.cells).map(pairs).fold(0, usize::saturating_add) > MAX_PAIRS {
            let most = (0..patch.cells).max_by_key(|&i| ring.of(i).len()).unwrap_or(0);
            let problem = format!(
                "vertex {} has {} neighbours, too many for LSE",
                patch.vertex[most],
                ring.of(most).len()
            );
            return Err(Error::input(problem, "use ARAP, or give the mesh a finer fan"));
        }
        let frame = |i: usize| Frame::new(&patch.rest, i, ring.of(i));
        let frames: Vec<Frame> = (0..patch.cells).map(frame).collect();
        let mut out = Self {
            implicit: factored(0, &[])?,
            plain: None,
            pull: [0.0; 2],
            x: Vec::new(),
            patch,
            options,
            ring,
            frames,
        };
        out.factor()?;
        Ok(out)
    }

    /// Returns the number of unknown positions: the passive vertices that edges connect to a held vertex.
    pub fn unknowns(&self) -> usize {
        self.patch.unknowns
    }

    /// Returns the coefficient of vertex `k` in cell `i`'s row of the Laplacian `I - D⁻¹A`.
    fn laplacian(&self, i: usize, k: u32) -> f64 {
        if k as usize == i { 1.0 } else { -1.0 / self.ring.of(i).len() as f64 }
    }

    /// Returns the 3 x 3 block of vertex `k` in the rows of cell `i`: `L_ik - T_i δ_i` as a linear map of `x'_k`.
    fn block(&self, i: usize, k: u32) -> DMat3 {
        DMat3::from_diagonal(DVec3::splat(self.laplacian(i, k)))
            - self.frames[i].transform_of(self.patch.rest[k as usize])
    }

    /// Factorises the normal equations of eq. 4 and of the plain Laplacian.
    fn factor(&mut self) -> Result<()> {
        let n = self.patch.unknowns;
        let (mut implicit, mut plain) = (Vec::new(), Vec::new());
        let mut trace = [0.0; 2];
        // The sums of the current row's blocks, and the list of its nonzero entries.
        let mut sum = vec![(DMat3::ZERO, 0.0); n];
        let mut touched: Vec<u32> = Vec::new();
        for k in 0..n {
            for i in cell(&self.ring, k) {
                let (block, weight) =
                    (self.block(i as usize, k as u32), self.laplacian(i as usize, k as u32));
                for l in cell(&self.ring, i as usize).filter(|&l| l as usize >= k && (l as usize) < n) {
                    let at = &mut sum[l as usize];
                    if at.1 == 0.0 && at.0 == DMat3::ZERO {
                        touched.push(l);
                    }
                    at.0 += self.block(i as usize, l).transpose() * block;
                    at.1 += self.laplacian(i as usize, l) * weight;
                }
            }
            for l in touched.drain(..) {
                let l = l as usize;
                let (block, weight) = std::mem::replace(&mut sum[l], (DMat3::ZERO, 0.0));
                for (row, column) in (0..3).flat_map(|r| (0..3).map(move |c| (r, c))) {
                    if 3 * l + row >= 3 * k + column {
                        implicit.push(Entry::new(3 * l + row, 3 * k + column, block.col(column)[row]));
                    }
                }
                plain.push(Entry::new(l, k, weight));
                if l == k {
                    trace[0] += block.x_axis.x + block.y_axis.y + block.z_axis.z;
                    trace[1] += weight;
                }
            }
        }
        let count = n.max(1) as f64;
        self.pull = [PULL * trace[0] / (3.0 * count), PULL * trace[1] / count];
        implicit.extend((0..3 * n).map(|i| Entry::new(i, i, self.pull[0])));
        plain.extend((0..n).map(|i| Entry::new(i, i, self.pull[1])));
        self.implicit = factored(3 * n, &implicit)?;
        if self.options.rounds > 0 {
            self.plain = Some(factored(n, &plain)?);
        }
        Ok(())
    }

    /// Moves the passive vertices of `shape`, which has a position per mesh vertex. Holds all other vertices. The
    /// given positions of passive vertices only matter where the held vertices do not determine the result.
    ///
    /// # Errors
    /// [`Error::Input`] if `shape` does not match the mesh in length or if a position near the region is not finite.
    pub fn solve(&mut self, shape: &mut [DVec3]) -> Result<()> {
        self.patch.gather(shape, &mut self.x)?;
        let n = self.patch.unknowns;
        let mut b: Vec<DVec3> = self.x[..n].iter().map(|x| *x * self.pull[0]).collect();
        for i in 0..self.patch.cells {
            let held = cell(&self.ring, i).filter(|&k| k as usize >= n);
            let residual: DVec3 = held.map(|k| self.block(i, k) * self.x[k as usize]).sum();
            for k in cell(&self.ring, i).filter(|&k| (k as usize) < n) {
                b[k as usize] -= self.block(i, k).transpose() * residual;
            }
        }
        self.implicit.solve_stacked(&mut b);
        self.x[..n].copy_from_slice(&b);
        for _ in 0..self.options.rounds {
            self.refine(&mut b);
        }
        self.patch.scatter(&self.x, shape);
        Ok(())
    }

    /// Runs one refinement round with the rotation and scale that best fit the current positions of each cell.
    fn refine(&mut self, b: &mut [DVec3]) {
        let Some(plain) = &self.plain else { return };
        let n = self.patch.unknowns;
        for (b, x) in b.iter_mut().zip(&self.x) {
            *b = *x * self.pull[1];
        }
        for i in 0..self.patch.cells {
            let mut wanted = self.frames[i].similar(&self.patch.rest, &self.x, i, self.ring.of(i));
            for k in cell(&self.ring, i).filter(|&k| k as usize >= n) {
                wanted -= self.x[k as usize] * self.laplacian(i, k);
            }
            for k in cell(&self.ring, i).filter(|&k| (k as usize) < n) {
                b[k as usize] += wanted * self.laplacian(i, k);
            }
        }
        plain.solve_vectors(b);
        self.x[..n].copy_from_slice(b);
    }
}
