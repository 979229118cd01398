//! Writes a model as a binary glTF 2.0 file; equal models give identical bytes.

use super::model::{Model, Motion, Normals};
use crate::base::Result;
use crate::base::math::Vec3;
use crate::export::container;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::path::Path;

const FLOAT: u32 = 5126;
const U8: u32 = 5121;
const U16: u32 = 5123;
const U32: u32 = 5125;
const VERTICES: u32 = 34962;
const INDICES: u32 = 34963;

/// A bufferView under construction; it holds accessors of one kind in sequence.
struct Stream {
    bytes: Vec<u8>,
    target: Option<u32>,
    stride: Option<u32>,
}

impl Stream {
    fn vertices(stride: u32) -> Self {
        Self { bytes: Vec::new(), target: Some(VERTICES), stride: Some(stride) }
    }

    fn plain(target: Option<u32>) -> Self {
        Self { bytes: Vec::new(), target, stride: None }
    }
}

const POSITION: usize = 0;
const NORMAL: usize = 1;
const JOINTS: usize = 2;
const WEIGHTS: usize = 3;
const INDEX: usize = 4;
const BIND: usize = 5;
const KEYS: usize = 6;

struct Writer {
    streams: Vec<Stream>,
    accessors: Vec<Value>,
}

impl Writer {
    fn new() -> Self {
        let mut streams: Vec<_> = [12, 12, 4, 8].into_iter().map(Stream::vertices).collect();
        streams.extend([Stream::plain(Some(INDICES)), Stream::plain(None), Stream::plain(None)]);
        Self { streams, accessors: Vec::new() }
    }

    /// Appends an accessor's bytes to a stream and completes its JSON description `about`; returns its index.
    fn accessor(&mut self, stream: usize, bytes: &[u8], mut about: Value) -> usize {
        let to = &mut self.streams[stream].bytes;
        about["bufferView"] = json!(stream);
        about["byteOffset"] = json!(to.len());
        to.extend_from_slice(bytes);
        self.accessors.push(about);
        self.accessors.len() - 1
    }

    fn floats(&mut self, stream: usize, kind: &str, rows: &[Vec<f32>]) -> usize {
        let bytes: Vec<u8> = rows.iter().flatten().flat_map(|f| f.to_le_bytes()).collect();
        let mut about = json!({"componentType": FLOAT, "count": rows.len(), "type": kind});
        if kind == "SCALAR" || stream == POSITION {
            let fold = |f: fn(f32, f32) -> f32| -> Vec<f32> {
                rows.iter()
                    .cloned()
                    .reduce(|a, b| a.iter().zip(&b).map(|(&a, &b)| f(a, b)).collect())
                    .unwrap_or_default()
            };
            about["min"] = json!(fold(f32::min));
            about["max"] = json!(fold(f32::max));
        }
        self.accessor(stream, &bytes, about)
    }

    /// Writes the triangles of one material as a glTF primitive with its own vertices.
    fn primitive(&mut self, model: &Model, paint: u8, material: usize) -> Value {
        let mut vertices: Vec<(u32, Vec3)> = Vec::new();
        let mut index_of: HashMap<(u32, [u32; 3]), u32> = HashMap::new();
        let mut indices: Vec<u32> = Vec::new();
        for (t, triangle) in model.triangles.iter().enumerate().filter(|(t, _)| model.paint_of[*t] == paint) {
            for &v in triangle {
                let normal = match &model.normals {
                    Normals::Smooth(n) => n[v as usize],
                    Normals::Flat(n) => n[t],
                };
                let key = (v, normal.to_array().map(f32::to_bits));
                indices.push(*index_of.entry(key).or_insert_with(|| {
                    vertices.push((v, normal));
                    vertices.len() as u32 - 1
                }));
            }
        }
        let rows =
            |f: &dyn Fn(&(u32, Vec3)) -> Vec3| vertices.iter().map(|v| f(v).to_array().to_vec()).collect();
        let positions: Vec<Vec<f32>> = rows(&|v| model.positions[v.0 as usize]);
        let normals: Vec<Vec<f32>> = rows(&|v| v.1);
        let weights = vertices.iter().map(|v| model.weights[v.0 as usize]);
        let joints: Vec<u8> = weights.clone().flatten().map(|w| w.0).collect();
        let weights: Vec<u8> = weights.flatten().flat_map(|w| w.1.to_le_bytes()).collect();
        let n = vertices.len();
        let vec4 = |kind: u32, normalized: bool| {
            let mut about = json!({"componentType": kind, "count": n, "type": "VEC4"});
            if normalized {
                about["normalized"] = json!(true);
            }
            about
        };
        let attributes = json!({
            "POSITION": self.floats(POSITION, "VEC3", &positions),
            "NORMAL": self.floats(NORMAL, "VEC3", &normals),
            "JOINTS_0": self.accessor(JOINTS, &joints, vec4(U8, false)),
            "WEIGHTS_0": self.accessor(WEIGHTS, &weights, vec4(U16, true)),
        });
        // All primitives' indices share a bufferView, so all use the index width that the whole model needs.
        let short = model.positions.len() * 2 < usize::from(u16::MAX);
        let bytes: Vec<u8> = if short {
            indices.iter().flat_map(|&i| (i as u16).to_le_bytes()).collect()
        } else {
            indices.iter().flat_map(|i| i.to_le_bytes()).collect()
        };
        let about =
            json!({"componentType": if short { U16 } else { U32 }, "count": indices.len(), "type": "SCALAR"});
        let indices = self.accessor(INDEX, &bytes, about);
        json!({"attributes": attributes, "indices": indices, "material": material})
    }

