//! The program under test, in a window.
//!
//! Time is the program's turns, not a clock: an event is sent, and what follows waits until the program reports that it
//! was seen. Watches end a wait only where the program hangs.

use crate::desktop::Desktop;
pub use crate::program::Program as App;
use std::path::Path;
use std::process::Command;

impl App {
    /// `sinew ARGUMENTS --report` on a desktop, in a folder.
    pub fn at_desktop(
        desktop: &Desktop,
        folder: &Path,
        arguments: &[&str],
        environment: impl FnOnce(&mut Command),
    ) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sinew"));
        command.args(arguments).arg("--report");
        command.env("DISPLAY", &desktop.name).env_remove("WAYLAND_DISPLAY").env("SINEW_VALIDATION", "1");
        environment(&mut command);
        Self::spawn(command, folder)
    }
}
