//! Removes accessors that an edit left unused, with their buffer views and bytes.

use super::Builder;
use serde_json::Value;

/// Extensions (or name prefixes) that refer to accessors and buffer views only in ways that this module handles.
const KNOWN: [&str; 17] = [
    "KHR_materials_",
    "KHR_texture_",
    "KHR_lights_",
    "KHR_mesh_quantization",
    "KHR_draco_mesh_compression",
    "KHR_meshopt_compression",
    "KHR_animation_pointer",
    "KHR_node_visibility",
    "KHR_xmp",
    "EXT_texture_",
    "EXT_mesh_gpu_instancing",
    "EXT_meshopt_compression",
    "EXT_lights_",
    "MSFT_texture_dds",
    "VRM",
    "SINEW_",
    "ADOBE_materials_",
];

impl Builder {
    /// Removes the accessors in `orphans` that are no longer referenced. Keeps all accessors if the file uses an
    /// extension that may refer to accessors in other ways.
    pub(super) fn prune(&mut self) {
        let used = self.json.get("extensionsUsed").and_then(Value::as_array).cloned().unwrap_or_default();
        let known = |name: &Value| name.as_str().is_some_and(|n| KNOWN.iter().any(|k| n.starts_with(k)));
        if !used.iter().all(known) {
            return;
        }
        let mut candidates = std::mem::take(&mut self.orphans);
        candidates.sort_unstable();
        candidates.dedup();
        accessors(&mut self.json, &mut |index| candidates.retain(|c| *c as u64 != *index));
        let mut views = Vec::new();
        for &accessor in &candidates {
            if let Some(json) = self.json.get_mut("accessors").and_then(|list| list.get_mut(accessor)) {
                view_of_accessor(json, &mut |v| views.push(*v as usize));
            }
        }
        remove(&mut self.json, "accessors", &candidates, accessors);
        self.zeros.clear();
        views.sort_unstable();
        views.dedup();
        buffer_views(&mut self.json, &mut |index| views.retain(|v| *v as u64 != *index));
        remove(&mut self.json, "bufferViews", &views, buffer_views);
        if !views.is_empty() {
            self.compact();
        }
    }

    /// Removes the bytes of the binary chunk that no buffer view covers. Every view keeps its alignment.
    fn compact(&mut self) {
        let mut ranges = Vec::new();
        ranges_in_chunk(&mut self.json, &mut |offset, length| {
            ranges.push((*offset, offset.saturating_add(length)));
        });
        ranges.sort_unstable();
        // If a view's range is outside the chunk, which an unused view may have, keep every byte.
        if ranges.iter().any(|range| range.1 > self.bin.len() as u64) {
            return;
        }
        let (mut bin, mut moved): (Vec<u8>, Vec<(u64, u64, u64)>) = (Vec::new(), Vec::new());
        for (start, end) in ranges {
            match moved.last_mut() {
                Some((from, to, _)) if start < *to => {
                    let overlap = (*to).max(end);
                    bin.extend(&self.bin[*to as usize..overlap as usize]);
                    (*from, *to) = (*from, overlap);
                }
                _ => {
                    // The new offset equals the old one modulo 8. This keeps the alignment of every component type and
                    // the file's own padding to 4.
                    let wanted = start as usize % 8;
                    while bin.len() % 8 != wanted {
                        bin.push(0);
                    }
                    moved.push((start, end, bin.len() as u64));
                    bin.extend(&self.bin[start as usize..end as usize]);
                }
            }
        }
        ranges_in_chunk(&mut self.json, &mut |offset, _| {
            let range = &moved[moved.partition_point(|m| m.0 <= *offset) - 1];
            *offset = *offset - range.0 + range.2;
        });
        self.bin = bin;
    }
}

/// Calls a function with every reference to one kind of element.
type Visitor = fn(&mut Value, &mut dyn FnMut(&mut u64));

/// Removes elements of a top-level array and renumbers the references to the remaining elements.
fn remove(json: &mut Value, collection: &str, gone: &[usize], visit: Visitor) {
    let Some(array) = json.get_mut(collection).and_then(Value::as_array_mut).filter(|_| !gone.is_empty())
    else {
        return;
    };
    let mut index = 0;
    array.retain(|_| {
        index += 1;
        gone.binary_search(&(index - 1)).is_err()
    });
    visit(json, &mut |i| *i -= gone.partition_point(|g| (*g as u64) < *i) as u64);
}

fn each(value: Option<&mut Value>) -> impl Iterator<Item = &mut Value> {
    value.and_then(Value::as_array_mut).into_iter().flatten()
}

fn values(value: Option<&mut Value>) -> impl Iterator<Item = &mut Value> {
    value.and_then(Value::as_object_mut).into_iter().flat_map(|o| o.values_mut())
}

/// Calls `f` with a reference and writes the changed index back.
fn visit(value: Option<&mut Value>, f: &mut dyn FnMut(&mut u64)) {
    if let Some(value) = value
        && let Some(mut index) = value.as_u64()
    {
        let before = index;
        f(&mut index);
        if index != before {
            *value = index.into();
        }
    }
}

