//! Tests that windows open, resize, idle and close correctly.

use super::stage::{Session, changed, cut, folder, journals, keep, keys};
use crate::desktop::Desktop;
use sinew::app::report::{Ask, Event, Text};

#[test]
fn a_file_is_opened_turned_and_resized_and_nothing_is_lost_at_the_end() {
    let Some(desktop) = Desktop::start() else { return };
    let folder = folder();
    let mut s = Session::open(&desktop, folder.path(), &["capsule.glb"]);
    let hash = s.app.hash();
    assert!(!s.app.turn.unsaved);
    let first = desktop.screenshot();
    keep(&first, "opened");
    // A view rotated by 90 degrees shows a round body unchanged, but floor and shadow rotate.
    let [x, y, width, height] = s.app.turn.viewport.map(|v| v as f32);
    let middle = [x + width * 0.25, y + height * 0.5];
    let path: Vec<[f32; 2]> = (0..9).map(|i| [middle[0] + 25.0 * i as f32, middle[1]]).collect();
    let before = s.app.turn.clip_from_world;
    s.drag(&desktop, 2, &path);
    keep(&changed(&desktop, &s, &first, 0.002), "turned");
    assert_ne!(s.app.turn.clip_from_world, before, "the camera did not turn");
    // The mouse wheel zooms in.
    let (before, shown) = (s.app.turn.clip_from_world, s.app.turn.shown);
    desktop.button(4, true);
    desktop.button(4, false);
    s.app.until("a picture after the wheel", |t| t.shown > shown && t.clip_from_world != before);
    s.app.rest();
    for size in [[900, 600], [1000, 850], [1280, 800]] {
        desktop.resize(s.window, size);
        s.app.until("the new size", |t| t.size == size);
        s.app.rest();
        let [x, y, width, height] = s.app.turn.viewport;
        assert!(x + width <= size[0] && y + height <= size[1] && width > size[0] / 4, "{:?}", s.app.turn);
        // The corner of the picture is not the black of an unpainted window.
        let picture = desktop.screenshot_when("the painted corner", |now| {
            cut(now, &s, &desktop).get_pixel(2, 2).0.iter().all(|v| *v > 30)
        });
        keep(&picture, &format!("size_{}", size[0]));
    }
    assert_eq!(s.app.hash(), hash, "looking changed the document");
    s.close(&desktop);
    assert_eq!(journals(folder.path()), 0, "nothing was done, so there is nothing to recover");
}

#[test]
fn a_window_in_which_nothing_happens_takes_no_turn() {
    let Some(desktop) = Desktop::start() else { return };
    let folder = folder();
    let mut s = Session::open(&desktop, folder.path(), &["capsule.glb", "--forget"]);
    s.app.rest();
    // Counts frames, not seconds: a window with a timer would have drawn more frames before it answers the pointer.
    let frame = s.app.turn.frame;
    let shown = s.app.turn.shown;
    s.point(&desktop, [300.0, 300.0]);
    assert!(s.app.turn.frame > frame && s.app.turn.frame <= frame + 3, "turns were taken in between");
    assert!(s.app.turn.shown <= shown + 3);
    s.close(&desktop);
}

#[test]
fn a_file_that_is_none_is_told_in_the_window_which_goes_on() {
    let Some(desktop) = Desktop::start() else { return };
    let folder = folder();
    std::fs::write(folder.path().join("broken.glb"), b"glTFxxxx").unwrap();
    let mut s = Session::start(&desktop, folder.path(), &["broken.glb", "--forget"]);
    s.app.until("the trouble", |t| t.message.contains("broken.glb"));
    s.app.rest();
    keep(&desktop.screenshot(), "trouble");
    s.close(&desktop);
}

/// Waits until the window shows a text, and returns it.
fn text(s: &mut Session, wanted: &str) -> Text {
    for _ in 0..100 {
        // Lists that still arrive, or a layout that still settles, would move the text.
        s.app.rest();
        s.app.ask(&Ask::Texts);
        let texts =
            s.app.event("the texts", |e| if let Event::Texts(t) = e { Some(t.clone()) } else { None });
        if let Some(found) = texts.into_iter().find(|t| t.text == wanted) {
            return found;
        }
    }
    panic!("the window never showed {wanted:?}")
}

#[test]
fn a_sample_is_saved_in_the_home_folder_and_exported_beside_its_project() {
    let Some(desktop) = Desktop::start() else { return };
    let folder = folder();
    let home = folder.path().join("home");
    std::fs::create_dir(&home).unwrap();
    std::fs::copy(folder.path().join("capsule.glb"), home.join("mine.glb")).unwrap();
    let mut s = Session::run(&desktop, folder.path(), &["edit", "--forget"], |c| {
        c.env("HOME", &home);
    });
    let sample = text(&mut s, "chibi.glb");
    s.drag(&desktop, 1, &[[sample.centre[0], sample.centre[1]]]);
    s.app.until("the sample", |t| t.history[0] > 0);
    s.app.rest();
    // The dialog lists the proposed folder, although the window has listed the sample's folder before.
    s.press(&desktop, &[keys::CONTROL, u32::from(b's')]);
    s.app.until("where to save", |t| t.question.starts_with("Save the project"));
    text(&mut s, "mine.glb");
    text(&mut s, &home.display().to_string());
    s.press(&desktop, &[keys::RETURN]);
    s.app.until("the project", |t| t.message.ends_with("home/chibi.project.glb"));
    s.press(&desktop, &[keys::CONTROL, u32::from(b'e')]);
    s.app.until("where to export to", |t| t.question.starts_with("Export"));
    text(&mut s, &home.display().to_string());
    s.press(&desktop, &[keys::ESCAPE]);
    s.app.until("no dialog", |t| t.question.is_empty());
    s.close(&desktop);
}
