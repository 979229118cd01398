//! What the trigger and the squeeze do: a file per tool.

mod accent;
pub mod binding;
mod body;
mod grab;
mod hands;
mod joint;
mod line;
mod measure;
mod pull;
pub mod show;
mod skin;

pub use accent::AccentTool;
pub use body::Body;
pub use grab::GrabTool;
pub use hands::{HandFrame, Hands, TIP, checked};
pub use joint::JointTool;
pub use line::LineTool;
pub use measure::{Measure, MeasureTool};
#[cfg(test)]
pub use skin::RING;
pub use skin::{SkinTool, newest as newest_mark};

use super::{Haptic, Preferences};
use crate::base::math::{Quat, Trs};
use crate::base::{Error, NodeId, Version};
use crate::bind::Character;
use crate::document::{Edit, Operation, Sampler, Session};
use crate::pose::{Sample, Stroke, StrokeLayer};
use crate::rig::{Plane, Pose, PosedRig};
use std::sync::Arc;

/// The document and its character, as all tools share them.
pub struct EditContext {
    /// Document, history and journal.
    pub session: Session<'static>,
    /// The document's character.
    pub character: Arc<Character>,
    /// What hands need to know of it.
    pub body: Body,
    /// The pose to show: the document's, or what a tool makes of it while it is used.
    pub pose: Pose,
    /// `pose`, evaluated.
    pub rig: PosedRig,
    /// Differs after each change of `pose`.
    pub pose_version: Version,
    /// The time of the document that shows, seconds; none for the pose being edited.
    pub time: Option<f64>,
    /// Finds its pose.
    pub sampler: Sampler,
    /// What was refused last, for the palette.
    pub notice: Option<String>,
}

impl EditContext {
    /// Runs an operation; a refusal becomes the notice. True where it was done.
    pub fn run(&mut self, operation: Operation) -> bool {
        match self.session.run(operation) {
            Ok(()) => {
                self.notice = self.session.trouble().map(ToString::to_string);
                self.show_document();
                true
            }
            Err(error) => {
                self.refuse(&error);
                false
            }
        }
    }

    /// Runs an edit as one step of undo.
    pub fn apply(&mut self, edit: Edit) -> bool {
        self.run(Operation::Do(edit))
    }

    /// Records samples of the stroke being drawn, so that a crash does not lose them.
    pub fn journal_samples(&mut self, samples: &[Sample]) {
        // Samples are no part of the document; they cannot be refused.
        let recorded = self.session.run(Operation::Drawing(samples.to_vec()));
        self.notice = recorded.err().as_ref().or(self.session.trouble()).map(ToString::to_string);
    }

    /// Tells the user why something was not done.
    pub fn refuse(&mut self, error: &Error) {
        self.notice = Some(error.to_string());
    }

    /// The character's plane of symmetry in the world, as the hips carry it.
    pub fn plane(&self) -> Option<Plane> {
        self.body.mirror.as_ref().map(|m| m.plane(&self.rig))
    }

    /// A stroke on the other side.
    pub fn mirrored(&self, stroke: &Stroke) -> Option<Stroke> {
        let plane = self.plane()?;
        let knot = |k: &Sample| Sample {
            position: plane.point(k.point()).as_vec3().into(),
            orientation: plane.orientation(Quat::from_array(k.orientation).as_dquat()).as_quat().into(),
            ..*k
        };
        Stroke::from_knots(stroke.knots().iter().map(knot).collect()).ok()
    }

    /// The edit that makes `now`, the pose which these lowest layers leave, the `wanted` one: on top of the newest of
    /// them that takes part, or, without such, below all. None where nothing changes.
    pub fn adjustment(&self, layers: &[StrokeLayer], now: &Pose, wanted: &Pose) -> Option<Edit> {
        if now == wanted {
            return None;
        }
        if let Some(top) = layers.iter().rfind(|l| l.enabled) {
            return Some(Edit::SetStroke(Box::new(top.adjusted(now, wanted))));
        }
        let changed = now.local.iter().zip(&wanted.local).enumerate().filter(|(_, (a, b))| a != b);
        let set = |(i, (_, b)): (usize, (_, &Trs))| Edit::SetLocal { node: NodeId::from(i), local: *b };
        Some(Edit::Group(changed.map(set).collect()))
    }

    /// Shows the document's own pose: the one being edited, or that of the time.
    pub fn show_document(&mut self) {
        self.sampler.forget();
        self.show_moment();
    }

    /// The same where the document is as it was. Does not allocate on a motion that plays.
    pub fn show_moment(&mut self) {
        let Some(time) = self.time else { return self.show(&self.session.posed()) };
        let Self { sampler, session, character, .. } = self;
        let pose = sampler.sample(session.document(), &character.skeleton, time);
        if *pose != self.pose {
            self.pose.copy_from(pose);
            self.pose_rig();
        }
    }

    /// Shows a pose.
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

/// What a tool knows of the frame beside the desk.
pub struct Moment<'a> {
    /// The hands.
    pub hands: &'a Hands,
    /// Index of the hand that holds the tools.
    pub tool: usize,
    /// World metres per room metre.
    pub scale: f32,
    /// The user's choices.
    pub preferences: &'a Preferences,
    /// Per hand, for the fingers.
    pub haptics: &'a mut [Option<Haptic>; 2],
}

impl Moment<'_> {
    /// The hand that holds the tools.
    pub fn hand(&self) -> &HandFrame {
        &self.hands.hands[self.tool]
    }

    /// Brush radius, metres of the world.
    pub fn radius(&self) -> f32 {
        self.preferences.radius * self.scale
    }

    /// Lets a hand feel something, unless it feels something stronger in this frame.
    pub fn feel(&mut self, hand: usize, haptic: Haptic) {
        let slot = &mut self.haptics[hand];
        if self.preferences.haptics && slot.is_none_or(|old| old.pulse().1 < haptic.pulse().1) {
            *slot = Some(haptic);
        }
    }
}
