//! What outlives sessions and runtimes: the document with its tools, the jobs under way, what is told to the world.

use super::clock::{Clock, Stages};
use super::instance::Runtime;
use super::session::Session as XrSession;
use super::work::{Done, Job, Opened, Worker};
use super::{Options, preferences};
use crate::base::math::Vec3;
use crate::base::{Error, Result};
use crate::edit::Session;
use crate::editor::panels::{PanelState, Panels};
use crate::editor::{
    Actor, Command, Eye, Haptic, Input, Labels, Model, Preferences, Recorder, Request, Similarity, Stage,
    TakeFrame, TakeStart, Workbench, recipe, recovery,
};
use crate::front::context::say;
use crate::front::report::{Ask, Event, Frame as Told, Reporter};
use crate::render::Lines;
use image::RgbaImage;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// The program in the headset.
pub struct App<'o> {
    pub(super) options: &'o Options,
    pub(super) worker: Worker,
    pub(super) reporter: Reporter,
    pub(super) bench: Option<Workbench>,
    pub(super) model: Option<Arc<Model>>,
    preferences: Preferences,
    pub(super) input: Input,
    pub(super) panels: Panels,
    panel_state: PanelState,
    /// A line for the user that the workbench knows nothing of.
    message: Option<String>,
    /// Of the frame: the workbench's and the pointer's.
    pub(super) lines: Lines,
    pub(super) haptics: [Option<Haptic>; 2],
    pub(super) clock: Clock,
    pub(super) stages: Stages,
    /// Counts turns of the loop over all sessions.
    pub(super) frame: u64,
    /// The pose has changed since it was last drawn.
    pub(super) unposed: bool,
    /// The character must be made ready for the stage.
    unready: bool,
    /// Number of the stage that jobs are for.
    stage: u64,
    opening: bool,
    /// Hash of the document that was last given to be saved, and where; whether that one is on disk.
    saved: Option<String>,
    saving: Option<PathBuf>,
    kept: bool,
    /// The document has changed since it was last given to be saved.
    unsaved: bool,
    hash: String,
    pub(super) quit: bool,
    /// Pictures that were asked for, taken after the next frame.
    pub(super) pictures: Vec<PathBuf>,
    /// The last pictures of both eyes.
    pub(super) last_pictures: Vec<RgbaImage>,
    failure: Option<Error>,
    take: Option<Recorder>,
    taken: TakeFrame,
    /// Pixels of an eye.
    eye_size: [u32; 2],
    pub(super) waiting: Lines,
}

impl<'o> App<'o> {
    /// Begins to load the file.
    ///
    /// # Errors
    /// The operating system's, where no thread can be made.
    pub fn new(options: &'o Options) -> Result<Self> {
        let mut worker = Worker::new()?;
        worker.ask(Job::Open(options.file.clone()));
        let folder = options.file.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        worker.ask(Job::List(folder.to_owned()));
        Ok(Self {
            options,
            worker,
            reporter: Reporter::new(options.report),
            bench: None,
            model: None,
            preferences: preferences::load(options),
            input: Input::default(),
            panels: Panels::new(),
            panel_state: PanelState::default(),
            message: None,
            lines: Lines::default(),
            haptics: [None; 2],
            clock: Clock::default(),
            stages: Stages::default(),
            frame: 0,
            unposed: true,
            unready: true,
            stage: 0,
            opening: true,
            saved: None,
            saving: None,
            kept: false,
            unsaved: false,
            hash: String::new(),
            quit: false,
            pictures: Vec::new(),
            last_pictures: Vec::new(),
            failure: None,
            take: None,
            taken: TakeFrame::default(),
            eye_size: [0; 2],
            waiting: Lines::default(),
        })
    }

    /// Another stage: the character must be made ready for it.
    pub fn new_stage(&mut self) {
        self.stage += 1;
        self.unready = true;
        self.unposed = true;
    }

