//! Mean value coordinates of points in closed triangle meshes.
//!
//! T. Ju, S. Schaefer, J. Warren: *Mean value coordinates for closed triangular meshes*, SIGGRAPH 2005. The weights of a
//! triangle express its **mean vector**, the integral of the unit directions over the spherical triangle, by the
//! directions to its corners (section 3.2). Their equation 11 loses digits if the point is near the triangle's plane.
//! **Differs**: the mean vector is summed over edges, from products of coordinate differences. If the point is near the
//! plane but outside of the triangle, the small terms come from the determinant, without cancellation.

use crate::base::math::{DMat3, DVec3};
use rayon::prelude::*;

/// A point lies on a vertex or a face if its distance is at most this fraction of the mesh's diagonal.
const ON: f64 = 1e-14;

/// A point lies on an edge if the sine of the edge's angle, seen from the point, is below this value.
const ON_EDGE: f64 = 1e-12;

/// A triangle has no effect if two of its corners lie in one direction from the point, that is, if the sine of the
/// angle between them is below this value. Its weights are of this order, and their rounding errors would be larger.
const THIN: f64 = 3e-8;

/// A triangle is narrow, seen from the point, if the squared sines of its dihedral angles are below this value.
const NARROW: f64 = 0.05;

/// Returns the mean value coordinates of `points` (P) with respect to the vertices `positions` (V) of a closed mesh, as
/// P rows of V numbers. All positions are in one space; the orientation of the triangles has no effect.
///
/// Each row sums to one and reproduces its point, up to rounding. Coordinates outside of the mesh and in its concave
/// parts can be negative. A point on a vertex, an edge or a face gets the barycentric coordinates there. Vertices
/// without a triangle get zero, and triangles without area have no effect. If the mesh has no solid angle at the point,
/// its row is zero. For an open mesh the rows sum to one, but do not reproduce their points.
///
/// Ju et al. 2005, section 3.3.
///
/// # Panics
/// If a triangle names a vertex that does not exist.
pub fn mean_value(positions: &[DVec3], triangles: &[[u32; 3]], points: &[DVec3]) -> Vec<f64> {
    let columns = positions.len();
    let mut out = vec![0.0; points.len() * columns];
    if columns == 0 {
        return out;
    }
    let (low, high) =
        positions.iter().fold((positions[0], positions[0]), |(low, high), p| (low.min(*p), high.max(*p)));
    let size = low.distance(high);
    out.par_chunks_mut(columns).zip(points).for_each(|(row, &x)| row_of(positions, triangles, x, size, row));
    out
}

/// Computes the coordinates of one point. `size` is the mesh's diagonal.
fn row_of(positions: &[DVec3], triangles: &[[u32; 3]], x: DVec3, size: f64, row: &mut [f64]) {
    for corners in triangles {
        let at = [corners[0] as usize, corners[1] as usize, corners[2] as usize];
        let p = [positions[at[0]], positions[at[1]], positions[at[2]]];
        if let Some(place) = weigh(p, x, size, &mut |k, w| row[at[k]] += w) {
            row.fill(0.0);
            for (v, w) in at.into_iter().zip(place) {
                row[v] += w;
            }
            return;
        }
    }
    let scale = 1.0 / row.iter().sum::<f64>();
    row.iter_mut().for_each(|w| *w = if scale.is_finite() { *w * scale } else { 0.0 });
    refine(positions, x, size, row);
}

