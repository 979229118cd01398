//! Tests of the panel of the morph targets.

use crate::base::NodeId;
use crate::document::Edit;
use crate::ui::panels::Section;
use crate::ui::panels::tests::Sheet;
use crate::ui::panels::widgets::elided;
use crate::workbench::{Command, Input, biped, with_morphs};
use egui::{Event, pos2};

const NODE: NodeId = NodeId(3);
/// Distance from the start of a name to the slider's track, logical pixels.
const TRACK: f32 = 125.0;

fn sheet(names: impl IntoIterator<Item = String>) -> Sheet {
    Sheet::of(Section::Morphs, &with_morphs(NODE.index(), names))
}

fn few() -> Sheet {
    sheet(["smile", "blink", "jaw"].map(str::to_owned))
}

/// A panel of 300 targets in three groups, and a single target.
fn many() -> Sheet {
    let name = |i: usize| format!("face_{}{i:03}", ["brow", "jaw", "lip"][i % 3]);
    sheet((0..300).map(name).chain(["face_smile".to_owned()]))
}

fn weights(sheet: &Sheet) -> &[f32] {
    &sheet.bench.pose().weights[NODE.index()]
}

fn shows(sheet: &Sheet, text: &str) -> bool {
    sheet.words.iter().any(|w| w.0 == text)
}

fn set(sheet: &mut Sheet, target: u32, weight: f32) {
    sheet.bench.run_command(Command::Morph { node: NODE, target, weight, continues: false });
    sheet.frame(Vec::new());
}

#[test]
fn a_long_name_keeps_its_end() {
    assert_eq!(elided("mouthLowerDownRight", 15), "mouthLo…wnRight");
    assert_eq!(elided("smile", 5), "smile");
    assert_eq!((&*elided("Visème", 3), &*elided("smile", 0)), ("V…e", "…"));
    let sheet = sheet(["mouthLowerDownLeft", "mouthLowerDownRight", "jaw"].map(str::to_owned));
    let ends =
        |end: &str| sheet.words.iter().filter(|w| w.0.starts_with("mouth") && w.0.ends_with(end)).count();
    assert_eq!((ends("Left"), ends("Right")), (1, 1), "{:?}", sheet.words);
}

#[test]
fn a_character_without_targets_says_so() {
    let sheet = Sheet::of(Section::Morphs, &biped());
    assert!(shows(&sheet, "The character has no morph targets."));
    assert_eq!(Section::Morphs.title(&sheet.bench), "Morphs (0)");
}

#[test]
fn a_drag_of_a_slider_changes_one_target_in_one_step() {
    let mut sheet = few();
    assert_eq!(Section::Morphs.title(&sheet.bench), "Morphs (3)");
    let steps = sheet.steps();
    sheet.drag("jaw", TRACK, &[TRACK + 20.0, TRACK + 30.0, TRACK + 40.0]);
    let [smile, blink, jaw] = weights(&sheet)[..] else { panic!() };
    assert!(smile == 0.0 && blink == 0.25 && (0.1..0.9).contains(&jaw), "{:?}", weights(&sheet));
    assert_eq!(sheet.steps(), steps + 1);
    sheet.write("0.25", "0.57");
    sheet.key(egui::Key::Enter);
    assert_eq!((weights(&sheet)[1], sheet.steps()), (0.57, steps + 2));
    sheet.click("Reset");
    assert_eq!((weights(&sheet), sheet.steps()), (&[0.0, 0.25, 0.0][..], steps + 3));
}

#[test]
fn a_drag_back_from_a_large_weight_keeps_its_range() {
    let mut sheet = few();
    sheet.bench.apply(Edit::SetWeights { node: NODE, weights: vec![4.0, 0.0, 0.0] }, false);
    sheet.frame(Vec::new());
    // A range that shrank with the weight would bring it to 1 within a few frames at one place.
    let to = [TRACK + 40.0, TRACK + 41.0, TRACK + 40.0, TRACK + 41.0, TRACK + 40.0, TRACK + 41.0];
    sheet.drag("smile", TRACK + 80.0, &to);
    assert!((1.2..3.8).contains(&weights(&sheet)[0]), "{:?}", weights(&sheet));
}

