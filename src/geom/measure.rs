//! Measurements of a deformed mesh: volume, area, edge stretch, folded edges.

use super::sets::{apart, root, unite};
use super::{Adjacency, ControlMesh};
use crate::base::math::{Aabb, DVec3, Vec3, distance_to_segment};
use std::f32::consts::PI;

/// An edge counts as folded if its dihedral angles in pose and bind pose differ by more than this angle, radians.
pub const FOLD: f32 = 150.0 / 180.0 * PI;

/// Compares poses of one mesh with its bind shape. Built once; rigid props are excluded.
#[derive(Clone, Debug)]
pub struct Measure {
    bind: Vec<Vec3>,
    triangles: Vec<[u32; 3]>,
    /// Boundary loops, which [`Measure::volume`] closes.
    fans: Vec<Fan>,
    edges: Vec<(u32, u32)>,
    /// The four vertices of two adjacent triangles, and the triangles' dihedral angle in the bind pose, radians.
    hinges: Vec<([u32; 4], f32)>,
    bind_volume: f64,
    bind_area: f64,
}

/// A boundary loop, given by the directed edges that would close it.
#[derive(Clone, Debug, Default)]
struct Fan {
    vertices: Vec<u32>,
    edges: Vec<(u32, u32)>,
}

/// Measurements of a pose relative to the bind shape.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct MeasureReport {
    /// Signed volume divided by the volume of the bind shape; `None` if the bind shape is a sheet without volume.
    pub volume_ratio: Option<f64>,
    /// Area divided by the area of the bind shape; `None` if the bind shape has no area.
    pub area_ratio: Option<f64>,
    /// Largest relative change of length, `|l / l0 - 1|`, over all edges.
    pub stretch_max: f32,
    /// Mean relative change of length, `|l / l0 - 1|`, over all edges.
    pub stretch_mean: f32,
    /// Number of edges folded by more than [`FOLD`].
    pub folded_edges: usize,
}

impl Measure {
    /// Prepares the comparison of poses with a character's bind shape.
    pub fn new(control: &ControlMesh) -> Self {
        let soft = |t: &&[u32; 3]| !t.iter().any(|&v| control.rigid[v as usize]);
        let triangles: Vec<[u32; 3]> = control.triangles.iter().filter(soft).copied().collect();
        Self::of_mesh(&control.positions, triangles)
    }

    /// Prepares the comparison of poses with the bind shape of any mesh.
    pub fn of_mesh(bind: &[Vec3], triangles: Vec<[u32; 3]>) -> Self {
        let triangles: Vec<[u32; 3]> =
            triangles.into_iter().filter(|t| t[0] != t[1] && t[1] != t[2] && t[2] != t[0]).collect();
        let halves = sorted_half_edges(&triangles);
        let mean = mean_edge(bind, &triangles);
        let edges = Adjacency::of_triangles(bind.len(), &triangles);
        // Edges of slivers are excluded: their relative stretch is noise.
        let long = |&(a, b): &(u32, u32)| bind[a as usize].distance(bind[b as usize]) > 1e-4 * mean;
        let mut out = Self {
            bind: bind.to_vec(),
            fans: fans(bind.len(), &halves),
            edges: edges.edges().filter(long).collect(),
            hinges: Vec::new(),
            triangles,
            bind_volume: 0.0,
            bind_area: 0.0,
        };
        out.hinges = hinges(&halves, &out.triangles)
            .into_iter()
            .filter_map(|h| dihedral(bind, h).map(|angle| (h, angle)))
            .collect();
        (out.bind_volume, out.bind_area) = (out.volume(bind), out.area(bind));
        out
    }

    /// Measures a pose. `positions` may be in any space, since rigid motions do not affect the result.
    pub fn report(&self, positions: &[Vec3]) -> MeasureReport {
        let size = f64::from(Aabb::of(self.bind.iter().copied()).diagonal());
        let solid = self.bind_volume.abs() > 1e-6 * size.powi(3) && size > 0.0;
        let (stretch_max, stretch_mean) = self.stretch(positions);
        MeasureReport {
            volume_ratio: solid.then(|| self.volume(positions) / self.bind_volume),
            area_ratio: (self.bind_area > 0.0).then(|| self.area(positions) / self.bind_area),
            stretch_max,
            stretch_mean,
            folded_edges: self.folded(positions).len(),
        }
    }

