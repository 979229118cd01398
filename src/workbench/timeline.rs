//! Time in the workbench: the pose at the playhead, and how edits become keys.

use super::navigation::Rules;
use super::step::PIN_REACH;
use super::{Notice, Timeline, Tool, Workbench};
use crate::asset::{Interpolation, Property};
use crate::base::math::Vec3;
use crate::deform::sculpt::SculptState;
use crate::document::{DopeSheet, Edit, Key, KeyEdit, KeyValue, Operation, Target};
use crate::rig::Pose;

/// Maximum joint error of the keys fitted to a gesture, degrees.
const GESTURE_ERROR: f64 = 1.0;

impl Workbench {
    /// State of the timeline panel.
    pub fn timeline(&self) -> &Timeline {
        &self.timeline
    }

    /// Displayed time of the motion, seconds; `None` while the edited pose is displayed.
    pub fn shown_time(&self) -> Option<f64> {
        self.playhead.shown.then_some(self.playhead.time)
    }

    /// Stops the motion and displays the edited pose.
    pub fn leave_motion(&mut self) {
        self.cancel();
        self.playhead.playing = false;
        self.playhead.shown = false;
        self.show_moment();
    }

    /// Marks the current document state as keyed. Returns the previously marked pose and sculpt states.
    pub(super) fn remember_keyed(&mut self) -> (Pose, Vec<SculptState>) {
        self.keyed_at = self.context.session.revision();
        let document = self.context.session.document();
        let states = std::mem::replace(&mut self.keyed_states, document.sculpt_states(0.0));
        (std::mem::replace(&mut self.keyed, self.context.session.posed()), states)
    }

    /// Rebuilds the timeline after the document's keys may have changed.
    pub(super) fn refresh_timeline(&mut self) {
        self.live.learn(self.context.session.document());
        self.timeline =
            Timeline::new(self.playhead, self.context.session.document(), &self.context.character.skeleton);
    }

    pub(super) fn play(&mut self, on: bool) {
        self.cancel();
        let moves = self.context.session.document().moves();
        if on && !moves {
            self.context.notice = Some("nothing moves yet: key two poses at two times".into());
            return self.limit();
        }
        self.playhead.playing = on;
        let [start, end] = self.playhead.bounds(self.timeline.sheet.duration);
        if on && (self.playhead.time >= end || self.playhead.time < start) {
            self.playhead.time = start;
        }
        if !on {
            let rate = self.context.session.document().motion().rate();
            self.playhead.stand(self.playhead.time, rate);
        }
        self.show_moment();
    }

    pub(super) fn scrub(&mut self, time: f64) {
        self.cancel();
        let rate = self.context.session.document().motion().rate();
        self.playhead.stand(time, rate);
        // Snaps to keys and to the motion's end as well, because they may lie between two frames.
        let sheet = &self.timeline.sheet;
        if time == sheet.duration || sheet.columns.contains(&time) {
            self.playhead.time = time;
        }
        self.show_moment();
    }

    /// Displays the motion at the playhead, or the edited pose if the document has no motion.
    pub(super) fn show_moment(&mut self) {
        self.playhead.shown &= self.context.session.document().moves();
        let time = self.shown_time();
        // A held body part keeps its pose until release.
        if time != self.context.time && !self.is_busy() {
            self.context.time = time;
            self.context.show_moment();
        }
        self.find_states();
        self.timeline.follow(self.playhead);
    }

    /// Keys the displayed pose at the playhead.
    pub(super) fn set_key(&mut self) {
        let pose = self.context.pose.clone();
        let time = self.stand_at_frame();
        let replaces = self.timeline.sheet.columns.contains(&time);
        self.find_states();
        let shapes = self.shape_keys(time).map(Edit::Keys);
        let grips = Target::all_of_pose(&pose).filter(|t| t.grip().is_some());
        let value = |target: Target| {
            let value = target.of_pose(&pose)?.to_vec();
            Some(KeyValue { target, value })
        };
        let keys: Vec<KeyValue> = grips.filter_map(value).collect();
        let grips = (!keys.is_empty()).then_some(Edit::Keys(KeyEdit::Insert { time, keys }));
        let key = Edit::SetKey(Key { time, pose: pose.without_rest() });
        let edits: Vec<Edit> = std::iter::once(key).chain(grips).chain(shapes).collect();
        self.key(Edit::Group(edits), false);
        if replaces && self.context.notice.is_none() {
            self.context.notice = Some(Notice::fact(format!("Key at {time:.2} s replaced")));
        }
    }

