//! Tests of firm and soft regions in documents: undo, files, journals, bakes, exports, other methods, several sizes.

use crate::asset::Asset;
use crate::base::FirmId;
use crate::base::math::Vec3;
use crate::bind::shapes::Shape;
use crate::bind::{BindOptions, VertexRuns};
use crate::deform::blend::Painted;
use crate::deform::volume::{Exact, FirmRegion};
use crate::document::{
    DeformerSettings, Document, Edit, Journal, KeyEdit, KeyValue, Operation, Session, Target,
};
use crate::export::{Options, unedited};
use crate::project::bake::Bake;
use crate::project::{export, save};
use crate::rig::{Axis, Pose};
use crate::scene::{Evaluator, LiveRecipe, Model, Shaper, Where};
use std::path::Path;
use std::time::Duration;

const LENGTH: f32 = 1.2;
const RADIUS: f32 = 0.15;

/// A capsule of two bones, bent by 80 degrees, with the method `volume` of few cubes.
fn bent() -> (Model, Session<'static>) {
    let shape = Shape { bones: 2, rings: 24, segments: 12, radius: RADIUS, length: LENGTH, blend: 0.5 };
    let asset = Asset::from_slice(&unedited(&shape.capsule_asset()).unwrap(), "capsule.glb").unwrap();
    let model = Model::bind(asset, &BindOptions::default(), Duration::ZERO).unwrap();
    let mut session = model.start(None).unwrap();
    let mut settings = DeformerSettings::of("volume");
    settings.parameters.insert("cubes".to_owned(), 500.into());
    session.apply(Edit::SetDeformer(settings)).unwrap();
    let node = model.skeleton().joints[1].node;
    session.apply(Edit::RotateJoint { node, turns: vec![(Axis::Z, 80.0)] }).unwrap();
    (model, session)
}

/// The skin on one side of the joint.
fn patch(model: &Model, id: u32, factor: f32) -> Edit {
    let positions = &model.bound.character.control.positions;
    let away = |v: u32| positions[v as usize].distance(Vec3::new(RADIUS, 0.5 * LENGTH, 0.0));
    let near: Vec<u32> = (0..positions.len() as u32).filter(|v| away(*v) < 0.25).collect();
    let falloff = Painted::new(near.iter().map(|v| (2.0 - 8.0 * away(*v)).min(1.0)));
    let region = FirmRegion {
        id: FirmId(id),
        name: format!("Patch {id}"),
        factor,
        vertices: VertexRuns::of(near),
        falloff,
    };
    Edit::AddFirm { index: None, region: Box::new(region) }
}

fn evaluator(model: &Model, document: &Document) -> Evaluator {
    Evaluator::new(&Where::Cpu, model, &document.recipe().unwrap()).unwrap()
}

fn shape(model: &Model, document: &Document, pose: &Pose) -> Vec<Vec3> {
    evaluator(model, document).evaluate(model, pose).unwrap().control
}

fn farthest(a: &[Vec3], b: &[Vec3]) -> f32 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max)
}