    /// Returns the signed volume, cubic metres, summed over all components of the mesh. It is positive if triangles
    /// are counter-clockwise seen from outside. Every boundary loop is closed by a fan around the mean of its
    /// vertices, so the result does not depend on the mesh's position.
    pub fn volume(&self, positions: &[Vec3]) -> f64 {
        let origin = Aabb::of(positions.iter().copied()).center().as_dvec3();
        let at = |v: u32| positions[v as usize].as_dvec3() - origin;
        let cone = |a: DVec3, b: DVec3, c: DVec3| a.dot(b.cross(c)) / 6.0;
        let surface: f64 = self.triangles.iter().map(|t| cone(at(t[0]), at(t[1]), at(t[2]))).sum();
        let lids = self.fans.iter().map(|fan| {
            let mean = fan.vertices.iter().map(|&v| at(v)).sum::<DVec3>() / fan.vertices.len() as f64;
            fan.edges.iter().map(|&(a, b)| cone(at(a), at(b), mean)).sum::<f64>()
        });
        surface + lids.sum::<f64>()
    }

    /// Returns the signed volume of the bind shape, cubic metres.
    pub fn bind_volume(&self) -> f64 {
        self.bind_volume
    }

    /// Returns the area, square metres, without the fans that close boundary loops.
    pub fn area(&self, positions: &[Vec3]) -> f64 {
        let corner = |v: u32| positions[v as usize].as_dvec3();
        let doubled = self.triangles.iter().map(|t| {
            let [a, b, c] = t.map(corner);
            (b - a).cross(c - a).length()
        });
        0.5 * doubled.sum::<f64>()
    }

    /// Returns the largest and the mean `|l / l0 - 1|` over all edges except edges of slivers; zero without edges.
    pub fn stretch(&self, positions: &[Vec3]) -> (f32, f32) {
        let length = |p: &[Vec3], (a, b): (u32, u32)| p[a as usize].distance(p[b as usize]);
        let stretches =
            self.edges.iter().map(|&e| (length(positions, e) / length(&self.bind, e) - 1.0).abs());
        let (max, sum) = stretches.fold((0.0f32, 0.0f64), |(m, s), x| (m.max(x), s + f64::from(x)));
        (max, (sum / self.edges.len().max(1) as f64) as f32)
    }

    /// Returns the edges whose signed dihedral angle differs from the bind pose by more than [`FOLD`]: local
    /// inversions, found without rotations. Only edges of exactly two consistently oriented triangles have such an
    /// angle.
    pub fn folded(&self, positions: &[Vec3]) -> Vec<(u32, u32)> {
        let folds =
            |h: &[u32; 4], bind: f32| dihedral(positions, *h).is_some_and(|a| (a - bind).abs() > FOLD);
        self.hinges.iter().filter(|(h, angle)| folds(h, *angle)).map(|(h, _)| (h[0], h[1])).collect()
    }
}

/// Returns the volume between a surface and the points to which its vertices are attached, cubic metres. Each triangle
/// and its three points bound a prism. The result is the sum of the prisms' volumes, each times its triangle's weight
/// (0..=1). For a closed surface whose points lie on one line, the result is the volume of the surface. Parts of a
/// surface need not be closed.
pub fn volume_under(x: &[Vec3], points: &[Vec3], triangles: impl Iterator<Item = ([u32; 3], f64)>) -> f64 {
    let cone = |o: DVec3, a: DVec3, b: DVec3, c: DVec3| (a - o).cross(b - o).dot(c - o) / 6.0;
    triangles
        .map(|(t, share)| {
            let top = t.map(|v| x[v as usize].as_dvec3());
            let base = t.map(|v| points[v as usize].as_dvec3());
            // The sides of a prism are not planar. The average over all cuts into tetrahedra makes neighbouring prisms
            // agree on their common side.
            let cut = |i: usize, j: usize, k: usize| {
                cone(base[k], top[i], top[j], top[k])
                    + cone(base[k], top[j], top[i], base[j])
                    + cone(base[k], base[j], top[i], base[i])
            };
            let turned = cut(0, 1, 2) + cut(1, 2, 0) + cut(2, 0, 1);
            let mirrored = cut(1, 0, 2) + cut(0, 2, 1) + cut(2, 1, 0);
            share * (turned - mirrored) / 6.0
        })
        .sum()
}

