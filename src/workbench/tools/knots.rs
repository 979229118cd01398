//! Drags the knots of marks over the skin. The mark follows while the hand drags. The sculpt layers that were made from
//! the mark follow when the hand releases the knot.

use super::EditContext;
use crate::base::math::Vec3;
use crate::base::{MarkId, Result, Version};
use crate::document::Edit;
use crate::geom::Place;
use crate::surface::{SurfaceStroke, mark_knots, with_knot};

/// The knots of all marks of the document.
#[derive(Default)]
pub struct Knots {
    /// Document revision of `of`.
    revision: Option<Version>,
    /// Per mark: its knots, as indices of points.
    of: Vec<Vec<usize>>,
}

/// A knot of a mark.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Knot {
    mark: MarkId,
    which: usize,
}

impl Knots {
    /// Finds the knots again if the document has changed.
    pub fn update(&mut self, context: &EditContext) {
        let revision = Some(context.session.revision());
        if self.revision != revision {
            self.revision = revision;
            let marks = context.session.document().marks();
            self.of = marks.iter().map(|m| mark_knots(&context.character, m)).collect();
        }
    }

    /// Calls `f` for each knot with its position after linear blend skinning, world space.
    fn each(&self, context: &EditContext, mut f: impl FnMut(Knot, Vec3)) {
        for (mark, knots) in context.session.document().marks().iter().zip(&self.of) {
            for (which, &k) in knots.iter().enumerate() {
                let point = mark.points.get(k);
                let x =
                    point.and_then(|p| context.body.skinned_position(&context.character, &context.rig, p));
                if let Some(x) = x {
                    f(Knot { mark: mark.id, which }, x);
                }
            }
        }
    }

    /// Returns the knot nearest to a point, within `reach` metres.
    pub fn nearest(&self, context: &EditContext, tip: Vec3, reach: f32) -> Option<Knot> {
        let mut best: Option<(f32, Knot)> = None;
        self.each(context, |knot, x| {
            let distance = x.distance(tip);
            if distance <= reach && best.is_none_or(|b| distance < b.0) {
                best = Some((distance, knot));
            }
        });
        best.map(|b| b.1)
    }

    /// Positions of the knots of all marks but the mark `except`, each with a flag: whether the knot is `hover`.
    pub fn dots(
        &self,
        context: &EditContext,
        except: Option<MarkId>,
        hover: Option<Knot>,
        mut f: impl FnMut(Vec3, bool),
    ) {
        self.each(context, |knot, x| {
            if Some(knot.mark) != except {
                f(x, hover == Some(knot));
            }
        });
    }

    /// Starts to drag a knot.
    pub fn drag(&self, context: &EditContext, knot: Knot) -> Option<Drag> {
        let marks = context.session.document().marks();
        let index = marks.iter().position(|m| m.id == knot.mark)?;
        let (mark, knots) = (marks[index].clone(), self.of.get(index)?.clone());
        Some(Drag { now: mark.clone(), mark, knots, which: knot.which })
    }
}

/// A knot in a hand.
pub struct Drag {
    mark: SurfaceStroke,
    knots: Vec<usize>,
    which: usize,
    /// The mark with the knot at its current place.
    pub now: SurfaceStroke,
}

impl Drag {
    /// Moves the knot to a place of the skin.
    pub fn to(&mut self, context: &EditContext, place: Place) {
        let (character, walk) = (&context.character, &context.body.walk);
        if let Some(now) = with_knot(character, walk, &self.mark, &self.knots, self.which, place) {
            self.now = now;
        }
    }

    /// Ends the drag. Returns the edit of the mark and of its sculpt layers; `None` if the knot has not moved.
    ///
    /// # Errors
    /// The mark now lies only on rigid props.
    pub fn end(self, context: &EditContext) -> Result<Option<Edit>> {
        if self.now.points == self.mark.points {
            return Ok(None);
        }
        let layers = context.session.document().sculpts().iter().filter(|s| s.mark == Some(self.mark.id));
        let changed = layers.map(|s| s.on_mark(&context.character, &self.now));
        let mut edits = changed.map(|s| Ok(Edit::SetSculpt(Box::new(s?)))).collect::<Result<Vec<Edit>>>()?;
        edits.insert(0, Edit::SetMark(Box::new(self.now)));
        Ok(Some(Edit::Group(edits)))
    }
}
