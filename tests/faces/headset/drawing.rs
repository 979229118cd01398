//! Scenarios that pose a character by a line of action, with undo, the left hand, lost tracking and recentring.

use super::bed::Runtime;
use super::stage::{Session, check_bent, covered, joints};
use sinew::app::report::Event;
use sinew::base::NodeId;
use sinew::base::math::Vec3;
use sinew::workbench::{Command, Haptic, LimitChange, Tracking};

pub fn a_line_of_action_bends_the_body(s: &mut Session, runtime: &Runtime) {
    let felt = limits_felt(s);
    s.bend("right");
    assert_eq!(s.app.frame.history, [3, 0], "opened, baseline, offset");
    assert_eq!(limits_felt(s), felt, "no joint has a limit");
    let picture = s.app.picture("line_of_action");
    let covered = covered(&picture);
    assert!(covered.iter().all(|&n| n > 300), "the eyes see little: {covered:?}");
    let hash = s.app.hash();
    let (model, document) = s.save(runtime);
    assert_eq!(document.hash(), hash);
    assert_eq!(document.strokes().len(), 1);
    check_bent(&model, &document, 0.06);
    a_joint_stops_at_its_limit(s, runtime, model.skeleton().joints[1].node);
}

/// Counts the vibrations of the right controller at limits.
fn limits_felt(s: &Session) -> usize {
    s.app.events.iter().filter(|e| matches!(e, Event::Felt(1, Haptic::Limit))).count()
}

/// Draws the offset stroke again, while the second joint may swing by 10 degrees only.
fn a_joint_stops_at_its_limit(s: &mut Session, runtime: &Runtime, node: NodeId) {
    s.app.press(Command::Undo);
    s.app.press(Command::Select(Some(node)));
    s.app.press(Command::Limit(LimitChange::On(true), false));
    s.app.press(Command::Limit(LimitChange::Swing([10.0; 4]), false));
    let steps = s.app.frame.history[0];
    let felt = limits_felt(s);
    s.arc("right", Vec3::ZERO, Vec3::X, -85.0);
    assert_eq!(s.app.frame.history, [steps + 1, 0]);
    assert!(limits_felt(s) > felt, "the hand feels no limit");
    let (model, document) = s.save(runtime);
    let pose = document.posed(model.skeleton());
    let turned = |node: NodeId| {
        let rest = model.rest().local[node.index()].rotation();
        rest.angle_between(pose.local[node.index()].rotation()).to_degrees()
    };
    let [limited, next] = [1, 2].map(|j| turned(model.skeleton().joints[j].node));
    assert!((8.0..10.1).contains(&limited) && next > 15.0, "{limited} {next}");
}

pub fn undo_and_redo_are_one_press_each(s: &mut Session, runtime: &Runtime) {
    let opened = s.app.hash();
    s.baseline("right");
    let line = s.app.hash();
    s.arc("right", Vec3::ZERO, Vec3::X, -85.0);
    let bent = s.app.hash();
    assert!(opened != line && line != bent && bent != opened);
    let press = |button: &str, s: &mut Session| {
        s.play(&format!("right press {button}"));
        s.app.frames(2);
        s.play(&format!("right release {button}"));
        s.app.frames(1);
        s.app.hash()
    };
    assert_eq!(press("a", s), line);
    assert_eq!(press("a", s), opened);
    assert_eq!(press("a", s), opened, "there is nothing further back");
    assert_eq!(press("b", s), line);
    assert_eq!(press("b", s), bent);
    assert_eq!(press("b", s), bent, "there is nothing further on");
    // The buttons of the left controller also undo and redo.
    s.play("left press a");
    s.app.frames(2);
    assert_eq!(s.app.hash(), line);
    s.play("left release a\nleft press b");
    s.app.frames(2);
    s.play("left release b");
    let (model, document) = s.save(runtime);
    assert_eq!(document.hash(), bent);
    check_bent(&model, &document, 0.06);
}

