//! Edits of the animation: keys, channels, clip layers and frame rate.

use super::contents::validate_time;
use super::keys::exact;
use super::motion::validate_rate;
use super::{Channel, ClipLayer, Document, Key, Target};
use crate::asset::Interpolation;
use crate::base::{Error, Result};
use crate::rig::{Pose, Skeleton};
use serde::{Deserialize, Serialize};

/// Identifies a key by its target and time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeyAt {
    /// Animated property.
    pub target: Target,
    /// Time of the key, seconds. It must equal the time of an existing key exactly.
    pub time: f64,
}

/// A value to key.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeyValue {
    /// Animated property.
    pub target: Target,
    /// [`Target::width`] floats.
    pub value: Vec<f32>,
}

/// What an edit sets of one component of a key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeyPart {
    /// Index of the component, below [`Target::width`]. The components of a rotation are those of the quaternion.
    pub component: usize,
    /// New value; `None` keeps the value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<f32>,
    /// New in-tangent, units per second; `None` keeps the slope. It has no effect after a value that is held.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arriving: Option<f32>,
    /// New out-tangent, units per second; `None` keeps the slope.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leaving: Option<f32>,
}

impl KeyPart {
    /// Whether both set the same of the same component.
    fn is_like(&self, other: &Self) -> bool {
        let sets = |p: &Self| (p.component, p.value.is_some(), p.arriving.is_some(), p.leaving.is_some());
        sets(self) == sets(other)
    }
}

/// A target and its channel, `None` if the target has no keys.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Slot {
    /// Animated property.
    pub target: Target,
    /// Channel with the keys of the target.
    pub channel: Option<Channel>,
}

/// A reversible change of the animation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeyEdit {
    /// Replaces the channels of these targets, or removes them.
    Channels(Vec<Slot>),
    /// Sets keys at a time. A target without a channel gets a LINEAR channel.
    Insert {
        /// Time in seconds, rounded to the nearest `f32`.
        time: f64,
        /// Values to key.
        keys: Vec<KeyValue>,
    },
    /// Removes keys. A channel that loses its last key is removed.
    Remove(Vec<KeyAt>),
    /// Moves keys in time and removes other keys at the new times.
    Move {
        /// Keys to move.
        keys: Vec<KeyAt>,
        /// Time offset, seconds.
        seconds: f64,
    },
    /// Scales the times of keys about a pivot; a negative factor reverses them.
    Scale {
        /// Keys to scale.
        keys: Vec<KeyAt>,
        /// Fixed time, seconds.
        pivot: f64,
        /// Scale factor, not zero.
        factor: f64,
    },
    /// Sets the interpolation of channels.
    Interpolation {
        /// Targets of the channels.
        targets: Vec<Target>,
        /// New interpolation.
        interpolation: Interpolation,
    },
    /// Sets the tangents of a CUBICSPLINE key, in units per second.
    Tangents {
        /// Key whose tangents change.
        key: KeyAt,
        /// In-tangent.
        arriving: Vec<f32>,
        /// Out-tangent.
        leaving: Vec<f32>,
    },
    /// Sets components of a key. If a tangent is set, a STEP or LINEAR channel becomes a CUBICSPLINE, and its other segments
    /// keep their shape. A value that the key holds until the next key stays held, unless an out-tangent is set.
    Curve {
        /// Key to change.
        key: KeyAt,
        /// New values and tangents.
        parts: Vec<KeyPart>,
    },
    /// Copies a clip of the file into channels, replacing existing channels of its targets.
    Import {
        /// Index of the clip in the asset file.
        clip: usize,
    },
    /// Replaces all clip layers.
    Clips(Vec<ClipLayer>),
    /// Sets the frame rate: 24, 25, 30, 50 or 60 frames per second.
    Rate(u32),
}

impl KeyEdit {
    /// Returns an edit that keys every property in which two poses differ, or `None` if they are equal.
    pub fn of_change(time: f64, before: &Pose, after: &Pose) -> Option<Self> {
        let changed = |t: &Target| t.of_pose(before) != t.of_pose(after);
        let keys = Target::all_of_pose(after).filter(changed).filter_map(|target| {
            let value = target.of_pose(after)?.to_vec();
            Some(KeyValue { target, value })
        });
        let keys: Vec<KeyValue> = keys.collect();
        (!keys.is_empty()).then_some(Self::Insert { time, keys })
    }