/// Corrects a row that misses its point by rounding errors. Each weight changes by a fraction that is an affine
/// function of its vertex's position.
fn refine(positions: &[DVec3], x: DVec3, size: f64, row: &mut [f64]) {
    let from_x = |p: DVec3| (p - x) / size;
    let miss: DVec3 = positions.iter().zip(&*row).map(|(&p, &w)| from_x(p) * w).sum();
    if miss.length() < 1e-15 || miss.length() > 1e-6 {
        return;
    }
    let (mut sum, mut first, mut second) = (0.0, DVec3::ZERO, DMat3::ZERO);
    for (&p, w) in positions.iter().zip(&*row) {
        let (r, w) = (from_x(p), w.abs());
        sum += w;
        first += r * w;
        second += DMat3::from_cols(r * (r.x * w), r * (r.y * w), r * (r.z * w));
    }
    let mean = first / sum;
    let spread = second - DMat3::from_cols(first * mean.x, first * mean.y, first * mean.z);
    let slope = spread.inverse() * miss;
    if slope.is_finite() && slope.length() < 1e-3 {
        row.iter_mut().zip(positions).for_each(|(w, &p)| *w -= w.abs() * slope.dot(from_x(p) - mean));
    }
}

/// Adds the weights of one triangle by `add(corner, weight)`. If the point lies on the triangle, returns its barycentric
/// coordinates there instead.
fn weigh(p: [DVec3; 3], x: DVec3, size: f64, add: &mut impl FnMut(usize, f64)) -> Option<[f64; 3]> {
    let a = [p[0] - x, p[1] - x, p[2] - x];
    let d = [a[0].length(), a[1].length(), a[2].length()];
    if let Some(on) = d.iter().position(|&d| d <= ON * size) {
        return Some(std::array::from_fn(|k| if k == on { 1.0 } else { 0.0 }));
    }
    // For the edge opposite of corner k: the normal of its plane through the point, its length, and the edge's angle. In
    // the two triangles of an edge the normals are exactly opposite, so that the edge's terms cancel.
    let mut normal = [DVec3::ZERO; 3];
    let mut length = [0.0; 3];
    let mut angle = [0.0; 3];
    let mut thin = false;
    for k in 0..3 {
        let (i, j) = ((k + 1) % 3, (k + 2) % 3);
        normal[k] = (0.5 * (a[i] + a[j])).cross(p[j] - p[i]);
        length[k] = normal[k].length();
        let along = a[i].dot(a[j]);
        if along < 0.0 && length[k] <= ON_EDGE * d[i] * d[j] {
            let mut place = [0.0; 3];
            place[i] = d[j] / (d[i] + d[j]);
            place[j] = d[i] / (d[i] + d[j]);
            return Some(place);
        }
        thin |= along > 0.0 && length[k] <= THIN * d[i] * d[j];
        angle[k] = angle_of(length[k], along);
    }
    let area = (p[1] - p[0]).cross(p[2] - p[0]);
    let volume = a[0].dot(area);
    let gram = [0, 1, 2].map(|k| normal[(k + 1) % 3].dot(normal[(k + 2) % 3]));
    if gram.iter().all(|&g| g > 0.0) && volume * volume <= (ON * size).powi(2) * area.length_squared() {
        let sum = length[0] + length[1] + length[2];
        return Some(length.map(|l| l / sum));
    }
    if volume == 0.0 || thin {
        return None;
    }
    let twice = mean_vector(&d, &length, &angle, &gram, volume);
    let scale = 1.0 / volume;
    for k in 0..3 {
        add(k, twice[k] * length[k] * scale);
    }
    None
}

/// Returns the angle whose sine and cosine have this ratio and these signs.
fn angle_of(sine: f64, cosine: f64) -> f64 {
    if sine < 0.1 * cosine {
        // The series of the arc tangent, to 1e-17.
        let t = sine / cosine;
        let s = t * t;
        let odd = [15.0, 13.0, 11.0, 9.0, 7.0, 5.0, 3.0].map(|n| 1.0 / n);
        return t * (1.0 - s * odd.into_iter().reduce(|sum, c| c - s * sum).unwrap_or(0.0));
    }
    sine.atan2(cosine)
}

