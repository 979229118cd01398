//! The interior of a mesh, and the depth of its points: the distance to the outside. The depth serves to centre lines
//! in the body.
//!
//! The body is the union of cubes that enclose the mesh ([`Enclosure`]), so sheets inside the body (clothes over skin,
//! eyeballs in a head) are no part of its outside. The depth of a cube's corner is its distance to the nearest outer
//! corner, which propagates from corner to corner (Danielsson, "Euclidean distance mapping", 1980). Corners of limbs
//! that only touch are not neighbours, so each limb has depths of its own.

use super::Enclosure;
use crate::base::math::DVec3;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Maximum number of points in which a line is centred.
const POINTS: usize = 96;
/// Number of ascent steps per point.
const ASCENT: usize = 40;
/// Number of times that a whole line is centred and smoothed.
const ROUNDS: usize = 3;
/// Maximum depth of a centred point, and maximum displacement of a point, as multiples of the line's median depth.
/// These limits keep a line that begins at a shoulder from sliding into the chest.
const DEEPEST: f64 = 1.4;
/// Both ends of a line are cut off where the depth is less than this fraction of the line's median depth.
const SHALLOW: f64 = 0.35;
/// A plane counts as a plane of symmetry if it mirrors at least this fraction of the cubes into the body.
const SYMMETRIC: f64 = 0.88;

/// The interior of a mesh.
pub struct Interior {
    enclosure: Enclosure,
    /// Distance of each corner of the cubes to the outside.
    depth: Vec<f64>,
}

impl Interior {
    /// Encloses a mesh with about `cubes` cubes and computes the depths. Returns `None` for a mesh without valid
    /// triangles.
    pub fn new(positions: &[DVec3], triangles: &[[u32; 3]], cubes: usize) -> Option<Self> {
        let enclosure = Enclosure::with_cubes(positions, triangles, &[], cubes)?;
        let depth = depths(&enclosure);
        Some(Self { enclosure, depth })
    }

    /// Edge length of the cubes.
    pub fn size(&self) -> f64 {
        self.enclosure.cubes.size
    }

    /// Depth at a point, interpolated in its cube. Returns `None` outside of the cubes.
    pub fn depth(&self, x: DVec3) -> Option<f64> {
        let (cube, weights) = self.enclosure.find(x)?;
        let corners = &self.enclosure.cubes.cells[cube];
        Some(corners.iter().zip(weights).map(|(&n, w)| w * self.depth[n as usize]).sum())
    }

    /// Returns the deepest point of a ray in the first part of the body that the ray passes; `None` if the ray misses
    /// the body. `direction` need not have unit length.
    pub fn along(&self, origin: DVec3, direction: DVec3) -> Option<DVec3> {
        let direction = direction.try_normalize()?;
        let nodes = || self.enclosure.cubes.nodes.iter().map(|x| (*x - origin).dot(direction));
        let (near, far) = nodes().fold((f64::INFINITY, 0.0), |(a, b), t| (t.min(a), t.max(b)));
        let step = 0.5 * self.size();
        let count = ((far - near.max(0.0)) / step).ceil().max(0.0) as usize;
        let mut best: Option<(f64, DVec3)> = None;
        for k in 0..=count {
            let x = origin + direction * (near.max(0.0) + k as f64 * step);
            match (self.depth(x), best) {
                (Some(depth), _) if best.is_none_or(|b| depth > b.0) => best = Some((depth, x)),
                (None, Some(_)) => break,
                _ => {}
            }
        }
        best.map(|b| b.1)
    }

