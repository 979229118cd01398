//! Fits a few morph targets that are shared by all keys, within an error budget.
//!
//! The method is a greedy reduced basis. In each step, the key with the largest residual at any vertex adds its
//! orthogonalised displacements to the basis (Gram-Schmidt with pivoting). The method ends when no vertex of any key
//! exceeds the budget. A key's coordinates in the basis are its morph weights. Normals use the same weights, fitted by
//! least squares.
//!
//! Some programs clamp morph weights to 0..1 (Blender does). The weights of each basis vector are therefore mapped to
//! 0..1 over all keys. An additional target, which always has weight 1, holds the sum of all vectors at their lowest
//! weights.
//!
//! Keys are processed in blocks, so that memory does not grow with their number. The first block samples all keys
//! evenly. Each later block adds vectors for the keys that the basis does not yet represent. A final pass computes
//! every key's weights in the complete basis.

use super::morph::Delta;
use super::posed::{Flattened, Job};
use super::targets::{NodeTargets, Thinning};
use super::{Export, Options, Receipt};
use crate::base::math::Vec3;
use crate::base::{NodeId, Result};
use glam::DVec3;
use rayon::prelude::*;
use std::ops::Range;

/// Fraction of the budget that the removal of small displacements from targets may use.
const DROPPED: f64 = 0.25;
/// Fraction of the budget that the removal of keys from weight channels may use.
const KEYS: f64 = 0.25;
/// Maximum bytes of displacements in a block of keys; a block has at least `FEW` keys.
const BLOCK: usize = 128 << 20;
const FEW: usize = 8;

/// Factor that tightens the budget if the finished file exceeds it. The maximum number of exports is `ATTEMPTS`.
const TIGHTER: f64 = 0.7;
const ATTEMPTS: u32 = 6;

/// Exports with tighter and tighter budgets until the measured error is within the given budget, millimetres. If no
/// export is within the budget, returns the last one. Without a budget, it exports once.
///
/// # Errors
/// The errors of `made`.
pub fn within_budget(
    options: &mut Options,
    budget_mm: Option<f64>,
    mut made: impl FnMut(&Options) -> Result<(Export, Receipt)>,
) -> Result<(Export, Receipt)> {
    options.budget_mm = budget_mm;
    let mut out = made(options)?;
    for _ in 1..ATTEMPTS {
        let (Some(budget), Some(tried)) = (budget_mm, options.budget_mm) else { break };
        if out.1.largest_mm() <= budget {
            break;
        }
        options.budget_mm = Some(tried * TIGHTER);
        out = made(options)?;
    }
    Ok(out)
}

/// Function that returns the displacements of a key, per display part.
pub(super) type Solved<'a> = dyn Fn(usize) -> Result<Vec<Delta>> + 'a;

/// Computes the morph targets of every node. `budget` is in millimetres in world space; `stretch` is the largest
/// factor by which skinning lengthens a displacement.
pub(super) fn fit(
    job: &Job,
    solved: &Solved,
    budget: f64,
    stretch: f64,
    flattened: &mut Flattened,
) -> Result<Vec<NodeTargets>> {
    let budget = budget.max(0.0) * 1e-3 / stretch.max(1e-12);
    let within = budget * (1.0 - DROPPED - KEYS);
    let mut fits: Vec<Fit> =
        job.drawn().into_iter().map(|(node, parts)| Fit::new(job, node, parts)).collect();
    let bytes = job.character.display.positions.len() * size_of::<DVec3>();
    for block in blocks(job.keys.len(), (BLOCK / bytes.max(1)).max(FEW)) {
        for key in block {
            let deltas = solved(key)?;
            flattened.add(&deltas);
            fits.iter_mut().for_each(|f| f.take(key, &deltas, within));
        }
        fits.iter_mut().for_each(|f| f.basis.grow(within));
    }
    fits.retain(|f| !f.basis.vectors.is_empty());
    fits.iter_mut().for_each(Fit::begin_normals);
    for key in 0..if fits.is_empty() { 0 } else { job.keys.len() } {
        let deltas = solved(key)?;
        fits.iter_mut().for_each(|f| f.weigh(key, &deltas, within));
    }
    Ok(fits.into_iter().map(|f| f.targets(&job.options.clip_name, budget)).collect())
}

