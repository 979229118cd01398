//! Abstract handles: additional weight functions where the given handles cannot bend the shape (Jacobson et al. 2012,
//! section 3.3).
//!
//! The weights are cubic B-splines in weight space around seed vertices. Seeds lie far from each other, and at least
//! twice as far from every handle. An abstract weight is therefore zero wherever a single handle has all the weight.
//!
//! (differs) A spline extends to [`WIDE`] times the distance of the nearest seed (in the paper: twice). Many seeds
//! cannot be evenly spaced on a mesh with few edge loops, and narrow splines would leave gaps that show as ripples.

use super::weights::Weights;
use crate::base::Random;

/// Number of candidate vertices for seeds.
const CANDIDATES: usize = 1500;
/// Maximum number of rounds in which every seed moves to a better position.
const ROUNDS: usize = 8;
/// Radius of a spline as a multiple of the distance to the nearest other seed; it never extends to a handle.
const WIDE: f64 = 4.0;
/// Minimum distance of a seed from other seeds and from handles, in weight space.
const LEAST: f64 = 1e-3;
/// Weights up to this size are dropped.
const NEGLIGIBLE: f64 = 1e-6;

/// The weight function of an abstract handle.
pub(super) struct Extra {
    /// The vertex at the centre of the spline.
    pub seed: usize,
    /// `(vertex, weight)` pairs.
    pub weights: Vec<(u32, f64)>,
}

/// Creates up to `wanted` abstract handles with seeds among `vertices`; fewer if there is no space for more. Computes
/// weights for `vertices` and for all vertices from index `inside` on.
pub(super) fn extras(
    weights: &Weights,
    vertices: &[usize],
    inside: usize,
    wanted: usize,
    seed: u64,
) -> Vec<Extra> {
    let mut random = Random::new(seed);
    if vertices.is_empty() || wanted == 0 {
        return Vec::new();
    }
    let candidates: Vec<usize> = if vertices.len() <= CANDIDATES {
        vertices.to_vec()
    } else {
        (0..CANDIDATES).map(|_| vertices[random.below(vertices.len())]).collect()
    };
    let space = Space::new(weights);
    let corner: Vec<f64> = candidates.iter().map(|&v| 0.5 * space.to_corner(v)).collect();
    let column = |v: usize| -> Vec<f64> { candidates.iter().map(|&c| space.distance(c, v)).collect() };
    let mut seeds: Vec<usize> = Vec::new();
    let mut columns: Vec<Vec<f64>> = Vec::new();
    // Returns the candidate vertex that is farthest from all handles and from all seeds except seed `but`.
    let farthest = |columns: &[Vec<f64>], but: usize| {
        let room = |c: usize| {
            let others = columns.iter().enumerate().filter(|(k, _)| *k != but);
            others.map(|(_, d)| d[c]).fold(corner[c], f64::min)
        };
        let best = (0..candidates.len()).map(|c| (c, room(c))).max_by(|a, b| a.1.total_cmp(&b.1));
        best.unwrap_or((0, 0.0))
    };
    while seeds.len() < wanted {
        let (c, room) = farthest(&columns, usize::MAX);
        if room <= LEAST {
            break;
        }
        seeds.push(candidates[c]);
        columns.push(column(candidates[c]));
    }
    for _ in 0..ROUNDS {
        let mut moved = false;
        for k in 0..seeds.len() {
            let (c, _) = farthest(&columns, k);
            if candidates[c] != seeds[k] {
                moved = true;
                seeds[k] = candidates[c];
                columns[k] = column(candidates[c]);
            }
        }
        if !moved {
            break;
        }
    }
    let about = |k: usize| {
        let others = (0..seeds.len()).filter(|&j| j != k).map(|j| space.distance(seeds[k], seeds[j]));
        let reach = (WIDE * others.fold(f64::INFINITY, f64::min)).min(space.to_corner(seeds[k]));
        let near = |v: usize| {
            let w = spline(space.distance(v, seeds[k]) / reach);
            (w > NEGLIGIBLE).then_some((v as u32, w))
        };
        Extra {
            seed: seeds[k],
            weights: vertices.iter().copied().chain(inside..weights.len()).filter_map(near).collect(),
        }
    };
    (0..seeds.len()).map(about).filter(|e| e.weights.len() > 1).collect()
}

/// Returns the cubic B-spline over 0..1: one at 0, zero from 1 on.
fn spline(t: f64) -> f64 {
    let u = 2.0 * t;
    if !u.is_finite() || u >= 2.0 {
        0.0
    } else if u >= 1.0 {
        0.25 * (2.0 - u).powi(3)
    } else {
        1.0 - 1.5 * u * u + 0.75 * u * u * u
    }
}

/// Distances between vertices in weight space.
struct Space<'a> {
    weights: &'a Weights,
    square: Vec<f64>,
}

impl<'a> Space<'a> {
    fn new(weights: &'a Weights) -> Self {
        let square = (0..weights.len()).map(|v| weights.of(v).map(|(_, w)| w * w).sum()).collect();
        Self { weights, square }
    }

    fn distance(&self, a: usize, b: usize) -> f64 {
        let weight = |j: usize| self.weights.of(b).find(|(k, _)| *k == j).map_or(0.0, |(_, w)| w);
        let dot: f64 = self.weights.of(a).map(|(j, w)| w * weight(j)).sum();
        (self.square[a] + self.square[b] - 2.0 * dot).max(0.0).sqrt()
    }

    /// Returns the distance to the nearest handle: the point of weight space where the handle has weight 1.
    fn to_corner(&self, v: usize) -> f64 {
        let heaviest = self.weights.of(v).map(|(_, w)| w).fold(0.0, f64::max);
        (self.square[v] - 2.0 * heaviest + 1.0).max(0.0).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn between_two_handles_they_spread_evenly_and_vanish_at_both() {
        let mut weights = Weights::default();
        for i in 0..=1000 {
            let t = f64::from(i) / 1000.0;
            weights.push([(0, 1.0 - t), (1, t)].into_iter().filter(|(_, w)| *w > 0.0));
        }
        let all: Vec<usize> = (0..1001).collect();
        let extras = extras(&weights, &all, 1001, 5, 3);
        assert_eq!(extras.len(), 5);
        let mut seeds: Vec<usize> = extras.iter().map(|e| e.seed).collect();
        seeds.sort_unstable();
        // Seeds at distance d from each other and 2 d from the ends lie at multiples of 1/8.
        for (seed, expected) in seeds.iter().zip([250, 375, 500, 625, 750]) {
            assert!(seed.abs_diff(expected) < 60, "{seeds:?}");
        }
        for extra in &extras {
            assert!(extra.weights.iter().all(|(v, w)| *v != 0 && *v != 1000 && *w > 0.0 && *w <= 1.0));
        }
    }
}
