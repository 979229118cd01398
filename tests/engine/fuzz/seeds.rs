//! Unmutated files: a small character, and one file of each kind with all its features.

use crate::common::all_files;
use serde_json::json;
use sinew::asset::{Asset, Interpolation, Property};
use sinew::base::math::{Quat, Trs, Vec3};
use sinew::base::testing::shared;
use sinew::base::{BoneId, ChainId, MarkId, Progress, SculptId};
use sinew::bind::BindOptions;
use sinew::bind::shapes::Shape as Capsule;
use sinew::cage::Coordinates;
use sinew::deform::sculpt::{Curve, Profile, Wave};
use sinew::document::{
    CageMove, ClipLayer, DeformerSettings, Edit, Journal, Key, KeyAt, KeyEdit, KeyPart, KeyValue, Operation,
    Session, Target, demo_edits,
};
use sinew::export::{Builder, Options, Shape, Usage, posed, unedited};
use sinew::pose::{BoneChain, Sample};
use sinew::rig::{Axis, pose_text};
use sinew::scene::{CageSource, Evaluator, Model, SurfaceSample, Where, recipe};
use sinew::surface::{Form, Reach, Region, Sculpt, ring_mark};
use sinew::take::{Eye, Recorder, TakeFrame, TakeStart};
use sinew::workbench::{Command, Input, Preferences, Rigid, Tool, Tracked, Tracking, Workbench};
use sinew::{export, project};
use std::path::{Path, PathBuf};

/// The files that are mutated.
pub struct Seeds {
    /// The folder that contains the character.
    pub folder: tempfile::TempDir,
    /// The character of the journals, takes and pose files.
    pub hero: PathBuf,
    /// Loadable .glb files.
    pub models: Vec<Vec<u8>>,
    /// One file of each other kind.
    pub journal: Vec<u8>,
    pub take: Vec<u8>,
    pub poses: Vec<String>,
    pub project: Vec<u8>,
}

/// Returns a capsule with three bones, a morph target, a clip and a texture.
fn rich() -> Vec<u8> {
    let shape = Capsule { bones: 3, rings: 5, segments: 5, radius: 0.2, length: 1.2, blend: 0.5 };
    let plain = unedited(&shape.capsule_asset()).unwrap();
    let asset = Asset::from_slice(&plain, "plain.glb").unwrap();
    let model = Model::bind(asset, &BindOptions::default(), Default::default()).unwrap();
    let (mut first, mut second) = (model.rest(), model.rest());
    first.local[1].rotation = Quat::from_rotation_x(0.2).into();
    second.local[1] = Trs::new(Vec3::new(0.0, 0.4, 0.05), Quat::from_rotation_z(0.9), Vec3::splat(1.1));
    let mut evaluator = Evaluator::new(&Where::Cpu, &model, &Default::default()).unwrap();
    let shapes = [&first, &second].map(|pose| evaluator.evaluate(&model, pose).unwrap());
    let keys: Vec<export::Key> = [(0.0, &first), (1.0, &second)]
        .iter()
        .zip(&shapes)
        .map(|((time_s, pose), s)| {
            let shape = Shape { positions: &s.positions, normals: &s.normals };
            export::Key { time_s: *time_s, pose, shape: Some(shape) }
        })
        .collect();
    let out = posed(&model.asset, &model.bound.character, &keys, &Options::default()).unwrap();
    let asset = Asset::from_slice(&out.glb, "rich.glb").unwrap();
    let mut builder = Builder::of(&asset).unwrap();
    let mut png = std::io::Cursor::new(Vec::new());
    image::RgbaImage::from_pixel(3, 2, image::Rgba([9, 99, 199, 255]))
        .write_to(&mut png, image::ImageFormat::Png)
        .unwrap();
    let view = builder.view(png.get_ref(), Usage::Other);
    builder.push("images", json!({ "bufferView": view, "mimeType": "image/png" }));
    builder.push("samplers", json!({ "wrapS": 10497 }));
    builder.push("textures", json!({ "source": 0, "sampler": 0 }));
    let material = json!({
        "pbrMetallicRoughness": { "baseColorTexture": { "index": 0, "texCoord": 0 }, "metallicFactor": 0.5 },
        "alphaMode": "MASK"
    });
    let material = builder.push("materials", material);
    builder.json["meshes"][0]["primitives"][0]["material"] = material.into();
    builder.glb().unwrap()
}

