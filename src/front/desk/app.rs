//! The document at the desk: what is open, the jobs under way, what the editor asks for.

use super::Options;
use super::keep::Kept;
use crate::base::{Error, Result};
use crate::edit::DeformerSettings;
use crate::editor::desk::{Ask as Wish, Desk, DeskInput};
use crate::editor::recovery::Unfinished;
use crate::editor::{Actor, Command, Model, Preferences, Request, Sketch, Stage, Workbench, recipe};
use crate::front::context::say;
use crate::front::report::{Ask, Event, Reporter};
use crate::front::work::{Done, Job, Left, Opened, Worker};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Numbers of the stages that characters are made ready for.
pub const MAIN: u64 = 0;
/// That of the method compared with.
pub const OTHER: u64 = 1;

/// What a question is about.
pub enum Pending {
    /// A session that ended without saving: to be gone on with?
    Recover(Box<Unfinished>),
    /// The document is not saved: to be closed?
    Close,
}

/// The program at a desk, without its window.
pub struct App<'o> {
    pub(super) options: &'o Options,
    pub(super) worker: Worker,
    pub(super) reporter: Reporter,
    pub desk: Desk,
    pub(super) bench: Option<Workbench>,
    pub(super) model: Option<Arc<Model>>,
    pub(super) kept: Kept,
    pub(super) preferences: Preferences,
    /// Turns of the loop.
    pub frame: u64,
    /// The pose has changed since it was last drawn.
    pub unposed: bool,
    /// The character must be made ready for the stages.
    unready: bool,
    /// One for the method that is compared with, when it is there.
    pub other: Option<Box<Actor>>,
    pub(super) opening: bool,
    /// Accent strokes to be looked for, and how many are.
    sketches: Vec<Sketch>,
    sketching: usize,
    /// Hash of the document as it is; that which was last given to be saved, and where; whether that one is on disk.
    pub(super) hash: String,
    pub(super) saved: Option<String>,
    pub(super) saving: Option<PathBuf>,
    pub(super) on_disk: bool,
    /// What the user is asked.
    pub(super) pending: Option<Pending>,
    /// The program ends when the document is on disk.
    pub(super) closing: bool,
    unmeasured: bool,
    measuring: bool,
    history: (usize, usize),
    pub quit: bool,
    asked: [Option<(*const Model, DeformerSettings)>; 2],
}

impl<'o> App<'o> {
    /// Begins to load the file. `wake` is called on other threads when there is something to [`App::attend`] to.
    ///
    /// # Errors
    /// The operating system's, where no thread can be made.
    pub fn new(options: &'o Options, wake: impl Fn() + Send + Clone + 'static) -> Result<Self> {
        let mut worker = Worker::new(wake.clone())?;
        let kept = Kept::load(options);
        let folder = options.file.as_deref().and_then(Path::parent).filter(|p| !p.as_os_str().is_empty());
        worker.ask(Job::List(folder.unwrap_or(Path::new(".")).to_owned(), kept.recent.clone()));
        let mut app = Self {
            options,
            worker,
            reporter: Reporter::new(options.report, wake),
            desk: Desk::new(kept.choices.clone()),
            bench: None,
            model: None,
            preferences: Kept::preferences(options),
            kept,
            frame: 0,
            unposed: true,
            unready: true,
            other: None,
            opening: false,
            sketches: Vec::new(),
            sketching: 0,
            hash: String::new(),
            saved: None,
            saving: None,
            on_disk: false,
            pending: None,
            closing: false,
            unmeasured: false,
            measuring: false,
            history: (0, 0),
            quit: false,
            asked: [None, None],
        };
        if let Some(file) = &options.file {
            app.request(Request::Open(file.clone()));
        }
        Ok(app)
    }

    /// Takes over what is done and what is asked for. True where something may look otherwise.
    pub fn attend(&mut self, stage: &mut Stage) -> bool {
        let mut changed = false;
        while let Some(done) = self.worker.done() {
            self.take(done, Some(&mut *stage));
            changed = true;
        }
        while let Some(ask) = self.reporter.asked() {
            changed = true;
            match ask {
                Ask::Picture(_) => self.fail(&Error::input("a window's picture", "ask the display for it")),
                Ask::Command(command) => self.command(command),
                Ask::Quit => self.quit = true,
            }
        }
        self.make_ready(stage);
        self.sketch(stage);
        self.measure();
        self.desk.facts.busy = match (self.opening, self.sketching) {
            (true, _) => Some("opening".to_owned()),
            (_, 0) => None,
            _ => Some("looking for the silhouette".to_owned()),
        };
        changed
    }

