//! Keys of a motion that a hand performs: the poses of the joints, sampled at the frames of the motion.

use crate::anim::thin_channel;
use crate::asset::Interpolation;
use crate::asset::Property::{Rotation, Scale, Translation};
use crate::base::NodeId;
use crate::base::math::{Quat, Trs};
use crate::document::clip_layer::blend_joint;
use crate::document::keys::exact;
use crate::document::{Channel, Document, Edit, KeyEdit, Slot, Target};
use crate::rig::Pose;

/// Duration for which [`Recording::new`] reserves memory, seconds.
const RESERVED: f64 = 20.0;
/// Maximum duration of a recording, seconds.
pub const LONGEST_RECORDING: f64 = 120.0;
/// Maximum error of a rotation due to the reduced number of keys, radians.
const TURNED: f64 = 0.5 * std::f64::consts::PI / 180.0;
/// Maximum error of a translation or scale, relative to the largest change of this value in the recording.
const MOVED: f64 = 0.005;

/// The poses of all joints while a hand holds the character, in real time. Frames of the headset lie between the frames
/// of the motion, so poses are interpolated.
#[derive(Clone, Debug)]
pub struct Recording {
    start: f64,
    rate: f64,
    elapsed: f64,
    /// Pose at `elapsed`.
    now: Vec<Trs>,
    /// Whether the hand has changed each node's translation, rotation and scale.
    changed: Vec<[bool; 3]>,
    /// The poses at the frames of the motion from `start` on, one after the other.
    frames: Vec<Trs>,
}

impl Recording {
    /// Begins a recording in a pose at the time `start`, seconds, for a motion with `rate` frames per second.
    pub fn new(start: f64, rate: u32, pose: &Pose) -> Self {
        let rate = f64::from(rate.max(1));
        let mut frames = Vec::with_capacity((RESERVED * rate) as usize * pose.local.len());
        frames.extend_from_slice(&pose.local);
        let changed = vec![[false; 3]; pose.local.len()];
        Self { start, rate, elapsed: 0.0, now: pose.local.clone(), changed, frames }
    }

    /// Time of the motion at which the recording began, seconds.
    pub fn start(&self) -> f64 {
        self.start
    }

    /// Time of the motion that the recording has reached, seconds.
    pub fn time(&self) -> f64 {
        self.start + self.elapsed
    }

    /// Whether the recording has reached [`LONGEST_RECORDING`]. It then ignores further poses.
    pub fn is_full(&self) -> bool {
        self.elapsed >= LONGEST_RECORDING
    }

    /// Adds the pose `seconds` after the previous pose. `beneath` is the pose that the motion has at the same time without
    /// the hand; `None` if the motion stands still during the recording.
    pub fn add(&mut self, seconds: f64, pose: &Pose, beneath: Option<&Pose>) {
        let nodes = self.now.len();
        if self.is_full() || seconds <= 0.0 || pose.local.len() != nodes {
            return;
        }
        let beneath = beneath.map_or(&self.frames[..nodes], |pose| &pose.local);
        for ((changed, now), before) in self.changed.iter_mut().zip(&pose.local).zip(beneath) {
            changed[0] |= now.translation != before.translation;
            changed[1] |= now.rotation != before.rotation;
            changed[2] |= now.scale != before.scale;
        }
        let before = self.elapsed;
        self.elapsed += seconds;
        loop {
            let next = (self.frames.len() / self.now.len().max(1)) as f64 / self.rate;
            if next > self.elapsed || self.now.is_empty() {
                break;
            }
            let share = ((next - before) / seconds) as f32;
            self.frames.extend(self.now.iter().zip(&pose.local).map(|(before, after)| {
                let mut between = *after;
                blend_joint(before, &mut between, share);
                between
            }));
        }
        self.now.copy_from_slice(&pose.local);
    }

