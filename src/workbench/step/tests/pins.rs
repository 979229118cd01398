//! Tests that pinned joints keep their pose while hands pull the body, near or far: on the built-in human and, if the
//! shared data is present, on other figures. Lengths are for a 1.9 m person and scale with the figure.

use super::*;
use crate::base::testing::shared;
use crate::base::{MarkId, NodeId};
use crate::bind::BindOptions;
use crate::document::{ClipLayer, Document, KeyEdit};
use crate::pose::carries_all;
use crate::rig::Pose;
use crate::scene::Model;
use crate::surface::{Form, Reach, Region, Sculpt, SurfacePoint, SurfaceStroke};
use std::path::Path;

/// The file of a figure, and the names of its pinned joints, its hand joint and its belly joint.
type Names = (&'static str, &'static [&'static str], &'static str, &'static str);

const HUMAN: Names = ("assets/human.glb", &["LeftFoot", "RightFoot"], "LeftHand", "Spine1");
/// Figures in the shared data. The fox has four pinned paws and is pulled by the snout.
const OTHERS: [Names; 5] = [
    ("derived/makehuman_male_8infl.glb", &["foot.L", "foot.R"], "wrist.L", "spine04"),
    ("characters/mannequiny.glb", &["foot.l", "foot.r"], "hand.l", "spine_01"),
    (
        "khronos/CesiumMan/glTF-Binary/CesiumMan.glb",
        &["leg_joint_L_3", "leg_joint_R_3"],
        "Skeleton_arm_joint_L__2_",
        "Skeleton_torso_joint_2",
    ),
    ("characters/quaternius/modular_men/Adventurer.glb", &["Foot.L", "Foot.R"], "Hand.L", "Abdomen"),
    (
        "khronos/Fox/glTF-Binary/Fox.glb",
        &["b_LeftHand_011", "b_RightHand_08", "b_LeftFoot02_018", "b_RightFoot02_022"],
        "b_Head_05",
        "b_Spine01_02",
    ),
];
const WAYS: [Vec3; 3] = [Vec3::new(0.0, 0.6, 0.0), Vec3::new(0.0, 0.0, 0.5), Vec3::new(0.0, -0.6, 0.0)];
/// Maximum drift of a pinned joint, metres.
const STAYS: f32 = 1e-3;
/// Maximum change of a bone's length, metres.
const KEEPS: f32 = 1e-4;
/// Maximum motion of a joint per frame, as a multiple of the hand's motion. Must exceed 1: the bend angle of a straight
/// knee grows with the square root of the hips' descent, so the knee can move faster than the hips.
const LIVELY: f32 = 8.0;

struct Figure {
    model: Model,
    pins: Vec<NodeId>,
    hand: NodeId,
    belly: NodeId,
    /// World metres of the figure per metre of a 1.9 m person.
    unit: f32,
}

impl Figure {
    fn load(path: &Path, (_, pins, hand, belly): Names) -> Self {
        let model = Model::load(path, &BindOptions::default()).unwrap();
        let find = |n: &str| model.skeleton().find(n).unwrap_or_else(|| panic!("{n} in {}", path.display()));
        let mut pins: Vec<NodeId> = pins.iter().map(|n| find(n)).collect();
        pins.sort_unstable();
        let unit = model.bound.character.control.aabb.size().max_element() / 1.9;
        Self { pins, hand: find(hand), belly: find(belly), unit, model }
    }

    fn human() -> Self {
        Self::load(&Path::new(env!("CARGO_MANIFEST_DIR")).join(HUMAN.0), HUMAN)
    }

    /// Creates a script with this figure, its pins, and both hands far away.
    fn script(&self, by: GrabBy) -> Script {
        let preferences = Preferences { grab: by, ..Preferences::default() };
        let session = self.model.start(None).unwrap();
        let bench = Workbench::new(session, self.model.bound.character.clone(), preferences);
        let input = Input { focused: true, ..Input::default() };
        let mut s = Script { bench, input, frames: Vec::new() };
        s.bench.change(Edit::SetPins(self.pins.clone()));
        assert_eq!(s.bench.session().document().pins(), self.pins, "{:?}", s.bench.notice());
        (0..2).for_each(|hand| s.at(hand, Vec3::splat(5000.0)));
        s.step();
        s
    }

    /// A grab position inside the soft tissue of a joint's bone.
    fn place(&self, s: &Script, node: NodeId) -> Vec3 {
        let joint = self.model.skeleton().nodes[node.index()].joint.unwrap();
        let bone = self.model.skeleton().bones_of(joint).next().unwrap();
        let bone = s.bench.rig().bones[bone.index()];
        bone.head.lerp(bone.tail, 0.5)
    }

    /// Squeezes with a hand at a joint's bone. Returns the position.
    fn hold(&self, s: &mut Script, hand: usize, node: NodeId) -> Vec3 {
        let at = self.place(s, node);
        s.at(hand, at);
        s.step();
        s.input.hands[hand].grab = 1.0;
        s.step();
        assert!(s.bench.is_busy(), "{:?}", s.bench.notice());
        at
    }

    /// Creates a script that plays a clip, shows a time in seconds, and records grabs.
    fn records_over(&self, by: GrabBy, clip: usize, time: f64) -> Script {
        let mut s = self.script(by);
        s.bench.change(Edit::Keys(KeyEdit::Clips(vec![ClipLayer::new(clip, self.model.skeleton())])));
        s.bench.run_command(Command::Record(true));
        s.bench.run_command(Command::Scrub(time));
        s.step();
        s
    }

    /// The place of a joint in the motion of a document at a time in seconds.
    fn place_at(&self, document: &Document, node: NodeId, time: f64) -> Vec3 {
        let skeleton = self.model.skeleton();
        document.state(skeleton, Some(time)).pose.world(skeleton)[node.index()].translation.into()
    }

    fn joint(&self, s: &Script, name: &str) -> Vec3 {
        s.joint(self.model.skeleton().find(name).unwrap().index())
    }
}

/// Initial state of a figure at the start of a grab.
struct Stand<'a> {
    figure: &'a Figure,
    pose: Pose,
    places: Vec<Vec3>,
    pins: Vec<(NodeId, Vec3, Quat)>,
}

impl<'a> Stand<'a> {
    fn new(figure: &'a Figure, s: &Script) -> Self {
        let pin = |n: &NodeId| {
            let (_, turn, at) = s.bench.rig().world[n.index()].to_scale_rotation_translation();
            (*n, at, turn)
        };
        let places = places(s);
        Self { figure, pose: s.bench.pose().clone(), places, pins: figure.pins.iter().map(pin).collect() }
    }

    /// Checks pins, the joints that hang on them, bone lengths and continuity with the positions `last`, for a hand
    /// motion of `step`.
    fn check(&self, s: &Script, last: &mut Vec<Vec3>, step: f32, what: &str) {
        let unit = self.figure.unit;
        for (node, at, turn) in &self.pins {
            let (_, now, there) = s.bench.rig().world[node.index()].to_scale_rotation_translation();
            assert!(
                at.distance(there) < STAYS * unit,
                "{what}: a pin is off by {}",
                at.distance(there) / unit
            );
            let apart = now * turn.inverse();
            let apart = 2.0 * Vec3::new(apart.x, apart.y, apart.z).length();
            assert!(apart < STAYS, "{what}: a pin has turned by {apart}");
        }
        let (now, skeleton) = (places(s), self.figure.model.skeleton());
        for &node in &skeleton.order {
            let mut line = std::iter::successors(skeleton.nodes[node.index()].parent, |p| {
                skeleton.nodes[p.index()].parent
            });
            if line.any(|n| self.figure.pins.contains(&n)) {
                let local = |pose: &Pose| pose.local[node.index()];
                let name = &skeleton.nodes[node.index()].name;
                assert_eq!(
                    local(s.bench.pose()),
                    local(&self.pose),
                    "{what}: {name} hangs on a pinned joint"
                );
            }
        }
        for joint in skeleton.joints.iter().filter(|j| !carries_all(skeleton, j.node)) {
            let Some(parent) = joint.parent.map(|p| skeleton.joints[p.index()].node) else { continue };
            let length = |p: &[Vec3]| p[joint.node.index()].distance(p[parent.index()]);
            assert!(
                (length(&now) - length(&self.places)).abs() < KEEPS * unit,
                "{what}: a bone has stretched"
            );
        }
        let jump = far(last, &now);
        assert!(jump <= LIVELY * step + KEEPS * unit, "{what}: {} at a step of {}", jump / unit, step / unit);
        *last = now;
    }

    /// Moves a hand along `way` and back, and checks that the pose returns.
    fn trip(&self, s: &mut Script, hand: usize, from: Vec3, way: Vec3, frames: usize, what: &str) {
        let (mut last, step) = (places(s), way.length() * self.figure.unit / frames as f32);
        for k in 1..=frames {
            s.at(hand, from + way * self.figure.unit * (k as f32 / frames as f32));
            s.step();
            self.check(s, &mut last, step, &format!("{what}, frame {k}"));
        }
        for (k, share) in [0.6, 0.2, 1e-5, 0.0].into_iter().enumerate() {
            s.at(hand, from + way * self.figure.unit * share);
            s.step();
            self.check(s, &mut last, step * frames as f32, &format!("{what}, back {k}"));
        }
        assert!(far(&last, &self.places) < STAYS * self.figure.unit, "{what}: it has not come back");
        let close = |a: &[f32], b: &[f32]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-3);
        for (a, b) in s.bench.pose().local.iter().zip(&self.pose.local) {
            assert!(close(&a.rotation, &b.rotation), "{what}: a joint has not turned back");
        }
    }
}

