//! `sinew edit`: the editor in a window.

use super::arguments::WindowArgs;
use crate::app::display::Display;
use crate::app::faces::{Face, run as run_faces};
use crate::app::{window, xr};
use crate::base::Result;
use std::path::PathBuf;

/// What to open in a window.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// A rigged glTF file, a project or a journal; by default the window is empty and accepts dropped files
    pub file: Option<PathBuf>,
    /// How the window runs
    #[command(flatten)]
    pub window: WindowArgs,
}

/// Runs the editor and starts it in a window.
///
/// # Errors
/// An error if no display can be opened, and any error of [`run_faces`].
pub fn run(device: Option<String>, args: Args) -> Result<()> {
    let Args { file, window: WindowArgs { samples, report, forget } } = args;
    let window = window::Options { file, device, report, samples, forget };
    let headset = xr::Options { report, samples, forget, ..xr::Options::default() };
    run_faces(&window, &headset, Face::Window, Some(&mut Display::open()?))
}
