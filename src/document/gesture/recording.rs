//! Keys of a motion that a hand performs: the poses of joints and grips and the shape of the cage, sampled at the frames
//! of the motion.

use crate::anim::thin_channel;
use crate::asset::Property::{Rotation, Scale, Translation};
use crate::asset::{self, Interpolation};
use crate::base::math::{Quat, Trs, Vec3};
use crate::base::{GripId, NodeId};
use crate::document::clip_layer::blend_joint;
use crate::document::keys::exact;
use crate::document::{Channel, Document, Edit, KeyEdit, MAX_KEYS, Sampler, Slot, Target};
use crate::rig::{GripPose, Pose, Skeleton};

/// Duration for which [`Recording::new`] reserves memory, seconds.
const RESERVED: f64 = 20.0;
/// Maximum duration of a recording, seconds.
pub const LONGEST_RECORDING: f64 = 120.0;
/// Maximum error of a rotation due to the reduced number of keys, radians.
const TURNED: f64 = 0.5 * std::f64::consts::PI / 180.0;
/// Maximum error of a translation or scale, relative to the largest change of this value in the recording.
const MOVED: f64 = 0.005;
/// Time in which a joint passes between a clip and the recording, before and after the recording, seconds.
const FADE: f64 = 0.5;

/// What a character does while a hand holds it, in real time. Frames of the headset lie between the frames of the motion,
/// so poses are interpolated.
#[derive(Clone, Debug)]
pub struct Recording {
    start: f64,
    rate: f64,
    elapsed: f64,
    nodes: usize,
    grips: Vec<GripId>,
    /// Transforms of the nodes, then of the grips, at `elapsed`.
    now: Vec<Trs>,
    /// Whether the hand has changed each translation, rotation and scale.
    changed: Vec<[bool; 3]>,
    /// The transforms at the frames of the motion from `start` on, one frame after the other.
    frames: Vec<Trs>,
    cage: CageFrames,
}

/// The cage's offsets during a recording; empty unless a hand holds the cage.
#[derive(Clone, Debug)]
struct CageFrames {
    /// Offsets at the end of the recording.
    now: Vec<Vec3>,
    changed: bool,
    /// Offsets at the frames of the motion.
    frames: Vec<Vec3>,
}

/// Returns the transforms of a pose: those of its nodes, then those of its grips.
fn transforms(pose: &Pose) -> impl Iterator<Item = Trs> {
    let grip = |g: &GripPose| Trs { translation: g.translation, rotation: g.rotation, ..Trs::IDENTITY };
    pose.local.iter().copied().chain(pose.grips.iter().map(grip))
}

impl Recording {
    /// Begins a recording in a pose at the time `start`, seconds, for a motion with `rate` frames per second. `cage` has the
    /// offsets of the cage if a hand holds the cage; otherwise it is empty.
    pub fn new(start: f64, rate: u32, pose: &Pose, cage: &[Vec3]) -> Self {
        let rate = f64::from(rate.max(1));
        let most = (RESERVED * rate) as usize;
        let now: Vec<Trs> = transforms(pose).collect();
        let mut frames = Vec::with_capacity(most * now.len());
        frames.extend_from_slice(&now);
        let mut of_cage = Vec::with_capacity(most * cage.len());
        of_cage.extend_from_slice(cage);
        Self {
            start,
            rate,
            elapsed: 0.0,
            nodes: pose.local.len(),
            grips: pose.grips.iter().map(|g| g.id).collect(),
            changed: vec![[false; 3]; now.len()],
            now,
            frames,
            cage: CageFrames { now: cage.to_vec(), changed: false, frames: of_cage },
        }
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
        let tracks = self.now.len();
        let fits = |p: &Pose| p.local.len() == self.nodes && p.grips.len() == self.grips.len();
        if self.is_full() || seconds <= 0.0 || !fits(pose) || !beneath.is_none_or(fits) {
            return;
        }
        let change = |changed: &mut [bool; 3], now: &Trs, before: &Trs| {
            changed[0] |= now.translation != before.translation;
            changed[1] |= now.rotation != before.rotation;
            changed[2] |= now.scale != before.scale;
        };
        let now = self.changed.iter_mut().zip(transforms(pose));
        match beneath {
            Some(beneath) => {
                now.zip(transforms(beneath)).for_each(|((c, now), before)| change(c, &now, &before));
            }
            None => now.zip(&self.frames).for_each(|((c, now), before)| change(c, &now, before)),
        }
        let cage = &pose.rest.cage;
        let holds_cage = !self.cage.now.is_empty() && cage.len() == self.cage.now.len();
        let before = self.elapsed;
        self.elapsed += seconds;
        loop {
            let next = (self.frames.len() / tracks.max(1)) as f64 / self.rate;
            if next > self.elapsed || tracks == 0 {
                break;
            }
            let share = ((next - before) / seconds) as f32;
            self.frames.extend(self.now.iter().zip(transforms(pose)).map(|(before, mut between)| {
                blend_joint(before, &mut between, share);
                between
            }));
            let after = if holds_cage { cage } else { &self.cage.now };
            self.cage.frames.extend(self.cage.now.iter().zip(after).map(|(a, b)| a.lerp(*b, share)));
        }
        self.now.iter_mut().zip(transforms(pose)).for_each(|(now, new)| *now = new);
        if holds_cage {
            self.cage.changed |= self.cage.now != *cage;
            self.cage.now.copy_from_slice(cage);
        }
    }

