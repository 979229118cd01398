//! Quasi-harmonic weights: smooth weights in [0, 1] with the sum 1 on a grid of cubes. No constraint has to enforce the
//! bounds.
//!
//! Yu Wang, Justin Solomon, *Fast quasi-harmonic weights for geometric data interpolation*, ACM TOG 40(4), 2021. The
//! weights solve `div(A grad w) = 0` with the value 1 at their handle and 0 at the other handles. All handles share the
//! diffusivities `A`, so the weights have the sum 1. By the maximum principle, they lie in [0, 1]. A descent on `A`
//! lowers the Laplacian energy of the weights. The gradient of the energy comes from the adjoint equation; one factored
//! matrix solves for both the weights and the adjoint.
//!
//! (differs) The paper has a symmetric positive definite matrix per tetrahedron. Here, each cube has one diffusivity
//! per axis, for its four edges along that axis. So the matrix is an M-matrix, and the maximum principle holds exactly.
//! (differs) The paper starts from harmonic weights. Here, the diffusivities start as 1 / (distance to the nearest
//! handle)², since a flow from a point spreads over spheres. This start removes the spikes that harmonic weights have
//! at single nodes.
//! (differs) The preconditioner is the logarithm: a step multiplies each diffusivity by a factor. Plain ADAM gives the
//! steps: Diederik Kingma, Jimmy Ba, *Adam: a method for stochastic optimization*, ICLR 2015.

use crate::base::Result;
use crate::base::math::DVec3;
use crate::geom::{CUBE_EDGES, Cholesky, Columns, Cubes, Entry, Pattern};

use super::smoothness::{Energy, Handles, NONE, REMEDY};
use rayon::prelude::*;

/// Approximate limit of the change of a diffusivity's logarithm per step.
const RATE: f64 = 0.2;
/// Decay of ADAM's running means of the gradient and of its square, per step.
const KEEP: f64 = 0.9;
/// Added to ADAM's root mean square of a gradient, so that the divisor is not 0. The gradient of the energy's logarithm
/// is about 1 / number of cubes.
const TINY: f64 = 1e-12;
/// Number of handles solved at once. It is fixed, because the number of columns changes the rounding.
const BATCH: usize = 8;
/// Name of the matrix in errors.
const WHAT: &str = "the quasi-harmonic matrix";

/// The logarithms of the diffusivities: per cube, one per axis.
type Logs = Vec<[f64; 3]>;

/// The equations for the weights.
struct Problem {
    energy: Energy,
    handles: Handles,
    /// Number of handles.
    count: usize,
    /// Nodes with unknown weights, in the order of the rows.
    nodes: Vec<u32>,
    /// Per node, its row, or [`NONE`].
    row: Vec<u32>,
    /// Per cube, the indices of its edges in the order of [`CUBE_EDGES`].
    cells: Vec<[u32; 12]>,
    /// Quarter of the edge length: conductance of an edge per cube of diffusivity 1.
    quarter: f64,
    pattern: Pattern,
}

/// The weights for given diffusivities.
struct HarmonicWeights {
    factor: Cholesky,
    /// Per handle and node.
    weights: Vec<Vec<f64>>,
    /// Sum of the Laplacian energies of the handles.
    energy: f64,
}

impl Problem {
    /// Prepares the equations.
    fn new(cubes: &Cubes, handles: &[Vec<u32>]) -> Result<Self> {
        let energy = Energy::new(cubes);
        let fixed = Handles::new(&energy.edges, cubes.nodes.len(), handles)?;
        let nodes: Vec<u32> =
            (0..cubes.nodes.len() as u32).filter(|&node| fixed.free[node as usize]).collect();
        let mut row = vec![NONE; cubes.nodes.len()];
        for (k, &node) in nodes.iter().enumerate() {
            row[node as usize] = k as u32;
        }
        let index =
            |a: u32, b: u32| energy.edges.partition_point(|(edge, _)| *edge < [a.min(b), a.max(b)]) as u32;
        let cells = cubes.cells.iter().map(|cell| CUBE_EDGES.map(|[a, b]| index(cell[a], cell[b]))).collect();
        let ones = vec![1.0; energy.edges.len()];
        let pattern = Pattern::new(nodes.len(), &entries(&energy, &ones, &row), WHAT, REMEDY)?;
        let quarter = 0.25 * cubes.size;
        Ok(Self { energy, handles: fixed, count: handles.len(), nodes, row, cells, quarter, pattern })
    }

