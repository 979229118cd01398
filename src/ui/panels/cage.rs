//! The panel of the cage: makes and removes it, and chooses what follows a hand.

use super::{Pressed, Shows, widgets};
use crate::workbench::{CageSet, Command, Tool};
use egui::Ui;

/// Numbers of vertices that the panel offers for a new cage.
const SIZES: [u32; 3] = [60, 120, 240];

pub(super) fn show(ui: &mut Ui, shows: &Shows<'_>, pressed: &mut Pressed) {
    let p = shows.bench.preferences();
    let cage = shows.bench.session().document().cage();
    widgets::caption(ui, "New cage, vertices");
    ui.horizontal(|ui| {
        for vertices in SIZES {
            shows.button(ui, pressed, &vertices.to_string(), Command::MakeCage(vertices));
        }
        // The list of files imports an .obj file as the cage.
        shows.button(ui, pressed, "Import .obj", Command::Files);
    });
    let Some(cage) = cage else { return };
    let faces = cage.mesh.faces.len();
    ui.label(format!("{}: {} vertices, {faces} faces", cage.name, cage.vertices()));
    if shows.bench.awaits_coupling() {
        ui.label("The cage is being coupled with the skin.");
    }
    if p.tool != Tool::Cage {
        shows.button(ui, pressed, "Move the cage", Command::Tool(Tool::Cage));
    }
    widgets::caption(ui, "What follows the hand");
    let sets = CageSet::ALL.map(|set| (set.label(), p.cage_set == set, Command::CageSet(set)));
    shows.choices(ui, pressed, sets);
    widgets::caption(ui, "Edit in");
    let shapes = [(true, "Rest pose"), (false, "Current pose")];
    shows.choices(
        ui,
        pressed,
        shapes.map(|(rest, text)| (text, p.cage_rest == rest, Command::CageRest(rest))),
    );
    ui.add_space(4.0);
    ui.horizontal_wrapped(|ui| {
        shows.button(ui, pressed, "Key", Command::KeyCage);
        ui.add_enabled_ui(!cage.is_at_rest(), |ui| shows.button(ui, pressed, "Reset", Command::ResetCage));
        shows.button(ui, pressed, "Export .obj", Command::ExportCage);
        shows.button(ui, pressed, "Remove", Command::RemoveCage);
    });
}
