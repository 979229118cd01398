//! The plot of the curves: its mapping of values, the sampled curves, and the places of keys and handles.

use super::values::Unit;
use super::{Known, color};
use crate::asset::Interpolation;
use crate::document::KeyCurves;
use crate::ui::panels::keys::span::{END, Span, round_up};
use crate::ui::theme;
use crate::workbench::Timeline;
use egui::{Align2, FontId, Painter, Pos2, Rect, Shape, Stroke, Ui, pos2, vec2};

/// Distance between samples of a curve, logical pixels of the window.
const SAMPLE: f32 = 2.0;
/// Radius of a key, logical pixels of the window.
const KEY: f32 = 4.0;
/// Length of a handle in the window and in the headset, pixels.
const HANDLE: [f32; 2] = [40.0, 75.0];
/// Shortest handle, as a share of its length; handles near the plot's edge or another key are shorter.
const SHORTEST: f32 = 0.35;
/// Largest part of the time between two keys that a handle covers.
const SHARE: f32 = 0.45;
/// Distance between keys below which they have no handles, logical pixels of the window.
const NEAREST: f32 = 10.0;
/// Margin above and below the values, as a share of the plot's height.
const MARGIN: f64 = 0.16;
/// Distance between lines of the value axis, logical pixels of the window.
const LINES: f32 = 30.0;
/// Interval before a key at which a STEP curve is sampled, seconds.
const JUMP: f64 = 1e-7;
/// Number of selected keys in view above which handles do not show.
const MOST_HANDLES: usize = 100;

/// The place of a plot.
#[derive(Clone, Copy)]
pub(super) struct Room {
    pub rect: Rect,
    pub span: Span,
    pub scale: f32,
}

/// The curves, sampled for a range of time.
#[derive(Default)]
pub(super) struct View {
    /// First and last time in seconds, the interval between samples, and the time by which a drag moves keys.
    of: [f64; 4],
    times: Vec<f64>,
    /// The values of all curves per time.
    values: Vec<f64>,
}

/// Mapping between times and values, and places on the screen.
#[derive(Clone, Copy)]
pub(super) struct Plot {
    pub room: Room,
    /// Lowest and highest value, units of the document.
    pub range: [f64; 2],
    pub large: bool,
}

impl Plot {
    pub fn at(&self, time: f64, value: f64) -> Pos2 {
        let [low, high] = self.range;
        let share = ((value - low) / (high - low)).clamp(-1e3, 1e3) as f32;
        pos2(self.room.span.x(time), self.room.rect.max.y - share * self.room.rect.height())
    }

    /// Returns the value at a height on the screen.
    pub fn value(&self, y: f32) -> f64 {
        self.range[0] + self.values(y - self.room.rect.max.y)
    }

    /// Returns the difference of values over a distance downwards.
    pub fn values(&self, pixels: f32) -> f64 {
        f64::from(-pixels / self.room.rect.height()) * (self.range[1] - self.range[0])
    }

    /// Distance within which a press meets a key or a handle, pixels.
    pub fn reach(&self, ui: &Ui) -> f32 {
        if self.large { 0.5 * theme::row(ui) } else { 8.0 }
    }

    pub fn key(&self, curves: &KeyCurves, key: usize, curve: usize) -> Pos2 {
        self.at(curves.times()[key], curves.value(key, curve))
    }

