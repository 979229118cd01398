//! Strokes: device samples reduced to knots, with a smooth curve through the knots (thesis 7.1).

use super::Sample;
use super::reduce;
use super::reduce::unit;
use crate::base::math::{DQuat, DVec3, Vec3};
use crate::base::{Error, Result};
use crate::geom::Spline;

/// Maximum number of knots; files with more are rejected.
pub const MAX_KNOTS: usize = 4096;

/// A reduced stroke and the curve through its knots. Only the knots are serialised.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "Vec<Sample>", into = "Vec<Sample>")]
pub struct Stroke {
    knots: Vec<Sample>,
    spline: Spline,
}

impl PartialEq for Stroke {
    fn eq(&self, other: &Self) -> bool {
        self.knots == other.knots
    }
}

impl TryFrom<Vec<Sample>> for Stroke {
    type Error = Error;

    fn try_from(knots: Vec<Sample>) -> Result<Self> {
        Self::from_knots(knots)
    }
}

impl From<Stroke> for Vec<Sample> {
    fn from(stroke: Stroke) -> Self {
        stroke.knots
    }
}

impl Stroke {
    /// Creates a stroke through the given knots, without reduction.
    ///
    /// # Errors
    /// There are fewer than 2 or more than [`MAX_KNOTS`] knots, a value is not finite, or all knots coincide.
    pub fn from_knots(knots: Vec<Sample>) -> Result<Self> {
        if knots.len() < 2 || knots.len() > MAX_KNOTS {
            return Err(Error::input(
                format!("a stroke has {} knots", knots.len()),
                format!("draw a stroke of 2 to {MAX_KNOTS} knots"),
            ));
        }
        if let Some(i) = knots.iter().position(|k| !k.is_finite()) {
            return Err(Error::input(format!("stroke knot {i} is not finite"), "draw the stroke again"));
        }
        let points: Vec<DVec3> = knots.iter().map(Sample::point).collect();
        let reach = points.iter().map(|p| (*p - points[0]).length()).fold(0.0, f64::max);
        let magnitude = points.iter().map(|p| p.length()).fold(0.0, f64::max);
        // Below this extent, positions differ only by rounding.
        if reach <= magnitude * 1e-6 || reach < 1e-12 {
            return Err(Error::input("the stroke has no length", "draw a longer stroke"));
        }
        let spline = Spline::through(&points);
        Ok(Self { knots, spline })
    }

    /// Reduces recorded samples (world positions, `tolerance` in metres) and fits the curve. Drops non-finite
    /// samples.
    ///
    /// # Errors
    /// Same as [`Self::from_knots`].
    pub fn from_samples(samples: &[Sample], tolerance: f32) -> Result<Self> {
        let finite: Vec<Sample> = samples.iter().copied().filter(Sample::is_finite).collect();
        let at: Vec<DVec3> = finite.iter().map(Sample::point).collect();
        Self::from_knots(limited(&finite, reduce(&finite, &at, f64::from(tolerance))))
    }

    /// Returns the knots, in drawing order.
    pub fn knots(&self) -> &[Sample] {
        &self.knots
    }

    /// Returns the curve.
    pub fn spline(&self) -> &Spline {
        &self.spline
    }

    /// Returns the length of the curve, metres.
    pub fn length(&self) -> f32 {
        self.spline.length() as f32
    }

    /// Returns the time at curve parameter `t`, seconds, linear between knots.
    pub fn time(&self, t: f64) -> f64 {
        let (i, s) = self.spline.locate(t);
        self.knots[i].time + (self.knots[i + 1].time - self.knots[i].time) * s
    }

    /// Returns the time from the first to the last knot, seconds.
    pub fn duration(&self) -> f64 {
        self.knots[self.knots.len() - 1].time - self.knots[0].time
    }

    /// Returns the pressure at curve parameter `t`, linear between knots.
    pub fn pressure(&self, t: f64) -> f32 {
        let (i, s) = self.spline.locate(t);
        self.knots[i].pressure + (self.knots[i + 1].pressure - self.knots[i].pressure) * s as f32
    }

    /// Returns the device's orientation at curve parameter `t`, by slerp between knots.
    pub fn orientation(&self, t: f64) -> DQuat {
        let (i, s) = self.spline.locate(t);
        unit(self.knots[i].orientation).slerp(unit(self.knots[i + 1].orientation), s)
    }

    /// Returns the device's up direction at the first knot.
    pub fn up(&self) -> DVec3 {
        unit(self.knots[0].orientation) * DVec3::Y
    }

