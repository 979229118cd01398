//! Tests that record a scripted session on a character and replay it.

use super::*;
use crate::base::math::{Quat, Vec3};
use crate::base::{FirmId, JointId, MarkId};
use crate::bind::{Binding, Smoothing};
use crate::deform::fast::with_width;
use crate::document::Edit;
use crate::generate::{Kind, generate};
use crate::rig::{Pose, chains};
use crate::surface::{SurfacePoint, SurfaceStroke};
use crate::take::{Eye, Recorder};
use crate::workbench::{
    BindChange, Command, FirmChange, GrabBy, LimitChange, Preferences, Rigid, Rules, SkinPart, Tool, Tracked,
    Tracking,
};

/// A scripted animator: records each input and passes it to the workbench, like a headset session.
struct Animator {
    bench: Workbench,
    recorder: Recorder,
    frame: TakeFrame,
}

impl Animator {
    /// Creates a character and starts a take in a folder.
    fn new(folder: &Path) -> (Self, PathBuf) {
        let file = folder.join("plus.glb");
        generate(Kind::Plus, &file).unwrap();
        Self::with(&file, &[], Preferences { radius: 0.4, ..Preferences::default() })
    }

    /// Starts a take of a character with pinned joints.
    fn with(file: &Path, pins: &[&str], preferences: Preferences) -> (Self, PathBuf) {
        let path = file.with_extension("take");
        let model = Model::load(file, &BindOptions::default()).unwrap();
        let mut session = model.start(None).unwrap();
        if !pins.is_empty() {
            let mut pins: Vec<_> = pins.iter().map(|name| model.skeleton().find(name).unwrap()).collect();
            pins.sort_unstable();
            session.apply(Edit::SetPins(pins)).unwrap();
        }
        let start = TakeStart::new(&model, &session, &preferences, [64, 64]);
        let recorder = Recorder::new(&path, &start).unwrap();
        let bench = Workbench::new(session, model.bound.character.clone(), preferences);
        let mut frame = TakeFrame::default();
        let head = Rigid { position: Vec3::new(0.0, 1.6, 1.0), ..Rigid::default() };
        frame.input.head = Tracked { pose: head, tracking: Tracking::Tracked };
        frame.input.focused = true;
        let mut out = Self { bench, recorder, frame };
        out.step();
        (out, path)
    }

    fn step(&mut self) {
        self.frame.input.time += 1.0 / 90.0;
        self.frame.eyes = [-0.03, 0.03].map(|x| {
            let mut eye = Eye { pose: self.frame.input.head.pose, ..Eye::default() };
            eye.pose.position.x += x;
            eye
        });
        self.bench.step(&self.frame.input);
        self.recorder.frame(&self.frame);
    }

    /// Moves the right hand's brush tip to a world position.
    fn reach(&mut self, world: Vec3, roll: f32) {
        let room = self.bench.output().world_from_room.inverse_point(world);
        let orientation = Quat::from_rotation_z(roll);
        // The brush tip is 5 cm in front of the aim pose, along -Z.
        let pose = Rigid { position: room + Vec3::Z * 0.05, orientation };
        let hand = &mut self.frame.input.hands[1];
        hand.aim = Tracked { pose, tracking: Tracking::Tracked };
        hand.grip = hand.aim;
    }

    fn stroke(&mut self, points: &[Vec3]) {
        self.reach(points[0], 0.0);
        self.step();
        self.frame.input.hands[1].draw = 1.0;
        for (i, pair) in points.windows(2).enumerate() {
            for k in 0..20 {
                self.reach(pair[0].lerp(pair[1], k as f32 / 20.0), (i * 20 + k) as f32 * 0.002);
                self.step();
            }
        }
        self.frame.input.hands[1].draw = 0.0;
        self.step();
        self.step();
    }

    fn command(&mut self, command: Command) {
        self.recorder.command(&command).unwrap();
        self.bench.run_command(command);
    }

    /// Draws a baseline through a chain of joints and an offset stroke; undoes, redoes, and interrupts a stroke.
    fn work(&mut self) {
        let skeleton = self.bench.character().skeleton.clone();
        let world = Pose::rest(&skeleton).world(&skeleton);
        let chain = chains(&skeleton).into_iter().max_by_key(|c| c.nodes.len()).unwrap();
        let points: Vec<Vec3> = chain.nodes.iter().map(|n| world[n.index()].translation.into()).collect();
        self.stroke(&points);
        let bent = |angle: f32| -> Vec<Vec3> {
            let turn =
                |i: usize| Quat::from_axis_angle(Vec3::new(0.3, 0.2, 1.0).normalize(), angle * i as f32);
            points.iter().enumerate().map(|(i, &p)| points[0] + turn(i) * (p - points[0])).collect()
        };
        self.stroke(&bent(0.2));
        self.command(Command::RedrawOffset);
        self.stroke(&bent(-0.3));
        self.command(Command::Undo);
        self.command(Command::Redo);
        self.command(Command::Tool(Tool::Grab));
        self.command(Command::Tool(Tool::Line));
        self.frame.input.hands[1].draw = 1.0;
        self.step();
        self.recorder.interrupt();
        self.bench.interrupt();
        self.frame.input.hands[1].draw = 0.0;
        self.step();
    }

