//! Builds a region from a mark: finds the faces under the mark, floods their surroundings and computes the falloff.

use super::{MAX_EDGES, round};
use crate::base::math::Vec3;
use crate::base::{BoneId, Error, Result};
use crate::bind::{Attachments, Character, project};
use crate::geom::{ControlMesh, Walk};
use crate::rig::Mirror;
use crate::surface::{Reach, Region, SurfacePoint, SurfaceStroke, closes, enclosed};
use rayon::prelude::*;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// Number of smoothing iterations of the falloff, before its curve is applied.
const SMOOTHING: usize = 40;

impl Region {
    /// Creates the region that a mark affects: all vertices of the faces under the mark, including the faces between
    /// its points, and the vertices within reach. A ring gives a band that covers all shells of the limb.
    ///
    /// # Errors
    /// The mark does not lie on this character, or lies only on rigid props.
    pub fn from_mark(character: &Character, mark: &SurfaceStroke, reach: Reach) -> Result<Self> {
        let control = &character.control;
        let Drawn { faces, line } = Drawn::new(character, mark, mark.closed)?;
        let mut kinematic: Vec<u32> = faces.iter().flat_map(|&f| control.triangles[f as usize]).collect();
        kinematic.sort_unstable();
        kinematic.dedup();
        kinematic.retain(|&v| !control.rigid[v as usize]);
        let mut region = Self { reach, softness: 1.0, kinematic, ..Self::default() };
        if region.kinematic.is_empty() {
            return Err(Error::input(
                format!("mark {} lies on rigid parts only", mark.id.0 + 1),
                "draw on the skin",
            ));
        }
        if mark.closed
            && let Some((round, kinematic)) = round::around(character, mark, &region.kinematic, reach)
        {
            region = Self { round: Some(round), kinematic, ..region };
        }
        spread(&mut region, character, Some(&|x| line.parameter(x)))?;
        Ok(region)
    }

    /// As [`Region::from_mark`], but the vertices inside a stroke whose ends meet are kinematic, too. A ring stays a band.
    ///
    /// # Errors
    /// As [`Region::from_mark`].
    pub fn filled(character: &Character, mark: &SurfaceStroke, reach: Reach) -> Result<Self> {
        let mut region = Self::from_mark(character, mark, reach)?;
        let control = &character.control;
        let walk = Walk::new(&control.triangles);
        let place = |p: &SurfacePoint| walk.position(&(p.triangle, p.barycentrics), &control.positions);
        let places: Vec<Vec3> = mark.points.iter().filter_map(place).collect();
        if mark.closed || !closes(&places, region.edge(character)) {
            return Ok(region);
        }
        let Drawn { faces, line } = Drawn::new(character, mark, true)?;
        region.kinematic.extend(enclosed(control, &faces));
        region.kinematic.sort_unstable();
        region.kinematic.dedup();
        region.kinematic.retain(|&v| !control.rigid[v as usize]);
        spread(&mut region, character, Some(&|x| line.parameter(x)))?;
        Ok(region)
    }

    /// Creates a region of all vertices attached to some bones. All vertices are kinematic, with their parameters along
    /// the first bone. Radial profiles (thesis 5.1) use such a region, which ends where the bones end.
    ///
    /// # Errors
    /// No skin is attached to these bones.
    pub fn on_bones(character: &Character, attachments: &Attachments, bones: &[BoneId]) -> Result<Self> {
        let control = &character.control;
        let on = |v: &usize| !control.rigid[*v] && bones.contains(&attachments.bone[*v]);
        let kinematic: Vec<u32> = (0..control.positions.len()).filter(on).map(|v| v as u32).collect();
        if kinematic.is_empty() {
            return Err(Error::input("no skin is attached to these bones", "name others"));
        }
        let first = &character.skeleton.bones[bones[0].index()];
        let t = kinematic.iter().map(|&v| project(first, control.positions[v as usize])).collect();
        Ok(Self { reach: Reach::Edges(0), softness: 1.0, kinematic, t, ..Self::default() })
    }
}

