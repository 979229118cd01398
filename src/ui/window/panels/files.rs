//! The lists of files: the current folder, recent files, unsaved sessions. The arrow keys up and down choose a line,
//! Enter opens the line, Backspace and left go to the parent folder.

use super::{Pressed, Shows, WindowPanelMemory};
use crate::ui::palette::{FileEntry, FileKind, FileList, Tab};
use crate::ui::window::input::WindowInput;
use crate::ui::window::output::Ask;
use crate::ui::window::{Hold, WindowEditor, paths};
use crate::workbench::{Command, Workbench};
use egui::text::{CCursor, CCursorRange};
use egui::text_edit::TextEditState;
use egui::{
    Align, Align2, Event, FontId, Id, Key, Layout, Response, RichText, ScrollArea, TextEdit, Ui, vec2,
};
use std::path::{Path, PathBuf};

/// Maximum number of recent files and of unsaved sessions on the welcome screen.
const SHORT: usize = 4;
/// Height of such a list with all its lines, logical pixels.
const LONG: f32 = 180.0;
/// Number of rows per Page Up or Page Down.
const PAGE: usize = 10;

/// The selection in the lists of files.
#[derive(Default)]
pub(in crate::ui::window) struct Chosen {
    tab: Tab,
    row: usize,
    /// Whether a key moved the selection, so that the list must scroll to the selected line.
    moved: bool,
    /// The listed folder; for another folder, the selection returns to the first row.
    folder: PathBuf,
    /// Text of the path field.
    path: String,
    /// Whether the user has begun to type a path, so that the path field must get the keyboard.
    typed: bool,
    /// Whether the path field has the keyboard.
    focused: bool,
    /// Title of the list of the welcome screen that shows all its lines.
    whole: Option<&'static str>,
}

/// Returns path and text of the lines of a list: the parent folder, if there is one, and the entries.
fn lines(files: &FileList, tab: Tab) -> impl Iterator<Item = (&Path, FileLine<'_>)> {
    let (above, entries) = files.of(tab);
    let up = above.map(|path| (path, FileLine { name: "..", note: "folder above", folder: true }));
    up.into_iter().chain(entries.iter().map(|e| (e.path.as_path(), FileLine::of(e))))
}

