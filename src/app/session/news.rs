//! The results of finished background jobs. The session takes the results that it needs, and the front end gets all
//! others as [`News`].

use super::{AppSession, Derived};
use crate::app::context::say;
use crate::app::jobs::{Done, Job, Left, Opened};
use crate::app::places::whole;
use crate::app::report::Event;
use crate::app::samples::is_sample;
use crate::base::{Error, Result};
use crate::cage::{Cage, Coupling};
use crate::project::recovery::Unfinished;
use crate::scene::{Actor, DrawnBones, Ghosts, NewCage};
use crate::surface::Sculpt;
use crate::ui::palette::{FileList, Strain};
use crate::ui::window::Writes;
use crate::workbench::{Command, Workbench};
use std::path::PathBuf;
use std::sync::Arc;

/// The result of a finished background job, for the front end that the user sees (window or headset).
pub enum News {
    /// A file was opened; `left` is an unfinished session that the user can resume. `told` says that the document that
    /// was open before has unsaved edits.
    Opened { path: PathBuf, restored: usize, left: Option<Box<Unfinished>>, told: Option<String> },
    /// The file could not be opened.
    NotOpened(Error),
    /// Contents of a folder for the file panel.
    Listed(FileList),
    /// Contents of a folder that the user tried to open.
    Entered(FileList),
    /// Whether the file to be written exists already.
    Looked(Writes, PathBuf, bool),
    /// The actor for the render stage with this number.
    Ready(u64, Result<Box<Actor>>),
    /// The onion skins for the render stage with this number.
    Ghosts(u64, Box<Ghosts>),
    /// Strain of the document's pose.
    Measured(Strain),
    /// Joints of drawn bones for the workbench.
    Bones(Box<DrawnBones>),
    /// A new cage for the workbench.
    Caged(Box<NewCage>),
    /// The coupling of a cage, for the workbench.
    Coupled(Box<Cage>, Arc<Coupling>),
    /// A command that a job asks for.
    Command(Box<Command>),
    /// The character has another binding.
    Bound,
    /// A new sculpt layer for the workbench, from an accent stroke or a refit.
    Shaped(Box<Sculpt>),
    /// The workbench shows a new preview of an accent stroke.
    Previewed,
    /// A file was written. The text is the most important fact about it.
    Written(PathBuf, Option<String>),
    /// A file could not be written.
    NotWritten(PathBuf, Error),
    /// A job failed.
    Failed(Error),
}

impl AppSession {
    /// Returns the next finished job, if any, without blocking.
    pub fn news(&mut self) -> Option<News> {
        while let Some(done) = self.worker.done() {
            if let Some(news) = self.take(done) {
                return Some(news);
            }
        }
        None
    }

