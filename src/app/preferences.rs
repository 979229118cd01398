//! The user's choices, kept in files between sessions: in the folder that the platform has for settings.

use crate::base::folders::settings;
use crate::export::write_atomically;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::path::PathBuf;

/// Tool, brush, handedness: of headset and window alike. The name is older than the window.
pub const PREFERENCES: &str = "vr.json";
/// What only a window has.
pub const DESK: &str = "desk.json";

fn folder() -> Option<PathBuf> {
    settings(|name| std::env::var_os(name))
}

/// What was kept under a name; the defaults where there is nothing, or nothing that can be read.
pub fn load<T: DeserializeOwned + Default>(name: &str) -> T {
    let text = folder().and_then(|f| std::fs::read_to_string(f.join(name)).ok());
    text.and_then(|t| serde_json::from_str(&t).ok()).unwrap_or_default()
}

/// Keeps choices under a name. A folder that cannot be written costs nothing but a line.
pub fn save<T: Serialize>(name: &str, choices: &T) {
    let (Some(folder), Ok(text)) = (folder(), serde_json::to_string_pretty(choices)) else { return };
    let path = folder.join(name);
    if std::fs::create_dir_all(&folder).is_err() || write_atomically(&path, text.as_bytes()).is_err() {
        eprintln!("sinew: {}: your choices are not kept; make it writable", path.display());
    }
}
