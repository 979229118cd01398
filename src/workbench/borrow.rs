//! The displayed pose of a motion becomes the edited pose: by a command, or for an act that begins on the motion.
//!
//! An act borrows the displayed pose: the copy is a trial of the session. A cancelled act gives the pose back, and so does an
//! act that changes nothing. The edit of any other act records the copy in the same undo step.

use super::navigation::Rules;
use super::{Playhead, Workbench};
use crate::base::NodeId;
use crate::base::math::Trs;
use crate::document::Edit;
use crate::rig::Pose;

/// Which acts began on a displayed motion.
#[derive(Clone, Debug, Default)]
pub(super) struct Borrowing {
    /// Of an act in progress: the number of undo steps before it, the displayed time, seconds, and whether the motion
    /// played.
    current: Option<(usize, f64, bool)>,
    /// The number and the time of completed acts, in the order of their steps.
    past: Vec<(usize, f64)>,
    /// Number of undo steps when [`Workbench::key_changes`] last ran.
    steps: usize,
    /// Displayed time before the act that was undone last, seconds.
    undone: Option<f64>,
}

impl Workbench {
    /// Copies the displayed pose of the motion into the edited pose, as an undo step. The document stores the copy as an
    /// adjustment of the newest stroke or, without strokes, of the base pose. Does nothing while the edited pose is
    /// displayed.
    pub fn take_pose(&mut self) {
        let Some((edits, time)) = self.leave_with_pose() else { return };
        if !edits.is_empty() {
            self.change(Edit::Group(edits));
            self.note_left(Some(time));
            self.adopted = self.context.session.revision();
        }
        // The user has not changed the pose here, so auto-key must not key the copy.
        self.remember_keyed();
    }

    /// Like [`Self::take_pose`], for an act that is about to begin. [`Self::cancel`] gives the pose back and displays the
    /// motion again.
    pub(super) fn borrow_pose(&mut self) {
        if self.navigation.rules() < Rules::Twelfth {
            return self.take_pose();
        }
        let played = self.playhead.playing;
        let Some((edits, time)) = self.leave_with_pose() else { return };
        if !edits.is_empty() {
            self.context.try_out(Edit::Group(edits));
            self.document_changed();
        }
        self.borrowing.current = Some((self.context.session.history().0, time, played));
        self.remember_keyed();
    }

    /// Displays the edited pose in place of the motion. Returns the edits that give the edited pose the displayed shape, and
    /// the time that was displayed, seconds; `None` while the edited pose is displayed.
    fn leave_with_pose(&mut self) -> Option<(Vec<Edit>, f64)> {
        let time = self.shown_time()?;
        self.cancel();
        let wanted = self.context.pose.clone();
        self.find_states();
        let shapes = self.shapes_as_shown();
        self.leave_motion();
        Some((self.pose_as_shown(&wanted).into_iter().chain(shapes).collect(), time))
    }

    /// Reverts [`Self::borrow_pose`] and displays the motion again, if the act has left no edit. A motion that played plays
    /// on.
    pub(super) fn give_pose_back(&mut self) {
        let Some((steps, time, played)) = self.borrowing.current.take() else { return };
        if self.context.take_back() {
            self.document_changed();
        }
        if self.context.session.history().0 == steps {
            self.remember_keyed();
            self.show_motion_at(time);
            self.playhead.playing = played && self.navigation.rules() >= Rules::Thirteenth;
        }
    }

    /// Runs once a frame while no act is in progress, before changes are keyed. `changed` is whether the act that ended in
    /// this frame has left an edit or a recording.
    pub(super) fn end_borrowing(&mut self, changed: bool) {
        if !changed {
            self.give_pose_back();
        }
        let steps = self.context.session.history().0;
        let borrowed = self.borrowing.current.take();
        let before = std::mem::replace(&mut self.borrowing.steps, steps);
        if changed && !self.undone && steps > before {
            self.borrowing.past.retain(|(at, _)| *at < before);
            self.borrowing.past.extend(borrowed.map(|(at, time, _)| (at, time)));
        }
    }

    /// Remembers the time of the motion, seconds, that was displayed until the newest step changed the edited pose. Undo of
    /// this step displays the motion again.
    pub(super) fn note_left(&mut self, time: Option<f64>) {
        let before = self.context.session.history().0.saturating_sub(1);
        let now = self.navigation.rules() >= Rules::Twelfth;
        self.borrowing.past.extend(time.filter(|_| now).map(|time| (before, time)));
    }

    /// Remembers the motion that was displayed before the undone acts. `before` is the number of undo steps before the undo
    /// or redo.
    pub(super) fn note_undo(&mut self, before: usize) {
        let steps = self.context.session.history().0;
        let past = self.borrowing.past.iter().find(|(at, _)| *at == steps && steps < before);
        self.borrowing.undone = past.map(|(_, time)| *time);
    }

    /// Displays the motion that was displayed before the undone acts, if it was.
    pub(super) fn return_to_motion(&mut self) {
        if let Some(time) = self.borrowing.undone.take() {
            self.show_motion_at(time);
        }
    }

    fn show_motion_at(&mut self, time: f64) {
        self.playhead = Playhead { time, playing: false, shown: true, ..self.playhead };
        self.show_moment();
    }

    /// Returns the edits that give the edited pose, with cage and grips, the shape of a displayed pose.
    pub(super) fn pose_as_shown(&self, wanted: &Pose) -> Vec<Edit> {
        let session = &self.context.session;
        let (document, skeleton) = (session.document(), session.skeleton());
        let mut edits = Vec::new();
        let strokes = document.strokes();
        // The strokes act on the clips. A clip's pose that a stroke kept would act twice.
        let base = (self.navigation.rules() >= Rules::Eighth && strokes.iter().any(|l| l.enabled))
            .then(|| document.base_under_clips(skeleton, self.playhead.time))
            .flatten();
        let now = match base {
            Some(base) => {
                let locals = document.base_pose().local.iter().zip(&base.local).enumerate();
                let set =
                    |(i, (_, b)): (usize, (_, &Trs))| Edit::SetLocal { node: NodeId::from(i), local: *b };
                edits.extend(locals.filter(|(_, (a, b))| a != b).map(set));
                document.posed_from(skeleton, base)
            }
            None => session.posed(),
        };
        // A flat group, so that the history tells this copy from an edit that a copy precedes.
        match self.context.adjustment(strokes, &now, wanted) {
            Some(Edit::Group(all)) => edits.extend(all),
            other => edits.extend(other),
        }
        edits.extend(self.cage_as_shown(wanted));
        edits.extend(self.grips_as_shown(wanted));
        edits
    }

    /// Returns the edits that move the document's grips to their places in a displayed pose.
    fn grips_as_shown(&self, pose: &Pose) -> Vec<Edit> {
        let grips = self.context.session.document().grips().iter();
        let moved = grips.filter_map(|g| {
            let shown = pose.grips.iter().find(|s| s.id == g.id)?;
            let (translation, rotation) = (shown.translation, shown.rotation);
            let differs = (translation, rotation) != (g.translation, g.rotation);
            differs.then_some(Edit::MoveGrip { id: g.id, translation, rotation })
        });
        moved.collect()
    }
}
