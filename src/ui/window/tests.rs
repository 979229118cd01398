//! Tests with mouse and keyboard on a small biped, without OS window, GPU or clock. Ray casts answer picks.

mod files;
mod marks;
mod measuring;
mod surroundings;
mod table;
mod timeline;
mod typing;

use super::*;
use crate::base::NodeId;
use crate::geom::ray_triangle;
use crate::scene::SurfaceSample;
use crate::surface::Form;
use crate::workbench::{LimitChange, Preferences, biped, session, with_morphs};
use egui::{Key, pos2};
use table::Table;

const SIZE: [u32; 2] = [1280, 800];
const ELBOW: usize = 5;
const HAND: usize = 6;

#[test]
fn two_strokes_of_the_mouse_pose_an_arm_from_any_side() {
    for side in [Key::Num1, Key::Num3] {
        let mut t = Table::new();
        t.drag(PointerButton::Primary, &t.arm(0.0));
        assert_eq!(t.bench.session().document().strokes().len(), 1, "{:?}", t.bench.notice());
        assert_eq!(t.bench.session().document().strokes()[0].selection.len(), 3);
        let hint = panels::hint(&t.desk, Some(&t.bench));
        assert!(hint.starts_with("Baseline over 3 joints: joint 4 … joint 6. Draw where"), "{hint}");
        // The view may change between a stroke and its offset stroke. Both are drawn from the front, so they lie in one
        // plane.
        t.key(side, Modifiers::NONE);
        t.key(Key::Num1, Modifiers::NONE);
        t.input.events.push(Event::MouseWheel {
            unit: egui::MouseWheelUnit::Line,
            delta: egui::vec2(0.0, -2.0),
            phase: egui::TouchPhase::Move,
            modifiers: Modifiers::NONE,
        });
        t.frame();
        let before = t.joint(HAND);
        t.drag(PointerButton::Primary, &t.arm(0.7));
        let (x, y) = (0.2 + 0.55 * 0.7_f32.cos(), 1.5 + 0.55 * 0.7_f32.sin());
        assert!(t.joint(HAND).distance(Vec3::new(x, y, 0.0)) < 0.02, "{}", t.joint(HAND));
        t.key(Key::Z, Modifiers::COMMAND);
        assert!(t.joint(HAND).distance(before) < 1e-5);
        t.key(Key::Z, Modifiers::COMMAND | Modifiers::SHIFT);
        assert!(t.joint(HAND).y > 1.7);
        assert!(!t.bench.is_busy() && t.desk.hold == Hold::Free);
    }
}

#[test]
fn long_names_do_not_widen_the_side_panel() {
    let long = "a_name_of_a_joint_as_long_as_those_of_a_character_from_a_shop_".repeat(2);
    let mut character = (*with_morphs(3, [long.clone()])).clone();
    character.skeleton.nodes.iter_mut().for_each(|node| node.name.insert_str(0, &long));
    let mut t = Table::with(std::sync::Arc::new(character));
    let room = t.desk.output().viewport;
    t.bench.select(Some(NodeId::from(ELBOW)));
    t.drag(PointerButton::Primary, &t.arm(0.0));
    t.bench.run_command(Command::Limit(LimitChange::On(true), false));
    let sections = [
        "Outliner",
        "Transform",
        "Rig",
        "Shape",
        "Deformer",
        "Cage",
        "Morphs",
        "Poses",
        "Clips",
        "Display",
        "History",
    ];
    for name in sections {
        // Only a new editor opens the section.
        let sections = [("Outliner".to_owned(), false), (name.to_owned(), true)].into();
        t.desk = WindowEditor::new(Choices { sections, ..Choices::default() });
        t.frames(3);
        assert_eq!(t.desk.output().viewport, room, "{name}");
        let edge = t.input.size[0] as f32 - 8.0;
        let cut = t.desk.words.iter().find(|w| w.1.max.x > edge && w.1.min.y > 40.0 && !w.0.contains(&long));
        assert_eq!(cut, None, "{name}");
    }
}

