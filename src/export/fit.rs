//! Few morph targets that all keys share, within an error budget.
//!
//! A greedy reduced basis: the displacements of the key that is worst off join the basis, made orthogonal to it
//! (Gram-Schmidt with pivoting by the largest residual of any vertex), until no vertex of any key is off by more than
//! the budget. What a key is in that basis are its weights. Normals follow the same weights in least squares.

use super::morph::Delta;
use super::posed::Job;
use super::targets::{NodeTargets, Thinning};
use crate::base::math::Vec3;
use glam::DVec3;
use std::ops::Range;

/// Share of the budget for entries of targets that are left out for being small.
const DROPPED: f64 = 0.25;
/// Share for keys of weights that are left out.
const KEYS: f64 = 0.25;

/// The targets of every node. `budget` is in millimetres of the world, `stretch` what skinning makes of a length.
pub(super) fn fit(job: &Job, deltas: &[Vec<Delta>], budget: f64, stretch: f64) -> Vec<NodeTargets> {
    let budget = budget.max(0.0) * 1e-3 / stretch.max(1e-12);
    let nodes = job.drawn().into_iter();
    nodes
        .filter_map(|(node, parts)| {
            let space = Space::new(job, deltas, parts.clone());
            let (basis, weights) = greedy(&space.positions, budget * (1.0 - DROPPED - KEYS));
            if basis.is_empty() {
                return None;
            }
            let normals = least_squares(&weights, &space.normals, basis.len());
            // No key shows an entry larger than this by its largest weight; all together stay within their share.
            let small = budget * DROPPED / basis.len() as f64;
            let most = |b: usize| weights.iter().map(|row| row[b].abs()).fold(0.0, f64::max);
            let cut: Vec<f64> = (0..basis.len()).map(|b| small / most(b).max(1e-300)).collect();
            let names =
                (0..basis.len()).map(|b| format!("{} fit {}", job.options.clip_name, b + 1)).collect();
            let deltas = (0..basis.len()).map(|b| space.target(&basis[b], &normals[b], cut[b])).collect();
            let weights = weights.iter().map(|row| row.iter().map(|w| *w as f32).collect()).collect();
            let reach = |b: &Vec<DVec3>| b.iter().map(|d| d.length()).fold(0.0, f64::max);
            let thinning = Thinning { reach: basis.iter().map(reach).collect(), within: budget * KEYS };
            Some(NodeTargets { node, parts, deltas, names, weights, thinning: Some(thinning) })
        })
        .collect()
}

/// The displaced vertices of a node's parts, as one long vector per key.
struct Space {
    /// `(part of the node, vertex)`, rising.
    vertices: Vec<(u32, u32)>,
    parts: usize,
    /// Whether any key turns normals of a part.
    turned: Vec<bool>,
    /// `[key][vertex]`.
    positions: Vec<Vec<DVec3>>,
    normals: Vec<Vec<DVec3>>,
}

impl Space {
    fn new(_job: &Job, deltas: &[Vec<Delta>], parts: Range<usize>) -> Self {
        let of = |key: &[Delta]| key[parts.clone()].to_vec();
        let keys: Vec<Vec<Delta>> = deltas.iter().map(|key| of(key)).collect();
        let mut vertices: Vec<(u32, u32)> = Vec::new();
        for key in &keys {
            for (p, delta) in key.iter().enumerate() {
                vertices.extend(delta.positions.iter().chain(&delta.normals).map(|e| (p as u32, e.0)));
            }
            vertices.sort_unstable();
            vertices.dedup();
        }
        let dense = |list: fn(&Delta) -> &Vec<(u32, Vec3)>| {
            let row = |key: &Vec<Delta>| {
                let mut row = vec![DVec3::ZERO; vertices.len()];
                for (p, delta) in key.iter().enumerate() {
                    for (v, d) in list(delta) {
                        if let Ok(at) = vertices.binary_search(&(p as u32, *v)) {
                            row[at] = d.as_dvec3();
                        }
                    }
                }
                row
            };
            keys.iter().map(row).collect::<Vec<_>>()
        };
        let turned = (0..parts.len()).map(|p| keys.iter().any(|k| !k[p].normals.is_empty())).collect();
        let (positions, normals) = (dense(|d| &d.positions), dense(|d| &d.normals));
        Self { vertices, parts: parts.len(), turned, positions, normals }
    }

