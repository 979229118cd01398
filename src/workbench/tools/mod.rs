//! The tools: actions of the trigger and the squeeze, one file per tool.

mod accent;
pub mod binding;
mod body;
mod bone;
mod cage;
mod fingers;
mod grab;
pub mod grip;
mod hands;
mod joint;
mod key_drag;
mod knots;
pub mod limits;
mod line;
mod measure;
mod offset;
mod other_side;
mod paint;
mod pen;
mod pull;
pub mod show;
mod skin;

pub use accent::AccentTool;
pub use body::Body;
pub use bone::{BoneTool, attached, is_bare, without_newest};
pub use cage::CageTool;
pub use fingers::FingerTool;
pub use grab::{GrabTool, REACH};
pub use grip::GripTool;
pub use hands::{HandFrame, Hands, PER_POINT, TIP, checked};
pub use joint::JointTool;
pub use key_drag::KeyDrag;
pub use limits::LimitWatch;
pub use line::LineTool;
pub use measure::{Measure, MeasureTool};
pub use paint::with_painted;
#[cfg(test)]
pub use skin::RING;
pub use skin::{SkinTool, newest as newest_mark};

use super::{Haptic, Notice, Pen, Preferences, Rules};
use crate::base::math::{DQuat, DVec3, Quat, Trs};
use crate::base::{Error, NodeId, Version};
use crate::bind::Character;
use crate::cage::Coupling;
use crate::document::{Edit, Operation, Sampler, Session};
use crate::pose::{Adjustment, Sample, Stroke, StrokeLayer};
use crate::rig::{Plane, Pose, PosedRig};
use crate::surface::Reach;
use std::sync::Arc;

/// A hand that turns and moves something by less than this, radians and room metres, taps it.
const TAP_TURN: f64 = 0.005;
const TAP_SHIFT: f32 = 5e-4;
/// Minimum radius of a sculpted region, in mean edge lengths. A larger brush radius replaces this minimum.
const EDGES: f32 = 4.0;

/// Returns the colour of what a hand holds: white, or red while it is recorded.
fn held_color(records: bool) -> [u8; 4] {
    if records { [255, 60, 50, 255] } else { [255; 4] }
}

/// The document and its character, shared by all tools.
pub struct EditContext {
    /// Document, history and journal.
    pub session: Session<'static>,
    /// The document's character.
    pub character: Arc<Character>,
    /// Precomputed data of the character for grabs and marks.
    pub body: Body,
    /// The displayed pose: the document's, or the preview of the tool in use.
    pub pose: Pose,
    /// `pose`, evaluated by forward kinematics.
    pub rig: PosedRig,
    /// A new version for each change of `pose`.
    pub pose_version: Version,
    /// Displayed time of the motion, seconds; `None` for the edited pose.
    pub time: Option<f64>,
    /// Samples the motion at `time`.
    pub sampler: Sampler,
    /// The pose of the motion that plays while a tool moves the body and the workbench records it; `None` if nothing
    /// plays.
    pub beneath: Option<Pose>,
    /// The coupling of the character with the document's cage, once known.
    pub coupling: Option<Arc<Coupling>>,
    /// Why the document's cage cannot be coupled.
    pub uncoupled: Option<String>,
    /// Whether the rest pose is displayed, for edits of the cage.
    pub rest_view: bool,
    /// Whether changes at a displayed time become keys.
    pub auto_key: bool,
    /// Whether the next edit belongs to the undo step before it: a recorded grab, and the copy of the displayed pose that
    /// the user has made just before.
    pub joins: bool,
    /// Message about the last refused action, which the palette shows.
    pub notice: Option<Notice>,
}

impl EditContext {
    /// Runs an operation. Returns true on success; otherwise the error becomes the notice.
    pub fn run(&mut self, operation: Operation) -> bool {
        let operation = match operation {
            Operation::Do(edit) if std::mem::take(&mut self.joins) => Operation::Continue(edit),
            other => other,
        };
        match self.session.run(operation) {
            Ok(()) => {
                self.notice = self.session.trouble().map(Notice::from);
                self.show_document();
                true
            }
            Err(error) => {
                self.refuse(&error);
                false
            }
        }
    }

