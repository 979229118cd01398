//! Self-intersections of a posed surface, found from the vertex positions and the radii of the limbs.

use super::{ControlMesh, Place};
use crate::base::math::Vec3;
use obvhs::aabb::Aabb;
use obvhs::bvh2::Bvh2;
use obvhs::ray::Ray;
use obvhs::{BvhBuildParams, bvh2::builder::build_bvh2};
use rayon::prelude::*;
use robust::{Coord3D, orient3d};
use std::collections::HashSet;
use std::time::Duration;

/// Tangent of the angle between a triangle's normal and each of the three rays that decide whether the triangle lies
/// inside the body.
const TILT: f32 = 0.3;

/// Two triangles touch if their distance in the bind shape is less than this fraction of the bounding box's diagonal.
/// Rounding decides whether touching triangles cross.
const TOUCH: f32 = 1e-5;

/// Finds crossing triangles in poses of a mesh. Build it once per mesh. Props, whose vertices are rigid, do not
/// take part.
#[derive(Clone, Debug)]
pub struct Crossings {
    bind: Vec<Vec3>,
    triangles: Vec<[u32; 3]>,
    /// Index of each triangle in the mesh.
    source: Vec<u32>,
    /// Radius of the limb at each triangle, metres.
    radius: Vec<f32>,
    /// Triangles that share an edge with each triangle.
    beside: Vec<Vec<u32>>,
    /// Pairs that cross or touch in the bind shape.
    known: HashSet<[u32; 2]>,
    /// Triangles that already lie inside another part of the body in the bind shape.
    covered: HashSet<u32>,
}

/// Crossings of a pose.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct CrossingsReport {
    /// Pairs of triangles that cross, share no vertex, and neither cross nor touch in the bind shape.
    pub crossings: usize,
    /// Number of crossings that are folds. In a fold, the distance of the two triangles in the bind shape is less than
    /// the limb's thickness.
    pub folds: usize,
    /// Largest penetration outside folds, divided by the limb's thickness; see [`Crossings::report`].
    pub penetration: f64,
    /// Largest penetration in folds, divided by the limb's thickness.
    pub fold_penetration: f64,
}

/// A piece of the curve along which a surface crosses itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CrossingSegment {
    /// Both ends, on edges of the two triangles that cross.
    pub ends: [Place; 2],
    /// World positions of the ends, metres.
    pub at: [Vec3; 2],
}

/// A posed surface with a bounding volume hierarchy over its triangles.
struct Surface<'a> {
    of: &'a Crossings,
    x: &'a [Vec3],
    bvh: Bvh2,
}

impl Crossings {
    /// Finds the crossings of the bind shape. `radius` is each vertex's distance to its bone, metres.
    ///
    /// # Panics
    /// Unless there is one radius per vertex.
    pub fn new(control: &ControlMesh, radius: &[f32]) -> Self {
        let soft = |t: &&[u32; 3]| !t.iter().any(|&v| control.rigid[v as usize]);
        let proper = |t: &&[u32; 3]| t[0] != t[1] && t[1] != t[2] && t[2] != t[0];
        let takes_part = |t: &&[u32; 3]| soft(t) && proper(t);
        let all = control.triangles.iter().zip(0u32..);
        let (triangles, source): (Vec<[u32; 3]>, Vec<u32>) = all.filter(|(t, _)| takes_part(t)).unzip();
        let radius = triangles.iter().map(|t| t.map(|v| radius[v as usize]).iter().sum::<f32>() / 3.0);
        let mut out = Self {
            bind: control.positions.clone(),
            radius: radius.collect(),
            beside: beside(&triangles),
            triangles,
            source,
            known: HashSet::new(),
            covered: HashSet::new(),
        };
        let bind = out.bind.clone();
        if let Some(surface) = Surface::new(&out, &bind) {
            let covered = surface.covered(&surface.pairs(0.0)).into_iter().flatten().collect();
            let diagonal = surface.bvh.nodes[0].aabb().diagonal().length();
            let known = surface.pairs(TOUCH * diagonal).into_iter().collect();
            (out.known, out.covered) = (known, covered);
        }
        out
    }

    /// Number of vertices of the bind shape.
    pub fn vertices(&self) -> usize {
        self.bind.len()
    }

    /// Corners of a triangle as indices of vertices.
    pub fn triangle(&self, triangle: u32) -> [u32; 3] {
        self.triangles[triangle as usize]
    }

