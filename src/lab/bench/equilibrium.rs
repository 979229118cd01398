//! Counts the iterations that plain Jacobi and the default solver need to reach the same equilibrium.

use super::{Source, poses};
use crate::app::context::{Context, stage};
use crate::base::Result;
use crate::base::math::Vec3;
use crate::deform::clock::Frames;
use crate::deform::springs::levels::Levels;
use crate::deform::springs::schedule::{Schedule, TEST_EVERY};
use crate::deform::springs::{Params, Solver, Stop, Variant};
use crate::deform::{Graph, Kernels, Recipe};
use crate::rig::PosedRig;
use crate::scene::Model;
use std::fmt::Write;
use std::sync::Arc;

/// Convergence threshold for the largest distance of a vertex from the equilibrium, divided by the shortest side of the
/// bind box.
const NEAR: f32 = 1e-3;
/// Number of plain Jacobi iterations between two measurements of the distance to the equilibrium.
const LOOK: u32 = 25;
/// Maximum plain Jacobi iterations of a search.
const LONGEST: u32 = 5000;
/// Iterations of the default solver after which the shape is constant.
const EXHAUSTIVE: u32 = 240;
/// Plain Jacobi iterations that check whether the default solver's result is an equilibrium.
const STAY: u32 = 400;

/// Iteration counts of one mesh in one pose. Distances are the largest over all vertices, divided by the shortest
/// side of the bind box.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Equilibrium {
    /// Name of the generated mesh or of the file.
    pub mesh: String,
    /// Number of control vertices.
    pub vertices: usize,
    /// Random seed of the pose.
    pub pose: u64,
    /// Distance from the geometric method's shape to the equilibrium.
    pub start: f32,
    /// Distance between the default solver's final shape and the shape after further iterations of plain Jacobi. A
    /// small value shows that both solvers share an equilibrium.
    pub drift: f32,
    /// Iterations after which plain Jacobi is within 1e-3 of the equilibrium, rounded up to a multiple of 25; `None` if
    /// more than `limit`.
    pub plain: Option<u32>,
    /// Maximum plain Jacobi iterations of the search.
    pub limit: u32,
    /// Fine-level iterations after which the default solver is within 1e-3 of the equilibrium, rounded up to its next
    /// convergence test.
    pub accelerated: u32,
    /// As `accelerated`, but with the iterations on all levels. A coarse iteration counts as a fraction: the level's
    /// number of vertices divided by the fine level's number.
    pub work: f32,
    /// Iterations until the default stop criterion ends the solver.
    pub stop: u32,
    /// Distance to the equilibrium when the default stop criterion ends the solver.
    pub left: f32,
}

impl Equilibrium {
    /// Plain Jacobi's iterations divided by the default solver's; a lower bound if plain Jacobi did not converge.
    pub fn ratio(&self) -> f32 {
        self.plain.unwrap_or(self.limit) as f32 / self.accelerated.max(1) as f32
    }
}

/// Measures each mesh in two poses.
pub(super) fn measure(context: &mut Context, sources: &[Source]) -> Result<Vec<Equilibrium>> {
    let kernels = context.kernels()?;
    let mut out = Vec::new();
    for source in sources {
        let name = source.name();
        let (model, _) = source.prepare(&super::ONCE)?;
        for pose in [1, 2] {
            let rig = PosedRig::new(model.skeleton(), &poses::bent(model.skeleton(), pose));
            let title = format!("{name}: equilibrium of pose {pose}");
            let (line, _) =
                stage(&title, || Search::new(&kernels, &model, rig)?.measure(&name, pose, LONGEST))?;
            out.push(line);
        }
    }
    Ok(out)
}

struct Search<'a> {
    kernels: &'a Arc<Kernels>,
    graph: Graph,
    levels: Levels,
    rig: PosedRig,
}

impl<'a> Search<'a> {
    fn new(kernels: &'a Arc<Kernels>, model: &Model, rig: PosedRig) -> Result<Self> {
        let graph = Graph::new(kernels, &model.bound, &Recipe::default(), false)?;
        Ok(Self { kernels, graph, levels: Levels::bind(&model.bound, Variant::Sinew), rig })
    }

    fn frame(&mut self, params: &Params) -> Result<Vec<Vec3>> {
        self.graph.set_springs(params);
        let device = self.kernels.device();
        device.run(|frame| {
            self.graph.record(frame, &self.rig);
            Ok(())
        })?;
        let count = self.levels.fine.vertices.len();
        let x: Vec<[f32; 4]> = device.read(self.graph.control_positions(), count)?;
        Ok(x.iter().map(|p| Vec3::new(p[0], p[1], p[2])).collect())
    }

