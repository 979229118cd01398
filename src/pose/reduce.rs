//! Reduces a recorded stroke to the samples that preserve its shape, roll and timing.
//!
//! Douglas and Peucker, "Algorithms for the reduction of the number of points required to represent a digitized line or
//! its caricature", 1973; Ramer 1972. Thesis 7.1. The deviation includes orientation and time in addition to position.
//! Otherwise a straight stroke would lose the controller's roll and the hand's timing.

use super::Sample;
use crate::base::math::{DQuat, DVec3, Quat};

/// Maximum orientation error between a dropped sample and the interpolation of its kept neighbours, radians.
const ROLL_TOLERANCE: f64 = 15.0 * std::f64::consts::PI / 180.0;
/// Maximum time error of a dropped sample, as a fraction of the stroke's duration.
const TIME_TOLERANCE: f64 = 0.1;

/// Returns the tolerance for strokes drawn in space, metres: 1 cm of hand movement at any world scale.
///
/// `world_scale` is the displayed size of the world relative to life size.
pub fn tolerance_in_space(world_scale: f32) -> f32 {
    0.01 / if world_scale.is_finite() && world_scale > 0.0 { world_scale } else { 1.0 }
}

/// Returns the increasing indices of the samples to keep, always including the first and the last.
///
/// `at` gives the points that define the shape, one per sample: world positions with `tolerance` in metres, or window
/// positions (z = 0) with `tolerance` in pixels.
pub fn reduce(samples: &[Sample], at: &[DVec3], tolerance: f64) -> Vec<usize> {
    let count = samples.len().min(at.len());
    if count < 3 {
        return (0..count).collect();
    }
    let duration = (samples[count - 1].time - samples[0].time).max(0.0);
    let measure = Measure { samples, at, tolerance: tolerance.max(f64::MIN_POSITIVE), duration };
    let mut keep = vec![false; count];
    keep[0] = true;
    keep[count - 1] = true;
    // Use an explicit stack, because a spiral of many samples would recurse too deeply.
    let mut spans = vec![(0, count - 1)];
    while let Some((a, b)) = spans.pop() {
        let worst = (a + 1..b).map(|i| (measure.deviation(a, i, b), i)).max_by(|x, y| x.0.total_cmp(&y.0));
        if let Some((deviation, i)) = worst
            && deviation > 1.0
        {
            keep[i] = true;
            spans.push((a, i));
            spans.push((i, b));
        }
    }
    (0..count).filter(|&i| keep[i]).collect()
}

struct Measure<'a> {
    samples: &'a [Sample],
    at: &'a [DVec3],
    tolerance: f64,
    duration: f64,
}

impl Measure<'_> {
    /// Returns the largest deviation of sample `i` from the span `a..b`, in units of its tolerance.
    fn deviation(&self, a: usize, i: usize, b: usize) -> f64 {
        let (p, q, x) = (self.at[a], self.at[b], self.at[i]);
        let chord = q - p;
        let length_squared = chord.length_squared();
        let u =
            if length_squared > 0.0 { ((x - p).dot(chord) / length_squared).clamp(0.0, 1.0) } else { 0.0 };
        let distance = (x - (p + chord * u)).length() / self.tolerance;
        let expected = self.orientation(a).slerp(self.orientation(b), u);
        let turned = expected.angle_between(self.orientation(i)) / ROLL_TOLERANCE;
        let (t0, t1) = (self.samples[a].time, self.samples[b].time);
        let late = if self.duration > 0.0 {
            (self.samples[i].time - (t0 + (t1 - t0) * u)).abs() / (TIME_TOLERANCE * self.duration)
        } else {
            0.0
        };
        distance.max(turned).max(late)
    }

    fn orientation(&self, i: usize) -> DQuat {
        unit(self.samples[i].orientation)
    }
}

/// Normalises a stored quaternion; returns the identity if its length is zero.
pub(super) fn unit(xyzw: [f32; 4]) -> DQuat {
    let q = Quat::from_array(xyzw).as_dquat();
    if q.is_finite() && q.length_squared() > 1e-12 { q.normalize() } else { DQuat::IDENTITY }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(points: &[[f32; 3]]) -> (Vec<Sample>, Vec<DVec3>) {
        let samples: Vec<Sample> = points
            .iter()
            .enumerate()
            .map(|(i, &position)| Sample { position, time: i as f64, ..Sample::default() })
            .collect();
        let at = samples.iter().map(Sample::point).collect();
        (samples, at)
    }

    #[test]
    fn a_noisy_line_keeps_its_ends_and_a_corner_stays() {
        let line: Vec<[f32; 3]> =
            (0..100).map(|i| [i as f32 * 0.01, 0.004 * (i as f32 * 1.7).sin(), 0.0]).collect();
        let (s, at) = samples(&line);
        assert_eq!(reduce(&s, &at, 0.01), vec![0, 99]);
        let corner: Vec<[f32; 3]> = (0..21)
            .map(|i| if i <= 10 { [i as f32 * 0.1, 0.0, 0.0] } else { [1.0, (i - 10) as f32 * 0.1, 0.0] })
            .collect();
        let (s, at) = samples(&corner);
        assert_eq!(reduce(&s, &at, 0.01), vec![0, 10, 20]);
    }

    #[test]
    fn every_sample_stays_within_the_tolerance_of_the_kept_polyline() {
        let spiral: Vec<[f32; 3]> = (0..400)
            .map(|i| {
                let a = i as f32 * 0.05;
                [a.cos() * a * 0.1, a.sin() * a * 0.1, a * 0.02]
            })
            .collect();
        let (s, at) = samples(&spiral);
        let kept = reduce(&s, &at, 0.01);
        assert!(kept.len() > 10 && kept.len() < 200, "{}", kept.len());
        for pair in kept.windows(2) {
            let (p, q) = (at[pair[0]], at[pair[1]]);
            for x in &at[pair[0]..=pair[1]] {
                let u = ((*x - p).dot(q - p) / (q - p).length_squared()).clamp(0.0, 1.0);
                assert!((*x - p.lerp(q, u)).length() <= 0.01 + 1e-12);
            }
        }
    }

    #[test]
    fn roll_and_rhythm_of_a_straight_stroke_survive() {
        let (mut s, at) = samples(&(0..=60).map(|i| [i as f32, 0.0, 0.0]).collect::<Vec<_>>());
        for (i, sample) in s.iter_mut().enumerate() {
            let i = i as f32;
            // The device rolls by 180 degrees, all within the middle third of the stroke.
            let roll = ((i - 20.0) / 20.0).clamp(0.0, 1.0) * std::f32::consts::PI;
            sample.orientation = Quat::from_rotation_x(roll).to_array();
        }
        let kept = reduce(&s, &at, 0.5);
        assert!(kept.iter().any(|i| (18..=23).contains(i)), "{kept:?}");
        assert!(kept.iter().any(|i| (37..=42).contains(i)), "{kept:?}");
        for sample in &mut s {
            sample.orientation = Quat::IDENTITY.to_array();
            sample.time = if sample.position[0] <= 30.0 { 0.1 * sample.time } else { sample.time - 27.0 };
        }
        assert_eq!(reduce(&s, &at, 0.5), vec![0, 30, 60]);
    }

    #[test]
    fn the_tolerance_scales_with_the_world() {
        assert!((tolerance_in_space(10.0) - 0.001).abs() < 1e-9);
    }
}
