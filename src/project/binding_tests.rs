//! Tests of the document's binding: undo, files, journals, and the deformed shape.

use crate::base::JointId;
use crate::base::math::Vec3;
use crate::bind::{BindOptions, Binding, Smoothing, VertexRuns};
use crate::document::{Document, Edit, Journal, Operation, Session};
use crate::rig::{Axis, Pose};
use crate::scene::{Evaluator, Model, Where, recipe};
use std::path::{Path, PathBuf};
use std::time::Duration;

fn tube(folder: &Path) -> PathBuf {
    let file = folder.join("tube.glb");
    std::fs::write(&file, crate::generate::tube(700).unwrap()).unwrap();
    file
}

fn loaded(file: &Path) -> Model {
    Model::load(file, &BindOptions::default()).unwrap()
}

/// Positions of all vertices in a pose, by the model's own document if it has one.
fn shape(model: &Model, method: &str, pose: &Pose) -> Vec<Vec3> {
    let recipe = crate::deform::Recipe::from_name(method).unwrap();
    Evaluator::new(&Where::Cpu, model, &recipe).unwrap().evaluate(model, pose).unwrap().control
}

fn session(model: &Model) -> Session<'static> {
    let mut session = model.start(None).unwrap();
    session
        .apply(Edit::RotateJoint { node: model.skeleton().joints[1].node, turns: vec![(Axis::Z, 60.0)] })
        .unwrap();
    session
}

fn set(session: &mut Session<'_>, binding: &BindOptions) {
    session.apply(Edit::SetBinding(Box::new(binding.clone()))).unwrap();
}

/// A binding that differs from the default in every setting.
fn other(model: &Model) -> BindOptions {
    let low = |v: &u32| model.bound.character.control.positions[*v as usize].y < 0.2;
    let count = model.bound.character.control.positions.len() as u32;
    let mut binding = BindOptions {
        method: Binding::Planar,
        smooth: 2,
        smoothing: Smoothing::Plain,
        planes: [(JointId(1), [0.0, 5.0, 20.0])].into(),
        ..BindOptions::default()
    };
    let region = binding.region("low", VertexRuns::of((0..count).filter(low)));
    (region.joint, region.t) = (Some(JointId(1)), Some(0.25));
    binding
}

#[test]
fn a_binding_is_undone_saved_reopened_and_replayed() {
    let folder = tempfile::tempdir().unwrap();
    let file = tube(folder.path());
    let model = loaded(&file);
    let binding = other(&model);
    let mut session = session(&model);
    let before = session.document().clone();
    set(&mut session, &binding);
    let (document, hash) = (session.document().clone(), session.document().hash());
    assert_ne!(hash, before.hash());
    assert!(!document.is_shaped_like(&before));
    session.run(Operation::Undo).unwrap();
    assert_eq!((session.document(), session.document().hash()), (&before, before.hash()));
    session.run(Operation::Redo).unwrap();
    assert_eq!((session.document(), session.document().hash()), (&document, hash.clone()));
    // Each setting changes the hash.
    let mut hashes = vec![hash.clone()];
    let changes: [fn(&mut BindOptions); 8] = [
        |b| b.method = Binding::Direct,
        |b| b.smooth = 3,
        |b| b.smoothing = Smoothing::Bounded,
        |b| b.planes.values_mut().for_each(|t| t[1] = 6.0),
        |b| b.reattached[0].t = None,
        |b| b.reattached[0].joint = Some(JointId(0)),
        |b| b.reattached[0].vertices = VertexRuns::of([3]),
        |b| b.reattached[0].name.push('2'),
    ];
    for change in changes {
        let mut changed = binding.clone();
        change(&mut changed);
        set(&mut session, &changed);
        hashes.push(session.document().hash());
        session.run(Operation::Undo).unwrap();
    }
    hashes.sort();
    hashes.dedup();
    assert_eq!(hashes.len(), 9);

    let wanted = Model::bind(model.asset.as_ref().clone(), &binding, Duration::ZERO).unwrap();
    let pose = session.posed();
    for method in ["rigid", "springs"] {
        let shape_of = |model: &Model| shape(model, method, &pose);
        let shown = shape_of(&wanted);
        let moved = shown.iter().zip(shape_of(&model)).filter(|(a, b)| a.distance(*b) > 1e-4).count();
        assert!(moved > 20, "{method}: {moved} vertices differ from the default binding");
        assert_eq!(shape_of(&model.rebound(&binding).unwrap()), shown);
        // A project has its binding.
        let saved = folder.path().join(format!("{method}.project.glb"));
        let bound = model.rebound(&binding).unwrap();
        let recipe = recipe(document.deformer()).unwrap();
        let mut evaluator = Evaluator::new(&Where::Cpu, &bound, &recipe).unwrap();
        crate::project::save(&saved, &bound, &document, &mut evaluator).unwrap();
        let again = loaded(&saved);
        assert_eq!(
            (again.binding(), again.document.as_ref().map(Document::hash)),
            (&binding, Some(hash.clone()))
        );
        assert_eq!(shape_of(&again), shown);
    }
    // A journal, and its replay.
    let journal = folder.path().join("tube.journal");
    let mut log = Journal::open(&journal, &model.file()).unwrap().0;
    session.recording().iter().for_each(|operation| log.append(operation).unwrap());
    drop(log);
    let opened = crate::project::open(&journal, &BindOptions::default()).unwrap();
    assert_eq!((opened.model.binding(), opened.session.document().hash()), (&binding, hash.clone()));
    assert_eq!(shape(&opened.model, "rigid", &pose), shape(&wanted, "rigid", &pose));
    let skeleton = std::sync::Arc::new(model.skeleton().clone());
    let replayed = Session::replay(&session.recording(), Box::new(move |_| Ok(skeleton.clone()))).unwrap();
    assert_eq!(replayed.document().hash(), hash);
}