fn places(s: &Script) -> Vec<Vec3> {
    s.bench.rig().world.iter().map(|w| w.translation.into()).collect()
}

fn far(a: &[Vec3], b: &[Vec3]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max)
}

#[test]
fn pinned_feet_stay_while_a_hand_goes_up_forwards_and_down() {
    let human = Figure::human();
    for way in WAYS {
        let mut s = human.script(Preferences::default().grab);
        let stand = Stand::new(&human, &s);
        let at = human.hold(&mut s, RIGHT, human.hand);
        stand.trip(&mut s, RIGHT, at, way, 20, &format!("{way}"));
    }
}

#[test]
fn pinned_feet_of_other_figures_stay_and_so_do_four_paws() {
    for names in OTHERS {
        let Some(path) = shared(names.0) else { continue };
        let figure = Figure::load(&path, names);
        for way in WAYS {
            let mut s = figure.script(GrabBy::Body);
            let stand = Stand::new(&figure, &s);
            let at = figure.hold(&mut s, RIGHT, figure.hand);
            stand.trip(&mut s, RIGHT, at, way, 8, &format!("{} {way}", names.0));
        }
    }
}

#[test]
fn pins_hold_whatever_a_grab_moves() {
    let mut human = Figure::human();
    let find = |n: &str| human.model.skeleton().find(n).unwrap();
    let (hips, chest, shin) = (find("Hips"), find("Chest"), find("LeftLowerLeg"));
    human.pins.push(find("RightHand"));
    human.pins.sort_unstable();
    for by in GrabBy::ALL {
        for node in [hips, chest, shin, human.hand] {
            for way in [Vec3::new(0.1, 0.5, 0.0), Vec3::new(0.9, -0.1, 0.5)] {
                let mut s = human.script(by);
                let stand = Stand::new(&human, &s);
                let at = human.hold(&mut s, RIGHT, node);
                let mut last = places(&s);
                for k in 1..=5 {
                    s.at(RIGHT, at + way * human.unit * (k as f32 / 5.0));
                    s.step();
                    // The factor 1e3 disables the check of the motion per frame.
                    stand.check(&s, &mut last, 1e3, &format!("{by:?} {node:?} {way} {k}"));
                }
            }
        }
    }
}

