//! Press, drag and release on the curves. One target covers the plot; the position of a press decides what it acts on.

use super::Known;
use super::plot::{Plot, keys_near};
use crate::document::{Edit, KeyAt, KeyCurves, KeyEdit, Subject};
use crate::ui::panels::Pressed;
use crate::ui::panels::keys::press::{Hold, button};
use crate::ui::panels::keys::selection::{has, same_key};
use crate::ui::panels::keys::span::Span;
use crate::ui::panels::keys::{Selection, SheetState, frame_near};
use crate::workbench::{Command, Timeline, Workbench};
use egui::{Pos2, Sense, Ui, Vec2, vec2};

/// Distance by which a drag along one axis must leave it to change the other one, too, logical pixels of the window.
const AWAY: f32 = 12.0;
/// Smallest distance of a handle's end before or after its key, logical pixels of the window.
const AHEAD: f32 = 1.0;

/// What a press acts on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum What {
    Key { key: usize, curve: usize },
    Handle { key: usize, curve: usize, side: usize },
    Ground,
}

/// A press on the curves that has not ended.
pub(in crate::ui) struct Press {
    what: What,
    hold: Hold,
    /// The axis that the drag does not change yet: 0 for the time, 1 for the value.
    locked: Option<usize>,
    /// The curves at the start of the drag.
    curves: KeyCurves,
    /// Indices of the keys that a drag of a key moves.
    keys: Vec<usize>,
    /// The range of values at the start, which stays constant.
    pub range: [f64; 2],
    /// From the pointer to the end of the handle.
    off: Vec2,
    /// Whether the other handle of the key follows.
    both: bool,
    /// The change of the value, or the slope, of the last edit.
    last: Option<f64>,
    /// Number of steps of the history at the start, and whether the drag has added one.
    steps: usize,
    applied: bool,
}

impl Press {
    /// Returns the movement of the drag. It begins along one axis.
    fn way(&self) -> Vec2 {
        let by = self.hold.to - self.hold.from;
        match self.locked {
            _ if !self.hold.moved => Vec2::ZERO,
            Some(0) => vec2(0.0, by.y),
            Some(_) => vec2(by.x, 0.0),
            None => by,
        }
    }
}

/// Returns the seconds by which the drag under way moves the selected keys.
pub(super) fn seconds(state: &SheetState, span: &Span, timeline: &Timeline) -> f64 {
    let Some(press) = &state.curves.press else { return 0.0 };
    let (What::Key { key, .. }, Some(first)) = (press.what, press.keys.first()) else { return 0.0 };
    let times = press.curves.times();
    let way = press.way().x;
    if way == 0.0 {
        return 0.0;
    }
    let to = times[key] + span.seconds(way);
    let to = if state.free { to } else { frame_near(to, timeline) };
    (to - times[key]).max(-times[*first])
}

impl Press {
    /// Returns the command that restores the document from before the drag; `None` if the drag has changed nothing.
    pub fn undo(&self, steps: usize) -> Option<Command> {
        (self.last.is_some() && steps > self.steps).then_some(Command::Jump(self.steps))
    }
}

/// Draws the box of a drag on empty ground.
pub(super) fn draw(ui: &Ui, plot: &Plot, state: &SheetState) {
    let press = state.curves.press.as_ref();
    if let Some(press) = press.filter(|p| p.hold.moved && p.what == What::Ground) {
        press.hold.draw(ui, plot.room.rect);
    }
}

