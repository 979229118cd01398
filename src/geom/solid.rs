//! Finds the parts of a mesh that enclose a volume.

use super::lids;
use super::sets::{apart, connected, root, unite};
use crate::base::math::DVec3;
use std::collections::{BTreeMap, BTreeSet};

/// A part is a pair of coincident sheets if its volume is less than this fraction of its area to the power 3/2.
const THIN: f64 = 1e-5;
/// A part with holes, such as a sleeve or a trouser leg, is closed if the area of its holes is at most this fraction of its
/// own area.
const HOLES: f64 = 0.18;

/// The closed parts of a mesh. A part is a set of triangles connected by vertices.
#[derive(Clone, Debug, Default)]
pub struct Solid {
    /// Triangles of the closed parts, with outward normals. Holes are filled, so that there are no boundary edges.
    pub triangles: Vec<[u32; 3]>,
    /// One number per triangle of the mesh: 1 if its normal points out of a closed part, -1 if its normal points into a
    /// closed part, 0 if the triangle belongs to a sheet.
    pub side: Vec<i8>,
    /// Number of parts of the mesh.
    pub parts: usize,
    /// Number of parts that are sheets.
    pub open: usize,
    /// Total volume of the closed parts, in the unit of the positions cubed.
    pub volume: f64,
}

/// Finds the closed parts of a mesh. Holes, as at a neck or behind eyes, are filled. A part with large holes is a sheet,
/// unless it is a closed part from which sheets stand off, such as a tube with a fin: then only these are sheets.
pub fn solid(positions: &[DVec3], triangles: &[[u32; 3]]) -> Solid {
    let mut out = whole_parts(positions, triangles);
    let patches = patches_at_forks(triangles, &out.side);
    if patches.is_empty() {
        return out;
    }
    let first = connected(positions.len(), triangles.iter().filter(|t| proper(t)).copied());
    let mut closed = BTreeSet::new();
    for patch in patches {
        let own: Vec<[u32; 3]> = patch.iter().map(|&t| triangles[t as usize]).collect();
        let part = whole_parts(positions, &own);
        if part.open < part.parts {
            closed.insert(first[own[0][0] as usize]);
            patch.iter().zip(part.side).for_each(|(&t, side)| out.side[t as usize] = side);
            out.triangles.extend(part.triangles);
            out.volume += part.volume;
        }
    }
    out.open -= closed.len();
    out
}

fn proper(t: &[u32; 3]) -> bool {
    t[0] != t[1] && t[1] != t[2] && t[2] != t[0]
}

/// Returns the patches of the sheets that end at an edge of three or more triangles, as indices of triangles. A patch is a set
/// of triangles connected by edges of two triangles.
fn patches_at_forks(triangles: &[[u32; 3]], side: &[i8]) -> Vec<Vec<u32>> {
    let sheet = triangles.iter().zip(side).zip(0u32..).filter(|((t, side), _)| **side == 0 && proper(t));
    let edges = |((t, _), k): ((&[u32; 3], &i8), u32)| {
        [[t[0], t[1]], [t[1], t[2]], [t[2], t[0]]].map(|[a, b]| ([a.min(b), a.max(b)], k))
    };
    let mut edges: Vec<([u32; 2], u32)> = sheet.flat_map(edges).collect();
    edges.sort_unstable();
    let mut above = apart(triangles.len());
    let mut forks: Vec<u32> = Vec::new();
    for same in edges.chunk_by(|a, b| a.0 == b.0) {
        match same {
            [_] => {}
            [a, b] => unite(&mut above, a.1, b.1),
            more => forks.extend(more.iter().map(|edge| edge.1)),
        }
    }
    let mut patches: BTreeMap<u32, Vec<u32>> =
        forks.into_iter().map(|t| (root(&mut above, t), Vec::new())).collect();
    if !patches.is_empty() {
        for t in 0..triangles.len() as u32 {
            if let Some(patch) = patches.get_mut(&root(&mut above, t)) {
                patch.push(t);
            }
        }
    }
    patches.into_values().collect()
}

