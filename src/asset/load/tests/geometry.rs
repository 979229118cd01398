use super::builder::{Build, F32, I8, I16, SQUARE, U8, U32, everything};
use super::told;
use crate::base::math::{Vec2, Vec3, Vec4};
use serde_json::json;

#[test]
fn a_bit_of_everything_loads_without_problems() {
    let asset = everything().load().unwrap();
    assert_eq!(asset.problems, []);
    let mesh = &asset.meshes[0];
    let primitive = &mesh.primitives[0];
    assert_eq!((mesh.name.as_str(), primitive.positions[2]), ("square", Vec3::new(1.0, 1.0, 0.0)));
    assert_eq!(primitive.triangles, [[0, 1, 2], [0, 2, 3]]);
    assert_eq!(primitive.uvs[1], Vec2::X);
    assert!(primitive.normals_from_file && primitive.uvs1.is_empty() && primitive.colors.is_empty());
    assert_eq!(primitive.morphs[0].name, "bulge");
    assert_eq!(primitive.morphs[0].positions, [Vec3::Z * 0.5; 4]);
    assert_eq!(asset.nodes[0].weights, [0.5]);
    assert_eq!(asset.roots.len(), 2);
    assert_eq!(asset.source.buffers.len(), 1);
    assert_eq!(asset.source.json["meshes"][0]["extras"]["targetNames"][0], "bulge");
}

#[test]
fn modes_become_triangles_of_one_winding() {
    let triangles = |mode: u32, indices: &[u16]| {
        let mut b = Build::new();
        let positions = b.floats("VEC3", &SQUARE);
        let indices = b.shorts("SCALAR", 1, indices);
        b.show(json!({"attributes": {"POSITION": positions}, "indices": indices, "mode": mode}));
        let asset = b.load().unwrap();
        let primitive = &asset.meshes[0].primitives[0];
        let mut used = primitive.triangles.iter().flatten().map(|&v| primitive.normals[v as usize]);
        assert!(used.all(|n| n.distance(Vec3::Z) < 1e-6), "{:?}", primitive.normals);
        primitive.triangles.clone()
    };
    assert_eq!(triangles(4, &[0, 1, 2, 0, 2, 3]).len(), 2);
    assert_eq!(triangles(5, &[0, 1, 3, 2]), [[0, 1, 3], [1, 2, 3]]);
    assert_eq!(triangles(6, &[0, 1, 2, 3]), [[1, 2, 0], [2, 3, 0]]);
    assert_eq!(triangles(5, &[0, 1, 3, 3, 2]).len(), 1, "joints of a strip are no triangles");
}

#[test]
fn without_indices_vertices_are_numbered() {
    let mut b = Build::new();
    let positions = b.floats("VEC3", &SQUARE);
    b.show(json!({"attributes": {"POSITION": positions}}));
    let asset = b.load().unwrap();
    assert_eq!(asset.meshes[0].primitives[0].triangles, [[0, 1, 2]]);
    assert!(told(&asset, "shape", "last 1 indices form no triangle"));
}

#[test]
fn points_and_lines_are_told_and_keep_the_numbering() {
    let mut b = Build::new();
    let positions = b.floats("VEC3", &SQUARE);
    let attributes = json!({"POSITION": positions});
    b.push(
        "meshes",
        json!({"primitives": [{"attributes": attributes, "mode": 0}, {"attributes": attributes, "mode": 6}]}),
    );
    let asset = b.load().unwrap();
    assert_eq!(asset.meshes[0].primitives.len(), 1);
    assert_eq!(asset.meshes[0].primitives[0].file_index, 1);
    assert!(told(&asset, "mesh 0 primitive 0", "points"));
}

#[test]
fn strides_interleave_attributes() {
    let mut b = Build::new();
    let mut bytes = Vec::new();
    for corner in SQUARE.chunks(3) {
        for value in corner.iter().chain(&[0.0, 0.0, 2.0]) {
            bytes.extend(value.to_le_bytes());
        }
        bytes.extend([255, 0, 51, 0]);
    }
    let view = b.view(&bytes);
    b.json["bufferViews"][view]["byteStride"] = json!(28);
    for (offset, component, kind) in [(0, F32, "VEC3"), (12, F32, "VEC3"), (24, U8, "VEC4")] {
        b.push(
            "accessors",
            json!({"bufferView": view, "byteOffset": offset, "componentType": component, "type": kind, "count": 4,
                "normalized": component == U8}),
        );
    }
    b.show(json!({"attributes": {"POSITION": 0, "NORMAL": 1, "COLOR_0": 2}, "mode": 6}));
    let asset = b.load().unwrap();
    let primitive = &asset.meshes[0].primitives[0];
    assert_eq!(primitive.positions[3], Vec3::Y);
    assert_eq!(primitive.normals[3], Vec3::Z, "made unit length");
    assert!(primitive.colors[3].distance(Vec4::new(1.0, 0.0, 0.2, 0.0)) < 1e-6);
}

