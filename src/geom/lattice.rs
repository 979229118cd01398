//! Fills the interior of a closed surface with cubes of equal size.
//!
//! All rays are parallel, with [`RAYS`] x [`RAYS`] rays per cube. The intersections with each part of the surface, which
//! is a set of triangles connected by vertices, divide a ray into intervals. An interval is inside the part if its
//! winding number is positive. A cube's fill is the fraction of its rays' length that is inside. If disconnected parts
//! of limbs lie in the same grid cell, each part gets its own cube and corners, like virtual nodes in cutting (Molino,
//! Bao, Fedkiw, "A virtual node algorithm for changing mesh topology during simulation", 2004).
//!
//! Different parts that overlap are connected, as an arm is with the trunk that it goes into. Across a gap that is
//! narrower than the spacing of the rays, only layers are connected, such as a coat and the body, but not limbs. The
//! caller tells limbs and layers apart, for example by their skin weights. Limbs of one part are also not connected by an
//! overlap such as that of two thighs. The overlap, where the part's winding number exceeds that of most of the part, is
//! not inside.

use super::fragments::{Fragments, Grid, crossing};
use super::rays::{Cut, HEIGHTS, RAYS, Rays, Run, pieces, place_of, runs};
use super::sets::{apart, connected, root, unite};
use crate::base::math::DVec3;
use std::collections::HashMap;

/// Maximum number of cubes along the longest side of the bounding box.
pub(super) const FINEST: f64 = 250.0;
/// Maximum number of fragments of the surface. With more, limbs with a narrow gap or overlap are connected.
const MOST: usize = 50_000_000;

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
    /// `cubes` the approximate number of cubes that fill it. `layers` tells whether two triangles that face each other
    /// are layers on one limb. Returns `None` if the surface encloses no volume.
    pub fn new(
        positions: &[DVec3],
        triangles: &[[u32; 3]],
        volume: f64,
        cubes: f64,
        layers: impl Fn([u32; 3], [u32; 3]) -> bool,
    ) -> Option<Self> {
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
        let cuts = rays.cuts(positions, triangles);
        let parts = Parts::new(positions.len(), triangles, &cuts);
        let inside = |part: u32, winding| (1..=parts.most[part as usize]).contains(&winding);
        let mut runs = runs(&rays, &cuts, size, |t| parts.of[t as usize], inside);
        let surface = Surface::new(positions, triangles, &parts, [low, low + box_size], size);
        let touch = |a: &Run, b: &Run| surface.as_ref().is_none_or(|s| s.connects(&rays, a, b, &layers));
        let (pieces, links) = pieces(&rays, &runs, touch);
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
        // Overlapping runs of different parts count once.
        let mut covered = ([u32::MAX; 2], 0, 0.0);
        for (r, run) in self.runs.iter().enumerate() {
            let c = run.cell as usize;
            let from = if (covered.0, covered.1) == (run.ray, run.layer) { covered.2 } else { run.from };
            self.cells[c].fill += (run.to - run.from.max(from)).max(0.0) / (self.size * (RAYS * RAYS) as f64);
            covered = (run.ray, run.layer, run.to.max(from));
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
        let place = (DVec3::from(local) / self.size).as_uvec3();
        let off = |&r: &u32| {
            let run = &self.runs[r as usize];
            let [u, v] = self.rays.at([run.ray[0] as usize, run.ray[1] as usize]);
            let along = local[2] - local[2].clamp(run.from, run.to);
            (local[0] - u).powi(2) + (local[1] - v).powi(2) + along * along
        };
        let nearest = self.places.get(&place.to_array())?.iter().min_by(|a, b| off(a).total_cmp(&off(b)))?;
        let t = DVec3::from(local) / self.size - place.as_dvec3();
        let mut shares = [1.0; 8];
        for (corner, share) in shares.iter_mut().enumerate() {
            for k in 0..3 {
                *share *= if corner >> k & 1 == 1 { t[k] } else { 1.0 - t[k] };
            }
        }
        Some((self.runs[*nearest as usize].cell as usize, shares))
    }
}

