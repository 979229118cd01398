//! docs/first-steps.md in the headset: two strokes, pins and grabs, two keys, playback, project and export.

use super::characters::{human, joints, load};
use super::headset::{AT_PALETTE, Person, arm, pin_feet};
use super::outcomes;
use crate::headset::bed::Runtime;
use crate::headset::stage::Session;
use sinew::app::report::Event;
use sinew::base::math::Vec3;

const FEET: [&str; 2] = ["LeftFoot", "RightFoot"];

/// Presses an item of the palette that writes a file, and waits for the file.
fn write(p: &mut Person<'_>, item: &str, file: &str) {
    p.press("palette", item);
    let written = |e: &Event| matches!(e, Event::Written(path) if path.ends_with(file)).then_some(());
    if p.s.app.events.iter().find_map(written).is_none() {
        p.s.app.event(file, written);
    }
}

#[test]
fn the_first_steps_in_the_headset_lead_to_an_exported_motion() {
    let Some((runtime, s)) = Session::start_with("human.glb", &human(), &[]) else { return };
    let model = load(&runtime.path("human.glb"));
    steps(&runtime, Person::sit(&runtime, s, model));
}

fn steps(runtime: &Runtime, mut p: Person<'_>) {
    let feet = p.rest(FEET);
    arm(&mut p);
    pin_feet(&mut p);
    let [hand] = p.rest(["RightHand"]);
    p.pull(hand, hand + Vec3::new(-0.05, 0.12, 0.05));

    p.page("Time");
    p.press("palette", "Key");
    p.scrub(1.0);
    let [hand] = p.displayed("RightHand");
    p.pull(hand, hand + Vec3::new(0.05, -0.15, 0.1));
    p.play(AT_PALETTE);
    p.press("palette", "Key");
    p.press("palette", "Play");
    let before = p.s.app.frame.time;
    p.s.app.until_frame(200, "playing", |f| f.time.is_some() && f.time != before);
    p.press("palette", "Play");

    p.page("Session");
    write(&mut p, "Save", "project.glb");
    p.find("palette", "Saved");
    p.press("palette", "Details");
    p.press("details", "Clips");
    p.reveal("All frames, 1 mm");
    p.press("details", "All frames, 1 mm");
    write(&mut p, "Export", "posed.glb");

    let (model, document) = p.saved();
    outcomes::arm(&model, &document);
    assert_eq!(document.pins().len(), 2);
    let times = document.motion().key_times();
    assert!(times.len() == 2 && times[0] == 0.0 && (times[1] - 1.0).abs() < 0.05, "{times:?}");
    let at =
        |time: f64, name: &str| joints(&model, &document.state(model.skeleton(), Some(time)).pose, [name])[0];
    let moved = at(0.0, "RightHand").distance(at(times[1], "RightHand"));
    assert!(moved > 0.05, "the hand moved by {moved} m");
    for (name, rest) in FEET.iter().zip(feet) {
        let far = times.iter().map(|t| at(*t, name).distance(rest)).fold(0.0, f32::max);
        assert!(far < 5e-3, "{name} moved by {far} m");
    }
    // The export's first clip is the motion; the clips of the file follow. The receipt is beside the file.
    let exported = load(&runtime.path("out/posed.glb"));
    let length = exported.skeleton().clips[0].duration();
    assert!((f64::from(length) - times[1]).abs() < 0.01, "{length} s");
    let receipt = std::fs::read_to_string(runtime.path("out/posed.receipt.txt")).unwrap();
    // `at 25 times from 0.000 to 1.000 s: distance largest 0.14 mm (...)`
    let frames =
        receipt.split_once("at 25 times from 0.000 to 1.000 s: distance largest ").map(|found| found.1);
    let largest = frames.and_then(|rest| rest.split_once(" mm")?.0.parse::<f64>().ok());
    assert!(largest.is_some_and(|mm| mm <= 1.0), "{receipt}");
    p.s.end(runtime);
}