    /// A target's sparse form, without position entries up to `cut`.
    fn target(&self, positions: &[DVec3], normals: &[DVec3], cut: f64) -> Vec<Delta> {
        let mut out = vec![Delta::default(); self.parts];
        for (i, &(part, vertex)) in self.vertices.iter().enumerate() {
            let delta = &mut out[part as usize];
            if positions[i].length() <= cut {
                continue;
            }
            delta.positions.push((vertex, positions[i].as_vec3()));
            if self.turned[part as usize] && normals[i] != DVec3::ZERO {
                delta.normals.push((vertex, normals[i].as_vec3()));
            }
        }
        out
    }
}

/// Basis vectors and, per key, its weights in them; no vertex of a key is further off than `budget`.
fn greedy(keys: &[Vec<DVec3>], budget: f64) -> (Vec<Vec<DVec3>>, Vec<Vec<f64>>) {
    let mut residual = keys.to_vec();
    let (mut basis, mut weights): (Vec<Vec<DVec3>>, _) = (Vec::new(), vec![Vec::new(); keys.len()]);
    let dot = |a: &[DVec3], b: &[DVec3]| a.iter().zip(b).map(|(a, b)| a.dot(*b)).sum::<f64>();
    let farthest = |r: &Vec<DVec3>| r.iter().map(|d| d.length_squared()).fold(0.0, f64::max).sqrt();
    while basis.len() < keys.len() {
        let worst = residual.iter().map(farthest).enumerate().max_by(|a, b| a.1.total_cmp(&b.1));
        let Some((key, _)) = worst.filter(|w| w.1 > budget) else { break };
        let new = residual[key].clone();
        let square = dot(&new, &new);
        for (row, rest) in weights.iter_mut().zip(&mut residual) {
            let weight = dot(rest, &new) / square;
            rest.iter_mut().zip(&new).for_each(|(r, b)| *r -= *b * weight);
            row.push(weight);
        }
        basis.push(new);
    }
    (basis, weights)
}

/// Vectors whose sums by the weights are nearest to the keys' own: the normal equations, by Gauss elimination.
fn least_squares(weights: &[Vec<f64>], keys: &[Vec<DVec3>], count: usize) -> Vec<Vec<DVec3>> {
    let length = keys.first().map_or(0, Vec::len);
    let mut matrix = vec![vec![0.0; count]; count];
    let mut right = vec![vec![DVec3::ZERO; length]; count];
    for (row, key) in weights.iter().zip(keys) {
        for i in 0..count {
            (0..count).for_each(|j| matrix[i][j] += row[i] * row[j]);
            right[i].iter_mut().zip(key).for_each(|(r, k)| *r += *k * row[i]);
        }
    }
    for i in 0..count {
        // Positive definite but for rounding: pivots are on the diagonal.
        let pivot = matrix[i][i].max(1e-30);
        for j in 0..count {
            if j == i {
                continue;
            }
            let factor = matrix[j][i] / pivot;
            let (from, to) = (matrix[i].clone(), &mut matrix[j]);
            to.iter_mut().zip(&from).for_each(|(t, f)| *t -= f * factor);
            let from = right[i].clone();
            right[j].iter_mut().zip(&from).for_each(|(t, f)| *t -= *f * factor);
        }
    }
    for i in 0..count {
        let pivot = matrix[i][i].max(1e-30);
        right[i].iter_mut().for_each(|r| *r /= pivot);
    }
    right
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_of_two_motions_need_two_targets_and_keep_the_budget() {
        let shape = |i: usize, f: f64| DVec3::new((i as f64 * f).sin(), (i as f64 * f * 0.7).cos(), 0.1 * f);
        let keys: Vec<Vec<DVec3>> = (0..40)
            .map(|k| {
                let (a, b) = ((f64::from(k) * 0.3).sin(), (f64::from(k) * 0.21).cos());
                let noise = |i: usize| 1e-4 * ((i * 31 + k as usize * 17) as f64).sin();
                (0..300).map(|i| shape(i, 0.11) * a + shape(i, 0.05) * b + DVec3::splat(noise(i))).collect()
            })
            .collect();
        let (basis, weights) = greedy(&keys, 1e-3);
        assert_eq!(basis.len(), 2);
        let normals = least_squares(&weights, &keys, 2);
        for (key, row) in keys.iter().zip(&weights) {
            for i in 0..300 {
                let fitted = basis[0][i] * row[0] + basis[1][i] * row[1];
                assert!((fitted - key[i]).length() <= 1e-3);
                let fitted = normals[0][i] * row[0] + normals[1][i] * row[1];
                assert!((fitted - key[i]).length() <= 1e-3);
            }
        }
        // Finer budgets need more, down to all of them.
        let (finer, _) = greedy(&keys, 1e-5);
        assert!(finer.len() > 2 && finer.len() <= 40, "{}", finer.len());
        assert!(greedy(&keys, 10.0).0.is_empty());
    }
}
