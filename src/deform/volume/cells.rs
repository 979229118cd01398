//! The cubes inside a character, and the nodes that are fixed to its bones.

use super::contact::{Contact, Shape};
use super::cover::Cover;
use super::hubs::Hubs;
use super::levels::{FEWEST, Level};
use super::place::{Finder, Place, Vertices};
use super::rigid::{rigid_parts, stiffen};
use crate::base::math::{DVec3, Vec3};
use crate::base::{BoneId, JointId};
use crate::bind::{Attachments, Character};
use crate::deform::Bound;
use crate::deform::fast::{Inside, Weights, own_weights};
use crate::geom::{ControlMesh, Thickness, apart, root, unite};
use rayon::prelude::*;
use std::sync::Arc;

/// A node on a bone is held if its weight for the bone's joint is at least this fraction. A node on bones of one hub is
/// held if the sum of its weights for the hub's joints is at least this fraction. Nodes inside the flesh of a hub or an
/// end are held under the same condition.
const ALONE: f64 = 0.98;
/// Spacing of the samples along a bone, in edge lengths of a cube.
const SAMPLE: f64 = 0.2;
/// Depth below the surface of a rigid part at which the part's cubes are found, in edge lengths of a cube.
const BELOW: f64 = 0.02;

/// The volume of a character, divided into cubes.
#[derive(Clone, Debug)]
pub struct Cells {
    /// The multigrid levels of cubes, finest first.
    pub levels: Vec<Level>,
    /// Per cube of the finest level: the joint with the largest total weight at its nodes.
    pub home: Vec<u32>,
    /// Place of each control vertex in or near its cube. The geometric method places vertices with `None`.
    pub embedding: Vec<Option<Place>>,
    /// Data that contact needs.
    pub contact: Contact,
    /// The skin nearest to each cube of the finest level.
    pub cover: Cover,
    /// Per node of the finest level: whether the node is held at its start position.
    pub held: Vec<bool>,
    /// Thickness of the flesh, metres: the distance to the nearest node on a bone that 5 % of the nodes exceed.
    pub thickness: f32,
    /// The nodes of the finest level as the vertices of a character without triangles, so that a geometric method can
    /// pose them.
    pub nodes: Bound,
}

impl Cells {
    /// Fills the closed parts of a character's mesh with approximately `cubes` cubes. If the mesh has no closed parts,
    /// there are no cubes.
    pub fn bind(character: &Character, cubes: u32) -> Self {
        let control = &character.control;
        let positions: Vec<DVec3> = control.positions.iter().map(|p| p.as_dvec3()).collect();
        let soft = |t: &&[u32; 3]| !t.iter().any(|&v| control.rigid[v as usize]);
        let triangles: Vec<[u32; 3]> = control.triangles.iter().filter(soft).copied().collect();
        let weights = own_weights(&control.influences);
        let first = character.skeleton.first_joints();
        let alike = |joint: usize| first[joint].index();
        let inside = Inside::of(&positions, &triangles, &weights, alike, f64::from(cubes)).0;
        match inside {
            Some(inside) => Self::of(character, inside, &weights, &positions, &triangles),
            None => Self::none(character),
        }
    }

    fn none(character: &Character) -> Self {
        Self {
            levels: Vec::new(),
            home: Vec::new(),
            embedding: vec![None; character.control.positions.len()],
            contact: Contact::default(),
            cover: Cover::default(),
            held: Vec::new(),
            thickness: 1.0,
            nodes: as_character(character, Vec::new(), Default::default()),
        }
    }

