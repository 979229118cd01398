//! Alternation of local and global steps, and its acceleration.
//!
//! For given rotations `Q`, the best transforms are a linear function of `Q` ([`super::constrain`] derives it and defines `B`
//! and `C`). With these transforms the energy is a constant minus `f(Q) = ½⟨Q, BQ⟩ + ⟨C, Q⟩`, so the solver maximises `f`.
//! An iteration computes `S = BQ + C`, then the rotation nearest to each block of `S`.
//! `B` has no negative eigenvalue, so `f` never decreases. For two iterates, `f(Q₂) - f(Q₁) = ½⟨Q₂ - Q₁, S₂ + S₁⟩`
//! exactly. This sum over existing values gives the change of the energy without a difference of large numbers.
//!
//! The plain iteration converges slowly if large parts rotate far. [`Acceleration::Anderson`] extrapolates the blocks
//! `S` from the last few iterations (Peng et al., "Anderson acceleration for geometry optimization and physics
//! simulation", 2018). A step that decreases `f` is rejected and replaced with a plain step.

use super::bind::Reduced;
use super::constrain::{Constrained, Target, Values, bind_map};
use super::dense::{Mat, add_product};
use super::iterate::{Iterate, Memory};
use super::polar::{largest, matrix_of};
use crate::base::math::{Affine3A, DAffine3, DMat3, DVec3};
use pulp::{Arch, Simd, WithSimd};
use serde::{Deserialize, Serialize};

/// How the solver iterates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Acceleration {
    /// Plain alternation of local and global steps, as in the paper.
    Plain,
    /// Anderson acceleration: extrapolates from the last few iterations.
    #[default]
    Anderson,
}

/// Statistics of a solve.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Solved {
    /// Number of iterations, i.e. of multiplications by `B`.
    pub iterations: u32,
    /// Number of rejected extrapolations.
    pub rejected: u32,
    /// Whether the rotations stopped changing.
    pub converged: bool,
}

/// A matrix that multiplies blocks of rotations, stored in tiles of three rows per SIMD lane. Each tile stores its
/// columns in sequence, so that memory is read linearly.
#[derive(Clone, Default)]
pub(super) struct Tiled {
    tiles: usize,
    pub data: Vec<f32>,
}

impl Tiled {
    /// Packs a matrix with three columns per cluster. If `blocks`, a lane holds three consecutive rows (one cluster).
    fn new(matrix: &Mat, lanes: usize, blocks: bool) -> Self {
        let tiles = matrix.rows.div_ceil(3 * lanes);
        let clusters = matrix.cols / 3;
        let mut data = vec![0.0; tiles * matrix.cols * 3 * lanes];
        for tile in 0..tiles {
            for cluster in 0..clusters {
                // Columns in the storage order of rotations: tile of clusters, row of the block, lane.
                let (t, lane) = (cluster / lanes, cluster % lanes);
                let width = (clusters - t * lanes).min(lanes);
                for d in 0..3 {
                    let column = 3 * t * lanes + d * width + lane;
                    let at = (tile * matrix.cols + column) * 3 * lanes;
                    for i in 0..3 {
                        for l in 0..lanes {
                            let row = row_of(tile, i, l, lanes, blocks);
                            if row < matrix.rows {
                                data[at + i * lanes + l] =
                                    matrix.data[row * matrix.cols + 3 * cluster + d] as f32;
                            }
                        }
                    }
                }
            }
        }
        Self { tiles, data }
    }
}

/// Returns the matrix row that is stored as row `i` of a tile's lane.
fn row_of(tile: usize, i: usize, lane: usize, lanes: usize, blocks: bool) -> usize {
    if blocks { 3 * (tile * lanes + lane) + i } else { 3 * tile * lanes + i * lanes + lane }
}

/// Packs a matrix with three columns as tiles, in the order tile, row `i` of three, column `c` of three, lane.
fn pack(matrix: &Mat, lanes: usize, blocks: bool, out: &mut Vec<f32>) {
    let tiles = matrix.rows.div_ceil(3 * lanes);
    out.clear();
    out.resize(tiles * 9 * lanes, 0.0);
    for tile in 0..tiles {
        for k in 0..9 * lanes {
            let (i, c, lane) = (k / (3 * lanes), k / lanes % 3, k % lanes);
            let row = row_of(tile, i, lane, lanes, blocks);
            if row < matrix.rows {
                out[tile * 9 * lanes + k] = matrix.data[3 * row + c] as f32;
            }
        }
    }
}

