//! Tests of the curves: keys and handles are dragged, each drag is one step, and only the chosen curve changes.

use super::keys::{ELBOW, SPINE, slot};
use super::*;
use crate::document::{Channel as Keyed, Easing, KeyCurves, KeyEdit, Slot, Target};
use crate::rig::Limit;
use egui::Vec2;

impl Sheet {
    /// Returns the curves of the elbow, with keys at 0, 0.5 and 1 s: 0, 34.4 and 11.5 degrees about Z.
    fn curves() -> Self {
        let mut sheet = Sheet::keyed();
        sheet.bench.run_command(Command::Select(Some(NodeId::from(ELBOW))));
        sheet.frame(Vec::new());
        sheet.click("Curves");
        sheet.frame(Vec::new());
        sheet
    }

    /// Returns the circles of a colour, from left to right. The playhead's handle is none of them.
    pub(super) fn dots(&self, color: egui::Color32) -> Vec<Pos2> {
        let dots = self.dots.iter().filter(|d| d.1 == color && d.2.color != theme::ACCENT);
        let mut out: Vec<Pos2> = dots.map(|d| d.0).collect();
        out.sort_by(|a, b| a.x.total_cmp(&b.x));
        out
    }

    /// Returns the keys of the curve of Z.
    fn z(&self) -> Vec<Pos2> {
        self.dots(theme::AXES[2])
    }

    fn handles(&self) -> Vec<Pos2> {
        self.dots(theme::DARK.well)
    }

    fn channel(&self, node: usize, property: Property) -> Keyed {
        let target = Target::node(NodeId::from(node), property);
        self.bench.session().document().motion().channel(&target).unwrap().clone()
    }

    fn elbow(&self) -> KeyCurves {
        KeyCurves::new(&self.channel(ELBOW, Property::Rotation))
    }

    fn degrees(&self, key: usize, curve: usize) -> f64 {
        self.elbow().value(key, curve).to_degrees()
    }

    fn drag_by(&mut self, from: Pos2, by: Vec2) {
        self.drag_to(from, from + by);
    }
}

fn assert_near(a: f64, b: f64, error: f64) {
    assert!((a - b).abs() <= error, "{a} {b}");
}

#[test]
fn a_dragged_key_changes_its_value_as_one_step_and_the_figure_follows() {
    let mut s = Sheet::curves();
    assert_eq!(s.z().len(), 3);
    let (steps, before) = (s.steps(), s.bench.session().document().clone());
    s.bench.run_command(Command::Scrub(0.5));
    s.frame(Vec::new());
    // The key is not selected before.
    let from = s.z()[1];
    s.press(from, true);
    let turned =
        |s: &Sheet| s.bench.pose().local[ELBOW].rotation().to_euler(crate::base::math::EulerRot::ZYX).0;
    let mut last = turned(&s);
    for k in 1..=5 {
        s.frame(vec![Event::PointerMoved(from + vec2(2.0, -8.0 * k as f32))]);
        s.frame(Vec::new());
        if k > 1 {
            assert!(turned(&s) > last + 0.01, "{k}: {} {last}", turned(&s));
        }
        last = turned(&s);
    }
    assert_eq!(s.elbow().times(), [0.0, 0.5, 1.0]);
    s.press(from + vec2(2.0, -40.0), false);
    s.frame(Vec::new());
    assert_eq!((s.steps(), s.selected()), (steps + 1, 1));
    // The range of values stays constant during a drag: 34.4 degrees and the margin are 68 % of the plot.
    let wanted = 34.4 + 40.0 / 220.0 * 34.4 / 0.68;
    assert_near(s.degrees(1, 2), wanted, 0.3);
    for (key, degrees) in [(0, 0.0), (2, 11.46)] {
        assert_near(s.degrees(key, 2), degrees, 0.01);
    }
    assert_near(s.degrees(1, 0).abs() + s.degrees(1, 1).abs(), 0.0, 1e-3);
    assert_eq!(s.channel(ELBOW, Property::Rotation).interpolation, Interpolation::Linear);
    s.undo();
    assert_eq!(*s.bench.session().document(), before);
}

