//! Assigns soft tissue to joints and finds the triangles that may invert.

use super::super::bind::Binding;
use crate::base::math::Vec3;
use crate::deform::Bound;
use crate::geom::{ControlMesh, lids};
use crate::rig::Skeleton;
use rayon::prelude::*;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A joint deforms the vertices where its influence exceeds this. The influence is 1 where the bones before and after
/// the joint have equal weight, and 0 where one of them has all the weight.
const DEFORMED: f32 = 0.2;
/// Distance over which a joint's tissue fades out, in multiples of the mean distance to the bone. `EDGES` is a lower
/// limit in edge lengths.
const REACH: f32 = 1.0;
const EDGES: f32 = 1.5;
/// Minimum degree to which a vertex must belong to a joint's tissue to be part of it.
const LEAST: f32 = 1e-3;

/// A triangle's contribution to a joint.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Index into [`Corrections::sides`].
    pub side: u32,
    /// Fraction of the triangle's volume that belongs to the joint.
    pub share: f32,
    /// Fraction of the joint's growth factor that applies to the triangle.
    pub weight: f32,
    /// Volume of the prism between the triangle and its attachment points in bind, cubic metres.
    pub rest: f32,
}

/// A triangle that may invert.
#[derive(Clone, Copy, Debug)]
pub struct Face {
    /// Vertex indices.
    pub triangle: [u32; 3],
    /// Unit normal in bind.
    pub normal: Vec3,
    /// Twice the triangle's area in bind, square metres.
    pub area: f32,
}

/// A triangle that contributes to a volume.
#[derive(Clone, Copy, Debug)]
pub struct Side {
    /// Vertex indices.
    pub triangle: [u32; 3],
    /// Volume of the tetrahedron from the centre of the bind pose's bounding box to the triangle, cubic metres.
    pub cone: f32,
}

/// Rest measures of the corrections.
#[derive(Clone, Debug, Default)]
pub struct Corrections {
    /// CSR offsets into `entries`; length: number of joints with tissue + 1.
    pub offset: Vec<u32>,
    /// Contributions of triangles, ordered by joint.
    pub entries: Vec<Entry>,
    /// Per joint, in cubic metres: the volume change below which nothing happens, the lower limit of the derivative
    /// of the volume by the joint's growth factor, and the sum of the absolute volumes of its prisms.
    pub bounds: Vec<[f32; 3]>,
    /// The triangles that belong to a joint. If the volume of the whole mesh is preserved, the other triangles of the
    /// mesh and the triangles that close its boundary holes follow.
    pub sides: Vec<Side>,
    /// Number of triangles at the start of `sides` that belong to a joint.
    pub prisms: usize,
    /// Whether the volume of the whole mesh is preserved.
    pub closed: bool,
    /// Apex of the `cone` volumes: the centre of the bind pose's bounding box. A pose moves it with the first vertex.
    pub middle: Vec3,
    /// Attachment point of the first vertex, bind space, metres.
    pub first_attachment: Vec3,
    /// Changes of the whole mesh's volume below this are ignored, cubic metres.
    pub whole_dead: f32,
    /// CSR offsets into `pulls`; length: number of vertices + 1.
    pub pull_offset: Vec<u32>,
    /// Per vertex, the joints whose growth factor scales its scale vector, each with a weight.
    pub pulls: Vec<(u32, f32)>,
    /// Triangles that may invert.
    pub faces: Vec<Face>,
    /// Vertices that may move to open triangles.
    pub soft: Vec<u32>,
    /// CSR offsets into `corners`; length: length of `soft` + 1.
    pub corner_offset: Vec<u32>,
    /// Per triangle at a soft vertex: the other two vertices, in the triangle's order, and the index in `faces`.
    pub corners: Vec<[u32; 3]>,
}

/// Returns the volume between a triangle and its attachment points, cubic metres, and its derivative by a growth
/// factor on the scale vectors. The prism's sides are bilinear.
pub fn prism(a: [Vec3; 3], s: [Vec3; 3]) -> (f32, f32) {
    let height = (s[0] + s[1] + s[2]) * (1.0 / 3.0);
    let (b1, b2) = (a[1] - a[0], a[2] - a[0]);
    let (r1, r2) = (s[1] - s[0], s[2] - s[0]);
    let (t1, t2) = (b1 + r1, b2 + r2);
    let area = (b1.cross(b2) + t1.cross(t2)) * (1.0 / 3.0) + (b1.cross(t2) + t1.cross(b2)) * (1.0 / 6.0);
    let growth = (r1.cross(t2) + t1.cross(r2)) * (1.0 / 3.0) + (b1.cross(r2) + r1.cross(b2)) * (1.0 / 6.0);
    let volume = 0.5 * height.dot(area);
    (volume, volume + 0.5 * height.dot(growth))
}

