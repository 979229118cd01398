//! Shortest paths along a surface and straight rays through a body.
//!
//! A* over several points on every edge finds the sequence of triangles (Lanthier, Maheshwari, Sack, *Shortest
//! Anisotropic Paths on Polyhedral Surfaces*, 2001, with their even spacing). The path is then shortened within these
//! triangles. Each edge crossing moves to the straight line between the crossings before and after it, with the two
//! triangles at the edge unfolded into a plane.

use super::walk::sides;
use super::{Place, ray_triangle};
use crate::base::math::Vec3;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Number of search points per edge. With too few points, the path passes a vertex on the wrong side.
const POINTS: usize = 9;
/// Maximum number of shortening rounds. The rounds end early if a round shortens the path by at most the fraction
/// `WON`.
const ROUNDS: usize = 400;
const WON: f64 = 1e-8;
const NONE: u32 = u32::MAX;

/// The edges of welded triangles.
struct Edges {
    /// The two end vertices of each edge.
    ends: Vec<[u32; 2]>,
    /// Offsets into `triangles`: edge `e` has the triangles `first[e]..first[e + 1]`.
    first: Vec<u32>,
    triangles: Vec<u32>,
    /// Edges of each triangle; edge `k` goes from corner `k` to the next corner.
    of: Vec<[u32; 3]>,
}

impl Edges {
    fn new(triangles: &[[u32; 3]]) -> Self {
        let sides = sides(triangles);
        let mut out = Self {
            ends: Vec::new(),
            first: vec![0],
            triangles: Vec::new(),
            of: vec![[NONE; 3]; triangles.len()],
        };
        for group in sides.chunk_by(|a, b| a.0 == b.0) {
            for (_, t, k) in group {
                out.of[*t as usize][usize::from(*k)] = out.ends.len() as u32;
                out.triangles.push(*t);
            }
            out.ends.push(group[0].0);
            out.first.push(out.triangles.len() as u32);
        }
        out
    }

    fn triangles(&self, edge: u32) -> &[u32] {
        &self.triangles[self.first[edge as usize] as usize..self.first[edge as usize + 1] as usize]
    }
}

/// A crossing of the path with an edge: edge, fraction along it from its first end, triangle that the path leaves.
#[derive(Clone, Copy)]
struct Crossing {
    edge: u32,
    share: f64,
    through: u32,
}

/// Returns the shortest path over welded triangles, including both ends; `None` if the ends are not connected.
pub fn shortest_way(
    triangles: &[[u32; 3]],
    positions: &[Vec3],
    from: &Place,
    to: &Place,
) -> Option<Vec<Place>> {
    let (a, b) = (position(triangles, positions, from)?, position(triangles, positions, to)?);
    if from.0 == to.0 {
        return Some(vec![*from, *to]);
    }
    let edges = Edges::new(triangles);
    let mut way = roughly(&edges, positions, (from.0, a), (to.0, b))?;
    taut(&edges, positions, (a, b), &mut way);
    let mut out = vec![*from];
    for crossing in &way {
        let [p, q] = edges.ends[crossing.edge as usize];
        let corners = triangles[crossing.through as usize];
        let weight = |c: u32| match c {
            c if c == p => 1.0 - crossing.share,
            c if c == q => crossing.share,
            _ => 0.0,
        };
        out.push((crossing.through, corners.map(|c| weight(c) as f32)));
    }
    out.push(*to);
    Some(out)
}

/// Returns the position of a surface point; `None` if it is not on the surface.
pub fn position(triangles: &[[u32; 3]], positions: &[Vec3], place: &Place) -> Option<Vec3> {
    let corners = triangles.get(place.0 as usize)?;
    let mut out = Vec3::ZERO;
    for (corner, weight) in corners.iter().zip(place.1) {
        out += *positions.get(*corner as usize)? * weight;
    }
    out.is_finite().then_some(out)
}

