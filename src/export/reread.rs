//! A second reading of a written file, by the `gltf` crate instead of by Sinew's own loader, so that a receipt does
//! not share a misunderstanding with what wrote the file. Only what [`super::evaluate`] needs is read.

use crate::asset::{
    Asset, Channel, Clip, Influences, Interpolation, Mesh, Morph, Node, Primitive, Property, Skin,
};
use crate::base::NodeId;
use crate::base::math::{Mat4, Trs, Vec3};
use gltf::accessor::DataType;
use gltf::animation::util::ReadOutputs;
use gltf::mesh::{Mode, Semantic};

/// Reads a .glb with all its data in the binary chunk.
///
/// # Errors
/// Why the crate cannot: compressed or quantised geometry, required extensions it does not know, a broken file.
pub fn reread(glb: &[u8]) -> Result<Asset, String> {
    let file = gltf::Gltf::from_slice(glb).map_err(|e| e.to_string())?;
    if let Some(name) = file.extensions_used().find(|n| n.contains("draco") || n.contains("meshopt")) {
        return Err(format!("{name} is not read there"));
    }
    // The crate's iterators take these for granted.
    for accessor in file.accessors() {
        if accessor.count() == 0 || accessor.sparse().is_some_and(|s| s.count() == 0) {
            return Err(format!("accessor {} is empty", accessor.index()));
        }
    }
    let reading = Reading { bin: file.blob.as_deref().unwrap_or_default() };
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
        let channels = animation.channels().map(|c| reading.channel(&c)).collect::<Result<_, _>>()?;
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
        let targets = p.morph_targets().flat_map(|t| [t.positions(), t.normals()]).flatten();
        let own = [Semantic::Positions, Semantic::Normals].iter().filter_map(|s| p.get(s));
        if own.chain(targets).any(|a| a.data_type() != DataType::F32) {
            return Err("quantised geometry is not read there".into());
        }
        let reader = p.reader(|b| self.of(&b));
        let vectors = |v: Option<gltf::accessor::Iter<'_, [f32; 3]>>| -> Vec<Vec3> {
            v.into_iter().flatten().map(Vec3::from).collect()
        };
        let positions = vectors(reader.read_positions());
        let mut normals = vectors(reader.read_normals());
        let normals_from_file = !normals.is_empty();
        if !normals_from_file {
            normals = vec![Vec3::ZERO; positions.len()];
        }
        let mut morphs = Vec::new();
        for (moved, turned, _) in reader.read_morph_targets() {
            let (mut moved, turned) = (vectors(moved), vectors(turned));
            if moved.is_empty() {
                moved = vec![Vec3::ZERO; positions.len()];
            }
            morphs.push(Morph { name: String::new(), positions: moved, normals: turned });
        }
        let count = p.get(&Semantic::Positions).map_or(0, |a| a.count());
        let lengths = morphs.iter().flat_map(|m| [m.positions.len(), m.normals.len().max(count)]);
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

    fn channel(&self, channel: &gltf::animation::Channel<'_>) -> Result<Channel, String> {
        use gltf::animation::{Interpolation as From, Property as Of};
        let reader = channel.reader(|b| self.of(&b));
        let (Some(times), Some(outputs)) = (reader.read_inputs(), reader.read_outputs()) else {
            return Err("an animation's data is not in the file".into());
        };
        let values: Vec<f32> = match outputs {
            ReadOutputs::Translations(v) => v.flatten().collect(),
            ReadOutputs::Scales(v) => v.flatten().collect(),
            ReadOutputs::Rotations(v) => v.into_f32().flatten().collect(),
            ReadOutputs::MorphTargetWeights(v) => v.into_f32().collect(),
        };
        Ok(Channel {
            node: channel.target().node().index().into(),
            property: match channel.target().property() {
                Of::Translation => Property::Translation,
                Of::Rotation => Property::Rotation,
                Of::Scale => Property::Scale,
                Of::MorphTargetWeights => Property::Weights,
            },
            interpolation: match channel.sampler().interpolation() {
                From::Step => Interpolation::Step,
                From::Linear => Interpolation::Linear,
                From::CubicSpline => Interpolation::CubicSpline,
            },
            times: times.collect(),
            values,
        })
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
        assert!(reread(b"nothing").is_err());
        let mut cut = glb.clone();
        cut.truncate(glb.len() / 2);
        assert!(reread(&cut).is_err());
    }
}
