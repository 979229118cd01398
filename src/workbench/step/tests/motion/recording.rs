//! Tests of recorded grabs.

mod clips;

use super::*;
use crate::asset::{Interpolation, Property};
use crate::base::Progress;
use crate::bind::shapes::Shape;
use crate::document::{Edit, FRAME_RATES, Key, Target};
use crate::scene::{CageSource, Model};
use crate::surface::Grip;
use crate::workbench::{GrabBy, Rules};
use std::time::Duration;

/// Places of a hand that waves from the outstretched arm for a second, slowly at first.
fn wave() -> Vec<Vec3> {
    (0..=90)
        .map(|i| {
            let t = i as f32 / 90.0;
            Vec3::new(0.77, 1.5, 0.0) + Vec3::new(-0.25, 0.25, 0.1) * (t * t)
        })
        .collect()
}

/// Grabs the hand, records the places that the joint takes, and releases it.
fn performed(s: &mut Script, places: &[Vec3]) -> Vec<Vec3> {
    s.at(0, places[0]);
    s.step();
    s.input.hands[0].grab = 1.0;
    let mut joints = Vec::new();
    for place in places {
        s.at(0, *place);
        s.step();
        joints.push(s.joint(HAND));
    }
    s.input.hands[0].grab = 0.0;
    s.step();
    joints
}

/// The place of a joint in the motion at a time, seconds.
fn place_at(s: &Script, node: usize, time: f64) -> Vec3 {
    let skeleton = s.bench.session().skeleton();
    let pose = s.bench.session().document().state(skeleton, Some(time)).pose;
    pose.world(skeleton)[node].translation.into()
}

#[test]
fn the_switches_of_the_timeline_show_at_once() {
    let mut s = Script::biped();
    let shown = |s: &Script| [s.bench.timeline().playhead.record, s.bench.timeline().playhead.auto_key];
    s.bench.run_command(Command::Record(true));
    assert_eq!(shown(&s), [true, false]);
    s.bench.run_command(Command::AutoKey(true));
    s.bench.run_command(Command::Record(false));
    assert_eq!(shown(&s), [false, true]);
}

#[test]
fn a_recorded_grab_plays_as_the_hand_moved_and_is_one_step() {
    for rate in FRAME_RATES {
        let mut s = Script::biped();
        s.bench.run_command(Command::Rate(rate));
        s.bench.run_command(Command::Record(true));
        let (before, steps) = (s.hash(), s.bench.session().history().0);
        let joints = performed(&mut s, &wave());
        let motion = s.bench.session().document().motion().clone();
        let times = motion.key_times();
        assert_eq!(times[0], 0.0);
        let whole = |t: f64| (t * f64::from(rate) - (t * f64::from(rate)).round()).abs() < 1e-4;
        assert!(times.iter().all(|t| whole(*t)), "keys lie on frames: {times:?}");
        let last = times[times.len() - 1];
        assert!((last - 1.0).abs() <= 2.0 / f64::from(rate) && times.len() < 32, "{times:?}");
        // The hand grabbed in the first of these frames, so frame `i` shows the time `i / 90`.
        for (i, wanted) in joints.iter().enumerate() {
            let now = place_at(&s, HAND, i as f64 / 90.0);
            assert!(now.distance(*wanted) < 0.012, "{rate} {i}: {now} {wanted}");
        }
        assert!(place_at(&s, HAND, last).distance(joints[90]) < 1e-4);
        // Only the joints of the arm have keys, and only rotations.
        assert!(motion.channels().iter().all(|c| c.target.rotates()), "{:?}", motion.channels().len());
        assert_eq!(s.bench.shown_time(), Some(last), "the playhead is at the end");
        assert_eq!(s.bench.session().history().0, steps + 1);
        s.bench.run_command(Command::Undo);
        s.step();
        assert_eq!(s.hash(), before);
    }
}

