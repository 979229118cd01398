//! `sinew inspect`: describes the content of a glTF file and lists every problem found in it.

mod report;
mod text;

use crate::asset::Asset;
use crate::base::{Error, Result};
use std::path::{Path, PathBuf};

pub use report::{ClipInfo, ImageInfo, JointInfo, MeshInfo, ProjectInfo, Report, SkinInfo};

/// Which file to look at.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// A glTF file
    pub file: PathBuf,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Returns the requested report as text or JSON.
///
/// # Errors
/// Any error of [`inspect`].
pub fn run(args: &Args) -> Result<String> {
    inspect(&args.file, args.json)
}

/// Loads a file and describes it as text or, with `json`, as JSON.
///
/// # Errors
/// An error if the file cannot be loaded, see [`Asset::load`].
pub fn inspect(path: &Path, json: bool) -> Result<String> {
    let asset = Asset::load(path)?;
    let report = Report::of(&asset);
    if !json {
        return Ok(text::write(&report));
    }
    serde_json::to_string_pretty(&report).map_err(|error| {
        Error::input(
            format!("the report cannot be written as JSON: {error}"),
            "inspect the file without --json",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Test file: two joints, a skinned triangle one metre beside the origin, and a primitive made of points.
    const FILE: &str = r#"{"asset": {"version": "2.0", "generator": "by hand"}, "extensionsUsed": ["KHR_materials_unlit"],
        "buffers": [{"byteLength": 60, "uri": "BYTES"}],
        "bufferViews": [{"buffer": 0, "byteLength": 36}, {"buffer": 0, "byteOffset": 36, "byteLength": 12},
            {"buffer": 0, "byteOffset": 48, "byteLength": 12}],
        "accessors": [{"bufferView": 0, "componentType": 5126, "type": "VEC3", "count": 3},
            {"bufferView": 1, "componentType": 5121, "type": "VEC4", "count": 3},
            {"bufferView": 2, "componentType": 5121, "type": "VEC4", "count": 3, "normalized": true}],
        "meshes": [{"name": "flag", "primitives": [
            {"attributes": {"POSITION": 0, "JOINTS_0": 1, "WEIGHTS_0": 2}}, {"attributes": {"POSITION": 0}, "mode": 0}]}],
        "skins": [{"name": "pole", "joints": [1, 2]}],
        "nodes": [{"mesh": 0, "skin": 0}, {"name": "low", "translation": [0, 5, 0], "children": [2]}, {"name": "high"}],
        "scenes": [{"nodes": [0, 1]}]}"#;

    #[test]
    fn text_and_json_say_what_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("flag.gltf");
        let corners =
            [1.0_f32, 0.0, 0.0, 2.0, 0.0, 0.0, 1.0, 1.0, 0.0].into_iter().flat_map(f32::to_le_bytes);
        let bytes = corners.chain([0; 12]).chain([255, 0, 0, 0].repeat(3));
        let body: String = bytes.map(|byte| format!("%{byte:02X}")).collect();
        std::fs::write(&path, FILE.replace("BYTES", &format!("data:,{body}"))).unwrap();
        let text = inspect(&path, false).unwrap();
        for words in [
            "flag.gltf",
            "by hand",
            "3 nodes, 1 mesh, 1 skin, 0 clips",
            "KHR_materials_unlit",
            "low > high",
            "1.0000 x 1.0000 x 0.0000 m, from (1.0000, 5.0000, 0.0000)",
            "Problems (1)\n  mesh \"flag\" primitive 1: it consists of points",
        ] {
            assert!(text.contains(words), "{words}: {text}");
        }
        assert!(text.lines().all(|line| line == line.trim_end()));
        let json: serde_json::Value = serde_json::from_str(&inspect(&path, true).unwrap()).unwrap();
        assert_eq!(json["meshes"][0]["vertices"], 3);
        assert_eq!(json["meshes"][0]["influences_max"], 1);
        assert_eq!(json["joints"][1]["parent"], 0);
        assert_eq!(json["bounds"][1], serde_json::json!([2.0, 6.0, 0.0]));
        let refusal = inspect(&folder.path().join("none.glb"), true).expect_err("no file").to_string();
        assert!(refusal.contains("none.glb: No such file"), "{refusal}");
    }
}
