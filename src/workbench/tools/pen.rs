//! The pen of the line tool: where a stroke goes when the brush tip moves.

use crate::base::math::Vec3;
use crate::workbench::Pen;

/// Length of the string on which a steady pen hangs behind the tip, room metres.
const STRING: f32 = 0.02;
/// The slope of a straight stroke snaps to multiples of this angle, radians.
const SLOPE: f32 = std::f32::consts::PI / 12.0;
/// Maximum angle by which snapping changes a slope, radians.
const SNAP: f32 = std::f32::consts::PI / 60.0;

/// Returns the next point of a stroke that began at `first` and now ends at `last`. `scale` is world metres per room
/// metre.
pub fn next(pen: Pen, first: Vec3, last: Vec3, tip: Vec3, scale: f32) -> Vec3 {
    match pen {
        Pen::Free => tip,
        Pen::Steady => {
            let way = tip - last;
            last + way * (1.0 - STRING * scale / way.length().max(STRING * scale))
        }
        Pen::Straight => snapped(first, tip),
    }
}

/// Rotates the segment from `first` to `tip` to the nearest multiple of [`SLOPE`] against the floor, if that is near.
/// Returns the end of the segment.
fn snapped(first: Vec3, tip: Vec3) -> Vec3 {
    let (way, flat) = (tip - first, (tip - first) * Vec3::new(1.0, 0.0, 1.0));
    let slope = way.y.atan2(flat.length());
    let near = (slope / SLOPE).round() * SLOPE;
    if (slope - near).abs() > SNAP {
        return tip;
    }
    let (up, along) = near.sin_cos();
    first + way.length() * (along * flat.normalize_or_zero() + up * Vec3::Y)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slopes_near_a_multiple_of_fifteen_degrees_snap_and_others_stay() {
        let first = Vec3::new(0.3, 1.0, -0.2);
        let at = |degrees: f32, turn: f32| {
            let (up, along) = degrees.to_radians().sin_cos();
            first + 0.5 * Vec3::new(along * turn.cos(), up, along * turn.sin())
        };
        for turn in [0.0, 1.0, 4.0] {
            for (drawn, wanted) in
                [(2.0, 0.0), (-43.0, -45.0), (88.0, 90.0), (7.5, 7.5), (63.5, 63.5), (-90.0, -90.0)]
            {
                let end = next(Pen::Straight, first, first, at(drawn, turn), 1.0);
                assert!(end.distance(at(wanted, turn)) < 1e-5, "{drawn}: {end}");
            }
        }
        assert_eq!(next(Pen::Straight, first, first, first, 1.0), first);
    }

    #[test]
    fn a_steady_pen_follows_on_a_string_and_stays_while_the_string_is_slack() {
        let (last, scale) = (Vec3::new(1.0, 2.0, 3.0), 2.0);
        let moved = |tip: Vec3| next(Pen::Steady, Vec3::ZERO, last, tip, scale) - last;
        assert_eq!(moved(last), Vec3::ZERO);
        assert_eq!(moved(last + 0.039 * Vec3::X), Vec3::ZERO);
        assert!(moved(last + 0.1 * Vec3::Y).distance(0.06 * Vec3::Y) < 1e-6);
        assert_eq!(next(Pen::Free, Vec3::ZERO, last, Vec3::X, scale), Vec3::X);
    }
}
