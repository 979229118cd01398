//! Linear constraints on the transforms, and the factorisation that a new set of constraints needs.
//!
//! With `G` from binding, `A = M_eq G M_eqᵀ = L Lᵀ` is the Schur complement of the constrained system (Jacobson et
//! al. 2012, equation 15). It is the only matrix that is factored when constraints change. Let `Z = L⁻¹ M_eq G K̃ᵀ`,
//! and `h = L⁻¹ M_eq u` for the translation `u` of the whole shape, which has no stiffness in `L̃`. A bar denotes the
//! projection orthogonal to `h`. Then, for rotations `Q`, constrained values `P` and `p = L⁻¹ P`,
//!
//! - `S(Q) = K̃ T(Q) = B Q + C` with `B = K̃GK̃ᵀ - Z̄ᵀZ̄` and `C = Z̄ᵀ p̄`,
//! - `T(Q) = Γ Q + Φ` with `Γ = GK̃ᵀ - VᵀZ̄ - u hᵀZ / |h|²`, `Φ = Vᵀ p̄ + u hᵀp / |h|²`, `V = L⁻¹ M_eq G`.
//!
//! (differs) An iteration needs only `S`. It multiplies by one matrix of `3r × 3r` instead of two of `3r × 4m`, which
//! costs a quarter less at `r = 2m`. The transforms are computed once, at the end.
//!
//! (differs) The paper's constraints are independent of each other. Here constraints may contradict each other, such as
//! two targets for one point. Let `M_eq = W M'` with the independent rows `M'`. The solver replaces `P` by `W y` with
//! the `y` that minimises `|D (W y - P)|²`: two targets for one point are averaged. `D` measures the error of a full
//! transform at the handle's pivot, and the error of the transform's linear part at the distance [`STIFF`]. If a point
//! on a handle contradicts the handle's full transform, the handle moves half of the way and hardly turns.

use super::bind::{MAX_HANDLES, Reduced};
use super::dense::{Cholesky, Mat, add_product};
use crate::base::math::{DAffine3, DVec3, Vec3};
use crate::base::{Error, Result};

/// A constraint row counts as linearly dependent if its pivot falls below this fraction of its diagonal element.
const DEPENDENT: f64 = 1e-9;
/// Distance from the pivot at which errors of a full transform's linear part count, in units of the model's size.
const STIFF: f64 = 10.0;
/// A row depends on another row if the coefficient exceeds this value.
const USED: f64 = 1e-9;
/// Maximum number of constraint rows.
const MAX_ROWS: usize = 4 * MAX_HANDLES + 1024;

/// What a constraint fixes.
#[derive(Clone, Debug, PartialEq)]
pub enum Constraint {
    /// All twelve elements of a handle's transform.
    Full {
        /// The handle's index.
        handle: usize,
    },
    /// The position of a point, `Σ w T_j x`. A point on a bone has one term of weight 1. A point on the surface has
    /// one term per influence of its triangle's vertices.
    Point {
        /// Terms `(handle, weight, bind position in metres)`.
        terms: Vec<(usize, f64, Vec3)>,
    },
}

impl Constraint {
    /// Creates a constraint on the position of a point that one handle moves; `point` is in bind space, metres.
    pub fn on_handle(handle: usize, point: Vec3) -> Self {
        Self::Point { terms: vec![(handle, 1.0, point)] }
    }

    /// Creates a constraint on the position of a surface point, given as `(vertex, barycentric weight)` pairs.
    pub fn on_surface(reduced: &Reduced, positions: &[Vec3], point: &[(usize, f32)]) -> Self {
        let terms = point.iter().flat_map(|&(v, share)| {
            reduced.weights.of(v).map(move |(j, w)| (j, w * f64::from(share), positions[v]))
        });
        Self::Point { terms: terms.collect() }
    }

    fn rows(&self) -> usize {
        if matches!(self, Self::Full { .. }) { 4 } else { 1 }
    }
}

/// The value that a constraint prescribes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Target {
    /// Value of [`Constraint::Full`]: the handle's transform, bind space to world.
    Map(DAffine3),
    /// Value of [`Constraint::Point`]: a position in world space, metres.
    Point(DVec3),
}

