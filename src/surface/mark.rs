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
    /// Whether the mark begins again here: it is not joined to the point before.
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
    pub(crate) fn validate(&self, triangles: Option<usize>) -> Result<()> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::NodeId;
    use crate::document::{Edit, Operation, asset, session};

    fn mark(id: u32) -> SurfaceStroke {
        let point = |i: u32| SurfacePoint {
            triangle: i,
            barycentrics: [0.25, 0.5, 0.25],
            pressure: 0.8,
            time: f64::from(i),
            lifted: i == 2,
        };
        let points = (0..4).map(point).collect();
        SurfaceStroke { id: MarkId(id), name: "Mark".into(), points, closed: id == 1, radius: 0.01 }
    }

    #[test]
    fn marks_and_pins_are_undone_hashed_and_read_back() {
        let mut s = session();
        s.apply(Edit::Open { asset: asset() }).unwrap();
        let plain = s.document().clone();
        let text = serde_json::to_string(&plain).unwrap();
        assert!(!text.contains("marks") && !text.contains("pins"), "older programs read it");
        let mut hashes = vec![plain.hash()];
        let changed = SurfaceStroke { name: "Other".into(), ..mark(0) };
        for edit in [
            Edit::AddMark { index: None, mark: Box::new(mark(0)) },
            Edit::AddMark { index: Some(0), mark: Box::new(mark(1)) },
            Edit::SetMark(Box::new(changed)),
            Edit::SetPins(vec![NodeId(2), NodeId(5)]),
            Edit::RemoveMark(MarkId(0)),
        ] {
            let line = serde_json::to_string(&Operation::Do(edit.clone())).unwrap();
            s.run(serde_json::from_str(&line).unwrap()).unwrap();
            assert!(!hashes.contains(&s.document().hash()), "{line}");
            hashes.push(s.document().hash());
            let back: crate::document::Document =
                serde_json::from_str(&serde_json::to_string(s.document()).unwrap()).unwrap();
            assert_eq!((&back, back.hash()), (s.document(), s.document().hash()));
        }
        for hash in hashes.iter().rev().skip(1) {
            s.run(Operation::Undo).unwrap();
            assert_eq!(s.document().hash(), *hash);
        }
        assert_eq!(*s.document(), plain);
        for hash in &hashes[1..] {
            s.run(Operation::Redo).unwrap();
            assert_eq!(s.document().hash(), *hash);
        }
    }

    #[test]
    fn marks_that_do_not_fit_are_refused_with_a_reason() {
        let mut s = session();
        s.apply(Edit::Open { asset: asset() }).unwrap();
        s.know_triangles(100);
        let hash = s.document().hash();
        let with = |change: &dyn Fn(&mut SurfaceStroke)| {
            let mut mark = mark(0);
            change(&mut mark);
            Edit::AddMark { index: None, mark: Box::new(mark) }
        };
        for (edit, says) in [
            (with(&|m| m.points[1].barycentrics[0] = f32::NAN), "a point 1"),
            (with(&|m| m.points[3].barycentrics = [0.9, 0.9, 0.9]), "a point 3"),
            (with(&|m| m.points[0].pressure = 2.0), "a point 0"),
            (with(&|m| m.points.truncate(1)), "1 points"),
            (with(&|m| m.points[2].triangle = 100), "triangle 100"),
            (with(&|m| m.radius = f32::INFINITY), "radius"),
            (Edit::RemoveMark(MarkId(3)), "no mark 3"),
            (Edit::SetPins(vec![NodeId(999)]), "pin"),
            (Edit::SetPins(vec![NodeId(2), NodeId(1)]), "pin"),
        ] {
            let error = s.apply(edit).unwrap_err().to_string();
            assert!(error.contains(says), "{error}");
            assert_eq!(s.document().hash(), hash);
        }
        let many = SurfaceStroke { points: vec![mark(0).points[0]; MAX_MARK_POINTS + 1], ..mark(0) };
        assert!(s.apply(Edit::AddMark { index: None, mark: Box::new(many) }).is_err());
    }
}
