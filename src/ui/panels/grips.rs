//! The list of grips on the skin: what each holds, and the place of the selected one.

use super::widgets::{Print, XYZ};
use super::{PanelMemory, Pressed, Shows, theme, widgets};
use crate::base::math::Quat;
use crate::document::Edit;
use crate::rig::GripHold;
use crate::surface::Grip;
use crate::workbench::tools::grip::color_of;
use crate::workbench::{Command, Tool};
use egui::{Color32, RichText, Sense, Ui, vec2};
use glam::EulerRot;

/// Change of a translation per logical pixel of a drag, as a fraction of the size of the character.
const SPEED: f64 = 0.001;
/// Change of a rotation per logical pixel of a drag, degrees.
const TURN: f64 = 0.5;

pub(super) fn show(ui: &mut Ui, shows: &Shows<'_>, memory: &mut PanelMemory, pressed: &mut Pressed) {
    let bench = shows.bench;
    let grips = bench.session().document().grips();
    widgets::caption(ui, "Grips on the skin");
    if grips.is_empty() {
        ui.label("Draw points on the skin: FAST moves the skin by them. A closed line adds a region.");
    }
    if bench.preferences().tool != Tool::Grip {
        shows.button(ui, pressed, "Grips on the skin", Command::Tool(Tool::Grip));
    }
    for grip in grips {
        let id = grip.id;
        ui.horizontal(|ui| {
            let [r, g, b, _] = color_of(grip.hold);
            let side = 10.0 * theme::scale(ui);
            let (dot, _) = ui.allocate_exact_size(vec2(side, side), Sense::hover());
            ui.painter().circle_filled(dot.center(), 0.5 * side, Color32::from_rgb(r, g, b));
            let name = RichText::new(&grip.name);
            let name = if bench.selected_grip() == Some(id) { name.strong() } else { name };
            ui.label(name).on_hover_text(format!("{} vertices", grip.vertices.count()));
            if widgets::remove(ui, "Removes the grip") {
                pressed.edit(Edit::RemoveGrip(id), false);
            }
        });
        let hold =
            |hold| Command::Change(Box::new(Edit::SetGrip(Box::new(Grip { hold, ..grip.clone() }))), false);
        let holds = GripHold::ALL.map(|h| (h.name(), grip.hold == h, hold(h)));
        shows.choices(ui, pressed, holds);
    }
    if let Some(grip) = bench.selected_grip().and_then(|id| grips.iter().find(|g| g.id == id)) {
        place(ui, shows, grip, memory, pressed);
    }
}

/// Draws the numbers of the selected grip.
fn place(ui: &mut Ui, shows: &Shows<'_>, grip: &Grip, memory: &mut PanelMemory, pressed: &mut Pressed) {
    let speed = f64::from(shows.bench.character().control.aabb.diagonal()) * SPEED;
    let rotation = Quat::from_array(grip.rotation).normalize();
    let (x, y, z) = rotation.to_euler(EulerRot::XYZ);
    let degrees = [x, y, z].map(f32::to_degrees);
    let mut row = |ui: &mut Ui, title: &str, values: [f32; 3], speed: f64, decimals: usize| {
        widgets::caption(ui, title);
        let (fields, now) = ((&XYZ[..], Print::Decimals(decimals), speed), values.map(f64::from));
        let moved = ui.push_id(title, |ui| widgets::axes(ui, fields, &now, "", &mut memory.held)).inner;
        moved.map(|(axis, value, continues)| {
            let mut new = values;
            new[axis] = value as f32;
            (new, continues)
        })
    };
    let moved = row(ui, "Translation", grip.translation, speed, 3);
    if let Some((translation, continues)) = moved {
        pressed.edit(Edit::MoveGrip { id: grip.id, translation, rotation: grip.rotation }, continues);
    }
    if grip.hold != GripHold::Full {
        return;
    }
    if let Some((degrees, continues)) = row(ui, "Rotation", degrees, TURN, 1) {
        let [x, y, z] = degrees.map(f32::to_radians);
        let rotation = Quat::from_euler(EulerRot::XYZ, x, y, z).to_array();
        pressed.edit(Edit::MoveGrip { id: grip.id, translation: grip.translation, rotation }, continues);
    }
}
