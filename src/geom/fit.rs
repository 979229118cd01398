//! Fits a rotation to pairs of vectors.

use crate::base::math::{DMat3, DQuat};

/// Maximum sweeps of the Jacobi eigenvalue iteration; three suffice with a good guess.
const MAX_SWEEPS: usize = 24;

/// Maximum number of updates of a rotation. If the updates have not converged by then, [`fit_rotation`] computes the
/// rotation.
const UPDATES: usize = 12;
/// The updates of a rotation end when the squared half-angle of an update is below this.
const EXACT: f64 = 1e-18;

/// Returns the rotation `R` that minimises `Σ w |e' - R e|²` over pairs of vectors `e`, `e'` with weights `w`.
/// `covariance` is `Σ w e e'ᵀ`. The determinant of `R` is 1, even with negative weights.
///
/// Method: Horn, "Closed-form solution of absolute orientation using unit quaternions", 1987. The quaternion is the
/// eigenvector of the largest eigenvalue of a symmetric 4 x 4 matrix, found by Jacobi rotations. `guess` is a unit
/// quaternion that speeds up convergence. It is returned if the covariance is zero or not finite. If several rotations
/// fit equally well, as for points on a line, a rotation near `guess` is chosen.
pub fn fit_rotation(covariance: DMat3, guess: DQuat) -> DQuat {
    let turned = DMat3::from_quat(guess) * covariance;
    let largest = turned.to_cols_array().iter().fold(0.0f64, |m, v| m.max(v.abs()));
    if !(largest > 0.0 && turned.is_finite()) {
        return guess;
    }
    let s = turned * (1.0 / largest);
    let [[xx, yx, zx], [xy, yy, zy], [xz, yz, zz]] = s.to_cols_array_2d();
    let mut a = [
        [xx + yy + zz, yz - zy, zx - xz, xy - yx],
        [yz - zy, xx - yy - zz, xy + yx, zx + xz],
        [zx - xz, xy + yx, yy - xx - zz, yz + zy],
        [xy - yx, zx + xz, yz + zy, zz - xx - yy],
    ];
    let mut vectors =
        [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]];
    for _ in 0..MAX_SWEEPS {
        let off: f64 = PAIRS.iter().map(|&(p, q)| a[p][q] * a[p][q]).sum();
        if off <= 1e-32 {
            break;
        }
        for (p, q) in PAIRS {
            rotate(&mut a, &mut vectors, p, q);
        }
    }
    // If eigenvalues are equal, the first is taken. A covariance that prefers no rotation therefore gives the guess.
    let best = (1..4).fold(0, |best, k| if a[k][k] > a[best][best] + 1e-12 { k } else { best });
    let [w, x, y, z] = vectors.map(|row| row[best]);
    (DQuat::from_xyzw(x, y, z, w).normalize() * guess).normalize()
}

/// Computes the rotation of [`fit_rotation`] by a few updates of `guess`, which is fast if `guess` is near it.
pub fn nearest_rotation(covariance: DMat3, guess: DQuat) -> DQuat {
    let to = covariance.transpose();
    let scale = (to.x_axis.length() + to.y_axis.length() + to.z_axis.length()) / 3.0;
    let mut q = guess;
    for _ in 0..UPDATES {
        let r = DMat3::from_quat(q);
        let torque = r.x_axis.cross(to.x_axis) + r.y_axis.cross(to.y_axis) + r.z_axis.cross(to.z_axis);
        let trace = r.x_axis.dot(to.x_axis) + r.y_axis.dot(to.y_axis) + r.z_axis.dot(to.z_axis);
        let v = torque / (trace + scale).max(0.1 * scale).max(f64::MIN_POSITIVE);
        q = (DQuat::from_xyzw(v.x, v.y, v.z, 1.0) * q).normalize();
        // A rotation 180° away from the optimum is also a stationary point, but not a maximum.
        if v.length_squared() < EXACT && trace > 0.0 && q.is_finite() {
            return q;
        }
    }
    fit_rotation(covariance, guess)
}

const PAIRS: [(usize, usize); 6] = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)];

