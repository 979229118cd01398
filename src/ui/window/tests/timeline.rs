//! Tests of clicks on the ruler of the timeline.

use super::*;
use crate::asset::{Channel, Clip, Interpolation, Property};
use crate::document::{ClipLayer, Edit, KeyEdit};
use crate::scene::SkinColors;
use std::sync::Arc;

/// Returns a window with a character whose clip has this duration in seconds.
fn table(seconds: f32) -> Table {
    let mut character = biped();
    let turn = |angle: f32| crate::base::math::Quat::from_rotation_x(angle).to_array();
    let nod = Channel {
        node: NodeId::from(2),
        property: Property::Rotation,
        interpolation: Interpolation::Linear,
        times: vec![0.0, seconds],
        values: [turn(0.0), turn(1.0)].concat(),
    };
    Arc::make_mut(&mut character).skeleton.clips = [Clip { name: "Nod".into(), channels: vec![nod] }].into();
    let clip = ClipLayer::new(0, &character.skeleton);
    let bench = Workbench::new(session(&character), character, Preferences::default());
    let mut t = Table { bench, ..Table::new() };
    t.bench.apply(Edit::Keys(KeyEdit::Clips(vec![clip])), false);
    t.frames(3);
    t
}

/// Presses and releases in one frame, as on a slow display.
fn quick_click(t: &mut Table, from: [f32; 2], to: [f32; 2]) {
    let moved = |at: [f32; 2]| Event::PointerMoved(pos2(at[0], at[1]));
    let button = |pressed, at: [f32; 2]| Event::PointerButton {
        pos: pos2(at[0], at[1]),
        button: PointerButton::Primary,
        pressed,
        modifiers: Modifiers::NONE,
    };
    t.to(from);
    t.input.events.extend([button(true, from), moved(to), button(false, to)]);
    t.frames(3);
}

/// Returns the vertical centre of the ruler, pixels.
fn ruler(t: &Table) -> f32 {
    let [_, top, _, height] = t.desk.output().viewport.map(|v| v as f32);
    top + height + 47.0
}

#[test]
fn a_click_at_either_end_of_the_ruler_goes_exactly_there_and_none_is_lost() {
    // At 24 frames per second, 2.03 s lies between frames 48 and 49. The ruler is a quarter longer than the motion.
    let mut t = table(2.03);
    let duration = t.bench.timeline().sheet.duration;
    let whole = t.bench.timeline().length;
    let y = ruler(&t);
    let (left, right) = (16.0, SIZE[0] as f32 - 16.0);
    for x in [right, right + 6.0, right + 14.0] {
        t.click_at([600.0, y]);
        assert!(t.bench.shown_time().is_some_and(|s| (0.5..2.0).contains(&s)), "{:?}", t.bench.shown_time());
        t.click_at([x, y]);
        let shown = t.bench.shown_time().unwrap();
        assert!(shown <= whole && whole - shown < 1.0 / 24.0, "{shown} of {whole} at {x}");
        assert_eq!(t.bench.timeline().length, whole);
    }
    for x in [left, left - 8.0, left - 14.0] {
        t.click_at([600.0, y]);
        t.click_at([x, y]);
        assert_eq!(t.bench.shown_time(), Some(0.0), "at {x}");
    }
    // Clicks snap to the end of the motion, although it lies between two frames.
    let end = left + (right - left) * (duration / whole) as f32;
    t.click_at([end + 2.0, y]);
    assert_eq!(t.bench.shown_time(), Some(duration));
    // A press moves the playhead at once, even if the release comes in the same frame at another place.
    t.to([600.0, y]);
    t.button(PointerButton::Primary, true);
    assert!(t.bench.shown_time().is_some_and(|s| s < 2.0), "{:?}", t.bench.shown_time());
    t.button(PointerButton::Primary, false);
    quick_click(&mut t, [600.0, y], [left, y]);
    assert_eq!(t.bench.shown_time(), Some(0.0));
}

