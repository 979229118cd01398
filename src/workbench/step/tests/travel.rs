//! Tests of the free hand's stick and of kept viewpoints.

use super::*;
use crate::workbench::Travel;

/// A script with a tracked head, and the free hand in front of the user, level.
fn script() -> Script {
    let mut s = Script::biped();
    let head = Rigid { position: Vec3::new(0.1, 1.6, 0.3), orientation: Quat::IDENTITY };
    s.input.head = Tracked { pose: head, tracking: Tracking::Tracked };
    s.at(0, Vec3::new(-0.2, 1.2, 0.0));
    s.at(RIGHT, Vec3::new(0.3, 1.2, 0.0));
    s.step();
    s
}

fn eye(s: &Script) -> Vec3 {
    s.bench.output().world_from_room.point(s.input.head.pose.position)
}

#[test]
fn the_stick_shows_a_place_on_the_floor_and_jumps_there_when_released() {
    let mut s = script();
    let (start, lines) = (eye(&s), s.bench.output().lines.segments.len());
    s.input.hands[0].stick = [0.0, 1.0];
    s.step();
    s.step();
    assert_eq!(eye(&s), start, "nothing moves before the release");
    assert!(s.bench.output().lines.segments.len() > lines + 40, "arc and circle are drawn");
    let hand = s.bench.hands.hands[0].tip;
    s.input.hands[0].stick = [0.0, 0.0];
    s.step();
    let moved = eye(&s) - start;
    assert!(moved.y.abs() < 1e-5 && moved.length() > 1.5, "{moved}");
    let along = hand.forward() * Vec3::new(1.0, 0.0, 1.0);
    let over = eye(&s) - hand.position;
    assert!(over.x.abs() < 1e-4 && over.dot(along) > 1.0, "the head is above the place: {over}");
    assert_eq!(s.step().haptics[0], Some(Haptic::Selection));
    s.bench.run_command(Command::UndoNavigation);
    s.step();
    assert!(eye(&s).distance(start) < 1e-5);
    // A cancelled jump, a stick on a panel, and a busy hand move nothing.
    s.input.hands[0].stick = [0.0, 1.0];
    s.step();
    let before = s.hash();
    s.bench.run_command(Command::Undo);
    (0..3).for_each(|_| {
        s.step();
    });
    s.input.hands[0].stick = [0.0, 0.0];
    s.step();
    assert_eq!(s.hash(), before, "undo cancels the jump, not an edit");
    s.input.hands[0].on_panel = true;
    s.input.hands[0].stick = [0.0, 1.0];
    s.step();
    s.input.hands[0].stick = [0.0, 0.0];
    s.step();
    assert!(eye(&s).distance(start) < 1e-5);
}

#[test]
fn the_stick_flies_along_the_hand_or_does_nothing_as_chosen() {
    let mut s = script();
    s.bench.run_command(Command::Travel(Travel::Fly));
    let start = eye(&s);
    let up = Quat::from_rotation_x(0.6);
    s.turned(0, Vec3::new(-0.2, 1.2, 0.0), up);
    s.input.hands[0].stick = [0.0, 1.0];
    for _ in 0..45 {
        s.step();
    }
    s.input.hands[0].stick = [0.0, 0.0];
    s.step();
    let moved = eye(&s) - start;
    assert!(moved.normalize().dot(s.bench.hands.hands[0].tip.forward()) > 1.0 - 1e-4);
    assert!((moved.length() - 0.75).abs() < 0.05, "half a second at full deflection: {moved}");
    s.bench.run_command(Command::UndoNavigation);
    s.step();
    assert!(eye(&s).distance(start) < 1e-4, "a flight is one step");
    s.bench.run_command(Command::Travel(Travel::Off));
    for ahead in [1.0, 0.0] {
        s.input.hands[0].stick = [0.0, ahead];
        s.step();
    }
    assert!(eye(&s).distance(start) < 1e-4);
    // The stick still turns, and takes of version 3 know no travel.
    s.bench.run_command(Command::Travel(Travel::Jump));
    s.bench.keep_to(Rules::Third);
    for ahead in [1.0, 0.0] {
        s.input.hands[0].stick = [0.0, ahead];
        s.step();
    }
    assert!(eye(&s).distance(start) < 1e-4);
    s.input.hands[0].stick = [1.0, 0.0];
    s.step();
    let turned = s.bench.output().world_from_room.rotation;
    assert!((turned.angle_between(Quat::IDENTITY) - std::f32::consts::PI / 6.0).abs() < 1e-4);
}

#[test]
fn kept_views_come_back_and_an_empty_one_says_so() {
    let mut s = script();
    s.bench.run_command(Command::KeepView(1));
    let (start, before) = (eye(&s), s.hash());
    s.bench.run_command(Command::SnapTurn(2));
    s.pull(RIGHT, &line(Vec3::new(0.3, 1.2, 0.6), Vec3::new(-0.6, 1.0, 0.2), 10));
    assert!(eye(&s).distance(start) > 0.3);
    s.bench.run_command(Command::GoToView(1));
    s.step();
    assert!(eye(&s).distance(start) < 1e-4 && s.hash() == before);
    s.bench.run_command(Command::GoToView(2));
    s.step();
    assert!(eye(&s).distance(start) < 1e-4);
    assert!(s.bench.notice().is_some_and(|n| n.contains("view 3 is empty")), "{:?}", s.bench.notice());
    s.bench.run_command(Command::GoToView(99));
    s.bench.run_command(Command::KeepView(99));
    // Preferences keep the views between sessions.
    let kept = serde_json::to_string(s.bench.preferences()).unwrap();
    let read: Preferences = serde_json::from_str(&kept).unwrap();
    assert_eq!(read.viewpoints, s.bench.preferences().viewpoints);
    assert!(read.viewpoints[1].is_some() && read.viewpoints[0].is_none());
}
