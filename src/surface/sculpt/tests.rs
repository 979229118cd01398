//! Tests of sculpt layers: undo, hash and journal in a session, and their effect on a capsule.

use super::*;
use crate::base::BoneId;
use crate::bind::shapes::capsule;
use crate::bind::{BindOptions, bind_attachments};
use crate::deform::sculpt::{Around, Curve, Field, Wave, decode};
use crate::document::{Document, Edit, Operation, asset, session};
use crate::rig::Pose;
use crate::surface::{Reach, ring_mark};

fn shape(id: u32, form: Form) -> Sculpt {
    let region = Region {
        name: "Biceps".into(),
        reach: Reach::Along(0.125),
        softness: 0.75,
        kinematic: vec![3, 8],
        passive: vec![1, 9],
        fixed: vec![0, 2],
        falloff: vec![0.1, 0.7],
        t: vec![0.0, 1.0, 0.3, 0.6],
        round: None,
    };
    Sculpt::new(SculptId(id), Some(MarkId(2)), region, form)
}

fn wave() -> Form {
    let curve = Curve::Wave(Wave { count: 2.0, speed: -0.5, phase: 0.1 });
    Form::Profile(Profile { curve, amount: 0.3, ..Profile::default() })
}

#[test]
fn shapes_are_undone_hashed_and_read_back() {
    let mut s = session();
    s.apply(Edit::Open { asset: asset() }).unwrap();
    let plain = s.document().clone();
    assert!(!serde_json::to_string(&plain).unwrap().contains("sculpts"), "older programs read it");
    let mut hashes = vec![plain.hash()];
    let drawn = Form::Drawn(vec![[0.1, -0.2, 1e-7], [0.0, 0.3, 0.7]]);
    let first = shape(0, drawn);
    let around = |facing, tilt| {
        let around = Some(Around { curve: Curve::Parabola, facing });
        Form::Profile(Profile { amount: 0.3, around, tilt, ..Profile::default() })
    };
    let profile =
        |curve| Form::Profile(Profile { curve, amount: 0.3, along: Along::Bone, ..Profile::default() });
    for edit in [
        Edit::AddSculpt { index: None, sculpt: Box::new(first.clone()) },
        Edit::AddSculpt { index: Some(0), sculpt: Box::new(shape(1, wave())) },
        Edit::SetSculpt(Box::new(Sculpt { amplitude: 0.5, ..first.clone() })),
        Edit::SetSculpt(Box::new(Sculpt { stiffness: 0.5, ..first.clone() })),
        Edit::SetSculpt(Box::new(Sculpt { enabled: false, ..first.clone() })),
        Edit::SetSculpt(Box::new(Sculpt { mark: None, form: profile(Curve::Even), ..first.clone() })),
        Edit::SetSculpt(Box::new(Sculpt { mark: None, form: profile(Curve::Parabola), ..first.clone() })),
        Edit::SetSculpt(Box::new(Sculpt { form: around(0.0, 0.0), ..first.clone() })),
        Edit::SetSculpt(Box::new(Sculpt { form: around(0.5, 0.0), ..first.clone() })),
        Edit::SetSculpt(Box::new(Sculpt { form: around(0.5, 0.25), ..first.clone() })),
        Edit::RemoveSculpt(SculptId(0)),
    ] {
        let line = serde_json::to_string(&Operation::Do(edit.clone())).unwrap();
        s.run(serde_json::from_str(&line).unwrap()).unwrap();
        assert!(!hashes.contains(&s.document().hash()), "{line}");
        hashes.push(s.document().hash());
        let back: Document = serde_json::from_str(&serde_json::to_string(s.document()).unwrap()).unwrap();
        assert_eq!((&back, back.hash()), (s.document(), s.document().hash()));
    }
    for hash in hashes.iter().rev().skip(1) {
        s.run(Operation::Undo).unwrap();
        assert_eq!(s.document().hash(), *hash);
    }
    assert_eq!(*s.document(), plain);
    // A drag is one undo step and keeps its last state.
    s.apply(Edit::AddSculpt { index: None, sculpt: Box::new(first.clone()) }).unwrap();
    let before = s.document().hash();
    s.apply(Edit::SetSculpt(Box::new(Sculpt { amplitude: 0.1, ..first.clone() }))).unwrap();
    for k in 0..9 {
        let sculpt = Sculpt { amplitude: k as f32, ..first.clone() };
        s.run(Operation::Continue(Edit::SetSculpt(Box::new(sculpt)))).unwrap();
    }
    assert_eq!(s.recording().len(), 3);
    assert_eq!(s.document().sculpt(SculptId(0)).unwrap().amplitude, 8.0);
    s.run(Operation::Undo).unwrap();
    assert_eq!(s.document().hash(), before);
}

