//! The scale that most joints of a posed character share. Many files convert centimetres to metres by joints of scale
//! 0.01.

use crate::base::math::Affine3A;

/// Scales within this fraction of 1 count as 1, so that rounding changes nothing.
const SAME: f32 = 1e-3;

/// Returns the factor by which a map scales lengths on average: the cube root of the factor by which the map scales
/// volumes.
pub(super) fn mean_scale(map: &Affine3A) -> f32 {
    map.matrix3.determinant().abs().cbrt()
}

/// Returns the median of scales. Returns 1 if the median is missing, not finite, not positive, or within [`SAME`] of 1.
/// Sorts in place and does not allocate.
pub(super) fn median(scales: &mut [f32]) -> f32 {
    scales.sort_unstable_by(f32::total_cmp);
    match scales.get(scales.len() / 2) {
        Some(&scale) if scale.is_finite() && scale > 0.0 && (scale - 1.0).abs() > SAME => scale,
        _ => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::math::Vec3;

    #[test]
    fn most_scales_decide_and_rounding_does_not() {
        assert_eq!(median(&mut [3.0, 2.0, 0.01, 2.0, 2.0]), 2.0);
        assert_eq!(median(&mut [2.0, 0.01, 0.01]), 0.01);
        for ones in [&mut [][..], &mut [7.0, 1.0005, 1.0005], &mut [0.0], &mut [f32::NAN]] {
            assert_eq!(median(ones), 1.0);
        }
        let scale = mean_scale(&Affine3A::from_scale(Vec3::new(1.0, -2.0, 4.0)));
        assert!((scale - 2.0).abs() < 1e-6, "{scale}");
    }
}
