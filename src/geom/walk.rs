//! Straight paths over a surface, from triangle to triangle along a plane that cuts the surface.

use crate::base::math::{DVec3, Vec3};

/// Neighbour index that means "no neighbour".
const NONE: u32 = u32::MAX;
/// Maximum number of triangles that a path crosses.
const MAX_STEPS: usize = 512;

/// Fraction by which path ends are moved towards the middle of their triangles.
const INSET: f32 = 1e-3;

/// A surface point: a triangle index and barycentric weights, whose sum is 1.
pub type Place = (u32, [f32; 3]);

/// The triangles of a surface with their neighbours.
#[derive(Clone, Debug, Default)]
pub struct Walk {
    triangles: Vec<[u32; 3]>,
    /// Neighbouring triangle of each triangle across each edge; edge `k` goes from corner `k` to `k + 1`.
    across: Vec<[u32; 3]>,
}

/// Returns the sides of all triangles, sorted by edge: end vertices (smaller first), triangle, starting corner.
pub(super) fn sides(triangles: &[[u32; 3]]) -> Vec<([u32; 2], u32, u8)> {
    let mut sides = Vec::with_capacity(triangles.len() * 3);
    for (t, corners) in triangles.iter().enumerate() {
        for k in 0..3 {
            let (a, b) = (corners[k], corners[(k + 1) % 3]);
            if a != b {
                sides.push(([a.min(b), a.max(b)], t as u32, k as u8));
            }
        }
    }
    sides.sort_unstable();
    sides
}

impl Walk {
    /// Builds the neighbourhood of welded triangles. An edge with more than two triangles counts as a border.
    pub fn new(triangles: &[[u32; 3]]) -> Self {
        let mut across = vec![[NONE; 3]; triangles.len()];
        for group in sides(triangles).chunk_by(|a, b| a.0 == b.0) {
            if let [(_, t, i), (_, u, k)] = *group {
                across[t as usize][usize::from(i)] = u;
                across[u as usize][usize::from(k)] = t;
            }
        }
        Self { triangles: triangles.to_vec(), across }
    }

    /// Returns the number of triangles.
    pub fn len(&self) -> usize {
        self.triangles.len()
    }

    /// Returns whether there are no triangles.
    pub fn is_empty(&self) -> bool {
        self.triangles.is_empty()
    }

    /// Returns the corner vertices of a triangle.
    pub fn corners(&self, triangle: u32) -> Option<[u32; 3]> {
        self.triangles.get(triangle as usize).copied()
    }

