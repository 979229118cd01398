//! Checks the preconditions of the `gltf` crate's iterators: extents, strides, types. Sinew's loader skips invalid
//! animations, but the crate panics on them.

use crate::asset::limits;
use gltf::Accessor;
use gltf::accessor::{DataType, Dimensions};
use gltf::animation::{Channel, Property};
use gltf::buffer::View;
use gltf::json::validation::Checked;

/// Checks that a .glb has the length given in its header, because the crate computes with that length without checking
/// it.
pub(super) fn length(glb: &[u8]) -> Result<(), String> {
    let length = glb.get(8..12).and_then(|l| l.try_into().ok()).map(u32::from_le_bytes);
    match length {
        Some(length) if length as usize == glb.len() => Ok(()),
        _ => Err("the file is longer or shorter than it says".into()),
    }
}

/// Checks what the crate's own validation takes for granted or omits: attribute names, their accessors, and animation
/// targets.
pub(super) fn before_validation(root: &gltf::json::Root) -> Result<(), String> {
    let mut channels = root.animations.iter().flat_map(|a| &a.channels);
    if channels.any(|c| matches!(c.target.path, Checked::Invalid)) {
        return Err("an animation moves a property that glTF does not know".into());
    }
    let mut channels = root.animations.iter().flat_map(|a| &a.channels);
    if channels.any(|c| c.target.node.value() >= root.nodes.len()) {
        return Err("an animation moves a node that the file does not have".into());
    }
    let mut samplers = root.animations.iter().flat_map(|a| &a.samplers);
    if samplers.any(|s| matches!(s.interpolation, Checked::Invalid)) {
        return Err("an animation has an interpolation that glTF does not know".into());
    }
    for primitive in root.meshes.iter().flat_map(|m| &m.primitives) {
        if primitive.attributes.keys().any(|name| matches!(name, Checked::Invalid)) {
            return Err("an attribute has a name that glTF does not know".into());
        }
        if primitive.attributes.values().any(|a| a.value() >= root.accessors.len()) {
            return Err("an attribute is in no accessor".into());
        }
    }
    Ok(())
}

/// Checks that every accessor's data lies in a binary chunk of `bin` bytes.
pub(super) fn extents(file: &gltf::Gltf, bin: usize) -> Result<(), String> {
    for accessor in file.accessors() {
        let bad = |problem: &str| format!("accessor {} {problem}", accessor.index());
        let (count, size) = (accessor.count(), accessor.size());
        if !(1..=limits::ACCESSOR_COUNT).contains(&count) {
            return Err(bad(&format!("has {count} elements")));
        }
        let inside = |view: &View, offset: usize, count: usize, size: usize| {
            let stride = view.stride().unwrap_or(size);
            let end =
                stride.checked_mul(count - 1).and_then(|last| last.checked_add(size)?.checked_add(offset));
            let last = view.offset().checked_add(view.length());
            stride >= size && end.is_some_and(|e| e <= view.length()) && last.is_some_and(|l| l <= bin)
        };
        if accessor.view().is_some_and(|v| !inside(&v, accessor.offset(), count, size)) {
            return Err(bad("lies outside of its data, or its elements overlap"));
        }
        if let Some(sparse) = accessor.sparse() {
            let (indices, values) = (sparse.indices(), sparse.values());
            let replaced = sparse.count();
            if !(1..=count).contains(&replaced)
                || !inside(&indices.view(), indices.offset(), replaced, indices.index_type().size())
                || !inside(&values.view(), values.offset(), replaced, size)
            {
                return Err(bad("is sparse, and its replaced elements lie outside of their data"));
            }
        }
    }
    Ok(())
}

/// Checks that each node has exactly one parent, or is a root of the scene.
pub(super) fn forest(file: &gltf::Gltf) -> Result<(), String> {
    let mut parents = vec![0; file.nodes().len()];
    file.nodes().flat_map(|n| n.children()).for_each(|c| parents[c.index()] += 1);
    let scene = file.default_scene().or_else(|| file.scenes().next());
    scene.iter().flat_map(|s| s.nodes()).for_each(|n| parents[n.index()] += 1);
    match parents.iter().position(|&p| p > 1) {
        Some(node) => Err(format!("node {node} is reached twice")),
        None => Ok(()),
    }
}

/// Returns whether an accessor has these dimensions and one of these component types.
pub(super) fn is(accessor: &Accessor, dimensions: Dimensions, types: &[DataType]) -> bool {
    accessor.dimensions() == dimensions && types.contains(&accessor.data_type())
}

/// Returns whether a channel's times and values have valid animation types.
pub(super) fn is_animation(channel: &Channel) -> bool {
    let fractions = [DataType::F32, DataType::I8, DataType::U8, DataType::I16, DataType::U16];
    let (shape, types) = match channel.target().property() {
        Property::Translation | Property::Scale => (Dimensions::Vec3, &fractions[..1]),
        Property::Rotation => (Dimensions::Vec4, &fractions[..]),
        Property::MorphTargetWeights => (Dimensions::Scalar, &fractions[..]),
    };
    let sampler = channel.sampler();
    is(&sampler.input(), Dimensions::Scalar, &fractions[..1]) && is(&sampler.output(), shape, types)
}
