//! Tests of keys that are dragged on the motion path.

use super::*;
use crate::document::{Edit, KeyEdit};
use crate::workbench::navigation::Rules;

/// Auto-keys the left hand at 0, 1 and 2 s in three places, with the hand selected and the grab tool chosen. The playhead
/// stands between keys.
fn waving() -> Script {
    let mut s = Script::biped();
    s.step();
    s.bench.run_command(Command::Key);
    s.bench.run_command(Command::AutoKey(true));
    for (time, to) in [(1.0, Vec3::new(0.45, 1.9, 0.2)), (2.0, Vec3::new(0.55, 1.2, 0.3))] {
        s.bench.run_command(Command::Scrub(time));
        let from = s.joint(HAND);
        s.pull(RIGHT, &line(from + Vec3::X * 0.02, to, 15));
        s.step();
    }
    s.bench.run_command(Command::AutoKey(false));
    s.bench.run_command(Command::Tool(Tool::Grab));
    s.bench.run_command(Command::Scrub(0.5));
    s.at(RIGHT, Vec3::new(0.0, 0.3, 2.0));
    s.bench.select(Some(NodeId::from(HAND)));
    // The path needs some frames.
    (0..20).for_each(|_| {
        s.step();
    });
    s
}

fn place(s: &Script, time: f64) -> Vec3 {
    s.bench.path_keys().find(|k| k.0 == time).unwrap().1
}

fn hand_at(s: &Script, time: f64) -> Vec3 {
    let skeleton = &s.bench.character().skeleton;
    let pose = s.bench.session().document().state(skeleton, Some(time)).pose;
    pose.world(skeleton)[HAND].translation.into()
}

/// Takes the key at a time by the trigger (or the squeeze), moves it, and runs `during` before the release.
fn drag(s: &mut Script, time: f64, by: Vec3, squeeze: bool, during: impl FnOnce(&mut Script)) {
    let from = place(s, time) + Vec3::new(0.01, 0.0, 0.0);
    s.at(RIGHT, from);
    s.step();
    let hold = |s: &mut Script, on: f32| match squeeze {
        true => s.input.hands[RIGHT].grab = on,
        false => s.input.hands[RIGHT].draw = on,
    };
    hold(s, 1.0);
    s.step();
    for to in line(from, from + by, 12) {
        s.at(RIGHT, to);
        s.step();
    }
    during(s);
    hold(s, 0.0);
    s.step();
}

#[test]
fn the_path_has_the_keys_that_move_the_joint() {
    let s = waving();
    let times: Vec<f64> = s.bench.path_keys().map(|k| k.0).collect();
    assert_eq!(times, [0.0, 1.0, 2.0]);
    for time in times {
        assert!(place(&s, time).distance(hand_at(&s, time)) < 1e-5);
    }
}

#[test]
fn the_trigger_drags_a_key_in_one_step_while_body_and_path_follow() {
    let mut s = waving();
    let (hash, steps) = (s.hash(), s.bench.session().history().0);
    let [first, old, last] = [0.0, 1.0, 2.0].map(|t| hand_at(&s, t));
    let by = Vec3::new(-0.05, -0.12, 0.1);
    drag(&mut s, 1.0, by, false, |s| {
        assert!(s.bench.is_busy());
        assert_eq!(s.bench.shown_time(), Some(1.0), "the body shows the key's time");
        assert!(s.joint(HAND).distance(old + by) < 5e-3, "{} {}", s.joint(HAND), old + by);
        assert_eq!(s.hash(), hash, "the document waits for the release");
        // The path is computed again part by part.
        (0..8).for_each(|_| {
            s.step();
        });
        let near = |s: &Script, p: Vec3| {
            let lines = &s.bench.output().lines.segments;
            lines.iter().map(|l| l.a.distance(p)).fold(f32::MAX, f32::min)
        };
        assert!(near(s, old + by) < 5e-3, "the path leads through the hand");
    });
    assert_eq!(s.bench.session().history().0, steps + 1);
    assert!(hand_at(&s, 1.0).distance(old + by) < 5e-3);
    assert!(hand_at(&s, 0.0).distance(first) < 1e-5 && hand_at(&s, 2.0).distance(last) < 1e-5);
    assert_eq!(s.bench.shown_time(), Some(1.0), "the motion still shows");
    assert_eq!(s.bench.timeline().sheet.columns, [0.0, 1.0, 2.0]);
    let dragged = s.hash();
    s.bench.run_command(Command::Undo);
    s.step();
    assert_eq!((s.hash(), s.bench.shown_time()), (hash, Some(1.0)));
    s.bench.run_command(Command::Redo);
    s.step();
    assert_eq!(s.hash(), dragged);
    // The same input gives the same document.
    let mut again = waving();
    drag(&mut again, 1.0, by, false, |s| {
        (0..8).for_each(|_| {
            s.step();
        });
    });
    assert_eq!(again.hash(), dragged);
}

