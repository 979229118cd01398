//! FAST on one CPU thread: times for binding, for switching constraints and for one iteration, on meshes of increasing
//! size.

use super::measure::{Effort, Sample};
use super::{lbs, poses};
use crate::app::context::stage;
use crate::base::Result;
use crate::base::math::{DVec3, Vec3};
use crate::bind::shapes::Shape;
use crate::deform::fast::{Acceleration, Body, Constrained, Constraint, Params, Solver, Target};
use std::fmt::Write;
use std::time::Instant;

/// Approximate vertex counts of the capsules.
const VERTICES: [usize; 5] = [5_000, 20_000, 43_000, 90_000, 150_000];
/// Number of handles, as in the paper; `CLUSTERS` is the paper's number of rotation clusters.
const HANDLES: usize = 17;
const CLUSTERS: u32 = 34;
/// Solver iterations per frame.
const FRAME: u32 = 15;
/// Iterations after which the solution is constant.
const EXHAUSTIVE: u32 = 4000;
/// Frames per measurement, enough to exceed the clock's resolution.
const FRAMES: u32 = 20;

/// FAST times of one mesh.
#[derive(Clone, Debug, serde::Serialize)]
pub struct FastTimes {
    /// Number of control vertices.
    pub vertices: usize,
    /// Number of handles.
    pub handles: usize,
    /// Number of rotation clusters.
    pub clusters: usize,
    /// Computing the reduced matrices from mesh and weights.
    pub bind: Sample,
    /// Switching to another set of constraints: five points.
    pub switch: Sample,
    /// Switching to the largest set of constraints: all handles with a full transform.
    pub switch_all: Sample,
    /// Setting new constraint values and reading the transforms.
    pub frame: Sample,
    /// One plain iteration.
    pub plain: Sample,
    /// One accelerated iteration.
    pub iteration: Sample,
    /// Baseline for comparison: linear blend skinning of the mesh on one CPU thread in the same run.
    pub cpu_lbs: Sample,
    /// Time of an accelerated iteration divided by `cpu_lbs`.
    pub share_of_lbs: f64,
    /// Excess energy after 15 plain iterations from rest: the energy minus its minimum, divided by the minimum.
    pub left_plain: f64,
    /// Excess energy after 15 accelerated iterations from rest: the energy minus its minimum, divided by the minimum.
    pub left: f64,
}

/// Measures FAST on capsules of all sizes.
///
/// # Errors
/// Any error from binding.
pub fn measure(effort: &Effort) -> Result<Vec<FastTimes>> {
    VERTICES.iter().map(|&n| Ok(stage(&format!("capsule of {n}"), || capsule(n, effort))?.0)).collect()
}

fn sample(effort: &Effort, count: u32, mut run: impl FnMut() -> Result<()>) -> Result<Sample> {
    run()?;
    let begin = Instant::now();
    let mut times = Vec::new();
    while times.len() < 3 || begin.elapsed() < effort.budget && times.len() < 10 * effort.most {
        let start = Instant::now();
        run()?;
        times.push(start.elapsed().as_secs_f64() * 1e3 / f64::from(count));
    }
    Ok(Sample::of(&times))
}

