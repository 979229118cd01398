//! The skin nearest to each cube. By this relation, values of the skin, such as factors on the stiffness, determine
//! values of the flesh below, down to the bones.
//!
//! The skin in or next to a cube is a *patch*. From the patches, a search goes from cube to cube, so the search stays
//! inside the body: a cube of the torso never gets the skin of an arm that lies beside the torso. Each cube takes the
//! nearest four patches, so that values change gradually from cube to cube.

use super::levels::{Level, Lists, Share};
use super::place::{Finder, Place, Vertices};
use crate::base::math::DVec3;
use crate::deform::fast::middles;
use rayon::prelude::*;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Number of patches per cube.
const NEAR: usize = 4;
/// Maximum edge length of the pieces into which a triangle is divided for sampling, in edge lengths of a cube.
const PIECE: f64 = 0.7;
/// Maximum number of pieces along an edge of a triangle.
const MOST_PIECES: usize = 64;
/// Within this distance, in edge lengths of a cube, patches count almost equally.
const BLUR: f64 = 0.35;

/// The skin nearest to each cube of the finest level.
#[derive(Clone, Debug, Default)]
pub struct Cover {
    /// Per patch: its control vertices, with shares that sum to 1.
    patches: Lists<Share>,
    /// Per cube: the patches nearest to it, with shares that sum to 1; none if no skin can be reached.
    near: Lists<Share>,
}

/// A piece of a triangle at a cube.
struct Piece {
    cell: u32,
    x: DVec3,
    area: f64,
    corners: [u32; 3],
    shares: [f64; 3],
}

impl Cover {
    /// Finds the skin of the cubes of a level. `embedding` has the places of the vertices.
    pub(super) fn new(
        finder: &Finder,
        vertices: &Vertices,
        embedding: &[Option<Place>],
        level: &Level,
    ) -> Self {
        let size = finder.inside.size;
        let pieces = |t: &[u32; 3]| -> Vec<Piece> {
            let x = t.map(|v| vertices.positions[v as usize]);
            let area = 0.5 * (x[1] - x[0]).cross(x[2] - x[0]).length();
            let longest = (0..3).map(|k| x[k].distance(x[(k + 1) % 3])).fold(0.0, f64::max);
            let count = ((longest / (PIECE * size)).ceil() as usize).clamp(1, MOST_PIECES);
            let piece = |shares: [f64; 3]| {
                let mean = |of: &[DVec3]| (0..3).map(|k| of[t[k] as usize] * shares[k]).sum::<DVec3>();
                let (x, normal) = (mean(vertices.positions), mean(vertices.normals).normalize_or_zero());
                let main = (0..3).fold(0, |best, k| if shares[k] > shares[best] { k } else { best });
                let v = t[main] as usize;
                // Skin without a cube below it belongs to the cube that it deforms with.
                let own = || embedding[v].filter(|p| p.apart < 1.0).map(|p| p.cell as usize);
                let cell = finder.below(vertices.weights, v, normal, x).or_else(own)? as u32;
                Some(Piece { cell, x, area: area / (count * count) as f64, corners: *t, shares })
            };
            middles(count).filter_map(piece).collect()
        };
        let pieces: Vec<Piece> = vertices.triangles.par_iter().flat_map_iter(pieces).collect();
        let mut area = vec![0.0; level.cells.len()];
        let mut sum = vec![DVec3::ZERO; level.cells.len()];
        let mut parts: Vec<(u32, u32, f64)> = Vec::with_capacity(3 * pieces.len());
        for piece in &pieces {
            area[piece.cell as usize] += piece.area;
            sum[piece.cell as usize] += piece.x * piece.area;
            let of = |k: usize| (piece.cell, piece.corners[k], piece.area * piece.shares[k]);
            parts.extend((0..3).map(of));
        }
        parts.sort_by_key(|p| (p.0, p.1));
        let (mut patches, mut places) = (Vec::new(), Vec::new());
        for patch in parts.chunk_by(|a, b| a.0 == b.0) {
            let cell = patch[0].0;
            let whole = area[cell as usize];
            if whole <= 0.0 {
                continue;
            }
            for same in patch.chunk_by(|a, b| a.1 == b.1) {
                let weight = same.iter().map(|p| p.2).sum::<f64>() / whole;
                patches.push((places.len() as u32, Share { node: same[0].1, weight: weight as f32 }));
            }
            places.push((cell, sum[cell as usize] / whole));
        }
        let middle = |c: usize| {
            let cell = level.cells[c];
            0.5 * (finder.inside.nodes[cell[0] as usize] + finder.inside.nodes[cell[7] as usize])
        };
        let middles: Vec<DVec3> = (0..level.cells.len()).map(middle).collect();
        let near = spread(&places, &middles, &beside(level), (BLUR * size).powi(2));
        Self { patches: Lists::new(places.len(), &patches), near: Lists::new(level.cells.len(), &near) }
    }

