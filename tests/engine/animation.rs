//! Animation channels keep their bits through projects and exports.

use crate::common;

use sinew::asset::{Asset, Clip, Interpolation, Property};
use sinew::base::NodeId;
use sinew::base::math::Quat;
use sinew::bind::BindOptions;
use sinew::document::{
    Channel, ClipLayer, DeformerSettings, Edit, KeyCurves, KeyEdit, Session, Slot, Target,
};
use sinew::export::Options;
use sinew::project;
use sinew::scene::{Evaluator, Model, Where, recipe};
use std::time::Duration;

/// Returns deterministic noise in -1..1.
fn noise(i: usize) -> f32 {
    ((i as u32).wrapping_mul(2_654_435_761) >> 8) as f32 / (1 << 23) as f32 - 1.0
}

/// Returns a channel with keys at uneven times.
fn channel(
    node: u32,
    property: Property,
    interpolation: Interpolation,
    width: usize,
    keys: usize,
) -> Channel {
    let blocks = if interpolation == Interpolation::CubicSpline { 3 } else { 1 };
    let mut values = Vec::new();
    for key in 0..keys {
        for block in 0..blocks {
            let seed = 97 * key + 13 * block + node as usize;
            if property == Property::Rotation && (blocks == 1 || block == 1) {
                values.extend(Quat::from_rotation_z(0.5 * noise(seed)).to_array());
            } else {
                let around = if property == Property::Scale { 1.0 } else { 0.0 };
                values.extend((0..width).map(|i| around + 0.1 * noise(seed + 5 * i)));
            }
        }
    }
    let times = (0..keys).map(|k| f64::from(0.31 * k as f32 + 0.1 * noise(k).abs())).collect();
    Channel { target: Target::node(NodeId(node), property), interpolation, times, values }
}

/// Of the nodes' channels (weights are of the morph targets that turn normals): target, interpolation, times and values, the floats by their bits.
type Bits = (NodeId, Property, Interpolation, Vec<u32>, Vec<u32>);

fn bits(clip: &Clip) -> Vec<Bits> {
    let bits = |v: &[f32]| v.iter().map(|f| f.to_bits()).collect();
    let mut out: Vec<_> = clip
        .channels
        .iter()
        .filter(|c| c.property != Property::Weights)
        .map(|c| (c.node, c.property, c.interpolation, bits(&c.times), bits(&c.values)))
        .collect();
    out.sort_by_key(|c| (c.0, c.1));
    out
}

fn model(asset: Asset) -> Model {
    Model::bind(asset, &BindOptions::default(), Duration::ZERO).unwrap()
}

fn evaluator(model: &Model, session: &Session) -> Evaluator {
    Evaluator::new(&Where::Cpu, model, &recipe(session.document().deformer()).unwrap()).unwrap()
}

/// Starts a session with LBS. Also returns the joints' nodes.
fn started(model: &Model) -> (Session<'_>, Vec<u32>) {
    let mut session = model.start(None).unwrap();
    let lbs = DeformerSettings { method: "lbs".into(), ..Default::default() };
    session.apply(Edit::SetDeformer(lbs)).unwrap();
    let joints = model.skeleton().joints.iter().map(|j| j.node.0).collect();
    (session, joints)
}

