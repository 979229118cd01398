use super::builder::{Build, F32, SQUARE};
use crate::base::math::Vec3;
use serde_json::json;

/// Encodes with EXT_meshopt_compression's attribute codec, version 0, in its simplest form: at most 16 elements,
/// every delta stored as a whole byte.
fn meshopt_attributes(elements: &[Vec<u8>]) -> Vec<u8> {
    let stride = elements[0].len();
    let mut out = vec![0xA0];
    for channel in 0..stride {
        out.push(3);
        let mut before = elements[0][channel];
        for element in 0..16 {
            let value = elements.get(element).map_or(before, |e| e[channel]);
            let delta = value.wrapping_sub(before) as i8;
            out.push(((delta << 1) ^ (delta >> 7)) as u8);
            before = value;
        }
    }
    out.extend(vec![0; 32_usize.saturating_sub(stride)]);
    out.extend(&elements[0]);
    out
}

fn corners() -> [Vec3; 4] {
    [0, 1, 2, 3].map(|i| Vec3::from_slice(&SQUARE[3 * i..]))
}

#[test]
fn meshopt_buffer_views_are_decoded() {
    let elements: Vec<Vec<u8>> =
        SQUARE.chunks(3).map(|p| p.iter().flat_map(|v| v.to_le_bytes()).collect()).collect();
    let stream = meshopt_attributes(&elements);
    let mut b = Build::new();
    let view = b.view(&stream);
    b.json["bufferViews"][view] = json!({"buffer": 1, "byteLength": 48, "byteStride": 12, "extensions": {
        "EXT_meshopt_compression": {"buffer": 0, "byteLength": stream.len(), "byteStride": 12, "count": 4,
            "mode": "ATTRIBUTES"}}});
    // The second buffer is the fallback buffer for readers without the extension.
    b.json["buffers"] = json!([{"byteLength": b.bin.len()}, {"byteLength": 48,
        "extensions": {"EXT_meshopt_compression": {"fallback": true}}}]);
    b.push("accessors", json!({"bufferView": view, "componentType": F32, "type": "VEC3", "count": 4}));
    b.json["extensionsRequired"] = json!(["EXT_meshopt_compression"]);
    b.show(json!({"attributes": {"POSITION": 0}, "mode": 6}));
    let asset = b.load().unwrap();
    assert_eq!(asset.meshes[0].primitives[0].positions, corners());
    assert_eq!(asset.problems, []);
    assert_eq!(asset.source.buffers[0], b.bin, "the source keeps the compressed bytes");
    b.json["bufferViews"][view]["extensions"]["EXT_meshopt_compression"]["byteLength"] =
        json!(stream.len() - 1);
    assert!(b.refusal().contains("EXT_meshopt_compression"));
}

/// Returns the square in Draco's sequential encoding: a header (version 2.2, triangular mesh, sequential), two faces,
/// four points, plain one-byte indices, one decoder with one attribute (position, float, 3 components, id 0,
/// uncompressed), and the attribute's values.
fn draco_square() -> Vec<u8> {
    let mut out = b"DRACO\x02\x02\x01\0\0\0".to_vec();
    out.extend([2, 4, 1, 0, 1, 2, 0, 2, 3, 1, 1, 0, 9, 3, 0, 0, 0]);
    out.extend(SQUARE.iter().flat_map(|v| v.to_le_bytes()));
    out
}

#[test]
fn draco_primitives_are_decoded() {
    let stream = draco_square();
    let mut b = Build::new();
    let view = b.view(&stream);
    b.push("accessors", json!({"componentType": F32, "type": "VEC3", "count": 4}));
    b.push("accessors", json!({"componentType": 5123, "type": "SCALAR", "count": 6}));
    b.json["extensionsRequired"] = json!(["KHR_draco_mesh_compression"]);
    b.show(json!({"attributes": {"POSITION": 0}, "indices": 1, "extensions": {
        "KHR_draco_mesh_compression": {"bufferView": view, "attributes": {"POSITION": 0}}}}));
    let asset = b.load().unwrap();
    let primitive = &asset.meshes[0].primitives[0];
    assert_eq!(primitive.positions, corners());
    assert_eq!(primitive.triangles, [[0, 1, 2], [0, 2, 3]]);
    assert_eq!(primitive.normals, [Vec3::Z; 4]);
    // Any changed byte or truncation gives an error or valid geometry, never a panic.
    for at in 0..stream.len() {
        for value in [0x00, 0x7F, 0xFF] {
            let mut damaged = Build { json: b.json.clone(), bin: stream.clone() };
            damaged.bin[at] = value;
            if let Ok(asset) = damaged.load() {
                let sound = |p: &crate::asset::Primitive| p.positions.iter().all(|v| v.is_finite());
                assert!(asset.meshes.iter().flat_map(|m| &m.primitives).all(sound));
            }
        }
        let mut cut = Build { json: b.json.clone(), bin: stream.clone() };
        cut.json["bufferViews"][0]["byteLength"] = json!(at);
        assert!(cut.refusal().contains("KHR_draco_mesh_compression"));
    }
}
