//! Measures one mesh: skinning, springs, normals and the cost of an iteration.

use super::measure::{Effort, Runs, Sample, repeat};
use super::report::{Converged, DeformTimes, FRAME_MS, Iteration, MeshReport, Preparation, Springs};
use super::{draw, lbs, poses};
use crate::app::context::{Context, stage};
use crate::base::Result;
use crate::base::math::{Aabb, Vec3};
use crate::deform::springs::gpu::{MAX_ITERATIONS, iteration_bytes};
use crate::deform::springs::{Params, Solver, Stop};
use crate::deform::{Geometric, Graph, Kernels, Recipe, swing_twist, volume};
use crate::rig::PosedRig;
use crate::scene::Model;
use std::sync::Arc;

/// Iteration counts of the thesis's Table 1.
pub(super) const FIXED: [u32; 4] = [1, 25, 50, 100];
/// Iteration limit; a solver that needs more counts as not converged.
const LONGEST: u32 = 500;
/// Number of multigrid cycles with contact, for the method `volume`.
const CONTACT: u32 = 3;
/// Iteration limit of the frame that measures skipped iterations. The time is averaged over the iterations after
/// convergence.
const SKIPPED: u32 = 100;

pub(super) fn mesh(
    context: &mut Context,
    name: String,
    model: &Model,
    preparation: Preparation,
    effort: &Effort,
) -> Result<MeshReport> {
    let kernels = context.kernels()?;
    let rigs = poses::pair(model.skeleton());
    let character = &model.bound.character;
    let cpu_lbs = lbs::measure(&character.control, &rigs, effort);
    let geometric = |method: Geometric| -> Result<DeformTimes> {
        let graph = Graph::new(&kernels, &model.bound, &Recipe::geometric(method), false)?;
        Ok(times(&Bench { kernels: &kernels, rigs: &rigs, effort }.run(graph)?.1))
    };
    let swing_twist = Geometric::SwingTwist(swing_twist::Params::DEFAULT);
    let [lbs, dqs, swing_twist] = stage(&format!("{name}: skinning"), || {
        Ok([geometric(Geometric::Lbs)?, geometric(Geometric::Dqs)?, geometric(swing_twist)?])
    })?
    .0;

    let bench = Bench { kernels: &kernels, rigs: &rigs, effort };
    let solved = |contact: u32| {
        let recipe = Recipe::volume(volume::Params { contact, ..volume::Params::default() });
        let runs = bench.run(Graph::new(&kernels, &model.bound, &recipe, false)?)?.1;
        Ok(DeformTimes { skinning: runs.phases(&["volume"]), ..times(&runs) })
    };
    let volume = stage(&format!("{name}: volume"), || solved(0))?.0;
    let contact = stage(&format!("{name}: volume with contact"), || solved(CONTACT))?.0;
    let graph = Graph::new(&kernels, &model.bound, &Recipe::default(), false)?;
    let ((graph, springs, normals), _) = stage(&format!("{name}: springs"), || bench.fixed(graph))?;
    let title = format!("{name}: iterations at 60 frames per second");
    let ((graph, largest), _) = stage(&title, || bench.largest(graph, &springs))?;
    let (mut graph, mut converged) = (graph, Vec::new());
    for solver in [Solver::Multigrid, Solver::Chebyshev, Solver::Jacobi] {
        let title = format!("{name}: springs to convergence, {solver:?}");
        let ((back, line), _) = stage(&title, || bench.converge(graph, solver))?;
        graph = back;
        converged.push(line);
    }
    let ((mut graph, bare), _) = stage(&format!("{name}: one iteration"), || bench.bare(graph))?;
    graph.set_springs(&Params::default());
    let ((graph, skipped_ms), _) =
        stage(&format!("{name}: skipped iterations"), || bench.skipped(graph, springs[0].springs))?;
    let ((graph, swing), _) = stage(&format!("{name}: dynamics"), || bench.swing(graph))?;

    let mut posed = vec![Vec3::ZERO; character.control.positions.len()];
    lbs::skin(&character.control, &rigs[1], &mut posed);
    let bounds = Aabb::of(posed.iter().copied());
    let renderer = context.renderer()?;
    let draw =
        stage(&format!("{name}: drawing"), || draw::measure(&renderer, model, &graph, bounds, effort))?.0;

    let vertices = character.control.positions.len();
    let half_edges = character.control.adjacency.neighbor.len();
    let first = &springs[0];
    let steps = f64::from(FIXED[FIXED.len() - 1] - FIXED[0]);
    // Other load on the machine only adds time, so the shortest runs are the most accurate.
    let milliseconds = (bare[1].min_ms - bare[0].min_ms) / steps;
    let bytes = iteration_bytes(vertices, half_edges);
    Ok(MeshReport {
        name,
        joints: model.skeleton().joints.len(),
        bones: model.skeleton().bones.len(),
        vertices,
        half_edges,
        display_vertices: character.display.positions.len(),
        triangles: character.display.triangles.len(),
        preparation,
        cpu_lbs,
        lbs,
        dqs,
        swing_twist,
        volume,
        contact,
        iteration: Iteration {
            milliseconds,
            ns_per_vertex: milliseconds * 1e6 / vertices.max(1) as f64,
            skipped_ms,
            prepare_and_finish_ms: (first.springs.min_ms - milliseconds).max(0.0),
            bytes_once: bytes.once,
            bytes_gathered: bytes.gathered,
            gigabytes_per_second: bytes.once as f64 / (milliseconds * 1e6),
            share_of_copy: 0.0,
        },
        springs,
        largest,
        converged,
        normals,
        swing,
        draw,
    })
}

