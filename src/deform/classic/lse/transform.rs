//! The transform of a cell as a linear function of the positions of its vertices (thesis eq. 4).

use crate::base::math::{DMat3, DQuat, DVec3};
use crate::geom::fit_rotation;

/// Relative moment of inertia below which a cell counts as a line, which determines no rotation about itself.
const FLAT: f64 = 1e-12;

/// `(AᵀA)⁻¹` of eq. 4, in parts. Relative to the cell's centre, scale, rotation and translation decouple.
pub(super) struct Frame {
    center: DVec3,
    /// Differential coordinate (eq. 3) at rest.
    delta: DVec3,
    /// Inverse of the sum of squared distances from the centre; 0 if all vertices of the cell coincide.
    inverse_size: f64,
    /// Inverse inertia tensor about the centre; 0 about an axis that contains all vertices.
    inverse_inertia: DMat3,
}

/// Returns the matrix of the map `v -> a × v`.
fn cross(a: DVec3) -> DMat3 {
    DMat3::from_cols(DVec3::new(0.0, a.z, -a.y), DVec3::new(-a.z, 0.0, a.x), DVec3::new(a.y, -a.x, 0.0))
}

/// Returns the matrix `a bᵀ`.
fn outer(a: DVec3, b: DVec3) -> DMat3 {
    DMat3::from_cols(a * b.x, a * b.y, a * b.z)
}

impl Frame {
    /// Computes the frame of the cell of vertex `i`.
    pub fn new(rest: &[DVec3], i: usize, ring: &[u32]) -> Self {
        let points = || std::iter::once(rest[i]).chain(ring.iter().map(|&k| rest[k as usize]));
        let count = (ring.len() + 1) as f64;
        let center = points().sum::<DVec3>() / count;
        let mean = ring.iter().map(|&k| rest[k as usize]).sum::<DVec3>() / ring.len().max(1) as f64;
        let delta = if ring.is_empty() { DVec3::ZERO } else { rest[i] - mean };
        let size: f64 = points().map(|p| p.distance_squared(center)).sum();
        let second = points().fold(DMat3::ZERO, |m, p| m + outer(p - center, p - center));
        let inertia = DMat3::from_diagonal(DVec3::splat(size)) - second;
        Self {
            center,
            delta,
            inverse_size: if size > 0.0 { 1.0 / size } else { 0.0 },
            inverse_inertia: pseudo_inverse(inertia, size),
        }
    }

    /// Returns the contribution of a cell vertex to `T_i δ_i`, as a matrix that applies to its new position:
    /// `s δ + h × δ` with `s = Σ c·x' / Σ |c|²` and `h = J⁻¹ Σ c × x'`. `rest` is the vertex's rest position.
    pub fn transform_of(&self, rest: DVec3) -> DMat3 {
        let c = rest - self.center;
        outer(self.delta, c) * self.inverse_size - cross(self.delta) * self.inverse_inertia * cross(c)
    }

    /// Returns `δ_i`, transformed by the rotation and scale that best fit the cell's new positions.
    pub fn similar(&self, rest: &[DVec3], now: &[DVec3], i: usize, ring: &[u32]) -> DVec3 {
        let cell = || std::iter::once(i).chain(ring.iter().map(|&k| k as usize));
        let covariance = cell().fold(DMat3::ZERO, |m, k| m + outer(rest[k] - self.center, now[k]));
        let rotation = fit_rotation(covariance, DQuat::IDENTITY);
        let along: f64 = cell().map(|k| (rotation * (rest[k] - self.center)).dot(now[k])).sum();
        rotation * self.delta * (along * self.inverse_size).max(0.0)
    }
}

/// Returns the pseudo-inverse of a symmetric positive semidefinite matrix with trace `2 size`: zero along an axis
/// with eigenvalue zero. The matrix is an inertia tensor, so at most one eigenvalue is zero unless all are.
fn pseudo_inverse(m: DMat3, size: f64) -> DMat3 {
    if size.is_nan() || size <= 0.0 {
        return DMat3::ZERO;
    }
    let unit = m * (1.0 / size);
    if unit.determinant() > FLAT {
        return unit.inverse() * (1.0 / size);
    }
    // The points lie on a line: both other moments are `size`.
    let axis = [DVec3::X, DVec3::Y, DVec3::Z].map(|e| e - unit * e);
    let axis = axis.into_iter().fold(DVec3::ZERO, |a, b| if b.length() > a.length() { b } else { a });
    let axis = axis.normalize_or_zero();
    (DMat3::IDENTITY - outer(axis, axis)) * (1.0 / size)
}