#[test]
fn shapes_that_do_not_fit_are_refused_with_a_reason() {
    let mut s = session();
    s.apply(Edit::Open { asset: asset() }).unwrap();
    let hash = s.document().hash();
    let with = |change: &dyn Fn(&mut Sculpt)| {
        let mut sculpt = shape(0, wave());
        change(&mut sculpt);
        Edit::AddSculpt { index: None, sculpt: Box::new(sculpt) }
    };
    for (edit, says) in [
        (with(&|s| s.amplitude = f32::INFINITY), "amplitude"),
        (with(&|s| s.stiffness = -1.0), "stiffness"),
        (with(&|s| s.form = Form::Drawn(vec![[0.0; 3]])), "offsets"),
        (with(&|s| s.form = Form::Drawn(vec![[f32::NAN; 3]; 2])), "offsets"),
        (with(&|s| s.region.kinematic.clear()), "no kinematic"),
        (with(&|s| s.id = SculptId(u32::MAX)), "cannot be added"),
        (with(&|s| s.name = "x".repeat(5000)), "name"),
        (Edit::RemoveSculpt(SculptId(7)), "no shape 7"),
        (Edit::SetSculpt(Box::new(shape(7, wave()))), "no shape 7"),
    ] {
        let error = s.apply(edit).unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
        assert_eq!(s.document().hash(), hash);
    }
}

#[test]
fn a_shape_drawn_in_any_pose_is_the_same_shape() {
    let character = capsule(3, 60, 16, 0.2, 3.0);
    let (attachments, _) = bind_attachments(&character, &BindOptions::default()).unwrap();
    let mark = ring_mark(&character, &attachments, MarkId(0), BoneId(1), 0.9).unwrap();
    let region = Region::from_mark(&character, &mark, Reach::default()).unwrap();
    let wanted: Vec<Vec3> =
        (0..region.kinematic.len()).map(|k| Vec3::new(0.1, 0.02 * k as f32, -0.05)).collect();
    let mut poses = vec![Pose::rest(&character.skeleton)];
    for angle in [0.4f32, 1.5, -2.2] {
        let mut pose = poses[0].clone();
        pose.local[2].rotation = Quat::from_scaled_axis(Vec3::new(angle, angle * 0.7, 0.2)).into();
        pose.local[0].rotation = Quat::from_rotation_z(angle).into();
        poses.push(pose);
    }
    for pose in &poses {
        let rig = PosedRig::new(&character.skeleton, pose);
        let turns = turns(&character, &rig, &region);
        // The start positions may be arbitrary.
        let from: Vec<Vec3> = (0..wanted.len()).map(|k| Vec3::new(k as f32, 2.0, 1.0) * 0.1).collect();
        let to: Vec<Vec3> =
            turns.iter().zip(from.iter().zip(&wanted)).map(|(q, (a, d))| decode(*q, *a, *d)).collect();
        let Form::Drawn(offsets) = drawn(&character, &rig, &region, &from, &to) else { panic!() };
        for (offset, wanted) in offsets.iter().zip(&wanted) {
            assert!(Vec3::from(*offset).distance(*wanted) < 2e-6);
        }
    }
    let form = Form::Drawn(wanted.iter().map(|w| w.to_array()).collect());
    let bound = Sculpt::new(SculptId(0), None, region.clone(), form).bind(&character, &attachments).unwrap();
    let mut field = Field::new(std::slice::from_ref(&bound));
    field.set(&[SculptState { id: SculptId(0), amplitude: 1.0, stiffness: 1.0, seconds: 0.0 }]);
    for (v, offset) in field.iter() {
        match region.kinematic.binary_search(&v) {
            Ok(k) => assert_eq!(offset.offset, wanted[k]),
            Err(_) => {
                let w = region.falloff[region.passive.binary_search(&v).unwrap()];
                assert!((offset.offset.x - 0.1 * w).abs() < 1e-6 && offset.stiffness == w);
            }
        }
    }
}
