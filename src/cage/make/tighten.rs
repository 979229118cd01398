//! Moves the vertices of a hull towards the skin, one at a time, as long as no sample of the skin comes close.

use super::field::Shape;
use super::hull::{Hull, opposite, quality};
use crate::base::Progress;
use crate::base::math::DVec3;
use crate::cage::check::distance_squared;
use std::collections::HashMap;

/// Smallest distance that a move may leave between a face and a sample of the skin, in grid steps.
const CLEARANCE: f64 = 0.4;
/// Number of step lengths that are tried, each half of the one before.
const HALVINGS: usize = 5;
/// Smallest quality of a triangle after a move, unless the quality was lower before.
const QUALITY: f64 = 0.2;
/// Smallest cosine between the normals of neighbouring faces after a move, unless the cosine was smaller before.
const TURN: f64 = -0.3;
/// Largest number of samples on the triangles.
const MOST_SAMPLES: usize = 200_000;

/// Moves the vertices towards the skin, in at most `passes` passes over all. Returns false if cancelled.
pub(super) fn tighten(hull: &mut Hull, samples: &Samples, passes: usize, progress: &Progress) -> bool {
    let vertices: Vec<u32> =
        (0..hull.positions.len() as u32).filter(|v| !hull.of_vertex[*v as usize].is_empty()).collect();
    hull.index_faces();
    for _ in 0..passes {
        let mut moved = false;
        for &v in &vertices {
            if progress.is_cancelled() {
                return false;
            }
            moved |= inwards(hull, samples, v);
            moved |= evenly(hull, samples, v);
        }
        if !moved {
            break;
        }
        hull.index_faces();
    }
    true
}

/// Moves a vertex inwards, so that the volume falls: towards the middle of its neighbours, or against the mean normal
/// of its faces.
fn inwards(hull: &mut Hull, samples: &Samples, v: u32) -> bool {
    let mut normal = DVec3::ZERO;
    for &f in &hull.of_vertex[v as usize] {
        let x = hull.corners(f);
        normal += (x[1] - x[0]).cross(x[2] - x[0]);
    }
    let Some(normal) = normal.try_normalize() else { return false };
    let old = hull.positions[v as usize];
    let ring = hull.neighbours(v);
    let mean =
        ring.iter().map(|w| hull.positions[*w as usize].distance(old)).sum::<f64>() / ring.len() as f64;
    let middle = ring.iter().map(|w| hull.positions[*w as usize]).sum::<DVec3>() / ring.len() as f64;
    // The first way moves the tip of a spike along the spike.
    let ways = [0.5 * (middle - old), -0.5 * mean * normal];
    let mut ways = ways.into_iter().filter(|way| way.dot(normal) < -0.1 * way.length());
    ways.any(|way| (0..HALVINGS).any(|k| place(hull, samples, v, old + way * 0.5f64.powi(k as i32), false)))
}

/// Moves a vertex towards the middle of its neighbours if that improves the worst triangle.
fn evenly(hull: &mut Hull, samples: &Samples, v: u32) -> bool {
    let ring = hull.neighbours(v);
    let middle = ring.iter().map(|w| hull.positions[*w as usize]).sum::<DVec3>() / ring.len() as f64;
    let old = hull.positions[v as usize];
    [0.5, 0.2].into_iter().any(|share| place(hull, samples, v, old.lerp(middle, share), true))
}

/// Moves a vertex and its mirror image, see [`place_one`]. Returns whether they moved.
fn place(hull: &mut Hull, samples: &Samples, v: u32, to: DVec3, better: bool) -> bool {
    let (old, Some(to)) = (hull.positions[v as usize], hull.on_its_side(v, to)) else { return false };
    if !place_one(hull, samples, v, to, better) {
        return false;
    }
    let Some(partner) = hull.partner(v) else { return true };
    let both = place_one(hull, samples, partner, hull.mirrored(to), better);
    if !both {
        hull.place(v, old);
        hull.note(v);
    }
    both
}

