//! Small dense matrices in f64, for binding and for changes of constraints. Rows are contiguous, and every inner loop
//! runs along rows, compiled for the instruction set of the CPU.

use pulp::Arch;

/// A dense f64 matrix.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Mat {
    pub rows: usize,
    pub cols: usize,
    /// The elements, row-major.
    pub data: Vec<f64>,
}

impl Mat {
    pub fn zeros(rows: usize, cols: usize) -> Self {
        Self { rows, cols, data: vec![0.0; rows * cols] }
    }

    pub fn identity(size: usize) -> Self {
        let mut out = Self::zeros(size, size);
        (0..size).for_each(|i| *out.at(i, i) = 1.0);
        out
    }

    /// Resizes the matrix and sets it to zero. Reuses its memory if the capacity suffices.
    pub fn clear(&mut self, rows: usize, cols: usize) {
        (self.rows, self.cols) = (rows, cols);
        self.data.clear();
        self.data.resize(rows * cols, 0.0);
    }

    pub fn row(&self, row: usize) -> &[f64] {
        &self.data[row * self.cols..(row + 1) * self.cols]
    }

    pub fn row_mut(&mut self, row: usize) -> &mut [f64] {
        &mut self.data[row * self.cols..(row + 1) * self.cols]
    }

    pub fn at(&mut self, row: usize, col: usize) -> &mut f64 {
        &mut self.data[row * self.cols + col]
    }

    pub fn transposed(&self) -> Self {
        let mut out = Self::zeros(self.cols, self.rows);
        for r in 0..self.rows {
            for (c, v) in self.row(r).iter().enumerate() {
                out.data[c * self.rows + r] = *v;
            }
        }
        out
    }

    /// Returns `self * other`.
    pub fn times(&self, other: &Self) -> Self {
        let mut out = Self::zeros(self.rows, other.cols);
        add_product(&mut out, 1.0, self, other);
        out
    }

    /// Replaces the matrix with the mean of itself and its transpose.
    pub fn symmetrize(&mut self) {
        for r in 0..self.rows {
            for c in 0..r {
                let mean = 0.5 * (self.data[r * self.cols + c] + self.data[c * self.cols + r]);
                self.data[r * self.cols + c] = mean;
                self.data[c * self.cols + r] = mean;
            }
        }
    }
}

/// Computes `y += a x`.
#[inline(always)]
fn axpy(y: &mut [f64], a: f64, x: &[f64]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y += a * x;
    }
}

/// Computes `out += scale * a * b`.
pub(super) fn add_product(out: &mut Mat, scale: f64, a: &Mat, b: &Mat) {
    Arch::new().dispatch(
        #[inline(always)]
        || {
            for r in 0..a.rows {
                let (row, target) = (a.row(r), out.row_mut(r));
                // Each pass uses four rows of `b`, so the target row is read and written a quarter as often.
                let whole = row.len() / 4 * 4;
                for k in (0..whole).step_by(4) {
                    let w = [scale * row[k], scale * row[k + 1], scale * row[k + 2], scale * row[k + 3]];
                    let (b0, b1, b2, b3) = (b.row(k), b.row(k + 1), b.row(k + 2), b.row(k + 3));
                    for ((((t, x), y), z), v) in target.iter_mut().zip(b0).zip(b1).zip(b2).zip(b3) {
                        *t += w[0] * x + w[1] * y + w[2] * z + w[3] * v;
                    }
                }
                for (k, w) in row.iter().enumerate().skip(whole) {
                    axpy(target, scale * w, b.row(k));
                }
            }
        },
    );
}

/// The Cholesky factor of the independent rows of a symmetric positive semidefinite matrix.
pub(super) struct Cholesky {
    /// Indices of the independent rows, in the order of the factor.
    pub kept: Vec<usize>,
    /// The factor, lower triangular.
    lower: Mat,
}

