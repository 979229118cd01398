//! Tests of the curves in the headset: the ray drags keys and handles.

use super::details_tests::{assert_large, bench, bench_mut, follow, room, text};
use super::tests::Room;
use super::{Panel, Section, Spot};
use crate::asset::{Interpolation, Property};
use crate::base::NodeId;
use crate::base::math::{Quat, Vec3};
use crate::document::{Channel, Edit, KeyCurves, KeyEdit, Slot, Target};
use egui::{Pos2, Rect, pos2};

const ELBOW: NodeId = NodeId(5);

fn target() -> Target {
    Target::node(ELBOW, Property::Rotation)
}

fn curves(room: &Room) -> KeyCurves {
    KeyCurves::new(bench(room).session().document().motion().channel(&target()).unwrap())
}

/// Returns the room with the curves of a joint that turns about Z by 0, 35 and 12 degrees at 0, 0.5 and 1 s.
fn opened() -> Room {
    let mut room = room();
    let turns = [0.0, 35f32, 12.0].map(|a| Quat::from_rotation_z(a.to_radians()).to_array());
    let (interpolation, times) = (Interpolation::Linear, vec![0.0, 0.5, 1.0]);
    let channel = Channel { target: target(), interpolation, times, values: turns.concat() };
    let slot = Slot { target: target(), channel: Some(channel) };
    bench_mut(&mut room).apply(Edit::Keys(KeyEdit::Channels(vec![slot])), false);
    bench_mut(&mut room).select(Some(ELBOW));
    follow(&mut room);
    room.press(&Spot::Section(Section::Keys));
    follow(&mut room);
    room.press(&text("Curves"));
    follow(&mut room);
    room
}

fn word(room: &Room, name: &str) -> Rect {
    let words = &room.panels.canvases[Panel::Details as usize].words;
    words.iter().find(|w| w.0 == name).unwrap_or_else(|| panic!("no {name:?} in {words:?}")).1
}

/// Returns the pixel of a time in seconds and a value in degrees.
fn pixel(room: &Room, time: f64, degrees: f64) -> Pos2 {
    let [zero, one] = ["0", "24"].map(|label| word(room, label).min.x - 3.0);
    // The numbers stand on their lines.
    let [none, twenty] = ["0°", "20°"].map(|label| word(room, label).max.y + 5.0);
    pos2(zero + (one - zero) * time as f32, none + (twenty - none) * (degrees / 20.0) as f32)
}

fn point(room: &Room, at: Pos2) -> Vec3 {
    let size = Panel::Details.size().map(|n| n as f32);
    room.placement(Panel::Details).point([at.x / size[0], at.y / size[1]])
}

#[test]
fn the_ray_drags_a_key_and_a_handle() {
    let mut room = opened();
    assert_large(&room);
    let steps = |room: &Room| bench(room).session().history().0;
    let (before, old) = (steps(&room), curves(&room));
    // The ray misses the key by 0.8 degrees.
    let aside = pos2(0.0, -0.8 * super::theme::PER_DEGREE).to_vec2();
    let from = pixel(&room, 0.5, 35.0) + aside;
    let [from, to] = [from, from + pos2(4.0, 70.0).to_vec2()].map(|at| point(&room, at));
    room.drag(from, to, follow);
    assert_eq!(steps(&room), before + 1, "a drag is one step");
    let new = curves(&room);
    assert_eq!(new.times(), old.times());
    let fallen = (old.value(1, 2) - new.value(1, 2)).to_degrees();
    assert!((5.0..20.0).contains(&fallen), "{fallen}");
    assert_eq!((new.value(0, 2), new.value(2, 2)), (old.value(0, 2), old.value(2, 2)));

    // The key is selected now. The handle after it points along the curve.
    let key = pixel(&room, 0.5, new.value(1, 2).to_degrees());
    let next = pixel(&room, 1.0, new.value(2, 2).to_degrees());
    let end = key + (next - key).normalized() * 75.0;
    let [from, to] = [end, key + pos2(60.0, -70.0).to_vec2()].map(|at| point(&room, at));
    room.drag(from, to, follow);
    assert_eq!(steps(&room), before + 2);
    let bent = curves(&room);
    assert_eq!(bent.interpolation(), Interpolation::CubicSpline);
    assert!(bent.slope(1, 2, 1).unwrap() > 0.3 && new.slope(1, 2, 1).unwrap() < 0.0);
    assert!((bent.slope(1, 2, 0).unwrap() - new.slope(1, 2, 0).unwrap()).abs() < 1e-3);
    bench_mut(&mut room).jump(before);
    assert_eq!(curves(&room), old);
}