/// Returns the processing order of keys in blocks: first an evenly spaced sample, then the rest in sequence.
fn blocks(count: usize, size: usize) -> Vec<Vec<usize>> {
    let first: Vec<usize> = (0..count.min(size)).map(|i| i * count / count.min(size)).collect();
    let others: Vec<usize> = (0..count).filter(|k| first.binary_search(k).is_err()).collect();
    std::iter::once(first).chain(others.chunks(size).map(<[usize]>::to_vec)).collect()
}

/// Fits the displacements of one node.
struct Fit {
    node: NodeId,
    parts: Range<usize>,
    /// Index of the first vertex of each part of the node, and the total count.
    starts: Vec<usize>,
    /// Per part, whether any key changes normals.
    turned: Vec<bool>,
    basis: Basis,
    /// Sums over keys: the products of pairs of weights (`normal_matrix`), and the products of weights and normal
    /// displacements (`normal_sums`).
    normal_matrix: Vec<Vec<f64>>,
    normal_sums: Vec<Vec<DVec3>>,
}

impl Fit {
    fn new(job: &Job, node: NodeId, parts: Range<usize>) -> Self {
        let mut starts = vec![0];
        for part in &job.character.display.parts[parts.clone()] {
            starts.push(starts[starts.len() - 1] + part.vertices.len());
        }
        let turned = vec![false; parts.len()];
        let basis = Basis { weights: vec![Vec::new(); job.keys.len()], ..Basis::default() };
        Self { node, parts, starts, turned, basis, normal_matrix: Vec::new(), normal_sums: Vec::new() }
    }

    /// Returns a key's displacements as one dense vector.
    fn dense(&self, deltas: &[Delta], list: fn(&Delta) -> &Vec<(u32, Vec3)>) -> Vec<DVec3> {
        let mut row = vec![DVec3::ZERO; self.starts[self.parts.len()]];
        for (delta, start) in deltas[self.parts.clone()].iter().zip(&self.starts) {
            list(delta).iter().for_each(|(v, d)| row[start + *v as usize] = d.as_dvec3());
        }
        row
    }

    /// First pass: projects a key onto the basis and notes which parts change normals.
    fn take(&mut self, key: usize, deltas: &[Delta], within: f64) {
        for (turned, delta) in self.turned.iter_mut().zip(&deltas[self.parts.clone()]) {
            *turned |= !delta.normals.is_empty();
        }
        let row = self.dense(deltas, |d| &d.positions);
        self.basis.take(key, row, within);
    }

    fn begin_normals(&mut self) {
        if self.turned.iter().any(|t| *t) {
            let (count, length) = (self.basis.vectors.len(), self.starts[self.parts.len()]);
            self.normal_matrix = vec![vec![0.0; count]; count];
            self.normal_sums = vec![vec![DVec3::ZERO; length]; count];
        }
    }

    /// Second pass: computes a key's weights in the complete basis and adds the key to the sums for normals.
    fn weigh(&mut self, key: usize, deltas: &[Delta], within: f64) {
        let row = self.dense(deltas, |d| &d.positions);
        self.basis.weigh(key, row, within);
        if self.normal_sums.is_empty() {
            return;
        }
        let normals = self.dense(deltas, |d| &d.normals);
        let weights = &self.basis.weights[key];
        let rows = self.normal_matrix.par_iter_mut().zip(&mut self.normal_sums).zip(weights);
        rows.filter(|(_, w)| **w != 0.0).for_each(|((matrix, sum), w)| {
            matrix.iter_mut().zip(weights).for_each(|(m, other)| *m += w * other);
            sum.iter_mut().zip(&normals).for_each(|(s, n)| *s += *n * *w);
        });
    }

