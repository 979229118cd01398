//! Computes skin weights for a file that has a skeleton and meshes without skins. Every mesh gets a skin with heat
//! weights ([`crate::bind::heat_weights`]); the rest of the file stays unchanged.

mod rigging;

pub use rigging::{RigBone, ordered_bones, rig};

use super::influences::{replace_sets, write_sets};
use super::{Builder, Usage};
use crate::asset::{Asset, Influences};
use crate::base::math::{DAffine3, Mat4, Vec3};
use crate::base::{Error, JointId, NodeId, Result};
use crate::bind::weights::{WeightMethod, skin_weights};
use crate::bind::{Cache, Character, HeatSite, kept_heat_weights};
use crate::rig::{Pose, PosedRig, Skeleton, in_scene, named_node, skin_of};
use serde_json::{Value, json};

/// Maximum number of bones: influences store 16-bit indices.
const MAX_BONES: usize = 4096;
/// Length of a leaf joint's bone, as a fraction of its parent bone.
const TIP: f32 = 0.5;
/// Margin inside the meshes' bounding box, as a fraction of its diagonal. Nodes within this margin count as outside the
/// meshes.
const RIM: f32 = 0.02;

/// A file with computed skin weights.
pub struct Weighed {
    /// The weighted file as an asset; its path is still the original file's path.
    pub asset: Asset,
    /// The weighted file as a .glb.
    pub glb: Vec<u8>,
    /// Names of the mesh nodes that received weights.
    pub meshes: Vec<String>,
    /// Number of bones.
    pub bones: usize,
}

/// Adds skin weights for a file's bones to its meshes. Returns `None` if a mesh of the scene has weights already, or
/// if the file has no mesh or no bones.
///
/// If `top` is given, the bones are the nodes of its subtree that draw nothing; else the joints of the first non-empty
/// skin; else all trees of at least two nodes that draw nothing. Such a tree's root is skipped if it is an armature
/// node: at its parent's origin, outside the meshes, with a single child that has children. Meshes below a bone get no
/// weights, because they already follow it. A mesh that several nodes draw gets the weights of the first of these
/// nodes, and only that node is skinned.
///
/// # Errors
/// [`Error::Input`] if `top` names no node or has no children, or weights cannot be computed for the mesh; also the
/// errors of [`Character::from_asset`].
pub fn weigh(asset: &Asset, top: Option<&str>, cache: Option<&Cache>) -> Result<Option<Weighed>> {
    let shown = in_scene(asset);
    let drawn = |i: usize| shown[i] && asset.nodes[i].mesh.is_some();
    let skinned = |i: usize| {
        let node = &asset.nodes[i];
        let weights = |m: crate::base::MeshId| {
            asset.meshes[m.index()].primitives.iter().any(|p| !p.influences.is_empty())
        };
        drawn(i) && skin_of(asset, node).is_some() && node.mesh.is_some_and(weights)
    };
    if (0..asset.nodes.len()).any(skinned) {
        return Ok(None);
    }
    let character = Character::from_asset(asset)?;
    let bones = bones(asset, &character, &shown, top)?;
    let heat = |positions: &[Vec3], triangles: &[[u32; 3]], sites: &[HeatSite]| {
        kept_heat_weights(cache, positions, triangles, sites)
    };
    weigh_bones(asset, &character, &bones, |_| None, heat)
}

/// Adds skin weights for these bones, parents before children. `weights` computes the weights from the positions and
/// triangles of the mesh and from the bones. `tail` returns the end of a bone without children in world space; if it
/// returns `None`, the bone continues in its parent's direction.
fn weigh_bones(
    asset: &Asset,
    character: &Character,
    bones: &[NodeId],
    tail: impl Fn(NodeId) -> Option<Vec3>,
    weights: impl Fn(&[Vec3], &[[u32; 3]], &[HeatSite]) -> Result<Influences>,
) -> Result<Option<Weighed>> {
    let skeleton = &character.skeleton;
    if bones.is_empty() || character.control.positions.is_empty() {
        return Ok(None);
    }
    if bones.len() > MAX_BONES {
        let problem = format!("{}: {} bones and no weights", asset.path.display(), bones.len());
        return Err(Error::input(problem, format!("give it at most {MAX_BONES}")));
    }
    let rig = PosedRig::new(skeleton, &Pose::rest(skeleton));
    let sites = sites(skeleton, &rig, bones, tail);
    let (positions, triangles) = (&character.control.positions, &character.control.triangles);
    let weights = weights(positions, triangles, &sites).map_err(|e| e.in_file(&asset.path))?;
    write(asset, character, &rig, bones, &weights)
}

