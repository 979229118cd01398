//! The distance field of a character on a grid, as a solid with a margin.
//!
//! A node's value is its distance to the skin minus the margin, negative inside. The value is lowered, never raised,
//! where the exact distance does not matter, so that the solid only grows.

use crate::base::math::DVec3;
use crate::cage::check::distance_squared;
use crate::geom::solid;
use rayon::prelude::*;
use std::collections::{HashMap, VecDeque};

/// The margin around the skin, in grid steps. It exceeds the circumradius of a grid tetrahedron, 0.866 steps. At a
/// point of the skin, the interpolated distance is at most that circumradius, so the point lies inside the solid.
const MARGIN: f64 = 1.0;
/// Radius of the bridges between separate parts, in grid steps.
const BRIDGE: f64 = 1.4;
/// Smallest absolute value of a node, in grid steps. It keeps the contour's vertices away from the nodes.
const LEAST: f64 = 0.1;
/// Width of the free border around the solid, in grid steps.
const FRAME: f64 = 2.5;

/// What a cage must enclose.
pub(super) struct Shape {
    pub positions: Vec<DVec3>,
    /// The triangles, and one degenerate triangle for each vertex without triangles.
    pub triangles: Vec<[u32; 3]>,
    /// Closed parts with outward normals.
    closed: Vec<[u32; 3]>,
    pub low: DVec3,
    pub high: DVec3,
}

impl Shape {
    /// Prepares a mesh with finite positions and valid indices, and at least one vertex.
    pub fn new(positions: Vec<DVec3>, mesh: &[[u32; 3]]) -> Self {
        let proper = |t: &&[u32; 3]| t[0] != t[1] && t[1] != t[2] && t[2] != t[0];
        let mut triangles: Vec<[u32; 3]> = mesh.iter().filter(proper).copied().collect();
        let closed = solid(&positions, &triangles).triangles;
        let mut used = vec![false; positions.len()];
        triangles.iter().flatten().for_each(|v| used[*v as usize] = true);
        triangles.extend((0..positions.len() as u32).filter(|v| !used[*v as usize]).map(|v| [v; 3]));
        let low = positions.iter().copied().fold(DVec3::INFINITY, DVec3::min);
        let high = positions.iter().copied().fold(DVec3::NEG_INFINITY, DVec3::max);
        Self { positions, triangles, closed, low, high }
    }

    /// Prepares a mesh and its mirror image. Moves the plane of symmetry, which has the coordinate `middle` on `axis`, to
    /// 0.
    pub fn new_symmetric(positions: &[DVec3], mesh: &[[u32; 3]], (axis, middle): (usize, f64)) -> Self {
        let count = positions.len() as u32;
        let shifted = |side: f64| {
            positions.iter().map(move |x| {
                let mut x = *x;
                x[axis] = side * (x[axis] - middle);
                x
            })
        };
        let mirrored = mesh.iter().map(|[a, b, c]| [*a, *c, *b].map(|v| v + count));
        let mesh: Vec<[u32; 3]> = mesh.iter().copied().chain(mirrored).collect();
        Self::new(shifted(1.0).chain(shifted(-1.0)).collect(), &mesh)
    }

    /// Length of the longest side of the bounding box; a small positive number for a single point.
    pub fn size(&self) -> f64 {
        let far = self.low.abs().max(self.high.abs()).max_element();
        (self.high - self.low).max_element().max(1e-6 * far).max(1e-6)
    }

    fn corners(&self, t: [u32; 3]) -> [DVec3; 3] {
        t.map(|v| self.positions[v as usize])
    }
}

/// Values at the nodes of a grid.
pub(super) struct Field {
    /// Position of node 0.
    pub low: DVec3,
    /// Distance between neighbouring nodes.
    pub step: f64,
    /// Number of nodes along x, y and z. The number of node (i, j, k) is `i + count[0] * (j + count[1] * k)`.
    pub count: [usize; 3],
    /// Value of each node; negative in the solid, and never zero.
    pub value: Vec<f64>,
}

impl Field {
    /// Builds the solid of a shape: one connected part without cavities. With `axis`, a layer of nodes lies in the plane
    /// of symmetry, where the coordinate is 0.
    pub fn new(shape: &Shape, step: f64, axis: Option<usize>) -> Self {
        let frame = DVec3::splat((MARGIN + FRAME) * step);
        let mut low = shape.low - frame;
        if let Some(axis) = axis {
            low[axis] = (low[axis] / step).floor() * step;
        }
        let count = ((shape.high + frame - low) / step).to_array().map(|c| c.ceil() as usize + 1);
        let value = vec![f64::INFINITY; count.iter().product()];
        let mut out = Self { low, step, count, value };
        out.measure(shape);
        out.fill_closed(shape);
        let least = LEAST * step;
        out.value.iter_mut().filter(|v| v.abs() < least).for_each(|v| *v = -least);
        out.free_border();
        out.fill_cavities();
        if out.bridge() {
            out.fill_cavities();
        }
        out
    }