#[test]
fn a_second_recording_replaces_the_keys_of_its_joints_and_times() {
    let mut s = Script::biped();
    s.bench.run_command(Command::Record(true));
    performed(&mut s, &wave());
    let end = s.bench.timeline().playhead.time;
    let arm = s.bench.session().document().motion().channels().len();
    let early = place_at(&s, HAND, 0.4);
    // The other arm moves for half a second from the middle on.
    s.bench.run_command(Command::Scrub(0.5));
    s.step();
    let other = Vec3::new(-0.77, 1.5, 0.0);
    let places = line(other, other + Vec3::new(0.2, 0.2, 0.1), 45);
    s.pull(1, &places);
    let motion = s.bench.session().document().motion();
    assert!(motion.channels().len() > arm);
    assert!(place_at(&s, HAND, 0.4).distance(early) < 1e-5);
    assert!(place_at(&s, OTHER_HAND, 0.5).distance(Vec3::new(-0.75, 1.5, 0.0)) < 1e-4);
    assert!(place_at(&s, OTHER_HAND, end).y > 1.65);
    // The same arm again, from the middle on: the motion before stays.
    s.bench.run_command(Command::Scrub(0.5));
    s.step();
    let held = s.joint(HAND) + Vec3::X * 0.02;
    s.pull(0, &line(held, held - Vec3::Y * 0.3, 60));
    assert!(place_at(&s, HAND, 0.4).distance(early) < 0.01, "{} {early}", place_at(&s, HAND, 0.4));
    assert!(place_at(&s, HAND, 0.5 + 60.0 / 90.0).y < 1.4);
}

#[test]
fn a_recording_that_is_cancelled_or_moves_nothing_leaves_no_keys_and_the_playhead_where_it_was() {
    let mut s = Script::biped();
    s.bench.run_command(Command::Record(true));
    s.bench.run_command(Command::Scrub(1.0));
    let before = s.hash();
    s.at(0, wave()[0]);
    s.step();
    s.input.hands[0].grab = 1.0;
    for place in &wave()[..40] {
        s.at(0, *place);
        s.step();
    }
    assert!(s.bench.is_recording() && s.bench.timeline().playhead.time > 1.3);
    s.bench.run_command(Command::Cancel);
    s.step();
    assert!(!s.bench.is_recording());
    s.input.hands[0].grab = 0.0;
    s.step();
    assert_eq!((s.hash(), s.bench.timeline().playhead.time), (before.clone(), 1.0));
    performed(&mut s, &[wave()[0]; 30]);
    assert_eq!((s.hash(), s.bench.timeline().playhead.time), (before, 1.0));
    // A hand that comes back to its first place leaves the pose as it was, but the motion has keys.
    let there = line(wave()[0], wave()[90], 30);
    let and_back: Vec<Vec3> = there.iter().chain(there.iter().rev()).copied().collect();
    performed(&mut s, &and_back);
    assert!(place_at(&s, HAND, 1.0 + 30.0 / 90.0).y > 1.7);
    // Without the switch, a grab is a pose.
    s.bench.run_command(Command::Record(false));
    let keys = s.bench.session().document().motion().clone();
    s.pull(0, &wave());
    assert_eq!(*s.bench.session().document().motion(), keys);
}

#[test]
fn a_spline_keeps_its_motion_before_and_after_a_recording() {
    let mut s = Script::biped();
    for (time, height) in [(0.0, 0.0), (1.0, 0.2), (2.0, -0.2), (3.0, 0.1)] {
        s.bench.run_command(Command::Scrub(time));
        s.step();
        let held = s.joint(HAND) + Vec3::X * 0.02;
        let goal = Vec3::new(0.7, 1.5 + height, 0.05);
        s.pull(0, &line(held, goal, 10));
        s.bench.run_command(Command::Key);
    }
    s.bench.run_command(Command::Interpolation(Interpolation::CubicSpline));
    let before: Vec<Vec3> = [0.2, 0.7, 2.3, 2.8].map(|t| place_at(&s, HAND, t)).to_vec();
    s.bench.run_command(Command::Record(true));
    s.bench.run_command(Command::Scrub(1.2));
    s.step();
    let held = s.joint(HAND) + Vec3::X * 0.02;
    performed(&mut s, &line(held, held + Vec3::new(-0.2, 0.1, 0.2), 45));
    let after: Vec<Vec3> = [0.2, 0.7, 2.3, 2.8].map(|t| place_at(&s, HAND, t)).to_vec();
    for (a, b) in before.iter().zip(&after) {
        assert!(a.distance(*b) < 1e-3, "{before:?} {after:?}");
    }
    let slow = (1..20).map(|i| place_at(&s, HAND, 1.2 + 0.025 * f64::from(i)));
    assert!(slow.clone().zip(slow.skip(1)).all(|(a, b)| a.distance(b) < 0.03), "no jump or overshoot");
}

