//! Baked frames as one glTF: the pose by node animation, the rest by sparse morph targets with weight animation.

use super::{Bake, Frame};
use crate::base::{Error, Result};
use crate::editor::Model;
use crate::export::{Key, Options, Receipt, Shape, posed};
use std::path::Path;

/// A budget that the written file misses is tightened so, at most so often.
const TIGHTER: f64 = 0.7;
const ATTEMPTS: u32 = 6;

/// What became of a bake.
#[derive(Clone, Debug)]
pub struct Joined {
    /// How the written file compares with every frame.
    pub receipt: Receipt,
    /// First and last frame.
    pub frames: [u32; 2],
}

/// Writes a folder's frames, or a range of them, as a .glb that any viewer plays. Without a budget every frame has a
/// morph target of its own; with one, few that all frames share, and no vertex is off by more, millimetres.
///
/// # Errors
/// Frames are missing or damaged; the budget cannot be kept; as [`posed`].
pub fn join(
    bake: &Bake,
    model: &Model,
    frames: Option<[u32; 2]>,
    budget_mm: Option<f64>,
    out: &Path,
) -> Result<Joined> {
    if budget_mm.is_some_and(|b| !(b.is_finite() && b > 0.0)) {
        return Err(Error::input(
            "the error budget is not above 0",
            "give millimetres, e.g. --budget-mm 0.1",
        ));
    }
    let there = bake.frames()?;
    let (Some(&first), Some(&last)) = (there.first(), there.last()) else {
        return Err(Error::input("there are no frames", "bake some first"));
    };
    let frames = frames.unwrap_or([first, last]);
    let missing: Vec<u32> =
        (frames[0]..=frames[1]).filter(|f| there.binary_search(f).is_err()).take(4).collect();
    if let Some(gap) = missing.first() {
        return Err(Error::broken(bake.path(*gap), "frame", "it is missing", "bake the whole range first"));
    }
    let read: Vec<Frame> = (frames[0]..=frames[1]).map(|f| bake.frame(model, f)).collect::<Result<_>>()?;
    let start = read[0].time;
    let keys: Vec<Key> = read
        .iter()
        .map(|f| Key {
            time_s: (f.time - start) as f32,
            pose: &f.pose,
            shape: Some(Shape { positions: &f.positions, normals: &f.normals }),
        })
        .collect();
    let clip_name = model.document.as_ref().map_or_else(|| "Sinew".into(), |d| d.name().to_owned());
    let mut options = Options { clip_name, budget_mm, ..Options::default() };
    for attempt in 1.. {
        let receipt = posed(&model.asset, &model.bound.character, &keys, &options)?.write(out, &keys)?;
        let worst = receipt.keys.iter().map(|k| k.largest_mm).fold(0.0, f64::max);
        if budget_mm.is_none_or(|b| worst <= b) {
            return Ok(Joined { receipt, frames });
        }
        if attempt == ATTEMPTS {
            let what = format!("{worst:.4} mm is the least that was reached");
            return Err(Error::broken(out, "error budget", what, "give a larger budget, or none"));
        }
        options.budget_mm = options.budget_mm.map(|b| b * TIGHTER);
    }
    Err(Error::input("no attempt was made", "report it as a bug"))
}
