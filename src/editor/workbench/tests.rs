//! Scripted hands on a small biped and on a capsule, without GPU, files or clock.

use super::*;
use crate::asset::Influences;
use crate::base::math::{DVec3, Quat};
use crate::bind::shapes::capsule;
use crate::edit::{AssetRef, Lengths, Stroke, StrokeLayer};
use crate::editor::{SurfaceSample, Tracked};
use proptest::prelude::*;

const HIPS: usize = 0;
const ARM: usize = 4;
const ELBOW: usize = 5;
const HAND: usize = 6;
const OTHER_HAND: usize = 9;
const FOOT: usize = 12;
const RIGHT: usize = 1;
const DT: f64 = 1.0 / 90.0;

/// Hips, chest, neck, head; arms along x at a height of 1.5 m; legs. A small octahedron about each joint.
fn biped() -> Arc<Character> {
    let joints: Vec<(Vec3, Option<usize>)> = [
        (0.0, 1.0, None),
        (0.0, 1.4, Some(0)),
        (0.0, 1.6, Some(1)),
        (0.0, 1.75, Some(2)),
        (0.2, 1.5, Some(1)),
        (0.5, 1.5, Some(4)),
        (0.75, 1.5, Some(5)),
        (-0.2, 1.5, Some(1)),
        (-0.5, 1.5, Some(7)),
        (-0.75, 1.5, Some(8)),
        (0.1, 0.95, Some(0)),
        (0.1, 0.5, Some(10)),
        (0.1, 0.05, Some(11)),
        (-0.1, 0.95, Some(0)),
        (-0.1, 0.5, Some(13)),
        (-0.1, 0.05, Some(14)),
    ]
    .map(|(x, y, parent)| (Vec3::new(x, y, 0.0), parent))
    .to_vec();
    let (mut positions, mut triangles, mut influences) = (Vec::new(), Vec::new(), Influences::default());
    for (j, (at, _)) in joints.iter().enumerate() {
        let first = positions.len() as u32;
        for axis in [Vec3::X, Vec3::Y, Vec3::Z] {
            positions.extend([*at + axis * 0.03, *at - axis * 0.03]);
        }
        (0..6).for_each(|_| influences.push([(j as u16, 1.0)]));
        for (x, y, z) in
            [(0, 2, 4), (2, 1, 4), (1, 3, 4), (3, 0, 4), (2, 0, 5), (1, 2, 5), (3, 1, 5), (0, 3, 5)]
        {
            triangles.push([first + x, first + y, first + z]);
        }
    }
    Arc::new(Character::from_parts(positions, triangles, &joints, influences).unwrap())
}

fn session(character: &Arc<Character>) -> Session<'static> {
    let skeleton = Arc::new(character.skeleton.clone());
    let mut session = Session::new(Box::new(move |_| Ok(skeleton.clone())));
    session
        .apply(Edit::Open { asset: AssetRef { path: "biped.glb".into(), hash: "00".repeat(32) } })
        .unwrap();
    session
}

/// A workbench and the hands that work at it. Without a tracked head the room is the world.
struct Script {
    bench: Workbench,
    input: Input,
    frames: Vec<Input>,
}

impl Script {
    fn new(character: &Arc<Character>) -> Self {
        let bench = Workbench::new(session(character), character.clone(), Preferences::default());
        Self { bench, input: Input { focused: true, ..Input::default() }, frames: Vec::new() }
    }

    fn biped() -> Self {
        Self::new(&biped())
    }

    fn step(&mut self) -> &Output {
        self.input.time += DT;
        self.frames.push(self.input.clone());
        self.bench.step(&self.input)
    }

    /// Puts a hand's tip and palm at a place of the room.
    fn at(&mut self, hand: usize, place: Vec3) {
        self.turned(hand, place, Quat::IDENTITY);
    }

    fn turned(&mut self, hand: usize, place: Vec3, orientation: Quat) {
        let pose = |position| Tracked { pose: Rigid { position, orientation }, tracking: Tracking::Tracked };
        self.input.hands[hand].aim = pose(place + orientation * Vec3::Z * super::super::tools::TIP);
        self.input.hands[hand].grip = pose(place);
    }

