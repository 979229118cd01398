//! End-to-end tests of projects and recovery: every command opens the same document. Needs no GPU device.

use crate::common;

use serde_json::{Value, json};
use sinew::asset::Asset;
use sinew::bind::BindOptions;
use sinew::document::recover;
use sinew::document::{DeformerSettings, Edit, Journal, Operation, demo_edits};
use sinew::export::Builder;
use sinew::project;
use sinew::project::recovery;
use sinew::scene::{Evaluator, Model, Where, recipe};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Environment variable: the folder in which the writer process finds its character and writes its journal.
const WRITER: &str = "SINEW_TEST_WRITER";

/// Runs the program in a folder, which is also the user's state folder, and returns its standard output.
fn sinew(folder: &Path, arguments: &[&str]) -> Result<String, String> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sinew"));
    command.current_dir(folder).env("XDG_STATE_HOME", folder).args(arguments);
    let out = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    if out.status.success() { Ok(text(out.stdout)) } else { Err(text(out.stderr)) }
}

fn json(folder: &Path, arguments: &[&str]) -> Value {
    serde_json::from_str(&sinew(folder, arguments).unwrap()).unwrap()
}

/// Writes a character with a separate data file, `hero.gltf` and `hero.bin`, so that a project must pack both.
fn character(folder: &Path) -> PathBuf {
    let source = &common::generated().source;
    let mut json = source.json.clone();
    json["buffers"][0]["uri"] = "hero.bin".into();
    std::fs::write(folder.join("hero.bin"), &source.buffers[0]).unwrap();
    let path = folder.join("hero.gltf");
    std::fs::write(&path, json.to_string()).unwrap();
    path
}

/// Creates a document with strokes, keys, a deformer and undone edits.
fn work(model: &Model) -> Vec<Operation> {
    let session = model.start(None).unwrap();
    let edits = demo_edits(model.skeleton(), session.document()).unwrap();
    let mut operations: Vec<Operation> = edits.into_iter().map(Operation::Do).collect();
    let parameters = [("factor".to_owned(), 0.25.into())].into();
    let deformer = DeformerSettings { method: "blend".into(), parameters };
    operations.push(Operation::Do(Edit::SetDeformer(deformer)));
    operations.push(Operation::Do(Edit::Rename("Hérø".into())));
    operations.push(Operation::Undo);
    operations.push(Operation::Redo);
    operations
}

#[test]
fn new_skin_weights_keep_the_edits_of_a_project() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let model = Model::load(&character(folder), &BindOptions::default()).unwrap();
    let journal = folder.join("work.journal");
    let mut session = model.start(Some(Journal::open(&journal, &model.file()).unwrap().0)).unwrap();
    work(&model).into_iter().for_each(|o| session.run(o).unwrap());
    let document = session.document().clone();
    drop(session);
    sinew(folder, &["save", "work.journal", "--out", "p.glb", "--on", "cpu"]).unwrap();
    for (input, out) in [("p.glb", "a.glb"), ("work.journal", "b.glb"), ("a.glb", "a.glb")] {
        sinew(folder, &["bind", input, "--weights", "heat", "--smooth", "3", "--project", out]).unwrap();
        let again = Model::load(&folder.join(out), &BindOptions::default()).unwrap();
        let own = again.document.clone().unwrap();
        assert_eq!(own.binding().smooth, 3);
        let mut all = again.start(None).unwrap();
        all.apply(Edit::SetBinding(Box::default())).unwrap();
        assert_eq!(all.document().about(model.file()), document, "{input}");
        assert_ne!(again.file().hash, model.file().hash);
        let influences = |m: &Model| m.bound.character.control.influences.clone();
        assert_ne!(influences(&again), influences(&model), "{input}");
        assert_eq!((again.rest(), again.shown()), (model.rest(), all.posed()));
    }
    // A character makes a project, too.
    sinew(folder, &["bind", "hero.gltf", "--weights", "heat", "--project", "c.glb"]).unwrap();
    assert!(Model::load(&folder.join("c.glb"), &BindOptions::default()).unwrap().document.is_some());
}

