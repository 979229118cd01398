//! Joins fragments and bones that no ray meets to the interior next to them.

use super::super::fragments::{Fragments, Grid, Index, crossing, middle, nearest};
use super::super::rays::{Cut, HEIGHTS, Rays, Run, place_of};
use super::super::sets::{root, unite};
use crate::base::math::DVec3;

/// Maximum number of fragments of one connected surface in a cell from which the interior is searched.
const SAMPLES: usize = 4;
/// Maximum number of fragments in a cell from which the interior is searched. It keeps the time linear if very many
/// small parts lie in one cell.
const MOST: usize = 64;
/// Maximum number of runs in a cell that are tried, nearest first.
const TRIES: usize = 8;
/// The part of a segment in one cell.
pub(super) struct Span {
    pub segment: u32,
    pub cell: u32,
    pub ends: [DVec3; 2],
}

/// All items that need cubes, in the grid's frame.
///
/// An entity is an item that belongs to exactly one cube. The numbering of entities begins with the pieces (connected
/// runs of a cell); then come the fragments, and then the spans.
pub(super) struct Shape {
    pub grid: Grid,
    pub x: Vec<DVec3>,
    pub triangles: Vec<[u32; 3]>,
    /// Per triangle: the same as in [`super::super::solid::Solid::side`].
    pub side: Vec<i8>,
    pub rays: Rays,
    /// The runs; a run's `cell` is its piece.
    pub runs: Vec<Run>,
    pub fragments: Fragments,
    pub spans: Vec<Span>,
    /// Number of pieces.
    pub pieces: u32,
    pub runs_at: Index,
    pub fragments_at: Index,
    pub spans_at: Index,
}

/// Entities that share a cube, and entities that touch across the border of two cells.
pub(super) struct Joints {
    pub above: Vec<u32>,
    /// The lower entity, the upper entity, and the axis from the lower to the upper cell.
    pub links: Vec<(u32, u32, usize)>,
}

impl Joints {
    pub fn join(&mut self, a: u32, b: u32) {
        unite(&mut self.above, a, b);
    }
}

impl Shape {
    pub fn fragment(&self, f: u32) -> u32 {
        self.pieces + f
    }

    pub fn span(&self, s: usize) -> u32 {
        self.pieces + self.fragments.cell.len() as u32 + s as u32
    }

    pub fn corners(&self, f: u32) -> [DVec3; 3] {
        self.triangles[self.fragments.triangle[f as usize] as usize].map(|v| self.x[v as usize])
    }

    fn side(&self, f: u32) -> i8 {
        self.side[self.fragments.triangle[f as usize] as usize]
    }

    /// Returns the point of a run that is nearest to a position.
    pub fn on_run(&self, run: u32, x: DVec3) -> DVec3 {
        let run = &self.runs[run as usize];
        let [u, v] = self.rays.at(run.ray.map(|i| i as usize));
        self.rays.global([u, v, self.rays.local(x)[2].clamp(run.from, run.to)])
    }

    /// Returns the first fragment of a closed part that a segment crosses in a cell, and whether the segment leaves the
    /// part there. The triangle of the fragment `but` is ignored.
    fn hit(&self, cell: u32, from: DVec3, to: DVec3, but: Option<u32>) -> Option<(u32, bool)> {
        let but = but.map(|f| self.fragments.triangle[f as usize]);
        let mut first: Option<(f64, u32, bool)> = None;
        for &f in self.fragments_at.of(cell) {
            if self.side(f) != 0
                && but != Some(self.fragments.triangle[f as usize])
                && let Some((t, side)) = crossing(self.corners(f), from, to)
                && first.is_none_or(|best| t < best.0)
            {
                first = Some((t, f, side * f64::from(self.side(f)) > 0.0));
            }
        }
        first.map(|(_, f, leaves)| (f, leaves))
    }

