//! Parallel rays through a closed surface, and their intervals inside the surface.

use super::sets::{apart, root, unite};
use crate::base::math::DVec3;

/// Number of rays per cube in each of the two directions across the rays.
pub(super) const RAYS: usize = 4;
/// Heights at which the way between two neighbouring rays is tested, as fractions of the common interval of their runs.
pub(super) const HEIGHTS: [f64; 3] = [0.5, 0.1, 0.9];

/// A run: an interval of a ray inside a part of the surface, within one grid cell.
pub(super) struct Run {
    pub ray: [u32; 2],
    pub part: u32,
    pub layer: u32,
    pub from: f64,
    pub to: f64,
    pub cell: u32,
}

/// The grid of parallel rays. Direction 2 of the rays' frame runs along the rays.
pub(super) struct Rays {
    pub axis: usize,
    pub low: DVec3,
    pub step: f64,
    pub count: [usize; 2],
}

/// An intersection of a ray and the surface.
pub(super) struct Cut {
    pub ray: u32,
    /// Coordinate along the ray.
    pub along: f64,
    /// Change of the winding number.
    pub rise: i8,
    /// The intersected triangle.
    pub triangle: u32,
}

impl Rays {
    /// Transforms a position to the rays' frame.
    pub fn local(&self, x: DVec3) -> [f64; 3] {
        let x = (x - self.low).to_array();
        [x[(self.axis + 1) % 3], x[(self.axis + 2) % 3], x[self.axis]]
    }

    pub fn global(&self, x: [f64; 3]) -> DVec3 {
        let mut out = [0.0; 3];
        (0..3).for_each(|k| out[(self.axis + 1 + k) % 3] = x[k]);
        DVec3::from(out) + self.low
    }

    /// Returns the two coordinates of a ray across the ray direction.
    pub fn at(&self, ray: [usize; 2]) -> [f64; 2] {
        ray.map(|i| (i as f64 + 0.5) * self.step)
    }

    /// Returns the indices of the rays with coordinates `low..=high` in a direction across the rays.
    fn between(&self, direction: usize, low: f64, high: f64) -> std::ops::Range<usize> {
        let first = (low / self.step - 0.5).ceil().max(0.0) as usize;
        let last = (high / self.step - 0.5).floor();
        first..if last < 0.0 { 0 } else { (last as usize + 1).min(self.count[direction]) }
    }

    /// Intersects surface and rays. The cuts are sorted by ray, and along each ray.
    pub fn cuts(&self, positions: &[DVec3], triangles: &[[u32; 3]]) -> Vec<Cut> {
        let local: Vec<[f64; 3]> = positions.iter().map(|x| self.local(*x)).collect();
        let mut out = Vec::new();
        for (triangle, t) in triangles.iter().enumerate() {
            let x = t.map(|v| local[v as usize]);
            let span = |k: usize| {
                let of = x.map(|p| p[k]);
                (of[0].min(of[1]).min(of[2]), of[0].max(of[1]).max(of[2]))
            };
            let ((low, high), (low1, high1), (near, far)) = (span(0), span(1), span(2));
            let side = |k: usize, a: usize, b: usize| x[a][k] - x[b][k];
            let normal = [
                side(1, 1, 0) * side(2, 2, 0) - side(2, 1, 0) * side(1, 2, 0),
                side(2, 1, 0) * side(0, 2, 0) - side(0, 1, 0) * side(2, 2, 0),
                side(0, 1, 0) * side(1, 2, 0) - side(1, 1, 0) * side(0, 2, 0),
            ];
            for i in self.between(0, low, high) {
                for j in self.between(1, low1, high1) {
                    let at = self.at([i, j]);
                    let turns = winding(x, at);
                    if turns != 0 {
                        let off = normal[0] * (x[0][0] - at[0]) + normal[1] * (x[0][1] - at[1]);
                        let along = x[0][2] + off / normal[2];
                        let along = if along.is_finite() { along.clamp(near, far) } else { near };
                        let ray = (i * self.count[1] + j) as u32;
                        out.push(Cut { ray, along, rise: -turns, triangle: triangle as u32 });
                    }
                }
            }
        }
        out.sort_unstable_by(|a, b| {
            let order = a.ray.cmp(&b.ray).then(a.along.total_cmp(&b.along)).then(b.rise.cmp(&a.rise));
            order.then(a.triangle.cmp(&b.triangle))
        });
        out
    }
}

/// Returns the winding number of a triangle's boundary around a point. The two triangles at an edge count this edge
/// equally, but with opposite signs. A ray therefore never slips between two triangles of a closed surface.
fn winding(x: [[f64; 3]; 3], at: [f64; 2]) -> i8 {
    let edge = |a: [f64; 3], b: [f64; 3]| {
        let up = a[1] <= b[1];
        let (low, high) = if up { (a, b) } else { (b, a) };
        let left = (high[0] - low[0]) * (at[1] - low[1]) - (high[1] - low[1]) * (at[0] - low[0]) > 0.0;
        let crosses = low[1] <= at[1] && at[1] < high[1] && left;
        if !crosses {
            0
        } else if up {
            1
        } else {
            -1
        }
    };
    edge(x[0], x[1]) + edge(x[1], x[2]) + edge(x[2], x[0])
}

