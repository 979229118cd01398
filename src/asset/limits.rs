//! Limits on the cost of a file. A file over a limit is rejected with an error that names the limit.
//!
//! Data is decoded only after its extent was checked against its buffer, so the file's size bounds most
//! allocations. These limits bound what a small file can request.

/// Largest file (.gltf, .glb, .bin or image) in bytes, and maximum total of all buffers and of all image files.
pub const FILE_BYTES: u64 = 2 << 30;
/// Largest JSON text in bytes, including embedded data URIs.
pub const JSON_BYTES: usize = 512 << 20;
/// Maximum values in the JSON text. Each costs up to about 100 bytes once parsed.
pub const JSON_VALUES: usize = 4_000_000;
/// Maximum nesting of the JSON text (serde_json's own limit).
pub const JSON_DEPTH: usize = 128;
/// Maximum nodes, meshes, skins, materials, textures, images and animations, each.
pub const ELEMENTS: usize = 65_535;
/// Maximum accessors and maximum buffer views.
pub const ACCESSORS: usize = 1_000_000;
/// Maximum joints of a skin: influences have 16-bit joint indices.
pub const JOINTS: usize = 65_535;
/// Maximum elements of one accessor.
pub const ACCESSOR_COUNT: usize = 16_000_000;
/// Maximum vertices and maximum triangles of the whole file.
pub const VERTICES: usize = 16_000_000;
/// Maximum morph targets of a primitive.
pub const MORPHS: usize = 4096;
/// Maximum decoded bytes of geometry and animation, for any file size.
pub const DECODED_BYTES: u64 = 2 << 30;
/// Decoded bytes that even the smallest file may need.
pub const DECODED_FLOOR: u64 = 64 << 20;
/// Decoded bytes allowed per byte of the file, up to [`DECODED_BYTES`]: enough for any real compression.
pub const DECODED_RATIO: u64 = 256;
/// Largest magnitude of a coordinate, scale or matrix entry, in the file and in world space: beyond it, squares
/// and cubes of lengths are no longer safe in f32.
pub const COORDINATE: f32 = 1e10;
/// Maximum pixels of one image. Larger images are left out when loading.
pub const IMAGE_PIXELS: u64 = 64 << 20;
/// Maximum bytes of all decoded images together. Images beyond it are left out when loading.
pub const IMAGE_BYTES: u64 = 2 << 30;
/// Maximum number of `..` steps of a relative URI above the file's own folder.
pub const PARENT_STEPS: usize = 2;
/// Maximum number of problems listed individually; further ones are only counted.
pub const PROBLEMS: usize = 500;
/// Maximum characters of a message about an element, including names from the file.
pub const MESSAGE: usize = 400;
