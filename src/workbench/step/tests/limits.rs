//! Tests of the limits of joints: commands, undo, strokes and grabs, what the hand feels, mirror, numbers, auto key.

use super::*;
use crate::asset::{Channel, Clip, Interpolation, Property};
use crate::base::math::DQuat;
use crate::document::{Journal, Key, Operation};
use crate::rig::{Limit, Limits, keep_limit};
use crate::workbench::tools::limits::AT_LIMIT;
use crate::workbench::{GrabBy, LimitChange};

const OTHER_ELBOW: usize = 8;

fn limits(s: &Script) -> Limits {
    s.bench.session().document().limits().clone()
}

/// Changes the limit of the left elbow, or all limits. The hand selects what it touches, so the elbow is selected
/// first.
fn change(s: &mut Script, change: LimitChange) {
    s.bench.select(Some(id(ELBOW)));
    s.bench.run_command(Command::Limit(change, false));
}

fn id(node: usize) -> NodeId {
    NodeId::from(node)
}

/// Makes the left elbow a hinge that bends forwards by at most this angle, degrees.
fn hinge(s: &mut Script, most: f32) {
    change(s, LimitChange::On(true));
    change(s, LimitChange::Twist([0.0, 0.0]));
    change(s, LimitChange::Swing([most, 0.0, 0.0, 0.0]));
    assert_eq!(s.bench.notice(), None);
    s.step();
}

/// The angle between upper arm and forearm, degrees; 0 for a straight arm.
fn bend(s: &Script, [a, b, c]: [usize; 3]) -> f32 {
    let [a, b, c] = [a, b, c].map(|n| s.joint(n));
    (b - a).angle_between(c - b).to_degrees()
}

/// How far the displayed pose is beyond all limits, radians.
fn beyond(s: &Script) -> f64 {
    let skeleton = &s.bench.character().skeleton;
    let over = |(node, limit): (&NodeId, &Limit)| {
        let local = s.bench.pose().local[node.index()].rotation();
        limit.excess(crate::rig::relative_rotation(skeleton, *node, limit, local))
    };
    s.bench.session().document().limits().iter().map(over).fold(0.0, f64::max)
}

/// A forearm bent about the elbow towards +z by an angle, degrees; points from the shoulder to the hand.
fn bent(degrees: f32) -> Vec<Vec3> {
    let (shoulder, elbow) = (Vec3::new(0.2, 1.5, 0.0), Vec3::new(0.5, 1.5, 0.0));
    let (sin, cos) = degrees.to_radians().sin_cos();
    let mut points = line(shoulder, elbow, 16);
    points.extend(line(elbow, elbow + Vec3::new(cos, 0.0, sin) * 0.25, 14));
    points
}

#[test]
fn a_stroke_stops_at_the_limit_in_the_pose_and_in_the_document() {
    let mut s = Script::biped();
    hinge(&mut s, 60.0);
    s.draw(RIGHT, &bent(0.0));
    s.draw(RIGHT, &bent(110.0));
    let arm = [ARM, ELBOW, HAND];
    assert!((bend(&s, arm) - 60.0).abs() < 0.5, "{}", bend(&s, arm));
    assert!(beyond(&s) < 1e-3);
    assert_eq!(*s.bench.pose(), s.bench.session().posed());
    // A wider limit lets the same stroke bend the elbow further, and undo brings the narrow one back.
    let narrow = s.hash();
    change(&mut s, LimitChange::Swing([90.0, 0.0, 0.0, 0.0]));
    assert!((bend(&s, arm) - 90.0).abs() < 0.5, "{}", bend(&s, arm));
    change(&mut s, LimitChange::On(false));
    let free = bend(&s, arm);
    assert!(free > 95.0 && limits(&s).is_empty(), "{free}");
    s.bench.run_command(Command::Undo);
    s.bench.run_command(Command::Undo);
    assert_eq!(s.hash(), narrow);
    assert!((bend(&s, arm) - 60.0).abs() < 0.5);
    s.bench.run_command(Command::Redo);
    s.bench.run_command(Command::Redo);
    assert_eq!(bend(&s, arm), free);
}

