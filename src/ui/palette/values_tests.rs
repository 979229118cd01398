//! Tests of the details panel's values that are dragged: morph targets, the transform and the limits of a joint.

use super::curves_tests::press_undo;
use super::details_tests::{bench, bench_mut, follow, presses, room, room_with, shows, text};
use super::tests::Room;
use super::{Page, Panel, Section, Spot, details};
use crate::base::NodeId;
use crate::base::math::Vec3;
use crate::workbench::{Command, CommandKind, LimitChange, with_morphs};

#[test]
fn a_morph_target_is_dragged_keyed_and_shown_at_the_playhead() {
    let names = (0..300).map(|i| format!("{}{i:03}", ["brow", "jaw", "lip"][i / 100]));
    let mut room = room_with(with_morphs(3, ["smile".to_owned()].into_iter().chain(names)));
    room.press(&Spot::Section(Section::Morphs));
    let weight = |room: &Room| bench(room).pose().weights[3][0];
    let row = room.panels.canvases[Panel::Details as usize].words.len();
    assert!(row < 40, "{row} texts: only the rows that show are laid out");
    let placement = |room: &Room, text: Spot| {
        let (panel, at) = room.panels.find(&text).unwrap();
        (room.placement(panel), at)
    };
    let (place, at) = placement(&room, text("smile"));
    let x = |pixels: f32| place.point([pixels / Panel::Details.size()[0] as f32, at[1]]);
    let steps = bench(&room).session().history().0;
    room.drag(x(380.0), x(500.0), follow);
    let dragged = weight(&room);
    assert!((0.2..1.0).contains(&dragged), "{dragged}");
    assert_eq!(bench(&room).session().history().0, steps + 1, "a drag is one step");
    room.drag(x(500.0), x(450.0), follow);
    let last = weight(&room);
    assert!(last < dragged && last > 0.0, "{last} after {dragged}");
    assert_eq!(bench(&room).session().history().0, steps + 2, "another drag is another step");
    room.press(&text("Key"));
    follow(&mut room);
    assert_eq!(bench(&room).morph_key(NodeId(3)), Some(true));
    // A key of other weights at 1 s; the panel follows the playhead although the document stays.
    room.commands.push(Command::Scrub(1.0));
    room.commands.push(Command::AutoKey(true));
    room.commands.push(Command::Morph { node: NodeId(3), target: 0, weight: 1.0, continues: false });
    room.commands.push(Command::KeyMorphs(NodeId(3)));
    follow(&mut room);
    let shows = |room: &Room, text: &str| {
        let words = &room.panels.canvases[Panel::Details as usize].words;
        words.iter().any(|w| w.0 == text)
    };
    assert!(shows(&room, "1.00"));
    room.commands.push(Command::Scrub(0.5));
    follow(&mut room);
    let half = format!("{:.2}", 0.5 * (1.0 + last));
    assert!(shows(&room, &half), "{half}");
    room.press(&text("Reset"));
    follow(&mut room);
    assert_eq!(weight(&room), 0.0);
}

/// Drags a slider, and presses undo as soon as the drag has changed the document. Returns how often the document changed
/// afterwards.
fn drag_and_undo(room: &mut Room, from: Vec3, to: Vec3) -> usize {
    let before = bench(room).session().history();
    room.aim(from);
    room.step(2);
    room.trigger(0.9);
    follow(room);
    let (mut undone, mut changes) = (false, 0);
    for k in 1..=10 {
        room.aim(from.lerp(to, k as f32 / 10.0));
        room.step(1);
        follow(room);
        let now = bench(room).session().history().0;
        changes += usize::from(undone && now != before.0);
        if now == before.0 + 1 && !undone {
            undone = true;
            press_undo(room);
        }
    }
    assert!(undone && bench(room).session().history().1 == before.0 + 1, "the drag had changed the document");
    room.trigger(0.0);
    follow(room);
    changes + usize::from(bench(room).session().history().0 != before.0)
}

