//! The interior of a closed mesh, filled with cubes. Their weights are extended from the surface.
//!
//! (differs) The paper fills shapes with tetrahedra and expects weights inside the volume. Here cubes ([`Lattice`])
//! are used in binding only, and weights are interpolated harmonically from the surface. A corner near the surface
//! has the mean of the nearby weights; any other corner has the mean of its neighbouring corners.

use super::weights::Weights;
use crate::base::math::DVec3;
use crate::geom::{Cell, Lattice, solid};
use std::collections::BTreeSet;

/// Depths below the surface, in cube sides, at which surface weights are assigned to cubes. The second depth is used
/// if no cube contains the point at the first depth.
const DEPTHS: [f64; 2] = [0.1, 0.4];
/// Maximum edge length, in cube sides, of the triangles into which the surface is divided for sampling.
const PIECE: f64 = 0.8;
/// A corner's weights are fixed if at least this surface area is near it, in squared cube sides.
const NEAR: f64 = 0.02;
/// Parts of the surface that face each other are layers of one limb if at least this fraction of their weights agrees.
const AGREE: f64 = 0.5;
/// Successive overrelaxation (Young 1954): its factor, its maximum sweeps, and the weight change at which it stops.
const OVER: f32 = 1.6;
const SWEEPS: usize = 60;
const SMALL: f32 = 5e-4;
/// Weights up to this size are dropped.
const NEGLIGIBLE: f32 = 1e-3;

/// The interior of a closed shape.
pub(in crate::deform) struct Inside {
    /// Edge length of a cube, in units of the model's size.
    pub size: f64,
    /// Corners of the cubes, model space.
    pub nodes: Vec<DVec3>,
    /// Weights of the given handles per corner.
    pub weights: Weights,
    pub cells: Vec<Cell>,
    lattice: Lattice,
    /// Index in `cells` of each of the lattice's cubes.
    number: Vec<Option<u32>>,
}

/// Statistics of which parts of a mesh are closed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Parts {
    /// Number of connected parts.
    #[serde(rename = "parts")]
    pub all: usize,
    /// Number of connected parts that enclose no volume.
    #[serde(rename = "open_parts")]
    pub open: usize,
    /// Number of cubes that fill the closed parts.
    pub cubes: usize,
}

impl Inside {
    /// Fills a mesh with about `cubes` cubes; `own` are vertex weights. Handles with the same result of `alike` move
    /// alike. Returns `None` if no part is closed.
    pub fn of(
        positions: &[DVec3],
        triangles: &[[u32; 3]],
        own: &Weights,
        alike: impl Fn(usize) -> usize,
        cubes: f64,
    ) -> (Option<Self>, Parts) {
        let solid = solid(positions, triangles);
        let parts = Parts { all: solid.parts, open: solid.open, cubes: 0 };
        let layers = |a: [u32; 3], b: [u32; 3]| {
            let entries = |t: [u32; 3]| t.into_iter().flat_map(|v| own.of(v as usize));
            let of =
                |t, handle| -> f64 { entries(t).filter(|w| alike(w.0) == alike(handle)).map(|w| w.1).sum() };
            let handles: BTreeSet<usize> = entries(a).map(|w| alike(w.0)).collect();
            handles.into_iter().map(|h| of(a, h).min(of(b, h))).sum::<f64>() >= 3.0 * AGREE
        };
        let Some(lattice) = Lattice::new(positions, &solid.triangles, solid.volume, cubes, layers) else {
            return (None, parts);
        };
        let handles = own.named();
        let mut rows = Rows { handles, row: vec![0.0; handles * lattice.nodes.len()] };
        let mut mass = vec![0.0; lattice.nodes.len()];
        for (t, side) in triangles.iter().zip(&solid.side).filter(|t| *t.1 != 0) {
            spread(&lattice, positions, t, f64::from(*side), own, &mut rows, &mut mass);
        }
        let near = NEAR * lattice.size * lattice.size;
        for (n, mass) in mass.iter().enumerate().filter(|m| *m.1 > 0.0) {
            rows.of(n).iter_mut().for_each(|w| *w /= *mass as f32);
        }
        let fixed: Vec<bool> = mass.iter().map(|m| *m >= near).collect();
        let known = mass.iter().map(|m| *m > 0.0).collect();
        let known = rows.relax(&lattice, fixed, known);
        let mut weights = Weights::default();
        for n in 0..lattice.nodes.len() {
            let row = rows.of(n);
            let sum: f32 = row.iter().filter(|w| **w > NEGLIGIBLE).sum();
            let kept = row.iter().enumerate().filter(|(_, w)| **w > NEGLIGIBLE);
            weights.push(kept.map(|(j, w)| (j, f64::from(*w / sum))));
        }
        let whole = |cell: &Cell| cell.corners.iter().all(|&n| known[n as usize]);
        let cells: Vec<Cell> = lattice.cells.iter().filter(|c| whole(c)).cloned().collect();
        let mut count = 0..;
        let number = lattice.cells.iter().map(|c| if whole(c) { count.next() } else { None }).collect();
        let parts = Parts { cubes: cells.len(), ..parts };
        let found = !cells.is_empty();
        let nodes = lattice.nodes.clone();
        let out = Self { size: lattice.size, nodes, weights, cells, lattice, number };
        (found.then_some(out), parts)
    }

    /// The cube at a position just inside the surface.
    pub fn find(&self, x: DVec3) -> Option<usize> {
        let (cell, _) = self.lattice.find(x)?;
        self.number[cell].map(|n| n as usize)
    }
}

