//! The window: mouse, pen and keyboard on the same document that a headset works on.
//!
//! `visit` is the whole: it opens a window (`window.rs`, winit's events) and its pictures (`screen.rs`: device, swapchain, the
//! live character, panels painted over it) on a session (`app.rs`, `keep.rs`). What an event means is the editor's own
//! ([`crate::ui::window`]). The loop sleeps until something happens: an event, a job that is done, a time that the editor
//! asked for; and shows a picture only where something looks otherwise.
//!
//! A turn of the loop is one step of the editor. The skin under a pixel is looked up in the picture that is there, and the
//! answer comes with a later turn. A picture is the character's, copied into the window's own image, egui's triangles painted
//! over it, and that blitted into the swapchain (`gpu/window.rs`: FIFO, formats that do not encode sRGB twice, everything
//! that is lost or out of date made again while acquiring). A device that cannot present to the window is passed over when one
//! is chosen.

mod app;
mod event_loop;
mod persistence;
mod report_lines;
mod screen;

pub(super) use app::Memory;
pub(super) use event_loop::{End, StartWatch, visit};
pub(crate) use screen::Screen;

use std::path::PathBuf;

/// What `sinew edit` is asked for.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The character, project or journal; none opens an empty window.
    pub file: Option<PathBuf>,
    /// Part of the wanted device's name.
    pub device: Option<String>,
    /// Writes a line per turn to standard output, reads requests from standard input: see [`super::report`].
    pub report: bool,
    /// Samples per pixel, 1 or 4, whatever the preference says.
    pub samples: Option<u32>,
    /// Neither reads nor keeps the user's choices: for tests.
    pub forget: bool,
}
