//! Selection of the nodes that the user can pose, and their hierarchy.

use super::world64::world;
use crate::base::NodeId;
use crate::base::math::DVec3;
use crate::rig::{Pose, Skeleton};

/// Returns the nodes that the user can pose, in node order: the nodes with a joint of a skin. For a character of
/// rigid parts only, returns the nodes that carry a part.
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

/// Returns the world position of every node, metres.
pub(crate) fn node_positions(skeleton: &Skeleton, pose: &Pose) -> Vec<DVec3> {
    world(skeleton, pose).iter().map(|w| w.translation).collect()
}

/// Returns, for each node, the nearest ancestor for which `marked` is true.
pub(crate) fn marked_parents(skeleton: &Skeleton, marked: &[bool]) -> Vec<Option<NodeId>> {
    let mut nearest = vec![None; skeleton.nodes.len()];
    for &id in &skeleton.order {
        if let Some(parent) = skeleton.nodes[id.index()].parent {
            nearest[id.index()] = if marked[parent.index()] { Some(parent) } else { nearest[parent.index()] };
        }
    }
    nearest
}
