//! Local coordinates of points in a cage, which are never negative: harmonic coordinates.
//!
//! P. Joshi, M. Meyer, T. DeRose, B. Green, T. Sanocki: *Harmonic coordinates for character articulation*, SIGGRAPH 2007.
//! The coordinate of a cage vertex is the harmonic function inside of the cage that equals the vertex's hat function on
//! the surface. A regular grid of nodes solves for it.
//!
//! **Differs** from the paper: the boundary lies exactly on the cage's surface, not on grid nodes. Where the segment to
//! a neighbouring node crosses the surface, the first crossing replaces the node, and the node's weight is divided by
//! the fraction of the segment up to the crossing (F. Gibou, R. Fedkiw, L.-T. Cheng, M. Kang: *A second-order-accurate
//! symmetric discretization of the Poisson equation on irregular domains*, 2002). The trilinear interpolation at a
//! point treats the corners of the point's grid cell in the same way. So the weights stay positive and reproduce linear
//! functions, and nothing passes through a gap that is narrower than a grid step.

use super::check::{Surface, bounds};
use super::joints::maximum_entropy;
use super::mean_value::mean_value;
use super::mesh::CageMesh;
use crate::base::math::DVec3;
use crate::base::{Error, Progress, Result};
use crate::geom::{Cholesky, Columns, Entry};
use rayon::prelude::*;

/// Approximate number of grid nodes inside the cage.
const NODES: f64 = 40_000.0;
/// Maximum number of grid nodes in the cage's bounding box. A cage that fills little of its box gets a coarser grid.
const MOST: f64 = 4e6;
/// Number of cage vertices whose coordinates are solved for at once.
const BLOCK: usize = 16;
/// Tolerance of crossings, as a fraction of the segment and in barycentric coordinates. No weight is divided by a
/// smaller fraction of a segment.
const ON: f64 = 1e-12;
/// A row of coordinates that misses its point by more than this fraction of the cage's diagonal is corrected.
const MISS: f64 = 1e-12;
/// The smallest mass of a cage vertex in the correction of a row.
const LEAST_MASS: f64 = 1e-9;

/// Returns local coordinates of `points` (P) in a closed cage (C vertices), as P rows of C numbers. All positions are in
/// one space; the orientation of the faces has no effect.
///
/// Inside the cage and on its surface, no number is negative. Each row sums to one and reproduces its point to 1e-10 of
/// the cage's diagonal. A cage vertex has little effect on a point if every path inside the cage from the vertex to the
/// point is long. Points outside the cage get mean value coordinates. Equal input gives equal bits.
///
/// # Errors
/// [`Error::Input`] if the work is cancelled, or memory is short.
pub fn local(mesh: &CageMesh, points: &[DVec3], progress: &Progress) -> Result<Vec<f64>> {
    with_nodes(mesh, points, NODES, progress)
}