/// Computes the rest measures from the bind pose of the original mesh. `binding` holds the mesh's springs.
pub fn bind(bound: &Bound, binding: &Binding) -> Corrections {
    let control = &bound.character.control;
    let mut out = Corrections::default();
    let fields = fields(control, &bound.character.skeleton, binding);
    let mut total = vec![0.0f32; control.positions.len()];
    fields.iter().flatten().for_each(|&(v, w)| total[v as usize] += w);
    let mut pulls: Vec<Vec<(u32, f32)>> = vec![Vec::new(); control.positions.len()];
    for (joint, field) in fields.iter().enumerate() {
        for &(v, w) in field {
            pulls[v as usize].push((joint as u32, w));
        }
    }
    out.offset.push(0);
    let mut by_joint: Vec<Vec<Entry>> = vec![Vec::new(); fields.len()];
    let mut joints: Vec<u32> = Vec::new();
    let middle = control.aabb.center();
    let side = |triangle: [u32; 3]| Side {
        triangle,
        cone: cone(triangle.map(|v| control.positions[v as usize] - middle)),
    };
    let soft: Vec<[u32; 3]> = control.triangles.iter().filter(|t| springy(control, t)).copied().collect();
    let mut others = Vec::new();
    for t in &soft {
        let corners = t.map(|v| &binding.vertices[v as usize]);
        let (rest, _) = prism(corners.map(|c| c.attachment), corners.map(|c| c.scale_vector));
        joints.clear();
        joints.extend(t.iter().flat_map(|&v| pulls[v as usize].iter().map(|p| p.0)));
        joints.sort_unstable();
        joints.dedup();
        if joints.is_empty() {
            others.push(side(*t));
            continue;
        }
        for &joint in &joints {
            let (mut share, mut weight) = (0.0, 0.0);
            for &v in t {
                let w = pulls[v as usize].iter().find(|p| p.0 == joint).map_or(0.0, |p| p.1);
                share += w / total[v as usize].max(1e-9) / 3.0;
                weight += w / total[v as usize].max(1.0) / 3.0;
            }
            by_joint[joint as usize].push(Entry { side: out.sides.len() as u32, share, weight, rest });
        }
        out.sides.push(side(*t));
    }
    out.prisms = out.sides.len();
    out.closed = true;
    out.sides.extend(others);
    out.sides.extend(lids(control.positions.len(), &soft).into_iter().map(side));
    out.whole_dead = super::DEAD * out.sides.iter().map(|s| f64::from(s.cone)).sum::<f64>().abs() as f32;
    out.middle = middle;
    out.first_attachment = binding.vertices.first().map_or(Vec3::ZERO, |v| v.attachment);
    for entries in by_joint {
        let (mut size, mut growth, mut solid) = (0.0f32, 0.0f32, 0.0f32);
        for e in &entries {
            let triangle = out.sides[e.side as usize].triangle;
            let corners = triangle.map(|v| &binding.vertices[v as usize]);
            let [a, b, c] = triangle.map(|v| control.positions[v as usize]);
            let height = corners.iter().map(|c| c.scale_vector.length()).sum::<f32>() / 3.0;
            solid += e.share * 0.5 * (b - a).cross(c - a).length() * height;
            let (_, grown) = prism(corners.map(|c| c.attachment), corners.map(|c| c.scale_vector));
            size += e.share * e.rest.abs();
            growth += e.weight * grown;
        }
        out.entries.extend(entries);
        out.offset.push(out.entries.len() as u32);
        // If the tissue is a sheet that contains its own bones, there is no volume to preserve; the measured volume is
        // a rounding error.
        let dead = if size > super::SHEET * solid { super::DEAD * size } else { f32::MAX };
        out.bounds.push([dead, super::STIFFEST * growth.abs(), size]);
    }
    out.pull_offset.push(0);
    for (v, joints) in pulls.iter().enumerate() {
        out.pulls.extend(joints.iter().map(|&(j, w)| (j, w / total[v].max(1.0))));
        out.pull_offset.push(out.pulls.len() as u32);
    }
    out.tangles(control);
    out
}