    fn finish(self) -> String {
        let hash = self.bench.session().document().hash();
        self.recorder.finish(hash.clone()).unwrap();
        hash
    }
}

/// Hashes of the documents that [`a_full_body_grab_gives_the_same_document_on_every_processor`] makes.
const GRABBED: &str = "3cb1fd3942d460369038ec554a2e65fc1f3d52499ff5965080d9edff1f9a1492";
const TOES_TURNED: &str = "34d6c3af0ab3528ec820098ef551a14924e5541b290234f0967df054c3c6cbcd";

#[test]
fn a_full_body_grab_gives_the_same_document_on_every_processor() {
    // Until version 8, takes turned the toes below the pinned feet.
    for (rules, version, expected) in
        [(Rules::Now, super::super::VERSION, GRABBED), (Rules::Eighth, 8, TOES_TURNED)]
    {
        let (hash, path, _folder) = grabbed_by_the_hand(rules);
        assert_eq!(hash, expected, "the solver of grabs depends on the processor, or its method has changed");
        let mut bytes = std::fs::read(&path).unwrap();
        bytes[8] = version as u8;
        std::fs::write(&path, bytes).unwrap();
        assert_eq!(replayed(&path).bench().session().document().hash(), expected);
        for bits in [128, 256, 512] {
            let (replay, solvers) = with_width(bits, || replayed(&path));
            assert!(solvers > 0, "the replay solves on this thread");
            assert_eq!(replay.bench().session().document().hash(), expected, "vectors of {bits} bits");
        }
    }
}

