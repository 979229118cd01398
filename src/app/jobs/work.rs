//! What the worker thread does for each job.

use super::{AccentJob, Displayed, Done, Job, Left, Opened, Readings, SaveJob, Told};
use crate::app::context::{folder_of, write_png};
use crate::app::places::free;
use crate::app::samples;
use crate::base::{Error, Progress, Result, counted};
use crate::bind::weights::WeightMethod;
use crate::bind::{BindOptions, Cache};
use crate::cage::Coordinates;
use crate::deform::fast;
use crate::document::{Document, Session};
use crate::export::{self, Options, write_atomically, write_model};
use crate::pose::{BoneChain, rig_bones};
use crate::project;
use crate::project::recovery::{self, Unfinished};
use crate::scene::{Actor, Evaluator, Ghosts, Measurement, Model, Where};
use crate::ui::palette::{FileList, Strain};
use image::RgbaImage;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

pub(super) fn run(job: Job) -> Done {
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
        Job::Refit(model, document, refit) => {
            let solved = model.bound_for(&document).and_then(|model| refit.solve(&model, &document));
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
        Job::Weigh(path, model, document, method, progress) => {
            Done::Rigged(reweighed(&path, &model, &document, method, &progress, Cache::platform().as_ref()))
        }
        Job::Export(path, model, document, budget_mm) => {
            let told = export_to(&path, &model, &document, budget_mm);
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
    // The first step opens the file. A recovered session may hold the beginning of a stroke alone.
    let restored = left.map_or(0, |_| session.history().0.saturating_sub(1).max(1));
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
    let report = model.measure(&shape.control);
    let recipe = document.recipe()?;
    let iterations = recipe.springs.is_some().then_some(shape.iterations);
    let crossings = model.crossings().pairs(&shape.control).len();
    let turned_over = model.distortion().turned_over(&shape.control);
    let strain = Strain::new(recipe.name(), iterations, &report, turned_over, crossings);
    let on_skin = displayed.crossings || !displayed.measurements.is_empty();
    let another = on_skin && displayed.pose != pose;
    let shape = if another { evaluator.evaluate(model, &displayed.pose)? } else { shape };
    let read = |measurement: Measurement| {
        let reading = measurement.read(&model.bound.character, &shape);
        (measurement, reading)
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
    let Some(path) = unused(path) else { return Ok(None) };
    let list = serde_json::to_string_pretty(&bones).unwrap_or_default();
    write_atomically(path.with_extension("bones.json"), list.as_bytes())?;
    write_model(&path, &rigged.glb)?;
    let idle = bones.len() - rigged.bones.min(bones.len());
    let warning = if idle > 0 { format!(", of which {idle} move no vertex") } else { String::new() };
    Ok(Some((path, format!("{}{warning}", counted(bones.len(), "bone")))))
}

/// Writes a project of a document and its character with new skin weights. Returns the path of the written file; `None` if
/// cancelled.
fn reweighed(
    path: &Path,
    model: &Model,
    document: &Document,
    method: WeightMethod,
    progress: &Progress,
    cache: Option<&Cache>,
) -> Result<Option<(PathBuf, String)>> {
    let told = &|part| progress.report(part);
    let Some(weighed) = export::weigh_again(&model.asset, method, None, cache, told)? else {
        return Ok(None);
    };
    let model = Model::bind(weighed.asset, document.binding(), Duration::ZERO)?;
    let document = model.adopted(document)?;
    folder_of(path)?;
    let Some(path) = unused(path) else { return Ok(None) };
    project::save(&path, &model, &document, &mut evaluator(&model, &document)?)?;
    Ok(Some((path, format!("{} weights", method.label().to_lowercase()))))
}

/// Returns this path, or the first with a number in its name where no file is.
fn unused(path: &Path) -> Option<PathBuf> {
    if path.exists() { numbered(path) } else { Some(path.to_owned()) }
}

/// Returns the first path `STEM-N.glb` beside a file `STEM.glb` where no file is.
fn numbered(path: &Path) -> Option<PathBuf> {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    (2..).map(|n: u32| path.with_file_name(format!("{stem}-{n}.glb"))).find(|path| !path.exists())
}

/// An export without error bound that is farther off tells the user about the bound. A fraction of the diagonal of the
/// character's bounding box.
const COARSE: f64 = 4e-4;

/// Writes the posed character as glTF, with its receipt beside the file.
fn export_to(path: &Path, model: &Arc<Model>, document: &Document, budget_mm: Option<f64>) -> Result<Told> {
    let model = &*model.bound_for(document)?;
    folder_of(path)?;
    let options = Options { budget_mm, ..Options::default() };
    let receipt = project::export(path, model, document, &mut evaluator(model, document)?, &options)?;
    let size = f64::from(model.bound.character.control.aabb.diagonal());
    let report = receipt.to_string();
    write_atomically(path.with_extension("receipt.txt"), report.as_bytes())?;
    let advice = match budget_mm {
        None if receipt.largest_mm() > COARSE * 1e3 * size => {
            "; for less, choose All frames in Clips, Exported shapes"
        }
        _ => ", see its receipt",
    };
    let note = format!("at most {:.2} mm off{advice}", receipt.largest_mm());
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
    use super::super::Worker;
    use super::*;

    /// Writes a capsule as `hero.glb`.
    fn hero(folder: &Path) -> PathBuf {
        let path = folder.join("hero.glb");
        let asset = crate::bind::shapes::Shape {
            bones: 2,
            rings: 9,
            segments: 6,
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
    fn new_weights_go_into_a_project_with_the_edits() {
        let folder = tempfile::tempdir().unwrap();
        let model = Model::load(&hero(folder.path()), &BindOptions::default()).unwrap();
        let mut session = model.start(None).unwrap();
        session.apply(crate::document::Edit::Rename("posed".into())).unwrap();
        let document = session.document();
        let path = folder.path().join("hero.weights.glb");
        let ask = |progress: Progress| {
            reweighed(&path, &model, document, WeightMethod::QuasiHarmonic, &progress, None).unwrap()
        };
        let cancelled = Progress::default();
        cancelled.cancel();
        assert!(ask(cancelled).is_none() && !path.exists());
        for name in ["hero.weights.glb", "hero.weights-2.glb"] {
            let (written, told) = ask(Progress::default()).unwrap();
            assert_eq!((written.file_name().unwrap(), &*told), (name.as_ref(), "quasi-harmonic weights"));
            let again = Model::load(&written, &BindOptions::default()).unwrap();
            assert_eq!(again.document.as_ref().unwrap().about(model.file()), *document);
            let influences = |m: &Model| m.bound.character.control.influences.clone();
            assert_ne!(influences(&again), influences(&model));
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
