//! Tests of limits in files: projects, journals, and recordings.

use crate::bind::BindOptions;
use crate::document::{Document, Edit, Journal, Operation, Session};
use crate::pose::{Goal, Grab};
use crate::rig::{Limit, Limits, bone_frames, posable};
use crate::scene::{Evaluator, Model, Where, recipe};
use std::sync::Arc;

#[test]
fn limits_are_saved_reopened_and_replayed_and_a_grab_gives_the_same_pose() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tube.glb");
    std::fs::write(&file, crate::generate::tube(700).unwrap()).unwrap();
    let model = Model::load(&file, &BindOptions::default()).unwrap();
    let skeleton = model.skeleton();
    let frames = bone_frames(skeleton);
    let limit =
        |i: usize| Limit { twist: [-0.1, 0.2], swing: [0.3, 0.1, 0.2, 0.0], ..Limit::open(frames[i]) };
    let joints = posable(skeleton);
    let limits: Limits = joints.iter().map(|n| (*n, limit(n.index()))).collect();
    let mut session = model.start(None).unwrap();
    let plain = session.document().hash();
    session.apply(Edit::SetLimits(limits.clone())).unwrap();
    session.apply(Edit::SetLimit { node: joints[0], limit: None }).unwrap();
    session.run(Operation::Undo).unwrap();
    let (document, hash) = (session.document().clone(), session.document().hash());
    assert_ne!(hash, plain);
    let saved = folder.path().join("project.glb");
    let recipe = recipe(document.deformer()).unwrap();
    let mut evaluator = Evaluator::new(&Where::Cpu, &model, &recipe).unwrap();
    crate::project::save(&saved, &model, &document, &mut evaluator).unwrap();
    let again = Model::load(&saved, &BindOptions::default()).unwrap();
    assert_eq!(again.document.as_ref().map(Document::hash), Some(hash.clone()));
    let read = again.document.as_ref().unwrap();
    assert_eq!(read.limits(), &limits);
    // A grab in the reopened project gives the same bits.
    let solve = |limits: &Limits, model: &Model| {
        let (skeleton, pose) = (model.skeleton(), document.posed(model.skeleton()));
        let mut grab = Grab::new(skeleton, &pose, &[]).limited(skeleton, limits);
        let last = joints[joints.len() - 1];
        let at = pose.world(skeleton)[last.index()].translation.as_dvec3();
        grab.hold(last, at);
        let goal = Goal { position: at * 0.7 + glam::DVec3::X * 0.2, turn: glam::DQuat::IDENTITY };
        grab.solve(skeleton, &[goal])
    };
    assert_eq!(solve(read.limits(), &again), solve(&limits, &model));
    assert_ne!(solve(&Limits::new(), &model).0, solve(&limits, &model).0);
    let journal = folder.path().join("tube.journal");
    let mut log = Journal::open(&journal, &model.file()).unwrap().0;
    session.recording().iter().for_each(|operation| log.append(operation).unwrap());
    drop(log);
    let opened = crate::project::open(&journal, &BindOptions::default()).unwrap();
    assert_eq!(opened.session.document().hash(), hash);
    let rig = Arc::new(model.skeleton().clone());
    let replayed = Session::replay(&session.recording(), Box::new(move |_| Ok(rig.clone()))).unwrap();
    assert_eq!(replayed.document().hash(), hash);
}
