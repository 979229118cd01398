//! Edits that add, change or remove firm and soft regions of the skin.

use super::{Document, Edit, MAX_ID};
use crate::base::{Error, FirmId, Result};
use crate::bind::Character;
use crate::deform::volume::firm::{Firm, FirmRegion, MAX_FIRM};

/// Applies an edit of a region and returns its inverse.
pub(super) fn apply(edit: &Edit, document: &mut Document) -> Result<Edit> {
    Ok(match edit {
        Edit::AddFirm { index, region } => {
            region.validate()?;
            let regions = document.firm.change();
            let at = index.unwrap_or(regions.len());
            if at > regions.len()
                || regions.len() >= MAX_FIRM
                || regions.iter().any(|r| r.id == region.id)
                || region.id.0 >= MAX_ID
            {
                return Err(Error::input(
                    format!("firm region {} cannot be added at {at}", region.id.0),
                    format!("use an unused id, a place among the regions, and no more than {MAX_FIRM}"),
                ));
            }
            regions.insert(at, (**region).clone());
            Edit::RemoveFirm(region.id)
        }
        Edit::SetFirm { id, factor } => {
            let i = document.firm_index(*id)?;
            let old = &document.firm[i];
            let inverse = Edit::SetFirm { id: *id, factor: old.factor };
            FirmRegion { factor: *factor, ..old.clone() }.validate()?;
            document.firm.change()[i].factor = *factor;
            inverse
        }
        Edit::RemoveFirm(id) => {
            let i = document.firm_index(*id)?;
            let region = Box::new(document.firm.change().remove(i));
            Edit::AddFirm { index: Some(i), region }
        }
        _ => return Err(Error::input("this edit is not about firm regions", "report it as a bug")),
    })
}

impl Document {
    /// Returns the firm and soft regions of the skin, in the order in which they were made.
    pub fn firm(&self) -> &Firm {
        &self.firm
    }

    /// Returns an unused id for a new firm region.
    pub fn unused_firm_id(&self) -> FirmId {
        FirmId(self.firm.iter().map(|r| r.id.0 + 1).max().unwrap_or(0))
    }

    fn firm_index(&self, id: FirmId) -> Result<usize> {
        self.firm.iter().position(|r| r.id == id).ok_or_else(|| {
            Error::input(
                format!("there is no firm region {}", id.0),
                format!("there are {}", self.firm.len()),
            )
        })
    }

    /// Checks the firm regions of an untrusted document.
    pub(in crate::document) fn validate_firm(&self) -> Result<()> {
        self.firm.iter().try_for_each(FirmRegion::validate)?;
        let mut ids: Vec<FirmId> = self.firm.iter().map(|r| r.id).collect();
        ids.sort_unstable();
        ids.dedup();
        if ids.len() == self.firm.len() && ids.len() <= MAX_FIRM && ids.iter().all(|id| id.0 < MAX_ID) {
            return Ok(());
        }
        Err(Error::input(
            "two firm regions share an id, or there are too many",
            "restore the document from its journal",
        ))
    }

    /// Checks the firm regions against the character.
    pub(in crate::document) fn firm_fits(&self, character: &Character) -> Result<()> {
        let count = character.control.positions.len();
        match self.firm.iter().find(|r| r.vertices.iter().any(|v| v as usize >= count)) {
            None => Ok(()),
            Some(region) => {
                let problem =
                    format!("firm region {:?} names a vertex that the mesh does not have", region.name);
                Err(Error::input(problem, format!("remove the region; the mesh has {count} vertices")))
            }
        }
    }
}