/// A factored set of constraints, ready to solve for any values of the constraints.
#[derive(Clone)]
pub struct Constrained {
    /// The constraints; [`Target`]s are given in this order.
    pub constraints: Vec<Constraint>,
    /// `B`, square with three rows per cluster.
    pub(super) rotations: Mat,
    /// `Γ`, four rows per handle by three columns per cluster.
    pub(super) gamma: Mat,
    factor: Factor,
    /// Whether the constraints leave the translation free. Then an added row fixes the first handle's pivot.
    implicit: bool,
}

#[derive(Clone)]
struct Factor {
    /// Per row of `M_eq`: whether the row is independent of all others.
    alone: Vec<bool>,
    rows: usize,
    /// `p` as a linear function of `P`: `L⁻¹` of the independent rows, after averaging.
    half: Mat,
    /// `Z̄` of the module's equations.
    z: Mat,
    /// `V` of the module's equations.
    v: Mat,
    /// `h` of the module's equations.
    h: Vec<f64>,
    h_square: f64,
}

impl Reduced {
    /// Factors a set of constraints. Contradictory constraints are averaged, transforms of one handle element by
    /// element; redundant constraints are allowed.
    ///
    /// # Errors
    /// [`Error::Input`] if a handle does not exist, a weight is not finite or there are too many constraints.
    pub fn constrain(&self, constraints: Vec<Constraint>) -> Result<Constrained> {
        let mut rows = self.rows(&constraints)?;
        let moves = |row: &[(usize, f64)]| {
            row.iter().filter(|(i, _)| self.translates(*i)).map(|(_, v)| v).sum::<f64>()
        };
        let implicit = rows.iter().all(|row| moves(row).abs() < 1e-6);
        if implicit {
            rows.push(point_row(&[(0, 1.0, self.pivots[0])]));
        }
        let (c, n) = (rows.len(), self.laplacian.rows);
        let pick = |from: &Mat| {
            let mut out = Mat::zeros(c, from.cols);
            for (r, row) in rows.iter().enumerate() {
                let target = out.row_mut(r);
                for &(i, v) in row {
                    target.iter_mut().zip(from.row(i)).for_each(|(t, x)| *t += v * x);
                }
            }
            out
        };
        let through = pick(&self.inverse);
        let mut schur = Mat::zeros(c, c);
        for r in 0..c {
            for (k, row) in rows.iter().enumerate() {
                schur.data[r * c + k] = row.iter().map(|&(i, v)| v * through.data[r * n + i]).sum();
            }
        }
        schur.symmetrize();
        let factor = Cholesky::pivoted(schur.clone(), DEPENDENT);
        let mut half = factor.forward(&Mat::identity(c));
        let mut alone = vec![true; c];
        if factor.rank() < c {
            // `Wᵀ = L⁻ᵀ L⁻¹ M' G M_eqᵀ`, with zero rows for the dependent constraints.
            let w = half.transposed().times(&factor.forward(&schur)).transposed();
            half = half.times(&self.average(&constraints, &factor.kept, &w)?);
            alone.fill(false);
            for &k in &factor.kept {
                alone[k] = (0..c).all(|r| r == k || w.data[r * c + k].abs() <= USED);
            }
        }
        let v = factor.forward(&through);
        let mut z = factor.forward(&pick(&self.inverse_covariance));
        let h = factor.forward(&Mat { rows: c, cols: 1, data: rows.iter().map(|r| moves(r)).collect() }).data;
        let h_square: f64 = h.iter().map(|v| v * v).sum();
        // Computes `hᵀ Z / |h|²`, then `Z̄`.
        let mut along = vec![0.0; z.cols];
        for (r, w) in h.iter().enumerate() {
            along.iter_mut().zip(z.row(r)).for_each(|(a, x)| *a += w * x / h_square);
        }
        for (r, w) in h.iter().enumerate() {
            z.row_mut(r).iter_mut().zip(&along).for_each(|(x, a)| *x -= w * a);
        }
        let z_transposed = z.transposed();
        let mut rotations = self.rotations.clone();
        add_product(&mut rotations, -1.0, &z_transposed, &z);
        let mut gamma = self.inverse_covariance.clone();
        add_product(&mut gamma, -1.0, &v.transposed(), &z);
        for i in (0..n).filter(|&i| self.translates(i)) {
            gamma.row_mut(i).iter_mut().zip(&along).for_each(|(g, a)| *g -= a);
        }
        let mut out = Constrained {
            factor: Factor { alone, rows: c, half, z, v, h, h_square },
            constraints,
            rotations,
            gamma,
            implicit,
        };
        out.release_full();
        Ok(out)
    }