/// A mark on the skin.
struct Drawn {
    /// The triangles under the mark, including those between its points, in drawing order.
    faces: Vec<u32>,
    line: MarkLine,
}

impl Drawn {
    /// Follows a mark over the skin. With `closed`, a segment joins the last point to the first.
    fn new(character: &Character, mark: &SurfaceStroke, closed: bool) -> Result<Self> {
        mark.validate(Some(character.display.triangles.len()))?;
        let control = &character.control;
        let walk = Walk::new(&control.triangles);
        let size = control.aabb.diagonal();
        let mut faces: Vec<u32> = Vec::new();
        let mut line: Vec<Piece> = Vec::new();
        let ends = mark.points.first().filter(|_| closed);
        let mut before: Option<&SurfacePoint> = None;
        for (i, point) in mark.points.iter().chain(ends).enumerate() {
            let to = (point.triangle, point.barycentrics);
            faces.push(point.triangle);
            let x = walk.position(&to, &control.positions).ok_or_else(|| off(mark))?;
            let last = before.filter(|_| !point.lifted || i == mark.points.len());
            // In a ring, a segment also joins two points on different shells.
            if let Some(from) = last.or(before.filter(|_| closed)) {
                let from = (from.triangle, from.barycentrics);
                let a = walk.position(&from, &control.positions).ok_or_else(|| off(mark))?;
                line.push(Piece { a, b: x });
            }
            if let Some(from) = last {
                let from = (from.triangle, from.barycentrics);
                let way = walk.between(&from, &to, &control.positions, size).unwrap_or_default();
                faces.extend(way.iter().map(|place| place.0));
            }
            before = Some(point);
        }
        Ok(Self { faces, line: MarkLine::new(line) })
    }
}

fn off(mark: &SurfaceStroke) -> Error {
    Error::input(format!("mark {} is not on this character", mark.id.0 + 1), "draw it again")
}

/// Mirrors a mark to the other side of the character; see [`mirrored_points`].
///
/// # Errors
/// The mark does not lie on this character.
pub fn mirrored_mark(character: &Character, mirror: &Mirror, mark: &SurfaceStroke) -> Result<SurfaceStroke> {
    mark.validate(Some(character.display.triangles.len()))?;
    let points = mirrored_points(character, mirror, &mark.points).ok_or_else(|| off(mark))?;
    Ok(SurfaceStroke { points, ..mark.clone() })
}

/// Returns the skin points nearest to the mirror images of points in bind space. `None` if a point is not on this
/// character.
pub fn mirrored_points(
    character: &Character,
    mirror: &Mirror,
    points: &[SurfacePoint],
) -> Option<Vec<SurfacePoint>> {
    let control = &character.control;
    let corners = |t: usize| control.triangles.get(t).map(|c| c.map(|v| control.positions[v as usize]));
    let images = points.iter().map(|p| {
        let x =
            corners(p.triangle as usize)?.into_iter().zip(p.barycentrics).map(|(x, w)| x * w).sum::<Vec3>();
        Some(mirror.reflect_bind(x.as_dvec3()).as_vec3())
    });
    let images = images.collect::<Option<Vec<Vec3>>>()?;
    // Search near the images first. A triangle farther away than `margin` cannot be nearer than one within it.
    let [low, high] = [Vec3::min, Vec3::max].map(|f| images.iter().copied().reduce(f).unwrap_or_default());
    let margin = 0.01 * control.aabb.diagonal();
    let is_near = |&t: &usize| {
        let [a, b, c] = control.triangles[t].map(|v| control.positions[v as usize]);
        let (bottom, top) = (a.min(b).min(c), a.max(b).max(c));
        bottom.cmple(high + margin).all() && top.cmpge(low - margin).all()
    };
    let near: Vec<usize> = (0..control.triangles.len()).filter(is_near).collect();
    let nearest = |x: Vec3, among: &mut dyn Iterator<Item = usize>| {
        let mut best: Option<(f32, usize, [f32; 3])> = None;
        for t in among {
            let [a, b, c] = control.triangles[t].map(|v| control.positions[v as usize]);
            // Skip the triangle if its bounding sphere is farther away than the nearest point found so far.
            let centre = (a + b + c) / 3.0;
            let ball = centre.distance(a).max(centre.distance(b)).max(centre.distance(c));
            if best.is_some_and(|(d, ..)| (centre.distance(x) - ball).max(0.0) > d) {
                continue;
            }
            let weights = nearest_in_triangle(x, a, b, c);
            let distance = (a * weights[0] + b * weights[1] + c * weights[2]).distance(x);
            if best.is_none_or(|(d, ..)| distance < d) {
                best = Some((distance, t, weights));
            }
        }
        best
    };
    let mirrored = |(point, &x): (&SurfacePoint, &Vec3)| {
        let best = nearest(x, &mut near.iter().copied()).filter(|(d, ..)| *d <= margin);
        let best = best.or_else(|| nearest(x, &mut (0..control.triangles.len())));
        let (triangle, barycentrics) =
            best.map_or((point.triangle, point.barycentrics), |b| (b.1 as u32, b.2));
        SurfacePoint { triangle, barycentrics, ..*point }
    };
    Some(points.par_iter().zip(&images).map(mirrored).collect())
}