#[test]
fn regions_and_places_move_only_their_vertices() {
    let folder = tempfile::tempdir().unwrap();
    let model = loaded(&tube(folder.path()));
    let pose = session(&model).posed();
    let plain = shape(&model, "rigid", &pose);
    let binding = BindOptions { reattached: other(&model).reattached, ..BindOptions::default() };
    let region: Vec<u32> = binding.reattached[0].vertices.iter().collect();
    for (joint, t) in [(Some(JointId(1)), None), (Some(JointId(1)), Some(0.75))] {
        let mut binding = binding.clone();
        (binding.reattached[0].joint, binding.reattached[0].t) = (joint, t);
        let now = shape(&model.rebound(&binding).unwrap(), "rigid", &pose);
        for (v, (a, b)) in plain.iter().zip(&now).enumerate() {
            let inside = region.contains(&(v as u32));
            // The region is on a bone that does not turn; the other joint's bone does.
            assert_eq!(a.distance(*b) > 1e-3, inside, "vertex {v}: {a} {b}");
        }
    }
}

#[test]
fn older_documents_have_the_default_binding_and_wrong_ones_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = tube(folder.path());
    let model = loaded(&file);
    let mut session = session(&model);
    let (plain, hash) = (serde_json::to_value(session.document()).unwrap(), session.document().hash());
    // Documents with the default binding are stored as before.
    assert!(plain.get("binding").is_none());
    let read = Document::from_json(plain, model.skeleton()).unwrap();
    assert_eq!((read.binding(), read.hash()), (&BindOptions::default(), hash.clone()));
    set(&mut session, &other(&model));
    set(&mut session, &BindOptions::default());
    assert_eq!(session.document().hash(), hash);
    for wrong in [
        BindOptions { smooth: 11, ..BindOptions::default() },
        BindOptions { planes: [(JointId(99), [0.0; 3])].into(), ..BindOptions::default() },
    ] {
        assert!(session.apply(Edit::SetBinding(Box::new(wrong))).is_err());
        assert_eq!(session.document().hash(), hash);
    }
    // A vertex that the mesh lacks is found when the recording is replayed on the character.
    let mut beyond = BindOptions::default();
    beyond.region("beyond", VertexRuns::of([9_999_999])).t = Some(0.5);
    set(&mut session, &beyond);
    let error = model.replay(&session.recording(), Path::new("a.journal")).err().unwrap().to_string();
    assert!(error.contains("vertices that the mesh does not have"), "{error}");
}
