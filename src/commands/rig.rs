//! `sinew rig`: gives a mesh without skeleton bones and skin weights.

use super::bind::{findings, told};
use crate::app::context::{folder_of, progress};
use crate::base::{Error, Result};
use crate::bind::weights::WeightMethod;
use crate::bind::{Cache, Character};
use crate::export::{RigBone, project, rig, write_model};
use std::path::PathBuf;

/// What to rig.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// A glTF file without skeleton
    pub file: PathBuf,
    /// The bones: a JSON list of objects with name, head, tail and parent, positions in metres
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

/// Adds bones and weights to a file, writes it and returns what was made.
///
/// # Errors
/// Any error of [`project::open`], [`rig`] or [`write_model`], and [`Error::Broken`] if the list of bones cannot be read.
pub fn run(args: &Args) -> Result<String> {
    let asset = project::open(&args.file)?.0;
    let unreadable = |e: String| {
        let remedy =
            "give [{\"name\": \"Hips\", \"head\": [0, 1, 0], \"tail\": [0, 1.2, 0], \"parent\": null}, ...]";
        Error::broken(&args.bones, "bones", e, remedy)
    };
    let text = std::fs::read_to_string(&args.bones).map_err(|e| unreadable(e.to_string()))?;
    let bones: Vec<RigBone> = serde_json::from_str(&text).map_err(|e| unreadable(e.to_string()))?;
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
    let findings: String =
        findings(&Character::from_asset(&rigged.asset)?).iter().map(|line| format!("{line}\n")).collect();
    let idle = bones.len() - rigged.bones.min(bones.len());
    let warning = if idle > 0 {
        format!("{idle} bones move no vertex: check that they lie in the mesh\n")
    } else {
        String::new()
    };
    Ok(told(&Some(rigged)) + &warning + &findings)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::asset::Asset;

    #[derive(clap::Parser)]
    struct Line {
        #[command(flatten)]
        args: Args,
    }

    fn line(args: &[&std::path::Path]) -> Args {
        let words = args.iter().map(|a| a.as_os_str().to_owned());
        <Line as clap::Parser>::parse_from([std::ffi::OsString::from("rig")].into_iter().chain(words)).args
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
            assert!(text.contains("over 2 bones") && !text.contains("no vertex"), "{text}");
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
