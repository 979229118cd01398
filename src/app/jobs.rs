//! What must not hold up a frame is done here, on a thread of its own, one job after the other: loading and binding,
//! making a character ready for the GPU, writing files.

use super::context::{folder_of, write_png};
use crate::base::{Error, Result};
use crate::bind::{BindOptions, Cache, Character};
use crate::deform::{Recipe, fast};
use crate::document::{Document, Session};
use crate::export::{Options, write_atomically};
use crate::project;
use crate::project::recovery;
use crate::project::recovery::Unfinished;
use crate::render::{Renderer, Targets};
use crate::rig::{Pose, PosedRig};
use crate::scene::{Actor, Evaluator, Measurement, Model, Pipelines, Reading, Refit, Where, recipe};
use crate::surface::Sculpt;
use crate::ui::palette::{FileList, Strain};
use crate::ui::window::Writes;
use crate::workbench::Sketch;
use image::RgbaImage;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

/// A job.
pub enum Job {
    /// Load and bind a file, and begin or take up the session on it; a folder is listed.
    Open(PathBuf, Left),
    /// Take up a session that was left, in place of the new one on the same character.
    Restore(Box<Unfinished>, Arc<Model>),
    /// Remove a session that was left.
    Discard(Box<Unfinished>),
    /// List a folder for the file panel, with files opened lately.
    List(PathBuf, Vec<PathBuf>),
    /// Look whether a file is there that would be overwritten.
    Look(Writes, PathBuf),
    /// Make a character ready for a stage; `stage` is handed back with it.
    Ready { stage: u64, pipelines: Pipelines, targets: Arc<Targets>, model: Arc<Model>, recipe: Recipe },
    /// Bind a character for grabs of the whole body.
    Whole(Arc<Model>),
    /// Measure what the deformer does to a document's body, and what its user measures of a pose of it.
    Measure(Arc<Model>, Arc<Document>, Box<(Pose, Vec<Measurement>)>),
    /// Find what an accent stroke means.
    Sketch(Arc<Renderer>, Arc<Model>, Box<Document>, Box<Sketch>),
    /// Find what draws again what springs leave of a pull.
    Refit(Arc<Model>, Box<Document>, Box<Refit>),
    /// Write a posed glTF.
    Export(PathBuf, Arc<Model>, Box<Document>),
    /// Write a project.
    Save(PathBuf, Arc<Model>, Box<Document>),
    /// Write pictures side by side.
    Picture(PathBuf, Vec<RgbaImage>),
}

/// What is done with a session on the file that ended without saving.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    /// Resume it: a headset cannot show a prompt.
    GoOn,
    /// It is reported.
    Offer,
}

/// A job that is done.
pub enum Done {
    /// A character with its session.
    Opened(PathBuf, Result<Box<Opened>>),
    /// What a folder holds.
    Listed(FileList),
    /// What the folder holds that was to be opened.
    Entered(FileList),
    /// Whether the file is there.
    Looked(Writes, PathBuf, bool),
    /// A character for the stage of that number.
    Ready(u64, Result<Box<Actor>>),
    /// A character bound for grabs of the whole body.
    Whole(Arc<Character>, Result<Box<fast::Body>>),
    /// Numbers of the strain.
    Measured(Result<(Strain, Vec<(Measurement, Reading)>)>),
    /// The edit that an accent stroke means.
    Sketched(Result<Box<Sculpt>>),
    /// The edit that is to take a pulled one's place, if any.
    Settled(Result<Option<Box<Sculpt>>>),
    /// A session that was left is gone.
    Discarded(Result<()>),
    /// A written file; what should be told about it.
    Written(PathBuf, Result<String>),
}

/// A loaded file.
pub struct Opened {
    /// The character.
    pub model: Arc<Model>,
    /// The document, recorded in its journal; a session that was never ended is taken up where it stopped.
    pub session: Session<'static>,
    /// Operations that were found in its journal.
    pub restored: usize,
    /// An earlier session on the file that ended without saving, to be offered.
    pub left: Option<Box<Unfinished>>,
}

