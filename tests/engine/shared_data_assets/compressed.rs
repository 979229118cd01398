//! Compressed files against the same model in plain.

use sinew::asset::{Asset, Primitive};
use sinew::base::math::{Affine3A, Vec3};
use sinew::base::testing::shared;

/// Primitives of all nodes that show a mesh, in the order of the nodes, with the node's index.
fn shown(asset: &Asset) -> impl Iterator<Item = (usize, &Primitive)> {
    let nodes = asset.nodes.iter().enumerate();
    let meshes = nodes.filter_map(|(index, node)| Some((index, node.mesh?)));
    meshes.flat_map(|(index, mesh)| asset.meshes[mesh.index()].primitives.iter().map(move |p| (index, p)))
}

/// World transforms of all nodes in the rest pose.
fn world(asset: &Asset) -> Vec<Affine3A> {
    fn of(asset: &Asset, node: usize) -> Affine3A {
        let own = asset.nodes[node].rest.affine();
        asset.nodes[node].parent.map_or(own, |parent| of(asset, parent.index()) * own)
    }
    (0..asset.nodes.len()).map(|node| of(asset, node)).collect()
}

/// Rest positions of a primitive in world space: where quantization moved its offset into the joints or nodes,
/// only these agree.
fn placed(asset: &Asset, world: &[Affine3A], node: usize, primitive: &Primitive) -> Vec<Vec3> {
    let skin = asset.nodes[node].skin.map(|skin| &asset.skins[skin.index()]);
    let place = |vertex: usize| match skin {
        Some(skin) => primitive
            .influences
            .of(vertex)
            .map(|(joint, weight)| {
                let from_mesh = Affine3A::from_mat4(skin.inverse_bind[joint as usize]);
                let from_joint = world[skin.joints[joint as usize].index()];
                (from_joint * from_mesh).transform_point3(primitive.positions[vertex]) * weight
            })
            .sum(),
        None => world[node].transform_point3(primitive.positions[vertex]),
    };
    (0..primitive.positions.len()).map(place).collect()
}

#[test]
fn meshopt_and_quantization_give_the_plain_shape() {
    let Some(folder) = shared("") else { return };
    let packed =
        Asset::load(folder.join("characters/valid/Black_M_1_Casual.glb")).expect("the compressed file");
    let plain = Asset::load(folder.join("derived/valid_Black_M_1_Casual_plain.glb")).expect("the plain file");
    let (packed_world, plain_world) = (world(&packed), world(&plain));
    let (mut vertices, mut furthest, mut morphs) = (0, 0.0_f32, 0);
    for ((packed_node, a), (plain_node, b)) in shown(&packed).zip(shown(&plain)) {
        assert_eq!(packed.nodes[packed_node].name, plain.nodes[plain_node].name);
        assert_eq!(a.triangles.len(), b.triangles.len());
        assert_eq!(a.triangles, b.triangles);
        let here = placed(&packed, &packed_world, packed_node, a);
        let there = placed(&plain, &plain_world, plain_node, b);
        assert_eq!(here.len(), there.len());
        for (p, q) in here.iter().zip(&there) {
            furthest = furthest.max(p.distance(*q));
        }
        for (p, q) in a.normals.iter().zip(&b.normals) {
            assert!(p.dot(*q) > 0.999, "{p} {q}");
        }
        assert_eq!(a.morphs.len(), b.morphs.len());
        assert!(a.morphs.iter().zip(&b.morphs).all(|(m, n)| m.name == n.name));
        morphs += a.morphs.len();
        vertices += here.len();
    }
    assert_eq!((vertices, morphs), (31897, 65 + 31));
    assert!(furthest < 1e-3, "furthest {furthest} m");
    assert_eq!((packed.images[0].width, packed.problems.len()), (2048, 0));
}

