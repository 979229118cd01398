//! The file's animations as plain data.

use crate::base::NodeId;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::HashMap;

/// An animation.
#[derive(Clone, Debug)]
pub struct Clip {
    /// Name, or `animation 0` if the file has none.
    pub name: String,
    /// Channels in file order; channels that move no node are left out.
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
    /// The animated node.
    pub node: NodeId,
    /// The animated property, which determines the number of floats per key.
    pub property: Property,
    /// Interpolation between keys.
    pub interpolation: Interpolation,
    /// Key times, seconds, strictly increasing, at least one.
    pub times: Vec<f32>,
    /// Values: `times.len() * width` floats, three times as many (in-tangent, value, out-tangent) for
    /// [`Interpolation::CubicSpline`]. Normalised integers are already floats.
    pub values: Vec<f32>,
}

/// The property that a channel animates.
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

impl Property {
    /// The property's name in glTF.
    pub fn path(self) -> &'static str {
        match self {
            Self::Translation => "translation",
            Self::Rotation => "rotation",
            Self::Scale => "scale",
            Self::Weights => "weights",
        }
    }

    /// The property with that name in glTF.
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

/// What an animation's channel says in KHR_animation_pointer, a JSON pointer; `None` if it names a node instead.
pub fn pointer(channel: &Value) -> Option<&str> {
    let target = channel.get("target").filter(|t| t.get("node").is_none())?;
    target.pointer("/extensions/KHR_animation_pointer/pointer")?.as_str()
}

/// A JSON pointer of KHR_animation_pointer that moves nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pointed {
    /// `/nodes/2/rotation`.
    Node(usize, Property),
    /// `/meshes/0/weights`: the weights of every node that draws the mesh and has none of its own.
    Mesh(usize),
}

impl Pointed {
    /// Reads a pointer; `None` if it points to anything else.
    pub fn read(pointer: &str) -> Option<Self> {
        let mut words = pointer.strip_prefix('/')?.splitn(3, '/');
        let (table, index, path) = (words.next()?, words.next()?.parse().ok()?, words.next()?);
        match table {
            "nodes" => Some(Self::Node(index, Property::from_path(path)?)),
            "meshes" if path == "weights" => Some(Self::Mesh(index)),
            _ => None,
        }
    }

    /// The nodes' properties that it moves; `users` are those of [`mesh_users`], `nodes` is their number in the file.
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

/// By mesh, the nodes that draw it with the mesh's own morph weights; `nodes` is the file's JSON.
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
    /// Linear; shortest-arc slerp for rotations.
    Linear,
    /// Hermite spline with tangents in the file.
    CubicSpline,
}
