//! `sinew demo`: runs the whole pipeline in one command, from a rigged file to pictures and an animated `.glb`.

use super::compare::{evaluate, pictures, table};
use super::joints::{Motion, close_up, study};
use super::render::{draw_bones, draw_strokes};
use crate::app::context::{Context, folder, human, say, stage, write_png};
use crate::base::math::{Aabb, Vec4};
use crate::base::{Error, Result, counted};
use crate::bind::BindOptions;
use crate::deform::surface::color_of_strain;
use crate::document::{DeformerSettings, Document, Journal, Session, demo_edits};
use crate::generate::{Kind, generate};
use crate::geom::Distortion;
use crate::render::Lines;
use crate::rig::{ChainKind, LimbJoint, Pose, PosedRig, limb_joints};
use crate::scene::{Angle, Cell, Evaluation, Evaluator, Model, Studio, sheet};
use crate::{export, project};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Size of a picture, pixels; [`Angle::fitting`] swaps width and height if that shows the character larger.
const PICTURE: [u32; 2] = [960, 1280];
/// Size of each eye's picture, pixels.
const EYE: [u32; 2] = [800, 960];
/// The deformation methods that the contact sheet compares.
const METHODS: [&str; 4] = ["lbs", "dqs", "springs", "volume"];
/// Angles of the sheet of close-ups, degrees.
const BEND: f32 = 110.0;
const TWIST: f32 = 150.0;

fn line(name: &str, time: Duration, what: &str) {
    say(format_args!("{name:<12} {:>10}  {what}", human(time)));
}

/// What to demonstrate on.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// A rigged glTF file; without one, a generated character
    pub file: Option<PathBuf>,
    /// Folder for pictures, .glb and journal
    #[arg(long, default_value = "out")]
    pub out: PathBuf,
}

/// Runs the demonstration on a file or on a generated character. A project uses its own strokes.
///
/// # Errors
/// Any error from loading, binding, posing, rendering or writing.
pub fn run(context: &mut Context, args: &Args) -> Result<()> {
    let out = &*args.out;
    let file: PathBuf = match &args.file {
        Some(file) => file.clone(),
        None => {
            folder(out)?;
            let path = out.join("human.glb");
            let ((), time) = stage("generate", || generate(Kind::Human, &path).map(|_| ()))?;
            line("generate", time, &path.display().to_string());
            path
        }
    };
    let (model, _) = stage("load and bind", || Model::load(&file, &BindOptions::default()))?;
    folder(out)?;
    let control = model.bound.character.control.positions.len();
    let bones = model.skeleton().bones.len();
    for (name, time) in &model.stages {
        let what = match *name {
            "load" => model.asset.path.display().to_string(),
            "weld" => format!("{control} control vertices, {bones} bones"),
            _ => format!(
                "largest gap {:.2} edge lengths, before smoothing {:.2}",
                model.report.after.max, model.report.before.max
            ),
        };
        line(name, *time, &what);
    }
    let drawn = |d: &Document| !d.strokes().is_empty() || d.moves();
    let (session, time) = match &model.document {
        Some(document) if drawn(document) => stage("strokes", || model.start(None))?,
        _ => stage("strokes", || pose_by_strokes(&model, out))?,
    };
    let document = session.document();
    let (strokes, keys) = (document.strokes().len(), document.motion().key_times().len());
    let drawn = format!("{}, {}", counted(strokes, "stroke"), counted(keys, "key time"));
    line("strokes", time, &format!("{drawn}; document {:.16}", document.hash()));
    write_outputs(context, &model, document, out)
}

/// Starts a session, applies the demonstration's strokes and records them in `demo.journal`.
fn pose_by_strokes(model: &Model, out: &Path) -> Result<Session<'static>> {
    let path = out.join("demo.journal");
    if path.exists() {
        std::fs::remove_file(&path).map_err(|e| Error::io(&path, e))?;
    }
    let (journal, _) = Journal::open(&path, &model.file())?;
    let mut session = model.start(Some(journal))?;
    for edit in demo_edits(model.skeleton(), session.document())? {
        session.apply(edit)?;
    }
    match session.trouble() {
        Some(error) => {
            Err(Error::input(format!("the journal is not on disk: {error}"), "free space and try again"))
        }
        None => Ok(session),
    }
}

