//! Replays takes: feeds the recorded input to a workbench, without headset or runtime.

use super::{TakeEnd, TakeEvent, TakeFrame, TakeReader, TakeStart, TornTake};
use crate::base::{Progress, Result};
use crate::bind::BindOptions;
use crate::document::Session;
use crate::project::locate;
use crate::scene::{Model, NewCage};
use crate::workbench::Workbench;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A take in replay.
pub struct Replay {
    path: PathBuf,
    reader: TakeReader,
    model: Arc<Model>,
    bench: Workbench,
    eye_size: [u32; 2],
    frame: TakeFrame,
    end: Option<TakeEnd>,
    loaded: bool,
}

impl Replay {
    /// Opens a take and its character. Searches for the character at the recorded path, then next to the take.
    ///
    /// # Errors
    /// As [`TakeReader::open`] and [`Model::load`]; if the character has changed since the recording.
    pub fn open(path: &Path) -> Result<Self> {
        let reader = TakeReader::open(path)?;
        let start = reader.start().clone();
        let (model, session) = begin(path, &start)?;
        let mut bench = Workbench::new(session, model.bound.character.clone(), start.preferences);
        bench.keep_to(reader.rules());
        bench.know_binding(model.bound.attachments.clone());
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

    /// Replays events up to and including the next frame. Returns false after the last frame. If the document's binding
    /// has changed, binds the character again.
    ///
    /// # Errors
    /// If a record is invalid, or another character cannot be loaded or bound.
    pub fn step(&mut self) -> Result<bool> {
        let more = self.advance()?;
        let document = self.bench.session().document();
        if document.binding() != self.model.binding() {
            self.model = self.model.bound_for(document)?;
            self.bench.know_binding(self.model.bound.attachments.clone());
            self.loaded = true;
        }
        Ok(more)
    }

    fn advance(&mut self) -> Result<bool> {
        for event in self.reader.by_ref() {
            match event? {
                TakeEvent::Frame(frame) => {
                    self.frame = *frame;
                    self.bench.step(&self.frame.input);
                    return Ok(true);
                }
                TakeEvent::Command(command) => self.bench.run_command(command),
                TakeEvent::Shape(shape) => self.bench.receive(*shape),
                TakeEvent::Bones(drawn) => self.bench.receive_bones(*drawn),
                TakeEvent::Cage(new) => {
                    let (cage, told) = *new;
                    let coupling = self.model.couple(&cage, &Progress::default())?;
                    self.bench.receive_cage(NewCage { cage, coupling, told });
                }
                TakeEvent::Coupled => {
                    if let Some(cage) = self.bench.session().document().cage().cloned() {
                        let coupling = self.model.couple(&cage, &Progress::default())?;
                        self.bench.know_coupling((cage.mesh, cage.coordinates), coupling);
                    }
                }
                TakeEvent::Interrupt => self.bench.interrupt(),
                TakeEvent::Opened(start) => {
                    let (model, session) = begin(&self.path, &start)?;
                    self.bench.open(session, model.bound.character.clone());
                    self.bench.know_binding(model.bound.attachments.clone());
                    (self.model, self.eye_size, self.loaded) = (model, start.eye_size, true);
                }
                TakeEvent::End(end) => self.end = Some(end),
            }
        }
        Ok(false)
    }

    /// The workbench in its state after the last step.
    pub fn bench(&self) -> &Workbench {
        &self.bench
    }

    /// The current character.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// Whether another character was loaded, or the character bound again, since the last call; true on the first call.
    pub fn take_loaded(&mut self) -> bool {
        std::mem::take(&mut self.loaded)
    }

    /// The frame of the last step.
    pub fn frame(&self) -> &TakeFrame {
        &self.frame
    }

    /// Number of frames replayed so far.
    pub fn frames(&self) -> u64 {
        self.reader.frames()
    }

    /// Width and height of the image per eye, pixels.
    pub fn eye_size(&self) -> [u32; 2] {
        self.eye_size
    }

    /// End record of the take; `None` before it is reached or if it is missing.
    pub fn end(&self) -> Option<&TakeEnd> {
        self.end.as_ref()
    }

    /// The damage that stopped the replay, if any.
    pub fn torn(&self) -> Option<&TornTake> {
        self.reader.torn()
    }
}

fn begin(take: &Path, start: &TakeStart) -> Result<(Arc<Model>, Session<'static>)> {
    let model = Arc::new(Model::load(&locate(&start.asset, take), &BindOptions::default())?);
    model.is(&start.asset)?;
    let session = model.replay(&start.operations, take)?;
    Ok((model.bound_for(session.document())?, session))
}

#[cfg(test)]
mod tests;
