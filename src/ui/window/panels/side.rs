//! The right side panel: document, poses and clips, deformer, history and statistics.

use super::{
    Memory, Pressed, Shows, cage, clips, deformer, history, outliner, poses, rig, shape, statistics, widgets,
};
use egui::{Frame, Margin, Panel, ScrollArea, Ui};

pub(super) fn show(ui: &mut Ui, shows: &Shows<'_>, memory: &mut Memory, pressed: &mut Pressed) {
    let Some(bench) = shows.bench else { return };
    let frame = Frame::new().fill(ui.visuals().panel_fill).inner_margin(Margin::same(8));
    Panel::right("side").frame(frame).resizable(true).default_size(274.0).size_range(220.0..=480.0).show(
        ui,
        |ui| {
            ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
                widgets::section(ui, "Outliner", true, |ui| {
                    outliner::show(ui, shows, bench, memory, pressed)
                });
                if bench.is_bare() {
                    widgets::section(ui, "Rig", true, |ui| rig::show(ui, shows, bench, memory, pressed));
                }
                widgets::section(ui, "Shape", false, |ui| shape::show(ui, bench, memory, pressed));
                widgets::section(ui, "Deformer", true, |ui| {
                    deformer::show(ui, shows, bench, memory, pressed)
                });
                if !bench.is_bare() {
                    widgets::section(ui, "Weights", false, |ui| {
                        rig::show(ui, shows, bench, memory, pressed);
                    });
                }
                widgets::section(ui, "Cage", false, |ui| cage::show(ui, shows, bench, pressed));
                let document = bench.session().document();
                let title = format!("Poses ({})", document.poses().len());
                widgets::section(ui, &title, false, |ui| poses::show(ui, bench, memory, pressed));
                let title = format!("Clips ({})", bench.character().skeleton.clips.len());
                widgets::section(ui, &title, false, |ui| clips::show(ui, bench, memory, pressed));
                let (done, all) = bench.session().history();
                let title = format!("History ({} of {})", done.saturating_sub(1), all.saturating_sub(1));
                widgets::section(ui, &title, false, |ui| history::show(ui, bench, pressed));
                let problems = &shows.facts.problems;
                let title = format!("Problems of the file ({})", problems.len());
                widgets::section(ui, &title, false, |ui| statistics::problems(ui, problems));
                widgets::section(ui, "Statistics", false, |ui| statistics::show(ui, shows, bench));
            });
        },
    );
}
