//! Edits that add, replace or remove sculpt layers.

use super::operation::MAX_ID;
use super::{Context, Document, Edit};
use crate::base::{Error, Result};
use crate::surface::MAX_SCULPTS;

/// Applies an edit of a sculpt layer and returns its inverse.
pub(super) fn apply(edit: &Edit, document: &mut Document, _: &Context) -> Result<Edit> {
    Ok(match edit {
        Edit::AddSculpt { index, sculpt } => {
            sculpt.validate(None)?;
            let at = index.unwrap_or(document.sculpts.len());
            if at > document.sculpts.len()
                || document.sculpts.len() >= MAX_SCULPTS
                || document.sculpt_index(sculpt.id).is_ok()
                || sculpt.id.0 >= MAX_ID
            {
                return Err(Error::input(
                    format!("shape {} cannot be added at {at}", sculpt.id.0),
                    format!("use an unused id, a place among the shapes, and no more than {MAX_SCULPTS}"),
                ));
            }
            document.sculpts.insert(at, (**sculpt).clone());
            Edit::RemoveSculpt(sculpt.id)
        }
        Edit::SetSculpt(sculpt) => {
            sculpt.validate(None)?;
            let i = document.sculpt_index(sculpt.id)?;
            Edit::SetSculpt(Box::new(std::mem::replace(&mut document.sculpts[i], (**sculpt).clone())))
        }
        Edit::RemoveSculpt(id) => {
            let i = document.sculpt_index(*id)?;
            Edit::AddSculpt { index: Some(i), sculpt: Box::new(document.sculpts.remove(i)) }
        }
        _ => return Err(Error::input("this edit is not about shapes", "report it as a bug")),
    })
}
