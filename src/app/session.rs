//! A session: the open document with its tools and journal, the jobs under way, and what is reported to the world.
//! Whichever face its user looks at, window or headset, it is one and the same, handed from one to the other. What
//! becomes of it on disk is in `saving`.

mod saving;

use super::context::say;
use super::jobs::{Done, Job, Left, Opened, Worker};
use super::preferences;
use super::report::{Event, Reporter};
use crate::base::{Error, Result, Version};
use crate::document::{DeformerSettings, Document};
use crate::project::recovery::Unfinished;
use crate::render::Renderer;
use crate::scene::{Actor, Follows, Model, Refit, Stage, recipe};
use crate::surface::Sculpt;
use crate::ui::palette::{FileList, Strain};
use crate::ui::window::Writes;
use crate::workbench::{Preferences, Sketch, Workbench};
use image::RgbaImage;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

/// Name of a project in the output folder, and end of the name of one beside its character.
pub const PROJECT: &str = "project.glb";
/// The same of a posed glTF.
pub const POSED: &str = "posed.glb";

/// What is done, for the face that is looked at.
pub enum News {
    /// A file was opened; an earlier session on it that should be offered.
    Opened { path: PathBuf, restored: usize, left: Option<Box<Unfinished>> },
    /// It could not be.
    NotOpened(Error),
    /// What a folder holds.
    Listed(FileList),
    /// What the folder holds that was to be opened.
    Entered(FileList),
    /// Whether a file is there that would be overwritten.
    Looked(Writes, PathBuf, bool),
    /// A character for the stage of that number.
    Ready(u64, Result<Box<Actor>>),
    /// Numbers of the strain.
    Measured(Strain),
    /// A sculpt layer for the workbench.
    Shaped(Box<Sculpt>),
    /// A written file.
    Written(PathBuf),
    /// Something could not be done.
    Failed(Error),
}

/// The document and all that is about it.
pub struct AppSession {
    pub worker: Worker,
    pub reporter: Reporter,
    pub bench: Option<Workbench>,
    pub model: Option<Arc<Model>>,
    /// For the first workbench.
    pub preferences: Preferences,
    /// Folder for what is written; without one it goes beside the character's file.
    pub out: Option<PathBuf>,
    /// Turns of the loops of all faces.
    pub frame: u64,
    /// Nor is it bound for grabs of the whole body.
    unbound: bool,
    /// A file is being opened, or a session on it is taken up.
    pub opening: bool,
    /// Hashes are reported and looked at with every change, which takes the time of writing the document.
    pub exact: bool,
    /// The document as it was last told.
    hash: String,
    /// As it was when it needed no saving.
    clean: Option<String>,
    /// What was last given to be saved, and where; whether it is on disk.
    saved: Option<(String, PathBuf)>,
    pub on_disk: bool,
    /// Where the user has a posed glTF written.
    exported: Option<PathBuf>,
    /// There is something that is on no disk but in the journal.
    pub unsaved: bool,
    measuring: bool,
    /// What was measured last, and of which revision.
    measured: Option<Arc<Document>>,
    measured_at: Version,
    /// The pose that was read then for what is measured of the skin.
    gauged_at: Version,
    /// Accent strokes to be looked for, and how many are.
    sketches: Vec<Sketch>,
    sketching: usize,
    /// The revision of the document that was looked at last.
    revision: Version,
    pub quit: bool,
    /// Why there is nothing to do.
    pub failure: Option<Error>,
    /// What both eyes saw last.
    pub last_pictures: Vec<RgbaImage>,
    /// Frames of headsets that were begun and could not be ended; pictures in their mirrors.
    pub missed: u64,
    pub mirrored: u64,
    stages: u64,
    begun: Instant,
    forget: bool,
}

impl AppSession {
    /// Nothing is open yet. `wake` is called on other threads when there is [`AppSession::news`].
    ///
    /// # Errors
    /// The operating system's, where no thread can be made.
    pub fn new(
        (report, forget): (bool, bool),
        out: Option<PathBuf>,
        wake: impl Fn() + Send + Clone + 'static,
    ) -> Result<Self> {
        Ok(Self {
            worker: Worker::new(wake.clone())?,
            reporter: Reporter::new(report, wake),
            bench: None,
            model: None,
            preferences: if forget {
                Preferences::default()
            } else {
                preferences::load(preferences::PREFERENCES)
            },
            out,
            frame: 0,
            unbound: false,
            opening: false,
            exact: true,
            hash: String::new(),
            clean: None,
            saved: None,
            on_disk: false,
            exported: None,
            unsaved: false,
            measuring: false,
            measured: None,
            measured_at: Version::default(),
            gauged_at: Version::default(),
            sketches: Vec::new(),
            sketching: 0,
            revision: Version::default(),
            quit: false,
            failure: None,
            last_pictures: Vec::new(),
            missed: 0,
            mirrored: 0,
            stages: 0,
            begun: Instant::now(),
            forget,
        })
    }