impl WindowEditor {
    /// Handles a key while a list of files shows. Returns true if the list uses the key.
    pub(in crate::ui::window) fn choose_file(&mut self, key: Key, bench: Option<&mut Workbench>) -> bool {
        if bench.as_ref().is_some_and(|b| !b.preferences().files) {
            return false;
        }
        let chosen = &mut self.panels.files;
        let (above, lines) = self.facts.files.of(chosen.tab);
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
            Key::Escape if bench.is_some() && self.hold == Hold::Free => {
                self.command(Command::Files, bench);
                return true;
            }
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

/// Paths that the user types while a list of files shows.
impl WindowEditor {
    /// Whether a list of files shows, so that letters are the beginning of a path.
    pub(in crate::ui::window) fn takes_paths(&self, bench: Option<&Workbench>) -> bool {
        // The field gets the keyboard in the frame after the first letter, and does not see the letters of that frame.
        let free = !self.typing && (!self.takes_keys() || self.panels.files.focused);
        free && self.hold == Hold::Free && bench.is_none_or(|b| b.preferences().files)
    }

    /// Writes the first letters of a path to the path field, which then gets the keyboard.
    pub(in crate::ui::window) fn type_path(&mut self, text: &str) {
        let text = text.trim_start();
        let chosen = &mut self.panels.files;
        if !text.is_empty() {
            if !std::mem::replace(&mut chosen.typed, true) && !chosen.focused {
                chosen.path.clear();
            }
            chosen.path.push_str(text);
            (chosen.tab, self.changed) = (Tab::Folder, true);
        }
    }
}

/// Refreshes of the lists of files.
impl WindowEditor {
    /// Requests the folder's list when the list appears and when the window gets the focus back.
    pub(in crate::ui::window) fn keep_lists(&mut self, input: &WindowInput, bench: Option<&Workbench>) {
        let lists = bench.is_none_or(|b| b.preferences().files);
        let back = input.events.iter().any(|e| matches!(e, Event::WindowFocused(true)));
        if lists && (back || !self.lists) {
            self.list(self.facts.files.folder.clone());
        }
        self.lists = lists;
    }

    /// Requests the list of a folder.
    pub(in crate::ui::window) fn list(&mut self, folder: PathBuf) {
        if !folder.as_os_str().is_empty() {
            self.output.asks.push(Ask::List(folder));
        }
    }
}

/// Draws the welcome screen of a window without a document.
pub(super) fn welcome(ui: &mut Ui, shows: &Shows<'_>, memory: &mut WindowPanelMemory, pressed: &mut Pressed) {
    let files = &shows.facts.files;
    let shown = egui::Window::new("welcome")
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
            for (title, entries) in
                [("Unfinished", &files.unfinished), ("Recent", &files.recent), ("Samples", &files.samples)]
            {
                if !entries.is_empty() {
                    super::widgets::caption(ui, title);
                    let all = memory.files.whole == Some(title);
                    let most = if all { usize::MAX } else { SHORT };
                    let mut lines = |ui: &mut Ui| {
                        for entry in entries.iter().take(most) {
                            let answer = line(ui, FileLine::of(entry), false);
                            let clicked = answer.on_hover_text(entry.path.to_string_lossy()).clicked();
                            pressed.command(Command::Open(entry.path.clone()), clicked);
                        }
                    };
                    if all {
                        ScrollArea::vertical().id_salt(title).max_height(LONG).show(ui, lines);
                    } else {
                        lines(ui);
                    }
                    let rest = entries.len().saturating_sub(SHORT);
                    if rest > 0
                        && ui
                            .small_button(if all { "Fewer".into() } else { format!("{rest} more") })
                            .clicked()
                    {
                        memory.files.whole = (!all).then_some(title);
                    }
                }
            }
            memory.files.tab = Tab::Folder;
            list(ui, shows, memory, 250.0, pressed);
            ui.add_space(2.0);
            let keys = "Arrows choose, Enter opens, Backspace goes up; or type or paste a path";
            ui.label(RichText::new(keys).small().weak());
        });
    // A window whose lists have changed is in the middle only in the next pass.
    let (key, size) = (Id::new("size of the welcome"), shown.map(|s| s.response.rect.size()));
    if ui.data(|d| d.get_temp(key)) != Some(size) {
        ui.data_mut(|d| d.insert_temp(key, size));
        ui.ctx().request_repaint();
    }
}

/// Draws the lists of files over the picture of a document.
pub(super) fn show(ui: &mut Ui, shows: &Shows<'_>, memory: &mut WindowPanelMemory, pressed: &mut Pressed) {
    let mut open = true;
    let window = egui::Window::new("Files").open(&mut open).collapsible(false).default_size([400.0, 340.0]);
    window.default_pos([210.0, 60.0]).show(ui.ctx(), |ui| {
        ui.horizontal(|ui| {
            for (tab, label) in [
                (Tab::Folder, "Folder"),
                (Tab::Recent, "Recent"),
                (Tab::Samples, "Samples"),
                (Tab::Unfinished, "Unfinished"),
            ] {
                if ui.selectable_value(&mut memory.files.tab, tab, label).changed() {
                    memory.files.row = 0;
                }
            }
        });
        list(ui, shows, memory, f32::INFINITY, pressed);
    });
    pressed.command(Command::Files, !open);
}

