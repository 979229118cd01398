//! Measures the cost of a sculpt layer in the spring solver, and the number of frames baked per second.

use super::classic::disc;
use super::measure::{Effort, Sample, alternate, longer};
use super::text::table;
use super::{ONCE, Source, poses};
use crate::app::context::{Context, stage};
use crate::base::{Error, Result, SculptId};
use crate::deform::sculpt::{About, BoundForm, BoundSculpt, Curve, Profile, SculptState};
use crate::deform::springs::{Params, Stop};
use crate::deform::{Graph, Recipe};
use crate::document::{Edit, Key};
use crate::generate;
use crate::generate::Kind;
use crate::project::bake::Bake;
use crate::rig::Pose;
use crate::scene::{Evaluator, Model, Where};
use crate::surface::STIFFNESS;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// The meshes that receive sculpt layers.
const MESHES: [Kind; 3] = [Kind::Human, Kind::Chibi, Kind::Golem];
/// Fractions of the vertices that a sculpt layer moves.
const SHARES: [f64; 2] = [0.1, 0.5];
/// Iterations per frame, with and without a sculpt layer. A typical pose needs about this number.
const ITERATIONS: u32 = 20;
/// Number of baked frames.
const FRAMES: u32 = 24;
/// Frame rate of the baked motion, frames per second.
const RATE: f64 = 24.0;

/// Spring times with and without a sculpt layer.
#[derive(Clone, Debug, serde::Serialize)]
pub struct EditTimes {
    /// Name of the mesh.
    pub name: String,
    /// Number of control vertices.
    pub vertices: usize,
    /// Number of vertices that the sculpt layer moves.
    pub edited: usize,
    /// Iterations per frame.
    pub iterations: u32,
    /// Spring time without sculpt layers.
    pub plain: Sample,
    /// Spring time with a sculpt layer of constant amplitude.
    pub standing: Sample,
    /// Spring time with a sculpt layer whose amplitude changes in every frame.
    pub moving: Sample,
    /// Additional time due to a sculpt layer of constant amplitude, relative to `plain`; the median over many rounds.
    /// 0.01 means one percent.
    pub share: f64,
    /// Additional time due to a sculpt layer of changing amplitude, relative to `plain`; the median over many rounds.
    pub moving_share: f64,
}

/// Rate of baking; each frame is evaluated and written to disk.
#[derive(Clone, Debug, serde::Serialize)]
pub struct BakeRate {
    /// Name of the mesh.
    pub name: String,
    /// Number of control vertices.
    pub vertices: usize,
    /// Processor that evaluates the frames: `gpu` or `cpu`.
    pub side: String,
    /// Number of baked frames.
    pub frames: u32,
    /// Baked frames per second.
    pub per_second: f64,
}

/// Costs of sculpt layers and of baking.
#[derive(Clone, Debug, serde::Serialize)]
pub struct SculptTimes {
    /// Spring times with sculpt layers.
    pub edits: Vec<EditTimes>,
    /// Rates of baking to disk.
    pub bakes: Vec<BakeRate>,
}

pub(super) fn measure(context: &mut Context, effort: &Effort) -> Result<SculptTimes> {
    let (mut edits, mut bakes) = (Vec::new(), Vec::new());
    for kind in MESHES {
        let name = kind.name();
        let bytes = stage(&format!("generate {name}"), || generate::glb(kind))?.0;
        let ((model, _), _) =
            stage(&format!("{name}: bind"), || Source::Memory(name.to_owned(), bytes).prepare(&ONCE))?;
        for share in SHARES {
            edits.push(stage(&format!("{name}: edit"), || edit(context, name, &model, share, effort))?.0);
        }
        for cpu in [false, true] {
            let side = context.side(cpu)?;
            bakes.push(stage(&format!("{name}: bake"), || bake(name, &model, &side, FRAMES))?.0);
        }
    }
    Ok(SculptTimes { edits, bakes })
}

/// Builds a bulge over a fraction `share` of the vertices, around a vertex in the middle.
fn swelling(model: &Model, share: f64) -> BoundSculpt {
    let control = &model.bound.character.control;
    let count = ((control.positions.len() as f64 * share) as usize).max(1);
    let vertices = disc(control, count);
    let last = vertices.len().max(2) - 1;
    let falloff = |i: usize| {
        let u = 1.0 - i as f32 / last as f32;
        u * u * (3.0 - 2.0 * u)
    };
    BoundSculpt {
        id: SculptId(0),
        scale_vectors: vertices.iter().map(|&v| model.bound.attachments.scale_vector[v as usize]).collect(),
        falloff: (0..vertices.len()).map(falloff).collect(),
        form: BoundForm::Profile {
            profile: Profile { curve: Curve::Even, amount: 0.3, ..Profile::default() },
            t: vec![0.5; vertices.len()],
            about: vec![About::default(); vertices.len()],
        },
        vertices,
    }
}