    /// Returns the edit that replaces the keys of what the hand has moved by the recording, and the time of its last key,
    /// seconds. Keys before and after the recording stay. Returns `None` if the hand has moved nothing.
    ///
    /// Joints in `exact_joints` get a key at every frame, so that a pinned joint below them does not slide between keys.
    ///
    /// Keys replace clips for the whole time. With `around`, a joint that only clips move therefore gets keys of its motion
    /// before and after the recording, too. For half a second on both sides, these keys ease to the recording.
    pub fn keying(
        mut self,
        document: &Document,
        exact_joints: &[NodeId],
        around: Option<&Skeleton>,
    ) -> Option<(Edit, f64)> {
        let tracks = self.now.len().max(1);
        // The last pose belongs to the frame after the release.
        if (self.frames.len() / tracks) as f64 / self.rate < self.elapsed + 1.0 / self.rate {
            self.frames.extend_from_slice(&self.now);
            self.cage.frames.extend_from_slice(&self.cage.now);
        }
        let poses: Vec<&[Trs]> = self.frames.chunks_exact(tracks).collect();
        let times: Vec<f64> =
            (0..poses.len()).map(|frame| exact(self.start + frame as f64 / self.rate)).collect();
        let last = *times.last()?;
        let around = around.and_then(|skeleton| {
            let joints = self.changed[..self.nodes].iter().enumerate();
            let joints: Vec<usize> = joints.filter(|(_, c)| c.contains(&true)).map(|(i, _)| i).collect();
            Around::new(document, skeleton, joints, (&times, self.rate))
        });
        let slot = |target: Target, mut values: Vec<Vec<f32>>, thins: bool| {
            let old = document.motion().channel(&target);
            let mut times = &times;
            if let Some(around) = around.as_ref().filter(|_| old.is_none())
                && around.surround(&target, &mut values)
            {
                times = &around.times;
            }
            let channel = performed(old, target.clone(), (times, &values), thins);
            Slot { target, channel: Some(channel) }
        };
        let mut slots = Vec::new();
        for (track, changed) in self.changed.iter().enumerate() {
            let thins = !exact_joints.contains(&NodeId::from(track));
            let properties =
                [Translation, Rotation, Scale].into_iter().zip(changed).filter(|(_, changed)| **changed);
            for (property, _) in properties {
                let value = |pose: &&[Trs]| match property {
                    Rotation => pose[track].rotation.to_vec(),
                    Scale => pose[track].scale.to_vec(),
                    _ => pose[track].translation.to_vec(),
                };
                let target = match self.grips.get(track.wrapping_sub(self.nodes)) {
                    Some(grip) => Target::Grip { grip: *grip, property },
                    None => Target::node(NodeId::from(track), property),
                };
                let values: Vec<Vec<f32>> = poses.iter().map(value).collect();
                slots.push(slot(target, values, thins));
            }
        }
        if self.cage.changed {
            let vertices = self.cage.now.len();
            let values: Vec<Vec<f32>> = self
                .cage
                .frames
                .chunks_exact(vertices)
                .map(|frame| frame.iter().flat_map(Vec3::to_array).collect())
                .collect();
            slots.push(slot(Target::Cage(vertices as u32), values, true));
        }
        (!slots.is_empty()).then_some((Edit::Keys(KeyEdit::Channels(slots)), last))
    }
}

/// The motion of joints at the frames before, during and after a recording.
struct Around {
    /// Times of the frames, seconds.
    times: Vec<f64>,
    /// Numbers of the recording's first frame and of the frame after its last.
    recorded: [usize; 2],
    rate: f64,
    /// Nodes of the joints, ascending.
    joints: Vec<usize>,
    /// Transforms of these joints, one frame after the other.
    frames: Vec<Trs>,
}