#[test]
fn channels_come_back_from_projects_and_exports_to_the_bit() {
    let model = model(common::generated());
    let (mut session, joints) = started(&model);
    let channels = [
        channel(joints[0], Property::Translation, Interpolation::CubicSpline, 3, 7),
        channel(joints[0], Property::Rotation, Interpolation::Step, 4, 5),
        channel(joints[1], Property::Rotation, Interpolation::CubicSpline, 4, 9),
        channel(joints[2], Property::Rotation, Interpolation::Linear, 4, 11),
        channel(joints[2], Property::Scale, Interpolation::Linear, 3, 1),
    ];
    let slots = channels.map(|c| Slot { target: c.target.clone(), channel: Some(c) });
    session.apply(Edit::Keys(KeyEdit::Channels(slots.into()))).unwrap();
    let wanted = session.document().clip("walk", model.skeleton()).unwrap().unwrap();
    assert_eq!(wanted.channels.len(), 5);
    let folder = tempfile::tempdir().unwrap();
    let mut evaluator = evaluator(&model, &session);

    let project = folder.path().join("p.glb");
    project::save(&project, &model, session.document(), &mut evaluator).unwrap();
    let again = Model::load(&project, &BindOptions::default()).unwrap();
    assert_eq!(again.document.as_ref().unwrap(), session.document());
    let shown = Asset::load(&project).unwrap();
    assert_eq!(bits(&shown.clips[0]), bits(&wanted));

    let out = folder.path().join("x.glb");
    let options = Options { clip_name: "walk".into(), ..Options::default() };
    let receipt = project::export(&out, &model, session.document(), &mut evaluator, &options).unwrap();
    // The receipt measures every frame; bones alone reproduce all frames.
    let frames = session.document().frame_times().len();
    let worst = receipt.keys.iter().map(|k| k.largest_of_diagonal).fold(0.0, f64::max);
    assert!(receipt.keys.len() >= frames && worst < 2e-5, "{receipt}");

    // The channels go into another document and out again.
    let other = self::model(Asset::load(&out).unwrap());
    assert_eq!(bits(&other.skeleton().clips[0]), bits(&wanted));
    let mut second = other.start(None).unwrap();
    second.apply(Edit::Keys(KeyEdit::Import { clip: 0 })).unwrap();
    let is_weights = |c: &Channel| matches!(c.target, Target::Node { property: Property::Weights, .. });
    let imported = second.document().motion().channels().iter().filter(|c| !is_weights(c));
    assert!(imported.eq(session.document().motion().channels()));
    assert_eq!(bits(&second.document().clip("walk", other.skeleton()).unwrap().unwrap()), bits(&wanted));
}

#[test]
fn keyed_springs_and_their_settings_are_exported_as_weights_over_time() {
    let model = model(common::generated());
    let mut session = model.start(None).unwrap();
    let springs = DeformerSettings { method: "springs".into(), ..Default::default() };
    session.apply(Edit::SetDeformer(springs)).unwrap();
    let elbow = model.skeleton().joints[2].node;
    let turn = |angle: f32| Quat::from_rotation_x(angle).to_array();
    let rotation = Channel {
        target: Target::node(elbow, Property::Rotation),
        interpolation: Interpolation::Linear,
        times: vec![0.0, 0.5, 1.0],
        values: [turn(0.0), turn(1.0), turn(1.8)].concat(),
    };
    let setting = Channel {
        target: Target::Setting { method: "springs".into(), name: "max_iterations".into() },
        interpolation: Interpolation::Step,
        times: vec![0.0, 1.0],
        values: vec![40.0, 20.0],
    };
    let slots = [rotation, setting].map(|c| Slot { target: c.target.clone(), channel: Some(c) });
    session.apply(Edit::Keys(KeyEdit::Channels(slots.into()))).unwrap();
    let out = tempfile::tempdir().unwrap();
    let out = out.path().join("x.glb");
    let mut evaluator = evaluator(&model, &session);
    let receipt =
        project::export(&out, &model, session.document(), &mut evaluator, &Options::default()).unwrap();
    let worst = |at: fn(f32) -> bool| {
        let keys = receipt.keys.iter().filter(|k| at(k.time_s));
        keys.map(|k| k.largest_of_diagonal).fold(0.0, f64::max)
    };
    assert!(receipt.targets >= 2 && worst(|t| t % 0.5 == 0.0) < 2e-5, "{receipt}");
    // Between keys the shapes change linearly; the receipt states the error.
    assert!(receipt.keys.len() == 25 && worst(|_| true) > 1e-4, "{receipt}");
    assert!(receipt.to_string().contains("the file has those of 3 of 25 frames"), "{receipt}");
    let written = Asset::load(&out).unwrap();
    let clip = &written.clips[0];
    let weights = clip.channels.iter().find(|c| c.property == Property::Weights).unwrap();
    assert_eq!(weights.times, [0.0, 0.5, 1.0]);
    // At the time of a key, only the shape of this key has weight.
    let width = weights.values.len() / 3;
    for (key, row) in weights.values.chunks(width).enumerate() {
        assert!(row.iter().sum::<f32>() == f32::from(u8::from(key > 0 || width == 3)), "{weights:?}");
    }
}