    /// Has the character made ready for the stages, where a method is another.
    fn make_ready(&mut self, stage: &Stage) {
        let (Some(model), Some(bench), true) = (&self.model, &self.bench, self.unready) else { return };
        self.unready = false;
        let own = bench.session().document().deformer().clone();
        let other = self.desk.other_deformer().cloned();
        if other.is_none() {
            (self.other, self.asked[1]) = (None, None);
        }
        for (number, settings) in [(MAIN, Some(own)), (OTHER, other)] {
            let Some(settings) = settings else { continue };
            let asked = Some((Arc::as_ptr(model), settings.clone()));
            if self.asked[number as usize] == asked {
                continue;
            }
            self.asked[number as usize] = asked;
            self.worker.ask(Job::Ready {
                stage: number,
                pipelines: stage.pipelines().clone(),
                targets: stage.targets().clone(),
                model: model.clone(),
                // Settings that do not fit were refused when they were made.
                recipe: recipe(&settings).unwrap_or_default(),
            });
        }
    }

    /// Has accent strokes looked for.
    fn sketch(&mut self, stage: &Stage) {
        let (Some(model), Some(bench)) = (&self.model, &self.bench) else { return };
        for sketch in self.sketches.drain(..) {
            let document = Box::new(bench.session().document().clone());
            let renderer = stage.pipelines().renderer.clone();
            self.sketching += 1;
            self.worker.ask(Job::Sketch(renderer, model.clone(), document, Box::new(sketch)));
        }
    }

    /// Has the strain measured, when nothing is being drawn and something has changed.
    fn measure(&mut self) {
        let (Some(model), Some(bench)) = (&self.model, &self.bench) else { return };
        if self.unmeasured && !self.measuring && !bench.is_busy() && !self.quit {
            (self.measuring, self.unmeasured) = (true, false);
            let document = Box::new(bench.session().document().clone());
            self.worker.ask(Job::Measure(model.clone(), document));
        }
    }

    pub(super) fn take(&mut self, done: Done, stage: Option<&mut Stage>) {
        match done {
            Done::Measured(strain) => {
                self.measuring = false;
                match strain {
                    Ok(strain) => self.desk.facts.strain = Some(strain),
                    Err(error) => self.fail(&error),
                }
            }
            Done::Sketched(shape) => {
                self.sketching -= 1;
                match (shape, &mut self.bench) {
                    (Ok(shape), Some(bench)) => bench.receive(*shape),
                    (Ok(_), None) => {}
                    (Err(error), _) => self.fail(&error),
                }
            }
            Done::Listed(files) => {
                self.opening &= self.desk.facts.files.folder == files.folder;
                self.desk.facts.files = files;
            }
            Done::Opened(path, Ok(opened)) => self.opened(path, *opened),
            Done::Opened(_, Err(error)) => {
                self.opening = false;
                self.fail(&error);
            }
            Done::Ready(number, actor) => self.ready(number, actor, stage),
            Done::Discarded(Ok(())) => {}
            Done::Discarded(Err(error)) => self.fail(&error),
            Done::Written(path, Ok(told)) => {
                self.on_disk |= self.saving.as_ref() == Some(&path);
                self.quit |= self.closing && self.on_disk;
                self.desk.facts.message = Some(format!("wrote {}", path.display()));
                if !self.reporter.is_on() {
                    say(format_args!("wrote {}", path.display()));
                    told.lines().for_each(say);
                }
                self.reporter.event(Event::Written(path));
            }
            Done::Written(path, Err(error)) => {
                if self.saving.as_ref() == Some(&path) {
                    self.saved = None;
                    self.desk.facts.unsaved = true;
                    self.closing = false;
                }
                self.fail(&error);
            }
        }
    }

