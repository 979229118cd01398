//! The dialog that asks for folder and name of a project or export, before the first save and for *Save as*.

use super::{Pressed, Shows, WindowPanelMemory, files, widgets};
use crate::export::is_model;
use crate::ui::window::output::Writes;
use crate::ui::window::{WindowEditor, paths};
use egui::{Align, Context, Id, Key, Layout, Modal, RichText, ScrollArea, TextEdit, Ui};
use std::path::{Path, PathBuf};

/// State of the dialog.
pub(in crate::ui::window) struct Saving {
    writes: Writes,
    folder: String,
    name: String,
    /// The folder whose list the dialog shows.
    listed: PathBuf,
    /// Whether the dialog is new, so that the name field must get the keyboard focus.
    fresh: bool,
}

impl Saving {
    /// Returns the path to write; `None` while the name is empty.
    fn target(&self) -> Option<PathBuf> {
        if self.name.trim().is_empty() {
            return None;
        }
        let folder = paths::typed(&self.folder, &self.listed).unwrap_or_else(|| self.listed.clone());
        let path = paths::typed(&self.name, &folder)?;
        let name = path.file_name()?.to_string_lossy().into_owned();
        let ending = match self.writes {
            _ if is_model(&path) => "",
            Writes::Project => ".project.glb",
            Writes::Posed => ".glb",
        };
        Some(path.with_file_name(name + ending))
    }
}

impl WindowEditor {
    /// Asks the user where to write; `place` is the proposed path. The answer is
    /// [`crate::ui::window::output::Ask::Write`] or [`crate::ui::window::output::Ask::WriteNothing`].
    pub fn ask_where(&mut self, writes: Writes, place: &Path) {
        let folder = place.parent().unwrap_or(Path::new("")).to_owned();
        self.panels.saving = Some(Saving {
            writes,
            folder: folder.to_string_lossy().into_owned(),
            name: place.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            listed: folder.clone(),
            fresh: true,
        });
        self.list(folder);
        self.changed = true;
    }

    /// The title of the open dialog; `None` if no dialog is open.
    pub fn asks_where(&self) -> Option<&'static str> {
        self.panels.saving.as_ref().map(|s| s.writes.title())
    }
}

pub(super) fn show(
    context: &Context,
    shows: &Shows<'_>,
    memory: &mut WindowPanelMemory,
    pressed: &mut Pressed,
) {
    let Some(saving) = &mut memory.saving else { return };
    let answer = Modal::new(Id::new("save")).show(context, |ui| {
        ui.set_width(440.0);
        ui.heading(saving.writes.title());
        ui.add_space(6.0);
        // If the folder field contains another path than the listed folder, Enter opens that folder instead of saving.
        let goes = paths::typed(&saving.folder, &saving.listed).is_some_and(|f| f != saving.listed);
        places(ui, shows, saving, pressed);
        if let (Writes::Posed, Some(bench)) = (saving.writes, shows.bench) {
            crate::ui::panels::clips::exported(ui, &shows.shared(bench, &|_| None), &mut pressed.shared);
        }
        ui.add_space(10.0);
        buttons(ui, saving, !goes)
    });
    match answer.inner {
        Some(None) => pressed.write = Some(None),
        Some(Some(path)) => pressed.write = Some(Some((saving.writes, path))),
        None => return,
    }
    memory.saving = None;
}

/// Draws the folder's path and content, and the name field.
fn places(ui: &mut Ui, shows: &Shows<'_>, saving: &mut Saving, pressed: &mut Pressed) {
    let mut enter = |folder: PathBuf, saving: &mut Saving| {
        saving.folder = folder.to_string_lossy().into_owned();
        saving.listed.clone_from(&folder);
        pressed.list = Some(folder);
    };
    ui.label("Folder");
    let text = ui.add(TextEdit::singleline(&mut saving.folder).desired_width(f32::INFINITY));
    if text.lost_focus()
        && let Some(folder) = paths::typed(&saving.folder, &saving.listed).filter(|f| *f != saving.listed)
    {
        enter(folder, saving);
    }
    let files = &shows.facts.files;
    let mut chosen = None;
    ScrollArea::vertical().max_height(170.0).auto_shrink([false, true]).show(ui, |ui| {
        if files.folder == saving.listed {
            chosen = files::browse(ui, files);
        } else {
            ui.label(RichText::new("The folder is being read").small().weak());
        }
    });
    match chosen {
        Some((path, true)) => enter(path, saving),
        Some((path, false)) => {
            saving.name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        }
        None => {}
    }
    ui.add_space(4.0);
    ui.label("Name");
    let name = ui.add(TextEdit::singleline(&mut saving.name).desired_width(f32::INFINITY));
    if std::mem::take(&mut saving.fresh) {
        name.request_focus();
        files::select_all(ui, &name, &saving.name);
    }
}

/// Draws the buttons. Returns the path to write once the user saves, `Some(None)` once the user cancels.
fn buttons(ui: &mut Ui, saving: &Saving, enter: bool) -> Option<Option<PathBuf>> {
    let target = saving.target();
    let mut answer = None;
    ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
        let save = ui.add_enabled(target.is_some(), widgets::primary(saving.writes.verb()));
        if save.clicked() {
            answer = target.clone().map(Some);
        }
        if ui.button("Cancel").clicked() {
            answer = Some(None);
        }
    });
    let key = |key| ui.input(|i| i.key_pressed(key));
    if key(Key::Escape) {
        answer = Some(None);
    } else if key(Key::Enter) && enter && answer.is_none() {
        answer = target.map(Some);
    }
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_without_an_ending_gets_that_of_its_kind() {
        for (writes, name, path) in [
            (Writes::Project, "dance", Some("/home/me/dance.project.glb")),
            (Writes::Project, "dance.2", Some("/home/me/dance.2.project.glb")),
            (Writes::Project, " dance.GLB ", Some("/home/me/dance.GLB")),
            (Writes::Posed, "dance", Some("/home/me/dance.glb")),
            (Writes::Posed, "dance.vrm", Some("/home/me/dance.vrm")),
            (Writes::Posed, "/data/dance.gltf", Some("/data/dance.gltf")),
            (Writes::Posed, "  ", None),
        ] {
            let folder = "/home/me";
            let listed = folder.into();
            let saving = Saving { writes, folder: folder.into(), name: name.into(), listed, fresh: false };
            assert_eq!(saving.target(), path.map(PathBuf::from), "{name:?}");
        }
    }
}
