//! Reads a written file with the `gltf` crate instead of Sinew's own loader, so that a misreading of glTF that loader
//! and exporter share cannot hide an error from the receipt. The reader reads only what [`super::evaluate()`] needs.

mod check;
mod plain;

use crate::asset::{
    Asset, Channel, Clip, Influences, Interpolation, Mesh, Morph, Node, Primitive, Property, Skin,
};
use crate::base::NodeId;
use crate::base::math::{Mat4, Trs, Vec3};
use gltf::accessor::{DataType, Dimensions, Item, Iter};
use gltf::animation::util::ReadOutputs;
use gltf::mesh::{Mode, Semantic};

/// Reads a .glb whose data is all in the binary chunk.
///
/// # Errors
/// The message says why the crate cannot read the file: compressed geometry, unknown required extensions, or a broken
/// file.
pub fn reread(glb: &[u8]) -> Result<Asset, String> {
    check::length(glb)?;
    let glb = &plain::plain(glb)?[..];
    let gltf::Gltf { document, blob } =
        gltf::Gltf::from_slice_without_validation(glb).map_err(|e| e.to_string())?;
    check::before_validation(document.as_json())?;
    let document = gltf::Document::from_json(document.into_json()).map_err(|e| e.to_string())?;
    let file = gltf::Gltf { document, blob };
    let reading = Reading { bin: file.blob.as_deref().unwrap_or_default() };
    check::extents(&file, reading.bin.len())?;
    check::forest(&file)?;
    let mut asset = Asset::default();
    for mesh in file.meshes() {
        let triangles = mesh.primitives().filter(|p| {
            let mode = p.mode();
            mode != Mode::Points
                && !matches!(mode, Mode::Lines | Mode::LineLoop | Mode::LineStrip)
                && p.get(&Semantic::Positions).is_some()
        });
        let primitives = triangles.map(|p| reading.primitive(&p)).collect::<Result<_, _>>()?;
        asset.meshes.push(Mesh { name: String::new(), primitives });
    }
    for skin in file.skins() {
        let joints: Vec<NodeId> = skin.joints().map(|j| j.index().into()).collect();
        let is_matrix = |a| check::is(&a, Dimensions::Mat4, &[DataType::F32]);
        if !skin.inverse_bind_matrices().is_none_or(is_matrix) {
            return Err(format!("skin {}: its inverse bind matrices are of another type", skin.index()));
        }
        let matrices = skin.reader(|b| reading.of(&b)).read_inverse_bind_matrices();
        let mut inverse_bind: Vec<Mat4> =
            matrices.into_iter().flatten().map(|m| Mat4::from_cols_array_2d(&m)).collect();
        if skin.inverse_bind_matrices().is_some() && inverse_bind.len() < joints.len() {
            return Err(format!("skin {}: too few matrices", skin.index()));
        }
        inverse_bind.resize(joints.len(), Mat4::IDENTITY);
        asset.skins.push(Skin { name: String::new(), joints, inverse_bind });
    }
    asset.nodes = file.nodes().map(|n| node(&n)).collect();
    let scene = file.default_scene().or_else(|| file.scenes().next());
    asset.roots = match scene {
        Some(scene) => scene.nodes().map(|n| n.index().into()).collect(),
        None => {
            let has_parent: Vec<usize> =
                asset.nodes.iter().flat_map(|n| &n.children).map(|c| c.index()).collect();
            (0..asset.nodes.len()).filter(|n| !has_parent.contains(n)).map(NodeId::from).collect()
        }
    };
    for animation in file.animations() {
        // Invalid channels are skipped; the measured clip is always the exporter's own.
        let channels = animation.channels().filter_map(|c| reading.channel(&c, &asset.nodes)).collect();
        asset.clips.push(Clip { name: String::new(), channels });
    }
    Ok(asset)
}

fn node(node: &gltf::Node<'_>) -> Node {
    let (rest, matrix) = match node.transform() {
        gltf::scene::Transform::Matrix { matrix } => (Trs::IDENTITY, Some(Mat4::from_cols_array_2d(&matrix))),
        gltf::scene::Transform::Decomposed { translation, rotation, scale } => {
            (Trs { translation, rotation, scale }, None)
        }
    };
    let targets =
        node.mesh().map_or(0, |m| m.primitives().map(|p| p.morph_targets().len()).max().unwrap_or(0));
    let given = node.weights().or_else(|| node.mesh().and_then(|m| m.weights()));
    let mut weights = given.unwrap_or_default().to_vec();
    weights.resize(targets, 0.0);
    Node {
        name: String::new(),
        parent: None,
        children: node.children().map(|c| c.index().into()).collect(),
        rest,
        matrix,
        mesh: node.mesh().map(|m| m.index().into()),
        skin: node.skin().map(|s| s.index().into()),
        weights,
    }
}