/// Writes the pictures, the contact sheet and the posed, animated `.glb` of a document, and prints the table.
///
/// # Errors
/// Any error from evaluating, rendering or writing.
pub fn write_outputs(context: &mut Context, model: &Model, document: &Document, out: &Path) -> Result<()> {
    let pose = document.posed(model.skeleton());
    let side = context.side(false)?;
    let recipe = document.recipe()?;
    let mut evaluator = Evaluator::new(&side, model, &recipe)?;
    evaluator.set_document(model, document)?;
    // Warm-up run: the driver compiles shaders on first use, which would distort the timing.
    evaluator.evaluate(model, &pose)?;
    let (shape, time) = stage("deform", || evaluator.evaluate(model, &pose))?;
    line("deform", time, &format!("{} on {}, {} iterations", recipe.name(), side.name(), shape.iterations));
    for (name, time) in &shape.stages {
        line(&format!("  {name}"), *time, "");
    }
    let shown = Shown { model, document, out };
    let ((), time) = stage("pictures", || write_pictures(context, &shown, &pose, &shape))?;
    line("pictures", time, &out.join("front.png").display().to_string());
    let ((), time) = stage("contact sheet", || write_sheet(context, &shown, &pose))?;
    line("compare", time, &out.join("contact.png").display().to_string());
    let ((), time) = stage("close-ups", || write_close_ups(context, &shown))?;
    line("close-ups", time, &out.join("joints.png").display().to_string());
    let (receipt, time) = stage("export", || {
        let options = export::Options { clip_name: "Sinew demo".into(), ..export::Options::default() };
        project::export(&out.join("posed.glb"), model, document, &mut evaluator, &options)
    })?;
    line("export", time, &out.join("posed.glb").display().to_string());
    say(receipt.to_string().trim_end());
    Ok(())
}

struct Shown<'a> {
    model: &'a Model,
    document: &'a Document,
    out: &'a Path,
}

fn write_pictures(context: &mut Context, shown: &Shown<'_>, pose: &Pose, shape: &Evaluation) -> Result<()> {
    let Shown { model, document, out } = *shown;
    let mut studio = Studio::new(&context.renderer()?, model)?;
    let bounds = Aabb::of(shape.positions.iter().copied());
    let plain = Lines::default();
    let mut drawn = Lines::default();
    draw_bones(model, &PosedRig::new(model.skeleton(), pose), &mut drawn);
    let with_strokes = draw_strokes(document, &bounds, &mut drawn);
    for (name, angle, bounds, lines) in [
        ("front.png", Angle::FRONT, &bounds, &plain),
        ("side.png", Angle::SIDE, &bounds, &plain),
        ("strokes.png", Angle::THREE_QUARTER, &with_strokes, &drawn),
    ] {
        let size = angle.fitting(bounds, PICTURE);
        write_png(&out.join(name), &studio.picture(shape, bounds, angle, size, lines)?)?;
    }
    let pair = studio.stereo(shape, &bounds, Angle::THREE_QUARTER, EYE, &plain)?;
    write_png(&out.join("stereo.png"), &pair)
}

fn write_sheet(context: &mut Context, shown: &Shown<'_>, pose: &Pose) -> Result<()> {
    let Shown { model, out, .. } = *shown;
    let mut all = evaluate(context, model, &model.rest(), &[DeformerSettings::of("lbs")], false)?;
    all.extend(evaluate(context, model, pose, &METHODS.map(DeformerSettings::of), false)?);
    let mut row = pictures(context, model, &all)?;
    row[0].caption = vec!["BEFORE".into()];
    let lines: Vec<_> = all.into_iter().skip(1).map(|(line, _)| line).collect();
    say(table(&lines).trim_end());
    write_png(&out.join("contact.png"), &sheet(&[row]))
}

/// Returns what the close-ups show: a bend of the joints of one arm and one leg, and a twist of the arm's last joint.
fn close_up_poses(model: &Model) -> Vec<(LimbJoint, Motion)> {
    let joints = limb_joints(model.skeleton());
    let limbs = || joints.iter().filter(|j| !matches!(j.kind, ChainKind::Spine | ChainKind::Tail));
    let bends = limbs().map(|j| (*j, Motion::Bend(BEND)));
    let arm = limbs().rfind(|j| j.kind == ChainKind::Arm).or(joints.last());
    bends.chain(arm.map(|j| (*j, Motion::Twist(TWIST)))).collect()
}

/// Writes close-ups of single joints by every method, and below each the strain of its edges as a heat map.
fn write_close_ups(context: &mut Context, shown: &Shown<'_>) -> Result<()> {
    let Shown { model, out, .. } = *shown;
    let (side, renderer) = (context.side(false)?, context.renderer()?);
    let distortion = Distortion::new(&model.bound.character.control);
    let mut studio = Studio::new(&renderer, model)?;
    let methods = METHODS.map(DeformerSettings::of);
    let mut rows = Vec::new();
    study(&side, model, &close_up_poses(model), &methods, |joint, region, shapes| {
        let view = close_up(model, region, joint, shapes);
        let (mut skins, mut heats) = (Vec::new(), Vec::new());
        for (line, shape) in shapes {
            let heat = |strain| color_of_strain(strain).extend(1.0);
            let colors: Vec<Vec4> = distortion.strain(&shape.control).into_iter().map(heat).collect();
            let mut heated = Studio::colored(&renderer, model, &colors)?;
            skins.push(Cell {
                picture: view.picture(&mut studio, shape)?,
                caption: vec![line.method.to_uppercase(), format!("{}, {}", line.joint, line.motion)],
            });
            heats.push(Cell {
                picture: view.picture(&mut heated, shape)?,
                caption: vec![
                    format!("longest edge {:.2} of rest", line.distortion.elongation),
                    format!("{} crossings", line.crossings.crossings),
                ],
            });
        }
        rows.extend([skins, heats]);
        Ok(())
    })?;
    if rows.is_empty() {
        return Ok(());
    }
    write_png(&out.join("joints.png"), &sheet(&rows))
}