#[test]
fn the_ruler_keeps_its_scale_while_it_is_dragged() {
    let mut t = table(2.0);
    t.bench.run_command(Command::Scrub(10.0));
    t.frames(2);
    let y = ruler(&t);
    t.to([640.0, y]);
    t.button(PointerButton::Primary, true);
    t.frames(5);
    let shown = t.bench.shown_time().unwrap();
    assert!((shown - 5.0).abs() < 0.1, "{shown}");
    t.to([641.0, y]);
    t.frames(5);
    let shown = t.bench.shown_time().unwrap();
    assert!((shown - 5.0).abs() < 0.1, "{shown}");
    t.button(PointerButton::Primary, false);
}

#[test]
fn the_frame_is_typed_or_dragged_and_the_ruler_counts_frames() {
    let mut t = table(2.0);
    let words = |t: &Table, of: &dyn Fn(&str) -> bool| {
        t.desk.words.iter().find(|w| of(&w.0)).unwrap_or_else(|| panic!("{:?}", t.desk.words)).clone()
    };
    let field = |t: &Table| <[f32; 2]>::from(words(t, &|w| w.starts_with("frame ")).1.center());
    let (stand, steps) = (*t.desk.camera().stand(), t.bench.session().history().0);
    t.click_at(field(&t));
    t.write("36");
    assert_ne!(t.bench.shown_time(), Some(1.5), "nothing moves before Enter");
    t.key(Key::Enter, Modifiers::NONE);
    t.frames(2);
    assert_eq!(t.bench.shown_time(), Some(1.5));
    assert_eq!(*t.desk.camera().stand(), stand, "a digit is no view");
    let [x, y] = field(&t);
    t.drag(PointerButton::Primary, &[[x, y], [x - 30.0, y], [x - 60.0, y]]);
    t.frames(2);
    let shown = t.bench.shown_time().unwrap();
    assert!((0.5..1.3).contains(&shown) && (shown * 24.0).fract() == 0.0, "{shown}");
    assert_eq!(t.bench.session().history().0, steps, "the playhead is no edit");
    words(&t, &|w| w == "24");
    words(&t, &|w| w == "1 s");
    words(&t, &|w| w == "0");
    // Closer, labels stand between the seconds.
    t.to([640.0, ruler(&t)]);
    t.input.events.push(Event::MouseWheel {
        unit: egui::MouseWheelUnit::Point,
        delta: egui::vec2(0.0, 900.0),
        modifiers: Modifiers::NONE,
        phase: egui::TouchPhase::Move,
    });
    t.frames(20);
    words(&t, &|w| w.parse::<u32>().is_ok_and(|frame| frame % 24 != 0 && frame < 60));
}

#[test]
fn the_key_of_the_skin_colours_says_what_they_mean_and_skips_views_of_other_methods() {
    let mut t = Table::new();
    for view in [SkinColors::Weights, SkinColors::Strain, SkinColors::Off] {
        t.key(Key::V, Modifiers::ALT);
        t.frames(2);
        assert_eq!(t.bench.preferences().colors, view);
        let says = |w: &&(String, egui::Rect)| w.0.contains(view.label()) && w.0.contains(view.legend());
        assert!(t.desk.words.iter().find(says).is_some(), "{view:?}: {:?}", t.desk.words);
    }
}

#[test]
fn a_jump_in_the_history_keys_nothing() {
    let mut t = Table::new();
    t.key(Key::I, Modifiers::NONE);
    t.bench.run_command(Command::AutoKey(true));
    t.bench.select(Some(NodeId::from(ELBOW)));
    t.frame();
    t.key(Key::R, Modifiers::NONE);
    t.write("z45");
    t.key(Key::Enter, Modifiers::NONE);
    t.frames(2);
    let (done, all) = t.bench.session().history();
    assert_eq!((done, all), (3, 3));
    t.bench.jump(2);
    t.frames(2);
    assert_eq!(t.bench.session().history(), (2, 3), "what was undone can be done again");
}