const BACK: usize = 1;
const OTHER_ARM: usize = 7;

/// A biped that bends its back and lowers its other arm in two seconds. It shows the time 0.5 s.
fn bowing() -> Script {
    let mut s = Script::biped();
    let rest = s.bench.context.pose.clone();
    for (time, share) in [(0.0, 0.0), (2.0, 1.0)] {
        let mut pose = rest.without_rest();
        for (node, angle) in [(BACK, 0.5), (OTHER_ARM, 0.8)] {
            let turn = Quat::from_rotation_z(angle * share);
            pose.local[node].rotation = (turn * pose.local[node].rotation()).into();
        }
        s.bench.key(Edit::SetKey(Key { time, pose }), false);
    }
    s.bench.run_command(Command::Record(true));
    s.bench.run_command(Command::Scrub(0.5));
    s.step();
    s
}

#[test]
fn the_motion_plays_under_a_recorded_grab_and_the_hand_holds_its_place() {
    for by in [GrabBy::Bone, GrabBy::Limb, GrabBy::Body] {
        let mut s = bowing();
        s.bench.run_command(Command::GrabBy(by));
        let before = s.bench.session().document().motion().clone();
        let skeleton = s.bench.session().skeleton().clone();
        let played = s.bench.session().document().clone();
        let held = s.joint(HAND) + Vec3::X * 0.02;
        // The hand of the user rises, and then stands still while the back goes on bending.
        let rising = line(held, held + Vec3::new(-0.1, 0.1, 0.05), 45);
        let places: Vec<Vec3> = rising.iter().copied().chain([rising[44]; 45]).collect();
        s.at(0, places[0]);
        s.step();
        s.input.hands[0].grab = 1.0;
        let mut joints = Vec::new();
        for place in &places {
            s.at(0, *place);
            s.step();
            let time = s.bench.timeline().playhead.time;
            let motion = played.state(&skeleton, Some(time)).pose;
            let other = Vec3::from(motion.world(&skeleton)[OTHER_HAND].translation);
            if by != GrabBy::Body {
                assert!(s.joint(OTHER_HAND).distance(other) < 1e-4, "{by:?} {time}");
            }
            joints.push((time, s.joint(HAND), s.joint(OTHER_HAND)));
        }
        // A bone alone only rotates; a limb keeps its place in the user's hand.
        let drift = joints[89].1.distance(joints[45].1);
        assert!((by == GrabBy::Bone) == (drift > 0.05), "{by:?}: the hand drifts by {drift}");
        assert!(joints[89].2.distance(joints[0].2) > 0.1, "{by:?}: the other arm moves on");
        s.input.hands[0].grab = 0.0;
        s.step();
        let motion = s.bench.session().document().motion();
        assert!((s.bench.shown_time().unwrap() - 1.5).abs() < 0.05);
        for (time, hand, other) in &joints[1..] {
            let far = place_at(&s, HAND, *time).distance(*hand);
            assert!(far < 0.012, "{by:?}: the hand is {far} m off at {time}");
            let far = place_at(&s, OTHER_HAND, *time).distance(*other);
            assert!(far < 0.012, "{by:?}: the other hand is {far} m off at {time}");
        }
        let same = |node: usize| {
            let target = Target::node(NodeId::from(node), Property::Rotation);
            motion.channel(&target) == before.channel(&target)
        };
        assert!(by == GrabBy::Body || (same(BACK) && same(OTHER_ARM)), "{by:?}");
        assert!(!same(HAND), "{by:?}");
    }
}

