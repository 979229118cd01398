//! The Laplacian of one cluster over the handles that move it: a small dense matrix.

use super::dense::Mat;

/// A cluster's Laplacian `L̃_k`.
#[derive(Clone, Debug)]
pub(super) struct Form {
    /// The handles that move the cluster, ascending.
    handles: Vec<usize>,
    /// Index of each handle in `handles`.
    place: Vec<u32>,
    /// `4 handles` square.
    data: Mat,
}

impl Form {
    /// A zero matrix over the marked handles.
    pub fn new(moved: &[bool]) -> Self {
        let handles: Vec<usize> = (0..moved.len()).filter(|&j| moved[j]).collect();
        let mut place = vec![u32::MAX; moved.len()];
        handles.iter().enumerate().for_each(|(k, &j)| place[j] = k as u32);
        Self { data: Mat::zeros(4 * handles.len(), 4 * handles.len()), handles, place }
    }

    /// Assembles the matrix from its parts: the handles that move the cluster, the number of all handles,
    /// and the data row by row. `None` if these are inconsistent.
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

    /// The handles that move the cluster, ascending.
    pub fn handles(&self) -> &[usize] {
        &self.handles
    }

    /// The matrix, `4 handles` square.
    pub fn matrix(&self) -> &Mat {
        &self.data
    }

    /// Adds `M_iᵀ y` for a handle's part of a vertex's row of `M`; the row `y` is zero except for the listed handles.
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

    /// Adds `value` to an element, given by row and column of the whole system. Handles that did not move
    /// the cluster are added to it.
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

    /// Adds this matrix to the matrix of the whole system.
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

    /// Writes `T₀ᵀ L̃_k` to the cluster's rows of `out`.
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
