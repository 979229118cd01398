//! The document at the window: what is open, the jobs under way, what the editor asks for.

use super::Options;
use super::persistence::Kept;
use crate::app::jobs::{Job, Left};
use crate::app::preferences;
use crate::app::report::Ask;
use crate::app::session::{AppSession, News, POSED};
use crate::base::{Error, Result};
use crate::document::DeformerSettings;
use crate::project::recovery::Unfinished;
use crate::scene::{Actor, Model, Stage};
use crate::ui::window::{Ask as Wish, WindowEditor, WindowInput, Writes};
use crate::workbench::{Command, Request};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What a question is about.
pub enum Pending {
    /// A session that ended without saving: to be gone on with?
    Recover(Box<Unfinished>),
    /// That one's edits should be lost: really?
    Discard(Box<Unfinished>),
    /// The document is not saved: to be closed?
    Close,
    /// The file is there already: to be overwritten?
    Replace(Writes, PathBuf),
}

/// What a window keeps of itself while its user is in a headset.
pub struct Memory {
    desk: WindowEditor,
    pub(super) kept: Kept,
}

impl Memory {
    /// Of a window that was not open yet.
    pub fn new(options: &Options) -> Self {
        let kept = Kept::load(options);
        Self { desk: WindowEditor::new(kept.choices.clone()), kept }
    }

    /// The user's choices are for the next start too.
    pub fn keep(mut self, options: &Options) {
        self.kept.choices = self.desk.choices().clone();
        if !options.forget {
            preferences::save(preferences::DESK, &self.kept);
        }
    }

    /// Files opened lately.
    pub fn recent(&self) -> Vec<PathBuf> {
        self.kept.recent.clone()
    }
}

/// The program at a window, without its window.
pub struct WindowApp<'o> {
    pub(super) options: &'o Options,
    pub(super) app_session: AppSession,
    pub desk: WindowEditor,
    pub(super) kept: Kept,
    /// Numbers of the stages that characters are made ready for: its own, and that of the method compared with.
    numbers: [u64; 2],
    /// One for the method that is compared with, when it is there.
    pub other: Option<Box<Actor>>,
    /// What the user is asked.
    pub(super) pending: Option<Pending>,
    /// The program ends when the document is on disk.
    pub(super) closing: bool,
    /// The user wants to go on in the headset.
    pub calls: bool,
    asked: [Option<(*const Model, DeformerSettings)>; 2],
}

