//! Skeletons for tests: a chain, a biped, and random rigs.

use crate::base::Random;
use crate::base::math::{Affine3A, Quat, Trs, Vec3};
use crate::base::{JointId, NodeId};
use crate::rig::{Joint, Pose, RigNode, Skeleton};

/// Builds a skeleton from nodes `(name, parent, local)`, parents first. Nodes with names like `_...` get no joint.
pub fn skeleton(nodes: &[(&str, Option<usize>, Trs)]) -> (Skeleton, Pose) {
    let mut out = Skeleton::default();
    for (i, (name, parent, rest)) in nodes.iter().enumerate() {
        let is_joint = !name.starts_with('_');
        out.nodes.push(RigNode {
            name: (*name).into(),
            parent: parent.map(NodeId::from),
            rest: *rest,
            remainder: None,
            weights: Vec::new(),
            targets: Vec::new(),
            joint: is_joint.then(|| JointId::from(out.joints.len())),
        });
        out.order.push(NodeId::from(i));
        if is_joint {
            out.joints.push(Joint {
                node: NodeId::from(i),
                joint_from_bind: Affine3A::IDENTITY,
                bind_from_joint: Affine3A::IDENTITY,
                parent: None,
                skinned: true,
            });
        }
    }
    let pose = Pose::rest(&out);
    let world = pose.world(&out);
    for joint in &mut out.joints {
        joint.bind_from_joint = world[joint.node.index()];
        joint.joint_from_bind = world[joint.node.index()].inverse();
    }
    (out, pose)
}

/// Returns a pure translation.
pub fn moved(x: f32, y: f32, z: f32) -> Trs {
    Trs::new(Vec3::new(x, y, z), Quat::IDENTITY, Vec3::ONE)
}

/// Builds a straight chain of joints along +x from the origin, `spacing` metres apart.
pub fn chain(joints: usize, spacing: f32) -> (Skeleton, Pose) {
    let names: Vec<String> = (0..joints).map(|i| format!("j{i}")).collect();
    let nodes: Vec<_> = (0..joints)
        .map(|i| (names[i].as_str(), i.checked_sub(1), moved(if i == 0 { 0.0 } else { spacing }, 0.0, 0.0)))
        .collect();
    skeleton(&nodes)
}

/// Builds a biped: hips with two legs, a chest with two arms, a head.
pub fn tree() -> (Skeleton, Pose) {
    skeleton(&[
        ("hips", None, moved(0.0, 1.0, 0.0)),
        ("chest", Some(0), moved(0.0, 0.4, 0.0)),
        ("neck", Some(1), moved(0.0, 0.2, 0.0)),
        ("head", Some(2), moved(0.0, 0.15, 0.0)),
        ("arm.L", Some(1), moved(0.2, 0.1, 0.0)),
        ("elbow.L", Some(4), moved(0.3, 0.0, 0.0)),
        ("hand.L", Some(5), moved(0.25, 0.0, 0.0)),
        ("arm.R", Some(1), moved(-0.2, 0.1, 0.0)),
        ("elbow.R", Some(7), moved(-0.3, 0.0, 0.0)),
        ("hand.R", Some(8), moved(-0.25, 0.0, 0.0)),
        ("leg.L", Some(0), moved(0.1, -0.05, 0.0)),
        ("knee.L", Some(10), moved(0.0, -0.45, 0.0)),
        ("foot.L", Some(11), moved(0.0, -0.45, 0.0)),
        ("leg.R", Some(0), moved(-0.1, -0.05, 0.0)),
        ("knee.R", Some(13), moved(0.0, -0.45, 0.0)),
        ("foot.R", Some(14), moved(0.0, -0.45, 0.0)),
    ])
}

/// Builds a random rig with branches, rotated rest poses, nodes between joints, uniform scales and mirrors;
/// `shearing` adds non-uniform scales. Equal seeds give equal rigs.
pub fn random(seed: u64, nodes: usize, shearing: bool) -> (Skeleton, Pose) {
    let mut random = Random::new(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let names: Vec<String> =
        (0..nodes).map(|i| if i % 4 == 3 { format!("_n{i}") } else { format!("j{i}") }).collect();
    let list: Vec<_> = (0..nodes)
        .map(|i| {
            let parent =
                (i > 0).then(|| if i % 3 == 0 { (random.unit() * i as f32) as usize } else { i - 1 });
            let mut scale = Vec3::splat(0.7 + 0.6 * random.unit());
            if random.unit() < 0.2 {
                scale.x = -scale.x;
            }
            if shearing {
                scale *= Vec3::new(0.7 + 0.6 * random.unit(), 1.0, 0.7 + 0.6 * random.unit());
            }
            (names[i].as_str(), parent, Trs::new(random.vector() * 0.3, random.rotation(), scale))
        })
        .collect();
    skeleton(&list)
}
