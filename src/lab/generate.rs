//! `sinew-lab generate`: writes Sinew's own test characters.

use crate::app::context::folder_of;
use crate::base::Result;
use crate::generate::{Kind, generate};
use std::path::PathBuf;

/// Which character to make.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// box, plus, human, chibi or golem
    pub name: String,
    /// The .glb
    #[arg(long)]
    pub out: PathBuf,
}

/// Generates a character and writes it as a `.glb`.
///
/// # Errors
/// [`Error::Input`](crate::base::Error::Input) for an unknown name; any error from writing.
pub fn run(args: &Args) -> Result<()> {
    let kind = Kind::from_name(&args.name)?;
    folder_of(&args.out)?;
    generate(kind, &args.out)?;
    Ok(())
}
