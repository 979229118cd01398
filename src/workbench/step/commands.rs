//! Methods that front ends call between steps: for commands, for edits by panels, and for joints that a gizmo holds.

use super::travel::Jump;
use crate::base::math::{DQuat, DVec3};
use crate::base::{NodeId, SculptId, Version};
use crate::bind::{Attachments, Character};
use crate::deform::{Geometric, fast};
use crate::document::{Edit, Operation};
use crate::geom::CrossingSegment;
use crate::scene::{
    CONTACT, CageSource, DAMPINGS, FactorSource, Measurement, Reading, SWINGS, SkinColors, recipe,
};
use crate::workbench::navigation::{Rules, is_extreme};
use crate::workbench::tools::{is_bare, newest_mark, without_newest};
use crate::workbench::{Command, Haptic, MarkBy, Notice, Request, Tool, Workbench};
use std::path::Path;
use std::sync::Arc;

/// Whether a file is an image by its name.
fn is_image(path: &Path) -> bool {
    let ending = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
    ["png", "jpg", "jpeg", "webp"].iter().any(|e| ending.eq_ignore_ascii_case(e))
}

impl Workbench {
    /// Runs a command of a panel, key or button.
    pub fn run_command(&mut self, command: Command) {
        let p = &mut self.preferences;
        match command {
            Command::Undo => self.undo(Operation::Undo),
            Command::Redo => self.undo(Operation::Redo),
            Command::Cancel => self.cancel_first(),
            Command::Change(edit, continues) if p.mirror => {
                let edit = self.grip.with_partner(&self.context, *edit);
                self.apply(edit, continues);
            }
            Command::Change(edit, continues) => {
                let clips = |bench: &Self| bench.context.session.document().motion().clips().len();
                let before = clips(self);
                self.apply(*edit, continues);
                // A clip that the user adds shows at once.
                if clips(self) > before && self.navigation.rules() >= Rules::Ninth {
                    self.playhead.shown = true;
                    self.show_moment();
                }
            }
            Command::Jump(step) => self.jump(step),
            Command::Select(node) => self.select(node),
            Command::SelectParent => {
                let nodes = &self.context.character.skeleton.nodes;
                let above = self.selected().and_then(|node| nodes[node.index()].parent);
                self.select_else(above.filter(|n| nodes[n.index()].joint.is_some()), "no joint is above it");
            }
            Command::SelectPartner => {
                let mirror = self.context.body.mirror.as_ref();
                let partner = self.selected().and_then(|node| mirror?.partner(node).filter(|p| *p != node));
                self.select_else(partner, "it has no partner on the other side");
            }
            Command::OtherSide(id) => self.add_other_side(id),
            Command::Place(..)
            | Command::CopyPose
            | Command::PastePose(_)
            | Command::MirrorPose
            | Command::ResetPose(_) => self.run_transform_command(&command),
            Command::Tool(tool) if tool != p.tool => {
                p.tool = tool;
                self.cancel();
                self.tell_unmirrored();
            }
            Command::Tool(_) => {}
            Command::Mirror(on) => {
                p.mirror = on;
                let body = &self.context.body;
                if on && body.sides.is_none() {
                    self.context.notice = Some("this body has no two sides: mirror does nothing".into());
                } else if on && body.mirror.is_none() && !is_bare(&self.context) {
                    let what = "the joints have no two sides: mirror works on grips and cages only";
                    self.context.notice = Some(what.into());
                }
                self.tell_unmirrored();
            }
            Command::MarkBy(by) => {
                p.marks = by;
                p.tool = Tool::Skin;
                self.cancel();
                self.skin.close();
            }
            Command::LoadFactors(source) => self.requests.push(Request::Factors(source)),
            Command::ShapeOnBone => self.add_shape_on_bone(),
            Command::RedrawOffset if p.tool == Tool::Skin && p.marks == MarkBy::Offset => {
                self.cancel();
                let mark = self.shape().and_then(|s| s.mark);
                if !self.skin.redraw(&self.context, mark) {
                    self.context.notice = Some("there is no mark: draw one on the skin first".into());
                    self.limit();
                }
            }
            Command::RedrawOffset => {
                p.tool = Tool::Line;
                self.cancel();
                if !self.line.redraw(&self.context) {
                    self.context.notice = Some("there is no stroke to draw again: draw a line first".into());
                    self.limit();
                }
            }
            Command::Fingers(on) => self.set_fingers(on),
            Command::RemoveStroke => {
                let mark = newest_mark(&self.context).map(Edit::RemoveMark);
                let stroke = self.line.removal(&self.context);
                let drawn = self.context.session.document().sculpts().iter().rev().find(|s| s.mark.is_none());
                let edit = match p.tool {
                    Tool::Measure if self.measure.remove_newest() => return,
                    Tool::Measure => None,
                    Tool::Skin => mark.or(stroke),
                    Tool::Bone => without_newest(&self.context),
                    Tool::Grip => self.grip.removal(&self.context, p.mirror),
                    Tool::Silhouette => drawn.map(|s| Edit::RemoveSculpt(s.id)),
                    _ => stroke.or(mark),
                };
                match edit {
                    Some(edit) => self.change(edit),
                    None => {
                        self.context.notice = Some("there is nothing to remove with this tool".into());
                        self.limit();
                    }
                }
            }
            Command::Measure(by) => {
                p.measure = by;
                p.tool = Tool::Measure;
                self.cancel();
            }
            Command::TogglePin => self.toggle_pin(),
            Command::Rig(true) if self.context.session.document().bones().is_empty() => {
                self.context.notice =
                    Some("there are no bones: draw them in the mesh with the bone tool first".into());
                self.limit();
            }
            Command::Rig(on) => self.requests.push(Request::Rig(on)),
            Command::Weigh(method) => {
                // The document must not have the trial of an act.
                self.cancel();
                self.requests.push(Request::Weigh(method));
            }
            Command::MakeCage(_)
            | Command::RemoveCage
            | Command::CageSet(_)
            | Command::CageRest(_)
            | Command::KeyCage
            | Command::ResetCage
            | Command::ExportCage => self.run_cage_command(&command),
            Command::GripHold => {
                self.cancel();
                let mirror = self.preferences.mirror;
                if !self.grip.switch_hold(&mut self.context, None, mirror) {
                    self.limit();
                }
                self.document_changed();
            }
            Command::Morph { .. } | Command::ResetMorphs(_) | Command::KeyMorphs(_) => {
                self.run_morph_command(&command);
            }
            Command::Deformer(method) => {
                let settings = self.context.session.document().deformer().switched(&method);
                match recipe(&settings) {
                    Ok(_) => self.change(Edit::SetDeformer(settings)),
                    Err(error) => self.context.refuse(&error),
                }
            }
            Command::Swing(value) => self.set_of_dynamics("dynamics", value, SWINGS, command.kind()),
            Command::Damping(value) => self.set_of_dynamics("damping", value, DAMPINGS, command.kind()),
            Command::Contact(on) => {
                self.end_slide();
                self.set_of_deformer("contact", if on { CONTACT } else { 0 }.into(), command.kind());
            }
            Command::SelectShape(_)
            | Command::ShapeOn(_)
            | Command::RemoveShape
            | Command::Amplitude(_)
            | Command::Stiffness(_)
            | Command::Reach(_)
            | Command::Surroundings(_)
            | Command::Profile(_)
            | Command::Along(_)
            | Command::Around(_)
            | Command::Growth(_)
            | Command::Tilt(_)
            | Command::WaveCount(_)
            | Command::WaveSpeed(_)
            | Command::WavePhase(_) => self.run_shape_command(&command),
            Command::Bind(change, continues) => self.change_binding(&change, continues),
            Command::Firm(change, continues) => self.change_firm(&change, continues),
            Command::Limit(change, continues) => self.change_limits(&change, continues),
            Command::Colors(view) => {
                p.colors = view;
                let belongs = matches!(view, SkinColors::Swing | SkinColors::Twist);
                if belongs && !matches!(self.live.recipe().geometric, Geometric::SwingTwist(_)) {
                    self.context.notice =
                        Some("only the method swing-twist has these weights: choose it".into());
                }
            }
            Command::JointDeformer(deformer) => self.set_joint_deformer(deformer),
            Command::SnapTurn(steps) => self.navigation.snap_turn(steps, self.head.position),
            Command::KeepView(slot) => self.keep_view(slot),
            Command::GoToView(slot) => self.go_to_view(slot),
            Command::LifeSize => {
                self.navigation.life_size(&self.bounds, &self.head);
                let size = self.bounds.size().max_element();
                if is_extreme(size) {
                    let size =
                        if size < 1.0 { format!("{:.1} cm", size * 100.0) } else { format!("{size:.0} m") };
                    let text = format!("at life size, the body measures {size}; Last view goes back");
                    self.context.notice = Some(Notice::fact(text));
                }
            }
            Command::UndoNavigation => {
                // A running turntable would immediately change the restored view.
                if self.navigation.undo() && self.navigation.rules() != Rules::First {
                    p.turntable = false;
                }
            }
            Command::RollWorld(on) => {
                p.roll_world = on;
                if !on {
                    self.navigation.level(self.head.position);
                }
            }
            Command::LeftHanded(on) => {
                p.left_handed = on;
                self.tool = p.tool_hand();
                self.cancel();
            }
            Command::Play(on) => self.play(on),
            Command::Scrub(time) => self.scrub(time),
            Command::Key => self.set_key(),
            Command::KeyJoint => self.set_joint_key(),
            Command::DeleteKey => self.delete_key(),
            Command::MoveKey(time) => self.move_key(time),
            Command::AutoKey(on) => {
                self.playhead.auto_key = on;
                self.timeline.follow(self.playhead);
            }
            Command::Record(on) => {
                self.cancel();
                self.playhead.record = on;
                self.timeline.follow(self.playhead);
            }
            Command::Rate(rate) => self.set_rate(rate),
            Command::PlayRange(range) => self.set_range(range),
            Command::KeyStroke => self.key_stroke(),
            Command::Interpolation(way) => self.set_interpolation(way),
            Command::Open(path) if path.extension().is_some_and(|e| e.eq_ignore_ascii_case("obj")) => {
                p.files = false;
                self.cancel();
                self.requests.push(Request::Cage(CageSource::File(path, None)));
            }
            Command::Open(path) if is_image(&path) => {
                self.requests.push(Request::Factors(FactorSource::Image(path)));
            }
            Command::Open(path) => self.requests.push(Request::Open(path)),
            Command::Save => self.requests.push(Request::Save),
            Command::Export => self.requests.push(Request::Export),
            Command::OtherFace => self.requests.push(Request::OtherFace),
            Command::Tour(on) => self.set_tour(on),
            Command::Quit => self.requests.push(Request::Quit),
            command => {
                let known = p.set(&command);
                debug_assert!(known, "{command:?} is not carried out");
            }
        }
    }