/// Measures how thin the thinnest part has become. A vertex's ratio is its distance to the nearest bone in the pose,
/// divided by the same distance in the bind pose. Returns the smallest ratio of all vertices, at most 1. A bone is
/// (head, tail); both lists of bones have the same order. Excludes vertices whose bind distance to a bone is at most
/// 1/1000 of the bind shape's bounding box diagonal. Returns 1 without vertices.
pub fn smallest_radius_ratio(
    bind: &[Vec3],
    posed: &[Vec3],
    bind_bones: &[(Vec3, Vec3)],
    posed_bones: &[(Vec3, Vec3)],
) -> f32 {
    let least = 1e-3 * Aabb::of(bind.iter().copied()).diagonal();
    let nearest = |x: Vec3, bones: &[(Vec3, Vec3)]| {
        bones.iter().map(|&(head, tail)| distance_to_segment(x, head, tail)).fold(f32::INFINITY, f32::min)
    };
    let pairs = bind.iter().zip(posed).map(|(&x0, &x)| (nearest(x0, bind_bones), nearest(x, posed_bones)));
    pairs
        .filter(|&(r0, r)| r0 > least && r.is_finite() && r0.is_finite())
        .map(|(r0, r)| r / r0)
        .fold(1.0, f32::min)
}

fn mean_edge(p: &[Vec3], triangles: &[[u32; 3]]) -> f32 {
    let sides = triangles.iter().flat_map(|t| [(t[0], t[1]), (t[1], t[2]), (t[2], t[0])]);
    let sum: f64 = sides.map(|(a, b)| f64::from(p[a as usize].distance(p[b as usize]))).sum();
    (sum / (3 * triangles.len()).max(1) as f64) as f32
}

/// Returns the unit normal; `None` if the area is negligible relative to the square of the longest side.
fn unit_normal(p: &[Vec3], t: &[u32; 3]) -> Option<Vec3> {
    let [a, b, c] = t.map(|v| p[v as usize].as_dvec3());
    let normal = (b - a).cross(c - a);
    let longest = (b - a).length_squared().max((c - a).length_squared()).max((c - b).length_squared());
    (normal.length() > 1e-6 * longest).then(|| normal.normalize().as_vec3())
}

/// A side of a triangle: its two vertices in ascending order, whether the triangle traverses the side in the reverse
/// order, and the triangle's index.
type HalfEdge = (u32, u32, bool, u32);

fn sorted_half_edges(triangles: &[[u32; 3]]) -> Vec<HalfEdge> {
    let mut halves: Vec<HalfEdge> = triangles
        .iter()
        .enumerate()
        .flat_map(|(i, t)| {
            [(t[0], t[1]), (t[1], t[2]), (t[2], t[0])].map(|(a, b)| (a.min(b), a.max(b), a > b, i as u32))
        })
        .collect();
    halves.sort_unstable();
    halves
}

/// Groups the half-edges by their vertex pair.
fn by_edge(halves: &[HalfEdge]) -> impl Iterator<Item = &[HalfEdge]> {
    halves.chunk_by(|x, y| (x.0, x.1) == (y.0, y.1))
}

/// Finds the boundary loops: edges that are traversed more often in one direction than in the other.
fn fans(vertices: usize, halves: &[HalfEdge]) -> Vec<Fan> {
    let mut lacking = Vec::new();
    for run in by_edge(halves) {
        let down = run.iter().filter(|h| h.2).count();
        let up = run.len() - down;
        let (a, b) = (run[0].0, run[0].1);
        // An edge with surplus traversals in one direction lacks the same number of traversals in the opposite
        // direction.
        lacking.extend(std::iter::repeat_n((b, a), up.saturating_sub(down)));
        lacking.extend(std::iter::repeat_n((a, b), down.saturating_sub(up)));
    }
    let mut above = apart(vertices);
    for &(a, b) in &lacking {
        unite(&mut above, a, b);
    }
    let mut fan_of = vec![u32::MAX; vertices];
    let mut out: Vec<Fan> = Vec::new();
    for (a, b) in lacking {
        let root = root(&mut above, a) as usize;
        if fan_of[root] == u32::MAX {
            fan_of[root] = out.len() as u32;
            out.push(Fan::default());
        }
        let fan = &mut out[fan_of[root] as usize];
        fan.vertices.extend([a, b]);
        fan.edges.push((a, b));
    }
    for fan in &mut out {
        fan.vertices.sort_unstable();
        fan.vertices.dedup();
    }
    out
}

