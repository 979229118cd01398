//! Edits that add, replace or remove marks on the skin.

use super::{Context, Document, Edit, MAX_ID};
use crate::base::{Error, Result};
use crate::document::contents::MAX_MARKS;

/// Applies an edit of a mark and returns its inverse.
pub(super) fn apply(edit: &Edit, document: &mut Document, context: &Context) -> Result<Edit> {
    Ok(match edit {
        Edit::AddMark { index, mark } => {
            mark.validate(context.triangles)?;
            let at = index.unwrap_or(document.marks.len());
            if at > document.marks.len()
                || document.marks.len() >= MAX_MARKS
                || document.mark_index(mark.id).is_ok()
                || mark.id.0 >= MAX_ID
            {
                return Err(Error::input(
                    format!("mark {} cannot be added at {at}", mark.id.0),
                    format!("use an unused id, a place among the marks, and no more than {MAX_MARKS}"),
                ));
            }
            document.marks.insert(at, (**mark).clone());
            Edit::RemoveMark(mark.id)
        }
        Edit::SetMark(mark) => {
            mark.validate(context.triangles)?;
            let i = document.mark_index(mark.id)?;
            Edit::SetMark(Box::new(std::mem::replace(&mut document.marks[i], (**mark).clone())))
        }
        Edit::RemoveMark(id) => {
            let i = document.mark_index(*id)?;
            Edit::AddMark { index: Some(i), mark: Box::new(document.marks.remove(i)) }
        }
        _ => return Err(Error::input("this edit is not about marks", "report it as a bug")),
    })
}