#[test]
fn undo_in_a_drag_of_a_slider_restores_the_value_and_the_slider_rests_until_its_release() {
    let mut room = room_with(with_morphs(3, ["smile".to_owned()]));
    bench_mut(&mut room).run_command(Command::Deformer("volume".into()));
    follow(&mut room);
    let swing = |room: &Room| room.state.swing.map(|s| s[0]);
    assert!(swing(&room).is_some(), "{:?}", room.state.deformer);
    // On the details panel.
    room.press(&Spot::Section(Section::Morphs));
    let (panel, at) = room.panels.find(&text("smile")).unwrap();
    let place = room.placement(panel);
    let x = |pixels: f32| place.point([pixels / Panel::Details.size()[0] as f32, at[1]]);
    assert_eq!(drag_and_undo(&mut room, x(380.0), x(500.0)), 0);
    assert_eq!(bench(&room).pose().weights[3][0], 0.0);
    // On the palette.
    (room.state.preferences.palette, room.state.preferences.details) = (true, false);
    follow(&mut room);
    room.press(&Spot::Page(Page::View));
    let [from, to] = [0.2, 0.8].map(|at| room.panels.slider(CommandKind::Swing, at).unwrap());
    let before = swing(&room);
    assert_eq!(drag_and_undo(&mut room, from, to), 0);
    assert_eq!(swing(&room), before);
    room.drag(from, to, follow);
    assert_ne!(swing(&room), before, "the next drag moves the slider");
}

#[test]
fn a_number_of_the_transform_is_dragged_as_one_step_and_follows_the_pose() {
    let mut room = room();
    bench_mut(&mut room).select(Some(NodeId(5)));
    follow(&mut room);
    room.press(&Spot::Section(Section::Transform));
    follow(&mut room);
    let steps = bench(&room).session().history().0;
    let before = bench(&room).pose().local[5];
    let start = text("X 0.00");
    let (panel, at) = room.panels.find(&start).unwrap();
    let placement = room.placement(panel);
    let right = |pixels: f32| placement.point([at[0] + pixels / Panel::Details.size()[0] as f32, at[1]]);
    room.drag(right(0.0), right(3.0 * details::TARGET), follow);
    assert_ne!(bench(&room).pose().local[5].rotation, before.rotation);
    assert_eq!(bench(&room).session().history().0, steps + 1, "a drag is one step");
    bench_mut(&mut room).run_command(Command::ResetPose(None));
    follow(&mut room);
    assert!(room.panels.find(&start).is_some());
}

#[test]
fn a_joint_is_limited_and_its_range_is_dragged() {
    let mut room = room();
    bench_mut(&mut room).select(Some(NodeId(5)));
    follow(&mut room);
    let limit = |change| Command::Limit(change, false);
    presses(
        &mut room,
        Section::Transform,
        &[
            ("Limit this joint", limit(LimitChange::On(true))),
            ("Draw the cone", Command::LimitCone(true)),
            ("Extend to this pose", limit(LimitChange::ToPose)),
        ],
    );
    let range = |room: &Room| bench(room).session().document().limits()[&NodeId(5)];
    let (before, steps) = (range(&room), bench(&room).session().history().0);
    let start = text("to 45.0");
    shows(&mut room, "to 45.0");
    let (panel, at) = room.panels.find(&start).unwrap();
    let placement = room.placement(panel);
    let right = |pixels: f32| placement.point([at[0] + pixels / Panel::Details.size()[0] as f32, at[1]]);
    room.drag(right(0.0), right(2.0 * details::TARGET), follow);
    assert!(range(&room).twist[1] > before.twist[1] && range(&room).swing == before.swing);
    assert_eq!(bench(&room).session().history().0, steps + 1, "a drag is one step");
    presses(&mut room, Section::Transform, &[("Forget all", limit(LimitChange::Forget))]);
    assert!(bench(&room).session().document().limits().is_empty());
}
