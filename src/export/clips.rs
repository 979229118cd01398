//! Writes the animations. Sinew's own animation comes first, because viewers play the first animation of a file. The
//! animations of the original file follow and look unchanged.

use super::Builder;
use super::posed::{Clips, Job};
use super::targets::{Added, drop_unused_samplers, widened, write_channels, write_sampler};
use crate::asset::{Channel, Clip, Interpolation, Pointed, Problem, Property, mesh_users, pointer};
use crate::base::NodeId;
use serde_json::{Value, json};
use std::collections::{BTreeSet, HashMap};

const POINTER: &str = "KHR_animation_pointer";
const PROPERTIES: [Property; 4] =
    [Property::Translation, Property::Rotation, Property::Scale, Property::Weights];

/// Removes the file's animations if the options say so. Converts animation pointers (KHR_animation_pointer) to node
/// properties into ordinary targets, which every viewer plays. Call it before editing nodes.
pub(super) fn prepare(job: &Job, builder: &mut Builder) {
    if job.options.clips == Clips::None
        && let Some(animations) = builder.json.as_object_mut().and_then(|o| o.shift_remove("animations"))
    {
        let samplers = animations.as_array().into_iter().flatten().filter_map(|a| a["samplers"].as_array());
        let accessors = samplers.flatten().flat_map(|s| [&s["input"], &s["output"]]);
        builder.orphans.extend(accessors.filter_map(Value::as_u64).map(|a| a as usize));
    }
    let users = mesh_users(builder.json.get("nodes"));
    for (index, clip) in job.clips().enumerate() {
        plain_targets(job, builder, (index, clip), &users);
    }
    let animations = builder.json.get("animations").and_then(Value::as_array).into_iter().flatten();
    let mut channels = animations.filter_map(|a| a["channels"].as_array()).flatten();
    if !channels.any(|c| pointer(c).is_some()) {
        builder.drop_extension(POINTER);
    }
}

/// Converts the animation pointers of one animation to node channels, if the loader could resolve them.
fn plain_targets(
    job: &Job,
    builder: &mut Builder,
    (index, clip): (usize, &Clip),
    users: &HashMap<usize, Vec<NodeId>>,
) {
    let at = format!("/animations/{index}/channels");
    let Some(list) = builder.json.pointer(&at).and_then(Value::as_array).cloned() else { return };
    if !list.iter().any(|c| pointer(c).is_some()) {
        return;
    }
    let mut seen = BTreeSet::new();
    let mut out = Vec::new();
    for channel in &list {
        let moved = pointer(channel).and_then(Pointed::read).map(|p| p.moved(job.asset.nodes.len(), users));
        seen.extend(plain_target(channel));
        let played: Vec<&Channel> = moved
            .into_iter()
            .flatten()
            .filter_map(|moved| clip.channels.iter().find(|c| (c.node, c.property) == moved))
            .filter(|c| seen.insert((c.node, c.property)))
            .collect();
        if played.is_empty() {
            out.push(channel.clone());
        }
        for played in played {
            let sampler = write_sampler(builder, index, played);
            out.push(json!({ "sampler": sampler, "target": target(played.node, played.property) }));
        }
    }
    builder.json["animations"][index]["channels"] = out.into();
    drop_unused_samplers(builder, index);
}

/// Returns the node and property that a channel of the file animates, if it names a node.
fn plain_target(channel: &Value) -> Option<(NodeId, Property)> {
    let node = channel["target"]["node"].as_u64()?;
    let property = Property::from_path(channel["target"]["path"].as_str()?)?;
    Some((NodeId::from(node as usize), property))
}

pub(super) fn target(node: NodeId, property: Property) -> Value {
    json!({ "node": node.0, "path": property.path() })
}

/// Returns the value of a node's property in the form in which an animation stores it. The value is that at the first
/// key if `posed` is set, otherwise that of the file. Returns `None` for weights of a node without morph targets.
fn value(job: &Job, added: &[Added], node: NodeId, property: Property, posed: bool) -> Option<Vec<f32>> {
    let (file, pose) = (&job.asset.nodes[node.index()], job.keys[0].pose);
    let local = if posed { pose.local[node.index()] } else { file.rest };
    let out = match property {
        Property::Translation => local.translation.to_vec(),
        Property::Rotation => local.rotation().to_array().to_vec(),
        Property::Scale => local.scale.to_vec(),
        Property::Weights => {
            let own = if posed { &pose.weights[node.index()] } else { &file.weights };
            let mut out = own.clone();
            for added in added.iter().filter(|a| a.node == node) {
                out.extend(added.first().iter().map(|w| if posed { *w } else { 0.0 }));
            }
            out
        }
    };
    (!out.is_empty()).then_some(out)
}

/// Returns a channel with one key.
fn constant(node: NodeId, property: Property, values: Vec<f32>) -> Channel {
    Channel { node, property, interpolation: Interpolation::Step, times: vec![0.0], values }
}

/// Returns the node properties that differ from the file because of the first key's pose or added targets.
fn changed(job: &Job, added: &[Added]) -> BTreeSet<(NodeId, Property)> {
    let mut out = BTreeSet::new();
    for node in (0..job.asset.nodes.len()).map(NodeId::from) {
        for property in PROPERTIES {
            let of = |posed| value(job, added, node, property, posed);
            let grows = property == Property::Weights && added.iter().any(|a| a.node == node);
            if grows || of(true) != of(false) {
                out.insert((node, property));
            }
        }
    }
    out
}

/// Returns whether an animation may animate this property. A node with a matrix cannot be animated.
fn movable(builder: &Builder, node: NodeId, property: Property) -> bool {
    property == Property::Weights || builder.json["nodes"][node.index()].get("matrix").is_none()
}