impl Cholesky {
    /// Factors with pivoting. A row is dependent on earlier rows if its pivot falls below `drop` times its own
    /// diagonal element.
    pub fn pivoted(mut a: Mat, drop: f64) -> Self {
        let n = a.rows;
        let mut order: Vec<usize> = (0..n).collect();
        let before: Vec<f64> = (0..n).map(|i| a.data[i * n + i]).collect();
        let mut rank = 0;
        while rank < n {
            // Returns the pivot relative to the row's own diagonal element.
            let share = |i: usize| {
                let own = before[order[i]];
                if own > 0.0 { a.data[i * n + i] / own } else { 0.0 }
            };
            let (mut best, mut most) = (rank, share(rank));
            for i in rank + 1..n {
                // An earlier row wins unless a later one is much better, so that constraints keep their order.
                if share(i) > 1.5 * most {
                    (best, most) = (i, share(i));
                }
            }
            if most.is_nan() || most <= drop {
                break;
            }
            swap(&mut a, rank, best);
            order.swap(rank, best);
            let pivot = a.data[rank * n + rank].sqrt();
            let inverse = 1.0 / pivot;
            a.row_mut(rank)[rank] = pivot;
            a.row_mut(rank)[rank + 1..].iter_mut().for_each(|v| *v *= inverse);
            let (top, below) = a.data.split_at_mut((rank + 1) * n);
            let row = &top[rank * n..];
            Arch::new().dispatch(
                #[inline(always)]
                || {
                    for (i, target) in below.chunks_exact_mut(n).enumerate() {
                        let i = rank + 1 + i;
                        axpy(&mut target[i..], -row[i], &row[i..]);
                    }
                },
            );
            rank += 1;
        }
        // The upper triangle of `a` holds the transposed factor.
        let mut lower = Mat::zeros(rank, rank);
        for r in 0..rank {
            for c in 0..=r {
                *lower.at(r, c) = a.data[c * n + r];
            }
        }
        order.truncate(rank);
        Self { kept: order, lower }
    }

    /// Returns the number of independent rows.
    pub fn rank(&self) -> usize {
        self.kept.len()
    }

    /// Returns `L^-1 b`, computed from the independent rows of `b`.
    pub fn forward(&self, b: &Mat) -> Mat {
        let mut x = Mat::zeros(self.rank(), b.cols);
        for (r, &from) in self.kept.iter().enumerate() {
            x.row_mut(r).copy_from_slice(b.row(from));
        }
        Arch::new().dispatch(
            #[inline(always)]
            || {
                for r in 0..self.rank() {
                    let (done, rest) = x.data.split_at_mut(r * b.cols);
                    let target = &mut rest[..b.cols];
                    for (k, w) in self.lower.row(r)[..r].iter().enumerate() {
                        axpy(target, -w, &done[k * b.cols..(k + 1) * b.cols]);
                    }
                    let inverse = 1.0 / self.lower.row(r)[r];
                    target.iter_mut().for_each(|v| *v *= inverse);
                }
            },
        );
        x
    }

    /// Returns the inverse of the factored matrix, which must have full rank.
    pub fn inverse(&self) -> Mat {
        let half = self.forward(&Mat::identity(self.rank()));
        half.transposed().times(&half)
    }
}

/// Swaps rows and columns `i` and `j` of a symmetric matrix. Reads only its upper triangle from row `min(i, j)` on.
fn swap(a: &mut Mat, i: usize, j: usize) {
    if i == j {
        return;
    }
    let n = a.cols;
    // Copies the upper triangle to the lower one, because the swap moves elements between them.
    for r in i..n {
        for c in i..r {
            a.data[r * n + c] = a.data[c * n + r];
        }
    }
    for c in 0..n {
        a.data.swap(i * n + c, j * n + c);
    }
    for r in 0..n {
        a.data.swap(r * n + i, r * n + j);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gram(rows: usize, cols: usize) -> Mat {
        let mut m = Mat::zeros(rows, cols);
        m.data.iter_mut().enumerate().for_each(|(i, v)| *v = ((i * i + 3 * i) as f64 * 0.7).sin());
        m.times(&m.transposed())
    }

    #[test]
    fn an_inverse_undoes_its_matrix() {
        let a = gram(13, 29);
        let product = Cholesky::pivoted(a.clone(), 1e-12).inverse().times(&a);
        for (i, v) in product.data.iter().enumerate() {
            let one = f64::from(u8::from(i % 14 == 0));
            assert!((v - one).abs() < 1e-9, "{i}: {v}");
        }
    }

    #[test]
    fn dependent_rows_are_left_out_and_the_rest_is_factored() {
        // A 13x13 matrix of rank five.
        let a = gram(13, 5);
        let factor = Cholesky::pivoted(a.clone(), 1e-10);
        assert_eq!(factor.rank(), 5);
        // Compares `|L^-1 b|²` with `bᵀ x` for `b = a x`.
        let b = a.times(&Mat { rows: 13, cols: 1, data: (0..13).map(f64::from).collect() });
        let half = factor.forward(&b);
        let norm: f64 = half.data.iter().map(|v| v * v).sum();
        let x = Mat { rows: 13, cols: 1, data: (0..13).map(f64::from).collect() };
        let expected: f64 = x.transposed().times(&b).data[0];
        assert!((norm - expected).abs() < 1e-9 * expected, "{norm} {expected}");
        assert_eq!(Cholesky::pivoted(Mat::zeros(4, 4), 1e-10).rank(), 0);
    }
}