    /// Returns the piece of the nearest run in the cell `there` that is visible from `x` in the cell `here`. A run is
    /// visible if no surface of a closed part lies in between. A point that sees a run is inside or on the surface, and
    /// is connected to the run. The triangle of the fragment `but`, on which `x` may lie, is ignored.
    fn visible(&self, [here, there]: [u32; 2], x: DVec3, but: Option<u32>) -> Option<u32> {
        let near = |&run: &u32| {
            let at = self.on_run(run, x);
            (at.distance_squared(x), run, at)
        };
        let mut runs: Vec<(f64, u32, DVec3)> = self.runs_at.of(there).iter().map(near).collect();
        runs.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let free = |cell: u32, to: DVec3| self.hit(cell, x, to, but).is_none();
        let sees = |to: DVec3| free(here, to) && (here == there || free(there, to));
        runs.iter().take(TRIES).find(|run| sees(run.2)).map(|run| self.runs[run.1 as usize].cell)
    }

    /// Whether the interior connects two runs of neighbouring rays. A gap narrower than the rays' spacing can lie
    /// between the runs.
    pub fn touch(&self, a: &Run, b: &Run) -> bool {
        let cells = [a, b].map(|run| self.cell_of(run));
        if cells.iter().all(|cell| self.fragments_at.of(*cell).is_empty()) {
            return true;
        }
        let (low, high) = (a.from.max(b.from), a.to.min(b.to));
        HEIGHTS.iter().any(|height| {
            let [from, to] = [a, b].map(|run| {
                let [u, v] = self.rays.at(run.ray.map(|i| i as usize));
                self.rays.global([u, v, low + (high - low) * height])
            });
            self.passes(cells, from, to)
        })
    }

