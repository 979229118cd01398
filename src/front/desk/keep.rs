//! What a window keeps: the user's choices, files opened lately; and what it asks about keeping.

use super::Options;
use super::app::{App, Pending};
use crate::editor::desk::{Choices, Question};
use crate::editor::recovery::Unfinished;
use crate::front::kept;
use crate::front::sitting::PROJECT;
use crate::front::work::Job;
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
        let mut kept: Self = kept::load(kept::DESK);
        kept.size = kept.size.filter(|s| s.iter().all(|v| (100.0..20000.0).contains(v)));
        kept.recent.truncate(RECENT);
        kept
    }

    /// A file was opened: it is the newest.
    fn opened(&mut self, path: &Path) {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        self.recent.retain(|p| *p != path);
        self.recent.insert(0, path);
        self.recent.truncate(RECENT);
    }
}

/// The first name of this kind that is still free.
fn free(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let stem = name.strip_suffix(".project.glb").or(name.strip_suffix(".glb")).unwrap_or(&name).to_owned();
    let numbered = |n: u32| path.with_file_name(format!("{stem}-{n}.project.glb"));
    (2..1000).map(numbered).find(|p| !p.exists()).unwrap_or_else(|| numbered(1000))
}

impl App<'_> {
    /// A file was opened.
    pub(super) fn remember(&mut self, path: &Path) {
        self.kept.opened(path);
        let folder = path.parent().unwrap_or(Path::new(".")).to_owned();
        self.sitting.worker.ask(Job::List(folder, self.kept.recent.clone()));
    }

    /// Asks what is to become of a session on the file that ended without saving.
    pub(super) fn offer(&mut self, left: Box<Unfinished>) {
        let edits = left.operations;
        let (what, were) = if edits == 1 { ("edit", "was") } else { ("edits", "were") };
        let name = self.sitting.model.as_ref().and_then(|m| m.asset.path.file_name()).unwrap_or_default();
        self.desk.facts.question = Some(Question {
            title: "Recover what was not saved?".into(),
            text: format!(
                "{edits} {what} on {} {were} not saved by an earlier session.",
                name.to_string_lossy()
            ),
            answers: ["Recover", "Throw away", "Decide later"].map(str::to_owned).into(),
        });
        self.pending = Some(Pending::Recover(left));
    }

    /// Asks whether the program is to end with a document that is not saved.
    pub(super) fn ask_to_close(&mut self) {
        self.desk.facts.question = Some(Question {
            title: "Save before closing?".into(),
            text: "What is not saved can be recovered when the file is opened again.".into(),
            answers: ["Save and close", "Close without saving", "Go on working"].map(str::to_owned).into(),
        });
        self.pending = Some(Pending::Close);
    }

    /// The question was answered.
    pub(super) fn answered(&mut self, answer: usize) {
        match (self.pending.take(), answer, &self.sitting.model) {
            (Some(Pending::Recover(left)), 0, Some(model)) => {
                let model = model.clone();
                self.sitting.opening = true;
                self.sitting.worker.ask(Job::Restore(left, model));
            }
            (Some(Pending::Recover(left)), 1, _) => self.sitting.worker.ask(Job::Discard(left)),
            (Some(Pending::Close), 0, _) => {
                self.closing = true;
                self.sitting.save();
            }
            (Some(Pending::Close), 1, _) => self.sitting.quit = true,
            _ => {}
        }
    }

    /// Saves the document under a new name.
    pub(super) fn save_as(&mut self) {
        if let Some(path) = self.sitting.place(PROJECT) {
            self.sitting.save_to(free(&path));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn saving_under_a_new_name_overwrites_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("hero.project.glb");
        assert_eq!(free(&path), folder.path().join("hero-2.project.glb"));
        std::fs::write(folder.path().join("hero-2.project.glb"), "").unwrap();
        assert_eq!(free(&path), folder.path().join("hero-3.project.glb"));
    }
}
