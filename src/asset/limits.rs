//! Limits on the cost of a file. A file over a limit is rejected with an error that names the limit.
//!
//! Data is decoded only after its extent was checked against its buffer, so the file's size bounds most allocations.
//! These limits bound what a small file can request.

/// Maximum bytes of a file (.gltf, .glb, .bin or image), of all buffers together and of all image files together.
pub const FILE_BYTES: u64 = 2 << 30;
/// Maximum size of the JSON text, bytes, including embedded data URIs.
pub const JSON_BYTES: usize = 512 << 20;
/// Maximum number of values in the JSON text. Each takes up to about 100 bytes after parsing.
pub const JSON_VALUES: usize = 4_000_000;
/// Maximum nesting depth of the JSON text (serde_json's own limit).
pub const JSON_DEPTH: usize = 128;
/// Maximum number of nodes; the same maximum applies to meshes, skins, materials, textures, images and animations.
pub const ELEMENTS: usize = 65_535;
/// Maximum number of accessors; the same maximum applies to buffer views.
pub const ACCESSORS: usize = 1_000_000;
/// Maximum number of joints of a skin: influences have 16-bit joint indices.
pub const JOINTS: usize = 65_535;
/// Maximum number of elements of one accessor.
pub const ACCESSOR_COUNT: usize = 16_000_000;
/// Maximum number of vertices of the whole file; the same maximum applies to triangles.
pub const VERTICES: usize = 16_000_000;
/// Maximum number of morph targets of a primitive.
pub const MORPHS: usize = 4096;
/// Maximum size of decoded geometry and animation for any file size, bytes.
pub const DECODED_BYTES: u64 = 2 << 30;
/// Decoded data of up to this size is allowed for every file, however small, bytes.
pub const DECODED_FLOOR: u64 = 64 << 20;
/// Decoded bytes allowed per byte of the file, up to [`DECODED_BYTES`]. Real compression stays far below.
pub const DECODED_RATIO: u64 = 256;
/// Maximum magnitude of a coordinate, scale or matrix entry, in the file and in world space. Beyond it, squares and
/// cubes of lengths may overflow f32.
pub const COORDINATE: f32 = 1e10;
/// Maximum number of pixels of one image. Larger images are not decoded.
pub const IMAGE_PIXELS: u64 = 64 << 20;
/// Maximum size of all decoded images together, bytes. Images beyond this total are not decoded.
pub const IMAGE_BYTES: u64 = 2 << 30;
/// Maximum number of folders that a relative URI may go up from the file's folder by `..`.
pub const PARENT_STEPS: usize = 2;
/// Maximum number of problems listed individually. Further problems are only counted.
pub const PROBLEMS: usize = 500;
/// Maximum length of a message about an element, characters, including names from the file.
pub const MESSAGE: usize = 400;
