//! Measurements of a deformed mesh: volume, area, edge stretch, inverted triangles.

use super::sets::{apart, root, unite};
use super::{Adjacency, ControlMesh};
use crate::base::math::{Aabb, DVec3, Quat, Vec3};
use std::f32::consts::PI;

/// Angle difference above which an edge counts as folded: its dihedral angle in the pose against bind, radians.
pub const FOLD: f32 = 150.0 / 180.0 * PI;

/// Compares poses of one mesh with its bind shape. Built once; props (rigid vertices) are excluded.
#[derive(Clone, Debug)]
pub struct Measure {
    bind: Vec<Vec3>,
    triangles: Vec<[u32; 3]>,
    /// Lids of the boundaries: see [`Measure::volume`].
    fans: Vec<Fan>,
    edges: Vec<(u32, u32)>,
    /// The vertices of two triangles each, and the angle between these in bind.
    hinges: Vec<([u32; 4], f32)>,
    bind_volume: f64,
    bind_area: f64,
}

/// A boundary loop, as the directed edges that its triangles lack.
#[derive(Clone, Debug, Default)]
struct Fan {
    vertices: Vec<u32>,
    edges: Vec<(u32, u32)>,
}

/// Measurements of a pose relative to the bind shape.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct MeasureReport {
    /// Signed volume over the bind shape's; `None` if that has hardly any (a sheet).
    pub volume_ratio: Option<f64>,
    /// Area over the bind shape's; `None` if that has none.
    pub area_ratio: Option<f64>,
    /// Largest `|l / l0 - 1|` over the edges.
    pub stretch_max: f32,
    /// Mean `|l / l0 - 1|` over the edges.
    pub stretch_mean: f32,
    /// Triangles inverted: see [`Measure::flipped`].
    pub flipped_triangles: usize,
    /// Number of edges folded by more than [`FOLD`].
    pub folded_edges: usize,
}

impl Measure {
    /// Prepares the comparison with a character's bind shape.
    pub fn new(control: &ControlMesh) -> Self {
        let soft = |t: &&[u32; 3]| !t.iter().any(|&v| control.rigid[v as usize]);
        let triangles: Vec<[u32; 3]> = control.triangles.iter().filter(soft).copied().collect();
        Self::of_mesh(&control.positions, triangles)
    }

