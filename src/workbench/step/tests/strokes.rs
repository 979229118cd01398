//! Tests of strokes in the air.

use super::*;
use crate::render::rgba;
use crate::scene::Outlined;

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
    // The offset stroke can be redrawn any number of times.
    for angle in [-0.6, 0.3] {
        s.bench.run_command(Command::RedrawOffset);
        s.draw(RIGHT, &arm(angle));
        assert_eq!(s.strokes().len(), 1);
        assert!(s.joint(HAND).distance(arm(angle)[29]) < 0.02);
    }
}

#[test]
fn cancel_ends_the_wait_for_the_offset_stroke_and_keeps_the_baseline() {
    let mut s = Script::biped();
    s.bench.run_command(Command::Key);
    s.bench.leave_motion();
    assert!(!s.bench.can_cancel());
    s.draw(RIGHT, &arm(0.0));
    let drawn = s.hash();
    assert!(s.bench.awaits_offset().is_some() && s.bench.can_cancel());
    // The motion is left first.
    s.bench.run_command(Command::Scrub(0.0));
    s.bench.run_command(Command::Cancel);
    assert!(s.bench.awaits_offset().is_some() && s.bench.shown_time().is_none());
    s.bench.run_command(Command::Cancel);
    assert!(s.bench.awaits_offset().is_none() && !s.bench.can_cancel());
    assert_eq!((s.hash(), s.bench.taken_joints()), (drawn.clone(), None));
    // Other changes of the document do not bring the wait back; the command does.
    s.bench.run_command(Command::Select(Some(NodeId::from(HAND))));
    s.bench.apply(Edit::SetPins(vec![NodeId::from(HAND)]), false);
    s.bench.run_command(Command::Undo);
    assert!(s.bench.awaits_offset().is_none() && s.hash() == drawn);
    s.bench.run_command(Command::RedrawOffset);
    assert!(s.bench.awaits_offset().is_some());
    s.bench.run_command(Command::Cancel);
    // The next stroke is a baseline, which waits for its own offset stroke. It begins beside the knots of the first one.
    let beside: Vec<Vec3> = arm(0.0).into_iter().map(|place| place + Vec3::Y * 0.04).collect();
    s.draw(RIGHT, &beside);
    assert_eq!(s.strokes().len(), 2);
    assert!(s.bench.awaits_offset().is_some_and(|l| l.id == s.strokes()[1].id));
    s.draw(RIGHT, &arm(0.7));
    assert!(s.strokes()[0].offset.is_none() && s.strokes()[1].offset.is_some());
    // A stroke that is undone and drawn again waits again, although its layer has the same number.
    for _ in 0..3 {
        s.bench.run_command(Command::Undo);
    }
    s.draw(RIGHT, &arm(0.0));
    assert!(s.strokes().len() == 1 && s.bench.awaits_offset().is_some());
}

#[test]
fn cancel_drops_a_stroke_and_the_first_end_of_a_distance() {
    let mut s = Script::biped();
    let start = s.hash();
    s.at(RIGHT, arm(0.0)[0]);
    s.step();
    s.input.hands[RIGHT].draw = 1.0;
    for place in &arm(0.0)[..20] {
        s.at(RIGHT, *place);
        s.step();
    }
    assert!(s.bench.is_busy() && s.bench.can_cancel());
    s.bench.run_command(Command::Cancel);
    assert!(!s.bench.is_busy() && !s.bench.can_cancel() && s.hash() == start);
    s.input.hands[RIGHT].draw = 0.0;
    s.step();
    assert_eq!(s.hash(), start);
}

