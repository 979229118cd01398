//! The flesh of a character: cubes around the mesh and the bones, and the joints that move the cubes.
//!
//! A bone fixes the nodes of the cubes that it crosses (Kavan, Sorkine 2012, section 3.1). **Differs** from the paper:
//! nodes near a joint are free, even if a bone crosses their cubes.

use crate::base::JointId;
use crate::base::math::DVec3;
use crate::bind::{Character, HeatSite};
use crate::geom::{Enclosure, Weld, weld};
use rayon::prelude::*;
use std::collections::HashMap;

/// Bones shorter than this fraction of the mesh's diagonal have no direction.
const SHORT: f64 = 1e-4;
/// Maximum distance, in grid cells along each axis, at which a point outside the flesh searches for a cube.
const AROUND: i32 = 3;

/// Nodes on a bone are free up to a distance from a joint. The distance is this factor times the radius of the flesh at
/// the joint, but at most the fraction [`MOST`] of the bone's length.
const FREE: f64 = 2.0;
const MOST: f64 = 0.4;
/// The radius of the flesh at a joint is the largest of several distances: from this many points of the bone to the
/// nearest vertex of the mesh. The points are spaced by the fraction [`SAMPLE`] of the bone's length, from the joint
/// on.
const SAMPLES: usize = 4;
const SAMPLE: f64 = 0.1;

/// A joint with bones in the flesh.
#[derive(Clone, Debug)]
pub struct FleshJoint {
    /// The joint in the skeleton.
    pub joint: JointId,
    /// Index of the nearest ancestor with bones in the flesh. A joint without such an ancestor has the first joint as its
    /// parent; the first joint has none.
    pub parent: Option<usize>,
    /// Position in bind space.
    pub pivot: DVec3,
    /// Unit vector along the joint's bone in bind space. With several bones, the direction of their sum.
    pub bone: DVec3,
}

/// Cubes around a character's mesh and bones.
pub struct Flesh {
    /// The cubes.
    pub enclosure: Enclosure,
    weld: Weld,
    /// Joints with bones in the flesh, parents before children.
    pub joints: Vec<FleshJoint>,
    /// Per node: indices of the joints whose bones cross one of the node's cubes, in ascending order.
    pub claims: Vec<Vec<usize>>,
    /// Like `claims`, but empty for nodes near a joint.
    pub fixed: Vec<Vec<usize>>,
    /// Per node: whether a bone crosses the node's connected part.
    pub anchored: Vec<bool>,
    /// The anchored cubes in each grid cell.
    grid: HashMap<[i32; 3], Vec<u32>>,
}

/// A bone in the flesh.
struct Segment {
    joint: usize,
    ends: [DVec3; 2],
}

impl Flesh {
    /// Encloses the skinned parts of a character in approximately `count` cubes. Returns `None` if the character has no
    /// triangles or no bones.
    pub fn of(character: &Character, count: usize) -> Option<Self> {
        let control = &character.control;
        let positions: Vec<DVec3> = control.positions.iter().map(|p| p.as_dvec3()).collect();
        let soft = |t: &&[u32; 3]| !t.iter().any(|&v| control.rigid[v as usize]);
        // Parts of a body that meet at a seam are one part, even if they belong to different meshes.
        let weld = weld(&control.positions, |_, _| true);
        let joined = |t: &[u32; 3]| t.map(|v| weld.first_of(v));
        let triangles: Vec<[u32; 3]> = control.triangles.iter().filter(soft).map(joined).collect();
        let (joints, segments) = joints(character);
        if triangles.is_empty() || segments.is_empty() {
            return None;
        }
        let ends: Vec<[DVec3; 2]> = segments.iter().map(|s| s.ends).collect();
        let enclosure = Enclosure::with_cubes(&positions, &triangles, &ends, count)?;
        let mut out = Self {
            enclosure,
            weld,
            joints,
            claims: Vec::new(),
            fixed: Vec::new(),
            anchored: Vec::new(),
            grid: HashMap::new(),
        };
        out.claim(&segments);
        out.release(&segments, &positions);
        out.index();
        Some(out)
    }