    /// Returns the pairs of triangles that cross, share no vertex, and neither cross nor touch in the bind shape, in ascending order.
    /// Shapes with positions that are not finite have no pairs.
    ///
    /// # Panics
    /// Unless there is one position per vertex.
    pub fn pairs(&self, positions: &[Vec3]) -> Vec<[u32; 2]> {
        let Some(surface) = Surface::new(self, positions) else { return Vec::new() };
        surface.pairs(0.0).into_iter().filter(|p| !self.known.contains(p)).collect()
    }

    /// The curve along which the surface crosses itself: one segment per pair of [`Crossings::pairs`].
    ///
    /// # Panics
    /// Unless there is one position per vertex.
    pub fn curve(&self, positions: &[Vec3]) -> Vec<CrossingSegment> {
        let end = |t: u32, k: usize, share: f32| {
            let mut weights = [0.0; 3];
            (weights[k], weights[(k + 1) % 3]) = (1.0 - share, share);
            let corners = self.corners(positions, t);
            ((self.source[t as usize], weights), corners[k].lerp(corners[(k + 1) % 3], share))
        };
        let segment = |[a, b]: [u32; 2]| {
            let (of_a, of_b) = (self.corners(positions, a), self.corners(positions, b));
            let [first, last] = [(a, pierced(of_b, of_a)), (b, pierced(of_a, of_b))]
                .map(|(t, through)| through.into_iter().zip(0..).filter_map(move |(s, k)| Some((t, k, s?))));
            let mut ends = first.chain(last).map(|(t, k, share)| end(t, k, share));
            let (first, last) = (ends.next()?, ends.last()?);
            Some(CrossingSegment { ends: [first.0, last.0], at: [first.1, last.1] })
        };
        self.pairs(positions).into_iter().filter_map(segment).collect()
    }

    /// Counts the crossings of a pose and measures the penetration. Triangles inside another part of the body form
    /// patches. Such a triangle's penetration is the distance from its middle to the nearest triangle outside its
    /// patch.
    ///
    /// # Panics
    /// Unless there is one position per vertex.
    pub fn report(&self, positions: &[Vec3]) -> CrossingsReport {
        let mut out = CrossingsReport::default();
        let Some(surface) = Surface::new(self, positions) else { return out };
        let pairs = surface.pairs(0.0);
        let found: Vec<[u32; 2]> = pairs.iter().filter(|p| !self.known.contains(*p)).copied().collect();
        out.crossings = found.len();
        out.folds = found.iter().filter(|[a, b]| self.is_fold(*a, *b)).count();
        for patch in surface.covered(&pairs) {
            let own: HashSet<u32> = patch.iter().copied().collect();
            let inner = patch.iter().filter(|t| !self.covered.contains(t));
            let depths: Vec<_> =
                inner.collect::<Vec<_>>().par_iter().map(|&&t| (t, surface.nearest(t, &own))).collect();
            for (t, nearest) in depths {
                let Some((other, distance)) = nearest else { continue };
                let thickness = 2.0 * self.radius[t as usize].min(self.radius[other as usize]);
                let depth = f64::from(distance / thickness.max(f32::MIN_POSITIVE));
                let largest =
                    if self.is_fold(t, other) { &mut out.fold_penetration } else { &mut out.penetration };
                *largest = largest.max(depth);
            }
        }
        out
    }

    fn is_fold(&self, a: u32, b: u32) -> bool {
        let center = |t: u32| self.corners(&self.bind, t).iter().sum::<Vec3>() / 3.0;
        let thickness = 2.0 * self.radius[a as usize].max(self.radius[b as usize]);
        center(a).distance(center(b)) < thickness
    }

    fn corners(&self, x: &[Vec3], t: u32) -> [Vec3; 3] {
        let [a, b, c] = self.triangles[t as usize];
        [x[a as usize], x[b as usize], x[c as usize]]
    }
}

/// Returns the triangles that share an edge with each triangle.
fn beside(triangles: &[[u32; 3]]) -> Vec<Vec<u32>> {
    let mut edges: Vec<([u32; 2], u32)> = Vec::with_capacity(3 * triangles.len());
    for (t, k) in triangles.iter().zip(0u32..) {
        let sides = [[t[0], t[1]], [t[1], t[2]], [t[2], t[0]]];
        edges.extend(sides.map(|[a, b]| ([a.min(b), a.max(b)], k)));
    }
    edges.sort_unstable();
    let mut out = vec![Vec::new(); triangles.len()];
    for same in edges.chunk_by(|a, b| a.0 == b.0) {
        for a in same {
            out[a.1 as usize].extend(same.iter().map(|b| b.1).filter(|b| *b != a.1));
        }
    }
    out
}

