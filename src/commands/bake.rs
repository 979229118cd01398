//! `sinew bake`: bakes frames of a project into a folder, or joins a folder of frames into a glTF file.

use super::arguments::Side;
use crate::app::context::{Context, human, say, stage};
use crate::base::{Error, Result};
use crate::bind::BindOptions;
use crate::export::Clips;
use crate::project::bake::Joining;
use crate::project::bake::{Bake, Done, join, parse_frames};
use crate::project::open;
use crate::scene::{Evaluator, Model};
use indicatif::{ProgressBar, ProgressStyle};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Help text about baking frames on many machines.
const SPREAD: &str = "\
Frames are independent: ranges may be baked in any order, on any number of machines, into one shared folder; the files are
identical to the byte. A repeated bake keeps finished frames. With dynamics, a range first computes all frames before it
without writing them: the files are still identical, but each range takes as long as the motion up to its end, so use few
long ranges. With Slurm, 120 frames as a job array of 12 tasks:

  #!/bin/sh
  #SBATCH --array=0-11
  #SBATCH --requeue
  first=$((1 + 10 * SLURM_ARRAY_TASK_ID))
  sinew bake hero.glb --frames $first-$((first + 9)) --fps 24 --on cpu --out /shared/bake

then, with the job number that sbatch printed as JOB,

  sbatch --dependency=afterok:JOB --wrap \"sinew bake --join /shared/bake --out hero-baked.glb\"";

/// What to bake, or which frames to join.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = SPREAD)]
pub struct Args {
    /// A project, a journal, or a character
    #[arg(value_name = "PROJECT", required_unless_present = "join", conflicts_with = "join")]
    pub project: Option<PathBuf>,
    /// First and last frame; by default the whole motion
    #[arg(long, value_name = "A-B", value_parser = parse_frames)]
    pub frames: Option<[u32; 2]>,
    /// Frames per second; by default those of the project
    #[arg(long, value_name = "N", conflicts_with = "join")]
    pub fps: Option<f64>,
    /// The folder of the frames; with --join the .glb
    #[arg(long)]
    pub out: Option<PathBuf>,
    /// Folder of frames to join; the receipt covers all frames
    #[arg(long, value_name = "DIR")]
    pub join: Option<PathBuf>,
    /// Largest error of a vertex in the joined file at any frame, millimetres; by default 1e-4 of the character's size
    #[arg(long, value_name = "X", requires = "join", allow_negative_numbers = true)]
    pub budget_mm: Option<f64>,
    /// Whether the joined .glb keeps the file's own animations
    #[arg(long, value_enum, default_value_t, requires = "join")]
    pub clips: Clips,
    /// Write a morph target for every frame, as --budget-mm 0
    #[arg(long, requires = "join", conflicts_with = "budget_mm")]
    pub exact: bool,
    /// Write at most 4 influences per vertex in the joined file
    #[arg(long, requires = "join")]
    pub compatible: bool,
    /// Processor that evaluates
    #[arg(long, value_enum, default_value_t = Side::Gpu)]
    pub on: Side,
}

/// Bakes frames, or joins the frames of a folder.
///
/// # Errors
/// Any error of [`open`], [`Bake`] or [`join`].
pub fn run(context: &mut Context, args: &Args) -> Result<()> {
    match &args.join {
        Some(folder) => join_frames(folder, args),
        None => bake(context, args),
    }
}

/// Bakes the requested frames of a project into a folder.
///
/// # Errors
/// Any error of [`open`], [`Bake::begin`] or [`Bake::run`].
fn bake(context: &mut Context, args: &Args) -> Result<()> {
    let side = context.side(args.on.is_cpu())?;
    let folder = args.out.clone().unwrap_or_else(|| "out/bake".into());
    // The argument parser requires a project unless `--join` is given.
    let input = args.project.clone().unwrap_or_default();
    let opened = open(&input, &BindOptions::default())?;
    let (model, document) = (&opened.model, opened.session.document());
    let rate = args.fps.unwrap_or_else(|| f64::from(document.motion().rate()));
    let bake = Bake::begin(&folder, model, document, rate, side.name())?;
    let last = (document.motion().duration() * rate - 1e-6).ceil().max(0.0) as u32;
    let frames = args.frames.unwrap_or([0, last]);
    let mut evaluator = Evaluator::new(&side, model, &document.recipe()?)?;
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
        folder.display(),
        frames[0],
        frames[1],
        side.name(),
        all - baked,
        human(time),
        f64::from(baked) / time.as_secs_f64().max(1e-9)
    ));
    Ok(())
}

/// Joins a folder's baked frames into a `.glb`.
///
/// # Errors
/// Any error of [`Bake::open`] or [`join`]; [`Error::Broken`] if the folder's copy of the project has changed.
fn join_frames(folder: &Path, args: &Args) -> Result<()> {
    let Args { frames, compatible, clips, .. } = *args;
    let joining =
        Joining { frames, budget_mm: if args.exact { Some(0.0) } else { args.budget_mm }, compatible, clips };
    let bake = Bake::open(folder)?;
    let model = Model::load(&bake.project(), &BindOptions::default())?;
    if model.document.as_ref().map(crate::document::Document::hash).as_ref()
        != Some(&bake.manifest().document)
    {
        let what = "it is not the project that the frames are of";
        return Err(Error::broken(bake.project(), "document", what, "bake again into an empty folder"));
    }
    let out = args.out.clone().unwrap_or_else(|| folder.join("joined.glb"));
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
