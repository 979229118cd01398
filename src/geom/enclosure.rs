//! Encloses any mesh and its bones with cubes of equal size.
//!
//! A grid cell gets a cube if it contains a part of the interior, of a triangle, or of a bone. Parts that are not
//! connected within a cell get one cube each, with corners of their own (Molino, Bao, Fedkiw, "A virtual node algorithm
//! for changing mesh topology during simulation", 2004). Cubes of neighbouring cells share corners if their parts are
//! connected across the common face.
//!
//! The interior consists of runs: the parts of parallel rays that lie inside the mesh ([`super::lattice`]). Each
//! triangle is divided into fragments, one per cell that it overlaps; each bone is divided into spans. The surface is
//! continuous: fragments of triangles with a common edge are connected in each cell that contains a point of the edge.
//! A fragment is connected to a run if the run's ray crosses the fragment. Rays miss small fragments and thin parts.
//! From such fragments, short rays search the interior, so that neither a shallow layer nor the two skins of a thin
//! plate come apart. Parts that cross are one part. A gap keeps two parts apart even if it is narrower than the spacing
//! of the rays.

mod inside;

use super::cubes::Cubes;
use super::fragments::{Fragments, Grid, Index, distance_squared};
use super::lattice::FINEST;
use super::rays::{RAYS, Rays, pieces, runs};
use super::sets::{apart, root, unite};
use super::solid::{Solid, solid};
use crate::base::math::DVec3;
use inside::{Joints, Shape, spans};

/// Maximum number of fragments. A mesh with more fragments is refused, since they need too much memory.
const MOST: usize = 50_000_000;
/// Number of sizes that [`Enclosure::with_cubes`] tries.
const TRIALS: usize = 3;
/// The search for a size ends if the number of cubes differs from the wanted number by less than this fraction.
const RIGHT: f64 = 0.08;

/// Cubes that enclose a mesh and its bones.
pub struct Enclosure {
    /// The cubes.
    pub cubes: Cubes,
    shape: Shape,
    /// Cube of each entity of the shape.
    cube_of: Vec<u32>,
    /// Cube of each vertex, or `u32::MAX`.
    of_vertex: Vec<u32>,
    /// Cubes of the segments, one segment after the other.
    along: Vec<u32>,
    /// Per segment: its first cube, as an index into `along`.
    begin: Vec<u32>,
}

/// The input without invalid triangles and segments.
struct Input<'a> {
    positions: &'a [DVec3],
    triangles: Vec<[u32; 3]>,
    segments: Vec<Option<[DVec3; 2]>>,
    solid: Solid,
    low: DVec3,
    high: DVec3,
}

impl<'a> Input<'a> {
    fn new(positions: &'a [DVec3], triangles: &[[u32; 3]], segments: &[[DVec3; 2]]) -> Option<Self> {
        let proper = |t: &&[u32; 3]| {
            let finite = |v: &u32| positions.get(*v as usize).is_some_and(|x| x.is_finite());
            t[0] != t[1] && t[1] != t[2] && t[2] != t[0] && t.iter().all(finite)
        };
        let triangles: Vec<[u32; 3]> = triangles.iter().filter(proper).copied().collect();
        let finite = |s: &[DVec3; 2]| s.iter().all(|x| x.is_finite()).then_some(*s);
        let segments: Vec<Option<[DVec3; 2]>> = segments.iter().map(finite).collect();
        let points = || {
            let of_mesh = triangles.iter().flatten().map(|&v| positions[v as usize]);
            of_mesh.chain(segments.iter().flatten().flatten().copied())
        };
        let low = points().fold(DVec3::INFINITY, DVec3::min);
        let high = points().fold(DVec3::NEG_INFINITY, DVec3::max);
        // The comparison also excludes an input without points.
        let fits = (high - low).length_squared().is_finite() && low.cmple(high).all();
        fits.then(|| Self { solid: solid(positions, &triangles), positions, triangles, segments, low, high })
    }

    /// Estimates the number of cubes of a size. A cube's projection has, on average over its orientation, 1.5 times the
    /// area of a face. So a sheet passes through 1.5 cubes per area of a face. For a closed part, half of these cubes
    /// lie outside.
    fn estimate(&self) -> impl Fn(f64) -> f64 {
        let (mut closed, mut open) = (0.0, 0.0);
        for (t, side) in self.triangles.iter().zip(&self.solid.side) {
            let [a, b, c] = t.map(|v| self.positions[v as usize]);
            *(if *side == 0 { &mut open } else { &mut closed }) += 0.5 * (b - a).cross(c - a).length();
        }
        let length: f64 = self.segments.iter().flatten().map(|[a, b]| a.distance(*b)).sum();
        let (volume, area) = (self.solid.volume, 0.75 * closed + 1.5 * open);
        let length = length + (self.high - self.low).max_element();
        move |h: f64| volume / h.powi(3) + area / (h * h) + length / h
    }
}

