//! Files at hand: the folder's, those opened lately, sessions that a crash has left. Folders are walked through, by the mouse or
//! by keys: up and down choose, Enter opens, Backspace and left go to the folder above.

use super::{Memory, Pressed, Shows};
use crate::editor::desk::Desk;
use crate::editor::panels::{FileEntry, FileKind, FileList, Tab};
use crate::editor::{Command, Workbench};
use egui::{Align2, FontId, Key, RichText, ScrollArea, Ui, vec2};
use std::path::Path;

/// Files of the lists over the folder's, in a window with nothing on the desk.
const SHORT: usize = 4;
/// Rows that a page is.
const PAGE: usize = 10;

/// The row of a folder that was chosen.
#[derive(Default)]
pub(in crate::editor::desk) struct Chosen {
    tab: Tab,
    row: usize,
    /// It was chosen by a key and is to be seen.
    moved: bool,
    /// What is listed: another folder begins at its first row.
    folder: std::path::PathBuf,
}

/// What can be opened from a list: its lines, before them the folder above.
fn entries(files: &FileList, tab: Tab) -> (Option<&Path>, &[FileEntry]) {
    match tab {
        Tab::Folder => (files.folder.parent().filter(|p| !p.as_os_str().is_empty()), &files.entries),
        Tab::Recent => (None, &files.recent),
        Tab::Unfinished => (None, &files.unfinished),
    }
}

impl Desk {
    /// A key while a list of files shows; true where the list takes it.
    pub(in crate::editor::desk) fn choose_file(&mut self, key: Key, bench: Option<&mut Workbench>) -> bool {
        if bench.as_ref().is_some_and(|b| !b.preferences().files) {
            return false;
        }
        let chosen = &mut self.panels.files;
        let (above, lines) = entries(&self.facts.files, chosen.tab);
        let count = lines.len() + usize::from(above.is_some());
        let last = count.saturating_sub(1);
        let open = match key {
            Key::ArrowUp => Err(chosen.row.saturating_sub(1)),
            Key::ArrowDown => Err(chosen.row + 1),
            Key::PageUp => Err(chosen.row.saturating_sub(PAGE)),
            Key::PageDown => Err(chosen.row + PAGE),
            Key::Enter => Ok(match (chosen.row, above) {
                (0, Some(above)) => Some(above),
                (row, above) => lines.get(row - usize::from(above.is_some())).map(|e| e.path.as_path()),
            }),
            Key::Backspace | Key::ArrowLeft => Ok(above),
            _ => return false,
        };
        match open.map(|path| path.map(Path::to_owned)) {
            Err(row) => (chosen.row, chosen.moved, self.changed) = (row.min(last), true, true),
            Ok(Some(path)) => self.command(Command::Open(path), bench),
            Ok(None) => {}
        }
        true
    }
}

/// A window with nothing on the desk.
pub(super) fn welcome(ui: &mut Ui, shows: &Shows<'_>, memory: &mut Memory, pressed: &mut Pressed) {
    let files = &shows.facts.files;
    egui::Window::new("welcome")
        .title_bar(false)
        .resizable(false)
        .anchor(Align2::CENTER_CENTER, vec2(0.0, 0.0))
        .show(ui.ctx(), |ui| {
            ui.set_width(420.0);
            ui.vertical_centered(|ui| {
                ui.add_space(6.0);
                ui.heading("Drop a rigged glTF character here");
                ui.label(RichText::new("or a project, or a journal, or choose one below").weak());
                ui.add_space(4.0);
            });
            for (title, entries) in [("To go on with", &files.unfinished), ("Opened lately", &files.recent)] {
                if !entries.is_empty() {
                    super::widgets::caption(ui, title);
                    entries.iter().take(SHORT).for_each(|entry| {
                        let clicked = line(ui, Line::of(entry), false).clicked();
                        pressed.command(Command::Open(entry.path.clone()), clicked);
                    });
                }
            }
            memory.files.tab = Tab::Folder;
            list(ui, shows, memory, 250.0, pressed);
            ui.add_space(2.0);
            ui.label(RichText::new("Arrows choose, Enter opens, Backspace goes up").small().weak());
        });
}

/// The list beside the document.
pub(super) fn show(ui: &mut Ui, shows: &Shows<'_>, memory: &mut Memory, pressed: &mut Pressed) {
    let mut open = true;
    let window = egui::Window::new("Files").open(&mut open).collapsible(false).default_size([400.0, 340.0]);
    window.default_pos([210.0, 60.0]).show(ui.ctx(), |ui| {
        ui.horizontal(|ui| {
            for (tab, label) in
                [(Tab::Folder, "Folder"), (Tab::Recent, "Recent"), (Tab::Unfinished, "Unfinished")]
            {
                if ui.selectable_value(&mut memory.files.tab, tab, label).changed() {
                    memory.files.row = 0;
                }
            }
        });
        list(ui, shows, memory, f32::INFINITY, pressed);
    });
    pressed.command(Command::Files, !open);
}

/// The lines of the chosen tab.
fn list(ui: &mut Ui, shows: &Shows<'_>, memory: &mut Memory, height: f32, pressed: &mut Pressed) {
    let (files, chosen) = (&shows.facts.files, &mut memory.files);
    if chosen.folder != files.folder {
        *chosen = Chosen { tab: chosen.tab, folder: files.folder.clone(), ..Chosen::default() };
    }
    if chosen.tab == Tab::Folder {
        let text = RichText::new(files.folder.to_string_lossy()).small().weak();
        ui.add_space(4.0);
        ui.add(egui::Label::new(text).truncate());
    }
    let (above, entries) = entries(files, chosen.tab);
    ScrollArea::vertical().max_height(height).auto_shrink([false, height.is_finite()]).show(ui, |ui| {
        let up = above.map(|path| (path, Line { name: "..", note: "folder above", folder: true }));
        let lines = entries.iter().map(|e| (e.path.as_path(), Line::of(e)));
        for (row, (path, content)) in up.into_iter().chain(lines).enumerate() {
            let response = line(ui, content, row == chosen.row);
            if row == chosen.row && std::mem::take(&mut chosen.moved) {
                response.scroll_to_me(None);
            }
            let clicked = response.on_hover_text(path.to_string_lossy()).clicked();
            pressed.command(Command::Open(path.to_owned()), clicked);
        }
        if entries.is_empty() {
            ui.label(RichText::new("No characters, projects or folders here").weak());
        }
    });
}

/// What a line says.
#[derive(Clone, Copy)]
struct Line<'a> {
    name: &'a str,
    note: &'a str,
    folder: bool,
}

impl<'a> Line<'a> {
    fn of(entry: &'a FileEntry) -> Self {
        Self { name: &entry.name, note: &entry.note, folder: entry.kind == FileKind::Folder }
    }
}

fn line(ui: &mut Ui, Line { name, note, folder }: Line<'_>, on: bool) -> egui::Response {
    let text = if folder { format!("{name}/") } else { name.to_owned() };
    let text = RichText::new(text);
    let response = super::widgets::row(ui, 0.0, if folder { text.strong() } else { text }, on);
    let color = if on { egui::Color32::WHITE } else { ui.visuals().weak_text_color() };
    let at = response.rect.right_center() - vec2(8.0, 0.0);
    ui.painter().text(at, Align2::RIGHT_CENTER, note, FontId::proportional(11.0), color);
    response
}
