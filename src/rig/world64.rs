//! World transforms in f64: f32 loses precision when posing derives local transforms from world positions.

use crate::base::NodeId;
use crate::base::math::{Affine3A, DAffine3, DMat3, DQuat, DVec3};
use crate::rig::{Pose, Skeleton};

/// Returns the f64 matrix of a node's local transform, including the file's shear and the change of the rest shape.
pub(crate) fn local_affine(skeleton: &Skeleton, node: NodeId, pose: &Pose) -> DAffine3 {
    let trs = &pose.local[node.index()];
    let (rotation, translation) = (trs.rotation().as_dquat().normalize(), trs.translation().as_dvec3());
    local_with(skeleton, node, pose, rotation, translation)
}

/// Like [`local_affine`], with the given rotation and translation in place of those of the pose.
pub(crate) fn local_with(
    skeleton: &Skeleton,
    node: NodeId,
    pose: &Pose,
    rotation: DQuat,
    translation: DVec3,
) -> DAffine3 {
    let scale = pose.local[node.index()].scale().as_dvec3();
    let translation = translation + pose.rest.local(node).as_dvec3();
    let affine = DAffine3::from_scale_rotation_translation(scale, rotation, translation);
    match &skeleton.nodes[node.index()].remainder {
        Some(remainder) => affine * wide(remainder),
        None => affine,
    }
}

/// Returns `world_from_node` of all nodes.
pub(crate) fn world(skeleton: &Skeleton, pose: &Pose) -> Vec<DAffine3> {
    let mut world = vec![DAffine3::IDENTITY; skeleton.nodes.len()];
    world_into(skeleton, pose, &mut world);
    world
}

/// Writes `world_from_node` of all nodes into `world`, which has one entry per node.
pub(crate) fn world_into(skeleton: &Skeleton, pose: &Pose, world: &mut [DAffine3]) {
    for &id in &skeleton.order {
        world[id.index()] = world_from_parent(skeleton, id, world) * local_affine(skeleton, id, pose);
    }
}

/// Returns `world_from_parent` of a node; the identity for a root.
pub(crate) fn world_from_parent(skeleton: &Skeleton, node: NodeId, world: &[DAffine3]) -> DAffine3 {
    skeleton.nodes[node.index()].parent.map_or(DAffine3::IDENTITY, |p| world[p.index()])
}

/// Converts a world-space rotation to the local rotation of a node: the rotation nearest to `now^-1 * turn * before`.
/// `before` and `now` are the linear parts of the parent's world transform, before and after the rotation respectively.
/// Exact if the parents only rotate, scale uniformly and mirror. `None` if a parent has a zero scale.
pub(crate) fn turn_between(before: DMat3, turn: DQuat, now: DMat3) -> Option<DQuat> {
    if !is_regular(before) || !is_regular(now) {
        return None;
    }
    let m = now.inverse() * DMat3::from_quat(turn) * before;
    (m.determinant() > 1e-12).then(|| nearest(m))
}

/// Returns whether a linear map can be inverted without large rounding errors.
pub(crate) fn is_regular(m: DMat3) -> bool {
    let largest = m.x_axis.length().max(m.y_axis.length()).max(m.z_axis.length());
    largest.is_finite() && largest > 0.0 && (m * (1.0 / largest)).determinant().abs() > 1e-9
}

/// Returns the rotation nearest to a map with positive determinant (Higham's polar iteration).
pub(crate) fn nearest(mut m: DMat3) -> DQuat {
    for _ in 0..40 {
        let next = (m + m.inverse().transpose()) * 0.5;
        let change = (next - m).to_cols_array().iter().map(|v| v.abs()).fold(0.0, f64::max);
        m = next;
        if change < 1e-15 {
            break;
        }
    }
    DQuat::from_mat3(&m).normalize()
}

/// Returns the smallest rotation that maps one direction to another.
pub(crate) fn smallest_turn(from: DVec3, to: DVec3) -> DQuat {
    let (Some(from), Some(to)) = (from.try_normalize(), to.try_normalize()) else {
        return DQuat::IDENTITY;
    };
    DQuat::from_rotation_arc(from, to)
}

