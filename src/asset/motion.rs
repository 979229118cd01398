//! The file's animations as plain data.

use crate::base::NodeId;
use serde::{Deserialize, Serialize};

/// An animation.
#[derive(Clone, Debug)]
pub struct Clip {
    /// Its name, or `animation 0`.
    pub name: String,
    /// Its channels, in file order; channels without a target node are left out.
    pub channels: Vec<Channel>,
}

impl Clip {
    /// The last key's time, seconds; zero for a clip without keys.
    pub fn duration(&self) -> f32 {
        self.channels.iter().filter_map(|c| c.times.last().copied()).fold(0.0, f32::max)
    }
}

/// One animated property of one node.
#[derive(Clone, Debug)]
pub struct Channel {
    /// The node.
    pub node: NodeId,
    /// The property, which fixes the number of floats per key.
    pub property: Property,
    /// Between keys.
    pub interpolation: Interpolation,
    /// Key times, seconds, strictly rising, at least one.
    pub times: Vec<f32>,
    /// Values: `times.len() * width` floats, three times as many (in-tangent, value, out-tangent) for
    /// [`Interpolation::CubicSpline`]. Normalised integers are already floats.
    pub values: Vec<f32>,
}

/// What a channel animates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Property {
    /// 3 floats.
    Translation,
    /// 4 floats, quaternion `(x, y, z, w)`.
    Rotation,
    /// 3 floats.
    Scale,
    /// As many floats as the node's mesh has morph targets.
    Weights,
}

/// How a channel goes from key to key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Interpolation {
    /// Holds the key's value until the next key.
    Step,
    /// Linear; shortest-arc slerp for rotations.
    Linear,
    /// Hermite spline with tangents in the file.
    CubicSpline,
}
