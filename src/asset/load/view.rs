//! Buffer views: checked ranges of the file's buffers.

use super::context::{Context, Item};
use crate::asset::limits;
use crate::base::Result;
use std::ops::Range;

/// A buffer view that was opened.
pub(super) struct View {
    data: Data,
    /// Bytes from element to element, none where they are packed.
    pub stride: Option<usize>,
}

enum Data {
    Slice { buffer: usize, range: Range<usize> },
    Decoded(Vec<u8>),
}

impl View {
    /// The bytes.
    pub fn bytes<'c>(&'c self, ctx: &'c Context<'_>) -> &'c [u8] {
        match &self.data {
            Data::Slice { buffer, range } => &ctx.buffers[*buffer][range.clone()],
            Data::Decoded(bytes) => bytes,
        }
    }
}

impl Context<'_> {
    /// Buffer view `index`.
    ///
    /// # Errors
    /// Where it does not exist, reaches beyond its buffer, or cannot be decompressed.
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
    let (buffer, range) = range(item)?;
    let stride = match item.whole("byteStride")? {
        None | Some(0) => None,
        Some(stride) if stride <= 1 << 16 => Some(stride as usize),
        Some(stride) => return Err(item.broken(format!("its byteStride {stride} is too large"))),
    };
    Ok(View { data: Data::Slice { buffer, range }, stride })
}

/// The buffer and the byte range that an object with `buffer`, `byteOffset` and `byteLength` names.
fn range(item: &Item) -> Result<(usize, Range<usize>)> {
    let ctx = item.ctx;
    let buffer = item
        .index("buffer", ctx.buffers.len(), "buffer")?
        .ok_or_else(|| item.broken("\"buffer\" is missing"))?;
    let offset = item.whole("byteOffset")?.unwrap_or(0);
    let length = item.required_whole("byteLength")?;
    let have = ctx.buffers[buffer].len();
    match offset.checked_add(length) {
        Some(end) if end <= have as u64 => Ok((buffer, offset as usize..end as usize)),
        _ => Err(item.broken(format!(
            "it takes {length} bytes from byte {offset} of buffer {buffer}, which has {have}"
        ))),
    }
}
