//! Stroke layers: a baseline with the joints it selects, and the offset stroke that poses these joints.

use super::{Poser, Posing, Selected, Stroke, select};
use crate::base::math::{Quat, Trs, Vec3};
use crate::base::{Error, MAX_NAME, NodeId, Result, StrokeId};
use crate::rig::{Limits, Pose, Skeleton};

/// A change of one node by hand, applied after the layer's strokes.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Adjustment {
    /// The adjusted node.
    pub node: NodeId,
    /// Rotation in the node's local space, applied before the local rotation; quaternion `(x, y, z, w)`.
    pub turn: [f32; 4],
    /// Translation added to the local translation, metres, parent space.
    pub shift: [f32; 3],
    /// Added to the local scale.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub grow: [f32; 3],
}

impl Adjustment {
    /// Returns the adjustments that change the local transforms of the pose `from` to those of the pose `to`.
    pub(crate) fn between(from: &Pose, to: &Pose) -> Vec<Self> {
        let pairs = from.local.iter().zip(&to.local).enumerate().filter(|(_, (a, b))| a != b);
        let change = |(i, (a, b)): (usize, (&Trs, &Trs))| Self {
            node: NodeId::from(i),
            turn: (a.rotation().inverse() * b.rotation()).normalize().into(),
            shift: (b.translation() - a.translation()).into(),
            grow: (b.scale() - a.scale()).into(),
        };
        pairs.map(change).collect()
    }

    /// Adjusts the node in a pose that has this node.
    pub(crate) fn apply(&self, pose: &mut Pose) {
        let Some(local) = pose.local.get_mut(self.node.index()) else { return };
        let turn = Quat::from_array(self.turn).normalize();
        local.rotation = (local.rotation() * turn).normalize().into();
        local.translation = (local.translation() + Vec3::from(self.shift)).into();
        local.scale = (local.scale() + Vec3::from(self.grow)).into();
    }
}

fn is_zero(v: &[f32; 3]) -> bool {
    *v == [0.0; 3]
}

/// A pair of strokes. Layers apply in order, each to the result of the layers below.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StrokeLayer {
    /// Layer id, unique in the document.
    pub id: StrokeId,
    /// Name to display.
    pub name: String,
    /// Baseline, drawn along the character.
    pub baseline: Stroke,
    /// Offset stroke, which the joints follow; `None` until drawn.
    pub offset: Option<Stroke>,
    /// Joints selected by the baseline, parents before children.
    pub selection: Vec<Selected>,
    /// Brush radius of the selection, metres, world space.
    pub radius: f32,
    /// Options that control how the strokes pose.
    pub posing: Posing,
    /// Whether the layer is active.
    pub enabled: bool,
    /// Changes by hand after the stroke, at most one per node.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub adjustments: Vec<Adjustment>,
    /// Mirrored layer on the other side of the character, drawn together with this layer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partner: Option<StrokeId>,
    /// Joints that the baseline does not select, however near it is: the control joints of the rig.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub except: Vec<NodeId>,
}

impl StrokeLayer {
    /// Creates a layer whose baseline selects the joints within `radius` in the given pose, but not those of `except`.
    ///
    /// # Errors
    /// No joint is near the baseline.
    pub fn new(
        id: StrokeId,
        baseline: Stroke,
        radius: f32,
        (skeleton, except): (&Skeleton, &[NodeId]),
        pose: &Pose,
    ) -> Result<Self> {
        let selection = select((skeleton, except), pose, &baseline, radius);
        if selection.is_empty() {
            // Three significant digits.
            let digits = 2i32.saturating_sub(radius.log10().floor() as i32).clamp(0, 6) as usize;
            return Err(Error::input(
                format!("no joint is within {radius:.digits$} m of the baseline stroke"),
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
            except: except.to_vec(),
        })
    }

    /// Returns the layer with its offset stroke replaced.
    pub fn with_offset(self, offset: Stroke) -> Self {
        Self { offset: Some(offset), ..self }
    }

    /// Returns the pose with this layer applied. The strokes keep joints within their limits.
    pub fn applied(&self, skeleton: &Skeleton, limits: &Limits, pose: &Pose) -> Pose {
        let mut out = pose.clone();
        self.apply(skeleton, self.poser(skeleton, limits).as_mut(), &mut out);
        out
    }

    /// Returns the precomputed strokes; `None` if the layer is disabled or has no offset stroke.
    pub(crate) fn poser(&self, skeleton: &Skeleton, limits: &Limits) -> Option<Poser> {
        let offset = self.offset.as_ref().filter(|_| self.enabled)?;
        let poser = Poser::new(skeleton, &self.selection, &self.baseline, offset, self.posing);
        Some(poser.limited(skeleton, limits))
    }

    /// Applies the layer to a pose; `poser` must come from [`StrokeLayer::poser`]. Does not allocate.
    pub(crate) fn apply(&self, skeleton: &Skeleton, poser: Option<&mut Poser>, pose: &mut Pose) {
        if let Some(poser) = poser {
            poser.apply(skeleton, pose);
        }
        for adjustment in self.adjustments.iter().filter(|_| self.enabled) {
            adjustment.apply(pose);
        }
    }

    /// Returns the layer with adjustments that change its result from the pose `now` to the pose `wanted`.
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
            let grow = old.map_or(Vec3::ZERO, |x| x.grow.into()) + b.scale() - a.scale();
            out.adjustments.retain(|x| x.node != node);
            out.adjustments.push(Adjustment {
                node,
                turn: turn.into(),
                shift: shift.into(),
                grow: grow.into(),
            });
        }
        out
    }

    /// Checks that the layer fits a skeleton with this number of nodes; strokes are always valid.
    pub(crate) fn validate(&self, nodes: usize) -> Result<()> {
        let mut named = self.selection.iter().map(|s| s.node).chain(self.except.iter().copied());
        let problem = if named.any(|n| n.index() >= nodes) {
            "names a node that the file does not have"
        } else if !self.selection.iter().all(|s| (0.0..=1.0).contains(&s.t)) {
            "has a joint outside its baseline"
        } else if !self.radius.is_finite() || self.radius < 0.0 {
            "has no valid brush radius"
        } else if self.adjustments.len() > nodes || self.adjustments.iter().any(|a| a.node.index() >= nodes) {
            "adjusts a node that the file does not have"
        } else if !self.adjustments.iter().all(|a| {
            let length = Quat::from_array(a.turn).length();
            (0.5..2.0).contains(&length) && a.shift.iter().chain(&a.grow).all(|v| v.is_finite())
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
