//! Changes of the rest shape. A cage moves the rest positions of skin and joints (docs/internals.md, *Cages and the
//! rest shape*).
//!
//! A change keeps rotations: a joint keeps the linear part of its transform, and its position follows from the roots
//! down ("SkelUp", Corda et al. 2020, equation 13). In local transforms, this adds an offset to each node's
//! translation. The offset does not depend on the pose.

use super::world64::world;
use super::{Pose, PosedRig, Skeleton};
use crate::base::NodeId;
use crate::base::math::{Affine3A, DMat3, Mat3, Mat3A, Vec3, Vec3A};

/// Offsets from the file's rest shape, in bind space, metres. All lists are empty if the rest shape is that of the
/// file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RestShift {
    /// Offset of each vertex of the rest cage.
    pub cage: Vec<Vec3>,
    /// Offset of each joint.
    pub joints: Vec<Vec3>,
    /// Offset of each bone's tail.
    pub tails: Vec<Vec3>,
    /// Offset of each node's local translation, in the space of its parent.
    locals: Vec<Vec3>,
}

impl RestShift {
    /// Creates a shift of the cage alone. The other lists are empty until they are computed from the cage.
    pub fn of_cage(cage: Vec<Vec3>) -> Self {
        Self { cage, ..Self::default() }
    }

    /// Whether the rest shape is that of the file.
    pub fn is_empty(&self) -> bool {
        self.cage.is_empty()
    }

    /// Resets the rest shape to that of the file.
    pub fn clear(&mut self) {
        for list in [&mut self.cage, &mut self.joints, &mut self.tails, &mut self.locals] {
            list.clear();
        }
    }

    /// Copies another shift. Does not allocate if both belong to the same skeleton and cage.
    pub fn copy_from(&mut self, other: &Self) {
        self.cage.clone_from(&other.cage);
        self.joints.clone_from(&other.joints);
        self.tails.clone_from(&other.tails);
        self.locals.clone_from(&other.locals);
    }

    /// Computes the offsets of the local translations from those of the joints. Call this after every change of the
    /// other lists. Allocates in the first call only.
    pub fn place(&mut self, skeleton: &Skeleton) {
        self.locals.clear();
        if self.is_empty() {
            return;
        }
        let carriers = skeleton.carriers();
        self.locals.extend(skeleton.nodes.iter().zip(carriers).map(|(node, carrier)| {
            let Some(joint) = node.joint else { return Vec3::ZERO };
            let above = skeleton.joints[joint.index()].parent;
            let from = above.map_or(Vec3::ZERO, |p| self.joints[p.index()]);
            *carrier * (self.joints[joint.index()] - from)
        }));
    }

    /// Offset of a node's local translation, in the space of its parent.
    pub fn local(&self, node: NodeId) -> Vec3 {
        self.locals.get(node.index()).copied().unwrap_or(Vec3::ZERO)
    }

    /// Changes a joint's inverse bind matrix or skinning matrix from that of the file's skeleton to that of the shifted
    /// skeleton.
    pub(super) fn around(&self, joint: usize, mut map: Affine3A) -> Affine3A {
        if let Some(&offset) = self.joints.get(joint) {
            map.translation -= map.matrix3 * Vec3A::from(offset);
        }
        map
    }

    /// Returns a skeleton whose rest shape has the shifted joints.
    pub fn skeleton(&self, skeleton: &Skeleton) -> Skeleton {
        let mut out = skeleton.clone();
        for (i, joint) in out.joints.iter_mut().enumerate() {
            joint.joint_from_bind = self.around(i, joint.joint_from_bind);
            let offset = self.joints.get(i).copied().unwrap_or(Vec3::ZERO);
            joint.bind_from_joint.translation += Vec3A::from(offset);
        }
        for (i, bone) in out.bones.iter_mut().enumerate() {
            bone.head += self.joints.get(bone.parent.index()).copied().unwrap_or(Vec3::ZERO);
            bone.tail += self.tails.get(i).copied().unwrap_or(Vec3::ZERO);
        }
        for (i, node) in out.nodes.iter_mut().enumerate() {
            node.rest.translation = (node.rest.translation() + self.local(NodeId::from(i))).into();
        }
        out
    }
}

