//! A sparse Cholesky factor, kept as long as the region.

use crate::base::math::DVec3;
use crate::base::{Error, Result};
use faer::linalg::solvers::Solve;
use faer::sparse::linalg::solvers::Llt;
use faer::sparse::{SparseColMat, Triplet};
use faer::{Mat, Side};

/// An entry of the lower triangle: row, column (at most the row), value. Repeated entries are summed.
pub(super) type Entry = Triplet<usize, usize, f64>;

/// `L Lᵀ` of a symmetric positive definite matrix, reordered for little fill.
pub(super) struct Factor {
    llt: Option<Llt<usize, f64>>,
    size: usize,
}

impl Factor {
    /// Factors a matrix of `size` rows, given its lower triangle.
    ///
    /// Errors if it is not positive definite within rounding, or memory is short.
    pub fn new(size: usize, lower: &[Entry]) -> Result<Self> {
        if size == 0 {
            return Ok(Self { llt: None, size });
        }
        let remedy = "make the region smaller, or mend its degenerate triangles";
        let matrix = SparseColMat::<usize, f64>::try_new_from_triplets(size, size, lower)
            .map_err(|e| Error::input(format!("the region's matrix cannot be made: {e:?}"), remedy))?;
        let llt = matrix
            .sp_cholesky(Side::Lower)
            .map_err(|e| Error::input(format!("the region's matrix cannot be factored: {e:?}"), remedy))?;
        Ok(Self { llt: Some(llt), size })
    }

    /// Solves for three right sides, the components of vectors.
    pub fn solve(&self, b: &mut [DVec3]) {
        let Some(llt) = &self.llt else { return };
        debug_assert_eq!(b.len(), self.size);
        let mut x = Mat::from_fn(self.size, 3, |row, column| b[row][column]);
        llt.solve_in_place(x.as_mut());
        for (row, b) in b.iter_mut().enumerate() {
            *b = DVec3::new(x[(row, 0)], x[(row, 1)], x[(row, 2)]);
        }
    }

    /// Solves for one right side, stored as three rows per vector.
    pub fn solve_stacked(&self, b: &mut [DVec3]) {
        let Some(llt) = &self.llt else { return };
        debug_assert_eq!(3 * b.len(), self.size);
        let mut x = Mat::from_fn(self.size, 1, |row, _| b[row / 3][row % 3]);
        llt.solve_in_place(x.as_mut());
        for (row, b) in b.iter_mut().enumerate() {
            *b = DVec3::new(x[(3 * row, 0)], x[(3 * row + 1, 0)], x[(3 * row + 2, 0)]);
        }
    }
}
