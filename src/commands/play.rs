//! `sinew play`: replays a take or a journal, or opens a project, without a display.

mod take;

use super::demo::write_outputs;
use crate::app::context::{Context, folder, say, stage};
use crate::base::Result;
use crate::bind::BindOptions;
use crate::project;
use crate::project::Opened;
use crate::take::is_take;
use std::path::{Path, PathBuf};

/// Opens a file, a project or a journal. Prints a warning if the journal's last record is incomplete.
///
/// # Errors
/// Any error of [`project::open`].
pub fn opened(path: &Path) -> Result<Opened> {
    let (opened, _) = stage("open", || project::open(path, &BindOptions::default()))?;
    if let Some(torn) = &opened.torn {
        let reason = &torn.reason;
        let path = path.display();
        eprintln!("sinew: {path}: the last record is not whole ({reason}); what is before it is replayed");
    }
    Ok(opened)
}

/// What to replay.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// A take, a journal or a project
    #[arg(value_name = "TAKE|JOURNAL|PROJECT")]
    pub journal: PathBuf,
    /// File or folder to write
    #[arg(long, default_value = "out")]
    pub out: PathBuf,
}

/// Writes pictures and models of the document in a take, a journal or a project. For a take, also writes pictures of
/// both eyes. The file's content decides which of the three kinds it is.
///
/// # Errors
/// Any error of [`project::open`], and of evaluating, rendering or writing.
pub fn run(context: &mut Context, args: &Args) -> Result<()> {
    let (path, out) = (&*args.journal, &*args.out);
    if is_take(path)? {
        return take::play(context, path, out);
    }
    let Opened { model, session, .. } = opened(path)?;
    folder(out)?;
    say(format_args!("document {}", session.document().hash()));
    write_outputs(context, &model, session.document(), out)
}
