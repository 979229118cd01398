//! Writes morph targets and animations into the file's JSON.

use super::morph::Delta;
use super::posed::Job;
use super::{Builder, Usage, clips, numbers, weights};
use crate::anim::thin_channel;
use crate::asset::{Channel, Clip, Interpolation, Property};
use crate::base::NodeId;
use serde_json::{Value, json};
use std::mem::take;
use std::ops::Range;

/// Morph targets for one node, before writing.
pub(super) struct NodeTargets {
    pub node: NodeId,
    /// The node's display parts.
    pub parts: Range<usize>,
    /// Displacements as `[target][part of the node]`.
    pub deltas: Vec<Vec<Delta>>,
    /// Display name per target.
    pub names: Vec<String>,
    /// Morph weights as `[key][target]`.
    pub weights: Vec<Vec<f32>>,
    /// Limits for dropping keys of the weights; `None` keeps every key.
    pub thinning: Option<Thinning>,
}

/// Limits for dropping keys that interpolation reproduces closely.
pub(super) struct Thinning {
    /// Longest displacement of each target, metres in bind space.
    pub reach: Vec<f64>,
    /// Maximum error of all targets together, metres in bind space.
    pub within: f64,
}

/// The morph targets added to one node.
pub(super) struct Added {
    pub node: NodeId,
    pub count: usize,
    /// Morph weights as `[key][target]`.
    weights: Vec<Vec<f32>>,
    thinning: Option<Thinning>,
}

impl Added {
    /// Returns the weights at the first key.
    pub fn first(&self) -> &[f32] {
        &self.weights[0]
    }

    /// Drops keys of a weights channel within the error limit. The channel's first `own` weights belong to the file's
    /// own targets.
    fn with_fewer_keys(&self, channel: Channel, own: usize) -> Channel {
        let Some(Thinning { reach, within }) = &self.thinning else { return channel };
        let distance = |value: &[f32], line: &[f32]| {
            let apart = |i: usize| f64::from((value[i] - line[i]).abs());
            // The displacements of the file's own targets are unknown, so their weights must not change.
            if (0..own).any(|i| apart(i) > 1e-6) {
                return f64::INFINITY;
            }
            reach.iter().enumerate().map(|(b, reach)| apart(own + b) * reach).sum()
        };
        thin_channel(&channel, *within, distance)
    }

    /// Returns the weights of the added targets at a time, interpolated linearly between keys.
    fn between(&self, times: &[f32], time: f32) -> Vec<f32> {
        if times.len() < 2 {
            return self.weights[0].clone();
        }
        let after = times.partition_point(|&t| t <= time).clamp(1, times.len() - 1);
        let (start, end) = (times[after - 1], times[after]);
        let u = ((time - start) / (end - start)).clamp(0.0, 1.0);
        let ends = self.weights[after - 1].iter().zip(&self.weights[after]);
        // At a key, the weights are exact to the bit.
        ends.map(|(a, b)| {
            if u == 0.0 {
                *a
            } else if u == 1.0 {
                *b
            } else {
                // The clamp keeps the result between both ends despite rounding, so that weights stay within 0..=1.
                (a + (b - a) * u).clamp(a.min(*b), a.max(*b))
            }
        })
        .collect()
    }
}

/// Creates one target per key and node with displacements of positions or normals; `deltas` is `[key][part]`.
pub(super) fn one_per_key(job: &Job, mut deltas: Vec<Vec<Delta>>) -> Vec<NodeTargets> {
    let mut out = Vec::new();
    for (node, parts) in job.drawn() {
        let has = |k: &usize| {
            deltas[*k][parts.clone()].iter().any(|d| !(d.positions.is_empty() && d.normals.is_empty()))
        };
        let active: Vec<usize> = (0..deltas.len()).filter(has).collect();
        if active.is_empty() {
            continue;
        }
        let weight = |key: usize| active.iter().map(|&k| if k == key { 1.0 } else { 0.0 }).collect();
        out.push(NodeTargets {
            node,
            names: active.iter().map(|k| format!("{} {}", job.options.clip_name, k + 1)).collect(),
            weights: (0..deltas.len()).map(weight).collect(),
            deltas: active.iter().map(|&k| deltas[k][parts.clone()].iter_mut().map(take).collect()).collect(),
            thinning: None,
            parts,
        });
    }
    out
}

