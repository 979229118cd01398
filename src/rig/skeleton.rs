//! Nodes, joints and bones (methods, section 1).
//!
//! **Bind space** is one space for the whole character, placed in the world as the file's rest pose places it:
//! a skin's mesh space maps to it by `W_j(rest) * inverse_bind_j` of its first joint, and a skin that shares a
//! joint with one already placed is placed by that joint. Node transforms of skinned mesh nodes are ignored, as
//! glTF demands. A mesh node without a skin is bound rigidly to its own node, which becomes a joint; it is placed
//! by the nearest skin joint at or above it, so that a sword stays in the hand in bind space too, and by its rest
//! transform where there is none.
//!
//! Every joint owns at least one bone, so that every vertex can be attached to one: a prop's joint owns a bone of
//! length zero at its node.

use crate::asset::Clip;
use crate::base::math::{Affine3A, Trs, Vec3};
use crate::base::{BoneId, JointId, NodeId};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The hierarchy with its joints and bones. Immutable; a [`super::Pose`] moves it.
#[derive(Clone, Debug, Default)]
pub struct Skeleton {
    /// All nodes of the file, in file order ([`NodeId`] indexes it).
    pub nodes: Vec<RigNode>,
    /// Node indices, parents before children.
    pub order: Vec<NodeId>,
    /// Skinning transforms: one per node that is a joint of some skin or carries an unskinned mesh; a node that
    /// two skins bind differently has two.
    pub joints: Vec<Joint>,
    /// Bones: for each skin joint one per child joint, or one to its tip; for a prop's joint one of length zero.
    /// Bones of one joint are consecutive, joints in order.
    pub bones: Vec<Bone>,
    /// How each of the file's skins maps to `joints`, in file order.
    pub skins: Vec<SkinPlacement>,
    /// The file's animations of its nodes.
    pub clips: Arc<[Clip]>,
    /// Names that several nodes have in the file, and these nodes, in file order.
    pub repeated: BTreeMap<String, Vec<NodeId>>,
}

/// A node as posing needs it.
#[derive(Clone, Debug)]
pub struct RigNode {
    /// Unique within the file; repeated names get a suffix (`Arm.001`).
    pub name: String,
    /// Parent node.
    pub parent: Option<NodeId>,
    /// Rest transform.
    pub rest: Trs,
    /// What the file's matrix has beyond `rest` (shear): `local = rest * remainder`. None for nearly all nodes.
    pub remainder: Option<Affine3A>,
    /// Morph weights at rest; empty for nodes without morph targets.
    pub weights: Vec<f32>,
    /// First joint at this node.
    pub joint: Option<JointId>,
}

/// A skin of the file in terms of the skeleton.
#[derive(Clone, Debug)]
pub struct SkinPlacement {
    /// Joint for each entry of [`crate::asset::Skin::joints`].
    pub joints: Vec<JointId>,
    /// From the space of the skin's meshes to bind space.
    pub bind_from_mesh: Affine3A,
}

/// A skinning transform `T = world_from_joint * joint_from_bind`.
#[derive(Clone, Debug)]
pub struct Joint {
    /// The node it follows.
    pub node: NodeId,
    /// `B^-1`, from bind space to joint space.
    pub joint_from_bind: Affine3A,
    /// `B`; where `joint_from_bind` is singular, the node's rest transform in the world.
    pub bind_from_joint: Affine3A,
    /// The nearest ancestor node that is a joint of a skin.
    pub parent: Option<JointId>,
    /// Whether a skin lists it (false: a prop's node).
    pub skinned: bool,
}

/// A bone: the segment from a joint to its child joint, or to a synthetic tip. It rotates with `parent`.
#[derive(Clone, Debug)]
pub struct Bone {
    /// The joint that owns and turns it.
    pub parent: JointId,
    /// The child joint at its end; none for a tip.
    pub child: Option<JointId>,
    /// Start in bind space.
    pub head: Vec3,
    /// End in bind space; equal to `head` for a zero-length bone.
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

    /// The node of that name.
    pub fn find(&self, name: &str) -> Option<NodeId> {
        self.nodes.iter().position(|n| n.name == name).map(NodeId::from)
    }
}