/// The state of a solve: constraints, their values, and the rotations from which the next frame starts.
#[derive(Clone)]
pub struct Solver {
    arch: Arch,
    lanes: usize,
    clusters: usize,
    handles: usize,
    b: Tiled,
    gamma: Tiled,
    c: Vec<f32>,
    phi: Vec<f32>,
    transforms: Vec<f32>,
    state: State,
    memory: Memory,
    values: Values,
    /// The initial transforms, and the covariance blocks computed from them.
    start: [Mat; 2],
}

/// The current iterate: quaternions, their matrices, and the blocks `S`.
#[derive(Clone, Default)]
pub(super) struct State {
    pub quat: Vec<f32>,
    pub rotation: Vec<f32>,
    pub block: Vec<f32>,
}

struct Lanes;

impl WithSimd for Lanes {
    type Output = usize;
    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> usize {
        S::F32_LANES
    }
}

impl Solver {
    /// Creates a solver in the rest shape, with constraints at their rest values.
    pub fn new(reduced: &Reduced, constrained: &Constrained) -> Self {
        Self::on(Arch::new(), reduced, constrained)
    }

    pub(super) fn on(arch: Arch, reduced: &Reduced, constrained: &Constrained) -> Self {
        let lanes = arch.dispatch(Lanes);
        let tiles = reduced.clusters.div_ceil(lanes);
        let mut out = Self {
            arch,
            lanes,
            clusters: reduced.clusters,
            handles: reduced.handles,
            b: Tiled::default(),
            gamma: Tiled::default(),
            c: Vec::new(),
            phi: Vec::new(),
            transforms: Vec::new(),
            state: State {
                quat: vec![0.0; tiles * 4 * lanes],
                rotation: vec![0.0; tiles * 9 * lanes],
                block: vec![0.0; tiles * 9 * lanes],
            },
            memory: Memory::new(tiles * 9 * lanes),
            values: Values::default(),
            start: Default::default(),
        };
        for tile in 0..tiles {
            for lane in 0..lanes {
                out.state.quat[(4 * tile + 3) * lanes + lane] = 1.0;
                [0, 4, 8].into_iter().for_each(|d| out.state.rotation[(9 * tile + d) * lanes + lane] = 1.0);
            }
        }
        out.switch(constrained);
        out.set_targets(reduced, constrained, &[]);
        out
    }

    /// Replaces the set of constraints but keeps the rotations. Call [`Solver::set_targets`] next.
    pub fn switch(&mut self, constrained: &Constrained) {
        self.b = Tiled::new(&constrained.rotations, self.lanes, true);
        self.gamma = Tiled::new(&constrained.gamma, self.lanes, false);
        self.transforms = vec![0.0; self.gamma.tiles * 9 * self.lanes];
    }

    /// Sets the values of the constraints, in constraint order; missing values default to the rest shape.
    pub fn set_targets(&mut self, reduced: &Reduced, constrained: &Constrained, targets: &[Target]) {
        constrained.set_values(reduced, targets, &mut self.values);
        pack(&self.values.c, self.lanes, true, &mut self.c);
        pack(&self.values.phi, self.lanes, false, &mut self.phi);
    }

    /// Initialises the rotations from the transforms of the given handles, bind space to world.
    pub fn start_from(&mut self, reduced: &Reduced, transforms: &[DAffine3]) {
        let [t, s] = &mut self.start;
        reduced.stack(transforms, t);
        s.clear(reduced.covariance.rows, 3);
        add_product(s, 1.0, &reduced.covariance, t);
        for k in 0..self.clusters {
            let block: [f64; 9] = std::array::from_fn(|i| self.start[1].data[9 * k + i]);
            self.set_rotation(k, largest(block, [0.0, 0.0, 0.0, 1.0]));
        }
    }

    /// Initialises the rotations from another solver of the same character.
    pub fn copy_rotations(&mut self, other: &Self) {
        if self.state.quat.len() == other.state.quat.len() {
            self.state.quat.copy_from_slice(&other.state.quat);
            self.state.rotation.copy_from_slice(&other.state.rotation);
        }
    }

