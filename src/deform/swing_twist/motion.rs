//! The motion of each joint relative to its parent, split into swing and twist.

use super::{Deformer, Params};
use crate::base::math::{Affine3A, Quat, Vec3, rotation_of};
use crate::bind::weights::FleshJoint;
use crate::deform::rig_data::Rows;
use crate::rig::{PosedRig, Skeleton};
use crate::shared_with_shaders;

/// The twist is undefined for a swing by half a turn. It counts as 0 if the twist part of the quaternion is shorter
/// than this.
const DEFINED: f32 = 1e-6;

shared_with_shaders! {
    /// The motion of a joint relative to its parent, in bind space: first the twist about the axis, then the swing.
    #[derive(Debug, Default, PartialEq)]
    pub struct JointMotion as "JointMotion" {
        /// Swing, translation and scale, as the rows of an affine transform.
        pub swing: [[f32; 4]; 3],
        /// Unit axis of the twist.
        pub axis: [f32; 3],
        /// Angle of the twist, radians.
        pub angle: f32,
        /// The joint's position in bind space, metres.
        pub pivot: [f32; 3],
        /// 1 if the twist follows the swing weight ([`Deformer::Spherical`]), otherwise 0.
        pub spherical: u32,
    }
}

impl JointMotion {
    /// Splits the motion `x' = motion x`. `bone` is the unit vector along the joint's bone.
    pub fn new(motion: Affine3A, pivot: Vec3, bone: Vec3, deformer: Deformer) -> Self {
        let mut rotation = rotation_of(&motion);
        if rotation.w < 0.0 {
            rotation = -rotation;
        }
        let (axis, angle) = match deformer {
            Deformer::SwingTwist => {
                let along = rotation.xyz().dot(bone);
                let defined = along * along + rotation.w * rotation.w > DEFINED * DEFINED;
                (bone, if defined { 2.0 * along.atan2(rotation.w) } else { 0.0 })
            }
            Deformer::Linear => (bone, 0.0),
            Deformer::Spherical => rotation.to_axis_angle(),
        };
        let back = Affine3A::from_translation(pivot)
            * Affine3A::from_quat(Quat::from_axis_angle(axis, -angle))
            * Affine3A::from_translation(-pivot);
        let swing: Rows = (&(motion * back)).into();
        let spherical = u32::from(deformer == Deformer::Spherical);
        Self { swing: swing.rows, axis: axis.into(), angle, pivot: pivot.into(), spherical }
    }

    /// Moves a point by a fraction of the swing and a fraction of the twist (equation 6).
    pub fn apply(&self, x: Vec3, swing: f32, twist: f32) -> Vec3 {
        let (pivot, axis) = (Vec3::from(self.pivot), Vec3::from(self.axis));
        let angle = self.angle * if self.spherical == 1 { swing } else { twist };
        let turned = pivot + Quat::from_axis_angle(axis, angle) * (x - pivot);
        turned.lerp(Rows { rows: self.swing }.affine().transform_point3(turned), swing)
    }
}

/// The motions of all joints with deformers. Their number never changes.
#[derive(Clone, Debug, Default)]
pub struct Motions {
    /// Motion per joint.
    pub motions: Vec<JointMotion>,
    joints: Vec<FleshJoint>,
    /// Sum of the joint's bones, tail minus head, and the bones' indices.
    bones: Vec<(Vec3, Vec<usize>)>,
    deformers: Vec<Deformer>,
}

impl Motions {
    /// Creates the motions of joints at rest. `skeleton` has the file's rest shape.
    pub fn new(joints: &[FleshJoint], skeleton: &Skeleton, params: &Params) -> Self {
        let motions = vec![JointMotion::default(); joints.len()];
        let bones = |joint: &FleshJoint| {
            let own: Vec<usize> = skeleton.bones_of(joint.joint).map(|b| b.index()).collect();
            (own.iter().map(|&b| skeleton.bones[b].tail - skeleton.bones[b].head).sum(), own)
        };
        let bones = joints.iter().map(bones).collect();
        let mut out = Self { motions, joints: joints.to_vec(), bones, deformers: Vec::new() };
        out.deformers = vec![Deformer::default(); joints.len()];
        out.set(params);
        out
    }

    /// Sets the deformers of the joints. Does not allocate.
    pub fn set(&mut self, params: &Params) {
        for (deformer, joint) in self.deformers.iter_mut().zip(&self.joints) {
            *deformer = params.deformer(joint.joint);
        }
    }

    /// Computes the motions of a pose. Does not allocate.
    pub fn update(&mut self, rig: &PosedRig) {
        let skinning = |j: usize| rig.skinning[self.joints[j].joint.index()];
        for (j, (out, joint)) in self.motions.iter_mut().zip(&self.joints).enumerate() {
            let parent = joint.parent.map_or(Affine3A::IDENTITY, skinning);
            let motion = parent.inverse() * skinning(j);
            // A parent that is scaled to zero has no inverse.
            let motion = if motion.is_finite() { motion } else { Affine3A::IDENTITY };
            let (mut pivot, mut bone) = (joint.pivot.as_vec3(), joint.bone.as_vec3());
            if let Some(&offset) = rig.rest.joints.get(joint.joint.index()) {
                // The axis rotates like the mean of the joint's bones.
                let (sum, own) = &self.bones[j];
                let stretch: Vec3 = own.iter().map(|&b| rig.rest.tails[b] - offset).sum();
                let ends = sum.try_normalize().zip((*sum + stretch).try_normalize());
                bone = ends.map_or(bone, |(from, to)| Quat::from_rotation_arc(from, to) * bone);
                pivot += offset;
            }
            *out = JointMotion::new(motion, pivot, bone, self.deformers[j]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Random;

    #[test]
    fn full_weights_give_the_motion_and_a_pure_twist_turns_by_its_fraction() {
        let mut random = Random::new(5);
        for _ in 0..200 {
            let (pivot, x, bone) = (random.vector(), random.vector(), random.vector().normalize());
            let about = |q: Quat| {
                Affine3A::from_translation(pivot)
                    * Affine3A::from_quat(q)
                    * Affine3A::from_translation(-pivot)
            };
            let motion = about(Quat::from_scaled_axis(random.vector() * 2.0));
            for deformer in [Deformer::SwingTwist, Deformer::Linear, Deformer::Spherical] {
                let split = JointMotion::new(motion, pivot, bone, deformer);
                assert!(split.apply(x, 1.0, 1.0).distance(motion.transform_point3(x)) < 1e-5);
                assert!(split.apply(x, 0.0, 0.0).distance(x) < 1e-6);
            }
            let (angle, t) = (2.5 * random.vector().x, 0.3);
            let split = JointMotion::new(
                about(Quat::from_axis_angle(bone, angle)),
                pivot,
                bone,
                Deformer::SwingTwist,
            );
            let wanted = about(Quat::from_axis_angle(bone, t * angle)).transform_point3(x);
            assert!(split.apply(x, 0.7, t).distance(wanted) < 1e-5);
            // A pure swing moves points linearly.
            let across = bone.any_orthonormal_vector();
            let bend = about(Quat::from_axis_angle(across, angle));
            let split = JointMotion::new(bend, pivot, bone, Deformer::SwingTwist);
            assert!(split.angle.abs() < 1e-4, "{}", split.angle);
            assert!(split.apply(x, t, 0.9).distance(x.lerp(bend.transform_point3(x), t)) < 1e-4);
        }
    }
}