/// Closes every boundary loop of a mesh by a fan of triangles around the loop's first vertex; returns the fans.
pub fn lids(vertices: usize, triangles: &[[u32; 3]]) -> Vec<[u32; 3]> {
    let whole: Vec<[u32; 3]> =
        triangles.iter().filter(|t| t[0] != t[1] && t[1] != t[2] && t[2] != t[0]).copied().collect();
    let fan = |fan: Fan| {
        let first = fan.vertices[0];
        fan.edges.into_iter().filter(move |&(a, b)| a != first && b != first).map(move |(a, b)| [a, b, first])
    };
    fans(vertices, &sorted_half_edges(&whole)).into_iter().flat_map(fan).collect()
}

/// Returns `[a, b, left, right]` for each edge of exactly two triangles that traverse it in opposite directions.
/// Triangle `a b left` traverses the edge from `a` to `b`, where `a < b`.
fn hinges(halves: &[HalfEdge], triangles: &[[u32; 3]]) -> Vec<[u32; 4]> {
    let opposite = |h: &HalfEdge| {
        let t = &triangles[h.3 as usize];
        t.iter().copied().find(|&v| v != h.0 && v != h.1)
    };
    let hinge = |run: &[HalfEdge]| match run {
        [up, down] if !up.2 && down.2 => Some([up.0, up.1, opposite(up)?, opposite(down)?]),
        _ => None,
    };
    by_edge(halves).filter_map(hinge).collect()
}

