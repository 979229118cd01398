//! Triangulations of flat shapes.

use crate::base::math::{DVec2, Vec3};
use std::collections::BTreeMap;

/// Distance to a line segment less a radius.
pub(super) fn capsule(p: DVec2, a: DVec2, b: DVec2, radius: f64) -> f64 {
    let t = ((p - a).dot(b - a) / (b - a).length_squared().max(1e-12)).clamp(0.0, 1.0);
    p.distance(a.lerp(b, t)) - radius
}

/// Triangulates the part of the plane z = 0 where `inside` is negative: equilateral triangles with edges of `step` metres,
/// whose outer vertices move to the outline. `span` is the range of x and of y.
pub(super) fn sheet(inside: &dyn Fn(DVec2) -> f64, span: [f64; 2], step: f64) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let row = step * 0.75f64.sqrt();
    let columns = ((span[1] - span[0]) / step).ceil() as i32 + 1;
    let rows = ((span[1] - span[0]) / row).ceil() as i32 + 1;
    let at = |i: i32, j: i32| {
        let shift = if j % 2 == 0 { 0.0 } else { 0.5 };
        DVec2::new(span[0] + step * (f64::from(i) + shift), span[0] + row * f64::from(j))
    };
    let mut cells: Vec<[[i32; 2]; 3]> = (0..rows)
        .flat_map(|j| (0..columns).map(move |i| (i, j)))
        .flat_map(|(i, j)| {
            let up = i + j % 2;
            [[[i, j], [i + 1, j], [up, j + 1]], [[i + 1, j], [up + 1, j + 1], [up, j + 1]]]
        })
        .filter(|t| inside(t.iter().map(|&[i, j]| at(i, j)).sum::<DVec2>() / 3.0) < 0.0)
        .collect();
    // The corners of a triangle with two edges on the rim would all lie on the outline.
    let mut count = uses(&cells);
    loop {
        let before = cells.len();
        cells.retain(|t| edges(t).iter().filter(|e| count[*e] == 1).count() < 2);
        count = uses(&cells);
        if cells.len() == before {
            break;
        }
    }
    let mut index: BTreeMap<[i32; 2], u32> = BTreeMap::new();
    let mut points = Vec::new();
    let mut vertex = |[i, j]: [i32; 2]| {
        *index.entry([i, j]).or_insert_with(|| {
            points.push(at(i, j));
            points.len() as u32 - 1
        })
    };
    let triangles: Vec<[u32; 3]> = cells.iter().map(|t| t.map(&mut vertex)).collect();
    let count = uses(&triangles);
    let mut outer = vec![false; points.len()];
    let mut around = vec![Vec::new(); points.len()];
    for ([a, b], n) in count {
        let rim = n == 1;
        [a, b].iter().filter(|_| rim).for_each(|&v| outer[v as usize] = true);
        around[a as usize].push((b as usize, rim));
        around[b as usize].push((a as usize, rim));
    }
    for _ in 0..30 {
        for v in 0..points.len() {
            // Vertices on the outline move along it.
            let own = around[v].iter().filter(|n| n.1 || !outer[v]);
            let (sum, n) = own.fold((DVec2::ZERO, 0.0), |(s, n), (w, _)| (s + points[*w], n + 1.0));
            points[v] = points[v].lerp(sum / n, 0.5);
            if outer[v] {
                points[v] = onto(inside, points[v], step);
            }
        }
    }
    (points.iter().map(|p| p.as_vec2().extend(0.0)).collect(), triangles)
}

/// Returns the edges of a triangle, each with its smaller end first.
fn edges<T: Copy + Ord>(t: &[T; 3]) -> [[T; 2]; 3] {
    [[t[0], t[1]], [t[1], t[2]], [t[2], t[0]]].map(|[a, b]| [a.min(b), a.max(b)])
}

/// Returns the number of triangles at each edge.
fn uses<T: Copy + Ord>(triangles: &[[T; 3]]) -> BTreeMap<[T; 2], u32> {
    let mut count = BTreeMap::new();
    triangles.iter().flat_map(edges).for_each(|e| *count.entry(e).or_default() += 1);
    count
}

/// Moves a point to the outline.
fn onto(inside: &dyn Fn(DVec2) -> f64, mut p: DVec2, step: f64) -> DVec2 {
    let h = 1e-4 * step;
    for _ in 0..4 {
        let slope = |d: DVec2| (inside(p + d) - inside(p - d)) / (2.0 * h);
        let gradient = DVec2::new(slope(DVec2::X * h), slope(DVec2::Y * h));
        p -= (inside(p) * gradient / gradient.length_squared().max(0.1)).clamp_length_max(step);
    }
    p
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sheet_is_one_disc_of_good_triangles_with_its_rim_on_the_outline() {
        let inside = |p: DVec2| capsule(p, DVec2::ZERO, DVec2::new(1.0, 0.5), 0.3);
        let (positions, triangles) = sheet(&inside, [-0.5, 1.5], 0.05);
        let at = |v: u32| positions[v as usize].truncate().as_dvec2();
        for t in &triangles {
            let [a, b, c] = t.map(at);
            let edge = [a.distance(b), b.distance(c), c.distance(a)];
            let (low, high) = edge.iter().fold((f64::MAX, 0.0f64), |(l, h), e| (l.min(*e), h.max(*e)));
            assert!((b - a).perp_dot(c - a) > 0.0 && low > 0.4 * high, "{edge:?}");
        }
        let edges = uses(&triangles);
        // A disc: V - E + F = 1.
        assert_eq!(positions.len() + triangles.len(), edges.len() + 1);
        for (e, _) in edges.iter().filter(|e| *e.1 == 1) {
            assert!(e.iter().all(|&v| inside(at(v)).abs() < 1e-5));
        }
    }
}