    fn set_rotation(&mut self, cluster: usize, quat: [f64; 4]) {
        let (tile, lane) = (cluster / self.lanes, cluster % self.lanes);
        for (i, v) in quat.into_iter().enumerate() {
            self.state.quat[(4 * tile + i) * self.lanes + lane] = v as f32;
        }
        for (i, v) in matrix_of(quat).into_iter().enumerate() {
            self.state.rotation[(9 * tile + i) * self.lanes + lane] = v as f32;
        }
    }

    /// Runs at most `iterations` iterations, starting from the current rotations.
    pub fn solve(&mut self, iterations: u32, acceleration: Acceleration) -> Solved {
        self.arch.dispatch(Iterate {
            b: &self.b,
            gamma: &self.gamma,
            c: &self.c,
            phi: &self.phi,
            clusters: self.clusters,
            iterations,
            acceleration,
            state: &mut self.state,
            memory: &mut self.memory,
            transforms: &mut self.transforms,
        })
    }

    /// Returns the transforms of all handles, bind space to world. Transforms of abstract handles are zero at rest.
    pub fn transforms(&self, reduced: &Reduced) -> Vec<Affine3A> {
        let mut out = Vec::new();
        self.read(reduced, &mut out);
        out
    }

    /// Writes the same transforms as [`Solver::transforms`] to `out`.
    pub fn read(&self, reduced: &Reduced, out: &mut Vec<Affine3A>) {
        out.clear();
        out.extend((0..self.handles).map(|j| {
            let t = self.transform(reduced, j);
            let matrix3 = t.matrix3.as_mat3();
            Affine3A { matrix3: matrix3.into(), translation: t.translation.as_vec3a() }
        }));
    }

    /// Returns the transforms of all handles in f64, bind space to world.
    pub fn exact(&self, reduced: &Reduced) -> Vec<DAffine3> {
        (0..self.handles).map(|j| self.transform(reduced, j)).collect()
    }

    fn transform(&self, reduced: &Reduced, j: usize) -> DAffine3 {
        let row = |d: usize| self.row(4 * j + d);
        let map = DAffine3 { matrix3: DMat3::from_cols(row(0), row(1), row(2)), translation: row(3) };
        if j < reduced.given {
            bind_map(reduced, &map)
        } else {
            // Transforms of abstract handles are displacements (zero at rest), so `center` is not added back.
            let moved = map.translation * reduced.size - map.matrix3 * reduced.center;
            DAffine3 { matrix3: map.matrix3, translation: moved }
        }
    }

    /// Returns a row of `T`, model space.
    fn row(&self, row: usize) -> DVec3 {
        let lanes = self.lanes;
        let (tile, i, lane) = (row / (3 * lanes), row / lanes % 3, row % lanes);
        let at = tile * 9 * lanes + i * 3 * lanes + lane;
        DVec3::new(
            self.transforms[at].into(),
            self.transforms[at + lanes].into(),
            self.transforms[at + 2 * lanes].into(),
        )
    }

    /// Returns `T`, four rows per handle by 3 columns, model space.
    pub(super) fn model_transforms(&self) -> Mat {
        let rows = 4 * self.handles;
        Mat { rows, cols: 3, data: (0..rows).flat_map(|r| self.row(r).to_array()).collect() }
    }

    /// Returns the energy (Jacobson et al. 2012, equation 12, for a model of size one); zero at rest.
    pub fn energy(&self, reduced: &Reduced) -> f64 {
        let t = self.model_transforms();
        let squares = |m: &Mat| m.data.iter().zip(&t.data).map(|(a, b)| a * b).sum::<f64>();
        let quadratic = 0.5 * squares(&reduced.laplacian.times(&t));
        let s = reduced.covariance.times(&t);
        let mut linear = 0.0;
        for k in 0..self.clusters {
            let (tile, lane) = (k / self.lanes, k % self.lanes);
            let q: [f64; 4] =
                std::array::from_fn(|i| f64::from(self.state.quat[(4 * tile + i) * self.lanes + lane]));
            let m = matrix_of(q);
            linear += (0..9).map(|i| m[i] * s.data[9 * k + i]).sum::<f64>();
        }
        quadratic - linear + reduced.offset
    }
}
