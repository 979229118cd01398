//! What a file may cost. A file over a limit is refused with an error that names the limit.
//!
//! Data of a file is only decoded after its extent was checked against the buffer it lies in, so most sizes
//! are bounded by the file itself; these limits bound what a small file can ask for in a few words.

/// Largest file (.gltf, .glb, .bin or image) that is read, and most bytes of all buffers and of all image files
/// together.
pub const FILE_BYTES: u64 = 2 << 30;
/// Largest JSON text, bytes; embedded data URIs included.
pub const JSON_BYTES: usize = 512 << 20;
/// Most values in the JSON text. Each costs up to about 100 bytes once parsed.
pub const JSON_VALUES: usize = 4_000_000;
/// Deepest nesting of the JSON text (serde_json's own limit).
pub const JSON_DEPTH: usize = 128;
/// Most nodes, meshes, skins, materials, textures, images and animations, each.
pub const ELEMENTS: usize = 65_535;
/// Most accessors and most buffer views, each.
pub const ACCESSORS: usize = 1_000_000;
/// Most joints of a skin: influences index them with 16 bits.
pub const JOINTS: usize = 65_535;
/// Most elements of one accessor.
pub const ACCESSOR_COUNT: usize = 16_000_000;
/// Most vertices and most triangles of the whole file, each.
pub const VERTICES: usize = 16_000_000;
/// Most morph targets of a primitive.
pub const MORPHS: usize = 4096;
/// Most decoded bytes of geometry and animation, whatever the file's size.
pub const DECODED_BYTES: u64 = 2 << 30;
/// Decoded bytes that even the smallest file may ask for.
pub const DECODED_FLOOR: u64 = 64 << 20;
/// Decoded bytes allowed per byte of the file, up to [`DECODED_BYTES`]: room for any honest compression.
pub const DECODED_RATIO: u64 = 256;
/// Largest magnitude of a coordinate, scale or matrix entry, in the file and in world space: beyond it, squares
/// and cubes of lengths are no longer safe in f32.
pub const COORDINATE: f32 = 1e10;
/// Most pixels of one image. The file is loaded without one that has more.
pub const IMAGE_PIXELS: u64 = 64 << 20;
/// Most bytes of all decoded images together. The file is loaded without those that would exceed it.
pub const IMAGE_BYTES: u64 = 2 << 30;
/// Most folders that a relative URI may climb above the file's own with `..`.
pub const PARENT_STEPS: usize = 2;
/// Most problems told one by one; more are only counted.
pub const PROBLEMS: usize = 500;
/// Most characters of a message about an element, names from the file included.
pub const MESSAGE: usize = 400;