#[test]
fn a_panel_of_curves_that_rests_is_not_painted() {
    let mut room = opened();
    room.step(5);
    let details = Panel::Details as usize;
    room.panels.canvases[details].dirty = false;
    room.step(5);
    assert!(!room.panels.canvases[details].dirty && !room.panels.canvases[details].again);
    // Two targets beside each other: names of curves are rows as high as a target.
    let [x, y] = ["X", "Y"].map(|name| word(&room, name).center().y);
    assert!(y - x >= super::details::TARGET);
    bench_mut(&mut room).run_command(crate::workbench::Command::Scrub(0.5));
    follow(&mut room);
    assert!(room.panels.canvases[details].dirty, "the playhead moves");
}

/// Presses and releases the undo button of the other hand during a drag, which gets the button instead of the workbench.
pub(super) fn press_undo(room: &mut Room) {
    for undo in [true, false] {
        room.input.hands[0].undo = undo;
        room.step(1);
        let mut input = room.input.clone();
        room.panels.out().mark(room.tool, &mut input);
        assert!(!input.hands[0].undo && input.hands[room.tool].on_panel);
        follow(room);
    }
}

#[test]
fn undo_during_a_drag_cancels_it_and_buttons_zoom_the_values() {
    let mut room = opened();
    let steps = |room: &Room| bench(room).session().history().0;
    let (before, old) = (steps(&room), bench(&room).session().document().clone());
    let from = pixel(&room, 0.5, 35.0);
    let [from, to] = [from, from + pos2(4.0, 70.0).to_vec2()].map(|at| point(&room, at));
    room.drag(from, to, |room| {
        follow(room);
        if curves(room).value(1, 2).to_degrees() < 33.0 {
            press_undo(room);
        }
    });
    assert_eq!((steps(&room), bench(&room).session().document()), (before, &old));
    assert!(bench(&room).session().history().1 > before, "the drag had changed the document");
    // A box is dragged around another key.
    let [low, high] = [pos2(-40.0, -40.0), pos2(40.0, 40.0)].map(|by| pixel(&room, 1.0, 12.0) + by.to_vec2());
    let chosen = room.panels.memory.details.shared.keys.selection.clone();
    for undo in [true, false] {
        for (at, trigger) in [(low, 0.0), (low, 0.9), (high, 0.9)] {
            let at = point(&room, at);
            room.aim(at);
            room.trigger(trigger);
            room.step(2);
        }
        if undo {
            press_undo(&mut room);
        }
        room.trigger(0.0);
        follow(&mut room);
        assert_eq!(room.panels.memory.details.shared.keys.selection == chosen, undo);
        assert_eq!((steps(&room), bench(&room).session().document()), (before, &old));
    }
    // Without a drag, the button is the workbench's.
    room.input.hands[0].undo = true;
    room.step(1);
    let mut input = room.input.clone();
    room.panels.out().mark(room.tool, &mut input);
    assert!(input.hands[0].undo && room.commands.is_empty());
    room.input.hands[0].undo = false;
    room.step(1);
    // A smaller range of values spreads the numbers of the axis.
    let degree = |room: &Room, low: f32| {
        let [low_y, high_y] = [low, 20.0].map(|degrees| word(room, &format!("{degrees}°")).center().y);
        (low_y - high_y) / (20.0 - low)
    };
    let fitted = degree(&room, 0.0);
    room.press(&text("Values +"));
    follow(&mut room);
    assert!(degree(&room, 10.0) > 1.3 * fitted);
    room.press(&text("Fit values"));
    follow(&mut room);
    assert!((degree(&room, 0.0) - fitted).abs() < 0.05);
    assert_large(&room);
}