pub(super) fn place_of(run: &Run) -> [u32; 3] {
    [run.ray[0] / RAYS as u32, run.ray[1] / RAYS as u32, run.layer]
}

/// Returns the intervals of all rays inside each part of the surface, split at the borders of the grid cells and sorted
/// by ray, layer and position. `part` gives the part of a triangle, and `inside` tells which winding numbers of a part
/// are inside.
pub(super) fn runs(
    rays: &Rays,
    cuts: &[Cut],
    size: f64,
    part: impl Fn(u32) -> u32,
    inside: impl Fn(u32, i32) -> bool,
) -> Vec<Run> {
    let mut out: Vec<Run> = Vec::new();
    let parts = cuts.iter().map(|cut| part(cut.triangle) as usize + 1).max().unwrap_or(0);
    // Per part: the winding number on the ray, and where it last changed between outside and inside.
    let mut around = vec![(0i32, 0.0); parts];
    for ray in cuts.chunk_by(|a, b| a.ray == b.ray) {
        let at = [ray[0].ray / rays.count[1] as u32, ray[0].ray % rays.count[1] as u32];
        let begin = out.len();
        for cut in ray {
            let part = part(cut.triangle);
            let (winding, since) = &mut around[part as usize];
            let before = *winding;
            *winding += i32::from(cut.rise);
            match (inside(part, before), inside(part, *winding)) {
                (false, true) => *since = cut.along,
                (true, false) => split(at, part, [*since, cut.along], size, &mut out),
                _ => {}
            }
        }
        // Rounding can leave a ray with a winding number that is not zero at its end.
        ray.iter().for_each(|cut| around[part(cut.triangle) as usize].0 = 0);
        out[begin..].sort_by(|a, b| a.layer.cmp(&b.layer).then(a.from.total_cmp(&b.from)));
    }
    out
}

/// Adds an interval of a ray, split at the borders of the grid cells.
fn split(ray: [u32; 2], part: u32, [begin, end]: [f64; 2], size: f64, out: &mut Vec<Run>) {
    for layer in (begin / size) as u32..=(end / size) as u32 {
        let (low, high) = (f64::from(layer) * size, f64::from(layer + 1) * size);
        let (from, to) = (begin.max(low), end.min(high));
        if to > from {
            out.push(Run { ray, part, layer, from, to, cell: 0 });
        }
    }
}

/// Returns the cube of each run, and the pairs of runs that touch across a cube border, with the border's direction.
/// Runs of one ray touch if they overlap. Runs of neighbouring rays touch if they overlap along the rays and `touch`
/// agrees.
pub(super) fn pieces(
    rays: &Rays,
    runs: &[Run],
    touch: impl Fn(&Run, &Run) -> bool,
) -> (Vec<u32>, Vec<(u32, u32, usize)>) {
    let mut begin = vec![0u32; rays.count[0] * rays.count[1] + 1];
    let index = |ray: [u32; 2]| ray[0] as usize * rays.count[1] + ray[1] as usize;
    runs.iter().for_each(|run| begin[index(run.ray) + 1] += 1);
    (1..begin.len()).for_each(|i| begin[i] += begin[i - 1]);
    let mut above = apart(runs.len());
    let mut links = Vec::new();
    for (r, run) in runs.iter().enumerate() {
        let later = runs.iter().enumerate().skip(r + 1);
        let overlaps = |o: &Run| o.ray == run.ray && o.layer == run.layer && o.from < run.to;
        later.take_while(|(_, o)| overlaps(o)).for_each(|(o, _)| unite(&mut above, r as u32, o as u32));
        let own = begin[index(run.ray)] as usize..begin[index(run.ray) + 1] as usize;
        let first = own.start + runs[own.clone()].partition_point(|o| o.layer <= run.layer);
        let next = runs.iter().enumerate().take(own.end).skip(first);
        for (o, other) in next.take_while(|(_, o)| o.layer == run.layer + 1 && o.from <= run.to) {
            if other.part == run.part {
                links.push((r as u32, o as u32, 2));
            }
        }
        for direction in 0..2 {
            let mut ray = run.ray;
            ray[direction] += 1;
            if ray[direction] as usize >= rays.count[direction] {
                continue;
            }
            let beside = begin[index(ray)] as usize..begin[index(ray) + 1] as usize;
            let first = beside.start + runs[beside.clone()].partition_point(|o| o.layer < run.layer);
            let beside = runs.iter().enumerate().take(beside.end).skip(first);
            for (o, other) in beside.take_while(|(_, o)| o.layer == run.layer && o.from < run.to) {
                if other.to <= run.from || !touch(run, other) {
                    continue;
                }
                if (ray[direction] as usize).is_multiple_of(RAYS) {
                    links.push((r as u32, o as u32, direction));
                } else {
                    unite(&mut above, r as u32, o as u32);
                }
            }
        }
    }
    let mut number = vec![u32::MAX; runs.len()];
    let mut count = 0;
    let cells = (0..runs.len() as u32).map(|r| {
        let root = root(&mut above, r) as usize;
        if number[root] == u32::MAX {
            number[root] = count;
            count += 1;
        }
        number[root]
    });
    (cells.collect(), links)
}
