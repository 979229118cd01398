//! A C2 cubic spline through points, stored as Bézier segments.
//!
//! Natural end conditions (de Boor, "A Practical Guide to Splines", 1978, ch. IV); centripetal parameters (Lee,
//! "Choosing nodes in parametric curve interpolation", 1989), which prevent overshoot between unevenly spaced points.
//! All computations use f64, so that posing back and forth returns exactly to the start.

use crate::base::math::DVec3;

/// Number of intervals per segment in the arc-length table.
const ARC_STEPS: usize = 8;
/// Number of times that the closest-point search halves a segment: 64 leaves per segment.
const SEARCH_DEPTH: u32 = 6;

/// A curve over the parameter `t` in 0..=1.
#[derive(Clone, Debug)]
pub struct Spline {
    /// Bézier control points, four per segment.
    segments: Vec<[DVec3; 4]>,
    /// Parameter of each interpolated point, rising from 0 to 1.
    knots: Vec<f64>,
    /// Arc length from the start, in metres, at `ARC_STEPS` equal steps of each segment.
    arc: Vec<f64>,
}

impl Spline {
    /// Creates the spline through two or more points. Consecutive points may coincide, but not all points.
    pub fn through(points: &[DVec3]) -> Self {
        assert!(points.len() >= 2, "a spline needs two points");
        let chords: Vec<f64> = points.windows(2).map(|p| (p[1] - p[0]).length().sqrt()).collect();
        let total: f64 = chords.iter().sum();
        // Coinciding points get a short parameter interval instead of an empty interval. The linear system therefore
        // stays regular.
        let floor = if total > 0.0 { total * 1e-4 } else { 1.0 };
        let mut h: Vec<f64> = chords.iter().map(|c| c.max(floor)).collect();
        let sum: f64 = h.iter().sum();
        h.iter_mut().for_each(|h| *h /= sum);
        let slope = slopes(points, &h);
        let segments: Vec<[DVec3; 4]> = h
            .iter()
            .enumerate()
            .map(|(i, &h)| {
                let (p, q) = (points[i], points[i + 1]);
                [p, p + slope[i] * (h / 3.0), q - slope[i + 1] * (h / 3.0), q]
            })
            .collect();
        let mut knots = vec![0.0];
        for (i, h) in h.iter().enumerate() {
            knots.push(if i + 1 == segments.len() { 1.0 } else { knots[i] + h });
        }
        let mut spline = Self { segments, knots, arc: vec![0.0] };
        for i in 0..spline.segments.len() {
            for step in 0..ARC_STEPS {
                let (a, b) = (step as f64 / ARC_STEPS as f64, (step + 1) as f64 / ARC_STEPS as f64);
                let length = spline.arc[spline.arc.len() - 1] + spline.length_within(i, a, b);
                spline.arc.push(length);
            }
        }
        spline
    }

    /// Returns the parameter of each interpolated point.
    pub fn knots(&self) -> &[f64] {
        &self.knots
    }

    /// Returns the control points of the Bézier segments.
    pub fn segments(&self) -> &[[DVec3; 4]] {
        &self.segments
    }

    /// Returns the segment that contains parameter `t`, and the local parameter within the segment, 0..=1.
    pub fn locate(&self, t: f64) -> (usize, f64) {
        let t = if t.is_finite() { t.clamp(0.0, 1.0) } else { 0.0 };
        let i = self.knots.partition_point(|&k| k <= t).saturating_sub(1).min(self.segments.len() - 1);
        (i, ((t - self.knots[i]) / (self.knots[i + 1] - self.knots[i])).clamp(0.0, 1.0))
    }

    /// Returns the position at `t`, metres.
    pub fn position(&self, t: f64) -> DVec3 {
        let (i, s) = self.locate(t);
        bezier(&self.segments[i], s)
    }

    /// Returns the first derivative with respect to `t`.
    pub fn derivative(&self, t: f64) -> DVec3 {
        let (i, s) = self.locate(t);
        hodograph(&self.segments[i], s) / (self.knots[i + 1] - self.knots[i])
    }

    /// Returns the second derivative with respect to `t`.
    pub fn second_derivative(&self, t: f64) -> DVec3 {
        let (i, s) = self.locate(t);
        curvature(&self.segments[i], s) / (self.knots[i + 1] - self.knots[i]).powi(2)
    }

