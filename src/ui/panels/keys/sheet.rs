//! The rows of the dope sheet: a summary row with all key times, and one row per subject. Only rows and keys in view are
//! laid out.

use super::press::{self, Shift, What};
use super::selection::has;
use super::span::{self, END, Span};
use super::{Selection, SheetState, theme, widgets};
use crate::document::{DopeSheet, Row, Subject};
use crate::ui::panels::Pressed;
use crate::workbench::{Timeline, Workbench};
use egui::{Align2, Color32, FontId, Pos2, Rect, Sense, Shape, Stroke, Ui, pos2, vec2};

/// Height of the ruler, logical pixels of the window.
pub(in crate::ui) const RULER: f32 = 30.0;
/// Half the width of a key, logical pixels of the window.
const KEY: f32 = 4.5;
/// Distance between the selection's first or last key and the handle that scales the selection, logical pixels of the
/// window.
const HANDLE: f32 = 15.0;
/// Position of the ruler and its mapping of time.
pub(in crate::ui) struct Header {
    pub(super) rect: Rect,
    pub(super) span: Span,
    /// Distance by which the header has moved down, because the panel has scrolled.
    shift: f32,
}

/// Positions of the rows.
pub(super) struct Grid {
    pub span: Span,
    pub summary: Rect,
    /// Upper edge of the first row, which may be scrolled out of view.
    pub top: f32,
    /// Distance between rows.
    pub step: f32,
    /// Distance within which a press meets a key.
    reach: f32,
}

/// Lays out the ruler and lets it move the playhead. [`rows`] draws it.
pub(in crate::ui) fn ruler(
    ui: &mut Ui,
    bench: &Workbench,
    state: &mut SheetState,
    pressed: &mut Pressed,
) -> Header {
    let size = vec2(ui.available_width(), (RULER * theme::scale(ui)).round());
    let (rect, _) = ui.allocate_exact_size(size, Sense::hover());
    // The header stays in view while the headset's panel scrolls.
    let shift = if theme::is_large(ui) { (ui.clip_rect().min.y - rect.min.y).max(0.0) } else { 0.0 };
    let rect = rect.translate(vec2(0.0, shift));
    let span = span::scrub(ui, rect, bench, state, pressed);
    Header { rect, span, shift }
}

/// Draws summary row and rows below the ruler, and runs their input. In the window, the rows scroll within `height`.
pub(in crate::ui) fn rows(
    ui: &mut Ui,
    bench: &Workbench,
    state: &mut SheetState,
    pressed: &mut Pressed,
    header: Header,
    height: f32,
) {
    let timeline = bench.timeline();
    let sheet = &timeline.sheet;
    if sheet.rows.is_empty() {
        (state.press, state.over) = (None, false);
        navigate(ui, header.rect, header.rect, &header.span, state, timeline);
        span::draw(ui, header.rect, &header.span, timeline);
        if theme::is_large(ui) {
            ui.label(egui::RichText::new("No keys yet: key a pose on the palette's Time page.").weak());
        }
        return;
    }
    let (row, gap) = (theme::row(ui), ui.spacing().item_spacing.y);
    let (summary, _) = ui.allocate_exact_size(vec2(ui.available_width(), row), Sense::hover());
    let mut grid = Grid {
        span: header.span,
        summary: summary.translate(vec2(0.0, header.shift)),
        top: summary.max.y + gap,
        step: row + gap,
        reach: if theme::is_large(ui) { 0.5 * row } else { 7.0 },
    };
    let shift = press::shift(state, &grid.span, timeline);
    let selected = bench.selected().map(Subject::Node);
    let is_selected = |row: &Row| Some(&row.subject) == selected.as_ref();
    let comes_into_view = std::mem::replace(&mut state.joint, bench.selected()) != bench.selected();
    widgets::list(ui, "keys", (height, false), sheet.rows.len(), |ui, range| {
        // The row of a joint comes into view when the user selects the joint.
        let place =
            sheet.rows.iter().position(is_selected).filter(|_| comes_into_view && !theme::is_large(ui));
        if let Some(index) = place {
            let top = ui.cursor().min + vec2(0.0, (index as f32 - range.start as f32) * grid.step);
            ui.scroll_to_rect(Rect::from_min_size(top, vec2(1.0, row)), None);
        }
        for index in range {
            let (rect, _) = ui.allocate_exact_size(vec2(ui.available_width(), row), Sense::hover());
            grid.top = rect.min.y - index as f32 * grid.step;
            let line = &sheet.rows[index];
            let own = state.selection.of_row(&line.subject);
            ground(ui, rect, &grid.span, &line.label, (index % 2 == 1, is_selected(line)));
            keys(ui, rect, &grid.span, &line.times, |t| has(own, t), shift);
        }
    });
    let bottom = (ui.cursor().min.y - gap).min(ui.clip_rect().max.y).max(grid.summary.max.y);
    let right = summary.max.x - END * theme::scale(ui);
    let body = Rect::from_min_max(grid.summary.min, pos2(right, bottom));
    if header.shift > 0.0 {
        let back = header.rect.union(grid.summary);
        ui.painter().rect_filled(back, 0.0, ui.visuals().panel_fill);
    }
    span::draw(ui, header.rect, &grid.span, timeline);
    ground(ui, grid.summary, &grid.span, &super::summary(&state.selection, sheet), (true, false));
    keys(ui, grid.summary, &grid.span, &sheet.columns, |t| state.selection.has_column(t), shift);
    let x = grid.span.x(timeline.playhead.time);
    let inside = body.with_min_x(grid.span.left);
    ui.painter().with_clip_rect(inside).vline(x, inside.y_range(), Stroke::new(1.0, theme::ACCENT));
    handles(ui, &grid, &state.selection, shift);
    navigate(ui, header.rect.union(body), header.rect.union(grid.summary), &grid.span, state, timeline);
    let answer = ui.interact(body, ui.id().with("rows"), Sense::click_and_drag());
    state.over = ui.rect_contains_pointer(body);
    press::run(ui, &answer, &grid, bench, state, pressed);
    press::draw(ui, body, state);
}