    /// Finds the joints that claim each node.
    fn claim(&mut self, segments: &[Segment]) {
        let cubes = &self.enclosure.cubes;
        let mut claims: Vec<Vec<usize>> = vec![Vec::new(); cubes.nodes.len()];
        for (s, segment) in segments.iter().enumerate() {
            for &cell in self.enclosure.along(s) {
                for &n in &cubes.cells[cell as usize] {
                    if let Err(at) = claims[n as usize].binary_search(&segment.joint) {
                        claims[n as usize].insert(at, segment.joint);
                    }
                }
            }
        }
        // A joint whose bones share all their nodes with other joints takes the shared nodes of the cube at the end of
        // its last bone. Children come first, so a parent finds the nodes that its children have taken.
        let mut alone = vec![false; self.joints.len()];
        claims.iter().filter(|c| c.len() == 1).for_each(|c| alone[c[0]] = true);
        for joint in (0..self.joints.len()).rev().filter(|&j| !alone[j]) {
            let last = segments.iter().rposition(|s| s.joint == joint);
            let end = last.and_then(|s| self.enclosure.along(s).last());
            let corners = end.map_or(&[][..], |&cell| &cubes.cells[cell as usize][..]);
            let shared = |n: &&u32| claims[**n as usize].len() > 1;
            for n in corners.iter().filter(shared).copied().collect::<Vec<_>>() {
                claims[n as usize] = vec![joint];
            }
        }
        self.claims = claims;
    }

    /// Frees the nodes near joints. If a bone fixed its nodes up to its ends, a twist could spread only over the few
    /// cubes between two bones.
    fn release(&mut self, segments: &[Segment], positions: &[DVec3]) {
        let surface =
            |x: DVec3| positions.iter().map(|p| p.distance_squared(x)).fold(f64::INFINITY, f64::min).sqrt();
        let reach = |segment: &Segment, end: f64| {
            let [head, tail] = segment.ends;
            let inside = |k: usize| surface(head.lerp(tail, (end - SAMPLE * k as f64).abs()));
            (FREE * (0..SAMPLES).map(inside).fold(0.0, f64::max)).min(MOST * head.distance(tail))
        };
        // Per bone: the distances from its head and from its tail within which nodes are free.
        let bone = |segment: &Segment| {
            let ends_at = |j: &FleshJoint| j.parent == Some(segment.joint) && j.pivot == segment.ends[1];
            let [head, tail] = [self.joints[segment.joint].parent.is_some(), self.joints.iter().any(ends_at)];
            [(head, 0.0), (tail, 1.0)].map(|(joint, end)| if joint { reach(segment, end) } else { 0.0 })
        };
        let free: Vec<[f64; 2]> = segments.par_iter().map(bone).collect();
        self.fixed.clone_from(&self.claims);
        for (claims, x) in self.fixed.iter_mut().zip(&self.enclosure.cubes.nodes) {
            let near = |(s, r): (&Segment, &[f64; 2])| {
                claims[..] == [s.joint] && (0..2).any(|k| s.ends[k].distance(*x) < r[k])
            };
            if segments.iter().zip(&free).any(near) {
                claims.clear();
            }
        }
    }

    /// Finds the anchored nodes and indexes the anchored cubes.
    fn index(&mut self) {
        let (count, component) = self.enclosure.components();
        let mut anchored = vec![false; count];
        for (claims, &part) in self.claims.iter().zip(&component) {
            anchored[part as usize] |= !claims.is_empty();
        }
        self.anchored = component.iter().map(|&part| anchored[part as usize]).collect();
        let cubes = &self.enclosure.cubes;
        for (c, cell) in cubes.cells.iter().enumerate().filter(|c| self.anchored[c.1[0] as usize]) {
            let middle = 0.5 * (cubes.nodes[cell[0] as usize] + cubes.nodes[cell[7] as usize]);
            self.grid.entry(self.key(middle)).or_default().push(c as u32);
        }
    }

    fn key(&self, x: DVec3) -> [i32; 3] {
        let cubes = &self.enclosure.cubes;
        let first = cubes.nodes.first().copied().unwrap_or_default();
        ((x - first) / cubes.size).floor().to_array().map(|v| v as i32)
    }

