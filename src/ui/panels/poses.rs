//! The pose library: stores poses by name, and applies them fully, blended or mirrored.

use super::widgets::{Print, Slide};
use super::{PanelMemory, Pressed, Shows, theme, widgets};
use crate::document::{Document, Edit, mirrored_pose};
use crate::rig::Pose;
use crate::workbench::{Command, Workbench};
use egui::{RichText, Ui};

/// Maximum number of displayed characters of a name.
const LONG: usize = 14;

/// A blend in progress from a pose towards a pose of the library.
pub(in crate::ui) struct Blending {
    name: String,
    from: Pose,
    amount: f32,
}

pub(super) fn show(ui: &mut Ui, shows: &Shows<'_>, memory: &mut PanelMemory, pressed: &mut Pressed) {
    let bench = shows.bench;
    let document = bench.session().document();
    let sided = bench.has_sides();
    let mut take = |pose: Pose| pressed.edit(document.posing(pose), false);
    let mirrored = |pose: &Pose| mirrored_pose(&bench.character().skeleton, pose);
    let (mut kept, mut mirrors) = (None, false);
    ui.horizontal(|ui| {
        let free = free_name(document);
        let width = 110.0 * theme::scale(ui);
        let entry = widgets::field(ui, &mut memory.pose_name, &free).desired_width(width);
        let named = ui.add(entry).lost_focus() && ui.input(|i| i.key_pressed(egui::Key::Enter));
        let keep = ui.button("Keep").on_hover_text("Keeps the pose that shows under this name").clicked();
        if keep || named {
            let name = memory.pose_name.trim();
            let name = if name.is_empty() { free } else { name.to_owned() };
            kept = Some(Edit::KeepPose { name, pose: Some(Box::new(bench.pose().clone())), at: None });
            memory.pose_name.clear();
        }
        let mirror = ui.add_enabled(sided, egui::Button::new("Mirror pose"));
        mirrors = mirror.on_hover_text("Exchanges left and right of the whole pose").clicked();
    });
    if document.poses().is_empty() {
        ui.label(RichText::new("Poses kept here are saved with the project.").small().weak());
    }
    for pose in document.poses() {
        ui.horizontal(|ui| {
            // Shortening long names leaves room for the buttons.
            let name = RichText::new(short(&pose.name));
            if ui.button(name).on_hover_text(format!("Takes {}", pose.name)).clicked() {
                take(pose.pose.clone());
            }
            let other = widgets::offer(ui, sided, "mirrored", "Takes it with its sides exchanged");
            if let Some(pose) = other.then(|| mirrored(&pose.pose)).flatten() {
                take(pose);
            }
            if widgets::remove(ui, "Forget it") {
                kept = Some(Edit::KeepPose { name: pose.name.clone(), pose: None, at: None });
            }
        });
    }
    pressed.command(Command::MirrorPose, mirrors);
    kept.into_iter().for_each(|edit| pressed.edit(edit, false));
    for pose in document.poses() {
        blend(ui, bench, &pose.name, memory, pressed);
    }
}

/// Draws a slider that blends from the pose at the start of the drag (0) to the stored pose (1).
fn blend(ui: &mut Ui, bench: &Workbench, name: &str, memory: &mut PanelMemory, pressed: &mut Pressed) {
    let own = memory.blending.as_ref().filter(|b| b.name == name);
    let amount = f64::from(own.map_or(0.0, |b| b.amount));
    let label = format!("towards {}", short(name));
    let towards = Slide::even(&label, [0.0, 1.0], Print::Percent);
    if let Some((amount, continues)) = widgets::slide(ui, &towards, amount, &mut memory.held).moved {
        let amount = amount as f32;
        let from = match memory.blending.take().filter(|_| continues) {
            Some(before) => before.from,
            None => bench.pose().clone(),
        };
        if let Ok(edit) = bench.session().document().blending(&from, name, amount) {
            pressed.edit(edit, continues);
        }
        memory.blending = Some(Blending { name: name.to_owned(), from, amount });
    } else if memory.held != widgets::SliderDrag::Changes && own.is_some() {
        memory.blending = None;
    }
}

/// Shortens a long name.
fn short(name: &str) -> String {
    if name.chars().count() <= LONG {
        name.to_owned()
    } else {
        name.chars().take(LONG - 1).chain(['…']).collect()
    }
}

/// Returns a name that no stored pose has.
fn free_name(document: &Document) -> String {
    let taken = |name: &String| document.poses().iter().any(|p| p.name == *name);
    let mut names = (1..).map(|n| format!("Pose {n}"));
    names.find(|name| !taken(name)).unwrap_or_default()
}