    pub(super) fn take(&mut self, done: Done) -> Option<News> {
        Some(match done {
            Done::Measured(strain) => {
                self.measuring = false;
                match strain {
                    Ok((strain, readings)) => {
                        if let Some(bench) = &mut self.bench {
                            bench.receive_readings(readings.readings);
                            if let Some(curve) = readings.crossings {
                                bench.receive_crossings(self.gauged_at, curve);
                            }
                        }
                        self.reporter.event(Event::Measured(strain.clone()));
                        News::Measured(strain)
                    }
                    Err(error) => {
                        // Cancels the request for measurements, because another attempt would fail too.
                        if let Some(bench) = &mut self.bench {
                            bench.give_readings_up();
                        }
                        self.failed(error)
                    }
                }
            }
            Done::Accent(solver, start, outcome) => self.accent_done(solver, &start, *outcome),
            Done::Bones(drawn) => {
                self.drawing_bones -= 1;
                match drawn {
                    Ok(drawn) => News::Bones(drawn),
                    Err(error) => self.failed(error),
                }
            }
            Done::Cage(cage) => {
                self.caging = None;
                match cage {
                    Ok(cage) => News::Caged(cage),
                    Err(error) => self.failed(error),
                }
            }
            Done::Factors(painted) => {
                let command =
                    painted.and_then(|p| self.bench.as_ref().map(|b| b.with_factors(&p)).transpose());
                match command {
                    Ok(Some(command)) => News::Command(Box::new(command)),
                    Ok(None) => return None,
                    Err(error) => self.failed(error),
                }
            }
            Done::Coupled(cage, Ok(coupling)) => News::Coupled(cage, coupling),
            Done::Coupled(cage, Err(error)) => {
                if let Some(bench) = &mut self.bench {
                    bench.coupling_failed(&cage, &error);
                }
                self.failed(error)
            }
            Done::Bound(model) => {
                self.rebinding = false;
                match model {
                    Ok(model) => self.bound(model)?,
                    Err(error) => self.failed(error),
                }
            }
            Done::Rigged(written) => {
                let began = self.rigging.take();
                match written {
                    Ok(Some((path, told))) => {
                        if !self.reporter.is_on() {
                            say(format_args!("wrote {}: {told}", path.display()));
                        }
                        self.reporter.event(Event::Written(path.clone()));
                        self.open(path.clone(), Left::Offer);
                        self.derived = began.map(|(_, revision)| Derived {
                            path: path.clone(),
                            note: told.clone(),
                            revision,
                        });
                        News::Written(path, Some(told))
                    }
                    Ok(None) => return None,
                    Err(error) => self.failed(error),
                }
            }
            Done::Settled(Ok(shape)) => return shape.map(News::Shaped),
            Done::Settled(Err(error)) => self.failed(error),
            Done::Listed(files) => News::Listed(files),
            Done::Entered(files) => {
                self.opening = false;
                News::Entered(files)
            }
            Done::Looked(writes, path, there) => News::Looked(writes, path, there),
            Done::Found(writes, proposed, path) => {
                self.found(writes, &proposed, path);
                return None;
            }
            Done::Opened(path, Ok(opened)) => self.opened(path, *opened),
            Done::Opened(_, Err(error)) => {
                self.opening = false;
                self.fail(&error);
                News::NotOpened(error)
            }
            Done::Ready(number, actor) => {
                // Bind for full-body grabs after the actor is ready: nobody can grab an invisible body.
                if let Some(model) = self.model.as_ref().filter(|_| std::mem::take(&mut self.unbound)) {
                    self.worker.ask(Job::Whole(model.clone()));
                }
                let job = self.binding.iter().position(|(n, _)| *n == number);
                let cancelled = job.map(|i| self.binding.remove(i)).is_some_and(|(_, p)| p.is_cancelled());
                if cancelled && actor.is_err() {
                    return None;
                }
                News::Ready(number, actor)
            }
            Done::Ghosts(number, ghosts) => return self.ghosts_made(number, ghosts),
            // A failed bind is reported when the user grabs the body.
            Done::Whole(character, body) => {
                if let (Some(bench), Ok(body)) = (&mut self.bench, body) {
                    bench.set_full_body(character, (*body).into());
                }
                return None;
            }
            Done::Discarded(Ok(())) => return None,
            Done::Discarded(Err(error)) => self.failed(error),
            Done::Written(path, Ok(told)) => {
                if self.place_saved() == Some(&path) {
                    self.on_disk = true;
                    self.remember_file(whole(&path));
                }
                if !self.reporter.is_on() {
                    say(format_args!("wrote {}", path.display()));
                    told.report.lines().for_each(say);
                }
                self.reporter.event(Event::Written(path.clone()));
                News::Written(path, told.note)
            }
            Done::Written(path, Err(error)) => {
                if self.place_saved() == Some(&path) {
                    (self.saved, self.clean) = (None, None);
                    self.unsaved = true;
                }
                self.fail(&error);
                News::NotWritten(path, error)
            }
        })
    }

    fn opened(&mut self, path: PathBuf, opened: Opened) -> News {
        let Opened { model, session, restored, place, left, mut elsewhere } = opened;
        self.opening = false;
        let character = model.bound.character.clone();
        let derived = self.derived.take().filter(|file| file.path == path);
        let mut told = derived.as_ref().map(|file| format!("wrote {}: {}", path.display(), file.note));
        match self.bench.take() {
            Some(mut bench) => {
                let old = bench.open(session, character);
                let old_revision = old.revision();
                elsewhere.retain(|journal| old.journal().is_none_or(|j| j.path() != journal));
                if self.end_journal(old) {
                    let name = self.model.as_ref().and_then(|m| m.asset.path.file_name()).unwrap_or_default();
                    let name = name.to_string_lossy();
                    told = Some(match (told, derived) {
                        (Some(wrote), Some(file)) if file.revision == old_revision => {
                            format!("{wrote}, with all edits; the list of files has {name} under Unfinished")
                        }
                        _ => format!("{name} has unsaved edits: the list of files has them under Unfinished"),
                    });
                }
                self.bench = Some(bench);
            }
            None => self.bench = Some(Workbench::new(session, character, self.preferences.clone())),
        }
        if !elsewhere.is_empty() {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            told = told.or_else(|| {
                Some(format!(
                    "another Sinew has {name} open; if that one has crashed, open the file again for its edits"
                ))
            });
        }
        if let Some(bench) = &mut self.bench {
            bench.know_binding(model.bound.attachments.clone());
            // The files would cover the character that was chosen from them.
            if bench.preferences().files {
                bench.run_command(Command::Files);
            }
            // A user who opens a sample may be new.
            bench.run_command(Command::Tour(restored == 0 && is_sample(&path)));
            self.revision = bench.session().revision();
        }
        self.model = Some(model);
        (self.on_disk, self.exported) = (false, None);
        self.saved = place.map(|path| (String::new(), path));
        self.unbound = true;
        self.measured = None;
        self.hash.clear();
        // The document is unmodified unless operations were restored from a journal.
        let hash = self.bench.as_ref().map(|b| b.session().document().hash());
        self.clean = hash.filter(|_| restored == 0);
        self.reporter.event(Event::Loaded(path.clone()));
        self.changed();
        self.unsaved = restored > 0;
        News::Opened { path, restored, left, told }
    }
}
