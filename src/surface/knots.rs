//! Knots of a mark: the points that determine its course (thesis 7.1, 7.4). A knot is dragged over the skin; the mark
//! follows between the two neighbouring knots.

use super::offset::bind_position;
use super::region::nearest_in_triangle;
use super::{SurfacePoint, SurfaceStroke};
use crate::base::math::{DVec3, Vec3};
use crate::bind::Character;
use crate::geom::{Place, Walk};
use crate::pose::{Sample, reduce};
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

/// Maximum distance of the mark from the polyline through its knots, as a fraction of the mark's length.
const TOLERANCE: f64 = 0.02;
/// The search for the nearest skin ends after this number of triangles in a row that bring nothing nearer.
const PATIENCE: usize = 96;
/// A path over the skin between two points is added to the mark if it crosses more than this number of edges.
const CROSSED: usize = 2;

/// Returns the knots of a mark: ascending indices of points. The first point and the ends of pieces are knots; so is the
/// last point of an open mark.
pub fn mark_knots(character: &Character, mark: &SurfaceStroke) -> Vec<usize> {
    let at: Option<Vec<DVec3>> =
        mark.points.iter().map(|p| bind_position(character, p).map(Vec3::as_dvec3)).collect();
    let Some(at) = at else { return Vec::new() };
    let length: f64 = at.windows(2).map(|p| p[0].distance(p[1])).sum();
    let mut out = Vec::new();
    let mut start = 0;
    for piece in mark.points.chunk_by(|_, b| mark.closed || !b.lifted) {
        let range = start..start + piece.len();
        // The reduction of strokes also keeps roll and rhythm, which marks do not have.
        let samples = vec![Sample { orientation: [0.0, 0.0, 0.0, 1.0], ..Sample::default() }; piece.len()];
        out.extend(reduce(&samples, &at[range.clone()], TOLERANCE * length).iter().map(|k| start + k));
        start = range.end;
    }
    if mark.closed && out.len() > 3 {
        // The last point lies beside the first.
        out.pop();
    }
    out
}

/// Returns a mark with the knot `knots[which]` at another place of the skin. Points between the neighbouring knots move
/// with the knot, less the farther they are from it, and stay on the skin. Returns `None` if there is no such knot, or
/// if the place is not on this character.
pub fn with_knot(
    character: &Character,
    walk: &Walk,
    mark: &SurfaceStroke,
    knots: &[usize],
    which: usize,
    to: Place,
) -> Option<SurfaceStroke> {
    let positions = &character.control.positions;
    let knot = *knots.get(which)?;
    let count = mark.points.len();
    let x = bind_position(character, mark.points.get(knot)?)?;
    let goal = walk.position(&to, positions)?;
    let shift = goal - x;
    let mut out = mark.clone();
    let set = |point: &mut SurfacePoint, place: Place| (point.triangle, point.barycentrics) = place;
    set(&mut out.points[knot], to);
    for forward in [true, false] {
        let span = span(mark, knots, which, forward);
        let mut length = 0.0;
        let mut lengths = Vec::with_capacity(span.len());
        let mut before = x;
        for &i in &span {
            let at = bind_position(character, &mark.points[i])?;
            length += at.distance(before);
            lengths.push(length);
            before = at;
        }
        for (&i, l) in span.iter().zip(lengths) {
            let s = if length > 0.0 { 1.0 - l / length } else { 0.0 };
            let share = s * s * (3.0 - 2.0 * s);
            if share > 0.0 && shift != Vec3::ZERO {
                let point = &mark.points[i];
                let at = bind_position(character, point)? + shift * share;
                set(&mut out.points[i], nearest(walk, positions, &[point.triangle, to.0], at)?);
            }
        }
    }
    // Where points have moved apart, the mark follows the skin between them.
    let size = character.control.aabb.diagonal();
    let moved = |i: usize| {
        let (new, old) = (&out.points[i], &mark.points[i]);
        (new.triangle, new.barycentrics) != (old.triangle, old.barycentrics)
    };
    let mut points: Vec<SurfacePoint> = Vec::with_capacity(count);
    for i in 0..count {
        let (point, last) = (out.points[i], i.checked_sub(1).map(|k| out.points[k]));
        if let Some(last) = last.filter(|_| !point.lifted && (moved(i) || moved(i - 1))) {
            let ends = [last, point].map(|p| (p.triangle, p.barycentrics));
            let way = walk.between(&ends[0], &ends[1], positions, size).unwrap_or_default();
            let many = way.len() > CROSSED && points.len() + way.len() + count < super::MAX_MARK_POINTS;
            let like = |(triangle, barycentrics)| SurfacePoint { triangle, barycentrics, ..point };
            points.extend(way.into_iter().filter(|_| many).map(like));
        }
        points.push(point);
    }
    Some(SurfaceStroke { points, ..out })
}

/// Returns the points from a knot to the next or the previous one, nearest first, without the knot itself and with the
/// neighbour; empty at the end of a piece.
fn span(mark: &SurfaceStroke, knots: &[usize], which: usize, forward: bool) -> Vec<usize> {
    let count = mark.points.len();
    let knot = knots[which];
    let next = if forward { which + 1 } else { which.wrapping_sub(1) };
    let neighbour = match knots.get(next) {
        Some(&k) => k,
        None if !mark.closed || knots.len() < 2 => return Vec::new(),
        None if forward => knots[0],
        None => knots[knots.len() - 1],
    };
    let mut out = Vec::new();
    let mut i = knot;
    while i != neighbour {
        let step = if forward { (i + 1) % count } else { (i + count - 1) % count };
        // Another piece of an open mark starts here.
        let starts = if forward { step } else { i };
        if !mark.closed && mark.points[starts].lifted {
            return Vec::new();
        }
        out.push(step);
        i = step;
    }
    out
}

