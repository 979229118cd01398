//! The ruler of the dope sheet: the displayed range of time, its marks, and scrubbing.

use super::{SheetState, theme};
use crate::ui::panels::Pressed;
use crate::workbench::{Command, Timeline, Workbench};
use egui::{Event, FontId, PointerButton, Rect, Sense, Stroke, Ui, pos2};

/// Width of the names before the rows, logical pixels of the window.
const NAMES: f32 = 150.0;
/// Width of the names in the headset, pixels.
const NAMES_LARGE: f32 = 190.0;
/// Margin at both ends of the ruler, logical pixels of the window.
pub(super) const END: f32 = 8.0;
/// Distance within which the pointer snaps to a key or an end, logical pixels of the window.
const NEAR: f32 = 4.0;
/// The latest time that a user can type, seconds.
pub(in crate::ui) const LATEST: f64 = 3600.0;
/// Shortest and longest displayed range, seconds.
const RANGES: [f64; 2] = [0.1, LATEST];

/// A drag on the ruler.
pub(super) struct Scrubbing {
    /// The displayed range, seconds. It stays constant during the drag, wherever the playhead moves.
    range: [f64; 2],
    /// The last time that the drag set.
    last: Option<f64>,
}

/// Mapping from times in seconds to positions on the screen.
#[derive(Clone, Copy)]
pub(in crate::ui) struct Span {
    pub left: f32,
    pub width: f32,
    range: [f64; 2],
    near: f32,
}

impl SheetState {
    /// Changes the displayed range by a factor about a time, seconds.
    pub fn zoom(&mut self, timeline: &Timeline, about: f64, factor: f64) {
        let [from, to] = self.range(timeline);
        let about = about.clamp(from, to);
        let length = ((to - from) * factor).clamp(RANGES[0], RANGES[1]);
        let start = (about - (about - from) / (to - from) * length).max(0.0);
        self.view = Some([start, start + length]);
    }

    /// Moves the displayed range later by a number of seconds.
    pub fn scroll(&mut self, timeline: &Timeline, seconds: f64) {
        let [from, to] = self.range(timeline);
        let start = (from + seconds).clamp(0.0, timeline.length.max(timeline.playhead.time));
        if start != from {
            self.view = Some([start, start + to - from]);
        }
    }

    fn range(&self, timeline: &Timeline) -> [f64; 2] {
        let drag = self.scrubbing.as_ref().map(|s| s.range);
        drag.or(self.view).unwrap_or([0.0, timeline.length.max(timeline.playhead.time)])
    }
}

impl Span {
    fn new(ui: &Ui, rect: Rect, timeline: &Timeline, range: [f64; 2]) -> Self {
        let (end, large) = (END * theme::scale(ui), theme::is_large(ui));
        let names = if large { NAMES_LARGE } else { NAMES };
        let left = rect.min.x + if timeline.sheet.rows.is_empty() { end } else { names };
        Self { left, width: (rect.max.x - left - end).max(1.0), range, near: NEAR * theme::scale(ui) }
    }

    pub fn x(&self, time: f64) -> f32 {
        let [from, to] = self.range;
        self.left + self.width * ((time - from) / (to - from)) as f32
    }

    /// Returns the time at a position within the ruler, seconds.
    pub fn time(&self, x: f32) -> f64 {
        let [from, to] = self.range;
        from + f64::from(((x - self.left) / self.width).clamp(0.0, 1.0)) * (to - from)
    }

    /// The displayed range, seconds.
    pub fn range(&self) -> [f64; 2] {
        self.range
    }

    /// Returns the duration of a distance, seconds.
    pub fn seconds(&self, pixels: f32) -> f64 {
        f64::from(pixels / self.width) * (self.range[1] - self.range[0])
    }

    /// Returns the time at a position. Snaps to keys and to the ends of ruler and motion.
    fn near(&self, x: f32, timeline: &Timeline) -> f64 {
        let sheet = &timeline.sheet;
        // Rounds down to a frame, because a frame beyond the ruler's end would lengthen the ruler.
        let rate = f64::from(sheet.rate);
        let [from, to] = self.range;
        let last = (to * rate).floor() / rate;
        let exact = [0.0, last, sheet.duration].into_iter().chain(sheet.columns.iter().copied());
        let exact = exact.filter(|t| (from..=to).contains(t) && (self.x(*t) - x).abs() <= self.near);
        let nearest = exact.min_by(|a, b| (self.x(*a) - x).abs().total_cmp(&(self.x(*b) - x).abs()));
        nearest.unwrap_or_else(|| self.time(x).min(last))
    }

    /// Returns the number of frames between labels of the ruler, at least `apart` pixels from one to the next: a divisor
    /// or a multiple of the frames per second, so that whole seconds have labels.
    fn step(&self, apart: f32, rate: u32) -> f64 {
        let wanted = self.seconds(apart);
        let mut frames = (1..rate).filter(|n| rate.is_multiple_of(*n)).map(f64::from);
        let within = frames.find(|n| *n >= wanted * f64::from(rate));
        within.unwrap_or_else(|| f64::from(rate) * round_up(wanted).max(1.0))
    }
}