    fn of(
        character: &Character,
        inside: Inside,
        own: &Weights,
        positions: &[DVec3],
        triangles: &[[u32; 3]],
    ) -> Self {
        let (size, rest) = (inside.size, &inside.nodes);
        let cells: Vec<[u32; 8]> = inside.cells.iter().map(|c| along_axes(c.corners, rest)).collect();
        let skeleton = &character.skeleton;
        let normals = normals(positions, triangles);
        let vertices = Vertices { positions, normals: &normals, triangles, weights: own };
        let first = skeleton.first_joints();
        let mut joints = crossed(character, &inside, &cells, &first);
        let bony: Vec<bool> = joints.iter().map(|joints| !joints.is_empty()).collect();
        let surface = Thickness::new(positions, triangles);
        let rigid = rigid_parts(skeleton, &vertices, &surface, size);
        // A rigid part holds the flesh in and around it like a bone.
        for (joint, v) in rigid.iter().flat_map(|(joint, part)| part.iter().map(|v| (*joint, *v as usize))) {
            let below = inside.find(positions[v] - normals[v] * (BELOW * size));
            below.into_iter().flat_map(|c| cells[c]).for_each(|n| add(&mut joints[n as usize], joint));
        }
        let longest = character.control.aabb.size().max_element();
        let Hubs { of: hubs, ends } = Hubs::new(skeleton, &first, &character.leading_joints(), longest);
        let share = |n: usize, of: &dyn Fn(usize) -> bool| -> f64 {
            inside.weights.of(n).filter(|w| of(w.0)).map(|w| w.1).sum()
        };
        let of_joint = |n: usize, joint: JointId| share(n, &|j| first[j] == joint) >= ALONE;
        let of_hub = |n: usize, hub: JointId| share(n, &|j| hubs[j] == Some(hub)) >= ALONE;
        let of_hub_or_end = |n: usize, j: usize| match hubs[j] {
            Some(hub) => of_hub(n, hub),
            None => ends[first[j].index()] && of_joint(n, first[j]),
        };
        let mut around = vec![0; rest.len()];
        cells.iter().flatten().for_each(|&n| around[n as usize] += 1);
        let alone = |n: usize| match &joints[n][..] {
            [joint] if of_joint(n, *joint) => true,
            [joint, others @ ..] => hubs[joint.index()].is_some_and(|hub| {
                others.iter().all(|other| hubs[other.index()] == Some(hub)) && of_hub(n, hub)
            }),
            [] => around[n] == 8 && inside.weights.of(n).any(|(j, _)| of_hub_or_end(n, j)),
        };
        let mut held: Vec<bool> = (0..rest.len()).map(alone).collect();
        let core: Vec<bool> = joints.iter().zip(&held).map(|(j, held)| !held && !j.is_empty()).collect();
        // A connected part without nodes on bones follows the geometric method: all its nodes are held.
        let mut part = apart(rest.len());
        cells.iter().for_each(|c| (1..8).for_each(|k| unite(&mut part, c[0], c[k])));
        let part: Vec<u32> = (0..rest.len() as u32).map(|n| root(&mut part, n)).collect();
        let mut anchored = vec![false; rest.len()];
        (0..rest.len()).filter(|&n| bony[n]).for_each(|n| anchored[part[n] as usize] = true);
        (0..rest.len()).for_each(|n| held[n] |= !anchored[part[n] as usize]);
        let home: Vec<u32> = cells.iter().map(|cell| home(cell, &inside)).collect();
        let anchored: Vec<bool> = cells.iter().map(|c| anchored[part[c[0] as usize] as usize]).collect();
        let low = rest.iter().fold(DVec3::INFINITY, |low, x| low.min(*x));
        let grid = rest.iter().map(|x| ((*x - low) / size).round().to_array().map(|v| v as i32)).collect();
        let bones: Vec<DVec3> = (0..rest.len()).filter(|&n| bony[n]).map(|n| rest[n]).collect();
        let finest = Level::finest(size as f32, cells, grid, held.clone(), core);
        let (cells, anchored) = (&finest.cells, &anchored);
        let finder = Finder { cells, inside: &inside, home: &home, anchored, skeleton, hubs: &hubs };
        let flesh = finder.places(&vertices);
        let mut embedding = flesh.clone();
        stiffen(&rigid, positions, &mut embedding);
        let cover = Cover::new(&finder, &vertices, &flesh, &finest);
        let shape = Shape {
            flesh: &flesh,
            skin: &embedding,
            positions,
            normals: &normals,
            triangles,
            surface: &surface,
        };
        let contact = Contact::new(&shape, cells, rest, size);
        // Contact acts on the places in the cubes.
        finder.loosen(own, &mut embedding);
        let levels = finest.hierarchy(FEWEST);
        let thickness = thickness(rest, &bones).max(size) as f32;
        let nodes = rest.iter().map(|x| x.as_vec3()).collect();
        let nodes = as_character(character, nodes, inside.weights.influences());
        Self { levels, home, embedding, contact, cover, held, thickness, nodes }
    }
}

/// Per node: the first joints of the nodes whose bones cross a cube with this node as a corner.
fn crossed(
    character: &Character,
    inside: &Inside,
    cells: &[[u32; 8]],
    first: &[JointId],
) -> Vec<Vec<JointId>> {
    let mut joints: Vec<Vec<JointId>> = vec![Vec::new(); inside.nodes.len()];
    let deforming = character.deforming_bones();
    for (bone, _) in character.skeleton.bones.iter().zip(deforming).filter(|b| b.1) {
        let (head, tail) = (bone.head.as_dvec3(), bone.tail.as_dvec3());
        let steps = (head.distance(tail) / (SAMPLE * inside.size)).ceil().clamp(1.0, 1e5) as usize;
        let mut last = None;
        for k in 0..=steps {
            let cell = inside.find(head.lerp(tail, k as f64 / steps as f64));
            for &n in cell.filter(|_| cell != last).map_or(&[][..], |c| &cells[c][..]) {
                add(&mut joints[n as usize], first[bone.parent.index()]);
            }
            last = cell;
        }
    }
    joints
}

fn add(joints: &mut Vec<JointId>, joint: JointId) {
    if !joints.contains(&joint) {
        joints.push(joint);
    }
}

/// Returns the 95th percentile, over `nodes`, of the distance to the nearest of `points`.
fn thickness(nodes: &[DVec3], points: &[DVec3]) -> f64 {
    let nearest = |x: &DVec3| points.iter().map(|p| p.distance_squared(*x)).fold(f64::INFINITY, f64::min);
    let mut distances: Vec<f64> = nodes.par_iter().map(nearest).filter(|d| d.is_finite()).collect();
    let at = distances.len() * 19 / 20;
    if at >= distances.len() { 0.0 } else { distances.select_nth_unstable_by(at, f64::total_cmp).1.sqrt() }
}

/// Reorders the corners of a cube, so that bit `k` of a corner's index gives its side along the world's axis `k`.
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

/// Returns the joint with the largest total weight at a cube's nodes.
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

/// Nodes as the vertices of a character with this skeleton. All nodes are attached to the first bone; only methods that
/// read attachments are affected.
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
    let nodes = Character { skeleton, control, ..Character::default() };
    let mut bound = Bound::new(Arc::new(nodes), Arc::new(attachments));
    bound.body = Some(Arc::new(character.clone()));
    bound
}
