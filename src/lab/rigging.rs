//! `sinew-lab rigging`: removes skeleton and skin weights from characters, rigs the bare meshes by the removed bones, and
//! compares the new skin weights with the removed ones.

use crate::app::context::{folder, say};
use crate::asset::{Asset, Influences, Mesh, Node};
use crate::base::math::{Aabb, Affine3A, DQuat, Trs, Vec3, distance_to_segment};
use crate::base::{Error, JointId, MeshId, NodeId, Result};
use crate::bind::Character;
use crate::bind::weights::WeightMethod;
use crate::export::{RigBone, project, rig, unedited, write_atomically, write_model};
use crate::rig::{Pose, PosedRig, limb_joints, turn_joint};
use std::path::PathBuf;

/// Rotation of each main joint, degrees.
const TURNS: [f64; 2] = [60.0, 45.0];

/// Which files to rig, and how.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// Rigged characters
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    /// Methods to compute skin weights by, separated by commas
    #[arg(long, value_delimiter = ',', default_value = "elastic,heat", value_parser = WeightMethod::parse)]
    pub weights: Vec<WeightMethod>,
    /// Number of cubes in which the weights are computed
    #[arg(long)]
    pub cubes: Option<usize>,
    /// Folder for the bare meshes (`NAME.bare.glb`), their bones (`NAME.bones.json`) and the rigged files
    #[arg(long)]
    pub out: Option<PathBuf>,
}

/// A mesh without skeleton, and the bones that it had.
pub struct Stripped {
    /// The mesh in its rest pose as a .glb.
    pub glb: Vec<u8>,
    /// The bones of the skin's joints, world space at rest.
    pub bones: Vec<RigBone>,
}

/// How new skin weights deform, compared with the removed ones.
#[derive(Clone, Copy, Debug, Default)]
pub struct Agreement {
    /// Root mean square distance of the vertices over all poses, as a fraction of the diagonal of the bounding box.
    pub mean: f64,
    /// Largest distance, as a fraction of the same diagonal.
    pub most: f64,
    /// Number of joints that move vertices by the removed weights, but none by the new weights.
    pub empty: usize,
    /// Number of vertices without a weight.
    pub weightless: usize,
}

/// Rigs every file and prints a table.
///
/// # Errors
/// Any error of loading, rigging or writing a file.
pub fn run(args: &Args) -> Result<()> {
    if let Some(out) = &args.out {
        folder(out)?;
    }
    say(
        "file                          joints vertices  weights         rms o/oo  max o/oo  empty  weightless  s",
    );
    for file in &args.files {
        let asset = project::open(file)?.0;
        let character = Character::from_asset(&asset)?;
        let stripped = strip(&asset, &character)?;
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let write = |ending: &str, bytes: &[u8]| match &args.out {
            Some(out) if ending.ends_with("json") => {
                write_atomically(out.join(format!("{name}.{ending}")), bytes)
            }
            Some(out) => write_model(out.join(format!("{name}.{ending}")), bytes),
            None => Ok(()),
        };
        write("bare.glb", &stripped.glb)?;
        write("bones.json", serde_json::to_string_pretty(&stripped.bones).unwrap_or_default().as_bytes())?;
        let bare = Asset::from_slice(&stripped.glb, &asset.path)?;
        for method in &args.weights {
            let start = std::time::Instant::now();
            let Some(rigged) = rig(&bare, &stripped.bones, (*method, args.cubes), None, &|_| true)? else {
                continue;
            };
            let seconds = start.elapsed().as_secs_f64();
            write(&format!("{}.glb", method.name()), &rigged.glb)?;
            let new = Character::from_asset(&rigged.asset)?;
            let a = agreement(&character, &new, &same_names(&character, &new))?;
            say(format_args!(
                "{name:<30.30}{:>6}{:>9}  {:<14}{:>10.2}{:>10.1}{:>7}{:>12}{:>6.1}",
                stripped.bones.len(),
                character.control.positions.len(),
                method.name(),
                a.mean * 1e3,
                a.most * 1e3,
                a.empty,
                a.weightless,
                seconds,
            ));
        }
    }
    Ok(())
}