#[test]
fn a_belly_that_is_pulled_down_bends_the_knees_and_does_not_fold_the_spine() {
    let human = Figure::human();
    for way in [Vec3::new(0.0, -0.3, 0.0), Vec3::new(0.0, -0.15, 0.25)] {
        let mut s = human.script(GrabBy::Body);
        let stand = Stand::new(&human, &s);
        let (hips, neck) = (human.joint(&s, "Hips"), human.joint(&s, "Neck"));
        let at = human.hold(&mut s, RIGHT, human.belly);
        let mut last = places(&s);
        for k in 1..=15 {
            s.at(RIGHT, at + way * human.unit * (k as f32 / 15.0));
            s.step();
            stand.check(&s, &mut last, way.length() * human.unit / 15.0, &format!("{way} {k}"));
            let spine = ["Hips", "Spine", "Spine1", "Spine2", "Chest", "Neck"].map(|n| human.joint(&s, n));
            for three in spine.windows(3) {
                let angle = (three[1] - three[0]).angle_between(three[2] - three[1]).to_degrees();
                assert!(angle < 45.0, "{way} {k}: the spine is folded by {angle} degrees");
            }
        }
        let came = human.joint(&s, "Hips") - hips;
        assert!(came.distance(way * human.unit) < 0.1 * human.unit, "the hips came along by {came}");
        assert!((human.joint(&s, "Neck") - neck).distance(way * human.unit) < 0.15 * human.unit);
        for side in ["Left", "Right"] {
            let [hip, knee, foot] =
                ["UpperLeg", "LowerLeg", "Foot"].map(|n| human.joint(&s, &format!("{side}{n}")));
            let bent = (knee - hip).angle_between(foot - knee).to_degrees();
            assert!(bent > 25.0 && knee.z > hip.lerp(foot, 0.5).z + 0.05, "{side}: {bent} degrees");
        }
    }
}