    /// Returns the conductance of each edge: the sum over its cubes.
    fn conductances(&self, logs: &Logs) -> Vec<f64> {
        let mut out = vec![0.0; self.energy.edges.len()];
        for (edges, logs) in self.cells.iter().zip(logs) {
            let values = logs.map(|log| self.quarter * log.exp());
            edges.iter().enumerate().for_each(|(k, &edge)| out[edge as usize] += values[k / 4]);
        }
        out
    }

    /// Solves for the weights of all handles.
    fn solve(&self, logs: &Logs) -> Result<HarmonicWeights> {
        let conductances = self.conductances(logs);
        let lower = entries(&self.energy, &conductances, &self.row);
        let factor = Cholesky::with_pattern(&self.pattern, &lower, WHAT, REMEDY)?;
        let mut sources = vec![vec![]; self.count];
        for (&([a, b], _), &c) in self.energy.edges.iter().zip(&conductances) {
            for [a, b] in [[a, b], [b, a]].map(|edge| edge.map(|node| node as usize)) {
                if self.row[a] != NONE && self.handles.owner[b] != NONE {
                    sources[self.handles.owner[b] as usize].push((self.row[a] as usize, c));
                }
            }
        }
        let batches: Vec<usize> = (0..self.count).step_by(BATCH).collect();
        let solve = |&first: &usize| -> Vec<(Vec<f64>, f64)> {
            let columns = first..self.count.min(first + BATCH);
            let mut x = Columns::zeros(self.nodes.len(), columns.len());
            for (column, sources) in sources[columns.clone()].iter().enumerate() {
                sources.iter().for_each(|&(row, c)| x[(row, column)] += c);
            }
            factor.solve(&mut x);
            let weight = |(column, k): (usize, usize)| {
                let mut w = self.handles.fixed(k);
                // Only rounding errors can move a weight out of [0, 1].
                let values = self.nodes.iter().enumerate();
                values.for_each(|(row, &node)| w[node as usize] = x[(row, column)].clamp(0.0, 1.0));
                let energy = self.energy.value(&w);
                (w, energy)
            };
            columns.enumerate().map(weight).collect()
        };
        let parts: Vec<Vec<(Vec<f64>, f64)>> = batches.par_iter().map(solve).collect();
        let (weights, energies): (_, Vec<f64>) = parts.into_iter().flatten().unzip();
        Ok(HarmonicWeights { factor, weights, energy: energies.iter().sum() })
    }

    /// Returns the gradient of the energy with respect to the logarithms of the diffusivities.
    ///
    /// With the adjoint `v = K⁻¹ ∂E/∂w` of each handle, the derivative with respect to the conductance of an edge from
    /// a to b is the sum over the handles of `-(v_a - v_b) (w_a - w_b)`.
    fn gradient(&self, state: &HarmonicWeights, logs: &Logs) -> Logs {
        let batch = |weights: &[Vec<f64>]| -> Vec<f64> {
            let slopes: Vec<Vec<f64>> = weights.iter().map(|w| self.energy.gradient(w)).collect();
            let mut x = Columns::from_fn(self.nodes.len(), weights.len(), |row, column| {
                slopes[column][self.nodes[row] as usize]
            });
            state.factor.solve(&mut x);
            let mut out = vec![0.0; self.energy.edges.len()];
            for (column, w) in weights.iter().enumerate() {
                let adjoint = |node: usize| match self.row[node] {
                    NONE => 0.0,
                    row => x[(row as usize, column)],
                };
                for (out, &(edge, _)) in out.iter_mut().zip(&self.energy.edges) {
                    let [a, b] = edge.map(|node| node as usize);
                    *out -= (adjoint(a) - adjoint(b)) * (w[a] - w[b]);
                }
            }
            out
        };
        // The sum over the batches has a fixed order, so that results are the same on any number of cores.
        let parts: Vec<Vec<f64>> = state.weights.par_chunks(BATCH).map(batch).collect();
        let slope = |edge: &u32| parts.iter().map(|part| part[*edge as usize]).sum::<f64>();
        let by_cube = |(edges, logs): (&[u32; 12], &[f64; 3])| {
            [0, 1, 2].map(|axis: usize| {
                let sum: f64 = edges[4 * axis..4 * axis + 4].iter().map(slope).sum();
                self.quarter * logs[axis].exp() * sum
            })
        };
        self.cells.iter().zip(logs).map(by_cube).collect()
    }
}

