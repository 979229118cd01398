//! The inner loop of [`super::solve`], compiled once per vector width. It branches on data only to reject steps and
//! to handle rotations that are not proven to be optimal.
//!
//! The result has the same bits for every vector width. Clusters are stored in tiles of [`TILE`], whatever the width.
//! A product of matrices adds its columns in the order of storage. A sum over all clusters has [`PARTS`] partial sums,
//! which [`total`] adds in a fixed order. All other operations treat every lane alone. `a b + c` is always rounded
//! once; processors without such an instruction compute it by software.

use super::lane::Lane;
use super::polar::{largest, matrix_of, turn};
use super::solve::{Acceleration, FastIterate, Solved, Tiled};
use pulp::{Simd, WithSimd};

/// Number of clusters in a tile, a multiple of the lanes of every vector register.
pub(super) const TILE: usize = 16;
/// Number of partial sums of a sum over all clusters. Element `i` belongs to partial sum `i % PARTS`.
const PARTS: usize = 2 * TILE;
/// Number of previous iterations used by the extrapolation.
const WINDOW: usize = 6;
/// Rotations have converged when the mean over clusters of their squared change is at most this.
const CONVERGED: f32 = 1e-12;
/// Regularisation of the least-squares problem, relative to the largest squared residual difference.
const RIDGE: f64 = 1e-7;

/// The state of Anderson acceleration. Blocks are the 3x3 matrices `S`, one per cluster.
#[derive(Clone, Default)]
pub(super) struct AndersonMemory {
    /// The blocks from which the current rotations were computed.
    from: Vec<f32>,
    /// The change of the blocks in the last iteration.
    residual: Vec<f32>,
    /// The last accepted rotations.
    accepted: Vec<f32>,
    /// The blocks computed from the current rotations.
    next: Vec<f32>,
    /// The last [`WINDOW`] differences of residuals; `d_block` has the matching differences of blocks.
    d_residual: Vec<f32>,
    d_block: Vec<f32>,
    gram: [[f32; WINDOW]; WINDOW],
    count: usize,
    at: usize,
    /// Whether `residual` belongs to the last accepted iterate.
    known: bool,
}

impl AndersonMemory {
    pub fn new(size: usize) -> Self {
        let zero = || vec![0.0; size];
        Self {
            from: zero(),
            residual: zero(),
            accepted: zero(),
            next: zero(),
            d_residual: vec![0.0; WINDOW * size],
            d_block: vec![0.0; WINDOW * size],
            ..Self::default()
        }
    }

    fn forget(&mut self) {
        self.count = 0;
        self.at = 0;
    }

    /// Stores the differences between the current blocks (`next`) and the blocks of the previous iterate (`before`).
    #[inline(always)]
    fn remember<S: Simd>(&mut self, simd: S, before: &[f32]) {
        let size = self.from.len();
        let slot = self.at * size..(self.at + 1) * size;
        let from = S::as_simd_f32s(&self.from).0;
        let next = S::as_simd_f32s(&self.next).0;
        let before = S::as_simd_f32s(before).0;
        let residual = S::as_mut_simd_f32s(&mut self.residual).0;
        let d_residual = S::as_mut_simd_f32s(&mut self.d_residual[slot.clone()]).0;
        let d_block = S::as_mut_simd_f32s(&mut self.d_block[slot]).0;
        let all = from.iter().zip(next).zip(before).zip(residual).zip(d_residual).zip(d_block);
        for (((((from, next), before), residual), d_residual), d_block) in all {
            let now = simd.sub_f32s(*next, *from);
            *d_residual = simd.sub_f32s(now, *residual);
            *d_block = simd.sub_f32s(*next, *before);
            *residual = now;
        }
        if self.known {
            self.count = (self.count + 1).min(WINDOW);
            for k in 0..self.count {
                let one = &self.d_residual[k * size..(k + 1) * size];
                let other = &self.d_residual[self.at * size..(self.at + 1) * size];
                let product = dot(simd, one, other);
                self.gram[k][self.at] = product;
                self.gram[self.at][k] = product;
            }
            self.at = (self.at + 1) % WINDOW;
        }
        self.known = true;
    }

