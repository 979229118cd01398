//! Tests of acts that begin on a displayed motion: what they leave when they end, and when they are cancelled.

use super::*;
use crate::base::Progress;
use crate::bind::shapes::Shape;
use crate::document::Key;
use crate::scene::{CageSource, Model};
use crate::workbench::Rules;
use std::time::Duration;

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
            let share = i as f32 / 11.0;
            // The joint tool follows the hand's rotation.
            let turn = if self == Self::Joint { way.length() * share } else { 0.0 };
            s.turned(RIGHT, start + way * share, Quat::from_rotation_z(turn));
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
fn a_motion_that_played_plays_on_after_a_cancelled_act() {
    for (act, rules) in Act::ALL.into_iter().flat_map(|act| [(act, Rules::Now), (act, Rules::Twelfth)]) {
        let mut s = rising(rules);
        s.bench.run_command(Command::Play(true));
        s.step();
        act.begin(&mut s, Vec3::new(-0.3, 0.2, 0.0));
        assert!(s.bench.shown_time().is_none() && !s.bench.timeline().playhead.playing, "{act:?}");
        s.bench.run_command(Command::Cancel);
        let back = s.bench.shown_time().unwrap();
        for _ in 0..3 {
            s.step();
        }
        let on = s.bench.shown_time().unwrap() > back;
        assert_eq!(
            (s.bench.timeline().playhead.playing, on),
            (rules == Rules::Now, rules == Rules::Now),
            "{act:?}"
        );
    }
}

#[test]
fn an_act_that_changes_nothing_leaves_no_trace() {
    for act in Act::ALL {
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
fn a_command_that_changes_the_displayed_pose_is_undone_to_the_motion() {
    let mut s = rising(Rules::Now);
    let before = state(&s);
    s.bench.run_command(Command::ResetPose(None));
    s.step();
    assert_eq!((s.bench.session().history(), s.bench.shown_time()), ((4, 4), None));
    s.bench.run_command(Command::Undo);
    s.step();
    let undone = state(&s);
    assert_eq!((undone.0, undone.1, undone.2), (before.0.clone(), (3, 4), before.2));
    assert!(undone.3 == before.3);
    s.bench.take_pose();
    s.step();
    assert_eq!((s.bench.session().history(), s.bench.shown_time()), ((4, 4), None));
    s.bench.run_command(Command::Undo);
    s.step();
    assert_eq!((s.hash(), s.bench.shown_time()), (before.0, before.2));
}

/// A bent capsule with a cage, which shows its motion at [`TIME`].
fn caged() -> Script {
    let shape = Shape { bones: 2, rings: 12, segments: 12, radius: 0.2, length: 1.0, blend: 0.3 };
    let model = Model::bind(shape.capsule_asset(), &BindOptions::default(), Duration::ZERO).unwrap();
    let source = CageSource::Made(40);
    let (new, _) = model.new_cage(&source, Coordinates::default(), &Progress::default()).unwrap();
    let mut s = Script::new(&model.bound.character);
    let rest = s.bench.context.pose.clone();
    let bone = model.skeleton().joints[1].node.index();
    for (time, angle) in [(0.0, 0.0), (2.0, 1.2)] {
        let mut pose = rest.without_rest();
        pose.local[bone].rotation = Quat::from_rotation_x(angle).into();
        s.bench.key(Edit::SetKey(Key { time, pose }), false);
    }
    s.bench.receive_cage(new);
    s.bench.run_command(Command::Tool(Tool::Cage));
    s.step();
    s.step();
    s.bench.run_command(Command::Scrub(TIME));
    s.step();
    s
}

/// The highest vertex of the displayed cage.
fn top(s: &Script) -> Vec3 {
    s.bench.cage.positions().iter().max_by(|a, b| a.y.total_cmp(&b.y)).unwrap().as_vec3()
}

#[test]
fn a_cage_changes_on_a_motion_that_stays_on_display() {
    for rules in [Rules::Now, Rules::Eleventh] {
        let mut s = caged();
        s.bench.keep_to(rules);
        let (before, place) = (state(&s), top(&s));
        let joints = s.bench.pose().local.clone();
        s.draw(RIGHT, &line(place, place + Vec3::Y * 0.2, 20));
        assert_eq!(s.bench.session().history().0, before.1.0 + 1);
        if rules == Rules::Eleventh {
            // Earlier, the edited pose showed.
            assert!(s.bench.shown_time().is_none() && s.bench.pose().local != joints);
            continue;
        }
        assert_eq!((s.bench.shown_time(), &s.bench.pose().local), (Some(TIME), &joints));
        assert!(top(&s).y > place.y + 0.15, "{} {place}", top(&s));
        s.bench.run_command(Command::Undo);
        s.step();
        let undone = state(&s);
        assert_eq!((undone.0, undone.2), (before.0, before.2));
        assert!(undone.3 == before.3 && top(&s).distance(place) < 1e-5);
    }
}

#[test]
fn a_change_of_a_cage_that_its_keys_hide_shows_in_the_displayed_pose() {
    let mut s = caged();
    let place = top(&s);
    s.draw(RIGHT, &line(place, place + Vec3::Y * 0.2, 20));
    s.bench.run_command(Command::KeyCage);
    s.step();
    let (before, joints) = (state(&s), s.bench.pose().local.clone());
    assert_eq!(before.2, Some(TIME));
    s.bench.run_command(Command::ResetCage);
    s.step();
    s.step();
    assert_eq!((s.bench.shown_time(), s.bench.session().history().0), (None, before.1.0 + 1));
    assert!(s.bench.pose().local == joints && top(&s).distance(place) < 1e-5, "{} {place}", top(&s));
    s.bench.run_command(Command::Undo);
    s.step();
    let undone = state(&s);
    assert_eq!((undone.0, undone.2), (before.0, before.2));
    assert!(undone.3 == before.3);
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
