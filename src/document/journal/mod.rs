//! The journal: a log on disk of every operation of a session, so that a crash loses no work.
//!
//! A text file of lines `CHECKSUM JSON`: first a header (format, version, asset), then one [`Operation`] per line.
//! The checksum (16 hexadecimal digits of BLAKE3) covers the line and the previous checksum, so a torn, changed,
//! repeated or misplaced line ends the journal. Disk failures do not affect the document: operations that cannot be
//! written stay in memory and are written with the next operation.

mod background;
mod place;
mod recover;
mod saved;

pub use place::{discard_journal, journal_folder, journal_path, open_journals, unfinished_journals};
pub use recover::{Recovered, Torn, recover};
pub use saved::LastSave;

use super::{AssetRef, Operation};
use crate::base::{Error, Result};
use recover::{HEADER_CHAIN, Header, checksum};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Version of the journal format.
const VERSION: u32 = 1;
/// Number of [`Operation::Drawing`] records after which the journal is synced to disk. Only a power failure can lose
/// the records since the last sync.
const DRAWING_SYNC: u32 = 32;
/// Maximum number of journals for one asset file.
const MAX_OPEN: usize = 64;

/// The output of a journal: a file, or a failing disk in tests.
trait Sink: Send {
    fn write_all(&mut self, bytes: &[u8]) -> std::io::Result<()>;
    fn sync(&mut self) -> std::io::Result<()>;
    fn truncate(&mut self, length: u64) -> std::io::Result<()>;
    /// Returns another handle of the file.
    fn handle(&self) -> std::io::Result<File>;
}

impl Sink for File {
    fn write_all(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        Write::write_all(self, bytes)
    }

    fn sync(&mut self) -> std::io::Result<()> {
        self.sync_data()
    }

    fn truncate(&mut self, length: u64) -> std::io::Result<()> {
        self.set_len(length)
    }

    fn handle(&self) -> std::io::Result<File> {
        self.try_clone()
    }
}

/// A journal open for appending, locked against other processes.
pub struct Journal {
    path: PathBuf,
    sink: Box<dyn Sink>,
    /// Size of all complete records on disk, bytes.
    length: u64,
    /// Whether a failed write may have left a partial record after `length`.
    dirty: bool,
    chain: u64,
    /// Bytes of records not yet written.
    pending: Vec<u8>,
    unsynced: u32,
}

