//! Methods that read the state of the workbench and change nothing.

use super::travel::Jump;
use super::{PIN_REACH, middle};
use crate::base::math::{Aabb, Vec3};
use crate::base::{GripId, NodeId, Result};
use crate::bind::{Attachments, Character};
use crate::cage::Coupling;
use crate::deform::Geometric;
use crate::deform::blend::Painted;
use crate::deform::swing_twist::{Deformer, Params};
use crate::document::Session;
use crate::pose::StrokeLayer;
use crate::render::SilhouetteOptions;
use crate::rig::{Pose, PosedRig};
use crate::scene::{Measurement, Outlined, SkinColors, VersionedPose};
use crate::workbench::navigation::Rules;
use crate::workbench::tools::{EditContext, is_bare, with_painted};
use crate::workbench::{
    AccentOutcome, AccentStart, AccentStroke, Capsule, Command, MarkBy, Measure, Notice, Output, Preferences,
    Surroundings, Tool, Workbench,
};
use std::sync::Arc;

impl Workbench {
    /// Document, history and journal.
    pub fn session(&self) -> &Session<'static> {
        &self.context.session
    }

    /// Consumes the workbench and returns its session.
    pub fn into_session(self) -> Session<'static> {
        self.context.session
    }

    /// Attachments of the character, once known.
    pub fn attachments(&self) -> Option<&Arc<Attachments>> {
        self.attachments.as_ref()
    }

    /// The character.
    pub fn character(&self) -> &Arc<Character> {
        &self.context.character
    }

    /// The displayed pose: the document's, or a tool's preview.
    pub fn pose(&self) -> &Pose {
        &self.context.pose
    }

    /// The displayed pose with its version, for drawing.
    pub fn shown_pose(&self) -> VersionedPose<'_> {
        let EditContext { pose, rig, pose_version, .. } = &self.context;
        VersionedPose { version: *pose_version, pose, rig }
    }

    /// [`Workbench::pose`], evaluated by forward kinematics.
    pub fn rig(&self) -> &PosedRig {
        &self.context.rig
    }

    /// The user's preferences.
    pub fn preferences(&self) -> &Preferences {
        &self.preferences
    }

    /// Why the last action was refused, or an error of the journal; `None` after a success.
    pub fn notice(&self) -> Option<&str> {
        self.context.notice.as_deref()
    }

    /// As [`Workbench::notice`], with its kind.
    pub fn told(&self) -> Option<&Notice> {
        self.context.notice.as_ref()
    }

    /// A text that says whether the current or last mark is a ring or open; `None` unless the skin tool is active.
    pub fn drawn_mark(&self) -> Option<&str> {
        self.skin.text().filter(|_| self.preferences.tool == Tool::Skin)
    }

    /// Number and names of the joints that the baseline in progress has reached or that wait for their offset stroke, such
    /// as `4 joints: Spine … Head`; `None` if there are none, or unless the line tool is active.
    pub fn taken_joints(&self) -> Option<&str> {
        self.line.names().filter(|_| self.preferences.tool == Tool::Line)
    }

    /// What the outline surrounds: with the skin tool, the skin that the selected sculpt layer moves; with the tools that pose,
    /// the skin of the selected joint. Nothing while the user draws or the motion plays.
    pub fn outlined(&self) -> Option<Outlined<'_>> {
        if !self.preferences.outline || self.is_drawing() || self.playhead.playing {
            return None;
        }
        let layer = |id| self.context.session.document().sculpts().iter().find(|s| s.id == id);
        match self.preferences.tool {
            Tool::Line | Tool::Grab | Tool::Joint => self.touched.map(Outlined::Joint),
            Tool::Skin => self.shape.and_then(layer).map(|s| Outlined::Layer(s.id, &s.region)),
            _ => None,
        }
    }

    /// Magnification of the world; 1 is real size.
    pub fn magnification(&self) -> f32 {
        1.0 / self.navigation.world_from_room().scale
    }

    /// Whether [`UndoNavigation`](crate::workbench::Command::UndoNavigation) can restore a view.
    pub fn has_last_view(&self) -> bool {
        self.navigation.has_history()
    }

    /// Name of the joint that [`TogglePin`](crate::workbench::Command::TogglePin) affects from a panel, and whether
    /// it is pinned. This is the last joint near the tool hand.
    pub fn touched_joint(&self) -> Option<(&str, bool)> {
        let node = self.touched?;
        let pinned = self.context.session.document().pins().binary_search(&node).is_ok();
        Some((&self.context.character.skeleton.nodes[node.index()].name, pinned))
    }

    /// The selected joint.
    pub fn selected(&self) -> Option<NodeId> {
        self.touched
    }

    /// The next view of the colours on the skin that shows something with this document's method.
    pub fn next_colors(&self) -> SkinColors {
        let recipe = self.live.recipe();
        let shows = |view: &SkinColors| match view {
            SkinColors::Swing | SkinColors::Twist => matches!(recipe.geometric, Geometric::SwingTwist(_)),
            SkinColors::Blend => matches!(recipe.geometric, Geometric::Blend { .. }),
            SkinColors::Firmness => !recipe.firm.is_empty(),
            SkinColors::Off | SkinColors::Weights | SkinColors::Strain => true,
        };
        let views = std::iter::successors(Some(self.preferences.colors.next()), |view| Some(view.next()));
        views.take(SkinColors::ALL.len()).find(shows).unwrap_or_default()
    }

    /// Whether the character has mirror symmetry.
    pub fn has_sides(&self) -> bool {
        self.context.body.mirror.is_some()
    }

    /// Whether the rest pose shows, because the cage tool edits the rest cage.
    pub fn shows_rest(&self) -> bool {
        self.context.rest_view
    }

    /// The nodes that posing moves.
    pub fn posable(&self) -> &[NodeId] {
        &self.context.body.posable
    }

    /// Whether a posable node is a control joint of the rig, which clicks and strokes do not take.
    pub fn is_control(&self, node: NodeId) -> bool {
        self.context.body.controls.contains(&node)
    }

    /// The nodes that a click or a stroke takes: the posable nodes without the control joints of the rig.
    pub fn reachable(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.context.body.reachable()
    }

    /// The stroke layer that waits for its offset stroke, while the line tool is chosen.
    pub fn awaits_offset(&self) -> Option<&StrokeLayer> {
        let open = self.line.open().filter(|_| self.preferences.tool == Tool::Line);
        open.and_then(|id| self.context.session.document().stroke(id).ok())
    }

    /// The mark that waits for its offset stroke, as positions of its points in the displayed pose, world space, metres.
    pub fn awaits_mark_offset(&self) -> Option<Vec<Vec3>> {
        let wanted = self.preferences.tool == Tool::Skin && self.preferences.marks == MarkBy::Offset;
        let open = self.skin.open().filter(|_| wanted)?;
        self.skin.mark_positions(&self.context, open)
    }

    /// Returns the command that gives the method `blend` these factors.
    ///
    /// # Errors
    /// The method of the document is another one.
    pub fn with_factors(&self, painted: &Painted) -> Result<Command> {
        with_painted(&self.context, painted).map(|edit| Command::Change(Box::new(edit), false))
    }

    /// Whether the hand of the skin tool moves in the air instead of over the skin, because it pulls a mark or the next
    /// stroke is an offset stroke.
    pub fn skin_tool_in_air(&self) -> bool {
        self.preferences.tool == Tool::Skin && self.skin.is_in_air()
    }

    /// Mean edge length of the skin in the bind pose, metres.
    pub fn edge(&self) -> f32 {
        self.context.body.edge
    }

    /// Bounding box of the character in the bind pose, world space, metres.
    pub fn bounds(&self) -> &Aabb {
        &self.bounds
    }

    /// Writes what the panels must avoid, room space: the bones of the posed character, and which hands hold something.
    /// Does not allocate if the number of bones is unchanged.
    pub fn surroundings(&self, rig: &PosedRig, out: &mut Surroundings) {
        let room = self.navigation.world_from_room();
        out.body.clear();
        out.body.extend(rig.bones.iter().zip(&self.context.body.girth).map(|(bone, girth)| Capsule {
            ends: [bone.head, bone.tail].map(|p| room.inverse_point(p)),
            radius: girth / room.scale,
        }));
        out.holds = [0, 1].map(|hand| self.grab.holds(hand));
    }

    /// A point on the turntable's vertical axis, world space, metres. The point is the centre of the skin's bounding box
    /// in the bind pose, displaced as far as the mean position of the bones has moved since the bind pose.
    pub fn axis(&self) -> Vec3 {
        let bounds = if self.navigation.rules() < Rules::Ninth { &self.bounds } else { &self.figure };
        if self.navigation.rules() == Rules::First {
            return bounds.center();
        }
        let axis = bounds.center() + middle(&self.context.rig) - self.middle;
        if axis.is_finite() { axis } else { bounds.center() }
    }

    /// Sets the rules of an earlier version of takes, so that a take of this version replays as it was recorded.
    pub(crate) fn keep_to(&mut self, rules: Rules) {
        self.navigation.keep_to(rules);
        if rules < Rules::Ninth {
            self.context.body.controls.clear();
        }
        self.grab.keep_to(rules);
    }

    /// Index into [hands](crate::workbench::Input::hands) of the tool hand; the other hand carries the palette.
    pub fn tool_hand(&self) -> usize {
        self.tool
    }

    /// Settings of the method `swing-twist` and the deformer of the selected joint; `None` for other methods.
    pub fn swing_twist(&self) -> Option<(&Params, Option<Deformer>)> {
        let Geometric::SwingTwist(params) = &self.recipe().geometric else { return None };
        let joint = self.touched.and_then(|n| self.context.character.skeleton.nodes[n.index()].joint);
        Some((params, joint.map(|j| params.deformer(j))))
    }

    /// The silhouettes that the picture shows: those that the silhouette tool finds, while it is chosen.
    pub fn shown_silhouettes(&self) -> Option<SilhouetteOptions> {
        (self.preferences.tool == Tool::Silhouette).then(|| self.preferences.silhouettes.options())
    }

    /// The accent stroke in progress. The front end interprets it with [`crate::workbench::AccentSolver`] and gives the result to
    /// [`Workbench::preview_accent`].
    pub fn accent_stroke(&self) -> Option<&AccentStroke> {
        self.accent.stroke()
    }

    /// Shows the interpretation of the accent stroke that begins with `start`, until its sculpt layer arrives. `None`
    /// shows the skin without the stroke. Changes nothing but the picture, so takes do not record it.
    pub fn preview_accent(&mut self, start: &Arc<AccentStart>, outcome: Option<AccentOutcome>) {
        self.accent.preview(start, outcome);
    }

    /// Whether a stroke is in progress.
    pub(super) fn is_drawing(&self) -> bool {
        let strokes = self.line.is_busy() || self.skin.is_busy() || self.accent.is_busy();
        strokes || self.bone.is_busy() || self.cage.is_busy() || self.grip.is_busy()
    }

    /// The grip that commands change.
    pub fn selected_grip(&self) -> Option<GripId> {
        self.grip.selected()
    }

    /// Places of all displayed grips that hold something, world space, metres.
    pub fn grip_places(&self) -> impl Iterator<Item = Vec3> + '_ {
        self.grip.places(&self.context)
    }

    /// Whether bones can be drawn: no mesh has skin weights.
    pub fn is_bare(&self) -> bool {
        is_bare(&self.context)
    }

    /// The coupling with the document's cage, once known.
    pub fn coupling(&self) -> Option<&Arc<Coupling>> {
        self.context.coupling.as_ref()
    }

    /// Whether the cage waits for its coupling, see [`Workbench::know_coupling`].
    pub fn awaits_coupling(&self) -> bool {
        self.context.session.document().cage().is_some() && self.context.coupling.is_none()
    }

    /// Whether the next stroke at the cage is an offset stroke.
    pub fn awaits_cage_offset(&self) -> bool {
        self.cage.awaits_offset()
    }

    /// Whether a hand holds the body.
    pub(in crate::workbench) fn is_grabbing(&self) -> bool {
        self.grab.is_busy()
    }

    /// Whether a hand holds the body or the world.
    pub(in crate::workbench) fn holds(&self, hand: usize) -> bool {
        self.grab.holds(hand)
    }

    /// The joints that stand at their limits while a tool moves them.
    pub fn joints_at_limit(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.limits.joints()
    }

    /// Names of the joints that a tool has moved to their limits, such as `LeftLowerArm is at its limit`; `None` if there are
    /// none.
    pub fn stopped_joints(&self) -> Option<&str> {
        self.limits.text()
    }

    /// Whether a stroke, a grab or the drag of a key on the motion path is in progress.
    pub fn is_busy(&self) -> bool {
        self.is_drawing()
            || self.grab.is_busy()
            || self.joint.is_busy()
            || self.fingers.is_busy()
            || self.path.is_busy()
    }

    /// Whether a tool has begun something that it has not finished.
    pub(in crate::workbench) fn is_unfinished(&self) -> bool {
        let begun = self.measure.is_under_way() || self.cage.awaits_offset() || self.jump == Jump::Shown;
        self.is_busy() || begun
    }

    /// Whether [`crate::workbench::Command::Cancel`] has something to cancel.
    pub fn can_cancel(&self) -> bool {
        let waits = self.awaits_offset().is_some() || self.awaits_mark_offset().is_some();
        waits || self.is_unfinished() || self.playhead.shown
    }

    /// Whether a hand holds the body.
    pub(in crate::workbench) fn grabs_body(&self) -> bool {
        self.grab.is_busy()
    }

    /// The measures, oldest first.
    pub fn measures(&self) -> &[Measure] {
        self.measure.measures()
    }

    /// Whether any measure depends on the deformed skin, so that the front end must read it again for each pose.
    pub fn measures_skin(&self) -> bool {
        self.measures().iter().any(|m| !matches!(m.measurement, Measurement::Angle(_)))
    }

    /// Whether the user has chosen the first end of a distance but not the second.
    pub fn chooses_measure(&self) -> bool {
        self.measure.is_under_way()
    }

    /// Whether a measure or the crossings wait for [`Workbench::receive_readings`] or [`Workbench::receive_crossings`].
    pub fn awaits_readings(&self) -> bool {
        self.measures().iter().any(Measure::awaits_reading)
            || (self.preferences.crossings && self.crossings.is_unknown())
    }

    /// Output of the last step.
    pub fn output(&self) -> &Output {
        &self.output
    }

    /// The reachable joint nearest to the tool tip, within reach.
    pub(super) fn near_joint(&self) -> Option<NodeId> {
        let tip = self.hands.hands[self.tool_hand()].tip.position;
        let reach = PIN_REACH * self.navigation.world_from_room().scale;
        let at = |n: &NodeId| Vec3::from(self.context.rig.world[n.index()].translation).distance(tip);
        let near = self.context.body.reachable().filter(|n| at(n) <= reach);
        near.min_by(|a, b| at(a).total_cmp(&at(b)))
    }
}
