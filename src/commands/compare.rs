//! `sinew compare`: compares deformation methods on one pose in a contact sheet and a table.

use super::arguments::{MethodArgs, Side};
use super::joints::{Motion, compare_joints};
use super::pose::PoseArgs;
use super::tables::write_tables;
use crate::app::context::{Context, folder, write_png};
use crate::base::math::Aabb;
use crate::base::{Error, Result};
use crate::bind::BindOptions;
use crate::deform::volume::Exact;
use crate::document::DeformerSettings;
use crate::geom::{CrossingsReport, DistortionReport, MeasureReport};
use crate::render::Lines;
use crate::rig::Pose;
use crate::scene::{Angle, Cell, Evaluator, Model, Studio, Where, recipe, sheet};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// One line of the table: a method's results on a file.
#[derive(Clone, Debug, serde::Serialize)]
pub struct CompareLine {
    /// File name without the folder.
    pub file: String,
    /// Method name.
    pub method: String,
    /// Measurements of the deformed shape against the bind shape.
    #[serde(flatten)]
    pub measure: MeasureReport,
    /// Distortion of the deformed shape.
    #[serde(flatten)]
    pub distortion: DistortionReport,
    /// Crossings of the deformed shape.
    #[serde(flatten)]
    pub crossings: CrossingsReport,
    /// Iterations of the spring solver.
    pub iterations: u32,
    /// Time of all deformation stages, milliseconds.
    pub milliseconds: f64,
}

/// Returns an evaluator for a method of [`Args::methods`].
///
/// # Errors
/// An error if the method cannot be bound.
pub fn evaluator(side: &Where, model: &Model, method: &DeformerSettings) -> Result<Evaluator> {
    match Exact::from_name(&method.method) {
        Some(exact) => Evaluator::exact(model, exact),
        None => Evaluator::new(side, model, &model.recipe(method)?),
    }
}

/// Evaluates methods on one pose and returns a table line and a shape per method.
///
/// # Errors
/// An error if a method cannot be bound or evaluated.
pub fn evaluate(
    context: &mut Context,
    model: &Model,
    pose: &Pose,
    methods: &[DeformerSettings],
    cpu: bool,
) -> Result<Vec<(CompareLine, crate::scene::Evaluation)>> {
    let side = context.side(cpu)?;
    let file = model.asset.path.file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned());
    let mut out = Vec::new();
    for method in methods {
        let mut evaluator = evaluator(&side, model, method)?;
        let shape = evaluator.evaluate(model, pose)?;
        let line = CompareLine {
            file: file.clone(),
            method: method.method.clone(),
            measure: model.measure(&shape.control),
            distortion: model.distortion().report(&shape.control),
            crossings: model.crossings().report(&shape.control),
            iterations: shape.iterations,
            milliseconds: shape.stages.iter().map(|(_, t)| t.as_secs_f64() * 1e3).sum(),
        };
        out.push((line, shape));
    }
    Ok(out)
}

/// Which methods to compare, on what.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// Rigged glTF files
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    /// The pose
    #[command(flatten)]
    pub pose: PoseArgs,
    /// Comma-separated method names. `gold` is the method `volume` solved to convergence, which takes seconds per pose;
    /// `tets` is a converged solve on tetrahedra that holds points of the skin
    #[arg(long, value_delimiter = ',', default_values_t = ["lbs".to_owned(), "dqs".into(), "springs".into(), "volume".into()])]
    pub methods: Vec<String>,
    /// Bend each main joint of the character by each of these angles, one joint at a time, instead of a pose (without a
    /// value: 90)
    #[arg(long, value_name = "DEGREES", value_delimiter = ',', num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "90")]
    pub bends: Vec<f32>,
    /// Twist each main joint of the character by each of these angles, one joint at a time (without a value: 120,180)
    #[arg(long, value_name = "DEGREES", value_delimiter = ',', num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "120,180")]
    pub twists: Vec<f32>,
    /// A parameter, e.g. torsion=0.5 or contact=3, for the methods that have it; lbs keeps its defaults
    #[arg(long = "set", value_name = "NAME=VALUE")]
    pub set: Vec<String>,
    /// Processor that evaluates
    #[arg(long, value_enum, default_value_t = Side::Gpu)]
    pub on: Side,
    /// File or folder to write
    #[arg(long, default_value = "out")]
    pub out: PathBuf,
}

impl Args {
    /// Returns the requested rotations of single joints.
    fn motions(&self) -> Vec<Motion> {
        let bends = self.bends.iter().map(|d| Motion::Bend(*d));
        bends.chain(self.twists.iter().map(|d| Motion::Twist(*d))).collect()
    }