    /// Takes over what is done, asks for what is needed. `stage` where there is one.
    pub fn attend(&mut self, mut stage: Option<&mut Stage>) {
        while let Some(done) = self.worker.done() {
            self.take(done, stage.as_deref_mut());
        }
        if let (Some(stage), Some(model), Some(bench)) = (stage, &self.model, &self.bench)
            && self.unready
        {
            self.unready = false;
            // Settings that do not fit were refused when they were made.
            let recipe = recipe(bench.session().document().deformer()).unwrap_or_default();
            self.worker.ask(Job::Ready {
                stage: self.stage,
                pipelines: stage.pipelines().clone(),
                targets: stage.targets().clone(),
                model: model.clone(),
                recipe,
            });
        }
        while let Some(ask) = self.reporter.asked() {
            match ask {
                Ask::Picture(path) => self.pictures.push(path),
                Ask::Command(command) => self.command(command),
                Ask::Quit => self.quit = true,
            }
        }
    }

    fn take(&mut self, done: Done, stage: Option<&mut Stage>) {
        match done {
            Done::Listed(files) => {
                self.opening = false;
                self.panel_state.files = files;
            }
            Done::Opened(path, Ok(opened)) => self.opened(path, *opened),
            Done::Opened(_, Err(error)) => {
                self.opening = false;
                self.fail(&error);
                // Without a first document there is nothing to do.
                if self.bench.is_none() {
                    self.failure = Some(error);
                    self.quit = true;
                }
            }
            Done::Ready(number, actor) if number == self.stage => self.ready(actor, stage),
            // Made for a stage that is gone.
            Done::Ready(..) => {}
            Done::Written(path, Ok(told)) => {
                self.kept |= self.saving.as_ref() == Some(&path);
                if !self.reporter.is_on() {
                    say(format_args!("wrote {}", path.display()));
                    told.lines().for_each(say);
                }
                self.reporter.event(Event::Written(path));
            }
            Done::Written(path, Err(error)) => {
                if self.saving.as_ref() == Some(&path) {
                    self.saved = None;
                    self.unsaved = true;
                }
                self.fail(&error);
            }
        }
    }

    fn opened(&mut self, path: PathBuf, opened: Opened) {
        let Opened { model, session, restored } = opened;
        self.opening = false;
        if restored > 0 && !self.reporter.is_on() {
            say(format_args!("{}: goes on where its last session stopped", path.display()));
        }
        let character = model.bound.character.clone();
        self.start_take(&model, &session);
        match &mut self.bench {
            Some(bench) => drop(bench.open(session, character)),
            None => self.bench = Some(Workbench::new(session, character, self.preferences.clone())),
        }
        self.model = Some(model);
        self.saved = None;
        self.unready = true;
        self.unposed = true;
        self.reporter.event(Event::Loaded(path));
        self.tell_hash();
    }

    /// The take begins with the first document, and goes on with the next ones.
    fn start_take(&mut self, model: &Model, session: &Session<'_>) {
        let Some(path) = &self.options.record else { return };
        let preferences = self.bench.as_ref().map_or(&self.preferences, Workbench::preferences).clone();
        let start = TakeStart::new(model, session, &preferences, self.eye_size);
        let recorded = match &mut self.take {
            Some(take) => take.opened(&start),
            None => Recorder::new(path, &start).map(|take| self.take = Some(take)),
        };
        if let Err(error) = recorded {
            self.fail(&error);
        }
    }

    fn ready(&mut self, actor: Result<Box<Actor>>, stage: Option<&mut Stage>) {
        match (actor, stage) {
            (Ok(actor), Some(stage)) => {
                stage.enter(actor);
                self.unposed = true;
            }
            (Ok(_), None) => {}
            (Err(error), _) => self.fail(&error),
        }
    }

    /// Tells of something that could not be done; the session goes on.
    pub fn fail(&mut self, error: &Error) {
        eprintln!("sinew: {error}");
        self.message = Some(error.to_string());
        self.reporter.event(Event::Failed(error.to_string()));
    }

    /// What the buttons of the controllers in the hands are called.
    pub fn relabel(&mut self, labels: [Labels; 2]) {
        self.panel_state.labels = labels;
    }