/// Adds targets to the file, with the weights of the first key. Marks the file as one whose targets correct linear blend
/// skinning, see [`crate::asset::Asset::corrects_lbs`].
pub(super) fn add(job: &Job, builder: &mut Builder, sets: Vec<NodeTargets>) -> Vec<Added> {
    builder.mark_corrected();
    let mut out = Vec::new();
    for set in sets {
        let (node, parts) = (set.node, &set.parts);
        let mesh = own_mesh(builder, node);
        let primitives = builder.json["meshes"][mesh]["primitives"].as_array().map_or(0, Vec::len);
        for index in 0..primitives {
            let part = parts.clone().position(|p| {
                let part = &job.character.display.parts[p];
                job.asset.meshes[part.mesh.index()].primitives[part.primitive].file_index == index
            });
            let deltas = set.deltas.iter().map(|target| part.map(|p| &target[p])).collect();
            add_to_primitive(builder, mesh, index, deltas);
        }
        describe(builder, mesh, &set.names);
        let mut weights = job.keys[0].pose.weights[node.index()].clone();
        weights.extend(&set.weights[0]);
        builder.json["nodes"][node.index()]["weights"] = numbers(&weights);
        let count = set.names.len();
        out.push(Added { node, count, weights: set.weights, thinning: set.thinning });
    }
    out
}

/// Returns the index of a mesh that only this node draws. If other nodes draw the node's mesh too, copies the mesh
/// first, because displacements differ between nodes.
fn own_mesh(builder: &mut Builder, node: NodeId) -> usize {
    let mesh = builder.json["nodes"][node.index()]["mesh"].clone();
    let index = mesh.as_u64().unwrap_or(0) as usize;
    let users = builder.json["nodes"].as_array().into_iter().flatten().filter(|n| n["mesh"] == mesh).count();
    if users <= 1 {
        return index;
    }
    let copy = builder.json["meshes"][index].clone();
    let index = builder.push("meshes", copy);
    builder.json["nodes"][node.index()]["mesh"] = index.into();
    index
}

/// Appends one target per element of `deltas`. A primitive that is not drawn as triangles has no displacements, so its
/// elements are `None`.
fn add_to_primitive(builder: &mut Builder, mesh: usize, index: usize, deltas: Vec<Option<&Delta>>) {
    let attributes = builder.json["meshes"][mesh]["primitives"][index]["attributes"].clone();
    let position = attributes["POSITION"].as_u64().unwrap_or(0) as usize;
    let count = builder.json["accessors"][position]["count"].as_u64().unwrap_or(0) as usize;
    // Some viewers require that either all or none of a primitive's targets displace normals.
    let normals = deltas.iter().flatten().any(|d| !d.normals.is_empty());
    for delta in deltas {
        let (positions, turned) = delta.map_or((&[][..], &[][..]), |d| (&d.positions[..], &d.normals[..]));
        let mut target = json!({ "POSITION": builder.displacements(count, positions) });
        if normals {
            target["NORMAL"] = builder.displacements(count, turned).into();
        }
        let primitive = &mut builder.json["meshes"][mesh]["primitives"][index];
        match primitive["targets"].as_array_mut() {
            Some(targets) => targets.push(target),
            None => primitive["targets"] = json!([target]),
        }
    }
}

/// Sets default weights and names of the added targets.
fn describe(builder: &mut Builder, mesh: usize, names: &[String]) {
    let mesh = &mut builder.json["meshes"][mesh];
    if let Some(weights) = mesh.get_mut("weights").and_then(Value::as_array_mut) {
        weights.extend(names.iter().map(|_| Value::from(0)));
    }
    let existing = mesh["primitives"][0]["targets"].as_array().map_or(0, Vec::len) - names.len();
    let names = names.iter().map(|n| Value::from(n.as_str()));
    let extendable = mesh.get("extras").is_none_or(Value::is_object);
    match mesh.pointer_mut("/extras/targetNames").and_then(Value::as_array_mut) {
        Some(known) if known.len() == existing => known.extend(names),
        None if existing == 0 && extendable => {
            mesh["extras"]["targetNames"] = names.collect::<Vec<_>>().into();
        }
        _ => {}
    }
}

/// Removes the samplers of an animation that are no longer used.
pub(super) fn drop_unused_samplers(builder: &mut Builder, animation: usize) {
    let animation = &mut builder.json["animations"][animation];
    let mut used: Vec<u64> = animation["channels"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|c| c["sampler"].as_u64())
        .collect();
    used.sort_unstable();
    used.dedup();
    let mut kept = Vec::new();
    for (i, sampler) in animation["samplers"].as_array().into_iter().flatten().enumerate() {
        if used.binary_search(&(i as u64)).is_ok() {
            kept.push(sampler.clone());
        } else {
            builder
                .orphans
                .extend(["input", "output"].iter().filter_map(|n| sampler[n].as_u64()).map(|a| a as usize));
        }
    }
    animation["samplers"] = kept.into();
    for channel in animation["channels"].as_array_mut().into_iter().flatten() {
        if let Some(at) = channel["sampler"].as_u64().and_then(|s| used.binary_search(&s).ok()) {
            channel["sampler"] = at.into();
        }
    }
}

