//! Tests of the dope sheet: keys are selected, dragged, copied, pasted, deleted, retimed and eased.

use super::*;
use crate::document::{Channel as Keyed, DopeSheet, Easing, KeyEdit, Slot, Target};
use crate::ui::panels::keys::{KeyAct, Selection, act};

pub(super) const SPINE: usize = 2;
pub(super) const ELBOW: usize = 5;

pub(super) fn slot(node: usize, property: Property, values: Vec<f32>) -> Slot {
    let target = Target::node(NodeId::from(node), property);
    let (interpolation, times) = (Interpolation::Linear, vec![0.0, 0.5, 1.0]);
    Slot { target: target.clone(), channel: Some(Keyed { target, interpolation, times, values }) }
}

impl Sheet {
    /// Returns a dope sheet with two rows of keys at 0, 0.5 and 1 s.
    pub(super) fn keyed() -> Self {
        let mut sheet = Sheet::new(Section::Keys);
        sheet.width = 900.0;
        let turn = |a: f32| Quat::from_rotation_z(a).to_array();
        let spine = vec![0.0, 1.0, 0.0, 0.0, 1.2, 0.0, 0.1, 1.0, 0.0];
        let slots = vec![
            slot(SPINE, Property::Translation, spine),
            slot(ELBOW, Property::Rotation, [turn(0.0), turn(0.6), turn(0.2)].concat()),
        ];
        sheet.bench.apply(Edit::Keys(KeyEdit::Channels(slots)), false);
        (0..3).for_each(|_| sheet.frame(Vec::new()));
        sheet
    }

    /// Returns the position of a time on the ruler, pixels.
    pub(super) fn x(&self, time: f64) -> f32 {
        let [zero, one] = ["0", "24"].map(|label| self.at(label).min.x - 3.0);
        zero + (one - zero) * time as f32
    }

    fn name(&self, node: usize) -> String {
        self.bench.character().skeleton.nodes[node].name.clone()
    }

    /// Returns the position of a key of a node.
    pub(super) fn key_of(&self, node: usize, time: f64) -> Pos2 {
        pos2(self.x(time), self.at(&self.name(node)).center().y)
    }

    /// Returns the height of the summary row.
    fn summary(&self) -> f32 {
        let row = self.words.iter().find(|w| w.0.ends_with(" keys") || w.0.ends_with(" selected"));
        row.unwrap_or_else(|| panic!("{:?}", self.words)).1.center().y
    }

    pub(super) fn click_at(&mut self, at: Pos2) {
        self.press(at, true);
        self.press(at, false);
        self.frame(Vec::new());
    }

    pub(super) fn drag_to(&mut self, from: Pos2, to: Pos2) {
        self.press(from, true);
        for k in 1..=4 {
            self.frame(vec![Event::PointerMoved(from.lerp(to, k as f32 / 4.0))]);
        }
        self.press(to, false);
        self.frame(Vec::new());
    }

    pub(super) fn times(&self, node: usize) -> Vec<f64> {
        let sheet = &self.bench.timeline().sheet;
        let node = crate::document::Subject::Node(NodeId::from(node));
        sheet.rows.iter().find(|r| r.subject == node).map_or(Vec::new(), |r| r.times.clone())
    }

    pub(super) fn selected(&self) -> usize {
        self.memory.keys.selection.len()
    }

    pub(super) fn pose(&self, time: f64) -> crate::rig::Pose {
        let skeleton = &self.bench.character().skeleton;
        self.bench.session().document().state(skeleton, Some(time)).pose
    }

    pub(super) fn undo(&mut self) {
        self.bench.run_command(Command::Undo);
        self.frame(Vec::new());
    }
}

#[test]
fn a_click_selects_a_key_shift_adds_and_the_summary_selects_a_column() {
    let mut s = Sheet::keyed();
    s.click_at(s.key_of(ELBOW, 0.5));
    assert_eq!(s.selected(), 1);
    s.modifiers = Modifiers::SHIFT;
    s.click_at(s.key_of(SPINE, 1.0));
    assert_eq!(s.selected(), 2);
    s.click_at(s.key_of(SPINE, 1.0));
    assert_eq!(s.selected(), 1, "a second click with Shift deselects");
    s.modifiers = Modifiers::NONE;
    s.click_at(pos2(s.x(1.0), s.summary()));
    assert_eq!((s.selected(), s.memory.keys.selection.ends()), (2, Some([1.0, 1.0])));
    let name = s.at(&s.name(SPINE)).center();
    s.click_at(name);
    assert_eq!(s.selected(), 3, "a name selects its row");
    s.click("All");
    assert_eq!(s.selected(), 6);
    s.click_at(s.key_of(ELBOW, 0.25));
    assert_eq!(s.selected(), 0, "empty ground deselects");
}