    /// Applies an edit that [`Self::take_back`] can revert until the next edit, which records both as one undo step.
    pub fn try_out(&mut self, edit: Edit) {
        match self.session.try_out(edit) {
            Ok(()) => self.show_document(),
            Err(error) => self.refuse(&error),
        }
    }

    /// Reverts the edit of [`Self::try_out`]. Returns whether there was one.
    pub fn take_back(&mut self) -> bool {
        let reverted = self.session.take_back().is_some();
        if reverted {
            self.show_document();
        }
        reverted
    }

    /// Applies the edit of a drag in progress, in place of its edit before. Returns true on success; otherwise the error
    /// becomes the notice, and the document stays unchanged. `recorded` is whether the history has a step
    /// of the drag, as in old takes.
    pub fn drag(&mut self, edit: Edit, recorded: bool, rules: Rules) -> bool {
        if rules < Rules::Thirteenth {
            return self.run(if recorded { Operation::Continue(edit) } else { Operation::Do(edit) });
        }
        let applied = self.session.draft(edit);
        self.notice = applied.as_ref().err().or(self.session.trouble()).map(Notice::from);
        self.show_document();
        applied.is_ok()
    }

    /// Ends a drag: records its last edit as one undo step, or reverts it. Returns whether there was one.
    pub fn end_draft(&mut self, keeps: bool) -> bool {
        let Some(edit) = self.session.drop_draft() else { return false };
        if keeps {
            self.apply(edit);
        } else {
            self.show_document();
        }
        true
    }

    /// Runs an edit as one undo step.
    pub fn apply(&mut self, edit: Edit) -> bool {
        self.run(Operation::Do(edit))
    }

    /// Records samples of the current stroke in the journal, so that a crash does not lose them.
    pub fn journal_samples(&mut self, samples: &[Sample]) {
        // Samples are not part of the document, so only the journal can fail.
        let recorded = self.session.run(Operation::Drawing(samples.to_vec()));
        self.notice = recorded.err().as_ref().or(self.session.trouble()).map(Notice::from);
    }

    /// Shows an error to the user as the notice.
    pub fn refuse(&mut self, error: &Error) {
        self.notice = Some(error.into());
    }

    /// The character's plane of symmetry in world space; it moves with the hips.
    pub fn plane(&self) -> Option<Plane> {
        self.body.mirror.as_ref().map(|m| m.plane(&self.rig))
    }

    /// Mirrors a stroke at the character's plane of symmetry.
    pub fn mirrored(&self, stroke: &Stroke) -> Option<Stroke> {
        let plane = self.plane()?;
        let knot = |k: &Sample| Sample {
            position: plane.point(k.point()).as_vec3().into(),
            orientation: plane.orientation(Quat::from_array(k.orientation).as_dquat()).as_quat().into(),
            ..*k
        };
        Stroke::from_knots(stroke.knots().iter().map(knot).collect()).ok()
    }

    /// Returns the edit that changes a pose from `now` to `wanted`. The pose is that after `layers`, the lowest stroke
    /// layers of the document. The edit adjusts the topmost enabled layer of these or, if no layer is enabled, the base
    /// pose. Strokes do not change morph weights, so the edit sets these in the base pose. `None` if the poses are
    /// equal.
    pub fn adjustment(&self, layers: &[StrokeLayer], now: &Pose, wanted: &Pose) -> Option<Edit> {
        let weights = now.weights.iter().zip(&wanted.weights).enumerate().filter(|(_, (a, b))| a != b);
        let weigh = |(i, (_, b)): (usize, (_, &Vec<f32>))| Edit::SetWeights {
            node: NodeId::from(i),
            weights: b.clone(),
        };
        let mut edits: Vec<Edit> = weights.map(weigh).collect();
        match layers.iter().rfind(|l| l.enabled) {
            _ if now.local == wanted.local => {}
            Some(top) => {
                let stroke = Edit::SetStroke(Box::new(top.adjusted(now, wanted)));
                if edits.is_empty() {
                    return Some(stroke);
                }
                edits.push(stroke);
            }
            None => {
                let changed = now.local.iter().zip(&wanted.local).enumerate().filter(|(_, (a, b))| a != b);
                let set =
                    |(i, (_, b)): (usize, (_, &Trs))| Edit::SetLocal { node: NodeId::from(i), local: *b };
                edits.extend(changed.map(set));
            }
        }
        (!edits.is_empty()).then_some(Edit::Group(edits))
    }

