//! Commands that change the binding, and the request to bind the character again.

use crate::base::{Error, JointId, MarkId, Result};
use crate::bind::{BindOptions, Character, MAX_SMOOTH, MAX_TURN, Reattached, VertexRuns};
use crate::document::{Document, Edit};
use crate::surface::{Reach, Region, SurfaceStroke};
use crate::workbench::{BindChange, CommandKind, Request, SkinPart, Workbench};

/// Maximum width of the region around a mark, in rings of vertices.
pub const MAX_RINGS: u32 = 32;
/// Place along the bone that a region gets first.
const MIDDLE: f32 = 0.5;

impl SkinPart {
    /// Returns the name of the part, and its vertices on the character of a document.
    ///
    /// # Errors
    /// The document lacks the mark or the sculpt layer, or the mark lies on rigid props only.
    pub fn vertices(self, document: &Document, character: &Character) -> Result<(String, VertexRuns)> {
        let (name, region) = match self {
            Self::Mark { id, rings } => {
                let mark = marked(document, id)?;
                (mark.name.clone(), Region::from_mark(character, mark, reach_of(rings))?)
            }
            Self::Shape(id) => {
                let sculpt = document.sculpt(id)?;
                (sculpt.name.clone(), sculpt.region.clone())
            }
        };
        Ok((name, VertexRuns::of(region.kinematic.into_iter().chain(region.passive))))
    }
}

/// Returns a mark of a document.
///
/// # Errors
/// The document lacks it.
pub(super) fn marked(document: &Document, id: MarkId) -> Result<&SurfaceStroke> {
    let mark = document.marks().iter().find(|m| m.id == id);
    mark.ok_or_else(|| Error::input("that mark is gone", "draw one on the skin"))
}

/// Returns the reach of a region of this number of rings around a mark. The rim, one edge farther, is not part of it.
pub(super) fn reach_of(rings: u32) -> Reach {
    Reach::Edges(rings.min(MAX_RINGS) + 1)
}

impl Workbench {
    /// Changes the document's binding. With `continues`, the change joins the undo step of the
    /// previous change of the binding, unless something else was done since.
    pub(super) fn change_binding(&mut self, change: &BindChange, continues: bool) {
        match self.changed_binding(change) {
            Ok(new) if new == *self.context.session.document().binding() => {}
            Ok(new) => {
                let now = |bench: &Self| Some((None, CommandKind::Bind, bench.context.session.history()));
                let continues = continues && self.sliding == now(self);
                self.apply(Edit::SetBinding(Box::new(new)), continues);
                self.sliding = now(self);
            }
            Err(error) => {
                self.context.notice = Some((&error).into());
                self.limit();
            }
        }
    }

    /// Returns the binding with a change.
    fn changed_binding(&self, change: &BindChange) -> Result<BindOptions> {
        let document = self.context.session.document();
        let mut new = document.binding().clone();
        let gone = |i: usize| Error::input(format!("the binding has no region {}", i + 1), "choose another");
        match change {
            BindChange::Method(method) => new.method = *method,
            BindChange::Rounds(rounds) => new.smooth = (*rounds).min(MAX_SMOOTH),
            BindChange::Smoothing(smoothing) => new.smoothing = *smoothing,
            BindChange::Turn(degrees) => {
                let joint = self.bone_joint()?;
                let turn = degrees.map(|d| if d.is_finite() { d.clamp(-MAX_TURN, MAX_TURN) } else { 0.0 });
                if turn == [0.0; 3] {
                    new.planes.remove(&joint);
                } else {
                    new.planes.insert(joint, turn);
                }
            }
            BindChange::Attach(part) => {
                let joint = self.bone_joint()?;
                let (name, vertices) = part.vertices(document, &self.context.character)?;
                new.region(&name, vertices).joint = Some(joint);
            }
            BindChange::Place(part) => {
                let (name, vertices) = part.vertices(document, &self.context.character)?;
                new.region(&name, vertices).t.get_or_insert(MIDDLE);
            }
            BindChange::PlaceAt(i, t) => {
                let t = t.map(|t| if t.is_finite() { t.clamp(0.0, 1.0) } else { MIDDLE });
                let region = new.reattached.get_mut(*i).ok_or_else(|| gone(*i))?;
                region.t = t;
                if region.joint.is_none() && t.is_none() {
                    new.reattached.remove(*i);
                }
            }
            BindChange::Remove(i) if *i >= new.reattached.len() => return Err(gone(*i)),
            BindChange::Remove(i) => drop(new.reattached.remove(*i)),
            BindChange::Reset => new = BindOptions::default(),
        }
        Ok(new)
    }

    /// The selected joint, if it has bones.
    pub(in crate::workbench) fn bone_joint(&self) -> Result<JointId> {
        let skeleton = &self.context.character.skeleton;
        let joint = self.selected().and_then(|n| skeleton.nodes[n.index()].joint);
        joint.filter(|j| skeleton.bones.iter().any(|b| b.parent == *j)).ok_or_else(|| {
            Error::input(
                "no joint is selected, or the selected one has no bone",
                "select a joint of the skin",
            )
        })
    }

    /// Requests another binding of the character after an edit, an undo or a redo.
    pub(super) fn binding_changed(&mut self) {
        let binding = self.context.session.document().binding();
        if self.bound != *binding {
            self.bound.clone_from(binding);
            self.requests.push(Request::Bind);
        }
    }

    /// The parts of the skin that a region can be made from: the newest mark, and the selected sculpt layer.
    pub fn skin_parts(&self, rings: u32) -> [Option<(&str, SkinPart)>; 2] {
        let mark = self.context.session.document().marks().last();
        [
            mark.map(|m| (&*m.name, SkinPart::Mark { id: m.id, rings })),
            self.shape().map(|s| (&*s.name, SkinPart::Shape(s.id))),
        ]
    }

    /// The regions attached by hand.
    pub fn reattached(&self) -> &[Reattached] {
        &self.context.session.document().binding().reattached
    }
}
