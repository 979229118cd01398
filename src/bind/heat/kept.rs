//! Weights by heat on disk, by what they were made from.

use super::{HeatSite, heat_weights};
use crate::asset::Influences;
use crate::base::Result;
use crate::base::math::Vec3;
use crate::bind::cache::{Cache, Key};

/// As [`heat_weights`], from the cache where they were computed before.
///
/// # Errors
/// As [`heat_weights`].
pub fn kept_heat_weights(
    cache: Option<&Cache>,
    positions: &[Vec3],
    triangles: &[[u32; 3]],
    sites: &[HeatSite],
) -> Result<Influences> {
    let Some(cache) = cache else { return heat_weights(positions, triangles, sites) };
    let owners: Vec<u16> = sites.iter().map(|s| s.owner).collect();
    let ends: Vec<Vec3> = sites.iter().flat_map(|s| [s.head, s.tail]).collect();
    let key = Key::new("heat weights 1").points(positions).bytes(bytemuck::cast_slice(triangles));
    let key = key.bytes(bytemuck::cast_slice(&owners)).points(&ends);
    let kept = cache.get(&key).and_then(|bytes| unpacked(&bytes, positions.len(), &owners));
    if let Some(kept) = kept {
        return Ok(kept);
    }
    let made = heat_weights(positions, triangles, sites)?;
    cache.put(&key, &packed(&made));
    Ok(made)
}

/// Per vertex the number of influences, then joint and weight of each.
fn packed(influences: &Influences) -> Vec<u8> {
    let mut out = Vec::new();
    for v in 0..influences.len() {
        let of = influences.of(v);
        out.push(of.len() as u8);
        for (joint, weight) in of {
            out.extend(joint.to_le_bytes());
            out.extend(weight.to_le_bytes());
        }
    }
    out
}

fn unpacked(mut bytes: &[u8], vertices: usize, owners: &[u16]) -> Option<Influences> {
    let mut out = Influences::default();
    for _ in 0..vertices {
        let (&count, rest) = bytes.split_first()?;
        bytes = rest;
        let mut row = Vec::with_capacity(usize::from(count));
        for _ in 0..count {
            let (joint, rest) = bytes.split_first_chunk::<2>()?;
            let (weight, rest) = rest.split_first_chunk::<4>()?;
            bytes = rest;
            row.push((u16::from_le_bytes(*joint), f32::from_le_bytes(*weight)));
        }
        let sound = row.iter().all(|(j, w)| owners.contains(j) && *w > 0.0 && *w <= 1.0);
        if row.is_empty() || !sound {
            return None;
        }
        out.push(row);
    }
    bytes.is_empty().then_some(out)
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
        // A bone elsewhere is another question.
        let mut moved = sites.clone();
        moved[0].head.y = 0.3;
        assert_ne!(kept_heat_weights(Some(&cache), &positions, &triangles, &moved).unwrap(), made);
        assert!(unpacked(&packed(&made), positions.len(), &[0]).is_none(), "an owner that there is not");
        assert!(unpacked(&packed(&made), positions.len() + 1, &[0, 1]).is_none());
    }
}
