//! The document at the desk: what is open, the jobs under way, what is kept.

use super::Options;
use super::still::Desk;
use crate::base::{Error, Result};
use crate::edit::DeformerSettings;
use crate::editor::{Actor, Command, Model, Preferences, Request, Stage, Workbench, recipe, recovery};
use crate::front::context::say;
use crate::front::report::{Ask, Event, Reporter};
use crate::front::work::{Done, Job, Opened, Worker};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The program at a desk, without its window.
pub struct App<'o> {
    pub options: &'o Options,
    pub worker: Worker,
    pub reporter: Reporter,
    pub desk: Desk,
    pub model: Option<Arc<Model>>,
    /// A line for the user that the editor knows nothing of.
    pub message: Option<String>,
    /// Turns of the loop.
    pub frame: u64,
    /// The pose has changed since it was last drawn.
    pub unposed: bool,
    /// The character must be made ready for the stage.
    unready: bool,
    opening: bool,
    /// Hash of the document that was last given to be saved, and where; whether that one is on disk.
    saved: Option<String>,
    saving: Option<PathBuf>,
    kept: bool,
    hash: String,
    history: (usize, usize),
    pub quit: bool,
    asked: Option<(*const Model, DeformerSettings)>,
}

impl<'o> App<'o> {
    /// Begins to load the file. `wake` is called on other threads when there is something to [`App::attend`] to.
    ///
    /// # Errors
    /// The operating system's, where no thread can be made.
    pub fn new(options: &'o Options, wake: impl Fn() + Send + Clone + 'static) -> Result<Self> {
        let mut worker = Worker::new(wake.clone())?;
        if let Some(file) = &options.file {
            worker.ask(Job::Open(file.clone()));
        }
        let folder = options.file.as_deref().and_then(Path::parent).filter(|p| !p.as_os_str().is_empty());
        worker.ask(Job::List(folder.unwrap_or(Path::new(".")).to_owned()));
        Ok(Self {
            options,
            worker,
            reporter: Reporter::new(options.report, wake),
            desk: Desk::new(),
            model: None,
            message: None,
            frame: 0,
            unposed: true,
            unready: true,
            opening: options.file.is_some(),
            saved: None,
            saving: None,
            kept: false,
            hash: String::new(),
            history: (0, 0),
            quit: false,
            asked: None,
        })
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
        if let (Some(model), Some(bench)) = (&self.model, self.desk.bench())
            && self.unready
        {
            self.unready = false;
            let settings = bench.session().document().deformer();
            let asked = (Arc::as_ptr(model), settings.clone());
            if self.asked.as_ref() != Some(&asked) {
                self.asked = Some(asked);
                self.worker.ask(Job::Ready {
                    stage: 0,
                    pipelines: stage.pipelines().clone(),
                    targets: stage.targets().clone(),
                    model: model.clone(),
                    // Settings that do not fit were refused when they were made.
                    recipe: recipe(settings).unwrap_or_default(),
                });
            }
        }
        changed
    }

    fn take(&mut self, done: Done, stage: Option<&mut Stage>) {
        match done {
            Done::Measured(_) | Done::Listed(_) => self.opening = false,
            Done::Opened(path, Ok(opened)) => self.opened(path, *opened),
            Done::Opened(_, Err(error)) => {
                self.opening = false;
                self.fail(&error);
            }
            Done::Ready(_, actor) => self.ready(actor, stage),
            Done::Written(path, Ok(told)) => {
                self.kept |= self.saving.as_ref() == Some(&path);
                self.message = Some(format!("wrote {}", path.display()));
                if !self.reporter.is_on() {
                    say(format_args!("wrote {}", path.display()));
                    told.lines().for_each(say);
                }
                self.reporter.event(Event::Written(path));
            }
            Done::Written(path, Err(error)) => {
                if self.saving.as_ref() == Some(&path) {
                    self.saved = None;
                }
                self.fail(&error);
            }
        }
    }

