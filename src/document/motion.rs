//! A document's motion: channels, layers of the file's own clips, and the frame rate.
//!
//! Keys store final values: a node's channel holds its transform after strokes. Later edits of the base pose or the
//! strokes therefore do not change keyed motion. The file's clips play before strokes apply. The pose being edited is
//! separate from the motion. When the user grabs the pose at the playhead, that pose becomes the edited pose. The user,
//! or auto-key, then stores it as a key. Times have type `f64`, but every time is a value that `f32` represents
//! exactly, so glTF export and import lose no precision.

use super::canonical::Canonical;
use super::{Channel, ClipLayer, MAX_KEYS, Target};
use crate::asset::Interpolation;
use crate::base::{Error, Result};
use crate::rig::{Pose, Skeleton};
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

/// Supported frame rates, frames per second. The first one is the default.
pub const FRAME_RATES: [u32; 5] = [24, 25, 30, 50, 60];

/// A whole pose at a time: the key format of version 1, still used by [`super::Edit::SetKey`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Key {
    /// Time in seconds, not negative.
    pub time: f64,
    /// Pose of every node, strokes already applied.
    pub pose: Pose,
}

/// The animation of a document. The methods of this type only read; [`super::Edit::Keys`] changes the motion.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Motion {
    /// Channels, sorted by target.
    pub(super) channels: Vec<Channel>,
    /// Clip layers in the order in which they apply, before the strokes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) clips: Vec<ClipLayer>,
    /// Frame rate, frames per second.
    pub(super) rate: u32,
}

impl Default for Motion {
    fn default() -> Self {
        Self { channels: Vec::new(), clips: Vec::new(), rate: FRAME_RATES[0] }
    }
}

/// The current serialised form.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    channels: Vec<Channel>,
    #[serde(default)]
    clips: Vec<ClipLayer>,
    rate: u32,
}

impl<'de> Deserialize<'de> for Motion {
    /// Reads the current form, or a list of whole poses from version 1.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = Motion;

            fn expecting(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
                f.write_str("channels, or a list of key poses")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> std::result::Result<Motion, A::Error> {
                let keys = Vec::deserialize(SeqAccessDeserializer::new(list))?;
                Ok(Motion::from_poses(&keys))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> std::result::Result<Motion, A::Error> {
                let Stored { channels, clips, rate } = Stored::deserialize(MapAccessDeserializer::new(map))?;
                Ok(Motion { channels, clips, rate })
            }
        }
        deserializer.deserialize_any(Either)
    }
}

impl Motion {
    /// Converts whole poses to LINEAR channels. Poses of unequal sizes give channels that validation rejects.
    fn from_poses(keys: &[Key]) -> Self {
        let times: Vec<f64> = keys.iter().map(|k| k.time).collect();
        let channel = |target: Target| {
            let values = keys.iter().filter_map(|k| target.of_pose(&k.pose)).flatten().copied().collect();
            Channel { target, interpolation: Interpolation::Linear, times: times.clone(), values }
        };
        let most = keys.iter().max_by_key(|k| k.pose.weights.len());
        let channels = most.map(|k| Target::all_of_pose(&k.pose).map(channel).collect());
        Self { channels: channels.unwrap_or_default(), ..Self::default() }
    }

    /// Returns whole poses if the channels hold nothing else, so that documents of version 1 keep their hash.
    pub(super) fn as_poses(&self, pose: &Pose) -> Option<Vec<Key>> {
        let first = self.channels.first()?;
        let targets = self.channels.iter().map(|c| &c.target);
        let plain = |c: &Channel| c.interpolation == Interpolation::Linear && c.times == first.times;
        if self.rate != FRAME_RATES[0]
            || !self.clips.is_empty()
            || !self.channels.iter().all(plain)
            || !Target::all_of_pose(pose).collect::<Vec<_>>().iter().eq(targets)
        {
            return None;
        }
        let key = |(i, &time): (usize, &f64)| {
            let mut pose = pose.clone();
            for channel in &self.channels {
                channel.target.of_pose_mut(&mut pose)?.copy_from_slice(channel.value(i));
            }
            Some(Key { time, pose })
        };
        first.times.iter().enumerate().map(key).collect()
    }