    /// Returns the end of the handle before (side 0) or after (side 1) a key; `None` also if the next key is too near.
    pub fn handle(&self, curves: &KeyCurves, key: usize, curve: usize, side: usize) -> Option<Pos2> {
        let slope = curves.slope(key, curve, side)?;
        let from = self.key(curves, key, curve);
        let next = (key + side).checked_sub(1).map(|first| if side == 0 { first } else { first + 1 })?;
        let gap = (self.room.span.x(*curves.times().get(next)?) - from.x).abs();
        if gap < NEAREST * self.room.scale {
            return None;
        }
        let right = self.room.span.x(1.0) - self.room.span.x(0.0);
        let down = (-slope / (self.range[1] - self.range[0])) as f32 * self.room.rect.height();
        let way = vec2(right, down).normalized() * if side == 0 { -1.0 } else { 1.0 };
        let length = HANDLE[usize::from(self.large)];
        // The end stays within the plot and before the middle between the keys.
        let inside = self.room.rect.shrink(KEY * self.room.scale);
        let edge = if way.y > 0.0 { inside.max.y } else { inside.min.y };
        let to_edge = if way.y.abs() > 1e-3 { ((edge - from.y) / way.y).max(0.0) } else { length };
        let to_middle = SHARE * gap / way.x.abs().max(1e-3);
        Some(from + way * to_edge.min(to_middle).clamp(SHORTEST * length, length))
    }
}

impl Known {
    /// Samples the curves for the plot, as densely as its pixels need. Without a range of values, fits the range to the curves.
    pub fn plot(&mut self, ui: &Ui, room: Room, shown: &[usize], range: Option<[f64; 2]>) -> Plot {
        let [from, to] = room.span.range();
        let step = room.span.seconds(SAMPLE * room.scale);
        let seconds = self.moved.as_ref().map_or(0.0, |m| m.0);
        let of = [from, to, step, seconds];
        if self.view.of != of {
            let View { mut times, mut values, .. } = std::mem::take(&mut self.view);
            times.clear();
            values.clear();
            let curves = self.drawn();
            sample_times([from, to], step, curves, &mut times);
            curves.sample(&times, &mut values);
            self.view = View { of, times, values };
        }
        let large = theme::is_large(ui);
        let range = range.unwrap_or_else(|| self.fit(shown));
        Plot { room, range, large }
    }

    /// Returns the range of the values that show, with a margin.
    fn fit(&self, shown: &[usize]) -> [f64; 2] {
        let unit = self.unit;
        let rows = self.view.values.chunks_exact(self.curves.count().max(1));
        let values = rows.flat_map(|row| shown.iter().map(|c| row[*c]));
        let (low, high) = values.fold((f64::MAX, f64::MIN), |(a, b), v| (a.min(v), b.max(v)));
        let (low, high) = if low <= high { (low, high) } else { (0.0, 0.0) };
        let least = unit.least / unit.factor;
        let size = (high - low).max(least).max(1e-4 * low.abs().max(high.abs()));
        let middle = 0.5 * (low + high);
        let half = 0.5 * size / (1.0 - 2.0 * MARGIN);
        [middle - half, middle + half]
    }
}

/// Finds the times at which the curves are sampled: a grid, and the keys, unless there is more than one key per sample.
fn sample_times([from, to]: [f64; 2], step: f64, curves: &KeyCurves, out: &mut Vec<f64>) {
    let count = ((to - from) / step).ceil().clamp(1.0, 4000.0);
    out.extend((0..=count as usize).map(|i| from + (to - from) * i as f64 / count));
    let keys = curves.times();
    let first = keys.partition_point(|t| *t < from);
    let inside = &keys[first..first + keys[first..].partition_point(|t| *t <= to)];
    if inside.len() as f64 <= count {
        out.extend(inside);
        if curves.interpolation() == Interpolation::Step {
            out.extend(inside.iter().map(|t| t - JUMP).filter(|t| *t >= from));
        }
        out.sort_unstable_by(f64::total_cmp);
        out.dedup();
    }
}

