//! The local step: finds, for every 3x3 block `S`, the rotation `Q` with the largest `⟨Q, S⟩`, never a reflection.
//!
//! (differs) The paper uses the singular value decomposition. Here Newton's method on the rotation group starts from
//! the rotation of the previous iteration. With `A = QᵀS`, the gradient is the axial vector of the skew part of `A`,
//! and the Hessian is `tr(A) I - sym(A)`. A shift makes an indefinite Hessian definite, so that the step increases
//! `⟨Q, S⟩`. `⟨Q, S⟩` has no local maximum other than the global one, so a small gradient with a definite Hessian
//! proves that the rotation is optimal. If that fails after a few steps, the rotation is computed from the largest
//! eigenvector of Horn's matrix ("Closed-form solution of absolute orientation using unit quaternions", 1987). If `S`
//! does not determine the rotation about an axis, the previous rotation about that axis is kept.

use super::lane::Lane;
use pulp::Simd;

/// Maximum number of Newton steps.
const STEPS: usize = 5;
/// The iteration ends when the squared angle of a Newton step is less than this, squared radians. The error is then
/// below f32's precision.
const SMALL: f32 = 1e-6;
/// Regularisation of the Hessian as a fraction of `|S|`. It keeps the previous rotation where `S` determines none.
const OPEN: f32 = 1e-5;
/// Rotations of several clusters, one cluster per SIMD lane.
pub(super) struct Turned<S: Simd> {
    /// Unit quaternions, `x y z w`.
    pub quat: [Lane<S>; 4],
    /// The rotation matrices of `quat`, row-major.
    pub matrix: [Lane<S>; 9],
    /// Per lane: positive if the rotation is proven to be optimal, otherwise zero or less.
    pub proven: Lane<S>,
}

/// Returns the row-major matrix of a unit quaternion.
#[inline(always)]
fn matrix<S: Simd>(q: &[Lane<S>; 4]) -> [Lane<S>; 9] {
    let [x, y, z, w] = *q;
    let one = x.all(1.0);
    let (x2, y2, z2) = (x + x, y + y, z + z);
    let (xx, yy, zz) = (x * x2, y * y2, z * z2);
    let (wx, wy, wz) = (w * x2, w * y2, w * z2);
    [
        one - (yy + zz),
        x.mul_add(y2, x.all(0.0) - wz),
        x.mul_add(z2, wy),
        x.mul_add(y2, wz),
        one - (xx + zz),
        y.mul_add(z2, x.all(0.0) - wx),
        x.mul_add(z2, x.all(0.0) - wy),
        y.mul_add(z2, wx),
        one - (xx + yy),
    ]
}

/// A symmetric 3x3 matrix: the diagonal, and the elements 01, 02 and 12.
#[derive(Clone, Copy)]
struct Symmetric<S: Simd> {
    diagonal: [Lane<S>; 3],
    off: [Lane<S>; 3],
}

impl<S: Simd> Symmetric<S> {
    /// Returns the determinant and the first row of cofactors.
    #[inline(always)]
    fn determinant(&self) -> (Lane<S>, [Lane<S>; 3]) {
        let ([h0, h1, h2], [h01, h02, h12]) = (self.diagonal, self.off);
        let c = [h1.cross(h2, h12, h12), h02.cross(h12, h01, h2), h01.cross(h12, h02, h1)];
        (h0.mul_add(c[0], h01.mul_add(c[1], h02 * c[2])), c)
    }

    /// Returns the smallest leading principal minor; it is positive if and only if the matrix is positive definite.
    #[inline(always)]
    fn definite(&self) -> Lane<S> {
        let minor = self.diagonal[0].cross(self.diagonal[1], self.off[0], self.off[0]);
        self.diagonal[0].min(minor).min(self.determinant().0)
    }

    /// Returns half the product of the inverse matrix and `g`.
    #[inline(always)]
    fn half_solve(&self, g: [Lane<S>; 3]) -> [Lane<S>; 3] {
        let ([h0, h1, h2], [h01, h02, h12]) = (self.diagonal, self.off);
        let (det, [c0, c1, c2]) = self.determinant();
        let inverse = h0.all(0.5).over(det.max(h0.all(1e-30)));
        let (c11, c12, c22) = (h0.cross(h2, h02, h02), h01.cross(h02, h0, h12), h0.cross(h1, h01, h01));
        [
            c0.mul_add(g[0], c1.mul_add(g[1], c2 * g[2])) * inverse,
            c1.mul_add(g[0], c11.mul_add(g[1], c12 * g[2])) * inverse,
            c2.mul_add(g[0], c12.mul_add(g[1], c22 * g[2])) * inverse,
        ]
    }
}

/// Returns the dot product of column `i` of `m` and column `j` of `s`, both row-major.
#[inline(always)]
fn columns<S: Simd>(m: &[Lane<S>; 9], i: usize, s: &[Lane<S>; 9], j: usize) -> Lane<S> {
    m[i].mul_add(s[j], m[3 + i].mul_add(s[3 + j], m[6 + i] * s[6 + j]))
}

/// Returns the quaternion `q (1 + t)`, normalised.
#[inline(always)]
fn turned<S: Simd>(q: [Lane<S>; 4], t: [Lane<S>; 3]) -> [Lane<S>; 4] {
    let ([qx, qy, qz, qw], [x, y, z]) = (q, t);
    let a = qw.mul_add(x, qy.mul_add(z, qx)) - qz * y;
    let b = qw.mul_add(y, qz.mul_add(x, qy)) - qx * z;
    let c = qw.mul_add(z, qx.mul_add(y, qz)) - qy * x;
    let d = qw - qx.mul_add(x, qy.mul_add(y, qz * z));
    let length = a.mul_add(a, b.mul_add(b, c.mul_add(c, d * d))).sqrt();
    let inverse = a.all(1.0).over(length);
    [a * inverse, b * inverse, c * inverse, d * inverse]
}