impl Enclosure {
    /// Encloses a welded mesh and segments with cubes of the edge length `size`. Any mesh is allowed: open, crossing
    /// or non-manifold, with several components. Triangles and segments that are not finite, and triangles with a
    /// repeated vertex, are skipped. A size with more than 250 cubes along the longest side is enlarged. Returns
    /// `None` if nothing is left to enclose, or the size is not a positive number.
    pub fn new(
        positions: &[DVec3],
        triangles: &[[u32; 3]],
        segments: &[[DVec3; 2]],
        size: f64,
    ) -> Option<Self> {
        Self::of(&Input::new(positions, triangles, segments)?, size)
    }

    /// Encloses a mesh and segments as [`Enclosure::new`] does, with about `count` cubes.
    pub fn with_cubes(
        positions: &[DVec3],
        triangles: &[[u32; 3]],
        segments: &[[DVec3; 2]],
        count: usize,
    ) -> Option<Self> {
        let input = Input::new(positions, triangles, segments)?;
        let longest = (input.high - input.low).max_element();
        if longest == 0.0 {
            return Self::of(&input, 1.0);
        }
        let (estimate, count) = (input.estimate(), count.max(1) as f64);
        let (mut scale, mut best): (f64, Option<(f64, Self)>) = (1.0, None);
        for _ in 0..TRIALS {
            // The estimate falls with the size, so that bisection finds the size.
            let (mut low, mut high) = (longest / FINEST, 2.0 * longest);
            for _ in 0..60 {
                let middle = 0.5 * (low + high);
                *(if scale * estimate(middle) > count { &mut low } else { &mut high }) = middle;
            }
            let trial = Self::of(&input, high)?;
            let cells = trial.cubes.cells.len() as f64;
            let miss = (cells / count).ln().abs();
            if best.as_ref().is_none_or(|b| miss < b.0) {
                best = Some((miss, trial));
            }
            let expected = estimate(high);
            if miss < RIGHT || !(expected > 0.0 && expected.is_finite()) {
                break;
            }
            scale = cells / expected;
        }
        best.map(|b| b.1)
    }

    fn of(input: &Input, size: f64) -> Option<Self> {
        let size = size.max((input.high - input.low).max_element() / FINEST);
        if !(size > 0.0 && size.is_finite()) {
            return None;
        }
        let grid = Grid::new(input.low, input.high, size);
        // Far from the origin, rounding can move positions out of the grid.
        let most = DVec3::from(grid.count.map(f64::from)) - 0.5;
        if !(grid.local(input.low).cmpge(DVec3::splat(0.5)).all() && grid.local(input.high).cmple(most).all())
        {
            return None;
        }
        let (shape, mut joints) = connect(input, grid)?;
        let (cubes, cube_of) = number(&shape, &mut joints);
        let mut out =
            Self { cubes, cube_of, shape, of_vertex: Vec::new(), along: Vec::new(), begin: Vec::new() };
        out.assign(input.segments.len());
        Some(out)
    }

    /// Assigns cubes to the vertices and segments.
    fn assign(&mut self, segments: usize) {
        let shape = &self.shape;
        self.of_vertex = vec![u32::MAX; shape.x.len()];
        for (t, &v) in shape.triangles.iter().enumerate().flat_map(|(t, of)| of.iter().map(move |v| (t, v))) {
            let own =
                shape.grid.at(shape.x[v as usize]).and_then(|cell| shape.fragments.find(t as u32, cell));
            if let Some(f) = own {
                let cube = &mut self.of_vertex[v as usize];
                *cube = (*cube).min(self.cube_of[shape.fragment(f) as usize]);
            }
        }
        self.begin = vec![0; segments + 1];
        for (s, span) in shape.spans.iter().enumerate() {
            self.along.push(self.cube_of[shape.span(s) as usize]);
            self.begin[span.segment as usize + 1] = self.along.len() as u32;
        }
        (0..segments).for_each(|s| self.begin[s + 1] = self.begin[s + 1].max(self.begin[s]));
    }

