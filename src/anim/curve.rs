//! A curve of one animated value (glTF 2.0, section 3.11 and appendix C, "Animation Sampler Interpolation").

use crate::asset::Interpolation;

/// Borrowed keys of one animated value.
#[derive(Clone, Copy, Debug)]
pub struct Curve<'a, T> {
    /// Interpolation between keys.
    pub interpolation: Interpolation,
    /// Whether the values are quaternions; LINEAR then means slerp along the shorter arc.
    pub rotation: bool,
    /// Key times, seconds, strictly increasing.
    pub times: &'a [T],
    /// `times.len() * width` floats; three times as many (in-tangent, value, out-tangent) for CUBICSPLINE,
    /// with tangents per second.
    pub values: &'a [f32],
}

impl<T: Copy + Into<f64>> Curve<'_, T> {
    /// Writes the value at `time` to `out`, whose length is the number of floats per key. At a key, the value is exact.
    /// Before the first key the curve has the first key's value, after the last key the last key's value. Does nothing
    /// if the keys have another number of floats. Does not allocate.
    pub fn evaluate(&self, time: f64, out: &mut [f32]) {
        let width = out.len();
        let Some(stride) = self.stride(width) else { return };
        let (key, after) = match self.around(time) {
            Place::At(key) => return out.copy_from_slice(self.value(key, width)),
            Place::Between(key, after) => (key, after),
        };
        let (start, end): (f64, f64) = (self.times[key].into(), self.times[after].into());
        let u = ((time - start) / (end - start)).clamp(0.0, 1.0) as f32;
        match self.interpolation {
            Interpolation::Step => out.copy_from_slice(self.value(key, width)),
            Interpolation::Linear if self.rotation && width == 4 => {
                out.copy_from_slice(&slerp(self.value(key, width), self.value(after, width), u));
            }
            Interpolation::Linear => {
                let ends = self.value(key, width).iter().zip(self.value(after, width));
                out.iter_mut().zip(ends).for_each(|(o, (a, b))| *o = a + (b - a) * u);
            }
            Interpolation::CubicSpline => {
                let interval = (end - start) as f32;
                let leaving = &self.values[key * stride + 2 * width..(key + 1) * stride];
                let arriving = &self.values[after * stride..after * stride + width];
                let [h00, h10, h01, h11] = hermite(u);
                for (i, o) in out.iter_mut().enumerate() {
                    *o = h00 * self.value(key, width)[i]
                        + h10 * interval * leaving[i]
                        + h01 * self.value(after, width)[i]
                        + h11 * interval * arriving[i];
                }
                if self.rotation {
                    normalize(out);
                }
            }
        }
    }

    /// Returns the derivative, per second, at a time between two CUBICSPLINE keys; `None` otherwise. Rotations are not
    /// normalised.
    pub fn slope(&self, time: f64, width: usize) -> Option<Vec<f32>> {
        let stride = self.stride(width).filter(|_| self.interpolation == Interpolation::CubicSpline)?;
        let Place::Between(key, after) = self.around(time) else { return None };
        let (start, end): (f64, f64) = (self.times[key].into(), self.times[after].into());
        let interval = end - start;
        let u = (time - start) / interval;
        // Derivative of the Hermite basis with respect to `u`. Division by the key interval gives the derivative with
        // respect to time.
        let (d00, d10, d11) = (6.0 * u * u - 6.0 * u, 3.0 * u * u - 4.0 * u + 1.0, 3.0 * u * u - 2.0 * u);
        let slope = |i: usize| {
            let (a, b) = (f64::from(self.value(key, width)[i]), f64::from(self.value(after, width)[i]));
            let leaving = f64::from(self.values[key * stride + 2 * width + i]);
            let arriving = f64::from(self.values[after * stride + i]);
            (d00 * (a - b) / interval + d10 * leaving + d11 * arriving) as f32
        };
        Some((0..width).map(slope).collect())
    }

    /// Returns the floats per key, tangents included; `None` if the keys do not have this width.
    fn stride(&self, width: usize) -> Option<usize> {
        let stride = if self.interpolation == Interpolation::CubicSpline { 3 * width } else { width };
        let fits = !self.times.is_empty() && width > 0 && self.values.len() == self.times.len() * stride;
        fits.then_some(stride)
    }

    /// Returns a key's value without tangents.
    fn value(&self, key: usize, width: usize) -> &[f32] {
        match self.interpolation {
            Interpolation::CubicSpline => &self.values[(3 * key + 1) * width..(3 * key + 2) * width],
            _ => &self.values[key * width..(key + 1) * width],
        }
    }

    fn around(&self, time: f64) -> Place {
        let after = self.times.partition_point(|&t| t.into() <= time);
        if after == 0 {
            return Place::At(0);
        }
        let key = after - 1;
        let exact: f64 = self.times[key].into();
        if after == self.times.len() || exact >= time { Place::At(key) } else { Place::Between(key, after) }
    }
}

/// The position of a time relative to the keys.
enum Place {
    At(usize),
    Between(usize, usize),
}

/// Returns the cubic Hermite basis at `u`: weights of start value, start tangent, end value and end tangent.
fn hermite(u: f32) -> [f32; 4] {
    let (u2, u3) = (u * u, u * u * u);
    [2.0 * u3 - 3.0 * u2 + 1.0, u3 - 2.0 * u2 + u, -2.0 * u3 + 3.0 * u2, u3 - u2]
}

fn normalize(q: &mut [f32]) {
    let length = q.iter().map(|v| v * v).sum::<f32>().sqrt();
    if length > 1e-12 && length.is_finite() {
        q.iter_mut().for_each(|v| *v /= length);
    }
}

/// Slerp along the shorter arc (Shoemake, "Animating rotation with quaternion curves", 1985).
fn slerp(a: &[f32], b: &[f32], u: f32) -> [f32; 4] {
    let dot: f32 = a.iter().zip(b).map(|(x, y)| x * y).sum();
    let sign = if dot < 0.0 { -1.0 } else { 1.0 };
    let angle = dot.abs().min(1.0).acos();
    // Below about 0.06° the quotient of sines loses precision, and the chord equals the arc within rounding.
    let (from, to) = if angle < 1e-3 {
        (1.0 - u, u)
    } else {
        let sine = angle.sin();
        (((1.0 - u) * angle).sin() / sine, (u * angle).sin() / sine)
    };
    let mut out = [0.0; 4];
    for (i, o) in out.iter_mut().enumerate() {
        *o = from * a[i] + sign * to * b[i];
    }
    normalize(&mut out);
    out
}
