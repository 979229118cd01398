//! Tests of the keyboard in number fields, in text fields, and in rotations and grabs by keys.

use super::*;
use std::f32::consts::FRAC_PI_4;

/// Returns the key that types a letter.
fn key_of(letter: char) -> Key {
    match letter {
        '.' => Key::Period,
        '-' => Key::Minus,
        '/' => Key::Slash,
        _ => Key::from_name(&letter.to_uppercase().to_string()).unwrap(),
    }
}

impl Table {
    /// Types a text, one letter per frame.
    pub(super) fn write(&mut self, text: &str) {
        for letter in text.chars() {
            self.input.events.push(Event::Text(letter.to_string()));
            self.key(key_of(letter), Modifiers::NONE);
        }
    }

    /// Returns the centre of a displayed text, pixels.
    pub(super) fn words_at(&self, words: &str) -> [f32; 2] {
        let found = self.desk.words.iter().find(|w| w.0 == words);
        found.unwrap_or_else(|| panic!("no {words:?} in {:?}", self.desk.words)).1.center().into()
    }

    /// Returns the position of the number field beside a label.
    fn number(&self, label: &str) -> [f32; 2] {
        let row = self.words_at(label)[1];
        let beside = |w: &&(String, egui::Rect)| {
            (w.1.center().y - row).abs() < 6.0 && w.0.trim_end_matches(" px").parse::<f64>().is_ok()
        };
        self.desk
            .words
            .iter()
            .find(beside)
            .unwrap_or_else(|| panic!("{:?}", self.desk.words))
            .1
            .center()
            .into()
    }

    pub(super) fn click_at(&mut self, at: [f32; 2]) {
        self.to(at);
        self.button(PointerButton::Primary, true);
        self.button(PointerButton::Primary, false);
        self.frame();
    }

    fn steps(&self) -> usize {
        self.bench.session().history().0
    }

    fn springs(&self) -> crate::deform::springs::Params {
        self.bench.recipe().springs.unwrap()
    }

    fn select(&mut self, node: usize) {
        self.bench.select(Some(NodeId::from(node)));
        self.frame();
    }
}

#[test]
fn a_number_is_typed_as_a_whole_in_one_step_and_no_shortcut_acts_meanwhile() {
    let mut t = Table::new();
    // The number lies far down in the side panel, above the timeline.
    t.input.size[1] = 1000;
    t.frames(2);
    let (stand, steps) = (*t.desk.camera().stand(), t.steps());
    t.click_at(t.number("Twist"));
    t.write("0.57");
    assert_eq!((t.steps(), t.springs().torsion), (steps, 1.0), "nothing is set before Enter");
    t.key(Key::Enter, Modifiers::NONE);
    t.frames(2);
    assert_eq!((t.steps(), t.springs().torsion), (steps + 1, 0.57));
    assert_eq!(*t.desk.camera().stand(), stand, "a digit is no view");
    // Escape in a number field restores the number; selection and motion stay.
    t.bench.select(Some(NodeId::from(ELBOW)));
    t.key(Key::I, Modifiers::NONE);
    let (steps, shown) = (t.steps(), t.bench.shown_time());
    assert!(shown.is_some());
    t.frame();
    t.click_at(t.number("Twist"));
    t.write("0.9");
    t.key(Key::Escape, Modifiers::NONE);
    t.frames(2);
    assert_eq!((t.steps(), t.springs().torsion, t.bench.shown_time()), (steps, 0.57, shown));
    // Focusing the number field and pressing Enter makes no edit.
    t.click_at(t.number("Twist"));
    t.key(Key::Enter, Modifiers::NONE);
    t.frames(2);
    assert_eq!(t.steps(), steps);
    // Tab accepts the number and does not switch the deformer.
    t.click_at(t.number("Twist"));
    t.write("0.7");
    t.key(Key::Tab, Modifiers::NONE);
    t.frames(2);
    assert_eq!((t.steps(), t.springs().torsion), (steps + 1, 0.7));
    // A press in the picture accepts the number, and the stroke that begins there is drawn.
    t.click_at(t.number("Twist"));
    t.write("0.8");
    t.drag(PointerButton::Primary, &t.arm(0.0));
    assert_eq!((t.springs().torsion, t.bench.session().document().strokes().len()), (0.8, 1));
    t.key(Key::P, Modifiers::NONE);
    assert_eq!(t.bench.session().document().pins().len(), 1, "keys are shortcuts again");
    // The number field of the brush has a unit.
    t.click_at(t.words_at("24 px"));
    t.write("30");
    t.key(Key::Enter, Modifiers::NONE);
    assert!((t.bench.preferences().radius - 0.075).abs() < 1e-5, "{}", t.bench.preferences().radius);
}

