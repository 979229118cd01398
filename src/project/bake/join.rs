//! Joins baked frames into one glTF: animated nodes for the pose, and weighted sparse morph targets for the rest.
//! Frames are read on demand, and only their poses stay in memory.

use super::Bake;
use crate::anim::{clip_from_poses, sample, thin_channel};
use crate::asset::{Channel, Clip, Problem, Property};
use crate::base::math::{Aabb, Quat, Vec3};
use crate::base::{Error, Result};
use crate::export::{Clips, Export, Key, Options, Receipt, Surface, Surfaces, streamed, within_budget};
use crate::rig::Pose;
use crate::scene::Model;
use std::path::Path;

/// Default error budget, as a fraction of the character's size.
const USUAL: f64 = 1e-4;
/// Vertex error that the removal of node keys may cause: a fraction of the budget, or millimetres if there is no
/// budget.
const SHARE: f64 = 0.25;
const STILL_MM: f64 = 0.01;
/// Number of morph targets per mesh that most engines support.
const MANY: usize = 256;

/// Options of joining frames.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Joining {
    /// First and last frame; `None` for all baked frames.
    pub frames: Option<[u32; 2]>,
    /// Maximum vertex error, millimetres; 0 for a morph target per frame; `None` for 1e-4 of the character's size.
    pub budget_mm: Option<f64>,
    /// Whether to limit the file to 4 influences per vertex.
    pub compatible: bool,
    /// What to do with the animations of the character's file.
    pub clips: Clips,
}

/// The result of joining a bake.
#[derive(Clone, Debug)]
pub struct Joined {
    /// Error of the written file relative to the baked frames.
    pub receipt: Receipt,
    /// First and last frame.
    pub frames: [u32; 2],
    /// Error budget, millimetres; `None` if every frame has its own morph target.
    pub budget_mm: Option<f64>,
}

/// Baked frames of a folder, read on demand.
struct Frames<'a> {
    bake: &'a Bake,
    model: &'a Model,
    first: u32,
}

impl Surfaces for Frames<'_> {
    fn at(&self, key: usize) -> Result<Option<Surface<'_>>> {
        let frame = self.bake.frame(self.model, self.first + key as u32)?;
        Ok(Some(Surface { positions: frame.positions.into(), normals: frame.normals.into() }))
    }
}

/// Writes a folder's frames, or a range of frames, as a .glb that any viewer plays. All frames share a few morph
/// targets that keep the vertex error within the budget, or every frame has its own morph target.
///
/// # Errors
/// Frames are missing or damaged, the requested budget cannot be met, or [`streamed`] fails. The file at `out` then
/// stays unchanged.
pub fn join(bake: &Bake, model: &Model, joining: Joining, out: &Path) -> Result<Joined> {
    if joining.budget_mm.is_some_and(|b| !(b.is_finite() && b >= 0.0)) {
        return Err(Error::input(
            "the error budget is negative or not a number",
            "give millimetres, e.g. --budget-mm 0.1, or 0 for a morph target for every frame",
        ));
    }
    let there = bake.frames()?;
    let (Some(&first), Some(&last)) = (there.first(), there.last()) else {
        return Err(Error::input("there are no frames", "bake some first"));
    };
    let frames = joining.frames.unwrap_or([first, last]);
    let missing = (frames[0]..=frames[1]).find(|f| there.binary_search(f).is_err());
    if let Some(gap) = missing {
        return Err(Error::broken(bake.path(gap), "frame", "it is missing", "bake the whole range first"));
    }
    let start = bake.time(frames[0]);
    let mut poses: Vec<(f32, Pose)> = Vec::new();
    let mut size = 0.0;
    for number in frames[0]..=frames[1] {
        let frame = bake.frame(model, number)?;
        if poses.is_empty() {
            size = f64::from(Aabb::of(frame.positions.iter().copied()).diagonal()) * 1e3;
        }
        poses.push(((frame.time - start) as f32, frame.pose));
    }
    let budget_mm = Some(joining.budget_mm.unwrap_or(size * USUAL)).filter(|b| *b > 0.0);
    let clip_name = model.document.as_ref().map_or_else(|| "Sinew".into(), |d| d.name().to_owned());
    let within = budget_mm.map_or(STILL_MM, |b| b * SHARE) * 1e-3;
    let motion = fewer_keys(model, &clip_from_poses(&clip_name, &poses, model.skeleton())?, within);
    // Replace the baked poses by the poses of the thinned motion, so that the morph targets correct the error of the
    // thinning.
    for (time, pose) in &mut poses {
        sample(&motion, f64::from(*time), pose);
    }
    let keys: Vec<Key> =
        poses.iter().map(|(time_s, pose)| Key { time_s: *time_s, pose, shape: None }).collect();
    let mut options =
        Options { clip_name, compatible: joining.compatible, clips: joining.clips, ..Options::default() };
    options.motion = (keys.len() > 1).then_some(motion);
    let surfaces = Frames { bake, model, first: frames[0] };
    let made = |options: &Options| {
        let export = streamed(&model.asset, &model.bound.character, &keys, &surfaces, options)?;
        let receipt = export.measure(out, &keys, &surfaces)?;
        Ok((export, receipt))
    };
    let (export, mut receipt) = within_budget(&mut options, budget_mm, made)?;
    let worst = receipt.largest_mm();
    if let Some(budget) = budget_mm.filter(|b| worst > *b) {
        let missed = format!("{worst:.4} mm is the least that was reached of {budget:.4} mm");
        if joining.budget_mm.is_some() {
            return Err(Error::broken(out, "error budget", missed, "give a larger budget, or 0 for none"));
        }
        receipt.problems.push(Problem { at: "error budget".into(), text: missed });
    }
    receipt.problems.extend(many(&export));
    export.put(out)?;
    Ok(Joined { receipt, frames, budget_mm })
}

/// Returns a warning if the file has more morph targets than most engines support.
fn many(export: &Export) -> Option<Problem> {
    let text = || {
        format!(
            "{} are more than most engines take ({MANY}); join with a budget, e.g. --budget-mm 1, or a larger one",
            export.targets
        )
    };
    (export.targets > MANY).then(|| Problem { at: "morph targets".into(), text: text() })
}

/// Removes node keys from a clip such that no vertex moves by more than `within`, metres.
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
                // Use the chord of the angle, because a dot product loses precision at small angles.
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

/// Returns, per node, the distance to the furthest vertex that it or a joint below it influences, bind space, metres.
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
