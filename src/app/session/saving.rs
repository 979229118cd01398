//! Writes projects and exports to disk, and deletes the journal when it is no longer needed.

use super::{AppSession, CAGE, POSED, PROJECT};
use crate::app::context::say;
use crate::app::jobs::{Job, SaveJob};
use crate::app::places::{in_folder, whole};
use crate::app::preferences::PREFERENCES;
use crate::app::report::Event;
use crate::app::samples::is_sample;
use crate::base::Result;
use crate::base::math::DVec3;
use crate::cage::obj_text;
use crate::document::Session;
use crate::project::recovery;
use crate::ui::window::Writes;
use crate::workbench::Workbench;
use std::path::{Path, PathBuf};

/// The file name in the output folder.
fn name_of(writes: Writes) -> &'static str {
    match writes {
        Writes::Project => PROJECT,
        Writes::Posed => POSED,
    }
}

impl AppSession {
    /// Returns the default path for the file `name`: in the output folder, or beside the character's file with the stem
    /// of that file as prefix. A project that was opened from a file is saved to that file. Returns `None` if no
    /// document is open.
    pub fn place(&self, name: &str) -> Option<PathBuf> {
        let model = self.model.as_ref()?;
        if let Some(out) = &self.out {
            return Some(out.join(name));
        }
        let file: &Path = &model.asset.path;
        if model.document.is_some() && name == PROJECT {
            return Some(file.to_owned());
        }
        let stem = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let stem = [".project", ".weights"].iter().find_map(|kind| stem.strip_suffix(kind)).unwrap_or(&stem);
        Some(file.with_file_name(format!("{stem}.{name}")))
    }

    /// Returns the path of the last save.
    pub fn place_saved(&self) -> Option<&PathBuf> {
        self.saved.as_ref().map(|(_, path)| path)
    }

    /// Returns the path of the last save, or else the default path of the project.
    pub fn saved_to(&self) -> Option<PathBuf> {
        self.place_saved().cloned().or_else(|| self.place(PROJECT))
    }

    /// Returns the path of the last save or else of the last export.
    pub fn last_written(&self) -> Option<&PathBuf> {
        self.place_saved().or(self.exported.as_ref())
    }

    /// Returns the absolute path that Sinew proposes for the file `name`: in the output folder, or in the folder of the
    /// last written file, or else beside the character's file. For samples, it is in the home folder instead, because
    /// samples are in a hidden folder. Returns `None` if no document is open.
    pub fn proposal(&self, name: &str) -> Option<PathBuf> {
        let path = self.place(name)?;
        let home = self.home_of_sample();
        let written = self.last_written().and_then(|p| p.parent());
        let folder = written.or(home.as_deref()).filter(|_| self.out.is_none());
        Some(whole(&in_folder(path, folder)))
    }

    /// Returns the absolute path whose name, with a number, *Save as* proposes.
    pub fn proposal_of_copy(&self) -> Option<PathBuf> {
        let home = self.home_of_sample().filter(|_| self.last_written().is_none());
        Some(whole(&in_folder(self.saved_to()?, home.as_deref())))
    }

    /// Returns the home folder if the character is a sample.
    fn home_of_sample(&self) -> Option<PathBuf> {
        let sample = self.model.as_ref().is_some_and(|m| is_sample(&whole(&m.asset.path)));
        std::env::home_dir().filter(|_| sample)
    }

    /// Saves the document, or exports it as a posed glTF, without a dialog: to the known path or, without one, to the
    /// proposed path. If a file is there, the name gets a number, so that no file is replaced.
    pub fn write_without_asking(&mut self, writes: Writes) {
        match writes {
            Writes::Project if self.has_place() => self.save(),
            Writes::Posed if self.has_place_of_export() => self.export(),
            // A press while the path is being found adds nothing.
            _ if self.finding.contains(&writes) => {}
            _ => {
                if let Some(path) = self.proposal(name_of(writes)) {
                    self.finding.push(writes);
                    self.worker.ask(Job::Find(writes, path));
                }
            }
        }
    }

    /// Writes a file to the path that was found for a proposed path.
    pub(super) fn found(&mut self, writes: Writes, proposed: &Path, path: PathBuf) {
        self.finding.retain(|w| *w != writes);
        // The user may have opened another file.
        if self.proposal(name_of(writes)).as_deref() == Some(proposed) {
            match writes {
                Writes::Project => self.save_to(path),
                Writes::Posed => self.export_to(path),
            }
        }
    }

    /// Returns whether the project can be saved without asking for a path.
    pub fn has_place(&self) -> bool {
        self.out.is_some()
            || self.saved.is_some()
            || self.model.as_ref().is_some_and(|m| m.document.is_some())
    }

    /// Saves the document as a project, to the last saved or the default path.
    pub fn save(&mut self) {
        if let Some(path) = self.saved_to() {
            self.save_to(path);
        }
    }