    fn targets(mut self, clip_name: &str, budget: f64) -> NodeTargets {
        let count = self.basis.vectors.len();
        least_squares(&mut self.normal_matrix, &mut self.normal_sums);
        let ranges = Ranges::of(&self.basis.weights);
        let (positions, normals) = (ranges.targets(&self.basis.vectors), ranges.targets(&self.normal_sums));
        // Weights are at most 1, so the entries dropped at one vertex together stay within [`DROPPED`] of the budget.
        let cut = budget * DROPPED / positions.len() as f64;
        let target = |t: usize| self.sparse(&positions[t], normals.get(t).map_or(&[][..], |n| &n[..]), cut);
        let mut deltas: Vec<Vec<Delta>> = (0..positions.len()).map(target).collect();
        let shows = |t: &usize| deltas[*t].iter().any(|d| !d.positions.is_empty());
        let kept: Vec<usize> = (0..positions.len()).filter(shows).collect();
        let name = |t: &usize| match *t < count {
            true => format!("{clip_name} fit {}", t + 1),
            false => format!("{clip_name} fit 0"),
        };
        let row = |row: &Vec<f64>| {
            let all = ranges.weights(row);
            kept.iter().map(|&t| all[t]).collect()
        };
        let reach = |t: &usize| positions[*t].iter().map(|d| d.length()).fold(0.0, f64::max);
        let thinning = Thinning { reach: kept.iter().map(reach).collect(), within: budget * KEYS };
        NodeTargets {
            node: self.node,
            names: kept.iter().map(name).collect(),
            weights: self.basis.weights.iter().map(row).collect(),
            deltas: kept.iter().map(|&t| std::mem::take(&mut deltas[t])).collect(),
            thinning: Some(thinning),
            parts: self.parts,
        }
    }

    /// Returns a target as sparse displacements, one [`Delta`] per part, without vertices displaced by at most `cut`.
    fn sparse(&self, positions: &[DVec3], normals: &[DVec3], cut: f64) -> Vec<Delta> {
        let part = |p: usize| {
            let mut delta = Delta::default();
            for (v, at) in (self.starts[p]..self.starts[p + 1]).enumerate() {
                if positions[at].length() <= cut {
                    continue;
                }
                delta.positions.push((v as u32, positions[at].as_vec3()));
                if let Some(normal) = normals.get(at).filter(|n| self.turned[p] && **n != DVec3::ZERO) {
                    delta.normals.push((v as u32, normal.as_vec3()));
                }
            }
            delta
        };
        (0..self.parts.len()).map(part).collect()
    }
}

/// An orthogonal basis of displacements, and the keys' coordinates in it.
#[derive(Default)]
struct Basis {
    vectors: Vec<Vec<DVec3>>,
    squares: Vec<f64>,
    /// `[key][vector]`. In the first pass, a key has no entries for vectors that were added after the basis represented
    /// it.
    weights: Vec<Vec<f64>>,
    /// Keys of the block that the basis does not represent yet: key index, residual, and the largest length of a
    /// residual vector.
    open: Vec<(usize, Vec<DVec3>, f64)>,
}

impl Basis {
    /// Returns a key's weights and leaves the residual in `row`.
    fn project(&self, row: &mut [DVec3]) -> Vec<f64> {
        let weight = |(vector, square): (&Vec<DVec3>, &f64)| {
            let weight = dot(row, vector) / square;
            row.iter_mut().zip(vector).for_each(|(r, b)| *r -= *b * weight);
            weight
        };
        self.vectors.iter().zip(&self.squares).map(weight).collect()
    }

    /// Projects a key onto the basis; the key stays open if its residual exceeds `within`.
    fn take(&mut self, key: usize, mut row: Vec<DVec3>, within: f64) {
        self.weights[key] = self.project(&mut row);
        let left = longest(&row);
        if left > within {
            self.open.push((key, row, left));
        }
    }

    /// Adds residuals of open keys to the basis until no residual vector of any open key is longer than `within`.
    fn grow(&mut self, within: f64) {
        while let Some(worst) =
            (0..self.open.len()).max_by(|a, b| self.open[*a].2.total_cmp(&self.open[*b].2))
        {
            if self.open[worst].2 <= within {
                break;
            }
            let new = self.open[worst].1.clone();
            let square = dot(&new, &new);
            let weigh = |(_, row, left): &mut (usize, Vec<DVec3>, f64)| {
                let weight = dot(row, &new) / square;
                row.iter_mut().zip(&new).for_each(|(r, b)| *r -= *b * weight);
                *left = longest(row);
                weight
            };
            let added: Vec<f64> = self.open.par_iter_mut().map(weigh).collect();
            for ((key, ..), weight) in self.open.iter().zip(added) {
                self.weights[*key].push(weight);
            }
            // This key's residual is now zero up to rounding.
            self.open.swap_remove(worst);
            self.vectors.push(new);
            self.squares.push(square);
        }
        self.open.clear();
    }

