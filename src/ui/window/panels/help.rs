//! The list of shortcuts, from the key table. A click on a shortcut lets the user choose another key.

use super::{Pressed, Shows, WindowPanelMemory};
use crate::ui::window::choices::Choices;
use crate::ui::window::keys::{ACTS, Group, KeyMap};
use egui::{Grid, RichText, ScrollArea, TextEdit, Ui};

/// Fixed functions of mouse and pen.
const MOUSE: [(&str, &str); 7] = [
    ("Left button", "the tool; a click selects a joint"),
    ("Middle button, Alt-left", "orbit"),
    ("Shift-middle, Shift-Alt-left", "pan"),
    ("Ctrl-middle, Ctrl-Alt-left, wheel", "zoom"),
    ("Right button", "drops what is under way"),
    ("Pen", "as the left button, with its pressure"),
    ("Dropped file", "opens it"),
];

pub(super) fn show(ui: &mut Ui, shows: &Shows<'_>, memory: &mut WindowPanelMemory, pressed: &mut Pressed) {
    let mut open = true;
    let room = ui.ctx().content_rect().center();
    let window = egui::Window::new("Keys").open(&mut open).collapsible(false).default_size([470.0, 480.0]);
    window.pivot(egui::Align2::CENTER_CENTER).default_pos(room).show(ui.ctx(), |ui| {
        ui.horizontal(|ui| {
            ui.add(TextEdit::singleline(&mut memory.key_filter).hint_text("Find").desired_width(180.0));
            ui.label(RichText::new("click a key to choose another").small().weak());
            if shows.keys().is_chosen() && ui.button("All as they were").clicked() {
                pressed.choices = Some(Choices { keys: KeyMap::default(), ..shows.choices.clone() });
            }
        });
        let filter = memory.key_filter.to_lowercase();
        ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
            for group in Group::ALL {
                let wanted = |l: &&crate::ui::window::keys::KeyLine| {
                    l.group == group && l.label.to_lowercase().contains(&filter)
                };
                let lines: Vec<_> = ACTS.iter().filter(wanted).collect();
                if lines.is_empty() {
                    continue;
                }
                super::widgets::caption(ui, group.label());
                Grid::new(group.label()).num_columns(2).min_col_width(210.0).show(ui, |ui| {
                    for line in lines {
                        ui.label(line.label);
                        let waits = memory.binding == Some(line.act);
                        let keys = shows.keys().text(line.act);
                        let text = match (waits, keys.is_empty()) {
                            (true, _) => "press a key, Esc keeps it".to_owned(),
                            (_, true) => "none".to_owned(),
                            _ => keys,
                        };
                        if ui.selectable_label(waits, RichText::new(text).monospace().size(12.0)).clicked() {
                            memory.binding = (!waits).then_some(line.act);
                        }
                        ui.end_row();
                    }
                });
            }
            super::widgets::caption(ui, "Mouse");
            Grid::new("mouse").num_columns(2).min_col_width(210.0).show(ui, |ui| {
                for (what, does) in MOUSE {
                    ui.label(does);
                    ui.label(RichText::new(what).monospace().size(12.0));
                    ui.end_row();
                }
            });
        });
    });
    if !open {
        (memory.help, memory.binding) = (false, None);
    }
}
