//! `sinew deform`: evaluates one pose with one method and writes one file.

use super::arguments::{BindArgs, MethodArgs, Side, keeps_input, parse_size};
use super::pose::PoseArgs;
use crate::app::context::{Context, folder_of, human, write_png};
use crate::base::math::Aabb;
use crate::base::{Error, Result};
use crate::bind::BindOptions;
use crate::export;
use crate::export::Clips;
use crate::geom::{DistortionReport, MeasureReport};
use crate::render::Lines;
use crate::rig::Pose;
use crate::scene::{Angle, Evaluation, Evaluator, Model, Studio};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// What to deform, how, and into which file.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// A rigged glTF file or a project
    pub file: PathBuf,
    /// The pose
    #[command(flatten)]
    pub pose: PoseArgs,
    /// The method
    #[command(flatten)]
    pub method: MethodArgs,
    /// The attachment
    #[command(flatten)]
    pub bind: BindArgs,
    /// Processor that evaluates
    #[arg(long, value_enum, default_value_t = Side::Gpu)]
    pub on: Side,
    /// .glb, .obj or .png
    #[arg(long)]
    pub out: Option<PathBuf>,
    /// Write at most 4 influences per vertex; the receipt states the error
    #[arg(long)]
    pub compatible: bool,
    /// Whether a .glb keeps the file's own animations
    #[arg(long, value_enum, default_value_t)]
    pub clips: Clips,
    /// Size of a picture, pixels
    #[arg(long, value_parser = parse_size, default_value = "960x1280")]
    pub size: [u32; 2],
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// What `--json` prints.
#[derive(serde::Serialize)]
pub struct DeformReport {
    /// Path of the character's file.
    pub file: String,
    /// Method name.
    pub method: String,
    /// Name of the device that evaluated the method.
    pub device: String,
    /// Number of control vertices.
    pub vertices: usize,
    /// Measurements of the deformed shape against the bind shape.
    #[serde(flatten)]
    pub measure: MeasureReport,
    /// Distortion of the deformed shape.
    #[serde(flatten)]
    pub distortion: DistortionReport,
    /// Iterations of the spring solver.
    pub iterations: u32,
    /// Milliseconds per stage.
    pub stages_ms: Vec<(String, f64)>,
    /// Receipt of the written `.glb`, if one was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub receipt: Option<export::Receipt>,
}

/// Frames per second at which the motion is simulated for dynamics.
const RATE: f64 = 60.0;

/// Simulates the motion from its start up to the requested time, so that `evaluator` can evaluate that time with
/// dynamics. Does nothing without a motion.
fn swing(evaluator: &mut Evaluator, model: &Model, args: &Args) -> Result<()> {
    let moves = args.pose.clip.is_some() || (args.pose.pose.is_none() && model.document.is_some());
    let Some(end) = args.pose.time.map(f64::from).filter(|t| moves && t.is_finite() && *t > 0.0) else {
        return Ok(());
    };
    // The frames are aligned to end exactly at the requested time.
    let count = (end.min(LONGEST) * RATE).ceil() as u32;
    for k in 0..count {
        let time = end - f64::from(count - k) / RATE;
        let then = PoseArgs { time: Some(time.max(0.0) as f32), ..args.pose.clone() };
        evaluator.set_sculpt_states(&model.shown_at(Some(time.max(0.0))).sculpts);
        evaluator.set_time(Some(time));
        evaluator.evaluate(model, &then.resolve(model)?)?;
    }
    evaluator.set_sculpt_states(&model.shown_at(Some(end)).sculpts);
    evaluator.set_time(Some(end));
    Ok(())
}

/// Longest simulated part of a motion, seconds; the dynamics have come to rest by then.
const LONGEST: f64 = 60.0;

