//! The cubes inside a character, the nodes that its bones hold, and the place of its skin in them.

use super::contact::{Contact, Shape};
use super::levels::Level;
use crate::base::math::{DVec3, Vec3};
use crate::base::{BoneId, Result};
use crate::bind::{Attachments, Character};
use crate::deform::Bound;
use crate::deform::fast::{Inside, Weights, own_weights};
use crate::geom::{Adjacency, ControlMesh, apart, root, unite};
use rayon::prelude::*;
use std::collections::HashMap;
use std::sync::Arc;

/// A node on a bone is held if it follows the bone's joint at least to this fraction.
const ALONE: f64 = 0.98;
/// Depths below the skin, in cubes, at which the cube of a vertex is searched, in order.
const DEPTHS: [f64; 6] = [0.02, 0.1, 0.3, 0.6, -0.1, -0.3];
/// A vertex takes a cube only if their weights agree at least to this fraction: its limb may touch another limb.
const AGREE: f64 = 0.5;
/// Largest distance from the skin of a vertex to the cube that it takes if none lies below it, in cubes, along each axis.
const AROUND: i32 = 4;
/// Distance from its cube, in cubes, up to which a vertex is part of it.
const PART: f32 = 0.5;
/// Distance from its cube, in cubes, from which a vertex only takes the displacement of the cube.
const APART: f32 = 1.5;
/// Distance of samples on a bone, in cubes.
const SAMPLE: f64 = 0.2;

/// A place in a cube.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Place {
    /// The cube, on the finest level.
    pub cell: u32,
    /// Coordinates along its axes, 0..=1 inside.
    pub at: Vec3,
}

impl Place {
    /// Weights of the cube's corners at the place.
    pub fn weights(&self) -> [f32; 8] {
        let side = |k: usize, far: usize| if far == 1 { self.at[k] } else { 1.0 - self.at[k] };
        std::array::from_fn(|corner| (0..3).map(|k| side(k, corner >> k & 1)).product())
    }

    /// The nearest place inside the cube.
    fn inside(&self) -> Self {
        Self { at: self.at.clamp(Vec3::ZERO, Vec3::ONE), ..*self }
    }

    /// How little the place is part of the cube: 0 inside and near, 1 far away.
    pub fn apart(&self) -> f32 {
        let distance = (self.at - self.inside().at).abs().max_element();
        ((distance - PART) / (APART - PART)).clamp(0.0, 1.0)
    }

    /// Position of a vertex at the place. Far from the cube it is `start`, where the geometric method puts it, moved like the
    /// nearest place in the cube from its start. So hat brims, skirts and loose cloth follow the flesh, but do not magnify
    /// its strain.
    pub fn skin(&self, cell: &[u32; 8], nodes: &[Vec3], starts: &[Vec3], start: Vec3) -> Vec3 {
        let (own, apart) = (self.position(cell, nodes), self.apart());
        if apart == 0.0 {
            return own;
        }
        let inside = self.inside();
        own.lerp(start + inside.position(cell, nodes) - inside.position(cell, starts), apart)
    }

    /// The place's position by trilinear interpolation; outside the cube by extrapolation.
    pub fn position(&self, cell: &[u32; 8], nodes: &[Vec3]) -> Vec3 {
        let x = cell.map(|n| nodes[n as usize]);
        let [a, b, c, d] = [0, 2, 4, 6].map(|i| x[i].lerp(x[i + 1], self.at.x));
        a.lerp(b, self.at.y).lerp(c.lerp(d, self.at.y), self.at.z)
    }
}

/// The inside of a character.
#[derive(Clone, Debug)]
pub struct Cells {
    /// The cubes and the coarser ones, finest first.
    pub levels: Vec<Level>,
    /// Per cube of the finest level: the joint that it follows most.
    pub home: Vec<u32>,
    /// Place of each control vertex in or near its cube. The geometric method places vertices with `None`.
    pub embedding: Vec<Option<Place>>,
    /// What contact needs.
    pub contact: Contact,
    /// Whether bones hold a node.
    pub held: Vec<bool>,
    /// Distance of the thickest flesh from the nodes on bones, metres.
    pub thickness: f32,
    /// The nodes of the finest level as a character without triangles, which a geometric method can pose.
    pub nodes: Bound,
}