/// Moves a vertex, unless the move uncovers a sample, or makes faces cross, degenerate or fold. With `better`, the
/// worst triangle must improve. Returns whether the vertex moved.
fn place_one(hull: &mut Hull, samples: &Samples, v: u32, to: DVec3, better: bool) -> bool {
    let fan = hull.of_vertex[v as usize].clone();
    let old = hull.positions[v as usize];
    let worst = |hull: &Hull| fan.iter().map(|f| quality(hull.corners(*f))).fold(1.0, f64::min);
    let (quality_before, turn_before) = (worst(hull), hull.sharpest_of(&fan));
    hull.place(v, to);
    let quality_after = worst(hull);
    let least = if better { quality_before * 1.02 } else { QUALITY.min(quality_before) };
    let allowed = quality_after >= least
        && hull.sharpest_of(&fan) >= TURN.min(turn_before)
        && fan.iter().all(|f| samples.are_clear(old, to, opposite(hull.faces[*f as usize], v), hull))
        && {
            let faces: Vec<[u32; 3]> = fan.iter().map(|f| hull.faces[*f as usize]).collect();
            !hull.crosses(&faces, &fan)
        };
    if allowed {
        hull.note(v);
    } else {
        hull.place(v, old);
    }
    allowed
}

/// Points on the skin in a hashed grid.
pub(super) struct Samples {
    cell: f64,
    clearance: f64,
    of_cell: HashMap<[i32; 3], Vec<DVec3>>,
    all: Vec<DVec3>,
}

impl Samples {
    /// Samples the vertices, and the triangles that are longer than the contour's grid step `step`.
    pub fn new(shape: &Shape, step: f64) -> Self {
        let mut all = shape.positions.clone();
        let mut spacing = step;
        let parts = |t: &[u32; 3], spacing: f64| {
            let [a, b, c] = t.map(|v| shape.positions[v as usize]);
            let longest = a.distance(b).max(b.distance(c)).max(c.distance(a));
            (longest / spacing).ceil().clamp(1.0, 1000.0) as usize
        };
        let total = |spacing: f64| -> usize {
            let inner = |t: &[u32; 3]| parts(t, spacing).pow(2) / 2;
            shape.triangles.iter().map(inner).fold(0, usize::saturating_add)
        };
        while total(spacing) > MOST_SAMPLES.max(shape.triangles.len()) {
            spacing *= 1.4;
        }
        for t in &shape.triangles {
            let n = parts(t, spacing);
            let [a, b, c] = t.map(|v| shape.positions[v as usize]);
            for i in 0..=n {
                for j in 0..=n - i {
                    if i != n && j != n && i + j != 0 {
                        all.push(a + (b - a) * (i as f64 / n as f64) + (c - a) * (j as f64 / n as f64));
                    }
                }
            }
        }
        let mut out =
            Self { cell: 4.0 * step, clearance: CLEARANCE * step, of_cell: HashMap::new(), all: Vec::new() };
        for &x in &all {
            out.of_cell.entry(out.key(x)).or_default().push(x);
        }
        out.all = all;
        out
    }

    fn key(&self, x: DVec3) -> [i32; 3] {
        (x / self.cell).floor().as_ivec3().to_array()
    }

    /// Whether the first corner of a face can move from `old` to `new` without coming too close to the skin. No sample of
    /// the skin may lie in the tetrahedron that the face sweeps. No sample may be nearer to the moved face than
    /// `clearance`.
    fn are_clear(&self, old: DVec3, new: DVec3, [b, c]: [u32; 2], hull: &Hull) -> bool {
        let [b, c] = [b, c].map(|v| hull.positions[v as usize]);
        let low = old.min(new).min(b).min(c) - self.clearance;
        let high = old.max(new).max(b).max(c) + self.clearance;
        let limit = self.clearance * self.clearance;
        let clear = |x: &DVec3| {
            !(x.cmpge(low).all() && x.cmple(high).all())
                || !in_tetrahedron(*x, [old, new, b, c]) && distance_squared(*x, [new, b, c]) >= limit
        };
        let (first, last) = (self.key(low), self.key(high));
        let cells: i64 = (0..3).map(|k| i64::from(last[k]) - i64::from(first[k]) + 1).product();
        if cells > self.of_cell.len() as i64 {
            return self.all.iter().all(clear);
        }
        (first[0]..=last[0]).all(|i| {
            (first[1]..=last[1]).all(|j| {
                (first[2]..=last[2])
                    .all(|k| self.of_cell.get(&[i, j, k]).is_none_or(|own| own.iter().all(clear)))
            })
        })
    }
}

/// Whether a point lies in a tetrahedron of either orientation.
fn in_tetrahedron(x: DVec3, [a, b, c, d]: [DVec3; 4]) -> bool {
    let volume = |a: DVec3, b: DVec3, c: DVec3, d: DVec3| (b - a).dot((c - a).cross(d - a));
    let parts = [volume(x, b, c, d), volume(a, x, c, d), volume(a, b, x, d), volume(a, b, c, x)];
    let whole = volume(a, b, c, d);
    parts.iter().all(|p| *p >= 0.0) && whole > 0.0 || parts.iter().all(|p| *p <= 0.0) && whole < 0.0
}