/// Extends every key of a weights channel by `extra(key)`, the weights of further targets. In a CUBICSPLINE channel,
/// the added tangents are zero.
pub(super) fn widened(channel: &Channel, extra: impl Fn(usize) -> Vec<f32>) -> Channel {
    let blocks = if channel.interpolation == Interpolation::CubicSpline { 3 } else { 1 };
    let width = channel.values.len() / (channel.times.len() * blocks).max(1);
    let mut values = Vec::new();
    for block in 0..channel.times.len() * blocks {
        values.extend(&channel.values[block * width..(block + 1) * width]);
        let added = extra(block / blocks);
        let is_value = blocks == 1 || block % 3 == 1;
        values.extend(added.iter().map(|v| if is_value { *v } else { 0.0 }));
    }
    Channel { values, ..channel.clone() }
}

pub(super) fn write_sampler(builder: &mut Builder, animation: usize, channel: &Channel) -> usize {
    let width = match channel.property {
        Property::Translation | Property::Scale => 3,
        Property::Rotation => 4,
        Property::Weights => 1,
    };
    let sampler = json!({
        "input": builder.times(&channel.times),
        "interpolation": match channel.interpolation {
            Interpolation::Step => "STEP",
            Interpolation::Linear => "LINEAR",
            Interpolation::CubicSpline => "CUBICSPLINE",
        },
        "output": if channel.times.len() == 1 {
            builder.constant(&channel.values, width)
        } else {
            builder.floats(&channel.values, width, Usage::Other, false)
        },
    });
    let animation = &mut builder.json["animations"][animation];
    if !animation["samplers"].is_array() {
        animation["samplers"] = json!([]);
    }
    let Some(samplers) = animation["samplers"].as_array_mut() else { return 0 };
    samplers.push(sampler);
    samplers.len() - 1
}

/// Returns the channels of the keys with LINEAR interpolation.
pub(super) fn of_keys(job: &Job, builder: &Builder, clip: &Clip, added: &[Added]) -> Vec<Channel> {
    let mut channels: Vec<Channel> = clip
        .channels
        .iter()
        .filter(|c| c.times.len() > 1 && c.property != Property::Weights)
        .cloned()
        .collect();
    let all_times: Vec<f32> = job.keys.iter().map(|k| k.time_s).collect();
    for (node, file) in job.asset.nodes.iter().enumerate() {
        let added = added.iter().find(|a| a.node.index() == node);
        let of = |key: usize| {
            let mut weights = job.keys[key].pose.weights[node].clone();
            weights.extend(added.into_iter().flat_map(|a| &a.weights[key]));
            weights
        };
        let first = of(0);
        if file.mesh.is_some() && (1..job.keys.len()).any(|k| of(k) != first) {
            channels.push(Channel {
                node: NodeId::from(node),
                property: Property::Weights,
                interpolation: Interpolation::Linear,
                times: all_times.clone(),
                values: (0..job.keys.len()).flat_map(of).collect(),
            });
        }
    }
    if channels.is_empty() {
        // An animation needs at least one channel. If no property changes between keys, give one node a constant
        // channel. A node with a matrix must not be animated, so choose another.
        let free = (0..job.asset.nodes.len()).find(|&n| builder.json["nodes"][n].get("matrix").is_none());
        channels.extend(free.map(|node| Channel {
            node: NodeId::from(node),
            property: Property::Translation,
            interpolation: Interpolation::Linear,
            times: all_times.clone(),
            values: all_times.iter().flat_map(|_| job.keys[0].pose.local[node].translation).collect(),
        }));
    }
    channels
}

/// Returns the channels of a motion unchanged, with the weights of added targets appended to a node's own weights.
pub(super) fn of_motion(job: &Job, clip: &Clip, added: &[Added]) -> Vec<Channel> {
    let gets_targets = |c: &Channel| added.iter().any(|a| a.node == c.node);
    let (widened, mut channels): (Vec<Channel>, Vec<Channel>) =
        clip.channels.iter().cloned().partition(|c| c.property == Property::Weights && gets_targets(c));
    let key_times: Vec<f32> = job.keys.iter().map(|k| k.time_s).collect();
    for added in added {
        let still = &job.keys[0].pose.weights[added.node.index()];
        let own = widened.iter().find(|c| c.node == added.node).ok_or(&still[..]);
        let of_added = |time: f32| added.between(&key_times, time);
        let whole = weights::together(added.node, own, still.len(), &key_times, of_added);
        channels.push(added.with_fewer_keys(whole, still.len()));
    }
    channels.sort_by_key(|c| (c.node, c.property));
    channels
}

/// Writes channels as an animation and returns its index.
pub(super) fn write_channels(builder: &mut Builder, name: &str, channels: &[Channel]) -> usize {
    let index = builder.push("animations", json!({ "name": name, "samplers": [], "channels": [] }));
    for channel in channels {
        let sampler = write_sampler(builder, index, channel);
        let target = clips::target(channel.node, channel.property);
        if let Some(channels) = builder.json["animations"][index]["channels"].as_array_mut() {
            channels.push(json!({ "sampler": sampler, "target": target }));
        }
    }
    index
}