    /// Returns the channels, sorted by target.
    pub fn channels(&self) -> &[Channel] {
        &self.channels
    }

    /// Returns the channel of a target.
    pub fn channel(&self, target: &Target) -> Option<&Channel> {
        self.slot(target).ok().map(|i| &self.channels[i])
    }

    /// Finds a target's channel: `Ok` with its index, or `Err` with the index for inserting one.
    pub(super) fn slot(&self, target: &Target) -> std::result::Result<usize, usize> {
        self.channels.binary_search_by(|c| c.target.cmp(target))
    }

    /// Returns the layers of the file's own clips, in the order in which they apply.
    pub fn clips(&self) -> &[ClipLayer] {
        &self.clips
    }

    /// Returns the frame rate, frames per second.
    pub fn rate(&self) -> u32 {
        self.rate
    }

    /// Returns whether there are no channels and no enabled clips.
    pub fn is_still(&self) -> bool {
        self.channels.is_empty() && self.clips.iter().all(|c| !c.enabled)
    }

    /// Returns the times at which any channel has a key, seconds, increasing.
    pub fn key_times(&self) -> Vec<f64> {
        let mut times: Vec<f64> = self.channels.iter().flat_map(|c| &c.times).copied().collect();
        times.sort_unstable_by(f64::total_cmp);
        times.dedup();
        times
    }

    /// Returns the time of the last key or the end of the last clip, seconds, whichever is later.
    pub fn duration(&self) -> f64 {
        let keys = self.channels.iter().filter_map(|c| c.times.last().copied());
        let clips = self.clips.iter().filter(|c| c.enabled).map(ClipLayer::end);
        keys.chain(clips).fold(0.0, f64::max)
    }

    pub(super) fn keys_in_all(&self) -> usize {
        self.channels.iter().map(|c| c.times.len()).sum()
    }

    /// Returns whether the motion is empty, so that files can omit it.
    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }

    pub(super) fn validate(&self, skeleton: &Skeleton) -> Result<()> {
        self.channels.iter().try_for_each(|c| c.validate(skeleton))?;
        if !self.channels.is_sorted_by(|a, b| a.target < b.target) {
            return Err(Error::input("channels are out of order", "restore the document from its journal"));
        }
        self.validate_size()?;
        super::clip_layer::validate_layers(&self.clips, skeleton)?;
        validate_rate(self.rate)
    }

    pub(super) fn validate_size(&self) -> Result<()> {
        let keys = self.keys_in_all();
        if keys <= MAX_KEYS {
            return Ok(());
        }
        Err(Error::input(format!("{keys} keys are too many"), format!("keep {MAX_KEYS} at most")))
    }

    pub(super) fn hash(&self, hash: &mut Canonical) {
        hash.text("motion 1");
        hash.count(self.rate as usize);
        hash.count(self.channels.len());
        for channel in &self.channels {
            hash.target(&channel.target);
            hash.count(channel.interpolation as usize);
            hash.count(channel.times.len());
            channel.times.iter().for_each(|t| hash.float(*t));
            hash.count(channel.values.len());
            hash.floats(&channel.values);
        }
        hash.count(self.clips.len());
        self.clips.iter().for_each(|c| c.hash(hash));
    }
}

/// Checks that a rate is one of [`FRAME_RATES`].
pub(super) fn validate_rate(rate: u32) -> Result<()> {
    if FRAME_RATES.contains(&rate) {
        return Ok(());
    }
    Err(Error::input(format!("{rate} frames per second"), "choose 24, 25, 30, 50 or 60"))
}
