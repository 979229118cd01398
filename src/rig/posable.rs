//! Which nodes posing moves, and how they hang together.

use super::world64::world;
use crate::base::NodeId;
use crate::base::math::DVec3;
use crate::rig::{Pose, Skeleton};

/// The nodes that posing moves, in node order: those with a joint of a skin, or, on a character of rigid parts
/// alone, those that carry a part.
pub fn posable(skeleton: &Skeleton) -> Vec<NodeId> {
    let mut skinned = vec![false; skeleton.nodes.len()];
    let mut carrying = vec![false; skeleton.nodes.len()];
    for joint in &skeleton.joints {
        skinned[joint.node.index()] |= joint.skinned;
        carrying[joint.node.index()] = true;
    }
    let chosen = if skinned.contains(&true) { skinned } else { carrying };
    (0..chosen.len()).filter(|&i| chosen[i]).map(NodeId::from).collect()
}

/// World position of every node, metres.
pub(crate) fn node_positions(skeleton: &Skeleton, pose: &Pose) -> Vec<DVec3> {
    world(skeleton, pose).iter().map(|w| w.translation).collect()
}

/// For each node, its nearest ancestor among the marked ones.
pub(crate) fn marked_parents(skeleton: &Skeleton, marked: &[bool]) -> Vec<Option<NodeId>> {
    let mut nearest = vec![None; skeleton.nodes.len()];
    for &id in &skeleton.order {
        if let Some(parent) = skeleton.nodes[id.index()].parent {
            nearest[id.index()] = if marked[parent.index()] { Some(parent) } else { nearest[parent.index()] };
        }
    }
    nearest
}