/// Computes the coordinates with about `nodes` grid nodes inside of the cage; see [`local`].
fn with_nodes(mesh: &CageMesh, points: &[DVec3], nodes: f64, progress: &Progress) -> Result<Vec<f64>> {
    let going = |part: f32| match progress.report(part) {
        true => Ok(()),
        false => Err(Error::input("the cage's local coordinates were cancelled", "bind the cage again")),
    };
    going(0.0)?;
    let columns = mesh.positions.len();
    let surface = Surface::new(mesh);
    let is_inside = |x: &DVec3| surface.winding(*x) != 0 && !surface.is_on(*x);
    let Some(grid) = Grid::new(mesh, &surface, nodes).filter(|_| points.par_iter().any(is_inside)) else {
        return Ok(mean_value(&mesh.positions, &surface.triangles, points));
    };
    going(0.05)?;
    let equations: Vec<Terms> = grid.inside.par_iter().map(|&place| grid.equation(place)).collect();
    let values: Vec<Option<Terms>> =
        points.par_iter().map(|x| is_inside(x).then(|| grid.value(*x))).collect();
    going(0.1)?;
    let mut lower = Vec::with_capacity(4 * equations.len());
    for (row, terms) in equations.iter().enumerate() {
        lower.push(Entry::new(row, row, terms.total));
        let before = terms.nodes.iter().filter(|(node, _)| (*node as usize) < row);
        lower.extend(before.map(|&(node, w)| Entry::new(row, node as usize, -w)));
    }
    let factor =
        Cholesky::new(equations.len(), &lower, "the matrix of the cage's grid", "use a simpler cage")?;
    going(0.3)?;

    let mut out = vec![0.0; points.len() * columns];
    let blocks: Vec<usize> = (0..columns).step_by(BLOCK).collect();
    for group in blocks.chunks(rayon::current_num_threads()) {
        let solve = |&first: &usize| {
            let mut x = Columns::zeros(equations.len(), BLOCK.min(columns - first));
            for (row, terms) in equations.iter().enumerate() {
                for &(vertex, w) in &terms.vertices {
                    let column = (vertex as usize).wrapping_sub(first);
                    if column < x.ncols() {
                        x[(row, column)] += w;
                    }
                }
            }
            factor.solve(&mut x);
            (first, x)
        };
        let solved: Vec<(usize, Columns)> = group.par_iter().map(solve).collect();
        out.par_chunks_mut(columns).zip(&values).for_each(|(row, terms)| {
            let nodes = terms.iter().flat_map(|terms| &terms.nodes);
            for (&(node, w), (first, x)) in nodes.flat_map(|n| solved.iter().map(move |s| (n, s))) {
                (0..x.ncols()).for_each(|k| row[first + k] += w * x[(node as usize, k)]);
            }
        });
        going(0.3 + 0.6 * (group[0] + group.len() * BLOCK).min(columns) as f32 / columns as f32)?;
    }
    out.par_chunks_mut(columns).zip(&values).zip(points).for_each(|((row, terms), &x)| {
        for &(vertex, w) in terms.iter().flat_map(|terms| &terms.vertices) {
            row[vertex as usize] += w;
        }
        if terms.is_none() || !corrected(mesh, &surface, x, row) {
            row.copy_from_slice(&mean_value(&mesh.positions, &surface.triangles, &[x]));
        }
    });
    going(1.0)?;
    Ok(out)
}

/// Scales a row of coordinates to the sum one. If the row misses its point `x`, replaces it by the positive coordinates
/// that are nearest to it, those of maximum entropy. Returns whether the row then reproduces `x`.
fn corrected(mesh: &CageMesh, surface: &Surface, x: DVec3, row: &mut [f64]) -> bool {
    row.iter_mut().for_each(|w| *w = w.max(0.0));
    let scale = 1.0 / row.iter().sum::<f64>();
    row.iter_mut().for_each(|w| *w *= scale);
    let at: Vec<DVec3> = mesh.positions.iter().map(|p| (*p - x) / surface.diagonal).collect();
    let miss = at.iter().zip(&*row).map(|(p, w)| *p * *w).sum::<DVec3>().length();
    if miss <= MISS {
        return true;
    }
    let masses: Vec<f64> = row.iter().map(|w| w.max(LEAST_MASS)).collect();
    if let Some(found) = maximum_entropy(&at, &masses) {
        row.copy_from_slice(&found);
        return true;
    }
    miss <= 100.0 * MISS
}

/// A sum of weighted values at grid nodes and cage vertices.
#[derive(Default)]
struct Terms {
    nodes: Vec<(u32, f64)>,
    vertices: Vec<(u32, f64)>,
    /// The sum of the weights.
    total: f64,
}

/// A regular grid of nodes around the cage.
struct Grid<'a> {
    surface: &'a Surface,
    positions: &'a [DVec3],
    low: DVec3,
    step: f64,
    count: [usize; 3],
    /// Index of each node in `inside`; `None` for nodes outside the cage.
    number: Vec<Option<u32>>,
    /// Grid indices of the nodes inside the cage.
    inside: Vec<[usize; 3]>,
}

