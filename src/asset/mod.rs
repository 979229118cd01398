//! glTF 2.0 in: a file becomes a plain [`Asset`], everything decoded and checked, nothing lost.
//!
//! Every index in an [`Asset`] is valid, every float finite, every hierarchy a forest: the modules below this
//! one need not check again.

use crate::base::math::{Mat4, Trs, Vec2, Vec3, Vec4};
use crate::base::{ImageId, MaterialId, MeshId, NodeId, SkinId, TextureId};
use std::path::PathBuf;

/// A glTF file in memory.
#[derive(Clone, Debug, Default)]
pub struct Asset {
    /// Where it came from, for messages.
    pub path: PathBuf,
    /// The file's own JSON and buffers, for an export that loses nothing.
    pub source: Source,
    /// All nodes, in file order.
    pub nodes: Vec<Node>,
    /// Root nodes of the default scene (or of the first scene; or all roots where there is no scene).
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
    /// What was found wrong and mended or left out while loading.
    pub problems: Vec<Problem>,
}

/// A flaw of the file that did not prevent loading.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Problem {
    /// The element, e.g. `node "Spine2"`.
    pub at: String,
    /// What is wrong and what was done about it.
    pub text: String,
}

/// The file as it was read: JSON tree in its own key order, and one byte vector per buffer.
#[derive(Clone, Debug, Default)]
pub struct Source {
    /// The glTF JSON.
    pub json: serde_json::Value,
    /// Content of each `buffers[i]`, external files and data URIs resolved.
    pub buffers: Vec<Vec<u8>>,
    /// Content and MIME type of images that live in files of their own, by image index.
    pub image_files: Vec<Option<(Vec<u8>, String)>>,
}

/// A node of the hierarchy.
#[derive(Clone, Debug)]
pub struct Node {
    /// Its name, or `node 12` where the file gives none.
    pub name: String,
    /// The parent, none for a root.
    pub parent: Option<NodeId>,
    /// The children, in file order.
    pub children: Vec<NodeId>,
    /// The local transform. Where the file gives a matrix, its closest decomposition.
    pub rest: Trs,
    /// The file's own matrix where `rest` does not reproduce it (shear).
    pub matrix: Option<Mat4>,
    /// The mesh drawn here.
    pub mesh: Option<MeshId>,
    /// The skin that deforms it.
    pub skin: Option<SkinId>,
    /// Morph weights of this node (the mesh's defaults where the node has none); empty without morphs.
    pub weights: Vec<f32>,
}

/// A mesh: its triangle primitives.
#[derive(Clone, Debug)]
pub struct Mesh {
    /// Its name, or `mesh 3`.
    pub name: String,
    /// Triangle primitives only; points and lines stay in [`Asset::source`] and are noted as problems.
    pub primitives: Vec<Primitive>,
}

/// A triangle primitive, decoded. All per-vertex vectors have the length of `positions`.
#[derive(Clone, Debug, Default)]
pub struct Primitive {
    /// Index of this primitive in the file's mesh (points and lines are skipped here, so it may differ).
    pub file_index: usize,
    /// Mesh space, metres.
    pub positions: Vec<Vec3>,
    /// Unit length; computed from the triangles where the file has none.
    pub normals: Vec<Vec3>,
    /// Whether `normals` came from the file.
    pub normals_from_file: bool,
    /// First texture coordinates, zero where the file has none.
    pub uvs: Vec<Vec2>,
    /// Second texture coordinates, empty where the file has none.
    pub uvs1: Vec<Vec2>,
    /// Linear RGBA vertex colours, empty where the file has none.
    pub colors: Vec<Vec4>,
    /// Vertex indices; strips and fans expanded, non-indexed numbered.
    pub triangles: Vec<[u32; 3]>,
    /// The material, none for glTF's default.
    pub material: Option<MaterialId>,
    /// Skin influences of all JOINTS_n/WEIGHTS_n sets; empty (no vertex) without any.
    pub influences: Influences,
    /// Morph targets, in file order.
    pub morphs: Vec<Morph>,
}

