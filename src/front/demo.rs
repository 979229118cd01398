//! `sinew demo`: the whole way in one command, from a rigged file to pictures and an animated `.glb`.

use super::compare::{evaluate, pictures, table};
use super::context::{Context, folder, human, say, stage, write_png};
use super::render::draw_bones;
use crate::base::math::{Aabb, Vec3};
use crate::base::{Error, Result};
use crate::bind::BindOptions;
use crate::edit::{AssetRef, Edit, Journal, Session, Stroke, demo_edits};
use crate::editor::{Angle, Evaluation, Evaluator, Model, Studio, recipe, sheet};
use crate::export;
use crate::generate::{Kind, generate};
use crate::render::{BASELINE, Lines, OFFSET};
use crate::rig::{Pose, PosedRig, Skeleton};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Pixels of a picture.
const PICTURE: [u32; 2] = [960, 1280];
/// Pixels of an eye.
const EYE: [u32; 2] = [800, 960];
/// What the contact sheet compares.
const METHODS: [&str; 3] = ["lbs", "dqs", "springs"];

fn line(name: &str, time: Duration, what: &str) {
    say(format_args!("{name:<12} {:>10}  {what}", human(time)));
}

/// Runs the demonstration on a file, or on a generated character.
///
/// # Errors
/// Whatever loading, binding, posing, rendering or writing finds wrong.
pub fn demo(context: &mut Context, file: Option<&Path>, out: &Path) -> Result<()> {
    let file: PathBuf = match file {
        Some(file) => file.to_owned(),
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
    let (session, time) = stage("strokes", || pose_by_strokes(&model, out))?;
    let strokes = session.document().strokes().len();
    let keys = session.document().keys().len();
    line(
        "strokes",
        time,
        &format!("{strokes} strokes, {keys} keys; document {:.16}", session.document().hash()),
    );
    write_outputs(context, &Output { model: &model, session: &session, replayed: time, out })
}

/// A session on the model in which the demonstration's strokes are drawn, recorded in `demo.journal`.
fn pose_by_strokes<'a>(model: &Model, out: &Path) -> Result<Session<'a>> {
    let asset = AssetRef::of(&model.asset);
    let path = out.join("demo.journal");
    if path.exists() {
        std::fs::remove_file(&path).map_err(|e| Error::io(&path, e))?;
    }
    let skeleton = Arc::new(model.skeleton().clone());
    let loader = Box::new(move |_: &AssetRef| -> Result<Arc<Skeleton>> { Ok(skeleton.clone()) });
    let mut session = Session::new(loader);
    let (journal, _) = Journal::open(&path, &asset)?;
    session.record_in(journal);
    session.apply(Edit::Open { asset })?;
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

/// A document and where to show it.
pub struct Output<'a> {
    /// Its character.
    pub model: &'a Model,
    /// The document.
    pub session: &'a Session<'a>,
    /// How long its edits took.
    pub replayed: Duration,
    /// The folder.
    pub out: &'a Path,
}

/// Writes pictures, contact sheet, table and the posed and animated `.glb` of a document.
///
/// # Errors
/// Whatever evaluating, rendering or writing finds wrong.
pub fn write_outputs(context: &mut Context, output: &Output<'_>) -> Result<()> {
    let Output { model, session, out, .. } = *output;
    let document = session.document();
    let pose = session.posed();
    let side = context.side(false)?;
    let recipe = recipe(document.deformer())?;
    let mut evaluator = Evaluator::new(&side, model, &recipe)?;
    // The driver compiles on first use.
    evaluator.evaluate(model, &pose)?;
    let (shape, time) = stage("deform", || evaluator.evaluate(model, &pose))?;
    line("deform", time, &format!("{} on {}, {} iterations", recipe.name(), side.name(), shape.iterations));
    for (name, time) in &shape.stages {
        line(&format!("  {name}"), *time, "");
    }
    let ((), time) = stage("pictures", || write_pictures(context, output, &pose, &shape))?;
    line("pictures", time, &out.join("front.png").display().to_string());
    let ((), time) = stage("contact sheet", || write_sheet(context, output, &pose))?;
    line("compare", time, &out.join("contact.png").display().to_string());
    let (receipt, time) = stage("export", || write_glb(model, session, &mut evaluator, out))?;
    line("export", time, &out.join("posed.glb").display().to_string());
    say(receipt.to_string().trim_end());
    Ok(())
}

fn write_pictures(context: &mut Context, output: &Output<'_>, pose: &Pose, shape: &Evaluation) -> Result<()> {
    let Output { model, session, out, .. } = *output;
    let mut studio = Studio::new(&context.renderer()?, model)?;
    let bounds = Aabb::of(shape.positions.iter().copied());
    let plain = Lines::default();
    let mut drawn = Lines::default();
    draw_bones(model, &PosedRig::new(model.skeleton(), pose), &mut drawn);
    for layer in session.document().strokes() {
        for (stroke, color) in [(Some(&layer.baseline), BASELINE), (layer.offset.as_ref(), OFFSET)] {
            if let Some(stroke) = stroke {
                drawn.stroke(&points(stroke), color, 6.0);
            }
        }
    }
    let mut with_strokes = bounds;
    for layer in session.document().strokes() {
        for p in [Some(&layer.baseline), layer.offset.as_ref()].into_iter().flatten().flat_map(points) {
            with_strokes = Aabb { min: with_strokes.min.min(p), max: with_strokes.max.max(p) };
        }
    }
    for (name, angle, bounds, lines) in [
        ("front.png", Angle::FRONT, &bounds, &plain),
        ("side.png", Angle::SIDE, &bounds, &plain),
        ("strokes.png", Angle::THREE_QUARTER, &with_strokes, &drawn),
    ] {
        write_png(&out.join(name), &studio.picture(shape, bounds, angle, PICTURE, lines)?)?;
    }
    let pair = studio.stereo(shape, &bounds, Angle::THREE_QUARTER, EYE, &plain)?;
    write_png(&out.join("stereo.png"), &pair)
}

/// Points along a stroke, close enough for a curve.
fn points(stroke: &Stroke) -> Vec<Vec3> {
    let spline = stroke.spline();
    (0..=64)
        .map(|k| spline.position(spline.at_length(spline.length() * f64::from(k) / 64.0)).as_vec3())
        .collect()
}

fn write_sheet(context: &mut Context, output: &Output<'_>, pose: &Pose) -> Result<()> {
    let Output { model, out, .. } = *output;
    let before = evaluate(context, model, &model.rest(), &["lbs".to_owned()], false)?;
    let methods = METHODS.map(str::to_owned);
    let after = evaluate(context, model, pose, &methods, false)?;
    let mut row = pictures(context, model, &before)?;
    row[0].caption = vec!["BEFORE".into()];
    row.extend(pictures(context, model, &after)?);
    let lines: Vec<_> = after.into_iter().map(|(line, _)| line).collect();
    say(table(&lines).trim_end());
    write_png(&out.join("contact.png"), &sheet(&[row]))
}

fn write_glb(
    model: &Model,
    session: &Session<'_>,
    evaluator: &mut Evaluator,
    out: &Path,
) -> Result<export::Receipt> {
    let document = session.document();
    let still = [(0.0, session.posed())];
    let animated: Vec<(f32, Pose)> =
        document.keys().iter().map(|k| (k.time as f32, k.pose.clone())).collect();
    let poses = if animated.is_empty() { &still[..] } else { &animated[..] };
    let shapes = poses.iter().map(|(_, pose)| evaluator.evaluate(model, pose)).collect::<Result<Vec<_>>>()?;
    let keys: Vec<export::Key> = (poses.iter().zip(&shapes))
        .map(|((time, pose), shape)| export::Key {
            time_s: *time,
            pose,
            shape: Some(export::Shape { positions: &shape.positions, normals: &shape.normals }),
        })
        .collect();
    let options = export::Options { clip_name: "Sinew demo".into(), ..export::Options::default() };
    let export = export::posed(&model.asset, &model.bound.character, &keys, &options)?;
    export.write(out.join("posed.glb"), &keys)
}