    /// Ends a slider drag; the next change is a separate undo step.
    pub fn end_slide(&mut self) {
        (self.sliding, self.moved_key) = (None, None);
    }

    /// Clears the notice, except for a journal error.
    pub fn forget_notice(&mut self) {
        self.context.notice = self.context.session.trouble().map(Notice::from);
    }

    /// Runs an edit of a panel. With `continues`, the edit joins the previous undo step, as for a slider drag.
    pub fn apply(&mut self, edit: Edit, continues: bool) {
        self.cancel();
        self.run_edit(edit, continues);
    }

    /// Like [`Self::apply`], but cancels no act, and keeps a borrowed pose.
    pub(crate) fn run_edit(&mut self, edit: Edit, continues: bool) {
        self.context.run(if continues { Operation::Continue(edit) } else { Operation::Do(edit) });
        self.document_changed();
    }

    /// Sets the attachments, for the display of the binding.
    pub fn know_binding(&mut self, attachments: Arc<Attachments>) {
        self.attachments = Some(attachments);
    }

    /// Sets the FAST body for full-body grabs, so that the first grab need not wait for the binding of FAST.
    pub fn set_full_body(&mut self, character: Arc<Character>, body: Arc<fast::Body>) {
        self.grab.set_full_body(character, body);
    }