    /// Sets `from` to the combination of previous blocks that minimises the residual.
    #[inline(always)]
    fn extrapolate<S: Simd>(&mut self, simd: S, block: &[f32]) {
        let size = self.from.len();
        let mut right = [0.0; WINDOW];
        for (k, right) in right.iter_mut().enumerate().take(self.count) {
            *right = dot(simd, &self.d_residual[k * size..(k + 1) * size], &self.residual);
        }
        let share = solve(&self.gram, &right, self.count);
        self.from.copy_from_slice(block);
        for (k, share) in share.iter().enumerate().take(self.count) {
            let share = simd.splat_f32s(-share);
            let d_block = S::as_simd_f32s(&self.d_block[k * size..(k + 1) * size]).0;
            for (from, d) in S::as_mut_simd_f32s(&mut self.from).0.iter_mut().zip(d_block) {
                *from = simd.mul_add_f32s(share, *d, *from);
            }
        }
    }
}

/// Solves `gram x = right` with regularisation; returns zeros if there is no solution.
#[inline(always)]
fn solve(gram: &[[f32; WINDOW]; WINDOW], right: &[f32; WINDOW], count: usize) -> [f32; WINDOW] {
    let mut lower = [[0.0f64; WINDOW]; WINDOW];
    let mut x = [0.0f64; WINDOW];
    let most = (0..count).map(|k| f64::from(gram[k][k])).fold(0.0, f64::max);
    for i in 0..count {
        for j in 0..=i {
            let mut sum = f64::from(gram[i][j]);
            if i == j {
                sum += RIDGE * most;
            }
            sum -= lower[i][..j].iter().zip(&lower[j][..j]).map(|(a, b)| a * b).sum::<f64>();
            if i == j {
                if sum.is_nan() || sum <= 0.0 {
                    return [0.0; WINDOW];
                }
                lower[i][i] = sum.sqrt();
            } else {
                lower[i][j] = sum / lower[j][j];
            }
        }
        let known: f64 = (0..i).map(|k| lower[i][k] * x[k]).sum();
        x[i] = (f64::from(right[i]) - known) / lower[i][i];
    }
    for i in (0..count).rev() {
        let known: f64 = (i + 1..count).map(|k| lower[k][i] * x[k]).sum();
        x[i] = (x[i] - known) / lower[i][i];
    }
    if x.iter().all(|v| v.is_finite()) { x.map(|v| v as f32) } else { [0.0; WINDOW] }
}

/// Returns the sum over `count` vectors; `add(k, sum)` adds the terms of vector `k` to `sum`.
#[inline(always)]
fn total<S: Simd>(simd: S, count: usize, add: impl Fn(usize, S::f32s) -> S::f32s) -> f32 {
    let lanes = S::F32_LANES;
    let vectors = PARTS / lanes;
    let mut parts = [0.0; PARTS];
    for (first, part) in parts.chunks_exact_mut(lanes).enumerate() {
        let mut sum = simd.splat_f32s(0.0);
        for k in (first..count).step_by(vectors) {
            sum = add(k, sum);
        }
        part.copy_from_slice(bytemuck::cast_slice(&[sum]));
    }
    let mut half = PARTS / 2;
    while half > 0 {
        (0..half).for_each(|i| parts[i] += parts[i + half]);
        half /= 2;
    }
    parts[0]
}

#[inline(always)]
fn dot<S: Simd>(simd: S, a: &[f32], b: &[f32]) -> f32 {
    let (a, b) = (S::as_simd_f32s(a).0, S::as_simd_f32s(b).0);
    total(simd, a.len().min(b.len()), |k, sum| simd.mul_add_f32s(a[k], b[k], sum))
}