#[test]
fn a_hand_feels_once_that_a_joint_reaches_its_limit_and_the_joint_is_coloured() {
    for by in [GrabBy::Limb, GrabBy::Body, GrabBy::Bone] {
        let mut s = Script::biped();
        hinge(&mut s, 50.0);
        s.bench.run_command(Command::GrabBy(by));
        if by == GrabBy::Body {
            // Otherwise the body leans before the elbow reaches its limit.
            s.bench.change(Edit::SetPins(vec![id(ARM)]));
        }
        let held = if by == GrabBy::Bone { Vec3::new(0.62, 1.5, 0.0) } else { Vec3::new(0.75, 1.5, 0.0) };
        s.at(RIGHT, held);
        s.step();
        s.input.hands[RIGHT].grab = 1.0;
        s.step();
        assert!(s.bench.is_busy());
        let mut felt = 0;
        for k in 0..60 {
            let angle = k as f32 / 59.0 * 1.3;
            let arm = Vec3::new(angle.cos(), 0.0, angle.sin()) * (held.x - 0.5);
            s.at(RIGHT, Vec3::new(0.5, 1.5, 0.0) + arm);
            let out = s.step();
            felt += usize::from(out.haptics[RIGHT] == Some(Haptic::Limit));
            let drawn = out.lines.segments.iter().any(|l| l.color_a == u32::from_le_bytes(AT_LIMIT));
            assert!(beyond(&s) < 2e-3, "{by:?}: {}", beyond(&s));
            let stands = s.bench.joints_at_limit().any(|n| n == id(ELBOW));
            assert_eq!(drawn, stands, "{by:?} at {k}");
            let named = s.bench.stopped_joints().is_some_and(|t| t == "joint 5 is at its limit");
            assert_eq!(named, stands, "{by:?} at {k}: {:?}", s.bench.stopped_joints());
            let angle = bend(&s, [ARM, ELBOW, HAND]);
            assert!(stands || angle < 49.9, "{by:?} at {k}: {angle}");
            assert!(!stands || !(1.5..=48.5).contains(&angle), "{by:?} at {k}: {angle}");
        }
        // The hand also feels when it is too far from the grabbed point.
        assert!((1..=2).contains(&felt), "{by:?}: {felt}");
        assert!((bend(&s, [ARM, ELBOW, HAND]) - 50.0).abs() < 1.0, "{by:?}");
        s.input.hands[RIGHT].grab = 0.0;
        s.step();
        assert_eq!(s.bench.joints_at_limit().count(), 0);
        assert!(beyond(&s) < 2e-3 && *s.bench.pose() == s.bench.session().posed());
    }
}