#[test]
fn the_camera_moves_by_middle_button_wheel_and_keys_and_never_the_document() {
    let mut t = Table::new();
    let (hash, first) = (t.hash(), *t.desk.camera().stand());
    let pose = t.bench.shown_pose().version;
    t.drag(PointerButton::Middle, &[[600.0, 400.0], [700.0, 380.0]]);
    let turned = *t.desk.camera().stand();
    assert!(turned.yaw < first.yaw && turned.target == first.target);
    t.input.events.push(Event::ModifiersChanged(Modifiers::SHIFT));
    t.drag(PointerButton::Middle, &[[600.0, 400.0], [700.0, 380.0]]);
    assert!(t.desk.camera().stand().target != first.target);
    assert_eq!(t.desk.camera().stand().yaw, turned.yaw);
    let panned = *t.desk.camera().stand();
    t.input.events.push(Event::ModifiersChanged(Modifiers::ALT));
    t.drag(PointerButton::Primary, &[[600.0, 400.0], [640.0, 400.0]]);
    assert!(t.desk.camera().stand().yaw < turned.yaw);
    t.input.events.push(Event::ModifiersChanged(Modifiers::NONE));
    // The key 0 swaps the current view and the last view.
    let (last, panned) = (*t.desk.camera().stand(), panned);
    for wanted in [panned, last, panned] {
        t.key(Key::Num0, Modifiers::NONE);
        assert_eq!(*t.desk.camera().stand(), wanted);
    }
    t.key(Key::Num5, Modifiers::NONE);
    assert_eq!(t.desk.camera().stand().lens, Lens::Parallel);
    t.key(Key::Home, Modifiers::NONE);
    assert_eq!(t.hash(), hash);
    assert_eq!(t.bench.shown_pose().version, pose);
}

#[test]
fn a_click_selects_and_what_is_selected_is_framed_pinned_and_grabbed() {
    let mut t = Table::new();
    let elbow = t.pixel(t.joint(ELBOW));
    t.drag(PointerButton::Primary, &[elbow]);
    assert_eq!(t.bench.selected(), Some(NodeId::from(ELBOW)));
    assert!(t.bench.session().document().strokes().is_empty() && t.bench.notice().is_none());
    t.key(Key::P, Modifiers::NONE);
    assert_eq!(t.bench.session().document().pins(), [NodeId::from(ELBOW)]);
    t.key(Key::P, Modifiers::NONE);
    t.key(Key::Period, Modifiers::NONE);
    let [x, y] = t.pixel(t.joint(ELBOW));
    let [left, top, w, h] = t.desk.output().viewport.map(|v| v as f32);
    assert!((x - left - w / 2.0).abs() < 1.0 && (y - top - h / 2.0).abs() < 1.0);
    t.key(Key::Home, Modifiers::NONE);
    // G grabs the hand until the next click.
    let hand = t.pixel(t.joint(HAND));
    t.to(hand);
    let before = t.hash();
    t.key(Key::G, Modifiers::NONE);
    assert!(t.bench.is_busy(), "{:?}", t.desk.facts.message);
    (1..=10).for_each(|i| t.to([hand[0] - 6.0 * i as f32, hand[1] - 10.0 * i as f32]));
    assert_eq!(t.hash(), before, "held, it is not in the document yet");
    let held = t.pixel(t.joint(HAND));
    assert!((held[0] - hand[0] + 60.0).abs() < 3.0 && (held[1] - hand[1] + 100.0).abs() < 3.0, "{held:?}");
    t.button(PointerButton::Primary, true);
    t.button(PointerButton::Primary, false);
    assert!(t.hash() != before && !t.bench.is_busy());
    // Escape cancels the grab.
    let after = t.hash();
    t.to(held);
    t.key(Key::G, Modifiers::NONE);
    t.to([held[0] + 40.0, held[1]]);
    t.key(Key::Escape, Modifiers::NONE);
    t.frame();
    assert!(t.hash() == after && t.pixel(t.joint(HAND)) == held);
    t.key(Key::A, Modifiers::ALT);
    assert_eq!(t.bench.selected(), None);
}