#[test]
fn regions_are_undone_saved_reopened_and_replayed() {
    let folder = tempfile::tempdir().unwrap();
    let (model, mut session) = bent();
    let before = session.document().clone();
    assert!(!serde_json::to_string(&before).unwrap().contains("firm\""), "older programs read it");
    let plain = shape(&model, &before, &session.posed());
    session.apply(patch(&model, 0, 16.0)).unwrap();
    session.apply(patch(&model, 1, 0.5)).unwrap();
    let (document, hash) = (session.document().clone(), session.document().hash());
    assert!(hash != before.hash() && !document.is_shaped_like(&before));
    let pose = session.posed();
    let firm = shape(&model, &document, &pose);
    assert!(farthest(&firm, &plain) > 0.02 * RADIUS, "{}", farthest(&firm, &plain));
    // Each part of a region changes the hash.
    let mut hashes = vec![hash.clone(), before.hash()];
    let changes: [fn(&mut FirmRegion); 4] = [
        |r| r.name.push('2'),
        |r| r.factor = 3.0,
        |r| r.vertices = VertexRuns::of((1..).take(r.vertices.count())),
        |r| r.falloff = Painted::NONE,
    ];
    for change in changes {
        let mut region = document.firm()[0].clone();
        change(&mut region);
        let remove = Edit::RemoveFirm(region.id);
        let add = Edit::AddFirm { index: Some(0), region: Box::new(region) };
        session.apply(Edit::Group(vec![remove, add])).unwrap();
        hashes.push(session.document().hash());
        session.run(Operation::Undo).unwrap();
        assert_eq!(session.document().hash(), hash);
    }
    hashes.sort();
    hashes.dedup();
    assert_eq!(hashes.len(), 6);
    // A factor is changed, a region is removed and undone: the order stays.
    session.apply(Edit::SetFirm { id: FirmId(0), factor: 2.0 }).unwrap();
    session.run(Operation::Continue(Edit::SetFirm { id: FirmId(0), factor: 4.0 })).unwrap();
    session.apply(Edit::RemoveFirm(FirmId(0))).unwrap();
    assert_eq!((session.document().firm().len(), session.document().unused_firm_id()), (1, FirmId(2)));
    session.run(Operation::Undo).unwrap();
    assert_eq!((session.document().firm()[0].id, session.document().firm()[0].factor), (FirmId(0), 4.0));
    session.run(Operation::Undo).unwrap();
    assert_eq!((session.document(), session.document().hash()), (&document, hash.clone()));
    // A project.
    let saved = folder.path().join("capsule.project.glb");
    save(&saved, &model, &document, &mut evaluator(&model, &document)).unwrap();
    let again = Model::load(&saved, &BindOptions::default()).unwrap();
    let opened = again.document.as_ref().unwrap();
    assert_eq!((opened.hash(), opened.firm()), (hash.clone(), document.firm()));
    assert_eq!(shape(&again, opened, &again.shown()), firm);
    // The command line evaluates a project by the recipe of the model.
    let recipe = again.recipe(document.deformer()).unwrap();
    let mut evaluator = Evaluator::new(&Where::Cpu, &again, &recipe).unwrap();
    assert_eq!(evaluator.evaluate(&again, &again.shown()).unwrap().control, firm);
    // A journal, and its replay.
    let journal = folder.path().join("capsule.journal");
    std::fs::write(folder.path().join("capsule.glb"), unedited(&model.asset).unwrap()).unwrap();
    let file = Model::load(&folder.path().join("capsule.glb"), &BindOptions::default()).unwrap();
    let mut log = Journal::open(&journal, &file.file()).unwrap().0;
    let mut recorded = file.start(None).unwrap();
    for operation in session.recording().iter().skip(1) {
        recorded.run(operation.clone()).unwrap();
    }
    recorded.recording().iter().for_each(|operation| log.append(operation).unwrap());
    drop(log);
    let opened = crate::project::open(&journal, &BindOptions::default()).unwrap();
    assert_eq!(opened.session.document().firm(), document.firm());
    assert_eq!(opened.session.document().hash(), recorded.document().hash());
    assert!(farthest(&shape(&opened.model, opened.session.document(), &pose), &firm) < 1e-6);
}

#[test]
fn wrong_regions_are_refused_and_leave_the_document() {
    let (model, mut session) = bent();
    session.apply(patch(&model, 0, 4.0)).unwrap();
    let hash = session.document().hash();
    let with = |change: &dyn Fn(&mut FirmRegion)| {
        let Edit::AddFirm { mut region, .. } = patch(&model, 1, 4.0) else { panic!() };
        change(&mut region);
        Edit::AddFirm { index: None, region }
    };
    let Edit::AddFirm { region, .. } = patch(&model, 1, 4.0) else { panic!() };
    let beyond = Edit::AddFirm { index: Some(2), region };
    for (edit, says) in [
        (with(&|r| r.factor = 20.0), "factor"),
        (with(&|r| r.factor = f32::NAN), "factor"),
        (with(&|r| r.vertices = VertexRuns::default()), "no vertices"),
        (with(&|r| r.falloff = Painted::new([1.0].into_iter())), "weights"),
        (with(&|r| r.id = FirmId(0)), "cannot be added"),
        (with(&|r| r.id = FirmId(1 << 30)), "cannot be added"),
        (beyond, "cannot be added"),
        (Edit::SetFirm { id: FirmId(0), factor: 0.0 }, "factor"),
        (Edit::SetFirm { id: FirmId(5), factor: 2.0 }, "no firm region 5"),
        (Edit::RemoveFirm(FirmId(5)), "no firm region 5"),
    ] {
        let error = session.apply(edit).unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
        assert_eq!(session.document().hash(), hash);
    }
    // A vertex that the mesh lacks is found when the recording is replayed on the character.
    session.apply(with(&|r| (r.vertices, r.falloff) = (VertexRuns::of([9_999_999]), Painted::NONE))).unwrap();
    let error = model.replay(&session.recording(), Path::new("a.journal")).err().unwrap().to_string();
    assert!(error.contains("a vertex that the mesh does not have"), "{error}");
    // So is a region in a document from a file.
    let mut json = serde_json::to_value(session.document()).unwrap();
    json["firm"][0]["factor"] = 99.into();
    assert!(Document::from_json(json, model.skeleton()).unwrap_err().to_string().contains("factor"));
}