/// Returns the barycentric weights of the triangle's point nearest to `x` (C. Ericson, "Real-Time Collision
/// Detection", 2004, 5.1.5).
pub(in crate::surface) fn nearest_in_triangle(x: Vec3, a: Vec3, b: Vec3, c: Vec3) -> [f32; 3] {
    let on_edge = |p: Vec3, q: Vec3| {
        let along = (q - p).length_squared();
        if along > 0.0 { ((x - p).dot(q - p) / along).clamp(0.0, 1.0) } else { 0.0 }
    };
    let normal = (b - a).cross(c - a);
    let square = normal.length_squared();
    if square > 0.0 {
        let inside = |p: Vec3, q: Vec3| normal.dot((q - p).cross(x - p)) / square;
        let weights = [inside(b, c), inside(c, a), inside(a, b)];
        if weights.iter().all(|w| *w >= 0.0) {
            return weights;
        }
    }
    let (ab, bc, ca) = (on_edge(a, b), on_edge(b, c), on_edge(c, a));
    let candidates = [[1.0 - ab, ab, 0.0], [0.0, 1.0 - bc, bc], [ca, 0.0, 1.0 - ca]];
    let distance = |w: &[f32; 3]| (a * w[0] + b * w[1] + c * w[2]).distance(x);
    candidates.into_iter().min_by(|v, w| distance(v).total_cmp(&distance(w))).unwrap_or([1.0, 0.0, 0.0])
}

/// A straight segment of a mark.
struct Piece {
    a: Vec3,
    b: Vec3,
}

/// A mark as a polyline in bind space, parameterised by length.
struct MarkLine {
    pieces: Vec<Piece>,
    /// Cumulative length before each piece; the last entry is the total length.
    length: Vec<f32>,
}

impl MarkLine {
    fn new(pieces: Vec<Piece>) -> Self {
        let mut length = vec![0.0];
        for piece in &pieces {
            length.push(length[length.len() - 1] + piece.a.distance(piece.b));
        }
        Self { pieces, length }
    }

    /// Returns the parameter of the mark's point nearest to `x`, 0..=1.
    fn parameter(&self, x: Vec3) -> f32 {
        let mut best = (f32::INFINITY, 0.0);
        for (piece, pair) in self.pieces.iter().zip(self.length.windows(2)) {
            let along = piece.b - piece.a;
            let square = along.length_squared();
            let s = if square > 0.0 { ((x - piece.a).dot(along) / square).clamp(0.0, 1.0) } else { 0.0 };
            let distance = x.distance_squared(piece.a + along * s);
            if distance < best.0 {
                best = (distance, pair[0] + (pair[1] - pair[0]) * s);
            }
        }
        let all = self.length[self.length.len() - 1];
        if all > 0.0 { (best.1 / all).clamp(0.0, 1.0) } else { 0.0 }
    }
}

