//! `sinew xr`: checks the headset and the controllers.

use crate::app::context::say;
use crate::app::xr::doctor::doctor;
use crate::base::{Error, Result};

/// What to do with them.
#[derive(Clone, Debug, clap::Subcommand)]
pub enum Xr {
    /// Prove that every command is in reach on every controller, with either hand and with one controller alone, and
    /// say what runtime and headset are here; fails where something is out of reach
    Doctor {
        /// As JSON
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
