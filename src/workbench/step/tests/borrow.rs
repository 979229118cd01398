//! Tests of acts that begin on a displayed motion: what they leave when they end, and when they are cancelled.

use super::*;
use crate::document::Key;
use crate::workbench::Rules;

/// Displayed time at which the acts begin, seconds.
const TIME: f64 = 0.5;

/// A biped whose arm rises for two seconds, with a step that can be redone. The motion shows at [`TIME`].
fn rising(rules: Rules) -> Script {
    let mut s = Script::biped();
    s.bench.keep_to(rules);
    let rest = s.bench.context.pose.clone();
    for (time, angle) in [(0.0, 0.0), (2.0, 0.8)] {
        let mut pose = rest.without_rest();
        pose.local[ARM].rotation = (Quat::from_rotation_z(angle) * pose.local[ARM].rotation()).into();
        s.bench.key(Edit::SetKey(Key { time, pose }), false);
    }
    s.bench.change(Edit::Rename("undone".into()));
    s.bench.run_command(Command::Undo);
    s.step();
    s.bench.run_command(Command::Scrub(TIME));
    s.step();
    assert_eq!(s.bench.session().history(), (3, 4));
    s
}

/// An act that begins at the hand of the biped.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Act {
    Squeeze,
    Grab,
    Joint,
    Line,
    Held,
}

impl Act {
    const ALL: [Self; 5] = [Self::Squeeze, Self::Grab, Self::Joint, Self::Line, Self::Held];

    /// Begins the act. Moves the hand by `way`.
    fn begin(self, s: &mut Script, way: Vec3) {
        let tool = match self {
            Self::Line => Tool::Line,
            Self::Joint => Tool::Joint,
            _ => Tool::Grab,
        };
        s.bench.run_command(Command::Tool(tool));
        let start = if self == Self::Line { s.joint(ARM) } else { s.joint(HAND) };
        s.at(RIGHT, start);
        s.step();
        match self {
            Self::Held => {
                assert!(s.bench.hold_joint(NodeId::from(ELBOW)));
                if way != Vec3::ZERO {
                    let turn = Quat::from_rotation_z(way.length()).as_dquat();
                    s.bench.move_joint(turn, DVec3::ZERO);
                }
                s.step();
                return;
            }
            Self::Squeeze => s.input.hands[RIGHT].grab = 1.0,
            _ => s.input.hands[RIGHT].draw = 1.0,
        }
        for i in 0..12 {
            s.at(RIGHT, start + way * (i as f32 / 11.0));
            s.step();
        }
    }

    fn end(self, s: &mut Script) {
        (s.input.hands[RIGHT].grab, s.input.hands[RIGHT].draw) = (0.0, 0.0);
        if self == Self::Held {
            s.bench.let_joint_go();
        }
        s.step();
    }
}

/// What a user sees of the state: document, history with its redo steps, displayed time and pose.
fn state(s: &Script) -> (String, (usize, usize), Option<f64>, Pose, Version) {
    let (session, pose) = (s.bench.session(), s.bench.pose().clone());
    (session.document().hash(), session.history(), s.bench.shown_time(), pose, session.revision())
}

#[test]
fn a_cancelled_act_leaves_no_trace_and_shows_the_motion_again() {
    for act in Act::ALL {
        for undoes in [false, true] {
            let mut s = rising(Rules::Now);
            let before = state(&s);
            act.begin(&mut s, Vec3::new(-0.3, 0.2, 0.0));
            assert!(s.bench.is_busy() && s.bench.shown_time().is_none(), "{act:?}");
            s.bench.run_command(if undoes { Command::Undo } else { Command::Cancel });
            assert_eq!(state(&s), before, "{act:?}");
            act.end(&mut s);
            assert_eq!(state(&s), before, "{act:?}");
            s.bench.run_command(Command::Redo);
            assert_eq!(s.bench.session().document().name(), "undone");
        }
    }
}

#[test]
fn an_act_that_changes_nothing_leaves_no_trace() {
    // A hand always turns the joint that it holds, at least by the rounding of its rotation.
    for act in Act::ALL.into_iter().filter(|act| *act != Act::Joint) {
        let mut s = rising(Rules::Now);
        let before = state(&s);
        act.begin(&mut s, Vec3::ZERO);
        act.end(&mut s);
        assert_eq!(state(&s), before, "{act:?}");
    }
}

#[test]
fn an_act_on_the_motion_is_one_step_and_undo_shows_the_motion_again() {
    for act in Act::ALL {
        let mut s = rising(Rules::Now);
        let before = state(&s);
        act.begin(&mut s, if act == Act::Line { Vec3::X * 0.5 } else { Vec3::new(-0.3, 0.2, 0.0) });
        act.end(&mut s);
        let after = state(&s);
        assert_eq!((after.1, after.2), ((4, 4), None), "{act:?}: the undone step is gone");
        assert_ne!(after.0, before.0);
        s.bench.run_command(Command::Undo);
        s.step();
        let undone = state(&s);
        assert_eq!((undone.0, undone.1, undone.2), (before.0.clone(), (3, 4), Some(TIME)), "{act:?}");
        assert!(undone.3 == before.3, "{act:?}: the pose on display");
        s.bench.run_command(Command::Redo);
        s.step();
        let redone = state(&s);
        assert_eq!((redone.0, redone.1, redone.2), (after.0, (4, 4), None), "{act:?}");
        assert!(redone.3 == after.3, "{act:?}");
        // The history's list does the same.
        s.bench.run_command(Command::Jump(3));
        s.step();
        assert_eq!(s.bench.shown_time(), Some(TIME), "{act:?}");
        // A step that began on the edited pose leads back to it.
        s.bench.leave_motion();
        let turned = Trs { rotation: Quat::from_rotation_y(0.3).into(), ..s.bench.pose().local[ARM] };
        s.bench.change(Edit::SetLocal { node: NodeId::from(ARM), local: turned });
        s.step();
        s.bench.run_command(Command::Undo);
        s.step();
        assert_eq!((s.hash(), s.bench.shown_time()), (before.0, None), "{act:?}");
    }
}

#[test]
fn earlier_takes_copy_the_pose_at_once() {
    let mut s = rising(Rules::Eleventh);
    Act::Squeeze.begin(&mut s, Vec3::new(-0.3, 0.2, 0.0));
    assert_eq!(s.bench.session().history(), (4, 4));
    s.bench.run_command(Command::Cancel);
    Act::Squeeze.end(&mut s);
    assert_eq!((s.bench.session().history(), s.bench.shown_time()), ((4, 4), None));
}