fn bounds([a, b, c]: [Vec3; 3]) -> Aabb {
    Aabb::from_points(&[a.into(), b.into(), c.into()])
}

/// Whether two triangles cross: an edge of one passes through the inside of the other. Exact for `f32` corners.
fn cross(a: [Vec3; 3], b: [Vec3; 3]) -> bool {
    let some = |through: [Option<f32>; 3]| through.iter().any(Option::is_some);
    some(pierced(b, a)) || some(pierced(a, b))
}

/// Returns, for each edge of triangle `of`, where the edge passes through the inside of triangle `t`: the fraction of
/// the edge's length from its first end.
fn pierced(t: [Vec3; 3], of: [Vec3; 3]) -> [Option<f32>; 3] {
    let exact = |v: Vec3| Coord3D { x: f64::from(v.x), y: f64::from(v.y), z: f64::from(v.z) };
    let t = [exact(t[0]), exact(t[1]), exact(t[2])];
    let of = [exact(of[0]), exact(of[1]), exact(of[2])];
    let height = |p| orient3d(t[0], t[1], t[2], p);
    let heights = [height(of[0]), height(of[1]), height(of[2])];
    let mut out = [None; 3];
    for (k, out) in out.iter_mut().enumerate() {
        let next = (k + 1) % 3;
        let (low, high) = (heights[k], heights[next]);
        if low.min(high) < 0.0 && low.max(high) > 0.0 {
            let side = |i: usize, j: usize| orient3d(of[k], of[next], t[i], t[j]);
            let sides = [side(0, 1), side(1, 2), side(2, 0)];
            let through = sides.iter().all(|v| *v > 0.0) || sides.iter().all(|v| *v < 0.0);
            *out = through.then(|| (low / (low - high)) as f32);
        }
    }
    out
}

/// Returns the squared distance from a point to a triangle, after Ericson, *Real-Time Collision Detection*, 2004,
/// 5.1.5. The nearest point lies at a corner, on an edge, or inside.
fn distance_squared(p: Vec3, [a, b, c]: [Vec3; 3]) -> f32 {
    let on_edge = |a: Vec3, b: Vec3| {
        let along = b - a;
        let t = ((p - a).dot(along) / along.length_squared().max(f32::MIN_POSITIVE)).clamp(0.0, 1.0);
        p.distance_squared(a + along * t)
    };
    let normal = (b - a).cross(c - a);
    let inside = [(a, b), (b, c), (c, a)].iter().all(|(u, v)| normal.dot((*v - *u).cross(p - *u)) >= 0.0);
    match normal.try_normalize() {
        Some(unit) if inside => (p - a).dot(unit).powi(2),
        _ => on_edge(a, b).min(on_edge(b, c)).min(on_edge(c, a)),
    }
}

/// Returns the squared distance between two segments, after Ericson, *Real-Time Collision Detection*, 2004, 5.1.9.
fn segments_distance_squared([a, b]: [Vec3; 2], [c, d]: [Vec3; 2]) -> f32 {
    let (u, v, w) = (b - a, d - c, a - c);
    let [uu, vv] = [u, v].map(|e| e.length_squared().max(f32::MIN_POSITIVE));
    let (uv, uw, vw) = (u.dot(v), u.dot(w), v.dot(w));
    let skew = uu * vv - uv * uv;
    let first = if skew > 0.0 { ((uv * vw - uw * vv) / skew).clamp(0.0, 1.0) } else { 0.0 };
    let t = ((uv * first + vw) / vv).clamp(0.0, 1.0);
    let s = ((uv * t - uw) / uu).clamp(0.0, 1.0);
    (a + u * s).distance_squared(c + v * t)
}

/// Whether the distance of two triangles that do not cross is less than `touch`.
fn near(a: [Vec3; 3], b: [Vec3; 3], touch: f32) -> bool {
    let limit = touch * touch;
    let edges = |t: [Vec3; 3]| [[t[0], t[1]], [t[1], t[2]], [t[2], t[0]]];
    a.iter().any(|p| distance_squared(*p, b) < limit)
        || b.iter().any(|p| distance_squared(*p, a) < limit)
        || edges(a).iter().any(|e| edges(b).iter().any(|f| segments_distance_squared(*e, *f) < limit))
}

