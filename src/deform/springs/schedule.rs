//! The steps of a frame's springs, one per dispatch: shaders and CPU reference follow the same list.
//!
//! [`Solver::Multigrid`] is a full approximation scheme (A. Brandt, "Multi-level adaptive solutions to boundary-value
//! problems", 1977): coarse levels first, each the start of the next; then V-cycles on the original mesh, in which a
//! coarse level receives the remaining force of the finer one ([`Iteration::take`]), so that both have the same
//! equilibrium. It differs from the textbook in one point: the force is taken before the last iteration ahead of the
//! coarse level and the correction is added after it, which saves a pass over the mesh.

use super::levels::Levels;
use super::momentum::Momentum;
use super::{Params, Solver, Stop};

/// Iterations between two stop tests; even, so that a stopped level always ends in the same half of its iterates.
pub const TEST_EVERY: u32 = 4;
/// Iterations before and after each visit to a coarser level.
const FINE: u32 = TEST_EVERY / 2;
/// The same on the levels between the original mesh and the coarsest one.
const BETWEEN: u32 = 4;
/// `ρ` of the momentum for smoothing: slower modes are left to the coarser level.
const SMOOTHING: f32 = 0.9;

/// One step of a frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Op {
    /// An iteration on a level.
    Iterate(Iteration),
    /// Transfers positions and forces of a level to the next coarser one.
    Restrict {
        /// The coarser level.
        to: usize,
        /// The half of the finer level's iterates that the forces belong to.
        before: u32,
    },
    /// Transfers the change of a level to the next finer one.
    Prolong {
        /// The coarser level.
        from: usize,
        /// The half of the coarser level's iterates that holds its result.
        half: u32,
        /// The half of the finer level's iterates that the coarser one started from.
        before: u32,
        /// The half of the finer level's iterates that the change is added to.
        after: u32,
        /// Whether the stop test uses the resulting move.
        tested: bool,
    },
    /// Ends the frame if the springs have converged.
    Test {
        /// The tested iteration of the original mesh.
        iteration: u32,
    },
}

/// An iteration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Iteration {
    /// Level index; zero is the original mesh.
    pub level: usize,
    /// Number of the iteration on this level.
    pub index: u32,
    /// The half of the iterates that is read; the other one is written.
    pub half: u32,
    /// The momentum's weight.
    pub weight: f32,
    /// Whether it starts by taking over the force that the finer level passes down.
    pub take: bool,
    /// Whether it stores its forces for the coarser level.
    pub keep: bool,
    /// Whether a stop test follows.
    pub tested: bool,
}

/// The steps of a frame.
#[derive(Clone, Debug)]
pub struct Schedule {
    /// Steps in order of execution.
    pub ops: Vec<Op>,
    /// Number of levels in use, including the original mesh.
    pub levels: usize,
    room: Room,
}

/// Scratch memory.
#[derive(Clone, Debug, Default)]
struct Room {
    halves: Vec<u32>,
    counts: Vec<u32>,
    rates: Vec<f32>,
}

impl Schedule {
    /// The steps for these parameters. `settled` says that the start is nearly in equilibrium, so no coarse
    /// level comes first.
    pub fn new(params: &Params, levels: &Levels, settled: bool) -> Self {
        let mut out = Self { ops: Vec::new(), levels: 0, room: Room::default() };
        out.renew(params, levels, settled);
        out
    }

    /// Replaces the schedule by that of other parameters; allocates only if it has more steps than before.
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
                // Both halves hold the start; the second one keeps it.
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
            // A correction is skipped if no iteration is left to smooth it.
            let correct = k % TEST_EVERY == FINE - 1 && k + FINE < params.max_iterations;
            b.iterate(0, smoothing.weight(), false, correct);
            if correct {
                b.correct(0);
            }
            b.test(k);
        }
    }

    /// Iterations on all levels; those on a coarser level count by its number of vertices relative to the
    /// original mesh.
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
    /// The half that holds each level's iterate.
    halves: &'a mut [u32],
    /// Iterations on each level.
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

    /// Corrects a level by the coarser levels' response to its stored forces.
    fn correct(&mut self, level: usize) {
        let (after, to) = (self.halves[level], level + 1);
        self.ops.push(Op::Restrict { to, before: 1 - after });
        self.halves[to] = 0;
        self.cycle(to, true);
        let half = self.halves[to];
        let tested = self.tests && level == 0;
        self.ops.push(Op::Prolong { from: to, half, before: 1 - after, after, tested });
    }

    /// Brings a coarse level near its equilibrium.
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
    /// Factor on a coarser level's correction in the stop test: it stands for many iterations.
    pub(crate) fn correction(self) -> f32 {
        if matches!(self, Self::Move(_)) { 0.1 } else { 0.0 }
    }
}

impl Params {
    /// Whether the solver uses coarser levels if there are any.
    pub(crate) fn coarsens(&self) -> bool {
        self.solver == Solver::Multigrid
    }
}
