//! The steps of the springs in a frame, one per dispatch. Shaders and CPU reference execute the same list.
//!
//! [`Solver::Multigrid`] is a full approximation scheme (A. Brandt, "Multi-level adaptive solutions to boundary-value
//! problems", 1977). It first solves the coarse levels, each of which provides the start of the next finer level.
//! V-cycles on the original mesh follow, in which a coarse level receives the residual force of the finer level
//! ([`Iteration::take`]), so that both levels have the same equilibrium. The scheme differs from the textbook in one
//! point. The force is not computed in a separate pass: the last iteration before the coarse level stores the force at
//! its start. The correction is added to the result of that iteration. This saves a pass over the mesh.

use super::levels::Levels;
use super::momentum::Momentum;
use super::{Params, Solver, Stop, Torque};

/// Iterations between two stop tests. Even, so that a level always stops in a fixed half of its double buffer.
pub const TEST_EVERY: u32 = 4;
/// Iterations on the original mesh before and after each visit to a coarser level.
const FINE: u32 = TEST_EVERY / 2;
/// Iterations before and after each visit to a coarser level, on levels between the original mesh and the coarsest.
const BETWEEN: u32 = 4;
/// Spectral radius `ρ` that the momentum assumes while smoothing. The coarser level handles slower modes.
const SMOOTHING: f32 = 0.9;

/// One step of a frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Op {
    /// Runs an iteration on a level.
    Iterate(Iteration),
    /// Transfers positions and forces of a level to the next coarser level.
    Restrict {
        /// Level index of the coarser level.
        to: usize,
        /// The half of the finer level's double buffer that the forces belong to.
        before: u32,
    },
    /// Transfers the change of a coarse level to the next finer level.
    Prolong {
        /// Level index of the coarser level.
        from: usize,
        /// The half of the coarser level's double buffer that holds its result.
        half: u32,
        /// The half of the finer level's double buffer that the coarser level started from.
        before: u32,
        /// The half of the finer level's double buffer that the change is added to.
        after: u32,
        /// Whether the stop test measures the resulting move.
        tested: bool,
    },
    /// Ends the frame if the springs have converged.
    Test {
        /// Index of the tested iteration on the original mesh.
        iteration: u32,
    },
}

/// An iteration on one level of the multigrid hierarchy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Iteration {
    /// Level index; zero is the original mesh.
    pub level: usize,
    /// Index of the iteration on this level.
    pub index: u32,
    /// The half of the double buffer to read; the iteration writes the other half.
    pub half: u32,
    /// The momentum's weight.
    pub weight: f32,
    /// Whether the iteration first adjusts its load to the force received from the finer level.
    pub take: bool,
    /// Whether the iteration stores its forces for the coarser level.
    pub keep: bool,
    /// Whether a stop test follows the iteration.
    pub tested: bool,
}

/// The steps of the springs in a frame.
#[derive(Clone, Debug)]
pub struct Schedule {
    /// Steps, in order of execution.
    pub ops: Vec<Op>,
    /// Number of levels in use, including the original mesh.
    pub levels: usize,
    room: Room,
}

/// Scratch memory of [`Schedule::renew`].
#[derive(Clone, Debug, Default)]
struct Room {
    halves: Vec<u32>,
    counts: Vec<u32>,
    rates: Vec<f32>,
}

impl Schedule {
    /// Creates the steps for these parameters. If `settled`, the start is nearly in equilibrium and the schedule does
    /// not solve the coarse levels first.
    pub fn new(params: &Params, levels: &Levels, settled: bool) -> Self {
        let mut out = Self { ops: Vec::new(), levels: 0, room: Room::default() };
        out.renew(params, levels, settled);
        out
    }