    /// Whether a segment between two points of the interior stays in the interior. It leaves the interior where it lies
    /// in fewer parts than at each of its ends.
    fn passes(&self, [here, there]: [u32; 2], from: DVec3, to: DVec3) -> bool {
        let beyond = if here == there { &[] } else { self.fragments_at.of(there) };
        let mut crossings: Vec<(f64, i32, u32)> = Vec::new();
        for &f in self.fragments_at.of(here).iter().chain(beyond).filter(|f| self.side(**f) != 0) {
            if let Some((t, side)) = crossing(self.corners(f), from, to) {
                let leaves = side as i32 * i32::from(self.side(f));
                crossings.push((t, leaves, self.fragments.triangle[f as usize]));
            }
        }
        // Where parts touch, the segment enters one part before it leaves the other. A triangle with fragments in both
        // cells counts once.
        crossings.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then((a.1, a.2).cmp(&(b.1, b.2))));
        crossings.dedup();
        let (mut entered, mut least) = (0, 0);
        for (_, leaves, _) in &crossings {
            entered -= leaves;
            least = least.min(entered);
        }
        least >= entered.min(0)
    }

    /// The grid cell of a run.
    pub fn cell_of(&self, run: &Run) -> u32 {
        let place = place_of(run);
        (0..3).map(|k| place[k] * self.grid.stride[self.axis(k)]).sum()
    }

    /// The world's axis along a direction of the rays' frame.
    pub fn axis(&self, direction: usize) -> usize {
        (self.rays.axis + 1 + direction) % 3
    }

    /// Joins fragments to the runs whose rays cross them. A fragment can also lie in the middle of a run, inside
    /// another part. `numbers` gives the triangle of each cut; cuts of lids have none.
    pub fn join_cuts(&self, cuts: &[Cut], numbers: &[u32], joints: &mut Joints) {
        let ray = |run: &Run| run.ray[0] * self.rays.count[1] as u32 + run.ray[1];
        for cut in cuts {
            let Some(&triangle) = numbers.get(cut.triangle as usize) else { continue };
            let first = self.runs.partition_point(|run| (ray(run), run.to) < (cut.ray, cut.along));
            let crossed = |run: &&Run| ray(run) == cut.ray && run.from <= cut.along;
            for run in self.runs[first..].iter().take_while(crossed) {
                if let Some(f) = self.fragments.find(triangle, self.cell_of(run)) {
                    joints.join(run.cell, self.fragment(f));
                }
            }
        }
    }

    /// Joins connected fragments of a cell, of which none meets a ray, to the interior.
    pub fn join_fragments(&self, joints: &mut Joints) {
        let mut lone = Vec::new();
        for &cell in &self.fragments_at.cells {
            lone.clear();
            for &f in self.fragments_at.of(cell) {
                let of = root(&mut joints.above, self.fragment(f));
                if of >= self.pieces {
                    lone.push((of, f));
                }
            }
            lone.sort_unstable();
            let samples = |group: &[(u32, u32)]| {
                let step = group.len().div_ceil(SAMPLES);
                group.iter().step_by(step).map(|of| of.1).collect::<Vec<u32>>()
            };
            let samples: Vec<u32> = lone.chunk_by(|a, b| a.0 == b.0).flat_map(samples).take(MOST).collect();
            for f in samples {
                if root(&mut joints.above, self.fragment(f)) >= self.pieces {
                    self.join_fragment(f, cell, joints);
                }
            }
        }
    }

    /// Joins a fragment to the opposite skin of a thin part and to a visible run, in its cell or else in the
    /// neighbouring cells. A sheet inside a closed part is joined to the part.
    fn join_fragment(&self, f: u32, cell: u32, joints: &mut Joints) {
        let x = self.corners(f);
        let Some(from) = middle(x, self.grid.corner(cell)) else { return };
        let own = self.fragment(f);
        self.join_crossed(f, cell, joints);
        let outward = (x[1] - x[0]).cross(x[2] - x[0]) * f64::from(self.side(f));
        let inward = -outward.normalize_or_zero();
        if self.side(f) == 0 {
            return self.visible([cell; 2], from, None).into_iter().for_each(|piece| joints.join(piece, own));
        }
        let (to, [axis, up]) = self.exit(cell, from, inward);
        let behind = self.hit(cell, from, to, Some(f)).map(|hit| self.fragment(hit.0));
        let piece = self.visible([cell; 2], from, Some(f));
        if behind.is_some() || piece.is_some() {
            return behind.iter().chain(&piece).for_each(|other| joints.join(own, *other));
        }
        let stride = self.grid.stride;
        let mut link = |other: u32, axis: usize, up: bool| {
            joints.links.push(if up { (own, other, axis) } else { (other, own, axis) });
        };
        let beside = |axis: usize, up: bool| if up { cell + stride[axis] } else { cell - stride[axis] };
        let next = beside(axis, up == 1);
        let end = self.exit(next, to, inward).0;
        if let Some((other, _)) = self.hit(next, to, end, Some(f)) {
            link(self.fragment(other), axis, up == 1);
        }
        for (axis, up) in (0..6).map(|k| (k / 2, k % 2 == 1)) {
            if let Some(piece) = self.visible([cell, beside(axis, up)], from, Some(f)) {
                link(piece, axis, up);
            }
        }
    }

    /// Joins a fragment to the fragments of its cell that it crosses: parts that cross are one.
    fn join_crossed(&self, f: u32, cell: u32, joints: &mut Joints) {
        let (own, low) = (self.corners(f), self.grid.corner(cell));
        let crosses = |x: [DVec3; 3], other: [DVec3; 3]| {
            (0..3).any(|k| {
                let (from, to) = (x[k], x[(k + 1) % 3]);
                let at = crossing(other, from, to).map(|(t, _)| from.lerp(to, t));
                at.is_some_and(|at| at.cmpge(low).all() && at.cmple(low + 1.0).all())
            })
        };
        for &g in self.fragments_at.of(cell).iter().filter(|g| **g != f) {
            let other = self.corners(g);
            if crosses(own, other) || crosses(other, own) {
                joints.join(self.fragment(f), self.fragment(g));
            }
        }
    }

    /// Returns the point where a ray leaves a cell, the axis of the face at that point, and 1 if it is the upper face.
    fn exit(&self, cell: u32, from: DVec3, way: DVec3) -> (DVec3, [usize; 2]) {
        let low = self.grid.corner(cell);
        let reach = |k: usize| (low[k] + f64::from(u8::from(way[k] > 0.0)) - from[k]) / way[k];
        let axis = (0..3).filter(|&k| way[k] != 0.0).min_by(|&a, &b| reach(a).total_cmp(&reach(b)));
        axis.map_or((from, [0, 0]), |k| (from + way * reach(k).max(0.0), [k, usize::from(way[k] > 0.0)]))
    }

    /// Joins the spans of the segments to the surface that they cross, and to the interior that they lie in. Segments
    /// whose ends coincide are joined there.
    pub fn join_spans(&self, joints: &mut Joints) {
        for (s, span) in self.spans.iter().enumerate() {
            let (own, [from, to]) = (self.span(s), span.ends);
            let mut enters = false;
            for &f in self.fragments_at.of(span.cell) {
                if crossing(self.corners(f), from, to).is_some() {
                    joints.join(self.fragment(f), own);
                    enters |= self.side(f) != 0;
                }
            }
            if !enters && let Some(body) = self.around(span.cell, 0.5 * (from + to)) {
                joints.join(body, own);
            }
        }
        for (s, pair) in self.spans.windows(2).enumerate().filter(|(_, p)| p[0].segment == p[1].segment) {
            let up = pair[1].cell > pair[0].cell;
            let (low, high) = if up { (s, s + 1) } else { (s + 1, s) };
            let step = self.spans[high].cell - self.spans[low].cell;
            let axis = (0..3).find(|&k| self.grid.stride[k] == step).unwrap_or(0);
            joints.links.push((self.span(low), self.span(high), axis));
        }
        self.join_ends(joints);
    }

    fn join_ends(&self, joints: &mut Joints) {
        let mut ends: Vec<([u64; 3], u32)> = Vec::new();
        for (s, span) in self.spans.iter().enumerate() {
            let same = |other: Option<&Span>| other.is_some_and(|o| o.segment == span.segment);
            let key = |x: DVec3| x.to_array().map(|v| (v + 0.0).to_bits());
            if !same(s.checked_sub(1).and_then(|before| self.spans.get(before))) {
                ends.push((key(span.ends[0]), self.span(s)));
            }
            if !same(self.spans.get(s + 1)) {
                ends.push((key(span.ends[1]), self.span(s)));
            }
        }
        ends.sort_unstable();
        for pair in ends.windows(2).filter(|pair| pair[0].0 == pair[1].0) {
            joints.join(pair[0].1, pair[1].1);
        }
    }

    /// Returns the entity of the closed part that contains a position in a cell. This is a visible run, or else the
    /// first surface on the way to the nearest fragment, if the position is behind that surface.
    fn around(&self, cell: u32, x: DVec3) -> Option<u32> {
        if let Some(piece) = self.visible([cell; 2], x, None) {
            return Some(piece);
        }
        let low = self.grid.corner(cell);
        let closed = self.fragments_at.of(cell).iter().filter(|f| self.side(**f) != 0);
        let middles = closed.filter_map(|&f| middle(self.corners(f), low));
        let to = middles.min_by(|a, b| a.distance_squared(x).total_cmp(&b.distance_squared(x)))?;
        // The way ends slightly behind the surface, so that rounding does not hide the surface.
        let (f, leaves) = self.hit(cell, x, to + (to - x) * 1e-6, None)?;
        leaves.then(|| self.fragment(f))
    }
}