/// Deforms the character, writes the output file and returns the report.
///
/// # Errors
/// Any error from loading, binding, posing, evaluating or writing.
pub fn run(context: &mut Context, args: &Args) -> Result<String> {
    if let Some(path) = &args.out {
        keeps_input(&args.file, path)?;
        ending(path)?;
    }
    let model = args.bind.applied(Model::load(&args.file, &BindOptions::default())?)?;
    let pose = args.pose.resolve(&model)?;
    let recipe = args.method.recipe(&model)?;
    let side = context.side(args.on.is_cpu())?;
    let mut evaluator = Evaluator::new(&side, &model, &recipe)?;
    evaluator.set_sculpt_states(&model.shown_at(args.pose.time.map(f64::from)).sculpts);
    if recipe.swings() {
        swing(&mut evaluator, &model, args)?;
    }
    let shape = evaluator.evaluate(&model, &pose)?;
    let receipt = match &args.out {
        Some(path) => write(context, &model, &pose, &shape, args, path)?,
        None => None,
    };
    let mut stages: Vec<(String, f64)> = Vec::new();
    for (name, time) in &model.stages {
        stages.push(((*name).to_owned(), time.as_secs_f64() * 1e3));
    }
    stages.extend(shape.stages.iter().map(|(name, time)| ((*name).to_owned(), time.as_secs_f64() * 1e3)));
    let report = DeformReport {
        file: args.file.display().to_string(),
        method: recipe.name().to_owned(),
        device: side.name().to_owned(),
        vertices: shape.control.len(),
        measure: model.measure(&shape.control),
        distortion: model.distortion().report(&shape.control),
        iterations: shape.iterations,
        stages_ms: stages,
        receipt,
    };
    if args.json {
        return serde_json::to_string_pretty(&report)
            .map_err(|e| Error::input(format!("the report is not JSON: {e}"), "report it as a bug"));
    }
    Ok(text(&report))
}

fn text(report: &DeformReport) -> String {
    let mut out = String::new();
    let ratio = |r: Option<f64>| r.map_or("-".to_owned(), |r| format!("{r:.4}"));
    let m = &report.measure;
    let _ = writeln!(out, "{}: {} on {}", report.file, report.method, report.device);
    let _ = writeln!(
        out,
        "  volume {}  area {}  stretch max {:.3} mean {:.4}  turned over {}  iterations {}",
        ratio(m.volume_ratio),
        ratio(m.area_ratio),
        m.stretch_max,
        m.stretch_mean,
        report.distortion.turned_over,
        report.iterations
    );
    for (name, ms) in &report.stages_ms {
        let _ = writeln!(out, "  {name:<10} {}", human(std::time::Duration::from_secs_f64(ms / 1e3)));
    }
    if let Some(receipt) = &report.receipt {
        let _ = write!(out, "{receipt}");
    }
    out
}

enum Ending {
    Glb,
    Obj,
    Png,
}

fn ending(path: &Path) -> Result<Ending> {
    match path.extension().and_then(|e| e.to_str()).map(str::to_ascii_lowercase).as_deref() {
        _ if export::is_model(path) => Ok(Ending::Glb),
        Some("obj") => Ok(Ending::Obj),
        Some("png") => Ok(Ending::Png),
        _ => Err(Error::input(
            format!("{}: unknown kind of file", path.display()),
            "end the name of --out in .glb, .gltf, .vrm, .obj or .png",
        )),
    }
}

/// Writes the shape in the format of the path's extension.
fn write(
    context: &mut Context,
    model: &Model,
    pose: &Pose,
    shape: &Evaluation,
    args: &Args,
    path: &Path,
) -> Result<Option<export::Receipt>> {
    let character = &model.bound.character;
    folder_of(path)?;
    match ending(path)? {
        Ending::Obj => {
            export::obj(path, character, &shape.positions, Some(&shape.normals))?;
            Ok(None)
        }
        Ending::Png => {
            let renderer = context.renderer()?;
            let bounds = Aabb::of(shape.positions.iter().copied());
            let mut studio = Studio::new(&renderer, model)?;
            let picture =
                studio.picture(shape, &bounds, Angle::THREE_QUARTER, args.size, &Lines::default())?;
            write_png(path, &picture)?;
            Ok(None)
        }
        Ending::Glb => {
            let keys = [export::Key {
                time_s: 0.0,
                pose,
                shape: Some(export::Shape { positions: &shape.positions, normals: &shape.normals }),
            }];
            let (compatible, clips) = (args.compatible, args.clips);
            let options = export::Options { compatible, clips, ..export::Options::default() };
            let export = export::posed(&model.asset, character, &keys, &options)?;
            Ok(Some(export.write(path, &keys)?))
        }
    }
}
