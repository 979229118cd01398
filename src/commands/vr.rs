//! `sinew vr`: the editor in a headset.

use super::arguments::{parse_render_scale, parse_samples};
use crate::app::display::{Display, has_display};
use crate::app::faces::{Face, run as run_faces};
use crate::app::{window, xr};
use crate::base::Result;
use std::path::PathBuf;

/// What to open in a headset.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// A rigged glTF file or a project
    pub file: PathBuf,
    /// Folder for the results at the end: pictures of both eyes, project, posed .glb and receipt
    #[arg(long)]
    pub out: Option<PathBuf>,
    /// Record the input of headset and controllers in this file
    #[arg(long, value_name = "TAKE")]
    pub record: Option<PathBuf>,
    /// Wait until an OpenXR runtime starts
    #[arg(long)]
    pub wait: bool,
    /// Samples per pixel, 1 or 4; overrides your setting of smooth edges
    #[arg(long, value_parser = parse_samples)]
    pub samples: Option<u32>,
    /// Factor on the width and height that the runtime recommends for the eyes' pictures, 0.5 to 2; Sinew stores it
    #[arg(long, value_parser = parse_render_scale)]
    pub render_scale: Option<f32>,
    /// End after this many frames
    #[arg(long)]
    pub frames: Option<u64>,
    /// For tests and scripts: write one line of JSON per frame to standard output, read requests from standard input
    #[arg(long)]
    pub report: bool,
    /// For tests: enable these OpenXR API layers, e.g. XR_APILAYER_LUNARG_core_validation
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    pub layers: Vec<String>,
    /// View that a window on the desktop shows, if there is a display
    #[arg(long, value_enum, default_value_t = xr::Mirrored::Left)]
    pub mirror: xr::Mirrored,
    /// For tests: suggest only the bindings of this controller, e.g. khr/simple
    #[arg(long, value_name = "PROFILE")]
    pub profile: Option<String>,
    /// For tests: neither read nor write your settings
    #[arg(long)]
    pub forget: bool,
}

/// Runs the editor and starts it in the headset.
///
/// # Errors
/// An error if there is neither a headset (or its runtime) nor a display, and any error of [`run_faces`].
pub fn run(device: Option<String>, args: Args) -> Result<()> {
    let Args {
        file,
        out,
        record,
        wait,
        samples,
        render_scale,
        frames,
        report,
        layers,
        mirror,
        profile,
        forget,
    } = args;
    let window = window::Options { file: Some(file), device, report, samples, forget };
    let headset = xr::Options {
        out,
        record,
        frames,
        report,
        wait,
        layers,
        samples,
        render_scale,
        profile,
        forget,
        mirror,
    };
    // A headset works without a desktop, so an unreachable display counts as no display.
    let mut display = has_display().then(|| Display::open().ok()).flatten();
    run_faces(&window, &headset, Face::Headset, display.as_mut())
}
