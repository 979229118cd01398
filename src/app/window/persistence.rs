//! The state that the window saves (preferences and recent files), and the dialogs about saving.

use super::Options;
use super::app::{Pending, WindowApp};
use crate::app::jobs::Job;
use crate::app::preferences;
use crate::app::samples::is_sample;
use crate::app::session::PROJECT;
use crate::project::recovery::Unfinished;
use crate::ui::window::{Choices, Question, Writes};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Maximum number of recent files.
const RECENT: usize = 12;

/// Window state saved between sessions.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Kept {
    /// Preferences: panels, keys and theme.
    pub choices: Choices,
    /// Size of the window, logical pixels; `None` if no size was saved yet.
    pub size: Option<[f64; 2]>,
    /// Whether the window was maximised.
    pub maximised: bool,
    /// Recently opened files, newest first.
    pub recent: Vec<PathBuf>,
}

impl Kept {
    /// Loads the saved state, or the defaults.
    pub fn load(options: &Options) -> Self {
        if options.forget {
            return Self::default();
        }
        let mut kept: Self = preferences::load(preferences::DESK);
        kept.size = kept.size.filter(|s| s.iter().all(|v| (100.0..20000.0).contains(v)));
        kept.recent.truncate(RECENT);
        kept
    }

    /// Moves a file to the front of the recent files.
    fn opened(&mut self, path: &Path) {
        let path = whole(path);
        self.recent.retain(|p| *p != path);
        self.recent.insert(0, path);
        self.recent.truncate(RECENT);
    }
}

