//! The note beside a journal about the last save of its document.

use crate::base::{Error, Result};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The last save of a journal's document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastSave {
    /// Absolute path of the project.
    pub project: PathBuf,
    /// Size of the journal at the time of the save, bytes. Operations after it are in no project.
    pub length: u64,
    /// Time of the last change of the project when the note was written.
    #[serde(default)]
    pub time: Option<SystemTime>,
}

impl LastSave {
    /// Reads the note beside a journal. Returns `None` if there is no readable note, or if the project no longer exists.
    pub fn of(journal: &Path) -> Option<Self> {
        let bytes = std::fs::read(beside(journal)).ok()?;
        serde_json::from_slice(&bytes).ok().filter(|save: &Self| save.project.is_file())
    }

    /// Writes the note beside a journal, after the project was saved.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, journal: &Path) -> Result<()> {
        let noted = Self { time: changed(&self.project), ..self.clone() };
        let json = serde_json::to_vec(&noted).map_err(|e| {
            Error::input(format!("the path of the project cannot be noted: {e}"), "rename it")
        })?;
        // A note that a crash cuts off counts as no note.
        let note = beside(journal);
        std::fs::write(&note, json).map_err(|e| Error::io(&note, e))
    }

    /// Whether nobody has changed the project after the save.
    pub fn is_current(&self) -> bool {
        self.time.is_some() && self.time == changed(&self.project)
    }

    /// Whether the journal has no operations after the save.
    pub fn is_whole(&self, journal: &Path) -> bool {
        std::fs::metadata(journal).is_ok_and(|m| m.len() == self.length)
    }
}

/// Deletes the note beside a journal, if there is one.
pub(super) fn forget(journal: &Path) {
    let _ = std::fs::remove_file(beside(journal));
}

fn changed(project: &Path) -> Option<SystemTime> {
    std::fs::metadata(project).and_then(|m| m.modified()).ok()
}

fn beside(journal: &Path) -> PathBuf {
    journal.with_extension("saved")
}
