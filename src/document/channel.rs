//! Animation channels as in glTF 2.0 (section 3.11), plus targets that only Sinew has.
//!
//! Conversion from a file's animation and back preserves times and values bit by bit.

use super::contents::validate_time;
use crate::anim::Curve;
use crate::asset::{Interpolation, Property};
use crate::base::{Error, GripId, NodeId, Result, SculptId};
use crate::cage::MAX_VERTICES;
use crate::deform::Recipe;
use crate::rig::{Pose, Skeleton};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Maximum number of keys in a document, over all channels.
pub const MAX_KEYS: usize = 1 << 21;
/// Maximum length of method and setting names, bytes.
const MAX_NAME: usize = 64;

/// The property that a channel animates.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// A node's translation, rotation, scale or morph weights, after strokes are applied.
    Node {
        /// Animated node.
        node: NodeId,
        /// Animated property.
        property: Property,
    },
    /// Amplitude of a sculpt layer.
    SculptAmplitude(SculptId),
    /// Stiffness with which springs follow a sculpt layer.
    SculptStiffness(SculptId),
    /// Offsets of the rest cage's vertices; the number of its vertices. It has effect only while the document's cage has this
    /// many.
    Cage(u32),
    /// A numeric setting of a deformation method; it has effect only while the document uses that method.
    Setting {
        /// Method name, for example `springs`.
        method: String,
        /// Setting name, for example `torsion`.
        name: String,
    },
    /// A grip's translation or rotation; it has effect only while the document has the grip.
    Grip {
        /// Animated grip.
        grip: GripId,
        /// Animated property.
        property: Property,
    },
}

impl Target {
    /// Returns the target for one property of a node.
    pub fn node(node: NodeId, property: Property) -> Self {
        Self::Node { node, property }
    }

    /// Returns the number of floats per key.
    ///
    /// # Errors
    /// The node, property, method or setting does not exist, or the setting is not a number.
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
            Self::Cage(vertices) if (4..=MAX_VERTICES as u32).contains(vertices) => {
                Ok(3 * *vertices as usize)
            }
            Self::Cage(vertices) => {
                let problem = format!("a cage of {vertices} vertices cannot be animated");
                Err(Error::input(problem, format!("a cage has 4 to {MAX_VERTICES} vertices")))
            }
            Self::Setting { method, name } => {
                let sound =
                    |s: &String| !s.is_empty() && s.len() <= MAX_NAME && !s.contains(char::is_control);
                if !(sound(method) && sound(name)) {
                    let problem = format!("{method:?} {name:?} is no setting");
                    return Err(Error::input(problem, "name a method and a setting"));
                }
                Recipe::from_settings(method, [(name, &Value::from(0.0))]).map(|_| 1)
            }
            Self::Grip { property: Property::Translation, .. } => Ok(3),
            Self::Grip { property: Property::Rotation, .. } => Ok(4),
            Self::Grip { .. } => {
                Err(Error::input("a grip has no such property", "animate its translation or rotation"))
            }
        }
    }

    /// Returns a readable label, for example `Spine2 rotation`.
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
            Self::Cage(_) => "cage".to_owned(),
            Self::Setting { method, name } => format!("{method} {name}"),
            Self::Grip { grip, property: Property::Rotation } => {
                format!("grip {} rotation", u64::from(grip.0) + 1)
            }
            Self::Grip { grip, .. } => format!("grip {} translation", u64::from(grip.0) + 1),
        }
    }

    /// Returns the target's value in a pose; `None` if a pose does not contain the target.
    pub fn of_pose<'a>(&self, pose: &'a Pose) -> Option<&'a [f32]> {
        if let Self::Cage(vertices) = self {
            return (pose.rest.cage.len() == *vertices as usize)
                .then(|| bytemuck::cast_slice(&pose.rest.cage));
        }
        if let Self::Grip { grip, property } = self {
            let grip = pose.grips.iter().find(|g| g.id == *grip)?;
            return match property {
                Property::Translation => Some(&grip.translation),
                Property::Rotation => Some(&grip.rotation),
                _ => None,
            };
        }
        let Self::Node { node, property } = self else { return None };
        let local = pose.local.get(node.index())?;
        Some(match property {
            Property::Translation => &local.translation,
            Property::Rotation => &local.rotation,
            Property::Scale => &local.scale,
            Property::Weights => pose.weights.get(node.index())?,
        })
    }

    /// Returns the target's value in a pose for writing.
    pub(super) fn of_pose_mut<'a>(&self, pose: &'a mut Pose) -> Option<&'a mut [f32]> {
        if let Self::Grip { grip, property } = self {
            let grip = pose.grips.iter_mut().find(|g| g.id == *grip)?;
            return match property {
                Property::Translation => Some(&mut grip.translation),
                Property::Rotation => Some(&mut grip.rotation),
                _ => None,
            };
        }
        let Self::Node { node, property } = self else { return None };
        let local = pose.local.get_mut(node.index())?;
        Some(match property {
            Property::Translation => &mut local.translation,
            Property::Rotation => &mut local.rotation,
            Property::Scale => &mut local.scale,
            Property::Weights => pose.weights.get_mut(node.index())?,
        })
    }

    /// Yields every target of a pose, in order: translation, rotation, scale and, if present, weights per node; then
    /// translation and rotation per grip.
    pub fn all_of_pose(pose: &Pose) -> impl Iterator<Item = Self> {
        let nodes = pose.weights.iter().enumerate();
        let nodes = nodes.flat_map(|(i, weights)| {
            let of = |p| Self::node(NodeId::from(i), p);
            let weights = (!weights.is_empty()).then(|| of(Property::Weights));
            [of(Property::Translation), of(Property::Rotation), of(Property::Scale)]
                .into_iter()
                .chain(weights)
        });
        nodes.chain(pose.grips.iter().flat_map(|g| {
            let of = |property| Self::Grip { grip: g.id, property };
            [of(Property::Translation), of(Property::Rotation)]
        }))
    }

    /// Returns the grip that the target animates.
    pub fn grip(&self) -> Option<GripId> {
        if let Self::Grip { grip, .. } = self { Some(*grip) } else { None }
    }

    /// Whether the values are rotations.
    pub fn rotates(&self) -> bool {
        matches!(
            self,
            Self::Node { property: Property::Rotation, .. } | Self::Grip { property: Property::Rotation, .. }
        )
    }
}