    /// Sets a notice if the tool has nothing to mirror although mirror is on.
    fn tell_unmirrored(&mut self) {
        let p = &self.preferences;
        if p.tool == Tool::Silhouette && p.mirror && self.context.notice.is_none() {
            let what = "silhouettes are drawn on one side: mirror does nothing here";
            self.context.notice = Some(what.into());
        }
    }

    /// Adds or changes the mirror image of a mark's sculpt layer on the other side of the body. Sets a notice if that is
    /// impossible.
    pub fn add_other_side(&mut self, id: SculptId) {
        let sculpt = self.context.session.document().sculpt(id);
        let edits = sculpt.and_then(|sculpt| match self.navigation.rules() {
            Rules::Now => Ok(self.context.other_layer(sculpt)?.edits),
            _ => self.context.another_layer(sculpt),
        });
        match edits {
            Ok(edits) => self.apply(Edit::Group(edits), false),
            Err(error) => self.context.notice = Some((&error).into()),
        }
    }

    /// Selects the joint that commands pin, rotate and frame; `None` selects no joint. In a headset, the tool hand
    /// selects the joint that it touches.
    pub fn select(&mut self, node: Option<NodeId>) {
        self.touched = node.filter(|n| n.index() < self.context.character.skeleton.nodes.len());
    }