    /// Returns the matrix that computes `y` from `P`, with zero rows for the dependent constraints. `w` is `W`, with
    /// zero columns for the dependent constraints; `kept` are the independent ones.
    fn average(&self, constraints: &[Constraint], kept: &[usize], w: &Mat) -> Result<Mat> {
        let count = w.rows;
        let mut weight = Mat::identity(count);
        let mut row = 0;
        for constraint in constraints {
            if let Constraint::Full { handle } = constraint {
                let pivot = self.pivots[*handle].to_array();
                for (d, x) in pivot.into_iter().enumerate() {
                    *weight.at(row + d, row + d) = STIFF;
                    *weight.at(row + 3, row + d) = x;
                }
            }
            row += constraint.rows();
        }
        let mut basis = Mat::zeros(count, kept.len());
        for r in 0..count {
            kept.iter().enumerate().for_each(|(k, &from)| *basis.at(r, k) = w.data[r * count + from]);
        }
        let measured = weight.times(&basis).transposed();
        let mut gram = measured.times(&measured.transposed());
        gram.symmetrize();
        let inverse = Cholesky::pivoted(gram, 0.0).inverse();
        if inverse.rows != kept.len() || inverse.data.iter().any(|v| !v.is_finite()) {
            return Err(Error::input("constraints that nearly contradict each other", "leave more free"));
        }
        let fitted = inverse.times(&measured).times(&weight);
        let mut out = Mat::zeros(count, count);
        kept.iter().enumerate().for_each(|(k, &to)| out.row_mut(to).copy_from_slice(fitted.row(k)));
        Ok(out)
    }

    /// Returns the rows of `M_eq`, sparse, model space.
    fn rows(&self, constraints: &[Constraint]) -> Result<Vec<Vec<(usize, f64)>>> {
        let count: usize = constraints.iter().map(Constraint::rows).sum();
        if count > MAX_ROWS {
            return Err(Error::input(format!("{count} constraints at once"), "leave more free"));
        }
        let mut rows = Vec::with_capacity(count + 1);
        for constraint in constraints {
            match constraint {
                Constraint::Full { handle } if *handle < self.handles => {
                    rows.extend((0..4).map(|d| vec![(4 * handle + d, 1.0)]));
                }
                Constraint::Point { terms }
                    if !terms.is_empty()
                        && terms
                            .iter()
                            .all(|(j, w, x)| *j < self.handles && w.is_finite() && x.is_finite()) =>
                {
                    let terms: Vec<_> = terms.iter().map(|&(j, w, x)| (j, w, self.model(x))).collect();
                    rows.push(point_row(&terms));
                }
                _ => {
                    let problem = "a constraint names a handle that does not exist or is not finite";
                    return Err(Error::input(problem, "name a joint that moves the mesh"));
                }
            }
        }
        Ok(rows)
    }
}

fn point_row(terms: &[(usize, f64, DVec3)]) -> Vec<(usize, f64)> {
    let mut row: Vec<(usize, f64)> = Vec::with_capacity(4 * terms.len());
    for &(j, w, x) in terms {
        for (d, v) in [w * x.x, w * x.y, w * x.z, w].into_iter().enumerate() {
            match row.iter_mut().find(|(i, _)| *i == 4 * j + d) {
                Some((_, sum)) => *sum += v,
                None => row.push((4 * j + d, v)),
            }
        }
    }
    row
}

impl Constrained {
    /// Sets the rotation coefficients of fully constrained handles to zero, because these coefficients contain only
    /// rounding errors.
    fn release_full(&mut self) {
        for constraint in &self.constraints {
            if let Constraint::Full { handle } = constraint {
                (0..4).for_each(|d| self.gamma.row_mut(4 * handle + d).fill(0.0));
            }
        }
    }

