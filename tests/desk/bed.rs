//! The program under test, in a window.
//!
//! Time is the program's turns, not a clock: an event is sent, and what follows waits until the program reports that it
//! was seen. Watches end a wait only where the program hangs.

use super::desktop::Desktop;
use super::program::Program;
use sinew::base::math::{Mat4, Vec3};
use sinew::front::report::{Desk, Event};
use std::ops::{Deref, DerefMut};
use std::path::Path;
use std::process::Command;

/// The program under test.
pub struct App {
    program: Program,
}

impl Deref for App {
    type Target = Program;
    fn deref(&self) -> &Program {
        &self.program
    }
}

impl DerefMut for App {
    fn deref_mut(&mut self) -> &mut Program {
        &mut self.program
    }
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
        command.args(arguments).arg("--report");
        command.env("DISPLAY", &desktop.name).env_remove("WAYLAND_DISPLAY").env("SINEW_VALIDATION", "1");
        environment(&mut command);
        Self { program: Program::start(command, folder) }
    }

    /// Runs on until a turn is as wanted, which the newest may be already.
    pub fn until(&mut self, what: &str, mut wanted: impl FnMut(&Desk) -> bool) {
        while !wanted(&self.turn) {
            if self.next().is_none() {
                self.gone(what);
            }
        }
    }

    /// Runs on until nothing is under way any more.
    pub fn rest(&mut self) {
        self.until("rest", |t| t.idle && t.shown > 0);
    }

    /// Where the window shows a point of the world, pixels of the window.
    pub fn pixel(&self, world: Vec3) -> [f32; 2] {
        let clip = Mat4::from_cols_array(&self.turn.clip_from_world) * world.extend(1.0);
        let [x, y, width, height] = self.turn.viewport.map(|v| v as f32);
        [x + (clip.x / clip.w * 0.5 + 0.5) * width, y + (0.5 - clip.y / clip.w * 0.5) * height]
    }

    /// Waits for its end, which must be a good one, without a word of Vulkan's validation layer.
    pub fn ended(mut self) -> Vec<Event> {
        let (events, words) = self.program.ended();
        assert!(!words.contains("Vulkan validation"), "{words}");
        events
    }

    /// Ends it as `kill -9` does.
    pub fn kill(self) {
        self.program.kill();
    }
}
