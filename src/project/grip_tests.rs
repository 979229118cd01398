//! Tests of grips on the skin: the deformed shape, undo, keys, files, journals, and exports.

use crate::asset::{Asset, Property};
use crate::base::GripId;
use crate::base::math::{Quat, Trs, Vec3};
use crate::bind::BindOptions;
use crate::bind::shapes::Shape;
use crate::document::{
    DeformerSettings, Document, Edit, Journal, KeyEdit, KeyValue, Operation, Session, Target,
};
use crate::export::{Options, unedited};
use crate::project::save;
use crate::rig::{GripHold, Pose};
use crate::scene::{Evaluator, Model, Where};
use crate::surface::Grip;
use std::path::Path;
use std::time::Duration;

const RADIUS: f32 = 0.15;
const LENGTH: f32 = 1.8;

fn capsule(bare: bool) -> Model {
    let shape = Shape { bones: 3, rings: 24, segments: 12, radius: RADIUS, length: LENGTH, blend: 0.5 };
    let asset = if bare { shape.bare_asset() } else { shape.capsule_asset() };
    let asset = Asset::from_slice(&unedited(&asset).unwrap(), "capsule.glb").unwrap();
    Model::bind(asset, &BindOptions::default(), Duration::ZERO).unwrap()
}

fn nearest(model: &Model, to: Vec3) -> u32 {
    let positions = &model.bound.character.control.positions;
    let away = |v: &u32| positions[*v as usize].distance(to);
    (0..positions.len() as u32).min_by(|a, b| away(a).total_cmp(&away(b))).unwrap()
}

/// The capsule bent to an arc of one radian.
fn bent(x: Vec3) -> Vec3 {
    let (angle, radius) = (x.y / LENGTH, LENGTH);
    let (sin, cos) = angle.sin_cos();
    Vec3::new(radius - (radius - x.x) * cos, (radius - x.x) * sin, x.z)
}

/// A session with the method FAST and six points that bend the capsule.
fn six(model: &Model) -> Session<'static> {
    let mut session = model.start(None).unwrap();
    session.apply(Edit::SetDeformer(DeformerSettings::of("fast"))).unwrap();
    for k in 0..6 {
        let side = if k % 2 == 0 { RADIUS } else { -RADIUS };
        let v = nearest(model, Vec3::new(side, LENGTH * k as f32 / 5.0, 0.0));
        let x = model.bound.character.control.positions[v as usize];
        let id = session.document().unused_grip_id();
        let grip = Grip { translation: (bent(x) - x).to_array(), ..Grip::new(id, [v]) };
        session.apply(Edit::AddGrip { index: None, grip: Box::new(grip) }).unwrap();
    }
    session
}

fn evaluator(model: &Model, document: &Document) -> Evaluator {
    Evaluator::new(&Where::Cpu, model, &document.recipe().unwrap()).unwrap()
}

fn shape(model: &Model, document: &Document, pose: &Pose) -> Vec<Vec3> {
    evaluator(model, document).evaluate(model, pose).unwrap().control
}

fn off(model: &Model, shape: &[Vec3]) -> f32 {
    let rest = &model.bound.character.control.positions;
    shape.iter().zip(rest).map(|(a, x)| a.distance(bent(*x))).fold(0.0, f32::max)
}