    /// Number of patches.
    pub fn patches(&self) -> usize {
        self.patches.count()
    }

    /// Writes the factor of each cube, given the binary logarithm of the factor of each control vertex. `patches` is
    /// memory for one number per patch. Does not allocate if it has enough capacity.
    pub fn factors(&self, field: &[f32], patches: &mut Vec<f32>, out: &mut [f32]) {
        let mean = |shares: &[Share], of: &[f32]| -> f32 {
            shares.iter().map(|s| s.weight * of[s.node as usize]).sum()
        };
        patches.clear();
        patches.extend((0..self.patches.count()).map(|p| mean(self.patches.of(p), field)));
        out.iter_mut().enumerate().for_each(|(c, factor)| *factor = mean(self.near.of(c), patches).exp2());
    }
}

/// Per cube: the cubes that share a face with it.
fn beside(level: &Level) -> Lists<u32> {
    let both: Vec<(u32, u32)> = level.faces().into_iter().flat_map(|(a, b, _)| [(a, b), (b, a)]).collect();
    Lists::new(level.cells.len(), &both)
}

/// Returns the nearest patches of each cube, with shares that fall with the squared distance plus `blur`. `places` has the
/// cube and the middle of each patch, `middles` the middle of each cube.
fn spread(places: &[(u32, DVec3)], middles: &[DVec3], beside: &Lists<u32>, blur: f64) -> Vec<(u32, Share)> {
    // Squared distances are not negative, so their bits have their order.
    let away =
        |cell: u32, patch: u32| middles[cell as usize].distance_squared(places[patch as usize].1).to_bits();
    let mut near: Vec<Vec<(u32, f64)>> = vec![Vec::new(); middles.len()];
    let lacks = |found: &[(u32, f64)], patch: u32| found.len() < NEAR && found.iter().all(|f| f.0 != patch);
    let first =
        places.iter().zip(0u32..).map(|(place, patch)| Reverse((away(place.0, patch), place.0, patch)));
    let mut queue: BinaryHeap<Reverse<(u64, u32, u32)>> = first.collect();
    while let Some(Reverse((distance, cell, patch))) = queue.pop() {
        if !lacks(&near[cell as usize], patch) {
            continue;
        }
        near[cell as usize].push((patch, f64::from_bits(distance)));
        for &next in beside.of(cell as usize).iter().filter(|&&n| lacks(&near[n as usize], patch)) {
            queue.push(Reverse((away(next, patch), next, patch)));
        }
    }
    let mut out = Vec::with_capacity(NEAR * middles.len());
    for (found, cell) in near.iter().zip(0u32..) {
        let share = |distance: f64| 1.0 / (distance + blur);
        let whole: f64 = found.iter().map(|f| share(f.1)).sum();
        let of = |f: &(u32, f64)| Share { node: f.0, weight: (share(f.1) / whole) as f32 };
        out.extend(found.iter().map(|f| (cell, of(f))));
    }
    out
}