/// Returns twice the dot products of the mean vector with the three unit normals of the edges' planes. `gram[k]` is the
/// dot product of the normals of the edges that meet in corner k. `volume` is the determinant of the corners.
fn mean_vector(d: &[f64; 3], length: &[f64; 3], angle: &[f64; 3], gram: &[f64; 3], volume: f64) -> [f64; 3] {
    // Cosine and squared sine of the angle between the planes that meet in each corner: the cross product of the two
    // normals is the corner times the determinant.
    let mut cosine = [0.0; 3];
    let mut square = [0.0; 3];
    for k in 0..3 {
        let scale = 1.0 / (length[(k + 1) % 3] * length[(k + 2) % 3]);
        cosine[k] = gram[k] * scale;
        square[k] = (d[k] * volume * scale).powi(2);
    }
    let c = (0..3).fold(0, |best, k| if angle[k] > angle[best] { k } else { best });
    let (a, b) = ((c + 1) % 3, (c + 2) % 3);
    if square.iter().all(|&s| s < NARROW) && cosine[c] > 0.0 && cosine[a] < 0.0 && cosine[b] < 0.0 {
        // The point is near the plane and outside of the triangle, so the longest edge covers the two others. The
        // excess of their angles follows from the determinant (L'Huilier). The differences of the cosines from 1 or -1
        // follow from the sines.
        let half = 0.5 * (angle[0] + angle[1] + angle[2]);
        let unit = volume / (d[0] * d[1] * d[2]);
        let product = 4.0 * half.sin() * (half - angle[a]).sin() * (half - angle[b]).sin();
        let excess = 2.0 * (unit * unit / product).min(1.0).asin();
        let deviation = [0, 1, 2].map(|k| square[k] / (1.0 + cosine[k].abs()));
        let mut twice = [0.0; 3];
        twice[a] = excess - angle[b] * deviation[c] + angle[c] * deviation[b];
        twice[b] = excess - angle[a] * deviation[c] + angle[c] * deviation[a];
        twice[c] = -excess + angle[a] * deviation[b] + angle[b] * deviation[a];
        return twice;
    }
    [0, 1, 2].map(|k| {
        let (i, j) = ((k + 1) % 3, (k + 2) % 3);
        angle[k] + angle[i] * cosine[j] + angle[j] * cosine[i]
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Random;
    use crate::base::testing::shared;

    /// Creates the surface of a cube around the origin, whose faces are grids of 3 x 3 squares.
    fn cube() -> (Vec<DVec3>, Vec<[u32; 3]>) {
        let (mut positions, mut triangles) = (Vec::new(), Vec::new());
        let mut known: Vec<[i32; 3]> = Vec::new();
        let mut vertex = |place: [i32; 3]| match known.iter().position(|k| *k == place) {
            Some(v) => v as u32,
            None => {
                known.push(place);
                positions.push(DVec3::from_array(place.map(|k| f64::from(k) * 0.2 - 0.3)));
                known.len() as u32 - 1
            }
        };
        for (axis, side, i, j) in (0..54).map(|k| (k % 3, k / 3 % 2 * 3, k as i32 / 6 % 3, k as i32 / 18)) {
            let mut quad = [[0, 0], [1, 0], [1, 1], [0, 1]].map(|[di, dj]| {
                let mut place = [0; 3];
                place[axis] = side as i32;
                place[(axis + 1) % 3] = i + di;
                place[(axis + 2) % 3] = j + dj;
                vertex(place)
            });
            if side == 0 {
                quad.reverse();
            }
            triangles.extend([[quad[0], quad[1], quad[2]], [quad[0], quad[2], quad[3]]]);
        }
        (positions, triangles)
    }

    fn miss(positions: &[DVec3], row: &[f64], x: DVec3) -> f64 {
        let sum: f64 = row.iter().sum();
        let back: DVec3 = positions.iter().zip(row).map(|(&p, &w)| p * w).sum();
        back.distance(x).max((sum - 1.0).abs())
    }

    #[test]
    fn known_coordinates_are_found() {
        let (Some(folder), Some(cage)) = (shared("known/mvc"), shared("known/mvc_cage.obj")) else { return };
        let (positions, triangles) = crate::cage::tests::obj(&cage);
        let numbers = |name: &str| crate::cage::tests::f64s(&folder.join(name));
        let points: Vec<DVec3> = numbers("points.f64").chunks(3).map(DVec3::from_slice).collect();
        let found = mean_value(&positions, &triangles, &points);
        let worst = found.iter().zip(numbers("weights.f64")).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        let rows = found.chunks(positions.len()).zip(&points);
        let precision = rows.map(|(row, &x)| miss(&positions, row, x)).fold(0.0, f64::max);
        println!("worst difference {worst:.1e}, linear precision {precision:.1e}");
        assert!(worst < 5e-8 && precision < 1e-13);
    }

    #[test]
    fn points_on_and_near_faces_edges_and_their_planes_are_reproduced() {
        let (positions, triangles) = cube();
        let mut random = Random::new(3);
        for power in 0..20 {
            let off = if power == 19 { 0.0 } else { 10f64.powi(-power) };
            for kind in 0..5 {
                for _ in 0..60 {
                    let [a, b, c] = triangles[random.below(triangles.len())].map(|v| positions[v as usize]);
                    let [r, s] = [random.unit(), random.unit()].map(f64::from);
                    let on = match kind {
                        0 => a + (b - a) * (r * s) + (c - a) * (r * (1.0 - s)),
                        1 => a + (b - a) * (6.0 * r - 3.0) + (c - a) * (6.0 * s - 3.0),
                        2 => a + (b - a) * r,
                        3 => a + (b - a) * (1.0 + 2.0 * r),
                        _ => a,
                    };
                    let x = on + random.vector().as_dvec3() * off;
                    let row = mean_value(&positions, &triangles, &[x]);
                    let miss = miss(&positions, &row, x);
                    assert!(miss < 2e-13, "kind {kind}, {off:e} off: {miss:e}");
                    let near = mean_value(&positions, &triangles, &[x + random.vector().as_dvec3() * 1e-13]);
                    let jump = row.iter().zip(&near).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                    assert!(jump < 1e-6, "kind {kind}, {off:e} off: {jump:e}");
                }
            }
        }
    }

    #[test]
    fn degenerate_triangles_and_free_vertices_have_no_effect() {
        let (mut positions, mut triangles) = cube();
        let x = DVec3::new(0.11, -0.07, 0.02);
        let plain = mean_value(&positions, &triangles, &[x]);
        let [a, b, c] = triangles[5];
        let free = positions.len() as u32;
        positions.extend([positions[a as usize], x]);
        triangles.extend([[a, b, b], [a, free, b], [free, c, a]]);
        let more = mean_value(&positions, &triangles, &[x]);
        let same = plain.iter().zip(&more).all(|(a, b)| (a - b).abs() < 1e-15);
        assert!(same && more[free as usize..] == [0.0, 0.0], "{more:?}");
        assert!(mean_value(&positions, &[], &[x]).iter().all(|&w| w == 0.0));
        assert!(mean_value(&[], &[], &[x]).is_empty());
        let open = mean_value(&positions, &triangles[..50], &[x]);
        assert!((open.iter().sum::<f64>() - 1.0).abs() < 1e-12 && miss(&positions, &open, x) > 1e-3);
    }

    #[test]
    fn the_scale_and_the_number_of_threads_do_not_matter() {
        let (positions, triangles) = cube();
        let mut random = Random::new(8);
        let points: Vec<DVec3> = (0..500).map(|_| random.vector().as_dvec3()).collect();
        let found = mean_value(&positions, &triangles, &points);
        for threads in [1, 3] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            assert!(pool.install(|| mean_value(&positions, &triangles, &points)) == found);
        }
        for scale in [2f64.powi(-30), 2f64.powi(30)] {
            let scaled = |list: &[DVec3]| list.iter().map(|&p| p * scale).collect::<Vec<_>>();
            assert!(mean_value(&scaled(&positions), &triangles, &scaled(&points)) == found);
        }
    }
}