    /// Returns the unit tangent. Where the derivative vanishes (cusps, coinciding points), uses nearby points.
    pub fn tangent(&self, t: f64) -> DVec3 {
        let scale = self.length();
        for reach in [0.0, 1e-6, 1e-4, 1e-2] {
            let d = if reach == 0.0 {
                self.derivative(t)
            } else {
                (self.position(t + reach) - self.position(t - reach)) / (2.0 * reach)
            };
            if d.length() > 1e-6 * scale {
                return d.normalize();
            }
        }
        (self.position(1.0) - self.position(0.0)).normalize_or(DVec3::X)
    }

    /// Returns the arc length of the whole curve, metres.
    pub fn length(&self) -> f64 {
        self.arc[self.arc.len() - 1]
    }

    /// Returns the arc length from the start to `t`, metres.
    pub fn length_at(&self, t: f64) -> f64 {
        let (i, s) = self.locate(t);
        let step = ((s * ARC_STEPS as f64) as usize).min(ARC_STEPS - 1);
        self.arc[i * ARC_STEPS + step] + self.length_within(i, step as f64 / ARC_STEPS as f64, s)
    }

    /// Returns the parameter at an arc length from the start, clamped to the curve. Inverse of [`Self::length_at`].
    pub fn at_length(&self, length: f64) -> f64 {
        if length.is_nan() || length <= 0.0 {
            return 0.0;
        }
        if length >= self.length() {
            return 1.0;
        }
        let entry = self.arc.partition_point(|&a| a <= length).saturating_sub(1).min(self.arc.len() - 2);
        let (i, step) = (entry / ARC_STEPS, entry % ARC_STEPS);
        let from = step as f64 / ARC_STEPS as f64;
        let (mut low, mut high) = (from, from + 1.0 / ARC_STEPS as f64);
        let wanted = length - self.arc[entry];
        let span = self.arc[entry + 1] - self.arc[entry];
        let mut s = if span > 0.0 { low + (high - low) * wanted / span } else { low };
        // Newton's method inside a shrinking bracket.
        for _ in 0..60 {
            let error = self.length_within(i, from, s) - wanted;
            if error > 0.0 {
                high = s
            } else {
                low = s
            }
            let speed = hodograph(&self.segments[i], s).length();
            let newton = s - error / speed;
            let next = if newton > low && newton < high { newton } else { 0.5 * (low + high) };
            if (next - s).abs() < 1e-15 {
                break;
            }
            s = next;
        }
        self.knots[i] + s * (self.knots[i + 1] - self.knots[i])
    }

    /// Integrates the speed over part of a segment by five-point Gauss-Legendre quadrature.
    fn length_within(&self, segment: usize, a: f64, b: f64) -> f64 {
        const NODES: [(f64, f64); 5] = [
            (0.0, 0.568_888_888_888_888_9),
            (-0.538_469_310_105_683_1, 0.478_628_670_499_366_47),
            (0.538_469_310_105_683_1, 0.478_628_670_499_366_47),
            (-0.906_179_845_938_664, 0.236_926_885_056_189_08),
            (0.906_179_845_938_664, 0.236_926_885_056_189_08),
        ];
        let (middle, half) = (0.5 * (a + b), 0.5 * (b - a));
        let c = &self.segments[segment];
        half * NODES.iter().map(|&(x, w)| w * hodograph(c, middle + half * x).length()).sum::<f64>()
    }

    /// Returns the parameter of the point closest to `x`, and its distance. Of several closest points, the smallest
    /// parameter is returned.
    ///
    /// The search is global. A Bézier curve lies in the convex hull of its control points, so a part is discarded
    /// only if the box of its control points is farther away than the best point so far.
    pub fn closest(&self, x: DVec3) -> (f64, f64) {
        let mut best = (0.0, (self.position(0.0) - x).length_squared());
        for (i, c) in self.segments.iter().enumerate() {
            let mut stack = vec![(*c, 0.0, 1.0, 0)];
            while let Some((c, a, b, depth)) = stack.pop() {
                // The margin keeps rounding errors from changing the result where many points are equally close.
                if box_distance_squared(&c, x) > best.1 * (1.0 - 1e-12) {
                    continue;
                }
                if depth < SEARCH_DEPTH {
                    let (left, right) = halve(&c);
                    let middle = 0.5 * (a + b);
                    stack.push((right, middle, b, depth + 1));
                    stack.push((left, a, middle, depth + 1));
                    continue;
                }
                for s in [self.refine(i, x, a, b), b] {
                    let d = (bezier(&self.segments[i], s) - x).length_squared();
                    if d < best.1 * (1.0 - 1e-12) {
                        best = (self.knots[i] + s * (self.knots[i + 1] - self.knots[i]), d);
                    }
                }
            }
        }
        (best.0, best.1.sqrt())
    }