impl Cells {
    /// Fills the closed parts of a character's mesh with about so many cubes. Without closed parts, or without bones in
    /// them, there are no cubes.
    ///
    /// # Errors
    /// [`crate::base::Error::Input`] if the character has no bone.
    pub fn bind(character: &Character, cubes: u32) -> Result<Self> {
        let control = &character.control;
        let positions: Vec<DVec3> = control.positions.iter().map(|p| p.as_dvec3()).collect();
        let soft = |t: &&[u32; 3]| !t.iter().any(|&v| control.rigid[v as usize]);
        let triangles: Vec<[u32; 3]> = control.triangles.iter().filter(soft).copied().collect();
        let weights = own_weights(&control.influences);
        let inside = Inside::of(&positions, &triangles, &weights, f64::from(cubes)).0;
        match inside {
            Some(inside) => Self::of(character, inside, &weights, &positions, &triangles),
            None => Self::none(character),
        }
    }

    fn none(character: &Character) -> Result<Self> {
        Ok(Self {
            levels: Vec::new(),
            home: Vec::new(),
            embedding: vec![None; character.control.positions.len()],
            contact: Contact::default(),
            held: Vec::new(),
            thickness: 1.0,
            nodes: as_character(character, Vec::new(), Default::default()),
        })
    }

