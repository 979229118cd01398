//! Channels: values keyed over time, as glTF has them (2.0, section 3.11), plus those that only Sinew knows.
//!
//! A channel keeps what it was given: times and values of a file's animation come back from it to the bit.

use super::contents::validate_time;
use crate::anim::Curve;
use crate::asset::{Interpolation, Property};
use crate::base::{Error, NodeId, Result, SculptId};
use crate::deform::Recipe;
use crate::rig::{Pose, Skeleton};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// More keys no document has, over all channels.
pub const MAX_KEYS: usize = 1 << 21;
/// Names of methods and settings are no longer, bytes.
const MAX_NAME: usize = 64;

/// What a channel animates.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// A node's translation, rotation, scale or morph weights, strokes already applied.
    Node {
        /// The node.
        node: NodeId,
        /// What of it.
        property: Property,
    },
    /// How far a sculpt layer goes.
    SculptAmplitude(SculptId),
    /// How strongly springs follow it.
    SculptStiffness(SculptId),
    /// A numeric setting of a deformation method, in force while the document uses that method.
    Setting {
        /// E.g. `springs`.
        method: String,
        /// E.g. `torsion`.
        name: String,
    },
}

impl Target {
    /// Of a node.
    pub fn node(node: NodeId, property: Property) -> Self {
        Self::Node { node, property }
    }

    /// Floats per key.
    ///
    /// # Errors
    /// The character has no such node or property; a method or a setting that does not exist or is no number.
    pub fn width(&self, skeleton: &Skeleton) -> Result<usize> {
        match self {
            Self::Node { node, property } => {
                let known = skeleton.nodes.get(node.index()).ok_or_else(|| {
                    Error::input(
                        format!("there is no node {} to animate", node.0),
                        format!("the character has {} nodes", skeleton.nodes.len()),
                    )
                })?;
                match property {
                    Property::Translation | Property::Scale => Ok(3),
                    Property::Rotation => Ok(4),
                    Property::Weights if known.weights.is_empty() => Err(Error::input(
                        format!("node {:?} has no morph targets to animate", known.name),
                        "animate a node whose mesh has some",
                    )),
                    Property::Weights => Ok(known.weights.len()),
                }
            }
            Self::SculptAmplitude(_) | Self::SculptStiffness(_) => Ok(1),
            Self::Setting { method, name } => {
                let sound =
                    |s: &String| !s.is_empty() && s.len() <= MAX_NAME && !s.contains(char::is_control);
                if !(sound(method) && sound(name)) {
                    let problem = format!("{method:?} {name:?} is no setting");
                    return Err(Error::input(problem, "name a method and a setting"));
                }
                Recipe::from_settings(method, [(name, &Value::from(0.0))]).map(|_| 1)
            }
        }
    }

    /// For people: `Spine2 rotation`.
    pub fn label(&self, skeleton: &Skeleton) -> String {
        match self {
            Self::Node { node, property } => {
                let name = skeleton.nodes.get(node.index()).map_or("?", |n| n.name.as_str());
                let property = match property {
                    Property::Translation => "translation",
                    Property::Rotation => "rotation",
                    Property::Scale => "scale",
                    Property::Weights => "weights",
                };
                format!("{name} {property}")
            }
            Self::SculptAmplitude(id) => format!("shape {} amplitude", id.0 + 1),
            Self::SculptStiffness(id) => format!("shape {} stiffness", id.0 + 1),
            Self::Setting { method, name } => format!("{method} {name}"),
        }
    }

    /// Its value in a pose; `None` if it is not about one.
    pub fn of_pose<'a>(&self, pose: &'a Pose) -> Option<&'a [f32]> {
        let Self::Node { node, property } = self else { return None };
        let local = pose.local.get(node.index())?;
        Some(match property {
            Property::Translation => &local.translation,
            Property::Rotation => &local.rotation,
            Property::Scale => &local.scale,
            Property::Weights => pose.weights.get(node.index())?,
        })
    }

    /// That value's place.
    pub(super) fn of_pose_mut<'a>(&self, pose: &'a mut Pose) -> Option<&'a mut [f32]> {
        let Self::Node { node, property } = self else { return None };
        let local = pose.local.get_mut(node.index())?;
        Some(match property {
            Property::Translation => &mut local.translation,
            Property::Rotation => &mut local.rotation,
            Property::Scale => &mut local.scale,
            Property::Weights => pose.weights.get_mut(node.index())?,
        })
    }

    /// Every target of a pose: translation, rotation and scale per node, weights where it has any; in order.
    pub(super) fn all_of_pose(pose: &Pose) -> impl Iterator<Item = Self> {
        let nodes = pose.weights.iter().enumerate();
        nodes.flat_map(|(i, weights)| {
            let of = |p| Self::node(NodeId::from(i), p);
            let weights = (!weights.is_empty()).then(|| of(Property::Weights));
            [of(Property::Translation), of(Property::Rotation), of(Property::Scale)]
                .into_iter()
                .chain(weights)
        })
    }
}