    /// Returns the parameter in `low..=high` of the point closest to `x`, by local refinement from `t`.
    pub fn closest_near(&self, x: DVec3, t: f64, low: f64, high: f64) -> f64 {
        let mut best = (t, (self.position(t) - x).length_squared());
        let (first, last) = (self.locate(low).0, self.locate(high).0);
        for i in first..=last {
            let width = self.knots[i + 1] - self.knots[i];
            let a = ((low - self.knots[i]) / width).clamp(0.0, 1.0);
            let b = ((high - self.knots[i]) / width).clamp(0.0, 1.0);
            for s in [self.refine(i, x, a, b), a, b] {
                let d = (bezier(&self.segments[i], s) - x).length_squared();
                if d < best.1 {
                    best = (self.knots[i] + s * width, d);
                }
            }
        }
        best.0.clamp(low, high)
    }

    /// Finds the zero of `(B - x) . B'` between the parameters `a` and `b` of a segment `B`, by Newton's method inside
    /// a bracket.
    fn refine(&self, segment: usize, x: DVec3, a: f64, b: f64) -> f64 {
        let c = &self.segments[segment];
        let slope = |s: f64| (bezier(c, s) - x).dot(hodograph(c, s));
        if slope(a) >= 0.0 {
            return a;
        }
        if slope(b) <= 0.0 {
            return b;
        }
        let (mut low, mut high, mut s) = (a, b, 0.5 * (a + b));
        for _ in 0..80 {
            let f = slope(s);
            if f > 0.0 {
                high = s
            } else {
                low = s
            }
            let d = hodograph(c, s);
            let df = d.length_squared() + (bezier(c, s) - x).dot(curvature(c, s));
            let newton = s - f / df;
            let next = if newton > low && newton < high { newton } else { 0.5 * (low + high) };
            if (next - s).abs() < 1e-16 {
                break;
            }
            s = next;
        }
        s
    }
}

/// Computes the first derivatives of the natural interpolating spline at its points. Continuity of the second
/// derivative gives a tridiagonal, diagonally dominant system.
fn slopes(points: &[DVec3], h: &[f64]) -> Vec<DVec3> {
    let n = points.len() - 1;
    let delta: Vec<DVec3> = (0..n).map(|i| (points[i + 1] - points[i]) / h[i]).collect();
    // Row i: lower * d[i-1] + diagonal * d[i] + upper * d[i+1] = right.
    let row = |i: usize| -> (f64, f64, f64, DVec3) {
        if i == 0 {
            (0.0, 2.0, 1.0, delta[0] * 3.0)
        } else if i == n {
            (1.0, 2.0, 0.0, delta[n - 1] * 3.0)
        } else {
            let (a, b) = (1.0 / h[i - 1], 1.0 / h[i]);
            (a, 2.0 * (a + b), b, (delta[i - 1] * a + delta[i] * b) * 3.0)
        }
    };
    let mut upper = vec![0.0; n + 1];
    let mut d = vec![DVec3::ZERO; n + 1];
    for i in 0..=n {
        let (l, diagonal, u, right) = row(i);
        let (before_u, before_d) = if i == 0 { (0.0, DVec3::ZERO) } else { (upper[i - 1], d[i - 1]) };
        let pivot = diagonal - l * before_u;
        upper[i] = u / pivot;
        d[i] = (right - before_d * l) / pivot;
    }
    for i in (0..n).rev() {
        let next = d[i + 1];
        d[i] -= next * upper[i];
    }
    d
}

fn bezier(c: &[DVec3; 4], s: f64) -> DVec3 {
    let r = 1.0 - s;
    c[0] * (r * r * r) + c[1] * (3.0 * r * r * s) + c[2] * (3.0 * r * s * s) + c[3] * (s * s * s)
}

fn hodograph(c: &[DVec3; 4], s: f64) -> DVec3 {
    let r = 1.0 - s;
    ((c[1] - c[0]) * (r * r) + (c[2] - c[1]) * (2.0 * r * s) + (c[3] - c[2]) * (s * s)) * 3.0
}

fn curvature(c: &[DVec3; 4], s: f64) -> DVec3 {
    ((c[2] - c[1] * 2.0 + c[0]) * (1.0 - s) + (c[3] - c[2] * 2.0 + c[1]) * s) * 6.0
}

