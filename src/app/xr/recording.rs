//! What is kept of a headset's session: takes, and the document when nobody looks at it any more.

use super::app::HeadsetApp;
use crate::surface::Sculpt;
use crate::take::{Eye, Recorder, TakeStart};
use crate::workbench::Command;

impl HeadsetApp<'_> {
    /// Records the frame, as the tools got it and as the eyes saw it.
    pub fn record(&mut self, eyes: Option<[Eye; 2]>) {
        if let (Some(take), Some(_)) = (&mut self.take, &self.app_session.bench) {
            self.taken.input.clone_from(&self.input);
            self.taken.eyes = eyes.unwrap_or(self.taken.eyes);
            take.frame(&self.taken);
        }
    }

    /// The take begins with the first document, once it is known how large an eye's picture is, and goes on with the
    /// next ones.
    pub(super) fn start_take(&mut self) {
        let (Some(path), Some(model), Some(bench)) =
            (&self.options.record, &self.app_session.model, &self.app_session.bench)
        else {
            return;
        };
        let known = self.eye_size != [0; 2];
        let same = self.taking.as_ref().is_some_and(|m| std::sync::Arc::ptr_eq(m, model));
        if !known || same {
            return;
        }
        let start = TakeStart::new(model, bench.session(), bench.preferences(), self.eye_size);
        let recorded = match &mut self.take {
            Some(take) => take.opened(&start),
            None => Recorder::new(path, &start).map(|take| self.take = Some(take)),
        };
        self.taking = Some(model.clone());
        if let Err(error) = recorded {
            self.fail(&error);
        }
    }

    /// Runs a command, and records it.
    pub fn command(&mut self, command: Command) {
        let Some(bench) = &mut self.app_session.bench else { return };
        let recorded = self.take.as_mut().map_or(Ok(()), |take| take.command(&command));
        bench.run_command(command);
        if let Err(error) = recorded {
            self.fail(&error);
        }
    }

    /// Gives the workbench an edit that was made beside the frames, and records it.
    pub(super) fn receive(&mut self, shape: Sculpt) {
        let Some(bench) = &mut self.app_session.bench else { return };
        let recorded = self.take.as_mut().map_or(Ok(()), |take| take.shape(&shape));
        bench.receive(shape);
        if let Err(error) = recorded {
            self.fail(&error);
        }
    }

    /// What was being drawn is dropped.
    pub(super) fn interrupt(&mut self) {
        if let Some(bench) = &mut self.app_session.bench {
            bench.interrupt();
        }
        if let Some(take) = &mut self.take {
            take.interrupt();
        }
    }

    /// The pictures are not seen any more: what was being drawn is dropped, the document is saved.
    pub fn interrupted(&mut self) {
        self.interrupt();
        // Where nobody has chosen a place yet, the journal has it.
        if self.app_session.has_place() {
            self.app_session.keep();
        }
    }
}
