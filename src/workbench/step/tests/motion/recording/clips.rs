//! Tests of grabs on a clip of the file.

use super::*;
use crate::asset::{Channel, Clip};
use crate::document::{ClipLayer, KeyEdit};

/// A biped whose clip swings the outstretched arm and the back for four seconds. It shows the time 1 s.
fn swinging() -> Script {
    let mut character = biped();
    let times: Vec<f32> = (0..=16).map(|i| i as f32 * 0.25).collect();
    let channel = |node: usize, angle: f32| Channel {
        node: NodeId::from(node),
        property: Property::Rotation,
        interpolation: Interpolation::Linear,
        times: times.clone(),
        values: times
            .iter()
            .flat_map(|t| Quat::from_rotation_y(angle * (1.5 * t).sin()).to_array())
            .collect(),
    };
    let channels = vec![channel(BACK, 0.2), channel(ARM, 0.5), channel(ELBOW, -0.4)];
    Arc::make_mut(&mut character).skeleton.clips = vec![Clip { name: "swing".into(), channels }].into();
    let mut s = Script::new(&character);
    let layer = ClipLayer::new(0, s.bench.session().skeleton());
    s.bench.apply(Edit::Keys(KeyEdit::Clips(vec![layer])), false);
    s.bench.run_command(Command::Record(true));
    s.bench.run_command(Command::Scrub(1.0));
    s.step();
    s
}

#[test]
fn a_clip_plays_before_and_after_a_recording_and_the_recording_is_one_step() {
    for rules in [Rules::Now, Rules::Seventh] {
        let mut s = swinging();
        s.bench.keep_to(rules);
        s.bench.run_command(Command::GrabBy(GrabBy::Limb));
        let (before, steps) = (s.hash(), s.bench.session().history().0);
        let clip: Vec<Vec3> = (0..=96).map(|frame| place_at(&s, HAND, f64::from(frame) / 24.0)).collect();
        let held = s.joint(HAND) + Vec3::X * 0.02;
        let joints = performed(&mut s, &line(held, held + Vec3::new(-0.05, 0.15, 0.1), 45));
        let end = s.bench.shown_time().unwrap();
        assert!((1.45..1.6).contains(&end), "{end}");
        let now: Vec<Vec3> = (0..=96).map(|frame| place_at(&s, HAND, f64::from(frame) / 24.0)).collect();
        let last = (end * 24.0).round() as usize;
        assert!(now[last].distance(joints[44]) < 0.006, "{} {}", now[last], joints[44]);
        let away = |frame: usize| now[frame].distance(clip[frame]);
        if rules == Rules::Seventh {
            // Earlier, the keys of the recording held the arm before and after it.
            assert!(away(0) > 0.05 && away(96) > 0.05, "{} {}", away(0), away(96));
            assert_eq!(s.bench.session().history().0, steps + 2);
            continue;
        }
        for frame in (0..=24).chain(last + 12..=96) {
            assert!(away(frame) < 0.006, "{frame}: {}", away(frame));
        }
        assert!(away(last) > 0.08 && away(last + 6) > 0.03, "{} {}", away(last), away(last + 6));
        for frame in 1..=96 {
            assert!(now[frame].distance(now[frame - 1]) < 0.05, "it jumps at {frame}");
        }
        let motion = s.bench.session().document().motion();
        let keys: usize = motion.channels().iter().map(|c| c.times.len()).sum();
        assert!(keys < 97 * motion.channels().len() * 2 / 3, "{keys} of {}", motion.channels().len());
        assert!(
            motion
                .channels()
                .iter()
                .all(|c| c.target != Target::node(NodeId::from(BACK), Property::Rotation))
        );
        assert_eq!(s.bench.session().history().0, steps + 1);
        s.bench.run_command(Command::Undo);
        s.step();
        assert_eq!(s.hash(), before);
    }
}