#[test]
fn a_box_selects_and_a_drag_that_snaps_to_frames_is_one_step() {
    let mut s = Sheet::keyed();
    let (from, to) = (s.key_of(SPINE, 0.3), s.key_of(ELBOW, 1.2));
    s.drag_to(from, to);
    assert_eq!(s.selected(), 4);
    assert_eq!(s.memory.keys.selection.ends(), Some([0.5, 1.0]));
    let (steps, before) = (s.steps(), s.bench.session().document().clone());
    // The grabbed key goes to 0.77 s, whose frame is the 18th.
    let (from, to) = (s.key_of(ELBOW, 0.5), s.key_of(ELBOW, 0.77));
    s.drag_to(from, to);
    assert_eq!(s.steps(), steps + 1);
    assert_eq!((s.times(SPINE), s.times(ELBOW)), (vec![0.0, 0.75, 1.25], vec![0.0, 0.75, 1.25]));
    assert_eq!(s.memory.keys.selection.ends(), Some([0.75, 1.25]), "the keys stay selected");
    s.undo();
    assert_eq!(*s.bench.session().document(), before);
    s.frame(Vec::new());
    assert_eq!(
        (s.selected(), s.memory.keys.selection.ends()),
        (4, Some([0.5, 1.0])),
        "undo keeps the selection"
    );
    s.click_at(s.key_of(ELBOW, 0.25));
    // A drag beyond 0 s stops there; a key that is not selected is selected by its drag.
    let (from, to) = (s.key_of(SPINE, 0.5), s.key_of(SPINE, -0.1));
    s.drag_to(from, to);
    assert_eq!((s.times(SPINE), s.times(ELBOW).len()), (vec![0.0, 1.0], 3));
    // A box from the summary row takes whole columns.
    let from = pos2(s.x(0.8), s.summary());
    s.drag_to(from, pos2(s.x(1.3), from.y + 3.0));
    assert_eq!(s.selected(), 2);
}

#[test]
fn a_drag_in_the_summary_row_moves_all_keys_of_its_time() {
    let mut s = Sheet::keyed();
    s.click_at(s.key_of(ELBOW, 0.5));
    let from = pos2(s.x(0.5), s.summary());
    s.drag_to(from, pos2(s.x(0.75), from.y));
    assert_eq!((s.times(SPINE), s.times(ELBOW)), (vec![0.0, 0.75, 1.0], vec![0.0, 0.75, 1.0]));
    // Keys at other times that are selected, too, move along.
    s.click("All");
    let from = pos2(s.x(0.75), s.summary());
    s.drag_to(from, pos2(s.x(1.0), from.y));
    assert_eq!((s.times(SPINE), s.times(ELBOW)), (vec![0.25, 1.0, 1.25], vec![0.25, 1.0, 1.25]));
}

#[test]
fn copied_keys_give_the_same_pose_at_the_playhead() {
    let mut s = Sheet::keyed();
    s.click_at(pos2(s.x(0.5), s.summary()));
    s.click("Copy");
    s.bench.run_command(Command::Scrub(1.5));
    s.frame(Vec::new());
    let steps = s.steps();
    s.click("Paste");
    assert_eq!(s.steps(), steps + 1);
    assert_eq!(s.times(ELBOW), [0.0, 0.5, 1.0, 1.5]);
    assert_eq!(s.pose(1.5), s.pose(0.5));
    assert_eq!(s.memory.keys.selection.ends(), Some([1.5, 1.5]), "the pasted keys are selected");
    s.click("Repeat");
    let frame = 1.0 / 24.0;
    assert!((s.times(ELBOW)[4] - 1.5 - frame).abs() < 1e-6, "{:?}", s.times(ELBOW));
    s.click("Delete");
    assert_eq!((s.times(ELBOW).len(), s.selected()), (4, 0));
    s.undo();
    assert_eq!(s.times(ELBOW).len(), 5);
}

