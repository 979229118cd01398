//! Syncs the journal to disk on a background thread, so that frames do not wait for the disk.

use super::Sink;
use std::fs::File;
use std::io::{Error, Result, Write};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

/// A record goes to the operating system at once, so it survives a crash of this program. A sync to disk follows
/// shortly after; from then on, the record also survives a power failure. Reports a failed sync at the next call to
/// sync.
pub(super) struct Background {
    file: File,
    wake: Option<Sender<()>>,
    failed: Arc<Mutex<Option<Error>>>,
    thread: Option<JoinHandle<()>>,
}

impl Background {
    pub(super) fn new(file: File) -> Result<Self> {
        let handle = file.try_clone()?;
        let (wake, asked) = channel::<()>();
        let failed = Arc::new(Mutex::new(None));
        let told = failed.clone();
        let thread = std::thread::Builder::new().name("journal".into()).spawn(move || {
            while asked.recv().is_ok() {
                // One sync covers all requests received so far, so drop the others.
                while asked.try_recv().is_ok() {}
                if let Err(error) = handle.sync_data() {
                    *told.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                }
            }
        })?;
        Ok(Self { file, wake: Some(wake), failed, thread: Some(thread) })
    }
}

impl Sink for Background {
    fn write_all(&mut self, bytes: &[u8]) -> Result<()> {
        Write::write_all(&mut self.file, bytes)
    }

    fn sync(&mut self) -> Result<()> {
        let failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner).take();
        let asked = self.wake.as_ref().is_some_and(|wake| wake.send(()).is_ok());
        match failed {
            Some(error) => Err(error),
            None if asked => Ok(()),
            None => self.file.sync_data(),
        }
    }

    fn truncate(&mut self, length: u64) -> Result<()> {
        self.file.set_len(length)
    }

    fn handle(&self) -> Result<File> {
        self.file.try_clone()
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        // Dropping the sender ends the thread after its last sync.
        drop(self.wake.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