/// Finds the shortest path through the search points on edges; returns its edge crossings.
fn roughly(
    edges: &Edges,
    positions: &[Vec3],
    (start, a): (u32, Vec3),
    (goal, b): (u32, Vec3),
) -> Option<Vec<Crossing>> {
    let share = |i: usize| (2 * i + 1) as f32 / (2 * POINTS) as f32;
    let point = |node: usize| {
        let [p, q] = edges.ends[node / POINTS].map(|v| positions[v as usize]);
        p.lerp(q, share(node % POINTS))
    };
    let count = edges.ends.len() * POINTS;
    // Per search point: path length so far, the previous point, and the triangle between both points.
    let mut known = vec![(f32::INFINITY, NONE, NONE); count];
    // The heap compares the bits of the lengths, because non-negative floats have the same order as their bits.
    let mut open: BinaryHeap<Reverse<(u32, u32)>> = BinaryHeap::new();
    let reach =
        |open: &mut BinaryHeap<_>, known: &mut Vec<(f32, u32, u32)>, length: f32, at: Vec3, before, t| {
            for edge in edges.of[t as usize].into_iter().filter(|e| *e != NONE) {
                let first = edge as usize * POINTS;
                for (node, best) in known.iter_mut().enumerate().skip(first).take(POINTS) {
                    let there = point(node);
                    let length = length + at.distance(there);
                    if length < best.0 {
                        *best = (length, before, t);
                        open.push(Reverse(((length + there.distance(b)).to_bits(), node as u32)));
                    }
                }
            }
        };
    reach(&mut open, &mut known, 0.0, a, NONE, start);
    let mut best: Option<(f32, u32)> = None;
    while let Some(Reverse((bits, node))) = open.pop() {
        let least = f32::from_bits(bits);
        if best.is_some_and(|(length, _)| least >= length) {
            break;
        }
        let (length, here) = (known[node as usize].0, point(node as usize));
        if least > length + here.distance(b) {
            continue;
        }
        for &t in edges.triangles(node / POINTS as u32) {
            if t == goal {
                let whole = length + here.distance(b);
                if best.is_none_or(|(length, _)| whole < length) {
                    best = Some((whole, node));
                }
            } else {
                reach(&mut open, &mut known, length, here, node, t);
            }
        }
    }
    let mut out = Vec::new();
    let mut node = best?.1;
    while node != NONE {
        let (_, before, through) = known[node as usize];
        let share = f64::from(share(node as usize % POINTS));
        out.push(Crossing { edge: node / POINTS as u32, share, through });
        node = before;
    }
    out.reverse();
    Some(out)
}

/// Shortens a path within its sequence of triangles.
fn taut(edges: &Edges, positions: &[Vec3], (a, b): (Vec3, Vec3), way: &mut [Crossing]) {
    let (a, b) = (a.as_dvec3(), b.as_dvec3());
    let ends = |c: &Crossing| edges.ends[c.edge as usize].map(|v| positions[v as usize].as_dvec3());
    let point = |c: &Crossing| {
        let [p, q] = ends(c);
        p.lerp(q, c.share)
    };
    for _ in 0..ROUNDS {
        let (mut won, mut length) = (0.0, 0.0);
        for i in 0..way.len() {
            let before = if i > 0 { point(&way[i - 1]) } else { a };
            let after = way.get(i + 1).map_or(b, point);
            let [p, q] = ends(&way[i]);
            let along = q - p;
            let square = along.length_squared();
            if square <= 0.0 {
                continue;
            }
            // Coordinates along the edge and across it, with both triangles unfolded into a plane.
            let [s, t] = [before, after].map(|x| (x - p).dot(along) / square);
            let [h, g] = [(before, s), (after, t)].map(|(x, s)| x.distance(p + along * s));
            let old = point(&way[i]);
            let longer = old.distance(before) + old.distance(after);
            let share = if h + g > 0.0 { s + (t - s) * h / (h + g) } else { 0.5 * (s + t) };
            way[i].share = share.clamp(0.0, 1.0);
            let new = point(&way[i]);
            won += longer - new.distance(before) - new.distance(after);
            length += new.distance(before);
        }
        if won <= WON * length {
            break;
        }
    }
}

