//! The sampled state of a document at a time: pose, sculpt layers and deformer settings.

use super::{Channel, DeformerSettings, Document, Sampler, Target};
use crate::base::math::Vec3;
use crate::deform::sculpt::SculptState;
use crate::rig::{Pose, RestShift, Skeleton};
use crate::surface::Sculpt;
use serde_json::Value;
use std::borrow::Cow;

/// Everything that a deformer reads from a document, sampled at one time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    /// Pose with strokes and keys applied.
    pub pose: Pose,
    /// States of the active sculpt layers.
    pub sculpts: Vec<SculptState>,
    /// Method and parameters, with keyed settings evaluated.
    pub deformer: DeformerSettings,
}

impl Document {
    /// Samples the document at a time in seconds. `None` returns the pose being edited, without keys.
    ///
    /// Applies in order: the base pose, the file's clips, the strokes, and the keyed node channels. Keys store final
    /// poses, so they override everything before them.
    pub fn state(&self, skeleton: &Skeleton, time: Option<f64>) -> State {
        let mut sculpts = Vec::new();
        self.sculpt_states_into(time, time.unwrap_or(0.0), &mut sculpts);
        let deformer = self.settings_at(time).into_owned();
        let mut out = State { pose: Pose::default(), sculpts, deformer };
        let Some(time) = time else {
            out.pose = self.posed(skeleton);
            return out;
        };
        let mut sampler = Sampler::default();
        sampler.sample(self, skeleton, time);
        out.pose = sampler.into_pose();
        out
    }

    /// Returns the base pose with the local transforms that the file's clips give at a time. If it replaces the base pose,
    /// strokes on it give the pose of clips and strokes, and the motion stays the same. `None` if no clip plays.
    pub fn base_under_clips(&self, skeleton: &Skeleton, time: f64) -> Option<Pose> {
        let mut clips = self.motion.clips.iter().filter(|clip| clip.enabled).peekable();
        clips.peek()?;
        let (mut pose, mut below) = (self.pose.clone(), Pose::default());
        clips.for_each(|clip| clip.apply(skeleton, time, &mut pose, &mut below));
        pose.weights.clone_from(&self.pose.weights);
        Some(pose)
    }

    /// Appends the states of the active sculpt layers. `time` is as in [`Document::state`]; `seconds` is the time of
    /// animated waves. Does not allocate if `out` has enough capacity.
    pub fn sculpt_states_into(&self, time: Option<f64>, seconds: f64, out: &mut Vec<SculptState>) {
        let first = out.len();
        out.extend(self.sculpts.iter().filter_map(|s| s.state(seconds)));
        let Some(time) = time else { return };
        for channel in &self.motion.channels {
            let (Target::SculptAmplitude(id) | Target::SculptStiffness(id)) = &channel.target else {
                continue;
            };
            let Some(sculpt) = out[first..].iter_mut().find(|s| s.id == *id) else { continue };
            let value = match channel.target {
                Target::SculptAmplitude(_) => &mut sculpt.amplitude,
                _ => &mut sculpt.stiffness,
            };
            channel.curve().evaluate(time, std::slice::from_mut(value));
        }
    }

    /// Writes the rest shape of the cage at a time; without a time, that of the cage's own offsets. Does not allocate after
    /// the first call.
    pub fn rest_into(&self, skeleton: &Skeleton, time: Option<f64>, out: &mut RestShift) {
        let Some(cage) = self.cage() else {
            out.clear();
            return;
        };
        out.cage.clear();
        out.cage.extend(cage.offsets.iter().map(|v| Vec3::from(*v)));
        if let Some((time, channel)) = time.zip(self.cage_channel()) {
            channel.curve().evaluate(time, bytemuck::cast_slice_mut(&mut out.cage));
        }
        cage.follow(skeleton, out);
    }

    /// The keys of the cage.
    pub fn cage_channel(&self) -> Option<&Channel> {
        let vertices = self.cage()?.vertices() as u32;
        self.motion.channel(&Target::Cage(vertices))
    }

    /// Whether keys of the cage change the rest shape over time.
    pub(super) fn cage_moves(&self) -> bool {
        self.cage_channel().is_some()
    }

    fn settings_at(&self, time: Option<f64>) -> Cow<'_, DeformerSettings> {
        let mut out = Cow::Borrowed(&self.deformer);
        let Some(time) = time else { return out };
        for channel in &self.motion.channels {
            let Target::Setting { method, name } = &channel.target else { continue };
            if *method == self.deformer.method {
                let mut value = [0.0];
                channel.curve().evaluate(time, &mut value);
                out.to_mut().parameters.insert(name.clone(), Value::from(f64::from(value[0])));
            }
        }
        out
    }

    /// Returns whether keys, clips or animated sculpt layers change anything over time.
    pub fn moves(&self) -> bool {
        !self.motion.is_still() || self.sculpts.iter().any(Sculpt::moves)
    }
}
