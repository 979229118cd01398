//! What is kept: projects, exports, the journal's end, and the user's choices.

use super::Options;
use super::app::{App, Pending};
use crate::edit::Session;
use crate::editor::desk::{Choices, Question};
use crate::editor::recovery::Unfinished;
use crate::editor::{Model, Preferences, recovery};
use crate::front::context::say;
use crate::front::kept;
use crate::front::report::Event;
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

    /// Tool, brush and the like: those of the headset.
    pub fn preferences(options: &Options) -> Preferences {
        if options.forget { Preferences::default() } else { kept::load(kept::PREFERENCES) }
    }

    /// A file was opened: it is the newest.
    fn opened(&mut self, path: &Path) {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        self.recent.retain(|p| *p != path);
        self.recent.insert(0, path);
        self.recent.truncate(RECENT);
    }
}

/// A file beside the character's, with its name before it; a project is itself.
fn beside(model: &Model, name: &str) -> PathBuf {
    let file: &Path = &model.asset.path;
    if model.document.is_some() && name == "project.glb" {
        return file.to_owned();
    }
    let stem = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let stem = stem.strip_suffix(".project").unwrap_or(&stem);
    file.with_file_name(format!("{stem}.{name}"))
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
        self.worker.ask(Job::List(folder, self.kept.recent.clone()));
    }

    /// Asks what is to become of a session on the file that ended without saving.
    pub(super) fn offer(&mut self, left: Box<Unfinished>) {
        let (edits, what) = (left.operations, if left.operations == 1 { "edit" } else { "edits" });
        let name = self.model.as_ref().and_then(|m| m.asset.path.file_name()).unwrap_or_default();
        self.desk.facts.question = Some(Question {
            title: "Recover what was not saved?".into(),
            text: format!(
                "{edits} {what} on {} were not saved by an earlier session.",
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
        match (self.pending.take(), answer, &self.model) {
            (Some(Pending::Recover(left)), 0, Some(model)) => {
                self.opening = true;
                self.worker.ask(Job::Restore(left, model.clone()));
            }
            (Some(Pending::Recover(left)), 1, _) => self.worker.ask(Job::Discard(left)),
            (Some(Pending::Close), 0, _) => {
                self.closing = true;
                self.save();
            }
            (Some(Pending::Close), 1, _) => self.quit = true,
            _ => {}
        }
    }

    /// Saves the document as a project beside its character, or as the project it is.
    pub(super) fn save(&mut self) {
        if let Some(path) = self.model.as_ref().map(|m| beside(m, "project.glb")) {
            self.save_to(self.saving.clone().unwrap_or(path));
        }
    }

    /// Saves it under a new name.
    pub(super) fn save_as(&mut self) {
        if let Some(path) = self.model.as_ref().map(|m| free(&beside(m, "project.glb"))) {
            self.save_to(path);
        }
    }

    fn save_to(&mut self, path: PathBuf) {
        let (Some(bench), Some(model)) = (&self.bench, &self.model) else { return };
        let document = bench.session().document();
        (self.saved, self.saving, self.on_disk) = (Some(document.hash()), Some(path.clone()), false);
        self.desk.facts.unsaved = false;
        self.worker.ask(Job::Save(path, model.clone(), Box::new(document.clone())));
    }

    /// Writes a posed glTF beside the character.
    pub(super) fn export(&mut self) {
        let (Some(bench), Some(model)) = (&self.bench, &self.model) else { return };
        let document = Box::new(bench.session().document().clone());
        self.worker.ask(Job::Export(beside(model, "posed.glb"), model.clone(), document));
    }

    /// The journal goes where its document is on disk, or never was anything.
    pub(super) fn end_journal(&mut self, session: Session<'static>) {
        let same = self.saved.as_ref() == Some(&session.document().hash());
        if (self.on_disk && same) || session.history().1 <= 1 {
            if let Err(error) = recovery::end(session) {
                self.fail(&error);
            }
        } else if !self.reporter.is_on()
            && let Some(journal) = session.journal()
        {
            say(format_args!("not saved; the next start offers {}", journal.path().display()));
        }
    }

    /// Ends the program: waits for what is being written, keeps the choices.
    pub fn finish(mut self) {
        while let Some(done) = self.worker.wait() {
            self.take(done, None);
        }
        if let Some(bench) = &self.bench {
            self.preferences = bench.preferences().clone();
        }
        self.kept.choices = self.desk.choices().clone();
        if !self.options.forget {
            kept::save(kept::DESK, &self.kept);
            kept::save(kept::PREFERENCES, &self.preferences);
        }
        if let Some(bench) = self.bench.take() {
            self.end_journal(bench.into_session());
        }
        self.reporter.event(Event::Ended);
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
