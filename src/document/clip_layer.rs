//! The file's own clips, played below the strokes: when, how fast, and how strongly.

use super::canonical::Canonical;
use crate::anim::sample;
use crate::base::math::Quat;
use crate::base::{Error, Result};
use crate::rig::{Pose, Skeleton};
use serde::{Deserialize, Serialize};

/// More layers no document has.
const MAX_LAYERS: usize = 256;
/// More keys no time map has.
const MAX_MAP: usize = 4096;
/// Clips run at most so much faster.
const MAX_SPEED: f64 = 1000.0;

/// A clip of the file, retimed. The clip's time for a time `t` of the document is `range[0] + (t - offset) * speed`,
/// held at both ends of the range, and before all that `t` goes through the time map, where there is one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClipLayer {
    /// Index of the clip in the file.
    pub clip: usize,
    /// Whether it plays.
    pub enabled: bool,
    /// 1 plays it in place of what is below, less blends.
    pub weight: f32,
    /// Not zero; negative plays backwards, from the range's end.
    pub speed: f64,
    /// When it starts, seconds of the document.
    pub offset: f64,
    /// From when to when it is played, seconds of the clip.
    pub range: [f64; 2],
    /// Starts again at its end.
    pub looped: bool,
    /// Keys of a time map, document's to played time, both rising; linear between, as fast as between the nearest
    /// keys outside.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub time_map: Vec<[f64; 2]>,
}

impl ClipLayer {
    /// The whole clip as it is.
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

    /// The clip's time for a time of the document, seconds.
    pub fn clip_time(&self, time: f64) -> f64 {
        let [start, end] = self.range;
        let length = end - start;
        let played = (self.mapped(time) - self.offset) * self.speed;
        let played = if self.looped && length > 0.0 { played.rem_euclid(length) } else { played };
        // Backwards, an unlooped clip starts at its end.
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

    /// When it has been played once, seconds of the document.
    pub(super) fn end(&self, _skeleton: &Skeleton) -> f64 {
        let played = self.offset + (self.range[1] - self.range[0]) / self.speed.abs();
        let map = &self.time_map;
        if map.len() < 2 {
            return map.first().map_or(played, |[from, to]| played + from - to).max(0.0);
        }
        let after = map.partition_point(|k| k[1] <= played).clamp(1, map.len() - 1);
        let ([t0, s0], [t1, s1]) = (map[after - 1], map[after]);
        (t0 + (played - s0) * (t1 - t0) / (s1 - s0)).max(0.0)
    }

    /// Plays it over a pose; `below` is room to work in.
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

/// Blends `over` with what is `below` it: 0 gives `below`, 1 leaves it. Rotations by slerp, the shorter way.
pub(super) fn blend(below: &Pose, over: &mut Pose, weight: f32) {
    let mix = |a: f32, b: f32| a + (b - a) * weight;
    for (below, over) in below.local.iter().zip(&mut over.local) {
        if below == over {
            continue;
        }
        for i in 0..3 {
            over.translation[i] = mix(below.translation[i], over.translation[i]);
            over.scale[i] = mix(below.scale[i], over.scale[i]);
        }
        let (a, b) = (below.rotation(), over.rotation());
        let b: Quat = if a.dot(b) < 0.0 { -b } else { b };
        over.rotation = a.slerp(b, weight).normalize().to_array();
    }
    for (below, over) in below.weights.iter().zip(&mut over.weights) {
        below.iter().zip(over).for_each(|(a, b)| *b = mix(*a, *b));
    }
}

/// Layers that fit the file's clips.
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
