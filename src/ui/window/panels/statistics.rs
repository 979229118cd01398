//! The statistics panel: the character, measurements of its deformation, the frame time, and problems of its file.

use super::{Shows, theme};
use crate::workbench::Workbench;
use egui::{Color32, Grid, RichText, Ui};

fn line(ui: &mut Ui, name: &str, value: String, color: Option<Color32>) {
    ui.label(RichText::new(name).weak());
    let text = RichText::new(value).monospace().size(12.0);
    ui.label(color.map_or(text.clone(), |c| text.color(c)));
    ui.end_row();
}

pub(super) fn show(ui: &mut Ui, shows: &Shows<'_>, bench: &Workbench) {
    let character = bench.character();
    Grid::new("numbers").num_columns(2).min_col_width(110.0).show(ui, |ui| {
        line(ui, "Vertices", format!("{}", character.control.positions.len()), None);
        line(ui, "Triangles", format!("{}", character.display.triangles.len()), None);
        line(ui, "Joints", format!("{}", character.skeleton.joints.len()), None);
        if let Some(strain) = &shows.facts.strain {
            for (name, value, color) in strain.rows() {
                line(ui, name, value, Some(color));
            }
            if let Some(iterations) = strain.iterations {
                line(ui, "Iterations", format!("{iterations}"), None);
            }
        }
    });
    if shows.facts.stages.is_empty() {
        return;
    }
    ui.add_space(4.0);
    let total: f32 = shows.facts.stages.iter().map(|s| s.1).sum();
    Grid::new("stages").num_columns(2).min_col_width(110.0).show(ui, |ui| {
        for (name, ms) in &shows.facts.stages {
            line(ui, name, format!("{ms:6.2} ms"), None);
        }
        line(ui, "Frame", format!("{total:6.2} ms"), None);
    });
}

pub(super) fn problems(ui: &mut Ui, problems: &[String]) {
    if problems.is_empty() {
        ui.label(RichText::new("None: the file is sound").weak());
    }
    for text in problems {
        ui.horizontal_top(|ui| {
            ui.label(RichText::new("•").color(theme::FAIR));
            ui.add(egui::Label::new(text).wrap());
        });
    }
}