    /// Moves the points of a line to the middle of the body. The ends do not move along the line. Returns points at
    /// equal distances, or `None` if the line has no length.
    pub fn centred(&self, line: &[DVec3]) -> Option<Vec<DVec3>> {
        let length: f64 = line.windows(2).map(|p| p[0].distance(p[1])).sum();
        if !(length > 0.0 && length.is_finite()) {
            return None;
        }
        let count = ((2.0 * length / self.size()).ceil() as usize).clamp(2, POINTS);
        let start: Vec<DVec3> = spaced(line, count).into_iter().map(|x| self.inside(x)).collect();
        let free = self.ascended(&start, f64::INFINITY);
        let depths: Vec<f64> = free.iter().map(|x| self.depth(*x).unwrap_or(0.0)).collect();
        let mut sorted = depths.clone();
        sorted.sort_by(f64::total_cmp);
        let median = sorted[sorted.len() / 2].max(0.5 * self.size());
        // Where the line leaves the body, its points gather at the outside.
        let inner = |d: &f64| *d >= SHALLOW * median;
        let (first, last) = (depths.iter().position(inner)?, depths.iter().rposition(inner)?);
        let kept = &start[first..=last];
        (kept.len() > 1).then(|| spaced(&self.ascended(kept, DEEPEST * median), kept.len()))
    }

    /// Moves the points of a line perpendicularly to the line, towards greater depth, and smooths the line. No point
    /// moves farther than `most` from its start, or to a depth of more than `most`.
    fn ascended(&self, start: &[DVec3], most: f64) -> Vec<DVec3> {
        let mut line = start.to_vec();
        for _ in 0..ROUNDS {
            let tangents: Vec<DVec3> = (0..line.len())
                .map(|i| {
                    let (a, b) = (i.saturating_sub(4), (i + 4).min(line.len() - 1));
                    (line[b] - line[a]).normalize_or_zero()
                })
                .collect();
            for i in 0..line.len() {
                line[i] = self.deeper(line[i], start[i], tangents[i], most);
            }
            // Smoothing does not move the ends.
            for _ in 0..2 {
                let old = line.clone();
                (1..line.len() - 1).for_each(|i| line[i] = 0.25 * (old[i - 1] + old[i + 1]) + 0.5 * old[i]);
            }
        }
        line
    }

    fn deeper(&self, from: DVec3, start: DVec3, tangent: DVec3, most: f64) -> DVec3 {
        let (mut x, mut step) = (from, 0.5 * self.size());
        let mut depth = self.depth(x).unwrap_or(0.0);
        for _ in 0..ASCENT {
            let h = 0.75 * self.size();
            let slope = |axis: DVec3| {
                let at = |x: DVec3| self.depth(x).unwrap_or(0.0);
                at(x + axis * h) - at(x - axis * h)
            };
            let gradient = DVec3::new(slope(DVec3::X), slope(DVec3::Y), slope(DVec3::Z));
            let across = (gradient - tangent * gradient.dot(tangent)).normalize_or_zero();
            let next = x + across * step;
            let there = self.depth(next).unwrap_or(0.0);
            if there > depth && there <= most && next.distance(start) <= most {
                (x, depth) = (next, there);
            } else {
                step *= 0.5;
                if step < 0.02 * self.size() {
                    break;
                }
            }
        }
        x
    }

    /// Returns `x` if it lies in the body, otherwise the centre of the nearest cube.
    fn inside(&self, x: DVec3) -> DVec3 {
        if self.depth(x).is_some() {
            return x;
        }
        let cubes = &self.enclosure.cubes;
        let middles = cubes
            .cells
            .iter()
            .map(|cell| 0.5 * (cubes.nodes[cell[0] as usize] + cubes.nodes[cell[7] as usize]));
        middles.min_by(|a, b| a.distance_squared(x).total_cmp(&b.distance_squared(x))).unwrap_or(x)
    }

