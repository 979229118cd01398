//! Press, drag and release on the rows of the dope sheet. One target covers all rows; the position of a press decides what
//! it acts on.

use super::selection::{has, same_key};
use super::sheet::Grid;
use super::span::Span;
use super::{Selection, SheetState, frame_near, theme};
use crate::document::{DopeSheet, Edit, KeyEdit};
use crate::ui::panels::Pressed;
use crate::workbench::{Timeline, Workbench};
use egui::{Pos2, Rect, Response, Stroke, StrokeKind, Ui};

/// Largest movement of a click, logical pixels of the window.
const CLICK: f32 = 4.0;

/// What a press acts on. A row is `None` for the summary row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum What {
    Key {
        row: Option<usize>,
        time: f64,
    },
    Name(Option<usize>),
    /// The handle at the first (0) or last (1) selected key.
    Handle(usize),
    Ground,
}

/// A press on the rows that has not ended.
pub(super) struct Press {
    what: What,
    hold: Hold,
}

/// The movement of a press on the rows or on the curves.
pub(super) struct Hold {
    pub from: Pos2,
    pub to: Pos2,
    /// Whether the pointer has left the place of the press.
    pub moved: bool,
    /// Whether the press adds to the selection.
    pub adds: bool,
}

impl Hold {
    pub fn new(from: Pos2, adds: bool) -> Self {
        Self { from, to: from, moved: false, adds }
    }

    /// Follows the pointer. Returns whether the pointer has just left the place of the press.
    pub fn follow(&mut self, ui: &Ui) -> bool {
        if let Some(to) = ui.input(|i| i.pointer.interact_pos()).filter(|to| *to != self.to) {
            self.to = to;
            ui.ctx().request_repaint();
        }
        // The headset's pointer already ignores small movements.
        let far = if theme::is_large(ui) { 0.5 } else { CLICK };
        let leaves = !self.moved && self.from.distance(self.to) > far;
        self.moved |= leaves;
        leaves
    }

    /// The box from the press to the pointer.
    pub fn rect(&self) -> Rect {
        Rect::from_two_pos(self.from, self.to)
    }

    /// Draws the box inside `body`.
    pub fn draw(&self, ui: &Ui, body: Rect) {
        let rect = self.rect().intersect(body);
        ui.painter().rect_filled(rect, 1.0, theme::ACCENT.gamma_multiply(0.2));
        ui.painter().rect_stroke(rect, 1.0, Stroke::new(1.0, theme::ACCENT), StrokeKind::Inside);
    }
}

/// Returns whether the primary button is held on a target, and whether a press adds to the selection; `None` until the button
/// of a cancelled drag is up.
pub(super) fn button(ui: &Ui, answer: &Response, state: &mut SheetState) -> Option<(bool, bool)> {
    let (adds, primary) = ui.input(|i| (i.modifiers.shift, i.pointer.primary_down()));
    let held = answer.is_pointer_button_down_on() && primary;
    if state.dropped {
        state.dropped = held;
        return None;
    }
    Some((held, adds || state.adds))
}

/// The change of time that a drag will give to the selected keys.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Shift {
    None,
    Move(f64),
    Scale { pivot: f64, factor: f64 },
}

impl Shift {
    pub fn at(self, time: f64) -> f64 {
        match self {
            Self::None => time,
            Self::Move(seconds) => time + seconds,
            Self::Scale { pivot, factor } => pivot + (time - pivot) * factor,
        }
    }
}

/// Returns the change of time that the drag under way gives.
pub(super) fn shift(state: &SheetState, span: &Span, timeline: &Timeline) -> Shift {
    let (Some(press), Some([first, last])) = (&state.press, state.selection.ends()) else {
        return Shift::None;
    };
    let snap = |t: f64| if state.free { t } else { frame_near(t, timeline) };
    let by = span.seconds(press.hold.to.x - press.hold.from.x);
    match press.what {
        _ if !press.hold.moved => Shift::None,
        What::Key { time, .. } => Shift::Move((snap(time + by) - time).max(-first)),
        What::Handle(side) => {
            let (end, pivot) = if side == 0 { (first, last) } else { (last, first) };
            // The keys keep their order: the end stays one frame away from the other end.
            let frame = timeline.frame().min((last - first).abs());
            let to = snap(end + by);
            let to = if side == 0 { to.clamp(0.0, (last - frame).max(0.0)) } else { to.max(first + frame) };
            Shift::Scale { pivot, factor: (to - pivot) / (end - pivot) }
        }
        _ => Shift::None,
    }
}

/// Draws the box of a drag on empty ground.
pub(super) fn draw(ui: &Ui, body: Rect, state: &SheetState) {
    if let Some(press) = state.press.as_ref().filter(|p| p.hold.moved && is_box(p.what)) {
        press.hold.draw(ui, body);
    }
}

