//! A glTF file under construction: a JSON tree and one binary chunk, to which accessors are appended.
//!
//! The output follows the rules that the Khronos validator checks: 4-byte alignment, one accessor per vertex buffer
//! view (so that no stride is needed), exact min and max, `target` only on vertex and index views, and ascending sparse
//! indices.

use super::glb;
use crate::asset::{Asset, Source};
use crate::base::Result;
use crate::base::math::Vec3;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// The use of an accessor's data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Usage {
    /// Vertex attributes and dense morph targets.
    Vertices,
    /// Triangle indices.
    Indices,
    /// Animation data, inverse bind matrices, sparse indices and values, images.
    Other,
}

/// A glTF file under construction.
#[derive(Clone, Debug)]
pub struct Builder {
    /// The glTF JSON. Callers may edit it, but must keep all indices valid.
    pub json: Value,
    pub(super) bin: Vec<u8>,
    path: PathBuf,
    /// Accessors that several users share: zeros, by element count, and key times.
    pub(super) zeros: Vec<(usize, usize)>,
    times: Vec<(Vec<f32>, usize)>,
    /// Shared accessors of constant values, by bit pattern and width.
    constants: HashMap<(Vec<u32>, usize), usize>,
    /// Accessors that edits may have left unused; [`Builder::prune`] removes them.
    pub(super) orphans: Vec<usize>,
}

impl Builder {
    /// Creates an empty file; `path` appears in messages only.
    pub fn new(path: impl AsRef<Path>) -> Self {
        let generator = concat!("Sinew ", env!("CARGO_PKG_VERSION"));
        let json = json!({ "asset": { "version": "2.0", "generator": generator } });
        Self::with(json, Vec::new(), path.as_ref().to_owned())
    }

    /// Creates a builder from a loaded asset's own file, or a new file for an in-memory asset.
    ///
    /// # Errors
    /// The errors of [`Builder::from_source`] or [`Builder::from_asset`].
    pub fn of(asset: &Asset) -> Result<Self> {
        if asset.source.json.is_object() {
            Self::from_source(&asset.path, &asset.source)
        } else {
            Self::from_asset(asset)
        }
    }

    /// Creates a builder from a loaded file's own JSON and data: all buffers packed into one, images in buffer views,
    /// and unknown content preserved.
    ///
    /// # Errors
    /// The asset has no source, or a buffer is shorter than its declared length.
    pub fn from_source(path: impl AsRef<Path>, source: &Source) -> Result<Self> {
        let path = path.as_ref().to_owned();
        let (json, bin) = glb::pack(&path, source)?;
        Ok(Self::with(json, bin, path))
    }

    /// Marks the file as one whose morph targets correct linear blend skinning.
    pub(super) fn mark_corrected(&mut self) {
        let about = &mut self.json["asset"];
        if about.get("extras").is_none_or(Value::is_object) {
            about["extras"][crate::asset::CORRECTS] = "lbs".into();
        }
    }

    fn with(json: Value, bin: Vec<u8>, path: PathBuf) -> Self {
        let (zeros, times, constants, orphans) = Default::default();
        Self { json, bin, path, zeros, times, constants, orphans }
    }

    /// Removes a skin's `skeleton` if it is not a common ancestor of the joints, because other programs reject such
    /// files. `asset` is the asset that this builder was created from.
    pub(super) fn drop_false_skeletons(&mut self, asset: &Asset) {
        let skins = self.json.get_mut("skins").and_then(Value::as_array_mut);
        for (json, skin) in skins.into_iter().flatten().zip(&asset.skins) {
            let root = json.get("skeleton").map(|root| {
                let whole = root.as_f64().filter(|r| r.fract() == 0.0 && *r >= 0.0).map(|r| r as u64);
                whole.unwrap_or(u64::MAX)
            });
            if root.is_some_and(|root| !skin.has_root(root, &asset.nodes))
                && let Some(json) = json.as_object_mut()
            {
                json.shift_remove("skeleton");
            }
        }
    }

    /// Returns the current content of the binary chunk.
    pub fn bin(&self) -> &[u8] {
        &self.bin
    }