#[test]
fn a_straight_stroke_has_two_ends_takes_its_joints_in_order_and_snaps_its_slope() {
    let mut s = Script::biped();
    s.bench.run_command(Command::Pen(Pen::Straight));
    // An unsteady hand on the way from the shoulder to the hand, then beyond the elbow and back.
    let wavy = |angle: f32, back: bool| -> Vec<Vec3> {
        let wave = |i: usize| 0.03 * (0.9 * i as f32).sin() * Vec3::Y;
        let path = arm(angle).into_iter().enumerate().map(|(i, p)| if i < 29 { p + wave(i) } else { p });
        if back { path.clone().chain(arm(angle).into_iter().rev().take(3)).collect() } else { path.collect() }
    };
    s.at(RIGHT, arm(0.0)[0]);
    s.step();
    s.input.hands[RIGHT].draw = 1.0;
    for place in wavy(0.0, true) {
        s.at(RIGHT, place);
        s.step();
    }
    assert_eq!(s.bench.taken_joints(), Some("3 joints: joint 4 … joint 6"));
    s.input.hands[RIGHT].draw = 0.0;
    s.step();
    let baseline = &s.strokes()[0].baseline;
    assert_eq!(baseline.knots().len(), 2);
    assert!((baseline.length() - arm(0.0)[27].distance(arm(0.0)[0])).abs() < 1e-3, "{}", baseline.length());
    let selected: Vec<usize> = s.strokes()[0].selection.iter().map(|s| s.node.index()).collect();
    assert_eq!(selected, [ARM, ELBOW, HAND]);
    // 47 degrees become 45, and 37 degrees stay.
    for (drawn, wanted) in [(47.0f32, 45.0f32), (37.0, 37.0)] {
        s.bench.run_command(Command::RedrawOffset);
        s.draw(RIGHT, &wavy(drawn.to_radians(), false));
        let offset = s.strokes()[0].offset.clone().unwrap();
        let [a, b] = [0, 1].map(|k| Vec3::from(offset.knots()[k].position));
        let slope = (b - a).y.atan2((b - a).x).to_degrees();
        assert!(offset.knots().len() == 2 && (slope - wanted).abs() < 0.01, "{slope} for {drawn}");
        assert!(s.joint(HAND).distance(b) < 0.05, "{} is not near {b}", s.joint(HAND));
    }
}

