//! `sinew rig`: adds bones and skin weights to a mesh without a skeleton.

use super::arguments::{keeps_input, leaves_edits_out};
use super::bind::{findings, told};
use crate::app::context::{folder_of, progress};
use crate::base::{Error, Result};
use crate::bind::weights::WeightMethod;
use crate::bind::{Cache, Character};
use crate::export::{RigBone, ordered_bones, project, rig, write_model};
use std::path::PathBuf;

/// The mesh to rig, and how.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// A glTF file without a skeleton
    pub file: PathBuf,
    /// The bones: a JSON list of objects with name, head, tail and parent; positions are in metres
    #[arg(long, value_name = "BONES.json")]
    pub bones: PathBuf,
    /// How to compute skin weights: heat, quasi-harmonic, biharmonic or elastic
    #[arg(long, value_name = "METHOD", default_value = "elastic", value_parser = WeightMethod::parse)]
    pub weights: WeightMethod,
    /// Number of cubes in which the weights are computed. Default: 16000, 8000 (quasi-harmonic) or 4000 (biharmonic)
    #[arg(long, value_parser = clap::value_parser!(u32).range(100..=60_000))]
    pub cubes: Option<u32>,
    /// The .glb to write
    #[arg(long)]
    pub out: PathBuf,
}

/// Adds bones and weights to a file, writes the result and returns a report as text.
///
/// # Errors
/// Any error of [`project::open`], [`rig`] or [`write_model`]. Also [`Error::Broken`] if the list of bones cannot be read
/// or is wrong, and [`Error::Input`] if `out` is the input file or the input is a project.
pub fn run(args: &Args) -> Result<String> {
    keeps_input(&args.file, &args.out)?;
    let (asset, document) = project::open(&args.file)?;
    if document.is_some() {
        return Err(leaves_edits_out(&args.file, "name the original character's file"));
    }
    let unreadable = |e: String| {
        let remedy =
            "give [{\"name\": \"Hips\", \"head\": [0, 1, 0], \"tail\": [0, 1.2, 0], \"parent\": null}, ...]";
        Error::broken(&args.bones, "bones", e, remedy)
    };
    let text = std::fs::read_to_string(&args.bones).map_err(|e| unreadable(e.to_string()))?;
    let bones: Vec<RigBone> = serde_json::from_str(&text).map_err(|e| unreadable(e.to_string()))?;
    let bones = ordered_bones(&bones).map_err(|e| match e {
        Error::Input { problem, remedy } => Error::broken(&args.bones, "bones", problem, remedy),
        other => other,
    })?;
    let how = (args.weights, args.cubes.map(|c| c as usize));
    let (rigged, _) = progress(&format!("{} weights", args.weights.name()), |done| {
        rig(&asset, &bones, how, Cache::platform().as_ref(), &|part| {
            done(part);
            true
        })
    })?;
    // The result is missing only if it was cancelled.
    let Some(rigged) = rigged else { return Ok(String::new()) };
    folder_of(&args.out)?;
    write_model(&args.out, &rigged.glb)?;
    let character = Character::from_asset(&rigged.asset)?;
    let mut findings: String = findings(&character).iter().map(|line| format!("{line}\n")).collect();
    let still: Vec<String> = idle(&bones, &character).into_iter().filter(|n| !findings.contains(n)).collect();
    if !still.is_empty() {
        findings +=
            &format!("bones that move no vertex: {}; lengthen them, or use more --cubes\n", still.join(", "));
    }
    Ok(told(&Some(rigged)) + &findings)
}