/// Makes a path absolute, because a path from the command line may be a file name without a folder.
fn whole(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// Returns the path of a file with the same name in `folder`, if there is one.
fn in_folder(path: PathBuf, folder: Option<&Path>) -> PathBuf {
    match (folder, path.file_name()) {
        (Some(folder), Some(name)) => folder.join(name),
        _ => path,
    }
}

/// Returns a path that is not `taken`. If `first` is set and `path` is free, returns `path`; otherwise returns a
/// numbered variant such as `hero-2`.
fn free(path: &Path, first: bool, taken: impl Fn(&Path) -> bool) -> PathBuf {
    if first && !taken(path) {
        return path.to_owned();
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let ending = [".project.glb", ".posed.glb", ".glb"].into_iter().find(|e| name.ends_with(e)).unwrap_or("");
    let stem = name.strip_suffix(ending).unwrap_or(&name);
    // Strip an existing number, so that `hero-2` is followed by `hero-3`.
    let counted = stem.rsplit_once('-').filter(|(_, n)| n.parse::<u32>().is_ok());
    let stem = counted.map_or(stem, |(stem, _)| stem);
    let ending = if ending == ".glb" { ".project.glb" } else { ending };
    let numbered = |n: u32| path.with_file_name(format!("{stem}-{n}{ending}"));
    (2..1000).map(numbered).find(|p| !taken(p)).unwrap_or_else(|| numbered(1000))
}

impl WindowApp<'_> {
    /// Adds a file to the recent files and lists its folder.
    pub(super) fn remember(&mut self, path: &Path) {
        self.kept.opened(path);
        let folder = whole(path).parent().unwrap_or(Path::new(".")).to_owned();
        self.app_session.worker.ask(Job::List(folder, self.kept.recent.clone()));
    }

    /// Asks whether to resume an unfinished session on the file.
    pub(super) fn offer(&mut self, left: Box<Unfinished>) {
        let edits = left.operations;
        let (what, were) = if edits == 1 { ("edit", "was") } else { ("edits", "were") };
        let name = self.app_session.model.as_ref().and_then(|m| m.asset.path.file_name()).unwrap_or_default();
        self.desk.facts.question = Some(Question {
            title: "Recover what was not saved?".into(),
            text: format!(
                "{edits} {what} on {} {were} not saved by an earlier session.",
                name.to_string_lossy()
            ),
            answers: ["Recover", "Decide later"].map(str::to_owned).into(),
            discards: Some("Discard…".into()),
        });
        self.pending = Some(Pending::Recover(left));
    }

    /// Asks whether to save the document before the program ends.
    pub(super) fn ask_to_close(&mut self) {
        self.desk.facts.question = Some(Question {
            title: "Save before closing?".into(),
            text: "What is not saved can be recovered when the file is opened again.".into(),
            answers: ["Save and close", "Go on working"].map(str::to_owned).into(),
            discards: Some("Close without saving".into()),
        });
        self.pending = Some(Pending::Close);
    }

    /// Asks whether to discard the edits of an unfinished session for good.
    fn ask_to_discard(&mut self, left: Box<Unfinished>) {
        let edits = left.operations;
        self.desk.facts.question = Some(Question {
            title: format!("Discard {edits} {}?", if edits == 1 { "edit" } else { "edits" }),
            text: "They are in no project, and cannot be brought back afterwards.".into(),
            answers: vec!["Keep them".to_owned()],
            discards: Some("Discard".into()),
        });
        self.pending = Some(Pending::Discard(left));
    }

    /// Asks whether to overwrite a file.
    pub(super) fn ask_to_replace(&mut self, writes: Writes, path: PathBuf) {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let source = self.app_session.model.as_ref().is_some_and(|m| whole(&m.asset.path) == path);
        let text =
            if source { "It is the file that is open." } else { "A file of this name is there already." };
        self.desk.facts.question = Some(Question {
            title: format!("Replace {name}?"),
            text: text.into(),
            answers: vec!["Choose another name".to_owned()],
            discards: Some("Replace".into()),
        });
        self.pending = Some(Pending::Replace(writes, path));
    }

    /// Handles the answer of the open dialog.
    pub(super) fn answered(&mut self, answer: usize) {
        match (self.pending.take(), answer, &self.app_session.model) {
            (Some(Pending::Recover(left)), 0, Some(model)) => {
                let model = model.clone();
                self.app_session.opening = true;
                self.app_session.worker.ask(Job::Restore(left, model));
            }
            (Some(Pending::Recover(left)), 2, _) => self.ask_to_discard(left),
            (Some(Pending::Discard(left)), 0, _) => self.offer(left),
            (Some(Pending::Discard(left)), 1, _) => self.app_session.worker.ask(Job::Discard(left)),
            (Some(Pending::Close), 0, _) => {
                self.closing = true;
                self.save();
            }
            (Some(Pending::Close), 2, _) => self.app_session.quit = true,
            (Some(Pending::Replace(writes, path)), 0, _) => self.desk.ask_where(writes, &path),
            (Some(Pending::Replace(writes, path)), 1, _) => self.write(writes, path),
            _ => {}
        }
    }

    /// Saves the document to its known path, or asks for a path.
    pub(super) fn save(&mut self) {
        if self.app_session.has_place() {
            self.app_session.save();
        } else {
            self.ask_where(Writes::Project, PROJECT);
        }
    }

    /// Asks for a new path and saves the document there.
    pub(super) fn save_as(&mut self) {
        let Some(path) = self.app_session.saved_to() else { return };
        let home = self.home_of_sample().filter(|_| self.app_session.last_written().is_none());
        let path = in_folder(path, home.as_deref());
        let path = free(&whole(&path), false, |p| self.is_listed(p));
        self.desk.ask_where(Writes::Project, &path);
    }

    /// Returns the home folder if the character is a sample: samples are in a hidden folder.
    fn home_of_sample(&self) -> Option<PathBuf> {
        let sample = self.app_session.model.as_ref().is_some_and(|m| is_sample(&whole(&m.asset.path)));
        std::env::home_dir().filter(|_| sample)
    }

    /// Asks for the path of a file; the default is in the folder of the last written file, or else beside the character.
    /// For samples, it is in the home folder.
    pub(super) fn ask_where(&mut self, writes: Writes, name: &str) {
        let Some(path) = self.app_session.place(name) else { return };
        let home = self.home_of_sample();
        let written = self.app_session.last_written().and_then(|p| p.parent());
        let path = in_folder(path, written.or(home.as_deref()));
        let path = free(&whole(&path), true, |p| self.is_listed(p));
        self.desk.ask_where(writes, &path);
    }

    /// Saves or exports the document to `path`.
    pub(super) fn write(&mut self, writes: Writes, path: PathBuf) {
        match writes {
            Writes::Project => self.app_session.save_to(path),
            Writes::Posed => self.app_session.export_to(path),
        }
    }

    /// Returns whether the last listed folder contains the file.
    fn is_listed(&self, path: &Path) -> bool {
        self.desk.facts.files.entries.iter().any(|e| e.path == path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::window::Theme;
    use crate::workbench::{GrabBy, Preferences, Tool};

    #[test]
    fn files_opened_lately_are_each_once_the_newest_first() {
        let mut kept = Kept::default();
        let root = std::env::temp_dir();
        (0..20).for_each(|i| kept.opened(&root.join(format!("{i}.glb"))));
        kept.opened(&root.join("15.glb"));
        assert_eq!(kept.recent.len(), RECENT);
        assert_eq!(kept.recent[..2], [root.join("15.glb"), root.join("19.glb")]);
        let text = serde_json::to_string(&kept).unwrap();
        assert_eq!(serde_json::from_str::<Kept>(&text).unwrap(), kept);
        assert_eq!(serde_json::from_str::<Kept>("{}").unwrap(), Kept::default());
    }

    /// Settings files of an earlier version must still load.
    #[test]
    fn settings_of_an_earlier_build_are_read_whole() {
        let kept: Kept = serde_json::from_str(include_str!("../../../tests/fixtures/desk.json")).unwrap();
        let choices = Choices { theme: Theme::Light, zoom: 1.25, ..Choices::default() };
        let recent = vec!["/home/me/box.glb".into()];
        assert_eq!(kept, Kept { choices, size: Some([1280.0, 800.0]), maximised: true, recent });
        let chosen: Preferences =
            serde_json::from_str(include_str!("../../../tests/fixtures/vr.json")).unwrap();
        let usual = Preferences { grab: GrabBy::Limb, ..Preferences::default() };
        let wanted =
            Preferences { tool: Tool::Skin, radius: 0.041, mirror: true, left_handed: true, ..usual };
        assert_eq!(chosen, wanted);
    }

    #[test]
    fn a_dialog_proposes_the_folder_of_the_last_written_file() {
        let path = PathBuf::from("/samples/human.posed.glb");
        assert_eq!(
            in_folder(path.clone(), Some(Path::new("/home/me"))),
            Path::new("/home/me/human.posed.glb")
        );
        assert_eq!(in_folder(path.clone(), None), path);
    }

    #[test]
    fn saving_under_a_new_name_overwrites_nothing() {
        let new = |name: &str, first: bool, taken: &[&str]| {
            let path = free(&Path::new("/home").join(name), first, |p| taken.iter().any(|t| p.ends_with(t)));
            path.file_name().unwrap().to_string_lossy().into_owned()
        };
        assert_eq!(new("hero.project.glb", true, &[]), "hero.project.glb");
        assert_eq!(new("hero.project.glb", true, &["hero.project.glb"]), "hero-2.project.glb");
        assert_eq!(new("hero.project.glb", false, &[]), "hero-2.project.glb");
        assert_eq!(new("hero-2.project.glb", false, &["hero-2.project.glb"]), "hero-3.project.glb");
        assert_eq!(new("hero.posed.glb", true, &["hero.posed.glb"]), "hero-2.posed.glb");
        assert_eq!(new("hero.glb", false, &["hero-2.project.glb"]), "hero-3.project.glb");
    }
}