    /// Returns the body's plane of symmetry: a point and a unit normal, X (left and right of a character that looks
    /// along Z) or Z. Returns `None` if the body has no such plane.
    pub fn symmetry(&self) -> Option<[DVec3; 2]> {
        let cubes = &self.enclosure.cubes;
        let middle = |cell: &[u32; 8]| 0.5 * (cubes.nodes[cell[0] as usize] + cubes.nodes[cell[7] as usize]);
        let centres: Vec<DVec3> = cubes.cells.iter().map(middle).collect();
        let low = centres.iter().copied().reduce(DVec3::min)?;
        let high = centres.iter().copied().reduce(DVec3::max)?;
        let mean = centres.iter().sum::<DVec3>() / centres.len() as f64;
        let share = |normal: DVec3, point: DVec3| {
            let mirrored = |x: &&DVec3| {
                let there = **x - normal * (2.0 * normal.dot(**x - point));
                self.enclosure.find(there).is_some()
            };
            centres.iter().filter(mirrored).count() as f64 / centres.len() as f64
        };
        let planes = [DVec3::X, DVec3::Z].into_iter().flat_map(|n| [(n, 0.5 * (low + high)), (n, mean)]);
        let found = planes.map(|(n, p)| (share(n, p), n, p)).filter(|f| f.0 >= SYMMETRIC);
        // A later plane wins only if its fraction is larger by 0.05.
        found.reduce(|a, b| if b.0 > a.0 + 0.05 { b } else { a }).map(|(_, n, p)| [p, n])
    }
}

/// Returns `count` points at equal distances along a line.
fn spaced(line: &[DVec3], count: usize) -> Vec<DVec3> {
    let length: f64 = line.windows(2).map(|p| p[0].distance(p[1])).sum();
    let (mut out, mut passed) = (vec![line[0]], 0.0);
    for pair in line.windows(2) {
        let span = pair[0].distance(pair[1]);
        while out.len() + 1 < count {
            let wanted = length * out.len() as f64 / (count - 1) as f64;
            if span <= 0.0 || wanted > passed + span {
                break;
            }
            out.push(pair[0].lerp(pair[1], (wanted - passed) / span));
        }
        passed += span;
    }
    out.extend(line.last().filter(|_| count > 1));
    out
}

