//! What commands do with a file: each step ends in a result or in an error, and all of them are tried.

use super::mutate::Draw;
use sinew::asset::Asset;
use sinew::base::Random;
use sinew::base::{Error, Result};
use sinew::bind::BindOptions;
use sinew::commands::inspect::inspect;
use sinew::deform::Recipe;
use sinew::document::{AssetRef, DeformerSettings, Document, dope_sheet};
use sinew::export::{Key, Options, Shape, obj, posed, unedited};
use sinew::project;
use sinew::rig::{Pose, parse_pose, pose_text};
use sinew::scene::{Evaluation, Evaluator, Model, Shaper, Where, recipe};
use sinew::take::Replay;
use std::path::Path;
use std::time::Duration;

/// Maximum number of frames of a take that are replayed.
const FRAMES: usize = 400;

/// Checks that an error has a message.
fn words(error: &Error) {
    assert!(error.to_string().len() > 10, "an error without words: {error:?}");
}

/// Opens, shows, exports and saves a journal or a project.
pub fn document_file(path: &Path, random: &mut Random) -> Result<()> {
    let opened = project::open(path, &BindOptions::default())?;
    document(path, &opened.model, opened.session.document(), random)
}

fn document(path: &Path, model: &Model, document: &Document, random: &mut Random) -> Result<()> {
    let skeleton = model.skeleton();
    let time = random.once_in(2).then_some(0.4);
    let state = document.state(skeleton, time);
    dope_sheet(document, skeleton);
    document.hash();
    document.clip("motion", skeleton)?;
    let mut evaluator = Evaluator::new(&Where::Cpu, model, &recipe(&state.deformer)?)?;
    let shape = Shaper::new(model, document, &mut evaluator).evaluate(&state)?;
    export(path, model, &state.pose, &shape, random)?;
    if random.once_in(4) {
        let mut evaluator = Evaluator::new(&Where::Cpu, model, &recipe(document.deformer())?)?;
        let saved = path.with_extension("saved.glb");
        project::save(&saved, model, document, &mut evaluator)?;
        let again = Model::load(&saved, &BindOptions::default())?;
        let hash = again.document.as_ref().map(Document::hash);
        assert_eq!(hash, Some(document.hash()), "what was saved is not what is opened");
    }
    Ok(())
}

/// Exports the pose and measures the file as on disk.
fn export(path: &Path, model: &Model, pose: &Pose, shape: &Evaluation, random: &mut Random) -> Result<()> {
    let shape = Shape { positions: &shape.positions, normals: &shape.normals };
    let keys = [Key { time_s: 0.0, pose, shape: Some(shape) }];
    let options = Options { compatible: random.once_in(3), ..Options::default() };
    let character = &model.bound.character;
    let out = posed(&model.asset, character, &keys, &options)?;
    let written = Asset::from_slice(&out.glb, path)?;
    drop(out.receipt(&written, &keys)?.to_string());
    // A file that was damaged on disk.
    let mut glb = out.glb.clone();
    super::mutate::bytes(&mut glb, random);
    let mut damaged = out;
    damaged.glb = glb;
    let _ = damaged.receipt(&written, &keys).inspect_err(words);
    obj(path.with_extension("obj"), character, shape.positions, Some(shape.normals))
}

/// Replays a take to its end and uses the resulting document.
pub fn take(path: &Path, random: &mut Random) -> Result<()> {
    let mut replay = Replay::open(path)?;
    let mut frames = 0;
    while frames < FRAMES && replay.step()? {
        frames += 1;
    }
    document(path, replay.model(), replay.bench().session().document(), random)
}

/// Applies a pose file to a character.
pub fn pose(path: &Path, text: &str, model: &Model, random: &mut Random) -> Result<()> {
    let pose = parse_pose(path, text, model.skeleton())?;
    parse_pose(path, &pose_text(&pose, model.skeleton()), model.skeleton())?;
    let shape = evaluate(model, &pose, random)?;
    export(path, model, &pose, &shape, random)
}

fn evaluate(model: &Model, pose: &Pose, random: &mut Random) -> Result<Evaluation> {
    let method = (*random.pick(&Recipe::NAMES)).to_owned();
    let parameters = match method.contains("springs") || method == "thesis" {
        true => [("max_iterations".to_owned(), 4.into())].into(),
        false => Default::default(),
    };
    let recipe = recipe(&DeformerSettings { method, parameters })?;
    Evaluator::new(&Where::Cpu, model, &recipe)?.evaluate(model, pose)
}

/// Inspects, binds, deforms, exports, packs and reopens a glTF file.
pub fn model(path: &Path, content: &[u8], random: &mut Random) -> Result<()> {
    if random.once_in(4) {
        std::fs::write(path, content).map_err(|e| Error::io(path, e))?;
        drop(inspect(path, random.once_in(2)).inspect_err(words));
        drop(project::open(path, &BindOptions::default()).inspect_err(words));
    }
    let asset = Asset::from_slice(content, path)?;
    AssetRef::of(&asset);
    let packed = unedited(&asset)?;
    let again = Asset::from_slice(&packed, path)?;
    assert_eq!(again.nodes.len(), asset.nodes.len(), "packing has changed the file");
    let model = Model::bind(asset, &BindOptions::default(), Duration::ZERO)?;
    let mut pose = model.rest();
    if let Some(clip) = model.asset.clips.first() {
        let time = f64::from(clip.duration()) * 0.6;
        sinew::anim::sample(clip, time, &mut pose);
    }
    let shape = evaluate(&model, &pose, random)?;
    export(path, &model, &pose, &shape, random)
}

/// Any error has a message.
pub fn told(result: Result<()>) -> bool {
    result.inspect_err(words).is_ok()
}
