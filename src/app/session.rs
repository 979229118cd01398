//! The session of the editor: the open document with its tools and journal, the background jobs, and the reporter.
//! The window and the headset pass the same session to each other. The module `saving` writes the session to disk.

mod accents;
mod binding;
mod ghosts;
mod news;
mod saving;

use super::jobs::{Displayed, Job, Left, Worker};
use super::places::whole;
use super::preferences::{self, Keeper};
use super::report::{Event, Reporter};
use super::samples::is_sample;
use crate::base::{Error, Progress, Result, Version};
use crate::bind::weights::WeightMethod;
use crate::document::{DeformerSettings, Document};
use crate::scene::{Actor, BoneSketch, CageSource, FactorSource, Follows, Model, Refit, SkinColors, Stage};
use crate::ui::window::Writes;
use crate::workbench::{Preferences, Request, Workbench};
use accents::Accents;
use image::RgbaImage;
pub use news::News;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

/// Maximum number of recent files.
pub const RECENT: usize = 12;
/// File name of a project in the output folder. Without an output folder, the project is saved beside the character as
/// `STEM.project.glb`, with the stem of the character's file name.
pub const PROJECT: &str = "project.glb";
/// File name of a posed glTF in the output folder. Without an output folder, the file is written beside the character
/// as `STEM.posed.glb`, with the stem of the character's file name.
pub const POSED: &str = "posed.glb";
/// File name of a rigged character in the output folder. Without an output folder, the file is written beside the
/// character as `STEM.rigged.glb`, with the stem of the character's file name.
pub const RIGGED: &str = "rigged.glb";
/// File name of a project with new skin weights in the output folder. Without an output folder, the file is written
/// beside the character as `STEM.weights.glb`, with the stem of the character's file name.
pub const REWEIGHED: &str = "weights.glb";

/// File name of an exported cage in the output folder. Without an output folder, the file is written to
/// [`AppSession::proposal`] as `STEM.cage.obj`, with the stem of the character's file name.
pub const CAGE: &str = "cage.obj";

/// The document with its tools, jobs and save state.
pub struct AppSession {
    pub worker: Worker,
    pub reporter: Reporter,
    pub bench: Option<Workbench>,
    pub model: Option<Arc<Model>>,
    /// Preferences with which the first workbench is created; afterwards, those that were last kept.
    pub preferences: Preferences,
    /// Output folder; `None` writes files beside the character's file.
    pub out: Option<PathBuf>,
    /// Number of loop iterations, summed over window and headset.
    pub frame: u64,
    /// Whether the job that binds the character for full-body grabs is not queued yet.
    unbound: bool,
    /// Whether a file is being opened or a session resumed.
    pub opening: bool,
    /// Whether the document is hashed on every change. Computing a hash takes as long as serializing the document.
    pub exact: bool,
    /// The document's hash as last reported.
    hash: String,
    /// The document's hash when it last had no unsaved changes.
    clean: Option<String>,
    /// Hash and path of the last save; the hash is empty if an earlier session saved. `on_disk` is set when that save
    /// has finished.
    saved: Option<(String, PathBuf)>,
    pub on_disk: bool,
    /// Recently opened files, newest first.
    pub recent: Vec<PathBuf>,
    /// The folder that the lists of files show.
    listed: PathBuf,
    /// Path of the last export of a posed glTF.
    exported: Option<PathBuf>,
    /// The kinds of files for which a job looks for a free path.
    finding: Vec<Writes>,
    /// Whether the document has changes that only the journal holds.
    pub unsaved: bool,
    measuring: bool,
    /// The document of the last measurement; `measured_at` is its revision.
    measured: Option<Arc<Document>>,
    measured_at: Version,
    /// Version of the pose for which the user's measurements were last computed.
    gauged_at: Version,
    /// The interpretation of accent strokes.
    accents: Accents,
    /// The making of a cage.
    caging: Option<Progress>,
    /// Number of strokes of bones whose joints are being computed.
    drawing_bones: usize,
    /// The render stages whose actors are being made, in the order of their jobs.
    binding: Vec<(u64, Progress)>,
    /// The onion skins that were asked for last.
    ghosts: Option<ghosts::Asked>,
    /// Whether the character is being bound as the document says.
    rebinding: bool,
    /// The computation of skin weights for drawn bones or for a project, and the revision that it began with.
    rigging: Option<(Progress, Version)>,
    /// The file that this computation wrote, until it is opened.
    derived: Option<Derived>,
    /// The last revision of the document that [`AppSession::stepped`] handled.
    revision: Version,
    pub quit: bool,
    /// Error that ends the program.
    pub failure: Option<Error>,
    /// The last images of both eyes.
    pub last_pictures: Vec<RgbaImage>,
    /// Total number of headset frames that were begun but not ended. `mirrored` counts the images that the mirror
    /// window has shown.
    pub missed: u64,
    pub mirrored: u64,
    stages: u64,
    begun: Instant,
    /// Writes the preferences; `None` if they are forgotten.
    pub keeper: Option<Keeper>,
}

