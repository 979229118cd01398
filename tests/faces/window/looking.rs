//! Actions that change no document: measures, the drawing plane, stereo views, the file panel. The window idles after each.

use super::posing::{arc, baseline};
use super::stage::{Session, cut, difference, folder, keep, keys, shape};
use crate::desktop::Desktop;
use image::RgbImage;
use sinew::base::math::Vec3;

const ALT: u32 = 0xffe9;
const DOWN: u32 = 0xff54;
const F1: u32 = 0xffbe;
const BACKSPACE: u32 = 0xff08;

/// Asserts that an idle window wakes for events only. A window with a timer would draw frames while the test takes
/// screenshots.
fn sleeps(s: &mut Session, desktop: &Desktop, what: &str) -> RgbImage {
    // The window handles events in order: after this move it has handled all earlier keys too.
    let [x, y, ..] = s.app.turn.viewport.map(|v| v as f32);
    let away = |s: &mut Session| {
        let far = if s.app.turn.pointer[0] > x + 30.0 { x + 20.0 } else { x + 60.0 };
        s.point(desktop, [far, y + 20.0]);
    };
    away(s);
    s.app.rest();
    let (frame, shown) = (s.app.turn.frame, s.app.turn.shown);
    let mut picture = desktop.screenshot();
    for _ in 0..6 {
        picture = desktop.screenshot();
    }
    keep(&picture, what);
    away(s);
    let turns = (s.app.turn.frame - frame, s.app.turn.shown - shown);
    assert!(turns.0 <= 6 && turns.1 <= 6, "{what}: {turns:?} turns and pictures with nothing to do");
    s.app.rest();
    picture
}

/// Returns the point on the front of the skin at a height `y` and a distance `x` to the right.
fn front(x: f32, y: f32) -> Vec3 {
    Vec3::new(x, y, (shape().radius.powi(2) - x * x).sqrt())
}