    /// Returns the cube of a mesh vertex, with the weights of its corners. `None` for a vertex without a valid
    /// triangle.
    pub fn cube_of(&self, vertex: usize) -> Option<(usize, [f64; 8])> {
        self.enclosure.of_vertex(self.weld.first_of(vertex as u32) as usize)
    }

    /// Returns the anchored cube of a mesh vertex, with the weights of its corners. A vertex of a part without bones
    /// takes the nearest anchored cube. `None` if none is near.
    pub fn of_vertex(&self, vertex: usize, x: DVec3) -> Option<(usize, [f64; 8])> {
        let anchored = |c: usize| self.anchored[self.enclosure.cubes.cells[c][0] as usize];
        self.cube_of(vertex).filter(|place| anchored(place.0)).or_else(|| self.nearest(x))
    }

    /// Returns the anchored cube at a point inside the mesh or near it, with the weights of its corners. `None` if none
    /// is near.
    pub fn at(&self, x: DVec3) -> Option<(usize, [f64; 8])> {
        let anchored = |c: usize| self.anchored[self.enclosure.cubes.cells[c][0] as usize];
        self.enclosure.find(x).filter(|place| anchored(place.0)).or_else(|| self.nearest(x))
    }

    /// Returns the nearest anchored cube, and the weights of its corners at its point nearest to `x`.
    fn nearest(&self, x: DVec3) -> Option<(usize, [f64; 8])> {
        let cubes = &self.enclosure.cubes;
        let (key, side) = (self.key(x), || -AROUND..=AROUND);
        let mut best: Option<(f64, usize, DVec3)> = None;
        for (i, j, k) in side().flat_map(|i| side().flat_map(move |j| side().map(move |k| (i, j, k)))) {
            for &c in self.grid.get(&[key[0] + i, key[1] + j, key[2] + k]).map_or(&[][..], |cells| &cells[..])
            {
                let at = (x - cubes.nodes[cubes.cells[c as usize][0] as usize]) / cubes.size;
                let inside = at.clamp(DVec3::ZERO, DVec3::ONE);
                let distance = at.distance_squared(inside);
                if best.is_none_or(|b| (distance, c as usize) < (b.0, b.1)) {
                    best = Some((distance, c as usize, inside));
                }
            }
        }
        best.map(|(_, cell, at)| (cell, trilinear(at)))
    }

    /// Per node: whether it is fixed to a bone that rotates with a joint (`Some(true)`), to another bone
    /// (`Some(false)`), or free.
    pub fn side(&self, joint: usize) -> Vec<Option<bool>> {
        let rotates = self.below(joint);
        let side = |claims: &Vec<usize>| match claims.iter().filter(|&&j| rotates[j]).count() {
            _ if claims.is_empty() => None,
            0 => Some(false),
            all if all == claims.len() => Some(true),
            _ => None,
        };
        self.fixed.iter().map(side).collect()
    }

    /// Returns, per joint, the nodes that only this joint claims. `claims` is [`Flesh::claims`] or [`Flesh::fixed`].
    pub fn handles(&self, claims: &[Vec<usize>]) -> Vec<Vec<u32>> {
        let mut out = vec![Vec::new(); self.joints.len()];
        for (n, claims) in claims.iter().enumerate() {
            if let [joint] = claims[..] {
                out[joint].push(n as u32);
            }
        }
        out
    }

    /// Returns, per joint, whether it is `joint` or one of its descendants.
    pub fn below(&self, joint: usize) -> Vec<bool> {
        let mut out = vec![false; self.joints.len()];
        for j in joint..out.len() {
            out[j] = j == joint || self.joints[j].parent.is_some_and(|p| out[p]);
        }
        out
    }
}

/// Weights of a cube's corners at coordinates along its axes, 0 to 1.
fn trilinear(at: DVec3) -> [f64; 8] {
    std::array::from_fn(|c| (0..3).map(|k| if c >> k & 1 == 1 { at[k] } else { 1.0 - at[k] }).product())
}