    /// Returns the cube of a mesh vertex, and the trilinear weights of the cube's corners. Returns `None` for a vertex
    /// without a valid triangle.
    pub fn of_vertex(&self, vertex: usize) -> Option<(usize, [f64; 8])> {
        let cube = self.of_vertex.get(vertex).filter(|cube| **cube != u32::MAX)?;
        Some((*cube as usize, self.weights(*cube, self.shape.x[vertex])))
    }

    /// Trilinear weights of a cube's corners at a position in the grid's frame.
    fn weights(&self, cube: u32, x: DVec3) -> [f64; 8] {
        let first = self.cubes.nodes[self.cubes.cells[cube as usize][0] as usize];
        let t = x - self.shape.grid.local(first).round();
        let share = |k: usize, corner: usize| if corner >> k & 1 == 1 { t[k] } else { 1.0 - t[k] };
        std::array::from_fn(|corner| (0..3).map(|k| share(k, corner)).product())
    }

    /// Returns the cubes that a segment crosses, from head to tail, without repeats. Every finite segment has at least
    /// one.
    pub fn along(&self, segment: usize) -> &[u32] {
        match self.begin.get(segment..=segment.saturating_add(1)) {
            Some(&[from, to]) => &self.along[from as usize..to as usize],
            _ => &[],
        }
    }

    /// Returns the cube at a position, and the trilinear weights of the cube's corners. If several cubes lie in the
    /// position's grid cell, the cube of the nearest run, triangle or bone is taken.
    pub fn find(&self, x: DVec3) -> Option<(usize, [f64; 8])> {
        let shape = &self.shape;
        let x = shape.grid.local(x);
        let cell = shape.grid.at(x)?;
        let runs = shape
            .runs_at
            .of(cell)
            .iter()
            .map(|&run| (shape.on_run(run, x).distance_squared(x), shape.runs[run as usize].cell));
        let fragments = shape.fragments_at.of(cell).iter();
        let fragments = fragments.map(|&f| (distance_squared(shape.corners(f), x), shape.fragment(f)));
        let spans = shape.spans_at.of(cell).iter().map(|&s| s as usize);
        let spans = spans.map(|s| (shape.spans[s].distance_squared(x), shape.span(s)));
        let near = runs.chain(fragments).chain(spans);
        let (_, entity) = near.min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)))?;
        let cube = self.cube_of[entity as usize];
        Some((cube as usize, self.weights(cube, x)))
    }

    /// Returns the number of connected components of the cubes, and per node its component.
    pub fn components(&self) -> (usize, Vec<u32>) {
        let mut above = apart(self.cubes.nodes.len());
        for cell in &self.cubes.cells {
            cell[1..].iter().for_each(|&node| unite(&mut above, cell[0], node));
        }
        let (mut count, mut of) = (0, Vec::with_capacity(above.len()));
        for node in 0..above.len() as u32 {
            let root = root(&mut above, node);
            // A root is the smallest node of its component.
            of.push(if root == node { count } else { of[root as usize] });
            count += u32::from(root == node);
        }
        (count as usize, of)
    }
}

/// Finds runs, fragments and spans, and how they are connected.
fn connect(input: &Input, grid: Grid) -> Option<(Shape, Joints)> {
    let x: Vec<DVec3> = input.positions.iter().map(|p| grid.local(*p)).collect();
    let fragments = Fragments::new(&grid, &x, &input.triangles, MOST)?;
    let mut parts = Vec::new();
    for (s, ends) in input.segments.iter().enumerate() {
        if let Some(ends) = ends {
            spans(&grid, s as u32, ends.map(|p| grid.local(p)), &mut parts);
        }
    }
    // Rays run along the longest side, since this direction needs the fewest rays.
    let axis = (0..3).fold(0, |a, k| if grid.count[k] > grid.count[a] { k } else { a });
    let count = [1, 2].map(|k| RAYS * grid.count[(axis + k) % 3] as usize);
    let rays = Rays { axis, low: DVec3::ZERO, step: 1.0 / RAYS as f64, count };
    let cuts = rays.cuts(&x, &input.solid.triangles);
    let runs = runs(&rays, &cuts, 1.0, |_| 0, |_, winding| winding > 0);
    let mut shape = Shape {
        x,
        triangles: input.triangles.clone(),
        side: input.solid.side.clone(),
        pieces: 0,
        runs_at: Index::default(),
        fragments_at: Index::new(&fragments.cell),
        spans_at: Index::new(&parts.iter().map(|span| span.cell).collect::<Vec<u32>>()),
        spans: parts,
        grid,
        rays,
        runs,
        fragments,
    };
    shape.runs_at = Index::new(&shape.runs.iter().map(|run| shape.cell_of(run)).collect::<Vec<u32>>());
    let (piece, touching) = pieces(&shape.rays, &shape.runs, |a, b| shape.touch(a, b));
    shape.runs.iter_mut().zip(&piece).for_each(|(run, piece)| run.cell = *piece);
    shape.pieces = piece.iter().max().map_or(0, |last| last + 1);
    let above = apart(shape.span(shape.spans.len()) as usize);
    let link = |&(a, b, k): &(u32, u32, usize)| (piece[a as usize], piece[b as usize], shape.axis(k));
    let mut joints = Joints { above, links: touching.iter().map(link).collect() };
    // The solid's triangles are those of the closed parts, in the order of the mesh, and then lids over holes.
    let (closed, open): (Vec<u32>, Vec<u32>) =
        (0..shape.triangles.len() as u32).partition(|&t| shape.side[t as usize] != 0);
    let sheets: Vec<[u32; 3]> = open.iter().map(|&t| shape.triangles[t as usize]).collect();
    shape.join_cuts(&cuts, &closed, &mut joints);
    shape.join_cuts(&shape.rays.cuts(&shape.x, &sheets), &open, &mut joints);
    let Shape { grid, x, fragments, .. } = &shape;
    let join = |a, b| joints.join(shape.fragment(a), shape.fragment(b));
    fragments.meet(grid, x, &shape.triangles, join);
    let link = |a, b, axis| joints.links.push((shape.fragment(a), shape.fragment(b), axis));
    fragments.neighbors(grid, link);
    shape.join_fragments(&mut joints);
    shape.join_spans(&mut joints);
    Some((shape, joints))
}