#[test]
fn a_limb_that_is_released_while_another_is_recorded_stays_on_the_motion_without_a_jump() {
    let mut s = bowing();
    s.bench.run_command(Command::GrabBy(GrabBy::Limb));
    let held = [HAND, OTHER_HAND].map(|node| s.joint(node));
    (0..2).for_each(|h| s.at(h, held[h]));
    s.step();
    (0..2).for_each(|h| s.input.hands[h].grab = 1.0);
    let mut last = s.joint(OTHER_HAND);
    for i in 0..60 {
        let risen = 0.004 * i.min(30) as f32;
        (0..2).for_each(|h| s.at(h, held[h] + risen * Vec3::new(-held[h].x.signum(), 1.0, 0.0)));
        if i == 30 {
            s.input.hands[1].grab = 0.0;
        }
        s.step();
        let now = s.joint(OTHER_HAND);
        assert!(now.distance(last) < 0.02, "frame {i}: the released hand jumps by {}", now.distance(last));
        last = now;
    }
    let time = s.bench.timeline().playhead.time;
    s.input.hands[0].grab = 0.0;
    s.step();
    assert!(place_at(&s, OTHER_HAND, time).distance(last) < 0.012);
    assert!(place_at(&s, HAND, time).distance(held[0] + Vec3::new(-0.12, 0.12, 0.0)) < 0.03);
}

#[test]
fn a_recorded_joint_adds_to_its_motion() {
    let mut s = bowing();
    s.bench.run_command(Command::Tool(Tool::Joint));
    let skeleton = s.bench.session().skeleton().clone();
    let played = s.bench.session().document().clone();
    let place = s.joint(BACK);
    s.at(RIGHT, place);
    s.step();
    s.input.hands[RIGHT].draw = 1.0;
    let mut last = (0.0, Quat::IDENTITY);
    for i in 0..60 {
        let turn = Quat::from_rotation_x(0.01 * i as f32);
        s.turned(RIGHT, place, turn);
        s.step();
        let time = s.bench.timeline().playhead.time;
        let motion = played.state(&skeleton, Some(time)).pose.local[BACK].rotation();
        let now = s.bench.context.pose.local[BACK].rotation();
        let off = (turn * motion).angle_between(now);
        assert!(i == 0 || off < 1e-3, "{i}: {off} {turn} {motion} {now} {}", s.bench.is_recording());
        last = (time, now);
    }
    s.input.hands[RIGHT].draw = 0.0;
    s.step();
    let keyed = s.bench.session().document().state(&skeleton, Some(last.0)).pose.local[BACK].rotation();
    assert!(keyed.angle_between(last.1) < 0.02);
}

#[test]
fn the_motion_stands_still_under_a_recording_of_another_pose_and_in_earlier_takes() {
    for earlier in [false, true] {
        let mut s = bowing();
        if earlier {
            s.bench.keep_to(Rules::Fourth);
        } else {
            // The rest pose is not that of the motion.
            s.bench.leave_motion();
        }
        let other = s.joint(OTHER_HAND);
        let held = s.joint(HAND);
        performed(&mut s, &line(held, held + Vec3::Y * 0.1, 45));
        assert!(place_at(&s, HAND, 1.0).distance(held + Vec3::Y * 0.1) > 0.02);
        s.bench.leave_motion();
        s.step();
        assert!(s.joint(OTHER_HAND).distance(other) < 1e-4);
    }
}

#[test]
fn a_recording_on_a_motion_that_is_cancelled_or_changes_nothing_leaves_the_motion() {
    let mut s = bowing();
    let motion = s.bench.session().document().motion().clone();
    let held = s.joint(HAND) + Vec3::X * 0.02;
    s.at(0, held);
    s.step();
    s.input.hands[0].grab = 1.0;
    for place in line(held, held + Vec3::Y * 0.2, 30) {
        s.at(0, place);
        s.step();
    }
    assert!(s.bench.is_recording() && s.bench.timeline().playhead.time > 0.8);
    s.bench.run_command(Command::Cancel);
    s.step();
    s.input.hands[0].grab = 0.0;
    s.step();
    assert!(!s.bench.is_recording() && s.bench.context.beneath.is_none());
    assert_eq!(*s.bench.session().document().motion(), motion);
    assert_eq!(s.bench.shown_time(), Some(0.5), "the motion shows as before the grab");
}