/// Returns a window with keys of the whole pose at 0, 0.5 and 1 s, and the position of a time on the summary row.
fn keyed() -> (Table, impl Fn(&Table, f64) -> [f32; 2]) {
    let mut t = Table::new();
    for time in [0.0, 0.5, 1.0] {
        t.bench.run_command(Command::Scrub(time));
        t.bench.run_command(Command::Key);
    }
    t.frames(3);
    let at = |t: &Table, time: f64| {
        let below = ruler(t) - 20.0;
        let [zero, one] = ["0", "24"].map(|label| {
            let found = t.desk.words.iter().find(|w| w.0 == label && w.1.min.y > below);
            found.unwrap_or_else(|| panic!("{:?}", t.desk.words)).1.min
        });
        let counts = |w: &&(String, egui::Rect)| w.0.starts_with(|c: char| c.is_ascii_digit());
        let is_summary = |w: &&(String, egui::Rect)| w.0.ends_with(" keys") || w.0.ends_with(" selected");
        let row = t.desk.words.iter().filter(counts).find(is_summary);
        let y = row.unwrap_or_else(|| panic!("{:?}", t.desk.words)).1.center().y;
        [zero.x - 3.0 + (one.x - zero.x) * time as f32, y]
    };
    (t, at)
}

#[test]
fn keys_of_the_sheet_are_dragged_copied_pasted_and_deleted_by_keys() {
    let (mut t, at) = keyed();
    let columns = |t: &Table| t.bench.timeline().sheet.columns.clone();
    t.key(Key::T, Modifiers::SHIFT);
    t.frames(3);
    let steps = t.bench.session().history().0;
    t.drag(PointerButton::Primary, &[at(&t, 0.5), at(&t, 0.6), at(&t, 0.75)]);
    assert_eq!((columns(&t), t.bench.session().history().0), (vec![0.0, 0.75, 1.0], steps + 1));
    t.input.events.push(Event::Copy);
    t.frames(2);
    t.bench.run_command(Command::Scrub(1.5));
    t.to(at(&t, 0.3));
    t.input.events.push(Event::Paste("keys of Sinew".into()));
    t.frames(2);
    assert_eq!(columns(&t), [0.0, 0.75, 1.0, 1.5]);
    t.key(Key::Delete, Modifiers::NONE);
    t.frames(2);
    assert_eq!(columns(&t), [0.0, 0.75, 1.0]);
    // Nothing is selected now, and the key does not reach the strokes.
    t.key(Key::Delete, Modifiers::NONE);
    assert!(t.desk.facts.message.as_deref().is_some_and(|m| m.contains("no key is selected")));
    t.to([640.0, 300.0]);
    t.frames(2);
    t.key(Key::Delete, Modifiers::NONE);
    assert!(t.bench.notice().is_some_and(|m| m.contains("nothing to remove")), "{:?}", t.bench.notice());
}

#[test]
fn the_open_sheet_keeps_its_height() {
    let (mut t, _) = keyed();
    let height = |t: &Table| t.desk.output().viewport[3];
    let closed = height(&t);
    t.key(Key::T, Modifiers::SHIFT);
    t.frames(4);
    let open = height(&t);
    assert!(open + 100 < closed, "{open} {closed}");
    t.frames(4);
    assert_eq!(height(&t), open);
    assert!(t.desk.words.iter().any(|w| w.0 == "Ease both"));
    t.key(Key::T, Modifiers::SHIFT);
    t.frames(4);
    assert_eq!(height(&t), closed);
}

