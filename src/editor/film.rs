//! The workbench over time: what the playhead shows, and what becomes a key.

use super::playhead::{Timeline, length};
use super::workbench::PIN_REACH;
use super::{Tool, Workbench};
use crate::asset::Interpolation;
use crate::base::math::Vec3;
use crate::edit::{DopeSheet, Edit, Key, KeyEdit, Operation};

/// Keys of a gesture leave no joint further off, degrees.
const GESTURE_ERROR: f64 = 1.0;

impl Workbench {
    /// What a timeline shows.
    pub fn timeline(&self) -> &Timeline {
        &self.timeline
    }

    fn fresh_timeline(&self) -> Timeline {
        Timeline::new(self.playhead, self.desk.session.document(), &self.desk.character.skeleton)
    }

    /// The time that is shown, seconds; none while the pose being edited is.
    pub fn shown_time(&self) -> Option<f64> {
        self.playhead.shown.then_some(self.playhead.time)
    }

    pub(super) fn play(&mut self, on: bool) {
        self.cancel();
        let moves = self.desk.session.document().moves();
        if on && !moves {
            self.desk.notice = Some("nothing moves yet: key two poses at two times".into());
            return self.limit();
        }
        self.playhead.playing = on;
        if !on {
            let rate = self.desk.session.document().motion().rate();
            self.playhead.stand(self.playhead.time, rate);
        }
        self.show_moment();
    }

    pub(super) fn scrub(&mut self, time: f64) {
        self.cancel();
        let document = self.desk.session.document();
        let end = length(document, &self.desk.character.skeleton);
        let rate = document.motion().rate();
        self.playhead.stand(time.min(end), rate);
        self.show_moment();
    }

    /// Shows the motion at the playhead; before anything moves, the pose being edited.
    fn show_moment(&mut self) {
        self.playhead.shown &= self.desk.session.document().moves();
        self.show_time(self.shown_time());
        self.timeline.follow(self.playhead);
    }

    /// Keys the pose that is shown at the playhead.
    pub(super) fn set_key(&mut self) {
        let pose = self.desk.pose.clone();
        let rate = self.desk.session.document().motion().rate();
        self.playhead.stand(self.playhead.time, rate);
        self.key(Edit::SetKey(Key { time: self.playhead.time, pose }), false);
    }

    pub(super) fn delete_key(&mut self) {
        match self.fresh_timeline().column {
            Some(time) => self.key(Edit::RemoveKey(time), false),
            None => self.limit(),
        }
    }

    /// Moves the keys under the playhead, between those before and after, and the playhead with them.
    pub(super) fn move_key(&mut self, to: f64) {
        let timeline = self.fresh_timeline();
        let (Some(from), Some([least, most])) = (timeline.column, timeline.between()) else {
            return self.limit();
        };
        let rate = f64::from(timeline.rate);
        let to = f64::from(((to.clamp(least, most) * rate).round() / rate) as f32);
        if to == from || !to.is_finite() {
            return;
        }
        let keys = DopeSheet::keys_in(self.desk.session.document(), &[from]);
        // A drag is one step of undo.
        let continues = self.moved_key == Some((from, self.desk.session.history()));
        self.key(Edit::Keys(KeyEdit::Move { keys, seconds: to - from }), continues);
        self.playhead.stand(to, timeline.rate);
        self.moved_key = Some((to, self.desk.session.history()));
        self.show_moment();
    }

    pub(super) fn set_rate(&mut self, rate: u32) {
        self.key(Edit::Keys(KeyEdit::Rate(rate)), false);
    }

    /// How the keyed channels go from key to key, all of them.
    pub(super) fn set_interpolation(&mut self, interpolation: Interpolation) {
        let channels = self.desk.session.document().motion().channels();
        let targets = channels.iter().map(|c| c.target.clone()).collect();
        self.key(Edit::Keys(KeyEdit::Interpolation { targets, interpolation }), false);
    }

    /// Keys the newest offset stroke's motion as fast as it was drawn.
    pub(super) fn key_stroke(&mut self) {
        let document = self.desk.session.document();
        let newest = document.strokes().iter().rev().find(|l| l.offset.is_some()).map(|l| l.id);
        let Some(id) = newest else { return self.limit() };
        let skeleton = &self.desk.character.skeleton;
        match document.keying(skeleton, id, self.playhead.time, GESTURE_ERROR) {
            Ok((edit, _)) => {
                self.key(edit, false);
                self.playhead.shown = true;
                self.show_moment();
            }
            Err(error) => {
                self.desk.refuse(&error);
                self.limit();
            }
        }
    }

    /// An edit of the motion: what is shown stays the motion.
    fn key(&mut self, edit: Edit, continues: bool) {
        let before = self.playhead;
        self.cancel();
        let operation = if continues { Operation::Continue(edit) } else { Operation::Do(edit) };
        let deformer = self.desk.session.document().deformer().clone();
        if !self.desk.run(operation) {
            self.limit();
        }
        self.document_changed(&deformer);
        self.keyed = self.desk.session.posed();
        self.desk.edited = false;
        self.playhead = before;
        self.timeline = self.fresh_timeline();
        self.show_moment();
    }

    /// Once a frame, before the tools: time goes on, and a hand that is about to change what the motion shows gets it
    /// as the pose being edited.
    pub(super) fn run_film(&mut self) {
        if self.playhead.playing {
            let document = self.desk.session.document();
            let end = length(document, &self.desk.character.skeleton);
            self.playhead.advance(self.hands.step, end);
            self.show_moment();
        }
        if self.playhead.shown && self.is_reached_for() {
            self.take_to_table();
        }
    }

    /// A trigger of a tool that poses, or a squeeze next to the body.
    fn is_reached_for(&self) -> bool {
        let poses = self.preferences.tool != Tool::Skin;
        let near = |p: Vec3| {
            let reach = PIN_REACH * self.navigation.world_from_room().scale;
            self.desk.body.touch(&self.desk.character, &self.desk.rig, p, reach).is_some()
        };
        let tool = self.tool_hand();
        self.hands.hands.iter().enumerate().any(|(h, hand)| {
            let draws = h == tool && poses && hand.trigger.pressed;
            !hand.on_panel && (draws || (hand.squeeze.pressed && near(hand.palm.position)))
        })
    }

    /// Makes the motion's pose the one being edited.
    fn take_to_table(&mut self) {
        self.playhead.playing = false;
        self.playhead.shown = false;
        self.take_pose();
        self.keyed = self.desk.session.posed();
        self.timeline.follow(self.playhead);
        self.desk.edited = false;
    }

    /// Once a frame, after the tools: an edit ends the showing of the motion, and auto-key keys what it changed.
    pub(super) fn key_changes(&mut self) {
        if self.is_busy() || !std::mem::take(&mut self.desk.edited) {
            return;
        }
        let undone = std::mem::take(&mut self.undone);
        self.timeline = self.fresh_timeline();
        let posed = self.desk.session.posed();
        if posed == self.keyed {
            return self.timeline.follow(self.playhead);
        }
        let before = std::mem::replace(&mut self.keyed, posed);
        self.playhead.playing = false;
        if std::mem::take(&mut self.playhead.shown) {
            self.show_time(None);
        }
        if self.playhead.auto_key && !undone {
            let edit = KeyEdit::of_change(self.playhead.time, &before, &self.keyed);
            if let Some(edit) = edit {
                // With the edit that it keys, one step of undo.
                self.desk.run(Operation::Continue(Edit::Keys(edit)));
                self.timeline = self.fresh_timeline();
            }
        }
        self.timeline.follow(self.playhead);
        self.desk.edited = false;
    }
}
