//! A coarser spring system over the same skeleton, which finds slow, smooth changes cheaply.
//!
//! About every seventh vertex becomes a coarse vertex (a maximal set of vertices at least three edges apart). Every
//! other vertex belongs to the region of the nearest coarse vertex, and regions that touch are neighbours. A coarse
//! vertex is a vertex of the mesh with its own attachment and weights, so the same code binds the coarse springs.
//! Since reaches are lengths, not numbers of edges ([`super`]), both levels have nearly equal equilibria.

use crate::base::math::Vec3;
use crate::bind::{Attachments, Character};
use crate::deform::Bound;
use crate::geom::{Adjacency, ControlMesh};
use std::collections::BinaryHeap;
use std::sync::Arc;

/// Meshes with fewer vertices are not coarsened.
const SMALLEST: usize = 400;
/// A coarse level does not move vertices that are nearer to the bone than this multiple of the level's edge length.
const THIN: f32 = 1.0;
/// Largest number of coarse vertices from which a fine vertex interpolates its move.
pub const PARENTS: usize = 4;

/// A coarse level and its interpolation to the finer level.
#[derive(Clone, Debug)]
pub struct Coarse {
    /// The coarse control mesh as a character, without a display mesh.
    pub bound: Bound,
    /// Index of the fine vertex that each coarse vertex is taken from.
    pub seeds: Vec<u32>,
    /// Coarse vertices from which each fine vertex interpolates. Unused entries repeat the first entry.
    pub parents: Vec<[u32; PARENTS]>,
    /// Interpolation weights of the parents, with sum one; all zero if no coarse vertex is near (e.g. in a prop).
    pub weights: Vec<[f32; PARENTS]>,
}

/// Builds a coarser level. Returns `None` if the mesh is small already or would not get much smaller.
pub fn coarsen(bound: &Bound) -> Option<Coarse> {
    let control = &bound.character.control;
    let fine = control.positions.len();
    if fine < SMALLEST {
        return None;
    }
    let seeds = seeds(control);
    if seeds.is_empty() || seeds.len() * 2 > fine {
        return None;
    }
    let region = regions(control, &seeds);
    let adjacency = neighbors(control, &region, seeds.len());
    let mut parents = Vec::with_capacity(fine);
    let mut weights = Vec::with_capacity(fine);
    for (v, &region) in region.iter().enumerate() {
        let (p, w) = follow(control, &seeds, &adjacency, region, v);
        parents.push(p);
        weights.push(w);
    }
    let pick = |values: &[Vec3]| seeds.iter().map(|&s| values[s as usize]).collect::<Vec<_>>();
    let mut influences = crate::asset::Influences::default();
    for &s in &seeds {
        influences.push(control.influences.of(s as usize));
    }
    let attach = &bound.attachments;
    let attachments = Attachments {
        bone: seeds.iter().map(|&s| attach.bone[s as usize]).collect(),
        t: seeds.iter().map(|&s| attach.t[s as usize]).collect(),
        scale_vector: pick(&attach.scale_vector),
    };
    let character = Character {
        skeleton: bound.character.skeleton.clone(),
        control: ControlMesh {
            positions: pick(&control.positions),
            triangles: Vec::new(),
            rigid: (0..seeds.len()).map(|c| thin(control, attach, &seeds, &adjacency, c)).collect(),
            adjacency,
            influences,
            aabb: control.aabb,
        },
        display: Default::default(),
    };
    let bound = Bound::new(Arc::new(character), Arc::new(attachments));
    Some(Coarse { bound, seeds, parents, weights })
}

impl Coarse {
    /// Groups the vertices of the finer level by their nearest coarse vertex: CSR offsets and indices. Omits vertices
    /// whose interpolation weights are zero.
    pub fn children(&self) -> (Vec<u32>, Vec<u32>) {
        let follows = |v: usize| self.weights[v][0] > 0.0;
        let mut offset = vec![0u32; self.seeds.len() + 1];
        for (v, parents) in self.parents.iter().enumerate() {
            offset[parents[0] as usize + 1] += u32::from(follows(v));
        }
        for c in 0..self.seeds.len() {
            offset[c + 1] += offset[c];
        }
        let mut next = offset.clone();
        let mut children = vec![0; offset[self.seeds.len()] as usize];
        for (v, parents) in self.parents.iter().enumerate().filter(|&(v, _)| follows(v)) {
            let at = &mut next[parents[0] as usize];
            children[*at as usize] = v as u32;
            *at += 1;
        }
        (offset, children)
    }
}

