//! Marks and their sculpt layers on both sides of the body. With *Mirror*, the tool that draws on the skin does the same on
//! the other side: a mark gets its mirror image, and a change of a mark's layer also changes the layer of the mirror image.

use super::EditContext;
use super::pull::Pulled;
use crate::base::math::Vec3;
use crate::base::{Error, MarkId, Result, SculptId};
use crate::document::Edit;
use crate::rig::Mirror;
use crate::surface::{Form, Sculpt, SurfaceStroke, mirrored_mark, mirrored_offset, mirrored_sculpt, twins};
use std::mem::discriminant;

/// A mark's mirror image.
pub struct OtherMark {
    pub mark: SurfaceStroke,
    /// Whether the document has it.
    pub known: bool,
}

/// A sculpt layer's mirror image.
pub struct OtherLayer {
    /// The edits that add or change mark and layer.
    pub edits: Vec<Edit>,
    /// The layer and its offsets before; `None` for a new layer.
    pub changed: Pulled,
}

/// The mirror image of a drawn layer while a hand changes this layer.
pub struct LiveImage {
    sculpt: Sculpt,
    /// Per kinematic vertex, the kinematic vertex of the layer in the hand whose mirror image it is.
    twins: Vec<usize>,
}

impl LiveImage {
    /// Finds the mirror image of the layer `own` as [`EditContext::keep_layer`] will record it. `None` if there is none.
    pub fn new(context: &EditContext, own: &Sculpt) -> Option<Self> {
        let mirror = context.body.mirror.as_ref()?;
        let (Edit::AddSculpt { sculpt, .. } | Edit::SetSculpt(sculpt)) =
            context.other_layer(own).ok()?.edits.pop()?
        else {
            return None;
        };
        let positions = &context.character.control.positions;
        let twins = twins(positions, mirror, &own.region, &sculpt.region).collect();
        Some(Self { sculpt: *sculpt, twins })
    }

    /// Takes the offsets of `own`, without allocation.
    pub fn follow(&mut self, context: &EditContext, own: &Sculpt) {
        let (Some(mirror), Form::Drawn(from), Form::Drawn(to)) =
            (&context.body.mirror, &own.form, &mut self.sculpt.form)
        else {
            return;
        };
        for (to, twin) in to.iter_mut().zip(&self.twins) {
            *to = mirrored_offset(mirror, from[*twin]);
        }
    }

    /// The mirror image in its current state.
    pub fn sculpt(&self) -> &Sculpt {
        &self.sculpt
    }
}

impl EditContext {
    /// Returns the mirror image of a mark: the mark of the document that already is one, else a new mark. The id of a new mark
    /// is unused and follows the id of `mark`.
    ///
    /// # Errors
    /// The body has no plane of symmetry, the mark reaches over this plane, or the mark does not lie on this character.
    pub fn other_mark(&self, mark: &SurfaceStroke) -> Result<OtherMark> {
        let mirror = self.mirror_of(mark)?;
        let image = mirrored_mark(&self.character, mirror, mark)?;
        let marks = self.session.document().marks();
        let is_image = |a: &SurfaceStroke, b: &SurfaceStroke| a.closed == b.closed && a.points == b.points;
        let of = |other: &&SurfaceStroke| {
            // The mirror image of a mirror image is not exactly the mark.
            let back =
                || mirrored_mark(&self.character, mirror, other).is_ok_and(|back| is_image(&back, mark));
            other.id != mark.id
                && (is_image(other, &image) || other.points.len() == mark.points.len() && back())
        };
        if let Some(known) = marks.iter().find(of) {
            return Ok(OtherMark { mark: known.clone(), known: true });
        }
        let id = self.session.document().unused_mark_id().max(MarkId(mark.id.0 + 1));
        let name = format!("{} {}", if mark.closed { "Ring" } else { "Mark" }, id.0 + 1);
        Ok(OtherMark { mark: SurfaceStroke { id, name, ..image }, known: false })
    }

    /// Returns the mirror image of a mark, with the id and the name of the old image.
    ///
    /// # Errors
    /// As [`Self::other_mark`].
    pub fn mirror_image(&self, mark: &SurfaceStroke, old: SurfaceStroke) -> Result<SurfaceStroke> {
        let image = mirrored_mark(&self.character, self.mirror_of(mark)?, mark)?;
        Ok(SurfaceStroke { id: old.id, name: old.name, ..image })
    }

    /// Returns the symmetry of the body if a mark lies on one side of it.
    fn mirror_of(&self, mark: &SurfaceStroke) -> Result<&Mirror> {
        let mirror = self.mirror()?;
        let way = |point| {
            let x = self.body.bind_position(&self.character, point)?;
            Some(x - mirror.reflect_bind(x.as_dvec3()).as_vec3())
        };
        let first = mark.points.iter().find_map(way).unwrap_or(Vec3::ZERO);
        if mark.points.iter().filter_map(way).any(|way| way.dot(first) <= 0.0) {
            return Err(Error::input("this mark reaches over the middle of the body", "draw it on one side"));
        }
        Ok(mirror)
    }

