//! The project file: a .glb that any viewer shows as Sinew left it, and that contains everything Sinew
//! needs.
//!
//! It is the posed export of the original file (standard nodes, skins, morph targets, animation), with one
//! root extension that is used but not required:
//!
//! ```json
//! "extensions": { "SINEW_project": {
//!     "version": 1,                         2 if an older Sinew cannot undo the changes
//!     "document": ...,                      the editor's own data, any JSON
//!     "original": {
//!         "binLength": 123456,              this many first bytes of the binary chunk are the original's
//!         "changes": [                      changes that restore the original's JSON, in order
//!             { "at": "/nodes/3/rotation", "was": [0, 0, 0, 1] },
//!             { "at": "/nodes/4/translation", "absent": true },
//!             { "at": "/accessors", "length": 17 },
//!             { "at": "/animations", "before": 1 },              since version 2
//!             { "at": "/extensionsRequired", "was": ["KHR_animation_pointer"], "place": 3 } ],   since version 2
//!         "checksum": "0123456789abcdef" } } }
//! ```
//!
//! A project only appends to the original's binary chunk. The original chunk is therefore a prefix of the
//! project's, and storing the original costs only the list of changed JSON values. The original is the loaded
//! file with its buffers and images packed ([`super::unedited`]), restored byte for byte. The checksum (FNV-1a
//! over the restored JSON, keys sorted, and the bytes) detects a file that another program has rewritten.

use super::posed::{Export, Job, build};
use super::{Builder, Clips, Key, Options, Surfaces, diff, files, glb};
use crate::asset::Asset;
use crate::base::{Error, Result};
use crate::bind::Character;
use crate::rig::{Pose, Skeleton};
use serde_json::{Value, json};
use std::path::Path;

const NAME: &str = "SINEW_project";
/// The newest version that can be read. A project that uses only changes of version 1 is written as version
/// 1 and opens in older programs.
const VERSION: u64 = 2;
const REMEDY: &str = "restore the file that Sinew saved, or take the extension out to open it as a model";

/// Saves a project with its nodes in `pose`; `document` is the editor's own data.
///
/// # Errors
/// As [`save_shown`].
pub fn save(path: impl AsRef<Path>, asset: &Asset, pose: &Pose, document: &Value) -> Result<()> {
    let character = Character { skeleton: Skeleton::from_asset(asset)?, ..Default::default() };
    let key = Key { time_s: 0.0, pose, shape: None };
    save_shown(path, asset, &character, &[key], &Options::default(), document).map(drop)
}

/// Saves a project that shows `keys` in any viewer as [`super::posed`] exports them: with morph targets for
/// what bones cannot express, and as an animation if there are several. The original is restored completely
/// in compatible mode too.
///
/// # Errors
/// As [`super::posed`]; [`Error::Io`] from writing, which leaves an older project as it was.
pub fn save_shown(
    path: impl AsRef<Path>,
    asset: &Asset,
    character: &Character,
    keys: &[Key],
    options: &Options,
    document: &Value,
) -> Result<Export> {
    let out = shown(asset, character, keys, &keys, options, document)?;
    files::write_model(path, &out.glb)?;
    Ok(out)
}

/// The content of [`save_shown`], not yet written, with surfaces that need not all be in memory.
///
/// # Errors
/// As [`super::streamed`].
pub fn shown(
    asset: &Asset,
    character: &Character,
    keys: &[Key],
    surfaces: &dyn Surfaces,
    options: &Options,
    document: &Value,
) -> Result<Export> {
    let job = Job { asset, character, keys, surfaces, options };
    let mut original = Builder::of(asset)?;
    strip(&mut original.json);
    let mut out = Export::default();
    let mut builder = build(&job, original.clone(), &mut out)?;
    if !builder.bin.is_empty() {
        glb::set_first_buffer(&mut builder.json, builder.bin.len());
    }
    builder.use_extension(NAME);
    builder.json["extensions"][NAME] = Value::Null;
    let before = out.clip.is_some() && options.clips == Clips::Keep && original.len("animations") > 0;
    let changes = diff::changes(&builder.json, &original.json, before.then_some("animations"));
    builder.json["extensions"][NAME] = json!({
        "version": if diff::is_plain(&changes) { 1 } else { VERSION },
        "document": document,
        "original": {
            "binLength": original.bin.len(),
            "changes": changes,
            "checksum": diff::checksum(&original.json, &original.bin),
        }
    });
    out.glb = builder.glb()?;
    Ok(out)
}