/// Whether the limb at coarse vertex `c`, e.g. a finger, is too thin for the level's edge length. The level does not
/// move the vertices of such a limb.
fn thin(control: &ControlMesh, attach: &Attachments, seeds: &[u32], adjacency: &Adjacency, c: usize) -> bool {
    let seed = seeds[c] as usize;
    let ring = adjacency.of(c);
    let spacing: f32 = ring
        .iter()
        .map(|&n| control.positions[seed].distance(control.positions[seeds[n as usize] as usize]))
        .sum();
    control.rigid[seed] || attach.scale_vector[seed].length() * (ring.len() as f32) < THIN * spacing
}

/// Returns a maximal set of vertices at least three edges apart, in vertex order.
fn seeds(control: &ControlMesh) -> Vec<u32> {
    let mut covered = vec![false; control.positions.len()];
    let mut out = Vec::new();
    for v in 0..control.positions.len() {
        if covered[v] || control.rigid[v] || control.adjacency.of(v).is_empty() {
            continue;
        }
        out.push(v as u32);
        covered[v] = true;
        for &a in control.adjacency.of(v) {
            covered[a as usize] = true;
            control.adjacency.of(a as usize).iter().for_each(|&b| covered[b as usize] = true);
        }
    }
    out
}

/// Returns the nearest seed of each vertex along the edges; `u32::MAX` if none is reachable.
fn regions(control: &ControlMesh, seeds: &[u32]) -> Vec<u32> {
    // Positive floats sort like their bits. Ties go to the seed with the lower index.
    let mut queue: BinaryHeap<std::cmp::Reverse<(u32, u32, u32)>> = BinaryHeap::new();
    for (s, &v) in seeds.iter().enumerate() {
        queue.push(std::cmp::Reverse((0, s as u32, v)));
    }
    let mut region = vec![u32::MAX; control.positions.len()];
    while let Some(std::cmp::Reverse((distance, seed, v))) = queue.pop() {
        if region[v as usize] != u32::MAX {
            continue;
        }
        region[v as usize] = seed;
        for &next in control.adjacency.of(v as usize) {
            if region[next as usize] == u32::MAX {
                let step = control.positions[v as usize].distance(control.positions[next as usize]);
                queue.push(std::cmp::Reverse(((f32::from_bits(distance) + step).to_bits(), seed, next)));
            }
        }
    }
    region
}

/// Builds the adjacency of regions. Two regions are neighbours if an edge connects them.
fn neighbors(control: &ControlMesh, region: &[u32], count: usize) -> Adjacency {
    let mut pairs: Vec<(u32, u32)> = control
        .adjacency
        .edges()
        .map(|(a, b)| (region[a as usize], region[b as usize]))
        .filter(|&(a, b)| a != b && a != u32::MAX && b != u32::MAX)
        .flat_map(|(a, b)| [(a, b), (b, a)])
        .collect();
    pairs.sort_unstable();
    pairs.dedup();
    let mut offset = vec![0u32; count + 1];
    for &(a, _) in &pairs {
        offset[a as usize + 1] += 1;
    }
    for i in 0..count {
        offset[i + 1] += offset[i];
    }
    Adjacency { offset, neighbor: pairs.into_iter().map(|(_, b)| b).collect() }
}

/// Finds the nearest coarse vertices around a fine vertex, weighted by inverse squared distance.
fn follow(
    control: &ControlMesh,
    seeds: &[u32],
    adjacency: &Adjacency,
    region: u32,
    vertex: usize,
) -> ([u32; PARENTS], [f32; PARENTS]) {
    if region == u32::MAX {
        return ([0; PARENTS], [0.0; PARENTS]);
    }
    let x = control.positions[vertex];
    let mut near: Vec<(f32, u32)> = adjacency
        .of(region as usize)
        .iter()
        .chain([&region])
        .map(|&c| (control.positions[seeds[c as usize] as usize].distance_squared(x), c))
        .collect();
    near.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    near.truncate(PARENTS);
    let (mut parents, mut weights) = ([near[0].1; PARENTS], [0.0; PARENTS]);
    let floor = near.last().map_or(0.0, |n| n.0) * 1e-3 + f32::MIN_POSITIVE;
    let total: f32 = near.iter().map(|n| 1.0 / (n.0 + floor)).sum();
    for (k, (distance, c)) in near.iter().enumerate() {
        parents[k] = *c;
        weights[k] = 1.0 / ((distance + floor) * total);
    }
    (parents, weights)
}
