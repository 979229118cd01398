//! Copied keys: channels that keep only the copied keys, and the edit that pastes them at another time.

use super::keys::exact;
use super::{Channel, Document, Edit, KeyAt, KeyEdit, KeyValue, Slot};
use crate::asset::Interpolation;

/// Copied keys of a document.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KeyClip {
    /// One channel per target, with the copied keys only.
    channels: Vec<Channel>,
    /// Time of the first key, seconds.
    start: f64,
    /// Time from the first to the last key, seconds.
    length: f64,
}

impl KeyClip {
    /// Copies keys of a document. Keys that do not exist are ignored.
    pub fn copy(document: &Document, keys: &[KeyAt]) -> Self {
        let mut sorted: Vec<&KeyAt> = keys.iter().collect();
        sorted.sort_by(|a, b| a.target.cmp(&b.target).then(a.time.total_cmp(&b.time)));
        let mut channels = Vec::new();
        for chosen in sorted.chunk_by(|a, b| a.target == b.target) {
            let Some(channel) = document.motion.channel(&chosen[0].target) else { continue };
            let mut kept = Channel { times: Vec::new(), values: Vec::new(), ..channel.clone() };
            let stride = channel.stride();
            for key in chosen.iter().filter_map(|k| channel.key_at(k.time).ok()) {
                if kept.times.last() != Some(&channel.times[key]) {
                    kept.times.push(channel.times[key]);
                    kept.values.extend(&channel.values[key * stride..(key + 1) * stride]);
                }
            }
            if !kept.times.is_empty() {
                channels.push(kept);
            }
        }
        let times = || channels.iter().flat_map(|c| &c.times).copied();
        let start = times().fold(f64::INFINITY, f64::min);
        let end = times().fold(0.0, f64::max);
        if channels.is_empty() { Self::default() } else { Self { channels, start, length: end - start } }
    }

    /// Whether nothing is copied.
    pub fn is_empty(&self) -> bool {
        self.channels.is_empty()
    }

    /// Time of the first key, seconds.
    pub fn start(&self) -> f64 {
        self.start
    }

    /// Time from the first to the last key, seconds.
    pub fn length(&self) -> f64 {
        self.length
    }

    /// Returns the keys as they are after a paste whose first key is at `at`, seconds.
    pub fn pasted(&self, at: f64) -> impl Iterator<Item = KeyAt> + '_ {
        let keys = self.channels.iter().flat_map(|c| c.times.iter().map(|time| (&c.target, *time)));
        keys.map(move |(target, time)| KeyAt { target: target.clone(), time: exact(at + time - self.start) })
    }

    /// Returns the edit that pastes the keys, the first one at `at`, seconds; `None` if nothing is copied. A pasted key
    /// replaces a key at its time. A key that goes from one CUBICSPLINE to another keeps its tangents; a channel that
    /// already has keys keeps its interpolation.
    pub fn paste(&self, document: &Document, at: f64) -> Option<Edit> {
        let mut slots = Vec::new();
        let mut values: Vec<(f64, KeyValue)> = Vec::new();
        for copied in &self.channels {
            let cubic = |c: &Channel| c.interpolation == Interpolation::CubicSpline;
            let there = document.motion.channel(&copied.target).filter(|c| c.width() == copied.width());
            let times = copied.times.iter().map(|time| exact(at + time - self.start));
            match there {
                None if copied.interpolation != Interpolation::Linear => {
                    let channel = Channel { times: times.collect(), ..copied.clone() };
                    slots.push(Slot { target: copied.target.clone(), channel: Some(channel) });
                }
                Some(old) if cubic(old) && cubic(copied) => {
                    let mut channel = old.clone();
                    times.enumerate().for_each(|(key, time)| channel.paste(time, copied, key));
                    slots.push(Slot { target: copied.target.clone(), channel: Some(channel) });
                }
                _ => values.extend(times.enumerate().map(|(key, time)| {
                    let value = copied.value(key).to_vec();
                    (time, KeyValue { target: copied.target.clone(), value })
                })),
            }
        }
        // The sort is stable, so the keys of one time stay sorted by target.
        values.sort_by(|a, b| a.0.total_cmp(&b.0));
        let inserts = values.chunk_by(|a, b| a.0 == b.0).map(|keys| KeyEdit::Insert {
            time: keys[0].0,
            keys: keys.iter().map(|k| k.1.clone()).collect(),
        });
        let channels = (!slots.is_empty()).then_some(KeyEdit::Channels(slots));
        let mut edits: Vec<Edit> = channels.into_iter().chain(inserts).map(Edit::Keys).collect();
        if edits.len() > 1 { Some(Edit::Group(edits)) } else { edits.pop() }
    }
}