/// Records a take in which a hand pulls the hand of a human with pinned feet. Returns the document's hash, the take and
/// its folder.
fn grabbed_by_the_hand(rules: Rules) -> (String, PathBuf, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("human.glb");
    std::fs::copy(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/human.glb"), &file).unwrap();
    let (mut animator, path) = Animator::with(&file, &["LeftFoot", "RightFoot"], Preferences::default());
    animator.bench.keep_to(rules);
    assert_eq!(animator.bench.preferences().grab, GrabBy::Body);
    let rest = animator.bench.pose().clone();
    let skeleton = animator.bench.character().skeleton.clone();
    let joint = skeleton.nodes[skeleton.find("RightHand").unwrap().index()].joint.unwrap();
    let bone = animator.bench.rig().bones[skeleton.bones_of(joint).next().unwrap().index()];
    let held = bone.head.lerp(bone.tail, 0.5);
    animator.command(Command::Tool(Tool::Grab));
    animator.reach(held, 0.0);
    animator.step();
    animator.frame.input.hands[1].draw = 1.0;
    animator.step();
    for k in 0..=12 {
        let t = k as f32 / 12.0;
        animator.reach(held + Vec3::new(0.1, 0.25, 0.6) * t, 0.5 * t);
        animator.step();
    }
    animator.frame.input.hands[1].draw = 0.0;
    animator.step();
    let pose = animator.bench.pose().clone();
    let both = rest.local.iter().zip(&pose.local);
    let moved = both.filter(|(a, b)| a.rotation().angle_between(b.rotation()) > 0.02).count();
    assert!(moved > 10, "only {moved} joints moved: {:?}", animator.bench.notice());
    (animator.finish(), path, folder)
}

fn replayed(path: &Path) -> Replay {
    let mut replay = Replay::open(path).unwrap();
    while replay.step().unwrap() {}
    replay
}

#[test]
fn a_take_leads_to_the_same_document_three_times_in_a_row() {
    let folder = tempfile::tempdir().unwrap();
    let (mut animator, path) = Animator::new(folder.path());
    let rest = animator.bench.session().document().hash();
    animator.work();
    let (history, pose) = (animator.bench.session().history(), animator.bench.pose().clone());
    let place = animator.bench.output().world_from_room;
    let strokes = animator.bench.session().document().strokes().to_vec();
    assert!(strokes[0].offset.is_some() && history.1 >= 3, "{history:?}");
    let hash = animator.finish();
    assert_ne!(hash, rest);
    for _ in 0..3 {
        let replay = replayed(&path);
        let bench = replay.bench();
        assert_eq!(bench.session().document().hash(), hash);
        assert_eq!((bench.session().history(), bench.pose()), (history, &pose));
        assert_eq!(bench.output().world_from_room, place);
        assert_eq!(replay.end().unwrap().document, hash);
        assert!(replay.torn().is_none() && replay.frames() > 100);
    }
}

#[test]
fn a_take_begun_in_the_middle_of_a_session_undoes_into_its_past() {
    let folder = tempfile::tempdir().unwrap();
    let (mut animator, path) = Animator::new(folder.path());
    animator.work();
    // Record the session again, starting with two steps undone.
    animator.command(Command::Undo);
    let model = Model::load(&folder.path().join("plus.glb"), &BindOptions::default()).unwrap();
    let session = animator.bench.session();
    let start = TakeStart::new(&model, session, animator.bench.preferences(), [64, 64]);
    let second = folder.path().join("second.take");
    drop(std::mem::replace(&mut animator.recorder, Recorder::new(&second, &start).unwrap()));
    animator.command(Command::Undo);
    animator.step();
    animator.command(Command::Redo);
    animator.command(Command::Redo);
    animator.step();
    let hash = animator.finish();
    let replay = replayed(&second);
    assert_eq!(replay.bench().session().document().hash(), hash);
    // The first take lacks its end record but has all its frames.
    assert!(replayed(&path).torn().is_some());
}

#[test]
fn a_take_replays_the_binding_and_binds_the_character_again() {
    let folder = tempfile::tempdir().unwrap();
    let (mut animator, path) = Animator::new(folder.path());
    let joints = animator.bench.character().skeleton.joints.clone();
    animator.command(Command::Select(Some(joints[1].node)));
    let bind = |change| Command::Bind(change, false);
    animator.command(bind(BindChange::Method(Binding::Planar)));
    animator.command(bind(BindChange::Turn([0.0, 10.0, 15.0])));
    animator.command(Command::Bind(BindChange::Turn([0.0, 10.0, 25.0]), true));
    animator.step();
    animator.command(bind(BindChange::Rounds(3)));
    animator.command(bind(BindChange::Smoothing(Smoothing::Plain)));
    animator.command(Command::Undo);
    animator.step();
    let document = animator.bench.session().document().clone();
    let history = animator.bench.session().history();
    let wanted = BindOptions {
        method: Binding::Planar,
        smooth: 3,
        planes: [(JointId(1), [0.0, 10.0, 25.0])].into(),
        ..BindOptions::default()
    };
    assert_eq!(*document.binding(), wanted);
    let hash = animator.finish();
    let replay = replayed(&path);
    assert_eq!(
        (replay.bench().session().document().hash(), replay.bench().session().history()),
        (hash, history)
    );
    let file = Model::load(&folder.path().join("plus.glb"), &wanted).unwrap();
    assert_eq!(replay.model().bound.attachments.t, file.bound.attachments.t);
    assert_eq!(replay.model().binding(), &wanted);
}

#[test]
fn a_take_replays_firm_and_soft_regions() {
    let folder = tempfile::tempdir().unwrap();
    let (mut animator, path) = Animator::new(folder.path());
    animator.command(Command::Deformer("volume".into()));
    let third = 1.0 / 3.0;
    let barycentrics = [third, third, 1.0 - 2.0 * third];
    let point = |triangle| SurfacePoint { triangle, barycentrics, pressure: 1.0, time: 0.0, lifted: false };
    let (id, name, points) = (MarkId(0), "Mark 1".to_owned(), vec![point(3), point(4)]);
    let mark = SurfaceStroke { id, name, points, closed: false, radius: 0.1 };
    animator.command(Command::Change(Box::new(Edit::AddMark { index: None, mark: Box::new(mark) }), false));
    let part = SkinPart::Mark { id, rings: 1 };
    let firm = Command::Firm;
    animator.command(firm(FirmChange::Add(part, 4.0), false));
    animator.command(firm(FirmChange::Factor(FirmId(0), 8.0), false));
    animator.command(firm(FirmChange::Factor(FirmId(0), 9.5), true));
    animator.step();
    animator.command(firm(FirmChange::Remove(FirmId(0)), false));
    animator.command(Command::Undo);
    animator.step();
    let document = animator.bench.session().document().clone();
    let history = animator.bench.session().history();
    assert_eq!(document.firm().iter().map(|r| r.factor).collect::<Vec<_>>(), [9.5]);
    let hash = animator.finish();
    let replay = replayed(&path);
    let session = replay.bench().session();
    assert_eq!((session.document().hash(), session.history()), (hash, history));
    assert_eq!(replay.bench().recipe().firm, *document.firm());
}

#[test]
fn a_take_with_limits_replays_to_the_same_document() {
    for by in [GrabBy::Limb, GrabBy::Body] {
        let folder = tempfile::tempdir().unwrap();
        let (mut animator, path) = Animator::new(folder.path());
        animator.command(Command::GrabBy(by));
        let skeleton = animator.bench.character().skeleton.clone();
        let chain = chains(&skeleton).into_iter().max_by_key(|c| c.nodes.len()).unwrap();
        for node in &chain.nodes {
            animator.command(Command::Select(Some(*node)));
            animator.command(Command::Limit(LimitChange::On(true), false));
            animator.command(Command::Limit(LimitChange::Swing([20.0, 5.0, 10.0, 0.0]), false));
            animator.command(Command::Limit(LimitChange::Swing([25.0, 5.0, 10.0, 0.0]), true));
            animator.command(Command::Limit(LimitChange::Twist([-10.0, 5.0]), false));
        }
        animator.step();
        animator.work();
        let joint = skeleton.nodes[chain.nodes[chain.nodes.len() - 1].index()].joint.unwrap();
        let bone = animator.bench.rig().bones[skeleton.bones_of(joint).next().unwrap().index()];
        let held = bone.head.lerp(bone.tail, 0.5);
        animator.command(Command::Tool(Tool::Grab));
        animator.reach(held, 0.0);
        animator.step();
        animator.frame.input.hands[1].draw = 1.0;
        animator.step();
        let before = animator.bench.pose().clone();
        for k in 0..=10 {
            animator.reach(held + Vec3::new(-0.3, 0.4, 0.5) * (k as f32 / 10.0), 0.03 * k as f32);
            animator.step();
        }
        animator.frame.input.hands[1].draw = 0.0;
        animator.step();
        assert_ne!(*animator.bench.pose(), before, "{by:?}");
        animator.command(Command::Limit(LimitChange::ToPose, false));
        animator.command(Command::LimitCone(true));
        animator.command(Command::Undo);
        animator.step();
        assert_eq!(animator.bench.session().document().limits().len(), chain.nodes.len());
        let hash = animator.finish();
        assert_eq!(replayed(&path).bench().session().document().hash(), hash, "{by:?}");
    }
}

#[test]
fn a_character_that_changed_or_went_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let (animator, path) = Animator::new(folder.path());
    animator.finish();
    let file = folder.path().join("plus.glb");
    generate(Kind::Box, &file).unwrap();
    let error = Replay::open(&path).err().unwrap().to_string();
    assert!(error.contains("plus.glb") && error.contains("not the file"), "{error}");
    std::fs::remove_file(&file).unwrap();
    assert!(Replay::open(&path).err().unwrap().to_string().contains("plus.glb"));
}

