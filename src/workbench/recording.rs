//! Recording: while the switch *Record grabs* is on, what hands do to the body, to a grip or to the cage becomes keys in
//! real time. If the body shows the motion's pose, the motion continues during the recording, so a hand can change a limb
//! of a figure that walks. While a hand moves the cage, the motion stands still: the map from the displayed cage to the rest cage belongs
//! to one pose.

use super::Workbench;
use super::navigation::Rules;
use super::tools::EditContext;
use crate::base::NodeId;
use crate::document::{Edit, LONGEST_RECORDING, Recording};
use crate::rig::Pose;

/// Largest difference between the body's pose and the motion's for which the motion plays during a recording: of
/// rotations, radians; of translations and scales, relative to the character's size and to 1.
const SAME: f32 = 1e-3;

impl Workbench {
    /// Runs once a frame, before the tools. While a recording is in progress on a motion, the motion plays, and what the
    /// hands do adds to it.
    pub(super) fn play_beneath(&mut self) {
        let Some(recording) = &self.recording else { return };
        let step = if recording.is_full() { 0.0 } else { self.hands.step };
        let time = recording.time() + step;
        let EditContext { sampler, session, character, beneath, .. } = &mut self.context;
        let Some(beneath) = beneath else { return };
        beneath.copy_from(sampler.sample(session.document(), &character.skeleton, time));
        self.joint.ride(&mut self.context);
        self.fingers.ride(&mut self.context);
        self.grip.ride(&mut self.context);
    }

    /// Runs once a frame, after the tools. Records the displayed pose while a hand holds the body, a joint, a grip or the
    /// cage, or poses fingers.
    pub(super) fn record_grab(&mut self) {
        if !self.playhead.record || !self.performs() {
            return;
        }
        let Some(recording) = &mut self.recording else {
            return self.begin_recording();
        };
        let was_full = recording.is_full();
        recording.add(self.hands.step, &self.context.pose, self.context.beneath.as_ref());
        self.playhead.time = recording.time();
        if recording.is_full() && !was_full {
            self.context.notice =
                Some(format!("the recording ends after {LONGEST_RECORDING} s: let go").into());
            self.limit();
        }
        self.timeline.follow(self.playhead);
    }

    /// Whether hands do what a recording keys.
    fn performs(&self) -> bool {
        let skin = self.navigation.rules() >= Rules::Sixth
            && (self.grip.is_holding() || !self.cage.held_from().is_empty());
        skin || self.grab.is_busy() || self.joint.is_busy() || self.fingers.is_busy()
    }

    fn begin_recording(&mut self) {
        // The hand may already have moved the joint, so the recording begins with the pose before.
        let shown = std::mem::take(&mut self.playhead.shown);
        let mut pose = if shown { self.context.pose.clone() } else { self.keyed.clone() };
        let holds_cage = !self.cage.held_from().is_empty();
        let plays = self.navigation.rules() >= Rules::Fifth && !holds_cage && self.is_on_motion(&pose);
        let start = self.stand_at_frame();
        self.playhead.shown = shown;
        if holds_cage {
            // The cage tool keys a shape at the displayed time, which the recording's first key must replace.
            self.context.time = self.context.time.map(|_| start);
        }
        if plays {
            let EditContext { sampler, session, character, beneath, .. } = &mut self.context;
            pose.copy_from(sampler.sample(session.document(), &character.skeleton, start));
            *beneath = Some(pose.clone());
        }
        self.grip.begin(&mut pose);
        let joins = self.navigation.rules() >= Rules::Eighth;
        self.context.joins = joins && self.adopted == self.context.session.revision();
        let rate = self.context.session.document().motion().rate();
        self.recording = Some(Recording::new(start, rate, &pose, self.cage.held_from()));
    }

    /// Whether the motion has this pose at the playhead.
    fn is_on_motion(&mut self, pose: &Pose) -> bool {
        let size = self.context.character.control.aabb.diagonal();
        let EditContext { sampler, session, character, .. } = &mut self.context;
        let document = session.document();
        if !document.moves() {
            return false;
        }
        sampler.forget();
        let motion = sampler.sample(document, &character.skeleton, self.playhead.time);
        motion.local.len() == pose.local.len()
            && motion.local.iter().zip(&pose.local).all(|(a, b)| {
                a.rotation().angle_between(b.rotation()) < SAME
                    && a.translation().distance(b.translation()) < SAME * size
                    && a.scale().distance(b.scale()) < SAME
            })
            && motion.grips.len() == pose.grips.len()
            && motion.grips.iter().zip(&pose.grips).all(|(a, b)| {
                a.rotation().angle_between(b.rotation()) < SAME
                    && a.translation().distance(b.translation()) < SAME * size
            })
    }

    /// Time of the motion that plays during a recording, seconds.
    pub(super) fn time_beneath(&self) -> Option<f64> {
        self.context.beneath.as_ref().and(self.recording.as_ref()).map(Recording::time)
    }

    /// Discards the recording in progress.
    pub(super) fn drop_recording(&mut self) {
        self.context.beneath = None;
        self.context.joins = false;
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
        let session = &self.context.session;
        let around = (self.navigation.rules() >= Rules::Eighth).then(|| &**session.skeleton());
        let keying = recording.keying(session.document(), &self.joints_above_pins(), around);
        if self.context.beneath.take().is_some() && keying.is_none() {
            self.context.show_document();
        }
        keying
    }

    /// The pinned joints and all joints above them.
    fn joints_above_pins(&self) -> Vec<NodeId> {
        if self.navigation.rules() < Rules::Fifth {
            return Vec::new();
        }
        let nodes = &self.context.character.skeleton.nodes;
        let pins = self.context.session.document().pins().iter();
        let parent = |node: &NodeId| nodes.get(node.index())?.parent;
        pins.flat_map(|pin| std::iter::successors(Some(*pin), parent)).collect()
    }

    /// Whether a grab is being recorded.
    pub fn is_recording(&self) -> bool {
        self.recording.is_some()
    }
}
