//! The part of the panel Rig about the binding: how the skin is attached to the bones.

use super::widgets::{Print, Slide, XYZ};
use super::{PanelMemory, Pressed, Shows, widgets};
use crate::base::JointId;
use crate::bind::{BindOptions, Binding, MAX_SMOOTH, MAX_TURN, Smoothing};
use crate::workbench::{BindChange, Command};
use egui::{RichText, Ui};

/// Change of an angle per logical pixel of a drag, degrees.
const TURN: f64 = 0.5;

/// State of the part between frames.
pub(in crate::ui) struct BindingState {
    /// Rings of vertices around a mark.
    rings: u32,
}

impl Default for BindingState {
    fn default() -> Self {
        Self { rings: 2 }
    }
}

fn bind(change: BindChange) -> Command {
    Command::Bind(change, false)
}

pub(super) fn show(ui: &mut Ui, shows: &Shows<'_>, memory: &mut PanelMemory, pressed: &mut Pressed) {
    let binding = shows.bench.session().document().binding();
    widgets::caption(ui, "Binding");
    let rules = Binding::ALL.map(|one| (one.label(), one == binding.method, bind(BindChange::Method(one))));
    shows.choices(ui, pressed, rules);
    let slide = Slide::even("smoothing rounds", [0.0, f64::from(MAX_SMOOTH)], Print::Decimals(0));
    let slid = widgets::slide(ui, &slide, f64::from(binding.smooth), &mut memory.held);
    let command = |(v, on): (f64, bool)| Command::Bind(BindChange::Rounds(v.round() as u32), on);
    pressed.commands.extend(slid.moved.map(command));
    let ways =
        Smoothing::ALL.map(|one| (one.label(), one == binding.smoothing, bind(BindChange::Smoothing(one))));
    shows.choices(ui, pressed, ways);
    if binding.method == Binding::Planar {
        planes(ui, shows, binding, memory, pressed);
    }
    regions(ui, shows, memory, pressed);
    ui.add_enabled_ui(*binding != BindOptions::default(), |ui| {
        shows.button(ui, pressed, "Reset the binding", bind(BindChange::Reset));
    });
}

/// Draws the turn of the dividing planes at the selected joint.
fn planes(
    ui: &mut Ui,
    shows: &Shows<'_>,
    binding: &BindOptions,
    memory: &mut PanelMemory,
    pressed: &mut Pressed,
) {
    widgets::caption(ui, "Planes at the selected joint, degrees");
    let Some(joint) = shows.joint() else {
        ui.label("Select a joint.");
        return;
    };
    let turn = binding.planes.get(&joint).copied().unwrap_or_default();
    let (fields, help) =
        ((&XYZ[..], Print::Decimals(1), TURN), "Rotates the planes about X, then Y, then Z of the rest pose");
    if let Some((axis, value, continues)) =
        widgets::axes(ui, fields, &turn.map(f64::from), help, &mut memory.held)
    {
        let mut turn = turn;
        turn[axis] = (value as f32).clamp(-MAX_TURN, MAX_TURN);
        pressed.commands.push(Command::Bind(BindChange::Turn(turn), continues));
    }
    let drawn = shows.bench.preferences().binding;
    shows.choices(ui, pressed, [("Draw planes and binding", drawn, Command::Binding(!drawn))]);
    if !binding.planes.is_empty() {
        let turned = binding.planes.len();
        ui.label(RichText::new(format!("Planes are turned at {turned} joints.")).small().weak());
    }
}

/// Draws the regions attached by hand, and the buttons that add one.
fn regions(ui: &mut Ui, shows: &Shows<'_>, memory: &mut PanelMemory, pressed: &mut Pressed) {
    let bench = shows.bench;
    let name = |j: JointId| {
        let skeleton = &bench.character().skeleton;
        skeleton.joints.get(j.index()).map_or("", |joint| &*skeleton.nodes[joint.node.index()].name)
    };
    widgets::caption(ui, "Regions attached by hand");
    for (i, region) in bench.reattached().iter().enumerate() {
        ui.horizontal(|ui| {
            let to = region.joint.map_or_else(String::new, |j| format!(" to {}", name(j)));
            let count = region.vertices.count();
            ui.label(format!("{}{to}", region.name)).on_hover_text(format!("{count} vertices"));
            if widgets::remove(ui, "Attaches these vertices by the rule again") {
                pressed.commands.push(bind(BindChange::Remove(i)));
            }
        });
        let mut on = region.t.is_some();
        let placed = ui.checkbox(&mut on, "At one place along the bone").changed();
        pressed.command(bind(BindChange::PlaceAt(i, on.then_some(0.5))), placed);
        let Some(t) = region.t else { continue };
        let slide = Slide::even("head to tail", [0.0, 1.0], Print::Decimals(2));
        let slid = ui.push_id(i, |ui| widgets::slide(ui, &slide, f64::from(t), &mut memory.held)).inner;
        let command = |(v, on): (f64, bool)| Command::Bind(BindChange::PlaceAt(i, Some(v as f32)), on);
        pressed.commands.extend(slid.moved.map(command));
    }
    let texts = ("rings around the mark", "Draw a mark on the skin to attach the region around it.");
    let parts = shows.skin_parts(ui, &mut memory.binding.rings, texts, &mut memory.held);
    let joint = shows.joint();
    for (text, part) in &parts {
        ui.horizontal_wrapped(|ui| {
            if let Some(joint) = joint {
                let button = format!("Attach {text} to {}", name(joint));
                shows.button(ui, pressed, &button, bind(BindChange::Attach(*part)));
            }
            shows.button(ui, pressed, &format!("Place {text}"), bind(BindChange::Place(*part)));
        });
    }
    if joint.is_none() && !parts.is_empty() {
        ui.label("Select a joint to attach a region to its bones.");
    }
}