/// Numbers the cubes and their corners. Returns the cubes, and the cube of each entity.
fn number(shape: &Shape, joints: &mut Joints) -> (Cubes, Vec<u32>) {
    let entities = joints.above.len();
    let mut cell = vec![0; entities];
    for &at in &shape.runs_at.cells {
        shape.runs_at.of(at).iter().for_each(|&run| cell[shape.runs[run as usize].cell as usize] = at);
    }
    let others = shape.fragments.cell.iter().copied().chain(shape.spans.iter().map(|span| span.cell));
    cell[shape.pieces as usize..].iter_mut().zip(others).for_each(|(cell, at)| *cell = at);
    let roots: Vec<u32> = (0..entities as u32).map(|e| root(&mut joints.above, e)).collect();
    let mut firsts: Vec<u32> = (0..entities as u32).filter(|&e| roots[e as usize] == e).collect();
    firsts.sort_unstable_by_key(|&e| (cell[e as usize], e));
    let mut cube_of = vec![0; entities];
    firsts.iter().enumerate().for_each(|(cube, &e)| cube_of[e as usize] = cube as u32);
    (0..entities).for_each(|e| cube_of[e] = cube_of[roots[e] as usize]);
    let mut above = apart(8 * firsts.len());
    for &(a, b, axis) in &joints.links {
        let (a, b) = (cube_of[a as usize], cube_of[b as usize]);
        for corner in (0..8).filter(|c| c >> axis & 1 == 0) {
            unite(&mut above, 8 * a + corner + (1 << axis), 8 * b + corner);
        }
    }
    let mut node = vec![u32::MAX; 8 * firsts.len()];
    let mut out = Cubes { size: shape.grid.size, ..Cubes::default() };
    // Cubes of one cell that share all corners are one cube.
    let mut same = Vec::with_capacity(firsts.len());
    let mut of_cell = 0;
    for (cube, &e) in firsts.iter().enumerate() {
        let at = cell[e as usize];
        if cube > 0 && cell[firsts[cube - 1] as usize] != at {
            of_cell = out.cells.len();
        }
        let corners: [u32; 8] = std::array::from_fn(|corner| {
            let root = root(&mut above, (8 * cube + corner) as u32) as usize;
            if node[root] == u32::MAX {
                node[root] = out.nodes.len() as u32;
                let far = DVec3::from([0, 1, 2].map(|k| f64::from(corner as u8 >> k & 1)));
                out.nodes.push(shape.grid.low + (shape.grid.corner(at) + far) * shape.grid.size);
            }
            node[root]
        });
        let twin = out.cells[of_cell..].iter().position(|other| *other == corners);
        same.push(twin.map_or(out.cells.len(), |k| of_cell + k) as u32);
        if twin.is_none() {
            out.cells.push(corners);
        }
    }
    cube_of.iter_mut().for_each(|cube| *cube = same[*cube as usize]);
    (out, cube_of)
}

#[cfg(test)]
mod tests;
