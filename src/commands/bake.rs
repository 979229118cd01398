//! `sinew bake`: frames of a project into a folder, and a folder of frames into a glTF.

use crate::app::context::{Context, human, say, stage};
use crate::base::{Error, Result};
use crate::bind::BindOptions;
use crate::project::bake::Joining;
use crate::project::bake::{Bake, Done, join};
use crate::project::open;
use crate::scene::{Evaluator, Model, recipe};
use indicatif::{ProgressBar, ProgressStyle};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// What to bake.
#[derive(Clone, Debug)]
pub struct Job {
    /// A project, journal or any character with clips.
    pub input: PathBuf,
    /// First and last frame; none for the whole motion.
    pub frames: Option<[u32; 2]>,
    /// Frames per second; none for the project's.
    pub rate: Option<f64>,
    /// The folder.
    pub out: PathBuf,
    /// On the CPU.
    pub cpu: bool,
}

/// Bakes frames.
///
/// # Errors
/// As [`open`], [`Bake::begin`] and [`Bake::run`].
pub fn bake(context: &mut Context, job: &Job) -> Result<()> {
    let side = context.side(job.cpu)?;
    let opened = open(&job.input, &BindOptions::default())?;
    let (model, document) = (&opened.model, opened.session.document());
    let rate = job.rate.unwrap_or_else(|| f64::from(document.motion().rate()));
    let bake = Bake::begin(&job.out, model, document, rate, side.name())?;
    let last = (document.motion().duration(model.skeleton()) * rate - 1e-6).ceil().max(0.0) as u32;
    let frames = job.frames.unwrap_or([0, last]);
    let mut evaluator = Evaluator::new(&side, model, &recipe(document.deformer())?)?;
    let bar = ProgressBar::new(u64::from(frames[1] - frames[0]) + 1);
    if let Ok(style) = ProgressStyle::with_template("{bar:40} {pos}/{len} frames {eta}") {
        bar.set_style(style);
    }
    let (mut baked, start) = (0u32, Instant::now());
    bake.run(model, document, &mut evaluator, frames, |_, done| {
        baked += u32::from(done == Done::Baked);
        bar.inc(1);
    })?;
    bar.finish_and_clear();
    let (time, all) = (start.elapsed(), frames[1] - frames[0] + 1);
    say(format_args!(
        "  {}: frames {}-{} at {rate} per second on {}, {baked} baked, {} were there; {}, {:.2} frames/s",
        job.out.display(),
        frames[0],
        frames[1],
        side.name(),
        all - baked,
        human(time),
        f64::from(baked) / time.as_secs_f64().max(1e-9)
    ));
    Ok(())
}

/// Joins a folder's frames into a .glb.
///
/// # Errors
/// As [`Bake::open`] and [`join`]; a copy of the project that was changed.
pub fn join_frames(folder: &Path, joining: Joining, out: Option<PathBuf>) -> Result<()> {
    let bake = Bake::open(folder)?;
    let model = Model::load(&bake.project(), &BindOptions::default())?;
    if model.document.as_ref().map(crate::document::Document::hash).as_ref()
        != Some(&bake.manifest().document)
    {
        let what = "it is not the project that the frames are of";
        return Err(Error::broken(bake.project(), "document", what, "bake again into an empty folder"));
    }
    let out = out.unwrap_or_else(|| folder.join("joined.glb"));
    crate::app::context::folder_of(&out)?;
    let (joined, time) = stage("join", || join(&bake, &model, joining, &out))?;
    say(joined.receipt.to_string().trim_end());
    let budget = match (joined.budget_mm, joining.budget_mm) {
        (None, _) => "a morph target for each".to_owned(),
        (Some(mm), Some(_)) => format!("budget {mm} mm"),
        (Some(mm), None) => {
            format!(
                "budget {mm:.3} mm, 1e-4 of the size (--budget-mm X for another, --exact for a target for each)"
            )
        }
    };
    say(format_args!("  frames {}-{}, {budget}, in {}", joined.frames[0], joined.frames[1], human(time)));
    Ok(())
}
