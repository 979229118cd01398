//! What is kept: takes, projects, exports, and the journal's end.

use super::Options;
use super::app::App;
use crate::base::Result;
use crate::edit::Sculpt;
use crate::editor::{Command, Eye, Model, Preferences, Recorder, TakeStart, recovery};
use crate::front::context::say;
use crate::front::kept;
use crate::front::report::Event;
use crate::front::work::Job;
use std::path::{Path, PathBuf};

/// Name of a project in the output folder, and end of the name of one beside its character.
const PROJECT: &str = "project.glb";

impl App<'_> {
    /// Records the frame, as the tools got it and as the eyes saw it.
    pub fn record(&mut self, eyes: Option<[Eye; 2]>) {
        if let (Some(take), Some(_)) = (&mut self.take, &self.bench) {
            self.taken.input.clone_from(&self.input);
            self.taken.eyes = eyes.unwrap_or(self.taken.eyes);
            take.frame(&self.taken);
        }
    }

    /// The take begins with the first document, once it is known how large an eye's picture is, and goes on with the
    /// next ones.
    pub(super) fn start_take(&mut self) {
        let (Some(path), Some(model), Some(bench)) = (&self.options.record, &self.model, &self.bench) else {
            return;
        };
        let known = self.eye_size != [0; 2];
        let same = self.taking.as_ref().is_some_and(|m| std::sync::Arc::ptr_eq(m, model));
        if !known || same {
            return;
        }
        let start = TakeStart::new(model, bench.session(), bench.preferences(), self.eye_size);
        let recorded = match &mut self.take {
            Some(take) => take.opened(&start),
            None => Recorder::new(path, &start).map(|take| self.take = Some(take)),
        };
        self.taking = Some(model.clone());
        if let Err(error) = recorded {
            self.fail(&error);
        }
    }

    /// Runs a command, and records it.
    pub fn command(&mut self, command: Command) {
        let Some(bench) = &mut self.bench else { return };
        let recorded = self.take.as_mut().map_or(Ok(()), |take| take.command(&command));
        bench.run_command(command);
        if let Err(error) = recorded {
            self.fail(&error);
        }
    }

    /// Gives the workbench an edit that was made beside the frames, and records it.
    pub(super) fn receive(&mut self, shape: Sculpt) {
        let Some(bench) = &mut self.bench else { return };
        let recorded = self.take.as_mut().map_or(Ok(()), |take| take.shape(&shape));
        bench.receive(shape);
        if let Err(error) = recorded {
            self.fail(&error);
        }
    }

    /// The pictures are not seen any more: what was being drawn is dropped, the document is saved.
    pub fn interrupted(&mut self) {
        if let Some(bench) = &mut self.bench {
            bench.interrupt();
            self.unposed = true;
        }
        if let Some(take) = &mut self.take {
            take.interrupt();
        }
        // Where nobody has chosen a place yet, the journal has it.
        let project = self.model.as_ref().is_some_and(|m| m.document.is_some());
        if self.options.out.is_some() || self.saving.is_some() || project {
            self.save();
        }
    }

    /// Saves the document as a project, beside the frames; not again where it has not changed.
    pub fn save(&mut self) {
        let (Some(bench), Some(model)) = (&self.bench, &self.model) else { return };
        let document = bench.session().document();
        let hash = document.hash();
        if self.saved.as_ref() == Some(&hash) {
            return;
        }
        let path = self.place(model, PROJECT);
        (self.saved, self.saving, self.kept) = (Some(hash), Some(path.clone()), false);
        self.unsaved = false;
        self.worker.ask(Job::Save(path, model.clone(), Box::new(document.clone())));
    }

    /// Exports the document as a posed glTF, beside the frames.
    pub fn export(&mut self) {
        let (Some(bench), Some(model)) = (&self.bench, &self.model) else { return };
        let path = self.place(model, "posed.glb");
        let document = Box::new(bench.session().document().clone());
        self.worker.ask(Job::Export(path, model.clone(), document));
    }

    /// In the output folder, or beside the file with the file's name before it.
    pub(super) fn place(&self, model: &Model, name: &str) -> PathBuf {
        if let Some(out) = &self.options.out {
            return out.join(name);
        }
        let file: &Path = &model.asset.path;
        if model.document.is_some() && name == PROJECT {
            return file.to_owned();
        }
        let stem = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let stem = stem.strip_suffix(".project").unwrap_or(&stem);
        file.with_file_name(format!("{stem}.{name}"))
    }

    fn keep_choices(options: &Options, preferences: &Preferences) {
        if !options.forget {
            kept::save(kept::PREFERENCES, preferences);
        }
    }

    /// Ends the program where no session could be had: jobs under way are finished, nothing is written.
    pub fn abandon(self) {
        if let Some(bench) = &self.bench {
            Self::keep_choices(self.options, bench.preferences());
        }
    }

    /// Ends the program: writes what was asked for and waits until it is written.
    ///
    /// # Errors
    /// Where the first file could not be opened.
    pub fn finish(mut self) -> Result<()> {
        if let Some(bench) = &mut self.bench {
            bench.interrupt();
            if let Some(take) = &mut self.take {
                take.interrupt();
            }
            Self::keep_choices(self.options, bench.preferences());
        }
        if let Some(out) = &self.options.out {
            if self.last_pictures.len() == 2 {
                let pictures = std::mem::take(&mut self.last_pictures);
                for (name, picture) in ["left.png", "right.png"].into_iter().zip(&pictures) {
                    self.worker.ask(Job::Picture(out.join(name), vec![picture.clone()]));
                }
                self.worker.ask(Job::Picture(out.join("stereo.png"), pictures));
            }
            self.save();
            self.export();
        }
        while let Some(done) = self.worker.wait() {
            self.take(done, None);
        }
        if let (Some(take), Some(bench)) = (self.take.take(), &self.bench)
            && let Err(error) = take.finish(bench.session().document().hash())
        {
            self.fail(&error);
        }
        self.end_journal();
        if !self.reporter.is_on() {
            self.stages.text().lines().for_each(say);
            self.tell_phases();
        }
        match self.failure.take() {
            Some(error) => Err(error),
            None => {
                self.reporter.event(Event::Ended);
                Ok(())
            }
        }
    }

    /// The journal goes where its document is on disk, or never was anything.
    pub(super) fn end_journal(&mut self) {
        let Some(bench) = self.bench.take() else { return };
        let session = bench.into_session();
        let same = self.saved.as_ref() == Some(&session.document().hash());
        if (self.kept && same) || session.history().1 <= 1 {
            if let Err(error) = recovery::end(session) {
                self.fail(&error);
            }
        } else if !self.reporter.is_on()
            && let Some(journal) = session.journal()
        {
            say(format_args!("not saved; the next start goes on from {}", journal.path().display()));
        }
    }

    /// Has the strain measured for the palette, when nothing is being drawn and something has changed.
    pub(super) fn measure(&mut self) {
        let (Some(model), Some(bench)) = (&self.model, &self.bench) else { return };
        let wanted = self.unmeasured && bench.preferences().palette && !bench.is_busy();
        if wanted && !self.measuring && !self.quit {
            (self.measuring, self.unmeasured) = (true, false);
            let document = Box::new(bench.session().document().clone());
            self.worker.ask(Job::Measure(model.clone(), document));
        }
    }
}
