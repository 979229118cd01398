//! The displayed range of values: its unit, zoom and scroll.

use super::plot::Plot;
use super::{Curves, Known};
use crate::asset::Property;
use crate::document::Target;
use crate::ui::panels::widgets::offer;
use crate::workbench::Workbench;
use egui::Ui;

/// Width of the value axis at the right edge, over which the wheel zooms the values, logical pixels of the window.
const AXIS: f32 = 44.0;
/// Smallest and largest range of values that the user can choose, in multiples of [`Unit::least`].
const ZOOM: [f64; 2] = [1e-3, 1e6];
/// Smallest displayed range of a location, as a share of the joint's distance from its parent or of the character's size.
const LEAST: f64 = 0.1;

/// The displayed range of values.
#[derive(Default)]
pub(super) struct Values {
    /// The displayed property, its unit, and the lowest and highest displayed value, in units of the document.
    shown: Option<(Target, Unit, [f64; 2])>,
    /// Whether the user has chosen this range; otherwise it follows the curves.
    chosen: bool,
}

/// How the values of a property show.
#[derive(Clone, Copy)]
pub(super) struct Unit {
    /// Displayed units per unit of the document.
    pub factor: f64,
    /// Smallest displayed range of values, in displayed units.
    pub least: f64,
    pub suffix: &'static str,
    decimals: usize,
}

impl Unit {
    /// Returns the unit of a property. The least range of a location is relative to the character.
    pub fn of(target: &Target, bench: &Workbench) -> Self {
        let location = |length: f32| {
            let least = LEAST * f64::from(length).clamp(1e-9, 1e9);
            let decimals = (1.0 - least.log10().floor()).clamp(0.0, 9.0) as usize;
            Self { factor: 1.0, least, suffix: "", decimals }
        };
        let size = bench.bounds().diagonal();
        match target {
            _ if target.rotates() => {
                Self { factor: 1f64.to_degrees(), least: 10.0, suffix: "°", decimals: 1 }
            }
            Target::Node { property: Property::Translation, node } => {
                let rest =
                    bench.character().skeleton.nodes.get(node.index()).map(|n| n.rest.translation().length());
                location(rest.filter(|length| *length > 0.0).unwrap_or(size))
            }
            Target::Grip { .. } => location(size),
            _ => Self { factor: 1.0, least: 0.2, suffix: "", decimals: 2 },
        }
    }

    /// Returns a value with its unit.
    pub fn text(self, value: f64) -> String {
        let Self { factor, decimals, suffix, .. } = self;
        // Rounding must not show as -0.
        let unit = 10f64.powi(decimals as i32);
        let shown = (value * factor * unit).round() / unit + 0.0;
        format!("{shown:.decimals$}{suffix}")
    }
}

impl Values {
    /// Keeps the displayed range.
    pub fn show(&mut self, known: &Known, range: [f64; 2]) {
        self.shown = Some((known.curves.target().clone(), known.unit, range));
    }

    /// Changes the range by a factor about a value, in units of the document; `None` is the middle of the range.
    fn zoom(&mut self, about: Option<f64>, factor: f64) {
        let Some((_, unit, [low, high])) = &mut self.shown else { return };
        let (size, about) = (*high - *low, about.unwrap_or(0.5 * (*low + *high)));
        let [least, most] = ZOOM.map(|z| z * unit.least / unit.factor);
        // Large values need a larger range.
        let least = least.max(1e-6 * low.abs().max(high.abs()));
        let factor = (size * factor).clamp(least.min(size), most.max(size)) / size;
        (*low, *high) = (about + (*low - about) * factor, about + (*high - about) * factor);
        self.chosen = true;
    }
}

impl Curves {
    /// Returns the displayed range of values if it is fixed, during a drag or after the user has chosen a range. Returns
    /// `None` if the range follows the curves.
    pub(super) fn chosen_range(&mut self, known: &Known) -> Option<[f64; 2]> {
        let target = known.curves.target();
        let Values { shown, chosen } = &mut self.values;
        // Another property has other values.
        *chosen &= shown.as_ref().is_some_and(|(shown, ..)| shown == target);
        let range = shown.as_ref().filter(|_| *chosen).map(|(.., range)| *range);
        self.press.as_ref().map(|p| p.range).or(range)
    }
}

/// Draws the buttons that change the displayed range of values.
pub(super) fn tools(ui: &mut Ui, state: &mut Curves) {
    let there = state.values.shown.is_some() && state.press.is_none();
    for (text, tip, factor) in [
        ("Values −", "Shows a larger range of values   Alt and the wheel", 1.5),
        ("Values +", "Shows a smaller range of values   Alt and the wheel", 1.0 / 1.5),
    ] {
        if offer(ui, there, text, tip) {
            state.values.zoom(None, factor);
        }
    }
    if offer(ui, there && state.values.chosen, "Fit values", "The range of values follows the curves") {
        state.values.chosen = false;
    }
}

/// Zooms the values about the pointer by a wheel with Alt or over the value axis. A drag by the middle button moves a chosen
/// range. Returns whether the wheel is used up.
pub(super) fn navigate(ui: &Ui, plot: &Plot, state: &mut Curves) -> bool {
    let well = plot.room.rect;
    let Some(at) = ui.input(|i| i.pointer.hover_pos()).filter(|_| ui.rect_contains_pointer(well)) else {
        return false;
    };
    let (wheel, alt, drag) = ui.input(|i| {
        let drag = if i.pointer.middle_down() { i.pointer.delta().y } else { 0.0 };
        (i.smooth_scroll_delta().y, i.modifiers.alt, drag)
    });
    let over_axis = at.x > well.max.x - AXIS * plot.room.scale;
    let used = wheel != 0.0 && (alt || over_axis);
    // The range stays constant during a drag of keys.
    if state.press.is_some() {
        return used;
    }
    if used {
        state.values.zoom(Some(plot.value(at.y)), (-f64::from(wheel) / 200.0).exp());
        ui.ctx().request_repaint();
    }
    let chosen = state.values.chosen && drag != 0.0;
    if let Some((.., range)) = state.values.shown.as_mut().filter(|_| chosen) {
        *range = range.map(|v| v - plot.values(drag));
        ui.ctx().request_repaint();
    }
    used
}
