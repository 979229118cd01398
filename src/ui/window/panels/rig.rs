//! The panel of bones in a bare mesh, weights, and deformers of joints; it gives the same commands as the headset's Rig page.

use super::widgets::{Print, Slide};
use super::{Memory, Pressed, Shows, widgets};
use crate::scene::SkinColors;
use crate::ui::palette::{DEFORMERS, bones_label};
use crate::ui::window::keys::Act;
use crate::workbench::{Command, MOST_BONES, Tool, Workbench};
use egui::Ui;

pub(super) fn show(
    ui: &mut Ui,
    shows: &Shows<'_>,
    bench: &Workbench,
    memory: &mut Memory,
    pressed: &mut Pressed,
) {
    let p = bench.preferences();
    let bones: usize = bench.session().document().bones().iter().map(|c| c.bones()).sum();
    if bench.is_bare() {
        ui.label("Bones per stroke");
        let range = [0.0, f64::from(MOST_BONES)];
        let slide = Slide { label: "", range, logarithmic: false, print: Print::Decimals(0) };
        let slid = widgets::slide(ui, &slide, f64::from(p.bones), &mut memory.shared.held);
        let number = |v: f64| v.round() as u32;
        pressed.shared.slides.extend(slid.moved.map(|(v, more)| (Command::BonesPerStroke(number(v)), more)));
        ui.label(bones_label(p.bones));
        match shows.facts.rigging {
            Some(percent) => {
                ui.add(egui::ProgressBar::new(percent as f32 / 100.0).text(format!("weights {percent} %")));
                pressed.command(Command::Rig(false), ui.button("Cancel").clicked());
            }
            None if bones == 0 && p.tool == Tool::Bone => {
                ui.label("Draw a line inside the mesh, from the root to the tip of a limb.");
            }
            None if bones == 0 => {
                let button = ui.button("Draw bones").on_hover_text(shows.tip(Act::BoneTool));
                pressed.command(Command::Tool(Tool::Bone), button.clicked());
            }
            None => {
                let button = ui.button(format!("Rig the mesh by {bones} bones"));
                let button = button.on_hover_text(shows.tip(Act::Rig));
                pressed.command(Command::Rig(true), button.clicked());
            }
        }
    }
    widgets::caption(ui, "Colours on the skin");
    ui.horizontal(|ui| {
        for view in SkinColors::ALL {
            let choice = ui.selectable_label(p.colors == view, view.label());
            let clicked = choice.on_hover_text(shows.tip(Act::Colors)).clicked();
            pressed.command(Command::Colors(view), clicked);
        }
    });
    if let Some((params, chosen)) = bench.swing_twist() {
        widgets::caption(ui, "Deformer of the selected joint");
        if chosen.is_none() {
            ui.label("Select a joint.");
        }
        ui.horizontal(|ui| {
            for (deformer, label) in DEFORMERS.iter().filter(|_| chosen.is_some()) {
                let clicked = ui.selectable_label(chosen == Some(*deformer), *label).clicked();
                pressed.command(Command::JointDeformer(*deformer), clicked);
            }
        });
        if !params.joints.is_empty() {
            ui.label(format!("{} joints have a deformer of their own.", params.joints.len()));
        }
    }
}
