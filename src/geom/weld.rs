//! Welding: merges vertices that the file duplicates at texture and normal seams.

use crate::base::math::{Aabb, Vec3};
use std::collections::HashMap;

/// Distance below which vertices may be welded, as a fraction of the bounding box's diagonal.
pub const WELD_TOLERANCE: f32 = 1e-6;

/// Maximum number of welded vertices in a grid cell with which a vertex is compared. The limit keeps the time linear if
/// many vertices coincide.
const CANDIDATES: usize = 64;

/// Result of [`weld`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Weld {
    /// Index of the welded vertex of each input vertex.
    pub welded_of: Vec<u32>,
    /// First input vertex of each welded vertex, which gives its position; ascending.
    pub first: Vec<u32>,
}

impl Weld {
    /// First input vertex at the place of a vertex.
    pub fn first_of(&self, vertex: u32) -> u32 {
        self.first[self.welded_of[vertex as usize] as usize]
    }
}

/// Welds vertices within [`WELD_TOLERANCE`] of each other for which `same(first, vertex)` is true.
///
/// Each vertex joins the earliest welded vertex that accepts it, so the result depends only on the vertex order.
/// Positions must be finite. A hash grid with cells of 8 tolerances makes the time linear.
pub fn weld(positions: &[Vec3], mut same: impl FnMut(u32, u32) -> bool) -> Weld {
    let bounds = Aabb::of(positions.iter().copied());
    let tolerance = f64::from(WELD_TOLERANCE * bounds.diagonal());
    let cell = if tolerance > 0.0 { 8.0 * tolerance } else { 1.0 };
    let origin = if bounds.is_empty() { Vec3::ZERO } else { bounds.min }.as_dvec3();
    let cell_of = |p: Vec3, shift: f64| ((p.as_dvec3() - origin + shift) / cell).floor().as_ivec3();
    let mut grid: HashMap<[i32; 3], Vec<u32>> = HashMap::with_capacity(positions.len());
    let mut out = Weld { welded_of: Vec::with_capacity(positions.len()), first: Vec::new() };
    for (v, &p) in positions.iter().enumerate() {
        let vertex = v as u32;
        let (low, high) = (cell_of(p, -tolerance), cell_of(p, tolerance));
        let mut found: Option<u32> = None;
        for x in low.x..=high.x {
            for y in low.y..=high.y {
                for z in low.z..=high.z {
                    let here =
                        grid.get(&[x, y, z]).map_or(&[][..], |c| &c[c.len().saturating_sub(CANDIDATES)..]);
                    let joined = here.iter().copied().find(|&w| {
                        let first = out.first[w as usize];
                        let distance = f64::from(positions[first as usize].distance(p));
                        distance <= tolerance && found.is_none_or(|f| w < f) && same(first, vertex)
                    });
                    found = joined.or(found);
                }
            }
        }
        let welded = found.unwrap_or_else(|| {
            let new = out.first.len() as u32;
            out.first.push(vertex);
            grid.entry(cell_of(p, 0.0).to_array()).or_default().push(new);
            new
        });
        out.welded_of.push(welded);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn close_vertices_weld_and_far_ones_do_not() {
        let p = [Vec3::ZERO, Vec3::X, Vec3::new(1.0 + 5e-7, 0.0, 0.0), Vec3::new(3e-6, 0.0, 0.0), Vec3::ZERO];
        let w = weld(&p, |_, _| true);
        assert_eq!(w.welded_of, [0, 1, 1, 2, 0]);
        assert_eq!(w.first, [0, 1, 3]);
    }

    #[test]
    fn across_a_cell_border() {
        // Cells are 8e-6 wide, starting at the box's corner; the last two points lie on either side of a cell border.
        let p = [Vec3::ZERO, Vec3::X, Vec3::new(7.9e-6, 0.0, 0.0), Vec3::new(8.1e-6, 0.0, 0.0)];
        assert_eq!(weld(&p, |_, _| true).welded_of, [0, 1, 2, 2]);
    }

    #[test]
    fn unlike_vertices_stay_apart() {
        let p = vec![Vec3::ONE; 6];
        let w = weld(&p, |a, b| a % 2 == b % 2);
        assert_eq!(w.welded_of, [0, 1, 0, 1, 0, 1]);
        assert_eq!(weld(&[], |_, _| true), Weld::default());
    }

    #[test]
    fn a_pile_of_unlike_vertices_stays_linear() {
        let p = vec![Vec3::ONE; 20_000];
        let mut calls = 0usize;
        let w = weld(&p, |_, _| {
            calls += 1;
            false
        });
        assert_eq!(w.first.len(), p.len());
        assert!(calls <= CANDIDATES * p.len());
    }
}
