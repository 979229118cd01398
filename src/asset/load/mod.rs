//! The glTF loader. Each module converts one part of glTF from JSON to plain data.

mod accessor;
mod attributes;
mod clips;
mod container;
mod context;
mod draco;
mod images;
mod influences;
mod item;
mod look;
mod meshes;
mod meshopt;
mod nodes;
mod normals;
mod skins;
#[cfg(test)]
mod tests;
mod triangles;
mod uri;
mod version;
mod view;

use super::{Asset, Problem, Source, limits};
use crate::base::Result;
use context::{Buffers, Context};
use item::Item;
use serde_json::{Map, Value};
use std::path::Path;

impl Asset {
    /// Loads a .gltf, .glb or .vrm file, with all files that it refers to.
    ///
    /// # Errors
    /// A file cannot be read, has ambiguous geometry, exceeds one of the [`super::limits`], or requires an
    /// unsupported feature. The message names file, element and remedy.
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let bytes = uri::read_file(path)?;
        read(&bytes, path, Some(path.parent().unwrap_or(Path::new(""))))
    }

    /// Loads a file from memory. It reads no other files: buffers must be embedded, and external images become
    /// magenta. `path_for_messages` appears in messages only.
    ///
    /// # Errors
    /// The errors of [`Asset::load`], except for reading the file.
    pub fn from_slice(bytes: &[u8], path_for_messages: impl AsRef<Path>) -> Result<Self> {
        read(bytes, path_for_messages.as_ref(), None)
    }
}

fn read(bytes: &[u8], path: &Path, folder: Option<&Path>) -> Result<Asset> {
    let container = container::split(bytes, path)?;
    let (json, mut problems) = (container.json, container.problems);
    version::check(path, &json, &mut problems)?;
    let (buffers, problems) = buffers(path, &json, container.bin, folder, problems)?;
    let ctx = Context::new(path, &json, &buffers, problems);

    let (nodes, roots) = nodes::read(&ctx)?;
    let skins = skins::read(&ctx, &nodes)?;
    let (images, image_files) = images::read(&ctx, folder)?;
    let textures = look::textures(&ctx, images.len())?;
    let looks = look::materials(&ctx, &textures)?;
    let meshes = meshes::read(&ctx, &nodes, &skins, &looks)?;
    let nodes = nodes::finish(&ctx, nodes, &meshes)?;
    let clips = clips::read(&ctx, &nodes, &meshes)?;
    let mut asset = Asset {
        path: path.to_owned(),
        source: Source::default(),
        nodes,
        roots,
        meshes,
        skins,
        clips,
        materials: looks.into_iter().map(|look| look.material).collect(),
        textures,
        images,
        problems: ctx.take_problems(),
    };
    asset.source = Source { json: Value::Object(json), buffers: buffers.content, image_files };
    Ok(asset)
}

/// Reads the content of all buffers.
fn buffers(
    path: &Path,
    json: &Map<String, Value>,
    bin: Option<&[u8]>,
    folder: Option<&Path>,
    problems: Vec<Problem>,
) -> Result<(Buffers, Vec<Problem>)> {
    let none = Buffers::default();
    let ctx = Context::new(path, json, &none, problems);
    let items = ctx.items("buffers", "buffer")?;
    let mut buffers = Buffers::default();
    let mut read = 0;
    for (index, item) in items.iter().enumerate() {
        let (content, missing) = match buffer(item, index, bin, folder)? {
            Ok(bytes) => (bytes, None),
            Err(reason) => (Vec::new(), Some(reason)),
        };
        read += content.len() as u64;
        if read > limits::FILE_BYTES {
            return Err(item.broken(format!("all buffers together exceed {} bytes", limits::FILE_BYTES)));
        }
        buffers.content.push(content);
        buffers.missing.push(missing);
    }
    if bin.is_some_and(|b| !b.is_empty()) && items.first().is_none_or(|first| first.map.contains_key("uri")) {
        ctx.mend("GLB container", "no buffer uses its binary chunk");
    }
    Ok((buffers, ctx.take_problems()))
}

/// Returns a buffer's bytes, or the reason why they are unavailable (inner error).
fn buffer(
    item: &Item,
    index: usize,
    bin: Option<&[u8]>,
    folder: Option<&Path>,
) -> Result<std::result::Result<Vec<u8>, String>> {
    let length = item.required_whole("byteLength")?;
    let mut bytes = match (item.text("uri")?, bin) {
        (Some(text), _) => match uri::resolve(item, text, folder)? {
            uri::Content::Data(bytes) | uri::Content::File(bytes) => bytes,
            uri::Content::Missing(reason) => {
                item.mend(&reason);
                return Ok(Err(reason));
            }
        },
        (None, Some(bin)) if index == 0 => bin.to_vec(),
        // A placeholder, e.g. a fallback buffer of EXT_meshopt_compression. It is valid unless an element reads it.
        (None, _) => return Ok(Err("it has no data: no URI and no binary chunk".into())),
    };
    if length > bytes.len() as u64 {
        return Err(
            item.broken(format!("its byteLength is {length}, but there are only {} bytes", bytes.len()))
        );
    }
    bytes.truncate(length as usize);
    Ok(Ok(bytes))
}
