//! Small analytic characters for the deformers' tests.

use super::{Bound, Geometric};
use crate::asset::Influences;
use crate::base::math::{Aabb, Affine3A, Quat, Trs, Vec3};
use crate::base::{BoneId, JointId, NodeId};
use crate::bind::{Attachments, Character};
use crate::geom::{Adjacency, ControlMesh, DisplayMesh};
use crate::rig::{Bone, Joint, Pose, RigNode, Skeleton};
use std::sync::Arc;

/// Radius of [`cylinder`], metres.
pub const RADIUS: f32 = 0.25;

/// Creates a closed cylinder along +Y with bones of unit length and joint `k` at `y = k`. There are `rings + 1` edge
/// rings; ring `r` is at `y = bones * r / rings` and starts at vertex `r * sides`. The last two vertices are the cap
/// centres. Weights change linearly between the middles of two bones and are ½ at the joint.
pub fn cylinder(bones: usize, sides: usize, rings: usize) -> Bound {
    let skeleton = chain(bones);
    let mut positions = Vec::new();
    for r in 0..=rings {
        for k in 0..sides {
            let angle = std::f32::consts::TAU * k as f32 / sides as f32;
            let y = bones as f32 * r as f32 / rings as f32;
            positions.push(Vec3::new(RADIUS * angle.cos(), y, RADIUS * angle.sin()));
        }
    }
    let at = |r: usize, k: usize| (r * sides + k % sides) as u32;
    let mut triangles = Vec::new();
    for (r, k) in (0..rings).flat_map(|r| (0..sides).map(move |k| (r, k))) {
        triangles.push([at(r, k), at(r + 1, k), at(r + 1, k + 1)]);
        triangles.push([at(r, k), at(r + 1, k + 1), at(r, k + 1)]);
    }
    let (low, high) = (positions.len() as u32, positions.len() as u32 + 1);
    positions.extend([Vec3::ZERO, Vec3::Y * bones as f32]);
    for k in 0..sides {
        triangles.push([low, at(0, k), at(0, k + 1)]);
        triangles.push([high, at(rings, k + 1), at(rings, k)]);
    }
    let mut influences = Influences::default();
    for x in &positions {
        influences.push(weights(x.y, bones));
    }
    bound(skeleton, positions, triangles, influences)
}

/// Creates a character with one display vertex per control vertex, attached to the nearest bones.
pub fn bound(
    skeleton: Skeleton,
    positions: Vec<Vec3>,
    triangles: Vec<[u32; 3]>,
    influences: Influences,
) -> Bound {
    let mut attachments = Attachments::default();
    for &x in &positions {
        let (bone, t, a) = project(&skeleton, x);
        attachments.bone.push(BoneId(bone));
        attachments.t.push(t);
        attachments.scale_vector.push(x - a);
    }
    let normals = smooth_normals(&positions, &triangles);
    let display = DisplayMesh {
        control_of: (0..positions.len() as u32).collect(),
        positions: positions.clone(),
        normals,
        triangles: triangles.clone(),
        ..DisplayMesh::default()
    };
    let control = ControlMesh {
        aabb: Aabb::of(positions.iter().copied()),
        adjacency: adjacency(positions.len(), &triangles),
        rigid: vec![false; positions.len()],
        positions,
        triangles,
        influences,
    };
    Bound::new(Arc::new(Character { skeleton, control, display }), Arc::new(attachments))
}

/// Returns the rest pose of a character.
pub fn rest(bound: &Bound) -> Pose {
    let nodes = &bound.character.skeleton.nodes;
    Pose {
        local: nodes.iter().map(|n| n.rest).collect(),
        weights: vec![Vec::new(); nodes.len()],
        ..Pose::default()
    }
}