    fn of(
        character: &Character,
        inside: Inside,
        own: &Weights,
        positions: &[DVec3],
        triangles: &[[u32; 3]],
    ) -> Result<Self> {
        let (size, rest) = (inside.size, &inside.nodes);
        let cells: Vec<[u32; 8]> = inside.cells.iter().map(|c| along_axes(c.corners, rest)).collect();
        // Joints whose bones cross a cube at each node.
        let mut joints: Vec<Vec<u32>> = vec![Vec::new(); rest.len()];
        let deforming = character.deforming_bones();
        for (bone, _) in character.skeleton.bones.iter().zip(deforming).filter(|b| b.1) {
            let (head, tail) = (bone.head.as_dvec3(), bone.tail.as_dvec3());
            let steps = (head.distance(tail) / (SAMPLE * size)).ceil().clamp(1.0, 1e5) as usize;
            let mut last = None;
            for k in 0..=steps {
                let cell = inside.find(head.lerp(tail, k as f64 / steps as f64));
                for &n in cell.filter(|_| cell != last).map_or(&[][..], |c| &cells[c][..]) {
                    let joint = bone.parent.index() as u32;
                    if !joints[n as usize].contains(&joint) {
                        joints[n as usize].push(joint);
                    }
                }
                last = cell;
            }
        }
        let follows = |n: usize, joint: u32| -> f64 {
            inside.weights.of(n).filter(|w| w.0 == joint as usize).map(|w| w.1).sum()
        };
        let mut held: Vec<bool> =
            joints.iter().enumerate().map(|(n, j)| j.len() == 1 && follows(n, j[0]) >= ALONE).collect();
        let core: Vec<bool> = joints.iter().zip(&held).map(|(j, held)| !held && !j.is_empty()).collect();
        // Parts that no bone holds follow the geometric method.
        let mut part = apart(rest.len());
        cells.iter().for_each(|c| (1..8).for_each(|k| unite(&mut part, c[0], c[k])));
        let part: Vec<u32> = (0..rest.len() as u32).map(|n| root(&mut part, n)).collect();
        let mut anchored = vec![false; rest.len()];
        (0..rest.len()).filter(|&n| held[n] || core[n]).for_each(|n| anchored[part[n] as usize] = true);
        (0..rest.len()).for_each(|n| held[n] |= !anchored[part[n] as usize]);
        let home = cells.iter().map(|cell| home(cell, &inside)).collect();
        let mut embedding: Vec<Option<Place>> = vec![None; positions.len()];
        let normals = normals(positions, triangles);
        let agrees = |cell: usize, v: usize| {
            let of_cell = |joint: usize| {
                let at = cells[cell].iter().flat_map(|&n| inside.weights.of(n as usize));
                at.filter(|w| w.0 == joint).map(|w| w.1).sum::<f64>() / 8.0
            };
            own.of(v).map(|(joint, w)| w.min(of_cell(joint))).sum::<f64>() >= AGREE
        };
        let place = |cell: usize, v: usize| {
            let at = (positions[v] - rest[cells[cell][0] as usize]) / size;
            Place { cell: cell as u32, at: at.as_vec3() }
        };
        let low = rest.iter().fold(DVec3::INFINITY, |low, x| low.min(*x));
        let grid: Vec<[i32; 3]> =
            rest.iter().map(|x| ((*x - low) / size).round().to_array().map(|v| v as i32)).collect();
        let mut at_grid: HashMap<[i32; 3], Vec<usize>> = HashMap::new();
        for (c, cell) in cells.iter().enumerate().filter(|c| anchored[part[c.1[0] as usize] as usize]) {
            at_grid.entry(grid[cell[0] as usize]).or_default().push(c);
        }
        let nearest = |v: usize| {
            let key = ((positions[v] - low) / size).floor().to_array().map(|v| v as i32);
            let distance = |c: usize| {
                let at = place(c, v);
                at.at.distance_squared(at.inside().at)
            };
            (0..=AROUND).find_map(|ring| {
                let near = shell(key, ring).filter_map(|k| at_grid.get(&k)).flatten().copied();
                near.filter(|&c| agrees(c, v))
                    .min_by(|&a, &b| distance(a).total_cmp(&distance(b)).then(a.cmp(&b)))
            })
        };
        for t in triangles.iter().flatten() {
            let v = *t as usize;
            let found = |depth: &f64| inside.find(positions[v] - normals[v] * (depth * size));
            let deep = |depth: &f64| found(depth).filter(|&c| agrees(c, v));
            let cell = embedding[v].is_none().then(|| DEPTHS.iter().find_map(deep)).flatten();
            let cell = cell.filter(|&c| anchored[part[cells[c][0] as usize] as usize]);
            embedding[v] = embedding[v].or_else(|| cell.or_else(|| nearest(v)).map(|c| place(c, v)));
        }
        adopt(&mut embedding, positions.len(), triangles, place);
        let shape = Shape { embedding: &embedding, positions, normals: &normals, triangles };
        let contact = Contact::new(&shape, &cells, rest, size);
        let levels = Level::finest(size as f32, cells, grid, held.clone(), &core).hierarchy();
        let bones: Vec<DVec3> = (0..rest.len()).filter(|&n| held[n] || core[n]).map(|n| rest[n]).collect();
        let thickness = thickness(rest, &bones).max(size) as f32;
        let nodes = rest.iter().map(|x| x.as_vec3()).collect();
        let nodes = as_character(character, nodes, inside.weights.influences());
        Ok(Self { levels, home, embedding, contact, held, thickness, nodes })
    }
}

/// The distance to the nearest of some points that 5 % of `nodes` exceed.
fn thickness(nodes: &[DVec3], points: &[DVec3]) -> f64 {
    let nearest = |x: &DVec3| points.iter().map(|p| p.distance_squared(*x)).fold(f64::INFINITY, f64::min);
    let mut distances: Vec<f64> = nodes.par_iter().map(nearest).filter(|d| d.is_finite()).collect();
    let at = distances.len() * 19 / 20;
    if at >= distances.len() { 0.0 } else { distances.select_nth_unstable_by(at, f64::total_cmp).1.sqrt() }
}