#[test]
fn enter_and_letters_in_a_text_are_no_shortcuts() {
    let mut t = Table::new();
    t.frames(2);
    t.bench.run_command(Command::Files);
    t.frames(2);
    let hash = t.hash();
    t.click_at(t.words_at("Filter by name"));
    t.write("rx");
    t.key(Key::Enter, Modifiers::NONE);
    t.frames(2);
    assert_eq!(t.hash(), hash);
    assert!(t.desk.output().asks.is_empty() && t.desk.hold == Hold::Free);
}

#[test]
fn a_turn_without_a_selection_does_nothing_and_its_axis_and_angle_neither() {
    let mut t = Table::new();
    t.drag(PointerButton::Primary, &t.arm(0.0));
    t.bench.select(None);
    let [left, top, ..] = t.desk.output().viewport.map(|v| v as f32);
    let empty = [left + 20.0, top + 20.0];
    for begin in [Key::R, Key::G] {
        // Tries the empty part of the picture and a point outside the picture.
        for at in [empty, [5.0, 5.0]] {
            t.to(at);
            t.frames(2);
            let (hash, steps, stand) = (t.hash(), t.steps(), *t.desk.camera().stand());
            t.key(begin, Modifiers::NONE);
            let told = t.desk.facts.message.clone().unwrap_or_default();
            assert!(told.contains("click a joint"), "{told:?}");
            t.write("x45");
            t.key(Key::Backspace, Modifiers::NONE);
            t.key(Key::Enter, Modifiers::NONE);
            assert_eq!((t.hash(), t.steps(), *t.desk.camera().stand()), (hash, steps, stand));
        }
    }
    // Afterwards, keys are shortcuts again.
    t.key(Key::X, Modifiers::NONE);
    assert!(t.bench.session().document().strokes().is_empty());
}

#[test]
fn a_joint_is_turned_about_an_axis_by_a_typed_angle_as_in_blender() {
    let mut t = Table::new();
    let (elbow, hand) = (t.joint(ELBOW), t.joint(HAND));
    let (hash, steps, stand) = (t.hash(), t.steps(), *t.desk.camera().stand());
    t.select(ELBOW);
    // The mouse's position does not matter while an angle is typed.
    t.to([5.0, 5.0]);
    t.key(Key::R, Modifiers::NONE);
    t.write("z4");
    t.frame();
    assert!(t.desk.words.iter().any(|w| w.0.contains("4°") && w.0.contains('Z')), "{:?}", t.desk.words);
    t.write("5");
    let angle = |t: &Table| {
        let arm = t.joint(HAND) - t.joint(ELBOW);
        arm.y.atan2(arm.x)
    };
    assert!((angle(&t) - FRAC_PI_4).abs() < 1e-4, "{}", angle(&t));
    t.write("-");
    assert!((angle(&t) + FRAC_PI_4).abs() < 1e-4, "{}", angle(&t));
    assert_eq!(t.hash(), hash, "it is not in the document yet");
    t.key(Key::Backspace, Modifiers::NONE);
    assert!((angle(&t) + 4.0_f32.to_radians()).abs() < 1e-4);
    t.write(".5");
    assert!((angle(&t) + 4.5_f32.to_radians()).abs() < 1e-4);
    // During the rotation, keys are no shortcuts.
    for key in [Key::Num7, Key::L, Key::Tab, Key::Delete, Key::I, Key::Space, Key::M, Key::N] {
        t.key(key, Modifiers::NONE);
    }
    t.key(Key::Z, Modifiers::COMMAND);
    assert_eq!((t.steps(), *t.desk.camera().stand()), (steps, stand));
    t.key(Key::Escape, Modifiers::NONE);
    t.frame();
    assert!(t.hash() == hash && t.joint(HAND) == hand && t.desk.hold == Hold::Free);

    // Enter keeps the rotation as one history step.
    t.key(Key::R, Modifiers::NONE);
    t.write("z45");
    t.key(Key::Enter, Modifiers::NONE);
    t.frame();
    assert_eq!((t.steps(), t.desk.hold), (steps + 1, Hold::Free));
    assert!((angle(&t) - FRAC_PI_4).abs() < 1e-4);
    // A second press of X chooses the joint's own X axis instead of the world's.
    let world = t.bench.rig().world[ELBOW];
    let own = Vec3::from(world.matrix3.x_axis).normalize();
    let before = (t.joint(HAND) - elbow).normalize();
    t.key(Key::R, Modifiers::NONE);
    t.write("xx90");
    t.key(Key::Enter, Modifiers::NONE);
    t.frame();
    let turned = (t.joint(HAND) - elbow).normalize();
    let wanted = crate::base::math::Quat::from_axis_angle(own, std::f32::consts::FRAC_PI_2) * before;
    assert!(turned.distance(wanted) < 1e-4, "{turned} {wanted}");

    // The right button cancels the rotation, a click confirms it, and neither draws or selects anything.
    let (hash, steps) = (t.hash(), t.steps());
    let [x, y] = t.pixel(elbow);
    t.to([x + 80.0, y]);
    t.key(Key::R, Modifiers::NONE);
    t.to([x, y - 80.0]);
    t.button(PointerButton::Secondary, true);
    t.button(PointerButton::Secondary, false);
    assert!(t.hash() == hash && t.desk.hold == Hold::Free && !t.bench.is_busy());
    t.to([x + 80.0, y]);
    t.key(Key::R, Modifiers::NONE);
    t.to([x, y - 80.0]);
    t.button(PointerButton::Primary, true);
    t.button(PointerButton::Primary, false);
    assert_eq!((t.steps(), t.bench.selected()), (steps + 1, Some(NodeId::from(ELBOW))));
    assert!(t.bench.session().document().strokes().is_empty() && t.hash() != hash);
}

