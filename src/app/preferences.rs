//! The user's preferences, saved as JSON files in the platform's settings folder.

use crate::base::folders::settings;
use crate::export::write_atomically;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::path::PathBuf;

/// File with the preferences of headset and window (tool, brush, handedness), named after the headset mode.
pub const PREFERENCES: &str = "vr.json";
/// File of the preferences that only the window uses.
pub const DESK: &str = "desk.json";

fn folder() -> Option<PathBuf> {
    settings(|name| std::env::var_os(name))
}

/// Loads the preferences file `name`. Returns the defaults if the file is missing or unreadable.
pub fn load<T: DeserializeOwned + Default>(name: &str) -> T {
    let text = folder().and_then(|f| std::fs::read_to_string(f.join(name)).ok());
    text.and_then(|t| serde_json::from_str(&t).ok()).unwrap_or_default()
}

/// Saves the preferences file `name`. If the folder is not writable, prints a warning and continues.
pub fn save<T: Serialize>(name: &str, choices: &T) {
    let (Some(folder), Ok(text)) = (folder(), serde_json::to_string_pretty(choices)) else { return };
    let path = folder.join(name);
    if std::fs::create_dir_all(&folder).is_err() || write_atomically(&path, text.as_bytes()).is_err() {
        eprintln!("sinew: {}: your choices are not kept; make it writable", path.display());
    }
}