fn edit(context: &mut Context, name: &str, model: &Model, share: f64, effort: &Effort) -> Result<EditTimes> {
    let kernels = context.kernels()?;
    let rigs = poses::pair(model.skeleton());
    // The number of iterations is fixed and the corrections are off, so all variants do the same work, whatever the
    // shape.
    let stop = Stop::Never;
    let params = Params { max_iterations: ITERATIONS, stop, volume: 0.0, untangle: 0, ..Params::default() };
    let sculpt = swelling(model, share);
    let state =
        |amplitude: f32| SculptState { id: SculptId(0), amplitude, stiffness: STIFFNESS, seconds: 0.0 };
    let graph = |sculpts: &[BoundSculpt]| -> Result<Graph> {
        let mut graph = Graph::new(&kernels, &model.bound, &Recipe::springs(params), false)?;
        graph.set_sculpts(sculpts)?;
        graph.set_sculpt_states(&[state(1.0)]);
        Ok(graph)
    };
    let edits = std::slice::from_ref(&sculpt);
    let mut graphs = [graph(&[])?, graph(edits)?, graph(edits)?];
    let times = alternate(
        kernels.device(),
        effort,
        |name| name == "springs",
        graphs.len(),
        |variant, round, frame| {
            if variant == 2 {
                graphs[2].set_sculpt_states(&[state(0.5 + 0.25 * (round % 2) as f32)]);
            }
            graphs[variant].record(frame, &rigs[round % 2]);
            Ok(())
        },
    )?;
    Ok(EditTimes {
        name: name.to_owned(),
        vertices: model.bound.character.control.positions.len(),
        edited: sculpt.vertices.len(),
        iterations: graphs[1].iterations()?,
        plain: Sample::of(&times[0]),
        standing: Sample::of(&times[1]),
        moving: Sample::of(&times[2]),
        share: longer(&times[0], &times[1]),
        moving_share: longer(&times[0], &times[2]),
    })
}

/// A temporary folder; dropping it deletes the folder.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn bake(name: &str, model: &Model, side: &Where, frames: u32) -> Result<BakeRate> {
    let mut session = model.start(None)?;
    for (time, pose) in [(0.0, model.rest()), (f64::from(frames) / RATE, bent(model))] {
        session.apply(Edit::SetKey(Key { time, pose }))?;
    }
    let document = session.document();
    let folder = Folder(std::env::temp_dir().join(format!("sinew-bench-{}-{name}", std::process::id())));
    let _ = std::fs::remove_dir_all(&folder.0);
    let bake = Bake::begin(&folder.0, model, document, RATE, side.name())?;
    let mut evaluator = Evaluator::new(side, model, &document.recipe()?)?;
    // The first frame is not timed: drivers compile lazily.
    bake.run(model, document, &mut evaluator, [0, 0], |_, _| {})?;
    let begin = Instant::now();
    bake.run(model, document, &mut evaluator, [1, frames], |_, _| {})?;
    let seconds = begin.elapsed().as_secs_f64().max(1e-9);
    check(&folder.0, &bake, frames)?;
    Ok(BakeRate {
        name: name.to_owned(),
        vertices: model.bound.character.control.positions.len(),
        side: side.name().to_owned(),
        frames,
        per_second: f64::from(frames) / seconds,
    })
}

/// Returns an error if a baked frame is missing from the folder.
fn check(folder: &Path, bake: &Bake, frames: u32) -> Result<()> {
    if bake.frames()?.len() == frames as usize + 1 {
        return Ok(());
    }
    Err(Error::input(format!("{}: frames are missing", folder.display()), "keep others out of the folder"))
}

fn bent(model: &Model) -> Pose {
    poses::bent(model.skeleton(), 1)
}

pub(super) fn text(times: &SculptTimes) -> String {
    let cell = |s: Sample| format!("{:.2} ({:.2})", s.median_ms, s.min_ms);
    let edit = |e: &EditTimes| {
        let of = 100.0 * e.edited as f64 / e.vertices as f64;
        let mut row = vec![format!("{}, {of:.0} % of {}", e.name, e.vertices)];
        row.extend([e.plain, e.standing, e.moving].map(cell));
        row.extend([e.share, e.moving_share].map(|share| format!("{:+.1} %", share * 100.0)));
        row
    };
    let mut out = String::new();
    table(
        &mut out,
        &format!(
            "Spring node of {ITERATIONS} iterations with an edit, in turn with the same without; milliseconds, median (minimum)"
        ),
        &["mesh, vertices edited", "no edit", "standing", "changing", "standing costs", "changing costs"],
        &times.edits.iter().map(edit).collect::<Vec<_>>(),
    );
    let bake = |b: &BakeRate| {
        vec![b.name.clone(), b.vertices.to_string(), b.side.clone(), format!("{:.1}", b.per_second)]
    };
    table(
        &mut out,
        "Baking: springs to convergence, each frame evaluated, read back, written and synced",
        &["mesh", "vertices", "on", "frames a second"],
        &times.bakes.iter().map(bake).collect::<Vec<_>>(),
    );
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::asset::Asset;
    use crate::bind::BindOptions;
    use std::time::Duration;

    #[test]
    fn an_edit_and_a_bake_are_measured_on_a_small_mesh() {
        let asset = Asset::from_slice(&generate::tube(600).unwrap(), "tube").unwrap();
        let model = Model::bind(asset, &BindOptions::default(), Duration::ZERO).unwrap();
        let baked = bake("tube", &model, &Where::Cpu, 3).unwrap();
        assert!(baked.per_second > 0.0 && baked.frames == 3 && baked.side == "cpu");
        let mut times = SculptTimes { edits: Vec::new(), bakes: vec![baked] };
        if crate::gpu::testing::device().is_some() {
            let effort = Effort { budget: Duration::ZERO, most: 2 };
            let edit = edit(&mut Context::new(None), "tube", &model, 0.1, &effort).unwrap();
            assert_eq!(
                (edit.edited, edit.iterations),
                (model.bound.character.control.positions.len() / 10, ITERATIONS)
            );
            assert!(edit.plain.min_ms > 0.0 && edit.standing.min_ms > 0.0 && edit.moving.min_ms > 0.0);
            times.edits.push(edit);
        }
        assert!(text(&times).contains("frames a second"));
    }
}
