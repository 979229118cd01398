//! Builds triangle lists from indices and primitive modes (glTF 2.0, 3.7.2.1).

use super::accessor::Accessor;
use super::item::Item;
use crate::asset::limits;
use crate::base::Result;

/// The order in which a primitive's vertices form triangles.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    List,
    Strip,
    Fan,
}

/// Returns the mode of a primitive, or the name of a mode without triangles (inner error).
pub(super) fn mode(item: &Item) -> Result<std::result::Result<Mode, &'static str>> {
    Ok(match item.whole("mode")?.unwrap_or(4) {
        0 => Err("points"),
        1..=3 => Err("lines"),
        4 => Ok(Mode::List),
        5 => Ok(Mode::Strip),
        6 => Ok(Mode::Fan),
        other => return Err(item.broken(format!("its mode {other} does not exist"))),
    })
}

/// Returns the indices of a primitive: from its accessor, or all vertices in order without an accessor.
pub(super) fn indices(item: &Item, vertices: usize) -> Result<Vec<u32>> {
    let count = item.ctx.table("accessors", limits::ACCESSORS)?.len();
    let Some(index) = item.index("indices", count, "accessor")? else {
        item.ctx.spend(&item.at, 4 * vertices as u64)?;
        return Ok((0..vertices as u32).collect());
    };
    let accessor = Accessor::open(item.ctx, index)?;
    if accessor.width != 1 {
        return Err(accessor.item.broken("it holds indices, so it must be of type SCALAR"));
    }
    accessor.wholes()
}

/// Expands indices to triangles. In strips and fans, degenerate triangles (which only connect pieces) are skipped.
///
/// # Errors
/// An index is out of range.
pub(super) fn expand(item: &Item, indices: &[u32], mode: Mode, vertices: usize) -> Result<Vec<[u32; 3]>> {
    if let Some(at) = indices.iter().position(|&i| i as usize >= vertices) {
        return Err(item.broken(format!(
            "its index {at} refers to vertex {}, but it has {vertices} vertices",
            indices[at]
        )));
    }
    let spare = match mode {
        Mode::List => indices.len() % 3,
        _ if indices.len() < 3 => indices.len(),
        _ => 0,
    };
    if spare > 0 {
        item.mend(format!("its last {spare} indices form no triangle and were ignored"));
    }
    let room = if mode == Mode::List { indices.len() / 3 } else { indices.len().saturating_sub(2) };
    item.ctx.spend(&item.at, 12 * room as u64)?;
    let proper = |t: &[u32; 3]| t[0] != t[1] && t[1] != t[2] && t[2] != t[0];
    Ok(match mode {
        Mode::List => indices.chunks_exact(3).map(|t| [t[0], t[1], t[2]]).collect(),
        Mode::Strip => indices
            .windows(3)
            .enumerate()
            .map(|(i, t)| if i % 2 == 0 { [t[0], t[1], t[2]] } else { [t[0], t[2], t[1]] })
            .filter(proper)
            .collect(),
        Mode::Fan => {
            let hub = indices.first().copied().unwrap_or(0);
            indices.get(1..).unwrap_or(&[]).windows(2).map(|t| [t[0], t[1], hub]).filter(proper).collect()
        }
    })
}
