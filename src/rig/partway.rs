//! Poses between the bind pose and a pose.

use super::scale::mean_scale;
use super::{Joint, PosedRig, Skeleton};
use crate::base::JointId;
use crate::base::math::{Affine3A, Mat3A, Quat, Vec3A, rotation_of};

impl Skeleton {
    /// Returns all joints, parents before children.
    pub fn joint_order(&self) -> Vec<JointId> {
        let mut rank = vec![0; self.nodes.len()];
        self.order.iter().enumerate().for_each(|(i, node)| rank[node.index()] = i);
        let mut order: Vec<JointId> = (0..self.joints.len()).map(JointId::from).collect();
        order.sort_by_key(|j| rank[self.joints[j.index()].node.index()]);
        order
    }
}

impl PosedRig {
    /// Computes a pose between the bind pose and this pose: each joint moves, rotates and stretches by `fraction` of its
    /// motion relative to its parent joint. Joints without a parent move fully. A rotation takes the shorter way.
    ///
    /// `order` is that of [`Skeleton::joint_order`]. The result has joints and bones, but no transforms of nodes and no
    /// grips. This pose must have the file's rest shape. Does not allocate if `out` is reused.
    pub fn partway_into(&self, skeleton: &Skeleton, order: &[JointId], fraction: f32, out: &mut Self) {
        out.world.clear();
        out.rest.clear();
        out.grips.clear();
        out.scale = self.scale;
        out.skinning.clone_from(&self.skinning);
        for joint in order {
            let j = joint.index();
            let Some(parent) = skeleton.joints[j].parent.map(|p| p.index()) else { continue };
            let own = self.skinning[parent].inverse() * self.skinning[j];
            if mean_scale(&self.skinning[parent]) > 0.0 && own.is_finite() {
                let pivot = skeleton.joints[j].bind_from_joint.translation;
                out.skinning[j] = out.skinning[parent] * part_of(&own, pivot, fraction);
            }
        }
        out.rotation.clear();
        out.rotation.extend(out.skinning.iter().map(rotation_of));
        out.place_bones(skeleton);
    }

    /// Returns the largest angle by which a joint has rotated relative to its parent joint since the bind pose, radians,
    /// 0..=π.
    pub fn largest_rotation(&self, skeleton: &Skeleton) -> f32 {
        let own = |(j, joint): (usize, &Joint)| {
            let parent = joint.parent?.index();
            Some((self.rotation[parent].conjugate() * self.rotation[j]).w.abs())
        };
        let least = skeleton.joints.iter().enumerate().filter_map(own).fold(1.0, f32::min);
        2.0 * least.acos()
    }
}

/// Returns the motion that moves, rotates and stretches a space about `pivot` by `fraction` of what `map` does.
fn part_of(map: &Affine3A, pivot: Vec3A, fraction: f32) -> Affine3A {
    let moved = map.transform_point3a(pivot) - pivot;
    let rotation = rotation_of(map);
    let rotation = if rotation.w < 0.0 { -rotation } else { rotation };
    let stretch = Mat3A::from_quat(rotation.conjugate()) * map.matrix3;
    let stretch = Mat3A::IDENTITY * (1.0 - fraction) + stretch * fraction;
    let matrix3 = Mat3A::from_quat(Quat::IDENTITY.slerp(rotation, fraction)) * stretch;
    Affine3A { matrix3, translation: pivot + moved * fraction - matrix3 * pivot }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::math::{EulerRot, Trs, Vec3};
    use crate::rig::tree;
    use std::f32::consts::FRAC_PI_2;

    #[test]
    fn a_part_of_a_rotation_is_the_rotation_by_a_part_of_the_angle() {
        let pivot = Vec3A::new(0.3, -1.0, 2.0);
        let about = |angle: f32| {
            let matrix3 = Mat3A::from_quat(Quat::from_axis_angle(Vec3::new(0.6, 0.0, 0.8), angle));
            Affine3A { matrix3, translation: pivot - matrix3 * pivot }
        };
        let part = part_of(&about(FRAC_PI_2), pivot, 0.25);
        assert!(part.abs_diff_eq(about(FRAC_PI_2 * 0.25), 1e-6));
        let scale = Affine3A { matrix3: Mat3A::IDENTITY * 3.0, translation: Vec3A::ZERO };
        let half = part_of(&scale, Vec3A::ZERO, 0.5);
        assert!(half.abs_diff_eq(Affine3A::from_scale(Vec3::splat(2.0)), 1e-6));
    }

    #[test]
    fn on_the_way_joints_stay_connected_and_the_whole_way_is_the_pose() {
        let (mut skeleton, rest) = tree();
        for j in 0..skeleton.joints.len() {
            let above = skeleton.nodes[skeleton.joints[j].node.index()].parent;
            skeleton.joints[j].parent = above.and_then(|node| skeleton.nodes[node.index()].joint);
        }
        let order = skeleton.joint_order();
        let place = |j: JointId| order.iter().position(|o| *o == j);
        for (j, joint) in skeleton.joints.iter().enumerate() {
            assert!(joint.parent.is_none_or(|p| place(p) < place(JointId::from(j))));
        }
        let mut pose = rest.clone();
        for (n, local) in pose.local.iter_mut().enumerate() {
            let turn = Quat::from_euler(EulerRot::XYZ, 0.3 * n as f32, 1.0 - 0.2 * n as f32, 0.5);
            *local = Trs::new(local.translation(), turn, Vec3::ONE);
        }
        let rig = PosedRig::new(&skeleton, &pose);
        let mut part = PosedRig::default();
        rig.partway_into(&skeleton, &order, 1.0, &mut part);
        for (whole, part) in rig.skinning.iter().zip(&part.skinning) {
            assert!(whole.abs_diff_eq(*part, 1e-4), "{whole} {part}");
        }
        rig.partway_into(&skeleton, &order, 0.0, &mut part);
        for part in &part.skinning {
            assert!(rig.skinning[0].abs_diff_eq(*part, 1e-4), "{part}");
        }
        rig.partway_into(&skeleton, &order, 0.4, &mut part);
        for (j, joint) in skeleton.joints.iter().enumerate() {
            let Some(parent) = joint.parent.map(|p| p.index()) else { continue };
            let pivot = joint.bind_from_joint.translation;
            let [own, above] = [j, parent].map(|j| part.skinning[j].transform_point3a(pivot));
            assert!(own.abs_diff_eq(above, 1e-4), "{own} {above}");
            let turned = |rig: &PosedRig| rig.rotation[parent].angle_between(rig.rotation[j]);
            assert!((turned(&part) - 0.4 * turned(&rig)).abs() < 1e-3);
        }
    }
}
