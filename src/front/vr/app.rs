//! What outlives sessions and runtimes: the document with its tools, the jobs under way, what is told to the world.

use super::Options;
use super::clock::{Clock, Stages};
use crate::base::{Error, Result};
use crate::edit::DeformerSettings;
use crate::editor::panels::{PanelState, Panels};
use crate::editor::{
    Actor, Haptic, Input, Labels, Model, Preferences, Recorder, Request, Sketch, Stage, TakeFrame, Workbench,
    recipe,
};
use crate::front::context::say;
use crate::front::kept;
use crate::front::report::{Ask, Event, Reporter};
use crate::front::work::{Done, Job, Left, Opened, Worker};
use crate::gpu::Timings;
use crate::render::Lines;
use image::RgbaImage;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The program in the headset.
pub struct App<'o> {
    pub(super) options: &'o Options,
    pub(super) worker: Worker,
    pub(super) reporter: Reporter,
    pub(super) bench: Option<Workbench>,
    pub(super) model: Option<Arc<Model>>,
    pub(super) preferences: Preferences,
    pub(super) input: Input,
    pub(super) panels: Panels,
    pub(super) panel_state: PanelState,
    /// A line for the user that the workbench knows nothing of.
    pub(super) message: Option<String>,
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
    pub(super) unready: bool,
    /// Number of the stage that jobs are for.
    pub(super) stage: u64,
    pub(super) opening: bool,
    /// Accent strokes to be looked for.
    sketches: Vec<Sketch>,
    /// Hash of the document that was last given to be saved, and where; whether that one is on disk.
    pub(super) saved: Option<String>,
    pub(super) saving: Option<PathBuf>,
    pub(super) kept: bool,
    /// The strain that the palette shows is not that of the document; it is being measured.
    pub(super) unmeasured: bool,
    pub(super) measuring: bool,
    /// The document has changed since it was last given to be saved.
    pub(super) unsaved: bool,
    pub(super) hash: String,
    /// Steps done and all when it was told.
    history: (usize, usize),
    pub(super) quit: bool,
    /// Pictures that were asked for, taken after the next frame.
    pub(super) pictures: Vec<PathBuf>,
    /// The last pictures of both eyes.
    pub(super) last_pictures: Vec<RgbaImage>,
    pub(super) failure: Option<Error>,
    pub(super) take: Option<Recorder>,
    pub(super) taken: TakeFrame,
    /// The character that the take is on now.
    pub(super) taking: Option<Arc<Model>>,
    /// Pixels of an eye.
    pub(super) eye_size: [u32; 2],
    pub(super) waiting: Lines,
    /// Which character with which deformer was last asked for, for which stage.
    asked: Option<(u64, *const Model, DeformerSettings)>,
    /// GPU time of each phase of the last frame.
    pub(super) phases: Timings,
    /// Frames of earlier sessions that were begun and could not be ended.
    pub(super) missed: u64,
    /// Pictures that the mirror has shown.
    pub(super) mirrored: u64,
}

