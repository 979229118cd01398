//! The panel of bones and weights: bones of a bare mesh, colours that show weights, the deformers of joints, and the
//! binding.

use super::widgets::{Print, Slide};
use super::{PanelMemory, Pressed, Shows, widgets};
use crate::bind::weights::WeightMethod;
use crate::deform::swing_twist::Deformer;
use crate::pose::BoneChain;
use crate::scene::SkinColors;
use crate::workbench::{Command, MOST_BONES, Tool};
use egui::{ProgressBar, RichText, Ui};

/// Deformers of joints with their labels.
const DEFORMERS: [(Deformer, &str); 3] =
    [(Deformer::SwingTwist, "Swing-twist"), (Deformer::Linear, "Linear"), (Deformer::Spherical, "Spherical")];

pub(super) fn show(ui: &mut Ui, shows: &Shows<'_>, memory: &mut PanelMemory, pressed: &mut Pressed) {
    let bench = shows.bench;
    let p = bench.preferences();
    if bench.is_bare() {
        bones(ui, shows, memory, pressed);
    }
    if bench.is_bare() && bench.session().document().grips().is_empty() {
        super::grips::show(ui, shows, memory, pressed);
    }
    widgets::caption(ui, "Colours on the skin");
    let views = SkinColors::ALL.map(|view| (view.label(), p.colors == view, Command::Colors(view)));
    shows.choices(ui, pressed, views);
    if p.colors != SkinColors::Off {
        ui.label(RichText::new(p.colors.legend()).weak());
    }
    joint_deformer(ui, shows, pressed);
    if !bench.is_bare() {
        super::binding::show(ui, shows, memory, pressed);
        weights(ui, shows, pressed);
    }
}

/// Draws the buttons that compute new skin weights.
fn weights(ui: &mut Ui, shows: &Shows<'_>, pressed: &mut Pressed) {
    widgets::caption(ui, "New skin weights");
    if progress(ui, shows, pressed) {
        return;
    }
    ui.label("Writes a project with these edits and opens it.");
    ui.horizontal_wrapped(|ui| {
        for method in WeightMethod::ALL {
            shows.button(ui, pressed, method.label(), Command::Weigh(method));
        }
    });
}

/// Draws the progress of a computation of weights, with a button that cancels it. Returns whether one is running.
fn progress(ui: &mut Ui, shows: &Shows<'_>, pressed: &mut Pressed) -> bool {
    let Some(percent) = shows.rigging else { return false };
    ui.add(ProgressBar::new(percent as f32 / 100.0).text(format!("weights {percent} %")));
    shows.button(ui, pressed, "Cancel", Command::Rig(false));
    true
}

/// Draws the deformer of the selected joint, if the method has such deformers.
fn joint_deformer(ui: &mut Ui, shows: &Shows<'_>, pressed: &mut Pressed) {
    let Some((params, chosen)) = shows.bench.swing_twist() else { return };
    widgets::caption(ui, "Deformer of the selected joint");
    match chosen {
        None => drop(ui.label("Select a joint.")),
        Some(now) => {
            let all = DEFORMERS.map(|(one, label)| (label, now == one, Command::JointDeformer(one)));
            shows.choices(ui, pressed, all);
        }
    }
    if !params.joints.is_empty() {
        ui.label(format!("{} joints have a deformer of their own.", params.joints.len()));
    }
}

/// Draws how many bones a stroke gives, and the button that rigs the mesh.
fn bones(ui: &mut Ui, shows: &Shows<'_>, memory: &mut PanelMemory, pressed: &mut Pressed) {
    let (bench, p) = (shows.bench, shows.bench.preferences());
    let bones: usize = bench.session().document().bones().iter().map(BoneChain::bones).sum();
    widgets::caption(ui, "Bones per stroke");
    let slide = Slide::even("", [0.0, f64::from(MOST_BONES)], Print::Decimals(0));
    pressed.slide(ui, &slide, p.bones, &mut memory.held, |now| Command::BonesPerStroke(now.round() as u32));
    ui.label(match p.bones {
        0 => "at corners".to_owned(),
        1 => "1 bone".to_owned(),
        n => format!("{n} bones"),
    });
    if progress(ui, shows, pressed) {
        return;
    }
    match bones {
        0 if p.tool == Tool::Bone => {
            ui.label("Draw a line inside the mesh, from the root to the tip of a limb.");
        }
        0 => shows.button(ui, pressed, "Draw bones", Command::Tool(Tool::Bone)),
        _ => shows.button(ui, pressed, &format!("Rig the mesh by {bones} bones"), Command::Rig(true)),
    }
}
