//! Records takes while the editor runs in the headset, and saves them when the session is interrupted.

use super::app::HeadsetApp;
use crate::cage::{Cage, Coupling};
use crate::scene::{DrawnBones, NewCage};
use crate::surface::Sculpt;
use crate::take::{Eye, Recorder, TakeStart};
use crate::workbench::Command;
use std::sync::Arc;

impl HeadsetApp<'_> {
    /// Records a frame in the take: the tools' input and the eyes' poses.
    pub fn record(&mut self, eyes: Option<[Eye; 2]>) {
        if let (Some(take), Some(_)) = (&mut self.take, &self.app_session.bench) {
            self.taken.input.clone_from(&self.input);
            self.taken.eyes = eyes.unwrap_or(self.taken.eyes);
            take.frame(&self.taken);
        }
    }

    /// Starts the take as soon as a document is open and the eye image size is known. Documents that the user opens
    /// later are recorded in the same take.
    pub(super) fn start_take(&mut self) {
        let (Some(path), Some(model), Some(bench)) =
            (&self.options.record, &self.app_session.model, &self.app_session.bench)
        else {
            return;
        };
        let known = self.eye_size != [0; 2];
        let same = self.taking.as_ref().is_some_and(|m| Arc::ptr_eq(m, model));
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

    /// Runs a command and records it in the take. During a drag on a panel, undo, redo and cancel end the drag instead.
    pub fn command(&mut self, command: Command) {
        let Some(bench) = &mut self.app_session.bench else { return };
        let Some(command) = self.panels.instead(command, bench) else { return };
        let recorded = self.take.as_mut().map_or(Ok(()), |take| take.command(&command));
        bench.run_command(command);
        if let Err(error) = recorded {
            self.fail(&error);
        }
    }

    /// Adds a sculpt layer from a background job to the workbench and records it in the take.
    pub(super) fn receive(&mut self, shape: Sculpt) {
        let Some(bench) = &mut self.app_session.bench else { return };
        let recorded = self.take.as_mut().map_or(Ok(()), |take| take.shape(&shape));
        bench.receive(shape);
        if let Err(error) = recorded {
            self.fail(&error);
        }
    }

    /// Adds drawn bones from a background job to the workbench and records them in the take.
    pub(super) fn receive_bones(&mut self, drawn: DrawnBones) {
        let Some(bench) = &mut self.app_session.bench else { return };
        let recorded = self.take.as_mut().map_or(Ok(()), |take| take.bones(&drawn));
        bench.receive_bones(drawn);
        if let Err(error) = recorded {
            self.fail(&error);
        }
    }

    /// Adds a cage from a background job to the workbench and records it in the take.
    pub(super) fn receive_cage(&mut self, new: NewCage) {
        let Some(bench) = &mut self.app_session.bench else { return };
        let recorded = self.take.as_mut().map_or(Ok(()), |take| take.cage(&new.cage, &new.told));
        bench.receive_cage(new);
        if let Err(error) = recorded {
            self.fail(&error);
        }
    }

    /// Passes the coupling of a cage to the workbench and records the event in the take.
    pub(super) fn know_coupling(&mut self, cage: Cage, coupling: Arc<Coupling>) {
        let Some(bench) = &mut self.app_session.bench else { return };
        bench.know_coupling((cage.mesh, cage.coordinates), coupling);
        if let Some(take) = &mut self.take {
            take.coupled();
        }
    }

    /// Cancels the current stroke.
    pub(super) fn interrupt(&mut self) {
        if let Some(bench) = &mut self.app_session.bench {
            bench.interrupt();
        }
        if let Some(take) = &mut self.take {
            take.interrupt();
        }
    }

    /// Handles images that are no longer visible to the user: cancels the current stroke and saves the document.
    pub fn interrupted(&mut self) {
        self.interrupt();
        // If the user has not chosen a path yet, the journal holds the document.
        if self.app_session.has_place() {
            self.app_session.keep();
        }
    }
}
