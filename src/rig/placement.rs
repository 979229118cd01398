//! The local transform that gives a node a wanted place in the world.

use super::{is_regular, local_with, nearest, turn_between, world, world_from_parent};
use crate::base::math::{DMat3, DQuat, DVec3, Trs};
use crate::base::{Error, NodeId, Result};
use crate::rig::{Pose, Skeleton};

/// Largest number of steps of the search for the rotation.
const STEPS: usize = 60;
/// Step of the numeric derivative, radians.
const STEP: f64 = 1e-5;

/// Returns the local transform that gives a node a world position (metres) and a world rotation. Without one of these,
/// its part of the local transform stays. The scale stays.
///
/// The world rotation of a node is defined as the rotation nearest to the linear part of its world transform, as in
/// [`rotation_of`](crate::base::math::rotation_of). Under parents with a non-uniform scale, the local rotation is found
/// by Newton's method.
///
/// # Errors
/// A value is not finite, the node or a parent has a scale of zero, or no rotation is found.
pub fn local_from_world(
    skeleton: &Skeleton,
    pose: &Pose,
    node: NodeId,
    position: Option<DVec3>,
    rotation: Option<DQuat>,
) -> Result<Trs> {
    let i = node.index();
    let (Some(of_node), Some(mut local)) = (skeleton.nodes.get(i), pose.local.get(i).copied()) else {
        return Err(super::names::unknown_node(skeleton, &format!("#{i}")));
    };
    let name = &of_node.name;
    if !position.is_none_or(DVec3::is_finite) || !rotation.is_none_or(DQuat::is_finite) {
        let problem = format!("{name:?} cannot be placed: a value is not finite");
        return Err(Error::input(problem, "give finite numbers"));
    }
    let parent = world_from_parent(skeleton, node, &world(skeleton, pose));
    let flat = || {
        let problem = format!("{name:?} cannot be placed in the world: it or its parent has a scale of zero");
        Error::input(problem, "set the scale to another value first")
    };
    if !is_regular(parent.matrix3) {
        return Err(flat());
    }
    let mut turn = local.rotation().as_dquat().normalize();
    if let Some(wanted) = rotation {
        let linear = |turn| parent.matrix3 * local_with(skeleton, node, pose, turn, DVec3::ZERO).matrix3;
        if !is_regular(linear(turn)) {
            return Err(flat());
        }
        turn = solve(parent.matrix3, linear, wanted.normalize(), turn).ok_or_else(|| {
            let problem = format!("{name:?} cannot have this rotation in the world: its parents shear it");
            Error::input(problem, "set the local rotation instead")
        })?;
        local.rotation = turn.as_quat().normalize().into();
    }
    if let Some(position) = position {
        // The place of the node's origin if its own translation is zero.
        let origin = parent * local_with(skeleton, node, pose, turn, DVec3::ZERO);
        local.translation = (parent.matrix3.inverse() * (position - origin.translation)).as_vec3().into();
    }
    Ok(local)
}

/// Returns the rotation nearest to a linear map, as a rotation vector relative to `wanted`.
fn error(linear: DMat3, wanted: DQuat) -> DVec3 {
    let linear = if linear.determinant() < 0.0 { linear * -1.0 } else { linear };
    let turn = wanted * nearest(linear).inverse();
    let turn = if turn.w < 0.0 { -turn } else { turn };
    turn.to_scaled_axis()
}