    /// Draws through places with the trigger held.
    fn draw(&mut self, hand: usize, places: &[Vec3]) {
        self.at(hand, places[0]);
        self.step();
        self.input.hands[hand].draw = 1.0;
        for place in places {
            self.at(hand, *place);
            self.step();
        }
        self.input.hands[hand].draw = 0.0;
        self.step();
    }

    /// Squeezes at a place, goes through others, lets go.
    fn pull(&mut self, hand: usize, places: &[Vec3]) {
        self.at(hand, places[0]);
        self.step();
        self.input.hands[hand].grab = 1.0;
        for place in places {
            self.at(hand, *place);
            self.step();
        }
        self.input.hands[hand].grab = 0.0;
        self.step();
    }

    fn strokes(&self) -> &[StrokeLayer] {
        self.bench.session().document().strokes()
    }

    fn joint(&self, node: usize) -> Vec3 {
        self.bench.rig().world[node].translation.into()
    }

    fn hash(&self) -> String {
        self.bench.session().document().hash()
    }
}

fn line(a: Vec3, b: Vec3, count: usize) -> Vec<Vec3> {
    (0..count).map(|i| a.lerp(b, i as f32 / (count - 1) as f32)).collect()
}

/// Along the left arm from the shoulder, and the same raised by an angle.
fn arm(angle: f32) -> Vec<Vec3> {
    let shoulder = Vec3::new(0.2, 1.5, 0.0);
    line(Vec3::ZERO, Vec3::X * 0.55, 30)
        .into_iter()
        .map(|p| shoulder + Quat::from_rotation_z(angle) * p)
        .collect()
}

#[test]
fn a_baseline_and_an_offset_pose_the_arm_and_undo_brings_it_back() {
    let mut s = Script::biped();
    let start = s.hash();
    s.draw(RIGHT, &arm(0.0));
    assert_eq!(
        s.strokes()[0].selection.iter().map(|s| s.node.index()).collect::<Vec<_>>(),
        [ARM, ELBOW, HAND]
    );
    assert!(s.joint(HAND).distance(Vec3::new(0.75, 1.5, 0.0)) < 1e-5, "a baseline poses nothing");
    // The arm follows while the offset stroke is drawn.
    let raised = arm(0.8);
    s.at(RIGHT, raised[0]);
    s.step();
    s.input.hands[RIGHT].draw = 1.0;
    for place in &raised[..20] {
        s.at(RIGHT, *place);
        s.step();
    }
    assert!(s.joint(ELBOW).y > 1.6 && s.strokes()[0].offset.is_none());
    for place in &raised[20..] {
        s.at(RIGHT, *place);
        s.step();
    }
    s.input.hands[RIGHT].draw = 0.0;
    s.step();
    let there = raised[29];
    assert!(s.joint(HAND).distance(there) < 0.02, "{} is not at {there}", s.joint(HAND));
    let posed = s.hash();
    for (button, hash) in [(0, None), (0, Some(&start)), (1, None), (1, Some(&posed))] {
        let hand = &mut s.input.hands[0];
        (hand.undo, hand.redo) = (button == 0, button == 1);
        s.step();
        s.input.hands[0].undo = false;
        s.input.hands[0].redo = false;
        s.step();
        assert!(hash.is_none_or(|h| *h == s.hash()));
    }
    // The offset again, by command, as often as one likes.
    for angle in [-0.6, 0.3] {
        s.bench.run_command(Command::RedrawOffset);
        s.draw(RIGHT, &arm(angle));
        assert_eq!(s.strokes().len(), 1);
        assert!(s.joint(HAND).distance(arm(angle)[29]) < 0.02);
    }
}

#[test]
fn the_same_input_gives_the_same_document_every_time() {
    let mut s = Script::biped();
    s.draw(RIGHT, &arm(0.0));
    s.draw(RIGHT, &arm(0.7));
    s.pull(0, &line(Vec3::new(-0.77, 1.5, 0.0), Vec3::new(-0.6, 1.7, 0.2), 12));
    s.pull(0, &line(Vec3::new(0.0, 0.3, 1.0), Vec3::new(0.4, 0.1, 0.9), 5));
    let hash = s.hash();
    let character = biped();
    for _ in 0..3 {
        let mut bench = Workbench::new(session(&character), character.clone(), Preferences::default());
        s.frames.iter().for_each(|f| {
            bench.step(f);
        });
        assert_eq!(bench.session().document().hash(), hash);
    }
}

