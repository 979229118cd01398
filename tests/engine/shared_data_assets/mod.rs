//! Every glTF file of the shared test data loads, or is refused with an error that names the cause.

mod compressed;
use sinew::base::testing::shared;
mod expected;

use expected::{COUNTS, NO_DATA, REFUSED, TOLD};
use sinew::asset::{Asset, Interpolation};
use sinew::commands::inspect;
use std::path::{Path, PathBuf};

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> =
        std::fs::read_dir(folder).expect("a readable folder").map(|e| e.expect("an entry").path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|e| ["gltf", "glb", "vrm"].iter().any(|known| e == *known)) {
            found.push(path);
        }
    }
}

/// Whether every number is finite, every vector as long as it must be and every index valid.
fn assert_sound(asset: &Asset) {
    let name = asset.path.display();
    for (index, node) in asset.nodes.iter().enumerate() {
        assert!(node.rest.affine().is_finite(), "{name}: node {index}");
        assert!(
            node.parent.is_none_or(|p| asset.nodes[p.index()].children.iter().any(|c| c.index() == index))
        );
        assert_eq!(node.weights.len(), node.mesh.map_or(0, |m| asset.meshes[m.index()].morph_count()));
        assert!(node.skin.is_none_or(|s| s.index() < asset.skins.len()));
    }
    assert!(asset.roots.iter().all(|r| asset.nodes[r.index()].parent.is_none()), "{name}");
    for skin in &asset.skins {
        assert_eq!(skin.joints.len(), skin.inverse_bind.len());
        assert!(skin.joints.iter().all(|j| j.index() < asset.nodes.len()));
        assert!(skin.inverse_bind.iter().all(|m| m.is_finite()), "{name}");
    }
    for primitive in asset.meshes.iter().flat_map(|m| &m.primitives) {
        let count = primitive.positions.len();
        assert!(primitive.positions.iter().all(|p| p.is_finite()), "{name}");
        assert!(primitive.normals.iter().all(|n| (n.length() - 1.0).abs() < 1e-3), "{name}");
        assert_eq!((primitive.normals.len(), primitive.uvs.len()), (count, count), "{name}");
        assert!(primitive.uvs.iter().chain(&primitive.uvs1).all(|u| u.is_finite()), "{name}");
        assert!([0, count].contains(&primitive.uvs1.len()) && [0, count].contains(&primitive.colors.len()));
        assert!(primitive.triangles.iter().flatten().all(|&v| (v as usize) < count), "{name}");
        assert!(primitive.material.is_none_or(|m| m.index() < asset.materials.len()));
        let influences = &primitive.influences;
        assert!(influences.is_empty() || influences.len() == count, "{name}");
        for vertex in 0..influences.len() {
            let sum: f32 = influences.of(vertex).map(|(_, w)| w).sum();
            assert!((sum - 1.0).abs() < 1e-5, "{name}: vertex {vertex} sums to {sum}");
            assert!(influences.of(vertex).all(|(_, w)| w > 0.0));
        }
        for morph in &primitive.morphs {
            assert!(morph.positions.len() == count && [0, count].contains(&morph.normals.len()), "{name}");
            assert!(morph.positions.iter().chain(&morph.normals).all(|p| p.is_finite()), "{name}");
        }
    }
    for channel in asset.clips.iter().flat_map(|c| &c.channels) {
        assert!(channel.times.windows(2).all(|t| t[0] < t[1]), "{name}");
        assert!(!channel.times.is_empty() && channel.node.index() < asset.nodes.len(), "{name}");
        let tangents = if channel.interpolation == Interpolation::CubicSpline { 3 } else { 1 };
        assert_eq!(channel.values.len() % (channel.times.len() * tangents), 0, "{name}");
        assert!(channel.times.iter().chain(&channel.values).all(|v| v.is_finite()), "{name}");
    }
    for image in &asset.images {
        assert_eq!(image.rgba.len(), 4 * image.width as usize * image.height as usize, "{name}");
    }
}

#[test]
fn every_file_loads_soundly_or_is_refused_with_its_cause() {
    let Some(folder) = shared("") else { return };
    let mut found = Vec::new();
    files(&folder, &mut found);
    assert!(found.len() > 150, "only {} files", found.len());
    for path in found {
        let short = path.strip_prefix(&folder).expect("a file of the folder").display().to_string();
        let refusal = REFUSED.iter().find(|(file, _)| *file == short);
        match (Asset::load(&path), refusal) {
            (Ok(asset), None) => {
                assert_sound(&asset);
                inspect::Report::of(&asset);
            }
            (Ok(_), Some((_, cause))) => panic!("{short} loads, but should be refused: {cause}"),
            (Err(error), None) => panic!("{short} should load, but is refused: {error}"),
            (Err(error), Some((_, cause))) => {
                let text = error.to_string();
                assert!(text.contains(cause) && text.contains(&path.display().to_string()), "{text}");
            }
        }
    }
}

#[test]
fn counts_are_those_of_the_readme() {
    let Some(folder) = shared("") else { return };
    for (file, counts) in COUNTS {
        let report = inspect::Report::of(&Asset::load(folder.join(file)).expect(file));
        let found = [
            report.meshes.iter().map(|m| m.vertices).sum(),
            report.meshes.iter().map(|m| m.triangles).sum(),
            report.joints.len(),
            report.skins.len(),
            report.clips.len(),
            report.meshes.iter().map(|m| m.morphs.len()).max().unwrap_or(0),
        ];
        assert_eq!(found, *counts, "{file}");
    }
}

#[test]
fn mended_flaws_are_told() {
    let Some(folder) = shared("") else { return };
    for (file, words) in TOLD {
        let asset = Asset::load(folder.join(file)).expect(file);
        assert!(asset.problems.iter().any(|p| p.text.contains(words)), "{file}: {:?}", asset.problems);
    }
}

/// The validator's own vectors: a report without errors beside the file means that it must load.
#[test]
fn files_without_validator_errors_load() {
    let Some(folder) = shared("") else { return };
    let mut found = Vec::new();
    files(&folder.join("oddities/invalid"), &mut found);
    let mut valid = 0;
    for path in found {
        let report = PathBuf::from(format!("{}.report.json", path.display()));
        let Ok(text) = std::fs::read_to_string(&report) else { continue };
        let report: serde_json::Value = serde_json::from_str(&text).expect("a report");
        let messages = report["issues"]["messages"].as_array().expect("messages");
        let short = path.strip_prefix(&folder).expect("a file of the folder").display().to_string();
        if messages.iter().all(|m| m["severity"] != 0) && !NO_DATA.contains(&short.as_str()) {
            Asset::load(&path).unwrap_or_else(|error| panic!("{error}"));
            valid += 1;
        }
    }
    assert!(valid > 20, "only {valid}");
}