#[test]
fn a_take_with_a_key_dragged_on_the_path_replays_to_the_same_document() {
    let folder = tempfile::tempdir().unwrap();
    let (mut animator, path) = Animator::new(folder.path());
    let skeleton = animator.bench.character().skeleton.clone();
    let chain = chains(&skeleton).into_iter().max_by_key(|c| c.nodes.len()).unwrap();
    let (last, middle) = (*chain.nodes.last().unwrap(), chain.nodes[chain.nodes.len() / 2]);
    animator.command(Command::Onion(true));
    animator.command(Command::GrabBy(GrabBy::Limb));
    animator.command(Command::Key);
    animator.command(Command::Scrub(1.0));
    let mut local = animator.bench.pose().local[middle.index()];
    local.rotation = (local.rotation() * Quat::from_rotation_z(0.7)).to_array();
    animator.command(Command::AutoKey(true));
    animator.command(Command::Place(middle, Box::new(local), false));
    animator.step();
    animator.command(Command::AutoKey(false));
    animator.command(Command::Tool(Tool::Grab));
    animator.command(Command::Scrub(0.5));
    animator.command(Command::Select(Some(last)));
    animator.command(Command::Radius(0.1));
    animator.reach(Vec3::new(0.0, 9.0, 0.0), 0.0);
    (0..12).for_each(|_| animator.step());
    let key = animator.bench.path_keys().find(|k| k.0 == 1.0).unwrap().1;
    let steps = animator.bench.session().history().0;
    animator.reach(key, 0.0);
    animator.step();
    animator.frame.input.hands[1].draw = 1.0;
    for k in 0..20 {
        animator.reach(key + Vec3::new(-0.004, 0.003, 0.005) * k as f32, 0.0);
        animator.step();
    }
    assert_eq!(animator.bench.ghost_times()[0][0], Some(0.0), "the ghost of the first key");
    animator.frame.input.hands[1].draw = 0.0;
    animator.step();
    assert_eq!(animator.bench.session().history().0, steps + 1, "the key was dragged");
    let times = *animator.bench.ghost_times();
    let hash = animator.finish();
    let replay = replayed(&path);
    assert_eq!(replay.bench().session().document().hash(), hash);
    assert_eq!(*replay.bench().ghost_times(), times);
}