#[test]
fn the_grab_tool_takes_the_skin_under_the_mouse_and_nothing_beside_it() {
    let mut t = Table::new();
    t.key(Key::B, Modifiers::NONE);
    let hash = t.hash();
    let hand = t.pixel(t.joint(HAND));
    t.drag(PointerButton::Primary, &[[hand[0], hand[1] + 60.0], [hand[0] - 30.0, hand[1]]]);
    assert_eq!(t.hash(), hash, "{:?}", t.bench.notice());
    let rest = t.joint(HAND);
    t.drag(PointerButton::Primary, &[hand, [hand[0] - 40.0, hand[1] - 60.0]]);
    assert!(t.hash() != hash && t.joint(HAND).y > rest.y + 0.05, "{}", t.joint(HAND));
    // A press that comes before the pick result waits for the result.
    t.key(Key::Z, Modifiers::COMMAND);
    assert_eq!(t.joint(HAND), rest);
    let far = [hand[0] + 200.0, hand[1] + 100.0];
    t.to(far);
    t.frames(3);
    let event = |at: [f32; 2]| Event::PointerMoved(pos2(at[0], at[1]));
    let button = |pressed, at: [f32; 2]| Event::PointerButton {
        pos: pos2(at[0], at[1]),
        button: PointerButton::Primary,
        pressed,
        modifiers: Modifiers::NONE,
    };
    let end = [hand[0] - 40.0, hand[1] - 60.0];
    t.input.events.extend([event(hand), button(true, hand), event(end)]);
    t.frames(4);
    t.button(PointerButton::Primary, false);
    t.frames(3);
    assert!(t.joint(HAND).y > rest.y + 0.05, "{}", t.joint(HAND));
}

#[test]
fn a_stroke_on_the_skin_is_a_mark() {
    let mut t = Table::new();
    t.key(Key::D, Modifiers::NONE);
    let hand = t.pixel(t.joint(HAND));
    let stroke: Vec<[f32; 2]> = (0..12).map(|i| [hand[0] - 6.0 + i as f32, hand[1] + 2.0]).collect();
    t.drag(PointerButton::Primary, &stroke);
    let marks = t.bench.session().document().marks();
    assert_eq!(marks.len(), 1, "{:?}", t.bench.notice());
    assert!(marks[0].points.len() > 4);
    assert!(!t.bench.is_busy());
    t.key(Key::X, Modifiers::NONE);
    assert!(t.bench.session().document().marks().is_empty());
}

#[test]
fn a_mark_is_finished_after_its_button_though_nothing_more_happens() {
    let mut t = Table::new();
    t.key(Key::D, Modifiers::NONE);
    let hand = t.pixel(t.joint(HAND));
    let stroke: Vec<[f32; 2]> = (0..12).map(|i| [hand[0] - 6.0 + i as f32, hand[1] + 2.0]).collect();
    t.to(stroke[0]);
    t.frames(2);
    t.button(PointerButton::Primary, true);
    t.frames(2);
    stroke.iter().for_each(|at| t.to(*at));
    t.frames(2);
    t.button(PointerButton::Primary, false);
    // The window waits as long as the output requests between steps, and receives no further pick result.
    let mut turns = 0;
    while let Some(again) = t.desk.output().again {
        t.asked = None;
        t.input.time += again.as_secs_f64();
        t.frame();
        turns += 1;
        assert!(turns < 30, "it never rests");
    }
    assert_eq!(t.bench.session().document().marks().len(), 1);
    assert!(!t.bench.is_busy());
}

