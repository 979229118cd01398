//! A pose (one local transform per node) and the resulting world transforms of joints and bones.

use super::scale::{mean_scale, median};
use super::{GripPose, RestShift, Skeleton};
use crate::base::NodeId;
use crate::base::math::{Affine3A, DVec3, Mat3, Quat, Trs, Vec3, Vec3A, rotation_of};

/// The pose of a skeleton: local transforms and morph weights of all nodes.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Pose {
    /// Local transform of each node, in node order.
    pub local: Vec<Trs>,
    /// Morph weights of each node; empty for nodes without morph targets.
    pub weights: Vec<Vec<f32>>,
    /// Change of the rest shape. Files do not contain it, because it follows from the document's cage.
    #[serde(skip)]
    pub rest: RestShift,
    /// Grips on the skin, in the order of the document. Files of poses do not contain them.
    #[serde(skip)]
    pub grips: Vec<GripPose>,
}

impl Pose {
    /// Returns the rest pose: every node at its rest transform, with default morph weights.
    pub fn rest(skeleton: &Skeleton) -> Self {
        Self {
            local: skeleton.nodes.iter().map(|n| n.rest).collect(),
            weights: skeleton.nodes.iter().map(|n| n.weights.clone()).collect(),
            rest: RestShift::default(),
            grips: Vec::new(),
        }
    }

    /// Returns transforms for a file, which keeps the bind matrices of the file's rest shape.
    ///
    /// With these transforms and bind matrices, linear blend skinning of the changed rest positions gives what
    /// [`PosedRig::skinning`] gives. A joint whose rest position a cage moves by `o` gets the world transform `W T(-u)`,
    /// where `T` translates and `u` is `o` in the joint's own space. Rotations and scales stay.
    pub fn flattened(&self, skeleton: &Skeleton) -> Self {
        let mut out = self.without_rest();
        if self.rest.is_empty() {
            return out;
        }
        let mut own = vec![DVec3::ZERO; skeleton.nodes.len()];
        for &id in &skeleton.order {
            let (i, node) = (id.index(), &skeleton.nodes[id.index()]);
            let above = node.parent.map_or(DVec3::ZERO, |p| own[p.index()]);
            let local = &mut out.local[i];
            let whole = node.remainder.map_or(local.affine(), |r| local.affine() * r);
            let linear = Mat3::from(whole.matrix3).as_dmat3();
            let Some(joint) = node.joint else {
                // The node follows the joint above it.
                let inverse = linear.inverse();
                own[i] = if inverse.is_finite() { inverse * above } else { DVec3::ZERO };
                continue;
            };
            let from_bind = Mat3::from(skeleton.joints[joint.index()].joint_from_bind.matrix3).as_dmat3();
            own[i] = from_bind * self.rest.joints[joint.index()].as_dvec3();
            let moved = (local.translation() + self.rest.local(id)).as_dvec3();
            local.translation = (above + moved - linear * own[i]).as_vec3().into();
        }
        out
    }

    /// Returns a copy over the file's rest shape, without grips.
    pub fn without_rest(&self) -> Self {
        let (local, weights) = (self.local.clone(), self.weights.clone());
        Self { local, weights, rest: RestShift::default(), grips: Vec::new() }
    }

    /// Copies another pose. Does not allocate if both poses belong to the same skeleton.
    pub fn copy_from(&mut self, other: &Self) {
        self.local.clone_from(&other.local);
        self.weights.clone_from(&other.weights);
        self.rest.copy_from(&other.rest);
        self.grips.clone_from(&other.grips);
    }

    /// Whether another pose has other joints, morph weights or grips, whatever its rest pose.
    pub fn differs_beyond_rest(&self, other: &Self) -> bool {
        (&self.local, &self.weights, &self.grips) != (&other.local, &other.weights, &other.grips)
    }

    /// Returns the world transforms of all nodes, `world_from_node`.
    pub fn world(&self, skeleton: &Skeleton) -> Vec<Affine3A> {
        let mut world = Vec::new();
        self.world_into(skeleton, &mut world);
        world
    }

