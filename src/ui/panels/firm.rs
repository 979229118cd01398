//! The list of firm and soft regions of the skin, and the buttons that add one.

use super::widgets::{Print, Slide};
use super::{PanelMemory, Pressed, Shows, widgets};
use crate::deform::volume::firm::FACTORS;
use crate::scene::SkinColors;
use crate::workbench::{Command, FirmChange};
use egui::Ui;

/// Factors of new regions, with the labels of the buttons that add one.
const NEW: [(&str, f32); 2] = [("Firm here", 4.0), ("Soft here", 0.25)];

/// State of the part between frames.
pub(in crate::ui) struct FirmState {
    /// Rings of vertices around a mark over which the factor fades.
    rings: u32,
}

impl Default for FirmState {
    fn default() -> Self {
        Self { rings: 3 }
    }
}

pub(super) fn show(ui: &mut Ui, shows: &Shows<'_>, memory: &mut PanelMemory, pressed: &mut Pressed) {
    let bench = shows.bench;
    let regions = bench.session().document().firm();
    widgets::caption(ui, "Firm and soft regions");
    for region in regions.iter() {
        ui.horizontal(|ui| {
            ui.label(&region.name).on_hover_text(format!("{} vertices", region.vertices.count()));
            if widgets::remove(ui, "Gives the flesh here the stiffness of the rest") {
                pressed.commands.push(Command::Firm(FirmChange::Remove(region.id), false));
            }
        });
        let range = FACTORS.map(f64::from);
        let slide = Slide { label: "times as stiff", range, logarithmic: true, print: Print::Decimals(2) };
        let value = f64::from(region.factor);
        let slid = ui.push_id(region.id, |ui| widgets::slide(ui, &slide, value, &mut memory.held)).inner;
        let command = |(v, on): (f64, bool)| Command::Firm(FirmChange::Factor(region.id, v as f32), on);
        pressed.commands.extend(slid.moved.map(command));
    }
    let texts = ("rings of fading", "Draw a mark on the skin: the flesh below it can be firmer or softer.");
    let parts = shows.skin_parts(ui, &mut memory.firm.rings, texts, &mut memory.held);
    let several = parts.len() > 1;
    for (text, part) in parts {
        if several {
            ui.label(format!("{text}:"));
        }
        ui.horizontal_wrapped(|ui| {
            for (label, factor) in NEW {
                let button = ui.button(label).on_hover_text(format!("The flesh below {text}"));
                shows.give(button, pressed, Command::Firm(FirmChange::Add(part, factor), false));
            }
        });
    }
    if !regions.is_empty() {
        let on = bench.preferences().colors == SkinColors::Firmness;
        let view = if on { SkinColors::Off } else { SkinColors::Firmness };
        shows.choices(ui, pressed, [("Show on the skin", on, Command::Colors(view))]);
    }
}
