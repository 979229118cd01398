//! Tests of sessions: history, trials, replays and refused edits.

use super::*;
use crate::base::Random;
use crate::base::{NodeId, StrokeId};
use crate::document::testing::{asset, operation, session, work};
use crate::document::{DeformerSettings, Key, KeyEdit, KeyValue, StrokeLine, Target};
use crate::pose::StrokeLayer;
use crate::rig::tree;

#[test]
fn every_edit_has_an_inverse_that_restores_the_document_exactly() {
    let mut kinds = std::collections::BTreeSet::new();
    for seed in 1..6 {
        let mut s = session();
        let mut random = Random::new(seed * 1001);
        work(&mut s, &mut random, 30);
        let (mut document, skeleton) = (s.document().clone(), s.skeleton().clone());
        let context = Context { skeleton: &skeleton, triangles: None };
        for _ in 0..200 {
            let (Operation::Do(edit) | Operation::Continue(edit)) = operation(&s, &mut random) else {
                continue;
            };
            let (before, hash) = (document.clone(), document.hash());
            let Ok(inverse) = edit.apply(&mut document, &context) else {
                assert_eq!(document, before, "a refused edit changed the document: {edit:?}");
                continue;
            };
            let after = document.clone();
            kinds.insert(serde_json::to_string(&edit).unwrap().split('"').nth(1).unwrap().to_owned());
            let again = inverse.apply(&mut document, &context).unwrap();
            assert_eq!((&document, document.hash()), (&before, hash), "{edit:?}");
            again.apply(&mut document, &context).unwrap();
            assert_eq!(document, after, "{edit:?}");
            document = before;
        }
    }
    assert!(kinds.len() >= 12, "{kinds:?}");
}

/// A file can be gone when a jump needs it again.
#[test]
fn a_jump_that_fails_on_its_way_leaves_the_document_and_the_history() {
    use std::sync::atomic::{AtomicBool, Ordering};
    let gone = Arc::new(AtomicBool::new(false));
    let (skeleton, is_gone) = (Arc::new(tree().0), gone.clone());
    let mut s = Session::new(Box::new(move |_| match is_gone.load(Ordering::Relaxed) {
        false => Ok(skeleton.clone()),
        true => Err(Error::input("the file is gone", "bring it back")),
    }));
    let other = AssetRef { path: "other.glb".into(), hash: "11ee".repeat(16) };
    s.apply(Edit::Open { asset: asset() }).unwrap();
    s.apply(Edit::SetDeformer(DeformerSettings { method: "dqs".into(), ..Default::default() })).unwrap();
    s.apply(Edit::Open { asset: other }).unwrap();
    s.apply(Edit::SetDeformer(DeformerSettings { method: "lbs".into(), ..Default::default() })).unwrap();
    s.know_triangles(7);
    let before = (s.document().hash(), s.history(), s.recording());
    gone.store(true, Ordering::Relaxed);
    for step in [1, 2] {
        assert!(s.run(Operation::Jump(step)).is_err());
        assert_eq!((s.document().hash(), s.history(), s.recording()), before);
        assert_eq!(s.triangles, Some(7), "marks are checked as before");
    }
    gone.store(false, Ordering::Relaxed);
    s.run(Operation::Jump(1)).unwrap();
    s.run(Operation::Jump(4)).unwrap();
    assert_eq!(s.document().hash(), before.0);
}

#[test]
fn undo_redo_and_jumps_visit_the_same_documents() {
    let mut s = session();
    let mut random = Random::new(99);
    let mut hashes = vec![s.document().hash()];
    while hashes.len() < 60 {
        let operation = operation(&s, &mut random);
        if matches!(operation, Operation::Do(_)) && s.run(operation).is_ok() {
            hashes.push(s.document().hash());
        }
    }
    for i in (0..59).rev() {
        s.run(Operation::Undo).unwrap();
        assert_eq!(s.document().hash(), hashes[i], "step {i}");
    }
    assert!(s.run(Operation::Undo).unwrap_err().to_string().contains("nothing to undo"));
    for hash in &hashes[1..] {
        s.run(Operation::Redo).unwrap();
        assert_eq!(&s.document().hash(), hash);
    }
    for step in [7, 41, 0, 59, 30] {
        s.run(Operation::Jump(step)).unwrap();
        assert_eq!(s.document().hash(), hashes[step]);
    }
    assert!(s.run(Operation::Jump(60)).is_err());
}

