//! The editor in the window: the open document, the background jobs, and the requests of the workbench.

use super::Options;
use super::persistence::Kept;
use crate::app::jobs::{Job, Left};
use crate::app::preferences::DESK;
use crate::app::report::Ask;
use crate::app::session::{AppSession, News, POSED};
use crate::base::{Error, Result};
use crate::deform::fast::Grips;
use crate::document::DeformerSettings;
use crate::project::recovery::Unfinished;
use crate::scene::{Actor, Model, Stage};
use crate::ui::window::{Ask as Wish, WindowEditor, WindowInput, Writes};
use crate::workbench::{Command, Notice, Request};
use std::path::PathBuf;
use std::sync::Arc;

/// The question that the open dialog asks.
pub enum Pending {
    /// Whether to resume an unfinished session.
    Recover(Box<Unfinished>),
    /// Whether to discard the edits of an unfinished session for good.
    Discard(Box<Unfinished>),
    /// Whether to save the document before closing.
    Close,
    /// Whether to overwrite an existing file.
    Replace(Writes, PathBuf),
}

/// State of the window that is kept while the user is in the headset.
pub struct WindowMemory {
    desk: WindowEditor,
    pub(super) kept: Kept,
}

impl WindowMemory {
    /// Loads the saved state before the window first opens.
    pub fn new(options: &Options) -> Self {
        let kept = Kept::load(options);
        Self { desk: WindowEditor::new(kept.choices.clone()), kept }
    }
}

/// State of the editor in window mode, without the window itself.
pub struct WindowApp<'o> {
    pub(super) options: &'o Options,
    pub(super) app_session: AppSession,
    pub desk: WindowEditor,
    pub(super) kept: Kept,
    /// The state that was last saved.
    saved: Kept,
    /// Numbers that identify the render stages in jobs: the main stage, and the stage of the compared method.
    numbers: [u64; 2],
    /// A new actor for the compared deformation method.
    pub other: Option<Box<Actor>>,
    /// The question that the open dialog asks.
    pub(super) pending: Option<Pending>,
    /// The file that is being written to a path that the user has given.
    pub(super) writing: Option<(Writes, PathBuf)>,
    /// Whether the program ends as soon as the document is saved.
    pub(super) closing: bool,
    /// Whether the user has asked for the headset.
    pub calls: bool,
    asked: [Option<(*const Model, DeformerSettings, Grips)>; 2],
}

impl<'o> WindowApp<'o> {
    /// Continues a session in a window that is not open yet.
    pub fn new(options: &'o Options, app_session: AppSession, memory: WindowMemory) -> Self {
        let WindowMemory { mut desk, kept } = memory;
        let mut app_session = app_session;
        app_session.exact = true;
        // The textures of an earlier window no longer exist.
        desk.renew();
        if app_session.reporter.is_on() {
            desk.keep_texts();
        }
        let numbers = [app_session.new_stage(), app_session.new_stage()];
        let mut app = Self {
            options,
            app_session,
            desk,
            saved: kept.clone(),
            kept,
            numbers,
            other: None,
            pending: None,
            writing: None,
            closing: false,
            calls: false,
            asked: [None, None],
        };
        if let Some(model) = app.app_session.model.clone() {
            app.meet(&model);
            app.app_session.look();
        }
        app
    }

    /// Ends the visit and returns the session.
    pub fn leave(mut self) -> (AppSession, WindowMemory) {
        if let Some(bench) = &mut self.app_session.bench {
            bench.interrupt();
        }
        self.desk.facts.question = None;
        self.keep_choices();
        (self.app_session, WindowMemory { desk: self.desk, kept: self.kept })
    }

    /// Handles finished jobs and incoming requests. Returns whether the image may have changed.
    pub fn attend(&mut self, stage: &mut Stage) -> bool {
        let mut changed = false;
        while let Some(news) = self.app_session.news() {
            self.take(news, stage);
            changed = true;
        }
        while let Some(ask) = self.app_session.reporter.asked() {
            changed = true;
            match ask {
                Ask::Picture(_) => self.fail(&Error::input("a window's picture", "ask the display for it")),
                Ask::Texts => self.tell_texts(),
                Ask::Command(command) => self.command(command),
                Ask::Quit => self.app_session.quit = true,
                Ask::Step => {}
            }
        }
        self.keep_choices();
        self.make_ready(stage);
        changed |= self.app_session.mind_ghosts(self.numbers[0], stage);
        self.app_session.look_for_accents(&stage.pipelines().renderer);
        self.app_session.measure();
        self.desk.facts.unsaved = self.app_session.unsaved;
        self.desk.facts.busy = self.app_session.busy();
        self.desk.facts.rigging = self.app_session.rigging();
        changed
    }