    /// Returns the finished .glb.
    ///
    /// # Errors
    /// The file exceeds 4 GiB.
    pub fn glb(mut self) -> Result<Vec<u8>> {
        if !self.bin.is_empty() {
            glb::set_first_buffer(&mut self.json, self.bin.len());
        }
        glb::container(&self.path, &self.json, &self.bin)
    }

    /// Appends an element to a top-level array (`"nodes"`, `"meshes"`, ...) and returns its index.
    pub fn push(&mut self, collection: &str, element: Value) -> usize {
        glb::push(&mut self.json, collection, element)
    }

    /// Adds an extension to `extensionsUsed`.
    pub fn use_extension(&mut self, name: &str) {
        let known = self.json.get("extensionsUsed").and_then(Value::as_array);
        if !known.is_some_and(|k| k.iter().any(|n| n == name)) {
            self.push("extensionsUsed", name.into());
        }
    }

    /// Removes an extension from `extensionsUsed` and `extensionsRequired`.
    pub fn drop_extension(&mut self, name: &str) {
        let Some(root) = self.json.as_object_mut() else { return };
        for key in ["extensionsUsed", "extensionsRequired"] {
            let Some(list) = root.get_mut(key).and_then(Value::as_array_mut) else { continue };
            let before = list.len();
            list.retain(|n| n != name);
            if list.is_empty() && before > 0 {
                root.shift_remove(key);
            }
        }
    }

    /// Returns the number of elements of a top-level array.
    pub fn len(&self, collection: &str) -> usize {
        self.json.get(collection).and_then(Value::as_array).map_or(0, Vec::len)
    }

    /// Returns whether the file contains nothing but `asset`.
    pub fn is_empty(&self) -> bool {
        self.bin.is_empty() && self.json.as_object().is_none_or(|o| o.len() <= 1)
    }

    /// Appends bytes as a buffer view, aligned to 4 bytes.
    pub fn view(&mut self, bytes: &[u8], usage: Usage) -> usize {
        self.reserve_first_buffer();
        self.bin.resize(self.bin.len().next_multiple_of(4), 0);
        let mut view = json!({ "buffer": 0, "byteOffset": self.bin.len(), "byteLength": bytes.len() });
        match usage {
            Usage::Vertices => view["target"] = 34962.into(),
            Usage::Indices => view["target"] = 34963.into(),
            Usage::Other => {}
        }
        self.bin.extend_from_slice(bytes);
        self.push("bufferViews", view)
    }

    /// Makes `buffers[0]` the binary chunk. If the file has only meshopt fallback buffers, inserts the chunk before
    /// them, so their indices increase by one.
    fn reserve_first_buffer(&mut self) {
        let first_is_chunk = !self.bin.is_empty() || self.len("buffers") == 0;
        if first_is_chunk {
            return;
        }
        if let Some(buffers) = self.json["buffers"].as_array_mut() {
            buffers.insert(0, json!({ "byteLength": 0 }));
        }
        for view in self.json.get_mut("bufferViews").and_then(Value::as_array_mut).into_iter().flatten() {
            if let Some(buffer) = view.get("buffer").and_then(Value::as_u64) {
                view["buffer"] = (buffer + 1).into();
            }
        }
    }

    /// Appends floats as an accessor of `width` (1, 2, 3, 4 or 16) components. `bounds` adds min and max, which glTF
    /// requires for POSITION attributes and animation inputs.
    pub fn floats(&mut self, values: &[f32], width: usize, usage: Usage, bounds: bool) -> usize {
        let view = self.view(bytemuck::cast_slice(values), usage);
        let count = values.len() / width;
        let mut accessor =
            json!({ "bufferView": view, "componentType": 5126, "count": count, "type": kind(width) });
        if bounds {
            set_bounds(&mut accessor, values, width);
        }
        self.push("accessors", accessor)
    }

    /// Appends vectors as VEC3 float vertex data.
    pub fn vec3(&mut self, values: &[Vec3], bounds: bool) -> usize {
        self.floats(bytemuck::cast_slice(values), 3, Usage::Vertices, bounds)
    }