impl<'a> Surface<'a> {
    /// Builds the hierarchy; `None` without triangles or with positions that are not finite.
    fn new(of: &'a Crossings, x: &'a [Vec3]) -> Option<Self> {
        let boxes: Vec<Aabb> = (0..of.triangles.len() as u32).map(|t| bounds(of.corners(x, t))).collect();
        if boxes.is_empty() || !x.iter().all(|x| x.is_finite()) {
            return None;
        }
        let bvh = build_bvh2(&boxes, BvhBuildParams::fast_build(), &mut Duration::default());
        Some(Self { of, x, bvh })
    }

    fn corners(&self, t: u32) -> [Vec3; 3] {
        self.of.corners(self.x, t)
    }

    /// Calls `each` for every triangle in a leaf of the hierarchy that overlaps `bounds`.
    fn within(&self, bounds: Aabb, mut each: impl FnMut(u32)) {
        self.bvh.aabb_traverse(bounds, |bvh, node| {
            let node = &bvh.nodes[node as usize];
            let first = node.first_index as usize;
            bvh.primitive_indices[first..first + node.prim_count as usize].iter().for_each(|t| each(*t));
            true
        });
    }

    /// All pairs of triangles that cross or are closer than `touch`, and share no vertex, in ascending order.
    fn pairs(&self, touch: f32) -> Vec<[u32; 2]> {
        let of = |t: u32| {
            let (corners, own) = (self.corners(t), self.of.triangles[t as usize]);
            let mut found = Vec::new();
            let Aabb { min, max } = bounds(corners);
            let around = Aabb::new(min - touch, max + touch);
            self.within(around, |other| {
                // A leaf holds several triangles, so most of those found are apart.
                if other <= t || self.of.triangles[other as usize].iter().any(|v| own.contains(v)) {
                    return;
                }
                let theirs = self.corners(other);
                let meets = || cross(corners, theirs) || touch > 0.0 && near(corners, theirs, touch);
                if around.intersect_aabb(&bounds(theirs)) && meets() {
                    found.push([t, other]);
                }
            });
            found.sort_unstable();
            found
        };
        (0..self.of.triangles.len() as u32).into_par_iter().flat_map_iter(of).collect()
    }

    /// Returns whether a triangle's middle lies inside another part of the body. Three rays start at the middle and
    /// point outwards. The middle is inside if at least two rays leave the body more often than they enter the body.
    fn inside(&self, t: u32) -> bool {
        let [a, b, c] = self.corners(t);
        let (middle, normal) = ((a + b + c) / 3.0, (b - a).cross(c - a).normalize_or_zero());
        let aside = (b - a).normalize_or_zero();
        let across = normal.cross(aside);
        let votes = [aside, (across - aside) * 0.7, (-across - aside) * 0.7].map(|off| {
            let along = normal + off * TILT;
            let mut exits = 0;
            self.bvh.ray_traverse_anyhit(Ray::new_inf(middle.into(), along.into()), |ray, primitive| {
                let other = self.bvh.primitive_indices[primitive];
                if other != t && super::ray_triangle(middle, along, self.corners(other)).is_some() {
                    let [a, b, c] = self.corners(other);
                    exits += if (b - a).cross(c - a).dot(ray.direction.into()) > 0.0 { 1 } else { -1 };
                }
            });
            exits > 0
        });
        votes.iter().filter(|v| **v).count() >= 2
    }

    /// Returns the connected patches of triangles that lie inside other parts of the body. The search starts at the
    /// triangles that cross.
    fn covered(&self, pairs: &[[u32; 2]]) -> Vec<Vec<u32>> {
        let crossing: HashSet<u32> = pairs.iter().flatten().copied().collect();
        let mut starts: Vec<u32> = crossing.iter().copied().collect();
        starts.sort_unstable();
        let mut inside = std::collections::HashMap::new();
        let mut is_inside = |t: u32| *inside.entry(t).or_insert_with(|| self.inside(t));
        let mut seen = HashSet::new();
        let mut out = Vec::new();
        for start in starts.iter().flat_map(|t| std::iter::once(t).chain(&self.of.beside[*t as usize])) {
            let (mut patch, mut rim) = (Vec::new(), vec![*start]);
            while let Some(t) = rim.pop() {
                if !seen.contains(&t) && is_inside(t) {
                    seen.insert(t);
                    patch.push(t);
                    // A patch ends where the surface crosses another part.
                    if !crossing.contains(&t) || patch.len() == 1 {
                        rim.extend(&self.of.beside[t as usize]);
                    }
                }
            }
            if !patch.is_empty() {
                out.push(patch);
            }
        }
        out
    }