    /// Returns the settings of the requested methods. Each `--set` applies to every method that has the parameter,
    /// except LBS, the baseline of the comparison, and except `gold` and `tets`.
    ///
    /// # Errors
    /// Fails if no requested method has the parameter, or if the value is wrong.
    fn settings(&self) -> Result<Vec<DeformerSettings>> {
        let with =
            |method: &str, set: Vec<String>| MethodArgs { method: Some(method.to_owned()), set }.settings();
        let accepts =
            |method: &str, set: &str| with(method, vec![set.to_owned()]).and_then(|s| recipe(&s).map(|_| ()));
        let fixed = |m: &str| m == "lbs" || Exact::from_name(m).is_some();
        let tuned = || self.methods.iter().filter(|m| !fixed(m));
        for set in &self.set {
            let mut last = Error::input(
                format!("--set {set} applies to no method"),
                "compare a method other than lbs, or leave --set out",
            );
            if tuned().all(|m| accepts(m, set).map_err(|e| last = e).is_err()) {
                return Err(last);
            }
        }
        let settings = |method: &String| {
            if fixed(method) {
                return Ok(DeformerSettings::of(method));
            }
            with(method, self.set.iter().filter(|set| accepts(method, set).is_ok()).cloned().collect())
        };
        let out: Vec<DeformerSettings> = self.methods.iter().map(settings).collect::<Result<_>>()?;
        out.iter().filter(|s| !fixed(&s.method)).try_for_each(|s| recipe(s).map(|_| ()))?;
        Ok(out)
    }
}

/// Compares methods, on one pose or at single joints. Writes `compare.png`, `compare.md` and `compare.json` and
/// returns the table.
///
/// # Errors
/// Any error from loading, posing, evaluating or writing.
pub fn run(context: &mut Context, args: &Args) -> Result<String> {
    let (cpu, motions) = (args.on.is_cpu(), args.motions());
    if !motions.is_empty() && args.pose.is_given() {
        return Err(Error::input(
            "--bends and --twists rotate one joint at a time from the bind pose, so no other pose applies",
            "leave out --clip, --time, --pose and --rotate, or --bends and --twists",
        ));
    }
    if motions.is_empty() {
        return compare(context, &args.files, &args.pose, &args.settings()?, cpu, &args.out);
    }
    compare_joints(context, &args.files, &motions, &args.settings()?, cpu, &args.out)
}

/// Compares methods on files. Writes `compare.png`, `compare.md` and `compare.json` and returns the table.
///
/// # Errors
/// Any error from loading, posing, evaluating or writing.
fn compare(
    context: &mut Context,
    files: &[PathBuf],
    pose: &PoseArgs,
    methods: &[DeformerSettings],
    cpu: bool,
    out: &Path,
) -> Result<String> {
    let (mut rows, mut lines) = (Vec::new(), Vec::new());
    for path in files {
        let model = Model::load(path, &BindOptions::default())?;
        let pose = pose.resolve(&model)?;
        // The folder is created only after a model has loaded.
        folder(out)?;
        let results = evaluate(context, &model, &pose, methods, cpu)?;
        rows.push(pictures(context, &model, &results)?);
        lines.extend(results.into_iter().map(|(line, _)| line));
    }
    write_png(&out.join("compare.png"), &sheet(&rows))?;
    write_tables(out, &table(&lines), &lines)
}

/// Renders one captioned picture per method, all with the same camera.
pub fn pictures(
    context: &mut Context,
    model: &Model,
    results: &[(CompareLine, crate::scene::Evaluation)],
) -> Result<Vec<Cell>> {
    let bounds = Aabb::of(results.iter().flat_map(|(_, s)| s.positions.iter().copied()));
    let mut studio = Studio::new(&context.renderer()?, model)?;
    let size = Angle::THREE_QUARTER.fitting(&bounds, [480, 640]);
    let mut cells = Vec::new();
    for (line, shape) in results {
        let picture = studio.picture(shape, &bounds, Angle::THREE_QUARTER, size, &Lines::default())?;
        let m = &line.measure;
        let mut caption = vec![line.method.to_uppercase()];
        caption.push(m.volume_ratio.map_or_else(String::new, |v| format!("volume {v:.3}")));
        caption.push(format!("turned over {}", line.distortion.turned_over));
        cells.push(Cell { picture, caption });
    }
    Ok(cells)
}

/// Formats the lines as a Markdown table.
pub fn table(lines: &[CompareLine]) -> String {
    let mut out = String::from(
        "| file | method | volume | area | stretch max | stretch mean | folded | elongation | energy | turned over | crossings | iterations | ms |\n\
         |---|---|---|---|---|---|---|---|---|---|---|---|---|\n",
    );
    let ratio = |r: Option<f64>| r.map_or("-".to_owned(), |r| format!("{r:.4}"));
    for line in lines {
        let m = &line.measure;
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} | {:.3} | {:.4} | {} | {:.3} | {:.5} | {} | {} | {} | {:.2} |",
            line.file,
            line.method,
            ratio(m.volume_ratio),
            ratio(m.area_ratio),
            m.stretch_max,
            m.stretch_mean,
            m.folded_edges,
            line.distortion.elongation,
            line.distortion.energy,
            line.distortion.turned_over,
            line.crossings.crossings,
            line.iterations,
            line.milliseconds
        );
    }
    out
}
