//! The common start of the scenarios: a window with a capsule on four bones, mouse and keyboard.

use super::bed::App;
use crate::desktop::Desktop;
use image::RgbImage;
use sinew::app::report::{Event, Text};
use sinew::base::math::Vec3;
use sinew::bind::shapes::Shape;
use std::path::{Path, PathBuf};
use x11rb::protocol::xproto::Window;

/// Buttons of the mouse's wheel: up and down.
const WHEEL: [u8; 2] = [4, 5];

/// X11 keysyms.
pub mod keys {
    pub const TAB: u32 = 0xff09;
    pub const RETURN: u32 = 0xff0d;
    pub const LEFT: u32 = 0xff51;
    pub const RIGHT: u32 = 0xff53;
    pub const F9: u32 = 0xffc6;
    pub const ESCAPE: u32 = 0xff1b;
    pub const SHIFT: u32 = 0xffe1;
    pub const CONTROL: u32 = 0xffe3;
}

/// Dimensions of the scenarios' capsule, which starts at the origin and extends along +Y.
pub fn shape() -> Shape {
    Shape { bones: 4, rings: 36, segments: 16, radius: 0.15, length: 1.8, blend: 0.5 }
}

/// Creates a temporary folder that holds the capsule.
pub fn folder() -> tempfile::TempDir {
    let folder = tempfile::Builder::new().prefix("sdesk").tempdir().unwrap();
    let glb = sinew::export::unedited(&shape().capsule_asset()).unwrap();
    std::fs::write(folder.path().join("capsule.glb"), glb).unwrap();
    folder
}

/// A running program, its window and the keyboard.
pub struct Session {
    pub app: App,
    pub window: Window,
}

impl Session {
    /// Opens a file and waits until the window shows it.
    pub fn open(desktop: &Desktop, folder: &Path, arguments: &[&str]) -> Self {
        let mut session = Self::start(desktop, folder, arguments);
        session.app.until("a character", |t| t.history[0] > 0);
        session.app.rest();
        session
    }

    /// Waits until the window shows a picture.
    pub fn start(desktop: &Desktop, folder: &Path, arguments: &[&str]) -> Self {
        Self::run(desktop, folder, &[&["edit"], arguments].concat(), |_| {})
    }

    /// Runs `sinew ARGUMENTS` with environment variables.
    pub fn run(
        desktop: &Desktop,
        folder: &Path,
        arguments: &[&str],
        environment: impl FnOnce(&mut std::process::Command),
    ) -> Self {
        let mut app = App::at_desktop(desktop, folder, arguments, environment);
        app.until("a picture", |t| t.shown > 0);
        let window = desktop.window().expect("a window");
        desktop.focus(window);
        Self { app, window }
    }

    /// Moves the pointer to a pixel of the window and waits until the program has handled the event.
    pub fn point(&mut self, desktop: &Desktop, to: [f32; 2]) {
        let corner = desktop.corner(self.window);
        let to = to.map(f32::round);
        desktop.point([corner[0] + to[0] as i16, corner[1] + to[1] as i16]);
        self.app.until("the pointer there", |t| t.pointer == to);
    }

    /// Presses or releases a mouse button.
    pub fn button(&mut self, desktop: &Desktop, button: u8, down: bool) {
        desktop.button(button, down);
        self.app.until("the button", |t| t.pressed == down);
    }

    /// Drags through pixels of the window with a pressed button.
    pub fn drag(&mut self, desktop: &Desktop, button: u8, path: &[[f32; 2]]) {
        self.point(desktop, path[0]);
        self.app.rest();
        self.button(desktop, button, true);
        path[1..].iter().for_each(|to| self.point(desktop, *to));
        self.button(desktop, button, false);
        self.app.rest();
    }

    /// Draws with the first button through world positions.
    pub fn draw(&mut self, desktop: &Desktop, path: &[Vec3]) {
        let path: Vec<[f32; 2]> = path.iter().map(|p| self.app.pixel(*p)).collect();
        self.drag(desktop, 1, &path);
    }

    /// Presses and releases keys together, then waits until the window is idle.
    pub fn press(&mut self, desktop: &Desktop, keysyms: &[u32]) {
        self.press_on(desktop, keysyms);
        self.app.rest();
    }

    /// Like [`Session::press`], for a window that does not become idle, for example because a motion plays.
    pub fn press_on(&mut self, desktop: &Desktop, keysyms: &[u32]) {
        let keys = self.app.turn.keys + keysyms.len() as u64;
        keysyms.iter().for_each(|k| desktop.key(*k, true));
        keysyms.iter().rev().for_each(|k| desktop.key(*k, false));
        self.app.until("the keys", |t| t.keys >= keys);
    }

