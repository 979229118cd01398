//! Tests of the transform panel.

use super::*;

/// The transform panel with a selected joint.
pub(super) fn transform() -> Sheet {
    let mut sheet = Sheet::new(Section::Transform);
    assert!(sheet.words.iter().any(|w| w.0.starts_with("Click a joint")), "{:?}", sheet.words);
    sheet.bench.run_command(Command::Select(Some(NodeId::from(5))));
    sheet.frame(Vec::new());
    sheet
}

impl Sheet {
    /// The text of a number of the transform panel and its rectangle. Caption, axes and numbers are separate words.
    fn number(&self, caption: &str, axis: usize) -> (String, Rect) {
        let at = self.words.iter().position(|w| w.0 == caption).unwrap();
        self.words[at + 2 + 2 * axis].clone()
    }

    /// Types a number of the transform panel.
    fn set(&mut self, caption: &str, axis: usize, text: &str) {
        let at = self.number(caption, axis).1.center();
        self.press(at, true);
        self.press(at, false);
        self.frame(Vec::new());
        text.chars().for_each(|c| self.frame(vec![Event::Text(c.to_string())]));
        self.key(egui::Key::Enter);
        (0..3).for_each(|_| self.frame(Vec::new()));
    }
}

/// The local transform of the selected joint.
fn joint(sheet: &Sheet) -> crate::base::math::Trs {
    sheet.bench.pose().local[5]
}

#[test]
fn typed_and_dragged_numbers_set_the_local_transform_in_one_step_each() {
    let mut sheet = transform();
    for caption in ["LOCATION", "ROTATION", "SCALE"] {
        let [x, y, z] = [0, 1, 2].map(|axis| sheet.number(caption, axis).1.center().y);
        assert!((x - y).abs() < 0.1 && (x - z).abs() < 0.1, "{caption}: {x} {y} {z}");
    }
    let steps = sheet.steps();
    sheet.set("LOCATION", 0, "0.45");
    assert_eq!((joint(&sheet).translation[0], sheet.steps()), (0.45, steps + 1));
    for (axis, text) in ["30", "-45", "120"].into_iter().enumerate() {
        sheet.set("ROTATION", axis, text);
    }
    let [x, y, z] = [30.0_f32, -45.0, 120.0].map(f32::to_radians);
    let wanted = Quat::from_rotation_z(z) * Quat::from_rotation_y(y) * Quat::from_rotation_x(x);
    assert!(joint(&sheet).rotation().angle_between(wanted) < 1e-3, "{:?}", joint(&sheet));
    assert_eq!(sheet.steps(), steps + 4);
    sheet.set("SCALE", 1, "2");
    assert_eq!((joint(&sheet).scale, sheet.steps()), ([1.0, 2.0, 1.0], steps + 5));
    let at = sheet.number("ROTATION", 0).1.center();
    sheet.press(at, true);
    (1..30).for_each(|i| sheet.frame(vec![Event::PointerMoved(at + vec2(2.0 * i as f32, 0.0))]));
    sheet.press(at + vec2(60.0, 0.0), false);
    sheet.frame(Vec::new());
    assert_eq!(sheet.steps(), steps + 6);
    assert!(joint(&sheet).rotation().angle_between(wanted) > 0.2);
}

#[test]
fn the_range_of_a_joint_is_typed_in_degrees() {
    let mut sheet = transform();
    let press = |sheet: &mut Sheet, word: &str| {
        let at = sheet.words.iter().find(|w| w.0 == word).unwrap_or_else(|| panic!("no {word}")).1.center();
        sheet.press(at, true);
        sheet.press(at, false);
        (0..2).for_each(|_| sheet.frame(Vec::new()));
    };
    let node = NodeId::from(5);
    let steps = sheet.steps();
    press(&mut sheet, "Limit this joint");
    assert_eq!(sheet.steps(), steps + 1);
    for (caption, end, text) in [
        ("TWIST", 0, "-10"),
        ("TWIST", 1, "20,5"),
        ("BEND", 0, "-5"),
        ("BEND", 1, "400"),
        ("SIDEWAYS", 0, "30"),
        ("SIDEWAYS", 1, "15"),
    ] {
        sheet.set(caption, end, text);
    }
    assert_eq!(sheet.steps(), steps + 7);
    let limit = sheet.bench.session().document().limits()[&node];
    let degrees = |v: f32| (v.to_degrees() * 10.0).round() / 10.0;
    assert_eq!(limit.twist.map(degrees), [-10.0, 20.5]);
    // Ends beyond a half turn, and ends on the wrong side of the rest pose, take the nearest valid angle.
    assert_eq!(limit.swing.map(degrees), [180.0, 5.0, 15.0, 0.0]);
    press(&mut sheet, "Limit this joint");
    assert!(sheet.bench.session().document().limits().is_empty());
    sheet.bench.run_command(Command::Undo);
    assert_eq!(sheet.bench.session().document().limits()[&node], limit);
}

