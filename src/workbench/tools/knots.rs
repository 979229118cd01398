//! Drags the knots of marks over the skin. The mark follows while the hand drags. The sculpt layers that were made from
//! the mark follow when the hand releases the knot.

use super::EditContext;
use super::skin::Touch;
use crate::base::math::Vec3;
use crate::base::{MarkId, Result, Version};
use crate::document::Edit;
use crate::geom::Place;
use crate::surface::{SurfacePoint, SurfaceStroke, mark_knots, with_knot};

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

    /// All knots with their skin points.
    fn each<'a>(&'a self, context: &'a EditContext) -> impl Iterator<Item = (Knot, &'a SurfacePoint)> {
        context.session.document().marks().iter().zip(&self.of).flat_map(|(mark, knots)| {
            let knot = |which| Knot { mark: mark.id, which };
            let places = knots.iter().enumerate();
            places.filter_map(move |(which, &k)| Some((knot(which), mark.points.get(k)?)))
        })
    }

    /// Returns the knot nearest to a touch, within `reach` metres.
    pub fn nearest(&self, context: &EditContext, touch: &Touch, reach: f32) -> Option<Knot> {
        let away = self.each(context).filter_map(|(knot, p)| Some((touch.distance(context, p)?, knot)));
        let near = away.filter(|(distance, _)| *distance <= reach);
        near.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, knot)| knot)
    }

    /// Calls `f` for the knots of all marks but the mark `except`, each with its position after linear blend skinning,
    /// world space, and a flag: whether the knot is `hover`.
    pub fn dots(
        &self,
        context: &EditContext,
        except: Option<MarkId>,
        hover: Option<Knot>,
        mut f: impl FnMut(&SurfacePoint, Vec3, bool),
    ) {
        for (knot, point) in self.each(context).filter(|(knot, _)| Some(knot.mark) != except) {
            if let Some(x) = context.body.skinned_position(&context.character, &context.rig, point) {
                f(point, x, hover == Some(knot));
            }
        }
    }

    /// Starts to drag a knot. With `mirrors`, the mirror image of the mark follows.
    pub fn drag(&self, context: &EditContext, knot: Knot, mirrors: bool) -> Option<Drag> {
        let marks = context.session.document().marks();
        let index = marks.iter().position(|m| m.id == knot.mark)?;
        let (mark, knots) = (marks[index].clone(), self.of.get(index)?.clone());
        let other = mirrors.then(|| context.other_mark(&mark).ok()).flatten().filter(|other| other.known);
        Some(Drag { now: mark.clone(), mark, other: other.map(|other| other.mark), knots, which: knot.which })
    }
}

/// A knot in a hand.
pub struct Drag {
    mark: SurfaceStroke,
    /// The mark that is the mirror image, if it follows.
    other: Option<SurfaceStroke>,
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

    /// Ends the drag. Returns the edit of the mark, of its mirror image and of their sculpt layers; `None` if the knot has not
    /// moved.
    ///
    /// # Errors
    /// The mark now lies only on rigid props.
    pub fn end(self, context: &EditContext) -> Result<Option<Edit>> {
        if self.now.points == self.mark.points {
            return Ok(None);
        }
        let image = self.other.and_then(|old| context.mirror_image(&self.now, old).ok());
        let mut edits = Vec::new();
        for mark in std::iter::once(self.now).chain(image) {
            let layers = context.session.document().sculpts().iter().filter(|s| s.mark == Some(mark.id));
            let changed = layers.map(|s| s.on_mark(&context.character, &mark)).collect::<Result<Vec<_>>>()?;
            edits.push(Edit::SetMark(Box::new(mark)));
            edits.extend(changed.into_iter().map(|s| Edit::SetSculpt(Box::new(s))));
        }
        Ok(Some(Edit::Group(edits)))
    }
}