#[test]
fn goals_far_out_of_reach_are_missed_in_sight_by_both_hands_over_a_clip_and_a_sculpt() {
    let human = Figure::human();
    let mut s = human.script(GrabBy::Body);
    let skeleton = human.model.skeleton();
    s.bench
        .change(Edit::Keys(KeyEdit::Clips(vec![ClipLayer { weight: 0.5, ..ClipLayer::new(0, skeleton) }])));
    let point = |k: u32| SurfacePoint {
        triangle: 2000 + k,
        barycentrics: [0.4, 0.3, 0.3],
        pressure: 1.0,
        time: f64::from(k),
        lifted: false,
    };
    let points = (0..3).map(point).collect();
    let id = MarkId(0);
    let mark = SurfaceStroke { id, name: "m".into(), points, closed: false, radius: 0.05 };
    let region = Region::from_mark(&human.model.bound.character, &mark, Reach::Edges(4)).unwrap();
    let form = Form::Drawn(vec![[0.0, 0.0, 0.01]; region.kinematic.len()]);
    let sculpt = Box::new(Sculpt::new(SculptId(0), None, region, form));
    s.bench.change(Edit::AddSculpt { index: None, sculpt });
    assert!(s.bench.notice().is_none(), "{:?}", s.bench.notice());
    s.bench.run_command(Command::Play(true));
    (0..20).for_each(|_| _ = s.step());
    s.bench.run_command(Command::Play(false));
    s.step();
    let other = skeleton.find("RightHand").unwrap();
    let a = human.hold(&mut s, 0, human.hand);
    let b = human.hold(&mut s, RIGHT, other);
    let stand = Stand::new(&human, &s);
    let leash = u32::from_le_bytes([255, 200, 0, 230]);
    let leashes = |s: &Script| {
        s.bench.output().lines.segments.iter().filter(|l| l.color_a == leash && l.a != l.b).count()
    };
    assert_eq!(leashes(&s), 0);
    let (mut last, mut t) = (places(&s), 0.0_f32);
    // The steps are small where the arms become straight and again far out of reach, and large in between.
    for step in [[0.01; 12], [0.06; 12], [0.01; 12], [0.25; 12], [0.01; 12]].as_flattened() {
        t += step;
        s.at(0, a + Vec3::new(0.8, 0.4, 0.3) * t * human.unit);
        s.at(RIGHT, b + Vec3::new(-0.3, 0.2, 0.9) * t * human.unit);
        s.step();
        // Each hand moves by about one step.
        stand.check(&s, &mut last, 2.0 * step * human.unit, &format!("at {t} m"));
    }
    assert!(t > 3.0 && leashes(&s) == 2, "{} lines to where the hands are", leashes(&s));
    s.at(0, a);
    s.at(RIGHT, b);
    s.step();
    assert!(far(&places(&s), &stand.places) < STAYS * human.unit);
    assert_eq!(leashes(&s), 0);
}

#[test]
fn a_pinned_joint_in_the_hand_turns_and_stays() {
    let mut human = Figure::human();
    human.pins.push(human.hand);
    human.pins.sort_unstable();
    for by in GrabBy::ALL {
        let mut s = human.script(by);
        let before = s.joint(human.hand.index());
        let at = human.hold(&mut s, RIGHT, human.hand);
        s.turned(RIGHT, at + Vec3::new(0.1, 0.3, 0.1), Quat::from_rotation_x(0.5));
        s.step();
        let moved = s.joint(human.hand.index()).distance(before);
        assert!(moved < STAYS * human.unit, "{by:?}: {moved}");
    }
}

