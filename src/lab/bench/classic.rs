//! Measures LSE and ARAP on regions of several sizes. Both run on the CPU and need no GPU device.

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

/// Numbers of passive vertices of the regions.
const REGIONS: [usize; 4] = [1_000, 2_000, 5_000, 10_000];
/// Number of vertices of the mesh that contains the regions.
const MESH: usize = 40_000;
/// Timed runs per region.
const RUNS: usize = 5;
/// Rounds of ARAP per timed run; the time is divided by this number.
const ROUNDS: u32 = 10;

/// LSE and ARAP times of one region.
#[derive(Clone, Copy, Debug, serde::Serialize)]
pub struct ClassicTimes {
    /// Number of passive vertices.
    pub vertices: usize,
    /// LSE: assembling and factoring both matrices.
    pub lse_factor: Sample,
    /// LSE: solving, including one round of refinement.
    pub lse_solve: Sample,
    /// ARAP, spokes and rims: assembling and factoring the matrix.
    pub arap_factor: Sample,
    /// ARAP: one round of rotations and positions.
    pub arap_round: Sample,
}

/// Measures all regions on a generated tube.
pub(super) fn measure() -> Result<Vec<ClassicTimes>> {
    let name = format!("tube of {MESH}");
    let bytes = stage("generate", || generate::tube(MESH))?.0;
    let ((model, _), _) = stage("bind", || Source::Memory(name, bytes).prepare(&ONCE))?;
    let control = &model.bound.character.control;
    REGIONS.iter().map(|&n| Ok(stage(&format!("{n} vertices"), || region(control, n))?.0)).collect()
}

/// Returns up to `count` vertices in the breadth-first order of the edge graph. The search starts at the vertex in the
/// middle of the mesh's front.
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

/// Measures a disc-shaped region. The vertices within about a tenth of the disc's radius are kinematic.
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
