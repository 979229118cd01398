//! The frames in which the limits of joints are measured: z runs along the joint's bone, x is the joint's bend axis.
//! They follow from the rest pose of the joints, so that names and orientations in a file do not matter.

use super::reflection::rotation;
use super::world64::{is_regular, local_with, nearest, world, world_from_parent};
use super::{ChainKind, Pose, Skeleton, chains, marked_parents, posable};
use crate::base::NodeId;
use crate::base::math::{DAffine3, DMat3, DQuat, DVec3};

/// Sine of the angle between bones above which a limb counts as bent.
const BENT: f64 = 0.15;

/// Returns the rotation from the bone frame to the node's local space, for each node. The bone is the mean bone of the
/// joint: the sum of the offsets to its child joints, or to the tip of a joint without children. A joint at the place
/// of its child, such as a twist joint, has the bone of its child; other joints without a bone have that of the parent.
/// A positive rotation about x bends a limb.
pub fn bone_frames(skeleton: &Skeleton) -> Vec<DQuat> {
    let count = skeleton.nodes.len();
    let mut marked = vec![false; count];
    posable(skeleton).iter().for_each(|n| marked[n.index()] = true);
    let parents = marked_parents(skeleton, &marked);
    let pose = Pose::rest(skeleton);
    let rest = world(skeleton, &pose);
    let bones = bones(skeleton, &pose, &marked, &parents, &rest);
    let axes = bend_axes(skeleton, &parents, &rest);
    let frame = |i: usize| {
        let (node, parent) = (NodeId::from(i), world_from_parent(skeleton, NodeId::from(i), &rest).matrix3);
        let back = skeleton.nodes[i].rest.rotation().as_dquat().normalize().inverse();
        // A direction is mapped by the parent's transform, an axis of rotation by its rotation.
        let to_parent = if is_regular(parent) { parent.inverse() } else { DMat3::IDENTITY };
        let z = (back * (to_parent * bones[node.index()])).try_normalize().unwrap_or(DVec3::Z);
        let axis = back * (rotation(parent).inverse() * axes[i]);
        let x = (axis - z * axis.dot(z)).try_normalize().unwrap_or_else(|| z.any_orthonormal_vector());
        DQuat::from_mat3(&DMat3::from_cols(x, z.cross(x), z)).normalize()
    };
    (0..count).map(frame).collect()
}

/// Returns the bone of each joint in the rest pose, world space, not normalised; zero where none is found.
fn bones(
    skeleton: &Skeleton,
    pose: &Pose,
    marked: &[bool],
    parents: &[Option<NodeId>],
    rest: &[DAffine3],
) -> Vec<DVec3> {
    let count = skeleton.nodes.len();
    let mut bone = vec![DVec3::ZERO; count];
    let mut longest = vec![0.0_f64; count];
    let mut below = vec![DVec3::ZERO; count];
    let joints = |id: &&NodeId| marked[id.index()];
    for &id in skeleton.order.iter().filter(joints) {
        if let Some(p) = parents[id.index()] {
            let offset = rest[id.index()].translation - rest[p.index()].translation;
            bone[p.index()] += offset;
            longest[p.index()] = longest[p.index()].max(offset.length());
        }
    }
    let size = longest.iter().copied().fold(0.0, f64::max);
    for &id in skeleton.order.iter().rev().filter(joints) {
        let i = id.index();
        if bone[i].length() <= 1e-4 * size {
            bone[i] = if longest[i] > 0.0 || below[i] != DVec3::ZERO {
                below[i]
            } else {
                tip(skeleton, pose, id, rest)
            };
        }
        if let Some(p) = parents[i].filter(|p| below[p.index()] == DVec3::ZERO) {
            below[p.index()] = bone[i];
        }
    }
    for &id in skeleton.order.iter().filter(joints) {
        let (i, parent) = (id.index(), parents[id.index()]);
        if bone[i].length() <= 1e-9 * size {
            bone[i] = parent.map_or(DVec3::ZERO, |p| bone[p.index()]);
        }
    }
    bone
}

/// Returns the bone from a joint without children to its tip, world space.
fn tip(skeleton: &Skeleton, pose: &Pose, node: NodeId, rest: &[DAffine3]) -> DVec3 {
    let tip = skeleton.nodes[node.index()].joint.and_then(|joint| {
        let bone = skeleton.bones.iter().find(|b| b.parent == joint && b.child.is_none())?;
        let to_joint = skeleton.joints[joint.index()].joint_from_bind;
        Some(to_joint.transform_vector3(bone.tail - bone.head).as_dvec3())
    });
    // The joint may be rotated between the bind pose and the rest pose, so the bone goes through the joint's own space.
    let local = local_with(
        skeleton,
        node,
        pose,
        pose.local[node.index()].rotation().as_dquat().normalize(),
        DVec3::ZERO,
    );
    let parent = world_from_parent(skeleton, node, rest).matrix3;
    tip.map_or(DVec3::ZERO, |tip| parent * (local.matrix3 * tip))
}