#[test]
fn replay_and_json_give_the_same_document() {
    let mut s = session();
    let operations = work(&mut s, &mut Random::new(3), 150);
    let text = serde_json::to_string(&operations).unwrap();
    let back: Vec<Operation> = serde_json::from_str(&text).unwrap();
    assert_eq!(operations, back);
    let skeleton = Arc::new(tree().0);
    let replayed = Session::replay(&back, Box::new(move |_| Ok(skeleton.clone()))).unwrap();
    assert_eq!(replayed.document(), s.document());
    assert_eq!(replayed.document().hash(), s.document().hash());
    assert_eq!(replayed.history(), s.history());
    let posed = replayed.posed();
    assert!(posed.local.iter().all(|t| t.translation.iter().chain(&t.rotation).all(|v| v.is_finite())));
}

/// A trial leaves no trace when it is taken back. An edit after it records both as one step, in the journal, too.
#[test]
fn a_trial_is_taken_back_or_joins_the_next_edit() {
    let mut s = session();
    s.apply(Edit::Open { asset: asset() }).unwrap();
    s.apply(Edit::Rename("a".into())).unwrap();
    s.apply(Edit::Rename("b".into())).unwrap();
    s.run(Operation::Undo).unwrap();
    let state = |s: &Session| (s.document().hash(), s.history(), s.recording());
    let revision = s.revision();
    let (before, pins) = (state(&s), |n: u32| Edit::SetPins(vec![NodeId(n)]));
    s.try_out(pins(1)).unwrap();
    s.try_out(pins(2)).unwrap();
    assert_eq!((s.document().pins(), s.history()), (&[NodeId(2)][..], (2, 3)));
    s.run(Operation::Drawing(vec![Sample::default()])).unwrap();
    assert_eq!(s.take_back(), Some(pins(2)));
    assert_eq!((state(&s), s.revision(), s.take_back()), (before.clone(), revision, None));
    // An edit that is refused leaves the trial, and a refused trial leaves the document.
    s.try_out(pins(1)).unwrap();
    assert!(s.apply(Edit::RemoveKey(1.0)).is_err());
    assert_eq!((s.document().pins(), s.history()), (&[NodeId(1)][..], (2, 3)));
    assert!(s.try_out(pins(99)).is_err());
    assert_eq!(state(&s), before);
    s.try_out(pins(1)).unwrap();
    s.run(Operation::Redo).unwrap();
    assert_eq!((s.document().pins(), s.document().name.as_str()), (&[][..], "b"));
    s.run(Operation::Undo).unwrap();
    for continues in [false, true] {
        s.try_out(pins(1)).unwrap();
        let edit = Edit::Rename("c".into());
        s.run(if continues { Operation::Continue(edit) } else { Operation::Do(edit) }).unwrap();
        assert_eq!((s.document().pins(), s.history()), (&[NodeId(1)][..], (3, 3)));
        let skeleton = Arc::new(tree().0);
        let again = Session::replay(&s.recording(), Box::new(move |_| Ok(skeleton.clone()))).unwrap();
        assert_eq!(state(&again), state(&s));
        s.run(Operation::Undo).unwrap();
        assert_eq!(s.document().hash(), before.0);
    }
}

