//! A progressive hull: edge collapses that only add volume.
//!
//! After Sander, Gu, Gortler, Hoppe, Snyder, "Silhouette clipping", 2000. The new vertex of a collapse lies on the
//! outer side of all faces around the edge. So the new surface minus the old one is a sum of tetrahedra with positive
//! volume, and no winding number decreases. **Differs**: the vertex minimises the squared volumes of these tetrahedra
//! (Lindstrom, Turk, "Fast and memory efficient polygonal simplification", 1998) instead of their sum, with a weak pull
//! to the middle of the edge's neighbours. Collapses that make slivers, sharp edges or crossings are refused.

use super::nearest::{Half, nearest};
use crate::base::Progress;
use crate::base::math::{DMat3, DVec3};
use crate::cage::check::{bounds, meet};
use obvhs::BvhBuildParams;
use obvhs::aabb::Aabb;
use obvhs::bvh2::Bvh2;
use obvhs::bvh2::builder::build_bvh2;
use rayon::prelude::*;
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::time::Duration;

/// Weight of the pull to the middle of the edge's neighbours, relative to the mean of the quadratic form's diagonal.
const PULL: f64 = 2e-3;
/// Factor of the squared edge length in the cost of a collapse, in grid steps. It lets flat regions become coarse
/// evenly.
const LENGTH: f64 = 0.02;
/// Limits of the two passes. The second pass runs if the first one ends early.
const PASSES: [Limits; 2] = [Limits { quality: 0.2, turn: -0.3 }, Limits { quality: 0.05, turn: -0.85 }];

/// Limits for the faces that a collapse makes. A collapse may exceed a limit if the old faces are no better.
#[derive(Clone, Copy)]
struct Limits {
    /// Smallest quality of a triangle: 1 for an equilateral one, 0 for a degenerate one.
    quality: f64,
    /// Smallest cosine between the normals of neighbouring faces.
    turn: f64,
}

/// A closed triangle mesh that can be simplified.
pub(super) struct Hull {
    pub positions: Vec<DVec3>,
    /// All faces, also the removed ones; `alive` marks the others.
    pub faces: Vec<[u32; 3]>,
    /// Normal of each face, with twice the face's area as its length.
    normals: Vec<DVec3>,
    pub alive: Vec<bool>,
    /// Indices of each vertex's living faces; empty for a removed vertex.
    pub of_vertex: Vec<Vec<u32>>,
    /// Number of changes of each vertex's surroundings.
    stamp: Vec<u32>,
    /// Number of vertices.
    pub count: usize,
    /// Grid step of the contour.
    step: f64,
    index: Index,
    pub mirror: Option<Symmetry>,
}

/// The symmetry of a hull about the plane in which the coordinate on `axis` is 0. Every change happens on both sides at
/// once. A vertex in the plane stays there, and all other vertices stay on their sides.
pub(super) struct Symmetry {
    pub axis: usize,
    /// The mirrored vertex of each vertex; a vertex in the plane is its own partner.
    pub partner: Vec<u32>,
    /// Whether one side has changed without the other, because a crossing was found on one side only.
    pub broken: bool,
}

/// Smallest distance of a vertex beside the plane of symmetry from this plane, in grid steps.
const BESIDE: f64 = 0.05;

/// Bounding boxes of the faces. The hierarchy has the faces of its last rebuild, and a list has the newer faces.
struct Index {
    bvh: Option<Bvh2>,
    /// Face of each box in the hierarchy.
    face: Vec<u32>,
    newer: Vec<(u32, Aabb)>,
}

/// A possible collapse. The queue returns the cheapest one first.
struct Candidate {
    cost: f64,
    /// Position of the vertex that replaces the edge.
    to: DVec3,
    edge: [u32; 2],
    stamp: u64,
}

impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> Ordering {
        other.cost.total_cmp(&self.cost).then(other.edge.cmp(&self.edge))
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Candidate {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Candidate {}

impl Hull {
    pub fn new(positions: Vec<DVec3>, faces: Vec<[u32; 3]>, step: f64, mirror: Option<Symmetry>) -> Self {
        let mut of_vertex = vec![Vec::new(); positions.len()];
        faces
            .iter()
            .enumerate()
            .for_each(|(f, face)| face.iter().for_each(|v| of_vertex[*v as usize].push(f as u32)));
        let mut out = Self {
            stamp: vec![0; positions.len()],
            count: positions.len(),
            alive: vec![true; faces.len()],
            normals: faces.iter().map(|face| normal_of(face.map(|v| positions[v as usize]))).collect(),
            index: Index { bvh: None, face: Vec::new(), newer: Vec::new() },
            positions,
            faces,
            of_vertex,
            step,
            mirror,
        };
        out.index_faces();
        out
    }

    /// Returns the mirrored vertex of a vertex beside the plane of symmetry, if the hull has one.
    pub fn partner(&self, v: u32) -> Option<u32> {
        self.mirror.as_ref().map(|m| m.partner[v as usize]).filter(|p| *p != v)
    }

    /// Mirrors a point.
    pub fn mirrored(&self, mut x: DVec3) -> DVec3 {
        if let Some(mirror) = &self.mirror {
            x[mirror.axis] = -x[mirror.axis];
        }
        x
    }

    /// Returns the place nearest to `to` that symmetry allows for a vertex at `at`; `None` if the vertex would leave its
    /// side.
    pub fn on_its_side(&self, v: u32, mut to: DVec3) -> Option<DVec3> {
        let Some(Symmetry { axis, partner, .. }) = &self.mirror else { return Some(to) };
        if partner[v as usize] == v {
            to[*axis] = 0.0;
            return Some(to);
        }
        let side = self.positions[v as usize][*axis].signum();
        (to[*axis] * side > BESIDE * self.step).then_some(to)
    }

    /// Collapses an edge and its mirror image. Returns false, without a change, if that makes faces cross.
    fn collapse_both(&mut self, [a, b]: [u32; 2], to: DVec3) -> bool {
        if !self.collapse([a, b], to) {
            return false;
        }
        if let Some(there) = self.partner(a).zip(self.partner(b)).map(|(a, b)| [a, b]) {
            let done = self.collapse(there, self.mirrored(to));
            if let Some(mirror) = &mut self.mirror {
                mirror.broken |= !done;
            }
        }
        true
    }

    /// Collapses edges until `wanted` vertices are left or no collapse is allowed. Reports the progress from `from`
    /// to `to`. Returns false if cancelled.
    pub fn simplify(&mut self, wanted: usize, [from, to]: [f32; 2], progress: &Progress) -> bool {
        let begin = self.count;
        for limits in PASSES {
            let mut queue: BinaryHeap<Candidate> = BinaryHeap::new();
            let mut refused: Vec<Candidate> = Vec::new();
            let mut edges: Vec<[u32; 2]> = Vec::new();
            for face in self.faces.iter().zip(&self.alive).filter(|(_, alive)| **alive).map(|(face, _)| face)
            {
                let sides = [[face[0], face[1]], [face[1], face[2]], [face[2], face[0]]];
                edges.extend(sides.into_iter().filter(|[a, b]| a < b));
            }
            // Collect in the order of the edges, so that the result does not depend on the number of threads.
            let first: Vec<_> = edges.par_iter().map(|edge| self.candidate(*edge, &limits)).collect();
            for candidate in first {
                candidate.map_or_else(|refusal| refused.push(refusal), |candidate| queue.push(candidate));
            }
            let mut again = self.count;
            loop {
                if self.count <= wanted {
                    return progress.report(to);
                }
                let Some(next) = queue.pop() else {
                    // Try refused edges again as long as their surroundings change.
                    let changed = self.changed(&mut refused);
                    if changed.is_empty() {
                        break;
                    }
                    changed.iter().for_each(|edge| self.enqueue(*edge, &limits, &mut queue, &mut refused));
                    continue;
                };
                let [a, b] = next.edge;
                let living = |v: u32| !self.of_vertex[v as usize].is_empty();
                if !living(a) || !living(b) {
                    continue;
                }
                if next.stamp != self.stamp_of(next.edge) {
                    if self.neighbours(a).contains(&b) {
                        self.enqueue(next.edge, &limits, &mut queue, &mut refused);
                    }
                    continue;
                }
                if !self.collapse_both(next.edge, next.to) {
                    refused.push(next);
                    continue;
                }
                for v in std::iter::once(a).chain(self.partner(a)) {
                    for other in self.neighbours(v) {
                        self.enqueue([v.min(other), v.max(other)], &limits, &mut queue, &mut refused);
                    }
                }
                if self.count % 64 < 2 {
                    let done = (begin - self.count) as f32 / (begin - wanted).max(1) as f32;
                    if !progress.report(from + (to - from) * done) {
                        return false;
                    }
                }
                // From time to time, try refused edges again before costlier ones.
                if self.count * 20 <= again * 19 {
                    again = self.count;
                    let changed = self.changed(&mut refused);
                    changed.iter().for_each(|edge| self.enqueue(*edge, &limits, &mut queue, &mut refused));
                }
            }
        }
        progress.report(to)
    }

    /// Removes and returns the refused edges whose surroundings have changed.
    fn changed(&self, refused: &mut Vec<Candidate>) -> Vec<[u32; 2]> {
        let mut out = Vec::new();
        refused.retain(|candidate| {
            let [a, b] = candidate.edge;
            if self.stamp_of(candidate.edge) == candidate.stamp {
                return true;
            }
            if self.neighbours(a).contains(&b) {
                out.push(candidate.edge);
            }
            false
        });
        out.sort_unstable();
        out.dedup();
        out
    }

    fn stamp_of(&self, [a, b]: [u32; 2]) -> u64 {
        u64::from(self.stamp[a as usize]) << 32 | u64::from(self.stamp[b as usize])
    }

    fn enqueue(
        &self,
        edge: [u32; 2],
        limits: &Limits,
        queue: &mut BinaryHeap<Candidate>,
        refused: &mut Vec<Candidate>,
    ) {
        match self.candidate(edge, limits) {
            Ok(candidate) => queue.push(candidate),
            Err(refusal) => refused.push(refusal),
        }
    }

    /// Plans the collapse of an edge. Returns a collapse that is not allowed as an error.
    fn candidate(&self, edge: [u32; 2], limits: &Limits) -> Result<Candidate, Candidate> {
        let stamp = self.stamp_of(edge);
        match self.plan(edge, limits) {
            Some((cost, to)) => Ok(Candidate { cost, to, edge, stamp }),
            None => Err(Candidate { cost: 0.0, to: DVec3::ZERO, edge, stamp }),
        }
    }

    pub fn corners(&self, face: u32) -> [DVec3; 3] {
        self.faces[face as usize].map(|v| self.positions[v as usize])
    }

    /// The neighbours of a vertex.
    pub fn neighbours(&self, v: u32) -> Vec<u32> {
        // Each neighbour follows the vertex in exactly one face.
        let faces = self.of_vertex[v as usize].iter();
        faces.map(|f| opposite(self.faces[*f as usize], v)[0]).collect()
    }

    /// The faces around an edge: those of `a`, then those of `b` only.
    fn region(&self, [a, b]: [u32; 2]) -> Vec<u32> {
        let of_b = self.of_vertex[b as usize].iter().filter(|f| !self.faces[**f as usize].contains(&a));
        self.of_vertex[a as usize].iter().chain(of_b).copied().collect()
    }

    /// Returns the cost of a collapse and the new vertex; `None` if the collapse is not allowed.
    fn plan(&self, [a, b]: [u32; 2], limits: &Limits) -> Option<(f64, DVec3)> {
        // The link condition: the edge's ends have exactly the two opposite vertices in common.
        let (ring_a, ring_b) = (self.neighbours(a), self.neighbours(b));
        // An edge with one end in the plane of symmetry would draw the other end and its partner into the plane.
        if self.mirror.is_some() && self.partner(a).is_some() != self.partner(b).is_some() {
            return None;
        }
        if self.count <= 4 || ring_a.iter().filter(|v| ring_b.contains(v)).count() != 2 {
            return None;
        }
        let [p, q] = [a, b].map(|v| self.positions[v as usize]);
        let middle = 0.5 * (p + q);
        let ring = ring_a.iter().chain(&ring_b).filter(|v| **v != a && **v != b);
        let count = (ring_a.len() + ring_b.len() - 2) as f64;
        let mean = ring.map(|v| self.positions[*v as usize] - middle).sum::<DVec3>() / count;
        let region = self.region([a, b]);
        let (mut form, mut linear) = (DMat3::ZERO, DVec3::ZERO);
        let mut halves = Vec::with_capacity(region.len());
        for &f in &region {
            let (x, normal) = (self.corners(f).map(|x| x - middle), self.normals[f as usize]);
            let area = normal.length();
            if area > 0.0 {
                let unit = normal / area;
                let offset = unit.dot(x[0]).max(unit.dot(x[1])).max(unit.dot(x[2]));
                form += DMat3::from_cols(normal * normal.x, normal * normal.y, normal * normal.z);
                linear += normal * (area * offset);
                halves.push(Half { normal: unit, offset });
            }
        }
        let pull = PULL * (form.col(0).x + form.col(1).y + form.col(2).z) / 3.0;
        form += DMat3::from_diagonal(DVec3::splat(pull));
        let best = form.inverse() * (linear + mean * pull);
        let x = self.on_its_side(a, nearest(form, best, &halves)? + middle)?;
        let (mut volume, mut least) = (0.0, 1.0f64);
        // The corners after and before the new vertex, and the unit normal, of each new face.
        let mut new: Vec<([u32; 2], DVec3)> = Vec::with_capacity(region.len());
        for &f in &region {
            let face = self.faces[f as usize];
            volume += self.normals[f as usize].dot(x - self.positions[face[0] as usize]) / 6.0;
            let (has_a, has_b) = (face.contains(&a), face.contains(&b));
            if has_a && has_b {
                continue;
            }
            let rim = opposite(face, if has_a { a } else { b });
            let [u, v] = rim.map(|v| self.positions[v as usize]);
            least = least.min(quality([x, u, v]));
            new.push((rim, normal_of([x, u, v]).try_normalize()?));
        }
        if least < limits.quality {
            let worst = region.iter().map(|f| quality(self.corners(*f))).fold(1.0, f64::min);
            if least < worst {
                return None;
            }
        }
        let turn = self.sharpest(&new);
        if turn < limits.turn && turn < self.sharpest_of(&region) {
            return None;
        }
        let shape = 1.0 + (0.5 - least).max(0.0);
        Some(((volume.max(0.0) + LENGTH * self.step * p.distance_squared(q)) * shape, x))
    }

    /// Returns the smallest cosine between the normals of neighbouring new faces, and between the normals of new faces
    /// and the old faces beside them.
    fn sharpest(&self, new: &[([u32; 2], DVec3)]) -> f64 {
        let mut least = 1.0f64;
        for ([u, v], normal) in new {
            if let Some((_, next)) = new.iter().find(|(rim, _)| rim[0] == *v) {
                least = least.min(normal.dot(*next));
            }
            if let Some(beside) = self.face_at([*v, *u]).and_then(|f| self.normal(f)) {
                least = least.min(normal.dot(beside));
            }
        }
        least
    }

    /// Returns the smallest cosine between the normals of faces in a region and of their neighbours.
    pub fn sharpest_of(&self, region: &[u32]) -> f64 {
        let mut least = 1.0f64;
        for &f in region {
            let [a, b, c] = self.faces[f as usize];
            let Some(normal) = self.normal(f) else { return -1.0 };
            for edge in [[b, a], [c, b], [a, c]] {
                match self.face_at(edge).map(|g| self.normal(g)) {
                    Some(Some(beside)) => least = least.min(normal.dot(beside)),
                    _ => return -1.0,
                }
            }
        }
        least
    }

    /// Returns the face in which vertex `v` follows vertex `u`.
    fn face_at(&self, [u, v]: [u32; 2]) -> Option<u32> {
        self.of_vertex[u as usize].iter().copied().find(|f| opposite(self.faces[*f as usize], u)[0] == v)
    }

    /// The unit normal of a face.
    fn normal(&self, face: u32) -> Option<DVec3> {
        self.normals[face as usize].try_normalize()
    }

    /// Collapses an edge to its first vertex, which moves. Returns false, without a change, if that makes faces cross.
    fn collapse(&mut self, edge: [u32; 2], to: DVec3) -> bool {
        let [a, b] = edge;
        let region = self.region(edge);
        let old = std::mem::replace(&mut self.positions[a as usize], to);
        let kept = |face: &[u32; 3]| !(face.contains(&a) && face.contains(&b));
        let new: Vec<[u32; 3]> = region.iter().map(|f| self.faces[*f as usize]).filter(kept).collect();
        let new: Vec<[u32; 3]> = new.iter().map(|face| face.map(|v| if v == b { a } else { v })).collect();
        if self.crosses(&new, &region) {
            self.positions[a as usize] = old;
            return false;
        }
        for &f in &region {
            self.alive[f as usize] = false;
            for v in self.faces[f as usize] {
                self.of_vertex[v as usize].retain(|g| *g != f);
            }
        }
        self.count -= 1;
        for face in new {
            let f = self.faces.len() as u32;
            self.faces.push(face);
            self.alive.push(true);
            self.normals.push(normal_of(self.corners(f)));
            face.iter().for_each(|v| self.of_vertex[*v as usize].push(f));
            self.index.newer.push((f, bounds(&self.corners(f))));
        }
        self.stamp[a as usize] += 1;
        self.neighbours(a).iter().for_each(|v| self.stamp[*v as usize] += 1);
        if self.index.newer.len() > 200 + 2 * self.count / 16 {
            self.index_faces();
        }
        true
    }

    /// Whether new faces would cross each other or a living face outside of `without`.
    pub fn crosses(&self, new: &[[u32; 3]], without: &[u32]) -> bool {
        let at = |face: &[u32; 3]| face.map(|v| self.positions[v as usize]);
        let among =
            new.iter().enumerate().any(|(n, f)| new[..n].iter().any(|g| meet(&self.positions, *f, *g)));
        among
            || new.iter().any(|face| {
                let mut found = false;
                self.within(bounds(&at(face)), |f| {
                    found = found
                        || !without.contains(&f) && meet(&self.positions, *face, self.faces[f as usize]);
                });
                found
            })
    }

    /// Calls `each` for every living face whose box intersects `bounds`.
    fn within(&self, bounds: Aabb, mut each: impl FnMut(u32)) {
        if let Some(bvh) = &self.index.bvh {
            bvh.aabb_traverse(bounds, |bvh, node| {
                let node = &bvh.nodes[node as usize];
                let first = node.first_index as usize;
                let leaf = &bvh.primitive_indices[first..first + node.prim_count as usize];
                let faces = leaf.iter().map(|n| self.index.face[*n as usize]);
                faces.filter(|f| self.alive[*f as usize]).for_each(&mut each);
                true
            });
        }
        let newer =
            self.index.newer.iter().filter(|(f, own)| self.alive[*f as usize] && own.intersect_aabb(&bounds));
        newer.for_each(|(f, _)| each(*f));
    }

    /// Rebuilds the hierarchy over the living faces.
    pub fn index_faces(&mut self) {
        let face: Vec<u32> = (0..self.faces.len() as u32).filter(|f| self.alive[*f as usize]).collect();
        let boxes: Vec<Aabb> = face.iter().map(|f| bounds(&self.corners(*f))).collect();
        let bvh = build_bvh2(&boxes, BvhBuildParams::fastest_build(), &mut Duration::default());
        self.index = Index { bvh: Some(bvh), face, newer: Vec::new() };
    }

    /// Moves a vertex. Until a call of [`Hull::note`], [`Hull::crosses`] does not find the vertex's faces at their new
    /// place.
    pub fn place(&mut self, v: u32, to: DVec3) {
        self.positions[v as usize] = to;
        for k in 0..self.of_vertex[v as usize].len() {
            let f = self.of_vertex[v as usize][k];
            self.normals[f as usize] = normal_of(self.corners(f));
        }
    }

    /// Adds the moved faces of a vertex to the index.
    pub fn note(&mut self, v: u32) {
        let faces = self.of_vertex[v as usize].iter();
        let boxes: Vec<(u32, Aabb)> = faces.map(|f| (*f, bounds(&self.corners(*f)))).collect();
        self.index.newer.extend(boxes);
        self.stamp[v as usize] += 1;
        self.neighbours(v).iter().for_each(|v| self.stamp[*v as usize] += 1);
    }

    /// Returns the remaining vertices and faces, with consecutive indices.
    pub fn finish(&self) -> (Vec<DVec3>, Vec<[u32; 3]>) {
        let mut index = vec![u32::MAX; self.positions.len()];
        let mut positions = Vec::with_capacity(self.count);
        for v in (0..self.positions.len()).filter(|v| !self.of_vertex[*v].is_empty()) {
            index[v] = positions.len() as u32;
            positions.push(self.positions[v]);
        }
        let living = self.faces.iter().zip(&self.alive).filter(|(_, alive)| **alive);
        (positions, living.map(|(face, _)| face.map(|v| index[v as usize])).collect())
    }
}

/// Returns the corners after and before corner `a` of a face.
pub(super) fn opposite(face: [u32; 3], a: u32) -> [u32; 2] {
    let k = face.iter().position(|v| *v == a).unwrap_or(0);
    [face[(k + 1) % 3], face[(k + 2) % 3]]
}

/// Returns the normal of a triangle, with twice the area as its length.
fn normal_of([a, b, c]: [DVec3; 3]) -> DVec3 {
    (b - a).cross(c - a)
}

/// Returns the quality of a triangle: its area over the sum of its squared edges, 1 for an equilateral one.
pub(super) fn quality([a, b, c]: [DVec3; 3]) -> f64 {
    let sum = a.distance_squared(b) + b.distance_squared(c) + c.distance_squared(a);
    if sum > 0.0 { 2.0 * 3.0f64.sqrt() * (b - a).cross(c - a).length() / sum } else { 0.0 }
}
