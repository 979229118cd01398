//! While a motion plays, no frame allocates: neither for poses, sculpt layers and settings nor for their upload, nor for the
//! picture, the first outline and an outline that changes.

use sinew::asset::{Asset, Channel, Clip, Interpolation, Property};
use sinew::base::Progress;
use sinew::base::math::{Aabb, Quat, Vec3};
use sinew::base::{FirmId, MarkId, NodeId, SculptId, StrokeId};
use sinew::bind::shapes::Shape;
use sinew::bind::{BindOptions, VertexRuns};
use sinew::deform::blend::Painted;
use sinew::deform::sculpt::{Curve, Profile, Wave};
use sinew::deform::volume::FirmRegion;
use sinew::document::{ClipLayer, DeformerSettings, Edit, Key, KeyEdit, KeyValue, Target};
use sinew::gpu::Semaphores;
use sinew::gpu::testing::{assert_silent, device};
use sinew::pose::{Sample, Stroke, StrokeLayer};
use sinew::render::{Camera, Lines};
use sinew::scene::{Actor, Aim, Follows, GhostTimes, Ghosts, Model, Outlined, Pipelines, Stage};
use sinew::surface::{Form, Reach, Region, Sculpt, SurfacePoint, SurfaceStroke};
use sinew::workbench::{Command, Input, Preferences, Workbench};
use std::sync::Arc;
use std::time::Duration;

/// Number of first frames that may allocate: two frames are in flight, and buffers grow to their final size.
const WARM_UP: usize = 12;
const FRAMES: usize = 60;

/// Returns a character with a stroke over a clip, a keyed joint, a keyed setting of the method, a firm region and a wave on
/// its skin.
fn played(method: &str, setting: &str) -> (Arc<Model>, Workbench) {
    let shape = Shape { bones: 4, rings: 60, segments: 24, radius: 0.15, length: 1.8, blend: 0.5 };
    let glb = sinew::export::unedited(&shape.capsule_asset()).unwrap();
    let mut asset = Asset::from_slice(&glb, "capsule.glb").unwrap();
    let turn = |angle: f32| Quat::from_rotation_z(angle).to_array();
    let channel = Channel {
        node: asset.skins[0].joints[1],
        property: Property::Rotation,
        interpolation: Interpolation::Linear,
        times: vec![0.0, 2.0],
        values: [turn(0.0), turn(0.6)].concat(),
    };
    asset.clips.push(Clip { name: "sway".into(), channels: vec![channel] });
    let model = Arc::new(Model::bind(asset, &BindOptions::default(), Duration::ZERO).unwrap());
    let skeleton = model.skeleton().clone();
    let mut session = model.start(None).unwrap();
    let apply = |session: &mut sinew::document::Session<'static>, edit: Edit| session.apply(edit).unwrap();
    apply(
        &mut session,
        Edit::SetDeformer(DeformerSettings { method: method.into(), ..DeformerSettings::default() }),
    );
    // A baseline along the joints and an offset stroke beside it.
    let rest = model.rest().world(&skeleton);
    let joints: Vec<Vec3> =
        skeleton.joints.iter().map(|j| Vec3::from(rest[j.node.index()].translation)).collect();
    let line = |bend: f32| {
        let sample = |(i, x): (usize, &Vec3)| Sample::at(*x + Vec3::X * bend * (i as f32).powi(2), i as f64);
        Stroke::from_knots(joints.iter().enumerate().map(sample).collect()).unwrap()
    };
    let layer = StrokeLayer::new(StrokeId(0), line(0.0), 0.1, (&skeleton, &[]), &model.rest()).unwrap();
    let layer = Box::new(layer.with_offset(line(0.05)));
    apply(&mut session, Edit::AddStroke { index: None, layer });
    let half = ClipLayer { weight: 0.5, ..ClipLayer::new(0, &skeleton) };
    apply(&mut session, Edit::Keys(KeyEdit::Clips(vec![half])));
    let points = (0..3).map(|k| SurfacePoint {
        triangle: 200 + k,
        barycentrics: [0.4, 0.3, 0.3],
        pressure: 1.0,
        time: f64::from(k),
        lifted: false,
    });
    let mark = SurfaceStroke {
        id: MarkId(0),
        name: "m".into(),
        points: points.collect(),
        closed: false,
        radius: 0.05,
    };
    let region = Region::from_mark(&model.bound.character, &mark, Reach::Edges(4)).unwrap();
    let wave = Curve::Wave(Wave { count: 1.0, speed: 1.0, phase: 0.0 });
    let form = Form::Profile(Profile { curve: wave, amount: 0.3, ..Profile::default() });
    let sculpt = Box::new(Sculpt::new(SculptId(0), None, region, form));
    apply(&mut session, Edit::AddSculpt { index: None, sculpt });
    let region = FirmRegion {
        id: FirmId(0),
        name: "f".into(),
        factor: 8.0,
        vertices: VertexRuns::of(100..300),
        falloff: Painted::NONE,
    };
    apply(&mut session, Edit::AddFirm { index: None, region: Box::new(region) });
    for (time, turn) in [(0.0, 0.0f32), (1.0, 0.8)] {
        let mut pose = session.posed();
        pose.local[skeleton.joints[2].node.index()].rotation = Quat::from_rotation_x(turn).to_array();
        let setting = Target::Setting { method: method.into(), name: setting.into() };
        let keys = vec![
            KeyValue { target: setting, value: vec![0.2 + turn] },
            KeyValue { target: Target::SculptAmplitude(SculptId(0)), value: vec![0.5 + turn] },
        ];
        let pose = Edit::SetKey(Key { time, pose });
        apply(&mut session, Edit::Group(vec![pose, Edit::Keys(KeyEdit::Insert { time, keys })]));
    }
    let bench = Workbench::new(session, model.bound.character.clone(), Preferences::default());
    (model, bench)
}