#[test]
fn keys_beside_stay_in_place_when_a_joint_gets_its_first_keys() {
    let mut s = waving();
    // Only the shoulder has keys now: the elbow gets its first keys by the drag.
    let document = s.bench.session().document();
    let elbow = |c: &&crate::document::Channel| {
        c.target.subject() != crate::document::Subject::Node(NodeId::from(ARM))
    };
    let slots = document.motion().channels().iter().filter(elbow);
    let slots = slots.map(|c| crate::document::Slot { target: c.target.clone(), channel: None }).collect();
    s.bench.run_command(Command::Change(Box::new(Edit::Keys(KeyEdit::Channels(slots))), false));
    s.bench.run_command(Command::Scrub(0.5));
    s.bench.select(Some(NodeId::from(HAND)));
    (0..20).for_each(|_| {
        s.step();
    });
    let [first, old, last] = [0.0, 1.0, 2.0].map(|t| hand_at(&s, t));
    let by = Vec3::new(-0.2, -0.1, 0.1);
    drag(&mut s, 1.0, by, false, |_| {});
    assert!(hand_at(&s, 1.0).distance(old + by) < 1e-2, "{} {}", hand_at(&s, 1.0), old + by);
    assert!(hand_at(&s, 0.0).distance(first) < 1e-5 && hand_at(&s, 2.0).distance(last) < 1e-5);
}

#[test]
fn a_squeeze_drags_keys_away_from_the_body_with_any_tool() {
    let mut s = waving();
    s.bench.run_command(Command::Tool(Tool::Skin));
    let (old, steps) = (hand_at(&s, 2.0), s.bench.session().history().0);
    drag(&mut s, 2.0, Vec3::new(0.0, 0.1, 0.05), true, |_| {});
    assert_eq!(s.bench.session().history().0, steps + 1);
    assert!(hand_at(&s, 2.0).distance(old + Vec3::new(0.0, 0.1, 0.05)) < 5e-3);
    // The trigger of a drawing tool takes no key.
    let hash = s.hash();
    s.bench.run_command(Command::Scrub(0.5));
    (0..12).for_each(|_| {
        s.step();
    });
    drag(&mut s, 2.0, Vec3::Y * 0.1, false, |s| assert_eq!(s.bench.shown_time(), Some(0.5)));
    assert!(hand_at(&s, 2.0).distance(old + Vec3::new(0.0, 0.1, 0.05)) < 5e-3, "{hash}");
    // At the body, a squeeze takes the body, even where a key is.
    s.bench.run_command(Command::Scrub(1.0));
    s.bench.select(Some(NodeId::from(HAND)));
    (0..12).for_each(|_| {
        s.step();
    });
    drag(&mut s, 1.0, Vec3::Y * 0.05, true, |s| assert_eq!(s.bench.shown_time(), None));
}

