//! Tests of channels and their edits.

use super::testing::{asset, session, work};
use super::{
    Channel, ClipLayer, Context, Document, DopeSheet, Edit, Key, KeyAt, KeyEdit, KeyValue, Operation,
    Session, Slot, Subject, Target, dope_sheet,
};
use crate::asset::{Clip, Interpolation, Property};
use crate::base::NodeId;
use crate::base::Random;
use crate::base::math::{Quat, Vec3};
use serde_json::{Value, json};

fn opened() -> Session<'static> {
    let mut s = session();
    s.apply(Edit::Open { asset: asset() }).unwrap();
    s
}

fn keys(s: &mut Session, edit: KeyEdit) -> crate::base::Result<()> {
    s.apply(Edit::Keys(edit))
}

fn shift(node: u32) -> Target {
    Target::node(NodeId(node), Property::Translation)
}

fn insert(s: &mut Session, target: &Target, time: f64, value: &[f32]) {
    let key = KeyValue { target: target.clone(), value: value.to_vec() };
    keys(s, KeyEdit::Insert { time, keys: vec![key] }).unwrap();
}

fn channel<'a>(s: &'a Session, target: &Target) -> &'a Channel {
    s.document().motion().channel(target).unwrap()
}

/// Checks hashes of documents with whole-pose keys against hashes from the version before channels.
#[test]
fn documents_of_whole_poses_keep_their_hashes() {
    for (seed, count, hash) in [
        (3, 150, "076dd304a48054a52de8611ba65be74a5ac3826991bc87bb40197616ece3cca6"),
        (12, 40, "b4f3244222948028c9ad2e9fba956ebe7b8760226f11355f0ab360e50f30da81"),
    ] {
        let mut s = session();
        work(&mut s, &mut Random::new(seed), count);
        assert!(s.document().motion().key_times().len() > 1);
        let mut other = s.document().clone();
        // Version 1 accepted a parameter that no method has.
        if let Some(value) = other.deformer.parameters.remove("surface") {
            other.deformer.parameters.insert("k_s".into(), value);
        }
        assert_eq!(other.hash(), hash);
        other.motion.channels[5].interpolation = Interpolation::Step;
        assert_ne!(other.hash(), hash);
    }
}

#[test]
fn a_document_of_version_1_opens_as_channels() {
    let mut s = opened();
    let still = serde_json::to_value(s.document()).unwrap();
    assert!(still.get("motion").is_none());
    let mut poses = Vec::new();
    for (i, time) in [0.1, 0.7, 2.0].into_iter().enumerate() {
        let mut pose = s.posed();
        pose.local[5].rotation = Quat::from_rotation_z(0.3 * i as f32).to_array();
        pose.local[0].translation[1] += i as f32;
        s.apply(Edit::SetKey(Key { time, pose: pose.clone() })).unwrap();
        poses.push(json!({ "time": time, "pose": pose }));
    }
    let mut old = still.clone();
    old["keys"] = poses.into();
    let document = Document::from_json(old.clone(), s.skeleton()).unwrap();
    assert_eq!((&document, document.hash()), (s.document(), s.document().hash()));
    // A whole document can also be read from the JSON text of a journal entry.
    let text = format!("{{\"replace\":{old}}}");
    let Edit::Replace(read) = serde_json::from_str(&text).unwrap() else { panic!("another edit") };
    assert_eq!(*read, document);
    let mut ragged = old.clone();
    ragged["keys"][1]["pose"]["local"].as_array_mut().unwrap().pop();
    let error = Document::from_json(ragged, s.skeleton()).unwrap_err().to_string();
    assert!(error.contains("3 times and"), "{error}");
    let mut late = old;
    late["keys"][1]["time"] = json!(9.0);
    assert!(Document::from_json(late, s.skeleton()).unwrap_err().to_string().contains("do not rise"));
    let again: Document = serde_json::from_value(serde_json::to_value(s.document()).unwrap()).unwrap();
    assert_eq!(again, *s.document());
    let key = s.document().state(s.skeleton(), Some(0.7)).pose;
    assert_eq!(key.local[5].rotation, Quat::from_rotation_z(0.3).to_array());
}