/// Returns `⟨Q₂ - Q₁, S₂ + S₁⟩`, twice the increase of `f`.
#[inline(always)]
fn gain<S: Simd>(simd: S, q: [&[f32]; 2], s: [&[f32]; 2]) -> f32 {
    let [q1, q2] = q.map(|v| S::as_simd_f32s(v).0);
    let [s1, s2] = s.map(|v| S::as_simd_f32s(v).0);
    total(simd, q1.len(), |k, sum| {
        simd.mul_add_f32s(simd.sub_f32s(q2[k], q1[k]), simd.add_f32s(s2[k], s1[k]), sum)
    })
}

/// Returns `|a - b|²`.
#[inline(always)]
fn distance<S: Simd>(simd: S, a: &[f32], b: &[f32]) -> f32 {
    let (a, b) = (S::as_simd_f32s(a).0, S::as_simd_f32s(b).0);
    total(simd, a.len().min(b.len()), |k, sum| {
        let d = simd.sub_f32s(a[k], b[k]);
        simd.mul_add_f32s(d, d, sum)
    })
}

/// Returns the index of element `i` of vector `k` in an array whose tiles hold `size` elements per cluster.
#[inline(always)]
fn place<S: Simd>(k: usize, i: usize, size: usize) -> usize {
    let vectors = TILE / S::F32_LANES;
    (k / vectors * size + i) * vectors + k % vectors
}

/// Computes `out = matrix * rotation + start`. Each step handles three rows per lane of one vector in registers.
#[inline(always)]
fn multiply<S: Simd>(
    simd: S,
    matrix: &Tiled,
    clusters: usize,
    rotation: &[f32],
    start: &[f32],
    out: &mut [f32],
) {
    let data = S::as_simd_f32s(&matrix.data).0;
    let tiles = data.chunks_exact((9 * clusters).max(1));
    let start = S::as_simd_f32s(start).0;
    let out = S::as_mut_simd_f32s(out).0;
    for (k, tile) in tiles.enumerate() {
        let mut sum: [S::f32s; 9] = std::array::from_fn(|i| start[place::<S>(k, i, 9)]);
        let mut columns = tile.chunks_exact(3);
        for (t, rotation) in rotation.chunks_exact(9 * TILE).enumerate() {
            let width = clusters.saturating_sub(t * TILE).min(TILE);
            for row in rotation.chunks_exact(3 * TILE) {
                let (x, rest) = row.split_at(TILE);
                let (y, z) = rest.split_at(TILE);
                for (((x, y), z), m) in x[..width].iter().zip(&y[..width]).zip(&z[..width]).zip(&mut columns)
                {
                    let (x, y, z) = (simd.splat_f32s(*x), simd.splat_f32s(*y), simd.splat_f32s(*z));
                    for i in 0..3 {
                        sum[3 * i] = simd.mul_add_f32s(m[i], x, sum[3 * i]);
                        sum[3 * i + 1] = simd.mul_add_f32s(m[i], y, sum[3 * i + 1]);
                        sum[3 * i + 2] = simd.mul_add_f32s(m[i], z, sum[3 * i + 2]);
                    }
                }
            }
        }
        for (i, sum) in sum.into_iter().enumerate() {
            out[place::<S>(k, i, 9)] = sum;
        }
    }
}