#[test]
fn a_real_file_s_clips_go_through_channels_and_layers_to_the_bit() {
    for name in ["khronos/CesiumMan/glTF-Binary/CesiumMan.glb", "khronos/Fox/glTF-Binary/Fox.glb"] {
        let Some(asset) = common::load_data(name) else { continue };
        let model = model(asset);
        let mut session = model.start(None).unwrap();
        let lbs = DeformerSettings { method: "lbs".into(), ..Default::default() };
        session.apply(Edit::SetDeformer(lbs)).unwrap();
        let clip = model.skeleton().clips[0].clone();
        let steps = session.history().0;
        session.apply(Edit::Keys(KeyEdit::Import { clip: 0 })).unwrap();
        let out = session.document().clip("again", model.skeleton()).unwrap().unwrap();
        assert_eq!(bits(&out), bits(&clip), "{name}");
        let imported = session.document().state(model.skeleton(), Some(0.37)).pose;
        session.run(sinew::document::Operation::Jump(steps)).unwrap();
        let layer = ClipLayer::new(0, model.skeleton());
        session.apply(Edit::Keys(KeyEdit::Clips(vec![layer]))).unwrap();
        assert_eq!(session.document().state(model.skeleton(), Some(0.37)).pose, imported, "{name}");
        // The receipt reports the frames of a clip layer.
        let played = session.document().clip("played", model.skeleton()).unwrap().unwrap();
        let frames = session.document().frame_times();
        assert_eq!(frames.len(), (f64::from(clip.duration()) * 24.0 - 1e-6).ceil() as usize + 1);
        let mut pose = model.rest();
        sinew::anim::sample(&played, frames[7], &mut pose);
        let wanted = session.document().state(model.skeleton(), Some(frames[7])).pose;
        for (a, b) in pose.local.iter().zip(&wanted.local) {
            assert!(a.rotation().angle_between(b.rotation()) < 1e-3, "{name}");
        }
    }
}

#[test]
fn an_exported_motion_has_the_edited_curves() {
    let model = model(common::generated());
    let (mut session, joints) = started(&model);
    let channels = [
        channel(joints[0], Property::Translation, Interpolation::Step, 3, 5),
        channel(joints[1], Property::Rotation, Interpolation::Linear, 4, 5),
    ];
    let slots = channels.map(|c| Slot { target: c.target.clone(), channel: Some(c) });
    session.apply(Edit::Keys(KeyEdit::Channels(slots.into()))).unwrap();
    for i in 0..2 {
        let of = |session: &Session| KeyCurves::new(&session.document().motion().channels()[i]);
        let skeleton = model.skeleton().clone();
        let edit = of(&session).set_value((session.document(), &skeleton), 2, 1, 0.4);
        session.apply(Edit::Keys(edit)).unwrap();
        session.apply(Edit::Keys(of(&session).set_slope(2, 1, -1.5, [false, true]).unwrap())).unwrap();
    }
    let out = tempfile::tempdir().unwrap();
    let out = out.path().join("x.glb");
    let mut evaluator = evaluator(&model, &session);
    let receipt =
        project::export(&out, &model, session.document(), &mut evaluator, &Options::default()).unwrap();
    let worst = receipt.keys.iter().map(|k| k.largest_of_diagonal).fold(0.0, f64::max);
    assert!(worst < 2e-5, "{receipt}");
    let other = self::model(Asset::load(&out).unwrap());
    let mut second = other.start(None).unwrap();
    second.apply(Edit::Keys(KeyEdit::Import { clip: 0 })).unwrap();
    for channel in session.document().motion().channels() {
        let again = second.document().motion().channel(&channel.target).unwrap();
        assert_eq!(KeyCurves::new(again), KeyCurves::new(channel));
        assert!((KeyCurves::new(again).slope(2, 1, 1).unwrap() + 1.5).abs() < 1e-4);
        let times: Vec<f64> = (0..200).map(|i| f64::from(i) * 0.01).collect();
        let [mut a, mut b] = [Vec::new(), Vec::new()];
        KeyCurves::new(again).sample(&times, &mut a);
        KeyCurves::new(channel).sample(&times, &mut b);
        assert_eq!(a, b);
    }
}