#[test]
fn a_clip_comes_back_from_channels_to_the_bit() {
    let mut random = Random::new(5);
    for interpolation in [Interpolation::Step, Interpolation::Linear, Interpolation::CubicSpline] {
        let blocks = if interpolation == Interpolation::CubicSpline { 3 } else { 1 };
        let times: Vec<f32> = (0..40).map(|i| i as f32 * 0.1 + 0.05 * random.unit()).collect();
        let values: Vec<f32> = (0..times.len() * 4 * blocks).map(|_| random.unit() - 0.5).collect();
        let clip = crate::asset::Channel {
            node: NodeId(3),
            property: Property::Rotation,
            interpolation,
            times,
            values,
        };
        let channel = Channel::from_clip(&clip);
        let text = serde_json::to_string(&channel).unwrap();
        let back: Channel = serde_json::from_str(&text).unwrap();
        let again = back.to_clip().unwrap();
        let bits = |v: &[f32]| v.iter().map(|f| f.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&again.times), bits(&clip.times));
        assert_eq!(bits(&again.values), bits(&clip.values));
        assert_eq!(again.interpolation, interpolation);
    }
}

#[test]
fn keys_are_set_moved_stretched_and_removed_and_all_of_it_undone() {
    let mut s = opened();
    let (a, b) = (shift(2), shift(4));
    for (time, x) in [(0.0, 0.0), (1.0, 2.0), (2.0, 4.0), (3.0, 4.0)] {
        insert(&mut s, &a, time, &[x, 0.0, 0.0]);
        insert(&mut s, &b, time, &[0.0, x, 0.0]);
    }
    let before = s.document().clone();
    let at = |target: &Target, time| KeyAt { target: target.clone(), time };
    let steps = s.history().0;
    keys(&mut s, KeyEdit::Move { keys: vec![at(&a, 1.0), at(&b, 1.0)], seconds: 0.5 }).unwrap();
    assert_eq!(channel(&s, &a).times, [0.0, 1.5, 2.0, 3.0]);
    // A moved key replaces the key at its new time.
    keys(&mut s, KeyEdit::Move { keys: vec![at(&a, 1.5)], seconds: 0.5 }).unwrap();
    assert_eq!(
        (channel(&s, &a).times.as_slice(), channel(&s, &a).value(1)),
        (&[0.0, 2.0, 3.0][..], &[2.0, 0.0, 0.0][..])
    );
    let all = DopeSheet::keys_in(s.document(), &s.document().motion().key_times());
    assert_eq!(all.len(), 7);
    keys(&mut s, KeyEdit::Scale { keys: all.clone(), pivot: 3.0, factor: 0.5 }).unwrap();
    assert_eq!(channel(&s, &b).times, [1.5, 2.25, 2.5, 3.0]);
    let late = DopeSheet::keys_in(s.document(), &[2.5, 3.0]);
    keys(&mut s, KeyEdit::Remove(late)).unwrap();
    assert_eq!((channel(&s, &a).times.len(), channel(&s, &b).times.len()), (1, 2));
    let rest = DopeSheet::keys_in(s.document(), &s.document().motion().key_times());
    keys(&mut s, KeyEdit::Remove(rest)).unwrap();
    assert!(s.document().motion().channels().is_empty() && !s.document().moves());
    for (edit, says) in [
        (KeyEdit::Move { keys: vec![at(&a, 1.0)], seconds: 1.0 }, "no key at 1 s"),
        (KeyEdit::Scale { keys: all.clone(), pivot: 0.0, factor: 0.0 }, "stretched by 0"),
        (KeyEdit::Rate(23), "23 frames"),
        (KeyEdit::Import { clip: 0 }, "no clip 0"),
        (
            KeyEdit::Interpolation { targets: vec![a.clone()], interpolation: Interpolation::Step },
            "neck translation has no keys",
        ),
        (KeyEdit::Insert { time: f64::NAN, keys: vec![] }, "NaN"),
        (
            KeyEdit::Insert {
                time: 0.0,
                keys: vec![KeyValue { target: a.clone(), value: vec![f32::NAN; 3] }],
            },
            "finite floats",
        ),
        (
            KeyEdit::Insert {
                time: 0.0,
                keys: vec![KeyValue { target: Target::node(NodeId(0), Property::Weights), value: vec![] }],
            },
            "no morph targets",
        ),
        (
            KeyEdit::Channels(vec![Slot { target: b.clone(), channel: before.motion.channel(&a).cloned() }]),
            "another",
        ),
    ] {
        let hash = s.document().hash();
        let error = keys(&mut s, edit).unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
        assert_eq!(s.document().hash(), hash);
    }
    s.run(Operation::Jump(steps)).unwrap();
    assert_eq!(*s.document(), before);
    let negative = KeyEdit::Move { keys: vec![at(&a, 1.0)], seconds: -1.5 };
    assert!(keys(&mut s, negative).unwrap_err().to_string().contains("-0.5 s"));
}