    /// Keys the displayed transform of the selected joint at the playhead.
    pub(super) fn set_joint_key(&mut self) {
        let Some(node) = self.selected() else {
            self.context.notice = Some("no joint is selected: select the joint to key first".into());
            return self.limit();
        };
        let time = self.stand_at_frame();
        let (skeleton, pose) = (&self.context.character.skeleton, &self.context.pose);
        let (rest, name) = (Pose::rest(skeleton), skeleton.nodes[node.index()].name.clone());
        let channels = self.context.session.document().motion().channels();
        let keys =
            [Property::Translation, Property::Rotation, Property::Scale].into_iter().filter_map(|property| {
                let target = Target::node(node, property);
                let value = target.of_pose(pose)?.to_vec();
                let keyed = property == Property::Rotation || channels.iter().any(|c| c.target == target);
                (keyed || target.of_pose(&rest) != Some(&*value)).then_some(KeyValue { target, value })
            });
        let keys = keys.collect();
        self.key(Edit::Keys(KeyEdit::Insert { time, keys }), false);
        if self.context.notice.is_none() {
            self.context.notice = Some(Notice::fact(format!("Keyed {name} at {time:.2} s")));
        }
    }

    /// Stops the playhead at the nearest frame; a playhead at a key stays there. Returns the time, seconds.
    pub(super) fn stand_at_frame(&mut self) -> f64 {
        let exact = self.playhead.time;
        let at_key = self.timeline.sheet.columns.contains(&exact);
        self.playhead.stand(exact, self.context.session.document().motion().rate());
        if at_key {
            self.playhead.time = exact;
        }
        self.playhead.time
    }

    pub(super) fn delete_key(&mut self) {
        match self.timeline.column {
            Some(time) => self.key(Edit::RemoveKey(time), false),
            None => {
                self.context.notice = Some("there is no key at this time: go to one first".into());
                self.limit();
            }
        }
    }

    /// Moves the keys under the playhead, between the neighbouring keys, and moves the playhead with them.
    pub(super) fn move_key(&mut self, to: f64) {
        let (Some(from), Some([least, most])) = (self.timeline.column, self.timeline.between()) else {
            self.context.notice = Some("there is no key at this time that can move: go to one first".into());
            return self.limit();
        };
        let frames = self.timeline.sheet.rate;
        let rate = f64::from(frames);
        let to = f64::from(((to.clamp(least, most) * rate).round() / rate) as f32);
        if to == from || !to.is_finite() {
            return;
        }
        let keys = DopeSheet::keys_in(self.context.session.document(), &[from]);
        // A drag is a single undo step.
        let continues = self.moved_key == Some((from, self.context.session.history()));
        self.key(Edit::Keys(KeyEdit::Move { keys, seconds: to - from }), continues);
        self.playhead.stand(to, frames);
        self.moved_key = Some((to, self.context.session.history()));
        self.show_moment();
    }

    /// Sets in point and out point of playback, seconds.
    pub(super) fn set_range(&mut self, range: Option<[f64; 2]>) {
        self.playhead.set_range(range, self.timeline.sheet.rate);
        self.timeline.follow(self.playhead);
    }

    pub(super) fn set_rate(&mut self, rate: u32) {
        self.key(Edit::Keys(KeyEdit::Rate(rate)), false);
    }

    /// Sets the interpolation of all keyed channels.
    pub(super) fn set_interpolation(&mut self, interpolation: Interpolation) {
        let channels = self.context.session.document().motion().channels();
        let targets = channels.iter().map(|c| c.target.clone()).collect();
        self.key(Edit::Keys(KeyEdit::Interpolation { targets, interpolation }), false);
    }

    /// Keys the motion of the newest offset stroke at the speed of drawing.
    pub(super) fn key_stroke(&mut self) {
        let document = self.context.session.document();
        let newest = document.strokes().iter().rev().find(|l| l.offset.is_some()).map(|l| l.id);
        let Some(id) = newest else {
            self.context.notice =
                Some("there is no stroke to key: draw a baseline, then its offset stroke".into());
            return self.limit();
        };
        let skeleton = &self.context.character.skeleton;
        match document.keying(skeleton, id, self.playhead.time, GESTURE_ERROR) {
            Ok((edit, _)) => {
                self.key(edit, false);
                self.playhead.shown = true;
                self.show_moment();
            }
            Err(error) => {
                self.context.refuse(&error);
                self.limit();
            }
        }
    }

    /// Runs an edit of the motion and keeps the motion on display.
    pub(super) fn key(&mut self, edit: Edit, continues: bool) {
        let before = self.playhead;
        self.cancel();
        let operation = if continues { Operation::Continue(edit) } else { Operation::Do(edit) };
        if !self.context.run(operation) {
            self.limit();
        }
        self.document_changed();
        self.remember_keyed();
        self.playhead = before;
        self.show_moment();
    }

