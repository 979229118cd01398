//! Checks a cage before it deforms a character. The cage must be closed and oriented, must not cross itself, and must
//! surround the skin.
//!
//! The predicates are exact (Shewchuk, "Adaptive precision floating-point arithmetic and fast robust geometric
//! predicates", 1997). A point's winding number is the sum of the signed crossings of a vertical ray with the faces.
//! For a closed mesh, this sum is the generalised winding number (Jacobson, Kavan, Sorkine-Hornung, "Robust
//! inside-outside segmentation using generalized winding numbers", 2013), but without rounding errors. Messages count
//! vertices and faces from 0.

use super::{CageMesh, MAX_VERTICES};
use crate::base::math::{DVec3, Vec3};
use crate::base::{Error, Result};
use obvhs::BvhBuildParams;
use obvhs::aabb::Aabb;
use obvhs::bvh2::Bvh2;
use obvhs::bvh2::builder::build_bvh2;
use rayon::prelude::*;
use robust::{Coord, Coord3D, orient2d, orient3d};
use std::collections::HashMap;
use std::time::Duration;

/// Largest fraction of the skin's vertices that may lie outside the cage. Mean value coordinates exist outside the
/// cage, but their negative values become large there.
pub const MOST_OUTSIDE: f64 = 0.05;
/// Largest absolute value of a coordinate, metres. The faces' bounding boxes are stored in `f32`.
const LARGEST: f64 = 1e12;
/// A triangle has no area if its height is less than this fraction of its longest edge.
const THIN: f64 = 1e-9;
/// A part has no volume if its volume is less than this fraction of the cube of its diagonal.
const FLAT: f64 = 1e-9;

/// Facts about a cage that [`check`] accepts.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct CageReport {
    /// Number of vertices.
    pub vertices: usize,
    /// Number of faces.
    pub faces: usize,
    /// Skin vertices outside of the cage, ascending.
    pub outside: Vec<u32>,
    /// Largest distance from a skin vertex in `outside` to the cage, as a fraction of the cage's diagonal; 0 if
    /// `outside` is empty.
    pub farthest: f64,
    /// Whether the faces of the mesh point inwards; [`oriented`] repairs this.
    pub turned_over: bool,
    /// Smallest distance from a skin vertex to the cage, as a fraction of the cage's diagonal; 0 without skin vertices.
    pub clearance: f64,
}

impl CageReport {
    /// Describes what the user should know about an accepted cage; `None` if nothing is unusual.
    pub fn warning(&self) -> Option<String> {
        let turned =
            self.turned_over.then(|| "the cage was inside out; its faces are now reversed".to_owned());
        let outside = (!self.outside.is_empty()).then(|| {
            format!(
                "{} skin vertices lie outside the cage, up to {:.2} % of its size; mean value coordinates are \
                 negative there",
                self.outside.len(),
                100.0 * self.farthest
            )
        });
        let parts: Vec<String> = turned.into_iter().chain(outside).collect();
        (!parts.is_empty()).then(|| parts.join("; "))
    }
}

