//! Editing the keys of one channel: set, remove, retime, and change the interpolation.

use super::{Channel, Target};
use crate::asset::{Interpolation, Property};

/// Rounds a time to the nearest `f32`.
pub(super) fn exact(time: f64) -> f64 {
    f64::from(time as f32)
}

impl Channel {
    /// Creates a channel without keys; the caller must add a key before use.
    pub(super) fn empty(target: Target) -> Self {
        Self { target, interpolation: Interpolation::Linear, times: Vec::new(), values: Vec::new() }
    }

    /// Sets the key at a time. In a CUBICSPLINE channel, a new key on the curve preserves the curve. A new key off the
    /// curve gets the slope between its neighbours as tangent (Catmull & Rom, "A class of local interpolating splines",
    /// 1974).
    pub(super) fn set_key(&mut self, time: f64, value: &[f32]) {
        let cubic = self.interpolation == Interpolation::CubicSpline;
        let (width, slot) = (value.len(), self.key_at(time));
        let (key, is_new) = match slot {
            Ok(key) => (key, false),
            Err(key) => (key, true),
        };
        if !cubic {
            match is_new {
                true => self.insert(key, time, value),
                false => self.values[key * width..(key + 1) * width].copy_from_slice(value),
            }
            return;
        }
        let value = &self.near(key, value);
        if !is_new {
            let at = (3 * key + 1) * width;
            self.values[at..at + width].copy_from_slice(value);
            return;
        }
        let slope = self.curve().slope(time, width).filter(|_| {
            let old = self.at(time);
            old.iter().zip(value).all(|(a, b)| (a - b).abs() <= 1e-6 * b.abs().max(1.0))
        });
        self.insert(key, time, &[&vec![0.0; width], &value[..], &vec![0.0; width]].concat());
        let slope = slope.unwrap_or_else(|| self.catmull_rom(key));
        self.set_tangents(key, &slope, &slope);
    }

    fn insert(&mut self, key: usize, time: f64, floats: &[f32]) {
        self.times.insert(key, time);
        let at = key * floats.len();
        self.values.splice(at..at, floats.iter().copied());
    }

    pub(super) fn remove_key(&mut self, key: usize) {
        let stride = self.stride();
        self.times.remove(key);
        self.values.drain(key * stride..(key + 1) * stride);
    }

    pub(super) fn set_tangents(&mut self, key: usize, arriving: &[f32], leaving: &[f32]) {
        let width = arriving.len();
        let at = 3 * key * width;
        self.values[at..at + width].copy_from_slice(arriving);
        self.values[at + 2 * width..at + 3 * width].copy_from_slice(leaving);
    }

    /// Flips a quaternion's sign to match the neighbouring key, because splines interpolate its components.
    fn near(&self, key: usize, value: &[f32]) -> Vec<f32> {
        let turns = matches!(self.target, Target::Node { property: Property::Rotation, .. });
        let neighbour = if key > 0 { Some(key - 1) } else { (key < self.times.len()).then_some(key) };
        let dot = |n: usize| self.value(n).iter().zip(value).map(|(a, b)| a * b).sum::<f32>();
        let flip = turns && neighbour.is_some_and(|n| dot(n) < 0.0);
        // Do not turn zero into negative zero, so that bits change only when necessary.
        value.iter().map(|&v| if flip && v != 0.0 { -v } else { v }).collect()
    }

    /// Returns the slope between the neighbours of a key, one-sided at the ends, zero for a single key.
    fn catmull_rom(&self, key: usize) -> Vec<f32> {
        self.slope_between(key.saturating_sub(1), (key + 1).min(self.times.len() - 1))
    }

    /// Returns the slope of the straight line between two keys, zero if they are the same.
    fn slope_between(&self, before: usize, after: usize) -> Vec<f32> {
        if before == after {
            return vec![0.0; self.width()];
        }
        let interval = self.times[after] - self.times[before];
        let ends = self.value(before).iter().zip(self.value(after));
        ends.map(|(a, b)| (f64::from(b - a) / interval) as f32).collect()
    }

