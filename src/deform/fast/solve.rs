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
use super::iterate::{AndersonMemory, Iterate, TILE};
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
    pub data: Vec<f32>,
}

impl Tiled {
    /// Packs a matrix with three columns per cluster.
    fn new(matrix: &Mat, lanes: usize) -> Self {
        let tiles = matrix.rows.div_ceil(3 * lanes);
        let clusters = matrix.cols / 3;
        let mut data = vec![0.0; tiles * matrix.cols * 3 * lanes];
        for tile in 0..tiles {
            for cluster in 0..clusters {
                // Columns in the storage order of rotations: tile of clusters, row of the block, lane.
                let (t, lane) = (cluster / TILE, cluster % TILE);
                let width = (clusters - t * TILE).min(TILE);
                for d in 0..3 {
                    let column = 3 * t * TILE + d * width + lane;
                    let at = (tile * matrix.cols + column) * 3 * lanes;
                    for i in 0..3 {
                        for l in 0..lanes {
                            let row = 3 * (tile * lanes + l) + i;
                            if row < matrix.rows {
                                data[at + i * lanes + l] =
                                    matrix.data[row * matrix.cols + 3 * cluster + d] as f32;
                            }
                        }
                    }
                }
            }
        }
        Self { data }
    }
}

/// Returns the index of element `i` of `block` (a cluster, or three rows) in tiles of `size` elements per block.
fn place(block: usize, i: usize, size: usize) -> usize {
    (block / TILE * size + i) * TILE + block % TILE
}

/// Returns the length of an array of tiles that holds `blocks` blocks of `size` elements.
fn length(blocks: usize, size: usize) -> usize {
    blocks.div_ceil(TILE) * size * TILE
}

/// Packs a matrix with three columns as tiles of blocks of three rows.
fn pack(matrix: &Mat, out: &mut Vec<f32>) {
    out.clear();
    out.resize(length(matrix.rows.div_ceil(3), 9), 0.0);
    for (row, values) in matrix.data.chunks_exact(3).enumerate() {
        for (c, v) in values.iter().enumerate() {
            out[place(row / 3, 3 * (row % 3) + c, 9)] = *v as f32;
        }
    }
}

/// The state of a solve: constraints, their values, and the rotations from which the next frame starts.
#[derive(Clone)]
pub struct Solver {
    vectors: Vectors,
    lanes: usize,
    clusters: usize,
    handles: usize,
    b: Tiled,
    gamma: Tiled,
    c: Vec<f32>,
    phi: Vec<f32>,
    transforms: Vec<f32>,
    state: FastIterate,
    memory: AndersonMemory,
    values: Values,
    /// The initial transforms, and the covariance blocks computed from them.
    start: [Mat; 2],
}

/// The current iterate: quaternions, their matrices, and the blocks `S`.
#[derive(Clone, Default)]
pub(super) struct FastIterate {
    pub quat: Vec<f32>,
    pub rotation: Vec<f32>,
    pub block: Vec<f32>,
}

/// The vector registers with which a solver computes.
#[derive(Clone, Copy)]
enum Vectors {
    /// The widest of the processor.
    Widest(Arch),
    /// Registers of this number of bits, in tests.
    #[cfg(test)]
    Bits(u32),
}

impl Vectors {
    fn new() -> Self {
        #[cfg(test)]
        if let Some(bits) = forced::take_width() {
            return Self::Bits(bits);
        }
        Self::Widest(Arch::new())
    }

