//! Animations. A flaw of an animation leaves the rest shape known, so it never refuses the file: the channel is
//! mended or left out, and the problem told. Data beyond its buffer is an error here as everywhere.

use super::accessor::{Accessor, Component};
use super::context::{Context, in_range};
use super::item::Item;
use crate::asset::{Channel, Clip, Interpolation, Mesh, Node, Property, limits};
use crate::base::{NodeId, Result};
use std::collections::HashSet;

/// All animations of the file.
pub(super) fn read(ctx: &Context, nodes: &[Node], meshes: &[Mesh]) -> Result<Vec<Clip>> {
    let mut clips = Vec::new();
    for (index, item) in ctx.items("animations", "animation")?.iter().enumerate() {
        let samplers = item.children("samplers", "sampler")?;
        let mut seen = HashSet::new();
        let mut channels = Vec::new();
        for channel_item in item.children("channels", "channel")? {
            if let Some(channel) = channel(&channel_item, &samplers, nodes, meshes)? {
                if seen.insert((channel.node, channel.property as u8)) {
                    channels.push(channel);
                } else {
                    channel_item
                        .mend("another channel of the clip moves the same property; this one was left out");
                }
            }
        }
        clips.push(Clip { name: item.name("animation", index), channels });
    }
    Ok(clips)
}

fn channel(item: &Item, samplers: &[Item], nodes: &[Node], meshes: &[Mesh]) -> Result<Option<Channel>> {
    let target = item.child("target")?.ok_or_else(|| item.broken("\"target\" is missing"))?;
    let sampler = item
        .index("sampler", samplers.len(), "sampler")?
        .ok_or_else(|| item.broken("\"sampler\" is missing"))?;
    let Some(node) = target.index("node", nodes.len(), "node")? else {
        if target.extension("KHR_animation_pointer").is_some() {
            item.mend("it moves something else than a node (KHR_animation_pointer) and was left out");
        }
        return Ok(None);
    };
    let property = match target.text("path")? {
        Some("translation") => Property::Translation,
        Some("rotation") => Property::Rotation,
        Some("scale") => Property::Scale,
        Some("weights") => Property::Weights,
        other => {
            item.mend(format!("its path \"{}\" is unknown and it was left out", other.unwrap_or_default()));
            return Ok(None);
        }
    };
    let width = match property {
        Property::Translation | Property::Scale => 3,
        Property::Rotation => 4,
        Property::Weights => nodes[node].mesh.map_or(0, |mesh| meshes[mesh.index()].morph_count()),
    };
    if width == 0 {
        item.mend(format!(
            "it moves morph weights, but node \"{}\" has none; it was left out",
            nodes[node].name
        ));
        return Ok(None);
    }
    if nodes[node].matrix.is_some() {
        item.mend(format!("it moves node \"{}\", whose shear is lost by that", nodes[node].name));
    }
    keys(item, &samplers[sampler], NodeId::from(node), property, width)
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
    // Integer rotations and weights are fractions by definition; some exporters forget the flag.
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

/// Fills the channel with the keys that are in order and finite, rotations normalised.
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
            // The value lies between the tangents of a cubic spline.
            let at = start + (group - width) / 2;
            let value = &mut channel.values[at..at + 4];
            let length = value.iter().map(|v| f64::from(*v).powi(2)).sum::<f64>().sqrt();
            if length < 1e-6 {
                turned += 1;
                value.copy_from_slice(&[0.0, 0.0, 0.0, 1.0]);
            } else {
                turned += usize::from((length - 1.0).abs() > 0.02);
                // What is a unit quaternion to rounding keeps its bits.
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