#[test]
fn sparse_accessors_replace_elements_of_a_base_or_of_zeros() {
    for base in [true, false] {
        let mut b = Build::new();
        let positions = b.floats("VEC3", &SQUARE);
        let at = b.view(&[1, 3]);
        let bytes: Vec<u8> =
            [5.0_f32, 6.0, 7.0, 8.0, 9.0, 10.0].iter().flat_map(|v| v.to_le_bytes()).collect();
        let values = b.view(&bytes);
        b.json["accessors"][positions]["sparse"] = json!({"count": 2,
            "indices": {"bufferView": at, "componentType": U8}, "values": {"bufferView": values}});
        if !base {
            b.json["accessors"][positions].as_object_mut().unwrap().remove("bufferView");
        }
        b.show(json!({"attributes": {"POSITION": positions}, "mode": 6}));
        let found = b.load().unwrap().meshes[0].primitives[0].positions.clone();
        let kept = if base { Vec3::new(1.0, 1.0, 0.0) } else { Vec3::ZERO };
        assert_eq!(found, [Vec3::ZERO, Vec3::new(5.0, 6.0, 7.0), kept, Vec3::new(8.0, 9.0, 10.0)]);
    }
}

#[test]
fn quantized_attributes_are_fractions_or_whole_numbers() {
    let mut b = Build::new();
    let shorts = [0_i16, 0, 0, 0, 32767, 0, 0, 0, 32767, -32768, 0, 0];
    let bytes: Vec<u8> = shorts.iter().flat_map(|v| v.to_le_bytes()).collect();
    let positions = b.accessor(&bytes, I16, "VEC3", 3);
    b.json["bufferViews"][0]["byteStride"] = json!(8);
    let normals = b.accessor(&[0, 0, 127, 0].repeat(3), I8, "VEC3", 3);
    b.json["bufferViews"][1]["byteStride"] = json!(4);
    b.json["accessors"][normals]["normalized"] = json!(true);
    let uvs = b.shorts("VEC2", 2, &[0, 65535, 3, 4, 5, 6]);
    b.json["extensionsRequired"] = json!(["KHR_mesh_quantization"]);
    b.show(json!({"attributes": {"POSITION": positions, "NORMAL": normals, "TEXCOORD_0": uvs}}));
    // Elements have 8 bytes, and the last short is unused: x of the second element is the fifth short.
    let plain = b.load().unwrap();
    assert_eq!(plain.meshes[0].primitives[0].positions[1], Vec3::new(32767.0, 0.0, 0.0));
    assert_eq!(plain.meshes[0].primitives[0].normals[1], Vec3::Z);
    assert_eq!(plain.meshes[0].primitives[0].uvs[0], Vec2::new(0.0, 65535.0));
    b.json["accessors"][positions]["normalized"] = json!(true);
    b.json["accessors"][uvs]["normalized"] = json!(true);
    let fractions = b.load().unwrap();
    assert_eq!(fractions.meshes[0].primitives[0].positions[2], Vec3::new(1.0, -1.0, 0.0));
    assert_eq!(fractions.meshes[0].primitives[0].uvs[0], Vec2::Y);
}

#[test]
fn missing_or_zero_normals_come_from_the_triangles() {
    let mut b = Build::new();
    let positions = b.floats("VEC3", &SQUARE);
    let normals = b.floats("VEC3", &[0.0, 0.0, 0.0, 0.0, 1.0, 0.0, f32::NAN, 0.0, 0.0, 0.0, 2.0, 0.0]);
    b.show(json!({"attributes": {"POSITION": positions, "NORMAL": normals}, "mode": 6}));
    let asset = b.load().unwrap();
    assert_eq!(asset.meshes[0].primitives[0].normals, [Vec3::Z, Vec3::Y, Vec3::Z, Vec3::Y]);
    assert!(told(&asset, "primitive 0", "2 normals have no length"));
}

#[test]
fn what_makes_the_shape_unknowable_is_refused() {
    let with = |indices: &[u16], positions: &[f32]| {
        let mut b = Build::new();
        let positions = b.floats("VEC3", positions);
        let indices = b.shorts("SCALAR", 1, indices);
        b.show(json!({"attributes": {"POSITION": positions}, "indices": indices}));
        b
    };
    assert!(
        with(&[0, 1, 4], &SQUARE)
            .refusal()
            .contains("mesh \"shape\" primitive 0: its index 2 refers to vertex 4")
    );
    let mut infinite = SQUARE;
    infinite[4] = f32::INFINITY;
    assert!(with(&[0, 1, 2], &infinite).refusal().contains("the position of vertex 1 is not finite"));
    let mut b = with(&[0, 1, 2], &SQUARE);
    let short = b.floats("VEC3", &SQUARE[..9]);
    b.json["meshes"][0]["primitives"][0]["attributes"]["NORMAL"] = json!(short);
    assert!(b.refusal().contains("NORMAL: 3 elements for 4 vertices"));
    let mut b = with(&[0, 1, 2], &SQUARE);
    b.json["accessors"][1]["componentType"] = json!(F32);
    assert!(b.refusal().contains("accessor 1"));
    let mut b = with(&[0, 1, 2], &SQUARE);
    let wide = b.accessor(&[0; 48], U32, "VEC3", 4);
    b.json["meshes"][0]["primitives"][0]["attributes"]["POSITION"] = json!(wide);
    assert!(b.refusal().contains("32-bit integers"));
}
