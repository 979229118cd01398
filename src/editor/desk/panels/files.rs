//! Files at hand: the folder's, those opened lately, sessions that a crash has left.

use super::{Memory, Pressed, Shows};
use crate::editor::Command;
use crate::editor::desk::Act;
use crate::editor::panels::{FileEntry, FileKind, Tab};
use egui::{Align2, RichText, ScrollArea, Ui, vec2};

/// A window with nothing on the desk.
pub(super) fn welcome(ui: &mut Ui, shows: &Shows<'_>, pressed: &mut Pressed) {
    let files = &shows.facts.files;
    egui::Window::new("welcome")
        .title_bar(false)
        .resizable(false)
        .anchor(Align2::CENTER_CENTER, vec2(0.0, 0.0))
        .show(ui.ctx(), |ui| {
            ui.set_width(360.0);
            ui.vertical_centered(|ui| {
                ui.add_space(6.0);
                ui.heading("Drop a rigged glTF character here");
                ui.label(RichText::new("or a project, or a journal").weak());
                ui.add_space(6.0);
                pressed.act(Act::Open, ui.button("Open a file").clicked());
                ui.add_space(6.0);
            });
            for (title, entries) in [
                ("To go on with", &files.unfinished),
                ("Opened lately", &files.recent),
                ("Here", &files.entries),
            ] {
                let shown: Vec<&FileEntry> =
                    entries.iter().filter(|e| e.kind != FileKind::Folder).take(5).collect();
                if !shown.is_empty() {
                    super::widgets::caption(ui, title);
                    shown.into_iter().for_each(|entry| line(ui, entry, pressed));
                }
            }
        });
}

/// The list beside the document.
pub(super) fn show(ui: &mut Ui, shows: &Shows<'_>, memory: &mut Memory, pressed: &mut Pressed) {
    let mut open = true;
    let files = &shows.facts.files;
    let window = egui::Window::new("Files").open(&mut open).collapsible(false).default_size([380.0, 320.0]);
    window.default_pos([210.0, 60.0]).show(ui.ctx(), |ui| {
        ui.horizontal(|ui| {
            for (tab, label) in
                [(Tab::Folder, "Folder"), (Tab::Recent, "Recent"), (Tab::Unfinished, "Unfinished")]
            {
                ui.selectable_value(&mut memory.tab, tab, label);
            }
        });
        let entries = match memory.tab {
            Tab::Folder => &files.entries,
            Tab::Recent => &files.recent,
            Tab::Unfinished => &files.unfinished,
        };
        ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
            let above =
                files.folder.parent().filter(|p| memory.tab == Tab::Folder && !p.as_os_str().is_empty());
            if let Some(above) = above {
                pressed.command(Command::Open(above.to_owned()), ui.link("..").clicked());
            }
            if entries.is_empty() {
                ui.label(RichText::new("Nothing here").weak());
            }
            entries.iter().for_each(|entry| line(ui, entry, pressed));
        });
    });
    pressed.command(Command::Files, !open);
}

fn line(ui: &mut Ui, entry: &FileEntry, pressed: &mut Pressed) {
    ui.horizontal(|ui| {
        let name =
            if entry.kind == FileKind::Folder { format!("{}/", entry.name) } else { entry.name.clone() };
        let clicked = ui.link(name).on_hover_text(entry.path.to_string_lossy()).clicked();
        pressed.command(Command::Open(entry.path.clone()), clicked);
        ui.label(RichText::new(&entry.note).small().weak());
    });
}