#[test]
fn the_joint_tool_and_numbers_stop_at_the_limit_and_pasted_poses_do_not() {
    let mut s = Script::biped();
    hinge(&mut s, 60.0);
    let arm = [ARM, ELBOW, HAND];
    // Forwards is a turn about -y of the straight left arm.
    let turn = |degrees: f32| DQuat::from_rotation_y(f64::from(-degrees).to_radians());
    assert!(s.bench.hold_joint(id(ELBOW)));
    s.bench.move_joint(turn(40.0), DVec3::ZERO);
    assert!((bend(&s, arm) - 40.0).abs() < 0.01);
    s.bench.move_joint(turn(140.0), DVec3::ZERO);
    assert!((bend(&s, arm) - 60.0).abs() < 0.1, "{}", bend(&s, arm));
    s.step();
    assert!(s.bench.joints_at_limit().eq([id(ELBOW)]));
    s.bench.let_joint_go();
    assert!((bend(&s, arm) - 60.0).abs() < 0.1);
    let place = |s: &mut Script, degrees: f32, continues: bool| {
        let local = Trs { rotation: turn(degrees).as_quat().into(), ..s.bench.pose().local[ELBOW] };
        s.bench.run_command(Command::Place(id(ELBOW), Box::new(local), continues));
        s.step().haptics[RIGHT]
    };
    assert_eq!(place(&mut s, 20.0, false), None);
    assert!((bend(&s, arm) - 20.0).abs() < 0.01);
    assert_eq!(place(&mut s, 90.0, false), Some(Haptic::Limit));
    assert!((bend(&s, arm) - 60.0).abs() < 0.1);
    // A drag feels its limit once.
    assert_eq!(place(&mut s, 100.0, true), None);
    assert_eq!(place(&mut s, 30.0, true), None);
    assert_eq!(place(&mut s, 100.0, true), Some(Haptic::Limit));
    // Poses of the file, copied poses and scripts may be beyond a limit; what stands there stays, and may come back.
    let far = Trs { rotation: turn(120.0).as_quat().into(), ..s.bench.pose().local[ELBOW] };
    s.bench.change(Edit::SetLocal { node: id(ELBOW), local: far });
    assert!((bend(&s, arm) - 120.0).abs() < 0.1);
    s.bench.select(Some(id(ELBOW)));
    s.bench.run_command(Command::CopyPose);
    s.bench.run_command(Command::ResetPose(None));
    assert!(bend(&s, arm) < 0.1);
    s.bench.run_command(Command::PastePose(false));
    assert!((bend(&s, arm) - 120.0).abs() < 0.1);
    place(&mut s, 150.0, false);
    assert!((bend(&s, arm) - 120.0).abs() < 0.5, "{}", bend(&s, arm));
    place(&mut s, 80.0, false);
    assert!((bend(&s, arm) - 80.0).abs() < 0.5, "{}", bend(&s, arm));
    // A change of the location leaves a rotation beyond its limit alone.
    let mut local = s.bench.pose().local[ELBOW];
    let before = local;
    local.translation[0] += 0.01;
    assert!(!keep_limit(&s.bench.character().skeleton, &limits(&s), id(ELBOW), &before, &mut local));
}

#[test]
fn mirror_limits_both_sides_and_keeps_both_within() {
    let mut s = Script::biped();
    s.bench.run_command(Command::Mirror(true));
    change(&mut s, LimitChange::On(true));
    change(&mut s, LimitChange::Twist([-10.0, 40.0]));
    change(&mut s, LimitChange::Swing([60.0, 5.0, 20.0, 10.0]));
    let all = limits(&s);
    assert_eq!(all.len(), 2);
    let (left, right) = (all[&id(ELBOW)], all[&id(OTHER_ELBOW)]);
    assert_eq!(right.twist, [-left.twist[1], -left.twist[0]]);
    assert_eq!(right.swing, [left.swing[0], left.swing[1], left.swing[3], left.swing[2]]);
    s.pull(RIGHT, &line(Vec3::new(0.75, 1.5, 0.0), Vec3::new(0.3, 1.55, 0.35), 20));
    let bends = [bend(&s, [ARM, ELBOW, HAND]), bend(&s, [ARM + 3, OTHER_ELBOW, OTHER_HAND])];
    assert!((bends[0] - bends[1]).abs() < 1.0 && bends[0] > 30.0, "{bends:?}");
    assert!(beyond(&s) < 2e-3);
    change(&mut s, LimitChange::On(false));
    assert!(limits(&s).is_empty());
    s.bench.run_command(Command::Undo);
    assert_eq!(limits(&s), all);
}

/// A biped with a clip that bends the left elbow forwards by 80 degrees and turns the hips.
fn with_clip() -> Arc<Character> {
    let mut character = biped();
    let channel = |node: usize, rotations: [Quat; 2]| Channel {
        node: id(node),
        property: Property::Rotation,
        interpolation: Interpolation::Linear,
        times: vec![0.0, 1.0],
        values: rotations.iter().flat_map(|q| q.to_array()).collect(),
    };
    let channels = vec![
        channel(ELBOW, [Quat::IDENTITY, Quat::from_rotation_y(-80.0_f32.to_radians())]),
        channel(HIPS, [Quat::IDENTITY, Quat::from_rotation_y(0.4)]),
    ];
    Arc::make_mut(&mut character).skeleton.clips = vec![Clip { name: "bend".into(), channels }].into();
    character
}

