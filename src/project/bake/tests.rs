//! Tests of baking: any split of the work gives identical frames.

use super::*;
use crate::asset::{Asset, Interpolation, Property};
use crate::base::math::Quat;
use crate::bind::BindOptions;
use crate::bind::shapes::Shape;
use crate::document::{Channel, DeformerSettings, Edit, KeyEdit, Session, Slot, Target};
use crate::scene::Where;
use std::time::Duration;

/// Returns a capsule with springs whose third joint bends over two seconds.
pub(crate) fn capsule() -> (Session<'static>, Model) {
    let shape = Shape { bones: 4, rings: 24, segments: 12, radius: 0.15, length: 1.8, blend: 0.5 };
    let glb = crate::export::unedited(&shape.capsule_asset()).unwrap();
    let asset = Asset::from_slice(&glb, "capsule.glb").unwrap();
    let model = Model::bind(asset, &BindOptions::default(), Duration::ZERO).unwrap();
    let mut session = model.start(None).unwrap();
    let springs = DeformerSettings::of("springs");
    session.apply(Edit::SetDeformer(springs)).unwrap();
    let channel = Channel {
        target: Target::node(model.skeleton().joints[2].node, Property::Rotation),
        interpolation: Interpolation::Linear,
        times: vec![0.0, 1.0, 2.0],
        values: [0.0, 1.6, -0.8].map(|a| Quat::from_rotation_x(a).to_array()).concat(),
    };
    let slot = Slot { target: channel.target.clone(), channel: Some(channel) };
    session.apply(Edit::Keys(KeyEdit::Channels(vec![slot]))).unwrap();
    (session, model)
}

fn evaluator(model: &Model, document: &Document) -> Evaluator {
    Evaluator::new(&Where::Cpu, model, &recipe(document.deformer()).unwrap()).unwrap()
}

fn bake(folder: &Path, ranges: &[[u32; 2]]) -> (Bake, Vec<Done>) {
    let (session, model) = capsule();
    bake_of(&session, &model, folder, ranges)
}

fn bake_of(
    session: &Session<'static>,
    model: &Model,
    folder: &Path,
    ranges: &[[u32; 2]],
) -> (Bake, Vec<Done>) {
    let bake = Bake::begin(folder, model, session.document(), 24.0, "cpu").unwrap();
    let mut done = Vec::new();
    for range in ranges {
        // Simulate another machine: use a new evaluator without state.
        let mut evaluator = evaluator(model, session.document());
        bake.run(model, session.document(), &mut evaluator, *range, |_, d| done.push(d)).unwrap();
    }
    (bake, done)
}

#[test]
fn one_range_and_twelve_give_identical_bytes() {
    let (one, twelve) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (a, done) = bake(one.path(), &[[1, 120]]);
    assert_eq!(done, vec![Done::Baked; 120]);
    // Bake the last range first, because the order must not matter either.
    let ranges: Vec<[u32; 2]> = (0..12).rev().map(|i| [1 + 10 * i, 10 + 10 * i]).collect();
    let (b, _) = bake(twelve.path(), &ranges);
    assert_eq!(a.frames().unwrap(), (1..=120).collect::<Vec<_>>());
    for frame in 1..=120 {
        assert_eq!(std::fs::read(a.path(frame)).unwrap(), std::fs::read(b.path(frame)).unwrap());
    }
    for file in ["bake.json", "project.glb"] {
        let read = |f: &tempfile::TempDir| std::fs::read(f.path().join(file)).unwrap();
        assert_eq!(read(&one), read(&twelve));
    }
}

#[test]
fn swinging_flesh_gives_identical_bytes_in_one_range_and_in_several() {
    let (mut session, model) = capsule();
    let parameters = [("dynamics", 3.0), ("damping", 0.1)].map(|(name, v)| (name.to_owned(), v.into()));
    let springs = DeformerSettings { method: "springs".into(), parameters: parameters.into() };
    session.apply(Edit::SetDeformer(springs)).unwrap();
    let folders: [tempfile::TempDir; 3] = std::array::from_fn(|_| tempfile::tempdir().unwrap());
    let (one, _) = bake_of(&session, &model, folders[0].path(), &[[0, 29]]);
    let (several, _) = bake_of(&session, &model, folders[1].path(), &[[20, 29], [0, 9], [10, 19]]);
    // The motion reverses at frame 24. Spring dynamics make later frames depend on all earlier frames.
    let still = Shaper::new(&model, session.document(), &mut evaluator(&model, session.document()))
        .evaluate(&session.document().state(model.skeleton(), Some(one.time(27))))
        .unwrap();
    let swung = one.frame(&model, 27).unwrap();
    let apart = still.positions.iter().zip(&swung.positions).map(|(a, b)| a.distance(*b));
    assert!(apart.fold(0.0, f32::max) > 1e-3, "flesh swings");
    let bytes = |bake: &Bake, frame| std::fs::read(bake.path(frame)).unwrap();
    assert!((0..30).all(|f| bytes(&one, f) == bytes(&several, f)));
    // Frames 20 to 24 exist already, so the run keeps these frames and bakes the others.
    bake_of(&session, &model, folders[2].path(), &[[0, 24]]);
    let (half, done) = bake_of(&session, &model, folders[2].path(), &[[20, 29]]);
    assert_eq!(done, [[Done::Kept; 5], [Done::Baked; 5]].concat());
    assert!((0..30).all(|f| bytes(&one, f) == bytes(&half, f)));
}

