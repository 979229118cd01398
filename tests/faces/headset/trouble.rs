//! Tests of interruptions: the headset is taken off, the runtime crashes, or no runtime is found.

use super::bed::{App, Runtime};
use super::stage::{Session, check_bent, saved, shape, words};
use sinew::app::report::{Ask, Event};
use sinew::base::math::Vec3;
use sinew::workbench::Command as Press;
use std::process::Command;

pub fn a_headset_taken_off_saves_the_document_and_goes_on_when_put_on(s: &mut Session, runtime: &Runtime) {
    s.bend("right");
    let hash = s.app.hash();
    // A second program takes the focus, as a headset's dashboard does when the user takes the headset off.
    let other = App::start(runtime, &["capsule.glb", "--forget"]);
    s.app
        .event("the end of attention", |e| matches!(e, Event::State(s) if s == "SYNCHRONIZED").then_some(()));
    s.app.event("a saved project", |e| {
        matches!(e, Event::Written(p) if p.ends_with("project.glb")).then_some(())
    });
    let (_, document) = saved(&runtime.path("out/project.glb"));
    assert_eq!(document.hash(), hash);
    other.quit();
    s.focus();
    assert_eq!(s.app.hash(), hash);
    // The reports wait unread while the other program ends. The hand moves to a new place, so the newest is read.
    s.play("right at 0.3 1.2 -0.5\nright press a");
    s.app.frames(2);
    assert_ne!(s.app.hash(), hash, "undo does nothing after the pause");
    s.play("right release a\nright press b");
    s.app.frames(2);
    s.play("right release b");
    let (model, document) = s.save(runtime);
    assert_eq!(document.hash(), hash);
    check_bent(&model, &document, 0.06);
}

#[test]
fn a_runtime_that_dies_in_mid_stroke_costs_that_stroke_and_nothing_else() {
    let Some((mut runtime, mut s)) = Session::start(&[]) else { return };
    s.baseline("right");
    let hash = s.app.hash();
    let (start, centre) = (s.tip(Vec3::ZERO), words(s.stage(Vec3::X)));
    s.play(&format!("right at {start}\nright trigger 1\nright arc {centre} 0 0 1 -40 over 0.3"));
    runtime.kill();
    s.app.event("the loss", |e| matches!(e, Event::Lost(_)).then_some(()));
    s.app.until_frame(200, "without a session", |f| f.state == "NONE");
    assert_eq!(s.app.hash(), hash);
    runtime.serve();
    s.puppet = runtime.puppet();
    s.focus();
    assert_eq!((s.app.hash(), s.app.frame.history), (hash, [2, 0]));
    // The baseline has no offset stroke yet.
    s.arc("right", Vec3::ZERO, Vec3::X, -85.0);
    s.app.picture("after_a_crash");
    let (model, document) = s.end(&runtime);
    assert_eq!(document.strokes().len(), 1);
    check_bent(&model, &document, 0.06);
}

#[test]
fn without_a_runtime_there_is_one_line_of_advice() {
    let folder = tempfile::tempdir().unwrap();
    let glb = sinew::export::unedited(&shape().capsule_asset()).unwrap();
    std::fs::write(folder.path().join("capsule.glb"), glb).unwrap();
    // `XR_RUNTIME_JSON` names a missing file. Many machines also have no OpenXR loader.
    let mut command = Command::new(env!("CARGO_BIN_EXE_sinew"));
    command.env("XR_RUNTIME_JSON", folder.path().join("none.json")).env("XDG_RUNTIME_DIR", folder.path());
    command.args(["vr", "capsule.glb", "--forget"]).current_dir(folder.path()).env("HOME", folder.path());
    let out = command.env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY").output().unwrap();
    let text = String::from_utf8_lossy(&out.stderr);
    assert_eq!(out.status.code(), Some(3), "scripts tell it by its code: {text}");
    let advice: Vec<&str> = text.lines().filter(|l| l.starts_with("sinew: ")).collect();
    assert_eq!(advice.len(), 1, "{text}");
    assert!(advice[0].contains("OpenXR") && advice[0].contains("xr-runtime"), "{text}");
    assert!(!text.contains("panicked"), "{text}");
}

#[test]
fn a_program_that_waits_for_its_runtime_begins_when_it_comes() {
    let Some(mut runtime) = Runtime::start() else { return };
    runtime.kill();
    let glb = sinew::export::unedited(&shape().capsule_asset()).unwrap();
    std::fs::write(runtime.path("capsule.glb"), glb).unwrap();
    let mut app = App::start(&runtime, &["capsule.glb", "--forget", "--wait"]);
    app.event("advice", |e| matches!(e, Event::NoRuntime(_)).then_some(()));
    app.until_frame(10, "without a session", |f| f.state == "NONE");
    runtime.serve();
    let _puppet = runtime.puppet();
    app.until_frame(3000, "focused", |f| f.state == "FOCUSED" && f.rendered);
    app.quit();
    assert_eq!(runtime.findings(), "");
}

#[test]
fn a_sample_is_saved_in_the_home_folder_without_a_dialog() {
    let Some(runtime) = Runtime::start() else { return };
    let (home, samples) = (runtime.path("home"), runtime.path("state/sinew/samples"));
    [&home, &samples].iter().for_each(|folder| std::fs::create_dir_all(folder).unwrap());
    let glb = sinew::export::unedited(&shape().capsule_asset()).unwrap();
    std::fs::write(samples.join("hero.glb"), glb).unwrap();
    std::fs::write(home.join("hero.project.glb"), b"mine").unwrap();
    let _puppet = runtime.puppet();
    let mut command = runtime.command(env!("CARGO_BIN_EXE_sinew"));
    // The tool that starts the program finds the runtime in the user's own cache.
    let own = std::env::home_dir().unwrap().join(".cache");
    command
        .env("XDG_CACHE_HOME", std::env::var_os("XDG_CACHE_HOME").unwrap_or(own.into()))
        .env("HOME", &home);
    command.arg("vr").arg(samples.join("hero.glb")).args(["--forget", "--samples", "1", "--report"]);
    command.env_remove("WAYLAND_DISPLAY").env_remove("DISPLAY");
    let mut app = App::spawn(command, &runtime.path("."));
    app.event("the sample", |e| matches!(e, Event::Loaded(_)).then_some(()));
    app.ask(&Ask::Command(Press::Save));
    let written = app.event("a project", |e| if let Event::Written(p) = e { Some(p.clone()) } else { None });
    assert_eq!(written, home.join("hero-2.project.glb"));
    // A message tells the path to a person who cannot see the window.
    let tells = |app: &mut App| {
        app.ask(&Ask::Texts);
        let texts = app.event("the texts", |e| if let Event::Texts(t) = e { Some(t.clone()) } else { None });
        texts.iter().any(|t| t.text == format!("wrote {}", written.display()))
    };
    assert!((0..100).any(|_| tells(&mut app)), "no message tells the path");
    app.quit();
    assert_eq!(std::fs::read(home.join("hero.project.glb")).unwrap(), b"mine");
    saved(&written);
    let names: Vec<_> = std::fs::read_dir(&samples).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert!(names.iter().all(|n| !n.to_string_lossy().contains("project")), "{names:?}");
}