/// Checks a cage against the bind positions of the skin, both in bind space, metres. `skin` may be empty.
///
/// # Errors
/// [`Error::Input`] if the cage has fewer than 4 or more than [`MAX_VERTICES`] vertices, an invalid face, a number that
/// is not finite, an edge without exactly two faces, faces of different orientation, two vertices at the same position,
/// no volume, or faces that cross; or if more than 5 % of the skin's vertices lie outside. The message names the
/// element.
pub fn check(mesh: &CageMesh, skin: &[Vec3]) -> Result<CageReport> {
    numbers(mesh)?;
    faces(mesh)?;
    closed(mesh)?;
    distinct(mesh)?;
    let surface = Surface::new(mesh);
    let turned_over = direction(mesh, &surface)? < 0.0;
    if let Some([a, b]) = surface.crossing() {
        let (fa, fb) = (surface.face[a], surface.face[b]);
        let problem = if fa == fb {
            format!("cage: face {fa} is folded")
        } else {
            format!("cage: faces {fa} {:?} and {fb} {:?} cross or touch", mesh.faces[fa], mesh.faces[fb])
        };
        let remedy =
            "in a modelling program, move their vertices apart, or divide folded quads into triangles";
        return Err(Error::input(problem, remedy));
    }
    let skin: Vec<DVec3> = skin.iter().map(|x| x.as_dvec3()).collect();
    let sign = if turned_over { -1 } else { 1 };
    let inside = |x: &DVec3| surface.winding(*x) * sign > 0 || surface.is_on(*x);
    let out = |(v, x): (usize, &DVec3)| (!inside(x)).then_some(v as u32);
    let outside: Vec<u32> = skin.par_iter().enumerate().filter_map(out).collect();
    let far = |v: &u32| (surface.distance(skin[*v as usize], f64::INFINITY), *v);
    let farther = |a: (f64, u32), b: (f64, u32)| if (b.0, a.1) > (a.0, b.1) { b } else { a };
    let farthest = outside.par_iter().map(far).reduce(|| (0.0, u32::MAX), farther);
    let report = CageReport {
        vertices: mesh.positions.len(),
        faces: mesh.faces.len(),
        farthest: farthest.0 / surface.diagonal,
        turned_over,
        clearance: surface.clearance(&skin) / surface.diagonal,
        outside,
    };
    if report.outside.len() as f64 > MOST_OUTSIDE * skin.len() as f64 {
        let problem = format!(
            "cage: {} of {} skin vertices lie outside; skin vertex {} is the farthest, by {:.1} % of the cage's size",
            report.outside.len(),
            skin.len(),
            farthest.1,
            100.0 * report.farthest
        );
        let remedy =
            "use a cage made for this character, with the same unit and position, or enlarge the cage";
        return Err(Error::input(problem, remedy));
    }
    Ok(report)
}

/// Reverses the faces of a cage if they point inwards, which makes the volume negative. Returns the cage and whether
/// its faces were reversed. Faces with an index out of range do not count in the volume.
pub fn oriented(mesh: &CageMesh) -> (CageMesh, bool) {
    let valid = |t: &[u32; 3]| t.iter().all(|&v| (v as usize) < mesh.positions.len());
    let middle = mesh.positions.iter().sum::<DVec3>() / mesh.positions.len().max(1) as f64;
    let volume = |t: [u32; 3]| {
        let [a, b, c] = t.map(|v| mesh.positions[v as usize] - middle);
        a.dot(b.cross(c))
    };
    let turned_over = mesh.triangles().filter(valid).map(volume).sum::<f64>() < 0.0;
    let mut out = mesh.clone();
    if turned_over {
        out.faces.iter_mut().for_each(|face| face.reverse());
    }
    (out, turned_over)
}

/// Checks the number of vertices and their coordinates.
fn numbers(mesh: &CageMesh) -> Result<()> {
    let count = mesh.positions.len();
    let size = "a cage has 8 to a few hundred vertices";
    if count < 4 {
        let problem = format!("cage: {count} vertices cannot enclose anything");
        return Err(Error::input(problem, format!("{size}: choose another mesh, or make a cage")));
    }
    if count > MAX_VERTICES {
        let problem = format!("cage: {count} vertices are more than {MAX_VERTICES}");
        let remedy =
            format!("{size}: simplify the mesh, or make a cage; do not choose the character's own mesh");
        return Err(Error::input(problem, remedy));
    }
    let broken = |x: &DVec3| !x.is_finite() || x.abs().max_element() > LARGEST;
    if let Some(v) = mesh.positions.iter().position(broken) {
        let problem = format!("cage: vertex {v} has a coordinate that is not finite or too large");
        return Err(Error::input(problem, "export the cage again"));
    }
    Ok(())
}