#[test]
fn six_points_bend_a_bare_mesh_and_stay_through_undo_files_and_journals() {
    let folder = tempfile::tempdir().unwrap();
    let model = capsule(true);
    let mut session = six(&model);
    let (document, hash) = (session.document().clone(), session.document().hash());
    assert_eq!(document.grips().len(), 6);
    let mut evaluator = evaluator(&model, &document);
    let bent_shape = evaluator.evaluate(&model, &session.posed()).unwrap().control;
    let rest = &model.bound.character.control.positions;
    for grip in document.grips() {
        let v = grip.vertices.iter().next().unwrap() as usize;
        assert!(bent_shape[v].distance(bent(rest[v])) < 1e-3, "{}", bent_shape[v].distance(bent(rest[v])));
    }
    println!("the skin is at most {} m off the arc", off(&model, &bent_shape));
    assert!(off(&model, &bent_shape) < 0.08, "{}", off(&model, &bent_shape));
    // At rest, nothing moves.
    for id in 0..6 {
        let edit = Edit::MoveGrip { id: GripId(id), translation: [0.0; 3], rotation: [0.0, 0.0, 0.0, 1.0] };
        session.apply(edit).unwrap();
    }
    let still = evaluator.evaluate(&model, &session.posed()).unwrap().control;
    assert!(still.iter().zip(rest).all(|(a, b)| a.distance(*b) < 1e-4));
    for _ in 0..6 {
        session.run(Operation::Undo).unwrap();
    }
    assert_eq!((session.document(), session.document().hash()), (&document, hash.clone()));
    // Each part of a grip changes the hash.
    let mut hashes = vec![hash.clone()];
    let changes: [fn(&mut Grip); 5] = [
        |g| g.name.push('2'),
        |g| g.hold = GripHold::Free,
        |g| g.translation[1] += 0.1,
        |g| g.rotation = [0.0, 1.0, 0.0, 0.0],
        |g| *g = Grip { name: g.name.clone(), translation: g.translation, ..Grip::new(g.id, [0, 1]) },
    ];
    for change in changes {
        let mut grip = document.grips()[2].clone();
        change(&mut grip);
        session.apply(Edit::SetGrip(Box::new(grip))).unwrap();
        hashes.push(session.document().hash());
        session.run(Operation::Undo).unwrap();
    }
    hashes.sort();
    hashes.dedup();
    assert_eq!(hashes.len(), 6);
    // Removal and its undo keep the order.
    session.apply(Edit::RemoveGrip(GripId(2))).unwrap();
    assert_eq!(session.document().grips().len(), 5);
    assert!(session.document().grip(GripId(2)).is_err());
    session.run(Operation::Undo).unwrap();
    assert_eq!(session.document().hash(), hash);
    // A project, and its morph target.
    let saved = folder.path().join("bent.project.glb");
    let receipt = save(&saved, &model, &document, &mut evaluator).unwrap();
    assert!(receipt.largest_mm() < 0.1, "{receipt}");
    let again = Model::load(&saved, &BindOptions::default()).unwrap();
    let read = again.document.as_ref().unwrap();
    assert_eq!((read.grips(), read.hash()), (document.grips(), hash.clone()));
    assert_eq!(shape(&again, read, &again.shown()), bent_shape);
    // An export, read as any file.
    let out = folder.path().join("bent.glb");
    let options = Options::default();
    let receipt = crate::project::export(&out, &model, &document, &mut evaluator, &options).unwrap();
    assert!(receipt.largest_mm() < 0.1 && receipt.targets == 1, "{receipt}");
    // A journal, and its replay.
    let journal = folder.path().join("capsule.journal");
    let mut log = Journal::open(&journal, &model.file()).unwrap().0;
    session.recording().iter().for_each(|operation| log.append(operation).unwrap());
    drop(log);
    let replayed = model.replay(&session.recording(), Path::new("capsule.journal")).unwrap();
    assert_eq!(replayed.document().hash(), hash);
}

#[test]
fn free_points_follow_and_the_mesh_follows_its_node() {
    let model = capsule(true);
    let mut session = six(&model);
    let mut evaluator = evaluator(&model, session.document());
    let mut shape = |pose: &Pose| evaluator.evaluate(&model, pose).unwrap().control;
    for id in [0, 2, 4] {
        let grip = Grip { hold: GripHold::Free, ..session.document().grips()[id].clone() };
        session.apply(Edit::SetGrip(Box::new(grip))).unwrap();
    }
    let three = shape(&session.posed());
    assert!(off(&model, &three) < 0.3, "{}", off(&model, &three));
    // The node carries the whole mesh with its grips.
    let node = model.skeleton().joints[0].node;
    let rest = model.rest().local[node.index()];
    let turn = Quat::from_rotation_y(1.0);
    let by = Vec3::new(0.5, 0.2, -1.0);
    let local = Trs::new(rest.translation() + by, turn, Vec3::ONE);
    session.apply(Edit::SetLocal { node, local }).unwrap();
    let moved = shape(&session.posed());
    for (a, b) in three.iter().zip(&moved) {
        assert!((turn * *a + by).distance(*b) < 2e-3, "{a} {b}");
    }
    // The same if no grip holds anything.
    for id in 0..6 {
        let grip = Grip { hold: GripHold::Free, ..session.document().grips()[id].clone() };
        session.apply(Edit::SetGrip(Box::new(grip))).unwrap();
    }
    let moved = shape(&session.posed());
    for (x, b) in model.bound.character.control.positions.iter().zip(&moved) {
        assert!((turn * *x + by).distance(*b) < 1e-4, "{x} {b}");
    }
}