#[test]
fn only_tracked_samples_enter_a_stroke() {
    let mut s = Script::biped();
    let path = arm(0.0);
    s.at(RIGHT, path[0]);
    s.step();
    s.input.hands[RIGHT].draw = 1.0;
    let far = Vec3::new(9.0, 9.0, 9.0);
    for (i, place) in path.iter().enumerate() {
        s.at(RIGHT, *place);
        match i % 5 {
            2 => {
                s.at(RIGHT, far);
                s.input.hands[RIGHT].aim.tracking = Tracking::Inferred;
            }
            3 => {
                s.at(RIGHT, far);
                s.input.hands[RIGHT].aim.tracking = Tracking::Lost;
            }
            4 if i < 29 => s.input.hands[RIGHT].aim.pose.position.x = f32::NAN,
            _ => {}
        }
        s.step();
    }
    s.input.hands[RIGHT].draw = 0.0;
    s.step();
    let baseline = &s.strokes()[0].baseline;
    for knot in baseline.knots() {
        assert!((knot.position[1] - 1.5).abs() < 1e-5 && (0.19..0.76).contains(&knot.position[0]));
    }
    assert!(baseline.length() > 0.5);
}

#[test]
fn undo_while_drawing_drops_that_stroke_only_and_so_does_a_lost_runtime() {
    let mut s = Script::biped();
    s.draw(RIGHT, &arm(0.0));
    s.draw(RIGHT, &arm(0.5));
    let before = s.hash();
    for by_button in [true, false] {
        s.bench.run_command(Command::RedrawOffset);
        s.input.hands[RIGHT].draw = 1.0;
        for place in &arm(-0.9)[..25] {
            s.at(RIGHT, *place);
            s.step();
        }
        assert!(s.joint(HAND).y < 1.4);
        if by_button {
            s.input.hands[0].undo = true;
            s.step();
            s.input.hands[0].undo = false;
        } else {
            s.bench.interrupt();
        }
        s.step();
        assert_eq!(s.hash(), before);
        assert!(s.joint(HAND).distance(arm(0.5)[29]) < 0.02, "the shown pose went back too");
        s.input.hands[RIGHT].draw = 0.0;
        s.step();
        assert_eq!(s.hash(), before);
    }
}

#[test]
fn a_knot_is_dragged_in_one_step_and_the_arm_follows() {
    let mut s = Script::biped();
    s.draw(RIGHT, &arm(0.0));
    s.draw(RIGHT, &arm(0.0));
    let before = s.hash();
    let steps = s.bench.session().history().0;
    let knots = s.strokes()[0].offset.as_ref().unwrap().knots().to_vec();
    let end = Vec3::from(knots[knots.len() - 1].position);
    s.at(RIGHT, end + Vec3::Z * 0.01);
    let feel = s.step().haptics[RIGHT];
    assert_eq!(feel, Some(Haptic::Hover));
    s.draw(RIGHT, &line(end + Vec3::Z * 0.01, end + Vec3::new(-0.1, 0.3, 0.01), 20));
    assert_eq!(s.bench.session().history().0, steps + 1);
    let moved = s.strokes()[0].offset.as_ref().unwrap().knots().last().unwrap().position;
    assert!(Vec3::from(moved).distance(end + Vec3::new(-0.1, 0.3, 0.0)) < 1e-4);
    assert!(s.joint(HAND).y > 1.6);
    s.bench.run_command(Command::Undo);
    assert_eq!(s.hash(), before);
}

#[test]
fn a_panel_takes_the_trigger() {
    let mut s = Script::biped();
    s.input.hands[RIGHT].on_panel = true;
    s.draw(RIGHT, &arm(0.0));
    assert!(s.strokes().is_empty());
    // Neither does moving off it while the trigger is held begin a stroke.
    s.input.hands[RIGHT].draw = 1.0;
    s.step();
    s.input.hands[RIGHT].on_panel = false;
    for place in arm(0.0) {
        s.at(RIGHT, place);
        s.step();
    }
    s.input.hands[RIGHT].draw = 0.0;
    s.step();
    assert!(s.strokes().is_empty());
    s.input.focused = false;
    s.draw(RIGHT, &arm(0.0));
    assert!(s.strokes().is_empty());
}