#[test]
fn measures_planes_and_both_eyes_show_and_the_window_sleeps_after_each() {
    let Some(desktop) = Desktop::start() else { return };
    let folder = folder();
    let mut s = Session::open(&desktop, folder.path(), &["capsule.glb", "--forget"]);
    s.look_from(&desktop, b'1');
    let rest = s.app.hash();
    let plain = sleeps(&mut s, &desktop, "rest");

    // Measures from the left side to the right side, along a straight line and along the skin; then through the body.
    s.press(&desktop, &[u32::from(b'k')]);
    for x in [-0.13, 0.13] {
        let at = s.app.pixel(front(x, 0.7));
        s.drag(&desktop, 1, &[at]);
    }
    s.press(&desktop, &[keys::SHIFT, u32::from(b'k')]);
    let at = s.app.pixel(front(0.0, 1.2));
    s.drag(&desktop, 1, &[at]);
    let measured = sleeps(&mut s, &desktop, "measured");
    let changed = difference(&cut(&plain, &s, &desktop), &cut(&measured, &s, &desktop));
    assert!(changed > 0.001, "only {changed} of the picture changed");

    // Shows the drawing plane and its gizmo.
    s.press(&desktop, &[u32::from(b'l')]);
    s.press(&desktop, &[ALT, u32::from(b'd')]);
    let before = sleeps(&mut s, &desktop, "plane_facing");
    s.look_from(&desktop, b'6');
    let [x, y, width, height] = s.app.turn.viewport.map(|v| v as f32);
    let middle = [x + width * 0.5, y + height * 0.5];
    s.point(&desktop, middle);
    let plane = sleeps(&mut s, &desktop, "plane");
    assert!(difference(&cut(&before, &s, &desktop), &cut(&plane, &s, &desktop)) > 0.005);
    s.press(&desktop, &[keys::ESCAPE]);
    s.press(&desktop, &[keys::SHIFT, u32::from(b'd')]);

    // Both eyes side by side, then in one red and cyan picture: the colours separate at the body's outlines.
    let one = cut(&sleeps(&mut s, &desktop, "one_eye"), &s, &desktop);
    s.press(&desktop, &[ALT, u32::from(b's')]);
    let two = cut(&sleeps(&mut s, &desktop, "side_by_side"), &s, &desktop);
    s.press(&desktop, &[ALT, u32::from(b's')]);
    let both = cut(&sleeps(&mut s, &desktop, "anaglyph"), &s, &desktop);
    assert!(difference(&one, &two) > 0.02);
    let red_or_cyan = |p: &RgbImage| {
        let far = |p: &&image::Rgb<u8>| {
            let [r, g, b] = p.0.map(i32::from);
            (g - b).abs() < 45 && (r - (g + b) / 2).abs() > 40
        };
        p.pixels().filter(far).count() as f64 / p.pixels().len() as f64
    };
    let (before, after) = (red_or_cyan(&one), red_or_cyan(&both));
    assert!(after > 1.2 * before, "{before} of the pixels are red or cyan before, {after} after");
    s.press(&desktop, &[ALT, u32::from(b's')]);
    // Opens the list of keyboard shortcuts.
    s.press(&desktop, &[F1]);
    sleeps(&mut s, &desktop, "keys");
    s.press(&desktop, &[keys::ESCAPE]);
    assert_eq!(s.app.hash(), rest, "looking changed the document");

    // Two strokes give a pose, which is keyed, scrubbed and played. Each new pose updates the measure once.
    s.press(&desktop, &[u32::from(b'1')]);
    s.app.rest();
    s.draw(&desktop, &baseline());
    s.draw(&desktop, &arc());
    s.app.until("the pose", |t| t.history[0] == 3 && t.idle);
    sleeps(&mut s, &desktop, "bent_and_measured");
    s.press(&desktop, &[u32::from(b'i')]);
    s.app.until("a key", |t| t.history[0] == 4);
    for _ in 0..3 {
        s.press(&desktop, &[keys::RIGHT]);
    }
    s.app.until("the third frame", |t| t.time == Some(0.125));
    s.press(&desktop, &[u32::from(b'i')]);
    s.app.until("another key", |t| t.history[0] == 5);
    sleeps(&mut s, &desktop, "keyed_and_measured");
    s.press_on(&desktop, &[u32::from(b' ')]);
    s.app.until("time that runs", |t| t.playing);
    s.press_on(&desktop, &[u32::from(b' ')]);
    s.app.until("time that stands", |t| !t.playing);
    sleeps(&mut s, &desktop, "played_and_measured");
    s.save(&desktop);
    s.close(&desktop);
}

#[test]
fn an_empty_window_walks_through_folders_to_a_character() {
    let Some(desktop) = Desktop::start() else { return };
    let folder = folder();
    let below = folder.path().join("walks");
    std::fs::create_dir(&below).unwrap();
    std::fs::rename(folder.path().join("capsule.glb"), below.join("hero.glb")).unwrap();
    std::fs::write(folder.path().join("letter.txt"), "Dear reader,\n").unwrap();
    let mut s = Session::start(&desktop, folder.path(), &["--forget"]);
    let first = sleeps(&mut s, &desktop, "folder");
    // Skips the entry of the parent folder and the folders of settings and state, which come first in the alphabet.
    for _ in 0..8 {
        s.press(&desktop, &[DOWN]);
    }
    s.press(&desktop, &[keys::RETURN]);
    let inside = sleeps(&mut s, &desktop, "folder_below");
    assert!(difference(&first, &inside) > 0.0003, "the folder below is not shown");
    // Enters the parent folder, returns, and opens the only file.
    s.press(&desktop, &[BACKSPACE]);
    s.app.rest();
    for _ in 0..8 {
        s.press(&desktop, &[DOWN]);
    }
    s.press(&desktop, &[keys::RETURN]);
    s.app.rest();
    s.press(&desktop, &[DOWN]);
    s.press(&desktop, &[keys::RETURN]);
    s.app.until("a character", |t| t.history[0] > 0);
    s.app.rest();
    keep(&desktop.screenshot(), "walked");
    s.close(&desktop);
}
