//! Adds a skeleton to a file that has none. The rest of the file stays unchanged.

use super::{Weighed, weigh_again, weigh_bones};
use crate::asset::{Asset, Influences};
use crate::base::math::{Vec3, distance_to_segment};
use crate::base::{Error, NodeId, Result};
use crate::bind::weights::WeightMethod;
use crate::bind::{Cache, Character, HeatSite, kept_heat_weights};
use crate::export::Builder;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// A bone of a new skeleton.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RigBone {
    /// Name of the node; unique.
    pub name: String,
    /// Position of the joint in world space, metres.
    pub head: [f32; 3],
    /// End of the bone in world space, metres. For a bone without children, this end gives the bone's direction.
    pub tail: [f32; 3],
    /// Name of the parent bone; without one, the bone is a root.
    #[serde(default)]
    pub parent: Option<String>,
}

/// Adds bones to a file without skin weights, and computes weights by a method, in about `cubes` cubes. Each bone
/// becomes a node without rotation. Returns `None` if `progress` returns false.
///
/// # Errors
/// The errors of [`ordered_bones`]; [`Error::Input`] if the file has skin weights or no mesh, or if weights cannot be computed.
pub fn rig(
    asset: &Asset,
    bones: &[RigBone],
    (method, cubes): (WeightMethod, Option<usize>),
    cache: Option<&Cache>,
    progress: &(dyn Fn(f32) -> bool + Sync),
) -> Result<Option<Weighed>> {
    let bones = ordered_bones(bones)?;
    let taken = |name: &str| asset.nodes.iter().any(|n| n.name == name);
    if let Some(bone) = bones.iter().find(|b| taken(&b.name)) {
        let problem = format!("{}: a node has the name \"{}\" already", asset.path.display(), bone.name);
        return Err(Error::input(problem, "rename the bone"));
    }
    let character = Character::from_asset(asset)?;
    let weighted = |m: &crate::asset::Mesh| m.primitives.iter().any(|p| !p.influences.is_empty());
    if asset.meshes.iter().any(weighted) {
        let problem = format!("{}: a mesh has skin weights already", asset.path.display());
        return Err(Error::input(
            problem,
            "compute new weights for the file's own bones with sinew bind --weights",
        ));
    }
    if character.control.triangles.is_empty() {
        let problem = format!("{}: there is no mesh to move", asset.path.display());
        return Err(Error::input(problem, "choose a file with triangles"));
    }
    let mut builder = Builder::of(asset)?;
    let first = builder.len("nodes");
    let index = |name: &str| bones.iter().position(|b| b.name == name);
    for bone in &bones {
        let parent = bone.parent.as_deref().and_then(index);
        let from = parent.map_or([0.0; 3], |p| bones[p].head);
        let translation: [f32; 3] = std::array::from_fn(|k| bone.head[k] - from[k]);
        builder.push("nodes", json!({ "name": bone.name, "translation": translation }));
    }
    for (k, bone) in bones.iter().enumerate() {
        let list = match bone.parent.as_deref().and_then(index) {
            Some(parent) => format!("/nodes/{}/children", first + parent),
            None => format!("/scenes/{}/nodes", builder.json["scene"].as_u64().unwrap_or(0)),
        };
        append(&mut builder.json, &list, first + k);
    }
    let boned = Asset::from_slice(&builder.glb()?, &asset.path)?;
    let character = Character::from_asset(&boned)?;
    let nodes: Vec<NodeId> = (0..bones.len()).map(|k| NodeId::from(first + k)).collect();
    let tail = |n: NodeId| bones.get(n.index().checked_sub(first)?).map(|b| Vec3::from(b.tail));
    let first = |positions: &[Vec3], triangles: &[[u32; 3]], sites: &[HeatSite]| match method {
        WeightMethod::Heat => kept_heat_weights(cache, positions, triangles, sites),
        // Only vertices without flesh near them keep these weights.
        _ => Ok(nearest_bones(positions, sites)),
    };
    let weighed = weigh_bones(&boned, &character, &nodes, tail, first)?;
    let weighed = weighed.ok_or_else(|| {
        let problem = format!("{}: no mesh lies beside the bones", asset.path.display());
        Error::input(problem, "choose a file with a mesh in its scene")
    })?;
    if method == WeightMethod::Heat {
        return Ok(Some(weighed));
    }
    weigh_again(&weighed.asset, method, cubes, cache, progress)
}

/// Gives every vertex to the nearest bone.
fn nearest_bones(positions: &[Vec3], sites: &[HeatSite]) -> Influences {
    let mut out = Influences::default();
    for x in positions {
        let distance = |s: &HeatSite| distance_to_segment(*x, s.head, s.tail);
        let near = sites.iter().min_by(|a, b| distance(a).total_cmp(&distance(b)));
        out.push(near.map(|s| (s.owner, 1.0)));
    }
    out
}

/// Appends an index to the array at a JSON pointer; creates the array if it is missing.
fn append(json: &mut Value, pointer: &str, index: usize) {
    let Some((parent, name)) = pointer.rsplit_once('/') else { return };
    if let Some(object) = json.pointer_mut(parent).and_then(Value::as_object_mut)
        && let Some(list) = object.entry(name).or_insert_with(|| json!([])).as_array_mut()
    {
        list.push(index.into());
    }
}