#[test]
fn either_hand_draws_by_preference_or_because_the_other_is_not_there() {
    let mut s = Script::biped();
    s.bench.run_command(Command::LeftHanded(true));
    s.draw(RIGHT, &arm(0.0));
    assert!(s.strokes().is_empty());
    s.draw(0, &arm(0.0));
    assert_eq!(s.strokes().len(), 1);
    let mut s = Script::biped();
    (0..200).for_each(|_| {
        s.at(0, Vec3::new(0.0, 1.0, 0.5));
        s.step();
    });
    assert_eq!(s.bench.tool_hand(), 0, "the only controller has the tools");
    s.draw(0, &arm(0.0));
    assert_eq!(s.strokes().len(), 1);
}

#[test]
fn a_stroke_stays_with_its_hand_while_that_is_lost() {
    let mut s = Script::biped();
    let path = arm(0.0);
    s.at(0, Vec3::new(-0.5, 0.8, 0.6));
    s.at(RIGHT, path[0]);
    s.step();
    s.input.hands[RIGHT].draw = 1.0;
    for place in &path[..15] {
        s.at(RIGHT, *place);
        s.step();
    }
    s.input.hands[RIGHT].aim.tracking = Tracking::Lost;
    s.input.hands[RIGHT].grip.tracking = Tracking::Lost;
    (0..400).for_each(|_| {
        s.step();
    });
    assert_eq!(s.bench.tool_hand(), RIGHT, "the other hand does not take a stroke over");
    for place in &path[15..] {
        s.at(RIGHT, *place);
        s.step();
    }
    s.input.hands[RIGHT].draw = 0.0;
    s.step();
    assert_eq!(s.strokes()[0].selection.len(), 3);
    assert!(s.strokes()[0].baseline.knots().iter().all(|k| (k.position[1] - 1.5).abs() < 1e-5));
}

#[test]
fn squeezing_the_body_moves_it_in_one_step_and_away_from_it_the_world() {
    let mut s = Script::biped();
    let start = s.hash();
    let held = Vec3::new(0.77, 1.5, 0.0);
    let goal = Vec3::new(0.55, 1.65, 0.2);
    s.pull(0, &line(held, goal, 20));
    assert!((s.joint(HAND) + Vec3::X * 0.02).distance(goal) < 1e-3, "{}", s.joint(HAND));
    assert_eq!(s.bench.session().history().0, 2);
    assert_eq!(s.bench.output().world_from_room, crate::editor::Similarity::default());
    s.bench.run_command(Command::Undo);
    assert_eq!(s.hash(), start);
    assert!(s.joint(HAND).distance(Vec3::new(0.75, 1.5, 0.0)) < 1e-5);
    // Half a metre before the body there is only the world.
    s.pull(0, &line(Vec3::new(0.3, 1.2, 0.6), Vec3::new(0.1, 1.2, 0.6), 10));
    assert_eq!(s.hash(), start);
    let shift = s.bench.output().world_from_room.translation;
    assert!(shift.distance(Vec3::X * 0.2) < 1e-4, "{shift}");
    s.bench.run_command(Command::UndoNavigation);
    s.step();
    assert_eq!(s.bench.output().world_from_room.translation, Vec3::ZERO);
}

#[test]
fn a_grab_stays_on_top_of_a_stroke_that_is_drawn_again() {
    let mut s = Script::biped();
    s.draw(RIGHT, &arm(0.0));
    s.draw(RIGHT, &arm(0.6));
    let other = Vec3::new(-0.77, 1.5, 0.0);
    s.pull(0, &line(other, other + Vec3::new(0.1, 0.2, 0.2), 12));
    let raised = s.joint(OTHER_HAND);
    assert!(raised.y > 1.6);
    s.bench.run_command(Command::RedrawOffset);
    s.draw(RIGHT, &arm(-0.4));
    assert!(s.joint(HAND).distance(arm(-0.4)[29]) < 0.02);
    assert!(s.joint(OTHER_HAND).distance(raised) < 1e-4);
    // Even when the stroke is removed what the hand did stays.
    s.bench.run_command(Command::RemoveStroke);
    assert!(s.strokes().is_empty() && s.joint(OTHER_HAND).distance(raised) < 1e-4);
    assert!(s.joint(HAND).distance(Vec3::new(0.75, 1.5, 0.0)) < 1e-4);
}