impl<'a> Grid<'a> {
    /// Creates a grid. Its middle is that of the bounding box, so a symmetric cage has a symmetric grid. Returns `None`
    /// if the cage has no volume.
    fn new(mesh: &'a CageMesh, surface: &'a Surface, nodes: f64) -> Option<Self> {
        let low = mesh.positions.iter().copied().fold(DVec3::INFINITY, DVec3::min);
        let high = mesh.positions.iter().copied().fold(DVec3::NEG_INFINITY, DVec3::max);
        let volume = |t: &[u32; 3]| {
            let [a, b, c] = t.map(|v| mesh.positions[v as usize] - low);
            a.dot(b.cross(c)) / 6.0
        };
        let mut step = (surface.triangles.iter().map(volume).sum::<f64>().abs() / nodes).cbrt();
        if !(step > 0.0 && step.is_finite()) {
            return None;
        }
        // A layer of nodes surrounds the box.
        let counts = |step: f64| ((high - low) / (2.0 * step)).ceil() * 2.0 + 4.0;
        while counts(step).element_product() > MOST {
            step *= 1.1;
        }
        let count = counts(step).to_array().map(|n| n as usize);
        let low = 0.5 * (low + high) - 0.5 * step * (counts(step) - 1.0);
        let mut out = Self {
            surface,
            positions: &mesh.positions,
            low,
            step,
            count,
            number: Vec::new(),
            inside: Vec::new(),
        };
        let place = |k: usize| [k % count[0], k / count[0] % count[1], k / count[0] / count[1]];
        let nodes = 0..count.iter().product();
        out.inside =
            nodes.into_par_iter().map(place).filter(|at| surface.winding(out.at(*at)) != 0).collect();
        out.number = vec![None; count.iter().product()];
        for (number, &at) in out.inside.iter().enumerate() {
            let k = out.index(at);
            out.number[k] = Some(number as u32);
        }
        Some(out)
    }

    fn index(&self, [i, j, k]: [usize; 3]) -> usize {
        i + self.count[0] * (j + self.count[1] * k)
    }

    fn at(&self, place: [usize; 3]) -> DVec3 {
        self.low + self.step * DVec3::from_array(place.map(|k| k as f64))
    }

    /// Returns the terms of a node's equation: the node's value is the sum of the terms, divided by their total weight.
    /// This is the mean of the neighbours' values.
    fn equation(&self, place: [usize; 3]) -> Terms {
        let neighbour = |k: usize| {
            let mut next = place;
            next[k / 2] = next[k / 2] + 2 * (k % 2) - 1;
            (next, 1.0)
        };
        self.terms(self.at(place), std::array::from_fn::<_, 6, _>(neighbour))
    }

    /// Returns terms whose weighted sum is the value at a point inside the cage.
    fn value(&self, x: DVec3) -> Terms {
        let local = (x - self.low) / self.step;
        let (first, t) = (local.floor().to_array().map(|k| k as usize), local - local.floor());
        let corner = |c: usize| {
            let bit = |k: usize| c >> k & 1;
            let share = |k: usize| if bit(k) == 1 { t[k] } else { 1.0 - t[k] };
            ([0, 1, 2].map(|k| first[k] + bit(k)), share(0) * share(1) * share(2))
        };
        let mut out = self.terms(x, std::array::from_fn::<_, 8, _>(corner));
        let scale = 1.0 / out.total;
        out.nodes.iter_mut().chain(&mut out.vertices).for_each(|(_, w)| *w *= scale);
        out
    }

    /// Returns the weighted values at the nodes `around` a point `x`. If the segment from `x` to a node crosses the
    /// cage's surface, the first crossing replaces the node.
    fn terms<const N: usize>(&self, x: DVec3, around: [([usize; 3], f64); N]) -> Terms {
        let to = around.map(|(place, _)| self.at(place));
        let mut near = Vec::new();
        let all: Vec<DVec3> = to.into_iter().chain([x]).collect();
        self.surface.within(bounds(&all), |t| near.push(self.surface.triangles[t]));
        // The hierarchy finds the triangles in no particular order; sort them, so that equal input gives equal bits.
        near.sort_unstable();
        let mut out = Terms::default();
        for ((place, weight), to) in around.into_iter().zip(to).filter(|((_, weight), _)| *weight > 0.0) {
            let crossing = |t: &[u32; 3]| {
                let (along, hats) = crossing(x, to, t.map(|v| self.positions[v as usize]))?;
                Some((along, *t, hats))
            };
            let first = near.iter().filter_map(crossing).min_by(|a, b| a.0.total_cmp(&b.0));
            if let Some((along, triangle, hats)) = first {
                let weight = weight / along.max(ON);
                out.vertices.extend(triangle.into_iter().zip(hats.map(|hat| hat * weight)));
                out.total += weight;
            } else if let Some(number) = self.number[self.index(place)] {
                out.nodes.push((number, weight));
                out.total += weight;
            }
        }
        out
    }
}