impl Journal {
    /// Opens or creates the journal at a path, and cuts off the unreadable tail that a crash may leave. If the tail
    /// contains complete lines, a copy of the whole file is stored beside the journal.
    ///
    /// # Errors
    /// Another process has the journal open, the file is not a journal, its version is newer, or file access fails.
    pub fn open(path: &Path, asset: &AssetRef) -> Result<(Self, Recovered)> {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(|e| Error::io(folder, e))?;
        }
        let file = OpenOptions::new()
            .create(true)
            .read(true)
            .append(true)
            .open(path)
            .map_err(|e| Error::io(path, e))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(in_use(path)),
            Err(TryLockError::Error(e)) => return Err(Error::io(path, e)),
        }
        let recovered = recover(path)?;
        if recovered.torn.as_ref().is_some_and(|t| t.lines > 0) {
            let copy = path.with_extension("torn");
            std::fs::copy(path, &copy).map_err(|e| Error::io(&copy, e))?;
        }
        let (length, chain) = (recovered.length, recovered.chain);
        let mut journal = Self {
            path: path.to_owned(),
            sink: Box::new(file),
            length,
            dirty: recovered.torn.is_some(),
            chain,
            pending: Vec::new(),
            unsynced: 0,
        };
        if recovered.asset.is_none() {
            saved::forget(path);
            journal.start(asset)?;
        } else {
            journal.flush(true)?;
        }
        // Sync the folder too, so that the file name survives a power failure.
        if let Some(folder) = path.parent().and_then(|f| File::open(f).ok()) {
            folder.sync_all().map_err(|e| Error::io(path, e))?;
        }
        Ok((journal, recovered))
    }

    /// Creates a journal for an asset in a folder, without touching journals of other sessions.
    ///
    /// # Errors
    /// The asset has 64 journals already, or [`Self::open`] fails.
    pub fn create_for(folder: &Path, asset: &AssetRef) -> Result<Self> {
        for number in 1..=MAX_OPEN {
            let path = journal_path(folder, asset, number);
            if path.exists() {
                continue;
            }
            match Self::open(&path, asset) {
                Ok((journal, recovered)) if recovered.operations.is_empty() => return Ok(journal),
                // Another process created the journal first.
                Ok(_) => {}
                Err(error) if is_in_use(&error) => {}
                Err(error) => return Err(error),
            }
        }
        Err(Error::broken(
            folder,
            "autosave journals",
            format!("there are {MAX_OPEN} unfinished sessions of {}", asset.path),
            "restore or discard some with `sinew recover`",
        ))
    }

    /// Appends an operation. An edit is on the disk when this returns. Samples of an unfinished stroke may still be
    /// in the operating system's cache, which survives a crash of this program.
    ///
    /// # Errors
    /// The disk is full or missing. The record then stays in memory for the next call.
    pub fn append(&mut self, operation: &Operation) -> Result<()> {
        let json = serde_json::to_vec(operation).map_err(|e| {
            Error::input(
                format!("an operation cannot be written: {e}"),
                "report it as a bug; save the project",
            )
        })?;
        self.push(&json);
        let drawing = matches!(operation, Operation::Drawing(_));
        self.flush(!drawing || self.unsynced >= DRAWING_SYNC)
    }

    /// Writes and syncs all pending records.
    ///
    /// # Errors
    /// Same as [`Self::append`].
    pub fn sync(&mut self) -> Result<()> {
        self.flush(true)
    }

    /// Moves later disk syncs to a background thread, so that [`Self::append`] does not wait for the disk. A written
    /// record survives a crash of this program at once and a power failure shortly after. The next append reports a
    /// failed sync.
    ///
    /// # Errors
    /// The operating system cannot start the thread; the journal stays unchanged.
    pub fn sync_in_background(&mut self) -> Result<()> {
        let background = self.sink.handle().and_then(background::Background::new);
        self.sink = Box::new(background.map_err(|e| Error::io(&self.path, e))?);
        Ok(())
    }

    /// Returns the path of the journal file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the note for a save of the document, as it is now, to the project at a path.
    pub fn last_save(&self, project: PathBuf) -> LastSave {
        LastSave { project, length: self.length, time: None }
    }

    /// Deletes the journal, for example after its document has been saved.
    ///
    /// # Errors
    /// The operating system cannot delete the file.
    pub fn discard(self) -> Result<()> {
        saved::forget(&self.path);
        std::fs::remove_file(&self.path).map_err(|e| Error::io(&self.path, e))
    }

    fn start(&mut self, asset: &AssetRef) -> Result<()> {
        let header = Header { sinew_journal: VERSION, asset: asset.clone() };
        let json = serde_json::to_vec(&header).map_err(|e| {
            Error::input(format!("a journal header cannot be written: {e}"), "report it as a bug")
        })?;
        self.chain = HEADER_CHAIN;
        self.push(&json);
        self.flush(true)
    }

    fn push(&mut self, json: &[u8]) {
        self.chain = checksum(self.chain, json);
        self.pending.extend_from_slice(format!("{:016x} ", self.chain).as_bytes());
        self.pending.extend_from_slice(json);
        self.pending.push(b'\n');
        self.unsynced += 1;
    }

    fn flush(&mut self, sync: bool) -> Result<()> {
        self.try_flush(sync).map_err(|source| Error::Broken {
            path: self.path.clone(),
            at: "autosave journal".into(),
            problem: source.to_string(),
            remedy: "your work is still in memory: free space on this disk, or save the project elsewhere"
                .into(),
        })
    }

    fn try_flush(&mut self, sync: bool) -> std::io::Result<()> {
        if self.dirty {
            self.sink.truncate(self.length)?;
            self.dirty = false;
        }
        if !self.pending.is_empty() {
            self.dirty = true;
            self.sink.write_all(&self.pending)?;
            self.dirty = false;
            self.length += self.pending.len() as u64;
            self.pending.clear();
        }
        if sync {
            self.sink.sync()?;
            self.unsynced = 0;
        }
        Ok(())
    }
}

fn in_use(path: &Path) -> Error {
    Error::Io { path: path.to_owned(), source: std::io::ErrorKind::WouldBlock.into() }
}

fn is_in_use(error: &Error) -> bool {
    matches!(error, Error::Io { source, .. } if source.kind() == std::io::ErrorKind::WouldBlock)
}

#[cfg(test)]
mod tests;