#[test]
fn both_hands_at_once_and_pins() {
    let mut s = Script::biped();
    let (a, b) = (Vec3::new(0.77, 1.5, 0.0), Vec3::new(-0.77, 1.5, 0.0));
    for hand in 0..2 {
        s.at(hand, [a, b][hand]);
    }
    s.step();
    s.input.hands.iter_mut().for_each(|h| h.grab = 1.0);
    let step = Vec3::new(0.0, 0.25, 0.15);
    for i in 0..=15 {
        let t = i as f32 / 15.0;
        s.at(0, a + (step - Vec3::X * 0.2) * t);
        s.at(1, b + (step + Vec3::X * 0.2) * t);
        s.step();
    }
    s.input.hands.iter_mut().for_each(|h| h.grab = 0.0);
    s.step();
    for (node, x) in [(HAND, 0.55), (OTHER_HAND, -0.55)] {
        assert!(s.joint(node).distance(Vec3::new(x, 1.75, 0.15)) < 2e-3, "{}", s.joint(node));
    }
    assert_eq!(s.bench.session().history().0, 2, "two hands, one step");
    // Feet pinned, hips pulled down: the feet stay.
    for side in [0.1, -0.1] {
        s.at(RIGHT, Vec3::new(side, 0.05, 0.0));
        s.step();
        s.bench.run_command(Command::TogglePin);
    }
    assert_eq!(s.bench.session().document().pins().len(), 2);
    let hips = Vec3::new(0.0, 1.0, 0.0);
    s.pull(RIGHT, &line(hips, hips - Vec3::Y * 0.3, 15));
    assert!(s.joint(HIPS).distance(hips - Vec3::Y * 0.3) < 1e-3);
    assert!(s.joint(FOOT).distance(Vec3::new(0.1, 0.05, 0.0)) < 1e-3, "{}", s.joint(FOOT));
    s.at(RIGHT, Vec3::new(5.0, 5.0, 5.0));
    s.step();
    s.bench.run_command(Command::TogglePin);
    assert!(s.bench.notice().is_some_and(|n| n.contains("no joint")));
    assert_eq!(s.step().haptics[RIGHT], Some(Haptic::Limit));
    // On a panel the hand is away from the body: the joint it was near last is meant.
    assert_eq!(s.bench.touched_joint().map(|(_, pinned)| pinned), Some(false));
    s.at(RIGHT, Vec3::new(0.1, 0.05, 0.0));
    s.step();
    assert_eq!(s.bench.touched_joint().map(|(_, pinned)| pinned), Some(true));
    s.at(RIGHT, Vec3::new(5.0, 5.0, 5.0));
    s.input.hands[RIGHT].on_panel = true;
    s.step();
    s.bench.run_command(Command::TogglePin);
    assert_eq!(s.bench.session().document().pins().len(), 1);
    assert_eq!(s.bench.touched_joint().map(|(_, pinned)| pinned), Some(false));
}

#[test]
fn mirrored_strokes_and_grabs_act_on_both_sides() {
    let mut s = Script::biped();
    s.bench.run_command(Command::Mirror(true));
    s.draw(RIGHT, &arm(0.0));
    assert_eq!(s.strokes().len(), 2);
    s.draw(RIGHT, &arm(0.6));
    let mirrored = |p: Vec3| Vec3::new(-p.x, p.y, p.z);
    assert!(s.joint(HAND).distance(arm(0.6)[29]) < 0.02);
    assert!(s.joint(OTHER_HAND).distance(mirrored(s.joint(HAND))) < 1e-3);
    assert_eq!(s.bench.session().history().0, 3);
    // Again, begun on either side.
    s.bench.run_command(Command::RedrawOffset);
    s.draw(RIGHT, &arm(-0.3));
    assert!(s.joint(HAND).distance(arm(-0.3)[29]) < 0.02);
    s.bench.run_command(Command::RedrawOffset);
    let other: Vec<Vec3> = arm(0.4).into_iter().map(mirrored).collect();
    s.draw(RIGHT, &other);
    assert!(s.joint(OTHER_HAND).distance(other[29]) < 0.02);
    assert!(s.joint(OTHER_HAND).distance(mirrored(s.joint(HAND))) < 1e-3);
    s.bench.run_command(Command::RemoveStroke);
    assert!(s.strokes().is_empty());
    let held = Vec3::new(0.77, 1.5, 0.0);
    s.pull(0, &line(held, held + Vec3::new(-0.2, 0.2, 0.1), 12));
    assert!(s.joint(HAND).y > 1.6);
    assert!(s.joint(OTHER_HAND).distance(mirrored(s.joint(HAND))) < 1e-3);
}