/// Returns the mean length of the edges at some vertices, metres.
pub fn mean_edge(character: &Character, vertices: &[u32]) -> f32 {
    let control = &character.control;
    let (mut sum, mut count) = (0.0, 0.0f32);
    for &v in vertices {
        for &n in control.adjacency.of(v as usize) {
            sum += control.positions[v as usize].distance(control.positions[n as usize]);
            count += 1.0;
        }
    }
    sum / count.max(1.0)
}

/// Finds passive and fixed vertices around the kinematic ones. `parameter` maps a bind position to the parameter
/// along the mark; without it, a vertex takes the parameter of the nearest kinematic vertex.
///
/// # Errors
/// The reach is not a valid number.
pub fn spread(
    region: &mut Region,
    character: &Character,
    parameter: Option<&dyn Fn(Vec3) -> f32>,
) -> Result<()> {
    let control = &character.control;
    let seeds: Vec<(u32, f32)> = match parameter {
        Some(f) => region.kinematic.iter().map(|&v| (v, f(control.positions[v as usize]))).collect(),
        None => region.kinematic.iter().copied().zip(region.t.iter().copied()).collect(),
    };
    if region.round.is_some() {
        match region.reach {
            Reach::Edges(edges) => count(edges)?,
            Reach::Euclidean(d) | Reach::Along(d) => distance(d)?,
        };
        round::spread(region, character);
        finish(region, character, &seeds, parameter);
        return Ok(());
    }
    let sources: Vec<u32> = region.kinematic.clone();
    let inside = match region.reach {
        Reach::Edges(edges) => flood(control, &sources, |_| true, |_, _, so_far| so_far + 1.0, count(edges)?),
        Reach::Along(d) => {
            flood(control, &sources, |_| true, |a, b, so_far| so_far + edge(control, a, b), distance(d)?)
        }
        Reach::Euclidean(d) => {
            let near = |b: u32| {
                let x = control.positions[b as usize];
                let away = sources.iter().map(|&s| control.positions[s as usize].distance_squared(x));
                away.fold(f32::INFINITY, f32::min).sqrt()
            };
            flood(control, &sources, |_| true, |_, b, _| near(b), distance(d)?)
        }
    };
    let rim = |v: u32, d: f32| match region.reach {
        Reach::Edges(n) => d >= n as f32,
        _ => control.adjacency.of(v as usize).iter().any(|n| !inside.contains_key(n)),
    };
    region.passive.clear();
    region.fixed.clear();
    for (&v, &d) in inside.iter().filter(|(v, _)| sources.binary_search(v).is_err()) {
        if rim(v, d) { region.fixed.push(v) } else { region.passive.push(v) }
    }
    finish(region, character, &seeds, parameter);
    Ok(())
}

/// Computes parameters and falloff of a region with known vertices.
fn finish(
    region: &mut Region,
    character: &Character,
    seeds: &[(u32, f32)],
    parameter: Option<&dyn Fn(Vec3) -> f32>,
) {
    let control = &character.control;
    let nearest = |x: Vec3| {
        let away = |v: u32| control.positions[v as usize].distance_squared(x);
        seeds.iter().min_by(|a, b| away(a.0).total_cmp(&away(b.0))).map_or(0.0, |s| s.1)
    };
    region.t = seeds.iter().map(|s| s.1).collect();
    region.t.extend(region.passive.iter().map(|&v| {
        let x = control.positions[v as usize];
        parameter.map_or_else(|| nearest(x), |f| f(x))
    }));
    region.falloff = falloff(region, character);
}

fn count(edges: u32) -> Result<f32> {
    if edges <= MAX_EDGES {
        return Ok(edges as f32);
    }
    Err(Error::input(format!("a reach of {edges} edges"), format!("give at most {MAX_EDGES}")))
}