/// Preserves the look of the file's own animations. Weight channels get zeros for the added targets. If the first
/// key's pose changes a property that a clip does not animate, the clip gets a key with the file's value.
pub(super) fn keep_existing(job: &Job, builder: &mut Builder, added: &[Added]) {
    if builder.len("animations") == 0 {
        return;
    }
    let changed = changed(job, added);
    for index in 0..builder.len("animations") {
        let clip = job.clips().nth(index);
        for &(node, property) in &changed {
            let known =
                clip.and_then(|c| c.channels.iter().find(|c| (c.node, c.property) == (node, property)));
            let channel = match known {
                Some(own) => {
                    let count: usize = added.iter().filter(|a| a.node == node).map(|a| a.count).sum();
                    if property != Property::Weights || count == 0 {
                        continue;
                    }
                    widened(own, |_| vec![0.0; count])
                }
                None if movable(builder, node, property) => {
                    let Some(values) = value(job, added, node, property, false) else { continue };
                    constant(node, property, values)
                }
                None => continue,
            };
            let sampler = write_sampler(builder, index, &channel);
            let channels = &mut builder.json["animations"][index]["channels"];
            if !channels.is_array() {
                *channels = json!([]);
            }
            let Some(channels) = channels.as_array_mut() else { continue };
            match channels.iter_mut().find(|c| plain_target(c) == Some((node, property))) {
                Some(channel) => channel["sampler"] = sampler.into(),
                None => channels.push(json!({ "sampler": sampler, "target": target(node, property) })),
            }
        }
        drop_unused_samplers(builder, index);
    }
}

/// Adds constant channels to `own`, the channels of Sinew's animation, so that animations played before do not affect
/// its look. They cover each property that the file's animations animate or that the pose changes, except properties
/// that `own` animates already. Adds nothing if the file has no animations.
pub(super) fn hold(job: &Job, builder: &Builder, added: &[Added], own: &mut Vec<Channel>) {
    if builder.len("animations") == 0 {
        return;
    }
    let mut wanted: BTreeSet<(NodeId, Property)> =
        job.clips().flat_map(|c| &c.channels).map(|c| (c.node, c.property)).collect();
    wanted.extend(changed(job, added));
    for channel in own.iter() {
        wanted.remove(&(channel.node, channel.property));
    }
    for (node, property) in wanted.into_iter().filter(|&(n, p)| movable(builder, n, p)) {
        own.extend(value(job, added, node, property, true).map(|values| constant(node, property, values)));
    }
    own.sort_by_key(|c| (c.node, c.property));
}

/// Writes Sinew's animation first and shifts references to the file's own. Returns its index; `None` if not written.
pub(super) fn write_first(
    builder: &mut Builder,
    name: &str,
    channels: &[Channel],
    problems: &mut Vec<Problem>,
) -> Option<usize> {
    if channels.is_empty() {
        return None;
    }
    write_channels(builder, name, channels);
    if let Some(animations) = builder.json["animations"].as_array_mut()
        && animations.len() > 1
    {
        animations.rotate_right(1);
        if !follow(&mut builder.json) {
            problems.push(Problem {
                at: "animations".into(),
                text: "an extension chooses animations by numbers that are computed; Sinew's own is now the first, \
                       and the file's come one later"
                    .into(),
            });
        }
    }
    Some(0)
}

/// Increments all references to the file's animations: JSON pointers in extensions and extras, and indices in
/// KHR_interactivity. Returns false if a reference could not be updated.
fn follow(json: &mut Value) -> bool {
    let mut all = true;
    references(json, false, &mut all);
    for graph in list(json.pointer_mut("/extensions/KHR_interactivity/graphs")) {
        let operations: Vec<bool> = list(graph.get_mut("declarations"))
            .map(|d| d["op"].as_str().is_some_and(|o| o.starts_with("animation/")))
            .collect();
        for node in list(graph.get_mut("nodes")) {
            let declaration = node["declaration"].as_u64().unwrap_or(u64::MAX) as usize;
            if !operations.get(declaration).is_some_and(|o| *o) {
                continue;
            }
            match node.pointer_mut("/values/animation/value/0") {
                Some(number) => match number.as_u64() {
                    Some(index) => *number = (index + 1).into(),
                    None => all = false,
                },
                None => all = false,
            }
        }
    }
    all
}

fn list(value: Option<&mut Value>) -> impl Iterator<Item = &mut Value> {
    value.and_then(Value::as_array_mut).into_iter().flatten()
}

/// Increments every `/animations/N...` inside an extension or extras.
fn references(value: &mut Value, inside: bool, all: &mut bool) {
    match value {
        Value::String(text) if inside => {
            let Some(rest) = text.strip_prefix("/animations/") else { return };
            let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
            match rest[..digits].parse::<u32>() {
                Ok(index) => *text = format!("/animations/{}{}", u64::from(index) + 1, &rest[digits..]),
                // The pointer is a template whose animation index is computed at run time.
                Err(_) => *all = false,
            }
        }
        Value::Array(array) => array.iter_mut().for_each(|v| references(v, inside, all)),
        Value::Object(object) => {
            for (key, value) in object {
                if !key.starts_with("SINEW_") {
                    references(value, inside || key == "extensions" || key == "extras", all);
                }
            }
        }
        _ => {}
    }
}

impl Job<'_> {
    /// Returns the file's clips in the order of its animations. For an asset made in memory, skips clips without
    /// channels, because the written file does not contain them.
    pub fn clips(&self) -> impl Iterator<Item = &Clip> {
        let in_memory = !self.asset.source.json.is_object();
        let none = self.options.clips == Clips::None;
        self.asset.clips.iter().filter(move |c| !(none || in_memory && c.channels.is_empty()))
    }
}

#[cfg(test)]
mod tests;
