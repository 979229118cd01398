//! The report about a file as data, ready for JSON.

use crate::asset::{Asset, Interpolation, Node, Primitive, Problem};
use crate::base::Result;
use crate::base::math::{Aabb, Affine3A, Vec3};
use crate::document::Document;
use crate::export::project;
use crate::rig::Skeleton;
use serde::Serialize;
use serde_json::Value;

/// The content of a glTF file. Lengths in metres, times in seconds.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The file's path as given on the command line.
    pub file: String,
    /// The program that wrote the file.
    pub generator: Option<String>,
    /// glTF version.
    pub version: Option<String>,
    /// Copyright note.
    pub copyright: Option<String>,
    /// Number of scenes.
    pub scenes: usize,
    /// Number of nodes.
    pub nodes: usize,
    /// Total size of all buffers, bytes.
    pub buffer_bytes: usize,
    /// Meshes, in file order.
    pub meshes: Vec<MeshInfo>,
    /// Skins, in file order.
    pub skins: Vec<SkinInfo>,
    /// Joints of all skins as one forest, parents before children.
    pub joints: Vec<JointInfo>,
    /// Clips, in file order.
    pub clips: Vec<ClipInfo>,
    /// Names of the materials.
    pub materials: Vec<String>,
    /// Number of textures.
    pub textures: usize,
    /// Images, in file order.
    pub images: Vec<ImageInfo>,
    /// Number of cameras; Sinew preserves cameras but does not show them.
    pub cameras: usize,
    /// Extensions listed in `extensionsUsed`.
    pub extensions_used: Vec<String>,
    /// Extensions listed in `extensionsRequired`.
    pub extensions_required: Vec<String>,
    /// Smallest and largest corner of the scene in the file's rest pose (skinned, morphs at their rest weights);
    /// `None` if the scene has no vertices.
    pub bounds: Option<[[f32; 3]; 2]>,
    /// The embedded Sinew document; `None` if the file is not a project.
    pub project: Option<ProjectInfo>,
    /// Problems that the loader repaired, and content that it left out.
    pub problems: Vec<Problem>,
}

/// The document inside a project file.
#[derive(Clone, Debug, Serialize)]
pub struct ProjectInfo {
    /// The document's name.
    pub name: String,
    /// Hash of the document, 64 hexadecimal digits.
    pub document: String,
    /// Path that the original character file had when the project was saved.
    pub original: String,
    /// Names of the strokes.
    pub strokes: Vec<String>,
    /// Times of the keys, seconds.
    pub keys: Vec<f64>,
    /// Deformation method; empty for the default.
    pub method: String,
}

/// A mesh of the file.
#[derive(Clone, Debug, Serialize)]
pub struct MeshInfo {
    /// Name of the mesh.
    pub name: String,
    /// Number of triangle primitives.
    pub primitives: usize,
    /// Number of vertices in all primitives.
    pub vertices: usize,
    /// Number of triangles in all primitives.
    pub triangles: usize,
    /// Largest number of joints that influence one vertex; zero for a mesh without a skin.
    pub influences_max: usize,
    /// Names of the morph targets.
    pub morphs: Vec<String>,
}

/// A skin of the file.
#[derive(Clone, Debug, Serialize)]
pub struct SkinInfo {
    /// Name of the skin.
    pub name: String,
    /// Number of joints.
    pub joints: usize,
}

/// A joint of any skin.
#[derive(Clone, Debug, Serialize)]
pub struct JointInfo {
    /// Name of the joint's node.
    pub name: String,
    /// Index of the joint's node.
    pub node: u32,
    /// Index in [`Report::joints`] of the nearest ancestor that is a joint.
    pub parent: Option<usize>,
}

/// An animation clip of the file.
#[derive(Clone, Debug, Serialize)]
pub struct ClipInfo {
    /// Name of the clip.
    pub name: String,
    /// Time of the clip's last key, seconds.
    pub seconds: f32,
    /// Number of channels.
    pub channels: usize,
    /// Number of keys in all channels.
    pub keys: usize,
    /// Interpolation modes that occur in the clip.
    pub interpolations: Vec<&'static str>,
}