/// Returns the positions of the display vertices in the rest pose, world space.
fn rest_positions(character: &Character) -> Vec<Vec3> {
    let rig = PosedRig::new(&character.skeleton, &Pose::rest(&character.skeleton));
    let control: Vec<Vec3> = (0..character.control.positions.len())
        .map(|v| {
            let x = character.control.positions[v];
            let of = character.control.influences.of(v);
            of.map(|(j, w)| rig.skinning[usize::from(j)].transform_point3(x) * w).sum()
        })
        .collect();
    character.display.control_of.iter().map(|&v| control[v as usize]).collect()
}

/// Removes skeleton, skin weights, morph targets and animation. The other content of the file is omitted.
///
/// # Errors
/// [`Error::Input`] if the file has no skin.
pub fn strip(asset: &Asset, character: &Character) -> Result<Stripped> {
    let skeleton = &character.skeleton;
    let positions = rest_positions(character);
    let mut bare = Asset { path: asset.path.clone(), ..Asset::default() };
    (bare.materials, bare.textures, bare.images) =
        (asset.materials.clone(), asset.textures.clone(), asset.images.clone());
    for (i, part) in character.display.parts.iter().enumerate() {
        let mut primitive = asset.meshes[part.mesh.index()].primitives[part.primitive].clone();
        let range = part.vertices.start as usize..part.vertices.end as usize;
        primitive.positions = positions[range.clone()].to_vec();
        primitive.normals = character.display.normals[range].to_vec();
        primitive.influences = Influences::default();
        primitive.morphs.clear();
        if i > 0 && character.display.parts[i - 1].node == part.node {
            bare.meshes.last_mut().into_iter().for_each(|m| m.primitives.push(primitive.clone()));
            continue;
        }
        let (index, name) = (bare.nodes.len(), format!("mesh {}", bare.nodes.len()));
        bare.meshes.push(Mesh { name: name.clone(), primitives: vec![primitive] });
        bare.nodes.push(Node {
            name,
            parent: None,
            children: Vec::new(),
            rest: Trs::IDENTITY,
            matrix: None,
            mesh: Some(MeshId::from(index)),
            skin: None,
            weights: Vec::new(),
        });
        bare.roots.push(NodeId::from(index));
    }
    let rig = PosedRig::new(skeleton, &Pose::rest(skeleton));
    let mut bones: Vec<RigBone> = Vec::new();
    let joints = (0..skeleton.joints.len()).map(JointId::from).filter(|j| skeleton.joints[j.index()].skinned);
    let mut done: Vec<NodeId> = Vec::new();
    let name = |n: NodeId| skeleton.nodes[n.index()].name.clone();
    for j in joints {
        let node = skeleton.joints[j.index()].node;
        if done.contains(&node) || bones.iter().any(|b| b.name == name(node)) {
            continue;
        }
        done.push(node);
        let head = Vec3::from(rig.world[node.index()].translation);
        let own: Vec<Vec3> = skeleton.bones_of(j).map(|b| rig.bones[b.index()].tail).collect();
        let tail = if own.is_empty() { head } else { own.iter().sum::<Vec3>() / own.len() as f32 };
        let above = |n: &NodeId| skeleton.joints.iter().any(|j| j.skinned && j.node == *n);
        let mut ancestors =
            std::iter::successors(skeleton.nodes[node.index()].parent, |n| skeleton.nodes[n.index()].parent);
        let parent = ancestors.find(above).map(name);
        bones.push(RigBone { name: name(node), head: head.into(), tail: tail.into(), parent });
    }
    if bones.is_empty() {
        return Err(Error::input(
            format!("{}: there is no skin to remove", asset.path.display()),
            "choose a rigged file",
        ));
    }
    Ok(Stripped { glb: unedited(&bare)?, bones })
}

/// Returns, per joint of the new skeleton, the node of the same name of the old skeleton.
fn same_names(character: &Character, new: &Character) -> Vec<Option<usize>> {
    let name = |n: NodeId| &new.skeleton.nodes[n.index()].name;
    let find = |n: NodeId| character.skeleton.nodes.iter().position(|old| old.name == *name(n));
    new.skeleton.joints.iter().map(|j| find(j.node)).collect()
}