/// Computes the distance of every corner to the nearest outer corner. A corner that belongs to fewer than eight cubes
/// is an outer corner.
fn depths(enclosure: &Enclosure) -> Vec<f64> {
    let cubes = &enclosure.cubes;
    let mut around = vec![0u8; cubes.nodes.len()];
    cubes.cells.iter().flatten().for_each(|&n| around[n as usize] += 1);
    let edges = cubes.edges();
    let mut begin = vec![0usize; cubes.nodes.len() + 1];
    edges.iter().for_each(|(e, _)| e.iter().for_each(|&n| begin[n as usize + 1] += 1));
    (0..cubes.nodes.len()).for_each(|n| begin[n + 1] += begin[n]);
    let (mut next, mut fill) = (vec![0u32; 2 * edges.len()], begin.clone());
    for ([a, b], _) in &edges {
        for (from, to) in [(*a, *b), (*b, *a)] {
            next[fill[from as usize]] = to;
            fill[from as usize] += 1;
        }
    }
    let mut depth = vec![f64::INFINITY; cubes.nodes.len()];
    let mut source: Vec<u32> = (0..cubes.nodes.len() as u32).collect();
    let mut heap = BinaryHeap::new();
    // The heap holds the bits of the distances: the bits of non-negative numbers have the same order as the numbers.
    for n in (0..cubes.nodes.len()).filter(|&n| around[n] < 8) {
        depth[n] = 0.0;
        heap.push(Reverse((0u64, n as u32)));
    }
    while let Some(Reverse((bits, n))) = heap.pop() {
        if f64::from_bits(bits) > depth[n as usize] {
            continue;
        }
        let from = source[n as usize];
        for &m in &next[begin[n as usize]..begin[n as usize + 1]] {
            let distance = cubes.nodes[m as usize].distance(cubes.nodes[from as usize]);
            if distance < depth[m as usize] {
                (depth[m as usize], source[m as usize]) = (distance, from);
                heap.push(Reverse((distance.to_bits(), m)));
            }
        }
    }
    depth
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bind::shapes::capsule;

    /// A capsule of radius 0.15 along Y from 0 to 3.
    fn body() -> Interior {
        let control = capsule(3, 48, 16, 0.15, 3.0).control;
        let positions: Vec<DVec3> = control.positions.iter().map(|x| x.as_dvec3()).collect();
        Interior::new(&positions, &control.triangles, 20_000).unwrap()
    }

    #[test]
    fn depth_is_the_distance_to_the_outside() {
        let body = body();
        for r in [0.0, 0.05, 0.1] {
            let depth = body.depth(DVec3::new(r, 1.5, 0.0)).unwrap();
            assert!(
                (depth - (0.15 - r)).abs() < 1.2 * body.size(),
                "{depth} at {r}, cubes of {}",
                body.size()
            );
        }
        assert_eq!(body.depth(DVec3::new(0.4, 1.5, 0.0)), None);
    }

    #[test]
    fn lines_beside_the_middle_are_centred_and_keep_their_ends_along_the_body() {
        let body = body();
        // Inside, on the skin, and outside of the body.
        for off in [0.06, 0.15, 0.3] {
            let line: Vec<DVec3> =
                (0..40).map(|i| DVec3::new(off, 0.3 + 0.06 * f64::from(i), -0.3 * off)).collect();
            let centred = body.centred(&line).unwrap();
            let worst = centred.iter().map(|x| x.x.hypot(x.z)).fold(0.0, f64::max);
            assert!(worst < 0.7 * body.size(), "{worst} beside the axis, cubes of {}", body.size());
            let [first, last] = [centred[0].y, centred[centred.len() - 1].y];
            assert!((first - 0.3).abs() < 0.04 && (last - 2.64).abs() < 0.04, "{first} {last}");
        }
        assert_eq!(body.centred(&[DVec3::Y; 3]), None);
    }

    #[test]
    fn rays_find_the_middle_and_the_body_its_symmetry() {
        let body = body();
        let x = body.along(DVec3::new(2.0, 1.2, 0.5), DVec3::new(-4.0, 0.0, -1.0)).unwrap();
        assert!(x.x.abs() < body.size() && (x.y - 1.2).abs() < 1e-9, "{x}");
        assert_eq!(body.along(DVec3::new(2.0, 5.0, 0.0), DVec3::NEG_X), None);
        let [point, normal] = body.symmetry().unwrap();
        assert!(normal == DVec3::X && point.x.abs() < 0.01, "{point} {normal}");
    }

    #[test]
    fn a_line_from_a_limb_into_a_trunk_does_not_slide_into_the_trunk() {
        // A thin arm along X on a thick trunk along Y.
        let mut positions: Vec<DVec3> = Vec::new();
        let mut triangles: Vec<[u32; 3]> = Vec::new();
        let mut add = |low: DVec3, high: DVec3| {
            let first = positions.len() as u32;
            positions.extend((0..8).map(|k| {
                let side = |axis: usize| if k >> axis & 1 == 1 { high[axis] } else { low[axis] };
                DVec3::new(side(0), side(1), side(2))
            }));
            let faces = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
            triangles.extend(
                faces
                    .iter()
                    .flat_map(|f| [[f[0], f[1], f[2]], [f[0], f[2], f[3]]])
                    .map(|t| t.map(|v| v + first)),
            );
        };
        add(DVec3::new(-0.2, 0.0, -0.2), DVec3::new(0.2, 1.0, 0.2));
        add(DVec3::new(0.1, 0.8, -0.04), DVec3::new(0.9, 0.88, 0.04));
        let body = Interior::new(&positions, &triangles, 30_000).unwrap();
        let line = [DVec3::new(0.12, 0.85, 0.01), DVec3::new(0.85, 0.83, 0.01)];
        let centred = body.centred(&line).unwrap();
        let worst = centred.iter().map(|x| (x.y - 0.84).abs().max(x.z.abs())).fold(0.0, f64::max);
        assert!(worst < 0.06, "{worst}: {:?}", centred[0]);
    }
}