    /// Returns the device's roll about the stroke's tangent, accumulated from the start to `t`, radians. The roll
    /// excludes rotation of the device that only follows the direction of the curve.
    pub fn roll(&self, t: f64) -> f64 {
        let (last, s) = self.spline.locate(t);
        let mut roll = 0.0;
        for i in 0..=last {
            let turn = unit(self.knots[i + 1].orientation) * unit(self.knots[i].orientation).inverse();
            let k = self.spline.knots();
            let tangent = self.spline.tangent(0.5 * (k[i] + k[i + 1]));
            roll += turn.to_scaled_axis().dot(tangent) * if i == last { s } else { 1.0 };
        }
        roll
    }

    /// Returns a copy of the stroke with one knot moved.
    ///
    /// # Errors
    /// The knot does not exist, or all knots of the result coincide.
    pub fn with_knot(&self, index: usize, position: [f32; 3]) -> Result<Self> {
        let mut knots = self.knots.clone();
        let count = knots.len();
        let knot = knots.get_mut(index).ok_or_else(|| {
            Error::input(format!("the stroke has no knot {index}"), format!("choose one of 0..{count}"))
        })?;
        knot.position = position;
        Self::from_knots(knots)
    }

    /// Returns a copy of the stroke with every position mapped, for example by a rigid motion.
    ///
    /// # Errors
    /// A mapped position is not finite, or all knots of the result coincide.
    pub fn mapped(&self, map: impl Fn(Vec3) -> Vec3) -> Result<Self> {
        let knot = |k: &Sample| Sample { position: map(Vec3::from(k.position)).into(), ..*k };
        Self::from_knots(self.knots.iter().map(knot).collect())
    }
}

/// Returns the kept samples, evenly thinned if the reduction leaves too many.
fn limited(samples: &[Sample], kept: Vec<usize>) -> Vec<Sample> {
    let count = kept.len().min(MAX_KNOTS);
    (0..count).map(|i| samples[kept[i * (kept.len() - 1) / (count - 1).max(1)]]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::math::Quat;

    fn arc(count: usize) -> Vec<Sample> {
        (0..count)
            .map(|i| {
                let a = i as f32 / (count - 1) as f32 * 2.0;
                Sample::at(Vec3::new(a.sin(), 1.0 - a.cos(), 0.0), f64::from(a))
            })
            .collect()
    }

    #[test]
    fn a_recorded_arc_becomes_few_knots_on_the_arc() {
        let stroke = Stroke::from_samples(&arc(500), 0.01).unwrap();
        assert!((4..20).contains(&stroke.knots().len()), "{}", stroke.knots().len());
        for i in 0..=100 {
            let p = stroke.spline().position(i as f64 / 100.0);
            assert!(((p - DVec3::Y).length() - 1.0).abs() < 0.01);
        }
        assert!((stroke.duration() - 2.0).abs() < 1e-6);
        assert!((stroke.length() - 2.0).abs() < 0.01);
        // The hand moves at constant speed, so time is proportional to arc length.
        let half = stroke.spline().at_length(0.5 * stroke.spline().length());
        assert!((stroke.time(half) - 1.0).abs() < 0.05);
    }

    #[test]
    fn bad_strokes_are_refused_with_a_reason() {
        assert!(Stroke::from_knots(vec![Sample::default()]).unwrap_err().to_string().contains("1 knots"));
        let same = vec![Sample::default(); 5];
        assert!(Stroke::from_knots(same).unwrap_err().to_string().contains("no length"));
        let mut bad = arc(4);
        bad[2].position[1] = f32::NAN;
        assert!(Stroke::from_knots(bad).unwrap_err().to_string().contains("knot 2"));
        assert!(Stroke::from_samples(&[], 0.01).is_err());
        let text = serde_json::to_string(&vec![Sample::default(); 3]).unwrap();
        assert!(serde_json::from_str::<Stroke>(&text).is_err());
    }

    #[test]
    fn knots_survive_json_to_the_bit() {
        let stroke = Stroke::from_samples(&arc(57), 0.003).unwrap();
        let back: Stroke = serde_json::from_str(&serde_json::to_string(&stroke).unwrap()).unwrap();
        assert_eq!(stroke, back);
    }

    #[test]
    fn roll_counts_turns_about_the_tangent_only() {
        let mut line: Vec<Sample> = (0..5).map(|i| Sample::at(Vec3::X * i as f32, 0.0)).collect();
        for (i, k) in line.iter_mut().enumerate() {
            k.orientation = Quat::from_rotation_x(i as f32 * 0.5).to_array();
        }
        let stroke = Stroke::from_knots(line.clone()).unwrap();
        assert!((stroke.roll(1.0) - 2.0).abs() < 1e-6 && (stroke.roll(0.5) - 1.0).abs() < 1e-6);
        for (i, k) in line.iter_mut().enumerate() {
            k.orientation = Quat::from_rotation_y(i as f32 * 0.5).to_array();
        }
        assert!(Stroke::from_knots(line).unwrap().roll(1.0).abs() < 1e-6);
    }
}
