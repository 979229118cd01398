//! Bounded biharmonic weights: the smoothest weights in [0, 1] on a grid of cubes.
//!
//! Alec Jacobson, Ilya Baran, Jovan Popović, Olga Sorkine, *Bounded biharmonic weights for real-time deformation*, ACM
//! TOG 30(4), 2011. As in the fast variant of that paper, each handle has its own quadratic program; the caller scales
//! the weights of a node to the sum 1. The variables are the weights at the corners of cubes, as in Kavan and Sorkine,
//! *Elasticity-inspired deformers for character articulation*, 2012 (differs: the paper of 2011 uses tetrahedra).
//!
//! The primal-dual active set method solves the programs: Michael Hintermüller, Kazufumi Ito, Karl Kunisch, *The
//! primal-dual active set strategy as a semismooth Newton method*, SIAM J. Optim. 13(3), 2002 (differs: the paper of
//! 2011 uses a general solver). The method starts from the solution without bounds; one factored matrix gives this
//! start for all handles. A test compares the weights with those of the interior-point solver Clarabel (Paul Goulart,
//! Yuwen Chen, 2024).

use crate::base::{Error, Result};
use crate::geom::{Cholesky, Columns, Cubes, Entry};

use super::smoothness::{Energy, Handles, REMEDY};
use rayon::prelude::*;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

/// A weight may leave [0, 1] by this much before its bound becomes active.
const TOLERANCE: f64 = 1e-9;
/// A bound stays active until its multiplier, divided by the diagonal of the matrix, has the wrong sign and exceeds
/// this size. Rounding errors are smaller.
const MULTIPLIER: f64 = 1e-12;
/// A node starts at the bound 0 if its weight without bounds is less than this.
const START: f64 = 1e-4;
/// Maximum number of changes of the active sets. The set of free nodes grows by one or two layers per change: a body of
/// 32,000 nodes needs 40 changes, a long winding tube 104.
const LIMIT: usize = 200;
/// The quadratic programs of all handles.
struct Program {
    energy: Energy,
    matrix: Vec<Vec<(u32, f64)>>,
    handles: Handles,
}

impl Program {
    /// Factors the matrix restricted to some nodes. Returns these nodes, in the order of the rows, and the factor.
    fn factor(&self, free: &[bool]) -> Result<(Vec<u32>, Cholesky)> {
        let (nodes, lower) = self.lower(free);
        Ok((nodes.clone(), Cholesky::new(nodes.len(), &lower, "the biharmonic matrix", REMEDY)?))
    }

    /// Returns some nodes and the lower triangle of the matrix restricted to them.
    fn lower(&self, free: &[bool]) -> (Vec<u32>, Vec<Entry>) {
        let nodes: Vec<u32> = (0..free.len() as u32).filter(|&node| free[node as usize]).collect();
        let mut number = vec![usize::MAX; free.len()];
        for (k, &node) in nodes.iter().enumerate() {
            number[node as usize] = k;
        }
        let row = |(k, &node): (usize, &u32)| {
            let number = &number;
            let entry = move |&(column, value): &(u32, f64)| Entry::new(k, number[column as usize], value);
            self.matrix[node as usize].iter().map(entry).filter(move |entry| entry.col <= k)
        };
        let lower = nodes.iter().enumerate().flat_map(row).collect();
        (nodes, lower)
    }

    /// Minimises the energy of all handles without bounds.
    fn unbounded(&self, count: usize) -> Result<Vec<Vec<f64>>> {
        let (nodes, factor) = self.factor(&self.handles.free)?;
        let mut all: Vec<Vec<f64>> = (0..count).map(|k| self.handles.fixed(k)).collect();
        let gradients: Vec<Vec<f64>> = all.iter().map(|w| self.energy.gradient(w)).collect();
        let mut x = Columns::from_fn(nodes.len(), count, |row, k| -gradients[k][nodes[row] as usize]);
        factor.solve(&mut x);
        for (k, w) in all.iter_mut().enumerate() {
            nodes.iter().enumerate().for_each(|(row, &node)| w[node as usize] = x[(row, k)]);
        }
        Ok(all)
    }