/// Returns the signed angle between the normals of two adjacent triangles about their edge, radians, -π..=π.
fn dihedral(p: &[Vec3], [a, b, left, right]: [u32; 4]) -> Option<f32> {
    let n = unit_normal(p, &[a, b, left])?;
    let m = unit_normal(p, &[b, a, right])?;
    let edge = (p[b as usize] - p[a as usize]).try_normalize()?;
    Some(n.cross(m).dot(edge).atan2(n.dot(m)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Creates a unit cube with outward normals.
    fn cube() -> (Vec<Vec3>, Vec<[u32; 3]>) {
        let p = (0..8).map(|i| Vec3::new((i & 1) as f32, (i >> 1 & 1) as f32, (i >> 2) as f32)).collect();
        let quads = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
        (p, quads.iter().flat_map(|q| [[q[0], q[1], q[2]], [q[0], q[2], q[3]]]).collect())
    }

    #[test]
    fn a_cube_scaled_and_moved() {
        let (p, t) = cube();
        let m = Measure::of_mesh(&p, t);
        assert!((m.volume(&p) - 1.0).abs() < 1e-9 && (m.area(&p) - 6.0).abs() < 1e-9);
        let moved: Vec<Vec3> = p.iter().map(|&x| x * Vec3::new(2.0, 1.0, 1.0) + Vec3::splat(100.0)).collect();
        let r = m.report(&moved);
        assert!((r.volume_ratio.unwrap() - 2.0).abs() < 1e-4);
        assert!((r.area_ratio.unwrap() - 10.0 / 6.0).abs() < 1e-4);
        assert!((r.stretch_max - 1.0).abs() < 1e-4 && r.stretch_mean > 0.2);
        assert_eq!(r.folded_edges, 0);
    }

    #[test]
    fn an_open_box_has_its_lid_wherever_it_is() {
        let (p, mut t) = cube();
        t.truncate(10);
        let m = Measure::of_mesh(&p, t);
        let far: Vec<Vec3> = p.iter().map(|&x| x + Vec3::new(30.0, -5.0, 2.0)).collect();
        assert!((m.volume(&p) - 1.0).abs() < 1e-9 && (m.volume(&far) - 1.0).abs() < 1e-4);
        assert!((m.area(&p) - 5.0).abs() < 1e-9);
        let (_, mut t) = cube();
        t.truncate(10);
        t.extend(lids(p.len(), &t));
        let closed = Measure::of_mesh(&p, t);
        assert!(closed.fans.is_empty() && (closed.volume(&p) - 1.0).abs() < 1e-9);
    }

    /// Creates a tube of radius 1 along y, without ends. Returns vertices, points on its axis, and triangles.
    fn tube(rings: u32, segments: u32) -> (Vec<Vec3>, Vec<Vec3>, Vec<[u32; 3]>) {
        let at = |k: u32| (k / segments, (k % segments) as f32 * 2.0 * PI / segments as f32);
        let points: Vec<Vec3> = (0..rings * segments).map(|k| Vec3::Y * at(k).0 as f32).collect();
        let x =
            (0..rings * segments).map(|k| points[k as usize] + Vec3::new(at(k).1.cos(), 0.0, at(k).1.sin()));
        let quad = |k: u32| {
            let (r, s) = (k / segments, k % segments);
            let v = |r: u32, s: u32| r * segments + s % segments;
            [[v(r, s), v(r + 1, s), v(r + 1, s + 1)], [v(r, s), v(r + 1, s + 1), v(r, s + 1)]]
        };
        let triangles = (0..(rings - 1) * segments).flat_map(quad).collect();
        (x.collect(), points, triangles)
    }

    #[test]
    fn the_volume_under_a_part_of_a_tube_is_its_part() {
        let (x, points, triangles) = tube(5, 64);
        let under =
            |part: &[[u32; 3]], share: f64| volume_under(&x, &points, part.iter().map(|t| (*t, share)));
        let exact = f64::from(PI) * 4.0;
        assert!((under(&triangles, 1.0) / exact - 1.0).abs() < 2e-3, "{}", under(&triangles, 1.0));
        assert!((under(&triangles, 0.25) - 0.25 * under(&triangles, 1.0)).abs() < 1e-9);
        // One sixteenth of the circumference along the whole tube; its cut sides are not closed.
        let slice: Vec<[u32; 3]> = triangles.chunks(2 * 64).flat_map(|ring| ring[..8].to_vec()).collect();
        assert!((under(&slice, 1.0) / exact - 1.0 / 16.0).abs() < 2e-3);
        let moved: Vec<Vec3> = x.iter().map(|x| *x + Vec3::splat(50.0)).collect();
        let along: Vec<Vec3> = points.iter().map(|x| *x + Vec3::splat(50.0)).collect();
        let there = volume_under(&moved, &along, triangles.iter().map(|t| (*t, 1.0)));
        assert!((there - under(&triangles, 1.0)).abs() < 1e-3);
    }

    #[test]
    fn a_rotation_keeps_the_volume_and_a_mirror_reverses_it() {
        let (p, t) = cube();
        let m = Measure::of_mesh(&p, t);
        let q = crate::base::math::Quat::from_axis_angle(Vec3::new(1.0, 2.0, 3.0).normalize(), 3.0);
        let turned: Vec<Vec3> = p.iter().map(|&x| q * x).collect();
        assert!((m.report(&turned).volume_ratio.unwrap() - 1.0).abs() < 1e-6);
        let mirrored: Vec<Vec3> = p.iter().map(|&x| x * Vec3::new(-1.0, 1.0, 1.0)).collect();
        assert!((m.report(&mirrored).volume_ratio.unwrap() + 1.0).abs() < 1e-6);
    }

    #[test]
    fn a_vertex_pulled_through_a_sheet_folds_it() {
        let p = [Vec3::ZERO, Vec3::X, Vec3::new(0.5, 1.0, 0.0), Vec3::new(0.5, -1.0, 0.0)];
        let m = Measure::of_mesh(&p, vec![[0, 1, 2], [1, 0, 3]]);
        assert_eq!(m.report(&p).volume_ratio, None);
        let mut folded = p;
        folded[3] = Vec3::new(0.5, 1.0, 0.1);
        assert_eq!(m.folded(&folded), [(0, 1)]);
        folded[3] = Vec3::new(0.5, 0.0, 1.0);
        assert!(m.folded(&folded).is_empty(), "a right angle is no fold");
    }

    #[test]
    fn degenerate_input_is_finite() {
        let p = [Vec3::ZERO; 4];
        let m = Measure::of_mesh(&p, vec![[0, 1, 2], [0, 0, 1], [1, 2, 3]]);
        let r = m.report(&p);
        let expected = MeasureReport {
            volume_ratio: None,
            area_ratio: None,
            stretch_max: 0.0,
            stretch_mean: 0.0,
            folded_edges: 0,
        };
        assert_eq!(r, expected);
        assert_eq!(smallest_radius_ratio(&[], &[], &[], &[]), 1.0);
    }

    #[test]
    fn a_pinched_ring_is_found() {
        let bone = (Vec3::ZERO, Vec3::Y);
        let bind = [Vec3::new(0.1, 0.2, 0.0), Vec3::new(0.1, 0.8, 0.0), Vec3::new(0.0, 0.5, 0.0)];
        let posed = [bind[0], bind[1] * Vec3::new(0.3, 1.0, 1.0), bind[2]];
        let ratio = smallest_radius_ratio(&bind, &posed, &[bone], &[bone]);
        assert!((ratio - 0.3).abs() < 1e-5, "{ratio}");
    }
}
