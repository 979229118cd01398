//! Builds small glTF files in memory.

use crate::asset::Asset;
use crate::base::Result;
use serde_json::{Value, json};

pub(super) const I8: u32 = 5120;
pub(super) const U8: u32 = 5121;
pub(super) const I16: u32 = 5122;
pub(super) const U16: u32 = 5123;
pub(super) const U32: u32 = 5125;
pub(super) const F32: u32 = 5126;

/// A file being built: JSON and one binary buffer.
pub(super) struct Build {
    pub json: Value,
    pub bin: Vec<u8>,
}

impl Build {
    pub fn new() -> Self {
        Self { json: json!({"asset": {"version": "2.0"}}), bin: Vec::new() }
    }

    /// Appends to a top-level array and returns the index.
    pub fn push(&mut self, table: &str, value: Value) -> usize {
        let tables = self.json.as_object_mut().unwrap();
        let list = tables.entry(table).or_insert_with(|| json!([])).as_array_mut().unwrap();
        list.push(value);
        list.len() - 1
    }

    /// Adds a buffer view for the bytes and returns its index.
    pub fn view(&mut self, bytes: &[u8]) -> usize {
        self.bin.resize(self.bin.len().next_multiple_of(4), 0);
        let offset = self.bin.len();
        self.bin.extend_from_slice(bytes);
        self.push("bufferViews", json!({"buffer": 0, "byteOffset": offset, "byteLength": bytes.len()}))
    }

    /// Adds an accessor with its own buffer view.
    pub fn accessor(&mut self, bytes: &[u8], component: u32, kind: &str, count: usize) -> usize {
        let view = self.view(bytes);
        let value = json!({"bufferView": view, "componentType": component, "type": kind, "count": count});
        self.push("accessors", value)
    }

    /// Adds an accessor of floats.
    pub fn floats(&mut self, kind: &str, values: &[f32]) -> usize {
        let width = match kind {
            "SCALAR" => 1,
            "VEC2" => 2,
            "VEC3" => 3,
            "VEC4" => 4,
            _ => 16,
        };
        let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        self.accessor(&bytes, F32, kind, values.len() / width)
    }

    /// Adds an accessor of unsigned shorts.
    pub fn shorts(&mut self, kind: &str, width: usize, values: &[u16]) -> usize {
        let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        self.accessor(&bytes, U16, kind, values.len() / width)
    }

    /// Adds a mesh of one primitive and a node that draws it.
    pub fn show(&mut self, primitive: Value) -> usize {
        let mesh = self.push("meshes", json!({"name": "shape", "primitives": [primitive]}));
        self.push("nodes", json!({"name": "shown", "mesh": mesh}))
    }

    /// Returns the JSON, with the buffer's length filled in.
    fn finished(&self) -> Value {
        let mut json = self.json.clone();
        if !self.bin.is_empty() && json.get("buffers").is_none() {
            json["buffers"] = json!([{"byteLength": self.bin.len()}]);
        }
        json
    }

    /// Returns the file as a .glb.
    pub fn glb(&self) -> Vec<u8> {
        let mut text = self.finished().to_string().into_bytes();
        text.resize(text.len().next_multiple_of(4), b' ');
        let mut bin = self.bin.clone();
        bin.resize(bin.len().next_multiple_of(4), 0);
        let mut out = b"glTF\x02\0\0\0".to_vec();
        out.extend((28 + text.len() + bin.len()).to_le_bytes().iter().take(4));
        for (kind, chunk) in [(b"JSON", &text), (b"BIN\0", &bin)] {
            out.extend((chunk.len() as u32).to_le_bytes());
            out.extend(kind);
            out.extend(chunk);
        }
        out
    }

    /// Returns the file as a .gltf, with its buffer in a data URI.
    pub fn gltf(&self) -> Vec<u8> {
        let mut json = self.finished();
        let body: String = self.bin.iter().map(|byte| format!("%{byte:02X}")).collect();
        json["buffers"][0]["uri"] = json!(format!("data:application/octet-stream,{body}"));
        json.to_string().into_bytes()
    }

    /// Loads the file as a .glb.
    pub fn load(&self) -> Result<Asset> {
        Asset::from_slice(&self.glb(), "built.glb")
    }

    /// Returns the message of the expected loading error.
    pub fn refusal(&self) -> String {
        self.load().expect_err("a refusal").to_string()
    }
}

/// Corners of a unit square in the plane z = 0, in order around the square.
pub(super) const SQUARE: [f32; 12] = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 0.0];

/// Builds a skinned, morphed, textured and animated square, with one of each element.
pub(super) fn everything() -> Build {
    let mut b = Build::new();
    let positions = b.floats("VEC3", &SQUARE);
    let normals = b.floats("VEC3", &[0.0, 0.0, 1.0].repeat(4));
    let uvs = b.floats("VEC2", &[0.0, 0.0, 1.0, 0.0, 1.0, 1.0, 0.0, 1.0]);
    let indices = b.shorts("SCALAR", 1, &[0, 1, 2, 0, 2, 3]);
    let joints = b.accessor(&[0, 1, 0, 0].repeat(4), U8, "VEC4", 4);
    let weights = b.floats("VEC4", &[0.75, 0.25, 0.0, 0.0].repeat(4));
    let target = b.floats("VEC3", &[0.0, 0.0, 0.5].repeat(4));
    let mut inverse = [0.0; 32];
    for i in [0, 5, 10, 15, 16, 21, 26, 31] {
        inverse[i] = 1.0;
    }
    inverse[29] = -1.0;
    let inverse = b.floats("MAT4", &inverse);
    let times = b.floats("SCALAR", &[0.0, 0.5, 2.0]);
    let turns = b.floats("VEC4", &[0.0, 0.0, 0.0, 1.0, 0.0, 0.6, 0.0, 0.8, 0.0, 1.0, 0.0, 0.0]);
    let amounts = b.floats("SCALAR", &[0.0, 1.0, 0.25]);
    let mut png = std::io::Cursor::new(Vec::new());
    let pixels = image::RgbaImage::from_fn(2, 1, |x, _| image::Rgba([200, 100, x as u8, 255]));
    pixels.write_to(&mut png, image::ImageFormat::Png).unwrap();
    let png = b.view(png.get_ref());
    b.push("images", json!({"bufferView": png, "mimeType": "image/png"}));
    b.push("textures", json!({"source": 0}));
    b.push("materials", json!({"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}}));
    b.push(
        "meshes",
        json!({"name": "square", "weights": [0.5], "extras": {"targetNames": ["bulge"]}, "primitives": [{
            "attributes": {"POSITION": positions, "NORMAL": normals, "TEXCOORD_0": uvs,
                "JOINTS_0": joints, "WEIGHTS_0": weights},
            "indices": indices, "material": 0, "targets": [{"POSITION": target}]}]}),
    );
    b.push("nodes", json!({"name": "square", "mesh": 0, "skin": 0}));
    b.push("nodes", json!({"name": "hip", "children": [2]}));
    b.push("nodes", json!({"name": "knee", "translation": [0, 1, 0]}));
    b.push("skins", json!({"joints": [1, 2], "inverseBindMatrices": inverse}));
    b.push("scenes", json!({"nodes": [0, 1]}));
    b.push(
        "animations",
        json!({"name": "move", "samplers": [{"input": times, "output": turns}, {"input": times, "output": amounts,
            "interpolation": "STEP"}], "channels": [
            {"sampler": 0, "target": {"node": 2, "path": "rotation"}},
            {"sampler": 1, "target": {"node": 0, "path": "weights"}}]}),
    );
    b
}
