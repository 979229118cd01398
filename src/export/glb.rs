//! Writes the .glb container (glTF 2.0, chapter 4). Also packs a file's buffers and images into its binary chunk.

use crate::asset::Source;
use crate::base::{Error, Result};
use serde_json::{Map, Value, json};
use std::path::Path;

/// Extensions whose buffer views refer to a second buffer.
const MESHOPT: [&str; 2] = ["EXT_meshopt_compression", "KHR_meshopt_compression"];

/// Returns the bytes of a .glb file.
///
/// # Errors
/// [`Error::Unsupported`] if the file exceeds 4 GiB, the limit of the container's 32-bit lengths.
pub(crate) fn container(path: &Path, json: &Value, bin: &[u8]) -> Result<Vec<u8>> {
    let mut text = json.to_string().into_bytes();
    text.resize(text.len().next_multiple_of(4), b' ');
    let bin_length = bin.len().next_multiple_of(4);
    let total = 12 + 8 + text.len() + if bin.is_empty() { 0 } else { 8 + bin_length };
    if u32::try_from(total).is_err() {
        return Err(Error::unsupported(
            path,
            "a .glb of more than 4 GiB",
            "export fewer keys or a smaller mesh",
        ));
    }
    let mut out = Vec::with_capacity(total);
    let word = |out: &mut Vec<u8>, value: usize| out.extend((value as u32).to_le_bytes());
    out.extend(b"glTF");
    word(&mut out, 2);
    word(&mut out, total);
    word(&mut out, text.len());
    out.extend(b"JSON");
    out.extend(&text);
    if !bin.is_empty() {
        word(&mut out, bin_length);
        out.extend(b"BIN\0");
        out.extend(bin);
        out.resize(total, 0);
    }
    Ok(out)
}

/// Returns the file's JSON and binary chunk, with all buffers merged into `buffers[0]`, images in buffer views.
///
/// A .glb with one buffer is unchanged. Meshopt fallback buffers, which have no data, stay in the list after the first
/// buffer.
pub(super) fn pack(path: &Path, source: &Source) -> Result<(Value, Vec<u8>)> {
    let mut json = source.json.clone();
    if !json.is_object() {
        return Err(Error::input(
            format!("{} has no glTF source to export", path.display()),
            "export files that were loaded, or build one",
        ));
    }
    let mut bin = pack_buffers(path, &mut json, &source.buffers)?;
    pack_images(&mut json, &mut bin, &source.image_files);
    Ok((json, bin))
}

fn pack_buffers(path: &Path, json: &mut Value, contents: &[Vec<u8>]) -> Result<Vec<u8>> {
    let Some(buffers) = json.get("buffers").and_then(Value::as_array).cloned() else { return Ok(Vec::new()) };
    // Per old buffer: index of the new buffer, and the byte offset there.
    let mut moved = Vec::with_capacity(buffers.len());
    let (mut bin, mut first, mut placeholders) = (Vec::new(), None::<Map<String, Value>>, Vec::new());
    let any_data = (0..buffers.len()).any(|i| !is_placeholder(contents.get(i)));
    // In a .glb, a first buffer without a URI refers to the binary chunk. If no buffer has data, an empty dummy buffer
    // must therefore precede the fallback buffers.
    let dummy = !any_data && buffers.iter().any(|b| b.get("uri").is_none());
    for (i, buffer) in buffers.iter().enumerate() {
        if is_placeholder(contents.get(i)) {
            moved.push((usize::from(any_data || dummy) + placeholders.len(), 0));
            placeholders.push(buffer.clone());
            continue;
        }
        let length = buffer.get("byteLength").and_then(Value::as_u64).unwrap_or(0) as usize;
        let Some(bytes) = contents.get(i).and_then(|c| c.get(..length)) else {
            return Err(Error::broken(
                path,
                format!("buffer {i}"),
                "its content is shorter than its byteLength",
                "restore the file it refers to",
            ));
        };
        bin.resize(Vec::len(&bin).next_multiple_of(4), 0);
        moved.push((0, bin.len()));
        bin.extend_from_slice(bytes);
        first.get_or_insert_with(|| buffer.as_object().cloned().unwrap_or_default());
    }
    for view in json.get_mut("bufferViews").and_then(Value::as_array_mut).into_iter().flatten() {
        relocate(view, &moved);
        for name in MESHOPT {
            if let Some(compressed) = view.get_mut("extensions").and_then(|e| e.get_mut(name)) {
                relocate(compressed, &moved);
            }
        }
    }
    if dummy {
        bin = vec![0; 4];
        first = Some(Map::new());
    }
    let mut all = Vec::new();
    if let Some(mut first) = first {
        first.shift_remove("uri");
        first.insert("byteLength".into(), bin.len().into());
        all.push(Value::Object(first));
    }
    all.extend(placeholders);
    json["buffers"] = all.into();
    Ok(bin)
}

/// Returns whether a buffer has no data, e.g. a fallback buffer for the decompressed content of meshopt views.
fn is_placeholder(content: Option<&Vec<u8>>) -> bool {
    content.is_none_or(Vec::is_empty)
}

/// Updates `buffer` and `byteOffset` of a JSON object to the new location of its bytes.
fn relocate(view: &mut Value, moved: &[(usize, usize)]) {
    let Some(&(buffer, offset)) =
        view.get("buffer").and_then(Value::as_u64).and_then(|b| moved.get(b as usize))
    else {
        return;
    };
    view["buffer"] = buffer.into();
    if offset > 0 {
        let old = view.get("byteOffset").and_then(Value::as_u64).unwrap_or(0) as usize;
        view["byteOffset"] = (old + offset).into();
    }
}