#[test]
fn exports_bakes_comparisons_and_keyed_settings_have_the_regions() {
    let folder = tempfile::tempdir().unwrap();
    let (model, mut session) = bent();
    session.apply(patch(&model, 0, 16.0)).unwrap();
    let (document, pose) = (session.document().clone(), session.posed());
    // The receipt measures the exported file against the editor's shape.
    let file = folder.path().join("posed.glb");
    let mut own = evaluator(&model, &document);
    let written = export(&file, &model, &document, &mut own, &Options::default()).unwrap();
    assert!(written.largest_mm() < 0.1, "{written}");
    // The exact comparison of a project differs from that of its file alone.
    let saved = folder.path().join("capsule.project.glb");
    save(&saved, &model, &document, &mut evaluator(&model, &document)).unwrap();
    let again = Model::load(&saved, &BindOptions::default()).unwrap();
    let gold =
        |model: &Model| Evaluator::exact(model, Exact::Gold).unwrap().evaluate(model, &pose).unwrap().control;
    assert!(farthest(&gold(&again), &gold(&model)) > 0.02 * RADIUS);
    // A keyed setting keeps the regions at every time, live and in bakes.
    let target = Target::Setting { method: "volume".into(), name: "volume".into() };
    for (time, value) in [(0.0, 0.2), (1.0, 0.9)] {
        let keys = vec![KeyValue { target: target.clone(), value: vec![value] }];
        session.apply(Edit::Keys(KeyEdit::Insert { time, keys })).unwrap();
    }
    let document = session.document().clone();
    let mut live = LiveRecipe::default();
    live.learn(&document);
    live.go_to(&document, Some(0.5));
    assert_eq!(live.recipe().firm, *document.firm());
    let mut base = evaluator(&model, &document);
    let state = document.state(model.skeleton(), Some(0.5));
    let shown = Shaper::new(&model, &document, &mut base).evaluate(&state).unwrap();
    let mut direct = Evaluator::new(&Where::Cpu, &model, live.recipe()).unwrap();
    assert!(farthest(&direct.evaluate(&model, &state.pose).unwrap().control, &shown.control) < 1e-6);
    let bake = Bake::begin(&folder.path().join("bake"), &model, &document, 2.0, "cpu").unwrap();
    bake.run(&model, &document, &mut base, [0, 2], |_, _| {}).unwrap();
    assert_eq!(bake.frame(&model, 1).unwrap().positions, shown.positions);
}

#[test]
fn other_methods_have_the_regions_in_contact_only() {
    let (model, mut session) = bent();
    let node = model.skeleton().joints[1].node;
    session.apply(Edit::RotateJoint { node, turns: vec![(Axis::Z, 70.0)] }).unwrap();
    let positions = &model.bound.character.control.positions;
    let low = (0..positions.len() as u32).filter(|v| positions[*v as usize].y < 0.5 * LENGTH);
    let region = FirmRegion {
        id: FirmId(0),
        name: "low".into(),
        factor: 16.0,
        vertices: VertexRuns::of(low),
        falloff: Painted::NONE,
    };
    for (method, contact, acts) in [("dqs", 0, false), ("springs", 0, false), ("dqs", 4, true)] {
        let mut settings = DeformerSettings::of(method);
        settings.parameters.insert("contact".to_owned(), contact.into());
        session.apply(Edit::SetDeformer(settings)).unwrap();
        let plain = shape(&model, session.document(), &session.posed());
        session.apply(Edit::AddFirm { index: None, region: Box::new(region.clone()) }).unwrap();
        let firm = shape(&model, session.document(), &session.posed());
        let off = farthest(&plain, &firm);
        assert!(if acts { off > 1e-3 * RADIUS } else { off == 0.0 }, "{method} {contact}: {off}");
        session.run(Operation::Undo).unwrap();
    }
}