/// Adds a triangle's weights, scaled by area, to the corners of the cubes just below it, if any.
fn spread(
    lattice: &Lattice,
    positions: &[DVec3],
    triangle: &[u32; 3],
    side: f64,
    own: &Weights,
    rows: &mut Rows,
    mass: &mut [f64],
) {
    let x = triangle.map(|v| positions[v as usize]);
    let normal = (x[1] - x[0]).cross(x[2] - x[0]);
    let (area, inwards) = (0.5 * normal.length(), -side * normal.normalize_or_zero());
    let longest = (0..3).map(|k| x[k].distance(x[(k + 1) % 3])).fold(0.0, f64::max);
    let pieces = ((longest / (PIECE * lattice.size)).ceil() as usize).clamp(1, 256);
    for shares in middles(pieces) {
        let at: DVec3 = (0..3).map(|k| x[k] * shares[k]).sum();
        let deep = |depth: &f64| lattice.find(at + inwards * (depth * lattice.size));
        let Some((cell, corners)) = DEPTHS.iter().find_map(deep) else { continue };
        let area = area / (pieces * pieces) as f64;
        for (&n, corner) in lattice.cells[cell].corners.iter().zip(corners) {
            let share = area * corner;
            mass[n as usize] += share;
            let row = rows.of(n as usize);
            for (k, &v) in triangle.iter().enumerate() {
                own.of(v as usize).for_each(|(j, w)| row[j] += (share * shares[k] * w) as f32);
            }
        }
    }
}

/// Returns the barycentric coordinates of the centres of `n * n` congruent parts of a triangle.
pub(in crate::deform) fn middles(n: usize) -> impl Iterator<Item = [f64; 3]> {
    (0..n).flat_map(move |i| (0..2 * (n - i) - 1).map(move |k| (i, k / 2, k % 2 == 1))).map(
        move |(i, j, flipped)| {
            let third = if flipped { 2.0 / 3.0 } else { 1.0 / 3.0 };
            let (a, b) = ((i as f64 + third) / n as f64, (j as f64 + third) / n as f64);
            [a, b, 1.0 - a - b]
        },
    )
}

/// Dense weights of all corners.
struct Rows {
    handles: usize,
    row: Vec<f32>,
}

impl Rows {
    fn of(&mut self, node: usize) -> &mut [f32] {
        &mut self.row[node * self.handles..(node + 1) * self.handles]
    }

    /// Sets every corner that is not fixed to the mean of its neighbours. First initialises unknown corners from
    /// known ones, outwards. Returns which corners are known at the end.
    fn relax(&mut self, lattice: &Lattice, fixed: Vec<bool>, mut known: Vec<bool>) -> Vec<bool> {
        let around = Around::new(lattice);
        let mut mean = vec![0.0; self.handles];
        let mut rim: Vec<usize> = (0..known.len()).filter(|&n| known[n]).collect();
        while !rim.is_empty() {
            let mut next: Vec<usize> =
                rim.iter().flat_map(|&n| around.of(n)).map(|e| e.0 as usize).filter(|&n| !known[n]).collect();
            next.sort_unstable();
            next.dedup();
            for &n in &next {
                let from = around.of(n).iter().filter(|e| known[e.0 as usize]);
                self.mean(from, &mut mean);
                self.of(n).copy_from_slice(&mean);
            }
            next.iter().for_each(|&n| known[n] = true);
            rim = next;
        }
        for _ in 0..SWEEPS {
            let mut most = 0.0f32;
            for n in (0..fixed.len()).filter(|&n| !fixed[n] && known[n]) {
                self.mean(around.of(n).iter(), &mut mean);
                for (w, mean) in self.of(n).iter_mut().zip(&mean) {
                    let step = OVER * (mean - *w);
                    most = most.max(step.abs());
                    *w += step;
                }
            }
            if most < SMALL {
                break;
            }
        }
        known
    }

    fn mean<'a>(&self, from: impl Iterator<Item = &'a (u32, f32)>, out: &mut [f32]) {
        out.fill(0.0);
        let mut sum = 0.0;
        for &(n, share) in from {
            sum += share;
            let row = &self.row[n as usize * self.handles..][..self.handles];
            out.iter_mut().zip(row).for_each(|(o, w)| *o += share * w);
        }
        out.iter_mut().for_each(|w| *w /= sum);
    }
}

/// Neighbouring corners along cube edges. An edge is weighted by the filled fraction of its cubes.
struct Around {
    begin: Vec<usize>,
    entry: Vec<(u32, f32)>,
}

impl Around {
    fn new(lattice: &Lattice) -> Self {
        let mut edges: Vec<(u32, u32, f32)> = Vec::with_capacity(24 * lattice.cells.len());
        for cell in &lattice.cells {
            for corner in 0..8 {
                for direction in [1, 2, 4] {
                    let fill = cell.fill.max(0.01) as f32;
                    edges.push((cell.corners[corner], cell.corners[corner ^ direction], fill));
                }
            }
        }
        edges.sort_unstable_by_key(|e| (e.0, e.1));
        let mut begin = vec![0; lattice.nodes.len() + 1];
        let mut entry = Vec::new();
        for same in edges.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            entry.push((same[0].1, same.iter().map(|e| e.2).sum()));
            begin[same[0].0 as usize + 1] = entry.len();
        }
        (1..begin.len()).for_each(|n| begin[n] = begin[n].max(begin[n - 1]));
        Self { begin, entry }
    }

    fn of(&self, node: usize) -> &[(u32, f32)] {
        &self.entry[self.begin[node]..self.begin[node + 1]]
    }
}