#[test]
fn a_document_is_the_same_in_its_session_its_journal_and_its_project() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let model = Model::load(&character(folder), &BindOptions::default()).unwrap();
    let journal = folder.join("work.journal");
    let recorder = Journal::open(&journal, &model.file()).unwrap().0;
    let mut session = model.start(Some(recorder)).unwrap();
    work(&model).into_iter().for_each(|o| session.run(o).unwrap());
    let (hash, pose) = (session.document().hash(), session.posed());
    drop(session);

    let told = sinew(folder, &["save", "work.journal", "--out", "made/p.glb", "--on", "cpu"]).unwrap();
    assert!(told.contains(&hash) && told.contains("distance largest"), "{told}");
    let project = Model::load(&folder.join("made/p.glb"), &BindOptions::default()).unwrap();
    assert_eq!(project.document.as_ref().unwrap().hash(), hash);
    // The project contains the packed original and shows the document.
    assert_eq!(project.file().hash, model.file().hash);
    assert_eq!((project.rest(), project.shown()), (model.rest(), pose));
    assert_eq!(project.deformer(&DeformerSettings::default()).method, "blend");
    let session = project.start(None).unwrap();
    assert_eq!((session.document().hash(), session.history()), (hash.clone(), (1, 1)));

    // A second save and a journal on top of the project give the same document.
    std::fs::remove_file(folder.join("hero.bin")).unwrap();
    sinew(folder, &["save", "made/p.glb", "--out", "made/q.glb", "--on", "cpu"]).unwrap();
    let (p, q) = (
        std::fs::read(folder.join("made/p.glb")).unwrap(),
        std::fs::read(folder.join("made/q.glb")).unwrap(),
    );
    assert!(p == q, "a project drifts");
    // Another program may write a mark on a triangle that does not exist.
    let shown = Asset::load(folder.join("made/p.glb")).unwrap();
    let mut builder = Builder::of(&shown).unwrap();
    let point = json!({ "triangle": 1 << 30, "barycentrics": [1, 0, 0], "pressure": 1, "time": 0 });
    builder.json["extensions"]["SINEW_project"]["document"]["marks"] =
        json!([{ "id": 0, "name": "far", "points": [point, point], "closed": false, "radius": 0.1 }]);
    std::fs::write(folder.join("far.glb"), builder.glb().unwrap()).unwrap();
    let error = sinew(folder, &["save", "far.glb", "--out", "far.gltf", "--on", "cpu"]).unwrap_err();
    assert!(error.contains("far.glb: document: mark 1 lies on triangle 1073741824"), "{error}");
    // A different file extension does not change the project.
    for name in ["made/r.gltf", "made/s.vrm", "made/r.gltf"] {
        let told = sinew(folder, &["save", "made/p.glb", "--out", name, "--on", "cpu"]).unwrap();
        assert!(told.contains(name) && told.contains("distance largest"), "{told}");
        let again = Model::load(&folder.join(name), &BindOptions::default()).unwrap();
        assert_eq!(again.document.as_ref().unwrap().hash(), hash);
        assert_eq!(again.file().hash, model.file().hash);
    }
    sinew(folder, &["save", "made/r.gltf", "--out", "made/t.glb", "--on", "cpu"]).unwrap();
    assert!(std::fs::read(folder.join("made/t.glb")).unwrap() == p, "a .gltf drifts");
    let mut made: Vec<_> =
        std::fs::read_dir(folder.join("made")).unwrap().map(|e| e.unwrap().file_name()).collect();
    made.sort();
    assert_eq!(made, ["p.glb", "q.glb", "r.bin", "r.gltf", "s.vrm", "t.glb"]);
    let second = folder.join("second.journal");
    let recorder = Journal::open(&second, &project.file()).unwrap().0;
    let mut session = project.start(Some(recorder)).unwrap();
    session.apply(Edit::Rename("twice".into())).unwrap();
    let renamed = session.document().hash();
    session.run(Operation::Undo).unwrap();
    session.run(Operation::Redo).unwrap();
    drop(session);
    let opened = project::open(&second, &BindOptions::default()).unwrap();
    assert_eq!(opened.session.document().hash(), renamed);

    // Every command reads the document from the project.
    let report = json(folder, &["inspect", "made/p.glb", "--json"]);
    assert_eq!(report["project"]["document"], hash.as_str());
    assert_eq!(
        report["project"]["strokes"].as_array().unwrap().len(),
        project.document.unwrap().strokes().len()
    );
    assert!(sinew(folder, &["inspect", "made/p.glb"]).unwrap().contains("Hérø"));
    let posed = json(folder, &["deform", "made/p.glb", "--on", "cpu", "--json", "--out", "p.obj"]);
    assert_eq!(posed["method"], "blend");
    let lbs = json(folder, &["deform", "made/p.glb", "--method", "lbs", "--on", "cpu", "--json"]);
    assert_eq!(lbs["method"], "lbs");
    assert!(posed["stretch_max"].as_f64().unwrap() > 0.05, "{posed}");
    sinew(folder, &["bind", "made/p.glb"]).unwrap();
    // The positions in the file equal the positions that Sinew computes from the document.
    let shown = Asset::load(folder.join("made/p.glb")).unwrap();
    assert!(!shown.clips.is_empty());
}

