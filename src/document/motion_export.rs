//! A document's motion for export: node channels as a clip, and the times at which to export the shape of the
//! surface as morph targets.

use super::{Channel, Document, Target};
use crate::anim::clip_from_poses;
use crate::asset::{Clip, Interpolation, Property};
use crate::base::Result;
use crate::rig::Skeleton;
use crate::surface::Sculpt;

/// Maximum number of exported shapes; each costs an evaluation and a set of morph targets.
const MAX_SHAPES: usize = 240;
/// Maximum number of frames sampled while clips play below strokes.
const MAX_FRAMES: usize = 36_000;

/// Normalises the quaternions of a rotation channel, unless they differ from unit length only by rounding.
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

/// Returns whether every key equals the node's rest value.
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
    /// Returns the frame times of the whole motion, seconds, from 0 to its end.
    pub fn frame_times(&self) -> Vec<f64> {
        let rate = f64::from(self.motion.rate());
        let last = (self.motion.duration() * rate - 1e-6).ceil().max(0.0) as usize;
        (0..=last.min(MAX_FRAMES - 1)).map(|f| f64::from((f as f64 / rate) as f32)).collect()
    }

    /// Returns the times, in seconds and increasing, at which surface shapes are exported. There are 1 to 240 of them:
    /// the key times, or all frames if clips or waves play, or if keys of the cage play and `cage_frames` is set. A longer
    /// list is subsampled evenly.
    pub fn shape_times(&self, cage_frames: bool) -> Vec<f64> {
        let waves = self.sculpts.iter().any(Sculpt::moves);
        let cage = cage_frames && self.cage_moves();
        let plays = waves || cage || self.motion.clips().iter().any(|c| c.enabled);
        let mut all = if plays { self.frame_times() } else { self.motion.key_times() };
        // Keys of version 1 may be closer together than `f32` times can distinguish.
        all.dedup_by(|b, a| *a as f32 == *b as f32);
        if all.is_empty() {
            all.push(0.0);
        }
        let (count, last) = (all.len().min(MAX_SHAPES), all.len() - 1);
        (0..count).map(|i| all[if count < 2 { 0 } else { i * last / (count - 1) }]).collect()
    }

    /// Returns the motion of the nodes as a clip. Channels with keys are copied exactly. If clips play below strokes,
    /// the nodes that they move get one LINEAR key per frame; so do the translations of nodes if a cage changes the rest
    /// shape. Returns `None` for a still document, and a clip without
    /// channels if only the surface moves.
    ///
    /// # Errors
    /// The motion does not fit the skeleton.
    pub fn clip(&self, name: &str, skeleton: &Skeleton) -> Result<Option<Clip>> {
        let mut channels: Vec<_> = self.motion.channels().iter().filter_map(Channel::to_clip).collect();
        // Whole-pose keys also contain properties that never leave rest; skip these.
        let whole = self.motion.as_poses(&self.pose).is_some();
        channels.retain(|c| !(whole && rests(c, skeleton)));
        channels.iter_mut().filter(|c| c.property == Property::Rotation).for_each(unit);
        let shifted = self.cage_moves() || self.cage().is_some_and(|c| !c.is_at_rest());
        if shifted {
            channels.retain(|c| c.property != Property::Translation);
        }
        if shifted || self.motion.clips().iter().any(|c| c.enabled) {
            let frames = self.frame_times();
            let poses =
                frames.iter().map(|&t| (t as f32, self.state(skeleton, Some(t)).pose.flattened(skeleton)));
            let played = clip_from_poses(name, &poses.collect::<Vec<_>>(), skeleton)?;
            let keyed = |c: &crate::asset::Channel| {
                let own = self.motion.channel(&Target::node(c.node, c.property)).is_some();
                (own && !(shifted && c.property == Property::Translation)) || c.times.len() < 2
            };
            channels.extend(played.channels.into_iter().filter(|c| !keyed(c)));
            channels.sort_by_key(|c| (c.node, c.property));
        }
        Ok(self.moves().then(|| Clip { name: name.to_owned(), channels }))
    }
}
