//! The state that the window saves (panels, keys and theme, size), and the dialogs about saving.

use super::Options;
use super::app::{Pending, WindowApp};
use crate::app::jobs::{Job, Left};
use crate::app::places::{free, whole};
use crate::app::preferences;
use crate::app::session::PROJECT;
use crate::base::counted;
use crate::project::recovery::Unfinished;
use crate::ui::window::{Choices, Question, Writes};
use crate::workbench::Notice;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Window state saved between sessions. The files of earlier builds also have the recent files.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Kept {
    /// Preferences: panels, keys and theme.
    pub choices: Choices,
    /// Size of the window, logical pixels; `None` if no size was saved yet.
    pub size: Option<[f64; 2]>,
    /// Whether the window was maximised.
    pub maximised: bool,
}

impl Kept {
    /// Loads the saved state, or the defaults.
    pub fn load(options: &Options) -> Self {
        if options.forget {
            return Self::default();
        }
        let mut kept: Self = preferences::load(preferences::DESK);
        kept.size = kept.size.filter(|s| s.iter().all(|v| (100.0..20000.0).contains(v)));
        kept
    }
}

impl WindowApp<'_> {
    /// Asks whether to resume an unfinished session.
    pub(super) fn offer(&mut self, left: Box<Unfinished>) {
        let (file, edits) = (left.name(), counted(left.operations, "edit"));
        let text = match &left.saved {
            None => {
                let were = if left.operations == 1 { "was" } else { "were" };
                format!("{edits} on {file} {were} not saved by an earlier session.")
            }
            Some(project) => {
                let name = project.file_name().unwrap_or_default().to_string_lossy();
                format!(
                    "A session on {file} with {edits} went on after {name} was saved. Its last edits are in no project."
                )
            }
        };
        self.desk.facts.question = Some(Question {
            title: "Recover what was not saved?".into(),
            text,
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
        let edits = counted(left.operations, "edit");
        self.desk.facts.question = Some(Question {
            title: format!("Discard {edits}?"),
            text: "Those that are in no project cannot be brought back afterwards.".into(),
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
        match (self.pending.take(), answer) {
            (Some(Pending::Recover(left)), 0) => self.app_session.open(left.journal, Left::GoOn),
            (Some(Pending::Recover(left)), 2) => self.ask_to_discard(left),
            (Some(Pending::Discard(left)), 0) => self.offer(left),
            (Some(Pending::Discard(left)), 1) => self.app_session.worker.ask(Job::Discard(left)),
            (Some(Pending::Close), 0) => {
                self.closing = true;
                self.save();
            }
            (Some(Pending::Close), 2) => self.app_session.quit = true,
            (Some(Pending::Replace(writes, path)), 0) => self.desk.ask_where(writes, &path),
            (Some(Pending::Replace(writes, path)), 1) => self.write(writes, path),
            _ => {}
        }
    }

    /// Saves the document to its known path, or asks for a path.
    pub(super) fn save(&mut self) {
        if self.app_session.has_place() {
            self.desk.facts.message = Some(Notice::fact("saving…"));
            self.app_session.save();
        } else {
            self.ask_where(Writes::Project, PROJECT);
        }
    }

    /// Asks for a new path and saves the document there.
    pub(super) fn save_as(&mut self) {
        let Some(path) = self.app_session.proposal_of_copy() else { return };
        let path = free(&path, false, |p| self.is_listed(p));
        self.desk.ask_where(Writes::Project, &path);
    }

    /// Asks for the path of a file.
    pub(super) fn ask_where(&mut self, writes: Writes, name: &str) {
        let Some(path) = self.app_session.proposal(name) else { return };
        let path = free(&path, true, |p| self.is_listed(p));
        self.desk.ask_where(writes, &path);
    }

    /// Saves or exports the document to `path`.
    pub(super) fn write(&mut self, writes: Writes, path: PathBuf) {
        self.writing = Some((writes, path.clone()));
        match writes {
            Writes::Project => {
                self.desk.facts.message = Some(Notice::fact("saving…"));
                self.app_session.save_to(path);
            }
            Writes::Posed => {
                self.desk.facts.message = Some(Notice::fact("exporting…"));
                self.app_session.export_to(path);
            }
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
    fn the_saved_state_is_read_again() {
        let kept = Kept { size: Some([900.0, 700.0]), maximised: true, ..Kept::default() };
        let text = serde_json::to_string(&kept).unwrap();
        assert_eq!(serde_json::from_str::<Kept>(&text).unwrap(), kept);
        assert_eq!(serde_json::from_str::<Kept>("{}").unwrap(), Kept::default());
    }

    /// Settings files of an earlier version must still load.
    #[test]
    fn settings_of_an_earlier_build_are_read_whole() {
        let kept: Kept = serde_json::from_str(include_str!("../../../tests/fixtures/desk.json")).unwrap();
        let choices = Choices { theme: Theme::Light, zoom: 1.25, ..Choices::default() };
        assert_eq!(kept, Kept { choices, size: Some([1280.0, 800.0]), maximised: true });
        let chosen: Preferences =
            serde_json::from_str(include_str!("../../../tests/fixtures/vr.json")).unwrap();
        let usual = Preferences { grab: GrabBy::Limb, ..Preferences::default() };
        let wanted =
            Preferences { tool: Tool::Skin, radius: 0.041, mirror: true, left_handed: true, ..usual };
        assert_eq!(chosen, wanted);
    }
}
