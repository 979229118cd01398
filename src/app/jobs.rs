//! The worker thread, which runs the jobs that are too slow for a frame, in order: loading and binding, uploading
//! characters to the GPU, writing files.

mod work;

use crate::base::{Error, Progress, Result};
use crate::bind::weights::WeightMethod;
use crate::bind::{BindOptions, Character};
use crate::cage::{Cage, Coupling};
use crate::deform::blend::Painted;
use crate::deform::{Recipe, fast};
use crate::document::{Document, LastSave, Session};
use crate::geom::CrossingSegment;
use crate::pose::BoneChain;
use crate::project::recovery::Unfinished;
use crate::render::{Renderer, Targets};
use crate::rig::Pose;
use crate::scene::{
    Actor, BoneSketch, CageSource, DrawnBones, FactorSource, Ghosts, Measurement, Model, NewCage, Pipelines,
    Reading, Refit,
};
use crate::surface::Sculpt;
use crate::ui::palette::{FileList, Strain};
use crate::ui::window::Writes;
use crate::workbench::{AccentOutcome, AccentSolver, AccentStart, AccentStroke};
use image::RgbaImage;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

/// A job for the worker thread.
pub enum Job {
    /// Loads and binds a file, and starts or resumes a session with it. If the path is a folder, lists the folder.
    Open(PathBuf, Left),
    /// Deletes the journal of an unfinished session.
    Discard(Box<Unfinished>),
    /// Lists a folder and the recently opened files for the file panel.
    List(PathBuf, Vec<PathBuf>),
    /// Checks whether a file exists already at the path that is about to be written.
    Look(Writes, PathBuf),
    /// Finds a path without a file: this path, or the first with a number in its name.
    Find(Writes, PathBuf),
    /// Creates the actor of a character for a render stage. The number `stage` identifies the stage; [`Done::Ready`]
    /// returns the same number.
    Ready {
        stage: u64,
        pipelines: Pipelines,
        targets: Arc<Targets>,
        model: Arc<Model>,
        recipe: Recipe,
        progress: Progress,
    },
    /// Creates the onion skins of a character. [`Done::Ghosts`] returns the number.
    Ghosts { number: u64, pipelines: Pipelines, model: Arc<Model>, recipe: Recipe, progress: Progress },
    /// Binds a character for full-body grabs.
    Whole(Arc<Model>),
    /// Measures the strain of the document's pose, and computes the [`Readings`] on the skin of the displayed pose.
    Measure(Arc<Model>, Arc<Document>, Box<Displayed>),
    /// Computes the sculpt layer that an accent stroke describes.
    Accent(Box<AccentJob>),
    /// Refits a sculpt layer after a pull. The correction springs undo part of the pull; the refitted layer compensates
    /// for that.
    Refit(Arc<Model>, Box<Document>, Box<Refit>),
    /// Places the joints of a stroke of bones.
    Bones(Arc<Model>, Box<BoneSketch>),
    /// Computes skin weights for drawn bones and writes the rigged character to the first unused path after this one.
    /// Beside it, the bones are written as JSON.
    Rig(PathBuf, Arc<Model>, Vec<BoneChain>, Progress),
    /// Computes new skin weights by a method and writes a project with them to the first unused path after this one.
    Weigh(PathBuf, Arc<Model>, Box<Document>, WeightMethod, Progress),
    /// Makes or reads a cage and couples it with the character.
    Cage(Arc<Model>, CageSource, Progress),
    /// Couples the document's cage with the character.
    Couple(Arc<Model>, Box<Cage>),
    /// Load the share of DQS of every vertex.
    Factors(Arc<Model>, FactorSource),
    /// Binds the character as the document says.
    Bind(Arc<Model>, Box<BindOptions>),
    /// Writes a text, such as a cage as `.obj`.
    Text(PathBuf, String),
    /// Writes the posed character as glTF, with an error bound in millimetres.
    Export(PathBuf, Arc<Model>, Box<Document>, Option<f64>),
    /// Writes the document as a project.
    Save(Box<SaveJob>),
    /// Writes images side by side into one PNG file.
    Picture(PathBuf, Vec<RgbaImage>),
}

/// A save of the document as a project.
pub struct SaveJob {
    /// Path of the project.
    pub path: PathBuf,
    /// Whether a file that is at this path stays, under another name.
    pub keeps: bool,
    pub model: Arc<Model>,
    pub document: Document,
    /// The session's journal, and the note of this save that is written beside it.
    pub note: Option<(PathBuf, LastSave)>,
}

/// The interpretation of an accent stroke.
pub struct AccentJob {
    /// The solver, which [`Done::Accent`] returns.
    pub solver: Box<AccentSolver>,
    pub renderer: Arc<Renderer>,
    pub model: Arc<Model>,
    pub document: Arc<Document>,
    pub accent: AccentStroke,
    /// Whether the user has finished the stroke.
    pub finished: bool,
}

/// What to do if an earlier session on the opened file is unfinished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    /// Resume the earlier session. The headset uses this value, because it cannot show a prompt.
    GoOn,
    /// Report the earlier session, so that the window can ask the user.
    Offer,
}

/// The displayed pose, and what [`Job::Measure`] measures on its skin.
pub struct Displayed {
    /// The pose.
    pub pose: Pose,
    /// The user's measurements.
    pub measurements: Vec<Measurement>,
    /// Whether to find the curve along which the skin crosses itself.
    pub crossings: bool,
}