#[test]
fn what_follows_a_grab_is_the_body_and_stays_the_limb_for_older_preferences() {
    assert_eq!(Preferences::default().grab, GrabBy::Body);
    let mut older = serde_json::to_value(Preferences::default()).unwrap();
    let read = |v: &serde_json::Value| serde_json::from_value::<Preferences>(v.clone()).unwrap().grab;
    assert_eq!(read(&older), GrabBy::Body);
    older["grab"] = "limb".into();
    assert_eq!(read(&older), GrabBy::Limb);
    // Files without the field are older than the choice of grab modes.
    older.as_object_mut().unwrap().remove("grab");
    assert_eq!(read(&older), GrabBy::Limb);
}

#[test]
fn an_arm_is_recorded_while_a_clip_waves_the_other() {
    let figure = Figure::human();
    let skeleton = figure.model.skeleton();
    let [waving, other] = ["RightHand", "LeftHand"].map(|name| skeleton.find(name).unwrap());
    let clip = skeleton.clips.iter().position(|c| c.name == "Wave").unwrap();
    for by in [GrabBy::Limb, GrabBy::Body] {
        let mut s = figure.records_over(by, clip, 0.5);
        let played = s.bench.session().document().clone();
        let at = |document: &Document, node, time| figure.place_at(document, node, time);
        // The hand that the clip leaves at rest is pulled.
        let way = |node| {
            let far = |i: i32| at(&played, node, 0.05 * f64::from(i)).distance(at(&played, node, 0.0));
            (1..20).map(far).fold(0.0, f32::max)
        };
        let (pulled, plays) = if way(waving) > way(other) { (other, waving) } else { (waving, other) };
        assert!(way(plays) > 0.05, "the clip moves a hand by {}", way(plays));
        let feet: Vec<Vec3> = figure.pins.iter().map(|pin| s.joint(pin.index())).collect();
        let from = figure.hold(&mut s, RIGHT, pulled);
        let mut places = Vec::new();
        for i in 0..60 {
            s.at(RIGHT, from + Vec3::new(0.0, 0.003, 0.002) * i as f32);
            s.step();
            let time = s.bench.timeline().playhead.time;
            if by == GrabBy::Limb {
                let far = s.joint(plays.index()).distance(at(&played, plays, time));
                assert!(far < 1e-4, "the hand of the clip is {far} m off at {time}");
            }
            for (pin, foot) in figure.pins.iter().zip(&feet) {
                let far = s.joint(pin.index()).distance(*foot);
                assert!(far < 1e-3, "{by:?}: a pinned foot is {far} m off at {time}");
            }
            places.push((time, s.joint(pulled.index()), s.joint(plays.index())));
        }
        s.input.hands[RIGHT].grab = 0.0;
        s.step();
        let document = s.bench.session().document();
        for (time, hand, clip) in &places[1..] {
            let far =
                [at(document, pulled, *time).distance(*hand), at(document, plays, *time).distance(*clip)];
            assert!(far.iter().all(|far| *far < 0.015), "{by:?}: {far:?} m off at {time}");
        }
        let (first, last) = (places[1].1, places[59].1);
        assert!(last.distance(first) > 0.1, "{by:?}: the hand is pulled by {}", last.distance(first));
    }
}

