//! Tests of recorded grabs.

use super::*;
use crate::document::FRAME_RATES;

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
    s.bench.run_command(Command::Interpolation(crate::asset::Interpolation::CubicSpline));
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