/// Measurements of a displayed pose.
pub struct Readings {
    /// The user's measurements.
    pub readings: Vec<(Measurement, Reading)>,
    /// The curve along which the skin crosses itself, if requested.
    pub crossings: Option<Vec<CrossingSegment>>,
}

/// Result of a job.
pub enum Done {
    /// The path of an opened file, and its character and session.
    Opened(PathBuf, Result<Box<Opened>>),
    /// Contents of a folder that was listed for the file panel.
    Listed(FileList),
    /// Contents of a folder that was passed to [`Job::Open`].
    Entered(FileList),
    /// Whether the file to be written exists already.
    Looked(Writes, PathBuf, bool),
    /// The path of [`Job::Find`], and the path without a file.
    Found(Writes, PathBuf, PathBuf),
    /// The actor for the render stage with this number.
    Ready(u64, Result<Box<Actor>>),
    /// The onion skins of the job with this number.
    Ghosts(u64, Result<Box<Ghosts>>),
    /// A character and its binding for full-body grabs.
    Whole(Arc<Character>, Result<Box<fast::Body>>),
    /// The strain of the document's pose, and the [`Readings`] on the skin of the displayed pose.
    Measured(Result<(Strain, Readings)>),
    /// The result of [`Job::Accent`]: the solver, the data from the start of the accent stroke, and the sculpt layer
    /// that the stroke describes.
    Accent(Box<AccentSolver>, Arc<AccentStart>, Box<Result<AccentOutcome>>),
    /// The sculpt layer that replaces a pulled layer; `None` if no replacement is needed.
    Settled(Result<Option<Box<Sculpt>>>),
    /// Joints of drawn bones.
    Bones(Result<Box<DrawnBones>>),
    /// A new cage.
    Cage(Result<Box<NewCage>>),
    /// The coupling of a cage.
    Coupled(Box<Cage>, Result<Arc<Coupling>>),
    /// The loaded shares of DQS.
    Factors(Result<Painted>),
    /// The character with another binding.
    Bound(Result<Arc<Model>>),
    /// The path of the rigged character, and a report to print; `None` if the work was cancelled.
    Rigged(Result<Option<(PathBuf, String)>>),
    /// The journal of an unfinished session was deleted.
    Discarded(Result<()>),
    /// The path of a file that a job wrote, and what Sinew reports about it.
    Written(PathBuf, Result<Told>),
}

/// What Sinew reports about a file that a job wrote.
#[derive(Debug, Default)]
pub struct Told {
    /// A report to print.
    pub report: String,
    /// The most important fact, for the message in the window.
    pub note: Option<String>,
}

/// An opened file.
pub struct Opened {
    /// The character.
    pub model: Arc<Model>,
    /// The document, recorded in its journal; a resumed session continues where it stopped.
    pub session: Session<'static>,
    /// Number of undo steps restored from the journal; at least 1 if it was restored.
    pub restored: usize,
    /// The project to which the restored session is saved.
    pub place: Option<PathBuf>,
    /// An unfinished session that the user can choose to resume: one on the opened file, or one during which the opened
    /// project was saved and which then went on.
    pub left: Option<Box<Unfinished>>,
    /// Journals of the same file that were open when a new session began: those of other processes, and that of this
    /// process's session before.
    pub elsewhere: Vec<PathBuf>,
}

/// The worker thread, which runs jobs in order. Dropping the worker waits until all queued jobs are done.
pub struct Worker {
    jobs: Option<Sender<Job>>,
    done: Receiver<Done>,
    thread: Option<JoinHandle<()>>,
    open: usize,
}

impl Worker {
    /// Starts the thread. `wake` is called on the thread after each job, so that an event loop can poll
    /// [`Worker::done`].
    ///
    /// # Errors
    /// Fails if the operating system cannot create a thread.
    pub fn new(wake: impl Fn() + Send + 'static) -> Result<Self> {
        let (jobs, todo) = channel::<Job>();
        let (send, done) = channel();
        let work = move || {
            for job in todo {
                if send.send(work::run(job)).is_err() {
                    break;
                }
                wake();
            }
        };
        let thread = std::thread::Builder::new()
            .name("work".into())
            .spawn(work)
            .map_err(|e| Error::io("a thread", e))?;
        Ok(Self { jobs: Some(jobs), done, thread: Some(thread), open: 0 })
    }

    /// Queues a job.
    pub fn ask(&mut self, job: Job) {
        if self.jobs.as_ref().is_some_and(|jobs| jobs.send(job).is_ok()) {
            self.open += 1;
        }
    }

    /// Returns the next result, if any, without blocking.
    pub fn done(&mut self) -> Option<Done> {
        let done = self.done.try_recv().ok()?;
        self.open -= 1;
        Some(done)
    }

    /// Returns whether jobs are queued or running.
    pub fn is_busy(&self) -> bool {
        self.open > 0
    }

    /// Waits for the next result; returns `None` if no job is queued or running.
    pub fn wait(&mut self) -> Option<Done> {
        if self.open == 0 {
            return None;
        }
        let done = self.done.recv().ok()?;
        self.open -= 1;
        Some(done)
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        drop(self.jobs.take());
        if let Some(thread) = self.thread.take() {
            // The thread has already printed the message of a panic.
            let _ = thread.join();
        }
    }
}