    /// Computes `C` (`3r × 3`) and `Φ` (`4m × 3`) from one value per constraint. A missing value, a value of the
    /// wrong kind or a value that is not finite is replaced by the value at rest.
    pub(super) fn set_values(&self, reduced: &Reduced, targets: &[Target], out: &mut Values) {
        let Values { p, half, c, phi } = out;
        p.clear(self.factor.rows, 3);
        let mut row = 0;
        for (k, constraint) in self.constraints.iter().enumerate() {
            let target = targets.get(k);
            match constraint {
                Constraint::Full { handle } => match target {
                    Some(Target::Map(map)) if map.is_finite() => {
                        let map = model_map(reduced, map);
                        for d in 0..3 {
                            p.row_mut(row + d).copy_from_slice(&map.matrix3.col(d).to_array());
                        }
                        p.row_mut(row + 3).copy_from_slice(&map.translation.to_array());
                    }
                    _ => (0..4).for_each(|d| {
                        p.row_mut(row + d).copy_from_slice(reduced.rest.row(4 * handle + d));
                    }),
                },
                Constraint::Point { terms } => {
                    // Abstract handles are omitted, because their transforms are zero at rest.
                    let given = terms.iter().filter(|t| t.0 < reduced.given);
                    let rest =
                        || given.map(|&(j, w, x)| w * reduced.at_rest(j, reduced.model(x))).sum::<DVec3>();
                    let x = match target {
                        Some(Target::Point(x)) if x.is_finite() => (*x - reduced.center) / reduced.size,
                        _ => rest(),
                    };
                    p.row_mut(row).copy_from_slice(&x.to_array());
                }
            }
            row += constraint.rows();
        }
        if self.implicit {
            p.row_mut(row).copy_from_slice(&reduced.at_rest(0, reduced.pivots[0]).to_array());
        }
        let f = &self.factor;
        half.clear(f.half.rows, 3);
        add_product(half, 1.0, &f.half, p);
        // Computes `hᵀ p / |h|²`, then `p̄`.
        let mut along = [0.0; 3];
        for (r, w) in f.h.iter().enumerate() {
            (0..3).for_each(|c| along[c] += w * half.data[3 * r + c] / f.h_square);
        }
        for (r, w) in f.h.iter().enumerate() {
            (0..3).for_each(|c| half.data[3 * r + c] -= w * along[c]);
        }
        c.clear(f.z.cols, 3);
        transposed_times(&f.z, half, c);
        phi.clear(f.v.cols, 3);
        transposed_times(&f.v, half, phi);
        for i in (0..phi.rows).filter(|&i| reduced.translates(i)) {
            phi.row_mut(i).iter_mut().zip(along).for_each(|(x, a)| *x += a);
        }
        let mut row = 0;
        for constraint in &self.constraints {
            // Copies the prescribed transform exactly if no other constraint depends on it.
            if let Constraint::Full { handle } = constraint
                && (row..row + 4).all(|r| f.alone[r])
            {
                (0..4).for_each(|d| phi.row_mut(4 * handle + d).copy_from_slice(p.row(row + d)));
            }
            row += constraint.rows();
        }
    }
}

/// The values of the constraints, and the terms `C` and `Φ` computed from these values.
#[derive(Clone, Default)]
pub(super) struct Values {
    p: Mat,
    half: Mat,
    pub c: Mat,
    pub phi: Mat,
}

/// Computes `out = aᵀ b`, where `b` has three columns.
fn transposed_times(a: &Mat, b: &Mat, out: &mut Mat) {
    for r in 0..a.rows {
        let w = [b.data[3 * r], b.data[3 * r + 1], b.data[3 * r + 2]];
        for (target, x) in out.data.chunks_exact_mut(3).zip(a.row(r)) {
            (0..3).for_each(|c| target[c] += w[c] * x);
        }
    }
}

/// Converts a transform from bind space to world into a transform of model space.
pub(super) fn model_map(reduced: &Reduced, map: &DAffine3) -> DAffine3 {
    let moved = map.matrix3 * reduced.center + map.translation - reduced.center;
    DAffine3 { matrix3: map.matrix3, translation: moved / reduced.size }
}

/// Converts a transform of model space into a transform from bind space to world.
pub(super) fn bind_map(reduced: &Reduced, map: &DAffine3) -> DAffine3 {
    let moved = map.translation * reduced.size + reduced.center - map.matrix3 * reduced.center;
    DAffine3 { matrix3: map.matrix3, translation: moved }
}