/// Applies one Jacobi rotation that makes `a[p][q]` zero; the columns of `vectors` are the eigenvectors.
fn rotate(a: &mut [[f64; 4]; 4], vectors: &mut [[f64; 4]; 4], p: usize, q: usize) {
    if a[p][q].abs() < 1e-300 {
        return;
    }
    let theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
    let t = theta.signum() / (theta.abs() + theta.hypot(1.0));
    let c = 1.0 / t.hypot(1.0);
    let s = t * c;
    for row in a.iter_mut() {
        (row[p], row[q]) = (c * row[p] - s * row[q], s * row[p] + c * row[q]);
    }
    let (rp, rq) = (a[p], a[q]);
    for k in 0..4 {
        a[p][k] = c * rp[k] - s * rq[k];
        a[q][k] = s * rp[k] + c * rq[k];
    }
    for row in vectors.iter_mut() {
        (row[p], row[q]) = (c * row[p] - s * row[q], s * row[p] + c * row[q]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::math::DVec3;

    fn outer(e: DVec3, to: DVec3) -> DMat3 {
        DMat3::from_cols(e * to.x, e * to.y, e * to.z)
    }

    fn covariance(edges: &[(DVec3, DVec3)]) -> DMat3 {
        edges.iter().fold(DMat3::ZERO, |m, &(e, to)| m + outer(e, to))
    }

    #[test]
    fn a_rotation_is_found_again_from_space_and_from_a_plane() {
        let guesses = [DQuat::IDENTITY, DQuat::from_rotation_z(2.9), DQuat::from_rotation_x(-1.0)];
        for (axis, angle) in [(DVec3::X, 0.3), (DVec3::new(1.0, -2.0, 0.5), 3.1), (DVec3::Z, -3.1)] {
            let r = DQuat::from_axis_angle(axis.normalize(), angle);
            let space = [DVec3::X, DVec3::new(0.2, 3.0, 0.0), DVec3::new(-1.0, 0.3, 0.7)];
            for edges in [&space[..], &space[..2]] {
                let pairs: Vec<_> = edges.iter().map(|&e| (e, r * e)).collect();
                for guess in guesses {
                    let found = fit_rotation(covariance(&pairs), guess);
                    assert!(found.dot(r).abs() > 1.0 - 1e-13, "{axis} {angle} {found}");
                }
            }
        }
    }

    #[test]
    fn no_other_rotation_fits_better_and_reflections_are_refused() {
        let mirrored: Vec<_> = [DVec3::X, DVec3::Y, DVec3::Z * 0.4].map(|e| (e, -e)).to_vec();
        let skewed = [
            (DVec3::X, DVec3::new(0.9, 0.4, -0.3)),
            (DVec3::Y * 2.0, DVec3::new(0.1, 1.0, 1.7)),
            (DVec3::Z, DVec3::new(-0.6, 0.2, 0.1)),
        ];
        for edges in [&mirrored[..], &skewed] {
            let cost = |r: DQuat| edges.iter().map(|&(e, to)| (to - r * e).length_squared()).sum::<f64>();
            let found = fit_rotation(covariance(edges), DQuat::IDENTITY);
            assert!((found.length() - 1.0).abs() < 1e-12);
            for i in 0..4000u32 {
                // A spiral over all axes and angles.
                let (t, u) = (f64::from(i) / 4000.0, f64::from(i) * 2.399_963);
                let z = 2.0 * t - 1.0;
                let axis = DVec3::new(u.cos() * (1.0 - z * z).sqrt(), u.sin() * (1.0 - z * z).sqrt(), z);
                let other = DQuat::from_axis_angle(axis.normalize(), f64::from(i) * 0.7);
                assert!(cost(found) <= cost(other) + 1e-12);
                assert!(cost(found) <= cost((other * 1e-4 + found).normalize()) + 1e-12);
            }
        }
    }

    #[test]
    fn updates_find_the_rotation_that_a_fit_finds() {
        let mut random = crate::base::Random::new(3);
        let mut vector = || random.vector().as_dvec3();
        for round in 0..500 {
            let covariance = DMat3::from_cols(vector(), vector(), vector());
            let fitted = fit_rotation(covariance, DQuat::IDENTITY);
            let singular = (covariance.transpose() * covariance).determinant().abs() < 1e-3;
            let found =
                nearest_rotation(covariance, (fitted * DQuat::from_scaled_axis(vector())).normalize());
            assert!(singular || found.dot(fitted).abs() > 1.0 - 1e-9, "{round}: {found} {fitted}");
        }
        assert!(nearest_rotation(DMat3::ZERO, DQuat::IDENTITY).is_finite());
    }

    #[test]
    fn what_cannot_be_told_is_the_guess() {
        let guess = DQuat::from_rotation_y(0.4);
        assert_eq!(fit_rotation(DMat3::ZERO, guess), guess);
        assert_eq!(fit_rotation(DMat3::from_cols(DVec3::NAN, DVec3::X, DVec3::Y), guess), guess);
        // The guess already rotates this line correctly, so the fit adds no twist.
        let line = covariance(&[(DVec3::X, guess * DVec3::X)]);
        assert!(fit_rotation(line, guess).dot(guess).abs() > 1.0 - 1e-12);
        assert!(fit_rotation(line * 1e-200, guess).dot(guess).abs() > 1.0 - 1e-12);
    }
}