fn distance(d: f32) -> Result<f32> {
    if d.is_finite() && d >= 0.0 {
        return Ok(d);
    }
    Err(Error::input(format!("a reach of {d} m"), "give a distance"))
}

fn edge(control: &ControlMesh, a: u32, b: u32) -> f32 {
    control.positions[a as usize].distance(control.positions[b as usize])
}

/// Runs Dijkstra's algorithm from `seeds` and returns all vertices up to the distance `most`, with their distances.
/// `step(vertex, neighbour, distance)` takes the vertex's distance and returns the neighbour's. The search does not
/// enter rigid props or vertices for which `enter` is false.
pub fn flood(
    control: &ControlMesh,
    seeds: &[u32],
    enter: impl Fn(u32) -> bool,
    step: impl Fn(u32, u32, f32) -> f32,
    most: f32,
) -> BTreeMap<u32, f32> {
    let mut done = BTreeMap::new();
    // Distances are not negative, so their bit patterns sort in the same order as the distances. Ties go to the lower
    // vertex index.
    let mut queue: BinaryHeap<Reverse<(u32, u32)>> = seeds.iter().map(|&v| Reverse((0, v))).collect();
    while let Some(Reverse((bits, v))) = queue.pop() {
        if done.contains_key(&v) {
            continue;
        }
        let d = f32::from_bits(bits);
        done.insert(v, d);
        for &n in control.adjacency.of(v as usize) {
            if !control.rigid[n as usize] && !done.contains_key(&n) && enter(n) {
                let next = step(v, n, d);
                if next <= most {
                    queue.push(Reverse((next.to_bits(), n)));
                }
            }
        }
    }
    done
}

/// Returns the falloff of the passive vertices. First, a vertex gets its relative distance along edges: 0 at the rim, 1
/// at the kinematic vertices. These values are smoothed over the region. A smooth step over the fraction
/// [`Region::softness`] then gives the falloff.
pub fn falloff(region: &Region, character: &Character) -> Vec<f32> {
    if region.round.is_some() {
        return round::falloff(region, character);
    }
    let control = &character.control;
    if region.fixed.is_empty() {
        return vec![1.0; region.passive.len()];
    }
    let by_edge = |a: u32, b: u32, so_far: f32| so_far + edge(control, a, b);
    // [`spread`] lists passive vertices in ascending order.
    let enter = |v: u32| region.passive.binary_search(&v).is_ok();
    let inner = flood(control, &region.kinematic, enter, by_edge, f32::MAX);
    let outer = flood(control, &region.fixed, enter, by_edge, f32::MAX);
    let mut place: BTreeMap<u32, f32> = region.kinematic.iter().map(|&v| (v, 1.0)).collect();
    place.extend(region.fixed.iter().map(|&v| (v, 0.0)));
    for &v in &region.passive {
        let of = |map: &BTreeMap<u32, f32>| map.get(&v).copied().unwrap_or(f32::INFINITY);
        let (a, b) = (of(&inner), of(&outer));
        // Vertices without a path to the rim move fully with the kinematic vertices.
        place.insert(v, if b.is_infinite() { 1.0 } else { b / (a + b).max(f32::MIN_POSITIVE) });
    }
    for _ in 0..SMOOTHING {
        for &v in &region.passive {
            let ring = control.adjacency.of(v as usize).iter().filter_map(|n| place.get(n));
            let (sum, count) = ring.fold((0.0, 0.0f32), |(s, c), u| (s + u, c + 1.0));
            if count > 0.0 {
                place.insert(v, sum / count);
            }
        }
    }
    let shaped = |u: f32| {
        let u = if region.softness > 0.0 { (u / region.softness).clamp(0.0, 1.0) } else { 1.0 };
        u * u * (3.0 - 2.0 * u)
    };
    region.passive.iter().map(|v| shaped(place.get(v).copied().unwrap_or(0.0))).collect()
}