#[test]
fn an_accent_stroke_asks_for_its_silhouette_and_what_comes_is_one_step() {
    let mut t = Table::new();
    t.key(Key::S, Modifiers::NONE);
    let hash = t.hash();
    let [x, y] = t.pixel(t.joint(HAND));
    let path: Vec<[f32; 2]> = (0..14).map(|i| [x - 40.0 + 5.0 * i as f32, y - 20.0]).collect();
    t.to(path[0]);
    t.button(PointerButton::Primary, true);
    path.iter().for_each(|at| t.to(*at));
    let mut asks = Vec::new();
    t.button(PointerButton::Primary, false);
    asks.append(&mut t.desk.output_mut().asks);
    t.frame();
    asks.append(&mut t.desk.output_mut().asks);
    let [Ask::Editor(crate::workbench::Request::Accent(accent))] = &asks[..] else { panic!("{asks:?}") };
    assert_eq!(t.hash(), hash, "nothing is known yet");
    // The drawn stroke projects to the pixels of the mouse.
    assert!(accent.stroke.len() > 8 && accent.start.pose == *t.bench.pose());
    for (point, at) in accent.stroke.iter().zip(&path) {
        let [u, v] = accent.start.view.project(*point).unwrap();
        let shown = t.pixel(*point);
        assert!((0.0..1.0).contains(&u) && (0.0..1.0).contains(&v));
        assert!((shown[0] - at[0]).abs() < 6.0 && (shown[1] - at[1]).abs() < 1.0, "{shown:?} {at:?}");
    }
    // The new sculpt layer waits until the current stroke ends.
    let region = crate::surface::Region { kinematic: vec![0], t: vec![0.5], ..Default::default() };
    let form = Form::Drawn(vec![[0.0, 0.1, 0.0]]);
    let shape = crate::surface::Sculpt::new(crate::base::SculptId(0), None, region, form);
    t.button(PointerButton::Primary, true);
    t.to([x, y + 50.0]);
    assert!(t.bench.is_busy());
    t.bench.receive(shape);
    t.frame();
    assert!(t.bench.session().document().sculpts().is_empty() && t.bench.is_busy());
    t.key(Key::Escape, Modifiers::NONE);
    t.frames(2);
    assert_eq!(t.bench.session().document().sculpts().len(), 1, "{:?}", t.bench.notice());
    t.key(Key::X, Modifiers::NONE);
    assert!(t.bench.session().document().sculpts().is_empty());
    t.key(Key::Z, Modifiers::COMMAND);
    t.key(Key::Z, Modifiers::COMMAND);
    assert_eq!(t.hash(), hash);
}

#[test]
fn the_brush_is_sized_by_keys_and_by_moving() {
    let mut t = Table::new();
    let first = t.bench.preferences().radius;
    t.key(Key::CloseBracket, Modifiers::NONE);
    assert!(t.bench.preferences().radius > first);
    t.to([600.0, 400.0]);
    t.key(Key::F, Modifiers::NONE);
    let radius = t.bench.preferences().radius;
    t.to([640.0, 400.0]);
    assert!((t.bench.preferences().radius - radius - 0.1).abs() < 1e-4);
    t.key(Key::Escape, Modifiers::NONE);
    assert_eq!(t.bench.preferences().radius, radius);
    t.key(Key::F, Modifiers::NONE);
    t.to([600.0, 400.0]);
    t.button(PointerButton::Primary, true);
    assert!(t.bench.preferences().radius < radius && t.desk.hold == Hold::Free);
    assert!(t.bench.session().document().strokes().is_empty());
}