    /// Saves the window's state if it has changed.
    fn keep_choices(&mut self) {
        if self.kept.choices != *self.desk.choices() {
            self.kept.choices.clone_from(self.desk.choices());
        }
        if self.kept != self.saved {
            self.saved.clone_from(&self.kept);
            if let Some(keeper) = &self.app_session.keeper {
                keeper.keep(DESK, &self.kept);
            }
        }
    }

    /// Requests new actors for the stages whose deformer has changed.
    fn make_ready(&mut self, stage: &mut Stage) {
        let (Some(model), Some(bench)) = (&self.app_session.model, &self.app_session.bench) else { return };
        let own = (!self.app_session.suits(stage)).then(|| bench.session().document().deformer());
        let other = self.desk.other_deformer();
        if other.is_none() {
            self.other = None;
        }
        let grips = bench.grip_shapes();
        let wanted = [own, other].map(|s| s.map(|settings| (Arc::as_ptr(model), settings, grips)));
        let differs = |i: usize| self.asked[i].as_ref().map(|(model, s, g)| (*model, s, g)) != wanted[i];
        let owned = |i: usize| wanted[i].map(|(model, s, g)| (model, s.clone(), g.clone()));
        let wanted = [0, 1].map(|i| differs(i).then(|| owned(i)));
        for (i, wanted) in wanted.into_iter().enumerate().filter_map(|(i, w)| w.map(|w| (i, w))) {
            if wanted.is_none() {
                self.app_session.cancel_binding(self.numbers[i]);
            } else if let Some((_, settings, _)) = &wanted {
                self.app_session.make_ready(self.numbers[i], stage, settings);
            }
            self.asked[i] = wanted;
        }
    }

    fn take(&mut self, news: News, stage: &mut Stage) {
        match news {
            News::Measured(strain) => self.desk.facts.strain = Some(strain),
            News::Shaped(shape) => {
                if let Some(bench) = &mut self.app_session.bench {
                    bench.receive(*shape);
                }
            }
            News::Bones(drawn) => {
                if let Some(bench) = &mut self.app_session.bench {
                    bench.receive_bones(*drawn);
                }
            }
            News::Caged(cage) => {
                if let Some(bench) = &mut self.app_session.bench {
                    bench.receive_cage(*cage);
                }
            }
            News::Command(command) => self.command(*command),
            News::Coupled(cage, coupling) => {
                if let Some(bench) = &mut self.app_session.bench {
                    bench.know_coupling((cage.mesh, cage.coordinates), coupling);
                }
            }
            // The stages get new actors, or show the preview.
            News::Bound | News::Previewed => {}
            News::Listed(files) => self.desk.facts.files.follow(files),
            News::Entered(files) => {
                self.desk.facts.files.follow(files);
                // Show the file panel after a folder was dropped or typed.
                if self.app_session.bench.as_ref().is_some_and(|b| !b.preferences().files) {
                    self.command(Command::Files);
                }
            }
            News::Looked(writes, path, false) => self.write(writes, path),
            News::Looked(writes, path, true) => self.ask_to_replace(writes, path),
            News::Opened { restored, left, told, .. } => self.opened(restored, left, told),
            News::NotOpened(error) | News::Failed(error) => {
                self.closing &= self.app_session.on_disk;
                self.desk.facts.message = Some((&error).into());
            }
            News::NotWritten(path, error) => {
                self.closing &= self.app_session.on_disk;
                self.desk.facts.message = Some((&error).into());
                // The user can correct the path.
                if let Some((writes, path)) = self.writing.take().filter(|(_, asked)| *asked == path) {
                    self.desk.ask_where(writes, &path);
                }
            }
            News::Ready(number, actor) => self.ready(number, actor, stage),
            News::Ghosts(number, ghosts) if number == self.numbers[0] => {
                self.app_session.set_ghosts(stage, Some(ghosts));
            }
            // The onion skins are for an earlier window or the headset.
            News::Ghosts(..) => {}
            News::Written(path, note) => {
                self.writing.take_if(|(_, asked)| *asked == path);
                self.app_session.quit |= self.closing && self.app_session.on_disk;
                let note = note.map_or_else(String::new, |note| format!(": {note}"));
                self.desk.facts.message = Some(Notice::fact(format!("wrote {}{note}", path.display())));
                // A saved project is the file that the user works on.
                if self.app_session.on_disk && self.app_session.place_saved() == Some(&path) {
                    self.desk.facts.file = Some(path);
                }
            }
        }
    }

