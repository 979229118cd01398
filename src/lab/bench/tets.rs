//! The table of *Skeleton Driven Volumetric Deformation*: one pose of tetrahedra, solved to convergence on the CPU.

use super::measure::{Effort, Sample};
use super::{Source, poses};
use crate::app::context::stage;
use crate::base::Result;
use crate::base::math::Vec3;
use crate::deform::volume::cells::Cells;
use crate::deform::volume::tets::Tets;
use crate::deform::volume::tissue::Tissue;
use crate::deform::{Geometric, Streams};
use crate::rig::PosedRig;
use crate::scene::Model;
use std::sync::Arc;
use std::time::Instant;

/// Approximate number of nodes. The paper's table has a comparable row, with 13,002 vertices and 128,816 tetrahedra.
const NODES: usize = 13_000;
/// Time of a pose in the comparable row of the paper's table, milliseconds.
const PAPER_MS: f64 = 6630.0;
/// Number of corrections of the cube count to approach the wanted number of nodes.
const TRIES: usize = 4;
/// Seeds of the poses.
const POSES: [u64; 3] = [1, 2, 3];

/// Times of one mesh.
#[derive(Clone, Debug, serde::Serialize)]
pub struct TetTimes {
    /// Name of the generated mesh or of the file.
    pub mesh: String,
    /// Number of nodes.
    pub nodes: usize,
    /// Number of tetrahedra.
    pub tetrahedra: usize,
    /// Number of nodes that follow linear blend skinning.
    pub held: usize,
    /// Time of filling the mesh with cubes, milliseconds.
    pub fill: f64,
    /// Time of cutting the cubes into tetrahedra and factoring the linear system.
    pub factor: Sample,
    /// Per pose: number of solver steps until no node moves by more than 1e-4 of the diagonal.
    pub steps: Vec<usize>,
    /// Time of solving one pose, from linear blend skinning to convergence. The runs alternate between the poses.
    pub pose: Sample,
}

/// Measures each mesh in three poses.
pub(super) fn measure(sources: &[Source], effort: &Effort) -> Result<Vec<TetTimes>> {
    let mut out = Vec::new();
    for source in sources {
        let (model, _) = source.prepare(&super::ONCE)?;
        let title = format!("{}: tetrahedra", source.name());
        out.extend(stage(&title, || mesh(source.name(), &model, NODES, effort))?.0);
    }
    Ok(out)
}

/// Measures one mesh with about `wanted` nodes; `None` if the mesh encloses no volume.
fn mesh(mesh: String, model: &Model, wanted: usize, effort: &Effort) -> Result<Option<TetTimes>> {
    let since = |start: Instant| start.elapsed().as_secs_f64() * 1e3;
    let mut cubes = wanted / 2;
    let (mut cells, mut fill) = (Cells::bind(&model.bound.character, cubes as u32), 0.0);
    for _ in 0..TRIES {
        let nodes = cells.held.len();
        if nodes == 0 {
            return Ok(None);
        }
        cubes = cubes * wanted / nodes;
        let start = Instant::now();
        cells = Cells::bind(&model.bound.character, cubes as u32);
        fill = since(start);
    }
    let cells = Arc::new(cells);
    let start = Instant::now();
    let Some(mut tets) = Tets::bind(&Tissue::new(&cells), &model.bound)? else { return Ok(None) };
    let factor = Sample::of(&[since(start)]);
    let skeleton = model.skeleton();
    let start = Geometric::Lbs.bind(&cells.nodes)?;
    let starts: Vec<Vec<Vec3>> = POSES
        .iter()
        .map(|seed| {
            let mut streams = Streams::default();
            start.reference(&PosedRig::new(skeleton, &poses::bent(skeleton, *seed)), &mut streams);
            streams.position
        })
        .collect();
    let mut y = starts[0].clone();
    let steps = starts.iter().map(|start| tets.solve(start, &mut y)).collect();
    let (begin, mut times) = (Instant::now(), Vec::new());
    while times.len() < POSES.len() || begin.elapsed() < effort.budget && times.len() < effort.most {
        for from in &starts {
            let start = Instant::now();
            tets.solve(from, &mut y);
            times.push(since(start));
        }
    }
    let tetrahedra = 5 * cells.levels.first().map_or(0, |l| l.cells.len());
    let (nodes, held, pose) = (y.len(), tets.held(), Sample::of(&times));
    Ok(Some(TetTimes { mesh, nodes, tetrahedra, held, fill, factor, steps, pose }))
}

/// Formats the times as a table.
pub(super) fn text(rows: &[TetTimes]) -> String {
    let mut out = String::new();
    let title = "Tetrahedra of Skeleton Driven Volumetric Deformation on the CPU, one pose to convergence, milliseconds";
    let head = [
        "mesh",
        "nodes",
        "tetrahedra",
        "held",
        "fill",
        "factor",
        "steps",
        "pose",
        "the paper's time over pose",
    ];
    let rows: Vec<Vec<String>> = rows
        .iter()
        .map(|r| {
            let steps: Vec<String> = r.steps.iter().map(usize::to_string).collect();
            vec![
                r.mesh.clone(),
                r.nodes.to_string(),
                r.tetrahedra.to_string(),
                r.held.to_string(),
                format!("{:.0}", r.fill),
                format!("{:.0}", r.factor.min_ms),
                steps.join(", "),
                format!("{:.0}", r.pose.median_ms),
                format!("{:.1}", PAPER_MS / r.pose.median_ms),
            ]
        })
        .collect();
    super::text::table(&mut out, title, &head, &rows);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::{self, Kind};
    use std::time::Duration;

    #[test]
    fn a_box_is_measured_with_about_the_wanted_nodes() {
        let source = Source::Memory("box".to_owned(), generate::glb(Kind::Box).unwrap());
        let (model, _) = source.prepare(&super::super::ONCE).unwrap();
        let effort = Effort { budget: Duration::ZERO, most: 1 };
        let row = mesh("box".to_owned(), &model, 1500, &effort).unwrap().unwrap();
        assert!((1000..2200).contains(&row.nodes) && row.tetrahedra > row.nodes, "{row:?}");
        assert!(row.held > 0 && row.held < row.nodes / 4, "{row:?}");
        assert!(row.steps.iter().all(|n| (2..400).contains(n)) && row.pose.runs == 3, "{row:?}");
        assert!(text(&[row]).contains("box"));
    }
}
