//! `sinew xr`: checks the headset and the controllers.

use crate::app::context::say;
use crate::app::xr::doctor::doctor;
use crate::base::{Error, Result};

/// What to do with them.
#[derive(Clone, Debug, clap::Subcommand)]
pub enum Xr {
    /// Show runtime and headset, and check that every command can be reached on every controller, with either hand and
    /// with one controller; fails if a command is out of reach
    Doctor {
        /// Print JSON
        #[arg(long)]
        json: bool,
        /// Fail too where no runtime and headset are ready
        #[arg(long)]
        runtime: bool,
    },
}

/// Runs the subcommand.
///
/// # Errors
/// [`Error::Input`] if a command cannot be reached on a controller, or if a required headset is not ready.
pub fn run(xr: &Xr) -> Result<()> {
    let Xr::Doctor { json, runtime } = *xr;
    let (text, well) = doctor(json, runtime)?;
    say(text.trim_end());
    if well {
        return Ok(());
    }
    Err(Error::input("not all is well with the headset", "see OUT OF REACH and the advice above"))
}