    /// Prepares the comparison with any mesh.
    pub fn of_mesh(bind: &[Vec3], triangles: Vec<[u32; 3]>) -> Self {
        let triangles: Vec<[u32; 3]> =
            triangles.into_iter().filter(|t| t[0] != t[1] && t[1] != t[2] && t[2] != t[0]).collect();
        let halves = sorted_half_edges(&triangles);
        let mean = mean_edge(bind, &triangles);
        let edges = Adjacency::of_triangles(bind.len(), &triangles);
        // The length of a sliver's edge is noise.
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

    /// Measures a pose. `positions` may be in any space (rigid motions change nothing); `rotation` is per
    /// vertex from bind to that space, e.g. that of its bone.
    pub fn report(&self, positions: &[Vec3], rotation: &[Quat]) -> MeasureReport {
        let size = f64::from(Aabb::of(self.bind.iter().copied()).diagonal());
        let solid = self.bind_volume.abs() > 1e-6 * size.powi(3) && size > 0.0;
        let (stretch_max, stretch_mean) = self.stretch(positions);
        MeasureReport {
            volume_ratio: solid.then(|| self.volume(positions) / self.bind_volume),
            area_ratio: (self.bind_area > 0.0).then(|| self.area(positions) / self.bind_area),
            stretch_max,
            stretch_mean,
            flipped_triangles: self.flipped(positions, rotation).len(),
            folded_edges: self.folded(positions).len(),
        }
    }

    /// Signed volume, cubic metres: the sum over all components of the mesh, positive where triangles are
    /// counter-clockwise seen from outside. Every boundary loop is closed by a fan to the mean of its
    /// vertices, so that the result does not depend on the mesh's position.
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

    /// Signed volume of the bind shape, cubic metres.
    pub fn bind_volume(&self) -> f64 {
        self.bind_volume
    }

    /// Area, square metres; excludes lids of boundaries.
    pub fn area(&self, positions: &[Vec3]) -> f64 {
        let corner = |v: u32| positions[v as usize].as_dvec3();
        let doubled = self.triangles.iter().map(|t| {
            let [a, b, c] = t.map(corner);
            (b - a).cross(c - a).length()
        });
        0.5 * doubled.sum::<f64>()
    }

    /// Largest and mean `|l / l0 - 1|` over all edges except slivers'; zero without edges.
    pub fn stretch(&self, positions: &[Vec3]) -> (f32, f32) {
        let length = |p: &[Vec3], (a, b): (u32, u32)| p[a as usize].distance(p[b as usize]);
        let stretches =
            self.edges.iter().map(|&e| (length(positions, e) / length(&self.bind, e) - 1.0).abs());
        let (max, sum) = stretches.fold((0.0f32, 0.0f64), |(m, s), x| (m.max(x), s + f64::from(x)));
        (max, (sum / self.edges.len().max(1) as f64) as f32)
    }

    /// Indices of inverted triangles (among the non-degenerate ones): those whose posed normal opposes the bind
    /// normal turned along, `n' · R n0 < 0`, `R` being the mean of its vertices' rotations. Triangles without area,
    /// in bind or in the pose, have no side and are not counted.
    pub fn flipped(&self, positions: &[Vec3], rotation: &[Quat]) -> Vec<u32> {
        let flips = |t: &[u32; 3]| {
            let (before, after) = (unit_normal(&self.bind, t), unit_normal(positions, t));
            let turn = mean_rotation(t.map(|v| rotation[v as usize]));
            matches!((before, after), (Some(n0), Some(n)) if n.dot(turn * n0) < 0.0)
        };
        let indexed = self.triangles.iter().enumerate();
        indexed.filter(|(_, t)| flips(t)).map(|(i, _)| i as u32).collect()
    }

    /// Edges whose signed dihedral angle differs from that in bind by more than [`FOLD`]: local inversions, detected
    /// without any rotation. Only edges of exactly two consistently oriented triangles have an angle.
    pub fn folded(&self, positions: &[Vec3]) -> Vec<(u32, u32)> {
        let folds =
            |h: &[u32; 4], bind: f32| dihedral(positions, *h).is_some_and(|a| (a - bind).abs() > FOLD);
        self.hinges.iter().filter(|(h, angle)| folds(h, *angle)).map(|(h, _)| (h[0], h[1])).collect()
    }
}

/// Volume between a surface and the points that its vertices are attached to, cubic metres: for each triangle the prism
/// down to its three points, times its share (in 0..=1). If the points of a closed surface lie on one line, this is its
/// volume, and any part of the surface has its part of the volume without being closed.
pub fn volume_under(x: &[Vec3], points: &[Vec3], triangles: impl Iterator<Item = ([u32; 3], f64)>) -> f64 {
    let cone = |o: DVec3, a: DVec3, b: DVec3, c: DVec3| (a - o).cross(b - o).dot(c - o) / 6.0;
    triangles
        .map(|(t, share)| {
            let top = t.map(|v| x[v as usize].as_dvec3());
            let base = t.map(|v| points[v as usize].as_dvec3());
            // A prism's sides are bent: take the mean over all ways to cut it into tetrahedra, so that
            // neighbours agree.
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

/// Smallest ratio, over the vertices, of the distance to the nearest posed bone to the distance to the
/// nearest bone in bind: the thinning of the thinnest ring. Bones as (head, tail), in the same order.
/// Excludes vertices nearer to a bone than 1/1000 of the box's diagonal; 1 without any vertex.
pub fn smallest_radius_ratio(
    bind: &[Vec3],
    posed: &[Vec3],
    bind_bones: &[(Vec3, Vec3)],
    posed_bones: &[(Vec3, Vec3)],
) -> f32 {
    let least = 1e-3 * Aabb::of(bind.iter().copied()).diagonal();
    let nearest = |x: Vec3, bones: &[(Vec3, Vec3)]| {
        bones.iter().map(|&b| distance_to_segment(x, b)).fold(f32::INFINITY, f32::min)
    };
    let pairs = bind.iter().zip(posed).map(|(&x0, &x)| (nearest(x0, bind_bones), nearest(x, posed_bones)));
    pairs
        .filter(|&(r0, r)| r0 > least && r.is_finite() && r0.is_finite())
        .map(|(r0, r)| r / r0)
        .fold(1.0, f32::min)
}

fn distance_to_segment(x: Vec3, (head, tail): (Vec3, Vec3)) -> f32 {
    let along = tail - head;
    let t = (x - head).dot(along) / along.length_squared();
    x.distance(head + along * if t.is_finite() { t.clamp(0.0, 1.0) } else { 0.0 })
}

fn mean_edge(p: &[Vec3], triangles: &[[u32; 3]]) -> f32 {
    let sides = triangles.iter().flat_map(|t| [(t[0], t[1]), (t[1], t[2]), (t[2], t[0])]);
    let sum: f64 = sides.map(|(a, b)| f64::from(p[a as usize].distance(p[b as usize]))).sum();
    (sum / (3 * triangles.len()).max(1) as f64) as f32
}

/// Unit normal; `None` without area (relative to the triangle's own longest side).
fn unit_normal(p: &[Vec3], t: &[u32; 3]) -> Option<Vec3> {
    let [a, b, c] = t.map(|v| p[v as usize].as_dvec3());
    let normal = (b - a).cross(c - a);
    let longest = (b - a).length_squared().max((c - a).length_squared()).max((c - b).length_squared());
    (normal.length() > 1e-6 * longest).then(|| normal.normalize().as_vec3())
}

fn mean_rotation(q: [Quat; 3]) -> Quat {
    let sum = q.iter().fold(q[0] * 0.0, |sum, r| sum + if r.dot(q[0]) < 0.0 { -*r } else { *r });
    if sum.length_squared() > 1e-12 { sum.normalize() } else { q[0] }
}

/// A side of a triangle: its vertices in ascending order, whether the triangle traverses it downwards, the triangle.
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

/// Runs of half-edges over the same two vertices.
fn by_edge(halves: &[HalfEdge]) -> impl Iterator<Item = &[HalfEdge]> {
    halves.chunk_by(|x, y| (x.0, x.1) == (y.0, y.1))
}

/// The boundary loops: directed edges that are traversed more often in one direction than in the other.
fn fans(vertices: usize, halves: &[HalfEdge]) -> Vec<Fan> {
    let mut lacking = Vec::new();
    for run in by_edge(halves) {
        let down = run.iter().filter(|h| h.2).count();
        let up = run.len() - down;
        let (a, b) = (run[0].0, run[0].1);
        // More upward traversals: the lid goes downwards.
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

/// Triangles that close a mesh's boundary loops, each a fan around the loop's first vertex; `None` if it is closed.
pub fn lids(vertices: usize, triangles: &[[u32; 3]]) -> Vec<[u32; 3]> {
    let whole: Vec<[u32; 3]> =
        triangles.iter().filter(|t| t[0] != t[1] && t[1] != t[2] && t[2] != t[0]).copied().collect();
    let fan = |fan: Fan| {
        let first = fan.vertices[0];
        fan.edges.into_iter().filter(move |&(a, b)| a != first && b != first).map(move |(a, b)| [a, b, first])
    };
    fans(vertices, &sorted_half_edges(&whole)).into_iter().flat_map(fan).collect()
}

/// For each edge of exactly two triangles that traverse it in opposite directions: `[a, b, left, right]`,
/// where the triangle `a b left` traverses it upwards.
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

/// Signed angle from one triangle's normal to the other's about their edge, radians in -pi..=pi, 0 if flat.
fn dihedral(p: &[Vec3], [a, b, left, right]: [u32; 4]) -> Option<f32> {
    let n = unit_normal(p, &[a, b, left])?;
    let m = unit_normal(p, &[b, a, right])?;
    let edge = (p[b as usize] - p[a as usize]).try_normalize()?;
    Some(n.cross(m).dot(edge).atan2(n.dot(m)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A unit cube with outward normals.
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
        let r = m.report(&moved, &[Quat::IDENTITY; 8]);
        assert!((r.volume_ratio.unwrap() - 2.0).abs() < 1e-4);
        assert!((r.area_ratio.unwrap() - 10.0 / 6.0).abs() < 1e-4);
        assert!((r.stretch_max - 1.0).abs() < 1e-4 && r.stretch_mean > 0.2);
        assert_eq!((r.flipped_triangles, r.folded_edges), (0, 0));
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

    /// A tube of radius 1 along y, without ends: vertices, points on its axis, triangles.
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
        // A sixteenth all along, without lids at its cut sides.
        let slice: Vec<[u32; 3]> = triangles.chunks(2 * 64).flat_map(|ring| ring[..8].to_vec()).collect();
        assert!((under(&slice, 1.0) / exact - 1.0 / 16.0).abs() < 2e-3);
        let moved: Vec<Vec3> = x.iter().map(|x| *x + Vec3::splat(50.0)).collect();
        let along: Vec<Vec3> = points.iter().map(|x| *x + Vec3::splat(50.0)).collect();
        let there = volume_under(&moved, &along, triangles.iter().map(|t| (*t, 1.0)));
        assert!((there - under(&triangles, 1.0)).abs() < 1e-3);
    }

    #[test]
    fn turned_is_not_flipped_and_mirrored_is() {
        let (p, t) = cube();
        let m = Measure::of_mesh(&p, t);
        let q = Quat::from_axis_angle(Vec3::new(1.0, 2.0, 3.0).normalize(), 3.0);
        let turned: Vec<Vec3> = p.iter().map(|&x| q * x).collect();
        assert!(m.flipped(&turned, &[q; 8]).is_empty());
        // The same rotation with the other sign of its quaternion.
        assert!(m.flipped(&turned, &[q, -q, q, -q, q, -q, q, -q]).is_empty());
        let mirrored: Vec<Vec3> = p.iter().map(|&x| x * Vec3::new(-1.0, 1.0, 1.0)).collect();
        let report = m.report(&mirrored, &[Quat::IDENTITY; 8]);
        assert!((report.volume_ratio.unwrap() + 1.0).abs() < 1e-6);
        // All faces except the two across the mirror's axis, which exchange places.
        assert_eq!(report.flipped_triangles, 8);
    }

    #[test]
    fn a_vertex_pulled_through_a_sheet_folds_it() {
        let p = [Vec3::ZERO, Vec3::X, Vec3::new(0.5, 1.0, 0.0), Vec3::new(0.5, -1.0, 0.0)];
        let m = Measure::of_mesh(&p, vec![[0, 1, 2], [1, 0, 3]]);
        assert_eq!(m.report(&p, &[Quat::IDENTITY; 4]).volume_ratio, None);
        let mut folded = p;
        folded[3] = Vec3::new(0.5, 1.0, 0.1);
        assert_eq!(m.folded(&folded), [(0, 1)]);
        assert_eq!(m.flipped(&folded, &[Quat::IDENTITY; 4]), [1]);
        folded[3] = Vec3::new(0.5, 0.0, 1.0);
        assert!(m.folded(&folded).is_empty(), "a right angle is no fold");
    }

    #[test]
    fn degenerate_input_is_finite() {
        let p = [Vec3::ZERO; 4];
        let m = Measure::of_mesh(&p, vec![[0, 1, 2], [0, 0, 1], [1, 2, 3]]);
        let r = m.report(&p, &[Quat::IDENTITY; 4]);
        let expected = MeasureReport {
            volume_ratio: None,
            area_ratio: None,
            stretch_max: 0.0,
            stretch_mean: 0.0,
            flipped_triangles: 0,
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