    /// Returns the triangle outside `patch` that is nearest to the middle of triangle `t`, and its distance from that
    /// point.
    fn nearest(&self, t: u32, patch: &HashSet<u32>) -> Option<(u32, f32)> {
        let [a, b, c] = self.corners(t);
        let middle = (a + b + c) / 3.0;
        let mut reach = (b - a).length().max((c - a).length()).max(f32::MIN_POSITIVE);
        let whole = self.bvh.nodes[0].aabb().diagonal().length();
        loop {
            let mut best: Option<(u32, f32)> = None;
            let around = Aabb::new((middle - reach).into(), (middle + reach).into());
            self.within(around, |other| {
                let distance = distance_squared(middle, self.corners(other)).sqrt();
                if !patch.contains(&other) && best.is_none_or(|b| distance < b.1) {
                    best = Some((other, distance));
                }
            });
            match best {
                Some(best) if best.1 <= reach => return Some(best),
                _ if reach > whole => return best,
                _ => reach *= 2.0,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::math::Quat;

    /// Two unit cubes of `n` by `n` squares a side, the second one moved by `offset`.
    fn cubes(n: u32, offset: Vec3) -> (ControlMesh, Vec<Vec3>) {
        let mut mesh = ControlMesh::default();
        let mut posed = Vec::new();
        for cube in 0..2 {
            let away = Vec3::X * 5.0 * cube as f32;
            for side in 0..6u32 {
                let (axis, far) = ((side % 3) as usize, side / 3);
                let first = mesh.positions.len() as u32;
                for (i, j) in (0..=n).flat_map(|i| (0..=n).map(move |j| (i, j))) {
                    let mut x = [0.0; 3];
                    x[axis] = far as f32;
                    x[(axis + 1) % 3] = i as f32 / n as f32;
                    x[(axis + 2) % 3] = j as f32 / n as f32;
                    mesh.positions.push(Vec3::from(x) + away);
                    posed.push(Vec3::from(x) + offset * cube as f32);
                }
                for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))) {
                    let at = |i: u32, j: u32| first + i * (n + 1) + j;
                    let (a, b, c, d) = (at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1));
                    let quad = [[a, b, c], [a, c, d]];
                    let turned = |t: [u32; 3]| if far == 1 { t } else { [t[0], t[2], t[1]] };
                    mesh.triangles.extend(quad.map(turned));
                }
            }
        }
        mesh.rigid = vec![false; mesh.positions.len()];
        (mesh, posed)
    }

    #[test]
    fn triangles_cross_only_if_they_share_more_than_a_border() {
        let flat = [Vec3::ZERO, Vec3::X, Vec3::Y];
        let through = |z: f32| [Vec3::new(0.2, 0.2, -1.0), Vec3::new(0.3, 0.3, z), Vec3::new(0.2, 0.3, z)];
        assert!(cross(flat, through(1.0)) && cross(through(1.0), flat));
        assert!(!cross(flat, through(0.0)), "a corner that touches does not cross");
        assert!(!cross(flat, through(-0.1)));
        assert!(!cross(flat, flat.map(|x| x + Vec3::new(0.1, 0.1, 0.0))), "coplanar triangles do not cross");
        let beside = through(1.0).map(|x| x + Vec3::X);
        assert!(!cross(flat, beside));
    }

    #[test]
    fn the_curve_of_crossings_lies_on_both_surfaces_and_is_closed() {
        let offset = Vec3::new(0.77, 0.013, 0.017);
        let (mut mesh, posed) = cubes(16, offset);
        // The first triangle is degenerate, so `Crossings` skips this triangle.
        mesh.triangles.insert(0, [0; 3]);
        let crossings = Crossings::new(&mesh, &vec![0.5; mesh.positions.len()]);
        let curve = crossings.curve(&posed);
        assert_eq!(curve.len(), crossings.report(&posed).crossings);
        let at = |(t, w): Place| {
            let corners = mesh.triangles[t as usize].map(|v| posed[v as usize]);
            corners[0] * w[0] + corners[1] * w[1] + corners[2] * w[2]
        };
        let ends: Vec<[Vec3; 2]> = curve.iter().map(|s| s.ends.map(at)).collect();
        let far = |s: &CrossingSegment, x: &[Vec3; 2]| (0..2).any(|k| s.at[k].distance(x[k]) > 1e-5);
        assert!(!curve.iter().zip(&ends).any(|(s, x)| far(s, x)));
        let on = |x: Vec3, corner: Vec3| {
            let x = x - corner;
            let inside = x.min_element() > -1e-5 && x.max_element() < 1.0 + 1e-5;
            inside && x.to_array().iter().any(|v| v.abs().min((v - 1.0).abs()) < 1e-5)
        };
        assert!(ends.iter().flatten().all(|x| on(*x, Vec3::ZERO) && on(*x, offset)));
        // Every end of a segment is also an end of another segment.
        let others = |x: &Vec3| ends.iter().flatten().filter(|y| x.distance(**y) < 1e-4).count();
        assert!(ends.iter().flatten().all(|x| others(x) >= 2));
        assert!(crossings.curve(&mesh.positions).is_empty());
    }

    #[test]
    fn segments_are_as_far_apart_as_their_nearest_points() {
        let [o, x, y, z] = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z];
        let apart = |a: [Vec3; 2], b: [Vec3; 2]| segments_distance_squared(a, b).sqrt();
        assert!((apart([-x, x], [2.0 * z - y, 2.0 * z + y]) - 2.0).abs() < 1e-6, "crossed");
        assert!((apart([o, x], [4.0 * x + 4.0 * y, 9.0 * x + 4.0 * y]) - 5.0).abs() < 1e-6, "end to end");
        assert!((apart([o, x], [x + y, y]) - 1.0).abs() < 1e-6, "parallel");
        assert!((apart([o, o], [x + y, x + z]) - 1.5_f32.sqrt()).abs() < 1e-6, "a point");
    }

    #[test]
    fn sheets_that_coincide_do_not_cross_by_rounding() {
        let (mut mesh, _) = cubes(6, Vec3::ZERO);
        let count = mesh.positions.len();
        // The second cube coincides with the first one, up to rounding.
        for v in 0..count / 2 {
            mesh.positions[v + count / 2] = (mesh.positions[v] + 0.1) - 0.1;
        }
        let crossings = Crossings::new(&mesh, &vec![0.5; count]);
        let turn = Quat::from_rotation_y(0.7) * Quat::from_rotation_x(0.4);
        let turned: Vec<Vec3> = mesh.positions.iter().map(|x| turn * *x).collect();
        let all = Surface::new(&crossings, &turned).unwrap().pairs(0.0);
        assert!(all.len() > 20, "{}: no pair crosses by rounding", all.len());
        assert_eq!(crossings.report(&turned).crossings, 0);
    }

    #[test]
    fn a_cube_in_a_cube_penetrates_by_its_overlap() {
        let offset = Vec3::new(0.77, 0.013, 0.017);
        let (mesh, posed) = cubes(16, offset);
        let crossings = Crossings::new(&mesh, &vec![0.5; mesh.positions.len()]);
        // The sides of a cube share no vertices, so they touch.
        let half = crossings.triangles.len() as u32 / 2;
        assert!(crossings.known.iter().all(|[a, b]| (*a < half) == (*b < half)));
        let report = crossings.report(&posed);
        // The cubes' surfaces intersect in a closed curve. On each face that the curve passes, it crosses about 16
        // squares.
        assert!(report.crossings > 60 && report.folds == 0, "{report:?}");
        assert!((report.penetration - 0.23).abs() < 0.02, "{report:?}");
        // A test of every pair of triangles gives the same count.
        let x = |t: &[u32; 3]| t.map(|v| posed[v as usize]);
        let t = &crossings.triangles;
        let all = (0..t.len()).map(|a| (a + 1..t.len()).filter(|&b| cross(x(&t[a]), x(&t[b]))).count());
        assert_eq!(all.sum::<usize>(), report.crossings);
        assert_eq!(crossings.pairs(&posed).len(), report.crossings);
        assert_eq!(crossings.report(&mesh.positions), CrossingsReport::default());
        assert_eq!(crossings.report(&vec![Vec3::NAN; posed.len()]), CrossingsReport::default());
    }
}
