//! The joints that show how well a deformer works: shoulders, elbows, hips, knees, and the middle of a spine or tail.
//! They are found by joint positions. Each comes with axes for bending and twisting.

use super::world64::{turn_between, world, world_from_parent};
use super::{Chain, ChainKind, chains};
use crate::base::math::{DQuat, DVec3};
use crate::base::{Error, NodeId, Result};
use crate::rig::{Pose, Skeleton};

/// Consecutive joints closer than this fraction of the chain's length count as one place, e.g. twist joints.
const APART: f64 = 0.04;
/// A limb counts as bent if the sine of the angle between its bones exceeds this value.
const BENT: f64 = 0.15;

/// A joint between two bones of a limb, in the rest pose.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LimbJoint {
    /// The node of the joint.
    pub node: NodeId,
    /// The kind of the chain that contains the joint.
    pub kind: ChainKind,
    /// World position, metres.
    pub at: DVec3,
    /// Unit direction to the chain's next joint, world space.
    pub along: DVec3,
    /// Unit axis at a right angle to `along`; a positive rotation about it bends the limb further.
    pub axis: DVec3,
    /// Length of the shorter of the two bones, metres.
    pub reach: f64,
}

/// Returns a character's main test joints: the first joint of each arm and leg, and the joint with the strongest bend
/// of each chain. Of mirrored limbs, only one side is returned.
pub fn limb_joints(skeleton: &Skeleton) -> Vec<LimbJoint> {
    let places: Vec<DVec3> = world(skeleton, &Pose::rest(skeleton)).iter().map(|w| w.translation).collect();
    let mut out: Vec<LimbJoint> = Vec::new();
    let mut seen: Vec<(ChainKind, Vec<f64>)> = Vec::new();
    for chain in chains(skeleton) {
        let lengths: Vec<f64> =
            chain.nodes.windows(2).map(|w| places[w[1].index()].distance(places[w[0].index()])).collect();
        let mirrored = |(kind, other): &(ChainKind, Vec<f64>)| {
            let total: f64 = lengths.iter().sum();
            let same = other.iter().zip(&lengths).all(|(a, b)| (a - b).abs() < 0.02 * total);
            *kind == chain.kind && kind != &ChainKind::Limb && other.len() == lengths.len() && same
        };
        if !seen.iter().any(mirrored) {
            out.extend(joints_of(skeleton, &places, &chain));
            seen.push((chain.kind, lengths));
        }
    }
    let mut kept: Vec<LimbJoint> = Vec::new();
    out.retain(|j| {
        let new = kept.iter().all(|k| k.node != j.node);
        kept.extend(new.then_some(*j));
        new
    });
    out
}

fn joints_of(skeleton: &Skeleton, places: &[DVec3], chain: &Chain) -> Vec<LimbJoint> {
    let mut line: Vec<(NodeId, DVec3)> = Vec::new();
    let above = skeleton.nodes[chain.nodes[0].index()].parent;
    let total: f64 =
        chain.nodes.windows(2).map(|w| places[w[1].index()].distance(places[w[0].index()])).sum();
    for &node in above.iter().chain(&chain.nodes) {
        let at = places[node.index()];
        if line.last().is_none_or(|(_, last)| last.distance(at) > APART * total) {
            line.push((node, at));
        }
    }
    let judged: Vec<(f64, LimbJoint)> = line
        .windows(3)
        .map(|w| {
            let ((before, after), reach) = around(w);
            let kink = before.cross(after);
            let begins = w[1].0 == chain.nodes[0];
            // Straight limbs bend forwards, but straight knees bend backwards. The angle between the body and the start
            // of a limb does not count as a bend.
            let forward = if chain.kind == ChainKind::Leg && !begins { DVec3::NEG_Z } else { DVec3::Z };
            let straight = after.cross(forward).try_normalize().unwrap_or(after.any_orthonormal_vector());
            let axis = if kink.length() > BENT && !begins { kink.normalize() } else { straight };
            let joint = LimbJoint { node: w[1].0, kind: chain.kind, at: w[1].1, along: after, axis, reach };
            (reach * (0.3 + kink.length()), joint)
        })
        .collect();
    let first = judged.iter().find(|j| j.1.node == chain.nodes[0]).map(|j| j.1);
    let best = judged
        .iter()
        .filter(|j| j.1.node != chain.nodes[0])
        .fold(None::<&(f64, LimbJoint)>, |a, b| if a.is_some_and(|a| a.0 >= b.0) { a } else { Some(b) });
    let begins = matches!(chain.kind, ChainKind::Arm | ChainKind::Leg);
    first.filter(|_| begins).into_iter().chain(best.map(|b| b.1)).collect()
}

/// Returns the unit directions from the first to the second of three joints and from the second to the third, and the
/// shorter of the two lengths.
fn around(w: &[(NodeId, DVec3)]) -> ((DVec3, DVec3), f64) {
    let (before, after) = (w[1].1 - w[0].1, w[2].1 - w[1].1);
    ((before.normalize_or_zero(), after.normalize_or_zero()), before.length().min(after.length()))
}

