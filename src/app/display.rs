//! The process's only desktop event loop, which the editor's window and the headset's mirror window share.

use crate::base::{Error, Result};
use winit::event_loop::{EventLoop, EventLoopProxy};

/// Event that another thread sends to wake the event loop, because it has a result or a request.
#[derive(Clone, Copy, Debug)]
pub struct Wake;

/// The connection to the desktop. The window and the headset use it in turn.
pub struct Display {
    /// The winit event loop. The editor's window and the mirror window pump it with `pump_app_events`.
    pub events: EventLoop<Wake>,
}

impl Display {
    /// Connects to the desktop. winit allows this once per process.
    ///
    /// # Errors
    /// Fails if the machine has no desktop or the connection is refused.
    pub fn open() -> Result<Self> {
        let events = EventLoop::<Wake>::with_user_event().build().map_err(|e| no_desktop(&e))?;
        Ok(Self { events })
    }

    /// Returns a function that wakes the event loop from any thread.
    pub fn wake(&self) -> impl Fn() + Send + Clone + use<> + 'static {
        let proxy: EventLoopProxy<Wake> = self.events.create_proxy();
        move || {
            // Sending fails only after the loop has ended.
            let _ = proxy.send_event(Wake);
        }
    }
}

/// Returns whether this machine has a desktop to open a window on.
pub fn has_display() -> bool {
    let set = |name: &str| std::env::var_os(name).is_some_and(|v| !v.is_empty());
    // Windows and macOS always have a desktop. On other systems an environment variable names the display server.
    cfg!(any(windows, target_os = "macos")) || set("DISPLAY") || set("WAYLAND_DISPLAY")
}

/// Returns the error that reports why no window can be opened.
pub(super) fn no_desktop(error: &dyn std::fmt::Display) -> Error {
    // winit begins with the place in its own source.
    let text = error.to_string();
    let cause = text
        .split_once(".rs:")
        .and_then(|(_, rest)| rest.split_once(": "))
        .map_or(&*text, |(_, cause)| cause);
    Error::input(
        format!("no window can be opened: {}", cause.trim_end_matches('.')),
        "start it on a desktop (DISPLAY or WAYLAND_DISPLAY is set there), or use commands such as `sinew demo`",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_of_a_machine_without_a_desktop_tells_the_cause_alone() {
        let error =
            no_desktop(&"os error at /home/me/winit/src/linux/mod.rs:765: DISPLAY is not set.").to_string();
        assert!(error.starts_with("no window can be opened: DISPLAY is not set"), "{error}");
        assert!(no_desktop(&"refused").to_string().contains("opened: refused"));
    }
}