/// Checks each face, and that each vertex belongs to a face.
fn faces(mesh: &CageMesh) -> Result<()> {
    let count = mesh.positions.len();
    let mut used = vec![false; count];
    for (f, face) in mesh.faces.iter().enumerate() {
        let wrong = |problem: String, remedy: &str| Error::input(format!("cage: face {f} {problem}"), remedy);
        if !(3..=4).contains(&face.len()) {
            let problem = format!("has {} corners", face.len());
            return Err(wrong(problem, "divide the face into triangles or quads"));
        }
        if let Some(v) = face.iter().find(|v| **v as usize >= count) {
            let problem = format!("names vertex {v}, but the cage has {count} vertices");
            return Err(wrong(problem, "export the cage again"));
        }
        if let Some(v) = (1..face.len()).find(|&k| face[..k].contains(&face[k])) {
            let problem = format!("has vertex {} twice", face[v]);
            return Err(wrong(problem, "make the face a triangle, or remove the face"));
        }
        face.iter().for_each(|v| used[*v as usize] = true);
        for k in 2..face.len() {
            let [a, b, c] = [face[0], face[k - 1], face[k]].map(|v| mesh.positions[v as usize]);
            let longest =
                (b - a).length_squared().max((c - b).length_squared()).max((a - c).length_squared());
            let coincide = a == b || b == c || c == a;
            // [`distinct`] reports equal positions with a message of its own.
            if (b - a).cross(c - a).length() <= THIN * longest && !coincide {
                let problem = "has three corners in a line".to_owned();
                return Err(wrong(problem, "move a corner, or merge the face with its neighbour"));
            }
        }
    }
    match used.iter().position(|used| !used) {
        Some(v) => {
            Err(Error::input(format!("cage: vertex {v} belongs to no face"), "delete vertices without faces"))
        }
        None => Ok(()),
    }
}

/// Checks that each edge has two faces, which run through it in opposite directions.
fn closed(mesh: &CageMesh) -> Result<()> {
    let mut edges: Vec<([u32; 2], bool, usize)> = Vec::with_capacity(4 * mesh.faces.len());
    for (f, face) in mesh.faces.iter().enumerate() {
        let next = face.iter().cycle().skip(1);
        edges.extend(face.iter().zip(next).map(|(&a, &b)| ([a.min(b), a.max(b)], a < b, f)));
    }
    edges.sort_unstable();
    for same in edges.chunk_by(|a, b| a.0 == b.0) {
        let [a, b] = same[0].0;
        match same {
            [first, second] if first.1 != second.1 => {}
            [first, second] => {
                let problem = format!(
                    "cage: faces {} and {} at the edge of vertices {a} and {b} point to different sides",
                    first.2, second.2
                );
                return Err(Error::input(problem, "make the normals consistent in a modelling program"));
            }
            _ => {
                let faces =
                    if same.len() == 1 { "1 face".to_owned() } else { format!("{} faces", same.len()) };
                let problem = format!(
                    "cage: the edge of vertices {a} and {b} has {faces} instead of 2: the cage is not closed"
                );
                return Err(Error::input(
                    problem,
                    "close the holes, remove inner faces and merge doubled vertices",
                ));
            }
        }
    }
    Ok(())
}

/// Checks that no two vertices have the same position.
fn distinct(mesh: &CageMesh) -> Result<()> {
    let mut first: HashMap<[u64; 3], usize> = HashMap::with_capacity(mesh.positions.len());
    for (v, x) in mesh.positions.iter().enumerate() {
        // Adding zero makes a negative zero positive.
        let key = x.to_array().map(|c| (c + 0.0).to_bits());
        if let Some(other) = first.insert(key, v) {
            let problem = format!("cage: vertices {other} and {v} have the same position");
            return Err(Error::input(problem, "merge them, or move one of them"));
        }
    }
    Ok(())
}