#[test]
fn a_project_that_cannot_be_understood_is_refused_with_a_reason() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    character(folder);
    sinew(folder, &["save", "hero.gltf", "--out", "p.glb", "--on", "cpu"]).unwrap();
    let bytes = std::fs::read(folder.join("p.glb")).unwrap();
    let changed = |text: &str, replacement: &str| {
        let at = bytes.windows(text.len()).position(|w| w == text.as_bytes()).unwrap();
        let mut bad = bytes.clone();
        bad[at..at + text.len()].copy_from_slice(replacement.as_bytes());
        std::fs::write(folder.join("bad.glb"), bad).unwrap();
        sinew(folder, &["deform", "bad.glb", "--on", "cpu"]).unwrap_err()
    };
    assert!(changed("\"checksum\"", "\"checkfun\"").contains("another program has changed the file"));
    assert!(changed("\"strokes\":[]", "\"strikes\":[]").contains("bad.glb: document: "));
    // The file still opens as a plain model, and the report gives the reason.
    let text = sinew(folder, &["inspect", "bad.glb"]).unwrap();
    assert!(text.contains("project: ") && text.contains("strikes"), "{text}");
    let error = sinew(folder, &["save", "hero.gltf", "--out", "p.obj", "--on", "cpu"]).unwrap_err();
    assert!(error.contains("end the name of the project in .glb"), "{error}");
}

#[test]
#[ignore = "the writer that the test below starts and kills"]
fn writer() {
    let Some(folder) = std::env::var_os(WRITER).map(PathBuf::from) else { return };
    let model = Model::load(&folder.join("hero.gltf"), &BindOptions::default()).unwrap();
    let mut session = recovery::begin(&folder.join("sinew/journal"), &model).unwrap();
    let mut out = std::io::stdout().lock();
    for n in 0.. {
        session.apply(Edit::Rename(format!("name {n}"))).unwrap();
        assert!(session.trouble().is_none());
        if writeln!(out, "\nack {n}").and_then(|()| out.flush()).is_err() {
            return;
        }
    }
}

/// Starts the writer process and kills it; returns the last edit that the writer acknowledged.
fn write_and_kill(folder: &Path, after: usize) -> usize {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "projects::writer", "--nocapture", "--test-threads=1"])
        .env(WRITER, folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let (mut last, mut killed) = (None, false);
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        let Ok(line) = line else { break };
        let Some(n) = line.strip_prefix("ack ").and_then(|n| n.parse::<usize>().ok()) else { continue };
        // Ignores a line that the kill truncated.
        if last.is_none_or(|l| n == l + 1) {
            last = Some(n);
        }
        if n >= after && !killed {
            child.kill().unwrap();
            killed = true;
        }
    }
    assert!(killed && !child.wait().unwrap().success());
    last.unwrap()
}

