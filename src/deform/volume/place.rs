//! The place of each skin vertex in the cubes, and how the vertex follows its cube.

use super::Rest;
use crate::base::math::{DVec3, Vec3};
use crate::base::{JointId, NodeId};
use crate::deform::fast::{Inside, Weights};
use crate::geom::Adjacency;
use crate::rig::Skeleton;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Depths below the skin at which the cube of a vertex is searched, in this order, in edge lengths of a cube. Negative
/// depths lie outside the skin.
const DEPTHS: [f64; 6] = [0.02, 0.1, 0.3, 0.6, -0.1, -0.3];
/// A vertex takes a cube only if at least this fraction of their skin weights agrees. Otherwise a vertex could take a
/// cube of another limb that touches its own limb.
const AGREE: f64 = 0.5;
/// Maximum distance, in grid cells along each axis, at which a vertex outside all cubes searches for a cube.
const AROUND: i32 = 4;
/// Up to this distance from its cube, in edge lengths of a cube, a vertex deforms with the cube.
const PART: f32 = 0.5;
/// From this distance on, a vertex only takes the displacement of its cube, in edge lengths of a cube.
const APART: f32 = 1.5;
/// Fractions of the skin weights that differ between a vertex of a hub and its place. Up to [`SAME`], the vertex deforms
/// with its cube. From [`OTHER`] on, it only takes the cube's displacement.
const SAME: f64 = 0.02;
const OTHER: f64 = 0.12;

/// A place in or near a cube.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Place {
    /// The cube, on the finest level.
    pub cell: u32,
    /// Coordinates along the cube's axes; 0..=1 inside the cube.
    pub at: Vec3,
    /// Degree to which a vertex at this place is separate from the cube: at 0 the vertex deforms with the cube, at 1
    /// the vertex only takes the cube's displacement.
    pub apart: f32,
}

impl Place {
    /// Creates a place; its distance from the cube determines `apart`.
    pub fn new(cell: u32, at: Vec3) -> Self {
        let distance = (at - at.clamp(Vec3::ZERO, Vec3::ONE)).abs().max_element();
        Self { cell, at, apart: ((distance - PART) / (APART - PART)).clamp(0.0, 1.0) }
    }

    /// Returns the place for flesh that is at rest in the shape `rest`. With [`Rest::Pose`] a vertex only takes the
    /// cube's displacement.
    pub fn of(self, rest: Rest) -> Self {
        if rest == Rest::Pose { Self { apart: 1.0, ..self } } else { self }
    }

    /// Weights of the cube's corners at the place.
    pub fn weights(&self) -> [f32; 8] {
        let side = |k: usize, far: usize| if far == 1 { self.at[k] } else { 1.0 - self.at[k] };
        std::array::from_fn(|corner| (0..3).map(|k| side(k, corner >> k & 1)).product())
    }

    /// The nearest place inside the cube.
    fn inside(&self) -> Self {
        Self { at: self.at.clamp(Vec3::ZERO, Vec3::ONE), ..*self }
    }

    /// Distance from the cube, in cubes, squared.
    fn distance_squared(&self) -> f32 {
        self.at.distance_squared(self.inside().at)
    }

    /// Returns the posed position of the place by trilinear interpolation, or extrapolation outside the cube.
    pub fn position(&self, cell: &[u32; 8], nodes: &[Vec3]) -> Vec3 {
        let x = cell.map(|n| nodes[n as usize]);
        let [a, b, c, d] = [0, 2, 4, 6].map(|i| x[i].lerp(x[i + 1], self.at.x));
        a.lerp(b, self.at.y).lerp(c.lerp(d, self.at.y), self.at.z)
    }

    /// Returns the position of a vertex at the place. The geometric method puts the vertex at `start` and the nodes at
    /// `starts`. A vertex that does not deform with the cube moves from `start` by the displacement of the nearest
    /// place inside the cube. Hat brims, skirts and eyes therefore follow the flesh, but neither rotate with the flesh
    /// nor magnify its strain.
    pub fn skin(&self, cell: &[u32; 8], nodes: &[Vec3], starts: &[Vec3], start: Vec3) -> Vec3 {
        let own = self.position(cell, nodes);
        if self.apart == 0.0 {
            return own;
        }
        let inside = self.inside();
        own.lerp(start + inside.position(cell, nodes) - inside.position(cell, starts), self.apart)
    }
}