#[test]
fn the_mouse_drags_a_key_of_the_motion_path_with_every_tool_that_poses() {
    let mut t = Table::new();
    let turn = |a: f32| crate::base::math::Quat::from_rotation_z(a).to_array();
    let channel = crate::document::Channel {
        target: crate::document::Target::node(NodeId::from(ELBOW - 1), Property::Rotation),
        interpolation: Interpolation::Linear,
        times: vec![0.0, 1.0, 2.0],
        values: [turn(0.0), turn(0.5), turn(-0.4)].concat(),
    };
    let slot = crate::document::Slot { target: channel.target.clone(), channel: Some(channel) };
    t.bench.apply(Edit::Keys(KeyEdit::Channels(vec![slot])), false);
    t.bench.run_command(Command::GrabBy(crate::workbench::GrabBy::Limb));
    for tool in [Tool::Line, Tool::Grab, Tool::Joint] {
        t.bench.run_command(Command::Tool(tool));
        t.bench.run_command(Command::Scrub(0.0));
        t.bench.select(Some(NodeId::from(HAND)));
        t.frames(3);
        let hash = t.bench.session().document().hash();
        let (_, place) = t.bench.path_keys().find(|k| k.0 == 1.0).unwrap();
        let [x, y] = t.pixel(place);
        t.to([x + 2.0, y]);
        t.frames(2);
        let lit = |t: &Table| t.desk.output().lines.segments.iter().filter(|s| s.width_a == 17.0).count();
        assert_eq!(lit(&t), 1, "{tool:?}: the key under the mouse lights up");
        let steps = t.bench.session().history().0;
        t.button(PointerButton::Primary, true);
        t.frames(2);
        for k in 1..=6 {
            t.to([x + 2.0 - 5.0 * k as f32, y + 4.0 * k as f32]);
        }
        assert_eq!(t.bench.shown_time(), Some(1.0), "{tool:?}");
        assert!(t.bench.is_busy());
        let shown = t.joint(HAND);
        t.button(PointerButton::Primary, false);
        t.frames(3);
        assert_eq!(t.bench.session().history().0, steps + 1, "{tool:?}");
        assert!(t.joint(HAND).distance(shown) < 1e-5 && shown.distance(place) > 0.03, "{shown} {place}");
        assert!(t.bench.session().document().strokes().is_empty());
        let moved = t.bench.path_keys().find(|k| k.0 == 1.0).unwrap().1;
        assert!(moved.distance(shown) < 1e-4);
        t.key(Key::Z, Modifiers::CTRL);
        t.frames(2);
        assert_eq!(t.bench.session().document().hash(), hash, "{tool:?}");
        // The right button drops a drag; a click goes to the key.
        t.bench.run_command(Command::Scrub(0.0));
        t.to([x + 2.0, y]);
        t.frames(2);
        t.button(PointerButton::Primary, true);
        t.to([x - 30.0, y]);
        t.button(PointerButton::Secondary, true);
        t.frames(2);
        t.button(PointerButton::Primary, false);
        t.frames(2);
        assert_eq!(t.bench.session().document().hash(), hash, "{tool:?}");
        assert!(!t.bench.is_busy());
    }
    // O switches onion skins.
    t.key(Key::O, Modifiers::NONE);
    assert!(t.bench.preferences().onion.on && t.bench.ghost_times()[1][0].is_some());
}

#[test]
fn curves_are_dragged_and_their_keys_deleted_and_the_plot_keeps_its_height() {
    let (mut t, _) = keyed();
    t.bench.select(Some(NodeId::from(ELBOW)));
    t.key(Key::T, Modifiers::SHIFT);
    t.frames(3);
    let press = |t: &mut Table, name: &str| {
        let found = t.desk.words.iter().rev().find(|w| w.0 == name);
        let at = found.unwrap_or_else(|| panic!("no {name:?} in {:?}", t.desk.words)).1.center();
        t.click_at([at.x, at.y]);
        t.frames(3);
    };
    press(&mut t, "Curves");
    let height = t.desk.output().viewport[3];
    // The three curves lie on one line, at the angle of the rest pose: 0.
    let at = |t: &Table, time: f32| {
        let below = ruler(t) - 20.0;
        let of = |label: &str| t.desk.words.iter().find(|w| w.0 == label && w.1.min.y > below).unwrap().1;
        let (zero, one) = (of("0").min.x - 3.0, of("24").min.x - 3.0);
        [zero + (one - zero) * time, of("0°").max.y + 3.0]
    };
    let (steps, rest) = (t.bench.session().history().0, t.bench.session().document().clone());
    let from = at(&t, 0.5);
    t.bench.run_command(Command::Scrub(0.5));
    t.frames(2);
    let before = t.bench.pose().local[ELBOW].rotation();
    t.drag(PointerButton::Primary, &[from, [from[0], from[1] - 20.0], [from[0], from[1] - 60.0]]);
    assert_eq!(t.bench.session().history().0, steps + 1);
    let turned = |t: &Table| {
        let target = crate::document::Target::node(NodeId::from(ELBOW), Property::Rotation);
        let channel = t.bench.session().document().motion().channel(&target).unwrap();
        crate::document::KeyCurves::new(channel)
    };
    assert!(turned(&t).value(1, 0).to_degrees() > 2.0, "{:?}", turned(&t).value(1, 0));
    t.frames(2);
    let shown = t.bench.pose().local[ELBOW].rotation();
    assert!(shown.angle_between(before) > 0.03, "the figure follows");
    assert_eq!(t.desk.output().viewport[3], height);
    t.key(Key::Z, Modifiers::CTRL);
    t.frames(2);
    assert_eq!(*t.bench.session().document(), rest);
    // Escape cancels a drag; the mouse does nothing more until its button is up.
    let from = at(&t, 0.5);
    t.to(from);
    t.button(PointerButton::Primary, true);
    t.to([from[0], from[1] - 20.0]);
    t.to([from[0], from[1] - 50.0]);
    t.frames(2);
    assert_eq!(t.bench.session().history().0, steps + 1);
    t.key(Key::Escape, Modifiers::NONE);
    t.to([from[0], from[1] - 70.0]);
    t.frames(2);
    t.button(PointerButton::Primary, false);
    t.frames(2);
    assert_eq!((t.bench.session().history().0, t.bench.session().document()), (steps, &rest));
    assert_eq!(t.bench.shown_time(), Some(0.5), "Escape leaves the motion only without a drag");
    // The selected key of the curve is deleted while the pointer is over the plot.
    t.to([from[0] + 50.0, from[1] - 40.0]);
    t.key(Key::Delete, Modifiers::NONE);
    t.frames(2);
    assert_eq!(turned(&t).times(), [0.0, 1.0]);
    press(&mut t, "Sheet");
    assert!(t.desk.words.iter().any(|w| w.0.ends_with(" keys")));
}