/// A biped with a key at 0 s and a bent elbow as the edited pose. The motion shows at 0.5 s.
fn moving() -> Table {
    let mut t = Table::new();
    t.key(Key::I, Modifiers::NONE);
    t.select(ELBOW);
    t.key(Key::R, Modifiers::NONE);
    t.write("z45");
    t.key(Key::Enter, Modifiers::NONE);
    t.frame();
    (0..12).for_each(|_| t.key(Key::ArrowRight, Modifiers::NONE));
    t
}

#[test]
fn a_turn_of_what_the_motion_shows_goes_back_to_it() {
    let mut t = moving();
    assert_eq!(t.bench.shown_time(), Some(0.5));
    let (hash, shown) = (t.hash(), t.joint(HAND));
    for begin in [Key::R, Key::G] {
        t.to(t.pixel(t.joint(ELBOW)));
        t.key(begin, Modifiers::NONE);
        assert!(t.desk.hold != Hold::Free, "{:?}", t.desk.facts.message);
        t.write("x30");
        t.key(Key::Escape, Modifiers::NONE);
        t.frame();
        assert_eq!((t.hash(), t.bench.shown_time(), t.joint(HAND)), (hash.clone(), Some(0.5), shown));
    }
    // Without a selected joint, R does not copy the motion's pose.
    t.bench.select(None);
    t.to([5.0, 5.0]);
    t.key(Key::R, Modifiers::NONE);
    assert_eq!((t.hash(), t.bench.shown_time()), (hash, Some(0.5)));
}

#[test]
fn a_click_on_what_the_motion_shows_makes_a_grip() {
    let mut t = moving();
    t.key(Key::H, Modifiers::NONE);
    let (steps, shown) = (t.steps(), t.joint(HAND));
    t.to(t.pixel(shown));
    t.frames(2);
    t.button(PointerButton::Primary, true);
    t.frames(2);
    t.button(PointerButton::Primary, false);
    t.frames(2);
    assert_eq!((t.bench.session().document().grips().len(), t.steps()), (1, steps + 1));
    assert!(t.joint(HAND).distance(shown) < 1e-4, "the body stays in its visible pose");
    t.key(Key::Z, Modifiers::CTRL);
    t.frame();
    assert_eq!((t.bench.session().document().grips().len(), t.bench.shown_time()), (0, Some(0.5)));
}

#[test]
fn a_joint_is_moved_along_an_axis_by_a_typed_length() {
    let mut t = Table::new();
    let hand = t.joint(HAND);
    let (hash, steps) = (t.hash(), t.steps());
    t.select(HAND);
    t.to(t.pixel(hand));
    t.key(Key::G, Modifiers::NONE);
    t.write("x-.1");
    t.frame();
    let moved = t.joint(HAND) - hand;
    assert!((moved.x + 0.1).abs() < 0.01 && moved.y.abs() < 0.01, "{moved}");
    // Y moves the hand along another axis; the arm is too short for the full length.
    t.write("y");
    t.frame();
    let moved = t.joint(HAND) - hand;
    assert!((moved.y + 0.1).abs() < 0.02 && moved.x.abs() < 0.02, "{moved}");
    t.key(Key::Escape, Modifiers::NONE);
    t.frame();
    assert_eq!(t.hash(), hash);
    // Without a number, the mouse moves the hand along the chosen axis only.
    let [x, y] = t.pixel(hand);
    t.key(Key::G, Modifiers::NONE);
    t.write("x");
    (1..=10).for_each(|i| t.to([x - 6.0 * i as f32, y - 4.0 * i as f32]));
    t.key(Key::Enter, Modifiers::NONE);
    t.frames(2);
    let [now_x, now_y] = t.pixel(t.joint(HAND));
    assert!((now_x - x + 60.0).abs() < 3.0 && (now_y - y).abs() < 2.0, "{now_x} {now_y}");
    assert_eq!((t.steps(), t.bench.is_busy()), (steps + 1, false));
}