    /// Computes a key's weights in the complete basis. If the residual in the complete basis exceeds `within`, the key
    /// keeps its weights from the first pass.
    fn weigh(&mut self, key: usize, mut row: Vec<DVec3>, within: f64) {
        let weights = self.project(&mut row);
        if longest(&row) <= within {
            self.weights[key] = weights;
        } else {
            self.weights[key].resize(self.vectors.len(), 0.0);
        }
    }
}

fn dot(a: &[DVec3], b: &[DVec3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a.dot(*b)).sum()
}

fn longest(row: &[DVec3]) -> f64 {
    row.iter().map(|d| d.length_squared()).fold(0.0, f64::max).sqrt()
}

/// The lowest and highest weight of each vector over all keys.
struct Ranges(Vec<[f64; 2]>);

impl Ranges {
    /// Ranges of weights given as `[key][vector]`.
    fn of(weights: &[Vec<f64>]) -> Self {
        let count = weights.first().map_or(0, Vec::len);
        let end = |b: usize, pick: fn(f64, f64) -> f64| weights.iter().map(|row| row[b]).reduce(pick);
        let range = |b| [f64::min, f64::max].map(|pick| end(b, pick).unwrap_or(0.0));
        Self((0..count).map(range).collect())
    }

    /// Scales the vectors such that their weights run from 0 to 1. Appends the constant target: the sum of the vectors,
    /// each times its lowest weight.
    fn targets(&self, vectors: &[Vec<DVec3>]) -> Vec<Vec<DVec3>> {
        let mut constant = vec![DVec3::ZERO; vectors.first().map_or(0, Vec::len)];
        let mut out = Vec::with_capacity(vectors.len() + 1);
        for (vector, [low, high]) in vectors.iter().zip(&self.0) {
            constant.iter_mut().zip(vector).for_each(|(c, d)| *c += *d * *low);
            out.push(vector.iter().map(|d| *d * (high - low)).collect());
        }
        out.push(constant);
        out
    }

    /// Maps a key's weights to the targets of [`Self::targets`], all within 0..=1.
    fn weights(&self, row: &[f64]) -> Vec<f32> {
        let unit = |(w, [low, high]): (&f64, &[f64; 2])| match high > low {
            true => ((w - low) / (high - low)).clamp(0.0, 1.0) as f32,
            false => 0.0,
        };
        row.iter().zip(&self.0).map(unit).chain([1.0]).collect()
    }
}

