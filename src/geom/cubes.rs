//! Cubes of equal size that fill or enclose a shape.

use crate::base::math::DVec3;

/// Edges of a cube as pairs of corners; bit `k` of a corner's index gives the side along direction `k`.
pub const CUBE_EDGES: [[usize; 2]; 12] =
    [[0, 1], [2, 3], [4, 5], [6, 7], [0, 2], [1, 3], [4, 6], [5, 7], [0, 4], [1, 5], [2, 6], [3, 7]];

/// Cubes of one edge length with their corners. Cubes that are connected inside the shape share corners.
#[derive(Clone, Debug, Default)]
pub struct Cubes {
    /// Edge length, in the unit of the positions.
    pub size: f64,
    /// Positions of the corners.
    pub nodes: Vec<DVec3>,
    /// Corners of each cube, as indices into `nodes`; bit `k` of a corner's number (0..8) gives the side along axis `k`.
    pub cells: Vec<[u32; 8]>,
}

impl Cubes {
    /// The edges of all cubes, each once, sorted, with the number of cubes that share it.
    pub fn edges(&self) -> Vec<([u32; 2], u32)> {
        let mut all: Vec<[u32; 2]> = self
            .cells
            .iter()
            .flat_map(|cell| CUBE_EDGES.map(|[a, b]| [cell[a].min(cell[b]), cell[a].max(cell[b])]))
            .collect();
        all.sort_unstable();
        all.chunk_by(|a, b| a == b).map(|same| (same[0], same.len() as u32)).collect()
    }
}
