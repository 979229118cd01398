//! Small quadratic terms that make the solution unique for every handle of any mesh; see the head of `bind.rs`.

use super::bind::Handle;
use super::dense::{Cholesky, Mat};
use crate::base::math::DVec3;

/// Stiffness that keeps a handle near its parent, as a fraction of the stiffness `pull` on linear parts.
const WELD: f64 = 0.1;
/// Distance from a joint to the three further points at which its handle stays near the parent handle, in units of the
/// model's size.
const WELD_SIZE: f64 = 0.05;
/// Maximum distance of a joint from the centre, in units of the model's size. Joints farther away are moved to this
/// distance, because the squares of their coordinates would dominate the system numerically.
const FAR: f64 = 10.0;

/// Adds terms that pull the transforms of abstract handles to zero.
pub(super) fn keep_to_zero(laplacian: &mut Mat, pull: f64, pivots: &[DVec3], given: usize) {
    for (j, pivot) in pivots.iter().enumerate().skip(given) {
        (0..3).for_each(|d| *laplacian.at(4 * j + d, 4 * j + d) += pull);
        add_square(laplacian, pull, &[(j, *pivot, 1.0)]);
    }
}

/// Keeps handles near their parents with stiffness `WELD * pull`. Later roots attach to the nearest earlier handle.
pub(super) fn hold_together(laplacian: &mut Mat, pull: f64, pivots: &[DVec3], given: &[Handle]) {
    let mut root: Vec<usize> = (0..given.len()).collect();
    for (j, handle) in given.iter().enumerate() {
        if let Some(p) = handle.parent {
            root[j] = root[p];
        }
    }
    for (j, handle) in given.iter().enumerate() {
        let nearest = || {
            let others = (0..given.len()).filter(|&k| root[k] < j);
            others.min_by(|&a, &b| {
                pivots[a].distance_squared(pivots[j]).total_cmp(&pivots[b].distance_squared(pivots[j]))
            })
        };
        let Some(p) = handle.parent.or_else(nearest) else { continue };
        for offset in [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z] {
            let x = pivots[j].clamp_length_max(FAR) + WELD_SIZE * offset;
            add_square(laplacian, WELD * pull, &[(j, x, 1.0), (p, x, -1.0)]);
        }
    }
}

/// Adds terms that keep each joint at the position to which its parent handle moves it.
pub(super) fn hinge(laplacian: &mut Mat, stiffness: f64, pivots: &[DVec3], given: &[Handle]) {
    for (j, handle) in given.iter().enumerate() {
        if let Some(p) = handle.parent.filter(|_| stiffness > 0.0) {
            let x = pivots[j].clamp_length_max(FAR);
            add_square(laplacian, stiffness, &[(j, x, 1.0), (p, x, -1.0)]);
        }
    }
}

/// Adds the quadratic form of `weight |Σ sign T_j (x, 1)|²` to the matrix; each term is `(j, x, sign)`.
fn add_square(laplacian: &mut Mat, weight: f64, terms: &[(usize, DVec3, f64)]) {
    for &(a, x, s) in terms {
        for &(b, y, t) in terms {
            let (x, y) = ([x.x, x.y, x.z, 1.0], [y.x, y.y, y.z, 1.0]);
            for (i, x) in x.into_iter().enumerate() {
                for (k, y) in y.into_iter().enumerate() {
                    *laplacian.at(4 * a + i, 4 * b + k) += weight * s * t * x * y;
                }
            }
        }
    }
}

/// Returns the Cholesky factor of `L̃` after adding a stiffness for the translation of the whole shape.
pub(super) fn grounded(laplacian: &Mat, given: usize) -> Cholesky {
    let mut out = laplacian.clone();
    let n = out.rows;
    let mean = (0..n).map(|i| laplacian.data[i * n + i]).sum::<f64>() / n as f64;
    for a in 0..given {
        for b in 0..given {
            *out.at(4 * a + 3, 4 * b + 3) += mean / given as f64;
        }
    }
    Cholesky::pivoted(out, 1e-15)
}
