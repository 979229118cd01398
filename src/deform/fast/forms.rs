//! The Laplacian of one cluster, restricted to the handles that move the cluster: a small dense matrix.

use super::dense::Mat;

/// A cluster's Laplacian `L̃_k`.
#[derive(Clone, Debug)]
pub(super) struct Form {
    /// The handles that move the cluster, ascending.
    handles: Vec<usize>,
    /// Index into `handles` per handle of the character; `u32::MAX` if the handle does not move the cluster.
    place: Vec<u32>,
    /// The elements of `L̃_k`, square with `4 * handles.len()` rows.
    data: Mat,
}

impl Form {
    /// Creates a zero matrix over the marked handles.
    pub fn new(moved: &[bool]) -> Self {
        let handles: Vec<usize> = (0..moved.len()).filter(|&j| moved[j]).collect();
        let mut place = vec![u32::MAX; moved.len()];
        handles.iter().enumerate().for_each(|(k, &j)| place[j] = k as u32);
        Self { data: Mat::zeros(4 * handles.len(), 4 * handles.len()), handles, place }
    }

    /// Builds the matrix from `moved` (the handles that move the cluster), the number of all handles, and the
    /// elements in row-major order. Returns `None` if the arguments are inconsistent.
    pub fn of(moved: Vec<usize>, handles: usize, data: Vec<f64>) -> Option<Self> {
        let size = 4 * moved.len();
        let mut place = vec![u32::MAX; handles];
        for (k, &j) in moved.iter().enumerate() {
            let place = place.get_mut(j).filter(|p| **p == u32::MAX)?;
            *place = k as u32;
        }
        let fits = data.len() == size * size;
        fits.then_some(Self { handles: moved, place, data: Mat { rows: size, cols: size, data } })
    }

    /// Returns the handles that move the cluster, ascending.
    pub fn handles(&self) -> &[usize] {
        &self.handles
    }

    /// Returns the matrix, square with four rows per handle in [`Form::handles`].
    pub fn matrix(&self) -> &Mat {
        &self.data
    }

    /// Adds `partᵀ y` to the rows of `handle`; `y` is zero outside the handles in `list`.
    #[inline]
    pub fn add_rows(&mut self, handle: usize, part: [f64; 4], list: &[usize], y: &[f64]) {
        let own = self.place[handle] as usize;
        for (d, factor) in part.into_iter().enumerate() {
            let target = self.data.row_mut(4 * own + d);
            for &j in list {
                let at = 4 * self.place[j] as usize;
                let (from, to) = (&y[4 * j..4 * j + 4], &mut target[at..at + 4]);
                (0..4).for_each(|i| to[i] += factor * from[i]);
            }
        }
    }

    /// Adds `value` to the element at a row and column of the full system. If one of the two handles does not move
    /// the cluster yet, the matrix grows by that handle.
    pub fn add(&mut self, row: usize, col: usize, value: f64) {
        for handle in [row / 4, col / 4] {
            if self.place[handle] == u32::MAX {
                self.place[handle] = self.handles.len() as u32;
                self.handles.push(handle);
                let size = 4 * self.handles.len();
                let mut data = Mat::zeros(size, size);
                for r in 0..self.data.rows {
                    data.row_mut(r)[..size - 4].copy_from_slice(self.data.row(r));
                }
                self.data = data;
            }
        }
        let local = |i: usize| 4 * self.place[i / 4] as usize + i % 4;
        *self.data.at(local(row), local(col)) += value;
    }

    /// Adds this matrix to the matrix of the full system.
    pub fn add_to(&self, whole: &mut Mat) {
        for (a, &i) in self.handles.iter().enumerate() {
            for d in 0..4 {
                let target = whole.row_mut(4 * i + d);
                for (part, &j) in self.data.row(4 * a + d).chunks_exact(4).zip(&self.handles) {
                    target[4 * j..4 * j + 4].iter_mut().zip(part).for_each(|(t, v)| *t += v);
                }
            }
        }
    }

    /// Adds `T₀ᵀ L̃_k` to the cluster's three rows of `out`. `rest` is `T₀`.
    pub fn covariance(&self, rest: &Mat, cluster: usize, out: &mut Mat) {
        for (a, &i) in self.handles.iter().enumerate() {
            for d in 0..4 {
                let factor = rest.row(4 * i + d);
                for (part, &j) in self.data.row(4 * a + d).chunks_exact(4).zip(&self.handles) {
                    for (c, factor) in factor.iter().enumerate() {
                        let target = &mut out.row_mut(3 * cluster + c)[4 * j..4 * j + 4];
                        target.iter_mut().zip(part).for_each(|(t, v)| *t += factor * v);
                    }
                }
            }
        }
    }
}