/// The thread. Jobs are done in order; dropping it waits for those under way, so that nothing is half written.
pub struct Worker {
    jobs: Option<Sender<Job>>,
    done: Receiver<Done>,
    thread: Option<JoinHandle<()>>,
    open: usize,
}

impl Worker {
    /// Starts the thread. `wake` is called after each job, on that thread: a loop that waits for events is to look for
    /// [`Worker::done`].
    ///
    /// # Errors
    /// The operating system's.
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

    /// Adds a job.
    pub fn ask(&mut self, job: Job) {
        if self.jobs.as_ref().is_some_and(|jobs| jobs.send(job).is_ok()) {
            self.open += 1;
        }
    }

    /// The next job that is done, if any; never waits.
    pub fn done(&mut self) -> Option<Done> {
        let done = self.done.try_recv().ok()?;
        self.open -= 1;
        Some(done)
    }

    /// Whether jobs are under way.
    pub fn is_busy(&self) -> bool {
        self.open > 0
    }

    /// Waits for the next of the jobs under way; none when there is none.
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
            // A panic there has been told of already.
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
        Job::Restore(left, model) => {
            let session = left.restore(&model);
            let path = model.asset.path.clone();
            let opened = session.map(|s| Box::new(opened(&model, s, left.operations, None)));
            Done::Opened(path, opened)
        }
        Job::Discard(left) => Done::Discarded(left.discard()),
        Job::Ready { stage, pipelines, targets, model, recipe } => {
            Done::Ready(stage, Actor::new(&pipelines, &targets, &model, &recipe).map(Box::new))
        }
        Job::Whole(model) => {
            let character = model.bound.character.clone();
            let body = fast::Body::kept(Cache::platform().as_ref(), &character, &fast::Params::grab());
            Done::Whole(character, body.map(Box::new))
        }
        Job::Measure(model, document, gauged) => Done::Measured(measure(&model, &document, *gauged)),
        Job::Sketch(renderer, model, document, sketch) => {
            Done::Sketched(sketch.sculpt(&renderer, &model, &document).map(Box::new))
        }
        Job::Refit(model, document, settle) => {
            Done::Settled(settle.solve(&model, &document).map(|s| s.map(Box::new)))
        }
        Job::Export(path, model, document) => {
            let told = export_to(&path, &model, &document);
            Done::Written(path, told)
        }
        Job::Save(path, model, document) => {
            let told = save_to(&path, &model, &document);
            Done::Written(path, told)
        }
        Job::Picture(path, pictures) => {
            let written = write_png(&path, &side_by_side(&pictures));
            Done::Written(path, written.map(|()| String::new()))
        }
    }
}

/// What lies in a folder; nothing where it cannot be read.
fn list(folder: &Path, recent: &[PathBuf]) -> FileList {
    let journals = recovery::folder().ok();
    let list = FileList::read(folder, recent, journals.as_deref());
    list.unwrap_or_else(|_| FileList { folder: folder.to_owned(), ..FileList::default() })
}

fn opened(
    model: &Arc<Model>,
    mut session: Session<'static>,
    restored: usize,
    left: Option<Box<Unfinished>>,
) -> Opened {
    // A frame must not wait for the disk; without the thread it does.
    if let Err(error) = session.sync_in_background() {
        eprintln!("sinew: {error}");
    }
    Opened { model: model.clone(), session, restored, left }
}

fn open(path: &Path, what: Left) -> Result<Opened> {
    open_with(path, what, recovery::folder())
}

