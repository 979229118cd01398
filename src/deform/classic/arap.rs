//! As-rigid-as-possible deformation of a region (thesis 2.2.3, eq. 5-11).

use super::Lists;
use super::factored;
use super::patch::Patch;
use crate::base::Result;
use crate::base::math::{DMat3, DQuat, DVec3, Vec3};
use crate::geom::{Cholesky, Entry, fit_rotation, half_cotangents};
use rayon::prelude::*;

/// The edges that a vertex's cell keeps rigid. Both choices give the same matrix.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Energy {
    /// The edges at the vertex, weighted `½ (cot α + cot β)`: eq. 6-11 of the thesis, Sorkine and Alexa 2007,
    /// libigl's `ARAP_ENERGY_TYPE_SPOKES`. An edge whose opposite angles add up to more than 180° has a negative
    /// weight. A mesh with many such edges may have folded states with less energy than the rest shape.
    Spokes,
    /// All edges of the triangles at the vertex, each weighted by its own triangle's cotangents: Chao et al. 2010.
    /// The energy converges when the mesh is refined; libigl's default, `ARAP_ENERGY_TYPE_SPOKES_AND_RIMS`.
    #[default]
    SpokesAndRims,
}

/// Settings of the ARAP solver.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArapOptions {
    /// The edges that form the cell of a vertex; default [`Energy::SpokesAndRims`].
    pub energy: Energy,
    /// Maximum number of rounds, default 10 as in libigl. Each round fits rotations, then positions.
    pub iterations: u32,
    /// The solver stops when a round moves no vertex by more than this fraction of the region's size. Default 1e-7.
    pub tolerance: f64,
}

impl Default for ArapOptions {
    fn default() -> Self {
        Self { energy: Energy::default(), iterations: 10, tolerance: 1e-7 }
    }
}

/// Statistics of a solve.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Solved {
    /// Number of rounds that ran.
    pub iterations: u32,
    /// Energy before each round and at the end, square metres times dimensionless weights (eq. 8, over the cells that
    /// contain an unknown). The energy never rises. With rims, an edge of a triangle counts in the cells of its three
    /// corners, weighted two thirds each, so that a uniform stretch has equal energy with and without rims.
    pub energy: Vec<f64>,
}

/// A weighted edge of a cell.
pub(super) struct Edge {
    pub from: u32,
    pub to: u32,
    pub weight: f64,
    /// Rest vector of the edge, `x_from - x_to`.
    pub rest: DVec3,
}

/// Edges per cell in CSR form. An edge appears several times in a cell if several triangles contribute it.
pub(super) struct Cells {
    offset: Vec<usize>,
    edges: Vec<Edge>,
    /// Fraction of an edge's rotation that one cell contributes: a half for spokes, a third with rims.
    pub share: f64,
}

impl Cells {
    pub fn new(patch: &Patch, energy: Energy) -> Self {
        Self::with_rest(patch, energy, &patch.rest)
    }

    /// Creates cells with the patch's weights. The rest edges are differences of `vectors`, one per local vertex.
    pub fn with_rest(patch: &Patch, energy: Energy, vectors: &[DVec3]) -> Self {
        let mut of_cell: Vec<(u32, Edge)> = Vec::new();
        for ([a, b, c], weights) in weighted(patch) {
            for (from, to, weight) in [(b, c, weights[0]), (c, a, weights[1]), (a, b, weights[2])] {
                let mut add = |cell: u32, from: u32, to: u32| {
                    if (cell as usize) < patch.cells {
                        let rest = vectors[from as usize] - vectors[to as usize];
                        of_cell.push((cell, Edge { from, to, weight, rest }));
                    }
                };
                match energy {
                    Energy::Spokes => {
                        add(from, from, to);
                        add(to, to, from);
                    }
                    Energy::SpokesAndRims => [a, b, c].into_iter().for_each(|cell| add(cell, from, to)),
                }
            }
        }
        of_cell.sort_by_key(|(cell, _)| *cell);
        let mut offset = vec![0; patch.cells + 1];
        of_cell.iter().for_each(|(cell, _)| offset[*cell as usize + 1] += 1);
        for cell in 0..patch.cells {
            offset[cell + 1] += offset[cell];
        }
        let share = if energy == Energy::Spokes { 0.5 } else { 1.0 / 3.0 };
        Self { offset, edges: of_cell.into_iter().map(|(_, edge)| edge).collect(), share }
    }

    pub fn of(&self, cell: usize) -> &[Edge] {
        &self.edges[self.offset[cell]..self.offset[cell + 1]]
    }

    /// Computes the right-hand side `b` of eq. 11 per unknown from the cells' rotations.
    pub fn right_side(&self, rotations: &[DMat3], out: &mut [DVec3]) {
        out.fill(DVec3::ZERO);
        for (cell, rotation) in rotations.iter().enumerate() {
            for edge in self.of(cell) {
                let wanted = *rotation * edge.rest * (edge.weight * self.share);
                if let Some(b) = out.get_mut(edge.from as usize) {
                    *b += wanted;
                }
                if let Some(b) = out.get_mut(edge.to as usize) {
                    *b -= wanted;
                }
            }
        }
    }
}

/// Returns the patch's triangles with half the cotangents of their corners.
fn weighted(patch: &Patch) -> impl Iterator<Item = ([u32; 3], [f64; 3])> + '_ {
    patch.triangles.iter().map(|t| (*t, half_cotangents(t.map(|v| patch.rest[v as usize]))))
}