/// The parts of a surface.
struct Parts {
    /// Part of each triangle.
    of: Vec<u32>,
    /// Per part: the largest winding number that is inside. It is 1, or more if the part has double layers.
    most: Vec<i32>,
}

impl Parts {
    fn new(vertices: usize, triangles: &[[u32; 3]], cuts: &[Cut]) -> Self {
        let first = connected(vertices, triangles.iter().copied());
        let mut number = vec![u32::MAX; vertices];
        let mut count = 0;
        let of = triangles.iter().map(|t| {
            let number = &mut number[first[t[0] as usize] as usize];
            if *number == u32::MAX {
                (*number, count) = (count, count + 1);
            }
            *number
        });
        let of: Vec<u32> = of.collect();
        // Per part: the length of the rays with each winding number.
        let mut lengths: Vec<Vec<f64>> = vec![Vec::new(); count as usize];
        let mut last: Vec<(u32, i32, f64)> = vec![(u32::MAX, 0, 0.0); count as usize];
        for cut in cuts {
            let part = of[cut.triangle as usize] as usize;
            let (ray, winding, along) = &mut last[part];
            if *ray != cut.ray {
                (*ray, *winding) = (cut.ray, 0);
            }
            if *winding > 0 {
                let lengths = &mut lengths[part];
                lengths.resize(lengths.len().max(*winding as usize), 0.0);
                lengths[*winding as usize - 1] += cut.along - *along;
            }
            (*winding, *along) = (*winding + i32::from(cut.rise), cut.along);
        }
        let longest = |of: &Vec<f64>| (0..of.len()).max_by(|&a, &b| of[a].total_cmp(&of[b])).unwrap_or(0);
        let most = lengths.iter().map(|of| longest(of) as i32 + 1).collect();
        Self { of, most }
    }
}

/// The surface, divided into fragments. It tells whether the limbs at two neighbouring rays are connected.
struct Surface<'a> {
    grid: Grid,
    /// Positions in the grid's frame.
    x: Vec<DVec3>,
    triangles: &'a [[u32; 3]],
    parts: &'a Parts,
    fragments: Fragments,
    /// Cell, part and number of each fragment, sorted.
    at: Vec<(u32, u32, u32)>,
}

impl<'a> Surface<'a> {
    /// Returns `None` if the surface has more than [`MOST`] fragments.
    fn new(
        positions: &[DVec3],
        triangles: &'a [[u32; 3]],
        parts: &'a Parts,
        [low, high]: [DVec3; 2],
        size: f64,
    ) -> Option<Self> {
        let grid = Grid::new(low, high, size);
        let x: Vec<DVec3> = positions.iter().map(|x| grid.local(*x)).collect();
        let fragments = Fragments::new(&grid, &x, triangles, MOST)?;
        let place = |f: usize| (fragments.cell[f], parts.of[fragments.triangle[f] as usize], f as u32);
        let mut at: Vec<(u32, u32, u32)> = (0..fragments.cell.len()).map(place).collect();
        at.sort_unstable();
        Some(Self { at, grid, x, triangles, parts, fragments })
    }

    /// Returns the fragments of a part in a cell.
    fn near(&self, cell: u32, part: u32) -> impl Iterator<Item = u32> {
        let first = self.at.partition_point(|at| (at.0, at.1) < (cell, part));
        self.at[first..].iter().take_while(move |at| (at.0, at.1) == (cell, part)).map(|at| at.2)
    }

    /// Whether two runs of neighbouring rays are connected at one of the tested heights or more.
    fn connects(&self, rays: &Rays, a: &Run, b: &Run, layers: &impl Fn([u32; 3], [u32; 3]) -> bool) -> bool {
        let (low, high) = (a.from.max(b.from), a.to.min(b.to));
        HEIGHTS.iter().any(|height| {
            let end = |run: &Run| {
                let [u, v] = rays.at([run.ray[0] as usize, run.ray[1] as usize]);
                self.grid.local(rays.global([u, v, low + (high - low) * height]))
            };
            self.passes([end(a), end(b)], [a.part, b.part], layers)
        })
    }