/// Settings that are counts, so that they do not change in every frame.
const COUNTS: [&str; 2] = ["contact", "iterations"];

#[test]
fn a_motion_that_plays_allocates_nothing() {
    let device = device();
    let played_settings = [
        ("springs", "torsion"),
        ("blend", "factor"),
        ("springs", "dynamics"),
        ("volume", "firmness"),
        ("volume", "dynamics"),
        ("volume", "volume"),
        ("volume", "contact"),
        ("fast", "iterations"),
    ];
    for (method, setting) in played_settings {
        let (model, mut bench) = played(method, setting);
        let mut stage = device.as_ref().map(|device| {
            let pipelines = Pipelines::new(device).unwrap();
            let mut stage = Stage::new(&pipelines, [64, 64], 1, 1).unwrap();
            let actor = Actor::new(&pipelines, stage.targets(), &model, bench.recipe()).unwrap();
            stage.enter(Box::new(actor));
            let mut ghosts = Ghosts::new(&pipelines, &model, bench.recipe(), &Progress::default()).unwrap();
            ghosts.set_counts([1, 1]).unwrap();
            stage.set_ghosts(Some(Box::new(ghosts))).unwrap();
            stage
        });
        let joints: Vec<NodeId> = model.skeleton().joints.iter().map(|j| j.node).collect();
        let bounds = Aabb { min: Vec3::new(-1.0, 0.0, -1.0), max: Vec3::new(1.0, 2.0, 1.0) };
        let (view, lines) = (Camera::framing(&bounds, 1.0, 0.3, 0.1).view(1.0), Lines::default());
        bench.run_command(Command::Onion(true));
        bench.run_command(Command::Play(true));
        let mut input = Input { focused: true, ..Input::default() };
        for frame in 0..WARM_UP + FRAMES {
            input.time = frame as f64 / 90.0;
            let (before, mut followed, mut haunted) = (bench.shown_pose().version, true, true);
            let editor = allocation_counter::measure(|| {
                bench.step(&input);
            });
            let posed = bench.shown_pose().version != before;
            let mut body = allocation_counter::AllocationInfo::default();
            if let Some(stage) = &mut stage {
                body = allocation_counter::measure(|| {
                    let (mut commands, _) = stage.begin().unwrap();
                    stage.actor_mut().set_time(bench.shown_time());
                    stage.actor_mut().set_sculpts(bench.sculpts(), bench.sculpt_states()).unwrap();
                    followed = stage.actor_mut().follow(bench.recipe()) == Follows::Changed;
                    // Every frame solves a ghost.
                    let mut times = GhostTimes::default();
                    // At 0 s, the joint is at rest: FAST then factors another set of placed joints, which allocates.
                    times[frame % 2][0] = bench.shown_time().map(|t| ((t + 0.3) % 1.0).max(0.01));
                    let document = (bench.session().document(), bench.session().revision());
                    let ghosts = stage.ghosts_mut().unwrap();
                    haunted = ghosts.follow(document, None, &times).unwrap() == Follows::Changed;
                    stage.record_body(&mut commands, Some(bench.shown_pose()), &Aim::default()).unwrap();
                    // Every frame outlines another joint. The first outline appears after the first frames.
                    stage.look_mut().outline = frame >= WARM_UP;
                    stage.actor_mut().show_outline(Some(Outlined::Joint(joints[frame % 3])));
                    stage.record_eyes(&mut commands, &[view], &lines).unwrap();
                    stage.submit(commands, &Semaphores::default()).unwrap();
                });
            }
            if frame >= WARM_UP {
                assert!(
                    posed && (followed || COUNTS.contains(&setting)) && haunted,
                    "{method} {setting}: frame {frame} shows another moment"
                );
                assert_eq!(editor.count_total, 0, "{method} {setting}: the editor in frame {frame}");
                assert_eq!(body.count_total, 0, "{method} {setting}: the body in frame {frame}");
            }
        }
    }
    if let Some(device) = &device {
        assert_silent(device);
    }
}
