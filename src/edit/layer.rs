//! A stroke layer: a baseline with what it selected, and the offset stroke that poses it.

use super::{Posing, Selected, Stroke, pose_by_stroke, select};
use crate::base::{Error, Result, StrokeId};
use crate::rig::{Pose, Skeleton};

/// Longer names are refused.
const MAX_NAME: usize = 1024;

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
        Ok(Self { id, name, baseline, offset: None, selection, radius, posing, enabled: true })
    }

    /// The same with an offset stroke.
    pub fn with_offset(self, offset: Stroke) -> Self {
        Self { offset: Some(offset), ..self }
    }

    /// The pose with this layer applied.
    pub fn applied(&self, skeleton: &Skeleton, pose: &Pose) -> Pose {
        match &self.offset {
            Some(offset) if self.enabled => {
                pose_by_stroke(skeleton, pose, &self.selection, &self.baseline, offset, self.posing)
            }
            _ => pose.clone(),
        }
    }

    /// Whether it fits a skeleton; strokes are valid by construction.
    pub(super) fn validate(&self, nodes: usize) -> Result<()> {
        let problem = if self.selection.iter().any(|s| s.node.index() >= nodes) {
            "selects a node that the file does not have"
        } else if !self.selection.iter().all(|s| (0.0..=1.0).contains(&s.t)) {
            "has a joint outside its baseline"
        } else if !self.radius.is_finite() || self.radius < 0.0 {
            "has no valid brush radius"
        } else if self.name.len() > MAX_NAME {
            "has too long a name"
        } else {
            return Ok(());
        };
        Err(Error::input(format!("stroke {} {problem}", self.id.0 + 1), "draw it again on this character"))
    }
}