    /// The panels' part of a step: what was pressed is run, and a hand that points at a panel is the panel's.
    fn step_panels(&mut self) {
        let Some(bench) = &self.bench else { return };
        let tool = bench.tool_hand();
        self.panel_state.follow(bench);
        if self.message.is_some() {
            self.panel_state.message.clone_from(&self.message);
        }
        self.panel_state.unsaved = self.unsaved;
        let out = self.panels.step(&self.input, tool, &self.panel_state);
        for (hand, input) in self.input.hands.iter_mut().enumerate() {
            input.on_panel = hand == tool && out.pointing;
        }
        if !out.commands.is_empty() {
            for command in out.commands.clone() {
                self.message = None;
                self.command(command);
            }
        }
    }

    /// One step of panels and editor with the input as it is.
    pub fn step(&mut self) {
        self.step_panels();
        let Some(bench) = &mut self.bench else { return };
        bench.step(&self.input);
        let output = bench.output();
        self.haptics = output.haptics;
        if let (Some(haptic), true) = (self.panels.out().haptic, bench.preferences().haptics) {
            self.haptics[bench.tool_hand()] = Some(haptic);
        }
        self.lines.segments.clear();
        self.lines.segments.extend_from_slice(&output.lines.segments);
        self.panels.draw(&output.world_from_room, &mut self.lines);
        self.unposed |= output.posed;
        self.unready |= output.deformer_changed;
        let changed = output.posed || output.deformer_changed;
        self.unsaved |= changed;
        let requests: Vec<Request> = output.requests.clone();
        for request in requests {
            match request {
                Request::Open(path) if !self.opening => {
                    self.opening = true;
                    self.worker.ask(Job::Open(path));
                }
                // One at a time.
                Request::Open(_) => {}
                Request::Save => self.save(),
                Request::Export => self.export(),
                Request::Quit => self.quit = true,
            }
        }
        if changed {
            self.tell_hash();
        }
    }

    fn tell_hash(&mut self) {
        if !self.reporter.is_on() {
            return;
        }
        let Some(bench) = &self.bench else { return };
        let hash = bench.session().document().hash();
        if hash != self.hash {
            self.hash.clone_from(&hash);
            self.reporter.event(Event::Hash(hash));
        }
    }

