//! What a document is at a time: the pose, and what shapes the flesh, all channels sampled.

use super::{DeformerSettings, Document, Sampler, Target};
use crate::deform::sculpt::SculptState;
use crate::rig::{Pose, Skeleton};
use crate::surface::Sculpt;
use serde_json::Value;
use std::borrow::Cow;

/// A document at a time: all that a deformer needs of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    /// Strokes and keys applied.
    pub pose: Pose,
    /// The sculpt layers that take part.
    pub sculpts: Vec<SculptState>,
    /// Method and parameters, keyed settings in place.
    pub deformer: DeformerSettings,
}

impl Document {
    /// The document at a time, seconds; none for the pose being edited, which keys do not touch.
    ///
    /// In order: the pose below the strokes; the file's clips that play over it; the strokes; keyed nodes, whose keys
    /// are of the finished pose.
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

    /// Adds the states of the sculpt layers that take part, at a time as in [`Document::state`], with the time of
    /// waves, seconds. Does not allocate where they fit.
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

    /// Whether keys, clips or settings change anything over time.
    pub fn moves(&self) -> bool {
        !self.motion.is_still() || self.sculpts.iter().any(Sculpt::moves)
    }
}
