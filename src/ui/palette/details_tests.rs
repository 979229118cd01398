//! Tests of the details panel: every section is reached by the ray, its targets are large, and it gives commands.

use super::tests::Room;
use super::{Panel, Section, Spot, details, theme};
use crate::document::{DeformerSettings, Edit};
use crate::scene::recipe;
use crate::workbench::{Command, Preferences, Workbench, biped, session};

/// A room in which the details panel shows a person with springs.
fn room() -> Room {
    let mut room = Room::new();
    let character = biped();
    let mut bench = Workbench::new(session(&character), character, Preferences::default());
    bench.apply(Edit::SetDeformer(DeformerSettings::of("springs")), false);
    room.bench = Some(bench);
    room.state.preferences.palette = false;
    room.state.preferences.details = true;
    follow(&mut room);
    room
}

/// Runs the commands of the room and steps it twice.
fn follow(room: &mut Room) {
    let commands = std::mem::take(&mut room.commands);
    if let Some(bench) = &mut room.bench {
        commands.into_iter().for_each(|c| bench.run_command(c));
        (room.state.revision, room.state.selected) = (bench.session().revision(), bench.selected());
        room.state.pose = bench.shown_pose().version;
    }
    room.step(3);
}

fn text(text: &str) -> Spot {
    Spot::Text(text.to_owned())
}

fn bench(room: &Room) -> &Workbench {
    room.bench.as_ref().unwrap()
}

fn bench_mut(room: &mut Room) -> &mut Workbench {
    room.bench.as_mut().unwrap()
}

#[test]
fn every_section_is_chosen_and_has_large_print() {
    let mut room = room();
    for (section, word) in [
        (Section::Deformer, "Twist"),
        (Section::Shape, "Draw on the skin, then pull at the mark."),
        (Section::Outliner, "JOINTS (16)"),
        (Section::Transform, "Touch a joint"),
        (Section::Poses, "Keep"),
        (Section::Clips, "The file has none."),
        (Section::History, "Open"),
    ] {
        room.press(&Spot::Section(section));
        let words = &room.panels.canvases[Panel::Details as usize].words;
        assert!(words.iter().any(|w| w.0.starts_with(word)), "{section:?}: no {word:?} in {words:?}");
        // 30 arcminutes.
        let least = words.iter().map(|w| w.1.height()).fold(f32::INFINITY, f32::min);
        assert!(least >= 0.5 * theme::PER_DEGREE, "{section:?}: {least}");
        let size = Panel::Details.size().map(|n| n as f32);
        assert!(words.iter().all(|w| w.1.max.x < size[0] - theme::MARGIN), "{section:?}: {words:?}");
    }
}

#[test]
fn a_slider_of_the_springs_is_one_step_and_the_history_goes_back() {
    let mut room = room();
    let twist =
        |room: &Room| recipe(bench(room).session().document().deformer()).unwrap().springs.unwrap().torsion;
    let (before, steps) = (twist(&room), bench(&room).session().history().0);
    let label = room.panels.target(&text("Twist")).unwrap();
    // The slider begins right of the label. The panel is 0.8 m away.
    let (panel, at) = room.panels.find(&text("Twist")).unwrap();
    let placement = *room.panels.out().placements.iter().find(|p| p.panel == panel).unwrap();
    let right = |pixels: f32| placement.point([at[0] + pixels / Panel::Details.size()[0] as f32, at[1]]);
    assert!(label.distance(right(0.0)) < 1e-4);
    room.drag(right(4.0 * details::TARGET), right(7.0 * details::TARGET), follow);
    let after = twist(&room);
    assert!((after - before).abs() > 0.2, "{before} {after}");
    assert_eq!(bench(&room).session().history().0, steps + 1, "a drag is one step");
    room.press(&Spot::Section(Section::History));
    room.press(&text("Open"));
    follow(&mut room);
    assert_eq!(bench(&room).session().history().0, 1);
}

#[test]
fn poses_are_kept_taken_and_forgotten_without_a_keyboard() {
    let mut room = room();
    room.press(&Spot::Section(Section::Poses));
    room.press(&text("Keep"));
    follow(&mut room);
    assert_eq!(bench(&room).session().document().poses()[0].name, "Pose 1");
    room.press(&text("Pose 1"));
    follow(&mut room);
    room.press(&text("×"));
    follow(&mut room);
    assert!(bench(&room).session().document().poses().is_empty());
}

#[test]
fn a_joint_is_selected_by_its_name_and_the_stick_scrolls_to_others() {
    let mut room = room();
    room.press(&Spot::Section(Section::Outliner));
    let name = |n: usize| bench(&room).character().skeleton.nodes[n].name.clone();
    let (first, last) = (name(1), name(15));
    room.press(&text(&first));
    follow(&mut room);
    let selected = bench(&room).selected().unwrap();
    assert_eq!(bench(&room).character().skeleton.nodes[selected.index()].name, first);
    assert!(room.panels.find(&text(&last)).is_some() || room.scrolls_to(&text(&last)));
    room.press(&Spot::Command(Command::Details));
    assert_eq!(std::mem::take(&mut room.commands), [Command::Details]);
}

#[test]
fn a_number_of_the_transform_is_dragged_as_one_step_and_follows_the_pose() {
    let mut room = room();
    bench_mut(&mut room).select(Some(crate::base::NodeId::from(5)));
    follow(&mut room);
    room.press(&Spot::Section(Section::Transform));
    follow(&mut room);
    let steps = bench(&room).session().history().0;
    let before = bench(&room).pose().local[5];
    let start = text("X 0.00");
    let (panel, at) = room.panels.find(&start).unwrap();
    let placement = *room.panels.out().placements.iter().find(|p| p.panel == panel).unwrap();
    let right = |pixels: f32| placement.point([at[0] + pixels / Panel::Details.size()[0] as f32, at[1]]);
    room.drag(right(0.0), right(3.0 * details::TARGET), follow);
    assert_ne!(bench(&room).pose().local[5].rotation, before.rotation);
    assert_eq!(bench(&room).session().history().0, steps + 1, "a drag is one step");
    bench_mut(&mut room).run_command(Command::ResetPose(None));
    follow(&mut room);
    assert!(room.panels.find(&start).is_some());
}