    /// Seconds since it began: the one time of all faces.
    pub fn seconds(&self) -> f64 {
        self.begun.elapsed().as_secs_f64()
    }

    /// A number for a stage that characters are made ready for.
    pub fn new_stage(&mut self) -> u64 {
        self.stages += 1;
        self.stages
    }

    /// Opens a file; one at a time.
    pub fn open(&mut self, path: PathBuf, left: Left) {
        if !self.opening {
            self.opening = true;
            self.worker.ask(Job::Open(path, left));
        }
    }

    /// The next thing that is done, if any; never waits.
    pub fn news(&mut self) -> Option<News> {
        while let Some(done) = self.worker.done() {
            if let Some(news) = self.take(done) {
                return Some(news);
            }
        }
        None
    }

    fn take(&mut self, done: Done) -> Option<News> {
        Some(match done {
            Done::Measured(strain) => {
                self.measuring = false;
                match strain {
                    Ok((strain, readings)) => {
                        if let Some(bench) = &mut self.bench {
                            bench.receive_readings(readings);
                        }
                        self.reporter.event(Event::Measured(strain.clone()));
                        News::Measured(strain)
                    }
                    Err(error) => {
                        // Asked for again it would fail again.
                        if let Some(bench) = &mut self.bench {
                            bench.give_readings_up();
                        }
                        self.failed(error)
                    }
                }
            }
            Done::Sketched(shape) => {
                self.sketching -= 1;
                match shape {
                    Ok(shape) => News::Shaped(shape),
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
            Done::Opened(path, Ok(opened)) => self.opened(path, *opened),
            Done::Opened(_, Err(error)) => {
                self.opening = false;
                self.fail(&error);
                News::NotOpened(error)
            }
            Done::Ready(number, actor) => {
                // After it, since nobody can grab what is not visible yet.
                if let Some(model) = self.model.as_ref().filter(|_| std::mem::take(&mut self.unbound)) {
                    self.worker.ask(Job::Whole(model.clone()));
                }
                News::Ready(number, actor)
            }
            // Whoever grabs a body that cannot be bound is told so then.
            Done::Whole(character, body) => {
                if let (Some(bench), Ok(body)) = (&mut self.bench, body) {
                    bench.know_whole(character, (*body).into());
                }
                return None;
            }
            Done::Discarded(Ok(())) => return None,
            Done::Discarded(Err(error)) => self.failed(error),
            Done::Written(path, Ok(told)) => {
                self.on_disk |= self.place_saved() == Some(&path);
                if !self.reporter.is_on() {
                    say(format_args!("wrote {}", path.display()));
                    told.lines().for_each(say);
                }
                self.reporter.event(Event::Written(path.clone()));
                News::Written(path)
            }
            Done::Written(path, Err(error)) => {
                if self.place_saved() == Some(&path) {
                    (self.saved, self.clean) = (None, None);
                    self.unsaved = true;
                }
                self.failed(error)
            }
        })
    }

    fn opened(&mut self, path: PathBuf, opened: Opened) -> News {
        let Opened { model, session, restored, left } = opened;
        self.opening = false;
        let character = model.bound.character.clone();
        match self.bench.take() {
            Some(mut bench) => {
                let old = bench.open(session, character);
                self.end_journal(old);
                self.bench = Some(bench);
            }
            None => self.bench = Some(Workbench::new(session, character, self.preferences.clone())),
        }
        if let Some(bench) = &mut self.bench {
            bench.know_binding(model.bound.attachments.clone());
            self.revision = bench.session().revision();
        }
        self.model = Some(model);
        (self.saved, self.on_disk, self.exported) = (None, false, None);
        self.unbound = true;
        self.measured = None;
        self.hash.clear();
        // What is shown is what the file holds, or what was just taken up from a journal.
        let hash = self.bench.as_ref().map(|b| b.session().document().hash());
        self.clean = hash.filter(|_| restored == 0);
        self.reporter.event(Event::Loaded(path.clone()));
        self.changed();
        self.unsaved = restored > 0;
        News::Opened { path, restored, left }
    }

    /// Tells of something that could not be done; the session goes on.
    pub fn fail(&self, error: &Error) {
        eprintln!("sinew: {error}");
        self.reporter.event(Event::Failed(error.to_string()));
    }

    fn failed(&self, error: Error) -> News {
        self.fail(&error);
        News::Failed(error)
    }

    /// A step of the workbench is done.
    pub fn stepped(&mut self) {
        let Some(bench) = &self.bench else { return };
        // While something is drawn or plays the pose changes and the document does not.
        let revision = bench.session().revision();
        if revision != self.revision && !bench.is_busy() {
            self.revision = revision;
            self.changed();
        }
    }

    /// The document may be another.
    fn changed(&mut self) {
        self.unsaved = true;
        if self.exact {
            self.look();
        }
    }

    /// Looks whether the document is another, and tells.
    pub fn look(&mut self) {
        let Some(bench) = &self.bench else { return };
        let hash = bench.session().document().hash();
        self.unsaved = self.clean.as_ref() != Some(&hash);
        if hash != self.hash {
            self.hash.clone_from(&hash);
            self.reporter.event(Event::Hash(hash));
        }
    }

    /// Has the strain measured, when nothing is being drawn and the shape has changed; and what the user measures of the
    /// skin, where it is new or another pose has come to rest.
    pub fn measure(&mut self) {
        let (Some(model), Some(bench)) = (&self.model, &self.bench) else { return };
        let asked = bench.awaits_readings()
            || (bench.measures_skin()
                && !bench.timeline().playhead.playing
                && bench.shown_pose().version != self.gauged_at);
        let revision = bench.session().revision();
        if (self.measured_at != revision || asked) && !self.measuring && !bench.is_busy() && !self.quit {
            self.measured_at = revision;
            let document = bench.session().document();
            if !asked && self.measured.as_ref().is_some_and(|measured| measured.is_shaped_like(document)) {
                return;
            }
            let document = Arc::new(document.clone());
            (self.measuring, self.measured) = (true, Some(document.clone()));
            let gauges = bench.measures().iter().map(|m| m.gauge.clone()).collect();
            self.gauged_at = bench.shown_pose().version;
            let gauged = Box::new((bench.pose().clone(), gauges));
            self.worker.ask(Job::Measure(model.clone(), document, gauged));
        }
    }

    /// An accent stroke should be looked for.
    pub fn sketch(&mut self, sketch: Sketch) {
        self.sketches.push(sketch);
    }

    /// Has what springs leave of a pull drawn again.
    pub fn settle(&mut self, settle: Box<Refit>) {
        let (Some(model), Some(bench)) = (&self.model, &self.bench) else { return };
        let document = Box::new(bench.session().document().clone());
        self.worker.ask(Job::Refit(model.clone(), document, settle));
    }

    /// Has accent strokes looked for, by a renderer.
    pub fn look_for_sketches(&mut self, renderer: &Arc<Renderer>) {
        let (Some(model), Some(bench)) = (&self.model, &self.bench) else { return };
        for sketch in self.sketches.drain(..) {
            let document = Box::new(bench.session().document().clone());
            self.sketching += 1;
            let job = Job::Sketch(renderer.clone(), model.clone(), document, Box::new(sketch));
            self.worker.ask(job);
        }
    }

    /// What is under way that holds nothing up, for the user.
    pub fn busy(&self) -> Option<&'static str> {
        match (self.opening, self.sketching) {
            (true, _) => Some("opening"),
            (_, 0) => None,
            _ => Some("looking for the silhouette"),
        }
    }

    /// Whether the character on the stage is the one that is open.
    pub fn is_on(&self, stage: &Stage) -> bool {
        stage.actor().model().zip(self.model.as_ref()).is_some_and(|(a, b)| Arc::ptr_eq(a, b))
    }

    /// Whether the character on the stage is the one that is open, and follows its deformer as keys and sliders change it;
    /// otherwise another must be made ready.
    pub fn suits(&self, stage: &mut Stage) -> bool {
        let Some(bench) = self.bench.as_ref().filter(|_| self.is_on(stage)) else { return false };
        stage.actor_mut().follow(bench.recipe()) != Follows::Not
    }

    /// Gives an actor of the open character the moment and the sculpt layers of the workbench. What does not fit the
    /// character is reported once and not shown.
    pub fn bring_up(&self, actor: &mut Actor) {
        let Some(bench) = &self.bench else { return };
        actor.set_time(bench.shown_time());
        if let Err(error) = actor.set_sculpts(bench.sculpts(), bench.sculpt_states()) {
            eprintln!("sinew: {error}");
        }
    }

    /// Has the character made ready for a stage, with these settings of its deformer.
    pub fn make_ready(&mut self, number: u64, stage: &Stage, settings: &DeformerSettings) {
        let Some(model) = &self.model else { return };
        self.worker.ask(Job::Ready {
            stage: number,
            pipelines: stage.pipelines().clone(),
            targets: stage.targets().clone(),
            model: model.clone(),
            // Settings that do not fit were refused when they were made.
            recipe: recipe(settings).unwrap_or_default(),
        });
    }
}