/// Returns the sign of the volume, which all parts of the cage must share.
fn direction(mesh: &CageMesh, surface: &Surface) -> Result<f64> {
    let mut above: Vec<u32> = (0..mesh.positions.len() as u32).collect();
    fn root(above: &mut [u32], mut v: u32) -> u32 {
        while above[v as usize] != v {
            above[v as usize] = above[above[v as usize] as usize];
            v = above[v as usize];
        }
        v
    }
    for [a, b] in mesh.edges() {
        let (a, b) = (root(&mut above, a), root(&mut above, b));
        above[a.max(b) as usize] = a.min(b);
    }
    // Per part: volume, low and high corner, first face.
    let mut parts: HashMap<u32, (f64, DVec3, DVec3, usize)> = HashMap::new();
    for (t, corners) in surface.triangles.iter().enumerate() {
        let part = root(&mut above, corners[0]);
        let x = surface.corners(t);
        let origin = mesh.positions[part as usize];
        let entry = parts.entry(part).or_insert((0.0, x[0], x[0], surface.face[t]));
        let [a, b, c] = x.map(|x| x - origin);
        entry.0 += a.dot(b.cross(c)) / 6.0;
        x.iter().for_each(|x| (entry.1, entry.2) = (entry.1.min(*x), entry.2.max(*x)));
    }
    let mut parts: Vec<_> = parts.into_values().collect();
    parts.sort_by_key(|part| part.3);
    let Some(first) = parts.first() else {
        return Err(Error::input("cage: there are no faces", "export the cage with its faces"));
    };
    let sign = first.0.signum();
    for (volume, low, high, face) in &parts {
        if volume.abs() <= FLAT * low.distance(*high).powi(3) {
            let problem = format!("cage: the part with face {face} has no volume");
            return Err(Error::input(problem, "use a cage that encloses the character"));
        }
        if volume.signum() != sign {
            let problem =
                format!("cage: the parts with the faces {face} and {} point to opposite sides", first.3);
            return Err(Error::input(problem, "reverse the faces of one part, or delete the part"));
        }
    }
    Ok(sign)
}

/// The triangles of a cage, and a bounding volume hierarchy over them.
pub(super) struct Surface {
    positions: Vec<DVec3>,
    /// Triangles; see [`CageMesh::triangles`].
    pub(super) triangles: Vec<[u32; 3]>,
    /// Face of each triangle.
    face: Vec<usize>,
    boxes: Vec<Aabb>,
    bvh: Bvh2,
    /// Diagonal of the bounding box, metres.
    pub(super) diagonal: f64,
}

impl Surface {
    /// Builds the hierarchy. The mesh must have valid faces and finite positions.
    pub(super) fn new(mesh: &CageMesh) -> Self {
        let triangles: Vec<[u32; 3]> = mesh.triangles().collect();
        let of = |(f, face): (usize, &Vec<u32>)| std::iter::repeat_n(f, face.len().saturating_sub(2));
        let face = mesh.faces.iter().enumerate().flat_map(of).collect();
        let boxes: Vec<Aabb> =
            triangles.iter().map(|t| bounds(&t.map(|v| mesh.positions[v as usize]))).collect();
        let bvh = build_bvh2(&boxes, BvhBuildParams::fast_build(), &mut Duration::default());
        let low = mesh.positions.iter().copied().fold(DVec3::INFINITY, DVec3::min);
        let high = mesh.positions.iter().copied().fold(DVec3::NEG_INFINITY, DVec3::max);
        let diagonal = low.distance(high).max(f64::MIN_POSITIVE);
        Self { positions: mesh.positions.clone(), triangles, face, boxes, bvh, diagonal }
    }

    fn corners(&self, t: usize) -> [DVec3; 3] {
        self.triangles[t].map(|v| self.positions[v as usize])
    }

    /// Calls `each` for every triangle whose box intersects `bounds`.
    pub(super) fn within(&self, bounds: Aabb, mut each: impl FnMut(usize)) {
        self.bvh.aabb_traverse(bounds, |bvh, node| {
            let node = &bvh.nodes[node as usize];
            let first = node.first_index as usize;
            let leaf = &bvh.primitive_indices[first..first + node.prim_count as usize];
            leaf.iter().for_each(|t| each(*t as usize));
            true
        });
    }

