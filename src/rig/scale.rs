//! The scale that most joints of a posed character share: files often turn centimetres into metres by joints of scale 0.01.

use crate::base::math::Affine3A;

/// Scales within this fraction of 1 count as 1, so that rounding changes nothing.
const SAME: f32 = 1e-3;

/// The factor by which a map scales lengths on average: the cube root of that of volumes.
pub fn mean_scale(map: &Affine3A) -> f32 {
    map.matrix3.determinant().abs().cbrt()
}

/// The median of scales with their weights, in any order; 1 without a usable one. Sorts in place, allocates nothing.
pub fn median_scale(scales: &mut [(f32, u32)]) -> f32 {
    scales.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let mut left = scales.iter().map(|s| s.1).sum::<u32>() / 2;
    let middle = scales.iter().find(|s| {
        let found = left < s.1;
        left = left.saturating_sub(s.1);
        found
    });
    match middle {
        Some(&(scale, _)) if scale.is_finite() && scale > 0.0 && (scale - 1.0).abs() > SAME => scale,
        _ => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::math::Vec3;

    #[test]
    fn most_of_the_weight_decides_and_rounding_does_not() {
        assert_eq!(median_scale(&mut [(0.01, 1), (2.0, 3), (3.0, 1)]), 2.0);
        assert_eq!(median_scale(&mut [(0.01, 3), (2.0, 2)]), 0.01);
        for ones in [&mut [][..], &mut [(1.0005, 4), (7.0, 1)], &mut [(0.0, 1)], &mut [(f32::NAN, 1)]] {
            assert_eq!(median_scale(ones), 1.0);
        }
        let scale = mean_scale(&Affine3A::from_scale(Vec3::new(1.0, -2.0, 4.0)));
        assert!((scale - 2.0).abs() < 1e-6, "{scale}");
    }
}
