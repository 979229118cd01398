//! Copies the workbench's state into the panels' state.

use super::state::{PanelState, Pin};
use crate::workbench::{Tool, Workbench};

impl PanelState {
    /// Copies the workbench's state. The front end sets control names, files, strain and `unsaved`. After this call,
    /// the front end may replace the message with its own message.
    pub fn follow(&mut self, bench: &Workbench) {
        if self.preferences != *bench.preferences() {
            self.preferences.clone_from(bench.preferences());
        }
        let session = bench.session();
        let document = session.document();
        (self.revision, self.selected) = (session.revision(), bench.selected());
        (self.pose, self.copied) = (bench.shown_pose().version, bench.has_copied_pose());
        let (done, all) = session.history();
        // The first step opens the character and cannot be undone.
        self.undo = done.saturating_sub(1);
        self.redo = all.saturating_sub(done);
        self.strokes = document.strokes().len() + document.marks().len();
        // With the measure, bone or grip tool, the remove button removes measures, bones or grips instead of strokes.
        if bench.preferences().tool == Tool::Measure {
            self.strokes = bench.measures().len();
        } else if bench.preferences().tool == Tool::Bone {
            self.strokes = document.bones().len();
        } else if bench.preferences().tool == Tool::Grip {
            self.strokes = document.grips().len();
        }
        if !self.timeline.is_like(bench.timeline()) {
            self.timeline.clone_from(bench.timeline());
        }
        let shape = bench.shape_state();
        if self.shape != shape {
            self.shape = shape;
        }
        (self.redraw, self.can_cancel) = (!document.strokes().is_empty(), bench.can_cancel());
        let touched = bench.touched_joint();
        let shown = self.pin.as_ref().map(|pin| (pin.joint.as_str(), pin.pinned));
        if shown != touched {
            self.pin = touched.map(|(joint, pinned)| Pin { joint: joint.to_owned(), pinned });
        }
        if self.deformer != document.deformer().method {
            self.deformer.clone_from(&document.deformer().method);
        }
        self.swing = bench.recipe().dynamics();
        self.contact = bench.recipe().volume.is_some_and(|v| v.contact > 0);
        self.coupled = bench.coupling().is_some();
        self.magnification = bench.magnification();
        self.moved = bench.has_last_view();
        self.tour = bench.tour();
        let drawn = bench.stopped_joints().or(bench.drawn_mark()).or(bench.taken_joints());
        if self.drawn.as_deref() != drawn {
            self.drawn = drawn.map(str::to_owned);
        }
        if self.message.as_ref() != bench.told() {
            self.message = bench.told().cloned();
        }
    }
}