#[test]
fn recentring_keeps_the_world_and_the_document() {
    let mut s = Script::biped();
    s.draw(RIGHT, &arm(0.0));
    let hash = s.hash();
    let tip = s.bench.output().world_from_room.point(Vec3::new(0.3, 1.0, 0.2));
    let moved = Rigid { position: Vec3::new(0.5, 0.0, -1.0), orientation: Quat::from_rotation_y(0.9) };
    s.input.recentred = Some(moved);
    s.step();
    s.input.recentred = None;
    let again = s.bench.output().world_from_room.point(moved.point(Vec3::new(0.3, 1.0, 0.2)));
    assert!(again.distance(tip) < 1e-4 && s.hash() == hash);
}

#[test]
fn deformers_change_by_command_and_unknown_ones_are_told() {
    let mut s = Script::biped();
    assert!(s.step().deformer_changed, "the first one has to be made");
    assert!(!s.step().deformer_changed);
    s.bench.run_command(Command::Deformer("dqs".into()));
    assert!(s.step().deformer_changed);
    assert_eq!(s.bench.session().document().deformer().method, "dqs");
    s.bench.run_command(Command::Deformer("nurbs".into()));
    assert!(!s.step().deformer_changed && s.bench.notice().is_some());
    s.bench.run_command(Command::Undo);
    assert!(s.step().deformer_changed);
    s.bench.run_command(Command::Lengths(Lengths::Stretch));
    s.draw(RIGHT, &arm(0.0));
    assert_eq!(s.strokes()[0].posing.lengths, Lengths::Stretch);
}

/// What the camera of a hand at `from` sees in a direction, by intersection with every triangle at rest.
fn seen(character: &Character, from: Vec3, direction: Vec3, time: f64, draw: f32) -> Option<SurfaceSample> {
    let mut best: Option<(f32, SurfaceSample)> = None;
    for (t, corners) in character.control.triangles.iter().enumerate() {
        let [a, b, c] = corners.map(|v| character.control.positions[v as usize]);
        let (ab, ac) = (b - a, c - a);
        let p = direction.cross(ac);
        let det = ab.dot(p);
        if det.abs() < 1e-12 {
            continue;
        }
        let s = (from - a) / det;
        let (u, q) = (s.dot(p), s.cross(ab));
        let (v, distance) = (direction.dot(q), ac.dot(q));
        if u >= 0.0 && v >= 0.0 && u + v <= 1.0 && distance > 0.0 && best.is_none_or(|b| distance < b.0) {
            let position = from + direction * distance;
            let normal = ab.cross(ac).normalize();
            let barycentrics = [1.0 - u - v, u, v];
            best = Some((
                distance,
                SurfaceSample { triangle: t as u32, barycentrics, position, normal, time, draw },
            ));
        }
    }
    best.map(|b| b.1)
}

/// Draws round a capsule about the y axis at a height, `turns` times round, in `count` samples, each two frames old.
fn draw_round(s: &mut Script, character: &Character, turns: f32, count: usize) {
    let mut queue = std::collections::VecDeque::from([None, None]);
    for i in 0..count + 12 {
        let angle = turns * std::f32::consts::TAU * i.min(count) as f32 / count as f32;
        let out = Vec3::new(angle.cos(), 0.0, angle.sin());
        let place = out * 0.4 + Vec3::Y * 0.5;
        s.turned(RIGHT, place, Quat::from_rotation_arc(Vec3::NEG_Z, -out));
        s.input.hands[RIGHT].draw = if i < count { 1.0 } else { 0.0 };
        s.input.hands[RIGHT].surface = queue.pop_front().flatten();
        s.step();
        let draw = s.input.hands[RIGHT].draw;
        queue.push_back(seen(character, place, -out, s.input.time, draw));
    }
}

