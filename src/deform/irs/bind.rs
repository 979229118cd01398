//! Precomputation for incremental rotation skinning: the reach per bone. The length correction
//! also needs the bones near each bone and the bind distance of each vertex from them.

use super::IrsParams;
use crate::base::JointId;
use crate::base::math::Vec3;
use crate::deform::Bound;
use crate::deform::attach::Anchors;
use crate::rig::{Bone, Skeleton};
use crate::shared_with_shaders;

shared_with_shaders! {
    /// The reach of joint rotations along a bone, in the shader's layout.
    #[derive(Debug, PartialEq)]
    pub struct BoneReach as "BoneReach" {
        /// The joint at the bone's head.
        pub parent: u32,
        /// The joint at the bone's tail; [`BoneReach::NONE`] for a bone without a child joint.
        pub child: u32,
        /// Reach `p_i` of the joint at the bone's head, as a fraction of the bone's length.
        pub head: f32,
        /// Reach `c_i` of the joint at the bone's tail, as a fraction of the bone's length.
        pub tail: f32,
        /// Index of the bone's first entry in [`IrsBinding::near`].
        pub near_offset: u32,
        /// Number of the bone's entries in [`IrsBinding::near`].
        pub near_count: u32,
    }
}

impl BoneReach {
    /// Value of `child` for a bone without a child joint.
    pub const NONE: u32 = u32::MAX;

    /// Sets `head` and `tail` from settings.
    pub fn set(&mut self, params: &IrsParams) {
        self.head = params.reach_of(JointId(self.parent)).as_parent;
        self.tail =
            if self.child == Self::NONE { 1.0 } else { params.reach_of(JointId(self.child)).as_child };
    }
}

/// Precomputed data of incremental rotation skinning for a character.
#[derive(Clone, Debug, Default)]
pub struct IrsBinding {
    /// Reach of each bone.
    pub bones: Vec<BoneReach>,
    /// Each bone and the bones that share a joint with it; [`BoneReach::near_offset`] is the start of a bone's list.
    pub near: Vec<u32>,
    /// Bind distance of each control vertex from its bone and the bone's neighbours, metres; 0 for rigid props.
    pub distance: Vec<f32>,
    /// Distance below which a vertex counts as lying on the skeleton, metres; it is then not corrected.
    pub on_bone: f32,
    /// Whether the length correction is applied.
    pub length_correction: bool,
}

/// Precomputes the data of incremental rotation skinning for a character.
pub fn bind(bound: &Bound, anchors: &Anchors, params: &IrsParams) -> IrsBinding {
    let skeleton = &bound.character.skeleton;
    let control = &bound.character.control;
    let mut out = IrsBinding {
        on_bone: control.aabb.diagonal() * 1e-6,
        length_correction: params.length_correction,
        ..IrsBinding::default()
    };
    for (index, bone) in skeleton.bones.iter().enumerate() {
        let near_offset = out.near.len() as u32;
        out.near.push(index as u32);
        out.near.extend(neighbors(skeleton, index, bone));
        let mut reach = BoneReach {
            parent: bone.parent.0,
            child: bone.child.map_or(BoneReach::NONE, |c| c.0),
            head: 0.0,
            tail: 1.0,
            near_offset,
            near_count: out.near.len() as u32 - near_offset,
        };
        reach.set(params);
        out.bones.push(reach);
    }
    out.distance = distances(bound, anchors, &out);
    out
}

/// Distance of each control vertex from its bone and the bone's neighbours, metres; 0 for rigid props.
pub fn distances(bound: &Bound, anchors: &Anchors, binding: &IrsBinding) -> Vec<f32> {
    let (skeleton, control) = (&bound.character.skeleton, &bound.character.control);
    let rest = |b: u32| {
        let bone = &skeleton.bones[b as usize];
        (bone.head, bone.tail - bone.head)
    };
    let of = |(i, x): (usize, &Vec3)| {
        anchors.bone(i).map_or(0.0, |bone| nearest(binding, bone, *x, rest).distance(*x))
    };
    control.positions.iter().enumerate().map(of).collect()
}

fn neighbors<'a>(skeleton: &'a Skeleton, index: usize, bone: &'a Bone) -> impl Iterator<Item = u32> + 'a {
    skeleton.bones.iter().enumerate().filter_map(move |(other_index, other)| {
        let joints = [Some(other.parent), other.child];
        let touches =
            joints.contains(&Some(bone.parent)) || bone.child.is_some() && joints.contains(&bone.child);
        (touches && other_index != index).then_some(other_index as u32)
    })
}

/// Returns the point nearest to `x` on a bone and its neighbours. `segment` returns a bone's head and span.
pub(super) fn nearest(
    binding: &IrsBinding,
    bone: usize,
    x: Vec3,
    segment: impl Fn(u32) -> (Vec3, Vec3),
) -> Vec3 {
    let range = &binding.bones[bone];
    let (start, count) = (range.near_offset as usize, range.near_count as usize);
    let (mut best, mut shortest) = (x, f32::INFINITY);
    for &candidate in &binding.near[start..start + count] {
        let (head, span) = segment(candidate);
        let square = span.length_squared();
        let t = if square > 0.0 { ((x - head).dot(span) / square).clamp(0.0, 1.0) } else { 0.0 };
        let point = head + t * span;
        let distance = point.distance_squared(x);
        if distance < shortest {
            (best, shortest) = (point, distance);
        }
    }
    best
}