#[test]
fn a_drag_moves_keys_in_time_on_frames_or_along_both_axes() {
    let mut s = Sheet::curves();
    let frame = s.x(1.0 / 24.0) - s.x(0.0);
    let (steps, value) = (s.steps(), s.degrees(1, 2));
    let from = s.z()[1];
    s.drag_by(from, vec2(3.2 * frame, 6.0));
    assert_eq!((s.steps(), s.elbow().times()), (steps + 1, &[0.0, 0.625, 1.0][..]));
    assert_near(s.degrees(1, 2), value, 1e-3);
    assert_eq!(s.memory.keys.selection.ends(), Some([0.625, 0.625]), "the key stays selected");
    s.undo();
    let from = s.z()[1];
    s.drag_by(from, vec2(6.0 * frame, 50.0));
    assert_eq!((s.steps(), s.elbow().times()), (steps + 1, &[0.0, 0.75, 1.0][..]));
    assert!(s.degrees(1, 2) < value - 5.0);
    s.undo();
    assert_near(s.degrees(1, 2), value, 1e-3);
    // Several keys move together; the first stops at 0 s.
    s.click("All");
    let from = s.z()[1];
    s.drag_by(from, vec2(-8.0 * frame, 3.0));
    assert_eq!(s.elbow().times(), [0.0, 0.5, 1.0]);
    let from = s.z()[1];
    s.drag_by(from, vec2(2.0, -30.0));
    assert_eq!(s.steps(), steps + 1);
    let risen = s.degrees(1, 2) - value;
    assert!(risen > 5.0);
    for (key, degrees) in [(0, 0.0), (2, 11.46)] {
        assert_near(s.degrees(key, 2), degrees + risen, 0.01);
    }
    // The rows of other properties and nodes keep their keys.
    assert_eq!(s.times(SPINE), [0.0, 0.5, 1.0]);
    s.undo();
    let lone = s.z()[2];
    s.click_at(lone);
    s.click("Snap");
    s.drag_by(s.z()[2], vec2(2.5 * frame, 0.0));
    assert_near(s.elbow().times()[2], 1.0 + 2.5 / 24.0, 0.01);
}

#[test]
fn a_dragged_handle_changes_the_slope_of_one_curve() {
    let mut s = Sheet::curves();
    assert!(s.handles().is_empty());
    let key = s.z()[1];
    s.click_at(key);
    // Two handles for each of the three curves.
    assert_eq!(s.handles().len(), 6);
    let end = |s: &Sheet, right: bool| {
        let key = s.z()[1];
        let near = s.handles().into_iter().filter(|p| (p.x > key.x) == right && p.distance(key) < 42.0);
        near.min_by(|a, b| a.y.total_cmp(&b.y)).map(|p| (p, key))
    };
    let old = s.elbow();
    let (steps, before) = (s.steps(), s.bench.session().document().clone());
    // The handle after the key points down; the drag turns it up.
    let right = s.handles().into_iter().filter(|p| p.x > key.x).max_by(|a, b| a.y.total_cmp(&b.y)).unwrap();
    let right = s
        .handles()
        .into_iter()
        .find(|p| p.x > key.x && (p.y - key.y) > 3.0 && p.distance(key) < 42.0)
        .unwrap_or(right);
    s.drag_to(right, key + vec2(30.0, -20.0));
    assert_eq!(s.steps(), steps + 1);
    let new = s.elbow();
    assert_eq!(new.interpolation(), Interpolation::CubicSpline);
    let (old_slope, slope) = (old.slope(1, 2, 1).unwrap(), new.slope(1, 2, 1).unwrap());
    assert!(old_slope < 0.0 && slope > 0.3, "{old_slope} {slope}");
    // The corner stays a corner: the slope before the key is the same.
    assert_near(new.slope(1, 2, 0).unwrap(), old.slope(1, 2, 0).unwrap(), 1e-3);
    assert_near(new.slope(1, 0, 1).unwrap().abs() + new.slope(1, 1, 1).unwrap().abs(), 0.0, 1e-3);
    s.undo();
    assert_eq!(*s.bench.session().document(), before);
    // Equal slopes move together, unless Alt or the switch separates them.
    s.click(Easing::Smooth.label());
    for (alt, breaks) in [(false, false), (true, false), (false, true)] {
        let steps = s.steps();
        s.modifiers = if alt { Modifiers::ALT } else { Modifiers::NONE };
        if breaks {
            s.click("Break");
        }
        assert!(s.elbow().is_aligned(1, 2));
        let was = s.elbow().slope(1, 2, 0).unwrap();
        let (from, key) = end(&s, true).unwrap();
        s.drag_to(from, key + vec2(30.0, -25.0));
        s.modifiers = Modifiers::NONE;
        assert_eq!(s.steps(), steps + 1);
        let [before, after] = [0, 1].map(|side| s.elbow().slope(1, 2, side).unwrap());
        assert!(after > was + 0.3, "{after}");
        if alt || breaks {
            assert_near(before, was, 1e-3);
        } else {
            assert_near(before, after, 1e-3);
        }
        s.undo();
    }
}

