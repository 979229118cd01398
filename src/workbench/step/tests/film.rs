//! Tests of keys, scrubbing and playback.

use super::*;

const HAND_AT: Vec3 = Vec3::new(0.77, 1.5, 0.0);

fn columns(s: &Script) -> Vec<f64> {
    s.bench.timeline().sheet.columns.clone()
}

/// Keys the rest pose at 0 s; auto-keys the raised left hand at 1 s.
fn two_keys() -> Script {
    let mut s = Script::biped();
    s.step();
    s.bench.run_command(Command::Key);
    s.bench.run_command(Command::AutoKey(true));
    s.bench.run_command(Command::Scrub(1.0));
    s.pull(RIGHT, &line(HAND_AT, Vec3::new(0.5, 1.9, 0.0), 15));
    s.step();
    s
}

#[test]
fn auto_key_keys_what_a_hand_changes_and_both_are_one_step() {
    let mut s = two_keys();
    assert_eq!(columns(&s), [0.0, 1.0]);
    let raised = s.joint(HAND);
    assert!(raised.y > 1.7, "{raised}");
    let channels = s.bench.session().document().motion().channels();
    let keyed = channels.iter().filter(|c| c.times.len() == 2).count();
    assert!((1..=6).contains(&keyed), "only what was changed: {keyed} of {}", channels.len());
    let steps = s.bench.session().history().0;
    s.bench.run_command(Command::Scrub(0.5));
    let half = s.joint(HAND);
    assert!(half.y > 1.52 && half.y < raised.y - 0.02, "{half} between rest and {raised}");
    s.bench.run_command(Command::Scrub(0.0));
    assert!(s.joint(HAND).distance(Vec3::new(0.75, 1.5, 0.0)) < 1e-5);
    assert_eq!(s.bench.session().history().0, steps, "scrubbing changes nothing");
    s.bench.run_command(Command::Undo);
    s.step();
    assert_eq!(columns(&s), [0.0]);
    s.bench.run_command(Command::Redo);
    s.step();
    assert_eq!(columns(&s), [0.0, 1.0]);
    assert_eq!(s.bench.session().history(), (steps, steps), "redo keys nothing anew");
    assert_eq!(two_keys().hash(), s.hash());
}

#[test]
fn playing_runs_by_the_inputs_clock_and_goes_round() {
    let mut s = two_keys();
    let hash = s.hash();
    s.bench.run_command(Command::Scrub(0.0));
    s.bench.run_command(Command::Play(true));
    let mut highest = 0.0_f32;
    let mut last = s.bench.timeline().playhead.time;
    let mut rounds = 0;
    // Playback loops over the motion's single second.
    for _ in 0..225 {
        s.step();
        let time = s.bench.timeline().playhead.time;
        rounds += usize::from(time < last);
        assert!(time < last || (time - last - DT).abs() < 1e-9);
        last = time;
        highest = highest.max(s.joint(HAND).y);
    }
    assert_eq!(rounds, 2);
    assert!(highest > 1.7 && s.bench.shown_time() == Some(last));
    s.bench.run_command(Command::Play(false));
    let time = s.bench.timeline().playhead.time * 24.0;
    assert!((time - time.round()).abs() < 1e-5, "it stands on a frame: {time}");
    assert_eq!(s.hash(), hash);
    let mut still = Script::biped();
    still.bench.run_command(Command::Play(true));
    assert!(still.bench.notice().unwrap().contains("nothing moves"));
}

#[test]
fn keys_are_dragged_between_their_neighbours_in_one_step_and_deleted() {
    let mut s = two_keys();
    let steps = s.bench.session().history().0;
    s.bench.run_command(Command::Scrub(1.0));
    for to in [1.2, 1.5, -3.0, 1.25] {
        s.bench.run_command(Command::MoveKey(to));
        s.step();
    }
    assert_eq!(columns(&s), [0.0, 1.25]);
    assert_eq!(s.bench.timeline().column, Some(1.25));
    assert_eq!(s.bench.session().history().0, steps + 1);
    s.bench.run_command(Command::Undo);
    s.step();
    assert_eq!(columns(&s), [0.0, 1.0]);
    s.bench.run_command(Command::Scrub(1.0));
    s.bench.run_command(Command::DeleteKey);
    assert_eq!(columns(&s), [0.0]);
    s.bench.run_command(Command::Interpolation(crate::asset::Interpolation::Step));
    s.bench.run_command(Command::Rate(60));
    let timeline = s.bench.timeline();
    assert_eq!((timeline.interpolation, timeline.sheet.rate), (Some(crate::asset::Interpolation::Step), 60));
}

#[test]
fn a_key_of_the_selected_joint_keys_no_other_joint() {
    let mut s = two_keys();
    s.bench.run_command(Command::Scrub(0.5));
    s.bench.run_command(Command::Select(None));
    s.bench.run_command(Command::KeyJoint);
    assert!(s.bench.notice().unwrap().contains("no joint is selected"));
    let node = NodeId::from(HAND);
    s.bench.run_command(Command::Select(Some(node)));
    let steps = s.bench.session().history().0;
    let half = s.joint(HAND);
    s.bench.run_command(Command::KeyJoint);
    s.step();
    let channels = s.bench.session().document().motion().channels();
    let keyed: Vec<_> = channels.iter().filter(|c| c.times.contains(&0.5)).map(|c| &c.target).collect();
    assert!(!keyed.is_empty());
    assert!(
        keyed.iter().all(|t| matches!(t, crate::document::Target::Node { node: n, .. } if *n == node)),
        "{keyed:?}"
    );
    assert_eq!(s.bench.session().history().0, steps + 1);
    assert!(s.joint(HAND).distance(half) < 1e-6, "the key is of the pose that shows");
    s.bench.run_command(Command::Undo);
    s.step();
    assert_eq!(columns(&s), [0.0, 1.0]);
}

