//! LSE and ARAP against the vertices of their region: on the CPU, so without a device.

use super::measure::Sample;
use super::text::table;
use super::{ONCE, Source};
use crate::app::context::stage;
use crate::base::Result;
use crate::base::math::{DVec3, Vec3};
use crate::deform::classic::{Arap, ArapOptions, Lists, Lse, LseOptions};
use crate::generate;
use crate::geom::ControlMesh;
use std::collections::VecDeque;
use std::time::Instant;

/// Vertices of the regions.
const REGIONS: [usize; 4] = [1_000, 2_000, 5_000, 10_000];
/// Vertices of the mesh that they lie on.
const MESH: usize = 40_000;
/// Runs of each.
const RUNS: usize = 5;
/// Rounds of ARAP that are timed together.
const ROUNDS: u32 = 10;

/// A region's times.
#[derive(Clone, Copy, Debug, serde::Serialize)]
pub struct ClassicTimes {
    /// Passive vertices.
    pub vertices: usize,
    /// LSE: making and factoring both matrices.
    pub lse_factor: Sample,
    /// LSE: solving, one round of refinement included.
    pub lse_solve: Sample,
    /// ARAP, spokes and rims: making and factoring the matrix.
    pub arap_factor: Sample,
    /// ARAP: one round of rotations and positions.
    pub arap_round: Sample,
}

/// Measures on a tube.
pub(super) fn measure() -> Result<Vec<ClassicTimes>> {
    let name = format!("tube of {MESH}");
    let bytes = stage("generate", || generate::tube(MESH))?.0;
    let ((model, _), _) = stage("bind", || Source::Memory(name, bytes).prepare(&ONCE))?;
    let control = &model.bound.character.control;
    REGIONS.iter().map(|&n| Ok(stage(&format!("{n} vertices"), || region(control, n))?.0)).collect()
}

/// So many vertices about one in the middle of the front, nearest first by edges.
pub(super) fn disc(control: &ControlMesh, count: usize) -> Vec<u32> {
    let middle = control.aabb.center();
    let away = |v: &usize| control.positions[*v].distance_squared(middle + Vec3::Z * control.aabb.size().z);
    let seed = (0..control.positions.len()).min_by(|a, b| away(a).total_cmp(&away(b))).unwrap_or(0) as u32;
    let mut seen = vec![false; control.positions.len()];
    let (mut order, mut queue) = (Vec::new(), VecDeque::from([seed]));
    seen[seed as usize] = true;
    while let Some(v) = queue.pop_front().filter(|_| order.len() < count) {
        order.push(v);
        for &n in control.adjacency.of(v as usize) {
            if !std::mem::replace(&mut seen[n as usize], true) {
                queue.push_back(n);
            }
        }
    }
    order
}

/// A disc about a vertex in the middle: a tenth of its radius is kinematic.
fn region(control: &ControlMesh, vertices: usize) -> Result<ClassicTimes> {
    let handle = (vertices / 100).max(1);
    let order = disc(control, vertices + handle);
    let (kinematic, passive) = order.split_at(handle);
    let lists = Lists { kinematic, passive, fixed: &[] };
    let mut start: Vec<DVec3> = control.positions.iter().map(|p| p.as_dvec3()).collect();
    let lift = 0.05 * f64::from(control.aabb.diagonal());
    kinematic.iter().for_each(|&v| start[v as usize] += DVec3::new(0.0, 0.2, 1.0) * lift);
    let mut times: [Vec<f64>; 4] = Default::default();
    for _ in 0..RUNS {
        let mut timed = |slot: usize, share: u32, work: &mut dyn FnMut() -> Result<()>| {
            let begin = Instant::now();
            let done = work();
            times[slot].push(begin.elapsed().as_secs_f64() * 1e3 / f64::from(share));
            done
        };
        let (rest, triangles) = (&control.positions, &control.triangles);
        let (mut lse, mut arap) = (None, None);
        timed(0, 1, &mut || {
            lse = Some(Lse::new(rest, triangles, &lists, LseOptions::default())?);
            Ok(())
        })?;
        let options = ArapOptions { iterations: ROUNDS, tolerance: 0.0, ..ArapOptions::default() };
        timed(2, 1, &mut || {
            arap = Some(Arap::new(rest, triangles, &lists, options)?);
            Ok(())
        })?;
        let mut shape = start.clone();
        if let Some(lse) = &mut lse {
            timed(1, 1, &mut || lse.solve(&mut shape))?;
        }
        if let Some(arap) = &mut arap {
            timed(3, ROUNDS, &mut || arap.solve(&mut shape).map(|_| ()))?;
        }
    }
    let [lse_factor, lse_solve, arap_factor, arap_round] = times.map(|t| Sample::of(&t));
    Ok(ClassicTimes { vertices: passive.len(), lse_factor, lse_solve, arap_factor, arap_round })
}

/// The times as a table.
pub(super) fn text(times: &[ClassicTimes]) -> String {
    let cell = |s: Sample| format!("{:.2} ({:.2})", s.median_ms, s.min_ms);
    let row = |t: &ClassicTimes| {
        let mut row = vec![t.vertices.to_string()];
        row.extend([t.lse_factor, t.lse_solve, t.arap_factor, t.arap_round].map(cell));
        row
    };
    let mut out = String::new();
    table(
        &mut out,
        "LSE and ARAP on regions of a tube, on the CPU; milliseconds, median (minimum)",
        &["passive vertices", "LSE factor", "LSE solve", "ARAP factor", "ARAP, one round"],
        &times.iter().map(row).collect::<Vec<_>>(),
    );
    out
}
