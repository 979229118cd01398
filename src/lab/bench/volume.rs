//! Measures frames of the method `volume` beside frames of linear blend skinning and of springs.

use super::measure::{Effort, Sample, alternate};
use super::text::{sample, table};
use super::{ONCE, Source, poses};
use crate::app::context::{Context, stage};
use crate::base::Result;
use crate::deform::{Geometric, Graph, Recipe, volume};

/// Number of multigrid cycles with contact.
const CONTACT: u32 = 3;
/// Number of substeps of the last variant.
const SUBSTEPS: u32 = 4;

/// Times of one mesh.
#[derive(Clone, Debug, serde::Serialize)]
pub struct VolumeTimes {
    /// Name of the generated mesh or of the file.
    pub mesh: String,
    /// Number of control vertices.
    pub vertices: usize,
    /// Frames with normals: linear blend skinning, springs, `volume` without contact, with contact, and with contact in
    /// substeps.
    pub frames: [Sample; 5],
    /// The solve in the frames of `volume`, without and with contact.
    pub solves: [Sample; 2],
    /// Time of a frame of `volume`, without and with contact, over the time of a frame of springs. Medians over rounds.
    pub over_springs: [f64; 2],
    /// Time of a frame with contact in substeps, over the time of a frame with contact in one solve.
    pub over_one_solve: f64,
    /// The same over the time of a frame of linear blend skinning.
    pub over_lbs: [f64; 2],
}

pub(super) fn measure(
    context: &mut Context,
    sources: &[Source],
    effort: &Effort,
) -> Result<Vec<VolumeTimes>> {
    let kernels = context.kernels()?;
    let device = kernels.device();
    let of = |source: &Source| {
        let model = source.prepare(&ONCE)?.0;
        let rigs = poses::pair(model.skeleton());
        let solid = |contact, substeps| {
            Recipe::volume(volume::Params { contact, substeps, ..volume::Params::default() })
        };
        let recipes = [
            Recipe::geometric(Geometric::Lbs),
            Recipe::default(),
            solid(0, 1),
            solid(CONTACT, 1),
            solid(CONTACT, SUBSTEPS),
        ];
        let graph = |recipe: &Recipe| Graph::new(&kernels, &model.bound, recipe, false);
        let mut graphs = recipes.iter().map(graph).collect::<Result<Vec<_>>>()?;
        let mut rounds = |first: usize, counts: &dyn Fn(&str) -> bool| {
            let graphs = &mut graphs[first..];
            alternate(device, effort, counts, graphs.len(), |variant, round, frame| {
                graphs[variant].record(frame, &rigs[round % 2]);
                Ok(())
            })
        };
        let frames = rounds(0, &|_| true)?;
        let solves = rounds(2, &|phase| phase == "volume")?;
        let over = |method: usize, other: usize| {
            let ratios = frames[method].iter().zip(&frames[other]).map(|(a, b)| a / b);
            Sample::of(&ratios.collect::<Vec<_>>()).median_ms
        };
        Ok(VolumeTimes {
            mesh: source.name(),
            vertices: model.bound.character.control.positions.len(),
            over_springs: [2, 3].map(|method| over(method, 1)),
            over_lbs: [2, 3].map(|method| over(method, 0)),
            over_one_solve: over(4, 3),
            frames: [0, 1, 2, 3, 4].map(|method| Sample::of(&frames[method])),
            solves: [0, 1].map(|method| Sample::of(&solves[method])),
        })
    };
    sources.iter().map(|source| Ok(stage(&format!("{}: volume", source.name()), || of(source))?.0)).collect()
}

/// Formats the times as a Markdown table.
pub(super) fn text(rows: &[VolumeTimes]) -> String {
    let mut out = String::new();
    let title = "Frames with normals, milliseconds: volume without contact, with 3 cycles of contact, and with contact in 4 substeps, beside springs and linear blend skinning";
    let head = [
        "mesh",
        "vertices",
        "lbs",
        "springs",
        "volume",
        "solve",
        "/ springs",
        "/ lbs",
        "contact",
        "solve",
        "/ springs",
        "/ lbs",
        "substeps",
        "/ contact",
    ];
    let row = |r: &VolumeTimes| {
        let [lbs, springs, volume, contact, substeps] = r.frames.map(sample);
        let [without, with] = r.solves.map(sample);
        let [springs_without, springs_with] = r.over_springs.map(|ratio| format!("{ratio:.2}"));
        let [lbs_without, lbs_with] = r.over_lbs.map(|ratio| format!("{ratio:.2}"));
        let first = [r.mesh.clone(), r.vertices.to_string(), lbs, springs];
        let cells = [volume, without, springs_without, lbs_without, contact, with, springs_with, lbs_with];
        let last = [substeps, format!("{:.2}", r.over_one_solve)];
        first.into_iter().chain(cells).chain(last).collect()
    };
    table(&mut out, title, &head, &rows.iter().map(row).collect::<Vec<_>>());
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::testing;
    use std::time::Duration;

    #[test]
    fn a_tube_is_measured_with_every_method() {
        if testing::device().is_none() {
            return;
        }
        let bytes = crate::generate::tube(600).unwrap();
        let effort = Effort { budget: Duration::ZERO, most: 3 };
        let rows =
            measure(&mut Context::new(None), &[Source::Memory("tube".into(), bytes)], &effort).unwrap();
        let [row] = &rows[..] else { panic!("{rows:?}") };
        assert!(row.frames.iter().chain(&row.solves).all(|s| s.min_ms > 0.0 && s.runs == 3), "{row:?}");
        assert!(row.over_lbs.iter().chain(&row.over_springs).all(|r| *r > 0.0), "{row:?}");
        assert!(text(&rows).contains("| tube "));
    }
}
