use super::builder::{Build, SQUARE};
use crate::asset::Asset;
use serde_json::json;

/// Builds a triangle fan whose buffer is at a URI.
fn at(uri: &str) -> Vec<u8> {
    let mut b = Build::new();
    let positions = b.floats("VEC3", &SQUARE);
    b.show(json!({"attributes": {"POSITION": positions}, "mode": 6}));
    b.json["buffers"] = json!([{"byteLength": b.bin.len(), "uri": uri}]);
    b.json.to_string().into_bytes()
}

fn square_bytes() -> Vec<u8> {
    SQUARE.iter().flat_map(|v| v.to_le_bytes()).collect()
}

#[test]
fn files_beside_it_with_encoded_and_unicode_names() {
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("a/b");
    std::fs::create_dir_all(inner.join("sub")).unwrap();
    for name in ["Box With Spaces.bin", "Unicode❤♻.bin", "100%.bin", "sub/deep.bin", "../up.bin"] {
        std::fs::write(inner.join(name), square_bytes()).unwrap();
    }
    for uri in [
        "Box%20With%20Spaces.bin",
        "Unicode%E2%9D%A4%E2%99%BB.bin",
        "Unicode❤♻.bin",
        "100%.bin",
        "./sub/deep.bin",
        "sub\\deep.bin",
        "../up.bin",
    ] {
        let path = inner.join("file.gltf");
        std::fs::write(&path, at(uri)).unwrap();
        let asset = Asset::load(&path).unwrap_or_else(|e| panic!("{uri}: {e}"));
        assert_eq!(asset.meshes[0].primitives[0].positions.len(), 4, "{uri}");
        assert_eq!(asset.source.buffers[0], square_bytes());
    }
}

#[test]
fn uris_that_must_not_be_followed_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file.gltf");
    let outside = folder.path().join("outside.bin");
    std::fs::write(&outside, square_bytes()).unwrap();
    let absolute = outside.display().to_string();
    let encoded = absolute.replace('/', "%2F");
    for (uri, why) in [
        ("http://example.com/a.bin", "does not name a file beside it"),
        ("https:a.bin", "does not name a file beside it"),
        ("file:///a.bin", "does not name a file beside it"),
        ("C:\\a.bin", "does not name a file beside it"),
        (absolute.as_str(), "is an absolute path"),
        (encoded.as_str(), "is an absolute path"),
        ("\\\\server\\a.bin", "is an absolute path"),
        ("../../../a.bin", "too far above"),
        ("a/../../../../b.bin", "too far above"),
        ("missing.bin", "cannot be read"),
        (".", "not a regular file"),
        ("a%00.bin", "not a file name"),
        ("%FF.bin", "not UTF-8"),
    ] {
        std::fs::write(&path, at(uri)).unwrap();
        let refusal = Asset::load(&path).expect_err(uri).to_string();
        assert!(refusal.contains("buffer 0") && refusal.contains(why), "{uri}: {refusal}");
    }
    assert!(Asset::from_slice(&at("outside.bin"), &path).is_err(), "memory files read no others");
}

#[test]
fn data_uris_in_a_text_file() {
    // The four corners as base64, produced by coreutils' base64.
    let text = "AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAACAPwAAgD8AAAAAAAAAAAAAgD8AAAAA";
    let asset =
        Asset::from_slice(&at(&format!("data:application/octet-stream;base64,{text}")), "a.gltf").unwrap();
    assert_eq!(asset.source.buffers[0], square_bytes());
    let refusal = Asset::from_slice(&at("data:;base64,AA"), "a.gltf").expect_err("too short").to_string();
    assert!(refusal.contains("byteLength is 48, but there are only 1 bytes"), "{refusal}");
}