#[test]
fn a_box_selects_keys_and_axes_are_hidden() {
    let mut s = Sheet::curves();
    let (first, second) = (s.z()[0], s.z()[1]);
    s.drag_to(second + vec2(-30.0, -15.0), second + vec2(30.0, 15.0));
    assert_eq!((s.selected(), s.memory.keys.selection.ends()), (1, Some([0.5, 0.5])));
    s.modifiers = Modifiers::SHIFT;
    s.click_at(first);
    assert_eq!(s.selected(), 2);
    s.click_at(first);
    assert_eq!(s.selected(), 1);
    s.modifiers = Modifiers::NONE;
    s.click("Z");
    assert_eq!((s.z().len(), s.dots(theme::AXES[0]).len()), (0, 3));
    s.click("Z");
    s.click("X");
    assert_eq!((s.z().len(), s.dots(theme::AXES[0]).len()), (3, 0));
    // Empty ground deselects.
    s.click_at(second + vec2(60.0, 60.0));
    assert_eq!(s.selected(), 0);
    // The other property of the elbow has no keys; the spine has a location.
    s.bench.run_command(Command::Select(Some(NodeId::from(SPINE))));
    s.frame(Vec::new());
    s.frame(Vec::new());
    let name = s.bench.character().skeleton.nodes[SPINE].name.clone();
    s.at(&name);
    let steps = s.steps();
    let y = s.dots(theme::AXES[1])[1];
    s.drag_by(y, vec2(0.0, -20.0));
    assert_eq!(s.steps(), steps + 1);
    let channel = s.channel(SPINE, Property::Translation);
    assert!(channel.value(1)[1] > 1.22 && channel.value(1)[0] == 0.0, "{:?}", channel.value(1));
    s.bench.run_command(Command::Select(Some(NodeId::from(9))));
    s.frame(Vec::new());
    let name = s.bench.character().skeleton.nodes[9].name.clone();
    s.at(&format!("{name} has no keys."));
    s.bench.run_command(Command::Select(None));
    s.memory.keys.selection = Default::default();
    s.frame(Vec::new());
    s.at("Select a joint to see its curves.");
    s.click("Sheet");
    s.frame(Vec::new());
    s.click("All");
    s.click("Curves");
    assert!(s.dots(theme::AXES[0]).len() + s.dots(theme::AXES[1]).len() > 2, "the first selected row shows");
}