#[test]
fn limits_come_from_clips_and_are_extended_to_a_pose_and_forgotten() {
    let mut s = Script::new(&with_clip());
    s.step();
    let (hash, steps) = (s.hash(), s.bench.session().history().0);
    s.bench.select(None);
    s.bench.run_command(Command::Limit(LimitChange::ToPose, false));
    assert!(s.bench.notice().unwrap().contains("no joint is selected"));
    change(&mut s, LimitChange::ToPose);
    assert!(s.bench.notice().unwrap().contains("no limit"));
    change(&mut s, LimitChange::FromClips);
    // The hips carry the whole character, so they have no limit.
    assert_eq!(limits(&s).keys().copied().collect::<Vec<_>>(), [id(ELBOW)]);
    let swing = limits(&s)[&id(ELBOW)].swing.map(f32::to_degrees);
    assert!((swing[0] - 85.0).abs() < 0.5 && swing[1..].iter().all(|v| (v - 5.0).abs() < 0.1), "{swing:?}");
    // The clip plays as its author made it, and the arm bends to the limit of the clip and the margin.
    s.pull(RIGHT, &line(Vec3::new(0.75, 1.5, 0.0), Vec3::new(0.25, 1.5, 0.1), 20));
    assert!((bend(&s, [ARM, ELBOW, HAND]) - 85.0).abs() < 1.0, "{}", bend(&s, [ARM, ELBOW, HAND]));
    let local = Trs { rotation: Quat::from_rotation_y(-2.0).into(), ..s.bench.pose().local[ELBOW] };
    s.bench.change(Edit::SetLocal { node: id(ELBOW), local });
    change(&mut s, LimitChange::ToPose);
    assert!(beyond(&s) < 1e-4);
    assert!((limits(&s)[&id(ELBOW)].swing[0] - 2.0).abs() < 0.02, "{:?}", limits(&s));
    // A drag of a number is one step.
    let before = s.bench.session().history().0;
    for (k, most) in [10.0, 20.0, f32::NAN, 400.0].into_iter().enumerate() {
        s.bench.select(Some(id(ELBOW)));
        s.bench.run_command(Command::Limit(LimitChange::Swing([most, 0.0, 0.0, 0.0]), k > 0));
    }
    assert_eq!(s.bench.session().history().0, before + 1);
    assert!((limits(&s)[&id(ELBOW)].swing[0].to_degrees() - 180.0).abs() < 1e-3);
    change(&mut s, LimitChange::Forget);
    assert!(limits(&s).is_empty());
    while s.bench.session().history().0 > steps {
        s.bench.run_command(Command::Undo);
    }
    assert_eq!(s.hash(), hash);
    // Without clips there is nothing to take, but a joint gets a plain cone.
    let mut s = Script::biped();
    change(&mut s, LimitChange::FromClips);
    assert!(s.bench.notice().unwrap().contains("no clip"));
    change(&mut s, LimitChange::On(true));
    assert_eq!(limits(&s)[&id(ELBOW)].swing.map(|v| v.to_degrees().round()), [90.0; 4]);
}

#[test]
fn strokes_over_a_clip_beyond_a_limit_follow_the_clip_and_go_no_further() {
    let mut s = Script::new(&with_clip());
    hinge(&mut s, 30.0);
    let clips = vec![crate::document::ClipLayer::new(0, &s.bench.character().skeleton)];
    s.draw(RIGHT, &bent(0.0));
    s.draw(RIGHT, &bent(110.0));
    assert!((bend(&s, [ARM, ELBOW, HAND]) - 30.0).abs() < 0.5);
    s.bench.change(Edit::Keys(crate::document::KeyEdit::Clips(clips)));
    for (time, wanted) in [(0.0, 30.0), (0.25, 30.0), (1.0, 80.0)] {
        s.bench.run_command(Command::Scrub(time));
        s.step();
        let angle = bend(&s, [ARM, ELBOW, HAND]);
        assert!((angle - wanted).abs() < 1.0, "{time}: {angle}");
    }
}