#[test]
fn a_spline_keeps_its_curve_when_a_key_is_put_on_it_and_runs_backwards() {
    let mut s = opened();
    let a = shift(2);
    for (time, x) in [(0.0, 0.0), (1.0, 2.0), (2.5, -1.0), (4.0, 3.0)] {
        insert(&mut s, &a, time, &[x, x * x, 1.0]);
    }
    let spline = Interpolation::CubicSpline;
    keys(&mut s, KeyEdit::Interpolation { targets: vec![a.clone()], interpolation: spline }).unwrap();
    let old = channel(&s, &a).clone();
    // The Catmull-Rom slope at the second key is (-1 - 0) / 2.5.
    assert!((old.values[3 * 3] - -0.4).abs() < 1e-6, "{:?}", old.values);
    insert(&mut s, &a, 1.75, &old.at(1.75));
    let split = channel(&s, &a).clone();
    for i in 0..=40 {
        let t = f64::from(i) * 0.1;
        let apart = split.at(t).iter().zip(old.at(t)).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(apart < 2e-5, "{apart} at {t}");
    }
    let all = DopeSheet::keys_in(s.document(), &s.document().motion().key_times());
    keys(&mut s, KeyEdit::Scale { keys: all, pivot: 2.0, factor: -1.0 }).unwrap();
    let back = channel(&s, &a);
    for i in 0..=40 {
        let t = f64::from(i) * 0.1;
        let apart = back.at(4.0 - t).iter().zip(old.at(t)).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(apart < 2e-5, "{apart} at {t}");
    }
    let key = KeyAt { target: a.clone(), time: 4.0 };
    keys(&mut s, KeyEdit::Tangents { key: key.clone(), arriving: vec![9.0; 3], leaving: vec![7.0; 3] })
        .unwrap();
    assert_eq!(channel(&s, &a).values[4 * 9..4 * 9 + 3], [9.0; 3]);
    keys(&mut s, KeyEdit::Interpolation { targets: vec![a.clone()], interpolation: Interpolation::Step })
        .unwrap();
    assert_eq!(channel(&s, &a).values.len(), 15);
    assert!(keys(&mut s, KeyEdit::Tangents { key, arriving: vec![], leaving: vec![] }).is_err());
}

#[test]
fn rotations_turned_to_splines_go_the_short_way() {
    let mut s = opened();
    let turn = Target::node(NodeId(5), Property::Rotation);
    let (a, b) = (Quat::from_rotation_z(0.2), -Quat::from_rotation_z(0.8));
    insert(&mut s, &turn, 0.0, &a.to_array());
    insert(&mut s, &turn, 1.0, &b.to_array());
    keys(
        &mut s,
        KeyEdit::Interpolation { targets: vec![turn.clone()], interpolation: Interpolation::CubicSpline },
    )
    .unwrap();
    let middle = Quat::from_slice(&channel(&s, &turn).at(0.5));
    assert!((middle * Vec3::X - Quat::from_rotation_z(0.5) * Vec3::X).length() < 1e-3);
}

#[test]
fn a_state_has_strokes_below_keys_and_settings_of_the_method_in_use() {
    let mut s = opened();
    let setting = |method: &str| Target::Setting { method: method.into(), name: "torsion".into() };
    s.apply(Edit::SetDeformer(super::DeformerSettings {
        method: "springs".into(),
        parameters: [("torsion".to_owned(), json!(0.5))].into(),
    }))
    .unwrap();
    insert(&mut s, &setting("springs"), 0.0, &[1.0]);
    insert(&mut s, &setting("springs"), 2.0, &[3.0]);
    insert(&mut s, &setting("fast+springs"), 0.0, &[1.0]);
    insert(&mut s, &shift(1), 1.0, &[0.0, 9.0, 0.0]);
    let state = s.document().state(s.skeleton(), Some(0.5));
    assert_eq!(state.deformer.parameters["torsion"], Value::from(1.5));
    assert_eq!(state.deformer.parameters.len(), 1);
    assert_eq!(state.pose.local[1].translation, [0.0, 9.0, 0.0]);
    let mut expected = s.posed();
    expected.local[1].translation = [0.0, 9.0, 0.0];
    assert_eq!(state.pose, expected);
    // Keys of missing or disabled sculpt layers are allowed and have no effect.
    let shape = crate::base::SculptId(0);
    insert(&mut s, &Target::SculptStiffness(shape), 0.5, &[2.0]);
    insert(&mut s, &Target::SculptAmplitude(shape), 1.0, &[2.0]);
    assert!(s.document().state(s.skeleton(), Some(0.5)).sculpts.is_empty());
    let edited = s.document().state(s.skeleton(), None);
    assert_eq!((edited.pose, edited.deformer), (s.posed(), s.document().deformer().clone()));
    let sheet = dope_sheet(s.document(), s.skeleton());
    let rows: Vec<_> = sheet.rows.iter().map(|r| (r.label.as_str(), r.times.len())).collect();
    assert_eq!(
        rows,
        [("chest", 1), ("shape 1 amplitude", 2), ("fast+springs torsion", 1), ("springs torsion", 2)]
    );
    assert_eq!(sheet.rows[0].subject, Subject::Node(NodeId(1)));
    assert_eq!((sheet.columns.as_slice(), sheet.duration, sheet.rate), (&[0.0, 0.5, 1.0, 2.0][..], 2.0, 24));
    assert_eq!((sheet.column_near(1.1, 0.2), sheet.column_near(1.5, 0.2)), (Some(1.0), None));
}