/// An image of the file.
#[derive(Clone, Debug, Serialize)]
pub struct ImageInfo {
    /// Name of the image.
    pub name: String,
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
}

impl Report {
    /// Describes a loaded file.
    pub fn of(asset: &Asset) -> Self {
        let json = &asset.source.json;
        let about = |key: &str| json["asset"][key].as_str().map(str::to_owned);
        let count = |key: &str| json[key].as_array().map_or(0, Vec::len);
        let names = |key: &str| -> Vec<String> {
            let list = json[key].as_array().map_or(&[][..], Vec::as_slice);
            list.iter().filter_map(Value::as_str).map(str::to_owned).collect()
        };
        let bounds = rest_bounds(asset);
        let mut problems = asset.problems.clone();
        let project = ProjectInfo::of(asset).unwrap_or_else(|error| {
            problems.push(Problem { at: "project".into(), text: error.to_string() });
            None
        });
        Self {
            file: asset.path.display().to_string(),
            generator: about("generator"),
            version: about("version"),
            copyright: about("copyright"),
            scenes: count("scenes"),
            nodes: asset.nodes.len(),
            buffer_bytes: asset.source.buffers.iter().map(Vec::len).sum(),
            meshes: asset.meshes.iter().map(MeshInfo::of).collect(),
            skins: asset
                .skins
                .iter()
                .map(|s| SkinInfo { name: s.name.clone(), joints: s.joints.len() })
                .collect(),
            joints: joints(asset),
            clips: asset.clips.iter().map(ClipInfo::of).collect(),
            materials: asset.materials.iter().map(|m| m.name.clone()).collect(),
            textures: asset.textures.len(),
            images: asset
                .images
                .iter()
                .map(|i| ImageInfo { name: i.name.clone(), width: i.width, height: i.height })
                .collect(),
            cameras: count("cameras"),
            extensions_used: names("extensionsUsed"),
            extensions_required: names("extensionsRequired"),
            bounds: (!bounds.is_empty()).then(|| [bounds.min.into(), bounds.max.into()]),
            project,
            problems,
        }
    }
}

impl ProjectInfo {
    fn of(shown: &Asset) -> Result<Option<Self>> {
        let Some((asset, document)) = project::original(shown)? else { return Ok(None) };
        let document = Document::from_json(document, &Skeleton::from_asset(&asset)?)?;
        Ok(Some(Self {
            name: document.name().to_owned(),
            document: document.hash(),
            original: document.asset().map_or_else(String::new, |a| a.path.clone()),
            strokes: document.strokes().iter().map(|s| s.name.clone()).collect(),
            keys: document.motion().key_times(),
            method: document.deformer().method.clone(),
        }))
    }
}

impl MeshInfo {
    fn of(mesh: &crate::asset::Mesh) -> Self {
        let most =
            |p: &Primitive| (0..p.influences.len()).map(|v| p.influences.of(v).len()).max().unwrap_or(0);
        let morphs = mesh.primitives.first().map(|p| p.morphs.iter().map(|m| m.name.clone()).collect());
        Self {
            name: mesh.name.clone(),
            primitives: mesh.primitives.len(),
            vertices: mesh.primitives.iter().map(|p| p.positions.len()).sum(),
            triangles: mesh.primitives.iter().map(|p| p.triangles.len()).sum(),
            influences_max: mesh.primitives.iter().map(most).max().unwrap_or(0),
            morphs: morphs.unwrap_or_default(),
        }
    }
}

impl ClipInfo {
    fn of(clip: &crate::asset::Clip) -> Self {
        let kinds = [
            (Interpolation::Step, "STEP"),
            (Interpolation::Linear, "LINEAR"),
            (Interpolation::CubicSpline, "CUBICSPLINE"),
        ];
        let occurs = |kind| clip.channels.iter().any(|c| c.interpolation == kind);
        Self {
            name: clip.name.clone(),
            seconds: clip.duration(),
            channels: clip.channels.len(),
            keys: clip.channels.iter().map(|c| c.times.len()).sum(),
            interpolations: kinds.iter().filter(|(kind, _)| occurs(*kind)).map(|(_, name)| *name).collect(),
        }
    }
}