    /// Displays the document's pose: the edited pose, or the pose of the motion at `time`.
    pub fn show_document(&mut self) {
        self.sampler.forget();
        self.show_moment();
    }

    /// Like [`Self::show_document`], but requires that the document has not changed since the last call. Does not
    /// allocate during playback.
    pub fn show_moment(&mut self) {
        if self.rest_view {
            let mut pose = Pose::rest(&self.character.skeleton);
            self.session.document().rest_into(&self.character.skeleton, self.time, &mut pose.rest);
            return self.show(&pose);
        }
        let Some(time) = self.time else { return self.show(&self.session.posed()) };
        let Self { sampler, session, character, .. } = self;
        let pose = sampler.sample(session.document(), &character.skeleton, time);
        if *pose != self.pose {
            self.pose.copy_from(pose);
            self.pose_rig();
        }
    }

    /// Returns how the displayed pose differs from the motion that plays; nothing if none plays.
    pub fn over_motion(&self) -> Vec<Adjustment> {
        self.beneath.as_ref().map_or(Vec::new(), |beneath| Adjustment::between(beneath, &self.pose))
    }

    /// Writes the pose of the motion that plays, with adjustments. Returns false if no motion plays.
    pub fn beneath_into(&self, adjustments: &[Adjustment], pose: &mut Pose) -> bool {
        let Some(beneath) = &self.beneath else { return false };
        pose.copy_from(beneath);
        adjustments.iter().for_each(|adjustment| adjustment.apply(pose));
        true
    }

    /// Displays a pose.
    pub fn show(&mut self, pose: &Pose) {
        if *pose != self.pose {
            self.pose.copy_from(pose);
            self.pose_rig();
        }
    }

    fn pose_rig(&mut self) {
        self.rig.pose(&self.character.skeleton, &self.pose);
        self.pose_version = Version::new();
    }
}

/// Data of the current frame for tools.
pub struct Moment<'a> {
    /// State of both hands.
    pub hands: &'a Hands,
    /// Index of the hand that holds the tools.
    pub tool: usize,
    /// World metres per room metre.
    pub scale: f32,
    /// Whether the hand is a mouse.
    pub windowed: bool,
    /// The user's preferences.
    pub preferences: &'a Preferences,
    /// How strokes follow the hand; [`Pen::Free`] in old takes, where only the line tool follows the preference.
    pub pen: Pen,
    /// The rules of hands; a take may have older rules.
    pub rules: Rules,
    /// Haptic pulse per hand.
    pub haptics: &'a mut [Option<Haptic>; 2],
}

impl Moment<'_> {
    /// The hand that holds the tools.
    pub fn hand(&self) -> &HandFrame {
        &self.hands.hands[self.tool]
    }

    /// Whether a hand that has turned and moved something by this much, world metres, has only tapped it: the pose stays. A
    /// mouse does not tremble.
    pub fn is_tap(&self, turn: DQuat, shift: DVec3) -> bool {
        let turned = turn.angle_between(DQuat::IDENTITY);
        !self.windowed && turned < TAP_TURN && shift.length() < f64::from(TAP_SHIFT * self.scale)
    }

    /// Whether a stroke on the skin also acts on the other side of the body. Old takes paint so, and nothing else.
    pub fn mirrors(&self) -> bool {
        self.preferences.mirror && self.rules >= Rules::Now
    }

    /// Brush radius, world metres.
    pub fn radius(&self) -> f32 {
        self.preferences.radius * self.scale
    }

    /// How far a new sculpt layer extends beyond its mark: the distance that the user has chosen or, without a choice,
    /// the brush radius. `edge` is the mean length of the skin's edges, metres.
    pub fn reach(&self, edge: f32) -> Reach {
        self.preferences.reach.unwrap_or(Reach::Along(self.radius().max(EDGES * edge)))
    }

    /// Sets a hand's haptic pulse, unless the hand already has a stronger one in this frame.
    pub fn feel(&mut self, hand: usize, haptic: Haptic) {
        let slot = &mut self.haptics[hand];
        if self.preferences.haptics && slot.is_none_or(|old| old.pulse().1 < haptic.pulse().1) {
            *slot = Some(haptic);
        }
    }
}