#[test]
fn a_draft_lies_on_the_trial_and_leaves_no_trace_until_it_is_recorded() {
    let mut s = session();
    for edit in [Edit::Open { asset: asset() }, Edit::Rename("a".into()), Edit::Rename("b".into())] {
        s.apply(edit).unwrap();
    }
    s.run(Operation::Undo).unwrap();
    let state = |s: &Session| (s.document().hash(), s.history(), s.recording(), s.revision());
    let (before, pins) = (state(&s), |n: u32| Edit::SetPins(vec![NodeId(n)]));
    let rename = |name: &str| Edit::Rename(name.into());
    s.draft(rename("c")).unwrap();
    s.draft(rename("d")).unwrap();
    assert_ne!(s.revision(), before.3);
    // A refused draft leaves the one before.
    assert!(s.draft(pins(99)).is_err());
    assert_eq!((&*s.document().name, s.history()), ("d", before.1));
    assert_eq!(s.drop_draft(), Some(rename("d")));
    assert_eq!((state(&s), s.drop_draft()), (before.clone(), None));
    s.try_out(pins(1)).unwrap();
    let tried = state(&s);
    s.draft(rename("c")).unwrap();
    s.drop_draft();
    assert!(state(&s) == tried && s.document().pins() == [NodeId(1)]);
    s.draft(rename("c")).unwrap();
    assert_eq!((s.take_back(), state(&s)), (Some(pins(1)), before.clone()));
    // Another edit does not record the draft.
    s.draft(rename("c")).unwrap();
    s.apply(pins(1)).unwrap();
    assert_eq!((&*s.document().name, s.history()), ("a", (3, 3)));
}

#[test]
fn its_recording_leads_to_the_same_document_and_history() {
    let mut s = session();
    work(&mut s, &mut Random::new(12), 40);
    s.run(Operation::Jump(s.history().1 / 2)).unwrap();
    let skeleton = Arc::new(tree().0);
    let mut again = Session::replay(&s.recording(), Box::new(move |_| Ok(skeleton.clone()))).unwrap();
    assert_eq!((again.document(), again.history()), (s.document(), s.history()));
    for step in [0, s.history().1, s.history().1 / 3] {
        s.run(Operation::Jump(step)).unwrap();
        again.run(Operation::Jump(step)).unwrap();
        assert_eq!(again.document(), s.document(), "after {step} steps");
    }
}

#[test]
fn a_drag_is_one_step_and_the_pose_follows_it() {
    let mut s = session();
    s.apply(Edit::Open { asset: asset() }).unwrap();
    let at = |s: &Session, n: &str| {
        let id = s.skeleton().find(n).unwrap();
        s.posed().world(s.skeleton())[id.index()].translation
    };
    let knots: Vec<Sample> = ["arm.L", "elbow.L", "hand.L"]
        .map(|n| Sample { position: at(&s, n).into(), ..Sample::default() })
        .to_vec();
    let line = crate::pose::Stroke::from_knots(knots).unwrap();
    let id = s.document().unused_stroke_id();
    let layer = StrokeLayer::new(id, line.clone(), 0.05, (s.skeleton(), &[]), &s.posed()).unwrap();
    assert_eq!(layer.selection.len(), 3);
    s.apply(Edit::AddStroke { index: None, layer: Box::new(layer.with_offset(line)) }).unwrap();
    let rest = at(&s, "hand.L");
    let edit = |y: f32| Edit::MoveKnot { id, line: StrokeLine::Offset, knot: 2, position: [0.7, y, 0.0] };
    s.apply(edit(1.6)).unwrap();
    for i in 0..50 {
        s.run(Operation::Continue(edit(1.6 + 0.01 * i as f32))).unwrap();
    }
    assert_eq!(s.history(), (3, 3));
    assert_eq!(s.steps[2].edits.len(), 1);
    assert!(at(&s, "hand.L").y > rest.y + 0.2);
    s.run(Operation::Undo).unwrap();
    assert!((at(&s, "hand.L") - rest).length() < 1e-6);
    s.run(Operation::Redo).unwrap();
    assert_eq!(s.document().strokes()[0].offset.as_ref().unwrap().knots()[2].position[1], 2.09);
}

#[test]
fn hashes_ignore_the_sign_of_zero_and_the_path_and_see_everything_else() {
    let mut s = session();
    work(&mut s, &mut Random::new(12), 40);
    let base = s.document().clone();
    let mut same = base.clone();
    same.asset.as_mut().unwrap().path = "elsewhere.glb".into();
    same.pose.local[1].translation[0] = 0.0;
    let mut minus = same.clone();
    minus.pose.local[1].translation[0] = -0.0;
    assert_eq!(same.hash(), minus.hash());
    let changes: [fn(&mut Document); 6] = [
        |d| d.name.push('x'),
        |d| d.asset.as_mut().unwrap().hash.push('x'),
        |d| d.pose.local[3].rotation[2] += 1e-6,
        |d| d.motion.rate = 60,
        |d| d.deformer.method.push('x'),
        |d| d.strokes.truncate(d.strokes.len() - 1),
    ];
    for change in changes {
        let mut other = base.clone();
        change(&mut other);
        assert_ne!(other.hash(), base.hash());
    }
}