fn times(runs: &Runs) -> DeformTimes {
    DeformTimes { skinning: runs.phases(&["skinning"]), frame: runs.device(), wall: runs.wall() }
}

/// The inputs for measuring a graph.
pub(super) struct Bench<'a> {
    pub kernels: &'a Arc<Kernels>,
    pub rigs: &'a [PosedRig; 2],
    pub effort: &'a Effort,
}

impl Bench<'_> {
    /// Runs a graph's frame repeatedly, alternating between both poses.
    pub fn run(&self, mut graph: Graph) -> Result<(Graph, Runs)> {
        let runs = repeat(self.kernels.device(), self.effort, |i, frame| {
            graph.record(frame, &self.rigs[i]);
            Ok(())
        })?;
        Ok((graph, runs))
    }

    /// Measures plain Jacobi with the given number of iterations.
    pub fn plain(&self, mut graph: Graph, iterations: u32) -> Result<(Graph, Runs)> {
        graph.set_springs(&Params {
            max_iterations: iterations,
            stop: Stop::Never,
            solver: Solver::Jacobi,
            ..Params::default()
        });
        self.run(graph)
    }

    /// Measures the first and the last of the thesis's iteration counts without the corrections, whose time depends on
    /// the shape.
    fn bare(&self, mut graph: Graph) -> Result<(Graph, [Sample; 2])> {
        let mut out = [Sample::of(&[]); 2];
        for (out, max_iterations) in out.iter_mut().zip([FIXED[0], FIXED[FIXED.len() - 1]]) {
            let (stop, solver) = (Stop::Never, Solver::Jacobi);
            graph.set_springs(&Params {
                max_iterations,
                stop,
                solver,
                volume: 0.0,
                untangle: 0,
                ..Params::default()
            });
            let runs;
            (graph, runs) = self.run(graph)?;
            *out = runs.phases(&["springs"]);
        }
        Ok((graph, out))
    }

    /// Measures the thesis's iteration counts, and the time of display copy and normals.
    fn fixed(&self, mut graph: Graph) -> Result<(Graph, Vec<Springs>, Sample)> {
        let (mut out, mut normals) = (Vec::new(), Sample::of(&[]));
        for iterations in FIXED {
            let runs;
            (graph, runs) = self.plain(graph, iterations)?;
            normals = runs.phases(&["surface"]);
            out.push(Springs {
                iterations,
                springs: runs.phases(&["springs"]),
                frame: runs.device(),
                wall: runs.wall(),
            });
        }
        Ok((graph, out, normals))
    }

    /// Measures the largest number of plain iterations in a frame at 60 frames per second, by bisection. `fixed` has the
    /// frames of [`FIXED`].
    fn largest(&self, mut graph: Graph, fixed: &[Springs]) -> Result<(Graph, u32)> {
        let fitting = fixed.iter().filter(|s| s.frame.median_ms <= FRAME_MS).map(|s| s.iterations);
        let mut low = fitting.max().unwrap_or(0);
        let above = fixed.iter().map(|s| s.iterations).filter(|&n| n > low);
        let mut high = above.min();
        while low > 0 && low < MAX_ITERATIONS && high.is_none_or(|high| high - low > 1 + low / 50) {
            let next = high.map_or((2 * low).min(MAX_ITERATIONS), |high| (low + high) / 2);
            let runs;
            (graph, runs) = self.plain(graph, next)?;
            match runs.device().median_ms <= FRAME_MS {
                true => low = next,
                false => high = Some(next),
            }
        }
        Ok((graph, low))
    }

    /// Measures a solver with the default stop criterion. The frame records as many iterations as the slower pose
    /// needs, but at least as many as the default limit. The time therefore includes the cost of skipped iterations, as
    /// in normal use.
    fn converge(&self, mut graph: Graph, solver: Solver) -> Result<(Graph, Converged)> {
        let params = Params { solver, max_iterations: LONGEST, ..Params::default() };
        graph.set_springs(&params);
        let mut iterations = [0; 2];
        for (rig, n) in self.rigs.iter().zip(&mut iterations) {
            self.kernels.device().run(|frame| {
                graph.record(frame, rig);
                Ok(())
            })?;
            *n = graph.iterations()?;
        }
        let most = iterations[0].max(iterations[1]);
        let limit = most.max(Params::default().max_iterations);
        graph.set_springs(&Params { max_iterations: limit, ..params });
        let (graph, runs) = self.run(graph)?;
        let line = Converged {
            solver,
            iterations,
            limit,
            reached: most < LONGEST,
            within_default: most <= Params::default().max_iterations,
            springs: runs.phases(&["springs"]),
            frame: runs.device(),
            wall: runs.wall(),
        };
        Ok((graph, line))
    }

    /// Measures dynamics at 60 frames per second with zero spring iterations.
    fn swing(&self, mut graph: Graph) -> Result<(Graph, Sample)> {
        graph.set_springs(&Params { dynamics: 3.0, max_iterations: 0, ..Params::default() });
        let mut frames = 0u32;
        let runs = repeat(self.kernels.device(), self.effort, |i, frame| {
            graph.set_time(Some(f64::from(frames) / 60.0));
            frames += 1;
            graph.record(frame, &self.rigs[i]);
            Ok(())
        })?;
        graph.set_time(None);
        Ok((graph, runs.phases(&["dynamics"])))
    }

    /// Returns the time, milliseconds, of an iteration that does nothing, because the stop criterion was already met.
    fn skipped(&self, mut graph: Graph, one: Sample) -> Result<(Graph, f64)> {
        graph.set_springs(&Params {
            max_iterations: SKIPPED,
            stop: Stop::Move(1.0),
            solver: Solver::Jacobi,
            ..Params::default()
        });
        let (graph, runs) = self.run(graph)?;
        let skipped = SKIPPED.saturating_sub(graph.iterations()?).max(1);
        let more = runs.phases(&["springs"]).min_ms - one.min_ms;
        Ok((graph, more.max(0.0) / f64::from(skipped)))
    }
}