struct Reading<'a> {
    bin: &'a [u8],
}

impl<'a> Reading<'a> {
    fn of(&self, buffer: &gltf::Buffer<'_>) -> Option<&'a [u8]> {
        matches!(buffer.source(), gltf::buffer::Source::Bin).then_some(self.bin)
    }

    fn primitive(&self, p: &gltf::Primitive<'_>) -> Result<Primitive, String> {
        for set in 0.. {
            let (joints, weights) = (p.get(&Semantic::Joints(set)), p.get(&Semantic::Weights(set)));
            if joints.is_none() && weights.is_none() {
                break;
            }
            let whole = [DataType::U8, DataType::U16];
            let shares = [DataType::U8, DataType::U16, DataType::F32];
            if !joints.is_none_or(|a| check::is(&a, Dimensions::Vec4, &whole))
                || !weights.is_none_or(|a| check::is(&a, Dimensions::Vec4, &shares))
            {
                return Err(format!("skin weights of set {set} are of another type"));
            }
        }
        let reader = p.reader(|b| self.of(&b));
        let positions = self.vectors(p.get(&Semantic::Positions))?;
        let mut normals = self.vectors(p.get(&Semantic::Normals))?;
        let normals_from_file = !normals.is_empty();
        if !normals_from_file {
            normals = vec![Vec3::ZERO; positions.len()];
        }
        let mut morphs = Vec::new();
        for target in p.morph_targets() {
            let (mut moved, turned) = (self.vectors(target.positions())?, self.vectors(target.normals())?);
            if moved.is_empty() {
                moved = vec![Vec3::ZERO; positions.len()];
            }
            morphs.push(Morph { name: String::new(), positions: moved, normals: turned });
        }
        let count = p.get(&Semantic::Positions).map_or(0, |a| a.count());
        let turned = |m: &Morph| if m.normals.is_empty() { count } else { m.normals.len() };
        let lengths = morphs.iter().flat_map(|m| [m.positions.len(), turned(m)]);
        if lengths.chain([positions.len(), normals.len()]).any(|l| l != count) {
            return Err("an attribute is shorter than it says, or not in the file".into());
        }
        let mut entries: Vec<Vec<(u16, f32)>> = Vec::new();
        for set in 0.. {
            let (Some(joints), Some(weights)) = (reader.read_joints(set), reader.read_weights(set)) else {
                break;
            };
            entries.resize(count, Vec::new());
            for ((vertex, joints), weights) in
                entries.iter_mut().zip(joints.into_u16()).zip(weights.into_f32())
            {
                let pairs = joints.into_iter().zip(weights);
                vertex.extend(pairs.filter(|(_, w)| *w > 0.0 && w.is_finite()));
            }
        }
        let mut influences = Influences::default();
        entries.into_iter().for_each(|vertex| influences.push(vertex));
        Ok(Primitive { positions, normals, normals_from_file, influences, morphs, ..Primitive::default() })
    }

    /// Reads vectors of floats or of quantised integers (KHR_mesh_quantization).
    fn vectors(&self, accessor: Option<gltf::Accessor<'_>>) -> Result<Vec<Vec3>, String> {
        let Some(a) = accessor else { return Ok(Vec::new()) };
        if a.dimensions() != Dimensions::Vec3 {
            return Err(format!("accessor {} does not hold vectors", a.index()));
        }
        let is_share = a.normalized();
        let of = |largest: f32| {
            move |v: [f32; 3]| {
                if is_share { (Vec3::from(v) / largest).max(Vec3::NEG_ONE) } else { v.into() }
            }
        };
        Ok(match a.data_type() {
            DataType::F32 => self.items::<[f32; 3]>(a).map(Vec3::from).collect(),
            DataType::I8 => self.items::<[i8; 3]>(a).map(|v| v.map(f32::from)).map(of(127.0)).collect(),
            DataType::U8 => self.items::<[u8; 3]>(a).map(|v| v.map(f32::from)).map(of(255.0)).collect(),
            DataType::I16 => self.items::<[i16; 3]>(a).map(|v| v.map(f32::from)).map(of(32767.0)).collect(),
            DataType::U16 => self.items::<[u16; 3]>(a).map(|v| v.map(f32::from)).map(of(65535.0)).collect(),
            DataType::U32 => return Err(format!("accessor {} has no vectors' type", a.index())),
        })
    }

    fn items<T: Item>(&self, accessor: gltf::Accessor<'_>) -> impl Iterator<Item = T> {
        Iter::<T>::new(accessor, |b| self.of(&b)).into_iter().flatten()
    }

    /// Reads a channel; `None` if it animates nothing, or its times and values are inconsistent.
    fn channel(&self, channel: &gltf::animation::Channel<'_>, nodes: &[Node]) -> Option<Channel> {
        use gltf::animation::{Interpolation as From, Property as Of};
        if !check::is_animation(channel) {
            return None;
        }
        let reader = channel.reader(|b| self.of(&b));
        let times: Vec<f32> = reader.read_inputs()?.collect();
        let values: Vec<f32> = match reader.read_outputs()? {
            ReadOutputs::Translations(v) => v.flatten().collect(),
            ReadOutputs::Scales(v) => v.flatten().collect(),
            ReadOutputs::Rotations(v) => v.into_f32().flatten().collect(),
            ReadOutputs::MorphTargetWeights(v) => v.into_f32().collect(),
        };
        let node = channel.target().node().index();
        let (property, width) = match channel.target().property() {
            Of::Translation => (Property::Translation, 3),
            Of::Rotation => (Property::Rotation, 4),
            Of::Scale => (Property::Scale, 3),
            Of::MorphTargetWeights => (Property::Weights, nodes[node].weights.len()),
        };
        let (interpolation, blocks) = match channel.sampler().interpolation() {
            From::Step => (Interpolation::Step, 1),
            From::Linear => (Interpolation::Linear, 1),
            From::CubicSpline => (Interpolation::CubicSpline, 3),
        };
        let fit = width > 0 && !times.is_empty() && values.len() == times.len() * width * blocks;
        fit.then_some(Channel { node: node.into(), property, interpolation, times, values })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bind::shapes::Shape;
    use crate::export::{Moment, evaluate, unedited};

    #[test]
    fn both_readings_show_the_same_and_what_is_not_read_is_refused() {
        let shape = Shape { bones: 3, rings: 12, segments: 8, radius: 0.1, length: 1.0, blend: 0.5 };
        let glb = unedited(&shape.capsule_asset()).unwrap();
        let own = Asset::from_slice(&glb, "capsule.glb").unwrap();
        let other = reread(&glb).unwrap();
        let (a, b) = (evaluate(&own, Moment::Static), evaluate(&other, Moment::Static));
        assert!(a.len() > 50 && a.len() == b.len());
        for (a, b) in a.iter().zip(&b) {
            assert!(a.position.distance(b.position) < 1e-6 && a.normal.distance(b.normal) < 1e-6);
        }
        // A channel without a target node, or an unknown material extension, does not cause an error.
        let mut builder = crate::export::Builder::of(&own).unwrap();
        builder.push("extensionsRequired", "KHR_animation_pointer".into());
        assert_eq!(reread(&builder.glb().unwrap()).unwrap().nodes.len(), other.nodes.len());
        // Quantised data: positions in units of 2 m / 32767, normals in units of 1/127.
        let mut builder = crate::export::Builder::of(&own).unwrap();
        let primitive = &own.meshes[0].primitives[0];
        let (positions, normals) = (&primitive.positions, &primitive.normals);
        let moved =
            |v: &Vec3| [v.x, v.y, v.z, 0.0].map(|c| ((c / 2.0 * 32767.0).round() as i16).to_le_bytes());
        let bytes: Vec<u8> = positions.iter().flat_map(moved).flatten().collect();
        let turned = |v: &Vec3| [v.x, v.y, v.z, 0.0].map(|c| (c * 127.0).round() as i8 as u8);
        let signs: Vec<u8> = normals.iter().flat_map(turned).collect();
        for (name, bytes, component, stride) in [("POSITION", bytes, 5122, 8), ("NORMAL", signs, 5120, 4)] {
            let view = builder.view(&bytes, crate::export::Usage::Vertices);
            builder.json["bufferViews"][view]["byteStride"] = stride.into();
            let accessor = serde_json::json!({ "bufferView": view, "componentType": component, "type": "VEC3",
                "normalized": true, "count": positions.len(), "min": [-1, -1, -1], "max": [1, 1, 1] });
            let accessor = builder.push("accessors", accessor);
            builder.json["meshes"][0]["primitives"][0]["attributes"][name] = accessor.into();
        }
        builder.push("extensionsRequired", "KHR_mesh_quantization".into());
        let mut packed = builder.clone();
        packed.use_extension("KHR_draco_mesh_compression");
        let reason = reread(&packed.glb().unwrap()).unwrap_err();
        assert_eq!(reason, "KHR_draco_mesh_compression is not read by the independent reader");
        let seen = reread(&builder.glb().unwrap()).unwrap();
        for (v, position) in seen.meshes[0].primitives[0].positions.iter().enumerate() {
            assert!((*position * 2.0).distance(positions[v]) < 1e-4);
            assert!(seen.meshes[0].primitives[0].normals[v].distance(normals[v]) < 0.01);
        }
        assert!(reread(b"nothing").is_err());
        let mut short = glb.clone();
        short[8..12].copy_from_slice(&4u32.to_le_bytes());
        assert!(reread(&short).is_err());
        let mut cut = glb.clone();
        cut.truncate(glb.len() / 2);
        assert!(reread(&cut).is_err());
    }

    /// Rereads a capsule with a clip after one value of its JSON is changed.
    fn changed(at: &str, value: serde_json::Value) -> Result<Asset, String> {
        let shape = Shape { bones: 2, rings: 3, segments: 4, radius: 0.1, length: 1.0, blend: 0.5 };
        let asset = Asset::from_slice(&unedited(&shape.capsule_asset()).unwrap(), "capsule.glb").unwrap();
        let mut builder = crate::export::Builder::of(&asset).unwrap();
        let times = builder.times(&[0.0, 1.0]);
        let turns = builder.floats(&[0.0, 0.0, 0.0, 1.0].repeat(2), 4, crate::export::Usage::Other, false);
        let channel = serde_json::json!({ "sampler": 0, "target": { "node": 0, "path": "rotation" } });
        let sampler = serde_json::json!({ "input": times, "output": turns, "interpolation": "STEP" });
        builder.push("animations", serde_json::json!({ "channels": [channel], "samplers": [sampler] }));
        let at = at.replace("TURNS", &turns.to_string()).replace("TIMES", &times.to_string());
        *builder.json.pointer_mut(&at).unwrap() = value;
        reread(&builder.glb().unwrap())
    }

    #[test]
    fn types_and_extents_that_the_crate_does_not_expect_end_in_words() {
        assert_eq!(changed("/asset/generator", "us".into()).unwrap().clips[0].channels.len(), 1);
        // An animation of invalid types is skipped.
        for (at, value) in [
            ("/accessors/TURNS/componentType", 5125.into()),
            ("/accessors/TURNS/type", "VEC3".into()),
            ("/accessors/TURNS/type", "SCALAR".into()),
            ("/accessors/TURNS/count", 1.into()),
            ("/accessors/TIMES/type", "VEC2".into()),
            ("/animations/0/samplers/0/interpolation", "CUBICSPLINE".into()),
            ("/animations/0/channels/0/target/path", "weights".into()),
        ] {
            let seen = changed(at, value);
            assert!(seen.as_ref().map_or_else(|e| !e.is_empty(), |a| a.clips[0].channels.is_empty()), "{at}");
        }
        let huge = serde_json::Value::from(1u64 << 62);
        for (at, value) in [
            ("/accessors/0/count", 0.into()),
            ("/accessors/0/count", huge.clone()),
            ("/accessors/0/type", "VEC4".into()),
            ("/bufferViews/0/byteLength", 4.into()),
            ("/bufferViews/0", serde_json::json!({ "buffer": 0, "byteLength": 12, "byteOffset": huge })),
            ("/bufferViews/0", serde_json::json!({ "buffer": 0, "byteLength": 400, "byteStride": 4 })),
            ("/nodes/0/children", serde_json::json!([0])),
            ("/meshes/0/primitives/0/attributes/POSITION", 99.into()),
            ("/animations/0/channels/0/target/path", "colour".into()),
            ("/animations/0/samplers/0/interpolation", "SOMEHOW".into()),
            ("/meshes/0/primitives/0/attributes", serde_json::json!({ "POSITION": 0, "ATTRIBUTE": 0 })),
        ] {
            assert!(changed(at, value).is_err(), "{at}");
        }
    }
}
