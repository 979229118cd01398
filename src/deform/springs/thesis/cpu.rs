//! The CPU reference of the thesis's springs, with the arithmetic of `glsl/lib/springs_thesis.glsl`.

use super::super::Params;
use super::super::bind::Binding;
use super::super::cpu::{EDGE_BOUND, FREE, PosedVertex, angle, toward};
use crate::base::math::{Quat, Vec3};
use crate::deform::Bound;
use crate::rig::PosedRig;

/// Attaches every vertex to its bone in a pose. Vertices of props follow their joint.
pub fn pose(binding: &Binding, params: &Params, bound: &Bound, rig: &PosedRig) -> Vec<PosedVertex> {
    let (control, attach) = (&bound.character.control, &bound.attachments);
    let posed = |(i, v): (usize, &super::super::bind::RestVertex)| {
        let bone = rig.bones.get(attach.bone[i].index()).filter(|_| v.attached);
        let (attachment, rotation, span) = match bone {
            Some(bone) => {
                let span = bone.tail - bone.head;
                (bone.head + span * attach.t[i], bone.rotation, span)
            }
            None => {
                let joint = control.influences.of(i).next().map_or(0, |(joint, _)| usize::from(joint));
                let carried = rig.skinning.get(joint).map(|m| m.transform_point3(control.positions[i]));
                (carried.unwrap_or(control.positions[i]), Quat::IDENTITY, Vec3::ZERO)
            }
        };
        let free = v.radius > binding.on_bone;
        let has_bone = free && v.bone_direction != Vec3::ZERO;
        PosedVertex {
            attachment,
            rest_turn: Vec3::ZERO,
            load: Vec3::ZERO,
            bone_direction: if v.bone_direction == Vec3::ZERO {
                Vec3::ZERO
            } else {
                span.normalize_or_zero()
            },
            hold: rotation * v.scale_vector,
            stiffness: [if has_bone { params.bone } else { 0.0 }, 0.0, 0.0],
            sense: if free { 1.0 } else { 0.0 },
            pull: 0.0,
            steps: [params.dt; 2],
            density: binding.degree(i) as f32 * 0.25 * v.mean_length * v.mean_length,
            rotation,
        }
    };
    binding.vertices.iter().enumerate().map(posed).collect()
}

/// Whether a scale vector of this length has a direction; `radius` is its bind length. Otherwise the vertex lies on its
/// bone.
fn has_direction(length: f32, radius: f32, on_bone: f32) -> bool {
    radius > on_bone && length > radius * FREE
}

/// Returns the mean of two rotations.
fn mean(a: Quat, b: Quat) -> Quat {
    (a + if a.dot(b) < 0.0 { -b } else { b }).normalize()
}

/// The forces on a vertex, metres. Torques are kept apart: they may be a million times larger than the other forces, and
/// their rounding error along the scale vector must not move the vertex by the longer step along it.
#[derive(Clone, Copy, Debug)]
pub struct Forces {
    /// The torques' forces, across the scale vector.
    pub turning: Vec3,
    /// All other forces.
    pub other: Vec3,
}

impl Forces {
    /// Returns the net force (equation 22).
    pub fn net(&self) -> Vec3 {
        self.other + self.turning
    }
}

/// Returns the forces on vertex `i`, with the force of sculpt layers (5.2).
pub fn forces(binding: &Binding, params: &Params, posed: &[PosedVertex], x: &[Vec3], i: usize) -> Forces {
    let (rest, me) = (&binding.vertices[i], &posed[i]);
    let s = x[i] - me.attachment;
    let s_length = s.length();
    let free = has_direction(s_length, rest.radius, binding.on_bone);
    let radial = if free { s / s_length } else { Vec3::ZERO };
    let (mut surface, mut length, mut turn) = (Vec3::ZERO, 0.0, Vec3::ZERO);
    for edge in &binding.edges[binding.offset[i] as usize..binding.offset[i + 1] as usize] {
        let j = edge.neighbor as usize;
        let along = x[j] - x[i];
        let distance = along.length();
        if distance > 0.0 {
            surface += along * ((distance - edge.length) / distance);
        }
        let (sj, rest_j) = (x[j] - posed[j].attachment, &binding.vertices[j]);
        length += (sj.length() - s_length) - (rest_j.radius - rest.radius);
        let normal = mean(me.rotation, posed[j].rotation) * rest.scale_vector.cross(rest_j.scale_vector);
        let side = if s.cross(sj).dot(normal) < 0.0 { -1.0 } else { 1.0 };
        let rest_angle = angle(rest.scale_vector, rest_j.scale_vector);
        if has_direction(sj.length(), rest_j.radius, binding.on_bone) {
            turn += toward(s, sj) * (angle(s, sj) - side * rest_angle);
        }
    }
    let mut out =
        Forces { turning: Vec3::ZERO, other: surface * params.surface + (me.hold - s) * me.pull + me.load };
    if free {
        let lean = me.stiffness[0] * (angle(s, me.bone_direction) - rest.phi);
        let turning = turn * params.torsion + toward(s, me.bone_direction) * lean;
        out.other += radial * (length * params.length);
        out.turning = turning * (binding.unit() * binding.unit() / s_length);
    }
    out
}

/// Returns the next position of vertex `i` (equation 23), with the limits of the [module](super).
pub fn advance(
    binding: &Binding,
    params: &Params,
    me: &PosedVertex,
    i: usize,
    x: Vec3,
    forces: &Forces,
) -> Vec3 {
    let radius = binding.vertices[i].radius;
    let degree = binding.degree(i) as f32 * EDGE_BOUND;
    let s = x - me.attachment;
    let length = s.length();
    let free = has_direction(length, radius, binding.on_bone);
    let step = |bound: f32| if bound > 0.0 { params.dt.min(params.omega / bound) } else { 0.0 };
    let along = step(degree * (params.surface + params.length) + me.pull);
    if !free {
        return x + forces.other * along;
    }
    let rate = (binding.unit() / length) * (binding.unit() / length);
    let turning = (degree * params.torsion + me.stiffness[0]) * rate;
    let across = step(degree * params.surface + turning + me.pull);
    let radial = s / length;
    let pull = forces.other.dot(radial);
    let outward = pull * along;
    let next = s + radial * outward + (forces.turning + (forces.other - radial * pull)) * across;
    let (reached, most) = (next.length(), (2.0 * radius).max(length + outward));
    me.attachment + if reached > most { next * (most / reached) } else { next }
}