    /// Runs once a frame, before the tools. Advances the playhead. If a hand is about to change the displayed motion,
    /// borrows the displayed pose first.
    pub(super) fn run_timeline(&mut self) {
        if self.playhead.playing && !self.is_busy() {
            let (duration, loops) = (self.timeline.sheet.duration, self.preferences.loops);
            self.playhead.advance(self.hands.step, duration, loops);
            self.show_moment();
        }
        if self.playhead.shown && !self.path.is_busy() && self.is_reached_for() {
            let records = self.playhead.record && self.navigation.rules() >= Rules::Sixth;
            let plays_on = self.playhead.playing && records;
            self.borrow_pose();
            self.plays_on = plays_on;
        }
    }

    /// Whether a hand is about to change the pose: the trigger of a posing tool was pressed, or a squeeze began near
    /// the body.
    fn is_reached_for(&self) -> bool {
        let poses = self.preferences.tool.poses();
        let near = |p: Vec3| {
            let reach = PIN_REACH * self.navigation.world_from_room().scale;
            self.context.body.touch(&self.context.character, &self.context.rig, p, reach).is_some()
        };
        let tool = self.tool_hand();
        let reaches = |tip: Vec3| match self.preferences.tool {
            // In a window, the gizmo moves the joint.
            Tool::Joint => !self.windowed,
            Tool::Grab => self.navigation.rules() < Rules::Eighth || near(tip),
            _ => true,
        };
        self.hands.hands.iter().enumerate().any(|(h, hand)| {
            let draws = h == tool && poses && hand.trigger.pressed && reaches(hand.tip.position);
            !hand.on_panel && (draws || (hand.squeeze.pressed && near(hand.palm.position)))
        })
    }

    /// Runs once a frame, after the tools. Displays the edited pose after a change. A recorded grab becomes keys; auto-key
    /// keys any other change.
    pub(super) fn key_changes(&mut self) {
        if self.is_busy() {
            return;
        }
        let recorded = self.end_recording();
        let plays_on = std::mem::take(&mut self.plays_on);
        let changed = self.keyed_at != self.context.session.revision();
        self.end_borrowing(changed || recorded.is_some());
        if changed {
            self.key_change(recorded.is_none());
        }
        if let Some((edit, end)) = recorded {
            // The grab and its keys form a single undo step.
            let joins = changed || self.context.joins;
            self.key(edit, joins);
            (self.playhead.time, self.playhead.shown, self.playhead.playing) = (end, true, plays_on);
            self.show_moment();
        }
        self.context.joins = false;
    }

    /// Auto-key keys a change, if `may_key`. Displays the edited pose, unless the displayed motion shows the change.
    fn key_change(&mut self, may_key: bool) {
        let undone = std::mem::take(&mut self.undone);
        self.refresh_timeline();
        let (before, shapes) = self.remember_keyed();
        if before == self.keyed && shapes == self.keyed_states {
            if undone {
                self.return_to_motion();
            }
            return;
        }
        let keys = self.playhead.auto_key && may_key && !undone;
        let (rules, shown) = (self.navigation.rules(), self.shown_time().filter(|_| !undone));
        let reshapes = before.rest != self.keyed.rest;
        let poses = if rules < Rules::Twelfth {
            before != self.keyed
        } else {
            before.differs_beyond_rest(&self.keyed)
        };
        let hidden = || {
            self.hides_changes(&shapes)
                || (reshapes && self.context.session.document().cage_channel().is_some())
        };
        if poses || rules < Rules::Fifth {
            self.leave_motion();
            if undone {
                self.return_to_motion();
            }
            self.note_left(shown);
        } else if self.playhead.shown && !keys && hidden() {
            // The body stays as it is: its displayed pose becomes the edited one, in the same undo step.
            let mut wanted = self.context.pose.clone();
            if reshapes {
                wanted.rest.clone_from(&self.keyed.rest);
            }
            self.leave_motion();
            self.note_left(shown);
            let edits = self.pose_as_shown(&wanted);
            if !edits.is_empty() {
                self.context.run(Operation::Continue(Edit::Group(edits)));
                self.remember_keyed();
            }
        }
        if keys {
            let time = self.playhead.time;
            let pose = KeyEdit::of_change(time, &before, &self.keyed);
            for edit in pose.into_iter().chain(self.shape_changes(time, &shapes)) {
                // The change and its key form a single undo step.
                self.context.run(Operation::Continue(Edit::Keys(edit)));
                self.refresh_timeline();
            }
        }
        if self.playhead.shown {
            self.show_moment();
        }
        self.keyed_at = self.context.session.revision();
    }
}