    /// Returns the edit that replaces the keys of the joints that the hand has moved by the recording, and the time of its
    /// last key, seconds. Keys before and after the recording stay. Returns `None` if the hand has moved no joint.
    ///
    /// Joints in `exact_joints` get a key at every frame, so that a pinned joint below them does not slide between keys.
    pub fn keying(mut self, document: &Document, exact_joints: &[NodeId]) -> Option<(Edit, f64)> {
        let nodes = self.now.len();
        // The last pose belongs to the frame after the release.
        if (self.frames.len() / nodes.max(1)) as f64 / self.rate < self.elapsed + 1.0 / self.rate {
            self.frames.extend_from_slice(&self.now);
        }
        let poses: Vec<&[Trs]> = self.frames.chunks_exact(nodes.max(1)).collect();
        let times: Vec<f64> =
            (0..poses.len()).map(|frame| exact(self.start + frame as f64 / self.rate)).collect();
        let mut slots = Vec::new();
        for (node, changed) in self.changed.iter().enumerate() {
            let thins = !exact_joints.contains(&NodeId::from(node));
            let properties =
                [Translation, Rotation, Scale].into_iter().zip(changed).filter(|(_, changed)| **changed);
            for (property, _) in properties {
                let value = |pose: &&[Trs]| match property {
                    Rotation => pose[node].rotation.to_vec(),
                    Scale => pose[node].scale.to_vec(),
                    _ => pose[node].translation.to_vec(),
                };
                let values: Vec<Vec<f32>> = poses.iter().map(value).collect();
                let target = Target::node(NodeId::from(node), property);
                let channel =
                    performed(document.motion().channel(&target), target.clone(), (&times, &values), thins);
                slots.push(Slot { target, channel: Some(channel) });
            }
        }
        let last = *times.last()?;
        (!slots.is_empty()).then_some((Edit::Keys(KeyEdit::Channels(slots)), last))
    }
}

/// Returns a copy of a channel in which `values` at `times` replace the keys from the first to the last time. A channel
/// with STEP or CUBICSPLINE interpolation gets all values; a LINEAR channel that `thins` as few as the error allows.
fn performed(
    old: Option<&Channel>,
    target: Target,
    (times, values): (&[f64], &[Vec<f32>]),
    thins: bool,
) -> Channel {
    let mut channel = old.cloned().unwrap_or_else(|| Channel::empty(target));
    let (first, last) = (times[0], times[times.len() - 1]);
    // The curve before the recording keeps its shape, so the first key is set while the other keys are still there.
    channel.set_key(first, &values[0]);
    for key in (0..channel.times.len()).rev() {
        if channel.times[key] > first && channel.times[key] < last {
            channel.remove_key(key);
        }
    }
    let kept = match (channel.interpolation, new_keys(&channel, times, values)) {
        (Interpolation::Linear, Some(kept)) if thins => kept,
        _ => times.to_vec(),
    };
    for (time, value) in times.iter().zip(values).skip(1) {
        if *time == last || kept.binary_search_by(|t| t.total_cmp(time)).is_ok() {
            channel.set_key(*time, value);
        }
    }
    if channel.interpolation == Interpolation::CubicSpline {
        channel.smooth_keys(first, last);
    }
    channel
}

/// Returns the times of the keys that a LINEAR channel needs; `None` if the target is not a node.
fn new_keys(channel: &Channel, times: &[f64], values: &[Vec<f32>]) -> Option<Vec<f64>> {
    let whole = Channel {
        interpolation: Interpolation::Linear,
        times: times.to_vec(),
        values: values.concat(),
        ..channel.clone()
    };
    let clip = whole.to_clip()?;
    let quat = |v: &[f32]| Quat::from_array([v[0], v[1], v[2], v[3]]).as_dquat().normalize();
    let apart =
        |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| f64::from(a - b).powi(2)).sum::<f64>().sqrt();
    let thin = if channel.target.rotates() {
        thin_channel(&clip, TURNED, |a, b| {
            let (a, b) = (quat(a), quat(b));
            a.angle_between(if a.dot(b) < 0.0 { -b } else { b })
        })
    } else {
        let most = values.iter().map(|v| apart(v, &values[0])).fold(0.0, f64::max);
        thin_channel(&clip, MOVED * most, apart)
    };
    Some(thin.times.iter().map(|t| f64::from(*t)).collect())
}