impl Skeleton {
    /// For each node with a joint: the linear map from an offset of the joint relative to its parent joint, in bind
    /// space, to an offset of the node's local translation. Zero for other nodes. The first call computes the maps.
    pub fn carriers(&self) -> &[Mat3] {
        self.carriers.get_or_init(|| {
            let rest = world(self, &Pose::rest(self));
            let of = |(i, node): (usize, &super::RigNode)| {
                let Some(joint) = node.joint.map(|j| &self.joints[j.index()]) else { return Mat3::ZERO };
                // The joint whose rotation carries the offset: the parent joint, or a topmost joint itself.
                let by = joint.parent.map_or(joint, |p| &self.joints[p.index()]);
                let from_bind = wide(&by.joint_from_bind.matrix3);
                let world_from_bind = rest[by.node.index()].matrix3 * from_bind;
                let above = self.nodes[i].parent.map_or(DMat3::IDENTITY, |p| rest[p.index()].matrix3);
                let map = above.inverse() * world_from_bind;
                if map.is_finite() { map.as_mat3() } else { Mat3::ZERO }
            };
            self.nodes.iter().enumerate().map(of).collect()
        })
    }
}

impl PosedRig {
    /// Writes the same pose over another rest shape to `out`: rotations stay, positions follow from the roots down.
    /// Does not allocate after the first call.
    pub fn with_rest_into(&self, skeleton: &Skeleton, rest: &RestShift, out: &mut PosedRig) {
        out.world.clone_from(&self.world);
        out.rest.copy_from(rest);
        out.grips.clone_from(&self.grips);
        if self.rest != *rest {
            for &id in &skeleton.order {
                let i = id.index();
                let step = rest.local(id) - self.rest.local(id);
                let parent = skeleton.nodes[i].parent.map(|p| p.index());
                let moved =
                    parent.map_or(Vec3A::ZERO, |p| out.world[p].translation - self.world[p].translation);
                let turn = parent.map_or(Mat3A::IDENTITY, |p| self.world[p].matrix3);
                out.world[i].translation += moved + turn * Vec3A::from(step);
            }
        }
        out.follow(skeleton);
    }

    /// Applies the skinning transforms of this pose, which belong to the file's rest shape, to another rest shape. In a
    /// pose of the changed rest shape, a joint would rotate about its changed position; here it does not. FAST needs
    /// this, because it solves for transforms of the file's rest shape.
    pub(crate) fn carry(&mut self, skeleton: &Skeleton, rest: &RestShift) {
        self.rest.copy_from(rest);
        if rest.is_empty() {
            return;
        }
        self.place_bones(skeleton);
    }

    /// Returns, per joint, the linear map that carries an offset of the joint relative to its parent joint from bind
    /// space into the pose. For a joint directly below its parent joint, this map is the linear part of the parent
    /// joint's skinning transform.
    pub fn carriers(&self, skeleton: &Skeleton) -> Vec<DMat3> {
        let carriers = skeleton.carriers();
        let of = |joint: &super::Joint| {
            let above = skeleton.nodes[joint.node.index()].parent;
            let parent = above.map_or(DMat3::IDENTITY, |p| wide(&self.world[p.index()].matrix3));
            parent * carriers[joint.node.index()].as_dmat3()
        };
        skeleton.joints.iter().map(of).collect()
    }
}

