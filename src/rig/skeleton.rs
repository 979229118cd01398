//! Nodes, joints and bones (methods, section 1).
//!
//! **Bind space** is one space for the whole character, placed in the world as in the file's rest pose. A
//! skin's mesh space maps to it by `W_j(rest) * inverse_bind_j` of its first joint; a skin that shares a joint with one
//! already placed is placed by that joint. Node transforms of skinned mesh nodes are ignored, as glTF requires. A mesh
//! node without a skin is bound rigidly to its own node, which becomes a joint. The nearest skin joint at or above the
//! node places it, so that a sword stays in the hand in bind space too; if there is none, its rest transform does.
//!
//! Every joint owns at least one bone, so that every vertex can be attached to one: a prop's joint owns a
//! bone of length zero at its node.

use crate::asset::Clip;
use crate::base::math::{Affine3A, Trs, Vec3};
use crate::base::{BoneId, JointId, NodeId};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The hierarchy with its joints and bones. Immutable; a [`super::Pose`] moves it.
#[derive(Clone, Debug, Default)]
pub struct Skeleton {
    /// All nodes of the file, in file order; indexed by [`NodeId`].
    pub nodes: Vec<RigNode>,
    /// Node indices, parents before children.
    pub order: Vec<NodeId>,
    /// Skinning transforms: one per node that is a joint of some skin or has an unskinned mesh; a node that
    /// two skins bind differently has two.
    pub joints: Vec<Joint>,
    /// Bones: for each skin joint one per child joint, or one to its tip; for a prop's joint one of length zero.
    /// Bones of one joint are consecutive, joints in order.
    pub bones: Vec<Bone>,
    /// Map from the joints of each of the file's skins to `joints`, in file order.
    pub skins: Vec<SkinPlacement>,
    /// The file's animations of its nodes.
    pub clips: Arc<[Clip]>,
    /// Names that several nodes share in the file, with these nodes in file order.
    pub repeated: BTreeMap<String, Vec<NodeId>>,
}

/// A node with the data for posing.
#[derive(Clone, Debug)]
pub struct RigNode {
    /// Unique within the file; repeated names get a suffix (`Arm.001`).
    pub name: String,
    /// Parent node.
    pub parent: Option<NodeId>,
    /// Rest transform.
    pub rest: Trs,
    /// The part of the file's matrix beyond `rest` (shear): `local = rest * remainder`. `None` for nearly all nodes.
    pub remainder: Option<Affine3A>,
    /// Morph weights at rest; empty for nodes without morph targets.
    pub weights: Vec<f32>,
    /// First joint at this node.
    pub joint: Option<JointId>,
}

/// Mapping of a file's skin to the skeleton.
#[derive(Clone, Debug)]
pub struct SkinPlacement {
    /// Joint per entry of [`crate::asset::Skin::joints`].
    pub joints: Vec<JointId>,
    /// Transform from the space of the skin's meshes to bind space.
    pub bind_from_mesh: Affine3A,
}

/// A skinning transform `T = world_from_joint * joint_from_bind`.
#[derive(Clone, Debug)]
pub struct Joint {
    /// The node that the joint follows.
    pub node: NodeId,
    /// `B^-1`, bind space to joint space.
    pub joint_from_bind: Affine3A,
    /// `B`; if `joint_from_bind` is singular, the node's rest transform in the world.
    pub bind_from_joint: Affine3A,
    /// The nearest ancestor node that is a joint of a skin.
    pub parent: Option<JointId>,
    /// Whether a skin lists the joint; false for a prop's node.
    pub skinned: bool,
}

/// A bone: the segment from a joint to its child joint, or to a synthetic tip. It rotates with `parent`.
#[derive(Clone, Debug)]
pub struct Bone {
    /// The joint that owns and rotates the bone.
    pub parent: JointId,
    /// The child joint at its end; `None` for a tip.
    pub child: Option<JointId>,
    /// Start in bind space, metres.
    pub head: Vec3,
    /// End in bind space, metres; equal to `head` for a zero-length bone.
    pub tail: Vec3,
}

impl Skeleton {
    /// Bones owned by a joint.
    pub fn bones_of(&self, joint: JointId) -> impl Iterator<Item = BoneId> + '_ {
        self.bones.iter().enumerate().filter(move |(_, b)| b.parent == joint).map(|(i, _)| BoneId::from(i))
    }

    /// The joint that a mesh node without a skin is bound to: its own, or the skin joint at this node.
    pub fn prop_joint(&self, node: NodeId) -> Option<JointId> {
        let own = self.joints.iter().position(|j| j.node == node && !j.skinned).map(JointId::from);
        own.or(self.nodes.get(node.index()).and_then(|n| n.joint))
    }

    /// The node with that name.
    pub fn find(&self, name: &str) -> Option<NodeId> {
        self.nodes.iter().position(|n| n.name == name).map(NodeId::from)
    }
}
