//! The program under test, in a window.
//!
//! The tests use the program's frames as time, not a clock: a test sends an event and waits until the program reports that
//! event. Timeouts only end a wait if the program hangs.

use crate::desktop::Desktop;
pub use crate::program::Program as App;
use std::path::Path;
use std::process::Command;

impl App {
    /// Runs `sinew ARGUMENTS --report` in a folder on the X server.
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