    fn opened(&mut self, path: PathBuf, opened: Opened) {
        let Opened { model, session, restored } = opened;
        self.opening = false;
        if restored > 0 {
            self.message = Some(format!("{}: goes on where its last session stopped", path.display()));
        }
        self.end_journal();
        let bench = Workbench::new(session, model.bound.character.clone(), Preferences::default());
        self.desk.put(bench);
        self.model = Some(model);
        (self.saved, self.saving, self.kept) = (None, None, false);
        self.unready = true;
        self.unposed = true;
        self.reporter.event(Event::Loaded(path));
        self.tell_hash();
    }

    fn ready(&mut self, actor: Result<Box<Actor>>, stage: Option<&mut Stage>) {
        let entered = match (actor, stage) {
            // The window may have got another size meanwhile.
            (Ok(actor), Some(stage)) => stage.enter_anew(actor),
            (Ok(_), None) => Ok(()),
            (Err(error), _) => Err(error),
        };
        self.unposed = true;
        if let Err(error) = entered {
            self.fail(&error);
        }
    }

    /// Runs a command as if pressed.
    pub fn command(&mut self, command: Command) {
        match command {
            Command::Open(path) => self.request(Request::Open(path)),
            Command::Quit => self.quit = true,
            _ => {}
        }
    }

    /// Does what the editor asks of its front end.
    pub fn request(&mut self, request: Request) {
        match request {
            // One at a time.
            Request::Open(path) if !self.opening => {
                self.opening = true;
                self.worker.ask(Job::Open(path));
            }
            Request::Open(_) => {}
            Request::Save => self.save(),
            Request::Export => self.export(),
            Request::Quit => self.quit = true,
        }
    }

    fn save(&mut self) {
        let (Some(bench), Some(model)) = (self.desk.bench(), &self.model) else { return };
        let document = bench.session().document();
        let hash = document.hash();
        let path = beside(model, "project.glb");
        (self.saved, self.saving, self.kept) = (Some(hash), Some(path.clone()), false);
        self.worker.ask(Job::Save(path, model.clone(), Box::new(document.clone())));
    }

    fn export(&mut self) {
        let (Some(bench), Some(model)) = (self.desk.bench(), &self.model) else { return };
        let document = Box::new(bench.session().document().clone());
        self.worker.ask(Job::Export(beside(model, "posed.glb"), model.clone(), document));
    }

    /// Whether the document has changes that are in no file but the journal.
    pub fn unsaved(&self) -> bool {
        let Some(bench) = self.desk.bench() else { return false };
        bench.session().history().1 > 1 && self.saved.as_ref() != Some(&bench.session().document().hash())
    }

    /// After a step of the editor.
    pub fn stepped(&mut self) {
        self.unposed |= std::mem::take(&mut self.desk.out.posed);
        self.unready |= std::mem::take(&mut self.desk.out.deformer_changed);
        let asks = std::mem::take(&mut self.desk.out.asks);
        asks.into_iter().for_each(|ask| self.request(ask));
        let history = self.desk.bench().map_or((0, 0), |b| b.session().history());
        if history != self.history {
            self.history = history;
            self.tell_hash();
        }
    }

    /// Ends the program: waits for what is being written.
    pub fn finish(mut self) {
        while let Some(done) = self.worker.wait() {
            self.take(done, None);
        }
        self.end_journal();
        self.reporter.event(Event::Ended);
    }

    /// The journal goes where its document is on disk, or never was anything.
    fn end_journal(&mut self) {
        let Some(bench) = self.desk.take() else { return };
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

    fn tell_hash(&mut self) {
        if !self.reporter.is_on() {
            return;
        }
        let Some(bench) = self.desk.bench() else { return };
        let hash = bench.session().document().hash();
        if hash != self.hash {
            self.hash.clone_from(&hash);
            self.reporter.event(Event::Hash(hash));
        }
    }

    /// Tells of something that could not be done; the session goes on.
    pub fn fail(&mut self, error: &Error) {
        eprintln!("sinew: {error}");
        self.message = Some(error.to_string());
        self.reporter.event(Event::Failed(error.to_string()));
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