/// Rotates `quat` towards the maximum of `⟨Q, S⟩`. `block` is `S`, row-major.
#[inline(always)]
pub(super) fn turn<S: Simd>(block: &[Lane<S>; 9], mut quat: [Lane<S>; 4]) -> Turned<S> {
    let zero = block[0].all(0.0);
    let one = block[0].all(1.0);
    let mut square = zero;
    for v in block {
        square = v.mul_add(*v, square);
    }
    let scale = one.over(square.sqrt().max(zero.all(1e-30)));
    let mut s = *block;
    for v in &mut s {
        *v = *v * scale;
    }
    let mut proven = zero;
    for _ in 0..STEPS {
        let m = matrix(&quat);
        // Computes `A = Qᵀ S`.
        let (a00, a11, a22) = (columns(&m, 0, &s, 0), columns(&m, 1, &s, 1), columns(&m, 2, &s, 2));
        let (a01, a10) = (columns(&m, 0, &s, 1), columns(&m, 1, &s, 0));
        let (a02, a20) = (columns(&m, 0, &s, 2), columns(&m, 2, &s, 0));
        let (a12, a21) = (columns(&m, 1, &s, 2), columns(&m, 2, &s, 1));
        let g = [a21 - a12, a02 - a20, a10 - a01];
        let (open, half) = (zero.all(OPEN), zero.all(-0.5));
        let mut hessian = Symmetric {
            diagonal: [a11 + a22 + open, a00 + a22 + open, a00 + a11 + open],
            off: [(a01 + a10) * half, (a02 + a20) * half, (a12 + a21) * half],
        };
        // The norm of S is one, so the Hessian's eigenvalues are greater than -2.
        let shift = hessian.definite().at_least(zero.all(1e-30), zero, zero.all(2.5));
        for h in &mut hessian.diagonal {
            *h = *h + shift;
        }
        let [x, y, z] = hessian.half_solve(g);
        let angle = x.mul_add(x, y.mul_add(y, z * z));
        // Limits a step to 90 degrees.
        let limit = one.over(angle.max(one));
        // A proven rotation stays as it is, so that a lane does not depend on its neighbours.
        let next = turned(quat, [x * limit, y * limit, z * limit]);
        for (q, next) in quat.iter_mut().zip(next) {
            *q = proven.at_least(one, *q, next);
        }
        let small = zero.all(0.25 * SMALL).at_least(angle, one, zero);
        proven = proven.at_least(one, one, shift.at_least(one, zero, small));
        if proven.least() > 0.5 {
            break;
        }
    }
    Turned { matrix: matrix(&quat), quat, proven }
}

/// Returns the quaternion (`x y z w`) of the rotation with the largest `⟨Q, S⟩` for a row-major block `S`, by
/// Jacobi's method on Horn's matrix. Returns `old` if it reaches the same value.
pub(super) fn largest(block: [f64; 9], old: [f64; 4]) -> [f64; 4] {
    let norm = block.iter().map(|v| v * v).sum::<f64>().sqrt();
    if !norm.is_finite() || norm < 1e-30 {
        return old;
    }
    let [xx, xy, xz, yx, yy, yz, zx, zy, zz] = block.map(|v| v / norm);
    // Horn's matrix `N` satisfies `⟨Q(q), S⟩ = qᵀ N q` with `q = (w, x, y, z)`.
    let mut n = [
        [xx + yy + zz, zy - yz, xz - zx, yx - xy],
        [zy - yz, xx - yy - zz, xy + yx, xz + zx],
        [xz - zx, xy + yx, yy - xx - zz, yz + zy],
        [yx - xy, xz + zx, yz + zy, zz - xx - yy],
    ];
    let of =
        |n: &[[f64; 4]; 4], q: [f64; 4]| (0..16).map(|k| n[k / 4][k % 4] * q[k / 4] * q[k % 4]).sum::<f64>();
    let start = n;
    let mut vectors = [[0.0; 4]; 4];
    (0..4).for_each(|i| vectors[i][i] = 1.0);
    for _ in 0..12 {
        for (p, q) in [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)] {
            if n[p][q].abs() < 1e-18 {
                continue;
            }
            let theta = (n[q][q] - n[p][p]) / (2.0 * n[p][q]);
            let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
            let t = if theta == 0.0 { 1.0 } else { t };
            let c = 1.0 / (t * t + 1.0).sqrt();
            let s = t * c;
            for row in &mut n {
                (row[p], row[q]) = (c * row[p] - s * row[q], s * row[p] + c * row[q]);
            }
            let (a, b) = (n[p], n[q]);
            (0..4).for_each(|k| (n[p][k], n[q][k]) = (c * a[k] - s * b[k], s * a[k] + c * b[k]));
            for row in &mut vectors {
                (row[p], row[q]) = (c * row[p] - s * row[q], s * row[p] + c * row[q]);
            }
        }
    }
    let best = (0..4).max_by(|&a, &b| n[a][a].total_cmp(&n[b][b])).unwrap_or(0);
    let found = [0, 1, 2, 3].map(|k| vectors[k][best]);
    let before = [old[3], old[0], old[1], old[2]];
    if of(&start, found) <= of(&start, before) + 1e-6 {
        return old;
    }
    [found[1], found[2], found[3], found[0]]
}

/// Returns the row-major matrix of a unit quaternion.
pub(super) fn matrix_of(q: [f64; 4]) -> [f64; 9] {
    let m = crate::base::math::DMat3::from_quat(crate::base::math::DQuat::from_array(q).normalize());
    m.transpose().to_cols_array()
}
