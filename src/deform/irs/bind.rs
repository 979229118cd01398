//! Precomputation for incremental rotation skinning: the reach per bone; for the length correction also the
//! bones near each bone and each vertex's bind distance from them.

use super::IrsParams;
use crate::base::JointId;
use crate::base::math::Vec3;
use crate::deform::Bound;
use crate::deform::attach::Anchors;
use crate::rig::{Bone, Skeleton};
use crate::shared_with_shaders;

shared_with_shaders! {
    /// A bone in the shader's layout.
    #[derive(Debug, PartialEq)]
    pub struct BoneReach as "BoneReach" {
        /// The joint at its head.
        pub parent: u32,
        /// The joint at its tail; [`BoneReach::NONE`] for a tip.
        pub child: u32,
        /// `p_i` of the joint at its head.
        pub head: f32,
        /// `c_i` of the joint at its tail.
        pub tail: f32,
        /// First entry in [`IrsBinding::near`].
        pub near_offset: u32,
        /// Number of entries in [`IrsBinding::near`].
        pub near_count: u32,
    }
}

impl BoneReach {
    /// Value for "no joint".
    pub const NONE: u32 = u32::MAX;

    /// Sets the reaches from settings.
    pub fn set(&mut self, params: &IrsParams) {
        self.head = params.reach_of(JointId(self.parent)).as_parent;
        self.tail =
            if self.child == Self::NONE { 1.0 } else { params.reach_of(JointId(self.child)).as_child };
    }
}

/// Precomputed data of a character.
#[derive(Clone, Debug, Default)]
pub struct IrsBinding {
    /// One per bone.
    pub bones: Vec<BoneReach>,
    /// Bones that share a joint with a bone, itself first; by [`BoneReach::near_offset`].
    pub near: Vec<u32>,
    /// Per control vertex: bind distance from the nearest of its bone's near bones, metres; 0 for props.
    pub distance: Vec<f32>,
    /// Distance below which a vertex counts as on the skeleton and has no direction, metres.
    pub on_bone: f32,
    /// Whether the length correction runs.
    pub length_correction: bool,
}

/// Precomputes the data of a character.
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
    let rest = |b: u32| {
        let bone = &skeleton.bones[b as usize];
        (bone.head, bone.tail - bone.head)
    };
    out.distance = (0..control.positions.len())
        .map(|i| {
            let x = control.positions[i];
            anchors.bone(i).map_or(0.0, |bone| nearest(&out, bone, x, rest).distance(x))
        })
        .collect();
    out
}

fn neighbors<'a>(skeleton: &'a Skeleton, index: usize, bone: &'a Bone) -> impl Iterator<Item = u32> + 'a {
    skeleton.bones.iter().enumerate().filter_map(move |(other_index, other)| {
        let joints = [Some(other.parent), other.child];
        let touches =
            joints.contains(&Some(bone.parent)) || bone.child.is_some() && joints.contains(&bone.child);
        (touches && other_index != index).then_some(other_index as u32)
    })
}

/// The point nearest to `x` on the bones near a bone, given each bone's head and span.
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