#[test]
fn chosen_morph_targets_have_curves() {
    let character = crate::workbench::with_morphs(3, (0..9).map(|i| format!("face {i}")));
    let mut s = Sheet::of(Section::Keys, &character);
    s.width = 900.0;
    let node = character.skeleton.nodes.iter().position(|n| !n.weights.is_empty()).unwrap();
    let width = character.skeleton.nodes[node].weights.len();
    let names = character.skeleton.nodes[node].targets.clone();
    // The first target is at rest, the others are in use.
    let weights = |k: f32| (0..width).map(move |i| if i == 0 { 0.0 } else { k * i as f32 / width as f32 });
    let values = [0.0, 1.0, 0.5].into_iter().flat_map(weights).collect();
    s.bench.apply(Edit::Keys(KeyEdit::Channels(vec![slot(node, Property::Weights, values)])), false);
    (0..3).for_each(|_| s.frame(Vec::new()));
    s.click("Curves");
    s.click("Morphs");
    s.frame(Vec::new());
    assert!(s.words.iter().all(|w| w.0 != names[0]), "a target at rest is not listed");
    let count = s.dots.iter().filter(|d| ![theme::ACCENT, theme::DARK.well].contains(&d.1)).count();
    assert_eq!(count, 3 * 6.min(width - 1));
    let last = names[width - 1].clone();
    s.click(&names[1]);
    assert!(s.dots.len() < count || count == 0);
    s.click(&names[1]);
    let key = s.dots(theme::AXES[1])[1];
    let (steps, before) = (s.steps(), s.channel(node, Property::Weights));
    s.drag_by(key, vec2(0.0, -30.0));
    let after = s.channel(node, Property::Weights);
    let changed: Vec<usize> = (0..width).filter(|&i| before.value(1)[i] != after.value(1)[i]).collect();
    assert_eq!((s.steps(), changed.len()), (steps + 1, 1), "{last}");
    assert_eq!((before.value(0), before.value(2)), (after.value(0), after.value(2)));
}

#[test]
fn limits_hold_and_mirror_and_auto_key_add_nothing() {
    let mut s = Sheet::curves();
    let node = NodeId::from(ELBOW);
    let limit =
        Limit { twist: [-0.7, 0.7], swing: [0.7; 4], ..Limit::open(crate::base::math::DQuat::IDENTITY) };
    s.bench.apply(Edit::SetLimit { node, limit: Some(Box::new(limit)) }, false);
    for command in [Command::Mirror(true), Command::AutoKey(true), Command::Onion(true)] {
        s.bench.run_command(command);
    }
    s.frame(Vec::new());
    let (steps, keys) = (s.steps(), s.bench.session().document().motion().channels().len());
    s.bench.run_command(Command::Scrub(0.5));
    let from = s.z()[1];
    s.drag_by(from, vec2(0.0, -150.0));
    assert_eq!((s.steps(), s.bench.session().document().motion().channels().len()), (steps + 1, keys));
    assert!((36.0..=40.2).contains(&s.degrees(1, 2)), "{}", s.degrees(1, 2));
    assert_eq!(s.bench.shown_time(), Some(0.5), "the motion stays on display");
    s.undo();
    assert_eq!(s.steps(), steps);
    assert_near(s.degrees(1, 2), 34.4, 0.05);
}

#[test]
fn curves_are_sampled_as_densely_as_the_pixels_need() {
    for large in [false, true] {
        let mut s = Sheet::curves();
        if large {
            theme::enlarge(&s.context, 50.0);
        }
        let target = Target::node(NodeId::from(ELBOW), Property::Rotation);
        let times: Vec<f64> = (0..20_000).map(|k| f64::from(k) * 0.125).collect();
        let turn = |t: &f64| Quat::from_rotation_z(0.5 * (*t as f32).sin()).to_array();
        let values = times.iter().flat_map(turn).collect();
        let channel = Keyed { target: target.clone(), interpolation: Interpolation::Linear, times, values };
        s.bench.apply(Edit::Keys(KeyEdit::Channels(vec![Slot { target, channel: Some(channel) }])), false);
        (0..3).for_each(|_| s.frame(Vec::new()));
        assert!((300..6000).contains(&s.points), "large {large}: {} points", s.points);
        assert!(s.shapes < 3000, "large {large}: {} shapes", s.shapes);
        if large {
            s.click("Tools");
        }
        s.click("All");
        assert!(s.shapes < 3000 && s.handles().is_empty(), "large {large}: {} shapes", s.shapes);
        s.memory.keys.view = Some([10.0, 12.0]);
        s.frame(Vec::new());
        assert!(s.shapes < 500 && s.handles().len() > 6, "large {large}: {} shapes", s.shapes);
    }
}