#[test]
fn finished_frames_stay_and_damaged_ones_are_baked_again() {
    let folder = tempfile::tempdir().unwrap();
    let (bake1, _) = bake(folder.path(), &[[0, 5]]);
    let whole = std::fs::read(bake1.path(3)).unwrap();
    std::fs::write(bake1.path(3), &whole[..whole.len() / 2]).unwrap();
    std::fs::remove_file(bake1.path(5)).unwrap();
    let (_, done) = bake(folder.path(), &[[0, 5]]);
    use Done::{Baked, Kept};
    assert_eq!(done, [Kept, Kept, Kept, Baked, Kept, Baked]);
    assert_eq!(std::fs::read(bake1.path(3)).unwrap(), whole);
    // Frames of another document are rejected.
    let (mut session, model) = capsule();
    session.apply(Edit::Rename("another".into())).unwrap();
    let error = Bake::begin(folder.path(), &model, session.document(), 24.0, "cpu").unwrap_err().to_string();
    assert!(error.contains("another project"), "{error}");
    assert!(Bake::begin(folder.path(), &model, session.document(), f64::NAN, "cpu").is_err());
    let dependent = DeformerSettings {
        method: "springs".into(),
        parameters: [("frames".to_owned(), "dependent".into())].into(),
    };
    session.apply(Edit::SetDeformer(dependent)).unwrap();
    let error = Bake::begin(&folder.path().join("x"), &model, session.document(), 24.0, "cpu").unwrap_err();
    assert!(error.to_string().contains("depend on each other"), "{error}");
}

/// Options that give every frame its own morph target.
const EXACT: Joining =
    Joining { frames: None, budget_mm: Some(0.0), compatible: false, clips: crate::export::Clips::Keep };

/// Returns all morph target weights in a file, from nodes and animations.
fn weights_of_targets(asset: &Asset) -> impl Iterator<Item = f32> {
    let channels = asset.clips.iter().flat_map(|c| &c.channels);
    let animated = channels.filter(|c| c.property == Property::Weights).flat_map(|c| &c.values);
    asset.nodes.iter().flat_map(|n| &n.weights).chain(animated).copied()
}

#[test]
fn joined_frames_play_within_the_budget_with_few_targets() {
    let folder = tempfile::tempdir().unwrap();
    let (bake, _) = bake(folder.path(), &[[0, 30]]);
    let model = Model::load(&bake.project(), &BindOptions::default()).unwrap();
    assert_eq!(model.document.as_ref().unwrap().hash(), bake.manifest().document);
    let out = folder.path().join("j.glb");
    let exact = join(&bake, &model, EXACT, &out).unwrap();
    assert_eq!((exact.frames, exact.receipt.keys.len()), ([0, 30], 31));
    let worst = |j: &Joined| j.receipt.keys.iter().map(|k| k.largest_mm).fold(0.0, f64::max);
    assert!(worst(&exact) < 0.05, "{}", exact.receipt);
    let budget = |mm| Joining { budget_mm: Some(mm), ..Joining::default() };
    let fitted = join(&bake, &model, Joining { frames: Some([0, 30]), ..budget(1.0) }, &out).unwrap();
    assert!(worst(&fitted) <= 1.0, "{}", fitted.receipt);
    assert!(fitted.receipt.targets < exact.receipt.targets / 2, "{} {}", exact.receipt, fitted.receipt);
    let written = Asset::load(&out).unwrap();
    assert!(weights_of_targets(&written).all(|w| (0.0..=1.0).contains(&w)));
    let clip = &written.clips[0];
    assert!((clip.duration() - 30.0 / 24.0).abs() < 1e-6);
    // The default budget is a fraction of the character's size.
    let usual = join(&bake, &model, Joining::default(), &out).unwrap();
    let mm = usual.budget_mm.unwrap();
    assert!((0.1..0.4).contains(&mm) && worst(&usual) <= mm, "{mm} {}", usual.receipt);
    assert!(usual.receipt.targets < exact.receipt.targets && exact.budget_mm.is_none());
    assert!(usual.receipt.to_string().contains("at 31 times from 0.000 to 1.250 s: distance largest"));
    // A failed join leaves the file unchanged.
    let before = std::fs::read(&out).unwrap();
    let error = join(&bake, &model, budget(1e-7), &out).unwrap_err().to_string();
    assert!(error.contains("error budget") && std::fs::read(&out).unwrap() == before, "{error}");
    std::fs::remove_file(bake.path(9)).unwrap();
    let error = join(&bake, &model, Joining::default(), &out).unwrap_err().to_string();
    assert!(error.contains("frame_000009.sinew") && error.contains("missing"), "{error}");
    assert!(join(&bake, &model, budget(-1.0), &out).is_err());
}