/// Splits a Bézier segment at the parameter 1/2 by De Casteljau's algorithm.
fn halve(c: &[DVec3; 4]) -> ([DVec3; 4], [DVec3; 4]) {
    let (a, b, d) = (c[0].midpoint(c[1]), c[1].midpoint(c[2]), c[2].midpoint(c[3]));
    let (e, f) = (a.midpoint(b), b.midpoint(d));
    let g = e.midpoint(f);
    ([c[0], a, e, g], [g, f, d, c[3]])
}

fn box_distance_squared(c: &[DVec3; 4], x: DVec3) -> f64 {
    let min = c[0].min(c[1]).min(c[2]).min(c[3]);
    let max = c[0].max(c[1]).max(c[2]).max(c[3]);
    (x - x.clamp(min, max)).length_squared()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn points(range: std::ops::Range<usize>) -> impl Strategy<Value = Vec<DVec3>> {
        proptest::collection::vec((-1.0..1.0, -1.0..1.0, -1.0..1.0f64), range)
            .prop_map(|v| v.into_iter().map(|(x, y, z)| DVec3::new(x, y, z)).collect())
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None,
            rng_seed: proptest::test_runner::RngSeed::Fixed(7), ..ProptestConfig::default() })]

        #[test]
        fn passes_through_its_points_with_two_continuous_derivatives(p in points(2..12)) {
            let s = Spline::through(&p);
            for (i, k) in s.knots().iter().enumerate() {
                prop_assert!((s.position(*k) - p[i]).length() < 1e-12);
            }
            for k in &s.knots()[1..s.knots().len() - 1] {
                let e = 1e-9;
                let scale = s.second_derivative(*k).length().max(1.0);
                prop_assert!((s.derivative(k - e) - s.derivative(k + e)).length() < 1e-5 * scale);
                prop_assert!((s.second_derivative(k - e) - s.second_derivative(k + e)).length() < 1e-4 * scale);
            }
            prop_assert!(s.second_derivative(0.0).length() < 1e-9 * s.second_derivative(0.5).length().max(1e3));
        }

        #[test]
        fn arc_length_and_its_inverse_agree(p in points(2..9), u in 0.0..1.0f64) {
            let s = Spline::through(&p);
            prop_assume!(s.length() > 1e-3);
            let t = s.at_length(u * s.length());
            prop_assert!((s.length_at(t) - u * s.length()).abs() < 1e-9 * s.length());
            let chords: f64 = (0..4000).map(|i| {
                (s.position((i + 1) as f64 / 4000.0) - s.position(i as f64 / 4000.0)).length()
            }).sum();
            prop_assert!((chords - s.length()).abs() < 1e-3 * s.length(), "{} {}", chords, s.length());
        }

        #[test]
        fn closest_beats_every_sampled_point(p in points(2..9), x in points(1..2)) {
            let s = Spline::through(&p);
            let (t, d) = s.closest(x[0]);
            prop_assert!(((s.position(t) - x[0]).length() - d).abs() < 1e-9);
            for i in 0..=2000 {
                let sampled = (s.position(i as f64 / 2000.0) - x[0]).length();
                prop_assert!(d <= sampled + 1e-9, "{} > {}", d, sampled);
            }
        }
    }

    #[test]
    fn two_points_make_a_straight_even_line() {
        let s = Spline::through(&[DVec3::ZERO, DVec3::new(3.0, 4.0, 0.0)]);
        assert!((s.length() - 5.0).abs() < 1e-12);
        assert!((s.position(0.25) - DVec3::new(0.75, 1.0, 0.0)).length() < 1e-12);
        assert!((s.at_length(2.5) - 0.5).abs() < 1e-12);
        let (t, d) = s.closest(DVec3::new(1.5 - 4.0, 2.0 + 3.0, 0.0));
        assert!((t - 0.5).abs() < 1e-12 && (d - 5.0).abs() < 1e-12);
    }

    #[test]
    fn coinciding_neighbours_stay_finite() {
        let p = [DVec3::ZERO, DVec3::X, DVec3::X, DVec3::X, DVec3::new(2.0, 1.0, 0.0)];
        let s = Spline::through(&p);
        for i in 0..=100 {
            let t = i as f64 / 100.0;
            assert!(s.position(t).is_finite() && s.tangent(t).is_normalized());
        }
    }
}
