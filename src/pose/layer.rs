//! A stroke layer: a baseline with what it selected, and the offset stroke that poses it.

use super::{Poser, Posing, Selected, Stroke, select};
use crate::base::math::{Quat, Vec3};
use crate::base::{Error, NodeId, Result, StrokeId};
use crate::rig::{Pose, Skeleton};

/// Longer names are refused.
const MAX_NAME: usize = 1024;

/// A change of one node by hand, on top of what its layer's stroke does.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Adjustment {
    /// The node.
    pub node: NodeId,
    /// Follows its local rotation, in its own space; quaternion `(x, y, z, w)`.
    pub turn: [f32; 4],
    /// Added to its local translation, metres, parent's space.
    pub shift: [f32; 3],
}

/// One pair of strokes. Layers apply in order, each to the pose that those below it leave.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StrokeLayer {
    /// Unique in the document.
    pub id: StrokeId,
    /// For the user.
    pub name: String,
    /// What was drawn along the character.
    pub baseline: Stroke,
    /// What it is to look like; none until it is drawn.
    pub offset: Option<Stroke>,
    /// The joints that the baseline took hold of, parents before children.
    pub selection: Vec<Selected>,
    /// Brush radius of the selection, metres, world.
    pub radius: f32,
    /// How it poses.
    pub posing: Posing,
    /// Whether it takes part.
    pub enabled: bool,
    /// What was changed by hand since, node by node, each node once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub adjustments: Vec<Adjustment>,
    /// The layer on the other side of the character that is drawn along with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partner: Option<StrokeId>,
}

impl StrokeLayer {
    /// A baseline drawn over a pose selects the joints within `radius` of it.
    ///
    /// # Errors
    /// No joint is near the baseline.
    pub fn new(
        id: StrokeId,
        baseline: Stroke,
        radius: f32,
        skeleton: &Skeleton,
        pose: &Pose,
    ) -> Result<Self> {
        let selection = select(skeleton, pose, &baseline, radius);
        if selection.is_empty() {
            return Err(Error::input(
                format!("no joint is within {radius} m of the baseline stroke"),
                "draw it along the joints, or take a larger brush",
            ));
        }
        let (name, posing) = (format!("Stroke {}", id.0 + 1), Posing::default());
        Ok(Self {
            id,
            name,
            baseline,
            offset: None,
            selection,
            radius,
            posing,
            enabled: true,
            adjustments: Vec::new(),
            partner: None,
        })
    }

    /// The same with an offset stroke.
    pub fn with_offset(self, offset: Stroke) -> Self {
        Self { offset: Some(offset), ..self }
    }

    /// The pose with this layer applied.
    pub fn applied(&self, skeleton: &Skeleton, pose: &Pose) -> Pose {
        let mut out = pose.clone();
        self.apply(skeleton, self.poser(skeleton).as_mut(), &mut out);
        out
    }

    /// What its strokes do; `None` if it takes no part or awaits its offset.
    pub(crate) fn poser(&self, skeleton: &Skeleton) -> Option<Poser> {
        let offset = self.offset.as_ref().filter(|_| self.enabled)?;
        Some(Poser::new(skeleton, &self.selection, &self.baseline, offset, self.posing))
    }

    /// Applies it, `poser` being its own, to a pose. Does not allocate.
    pub(crate) fn apply(&self, skeleton: &Skeleton, poser: Option<&mut Poser>, pose: &mut Pose) {
        if let Some(poser) = poser {
            poser.apply(skeleton, pose);
        }
        for adjustment in self.adjustments.iter().filter(|_| self.enabled) {
            let Some(local) = pose.local.get_mut(adjustment.node.index()) else { continue };
            let turn = Quat::from_array(adjustment.turn).normalize();
            local.rotation = (local.rotation() * turn).normalize().into();
            local.translation = (local.translation() + Vec3::from(adjustment.shift)).into();
        }
    }

    /// The same with the adjustments that turn `now`, the pose it leaves, into `wanted`. Scales stay as they are.
    pub fn adjusted(&self, now: &Pose, wanted: &Pose) -> Self {
        let mut out = self.clone();
        for (i, (a, b)) in now.local.iter().zip(&wanted.local).enumerate() {
            if a == b {
                continue;
            }
            let node = NodeId::from(i);
            let old = self.adjustments.iter().find(|x| x.node == node);
            let before = old.map_or(Quat::IDENTITY, |x| Quat::from_array(x.turn).normalize());
            let shifted = old.map_or(Vec3::ZERO, |x| x.shift.into());
            let turn = (before * a.rotation().inverse() * b.rotation()).normalize();
            let shift = shifted + b.translation() - a.translation();
            out.adjustments.retain(|x| x.node != node);
            out.adjustments.push(Adjustment { node, turn: turn.into(), shift: shift.into() });
        }
        out
    }

    /// Whether it fits a skeleton; strokes are valid by construction.
    pub(crate) fn validate(&self, nodes: usize) -> Result<()> {
        let problem = if self.selection.iter().any(|s| s.node.index() >= nodes) {
            "selects a node that the file does not have"
        } else if !self.selection.iter().all(|s| (0.0..=1.0).contains(&s.t)) {
            "has a joint outside its baseline"
        } else if !self.radius.is_finite() || self.radius < 0.0 {
            "has no valid brush radius"
        } else if self.adjustments.len() > nodes || self.adjustments.iter().any(|a| a.node.index() >= nodes) {
            "adjusts a node that the file does not have"
        } else if !self.adjustments.iter().all(|a| {
            let length = Quat::from_array(a.turn).length();
            (0.5..2.0).contains(&length) && a.shift.iter().all(|v| v.is_finite())
        }) {
            "has an adjustment that is no turn"
        } else if self.name.len() > MAX_NAME {
            "has too long a name"
        } else {
            return Ok(());
        };
        Err(Error::input(format!("stroke {} {problem}", self.id.0 + 1), "draw it again on this character"))
    }
}