#[test]
fn a_clip_that_repeats_leads_on_after_a_recording_beyond_its_end() {
    let mut s = swinging();
    s.bench.run_command(Command::GrabBy(GrabBy::Limb));
    let layer = ClipLayer { looped: true, ..s.bench.session().document().motion().clips()[0].clone() };
    s.bench.apply(Edit::Keys(KeyEdit::Clips(vec![layer])), false);
    s.bench.run_command(Command::Scrub(3.8));
    s.step();
    let clip: Vec<Vec3> = (0..=130).map(|frame| place_at(&s, HAND, f64::from(frame) / 24.0)).collect();
    let held = s.joint(HAND) + Vec3::X * 0.02;
    performed(&mut s, &line(held, held + Vec3::Y * 0.15, 45));
    let last = (s.bench.shown_time().unwrap() * 24.0).round() as usize;
    assert!((100..106).contains(&last), "{last}");
    let away = |frame: usize| place_at(&s, HAND, frame as f64 / 24.0).distance(clip[frame]);
    assert!(away(last) > 0.05 && away(last + 12) < 0.006, "{} {}", away(last), away(last + 12));
}

#[test]
fn a_pose_taken_from_a_clip_under_a_stroke_does_not_change_the_motion() {
    let mut s = swinging();
    s.bench.run_command(Command::Record(false));
    s.bench.leave_motion();
    s.step();
    let shoulder = Vec3::new(-0.2, 1.5, 0.0);
    s.draw(RIGHT, &line(shoulder, shoulder - Vec3::X * 0.55, 12));
    s.draw(RIGHT, &line(shoulder, shoulder + Vec3::new(-0.4, 0.4, 0.0), 12));
    let motion = |s: &Script| {
        let (document, skeleton) = (s.bench.session().document(), s.bench.session().skeleton());
        [0.0, 0.7, 1.0, 2.0, 3.0].map(|time| {
            let world = document.state(skeleton, Some(time)).pose.world(skeleton);
            world.iter().map(|w| Vec3::from(w.translation)).collect::<Vec<_>>()
        })
    };
    assert!(place_at(&s, OTHER_HAND, 1.0).y > 1.6, "the stroke poses the other arm");
    let before = motion(&s);
    s.bench.run_command(Command::Scrub(1.0));
    s.step();
    let shown: Vec<Vec3> = (0..before[2].len()).map(|node| s.joint(node)).collect();
    s.bench.take_pose();
    for (now, then) in motion(&s).iter().zip(&before) {
        assert!(now.iter().zip(then).all(|(a, b)| a.distance(*b) < 1e-4), "{now:?} {then:?}");
    }
    let taken = (0..shown.len()).map(|node| s.joint(node));
    assert!(taken.zip(&shown).all(|(a, b)| a.distance(*b) < 1e-4), "the taken pose is the shown one");
}

#[test]
fn a_grab_that_reaches_nothing_leaves_the_motion_on_display() {
    let mut s = swinging();
    s.bench.run_command(Command::Tool(Tool::Grab));
    s.bench.run_command(Command::Play(true));
    s.step();
    let (before, steps) = (s.hash(), s.bench.session().history());
    let away = Vec3::new(0.6, 0.4, 0.8);
    s.draw(RIGHT, &line(away, away + Vec3::Y * 0.2, 10));
    assert_eq!((s.hash(), s.bench.session().history()), (before, steps));
    assert!(s.bench.timeline().playhead.shown && s.bench.timeline().playhead.playing);
}

#[test]
fn a_clip_leads_into_a_recording_of_another_pose() {
    let mut s = swinging();
    s.bench.run_command(Command::GrabBy(GrabBy::Limb));
    s.bench.leave_motion();
    s.step();
    let turned = |s: &Script, frame: i32| {
        let skeleton = s.bench.session().skeleton();
        let pose = s.bench.session().document().state(skeleton, Some(f64::from(frame) / 24.0)).pose;
        pose.local[ELBOW].rotation()
    };
    let clip: Vec<Quat> = (0..=24).map(|frame| turned(&s, frame)).collect();
    let rest = s.bench.pose().local[ELBOW].rotation();
    let held = s.joint(HAND) + Vec3::X * 0.02;
    performed(&mut s, &line(held, held + Vec3::new(-0.1, 0.1, 0.0), 45));
    let now: Vec<Quat> = (0..=24).map(|frame| turned(&s, frame)).collect();
    let away = |frame: usize| now[frame].angle_between(clip[frame]);
    assert!(clip[24].angle_between(rest) > 0.3, "the clip has another pose");
    assert!(now[24].angle_between(rest) < 0.02, "{}", now[24].angle_between(rest));
    assert!((0..=12).all(|frame| away(frame) < 0.02) && away(18) > 0.1, "{}", away(18));
    assert!((1..=24).all(|frame| now[frame].angle_between(now[frame - 1]) < 0.1));
}