/// Returns a copy of the character, uniformly scaled by `factor`.
pub fn scaled(bound: &Bound, factor: f32) -> Bound {
    let mut character = (*bound.character).clone();
    let mut attachments = (*bound.attachments).clone();
    for node in &mut character.skeleton.nodes {
        node.rest.translation = node.rest.translation.map(|v| v * factor);
    }
    for joint in &mut character.skeleton.joints {
        joint.bind_from_joint.translation *= factor;
        joint.joint_from_bind = joint.bind_from_joint.inverse();
    }
    for bone in &mut character.skeleton.bones {
        bone.head *= factor;
        bone.tail *= factor;
    }
    let points = character.control.positions.iter_mut().chain(&mut character.display.positions);
    points.chain(&mut attachments.scale_vector).for_each(|x| *x *= factor);
    character.control.aabb = Aabb::of(character.control.positions.iter().copied());
    Bound::new(Arc::new(character), Arc::new(attachments))
}

pub fn chain(bones: usize) -> Skeleton {
    let mut skeleton = Skeleton::default();
    for k in 0..bones {
        let parent = k.checked_sub(1);
        let offset = if k == 0 { Vec3::ZERO } else { Vec3::Y };
        skeleton.nodes.push(RigNode {
            name: format!("joint {k}"),
            parent: parent.map(NodeId::from),
            rest: Trs::new(offset, Quat::IDENTITY, Vec3::ONE),
            remainder: None,
            joint: Some(JointId::from(k)),
            weights: Vec::new(),
            targets: Vec::new(),
        });
        skeleton.order.push(NodeId::from(k));
        let bind = Affine3A::from_translation(Vec3::Y * k as f32);
        skeleton.joints.push(Joint {
            node: NodeId::from(k),
            joint_from_bind: bind.inverse(),
            bind_from_joint: bind,
            parent: parent.map(JointId::from),
            skinned: true,
        });
        skeleton.bones.push(Bone {
            parent: JointId::from(k),
            child: (k + 1 < bones).then(|| JointId::from(k + 1)),
            head: Vec3::Y * k as f32,
            tail: Vec3::Y * (k + 1) as f32,
        });
    }
    skeleton
}

fn weights(y: f32, bones: usize) -> Vec<(u16, f32)> {
    let along = (y - 0.5).clamp(0.0, bones as f32 - 1.0);
    let (low, part) = (along.floor() as u16, along.fract());
    let mut list = vec![(low, 1.0 - part), (low + 1, part)];
    list.retain(|&(_, w)| w > 0.0);
    list.sort_by(|a, b| b.1.total_cmp(&a.1));
    list
}

fn project(skeleton: &Skeleton, x: Vec3) -> (u32, f32, Vec3) {
    let on = skeleton.bones.iter().enumerate().map(|(b, bone)| {
        let span = bone.tail - bone.head;
        let t = ((x - bone.head).dot(span) / span.length_squared()).clamp(0.0, 1.0);
        (b as u32, t, bone.head + t * span)
    });
    on.min_by(|a, b| a.2.distance(x).total_cmp(&b.2.distance(x))).unwrap()
}

fn adjacency(vertices: usize, triangles: &[[u32; 3]]) -> Adjacency {
    let mut rings = vec![std::collections::BTreeSet::new(); vertices];
    for &[a, b, c] in triangles {
        for (i, j) in [(a, b), (b, c), (c, a)] {
            rings[i as usize].insert(j);
            rings[j as usize].insert(i);
        }
    }
    let mut out = Adjacency { offset: vec![0], neighbor: Vec::new() };
    for ring in rings {
        out.neighbor.extend(ring);
        out.offset.push(out.neighbor.len() as u32);
    }
    out
}

fn smooth_normals(positions: &[Vec3], triangles: &[[u32; 3]]) -> Vec<Vec3> {
    let mut normals = vec![Vec3::ZERO; positions.len()];
    for triangle in triangles {
        let [a, b, c] = triangle.map(|v| positions[v as usize]);
        triangle.iter().for_each(|&v| normals[v as usize] += (b - a).cross(c - a));
    }
    normals.into_iter().map(|n| n.normalize_or(Vec3::Y)).collect()
}

/// All closed-form methods; those that fill the body with cubes take few of them, since tests are not optimised.
pub fn methods() -> Vec<Geometric> {
    let mut list = Geometric::ALL.to_vec();
    for method in &mut list {
        if let Geometric::SwingTwist(params) = method {
            params.cubes = 1500;
        }
    }
    list
}