/// Returns the joints with bones in the flesh, parents before children. The weights of the flesh refer to this list.
pub fn flesh_joints(character: &Character) -> Vec<FleshJoint> {
    joints(character).0
}

/// Returns the bones in the flesh as sites for heat weights. The owners of the sites are joints of the skeleton.
pub(super) fn bones(character: &Character) -> Vec<HeatSite> {
    let (joints, segments) = joints(character);
    let site = |s: &Segment| HeatSite {
        owner: joints[s.joint].joint.0 as u16,
        head: s.ends[0].as_vec3(),
        tail: s.ends[1].as_vec3(),
    };
    segments.iter().map(site).collect()
}

/// Returns the joints with bones in the flesh, parents first, and their bones. If several joints belong to one scene
/// node, only the first joint counts, because different skins of a file may repeat the same bones.
fn joints(character: &Character) -> (Vec<FleshJoint>, Vec<Segment>) {
    let short = SHORT * f64::from(character.control.aabb.diagonal());
    let skeleton = &character.skeleton;
    let count = skeleton.joints.len();
    let first = |j: usize| {
        let node = skeleton.joints[j].node;
        skeleton.joints.iter().position(|o| o.node == node && o.skinned).unwrap_or(j)
    };
    let first: Vec<usize> = (0..count).map(first).collect();
    let deforming = character.deforming_bones();
    let bones: Vec<_> = skeleton.bones.iter().zip(&deforming).filter(|b| *b.1).map(|b| b.0).collect();
    let mut active = vec![false; count];
    bones.iter().for_each(|b| active[first[b.parent.index()]] = true);
    let above = |j: usize| skeleton.joints[j].parent.map(|p| first[p.index()]);
    let ancestors = |j: usize| std::iter::successors(above(j), |&p| above(p)).take(count);
    let depth = |j: usize| ancestors(j).count();
    let mut order: Vec<usize> = (0..count).filter(|&j| active[j]).collect();
    order.sort_by_key(|&j| (depth(j), j));
    let place = |j: usize| order.iter().position(|&o| o == j);
    let mut segments: Vec<Segment> = Vec::new();
    for bone in &bones {
        let ends = [bone.head, bone.tail].map(|x| x.as_dvec3());
        let joint = first[bone.parent.index()];
        let repeated = |s: &Segment| s.joint == joint && s.ends == ends;
        // A joint's bones may end at several children, and some of those children may lie at the joint's own position.
        if let Some(joint) = place(joint)
            && !segments.iter().any(repeated)
        {
            segments.push(Segment { joint, ends });
        }
    }
    let long = |s: &Segment| s.ends[0].distance(s.ends[1]) > short;
    let has_long: Vec<bool> =
        (0..order.len()).map(|j| segments.iter().any(|s| s.joint == j && long(s))).collect();
    segments.retain(|s| long(s) || !has_long[s.joint]);
    let mut joints: Vec<FleshJoint> = Vec::new();
    for (index, &j) in order.iter().enumerate() {
        // Further roots count as children of the first, so that a common motion of all roots stays rigid.
        let first_root = (index > 0).then_some(0);
        let parent = ancestors(j).find(|&p| active[p]).and_then(place).or(first_root);
        let sum: DVec3 = segments.iter().filter(|s| s.joint == index).map(|s| s.ends[1] - s.ends[0]).sum();
        let pivot = skeleton.joints[j].bind_from_joint.translation.as_dvec3();
        joints.push(FleshJoint { joint: JointId::from(j), parent, pivot, bone: sum.normalize_or_zero() });
    }
    // A joint without a direction takes the direction of its first child with one, or else the direction of its parent.
    for j in (0..joints.len()).rev().filter(|&j| !has_long[j]).collect::<Vec<_>>() {
        let child = joints.iter().find(|c| c.parent == Some(j) && c.bone != DVec3::ZERO).map(|c| c.bone);
        joints[j].bone = child.unwrap_or(DVec3::ZERO);
    }
    for j in 0..joints.len() {
        if joints[j].bone == DVec3::ZERO {
            joints[j].bone = joints[j].parent.map_or(DVec3::Y, |p| joints[p].bone);
        }
    }
    (joints, segments)
}