/// Checks bones and returns them with parents before children.
///
/// # Errors
/// [`Error::Input`] if there are no bones, a name is empty or repeated, a parent is unknown, the parents form a circle,
/// or a coordinate is not finite.
pub fn ordered_bones(bones: &[RigBone]) -> Result<Vec<RigBone>> {
    let wrong = |problem: String| Err(Error::input(problem, "correct the list of bones"));
    if bones.is_empty() {
        return wrong("there is no bone".to_owned());
    }
    for (k, bone) in bones.iter().enumerate() {
        let finite = bone.head.iter().chain(&bone.tail).all(|v| v.is_finite());
        if bone.name.is_empty() || bones[..k].iter().any(|b| b.name == bone.name) {
            return wrong(format!("bone {k}: the name \"{}\" is empty or repeated", bone.name));
        }
        if !finite {
            return wrong(format!("bone \"{}\": a coordinate is not finite", bone.name));
        }
        if let Some(parent) = bone.parent.as_ref().filter(|p| !bones.iter().any(|b| b.name == **p)) {
            return wrong(format!("bone \"{}\": there is no parent \"{parent}\"", bone.name));
        }
    }
    let mut out: Vec<RigBone> = Vec::new();
    while out.len() < bones.len() {
        let known = |b: &RigBone| b.parent.as_ref().is_none_or(|p| out.iter().any(|o| o.name == *p));
        let waits = |b: &&RigBone| !out.iter().any(|o| o.name == b.name);
        let next: Vec<RigBone> = bones.iter().filter(waits).filter(|b| known(b)).cloned().collect();
        if next.is_empty() {
            return wrong("the parents of some bones form a circle".to_owned());
        }
        out.extend(next);
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bind::shapes::Shape;

    const HEAT: (WeightMethod, Option<usize>) = (WeightMethod::Heat, None);

    fn bone(name: &str, from: f32, to: f32, parent: Option<&str>) -> RigBone {
        let (head, tail) = ([0.0, from, 0.0], [0.0, to, 0.0]);
        RigBone { name: name.into(), head, tail, parent: parent.map(Into::into) }
    }

    /// A capsule from y = 0 to y = 3 without bones.
    fn bare() -> Asset {
        let asset =
            Shape { bones: 3, rings: 48, segments: 12, radius: 0.15, length: 3.0, blend: 0.3 }.bare_asset();
        let glb = crate::export::unedited(&asset).unwrap();
        Asset::from_slice(&glb, "bare.glb").unwrap()
    }

    #[test]
    fn bones_in_any_order_move_the_mesh() {
        let bones = [bone("upper", 1.5, 3.0, Some("lower")), bone("lower", 0.0, 1.5, None)];
        let rigged = rig(&bare(), &bones, HEAT, None, &|_| true).unwrap().unwrap();
        let character = Character::from_asset(&rigged.asset).unwrap();
        assert_eq!((rigged.bones, character.skeleton.joints.len()), (2, 2));
        let upper = character.skeleton.find("upper").unwrap();
        let joint = character.skeleton.nodes[upper.index()].joint.unwrap();
        for (v, x) in character.control.positions.iter().enumerate() {
            let of = character.control.influences.of(v);
            let weight: f32 = of.filter(|e| u32::from(e.0) == joint.0).map(|e| e.1).sum();
            assert!(x.y > 1.0 || weight < 0.1, "{x}: {weight}");
            assert!(x.y < 2.0 || weight > 0.9, "{x}: {weight}");
        }
        let bind = character.skeleton.joints[joint.index()].bind_from_joint.translation;
        assert!(bind.distance(glam::Vec3A::new(0.0, 1.5, 0.0)) < 1e-6);
    }

    #[test]
    fn wrong_bones_and_files_are_refused() {
        let asset = bare();
        let refused =
            |bones: &[RigBone]| rig(&asset, bones, HEAT, None, &|_| true).err().unwrap().to_string();
        let [a, b] = [bone("a", 0.0, 1.0, None), bone("b", 1.0, 2.0, Some("a"))];
        let circle = [RigBone { parent: Some("b".into()), ..a.clone() }, b.clone()];
        let mesh = asset.nodes[0].name.clone();
        for (bones, word) in [
            (vec![], "no bone"),
            (vec![a.clone(), a.clone()], "repeated"),
            (vec![b.clone()], "no parent \"a\""),
            (circle.to_vec(), "circle"),
            (vec![bone("a", f32::NAN, 1.0, None)], "not finite"),
            (vec![bone(&mesh, 0.0, 1.0, None)], "already"),
        ] {
            let text = refused(&bones);
            assert!(text.contains(word), "{text}");
        }
        let rigged = rig(&asset, &[a, b], HEAT, None, &|_| true).unwrap().unwrap();
        let c = [bone("c", 0.0, 1.0, None)];
        let again = rig(&rigged.asset, &c, HEAT, None, &|_| true).err().unwrap().to_string();
        assert!(again.contains("skin weights already") && again.contains("bind --weights"), "{again}");
        assert!(rig(&Asset::default(), &c, HEAT, None, &|_| true).is_err());
    }
}
