//! Binding of stretchable, twistable bones: bone weights and endpoint weights.

use crate::base::JointId;
use crate::base::math::Vec3;
use crate::deform::Bound;
use crate::deform::attach::ON_JOINT;
use crate::rig::Skeleton;
use crate::shared_with_shaders;

shared_with_shaders! {
    /// The influence of one bone on a vertex.
    #[derive(Debug, PartialEq)]
    pub struct StbEntry as "StbEntry" {
        /// Index of the bone; for a joint without bones, index of the joint plus the bit [`ON_JOINT`].
        pub bone: u32,
        /// Weight of the bone; the weights of a vertex sum to one.
        pub weight: f32,
        /// Endpoint weight: 0 at the bone's head, 1 at its tail.
        pub end: f32,
    }

    /// A bone's bind pose.
    #[derive(Debug, PartialEq)]
    pub struct BoneRest as "BoneRest" {
        /// Head of the bone in bind space, metres.
        pub head: [f32; 3],
        /// Index of the bone's joint.
        pub joint: u32,
        /// Unit direction in bind space; zero for a bone of zero length.
        pub direction: [f32; 3],
        /// Padding; zero.
        pub pad: f32,
    }
}

/// Precomputed weights and bones of a character for skinning by stretchable, twistable bones.
#[derive(Clone, Debug, Default)]
pub struct StbBinding {
    /// Offsets into `entries` per control vertex, plus the end.
    pub offset: Vec<u32>,
    /// Influences of all vertices, in vertex order.
    pub entries: Vec<StbEntry>,
    /// Bind pose of each bone.
    pub bones: Vec<BoneRest>,
}

/// Distributes each joint's weights over the joint's bones.
pub fn bind(bound: &Bound) -> StbBinding {
    let (skeleton, control) = (&bound.character.skeleton, &bound.character.control);
    // Squared distance below which a bone gets nearly all of the joint's weight.
    let touching = (1e-4 * control.aabb.diagonal()).powi(2).max(f32::MIN_POSITIVE);
    let mut owned = vec![Vec::new(); skeleton.joints.len()];
    for (index, bone) in skeleton.bones.iter().enumerate() {
        owned[bone.parent.index()].push(index as u32);
    }
    let mut out = StbBinding { offset: vec![0], bones: rest_of(skeleton), ..StbBinding::default() };
    for (i, &x) in control.positions.iter().enumerate() {
        for (joint, weight) in control.influences.of(i) {
            let bones = &owned[JointId(joint.into()).index()];
            if bones.is_empty() || control.rigid[i] {
                out.entries.push(StbEntry { bone: u32::from(joint) | ON_JOINT, weight, end: 0.0 });
                continue;
            }
            let near = bones.iter().map(|&b| {
                let bone = &skeleton.bones[b as usize];
                let (end, point) = project(bone.head, bone.tail - bone.head, x);
                (b, end, 1.0 / (point.distance_squared(x) + touching))
            });
            let total: f32 = near.clone().map(|n| n.2).sum();
            out.entries.extend(near.map(|(bone, end, share)| StbEntry {
                bone,
                weight: weight * share / total,
                end,
            }));
        }
        out.offset.push(out.entries.len() as u32);
    }
    out
}

/// The bones of a rest shape.
pub fn rest_of(skeleton: &Skeleton) -> Vec<BoneRest> {
    let rest = |b: &crate::rig::Bone| BoneRest {
        head: b.head.into(),
        joint: b.parent.0,
        direction: (b.tail - b.head).normalize_or_zero().into(),
        pad: 0.0,
    };
    skeleton.bones.iter().map(rest).collect()
}

fn project(head: Vec3, span: Vec3, x: Vec3) -> (f32, Vec3) {
    let square = span.length_squared();
    let t = if square > 0.0 { ((x - head).dot(span) / square).clamp(0.0, 1.0) } else { 0.0 };
    (t, head + t * span)
}