    /// Recomputes the schedule for other parameters. Allocates only if the number of steps grows.
    pub fn renew(&mut self, params: &Params, levels: &Levels, settled: bool) {
        let used = levels.used(params) + 1;
        self.levels = used;
        let coarsest = levels.coarse.last().map_or(&levels.fine, |l| &l.binding);
        let Self { ops, room: Room { halves, counts, rates }, .. } = self;
        ops.clear();
        for list in [&mut *halves, &mut *counts] {
            list.clear();
            list.resize(used, 0);
        }
        let solving = Momentum::new(params, if used == 1 { &levels.fine } else { coarsest }, rates);
        let coarse_iterations = params.coarse_iterations;
        let mut b =
            Builder { ops, halves, counts, coarse_iterations, solving, tests: params.stop != Stop::Never };
        if used == 1 {
            let mut momentum = solving;
            for k in 0..params.max_iterations {
                b.iterate(0, momentum.weight(), false, false);
                b.test(k);
            }
            return;
        }
        if !settled {
            for level in (1..used).rev() {
                b.cycle(level, false);
                // Both halves of the double buffer hold the level's start; the next iteration overwrites the first
                // half.
                b.ops.push(Op::Prolong {
                    from: level,
                    half: b.halves[level],
                    before: 1,
                    after: 0,
                    tested: false,
                });
            }
        }
        let mut smoothing = Momentum::smoothing(SMOOTHING);
        for k in 0..params.max_iterations {
            if k % FINE == 0 {
                smoothing = smoothing.restarted();
            }
            // No correction is made if no iteration is left to smooth it.
            let correct = k % TEST_EVERY == FINE - 1 && k + FINE < params.max_iterations;
            b.iterate(0, smoothing.weight(), false, correct);
            if correct {
                b.correct(0);
            }
            b.test(k);
        }
    }

    /// Returns the number of iterations on all levels, weighted by a level's size relative to the original mesh.
    pub fn work(&self, levels: &Levels) -> f32 {
        let size = |level: usize| match level.checked_sub(1) {
            None => levels.fine.vertices.len(),
            Some(k) => levels.coarse[k].binding.vertices.len(),
        };
        let all = size(0).max(1) as f32;
        let iterations = self.ops.iter().filter_map(|op| match op {
            Op::Iterate(iteration) => Some(size(iteration.level) as f32 / all),
            _ => None,
        });
        iterations.sum()
    }
}

struct Builder<'a> {
    ops: &'a mut Vec<Op>,
    /// The half of the double buffer that holds each level's current iterate.
    halves: &'a mut [u32],
    /// Number of iterations so far on each level.
    counts: &'a mut [u32],
    coarse_iterations: u32,
    solving: Momentum,
    tests: bool,
}

impl Builder<'_> {
    fn iterate(&mut self, level: usize, weight: f32, take: bool, keep: bool) {
        let index = self.counts[level];
        let half = self.halves[level];
        let tested = self.tests && level == 0 && (index + 1).is_multiple_of(TEST_EVERY);
        self.ops.push(Op::Iterate(Iteration { level, index, half, weight, take, keep, tested }));
        self.counts[level] += 1;
        self.halves[level] = 1 - half;
    }

    fn test(&mut self, iteration: u32) {
        if self.tests && (iteration + 1).is_multiple_of(TEST_EVERY) {
            self.ops.push(Op::Test { iteration });
        }
    }

    /// Corrects a level with the response of the coarser levels to its stored forces.
    fn correct(&mut self, level: usize) {
        let (after, to) = (self.halves[level], level + 1);
        self.ops.push(Op::Restrict { to, before: 1 - after });
        self.halves[to] = 0;
        self.cycle(to, true);
        let half = self.halves[to];
        let tested = self.tests && level == 0;
        self.ops.push(Op::Prolong { from: to, half, before: 1 - after, after, tested });
    }

    /// Runs a V-cycle that brings a coarse level near its equilibrium.
    fn cycle(&mut self, level: usize, take: bool) {
        if level + 1 == self.halves.len() {
            let mut momentum = self.solving.restarted();
            for k in 0..self.coarse_iterations {
                self.iterate(level, momentum.weight(), take && k == 0, false);
            }
            return;
        }
        let mut momentum = Momentum::smoothing(SMOOTHING);
        for k in 0..BETWEEN {
            self.iterate(level, momentum.weight(), take && k == 0, k + 1 == BETWEEN);
        }
        self.correct(level);
        let mut momentum = momentum.restarted();
        for _ in 0..BETWEEN {
            self.iterate(level, momentum.weight(), false, false);
        }
    }
}

impl Stop {
    /// Returns the factor on a coarser level's move in the stop test. One such move replaces many iterations.
    pub(crate) fn correction(self) -> f32 {
        if matches!(self, Self::Move(_)) { 0.1 } else { 0.0 }
    }
}

impl Params {
    /// Whether the solver uses coarser levels. The torques of the thesis are too unequal for them: on a vertex near its
    /// bone they are orders of magnitude stiffer than on its neighbours, and a coarse level would throw it off.
    pub(crate) fn coarsens(&self) -> bool {
        self.solver == Solver::Multigrid && self.torque == Torque::Arc
    }
}