    /// Selects a joint. Without one, says why.
    fn select_else(&mut self, node: Option<NodeId>, why: &str) {
        if node.is_some() {
            return self.select(node);
        }
        let joint = self.selected().map(|n| self.context.character.skeleton.nodes[n.index()].name.as_str());
        self.context.notice = Some(match joint {
            Some(name) => format!("{name} stays selected: {why}").into(),
            None => "no joint is selected: click one first".into(),
        });
        self.limit();
    }

    /// Handles a click at a joint: measures its angle, if the measure tool is active.
    pub fn measure_joint(&mut self, node: Option<NodeId>) {
        if self.preferences.tool == Tool::Measure {
            self.measure.click(&mut self.context, self.preferences.measure, node);
        }
    }

    /// Sets the readings for [`Workbench::measures`].
    pub fn receive_readings(&mut self, readings: Vec<(Measurement, Reading)>) {
        self.measure.receive(readings);
    }

    /// Sets the curve along which the skin crosses itself. `pose` is the version of the displayed pose in which the
    /// curve was measured.
    pub fn receive_crossings(&mut self, pose: Version, curve: Vec<CrossingSegment>) {
        self.crossings.receive(pose, curve);
    }

    /// Stops waiting for readings, for example after the measurement failed.
    pub fn give_readings_up(&mut self) {
        self.measure.give_up();
        self.crossings.receive(self.context.pose_version, Vec::new());
    }

    /// Removes the measure with this index.
    pub fn remove_measure(&mut self, index: usize) {
        self.measure.remove(index);
    }

    /// Grabs a joint for [`Workbench::move_joint`], in the displayed pose. Returns false if the joint cannot be posed.
    pub fn hold_joint(&mut self, node: NodeId) -> bool {
        self.cancel();
        self.borrow_pose();
        let held = self.joint.hold(&self.context, node);
        if !held {
            self.give_pose_back();
        }
        held
    }

    /// Rotates and moves the held joint relative to its pose at the grab, in world space. With mirror on, also moves
    /// the joint on the other side.
    pub fn move_joint(&mut self, turn: DQuat, shift: DVec3) {
        self.joint.set(&mut self.context, turn, shift, self.preferences.mirror);
    }

    /// Releases the held joint and commits the pose as one undo step.
    pub fn let_joint_go(&mut self) {
        self.joint.let_go(&mut self.context);
        self.document_changed();
    }

    /// Cancels the current stroke or grab without adding a history step.
    pub fn drop_act(&mut self) {
        self.cancel();
    }