impl<'o> App<'o> {
    /// Begins to load the file.
    ///
    /// # Errors
    /// The operating system's, where no thread can be made.
    pub fn new(options: &'o Options) -> Result<Self> {
        let mut worker = Worker::new(|| {})?;
        worker.ask(Job::Open(options.file.clone(), Left::GoOn));
        let folder = options.file.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        worker.ask(Job::List(folder.to_owned(), Vec::new()));
        Ok(Self {
            options,
            worker,
            reporter: Reporter::new(options.report, || {}),
            bench: None,
            model: None,
            preferences: if options.forget { Preferences::default() } else { kept::load(kept::PREFERENCES) },
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
            sketches: Vec::new(),
            saved: None,
            saving: None,
            kept: false,
            unmeasured: true,
            measuring: false,
            unsaved: false,
            hash: String::new(),
            history: (0, 0),
            quit: false,
            pictures: Vec::new(),
            last_pictures: Vec::new(),
            failure: None,
            take: None,
            taken: TakeFrame::default(),
            taking: None,
            eye_size: [0; 2],
            waiting: Lines::default(),
            asked: None,
            phases: Timings::new(),
            missed: 0,
            mirrored: 0,
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
        let pipelines = stage.as_ref().map(|stage| stage.pipelines().clone());
        if let (Some(stage), Some(model), Some(bench)) = (stage, &self.model, &self.bench)
            && self.unready
        {
            self.unready = false;
            let settings = bench.session().document().deformer();
            let asked = (self.stage, Arc::as_ptr(model), settings.clone());
            if self.asked.as_ref() != Some(&asked) {
                self.asked = Some(asked);
                self.worker.ask(Job::Ready {
                    stage: self.stage,
                    pipelines: stage.pipelines().clone(),
                    targets: stage.targets().clone(),
                    model: model.clone(),
                    // Settings that do not fit were refused when they were made.
                    recipe: recipe(settings).unwrap_or_default(),
                });
            }
        }
        if let (Some(pipelines), Some(model), Some(bench)) = (pipelines, &self.model, &self.bench) {
            for sketch in self.sketches.drain(..) {
                let document = Box::new(bench.session().document().clone());
                let renderer = pipelines.renderer.clone();
                self.worker.ask(Job::Sketch(renderer, model.clone(), document, Box::new(sketch)));
            }
        }
        self.measure();
        while let Some(ask) = self.reporter.asked() {
            match ask {
                Ask::Picture(path) => self.pictures.push(path),
                Ask::Command(command) => self.command(command),
                Ask::Quit => self.quit = true,
            }
        }
    }

    pub(super) fn take(&mut self, done: Done, stage: Option<&mut Stage>) {
        match done {
            Done::Measured(strain) => {
                self.measuring = false;
                match strain {
                    Ok(strain) => {
                        self.reporter.event(Event::Measured(strain.clone()));
                        self.panel_state.strain = Some(strain);
                    }
                    Err(error) => self.fail(&error),
                }
            }
            Done::Sketched(Ok(shape)) => self.receive(*shape),
            Done::Sketched(Err(error)) => self.fail(&error),
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
            Done::Discarded(Ok(())) => {}
            Done::Discarded(Err(error)) => self.fail(&error),
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

    pub(super) fn opened(&mut self, path: PathBuf, opened: Opened) {
        let Opened { model, session, restored, .. } = opened;
        self.opening = false;
        if restored > 0 && !self.reporter.is_on() {
            say(format_args!("{}: goes on where its last session stopped", path.display()));
        }
        let character = model.bound.character.clone();
        match &mut self.bench {
            Some(bench) => drop(bench.open(session, character)),
            None => self.bench = Some(Workbench::new(session, character, self.preferences.clone())),
        }
        self.model = Some(model);
        self.start_take();
        self.saved = None;
        self.unready = true;
        self.unposed = true;
        self.reporter.event(Event::Loaded(path));
        self.tell_hash();
    }

    pub(super) fn ready(&mut self, actor: Result<Box<Actor>>, stage: Option<&mut Stage>) {
        match (actor, stage) {
            (Ok(actor), Some(stage)) => {
                let method = actor.recipe().map_or("", |r| r.name());
                self.reporter.event(Event::Shown(method.into()));
                stage.enter(actor);
                self.unposed = true;
            }
            (Ok(_), None) => {}
            (Err(error), _) => self.fail(&error),
        }
    }

    /// What the buttons of the controllers in the hands are called.
    pub fn relabel(&mut self, labels: [Labels; 2]) {
        self.panel_state.labels = labels;
    }

    /// The panels' part of a step: what was pressed is run, and a hand that points at a panel is the panel's.
    pub(super) fn step_panels(&mut self) {
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
        self.lines.clear();
        self.lines.segments.extend_from_slice(&output.lines.segments);
        self.lines.anchors.extend_from_slice(&output.lines.anchors);
        self.panels.draw(&output.world_from_room, &mut self.lines);
        self.unposed |= output.posed;
        self.unready |= output.deformer_changed;
        let changed = output.posed || output.deformer_changed;
        let requests: Vec<Request> = output.requests.clone();
        // A baseline, for one, changes the document and not the pose.
        let history = bench.session().history();
        let changed = changed || history != self.history;
        self.history = history;
        self.unsaved |= changed;
        self.unmeasured |= changed;
        for request in requests {
            match request {
                Request::Open(path) if !self.opening => {
                    self.opening = true;
                    self.worker.ask(Job::Open(path, Left::GoOn));
                }
                // One at a time.
                Request::Open(_) => {}
                Request::Save => self.save(),
                Request::Export => self.export(),
                Request::Sketch(sketch) => self.sketches.push(*sketch),
                Request::Quit => self.quit = true,
            }
        }
        if changed {
            self.tell_hash();
        }
    }
}
