//! The program under test, in a window.
//!
//! Time is the program's turns, not a clock: an event is sent, and what follows waits until the program reports that it
//! was seen. Watches end a wait only where the program hangs.

use super::desktop::Desktop;
use sinew::base::math::{Mat4, Vec3};
use sinew::front::report::{Desk, Event, Line};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

/// The program hangs if it says nothing for this long: building pipelines on a busy machine takes seconds.
const PATIENCE: Duration = Duration::from_secs(60);

/// The program under test.
pub struct App {
    pub child: Child,
    lines: Receiver<Line>,
    /// The newest turn.
    pub turn: Desk,
    /// All events so far.
    pub events: Vec<Event>,
    errors: Option<std::thread::JoinHandle<String>>,
}

impl App {
    /// `sinew ARGUMENTS --report` on a desktop, in a folder.
    pub fn start(
        desktop: &Desktop,
        folder: &Path,
        arguments: &[&str],
        environment: impl FnOnce(&mut Command),
    ) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sinew"));
        command.args(arguments).arg("--report").current_dir(folder);
        command
            .env("DISPLAY", &desktop.name)
            .env_remove("WAYLAND_DISPLAY")
            // The user's own settings and journals stay out of it.
            .env("XDG_STATE_HOME", folder.join("state"))
            .env("XDG_CONFIG_HOME", folder.join("settings"))
            .env("SINEW_VALIDATION", "1");
        environment(&mut command);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (output, errors) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
        let (send, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                let line = serde_json::from_str(&line).unwrap_or_else(|e| panic!("{line}: {e}"));
                if send.send(line).is_err() {
                    break;
                }
            }
        });
        let errors = std::thread::spawn(move || std::io::read_to_string(errors).unwrap_or_default());
        Self { child, lines, turn: Desk::default(), events: Vec::new(), errors: Some(errors) }
    }

    /// The next line, none at the end of the output.
    fn next(&mut self) -> Option<Line> {
        match self.lines.recv_timeout(PATIENCE) {
            Ok(line) => {
                match &line {
                    Line::Desk(turn) => {
                        assert!(turn.frame > self.turn.frame, "turns count backwards");
                        self.turn = (**turn).clone();
                    }
                    Line::Event(event) => self.events.push(event.clone()),
                    Line::Frame(_) => panic!("a headset's frame"),
                }
                Some(line)
            }
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => {
                let _ = self.child.kill();
                panic!("the program hangs after {:?}; {:?}", self.turn, self.events.last())
            }
        }
    }

    /// Runs on until a turn is as wanted, which the newest may be already.
    pub fn until(&mut self, what: &str, mut wanted: impl FnMut(&Desk) -> bool) {
        while !wanted(&self.turn) {
            if self.next().is_none() {
                let words = self.words();
                panic!("the program ended before {what}: {:?}; {words}", self.events);
            }
        }
    }

    /// Runs on until nothing is under way any more.
    pub fn rest(&mut self) {
        self.until("rest", |t| t.idle && t.shown > 0);
    }

    /// Runs on until a new event is as wanted, and gives what was taken of it.
    pub fn event<T>(&mut self, what: &str, mut wanted: impl FnMut(&Event) -> Option<T>) -> T {
        while let Some(line) = self.next() {
            if let Line::Event(event) = line
                && let Some(value) = wanted(&event)
            {
                return value;
            }
        }
        let words = self.words();
        panic!("the program ended without {what}: {:?}; {words}", self.events);
    }

    /// The document's hash as last told.
    pub fn hash(&self) -> String {
        let hash = self.events.iter().rev().find_map(|e| if let Event::Hash(h) = e { Some(h) } else { None });
        hash.expect("no hash was told").clone()
    }

    /// Where the window shows a point of the world, pixels of the window.
    pub fn pixel(&self, world: Vec3) -> [f32; 2] {
        let clip = Mat4::from_cols_array(&self.turn.clip_from_world) * world.extend(1.0);
        let [x, y, width, height] = self.turn.viewport.map(|v| v as f32);
        [x + (clip.x / clip.w * 0.5 + 0.5) * width, y + (0.5 - clip.y / clip.w * 0.5) * height]
    }

    /// Waits for its end, which must be a good one, without a word of Vulkan's validation layer.
    pub fn ended(mut self) -> Vec<Event> {
        while self.next().is_some() {}
        let status = self.child.wait().unwrap();
        let events = std::mem::take(&mut self.events);
        let words = self.words();
        assert!(status.success(), "{status}: {words}; {events:?}");
        assert!(matches!(events.last(), Some(Event::Ended)), "{events:?}");
        for bad in ["panicked", "Vulkan validation"] {
            assert!(!words.contains(bad), "{words}");
        }
        events
    }

    /// Ends it as `kill -9` does.
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// What it said on standard error, all of it: ends it.
    fn words(&mut self) -> String {
        let _ = self.child.kill();
        let _ = self.child.wait();
        self.errors.take().and_then(|e| e.join().ok()).unwrap_or_default()
    }
}

impl Drop for App {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