#[test]
fn a_joint_is_turned_by_its_ring_and_by_a_key_about_an_axis() {
    let mut t = Table::new();
    t.key(Key::J, Modifiers::NONE);
    let elbow = t.joint(ELBOW);
    t.drag(PointerButton::Primary, &[t.pixel(elbow)]);
    assert_eq!(t.bench.selected(), Some(NodeId::from(ELBOW)));
    // Seen from the front, the blue ring is a circle. A drag along the ring rotates the forearm up.
    let hash = t.hash();
    let [x, y] = t.pixel(elbow);
    let start = [x + 62.0 * 0.8, y - 62.0 * 0.6];
    t.to(start);
    let turn = |by: f32| [start[0] - 0.6 * 62.0 * by, start[1] - 0.8 * 62.0 * by];
    t.drag(PointerButton::Primary, &[start, turn(0.25), turn(0.5)]);
    let arm = t.joint(HAND) - elbow;
    assert!((arm.y.atan2(arm.x) - 0.5).abs() < 0.03 && arm.z.abs() < 1e-4, "{arm}");
    assert!(t.hash() != hash && t.joint(ELBOW).distance(elbow) < 1e-5);
    t.key(Key::Z, Modifiers::COMMAND);
    assert_eq!(t.hash(), hash, "one step");
    // R and a quarter circle of the mouse rotate the forearm up. X then rotates about the forearm's rest direction.
    t.to([x + 80.0, y]);
    t.key(Key::R, Modifiers::NONE);
    t.to([x, y - 80.0]);
    let arm = t.joint(HAND) - elbow;
    assert!((arm.y.atan2(arm.x) - std::f32::consts::FRAC_PI_2).abs() < 0.02, "{arm}");
    t.key(Key::X, Modifiers::NONE);
    assert!((t.joint(HAND) - elbow).normalize().distance(Vec3::X) < 1e-3);
    t.key(Key::Escape, Modifiers::NONE);
    t.frame();
    assert!(t.hash() == hash && !t.bench.is_busy() && t.desk.hold == Hold::Free);
    // Dragging an arrow moves the joint.
    let grip = [x, y - 50.0];
    t.drag(PointerButton::Primary, &[grip, [grip[0], grip[1] - 30.0]]);
    let moved = t.pixel(t.joint(ELBOW));
    assert!((moved[1] - y + 30.0).abs() < 1.5 && (moved[0] - x).abs() < 0.5, "{moved:?}");
}

#[test]
fn poses_are_keyed_scrubbed_and_played() {
    let mut t = Table::new();
    t.key(Key::I, Modifiers::NONE);
    // The rows of the timeline appear in the next frame.
    assert_eq!(t.desk.output().again, Some(Duration::ZERO));
    t.frame();
    t.drag(PointerButton::Primary, &t.arm(0.0));
    t.drag(PointerButton::Primary, &t.arm(0.8));
    let (low, high) = (Vec3::new(0.75, 1.5, 0.0), t.joint(HAND));
    (0..24).for_each(|_| t.key(Key::ArrowRight, Modifiers::NONE));
    assert!(
        t.bench.shown_time() == Some(1.0) && t.joint(HAND).distance(low) < 1e-4,
        "one key holds for ever"
    );
    t.key(Key::Escape, Modifiers::NONE);
    assert!(t.bench.shown_time().is_none() && t.joint(HAND).distance(high) < 1e-5);
    t.key(Key::I, Modifiers::NONE);
    assert_eq!(t.bench.session().document().motion().key_times(), [0.0, 1.0]);
    // The motion path of the hand has a dot for each frame.
    let dots = |t: &Table| t.desk.output().lines.anchors.len() + t.desk.output().lines.segments.len();
    t.bench.select(None);
    t.frame();
    let none = dots(&t);
    t.bench.select(Some(NodeId::from(HAND)));
    t.frames(2);
    let shown = dots(&t);
    assert!(shown > none + 25, "{none} {shown}");
    t.bench.run_command(Command::MotionPath(false));
    t.frames(2);
    assert!(dots(&t) < none + 5, "{none} {}", dots(&t));
    t.bench.run_command(Command::MotionPath(true));
    t.bench.select(None);
    (0..12).for_each(|_| t.key(Key::ArrowLeft, Modifiers::NONE));
    let middle = t.joint(HAND);
    assert!(middle.distance(low) > 0.1 && middle.distance(high) > 0.1, "{middle}");
    t.key(Key::Space, Modifiers::NONE);
    t.frames(6);
    assert!(t.joint(HAND).y > middle.y);
    assert_eq!(t.desk.output().again, Some(Duration::ZERO));
    // Playback loops.
    t.frames(60);
    assert!(t.bench.shown_time().is_some_and(|time| time < 1.0));
    t.key(Key::Space, Modifiers::NONE);
    t.frames(3);
    assert_ne!(t.desk.output().again, Some(Duration::ZERO));
    // Shift-I copies the displayed pose of the motion into the edited pose as one history step.
    let (shown, steps) = (t.joint(HAND), t.bench.session().history().0);
    t.key(Key::I, Modifiers::SHIFT);
    assert!(t.bench.shown_time().is_none() && t.joint(HAND).distance(shown) < 1e-4);
    assert_eq!(t.bench.session().history().0, steps + 1);
    let [left, top, ..] = t.desk.output().viewport.map(|v| v as f32);
    // A click selects a joint without an edit. A drag with a tool that draws nothing leaves the motion on display.
    t.key(Key::ArrowRight, Modifiers::NONE);
    t.key(Key::ArrowRight, Modifiers::NONE);
    let shown = t.joint(HAND);
    t.drag(PointerButton::Primary, &[t.pixel(shown)]);
    assert_eq!((t.bench.selected(), t.bench.session().history().0), (Some(NodeId::from(HAND)), steps + 1));
    assert!(t.bench.shown_time().is_some() && t.joint(HAND) == shown);
    t.drag(PointerButton::Primary, &[[left + 30.0, top + 30.0], [left + 60.0, top + 50.0]]);
    assert!(t.bench.shown_time().is_some() && t.joint(HAND) == shown);
    assert_eq!(t.bench.session().history().0, steps + 1);
}