    /// Returns the first pair of triangles that cross, touch or lie folded onto each other.
    fn crossing(&self) -> Option<[usize; 2]> {
        let first = |a: usize| {
            let mut found: Option<usize> = None;
            self.within(self.boxes[a], |b| {
                if b > a && found.is_none_or(|f| b < f) && self.cross(a, b) {
                    found = Some(b);
                }
            });
            found.map(|b| [a, b])
        };
        (0..self.triangles.len()).into_par_iter().find_map_first(first)
    }

    fn cross(&self, a: usize, b: usize) -> bool {
        meet(&self.positions, self.triangles[a], self.triangles[b])
    }

    /// Whether a point lies on the surface. Exact.
    pub(super) fn is_on(&self, x: DVec3) -> bool {
        let mut on = false;
        self.within(bounds(&[x]), |t| on = on || segment_meets(x, x, self.corners(t)));
        on
    }

    /// Returns the winding number of the surface around a point that is not on the surface. Exact.
    pub(super) fn winding(&self, x: DVec3) -> i32 {
        let mut sum = 0;
        let Some(root) = self.bvh.nodes.first() else { return 0 };
        let mut ray = bounds(&[x]);
        ray.max.z = ray.max.z.max(root.aabb().max.z);
        self.within(ray, |t| {
            let [a, b, c] = self.corners(t);
            let turns = passes(x, a, b) + passes(x, b, c) + passes(x, c, a);
            if turns != 0 {
                // `turns` is 1 if the triangle is counter-clockwise seen from above, and -1 if it is clockwise. The
                // product is positive if the triangle lies above the point.
                let below = side([a, b, c], x) * f64::from(turns);
                sum += if below > 0.0 { turns } else { 0 };
            }
        });
        sum
    }

    /// Returns the distance from a point to the surface, but at most `limit`.
    pub(super) fn distance(&self, x: DVec3, limit: f64) -> f64 {
        let mut best = limit * limit;
        let mut stack = vec![(0.0f64, 0usize)];
        while let Some((near, node)) = stack.pop() {
            let node = &self.bvh.nodes[node];
            if near >= best {
                continue;
            }
            let first = node.first_index as usize;
            if node.is_leaf() {
                for &t in &self.bvh.primitive_indices[first..first + node.prim_count as usize] {
                    best = best.min(distance_squared(x, self.corners(t as usize)));
                }
            } else {
                let mut children = [first, first + 1].map(|c| (to_box(x, self.bvh.nodes[c].aabb()), c));
                if children[0].0 < children[1].0 {
                    children.swap(0, 1);
                }
                stack.extend(children);
            }
        }
        best.sqrt()
    }

    /// Returns the smallest distance from the points to the surface; 0 without points.
    fn clearance(&self, points: &[DVec3]) -> f64 {
        let least = |part: &[DVec3]| part.iter().fold(f64::INFINITY, |best, x| self.distance(*x, best));
        let found = points.par_chunks(1024).map(least).reduce(|| f64::INFINITY, f64::min);
        if found.is_finite() { found } else { 0.0 }
    }
}

/// Returns a box in `f32` that encloses the points.
pub(super) fn bounds(points: &[DVec3]) -> Aabb {
    let low = points.iter().copied().fold(DVec3::INFINITY, DVec3::min);
    let high = points.iter().copied().fold(DVec3::NEG_INFINITY, DVec3::max);
    let down = low.to_array().map(|c| (c as f32).next_down());
    let up = high.to_array().map(|c| (c as f32).next_up());
    Aabb::new(down.into(), up.into())
}

/// Returns a lower bound of the squared distance from a point to a box.
fn to_box(x: DVec3, bounds: &Aabb) -> f64 {
    let [low, high] = [bounds.min, bounds.max].map(|p| DVec3::new(p.x.into(), p.y.into(), p.z.into()));
    (low - x).max(x - high).max(DVec3::ZERO).length_squared()
}

