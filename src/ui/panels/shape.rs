//! The panel of the selected sculpt layer: amplitude, stiffness, profile and waves.

use super::widgets::{Print, Slide};
use super::{Memory, Pressed, widgets};
use crate::deform::sculpt::{Curve, Easing};
use crate::workbench::{AMPLITUDES, COUNTS, Command, SPEEDS, STIFFNESSES, WAVE, Workbench};
use egui::{ComboBox, Ui};
use std::f32::consts::TAU;

pub(super) fn show(ui: &mut Ui, bench: &Workbench, memory: &mut Memory, pressed: &mut Pressed) {
    let Some(shape) = bench.shape_state() else {
        ui.label("Draw on the skin, then pull at the mark.");
        return;
    };
    ui.horizontal(|ui| {
        let mut on = shape.on;
        pressed.command(Command::ShapeOn(!on), ui.checkbox(&mut on, &shape.name).changed());
        let [at, all] = shape.place;
        if all > 1 {
            pressed.command(
                Command::SelectShape(1),
                widgets::small(ui, format!("{at} of {all}, next")).clicked(),
            );
        }
        pressed.command(Command::RemoveShape, widgets::small(ui, "Remove").clicked());
    });
    let mut slide = |ui: &mut Ui,
                     label: &str,
                     [least, most]: [f32; 2],
                     value: f32,
                     even: bool,
                     make: fn(f32) -> Command| {
        let range = [least, most].map(f64::from);
        let slide = Slide { label, range, logarithmic: !even, print: Print::Decimals(2) };
        let slid = widgets::slide(ui, &slide, f64::from(value), &mut memory.held);
        pressed.slides.extend(slid.moved.map(|(now, continues)| (make(now as f32), continues)));
    };
    slide(ui, "amplitude", AMPLITUDES, shape.amplitude, true, Command::Amplitude);
    slide(ui, "stiffness", STIFFNESSES, shape.stiffness, false, Command::Stiffness);
    if let Some(Curve::Wave(wave)) = shape.curve {
        slide(ui, "waves", COUNTS, wave.count, true, Command::WaveCount);
        slide(ui, "a second", SPEEDS, wave.speed, true, Command::WaveSpeed);
        slide(ui, "phase", [0.0, TAU], wave.phase, true, Command::WavePhase);
    }
    let name = match shape.curve {
        None => "drawn by hand",
        Some(Curve::Even) => "even",
        Some(Curve::Parabola) => "bulge",
        Some(Curve::Ease(easing)) => easing.name(),
        Some(Curve::Wave(_)) => "wave",
    };
    widgets::caption(ui, "Profile");
    ComboBox::from_id_salt("profile").selected_text(name).show_ui(ui, |ui| {
        let plain = [("even", Curve::Even), ("bulge", Curve::Parabola), ("wave", Curve::Wave(WAVE))];
        let eased = Easing::ALL.iter().map(|e| (e.name(), Curve::Ease(*e)));
        for (label, curve) in plain.into_iter().chain(eased) {
            let clicked = ui.selectable_label(name == label, label).clicked();
            pressed.command(Command::Profile(curve), clicked);
        }
    });
}