    /// Handles a lost runtime or a removed headset: cancels the current stroke or grab. The document does not change.
    pub fn interrupt(&mut self) {
        self.cancel();
        self.navigation.pull([None; 2], false);
    }

    /// Restores the document as it was after `step` history steps. A `step` of 0 counts as 1, because step 1 opens the
    /// character.
    pub fn jump(&mut self, step: usize) {
        if self.is_busy() {
            self.cancel();
        }
        self.undone = true;
        let before = self.context.session.history().0;
        self.context.run(Operation::Jump(step.max(1)));
        self.note_undo(before);
        self.document_changed();
    }

    /// Runs [`Command::Cancel`].
    fn cancel_first(&mut self) {
        if self.is_unfinished() {
            self.cancel();
        } else if self.playhead.shown {
            self.leave_motion();
        } else if self.awaits_offset().is_some() {
            self.line.close(&self.context);
        } else if self.awaits_mark_offset().is_some() {
            self.skin.close();
        }
    }

    pub(crate) fn cancel(&mut self) {
        self.drop_key();
        self.drop_recording();
        self.drop_fingers();
        self.drop_jump();
        self.line.cancel(&mut self.context);
        self.grab.cancel(&mut self.context);
        self.skin.cancel();
        self.accent.cancel();
        self.bone.cancel(&mut self.context);
        self.cage.cancel(&mut self.context);
        self.grip.cancel(&mut self.context);
        self.measure.cancel();
        self.joint.cancel(&mut self.context);
        self.give_pose_back();
    }

    pub(crate) fn limit(&mut self) {
        let tool = self.tool_hand();
        self.felt[tool] = self.preferences.haptics.then_some(Haptic::Limit);
    }

    /// Pins or unpins the joint nearest to the tool tip; on a panel or in a window, the selected joint.
    fn toggle_pin(&mut self) {
        let on_panel = self.hands.hands[self.tool_hand()].on_panel;
        let Some(node) = (if on_panel || self.windowed { self.touched } else { self.near_joint() }) else {
            let advice = if self.windowed {
                "no joint is selected: click the one to pin"
            } else {
                "no joint is near the tip: touch the one to pin"
            };
            self.context.notice = Some(advice.into());
            return self.limit();
        };
        self.toggle_pin_of(node);
    }

    /// Pins a node, or removes its pin.
    pub(super) fn toggle_pin_of(&mut self, node: NodeId) {
        let mut pins = self.context.session.document().pins().to_vec();
        match pins.binary_search(&node) {
            Ok(i) => {
                pins.remove(i);
            }
            Err(i) => pins.insert(i, node),
        }
        self.change(Edit::SetPins(pins));
    }

    pub(crate) fn change(&mut self, edit: Edit) {
        self.apply(edit, false);
    }

    /// Undoes or redoes; while a tool is in use, cancels the tool instead.
    fn undo(&mut self, operation: Operation) {
        let pulls = self.navigation.is_pulling() && self.navigation.rules() >= Rules::Thirteenth;
        if pulls {
            self.navigation.drop_pull();
        }
        if self.is_busy() || self.measure.is_under_way() || self.jump == Jump::Shown || pulls {
            return self.cancel();
        }
        // The first step opens the character and cannot be undone.
        self.undone = true;
        let (done, all) = self.context.session.history();
        let nothing = match operation {
            Operation::Undo => (done <= 1).then_some("there is nothing to undo"),
            _ => (done == all).then_some("there is nothing to redo"),
        };
        if let Some(nothing) = nothing {
            self.context.notice = Some(nothing.into());
            self.limit();
        } else if !self.context.run(operation) {
            self.limit();
        }
        self.note_undo(done);
        self.document_changed();
    }

    pub(crate) fn document_changed(&mut self) {
        self.line.document_changed(&self.context);
        self.grab.document_changed();
        self.skin.document_changed(&self.context);
        self.bone.document_changed();
        self.cage_changed();
        self.binding_changed();
        self.refresh_timeline();
        self.ask_for_surroundings();
    }
}