    /// As [`Pose::world`], into existing memory.
    pub(crate) fn world_into(&self, skeleton: &Skeleton, world: &mut Vec<Affine3A>) {
        world.resize(skeleton.nodes.len(), Affine3A::IDENTITY);
        for &id in &skeleton.order {
            world[id.index()] = self.world_of_child(skeleton, id, world);
        }
    }

    fn world_of_child(&self, skeleton: &Skeleton, id: NodeId, world: &[Affine3A]) -> Affine3A {
        let node = &skeleton.nodes[id.index()];
        let mut local = self.local[id.index()].affine();
        if !self.rest.is_empty() {
            local.translation += Vec3A::from(self.rest.local(id));
        }
        if let Some(remainder) = node.remainder {
            local *= remainder;
        }
        node.parent.map_or(local, |p| world[p.index()] * local)
    }
}

/// A posed skeleton, which is the input of every deformer. Computed once per frame.
#[derive(Clone, Debug, Default)]
pub struct PosedRig {
    /// World transform `world_from_node` of each node.
    pub world: Vec<Affine3A>,
    /// Skinning transform `T_j = W_j B_j^-1` of each joint, from bind space to world space.
    pub skinning: Vec<Affine3A>,
    /// Rotation part `R_j` of `T_j` of each joint.
    pub rotation: Vec<Quat>,
    /// World-space placement of each bone.
    pub bones: Vec<BonePose>,
    /// Median of the factors by which the joints scale the bind shape; exactly 1 if the median differs from 1 only by
    /// rounding.
    pub scale: f32,
    /// Change of the rest shape, from the pose. The skinning transforms map the changed rest shape to the pose.
    pub rest: RestShift,
    /// Grips on the skin, from the pose.
    pub grips: Vec<GripPose>,
    /// Scale factors of all joints, in ascending order.
    scales: Vec<f32>,
}

/// The world-space placement of a bone in a pose.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BonePose {
    /// Head `p'` in world space, metres.
    pub head: Vec3,
    /// Tail `c'` in world space, metres.
    pub tail: Vec3,
    /// Rotation from bind space to world space, equal to the rotation of the bone's joint.
    pub rotation: Quat,
}

impl PosedRig {
    /// Computes the joints and bones of a skeleton in a pose.
    pub fn new(skeleton: &Skeleton, pose: &Pose) -> Self {
        let mut out = Self::default();
        out.pose(skeleton, pose);
        out
    }

    /// Recomputes joints and bones for another pose; does not allocate if the skeleton is the same.
    pub fn pose(&mut self, skeleton: &Skeleton, pose: &Pose) {
        self.rest.copy_from(&pose.rest);
        self.grips.clone_from(&pose.grips);
        pose.world_into(skeleton, &mut self.world);
        self.follow(skeleton);
    }

    /// Recomputes joints and bones from `world`; allocates in the first call only.
    pub fn follow(&mut self, skeleton: &Skeleton) {
        let Self { world, skinning, rotation, scale, rest, scales, .. } = self;
        skinning.clear();
        let maps = skeleton.joints.iter().map(|j| world[j.node.index()] * j.joint_from_bind);
        skinning.extend(maps.enumerate().map(|(j, map)| rest.around(j, map)));
        rotation.clear();
        rotation.extend(skinning.iter().map(rotation_of));
        scales.clear();
        scales.extend(skinning.iter().map(mean_scale));
        *scale = median(scales);
        self.place_bones(skeleton);
    }

    /// Places the bones from the skinning transforms.
    pub(super) fn place_bones(&mut self, skeleton: &Skeleton) {
        let Self { skinning, rotation, bones, rest, .. } = self;
        bones.clear();
        bones.extend(skeleton.bones.iter().enumerate().map(|(i, b)| {
            let owner = &skinning[b.parent.index()];
            let offset = |list: &[Vec3], i: usize| list.get(i).copied().unwrap_or(Vec3::ZERO);
            let head = b.head + offset(&rest.joints, b.parent.index());
            let tail = b.tail + offset(&rest.tails, i);
            // If the child joint is translated relative to its rest, the bone stretches.
            let tail = match b.child {
                Some(c) => skinning[c.index()].transform_point3(tail),
                None => owner.transform_point3(tail),
            };
            BonePose { head: owner.transform_point3(head), tail, rotation: rotation[b.parent.index()] }
        }));
    }
}