fn is_box(what: What) -> bool {
    matches!(what, What::Ground | What::Name(_))
}

/// Runs press, drag and release on the rows.
pub(super) fn run(
    ui: &Ui,
    answer: &Response,
    grid: &Grid,
    bench: &Workbench,
    state: &mut SheetState,
    pressed: &mut Pressed,
) {
    let timeline = bench.timeline();
    let sheet = &timeline.sheet;
    let Some((held, adds)) = button(ui, answer, state) else { return };
    if let (true, None, Some(from)) = (held, &state.press, answer.interact_pointer_pos()) {
        let what = grid.what(ui, from, sheet, &state.selection);
        state.press = Some(Press { what, hold: Hold::new(from, adds) });
        ui.ctx().request_repaint();
    } else if let (true, None, Some(from)) = (answer.clicked(), &state.press, answer.interact_pointer_pos()) {
        // Press and release came in one frame.
        click(grid.what(ui, from, sheet, &state.selection), adds, sheet, &mut state.selection);
        ui.ctx().request_repaint();
    }
    let Some(press) = &mut state.press else { return };
    if press.hold.follow(ui)
        && let What::Key { row, time } = press.what
    {
        let rows = row.map_or(0..sheet.rows.len(), |row| row..row + 1);
        let mut there = sheet.rows[rows].iter().filter(|row| has(&row.times, time));
        let own = there.all(|row| has(state.selection.of_row(&row.subject), time));
        // A drag of a key that is not selected selects it first; a key of the summary row stands for all keys at its time.
        if !own {
            click(press.what, press.hold.adds, sheet, &mut state.selection);
        }
    }
    if held {
        return;
    }
    let shift = shift(state, &grid.span, timeline);
    let Some(press) = state.press.take() else { return };
    ui.ctx().request_repaint();
    if !press.hold.moved {
        click(press.what, press.hold.adds, sheet, &mut state.selection);
    } else if is_box(press.what) {
        select_box(&press.hold, grid, sheet, &mut state.selection);
    } else if let Some(edit) = moved(shift, bench, &state.selection) {
        state.move_selection(bench, |t| shift.at(t));
        pressed.edit(edit, false);
    }
}

/// Returns the edit of a finished drag; `None` if no key changes its time.
fn moved(shift: Shift, bench: &Workbench, selection: &Selection) -> Option<Edit> {
    let keys = selection.keys(bench.session().document());
    let edit = match shift {
        Shift::Move(seconds) if seconds != 0.0 => KeyEdit::Move { keys, seconds },
        Shift::Scale { pivot, factor } if factor != 1.0 && factor.is_finite() => {
            KeyEdit::Scale { keys, pivot, factor }
        }
        _ => return None,
    };
    Some(Edit::Keys(edit))
}

/// Selects what was clicked. With `adds`, a selected key is deselected instead, and other keys stay selected.
fn click(what: What, adds: bool, sheet: &DopeSheet, selection: &mut Selection) {
    let before = if adds { selection.clone() } else { Selection::default() };
    let rows = match what {
        What::Handle(_) => return,
        What::Ground => 0..0,
        What::Key { row: Some(row), .. } | What::Name(Some(row)) => row..row + 1,
        What::Key { row: None, .. } | What::Name(None) => 0..sheet.rows.len(),
    };
    if !adds {
        *selection = Selection::default();
    }
    let of = |row: usize| {
        let times = &sheet.rows[row].times;
        if let What::Key { time, .. } = what { &times[same_key(times, time)] } else { &times[..] }
    };
    let all = |row: usize| of(row).iter().all(|t| has(before.of_row(&sheet.rows[row].subject), *t));
    let deselects = adds && !rows.is_empty() && rows.clone().all(all);
    for row in rows {
        let subject = &sheet.rows[row].subject;
        if deselects {
            selection.remove(subject, of(row));
        } else {
            selection.add(subject, of(row));
        }
    }
    selection.settle();
}

/// Selects the keys in a box. A box that reaches the summary row selects whole columns.
fn select_box(hold: &Hold, grid: &Grid, sheet: &DopeSheet, selection: &mut Selection) {
    let rect = hold.rect();
    let whole = rect.min.y <= grid.summary.max.y;
    if !hold.adds {
        *selection = Selection::default();
    }
    for (index, row) in sheet.rows.iter().enumerate() {
        let y = grid.top + index as f32 * grid.step;
        if whole || (y <= rect.max.y && y + grid.step >= rect.min.y) {
            let from = row.times.partition_point(|t| grid.span.x(*t) < rect.min.x);
            let count = row.times[from..].partition_point(|t| grid.span.x(*t) <= rect.max.x);
            selection.add(&row.subject, &row.times[from..from + count]);
        }
    }
    selection.settle();
}