/// The rows of the Laplace-Beltrami operator for the unknowns (eq. 11), without the columns of held vertices.
pub(super) struct Laplacian {
    factor: Cholesky,
    /// Terms of held vertices on the right-hand side: unknown, held vertex, weight.
    held: Vec<(u32, u32, f64)>,
}

impl Laplacian {
    pub fn new(patch: &Patch) -> Result<Self> {
        let (mut entries, mut held) = (Vec::new(), Vec::new());
        for ([a, b, c], weights) in weighted(patch) {
            for (i, j, w) in [(b, c, weights[0]), (c, a, weights[1]), (a, b, weights[2])] {
                let (low, high) = (i.min(j), i.max(j));
                if low as usize >= patch.unknowns {
                    continue;
                }
                entries.push(Entry::new(low as usize, low as usize, w));
                if (high as usize) < patch.unknowns {
                    entries.push(Entry::new(high as usize, high as usize, w));
                    entries.push(Entry::new(high as usize, low as usize, -w));
                } else {
                    held.push((low, high, w));
                }
            }
        }
        Ok(Self { factor: factored(patch.unknowns, &entries)?, held })
    }

    /// Solves `L x = b` for the unknowns and writes them to `b`. `x` gives the positions of the held vertices.
    pub fn solve(&self, x: &[DVec3], b: &mut [DVec3]) {
        for &(unknown, held, weight) in &self.held {
            b[unknown as usize] += x[held as usize] * weight;
        }
        self.factor.solve_vectors(b);
    }
}

/// A region of a mesh with a rest shape and a factored matrix.
pub struct Arap {
    patch: Patch,
    options: ArapOptions,
    cells: Cells,
    laplacian: Laplacian,
    /// Rotation per cell as a quaternion; `rotations` has them as matrices.
    turns: Vec<DQuat>,
    rotations: Vec<DMat3>,
    x: Vec<DVec3>,
    b: Vec<DVec3>,
}

impl Arap {
    /// Factorises the matrix of a region. `rest` has the rest position of every vertex of the mesh, metres. The solver
    /// keeps this shape as rigid as possible. `triangles` has all triangles of the mesh.
    ///
    /// # Errors
    /// [`crate::base::Error::Input`] if lists or triangles do not match the mesh, if no vertex is kinematic, if a
    /// position is not finite, or if the matrix cannot be factored.
    pub fn new(
        rest: &[Vec3],
        triangles: &[[u32; 3]],
        lists: &Lists<'_>,
        options: ArapOptions,
    ) -> Result<Self> {
        let patch = Patch::new(rest, triangles, lists)?;
        let cells = Cells::new(&patch, options.energy);
        let laplacian = Laplacian::new(&patch)?;
        let rotations = vec![DMat3::IDENTITY; patch.cells];
        let turns = vec![DQuat::IDENTITY; patch.cells];
        let b = vec![DVec3::ZERO; patch.unknowns];
        Ok(Self { patch, options, cells, laplacian, turns, rotations, x: Vec::new(), b })
    }

    /// Returns the number of unknown positions: the passive vertices that edges connect to a held vertex.
    pub fn unknowns(&self) -> usize {
        self.patch.unknowns
    }

    /// Moves the passive vertices of `shape`, which has a position for every vertex of the mesh, to minimise the
    /// energy. All other vertices are held. The solver first fits rotations to the given positions, so these are its
    /// start. Equal starts give equal results, independent of earlier solves.
    ///
    /// # Errors
    /// [`crate::base::Error::Input`] if `shape` has the wrong length or a position near the region is not finite.
    pub fn solve(&mut self, shape: &mut [DVec3]) -> Result<Solved> {
        self.patch.gather(shape, &mut self.x)?;
        // A fit starts at the rotation of the previous round of this solve.
        self.turns.fill(DQuat::IDENTITY);
        let mut out = Solved::default();
        let enough = self.options.tolerance.max(0.0) * self.patch.size;
        for _ in 0..self.options.iterations {
            out.energy.push(self.fit());
            self.cells.right_side(&self.rotations, &mut self.b);
            self.laplacian.solve(&self.x, &mut self.b);
            let mut moved = 0.0f64;
            for (x, b) in self.x.iter_mut().zip(&self.b) {
                moved = moved.max(x.distance(*b));
                *x = *b;
            }
            out.iterations += 1;
            if moved <= enough {
                break;
            }
        }
        out.energy.push(self.fit());
        self.patch.scatter(&self.x, shape);
        Ok(out)
    }

    /// Fits the rotation of every cell to the given positions (eq. 6). Returns the energy.
    fn fit(&mut self) -> f64 {
        let (cells, x) = (&self.cells, &self.x);
        let fit = |(cell, (turn, rotation)): (usize, (&mut DQuat, &mut DMat3))| {
            let posed = |e: &Edge| x[e.from as usize] - x[e.to as usize];
            let mut covariance = DMat3::ZERO;
            for e in cells.of(cell) {
                let to = posed(e) * e.weight;
                covariance += DMat3::from_cols(e.rest * to.x, e.rest * to.y, e.rest * to.z);
            }
            *turn = fit_rotation(covariance, *turn);
            *rotation = DMat3::from_quat(*turn);
            let off = |e: &Edge| e.weight * (posed(e) - *rotation * e.rest).length_squared();
            cells.of(cell).iter().map(off).sum::<f64>()
        };
        let both = self.turns.par_iter_mut().zip(&mut self.rotations);
        let energies: Vec<f64> = both.enumerate().with_min_len(128).map(fit).collect();
        2.0 * cells.share * energies.iter().sum::<f64>()
    }
}