/// Runs the local step: finds the rotation nearest to each block.
#[inline(always)]
fn rotate<S: Simd>(simd: S, clusters: usize, block: &[f32], quat: &mut [f32], rotation: &mut [f32]) {
    let block = S::as_simd_f32s(block).0;
    let quat = S::as_mut_simd_f32s(quat).0;
    let rotation = S::as_mut_simd_f32s(rotation).0;
    for k in 0..clusters.div_ceil(S::F32_LANES) {
        let s: [S::f32s; 9] = std::array::from_fn(|i| block[place::<S>(k, i, 9)]);
        let before = std::array::from_fn(|i| Lane::new(simd, quat[place::<S>(k, i, 4)]));
        let turned = turn(&s.map(|v| Lane::new(simd, v)), before);
        let (mut q, mut matrix) = (turned.quat.map(|v| v.value), turned.matrix.map(|v| v.value));
        if turned.proven.least() < 0.5 {
            prove(
                bytemuck::cast_slice(&[turned.proven.value]),
                bytemuck::cast_slice(&s),
                bytemuck::cast_slice_mut(&mut q),
                bytemuck::cast_slice_mut(&mut matrix),
            );
        }
        q.into_iter().enumerate().for_each(|(i, v)| quat[place::<S>(k, i, 4)] = v);
        matrix.into_iter().enumerate().for_each(|(i, v)| rotation[place::<S>(k, i, 9)] = v);
    }
}

/// Recomputes the unproven rotations of a vector, one lane at a time.
#[cold]
#[inline(never)]
fn prove(proven: &[f32], block: &[f32], quat: &mut [f32], rotation: &mut [f32]) {
    let lanes = proven.len();
    for (lane, _) in proven.iter().enumerate().filter(|(_, p)| **p < 0.5) {
        let at = |i: usize| i * lanes + lane;
        let q = largest(
            [0, 1, 2, 3, 4, 5, 6, 7, 8].map(|i| f64::from(block[at(i)])),
            [0, 1, 2, 3].map(|i| f64::from(quat[at(i)])),
        );
        q.into_iter().enumerate().for_each(|(i, v)| quat[at(i)] = v as f32);
        matrix_of(q).into_iter().enumerate().for_each(|(i, v)| rotation[at(i)] = v as f32);
    }
}

pub(super) struct Iterate<'a> {
    pub b: &'a Tiled,
    pub gamma: &'a Tiled,
    pub c: &'a [f32],
    pub phi: &'a [f32],
    pub clusters: usize,
    pub iterations: u32,
    pub acceleration: Acceleration,
    pub state: &'a mut FastIterate,
    pub memory: &'a mut AndersonMemory,
    pub transforms: &'a mut [f32],
}

impl WithSimd for Iterate<'_> {
    type Output = Solved;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Solved {
        let Self { b, gamma, c, phi, clusters, iterations, acceleration, state, memory, transforms } = self;
        let mut out = Solved::default();
        memory.forget();
        memory.known = false;
        // Whether the current rotations come from a plain iteration, not from extrapolated blocks.
        let mut plain = true;
        for k in 1..=iterations {
            out.iterations = k;
            multiply(simd, b, clusters, &state.rotation, c, &mut memory.next);
            let rotations = [memory.accepted.as_slice(), &state.rotation];
            if !plain && gain(simd, rotations, [&state.block, &memory.next]) < 0.0 {
                out.rejected += 1;
                memory.forget();
                memory.from.copy_from_slice(&state.block);
                rotate(simd, clusters, &state.block, &mut state.quat, &mut state.rotation);
                plain = true;
                continue;
            }
            // The last step is plain, since no later step would check it.
            plain = acceleration == Acceleration::Plain || k == 1 || k == iterations;
            if !plain {
                memory.remember(simd, &state.block);
            }
            std::mem::swap(&mut state.block, &mut memory.next);
            memory.accepted.copy_from_slice(&state.rotation);
            if plain {
                memory.from.copy_from_slice(&state.block);
            } else {
                memory.extrapolate(simd, &state.block);
            }
            rotate(simd, clusters, &memory.from, &mut state.quat, &mut state.rotation);
            if distance(simd, &state.rotation, &memory.accepted) <= CONVERGED * clusters as f32 {
                out.converged = true;
                break;
            }
        }
        multiply(simd, gamma, clusters, &state.rotation, phi, transforms);
        out
    }
}
