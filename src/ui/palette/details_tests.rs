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
    }
    room.step(3);
}

fn text(text: &str) -> Spot {
    Spot::Text(text.to_owned())
}

fn bench(room: &Room) -> &Workbench {
    room.bench.as_ref().unwrap()
}

#[test]
fn every_section_is_chosen_and_has_large_print() {
    let mut room = room();
    for (section, word) in [
        (Section::Deformer, "Twist"),
        (Section::Shape, "Draw on the skin, then pull at the mark."),
        (Section::Outliner, "JOINTS (16)"),
        (Section::Keys, "No keys yet"),
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
fn keys_are_selected_by_the_ray_and_deleted() {
    let mut room = room();
    if let Some(bench) = &mut room.bench {
        for time in [0.0, 1.0] {
            bench.run_command(Command::Scrub(time));
            bench.run_command(Command::Key);
        }
    }
    follow(&mut room);
    room.press(&Spot::Section(Section::Keys));
    follow(&mut room);
    let rows = |room: &Room| bench(room).timeline().sheet.rows.clone();
    let [first, second] = [0, 1].map(|i| rows(&room)[i].label.clone());
    let pixel = |room: &Room, name: &str| {
        let words = &room.panels.canvases[Panel::Details as usize].words;
        words.iter().find(|w| w.0 == name).unwrap_or_else(|| panic!("no {name:?} in {words:?}")).1
    };
    let apart = pixel(&room, &second).center().y - pixel(&room, &first).center().y;
    assert!(apart >= details::TARGET, "rows are targets: {apart}");
    let key = egui::pos2(pixel(&room, "1").min.x - 3.0, pixel(&room, &first).center().y);
    let point = |room: &Room, at: egui::Pos2| {
        let placement = *room.panels.out().placements.iter().find(|p| p.panel == Panel::Details).unwrap();
        let size = Panel::Details.size().map(|n| n as f32);
        placement.point([at.x / size[0], at.y / size[1]])
    };
    let at = point(&room, key);
    room.drag(at, at, follow);
    assert!(room.panels.find(&text("1 selected")).is_some());
    room.press(&text("Delete"));
    follow(&mut room);
    assert_eq!(rows(&room)[0].times, [0.0]);
    // A drag on empty ground boxes both keys of the second row.
    let y = pixel(&room, &second).center().y;
    let [from, to] = [0.4, 1.6].map(|t| {
        let (zero, one) = (pixel(&room, "0").min.x - 3.0, pixel(&room, "1").min.x - 3.0);
        point(&room, egui::pos2(zero + (one - zero) * t, y))
    });
    room.drag(from, to, follow);
    assert!(room.panels.find(&text("1 selected")).is_some());
}
