//! The right side panel: document, poses and clips, deformer, history and statistics.

use super::{Memory, Pressed, Shows, statistics, widgets};
use crate::ui::panels::{self, Section};
use egui::{Frame, Margin, Panel, ScrollArea, Ui};

/// The shared panels from top to bottom. The timeline has the keys.
const SECTIONS: [Section; 11] = [
    Section::Outliner,
    Section::Transform,
    Section::Rig,
    Section::Shape,
    Section::Deformer,
    Section::Cage,
    Section::Morphs,
    Section::Poses,
    Section::Clips,
    Section::Display,
    Section::History,
];

pub(super) fn show(
    ui: &mut Ui,
    shows: &Shows<'_>,
    shared: &panels::Shows<'_>,
    memory: &mut Memory,
    pressed: &mut Pressed,
) {
    let bench = shared.bench;
    let frame = Frame::new().fill(ui.visuals().panel_fill).inner_margin(Margin::same(8));
    Panel::right("side").frame(frame).resizable(true).default_size(274.0).size_range(220.0..=480.0).show(
        ui,
        |ui| {
            ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
                for one in SECTIONS {
                    let bones = one == Section::Rig && bench.is_bare();
                    let open = bones || matches!(one, Section::Outliner | Section::Deformer);
                    widgets::section(ui, &one.title(bench), open, |ui| {
                        one.show(ui, shared, &mut memory.shared, &mut pressed.shared);
                    });
                }
                let problems = &shows.facts.problems;
                let title = format!("Problems of the file ({})", problems.len());
                widgets::section(ui, &title, false, |ui| statistics::problems(ui, problems));
                widgets::section(ui, "Statistics", false, |ui| statistics::show(ui, shows, bench));
            });
        },
    );
}
