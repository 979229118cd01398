//! Builds the bones: from each joint to its child joints, or to a tip if it has none (docs/internals.md, *Bones and
//! meshes*).

use super::build::{in_scene, skin_of};
use super::{Bone, Skeleton};
use crate::asset::Asset;
use crate::base::math::Vec3;
use crate::base::{JointId, NodeId};

/// The mean offset of a leaf joint's vertices from the joint gives the direction to the tip. If the mean offset is at
/// most this fraction of the largest offset, the parent's direction is used instead.
const NO_DIRECTION: f32 = 0.02;

/// Fills [`Skeleton::bones`], ordered by joint.
pub(super) fn build_bones(skeleton: &mut Skeleton, asset: &Asset) {
    let children = child_joints(skeleton);
    let is_leaf: Vec<bool> =
        skeleton.joints.iter().zip(&children).map(|(j, c)| j.skinned && c.is_empty()).collect();
    let tips = Tips::measure(skeleton, asset, &is_leaf);
    let mut bones = Vec::new();
    for (i, joint) in skeleton.joints.iter().enumerate() {
        let (parent, head) = (JointId::from(i), head_of(skeleton, i));
        for &child in &children[i] {
            bones.push(Bone { parent, child: Some(child), head, tail: head_of(skeleton, child.index()) });
        }
        if children[i].is_empty() {
            let tail = if joint.skinned { tips.tail(skeleton, i) } else { head };
            bones.push(Bone { parent, child: None, head, tail });
        }
    }
    skeleton.bones = bones;
}

fn head_of(skeleton: &Skeleton, joint: usize) -> Vec3 {
    skeleton.joints[joint].bind_from_joint.translation.into()
}

/// Returns the child skin joints of each joint. A child node that several skins bind has several joints: the joint
/// whose parent is this joint is chosen or, if there is none, the node's first joint.
fn child_joints(skeleton: &Skeleton) -> Vec<Vec<JointId>> {
    let mut children = vec![Vec::new(); skeleton.joints.len()];
    let mut at_node = vec![Vec::new(); skeleton.nodes.len()];
    let mut below = vec![Vec::<NodeId>::new(); skeleton.nodes.len()];
    for (i, joint) in skeleton.joints.iter().enumerate().filter(|(_, j)| j.skinned) {
        if at_node[joint.node.index()].is_empty()
            && let Some(parent) = joint.parent
        {
            below[skeleton.joints[parent.index()].node.index()].push(joint.node);
        }
        at_node[joint.node.index()].push(JointId::from(i));
    }
    for (i, joint) in skeleton.joints.iter().enumerate().filter(|(_, j)| j.skinned) {
        for node in &below[joint.node.index()] {
            let there = &at_node[node.index()];
            let own = there.iter().find(|c| skeleton.joints[c.index()].parent == Some(JointId::from(i)));
            children[i].extend(own.or(there.first()));
        }
    }
    children
}

/// Direction and length from each leaf joint to its tip. They are derived from the vertices whose heaviest joint is
/// this leaf joint.
struct Tips {
    direction: Vec<Vec3>,
    reach: Vec<f32>,
}

impl Tips {
    fn measure(skeleton: &Skeleton, asset: &Asset, is_leaf: &[bool]) -> Self {
        let count = skeleton.joints.len();
        let (mut sum, mut far) = (vec![Vec3::ZERO; count], vec![0.0f32; count]);
        let mut total = vec![0.0f32; count];
        for_heaviest(skeleton, asset, is_leaf, |joint, weight, offset| {
            sum[joint] += weight * offset;
            total[joint] += weight;
            far[joint] = far[joint].max(offset.length());
        });
        let mut direction = vec![Vec3::ZERO; count];
        for joint in (0..count).filter(|&j| total[j] > 0.0) {
            let mean = sum[joint] / total[joint];
            direction[joint] = if mean.length() > NO_DIRECTION * far[joint] {
                mean.normalize_or_zero()
            } else {
                Self::from_parent(skeleton, joint).0
            };
        }
        let mut reach = vec![0.0f32; count];
        for_heaviest(skeleton, asset, is_leaf, |joint, _, offset| {
            reach[joint] = reach[joint].max(offset.dot(direction[joint]));
        });
        Self { direction, reach }
    }

    fn tail(&self, skeleton: &Skeleton, joint: usize) -> Vec3 {
        let head = head_of(skeleton, joint);
        if self.reach[joint] > 0.0 {
            return head + self.direction[joint] * self.reach[joint];
        }
        let (direction, length) = Self::from_parent(skeleton, joint);
        head + direction * (0.5 * length)
    }

    /// Returns direction and length of the nearest ancestor bone that has a length; zero if there is none.
    fn from_parent(skeleton: &Skeleton, joint: usize) -> (Vec3, f32) {
        let mut at = joint;
        while let Some(parent) = skeleton.joints[at].parent {
            let along = head_of(skeleton, at) - head_of(skeleton, parent.index());
            if along.length() > 0.0 && along.is_finite() {
                return (along.normalize_or_zero(), along.length());
            }
            at = parent.index();
        }
        (Vec3::ZERO, 0.0)
    }
}

/// Calls `f(joint, weight, x - head)` for every vertex of the scene whose heaviest joint is a leaf.
fn for_heaviest(skeleton: &Skeleton, asset: &Asset, is_leaf: &[bool], mut f: impl FnMut(usize, f32, Vec3)) {
    let shown = in_scene(asset);
    for node in asset.nodes.iter().enumerate().filter(|(i, _)| shown[*i]).map(|(_, n)| n) {
        let (Some(mesh), Some(skin)) = (node.mesh, skin_of(asset, node)) else { continue };
        let placement = &skeleton.skins[skin.index()];
        for primitive in &asset.meshes[mesh.index()].primitives {
            for v in 0..primitive.influences.len().min(primitive.positions.len()) {
                let Some((slot, weight)) = primitive.influences.of(v).next() else { continue };
                let Some(joint) = placement.joints.get(usize::from(slot)).map(|j| j.index()) else {
                    continue;
                };
                if is_leaf[joint] {
                    let x = placement.bind_from_mesh.transform_point3(primitive.positions[v]);
                    f(joint, weight, x - head_of(skeleton, joint));
                }
            }
        }
    }
}
