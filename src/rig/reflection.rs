//! Reflection of local transforms across the plane of symmetry.

use super::world64::{is_regular, nearest, world};
use crate::base::NodeId;
use crate::base::math::{DAffine3, DMat3, DQuat, DVec3, Trs};
use crate::rig::{Limit, Mirror, Plane, Pose, PosedRig, Skeleton};

/// Reflects local transforms of a skeleton. The rest pose defines the axes: a transform's change since the rest pose is
/// reflected, as seen in the world of the rest pose.
pub struct Reflection<'a> {
    skeleton: &'a Skeleton,
    plane: Plane,
    /// `world_from_node` of the rest pose.
    rest: Vec<DAffine3>,
}

impl<'a> Reflection<'a> {
    /// Computes the rest pose of the skeleton.
    pub fn new(skeleton: &'a Skeleton, mirror: &Mirror) -> Self {
        let rest = Pose::rest(skeleton);
        let plane = mirror.plane(&PosedRig::new(skeleton, &rest));
        Self { skeleton, plane, rest: world(skeleton, &rest) }
    }

    /// Returns the local transform of the node `to` that is the mirror image of `local`, a local transform of the node
    /// `from`. `None` if a parent has a scale of zero in the rest pose.
    pub fn local(&self, from: NodeId, local: &Trs, to: NodeId) -> Option<Trs> {
        let (old, new) = (self.skeleton.nodes[from.index()].rest, self.skeleton.nodes[to.index()].rest);
        let (there, here) = (self.parent(from), self.parent(to));
        if !is_regular(there) || !is_regular(here) {
            return None;
        }
        let turn = local.rotation().as_dquat() * old.rotation().as_dquat().inverse();
        let (above, below) = (rotation(there), rotation(here));
        let turn = below.inverse() * self.plane.turn(above * turn * above.inverse()) * below;
        let turn = (turn * new.rotation().as_dquat()).normalize().as_quat();
        let shift = there * (local.translation().as_dvec3() - old.translation().as_dvec3());
        let shift = (here.inverse() * self.plane.direction(shift)).as_vec3();
        let axes = self.axes(from, to);
        let scale = [0, 1, 2].map(|k| {
            let (before, rest) = (local.scale[axes[k]], old.scale[axes[k]]);
            if before == rest || rest == 0.0 { new.scale[k] } else { new.scale[k] * (before / rest) }
        });
        Some(Trs { translation: (new.translation() + shift).into(), rotation: turn.into(), scale })
    }

    /// Returns, for each axis of the node `to`, the axis of the node `from` that is nearest to its mirror image.
    pub fn axes(&self, from: NodeId, to: NodeId) -> [usize; 3] {
        let [from, to] = [from, to].map(|n| rotation(self.rest[n.index()].matrix3));
        let nearest = [DVec3::X, DVec3::Y, DVec3::Z].map(|axis| {
            let along = (from.inverse() * self.plane.direction(to * axis)).abs();
            (0..3).fold(0, |best, k| if along[k] > along[best] + 1e-6 { k } else { best })
        });
        let mut sorted = nearest;
        sorted.sort_unstable();
        // Axes that do not correspond keep their order.
        if sorted == [0, 1, 2] { nearest } else { [0, 1, 2] }
    }

    /// Returns the limit of the node `to` that is the mirror image of `limit`, a limit of the node `from`. `None` if a
    /// parent has a scale of zero in the rest pose.
    pub fn limit(&self, from: NodeId, limit: &Limit, to: NodeId) -> Option<Limit> {
        if !is_regular(self.parent(from)) || !is_regular(self.parent(to)) {
            return None;
        }
        let [there, here] = [from, to].map(|n| {
            let rest = self.skeleton.nodes[n.index()].rest.rotation().as_dquat();
            rotation(self.parent(n)) * rest.normalize()
        });
        // Axes of rotation are pseudovectors: the mirror image of a rotation turns about `-M a`. The bone is a vector,
        // so z turns back, and y with it. Twist and the swing about y therefore change their sense.
        let frame = limit.frame();
        let axis = |a: DVec3| here.inverse() * -self.plane.direction(there * (frame * a));
        let [x, y, z] = [axis(DVec3::X), -axis(DVec3::Y), -axis(DVec3::Z)];
        let frame = DQuat::from_mat3(&DMat3::from_cols(x, y, z)).normalize().as_quat().into();
        let ([low, high], [right, left, up, down]) = (limit.twist, limit.swing);
        Some(Limit { frame, twist: [-high, -low], swing: [right, left, down, up] })
    }

    fn parent(&self, node: NodeId) -> DMat3 {
        let parent = self.skeleton.nodes[node.index()].parent;
        parent.map_or(DMat3::IDENTITY, |p| self.rest[p.index()].matrix3)
    }
}

