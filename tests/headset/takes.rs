//! Recorded takes.

use super::stage::{Session, check_bent, saved};
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
    for round in 0..3 {
        let out = runtime.path(&format!("replay{round}"));
        // Without a runtime: the file alone, and the program as it is.
        let mut play = Command::new(env!("CARGO_BIN_EXE_sinew"));
        play.arg("play")
            .arg(runtime.path("session.take"))
            .arg("--out")
            .arg(&out)
            .env("HOME", runtime.path(""));
        let played = play.output().unwrap();
        let text = String::from_utf8_lossy(&played.stdout);
        assert!(played.status.success(), "{text}{}", String::from_utf8_lossy(&played.stderr));
        assert!(text.contains(&format!("document {hash}")), "round {round}: not {hash}: {text}");
    }
    let (_, again) = saved(&runtime.path("out/project.glb"));
    assert_eq!(again.hash(), hash);
}