impl<'o> WindowApp<'o> {
    /// Goes on with a session, in a window that is not there yet.
    pub fn new(options: &'o Options, app_session: AppSession, memory: Memory) -> Self {
        let Memory { mut desk, kept } = memory;
        let mut app_session = app_session;
        app_session.exact = true;
        // The pictures of an earlier window are gone.
        desk.renew();
        let numbers = [app_session.new_stage(), app_session.new_stage()];
        let mut app = Self {
            options,
            app_session,
            desk,
            kept,
            numbers,
            other: None,
            pending: None,
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

    /// Gives the session back.
    pub fn leave(mut self) -> (AppSession, Memory) {
        if let Some(bench) = &mut self.app_session.bench {
            bench.interrupt();
        }
        self.desk.facts.question = None;
        (self.app_session, Memory { desk: self.desk, kept: self.kept })
    }

    /// Takes over what is done and what is asked for. True where something may look otherwise.
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
                Ask::Command(command) => self.command(command),
                Ask::Quit => self.app_session.quit = true,
            }
        }
        self.make_ready(stage);
        self.app_session.look_for_sketches(&stage.pipelines().renderer);
        self.app_session.measure();
        self.desk.facts.unsaved = self.app_session.unsaved;
        self.desk.facts.busy = self.app_session.busy().map(str::to_owned);
        changed
    }

    /// Has the character made ready for the stages, where a method is another.
    fn make_ready(&mut self, stage: &mut Stage) {
        let (Some(model), Some(bench)) = (&self.app_session.model, &self.app_session.bench) else { return };
        let own = (!self.app_session.suits(stage)).then(|| bench.session().document().deformer());
        let other = self.desk.other_deformer();
        if other.is_none() {
            self.other = None;
        }
        let wanted = [own, other].map(|settings| settings.map(|settings| (Arc::as_ptr(model), settings)));
        let differs = |i: usize| self.asked[i].as_ref().map(|(model, s)| (*model, s)) != wanted[i];
        let wanted = [0, 1].map(|i| differs(i).then(|| wanted[i].map(|(model, s)| (model, s.clone()))));
        for (i, wanted) in wanted.into_iter().enumerate().filter_map(|(i, w)| w.map(|w| (i, w))) {
            if let Some((_, settings)) = &wanted {
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
            News::Listed(files) => self.desk.facts.files.follow(files),
            News::Entered(files) => {
                self.desk.facts.files.follow(files);
                // A folder that was dropped or typed should be seen.
                if self.app_session.bench.as_ref().is_some_and(|b| !b.preferences().files) {
                    self.command(Command::Files);
                }
            }
            News::Looked(writes, path, false) => self.write(writes, path),
            News::Looked(writes, path, true) => self.ask_to_replace(writes, path),
            News::Opened { path, restored, left } => self.opened(&path, restored, left),
            News::NotOpened(error) | News::Failed(error) => {
                self.closing &= self.app_session.on_disk;
                self.desk.facts.message = Some(error.to_string());
            }
            News::Ready(number, actor) => self.ready(number, actor, stage),
            News::Written(path) => {
                self.app_session.quit |= self.closing && self.app_session.on_disk;
                self.desk.facts.message = Some(format!("wrote {}", path.display()));
            }
        }
    }

    fn opened(&mut self, path: &Path, restored: usize, left: Option<Box<Unfinished>>) {
        self.desk.facts.message =
            (restored > 0).then(|| format!("{}: goes on where it stopped", path.display()));
        if let Some(model) = self.app_session.model.clone() {
            self.meet(&model);
        }
        if let Some(left) = left {
            self.offer(left);
        }
    }

    /// A character is at hand.
    fn meet(&mut self, model: &Model) {
        self.remember(&model.asset.path);
        self.desk.facts.know(model);
    }

    fn ready(&mut self, number: u64, actor: Result<Box<Actor>>, stage: &mut Stage) {
        let at = self.numbers.iter().position(|n| *n == number);
        match (at, actor) {
            // Made for a window that is gone, or a headset.
            (None, _) => {}
            (Some(1), Ok(actor)) => self.other = Some(actor),
            // The window may have got another size meanwhile.
            (_, Ok(actor)) => {
                self.asked[0] = None;
                if let Err(error) = stage.enter_anew(actor) {
                    self.fail(&error);
                }
            }
            (_, Err(error)) => self.fail(&error),
        }
    }

    /// One step of the editor.
    pub fn step(&mut self, input: &WindowInput) {
        self.desk.step(input, self.app_session.bench.as_mut());
        self.stepped();
    }

    /// Runs a command as if pressed.
    pub fn command(&mut self, command: Command) {
        self.desk.run_command(command, self.app_session.bench.as_mut());
        self.stepped();
    }

    /// Takes over what a step or a command gave.
    fn stepped(&mut self) {
        let out = self.desk.output_mut();
        let asks = std::mem::take(&mut out.asks);
        self.app_session.stepped();
        self.desk.facts.unsaved = self.app_session.unsaved;
        asks.into_iter().for_each(|wish| self.wish(wish));
    }

    fn wish(&mut self, wish: Wish) {
        match wish {
            Wish::Editor(request) => self.request(request),
            Wish::Answer(answer) => self.answered(answer),
            Wish::OpenDialog if self.app_session.bench.is_some() => self.command(Command::Files),
            Wish::OpenDialog => {
                let advice = "choose a file from the list, or drop one on this window";
                self.desk.facts.message = Some(advice.into());
            }
            Wish::SaveAsDialog => self.save_as(),
            Wish::Write(writes, path) => self.app_session.worker.ask(Job::Look(writes, path)),
            Wish::WriteNothing => self.closing = false,
            Wish::List(folder) => self.app_session.worker.ask(Job::List(folder, self.kept.recent.clone())),
        }
    }

    /// Does what the editor asks of its front end.
    pub fn request(&mut self, request: Request) {
        match request {
            Request::Open(path) => self.app_session.open(path, Left::Offer),
            Request::Save => self.save(),
            Request::Export if self.app_session.has_place_of_export() => self.app_session.export(),
            Request::Export => self.ask_where(Writes::Posed, POSED),
            Request::Sketch(sketch) => self.app_session.sketch(*sketch),
            Request::Refit(settle) => self.app_session.settle(settle),
            Request::OtherFace => {
                self.calls = true;
                self.desk.facts.message = Some("looking for a headset".to_owned());
            }
            Request::Quit if self.app_session.unsaved => self.ask_to_close(),
            Request::Quit => self.app_session.quit = true,
        }
    }

    /// Tells of something that could not be done; the session goes on.
    pub fn fail(&mut self, error: &Error) {
        self.app_session.fail(error);
        self.desk.facts.message = Some(error.to_string());
    }
}
