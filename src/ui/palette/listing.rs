//! Reads the lists of the file panel from disk, on a worker thread because disk access is too slow for a frame.

use super::state::{FileEntry, FileKind, FileList};
use crate::base::{Error, Result, ago, counted};
use crate::export::is_model;
use crate::project::recovery;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Maximum number of listed entries of a folder.
const MOST: usize = 4096;

impl FileList {
    /// Lists the folders, characters, projects and cages in a folder by name, the `recent` files that still exist, and the
    /// unsaved sessions with journals in `journals`. Blocks while it reads the disk.
    ///
    /// # Errors
    /// If the folder cannot be read. Unreadable journals are skipped; `sinew recover` reports them.
    pub fn read(folder: &Path, recent: &[PathBuf], journals: Option<&Path>) -> Result<Self> {
        let folder = std::path::absolute(folder).map_err(|e| Error::io(folder, e))?;
        let read = std::fs::read_dir(&folder).map_err(|e| Error::io(&folder, e))?;
        let mut entries: Vec<FileEntry> = read.filter_map(|e| entry(&e.ok()?.path())).take(MOST).collect();
        let rank = |e: &FileEntry| (e.kind != FileKind::Folder, e.name.to_lowercase());
        entries.sort_by_cached_key(rank);
        let unfinished = journals.and_then(|j| recovery::unfinished(j, None).ok());
        let now = SystemTime::now();
        let unfinished = unfinished
            .map_or_else(Vec::new, |found| found.sessions.iter().map(|s| journal(s, now)).collect());
        let recent = recent.iter().filter_map(|p| entry(p)).collect();
        Ok(Self { folder, entries, recent, unfinished, samples: Vec::new() })
    }

    /// Returns the list with these samples. Blocks while it reads the disk.
    pub fn with_samples(self, samples: &[PathBuf]) -> Self {
        Self { samples: samples.iter().filter_map(|p| entry(p)).collect(), ..self }
    }
}

/// Returns the entry for a file that Sinew can open or a folder; `None` for hidden and other files.
fn entry(path: &Path) -> Option<FileEntry> {
    let name = path.file_name()?.to_string_lossy().into_owned();
    let about = std::fs::metadata(path).ok()?;
    let lower = name.to_lowercase();
    let (kind, note) = match () {
        () if name.starts_with('.') => return None,
        () if about.is_dir() => (FileKind::Folder, String::new()),
        () if lower.ends_with("project.glb") => (FileKind::Project, size(about.len())),
        () if is_model(path) => (FileKind::Character, size(about.len())),
        () if lower.ends_with(".obj") => (FileKind::Cage, format!("cage, {}", size(about.len()))),
        () => return None,
    };
    Some(FileEntry { path: path.to_owned(), name, note, kind })
}

fn journal(session: &recovery::Unfinished, now: SystemTime) -> FileEntry {
    let age = ago(now.duration_since(session.modified).unwrap_or_default());
    let (name, note) = (session.name(), format!("{}, {age}", counted(session.operations, "edit")));
    FileEntry { path: session.journal.clone(), name, note, kind: FileKind::Journal }
}

fn size(bytes: u64) -> String {
    let (kb, mb) = (bytes as f64 / 1e3, bytes as f64 / 1e6);
    if mb < 0.1 { format!("{kb:.0} kB") } else { format!("{mb:.1} MB") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_hold_what_can_be_opened_folders_first() {
        let folder = tempfile::tempdir().unwrap();
        for name in
            ["b.GLB", "a.gltf", "c.vrm", "Wolf.project.glb", "Wolf.cage.obj", "notes.txt", ".hidden.glb"]
        {
            std::fs::write(folder.path().join(name), vec![0; 2000]).unwrap();
        }
        std::fs::create_dir(folder.path().join("zoo")).unwrap();
        let recent = [folder.path().join("b.GLB"), folder.path().join("gone.glb")];
        let list = FileList::read(folder.path(), &recent, Some(&folder.path().join("zoo"))).unwrap();
        let shown: Vec<_> = list.entries.iter().map(|e| (e.name.as_str(), e.kind)).collect();
        let expected = [
            ("zoo", FileKind::Folder),
            ("a.gltf", FileKind::Character),
            ("b.GLB", FileKind::Character),
            ("c.vrm", FileKind::Character),
            ("Wolf.cage.obj", FileKind::Cage),
            ("Wolf.project.glb", FileKind::Project),
        ];
        assert_eq!(shown, expected);
        assert_eq!(list.entries[1].note, "2 kB");
        assert_eq!((list.recent.len(), list.unfinished.len()), (1, 0));
        let missing = FileList::read(&folder.path().join("none"), &[], None).unwrap_err().to_string();
        assert!(missing.contains("none"), "{missing}");
    }
}
