//! A take played back: the same workbench gets the same input, without headset or runtime.

use super::{TakeEnd, TakeEvent, TakeFrame, TakeReader, TakeStart, TornTake};
use crate::base::Result;
use crate::bind::BindOptions;
use crate::document::Session;
use crate::project::locate;
use crate::scene::Model;
use crate::workbench::Workbench;
use std::path::{Path, PathBuf};

/// A take being played back.
pub struct Replay {
    path: PathBuf,
    reader: TakeReader,
    model: Model,
    bench: Workbench,
    eye_size: [u32; 2],
    frame: TakeFrame,
    end: Option<TakeEnd>,
    loaded: bool,
}

impl Replay {
    /// Opens a take and the character it was made on, which is looked for where it was, then beside the take.
    ///
    /// # Errors
    /// As [`TakeReader::open`] and [`Model::load`]; a character that has changed since.
    pub fn open(path: &Path) -> Result<Self> {
        let reader = TakeReader::open(path)?;
        let start = reader.start().clone();
        let (model, session) = begin(path, &start)?;
        let mut bench = Workbench::new(session, model.bound.character.clone(), start.preferences);
        bench.keep_to(reader.rules());
        Ok(Self {
            path: path.to_owned(),
            reader,
            model,
            bench,
            eye_size: start.eye_size,
            frame: TakeFrame::default(),
            end: None,
            loaded: true,
        })
    }

    /// Plays up to the next frame and through it; false after the last one.
    ///
    /// # Errors
    /// A take whose records make no sense; another character that cannot be loaded.
    pub fn step(&mut self) -> Result<bool> {
        for event in self.reader.by_ref() {
            match event? {
                TakeEvent::Frame(frame) => {
                    self.frame = *frame;
                    self.bench.step(&self.frame.input);
                    return Ok(true);
                }
                TakeEvent::Command(command) => self.bench.run_command(command),
                TakeEvent::Shape(shape) => self.bench.receive(*shape),
                TakeEvent::Interrupt => self.bench.interrupt(),
                TakeEvent::Opened(start) => {
                    let (model, session) = begin(&self.path, &start)?;
                    self.bench.open(session, model.bound.character.clone());
                    (self.model, self.eye_size, self.loaded) = (model, start.eye_size, true);
                }
                TakeEvent::End(end) => self.end = Some(end),
            }
        }
        Ok(false)
    }

    /// The workbench after the last step.
    pub fn bench(&self) -> &Workbench {
        &self.bench
    }

    /// The character it stands on.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// Whether another character has come since this was asked last; true the first time.
    pub fn take_loaded(&mut self) -> bool {
        std::mem::take(&mut self.loaded)
    }

    /// The frame of the last step.
    pub fn frame(&self) -> &TakeFrame {
        &self.frame
    }

    /// How many there were so far.
    pub fn frames(&self) -> u64 {
        self.reader.frames()
    }

    /// Width and height of an eye's picture, pixels.
    pub fn eye_size(&self) -> [u32; 2] {
        self.eye_size
    }

    /// How the recorded session ended; none before the take's end, or where it has none.
    pub fn end(&self) -> Option<&TakeEnd> {
        self.end.as_ref()
    }

    /// Where the file breaks off.
    pub fn torn(&self) -> Option<&TornTake> {
        self.reader.torn()
    }
}

fn begin(take: &Path, start: &TakeStart) -> Result<(Model, Session<'static>)> {
    let model = Model::load(&locate(&start.asset, take), &BindOptions::default())?;
    model.is(&start.asset)?;
    let session = model.replay(&start.operations, take)?;
    Ok((model, session))
}

#[cfg(test)]
mod tests;