    /// Records the frame, as the tools got it and as the eyes saw it.
    pub fn record(&mut self, eyes: Option<[Eye; 2]>) {
        if let (Some(take), Some(_)) = (&mut self.take, &self.bench) {
            self.taken.input.clone_from(&self.input);
            self.taken.eyes = eyes.unwrap_or(self.taken.eyes);
            take.frame(&self.taken);
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

    /// The pictures are not seen any more: what was being drawn is dropped, the document is saved.
    pub fn interrupted(&mut self) {
        if let Some(bench) = &mut self.bench {
            bench.interrupt();
            self.unposed = true;
        }
        if let Some(take) = &mut self.take {
            take.interrupt();
        }
        if self.options.out.is_some() {
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
        let path = self.place(model, "project.glb");
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
    fn place(&self, model: &Model, name: &str) -> PathBuf {
        if let Some(out) = &self.options.out {
            return out.join(name);
        }
        let file: &Path = &model.asset.path;
        let stem = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let stem = stem.strip_suffix(".project").unwrap_or(&stem);
        file.with_file_name(format!("{stem}.{name}"))
    }

    /// Lines for eyes that have nothing else to see: something turns while a character is loaded.
    pub fn spinner(&mut self, world_from_room: &Similarity) -> &Lines {
        let turn = self.input.time as f32 * 4.0;
        let point = |i: i32| {
            let angle = turn + i as f32 * 0.25;
            world_from_room.point(Vec3::new(0.12 * angle.cos(), 1.3 + 0.12 * angle.sin(), -1.0))
        };
        let points: [Vec3; 16] = std::array::from_fn(|i| point(i as i32));
        self.waiting.segments.clear();
        self.waiting.polyline(&points, [90, 190, 255, 255], 5.0, 1.0);
        &self.waiting
    }

    /// A session begins.
    pub fn began(&mut self, runtime: &Runtime, session: &XrSession) {
        self.new_stage();
        self.clock.restart();
        self.eye_size = session.size();
        if !self.reporter.is_on() {
            let [w, h] = session.size();
            let depth = if session.has_depth() { ", with depth" } else { "" };
            let (major, minor) = runtime.version;
            say(format_args!("{}: OpenXR {major}.{minor}, two eyes of {w} x {h}{depth}", runtime.name));
        }
    }

    /// It has ended, one way or another: keeps what both eyes saw last.
    pub fn ended(&mut self, stage: &Stage) {
        if stage.drawn() {
            // A lost device has nothing to show any more.
            let eyes = [0, 1].map(|eye| stage.targets().read(stage.device(), eye).ok());
            if let [Some(left), Some(right)] = eyes {
                self.last_pictures = vec![left, right];
            }
        }
    }

    /// Session or runtime are gone. The stroke that was being drawn is lost, nothing else; a new runtime is waited for.
    pub fn lost(&mut self, problem: String) {
        eprintln!("sinew: {problem}; your work is kept, waiting for the runtime");
        self.input.focused = false;
        self.interrupted();
        self.reporter.event(Event::State("NONE".into()));
        self.reporter.event(Event::Lost(problem));
    }

    /// A turn of the loop while there is no runtime.
    pub fn without_session(&mut self, pause: Duration) {
        self.attend(None);
        self.frame += 1;
        let frame = self.told("NONE", [String::new(), String::new()]);
        self.reporter.frame(frame);
        if !self.quit {
            std::thread::sleep(pause);
        }
    }

    /// After a frame has been ended: pictures that were asked for, and the line of the frame.
    ///
    /// # Errors
    /// A lost device.
    pub fn after_frame(
        &mut self,
        session: &XrSession,
        profiles: impl FnOnce() -> [String; 2],
        rendered: bool,
        stage: &Stage,
    ) -> Result<()> {
        if rendered && !self.pictures.is_empty() {
            let eyes = [0, 1].map(|eye| stage.targets().read(stage.device(), eye));
            let eyes: Vec<RgbaImage> = eyes.into_iter().collect::<Result<_>>()?;
            for path in std::mem::take(&mut self.pictures) {
                self.worker.ask(Job::Picture(path, eyes.clone()));
            }
        }
        if self.reporter.is_on() {
            let mut frame = self.told(session.life().name(), profiles());
            frame.rendered = rendered;
            frame.missed = session.missed();
            self.reporter.frame(frame);
        }
        Ok(())
    }

    fn told(&self, state: &str, profiles: [String; 2]) -> Told {
        let mut out = Told {
            frame: self.frame,
            state: state.into(),
            head: self.input.head.pose,
            aim: [0, 1].map(|h| self.input.hands[h].aim.pose),
            tracking: [0, 1].map(|h| self.input.hands[h].aim.tracking),
            draw: [0, 1].map(|h| self.input.hands[h].draw),
            surface: [0, 1].map(|h| self.input.hands[h].surface.map(|s| s.position.to_array())),
            profiles,
            ..Told::default()
        };
        if let Some(bench) = &self.bench {
            out.world_from_room = bench.output().world_from_room;
            out.tool = bench.preferences().tool;
            out.left_handed = bench.preferences().left_handed;
            out.palette = bench.preferences().palette;
            let (done, all) = bench.session().history();
            out.history = [done, all - done];
        }
        out
    }

    /// The journal goes where its document is on disk, or never was anything.
    fn end_journal(&mut self) {
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

    /// Ends the program where no session could be had: jobs under way are finished, nothing is written.
    pub fn abandon(self) {
        if let Some(bench) = &self.bench {
            preferences::save(self.options, bench.preferences());
        }
    }

    /// Ends the program: writes what was asked for and waits until it is written.
    ///
    /// # Errors
    /// Where the first file could not be opened.
    pub fn finish(mut self) -> Result<()> {
        if let Some(bench) = &mut self.bench {
            bench.interrupt();
            preferences::save(self.options, bench.preferences());
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
        }
        match self.failure.take() {
            Some(error) => Err(error),
            None => {
                self.reporter.event(Event::Ended);
                Ok(())
            }
        }
    }
}