/// Draws the ground of a row with its name, which is `lit` for the selected joint.
fn ground(ui: &Ui, rect: Rect, span: &Span, name: &str, (dark, lit): (bool, bool)) {
    let scale = theme::scale(ui);
    let well = rect.with_min_x(span.left - END * scale);
    let fill = ui.visuals().extreme_bg_color.gamma_multiply(if dark { 0.8 } else { 0.4 });
    ui.painter().rect_filled(well, 2.0, fill);
    let name_rect = rect.with_max_x(span.left - END * scale - 4.0);
    let painter = ui.painter().with_clip_rect(name_rect.intersect(ui.clip_rect()));
    let color = if lit { theme::ACCENT } else { ui.visuals().text_color() };
    let font = FontId::proportional(12.0 * scale.min(2.0));
    let name = widgets::elided(name, (name_rect.width() / (widgets::LETTER * font.size)) as usize);
    painter.text(name_rect.left_center(), Align2::LEFT_CENTER, name, font, color);
}

/// Draws the keys of a row that are in view.
fn keys(ui: &Ui, rect: Rect, span: &Span, times: &[f64], selected: impl Fn(f64) -> bool, shift: Shift) {
    let size = KEY * theme::scale(ui);
    let track = rect.with_min_x(span.left - 2.0 * size);
    let painter = ui.painter().with_clip_rect(track.intersect(ui.clip_rect()));
    let visible = if shift == Shift::None {
        let from = times.partition_point(|t| span.x(*t) < track.min.x);
        let count = times[from..].partition_point(|t| span.x(*t) <= track.max.x);
        &times[from..from + count]
    } else {
        times
    };
    let strong = ui.visuals().strong_text_color();
    // Keys closer than a pixel look like one.
    let mut last = [f32::NEG_INFINITY; 2];
    for &time in visible {
        let on = selected(time);
        let x = span.x(if on { shift.at(time) } else { time });
        if x - last[usize::from(on)] < 1.0 && x >= last[usize::from(on)] {
            continue;
        }
        last[usize::from(on)] = x;
        let (color, stroke) =
            if on { (theme::ACCENT, Stroke::new(1.5, strong)) } else { (theme::FAIR, Stroke::NONE) };
        painter.add(diamond(pos2(x, rect.center().y), size, color, stroke));
    }
}

/// Returns a diamond.
pub(in crate::ui::panels) fn diamond(at: Pos2, size: f32, color: Color32, stroke: Stroke) -> Shape {
    let corner = |x: f32, y: f32| at + vec2(x, y) * size;
    let points = vec![corner(0.0, -1.0), corner(1.0, 0.0), corner(0.0, 1.0), corner(-1.0, 0.0)];
    Shape::convex_polygon(points, color, stroke)
}