    /// Changes the document and returns the inverse edit; on an error the document stays unchanged.
    pub(super) fn apply(&self, document: &mut Document, skeleton: &Skeleton) -> Result<Self> {
        let slots = match self {
            Self::Channels(slots) => slots.clone(),
            Self::Insert { time, keys } => inserted(exact(*time), keys, document, skeleton)?,
            Self::Remove(keys) => changed(keys, document, |channel, at| {
                at.iter().rev().for_each(|&k| channel.remove_key(k));
                Ok(())
            })?,
            Self::Move { keys, seconds } => {
                changed(keys, document, |channel, at| retimed(channel, at, |t| t + seconds, 1.0))?
            }
            Self::Scale { keys, pivot, factor } => {
                if !(factor.is_finite() && factor.abs() >= 1e-6) {
                    return Err(Error::input(
                        format!("keys cannot be stretched by {factor}"),
                        "give a factor that is not zero",
                    ));
                }
                let to = |t: f64| pivot + (t - pivot) * factor;
                changed(keys, document, |channel, at| retimed(channel, at, to, *factor))?
            }
            Self::Interpolation { targets, interpolation } => {
                let mut out = Vec::new();
                for target in targets {
                    let mut channel = channel_of(target, document, skeleton)?.clone();
                    channel.set_interpolation(*interpolation);
                    out.push(Slot { target: target.clone(), channel: Some(channel) });
                }
                out
            }
            Self::Tangents { key, arriving, leaving } => {
                changed(std::slice::from_ref(key), document, |channel, at| {
                    let width = channel.width();
                    if channel.interpolation != Interpolation::CubicSpline
                        || arriving.len() != width
                        || leaving.len() != width
                    {
                        return Err(Error::input(
                            "only keys of a CUBICSPLINE have tangents, as many floats as the value",
                            "change the channel's interpolation first",
                        ));
                    }
                    at.iter().for_each(|&k| channel.set_tangents(k, arriving, leaving));
                    Ok(())
                })?
            }
            Self::Curve { key, parts } => changed(std::slice::from_ref(key), document, |channel, at| {
                at.iter().try_for_each(|&k| channel.set_parts(k, parts))
            })?,
            Self::Import { clip } => {
                let clip = skeleton.clips.get(*clip).ok_or_else(|| {
                    Error::input(
                        format!("there is no clip {clip}"),
                        format!("the file has {} clips, counted from 0", skeleton.clips.len()),
                    )
                })?;
                let channels = clip.channels.iter().map(Channel::from_clip);
                // If the clip has two channels for one target, which glTF forbids, keep the first.
                let mut slots: Vec<Slot> =
                    channels.map(|c| Slot { target: c.target.clone(), channel: Some(c) }).collect();
                slots.sort_by(|a, b| a.target.cmp(&b.target));
                slots.dedup_by(|a, b| a.target == b.target);
                slots
            }
            Self::Clips(layers) => {
                super::clip_layer::validate_layers(layers, skeleton)?;
                return Ok(Self::Clips(std::mem::replace(&mut document.motion.clips, layers.clone())));
            }
            Self::Rate(rate) => {
                validate_rate(*rate)?;
                return Ok(Self::Rate(std::mem::replace(&mut document.motion.rate, *rate)));
            }
        };
        put(slots, document, skeleton).map(Self::Channels)
    }

    /// Returns whether this edit overwrites everything that `earlier` set, see [`super::Edit::supersedes`].
    pub(super) fn supersedes(&self, earlier: &Self) -> bool {
        match (self, earlier) {
            (Self::Insert { time, keys }, Self::Insert { time: old_time, keys: old }) => {
                time == old_time && keys.iter().map(|k| &k.target).eq(old.iter().map(|k| &k.target))
            }
            (Self::Channels(slots), Self::Channels(old)) => {
                slots.iter().map(|s| &s.target).eq(old.iter().map(|s| &s.target))
            }
            (Self::Curve { key, parts }, Self::Curve { key: old_key, parts: old }) => {
                key == old_key
                    && parts.len() == old.len()
                    && parts.iter().zip(old).all(|(new, old)| new.is_like(old))
            }
            (Self::Clips(_), Self::Clips(_)) | (Self::Rate(_), Self::Rate(_)) => true,
            _ => false,
        }
    }
}

/// Keys every property of every node at the key's time, without rounding the time to `f32`: [`super::Edit::SetKey`].
pub(super) fn key_pose(key: &Key, document: &mut Document, skeleton: &Skeleton) -> Result<KeyEdit> {
    super::contents::validate_pose(&key.pose, skeleton)?;
    // Files of keys hold no grips.
    let keys: Vec<KeyValue> = Target::all_of_pose(&key.pose)
        .filter(|target| target.grip().is_none())
        .filter_map(|target| {
            let value = target.of_pose(&key.pose)?.to_vec();
            Some(KeyValue { target, value })
        })
        .collect();
    let slots = inserted(key.time, &keys, document, skeleton)?;
    put(slots, document, skeleton).map(KeyEdit::Channels)
}