fn capsule(vertices: usize, effort: &Effort) -> Result<FastTimes> {
    let segments = 48;
    let rings = (vertices / segments).max(HANDLES);
    let shape = Shape { bones: HANDLES, rings, segments, radius: 0.1, length: 2.0, blend: 1.0 };
    let character = shape.capsule();
    let params = Params { clusters: CLUSTERS, ..Params::default() };
    let bind = sample(effort, 1, || Body::bind(&character, &params).map(drop))?;
    let body = Body::bind(&character, &params)?;
    let reduced = &body.reduced;
    let places: Vec<(usize, Vec3)> = [0, 4, 8, 12, 16]
        .map(|h: usize| h.min(reduced.given - 1))
        .map(|h| (h, body.pivot(&character.skeleton, h)))
        .into();
    let points = || places.iter().map(|&(h, x)| Constraint::on_handle(h, x)).collect::<Vec<_>>();
    let all = || (0..reduced.given).map(|handle| Constraint::Full { handle }).collect::<Vec<_>>();
    let constrained = reduced.constrain(points())?;
    let mut solver = Solver::new(reduced, &constrained);
    let switch = sample(effort, 1, || {
        let constrained = reduced.constrain(points())?;
        solver.switch(&constrained);
        Ok(())
    })?;
    let switch_all = sample(effort, 1, || {
        let constrained = reduced.constrain(all())?;
        solver.switch(&constrained);
        Ok(())
    })?;
    let targets: Vec<[Target; 5]> = [1.0, -1.0]
        .map(|side| {
            let pull = |k: usize| DVec3::new(side * 0.3 * (k % 2) as f64, -0.1 * k as f64, 0.1 * side);
            std::array::from_fn(|k| Target::Point(places[k].1.as_dvec3() + pull(k)))
        })
        .into();
    let start = Solver::new(reduced, &constrained);
    let mut solver = start.clone();
    let frame = sample(effort, 2 * FRAMES, || {
        for _ in 0..FRAMES {
            for targets in &targets {
                solver.set_targets(reduced, &constrained, targets);
                solver.solve(0, Acceleration::Plain);
                std::hint::black_box(solver.transforms(reduced));
            }
        }
        Ok(())
    })?;
    // The two poses alternate and each frame starts from rest, so no frame starts from an already converged solution.
    let per_iteration = |acceleration: Acceleration| {
        let mut solvers = targets.clone().into_iter().map(|t| {
            let mut solver = start.clone();
            solver.set_targets(reduced, &constrained, &t);
            solver
        });
        let fresh: Vec<Solver> = solvers.by_ref().collect();
        let mut work = fresh.clone();
        sample(effort, FRAMES * 2 * FRAME, || {
            for _ in 0..FRAMES {
                for (work, fresh) in work.iter_mut().zip(&fresh) {
                    work.copy_rotations(fresh);
                    work.solve(FRAME, acceleration);
                }
            }
            Ok(())
        })
    };
    let plain = per_iteration(Acceleration::Plain)?;
    let iteration = per_iteration(Acceleration::Anderson)?;
    let cpu_lbs = lbs::measure(&character.control, &poses::pair(&character.skeleton), effort);
    let left = |acceleration| left(&start, &body, &constrained, &targets[0], acceleration);
    Ok(FastTimes {
        vertices: character.control.positions.len(),
        handles: reduced.handles,
        clusters: reduced.clusters,
        bind,
        switch,
        switch_all,
        frame,
        plain,
        iteration,
        cpu_lbs,
        share_of_lbs: iteration.min_ms / cpu_lbs.min_ms,
        left_plain: left(Acceleration::Plain),
        left: left(Acceleration::Anderson),
    })
}

/// Returns the excess energy after one frame from rest: the energy minus its minimum, divided by the minimum.
fn left(start: &Solver, body: &Body, constrained: &Constrained, targets: &[Target], by: Acceleration) -> f64 {
    let after = |iterations: u32, by| {
        let mut solver = start.clone();
        solver.set_targets(&body.reduced, constrained, targets);
        solver.solve(iterations, by);
        solver.energy(&body.reduced)
    };
    let least = after(EXHAUSTIVE, Acceleration::Plain).min(after(EXHAUSTIVE, Acceleration::Anderson));
    after(FRAME, by) / least - 1.0
}

/// Formats the times as a table.
pub fn text(rows: &[FastTimes]) -> String {
    let mut out = String::from(
        "FAST, one thread, the shortest runs; energy left after 15 iterations from rest, as a share of the least\n",
    );
    let _ = writeln!(
        out,
        "{:>9} {:>3} {:>3} {:>9} {:>10} {:>10} {:>9} {:>9} {:>9} {:>10} {:>9} {:>8} {:>8}",
        "vertices",
        "m",
        "r",
        "bind ms",
        "switch ms",
        "all ms",
        "frame us",
        "plain us",
        "iter. us",
        "LBS us",
        "iter/LBS",
        "left pl.",
        "left"
    );
    for r in rows {
        let _ = writeln!(
            out,
            "{:>9} {:>3} {:>3} {:>9.1} {:>10.3} {:>10.3} {:>9.2} {:>9.2} {:>9.2} {:>10.1} {:>9.4} {:>8.4} {:>8.4}",
            r.vertices,
            r.handles,
            r.clusters,
            r.bind.min_ms,
            r.switch.min_ms,
            r.switch_all.min_ms,
            r.frame.min_ms * 1e3,
            r.plain.min_ms * 1e3,
            r.iteration.min_ms * 1e3,
            r.cpu_lbs.min_ms * 1e3,
            r.share_of_lbs,
            r.left_plain,
            r.left
        );
    }
    if let Some(armadillo) = rows.get(2) {
        let ms = 500.0 * (f64::from(FRAME) * armadillo.iteration.min_ms + armadillo.frame.min_ms);
        let _ = writeln!(
            out,
            "500 characters of {} vertices, 15 iterations each: {ms:.1} ms",
            armadillo.vertices
        );
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_small_capsule_is_measured_whole() {
        let effort = Effort { budget: Duration::ZERO, most: 1 };
        let row = capsule(1200, &effort).unwrap();
        assert_eq!((row.handles, row.clusters), (17, 34));
        assert!(row.vertices > 1000 && row.iteration.min_ms > 0.0 && row.cpu_lbs.min_ms > 0.0, "{row:?}");
        assert!(row.left >= -1e-3 && row.left <= row.left_plain + 0.05, "{row:?}");
        let text = text(&[row.clone(), row.clone(), row]);
        assert!(text.contains("500 characters") && text.contains("iter/LBS"), "{text}");
    }
}