#[test]
fn looking_at_the_panels_changes_nothing() {
    let mut t = Table::new();
    let (hash, radius) = (t.hash(), t.bench.preferences().radius);
    for method in crate::deform::Recipe::NAMES {
        t.bench.run_command(Command::Deformer(method.to_owned()));
        t.bench.run_command(Command::Radius(0.0617));
        let before = (t.hash(), t.bench.session().history());
        t.frames(4);
        assert_eq!((t.hash(), t.bench.session().history()), before, "{method}");
        assert_eq!(t.bench.preferences().radius, 0.0617);
    }
    t.bench.run_command(Command::Radius(radius));
    t.bench.jump(1);
    assert_eq!(t.hash(), hash);
}

#[test]
fn panels_keep_their_presses_and_an_idle_desk_wants_no_frame() {
    let mut t = Table::new();
    let [left, top, w, h] = t.desk.output().viewport;
    assert!(left + w <= SIZE[0] && top + h <= SIZE[1] && w > 300 && h > 300);
    let hash = t.hash();
    let bar = [300.0, top as f32 * 0.5];
    t.drag(PointerButton::Primary, &[bar, [600.0, 400.0], [700.0, 500.0]]);
    assert_eq!((t.hash(), t.desk.hold), (hash, Hold::Free));
    t.frames(10);
    assert!(!t.desk.output().dirty && t.desk.output().again.is_none(), "{:?}", t.desk.output().again);
    t.to([500.0, 300.0]);
    assert!(t.desk.output().dirty);
    // A focused text field, the outliner's filter, does not redraw the window either.
    t.drag(PointerButton::Primary, &[[1150.0, 85.0]]);
    assert!(t.desk.context.text_edit_focused());
    t.frames(10);
    assert!(!t.desk.output().dirty && t.desk.output().again.is_none(), "{:?}", t.desk.output().again);
    t.to([500.0, 300.0]);
    t.drag(PointerButton::Primary, &[[500.0, 300.0]]);
    t.key(Key::T, Modifiers::NONE);
    t.frames(2);
    assert_eq!(t.desk.output().again, Some(Duration::ZERO), "the turntable turns");
}

