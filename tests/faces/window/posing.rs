//! Posing by mouse and keyboard, saving and recovery.

use super::stage::{Session, folder, journals, keep, keys};
use crate::desktop::Desktop;
use sinew::app::report::Event;
use sinew::base::math::Vec3;
use sinew::bind::BindOptions;
use sinew::scene::Model;

/// A vertical line through the capsule in the front view.
pub fn baseline() -> Vec<Vec3> {
    (0..=16).map(|i| Vec3::Y * (-0.05 + 1.9 * i as f32 / 16.0)).collect()
}

/// A quarter circle towards +X.
pub fn arc() -> Vec<Vec3> {
    let angle = |i: i32| i as f32 / 16.0 * 1.4;
    (0..=16).map(|i| Vec3::new(1.2 - 1.2 * angle(i).cos(), 1.2 * angle(i).sin(), 0.0)).collect()
}

#[test]
fn a_pose_by_two_strokes_survives_kill_and_is_recovered_saved_and_read_again() {
    let Some(desktop) = Desktop::start() else { return };
    let folder = folder();
    let mut s = Session::open(&desktop, folder.path(), &["capsule.glb"]);
    let rest = s.app.hash();
    s.look_from(&desktop, b'1');
    s.draw(&desktop, &baseline());
    assert_ne!(s.app.hash(), rest, "the baseline is no part of the document: {:?}", s.app.turn);
    s.draw(&desktop, &arc());
    let posed = s.app.hash();
    let steps = s.app.turn.history;
    assert!(s.app.turn.unsaved && steps[0] >= 3, "{:?}", s.app.turn);
    keep(&desktop.screenshot(), "posed");
    // Undoes all edits and redoes them.
    for left in (1..steps[0]).rev() {
        s.press(&desktop, &[keys::CONTROL, u32::from(b'z')]);
        s.app.until("the step undone", |t| t.history[0] == left);
    }
    s.app.rest();
    assert_eq!((s.app.hash(), s.app.turn.history[0]), (rest, 1));
    for again in 2..=steps[0] {
        s.press(&desktop, &[keys::CONTROL, keys::SHIFT, u32::from(b'z')]);
        s.app.until("the step done again", |t| t.history[0] == again);
    }
    s.app.rest();
    assert_eq!((s.app.hash(), s.app.turn.history), (posed.clone(), steps));
    s.app.kill();
    assert_eq!(journals(folder.path()), 1);

    let mut s = Session::open(&desktop, folder.path(), &["capsule.glb"]);
    s.app.until("the offer", |t| t.question.starts_with("Recover"));
    s.app.rest();
    keep(&desktop.screenshot(), "offered");
    s.press(&desktop, &[keys::RETURN]);
    s.app.until("the recovered document", |t| t.question.is_empty() && t.history == steps);
    s.app.rest();
    assert_eq!(s.app.hash(), posed);
    assert!(s.app.turn.unsaved);
    keep(&desktop.screenshot(), "recovered");
    // Closing the window asks whether to save; Escape cancels closing.
    desktop.close(s.window);
    s.app.until("the question", |t| t.question.starts_with("Save before"));
    s.app.rest();
    keep(&desktop.screenshot(), "closing");
    s.press(&desktop, &[keys::ESCAPE]);
    s.app.until("no question", |t| t.question.is_empty());
    s.save(&desktop);
    let project = folder.path().join("capsule.project.glb");
    assert!(
        s.app.events.iter().any(|e| matches!(e, Event::Written(p) if p.ends_with("capsule.project.glb")))
    );
    // *Save as* asks for a path again and does not replace an existing file without asking.
    let saved = std::fs::read(&project).unwrap();
    s.press(&desktop, &[keys::CONTROL, keys::SHIFT, u32::from(b's')]);
    s.app.until("where to save", |t| t.question.starts_with("Save the project"));
    b"capsule".iter().for_each(|letter| s.press(&desktop, &[u32::from(*letter)]));
    s.press(&desktop, &[keys::RETURN]);
    s.app.until("the warning", |t| t.question.starts_with("Replace capsule.project.glb"));
    s.app.rest();
    keep(&desktop.screenshot(), "replacing");
    s.press(&desktop, &[keys::RETURN]);
    s.app.until("another name", |t| t.question.starts_with("Save the project"));
    s.press(&desktop, &[keys::ESCAPE]);
    s.app.until("no question", |t| t.question.is_empty());
    assert!(std::fs::read(&project).unwrap() == saved, "it was written again");
    assert_eq!(s.app.hash(), posed, "letters of a name did something else");
    s.close(&desktop);
    assert_eq!(journals(folder.path()), 0, "what is saved needs no recovery");
    let model = Model::load(&project, &BindOptions::default()).unwrap();
    assert_eq!(model.document.unwrap().hash(), posed);
}

#[test]
fn a_session_that_went_on_after_a_save_is_offered_when_the_project_is_opened() {
    let Some(desktop) = Desktop::start() else { return };
    let folder = folder();
    let mut s = Session::open(&desktop, folder.path(), &["capsule.glb"]);
    s.look_from(&desktop, b'1');
    s.draw(&desktop, &baseline());
    s.draw(&desktop, &arc());
    s.save(&desktop);
    let (saved, steps) = (s.app.hash(), s.app.turn.history);
    s.press(&desktop, &[keys::CONTROL, u32::from(b'z')]);
    s.app.until("the step undone", |t| t.history == [steps[0] - 1, 1]);
    s.app.rest();
    let undone = s.app.hash();
    assert_ne!(undone, saved);
    s.app.kill();

    let mut s = Session::open(&desktop, folder.path(), &["capsule.project.glb"]);
    s.app.until("the offer", |t| t.question.starts_with("Recover"));
    s.app.rest();
    keep(&desktop.screenshot(), "later");
    assert_eq!(s.app.hash(), saved);
    s.press(&desktop, &[keys::RETURN]);
    s.app.until("the later session", |t| t.question.is_empty() && t.history == [steps[0] - 1, 1]);
    s.app.rest();
    assert_eq!(s.app.hash(), undone);
    s.app.kill();
}

#[test]
fn without_a_headset_the_same_file_is_opened_at_the_desk() {
    let Some(desktop) = Desktop::start() else { return };
    let folder = folder();
    // The environment has no OpenXR runtime manifest, and many machines have no loader.
    std::fs::create_dir(folder.path().join("none")).unwrap();
    let none = folder.path().join("none");
    let mut s = Session::run(&desktop, folder.path(), &["vr", "capsule.glb", "--forget"], |command| {
        command.env("XR_RUNTIME_JSON", none.join("none.json")).env("XDG_RUNTIME_DIR", &none);
    });
    let advice = s.app.events.iter().filter(|e| matches!(e, Event::NoRuntime(_))).count();
    assert_eq!(advice, 1, "{:?}", s.app.events);
    s.app.until("the character", |t| t.history[0] == 1);
    s.app.rest();
    // `F9` searches for a runtime again, and the window shows advice.
    let before = s.app.events.len();
    s.press(&desktop, &[keys::F9]);
    s.app.until("the advice", |t| t.message.contains("OpenXR"));
    s.app.rest();
    let told = |e: &Event| matches!(e, Event::Failed(text) if text.contains("OpenXR"));
    assert!(s.app.events[before..].iter().any(told), "{:?}", s.app.events);
    keep(&desktop.screenshot(), "fallen_back");
    s.close(&desktop);
}