    fn animation(&mut self, motion: &Motion, first_joint: usize) -> Value {
        let (mut samplers, mut channels) = (Vec::new(), Vec::new());
        for (joint, keys) in &motion.channels {
            let times: Vec<Vec<f32>> = keys.iter().map(|k| vec![k.0]).collect();
            let mut values = Vec::new();
            for (_, turn) in keys {
                let norm = (1.0 + turn.length_squared()).sqrt();
                // Zero tangents ease the motion in and out of every key.
                let still = vec![0.0; 4];
                let turn = *turn / norm;
                values.extend([still.clone(), vec![turn.x, turn.y, turn.z, 1.0 / norm], still]);
            }
            let input = self.floats(KEYS, "SCALAR", &times);
            let output = self.floats(KEYS, "VEC4", &values);
            channels.push(json!({
                "sampler": samplers.len(), "target": {"node": first_joint + joint, "path": "rotation"}
            }));
            samplers.push(json!({"input": input, "output": output, "interpolation": "CUBICSPLINE"}));
        }
        json!({"name": motion.name, "samplers": samplers, "channels": channels})
    }
}

/// Returns the bytes of the file.
///
/// # Errors
/// Any error of [`container`].
pub(super) fn write(model: &Model) -> Result<Vec<u8>> {
    let mut writer = Writer::new();
    // The mesh is node 0 and the joints follow. Some readers do not expect a skinned mesh below a joint.
    const FIRST: usize = 1;
    let (mut primitives, mut materials) = (Vec::new(), Vec::new());
    for (p, paint) in model.paints.iter().enumerate() {
        if !model.paint_of.contains(&(p as u8)) {
            continue;
        }
        primitives.push(writer.primitive(model, p as u8, materials.len()));
        let [r, g, b] = paint.color;
        materials.push(json!({"name": paint.name, "pbrMetallicRoughness": {
            "baseColorFactor": [r, g, b, 1.0], "metallicFactor": 0.0, "roughnessFactor": paint.roughness}}));
    }
    let joints = &model.rig.joints;
    let bind: Vec<Vec<f32>> = joints
        .iter()
        .map(|j| {
            let p = -j.position;
            vec![1., 0., 0., 0., 0., 1., 0., 0., 0., 0., 1., 0., p.x, p.y, p.z, 1.]
        })
        .collect();
    let bind = writer.floats(BIND, "MAT4", &bind);
    let mut nodes = vec![json!({"name": model.name, "mesh": 0, "skin": 0})];
    for (i, joint) in joints.iter().enumerate() {
        let local = joint.position - joint.parent.map_or(Vec3::ZERO, |p| joints[p].position);
        let children: Vec<usize> =
            (i..joints.len()).filter(|&c| joints[c].parent == Some(i)).map(|c| c + FIRST).collect();
        let mut node = json!({"name": joint.name, "translation": local.to_array()});
        if !children.is_empty() {
            node["children"] = json!(children);
        }
        nodes.push(node);
    }
    let animations: Vec<Value> = model.motion.iter().map(|m| writer.animation(m, FIRST)).collect();
    let mut bin = Vec::new();
    let mut views = Vec::new();
    let last = writer.streams.iter().rposition(|s| !s.bytes.is_empty()).map_or(0, |l| l + 1);
    for stream in &writer.streams[..last] {
        let mut view = json!({"buffer": 0, "byteOffset": bin.len(), "byteLength": stream.bytes.len()});
        if let Some(stride) = stream.stride {
            view["byteStride"] = json!(stride);
        }
        if let Some(target) = stream.target {
            view["target"] = json!(target);
        }
        bin.extend_from_slice(&stream.bytes);
        bin.resize(bin.len().next_multiple_of(4), 0);
        views.push(view);
    }
    let roots: Vec<usize> = std::iter::once(0)
        .chain((0..joints.len()).filter(|&j| joints[j].parent.is_none()).map(|j| j + FIRST))
        .collect();
    let mut document = json!({
        "asset": {"version": "2.0", "generator": "Sinew"},
        "scene": 0,
        "scenes": [{"nodes": roots}],
        "nodes": nodes,
        "meshes": [{"name": model.name, "primitives": primitives}],
        "skins": [{
            "name": model.name, "skeleton": FIRST, "inverseBindMatrices": bind,
            "joints": (FIRST..FIRST + joints.len()).collect::<Vec<_>>()
        }],
        "materials": materials,
        "accessors": writer.accessors,
        "bufferViews": views,
        "buffers": [{"byteLength": bin.len()}],
    });
    if !animations.is_empty() {
        document["animations"] = json!(animations);
    }
    container(Path::new(model.name), &document, &bin)
}
