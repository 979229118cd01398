//! What a window keeps: the user's choices, files opened lately; and what it asks about keeping.

use super::Options;
use super::app::{Pending, WindowApp};
use crate::app::jobs::Job;
use crate::app::preferences;
use crate::app::session::PROJECT;
use crate::project::recovery::Unfinished;
use crate::ui::window::{Choices, Question, Writes};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Files that are remembered.
const RECENT: usize = 12;

/// What a window keeps between sessions.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Kept {
    /// Panels, keys, theme.
    pub choices: Choices,
    /// The window, logical pixels; none before one was closed.
    pub size: Option<[f64; 2]>,
    /// It filled the screen.
    pub maximised: bool,
    /// Files opened lately, the newest first.
    pub recent: Vec<PathBuf>,
}

impl Kept {
    /// What was kept, or the defaults.
    pub fn load(options: &Options) -> Self {
        if options.forget {
            return Self::default();
        }
        let mut kept: Self = preferences::load(preferences::DESK);
        kept.size = kept.size.filter(|s| s.iter().all(|v| (100.0..20000.0).contains(v)));
        kept.recent.truncate(RECENT);
        kept
    }

    /// A file was opened: it is the newest.
    fn opened(&mut self, path: &Path) {
        let path = whole(path);
        self.recent.retain(|p| *p != path);
        self.recent.insert(0, path);
        self.recent.truncate(RECENT);
    }
}

/// The path from the root on: a file that is named on the command line may have none of its folder.
fn whole(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// The first name of this kind that is still free: as it is, where `first`, or numbered.
fn free(path: &Path, first: bool, taken: impl Fn(&Path) -> bool) -> PathBuf {
    if first && !taken(path) {
        return path.to_owned();
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let ending = [".project.glb", ".posed.glb", ".glb"].into_iter().find(|e| name.ends_with(e)).unwrap_or("");
    let stem = name.strip_suffix(ending).unwrap_or(&name);
    // A number that is there goes on.
    let counted = stem.rsplit_once('-').filter(|(_, n)| n.parse::<u32>().is_ok());
    let stem = counted.map_or(stem, |(stem, _)| stem);
    let ending = if ending == ".glb" { ".project.glb" } else { ending };
    let numbered = |n: u32| path.with_file_name(format!("{stem}-{n}{ending}"));
    (2..1000).map(numbered).find(|p| !taken(p)).unwrap_or_else(|| numbered(1000))
}

impl WindowApp<'_> {
    /// A file was opened.
    pub(super) fn remember(&mut self, path: &Path) {
        self.kept.opened(path);
        let folder = whole(path).parent().unwrap_or(Path::new(".")).to_owned();
        self.app_session.worker.ask(Job::List(folder, self.kept.recent.clone()));
    }

    /// Asks what is to become of a session on the file that ended without saving.
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

    /// Asks whether the program is to end with a document that is not saved.
    pub(super) fn ask_to_close(&mut self) {
        self.desk.facts.question = Some(Question {
            title: "Save before closing?".into(),
            text: "What is not saved can be recovered when the file is opened again.".into(),
            answers: ["Save and close", "Go on working"].map(str::to_owned).into(),
            discards: Some("Close without saving".into()),
        });
        self.pending = Some(Pending::Close);
    }

    /// Asks whether the edits of a session that ended without saving should be lost for good.
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

    /// Asks whether a file should be overwritten.
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

    /// The question was answered.
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

    /// Saves the document where it was saved before; the first time the user is asked where.
    pub(super) fn save(&mut self) {
        if self.app_session.has_place() {
            self.app_session.save();
        } else {
            self.ask_where(Writes::Project, PROJECT);
        }
    }

    /// Saves the document under another name.
    pub(super) fn save_as(&mut self) {
        let Some(path) = self.app_session.saved_to() else { return };
        let path = free(&whole(&path), false, |p| self.is_listed(p));
        self.desk.ask_where(Writes::Project, &path);
    }

    /// Asks where a file of this kind should be written; beside the character, unless the user wants otherwise.
    pub(super) fn ask_where(&mut self, writes: Writes, name: &str) {
        let Some(path) = self.app_session.place(name) else { return };
        let path = free(&whole(&path), true, |p| self.is_listed(p));
        self.desk.ask_where(writes, &path);
    }

    /// Writes it there.
    pub(super) fn write(&mut self, writes: Writes, path: PathBuf) {
        match writes {
            Writes::Project => self.app_session.save_to(path),
            Writes::Posed => self.app_session.export_to(path),
        }
    }

    /// Whether a file is in the folder that was listed last.
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

    /// What an earlier build wrote, before the code moved into rooms.
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