#[test]
fn angles_stay_as_typed_at_gimbal_lock_and_beyond_a_half_turn() {
    let mut sheet = transform();
    for world in [false, true] {
        sheet.bench.run_command(Command::ResetPose(None));
        sheet.frame(Vec::new());
        sheet.click(if world { "World" } else { "Local" });
        for (axis, text) in [(1, "90"), (0, "40"), (2, "270"), (0, "-190")] {
            sheet.set("ROTATION", axis, text);
        }
        let shown = [0, 1, 2].map(|axis| sheet.number("ROTATION", axis).0);
        assert_eq!(shown, ["-190.00", "90.00", "270.00"], "world: {world}");
    }
    // Another change of the rotation replaces the angles.
    sheet.bench.run_command(Command::ResetPose(None));
    sheet.frame(Vec::new());
    assert_eq!(sheet.number("ROTATION", 2).0, "0.00");
}

#[test]
fn world_values_are_those_of_the_joint_in_the_world() {
    let mut sheet = transform();
    sheet.bench.apply(
        Edit::SetLocal {
            node: NodeId::from(1),
            local: crate::base::math::Trs {
                rotation: Quat::from_rotation_z(0.5).to_array(),
                scale: [2.0; 3],
                ..sheet.bench.pose().local[1]
            },
        },
        false,
    );
    sheet.frame(Vec::new());
    sheet.click("World");
    let location = Vec3::from(sheet.bench.rig().world[5].translation);
    assert_eq!(sheet.number("LOCATION", 1).0, format!("{:.3}", location.y));
    sheet.set("LOCATION", 1, "1.25");
    let world = sheet.bench.rig().world[5];
    assert!(Vec3::from(world.translation).distance(location.with_y(1.25)) < 1e-5, "{world:?}");
    assert_eq!(sheet.number("ROTATION", 2).0, "28.65");
    sheet.set("ROTATION", 2, "0");
    let world = sheet.bench.rig().world[5];
    assert!(crate::base::math::rotation_of(&world).dot(Quat::IDENTITY) > 1.0 - 1e-6, "{world:?}");
    assert!(Vec3::from(world.translation).distance(location.with_y(1.25)) < 1e-5, "{world:?}");
}

#[test]
fn the_buttons_copy_paste_mirror_and_reset() {
    let mut sheet = transform();
    let rest = sheet.bench.pose().clone();
    sheet.set("ROTATION", 2, "50");
    let posed = sheet.bench.pose().clone();
    sheet.click("Copy");
    sheet.click("Reset");
    assert_eq!(*sheet.bench.pose(), rest);
    sheet.click("Paste");
    assert_eq!(*sheet.bench.pose(), posed);
    sheet.click("Paste mirrored");
    let other = |s: &Sheet| s.bench.pose().local[8].rotation().angle_between(Quat::IDENTITY).to_degrees();
    assert!((other(&sheet) - 50.0).abs() < 1e-2, "{}", other(&sheet));
    sheet.click("Reset");
    sheet.click("Mirror pose");
    assert!(other(&sheet) < 1e-2 && joint(&sheet).rotation().angle_between(Quat::IDENTITY) > 0.8);
    sheet.click("Reset all");
    assert_eq!(*sheet.bench.pose(), rest);
}