#[test]
fn no_drag_on_curves_without_keys_panics() {
    for large in [false, true] {
        for keyed in [false, true] {
            let mut s = if keyed { Sheet::curves() } else { Sheet::new(Section::Keys) };
            if large {
                theme::enlarge(&s.context, 50.0);
            }
            s.width = 700.0;
            s.memory.keys.curves.on = true;
            (0..3).for_each(|_| s.frame(Vec::new()));
            for y in (0..600).step_by(25) {
                s.drag_to(pos2(60.0, y as f32), pos2(420.0, y as f32 + 40.0));
                s.memory.keys.curves.on = true;
            }
        }
    }
}

impl Sheet {
    /// Turns the wheel by so many pixels over a place, and waits until the panel rests.
    fn wheel(&mut self, at: Pos2, pixels: f32, modifiers: Modifiers) {
        self.modifiers = modifiers;
        let (unit, phase) = (egui::MouseWheelUnit::Point, egui::TouchPhase::Move);
        let wheel = Event::MouseWheel { unit, delta: vec2(0.0, pixels), phase, modifiers };
        self.frame(vec![Event::PointerMoved(at), wheel]);
        (0..30).for_each(|_| self.frame(Vec::new()));
        self.modifiers = Modifiers::NONE;
        self.frame(Vec::new());
    }
}

#[test]
fn the_wheel_zooms_the_values_and_a_button_fits_them() {
    let mut s = Sheet::curves();
    let fitted = s.z();
    let high = |s: &Sheet| s.z()[0].y - s.z()[1].y;
    let (height, wide) = (high(&s), |s: &Sheet| s.z()[1].x - s.z()[0].x);
    let (width, steps) = (wide(&s), s.steps());
    // A wheel alone zooms the time; the values stay fitted.
    s.wheel(fitted[1], 60.0, Modifiers::NONE);
    assert!(wide(&s) > 1.1 * width && (high(&s) - height).abs() < 0.5, "{} {}", wide(&s), high(&s));
    s.click("Fit");
    let axis = pos2(885.0, fitted[1].y);
    for (at, modifiers) in [(fitted[1], Modifiers::ALT), (axis, Modifiers::NONE)] {
        s.wheel(at, 60.0, modifiers);
        let zoomed = s.z();
        assert!(high(&s) > 1.2 * height, "{} {height}", high(&s));
        // The value under the pointer stays there, and so does the time.
        assert!(zoomed[1].distance(fitted[1]) < 1.0 && (wide(&s) - width).abs() < 0.5);
        // A drag changes the value by as much as the larger plot shows.
        let before = s.degrees(1, 2);
        s.drag_by(zoomed[1], vec2(0.0, -20.0));
        let wanted = 20.0 * 34.4 / f64::from(zoomed[0].y - zoomed[1].y);
        assert_near(s.degrees(1, 2) - before, wanted, 0.2);
        // The range of values stays after the drag.
        assert!((s.z()[1].y - zoomed[1].y + 20.0).abs() < 1.0);
        s.undo();
        // The middle button moves the values.
        let event = |pressed| Event::PointerButton {
            pos: at,
            button: PointerButton::Middle,
            pressed,
            modifiers: Modifiers::NONE,
        };
        s.frame(vec![Event::PointerMoved(at)]);
        s.frame(vec![event(true)]);
        s.frame(vec![Event::PointerMoved(at + vec2(0.0, 15.0))]);
        s.frame(vec![event(false)]);
        s.frame(Vec::new());
        assert!((s.z()[1].y - zoomed[1].y - 15.0).abs() < 1.0);
        s.click("Fit values");
        assert!(s.z()[1].distance(fitted[1]) < 0.5 && (high(&s) - height).abs() < 0.5);
    }
    // The buttons zoom about the middle, and have limits.
    for (button, grows) in [("Values +", true), ("Values −", false)] {
        s.click(button);
        assert_eq!(high(&s) > height + 1.0, grows);
        s.click("Fit values");
    }
    for button in ["Values +", "Values −"] {
        (0..60).for_each(|_| s.click(button));
        assert!(s.z().iter().all(|dot| dot.is_finite()) && s.words.iter().all(|w| !w.0.contains("NaN")));
    }
    // Another joint has other values, so the range follows its curves.
    s.bench.run_command(Command::Select(Some(NodeId::from(SPINE))));
    s.frame(Vec::new());
    s.frame(Vec::new());
    s.bench.run_command(Command::Select(Some(NodeId::from(ELBOW))));
    s.frame(Vec::new());
    s.frame(Vec::new());
    assert!((high(&s) - height).abs() < 0.5);
    assert_eq!(s.steps(), steps, "a zoom belongs to no document");
}

