//! Bounded biharmonic weights by the general interior-point solver Clarabel (Paul Goulart, Yuwen Chen, 2024). Tests
//! compare the weights of the active set method with these, and the benchmark compares the times.

use super::Program;
#[cfg(feature = "clarabel")]
use super::{Energy, Handles};
use crate::base::{Error, Result};
#[cfg(feature = "clarabel")]
use crate::geom::Cubes;
use clarabel::algebra::CscMatrix;
use clarabel::solver::{DefaultSettings, DefaultSolver, IPSolver, NonnegativeConeT, SolverStatus};

impl Program {
    /// Minimises the energy of handle `k` within the bounds. `gap` is the tolerance of the duality gap, relative and
    /// absolute; without it, Clarabel uses its own settings.
    pub(super) fn interior_point(&self, k: usize, gap: Option<f64>) -> Result<Vec<f64>> {
        let (nodes, lower) = self.lower(&self.handles.free);
        let mut w = self.handles.fixed(k);
        let gradient = self.energy.gradient(&w);
        let n = nodes.len();
        // The solver's tolerances suit a matrix with a diagonal near 1.
        let scale = lower.iter().map(|entry| entry.val).fold(f64::MIN_POSITIVE, f64::max).recip();
        let (rows, columns, values) =
            lower.iter().map(|e| (e.col, e.row, scale * e.val)).collect::<(Vec<_>, Vec<_>, Vec<_>)>();
        let matrix = CscMatrix::new_from_triplets(n, n, rows, columns, values);
        let linear: Vec<f64> = nodes.iter().map(|&node| scale * gradient[node as usize]).collect();
        let sign = |row: usize| if row < n { 1.0 } else { -1.0 };
        let bounds = CscMatrix::new_from_triplets(
            2 * n,
            n,
            (0..2 * n).collect(),
            (0..2 * n).map(|row| row % n).collect(),
            (0..2 * n).map(sign).collect(),
        );
        let limits: Vec<f64> = (0..2 * n).map(|row| f64::max(sign(row), 0.0)).collect();
        let mut settings = DefaultSettings { verbose: false, ..DefaultSettings::default() };
        if let Some(gap) = gap {
            (settings.tol_gap_abs, settings.tol_gap_rel, settings.tol_feas) = (gap, gap, 100.0 * gap);
        }
        let unsolved = |what: String| Error::input(format!("Clarabel: {what}"), "use fewer cubes");
        let mut solver =
            DefaultSolver::new(&matrix, &linear, &bounds, &limits, &[NonnegativeConeT(2 * n)], settings)
                .map_err(|e| unsolved(e.to_string()))?;
        solver.solve();
        if solver.solution.status != SolverStatus::Solved {
            return Err(unsolved(solver.solution.status.to_string()));
        }
        nodes.iter().zip(&solver.solution.x).for_each(|(&node, x)| w[node as usize] = x.clamp(0.0, 1.0));
        Ok(w)
    }
}

/// Returns the bounded biharmonic weights of handle `k` per node, by Clarabel with its own settings. See
/// [`biharmonic_weights`](super::biharmonic_weights) for the weights.
///
/// # Errors
/// [`Error::Input`] if a handle's node does not exist, or Clarabel does not solve the program.
#[cfg(feature = "clarabel")]
pub fn biharmonic_weight_by_clarabel(cubes: &Cubes, handles: &[Vec<u32>], k: usize) -> Result<Vec<f64>> {
    let energy = Energy::new(cubes);
    let fixed = Handles::new(&energy.edges, cubes.nodes.len(), handles)?;
    Program { matrix: energy.matrix(), energy, handles: fixed }.interior_point(k, None)
}