    /// Returns the triangles that share an edge with a triangle.
    pub fn neighbours(&self, triangle: u32) -> impl Iterator<Item = u32> + '_ {
        let across = self.across.get(triangle as usize).into_iter().flatten();
        across.copied().filter(|t| *t != NONE)
    }

    /// Returns the position of a surface point for the given vertex positions.
    pub fn position(&self, place: &Place, positions: &[Vec3]) -> Option<Vec3> {
        let corners = self.corners(place.0)?;
        let mut out = Vec3::ZERO;
        for (corner, weight) in corners.iter().zip(place.1) {
            out += *positions.get(*corner as usize)? * weight;
        }
        Some(out)
    }

    /// Returns the points where the straight path between two surface points crosses edges. Each point is given in
    /// the triangle that the path enters there. The path lies in the plane that contains both points and the mean of
    /// their normals. Returns `None` if the path reaches a border or exceeds the length `longest`.
    pub fn between(&self, from: &Place, to: &Place, positions: &[Vec3], longest: f32) -> Option<Vec<Place>> {
        if from.0 == to.0 {
            return self.corners(from.0).map(|_| Vec::new());
        }
        let (a, b) = (self.inner(from, positions)?, self.inner(to, positions)?);
        let along = b - a;
        let normal = self.normal(from.0, positions)? + self.normal(to.0, positions)?;
        let plane = along
            .cross(normal)
            .try_normalize()
            .or_else(|| along.cross(self.normal(from.0, positions)?).try_normalize())?;
        let side = |v: u32| plane.dot(positions[v as usize].as_dvec3() - a) >= 0.0;
        let (mut triangle, mut entered, mut at) = (from.0, NONE, a);
        let mut length = 0.0;
        let mut out = Vec::new();
        for _ in 0..MAX_STEPS {
            let corners = self.corners(triangle)?;
            let mut exit: Option<(usize, f64, DVec3)> = None;
            for k in 0..3 {
                let (v, w) = (corners[k], corners[(k + 1) % 3]);
                let next = self.across[triangle as usize][k];
                // A vertex that lies exactly on the plane is assigned to one of its sides. A path therefore leaves a
                // triangle through exactly one edge.
                if side(v) == side(w) || (entered != NONE && next == entered) {
                    continue;
                }
                let (p, q) = (positions[v as usize].as_dvec3(), positions[w as usize].as_dvec3());
                let (dp, dq) = (plane.dot(p - a), plane.dot(q - a));
                let s = if (dp - dq).abs() > 0.0 { (dp / (dp - dq)).clamp(0.0, 1.0) } else { 0.5 };
                let x = p + (q - p) * s;
                // In the first triangle, choose the exit towards the target.
                if exit.is_none_or(|(_, _, other)| (x - at).dot(along) > (other - at).dot(along)) {
                    exit = Some((k, s, x));
                }
            }
            let (k, s, x) = exit?;
            length += x.distance(at);
            let next = self.across[triangle as usize][k];
            if next == NONE || length > f64::from(longest) {
                return None;
            }
            let (v, w) = (corners[k], corners[(k + 1) % 3]);
            let there = self.corners(next)?;
            let weight = |c: u32| {
                if c == v {
                    1.0 - s
                } else if c == w {
                    s
                } else {
                    0.0
                }
            };
            out.push((next, there.map(|c| weight(c) as f32)));
            (entered, triangle, at) = (triangle, next, x);
            if triangle == to.0 {
                return (length + x.distance(b) <= f64::from(longest)).then_some(out);
            }
        }
        None
    }

    /// Returns the place at a fraction of the length of the path from a surface point to another one, and the number of
    /// points of `way` before it. `way` is the result of [`Walk::between`].
    pub fn along(
        &self,
        (from, way, to): (&Place, &[Place], &Place),
        positions: &[Vec3],
        fraction: f32,
    ) -> Option<(usize, Place)> {
        let at = |k: usize| match k {
            0 => from,
            _ => way.get(k - 1).unwrap_or(to),
        };
        let place = |k: usize| self.position(at(k), positions);
        let length = |k: usize| Some(place(k)?.distance(place(k + 1)?));
        let whole = (0..=way.len()).map(length).sum::<Option<f32>>()?;
        let mut rest = whole * fraction.clamp(0.0, 1.0);
        let mut k = 0;
        while k < way.len() && rest > length(k)? {
            rest -= length(k)?;
            k += 1;
        }
        // The piece from one crossing of an edge to the next lies in the triangle of the first one.
        let (triangle, a) = *at(k);
        let b = self.weights(triangle, place(k + 1)?, positions)?;
        let s = (rest / length(k)?.max(f32::MIN_POSITIVE)).min(1.0);
        Some((k, (triangle, std::array::from_fn(|i| a[i] + (b[i] - a[i]) * s))))
    }

    /// Returns the barycentric weights of a point of a triangle.
    fn weights(&self, triangle: u32, x: Vec3, positions: &[Vec3]) -> Option<[f32; 3]> {
        let [a, b, c] = self.corners(triangle)?.map(|v| positions.get(v as usize).map(|p| p.as_dvec3()));
        let (a, b, c, x) = (a?, b?, c?, x.as_dvec3());
        let normal = (b - a).cross(c - a);
        let area = |p: DVec3, q: DVec3| (p - x).cross(q - x).dot(normal) / normal.length_squared();
        let weights = [area(b, c), area(c, a), area(a, b)].map(|w| w.clamp(0.0, 1.0) as f32);
        let sum: f32 = weights.iter().sum();
        (sum > 0.0).then(|| weights.map(|w| w / sum))
    }

    /// Follows the plane with this `normal` from a surface point around the surface and back. Returns the edge
    /// crossings, each in the triangle that the path enters; `None` if the path reaches a border or does not return.
    pub fn around(&self, start: &Place, normal: Vec3, positions: &[Vec3]) -> Option<Vec<Place>> {
        let normal = normal.as_dvec3().try_normalize()?;
        let a = self.inner(start, positions)?;
        let height = |v: u32| Some(normal.dot(positions.get(v as usize)?.as_dvec3() - a));
        let (mut triangle, mut entered) = (start.0, NONE);
        let mut out = Vec::new();
        for _ in 0..self.triangles.len() {
            let corners = self.corners(triangle)?;
            let mut exit = None;
            for k in 0..3 {
                let (v, w) = (corners[k], corners[(k + 1) % 3]);
                let (p, q) = (height(v)?, height(w)?);
                let next = self.across[triangle as usize][k];
                if (p >= 0.0) != (q >= 0.0) && (entered == NONE || next != entered) {
                    exit = Some((v, w, p / (p - q), next));
                    break;
                }
            }
            let (v, w, s, next) = exit?;
            let weight = |c: u32| match c {
                _ if c == v => 1.0 - s,
                _ if c == w => s,
                _ => 0.0,
            };
            out.push((next, self.corners(next)?.map(|c| weight(c) as f32)));
            if next == start.0 {
                return Some(out);
            }
            (entered, triangle) = (triangle, next);
        }
        None
    }

    /// Moves a surface point slightly into its triangle, so that the plane through two such points cuts both
    /// triangles, even if the points lie on edges.
    fn inner(&self, place: &Place, positions: &[Vec3]) -> Option<DVec3> {
        let weights = place.1.map(|w| w.clamp(0.0, 1.0) * (1.0 - INSET) + INSET / 3.0);
        let sum: f32 = weights.iter().sum();
        Some(self.position(&(place.0, weights.map(|w| w / sum)), positions)?.as_dvec3())
    }

    fn normal(&self, triangle: u32, positions: &[Vec3]) -> Option<DVec3> {
        let [a, b, c] = self.corners(triangle)?.map(|v| positions.get(v as usize).map(|p| p.as_dvec3()));
        let (a, b, c) = (a?, b?, c?);
        Some((b - a).cross(c - a).normalize_or_zero())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Creates a grid of `n` by `n` unit squares in the plane z = 0.
    fn grid(n: u32) -> (Vec<Vec3>, Walk) {
        let at = |x: u32, y: u32| y * (n + 1) + x;
        let positions =
            (0..=n).flat_map(|y| (0..=n).map(move |x| Vec3::new(x as f32, y as f32, 0.0))).collect();
        let mut triangles = Vec::new();
        for (x, y) in (0..n).flat_map(|y| (0..n).map(move |x| (x, y))) {
            triangles.push([at(x, y), at(x + 1, y), at(x + 1, y + 1)]);
            triangles.push([at(x, y), at(x + 1, y + 1), at(x, y + 1)]);
        }
        (positions, Walk::new(&triangles))
    }

    #[test]
    fn a_part_of_a_walk_ends_at_that_part_of_its_length() {
        let (positions, walk) = grid(8);
        let (from, to) = ((3, [0.2, 0.3, 0.5]), (90, [0.6, 0.1, 0.3]));
        let way = walk.between(&from, &to, &positions, 100.0).unwrap();
        assert!(way.len() > 5);
        let [a, b] = [from, to].map(|p| walk.position(&p, &positions).unwrap());
        for fraction in [0.0, 0.01, 0.4, 0.77, 1.0] {
            let (before, place) = walk.along((&from, &way, &to), &positions, fraction).unwrap();
            let x = walk.position(&place, &positions).unwrap();
            assert!(x.distance(a.lerp(b, fraction)) < 2e-3, "{fraction}: {x}");
            let passed =
                way.iter().filter(|p| walk.position(p, &positions).unwrap().distance(a) < x.distance(a));
            assert_eq!(passed.count(), before, "{fraction}");
        }
        // Within one triangle, too.
        let near = (3, [0.6, 0.3, 0.1]);
        let (before, (triangle, weights)) = walk.along((&from, &[], &near), &positions, 0.5).unwrap();
        assert_eq!((before, triangle), (0, 3));
        assert!(weights.iter().zip([0.4, 0.3, 0.3]).all(|(a, b)| (a - b).abs() < 1e-5), "{weights:?}");
    }

    #[test]
    fn a_walk_over_a_plane_is_the_straight_line() {
        let (positions, walk) = grid(10);
        let third = [1.0 / 3.0; 3];
        for (from, to) in [(0, 199), (3, 150), (77, 22), (0, 18)] {
            let (from, to) = ((from, third), (to, third));
            let (a, b) = (walk.position(&from, &positions).unwrap(), walk.position(&to, &positions).unwrap());
            let way = walk.between(&from, &to, &positions, 100.0).unwrap();
            assert!(way.len() > 3);
            let mut last = 0.0;
            for place in &way {
                let x = walk.position(place, &positions).unwrap();
                assert!((place.1.iter().sum::<f32>() - 1.0).abs() < 1e-5);
                let t = (x - a).dot(b - a) / (b - a).length_squared();
                assert!((a + (b - a) * t).distance(x) < 1e-4 && t >= last - 1e-5, "{x} is off the line");
                last = t;
            }
            assert!(
                walk.between(&from, &to, &positions, 0.5 * a.distance(b)).is_none(),
                "longer than allowed"
            );
        }
    }

    #[test]
    fn a_walk_around_comes_back_to_its_start() {
        // An octahedron, cut horizontally and obliquely. A flat grid would have a border.
        let positions = [Vec3::X, Vec3::Y, -Vec3::X, -Vec3::Y, Vec3::Z, -Vec3::Z];
        let quarter = |k: u32| [[k, (k + 1) % 4, 4], [(k + 1) % 4, k, 5]];
        let walk = Walk::new(&(0..4).flat_map(quarter).collect::<Vec<_>>());
        for normal in [Vec3::X, Vec3::Z, Vec3::new(0.2, -0.3, 1.0)] {
            let start = (0, [0.4, 0.3, 0.3]);
            let x = walk.position(&start, &positions).unwrap();
            let way = walk.around(&start, normal, &positions).unwrap();
            assert!(way.len() >= 4 && way[way.len() - 1].0 == start.0);
            for place in &way {
                let y = walk.position(place, &positions).unwrap();
                assert!((y - x).dot(normal.normalize()).abs() < 2e-3, "{y} is off the plane");
            }
        }
        let (positions, walk) = grid(4);
        assert!(walk.around(&(0, [1.0 / 3.0; 3]), Vec3::X, &positions).is_none());
        assert!(walk.around(&(0, [1.0 / 3.0; 3]), Vec3::ZERO, &positions).is_none());
    }

    #[test]
    fn a_walk_ends_at_a_border() {
        let (positions, mut walk) = grid(4);
        // The triangles of the middle column are removed, so there is no path across.
        for y in 0..4 {
            for t in [y * 8 + 4, y * 8 + 5] {
                walk.triangles[t] = [0, 0, 0];
            }
        }
        let walk = Walk::new(&walk.triangles);
        let third = [1.0 / 3.0; 3];
        assert!(walk.between(&(0, third), &(6, third), &positions, 100.0).is_none());
        assert!(walk.between(&(0, third), &(999, third), &positions, 100.0).is_none());
        assert_eq!(walk.between(&(0, third), &(0, [1.0, 0.0, 0.0]), &positions, 100.0), Some(Vec::new()));
    }
}