#[test]
fn a_grab_takes_the_joint_of_the_bone_under_the_mouse_before_the_selected_one() {
    let mut t = Table::new();
    let (elbow, hand) = (t.joint(ELBOW), t.joint(HAND));
    t.select(HAND);
    for (at, name) in
        [(elbow.lerp(hand, 0.5), "joint 5: "), (hand, "joint 6: "), (hand + Vec3::Y, "joint 6: ")]
    {
        t.to(t.pixel(at));
        t.key(Key::G, Modifiers::NONE);
        t.frame();
        let hint = panels::hint(&t.desk, Some(&t.bench));
        assert!(hint.starts_with(&format!("{name}the whole body follows")), "{at}: {hint}");
        t.key(Key::Escape, Modifiers::NONE);
        t.frame();
    }
}

#[test]
fn sizing_the_brush_is_ended_by_enter_and_meanwhile_no_key_acts() {
    let mut t = Table::new();
    t.drag(PointerButton::Primary, &t.arm(0.0));
    let hash = t.hash();
    t.to([600.0, 400.0]);
    t.key(Key::F, Modifiers::NONE);
    let radius = t.bench.preferences().radius;
    t.to([640.0, 400.0]);
    t.write("x1");
    assert_eq!(t.hash(), hash);
    t.key(Key::Enter, Modifiers::NONE);
    assert!((t.bench.preferences().radius - radius - 0.1).abs() < 1e-4 && t.desk.hold == Hold::Free);
}

#[test]
fn what_cannot_be_done_is_told() {
    let mut t = Table::new();
    t.bench.select(None);
    let told = |t: &mut Table, key: Key, modifiers: Modifiers| {
        t.desk.facts.message = Some("wrote an older line".into());
        t.key(key, modifiers);
        t.frame();
        let told = t.desk.facts.message.clone().or(t.bench.told().cloned()).unwrap_or_default();
        assert!(!told.is_empty() && !told.contains("older"), "{key:?}: {told:?}");
        told
    };
    for (key, modifiers, word) in [
        (Key::P, Modifiers::NONE, "select"),
        (Key::X, Modifiers::NONE, "remove"),
        (Key::L, Modifiers::SHIFT, "stroke"),
        (Key::Z, Modifiers::COMMAND, "undo"),
        (Key::Y, Modifiers::COMMAND, "redo"),
        (Key::Space, Modifiers::NONE, "moves"),
        (Key::I, Modifiers::ALT, "key"),
        (Key::Period, Modifiers::NONE, "selected"),
        (Key::I, Modifiers::SHIFT, "motion"),
    ] {
        let told = told(&mut t, key, modifiers);
        assert!(told.contains(word), "{key:?}: {told:?}");
    }
}

#[test]
fn a_key_over_another_says_so() {
    let mut t = Table::new();
    t.key(Key::I, Modifiers::NONE);
    assert_eq!(t.bench.notice(), None);
    let steps = t.steps();
    t.key(Key::I, Modifiers::NONE);
    assert_eq!((t.bench.notice(), t.steps()), (Some("Key at 0.00 s replaced"), steps + 1));
    t.key(Key::ArrowRight, Modifiers::NONE);
    t.frame();
    t.key(Key::I, Modifiers::NONE);
    assert_eq!(t.bench.notice(), None, "another time");
}

