//! Fills the interior of a closed surface with cubes of equal size.
//!
//! All rays are parallel, with [`RAYS`] x [`RAYS`] rays per cube. The intersections with the surface divide each ray
//! into intervals. An interval is inside if its winding number is not zero. A cube's fill is the fraction of its rays'
//! length that is inside. If disconnected parts of limbs lie in the same grid cell, each part gets its own cube and
//! corners, like virtual nodes in cutting (Molino, Bao, Fedkiw, "A virtual node algorithm for changing mesh topology
//! during simulation", 2004).

use super::rays::{RAYS, Rays, Run, pieces, place_of, runs};
use super::sets::{apart, root, unite};
use crate::base::math::DVec3;
use std::collections::HashMap;

/// Maximum number of cubes along the longest side of the bounding box.
pub(super) const FINEST: f64 = 250.0;

/// The cubes that fill a closed surface, with their corners.
pub struct Lattice {
    /// Edge length of a cube, in the unit of the positions.
    pub size: f64,
    /// Positions of the cubes' corners.
    pub nodes: Vec<DVec3>,
    /// The cubes; cubes that touch inside the surface share corners.
    pub cells: Vec<Cell>,
    rays: Rays,
    runs: Vec<Run>,
    /// Indices of the runs in each grid cell.
    places: HashMap<[u32; 3], Vec<u32>>,
}

/// One cube.
#[derive(Clone, Debug)]
pub struct Cell {
    /// Indices into [`Lattice::nodes`]; bit `k` of a corner's number (0..8) gives the side along direction `k`.
    pub corners: [u32; 8],
    /// Fraction of the cube's volume inside the surface.
    pub fill: f64,
}

impl Lattice {
    /// Builds the lattice of a surface without boundary edges and with outward normals. `volume` is its volume, and
    /// `cubes` the approximate number of cubes that fill it. Returns `None` if the surface encloses no volume.
    pub fn new(positions: &[DVec3], triangles: &[[u32; 3]], volume: f64, cubes: f64) -> Option<Self> {
        let corners = || triangles.iter().flatten().map(|&v| positions[v as usize]);
        let low = corners().fold(DVec3::INFINITY, DVec3::min);
        let box_size = corners().fold(DVec3::NEG_INFINITY, DVec3::max) - low;
        let longest = box_size.max_element();
        let size = (volume / cubes).cbrt().max(longest / FINEST);
        if !(size > 0.0 && size.is_finite() && longest.is_finite()) {
            return None;
        }
        // Rays run along the longest side, since this direction needs the fewest rays.
        let axis = (0..3).max_by(|&a, &b| box_size[a].total_cmp(&box_size[b])).unwrap_or(0);
        let step = size / RAYS as f64;
        let count = [1, 2].map(|k| ((box_size[(axis + k) % 3] / step).ceil() as usize + 1).max(1));
        let rays = Rays { axis, low, step, count };
        let mut runs = runs(&rays, &rays.cuts(positions, triangles), size);
        let (pieces, links) = pieces(&rays, &runs, |_, _| true);
        runs.iter_mut().zip(&pieces).for_each(|(run, piece)| run.cell = *piece);
        let cells = pieces.iter().max().map_or(0, |m| *m as usize + 1);
        if cells == 0 {
            return None;
        }
        let mut out = Self { size, nodes: Vec::new(), cells: Vec::new(), rays, runs, places: HashMap::new() };
        out.join(cells, &links);
        Some(out)
    }

    /// Assigns corner indices to the cubes; cubes that touch inside the surface share corners.
    fn join(&mut self, cells: usize, links: &[(u32, u32, usize)]) {
        let mut above = apart(8 * cells);
        for &(a, b, direction) in links {
            let (a, b) = (self.runs[a as usize].cell, self.runs[b as usize].cell);
            for corner in (0..8).filter(|c| c >> direction & 1 == 0) {
                unite(&mut above, 8 * a + corner + (1 << direction), 8 * b + corner);
            }
        }
        let mut node = vec![u32::MAX; 8 * cells];
        self.cells = vec![Cell { corners: [0; 8], fill: 0.0 }; cells];
        let mut seen = vec![false; cells];
        for (r, run) in self.runs.iter().enumerate() {
            let c = run.cell as usize;
            self.cells[c].fill += (run.to - run.from) / (self.size * (RAYS * RAYS) as f64);
            let place = place_of(run);
            self.places.entry(place).or_default().push(r as u32);
            if std::mem::replace(&mut seen[c], true) {
                continue;
            }
            for corner in 0..8 {
                let root = root(&mut above, (8 * c + corner) as u32) as usize;
                if node[root] == u32::MAX {
                    node[root] = self.nodes.len() as u32;
                    let at = [0, 1, 2]
                        .map(|k| self.size * (f64::from(place[k]) + f64::from(corner as u8 >> k & 1)));
                    self.nodes.push(self.rays.global(at));
                }
                self.cells[c].corners[corner] = node[root];
            }
        }
    }

