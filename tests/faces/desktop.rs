//! A private desktop for tests: a virtual X server (Xvfb), simulated mouse and keyboard input, and screenshots.

use crate::program::PATIENCE;
use image::RgbImage;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Instant;
use x11rb::connection::Connection;
use x11rb::protocol::xproto::*;
use x11rb::protocol::xtest::ConnectionExt as _;
use x11rb::rust_connection::RustConnection;

/// Width and height of the screen, pixels.
pub const SCREEN: [u16; 2] = [1400, 900];

/// A running X server and a connection to the server.
pub struct Desktop {
    server: Child,
    /// Value of the `DISPLAY` variable for this server, e.g. `:7`.
    pub name: String,
    pub connection: RustConnection,
    pub root: Window,
}

impl Desktop {
    /// Starts the X server. Returns `None` and prints a line if Xvfb is not installed.
    pub fn start() -> Option<Self> {
        let screen = format!("{}x{}x24", SCREEN[0], SCREEN[1]);
        let spawned = Command::new("Xvfb")
            .args(["-displayfd", "1", "-screen", "0", &screen, "-nolisten", "tcp", "-noreset"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        let Ok(mut server) = spawned else {
            sinew::base::testing::skip("x11", "there is no Xvfb; install the package xvfb");
            return None;
        };
        // Xvfb prints its display number when it is ready.
        let mut number = String::new();
        BufReader::new(server.stdout.take().unwrap()).read_line(&mut number).unwrap();
        let name = format!(":{}", number.trim());
        let (connection, screen) = RustConnection::connect(Some(&name)).unwrap();
        let root = connection.setup().roots[screen].root;
        Some(Self { server, name, connection, root })
    }

    /// Returns the visible window of the program, or `None` if the program shows no window.
    pub fn window(&self) -> Option<Window> {
        let tree = self.connection.query_tree(self.root).unwrap().reply().unwrap();
        tree.children.into_iter().find(|window| {
            let name = AtomEnum::WM_NAME;
            let text = self.connection.get_property(false, *window, name, AtomEnum::ANY, 0, 64).unwrap();
            let shown = self.connection.get_window_attributes(*window).unwrap().reply();
            text.reply().is_ok_and(|t| t.value.starts_with(b"Sinew"))
                && shown.is_ok_and(|s| s.map_state == MapState::VIEWABLE)
        })
    }

    /// Returns the position of a window's upper-left corner on the screen, pixels.
    pub fn corner(&self, window: Window) -> [i16; 2] {
        let at = self.connection.translate_coordinates(window, self.root, 0, 0).unwrap().reply().unwrap();
        [at.dst_x, at.dst_y]
    }

    fn fake(&self, kind: u8, detail: u8, at: [i16; 2]) {
        self.connection.xtest_fake_input(kind, detail, 0, self.root, at[0], at[1], 0).unwrap();
        self.connection.flush().unwrap();
    }

    /// Moves the pointer to a pixel of the screen.
    pub fn point(&self, at: [i16; 2]) {
        self.fake(MOTION_NOTIFY_EVENT, 0, at);
    }

    /// Presses or releases a mouse button: 1 left, 2 middle, 3 right, 4 and 5 the wheel.
    pub fn button(&self, button: u8, down: bool) {
        self.fake(if down { BUTTON_PRESS_EVENT } else { BUTTON_RELEASE_EVENT }, button, [0; 2]);
    }

    /// Presses or releases the key that produces a keysym.
    pub fn key(&self, keysym: u32, down: bool) {
        let (code, _) = self.keycode(keysym);
        self.fake(if down { KEY_PRESS_EVENT } else { KEY_RELEASE_EVENT }, code, [0; 2]);
    }

    /// Returns the keycode that produces a keysym, and whether Shift is required.
    pub fn keycode(&self, keysym: u32) -> (u8, bool) {
        let setup = self.connection.setup();
        let (first, last) = (setup.min_keycode, setup.max_keycode);
        let map = self.connection.get_keyboard_mapping(first, last - first + 1).unwrap().reply().unwrap();
        let per = usize::from(map.keysyms_per_keycode);
        for column in 0..2.min(per) {
            let found = map.keysyms.chunks(per).position(|k| k[column] == keysym);
            if let Some(index) = found {
                return (first + index as u8, column == 1);
            }
        }
        panic!("no key gives {keysym:#x}")
    }

    /// Gives a window the keyboard focus, as a window manager would.
    pub fn focus(&self, window: Window) {
        self.connection.set_input_focus(InputFocus::PARENT, window, x11rb::CURRENT_TIME).unwrap();
        self.connection.flush().unwrap();
    }

    /// Resizes a window; `size` is width and height, pixels.
    pub fn resize(&self, window: Window, size: [u32; 2]) {
        let to = ConfigureWindowAux::new().width(size[0]).height(size[1]);
        self.connection.configure_window(window, &to).unwrap();
        self.connection.flush().unwrap();
    }

    /// Asks a window to close, as the close button in the title bar does.
    pub fn close(&self, window: Window) {
        let (protocols, delete) = (self.atom("WM_PROTOCOLS"), self.atom("WM_DELETE_WINDOW"));
        let event = ClientMessageEvent::new(32, window, protocols, [delete, 0, 0, 0, 0]);
        self.send(window, event);
    }

    /// Sends an X11 client message to a window.
    pub fn send(&self, window: Window, event: ClientMessageEvent) {
        self.connection.send_event(false, window, EventMask::NO_EVENT, event).unwrap();
        self.connection.flush().unwrap();
    }

    /// Returns the X11 atom of a name.
    pub fn atom(&self, name: &str) -> Atom {
        self.connection.intern_atom(false, name.as_bytes()).unwrap().reply().unwrap().atom
    }

    /// Captures the screen until `accept` accepts a picture, and returns it. The program reports an image as presented
    /// before the X server shows it, because the driver hands it over in a thread of its own.
    pub fn screenshot_when(&self, what: &str, mut accept: impl FnMut(&RgbImage) -> bool) -> RgbImage {
        let begin = Instant::now();
        loop {
            let picture = self.screenshot();
            if accept(&picture) {
                return picture;
            }
            assert!(begin.elapsed() < PATIENCE, "the screen never shows {what}");
        }
    }

    /// Captures the screen as an RGB image.
    pub fn screenshot(&self) -> RgbImage {
        let [width, height] = SCREEN;
        let image = self
            .connection
            .get_image(ImageFormat::Z_PIXMAP, self.root, 0, 0, width, height, !0)
            .unwrap()
            .reply()
            .unwrap();
        let pixel = |x: u32, y: u32| {
            let at = 4 * (y as usize * usize::from(width) + x as usize);
            image::Rgb([image.data[at + 2], image.data[at + 1], image.data[at]])
        };
        RgbImage::from_fn(width.into(), height.into(), pixel)
    }
}

impl Drop for Desktop {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}