#[test]
fn the_keys_of_the_clipboard_copy_and_paste_the_pose() {
    let mut t = Table::new();
    t.select(ELBOW);
    let rest = t.bench.pose().clone();
    let mut local = rest.local[ELBOW];
    local.rotation = crate::base::math::Quat::from_rotation_z(0.8).to_array();
    t.bench.run_command(Command::Place(NodeId::from(ELBOW), Box::new(local), false));
    let posed = t.bench.pose().clone();
    assert_eq!(t.send(Event::Copy), []);
    t.frame();
    t.bench.run_command(Command::ResetPose(None));
    // A pasted path opens the file; any other text pastes the pose.
    let text = || Event::Paste("Sinew pose of an elbow".into());
    t.send(text());
    assert_eq!(*t.bench.pose(), posed);
    t.bench.run_command(Command::ResetPose(None));
    t.send(Event::ModifiersChanged(Modifiers::CTRL | Modifiers::SHIFT));
    t.send(text());
    assert_eq!(t.bench.pose().local[ELBOW], rest.local[ELBOW]);
    let moved = (0..rest.local.len()).filter(|&n| t.bench.pose().local[n] != rest.local[n]);
    assert_eq!(moved.count(), 1, "the other elbow");
    // In a text field, the keys belong to the text.
    t.send(Event::ModifiersChanged(Modifiers::NONE));
    t.frames(2);
    t.click_at(t.words_at("Filter by name"));
    let hash = t.hash();
    t.send(Event::Copy);
    t.send(text());
    assert_eq!(t.hash(), hash);
}

#[test]
fn a_filter_leaves_the_headings_of_lists_with_entries_and_tells_how_many_joints_fit() {
    let mut t = Table::new();
    t.drag(PointerButton::Primary, &t.arm(0.0));
    t.drag(PointerButton::Primary, &t.arm(0.5));
    t.frames(2);
    let count = |t: &Table, words: &str| t.desk.words.iter().filter(|w| w.0 == words).count();
    let all = t.bench.posable().len();
    // The tool panel has another heading of this name.
    assert_eq!([count(&t, "STROKES"), count(&t, &format!("JOINTS ({all})"))], [2, 1], "{:?}", t.desk.words);
    let name = t.bench.character().skeleton.nodes[ELBOW].name.clone();
    t.click_at(t.words_at("Filter by name"));
    t.write(&name);
    t.frames(2);
    let fit = t.bench.posable().iter().filter(|n| {
        let other = &t.bench.character().skeleton.nodes[n.index()].name;
        other.to_lowercase().contains(&name.to_lowercase())
    });
    let joints = format!("JOINTS ({} OF {all})", fit.count());
    assert_eq!([count(&t, "STROKES"), count(&t, &joints)], [1, 1], "{joints}: {:?}", t.desk.words);
}

#[test]
fn a_method_chosen_by_key_is_named() {
    let mut t = Table::new();
    let before = t.bench.session().document().deformer().method.clone();
    t.key(Key::Tab, Modifiers::NONE);
    let now = &t.bench.session().document().deformer().method;
    assert_ne!(*now, before);
    let label = crate::ui::panels::deformer::method_label(now);
    assert_eq!(t.desk.facts.message.as_deref(), Some(&*format!("Deformer: {label}")));
}

#[test]
fn a_rotation_beyond_a_limit_names_the_joint() {
    use crate::workbench::LimitChange;
    let mut t = Table::new();
    t.select(ELBOW);
    for change in [LimitChange::On(true), LimitChange::Swing([20.0; 4])] {
        t.bench.run_command(Command::Limit(change, false));
    }
    let hint = |t: &Table| panels::hint(&t.desk, Some(&t.bench));
    t.key(Key::R, Modifiers::NONE);
    t.write("z9");
    t.frame();
    assert!(hint(&t).starts_with("Turned 9° about Z. X, Y"), "{}", hint(&t));
    t.write("0");
    t.frame();
    assert!(hint(&t).starts_with("joint 5 is at its limit, short of 90° about Z; Enter"), "{}", hint(&t));
    t.key(Key::Escape, Modifiers::NONE);
    t.frame();
    assert!(!hint(&t).contains("limit"), "{}", hint(&t));
}

#[test]
fn escape_closes_an_open_list_and_does_nothing_else() {
    let mut t = Table::new();
    t.drag(PointerButton::Primary, &t.arm(0.0));
    assert!(t.bench.awaits_offset().is_some());
    t.frames(2);
    let label = crate::ui::panels::deformer::method_label(&t.bench.session().document().deformer().method);
    t.click_at(t.words_at(label));
    t.frames(2);
    let open = |t: &Table| egui::Popup::is_any_open(&t.desk.context);
    assert!(open(&t), "{:?}", t.desk.words);
    t.key(Key::Escape, Modifiers::NONE);
    t.frames(2);
    assert!(!open(&t) && t.bench.awaits_offset().is_some());
    t.key(Key::Escape, Modifiers::NONE);
    assert!(t.bench.awaits_offset().is_none());
}
