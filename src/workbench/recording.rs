//! Recording: while the switch *Record grabs* is on, a grab or the motion of fingers becomes keys in real time.

use super::Workbench;
use crate::document::{Edit, LONGEST_RECORDING, Recording};

impl Workbench {
    /// Runs once a frame, after the tools. Records the displayed pose while a hand holds the body or a
    /// joint, or poses fingers.
    pub(super) fn record_grab(&mut self) {
        if !self.playhead.record || !(self.grab.is_busy() || self.joint.is_busy() || self.fingers.is_busy()) {
            return;
        }
        let Some(recording) = &mut self.recording else {
            // The hand may already have moved the joint, so the recording begins with the pose before.
            let shown = std::mem::take(&mut self.playhead.shown);
            let pose = if shown { self.context.pose.clone() } else { self.keyed.clone() };
            let start = self.stand_at_frame();
            self.playhead.shown = shown;
            let rate = self.context.session.document().motion().rate();
            self.recording = Some(Recording::new(start, rate, &pose));
            return;
        };
        let was_full = recording.is_full();
        recording.add(self.hands.step, &self.context.pose);
        self.playhead.time = recording.time();
        if recording.is_full() && !was_full {
            self.context.notice = Some(format!("the recording ends after {LONGEST_RECORDING} s: let go"));
            self.limit();
        }
        self.timeline.follow(self.playhead);
    }

    /// Discards the recording in progress.
    pub(super) fn drop_recording(&mut self) {
        if let Some(recording) = self.recording.take() {
            self.playhead.time = recording.start();
            self.timeline.follow(self.playhead);
        }
    }

    /// Ends the recording after the release. Returns the edit that keys it and the time of its last key, seconds;
    /// `None` without a recording, or if nothing moved.
    pub(super) fn end_recording(&mut self) -> Option<(Edit, f64)> {
        let recording = self.recording.take()?;
        self.playhead.time = recording.start();
        self.timeline.follow(self.playhead);
        recording.keying(self.context.session.document())
    }

    /// Whether a grab is being recorded.
    pub fn is_recording(&self) -> bool {
        self.recording.is_some()
    }
}