#[test]
fn a_stroke_round_a_limb_is_a_ring_on_the_skin() {
    let character = Arc::new(capsule(2, 24, 24, 0.15, 1.0));
    for (turns, ring) in [(0.99, true), (1.04, true), (0.6, false), (1.7, false)] {
        let mut s = Script::new(&character);
        s.bench.run_command(Command::Tool(Tool::Skin));
        draw_round(&mut s, &character, turns, 60);
        assert!(s.bench.output().probes[RIGHT].is_some());
        let marks = s.bench.session().document().marks();
        assert_eq!((marks.len(), marks[0].closed), (1, ring), "{turns} turns");
        let edge = s.bench.desk.body.edge;
        let at: Vec<Vec3> =
            marks[0].points.iter().map(|p| s.bench.desk.body.bind_position(&character, p).unwrap()).collect();
        for x in &at {
            let radius = Vec3::new(x.x, 0.0, x.z).length();
            assert!((radius - 0.15).abs() < edge && (x.y - 0.5).abs() < edge, "{x} is off the ring");
        }
        assert!(marks[0].points.iter().skip(1).all(|p| !p.lifted));
        if ring {
            assert!(at[at.len() - 1].distance(at[0]) < edge, "it closes on itself");
            let length: f32 = at.windows(2).map(|p| p[0].distance(p[1])).sum();
            assert!((length / (std::f32::consts::TAU * 0.15) - 1.0).abs() < 0.05, "{length}: once round");
        }
        let hash = s.hash();
        s.bench.run_command(Command::RemoveStroke);
        assert!(s.bench.session().document().marks().is_empty());
        s.bench.run_command(Command::Undo);
        assert_eq!(s.hash(), hash);
        // The mark goes with the limb.
        s.bench.desk.apply(Edit::RotateJoint { node: NodeId(1), turns: vec![(crate::edit::Axis::Z, 60.0)] });
        let lines = s.step().lines.segments.len();
        assert!(lines > at.len());
    }
}

#[test]
fn a_mark_is_not_joined_across_the_air() {
    let character = biped();
    let mut s = Script::new(&character);
    s.bench.run_command(Command::Tool(Tool::Skin));
    let sample = |triangle: u32, position: Vec3, time: f64| SurfaceSample {
        triangle,
        barycentrics: [1.0 / 3.0; 3],
        position,
        normal: Vec3::Z,
        time,
        draw: 1.0,
    };
    s.at(RIGHT, Vec3::new(0.6, 1.5, 0.2));
    s.step();
    s.input.hands[RIGHT].draw = 1.0;
    // Two triangles of the elbow, then two of the hand: they are apart.
    for (triangle, x) in [(ELBOW * 8, 0.52), (ELBOW * 8 + 1, 0.48), (HAND * 8, 0.77), (HAND * 8 + 1, 0.73)] {
        let time = s.input.time;
        s.input.hands[RIGHT].surface = Some(sample(triangle as u32, Vec3::new(x, 1.5, 0.03), time));
        s.step();
    }
    s.input.hands[RIGHT].draw = 0.0;
    (0..30).for_each(|_| {
        s.step();
    });
    let mark = &s.bench.session().document().marks()[0];
    let lifted: Vec<u32> = mark.points.iter().filter(|p| p.lifted).map(|p| p.triangle).collect();
    assert_eq!((lifted, mark.closed), (vec![(HAND * 8) as u32], false));
}

#[test]
fn marks_and_hands_survive_a_journal_in_json() {
    let mut s = Script::biped();
    s.draw(RIGHT, &arm(0.0));
    let held = Vec3::new(-0.77, 1.5, 0.0);
    s.pull(0, &line(held, held + Vec3::Y * 0.2, 8));
    let document = s.bench.session().document();
    let text = serde_json::to_string(document).unwrap();
    let back: crate::edit::Document = serde_json::from_str(&text).unwrap();
    assert_eq!((&back, back.hash()), (document, document.hash()));
    assert!(!document.strokes()[0].adjustments.is_empty());
    assert!(Stroke::from_knots(document.strokes()[0].baseline.knots().to_vec()).is_ok());
}

#[test]
fn a_steady_frame_keeps_its_buffers() {
    let mut s = Script::biped();
    s.draw(RIGHT, &arm(0.0));
    s.draw(RIGHT, &arm(0.7));
    s.at(RIGHT, Vec3::new(0.3, 1.2, 0.5));
    (0..5).for_each(|_| {
        s.step();
    });
    let (pointer, capacity) =
        (s.bench.output.lines.segments.as_ptr(), s.bench.output.lines.segments.capacity());
    for _ in 0..200 {
        let out = s.step();
        assert!(!out.posed && out.requests.is_empty());
    }
    assert_eq!(pointer, s.bench.output.lines.segments.as_ptr());
    assert_eq!(capacity, s.bench.output.lines.segments.capacity());
}

