//! Reads animations. A flaw of an animation does not affect the rest shape, so it never rejects the file: the channel
//! is repaired or skipped, and the problem is reported. Only data that extends beyond its buffer is an error.

use super::accessor::{Accessor, Component};
use super::context::{Context, in_range};
use super::item::Item;
use crate::asset::{Channel, Clip, Interpolation, Mesh, Node, Pointed, Property, limits, mesh_users};
use crate::base::{NodeId, Result};
use std::collections::{HashMap, HashSet};

/// Reads all animations of the file.
pub(super) fn read(ctx: &Context, nodes: &[Node], meshes: &[Mesh]) -> Result<Vec<Clip>> {
    let reading = Reading { nodes, meshes, users: mesh_users(ctx.json.get("nodes")) };
    let mut clips = Vec::new();
    for (index, item) in ctx.items("animations", "animation")?.iter().enumerate() {
        let samplers = item.children("samplers", "sampler")?;
        let mut seen = Seen::default();
        let mut channels = Vec::new();
        for channel in item.children("channels", "channel")? {
            reading.channel(&channel, &samplers, &mut seen, &mut channels)?;
        }
        clips.push(Clip { name: item.name("animation", index), channels });
    }
    Ok(clips)
}

/// The properties that earlier channels of an animation already animate.
#[derive(Default)]
struct Seen {
    properties: HashSet<(NodeId, Property)>,
    meshes: HashSet<usize>,
}

struct Reading<'a> {
    nodes: &'a [Node],
    meshes: &'a [Mesh],
    users: HashMap<usize, Vec<NodeId>>,
}

impl Reading<'_> {
    /// Reads a channel of the file. It yields no channel if it animates no node, or several channels if it animates
    /// the weights of a mesh that several nodes draw.
    fn channel(
        &self,
        item: &Item,
        samplers: &[Item],
        seen: &mut Seen,
        channels: &mut Vec<Channel>,
    ) -> Result<()> {
        let sampler = item
            .index("sampler", samplers.len(), "sampler")?
            .ok_or_else(|| item.broken("\"sampler\" is missing"))?;
        let again = "another channel of the clip moves the same property; this one was left out";
        for (id, property) in self.target(item, seen, again)? {
            let node = &self.nodes[id.index()];
            let width = match property {
                Property::Translation | Property::Scale => 3,
                Property::Rotation => 4,
                Property::Weights => node.mesh.map_or(0, |mesh| self.meshes[mesh.index()].morph_count()),
            };
            if width == 0 {
                let name = &node.name;
                item.mend(format!("it moves morph weights, but node \"{name}\" has none; it was left out"));
                // The other nodes with this mesh have no morph weights either.
                break;
            }
            if node.matrix.is_some() {
                item.mend(format!("it moves node \"{}\", whose shear is lost by that", node.name));
            }
            if let Some(channel) = keys(item, &samplers[sampler], id, property, width)? {
                if seen.properties.insert((id, property)) {
                    channels.push(channel);
                } else {
                    item.mend(again);
                }
            }
        }
        Ok(())
    }

    /// Returns the node properties that a channel animates.
    fn target(&self, item: &Item, seen: &mut Seen, again: &str) -> Result<Vec<(NodeId, Property)>> {
        let target = item.child("target")?.ok_or_else(|| item.broken("\"target\" is missing"))?;
        if let Some(node) = target.index("node", self.nodes.len(), "node")? {
            let path = target.text("path")?.unwrap_or_default();
            let Some(property) = Property::from_path(path) else {
                item.mend(format!("its path \"{path}\" is unknown and it was left out"));
                return Ok(Vec::new());
            };
            return Ok(vec![(NodeId::from(node), property)]);
        }
        let Some(extension) = target.extension("KHR_animation_pointer") else { return Ok(Vec::new()) };
        let pointer = extension.text("pointer")?.unwrap_or_default();
        let pointed = Pointed::read(pointer);
        if let Some(Pointed::Mesh(mesh)) = pointed
            && !seen.meshes.insert(mesh)
        {
            item.mend(again);
            return Ok(Vec::new());
        }
        let moved = pointed.map_or_else(Vec::new, |p| p.moved(self.nodes.len(), &self.users));
        if moved.is_empty() {
            item.mend(format!(
                "it moves \"{pointer}\" (KHR_animation_pointer), which is kept but not played"
            ));
        }
        Ok(moved)
    }
}

