//! The reference from a document to the character's asset file, and the hash of a file's content.

use super::canonical::Canonical;
use crate::asset::{Asset, Source};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A reference to the character's asset file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AssetRef {
    /// Path of the file when it was opened.
    pub path: String,
    /// Hash of the file's content, 64 hexadecimal digits.
    pub hash: String,
}

impl AssetRef {
    /// Returns the reference to a loaded file. The hash covers the glTF JSON and all data that it references. It does
    /// not depend on the packing (.gltf or .glb, external files, data URIs) or on the file's location.
    pub fn of(asset: &Asset) -> Self {
        Self { path: asset.path.to_string_lossy().into_owned(), hash: content_hash(&asset.source) }
    }
}

/// Hashes glTF content. It skips JSON values that depend on the packing, such as buffer offsets, and hashes the
/// referenced bytes instead.
fn content_hash(source: &Source) -> String {
    let mut hash = Canonical::new("asset 2");
    let mut json = source.json.clone();
    let mut take = |name: &str| {
        let list = json.as_object_mut().and_then(|o| o.shift_remove(name));
        list.and_then(|l| if let Value::Array(l) = l { Some(l) } else { None }).unwrap_or_default()
    };
    let (mut views, mut images) = (take("bufferViews"), take("images"));
    take("buffers");
    hash.json(&json);
    hash.count(images.len());
    for (i, image) in images.iter_mut().enumerate() {
        match source.image_files.get(i).and_then(Option::as_ref) {
            Some((bytes, _)) => hash.bytes(bytes),
            // Exclude the image's buffer view from the hash, because only packed files store images in buffer views.
            None => match image["bufferView"].as_u64().and_then(|v| views.get_mut(v as usize)) {
                Some(view) => {
                    hash.bytes(bytes_of(source, view));
                    *view = Value::Null;
                }
                None => hash.bytes(&[]),
            },
        }
        without(image, &["uri", "bufferView", "mimeType"]);
        hash.json(image);
    }
    for (i, view) in views.iter_mut().enumerate().filter(|(_, view)| !view.is_null()) {
        hash.count(i);
        hash.bytes(bytes_of(source, view));
        without(view, &["buffer", "byteOffset"]);
        let extensions = view.get_mut("extensions").and_then(Value::as_object_mut);
        for extension in extensions.into_iter().flat_map(|e| e.values_mut()) {
            hash.bytes(bytes_of(source, extension));
            without(extension, &["buffer", "byteOffset"]);
        }
        hash.json(view);
    }
    hash.finish()
}

/// Returns the bytes that a JSON object's `buffer`, `byteOffset` and `byteLength` select; empty if out of range.
fn bytes_of<'a>(source: &'a Source, view: &Value) -> &'a [u8] {
    let number = |name: &str| view[name].as_u64().and_then(|n| usize::try_from(n).ok());
    let buffer = number("buffer").and_then(|b| source.buffers.get(b));
    let start = number("byteOffset").unwrap_or(0);
    let end = number("byteLength").and_then(|length| start.checked_add(length));
    buffer.zip(end).and_then(|(buffer, end)| buffer.get(start..end)).unwrap_or_default()
}

fn without(object: &mut Value, names: &[&str]) {
    if let Some(object) = object.as_object_mut() {
        names.iter().for_each(|name| drop(object.shift_remove(*name)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Returns a glTF source with two buffers, and images in a file, a data URI and a buffer view.
    fn apart() -> Source {
        let json = json!({
            "buffers": [{ "byteLength": 5, "uri": "a.bin" }, { "byteLength": 6, "uri": "b.bin" }],
            "bufferViews": [
                { "buffer": 0, "byteLength": 5, "target": 34962 },
                { "buffer": 1, "byteOffset": 1, "byteLength": 3, "extensions": {
                    "EXT_meshopt_compression": { "buffer": 1, "byteOffset": 4, "byteLength": 2 } } },
                { "buffer": 1, "byteLength": 1 }
            ],
            "images": [{ "uri": "x.png", "name": "x" }, { "uri": "data:image/png;base64,CQk=" }, { "bufferView": 2 }],
        });
        let images =
            vec![Some((vec![8, 8], "image/png".into())), Some((vec![9, 9], "image/png".into())), None];
        Source { json, buffers: vec![vec![1, 2, 3, 4, 5], vec![6, 7, 8, 9, 10, 11]], image_files: images }
    }

    #[test]
    fn the_content_of_a_file_is_the_same_however_it_is_packed() {
        let hash = content_hash(&apart());
        let json = json!({
            "buffers": [{ "byteLength": 22 }],
            "bufferViews": [
                { "buffer": 0, "byteLength": 5, "target": 34962 },
                { "buffer": 0, "byteOffset": 9, "byteLength": 3, "extensions": {
                    "EXT_meshopt_compression": { "buffer": 0, "byteOffset": 12, "byteLength": 2 } } },
                { "buffer": 0, "byteOffset": 8, "byteLength": 1 },
                { "buffer": 0, "byteOffset": 16, "byteLength": 2 },
                { "buffer": 0, "byteOffset": 20, "byteLength": 2 }
            ],
            "images": [
                { "name": "x", "bufferView": 3, "mimeType": "image/png" },
                { "bufferView": 4, "mimeType": "image/png" },
                { "bufferView": 2 }
            ],
        });
        let chunk = vec![1, 2, 3, 4, 5, 0, 0, 0, 6, 7, 8, 9, 10, 11, 0, 0, 8, 8, 0, 0, 9, 9];
        assert_eq!(content_hash(&Source { json, buffers: vec![chunk], image_files: vec![None; 3] }), hash);

        let changes: [fn(&mut Source); 8] = [
            |s| s.buffers[0][4] += 1,
            |s| s.buffers[1][2] += 1,
            |s| s.buffers[1][5] += 1,
            |s| s.buffers[1][0] += 1,
            |s| s.image_files[0].as_mut().unwrap().0[1] += 1,
            |s| s.image_files[1].as_mut().unwrap().0[0] += 1,
            |s| s.json["bufferViews"][0]["target"] = 34963.into(),
            |s| s.json["images"][0]["name"] = "y".into(),
        ];
        for (i, change) in changes.iter().enumerate() {
            let mut changed = apart();
            change(&mut changed);
            assert_ne!(content_hash(&changed), hash, "change {i}");
        }
        // Unreferenced bytes and file locations do not affect the hash.
        let mut same = apart();
        same.buffers[0].push(99);
        same.json["buffers"][0]["uri"] = "elsewhere.bin".into();
        assert_eq!(content_hash(&same), hash);
        assert_eq!(content_hash(&Source::default()), content_hash(&Source::default()));
    }
}