    fn measure(&mut self, mesh: &str, pose: u64, limit: u32) -> Result<Equilibrium> {
        let thickness = self.levels.fine.thickness;
        let distance = |a: &[Vec3], b: &[Vec3]| {
            a.iter().zip(b).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max) / thickness
        };
        // Volume and untangling corrections are off: they run after the iterations and would move the shape away from
        // the iterations' fixed point.
        let all = Params { volume: 0.0, untangle: 0, ..Params::default() };
        let fast = Params { stop: Stop::Never, ..all };
        let plain = Params { solver: Solver::Jacobi, frames: Frames::Dependent, ..fast };
        let start = self.frame(&Params { max_iterations: 0, solver: Solver::Jacobi, ..fast })?;
        let found = self.frame(&Params { max_iterations: EXHAUSTIVE, ..fast })?;
        // Plain Jacobi continues from the default solver's result. The shape that plain Jacobi reaches is the reference
        // equilibrium.
        let end = self.frame(&Params { max_iterations: STAY, ..plain })?;

        let mut accelerated = 0;
        for n in 1..=EXHAUSTIVE / TEST_EVERY {
            accelerated = n * TEST_EVERY;
            if distance(&self.frame(&Params { max_iterations: accelerated, ..fast })?, &end) < NEAR {
                break;
            }
        }
        let schedule = Schedule::new(&Params { max_iterations: accelerated, ..fast }, &self.levels, false);
        let stopped = self.frame(&Params { max_iterations: EXHAUSTIVE, ..all })?;
        let stop = self.graph.iterations()?;
        self.graph.forget();
        let mut needed = None;
        for n in 1..=limit / LOOK {
            if distance(&self.frame(&Params { max_iterations: LOOK, ..plain })?, &end) < NEAR {
                needed = Some(n * LOOK);
                break;
            }
        }
        Ok(Equilibrium {
            mesh: mesh.to_owned(),
            vertices: self.levels.fine.vertices.len(),
            pose,
            start: distance(&start, &end),
            drift: distance(&found, &end),
            plain: needed,
            limit,
            accelerated,
            work: schedule.work(&self.levels),
            stop,
            left: distance(&stopped, &end),
        })
    }
}

pub(super) fn text(lines: &[Equilibrium]) -> String {
    let rows: Vec<Vec<String>> = (lines.iter())
        .map(|e| {
            let over = if e.plain.is_none() { "over " } else { "" };
            vec![
                format!("{}, pose {}", e.mesh, e.pose),
                e.vertices.to_string(),
                format!("{over}{}", e.plain.unwrap_or(e.limit)),
                e.accelerated.to_string(),
                format!("{over}{:.0}", e.ratio()),
                format!("{:.0}", e.work),
                format!("{:.1e}", e.start),
                format!("{:.1e}", e.drift),
                format!("{}: {:.1e}", e.stop, e.left),
            ]
        })
        .collect();
    let mut out = String::new();
    let title = "Iterations until no vertex is further than 1e-3 of the thickness from plain Jacobi's equilibrium; \
                 work counts those on coarser meshes by their size; drift is how far plain Jacobi goes from what the \
                 default solver comes to";
    let head =
        ["mesh", "vertices", "plain", "default", "ratio", "work", "start", "drift", "at the default stop"];
    super::text::table(&mut out, title, &head, &rows);
    let least = lines.iter().map(Equilibrium::ratio).fold(f32::INFINITY, f32::min);
    let verdict = if least >= 4.0 { "reached" } else { "MISSED" };
    let _ = writeln!(
        out,
        "\nTarget: at most a quarter of plain Jacobi's iterations: {verdict} (least ratio {least:.0})."
    );
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::{self, Kind};
    use crate::gpu::testing;

    #[test]
    fn the_default_solver_reaches_plain_jacobis_equilibrium_in_a_quarter_of_the_iterations() {
        if testing::device().is_none() {
            return;
        }
        let mut context = Context::new(None);
        let sources = [Kind::Box, Kind::Plus]
            .map(|kind| Source::Memory(kind.name().to_owned(), generate::glb(kind).unwrap()));
        let lines = measure(&mut context, &sources).unwrap();
        for e in &lines {
            assert!(e.start > 10.0 * NEAR && e.drift < 0.3 * NEAR, "{e:?}");
            assert!(e.plain.is_some() && e.ratio() >= 4.0, "{e:?}");
            assert!(e.left < NEAR, "{e:?}");
        }
        assert!(text(&lines).contains("reached"), "{}", text(&lines));
    }
}
