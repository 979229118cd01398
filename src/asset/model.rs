//! A file's geometry, hierarchy and skins as plain data.

use super::{Clip, Image, Material, Texture};
use crate::base::math::{Mat4, Trs, Vec2, Vec3, Vec4};
use crate::base::{MaterialId, MeshId, NodeId, SkinId};
use std::path::PathBuf;

/// A glTF file in memory.
#[derive(Clone, Debug, Default)]
pub struct Asset {
    /// Path of the file, used in messages.
    pub path: PathBuf,
    /// The file's original JSON and buffers, for lossless export.
    pub source: Source,
    /// All nodes, in file order.
    pub nodes: Vec<Node>,
    /// Root nodes of the default scene, or of the first scene if none is default. If the file has no scene, all root
    /// nodes.
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
    /// Flaws that were repaired, and content that was skipped, while loading.
    pub problems: Vec<Problem>,
}

/// Name of the entry in a file's `asset.extras` that tells which method the morph targets of an export correct.
pub const CORRECTS: &str = "sinewCorrects";

impl Asset {
    /// Whether Sinew has exported the file, with morph targets that correct linear blend skinning. Other methods would
    /// show another shape than the exported one.
    pub fn corrects_lbs(&self) -> bool {
        let mark = self.source.json.get("asset").and_then(|a| a.get("extras")?.get(CORRECTS)?.as_str());
        mark == Some("lbs")
    }
}

/// A flaw of the file that does not prevent loading.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Problem {
    /// The affected element, e.g. `node "Spine2"`.
    pub at: String,
    /// Description of the flaw and its repair.
    pub text: String,
}

/// The original file: JSON tree with keys in file order, and one byte vector per buffer.
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
    /// Name, or `node 12` if unnamed.
    pub name: String,
    /// The parent; `None` for a root.
    pub parent: Option<NodeId>,
    /// The children, in file order.
    pub children: Vec<NodeId>,
    /// Local rest transform. If the file has a matrix, this is its closest decomposition.
    pub rest: Trs,
    /// The file's matrix if `rest` cannot reproduce it, because of shear.
    pub matrix: Option<Mat4>,
    /// The mesh that the node draws.
    pub mesh: Option<MeshId>,
    /// The skin that deforms the mesh.
    pub skin: Option<SkinId>,
    /// Morph weights; the mesh's default weights if the node has none. Empty if the mesh has no morph targets.
    pub weights: Vec<f32>,
}

/// A mesh, consisting of triangle primitives.
#[derive(Clone, Debug)]
pub struct Mesh {
    /// Name, or `mesh 3` if unnamed.
    pub name: String,
    /// Triangle primitives. Points and lines stay in [`Asset::source`] only and are reported as problems.
    pub primitives: Vec<Primitive>,
}

impl Mesh {
    /// Returns the number of morph targets, equal for all primitives of the mesh.
    pub fn morph_count(&self) -> usize {
        self.primitives.iter().map(|p| p.morphs.len()).max().unwrap_or(0)
    }
}

/// A decoded triangle primitive. All non-empty per-vertex vectors have the length of `positions`.
#[derive(Clone, Debug, Default)]
pub struct Primitive {
    /// Index of this primitive in the file's mesh, counting points and lines, which are skipped here.
    pub file_index: usize,
    /// Positions in mesh space, metres.
    pub positions: Vec<Vec3>,
    /// Normals of unit length. If the file has none, they are computed from the triangles of the primitive; a loaded
    /// character replaces them by the normals with which it is drawn.
    pub normals: Vec<Vec3>,
    /// Whether the file contains `normals`.
    pub normals_from_file: bool,
    /// First texture coordinates; zero if the file has none.
    pub uvs: Vec<Vec2>,
    /// Second texture coordinates; empty if the file has none.
    pub uvs1: Vec<Vec2>,
    /// Linear RGBA vertex colours; empty if the file has none.
    pub colors: Vec<Vec4>,
    /// Vertex indices of the triangles. Strips and fans are expanded. If the file has no indices, the vertices are used
    /// in order.
    pub triangles: Vec<[u32; 3]>,
    /// The material; `None` for glTF's default material.
    pub material: Option<MaterialId>,
    /// Skin influences, merged from all JOINTS_n and WEIGHTS_n sets; empty if the file has no such set.
    pub influences: Influences,
    /// Morph targets, in file order.
    pub morphs: Vec<Morph>,
}

/// Skin influences in CSR form: vertex `v` has entries `offset[v] .. offset[v + 1]`.
///
/// Weights are positive and sum to one per vertex. A joint occurs at most once per vertex. Entries are sorted by
/// descending weight.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Influences {
    /// Start offsets: `vertices + 1` entries, or empty without influences.
    pub offset: Vec<u32>,
    /// Joint index per entry, into [`Skin::joints`] or a skeleton's joints.
    pub joint: Vec<u16>,
    /// Weight per entry.
    pub weight: Vec<f32>,
}

impl Influences {
    /// Returns the number of vertices.
    pub fn len(&self) -> usize {
        self.offset.len().saturating_sub(1)
    }

    /// Returns whether there are no vertices.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the `(joint, weight)` pairs of one vertex, heaviest first.
    pub fn of(&self, vertex: usize) -> impl ExactSizeIterator<Item = (u16, f32)> + '_ {
        let range = self.offset[vertex] as usize..self.offset[vertex + 1] as usize;
        self.joint[range.clone()].iter().copied().zip(self.weight[range].iter().copied())
    }

    /// Appends a vertex. `entries` must satisfy the invariants of this type.
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

/// A morph target: displacements that are multiplied by a weight and added.
#[derive(Clone, Debug)]
pub struct Morph {
    /// Name from `extras.targetNames`, or `target 2` if unnamed.
    pub name: String,
    /// Position displacement per vertex, mesh space, metres.
    pub positions: Vec<Vec3>,
    /// Normal displacement per vertex; empty if the file has none.
    pub normals: Vec<Vec3>,
}

/// A skin: joints and their inverse bind matrices.
#[derive(Clone, Debug)]
pub struct Skin {
    /// Name, or `skin 0` if unnamed.
    pub name: String,
    /// The joint nodes.
    pub joints: Vec<NodeId>,
    /// Inverse bind matrices `joint_from_mesh`, one per joint; identities if the file has none.
    pub inverse_bind: Vec<Mat4>,
}

impl Skin {
    /// Returns whether node `root` can be the skeleton root (glTF 2.0, 3.7.3.1): every joint is in its subtree.
    pub fn has_root(&self, root: u64, nodes: &[Node]) -> bool {
        // The parent chain is finite, because the hierarchy has no cycles.
        let above = |joint: NodeId| std::iter::successors(Some(joint), |n| nodes[n.index()].parent);
        self.joints.iter().all(|&joint| above(joint).any(|n| n.index() as u64 == root))
    }
}