pub fn the_left_hand_draws_as_well(s: &mut Session, runtime: &Runtime) {
    s.app.press(Command::LeftHanded(true));
    assert!(s.app.frame.left_handed);
    s.baseline("right");
    assert_eq!(s.app.frame.history, [1, 0], "the right hand holds no tool now");
    s.bend("left");
    let (model, document) = s.save(runtime);
    check_bent(&model, &document, 0.06);
}

#[test]
fn a_controller_of_one_button_is_enough() {
    let Some((runtime, mut s)) = Session::start(&["--profile", "khr/simple_controller"]) else { return };
    let simple = "/interaction_profiles/khr/simple_controller";
    s.app.until_frame(50, "on the simple profile", |f| f.profiles.iter().all(|p| p == simple));
    s.bend("right");
    let (model, document) = s.end(&runtime);
    check_bent(&model, &document, 0.06);
}

pub fn a_stroke_outlives_lost_tracking_and_takes_no_sample_from_it(s: &mut Session, runtime: &Runtime) {
    s.baseline("right");
    // Draw half of the arc, lose tracking while the hand is far away, then draw the other half.
    let (start, centre) = (s.tip(Vec3::ZERO), super::stage::words(s.stage(Vec3::X)));
    let half = format!("right arc {centre} 0 0 1 -42.5 over 0.3");
    s.play(&format!("right turn 0 0 0\nright at {start}\nright trigger 1\n{half}"));
    let there = s.puppet.state.hands[1].pose;
    s.play("lose right\nright at 5 5 5\nwait 0.1");
    assert_eq!(s.app.frame.tracking[1], Tracking::Lost);
    s.puppet.state.hands[1].pose = there;
    s.play(&format!("find right\n{half}\nright trigger 0"));
    let (model, document) = s.save(runtime);
    let offset = document.strokes()[0].offset.as_ref().expect("the stroke went on");
    for knot in offset.knots() {
        let off = (Vec3::from(knot.position).distance(Vec3::X) - 1.0).abs();
        assert!(off < 0.01, "a knot is {off} off the arc: {:?}", knot.position);
    }
    check_bent(&model, &document, 0.06);
}

pub fn recentring_moves_the_view_and_no_document(s: &mut Session, runtime: &Runtime) {
    s.baseline("right");
    let hash = s.app.hash();
    s.play("head at 0.4 1.5 0.3 &\nhead turn 25 0 0");
    let before = s.app.frame.world_from_room.point(s.app.frame.head.position);
    let recentred = runtime.command("monado-ctl").arg("-c").output().unwrap();
    assert!(recentred.status.success(), "{recentred:?}");
    s.app.event("recentring", |e| matches!(e, Event::Recentred).then_some(()));
    s.app.frames(2);
    s.measure_room();
    let moved = s.app.room_from_stage;
    assert!(moved.position.length() > 0.3, "the room's origin is where it was: {moved:?}");
    let after = s.app.frame.world_from_room.point(s.app.frame.head.position);
    assert!(before.distance(after) < 2e-3, "the world moved from under the user: {before} {after}");
    assert_eq!(s.app.hash(), hash);
    // Draw the arc through the usual world-space points, which have new room coordinates after recentring.
    let from = s.stage(Vec3::ZERO);
    let centre = super::stage::words(s.stage(Vec3::X));
    let (start, axis) = (from - super::stage::TIP, Vec3::Z);
    let world = s.app.frame.world_from_room.rotation * s.app.room_from_stage.orientation;
    let (start, axis) = (super::stage::words(start), super::stage::words(world.inverse() * axis));
    s.play(&format!(
        "right turn 0 0 0\nright at {start}\nright trigger 1\nright arc {centre} {axis} -85 over 0.3\nright trigger 0"
    ));
    let (model, document) = s.save(runtime);
    let joints = joints(&model, &document);
    assert!(joints[3].x > 0.5, "{joints:?}");
}
