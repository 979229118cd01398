//! Locations of journals: one file per open asset, in the user's state folder.

use super::{in_use, saved};
use crate::base::{Error, Result, folders};
use crate::document::AssetRef;
use std::ffi::OsString;
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

/// Returns the folder of journals: `$XDG_STATE_HOME/sinew/journal`, or `.local/state/sinew/journal` in the home
/// folder (XDG Base Directory Specification). `variable` reads the environment, e.g. `|name| std::env::var_os(name)`.
///
/// # Errors
/// Neither variable is set to an absolute path.
pub fn journal_folder(variable: impl Fn(&str) -> Option<OsString>) -> Result<PathBuf> {
    folders::state(variable).map(|state| state.join("journal")).ok_or_else(|| {
        Error::input("there is no folder for the autosave journal", "set HOME or XDG_STATE_HOME to a folder")
    })
}

/// Returns the journal's path: the asset's name and a hash of its path and content. `number` counts from 1 and
/// distinguishes processes that edit the same asset.
pub fn journal_path(folder: &Path, asset: &AssetRef, number: usize) -> PathBuf {
    let suffix = if number > 1 { format!("-{number}") } else { String::new() };
    folder.join(format!("{}{suffix}.journal", stem(asset)))
}

/// Returns the journals that no process has open, sorted by name. Crashed sessions left them behind.
///
/// # Errors
/// The folder cannot be read. A folder that does not exist is not an error.
pub fn unfinished_journals(folder: &Path) -> Result<Vec<PathBuf>> {
    let journals = journals(folder)?.into_iter();
    Ok(journals.filter_map(|(path, open)| (!open).then_some(path)).collect())
}

/// Returns the journals of an asset that a process has open, sorted by name.
///
/// # Errors
/// Same as [`unfinished_journals`].
pub fn open_journals(folder: &Path, asset: &AssetRef) -> Result<Vec<PathBuf>> {
    let stem = stem(asset);
    let of_asset = |path: &PathBuf| path.file_name().is_some_and(|n| n.to_string_lossy().starts_with(&stem));
    let journals = journals(folder)?.into_iter();
    Ok(journals.filter_map(|(path, open)| open.then_some(path)).filter(of_asset).collect())
}

/// Returns the journals in a folder, sorted by name, and whether a process has each open.
fn journals(folder: &Path) -> Result<Vec<(PathBuf, bool)>> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(e) => return Err(Error::io(folder, e)),
    };
    let mut found = Vec::new();
    for entry in entries {
        let path = entry.map_err(|e| Error::io(folder, e))?.path();
        if path.extension().is_none_or(|e| e != "journal") || !path.is_file() {
            continue;
        }
        let file = match File::open(&path) {
            Ok(file) => file,
            // Another process has saved its document and removed this journal.
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => continue,
            Err(e) => return Err(Error::io(&path, e)),
        };
        match file.try_lock_shared() {
            Ok(()) => found.push((path, false)),
            Err(TryLockError::WouldBlock) => found.push((path, true)),
            Err(TryLockError::Error(e)) => return Err(Error::io(&path, e)),
        }
    }
    found.sort();
    Ok(found)
}

/// Deletes the journal of an unwanted document.
///
/// # Errors
/// Another process has the journal open, or the file cannot be deleted.
pub fn discard_journal(path: &Path) -> Result<()> {
    let file = File::open(path).map_err(|e| Error::io(path, e))?;
    match file.try_lock() {
        Ok(()) => {
            saved::forget(path);
            std::fs::remove_file(path).map_err(|e| Error::io(path, e))
        }
        Err(TryLockError::WouldBlock) => Err(in_use(path)),
        Err(TryLockError::Error(e)) => Err(Error::io(path, e)),
    }
}

fn stem(asset: &AssetRef) -> String {
    let name = Path::new(&asset.path).file_stem().unwrap_or_default().to_string_lossy().into_owned();
    // File systems limit names to 255 bytes, and asset names may contain any character.
    let name: String = name.chars().filter(|c| c.is_alphanumeric() || "-_".contains(*c)).take(40).collect();
    let mut hash = blake3::Hasher::new();
    hash.update(asset.path.as_bytes());
    hash.update(asset.hash.as_bytes());
    format!("{name}-{}", &hash.finalize().to_hex()[..16])
}