/// Returns where a segment crosses a triangle: the fraction of the segment, and the barycentric coordinates.
///
/// T. Möller, B. Trumbore: *Fast, minimum storage ray/triangle intersection*, 1997.
fn crossing(from: DVec3, to: DVec3, [a, b, c]: [DVec3; 3]) -> Option<(f64, [f64; 3])> {
    let (along, ab, ac, s) = (to - from, b - a, c - a, from - a);
    let (p, q) = (along.cross(ac), s.cross(ab));
    let scale = 1.0 / ab.dot(p);
    let (u, v, t) = (s.dot(p) * scale, along.dot(q) * scale, ac.dot(q) * scale);
    let hats = [1.0 - u - v, u, v];
    // A triangle parallel to the segment gives numbers that are not finite; these comparisons exclude it.
    if !(hats.iter().all(|hat| *hat >= -ON) && (-ON..=1.0 + ON).contains(&t)) {
        return None;
    }
    let hats = hats.map(|hat| hat.max(0.0));
    let sum: f64 = hats.iter().sum();
    Some((t.clamp(0.0, 1.0), hats.map(|hat| hat / sum)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Random;

    /// Creates the surface of a set of unit cubes.
    fn blocks(cubes: &[[i32; 3]]) -> CageMesh {
        let (mut out, mut known) = (CageMesh::default(), Vec::new());
        for (cube, axis, up) in cubes.iter().flat_map(|c| (0..6).map(move |k| (c, k % 3, k as i32 / 3))) {
            let mut beside = *cube;
            beside[axis] += 2 * up - 1;
            if cubes.contains(&beside) {
                continue;
            }
            let mut quad = [[0, 0], [1, 0], [1, 1], [0, 1]].map(|[i, j]| {
                let mut place = *cube;
                place[axis] += up;
                place[(axis + 1) % 3] += i;
                place[(axis + 2) % 3] += j;
                known.iter().position(|k| *k == place).unwrap_or_else(|| {
                    known.push(place);
                    known.len() - 1
                }) as u32
            });
            if up == 0 {
                quad.reverse();
            }
            out.faces.push(quad.to_vec());
        }
        out.positions = known.iter().map(|k| DVec3::from_array(k.map(f64::from))).collect();
        out
    }

    /// A box of 1 x 6 x 1 cubes.
    fn bar() -> CageMesh {
        blocks(&std::array::from_fn::<_, 6, _>(|y| [0, y as i32, 0]))
    }

    /// Two arms along y, joined at the bottom.
    fn u_shape() -> CageMesh {
        let arms = (0..5).flat_map(|y| [[0, y, 0], [2, y, 0]]);
        blocks(&arms.chain([[1, 0, 0]]).collect::<Vec<_>>())
    }

    fn rows(mesh: &CageMesh, points: &[DVec3]) -> Vec<f64> {
        with_nodes(mesh, points, 3000.0, &Progress::default()).unwrap()
    }

    #[test]
    fn rows_are_positive_sum_to_one_and_reproduce_their_points() {
        let mut random = Random::new(3);
        for mut mesh in [bar(), u_shape()] {
            mesh.positions.iter_mut().for_each(|x| *x += 0.15 * random.vector().as_dvec3());
            let surface = Surface::new(&mesh);
            let mut points: Vec<DVec3> = (0..2000)
                .map(|_| (random.vector().as_dvec3() * 0.5 + 0.5) * DVec3::new(3.2, 6.2, 1.2))
                .filter(|x| surface.winding(*x) != 0)
                .collect();
            // Points on and near the surface.
            for t in surface.triangles.iter().map(|t| t.map(|v| mesh.positions[v as usize])) {
                let on = t[0] * 0.5 + t[1] * 0.3 + t[2] * 0.2;
                let inwards = (t[2] - t[0]).cross(t[1] - t[0]).normalize();
                points.extend([0.0, 1e-15, 1e-12, 1e-9, 1e-6, 1e-3].map(|d| on + d * inwards));
            }
            points.retain(|x| surface.winding(*x) != 0 || surface.is_on(*x));
            assert!(points.len() > 300);
            let found = rows(&mesh, &points);
            for (row, x) in found.chunks(mesh.positions.len()).zip(&points) {
                let back: DVec3 = mesh.positions.iter().zip(row).map(|(p, w)| *p * *w).sum();
                assert!(row.iter().all(|w| *w >= 0.0), "{x}: {row:?}");
                assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{x}: {row:?}");
                assert!(back.distance(*x) < 1e-9, "{x}: {:e}", back.distance(*x));
            }
            assert!(found.iter().zip(rows(&mesh, &points)).all(|(a, b)| a.to_bits() == b.to_bits()));
        }
    }

    #[test]
    fn an_arm_does_not_feel_the_other_arm() {
        let mut mesh = u_shape();
        // The gap between the arms is narrower than the grid.
        mesh.positions.iter_mut().filter(|p| p.x > 1.5).for_each(|p| p.x -= 0.98);
        let points: Vec<DVec3> = (20..49).map(|y| DVec3::new(0.9, f64::from(y) * 0.1, 0.45)).collect();
        let triangles: Vec<_> = mesh.triangles().collect();
        let other = |row: &[f64]| -> f64 {
            let far = mesh.positions.iter().zip(row).filter(|(p, _)| p.x > 1.01 && p.y >= 2.0);
            far.map(|(_, w)| w.abs()).sum()
        };
        let mean = mean_value(&mesh.positions, &triangles, &points);
        assert!(mean.iter().any(|w| *w < -1e-3));
        let columns = mesh.positions.len();
        for (row, mean) in rows(&mesh, &points).chunks(columns).zip(mean.chunks(columns)) {
            assert!(other(row) < 1e-3 && other(mean) > 10.0 * other(row), "{} {}", other(row), other(mean));
        }
    }

    #[test]
    fn vertices_get_their_own_coordinate_and_points_outside_mean_value_coordinates() {
        let mesh = bar();
        let mut points = mesh.positions.clone();
        points.extend([DVec3::splat(0.5), DVec3::new(2.0, 3.0, -1.0)]);
        let (found, columns) = (rows(&mesh, &points), mesh.positions.len());
        for (v, row) in found.chunks(columns).take(columns).enumerate() {
            assert!((0..columns).all(|k| row[k] == f64::from(u8::from(k == v))), "{v}: {row:?}");
        }
        let triangles: Vec<_> = mesh.triangles().collect();
        let outside = &points[columns + 1..];
        assert_eq!(found[(columns + 1) * columns..], mean_value(&mesh.positions, &triangles, outside));
        assert!(rows(&mesh, &[]).is_empty() && rows(&CageMesh::default(), &points).is_empty());
    }

    #[test]
    fn values_are_harmonic() {
        // In a square tube, the harmonic function that is zero on the sides falls by exp(-pi sqrt(2) y).
        let mesh = bar();
        let points: Vec<DVec3> = (2..5).map(|y| DVec3::new(0.5, f64::from(y), 0.5)).collect();
        let end = |row: &[f64]| -> f64 {
            mesh.positions.iter().zip(row).filter(|(p, _)| p.y == 0.0).map(|(_, w)| w).sum()
        };
        let found: Vec<f64> = rows(&mesh, &points).chunks(mesh.positions.len()).map(end).collect();
        let falls = [found[0] / found[1], found[1] / found[2]].map(f64::ln);
        let wanted = std::f64::consts::PI * 2f64.sqrt();
        assert!(falls.iter().all(|fall| (fall - wanted).abs() < 0.1), "{falls:?} {wanted}");
    }

    #[test]
    fn a_row_that_misses_its_point_is_corrected() {
        let (mesh, x) = (bar(), DVec3::new(0.2, 2.6, 0.7));
        let found = rows(&mesh, &[x]);
        let mut row = found.clone();
        row.iter_mut().enumerate().for_each(|(v, w)| *w *= 1.0 + 0.01 * (v as f64).sin());
        assert!(corrected(&mesh, &Surface::new(&mesh), x, &mut row));
        let back: DVec3 = mesh.positions.iter().zip(&row).map(|(p, w)| *p * *w).sum();
        assert!(back.distance(x) < 1e-11 && row.iter().all(|w| *w > 0.0), "{back} {row:?}");
        assert!(row.iter().zip(&found).all(|(a, b)| (a - b).abs() < 0.01), "{row:?} {found:?}");
    }

    #[test]
    fn cancelled_work_is_an_error() {
        let progress = Progress::default();
        progress.cancel();
        let text = local(&bar(), &[DVec3::splat(0.5)], &progress).unwrap_err().to_string();
        assert!(text.contains("cancelled"), "{text}");
    }
}
