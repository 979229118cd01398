//! Edits that add, replace, move or remove grips on the skin.

use super::operation::MAX_ID;
use super::{Document, Edit};
use crate::base::{Error, GripId, Result};
use crate::deform::fast::{Grips, MAX_GRIPS};
use crate::rig::GripPose;
use crate::surface::Grip;

/// Applies an edit of a grip and returns its inverse.
pub(super) fn apply(edit: &Edit, document: &mut Document) -> Result<Edit> {
    Ok(match edit {
        Edit::AddGrip { index, grip } => {
            grip.validate()?;
            let at = index.unwrap_or(document.grips.len());
            if at > document.grips.len()
                || document.grips.len() >= MAX_GRIPS
                || document.grip_index(grip.id).is_ok()
                || grip.id.0 >= MAX_ID
            {
                return Err(Error::input(
                    format!("grip {} cannot be added at {at}", grip.id.0),
                    format!("use an unused id, a place among the grips, and no more than {MAX_GRIPS}"),
                ));
            }
            document.grips.insert(at, (**grip).clone());
            Edit::RemoveGrip(grip.id)
        }
        Edit::SetGrip(grip) => {
            grip.validate()?;
            let i = document.grip_index(grip.id)?;
            Edit::SetGrip(Box::new(std::mem::replace(&mut document.grips[i], (**grip).clone())))
        }
        Edit::MoveGrip { id, translation, rotation } => {
            let i = document.grip_index(*id)?;
            let old = &document.grips[i];
            let new = Grip { translation: *translation, rotation: *rotation, ..old.clone() };
            new.validate()?;
            let inverse = Edit::MoveGrip { id: *id, translation: old.translation, rotation: old.rotation };
            document.grips[i] = new;
            inverse
        }
        Edit::RemoveGrip(id) => {
            let i = document.grip_index(*id)?;
            Edit::AddGrip { index: Some(i), grip: Box::new(document.grips.remove(i)) }
        }
        _ => return Err(Error::input("this edit is not about grips", "report it as a bug")),
    })
}

impl Document {
    /// Returns the grips on the skin, in the order in which they were made.
    pub fn grips(&self) -> &[Grip] {
        &self.grips
    }

    /// Returns the grip with this id.
    ///
    /// # Errors
    /// No grip has this id.
    pub fn grip(&self, id: GripId) -> Result<&Grip> {
        Ok(&self.grips[self.grip_index(id)?])
    }

    /// Returns an unused id for a new grip. Grips that only keys name keep theirs.
    pub fn unused_grip_id(&self) -> GripId {
        let keyed = self.motion.channels.iter().filter_map(|c| c.target.grip());
        let all = self.grips.iter().map(|g| g.id).chain(keyed);
        GripId(all.map(|id| id.0.saturating_add(1)).max().unwrap_or(0))
    }

    /// Writes the grips of the edited pose. Does not allocate if `out` has enough capacity.
    pub(super) fn grips_into(&self, out: &mut Vec<GripPose>) {
        out.clear();
        out.extend(self.grips.iter().map(Grip::pose));
    }

    /// Returns the parts of the skin that the grips move, for a binding.
    pub fn grip_shapes(&self) -> Grips {
        Grips::new(self.grips.iter().map(Grip::shape).collect())
    }

    fn grip_index(&self, id: GripId) -> Result<usize> {
        self.grips.iter().position(|g| g.id == id).ok_or_else(|| {
            Error::input(format!("there is no grip {}", id.0), format!("there are {}", self.grips.len()))
        })
    }

    /// Checks the grips of an untrusted document.
    pub(super) fn validate_grips(&self) -> Result<()> {
        self.grips.iter().try_for_each(Grip::validate)?;
        let mut ids: Vec<GripId> = self.grips.iter().map(|g| g.id).collect();
        ids.sort_unstable();
        ids.dedup();
        if ids.len() < self.grips.len() || ids.len() > MAX_GRIPS {
            return Err(Error::input(
                "two grips share an id, or there are too many",
                "restore the document from its journal",
            ));
        }
        Ok(())
    }
}