    fn opened(&mut self, restored: usize, left: Option<Box<Unfinished>>, told: Option<String>) {
        let model = self.app_session.model.as_ref();
        let name = model.and_then(|m| m.asset.path.file_name()).unwrap_or_default().to_string_lossy();
        let place = self.app_session.place_saved().and_then(|p| p.file_name());
        let place = place.map_or(String::new(), |place| format!(" to {}", place.to_string_lossy()));
        let recovered = || format!("Recovered the unsaved edits of {name}; Ctrl-S saves them{place}");
        self.desk.facts.message = told.or_else(|| (restored > 0).then(recovered)).map(Notice::fact);
        if let Some(model) = self.app_session.model.clone() {
            self.meet(&model);
        }
        if let Some(left) = left {
            self.offer(left);
        }
    }

    /// Registers the open character with the window and the recent files.
    fn meet(&mut self, model: &Model) {
        self.app_session.remember();
        self.desk.facts.know(model);
    }

    fn ready(&mut self, number: u64, actor: Result<Box<Actor>>, stage: &mut Stage) {
        let at = self.numbers.iter().position(|n| *n == number);
        match (at, actor) {
            // The actor is for an earlier window or the headset.
            (None, _) => {}
            (Some(1), Ok(actor)) => self.other = Some(actor),
            // The window's size may have changed since the job began.
            (_, Ok(actor)) => {
                self.asked[0] = None;
                if let Err(error) = stage.enter_anew(actor) {
                    self.fail(&error);
                }
            }
            (_, Err(error)) => self.fail(&error),
        }
    }

    /// Runs one step of the editor.
    pub fn step(&mut self, input: &WindowInput) {
        self.desk.step(input, self.app_session.bench.as_mut());
        self.stepped();
    }

    /// Runs a command as if its button was pressed.
    pub fn command(&mut self, command: Command) {
        self.desk.run_command(command, self.app_session.bench.as_mut());
        self.stepped();
    }

    /// Handles the requests of a step or a command.
    fn stepped(&mut self) {
        let mut asks = std::mem::take(&mut self.desk.output_mut().asks);
        self.app_session.stepped();
        self.desk.facts.unsaved = self.app_session.unsaved;
        // A dialog that a request opens requests the list of its folder.
        while !asks.is_empty() {
            asks.into_iter().for_each(|wish| self.wish(wish));
            asks = std::mem::take(&mut self.desk.output_mut().asks);
        }
    }

    fn wish(&mut self, wish: Wish) {
        match wish {
            Wish::Editor(request) => self.request(request),
            Wish::Answer(answer) => self.answered(answer),
            Wish::OpenDialog if self.app_session.bench.is_some() => self.command(Command::Files),
            Wish::OpenDialog => {
                let advice = "choose a file from the list, or drop one on this window";
                self.desk.facts.message = Some(Notice::fact(advice));
            }
            Wish::SaveAsDialog => self.save_as(),
            Wish::Write(writes, path) => self.app_session.worker.ask(Job::Look(writes, path)),
            Wish::WriteNothing => self.closing = false,
            Wish::List(folder) => self.app_session.list(folder),
        }
    }

    /// Carries out a request of the editor.
    pub fn request(&mut self, request: Request) {
        let Some(request) = self.app_session.carry_out(request) else { return };
        match request {
            Request::Open(path) => self.app_session.open(path, Left::Offer),
            Request::Save => self.save(),
            Request::Export if self.app_session.has_place_of_export() => {
                self.desk.facts.message = Some(Notice::fact("exporting…"));
                self.app_session.export();
            }
            Request::Export => self.ask_where(Writes::Posed, POSED),
            Request::OtherFace => {
                self.calls = true;
                self.desk.facts.message = Some(Notice::fact("looking for a headset"));
            }
            Request::Quit if self.app_session.unsaved => self.ask_to_close(),
            Request::Quit => self.app_session.quit = true,
            // The session carries out all other requests.
            _ => {}
        }
    }

    /// Reports an error; the session continues.
    pub fn fail(&mut self, error: &Error) {
        self.app_session.fail(error);
        self.desk.facts.message = Some(error.into());
    }
}
