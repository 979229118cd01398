//! Tests that replaying a recorded take reproduces its document.

use super::bed::Runtime;
use super::stage::{Session, check_bent, saved};
use sinew::take::Replay;
use std::path::Path;
use std::process::Command;

#[test]
fn a_take_gives_the_same_document_three_times_in_a_row() {
    let Some((runtime, mut s)) = Session::start(&["--record", "session.take"]) else { return };
    s.bend("right");
    s.play("right press a");
    s.app.frames(2);
    s.play("right release a\nlose left");
    s.arc("right", sinew::base::math::Vec3::ZERO, sinew::base::math::Vec3::X, -80.0);
    let hash = s.app.hash();
    let (model, document) = s.end(&runtime);
    assert_eq!(document.hash(), hash);
    check_bent(&model, &document, 0.1);
    replay(&runtime.path("session.take"), &hash, &runtime.path(""));
    let (_, again) = saved(&runtime.path("out/project.glb"));
    assert_eq!(again.hash(), hash);
}

/// Replays a take without a runtime, once by `sinew play` and twice in this process. Checks the document's hash.
fn replay(take: &Path, hash: &str, folder: &Path) {
    let out = folder.join("replay");
    let mut play = Command::new(env!("CARGO_BIN_EXE_sinew"));
    play.arg("play").arg(take).arg("--out").arg(&out).env("HOME", folder);
    let played = play.output().unwrap();
    let text = String::from_utf8_lossy(&played.stdout);
    assert!(played.status.success(), "{text}{}", String::from_utf8_lossy(&played.stderr));
    assert!(text.contains(&format!("document {hash}")), "not {hash}: {text}");
    let eyes = |e: &std::fs::DirEntry| e.file_name().to_string_lossy().starts_with("eyes-");
    assert!(std::fs::read_dir(&out).unwrap().flatten().any(|e| eyes(&e)), "no pictures");
    for round in 0..2 {
        let mut replay = Replay::open(take).unwrap();
        while replay.step().unwrap() {}
        assert_eq!(replay.bench().session().document().hash(), hash, "round {round}");
    }
}

#[test]
fn the_demonstrations_take_gives_its_document_three_times_in_a_row() {
    let Some(mut runtime) = Runtime::start() else { return };
    runtime.kill();
    let folder = runtime.path("demo");
    std::fs::create_dir(&folder).unwrap();
    std::fs::copy(concat!(env!("CARGO_MANIFEST_DIR"), "/assets/human.glb"), folder.join("human.glb"))
        .unwrap();
    let bin = Path::new(env!("CARGO_BIN_EXE_sinew")).parent().unwrap();
    let tool = Path::new(env!("CARGO_MANIFEST_DIR")).join("tools/record-demo");
    let mut record = Command::new(tool);
    record.arg(&folder).env("SINEW_BIN", bin).env("XDG_STATE_HOME", runtime.path("state"));
    record.env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY");
    let done = record.output().unwrap();
    let words = String::from_utf8_lossy(&done.stderr);
    let told = std::fs::read_to_string(folder.join("session.log")).unwrap_or_default();
    assert!(done.status.success(), "{words}{told}");
    for left in ["left.png", "right.png", "stereo.png", "posed.glb", "posed.receipt.txt", "demo.take"] {
        assert!(folder.join(left).exists(), "no {left}: {words}{told}");
    }
    let (_, document) = saved(&folder.join("project.glb"));
    // On a slow machine, strokes have fewer samples, but the document must still contain a line of action.
    println!("{} marks, {} strokes", document.marks().len(), document.strokes().len());
    assert!(document.strokes().len() == 1 && document.hash().len() == 64, "no line of action");
    replay(&folder.join("demo.take"), &document.hash(), &runtime.path(""));
}
