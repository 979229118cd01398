//! Decodes PNG, JPEG and WebP images to RGBA8, in parallel and within limits. Undecodable images become magenta.

use super::context::Context;
use super::item::Item;
use super::uri;
use crate::asset::{Image, limits};
use crate::base::Result;
use image::{ImageFormat, ImageReader, Limits};
use rayon::prelude::*;
use std::io::Cursor;
use std::path::Path;

/// Texture extensions whose image formats are not supported.
const FOREIGN: &[&str] = &["KHR_texture_basisu", "MSFT_texture_dds", "EXT_texture_avif"];

type FileContent = Option<(Vec<u8>, String)>;

/// The location of an image's encoded bytes.
enum Encoded {
    /// Outside the buffers: an external file or a data URI.
    Own,
    View(usize),
    Missing,
    None,
}

/// Reads all images of the file. Also returns the encoded content of images outside the buffers.
pub(super) fn read(ctx: &Context, folder: Option<&Path>) -> Result<(Vec<Image>, Vec<FileContent>)> {
    let items = ctx.items("images", "image")?;
    let mut files: Vec<FileContent> = Vec::with_capacity(items.len());
    let mut encoded = Vec::with_capacity(items.len());
    let mut read = 0;
    for item in &items {
        let (file, place) = source(item, folder)?;
        read += file.as_ref().map_or(0, |(bytes, _)| bytes.len() as u64);
        if read > limits::FILE_BYTES {
            return Err(item.broken(format!("all image files together exceed {} bytes", limits::FILE_BYTES)));
        }
        encoded.push(place);
        files.push(file);
    }
    let mut bytes: Vec<Option<&[u8]>> = Vec::with_capacity(items.len());
    for ((place, file), item) in encoded.iter().zip(&files).zip(&items) {
        bytes.push(match (place, file) {
            (_, Some((content, _))) => Some(content),
            (Encoded::View(index), None) => Some(ctx.view(*index)?.bytes(ctx)),
            (Encoded::None, None) => {
                item.mend("it has neither a URI nor a bufferView");
                None
            }
            (_, None) => None,
        });
    }
    let sizes = admit(&items, &bytes)?;
    let decoded: Vec<Result<Vec<u8>, String>> =
        bytes.par_iter().zip(&sizes).map(|(bytes, size)| decode(*bytes, *size)).collect();
    let mut images = Vec::with_capacity(items.len());
    for (index, (item, rgba)) in items.iter().zip(decoded).enumerate() {
        let name = item.name("image", index);
        images.push(match (rgba, sizes[index]) {
            (Ok(rgba), Some((_, width, height))) => Image { name, width, height, rgba },
            (Err(problem), Some(_)) => {
                item.mend(format!("it cannot be decoded ({problem}) and is magenta"));
                magenta(name)
            }
            (_, None) => magenta(name),
        });
    }
    Ok((images, files))
}

fn magenta(name: String) -> Image {
    Image { name, width: 1, height: 1, rgba: vec![255, 0, 255, 255] }
}

fn source(item: &Item, folder: Option<&Path>) -> Result<(FileContent, Encoded)> {
    if let Some(text) = item.text("uri")? {
        return Ok(match uri::resolve(item, text, folder)? {
            uri::Content::File(bytes) | uri::Content::Data(bytes) => {
                let kind = item.text("mimeType")?.map_or_else(|| mime(&bytes), str::to_owned);
                (Some((bytes, kind)), Encoded::Own)
            }
            uri::Content::Missing(reason) => {
                item.mend(format!("{reason}; it is magenta"));
                (None, Encoded::Missing)
            }
        });
    }
    let views = item.ctx.table("bufferViews", limits::ACCESSORS)?.len();
    let place = item.index("bufferView", views, "bufferView")?.map_or(Encoded::None, Encoded::View);
    Ok((None, place))
}

fn mime(bytes: &[u8]) -> String {
    image::guess_format(bytes).map_or("application/octet-stream", |f| f.to_mime_type()).to_owned()
}

/// Returns format and size of every image to decode, from its header. Skips images with too many pixels, and images
/// beyond the total limit.
///
/// # Errors
/// The file's budget of decoded bytes is exhausted.
fn admit(items: &[Item], bytes: &[Option<&[u8]>]) -> Result<Vec<Option<(ImageFormat, u32, u32)>>> {
    let mut total = 0;
    let mut sizes = Vec::with_capacity(items.len());
    for (item, bytes) in items.iter().zip(bytes) {
        let Some(bytes) = bytes.filter(|b| !b.is_empty()) else {
            sizes.push(None);
            continue;
        };
        // Many images can refer to the same bytes, so each reference counts.
        item.ctx.spend(&item.at, bytes.len() as u64)?;
        let format = match image::guess_format(bytes) {
            Ok(format @ (ImageFormat::Png | ImageFormat::Jpeg | ImageFormat::WebP)) => format,
            _ => {
                let kind = if bytes.starts_with(b"\xABKTX") { "KTX" } else { "its format" };
                item.mend(format!("{kind} is not supported, only PNG, JPEG and WebP are; it is magenta"));
                sizes.push(None);
                continue;
            }
        };
        let size = ImageReader::with_format(Cursor::new(bytes), format).into_dimensions();
        let Ok((width, height)) = size else {
            item.mend("its header is broken; it is magenta");
            sizes.push(None);
            continue;
        };
        let pixels = u64::from(width) * u64::from(height);
        let limit = if pixels > limits::IMAGE_PIXELS {
            Some(format!("of {} pixels for an image", limits::IMAGE_PIXELS))
        } else if total + 4 * pixels > limits::IMAGE_BYTES {
            Some(format!("of {} bytes for all decoded images together", limits::IMAGE_BYTES))
        } else {
            None
        };
        if let Some(limit) = limit {
            item.mend(format!(
                "with its {width} x {height} pixels it exceeds the limit {limit}, so it is magenta; export a smaller texture"
            ));
            sizes.push(None);
            continue;
        }
        total += 4 * pixels;
        sizes.push(Some((format, width, height)));
    }
    Ok(sizes)
}

fn decode(bytes: Option<&[u8]>, size: Option<(ImageFormat, u32, u32)>) -> Result<Vec<u8>, String> {
    let (Some(bytes), Some((format, width, height))) = (bytes, size) else { return Ok(Vec::new()) };
    let mut reader = ImageReader::with_format(Cursor::new(bytes), format);
    let mut most = Limits::default();
    // Room for 16 bits per channel and the decoder's own buffers.
    most.max_alloc = Some(16 * u64::from(width) * u64::from(height) + (16 << 20));
    reader.limits(most);
    let pixels = reader.decode().map_err(|error| error.to_string())?.into_rgba8();
    if pixels.dimensions() == (width, height) {
        Ok(pixels.into_raw())
    } else {
        Err("its size is contradictory".into())
    }
}

/// Returns the image index of a texture that exists only in an unsupported format.
///
/// # Errors
/// The extension's `source` is not a valid image index.
pub(super) fn foreign_source(item: &Item, images: usize) -> Result<Option<usize>> {
    for name in FOREIGN {
        if let Some(extension) = item.extension(name) {
            item.mend(format!("{name} is not supported; it is magenta"));
            return extension.index("source", images, "image");
        }
    }
    Ok(None)
}