    /// Returns the cube at a position inside the surface, and the trilinear weights of the cube's corners.
    pub fn find(&self, x: DVec3) -> Option<(usize, [f64; 8])> {
        let local = self.rays.local(x);
        if local.iter().any(|v| v.is_nan() || *v < 0.0) {
            return None;
        }
        let place = local.map(|v| (v / self.size) as u32);
        let off = |&r: &u32| {
            let run = &self.runs[r as usize];
            let [u, v] = self.rays.at(run.ray.map(|i| i as usize));
            let along = local[2] - local[2].clamp(run.from, run.to);
            (local[0] - u).powi(2) + (local[1] - v).powi(2) + along * along
        };
        let nearest = self.places.get(&place)?.iter().min_by(|a, b| off(a).total_cmp(&off(b)))?;
        let t: [f64; 3] = std::array::from_fn(|k| local[k] / self.size - f64::from(place[k]));
        let share = |corner: usize| {
            (0..3).map(|k| if corner >> k & 1 == 1 { t[k] } else { 1.0 - t[k] }).product::<f64>()
        };
        Some((self.runs[*nearest as usize].cell as usize, std::array::from_fn(share)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Creates boxes from `(low, high)` corners, with outward normals.
    fn boxes(of: &[(DVec3, DVec3)]) -> (Vec<DVec3>, Vec<[u32; 3]>) {
        let quads = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
        let (mut positions, mut triangles) = (Vec::new(), Vec::new());
        for &(low, high) in of {
            let first = positions.len() as u32;
            let side = |c: usize, k: usize| if c >> k & 1 == 1 { high[k] } else { low[k] };
            positions.extend((0..8).map(|c| DVec3::from([0, 1, 2].map(|k| side(c, k)))));
            triangles.extend(quads.iter().flat_map(|q: &[u32; 4]| {
                [[q[0], q[1], q[2]], [q[0], q[2], q[3]]].map(|t| t.map(|v| v + first))
            }));
        }
        (positions, triangles)
    }

    #[test]
    fn cubes_are_as_full_as_the_box_and_corners_give_places_back() {
        let high = DVec3::new(0.9, 2.0, 0.7);
        let (positions, triangles) = boxes(&[(DVec3::ZERO, high)]);
        let lattice = Lattice::new(&positions, &triangles, 1.26, 1500.0).unwrap();
        let volume: f64 = lattice.cells.iter().map(|c| c.fill).sum::<f64>() * lattice.size.powi(3);
        assert!((volume / 1.26 - 1.0).abs() < 0.03, "{volume}");
        assert!(
            lattice.cells.len() < 2400 && lattice.cells.iter().all(|c| c.fill > 0.0 && c.fill < 1.0 + 1e-9)
        );
        for i in 0..200u32 {
            let t = |k: u32| 0.02 + 0.96 * f64::from((i * 37 + k * 61 + i * i * k) % 101) / 101.0;
            let x = high * DVec3::new(t(1), t(2), t(3));
            let (cell, shares) = lattice.find(x).unwrap();
            let corners = lattice.cells[cell].corners;
            let at: DVec3 = corners.iter().zip(shares).map(|(&n, w)| w * lattice.nodes[n as usize]).sum();
            assert!(at.distance(x) < 1e-9 && (shares.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        }
        assert!(lattice.find(DVec3::splat(-1.0)).is_none() && lattice.find(DVec3::splat(9.0)).is_none());
        // Neighbouring cubes share corners, so there are as few nodes as in a grid.
        assert!(lattice.nodes.len() < 2 * lattice.cells.len());
        assert!(Lattice::new(&[], &[], 0.0, 100.0).is_none());
        assert!(Lattice::new(&positions, &[], 1.0, 100.0).is_none());
    }

    #[test]
    fn what_overlaps_is_inside_once_and_what_is_apart_shares_no_corner() {
        let at = |x: f64| (DVec3::new(x, 0.0, 0.0), DVec3::new(x + 1.0, 3.0, 1.0));
        let (positions, triangles) = boxes(&[at(0.0), at(0.5)]);
        let lattice = Lattice::new(&positions, &triangles, 4.5, 2000.0).unwrap();
        let volume: f64 = lattice.cells.iter().map(|c| c.fill).sum::<f64>() * lattice.size.powi(3);
        assert!((volume / 4.5 - 1.0).abs() < 0.03, "{volume}");
        // The gap between the boxes is a third of a cube.
        let (positions, triangles) = boxes(&[at(0.0), at(1.1)]);
        let lattice = Lattice::new(&positions, &triangles, 6.0, 200.0).unwrap();
        assert!(lattice.size > 0.3);
        let nodes_of = |x: f64| -> Vec<u32> {
            let mut nodes = Vec::new();
            for cell in (0..40).filter_map(|i| lattice.find(DVec3::new(x, 0.05 + 0.07 * f64::from(i), 0.5))) {
                nodes.extend(lattice.cells[cell.0].corners);
            }
            nodes
        };
        let (left, right) = (nodes_of(0.99), nodes_of(1.11));
        assert!(!left.is_empty() && left.iter().all(|n| !right.contains(n)));
    }
}