/// Finds where a ray from a surface point through the body leaves the body. Returns the first point hit from inside,
/// and its distance in multiples of the length of `direction`; `None` if the ray hits no triangle from inside.
pub fn through(
    triangles: &[[u32; 3]],
    positions: &[Vec3],
    from: &Place,
    direction: Vec3,
) -> Option<(Place, f32)> {
    let origin = position(triangles, positions, from)?;
    let mut best: Option<(Place, f32)> = None;
    for (i, corners) in triangles.iter().enumerate().filter(|(i, _)| *i != from.0 as usize) {
        let corners @ [a, b, c] = corners.map(|v| positions[v as usize]);
        // The normal of a triangle that is hit from inside points along the ray.
        if (b - a).cross(c - a).dot(direction) <= 0.0 {
            continue;
        }
        if let Some((t, weights)) = ray_triangle(origin, direction, corners)
            && best.is_none_or(|(_, least)| t < least)
        {
            best = Some(((i as u32, weights), t));
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f32::consts::TAU;

    fn length_of(triangles: &[[u32; 3]], positions: &[Vec3], way: &[Place]) -> f32 {
        let points: Vec<Vec3> = way.iter().map(|p| position(triangles, positions, p).unwrap()).collect();
        points.windows(2).map(|p| p[0].distance(p[1])).sum()
    }

    /// Creates a grid of squares with two triangles each. If closed, column `n` is column 0.
    fn sheet(columns: u32, rows: u32, closed: bool) -> Vec<[u32; 3]> {
        let width = if closed { columns } else { columns + 1 };
        let at = |x: u32, y: u32| y * width + x % width;
        let square =
            |(x, y)| [[at(x, y), at(x + 1, y), at(x + 1, y + 1)], [at(x, y), at(x + 1, y + 1), at(x, y + 1)]];
        (0..rows).flat_map(|y| (0..columns).map(move |x| (x, y))).flat_map(square).collect()
    }

    #[test]
    fn on_a_flat_sheet_the_way_is_the_straight_line() {
        let triangles = sheet(12, 9, false);
        let positions: Vec<Vec3> = (0..10)
            .flat_map(|y| (0..13).map(move |x| Vec3::new(x as f32 * 0.1, y as f32 * 0.1, 0.0)))
            .collect();
        let middle = [1.0 / 3.0; 3];
        for (from, to) in [(0, 215), (3, 190), (24, 30), (100, 101)] {
            let (from, to) = ((from, middle), (to, [0.2, 0.5, 0.3]));
            let way = shortest_way(&triangles, &positions, &from, &to).unwrap();
            let [a, b] = [from, to].map(|p| position(&triangles, &positions, &p).unwrap());
            let length = length_of(&triangles, &positions, &way);
            assert!((length / a.distance(b) - 1.0).abs() < 1e-5, "{length} for {}", a.distance(b));
        }
    }

    #[test]
    fn round_a_cylinder_the_way_is_a_helix_on_the_near_side_and_none_leads_to_another_piece() {
        let (columns, rows, radius) = (96, 60, 0.2);
        let mut triangles = sheet(columns, rows, true);
        let vertex = |i: u32| {
            let (sin, cos) = (TAU * (i % columns) as f32 / columns as f32).sin_cos();
            Vec3::new(cos * radius, (i / columns) as f32 * 0.01, sin * radius)
        };
        let mut positions: Vec<Vec3> = (0..columns * (rows + 1)).map(vertex).collect();
        let place = |x: u32, y: u32| ((y * columns + x) * 2, [0.4, 0.3, 0.3]);
        for (from, to) in
            [(place(5, 3), place(40, 50)), (place(90, 10), place(20, 12)), (place(0, 0), place(50, 55))]
        {
            let way = shortest_way(&triangles, &positions, &from, &to).unwrap();
            let [a, b] = [from, to].map(|p| position(&triangles, &positions, &p).unwrap());
            let turn = (a.z.atan2(a.x) - b.z.atan2(b.x)).rem_euclid(TAU);
            let helix = (turn.min(TAU - turn) * radius).hypot(a.y - b.y);
            let length = length_of(&triangles, &positions, &way);
            assert!((length / helix - 1.0).abs() < 2e-3, "{length} for {helix}");
            assert!(length > a.distance(b));
        }
        let far = positions.len() as u32;
        positions.extend([Vec3::X * 9.0, Vec3::X * 9.0 + Vec3::Y, Vec3::X * 9.0 + Vec3::Z]);
        triangles.push([far, far + 1, far + 2]);
        let alone = (triangles.len() as u32 - 1, [0.3, 0.3, 0.4]);
        assert!(shortest_way(&triangles, &positions, &place(5, 3), &alone).is_none());
        assert!(shortest_way(&triangles, &positions, &(9_999_999, [1.0, 0.0, 0.0]), &alone).is_none());
    }

    #[test]
    fn through_a_capsule_the_way_is_its_diameter() {
        let shape = crate::bind::shapes::Shape {
            bones: 2,
            rings: 40,
            segments: 64,
            radius: 0.2,
            length: 1.0,
            blend: 0.5,
        };
        let display = crate::bind::Character::from_asset(&shape.capsule_asset()).unwrap().display;
        let (triangles, positions) = (&display.triangles, &display.positions);
        for (i, corners) in triangles.iter().enumerate().step_by(97) {
            let [a, b, c] = corners.map(|v| positions[v as usize]);
            let from = (i as u32, [0.3, 0.3, 0.4]);
            let x = position(triangles, positions, &from).unwrap();
            if !(0.3..0.7).contains(&x.y) {
                continue;
            }
            let axis = Vec3::new(-x.x, 0.0, -x.z).normalize();
            assert!(axis.dot((b - a).cross(c - a)) < 0.0, "triangles face outwards");
            let (there, distance) = through(triangles, positions, &from, axis).unwrap();
            let y = position(triangles, positions, &there).unwrap();
            assert!((distance - 0.4).abs() < 2e-3 && (x.distance(y) - distance).abs() < 1e-5, "{distance}");
        }
        let outwards = through(triangles, positions, &(0, [0.3, 0.3, 0.4]), Vec3::Y * 9.0);
        assert!(outwards.is_none_or(|(_, t)| t < 0.2));
    }
}