    /// Whether a segment passes from the inside of one part to the inside of another part or of the same part. It passes
    /// neither a gap between limbs nor an overlap of limbs of one part.
    fn passes(
        &self,
        [from, to]: [DVec3; 2],
        parts: [u32; 2],
        layers: &impl Fn([u32; 3], [u32; 3]) -> bool,
    ) -> bool {
        let (here, there) = (self.grid.at(from), self.grid.at(to));
        let beyond = there.filter(|_| here != there);
        let other = (parts[0] != parts[1]).then_some(parts[1]);
        let mut crossings: Vec<(f64, i32, u32)> = Vec::new();
        for cell in here.into_iter().chain(beyond) {
            for f in [parts[0]].into_iter().chain(other).flat_map(|part| self.near(cell, part)) {
                let triangle = self.fragments.triangle[f as usize];
                let [a, b, c] = self.triangles[triangle as usize];
                let corners = [self.x[a as usize], self.x[b as usize], self.x[c as usize]];
                crossings.extend(crossing(corners, from, to).map(|(t, side)| (t, side as i32, triangle)));
            }
        }
        // A triangle with fragments in both cells counts once. Where parts touch, the segment enters one part before it
        // leaves the other.
        crossings.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then((a.1, a.2).cmp(&(b.1, b.2))));
        crossings.dedup();
        let (Some(first), Some(last)) = (crossings.first(), crossings.last()) else { return true };
        let corners = |triangle: u32| self.triangles[triangle as usize];
        if layers(corners(first.2), corners(last.2)) {
            return true;
        }
        if parts[0] == parts[1] {
            // Winding numbers relative to the start.
            let mut winding = 0;
            let mut past = crossings.iter().map(|(_, leaves, _)| {
                winding -= leaves;
                winding
            });
            return self.parts.most[parts[0] as usize] > 1 && past.all(|winding| winding >= 0);
        }
        let change = |part: u32| -> i32 {
            let own = crossings.iter().filter(|c| self.parts.of[c.2 as usize] == part);
            own.map(|(_, leaves, _)| -leaves).sum()
        };
        // The winding numbers of both parts; the segment begins inside the first and ends inside the second.
        let mut winding = [1, 1 - change(parts[1])];
        winding[1] > 0
            || crossings.iter().any(|&(_, leaves, triangle)| {
                let own = usize::from(self.parts.of[triangle as usize] == parts[1]);
                winding[own] -= leaves;
                winding[0] > 0 && winding[1] > 0
            })
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
        let lattice = Lattice::new(&positions, &triangles, 1.26, 1500.0, |_, _| false).unwrap();
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
        assert!(Lattice::new(&[], &[], 0.0, 100.0, |_, _| false).is_none());
        assert!(Lattice::new(&positions, &[], 1.0, 100.0, |_, _| false).is_none());
    }

    #[test]
    fn what_overlaps_is_inside_once_and_what_is_apart_shares_no_corner() {
        let at = |x: f64| (DVec3::new(x, 0.0, 0.0), DVec3::new(x + 1.0, 3.0, 1.0));
        let (positions, triangles) = boxes(&[at(0.0), at(0.5)]);
        let lattice = Lattice::new(&positions, &triangles, 4.5, 2000.0, |_, _| false).unwrap();
        let volume: f64 = lattice.cells.iter().map(|c| c.fill).sum::<f64>() * lattice.size.powi(3);
        assert!((volume / 4.5 - 1.0).abs() < 0.03, "{volume}");
        // The gap between the boxes is a third of a cube.
        let (positions, triangles) = boxes(&[at(0.0), at(1.1)]);
        let lattice = Lattice::new(&positions, &triangles, 6.0, 200.0, |_, _| false).unwrap();
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

    /// Creates a trunk with two legs, one part. The legs overlap by `overlap` at the feet, and have a gap of 0.1 at the
    /// crotch.
    fn legs(overlap: f64) -> (Vec<DVec3>, Vec<[u32; 3]>) {
        let o = 0.5 * overlap;
        let outline = [
            [(0.0, 0.0), (1.0 + o, 0.0), (0.95, 3.0), (0.0, 3.0)],
            [(1.0 - o, 0.0), (2.0, 0.0), (2.0, 3.0), (1.05, 3.0)],
            [(0.0, 4.0), (0.95, 4.0), (1.05, 4.0), (2.0, 4.0)],
        ];
        let front = [[0, 1, 2, 3], [4, 5, 6, 7], [3, 2, 9, 8], [2, 7, 10, 9], [7, 6, 11, 10]];
        let around = [0, 1, 2, 7, 4, 5, 6, 11, 10, 9, 8, 3u32];
        let at = |z: f64| outline.into_iter().flatten().map(move |(x, y)| DVec3::new(x, y, z));
        let sides = (0..12).map(|k| (around[k], around[(k + 1) % 12])).map(|(a, b)| [a, a + 12, b + 12, b]);
        let back = front.map(|q: [u32; 4]| [q[3], q[2], q[1], q[0]].map(|v| v + 12));
        let quads = front.into_iter().chain(back).chain(sides);
        let triangles = quads.flat_map(|q| [[q[0], q[1], q[2]], [q[0], q[2], q[3]]]).collect();
        (at(1.0).chain(at(0.0)).collect(), triangles)
    }

    #[test]
    fn legs_that_overlap_are_apart_and_connected_by_the_trunk() {
        for (overlap, cubes) in [(-0.02, 500.0), (0.02, 500.0), (0.3, 500.0), (0.3, 4000.0)] {
            let (positions, triangles) = legs(overlap);
            let lattice = Lattice::new(&positions, &triangles, 7.7, cubes, |_, _| false).unwrap();
            let leg = |x: f64| -> Vec<u32> {
                let near =
                    (0..20).filter_map(|i| lattice.find(DVec3::new(x, 0.02 + 0.05 * f64::from(i), 0.5)));
                near.flat_map(|(cell, _)| lattice.cells[cell].corners).collect()
            };
            let [left, right] = [0.6, 1.4].map(leg);
            let mut above = apart(lattice.nodes.len());
            let low = |c: &&Cell| c.corners.iter().all(|&n| lattice.nodes[n as usize].y < 1.5);
            for cell in lattice.cells.iter().filter(low) {
                cell.corners.iter().for_each(|&n| unite(&mut above, cell.corners[0], n));
            }
            let roots =
                |of: &[u32], above: &mut [u32]| of.iter().map(|&n| root(above, n)).collect::<Vec<_>>();
            let [left_roots, right_roots] = [&left, &right].map(|of| roots(of, &mut above));
            assert!(left.len() > 10 && left_roots.iter().all(|n| !right_roots.contains(n)), "{overlap}");
            for cell in &lattice.cells {
                cell.corners.iter().for_each(|&n| unite(&mut above, cell.corners[0], n));
            }
            assert_eq!(root(&mut above, left[0]), root(&mut above, right[0]), "{overlap}");
        }
    }

    #[test]
    fn a_part_with_double_layers_is_filled() {
        let (positions, mut triangles) = boxes(&[(DVec3::ZERO, DVec3::ONE)]);
        triangles.extend(triangles.clone());
        let lattice = Lattice::new(&positions, &triangles, 1.0, 500.0, |_, _| false).unwrap();
        let volume: f64 = lattice.cells.iter().map(|c| c.fill).sum::<f64>() * lattice.size.powi(3);
        assert!((volume - 1.0).abs() < 0.03, "{volume}");
        // Beside other cubes, a double box is as connected as a single one.
        assert!(lattice.nodes.len() < 2 * lattice.cells.len());
    }
}
