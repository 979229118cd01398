//! `sinew save`: a journal, a project or any character as a project file.

use super::context::{Context, folder_of, say, stage};
use super::play::opened;
use crate::base::{Error, Result};
use crate::edit::Document;
use crate::editor::{self, Evaluator, Model, Opened, recipe};
use std::path::Path;

/// Saves what `input` holds.
///
/// # Errors
/// Whatever opening, evaluating or writing finds wrong.
pub fn save(context: &mut Context, input: &Path, out: &Path, cpu: bool) -> Result<()> {
    ending(out)?;
    let Opened { model, session, .. } = opened(input)?;
    write(context, &model, session.document(), out, cpu)
}

/// Refuses a project that no viewer would take for a model.
pub(super) fn ending(out: &Path) -> Result<()> {
    if out.extension().is_some_and(|e| e.eq_ignore_ascii_case("glb")) {
        return Ok(());
    }
    Err(Error::input(
        format!("{}: unknown kind of file", out.display()),
        "end the name of the project in .glb",
    ))
}

/// Writes a document as a project; prints its receipt and what it holds.
pub(super) fn write(
    context: &mut Context,
    model: &Model,
    document: &Document,
    out: &Path,
    cpu: bool,
) -> Result<()> {
    let side = context.side(cpu)?;
    folder_of(out)?;
    let (receipt, _) = stage("save", || {
        let mut evaluator = Evaluator::new(&side, model, &recipe(document.deformer())?)?;
        editor::save(out, model, document, &mut evaluator)
    })?;
    say(receipt.to_string().trim_end());
    let (strokes, keys) = (document.strokes().len(), document.motion().key_times().len());
    say(format_args!("  {strokes} strokes, {keys} keys; document {}", document.hash()));
    Ok(())
}