/// Finds the closed parts. A part is closed or a sheet as a whole.
fn whole_parts(positions: &[DVec3], triangles: &[[u32; 3]]) -> Solid {
    let first = connected(positions.len(), triangles.iter().filter(|t| proper(t)).copied());
    // Per part, stored at its smallest vertex: area, area of filled holes, volume.
    let mut part = vec![[0.0; 3]; positions.len()];
    let measure = |t: &[u32; 3]| {
        let [a, b, c] = t.map(|v| positions[v as usize]);
        (0.5 * (b - a).cross(c - a).length(), a.dot(b.cross(c)) / 6.0)
    };
    let lids = lids(positions.len(), triangles);
    for (k, list) in [triangles, &lids].into_iter().enumerate() {
        for t in list.iter().filter(|t| proper(t)) {
            let (area, volume) = measure(t);
            let of = &mut part[first[t[0] as usize] as usize];
            of[k] += area;
            of[2] += volume;
        }
    }
    let side_of = |[area, lids, volume]: [f64; 3]| {
        let closed = lids <= HOLES * area && volume.abs() > THIN * area.powf(1.5);
        if closed { volume.signum() as i8 } else { 0 }
    };
    let side: Vec<i8> = triangles
        .iter()
        .map(|t| if proper(t) { side_of(part[first[t[0] as usize] as usize]) } else { 0 })
        .collect();
    let mut out = Solid { side, ..Solid::default() };
    for of in part.iter().filter(|of| of[0] > 0.0) {
        out.parts += 1;
        out.open += usize::from(side_of(*of) == 0);
        out.volume += of[2].abs() * f64::from(side_of(*of).abs());
    }
    for t in triangles.iter().chain(&lids).filter(|t| proper(t)) {
        match side_of(part[first[t[0] as usize] as usize]) {
            1 => out.triangles.push(*t),
            -1 => out.triangles.push([t[0], t[2], t[1]]),
            _ => {}
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Creates a box of this size with outward normals.
    fn cuboid(size: DVec3) -> (Vec<DVec3>, Vec<[u32; 3]>) {
        let positions =
            (0..8).map(|c| DVec3::from([0, 1, 2].map(|k| f64::from(c >> k & 1))) * size).collect();
        let quads = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
        let triangles = quads.iter().flat_map(|q| [[q[0], q[1], q[2]], [q[0], q[2], q[3]]]).collect();
        (positions, triangles)
    }

    #[test]
    fn closed_parts_are_told_from_sheets_and_turned_outwards() {
        let (mut positions, mut triangles) = cuboid(DVec3::new(1.0, 2.0, 3.0));
        let whole = solid(&positions, &triangles);
        assert!((whole.volume - 6.0).abs() < 1e-12 && whole.side.iter().all(|s| *s == 1));
        assert_eq!((whole.parts, whole.open, whole.triangles.len()), (1, 0, 12));
        // Adds an inverted box elsewhere, and a single triangle.
        let (more, others) = cuboid(DVec3::ONE);
        positions.extend(more.iter().map(|x| *x + DVec3::X * 5.0));
        triangles.extend(others.iter().map(|t| [t[0] + 8, t[2] + 8, t[1] + 8]));
        positions.extend([DVec3::NEG_X, DVec3::NEG_Y, DVec3::NEG_Z]);
        triangles.extend([[16, 17, 18], [3, 3, 4]]);
        let all = solid(&positions, &triangles);
        assert_eq!((all.parts, all.open), (3, 1));
        assert!((all.volume - 7.0).abs() < 1e-12);
        assert_eq!((all.side[0], all.side[12], all.side[24], all.side[25]), (1, -1, 0, 0));
        assert_eq!(all.triangles[12], [8, 9 + 1, 8 + 3].map(|v| v as u32));
    }

    /// A long box that is open at both ends, with a fin along one of its edges.
    #[test]
    fn a_fin_on_a_closed_part_is_a_sheet() {
        let (mut positions, mut triangles) = cuboid(DVec3::new(1.0, 1.0, 4.0));
        triangles.drain(0..4);
        let (before, count) = (solid(&positions, &triangles), triangles.len());
        let edge = [0, 4];
        positions.extend(edge.map(|v: usize| positions[v] - DVec3::X * 2.0));
        triangles.extend([[0, 4, 8], [8, 4, 9]]);
        let finned = solid(&positions, &triangles);
        assert_eq!((before.parts, before.open, finned.parts, finned.open), (1, 0, 1, 0));
        assert!((before.volume - 4.0).abs() < 1e-9 && (finned.volume - before.volume).abs() < 1e-9);
        assert!(finned.side[..count] == before.side && finned.side[count..] == [0, 0]);
        assert_eq!(finned.triangles.len(), before.triangles.len());
        // Sheets that meet at an edge stay sheets.
        let flat = [[0, 1, 5], [0, 5, 4], [0, 1, 3], [0, 3, 2], [0, 1, 7]];
        let sheets = solid(&positions, &flat);
        assert_eq!((sheets.open, sheets.volume), (1, 0.0));
    }

    #[test]
    fn small_holes_are_closed_and_large_ones_make_a_sheet() {
        let (positions, mut triangles) = cuboid(DVec3::new(0.3, 10.0, 0.3));
        // One end of the box is open. The hole has an area of 0.09; the box has an area of about 12.
        triangles.drain(4..6);
        let open_end = solid(&positions, &triangles);
        assert_eq!((open_end.parts, open_end.open), (1, 0));
        assert!((open_end.volume - 0.9).abs() < 1e-12, "{}", open_end.volume);
        assert_eq!(open_end.triangles.len(), 12);
        // A trouser leg, open at both ends.
        let (positions, mut triangles) = cuboid(DVec3::new(1.0, 1.0, 4.0));
        triangles.drain(0..4);
        assert_eq!(solid(&positions, &triangles).open, 0);
        // A cube without one side is a sheet.
        let (positions, mut triangles) = cuboid(DVec3::ONE);
        triangles.drain(4..6);
        let bowl = solid(&positions, &triangles);
        assert_eq!((bowl.open, bowl.volume, bowl.triangles.len()), (1, 0.0, 0));
        assert_eq!(solid(&[], &[]).parts, 0);
        // A flattened box is a sheet.
        let (positions, triangles) = cuboid(DVec3::new(1.0, 1.0, 1e-9));
        assert_eq!(solid(&positions, &triangles).open, 1);
    }
}
