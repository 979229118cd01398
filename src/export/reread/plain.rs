//! Removes content that the `gltf` crate rejects but the receipt does not need: channels without a target node, and
//! required extensions that the reader supports or that do not affect the surface.

use gltf::Glb;
use serde_json::Value;
use std::borrow::Cow;

/// Extensions that the reader supports or that do not affect the surface.
const READ: [&str; 3] = ["KHR_animation_pointer", "KHR_mesh_quantization", "KHR_texture_transform"];
/// Prefixes of extensions that affect shading only.
const PICTURE: [&str; 4] = ["KHR_materials_", "KHR_lights_", "KHR_xmp", "EXT_texture_"];

/// Returns the file without channels and extensions that the crate rejects, or unchanged if it has none of them.
///
/// # Errors
/// The file is not a .glb, its JSON is broken, or its geometry is compressed.
pub(super) fn plain(glb: &[u8]) -> Result<Cow<'_, [u8]>, String> {
    let mut file = Glb::from_slice(glb).map_err(|e| e.to_string())?;
    let mut json: Value = serde_json::from_slice(&file.json).map_err(|e| e.to_string())?;
    let used = json.get("extensionsUsed").and_then(Value::as_array).into_iter().flatten();
    let mut used = used.filter_map(Value::as_str);
    if let Some(name) = used.find(|n| n.contains("draco") || n.contains("meshopt")) {
        return Err(format!("{name} is not read by the independent reader"));
    }
    let mut changed = false;
    let mut keep = |list: Option<&mut Value>, is_kept: &dyn Fn(&Value) -> bool| {
        let Some(list) = list.and_then(Value::as_array_mut) else { return };
        let before = list.len();
        list.retain(is_kept);
        changed |= list.len() < before;
    };
    keep(json.get_mut("extensionsRequired"), &|name| {
        let name = name.as_str().unwrap_or_default();
        !READ.contains(&name) && !PICTURE.iter().any(|p| name.starts_with(p))
    });
    for animation in json.get_mut("animations").and_then(Value::as_array_mut).into_iter().flatten() {
        keep(animation.get_mut("channels"), &|channel| channel.pointer("/target/node").is_some());
    }
    if !changed {
        return Ok(Cow::Borrowed(glb));
    }
    let mut text = json.to_string().into_bytes();
    text.resize(text.len().next_multiple_of(4), b' ');
    file.json = text.into();
    file.to_vec().map(Cow::Owned).map_err(|e| e.to_string())
}