/// Returns the volume of the tetrahedron between the origin and a triangle, cubic metres.
pub fn cone([a, b, c]: [Vec3; 3]) -> f32 {
    a.dot(b.cross(c)) * (1.0 / 6.0)
}

fn springy(control: &ControlMesh, t: &[u32; 3]) -> bool {
    t[0] != t[1] && t[1] != t[2] && t[2] != t[0] && !t.iter().any(|&v| control.rigid[v as usize])
}

/// Returns, per joint that deforms tissue, its vertices and the degree to which each belongs to the joint, 0..=1.
fn fields(control: &ControlMesh, skeleton: &Skeleton, binding: &Binding) -> Vec<Vec<(u32, f32)>> {
    let nodes = &skeleton.nodes;
    let found: Vec<Vec<(u32, f32)>> = (0..skeleton.joints.len())
        .into_par_iter()
        .map(|joint| {
            let mut below = vec![false; nodes.len()];
            for &n in &skeleton.order {
                let parent = nodes[n.index()].parent;
                below[n.index()] =
                    n == skeleton.joints[joint].node || parent.is_some_and(|p| below[p.index()]);
            }
            let turns: Vec<bool> = skeleton.joints.iter().map(|j| below[j.node.index()]).collect();
            field(control, binding, &turns)
        })
        .collect();
    found.into_iter().filter(|f| !f.is_empty()).collect()
}

/// Finds the tissue between the joints that `turns` marks as rotating and the other joints.
fn field(control: &ControlMesh, binding: &Binding, turns: &[bool]) -> Vec<(u32, f32)> {
    let count = control.positions.len();
    let turning = |v: usize| -> f32 {
        control.influences.of(v).filter(|(j, _)| turns[usize::from(*j)]).map(|e| e.1).sum()
    };
    let part: Vec<f32> = (0..count).map(turning).collect();
    let mut out = vec![0.0f32; count];
    let (mut reach, mut edge, mut sum) = (0.0, 0.0, 0.0);
    let mut queue = BinaryHeap::new();
    for v in (0..count).filter(|&v| !control.rigid[v]) {
        let ring = control.adjacency.of(v);
        let mean = (part[v] + ring.iter().map(|&n| part[n as usize]).sum::<f32>()) / (1 + ring.len()) as f32;
        out[v] = (4.0 * mean * (1.0 - mean)).clamp(0.0, 1.0);
        if out[v] > DEFORMED {
            reach += out[v] * binding.vertices[v].radius;
            edge += out[v] * binding.vertices[v].mean_length;
            sum += out[v];
            queue.push(Reverse((0u32, v as u32)));
        }
    }
    if sum <= 0.0 {
        return Vec::new();
    }
    let reach = (REACH * reach / sum).max(EDGES * edge / sum);
    // Positive floats sort like their bits.
    let mut distance = vec![f32::INFINITY; count];
    queue.iter().for_each(|Reverse((_, v))| distance[*v as usize] = 0.0);
    while let Some(Reverse((bits, v))) = queue.pop() {
        if f32::from_bits(bits) > distance[v as usize] {
            continue;
        }
        for &n in control.adjacency.of(v as usize) {
            let (from, to) = (control.positions[v as usize], control.positions[n as usize]);
            let there = f32::from_bits(bits) + from.distance(to);
            if there < reach && there < distance[n as usize] && !control.rigid[n as usize] {
                distance[n as usize] = there;
                queue.push(Reverse((there.to_bits(), n)));
            }
        }
    }
    let fading = |v: usize| {
        let t = (1.0 - distance[v] / reach).clamp(0.0, 1.0);
        if t.is_finite() { t * t * (3.0 - 2.0 * t) } else { 0.0 }
    };
    let all = (0..count).map(|v| (v as u32, out[v].max(fading(v))));
    all.filter(|&(v, w)| w > LEAST && !control.rigid[v as usize]).collect()
}

