//! `sinew inspect`: what is in a glTF file, and every problem found in it.

mod report;
mod text;

use crate::asset::Asset;
use crate::base::{Error, Result};
use std::path::Path;

pub use report::{ClipInfo, ImageInfo, JointInfo, MeshInfo, Report, SkinInfo};

/// Loads a file and describes it, for people or (with `json`) for programs.
///
/// # Errors
/// Where the file cannot be loaded, see [`Asset::load`].
pub fn inspect(path: &Path, json: bool) -> Result<String> {
    let asset = Asset::load(path)?;
    let report = Report::of(&asset);
    if !json {
        return Ok(text::write(&report));
    }
    serde_json::to_string_pretty(&report).map_err(|error| {
        Error::input(
            format!("the report cannot be written as JSON: {error}"),
            "inspect the file without --json",
        )
    })
}