/// Divides a segment at the borders of the cells. Successive spans lie in cells with a common face.
pub(super) fn spans(grid: &Grid, segment: u32, ends: [DVec3; 2], out: &mut Vec<Span>) {
    let place = ends.map(|x| x.to_array().map(|v| v as u32));
    let mut borders: Vec<(f64, usize)> = Vec::new();
    for k in 0..3 {
        let (low, high) = (place[0][k].min(place[1][k]), place[0][k].max(place[1][k]));
        let at = |border: u32| ((f64::from(border) - ends[0][k]) / (ends[1][k] - ends[0][k])).clamp(0.0, 1.0);
        borders.extend((low..high).map(|border| (at(border + 1), k)));
    }
    borders.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let (mut cell, mut from) = (grid.index(place[0]), ends[0]);
    for (t, k) in borders {
        let to = ends[0].lerp(ends[1], t);
        out.push(Span { segment, cell, ends: [from, to] });
        from = to;
        let stride = grid.stride[k];
        cell = if place[1][k] > place[0][k] { cell + stride } else { cell - stride };
    }
    out.push(Span { segment, cell, ends: [from, ends[1]] });
}

impl Span {
    pub fn distance_squared(&self, x: DVec3) -> f64 {
        nearest(self.ends[0], self.ends[1], x).distance_squared(x)
    }
}
