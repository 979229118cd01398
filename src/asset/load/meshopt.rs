//! EXT_meshopt_compression (and its successor KHR_meshopt_compression): decodes an entire buffer view.

use super::item::Item;
use super::view;
use crate::asset::limits;
use crate::base::Result;
use draco_gltf::meshopt::{MeshoptFilter, MeshoptMode, decode_buffer_view};

/// Names of the supported extensions.
pub(super) const NAMES: [&str; 2] = ["EXT_meshopt_compression", "KHR_meshopt_compression"];

/// Decodes a compressed buffer view. Returns the bytes and the stride, which is `None` for indices. Returns `Ok(None)`
/// if the view is not compressed.
///
/// # Errors
/// The extension's JSON object is malformed, or the bitstream is invalid.
pub(super) fn decode(view: &Item) -> Result<Option<(Vec<u8>, Option<usize>)>> {
    let Some(item) = NAMES.iter().find_map(|name| view.extension(name)) else { return Ok(None) };
    let (buffer, range) = view::range(&item)?;
    let source = &item.ctx.buffers.content[buffer][range];
    let (count, stride) = (item.required_whole("count")?, item.required_whole("byteStride")?);
    if count > limits::ACCESSOR_COUNT as u64 || !(1..=256).contains(&stride) {
        return Err(item.broken(format!("{count} elements of {stride} bytes are out of range")));
    }
    let name = item.text("mode")?.unwrap_or_default();
    let mode = MeshoptMode::from_name(name).map_err(|error| item.broken(error.to_string()))?;
    let filter = item.text("filter")?.unwrap_or("NONE");
    let filter = MeshoptFilter::from_name(filter).map_err(|error| item.broken(error.to_string()))?;
    let fits = match mode {
        MeshoptMode::Attributes => stride % 4 == 0,
        MeshoptMode::Triangles => (stride == 2 || stride == 4) && count % 3 == 0,
        MeshoptMode::Indices => stride == 2 || stride == 4,
    };
    if !fits {
        return Err(item.broken(format!("{count} elements of {stride} bytes do not fit the mode {name}")));
    }
    item.ctx.spend(&item.at, count * stride)?;
    let mut bytes = vec![0; (count * stride) as usize];
    decode_buffer_view(&mut bytes, source, mode, filter, count as usize, stride as usize)
        .map_err(|error| item.broken(error.to_string()))?;
    Ok(Some((bytes, (mode == MeshoptMode::Attributes).then_some(stride as usize))))
}