/// Returns the place of the skin nearest to `x`, by a search that spreads from some triangles to their neighbours.
fn nearest(walk: &Walk, positions: &[Vec3], from: &[u32], x: Vec3) -> Option<Place> {
    let measure = |triangle: u32| {
        let [a, b, c] = walk.corners(triangle)?.map(|v| positions[v as usize]);
        let weights = nearest_in_triangle(x, a, b, c);
        Some(((a * weights[0] + b * weights[1] + c * weights[2]).distance(x), weights))
    };
    let mut known: BTreeSet<u32> = BTreeSet::new();
    let mut queue: BinaryHeap<Reverse<(u32, u32)>> = BinaryHeap::new();
    let mut best: Option<(f32, Place)> = None;
    let mut add = |triangle: u32, queue: &mut BinaryHeap<_>, best: &mut Option<(f32, Place)>| {
        if !known.insert(triangle) {
            return Some(false);
        }
        let (d, weights) = measure(triangle)?;
        // Distances are not negative, so their bit patterns sort in the same order.
        queue.push(Reverse((d.to_bits(), triangle)));
        let nearer = best.is_none_or(|b| d < b.0);
        if nearer {
            *best = Some((d, (triangle, weights)));
        }
        Some(nearer)
    };
    for &triangle in from {
        add(triangle, &mut queue, &mut best)?;
    }
    let mut idle = 0;
    while let Some(Reverse((_, triangle))) = queue.pop() {
        let mut nearer = false;
        for next in walk.neighbours(triangle) {
            nearer |= add(next, &mut queue, &mut best)?;
        }
        idle = if nearer { 0 } else { idle + 1 };
        if idle > PATIENCE {
            break;
        }
    }
    best.map(|b| b.1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::{BoneId, MarkId};
    use crate::bind::shapes::capsule;
    use crate::bind::{BindOptions, bind_attachments};
    use crate::surface::{line_mark, ring_mark};

    fn tube() -> (Character, Walk, [SurfaceStroke; 2]) {
        let character = capsule(1, 40, 24, 0.2, 2.0);
        let (attachments, _) = bind_attachments(&character, &BindOptions::default()).unwrap();
        let line = line_mark(&character, &attachments, MarkId(0), BoneId(0), [0.1, 0.9], 0.0).unwrap();
        let ring = ring_mark(&character, &attachments, MarkId(1), BoneId(0), 0.52).unwrap();
        let walk = Walk::new(&character.control.triangles);
        (character, walk, [line, ring])
    }

    #[test]
    fn a_straight_mark_has_two_knots_and_a_ring_several() {
        let (character, _, [line, ring]) = tube();
        assert_eq!(mark_knots(&character, &line), [0, line.points.len() - 1]);
        let knots = mark_knots(&character, &ring);
        assert!((5..=16).contains(&knots.len()) && knots.is_sorted(), "{knots:?}");
        // A jump separates two pieces, each with its ends.
        let mut jump = line.clone();
        jump.points[10].lifted = true;
        assert_eq!(mark_knots(&character, &jump), [0, 9, 10, line.points.len() - 1]);
    }

    #[test]
    fn a_dragged_knot_takes_its_neighbourhood_along_over_the_skin() {
        let (character, walk, [line, ring]) = tube();
        let at = |p: &SurfacePoint| bind_position(&character, p).unwrap();
        let middle = line.points.len() / 2;
        let knots = [0, middle, line.points.len() - 1];
        // A quarter around the tube at the same height.
        let from = at(&line.points[middle]);
        let goal = Vec3::new(from.z, from.y, -from.x);
        let to = nearest(&walk, &character.control.positions, &[line.points[middle].triangle], goal).unwrap();
        let bent = with_knot(&character, &walk, &line, &knots, 1, to).unwrap();
        assert!(
            bent.points.iter().any(|p| at(p).distance(goal) < 0.01),
            "the knot is where it was dragged to"
        );
        let ends = [&bent.points[0], &bent.points[bent.points.len() - 1]];
        assert_eq!(ends.map(at), [&line.points[0], &line.points[line.points.len() - 1]].map(at));
        for p in &bent.points {
            let radius = Vec3::new(at(p).x, 0.0, at(p).z).length();
            assert!((radius - 0.2).abs() < 0.005, "{radius}: on the skin");
        }
        let longest = bent.points.windows(2).map(|p| at(&p[0]).distance(at(&p[1]))).fold(0.0, f32::max);
        assert!(longest < 0.1, "no gap: {longest}");
        // The same place changes nothing.
        let same = (line.points[middle].triangle, line.points[middle].barycentrics);
        assert_eq!(with_knot(&character, &walk, &line, &knots, 1, same).unwrap(), line);
        // A ring stays closed; the far side stays.
        let knots = mark_knots(&character, &ring);
        let x = at(&ring.points[0]);
        let to = nearest(&walk, &character.control.positions, &[ring.points[0].triangle], x + Vec3::Y * 0.3);
        let bent = with_knot(&character, &walk, &ring, &knots, 0, to.unwrap()).unwrap();
        assert!(bent.closed && bent.points.iter().map(|p| at(p).y).fold(0.0, f32::max) > x.y + 0.29);
        let far = |p: &&SurfacePoint| at(p).distance(-x + Vec3::Y * 2.0 * x.y) < 0.1;
        assert!(bent.points.iter().filter(far).all(|p| (at(p).y - x.y).abs() < 0.03));
        assert!(with_knot(&character, &walk, &ring, &knots, 99, to.unwrap()).is_none());
        assert!(with_knot(&character, &walk, &ring, &knots, 0, (u32::MAX, [1.0, 0.0, 0.0])).is_none());
    }
}