/// Visits every reference to an accessor.
fn accessors(json: &mut Value, f: &mut dyn FnMut(&mut u64)) {
    for mesh in each(json.get_mut("meshes")) {
        for primitive in each(mesh.get_mut("primitives")) {
            values(primitive.get_mut("attributes")).for_each(|a| visit(Some(a), f));
            visit(primitive.get_mut("indices"), f);
            for target in each(primitive.get_mut("targets")) {
                values(Some(target)).for_each(|a| visit(Some(a), f));
            }
        }
    }
    for animation in each(json.get_mut("animations")) {
        for sampler in each(animation.get_mut("samplers")) {
            visit(sampler.get_mut("input"), f);
            visit(sampler.get_mut("output"), f);
        }
    }
    for skin in each(json.get_mut("skins")) {
        visit(skin.get_mut("inverseBindMatrices"), f);
    }
    for node in each(json.get_mut("nodes")) {
        let instancing = node.pointer_mut("/extensions/EXT_mesh_gpu_instancing/attributes");
        values(instancing).for_each(|a| visit(Some(a), f));
    }
}

fn view_of_accessor(accessor: &mut Value, f: &mut dyn FnMut(&mut u64)) {
    visit(accessor.get_mut("bufferView"), f);
    visit(accessor.pointer_mut("/sparse/indices/bufferView"), f);
    visit(accessor.pointer_mut("/sparse/values/bufferView"), f);
}

/// Visits every reference to a buffer view.
fn buffer_views(json: &mut Value, f: &mut dyn FnMut(&mut u64)) {
    each(json.get_mut("accessors")).for_each(|a| view_of_accessor(a, f));
    each(json.get_mut("images")).for_each(|i| visit(i.get_mut("bufferView"), f));
    for mesh in each(json.get_mut("meshes")) {
        for primitive in each(mesh.get_mut("primitives")) {
            visit(primitive.pointer_mut("/extensions/KHR_draco_mesh_compression/bufferView"), f);
        }
    }
}

/// Visits every `(byteOffset, byteLength)` in the chunk, of buffer views and of meshopt's compressed data.
fn ranges_in_chunk(json: &mut Value, f: &mut dyn FnMut(&mut u64, u64)) {
    let mut range = |view: &mut Value| {
        let number = |view: &Value, name: &str| view.get(name).and_then(Value::as_u64).unwrap_or(0);
        if view.get("buffer").and_then(Value::as_u64) == Some(0) {
            let (before, length) = (number(view, "byteOffset"), number(view, "byteLength"));
            let mut offset = before;
            f(&mut offset, length);
            if offset != before {
                view["byteOffset"] = offset.into();
            }
        }
    };
    for view in each(json.get_mut("bufferViews")) {
        range(view);
        for name in ["EXT_meshopt_compression", "KHR_meshopt_compression"] {
            if let Some(compressed) = view.get_mut("extensions").and_then(|e| e.get_mut(name)) {
                range(compressed);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::Usage;
    use serde_json::json;

    fn builder() -> Builder {
        let mut b = Builder::new("t");
        for i in 0..4u8 {
            b.floats(&[f32::from(i); 3], 3, Usage::Vertices, false);
        }
        b.push("meshes", json!({ "primitives": [{ "attributes": { "POSITION": 0, "NORMAL": 3 }, "targets": [{ "POSITION": 2 }] }] }));
        b
    }

    #[test]
    fn orphans_go_and_references_follow() {
        let mut b = builder();
        b.orphans = vec![1, 2, 1];
        b.prune();
        let primitive = &b.json["meshes"][0]["primitives"][0];
        assert_eq!(primitive["attributes"], json!({ "POSITION": 0, "NORMAL": 2 }));
        assert_eq!(primitive["targets"][0]["POSITION"], 1);
        assert_eq!((b.len("accessors"), b.len("bufferViews")), (3, 3));
        for (accessor, value) in [(0, 0.0), (1, 2.0), (2, 3.0f32)] {
            let view = b.json["accessors"][accessor]["bufferView"].as_u64().unwrap() as usize;
            let offset = b.json["bufferViews"][view]["byteOffset"].as_u64().unwrap() as usize;
            assert_eq!(b.bin()[offset..offset + 4], value.to_le_bytes());
        }
        assert!(b.bin().len() < 48);
    }

    #[test]
    fn unknown_extensions_forbid_renumbering() {
        let mut b = builder();
        b.json["extensionsUsed"] = json!(["ACME_accessors"]);
        b.orphans = vec![1];
        let before = b.json.clone();
        b.prune();
        assert_eq!(b.json, before);
    }

    #[test]
    fn a_view_outside_of_the_data_keeps_every_byte() {
        let mut b = builder();
        b.push("bufferViews", json!({ "buffer": 0, "byteOffset": u64::MAX, "byteLength": 8 }));
        b.orphans = vec![1];
        b.prune();
        assert_eq!((b.len("accessors"), b.bin().len()), (3, 48));
    }

    #[test]
    fn orphans_of_no_list_are_left_alone() {
        let mut b = builder();
        b.json["accessors"] = json!({});
        b.orphans = vec![1];
        b.prune();
        assert_eq!(b.json["accessors"], json!({}));
    }
}