/// Returns the positions of the handles that scale the selection; `None` if all selected keys have one time.
fn handle_places(ui: &Ui, grid: &Grid, selection: &Selection, shift: Shift) -> Option<[Pos2; 2]> {
    let [first, last] = selection.ends().filter(|[first, last]| first < last)?;
    let away = HANDLE * theme::scale(ui);
    let y = grid.summary.center().y;
    let x = |time: f64| grid.span.x(shift.at(time));
    Some([pos2(x(first) - away, y), pos2(x(last) + away, y)])
}

fn handles(ui: &Ui, grid: &Grid, selection: &Selection, shift: Shift) {
    let Some(places) = handle_places(ui, grid, selection, shift) else { return };
    let size = KEY * theme::scale(ui);
    for (at, side) in places.into_iter().zip([-1.0, 1.0]) {
        let points = vec![at + vec2(0.0, -size), at + vec2(side * size, 0.0), at + vec2(0.0, size)];
        ui.painter().add(Shape::convex_polygon(points, theme::ACCENT, Stroke::NONE));
        let y = grid.summary.y_range().shrink(2.0);
        ui.painter().vline(at.x, y, Stroke::new(2.0, theme::ACCENT));
    }
}

/// Zooms and scrolls the time. A wheel over ruler or summary row, or with Ctrl, zooms about the pointer. A wheel with
/// Shift, a drag by the middle button, or the headset's stick scrolls.
pub(super) fn navigate(
    ui: &Ui,
    whole: Rect,
    header: Rect,
    span: &Span,
    state: &mut SheetState,
    timeline: &Timeline,
) {
    let pan = std::mem::take(&mut state.pan);
    if pan != 0.0 {
        state.scroll(timeline, span.seconds(pan));
    }
    let Some(at) = ui.input(|i| i.pointer.hover_pos()).filter(|_| ui.rect_contains_pointer(whole)) else {
        return;
    };
    let (zoom, wheel, drag) = ui.input(|i| {
        let drag = if i.pointer.middle_down() { i.pointer.delta().x } else { 0.0 };
        (i.zoom_delta(), i.smooth_scroll_delta(), drag)
    });
    let turned = if header.contains(at) { (wheel.y / 200.0).exp() } else { 1.0 };
    let factor = f64::from(zoom * turned);
    if factor != 1.0 && factor > 0.0 {
        state.zoom(timeline, span.time(at.x), 1.0 / factor);
    }
    if wheel.x + drag != 0.0 {
        state.scroll(timeline, -span.seconds(wheel.x + drag));
    }
}

impl Grid {
    /// Returns the row at a height; `None` within the summary row.
    fn row(&self, y: f32, sheet: &DopeSheet) -> Option<usize> {
        let row = ((y - self.top) / self.step).floor().max(0.0) as usize;
        (y > self.summary.max.y).then_some(row.min(sheet.rows.len().saturating_sub(1)))
    }

    /// Returns what a press at a position acts on.
    pub fn what(&self, ui: &Ui, at: Pos2, sheet: &DopeSheet, selection: &Selection) -> What {
        let row = self.row(at.y, sheet);
        let times = row.map_or(&sheet.columns, |row| &sheet.rows[row].times);
        let after = times.partition_point(|t| self.span.x(*t) < at.x);
        let beside = times[after.saturating_sub(1)..].iter().take(2).copied();
        let far = |t: f64| (self.span.x(t) - at.x).abs();
        let near = beside.filter(|t| far(*t) <= self.reach).min_by(|a, b| far(*a).total_cmp(&far(*b)));
        let handles = handle_places(ui, self, selection, Shift::None).filter(|_| row.is_none());
        let away = |side: usize| handles.map_or(f32::INFINITY, |h| (h[side].x - at.x).abs());
        let side = usize::from(away(1) < away(0));
        match near {
            _ if away(side) <= self.reach.min(HANDLE * 2.0) && near.is_none_or(|t| away(side) < far(t)) => {
                What::Handle(side)
            }
            Some(time) => What::Key { row, time },
            None if at.x < self.span.left - END => What::Name(row),
            None => What::Ground,
        }
    }
}