fn pack_images(json: &mut Value, bin: &mut Vec<u8>, files: &[Option<(Vec<u8>, String)>]) {
    let Some(mut images) = json.get("images").and_then(Value::as_array).cloned() else { return };
    let placeholders_only = bin.is_empty() && json.get("buffers").is_some_and(|b| *b != json!([]));
    if placeholders_only {
        return;
    }
    for (i, image) in images.iter_mut().enumerate() {
        // An image that could not be read keeps its URI.
        let content = files.get(i).cloned().flatten();
        let (Some((bytes, mime)), Some(image)) = (content, image.as_object_mut()) else { continue };
        bin.resize(bin.len().next_multiple_of(4), 0);
        let view = json!({ "buffer": 0, "byteOffset": bin.len(), "byteLength": bytes.len() });
        bin.extend(bytes);
        image.shift_remove("uri");
        image.insert("bufferView".into(), push(json, "bufferViews", view).into());
        image.insert("mimeType".into(), mime.into());
    }
    json["images"] = images.into();
    if !bin.is_empty() {
        set_first_buffer(json, bin.len());
    }
}

/// Appends to a top-level array of the glTF, created if missing, and returns the new index.
pub(super) fn push(json: &mut Value, collection: &str, element: Value) -> usize {
    if !json[collection].is_array() {
        json[collection] = json!([]);
    }
    let Some(array) = json[collection].as_array_mut() else { return 0 };
    array.push(element);
    array.len() - 1
}

/// Sets the length of the first buffer, which is the .glb's binary chunk.
pub(super) fn set_first_buffer(json: &mut Value, length: usize) {
    if json.pointer("/buffers/0").is_some() {
        json["buffers"][0]["byteLength"] = length.into();
    } else {
        json["buffers"] = json!([{ "byteLength": length }]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_buffers_and_images_become_one_chunk() {
        let json = json!({
            "asset": { "version": "2.0" },
            "buffers": [{ "byteLength": 5, "uri": "a.bin", "name": "a" }, { "byteLength": 4, "uri": "b.bin" }],
            "bufferViews": [
                { "buffer": 0, "byteLength": 5 },
                { "buffer": 1, "byteOffset": 1, "byteLength": 3 }
            ],
            "images": [{ "uri": "data:image/png;base64,AQIDBA==" }, { "uri": "b.jpg" }, { "uri": "gone.png" }],
            "unknown": { "kept": [1, 2.5, 1e-7] }
        });
        let source = Source {
            json,
            buffers: vec![vec![1, 2, 3, 4, 5, 99], vec![6, 7, 8, 9]],
            image_files: vec![
                Some((vec![1, 2, 3, 4], "image/png".into())),
                Some((vec![7; 3], "image/jpeg".into())),
                None,
            ],
        };
        let (json, bin) = pack(Path::new("t"), &source).unwrap();
        assert_eq!(bin, [1, 2, 3, 4, 5, 0, 0, 0, 6, 7, 8, 9, 1, 2, 3, 4, 7, 7, 7]);
        assert_eq!(json["buffers"], json!([{ "byteLength": 19, "name": "a" }]));
        assert_eq!(json["bufferViews"][1], json!({ "buffer": 0, "byteOffset": 9, "byteLength": 3 }));
        assert_eq!(json["images"][0], json!({ "bufferView": 2, "mimeType": "image/png" }));
        assert_eq!(json["images"][1], json!({ "bufferView": 3, "mimeType": "image/jpeg" }));
        assert_eq!(json["images"][2], json!({ "uri": "gone.png" }));
        assert_eq!(json["unknown"], source.json["unknown"]);
        let glb = container(Path::new("t"), &json, &bin).unwrap();
        assert_eq!(glb.len() % 4, 0);
        assert_eq!(&glb[8..12], (glb.len() as u32).to_le_bytes());
    }

    #[test]
    fn meshopt_placeholders_stay_and_both_references_move() {
        let fallback =
            json!({ "byteLength": 100, "extensions": { "EXT_meshopt_compression": { "fallback": true } } });
        let view = json!({ "buffer": 0, "byteLength": 100,
            "extensions": { "EXT_meshopt_compression": { "buffer": 2, "byteOffset": 1, "byteLength": 3 } } });
        let json = json!({ "asset": { "version": "2.0" },
            "buffers": [fallback, { "byteLength": 4 }, { "byteLength": 4 }], "bufferViews": [view] });
        let source = Source { json, buffers: vec![vec![], vec![1; 4], vec![2; 4]], image_files: vec![] };
        let (json, bin) = pack(Path::new("t"), &source).unwrap();
        assert_eq!(bin, [1, 1, 1, 1, 2, 2, 2, 2]);
        assert_eq!(json["bufferViews"][0]["buffer"], 1);
        let compressed = &json["bufferViews"][0]["extensions"]["EXT_meshopt_compression"];
        assert_eq!((&compressed["buffer"], &compressed["byteOffset"]), (&json!(0), &json!(5)));
        assert_eq!(json["buffers"][1], source.json["buffers"][0]);
    }

    #[test]
    fn short_buffers_are_refused() {
        let json = json!({ "asset": { "version": "2.0" }, "buffers": [{ "byteLength": 5, "uri": "a.bin" }] });
        let source = Source { json, buffers: vec![vec![0; 4]], image_files: vec![] };
        assert!(pack(Path::new("t"), &source).is_err());
    }
}