impl Channel {
    /// Sets a key with the tangents of another CUBICSPLINE's key.
    fn paste(&mut self, time: f64, from: &Channel, key: usize) {
        let width = self.width();
        let floats = &from.values[3 * key * width..3 * (key + 1) * width];
        self.set_key(time, &floats[width..2 * width]);
        let Ok(at) = self.key_at(time) else { return };
        // The new key may have the other sign of a quaternion.
        let sign = if self.value(at) == &floats[width..2 * width] { 1.0 } else { -1.0 };
        let tangent = |floats: &[f32]| floats.iter().map(|v| v * sign).collect::<Vec<f32>>();
        self.set_tangents(at, &tangent(&floats[..width]), &tangent(&floats[2 * width..]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::asset::Property;
    use crate::base::NodeId;
    use crate::base::math::Quat;
    use crate::document::testing::session;
    use crate::document::{Session, Target, asset};

    fn opened(channel: &Channel) -> Session<'static> {
        let mut s = session();
        s.apply(Edit::Open { asset: asset() }).unwrap();
        let slot = Slot { target: channel.target.clone(), channel: Some(channel.clone()) };
        s.apply(Edit::Keys(KeyEdit::Channels(vec![slot]))).unwrap();
        s
    }

    #[test]
    fn pasted_keys_have_the_copied_values_times_and_tangents() {
        let target = Target::node(NodeId(2), Property::Rotation);
        let turns = [0.0, 0.4, 1.0, -0.3].map(|a| Quat::from_rotation_x(a).to_array());
        let times = vec![0.0, 0.5, 1.0, 4.0];
        for interpolation in [Interpolation::Step, Interpolation::Linear, Interpolation::CubicSpline] {
            let linear = Interpolation::Linear;
            let mut old = Channel {
                target: target.clone(),
                interpolation: linear,
                times: times.clone(),
                values: turns.concat(),
            };
            old.set_interpolation(interpolation);
            let mut s = opened(&old);
            let keys: Vec<KeyAt> = [0.5, 1.0, 9.0].map(|time| KeyAt { target: target.clone(), time }).into();
            let clip = KeyClip::copy(s.document(), &keys);
            assert_eq!((clip.start(), clip.length()), (0.5, 0.5));
            s.apply(clip.paste(s.document(), 2.0).unwrap()).unwrap();
            let channel = |s: &Session| s.document().motion().channels()[0].clone();
            let new = channel(&s);
            assert_eq!(
                (new.interpolation, &new.times[..]),
                (interpolation, &[0.0, 0.5, 1.0, 2.0, 2.5, 4.0][..])
            );
            let close = |a: &[f32], b: &[f32]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-6);
            for i in 0..10 {
                let time = f64::from(i) * 0.05;
                assert!(close(&new.at(2.0 + time), &old.at(0.5 + time)), "{interpolation:?} at {time}");
            }
            assert!(clip.pasted(2.0).map(|k| k.time).eq([2.0, 2.5]));
            // Without a channel, the pasted keys make one of the same interpolation.
            let all: Vec<KeyAt> =
                new.times.iter().map(|&time| KeyAt { target: target.clone(), time }).collect();
            s.apply(Edit::Keys(KeyEdit::Remove(all))).unwrap();
            s.apply(clip.paste(s.document(), 0.0).unwrap()).unwrap();
            let alone = channel(&s);
            assert_eq!((alone.interpolation, &alone.times[..]), (interpolation, &[0.0, 0.5][..]));
            assert!(close(alone.value(1), old.value(2)));
        }
        let empty = KeyClip::copy(session().document(), &[]);
        assert!(empty.is_empty() && empty.paste(session().document(), 0.0).is_none());
    }
}