    pub fn node(&self, i: usize, j: usize, k: usize) -> usize {
        i + self.count[0] * (j + self.count[1] * k)
    }

    pub fn place(&self, node: usize) -> [usize; 3] {
        let [a, b, _] = self.count;
        [node % a, node / a % b, node / (a * b)]
    }

    pub fn position(&self, place: [usize; 3]) -> DVec3 {
        self.low + self.step * DVec3::from(place.map(|i| i as f64))
    }

    /// Indices of the nodes along an axis from `low` to `high`.
    fn span(&self, axis: usize, low: f64, high: f64) -> std::ops::Range<usize> {
        let first = ((low - self.low[axis]) / self.step).ceil().max(0.0) as usize;
        let last = ((high - self.low[axis]) / self.step).floor();
        first..if last < 0.0 { 0 } else { (last as usize + 1).min(self.count[axis]) }
    }

    /// Sets each node to its distance to the nearest triangle minus the margin, but at most to one grid step.
    fn measure(&mut self, shape: &Shape) {
        let (margin, most) = (MARGIN * self.step, self.step);
        let reach = margin + most;
        let mut layers: Vec<Vec<u32>> = vec![Vec::new(); self.count[2]];
        for (t, corners) in shape.triangles.iter().enumerate() {
            let z = shape.corners(*corners).map(|x| x.z);
            let span = self.span(2, z[0].min(z[1]).min(z[2]) - reach, z[0].max(z[1]).max(z[2]) + reach);
            layers[span].iter_mut().for_each(|layer| layer.push(t as u32));
        }
        let mut value = std::mem::take(&mut self.value);
        let grid = &*self;
        value.par_chunks_mut(grid.count[0] * grid.count[1]).zip(&layers).enumerate().for_each(
            |(k, (layer, triangles))| {
                layer.fill(reach * reach);
                for &t in triangles {
                    let x = shape.corners(shape.triangles[t as usize]);
                    let (low, high) = (x[0].min(x[1]).min(x[2]) - reach, x[0].max(x[1]).max(x[2]) + reach);
                    for j in grid.span(1, low.y, high.y) {
                        for i in grid.span(0, low.x, high.x) {
                            let value = &mut layer[i + j * grid.count[0]];
                            *value = value.min(distance_squared(grid.position([i, j, k]), x));
                        }
                    }
                }
                layer.iter_mut().for_each(|v| *v = v.sqrt() - margin);
            },
        );
        self.value = value;
    }

    /// Makes the nodes inside closed parts negative. The winding number of these nodes is positive; it is the sum of
    /// the crossings along z.
    fn fill_closed(&mut self, shape: &Shape) {
        let [a, b, c] = self.count;
        // Change of the winding number from the node below to each node. Crossings below all nodes count at the lowest
        // layer; crossings above all nodes have no effect.
        let mut change = vec![0i16; a * b * c];
        for &t in &shape.closed {
            let x = shape.corners(t);
            let normal = (x[1] - x[0]).cross(x[2] - x[0]);
            let (low, high) = (x[0].min(x[1]).min(x[2]), x[0].max(x[1]).max(x[2]));
            for j in self.span(1, low.y, high.y) {
                for i in self.span(0, low.x, high.x) {
                    let at = self.position([i, j, 0]);
                    let turns = passes(at, x[0], x[1]) + passes(at, x[1], x[2]) + passes(at, x[2], x[0]);
                    if turns != 0 {
                        let z = x[0].z + (normal.x * (x[0].x - at.x) + normal.y * (x[0].y - at.y)) / normal.z;
                        let z = if z.is_finite() { z.clamp(low.z, high.z) } else { low.z };
                        // On the way up, a face that points down is an entry, which raises the number.
                        let k = ((z - self.low.z) / self.step).ceil().max(0.0) as usize;
                        if k < c {
                            change[i + a * (j + b * k)] -= turns;
                        }
                    }
                }
            }
        }
        let margin = MARGIN * self.step;
        for column in 0..a * b {
            let mut winding = 0;
            for k in 0..c {
                let node = column + a * b * k;
                winding += change[node];
                if winding > 0 {
                    // The stored value is `distance - margin`; inside, the distance counts as negative.
                    self.value[node] = -(self.value[node] + margin) - margin;
                }
            }
        }
    }

    /// Makes the nodes at the grid's border positive, so that the surface is closed.
    fn free_border(&mut self) {
        for node in 0..self.value.len() {
            let place = self.place(node);
            if (0..3).any(|k| place[k] == 0 || place[k] + 1 == self.count[k]) {
                self.value[node] = self.step;
            }
        }
    }

    /// Calls `each` for the neighbours of a node along the edges of the tetrahedra (Kuhn, 14 directions).
    fn around(&self, node: usize, mut each: impl FnMut(usize)) {
        let place = self.place(node);
        for bits in 1..8usize {
            for back in [false, true] {
                let mut to = place;
                let inside = (0..3).filter(|k| bits >> k & 1 == 1).all(|k| {
                    to[k] = if back { to[k].wrapping_sub(1) } else { to[k] + 1 };
                    to[k] < self.count[k]
                });
                if inside {
                    each(self.node(to[0], to[1], to[2]));
                }
            }
        }
    }