/// Loads a project: the original file and the editor's own data.
///
/// # Errors
/// [`Error::Broken`] if the file is not a project; and as [`open`].
pub fn load(path: impl AsRef<Path>) -> Result<(Asset, Value)> {
    let path = path.as_ref();
    let (asset, document) = open(path)?;
    let remedy = "open the file as a model instead";
    let missing = || Error::broken(path, at(), "it is missing: this is no Sinew project", remedy);
    Ok((asset, document.ok_or_else(missing)?))
}

/// Loads a file: from a project the original and the editor's own data, from any other glTF file its content.
///
/// # Errors
/// [`Error::Broken`] for a project that another program has rewritten, or that is damaged;
/// [`Error::Unsupported`] for one of a newer version; and as [`Asset::load`].
pub fn open(path: impl AsRef<Path>) -> Result<(Asset, Option<Value>)> {
    let shown = Asset::load(path)?;
    Ok(match original(&shown)? {
        Some((asset, document)) => (asset, Some(document)),
        None => (shown, None),
    })
}

/// The original and the editor's own data of a project that was loaded as the model which it shows; `None` if it is
/// no project.
///
/// # Errors
/// As [`open`].
pub fn original(shown: &Asset) -> Result<Option<(Asset, Value)>> {
    let path = &shown.path;
    let Some(project) = shown.source.json.pointer(&format!("/extensions/{NAME}")) else { return Ok(None) };
    match project.get("version").and_then(Value::as_u64) {
        Some(1..=VERSION) => {}
        Some(newer) if newer > VERSION => {
            let feature = format!("a project of version {newer}");
            return Err(Error::unsupported(path, feature, "open it with a newer Sinew"));
        }
        _ => return Err(Error::broken(path, at(), "it has no version", REMEDY)),
    }
    let rewritten = || {
        let problem = "the original cannot be restored; another program has changed the file";
        Error::broken(path, at(), problem, REMEDY)
    };
    let original = &project["original"];
    let changes = original["changes"].as_array().ok_or_else(rewritten)?;
    let mut json = shown.source.json.clone();
    let chunk = shown.source.buffers.first().map_or(&[][..], Vec::as_slice);
    files::take_uri(&mut json, chunk);
    diff::restore(&mut json, changes).ok_or_else(rewritten)?;
    let length = original["binLength"].as_u64().and_then(|l| usize::try_from(l).ok());
    let bin = length.and_then(|l| chunk.get(..l)).ok_or_else(rewritten)?;
    if original["checksum"].as_str() != Some(&diff::checksum(&json, bin)) {
        return Err(rewritten());
    }
    let asset = Asset::from_slice(&glb::container(path, &json, bin)?, path)?;
    Ok(Some((asset, project["document"].clone())))
}

fn at() -> String {
    format!("extension {NAME}")
}

/// Removes a project's own data: saving a project that was opened as a model starts a new project.
fn strip(json: &mut Value) {
    let is_empty = |value: &Value| match value {
        Value::Array(a) => a.is_empty(),
        Value::Object(o) => o.is_empty(),
        _ => false,
    };
    let extensions = json.get_mut("extensions").and_then(Value::as_object_mut);
    if extensions.and_then(|e| e.shift_remove(NAME)).is_none() {
        return;
    }
    if let Some(used) = json.get_mut("extensionsUsed").and_then(Value::as_array_mut) {
        used.retain(|n| n != NAME);
    }
    for key in ["extensions", "extensionsUsed"] {
        if json.get(key).is_some_and(is_empty)
            && let Some(root) = json.as_object_mut()
        {
            root.shift_remove(key);
        }
    }
}
