//! The point of a convex polyhedron that minimises a quadratic form: a quadratic program in three variables, solved by
//! adding one constraint at a time (Seidel, "Small-dimensional linear programming and convex hulls made easy", 1991).
//! If the optimum so far violates a constraint, the new optimum lies in the constraint's plane.

use crate::base::math::{DMat3, DVec3};

/// The half-space of the points `x` with `normal · x >= offset`; `normal` has unit length.
#[derive(Clone, Copy, Debug)]
pub(super) struct Half {
    pub normal: DVec3,
    pub offset: f64,
}

/// Returns the point in all half-spaces that minimises `(x - best)ᵀ form (x - best)`, or `None` if there is none. `form`
/// must be positive definite.
pub(super) fn nearest(form: DMat3, best: DVec3, halves: &[Half]) -> Option<DVec3> {
    // With form = L Lᵀ and y = Lᵀ x, the objective is the squared distance between y and Lᵀ best.
    let lower = cholesky(form)?;
    let (upper, back) = (lower.transpose(), lower.transpose().inverse());
    let map = |half: &Half| {
        // normal · x = (L⁻¹ normal) · y
        let normal = back.transpose() * half.normal;
        let length = normal.length();
        Half { normal: normal / length, offset: half.offset / length }
    };
    let halves: Vec<Half> = halves.iter().map(map).collect();
    let found = back * in_space(upper * best, &halves)?;
    found.is_finite().then_some(found)
}

fn cholesky(m: DMat3) -> Option<DMat3> {
    let at = |row: usize, column: usize| m.col(column)[row];
    let a = at(0, 0).sqrt();
    let (b, c) = (at(1, 0) / a, at(2, 0) / a);
    let d = (at(1, 1) - b * b).sqrt();
    let e = (at(2, 1) - b * c) / d;
    let f = (at(2, 2) - c * c - e * e).sqrt();
    let lower = DMat3::from_cols(DVec3::new(a, b, c), DVec3::new(0.0, d, e), DVec3::new(0.0, 0.0, f));
    (lower.is_finite() && a * d * f > 0.0).then_some(lower)
}

/// Tolerance for a violated constraint, relative to the size of its terms.
const TOLERANCE: f64 = 1e-12;

fn violated(half: &Half, x: DVec3) -> bool {
    half.normal.dot(x) < half.offset - TOLERANCE * (x.length() + half.offset.abs())
}

fn in_space(best: DVec3, halves: &[Half]) -> Option<DVec3> {
    let mut x = best;
    for (k, half) in halves.iter().enumerate() {
        if violated(half, x) {
            let on = best + half.normal * (half.offset - half.normal.dot(best));
            x = in_plane(on, half.normal, &halves[..k])?;
        }
    }
    Some(x)
}

/// Returns the point nearest to `best` in the plane through `best` with this normal.
fn in_plane(best: DVec3, normal: DVec3, halves: &[Half]) -> Option<DVec3> {
    let mut x = best;
    for (k, half) in halves.iter().enumerate() {
        if violated(half, x) {
            let within = half.normal - normal * normal.dot(half.normal);
            let slope = within.length();
            if slope < 1e-9 {
                return None;
            }
            let toward = within / slope;
            let on = best + toward * ((half.offset - half.normal.dot(best)) / slope);
            x = on_line(on, normal.cross(toward), &halves[..k])?;
        }
    }
    Some(x)
}

/// Returns the point nearest to `best` on the line through `best` with this direction.
fn on_line(best: DVec3, along: DVec3, halves: &[Half]) -> Option<DVec3> {
    let (mut from, mut to) = (f64::NEG_INFINITY, f64::INFINITY);
    for half in halves {
        let slope = half.normal.dot(along);
        let missing = half.offset - half.normal.dot(best);
        if slope.abs() < 1e-9 {
            if missing > TOLERANCE * (best.length() + half.offset.abs()) {
                return None;
            }
        } else if slope > 0.0 {
            from = from.max(missing / slope);
        } else {
            to = to.min(missing / slope);
        }
    }
    (from <= to + TOLERANCE * best.length()).then(|| best + along * 0.0f64.clamp(from.min(to), to.max(from)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_point_satisfies_the_optimality_conditions() {
        let form = DMat3::from_cols_array(&[4.0, 1.0, 0.0, 1.0, 3.0, 0.5, 0.0, 0.5, 2.0]);
        // Deterministic directions on a spiral around +z.
        let normal = |k: usize| {
            let turn = k as f64 * 2.4;
            DVec3::new(turn.cos(), turn.sin(), 0.4 + 0.05 * k as f64).normalize()
        };
        for count in 1..14 {
            let halves: Vec<Half> = (0..count).map(|k| Half { normal: normal(k), offset: 0.3 }).collect();
            let x = nearest(form, DVec3::new(0.1, -0.4, 0.2), &halves).unwrap();
            assert!(halves.iter().all(|h| h.normal.dot(x) > h.offset - 1e-9), "{count}");
            let value =
                |x: DVec3| (x - DVec3::new(0.1, -0.4, 0.2)).dot(form * (x - DVec3::new(0.1, -0.4, 0.2)));
            // No allowed point nearby is better.
            for k in 0..60 {
                let near =
                    x + 1e-3 * DVec3::new((k as f64).sin(), (k as f64 * 1.7).cos(), (k as f64 * 0.7).sin());
                let allowed = halves.iter().all(|h| h.normal.dot(near) >= h.offset);
                assert!(!allowed || value(near) >= value(x) - 1e-12, "{count} {k}");
            }
        }
        let away = [Half { normal: DVec3::X, offset: 1.0 }, Half { normal: -DVec3::X, offset: 1.0 }];
        assert!(nearest(DMat3::IDENTITY, DVec3::ZERO, &away).is_none());
    }
}