#[test]
fn regions_rotate_and_grips_stand_beside_joints() {
    let model = capsule(false);
    let positions = &model.bound.character.control.positions;
    let mut session = model.start(None).unwrap();
    session.apply(Edit::SetDeformer(DeformerSettings::of("fast"))).unwrap();
    let plain = shape(&model, session.document(), &session.posed());
    let top: Vec<u32> = (0..positions.len() as u32).filter(|&v| positions[v as usize].y > LENGTH).collect();
    let centre = top.iter().map(|&v| positions[v as usize]).sum::<Vec3>() / top.len() as f32;
    let turn = Quat::from_rotation_z(0.7);
    let by = Vec3::new(-0.3, -0.1, 0.0);
    let mut grip = Grip::new(GripId(0), top.clone());
    (grip.hold, grip.translation, grip.rotation) = (GripHold::Full, by.to_array(), turn.to_array());
    assert!(grip.is_region());
    session.apply(Edit::AddGrip { index: None, grip: Box::new(grip.clone()) }).unwrap();
    let shown = shape(&model, session.document(), &session.posed());
    for &v in &top {
        let wanted = turn * (positions[v as usize] - centre) + centre + by;
        assert!(shown[v as usize].distance(wanted) < 1e-3, "{} {wanted}", shown[v as usize]);
    }
    // The root joint holds the bottom, and the joints between follow.
    let bottom = nearest(&model, Vec3::ZERO) as usize;
    assert!(shown[bottom].distance(plain[bottom]) < 0.02);
    let middle = nearest(&model, Vec3::new(RADIUS, 0.8 * LENGTH, 0.0)) as usize;
    assert!(shown[middle].distance(plain[middle]) > 0.05, "{}", shown[middle].distance(plain[middle]));
    // Without a target the shape is that of the joints.
    grip.hold = GripHold::Free;
    session.apply(Edit::SetGrip(Box::new(grip))).unwrap();
    let free = shape(&model, session.document(), &session.posed());
    assert!(free.iter().zip(&plain).all(|(a, b)| a.distance(*b) < 1e-3));
    // With another method, grips have no effect.
    session.apply(Edit::SetDeformer(DeformerSettings::of("lbs"))).unwrap();
    let other = shape(&model, session.document(), &session.posed());
    assert!(other.iter().zip(&plain).all(|(a, b)| a.distance(*b) < 1e-3));
}

#[test]
fn keys_of_grips_play() {
    let folder = tempfile::tempdir().unwrap();
    let model = capsule(true);
    let mut session = six(&model);
    let grip = session.document().grips()[5].clone();
    let key = |property, value: &[f32]| {
        let target = Target::Grip { grip: grip.id, property };
        KeyValue { target, value: value.to_vec() }
    };
    let turned = Quat::from_rotation_x(1.0).to_array();
    for (time, height, turn) in [(0.0, 0.0, [0.0, 0.0, 0.0, 1.0]), (1.0, 0.4, turned)] {
        let keys = vec![key(Property::Translation, &[0.0, height, 0.0]), key(Property::Rotation, &turn)];
        session.apply(Edit::Keys(KeyEdit::Insert { time, keys })).unwrap();
    }
    let wrong = KeyEdit::Insert { time: 0.0, keys: vec![key(Property::Scale, &[1.0; 3])] };
    assert!(session.apply(Edit::Keys(wrong)).is_err());
    let document = session.document();
    assert!(document.moves());
    let state = document.state(model.skeleton(), Some(0.5));
    let now = state.pose.grips.iter().find(|g| g.id == grip.id).unwrap();
    assert!(now.translation().distance(Vec3::Y * 0.2) < 1e-6, "{now:?}");
    assert!(now.rotation().angle_between(Quat::from_rotation_x(0.5)) < 1e-3, "{now:?}");
    let v = grip.vertices.iter().next().unwrap() as usize;
    let rest = model.bound.character.control.positions[v];
    let mut evaluator = evaluator(&model, document);
    let half = evaluator.evaluate(&model, &state.pose).unwrap().control;
    assert!(half[v].distance(rest + Vec3::Y * 0.2) < 1e-3, "{}", half[v]);
    // Saved frames are those that the editor shows.
    let saved = folder.path().join("moves.project.glb");
    let receipt = save(&saved, &model, document, &mut evaluator).unwrap();
    assert!(receipt.keys.len() >= 2 && receipt.largest_mm() < 0.1, "{receipt}");
    let again = Model::load(&saved, &BindOptions::default()).unwrap();
    assert_eq!(again.document.as_ref().unwrap().hash(), document.hash());
    // Poses in the library and whole keys hold no grips.
    let pose = Box::new(state.pose.clone());
    session.apply(Edit::KeepPose { name: "half".into(), pose: Some(pose), at: None }).unwrap();
    let replayed = model.replay(&session.recording(), Path::new("a.journal")).unwrap();
    assert_eq!(
        (replayed.document(), replayed.document().hash()),
        (session.document(), session.document().hash())
    );
}