/// Returns the lower triangle of the graph Laplacian with these conductances of the edges, restricted to some rows.
fn entries(energy: &Energy, conductances: &[f64], row: &[u32]) -> Vec<Entry> {
    let mut out = Vec::with_capacity(3 * conductances.len());
    for (&([a, b], _), &c) in energy.edges.iter().zip(conductances) {
        let [a, b] = [a, b].map(|node| row[node as usize]);
        let diagonal = [a, b].into_iter().filter(|&row| row != NONE);
        out.extend(diagonal.map(|row| Entry::new(row as usize, row as usize, c)));
        if a != NONE && b != NONE {
            out.push(Entry::new(a.max(b) as usize, a.min(b) as usize, -c));
        }
    }
    out
}

/// Returns diffusivities that fall with the squared distance from a cube's centre to the nearest node of a handle.
fn start(cubes: &Cubes, handles: &[Vec<u32>]) -> Logs {
    let places: Vec<DVec3> = handles.iter().flatten().map(|&node| cubes.nodes[node as usize]).collect();
    let log = |cell: &[u32; 8]| {
        let centre = 0.5 * (cubes.nodes[cell[0] as usize] + cubes.nodes[cell[7] as usize]);
        let square = places.iter().map(|p| p.distance_squared(centre)).fold(f64::MAX, f64::min);
        [-(square / (cubes.size * cubes.size)).ln(); 3]
    };
    cubes.cells.par_iter().map(log).collect()
}

/// Descent by ADAM on the logarithms of the diffusivities.
struct Adam {
    logs: Logs,
    /// Running means of the gradient and of its square.
    mean: Logs,
    square: Logs,
    /// Number of steps done.
    steps: i32,
}

impl Adam {
    /// Starts the descent.
    fn new(logs: Logs) -> Self {
        let zero = vec![[0.0; 3]; logs.len()];
        Self { logs, mean: zero.clone(), square: zero, steps: 0 }
    }

    /// Changes the logarithms, given the gradient of the energy and the energy.
    fn step(&mut self, gradient: &Logs, energy: f64) {
        self.steps += 1;
        // The means start at 0, which biases them. The division by the weight of the gradients seen so far removes the
        // bias.
        let seen = 1.0 - KEEP.powi(self.steps);
        let means = self.mean.iter_mut().flatten().zip(self.square.iter_mut().flatten());
        for ((log, (mean, square)), slope) in
            self.logs.iter_mut().flatten().zip(means).zip(gradient.iter().flatten())
        {
            let slope = slope / energy;
            *mean = KEEP * *mean + (1.0 - KEEP) * slope;
            *square = KEEP * *square + (1.0 - KEEP) * slope * slope;
            *log -= RATE * (*mean / seen) / ((*square / seen).sqrt() + TINY);
        }
    }
}

/// Returns the quasi-harmonic weights per handle and node. They lie in [0, 1], and their sum at a node is 1.
///
/// Weight `k` is 1 at the nodes of handle `k` and 0 at the nodes of the others. If several handles list a node, the
/// first of them owns it. In a connected component without handles, all weights are 0. `steps` is the number of descent
/// steps; 0 gives harmonic weights, and 20 steps suffice. `progress` receives the completed fraction and returns false
/// to cancel; then the result is `None`.
///
/// # Errors
/// [`Error::Input`](crate::base::Error::Input) if a handle's node does not exist, or memory is short.
pub fn quasi_harmonic_weights(
    cubes: &Cubes,
    handles: &[Vec<u32>],
    steps: usize,
    progress: &(dyn Fn(f32) -> bool + Sync),
) -> Result<Option<Vec<Vec<f64>>>> {
    let problem = Problem::new(cubes, handles)?;
    let harmonic = problem.solve(&vec![[0.0; 3]; cubes.cells.len()])?;
    if steps == 0 {
        return Ok(progress(1.0).then_some(harmonic.weights));
    }
    let mut best = harmonic;
    let mut adam = Adam::new(start(cubes, handles));
    let mut state = problem.solve(&adam.logs)?;
    for step in 1..=steps {
        if !progress(step as f32 / (steps + 1) as f32) {
            return Ok(None);
        }
        adam.step(&problem.gradient(&state, &adam.logs), state.energy);
        let next = problem.solve(&adam.logs)?;
        let last = std::mem::replace(&mut state, next);
        if last.energy < best.energy {
            best = last;
        }
    }
    let best = if state.energy < best.energy { state } else { best };
    Ok(progress(1.0).then_some(best.weights))
}

#[cfg(test)]
mod tests;