/// Rotates a node in addition to its pose, about a world axis of the rest pose that moves rigidly with the node's
/// parent.
///
/// # Errors
/// [`Error::Input`] for an unknown node, or for a parent with a zero scale.
pub fn turn_joint(skeleton: &Skeleton, pose: &mut Pose, node: NodeId, turn: DQuat) -> Result<()> {
    let i = node.index();
    if i >= skeleton.nodes.len() || i >= pose.local.len() {
        return Err(super::names::unknown_node(skeleton, &format!("#{i}")));
    }
    let rest = world(skeleton, &Pose::rest(skeleton));
    let parent = world_from_parent(skeleton, node, &rest).matrix3;
    let local = turn_between(parent, turn, parent).ok_or_else(|| {
        let name = &skeleton.nodes[i].name;
        Error::input(
            format!("{name:?} cannot be turned: its parent has a scale of zero"),
            "scale the parent up, or turn another joint",
        )
    })?;
    let rotation = local * pose.local[i].rotation().as_dquat().normalize();
    pose.local[i].rotation = rotation.normalize().as_quat().into();
    Ok(())
}

/// Rotates a node about its own origin and translates it, both in world space, in addition to its pose. Its
/// descendants follow.
///
/// # Errors
/// [`Error::Input`] for an unknown node, a parent with a zero scale, or numbers that are not finite.
pub fn move_joint(
    skeleton: &Skeleton,
    pose: &mut Pose,
    node: NodeId,
    turn: DQuat,
    shift: DVec3,
) -> Result<()> {
    let i = node.index();
    if i >= skeleton.nodes.len() || i >= pose.local.len() {
        return Err(super::names::unknown_node(skeleton, &format!("#{i}")));
    }
    let parent = world_from_parent(skeleton, node, &world(skeleton, pose)).matrix3;
    let sound = turn.is_finite() && turn.length() > 0.5 && shift.is_finite();
    let local = turn_between(parent, turn.normalize(), parent).filter(|_| sound).ok_or_else(|| {
        let name = &skeleton.nodes[i].name;
        Error::input(
            format!("{name:?} cannot be moved: its parent has a scale of zero, or the way is endless"),
            "scale the parent up, or move another joint",
        )
    })?;
    let old = &mut pose.local[i];
    old.rotation = (local * old.rotation().as_dquat().normalize()).normalize().as_quat().into();
    old.translation = (old.translation().as_dvec3() + parent.inverse() * shift).as_vec3().into();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::math::DMat3;
    use crate::rig::testing::{chain, tree};

    #[test]
    fn one_arm_one_leg_and_the_spine_of_a_biped() {
        let (skeleton, _) = tree();
        let joints = limb_joints(&skeleton);
        let names: Vec<&str> = joints.iter().map(|j| skeleton.nodes[j.node.index()].name.as_str()).collect();
        assert!(names.iter().filter(|n| n.starts_with("elbow")).count() == 1, "{names:?}");
        for j in &joints {
            assert!(j.axis.dot(j.along).abs() < 1e-9 && (j.axis.length() - 1.0).abs() < 1e-9);
            assert!(j.reach > 0.0);
        }
    }

    #[test]
    fn a_joint_is_turned_and_moved_as_the_world_sees_it_in_any_pose() {
        let (skeleton, mut pose) = chain(5, 0.2);
        let node = limb_joints(&skeleton)[0].node;
        let parent = skeleton.nodes[node.index()].parent.unwrap();
        move_joint(&skeleton, &mut pose, parent, DQuat::from_rotation_x(0.8), DVec3::ZERO).unwrap();
        let before = world(&skeleton, &pose);
        let (turn, shift) = (DQuat::from_rotation_z(0.5), DVec3::new(0.1, -0.2, 0.3));
        move_joint(&skeleton, &mut pose, node, turn, shift).unwrap();
        let after = world(&skeleton, &pose);
        assert!((after[node.index()].translation - before[node.index()].translation - shift).length() < 1e-6);
        let turned = DMat3::from_quat(turn) * before[node.index()].matrix3;
        assert!((after[node.index()].matrix3 - turned).to_cols_array().iter().all(|v| v.abs() < 1e-6));
        let wild = move_joint(&skeleton, &mut pose, node, turn, DVec3::splat(f64::NAN));
        assert!(wild.is_err() && world(&skeleton, &pose) == after);
    }

    #[test]
    fn a_joint_turns_about_its_axis() {
        let (skeleton, mut pose) = chain(5, 0.2);
        let joint = limb_joints(&skeleton)[0];
        let before = world(&skeleton, &pose);
        turn_joint(&skeleton, &mut pose, joint.node, DQuat::from_axis_angle(joint.axis, 1.0)).unwrap();
        let after = world(&skeleton, &pose);
        let next = skeleton.nodes.iter().position(|n| n.parent == Some(joint.node)).unwrap();
        let (a, b) = (before[next].translation - joint.at, after[next].translation - joint.at);
        assert!((a.angle_between(b) - 1.0).abs() < 1e-5);
        let mut twisted = Pose::rest(&skeleton);
        turn_joint(&skeleton, &mut twisted, joint.node, DQuat::from_axis_angle(joint.along, 2.0)).unwrap();
        assert!(world(&skeleton, &twisted)[next].translation.distance(before[next].translation) < 1e-6);
        assert!(turn_joint(&skeleton, &mut pose, NodeId(99), DQuat::IDENTITY).is_err());
    }
}