#[test]
fn draco_gives_the_plain_shape() {
    let Some(folder) = shared("") else { return };
    for (packed, plain) in [
        ("oddities/khronos/CesiumMan/glTF-Draco/CesiumMan.gltf", "khronos/CesiumMan/glTF/CesiumMan.gltf"),
        (
            "oddities/khronos/MorphPrimitivesTest/glTF-Draco/MorphPrimitivesTest.gltf",
            "khronos/MorphPrimitivesTest/glTF-Binary/MorphPrimitivesTest.glb",
        ),
    ] {
        let packed = Asset::load(folder.join(packed)).expect(packed);
        let plain = Asset::load(folder.join(plain)).expect(plain);
        let (packed_world, plain_world) = (world(&packed), world(&plain));
        let (mut furthest, mut size) = (0.0_f32, 0.0_f32);
        for ((packed_node, a), (plain_node, b)) in shown(&packed).zip(shown(&plain)) {
            assert_eq!(a.triangles.len(), b.triangles.len());
            assert_eq!(a.influences.is_empty(), b.influences.is_empty());
            // Draco changes the order: every decoded vertex must lie on one of the plain mesh.
            let there = placed(&plain, &plain_world, plain_node, b);
            let near = |p: Vec3| there.iter().map(|q| p.distance(*q)).fold(f32::MAX, f32::min);
            for p in placed(&packed, &packed_world, packed_node, a) {
                furthest = furthest.max(near(p));
                size = size.max(p.length());
            }
            let area = |p: &Primitive| -> f32 {
                let corner = |t: &[u32; 3], i: usize| p.positions[t[i] as usize];
                p.triangles
                    .iter()
                    .map(|t| (corner(t, 1) - corner(t, 0)).cross(corner(t, 2) - corner(t, 0)).length())
                    .sum()
            };
            assert!((area(a) / area(b) - 1.0).abs() < 1e-2, "{} {}", area(a), area(b));
        }
        assert!(size > 0.0 && furthest < 2e-3 * size, "furthest {furthest} of {size}");
    }
}

#[test]
fn quantized_morphs_agree_with_the_plain_ones() {
    let Some(folder) = shared("") else { return };
    let packed = folder.join("oddities/khronos/AnimatedMorphCube/glTF-Quantized/AnimatedMorphCube.gltf");
    let plain = folder.join("khronos/AnimatedMorphCube/glTF/AnimatedMorphCube.gltf");
    let (packed, plain) = (Asset::load(packed).expect("quantized"), Asset::load(plain).expect("plain"));
    let (a, b) = (&packed.meshes[0].primitives[0], &plain.meshes[0].primitives[0]);
    assert_eq!(a.morphs.len(), b.morphs.len());
    let (from_a, from_b) = (world(&packed), world(&plain));
    let (node_a, node_b) =
        (shown(&packed).next().expect("a node").0, shown(&plain).next().expect("a node").0);
    // The packer changed the order: each vertex must have a plain one with its place and displacement.
    let near = |p: Vec3, q: Vec3| p.distance(q) < 1e-3 * (1.0 + q.length());
    for (m, n) in a.morphs.iter().zip(&b.morphs) {
        for (p, d) in a.positions.iter().zip(&m.positions) {
            let (p, d) = (from_a[node_a].transform_point3(*p), from_a[node_a].transform_vector3(*d));
            let twin = b.positions.iter().zip(&n.positions).find(|(q, e)| {
                near(p, from_b[node_b].transform_point3(**q))
                    && near(d, from_b[node_b].transform_vector3(**e))
            });
            assert!(twin.is_some(), "{p} moved by {d}");
        }
    }
    assert_eq!(packed.clips[0].channels[0].values.len(), plain.clips[0].channels[0].values.len());
}

/// Damaged bitstreams: with every byte of the first kilobyte changed in turn, loading returns.
#[test]
fn damaged_bitstreams_are_survived() {
    let Some(folder) = shared("") else { return };
    let meshopt = std::fs::read(folder.join("oddities/compressed/BoxMeshopt.glb")).expect("a file");
    let bin = meshopt.windows(4).position(|w| w == b"BIN\0").expect("a binary chunk") + 4;
    for at in (bin..meshopt.len()).take(1024) {
        for flip in [0x01, 0x80, 0xFF] {
            let mut bytes = meshopt.clone();
            bytes[at] ^= flip;
            let _ = Asset::from_slice(&bytes, "damaged.glb").map(|asset| super::assert_sound(&asset));
        }
    }
    let scene = tempfile::tempdir().expect("a folder");
    let from = folder.join("oddities/khronos/MorphPrimitivesTest/glTF-Draco");
    let path = scene.path().join("MorphPrimitivesTest.gltf");
    std::fs::copy(from.join("MorphPrimitivesTest.gltf"), &path).expect("a copy");
    let draco = std::fs::read(from.join("MorphPrimitivesTest.bin")).expect("a file");
    for at in (0..draco.len()).take(600) {
        let mut bytes = draco.clone();
        bytes[at] ^= if at % 2 == 0 { 0xFF } else { 0x04 };
        std::fs::write(scene.path().join("MorphPrimitivesTest.bin"), bytes).expect("a damaged copy");
        let _ = Asset::load(&path).map(|asset| super::assert_sound(&asset));
    }
}