/// Computes new skin weights for a file by a method, in about `cubes` cubes, and replaces the file's weights. Returns
/// `None` if `progress` returns false.
///
/// # Errors
/// The errors of [`Character::from_asset`], [`skin_weights`] and [`reweigh`].
pub fn weigh_again(
    asset: &Asset,
    method: WeightMethod,
    cubes: Option<usize>,
    cache: Option<&Cache>,
    progress: &(dyn Fn(f32) -> bool + Sync),
) -> Result<Option<Weighed>> {
    let character = Character::from_asset(asset)?;
    let weights = skin_weights(cache, &character, method, cubes.unwrap_or(method.cubes()), progress);
    let weights = weights.map_err(|e| e.in_file(&asset.path))?;
    weights.map(|weights| reweigh(asset, &character, &weights)).transpose()
}

/// Replaces the skin weights of a file. `influences` has the joints of the character's skeleton and one row per control
/// vertex. Weights of joints that a mesh's skin lacks go to the nearest ancestor in the skin. Weights of a mesh that
/// several nodes draw are those of the first node.
///
/// # Errors
/// [`Error::Input`] if no mesh has skin weights.
pub fn reweigh(asset: &Asset, character: &Character, influences: &Influences) -> Result<Weighed> {
    let mut builder = Builder::of(asset)?;
    let (skeleton, display) = (&character.skeleton, &character.display);
    let (mut meshes, mut bones) = (Vec::new(), Vec::new());
    let mut done: Vec<(usize, usize)> = Vec::new();
    for part in &display.parts {
        let (node, primitive) =
            (&asset.nodes[part.node.index()], &asset.meshes[part.mesh.index()].primitives[part.primitive]);
        let key = (part.mesh.index(), part.primitive);
        let Some(skin) = skin_of(asset, node).filter(|_| !primitive.influences.is_empty()) else { continue };
        if done.contains(&key) {
            continue;
        }
        done.push(key);
        let joints = &skeleton.skins[skin.index()].joints;
        let slot = |joint: JointId| {
            let node = skeleton.joints[joint.index()].node;
            joints.iter().position(|j| skeleton.joints[j.index()].node == node)
        };
        let above = |joint: JointId| {
            std::iter::successors(Some(joint), |j| skeleton.joints[j.index()].parent).find_map(slot)
        };
        let slots: Vec<u16> =
            (0..skeleton.joints.len()).map(|j| above(JointId::from(j)).unwrap_or(0) as u16).collect();
        let mut own = Influences::default();
        for v in part.vertices.clone() {
            let mut row: Vec<(u16, f32)> = Vec::new();
            for (joint, weight) in influences.of(display.control_of[v as usize] as usize) {
                let slot = slots[usize::from(joint)];
                match row.iter_mut().find(|e| e.0 == slot) {
                    Some(entry) => entry.1 += weight,
                    None => row.push((slot, weight)),
                }
            }
            row.sort_by(|a, b| b.1.total_cmp(&a.1));
            own.push(row);
        }
        bones.extend((0..own.len()).flat_map(|v| own.of(v)).map(|(slot, _)| joints[usize::from(slot)]));
        bones.sort_unstable();
        bones.dedup();
        let sets = write_sets(&mut builder, &own, primitive.positions.len());
        let index = if asset.source.json.is_object() { primitive.file_index } else { part.primitive };
        replace_sets(&mut builder, &format!("/meshes/{}/primitives/{index}", part.mesh.index()), sets);
        if meshes.last() != Some(&node.name) {
            meshes.push(node.name.clone());
        }
    }
    if meshes.is_empty() {
        let problem = format!("{}: no mesh has skin weights", asset.path.display());
        return Err(Error::input(problem, "name the topmost bone of its skeleton with --bones"));
    }
    let glb = builder.glb()?;
    let asset = Asset::from_slice(&glb, &asset.path)?;
    Ok(Weighed { asset, glb, meshes, bones: bones.len() })
}