    /// Returns the texts of the panels, once they stand still.
    pub fn texts(&mut self) -> Vec<Text> {
        let mut last = Vec::new();
        loop {
            self.app.rest();
            let now = self.app.texts();
            if now == last {
                return now;
            }
            last = now;
        }
    }

    /// Finds a text that is accepted; scrolls the side panel until it shows. `what` describes it.
    pub fn find_where(&mut self, desktop: &Desktop, what: &str, accepts: impl Fn(&Text) -> bool) -> Text {
        for wheel in [WHEEL[1]; 40].into_iter().chain([WHEEL[0]; 40]) {
            let texts = self.texts();
            if let Some(found) = texts.iter().find(|t| accepts(t)) {
                return found.clone();
            }
            let [width, height] = self.app.turn.size.map(|n| n as f32);
            self.point(desktop, [width - 60.0, height * 0.4]);
            desktop.button(wheel, true);
            desktop.button(wheel, false);
            self.app.rest();
        }
        let texts: Vec<String> = self.texts().into_iter().map(|t| t.text).collect();
        panic!("no {what:?}: {texts:?}")
    }

    /// Clicks a text of the side panel.
    pub fn click(&mut self, desktop: &Desktop, text: &str) {
        let [x, y, _] = self.find_where(desktop, text, |t| t.text == text).centre;
        self.drag(desktop, 1, &[[x, y]]);
    }

    /// Saves for the first time, under the path that the window proposes: beside the character.
    pub fn save(&mut self, desktop: &Desktop) {
        self.press(desktop, &[keys::CONTROL, u32::from(b's')]);
        self.app.until("where to save", |t| t.question.starts_with("Save the project"));
        self.app.rest();
        keep(&desktop.screenshot(), "where_to_save");
        self.press(desktop, &[keys::RETURN]);
        self.app.until("the saved project", |t| !t.unsaved && t.message.contains(".project.glb"));
    }

    /// Presses a key of the numeric keypad and waits until the camera shows the key's view, as in Blender.
    pub fn look_from(&mut self, desktop: &Desktop, key: u8) {
        let before = self.app.turn.clip_from_world;
        self.press(desktop, &[u32::from(key)]);
        self.app.until("the side", |t| t.clip_from_world != before);
        self.app.rest();
    }

    /// Clicks the close button of the window's frame and waits until the program exits successfully.
    pub fn close(self, desktop: &Desktop) -> Vec<Event> {
        desktop.close(self.window);
        self.app.ended()
    }
}

/// Returns a screenshot in which more than the fraction `least` of the 3D view differs clearly from an earlier one.
pub fn changed(desktop: &Desktop, session: &Session, before: &RgbImage, least: f64) -> RgbImage {
    let before = cut(before, session, desktop);
    desktop.screenshot_when(&format!("a change of more than {least}"), |now| {
        difference(&before, &cut(now, session, desktop)) > least
    })
}

/// Writes a screenshot for people to look at.
pub fn keep(picture: &RgbImage, name: &str) {
    let folder: PathBuf = Path::new(env!("CARGO_TARGET_TMPDIR")).join("desk");
    std::fs::create_dir_all(&folder).unwrap();
    picture.save(folder.join(name).with_extension("png")).unwrap();
}

/// Returns the part of a screenshot that shows the 3D view.
pub fn cut(picture: &RgbImage, session: &Session, desktop: &Desktop) -> RgbImage {
    let corner = desktop.corner(session.window);
    let [x, y, width, height] = session.app.turn.viewport;
    let left = (i64::from(corner[0]) + i64::from(x)) as u32;
    let top = (i64::from(corner[1]) + i64::from(y)) as u32;
    image::imageops::crop_imm(picture, left, top, width, height).to_image()
}

/// Returns the fraction of pixels in which two pictures of equal size differ clearly.
pub fn difference(a: &RgbImage, b: &RgbImage) -> f64 {
    assert_eq!(a.dimensions(), b.dimensions());
    let far = |(a, b): (&image::Rgb<u8>, &image::Rgb<u8>)| {
        (0..3).map(|i| i32::from(a[i].abs_diff(b[i]))).sum::<i32>() > 40
    };
    a.pixels().zip(b.pixels()).filter(|p| far(*p)).count() as f64 / a.pixels().len() as f64
}

/// Returns the journals that sessions left behind.
pub fn journals(folder: &Path) -> usize {
    let mut found = 0;
    let mut folders = vec![folder.join("state")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "journal") {
                found += 1;
            }
        }
    }
    found
}