/// Returns the names of the bones that move no vertex.
fn idle(bones: &[RigBone], character: &Character) -> Vec<String> {
    let (skeleton, influences) = (&character.skeleton, &character.control.influences);
    let mut moves = vec![false; skeleton.nodes.len()];
    for (joint, weight) in (0..influences.len()).flat_map(|v| influences.of(v)) {
        moves[skeleton.joints[usize::from(joint)].node.index()] |= weight > 1e-3;
    }
    let still = |b: &&RigBone| skeleton.find(&b.name).is_none_or(|node| !moves[node.index()]);
    bones.iter().filter(still).map(|b| b.name.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::asset::Asset;
    use crate::base::math::Vec3;

    #[derive(clap::Parser)]
    struct RigLine {
        #[command(flatten)]
        args: Args,
    }

    fn line(args: &[&std::path::Path]) -> Args {
        let words = args.iter().map(|a| a.as_os_str().to_owned());
        <RigLine as clap::Parser>::parse_from([std::ffi::OsString::from("rig")].into_iter().chain(words)).args
    }

    /// A closed box from `low` to `high` with quads divided into `n` by `n` cells.
    fn cuboid(low: Vec3, high: Vec3, n: u32) -> (Vec<Vec3>, Vec<[u32; 3]>) {
        let (mut positions, mut triangles) = (Vec::new(), Vec::new());
        for face in 0..6 {
            let (axis, side) = (face / 2, face % 2);
            let first = positions.len() as u32;
            for (i, j) in (0..=n).flat_map(|i| (0..=n).map(move |j| (i, j))) {
                let mut at = Vec3::ZERO;
                at[axis] = side as f32;
                at[(axis + 1) % 3] = i as f32 / n as f32;
                at[(axis + 2) % 3] = j as f32 / n as f32;
                positions.push(low + at * (high - low));
            }
            for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))) {
                let [a, b] = [first + i * (n + 1) + j, first + (i + 1) * (n + 1) + j];
                let quad = if side == 1 { [a, b, b + 1, a + 1] } else { [a, a + 1, b + 1, b] };
                triangles.extend([[quad[0], quad[1], quad[2]], [quad[0], quad[2], quad[3]]]);
            }
        }
        (positions, triangles)
    }

    /// Rigs boxes with bones, each given by head and tail. Each bone is the child of the bone before. Returns the
    /// output and the rigged file.
    fn rigged(boxes: &[[Vec3; 2]], flat: bool, bones: &[[Vec3; 2]]) -> (String, Character) {
        let mut asset = Asset::default();
        for (k, [low, high]) in boxes.iter().enumerate() {
            let (positions, mut triangles) = cuboid(*low, *high, 8);
            if flat {
                triangles.extend([[0, 1, 2], [3, 3, 4], [5, 5, 5]]);
            }
            let normals = vec![Vec3::Y; positions.len()];
            let uvs = vec![glam::Vec2::ZERO; positions.len()];
            let primitive = crate::asset::Primitive {
                file_index: 0,
                positions,
                normals,
                normals_from_file: true,
                uvs,
                uvs1: vec![],
                colors: vec![],
                triangles,
                material: None,
                influences: Default::default(),
                morphs: vec![],
            };
            let name = format!("box {k}");
            asset.meshes.push(crate::asset::Mesh { name: name.clone(), primitives: vec![primitive] });
            asset.nodes.push(crate::asset::Node {
                name,
                parent: None,
                children: vec![],
                rest: crate::base::math::Trs::IDENTITY,
                matrix: None,
                mesh: Some(crate::base::MeshId::from(k)),
                skin: None,
                weights: vec![],
            });
            asset.roots.push(crate::base::NodeId::from(k));
        }
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("bare.glb"), crate::export::unedited(&asset).unwrap()).unwrap();
        let list: Vec<RigBone> = bones
            .iter()
            .enumerate()
            .map(|(k, [head, tail])| RigBone {
                name: format!("bone {k}"),
                head: (*head).into(),
                tail: (*tail).into(),
                parent: (k > 0).then(|| format!("bone {}", k - 1)),
            })
            .collect();
        std::fs::write(at("bones.json"), serde_json::to_string(&list).unwrap()).unwrap();
        let (file, json, out) = (at("bare.glb"), at("bones.json"), at("rigged.glb"));
        let mut last = None;
        for method in WeightMethod::ALL {
            let args = line(&[&file, "--bones".as_ref(), &json, "--out".as_ref(), &out]);
            let text = run(&Args { weights: method, cubes: Some(800), ..args })
                .unwrap_or_else(|e| panic!("{}: {e}", method.name()));
            let character = Character::from_asset(&Asset::load(&out).unwrap()).unwrap();
            for v in 0..character.control.positions.len() {
                let sum: f32 = character.control.influences.of(v).map(|e| e.1).sum();
                assert!((sum - 1.0).abs() < 1e-4, "{}: vertex {v} has {sum}", method.name());
            }
            last = Some((text, character));
        }
        last.unwrap()
    }

    #[test]
    fn bad_meshes_and_bones_get_a_result_and_a_clear_word() {
        let tall = [Vec3::ZERO, Vec3::new(0.3, 2.0, 0.3)];
        let middle = |y: f32| Vec3::new(0.15, y, 0.15);
        let good = [[middle(0.1), middle(1.0)], [middle(1.0), middle(1.9)]];
        let (text, _) = rigged(&[tall], false, &good);
        assert_eq!(text.lines().filter(|l| !l.is_empty()).count(), 1, "nothing to tell: {text}");
        // The second box has the size of the first in millimetres.
        let small = [Vec3::X, Vec3::X + (tall[1] - tall[0]) * 0.001];
        let (text, _) = rigged(&[tall, small], false, &good);
        assert!(text.contains("box 0 is 1000 times as large as the mesh box 1"), "{text}");
        assert!(text.contains("millimetres"), "{text}");
        // The last bone lies far from the box.
        let outside = [good[0], good[1], [Vec3::X * 4.0, Vec3::X * 5.0]];
        let (text, _) = rigged(&[tall], false, &outside);
        assert!(text.contains("outside of the mesh") && text.contains("bone 2"), "{text}");
        // All joints lie in one cube.
        let near = |k: f32| Vec3::new(0.163, 1.0137 + 2e-3 * k, 0.141);
        let (text, character) = rigged(&[tall], false, &[[near(0.0), near(1.0)], [near(1.0), near(2.0)]]);
        assert_eq!(character.skeleton.joints.len(), 2, "{text}");
        assert!(text.contains("too small for the cubes") && text.contains("bone 0"), "{text}");
        // A box whose faces have triangles without area.
        let (text, _) = rigged(&[tall], true, &good);
        assert!(text.contains("triangles have no area"), "{text}");
    }

    #[test]
    fn a_bare_mesh_gets_bones_and_weights_by_every_method() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let mut model = crate::generate::glb(crate::generate::Kind::Box).unwrap();
        // The box without its skin and bones.
        let mut asset = Asset::from_slice(&model, "box.glb").unwrap();
        asset.source = Default::default();
        asset.skins.clear();
        asset.clips.clear();
        let mesh = asset.nodes.iter().position(|n| n.mesh.is_some()).unwrap();
        asset.nodes = vec![crate::asset::Node {
            skin: None,
            parent: None,
            children: vec![],
            ..asset.nodes[mesh].clone()
        }];
        asset.roots = vec![crate::base::NodeId(0)];
        asset.meshes[0].primitives.iter_mut().for_each(|p| p.influences = Default::default());
        model = crate::export::unedited(&asset).unwrap();
        std::fs::write(at("bare.glb"), model).unwrap();
        let bounds = Character::from_asset(&Asset::load(at("bare.glb")).unwrap()).unwrap().control.aabb;
        let (low, high) = (bounds.min, bounds.max);
        let middle = 0.5 * (low + high);
        let point = |t: f32| [middle.x, low.y + t * (high.y - low.y), middle.z];
        let bones = serde_json::json!([
            { "name": "lower", "head": point(0.05), "tail": point(0.5) },
            { "name": "upper", "head": point(0.5), "tail": point(0.95), "parent": "lower" },
        ]);
        std::fs::write(at("bones.json"), bones.to_string()).unwrap();
        let (file, list, out) = (at("bare.glb"), at("bones.json"), at("new/rigged.glb"));
        for method in WeightMethod::ALL {
            let args = line(&[&file, "--bones".as_ref(), &list, "--out".as_ref(), &out]);
            assert_eq!(args.weights, WeightMethod::Elastic, "the default");
            let text = run(&Args { weights: method, cubes: Some(500), ..args }).unwrap();
            assert!(text.contains("with 2 bones") && !text.contains("no vertex"), "{text}");
            let character = Character::from_asset(&Asset::load(&out).unwrap()).unwrap();
            assert_eq!(character.skeleton.joints.len(), 2);
            assert!(character.control.rigid.iter().all(|r| !r));
        }
        std::fs::write(&list, "[{\"name\": 3}]").unwrap();
        let args = line(&[&file, "--bones".as_ref(), &list, "--out".as_ref(), &out]);
        let error = run(&args).unwrap_err().to_string();
        assert!(error.contains("bones.json") && error.contains("head"), "{error}");
    }
}