/// Returns the nodes that are bones, parents before children.
fn bones(asset: &Asset, character: &Character, shown: &[bool], top: Option<&str>) -> Result<Vec<NodeId>> {
    let skeleton = &character.skeleton;
    let order = || skeleton.order.iter().copied().filter(|n| shown[n.index()]);
    let empty = |n: NodeId| asset.nodes[n.index()].mesh.is_none() && !is_view(asset, n);
    let above =
        |n: NodeId| std::iter::successors(asset.nodes[n.index()].parent, |p| asset.nodes[p.index()].parent);
    if let Some(name) = top {
        let wrong = |problem: String| Err(Error::input(problem, "name the topmost bone, see sinew inspect"));
        let top = named_node(skeleton, name).map_err(|e| e.in_file(&asset.path))?;
        let found: Vec<NodeId> =
            order().filter(|&n| empty(n) && (n == top || above(n).any(|p| p == top))).collect();
        if found.len() < 2 {
            return wrong(format!("{}: node \"{name}\" has no bones below it", asset.path.display()));
        }
        return Ok(found);
    }
    if let Some(skin) = asset.skins.iter().find(|s| !s.joints.is_empty()) {
        return Ok(order().filter(|n| skin.joints.contains(n)).collect());
    }
    // Per node: whether its whole subtree has no mesh, camera or light.
    let mut bare: Vec<bool> = (0..asset.nodes.len()).map(|i| shown[i] && empty(NodeId::from(i))).collect();
    for &n in skeleton.order.iter().rev() {
        if let Some(p) = asset.nodes[n.index()].parent.filter(|_| !bare[n.index()]) {
            bare[p.index()] = false;
        }
    }
    let children = |n: NodeId| asset.nodes[n.index()].children.iter().filter(|c| bare[c.index()]).count();
    let bounds = character.control.aabb;
    let rig = PosedRig::new(skeleton, &Pose::rest(skeleton));
    let inside = |n: NodeId| {
        let x: Vec3 = rig.world[n.index()].translation.into();
        let margin = Vec3::splat(RIM * bounds.diagonal());
        x.cmpge(bounds.min + margin).all() && x.cmple(bounds.max - margin).all()
    };
    let mut out = Vec::new();
    for n in order().filter(|n| bare[n.index()]) {
        let is_top = asset.nodes[n.index()].parent.is_none_or(|p| !bare[p.index()]);
        let node = &asset.nodes[n.index()];
        let untouched = node.rest.translation().length() == 0.0 && !inside(n);
        let armature =
            is_top && untouched && children(n) == 1 && node.children.iter().any(|c| children(*c) > 0);
        if (is_top && children(n) == 0) || armature {
            continue;
        }
        out.push(n);
    }
    Ok(out)
}

/// Returns whether a node is a camera or a light.
fn is_view(asset: &Asset, node: NodeId) -> bool {
    let json = asset.source.json.pointer(&format!("/nodes/{}", node.index()));
    let light = |n: &Value| n.pointer("/extensions/KHR_lights_punctual").is_some();
    json.is_some_and(|n| n.get("camera").is_some() || light(n))
}

/// Returns bone segments from each node to its children. A leaf's segment ends at `tail`, or continues in its parent's
/// direction.
fn sites(
    skeleton: &Skeleton,
    rig: &PosedRig,
    bones: &[NodeId],
    tail: impl Fn(NodeId) -> Option<Vec3>,
) -> Vec<HeatSite> {
    let at = |n: NodeId| -> Vec3 { rig.world[n.index()].translation.into() };
    let mut out = Vec::new();
    for (k, &bone) in bones.iter().enumerate() {
        let children = bones.iter().filter(|c| skeleton.nodes[c.index()].parent == Some(bone));
        let mut leaf = true;
        for &child in children {
            leaf = false;
            out.push(HeatSite { owner: k as u16, head: at(bone), tail: at(child) });
        }
        if leaf {
            let parent = skeleton.nodes[bone.index()].parent.filter(|p| bones.contains(p));
            let along = parent.map_or(Vec3::ZERO, |p| at(bone) - at(p));
            let tail = tail(bone).unwrap_or(at(bone) + TIP * along);
            out.push(HeatSite { owner: k as u16, head: at(bone), tail });
        }
    }
    out
}