#[test]
fn a_cancelled_drag_leaves_nothing_and_the_button_does_nothing_until_its_release() {
    for command in [Command::Cancel, Command::Undo, Command::Redo] {
        let mut s = Sheet::curves();
        let (key, steps, before) = (s.z()[1], s.steps(), s.bench.session().document().clone());
        let cancel = |s: &mut Sheet| {
            let restore = s.memory.instead(command.clone(), &s.bench, true);
            restore.iter().for_each(|c| s.bench.run_command(c.clone()));
            let again = s.memory.instead(command.clone(), &s.bench, true);
            assert_eq!(again, Some(command.clone()), "the drag is over");
            s.frame(Vec::new());
            restore
        };
        // A key, then the handle of the key.
        for handle in [false, true] {
            let from = match handle {
                false => key,
                true => {
                    s.click_at(key);
                    s.handles().into_iter().find(|p| p.x > key.x && p.y - key.y > 3.0).unwrap()
                }
            };
            s.press(from, true);
            for k in 1..=3 {
                s.frame(vec![Event::PointerMoved(from + vec2(0.0, -10.0 * k as f32))]);
            }
            s.frame(Vec::new());
            assert_eq!(s.steps(), steps + 1);
            assert_ne!(*s.bench.session().document(), before);
            cancel(&mut s);
            assert_eq!((s.steps(), s.bench.session().document()), (steps, &before), "{command:?} {handle}");
            for k in 4..=6 {
                s.frame(vec![Event::PointerMoved(from + vec2(0.0, -10.0 * k as f32))]);
            }
            s.press(from + vec2(0.0, -60.0), false);
            s.frame(Vec::new());
            assert_eq!((s.steps(), s.bench.session().document()), (steps, &before), "{command:?} {handle}");
        }
        // The next drag is a drag again.
        s.drag_by(key, vec2(0.0, -30.0));
        assert_eq!(s.steps(), steps + 1);
        s.undo();
        // A drag in time changes nothing before its release.
        let frame = s.x(1.0 / 24.0) - s.x(0.0);
        s.press(key, true);
        s.frame(vec![Event::PointerMoved(key + vec2(3.0 * frame, 0.0))]);
        s.frame(Vec::new());
        assert_eq!(cancel(&mut s), None);
        s.press(key + vec2(3.0 * frame, 0.0), false);
        s.frame(Vec::new());
        assert_eq!(s.elbow().times(), [0.0, 0.5, 1.0]);
        assert_eq!((s.steps(), s.bench.session().document()), (steps, &before));
        // So is a box on the curves, which then selects nothing,
        let chosen = s.memory.keys.selection.clone();
        let from = s.z()[1] + vec2(-12.0, -12.0);
        s.press(from, true);
        s.frame(vec![Event::PointerMoved(from + vec2(60.0, 60.0))]);
        s.frame(Vec::new());
        assert_eq!(cancel(&mut s), None);
        s.press(from + vec2(60.0, 60.0), false);
        s.frame(Vec::new());
        assert!(s.memory.keys.selection == chosen);
        // and a drag of keys or a box on the rows.
        s.click("Sheet");
        s.frame(Vec::new());
        let (from, to) = (s.key_of(ELBOW, 0.5), s.key_of(ELBOW, 0.75));
        for from in [from, from + vec2(25.0, 0.0)] {
            s.press(from, true);
            s.frame(vec![Event::PointerMoved(to)]);
            s.frame(Vec::new());
            let chosen = s.memory.keys.selection.clone();
            assert_eq!(cancel(&mut s), None);
            s.frame(vec![Event::PointerMoved(to + vec2(5.0, 0.0))]);
            s.press(to, false);
            s.frame(Vec::new());
            assert_eq!((s.times(ELBOW), s.steps()), (vec![0.0, 0.5, 1.0], steps));
            assert!(s.memory.keys.selection == chosen);
        }
    }
}