#[test]
fn a_document_with_an_unknown_method_or_parameter_is_refused_and_one_out_of_range_is_not() {
    let mut s = session();
    s.apply(Edit::Open { asset: asset() }).unwrap();
    let replace = |method: &str, name: &str| {
        let mut json = serde_json::to_value(s.document()).unwrap();
        json["deformer"] = serde_json::json!({ "method": method, "parameters": { name: -1e9 } });
        let document = Document::from_json(json.clone(), s.skeleton());
        let journal =
            serde_json::json!([{ "do": { "open": { "asset": asset() } } }, { "do": { "replace": json } }]);
        let skeleton = s.skeleton().clone();
        let operations: Vec<Operation> = serde_json::from_value(journal).unwrap();
        let replayed = Session::replay(&operations, Box::new(move |_| Ok(skeleton.clone())));
        (document.map(drop), replayed.map(drop))
    };
    for (method, name, says) in
        [("nurbs", "torsion", "choose one of rigid"), ("springs", "k_s", "no parameter k_s")]
    {
        let (document, journal) = replace(method, name);
        for error in [document.unwrap_err(), journal.unwrap_err()] {
            assert!(error.to_string().contains(says), "{error}");
        }
    }
    let (document, journal) = replace("springs", "torsion");
    document.and(journal).unwrap();
}

#[test]
fn edits_that_do_not_fit_are_refused_with_a_reason() {
    let mut s = session();
    assert!(s.apply(Edit::RemoveKey(0.0)).unwrap_err().to_string().contains("no character is open"));
    assert!(s.apply(Edit::Group(Vec::new())).is_err(), "a first step without a character");
    s.apply(Edit::Open { asset: asset() }).unwrap();
    let hash = s.document().hash();
    let deformer = |method: &str, name: &str| {
        let parameters = [(name.to_owned(), serde_json::json!(0.5))].into();
        Edit::SetDeformer(DeformerSettings { method: method.into(), parameters })
    };
    let keyed = |name: &str| {
        let target = Target::Setting { method: "springs".into(), name: name.into() };
        Edit::Keys(KeyEdit::Insert { time: 0.0, keys: vec![KeyValue { target, value: vec![1.0] }] })
    };
    let nan = crate::base::math::Trs { translation: [f32::NAN; 3], ..crate::base::math::Trs::IDENTITY };
    for (edit, says) in [
        (Edit::RemoveKey(0.5), "no key"),
        (Edit::Replace(Box::default()), "no character open"),
        (deformer("nurbs", "factor"), "\"nurbs\" is no deformation method"),
        (deformer("lbs", "factor"), "lbs has no parameter factor"),
        (deformer("springs", "k_s"), "it has surface, "),
        (deformer("springs", "stop"), "springs: stop: "),
        (keyed("k_s"), "springs has no parameter k_s"),
        (keyed("start"), "is no skinning method"),
        (Edit::RemoveStroke(StrokeId(7)), "no stroke 7"),
        (Edit::SetLocal { node: NodeId(99), local: nan }, "no node 99"),
        (Edit::SetLocal { node: NodeId(1), local: nan }, "\"chest\" is not finite"),
        (Edit::SetWeights { node: NodeId(1), weights: vec![1.0] }, "give 0"),
        (Edit::SetPose(Pose::default()), "0 nodes"),
        (Edit::SetKey(Key { time: -1.0, pose: s.posed() }), "-1 s"),
        (Edit::Group(vec![Edit::Rename("x".into()), Edit::RemoveKey(3.0)]), "no key"),
    ] {
        let error = s.apply(edit).unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
        assert_eq!(s.document().hash(), hash);
    }
    assert_eq!(s.history(), (1, 1));
}