fn write(
    asset: &Asset,
    character: &Character,
    rig: &PosedRig,
    bones: &[NodeId],
    weights: &Influences,
) -> Result<Option<Weighed>> {
    let mut builder = Builder::of(asset)?;
    builder.drop_false_skeletons(asset);
    let mut meshes = Vec::new();
    let mut done: Vec<usize> = Vec::new();
    let display = &character.display;
    let hangs = |node: NodeId| {
        let parent = |n: &NodeId| asset.nodes[n.index()].parent;
        std::iter::successors(Some(node), parent).any(|n| bones.contains(&n))
    };
    let mut nodes: Vec<NodeId> = display.parts.iter().map(|p| p.node).collect();
    nodes.dedup();
    for node in nodes.into_iter().filter(|n| !hangs(*n)) {
        let Some(mesh) = asset.nodes[node.index()].mesh else { continue };
        if done.contains(&mesh.index()) {
            continue;
        }
        done.push(mesh.index());
        for part in display.parts.iter().filter(|p| p.node == node) {
            let mut own = Influences::default();
            for v in part.vertices.clone() {
                own.push(weights.of(display.control_of[v as usize] as usize));
            }
            let primitive = &asset.meshes[mesh.index()].primitives[part.primitive];
            let sets = write_sets(&mut builder, &own, primitive.positions.len());
            // An in-memory asset has only triangle primitives, so its primitive indices are those of the written file.
            let index = if asset.source.json.is_object() { primitive.file_index } else { part.primitive };
            let pointer = format!("/meshes/{}/primitives/{index}/attributes", mesh.index());
            if let Some(attributes) = builder.json.pointer_mut(&pointer).and_then(Value::as_object_mut) {
                attributes.extend(sets);
            }
        }
        let mesh_world = wide(&rig.world[node.index()]);
        let inverse = |bone: &NodeId| {
            let joint_from_mesh = wide(&rig.world[bone.index()]).inverse() * mesh_world;
            if joint_from_mesh.is_finite() {
                Mat4::from(joint_from_mesh.as_affine3a())
            } else {
                Mat4::IDENTITY
            }
        };
        let matrices: Vec<f32> = bones.iter().flat_map(|b| inverse(b).to_cols_array()).collect();
        let matrices = builder.floats(&matrices, 16, Usage::Other, false);
        let joints: Vec<u32> = bones.iter().map(|b| b.0).collect();
        let skin = builder.push("skins", json!({ "joints": joints, "inverseBindMatrices": matrices }));
        if let Some(json) = builder.json.pointer_mut(&format!("/nodes/{}", node.index())) {
            json["skin"] = skin.into();
        }
        meshes.push(asset.nodes[node.index()].name.clone());
    }
    if meshes.is_empty() {
        return Ok(None);
    }
    let glb = builder.glb()?;
    let asset = Asset::from_slice(&glb, &asset.path)?;
    Ok(Some(Weighed { asset, glb, meshes, bones: bones.len() }))
}

fn wide(map: &crate::base::math::Affine3A) -> DAffine3 {
    DAffine3::from_mat4(Mat4::from(*map).as_dmat4())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bind::shapes::Shape;

    /// A capsule mesh without its skin; its node is a sibling of the bones.
    fn bare() -> Asset {
        let mut asset = Shape { bones: 3, rings: 48, segments: 12, radius: 0.15, length: 3.0, blend: 0.3 }
            .capsule_asset();
        asset.skins.clear();
        asset.nodes.iter_mut().for_each(|n| n.skin = None);
        asset
            .meshes
            .iter_mut()
            .flat_map(|m| &mut m.primitives)
            .for_each(|p| p.influences = Influences::default());
        asset
    }

    #[test]
    fn a_capsule_beside_its_bones_follows_them() {
        let asset = bare();
        let weighed = weigh(&asset, None, None).unwrap().expect("there is a skeleton and a mesh");
        assert_eq!((weighed.bones, weighed.meshes.len()), (3, 1));
        assert_eq!(weighed.asset.skins.len(), 1);
        // The mesh looks unchanged.
        let before = Character::from_asset(&asset).unwrap();
        let after = Character::from_asset(&weighed.asset).unwrap();
        assert!(after.control.rigid.iter().all(|r| !r));
        assert_eq!(before.display.triangles, after.display.triangles);
        for (a, b) in before.display.positions.iter().zip(&after.display.positions) {
            assert!(a.distance(*b) < 1e-5, "{a} {b}");
        }
        // The end of the arm follows only the last bone.
        let joint = after.skeleton.joints.len() - 1;
        for (v, x) in after.control.positions.iter().enumerate() {
            let heaviest = after.control.influences.of(v).next().unwrap();
            assert!(x.y < 2.5 || (usize::from(heaviest.0) == joint && heaviest.1 > 0.9), "{x} {heaviest:?}");
        }
        // A file with weights is left unchanged.
        assert!(weigh(&weighed.asset, None, None).unwrap().is_none());
    }

    #[test]
    fn bones_can_be_named_and_what_is_no_skeleton_is_told() {
        let asset = bare();
        let first = asset.nodes.iter().position(|n| n.mesh.is_none() && !n.children.is_empty()).unwrap();
        let name = asset.nodes[first].name.clone();
        assert_eq!(weigh(&asset, Some(&name), None).unwrap().unwrap().bones, 3);
        assert!(weigh(&asset, Some("nobody"), None).err().unwrap().to_string().contains("nobody"));
        let mesh = asset.nodes.iter().find(|n| n.mesh.is_some()).unwrap().name.clone();
        assert!(weigh(&asset, Some(&mesh), None).err().unwrap().to_string().contains("no bones"));
        // A mesh without any bones.
        let mut alone = bare();
        alone.roots.retain(|r| alone.nodes[r.index()].mesh.is_some());
        assert!(weigh(&alone, None, None).unwrap().is_none());
        assert!(weigh(&Asset::default(), None, None).unwrap().is_none());
    }
}