fn keys(
    item: &Item,
    sampler: &Item,
    node: NodeId,
    property: Property,
    width: usize,
) -> Result<Option<Channel>> {
    let interpolation = match sampler.text("interpolation")? {
        None | Some("LINEAR") => Interpolation::Linear,
        Some("STEP") => Interpolation::Step,
        Some("CUBICSPLINE") => Interpolation::CubicSpline,
        Some(other) => {
            sampler.mend(format!("its interpolation \"{other}\" is unknown; LINEAR was used"));
            Interpolation::Linear
        }
    };
    let input = open(sampler, "input")?;
    let output = open(sampler, "output")?;
    let per_element = if property == Property::Weights { 1 } else { width };
    if input.width != 1 || input.component != Component::F32 {
        item.mend("its times are not floats; it was left out");
        return Ok(None);
    }
    if output.width != per_element || output.component == Component::U32 {
        item.mend("its values are of the wrong type; it was left out");
        return Ok(None);
    }
    let group = if interpolation == Interpolation::CubicSpline { 3 * width } else { width };
    let floats = output.count * output.width;
    let mut count = input.count;
    if floats != count * group {
        item.mend(format!("{count} times but {} values; the rest was ignored", floats / group));
        count = count.min(floats / group);
    }
    // glTF defines integer rotations and weights as normalised, but some exporters omit the flag.
    let fractions = matches!(property, Property::Rotation | Property::Weights) || output.normalized;
    let (times, values) = (input.floats()?, output.floats_as(fractions)?);
    let channel = Channel { node, property, interpolation, times: Vec::new(), values: Vec::new() };
    Ok(clean(item, channel, &times[..count], &values, width, group))
}

fn open<'c>(sampler: &Item<'c>, key: &str) -> Result<Accessor<'c>> {
    let count = sampler.ctx.table("accessors", limits::ACCESSORS)?.len();
    let index = sampler
        .index(key, count, "accessor")?
        .ok_or_else(|| sampler.broken(format!("\"{key}\" is missing")))?;
    Accessor::open(sampler.ctx, index)
}

/// Fills the channel with the keys that are finite and in order, and normalises rotations.
fn clean(
    item: &Item,
    mut channel: Channel,
    times: &[f32],
    values: &[f32],
    width: usize,
    group: usize,
) -> Option<Channel> {
    let (mut dropped, mut turned) = (0, 0);
    for (&time, key) in times.iter().zip(values.chunks_exact(group)) {
        let late = channel.times.last().is_none_or(|&last| time > last);
        if !(in_range(&[time]) && time >= 0.0 && late && in_range(key)) {
            dropped += 1;
            continue;
        }
        let start = channel.values.len();
        channel.times.push(time);
        channel.values.extend_from_slice(key);
        if channel.property == Property::Rotation {
            // For cubic splines, the value is stored between the two tangents.
            let at = start + (group - width) / 2;
            let value = &mut channel.values[at..at + 4];
            let length = value.iter().map(|v| f64::from(*v).powi(2)).sum::<f64>().sqrt();
            if length < 1e-6 {
                turned += 1;
                value.copy_from_slice(&[0.0, 0.0, 0.0, 1.0]);
            } else {
                turned += usize::from((length - 1.0).abs() > 0.02);
                // A quaternion of unit length up to rounding is not changed.
                if (length - 1.0).abs() > 5e-7 {
                    value.iter_mut().for_each(|v| *v = (f64::from(*v) / length) as f32);
                }
            }
        }
    }
    if dropped > 0 {
        item.mend(format!(
            "{dropped} keys are not finite, out of range or not in order of time and were dropped"
        ));
    }
    if turned > 0 {
        item.mend(format!("{turned} rotations were not unit quaternions and were normalised"));
    }
    if channel.times.is_empty() {
        item.mend("it has no keys and was left out");
        return None;
    }
    Some(channel)
}
