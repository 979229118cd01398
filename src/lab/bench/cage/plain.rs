//! Plain implementations on one thread: baselines for the times of [`crate::cage`].
//!
//! They compute the formulas as printed, without preparation: T. Ju, S. Schaefer, J. Warren, *Mean value coordinates for
//! closed triangular meshes*, 2005, figure 4; *Real-time Deformation with Coupled Cages and Skeletons*, equations 7, 8 and
//! 16 to 19.

use crate::base::math::{DMat3, DVec3};
use faer::Mat;
use faer::linalg::solvers::{PartialPivLu, Solve};
use std::f64::consts::PI;

/// A point nearer to a vertex than this, metres, lies on it. A smaller angle or determinant counts as zero.
const NEAR: f64 = 1e-12;

/// Returns the mean value coordinates of `points` (P) in a closed mesh with vertices `corners` (C), P x C.
pub(super) fn mean_value(corners: &[DVec3], triangles: &[[u32; 3]], points: &[DVec3]) -> Vec<f64> {
    let mut out = Vec::with_capacity(points.len() * corners.len());
    for &x in points {
        let mut row = vec![0.0; corners.len()];
        let distance: Vec<f64> = corners.iter().map(|p| p.distance(x)).collect();
        if let Some(on) = distance.iter().position(|&d| d < NEAR) {
            row[on] = 1.0;
            out.extend(row);
            continue;
        }
        for corners_of in triangles {
            let at = corners_of.map(|v| v as usize);
            let d = at.map(|v| distance[v]);
            let u = [0, 1, 2].map(|k| (corners[at[k]] - x) / d[k]);
            let angle =
                [0, 1, 2].map(|k| 2.0 * (0.5 * u[(k + 1) % 3].distance(u[(k + 2) % 3])).min(1.0).asin());
            let half = 0.5 * (angle[0] + angle[1] + angle[2]);
            if PI - half < NEAR {
                // The point lies on the triangle, so it gets its barycentric coordinates.
                row.fill(0.0);
                for k in 0..3 {
                    row[at[k]] += angle[k].sin() * d[(k + 1) % 3] * d[(k + 2) % 3];
                }
                break;
            }
            let sign = u[0].dot(u[1].cross(u[2])).signum();
            let cosine = [0, 1, 2].map(|k| {
                2.0 * half.sin() * (half - angle[k]).sin()
                    / (angle[(k + 1) % 3].sin() * angle[(k + 2) % 3].sin())
                    - 1.0
            });
            let sine = cosine.map(|c| sign * (1.0 - c * c).max(0.0).sqrt());
            if sine.iter().any(|s| s.abs() <= NEAR) {
                continue;
            }
            for k in 0..3 {
                let (i, j) = ((k + 1) % 3, (k + 2) % 3);
                row[at[k]] += (angle[k] - cosine[i] * angle[j] - cosine[j] * angle[i])
                    / (d[k] * angle[i].sin() * sine[j]);
            }
        }
        let sum: f64 = row.iter().sum();
        out.extend(row.into_iter().map(|w| w / sum));
    }
    out
}

/// Returns the offsets of the skin for the offsets of the cage's vertices (equation 7).
pub(super) fn skin_offsets(phi: &[f32], offsets: &[DVec3]) -> Vec<DVec3> {
    let of = |row: &[f32]| row.iter().zip(offsets).map(|(&w, &d)| d * f64::from(w)).sum();
    phi.chunks(offsets.len()).map(of).collect()
}

/// Returns the current cage for the posed positions of the selected vertices (equation 8). `forward` holds the
/// coordinates of the selected vertices, C x C.
pub(super) fn cage_up(forward: &[f64], posed: &[DVec3]) -> Vec<DVec3> {
    let columns = posed.len();
    let mut sides = Mat::from_fn(columns, 3, |m, axis| posed[m][axis]);
    solve(Mat::from_fn(columns, columns, |m, i| forward[m * columns + i]), &mut sides);
    (0..columns).map(|i| DVec3::new(sides[(i, 0)], sides[(i, 1)], sides[(i, 2)])).collect()
}

fn solve(matrix: Mat<f64>, sides: &mut Mat<f64>) {
    PartialPivLu::new(matrix.as_ref()).solve_in_place(sides.as_mut());
}

/// The input of CageRev that does not depend on the pose.
pub(super) struct Given<'a> {
    /// Coordinates of the selected vertices, C x C.
    pub forward: &'a [f64],
    /// Coordinates of the joints, J x C.
    pub psi: &'a [f64],
    /// Joints and weights of each selected vertex.
    pub weights: &'a [Vec<(usize, f64)>],
    /// Parent of each joint.
    pub parents: &'a [Option<usize>],
}

/// Returns the offsets of the rest cage for offsets of the current cage (equation 19). `linear` holds the linear part of
/// each joint's transform.
pub(super) fn reverse(given: &Given<'_>, linear: &[DMat3], current: &[DVec3]) -> Vec<DVec3> {
    let (columns, joints) = (current.len(), given.parents.len());
    // Equations 16 to 18. All columns of B act on whole vectors, so B is J x J and A psi is J x 9C.
    let incidence = Mat::from_fn(joints, joints, |j, k| match given.parents[j] {
        Some(f) if k == f => 1.0,
        Some(_) if k == j => -1.0,
        None if k == j => 1.0,
        _ => 0.0,
    });
    let blocks: Vec<DMat3> = (0..joints)
        .map(|j| match given.parents[j] {
            Some(f) => linear[j] - linear[f],
            None => DMat3::IDENTITY - linear[j],
        })
        .collect();
    let mut translations = Mat::from_fn(joints, 9 * columns, |j, k| {
        let (i, entry) = (k / 9, k % 9);
        blocks[j].col(entry % 3)[entry / 3] * given.psi[j * columns + i]
    });
    solve(incidence, &mut translations);
    let blend = |m: usize| -> DMat3 { given.weights[m].iter().map(|&(j, w)| linear[j] * w).sum() };
    let rotations: Vec<DMat3> = (0..columns).map(blend).collect();
    let matrix = Mat::from_fn(3 * columns, 3 * columns, |row, column| {
        let (m, r, i, c) = (row / 3, row % 3, column / 3, column % 3);
        let moved: f64 =
            given.weights[m].iter().map(|&(j, w)| w * translations[(j, 9 * i + 3 * r + c)]).sum();
        rotations[m].col(c)[r] * given.forward[m * columns + i] + moved
    });
    let posed = |m: usize| -> DVec3 {
        let row = &given.forward[m * columns..(m + 1) * columns];
        row.iter().zip(current).map(|(&w, &d)| d * w).sum()
    };
    let mut sides = Mat::from_fn(3 * columns, 1, |row, _| posed(row / 3)[row % 3]);
    solve(matrix, &mut sides);
    (0..columns)
        .map(|i| DVec3::new(sides[(3 * i, 0)], sides[(3 * i + 1, 0)], sides[(3 * i + 2, 0)]))
        .collect()
}
