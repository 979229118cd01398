//! Fuzz tests with a fixed seed: for any change of a file's bytes, the loader returns an asset or an error.

use super::builder::{Build, SQUARE, U8, everything};
use crate::asset::Asset;
use crate::base::Random;
use serde_json::json;

fn sparse() -> Build {
    let mut b = Build::new();
    let positions = b.floats("VEC3", &SQUARE);
    let at = b.view(&[1, 3]);
    let values = b.view(&[0; 24]);
    b.json["accessors"][positions]["sparse"] = json!({"count": 2,
        "indices": {"bufferView": at, "componentType": U8}, "values": {"bufferView": values}});
    b.show(json!({"attributes": {"POSITION": positions}, "mode": 5}));
    b
}

/// Checks that all floats of the asset are finite.
fn assert_finite(asset: &Asset) {
    for primitive in asset.meshes.iter().flat_map(|m| &m.primitives) {
        let count = primitive.positions.len();
        assert!(primitive.positions.iter().chain(&primitive.normals).all(|p| p.is_finite()));
        assert!(primitive.triangles.iter().flatten().all(|&v| (v as usize) < count));
        assert!(primitive.uvs.iter().all(|u| u.is_finite()));
        assert!(primitive.influences.weight.iter().all(|w| *w > 0.0 && *w <= 1.0));
        assert!(primitive.morphs.iter().flat_map(|m| &m.positions).all(|p| p.is_finite()));
    }
    assert!(asset.nodes.iter().all(|n| n.rest.affine().is_finite()));
    assert!(asset.skins.iter().flat_map(|s| &s.inverse_bind).all(|m| m.is_finite()));
    assert!(asset.clips.iter().flat_map(|c| &c.channels).flat_map(|c| &c.values).all(|v| v.is_finite()));
}

#[test]
fn mutated_files_load_soundly_or_are_refused() {
    let mut random = Random::new(1);
    let (mut loaded, mut refused) = (0, 0);
    for original in [everything().glb(), sparse().glb(), everything().gltf()] {
        // Offset where the JSON ends and binary data begins.
        let data = original.windows(4).position(|w| w == b"BIN\0" || w == b"%00%").unwrap();
        for round in 0..400 {
            let mut bytes = original.clone();
            match round % 4 {
                0 => bytes.truncate(random.below(bytes.len())),
                1 => {
                    // Changes a digit of the JSON, e.g. of an index, count or offset.
                    let digits: Vec<usize> =
                        (0..bytes.len()).filter(|&i| bytes[i].is_ascii_digit()).collect();
                    bytes[digits[random.below(digits.len())]] = b'0' + random.below(10) as u8;
                }
                kind => {
                    let from = if kind == 2 { 0 } else { data + 4 };
                    for _ in 0..=random.below(3) {
                        let at = from + random.below(bytes.len() - from);
                        bytes[at] ^= 1 << random.below(8);
                    }
                }
            }
            match Asset::from_slice(&bytes, "fuzz.glb") {
                Ok(asset) => {
                    assert_finite(&asset);
                    loaded += 1;
                }
                Err(error) => {
                    assert!(error.to_string().len() > 20, "{error}");
                    refused += 1;
                }
            }
        }
    }
    assert!(loaded > 100 && refused > 100, "{loaded} loaded, {refused} refused");
}
