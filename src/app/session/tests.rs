//! Tests of the session without window, headset and GPU.

use super::*;
use crate::app::jobs::{Done, Opened};
use crate::asset::Property;
use crate::bind::BindOptions;
use crate::bind::shapes::Shape;
use crate::document::{Edit, KeyEdit, KeyValue, Session, Target};
use crate::export;
use crate::project::recovery;
use crate::workbench::Command;
use std::path::Path;

/// Writes a capsule and opens it, without a journal.
fn opened(path: &Path) -> Box<Opened> {
    opened_with(path, |model| model.start(None).unwrap())
}

fn opened_with(path: &Path, start: impl Fn(&Model) -> Session<'static>) -> Box<Opened> {
    let shape = Shape { bones: 2, rings: 3, segments: 4, radius: 0.1, length: 1.0, blend: 0.5 };
    std::fs::write(path, export::unedited(&shape.capsule_asset()).unwrap()).unwrap();
    let model = Arc::new(Model::load(path, &BindOptions::default()).unwrap());
    let session = start(&model);
    Box::new(Opened { model, session, restored: 0, place: None, left: None, elsewhere: Vec::new() })
}

fn session() -> AppSession {
    AppSession::new((false, true), None, || {}).unwrap()
}

/// Takes all results of jobs. Panics if one of them is an error.
fn finish_jobs(app: &mut AppSession) {
    while let Some(done) = app.worker.wait() {
        if let Some(News::NotWritten(_, error) | News::Failed(error)) = app.take(done) {
            panic!("{error}");
        }
    }
}

#[test]
fn the_file_panel_closes_when_a_file_is_open_and_stays_when_it_cannot_be_opened() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hero.glb");
    let mut app = session();
    // The panel was open at the end of the last session.
    app.preferences.files = true;
    let files = |app: &AppSession| app.bench.as_ref().unwrap().preferences().files;
    app.take(Done::Opened(path.clone(), Ok(opened(&path))));
    assert!(!files(&app));
    for (result, open) in
        [(Err(Error::input("no such file", "choose another")), true), (Ok(opened(&path)), false)]
    {
        app.bench.as_mut().unwrap().run_command(Command::Files);
        let failed = result.is_err();
        let news = app.take(Done::Opened(path.clone(), result));
        assert_eq!((files(&app), matches!(news, Some(News::NotOpened(_)))), (open, failed));
        if open {
            app.bench.as_mut().unwrap().run_command(Command::Files);
        }
    }
    // The details, which the files replace, stay closed.
    assert!(!app.bench.unwrap().preferences().details);
}

#[test]
fn a_project_with_new_weights_has_the_name_of_the_character() {
    let folder = tempfile::tempdir().unwrap();
    let mut app = session();
    for name in ["hero.glb", "hero.project.glb", "hero.weights.glb"] {
        let path = folder.path().join(name);
        app.take(Done::Opened(path.clone(), Ok(opened(&path))));
        assert_eq!(app.place(REWEIGHED), Some(folder.path().join("hero.weights.glb")), "{name}");
    }
}

#[test]
fn a_save_without_a_dialog_replaces_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let [hero, other] = ["hero.glb", "other.glb"].map(|name| folder.path().join(name));
    let mut app = session();
    app.take(Done::Opened(hero.clone(), Ok(opened(&hero))));
    for taken in ["hero.project.glb", "hero-2.project.glb", "hero.posed.glb"] {
        std::fs::write(folder.path().join(taken), b"mine").unwrap();
    }
    // Presses while the path is being found save once.
    app.write_without_asking(Writes::Project);
    app.write_without_asking(Writes::Project);
    app.write_without_asking(Writes::Posed);
    finish_jobs(&mut app);
    let names = || {
        let names =
            std::fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.filter(|n| n.ends_with(".glb")).collect();
        names.sort();
        names
    };
    let written =
        ["hero-2.posed.glb", "hero-2.project.glb", "hero-3.project.glb", "hero.glb", "hero.posed.glb"];
    assert_eq!(names(), [&written[..], &["hero.project.glb"]].concat());
    assert_eq!(std::fs::read(folder.path().join("hero-2.project.glb")).unwrap(), b"mine");
    assert_eq!(app.saved_to().unwrap(), folder.path().join("hero-3.project.glb"));
    assert!(app.on_disk);
    Model::load(&folder.path().join("hero-3.project.glb"), &BindOptions::default()).unwrap();
    // The next save replaces the session's own project.
    app.write_without_asking(Writes::Project);
    finish_jobs(&mut app);
    assert_eq!(names().len(), 6);
    // A save whose character is gone before its path is found writes nothing.
    app.write_without_asking(Writes::Project);
    finish_jobs(&mut app);
    app.take(Done::Opened(other.clone(), Ok(opened(&other))));
    app.write_without_asking(Writes::Project);
    app.take(Done::Opened(hero.clone(), Ok(opened(&hero))));
    finish_jobs(&mut app);
    assert!(!names().iter().any(|n| n.starts_with("other.p")), "{:?}", names());
    // It can be saved later.
    app.write_without_asking(Writes::Project);
    finish_jobs(&mut app);
    assert!(names().contains(&"hero-4.project.glb".to_owned()), "{:?}", names());
}

