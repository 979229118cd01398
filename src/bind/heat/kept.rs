//! Heat weights on disk, keyed by a hash of their inputs.

use super::{HeatSite, heat_weights};
use crate::asset::Influences;
use crate::base::Result;
use crate::base::math::Vec3;
use crate::bind::cache::{Cache, Key};
use crate::bind::packed::{Reader, Writer};

/// Computes weights like [`heat_weights`], but reads them from the cache if it contains them.
///
/// # Errors
/// The errors of [`heat_weights`].
pub fn kept_heat_weights(
    cache: Option<&Cache>,
    positions: &[Vec3],
    triangles: &[[u32; 3]],
    sites: &[HeatSite],
) -> Result<Influences> {
    let Some(cache) = cache else { return heat_weights(positions, triangles, sites) };
    let owners: Vec<u16> = sites.iter().map(|s| s.owner).collect();
    let ends: Vec<Vec3> = sites.iter().flat_map(|s| [s.head, s.tail]).collect();
    let key = Key::new("heat weights 2").points(positions).bytes(bytemuck::cast_slice(triangles));
    let key = key.bytes(bytemuck::cast_slice(&owners)).points(&ends);
    let make = || heat_weights(positions, triangles, sites).map(Some);
    let made = kept_influences(Some(cache), &key, positions.len(), &owners, make)?;
    Ok(made.unwrap_or_default())
}

/// Returns the influences that the cache has under a key, or makes them. `vertices` and `owners` are the number of
/// vertices and the joints that may occur.
pub(crate) fn kept_influences(
    cache: Option<&Cache>,
    key: &Key,
    vertices: usize,
    owners: &[u16],
    make: impl FnOnce() -> Result<Option<Influences>>,
) -> Result<Option<Influences>> {
    let kept = cache.and_then(|c| c.get(key)).and_then(|bytes| unpacked(&bytes, vertices, owners));
    if kept.is_some() {
        return Ok(kept);
    }
    let made = make()?;
    if let (Some(cache), Some(made)) = (cache, &made) {
        cache.put(key, &packed(made));
    }
    Ok(made)
}

/// Returns the influences of all vertices as bytes.
fn packed(influences: &Influences) -> Vec<u8> {
    let mut out = Writer::default();
    for v in 0..influences.len() {
        let row: Vec<_> = influences.of(v).map(|(j, w)| (usize::from(j), f64::from(w))).collect();
        out.row(row.into_iter());
    }
    out.0
}

fn unpacked(bytes: &[u8], vertices: usize, owners: &[u16]) -> Option<Influences> {
    let (mut from, mut out) = (Reader(bytes), Influences::default());
    for _ in 0..vertices {
        let entry = |(j, w): (usize, f64)| Some((u16::try_from(j).ok()?, w as f32));
        let row: Vec<(u16, f32)> = from.row()?.into_iter().map(entry).collect::<Option<_>>()?;
        let sound = row.iter().all(|(j, w)| owners.contains(j) && *w > 0.0 && *w <= 1.0);
        if row.is_empty() || !sound {
            return None;
        }
        out.push(row);
    }
    from.0.is_empty().then_some(out)
}

#[cfg(test)]
mod tests {
    use super::super::tests::arm;
    use super::*;

    #[test]
    fn kept_weights_are_the_same_and_broken_ones_made_again() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::at(folder.path(), 1 << 20);
        let (positions, triangles, sites) = arm(2);
        let made = kept_heat_weights(Some(&cache), &positions, &triangles, &sites).unwrap();
        let file = std::fs::read_dir(folder.path()).unwrap().next().unwrap().unwrap().path();
        let before = std::fs::metadata(&file).unwrap().modified().unwrap();
        assert_eq!(kept_heat_weights(Some(&cache), &positions, &triangles, &sites).unwrap(), made);
        assert_eq!(std::fs::metadata(&file).unwrap().modified().unwrap(), before, "written again");
        std::fs::write(&file, b"nonsense").unwrap();
        assert_eq!(kept_heat_weights(Some(&cache), &positions, &triangles, &sites).unwrap(), made);
        // A moved bone gives another key.
        let mut moved = sites.clone();
        moved[0].head.y = 0.3;
        assert_ne!(kept_heat_weights(Some(&cache), &positions, &triangles, &moved).unwrap(), made);
        assert!(unpacked(&packed(&made), positions.len(), &[0]).is_none(), "an owner that there is not");
        assert!(unpacked(&packed(&made), positions.len() + 1, &[0, 1]).is_none());
    }
}