#[test]
fn a_limb_is_recorded_on_the_walks_of_other_figures() {
    // File, clip, joint to pull, and a joint that only the clip moves.
    const WALKS: [(&str, &str, &str, &str); 3] = [
        ("khronos/CesiumMan/glTF-Binary/CesiumMan.glb", "", "Skeleton_arm_joint_L__2_", "leg_joint_R_5"),
        ("khronos/Fox/glTF-Binary/Fox.glb", "Walk", "b_RightHand_08", "b_LeftFoot02_018"),
        ("characters/mannequiny.glb", "run_root.001", "hand.r", "foot.l"),
    ];
    let Some(folder) = shared("") else { return };
    for (file, clip, pulled, free) in WALKS {
        let figure = Figure::load(&folder.join(file), (file, &[], pulled, free));
        let (skeleton, [pulled, free]) = (figure.model.skeleton(), [figure.hand, figure.belly]);
        let clip = skeleton.clips.iter().position(|c| clip.is_empty() || c.name == clip).unwrap();
        let mut s = figure.records_over(GrabBy::Limb, clip, 0.1);
        let played = s.bench.session().document().clone();
        let at = |document: &Document, node, time| figure.place_at(document, node, time);
        let from = figure.hold(&mut s, RIGHT, pulled);
        let by = Vec3::new(0.0, 0.002, 0.001) * figure.unit;
        let mut places = Vec::new();
        let mut last = s.joint(pulled.index());
        for i in 0..45 {
            s.at(RIGHT, from + by * i as f32);
            s.step();
            let (time, now) = (s.bench.timeline().playhead.time, s.joint(pulled.index()));
            let far = s.joint(free.index()).distance(at(&played, free, time)) / figure.unit;
            assert!(far < 1e-4, "{file}: a joint of the clip is {far} off at {time}");
            assert!(now.distance(last) < 0.05 * figure.unit, "{file}: the limb jumps at {time}");
            last = now;
            places.push((time, now, s.joint(free.index())));
        }
        s.input.hands[RIGHT].grab = 0.0;
        s.step();
        let document = s.bench.session().document();
        let walks = places.iter().map(|p| p.2.distance(places[0].2)).fold(0.0, f32::max);
        assert!(walks > 0.05 * figure.unit, "{file}: the clip moves its joint by {walks}");
        for (time, limb, clip) in &places[1..] {
            let far = [(pulled, limb), (free, clip)]
                .map(|(node, wanted)| at(document, node, *time).distance(*wanted) / figure.unit);
            assert!(far.iter().all(|far| *far < 0.02), "{file}: {far:?} off at {time}");
        }
        let pulled_by = places[44].1.distance(at(&played, pulled, places[44].0)) / figure.unit;
        assert!(pulled_by > 0.02, "{file}: the hand pulls the limb by {pulled_by}");
        s.bench.run_command(Command::Undo);
        s.step();
        assert_eq!(s.bench.session().document().motion(), played.motion(), "{file}");
    }
}

#[test]
fn a_tap_of_the_body_by_a_trembling_hand_leaves_no_trace() {
    for (rules, by, shift, kept) in [
        (Rules::Now, GrabBy::Limb, 3e-4, false),
        (Rules::Now, GrabBy::Body, 3e-4, false),
        (Rules::Now, GrabBy::Limb, 3e-3, true),
        (Rules::Twelfth, GrabBy::Limb, 3e-4, true),
    ] {
        let mut s = Script::biped();
        s.bench.keep_to(rules);
        s.bench.run_command(Command::GrabBy(by));
        s.bench.run_command(Command::Tool(Tool::Grab));
        let before = (s.hash(), s.bench.session().history(), s.bench.pose().clone());
        let hand = s.joint(HAND);
        s.at(RIGHT, hand);
        s.step();
        s.input.hands[RIGHT].grab = 1.0;
        for k in 0..6 {
            s.at(RIGHT, hand + Vec3::new(-1.0, 1.0, 0.0) * shift * (k % 3) as f32 / 3.0);
            s.step();
        }
        s.input.hands[RIGHT].grab = 0.0;
        s.step();
        let after = (s.hash(), s.bench.session().history(), s.bench.pose().clone());
        assert_eq!(after != before, kept, "{rules:?}, {by:?}, {shift} m");
    }
}

#[test]
fn a_joint_above_all_skin_moves_the_whole_body() {
    let Some(folder) = shared("") else { return };
    let fox = "khronos/Fox/glTF-Binary/Fox.glb";
    let figure = Figure::load(&folder.join(fox), (fox, &[], "b_Head_05", "_rootJoint"));
    let mut s = figure.script(GrabBy::Body);
    let [head, root] = [figure.hand.index(), figure.belly.index()];
    let before = [s.joint(head), s.joint(root)];
    s.at(RIGHT, before[1]);
    s.step();
    s.input.hands[RIGHT].grab = 1.0;
    s.step();
    assert!(s.bench.is_busy());
    let by = Vec3::new(0.3, 0.2, -0.1) * figure.unit;
    for k in 1..=10 {
        s.at(RIGHT, before[1] + by * (k as f32 / 10.0));
        s.step();
    }
    for (joint, at) in [head, root].into_iter().zip(before) {
        assert!(s.joint(joint).distance(at + by) < 1e-3 * figure.unit, "{joint}: {}", s.joint(joint) - at);
    }
}
