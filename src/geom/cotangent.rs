//! Cotangent weights (thesis eq. 7).

use crate::base::math::DVec3;

/// Threshold of twice a triangle's area over its longest side squared. Below it the triangle counts as flat, because
/// its angles are rounding errors of f32 positions.
const FLAT: f64 = 1e-6;

/// Returns half the cotangent of the angle at each corner (eq. 7). This is the triangle's contribution to the weight
/// of the opposite edge, so an inner edge has the weight `½ (cot α + cot β)`.
///
/// Flat triangles, including triangles of size zero, get the weights of an equilateral triangle. **(differs:** their
/// cotangents are infinite, and a mesh with one flat triangle could not be solved at all**)** The quadratic form of a
/// triangle's weights is positive semidefinite for any angles, so the assembled systems are too.
pub fn half_cotangents(corners: [DVec3; 3]) -> [f64; 3] {
    let [a, b, c] = corners;
    let longest = (b - a).length_squared().max((c - b).length_squared()).max((a - c).length_squared());
    let area = (b - a).cross(c - a).length();
    let at = |p: DVec3, q: DVec3, r: DVec3| 0.5 * (q - p).dot(r - p) / area;
    if area > FLAT * longest { [at(a, b, c), at(b, c, a), at(c, a, b)] } else { [0.5 / 3.0f64.sqrt(); 3] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_triangles() {
        let close =
            |a: [f64; 3], b: [f64; 3]| assert!(a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-12), "{a:?}");
        close(half_cotangents([DVec3::ZERO, DVec3::X, DVec3::Y]), [0.0, 0.5, 0.5]);
        let third = 0.5 / 3.0f64.sqrt();
        close(half_cotangents([DVec3::X, DVec3::Y, DVec3::Z]), [third; 3]);
        close(half_cotangents([DVec3::X * 1e-30, DVec3::Y * 1e-30, DVec3::ZERO]), [0.5, 0.5, 0.0]);
        // The corner with an angle of 120 degrees has a negative weight.
        let wide = half_cotangents([DVec3::ZERO, DVec3::X, DVec3::new(-0.5, 0.75f64.sqrt(), 0.0)]);
        close(wide, [-third, 0.5 * 3.0f64.sqrt(), 0.5 * 3.0f64.sqrt()]);
    }

    #[test]
    fn flat_triangles_weigh_as_equilateral_ones() {
        let third = [0.5 / 3.0f64.sqrt(); 3];
        assert_eq!(half_cotangents([DVec3::ONE; 3]), third);
        assert_eq!(half_cotangents([DVec3::ZERO, DVec3::X, DVec3::X * 0.3]), third);
        assert_eq!(half_cotangents([DVec3::ZERO, DVec3::X, DVec3::NAN]), third);
    }
}
