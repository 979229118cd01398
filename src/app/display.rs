//! The desktop of this machine: the one loop of events that a process has, for the desk's window and the headset's mirror.

use crate::base::{Error, Result};
use winit::event_loop::{EventLoop, EventLoopProxy};

/// Something is done, or asked for, on another thread.
#[derive(Clone, Copy, Debug)]
pub struct Wake;

/// The desktop. Faces take turns with it.
pub struct Display {
    /// Its events, to be pumped.
    pub events: EventLoop<Wake>,
}

impl Display {
    /// Connects to it; once in a process.
    ///
    /// # Errors
    /// There is none, or it cannot be reached.
    pub fn open() -> Result<Self> {
        let events = EventLoop::<Wake>::with_user_event().build().map_err(|e| no_desktop(&e))?;
        Ok(Self { events })
    }

    /// Wakes the loop, from any thread.
    pub fn wake(&self) -> impl Fn() + Send + Clone + use<> + 'static {
        let proxy: EventLoopProxy<Wake> = self.events.create_proxy();
        move || {
            // Fails only where the loop has ended.
            let _ = proxy.send_event(Wake);
        }
    }
}

/// Whether this machine has a desktop to open a window on.
pub fn has_display() -> bool {
    let set = |name: &str| std::env::var_os(name).is_some_and(|v| !v.is_empty());
    // Where windows need no server to be named, there is one.
    cfg!(any(windows, target_os = "macos")) || set("DISPLAY") || set("WAYLAND_DISPLAY")
}

/// No window can be had.
pub(super) fn no_desktop(error: &dyn std::fmt::Display) -> Error {
    Error::gpu(
        format!("no window can be opened: {error}"),
        "start it on a desktop (DISPLAY or WAYLAND_DISPLAY is set there), or use commands such as `sinew demo`",
    )
}
