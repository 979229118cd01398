//! Sparse Cholesky factorisation, used by all linear solvers on a mesh or in its volume.

use crate::base::math::DVec3;
use crate::base::{Error, Result};
use faer::linalg::solvers::Solve;
use faer::sparse::linalg::solvers::{Llt, SymbolicLlt};
use faer::sparse::{SparseColMat, SymbolicSparseColMat, Triplet};
use faer::{Mat, Side};

/// An entry of the lower triangle: row, column (at most the row), value. Repeated entries are summed.
pub type Entry = Triplet<usize, usize, f64>;

/// Several right-hand sides, or their solutions, as the columns of a dense matrix.
pub type Columns = Mat<f64>;

/// The factor `L Lᵀ` of a symmetric positive definite matrix, reordered for little fill-in. Reuse it for many solves.
pub struct Cholesky {
    llt: Option<Llt<usize, f64>>,
    size: usize,
}

/// The places of the entries of a matrix, with the order of elimination. Reuse it for matrices with entries in the same
/// places.
pub struct Pattern {
    places: SymbolicSparseColMat<usize>,
    order: SymbolicLlt<usize>,
}

impl Pattern {
    /// Prepares the factorisation of matrices with `size` rows and these entries in the lower triangle.
    /// The values of the entries are ignored.
    ///
    /// # Errors
    /// [`Error::Input`] if an entry lies outside of the matrix, or memory is short.
    pub fn new(size: usize, lower: &[Entry], what: &str, remedy: &str) -> Result<Self> {
        let (places, _) = assembled(size, lower, what, remedy)?.into_parts();
        let order = SymbolicLlt::try_new(places.as_ref(), Side::Lower)
            .map_err(|e| Error::input(format!("{what} cannot be analysed: {e:?}"), remedy))?;
        Ok(Self { places, order })
    }
}

/// Sums the entries of a matrix.
fn assembled(size: usize, lower: &[Entry], what: &str, remedy: &str) -> Result<SparseColMat<usize, f64>> {
    SparseColMat::try_new_from_triplets(size, size, lower)
        .map_err(|e| Error::input(format!("{what} cannot be assembled: {e:?}"), remedy))
}

impl Cholesky {
    /// Factors a matrix with `size` rows, given its lower triangle. `what` names the matrix in errors; `remedy` says
    /// what the user can do.
    ///
    /// # Errors
    /// [`Error::Input`] if the matrix is not numerically positive definite, or memory is short.
    pub fn new(size: usize, lower: &[Entry], what: &str, remedy: &str) -> Result<Self> {
        if size == 0 {
            return Ok(Self { llt: None, size });
        }
        let llt = assembled(size, lower, what, remedy)?
            .sp_cholesky(Side::Lower)
            .map_err(|e| Error::input(format!("{what} cannot be factored: {e:?}"), remedy))?;
        Ok(Self { llt: Some(llt), size })
    }

    /// Factors a matrix with entries in the places of a pattern, given its lower triangle. This saves the search for
    /// the order of elimination.
    ///
    /// # Errors
    /// [`Error::Input`] if the places differ, the matrix is not numerically positive definite, or memory is short.
    pub fn with_pattern(pattern: &Pattern, lower: &[Entry], what: &str, remedy: &str) -> Result<Self> {
        let places = &pattern.places;
        let size = places.nrows();
        let matrix = assembled(size, lower, what, remedy)?;
        let found = matrix.symbolic();
        if found.col_ptr() != places.col_ptr() || found.row_idx() != places.row_idx() {
            return Err(Error::input(format!("{what} has entries outside of its pattern"), remedy));
        }
        let llt = Llt::try_new_with_symbolic(pattern.order.clone(), matrix.as_ref(), Side::Lower)
            .map_err(|e| Error::input(format!("{what} cannot be factored: {e:?}"), remedy))?;
        Ok(Self { llt: Some(llt), size })
    }

    /// Solves for all columns at once, in place.
    pub fn solve(&self, columns: &mut Columns) {
        debug_assert_eq!(columns.nrows(), self.size);
        if let Some(llt) = &self.llt {
            llt.solve_in_place(columns.as_mut());
        }
    }

    /// Solves for vectors in place; their three components are three right-hand sides.
    pub fn solve_vectors(&self, b: &mut [DVec3]) {
        let mut x = Mat::from_fn(self.size, 3, |row, column| b[row][column]);
        self.solve(&mut x);
        for (row, b) in b.iter_mut().enumerate() {
            *b = DVec3::new(x[(row, 0)], x[(row, 1)], x[(row, 2)]);
        }
    }

    /// Solves in place for one right-hand side, in which each vector fills three consecutive rows.
    pub fn solve_stacked(&self, b: &mut [DVec3]) {
        let mut x = Mat::from_fn(self.size, 1, |row, _| b[row / 3][row % 3]);
        self.solve(&mut x);
        for (row, b) in b.iter_mut().enumerate() {
            *b = DVec3::new(x[(3 * row, 0)], x[(3 * row + 1, 0)], x[(3 * row + 2, 0)]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A chain of three vertices with unit springs; each end is also held by a spring.
    fn path() -> Vec<Entry> {
        [(0, 0, 2.0), (1, 0, -1.0), (1, 1, 1.0), (1, 1, 1.0), (2, 1, -1.0), (2, 2, 2.0)]
            .map(|(row, column, value)| Entry::new(row, column, value))
            .to_vec()
    }

    #[test]
    fn a_known_system_is_solved_and_an_indefinite_one_is_refused() {
        let factor = Cholesky::new(3, &path(), "the path", "hold it").unwrap();
        let mut b = [DVec3::X, DVec3::ZERO, DVec3::Y * 4.0];
        factor.solve_vectors(&mut b);
        let wanted = [[0.75, 1.0, 0.0], [0.5, 2.0, 0.0], [0.25, 3.0, 0.0]].map(DVec3::from_array);
        assert!(b.iter().zip(wanted).all(|(b, w)| b.distance(w) < 1e-12), "{b:?}");
        let mut stacked = [DVec3::new(1.0, 0.0, 0.0)];
        factor.solve_stacked(&mut stacked);
        assert!(stacked[0].distance(DVec3::new(0.75, 0.5, 0.25)) < 1e-12, "{stacked:?}");
        let loose: Vec<Entry> = path().into_iter().map(|e| Entry::new(e.row, e.col, -e.val)).collect();
        let error = Cholesky::new(3, &loose, "the path", "hold it").err().unwrap().to_string();
        assert!(error.contains("the path cannot be factored") && error.contains("hold it"), "{error}");
        Cholesky::new(0, &[], "nothing", "").unwrap().solve_vectors(&mut []);
    }

    #[test]
    fn a_pattern_serves_matrices_with_entries_in_the_same_places() {
        let pattern = Pattern::new(3, &path(), "the path", "").unwrap();
        for scale in [1.0, 4.0] {
            let matrix: Vec<Entry> =
                path().into_iter().map(|e| Entry::new(e.row, e.col, scale * e.val)).collect();
            let factor = Cholesky::with_pattern(&pattern, &matrix, "the path", "").unwrap();
            let mut b = [DVec3::X * scale, DVec3::ZERO, DVec3::ZERO];
            factor.solve_vectors(&mut b);
            assert!((b[0].x - 0.75).abs() < 1e-12 && (b[2].x - 0.25).abs() < 1e-12, "{b:?}");
        }
        let mut other = path();
        other.push(Entry::new(2, 0, -0.5));
        let error = Cholesky::with_pattern(&pattern, &other, "the path", "").err().unwrap().to_string();
        assert!(error.contains("outside of its pattern"), "{error}");
    }
}