#[test]
fn a_file_that_is_opened_over_unsaved_edits_tells_where_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let [hero, other] = ["hero.glb", "other.glb"].map(|name| folder.path().join(name));
    let recorded = |path: &Path| {
        opened_with(path, |model| recovery::begin(&folder.path().join("journal"), model).unwrap())
    };
    let mut app = session();
    let told = |app: &mut AppSession, path: &PathBuf| match app
        .take(Done::Opened(path.clone(), Ok(recorded(path))))
    {
        Some(News::Opened { told, .. }) => told,
        _ => panic!("not opened"),
    };
    assert_eq!(told(&mut app, &hero), None, "there was no file before");
    assert_eq!(told(&mut app, &other), None, "there were no edits");
    app.bench.as_mut().unwrap().run_command(Command::Deformer("dqs".into()));
    app.stepped();
    assert!(told(&mut app, &hero).is_some_and(|t| t.starts_with("other.glb has unsaved edits")));
    app.bench.as_mut().unwrap().run_command(Command::Deformer("dqs".into()));
    app.stepped();
    app.write_without_asking(Writes::Project);
    finish_jobs(&mut app);
    let project = app.place_saved().unwrap().clone();
    assert_eq!(app.recent[0], project, "a saved project is a recent file");
    assert_eq!(told(&mut app, &other), None, "they are saved");
    let journal = folder.path().join("other.journal");
    let open = Opened { elsewhere: vec![journal], ..*opened(&other) };
    let Some(News::Opened { told, .. }) = app.take(Done::Opened(other, Ok(Box::new(open)))) else { panic!() };
    assert!(told.is_some_and(|t| t.starts_with("another Sinew has other.glb open")));
}

#[test]
fn a_file_with_new_weights_is_opened_and_tells_what_it_has() {
    let folder = tempfile::tempdir().unwrap();
    let hero = folder.path().join("hero.glb");
    let told = |edits_later: bool| {
        let mut app = session();
        let journal = |model: &Model| recovery::begin(&folder.path().join("journal"), model).unwrap();
        app.take(Done::Opened(hero.clone(), Ok(opened_with(&hero, journal))));
        let edit = |app: &mut AppSession, deformer: &str| {
            app.bench.as_mut().unwrap().run_command(Command::Deformer(deformer.into()));
            app.stepped();
        };
        edit(&mut app, "dqs");
        app.weigh(WeightMethod::QuasiHarmonic);
        if edits_later {
            edit(&mut app, "lbs");
        }
        let mut texts = Vec::new();
        while let Some(done) = app.worker.wait() {
            if let Some(News::Opened { told, .. }) = app.take(done) {
                texts.extend(told);
            }
        }
        texts
    };
    let wrote = format!("wrote {}: quasi-harmonic weights", folder.path().join("hero.weights.glb").display());
    assert_eq!(
        told(false),
        [format!("{wrote}, with all edits; the list of files has hero.glb under Unfinished")]
    );
    // The file does not have an edit that was made during the computation.
    assert_eq!(told(true), ["hero.glb has unsaved edits: the list of files has them under Unfinished"]);
}

