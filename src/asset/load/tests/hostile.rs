use super::builder::{Build, F32, SQUARE, everything};
use crate::asset::{Asset, limits};
use serde_json::json;

fn refusal(bytes: &[u8]) -> String {
    Asset::from_slice(bytes, "hostile.gltf").expect_err("a refusal").to_string()
}

/// Builds a triangle fan and overrides properties of its POSITION accessor.
fn with_accessor(accessor: serde_json::Value) -> Build {
    let mut b = Build::new();
    let positions = b.floats("VEC3", &SQUARE);
    for (key, value) in accessor.as_object().unwrap() {
        b.json["accessors"][positions][key] = value.clone();
    }
    b.show(json!({"attributes": {"POSITION": positions}, "mode": 6}));
    b
}

#[test]
fn extents_are_checked_before_anything_is_allocated() {
    for (accessor, why) in [
        (json!({"count": 5}), "need 60 bytes from byte 0 of bufferView 0, which has 48"),
        (json!({"count": 15_999_999}), "need 191999988 bytes"),
        (json!({"count": u64::MAX}), "the limit is 16000000"),
        (json!({"count": -1}), "not a whole number"),
        (json!({"count": 1.5}), "not a whole number"),
        (json!({"byteOffset": 4}), "from byte 4"),
        (json!({"byteOffset": u64::MAX}), "from byte 18446744073709551615"),
        (json!({"bufferView": 7}), "bufferView 7, but the file has 1"),
        (json!({"componentType": 5124}), "componentType 5124 does not exist"),
        (json!({"type": "VEC5"}), "type \"VEC5\" does not exist"),
        (json!({"sparse": {"count": 5}}), "it replaces 5 of 4 elements"),
        (
            json!({"sparse": {"count": 1, "indices": {"bufferView": 0, "componentType": 5125, "byteOffset": 12},
            "values": {"bufferView": 0}}}),
            "replaces element 1065353216 of 4",
        ),
        (
            json!({"sparse": {"count": 1, "indices": {"bufferView": 0, "componentType": F32},
            "values": {"bufferView": 0}}}),
            "not an unsigned integer",
        ),
    ] {
        let refusal = with_accessor(accessor.clone()).refusal();
        assert!(refusal.contains("accessor 0") && refusal.contains(why), "{accessor}: {refusal}");
    }
    for (key, value, why) in [
        ("byteLength", json!(49), "takes 49 bytes from byte 0 of buffer 0, which has 48"),
        ("byteOffset", json!(u64::MAX), "takes 48 bytes from byte 18446744073709551615"),
        ("byteStride", json!(8), "elements of 12 bytes overlap"),
        ("byteStride", json!(u64::MAX), "byteStride 18446744073709551615 is too large"),
        ("byteStride", json!(65536), "need 196620 bytes"),
        ("buffer", json!(1), "buffer 1, but the file has 1"),
    ] {
        let mut b = with_accessor(json!({}));
        b.json["bufferViews"][0][key] = value;
        let refusal = b.refusal();
        assert!(refusal.contains(why), "{key}: {refusal}");
    }
}

#[test]
fn zeros_and_shared_data_are_paid_for() {
    let mut b = Build::new();
    b.push("accessors", json!({"componentType": F32, "type": "VEC3", "count": limits::ACCESSOR_COUNT}));
    b.show(json!({"attributes": {"POSITION": 0}, "mode": 6}));
    assert!(b.refusal().contains("accessor 0: its decoded data would exceed"));
    // 1.2 MB of positions are used by enough primitives to exhaust the file's budget.
    let mut b = Build::new();
    let positions = b.floats("VEC3", &vec![0.5; 300_000]);
    let primitive = json!({"attributes": {"POSITION": positions}});
    b.push("meshes", json!({"primitives": vec![primitive; 5000]}));
    assert!(b.refusal().contains("would exceed what a file of this size may need"));
}