#[test]
fn a_motion_that_played_plays_on_after_a_recording() {
    for (plays, rules) in [(true, Rules::Now), (false, Rules::Now), (true, Rules::Fifth)] {
        let mut s = bowing();
        s.bench.keep_to(rules);
        s.bench.run_command(Command::Play(plays));
        s.step();
        let held = s.joint(HAND) + Vec3::X * 0.02;
        performed(&mut s, &line(held, held + Vec3::Y * 0.1, 45));
        let end = s.bench.timeline().playhead.time;
        assert!((0.9..1.1).contains(&end), "{end}");
        (0..9).for_each(|_| _ = s.step());
        let head = s.bench.timeline().playhead;
        let on = plays && rules == Rules::Now;
        assert_eq!((head.playing, head.shown), (on, true), "{rules:?}");
        assert!((head.time - end - if on { 0.1 } else { 0.0 }).abs() < 0.02, "{rules:?}: {head:?}");
        assert!(place_at(&s, HAND, end).y > held.y + 0.05);
    }
}

/// A bare capsule with grips on the skin near two places, and the exact places of the grips.
fn gripped(near: [Vec3; 2]) -> (Script, [Vec3; 2]) {
    let shape = Shape { bones: 1, rings: 24, segments: 12, radius: 0.15, length: 1.8, blend: 0.3 };
    let character = Arc::new(Character::from_asset(&shape.bare_asset()).unwrap());
    let mut s = Script::new(&character);
    s.bench.run_command(Command::Tool(Tool::Grip));
    let positions = &character.control.positions;
    let places = near.map(|place| {
        let away = |v: &usize| positions[*v].distance(place);
        let v = (0..positions.len()).min_by(|a, b| away(a).total_cmp(&away(b))).unwrap();
        let id = s.bench.session().document().unused_grip_id();
        let grip = Box::new(Grip::new(id, [v as u32]));
        s.bench.apply(Edit::AddGrip { index: None, grip }, false);
        positions[v]
    });
    s.step();
    (s, places)
}

/// The translation of a grip in the motion at a time, seconds.
fn grip_at(s: &Script, index: usize, time: f64) -> Vec3 {
    s.bench.session().document().state(s.bench.session().skeleton(), Some(time)).pose.grips[index]
        .translation()
}

#[test]
fn grips_are_performed_one_after_the_other() {
    let (mut s, [low, high]) = gripped([0.1, 1.7].map(|y| Vec3::new(0.15, y, 0.0)));
    s.bench.run_command(Command::Record(true));
    s.draw(RIGHT, &line(high, high + Vec3::X * 0.3, 90));
    let first = s.bench.session().document().motion().clone();
    assert_eq!(first.channels().len(), 1, "{:?}", first.channels());
    assert!((s.bench.shown_time().unwrap() - 1.0).abs() < 0.05, "{:?}", s.bench.shown_time());
    for (time, x) in [(0.0, 0.0), (0.5, 0.15), (1.0, 0.3)] {
        assert!((grip_at(&s, 1, time).x - x).abs() < 0.012, "{time}: {}", grip_at(&s, 1, time));
    }
    // The second one holds the low grip while the first motion plays.
    s.bench.run_command(Command::Scrub(0.0));
    s.step();
    s.at(RIGHT, low);
    s.step();
    s.input.hands[RIGHT].draw = 1.0;
    for place in line(low, low + Vec3::new(0.0, -0.2, 0.1), 60) {
        s.at(RIGHT, place);
        s.step();
        let (time, now) = (s.bench.timeline().playhead.time, s.bench.pose().grips[1].translation());
        assert!(now.distance(Vec3::from_slice(&first.channels()[0].at(time))) < 1e-4, "{time}: {now}");
    }
    s.input.hands[RIGHT].draw = 0.0;
    s.step();
    let motion = s.bench.session().document().motion();
    assert_eq!(motion.channels().len(), 2);
    assert!(motion.channels().contains(&first.channels()[0]), "the first motion stays");
    for (time, share) in [(0.0, 0.0), (0.3, 0.45), (0.6, 0.9)] {
        let wanted = share * Vec3::new(0.0, -0.2, 0.1);
        assert!(grip_at(&s, 0, time).distance(wanted) < 0.012, "{time}: {}", grip_at(&s, 0, time));
    }
    s.bench.run_command(Command::Undo);
    s.step();
    assert_eq!(*s.bench.session().document().motion(), first);
    // In takes of earlier versions, a moved grip gets no keys.
    s.bench.keep_to(Rules::Fifth);
    s.bench.run_command(Command::Scrub(0.0));
    s.step();
    s.draw(RIGHT, &line(low, low + Vec3::X * 0.1, 30));
    assert_eq!(*s.bench.session().document().motion(), first);
}

