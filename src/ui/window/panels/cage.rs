//! The Cage panel. It gives the same commands as the Cage page in the headset.

use super::{Pressed, Shows, widgets};
use crate::ui::palette::SIZES;
use crate::ui::window::keys::Act;
use crate::workbench::{CageSet, Command, Tool, Workbench};
use egui::Ui;

pub(super) fn show(ui: &mut Ui, shows: &Shows<'_>, bench: &Workbench, pressed: &mut Pressed) {
    let p = bench.preferences();
    let cage = bench.session().document().cage();
    ui.horizontal(|ui| {
        ui.label("New cage, vertices");
        for vertices in SIZES {
            pressed.command(Command::MakeCage(vertices), ui.button(vertices.to_string()).clicked());
        }
    });
    let Some(cage) = cage else {
        ui.label("Or drop an .obj file on the window to import a cage.");
        return;
    };
    let faces = cage.mesh.faces.len();
    ui.label(format!("{}: {} vertices, {faces} faces", cage.name, cage.vertices()));
    if bench.awaits_coupling() {
        ui.label("The cage is being coupled with the skin.");
    }
    if p.tool != Tool::Cage {
        let button = ui.button("Move the cage").on_hover_text(shows.tip(Act::CageTool));
        pressed.command(Command::Tool(Tool::Cage), button.clicked());
    }
    widgets::caption(ui, "What follows the pointer");
    ui.horizontal(|ui| {
        for set in CageSet::ALL {
            let choice = ui.selectable_label(p.cage_set == set, set.label());
            pressed.command(Command::CageSet(set), choice.on_hover_text(shows.tip(Act::CageSet)).clicked());
        }
    });
    widgets::caption(ui, "Edit in");
    ui.horizontal(|ui| {
        for (rest, label) in [(true, "Rest pose"), (false, "Current pose")] {
            let choice = ui.selectable_label(p.cage_rest == rest, label);
            let clicked = choice.on_hover_text(shows.tip(Act::CageRest)).clicked();
            pressed.command(Command::CageRest(rest), clicked);
        }
    });
    ui.horizontal(|ui| {
        let key = ui.button("Key").on_hover_text(shows.tip(Act::KeyCage));
        pressed.command(Command::KeyCage, key.clicked());
        let reset = ui.add_enabled(!cage.is_at_rest(), egui::Button::new("Reset"));
        pressed.command(Command::ResetCage, reset.clicked());
        pressed.command(Command::ExportCage, ui.button("Export .obj").clicked());
        pressed.command(Command::RemoveCage, ui.button("Remove").clicked());
    });
}
