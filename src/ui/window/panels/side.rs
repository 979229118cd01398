//! The right side panel: document, poses and clips, deformer, history and statistics.

use super::{Pressed, Shows, WindowPanelMemory, statistics, widgets};
use crate::ui::panels::{self, Section};
use crate::workbench::Tool;
use egui::{Frame, Margin, Panel, ScrollArea, Ui, UiBuilder, vec2};

/// Least width of the panel, logical pixels: that of its widest row.
const WIDTH: f32 = 310.0;

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

/// Returns the section with the settings of a tool, if the tool has its own.
fn of_tool(tool: Tool) -> Option<Section> {
    match tool {
        Tool::Cage => Some(Section::Cage),
        Tool::Bone => Some(Section::Rig),
        Tool::Skin | Tool::Grip => Some(Section::Shape),
        _ => None,
    }
}

pub(super) fn show(
    ui: &mut Ui,
    shows: &Shows<'_>,
    shared: &panels::Shows<'_>,
    memory: &mut WindowPanelMemory,
    pressed: &mut Pressed,
) {
    // The section of a tool comes into view when the user chooses the tool.
    let tool = shared.bench.preferences().tool;
    let changed = std::mem::replace(&mut memory.tool, tool) != tool;
    let chosen = of_tool(tool).filter(|_| changed);
    let frame = Frame::new().fill(ui.visuals().panel_fill).inner_margin(Margin::same(8));
    Panel::right("side").frame(frame).resizable(true).default_size(WIDTH).size_range(WIDTH..=480.0).show(
        ui,
        |ui| {
            ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
                // A long name must not widen the panel: egui would keep the new width.
                let room = ui.available_rect_before_wrap();
                let mut inner = ui.new_child(UiBuilder::new().max_rect(room));
                sections(&mut inner, shows, shared, chosen, memory, pressed);
                ui.allocate_space(vec2(room.width(), inner.min_rect().height()));
            });
        },
    );
}

fn sections(
    ui: &mut Ui,
    shows: &Shows<'_>,
    shared: &panels::Shows<'_>,
    chosen: Option<Section>,
    memory: &mut WindowPanelMemory,
    pressed: &mut Pressed,
) {
    let bench = shared.bench;
    let mut changed = None;
    let mut section = |ui: &mut Ui, title: &str, (open, reveal), content: &mut dyn FnMut(&mut Ui)| {
        let name = widgets::section_name(title);
        let open = shows.choices.sections.get(name).copied().unwrap_or(open);
        if let Some(now) = widgets::section(ui, title, (open, reveal), content) {
            changed = Some((name.to_owned(), now));
        }
    };
    for one in SECTIONS {
        let bones = one == Section::Rig && bench.is_bare();
        let open = bones || matches!(one, Section::Outliner | Section::Deformer);
        section(ui, &one.title(bench), (open, chosen == Some(one)), &mut |ui| {
            one.show(ui, shared, &mut memory.shared, &mut pressed.shared);
        });
    }
    let problems = &shows.facts.problems;
    let title = format!("Problems of the file ({})", problems.len());
    section(ui, &title, (false, false), &mut |ui| statistics::problems(ui, problems));
    section(ui, "Statistics", (false, false), &mut |ui| statistics::show(ui, shows, bench));
    if let Some((name, open)) = changed {
        let mut choices = shows.choices.clone();
        choices.sections.insert(name, open);
        pressed.choices = Some(choices);
    }
}