fn wide(m: &Mat3A) -> DMat3 {
    Mat3::from(*m).as_dmat3()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Random;
    use crate::base::math::{Quat, Trs};
    use crate::rig::testing::{moved, skeleton};

    /// A chain with nodes between the joints, a scaled armature, and a rotated root.
    fn chain() -> (Skeleton, Pose) {
        let armature = Trs::new(Vec3::new(1.0, 0.0, 2.0), Quat::from_rotation_x(0.4), Vec3::splat(0.01));
        let between = Trs::new(Vec3::new(0.0, 3.0, 0.0), Quat::from_rotation_z(0.7), Vec3::splat(2.0));
        skeleton(&[
            ("_armature", None, armature),
            ("hip", Some(0), moved(0.0, 90.0, 0.0)),
            ("_between", Some(1), between),
            ("chest", Some(2), moved(0.0, 20.0, 1.0)),
            ("arm", Some(3), moved(15.0, 2.0, 0.0)),
            ("leg", Some(1), moved(4.0, -30.0, 0.0)),
        ])
    }

    fn shift(skeleton: &Skeleton) -> RestShift {
        let mut random = Random::new(7);
        let mut some = |n: usize| -> Vec<Vec3> { (0..n).map(|_| random.vector() * 0.1).collect() };
        let mut out = RestShift {
            cage: some(8),
            joints: some(skeleton.joints.len()),
            tails: some(skeleton.bones.len()),
            locals: Vec::new(),
        };
        out.place(skeleton);
        out
    }

    #[test]
    fn a_shifted_rest_pose_has_identity_transforms_about_the_shifted_joints() {
        let (mut skeleton, mut pose) = chain();
        skeleton.joints[1].parent = Some(crate::base::JointId(0));
        skeleton.joints[2].parent = Some(crate::base::JointId(1));
        skeleton.joints[3].parent = Some(crate::base::JointId(0));
        let before = PosedRig::new(&skeleton, &pose);
        pose.rest = shift(&skeleton);
        let after = PosedRig::new(&skeleton, &pose);
        for (j, joint) in skeleton.joints.iter().enumerate() {
            let from: Vec3 = joint.bind_from_joint.translation.into();
            let to = from + pose.rest.joints[j];
            assert!(after.skinning[j].transform_point3(to).distance(to) < 1e-5, "{j}");
            assert!(before.skinning[j].abs_diff_eq(Affine3A::IDENTITY, 1e-5));
            assert!(Mat3::from(after.skinning[j].matrix3).abs_diff_eq(Mat3::IDENTITY, 1e-5));
        }
        // A skeleton that is built in the shifted rest shape has the same transforms, in any pose.
        let own = pose.rest.skeleton(&skeleton);
        for (i, local) in pose.local.iter_mut().enumerate() {
            let turn = Quat::from_rotation_y(0.3 * i as f32) * Quat::from_rotation_z(0.5);
            local.rotation = (turn * local.rotation()).into();
        }
        let shifted = PosedRig::new(&skeleton, &pose);
        let mut plain = Pose { rest: RestShift::default(), ..pose.clone() };
        for (i, local) in plain.local.iter_mut().enumerate() {
            local.translation = (local.translation() + pose.rest.local(NodeId::from(i))).into();
        }
        let wanted = PosedRig::new(&own, &plain);
        for (a, b) in shifted.skinning.iter().zip(&wanted.skinning) {
            assert!(a.abs_diff_eq(*b, 2e-5), "{a} {b}");
        }
        let exact = world(&skeleton, &pose);
        for (a, b) in shifted.world.iter().zip(&exact) {
            assert!(Vec3::from(a.translation).as_dvec3().distance(b.translation) < 1e-5);
        }
        // The linear maps of `carriers` carry the offsets of joints into the pose.
        let unshifted = PosedRig::new(&skeleton, &Pose { rest: RestShift::default(), ..pose.clone() });
        let carriers = unshifted.carriers(&skeleton);
        let mut at = vec![crate::base::math::DVec3::ZERO; skeleton.joints.len()];
        for (j, joint) in skeleton.joints.iter().enumerate() {
            let above = joint.parent.map(|p| p.index());
            let from = above.map_or(Vec3::ZERO, |p| pose.rest.joints[p]);
            let step = carriers[j] * (pose.rest.joints[j] - from).as_dvec3();
            at[j] = above.map_or(step, |p| at[p] + step);
            let node = joint.node.index();
            let moved = Vec3::from(shifted.world[node].translation - unshifted.world[node].translation);
            assert!(moved.as_dvec3().distance(at[j]) < 1e-5, "{j}");
        }
    }

    #[test]
    fn no_shift_leaves_every_bit() {
        let (skeleton, mut pose) = chain();
        let before = PosedRig::new(&skeleton, &pose);
        pose.rest = shift(&skeleton);
        let mut rig = PosedRig::new(&skeleton, &pose);
        pose.rest.clear();
        rig.pose(&skeleton, &pose);
        assert_eq!(rig.skinning, before.skinning);
        assert_eq!(rig.bones, before.bones);
        assert!(rig.rest.is_empty());
    }
}