/// A value keyed over time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Channel {
    /// Animated property.
    pub target: Target,
    /// Interpolation between keys.
    pub interpolation: Interpolation,
    /// Key times, seconds, not negative, strictly increasing, at least one. [`super::KeyEdit`] creates keys only at
    /// times that `f32` represents exactly, because glTF stores times as `f32`.
    pub times: Vec<f64>,
    /// Key values, [`Target::width`] floats each. For CUBICSPLINE, three times as many: in-tangent, value and
    /// out-tangent, with tangents per second.
    pub values: Vec<f32>,
}

impl Channel {
    /// Converts a clip's channel without loss.
    pub fn from_clip(channel: &crate::asset::Channel) -> Self {
        Self {
            target: Target::node(channel.node, channel.property),
            interpolation: channel.interpolation,
            times: channel.times.iter().map(|&t| f64::from(t)).collect(),
            values: channel.values.clone(),
        }
    }

    /// Converts to a clip's channel, losslessly if all times are exact in `f32`. Returns `None` if the target is not
    /// a node. If several times round to one `f32`, the last key is kept.
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

    /// Returns the number of floats in a key's value, without tangents.
    pub fn width(&self) -> usize {
        let stride = self.stride();
        if self.interpolation == Interpolation::CubicSpline { stride / 3 } else { stride }
    }

    /// Returns the number of floats per key, tangents included.
    pub(super) fn stride(&self) -> usize {
        self.values.len() / self.times.len().max(1)
    }

    /// Returns a key's value without tangents.
    pub fn value(&self, key: usize) -> &[f32] {
        let (width, stride) = (self.width(), self.stride());
        let at = key * stride + if stride == width { 0 } else { width };
        &self.values[at..at + width]
    }

    /// Returns the curve that interpolates this channel's keys.
    pub fn curve(&self) -> Curve<'_, f64> {
        let rotation = self.target.rotates();
        Curve { interpolation: self.interpolation, rotation, times: &self.times, values: &self.values }
    }

    /// Returns the value at a time in seconds.
    pub fn at(&self, time: f64) -> Vec<f32> {
        let mut out = vec![0.0; self.width()];
        self.curve().evaluate(time, &mut out);
        out
    }

    /// Finds the key at a time: `Ok` with its index, or `Err` with the index for inserting one.
    pub fn key_at(&self, time: f64) -> std::result::Result<usize, usize> {
        self.times.binary_search_by(|t| (t + 0.0).total_cmp(&(time + 0.0)))
    }

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
        let rotation = self.target.rotates();
        let turns = |key| self.value(key).iter().map(|v| v * v).sum::<f32>() > 1e-12;
        if rotation && !(0..self.times.len()).all(turns) {
            return told("a rotation is zero", "give quaternions, of unit length best");
        }
        Ok(())
    }
}
