//! Tests of grabs: body, world, and adjustments that stay.

use super::*;

#[test]
fn squeezing_the_body_moves_it_in_one_step_and_away_from_it_the_world() {
    let mut s = Script::biped();
    let start = s.hash();
    let held = Vec3::new(0.77, 1.5, 0.0);
    let goal = Vec3::new(0.55, 1.65, 0.2);
    s.pull(0, &line(held, goal, 20));
    assert!((s.joint(HAND) + Vec3::X * 0.02).distance(goal) < 1e-3, "{}", s.joint(HAND));
    assert_eq!(s.bench.session().history().0, 2);
    assert_eq!(s.bench.output().world_from_room, crate::workbench::Similarity::default());
    s.bench.run_command(Command::Undo);
    assert_eq!(s.hash(), start);
    assert!(s.joint(HAND).distance(Vec3::new(0.75, 1.5, 0.0)) < 1e-5);
    // Half a metre in front of the body, a squeeze grabs the world.
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
    // A manual adjustment stays even if its stroke is removed.
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
    // With the feet pinned and the hips pulled down, the feet stay.
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
    // While the hand points at a panel, the pin applies to the last joint near the hand.
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
    // The redrawn offset stroke may start on either side of the body.
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
    let shown = |s: &mut Script| {
        s.step();
        s.bench.recipe().name()
    };
    assert_eq!(shown(&mut s), "springs");
    s.bench.run_command(Command::Deformer("dqs".into()));
    assert_eq!(shown(&mut s), "dqs");
    assert_eq!(s.bench.session().document().deformer().method, "dqs");
    s.bench.run_command(Command::Deformer("nurbs".into()));
    assert_eq!(shown(&mut s), "dqs");
    assert!(s.bench.notice().is_some());
    s.bench.run_command(Command::Undo);
    assert_eq!(shown(&mut s), "springs");
    s.bench.run_command(Command::Lengths(Lengths::Stretch));
    s.draw(RIGHT, &arm(0.0));
    assert_eq!(s.strokes()[0].posing.lengths, Lengths::Stretch);
}

#[test]
fn the_whole_body_follows_both_hands_and_pinned_feet_stay() {
    let mut s = Script::biped();
    for side in [0.1, -0.1] {
        s.at(RIGHT, Vec3::new(side, 0.05, 0.0));
        s.step();
        s.bench.run_command(Command::TogglePin);
    }
    s.at(RIGHT, Vec3::splat(5.0));
    s.step();
    s.bench.run_command(Command::GrabBy(GrabBy::Body));
    let (steps, hips, foot) = (s.bench.session().history().0, s.joint(HIPS), s.joint(FOOT));
    let (a, b) = (Vec3::new(0.77, 1.5, 0.0), Vec3::new(-0.77, 1.5, 0.0));
    for hand in 0..2 {
        s.at(hand, [a, b][hand]);
    }
    s.step();
    let before = [s.joint(HAND), s.joint(OTHER_HAND)];
    s.input.hands.iter_mut().for_each(|h| h.grab = 1.0);
    // One goal moves out of its arm's reach, so the body must follow.
    let step = Vec3::new(0.25, -0.1, 0.1);
    for i in 0..=20 {
        let t = i as f32 / 20.0;
        s.at(0, a + step * t);
        s.at(1, b + step * t);
        s.step();
    }
    s.input.hands.iter_mut().for_each(|h| h.grab = 0.0);
    s.step();
    for (node, before) in [(HAND, before[0]), (OTHER_HAND, before[1])] {
        assert!(s.joint(node).distance(before + step) < 0.02, "{} {}", s.joint(node), before + step);
    }
    assert!(s.joint(FOOT).distance(foot) < 2e-3, "{} {foot}", s.joint(FOOT));
    assert!(s.joint(HIPS).x > hips.x + 0.03, "{} {hips}", s.joint(HIPS));
    assert_eq!(s.bench.session().history().0, steps + 1, "one step");
}

#[test]
fn a_trigger_during_a_squeeze_pins_the_joint_where_it_is() {
    let mut s = Script::biped();
    let (held, goal) = (Vec3::new(0.77, 1.5, 0.0), Vec3::new(0.6, 1.65, 0.1));
    // The hand carries the wrist to its goal and pulls the trigger there; then it moves on with both buttons down.
    s.at(RIGHT, held);
    s.step();
    s.input.hands[RIGHT].grab = 1.0;
    for place in line(held, goal, 10) {
        s.at(RIGHT, place);
        s.step();
    }
    s.input.hands[RIGHT].draw = 1.0;
    s.step();
    let there = s.joint(HAND);
    assert!(there.distance(goal - Vec3::X * 0.02) < 5e-3, "{there}");
    assert_eq!(s.bench.session().document().pins(), [NodeId::from(HAND)]);
    assert_eq!(s.bench.session().history().0, 3, "opened, grab, pin");
    for place in line(goal, goal + Vec3::Y * 0.3, 10) {
        s.at(RIGHT, place);
        s.step();
    }
    assert!(s.joint(HAND) == there && s.strokes().is_empty(), "the gesture goes on");
    s.input.hands[RIGHT].draw = 0.0;
    s.step();
    s.input.hands[RIGHT].grab = 0.0;
    s.step();
    assert_eq!(s.bench.session().history().0, 3);
    // The next squeeze holds again; the same gesture without a move removes the pin in one step.
    s.at(RIGHT, goal);
    s.step();
    s.input.hands[RIGHT].grab = 1.0;
    s.step();
    s.input.hands[RIGHT].draw = 1.0;
    s.step();
    s.input.hands[RIGHT].draw = 0.0;
    s.input.hands[RIGHT].grab = 0.0;
    s.step();
    assert!(s.bench.session().document().pins().is_empty());
    assert_eq!(s.bench.session().history().0, 4);
    s.bench.run_command(Command::Undo);
    s.step();
    assert_eq!(s.bench.session().document().pins(), [NodeId::from(HAND)]);
    // In takes of earlier versions, the trigger pins nothing.
    let mut s = Script::biped();
    s.bench.keep_to(Rules::Second);
    s.at(RIGHT, held);
    s.step();
    s.input.hands[RIGHT].grab = 1.0;
    s.step();
    s.input.hands[RIGHT].draw = 1.0;
    s.step();
    assert!(s.bench.session().document().pins().is_empty() && s.bench.is_busy());
}

#[test]
fn undo_while_a_hand_holds_the_world_lets_it_go_where_it_was() {
    for rules in [Rules::Now, Rules::Twelfth] {
        let mut s = Script::biped();
        s.bench.keep_to(rules);
        s.bench.change(Edit::Rename("edited".into()));
        s.at(RIGHT, Vec3::new(1.5, 1.5, 0.5));
        s.step();
        let before = (s.bench.output().world_from_room, s.bench.session().history());
        s.input.hands[RIGHT].grab = 1.0;
        for k in 0..5 {
            s.at(RIGHT, Vec3::new(1.5 + 0.1 * k as f32, 1.5, 0.5));
            s.step();
        }
        assert_ne!(s.bench.output().world_from_room, before.0);
        s.bench.run_command(Command::Undo);
        s.step();
        let after = (s.bench.output().world_from_room, s.bench.session().history());
        assert_eq!(after == before, rules == Rules::Now, "{rules:?}: {after:?}");
    }
}