/// Draws the value axis, the curves, the playhead, the keys, and the handles of selected keys.
pub(super) fn draw(
    ui: &Ui,
    plot: &Plot,
    known: &Known,
    shown: &[usize],
    timeline: &Timeline,
    selected: impl Fn(f64) -> bool,
) {
    let Room { rect, span, scale } = plot.room;
    let painter = ui.painter().with_clip_rect(rect.intersect(ui.clip_rect()));
    let (curves, target) = (known.drawn(), known.curves.target());
    axis(ui, &painter, plot, known.unit);
    let count = curves.count();
    for &curve in shown {
        let values = known.view.values.iter().skip(curve).step_by(count);
        let points = known.view.times.iter().zip(values).map(|(t, v)| plot.at(*t, *v)).collect();
        let width = if plot.large { 3.0 } else { 1.5 };
        painter.add(Shape::line(points, Stroke::new(width, color(target, curve))));
    }
    let inside = rect.with_min_x(span.left).with_max_x(rect.max.x - END * scale);
    let x = span.x(timeline.playhead.time);
    painter.with_clip_rect(inside.expand(1.0).intersect(painter.clip_rect())).vline(
        x,
        rect.y_range(),
        Stroke::new(1.0, theme::ACCENT),
    );
    let (strong, hollow) = (ui.visuals().strong_text_color(), ui.visuals().extreme_bg_color);
    let keys = keys_near(curves, plot, rect.x_range().expand(HANDLE[1]));
    let bends = keys.clone().filter(|k| selected(curves.times()[*k])).count() <= MOST_HANDLES;
    for &curve in shown {
        let color = color(target, curve);
        let mut last = [f32::NEG_INFINITY; 2];
        for key in keys.clone() {
            let (at, on) = (plot.key(curves, key, curve), selected(curves.times()[key]));
            // Keys closer than the samples look like one.
            if at.x - last[usize::from(on)] < SAMPLE * scale {
                continue;
            }
            last[usize::from(on)] = at.x;
            for end in
                [0, 1].into_iter().filter_map(|s| plot.handle(curves, key, curve, s)).filter(|_| on && bends)
            {
                painter.line_segment([at, end], Stroke::new(scale.sqrt(), color));
                painter.circle(end, 0.85 * KEY * scale, hollow, Stroke::new(1.5 * scale.sqrt(), color));
            }
            let stroke = if on { Stroke::new(1.5 * scale.sqrt(), strong) } else { Stroke::NONE };
            let radius = if on { 1.15 * KEY } else { 0.8 * KEY };
            painter.circle(at, radius * scale, color, stroke);
        }
    }
}

/// Returns the keys whose places lie in a range of the screen.
pub(super) fn keys_near(curves: &KeyCurves, plot: &Plot, range: egui::Rangef) -> std::ops::Range<usize> {
    let from = curves.times().partition_point(|t| plot.room.span.x(*t) < range.min);
    from..from + curves.times()[from..].partition_point(|t| plot.room.span.x(*t) <= range.max)
}

/// Draws lines at round values with their numbers.
fn axis(ui: &Ui, painter: &Painter, plot: &Plot, unit: Unit) {
    let Room { rect, scale, .. } = plot.room;
    let [low, high] = plot.range.map(|v| v * unit.factor);
    let wanted = (high - low) * f64::from(LINES * scale / rect.height());
    let step = round_up(wanted);
    let decimals = (-step.log10().floor()).clamp(0.0, 9.0) as usize;
    let weak = ui.visuals().weak_text_color();
    let font = FontId::proportional(10.5 * scale);
    let first = (low / step).ceil();
    for i in 0..=((high / step).floor() - first).clamp(0.0, 100.0) as usize {
        let value = (first + i as f64) * step;
        let y = plot.at(0.0, value / unit.factor).y;
        let strength = if (first + i as f64) == 0.0 { 0.6 } else { 0.25 };
        painter.hline(rect.x_range(), y, Stroke::new(1.0, weak.gamma_multiply(strength)));
        if y - font.size < rect.min.y {
            continue;
        }
        let text = format!("{:.decimals$}{}", value + 0.0, unit.suffix);
        painter.text(pos2(rect.max.x - 4.0, y - 1.0), Align2::RIGHT_BOTTOM, text, font.clone(), weak);
    }
}
