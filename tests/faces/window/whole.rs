//! A real character in the window: the mouse grabs one wrist, pins it, and grabs the other wrist. The whole body follows by
//! FAST, and pinned feet stay in place.

use super::stage::{Session, changed, keep, keys};
use crate::desktop::Desktop;
use crate::man::Man;
use sinew::bind::BindOptions;
use sinew::deform::Recipe;
use sinew::scene::{Evaluator, Model, Where};

const P: u32 = b'p' as u32;

/// Drags along a straight line in steps.
fn way(from: [f32; 2], by: [f32; 2]) -> Vec<[f32; 2]> {
    (0..=8).map(|i| [0, 1].map(|k| from[k] + by[k] * i as f32 / 8.0)).collect()
}

#[test]
fn one_mouse_pulls_one_wrist_and_then_the_other_and_pinned_feet_stay() {
    let Some(desktop) = Desktop::start() else { return };
    let man = Man::load();
    let [left, right, foot, other_foot, hips] = man.places();
    let folder = tempfile::Builder::new().prefix("sdesk").tempdir().unwrap();
    std::fs::copy(&man.file, folder.path().join("man.glb")).unwrap();
    let mut s = Session::open(&desktop, folder.path(), &["man.glb"]);
    let before = s.app.turn.clip_from_world;
    s.press(&desktop, &[u32::from(b'1')]);
    s.app.until("the front", |t| t.clip_from_world != before);
    s.app.rest();
    // With the grab tool the whole body follows.
    s.press(&desktop, &[u32::from(b'b')]);
    for foot in [foot, other_foot] {
        let at = s.app.pixel(foot);
        s.drag(&desktop, 1, &[at]);
        s.press(&desktop, &[P]);
    }
    let steps = s.app.turn.history[0];
    let first = desktop.screenshot();
    keep(&first, "whole_before");
    // A length in the picture that does not depend on the window's size.
    let scale = (s.app.pixel(left)[0] - s.app.pixel(right)[0]).abs();
    let by = [0.22 * scale, -0.15 * scale];
    let at = s.app.pixel(left);
    s.drag(&desktop, 1, &way(at, by));
    let [x, y] = [at[0] + by[0], at[1] + by[1]];
    assert_eq!(s.app.turn.history[0], steps + 1, "{:?}", s.app.turn);
    let second = changed(&desktop, &s, &first, 0.005);
    keep(&second, "whole_one_wrist");
    // Both wrists moved with the body, so the test reads the current pose.
    s.save(&desktop);
    let project = folder.path().join("man.project.glb");
    let read = || Model::load(&project, &BindOptions::default()).unwrap();
    let pose = |model: &Model| model.document.as_ref().unwrap().posed(model.skeleton());
    let taken = man.checked(&pose(&read()));
    let reached = s.app.pixel(taken[0]);
    // The mouse grabbed the skin a few centimetres in front of the joint.
    assert!((reached[0] - x).hypot(reached[1] - y) < 0.05 * scale, "{reached:?} {x} {y}");
    assert!((taken[4] - hips).x > 0.01, "the body stayed: {} {hips}", taken[4]);
    s.drag(&desktop, 1, &[reached]);
    s.press(&desktop, &[P]);
    assert_eq!(s.app.turn.history[0], steps + 2, "the wrist was not pinned: {:?}", s.app.turn);
    let at = s.app.pixel(taken[1]);
    s.drag(&desktop, 1, &way(at, [0.1 * scale, -0.25 * scale]));
    keep(&changed(&desktop, &s, &second, 0.005), "whole_both_wrists");
    s.press(&desktop, &[keys::CONTROL, u32::from(b's')]);
    s.app.until("the saved project", |t| !t.unsaved && t.message.contains("wrote"));
    s.close(&desktop);

    let model = read();
    let pose = pose(&model);
    let now = man.checked(&pose);
    assert!(now[0].distance(taken[0]) < 0.01, "the pinned wrist went from {} to {}", taken[0], now[0]);
    assert!(now[1].y > taken[1].y + 0.05, "{} {}", now[1], taken[1]);
    for (k, before) in [(2, foot), (3, other_foot)] {
        assert!(now[k].distance(before) < 5e-3, "a pinned foot went from {before} to {}", now[k]);
    }
    let mut pinned = [man.nodes[0], man.nodes[2], man.nodes[3]];
    pinned.sort_unstable();
    assert_eq!(model.document.as_ref().unwrap().pins(), pinned);
    let mut evaluator = Evaluator::new(&Where::Cpu, &model, &Recipe::default()).unwrap();
    let shape = evaluator.evaluate(&model, &pose).unwrap();
    let measured = model.measure(&shape.control);
    let volume = measured.volume_ratio.expect("a closed body");
    assert!((volume - 1.0).abs() < 0.05, "{measured:?}");
    println!("volume {volume}, hips by {}", now[4] - hips);
}
