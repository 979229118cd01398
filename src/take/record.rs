//! Records takes: the frame loop encodes each frame, and a separate thread writes to disk.

use super::{MAGIC, TakeEnd, TakeFrame, TakeStart, VERSION, checksum, codec, kind};
use crate::base::{Error, Result};
use crate::cage::Cage;
use crate::scene::DrawnBones;
use crate::surface::Sculpt;
use crate::workbench::Command;
use serde::Serialize;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;

/// Number of bytes per chunk for the writer thread: about half a second of frames.
const CHUNK: usize = 16 << 10;

/// A take in recording. A disk error ends the recording but not the session.
pub struct Recorder {
    path: PathBuf,
    buffer: Vec<u8>,
    chain: u64,
    frames: u64,
    writer: Option<Writer>,
}

/// The writer thread and the channel to it.
type Writer = (Sender<Vec<u8>>, JoinHandle<std::io::Result<()>>);

impl Recorder {
    /// Starts a take; replaces an existing file.
    ///
    /// # Errors
    /// [`Error::Io`] if the file cannot be created.
    pub fn new(path: &Path, start: &TakeStart) -> Result<Self> {
        let mut file = File::create(path).map_err(|e| Error::io(path, e))?;
        let (sender, chunks) = channel::<Vec<u8>>();
        let thread = std::thread::Builder::new().name("take".into()).spawn(move || {
            for chunk in chunks {
                file.write_all(&chunk)?;
            }
            file.sync_data()
        });
        let thread = thread.map_err(|e| Error::io(path, e))?;
        let mut recorder = Self {
            path: path.to_owned(),
            buffer: Vec::with_capacity(2 * CHUNK),
            chain: 0,
            frames: 0,
            writer: Some((sender, thread)),
        };
        recorder.buffer.extend(MAGIC);
        recorder.buffer.extend(VERSION.to_le_bytes());
        recorder.json(kind::START, start)?;
        recorder.send();
        Ok(recorder)
    }

    /// Records a frame. Call before the workbench processes it.
    pub fn frame(&mut self, frame: &TakeFrame) {
        self.frames += 1;
        let at = self.begin(kind::FRAME);
        codec::encode(frame, &mut self.buffer);
        self.end(at);
        if self.buffer.len() >= CHUNK {
            self.send();
        }
    }

    /// Records a command that a panel or a key sends to the workbench.
    ///
    /// # Errors
    /// If the command cannot be written as JSON: a path that is not Unicode.
    pub fn command(&mut self, command: &Command) -> Result<()> {
        self.json(kind::COMMAND, command)
    }

    /// Records a sculpt layer that the workbench receives.
    ///
    /// # Errors
    /// No error is expected, because JSON can represent all finite numbers.
    pub fn shape(&mut self, shape: &Sculpt) -> Result<()> {
        self.json(kind::SHAPE, shape)
    }

    /// Records the joints of drawn bones that the workbench receives.
    ///
    /// # Errors
    /// As [`Self::shape`].
    pub fn bones(&mut self, drawn: &DrawnBones) -> Result<()> {
        self.json(kind::BONES, drawn)
    }

    /// Records a cage that the workbench receives, with messages for the user.
    ///
    /// # Errors
    /// As [`Self::shape`].
    pub fn cage(&mut self, cage: &Cage, told: &[String]) -> Result<()> {
        self.json(kind::CAGE, &(cage, told))
    }

    /// Records that the workbench receives the coupling of the document's cage.
    pub fn coupled(&mut self) {
        let at = self.begin(kind::COUPLED);
        self.end(at);
    }

    /// Records that another file was opened.
    ///
    /// # Errors
    /// As [`Self::command`].
    pub fn opened(&mut self, start: &TakeStart) -> Result<()> {
        self.json(kind::OPENED, start)
    }

    /// Records that the workbench was interrupted.
    pub fn interrupt(&mut self) {
        let at = self.begin(kind::INTERRUPT);
        self.end(at);
    }

    /// Ends the take normally. `document` is the hash that a replay must reach.
    ///
    /// # Errors
    /// The first disk error since the start of the recording.
    pub fn finish(mut self, document: String) -> Result<()> {
        let end = TakeEnd { document, frames: self.frames };
        self.json(kind::END, &end)?;
        self.close().map_err(|e| Error::io(&self.path, e))
    }

    fn json(&mut self, kind: u8, value: &impl Serialize) -> Result<()> {
        let json = serde_json::to_vec(value).map_err(|e| {
            Error::input(format!("{}: cannot be written: {e}", self.path.display()), "use plain file names")
        })?;
        let at = self.begin(kind);
        self.buffer.extend(json);
        self.end(at);
        Ok(())
    }

    /// Reserves space for the length and writes the kind. Returns the offset of the payload.
    fn begin(&mut self, kind: u8) -> usize {
        self.buffer.extend([0; 4]);
        self.buffer.push(kind);
        self.buffer.len() - 1
    }

    fn end(&mut self, at: usize) {
        let length = (self.buffer.len() - at) as u32;
        self.buffer[at - 4..at].copy_from_slice(&length.to_le_bytes());
        self.chain = checksum(self.chain, &self.buffer[at..]);
        self.buffer.extend(self.chain.to_le_bytes());
    }

    /// Sends the buffer to the writer thread. If the thread ended after an error, the data is dropped;
    /// [`Self::finish`] returns that error.
    fn send(&mut self) {
        if let Some((sender, _)) = &self.writer {
            let full = std::mem::replace(&mut self.buffer, Vec::with_capacity(2 * CHUNK));
            let _ = sender.send(full);
        }
    }

    fn close(&mut self) -> std::io::Result<()> {
        self.send();
        let Some((sender, thread)) = self.writer.take() else { return Ok(()) };
        drop(sender);
        thread.join().unwrap_or_else(|_| Err(std::io::Error::other("the writing thread has ended")))
    }
}

impl Drop for Recorder {
    /// Writes the remaining records even if the session ends abnormally.
    fn drop(&mut self) {
        let _ = self.close();
    }
}