#[test]
fn takes_keep_to_the_rules_of_their_version() {
    for version in 1..=14 {
        let folder = tempfile::tempdir().unwrap();
        let (mut animator, path) = Animator::new(folder.path());
        let rules = [
            Rules::First,
            Rules::Second,
            Rules::Third,
            Rules::Fourth,
            Rules::Fifth,
            Rules::Sixth,
            Rules::Seventh,
            Rules::Eighth,
            Rules::Ninth,
            Rules::Tenth,
            Rules::Eleventh,
            Rules::Twelfth,
            Rules::Thirteenth,
            Rules::Now,
        ];
        animator.bench.keep_to(rules[usize::from(version) - 1]);
        animator.command(Command::Turntable(true));
        (0..60).for_each(|_| animator.step());
        animator.command(Command::SnapTurn(1));
        (0..3).for_each(|_| animator.step());
        animator.work();
        for _ in 0..3 {
            animator.command(Command::UndoNavigation);
            animator.step();
        }
        animator.work();
        let place = animator.bench.output().world_from_room;
        let hash = animator.finish();
        let mut bytes = std::fs::read(&path).unwrap();
        bytes[8] = version;
        std::fs::write(&path, bytes).unwrap();
        let replay = replayed(&path);
        assert_eq!(replay.bench().output().world_from_room, place, "version {version}");
        assert_eq!(replay.bench().session().document().hash(), hash, "version {version}");
    }
}

#[test]
fn a_take_replays_the_drag_of_a_curve_to_the_same_document() {
    use crate::asset::{Interpolation, Property};
    use crate::document::{Channel, KeyCurves, KeyEdit, Slot, Target};
    let folder = tempfile::tempdir().unwrap();
    let (mut animator, path) = Animator::new(folder.path());
    let node = animator.bench.posable()[1];
    let target = Target::node(node, Property::Rotation);
    let turns = [0.0, 0.6, 0.2].map(|a| Quat::from_rotation_z(a).to_array());
    let (interpolation, times) = (Interpolation::Linear, vec![0.0, 0.5, 1.0]);
    let channel = Channel { target: target.clone(), interpolation, times, values: turns.concat() };
    let keys = KeyEdit::Channels(vec![Slot { target: target.clone(), channel: Some(channel) }]);
    animator.command(Command::Change(Box::new(Edit::Keys(keys)), false));
    animator.command(Command::Scrub(0.5));
    let curves =
        |a: &Animator| KeyCurves::new(a.bench.session().document().motion().channel(&target).unwrap());
    let old = curves(&animator);
    let steps = animator.bench.session().history().0;
    // The panel of curves gives these commands: each value of a drag replaces the value before it.
    let skeleton = animator.bench.character().skeleton.clone();
    for k in 1..=5 {
        let document = animator.bench.session().document();
        let edit = old.set_value((document, &skeleton), 1, 2, old.value(1, 2) + 0.1 * f64::from(k));
        animator.command(Command::Change(Box::new(Edit::Keys(edit)), k > 1));
        animator.step();
    }
    assert_eq!(animator.bench.session().history().0, steps + 1);
    let dragged = curves(&animator);
    assert!((dragged.value(1, 2) - old.value(1, 2) - 0.5).abs() < 1e-5);
    // A drag of a handle, which Escape cancels: the document is the one before the drag.
    let before = animator.bench.session().document().hash();
    for k in 1..=3 {
        let edit = dragged.set_slope(1, 2, 0.4 * f64::from(k), [true, true]).unwrap();
        animator.command(Command::Change(Box::new(Edit::Keys(edit)), k > 1));
        animator.step();
    }
    assert_ne!(animator.bench.session().document().hash(), before);
    animator.command(Command::Jump(steps + 1));
    animator.step();
    assert_eq!(animator.bench.session().document().hash(), before);
    let hash = animator.finish();
    assert_eq!(hash, before);
    let replay = replayed(&path);
    assert_eq!(replay.bench().session().document().hash(), hash);
    assert_eq!(replay.bench().session().history(), (steps + 1, steps + 2));
}