    /// Gives the keys of a CUBICSPLINE from `first` to `last`, seconds, the slopes between their neighbours. The tangents
    /// before the first and after the last of these keys stay.
    pub(super) fn smooth_keys(&mut self, first: f64, last: f64) {
        let width = self.width();
        for key in 0..self.times.len() {
            let time = self.times[key];
            if !(first..=last).contains(&time) {
                continue;
            }
            let slope = match (time == first, time == last) {
                (false, false) => self.catmull_rom(key),
                (true, _) => self.slope_between(key, (key + 1).min(self.times.len() - 1)),
                (_, true) => self.slope_between(key.saturating_sub(1), key),
            };
            let at = 3 * key * width;
            let [arriving, leaving] = [at, at + 2 * width].map(|at| self.values[at..at + width].to_vec());
            let arriving = if time == first { &arriving } else { &slope };
            let leaving = if time == last { &leaving } else { &slope };
            self.set_tangents(key, arriving, leaving);
        }
    }

    /// Changes the interpolation. Conversion to CUBICSPLINE sets tangents to the slopes between neighbours;
    /// conversion from CUBICSPLINE discards tangents.
    pub(super) fn set_interpolation(&mut self, interpolation: Interpolation) {
        let cubic = |i| i == Interpolation::CubicSpline;
        if cubic(self.interpolation) == cubic(interpolation) {
            self.interpolation = interpolation;
            return;
        }
        let (width, keys) = (self.width(), self.times.len());
        let old = self.clone();
        self.values.clear();
        self.interpolation = interpolation;
        if !cubic(interpolation) {
            (0..keys).for_each(|k| self.values.extend(old.value(k)));
            return;
        }
        self.values.resize(3 * width * keys, 0.0);
        for key in 0..keys {
            let value = match key {
                0 => old.value(0).to_vec(),
                _ => self.near(key, old.value(key)),
            };
            self.values[(3 * key + 1) * width..(3 * key + 2) * width].copy_from_slice(&value);
        }
        for key in 0..keys {
            let slope = self.catmull_rom(key);
            self.set_tangents(key, &slope, &slope);
        }
    }

    /// Moves keys to new times and removes other keys at those times. Divides tangents by `stretch`; a negative
    /// `stretch` reverses time and swaps in-tangents and out-tangents.
    pub(super) fn retime(&mut self, keys: &[usize], to: impl Fn(f64) -> f64, stretch: f64) {
        let (stride, width) = (self.stride(), self.width());
        let mut moved: Vec<(f64, Vec<f32>)> = Vec::with_capacity(keys.len());
        for &key in keys {
            let mut floats = self.values[key * stride..(key + 1) * stride].to_vec();
            if stride == 3 * width && stretch != 1.0 {
                let scale = |v: &mut f32| *v = (f64::from(*v) / stretch) as f32;
                floats[..width].iter_mut().for_each(scale);
                floats[2 * width..].iter_mut().for_each(scale);
                if stretch < 0.0 {
                    let (arriving, rest) = floats.split_at_mut(width);
                    arriving.swap_with_slice(&mut rest[width..]);
                }
            }
            moved.push((exact(to(self.times[key])), floats));
        }
        let mut kept = Vec::with_capacity(self.times.len());
        for (key, &time) in self.times.iter().enumerate() {
            if keys.binary_search(&key).is_err() && !moved.iter().any(|m| m.0 == time) {
                kept.push((time, self.values[key * stride..(key + 1) * stride].to_vec()));
            }
        }
        kept.append(&mut moved);
        // The sort is stable: of keys moved to equal times, the last one remains.
        kept.sort_by(|a, b| a.0.total_cmp(&b.0));
        (self.times, self.values) = (Vec::new(), Vec::new());
        for (i, (time, floats)) in kept.iter().enumerate() {
            if kept.get(i + 1).is_none_or(|next| next.0 != *time) {
                self.times.push(*time);
                self.values.extend(floats);
            }
        }
    }
}