#[test]
fn auto_key_records_what_the_limit_allows_and_a_journal_replays_it() {
    let folder = tempfile::tempdir().unwrap();
    let character = biped();
    let skeleton = Arc::new(character.skeleton.clone());
    let mut session = session(&character);
    let file = folder.path().join("limits.journal");
    let mut journal = Journal::open(&file, session.document().asset().unwrap()).unwrap().0;
    session.recording().iter().for_each(|o| journal.append(o).unwrap());
    session.record_in(journal);
    let preferences = Preferences { grab: GrabBy::Limb, ..Preferences::default() };
    let bench = Workbench::new(session, character, preferences);
    let mut s = Script { bench, input: Input { focused: true, ..Input::default() }, frames: Vec::new() };
    hinge(&mut s, 60.0);
    s.bench.run_command(Command::AutoKey(true));
    s.bench.run_command(Command::Key);
    s.bench.run_command(Command::Scrub(1.0));
    s.step();
    s.pull(RIGHT, &line(Vec3::new(0.75, 1.5, 0.0), Vec3::new(0.2, 1.5, 0.2), 20));
    s.step();
    let document = s.bench.session().document();
    let pose = document.state(s.bench.session().skeleton(), Some(1.0)).pose;
    assert_eq!(pose.local[ELBOW], s.bench.pose().local[ELBOW]);
    assert!((bend(&s, [ARM, ELBOW, HAND]) - 60.0).abs() < 1.0 && beyond(&s) < 2e-3);
    s.bench.run_command(Command::Undo);
    s.bench.run_command(Command::Redo);
    let hash = s.hash();
    drop(s);
    let recovered = crate::document::recover(&file).unwrap();
    let again = Session::replay(&recovered.operations, Box::new(move |_| Ok(skeleton.clone()))).unwrap();
    assert_eq!(again.document().hash(), hash);
    assert!(recovered.operations.iter().any(|o| matches!(o, Operation::Do(Edit::SetLimit { .. }))));
}

#[test]
fn the_cone_of_the_selected_joint_is_drawn_with_the_joint_tool_or_on_request() {
    let mut s = Script::biped();
    (0..2).for_each(|hand| s.at(hand, Vec3::splat(50.0)));
    hinge(&mut s, 60.0);
    let count = |s: &mut Script| s.step().lines.segments.len();
    let plain = count(&mut s);
    s.bench.run_command(Command::LimitCone(true));
    let shown = count(&mut s);
    assert!(shown > plain + 48, "{plain} {shown}");
    assert!(s.bench.output().lines.segments.iter().all(|l| l.a.is_finite() && l.b.is_finite()));
    s.bench.select(Some(id(HAND)));
    assert_eq!(count(&mut s), plain);
    s.bench.run_command(Command::LimitCone(false));
    s.bench.run_command(Command::Tool(Tool::Joint));
    s.bench.select(None);
    let bare = count(&mut s);
    s.bench.select(Some(id(ELBOW)));
    assert!(count(&mut s) > bare + 48);
}