#[test]
fn a_steady_stroke_is_smoother_than_the_hand_and_ends_at_the_tip() {
    // From the shoulder to the hand, with a tremble of 2 cm, seven times.
    let (from, to) = (arm(0.0)[0], arm(0.0)[29]);
    let tremble = |x: f32| 0.02 * (x / 0.55 * 7.0 * std::f32::consts::TAU).sin() * Vec3::Y;
    let path: Vec<Vec3> = line(from, to, 240).iter().map(|p| *p + tremble(p.x - from.x)).collect();
    let [free, steady] = [Pen::Free, Pen::Steady].map(|pen| {
        let mut s = Script::biped();
        s.bench.run_command(Command::Pen(pen));
        s.draw(RIGHT, &path);
        let baseline = s.strokes()[0].baseline.clone();
        let curve = baseline.spline();
        let end = Vec3::from(baseline.knots().last().unwrap().position);
        assert!(end.distance(path[239]) < 2e-3, "{pen:?} ends at {end}");
        (0..=100).map(|k| (curve.position(k as f64 / 100.0).y - 1.5).abs()).fold(0.0, f64::max)
    });
    assert!(free > 0.015 && steady < 0.75 * free, "{steady} m off the line, freehand {free}");
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
        let mut bench = Workbench::new(
            session(&character),
            character.clone(),
            Preferences { grab: GrabBy::Limb, ..Preferences::default() },
        );
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
fn a_cancelled_drag_of_a_knot_leaves_no_trace() {
    for (rules, on_motion) in [(Rules::Now, false), (Rules::Now, true), (Rules::Twelfth, false)] {
        let mut s = Script::biped();
        s.bench.keep_to(rules);
        s.draw(RIGHT, &arm(0.0));
        s.draw(RIGHT, &arm(0.3));
        if on_motion {
            s.bench.run_command(Command::Key);
            s.bench.run_command(Command::Scrub(0.0));
        }
        s.bench.change(Edit::Rename("undone".into()));
        s.bench.run_command(Command::Undo);
        if on_motion {
            s.bench.run_command(Command::Scrub(0.0));
        }
        s.step();
        let state = |s: &Script| {
            let session = s.bench.session();
            (session.document().hash(), session.history(), s.bench.shown_time(), s.bench.pose().clone())
        };
        let before = state(&s);
        let knots = s.strokes()[0].offset.as_ref().unwrap().knots().to_vec();
        let end = Vec3::from(knots[knots.len() - 1].position);
        s.at(RIGHT, end);
        s.step();
        s.input.hands[RIGHT].draw = 1.0;
        for k in 0..10 {
            s.at(RIGHT, end + Vec3::new(-0.01, 0.03, 0.0) * k as f32);
            s.step();
        }
        assert!(s.bench.is_busy() && s.hash() != before.0, "the knot moves");
        s.bench.run_command(Command::Undo);
        s.input.hands[RIGHT].draw = 0.0;
        s.step();
        let after = state(&s);
        if rules == Rules::Now {
            assert_eq!(after, before, "on the motion: {on_motion}");
            s.bench.run_command(Command::Redo);
            assert_eq!(s.bench.session().document().name(), "undone");
        } else {
            assert_eq!((&after.0, after.1), (&before.0, before.1), "the drag itself can be redone");
            s.bench.run_command(Command::Redo);
            assert_ne!(s.bench.session().document().name(), "undone");
        }
    }
}

#[test]
fn an_edit_in_the_middle_of_a_drag_of_a_knot_stays_when_the_drag_is_cancelled() {
    let mut s = Script::biped();
    s.draw(RIGHT, &arm(0.0));
    s.draw(RIGHT, &arm(0.3));
    let offset = s.strokes()[0].offset.clone();
    let end = Vec3::from(offset.as_ref().unwrap().knots().last().unwrap().position);
    s.at(RIGHT, end);
    s.step();
    s.input.hands[RIGHT].draw = 1.0;
    for k in 0..5 {
        s.at(RIGHT, end + Vec3::new(-0.01, 0.03, 0.0) * k as f32);
        s.step();
    }
    assert_ne!(s.strokes()[0].offset, offset);
    s.bench.apply(Edit::Rename("meanwhile".into()), false);
    s.bench.run_command(Command::Cancel);
    s.input.hands[RIGHT].draw = 0.0;
    s.step();
    assert_eq!((s.bench.session().document().name(), &s.strokes()[0].offset), ("meanwhile", &offset));
}

#[test]
fn a_stroke_that_is_too_short_is_told_and_a_click_is_not() {
    let mut s = Script::biped();
    let at = s.joint(HAND);
    for (length, told) in [(0.0, false), (0.015, true), (0.3, false)] {
        s.draw(RIGHT, &line(at, at - Vec3::X * length, 20));
        assert_eq!(s.bench.notice().is_some_and(|n| n.contains("too short")), told, "{length}");
        assert_eq!(s.strokes().len(), usize::from(length > 0.1));
    }
}

#[test]
fn a_panel_takes_the_trigger() {
    let mut s = Script::biped();
    s.input.hands[RIGHT].on_panel = true;
    s.draw(RIGHT, &arm(0.0));
    assert!(s.strokes().is_empty());
    // Moving off the panel with the trigger held does not begin a stroke.
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

/// Positions of the joints that are lit: dots of the joints' colour and of the size of taken joints.
fn lit(s: &Script) -> Vec<Vec3> {
    let dots = s.bench.output().lines.segments.iter();
    dots.filter(|d| d.color_a == rgba(crate::render::JOINT) && d.a == d.b && d.width_a == 9.0)
        .map(|d| d.a)
        .collect()
}

#[test]
fn the_joints_of_a_baseline_stay_lit_and_named_until_its_offset_stroke_is_drawn() {
    let mut s = Script::biped();
    s.at(RIGHT, arm(0.0)[0]);
    s.step();
    assert_eq!(s.bench.taken_joints(), None);
    s.draw(RIGHT, &arm(0.0));
    let taken = Some("3 joints: joint 4 … joint 6");
    let joints = [ARM, ELBOW, HAND];
    assert_eq!((s.bench.taken_joints(), lit(&s)), (taken, joints.map(|j| s.joint(j)).to_vec()));
    s.bench.run_command(Command::Tool(Tool::Grab));
    s.step();
    assert_eq!((s.bench.taken_joints(), lit(&s)), (None, vec![]), "another tool");
    s.bench.run_command(Command::Tool(Tool::Line));
    s.step();
    assert_eq!((s.bench.taken_joints(), lit(&s).len()), (taken, 3));
    // The offset stroke moves the lit joints.
    let raised = arm(0.8);
    s.at(RIGHT, raised[0]);
    s.step();
    s.input.hands[RIGHT].draw = 1.0;
    for place in &raised {
        s.at(RIGHT, *place);
        s.step();
    }
    assert!(s.joint(HAND).y > 1.7);
    assert_eq!((s.bench.taken_joints(), lit(&s)), (taken, joints.map(|j| s.joint(j)).to_vec()));
    s.input.hands[RIGHT].draw = 0.0;
    s.step();
    assert_eq!((s.bench.taken_joints(), lit(&s)), (None, vec![]), "the offset stroke is drawn");
    // Undo brings the baseline back that waits; another undo removes it.
    s.bench.run_command(Command::Undo);
    s.step();
    assert_eq!((s.bench.taken_joints(), lit(&s).len()), (taken, 3));
    s.bench.run_command(Command::Undo);
    s.step();
    assert_eq!((s.bench.taken_joints(), lit(&s)), (None, vec![]));
}

#[test]
fn a_baseline_in_progress_names_the_joints_that_it_has_reached() {
    let mut s = Script::biped();
    let backwards: Vec<Vec3> = arm(0.0).into_iter().rev().collect();
    s.at(RIGHT, backwards[0]);
    s.step();
    s.input.hands[RIGHT].draw = 1.0;
    let mut seen = Vec::new();
    for place in &backwards {
        s.at(RIGHT, *place);
        s.step();
        let names = s.bench.taken_joints().map(str::to_owned);
        if names.is_some() && seen.last() != names.as_ref() {
            seen.extend(names);
        }
    }
    assert_eq!(seen, ["1 joint: joint 6", "2 joints: joint 6, joint 5", "3 joints: joint 6 … joint 4"]);
    s.bench.interrupt();
    s.step();
    assert_eq!((s.bench.taken_joints(), lit(&s)), (None, vec![]), "a cancelled stroke takes nothing");
    // Mirrored strokes light both sides and name one.
    s.input.hands[RIGHT].draw = 0.0;
    s.step();
    s.bench.run_command(Command::Mirror(true));
    s.draw(RIGHT, &backwards);
    assert_eq!(s.bench.taken_joints(), Some("3 joints: joint 6 … joint 4, mirrored"));
    let lit = lit(&s);
    assert_eq!(lit.len(), 6);
    assert!(lit.contains(&s.joint(OTHER_HAND)) && lit.contains(&s.joint(HAND)));
}

#[test]
fn the_selection_is_outlined_unless_a_hand_draws_or_the_motion_plays() {
    let mut s = Script::biped();
    let joint = |s: &Script| match s.bench.outlined() {
        Some(Outlined::Joint(node)) => Some(node.index()),
        _ => None,
    };
    assert_eq!(joint(&s), None);
    s.at(RIGHT, Vec3::new(0.5, 1.5, 0.0));
    s.step();
    assert_eq!(joint(&s), Some(ELBOW));
    // The joint stays selected when the hand is away.
    s.at(RIGHT, Vec3::new(0.5, 2.5, 0.0));
    s.step();
    assert_eq!(joint(&s), Some(ELBOW));
    s.input.hands[RIGHT].draw = 1.0;
    s.step();
    assert_eq!(joint(&s), None, "a stroke begins");
    s.input.hands[RIGHT].draw = 0.0;
    s.step();
    let hash = s.hash();
    for (command, wanted) in [
        (Command::Tool(Tool::Skin), None),
        (Command::Tool(Tool::Joint), Some(ELBOW)),
        (Command::Tool(Tool::Silhouette), None),
        (Command::Tool(Tool::Grab), Some(ELBOW)),
        (Command::Outline(false), None),
        (Command::Outline(true), Some(ELBOW)),
        (Command::Select(None), None),
        (Command::Select(Some(NodeId::from(HIPS))), Some(HIPS)),
    ] {
        s.bench.run_command(command.clone());
        assert_eq!(joint(&s), wanted, "{command:?}");
    }
    assert_eq!(s.hash(), hash, "the outline belongs to no document");
}
