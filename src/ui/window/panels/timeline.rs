//! The timeline: a ruler with the playhead and a mark at every key time, and below it a row of keys per node.

use super::{Memory, Pressed, Shows, theme, widgets};
use crate::ui::icons::Icon;
use crate::ui::window::keys::Act;
use crate::workbench::{Command, Timeline, Workbench};
use egui::{
    Align2, Color32, Event, FontId, Frame, Margin, Panel, PointerButton, Rect, RichText, ScrollArea, Sense,
    Stroke, Ui, pos2, vec2,
};

/// Width of the names before the rows, logical pixels.
const NAMES: f32 = 150.0;
const RULER: f32 = 30.0;
const ROW: f32 = 17.0;
/// Gap between rows, logical pixels.
const GAP: f32 = 2.0;
/// Height of the panel's margins and borders, logical pixels.
const MARGIN: f32 = 12.0;
/// Margin at both ends of the ruler, logical pixels.
const END: f32 = 8.0;
/// Distance within which the mouse snaps to a key or an end, logical pixels.
const NEAR: f32 = 4.0;
/// Number of rows visible without scrolling.
const ROWS: usize = 5;

pub(super) fn show(
    ui: &mut Ui,
    shows: &Shows<'_>,
    bench: &Workbench,
    memory: &mut Memory,
    pressed: &mut Pressed,
) {
    let timeline = bench.timeline();
    let sheet = &timeline.sheet;
    let frame = Frame::new().fill(ui.visuals().panel_fill).inner_margin(Margin::symmetric(8, 5));
    // A timeline with keys sets the panel's exact size. Otherwise egui would keep the size that the panel had before
    // the first key.
    let rows = sheet.rows.len().min(ROWS);
    let mut panel = Panel::bottom(if rows == 0 { "timeline" } else { "keys" }).frame(frame).resizable(false);
    if rows > 0 {
        panel = panel.exact_size(RULER + GAP + RULER + (ROW + GAP) * rows as f32 + MARGIN);
    }
    panel.show(ui, |ui| {
        ui.spacing_mut().item_spacing.y = GAP;
        ui.allocate_ui(vec2(ui.available_width(), RULER), |ui| {
            ui.set_min_height(RULER);
            ui.style_mut().wrap_mode = Some(egui::TextWrapMode::Extend);
            ui.horizontal_centered(|ui| controls(ui, shows, bench, pressed));
        });
        let (ruler, _) = ui.allocate_exact_size(vec2(ui.available_width(), RULER), Sense::hover());
        let span = scrub(ui, ruler, bench, memory, pressed);
        self::ruler(ui, ruler, &span, timeline);
        ScrollArea::vertical().id_salt("dope").auto_shrink([false, rows == 0]).show(ui, |ui| {
            for row in &sheet.rows {
                let (rect, _) = ui.allocate_exact_size(vec2(ui.available_width(), ROW), Sense::hover());
                let color = ui.visuals().weak_text_color();
                let name = rect.with_max_x(rect.min.x + NAMES - 8.0);
                let print = ui.painter().with_clip_rect(name.intersect(ui.clip_rect()));
                print.text(
                    name.left_center(),
                    Align2::LEFT_CENTER,
                    &row.label,
                    FontId::proportional(12.0),
                    color,
                );
                for time in &row.times {
                    diamond(ui, pos2(span.x(*time), rect.center().y), 3.5, theme::FAIR);
                }
            }
        });
    });
}

fn controls(ui: &mut Ui, shows: &Shows<'_>, bench: &Workbench, pressed: &mut Pressed) {
    let timeline = bench.timeline();
    let playhead = timeline.playhead;
    let icon = if playhead.playing { Icon::Pause } else { Icon::Play };
    for (act, icon, on) in [(Act::Play, icon, playhead.playing), (Act::Key, Icon::Key, false)] {
        let answer = widgets::icon(ui, icon, 24.0, on, true).on_hover_text(shows.tip(act));
        pressed.act(act, answer.clicked());
    }
    let (time, rate) = (playhead.time, timeline.sheet.rate);
    let frame = (time * f64::from(rate)).round();
    ui.label(RichText::new(format!("{time:.2} s   frame {frame:.0} at {rate}")).monospace().size(12.0));
    let path = bench.preferences().path;
    let tip = "Shows the path of the selected joint through the motion";
    if ui.selectable_label(path, "Motion path").on_hover_text(tip).clicked() {
        pressed.shared.commands.push(Command::MotionPath(!path));
    }
    if bench.shown_time().is_some() {
        ui.separator();
        ui.label(RichText::new("shows this time").color(theme::FAIR).small());
        let tip = shows.tip(Act::TakePose);
        pressed.act(Act::TakePose, ui.small_button("Edit this pose").on_hover_text(tip).clicked());
        pressed.act(Act::Cancel, ui.small_button("Back to the pose").on_hover_text("Escape").clicked());
    }
}

/// A drag on the ruler.
pub(in crate::ui::window) struct Scrubbing {
    /// Length of the ruler, seconds. It stays constant during the drag, wherever the playhead moves.
    end: f64,
    /// The last time that the drag set.
    last: Option<f64>,
}