    fn dispatch<Op: WithSimd>(self, op: Op) -> Op::Output {
        match self {
            Self::Widest(arch) => arch.dispatch(op),
            #[cfg(test)]
            Self::Bits(128) => pulp::Scalar128b.vectorize(op),
            #[cfg(test)]
            Self::Bits(256) => pulp::Scalar256b.vectorize(op),
            #[cfg(test)]
            Self::Bits(_) => pulp::Scalar512b.vectorize(op),
        }
    }
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
        let vectors = Vectors::new();
        Self { vectors, ..Self::with_lanes(vectors.dispatch(Lanes), reduced, constrained) }
    }

    pub(super) fn with_lanes(lanes: usize, reduced: &Reduced, constrained: &Constrained) -> Self {
        let blocks = length(reduced.clusters, 9);
        let mut out = Self {
            vectors: Vectors::Widest(Arch::new()),
            lanes,
            clusters: reduced.clusters,
            handles: reduced.handles,
            b: Tiled::default(),
            gamma: Tiled::default(),
            c: Vec::new(),
            phi: Vec::new(),
            transforms: Vec::new(),
            state: FastIterate {
                quat: vec![0.0; length(reduced.clusters, 4)],
                rotation: vec![0.0; blocks],
                block: vec![0.0; blocks],
            },
            memory: AndersonMemory::new(blocks),
            values: Values::default(),
            start: Default::default(),
        };
        for cluster in 0..reduced.clusters.next_multiple_of(TILE) {
            out.set_rotation(cluster, [0.0, 0.0, 0.0, 1.0]);
        }
        out.switch(constrained);
        out.set_targets(reduced, constrained, &[]);
        out
    }

    /// Replaces the set of constraints but keeps the rotations. Call [`Solver::set_targets`] next.
    pub fn switch(&mut self, constrained: &Constrained) {
        self.b = Tiled::new(&constrained.rotations, self.lanes);
        self.gamma = Tiled::new(&constrained.gamma, self.lanes);
        self.transforms = vec![0.0; length(constrained.gamma.rows.div_ceil(3), 9)];
    }

    /// Sets the values of the constraints, in constraint order; missing values default to the rest shape.
    pub fn set_targets(&mut self, reduced: &Reduced, constrained: &Constrained, targets: &[Target]) {
        constrained.set_values(reduced, targets, &mut self.values);
        pack(&self.values.c, &mut self.c);
        pack(&self.values.phi, &mut self.phi);
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
        if self.clusters == other.clusters {
            self.state.quat.copy_from_slice(&other.state.quat);
            self.state.rotation.copy_from_slice(&other.state.rotation);
        }
    }

    fn set_rotation(&mut self, cluster: usize, quat: [f64; 4]) {
        for (i, v) in quat.into_iter().enumerate() {
            self.state.quat[place(cluster, i, 4)] = v as f32;
        }
        for (i, v) in matrix_of(quat).into_iter().enumerate() {
            self.state.rotation[place(cluster, i, 9)] = v as f32;
        }
    }

    /// Runs at most `iterations` iterations, starting from the current rotations.
    pub fn solve(&mut self, iterations: u32, acceleration: Acceleration) -> Solved {
        let vectors = self.vectors;
        vectors.dispatch(self.iterate(iterations, acceleration))
    }

    pub(super) fn iterate(&mut self, iterations: u32, acceleration: Acceleration) -> Iterate<'_> {
        Iterate {
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
        }
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
        DVec3::from_array([0, 1, 2].map(|c| self.transforms[place(row / 3, 3 * (row % 3) + c, 9)].into()))
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
            let q: [f64; 4] = std::array::from_fn(|i| f64::from(self.state.quat[place(k, i, 4)]));
            let m = matrix_of(q);
            linear += (0..9).map(|i| m[i] * s.data[9 * k + i]).sum::<f64>();
        }
        quadratic - linear + reduced.offset
    }
}

/// Lets a test choose the width of the vectors of all solvers that its thread creates.
#[cfg(test)]
pub(crate) mod forced {
    use std::cell::Cell;

    thread_local! {
        static WIDTH: Cell<Option<u32>> = const { Cell::new(None) };
        static SOLVERS: Cell<u32> = const { Cell::new(0) };
    }

    /// Calls `f` with vectors of `bits` bits: 128, 256 or 512. Also returns the number of solvers that `f` created.
    pub fn with_width<T>(bits: u32, f: impl FnOnce() -> T) -> (T, u32) {
        WIDTH.set(Some(bits));
        SOLVERS.set(0);
        let out = f();
        WIDTH.set(None);
        (out, SOLVERS.get())
    }

    pub(super) fn take_width() -> Option<u32> {
        SOLVERS.set(SOLVERS.get() + 1);
        WIDTH.get()
    }
}