/// Returns a positive number if `x` lies below the triangle, a negative number if it lies above, and 0 in the
/// triangle's plane. Below is the side from which the corners appear clockwise. The sign is exact.
pub(super) fn side([a, b, c]: [DVec3; 3], x: DVec3) -> f64 {
    let [a, b, c, d] = [a, b, c, x].map(|p| Coord3D { x: p.x, y: p.y, z: p.z });
    orient3d(a, b, c, d)
}

/// Returns the signed crossing of an edge with the ray from `x` along +x, both projected along z: 1 if the edge crosses
/// the ray upwards in y, -1 downwards, 0 if it does not cross. The sum over a triangle's edges is the winding number of
/// the triangle's projection. An edge gives opposite numbers to its two faces, so no vertical ray passes between them.
fn passes(x: DVec3, a: DVec3, b: DVec3) -> i32 {
    let up = a.y <= b.y;
    let (low, high) = if up { (a, b) } else { (b, a) };
    if !(low.y <= x.y && x.y < high.y) {
        return 0;
    }
    let [low, high, x] = [low, high, x].map(|p| Coord { x: p.x, y: p.y });
    match (orient2d(low, high, x) > 0.0, up) {
        (false, _) => 0,
        (true, true) => 1,
        (true, false) => -1,
    }
}

/// Whether two triangles of a mesh have a common point that is not on their common vertex or edge. Exact. The triangles
/// must not be degenerate.
pub(super) fn meet(positions: &[DVec3], a: [u32; 3], b: [u32; 3]) -> bool {
    let at = |t: [u32; 3]| t.map(|v| positions[v as usize]);
    // Rotates a triangle's vertices until corner `k` comes first.
    let turn = |t: [u32; 3], k: usize| [t[k], t[(k + 1) % 3], t[(k + 2) % 3]];
    let shared: Vec<usize> = (0..3).filter(|&k| b.contains(&a[k])).collect();
    match *shared {
        [] => triangles_meet(at(a), at(b)),
        [k] => {
            // If the triangles meet elsewhere, an edge opposite the common vertex meets the other triangle.
            let l = (0..3).find(|&l| b[l] == a[k]).unwrap_or(0);
            let ([_, a1, a2], [_, b1, b2]) = (at(turn(a, k)), at(turn(b, l)));
            segment_meets(a1, a2, at(b)) || segment_meets(b1, b2, at(a))
        }
        [k, l] => {
            // Triangles with a common edge overlap if they lie in one plane, on the same side of the edge.
            let (Some(ap), Some(bp)) =
                ((0..3).find(|i| *i != k && *i != l), b.iter().find(|v| !a.contains(v)))
            else {
                return true;
            };
            let [u, v, p, q] = [a[k], a[l], a[ap], *bp].map(|v| positions[v as usize]);
            side([u, v, p], q) == 0.0 && {
                let axis = widest([u, v, p]);
                let (sp, sq) = (turn_of(axis, u, v, p), turn_of(axis, u, v, q));
                sp * sq > 0.0
            }
        }
        _ => true,
    }
}

/// Whether two triangles have a common point. Exact.
pub(super) fn triangles_meet(a: [DVec3; 3], b: [DVec3; 3]) -> bool {
    // The plane of one triangle separates most pairs.
    let apart = |t: [DVec3; 3], of: [DVec3; 3]| {
        let h = of.map(|x| side(t, x));
        h.iter().all(|v| *v > 0.0) || h.iter().all(|v| *v < 0.0)
    };
    if apart(a, b) || apart(b, a) {
        return false;
    }
    let edges = |t: [DVec3; 3]| [(t[0], t[1]), (t[1], t[2]), (t[2], t[0])];
    edges(a).iter().any(|(p, q)| segment_meets(*p, *q, b))
        || edges(b).iter().any(|(p, q)| segment_meets(*p, *q, a))
}

