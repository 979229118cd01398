//! Clip layers: the file's own animation clips, played before strokes apply, with start, speed and weight.

use super::canonical::Canonical;
use crate::anim::sample;
use crate::base::math::{Quat, Trs};
use crate::base::{Error, Result};
use crate::rig::{Pose, Skeleton};
use serde::{Deserialize, Serialize};

/// Maximum number of clip layers in a document.
const MAX_LAYERS: usize = 256;
/// Maximum number of keys in a time map.
const MAX_MAP: usize = 4096;
/// Maximum playback speed, as a factor.
const MAX_SPEED: f64 = 1000.0;

/// A retimed clip of the file. Document time `t` first passes through the time map, if there is one. The clip time is
/// `range[0] + (t - offset) * speed`, clamped to the range.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClipLayer {
    /// Index of the clip in the asset file.
    pub clip: usize,
    /// Whether the layer is active.
    pub enabled: bool,
    /// Blend weight; 1 replaces the pose below, smaller values blend with it.
    pub weight: f32,
    /// Playback speed, not zero; negative speeds play backwards from the end of the range.
    pub speed: f64,
    /// Start time of the clip, seconds of the document.
    pub offset: f64,
    /// Start and end of the played part, seconds of the clip.
    pub range: [f64; 2],
    /// Whether the clip repeats.
    pub looped: bool,
    /// Keys of the time map: pairs of document time and mapped time, both increasing. The map is linear between keys
    /// and continues at both ends with the slope of the nearest two keys.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub time_map: Vec<[f64; 2]>,
}

impl ClipLayer {
    /// Creates a layer that plays the whole clip unchanged.
    pub fn new(clip: usize, skeleton: &Skeleton) -> Self {
        let end = skeleton.clips.get(clip).map_or(0.0, |c| f64::from(c.duration()));
        Self {
            clip,
            enabled: true,
            weight: 1.0,
            speed: 1.0,
            offset: 0.0,
            range: [0.0, end],
            looped: false,
            time_map: Vec::new(),
        }
    }

    /// Returns the clip time for a document time, both in seconds.
    pub fn clip_time(&self, time: f64) -> f64 {
        let [start, end] = self.range;
        let length = end - start;
        let played = (self.mapped(time) - self.offset) * self.speed;
        let played = if self.looped && length > 0.0 { played.rem_euclid(length) } else { played };
        // A clip that plays backwards without a loop starts at its end.
        let from = if self.speed < 0.0 && !self.looped { end } else { start };
        (from + played).clamp(start, end)
    }

    fn mapped(&self, time: f64) -> f64 {
        let map = &self.time_map;
        if map.len() < 2 {
            return map.first().map_or(time, |[from, to]| time - from + to);
        }
        let after = map.partition_point(|k| k[0] <= time).clamp(1, map.len() - 1);
        let ([t0, s0], [t1, s1]) = (map[after - 1], map[after]);
        s0 + (time - t0) * (s1 - s0) / (t1 - t0)
    }

    /// Returns the document time at which the clip has played once, seconds.
    pub(super) fn end(&self) -> f64 {
        let played = self.offset + (self.range[1] - self.range[0]) / self.speed.abs();
        let map = &self.time_map;
        if map.len() < 2 {
            return map.first().map_or(played, |[from, to]| played + from - to).max(0.0);
        }
        let after = map.partition_point(|k| k[1] <= played).clamp(1, map.len() - 1);
        let ([t0, s0], [t1, s1]) = (map[after - 1], map[after]);
        (t0 + (played - s0) * (t1 - t0) / (s1 - s0)).max(0.0)
    }

    /// Applies the clip to `pose`; `below` is scratch space.
    pub(super) fn apply(&self, skeleton: &Skeleton, time: f64, pose: &mut Pose, below: &mut Pose) {
        let Some(clip) = skeleton.clips.get(self.clip).filter(|_| self.enabled && self.weight > 0.0) else {
            return;
        };
        let blends = self.weight < 1.0;
        if blends {
            below.copy_from(pose);
        }
        sample(clip, self.clip_time(time), pose);
        if blends {
            blend(below, pose, self.weight);
        }
    }

    pub(super) fn hash(&self, hash: &mut Canonical) {
        hash.count(self.clip);
        hash.count(usize::from(self.enabled));
        hash.floats(&[self.weight]);
        [self.speed, self.offset, self.range[0], self.range[1]].iter().for_each(|v| hash.float(*v));
        hash.count(usize::from(self.looped));
        hash.count(self.time_map.len());
        self.time_map.as_flattened().iter().for_each(|v| hash.float(*v));
    }
}

/// Blends `over` with the pose below: weight 0 gives `below`, 1 keeps `over`. Rotations use the shorter slerp.
pub(super) fn blend(below: &Pose, over: &mut Pose, weight: f32) {
    below.local.iter().zip(&mut over.local).for_each(|(below, over)| blend_joint(below, over, weight));
    for (below, over) in below.weights.iter().zip(&mut over.weights) {
        below.iter().zip(over).for_each(|(a, b)| *b = *a + (*b - *a) * weight);
    }
}

/// Blends the transform of a joint, like [`blend`].
pub(super) fn blend_joint(below: &Trs, over: &mut Trs, weight: f32) {
    if below == over {
        return;
    }
    let mix = |a: f32, b: f32| a + (b - a) * weight;
    for i in 0..3 {
        over.translation[i] = mix(below.translation[i], over.translation[i]);
        over.scale[i] = mix(below.scale[i], over.scale[i]);
    }
    let (a, b) = (below.rotation(), over.rotation());
    let b: Quat = if a.dot(b) < 0.0 { -b } else { b };
    over.rotation = a.slerp(b, weight).normalize().to_array();
}

/// Checks that layers refer to existing clips and have valid settings.
pub(super) fn validate_layers(layers: &[ClipLayer], skeleton: &Skeleton) -> Result<()> {
    if layers.len() > MAX_LAYERS {
        return Err(Error::input("too many layers of clips", format!("keep {MAX_LAYERS} at most")));
    }
    for layer in layers {
        if layer.clip >= skeleton.clips.len() {
            return Err(Error::input(
                format!("there is no clip {}", layer.clip),
                format!("the file has {} clips, counted from 0", skeleton.clips.len()),
            ));
        }
        let speed = layer.speed.is_finite() && (1.0 / MAX_SPEED..=MAX_SPEED).contains(&layer.speed.abs());
        let times = [layer.offset, layer.range[0], layer.range[1]];
        let times = times.iter().all(|t| t.is_finite() && t.abs() <= super::contents::LAST);
        let ranged = times && layer.range[0] >= 0.0 && layer.range[0] <= layer.range[1];
        let map = &layer.time_map;
        let mapped = map.len() <= MAX_MAP
            && map.as_flattened().iter().all(|t| t.is_finite() && t.abs() <= super::contents::LAST)
            && map.is_sorted_by(|a, b| a[0] < b[0] && a[1] < b[1]);
        if !(speed && ranged && mapped && (0.0..=1.0).contains(&layer.weight)) {
            return Err(Error::input(
                format!("clip {} cannot be retimed so", layer.clip),
                format!(
                    "give a weight in 0..1, a speed from 1/{MAX_SPEED} to {MAX_SPEED}, a range within finite times, and \
                     a time map whose times rise on both sides"
                ),
            ));
        }
    }
    Ok(())
}