/// Fits vectors to the sums over keys by least squares: solves the normal equations by Gaussian elimination.
fn least_squares(matrix: &mut [Vec<f64>], right: &mut [Vec<DVec3>]) {
    let count = matrix.len();
    for i in 0..count {
        // The matrix is positive definite up to rounding, so the pivots are on the diagonal.
        let pivot = matrix[i][i].max(1e-30);
        let (row, sum) = (matrix[i].clone(), right[i].clone());
        matrix.par_iter_mut().zip(&mut *right).enumerate().filter(|(j, _)| *j != i).for_each(
            |(_, (to, out))| {
                let factor = to[i] / pivot;
                to.iter_mut().zip(&row).for_each(|(t, f)| *t -= f * factor);
                out.iter_mut().zip(&sum).for_each(|(t, f)| *t -= *f * factor);
            },
        );
    }
    for i in 0..count {
        let pivot = matrix[i][i].max(1e-30);
        right[i].iter_mut().for_each(|r| *r /= pivot);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns keys that combine two displacement fields with a little noise.
    fn keys() -> Vec<Vec<DVec3>> {
        let shape = |i: usize, f: f64| DVec3::new((i as f64 * f).sin(), (i as f64 * f * 0.7).cos(), 0.1 * f);
        (0..40)
            .map(|k| {
                let (a, b) = ((f64::from(k) * 0.3).sin(), (f64::from(k) * 0.21).cos());
                let noise = |i: usize| 1e-4 * ((i * 31 + k as usize * 17) as f64).sin();
                (0..300).map(|i| shape(i, 0.11) * a + shape(i, 0.05) * b + DVec3::splat(noise(i))).collect()
            })
            .collect()
    }

    fn basis(keys: &[Vec<DVec3>], within: f64, block: usize) -> Basis {
        let mut basis = Basis { weights: vec![Vec::new(); keys.len()], ..Basis::default() };
        for block in blocks(keys.len(), block) {
            block.into_iter().for_each(|k| basis.take(k, keys[k].clone(), within));
            basis.grow(within);
        }
        (0..keys.len()).for_each(|k| basis.weigh(k, keys[k].clone(), within));
        basis
    }

    fn farthest(vectors: &[Vec<DVec3>], weights: &[f64], key: &[DVec3]) -> f64 {
        let at = |i: usize| vectors.iter().zip(weights).map(|(b, w)| b[i] * *w).sum::<DVec3>();
        (0..key.len()).map(|i| at(i).distance(key[i])).fold(0.0, f64::max)
    }

    #[test]
    fn shapes_of_two_motions_need_two_targets_and_keep_the_budget() {
        let keys = keys();
        for block in [40, 12, 8] {
            let Basis { vectors, weights, .. } = basis(&keys, 1e-3, block);
            assert_eq!(vectors.len(), 2);
            assert!(keys.iter().zip(&weights).all(|(key, row)| farthest(&vectors, row, key) <= 1e-3));
            // Normals use the same weights.
            let sum = |i: usize, j: usize| weights.iter().map(|row| row[i] * row[j]).sum::<f64>();
            let mut matrix: Vec<Vec<f64>> = (0..2).map(|i| (0..2).map(|j| sum(i, j)).collect()).collect();
            let right = |b: usize| {
                let at = |i: usize| keys.iter().zip(&weights).map(|(k, row)| k[i] * row[b]).sum::<DVec3>();
                (0..300).map(at).collect()
            };
            let mut normals: Vec<Vec<DVec3>> = (0..2).map(right).collect();
            least_squares(&mut matrix, &mut normals);
            assert!(keys.iter().zip(&weights).all(|(key, row)| farthest(&normals, row, key) <= 1e-3));
        }
        // Smaller budgets need more vectors, up to one per key. Small blocks need a few more.
        let (finer, blocky) = (basis(&keys, 1e-5, 40).vectors.len(), basis(&keys, 1e-5, 8));
        assert!(finer > 2 && finer <= 40, "{finer}");
        assert!(blocky.vectors.len() <= 40, "{}", blocky.vectors.len());
        let rows = keys.iter().zip(&blocky.weights);
        assert!(rows.clone().all(|(key, row)| farthest(&blocky.vectors, row, key) <= 1e-5 * (1.0 + 1e-9)));
        assert!(basis(&keys, 10.0, 40).vectors.is_empty());
    }

    #[test]
    fn every_key_is_looked_at_once_and_the_first_block_is_spread_over_all() {
        for (count, size) in [(1, 8), (40, 40), (41, 8), (100, 7), (7, 100)] {
            let all = blocks(count, size);
            assert!(all.iter().all(|b| b.len() <= size));
            let mut keys: Vec<usize> = all.concat();
            keys.sort_unstable();
            assert_eq!(keys, (0..count).collect::<Vec<_>>());
        }
        assert_eq!(blocks(41, 4)[0], [0, 10, 20, 30]);
    }

    #[test]
    fn weights_of_the_scaled_vectors_and_the_constant_one_lie_in_0_to_1() {
        let keys = keys();
        let Basis { vectors, weights, .. } = basis(&keys, 1e-3, 40);
        assert!(weights.iter().flatten().any(|w| *w < -0.5));
        let ranges = Ranges::of(&weights);
        let targets = ranges.targets(&vectors);
        for (key, row) in keys.iter().zip(&weights) {
            let unit = ranges.weights(row);
            assert!(unit.iter().all(|w| (0.0..=1.0).contains(w)) && unit[2] == 1.0, "{unit:?}");
            let wide: Vec<f64> = unit.iter().copied().map(f64::from).collect();
            assert!(farthest(&targets, &wide, key) <= 1e-3 + 1e-6);
        }
        // If a weight is constant, its displacements lie entirely in the constant target.
        let still = Ranges::of(&[vec![0.5], vec![0.5]]);
        assert_eq!(still.weights(&[0.5]), [0.0, 1.0]);
        assert_eq!(still.targets(&[vec![DVec3::X]]), [vec![DVec3::ZERO], vec![DVec3::X * 0.5]]);
    }
}