/// Returns the nodes below `roots` in depth-first order: parents before children, siblings in file order.
fn depth_first(nodes: &[Node], roots: impl DoubleEndedIterator<Item = usize>) -> Vec<usize> {
    let mut open: Vec<usize> = roots.rev().collect();
    let mut order = Vec::with_capacity(nodes.len());
    while let Some(at) = open.pop() {
        order.push(at);
        open.extend(nodes[at].children.iter().rev().map(|child| child.index()));
    }
    order
}

fn joints(asset: &Asset) -> Vec<JointInfo> {
    let nodes = &asset.nodes;
    let mut is_joint = vec![false; nodes.len()];
    for joint in asset.skins.iter().flat_map(|skin| &skin.joints) {
        is_joint[joint.index()] = true;
    }
    // For each node: the index in `out` of the nearest joint, which is the node or an ancestor.
    let mut nearest: Vec<Option<usize>> = vec![None; nodes.len()];
    let mut out = Vec::new();
    for at in depth_first(nodes, (0..nodes.len()).filter(|&i| nodes[i].parent.is_none())) {
        let above = nodes[at].parent.and_then(|parent| nearest[parent.index()]);
        nearest[at] = above;
        if is_joint[at] {
            nearest[at] = Some(out.len());
            out.push(JointInfo { name: nodes[at].name.clone(), node: at as u32, parent: above });
        }
    }
    out
}

/// Returns the scene's bounds in the file's rest pose, with skins and morph weights applied.
fn rest_bounds(asset: &Asset) -> Aabb {
    let nodes = &asset.nodes;
    let mut world = vec![Affine3A::IDENTITY; nodes.len()];
    for at in depth_first(nodes, (0..nodes.len()).filter(|&i| nodes[i].parent.is_none())) {
        let parent_from_node = nodes[at].matrix.map_or_else(|| nodes[at].rest.affine(), Affine3A::from_mat4);
        world[at] = nodes[at].parent.map_or(parent_from_node, |p| world[p.index()] * parent_from_node);
    }
    let mut bounds = Aabb::EMPTY;
    for at in depth_first(nodes, asset.roots.iter().map(|root| root.index())) {
        let Some(mesh) = nodes[at].mesh else { continue };
        let skinning: Option<Vec<Affine3A>> = nodes[at].skin.map(|skin| {
            let skin = &asset.skins[skin.index()];
            let pairs = skin.joints.iter().zip(&skin.inverse_bind);
            pairs.map(|(joint, inverse)| world[joint.index()] * Affine3A::from_mat4(*inverse)).collect()
        });
        for primitive in &asset.meshes[mesh.index()].primitives {
            for vertex in 0..primitive.positions.len() {
                let point = placed(primitive, vertex, &nodes[at], world[at], skinning.as_deref());
                if point.is_finite() {
                    bounds = Aabb { min: bounds.min.min(point), max: bounds.max.max(point) };
                }
            }
        }
    }
    bounds
}

fn placed(
    primitive: &Primitive,
    vertex: usize,
    node: &Node,
    world: Affine3A,
    skinning: Option<&[Affine3A]>,
) -> Vec3 {
    let moved = |(morph, weight): (&crate::asset::Morph, &f32)| morph.positions[vertex] * *weight;
    let morphed: Vec3 =
        primitive.morphs.iter().zip(&node.weights).filter(|(_, w)| **w != 0.0).map(moved).sum();
    let point = primitive.positions[vertex] + morphed;
    match skinning {
        Some(transforms) if !primitive.influences.is_empty() => primitive
            .influences
            .of(vertex)
            .map(|(joint, weight)| transforms[joint as usize].transform_point3(point) * weight)
            .sum(),
        _ => world.transform_point3(point),
    }
}