    /// Minimises the energy of one handle within the bounds, from a start, with at most `limit` changes of the active
    /// sets. Returns `None` if the sets still change after that, or if `go_on` returns false.
    fn active_set(&self, start: &[f64], limit: usize, go_on: &dyn Fn() -> bool) -> Result<Option<Vec<f64>>> {
        let known = |node: usize| !self.handles.free[node];
        // Per node: the bound at which the weight is held; `None` if the weight is free.
        let mut held: Vec<Option<f64>> = (0..start.len())
            .map(|node| match start[node] {
                w if known(node) => Some(w),
                w if w < START => Some(0.0),
                w => (w > 1.0 + TOLERANCE).then_some(1.0),
            })
            .collect();
        for _ in 0..limit {
            if !go_on() {
                return Ok(None);
            }
            let mut w: Vec<f64> = held.iter().map(|held| held.unwrap_or(0.0)).collect();
            let gradient = self.energy.gradient(&w);
            let free: Vec<bool> = held.iter().map(Option::is_none).collect();
            let (nodes, factor) = self.factor(&free)?;
            let mut x = Columns::from_fn(nodes.len(), 1, |row, _| -gradient[nodes[row] as usize]);
            factor.solve(&mut x);
            nodes.iter().enumerate().for_each(|(row, &node)| w[node as usize] = x[(row, 0)]);
            let gradient = self.energy.gradient(&w);
            let mut settled = true;
            for node in (0..w.len()).filter(|&node| !known(node)) {
                let least = MULTIPLIER * self.diagonal(node);
                let next = match held[node] {
                    None if w[node] < -TOLERANCE => Some(0.0),
                    None if w[node] > 1.0 + TOLERANCE => Some(1.0),
                    Some(0.0) if gradient[node] < -least => None,
                    Some(1.0) if gradient[node] > least => None,
                    same => same,
                };
                settled &= next == held[node];
                held[node] = next;
            }
            if settled {
                w.iter_mut().for_each(|w| *w = w.clamp(0.0, 1.0));
                return Ok(Some(w));
            }
        }
        Ok(None)
    }

    /// Returns the diagonal entry of the matrix at a node.
    fn diagonal(&self, node: usize) -> f64 {
        self.matrix[node].iter().find(|entry| entry.0 as usize == node).map_or(0.0, |entry| entry.1)
    }

    /// Solves the programs of `count` handles in parallel, with at most `limit` changes of the active sets each. Returns
    /// `None` if cancelled.
    fn all(
        &self,
        count: usize,
        limit: usize,
        progress: &(dyn Fn(f32) -> bool + Sync),
    ) -> Result<Option<Vec<Vec<f64>>>> {
        let (done, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
        let go_on = || {
            let fraction = done.load(Relaxed) as f32 / count.max(1) as f32;
            // After a cancellation, all handles stop, even if `progress` returns true later.
            !stop.load(Relaxed) && !stop.fetch_or(!progress(fraction), Relaxed) && !stop.load(Relaxed)
        };
        if !go_on() {
            return Ok(None);
        }
        let solve = |(k, start): (usize, &Vec<f64>)| -> Result<Option<Vec<f64>>> {
            let w = match self.active_set(start, limit, &go_on)? {
                None if go_on() => return Err(unsettled(k)),
                w => w,
            };
            done.fetch_add(1, Relaxed);
            Ok(w)
        };
        let starts = self.unbounded(count)?;
        let all = starts.par_iter().enumerate().map(solve).collect::<Result<Vec<_>>>()?;
        Ok(if go_on() { all.into_iter().collect() } else { None })
    }
}

fn unsettled(handle: usize) -> Error {
    Error::input(
        format!("the biharmonic weights of handle {handle} do not settle"),
        "use quasi-harmonic weights",
    )
}

/// Returns the bounded biharmonic weights per handle and node, not scaled to sum 1.
///
/// Weight `k` is 1 at the nodes of handle `k` and 0 at the nodes of the others. If several handles list a node, the
/// first of them owns it. In a connected component without handles, all weights are 0. `progress` receives the
/// completed fraction and returns false to cancel; then the result is `None`. Each processor core works on one handle
/// and holds a factor in memory.
///
/// # Errors
/// [`Error::Input`] if a handle's node does not exist, or a program cannot be solved.
pub fn biharmonic_weights(
    cubes: &Cubes,
    handles: &[Vec<u32>],
    progress: &(dyn Fn(f32) -> bool + Sync),
) -> Result<Option<Vec<Vec<f64>>>> {
    let energy = Energy::new(cubes);
    let fixed = Handles::new(&energy.edges, cubes.nodes.len(), handles)?;
    let program = Program { matrix: energy.matrix(), energy, handles: fixed };
    program.all(handles.len(), LIMIT, progress)
}

/// Returns the Laplacian energy `1/2 wᵀ L M⁻¹ L w` of one weight per node. It approximates half of the integral of
/// `(∆w)²`, in 1 / unit of length.
pub fn biharmonic_energy(cubes: &Cubes, w: &[f64]) -> f64 {
    Energy::new(cubes).value(w)
}

#[cfg(any(test, feature = "clarabel"))]
mod interior_point;
#[cfg(feature = "clarabel")]
pub use interior_point::biharmonic_weight_by_clarabel;

#[cfg(test)]
mod tests;