#[test]
fn a_stroke_above_the_keys_stays_and_undo_drops_a_drag_under_way() {
    let mut s = waving();
    s.bench.leave_motion();
    s.bench.run_command(Command::Tool(Tool::Line));
    let baseline = arm(0.0);
    s.draw(RIGHT, &baseline);
    s.draw(RIGHT, &arm(0.6));
    assert_eq!(s.strokes().len(), 1, "a stroke poses the arm");
    s.bench.run_command(Command::Tool(Tool::Grab));
    s.bench.run_command(Command::Scrub(0.5));
    s.bench.select(Some(NodeId::from(HAND)));
    s.at(RIGHT, Vec3::new(0.0, 0.3, 2.0));
    (0..20).for_each(|_| {
        s.step();
    });
    let (old, hash, strokes) = (hand_at(&s, 1.0), s.hash(), s.strokes().to_vec());
    let by = Vec3::new(-0.05, -0.1, 0.0);
    drag(&mut s, 1.0, by, false, |s| {
        s.input.hands[0].undo = true;
        s.step();
        s.input.hands[0].undo = false;
    });
    assert_eq!((s.hash(), s.bench.is_busy()), (hash, false), "the undo button drops the drag");
    (0..12).for_each(|_| {
        s.step();
    });
    drag(&mut s, 1.0, by, false, |_| {});
    assert!(hand_at(&s, 1.0).distance(old + by) < 5e-3);
    assert_eq!(s.strokes(), strokes);
    assert!(s.joint(HAND).distance(old + by) < 5e-3);
}

/// The dots of a joint that moves little are all near the joint.
#[test]
fn the_joint_is_taken_where_the_hand_is_nearer_to_it_than_to_a_key() {
    for rules in [Rules::Now, Rules::Eleventh] {
        let mut s = waving();
        s.bench.keep_to(rules);
        let (joint, key) = (s.joint(HAND), place(&s, 1.0));
        s.bench.run_command(Command::Radius(joint.distance(key) + 0.1));
        s.at(RIGHT, joint.lerp(key, 0.05));
        s.step();
        s.input.hands[RIGHT].draw = 1.0;
        s.step();
        assert_eq!(s.bench.grab.is_busy(), rules == Rules::Now);
        assert_eq!(s.bench.path.is_busy(), rules != Rules::Now);
        // A drag of a key that is cancelled leaves the playhead where it was.
        s.bench.run_command(Command::Cancel);
        let back = if rules == Rules::Now { 0.5 } else { s.bench.timeline().playhead.time };
        assert_eq!(s.bench.shown_time(), Some(back));
    }
    let mut s = waving();
    let hash = s.hash();
    drag(&mut s, 1.0, Vec3::Y * 0.1, false, |s| {
        assert_eq!((s.bench.path.is_busy(), s.bench.timeline().playhead.time), (true, 1.0));
        s.bench.run_command(Command::Cancel);
        assert_eq!(s.bench.shown_time(), Some(0.5));
    });
    assert_eq!((s.hash(), s.bench.shown_time()), (hash, Some(0.5)));
}

#[test]
fn a_bone_alone_and_the_mirror_do_as_in_a_grab() {
    let mut s = waving();
    s.bench.run_command(Command::GrabBy(GrabBy::Bone));
    let before = s.bench.session().document().state(&s.bench.character().skeleton, Some(1.0)).pose;
    drag(&mut s, 1.0, Vec3::new(0.0, 0.1, 0.1), false, |_| {});
    let after = s.bench.session().document().state(&s.bench.character().skeleton, Some(1.0)).pose;
    let turned = |n: usize| before.local[n].rotation != after.local[n].rotation;
    assert!(turned(ELBOW) && !turned(ARM) && !turned(HIPS), "the forearm alone rotates");
    let mut s = waving();
    s.bench.run_command(Command::Mirror(true));
    let other = s.joint(OTHER_HAND);
    drag(&mut s, 1.0, Vec3::new(-0.1, -0.1, 0.0), false, |_| {});
    let moved = s.joint(OTHER_HAND) - other;
    assert!(moved.distance(Vec3::new(0.1, -0.1, 0.0)) < 0.04, "{moved}");
}

#[test]
fn takes_of_version_two_take_no_key() {
    let mut s = waving();
    s.bench.keep_to(Rules::Second);
    let hash = s.hash();
    drag(&mut s, 2.0, Vec3::Y * 0.1, true, |s| assert_eq!(s.bench.shown_time(), Some(0.5)));
    assert_eq!(s.hash(), hash);
}
