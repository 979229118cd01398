//! A document's motion as others show it: node channels as a clip, and the times at which shapes are worth telling.

use super::{Channel, Document, Target};
use crate::anim::clip_from_poses;
use crate::asset::{Clip, Interpolation, Property};
use crate::base::Result;
use crate::rig::Skeleton;
use crate::surface::Sculpt;

/// Shapes told at most: each costs an evaluation and a set of morph targets.
const MAX_SHAPES: usize = 240;
/// Frames sampled at most where clips play below strokes.
const MAX_FRAMES: usize = 36_000;

/// Values that are no unit quaternions, beyond rounding, become some.
fn unit(channel: &mut crate::asset::Channel) {
    let spline = channel.interpolation == Interpolation::CubicSpline;
    let (stride, at) = if spline { (12, 4) } else { (4, 0) };
    for key in channel.values.chunks_exact_mut(stride) {
        let value = &mut key[at..at + 4];
        let length = value.iter().map(|v| f64::from(*v).powi(2)).sum::<f64>().sqrt();
        if (length - 1.0).abs() > 5e-7 {
            value.iter_mut().for_each(|v| *v = (f64::from(*v) / length) as f32);
        }
    }
}

/// Whether every key is the node's value at rest.
fn rests(channel: &crate::asset::Channel, skeleton: &Skeleton) -> bool {
    let Some(node) = skeleton.nodes.get(channel.node.index()) else { return false };
    let rest: &[f32] = match channel.property {
        Property::Translation => &node.rest.translation,
        Property::Rotation => &node.rest.rotation,
        Property::Scale => &node.rest.scale,
        Property::Weights => &node.weights,
    };
    channel.interpolation != Interpolation::CubicSpline
        && channel.values.chunks(rest.len().max(1)).all(|v| v == rest)
}

impl Document {
    /// The frame times of the whole motion, seconds: 0 and on at the document's rate, to its end.
    pub fn frame_times(&self, skeleton: &Skeleton) -> Vec<f64> {
        let rate = f64::from(self.motion.rate());
        let last = (self.motion.duration(skeleton) * rate - 1e-6).ceil().max(0.0) as usize;
        (0..=last.min(MAX_FRAMES - 1)).map(|f| f64::from((f as f64 / rate) as f32)).collect()
    }

    /// Times at which to tell shapes, rising, at least one, at most 240: where there are keys, or every frame where
    /// clips play; evenly some of them where there are more.
    pub fn shape_times(&self, skeleton: &Skeleton) -> Vec<f64> {
        let waves = self.sculpts.iter().any(Sculpt::moves);
        let plays = waves || self.motion.clips().iter().any(|c| c.enabled);
        let mut all = if plays { self.frame_times(skeleton) } else { self.motion.key_times() };
        // Keys of version 1 may lie closer than glTF's floats.
        all.dedup_by(|b, a| *a as f32 == *b as f32);
        if all.is_empty() {
            all.push(0.0);
        }
        let (count, last) = (all.len().min(MAX_SHAPES), all.len() - 1);
        (0..count).map(|i| all[if count < 2 { 0 } else { i * last / (count - 1) }]).collect()
    }

    /// How the nodes move: keyed channels to the bit; what clips below strokes move beside them, LINEAR from frame to
    /// frame. None where the document does not move; of no channels where only the surface does.
    ///
    /// # Errors
    /// A motion that is no motion of this skeleton.
    pub fn clip(&self, name: &str, skeleton: &Skeleton) -> Result<Option<Clip>> {
        let mut channels: Vec<_> = self.motion.channels().iter().filter_map(Channel::to_clip).collect();
        // Whole poses key what never leaves rest too, which says nothing.
        let whole = self.motion.as_poses(&self.pose).is_some();
        channels.retain(|c| !(whole && rests(c, skeleton)));
        channels.iter_mut().filter(|c| c.property == Property::Rotation).for_each(unit);
        if self.motion.clips().iter().any(|c| c.enabled) {
            let frames = self.frame_times(skeleton);
            let poses = frames.iter().map(|&t| (t as f32, self.state(skeleton, Some(t)).pose));
            let played = clip_from_poses(name, &poses.collect::<Vec<_>>(), skeleton)?;
            let keyed = |c: &crate::asset::Channel| {
                self.motion.channel(&Target::node(c.node, c.property)).is_some() || c.times.len() < 2
            };
            channels.extend(played.channels.into_iter().filter(|c| !keyed(c)));
            channels.sort_by_key(|c| (c.node, c.property));
        }
        Ok(self.moves().then(|| Clip { name: name.to_owned(), channels }))
    }
}
