//! The window: edits the document by mouse, pen and keyboard.
//!
//! `visit` runs the window for a session. The window and its event loop (winit) are in `event_loop.rs`, the rendering
//! (device, swapchain, the live character, panels painted over it) is in `screen.rs`, and the state of the session is
//! in `app.rs` and `persistence.rs`. [`crate::ui::window`] interprets the events. The loop sleeps until an event
//! arrives, a job ends or a timer of the editor expires. The loop renders only if the image has changed.
//!
//! Each iteration of the loop is one step of the editor. Skin picking reads the last rendered image; its result
//! arrives in a later iteration. To render, the screen copies the character's image into an intermediate image,
//! paints egui's triangles over it and blits the result into the swapchain. `gpu/window.rs` presents in FIFO order,
//! chooses formats that do not encode sRGB twice, and recreates a lost or outdated surface or swapchain in its
//! acquire call. Device selection skips GPUs that cannot present to the window.

mod app;
mod event_loop;
mod persistence;
mod report_lines;
mod screen;

pub(super) use app::WindowMemory;
pub(super) use event_loop::{End, StartWatch, visit};
pub(crate) use screen::Screen;

use std::path::PathBuf;

/// Options of `sinew edit`.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The character, project or journal to open; `None` opens an empty window.
    pub file: Option<PathBuf>,
    /// Substring of the name of the GPU to use.
    pub device: Option<String>,
    /// Reports each loop iteration to standard output and reads requests from standard input: see [`super::report`].
    pub report: bool,
    /// Samples per pixel, 1 or 4; overrides the user's preference.
    pub samples: Option<u32>,
    /// Neither loads nor saves the user's preferences; for tests.
    pub forget: bool,
}
