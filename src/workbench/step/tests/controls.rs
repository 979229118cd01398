//! Control joints of a rig, such as targets of inverse kinematics: strokes, hands and the pin gesture do not take them.

use super::*;
use crate::document::StrokeLine;

/// The control in the forearm, and the control below the elbow, both on roots of their own.
const CONTROLS: [usize; 2] = [16, 17];

fn script(rules: Rules) -> Script {
    let character = biped_with(&[(Vec3::new(0.6, 1.52, 0.0), None), (Vec3::new(0.5, 1.2, 0.0), None)]);
    let mut s = Script::new(&character);
    s.bench.keep_to(rules);
    s
}

#[test]
fn a_baseline_does_not_select_a_control_joint_not_even_after_a_knot_was_moved() {
    for (rules, takes) in [(Rules::Now, false), (Rules::Eighth, true)] {
        let mut s = script(rules);
        s.draw(RIGHT, &line(Vec3::new(0.15, 1.5, 0.0), Vec3::new(0.8, 1.5, 0.0), 40));
        let control = NodeId::from(CONTROLS[0]);
        let selects = |s: &Script| s.strokes()[0].selection.iter().any(|j| j.node == control);
        assert_eq!((s.strokes().len(), selects(&s)), (1, takes), "{rules:?}");
        let joints: Vec<usize> = s.strokes()[0].selection.iter().map(|j| j.node.index()).collect();
        assert!([ARM, ELBOW, HAND].iter().all(|j| joints.contains(j)), "{joints:?}");
        let (id, at) = (s.strokes()[0].id, s.strokes()[0].baseline.knots()[0].position);
        let position = (Vec3::from(at) + Vec3::Y * 0.005).into();
        s.bench.change(Edit::MoveKnot { id, line: StrokeLine::Baseline, knot: 0, position });
        assert_eq!(selects(&s), takes, "{rules:?}, after a knot was moved");
    }
}

#[test]
fn a_hand_takes_and_pins_no_control_joint() {
    for (rules, takes) in [(Rules::Now, false), (Rules::Eighth, true)] {
        let mut s = script(rules);
        let control = NodeId::from(CONTROLS[1]);
        s.at(RIGHT, s.joint(CONTROLS[1]));
        s.step();
        assert_eq!(s.bench.near_joint() == Some(control), takes, "{rules:?}");
        s.input.hands[RIGHT].grab = 1.0;
        s.step();
        assert_eq!(s.bench.grab.is_busy(), takes, "{rules:?}: the hand holds the control");
    }
}

#[test]
fn a_control_joint_can_be_selected_and_rotated_from_the_outliner() {
    let mut s = script(Rules::Now);
    let control = NodeId::from(CONTROLS[0]);
    assert!(s.bench.posable().contains(&control) && s.bench.reachable().all(|n| n != control));
    s.bench.run_command(Command::Select(Some(control)));
    assert!(s.bench.selected() == Some(control) && s.bench.is_control(control));
}