#[test]
fn a_recording_on_a_motion_keeps_limits_and_pins() {
    let bowed = Quat::from_rotation_z(0.4);
    for by in [GrabBy::Limb, GrabBy::Body] {
        let mut s = Script::biped();
        s.bench.select(Some(id(ELBOW)));
        s.step();
        hinge(&mut s, 60.0);
        s.bench.change(Edit::SetPins(vec![id(FOOT)]));
        let rest = s.bench.context.pose.without_rest();
        for (time, share) in [(0.0, 0.0), (2.0, 1.0)] {
            let mut pose = rest.clone();
            let turn = Quat::IDENTITY.slerp(bowed, share);
            pose.local[1].rotation = (turn * pose.local[1].rotation()).into();
            s.bench.key(Edit::SetKey(Key { time, pose }), false);
        }
        s.bench.run_command(Command::GrabBy(by));
        s.bench.run_command(Command::Record(true));
        s.bench.run_command(Command::Scrub(0.5));
        s.step();
        let (held, foot) = (s.joint(HAND), s.joint(FOOT));
        s.at(0, held);
        s.step();
        s.input.hands[0].grab = 1.0;
        let (mut bends, mut farthest) = (0.0_f32, 0.0_f32);
        // The hand comes to the shoulder, which the limit of the elbow forbids.
        for place in line(held, s.joint(ARM) + Vec3::Z * 0.05, 60) {
            s.at(0, place);
            s.step();
            bends = bends.max(bend(&s, [ARM, ELBOW, HAND]));
            farthest = farthest.max(s.joint(FOOT).distance(foot));
            assert!(beyond(&s) < 1e-4, "{by:?}: {} beyond a limit", beyond(&s));
        }
        // The whole body leans instead.
        assert!(by == GrabBy::Body || bends > 50.0, "the elbow bends by {bends}");
        assert!(s.bench.is_recording() && s.joint(HAND).distance(held) > 0.2, "{by:?}");
        assert!(farthest < 1e-3, "{by:?}: the pinned foot moves by {farthest} m");
        s.input.hands[0].grab = 0.0;
        s.step();
        for frame in 15..=35 {
            s.bench.run_command(Command::Scrub(f64::from(frame) / 30.0));
            s.step();
            assert!(beyond(&s) < 0.01, "{by:?}: {} beyond a limit at frame {frame}", beyond(&s));
            let off = s.joint(FOOT).distance(foot);
            assert!(off < 1e-3, "{by:?}, frame {frame}: the pinned foot slides by {off} m");
        }
    }
}

#[test]
fn angles_of_a_limited_joint_are_set_one_by_one_and_the_limit_says_that_it_stops_them() {
    use crate::rig::{limit_angles, rotation_of_angles};
    let mut s = Script::biped();
    hinge(&mut s, 90.0);
    let skeleton = s.bench.character().skeleton.clone();
    let limit = limits(&s)[&id(ELBOW)];
    let set = |s: &mut Script, bend: f64| {
        let rotation = rotation_of_angles(&skeleton, id(ELBOW), &limit, [bend.to_radians(), 0.0, 0.0]);
        let local = Trs { rotation: rotation.into(), ..s.bench.pose().local[ELBOW] };
        s.bench.run_command(Command::Place(id(ELBOW), Box::new(local), false));
        s.step();
        let now = s.bench.pose().local[ELBOW].rotation();
        limit_angles(&skeleton, id(ELBOW), &limit, now).map(f64::to_degrees)
    };
    let close = |a: [f64; 3], bend: f64| (a[0] - bend).abs() < 0.01 && a[1].abs() < 0.01 && a[2].abs() < 0.01;
    let angles = set(&mut s, 45.0);
    assert!(close(angles, 45.0), "{angles:?}");
    assert!(s.bench.notice().is_none());
    assert!((bend(&s, [ARM, ELBOW, HAND]) - 45.0).abs() < 0.01);
    let angles = set(&mut s, 120.0);
    assert!(close(angles, 90.0), "{angles:?}");
    assert!(s.bench.notice().is_some_and(|n| n.contains("limit of")));
    let angles = set(&mut s, 30.0);
    assert!(close(angles, 30.0) && s.bench.notice().is_none(), "{angles:?}");
}

#[test]
fn a_clip_that_is_added_shows_at_once() {
    use crate::document::{ClipLayer, KeyEdit};
    for (rules, shows) in [(Rules::Now, true), (Rules::Eighth, false)] {
        let mut s = Script::new(&with_clip());
        s.bench.keep_to(rules);
        let layer = ClipLayer::new(0, &s.bench.character().skeleton);
        let clips = |layers| Command::Change(Box::new(Edit::Keys(KeyEdit::Clips(layers))), false);
        s.bench.run_command(clips(vec![layer.clone()]));
        assert_eq!(s.bench.shown_time().is_some(), shows, "{rules:?}");
        s.bench.run_command(Command::Cancel);
        s.bench.run_command(clips(vec![ClipLayer { weight: 0.5, ..layer }]));
        assert_eq!(s.bench.shown_time(), None, "{rules:?}: another weight does not show the motion");
    }
}