impl Corrections {
    /// Finds the triangles whose corners follow different joints, and the triangles around them.
    fn tangles(&mut self, control: &ControlMesh) {
        let mut soft = vec![false; control.positions.len()];
        for t in control.triangles.iter().filter(|t| springy(control, t)) {
            let first = || control.influences.of(t[0] as usize);
            if t[1..].iter().any(|&v| !control.influences.of(v as usize).eq(first())) {
                for &v in t {
                    soft[v as usize] = true;
                    control.adjacency.of(v as usize).iter().for_each(|&n| soft[n as usize] = true);
                }
            }
        }
        let mut corners: Vec<Vec<[u32; 3]>> = vec![Vec::new(); control.positions.len()];
        for t in control.triangles.iter().filter(|t| springy(control, t)) {
            if !t.iter().any(|&v| soft[v as usize]) {
                continue;
            }
            let [a, b, c] = t.map(|v| control.positions[v as usize]);
            let normal = (b - a).cross(c - a);
            let longest = a.distance_squared(b).max(b.distance_squared(c)).max(c.distance_squared(a));
            if normal.length() <= 1e-6 * longest || longest <= 0.0 {
                continue;
            }
            for k in 0..3 {
                corners[t[k] as usize].push([t[(k + 1) % 3], t[(k + 2) % 3], self.faces.len() as u32]);
            }
            self.faces.push(Face { triangle: *t, normal: normal.normalize(), area: normal.length() });
        }
        self.corner_offset.push(0);
        for v in (0..soft.len()).filter(|&v| soft[v] && !control.rigid[v] && !corners[v].is_empty()) {
            self.soft.push(v as u32);
            self.corners.extend(&corners[v]);
            self.corner_offset.push(self.corners.len() as u32);
        }
    }

    /// Measures a rest shape of the same mesh: volumes, areas and normals. What belongs to a joint stays.
    pub fn measure(&mut self, bound: &Bound, binding: &Binding) {
        let control = &bound.character.control;
        let at = |v: u32| control.positions[v as usize];
        for side in &mut self.sides {
            side.cone = cone(side.triangle.map(|v| at(v) - self.middle));
        }
        self.first_attachment = binding.vertices.first().map_or(Vec3::ZERO, |v| v.attachment);
        for entry in &mut self.entries {
            let corners = self.sides[entry.side as usize].triangle.map(|v| &binding.vertices[v as usize]);
            entry.rest = prism(corners.map(|c| c.attachment), corners.map(|c| c.scale_vector)).0;
        }
        for face in &mut self.faces {
            let [a, b, c] = face.triangle.map(at);
            let normal = (b - a).cross(c - a);
            // A triangle that the new shape flattens keeps its normal.
            face.normal = normal.try_normalize().unwrap_or(face.normal);
            face.area = normal.length();
        }
    }

    /// Returns a copy without corrections at `vertices`, which sculpt layers shape on purpose. The copy does not
    /// preserve the whole mesh's volume, because the layers may change it.
    pub fn without(&self, vertices: &[u32]) -> Self {
        let count = self.pull_offset.len().saturating_sub(1);
        let mut left = vec![false; count];
        vertices.iter().for_each(|&v| left[v as usize] = true);
        let mut out = Self {
            bounds: self.bounds.clone(),
            sides: self.sides[..self.prisms].to_vec(),
            prisms: self.prisms,
            middle: self.middle,
            first_attachment: self.first_attachment,
            faces: self.faces.clone(),
            ..Self::default()
        };
        out.offset.push(0);
        let kept = |e: &&Entry| !self.sides[e.side as usize].triangle.iter().any(|&v| left[v as usize]);
        for (bounds, w) in out.bounds.iter_mut().zip(self.offset.windows(2)) {
            let first = out.entries.len();
            out.entries.extend(self.entries[w[0] as usize..w[1] as usize].iter().filter(kept));
            bounds[2] = out.entries[first..].iter().map(|e| e.share * e.rest.abs()).sum();
            out.offset.push(out.entries.len() as u32);
        }
        out.pull_offset.push(0);
        for (v, w) in self.pull_offset.windows(2).enumerate() {
            if !left[v] {
                out.pulls.extend(&self.pulls[w[0] as usize..w[1] as usize]);
            }
            out.pull_offset.push(out.pulls.len() as u32);
        }
        out.corner_offset.push(0);
        for (&v, w) in self.soft.iter().zip(self.corner_offset.windows(2)) {
            if !left[v as usize] {
                out.soft.push(v);
                out.corners.extend(&self.corners[w[0] as usize..w[1] as usize]);
                out.corner_offset.push(out.corners.len() as u32);
            }
        }
        out
    }
}