/// Whether a segment and a triangle have a common point. Exact.
fn segment_meets(p: DVec3, q: DVec3, t: [DVec3; 3]) -> bool {
    let (low, high) = (side(t, p), side(t, q));
    if low * high > 0.0 || (low > 0.0 && high > 0.0) || (low < 0.0 && high < 0.0) {
        return false;
    }
    if low == 0.0 && high == 0.0 {
        return segment_meets_in_plane(p, q, t);
    }
    let sides = [[0, 1], [1, 2], [2, 0]].map(|[i, j]| side([p, q, t[i]], t[j]));
    sides.iter().all(|v| *v >= 0.0) || sides.iter().all(|v| *v <= 0.0)
}

/// Whether a segment in the plane of a triangle has a point in common with it.
fn segment_meets_in_plane(p: DVec3, q: DVec3, t: [DVec3; 3]) -> bool {
    let axis = widest(t);
    let turn = |a: DVec3, b: DVec3, c: DVec3| turn_of(axis, a, b, c);
    let inside = |x: DVec3| {
        let s = [turn(t[0], t[1], x), turn(t[1], t[2], x), turn(t[2], t[0], x)];
        s.iter().all(|v| *v >= 0.0) || s.iter().all(|v| *v <= 0.0)
    };
    let cross = |a: DVec3, b: DVec3| {
        let s = [turn(p, q, a), turn(p, q, b), turn(a, b, p), turn(a, b, q)]
            .map(|v| if v == 0.0 { 0 } else { v.signum() as i32 });
        s != [0; 4] && s[0] * s[1] <= 0 && s[2] * s[3] <= 0
    };
    inside(p) || inside(q) || cross(t[0], t[1]) || cross(t[1], t[2]) || cross(t[2], t[0])
}

/// Returns the axis along which the projection of a triangle has the largest area.
fn widest([a, b, c]: [DVec3; 3]) -> usize {
    let normal = (b - a).cross(c - a).abs().to_array();
    (0..3).fold(0, |best, k| if normal[k] > normal[best] { k } else { best })
}

/// Returns the orientation of three points, projected along an axis. Exact in its sign.
fn turn_of(axis: usize, a: DVec3, b: DVec3, c: DVec3) -> f64 {
    let [a, b, c] = [a, b, c].map(|p| Coord { x: p[(axis + 1) % 3], y: p[(axis + 2) % 3] });
    orient2d(a, b, c)
}

/// Returns the squared distance of a point to a triangle, after Ericson, *Real-Time Collision Detection*, 2004, 5.1.5.
pub(super) fn distance_squared(p: DVec3, [a, b, c]: [DVec3; 3]) -> f64 {
    let (ab, ac, ap) = (b - a, c - a, p - a);
    let (d1, d2) = (ab.dot(ap), ac.dot(ap));
    if d1 <= 0.0 && d2 <= 0.0 {
        return ap.length_squared();
    }
    let bp = p - b;
    let (d3, d4) = (ab.dot(bp), ac.dot(bp));
    if d3 >= 0.0 && d4 <= d3 {
        return bp.length_squared();
    }
    let vc = d1 * d4 - d3 * d2;
    if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
        return (ap - ab * (d1 / (d1 - d3).max(f64::MIN_POSITIVE))).length_squared();
    }
    let cp = p - c;
    let (d5, d6) = (ab.dot(cp), ac.dot(cp));
    if d6 >= 0.0 && d5 <= d6 {
        return cp.length_squared();
    }
    let vb = d5 * d2 - d1 * d6;
    if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        return (ap - ac * (d2 / (d2 - d6).max(f64::MIN_POSITIVE))).length_squared();
    }
    let va = d3 * d6 - d5 * d4;
    let (e, f) = (d4 - d3, d5 - d6);
    if va <= 0.0 && e >= 0.0 && f >= 0.0 {
        return (bp - (c - b) * (e / (e + f).max(f64::MIN_POSITIVE))).length_squared();
    }
    let sum = (va + vb + vc).max(f64::MIN_POSITIVE);
    (ap - ab * (vb / sum) - ac * (vc / sum)).length_squared()
}

#[cfg(test)]
#[path = "check_tests.rs"]
mod tests;
