//! The headset: a session on an OpenXR runtime, from finding it to losing it.
//!
//! A visit to the headset (`run.rs`) waits for a runtime where there is none, begins a session (`session.rs`; what its states
//! ask for is in `session_state.rs`), and begins again when runtime or session are lost. What outlives them, document, tools and jobs, is
//! the session (`app/session.rs`). While its user is at a window, `watch.rs` looks whether the headset is put on. A frame is one wait, begin and end; input is located for the time it will be seen, the eyes as
//! late as can be; loading, saving and binding are never part of it.
//!
//! The visibility mask is not used: pictures are shaded by a compute pass whose cost is not that of the masked corners,
//! and they are also what pictures on disk and the mirror (`mirror.rs`) show.
//!
//! A frame of `run.rs`: wait, begin; input located; panels, then the workbench; deformation and the controllers' cameras
//! recorded; the eyes located; both pictures recorded, copied into the runtime's images (sRGB bytes as they are, nothing is
//! encoded twice), submitted; end. At most two frames are with the GPU, and a camera answers exactly two frames later, on any
//! GPU, so that takes are the same everywhere. The runtime makes the device; every call of its that may use the queue holds the
//! queue's lock, since the worker submits too.

pub mod actions;
mod app;
mod clock;
mod connection;
pub mod controls;
mod device;
pub mod doctor;
mod error;
mod instance;
mod mirror;
mod panel_layers;
pub mod profiles;
mod recording;
mod report_lines;
mod run;
mod session;
mod session_state;
mod space;
mod swapchain;
mod watch;

pub(super) use app::Memory;
pub(super) use connection::XrConnection;
pub use mirror::Mirrored;
pub(super) use run::{End, visit};
pub(super) use watch::{Sign, Start, Watch};

use std::path::PathBuf;

/// What `sinew vr` is asked for.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Folder for what is written at the end and on the way: pictures of both eyes, project, posed .glb and receipt.
    pub out: Option<PathBuf>,
    /// Records the devices' input in this file.
    pub record: Option<PathBuf>,
    /// Ends after so many frames.
    pub frames: Option<u64>,
    /// Writes a line per frame to standard output, reads requests from standard input: see [`super::report`].
    pub report: bool,
    /// Waits for a runtime where there is none; otherwise that ends the program.
    pub wait: bool,
    /// OpenXR API layers.
    pub layers: Vec<String>,
    /// Samples per pixel, 1 or 4, whatever the preference says.
    pub samples: Option<u32>,
    /// Suggests the bindings of this interaction profile only: for tests.
    pub profile: Option<String>,
    /// Neither reads nor keeps the user's choices: for tests.
    pub forget: bool,
    /// What a window on the display shows of it, where there is one.
    pub mirror: Mirrored,
}