/// Moves the playhead while the ruler is pressed. Returns the ruler's mapping from seconds to pixels.
fn scrub(ui: &Ui, ruler: Rect, bench: &Workbench, memory: &mut Memory, pressed: &mut Pressed) -> Span {
    let timeline = bench.timeline();
    let mut span = Span::new(ruler, timeline);
    // The panel's margins belong to the ruler, so that its ends are easy to hit.
    let room = ruler.with_min_x(span.left - 2.0 * END).with_max_x(ruler.max.x + END);
    let answer = ui.interact(room, ui.id().with("ruler"), Sense::click_and_drag());
    let held = answer.is_pointer_button_down_on();
    // If press and release come in one frame at different places, egui reports neither a click nor a drag.
    let quick = ui.input(|i| {
        let button = |down: bool| {
            i.events.iter().find_map(|e| match e {
                Event::PointerButton { pos, button: PointerButton::Primary, pressed, .. } => {
                    (*pressed == down).then_some(*pos)
                }
                _ => None,
            })
        };
        button(true).filter(|pos| room.contains(*pos)).zip(button(false))
    });
    let on_top = |pos| ui.ctx().layer_id_at(pos).is_none_or(|layer| layer == ui.layer_id());
    let at = if held || answer.clicked() || answer.drag_stopped() {
        answer.interact_pointer_pos()
    } else {
        quick.filter(|(pos, _)| on_top(*pos)).map(|(_, end)| end)
    };
    if let Some(at) = at {
        let scrubbing = memory.scrubbing.get_or_insert(Scrubbing { end: span.end, last: None });
        span.end = scrubbing.end;
        let time = span.near(at.x, timeline);
        if scrubbing.last.replace(time) != Some(time) {
            pressed.shared.commands.push(Command::Scrub(time));
        }
    }
    if !held {
        memory.scrubbing = None;
    }
    span
}

/// Mapping from times in seconds to positions on the screen.
struct Span {
    left: f32,
    width: f32,
    end: f64,
}

impl Span {
    fn new(rect: Rect, timeline: &Timeline) -> Self {
        let left = rect.min.x + if timeline.sheet.rows.is_empty() { END } else { NAMES };
        let end = timeline.length.max(timeline.playhead.time);
        Self { left, width: (rect.max.x - left - END).max(1.0), end }
    }

    fn x(&self, time: f64) -> f32 {
        self.left + self.width * (time / self.end) as f32
    }

    fn time(&self, x: f32) -> f64 {
        f64::from(((x - self.left) / self.width).clamp(0.0, 1.0)) * self.end
    }

    /// Returns the time at a position. Snaps to keys and to the ends of ruler and motion.
    fn near(&self, x: f32, timeline: &Timeline) -> f64 {
        let sheet = &timeline.sheet;
        // Rounds down to a frame, because a frame beyond the ruler's end would lengthen the ruler.
        let rate = f64::from(sheet.rate);
        let last = (self.end * rate).floor() / rate;
        let exact = [0.0, last, sheet.duration].into_iter().chain(sheet.columns.iter().copied());
        let exact = exact.filter(|t| (0.0..=self.end).contains(t) && (self.x(*t) - x).abs() <= NEAR);
        let nearest = exact.min_by(|a, b| (self.x(*a) - x).abs().total_cmp(&(self.x(*b) - x).abs()));
        nearest.unwrap_or_else(|| self.time(x).min(last))
    }

    /// Returns the seconds between labels of the ruler, at least 70 logical pixels apart.
    fn step(&self) -> f64 {
        let wanted = self.end * 70.0 / f64::from(self.width);
        let power = 10.0_f64.powf(wanted.log10().floor());
        [1.0, 2.0, 5.0, 10.0].map(|f| f * power).into_iter().find(|s| *s >= wanted).unwrap_or(wanted)
    }
}

fn ruler(ui: &Ui, rect: Rect, span: &Span, timeline: &Timeline) {
    let painter = ui.painter();
    let well = Rect::from_min_max(pos2(span.left - END, rect.min.y), rect.max);
    painter.rect_filled(well, 4.0, ui.visuals().extreme_bg_color);
    let color = ui.visuals().weak_text_color();
    let step = span.step();
    let count = (span.end / step).floor().min(200.0) as usize;
    for i in 0..=count {
        let time = step * i as f64;
        let x = span.x(time);
        painter.vline(x, rect.min.y..=rect.min.y + 5.0, Stroke::new(1.0, color));
        let text = format!("{}", (time * 1000.0).round() / 1000.0);
        painter.text(
            pos2(x + 3.0, rect.min.y + 1.0),
            Align2::LEFT_TOP,
            text,
            FontId::proportional(10.5),
            color,
        );
    }
    for time in &timeline.sheet.columns {
        diamond(ui, pos2(span.x(*time), rect.max.y - 9.0), 5.0, theme::FAIR);
    }
    let x = span.x(timeline.playhead.time);
    painter.vline(x, rect.y_range(), Stroke::new(2.0, theme::ACCENT));
    painter.circle_filled(pos2(x, rect.min.y + 4.0), 4.5, theme::ACCENT);
}

fn diamond(ui: &Ui, at: egui::Pos2, size: f32, color: Color32) {
    let corner = |x: f32, y: f32| at + vec2(x, y) * size;
    let points = vec![corner(0.0, -1.0), corner(1.0, 0.0), corner(0.0, 1.0), corner(-1.0, 0.0)];
    ui.painter().add(egui::Shape::convex_polygon(points, color, Stroke::NONE));
}