/// The cubes that vertices can take.
pub(super) struct Finder<'a> {
    /// Corners of the cubes.
    pub cells: &'a [[u32; 8]],
    pub inside: &'a Inside,
    /// Per cube: the joint with the largest total weight at its nodes.
    pub home: &'a [u32],
    /// Per cube: whether a bone passes through the cube's connected part of the body. Vertices take only such cubes.
    pub anchored: &'a [bool],
    pub skeleton: &'a Skeleton,
    /// Per joint: its hub, if any.
    pub hubs: &'a [Option<JointId>],
}

/// The vertices to assign to cubes.
pub(super) struct Vertices<'a> {
    pub positions: &'a [DVec3],
    pub normals: &'a [DVec3],
    pub triangles: &'a [[u32; 3]],
    pub weights: &'a Weights,
}

impl Finder<'_> {
    /// The places of the vertices of the triangles. A vertex takes the cube just below the skin, or else the nearest
    /// cube that fits, or else the cube of the nearest vertex on the mesh that has one. A cube also fits if its weights
    /// differ but its main joint is the vertex's main joint or the nearest ancestor with flesh. The vertex then takes
    /// only the cube's displacement, so an eye follows the head.
    pub fn places(&self, vertices: &Vertices) -> Vec<Option<Place>> {
        let grid = self.grid();
        let flesh: HashSet<NodeId> =
            (0..self.cells.len()).filter(|&c| self.anchored[c]).map(|c| self.node(self.home[c])).collect();
        let mut out = vec![None; vertices.positions.len()];
        for &v in vertices.triangles.iter().flatten() {
            let (v, x) = (v as usize, vertices.positions[v as usize]);
            if out[v].is_none() {
                let agrees = |cell: usize| self.agrees(cell, vertices.weights, v);
                let node = self.ancestor(vertices.weights, v, &flesh);
                let fit = |cell: usize| match self.place(cell, x) {
                    place if agrees(cell) => Some(place),
                    place if Some(self.node(self.home[cell])) == node => Some(Place { apart: 1.0, ..place }),
                    _ => None,
                };
                let below = self.below(vertices.weights, v, vertices.normals[v], x);
                let below = below.map(|c| self.place(c, x));
                out[v] = below.or_else(|| self.nearest(&grid, x, fit));
            }
        }
        self.adopt(vertices, &mut out);
        out
    }

    /// Separates vertices of hubs from their places, in so far as their weights differ from those at their places. Cubes
    /// are too coarse for the joints of a face: two lips can share a cube.
    pub fn loosen(&self, weights: &Weights, places: &mut [Option<Place>]) {
        for (v, place) in places.iter_mut().enumerate().filter_map(|(v, place)| Some((v, place.as_mut()?))) {
            place.apart = place.apart.max(self.foreign(place, weights, v));
        }
    }

    /// Returns the degree to which a vertex of a hub is separate from its place.
    fn foreign(&self, place: &Place, weights: &Weights, v: usize) -> f32 {
        let hub: f64 = weights.of(v).filter(|w| self.hubs[w.0].is_some()).map(|w| w.1).sum();
        if hub == 0.0 {
            return 0.0;
        }
        let mut differences: BTreeMap<NodeId, f64> = BTreeMap::new();
        let mut add = |joint: usize, w: f64| *differences.entry(self.node(joint as u32)).or_default() += w;
        weights.of(v).for_each(|(joint, w)| add(joint, w));
        for (&n, share) in self.cells[place.cell as usize].iter().zip(place.inside().weights()) {
            self.inside.weights.of(n as usize).for_each(|(joint, w)| add(joint, -w * f64::from(share)));
        }
        let other = 0.5 * differences.values().map(|w| w.abs()).sum::<f64>();
        (hub * ((other - SAME) / (OTHER - SAME)).clamp(0.0, 1.0)) as f32
    }

    /// Returns the cube just below a point of the skin, if its weights agree with those of the vertex `v`.
    pub fn below(&self, weights: &Weights, v: usize, normal: DVec3, x: DVec3) -> Option<usize> {
        DEPTHS.iter().find_map(|depth| {
            let cell = self.inside.find(x - normal * (depth * self.inside.size));
            cell.filter(|&c| self.anchored[c] && self.agrees(c, weights, v))
        })
    }

    /// Returns the scene node of a joint. One node may be the joint of several skins.
    fn node(&self, joint: u32) -> NodeId {
        self.skeleton.joints[joint as usize].node
    }

    /// The node of the joint that a vertex follows most, or of its nearest ancestor with flesh.
    fn ancestor(&self, weights: &Weights, v: usize, flesh: &HashSet<NodeId>) -> Option<NodeId> {
        let most = weights.of(v).max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)));
        let mut joint = most.map(|w| JointId(w.0 as u32));
        while let Some(j) = joint {
            let own = &self.skeleton.joints[j.index()];
            if flesh.contains(&own.node) {
                return Some(own.node);
            }
            joint = own.parent;
        }
        None
    }

    fn place(&self, cell: usize, x: DVec3) -> Place {
        let at = (x - self.inside.nodes[self.cells[cell][0] as usize]) / self.inside.size;
        Place::new(cell as u32, at.as_vec3())
    }

    /// Whether weights of a cube and a vertex agree.
    fn agrees(&self, cell: usize, weights: &Weights, v: usize) -> bool {
        let of_cell = |joint: usize| {
            let at = self.cells[cell].iter().flat_map(|&n| self.inside.weights.of(n as usize));
            let node = self.node(joint as u32);
            at.filter(|w| self.node(w.0 as u32) == node).map(|w| w.1).sum::<f64>() / 8.0
        };
        weights.of(v).map(|(joint, w)| w.min(of_cell(joint))).sum::<f64>() >= AGREE
    }

    fn key(&self, x: DVec3) -> [i32; 3] {
        let first = self.inside.nodes[self.cells[0][0] as usize];
        ((x - first) / self.inside.size).floor().to_array().map(|v| v as i32)
    }

    /// The cubes that vertices can take, by grid cell.
    fn grid(&self) -> HashMap<[i32; 3], Vec<usize>> {
        let mut out: HashMap<[i32; 3], Vec<usize>> = HashMap::new();
        for (c, cell) in self.cells.iter().enumerate().filter(|c| self.anchored[c.0]) {
            let middle = 0.5 * (self.inside.nodes[cell[0] as usize] + self.inside.nodes[cell[7] as usize]);
            out.entry(self.key(middle)).or_default().push(c);
        }
        out
    }

    /// Returns the place in the nearest cube that fits, or `None` if no cube within [`AROUND`] cells fits. Of equally
    /// near cubes, the one with the lowest index is taken.
    fn nearest(
        &self,
        grid: &HashMap<[i32; 3], Vec<usize>>,
        x: DVec3,
        fit: impl Fn(usize) -> Option<Place>,
    ) -> Option<Place> {
        let key = self.key(x);
        (0..=AROUND).find_map(|ring| {
            let near = shell(key, ring).filter_map(|k| grid.get(&k)).flatten();
            near.filter_map(|&c| fit(c)).min_by(|a, b| {
                a.distance_squared().total_cmp(&b.distance_squared()).then(a.cell.cmp(&b.cell))
            })
        })
    }

    /// Assigns vertices without a cube the cube of the nearest vertex on the mesh that has one.
    fn adopt(&self, vertices: &Vertices, places: &mut [Option<Place>]) {
        let near = Adjacency::of_triangles(places.len(), vertices.triangles);
        let mut rim: Vec<u32> = (0..places.len() as u32).filter(|&v| places[v as usize].is_some()).collect();
        while !rim.is_empty() {
            let mut next = Vec::new();
            for &v in &rim {
                let Some(from) = places[v as usize] else { continue };
                for &other in near.of(v as usize) {
                    let place = &mut places[other as usize];
                    if place.is_none() {
                        *place = Some(self.place(from.cell as usize, vertices.positions[other as usize]));
                        next.push(other);
                    }
                }
            }
            rim = next;
        }
    }
}

/// Iterates over the grid cells at the Chebyshev distance `ring` from the cell `key`.
fn shell(key: [i32; 3], ring: i32) -> impl Iterator<Item = [i32; 3]> {
    let side = move || -ring..=ring;
    let all = side().flat_map(move |x| side().flat_map(move |y| side().map(move |z| [x, y, z])));
    let on = move |d: &[i32; 3]| d.iter().any(|d| d.abs() == ring);
    all.filter(move |d| ring == 0 || on(d)).map(move |d| std::array::from_fn(|k| key[k] + d[k]))
}
