//! Test of switching one document between the window and the headset.

use super::bed::{App, Runtime};
use super::stage::{Session, shape};
use crate::desktop::Desktop;
use sinew::app::report::{Ask, Event};
use sinew::base::math::Vec3;
use sinew::bind::BindOptions;
use sinew::document::journal_folder;
use sinew::project::recovery::{Unfinished, unfinished};
use sinew::workbench::{Command, Tool};
use std::path::Path;
use x11rb::protocol::xproto::Window;

/// X11 keysym of the left Control key.
const CONTROL: u32 = 0xffe3;

/// Waits until the window shows the document, then gives the window the keyboard focus.
fn at_the_desk(app: &mut App, desktop: &Desktop) -> Window {
    let turns = app.turn.frame;
    app.until("the window", |t| t.frame > turns && t.history[0] > 0);
    app.until("rest", |t| t.idle && t.shown > 0 && t.frame > turns);
    let window = desktop.window().expect("a window");
    desktop.focus(window);
    window
}

fn press(app: &mut App, desktop: &Desktop, keysyms: &[u32]) {
    let frame = app.turn.frame;
    keysyms.iter().for_each(|k| desktop.key(*k, true));
    keysyms.iter().rev().for_each(|k| desktop.key(*k, false));
    app.until("the keys", |t| t.frame > frame);
    app.until("rest", |t| t.idle);
}

/// Draws a stroke with the mouse through world-space points.
fn draw(app: &mut App, desktop: &Desktop, window: Window, path: &[Vec3]) {
    let corner = desktop.corner(window);
    let pixels: Vec<[f32; 2]> = path.iter().map(|p| app.pixel(*p).map(f32::round)).collect();
    for (i, to) in pixels.iter().enumerate() {
        desktop.point([corner[0] + to[0] as i16, corner[1] + to[1] as i16]);
        app.until("the pointer there", |t| t.pointer == *to);
        if i == 0 {
            app.until("rest", |t| t.idle);
            desktop.button(1, true);
            app.until("the button", |t| t.pressed);
        }
    }
    desktop.button(1, false);
    app.until("the button", |t| !t.pressed);
    app.until("rest", |t| t.idle);
}

/// Returns the sessions in the journals that ended without saving.
fn left(folder: &Path) -> Vec<Unfinished> {
    let state = folder.join("state").into_os_string();
    let journals = journal_folder(|name| (name == "XDG_STATE_HOME").then(|| state.clone())).unwrap();
    unfinished(&journals, None).unwrap().sessions
}

fn keep(desktop: &Desktop, name: &str) {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("headset");
    std::fs::create_dir_all(&folder).unwrap();
    desktop.screenshot().save(folder.join(name).with_extension("png")).unwrap();
}

#[test]
fn a_headset_put_on_in_mid_work_goes_on_with_it_and_taken_off_gives_it_back() {
    let (Some(mut runtime), Some(desktop)) = (Runtime::start(), Desktop::start()) else { return };
    let folder = runtime.path("");
    // The socket file of the killed runtime remains, but no process serves it.
    runtime.kill();
    let glb = sinew::export::unedited(&shape().capsule_asset()).unwrap();
    std::fs::write(folder.join("capsule.glb"), &glb).unwrap();
    std::fs::write(folder.join("other.glb"), &glb).unwrap();
    let mut app = App::run(&runtime, &["edit", "capsule.glb"], Some(&desktop));
    let window = at_the_desk(&mut app, &desktop);
    let before = app.turn.clip_from_world;
    press(&mut app, &desktop, &[u32::from(b'1')]);
    app.until("the front", |t| t.clip_from_world != before);
    let up: Vec<Vec3> = (0..=12).map(|i| Vec3::Y * (-0.05 + 1.55 * i as f32 / 12.0)).collect();
    draw(&mut app, &desktop, window, &up);
    let (drawn, steps) = (app.hash(), app.turn.history);
    press(&mut app, &desktop, &[u32::from(b'b')]);
    app.until("the grab tool", |t| t.tool == Tool::Grab);
    let view = app.turn.clip_from_world;
    assert_eq!((app.turn.tool, steps), (Tool::Grab, [2, 0]));
    keep(&desktop, "faces_desk");

    // The runtime starts, and the simulated user puts the headset on.
    runtime.serve();
    let mut s = Session { puppet: runtime.puppet(), app };
    s.focus();
    assert_eq!((s.app.hash(), s.app.frame.history, s.app.frame.tool), (drawn.clone(), steps, Tool::Grab));
    s.app.press(Command::Tool(Tool::Line));
    // The baseline that was drawn in the window has no offset stroke yet.
    s.arc("right", Vec3::ZERO, Vec3::X, -85.0);
    let bent = s.app.hash();
    assert!(bent != drawn && s.app.frame.history == [3, 0], "{:?}", s.app.frame.history);
    s.app.picture("faces_headset");

    // A second program takes the focus, which simulates taking the headset off. The window returns unchanged.
    let other = App::start(&runtime, &["other.glb", "--forget"]);
    at_the_desk(&mut s.app, &desktop);
    assert_eq!((s.app.hash(), s.app.turn.history, s.app.turn.tool), (bent.clone(), [3, 0], Tool::Line));
    assert_eq!(s.app.turn.clip_from_world, view, "the camera is where it was");
    press(&mut s.app, &desktop, &[CONTROL, u32::from(b'z')]);
    s.app.until("the stroke undone", |t| t.history == [2, 1]);
    assert_eq!(s.app.hash(), drawn);
    press(&mut s.app, &desktop, &[CONTROL, u32::from(b'y')]);
    s.app.until("the stroke done again", |t| t.history == [3, 0]);
    s.app.until("rest", |t| t.idle);
    assert_eq!(s.app.hash(), bent);
    keep(&desktop, "faces_back");

    // The user puts the headset on, and the OpenXR session continues. Then the runtime crashes and restarts.
    drop(other);
    s.focus();
    assert_eq!((s.app.hash(), s.app.frame.history), (bent.clone(), [3, 0]));
    runtime.kill();
    s.app.event("the loss", |e| matches!(e, Event::Lost(_)).then_some(()));
    at_the_desk(&mut s.app, &desktop);
    runtime.serve();
    s.puppet = runtime.puppet();
    s.focus();
    // A command switches to the window. Sinew stays in the window although the user still wears the headset.
    s.app.ask(&Ask::Command(Command::OtherFace));
    at_the_desk(&mut s.app, &desktop);
    let frame = s.app.frame.frame;
    press(&mut s.app, &desktop, &[CONTROL, u32::from(b'z')]);
    s.app.until("the stroke undone", |t| t.history == [2, 1]);
    press(&mut s.app, &desktop, &[CONTROL, u32::from(b'y')]);
    s.app.until("the stroke done again", |t| t.history == [3, 0]);
    assert_eq!((s.app.hash(), s.app.frame.frame), (bent.clone(), frame));
    s.app.quit();

    // A single journal holds the edits from both the window and the headset.
    let journals = left(&folder);
    assert_eq!(journals.len(), 1, "{journals:?}");
    let model = journals[0].load(&BindOptions::default()).unwrap();
    assert_eq!(journals[0].restore(&model).unwrap().document().hash(), bent);
    assert_eq!(runtime.findings(), "");
}
