//! The worker thread, which runs the jobs that are too slow for a frame, in order: loading and binding, uploading
//! characters to the GPU, writing files.

use super::context::{folder_of, write_png};
use super::places::free;
use super::samples;
use crate::base::{Error, Progress, Result, counted};
use crate::bind::weights::WeightMethod;
use crate::bind::{BindOptions, Cache, Character};
use crate::cage::{Cage, Coordinates, Coupling};
use crate::deform::blend::Painted;
use crate::deform::{Recipe, fast};
use crate::document::{Document, LastSave, Session};
use crate::export::{self, Options, write_atomically, write_model};
use crate::geom::CrossingSegment;
use crate::pose::{BoneChain, rig_bones};
use crate::project;
use crate::project::recovery;
use crate::project::recovery::Unfinished;
use crate::render::{Renderer, Targets};
use crate::rig::{Pose, PosedRig};
use crate::scene::{
    Actor, BoneSketch, CageSource, DrawnBones, Evaluator, FactorSource, Ghosts, Measurement, Model, NewCage,
    Pipelines, Reading, Refit, Where,
};
use crate::surface::Sculpt;
use crate::ui::palette::{FileList, Strain};
use crate::ui::window::Writes;
use crate::workbench::{AccentOutcome, AccentSolver, AccentStart, AccentStroke};
use image::RgbaImage;
use std::path::{Path, PathBuf};
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
    /// Writes the posed character as glTF.
    Export(PathBuf, Arc<Model>, Box<Document>),
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
    /// Number of operations restored from the journal.
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
                if send.send(run(job)).is_err() {
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

fn run(job: Job) -> Done {
    match job {
        Job::List(folder, recent) => Done::Listed(list(&folder, &recent)),
        Job::Look(writes, path) => {
            let there = path.exists();
            Done::Looked(writes, path, there)
        }
        Job::Find(writes, path) => {
            let found = free(&path, true, Path::exists);
            Done::Found(writes, path, found)
        }
        Job::Open(path, _) if path.is_dir() => {
            let journals = recovery::folder().ok();
            match FileList::read(&path, &[], journals.as_deref()) {
                Ok(files) => Done::Entered(files),
                Err(error) => Done::Opened(path, Err(error)),
            }
        }
        Job::Open(path, left) => {
            let opened = open(&path, left).map(Box::new);
            Done::Opened(path, opened)
        }
        Job::Discard(left) => Done::Discarded(left.discard()),
        Job::Ready { stage, pipelines, targets, model, recipe, progress } => {
            let actor = Actor::cancellable(&pipelines, &targets, &model, &recipe, &progress);
            Done::Ready(stage, actor.map(Box::new))
        }
        Job::Ghosts { number, pipelines, model, recipe, progress } => {
            Done::Ghosts(number, Ghosts::new(&pipelines, &model, &recipe, &progress).map(Box::new))
        }
        Job::Whole(model) => {
            let character = model.bound.character.clone();
            let body = fast::Body::kept(Cache::platform().as_ref(), &character, &fast::Params::grab());
            Done::Whole(character, body.map(Box::new))
        }
        Job::Measure(model, document, displayed) => Done::Measured(measure(&model, &document, *displayed)),
        Job::Accent(job) => {
            let AccentJob { mut solver, renderer, model, document, accent, finished } = *job;
            let outcome = solver.solve(&renderer, &model, &document, &accent);
            if finished {
                solver.forget();
            }
            Done::Accent(solver, accent.start, Box::new(outcome))
        }
        Job::Refit(model, document, settle) => {
            let solved = model.bound_for(&document).and_then(|model| settle.solve(&model, &document));
            Done::Settled(solved.map(|s| s.map(Box::new)))
        }
        Job::Bones(model, sketch) => Done::Bones(sketch.joints(&model).map(Box::new)),
        Job::Cage(model, source, progress) => {
            let cage = model.new_cage(&source, Coordinates::default(), &progress);
            Done::Cage(cage.map(|(cage, _)| Box::new(cage)))
        }
        Job::Couple(model, cage) => {
            let coupling = model.couple(&cage, &Progress::default());
            Done::Coupled(cage, coupling)
        }
        Job::Factors(model, source) => Done::Factors(model.blend_factors(&source)),
        Job::Bind(model, options) => Done::Bound(model.rebound(&options).map(Arc::new)),
        Job::Text(path, text) => {
            let written = folder_of(&path).and_then(|_| write_atomically(&path, text.as_bytes()));
            Done::Written(path, written.map(|()| Told::default()))
        }
        Job::Rig(path, model, chains, progress) => {
            Done::Rigged(rigged(&path, &model, &chains, &progress, Cache::platform().as_ref()))
        }
        Job::Export(path, model, document) => {
            let told = export_to(&path, &model, &document);
            Done::Written(path, told)
        }
        Job::Save(job) => {
            let told = save(&job);
            Done::Written(job.path, told)
        }
        Job::Picture(path, pictures) => {
            let written = write_png(&path, &side_by_side(&pictures));
            Done::Written(path, written.map(|()| Told::default()))
        }
    }
}

/// Lists a folder; the list is empty if the folder cannot be read.
fn list(folder: &Path, recent: &[PathBuf]) -> FileList {
    let journals = recovery::folder().ok();
    let list = FileList::read(folder, recent, journals.as_deref());
    let list = list.unwrap_or_else(|_| FileList { folder: folder.to_owned(), ..FileList::default() });
    // Without the samples, the other lists are still of use.
    list.with_samples(&samples::folder().and_then(|f| samples::samples(&f).ok()).unwrap_or_default())
}

/// Returns an opened file; `left` is the unfinished session that `session` continues.
fn opened(model: &Arc<Model>, mut session: Session<'static>, left: Option<&Unfinished>) -> Result<Opened> {
    // A background thread writes the journal to disk, so that the frame loop does not wait. If the thread cannot start,
    // the frame loop waits for each write.
    if let Err(error) = session.sync_in_background() {
        eprintln!("sinew: {error}");
    }
    let restored = left.map_or(0, |l| l.operations);
    let place = left.and_then(Unfinished::place).cloned();
    let model = model.bound_for(session.document())?;
    Ok(Opened { model, session, restored, place, left: None, elsewhere: Vec::new() })
}

fn open(path: &Path, what: Left) -> Result<Opened> {
    open_with(path, what, recovery::folder())
}

/// Opens a file. `folder` holds the journals; if it is missing or unusable, the session is not recorded.
fn open_with(path: &Path, what: Left, folder: Result<PathBuf>) -> Result<Opened> {
    let unrecorded = |e: &Error| eprintln!("sinew: {e}; this session is not recorded: save often");
    let journal = path.extension().is_some_and(|e| e == "journal");
    let found = folder.and_then(|folder| {
        let found = recovery::resumable(&folder, (!journal).then_some(path))?;
        Ok((folder, found.sessions))
    });
    let (folder, mut left) = found.inspect_err(unrecorded).map_or((None, Vec::new()), |(f, l)| (Some(f), l));
    left.retain(|l| if journal { l.journal == path } else { what == Left::GoOn || !l.is_saved });
    let model = Arc::new(match left.first() {
        Some(left) if journal => left.load(&BindOptions::default())?,
        _ => Model::load(path, &BindOptions::default())?,
    });
    let first = left.into_iter().next();
    // Opening a journal file is an explicit request to resume its session.
    if let Some(left) = first.as_ref().filter(|_| journal || what == Left::GoOn) {
        match left.restore(&model) {
            Ok(session) => return opened(&model, session, Some(left)),
            Err(error) if journal => return Err(error),
            Err(error) => eprintln!("sinew: {error}"),
        }
    }
    let left = first.filter(|_| what == Left::Offer && !journal);
    let later = folder.as_ref().filter(|_| left.is_none() && !journal);
    let later = later.and_then(|folder| recovery::later(folder, path).ok().flatten());
    let left = left.or(later).map(Box::new);
    let used = |folder: &PathBuf| recovery::open_elsewhere(folder, &model);
    let elsewhere = folder.as_ref().map(used).unwrap_or_default();
    let recorded = folder.map(|folder| recovery::begin(&folder, &model).inspect_err(unrecorded));
    let session = match recorded {
        Some(Ok(session)) => session,
        _ => model.start(None)?,
    };
    Ok(Opened { left, elsewhere, ..opened(&model, session, None)? })
}

/// Creates an evaluator that uses the CPU references, because a GPU device can be missing or lost.
fn evaluator(model: &Model, document: &Document) -> Result<Evaluator> {
    let mut evaluator = Evaluator::new(&Where::Cpu, model, &document.recipe()?)?;
    evaluator.set_document(model, document)?;
    Ok(evaluator)
}

fn measure(model: &Arc<Model>, document: &Document, displayed: Displayed) -> Result<(Strain, Readings)> {
    let model = &*model.bound_for(document)?;
    let pose = document.posed(model.skeleton());
    let mut evaluator = evaluator(model, document)?;
    let shape = evaluator.evaluate(model, &pose)?;
    let report = model.measure(&PosedRig::new(model.skeleton(), &pose), &shape.control);
    let recipe = document.recipe()?;
    let iterations = recipe.springs.is_some().then_some(shape.iterations);
    let crossings = model.crossings().pairs(&shape.control).len();
    let strain = Strain::new(recipe.name(), iterations, &report, crossings);
    let on_skin = displayed.crossings || !displayed.measurements.is_empty();
    let another = on_skin && displayed.pose != pose;
    let shape = if another { evaluator.evaluate(model, &displayed.pose)? } else { shape };
    let read = |gauge: Measurement| {
        let reading = gauge.read(&model.bound.character, &shape);
        (gauge, reading)
    };
    let crossings = displayed.crossings.then(|| model.crossings().curve(&shape.control));
    let readings = displayed.measurements.into_iter().map(read).collect();
    Ok((strain, Readings { readings, crossings }))
}

/// Rigs a character by its drawn bones. Returns the path of the written file; `None` if cancelled.
fn rigged(
    path: &Path,
    model: &Model,
    chains: &[BoneChain],
    progress: &Progress,
    cache: Option<&Cache>,
) -> Result<Option<(PathBuf, String)>> {
    let asset = &model.asset;
    let bones = rig_bones(chains, |name| asset.nodes.iter().any(|n| n.name == name));
    let method = (WeightMethod::Elastic, None);
    let Some(rigged) = export::rig(asset, &bones, method, cache, &|part| progress.report(part))? else {
        return Ok(None);
    };
    folder_of(path)?;
    let free = if path.exists() { numbered(path) } else { Some(path.to_owned()) };
    let Some(path) = free else { return Ok(None) };
    let list = serde_json::to_string_pretty(&bones).unwrap_or_default();
    write_atomically(path.with_extension("bones.json"), list.as_bytes())?;
    write_model(&path, &rigged.glb)?;
    let idle = bones.len() - rigged.bones.min(bones.len());
    let warning = if idle > 0 { format!(", of which {idle} move no vertex") } else { String::new() };
    Ok(Some((path, format!("{}{warning}", counted(bones.len(), "bone")))))
}

/// Returns the first path `STEM-N.glb` beside a file `STEM.glb` where no file is.
fn numbered(path: &Path) -> Option<PathBuf> {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    (2..).map(|n: u32| path.with_file_name(format!("{stem}-{n}.glb"))).find(|path| !path.exists())
}

/// Writes the posed character as glTF, with its receipt beside the file.
fn export_to(path: &Path, model: &Arc<Model>, document: &Document) -> Result<Told> {
    let model = &*model.bound_for(document)?;
    folder_of(path)?;
    let options = Options::default();
    let receipt = project::export(path, model, document, &mut evaluator(model, document)?, &options)?;
    let report = receipt.to_string();
    write_atomically(path.with_extension("receipt.txt"), report.as_bytes())?;
    let note = format!("at most {:.2} mm off, see its receipt", receipt.largest_mm());
    Ok(Told { report, note: Some(note) })
}

/// Writes a project. An earlier file that must stay gets a free name first.
fn save(job: &SaveJob) -> Result<Told> {
    let SaveJob { path, document, .. } = job;
    let model = &*job.model.bound_for(document)?;
    folder_of(path)?;
    let kept = (job.keeps && path.is_file()).then(|| numbered(path)).flatten();
    let mut evaluator = evaluator(model, document)?;
    if let Some(kept) = &kept {
        std::fs::rename(path, kept).map_err(|e| Error::io(path, e))?;
    }
    let saved = project::save(path, model, document, &mut evaluator);
    // The earlier file gets its name back if there is no new one.
    if let (Some(kept), Err(_)) = (&kept, &saved) {
        std::fs::rename(kept, path).map_err(|e| Error::io(path, e))?;
    }
    saved?;
    if let Some((journal, save)) = &job.note
        && let Err(error) = save.write(journal)
    {
        eprintln!("sinew: {error}");
    }
    let Some(kept) = kept else { return Ok(Told::default()) };
    // The same project twice is no use.
    if std::fs::read(path).ok() == std::fs::read(&kept).ok() {
        std::fs::remove_file(&kept).map_err(|e| Error::io(&kept, e))?;
        return Ok(Told::default());
    }
    let name = kept.file_name().unwrap_or_default().to_string_lossy();
    Ok(Told { note: Some(format!("the earlier file is now {name}")), ..Told::default() })
}

fn side_by_side(pictures: &[RgbaImage]) -> RgbaImage {
    let width = pictures.iter().map(RgbaImage::width).sum();
    let height = pictures.iter().map(RgbaImage::height).max().unwrap_or(0);
    let mut out = RgbaImage::new(width, height);
    let mut x = 0;
    for picture in pictures {
        image::imageops::replace(&mut out, picture, x, 0);
        x += i64::from(picture.width());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes a capsule as `hero.glb`.
    fn hero(folder: &Path) -> PathBuf {
        let path = folder.join("hero.glb");
        let asset = crate::bind::shapes::Shape {
            bones: 2,
            rings: 3,
            segments: 4,
            radius: 0.1,
            length: 1.0,
            blend: 0.5,
        };
        std::fs::write(&path, export::unedited(&asset.capsule_asset()).unwrap()).unwrap();
        path
    }

    #[test]
    fn a_file_that_another_session_has_open_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let (path, journals) = (hero(folder.path()), folder.path().join("journal"));
        let open = || open_with(&path, Left::GoOn, Ok(journals.clone())).unwrap();
        let first = open();
        assert_eq!(first.elsewhere, Vec::<PathBuf>::new());
        let journal = first.session.journal().unwrap().path().to_owned();
        let second = open();
        assert_eq!((&second.elsewhere[..], second.restored), (&[journal][..], 0));
        drop(first);
        drop(second);
        assert!(open().elsewhere.is_empty());
    }

    #[test]
    fn without_a_folder_for_journals_a_file_is_opened_and_not_recorded() {
        let folder = tempfile::tempdir().unwrap();
        let path = hero(folder.path());
        let nowhere = Err(Error::input("there is no folder for the autosave journal", "set HOME"));
        // If the path of the journal folder is a file, opening must behave as if the folder was missing.
        for place in [nowhere, Ok(path.clone()), Ok(folder.path().join("journal"))] {
            let is_folder = place.as_ref().is_ok_and(|p| *p != path);
            let opened = open_with(&path, Left::GoOn, place).unwrap();
            assert_eq!(opened.session.journal().is_some(), is_folder);
            assert!(opened.session.document().asset().is_some());
        }
    }

    #[test]
    fn jobs_are_done_in_order_and_what_goes_wrong_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let mut worker = Worker::new(|| {}).unwrap();
        let eye = |shade| RgbaImage::from_pixel(4, 3, image::Rgba([shade, 0, 0, 255]));
        let path = folder.path().join("new/eyes.png");
        worker.ask(Job::Open(folder.path().join("none.glb"), Left::GoOn));
        worker.ask(Job::Picture(path.clone(), vec![eye(10), eye(200)]));
        let Some(Done::Opened(_, Err(error))) = worker.wait() else { panic!() };
        assert!(error.to_string().contains("none.glb"), "{error}");
        let Some(Done::Written(told, Ok(_))) = worker.wait() else { panic!() };
        assert!(worker.wait().is_none() && worker.done().is_none());
        let read = image::open(told).unwrap().to_rgba8();
        assert_eq!(
            (read.dimensions(), read.get_pixel(0, 0).0[0], read.get_pixel(7, 2).0[0]),
            ((8, 3), 10, 200)
        );
    }
}