/// Runs press, drag and release on the plot.
pub(super) fn run(
    ui: &Ui,
    plot: &Plot,
    known: &Known,
    shown: &[usize],
    bench: &Workbench,
    state: &mut SheetState,
    pressed: &mut Pressed,
) {
    let subject = known.curves.target().subject();
    let answer = ui.interact(plot.room.rect, ui.id().with("plot"), Sense::click_and_drag());
    let Some((held, adds)) = button(ui, &answer, state) else { return };
    let steps = bench.session().history().0;
    let here = answer.interact_pointer_pos();
    if let (true, None, Some(from)) = (held, &state.curves.press, here) {
        state.curves.press = Some(press(ui, plot, known, shown, (state, &subject), (from, adds, steps)));
        ui.ctx().request_repaint();
    } else if let (true, None, Some(from)) = (answer.clicked(), &state.curves.press, here) {
        // Press and release came in one frame.
        let what = what(ui, plot, &known.curves, shown, &state.selection, from);
        click(what, adds, &known.curves, (&subject, bench), &mut state.selection);
        ui.ctx().request_repaint();
    }
    let Some(press) = &mut state.curves.press else { return };
    let same = known.curves.target() == press.curves.target() && known.curves.times() == press.curves.times();
    press.applied |= press.last.is_some() && steps > press.steps;
    let undone = press.applied && steps <= press.steps;
    if undone || !same && matches!(press.what, What::Key { .. } | What::Handle { .. }) {
        // The keys have changed under the drag, for example by undo.
        (state.curves.press, state.dropped) = (None, held);
        return;
    }
    let leaves = press.hold.follow(ui);
    let by = press.hold.to - press.hold.from;
    if leaves {
        press.locked = Some(usize::from(by.x.abs() >= by.y.abs()));
        if let What::Key { key, .. } = press.what
            && !press.keys.contains(&key)
        {
            // A drag of a key that is not selected selects it first.
            click(press.what, press.hold.adds, &press.curves, (&subject, bench), &mut state.selection);
            press.keys = selected(&press.curves, &subject, &state.selection);
        }
    }
    let away = AWAY * plot.room.scale;
    if press.locked.is_some_and(|axis| by[axis].abs() > away) {
        press.locked = None;
    }
    let edit = match press.what {
        _ if !press.hold.moved => None,
        What::Ground => None,
        What::Key { curve, .. } => {
            let by = plot.values(press.way().y);
            let new = press.last.map_or(by != 0.0, |last| last != by);
            new.then(|| (by, value_edit(press, bench, curve, by))).filter(|e| e.1.is_some())
        }
        What::Handle { key, curve, side } => {
            let end = press.hold.to + press.off - plot.key(&press.curves, key, curve);
            let ahead = if side == 0 { -end.x } else { end.x }.max(AHEAD * plot.room.scale);
            let sign = if side == 0 { -1.0 } else { 1.0 };
            let slope = sign * plot.values(end.y) / plot.room.span.seconds(ahead);
            let both = press.both;
            let edit = press.curves.set_slope(key, curve, slope, [both || side == 0, both || side == 1]);
            let edit = edit.filter(|_| press.last != Some(slope)).map(Edit::Keys);
            edit.map(|edit| (slope, Some(edit)))
        }
    };
    if let Some((number, Some(edit))) = edit {
        slide(pressed, edit, press.last.is_some());
        press.last = Some(number);
    }
    if held {
        return;
    }
    let by = seconds(state, &plot.room.span, bench.timeline());
    let Some(press) = state.curves.press.take() else { return };
    ui.ctx().request_repaint();
    if !press.hold.moved {
        click(press.what, press.hold.adds, &known.curves, (&subject, bench), &mut state.selection);
    } else if press.what == What::Ground {
        select_box(&press.hold, plot, known, shown, (&subject, bench), &mut state.selection);
    } else if by != 0.0 {
        move_keys(by, known, bench, (state, pressed), press.last.is_some());
    }
}

/// Gives an edit of a drag.
fn slide(pressed: &mut Pressed, edit: Edit, continues: bool) {
    pressed.slides.push((Command::Change(Box::new(edit), continues), continues));
}

fn press(
    ui: &Ui,
    plot: &Plot,
    known: &Known,
    shown: &[usize],
    (state, subject): (&SheetState, &Subject),
    (from, adds, steps): (Pos2, bool, usize),
) -> Press {
    let curves = known.curves.clone();
    let what = what(ui, plot, &curves, shown, &state.selection, from);
    let (mut off, mut both) = (Vec2::ZERO, false);
    if let What::Handle { key, curve, side } = what {
        off = plot.handle(&curves, key, curve, side).map_or(off, |end| end - from);
        let alone = state.curves.breaks || ui.input(|i| i.modifiers.alt);
        both = !alone && curves.is_aligned(key, curve);
    }
    let keys = selected(&curves, subject, &state.selection);
    let range = plot.range;
    Press {
        what,
        hold: Hold::new(from, adds),
        locked: None,
        curves,
        keys,
        range,
        off,
        both,
        last: None,
        steps,
        applied: false,
    }
}

/// Returns the indices of the selected keys.
fn selected(curves: &KeyCurves, subject: &Subject, selection: &Selection) -> Vec<usize> {
    let own = selection.of_row(subject);
    (0..curves.times().len()).filter(|k| has(own, curves.times()[*k])).collect()
}