    /// Appends key times in seconds as an animation input; equal lists share one accessor.
    pub fn times(&mut self, times: &[f32]) -> usize {
        if let Some((_, accessor)) = self.times.iter().find(|t| t.0 == times) {
            return *accessor;
        }
        let accessor = self.floats(times, 1, Usage::Other, true);
        self.times.push((times.to_vec(), accessor));
        accessor
    }

    /// Appends the values of a single key as an animation output; equal values share one accessor.
    pub fn constant(&mut self, values: &[f32], width: usize) -> usize {
        let key = (values.iter().map(|v| v.to_bits()).collect(), width);
        if let Some(accessor) = self.constants.get(&key) {
            return *accessor;
        }
        let accessor = self.floats(values, width, Usage::Other, false);
        self.constants.insert(key, accessor);
        accessor
    }

    /// Appends triangle indices, 16-bit if they fit (65535 is reserved for primitive restart).
    pub fn indices(&mut self, triangles: &[[u32; 3]]) -> usize {
        let flat = triangles.as_flattened();
        let (component, view) = if flat.iter().all(|&i| i < 0xFFFF) {
            let short: Vec<u16> = flat.iter().map(|&i| i as u16).collect();
            (5123, self.view(bytemuck::cast_slice(&short), Usage::Indices))
        } else {
            (5125, self.view(bytemuck::cast_slice(flat), Usage::Indices))
        };
        self.push(
            "accessors",
            json!({ "bufferView": view, "componentType": component, "count": flat.len(), "type": "SCALAR" }),
        )
    }

    /// Appends joint indices, 8-bit if they fit.
    pub fn joints(&mut self, joints: &[[u16; 4]]) -> usize {
        let (component, view) = if joints.as_flattened().iter().all(|&j| j < 256) {
            let bytes: Vec<u8> = joints.as_flattened().iter().map(|&j| j as u8).collect();
            (5121, self.view(&bytes, Usage::Vertices))
        } else {
            (5123, self.view(bytemuck::cast_slice(joints), Usage::Vertices))
        };
        self.push(
            "accessors",
            json!({ "bufferView": view, "componentType": component, "count": joints.len(), "type": "VEC4" }),
        )
    }

    /// Appends displacements of `count` vertices. `entries` lists the non-zero displacements as `(vertex,
    /// displacement)`, ascending by vertex. It writes a sparse accessor if that is smaller, else a dense one.
    pub fn displacements(&mut self, count: usize, entries: &[(u32, Vec3)]) -> usize {
        if entries.is_empty() {
            return self.zero_displacements(count);
        }
        let index_size = match entries.last().map_or(0, |e| e.0) {
            0..=0xFF => 1,
            0x100..=0xFFFF => 2,
            _ => 4,
        };
        let flat: Vec<f32> = entries.iter().flat_map(|e| e.1.to_array()).collect();
        // The sparse description and its second view take about 120 bytes of JSON.
        if entries.len() * (12 + index_size) + 120 >= count * 12 {
            let mut dense = vec![Vec3::ZERO; count];
            entries.iter().for_each(|&(v, d)| dense[v as usize] = d);
            return self.vec3(&dense, true);
        }
        let bytes: Vec<u8> =
            entries.iter().flat_map(|e| e.0.to_le_bytes().into_iter().take(index_size)).collect();
        self.sparse(count, index_size, &bytes, &flat)
    }

    /// Appends a sparse accessor of `count` vectors, zero except for `values`; each index has `index_size` bytes.
    fn sparse(&mut self, count: usize, index_size: usize, indices: &[u8], values: &[f32]) -> usize {
        let (given, component) = (values.len() / 3, [5121, 5123, 0, 5125][index_size - 1]);
        let indices = self.view(indices, Usage::Other);
        let view = self.view(bytemuck::cast_slice(values), Usage::Other);
        let mut accessor = json!({ "componentType": 5126, "count": count, "type": "VEC3" });
        let mut bounded = values.to_vec();
        if given < count {
            bounded.extend([0.0; 3]);
        }
        set_bounds(&mut accessor, &bounded, 3);
        accessor["sparse"] = json!({
            "count": given,
            "indices": { "bufferView": indices, "componentType": component },
            "values": { "bufferView": view }
        });
        self.push("accessors", accessor)
    }