#[test]
fn documents_without_grips_are_as_before_and_wrong_grips_are_refused() {
    let model = capsule(true);
    let mut session = model.start(None).unwrap();
    let (plain, hash) = (serde_json::to_value(session.document()).unwrap(), session.document().hash());
    assert!(plain.get("grips").is_none());
    let read = Document::from_json(plain, model.skeleton()).unwrap();
    assert_eq!((read.grips().len(), read.hash()), (0, hash.clone()));
    let good = Grip::new(GripId(0), [3]);
    let add = |grip: Grip| Edit::AddGrip { index: None, grip: Box::new(grip) };
    for wrong in [
        Grip::new(GripId(0), []),
        Grip::new(GripId(u32::MAX), [3]),
        Grip { translation: [f32::NAN, 0.0, 0.0], ..good.clone() },
        Grip { rotation: [0.0; 4], ..good.clone() },
    ] {
        assert!(session.apply(add(wrong)).is_err());
        assert_eq!(session.document().hash(), hash);
    }
    session.apply(add(good.clone())).unwrap();
    assert!(session.apply(add(good.clone())).is_err(), "the id is taken");
    let far = [f32::INFINITY, 0.0, 0.0];
    let edit = Edit::MoveGrip { id: GripId(0), translation: far, rotation: good.rotation };
    assert!(session.apply(edit).is_err());
    assert!(session.apply(Edit::RemoveGrip(GripId(7))).is_err());
    // Two grips on one vertex, beside a third: the document is shown and saved, and opens again.
    let far = Vec3::new(0.0, 0.1, 0.05);
    session.apply(add(Grip { translation: far.to_array(), ..Grip::new(GripId(2), [200]) })).unwrap();
    session.apply(add(Grip { id: GripId(1), ..good.clone() })).unwrap();
    session.apply(Edit::SetDeformer(DeformerSettings::of("fast"))).unwrap();
    let document = session.document().clone();
    let mut evaluator = Evaluator::new(&Where::Cpu, &model, &document.recipe().unwrap()).unwrap();
    let shape = evaluator.evaluate(&model, &session.posed()).unwrap();
    assert!(shape.control.iter().all(|x| x.is_finite()));
    let goal = model.bound.character.control.positions[200] + far;
    assert!(shape.control[200].distance(goal) < 1e-2, "the third grip moves its point");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("near.glb");
    save(&file, &model, &document, &mut evaluator).unwrap();
    let back = Model::load(&file, &BindOptions::default()).unwrap();
    assert_eq!(back.start(None).unwrap().document().hash(), document.hash());
    session.apply(Edit::RemoveGrip(GripId(1))).unwrap();
    // A vertex that the mesh lacks is found when the recording is replayed on the character.
    session.apply(add(Grip::new(GripId(1), [9_999_999]))).unwrap();
    let error = model.replay(&session.recording(), Path::new("a.journal")).err().unwrap().to_string();
    assert!(error.contains("a vertex that the mesh does not have"), "{error}");
}