/// The grid cells at this distance from one, along the axis where they are farthest.
fn shell(key: [i32; 3], ring: i32) -> impl Iterator<Item = [i32; 3]> {
    let side = move || -ring..=ring;
    let all = side().flat_map(move |x| side().flat_map(move |y| side().map(move |z| [x, y, z])));
    let on = move |d: &[i32; 3]| d.iter().any(|d| d.abs() == ring);
    all.filter(on).map(move |d| std::array::from_fn(|k| key[k] + d[k]))
}

/// The corners of a cube in an order in which bit `k` is the side along the world's axis `k`.
fn along_axes(corners: [u32; 8], nodes: &[DVec3]) -> [u32; 8] {
    let at = |corner: usize| nodes[corners[corner] as usize];
    let axis: [usize; 3] = std::array::from_fn(|k| {
        let edge = (at(1 << k) - at(0)).abs().to_array();
        (0..3).fold(0, |best, a| if edge[a] > edge[best] { a } else { best })
    });
    let mut out = corners;
    for (corner, &node) in corners.iter().enumerate() {
        out[(0..3).map(|k| (corner >> k & 1) << axis[k]).sum::<usize>()] = node;
    }
    out
}

/// The joint that a cube follows most.
fn home(cell: &[u32; 8], inside: &Inside) -> u32 {
    let mut sums: Vec<(usize, f64)> = Vec::new();
    for (joint, weight) in cell.iter().flat_map(|&n| inside.weights.of(n as usize)) {
        match sums.iter_mut().find(|s| s.0 == joint) {
            Some(sum) => sum.1 += weight,
            None => sums.push((joint, weight)),
        }
    }
    sums.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    sums.first().map_or(0, |s| s.0 as u32)
}

fn normals(positions: &[DVec3], triangles: &[[u32; 3]]) -> Vec<DVec3> {
    let mut out = vec![DVec3::ZERO; positions.len()];
    for t in triangles {
        let [a, b, c] = t.map(|v| positions[v as usize]);
        t.iter().for_each(|&v| out[v as usize] += (b - a).cross(c - a));
    }
    out.iter().map(|n| n.normalize_or_zero()).collect()
}

/// Gives vertices without a cube that of the nearest neighbour on the mesh with one.
fn adopt(
    embedding: &mut [Option<Place>],
    vertices: usize,
    triangles: &[[u32; 3]],
    place: impl Fn(usize, usize) -> Place,
) {
    let near = Adjacency::of_triangles(vertices, triangles);
    let mut rim: Vec<u32> = (0..vertices as u32).filter(|&v| embedding[v as usize].is_some()).collect();
    while !rim.is_empty() {
        let mut next = Vec::new();
        for &v in &rim {
            let Some(from) = embedding[v as usize] else { continue };
            for &other in
                near.of(v as usize).iter().filter(|&&o| embedding[o as usize].is_none()).collect::<Vec<_>>()
            {
                embedding[other as usize] = Some(place(from.cell as usize, other as usize));
                next.push(other);
            }
        }
        rim = next;
    }
}

/// Nodes as the vertices of a character with this skeleton. They hang on the first bone, which only methods that read
/// attachments notice.
fn as_character(character: &Character, positions: Vec<Vec3>, influences: crate::asset::Influences) -> Bound {
    let count = positions.len();
    let head = character.skeleton.bones.first().map_or(Vec3::ZERO, |b| b.head);
    let attachments = Attachments {
        bone: vec![BoneId(0); count],
        t: vec![0.0; count],
        scale_vector: positions.iter().map(|x| *x - head).collect(),
    };
    let aabb = crate::base::math::Aabb::of(positions.iter().copied());
    let control =
        ControlMesh { rigid: vec![false; count], positions, influences, aabb, ..ControlMesh::default() };
    let skeleton = character.skeleton.clone();
    let character = Character { skeleton, control, ..Character::default() };
    Bound { character: Arc::new(character), attachments: Arc::new(attachments) }
}