/// Finds the local rotation for which `linear` has the rotation `wanted`.
fn solve(parent: DMat3, linear: impl Fn(DQuat) -> DMat3, wanted: DQuat, mut turn: DQuat) -> Option<DQuat> {
    for _ in 0..STEPS {
        let off = error(linear(turn), wanted);
        let angle = off.length();
        if !angle.is_finite() {
            return None;
        }
        if angle < 1e-12 {
            return Some(turn);
        }
        // Far from the solution, rotate by the remaining rotation as if the scales were uniform.
        let coarse = turn_between(parent, DQuat::from_scaled_axis(off), parent);
        let mut best = coarse.map(|t| (t * turn).normalize());
        if angle < 1.0 {
            let axes = [DVec3::X, DVec3::Y, DVec3::Z];
            let slope = axes.map(|axis| {
                let near = DQuat::from_scaled_axis(axis * STEP) * turn;
                (off - error(linear(near), wanted)) / STEP
            });
            let slope = DMat3::from_cols(slope[0], slope[1], slope[2]);
            if is_regular(slope) {
                let newton = (DQuat::from_scaled_axis(slope.inverse() * off) * turn).normalize();
                let left = |q: DQuat| error(linear(q), wanted).length();
                best = best.filter(|coarse| left(*coarse) < left(newton)).or(Some(newton));
            }
        }
        turn = best?;
    }
    (error(linear(turn), wanted).length() < 1e-6).then_some(turn)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::math::{Quat, Vec3, rotation_of};
    use crate::rig::testing::skeleton;

    fn scaled(parent: Vec3) -> (Skeleton, Pose) {
        skeleton(&[
            ("root", None, Trs::new(Vec3::Y, Quat::from_rotation_x(0.6), Vec3::splat(0.01))),
            ("arm", Some(0), Trs::new(Vec3::X * 30.0, Quat::from_rotation_z(0.7), parent)),
            ("tip", Some(1), Trs::new(Vec3::new(5.0, 2.0, 1.0), Quat::from_rotation_y(0.3), Vec3::ONE)),
        ])
    }

    #[test]
    fn a_node_reaches_a_place_and_a_rotation_under_parents_with_any_scale() {
        let scales = [Vec3::ONE, Vec3::splat(3.0), Vec3::new(-2.0, 2.0, 2.0), Vec3::new(1.0, 1.6, 0.7)];
        for scale in scales {
            let (skeleton, mut pose) = scaled(scale);
            for k in 0..20 {
                let k = k as f32;
                let wanted = Quat::from_euler(glam::EulerRot::XYZ, 0.9 * k, 0.4 - 0.3 * k, 0.2 * k);
                let place = Vec3::new(0.3, 1.2 - 0.05 * k, 0.1 * k);
                let at = NodeId(2);
                let (position, rotation) = (Some(place.as_dvec3()), Some(wanted.as_dquat()));
                pose.local[2] = local_from_world(&skeleton, &pose, at, position, rotation).unwrap();
                let world = pose.world(&skeleton)[2];
                assert!(Vec3::from(world.translation).distance(place) < 1e-5, "{scale} {k} {world:?}");
                let apart = rotation_of(&world).dot(wanted).abs();
                assert!(apart > 1.0 - 1e-6, "{scale} {k} {apart}");
            }
        }
    }

    #[test]
    fn only_the_given_part_changes() {
        let (skeleton, pose) = scaled(Vec3::splat(2.0));
        let moved = local_from_world(&skeleton, &pose, NodeId(2), Some(DVec3::ONE), None).unwrap();
        assert_eq!((moved.rotation, moved.scale), (pose.local[2].rotation, pose.local[2].scale));
        let turned = local_from_world(&skeleton, &pose, NodeId(2), None, Some(DQuat::IDENTITY)).unwrap();
        assert_eq!((turned.translation, turned.scale), (pose.local[2].translation, pose.local[2].scale));
    }

    #[test]
    fn a_scale_of_zero_and_values_that_are_not_finite_are_refused_by_name() {
        let (skeleton, pose) = scaled(Vec3::new(1.0, 0.0, 1.0));
        let at = NodeId(2);
        let says = |position, rotation| {
            local_from_world(&skeleton, &pose, at, position, rotation).unwrap_err().to_string()
        };
        assert!(says(Some(DVec3::ONE), None).contains("\"tip\""));
        assert!(says(Some(DVec3::NAN), None).contains("not finite"));
        assert!(says(None, Some(DQuat::from_xyzw(f64::NAN, 0.0, 0.0, 1.0))).contains("\"tip\""));
        assert!(local_from_world(&skeleton, &pose, NodeId(9), None, None).is_err());
    }
}