#[test]
fn clips_play_retimed_below_the_strokes() {
    let (mut skeleton, _) = crate::rig::tree();
    let ramp = crate::asset::Channel {
        node: NodeId(2),
        property: Property::Translation,
        interpolation: Interpolation::Linear,
        times: vec![0.0, 4.0],
        values: vec![0.0, 0.0, 0.0, 4.0, 0.0, 0.0],
    };
    skeleton.clips = vec![Clip { name: "ramp".into(), channels: vec![ramp] }].into();
    let mut document = Document::default();
    let context = Context { skeleton: &skeleton, triangles: None };
    let apply = |edit: Edit, d: &mut Document| edit.apply(d, &context);
    apply(Edit::Open { asset: asset() }, &mut document).unwrap();
    let whole = ClipLayer::new(0, &skeleton);
    assert_eq!(whole.range, [0.0, 4.0]);
    let cases: [(ClipLayer, &[(f64, f32)]); 6] = [
        (whole.clone(), &[(0.0, 0.0), (3.0, 3.0), (9.0, 4.0)]),
        (ClipLayer { speed: 2.0, offset: 1.0, ..whole.clone() }, &[(0.0, 0.0), (2.0, 2.0), (5.0, 4.0)]),
        (ClipLayer { speed: -1.0, ..whole.clone() }, &[(0.0, 4.0), (1.0, 3.0), (6.0, 0.0)]),
        (
            ClipLayer { looped: true, range: [1.0, 3.0], ..whole.clone() },
            &[(0.0, 1.0), (1.5, 2.5), (2.5, 1.5), (7.0, 2.0)],
        ),
        (
            ClipLayer { weight: 0.5, ..whole.clone() },
            &[(2.0, 1.0 + 0.5 * skeleton.nodes[2].rest.translation[0])],
        ),
        (
            ClipLayer { time_map: vec![[0.0, 0.0], [1.0, 3.0], [2.0, 4.0]], ..whole.clone() },
            &[(0.5, 1.5), (1.5, 3.5), (3.0, 4.0)],
        ),
    ];
    for (layer, expected) in cases {
        let still = document.clone();
        let undo = apply(Edit::Keys(KeyEdit::Clips(vec![layer.clone()])), &mut document).unwrap();
        for (time, x) in expected {
            let pose = document.state(&skeleton, Some(*time)).pose;
            assert!((pose.local[2].translation[0] - x).abs() < 1e-5, "{layer:?} at {time}: {pose:?}");
        }
        let text = serde_json::to_value(&document).unwrap();
        assert_eq!(Document::from_json(text, &skeleton).unwrap(), document);
        assert_ne!(document.hash(), still.hash());
        apply(undo, &mut document).unwrap();
        assert_eq!(document, still);
    }
    let slow = ClipLayer { speed: 0.5, offset: 1.0, ..whole.clone() };
    apply(Edit::Keys(KeyEdit::Clips(vec![slow])), &mut document).unwrap();
    assert_eq!(document.motion().duration(), 9.0);
    for wrong in [
        ClipLayer { clip: 1, ..whole.clone() },
        ClipLayer { speed: 0.0, ..whole.clone() },
        ClipLayer { range: [2.0, 1.0], ..whole.clone() },
        ClipLayer { time_map: vec![[0.0, 0.0], [1.0, 0.0]], ..whole.clone() },
        ClipLayer { weight: f32::NAN, ..whole.clone() },
    ] {
        assert!(apply(Edit::Keys(KeyEdit::Clips(vec![wrong])), &mut document).is_err());
    }
    // Import the clip as channels that can be keyed.
    apply(Edit::Keys(KeyEdit::Clips(vec![])), &mut document).unwrap();
    let undo = apply(Edit::Keys(KeyEdit::Import { clip: 0 }), &mut document).unwrap();
    assert_eq!(
        document.motion().channels()[0].to_clip().unwrap().values,
        skeleton.clips[0].channels[0].values
    );
    apply(undo, &mut document).unwrap();
    assert!(document.motion().channels().is_empty());
}
