//! Measures tubes of increasing size: the time per vertex is constant for stages whose cost is linear.

use super::deform::Bench;
use super::measure::Effort;
use super::report::Growth;
use super::{Source, poses};
use crate::app::context::{Context, stage};
use crate::base::Result;
use crate::deform::{Graph, Recipe};
use crate::generate;

/// Number of iterations over which the time is averaged; the first iteration is not included.
const STEPS: u32 = 20;

/// Binds and deforms a tube of about `vertices` vertices, and returns the times.
pub(super) fn tube(context: &mut Context, vertices: usize, effort: &Effort) -> Result<Growth> {
    let name = format!("tube of {vertices}");
    let bytes = stage(&format!("{name}: generate"), || generate::tube(vertices))?.0;
    let ((model, preparation), _) =
        stage(&format!("{name}: bind"), || Source::Memory(name.clone(), bytes).prepare(&super::ONCE))?;
    let kernels = context.kernels()?;
    let rigs = poses::pair(model.skeleton());
    let graph = Graph::new(&kernels, &model.bound, &Recipe::default(), false)?;
    let ((one, many), _) = stage(&format!("{name}: springs"), || {
        let bench = Bench { kernels: &kernels, rigs: &rigs, effort };
        let (graph, one) = bench.plain(graph, 1)?;
        let (_, many) = bench.plain(graph, 1 + STEPS)?;
        Ok((one, many))
    })?;
    let springs = |runs: &super::measure::Runs| runs.phases(&["springs"]).min_ms;
    let iteration_ms = (springs(&many) - springs(&one)) / f64::from(STEPS);
    let control = model.bound.character.control.positions.len();
    Ok(Growth {
        vertices: control,
        load_ms: preparation.load.median_ms,
        weld_ms: preparation.weld.median_ms,
        bind_ms: preparation.bind.median_ms,
        normals_ms: many.phases(&["surface"]).min_ms,
        iteration_ms,
        bind_ns_per_vertex: preparation.bind.median_ms * 1e6 / control.max(1) as f64,
        iteration_ns_per_vertex: iteration_ms * 1e6 / control.max(1) as f64,
    })
}
