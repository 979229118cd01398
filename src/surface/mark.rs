//! Marks: strokes drawn on the skin. Their points are stored as triangle index and barycentric weights, so they stay
//! on the skin in any pose.

use crate::base::{Error, MAX_NAME, MarkId, Result};

/// Maximum points of a mark, far more than a hand-drawn stroke has. Marks with more points are rejected.
pub const MAX_MARK_POINTS: usize = 1 << 16;
/// Rounding tolerance: barycentric weights may leave 0..=1 by this amount, and their sum may differ from 1 by it.
const ROUNDING: f32 = 0.02;

/// A point on the skin.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct SurfacePoint {
    /// Index of the triangle in the display mesh, counted over all parts.
    pub triangle: u32,
    /// Barycentric weights of the triangle's corners; they sum to 1.
    pub barycentrics: [f32; 3],
    /// Pen pressure or trigger value, 0..=1.
    pub pressure: f32,
    /// Time of the sample, seconds, on the recording's clock.
    pub time: f64,
    /// Whether a new piece of the mark starts at this point: no segment joins this point to the previous one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lifted: bool,
}

/// A stroke on the skin.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SurfaceStroke {
    /// Id of the mark, unique in the document.
    pub id: MarkId,
    /// Display name.
    pub name: String,
    /// Points in drawing order, at least two.
    pub points: Vec<SurfacePoint>,
    /// Whether the mark is a ring: a segment joins the last point to the first.
    pub closed: bool,
    /// Brush radius, metres, world space.
    pub radius: f32,
}

impl SurfaceStroke {
    /// Checks that all values are valid. If `triangles` is given, also checks that all triangle indices are below it.
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
    use crate::base::{ChainId, NodeId};
    use crate::document::{Edit, Operation, asset, session};
    use crate::pose::BoneChain;

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

    fn bones(id: u32, parent: Option<(ChainId, usize)>) -> BoneChain {
        let joints = vec![[0.0, 1.0, 0.0], [0.1, 1.2, 0.0], [0.1, 1.5, 0.1]];
        BoneChain { id: ChainId(id), joints, parent, partner: None }
    }

    #[test]
    fn marks_and_pins_are_undone_hashed_and_read_back() {
        let mut s = session();
        s.apply(Edit::Open { asset: asset() }).unwrap();
        let plain = s.document().clone();
        let text = serde_json::to_string(&plain).unwrap();
        assert!(
            !text.contains("hidden") && !text.contains("marks") && !text.contains("pins"),
            "older programs read it"
        );
        let mut hashes = vec![plain.hash()];
        let changed = SurfaceStroke { name: "Other".into(), ..mark(0) };
        for edit in [
            Edit::AddMark { index: None, mark: Box::new(mark(0)) },
            Edit::AddMark { index: Some(0), mark: Box::new(mark(1)) },
            Edit::SetMark(Box::new(changed)),
            Edit::SetPins(vec![NodeId(2), NodeId(5)]),
            Edit::SetHidden(vec![0, 3]),
            Edit::SetBones(vec![bones(0, None), bones(3, Some((ChainId(0), 1)))]),
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
            (Edit::SetHidden(vec![3, 3]), "hidden part"),
            (Edit::SetHidden(vec![u32::MAX]), "hidden part"),
            (Edit::SetPins(vec![NodeId(2), NodeId(1)]), "pin"),
            (Edit::SetBones(vec![bones(3, Some((ChainId(0), 0)))]), "bone"),
        ] {
            let error = s.apply(edit).unwrap_err().to_string();
            assert!(error.contains(says), "{error}");
            assert_eq!(s.document().hash(), hash);
        }
        let many = SurfaceStroke { points: vec![mark(0).points[0]; MAX_MARK_POINTS + 1], ..mark(0) };
        assert!(s.apply(Edit::AddMark { index: None, mark: Box::new(many) }).is_err());
    }
}
