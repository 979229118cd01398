//! The headset: everything from finding an OpenXR runtime to losing it.
//!
//! A *headset visit* is the time during which the editor runs in the headset. The visit (`run.rs`) waits for a runtime
//! and begins an OpenXR session (`session.rs`, `session_state.rs`). If the runtime or the session is lost, the visit
//! begins a new session. The document, tools and jobs survive in `AppSession` (`app/session.rs`). While the user works
//! in the window, `watch.rs` detects that the user puts the headset on.
//!
//! `offers.rs` has the features that only some runtimes offer. Sinew does not shade the pixels that the lenses hide,
//! except while the mirror (`mirror.rs`) shows the images or the user saves them.
//!
//! A frame of `run.rs` begins with `xrWaitFrame` and `xrBeginFrame`. The frame locates the controllers at the predicted
//! display time, updates the panels and then the workbench, and records the GPU commands of the deformation and of the
//! controllers' probe cameras. A probe camera finds the skin that a controller points at. The frame then locates the
//! eyes, as late as possible, records both eye images, copies their sRGB bytes unconverted into the swapchain images,
//! submits, and calls `xrEndFrame`. Loading, saving and binding run on the worker thread. At most two frames are in
//! flight on the GPU. A probe camera returns its result exactly two frames later, so that takes replay identically on
//! every GPU. The runtime creates the Vulkan device. Runtime calls that may use the queue hold the queue's lock,
//! because the worker thread submits too.

pub mod actions;
mod app;
mod clock;
mod connection;
pub mod controls;
mod device;
pub mod doctor;
mod error;
mod fingers;
mod instance;
mod mirror;
mod offers;
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

pub(super) use app::XrMemory;
pub(super) use connection::XrConnection;
pub use mirror::Mirrored;
pub(super) use run::{End, visit};
pub(super) use watch::{Sign, Start, Watch};

use std::path::PathBuf;

/// Options of `sinew vr`.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Output folder for images of both eyes, the project, the posed .glb and its receipt.
    pub out: Option<PathBuf>,
    /// File into which the input of headset and controllers is recorded.
    pub record: Option<PathBuf>,
    /// Number of frames after which the session ends; `None` for no limit.
    pub frames: Option<u64>,
    /// Writes one line per frame to standard output and reads requests from standard input: see [`super::report`].
    pub report: bool,
    /// Waits for a missing OpenXR runtime; otherwise a missing runtime ends the program.
    pub wait: bool,
    /// Names of the OpenXR API layers to enable.
    pub layers: Vec<String>,
    /// Samples per pixel, 1 or 4; overrides the user's preference.
    pub samples: Option<u32>,
    /// Factor on the size of the eyes' pictures; sets the user's preference.
    pub render_scale: Option<f32>,
    /// Interaction profile to suggest bindings for, instead of all profiles; for tests.
    pub profile: Option<String>,
    /// Neither loads nor saves the user's preferences; for tests.
    pub forget: bool,
    /// Content of the mirror window on the desktop, if there is a display.
    pub mirror: Mirrored,
}