/// `folder` is that of the journals. Where there is none, or it cannot be used, the session is not recorded.
fn open_with(path: &Path, what: Left, folder: Result<PathBuf>) -> Result<Opened> {
    let unrecorded = |e: &Error| eprintln!("sinew: {e}; this session is not recorded: save often");
    let journal = path.extension().is_some_and(|e| e == "journal");
    let found = folder.and_then(|folder| {
        let found = recovery::unfinished(&folder, (!journal).then_some(path))?;
        Ok((folder, found.sessions))
    });
    let (folder, mut left) = found.inspect_err(unrecorded).map_or((None, Vec::new()), |(f, l)| (Some(f), l));
    left.retain(|l| !journal || l.journal == path);
    let model = Arc::new(match left.first() {
        Some(left) if journal => left.load(&BindOptions::default())?,
        _ => Model::load(path, &BindOptions::default())?,
    });
    let first = left.into_iter().next();
    // Whoever opens a journal has been asked.
    if let Some(left) = first.as_ref().filter(|_| journal || what == Left::GoOn) {
        match left.restore(&model) {
            Ok(session) => return Ok(opened(&model, session, left.operations, None)),
            Err(error) => eprintln!("sinew: {error}"),
        }
    }
    let offered = first.filter(|_| what == Left::Offer && !journal).map(Box::new);
    let recorded = folder.map(|folder| recovery::begin(&folder, &model).inspect_err(unrecorded));
    let session = match recorded {
        Some(Ok(session)) => session,
        _ => model.start(None)?,
    };
    Ok(opened(&model, session, 0, offered))
}

/// The CPU references evaluate: no device is needed, and none can be lost.
fn evaluator(model: &Model, document: &Document) -> Result<Evaluator> {
    let mut evaluator = Evaluator::new(&Where::Cpu, model, &recipe(document.deformer())?)?;
    evaluator.set_document_sculpts(model, document)?;
    Ok(evaluator)
}

/// The strain of the document's pose, and what is gauged of the one that shows.
fn measure(
    model: &Model,
    document: &Document,
    (shown, gauges): (Pose, Vec<Measurement>),
) -> Result<(Strain, Vec<(Measurement, Reading)>)> {
    let pose = document.posed(model.skeleton());
    let mut evaluator = evaluator(model, document)?;
    let shape = evaluator.evaluate(model, &pose)?;
    let report = model.measure(&PosedRig::new(model.skeleton(), &pose), &shape.control);
    let recipe = recipe(document.deformer())?;
    let iterations = recipe.springs.is_some().then_some(shape.iterations);
    let strain = Strain::new(recipe.name(), iterations, &report);
    let shape = if gauges.is_empty() || shown == pose { shape } else { evaluator.evaluate(model, &shown)? };
    let read = |gauge: Measurement| {
        let reading = gauge.read(&model.bound.character, &shape);
        (gauge, reading)
    };
    Ok((strain, gauges.into_iter().map(read).collect()))
}

/// Writes a posed glTF, and its receipt beside it.
fn export_to(path: &Path, model: &Model, document: &Document) -> Result<String> {
    folder_of(path)?;
    let options = Options::default();
    let receipt = project::export(path, model, document, &mut evaluator(model, document)?, &options)?;
    let text = receipt.to_string();
    write_atomically(path.with_extension("receipt.txt"), text.as_bytes())?;
    Ok(text)
}

fn save_to(path: &Path, model: &Model, document: &Document) -> Result<String> {
    folder_of(path)?;
    project::save(path, model, document, &mut evaluator(model, document)?).map(|_| String::new())
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

    #[test]
    fn without_a_folder_for_journals_a_file_is_opened_and_not_recorded() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("hero.glb");
        let asset = crate::bind::shapes::Shape {
            bones: 2,
            rings: 3,
            segments: 4,
            radius: 0.1,
            length: 1.0,
            blend: 0.5,
        };
        std::fs::write(&path, crate::export::unedited(&asset.capsule_asset()).unwrap()).unwrap();
        let nowhere = Err(Error::input("there is no folder for the autosave journal", "set HOME"));
        // A file in the way is as good as no folder.
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
