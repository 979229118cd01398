//! The right side panel: document, poses and clips, deformer, history and statistics.

use super::{Memory, Pressed, Shows, cage, rig, statistics, widgets};
use crate::ui::panels::{self, Section};
use egui::{Frame, Margin, Panel, ScrollArea, Ui};

pub(super) fn show(ui: &mut Ui, shows: &Shows<'_>, memory: &mut Memory, pressed: &mut Pressed) {
    let Some(bench) = shows.bench else { return };
    let frame = Frame::new().fill(ui.visuals().panel_fill).inner_margin(Margin::same(8));
    Panel::right("side").frame(frame).resizable(true).default_size(274.0).size_range(220.0..=480.0).show(
        ui,
        |ui| {
            ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
                let shared = panels::Shows {
                    bench,
                    compared: Some(shows.compared),
                    meshes: &shows.facts.meshes,
                    keyboard: true,
                };
                let part = |ui: &mut Ui, memory: &mut Memory, pressed: &mut Pressed, one: Section| {
                    let open = matches!(one, Section::Outliner | Section::Deformer);
                    widgets::section(ui, &one.title(bench), open, |ui| {
                        one.show(ui, &shared, &mut memory.shared, &mut pressed.shared);
                    });
                };
                part(ui, memory, pressed, Section::Outliner);
                part(ui, memory, pressed, Section::Transform);
                if bench.is_bare() {
                    widgets::section(ui, "Rig", true, |ui| rig::show(ui, shows, bench, memory, pressed));
                }
                part(ui, memory, pressed, Section::Shape);
                part(ui, memory, pressed, Section::Deformer);
                if !bench.is_bare() {
                    widgets::section(ui, "Colours", false, |ui| {
                        rig::show(ui, shows, bench, memory, pressed);
                    });
                }
                widgets::section(ui, "Cage", false, |ui| cage::show(ui, shows, bench, pressed));
                for one in [Section::Morphs, Section::Poses, Section::Clips, Section::History] {
                    part(ui, memory, pressed, one);
                }
                let problems = &shows.facts.problems;
                let title = format!("Problems of the file ({})", problems.len());
                widgets::section(ui, &title, false, |ui| statistics::problems(ui, problems));
                widgets::section(ui, "Statistics", false, |ui| statistics::show(ui, shows, bench));
            });
        },
    );
}
