//! Nodes, joints and bones (docs/internals.md, *Bones and meshes*).
//!
//! **Bind space** is one space for the whole character. Its placement in the world follows from the file's rest pose:
//! the map from a skin's mesh space to bind space is `W_j(rest) * inverse_bind_j` of the skin's first joint. If a skin
//! shares a joint with an earlier skin, the placement of the shared joint gives the map instead. Node transforms of
//! skinned mesh nodes are ignored, as glTF requires. A mesh node without a skin is bound rigidly to its own node, which
//! becomes a joint. The nearest skin joint at or above the node places it in bind space, so that a sword stays in the
//! hand. Without such a joint, the node's rest transform places it.
//!
//! Every joint owns at least one bone, for attaching vertices; a prop's joint owns a bone of length zero.

use crate::asset::Clip;
use crate::base::math::{Affine3A, Mat3, Trs, Vec3};
use crate::base::{BoneId, JointId, NodeId};
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

/// The node hierarchy with its joints and bones. Immutable; a [`super::Pose`] sets the current transforms.
#[derive(Clone, Debug, Default)]
pub struct Skeleton {
    /// All nodes of the file, in file order; indexed by [`NodeId`].
    pub nodes: Vec<RigNode>,
    /// Indices of all nodes, parents before children.
    pub order: Vec<NodeId>,
    /// Skinning transforms: one per node that is a joint of a skin or has an unskinned mesh. A node that two skins
    /// bind differently has two joints.
    pub joints: Vec<Joint>,
    /// Bones. A skin joint has one bone per child joint or, without children, one bone to its tip; a prop's joint has
    /// one bone of length zero. Bones are sorted by joint.
    pub bones: Vec<Bone>,
    /// For each skin of the file, in file order, the map from the skin's joints to `joints`.
    pub skins: Vec<SkinPlacement>,
    /// The animations of the nodes in the file.
    pub clips: Arc<[Clip]>,
    /// Names that several nodes share in the file, each with its nodes in file order.
    pub repeated: BTreeMap<String, Vec<NodeId>>,
    /// See [`Skeleton::carriers`].
    pub(crate) carriers: OnceLock<Vec<Mat3>>,
}

/// A node with the data for posing.
#[derive(Clone, Debug)]
pub struct RigNode {
    /// Name, unique within the file; repeated names get a suffix (`Arm.001`).
    pub name: String,
    /// The parent node; `None` for a root.
    pub parent: Option<NodeId>,
    /// Local transform at rest.
    pub rest: Trs,
    /// The part of the file's matrix beyond `rest` (shear): `local = rest * remainder`. `None` for most nodes.
    pub remainder: Option<Affine3A>,
    /// Morph weights at rest; empty for nodes without morph targets.
    pub weights: Vec<f32>,
    /// Names of the morph targets, one per weight.
    pub targets: Vec<String>,
    /// The first joint at this node, if any.
    pub joint: Option<JointId>,
}

/// Map from a skin of the file to the skeleton.
#[derive(Clone, Debug)]
pub struct SkinPlacement {
    /// The joint of each entry of [`crate::asset::Skin::joints`].
    pub joints: Vec<JointId>,
    /// Transform from the space of the skin's meshes to bind space.
    pub bind_from_mesh: Affine3A,
}

/// A joint with the skinning transform `T = world_from_joint * joint_from_bind`.
#[derive(Clone, Debug)]
pub struct Joint {
    /// The node that the joint follows.
    pub node: NodeId,
    /// Inverse bind matrix `B^-1`, from bind space to joint space.
    pub joint_from_bind: Affine3A,
    /// Bind matrix `B`; if `joint_from_bind` is singular, the node's world transform at rest.
    pub bind_from_joint: Affine3A,
    /// Joint of the nearest ancestor node that is a joint of a skin.
    pub parent: Option<JointId>,
    /// Whether a skin contains the joint; false for a prop's node.
    pub skinned: bool,
}

/// A bone: the segment from a joint to its child joint or to a synthetic tip. It rotates with the joint `parent`.
#[derive(Clone, Debug)]
pub struct Bone {
    /// The joint that owns and rotates the bone.
    pub parent: JointId,
    /// The child joint at the bone's end; `None` if the bone ends in a tip.
    pub child: Option<JointId>,
    /// Start of the bone in bind space, metres.
    pub head: Vec3,
    /// End of the bone in bind space, metres; equal to `head` for a bone of length zero.
    pub tail: Vec3,
}

impl Skeleton {
    /// Iterates over the bones that a joint owns.
    pub fn bones_of(&self, joint: JointId) -> impl Iterator<Item = BoneId> + '_ {
        self.bones.iter().enumerate().filter(move |(_, b)| b.parent == joint).map(|(i, _)| BoneId::from(i))
    }

    /// Returns the joint to which a mesh node without a skin is bound: its own joint, or the skin joint at this node.
    pub fn prop_joint(&self, node: NodeId) -> Option<JointId> {
        let own = self.joints.iter().position(|j| j.node == node && !j.skinned).map(JointId::from);
        own.or(self.nodes.get(node.index()).and_then(|n| n.joint))
    }

    /// Per joint: the first joint of the same node. A file can have several skins that share nodes; the joints of a
    /// node move alike.
    pub fn first_joints(&self) -> Vec<JointId> {
        let mut first = vec![None; self.nodes.len()];
        let of = |(j, joint): (usize, &Joint)| *first[joint.node.index()].get_or_insert(JointId::from(j));
        self.joints.iter().enumerate().map(of).collect()
    }

    /// Returns the node with this name.
    pub fn find(&self, name: &str) -> Option<NodeId> {
        self.nodes.iter().position(|n| n.name == name).map(NodeId::from)
    }
}