    /// Makes the free nodes that are not connected with the border negative.
    fn fill_cavities(&mut self) {
        let mut outside = vec![false; self.value.len()];
        let mut stack = vec![0];
        outside[0] = true;
        while let Some(node) = stack.pop() {
            self.around(node, |next| {
                if self.value[next] > 0.0 && !outside[next] {
                    outside[next] = true;
                    stack.push(next);
                }
            });
        }
        let step = self.step;
        let inner = self.value.iter_mut().zip(&outside).filter(|(v, outside)| **v > 0.0 && !**outside);
        inner.for_each(|(v, _)| *v = -step);
    }

    /// Connects the parts of the solid by straight bridges, the shortest ones first. Returns whether there were several
    /// parts.
    fn bridge(&mut self) -> bool {
        let mut part = vec![u32::MAX; self.value.len()];
        let mut parts = 0u32;
        for first in 0..self.value.len() {
            if self.value[first] > 0.0 || part[first] != u32::MAX {
                continue;
            }
            part[first] = parts;
            let mut stack = vec![first];
            while let Some(node) = stack.pop() {
                self.around(node, |next| {
                    if self.value[next] < 0.0 && part[next] == u32::MAX {
                        part[next] = parts;
                        stack.push(next);
                    }
                });
            }
            parts += 1;
        }
        if parts < 2 {
            return false;
        }
        // Assign each free node to the nearest node of the solid. Where the regions of two parts meet, a bridge is
        // possible.
        let mut source: Vec<usize> = (0..part.len()).collect();
        let mut queue: VecDeque<usize> = (0..part.len()).filter(|n| part[*n] != u32::MAX).collect();
        let mut bridges: HashMap<[u32; 2], (f64, [usize; 2])> = HashMap::new();
        while let Some(node) = queue.pop_front() {
            let (own, from) = (part[node], source[node]);
            let mut found = Vec::new();
            self.around(node, |next| found.push(next));
            for next in found {
                if part[next] == u32::MAX {
                    (part[next], source[next]) = (own, from);
                    queue.push_back(next);
                } else if part[next] != own {
                    let ends = if own < part[next] { [from, source[next]] } else { [source[next], from] };
                    let [p, q] = ends.map(|n| self.position(self.place(n)));
                    let key = [own.min(part[next]), own.max(part[next])];
                    let new = (p.distance(q), ends);
                    let old = bridges.entry(key).or_insert(new);
                    if new.0 < old.0 || (new.0 == old.0 && new.1 < old.1) {
                        *old = new;
                    }
                }
            }
        }
        let mut bridges: Vec<(f64, [usize; 2], [u32; 2])> =
            bridges.into_iter().map(|(parts, (length, ends))| (length, ends, parts)).collect();
        bridges.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let mut above: Vec<u32> = (0..parts).collect();
        for (_, ends, [a, b]) in bridges {
            let root = |above: &[u32], mut v: u32| {
                while above[v as usize] != v {
                    v = above[v as usize];
                }
                v
            };
            let (a, b) = (root(&above, a), root(&above, b));
            if a != b {
                above[a.max(b) as usize] = a.min(b);
                let [p, q] = ends.map(|n| self.position(self.place(n)));
                self.add_bridge(p, q);
            }
        }
        true
    }

    /// Adds the points around a segment to the solid.
    fn add_bridge(&mut self, p: DVec3, q: DVec3) {
        let (radius, least) = (BRIDGE * self.step, LEAST * self.step);
        let reach = radius + self.step;
        let (low, high) = (p.min(q) - reach, p.max(q) + reach);
        let [x, y, z] = [0, 1, 2].map(|k| self.span(k, low[k], high[k]));
        for k in z {
            for j in y.clone() {
                for i in x.clone() {
                    let node = self.node(i, j, k);
                    let distance = distance_squared(self.position([i, j, k]), [p, q, q]).sqrt() - radius;
                    let distance = if distance.abs() < least { -least } else { distance };
                    self.value[node] = self.value[node].min(distance);
                }
            }
        }
    }
}

/// Returns the signed crossing of an edge with the ray from `x` along +x, both projected along z: 1 if the edge crosses
/// the ray upwards in y, -1 downwards, 0 if it does not cross.
fn passes(x: DVec3, a: DVec3, b: DVec3) -> i16 {
    let up = a.y <= b.y;
    let (low, high) = if up { (a, b) } else { (b, a) };
    let left = (high.x - low.x) * (x.y - low.y) - (high.y - low.y) * (x.x - low.x) > 0.0;
    match (low.y <= x.y && x.y < high.y && left, up) {
        (false, _) => 0,
        (true, true) => 1,
        (true, false) => -1,
    }
}