/// A file with skin weights that was made from the open document.
struct Derived {
    path: PathBuf,
    /// The most important fact about the file.
    note: String,
    /// The revision of the document in it.
    revision: Version,
}

impl AppSession {
    /// Creates a session without a document. Other threads call `wake` when [`AppSession::news`] has a result.
    ///
    /// # Errors
    /// Fails if the operating system cannot create a thread.
    pub fn new(
        (report, forget): (bool, bool),
        out: Option<PathBuf>,
        wake: impl Fn() + Send + Clone + 'static,
    ) -> Result<Self> {
        let mut recent = if forget { Vec::new() } else { preferences::recent() };
        recent.truncate(RECENT);
        Ok(Self {
            worker: Worker::new(wake.clone())?,
            reporter: Reporter::new(report, wake),
            bench: None,
            model: None,
            preferences: if forget {
                Preferences::default()
            } else {
                // A session begins with the skin in its own colours.
                Preferences { colors: SkinColors::Off, ..preferences::load(preferences::PREFERENCES) }
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
            recent,
            listed: PathBuf::from("."),
            exported: None,
            finding: Vec::new(),
            unsaved: false,
            measuring: false,
            measured: None,
            measured_at: Version::default(),
            gauged_at: Version::default(),
            accents: Accents::default(),
            drawing_bones: 0,
            caging: None,
            binding: Vec::new(),
            ghosts: None,
            rebinding: false,
            rigging: None,
            derived: None,
            revision: Version::default(),
            quit: false,
            failure: None,
            last_pictures: Vec::new(),
            missed: 0,
            mirrored: 0,
            stages: 0,
            begun: Instant::now(),
            keeper: if forget { None } else { Keeper::new()? },
        })
    }

    /// Returns the seconds since the session began; window and headset share this clock.
    pub fn seconds(&self) -> f64 {
        self.begun.elapsed().as_secs_f64()
    }

    /// Returns a new number to identify a render stage in jobs.
    pub fn new_stage(&mut self) -> u64 {
        self.stages += 1;
        self.stages
    }

    /// Starts to open a file; ignored while another file is being opened.
    pub fn open(&mut self, path: PathBuf, left: Left) {
        if !self.opening {
            self.opening = true;
            self.worker.ask(Job::Open(path, left));
        }
    }

    /// Moves the open file to the front of the recent files and lists its folder.
    pub fn remember(&mut self) {
        if let Some(model) = &self.model {
            self.remember_file(whole(&model.asset.path));
        }
    }

    /// Moves a file to the front of the recent files and lists its folder.
    fn remember_file(&mut self, path: PathBuf) {
        self.recent.retain(|p| *p != path);
        self.recent.insert(0, path.clone());
        self.recent.truncate(RECENT);
        if let Some(keeper) = &self.keeper {
            keeper.keep_recent(&self.recent);
        }
        // The folder of the samples holds nothing of the user's.
        let folder = if is_sample(&path) {
            self.listed.clone()
        } else {
            path.parent().unwrap_or(Path::new(".")).to_owned()
        };
        self.list(folder);
    }

    /// Reads the lists of files; `folder` is the folder to show.
    pub fn list(&mut self, folder: PathBuf) {
        self.listed.clone_from(&folder);
        self.worker.ask(Job::List(folder, self.recent.clone()));
    }

    /// Reports an error; the session continues.
    pub fn fail(&self, error: &Error) {
        eprintln!("sinew: {error}");
        self.reporter.event(Event::Failed(error.to_string()));
    }

    fn failed(&self, error: Error) -> News {
        self.fail(&error);
        News::Failed(error)
    }

    /// Handles changes of the preferences and of the document after a step of the workbench.
    pub fn stepped(&mut self) {
        self.keep_choices();
        let Some(bench) = &self.bench else { return };
        // Strokes and playback change the displayed pose, but not the document.
        let revision = bench.session().revision();
        if revision != self.revision && !bench.is_busy() {
            self.revision = revision;
            self.changed();
        }
    }

    /// Marks the document as changed.
    fn changed(&mut self) {
        self.unsaved = true;
        if self.exact {
            self.look();
        }
    }

    /// Recomputes the document's hash, updates the unsaved flag and reports a new hash.
    pub fn look(&mut self) {
        let Some(bench) = &self.bench else { return };
        let hash = bench.session().document().hash();
        self.unsaved = self.clean.as_ref() != Some(&hash);
        if hash != self.hash {
            self.hash.clone_from(&hash);
            self.reporter.event(Event::Hash(hash));
        }
    }

    /// Starts a strain measurement if no stroke is in progress and the shape has changed. Also starts the measurements
    /// that the user has made on the skin, if they are new or if the displayed pose no longer changes.
    pub fn measure(&mut self) {
        let (Some(model), Some(bench)) = (&self.model, &self.bench) else { return };
        let crossings = bench.preferences().crossings;
        let asked = bench.awaits_readings()
            || ((bench.measures_skin() || crossings)
                && !bench.timeline().playhead.playing
                && bench.shown_pose().version != self.gauged_at);
        let revision = bench.session().revision();
        if (self.measured_at != revision || asked)
            && !(self.measuring || self.rebinding)
            && !bench.is_busy()
            && !self.quit
        {
            self.measured_at = revision;
            let document = bench.session().document();
            if !asked && self.measured.as_ref().is_some_and(|measured| measured.is_shaped_like(document)) {
                return;
            }
            let document = Arc::new(document.clone());
            (self.measuring, self.measured) = (true, Some(document.clone()));
            let measurements = bench.measures().iter().map(|m| m.measurement.clone()).collect();
            self.gauged_at = bench.shown_pose().version;
            let displayed = Displayed { pose: bench.pose().clone(), measurements, crossings };
            self.worker.ask(Job::Measure(model.clone(), document, Box::new(displayed)));
        }
    }

    /// Carries out a request for a background job. Returns any other request, which each face carries out in its own way.
    pub fn carry_out(&mut self, request: Request) -> Option<Request> {
        match request {
            Request::Accent(accent) => self.finish_accent(*accent),
            Request::Refit(refit) => self.refit(refit),
            Request::Bones(sketch) => self.draw_bones(sketch),
            Request::Rig(on) => self.rig(on),
            Request::Weigh(method) => self.weigh(method),
            Request::Cage(source) => self.make_cage(source),
            Request::Factors(source) => self.load_factors(source),
            Request::Couple => self.couple(),
            Request::Bind => self.bind(),
            Request::ExportCage => self.export_cage(),
            Request::Open(_) | Request::Save | Request::Export | Request::OtherFace | Request::Quit => {
                return Some(request);
            }
        }
        None
    }

    /// Starts the job that places the joints of a stroke of bones.
    fn draw_bones(&mut self, sketch: Box<BoneSketch>) {
        let Some(model) = &self.model else { return };
        self.drawing_bones += 1;
        self.worker.ask(Job::Bones(model.clone(), sketch));
    }

    /// Starts the job that rigs the character by its drawn bones, or cancels it. The rigged character opens when it is
    /// written.
    fn rig(&mut self, on: bool) {
        if let Some((progress, _)) = &self.rigging {
            if !on {
                progress.cancel();
            }
            return;
        }
        let (Some(model), Some(bench), Some(path)) = (&self.model, &self.bench, self.place(RIGGED)) else {
            return;
        };
        if on {
            let progress = Progress::default();
            self.rigging = Some((progress.clone(), bench.session().revision()));
            let chains = bench.session().document().bones().to_vec();
            self.worker.ask(Job::Rig(path, model.clone(), chains, progress));
        }
    }

    /// Starts the job that writes a project with new skin weights, unless skin weights are being computed. The project opens
    /// when it is written.
    fn weigh(&mut self, method: WeightMethod) {
        let (Some(model), Some(bench), Some(path), None) =
            (&self.model, &self.bench, self.place(REWEIGHED), &self.rigging)
        else {
            return;
        };
        let progress = Progress::default();
        self.rigging = Some((progress.clone(), bench.session().revision()));
        let document = Box::new(bench.session().document().clone());
        self.worker.ask(Job::Weigh(path, model.clone(), document, method, progress));
    }

    /// The finished part of the computation of skin weights, percent; `None` if no such computation is running.
    pub fn rigging(&self) -> Option<u32> {
        self.rigging.as_ref().map(|(p, _)| (p.part() * 100.0) as u32)
    }

    /// Cancels the jobs that make actors for a render stage: the user has chosen another method.
    pub fn cancel_binding(&self, number: u64) {
        self.binding.iter().filter(|(n, _)| *n == number).for_each(|(_, progress)| progress.cancel());
    }

    /// The finished part of the weights that a deformation method needs, percent; `None` if none are being computed.
    pub fn weighing(&self) -> Option<u32> {
        let part = self.binding.first().map(|(_, progress)| progress.part())?;
        (part > 0.0 && part < 1.0).then_some((part * 100.0) as u32)
    }

    /// Starts the refit of a sculpt layer after a pull. The springs undo part of the pull; the refitted
    /// layer compensates for that.
    fn refit(&mut self, refit: Box<Refit>) {
        let (Some(model), Some(bench)) = (&self.model, &self.bench) else { return };
        let document = Box::new(bench.session().document().clone());
        self.worker.ask(Job::Refit(model.clone(), document, refit));
    }

    /// Starts the job that makes or reads a cage; a job that is not done yet is cancelled.
    fn make_cage(&mut self, source: CageSource) {
        if let Some(progress) = self.caging.take() {
            progress.cancel();
        }
        let Some(model) = &self.model else { return };
        let progress = Progress::default();
        self.caging = Some(progress.clone());
        self.worker.ask(Job::Cage(model.clone(), source, progress));
    }

    /// Starts the job that loads the share of DQS of every vertex.
    fn load_factors(&mut self, source: FactorSource) {
        if let Some(model) = &self.model {
            self.worker.ask(Job::Factors(model.clone(), source));
        }
    }

    /// Starts the job that couples the document's cage with the skin.
    fn couple(&mut self) {
        let (Some(model), Some(bench)) = (&self.model, &self.bench) else { return };
        if let Some(cage) = bench.session().document().cage() {
            self.worker.ask(Job::Couple(model.clone(), Box::new(cage.clone())));
        }
    }

    /// Returns a status text of the current background job, if any.
    pub fn busy(&self) -> Option<String> {
        match (self.opening, self.rigging()) {
            (true, _) => Some("opening".to_owned()),
            (_, Some(percent)) => Some(format!("weights {percent} %")),
            _ if self.weighing().is_some() => self.weighing().map(|percent| format!("weights {percent} %")),
            _ if self.accents.is_ending() => Some("looking for the silhouette".to_owned()),
            _ if self.drawing_bones > 0 => Some("placing joints".to_owned()),
            _ if self.rebinding => Some("binding the skin".to_owned()),
            _ if self.caging.is_some() => Some("making the cage".to_owned()),
            _ => None,
        }
    }

    /// Returns whether the character on the stage is the open one, with any binding.
    pub fn is_on(&self, stage: &Stage) -> bool {
        let of = |model: &Arc<Model>| Arc::as_ptr(&model.bound.character);
        stage.actor().model().zip(self.model.as_ref()).is_some_and(|(a, b)| of(a) == of(b))
    }

    /// Returns whether the actor on the stage shows the open character with its current binding and deformer. Applies
    /// changed parameters first. If `false`, a new actor is required.
    pub fn suits(&self, stage: &mut Stage) -> bool {
        let Some(bench) = self.bench.as_ref().filter(|_| self.is_on(stage)) else { return false };
        let follows = stage.actor_mut().follow(bench.recipe()) != Follows::Not;
        follows && stage.actor().model().zip(self.model.as_ref()).is_some_and(|(a, b)| Arc::ptr_eq(a, b))
    }

    /// Gives an actor the displayed time, the sculpt layers, the firm regions, the hidden parts, the colours and the outline of
    /// the workbench. Returns whether colours, hidden parts or the outline changed. If the sculpt layers do not fit the character, prints an
    /// error and does not show them.
    pub fn bring_up(&self, actor: &mut Actor) -> bool {
        let Some(bench) = &self.bench else { return false };
        actor.set_time(bench.shown_time());
        // A compared method has the regions of the document, too.
        actor.set_firm(&bench.recipe().firm);
        let painted =
            actor.show_colors(bench.preferences().colors, bench.selected()).unwrap_or_else(|error| {
                eprintln!("sinew: {error}");
                false
            });
        let outlines = actor.show_outline(bench.outlined());
        let hides = actor.set_hidden(bench.session().document().hidden());
        if let Err(error) = actor.set_cage(bench.coupling()) {
            eprintln!("sinew: {error}");
        }
        if let Err(error) = actor.set_sculpts(bench.sculpts(), bench.sculpt_states()) {
            eprintln!("sinew: {error}");
        }
        painted || hides || outlines
    }

    /// Starts the job that creates an actor for a render stage, with these deformer settings.
    pub fn make_ready(&mut self, number: u64, stage: &Stage, settings: &DeformerSettings) {
        self.cancel_binding(number);
        let (Some(model), Some(bench)) = (&self.model, &self.bench) else { return };
        let document = bench.session().document();
        let progress = Progress::default();
        self.binding.push((number, progress.clone()));
        self.worker.ask(Job::Ready {
            stage: number,
            pipelines: stage.pipelines().clone(),
            targets: stage.targets().clone(),
            model: model.clone(),
            // Invalid settings were rejected when they were edited.
            recipe: document.recipe_of(settings).unwrap_or_default(),
            progress,
        });
    }
}

#[cfg(test)]
mod tests;