#[test]
fn a_key_is_marked_at_the_playhead_only() {
    let mut sheet = few();
    assert_eq!(sheet.diamonds, 0);
    sheet.click("Key");
    assert_eq!((sheet.bench.morph_key(NODE), sheet.diamonds), (Some(true), 1));
    sheet.bench.run_command(Command::Scrub(1.0));
    sheet.frame(Vec::new());
    assert_eq!((sheet.bench.morph_key(NODE), sheet.diamonds), (Some(false), 0));
    // Auto-key keys what a slider changes; the slider then shows the weight at the playhead.
    sheet.bench.run_command(Command::AutoKey(true));
    sheet.bench.step(&Input::default());
    set(&mut sheet, 0, 1.0);
    sheet.bench.step(&Input::default());
    sheet.bench.run_command(Command::Scrub(0.5));
    sheet.frame(Vec::new());
    assert!(shows(&sheet, "0.50") && sheet.diamonds == 0);
    sheet.bench.run_command(Command::Scrub(1.0));
    sheet.frame(Vec::new());
    assert!(shows(&sheet, "1.00") && sheet.diamonds == 1);
}

#[test]
fn three_hundred_targets_are_in_groups_and_only_rows_in_view_are_laid_out() {
    let mut sheet = many();
    for group in ["brow (100)", "jaw (100)", "lip (100)", "smile"] {
        assert!(shows(&sheet, group), "{group} in {:?}", sheet.words);
    }
    assert!(!shows(&sheet, "jaw001"));
    sheet.click("jaw (100)");
    assert!(shows(&sheet, "jaw001") && !shows(&sheet, "jaw298"));
    // A row has a name and a number.
    assert!(sheet.words.len() < 50, "{} texts", sheet.words.len());
    sheet.click("jaw (100)");
    assert!(!shows(&sheet, "jaw001"));
    let name = sheet.bench.character().skeleton.nodes[NODE.index()].name.clone();
    sheet.click(&name);
    assert!(!shows(&sheet, "brow (100)") && shows(&sheet, &name));
    sheet.click(&name);
    set(&mut sheet, 3, 1.0);
    assert!(shows(&sheet, "1 in use") || shows(&sheet, "2 in use"), "{:?}", sheet.words);
}

#[test]
fn a_search_finds_targets_of_all_groups() {
    let mut sheet = many();
    sheet.write("Search by name", "OW12");
    sheet.frame(Vec::new());
    for name in ["brow120", "brow123", "brow126", "brow129"] {
        assert!(shows(&sheet, name), "{name} in {:?}", sheet.words);
    }
    assert!(!shows(&sheet, "jaw121") && !shows(&sheet, "brow (100)"));
    let steps = sheet.steps();
    sheet.drag("brow126", TRACK, &[TRACK + 30.0, TRACK + 40.0]);
    assert!(weights(&sheet)[126] > 0.1 && sheet.steps() == steps + 1);
    sheet.write("OW12", "zz");
    sheet.frame(Vec::new());
    assert!(shows(&sheet, "No target fits the search."), "{:?}", sheet.words);
}

#[test]
fn targets_in_use_are_listed_alone_and_a_held_slider_stays() {
    let mut sheet = many();
    set(&mut sheet, 1, 0.0);
    sheet.click("In use");
    assert!(shows(&sheet, "All weights are zero."));
    set(&mut sheet, 4, 0.5);
    set(&mut sheet, 300, 0.5);
    assert!(shows(&sheet, "jaw004") && shows(&sheet, "smile") && !shows(&sheet, "jaw001"));
    let start = sheet.at("jaw004").left_center();
    let place = |x: f32| pos2(start.x + x, start.y);
    sheet.press(place(TRACK + 30.0), true);
    for x in [20.0, -20.0, -40.0] {
        sheet.frame(vec![Event::PointerMoved(place(TRACK + x))]);
    }
    sheet.frame(Vec::new());
    assert!(weights(&sheet)[4] == 0.0 && shows(&sheet, "jaw004"), "{}", weights(&sheet)[4]);
    sheet.press(place(TRACK - 40.0), false);
    sheet.frame(Vec::new());
    sheet.frame(Vec::new());
    assert!(!shows(&sheet, "jaw004") && shows(&sheet, "smile"));
}
