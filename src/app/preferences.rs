//! The user's preferences, saved as JSON files in the platform's settings folder.

use crate::base::folders::settings;
use crate::base::{Error, Result};
use crate::export::write_atomically;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// File with the preferences of headset and window (tool, brush, handedness), named after the headset mode.
pub const PREFERENCES: &str = "vr.json";
/// File of the preferences that only the window uses.
pub const DESK: &str = "desk.json";
/// File with the recently opened files.
const RECENT: &str = "recent.json";
/// Time between a preference's last change and the write, so that the drag of a slider is one write.
const WAIT: Duration = Duration::from_secs(1);

/// The part of [`DESK`] in which earlier builds kept the recent files.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Earlier {
    recent: Vec<PathBuf>,
}

fn folder() -> Option<PathBuf> {
    settings(|name| std::env::var_os(name))
}

/// Loads the preferences file `name`. Returns the defaults if the file is missing or unreadable.
pub fn load<T: DeserializeOwned + Default>(name: &str) -> T {
    folder().and_then(|folder| read(&folder, name)).unwrap_or_default()
}

/// Loads the recently opened files, newest first.
pub fn recent() -> Vec<PathBuf> {
    folder().map(|folder| recent_in(&folder)).unwrap_or_default()
}

fn recent_in(folder: &Path) -> Vec<PathBuf> {
    read(folder, RECENT).or_else(|| Some(read::<Earlier>(folder, DESK)?.recent)).unwrap_or_default()
}

fn read<T: DeserializeOwned>(folder: &Path, name: &str) -> Option<T> {
    serde_json::from_str(&std::fs::read_to_string(folder.join(name)).ok()?).ok()
}

/// A thread that writes preferences a second after their last change. So a crash loses none, and no frame waits for the
/// disk. Dropping the keeper writes at once what is left.
pub struct Keeper {
    changes: Option<Sender<(&'static str, String)>>,
    thread: Option<JoinHandle<()>>,
}

impl Keeper {
    /// Starts the thread, which writes to the platform's settings folder; `None` without such a folder.
    ///
    /// # Errors
    /// Fails if the operating system cannot create a thread.
    pub fn new() -> Result<Option<Self>> {
        folder().map(|folder| Self::start(folder, WAIT)).transpose()
    }

    fn start(folder: PathBuf, wait: Duration) -> Result<Self> {
        let (changes, received) = channel();
        let thread = std::thread::Builder::new()
            .name("preferences".into())
            .spawn(move || serve(&received, &folder, wait))
            .map_err(|e| Error::io("a thread", e))?;
        Ok(Self { changes: Some(changes), thread: Some(thread) })
    }

    /// Writes the preferences file `name`. If the folder is not writable, prints a warning and continues.
    pub fn keep<T: Serialize>(&self, name: &'static str, choices: &T) {
        if let (Some(changes), Ok(text)) = (&self.changes, serde_json::to_string_pretty(choices)) {
            _ = changes.send((name, text));
        }
    }

    /// Writes the recently opened files.
    pub fn keep_recent(&self, recent: &[PathBuf]) {
        self.keep(RECENT, &recent);
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.changes = None;
        if let Some(thread) = self.thread.take() {
            _ = thread.join();
        }
    }
}

/// Writes the last received text of each file when nothing has been received for `wait`, and at the end.
fn serve(received: &Receiver<(&'static str, String)>, folder: &Path, wait: Duration) {
    let mut waiting = BTreeMap::new();
    loop {
        let next = match waiting.is_empty() {
            true => received.recv().map_err(|_| RecvTimeoutError::Disconnected),
            false => received.recv_timeout(wait),
        };
        match next {
            Ok((name, text)) => _ = waiting.insert(name, text),
            Err(end) => {
                std::mem::take(&mut waiting).iter().for_each(|(name, text)| write(folder, name, text));
                if end == RecvTimeoutError::Disconnected {
                    return;
                }
            }
        }
    }
}

fn write(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    if std::fs::create_dir_all(folder).is_err() || write_atomically(&path, text.as_bytes()).is_err() {
        eprintln!("sinew: {}: your choices are not kept; make it writable", path.display());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_change_of_each_file_is_written_while_the_program_runs_and_at_its_end() {
        let folder = tempfile::tempdir().unwrap();
        let settings = folder.path().join("sinew");
        let value = |name| read::<u32>(&settings, name);
        let keeper = Keeper::start(settings.clone(), Duration::ZERO).unwrap();
        keeper.keep(DESK, &7);
        let written = (0..100_000_000).any(|_| {
            std::thread::yield_now();
            value(DESK) == Some(7)
        });
        assert!(written, "it is written before the end");
        drop(keeper);
        let keeper = Keeper::start(settings.clone(), Duration::from_secs(3600)).unwrap();
        (0..50).for_each(|i| keeper.keep(PREFERENCES, &i));
        keeper.keep(DESK, &8);
        drop(keeper);
        assert_eq!((value(PREFERENCES), value(DESK)), (Some(49), Some(8)));
    }

    #[test]
    fn recent_files_of_earlier_builds_are_read() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(recent_in(folder.path()), Vec::<PathBuf>::new());
        let earlier = include_str!("../../tests/fixtures/desk.json");
        std::fs::write(folder.path().join(DESK), earlier).unwrap();
        assert_eq!(recent_in(folder.path()), [PathBuf::from("/home/me/box.glb")]);
        let keeper = Keeper::start(folder.path().to_owned(), Duration::ZERO).unwrap();
        keeper.keep_recent(&["/home/me/man.glb".into()]);
        drop(keeper);
        assert_eq!(recent_in(folder.path()), [PathBuf::from("/home/me/man.glb")]);
    }
}
