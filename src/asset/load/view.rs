//! Buffer views: checked ranges of the file's buffers.

use super::context::Context;
use super::item::Item;
use super::meshopt;
use crate::asset::limits;
use crate::base::Result;
use std::ops::Range;

/// An opened buffer view.
pub(super) struct View {
    data: Data,
    /// Distance between elements, bytes; `None` if they are tightly packed.
    pub stride: Option<usize>,
}

enum Data {
    Slice { buffer: usize, range: Range<usize> },
    Decoded(Vec<u8>),
}

impl View {
    /// Returns the content of the view.
    pub fn bytes<'c>(&'c self, ctx: &'c Context<'_>) -> &'c [u8] {
        match &self.data {
            Data::Slice { buffer, range } => &ctx.buffers.content[*buffer][range.clone()],
            Data::Decoded(bytes) => bytes,
        }
    }
}

impl Context<'_> {
    /// Opens buffer view `index`.
    ///
    /// # Errors
    /// The view does not exist, extends beyond its buffer, or cannot be decompressed.
    pub fn view(&self, index: usize) -> Result<&View> {
        self.table("bufferViews", limits::ACCESSORS)?;
        let item = self.item("bufferViews", "bufferView", index)?;
        let cell = self.views.get(index).ok_or_else(|| item.broken("it does not exist"))?;
        if let Some(view) = cell.get() {
            return Ok(view);
        }
        let view = open(&item)?;
        Ok(cell.get_or_init(|| view))
    }
}

fn open(item: &Item) -> Result<View> {
    let stride = match item.whole("byteStride")? {
        None | Some(0) => None,
        Some(stride) if stride <= 1 << 16 => Some(stride as usize),
        Some(stride) => return Err(item.broken(format!("its byteStride {stride} is too large"))),
    };
    if let Some((bytes, own)) = meshopt::decode(item)? {
        return Ok(View { data: Data::Decoded(bytes), stride: stride.or(own) });
    }
    let (buffer, range) = range(item)?;
    Ok(View { data: Data::Slice { buffer, range }, stride })
}

/// Returns buffer index and byte range of an object with `buffer`, `byteOffset` and `byteLength`.
pub(super) fn range(item: &Item) -> Result<(usize, Range<usize>)> {
    let ctx = item.ctx;
    let buffer = item
        .index("buffer", ctx.buffers.content.len(), "buffer")?
        .ok_or_else(|| item.broken("\"buffer\" is missing"))?;
    let offset = item.whole("byteOffset")?.unwrap_or(0);
    let length = item.required_whole("byteLength")?;
    if let Some(reason) = &ctx.buffers.missing[buffer] {
        return Err(ctx.broken(format!("buffer {buffer}"), format!("{} needs it, but {reason}", item.at)));
    }
    let have = ctx.buffers.content[buffer].len();
    match offset.checked_add(length) {
        Some(end) if end <= have as u64 => Ok((buffer, offset as usize..end as usize)),
        _ => Err(item.broken(format!(
            "it takes {length} bytes from byte {offset} of buffer {buffer}, which has {have}"
        ))),
    }
}