/// Skin influences in CSR form: vertex `v` has entries `offset[v] .. offset[v + 1]`.
///
/// Weights are positive and sum to one per vertex; no joint occurs twice in a vertex; entries are sorted by
/// descending weight.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Influences {
    /// `vertices + 1` entries, or none.
    pub offset: Vec<u32>,
    /// Index into the joint list that goes with it ([`Skin::joints`], or a skeleton's joints).
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

/// A morph target: displacements to be scaled by its weight and added.
#[derive(Clone, Debug)]
pub struct Morph {
    /// Its name (`extras.targetNames`), or `target 2`.
    pub name: String,
    /// Position displacement per vertex, mesh space, metres.
    pub positions: Vec<Vec3>,
    /// Normal displacement per vertex, empty where the file has none.
    pub normals: Vec<Vec3>,
}

/// A skin.
#[derive(Clone, Debug)]
pub struct Skin {
    /// Its name, or `skin 0`.
    pub name: String,
    /// The joint nodes.
    pub joints: Vec<NodeId>,
    /// `joint_from_mesh`, one per joint; the identity where the file has none.
    pub inverse_bind: Vec<Mat4>,
}

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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interpolation {
    /// Holds the key's value until the next key.
    Step,
    /// Linear; shortest-arc slerp for rotations.
    Linear,
    /// Hermite spline with tangents in the file.
    CubicSpline,
}

/// A metallic-roughness material.
#[derive(Clone, Debug)]
pub struct Material {
    /// Its name, or `material 0`.
    pub name: String,
    /// Linear RGBA factor.
    pub base_color: Vec4,
    /// Base colour texture (sRGB).
    pub base_color_texture: Option<TextureRef>,
    /// Factor in 0..=1.
    pub metallic: f32,
    /// Factor in 0..=1.
    pub roughness: f32,
    /// Green roughness, blue metallic, linear.
    pub metallic_roughness_texture: Option<TextureRef>,
    /// Tangent-space normal map, linear, and its scale.
    pub normal_texture: Option<(TextureRef, f32)>,
    /// Linear RGB, the strength extension included.
    pub emissive: Vec3,
    /// Emissive texture (sRGB).
    pub emissive_texture: Option<TextureRef>,
    /// How alpha is used.
    pub alpha: Alpha,
    /// Whether back faces are drawn.
    pub double_sided: bool,
    /// KHR_materials_unlit.
    pub unlit: bool,
}

impl Default for Material {
    fn default() -> Self {
        Self {
            name: "default".into(),
            base_color: Vec4::ONE,
            base_color_texture: None,
            metallic: 1.0,
            roughness: 1.0,
            metallic_roughness_texture: None,
            normal_texture: None,
            emissive: Vec3::ZERO,
            emissive_texture: None,
            alpha: Alpha::Opaque,
            double_sided: false,
            unlit: false,
        }
    }
}

/// A material's use of alpha.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Alpha {
    /// Ignored.
    Opaque,
    /// Discard below this cutoff.
    Mask(f32),
    /// Blended.
    Blend,
}

/// A texture as a material uses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextureRef {
    /// The texture.
    pub texture: TextureId,
    /// 0 for [`Primitive::uvs`], 1 for [`Primitive::uvs1`].
    pub uv_set: u32,
}

/// An image with a sampler.
#[derive(Clone, Debug)]
pub struct Texture {
    /// The image, none where only an unsupported format is given.
    pub image: Option<ImageId>,
    /// Wrap modes in u and v.
    pub wrap: [Wrap; 2],
    /// Whether magnification is nearest.
    pub nearest: bool,
}

/// Texture coordinate wrapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrap {
    /// Repeat.
    Repeat,
    /// Clamp to the edge.
    Clamp,
    /// Mirrored repeat.
    Mirror,
}

/// A decoded image: RGBA8, rows from the top. A file that could not be decoded is 1x1 magenta and a problem.
#[derive(Clone, Debug)]
pub struct Image {
    /// Its name, or `image 0`.
    pub name: String,
    /// Pixels.
    pub width: u32,
    /// Pixels.
    pub height: u32,
    /// `4 * width * height` bytes.
    pub rgba: Vec<u8>,
}