    /// Returns a shared accessor of `count` zeros. In glTF, an accessor without data is zero, but the `gltf` crate and
    /// other readers reject it. The accessor therefore has one sparse entry that sets its first element to zero.
    fn zero_displacements(&mut self, count: usize) -> usize {
        if let Some(&(_, accessor)) = self.zeros.iter().find(|z| z.0 == count) {
            return accessor;
        }
        let accessor = self.sparse(count, 1, &[0], &[0.0; 3]);
        self.zeros.push((count, accessor));
        accessor
    }
}

fn kind(width: usize) -> &'static str {
    match width {
        1 => "SCALAR",
        2 => "VEC2",
        3 => "VEC3",
        4 => "VEC4",
        _ => "MAT4",
    }
}

fn set_bounds(accessor: &mut Value, values: &[f32], width: usize) {
    let bound = |pick: fn(f32, f32) -> f32| -> Vec<Value> {
        (0..width)
            .map(|c| values.iter().skip(c).step_by(width).copied().reduce(pick).unwrap_or(0.0))
            .map(number)
            .collect()
    };
    accessor["min"] = bound(f32::min).into();
    accessor["max"] = bound(f32::max).into();
}

/// Returns a float as the shortest decimal that parses to the same float, whether the reader parses it as f32 or as
/// f64.
pub fn number(value: f32) -> Value {
    if value.fract() == 0.0 && value.abs() < 1e7 {
        return (value as i64).into();
    }
    let short = value.to_string().parse::<f64>().unwrap_or(f64::from(value));
    (if short as f32 == value { short } else { f64::from(value) }).into()
}

/// Returns several floats as a JSON array, see [`number`].
pub fn numbers(values: &[f32]) -> Value {
    values.iter().map(|&v| number(v)).collect::<Vec<_>>().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_exact() {
        for v in [0.1_f32, -2.0, 1e-30, 3.402_823_5e38, f32::MIN_POSITIVE, 16_777_217.0, 0.333_333_34] {
            let text = number(v).to_string();
            assert_eq!(text.parse::<f64>().unwrap() as f32, v);
            assert_eq!(text.parse::<f32>().unwrap(), v);
        }
        assert_eq!(number(0.1).to_string(), "0.1");
        assert_eq!(number(-3.0).to_string(), "-3");
    }

    #[test]
    fn displacements_take_the_smallest_form() {
        let mut b = Builder::new("t");
        let none = b.displacements(100, &[]);
        assert_eq!(none, b.displacements(100, &[]));
        assert_eq!(b.json["accessors"][none]["max"], json!([0, 0, 0]));
        let before = b.bin().len();
        assert_eq!(before, 16);
        let few = b.displacements(1000, &[(3, Vec3::X), (999, Vec3::new(0.0, -2.0, 0.5))]);
        let accessor = b.json["accessors"][few].clone();
        assert_eq!(accessor["min"], json!([0, -2, 0]));
        assert_eq!(accessor["max"], json!([1, 0, 0.5]));
        assert_eq!(accessor["sparse"]["indices"]["componentType"], 5123);
        assert_eq!(b.bin().len() - before, 4 + 24);
        let all: Vec<_> = (0..1000).map(|v| (v, Vec3::ONE)).collect();
        let dense = b.displacements(1000, &all);
        assert!(b.json["accessors"][dense].get("sparse").is_none());
        assert_eq!(b.json["accessors"][dense]["min"], json!([1, 1, 1]));
    }

    #[test]
    fn views_are_aligned_and_typed() {
        let mut b = Builder::new("t");
        b.view(&[1, 2, 3], Usage::Other);
        b.joints(&[[1, 2, 3, 300]]);
        b.indices(&[[0, 1, 0xFFFF]]);
        let views = b.json["bufferViews"].as_array().unwrap();
        assert!(views.iter().all(|v| v["byteOffset"].as_u64().unwrap() % 4 == 0));
        assert_eq!(b.json["accessors"][0]["componentType"], 5123);
        assert_eq!(b.json["accessors"][1]["componentType"], 5125);
        assert_eq!(views[2]["target"], 34963);
    }
}