#[test]
fn selected_keys_are_retimed_about_the_playhead_and_by_the_ends_of_the_selection() {
    let mut s = Sheet::keyed();
    s.click("All");
    s.bench.run_command(Command::Scrub(0.0));
    s.frame(Vec::new());
    let before = s.bench.session().document().clone();
    s.click("× 2");
    assert_eq!((s.times(SPINE), s.times(ELBOW)), (vec![0.0, 1.0, 2.0], vec![0.0, 1.0, 2.0]));
    s.click("× 0.5");
    assert_eq!(s.times(ELBOW), [0.0, 0.5, 1.0]);
    s.undo();
    s.undo();
    assert_eq!(*s.bench.session().document(), before);
    s.click("All");
    // The handle is right of the last key.
    let from = pos2(s.x(1.0) + 15.0, s.summary());
    let to = from + vec2(s.x(1.5) - s.x(1.0), 0.0);
    let steps = s.steps();
    s.drag_to(from, to);
    assert_eq!((s.steps(), s.times(ELBOW)), (steps + 1, vec![0.0, 0.75, 1.5]));
    // Keys cannot get negative times.
    let mut pressed = Pressed::default();
    s.bench.run_command(Command::Scrub(1.0));
    act(KeyAct::Retime(2.0), &s.bench, &mut s.memory.keys, &mut pressed);
    assert!(pressed.commands.is_empty() && pressed.tell.is_some_and(|t| t.contains("before 0 s")));
}

#[test]
fn keys_between_frames_go_to_frames() {
    let mut s = Sheet::keyed();
    s.click("All");
    s.bench.run_command(Command::Rate(30));
    s.frame(Vec::new());
    s.bench.run_command(Command::Rate(24));
    s.frame(Vec::new());
    s.click("Snap");
    // The grabbed key moves by about 0.03 s, not to a frame.
    let (from, to) = (s.key_of(ELBOW, 0.5), s.key_of(ELBOW, 0.55));
    s.drag_to(from, to);
    let free = s.times(ELBOW)[1];
    assert!((free * 24.0 - (free * 24.0).round()).abs() > 0.02, "{free}");
    let steps = s.steps();
    s.click("To frames");
    assert_eq!(s.steps(), steps + 1);
    let on_frame = |t: f64| (t * 24.0 - (t * 24.0).round()).abs() < 1e-5;
    assert!(s.times(ELBOW).into_iter().all(on_frame), "{:?}", s.times(ELBOW));
    assert_eq!(s.selected(), 6);
}

#[test]
fn an_easing_changes_the_selected_keys_in_one_step() {
    let mut s = Sheet::keyed();
    let (early, late) = (s.pose(0.25), s.pose(0.75));
    s.click_at(s.key_of(ELBOW, 1.0));
    let steps = s.steps();
    s.click("Ease in");
    assert_eq!(s.steps(), steps + 1);
    let turn = |p: &crate::rig::Pose| p.local[ELBOW].rotation();
    assert!(turn(&s.pose(0.25)).angle_between(turn(&early)) < 1e-3);
    assert!(turn(&s.pose(0.75)).angle_between(turn(&late)) > 0.01);
    s.undo();
    assert_eq!(s.pose(0.75), late);
    for easing in Easing::ALL {
        s.click("All");
        s.click(easing.label());
        assert_eq!(s.pose(0.5).local[SPINE].translation, [0.0, 1.2, 0.0], "{easing:?}");
    }
}

#[test]
fn loop_and_range_of_playback_are_set_at_the_playhead() {
    let mut s = Sheet::keyed();
    let range = |s: &Sheet| s.bench.timeline().playhead.range;
    s.bench.run_command(Command::Scrub(0.25));
    s.frame(Vec::new());
    s.click("In");
    assert_eq!(range(&s), Some([0.25, 1.0]));
    s.bench.run_command(Command::Scrub(0.75));
    s.frame(Vec::new());
    s.click("Out");
    assert_eq!(range(&s), Some([0.25, 0.75]));
    s.bench.run_command(Command::Scrub(1.25));
    s.frame(Vec::new());
    s.click("In");
    let [start, end] = range(&s).unwrap();
    assert!(start == 1.25 && end > start);
    s.click("Whole");
    assert_eq!(range(&s), None);
    s.click("Loop");
    assert!(!s.bench.preferences().loops);
}