    fn opened(&mut self, path: PathBuf, opened: Opened) {
        let Opened { model, session, restored, left } = opened;
        self.opening = false;
        self.desk.facts.message = None;
        if restored > 0 {
            self.desk.facts.message = Some(format!("{}: goes on where it stopped", path.display()));
        }
        let character = model.bound.character.clone();
        match self.bench.take() {
            Some(mut bench) => {
                let old = bench.open(session, character);
                self.end_journal(old);
                self.bench = Some(bench);
            }
            None => self.bench = Some(Workbench::new(session, character, self.preferences.clone())),
        }
        self.remember(&model.asset.path.clone());
        self.desk.facts.know(&model);
        self.model = Some(model);
        (self.saved, self.saving, self.on_disk) = (None, None, false);
        self.unready = true;
        self.unposed = true;
        self.unmeasured = true;
        self.hash.clear();
        self.changed();
        // What is shown is what the file holds, or what was just taken up from a journal.
        if restored == 0 {
            self.saved = Some(self.hash.clone());
        }
        self.desk.facts.unsaved = restored > 0;
        self.reporter.event(Event::Loaded(path));
        if let Some(left) = left {
            self.offer(left);
        }
    }

    fn ready(&mut self, number: u64, actor: Result<Box<Actor>>, stage: Option<&mut Stage>) {
        self.unposed = true;
        match (actor, stage) {
            (Ok(actor), _) if number == OTHER => self.other = Some(actor),
            // The window may have got another size meanwhile.
            (Ok(actor), Some(stage)) => {
                if let Err(error) = stage.enter_anew(actor) {
                    self.fail(&error);
                }
            }
            (Ok(_), None) => {}
            (Err(error), _) => self.fail(&error),
        }
    }

    /// One step of the editor.
    pub fn step(&mut self, input: &DeskInput) {
        self.desk.step(input, self.bench.as_mut());
        self.stepped();
    }

    /// Runs a command as if pressed.
    pub fn command(&mut self, command: Command) {
        self.desk.run_command(command, self.bench.as_mut());
        self.stepped();
    }

    /// Takes over what a step or a command gave.
    fn stepped(&mut self) {
        let out = self.desk.output_mut();
        let (posed, deformer) = (std::mem::take(&mut out.posed), std::mem::take(&mut out.deformer_changed));
        let asks = std::mem::take(&mut out.asks);
        self.unposed |= posed;
        self.unready |= deformer;
        let history = self.bench.as_ref().map_or((0, 0), |b| b.session().history());
        // While something is drawn the pose changes and the document does not.
        let busy = self.bench.as_ref().is_some_and(Workbench::is_busy);
        if history != self.history || ((posed || deformer) && !busy) {
            self.history = history;
            self.changed();
        }
        asks.into_iter().for_each(|wish| self.wish(wish));
    }

    /// The document may be another.
    fn changed(&mut self) {
        let Some(bench) = &self.bench else { return };
        let hash = bench.session().document().hash();
        if hash != self.hash {
            self.unmeasured = true;
            self.desk.facts.unsaved = self.saved.as_ref() != Some(&hash);
            self.hash.clone_from(&hash);
            self.reporter.event(Event::Hash(hash));
        }
    }

    fn wish(&mut self, wish: Wish) {
        match wish {
            Wish::Editor(request) => self.request(request),
            Wish::Answer(answer) => self.answered(answer),
            Wish::OpenDialog if self.bench.is_some() => self.command(Command::Files),
            Wish::OpenDialog => {
                let advice = "drop a file on this window, or start with its name: sinew FILE";
                self.desk.facts.message = Some(advice.into());
            }
            Wish::SaveAsDialog => self.save_as(),
        }
    }

    /// Does what the editor asks of its front end.
    pub fn request(&mut self, request: Request) {
        match request {
            // One at a time.
            Request::Open(path) if !self.opening => {
                self.opening = true;
                self.worker.ask(Job::Open(path, Left::Offer));
            }
            Request::Open(_) => {}
            Request::Save => self.save(),
            Request::Export => self.export(),
            Request::Sketch(sketch) => self.sketches.push(*sketch),
            Request::Quit if self.desk.facts.unsaved => self.ask_to_close(),
            Request::Quit => self.quit = true,
        }
    }

    /// Tells of something that could not be done; the session goes on.
    pub fn fail(&mut self, error: &Error) {
        eprintln!("sinew: {error}");
        self.desk.facts.message = Some(error.to_string());
        self.reporter.event(Event::Failed(error.to_string()));
    }
}