#[test]
fn json_is_bounded_in_depth_and_number() {
    let deep = format!(
        "{{\"asset\":{{\"version\":\"2.0\"}},\"extras\":{}{}}}",
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    assert!(refusal(deep.as_bytes()).contains("recursion limit"));
    let many = format!("{{\"extras\":[{}0]}}", "0,".repeat(limits::JSON_VALUES));
    assert!(refusal(many.as_bytes()).contains("the limit is 4000000"));
    let nodes =
        format!("{{\"asset\":{{\"version\":\"2.0\"}},\"nodes\":[{}{{}}]}}", "{},".repeat(limits::ELEMENTS));
    assert!(refusal(nodes.as_bytes()).contains("\"nodes\": it has 65536 entries, the limit is 65535"));
    assert!(refusal(b"").contains("empty") && refusal(b"hello").contains("neither glTF JSON nor"));
    assert!(refusal(b"{\"asset\":{\"version\":\"2.0\"},\"a\":1e999}").contains("number out of range"));
}

#[test]
fn long_names_do_not_multiply() {
    let mut b = Build::new();
    let positions = b.floats("VEC3", &SQUARE);
    let primitive = json!({"attributes": {"POSITION": positions}, "mode": 0});
    b.push("meshes", json!({"name": "x".repeat(1 << 20), "primitives": vec![primitive; 20_000]}));
    let asset = b.load().unwrap();
    assert_eq!(asset.meshes[0].name.len(), 1 << 20);
    assert_eq!(asset.problems.len(), limits::PROBLEMS + 1);
    assert!(asset.problems.iter().all(|p| p.at.len() < 200 && p.text.len() < 200));
    assert!(asset.problems[limits::PROBLEMS].text.contains("19500 more"));
}

#[test]
fn very_many_influence_sets_are_merged_in_time() {
    let mut b = everything();
    let (joints, weights) = {
        let attributes = &b.json["meshes"][0]["primitives"][0]["attributes"];
        (attributes["JOINTS_0"].clone(), attributes["WEIGHTS_0"].clone())
    };
    for set in 1..20_000 {
        let attributes = &mut b.json["meshes"][0]["primitives"][0]["attributes"];
        attributes[format!("JOINTS_{set}")] = joints.clone();
        attributes[format!("WEIGHTS_{set}")] = weights.clone();
    }
    let asset = b.load().unwrap();
    let found: Vec<_> = asset.meshes[0].primitives[0].influences.of(0).collect();
    assert_eq!(found.iter().map(|f| f.0).collect::<Vec<_>>(), [0, 1]);
    assert!((found[0].1 - 0.75).abs() < 1e-3, "{found:?}");
}

#[test]
fn a_chain_of_all_nodes_is_loaded_without_recursion() {
    let mut b = Build::new();
    for child in 1..60_000 {
        b.push("nodes", json!({"children": [child]}));
    }
    b.push("nodes", json!({}));
    b.push("scenes", json!({"nodes": [59_999]}));
    let asset = b.load().unwrap();
    assert_eq!(asset.roots[0].0, 0);
}

#[test]
fn a_file_is_loaded_without_a_picture_that_is_too_large() {
    let mut png = std::io::Cursor::new(Vec::new());
    image::RgbaImage::new(1, 1).write_to(&mut png, image::ImageFormat::Png).unwrap();
    let mut png = png.into_inner();
    png[16..24].copy_from_slice(&[0, 1, 0, 0, 0, 1, 0, 0]);
    // Updates the header's checksum (CRC-32, polynomial 0xEDB88320), so that only the size is wrong.
    let crc = !png[12..29].iter().fold(!0_u32, |crc, &byte| {
        (0..8).fold(crc ^ u32::from(byte), |c, _| if c & 1 == 1 { c >> 1 ^ 0xEDB8_8320 } else { c >> 1 })
    });
    png[29..33].copy_from_slice(&crc.to_be_bytes());
    let mut b = everything();
    let view = b.view(&png);
    b.json["images"][0]["bufferView"] = json!(view);
    // The header alone exceeds the limit, so nothing is decoded.
    let asset = b.load().unwrap();
    assert_eq!(asset.images[0].rgba, [255, 0, 255, 255]);
    assert!(super::told(
        &asset,
        "image 0",
        "with its 65536 x 65536 pixels it exceeds the limit of 67108864 pixels"
    ));
    assert!(super::told(&asset, "image 0", "export a smaller texture"));
    // The export still contains the image.
    let glb = crate::export::unedited(&asset).unwrap();
    assert!(glb.windows(png.len()).any(|bytes| bytes == png));
}

#[test]
fn versions_and_extensions_decide() {
    let version = |version: &str, least: Option<&str>| {
        let mut b = Build::new();
        b.json["asset"] = json!({"version": version, "minVersion": least.unwrap_or(version)});
        if least.is_none() {
            b.json["asset"].as_object_mut().unwrap().remove("minVersion");
        }
        b.load().map_err(|e| e.to_string())
    };
    assert!(version("2.0", None).unwrap().problems.is_empty());
    assert_eq!(version("2.1", None).unwrap().problems.len(), 1);
    assert!(version("2.1", Some("2.0")).is_ok());
    assert!(version("2.1", Some("2.1")).unwrap_err().contains("glTF 2.1 is not supported"));
    assert!(version("3.0", None).unwrap_err().contains("glTF 3.0 is not supported"));
    assert!(version("1.0", None).unwrap_err().contains("glTF 1.0 is not supported; convert"));
    assert!(version("two", None).unwrap_err().contains("not of the form"));
    assert!(refusal(b"{\"meshes\":{}}").contains("glTF 1.0"));
    assert!(refusal(b"{}").contains("\"asset\" with the version is missing"));
    assert!(refusal(b"glTF\x01\0\0\0").contains("glTF 1.0"));
    let mut b = everything();
    b.json["extensionsRequired"] = json!(["ACME_time_travel"]);
    assert!(b.refusal().contains("required extension ACME_time_travel is not supported"));
    b.json["extensionsRequired"] = json!(["KHR_materials_clearcoat"]);
    assert_eq!(b.load().unwrap().problems.len(), 1);
}

#[test]
fn broken_compressed_data_is_refused() {
    for (extension, why) in [
        (
            json!({"buffer": 0, "byteLength": 48, "byteStride": 12, "count": 4, "mode": "ATTRIBUTES"}),
            "meshopt",
        ),
        (
            json!({"buffer": 0, "byteLength": 48, "byteStride": 13, "count": 4, "mode": "ATTRIBUTES"}),
            "do not fit",
        ),
        (
            json!({"buffer": 0, "byteLength": 48, "byteStride": 0, "count": 4, "mode": "INDICES"}),
            "out of range",
        ),
        (
            json!({"buffer": 0, "byteLength": 48, "byteStride": 256, "count": u64::MAX, "mode": "ATTRIBUTES"}),
            "out of range",
        ),
        (
            json!({"buffer": 0, "byteLength": 48, "byteStride": 256, "count": 9_000_000, "mode": "ATTRIBUTES"}),
            "exceed",
        ),
        (
            json!({"buffer": 0, "byteLength": 99, "byteStride": 12, "count": 4, "mode": "ATTRIBUTES"}),
            "takes 99 bytes",
        ),
        (json!({"buffer": 0, "byteLength": 48, "byteStride": 12, "count": 4, "mode": "SONG"}), "SONG"),
    ] {
        let mut b = with_accessor(json!({}));
        b.json["bufferViews"][0]["extensions"] = json!({"EXT_meshopt_compression": extension});
        let refusal = b.refusal();
        assert!(
            refusal.contains("bufferView 0 EXT_meshopt_compression") && refusal.contains(why),
            "{refusal}"
        );
    }
    let mut b = with_accessor(json!({}));
    b.json["accessors"][0].as_object_mut().unwrap().remove("bufferView");
    b.json["meshes"][0]["primitives"][0]["extensions"] =
        json!({"KHR_draco_mesh_compression": {"bufferView": 0, "attributes": {"POSITION": 0}}});
    assert!(b.refusal().contains("KHR_draco_mesh_compression: its bitstream is broken"), "{}", b.refusal());
}