#[test]
fn the_time_is_zoomed_scrolled_and_fitted() {
    let mut s = Sheet::keyed();
    let seconds = |s: &Sheet| s.x(1.0) - s.x(0.0);
    let before = seconds(&s);
    s.bench.run_command(Command::Scrub(0.5));
    s.frame(Vec::new());
    let at = s.x(0.5);
    s.click("+");
    let zoomed = s.memory.keys.view.unwrap();
    assert!((zoomed[1] - zoomed[0] - 2.0 / 1.5).abs() < 1e-6, "{zoomed:?}");
    // The stick of the headset scrolls.
    s.memory.keys.pan = 50.0;
    s.frame(Vec::new());
    s.frame(Vec::new());
    assert!(s.memory.keys.view.unwrap()[0] > zoomed[0]);
    s.click("Fit");
    assert!((seconds(&s) - before).abs() < 1.0 && (s.x(0.5) - at).abs() < 1.0);
    let wheel = |delta: f32| Event::MouseWheel {
        unit: egui::MouseWheelUnit::Point,
        delta: vec2(0.0, delta),
        phase: egui::TouchPhase::Move,
        modifiers: Modifiers::NONE,
    };
    let over = pos2(at, s.summary());
    s.frame(vec![Event::PointerMoved(over)]);
    s.frame(vec![wheel(120.0)]);
    (0..30).for_each(|_| s.frame(Vec::new()));
    let [from, to] = s.memory.keys.view.unwrap();
    assert!(to - from < 1.5 && from < 0.5 && to > 0.5, "the time under the pointer stays: {from} {to}");
}

#[test]
fn many_rows_lay_out_only_what_shows() {
    for large in [false, true] {
        let mut s = Sheet::new(Section::Keys);
        if large {
            theme::enlarge(&s.context, 50.0);
        }
        s.width = 700.0;
        let slots = (0..300).map(|id| {
            let target = Target::SculptAmplitude(SculptId(id));
            let times = (0..100).map(|k| f64::from(k) * 0.25).collect();
            let (interpolation, values) = (Interpolation::Linear, vec![1.0; 100]);
            Slot { target: target.clone(), channel: Some(Keyed { target, interpolation, times, values }) }
        });
        s.bench.apply(Edit::Keys(KeyEdit::Channels(slots.collect())), false);
        (0..3).for_each(|_| s.frame(Vec::new()));
        assert_eq!(s.bench.timeline().sheet.rows.len(), 300);
        // At most 40 rows of 100 keys show, of 30,000 keys.
        assert!((500..5000).contains(&s.shapes), "large {large}: {} shapes", s.shapes);
        s.click("All");
        assert_eq!(s.selected(), 30_000);
        s.memory.keys.view = Some([10.0, 12.0]);
        s.frame(Vec::new());
        assert!(s.shapes < 1000, "large {large}: {} shapes", s.shapes);
    }
}

#[test]
fn an_empty_document_has_an_empty_sheet_and_no_action_panics() {
    for large in [false, true] {
        let mut s = Sheet::new(Section::Keys);
        if large {
            theme::enlarge(&s.context, 50.0);
        }
        s.width = 700.0;
        (0..3).for_each(|_| s.frame(Vec::new()));
        let steps = s.steps();
        for y in (0..600).step_by(25) {
            s.drag_to(pos2(60.0, y as f32), pos2(420.0, y as f32 + 40.0));
        }
        let mut acts = vec![KeyAct::All, KeyAct::Copy, KeyAct::Paste, KeyAct::Duplicate, KeyAct::Delete];
        acts.extend([KeyAct::Snap, KeyAct::Retime(0.5)]);
        acts.extend(Easing::ALL.map(KeyAct::Ease));
        for one in acts {
            let mut pressed = Pressed::default();
            act(one, &s.bench, &mut s.memory.keys, &mut pressed);
            assert!(pressed.commands.is_empty() && (pressed.tell.is_some() || one == KeyAct::All));
        }
        assert_eq!(s.steps(), steps);
    }
}

#[test]
fn a_selection_forgets_keys_that_the_document_loses() {
    let mut s = Sheet::keyed();
    s.click("All");
    let keys = DopeSheet::keys_in(s.bench.session().document(), &[0.5]);
    s.bench.apply(Edit::Keys(KeyEdit::Remove(keys)), false);
    s.frame(Vec::new());
    assert_eq!(s.selected(), 4);
    s.bench.apply(Edit::SetPose(s.bench.pose().clone()), false);
    s.frame(Vec::new());
    assert_eq!(s.selected(), 4);
    assert_eq!(Selection::default().ends(), None);
}