/// Returns the smallest of 1, 2 and 5 times a power of 10 that is at least `wanted`, which is positive.
pub(in crate::ui) fn round_up(wanted: f64) -> f64 {
    let power = 10f64.powf(wanted.log10().floor());
    [1.0, 2.0, 5.0, 10.0].map(|f| f * power).into_iter().find(|s| *s >= wanted).unwrap_or(wanted)
}

/// Moves the playhead while the ruler is pressed. Returns the ruler's mapping from seconds to pixels.
pub(super) fn scrub(
    ui: &Ui,
    ruler: Rect,
    bench: &Workbench,
    state: &mut SheetState,
    pressed: &mut Pressed,
) -> Span {
    let timeline = bench.timeline();
    let mut span = Span::new(ui, ruler, timeline, state.range(timeline));
    // The panel's margins belong to the ruler, so that its ends are easy to hit.
    let end = END * theme::scale(ui);
    let room = ruler.with_min_x(span.left - 2.0 * end).with_max_x(ruler.max.x + end);
    let answer = ui.interact(room, ui.id().with("ruler"), Sense::click_and_drag());
    let held = answer.is_pointer_button_down_on() && !ui.input(|i| i.pointer.middle_down());
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
        let range = span.range;
        let scrubbing = state.scrubbing.get_or_insert(Scrubbing { range, last: None });
        span.range = scrubbing.range;
        let time = span.near(at.x, timeline);
        if scrubbing.last.replace(time) != Some(time) {
            pressed.commands.push(Command::Scrub(time));
        }
    }
    if !held {
        state.scrubbing = None;
    }
    span
}

/// Draws the ruler with its labels, the range of playback and the playhead's handle.
pub(super) fn draw(ui: &Ui, rect: Rect, span: &Span, timeline: &Timeline) {
    let (painter, scale) = (ui.painter(), theme::scale(ui));
    let well = Rect::from_min_max(pos2(span.left - END * scale, rect.min.y), rect.max);
    painter.rect_filled(well, 4.0, ui.visuals().extreme_bg_color);
    let painter = painter.with_clip_rect(well.intersect(ui.clip_rect()));
    let [from, to] = span.range;
    if let Some([start, end]) = timeline.playhead.range {
        let band = Rect::from_x_y_ranges(span.x(start)..=span.x(end), rect.max.y - 7.0 * scale..=rect.max.y);
        painter.rect_filled(band, 2.0, theme::GOOD.gamma_multiply(0.7));
    }
    let color = ui.visuals().weak_text_color();
    let frame = timeline.frame();
    if span.x(frame) - span.x(0.0) >= 6.0 * scale {
        let first = (from / frame).ceil();
        let count = ((to - from) / frame).min(1000.0) as usize;
        for i in 0..=count {
            let x = span.x((first + i as f64) * frame);
            painter.vline(
                x,
                rect.min.y..=rect.min.y + 3.0 * scale,
                Stroke::new(1.0, color.gamma_multiply(0.6)),
            );
        }
    }
    let rate = f64::from(timeline.sheet.rate);
    let step = span.step(70.0 * scale, timeline.sheet.rate);
    let first = (from * rate / step).ceil();
    let count = ((to * rate / step).floor() - first).clamp(0.0, 200.0) as usize;
    for i in 0..=count {
        let number = step * (first + i as f64);
        let x = span.x(number / rate);
        painter.vline(x, rect.min.y..=rect.min.y + 5.0 * scale, Stroke::new(1.0, color));
        let font = FontId::proportional(10.5 * scale);
        let text = |text: String, color| painter.layout_no_wrap(text, font.clone(), color);
        let label = text(number.to_string(), color);
        let (wide, y) = (label.size().x, rect.min.y + 4.0 * scale);
        let fits = |end: f32| end < span.left + span.width;
        // The last number stands before its line, because no room is left behind it.
        let start = if fits(x + 3.0 + wide) { x + 3.0 } else { x - 3.0 - wide };
        painter.galley(pos2(start, y), label, color);
        let seconds = number / rate;
        if number > 0.0 && seconds.fract() == 0.0 {
            let label = text(format!("{seconds} s"), color.gamma_multiply(0.6));
            let start = x + 3.0 + wide + 5.0 * scale;
            if fits(start + label.size().x) {
                painter.galley(pos2(start, y), label, color);
            }
        }
    }
    let x = span.x(timeline.playhead.time);
    let handle = pos2(x, rect.min.y + 4.0 * scale);
    // A hollow handle stands where the motion will show; now the edited pose shows.
    let shown = timeline.playhead.shown;
    painter.vline(x, rect.y_range(), Stroke::new(if shown { 2.0 } else { 1.0 }, theme::ACCENT));
    let fill = if shown { theme::ACCENT } else { ui.visuals().extreme_bg_color };
    painter.circle(handle, 4.5 * scale, fill, Stroke::new(1.5, theme::ACCENT));
}
