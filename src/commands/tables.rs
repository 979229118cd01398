//! Writes the table of a comparison as Markdown for people and as JSON for programs.

use crate::base::{Error, Result};
use crate::export::write_atomically;
use std::path::Path;

/// Writes the table to `compare.md` and `compare.json` in the folder `out`, and returns its Markdown.
pub(super) fn write_tables<L: serde::Serialize>(out: &Path, table: &str, lines: &[L]) -> Result<String> {
    write_atomically(out.join("compare.md"), table.as_bytes())?;
    let json = serde_json::to_vec_pretty(lines)
        .map_err(|e| Error::input(format!("the table is not JSON: {e}"), "report it as a bug"))?;
    write_atomically(out.join("compare.json"), &json)?;
    Ok(table.to_owned())
}
