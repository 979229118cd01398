//! Marks: strokes drawn on the skin. Their points are named by triangle and barycentric weights, so that they stay on
//! the skin in any pose.

use crate::base::{Error, MarkId, Result};

/// More points than any hand draws; a file that asks for more is refused.
pub const MAX_MARK_POINTS: usize = 1 << 16;
/// Longer names are refused.
const MAX_NAME: usize = 1024;
/// Barycentric weights may leave 0..=1 by this, and their sum 1: rounding of pictures.
const ROUNDING: f32 = 0.02;

/// A point of the skin.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct SurfacePoint {
    /// Triangle of the display mesh, counted over all its parts.
    pub triangle: u32,
    /// Weights of its corners, they sum to 1.
    pub barycentrics: [f32; 3],
    /// Pressure or trigger, 0..=1.
    pub pressure: f32,
    /// Seconds, on the clock of the recording.
    pub time: f64,
    /// Whether the mark begins anew here: it is not joined to the point before.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lifted: bool,
}

/// A stroke on the skin.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SurfaceStroke {
    /// Unique in the document.
    pub id: MarkId,
    /// For the user.
    pub name: String,
    /// In drawing order, at least two.
    pub points: Vec<SurfacePoint>,
    /// A ring: the last point is joined to the first.
    pub closed: bool,
    /// Brush radius, metres, world.
    pub radius: f32,
}

impl SurfaceStroke {
    /// Whether it is sound, and, where the number of the mesh's triangles is known, fits it.
    pub(super) fn validate(&self, triangles: Option<usize>) -> Result<()> {
        let count = self.points.len();
        let unsound = |p: &&SurfacePoint| {
            let range = -ROUNDING..=1.0 + ROUNDING;
            !(p.barycentrics.iter().all(|b| range.contains(b))
                && (p.barycentrics.iter().sum::<f32>() - 1.0).abs() <= ROUNDING
                && (0.0..=1.0).contains(&p.pressure)
                && p.time.is_finite())
        };
        let problem = if !(2..=MAX_MARK_POINTS).contains(&count) {
            format!("has {count} points; it needs 2 to {MAX_MARK_POINTS}")
        } else if let Some(i) = self.points.iter().position(|p| unsound(&p)) {
            format!("has a point {i} that is no point of a triangle")
        } else if let Some(p) =
            self.points.iter().find(|p| triangles.is_some_and(|n| p.triangle as usize >= n))
        {
            format!("lies on triangle {}, which the mesh does not have", p.triangle)
        } else if !(self.radius.is_finite() && self.radius >= 0.0) {
            "has no valid brush radius".into()
        } else if self.name.len() > MAX_NAME {
            "has too long a name".into()
        } else {
            return Ok(());
        };
        Err(Error::input(format!("mark {} {problem}", self.id.0 + 1), "draw it again on this character"))
    }
}