    /// Saves the document as [`AppSession::save`] does, but only if it has changed since the last save.
    pub fn keep(&mut self) {
        let hash = self.bench.as_ref().map(|b| b.session().document().hash());
        if self.saved.as_ref().map(|(hash, _)| hash) != hash.as_ref() {
            self.save();
        }
    }

    /// Saves the document as a project at `path`.
    pub fn save_to(&mut self, path: PathBuf) {
        let (Some(bench), Some(model)) = (&self.bench, &self.model) else { return };
        let document = bench.session().document();
        let hash = document.hash();
        self.unsaved = false;
        self.clean = Some(hash.clone());
        let journal = bench.session().journal();
        let note = journal.map(|j| (j.path().to_owned(), j.last_save(whole(&path))));
        // With an output folder, nobody is asked whether a file may be replaced.
        let own = self.place_saved() == Some(&path) || whole(&model.asset.path) == whole(&path);
        let (model, document, keeps) = (model.clone(), document.clone(), self.out.is_some() && !own);
        self.worker.ask(Job::Save(Box::new(SaveJob { path: path.clone(), keeps, model, document, note })));
        (self.saved, self.on_disk) = (Some((hash, path)), false);
    }

    /// Returns whether a posed glTF can be written without asking for a path.
    pub fn has_place_of_export(&self) -> bool {
        self.out.is_some() || self.exported.is_some()
    }

    /// Exports a posed glTF to the last exported or the default path.
    pub fn export(&mut self) {
        if let Some(path) = self.exported.clone().or_else(|| self.place(POSED)) {
            self.export_to(path);
        }
    }

    /// Exports a posed glTF to `path` and remembers the path for later exports.
    pub fn export_to(&mut self, path: PathBuf) {
        let (Some(bench), Some(model)) = (&self.bench, &self.model) else { return };
        self.exported = Some(path.clone());
        let document = Box::new(bench.session().document().clone());
        self.worker.ask(Job::Export(path, model.clone(), document, bench.preferences().export_error));
    }

    /// Writes the displayed rest cage as `.obj`, to the proposed path.
    pub(super) fn export_cage(&mut self) {
        let (Some(bench), Some(path)) = (&self.bench, self.proposal(CAGE)) else { return };
        let Some(cage) = bench.session().document().cage() else { return };
        let offset = |v: usize| bench.shown_cage().get(v).map_or(DVec3::ZERO, |d| d.as_dvec3());
        let positions: Vec<DVec3> =
            cage.mesh.positions.iter().enumerate().map(|(v, x)| *x + offset(v)).collect();
        self.worker.ask(Job::Text(path, obj_text(&cage.mesh, &positions)));
    }

    /// Deletes the journal if the document is saved or unedited; otherwise tells the user where the journal is. Returns
    /// whether a journal stays.
    pub(super) fn end_journal(&mut self, session: Session<'static>) -> bool {
        let saved = self.saved.as_ref().map(|(hash, _)| hash);
        let same = saved == Some(&session.document().hash());
        if (self.on_disk && same) || session.history().1 <= 1 {
            if let Err(error) = recovery::end(session) {
                self.fail(&error);
            }
            return false;
        }
        let Some(journal) = session.journal() else { return false };
        if !self.reporter.is_on() {
            say(format_args!("not saved; the next start goes on from {}", journal.path().display()));
        }
        true
    }

    /// Ends the session: writes the output folder, waits for all jobs and saves the preferences.
    ///
    /// # Errors
    /// The error that ended the program, such as a first file that cannot be opened.
    pub fn finish(mut self) -> Result<()> {
        if let Some(bench) = &mut self.bench {
            bench.interrupt();
        }
        if let Some(out) = self.out.clone() {
            if self.last_pictures.len() == 2 {
                let pictures = std::mem::take(&mut self.last_pictures);
                for (name, picture) in ["left.png", "right.png"].into_iter().zip(&pictures) {
                    self.worker.ask(Job::Picture(out.join(name), vec![picture.clone()]));
                }
                self.worker.ask(Job::Picture(out.join("stereo.png"), pictures));
            }
            self.keep();
            self.export();
        }
        while let Some(done) = self.worker.wait() {
            self.take(done);
        }
        self.keep_choices();
        if let Some(bench) = self.bench.take() {
            self.end_journal(bench.into_session());
        }
        if let Some(error) = self.failure {
            return Err(error);
        }
        self.reporter.event(Event::Ended);
        Ok(())
    }

    /// Ends a session that has neither window nor headset; saves only the preferences.
    pub fn abandon(mut self) {
        self.keep_choices();
    }

    /// Saves the preferences if the user has changed them.
    pub(super) fn keep_choices(&mut self) {
        let Some(chosen) = self.bench.as_ref().map(Workbench::preferences) else { return };
        if *chosen != self.preferences {
            self.preferences.clone_from(chosen);
            if let Some(keeper) = &self.keeper {
                keeper.keep(PREFERENCES, chosen);
            }
        }
    }
}
