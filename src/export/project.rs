//! The project file: a .glb that shows Sinew's result in any viewer and contains all editor data.
//!
//! The file is the posed export of the original file (standard nodes, skins, morph targets, animation) with an
//! additional extension at the root. The file lists this extension as used, not as required:
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
//! Saving only appends to the original's binary chunk, so the original chunk is a prefix of the project's. To store the
//! original, the project needs only the list of changed JSON values. The original is the loaded file with its buffers
//! and images packed ([`super::unedited`]), restored byte for byte. The checksum (FNV-1a over the restored JSON, keys
//! sorted, and the bytes) detects a file that another program has rewritten.

use super::posed::{Export, Job, build};
use super::{Builder, Clips, Key, Options, Surfaces, diff, files, glb};
use crate::asset::Asset;
use crate::base::{Error, Result};
use crate::bind::Character;
use crate::rig::{Pose, Skeleton};
use serde_json::{Value, json};
use std::path::Path;

const NAME: &str = "SINEW_project";
/// The newest readable version. If version 1 can express all changes of a project, the project is written as version 1,
/// so that older programs can open it.
const VERSION: u64 = 2;
const REMEDY: &str = "restore the file that Sinew saved, or take the extension out to open it as a model";

/// Saves a project with its nodes in `pose`; `document` is the editor's own data.
///
/// # Errors
/// The errors of [`save_shown`].
pub fn save(path: impl AsRef<Path>, asset: &Asset, pose: &Pose, document: &Value) -> Result<()> {
    let character = Character { skeleton: Skeleton::from_asset(asset)?, ..Default::default() };
    let key = Key { time_s: 0.0, pose, shape: None };
    save_shown(path, asset, &character, &[key], &Options::default(), document).map(drop)
}

/// Saves a project that looks like the export of `keys` by [`super::posed()`] in any viewer: with morph targets, and as
/// an animation if there are several keys. The original is restored completely, even in compatible mode.
///
/// # Errors
/// The errors of [`super::posed()`]; [`Error::Io`] if writing fails. An existing project then stays unchanged.
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

/// Returns what [`save_shown`] would write, but queries `surfaces` key by key.
///
/// # Errors
/// The errors of [`super::streamed`].
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
    let mut out = Export::new(character);
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
/// [`Error::Broken`] if the file is not a project; and the errors of [`open`].
pub fn load(path: impl AsRef<Path>) -> Result<(Asset, Value)> {
    let path = path.as_ref();
    let (asset, document) = open(path)?;
    let remedy = "open the file as a model instead";
    let missing = || Error::broken(path, at(), "it is missing: this is no Sinew project", remedy);
    Ok((asset, document.ok_or_else(missing)?))
}

/// Loads a file: the original and the editor's data from a project, or the content of any other glTF file.
///
/// # Errors
/// [`Error::Broken`] if the project is damaged or was rewritten by another program; [`Error::Unsupported`] if its
/// version is newer; and the errors of [`Asset::load`].
pub fn open(path: impl AsRef<Path>) -> Result<(Asset, Option<Value>)> {
    let shown = Asset::load(path)?;
    Ok(match original(&shown)? {
        Some((asset, document)) => (asset, Some(document)),
        None => (shown, None),
    })
}

/// Returns the original and the editor's data of a project, given the project loaded as a model. Returns `None` if
/// the file is not a project.
///
/// # Errors
/// The errors of [`open`].
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

/// Removes the project extension. If the user opens a project as a plain model and saves it, the result is then a new
/// project.
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