impl Around {
    /// Samples the motion of `joints` from the first frame to the end of the motion. A clip that repeats leads on after a
    /// recording beyond this end. `times` are those of the recording's frames. Returns `None` if no clip plays, or if a
    /// key for each of these values exceeds [`MAX_KEYS`].
    fn new(
        document: &Document,
        skeleton: &Skeleton,
        joints: Vec<usize>,
        (times, rate): (&[f64], f64),
    ) -> Option<Self> {
        let motion = document.motion();
        let playing = || motion.clips().iter().filter(|clip| clip.enabled && clip.weight > 0.0);
        let plays = playing().next().is_some();
        let first = (times[0] * rate).round() as usize;
        let recorded = [first, first + times.len()];
        let led = if playing().any(|clip| clip.looped) { (FADE * rate).ceil() as usize } else { 0 };
        let end = (motion.duration() * rate).round() as usize + 1;
        let frames = end.max(recorded[1] + led);
        if !plays || motion.keys_in_all() + 3 * joints.len() * frames > MAX_KEYS {
            return None;
        }
        let at = |frame: usize| match frame.checked_sub(first).and_then(|i| times.get(i)) {
            Some(time) => *time,
            None => exact(frame as f64 / rate),
        };
        let times: Vec<f64> = (0..frames).map(at).collect();
        let mut sampler = Sampler::default();
        let mut transforms = Vec::with_capacity(frames * joints.len());
        for time in &times {
            let pose = sampler.sample(document, skeleton, *time);
            transforms.extend(joints.iter().map(|joint| pose.local[*joint]));
        }
        Some(Self { times, recorded, rate, joints, frames: transforms })
    }

    /// Adds the values of the motion before and after the recording to `values`, which are those of the recording. Returns
    /// whether it has done so: the values of a target that no clip moves stay.
    fn surround(&self, target: &Target, values: &mut Vec<Vec<f32>>) -> bool {
        let Target::Node { node, property } = *target else { return false };
        let Ok(joint) = self.joints.binary_search(&node.index()) else { return false };
        let value = |local: &Trs| match property {
            Rotation => local.rotation.to_vec(),
            Scale => local.scale.to_vec(),
            _ => local.translation.to_vec(),
        };
        let motion: Vec<&Trs> = self.frames.iter().skip(joint).step_by(self.joints.len()).collect();
        if motion.windows(2).all(|pair| value(pair[0]) == value(pair[1])) {
            return false;
        }
        let [first, end] = self.recorded;
        // The difference between recording and motion is in the joint's parent space, as rotations add up there.
        let eased = |frame: usize, edge: usize, recorded: &[f32]| {
            let away = frame.abs_diff(edge) as f64 / self.rate;
            let left = (1.0 - away / FADE).max(0.0);
            let share = (left * left * (3.0 - 2.0 * left)) as f32;
            let [now, there] = [frame, edge].map(|f| value(motion[f]));
            if property == Rotation {
                let [now, there, recorded] = [&now[..], &there[..], recorded].map(unit);
                let away = recorded * there.inverse();
                let away = if away.w < 0.0 { -away } else { away };
                return (Quat::IDENTITY.slerp(away, share) * now).normalize().to_array().to_vec();
            }
            let sum = now.iter().zip(there.iter().zip(recorded));
            sum.map(|(now, (there, recorded))| now + (recorded - there) * share).collect()
        };
        let after: Vec<Vec<f32>> =
            (end..self.times.len()).map(|f| eased(f, end - 1, &values[values.len() - 1])).collect();
        let before: Vec<Vec<f32>> = (0..first).map(|f| eased(f, first, &values[0])).collect();
        values.splice(0..0, before);
        values.extend(after);
        true
    }
}

/// The rotation of four floats.
fn unit(floats: &[f32]) -> Quat {
    Quat::from_array([floats[0], floats[1], floats[2], floats[3]]).normalize()
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
    let thins = thins && channel.interpolation == Interpolation::Linear;
    let kept = if thins { new_keys(&channel, times, values) } else { times.to_vec() };
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

/// Returns the times of the keys that a LINEAR channel needs.
fn new_keys(channel: &Channel, times: &[f64], values: &[Vec<f32>]) -> Vec<f64> {
    let property = if channel.target.rotates() { Rotation } else { Translation };
    let clip = asset::Channel {
        node: NodeId::from(0),
        property,
        interpolation: Interpolation::Linear,
        times: times.iter().map(|t| *t as f32).collect(),
        values: values.concat(),
    };
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
    thin.times.iter().map(|t| f64::from(*t)).collect()
}