#[test]
fn a_mirrored_grip_is_performed_on_both_sides() {
    let (mut s, [left, right]) = gripped([0.15, -0.15].map(|x| Vec3::new(x, 1.7, 0.0)));
    s.bench.run_command(Command::Mirror(true));
    s.bench.run_command(Command::Record(true));
    let by = Vec3::new(0.2, 0.1, 0.05);
    s.draw(RIGHT, &line(left, left + by, 45));
    assert!(right.distance(left * Vec3::new(-1.0, 1.0, 1.0)) < 1e-3, "{left} {right}");
    let end = s.bench.shown_time().unwrap();
    assert_eq!(s.bench.session().document().motion().channels().len(), 2);
    for (time, share) in [(0.0, 0.0), (0.5 * end, 0.5), (end, 1.0)] {
        let [a, b] = [0, 1].map(|index| grip_at(&s, index, time));
        assert!(
            a.distance(share * by) < 0.012 && b.distance(a * Vec3::new(-1.0, 1.0, 1.0)) < 1e-3,
            "{a} {b}"
        );
    }
}

#[test]
fn a_moved_cage_is_performed() {
    let shape = Shape { bones: 2, rings: 12, segments: 12, radius: 0.2, length: 1.0, blend: 0.3 };
    let model = Model::bind(shape.capsule_asset(), &BindOptions::default(), Duration::ZERO).unwrap();
    let coordinates = Coordinates::default();
    let (new, _) = model.new_cage(&CageSource::Made(40), coordinates, &Progress::default()).unwrap();
    let mut s = Script::new(&model.bound.character);
    s.bench.receive_cage(new);
    s.bench.run_command(Command::Tool(Tool::Cage));
    s.step();
    s.step();
    let place = s.bench.cage.positions().iter().max_by(|a, b| a.y.total_cmp(&b.y)).unwrap().as_vec3();
    s.bench.run_command(Command::Record(true));
    s.bench.run_command(Command::Scrub(1.0));
    let steps = s.bench.session().history().0;
    s.draw(RIGHT, &line(place, place + Vec3::Y * 0.3, 90));
    let document = s.bench.session().document().clone();
    let channel = document.cage_channel().expect("keys of the cage");
    assert_eq!((channel.times[0], s.bench.session().history().0), (1.0, steps + 1));
    let end = channel.times[channel.times.len() - 1];
    assert!((end - 2.0).abs() < 0.05 && channel.times.len() < 31, "{:?}", channel.times);
    let height = |time: f64| channel.at(time).iter().skip(1).step_by(3).fold(f32::MIN, |a, b| a.max(*b));
    for (time, wanted) in [(1.0, 0.0), (1.5, 0.15), (2.0, 0.3)] {
        assert!((height(time) - wanted).abs() < 0.012, "{time}: {}", height(time));
    }
    assert_eq!(s.bench.shown_time(), Some(end));
    // A second performance from the middle on replaces its time alone, and leaves no key of the release at its start.
    s.bench.run_command(Command::Scrub(1.5));
    s.step();
    let place = s.bench.cage.positions().iter().max_by(|a, b| a.y.total_cmp(&b.y)).unwrap().as_vec3();
    s.draw(RIGHT, &line(place, place - Vec3::Y * 0.1, 18));
    let channel = s.bench.session().document().cage_channel().unwrap();
    let height = |time: f64| channel.at(time).iter().skip(1).step_by(3).fold(f32::MIN, |a, b| a.max(*b));
    for (time, wanted) in [(1.25, 0.075), (1.5, 0.15), (1.7, 0.05)] {
        assert!((height(time) - wanted).abs() < 0.02, "{time}: {}", height(time));
    }
}
