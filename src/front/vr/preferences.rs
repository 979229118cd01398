//! The user's choices, kept in a file between sessions: handedness, tool, brush.

use super::Options;
use crate::editor::Preferences;
use crate::export::write_atomically;
use std::path::PathBuf;

/// `$XDG_CONFIG_HOME/sinew/vr.json`, or in `.config` of the home folder; none where neither is known.
fn place() -> Option<PathBuf> {
    let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|p| p.is_absolute());
    let folder = absolute("XDG_CONFIG_HOME").or_else(|| absolute("HOME").map(|h| h.join(".config")))?;
    Some(folder.join("sinew/vr.json"))
}

/// What was chosen last; the defaults where there is no file, or none that can be read.
pub fn load(options: &Options) -> Preferences {
    if options.forget {
        return Preferences::default();
    }
    let text = place().and_then(|p| std::fs::read_to_string(p).ok());
    text.and_then(|t| serde_json::from_str::<Preferences>(&t).ok()).unwrap_or_default().sane()
}

/// Keeps the choices. A folder that cannot be written costs nothing but a line.
pub fn save(options: &Options, preferences: &Preferences) {
    let Some(path) = place().filter(|_| !options.forget) else { return };
    let Ok(text) = serde_json::to_string_pretty(preferences) else { return };
    let folder = path.parent().map_or(Ok(()), std::fs::create_dir_all);
    if folder.is_err() || write_atomically(&path, text.as_bytes()).is_err() {
        eprintln!("sinew: {}: your choices are not kept; make it writable", path.display());
    }
}