/// A value over time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Channel {
    /// What it animates.
    pub target: Target,
    /// Between keys.
    pub interpolation: Interpolation,
    /// Key times, seconds, not negative, strictly rising, at least one. Keys made by [`super::KeyEdit`]s have times
    /// that an `f32` holds exactly, as glTF's do.
    pub times: Vec<f64>,
    /// Floats per key as [`Target::width`] says; three times as many (in-tangent, value, out-tangent) for CUBICSPLINE,
    /// tangents per second.
    pub values: Vec<f32>,
}

impl Channel {
    /// A clip's channel, to the bit.
    pub fn from_clip(channel: &crate::asset::Channel) -> Self {
        Self {
            target: Target::node(channel.node, channel.property),
            interpolation: channel.interpolation,
            times: channel.times.iter().map(|&t| f64::from(t)).collect(),
            values: channel.values.clone(),
        }
    }

    /// As a clip's channel: to the bit where times are those of an `f32`; `None` if it is not about a node. Times
    /// that round to one are one key, the later.
    pub fn to_clip(&self) -> Option<crate::asset::Channel> {
        let Target::Node { node, property } = self.target else { return None };
        let (mut times, mut values): (Vec<f32>, Vec<f32>) = (Vec::new(), Vec::new());
        let stride = self.stride();
        for (i, &time) in self.times.iter().enumerate() {
            if times.last() == Some(&(time as f32)) {
                times.pop();
                values.truncate(values.len() - stride);
            }
            times.push(time as f32);
            values.extend(&self.values[i * stride..(i + 1) * stride]);
        }
        Some(crate::asset::Channel { node, property, interpolation: self.interpolation, times, values })
    }

    /// Floats of a key's value.
    pub fn width(&self) -> usize {
        let stride = self.stride();
        if self.interpolation == Interpolation::CubicSpline { stride / 3 } else { stride }
    }

    /// Floats of a key, tangents included.
    pub(super) fn stride(&self) -> usize {
        self.values.len() / self.times.len().max(1)
    }

    /// A key's value without tangents.
    pub fn value(&self, key: usize) -> &[f32] {
        let (width, stride) = (self.width(), self.stride());
        let at = key * stride + if stride == width { 0 } else { width };
        &self.values[at..at + width]
    }

    /// As a curve.
    pub fn curve(&self) -> Curve<'_, f64> {
        let rotation = matches!(self.target, Target::Node { property: Property::Rotation, .. });
        Curve { interpolation: self.interpolation, rotation, times: &self.times, values: &self.values }
    }

    /// Its value at a time, seconds.
    pub fn at(&self, time: f64) -> Vec<f32> {
        let mut out = vec![0.0; self.width()];
        self.curve().evaluate(time, &mut out);
        out
    }

    /// The key of a time.
    pub fn key_at(&self, time: f64) -> std::result::Result<usize, usize> {
        self.times.binary_search_by(|t| (t + 0.0).total_cmp(&(time + 0.0)))
    }

    /// Checks it against the skeleton it goes with.
    pub(super) fn validate(&self, skeleton: &Skeleton) -> Result<()> {
        let width = self.target.width(skeleton)?;
        let blocks = if self.interpolation == Interpolation::CubicSpline { 3 } else { 1 };
        let told = |problem: &str, remedy: &str| {
            Err(Error::input(format!("the keys of {}: {problem}", self.target.label(skeleton)), remedy))
        };
        if self.times.is_empty() || self.values.len() != self.times.len() * width * blocks {
            return told(
                &format!("{} times and {} floats", self.times.len(), self.values.len()),
                &format!("give {} floats for every time, and one time at least", width * blocks),
            );
        }
        self.times.iter().try_for_each(|t| validate_time(*t))?;
        if !self.times.is_sorted_by(|a, b| a < b) {
            return told("times do not rise", "give each key a later time than the one before");
        }
        if !self.values.iter().all(|v| v.is_finite()) {
            return told("a value is not finite", "key it again");
        }
        let rotation = matches!(self.target, Target::Node { property: Property::Rotation, .. });
        let turns = |key| self.value(key).iter().map(|v| v * v).sum::<f32>() > 1e-12;
        if rotation && !(0..self.times.len()).all(turns) {
            return told("a rotation is zero", "give quaternions, of unit length best");
        }
        Ok(())
    }
}