#[test]
fn an_empty_desk_and_wild_input_do_no_harm() {
    let mut desk = WindowEditor::new(Choices { zoom: f32::NAN, ..Choices::default() });
    let nan = pos2(f32::NAN, f32::INFINITY);
    let button = |pressed| Event::PointerButton {
        pos: nan,
        button: PointerButton::Primary,
        pressed,
        modifiers: Modifiers::NONE,
    };
    let key = |key| Event::Key {
        key,
        physical_key: None,
        pressed: true,
        repeat: false,
        modifiers: Modifiers::NONE,
    };
    let events = || {
        let mut events =
            vec![Event::PointerMoved(nan), button(true), Event::PointerMoved(nan), button(false)];
        events.extend(Key::ALL.iter().map(|k| key(*k)));
        events.push(Event::Zoom(f32::NAN));
        events
    };
    for (size, scale) in [([0, 0], f32::NAN), ([3, 2], 1e9), ([800, 600], 1.5)] {
        let input = WindowInput { size, scale, events: events(), focused: true, ..WindowInput::default() };
        let view = desk.step(&input, None).views[0];
        assert!(view.clip_from_world.is_finite() && view.eye.is_finite());
    }
    let mut t = Table::new();
    for time in [f64::NAN, -1.0, 1e300] {
        t.input.events = events();
        t.input.time = time;
        t.desk.step(&t.input, Some(&mut t.bench));
        assert!(t.desk.output().views.iter().all(|v| v.clip_from_world.is_finite()));
    }
    assert_eq!(t.bench.session().document().asset().map(|a| a.hash.len()), Some(64));
}

#[test]
fn lines_have_the_scale_of_the_display_and_of_the_panels() {
    let mut desk = WindowEditor::new(Choices::default());
    let mut scale = |scale: f32| {
        let input = WindowInput { size: SIZE, scale, focused: true, ..WindowInput::default() };
        desk.step(&input, None).scale
    };
    assert_eq!([1.0, 2.0, 1.5].map(&mut scale), [1.0, 2.0, 1.5]);
}

#[test]
fn the_section_of_a_chosen_tool_opens_and_comes_into_view() {
    let mut t = Table::new();
    let word = |t: &Table, text: &str| t.desk.words.iter().find(|w| w.0 == text).map(|w| w.1);
    assert!(word(&t, "Import .obj").is_none());
    for _ in 0..2 {
        t.key(Key::C, Modifiers::NONE);
        t.frames(40);
        let shown = word(&t, "Import .obj").unwrap();
        assert!(shown.min.y > 0.0 && shown.max.y < 400.0, "{shown:?}");
        assert_eq!(t.desk.choices().sections.get("Cage"), Some(&true));
        // The user scrolls away; another choice of the tool brings the section back.
        t.key(Key::B, Modifiers::NONE);
        t.frames(2);
    }
}

#[test]
fn an_opened_section_of_the_side_panel_is_open_in_the_next_session() {
    let mut t = Table::new();
    let statistics = |t: &Table| t.desk.words.iter().find(|w| w.0 == "Statistics").map(|w| w.1.center());
    let content = |t: &Table| t.desk.words.iter().any(|w| w.0 == "Triangles");
    // Other sections are closed first, so that the last one is in view.
    for title in ["Outliner", "Deformer"] {
        let at = t.desk.words.iter().find(|w| w.0 == title).unwrap().1.center();
        t.click_at([at.x, at.y]);
        t.frames(30);
    }
    let at = statistics(&t).unwrap();
    assert!(!content(&t));
    t.click_at([at.x, at.y]);
    t.frames(30);
    assert!(content(&t), "{:?}", t.desk.words);
    let kept = t.desk.choices().clone();
    let expected = [("Deformer", false), ("Outliner", false), ("Statistics", true)];
    assert_eq!(kept.sections.iter().map(|(n, o)| (n.as_str(), *o)).collect::<Vec<_>>(), expected);
    let text = serde_json::to_string(&kept).unwrap();
    let mut next = Table { desk: WindowEditor::new(serde_json::from_str(&text).unwrap()), ..Table::new() };
    next.frames(3);
    assert!(content(&next), "{:?}", next.desk.words);
}