#[test]
fn escape_and_undo_drop_a_box_of_the_sheet() {
    for (key, modifiers) in [(Key::Escape, Modifiers::NONE), (Key::Z, Modifiers::CTRL)] {
        let (mut t, at) = keyed();
        t.key(Key::T, Modifiers::SHIFT);
        t.frames(3);
        let (history, [x, y], to) = (t.bench.session().history(), at(&t, 0.3), at(&t, 0.8));
        t.to([x, y]);
        t.button(PointerButton::Primary, true);
        t.to([x + 20.0, y]);
        t.to(to);
        t.frames(2);
        t.key(key, modifiers);
        t.button(PointerButton::Primary, false);
        t.frames(3);
        assert_eq!(t.bench.session().history(), history, "{key:?}: only the box ends");
        assert!(t.desk.words.iter().all(|w| !w.0.ends_with(" selected")), "{key:?}: it selects nothing");
        t.drag(PointerButton::Primary, &[[x, y], [x + 20.0, y], to]);
        assert!(t.desk.words.iter().any(|w| w.0.ends_with(" selected")), "a box that ends selects keys");
    }
}

#[test]
fn a_grab_while_the_motion_plays_is_recorded_and_one_beside_the_body_changes_nothing() {
    let mut t = Table::new();
    let turn = |a: f32| crate::base::math::Quat::from_rotation_z(a).to_array();
    let channel = crate::document::Channel {
        target: crate::document::Target::node(NodeId::from(ELBOW - 1), Property::Rotation),
        interpolation: Interpolation::Linear,
        times: vec![0.0, 8.0],
        values: [turn(0.0), turn(0.1)].concat(),
    };
    let slot = crate::document::Slot { target: channel.target.clone(), channel: Some(channel) };
    t.bench.apply(Edit::Keys(KeyEdit::Channels(vec![slot])), false);
    for command in [
        Command::GrabBy(crate::workbench::GrabBy::Limb),
        Command::Tool(Tool::Grab),
        Command::Record(true),
        Command::Play(true),
    ] {
        t.bench.run_command(command);
    }
    t.frames(3);
    let (hash, history) = (t.hash(), t.bench.session().history());
    let beside = t.pixel(Vec3::new(0.6, 0.3, 0.0));
    t.drag(PointerButton::Primary, &[beside, [beside[0] + 40.0, beside[1] - 30.0]]);
    assert_eq!((t.hash(), t.bench.session().history()), (hash, history));
    assert!(t.bench.timeline().playhead.playing);
    let hand = t.pixel(t.joint(HAND));
    t.drag(
        PointerButton::Primary,
        &[hand, [hand[0] - 10.0, hand[1] - 20.0], [hand[0] - 30.0, hand[1] - 50.0]],
    );
    let motion = t.bench.session().document().motion();
    assert!(motion.channels().len() > 1, "the grab is recorded");
    assert_eq!(t.bench.session().history().0, history.0 + 1);
    assert!(t.bench.timeline().playhead.playing, "the motion plays on");
}
