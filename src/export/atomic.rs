//! Atomic file writes: neither readers nor a crash ever see a partial file.

use crate::base::{Error, Result};
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Writes `bytes` to a temporary file in the folder of `path`, syncs it, renames it to `path` and syncs the folder.
///
/// At every moment, even after a crash or power loss, `path` is either the old file or the complete new file. An
/// existing file keeps its permissions. Symbolic links are followed. On failure the temporary file is removed.
///
/// # Errors
/// [`Error::Io`] with `path` if the folder does not exist, permission is missing, or no space is left.
pub fn write_atomically(path: impl AsRef<Path>, bytes: &[u8]) -> Result<()> {
    let path = path.as_ref();
    // Renaming over a symbolic link would replace the link, not its target.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let folder = match target.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    };
    let Some(name) = target.file_name() else {
        return Err(Error::io(path, std::io::Error::other("this is no file name")));
    };
    let temporary = folder.join(format!(".{}.{}.tmp", name.to_string_lossy(), unique()));
    let written = write_synced(&temporary, bytes, &target).and_then(|()| fs::rename(&temporary, &target));
    if let Err(error) = written {
        // Report the first error, even if the temporary file cannot be removed.
        let _ = fs::remove_file(&temporary);
        return Err(Error::io(path, error));
    }
    // Makes the rename durable. Some file systems refuse to sync a folder; the file is still complete.
    if let Ok(folder) = File::open(&folder) {
        let _ = folder.sync_all();
    }
    Ok(())
}

/// Returns a string that is unique per process and call, so that two writers never share a temporary file.
fn unique() -> String {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    format!("{}-{}", std::process::id(), COUNTER.fetch_add(1, Ordering::Relaxed))
}

fn write_synced(temporary: &Path, bytes: &[u8], target: &Path) -> std::io::Result<()> {
    let mut file = File::create_new(temporary)?;
    file.write_all(bytes)?;
    if let Ok(existing) = fs::metadata(target) {
        file.set_permissions(existing.permissions())?;
    }
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<_> =
            fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn writes_replaces_and_leaves_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.glb");
        write_atomically(&path, b"one").unwrap();
        write_atomically(&path, b"second").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"second");
        assert_eq!(names(folder.path()), ["a.glb"]);
    }

    #[test]
    fn a_failure_keeps_the_old_file_and_removes_the_temporary_one() {
        let folder = tempfile::tempdir().unwrap();
        // The path is an existing folder, so the rename fails after the temporary file was written.
        let path = folder.path().join("taken");
        fs::create_dir(&path).unwrap();
        fs::write(path.join("inside"), b"x").unwrap();
        let error = write_atomically(&path, b"bytes").unwrap_err();
        assert!(error.to_string().contains("taken"), "{error}");
        assert_eq!(names(folder.path()), ["taken"]);
        assert!(write_atomically(folder.path().join("none/a"), b"").is_err());
    }

    #[test]
    #[cfg(unix)]
    fn a_link_is_followed() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::write(&file, b"old").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        write_atomically(&link, b"new").unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"new");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    }
}