/// Returns what a press at a position acts on: the nearest key, or the nearest handle of a selected key.
fn what(ui: &Ui, plot: &Plot, curves: &KeyCurves, shown: &[usize], selection: &Selection, at: Pos2) -> What {
    let reach = plot.reach(ui);
    let own = selection.of_row(&curves.target().subject());
    let near = keys_near(curves, plot, egui::Rangef::point(at.x).expand(reach + 100.0));
    let mut found = (reach, What::Ground);
    for &curve in shown {
        for key in near.clone() {
            let mut offer = |place: Pos2, what: What| {
                let away = place.distance(at);
                if away < found.0 {
                    found = (away, what);
                }
            };
            offer(plot.key(curves, key, curve), What::Key { key, curve });
            for side in [0, 1] {
                if has(own, curves.times()[key])
                    && let Some(end) = plot.handle(curves, key, curve, side)
                {
                    offer(end, What::Handle { key, curve, side });
                }
            }
        }
    }
    found.1
}

/// Returns the edit that changes a curve of the selected keys by a value.
fn value_edit(press: &Press, bench: &Workbench, curve: usize, by: f64) -> Option<Edit> {
    let (document, skeleton) = (bench.session().document(), &bench.character().skeleton);
    let edit = |key: &usize| {
        let value = press.curves.value(*key, curve) + by;
        Edit::Keys(press.curves.set_value((document, skeleton), *key, curve, value))
    };
    let mut edits: Vec<Edit> = press.keys.iter().map(edit).collect();
    if edits.len() > 1 { Some(Edit::Group(edits)) } else { edits.pop() }
}

/// Moves the selected keys of the curves in time, and the selection with them.
fn move_keys(
    seconds: f64,
    known: &Known,
    bench: &Workbench,
    (state, pressed): (&mut SheetState, &mut Pressed),
    continues: bool,
) {
    let target = known.curves.target();
    let Some(channel) = bench.session().document().motion().channel(target) else { return };
    let subject = target.subject();
    let own = state.selection.of_row(&subject);
    let times: Vec<f64> = own.iter().copied().filter(|t| channel.key_at(*t).is_ok()).collect();
    let keys = times.iter().map(|&time| KeyAt { target: target.clone(), time }).collect();
    slide(pressed, Edit::Keys(KeyEdit::Move { keys, seconds }), continues);
    state.selection.remove(&subject, &times);
    let moved: Vec<f64> = times.iter().map(|t| f64::from((t + seconds) as f32)).collect();
    state.selection.add(&subject, &moved);
    state.selection.settle();
}

/// Selects what was clicked. With `adds`, a selected key is deselected instead, and other keys stay selected.
fn click(
    what: What,
    adds: bool,
    curves: &KeyCurves,
    (subject, bench): (&Subject, &Workbench),
    selection: &mut Selection,
) {
    let times = match what {
        What::Handle { .. } => return,
        What::Ground => &[],
        What::Key { key, .. } => times_of(bench, subject, curves.times()[key]),
    };
    let was = times.iter().all(|t| has(selection.of_row(subject), *t));
    if !adds {
        *selection = Selection::default();
    }
    if adds && was {
        selection.remove(subject, times);
    } else {
        selection.add(subject, times);
    }
    selection.settle();
}

/// Returns the times of a row of the dope sheet that count as the key at a time.
fn times_of<'a>(bench: &'a Workbench, subject: &Subject, time: f64) -> &'a [f64] {
    let row = bench.timeline().sheet.rows.iter().find(|r| r.subject == *subject);
    row.map_or(&[], |row| &row.times[same_key(&row.times, time)])
}

/// Selects the keys in a box.
fn select_box(
    hold: &Hold,
    plot: &Plot,
    known: &Known,
    shown: &[usize],
    (subject, bench): (&Subject, &Workbench),
    selection: &mut Selection,
) {
    let rect = hold.rect();
    if !hold.adds {
        *selection = Selection::default();
    }
    for key in keys_near(&known.curves, plot, rect.x_range()) {
        if shown.iter().any(|c| rect.contains(plot.key(&known.curves, key, *c))) {
            selection.add(subject, times_of(bench, subject, known.curves.times()[key]));
        }
    }
    selection.settle();
}