/// Applies, undoes and redoes every kind of edit, and begins a stroke without finishing it.
fn work(session: &mut Session, model: &Model) {
    let skeleton = model.skeleton().clone();
    let demo = demo_edits(&skeleton, session.document()).unwrap();
    let joint = skeleton.joints[1].node;
    let (character, attachments) = (&model.bound.character, &model.bound.attachments);
    let mark = ring_mark(character, attachments, MarkId(0), BoneId(1), 0.5).unwrap();
    let region = Region::from_mark(character, &mark, Reach::Edges(2)).unwrap();
    let offsets = Form::Drawn(vec![[0.02, 0.01, 0.0]; region.kinematic.len()]);
    let wave = Curve::Wave(Wave { count: 2.0, phase: 0.1, speed: 1.0 });
    let profile = Profile { curve: wave, amount: 0.3, ..Profile::default() };
    let sculpt = |id, form| Box::new(Sculpt::new(SculptId(id), Some(MarkId(0)), region.clone(), form));
    let parameters = [("torsion".to_owned(), json!(2)), ("max_iterations".to_owned(), json!(4))];
    let springs = DeformerSettings { method: "springs".into(), parameters: parameters.into() };
    let setting = Target::Setting { method: "springs".into(), name: "torsion".into() };
    let value = |target, value| KeyValue { target, value };
    let keys = vec![
        value(setting, vec![0.5]),
        value(Target::node(joint, Property::Scale), vec![1.1; 3]),
        value(Target::SculptAmplitude(SculptId(0)), vec![0.7]),
    ];
    let interpolation = KeyEdit::Interpolation {
        targets: vec![Target::node(joint, Property::Scale)],
        interpolation: Interpolation::CubicSpline,
    };
    let key = KeyAt { target: Target::node(joint, Property::Scale), time: 0.25 };
    let part = KeyPart { component: 1, value: Some(1.2), arriving: None, leaving: Some(0.5) };
    let curve = KeyEdit::Curve { key, parts: vec![part] };
    let made = model.new_cage(&CageSource::Made(16), Coordinates::MeanValue, &Progress::default());
    let cage = made.unwrap().0.cage;
    let cage_key = |x: f32| KeyValue {
        target: Target::Cage(cage.vertices() as u32),
        value: (0..3 * cage.vertices()).map(|k| if k == 4 { x } else { 0.0 }).collect(),
    };
    let cage_keys = [0.0, 0.1].map(cage_key);
    let layer = ClipLayer { time_map: vec![[0.0, 0.1], [0.5, 0.7]], ..ClipLayer::new(0, &skeleton) };
    let edits = [
        Edit::Rename("Hérø".into()),
        Edit::RotateJoint { node: joint, turns: vec![(Axis::X, 20.0), (Axis::Y, -10.0)] },
        Edit::AddMark { index: None, mark: Box::new(mark) },
        Edit::AddSculpt { index: None, sculpt: sculpt(0, offsets) },
        Edit::Group(vec![Edit::AddSculpt { index: Some(0), sculpt: sculpt(1, Form::Profile(profile)) }]),
        Edit::SetPins(vec![joint]),
        Edit::SetBones(vec![BoneChain {
            id: ChainId(2),
            joints: vec![[0.0; 3], [0.0, 1.0, 0.0]],
            parent: None,
            partner: None,
        }]),
        Edit::SetCage(Some(Box::new(cage))),
        Edit::MoveCage(vec![CageMove { vertex: 3, offset: [0.05, 0.0, -0.02] }]),
        Edit::SetDeformer(springs),
        Edit::KeepPose { name: "one".into(), pose: Some(Box::new(model.rest())), at: None },
        Edit::SetKey(Key { time: 0.25, pose: model.rest() }),
        Edit::Keys(KeyEdit::Insert { time: 0.5, keys: keys.clone() }),
        Edit::Keys(KeyEdit::Insert { time: 1.0, keys }),
        Edit::Keys(KeyEdit::Insert { time: 0.5, keys: vec![cage_keys[0].clone()] }),
        Edit::Keys(KeyEdit::Insert { time: 1.5, keys: vec![cage_keys[1].clone()] }),
        Edit::Keys(interpolation),
        Edit::Keys(curve),
        Edit::Keys(KeyEdit::Clips(vec![layer])),
        Edit::Keys(KeyEdit::Rate(24)),
    ];
    for edit in demo.into_iter().chain(edits) {
        session.apply(edit).unwrap();
    }
    let turned = Edit::SetLocal { node: joint, local: model.rest().local[joint.index()] };
    for operation in [
        Operation::Do(turned.clone()),
        Operation::Continue(turned),
        Operation::Undo,
        Operation::Redo,
        Operation::Jump(6),
        Operation::Jump(session.history().1),
        Operation::Drawing(vec![Sample::default(); 3]),
    ] {
        session.run(operation).unwrap();
    }
}