fn any_float() -> impl Strategy<Value = f32> {
    prop_oneof![
        8 => -2.0f32..2.0,
        1 => Just(f32::NAN),
        1 => Just(f32::INFINITY),
        1 => Just(1e30f32),
        1 => Just(0.0f32),
    ]
}

fn any_tracked() -> impl Strategy<Value = Tracked> {
    let tracking =
        prop_oneof![1 => Just(Tracking::Lost), 1 => Just(Tracking::Inferred), 4 => Just(Tracking::Tracked)];
    (prop::array::uniform3(any_float()), prop::array::uniform4(any_float()), tracking).prop_map(
        |(p, q, tracking)| Tracked {
            pose: Rigid { position: p.into(), orientation: Quat::from_array(q) },
            tracking,
        },
    )
}

fn any_hand() -> impl Strategy<Value = crate::editor::Hand> {
    let sample =
        (0u32..200, prop::array::uniform3(any_float()), prop::array::uniform3(any_float()), any_float());
    let buttons = prop::array::uniform4(prop::bool::weighted(0.1));
    (any_tracked(), any_tracked(), prop::array::uniform2(any_float()), buttons, prop::option::of(sample))
        .prop_map(|(grip, aim, values, [undo, redo, menu, on_panel], sample)| crate::editor::Hand {
            grip,
            aim,
            draw: values[0],
            grab: values[1],
            stick: values,
            undo,
            redo,
            menu,
            on_panel,
            surface: sample.map(|(triangle, b, p, draw)| SurfaceSample {
                triangle,
                barycentrics: [b[0], b[1], 1.0 - b[0] - b[1]],
                position: p.into(),
                normal: Vec3::Y,
                time: f64::from(b[2]).abs() * 4.0,
                draw,
            }),
        })
}

fn any_command() -> impl Strategy<Value = Command> {
    prop_oneof![
        Just(Command::Tool(Tool::Line)),
        Just(Command::Tool(Tool::Grab)),
        Just(Command::Tool(Tool::Skin)),
        any_float().prop_map(Command::Radius),
        Just(Command::Mirror(true)),
        Just(Command::RedrawOffset),
        Just(Command::RemoveStroke),
        Just(Command::TogglePin),
        Just(Command::LifeSize),
        Just(Command::UndoNavigation),
        any::<i32>().prop_map(Command::SnapTurn),
        any::<bool>().prop_map(Command::RollWorld),
        any::<bool>().prop_map(Command::LeftHanded),
        any::<bool>().prop_map(Command::Turntable),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn no_input_panics_or_puts_anything_but_numbers_into_the_document(
        steps in prop::collection::vec(
            ((any_hand(), any_hand()), any_tracked(), prop::bool::weighted(0.95), any_float(), prop::option::weighted(0.2, any_command())),
            60,
        )
    ) {
        let character = biped();
        let mut bench = Workbench::new(session(&character), character.clone(), Preferences::default());
        let mut time = 0.0;
        for ((left, right), head, focused, dt, command) in steps {
            time += f64::from(dt) * 0.05;
            let recentred = (dt > 1.8).then_some(head.pose);
            let input = Input { time, head, hands: [left, right], focused, recentred };
            let out = bench.step(&input);
            let s = out.world_from_room;
            prop_assert!(s.translation.is_finite() && s.rotation.is_finite() && s.scale > 0.0);
            prop_assert!(out.lines.segments.iter().all(|l| l.a.is_finite() && l.b.is_finite()));
            if let Some(command) = command {
                bench.run_command(command);
            }
            let document = bench.session().document();
            for layer in document.strokes() {
                for knot in layer.baseline.knots().iter().chain(layer.offset.iter().flat_map(|o| o.knots())) {
                    prop_assert!(DVec3::is_finite(knot.point()) && knot.orientation.iter().all(|v| v.is_finite()));
                }
            }
            for mark in document.marks() {
                prop_assert!(mark.points.iter().all(|p| p.barycentrics.iter().all(|b| b.is_finite())));
            }
            prop_assert!(bench.pose().local.iter().all(|l| l.rotation.iter().chain(&l.translation).all(|v| v.is_finite())));
        }
    }
}