    /// Returns the mirror image of a mark's sculpt layer. The layer of a mark that already is the mirror image keeps its id
    /// and its name.
    ///
    /// # Errors
    /// As [`Self::other_mark`]; or the layer belongs to no mark.
    pub fn other_layer(&self, sculpt: &Sculpt) -> Result<OtherLayer> {
        let document = self.session.document();
        let mark = self.mark_of(sculpt)?;
        let OtherMark { mark: image, known } = self.other_mark(mark)?;
        let mirror = self.mirror_of(mark)?;
        let layer = mirrored_sculpt(&self.character, mirror, sculpt, &image)?;
        // A mark may have a drawn layer and one with a profile: each has its own mirror image.
        let place = {
            let mut all = document.sculpts().iter().filter(|s| s.mark == sculpt.mark);
            let end = all.clone().count();
            all.position(|s| s.id == sculpt.id).unwrap_or(end)
        };
        let mut images = document.sculpts().iter().filter(|s| s.mark == Some(image.id));
        let old = images.nth(place).filter(|old| discriminant(&old.form) == discriminant(&sculpt.form));
        let id = document.unused_sculpt_id().max(SculptId(sculpt.id.0 + 1));
        let id = old.map_or(id, |old| old.id);
        let name = old.map_or_else(|| format!("{} (other side)", sculpt.name), |old| old.name.clone());
        let before = old.and_then(|old| match &old.form {
            Form::Drawn(offsets) => Some(offsets.clone()),
            Form::Profile(_) => None,
        });
        let layer = Box::new(Sculpt { id, name, ..layer });
        let mut edits = Vec::new();
        if !known {
            edits.push(Edit::AddMark { index: None, mark: Box::new(image) });
        }
        edits.push(match old {
            Some(_) => Edit::SetSculpt(layer),
            None => Edit::AddSculpt { index: None, sculpt: layer },
        });
        Ok(OtherLayer { edits, changed: (id, before) })
    }

    /// Returns the edits that add the mirror image of a mark's sculpt layer with a mark of its own, as in old takes.
    ///
    /// # Errors
    /// The layer belongs to no mark, or the body has no plane of symmetry.
    pub fn another_layer(&self, sculpt: &Sculpt) -> Result<Vec<Edit>> {
        let (mark, mirror) = (self.mark_of(sculpt)?, self.mirror()?);
        let document = self.session.document();
        let id = document.unused_mark_id();
        let image = SurfaceStroke { id, ..mirrored_mark(&self.character, mirror, mark)? };
        let layer = mirrored_sculpt(&self.character, mirror, sculpt, &image)?;
        let name = format!("{} (other side)", sculpt.name);
        let layer = Sculpt { id: document.unused_sculpt_id(), name, ..layer };
        Ok(vec![
            Edit::AddMark { index: None, mark: Box::new(image) },
            Edit::AddSculpt { index: None, sculpt: Box::new(layer) },
        ])
    }

    fn mark_of(&self, sculpt: &Sculpt) -> Result<&SurfaceStroke> {
        let mark = self.session.document().marks().iter().find(|m| Some(m.id) == sculpt.mark);
        let none = || Error::input("only the layer of a mark has another side", "choose a mark's layer");
        mark.ok_or_else(none)
    }

    fn mirror(&self) -> Result<&Mirror> {
        let none = || Error::input("this body has no two sides", "switch mirror off");
        self.body.mirror.as_ref().ok_or_else(none)
    }

    /// Records a layer that a hand has changed as one undo step, with `mirrors` on both sides of the body. Returns the changed
    /// layers, each with its offsets before; none if the edit is refused.
    pub fn keep_layer(
        &mut self,
        sculpt: Sculpt,
        before: Option<Vec<[f32; 3]>>,
        mirrors: bool,
    ) -> Vec<Pulled> {
        let id = sculpt.id;
        let other = if mirrors { self.other_layer(&sculpt).ok() } else { None };
        let sculpt = Box::new(sculpt);
        let edit = match before {
            Some(_) => Edit::SetSculpt(sculpt),
            None => Edit::AddSculpt { index: None, sculpt },
        };
        let mut changed = vec![(id, before)];
        let edit = match other {
            Some(other) => {
                changed.push(other.changed);
                Edit::Group(std::iter::once(edit).chain(other.edits).collect())
            }
            None => edit,
        };
        if self.apply(edit) { changed } else { Vec::new() }
    }
}
