//! Finds the vertices of a limb near given points, by skin weight. Disconnected shells (skin, sleeve, armour) belong
//! to one limb if they follow the same joints.

use super::SurfacePoint;
use crate::base::math::Vec3;
use crate::base::{BoneId, JointId, NodeId};
use crate::bind::Character;
use crate::rig::Skeleton;

/// A joint belongs to the limb if it has more than this fraction of the skin weights at the given points.
const OWN: f32 = 0.15;
/// Maximum distance of a helper joint (e.g. for twist) from its parent's bone, as a fraction of the bone's length.
const ASIDE: f32 = 0.2;
/// Maximum position of a helper joint along its parent's bone, as a fraction of the bone's length.
const ALONG: f32 = 0.9;

/// The joints of a limb near some points of the skin.
#[derive(Clone, Debug, Default)]
pub struct Limb {
    /// Per joint: whether the joint moves the skin at these points.
    own: Vec<bool>,
    /// Per joint: whether `own` is set for the joint, its parent or a child. A parent from which several limbs branch
    /// does not count.
    near: Vec<bool>,
}

impl Limb {
    /// Finds the limb at some vertices; `places` lists vertex index and weight.
    pub fn at(character: &Character, places: impl Iterator<Item = (u32, f32)>) -> Self {
        let skeleton = &character.skeleton;
        let mut weight = vec![0.0; skeleton.nodes.len()];
        let mut sum = 0.0;
        for (vertex, share) in places {
            for (joint, w) in character.control.influences.of(vertex as usize) {
                weight[skeleton.joints[usize::from(joint)].node.index()] += w * share;
            }
            sum += share;
        }
        let mut own: Vec<bool> = weight.iter().map(|w| *w > OWN * sum).collect();
        let tree = Tree::new(skeleton);
        for node in 0..own.len() {
            let Some(parent) = tree.parent[node] else { continue };
            if tree.is_helper(skeleton, node, parent) && (own[node] || own[parent]) {
                (own[node], own[parent]) = (true, true);
            }
        }
        let mut near = own.clone();
        for node in 0..own.len() {
            let Some(parent) = tree.parent[node].filter(|&p| tree.continuing(p) <= 1) else { continue };
            near[node] |= own[parent];
            near[parent] |= own[node];
        }
        let of = |nodes: &[bool]| skeleton.joints.iter().map(|j| nodes[j.node.index()]).collect();
        Self { own: of(&own), near: of(&near) }
    }

    /// Finds the limb that a stroke lies on.
    pub fn under(character: &Character, points: &[SurfacePoint]) -> Self {
        let triangles = &character.control.triangles;
        let corners = points.iter().filter_map(|p| Some((triangles.get(p.triangle as usize)?, p)));
        let placed = corners.flat_map(|(c, p)| c.iter().copied().zip(p.barycentrics));
        Self::at(character, placed.filter(|c| !character.control.rigid[c.0 as usize]))
    }

    /// Returns the fraction of a vertex's skin weights on the joints in `own`, 0..=1.
    pub fn own(&self, character: &Character, vertex: u32) -> f32 {
        share(&self.own, character, vertex)
    }

    /// Returns the fraction of a vertex's skin weights on the joints in `near`, 0..=1.
    pub fn near(&self, character: &Character, vertex: u32) -> f32 {
        share(&self.near, character, vertex)
    }

    /// Returns whether the joints in `own` have at least half of the face's skin weight, averaged over its corners. A
    /// face with a rigid corner never counts.
    pub fn has_face(&self, character: &Character, corners: &[u32; 3]) -> bool {
        let of = |v: &u32| self.own(character, *v);
        let rigid = corners.iter().any(|&v| character.control.rigid[v as usize]);
        !rigid && corners.iter().map(of).sum::<f32>() >= 1.5
    }
}

/// Returns the bones of one segment of a limb, longest first: those that start at a joint, and those of its helper joints,
/// such as a twist joint half-way along the bone.
pub fn segment_bones(skeleton: &Skeleton, joint: JointId) -> Vec<BoneId> {
    let tree = Tree::new(skeleton);
    let node = |j: JointId| skeleton.joints[j.index()].node.index();
    let own = |j: JointId| {
        j == joint
            || (skeleton.joints[j.index()].parent == Some(joint)
                && tree.is_helper(skeleton, node(j), node(joint)))
    };
    let bones = skeleton.bones.iter().enumerate().filter(|(_, b)| own(b.parent));
    let mut out: Vec<BoneId> = bones.map(|(i, _)| BoneId::from(i)).collect();
    let length = |b: &BoneId| skeleton.bones[b.index()].head.distance(skeleton.bones[b.index()].tail);
    out.sort_by(|a, b| length(b).total_cmp(&length(a)));
    out
}

fn share(joints: &[bool], character: &Character, vertex: u32) -> f32 {
    let of = character.control.influences.of(vertex as usize);
    of.filter(|e| joints[usize::from(e.0)]).map(|e| e.1).sum()
}

/// The hierarchy of the nodes that are joints of skins.
struct Tree {
    parent: Vec<Option<usize>>,
    children: Vec<u32>,
    /// Per node: number of children that have children themselves.
    branches: Vec<u32>,
}

impl Tree {
    fn new(skeleton: &Skeleton) -> Self {
        let count = skeleton.nodes.len();
        let mut parent = vec![None; count];
        for joint in skeleton.joints.iter().filter(|j| j.skinned) {
            let above = joint.parent.map(|p| skeleton.joints[p.index()].node.index());
            parent[joint.node.index()] = above.filter(|&p| p != joint.node.index());
        }
        let (mut children, mut branches) = (vec![0; count], vec![0; count]);
        parent.iter().flatten().for_each(|&p| children[p] += 1);
        let below = |n: &usize| children[*n] > 0;
        (0..count).filter(below).filter_map(|n| parent[n]).for_each(|p| branches[p] += 1);
        Self { parent, children, branches }
    }

    /// Returns the number of limbs that continue from a node: its children that have children themselves.
    fn continuing(&self, node: usize) -> u32 {
        self.branches[node]
    }

    /// Returns whether a leaf node lies on one of its parent's bones.
    fn is_helper(&self, skeleton: &Skeleton, node: usize, parent: usize) -> bool {
        let joint_at = |n: usize| skeleton.joints.iter().find(|j| j.node == NodeId::from(n));
        let at = |n: usize| joint_at(n).map(|j| Vec3::from(j.bind_from_joint.translation));
        let Some(x) = at(node).filter(|_| self.children[node] == 0) else { return false };
        let own = |b: &&crate::rig::Bone| {
            let turns = skeleton.joints[b.parent.index()].node.index() == parent;
            turns && b.child.is_none_or(|c| skeleton.joints[c.index()].node.index() != node)
        };
        skeleton.bones.iter().filter(own).any(|b| {
            let (along, square) = (b.tail - b.head, b.head.distance_squared(b.tail));
            let t = (x - b.head).dot(along) / square.max(f32::MIN_POSITIVE);
            let aside = (x - b.head - along * t).length_squared();
            square > 0.0 && (-0.1..=ALONG).contains(&t) && aside <= ASIDE * ASIDE * square
        })
    }
}