/// Returns the bend axis of each joint in the rest pose, world space; zero without a parent joint or a child joint. The
/// axis is that of the joint's bend. Straight limbs bend forwards (a glTF character faces +Z), except legs, which bend
/// backwards.
fn bend_axes(skeleton: &Skeleton, parents: &[Option<NodeId>], rest: &[DAffine3]) -> Vec<DVec3> {
    let mut is_leg = vec![false; skeleton.nodes.len()];
    for chain in chains(skeleton).iter().filter(|c| c.kind == ChainKind::Leg) {
        chain.nodes.iter().for_each(|n| is_leg[n.index()] = true);
    }
    let mut child = vec![None::<NodeId>; skeleton.nodes.len()];
    let at = |n: NodeId| rest[n.index()].translation;
    for &id in skeleton.order.iter() {
        if let Some(p) = parents[id.index()] {
            let further = child[p.index()].is_none_or(|c| at(c).distance(at(p)) < at(id).distance(at(p)));
            child[p.index()] = if further { Some(id) } else { child[p.index()] };
        }
    }
    (0..skeleton.nodes.len())
        .map(|i| {
            let node = NodeId::from(i);
            let (Some(parent), Some(child)) = (parents[i], child[i]) else { return DVec3::ZERO };
            let before = (at(node) - at(parent)).normalize_or_zero();
            let after = (at(child) - at(node)).normalize_or_zero();
            let forward = if is_leg[i] { DVec3::NEG_Z } else { DVec3::Z };
            let kink = before.cross(after);
            let axis = if kink.length() > BENT { kink } else { after.cross(forward) };
            axis.try_normalize().unwrap_or(after.any_orthogonal_vector())
        })
        .collect()
}

/// Returns the bend axis of each joint, in its parent's space, see [`bend_axes`].
pub(crate) fn hinges(skeleton: &Skeleton, parents: &[Option<NodeId>], rest: &[DAffine3]) -> Vec<DVec3> {
    let in_parent = |(i, axis): (usize, DVec3)| {
        let frame = world_from_parent(skeleton, NodeId::from(i), rest).matrix3;
        let usable = axis != DVec3::ZERO && is_regular(frame) && frame.determinant() > 0.0;
        if usable { nearest(frame).inverse() * axis } else { axis }
    };
    bend_axes(skeleton, parents, rest).into_iter().enumerate().map(in_parent).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::math::{Quat, Trs, Vec3};
    use crate::rig::testing::{moved, random, skeleton, tree};

    /// Returns the bone frame's axes in the world of the rest pose.
    fn axes_of(skeleton: &Skeleton, node: NodeId) -> [DVec3; 3] {
        let rest = world(skeleton, &Pose::rest(skeleton));
        let frame = bone_frames(skeleton)[node.index()];
        let local = skeleton.nodes[node.index()].rest.rotation().as_dquat();
        let parent = world_from_parent(skeleton, node, &rest).matrix3;
        [DVec3::X, DVec3::Y, DVec3::Z].map(|axis| (parent * (local * (frame * axis))).normalize())
    }

    #[test]
    fn z_runs_along_the_bone_and_a_positive_turn_about_x_bends_a_limb() {
        let (skeleton, pose) = tree();
        let id = |name: &str| skeleton.find(name).unwrap();
        for (name, bone, bends_to) in [
            ("elbow.L", DVec3::X, DVec3::Z),
            ("elbow.R", DVec3::NEG_X, DVec3::Z),
            ("knee.L", DVec3::NEG_Y, DVec3::NEG_Z),
        ] {
            let [x, _, z] = axes_of(&skeleton, id(name));
            assert!(z.distance(bone) < 1e-6, "{name}: {z}");
            assert!(x.cross(z).distance(bends_to) < 1e-6, "{name}: {x}");
            let mut bent = pose.clone();
            let local = &mut bent.local[id(name).index()];
            let frame = bone_frames(&skeleton)[id(name).index()];
            let turn = frame * DQuat::from_rotation_x(0.5) * frame.inverse();
            local.rotation = (local.rotation().as_dquat() * turn).as_quat().into();
            let child = skeleton.nodes.iter().position(|n| n.parent == Some(id(name))).unwrap();
            let moved =
                world(&skeleton, &bent)[child].translation - world(&skeleton, &pose)[child].translation;
            assert!(moved.dot(bends_to) > 0.1, "{name}: {moved}");
        }
    }

    #[test]
    fn odd_orients_mirrors_scales_and_zero_lengths_keep_the_frame_in_the_world() {
        let turned = |t: Trs, q: Quat, s: Vec3| Trs::new(t.translation(), q, s);
        let (q, small) = (Quat::from_rotation_y(1.2) * Quat::from_rotation_x(0.4), Vec3::splat(0.01));
        // A shoulder, a twist joint at the same place, an elbow and a hand, in centimetres below a turned node.
        let place = |x: f32, before: Quat| before.inverse() * Vec3::new(x, 0.0, 0.0);
        for scale in [small, small * Vec3::new(-1.0, 1.0, 1.0)] {
            let (skeleton, _) = skeleton(&[
                ("_root", None, turned(moved(0.0, 1.0, 0.0), Quat::IDENTITY, scale)),
                ("shoulder", Some(0), turned(moved(0.0, 0.0, 0.0), q, Vec3::ONE)),
                ("twist", Some(1), moved(0.0, 0.0, 0.0)),
                ("elbow", Some(2), Trs::new(place(30.0, q), q.inverse(), Vec3::ONE)),
                ("hand", Some(3), moved(25.0, 0.0, 0.0)),
            ]);
            let side = if scale.x < 0.0 { DVec3::NEG_X } else { DVec3::X };
            for name in ["shoulder", "twist", "elbow", "hand"] {
                let [_, _, z] = axes_of(&skeleton, skeleton.find(name).unwrap());
                assert!(z.distance(side) < 1e-5, "{name}: {z}");
            }
        }
        for seed in 1..20 {
            let (skeleton, _) = random(seed, 14, seed % 2 == 0);
            for frame in bone_frames(&skeleton) {
                assert!(frame.is_finite() && frame.is_normalized());
            }
        }
    }
}