/// A hand draws with every tool while commands arrive.
fn record(path: &Path, model: &Model) {
    let preferences = Preferences { radius: 0.3, ..Preferences::default() };
    let session = model.start(None).unwrap();
    let start = TakeStart::new(model, &session, &preferences, [64, 64]);
    let mut recorder = Recorder::new(path, &start).unwrap();
    let mut bench = Workbench::new(session, model.bound.character.clone(), preferences);
    let mut frame = TakeFrame { eyes: [Eye::default(); 2], ..TakeFrame::default() };
    let head = Rigid { position: Vec3::new(0.0, 1.6, 1.0), ..Rigid::default() };
    frame.input = Input { focused: true, ..Input::default() };
    frame.input.head = Tracked { pose: head, tracking: Tracking::Tracked };
    let commands = [
        Command::Key,
        Command::Scrub(0.5),
        Command::AutoKey(true),
        Command::Deformer("dqs".into()),
        Command::Deformer("springs".into()),
        Command::Undo,
        Command::Play(true),
        Command::Redo,
        Command::Interpolation(Interpolation::CubicSpline),
        Command::Swing(3.0),
        Command::Deformer("volume".into()),
        Command::Contact(true),
        Command::MoveKey(0.7),
    ];
    for (i, command) in Tool::ALL.into_iter().map(Command::Tool).chain(commands).enumerate() {
        recorder.command(&command).unwrap();
        bench.run_command(command);
        for k in 0..8 {
            frame.input.time += 1.0 / 45.0;
            let (drawn, turn) = (if k == 7 { 0.0 } else { 1.0 }, Quat::from_rotation_z(0.05 * k as f32));
            let room = bench.output().world_from_room.inverse_point(Vec3::Y * 0.15 * k as f32);
            let hand = &mut frame.input.hands[1];
            let pose = Rigid { position: room + Vec3::new(0.02 * i as f32, 0.0, 0.05), orientation: turn };
            hand.aim = Tracked { pose, tracking: Tracking::Tracked };
            hand.grip = hand.aim;
            (hand.draw, hand.grab) = (drawn, if i % 3 == 2 { drawn } else { 0.0 });
            hand.surface = (i % 2 == 0).then_some(SurfaceSample {
                triangle: k as u32,
                barycentrics: [0.25, 0.5, 0.25],
                position: room,
                normal: Vec3::Z,
                time: frame.input.time,
                draw: drawn,
            });
            bench.step(&frame.input);
            recorder.frame(&frame);
        }
    }
    recorder.interrupt();
    recorder.opened(&start).unwrap();
    recorder.frame(&frame);
    recorder.finish("elsewhere".into()).unwrap();
}

impl Seeds {
    /// Returns all files, with small files of the shared data if it is present.
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let hero = folder.path().join("hero.glb");
        let glb = rich();
        std::fs::write(&hero, &glb).unwrap();
        let model = Model::load(&hero, &BindOptions::default()).unwrap();

        let path = folder.path().join("hero.journal");
        let mut session = model.start(Some(Journal::open(&path, &model.file()).unwrap().0)).unwrap();
        work(&mut session, &model);
        let journal = std::fs::read(&path).unwrap();

        let saved = folder.path().join("project.glb");
        let settings = recipe(session.document().deformer()).unwrap();
        let mut evaluator = Evaluator::new(&Where::Cpu, &model, &settings).unwrap();
        project::save(&saved, &model, session.document(), &mut evaluator).unwrap();
        let project = std::fs::read(&saved).unwrap();

        let path = folder.path().join("hero.take");
        record(&path, &model);
        let take = std::fs::read(&path).unwrap();

        let name = &model.skeleton().nodes[1].name;
        let by_hand = json!({ "sinew_pose": 1, "nodes": { name: {
            "translation": [0, 0.4, 0.1], "rotation": [0, 0, 0, 1], "scale": [1, 1, 1],
            "rotate": [["y", -90], ["x", 20]] } }, "weights": {} });
        let poses = vec![pose_text(&session.posed(), model.skeleton()), by_hand.to_string()];

        let mut models = vec![glb, sinew::generate::tube(60).unwrap(), project.clone()];
        let mut add = |asset: Asset| models.extend(unedited(&asset).ok().filter(|glb| glb.len() < 1 << 18));
        for file in all_files(12 << 10).iter().step_by(5) {
            // Files that do not load are left out.
            let _ = Asset::load(file).map(&mut add);
        }
        let packed =
            ["oddities/compressed/BoxMeshopt.glb", "oddities/compressed/kenney_survivor-male_draco.gltf"];
        packed.iter().filter_map(|f| shared(f)).for_each(|f| add(Asset::load(f).unwrap()));
        Self { folder, hero, models, journal, take, poses, project }
    }
}
