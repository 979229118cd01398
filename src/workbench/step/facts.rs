//! What there is to know of a workbench.

use super::{PIN_REACH, middle};
use crate::base::NodeId;
use crate::base::math::{Aabb, Vec3};
use crate::bind::Character;
use crate::document::Session;
use crate::pose::StrokeLayer;
use crate::rig::{Pose, PosedRig};
use crate::scene::{Measurement, VersionedPose};
use crate::workbench::navigation::Rules;
use crate::workbench::tools::EditContext;
use crate::workbench::{Capsule, Measure, Output, Preferences, Surroundings, Tool, Workbench};
use std::sync::Arc;

impl Workbench {
    /// Document, history and journal.
    pub fn session(&self) -> &Session<'static> {
        &self.context.session
    }

    /// Puts the tools away: what is left is the session.
    pub fn into_session(self) -> Session<'static> {
        self.context.session
    }

    /// The character.
    pub fn character(&self) -> &Arc<Character> {
        &self.context.character
    }

    /// The pose to show: the document's, or what a tool makes of it at the moment.
    pub fn pose(&self) -> &Pose {
        &self.context.pose
    }

    /// The same for whoever draws it.
    pub fn shown_pose(&self) -> VersionedPose<'_> {
        let EditContext { pose, rig, pose_version, .. } = &self.context;
        VersionedPose { version: *pose_version, pose, rig }
    }

    /// [`Workbench::pose`], evaluated.
    pub fn rig(&self) -> &PosedRig {
        &self.context.rig
    }

    /// The user's choices.
    pub fn preferences(&self) -> &Preferences {
        &self.preferences
    }

    /// What was refused last, or trouble with the journal; none after something went well.
    pub fn notice(&self) -> Option<&str> {
        self.context.notice.as_deref()
    }

    /// Whether the mark being drawn, or just drawn, is a ring or open, in words; none for other tools.
    pub fn drawn_mark(&self) -> Option<&str> {
        self.skin.text().filter(|_| self.preferences.tool == Tool::Skin)
    }

    /// How much larger than life the world is shown.
    pub fn magnification(&self) -> f32 {
        1.0 / self.navigation.world_from_room().scale
    }

    /// Whether there is a view to go back to ([`UndoNavigation`](crate::workbench::Command::UndoNavigation)).
    pub fn has_last_view(&self) -> bool {
        self.navigation.has_history()
    }

    /// The joint that a panel's [`TogglePin`](crate::workbench::Command::TogglePin) is about, the last that the tool hand
    /// was near, and whether it is pinned.
    pub fn touched_joint(&self) -> Option<(&str, bool)> {
        let node = self.touched?;
        let pinned = self.context.session.document().pins().binary_search(&node).is_ok();
        Some((&self.context.character.skeleton.nodes[node.index()].name, pinned))
    }

    /// The selected joint.
    pub fn selected(&self) -> Option<NodeId> {
        self.touched
    }

    /// Whether the character has two sides.
    pub fn has_sides(&self) -> bool {
        self.context.body.mirror.is_some()
    }

    /// The nodes that posing moves.
    pub fn posable(&self) -> &[NodeId] {
        &self.context.body.posable
    }

    /// The layer whose offset stroke comes next.
    pub fn awaits_offset(&self) -> Option<&StrokeLayer> {
        self.line.open().and_then(|id| self.context.session.document().stroke(id).ok())
    }

    /// The box of the character in bind, world, metres.
    pub fn bounds(&self) -> &Aabb {
        &self.bounds
    }

    /// The character as posed and the hands that hold something, in the room, for the panels. Does not allocate where the
    /// character has as many bones as before.
    pub fn surroundings(&self, rig: &PosedRig, out: &mut Surroundings) {
        let room = self.navigation.world_from_room();
        out.body.clear();
        out.body.extend(rig.bones.iter().zip(&self.context.body.girth).map(|(bone, girth)| Capsule {
            ends: [bone.head, bone.tail].map(|p| room.inverse_point(p)),
            radius: girth / room.scale,
        }));
        out.holds = [0, 1].map(|hand| self.grab.holds(hand));
    }

    /// A point of the vertical about which the turntable turns the character: the middle of its box in bind, carried along
    /// as its bones move. World, metres.
    pub fn axis(&self) -> Vec3 {
        if self.navigation.rules() == Rules::First {
            return self.bounds.center();
        }
        let axis = self.bounds.center() + middle(&self.context.rig) - self.middle;
        if axis.is_finite() { axis } else { self.bounds.center() }
    }

    /// Works on takes of an earlier version of the format as the program did that recorded them.
    pub(crate) fn keep_to(&mut self, rules: Rules) {
        self.navigation.keep_to(rules);
    }

    /// Index into [hands](crate::workbench::Input::hands) of the hand that holds the tools now; the palette is on the other.
    pub fn tool_hand(&self) -> usize {
        self.tool
    }

    /// Whether a stroke or a grab is under way.
    pub fn is_busy(&self) -> bool {
        let drawing = self.line.is_busy() || self.skin.is_busy() || self.accent.is_busy();
        drawing || self.grab.is_busy() || self.joint.is_busy()
    }

    /// What is measured, the oldest first.
    pub fn measures(&self) -> &[Measure] {
        self.measure.measures()
    }

    /// Whether any of it is read off the skin, which each pose has its own way.
    pub fn measures_skin(&self) -> bool {
        self.measures().iter().any(|m| !matches!(m.gauge, Measurement::Angle(_)))
    }

    /// Whether one end of a distance was chosen, and the other should be.
    pub fn chooses_measure(&self) -> bool {
        self.measure.is_under_way()
    }

    /// Whether some of it is not known yet ([`Workbench::receive_readings`]).
    pub fn awaits_readings(&self) -> bool {
        self.measures().iter().any(Measure::awaits_reading)
    }

    /// What the last step wanted shown.
    pub fn output(&self) -> &Output {
        &self.output
    }

    /// The posable joint next to the tool hand's tip, within reach.
    pub(super) fn near_joint(&self) -> Option<NodeId> {
        let tip = self.hands.hands[self.tool_hand()].tip.position;
        let reach = PIN_REACH * self.navigation.world_from_room().scale;
        let at = |n: &NodeId| Vec3::from(self.context.rig.world[n.index()].translation).distance(tip);
        let near = self.context.body.posable.iter().copied().filter(|n| at(n) <= reach);
        near.min_by(|a, b| at(a).total_cmp(&at(b)))
    }
}