/// Returns, per joint of the new skeleton, the old joint's node whose bone is nearest to the middle of its bone.
pub fn nearest_nodes(character: &Character, new: &Character) -> Vec<Option<usize>> {
    let still = |c: &Character| PosedRig::new(&c.skeleton, &Pose::rest(&c.skeleton));
    let (old_rig, new_rig) = (still(character), still(new));
    let near = |joint: JointId| {
        let own = new.skeleton.bones_of(joint).next()?;
        let middle = new_rig.bones[own.index()].head.lerp(new_rig.bones[own.index()].tail, 0.5);
        let distance = |b: &usize| {
            let bone = &old_rig.bones[*b];
            distance_to_segment(middle, bone.head, bone.tail)
        };
        let skinned = |b: &usize| {
            let parent = character.skeleton.bones[*b].parent;
            character.skeleton.joints[parent.index()].skinned
        };
        let all = (0..old_rig.bones.len()).filter(skinned);
        let bone = all.min_by(|a, b| distance(a).total_cmp(&distance(b)))?;
        Some(character.skeleton.joints[character.skeleton.bones[bone].parent.index()].node.index())
    };
    (0..new.skeleton.joints.len()).map(|j| near(JointId::from(j))).collect()
}

/// Bends and twists every main joint of a character, and compares linear blend skinning by its own weights with that by
/// the weights of the rigged bare mesh. `node_of` gives the character's node for each joint of the rigged mesh.
///
/// # Errors
/// If a joint cannot be rotated.
pub fn agreement(character: &Character, new: &Character, node_of: &[Option<usize>]) -> Result<Agreement> {
    let skeleton = &character.skeleton;
    let rest = Pose::rest(skeleton);
    let still = PosedRig::new(skeleton, &rest);
    let positions = rest_positions(character);
    let size = f64::from(Aabb::of(positions.iter().copied()).diagonal());
    let moved = moving_joints(character);
    let moves = |n: usize| skeleton.joints.iter().zip(&moved).any(|(j, m)| *m && j.node.index() == n);
    let emptied = |(node, moved): (&Option<usize>, bool)| !moved && node.is_some_and(moves);
    let empty = node_of.iter().zip(moving_joints(new)).filter(|e| emptied(*e)).count();
    let mut out = Agreement { empty, ..Agreement::default() };
    let new_rows: Vec<Vec<(u16, f32)>> =
        new.display.control_of.iter().map(|&v| new.control.influences.of(v as usize).collect()).collect();
    out.weightless = new_rows.iter().filter(|r| r.iter().map(|e| e.1).sum::<f32>() < 0.5).count();
    let (mut square, mut count) = (0.0, 0usize);
    for joint in limb_joints(skeleton) {
        for (axis, degrees) in [joint.axis, joint.along].into_iter().zip(TURNS) {
            let mut pose = rest.clone();
            let turn = DQuat::from_axis_angle(axis, degrees.to_radians());
            turn_joint(skeleton, &mut pose, joint.node, turn)?;
            let rig = PosedRig::new(skeleton, &pose);
            let moved: Vec<Affine3A> =
                rig.world.iter().zip(&still.world).map(|(now, then)| *now * then.inverse()).collect();
            for (v, x) in positions.iter().enumerate() {
                let own = character.control.influences.of(character.display.control_of[v] as usize);
                let own: Vec3 = own
                    .map(|(j, w)| {
                        moved[skeleton.joints[usize::from(j)].node.index()].transform_point3(*x) * w
                    })
                    .sum();
                let other: Vec3 = new_rows
                    .get(v)
                    .into_iter()
                    .flatten()
                    .map(|(j, w)| {
                        let node = node_of[usize::from(*j)];
                        node.map_or(*x, |n| moved[n].transform_point3(*x)) * *w
                    })
                    .sum();
                let off = f64::from(own.distance(other)) / size;
                square += off * off;
                count += 1;
                out.most = out.most.max(off);
            }
        }
    }
    out.mean = (square / count.max(1) as f64).sqrt();
    Ok(out)
}

/// Number of skinned joints that move no vertex.
pub fn empty_joints(character: &Character) -> usize {
    let moving = moving_joints(character);
    character.skeleton.joints.iter().zip(moving).filter(|(j, moves)| j.skinned && !moves).count()
}

/// Returns, per joint, whether it moves a vertex.
fn moving_joints(character: &Character) -> Vec<bool> {
    let mut moves = vec![false; character.skeleton.joints.len()];
    let influences = &character.control.influences;
    (0..influences.len()).flat_map(|v| influences.of(v)).for_each(|(j, w)| moves[usize::from(j)] |= w > 1e-3);
    moves
}
