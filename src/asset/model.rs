//! The file's geometry, hierarchy and skins as plain data.

use super::{Clip, Image, Material, Texture};
use crate::base::math::{Mat4, Trs, Vec2, Vec3, Vec4};
use crate::base::{MaterialId, MeshId, NodeId, SkinId};
use std::path::PathBuf;

/// A glTF file in memory.
#[derive(Clone, Debug, Default)]
pub struct Asset {
    /// Path of the file, for messages.
    pub path: PathBuf,
    /// The file's own JSON and buffers, for a lossless export.
    pub source: Source,
    /// All nodes, in file order.
    pub nodes: Vec<Node>,
    /// Root nodes of the default scene (or of the first scene; or all roots if there is no scene).
    pub roots: Vec<NodeId>,
    /// All meshes, in file order.
    pub meshes: Vec<Mesh>,
    /// All skins, in file order.
    pub skins: Vec<Skin>,
    /// All animations, in file order.
    pub clips: Vec<Clip>,
    /// All materials, in file order.
    pub materials: Vec<Material>,
    /// All textures, in file order.
    pub textures: Vec<Texture>,
    /// All images, in file order.
    pub images: Vec<Image>,
    /// Flaws that were repaired or left out while loading.
    pub problems: Vec<Problem>,
}

/// A flaw of the file that did not prevent loading.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Problem {
    /// The element, e.g. `node "Spine2"`.
    pub at: String,
    /// The flaw and how it was handled.
    pub text: String,
}

/// The file as it was read: JSON tree in its own key order, and one byte vector per buffer.
#[derive(Clone, Debug, Default)]
pub struct Source {
    /// The glTF JSON.
    pub json: serde_json::Value,
    /// Content of each `buffers[i]`, with external files and data URIs resolved.
    pub buffers: Vec<Vec<u8>>,
    /// Content and MIME type of images outside the buffers (files or data URIs), by image index.
    pub image_files: Vec<Option<(Vec<u8>, String)>>,
}

/// A node of the hierarchy.
#[derive(Clone, Debug)]
pub struct Node {
    /// Name, or `node 12` if the file has none.
    pub name: String,
    /// The parent; `None` for a root.
    pub parent: Option<NodeId>,
    /// The children, in file order.
    pub children: Vec<NodeId>,
    /// The local transform. If the file has a matrix, its closest decomposition.
    pub rest: Trs,
    /// The file's own matrix if `rest` does not reproduce it (shear).
    pub matrix: Option<Mat4>,
    /// The mesh that the node draws.
    pub mesh: Option<MeshId>,
    /// The skin that deforms the mesh.
    pub skin: Option<SkinId>,
    /// Morph weights of this node (the mesh's defaults if the node has none); empty without morph targets.
    pub weights: Vec<f32>,
}

/// A mesh: its triangle primitives.
#[derive(Clone, Debug)]
pub struct Mesh {
    /// Name, or `mesh 3` if the file has none.
    pub name: String,
    /// Triangle primitives only; points and lines stay in [`Asset::source`] and are noted as problems.
    pub primitives: Vec<Primitive>,
}

impl Mesh {
    /// Number of morph targets, equal for all its primitives.
    pub fn morph_count(&self) -> usize {
        self.primitives.iter().map(|p| p.morphs.len()).max().unwrap_or(0)
    }
}

/// A triangle primitive, decoded. All per-vertex vectors have the length of `positions`.
#[derive(Clone, Debug, Default)]
pub struct Primitive {
    /// Index of this primitive in the file's mesh (points and lines are skipped here, so it may differ).
    pub file_index: usize,
    /// Positions in mesh space, metres.
    pub positions: Vec<Vec3>,
    /// Normals of unit length; computed from the triangles if the file has none.
    pub normals: Vec<Vec3>,
    /// Whether `normals` came from the file.
    pub normals_from_file: bool,
    /// First texture coordinates; zero if the file has none.
    pub uvs: Vec<Vec2>,
    /// Second texture coordinates; empty if the file has none.
    pub uvs1: Vec<Vec2>,
    /// Linear RGBA vertex colours; empty if the file has none.
    pub colors: Vec<Vec4>,
    /// Vertex indices; strips and fans are expanded, non-indexed vertices numbered.
    pub triangles: Vec<[u32; 3]>,
    /// The material; `None` for glTF's default.
    pub material: Option<MaterialId>,
    /// Skin influences of all JOINTS_n/WEIGHTS_n sets; empty (no vertex) without any.
    pub influences: Influences,
    /// Morph targets, in file order.
    pub morphs: Vec<Morph>,
}

/// Skin influences in CSR form: vertex `v` has entries `offset[v] .. offset[v + 1]`.
///
/// Weights are positive and sum to one per vertex. No joint occurs twice in a vertex. Entries are sorted by
/// descending weight.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Influences {
    /// `vertices + 1` entries, or none.
    pub offset: Vec<u32>,
    /// Index into the corresponding joint list ([`Skin::joints`], or a skeleton's joints).
    pub joint: Vec<u16>,
    /// Weight of that joint.
    pub weight: Vec<f32>,
}

impl Influences {
    /// Number of vertices covered.
    pub fn len(&self) -> usize {
        self.offset.len().saturating_sub(1)
    }

    /// Whether no vertex is covered.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// `(joint, weight)` of one vertex, heaviest first.
    pub fn of(&self, vertex: usize) -> impl ExactSizeIterator<Item = (u16, f32)> + '_ {
        let range = self.offset[vertex] as usize..self.offset[vertex + 1] as usize;
        self.joint[range.clone()].iter().copied().zip(self.weight[range].iter().copied())
    }

    /// Appends a vertex; `entries` must satisfy the invariants.
    pub fn push(&mut self, entries: impl IntoIterator<Item = (u16, f32)>) {
        if self.offset.is_empty() {
            self.offset.push(0);
        }
        for (joint, weight) in entries {
            self.joint.push(joint);
            self.weight.push(weight);
        }
        self.offset.push(self.joint.len() as u32);
    }
}

/// A morph target: displacements that are scaled by its weight and added.
#[derive(Clone, Debug)]
pub struct Morph {
    /// Name (`extras.targetNames`), or `target 2` if the file has none.
    pub name: String,
    /// Position displacement per vertex, mesh space, metres.
    pub positions: Vec<Vec3>,
    /// Normal displacement per vertex; empty if the file has none.
    pub normals: Vec<Vec3>,
}

/// A skin.
#[derive(Clone, Debug)]
pub struct Skin {
    /// Name, or `skin 0` if the file has none.
    pub name: String,
    /// The joint nodes.
    pub joints: Vec<NodeId>,
    /// `joint_from_mesh`, one per joint; the identity if the file has none.
    pub inverse_bind: Vec<Mat4>,
}

impl Skin {
    /// Whether a node can be the skin's skeleton root (glTF 2.0, 3.7.3.1): each joint is that node or a descendant.
    pub fn has_root(&self, root: u64, nodes: &[Node]) -> bool {
        // A node has at most as many ancestors as there are nodes.
        let above = |joint: NodeId| std::iter::successors(Some(joint), |n| nodes[n.index()].parent);
        self.joints.iter().all(|&joint| above(joint).any(|n| n.index() as u64 == root))
    }
}