/// Removes all keys at a time: [`super::Edit::RemoveKey`].
pub(super) fn remove_column(time: f64, document: &mut Document, skeleton: &Skeleton) -> Result<KeyEdit> {
    let motion = &document.motion;
    let there = motion.channels.iter().filter(|c| c.key_at(time).is_ok());
    let keys: Vec<KeyAt> = there.map(|c| KeyAt { target: c.target.clone(), time }).collect();
    if keys.is_empty() {
        return Err(Error::input(format!("there is no key at {time} s"), "choose a key"));
    }
    KeyEdit::Remove(keys).apply(document, skeleton)
}

/// Returns copies of the affected channels with the values keyed.
fn inserted(time: f64, keys: &[KeyValue], document: &Document, skeleton: &Skeleton) -> Result<Vec<Slot>> {
    validate_time(time)?;
    let mut out: Vec<Slot> = Vec::with_capacity(keys.len());
    for key in keys {
        let width = key.target.width(skeleton)?;
        if key.value.len() != width || !key.value.iter().all(|v| v.is_finite()) {
            return Err(Error::input(
                format!("{:?} cannot be the value of {}", key.value, key.target.label(skeleton)),
                format!("give {width} finite floats"),
            ));
        }
        let old = document.motion.channel(&key.target).cloned();
        let mut channel = old.unwrap_or_else(|| Channel::empty(key.target.clone()));
        channel.set_key(time, &key.value);
        out.push(Slot { target: key.target.clone(), channel: Some(channel) });
    }
    Ok(out)
}

/// Returns copies of the affected channels after `change`, which gets key indices in increasing order.
fn changed(
    keys: &[KeyAt],
    document: &Document,
    change: impl Fn(&mut Channel, &[usize]) -> Result<()>,
) -> Result<Vec<Slot>> {
    let mut sorted: Vec<&KeyAt> = keys.iter().collect();
    sorted.sort_by(|a, b| a.target.cmp(&b.target));
    let mut out = Vec::new();
    for group in sorted.chunk_by(|a, b| a.target == b.target) {
        let target = &group[0].target;
        let missing =
            |time: f64| Error::input(format!("there is no key at {time} s in {target:?}"), "choose a key");
        let mut channel = document.motion.channel(target).ok_or_else(|| missing(group[0].time))?.clone();
        let mut at = Vec::with_capacity(group.len());
        for key in group {
            at.push(channel.key_at(key.time).map_err(|_| missing(key.time))?);
        }
        at.sort_unstable();
        at.dedup();
        change(&mut channel, &at)?;
        let channel = (!channel.times.is_empty()).then_some(channel);
        out.push(Slot { target: target.clone(), channel });
    }
    Ok(out)
}

fn retimed(channel: &mut Channel, at: &[usize], to: impl Fn(f64) -> f64, stretch: f64) -> Result<()> {
    at.iter().try_for_each(|&k| validate_time(exact(to(channel.times[k]))))?;
    channel.retime(at, to, stretch);
    Ok(())
}

fn channel_of<'a>(target: &Target, document: &'a Document, skeleton: &Skeleton) -> Result<&'a Channel> {
    document
        .motion
        .channel(target)
        .ok_or_else(|| Error::input(format!("{} has no keys", target.label(skeleton)), "key it first"))
}

/// Replaces channels and returns the old channels. On an error the document stays unchanged.
fn put(slots: Vec<Slot>, document: &mut Document, skeleton: &Skeleton) -> Result<Vec<Slot>> {
    for slot in &slots {
        if let Some(channel) = &slot.channel {
            if channel.target != slot.target {
                return Err(Error::input("a channel is put in the place of another", "name its own target"));
            }
            channel.validate(skeleton)?;
        }
    }
    let motion = &mut document.motion;
    let mut old = Vec::with_capacity(slots.len());
    for Slot { target, channel } in slots {
        let before = match (motion.slot(&target), channel) {
            (Ok(i), Some(new)) => Some(std::mem::replace(&mut motion.channels[i], new)),
            (Ok(i), None) => Some(motion.channels.remove(i)),
            (Err(i), Some(new)) => {
                motion.channels.insert(i, new);
                None
            }
            (Err(_), None) => None,
        };
        old.push(Slot { target, channel: before });
    }
    // Reverse the order, so that undo also works if a target occurs twice.
    old.reverse();
    if let Err(error) = motion.validate_size() {
        put(old, document, skeleton)?;
        return Err(error);
    }
    Ok(old)
}