#[test]
fn a_killed_session_is_listed_restored_to_a_project_and_gone() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    character(folder);
    assert!(sinew(folder, &["recover"]).unwrap().contains("No unfinished sessions"));
    let acknowledged = [write_and_kill(folder, 3), write_and_kill(folder, 9)];
    let sessions = |count: usize| {
        let list = json(folder, &["recover", "--list", "--json"])["sessions"].as_array().unwrap().clone();
        assert_eq!(list.len(), count, "{list:?}");
        list
    };
    let list = sessions(2);
    let newest = PathBuf::from(list[0]["journal"].as_str().unwrap());
    assert!(list[0]["operations"].as_u64().unwrap() as usize > acknowledged[1]);
    assert!(list[0]["file"].as_str().unwrap().ends_with("hero.gltf"));
    let error = sinew(folder, &["recover", "--discard"]).unwrap_err();
    assert!(error.contains("2 unfinished sessions fit"), "{error}");

    // Simulates a crash in the middle of writing a record.
    let operations = recover(&newest).unwrap().operations.len();
    let mut bytes = std::fs::read(&newest).unwrap();
    bytes.extend(b"0123456789abcdef {\"do\":{\"rename\":\"na");
    std::fs::write(&newest, bytes).unwrap();
    assert!(sinew(folder, &["recover"]).unwrap().contains("torn after that"));
    let told = sinew(folder, &["recover", "1", "--restore", "saved.glb", "--on", "cpu"]).unwrap();
    let model = Model::load(&folder.join("hero.gltf"), &BindOptions::default()).unwrap();
    let mut expected = model.start(None).unwrap();
    expected.apply(Edit::Rename(format!("name {}", operations - 2))).unwrap();
    assert!(told.contains(&expected.document().hash()), "{told}");
    let saved = Model::load(&folder.join("saved.glb"), &BindOptions::default()).unwrap();
    assert_eq!(saved.document.unwrap().hash(), expected.document().hash());
    assert!(!newest.exists());

    // A failed recovery deletes nothing.
    let list = sessions(1);
    std::fs::rename(folder.join("hero.gltf"), folder.join("away.gltf")).unwrap();
    assert!(sinew(folder, &["recover"]).unwrap().contains("the file is missing"));
    let error = sinew(folder, &["recover", "--restore", "b.glb", "--on", "cpu"]).unwrap_err();
    assert!(error.contains("hero.gltf: No such file"), "{error}");
    assert_eq!(sessions(1)[0]["operations"], list[0]["operations"]);
    assert!(sinew(folder, &["recover", "hero", "--discard"]).unwrap().contains("discarded"));
    sessions(0);
}

#[test]
fn real_characters_come_back_from_their_projects() {
    for (path, asset) in common::data_files(true).into_iter().filter(|f| !f.1.skins.is_empty()) {
        let vertices: usize =
            asset.meshes.iter().flat_map(|m| &m.primitives).map(|p| p.positions.len()).sum();
        if vertices > 8000 {
            continue;
        }
        let model = Model::load(&path, &BindOptions::default()).unwrap();
        let mut session = model.start(None).unwrap();
        let Ok(edits) = demo_edits(model.skeleton(), session.document()) else { continue };
        edits.into_iter().for_each(|e| session.apply(e).unwrap());
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("p.glb");
        let lbs = DeformerSettings { method: "lbs".into(), ..Default::default() };
        let mut evaluator = Evaluator::new(&Where::Cpu, &model, &recipe(&lbs).unwrap()).unwrap();
        let receipt = project::save(&out, &model, session.document(), &mut evaluator).unwrap();
        let worst = receipt.keys.iter().map(|k| k.largest_of_diagonal).fold(0.0, f64::max);
        assert!(worst < 0.1e-3 / 1.8, "{}: {receipt}", path.display());
        let again = Model::load(&out, &BindOptions::default()).unwrap();
        assert_eq!(again.document.as_ref().unwrap().hash(), session.document().hash(), "{}", path.display());
        assert_eq!(
            (again.file().hash, again.shown()),
            (model.file().hash, session.posed()),
            "{}",
            path.display()
        );
    }
}

/// Hash of the document that an earlier build's `demo` made of `assets/box.glb`, from which it wrote the fixtures.
const BOX_DOCUMENT: &str = "2a1b472c952e48c941342a732d6a4655490726d3f536b62a706d6b49747448ea";

#[test]
fn files_of_an_earlier_build_open_to_the_same_documents() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    // If a journal's character path no longer exists, the file beside the journal is used.
    let fixtures = ["box.journal", "box-project.glb", "human.glb", "human.take"]
        .map(|name| format!("tests/fixtures/{name}"));
    for file in std::iter::once("assets/box.glb".to_owned()).chain(fixtures) {
        let name = Path::new(&file).file_name().unwrap();
        std::fs::copy(root.join(&file), folder.join(name)).unwrap();
    }
    for (input, output) in [("box.journal", "a.glb"), ("box-project.glb", "b.glb")] {
        let told = sinew(folder, &["save", input, "--on", "cpu", "--out", output]).unwrap();
        let hash = told.split("document ").nth(1).unwrap().split_whitespace().next().unwrap();
        assert_eq!(hash, BOX_DOCUMENT, "{input}");
    }
    // Replaying a take fails if the resulting document differs from the recorded one.
    if sinew::gpu::testing::device().is_some() {
        sinew(folder, &["play", "human.take", "--out", "played"]).unwrap();
    }
}
