//! Baked frames as one glTF: the pose by node animation, the rest by sparse morph targets with weight animation.

use super::{Bake, Frame};
use crate::anim::{clip_from_poses, sample, thin_channel};
use crate::asset::{Channel, Clip, Property};
use crate::base::math::{Quat, Vec3};
use crate::base::{Error, Result};
use crate::editor::Model;
use crate::export::{Clips, Key, Options, Receipt, Shape, posed};
use crate::rig::Pose;
use std::path::Path;

/// A budget that the written file misses is tightened so, at most so often.
const TIGHTER: f64 = 0.7;
const ATTEMPTS: u32 = 6;
/// Nodes' keys that move no vertex further are left out, millimetres, where no budget is given; of a budget this share.
const STILL_MM: f64 = 0.01;
const SHARE: f64 = 0.25;

/// What became of a bake.
#[derive(Clone, Debug)]
pub struct Joined {
    /// How the written file compares with every frame.
    pub receipt: Receipt,
    /// First and last frame.
    pub frames: [u32; 2],
}

/// Writes a folder's frames, or a range of them, as a .glb that any viewer plays. Without a budget every frame has a
/// morph target of its own; with one, few that all frames share, and no vertex is off by more, millimetres.
///
/// # Errors
/// Frames are missing or damaged; the budget cannot be kept; as [`posed`].
pub fn join(
    bake: &Bake,
    model: &Model,
    frames: Option<[u32; 2]>,
    budget_mm: Option<f64>,
    clips: Clips,
    out: &Path,
) -> Result<Joined> {
    if budget_mm.is_some_and(|b| !(b.is_finite() && b > 0.0)) {
        return Err(Error::input(
            "the error budget is not above 0",
            "give millimetres, e.g. --budget-mm 0.1",
        ));
    }
    let there = bake.frames()?;
    let (Some(&first), Some(&last)) = (there.first(), there.last()) else {
        return Err(Error::input("there are no frames", "bake some first"));
    };
    let frames = frames.unwrap_or([first, last]);
    let missing: Vec<u32> =
        (frames[0]..=frames[1]).filter(|f| there.binary_search(f).is_err()).take(4).collect();
    if let Some(gap) = missing.first() {
        return Err(Error::broken(bake.path(*gap), "frame", "it is missing", "bake the whole range first"));
    }
    let read: Vec<Frame> = (frames[0]..=frames[1]).map(|f| bake.frame(model, f)).collect::<Result<_>>()?;
    let start = read[0].time;
    let seconds = |f: &Frame| (f.time - start) as f32;
    let clip_name = model.document.as_ref().map_or_else(|| "Sinew".into(), |d| d.name().to_owned());
    let within = budget_mm.map_or(STILL_MM, |b| b * SHARE) * 1e-3;
    let poses: Vec<_> = read.iter().map(|f| (seconds(f), f.pose.clone())).collect();
    let motion = fewer_keys(model, &clip_from_poses(&clip_name, &poses, model.skeleton())?, within);
    // Targets take up what the nodes are off by.
    let sampled = |(time, pose): &(f32, Pose)| {
        let mut pose = pose.clone();
        sample(&motion, f64::from(*time), &mut pose);
        pose
    };
    let poses: Vec<Pose> = poses.iter().map(sampled).collect();
    let keys: Vec<Key> = read
        .iter()
        .zip(&poses)
        .map(|(f, pose)| Key {
            time_s: seconds(f),
            pose,
            shape: Some(Shape { positions: &f.positions, normals: &f.normals }),
        })
        .collect();
    let mut options = Options { clip_name, clips, budget_mm, ..Options::default() };
    options.motion = (keys.len() > 1).then_some(motion);
    for attempt in 1.. {
        let receipt = posed(&model.asset, &model.bound.character, &keys, &options)?.write(out, &keys)?;
        let worst = receipt.keys.iter().map(|k| k.largest_mm).fold(0.0, f64::max);
        if budget_mm.is_none_or(|b| worst <= b) {
            return Ok(Joined { receipt, frames });
        }
        if attempt == ATTEMPTS {
            let what = format!("{worst:.4} mm is the least that was reached");
            return Err(Error::broken(out, "error budget", what, "give a larger budget, or none"));
        }
        options.budget_mm = options.budget_mm.map(|b| b * TIGHTER);
    }
    Err(Error::input("no attempt was made", "report it as a bug"))
}

/// A clip without the keys of nodes without which no vertex below them moves further than `within`, metres.
fn fewer_keys(model: &Model, clip: &Clip, within: f64) -> Clip {
    let reach = reaches(model);
    let fewer = |channel: &Channel| {
        let reach = reach[channel.node.index()];
        let vector = |v: &[f32]| Vec3::from_slice(v);
        match channel.property {
            Property::Translation => {
                thin_channel(channel, within, |a, b| f64::from(vector(a).distance(vector(b))))
            }
            Property::Rotation => thin_channel(channel, within, |a, b| {
                let (a, b) = (Quat::from_slice(a).as_dquat(), Quat::from_slice(b).as_dquat());
                // Chord of the angle between them; dot products lose it.
                (a - b).length().min((a + b).length()) * 2.0 * reach
            }),
            Property::Scale => {
                thin_channel(channel, within, |a, b| f64::from(vector(a).distance(vector(b))) * reach)
            }
            Property::Weights => channel.clone(),
        }
    };
    Clip { name: clip.name.clone(), channels: clip.channels.iter().map(fewer).collect() }
}

/// Per node, how far from it the furthest vertex is that follows it or a joint below it, bind space, metres.
fn reaches(model: &Model) -> Vec<f64> {
    let (character, skeleton) = (&model.bound.character, model.skeleton());
    let rest = model.rest().world(skeleton);
    let mut out = vec![0.0f64; skeleton.nodes.len()];
    for (v, x) in character.control.positions.iter().enumerate() {
        for (joint, _) in character.control.influences.of(v) {
            let mut node = Some(skeleton.joints[usize::from(joint)].node);
            while let Some(id) = node {
                let at = Vec3::from(rest[id.index()].translation);
                out[id.index()] = out[id.index()].max(f64::from(at.distance(*x)));
                node = skeleton.nodes[id.index()].parent;
            }
        }
    }
    out
}