/// Returns the rotation nearest to a linear map. Negates a map that mirrors.
pub(super) fn rotation(m: DMat3) -> DQuat {
    if !is_regular(m) {
        return DQuat::IDENTITY;
    }
    nearest(if m.determinant() < 0.0 { m * -1.0 } else { m })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::math::{Quat, Vec3};
    use crate::rig::testing::tree;

    #[test]
    fn a_reflected_transform_reflects_back_to_itself() {
        let (skeleton, pose) = tree();
        let mirror = Mirror::new(&skeleton).unwrap();
        let reflection = Reflection::new(&skeleton, &mirror);
        for name in ["arm.L", "elbow.L", "foot.R", "chest"] {
            let from = skeleton.find(name).unwrap();
            let to = mirror.partner(from).unwrap_or(from);
            let rest = pose.local[from.index()];
            let same = reflection.local(from, &rest, to).unwrap();
            assert!(same.translation().distance(pose.local[to.index()].translation()) < 1e-6, "{name}");
            let local = Trs::new(
                rest.translation() + Vec3::new(0.1, -0.2, 0.05),
                Quat::from_euler(glam::EulerRot::XYZ, 0.4, -0.8, 1.1) * rest.rotation(),
                rest.scale() * Vec3::new(1.5, 0.5, 2.0),
            );
            let there = reflection.local(from, &local, to).unwrap();
            let back = reflection.local(to, &there, from).unwrap();
            assert!(back.translation().distance(local.translation()) < 1e-6, "{name}");
            assert!(back.rotation().dot(local.rotation()).abs() > 1.0 - 1e-6, "{name}");
            assert!(back.scale().distance(local.scale()) < 1e-6, "{name}");
        }
    }

    #[test]
    fn a_mirrored_limit_allows_the_mirror_image_of_what_the_limit_allows() {
        let (mut skeleton, _) = tree();
        // Odd orients: the joints of the right side have other axes than those of the left.
        let odd = Quat::from_euler(glam::EulerRot::XYZ, 0.7, -0.3, 2.1);
        let id = |s: &Skeleton, name: &str| s.find(name).unwrap();
        let (arm, elbow) = (id(&skeleton, "arm.R").index(), id(&skeleton, "elbow.R").index());
        skeleton.nodes[arm].rest.rotation = odd.into();
        let place = odd.inverse() * skeleton.nodes[elbow].rest.translation();
        skeleton.nodes[elbow].rest.translation = place.into();
        skeleton.nodes[elbow].rest.rotation = odd.inverse().into();
        let mirror = Mirror::new(&skeleton).unwrap();
        let reflection = Reflection::new(&skeleton, &mirror);
        let frames = crate::rig::bone_frames(&skeleton);
        let mut random = crate::base::Random::new(17);
        for name in ["arm", "elbow"] {
            let [from, to] = [".L", ".R"].map(|side| id(&skeleton, &format!("{name}{side}")));
            let limit = Limit {
                twist: [-0.4, 0.9],
                swing: [1.2, 0.3, 0.8, 0.1],
                ..Limit::open(frames[from.index()])
            };
            let mirrored = reflection.limit(from, &limit, to).unwrap();
            assert_eq!(mirrored.twist, [-0.9, 0.4]);
            assert!(mirrored.frame().dot(frames[to.index()]).abs() > 1.0 - 1e-6, "{name}");
            let back = reflection.limit(to, &mirrored, from).unwrap();
            assert!(back.swing == limit.swing && back.frame().dot(limit.frame()).abs() > 1.0 - 1e-6);
            let bound = |limit: &Limit, n: NodeId| {
                crate::rig::JointLimit::new(limit, skeleton.nodes[n.index()].rest.rotation().as_dquat())
            };
            for _ in 0..50 {
                let turn = Quat::from_scaled_axis(random.vector() * 2.0);
                let rest = skeleton.nodes[from.index()].rest;
                let local = Trs { rotation: (turn * rest.rotation()).into(), ..rest };
                let image = reflection.local(from, &local, to).unwrap();
                let [a, b] = [(&limit, from, local), (&mirrored, to, image)]
                    .map(|(limit, node, local)| bound(limit, node).excess(local.rotation().as_dquat()));
                assert!((a - b).abs() < 1e-4, "{name}: {a} {b}");
            }
        }
    }

    #[test]
    fn a_raised_arm_becomes_the_other_raised_arm() {
        let (skeleton, mut pose) = tree();
        let mirror = Mirror::new(&skeleton).unwrap();
        let reflection = Reflection::new(&skeleton, &mirror);
        let id = |name: &str| skeleton.find(name).unwrap();
        let (left, right) = (id("arm.L"), id("arm.R"));
        let local = &mut pose.local[left.index()];
        local.rotation = (Quat::from_rotation_z(0.8) * Quat::from_rotation_y(0.3) * local.rotation()).into();
        local.translation = (local.translation() + Vec3::new(0.05, 0.1, 0.02)).into();
        pose.local[right.index()] = reflection.local(left, &pose.local[left.index()], right).unwrap();
        let rig = PosedRig::new(&skeleton, &pose);
        let at = |name: &str| rig.world[id(name).index()].translation.as_dvec3();
        assert!(reflection.plane.point(at("hand.L")).distance(at("hand.R")) < 1e-5);
    }
}
