//! What a document is at a time: the pose, and what shapes the flesh, all channels sampled.

use super::{Channel, DeformerSettings, Document, Sculpt, Target};
use crate::deform::sculpt::SculptState;
use crate::rig::{Pose, Skeleton};
use serde_json::Value;

/// A document at a time: all that a deformer needs of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    /// Strokes and keys applied.
    pub pose: Pose,
    /// The edits of the surface that take part.
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
        let sculpts = self.sculpt_states(time.unwrap_or(0.0));
        let mut out = State { pose: Pose::default(), sculpts, deformer: self.deformer.clone() };
        let Some(time) = time else {
            out.pose = self.posed(skeleton);
            return out;
        };
        let mut below = self.pose.clone();
        self.motion.clips.iter().for_each(|clip| clip.apply(skeleton, time, &mut below));
        out.pose = self.strokes.iter().fold(below, |pose, layer| layer.applied(skeleton, &pose));
        for channel in &self.motion.channels {
            self.set(channel, time, &mut out);
        }
        out
    }

    fn set(&self, channel: &Channel, time: f64, out: &mut State) {
        match &channel.target {
            target @ Target::Node { .. } => {
                if let Some(value) = target.of_pose_mut(&mut out.pose) {
                    channel.curve().evaluate(time, value);
                }
            }
            Target::SculptAmplitude(id) | Target::SculptStiffness(id) => {
                let Some(sculpt) = out.sculpts.iter_mut().find(|s| s.id == *id) else { return };
                let value = match channel.target {
                    Target::SculptAmplitude(_) => &mut sculpt.amplitude,
                    _ => &mut sculpt.stiffness,
                };
                channel.curve().evaluate(time, std::slice::from_mut(value));
            }
            Target::Setting { method, name } => {
                if *method == self.deformer.method {
                    let mut value = [0.0];
                    channel.curve().evaluate(time, &mut value);
                    out.deformer.parameters.insert(name.clone(), Value::from(f64::from(value[0])));
                }
            }
        }
    }

    /// Whether keys, clips or settings change anything over time.
    pub fn moves(&self) -> bool {
        !self.motion.is_still() || self.sculpts.iter().any(Sculpt::moves)
    }
}