/// Returns the rotation that best maps the first vector of each pair to the second, weighted by length (Kabsch 1976 in
/// Horn's quaternion form, 1987). If the vectors leave it undetermined, the rotation nearest to the identity is chosen.
pub(crate) fn best_turn(pairs: &[(DVec3, DVec3)]) -> DQuat {
    if let [(from, to)] = pairs {
        return smallest_turn(*from, *to);
    }
    let scale: f64 = pairs.iter().map(|(a, b)| a.length() * b.length()).sum();
    if !scale.is_finite() || scale <= 0.0 {
        return DQuat::IDENTITY;
    }
    let mut h = DMat3::from_diagonal(DVec3::splat(1e-9));
    for (a, b) in pairs {
        h += DMat3::from_cols(*a * b.x, *a * b.y, *a * b.z) * (1.0 / scale);
    }
    // Matrix element: h.col(j)[i] = sum a_i b_j
    let s = |i: usize, j: usize| h.col(j)[i];
    let n = [
        [s(0, 0) + s(1, 1) + s(2, 2), s(1, 2) - s(2, 1), s(2, 0) - s(0, 2), s(0, 1) - s(1, 0)],
        [s(1, 2) - s(2, 1), s(0, 0) - s(1, 1) - s(2, 2), s(0, 1) + s(1, 0), s(2, 0) + s(0, 2)],
        [s(2, 0) - s(0, 2), s(0, 1) + s(1, 0), s(1, 1) - s(0, 0) - s(2, 2), s(1, 2) + s(2, 1)],
        [s(0, 1) - s(1, 0), s(2, 0) + s(0, 2), s(1, 2) + s(2, 1), s(2, 2) - s(0, 0) - s(1, 1)],
    ];
    let [w, x, y, z] = largest_eigenvector(n);
    DQuat::from_xyzw(x, y, z, w).normalize()
}

/// Returns the eigenvector of the largest eigenvalue of a symmetric matrix, by cyclic Jacobi rotations.
fn largest_eigenvector(mut a: [[f64; 4]; 4]) -> [f64; 4] {
    let mut v = [[0.0; 4]; 4];
    for (i, row) in v.iter_mut().enumerate() {
        row[i] = 1.0;
    }
    for _ in 0..30 {
        for p in 0..3 {
            for q in p + 1..4 {
                if a[p][q].abs() < 1e-300 {
                    continue;
                }
                let theta = 0.5 * (2.0 * a[p][q]).atan2(a[q][q] - a[p][p]);
                let (sin, cos) = theta.sin_cos();
                for row in a.iter_mut().chain(&mut v) {
                    (row[p], row[q]) = (cos * row[p] - sin * row[q], sin * row[p] + cos * row[q]);
                }
                let (upper, lower) = a.split_at_mut(q);
                for (x, y) in upper[p].iter_mut().zip(&mut lower[0]) {
                    (*x, *y) = (cos * *x - sin * *y, sin * *x + cos * *y);
                }
            }
        }
    }
    let best = (0..4).fold(0, |best, i| if a[i][i] > a[best][best] { i } else { best });
    [v[0][best], v[1][best], v[2][best], v[3][best]]
}

fn wide(map: &Affine3A) -> DAffine3 {
    DAffine3::from_mat3_translation(
        DMat3::from_cols(
            map.matrix3.x_axis.as_dvec3(),
            map.matrix3.y_axis.as_dvec3(),
            map.matrix3.z_axis.as_dvec3(),
        ),
        map.translation.as_dvec3(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn best_turn_recovers_a_rotation_and_prefers_the_smallest() {
        let q = DQuat::from_axis_angle(DVec3::new(1.0, 2.0, -0.5).normalize(), 2.1);
        let v = [DVec3::new(1.0, 0.2, 0.0), DVec3::new(-0.3, 1.0, 0.4), DVec3::new(0.1, 0.0, 2.0)];
        let pairs: Vec<_> = v.iter().map(|v| (*v, q * *v)).collect();
        assert!(best_turn(&pairs).angle_between(q) < 1e-7);
        assert!(best_turn(&pairs[..2]).angle_between(q) < 1e-7);
        // Two parallel vectors do not determine the twist; the result has no twist.
        let line = [(DVec3::X, DVec3::Y), (DVec3::X * 2.0, DVec3::Y * 2.0)];
        assert!(best_turn(&line).angle_between(DQuat::from_rotation_z(std::f64::consts::FRAC_PI_2)) < 1e-4);
        // For a reflection, the result is a rotation, not a mirror.
        let mirrored: Vec<_> = v.iter().map(|v| (*v, DVec3::new(-v.x, v.y, v.z))).collect();
        assert!(best_turn(&mirrored).is_normalized());
        assert_eq!(best_turn(&[]), DQuat::IDENTITY);
    }

    #[test]
    fn a_turn_seen_in_a_mirrored_parent_turns_the_same_world_vector() {
        let parent =
            DMat3::from_quat(DQuat::from_rotation_x(0.7)) * DMat3::from_diagonal(DVec3::new(-2.0, 2.0, 2.0));
        let turn = DQuat::from_rotation_y(1.1);
        let local = turn_between(parent, turn, parent).unwrap();
        let v = DVec3::new(0.3, -0.4, 0.8);
        assert!((parent * (local * v) - turn * (parent * v)).length() < 1e-12);
        assert!(turn_between(DMat3::ZERO, turn, parent).is_none());
    }
}