#[test]
fn a_hand_that_reaches_into_the_motion_gets_its_pose() {
    let mut s = two_keys();
    s.bench.run_command(Command::AutoKey(false));
    s.bench.run_command(Command::Scrub(0.5));
    s.step();
    let (half, steps) = (s.joint(HAND), s.bench.session().history().0);
    // Away from the body, nothing happens.
    s.pull(0, &line(Vec3::new(0.0, 0.3, 2.0), Vec3::new(0.1, 0.3, 2.0), 3));
    assert_eq!((s.bench.session().history().0, s.bench.shown_time()), (steps, Some(0.5)));
    s.bench.run_command(Command::UndoNavigation);
    s.pull(0, &line(Vec3::new(0.1, 0.05, 0.02), Vec3::new(0.1, 0.25, 0.1), 8));
    s.step();
    assert_eq!(s.bench.shown_time(), None);
    assert!(s.joint(HAND).distance(half) < 0.02, "{} {half}", s.joint(HAND));
    assert!(s.joint(FOOT).y > 0.1, "{}", s.joint(FOOT));
    assert_eq!(columns(&s), [0.0, 1.0], "without auto-key nothing is keyed");
}

#[test]
fn time_goes_on_beyond_the_last_key_and_what_is_keyed_there_is_played() {
    let mut s = two_keys();
    s.bench.run_command(Command::Scrub(7.0));
    assert_eq!(s.bench.shown_time(), Some(7.0));
    s.bench.run_command(Command::Key);
    assert_eq!(columns(&s), [0.0, 1.0, 7.0]);
    let timeline = s.bench.timeline();
    assert!(timeline.sheet.duration == 7.0 && timeline.length > 7.5, "a slider reaches on from there");
    // Panels and playback share the sheet until the document changes.
    let sheet = timeline.sheet.clone();
    s.bench.run_command(Command::Play(true));
    for _ in 0..9 {
        s.step();
    }
    assert!(Arc::ptr_eq(&sheet, &s.bench.timeline().sheet));
    s.bench.leave_motion();
    assert!(s.bench.shown_time().is_none() && !s.bench.timeline().playhead.playing);
    s.bench.run_command(Command::Undo);
    assert_eq!(columns(&s), [0.0, 1.0]);
}

/// Plays for a number of frames and returns the times of the playhead.
fn played(s: &mut Script, frames: usize) -> Vec<f64> {
    s.bench.run_command(Command::Play(true));
    let step = |_| {
        s.step();
        s.bench.timeline().playhead.time
    };
    (0..frames).map(step).collect()
}

#[test]
fn playback_stays_between_in_point_and_out_point_and_loops_there() {
    let mut s = two_keys();
    let hash = s.hash();
    s.bench.run_command(Command::PlayRange(Some([0.76, 0.24])));
    let range = s.bench.timeline().playhead.range.unwrap();
    assert_eq!(range, [0.25, 0.75], "the points are frames, in order");
    s.bench.run_command(Command::Scrub(0.0));
    let times = played(&mut s, 150);
    assert!(times.iter().all(|t| (0.25..0.75).contains(t)), "{times:?}");
    assert!(times.windows(2).filter(|t| t[1] < t[0]).count() >= 2, "{times:?}");
    // Scrubbing leaves the range; playback returns into it.
    s.bench.run_command(Command::Scrub(0.9));
    assert!((s.bench.shown_time().unwrap() - 0.9).abs() < 0.03);
    assert!(played(&mut s, 1)[0] < 0.3);
    for bad in [[f64::NAN, 1.0], [0.0, f64::INFINITY]] {
        s.bench.run_command(Command::PlayRange(Some(bad)));
        assert_eq!(s.bench.timeline().playhead.range, None);
    }
    s.bench.run_command(Command::PlayRange(Some([0.5, 0.5])));
    let [start, end] = s.bench.timeline().playhead.range.unwrap();
    assert!((end - start - 1.0 / 24.0).abs() < 1e-6, "the range is never empty");
    assert_eq!(s.hash(), hash, "the range is not part of the document");
}

#[test]
fn without_loop_playback_stops_at_the_end_and_starts_again_from_the_start() {
    let mut s = two_keys();
    s.bench.run_command(Command::Loop(false));
    s.bench.run_command(Command::Scrub(0.0));
    let times = played(&mut s, 150);
    assert_eq!((times[149], s.bench.timeline().playhead.playing), (1.0, false));
    assert_eq!(s.bench.shown_time(), Some(1.0), "the last pose shows");
    let times = played(&mut s, 5);
    assert!(times[4] < 0.2 && s.bench.timeline().playhead.playing, "{times:?}");
    s.bench.run_command(Command::Loop(true));
    assert!(played(&mut s, 150).windows(2).any(|t| t[1] < t[0]));
}