#[test]
fn files_opened_lately_are_each_once_the_newest_first() {
    let folder = tempfile::tempdir().unwrap();
    let path = |n: usize| folder.path().join(format!("{n}.glb"));
    let mut app = session();
    for n in (0..RECENT + 3).chain([RECENT]) {
        app.take(Done::Opened(path(n), Ok(opened(&path(n)))));
        app.remember();
    }
    assert_eq!(app.recent.len(), RECENT);
    assert_eq!(app.recent[..2], [path(RECENT), path(RECENT + 2)]);
    let mut listed = None;
    while let Some(done) = app.worker.wait() {
        if let Some(News::Listed(files)) = app.take(done) {
            listed = Some(files.recent.len());
        }
    }
    assert_eq!(listed, Some(RECENT));
}

#[test]
fn a_recovered_session_is_saved_to_the_project_of_its_last_save() {
    let folder = tempfile::tempdir().unwrap();
    let [hero, project] = ["hero.glb", "walk.glb"].map(|name| folder.path().join(name));
    std::fs::write(&project, b"the project of the earlier session").unwrap();
    let mut app = session();
    let recovered = Opened { restored: 1, place: Some(project.clone()), ..*opened(&hero) };
    app.take(Done::Opened(hero.clone(), Ok(Box::new(recovered))));
    assert!(app.has_place() && app.unsaved);
    app.save();
    finish_jobs(&mut app);
    assert!(Model::load(&project, &BindOptions::default()).is_ok_and(|m| m.document.is_some()));
    assert!(!app.unsaved && app.on_disk);
}

#[test]
fn a_save_into_the_output_folder_keeps_the_project_of_another_session() {
    let folder = tempfile::tempdir().unwrap();
    let (hero, out) = (folder.path().join("hero.glb"), folder.path().join("out"));
    let saves = |edits: &[&str]| {
        let mut app = AppSession::new((false, true), Some(out.clone()), || {}).unwrap();
        app.take(Done::Opened(hero.clone(), Ok(opened(&hero))));
        for method in edits {
            app.bench.as_mut().unwrap().run_command(Command::Deformer((*method).into()));
            app.stepped();
            app.write_without_asking(Writes::Project);
            finish_jobs(&mut app);
        }
    };
    let read = |name: &str| std::fs::read(out.join(name)).ok();
    saves(&["dqs", "lbs"]);
    let first = read("project.glb");
    assert!(first.is_some() && read("project-2.glb").is_none());
    saves(&["lbs"]);
    assert!(read("project.glb") == first && read("project-2.glb").is_none(), "the same project");
    saves(&["cor", "dqs"]);
    assert!(
        read("project.glb") != first && read("project-2.glb") == first && read("project-3.glb").is_none()
    );
}

/// With an error bound, all frames are within it; without, only those of keys are exact.
#[test]
fn an_export_keeps_the_error_bound_of_the_preferences() {
    let folder = tempfile::tempdir().unwrap();
    let hero = folder.path().join("hero.glb");
    let mut app = session();
    app.take(Done::Opened(hero.clone(), Ok(opened(&hero))));
    let bench = app.bench.as_mut().unwrap();
    let skeleton = bench.character().skeleton.clone();
    let elbow = skeleton.joints[skeleton.bones[1].parent.index()].node;
    for (time, angle) in [(0.0, 0.0), (0.5, 1.5), (1.0, 0.2)] {
        let value = crate::base::math::Quat::from_rotation_z(angle).to_array().to_vec();
        let keys = vec![KeyValue { target: Target::node(elbow, Property::Rotation), value }];
        bench.apply(Edit::Keys(KeyEdit::Insert { time, keys }), false);
    }
    let mut largest = |error: Option<f64>, name: &str| -> f64 {
        app.bench.as_mut().unwrap().run_command(Command::ExportError(error));
        app.export_to(folder.path().join(name));
        finish_jobs(&mut app);
        let receipt =
            std::fs::read_to_string(folder.path().join(name).with_extension("receipt.txt")).unwrap();
        let errors = receipt.split("distance largest ").skip(1);
        errors.map(|e| e.split(' ').next().unwrap().parse::<f64>().unwrap()).fold(0.0, f64::max)
    };
    let [keys, within] =
        [(None, "keys.glb"), (Some(0.1), "within.glb")].map(|(error, name)| largest(error, name));
    assert!(keys > 0.2 && within <= 0.1, "{keys} mm, {within} mm");
}