/// Draws the lines of the chosen tab.
fn list(ui: &mut Ui, shows: &Shows<'_>, memory: &mut WindowPanelMemory, height: f32, pressed: &mut Pressed) {
    let (files, chosen) = (&shows.facts.files, &mut memory.files);
    if chosen.folder != files.folder {
        let path = files.folder.to_string_lossy().into_owned();
        *chosen = Chosen { tab: chosen.tab, folder: files.folder.clone(), path, ..Chosen::default() };
    }
    if chosen.tab == Tab::Folder {
        ui.add_space(4.0);
        ui.horizontal(|ui| path(ui, files, chosen, pressed));
    }
    ScrollArea::vertical().max_height(height).auto_shrink([false, height.is_finite()]).show(ui, |ui| {
        for (row, (path, content)) in lines(files, chosen.tab).enumerate() {
            let response = line(ui, content, row == chosen.row);
            if row == chosen.row && std::mem::take(&mut chosen.moved) {
                response.scroll_to_me(None);
            }
            let clicked = response.on_hover_text(path.to_string_lossy()).clicked();
            pressed.command(Command::Open(path.to_owned()), clicked);
        }
        if files.of(chosen.tab).1.is_empty() {
            ui.label(RichText::new("No characters, projects, cages or folders here").weak());
        }
    });
}

/// Draws the folder's path as a text field, and a button that reads the folder again.
fn path(ui: &mut Ui, files: &FileList, chosen: &mut Chosen, pressed: &mut Pressed) {
    ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
        if ui.small_button("Refresh").on_hover_text("Reads the folder again").clicked() {
            pressed.list = Some(files.folder.clone());
        }
        let id = ui.make_persistent_id("path");
        let typed = std::mem::take(&mut chosen.typed);
        if typed {
            ui.memory_mut(|m| m.request_focus(id));
            select(ui, id, [chosen.path.chars().count(); 2]);
        }
        let text = ui.add(TextEdit::singleline(&mut chosen.path).id(id).desired_width(f32::INFINITY));
        if text.gained_focus() && !typed {
            select_all(ui, &text, &chosen.path);
        }
        chosen.focused = text.has_focus();
        let ended = |key| text.lost_focus() && ui.input(|i| i.key_pressed(key));
        if ended(Key::Escape) {
            chosen.path = files.folder.to_string_lossy().into_owned();
        }
        let path = paths::typed(&chosen.path, &files.folder).filter(|_| ended(Key::Enter));
        match path {
            Some(path) if path != files.folder => pressed.shared.commands.push(Command::Open(path)),
            // If the user confirms the path of the listed folder, reads that folder again.
            path => pressed.list = path.or(pressed.list.take()),
        }
    });
}

/// Selects the whole text of a field, so that typing or pasting replaces it.
pub(super) fn select_all(ui: &Ui, text: &Response, content: &str) {
    select(ui, text.id, [0, content.chars().count()]);
}

/// Selects the characters between two places in a text field.
fn select(ui: &Ui, id: Id, places: [usize; 2]) {
    let mut state = TextEditState::load(ui.ctx(), id).unwrap_or_default();
    let [first, last] = places.map(CCursor::new);
    state.cursor.set_char_range(Some(CCursorRange::two(first, last)));
    state.store(ui.ctx(), id);
}

/// Draws the lines of a folder. Returns the path that was clicked, and whether the path is a folder.
pub(super) fn browse(ui: &mut Ui, files: &FileList) -> Option<(PathBuf, bool)> {
    let mut chosen = None;
    for (path, content) in lines(files, Tab::Folder) {
        if line(ui, content, false).clicked() {
            chosen = Some((path.to_owned(), content.folder));
        }
    }
    chosen
}

/// The text of a line.
#[derive(Clone, Copy)]
struct FileLine<'a> {
    name: &'a str,
    note: &'a str,
    folder: bool,
}

impl<'a> FileLine<'a> {
    fn of(entry: &'a FileEntry) -> Self {
        Self { name: &entry.name, note: &entry.note, folder: entry.kind == FileKind::Folder }
    }
}

fn line(ui: &mut Ui, FileLine { name, note, folder }: FileLine<'_>, on: bool) -> Response {
    let text = if folder { format!("{name}/") } else { name.to_owned() };
    let text = RichText::new(text);
    let response = super::widgets::row(ui, 0.0, if folder { text.strong() } else { text }, on);
    let color = if on { egui::Color32::WHITE } else { ui.visuals().weak_text_color() };
    let at = response.rect.right_center() - vec2(8.0, 0.0);
    ui.painter().text(at, Align2::RIGHT_CENTER, note, FontId::proportional(11.0), color);
    response
}
