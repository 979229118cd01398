//! Alternates local and global steps of [`Gold`] until no node moves, for measurements of speed. Each local step starts
//! from the rotations of the previous step. Anderson acceleration extrapolates the steps (Peng, Deng, Zhang, Geng, Qin,
//! Liu, *Anderson Acceleration for Geometry Optimization and Physics Simulation*, 2018). [`crate::deform::fast`] uses
//! the same acceleration in its reduced space and in f32.

use super::gold::Gold;
use crate::base::math::{DQuat, DVec3};
use crate::geom::nearest_rotation;

/// Number of previous steps that the extrapolation uses.
const WINDOW: usize = 6;
/// Regularisation of the extrapolation's least-squares problem, relative to the largest squared difference.
const RIDGE: f64 = 1e-10;
/// The differences between successive steps.
#[derive(Default)]
struct StepDifferences {
    /// The displacement of all nodes in the last step, and the positions after that step.
    last: Option<(Vec<DVec3>, Vec<DVec3>)>,
    moves: Vec<Vec<DVec3>>,
    shapes: Vec<Vec<DVec3>>,
}

impl StepDifferences {
    /// Returns the extrapolated positions, given the positions after a plain step and the displacements of that step.
    fn extrapolate(&mut self, after: &[DVec3], moved: Vec<DVec3>) -> Vec<DVec3> {
        if let Some((last_move, last_shape)) = &self.last {
            if self.moves.len() == WINDOW {
                self.moves.remove(0);
                self.shapes.remove(0);
            }
            self.moves.push(difference(&moved, last_move));
            self.shapes.push(difference(after, last_shape));
        }
        let gram = self.moves.iter().map(|a| self.moves.iter().map(|b| dot(a, b)).collect()).collect();
        let right = self.moves.iter().map(|m| dot(m, &moved)).collect();
        let mut out = after.to_vec();
        for (share, shape) in solve(gram, right).into_iter().zip(&self.shapes) {
            out.iter_mut().zip(shape).for_each(|(x, d)| *x -= *d * share);
        }
        self.last = Some((moved, after.to_vec()));
        out
    }

    fn forget(&mut self) {
        self.moves.clear();
        self.shapes.clear();
    }
}

fn difference(a: &[DVec3], b: &[DVec3]) -> Vec<DVec3> {
    a.iter().zip(b).map(|(a, b)| *a - *b).collect()
}

fn dot(a: &[DVec3], b: &[DVec3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a.dot(*b)).sum()
}

/// Solves a symmetric positive semidefinite system by regularised elimination.
fn solve(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> Vec<f64> {
    let n = b.len();
    let largest = (0..n).map(|k| a[k][k]).fold(f64::MIN_POSITIVE, f64::max);
    (0..n).for_each(|k| a[k][k] += RIDGE * largest);
    for k in 0..n {
        for i in k + 1..n {
            let factor = a[i][k] / a[k][k];
            let (above, row) = a.split_at_mut(i);
            row[0].iter_mut().zip(&above[k]).skip(k).for_each(|(x, y)| *x -= factor * y);
            b[i] -= factor * b[k];
        }
    }
    for k in (0..n).rev() {
        let known: f64 = (k + 1..n).map(|j| a[k][j] * b[j]).sum();
        b[k] = (b[k] - known) / a[k][k];
    }
    b
}

impl Gold {
    /// Runs steps from `x` until a plain step moves no node by more than `still`, but at most `most` steps. Returns the
    /// number of steps.
    ///
    /// # Panics
    /// Unless there is one position per node.
    pub fn settle(&mut self, x: &mut [DVec3], still: f64, most: usize) -> usize {
        self.rotations.fill(DQuat::IDENTITY);
        let mut memory = StepDifferences::default();
        let mut energy = self.rotate(x, nearest_rotation);
        for steps in 1..=most {
            let mut after = x.to_vec();
            self.place(&mut after);
            let moved = difference(&after, x);
            if moved.iter().all(|d| d.length_squared() <= still * still) {
                x.copy_from_slice(&after);
                return steps;
            }
            x.copy_from_slice(&memory.extrapolate(&after, moved));
            let next = self.rotate(x, nearest_rotation);
            energy = if next <= energy {
                next
            } else {
                // An extrapolation that raises the energy is replaced by the plain step.
                memory.forget();
                x.copy_from_slice(&after);
                self.rotate(x, nearest_rotation)
            };
        }
        most
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_system_is_solved_and_a_singular_one_stays_finite() {
        let x = solve(vec![vec![4.0, 1.0], vec![1.0, 3.0]], vec![1.0, 2.0]);
        assert!((x[0] - 1.0 / 11.0).abs() < 1e-8 && (x[1] - 7.0 / 11.0).abs() < 1e-8, "{x:?}");
        assert!(solve(vec![vec![1.0, 1.0], vec![1.0, 1.0]], vec![1.0, 1.0]).iter().all(|v| v.is_finite()));
        assert!(solve(vec![vec![0.0]], vec![0.0])[0].is_finite());
    }
}
