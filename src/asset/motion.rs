//! The file's animations as plain data.

use crate::base::NodeId;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::HashMap;

/// An animation.
#[derive(Clone, Debug)]
pub struct Clip {
    /// Name, or `animation 0` if unnamed.
    pub name: String,
    /// Channels in file order, without channels that animate no node.
    pub channels: Vec<Channel>,
}

impl Clip {
    /// Returns the time of the last key, seconds; zero for a clip without keys.
    pub fn duration(&self) -> f32 {
        self.channels.iter().filter_map(|c| c.times.last().copied()).fold(0.0, f32::max)
    }
}

/// One animated property of one node.
#[derive(Clone, Debug)]
pub struct Channel {
    /// The animated node.
    pub node: NodeId,
    /// The animated property, which determines the number of floats per key.
    pub property: Property,
    /// Interpolation between keys.
    pub interpolation: Interpolation,
    /// Key times, seconds, strictly increasing; at least one key.
    pub times: Vec<f32>,
    /// Values of all keys: `times.len() * width` floats. [`Interpolation::CubicSpline`] has three times as many
    /// (in-tangent, value, out-tangent). Normalised integers are converted to floats.
    pub values: Vec<f32>,
}

/// The property that a channel animates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Property {
    /// Translation, 3 floats.
    Translation,
    /// Rotation, 4 floats: quaternion `(x, y, z, w)`.
    Rotation,
    /// Scale, 3 floats.
    Scale,
    /// Morph weights: one float per morph target of the node's mesh.
    Weights,
}

impl Property {
    /// Returns the property's name in glTF.
    pub fn path(self) -> &'static str {
        match self {
            Self::Translation => "translation",
            Self::Rotation => "rotation",
            Self::Scale => "scale",
            Self::Weights => "weights",
        }
    }

    /// Returns the property of a glTF name; `None` if the name is unknown.
    pub fn from_path(path: &str) -> Option<Self> {
        Some(match path {
            "translation" => Self::Translation,
            "rotation" => Self::Rotation,
            "scale" => Self::Scale,
            "weights" => Self::Weights,
            _ => return None,
        })
    }
}

/// Returns the JSON pointer of a KHR_animation_pointer channel; `None` for a channel that targets a node.
pub fn pointer(channel: &Value) -> Option<&str> {
    let target = channel.get("target").filter(|t| t.get("node").is_none())?;
    target.pointer("/extensions/KHR_animation_pointer/pointer")?.as_str()
}

/// A JSON pointer of KHR_animation_pointer that animates nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pointed {
    /// A property of one node, e.g. `/nodes/2/rotation`.
    Node(usize, Property),
    /// Morph weights of a mesh, e.g. `/meshes/0/weights`. They animate all nodes that draw the mesh and have no morph
    /// weights of their own.
    Mesh(usize),
}

impl Pointed {
    /// Parses a pointer; `None` if it refers to anything else.
    pub fn read(pointer: &str) -> Option<Self> {
        let mut words = pointer.strip_prefix('/')?.splitn(3, '/');
        let (table, index, path) = (words.next()?, words.next()?.parse().ok()?, words.next()?);
        match table {
            "nodes" => Some(Self::Node(index, Property::from_path(path)?)),
            "meshes" if path == "weights" => Some(Self::Mesh(index)),
            _ => None,
        }
    }

    /// Returns the animated node properties. `users` comes from [`mesh_users`]; `nodes` is the number of nodes.
    pub fn moved(self, nodes: usize, users: &HashMap<usize, Vec<NodeId>>) -> Vec<(NodeId, Property)> {
        match self {
            Self::Node(node, _) if node >= nodes => Vec::new(),
            Self::Node(node, property) => vec![(NodeId::from(node), property)],
            Self::Mesh(mesh) => {
                let users = users.get(&mesh).map_or(&[][..], Vec::as_slice);
                users.iter().map(|&n| (n, Property::Weights)).collect()
            }
        }
    }
}

/// Maps each mesh to the nodes that draw it with the mesh's own morph weights. `nodes` is JSON from the file.
pub fn mesh_users(nodes: Option<&Value>) -> HashMap<usize, Vec<NodeId>> {
    let mut out: HashMap<usize, Vec<NodeId>> = HashMap::new();
    for (i, node) in nodes.and_then(Value::as_array).into_iter().flatten().enumerate() {
        if let Some(mesh) = node.get("mesh").and_then(Value::as_u64)
            && node.get("weights").is_none()
        {
            out.entry(mesh as usize).or_default().push(NodeId::from(i));
        }
    }
    out
}

/// Interpolation between keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Interpolation {
    /// Holds the key's value until the next key.
    Step,
    /// Linear interpolation; shortest-arc slerp for rotations.
    Linear,
    /// Cubic Hermite spline with tangents from the file.
    CubicSpline,
}
