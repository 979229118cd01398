//! The pen of the tools that draw: where a stroke goes when the brush tip moves.

use super::Moment;
use crate::base::math::Vec3;
use crate::workbench::{Pen, Tracking};

/// Length of the string on which a steady pen hangs behind the tip, room metres.
const STRING: f32 = 0.02;
/// The slope of a straight stroke snaps to multiples of this angle, radians.
const SLOPE: f32 = std::f32::consts::PI / 12.0;
/// Maximum angle by which snapping changes a slope, radians.
const SNAP: f32 = std::f32::consts::PI / 60.0;

/// Minimum distance between the points of a stroke in the air, room metres.
const STILL: f32 = 0.002;

/// Returns the next point of a stroke that began at `first` and now ends at `last`. `scale` is world metres per room
/// metre.
pub fn next(pen: Pen, first: Vec3, last: Vec3, tip: Vec3, scale: f32) -> Vec3 {
    match pen {
        Pen::Free => tip,
        Pen::Steady => {
            let way = tip - last;
            last + way * pulled(way.length(), STRING * scale)
        }
        Pen::Straight => snapped(first, tip),
    }
}

/// Returns the fraction of the way to the tip by which a string of this length pulls a steady pen.
fn pulled(distance: f32, string: f32) -> f32 {
    1.0 - string / distance.max(string)
}

/// As [`pulled`], for a pen on the skin. Its string is shorter, because limbs are thin.
pub fn pulled_on_skin(distance: f32, scale: f32) -> f32 {
    pulled(distance, 0.5 * STRING * scale)
}

/// Continues a stroke in the air, up to `most` points. Returns whether the stroke has changed.
pub fn draw(points: &mut Vec<Vec3>, moment: &Moment, most: usize) -> bool {
    let tip = moment.hand().tip.position;
    let [first, last] = [points.first(), points.last()].map(|p| p.copied().unwrap_or(tip));
    add(points, moment, next(moment.pen, first, last, tip, moment.scale), most)
}

/// Ends a stroke in the air: that of a steady pen ends at the tip. Returns whether the stroke has changed.
pub fn end(points: &mut Vec<Vec3>, moment: &Moment, most: usize) -> bool {
    let hand = moment.hand();
    let ends = moment.pen == Pen::Steady && hand.tip_tracking == Tracking::Tracked && !points.is_empty();
    ends && add(points, moment, hand.tip.position, most)
}

fn add(points: &mut Vec<Vec3>, moment: &Moment, at: Vec3, most: usize) -> bool {
    let near = points.last().is_some_and(|p| p.distance(at) < STILL * moment.scale);
    if near || points.len() >= most || !at.is_finite() {
        return false;
    }
    if moment.pen == Pen::Straight {
        points.truncate(1);
    }
    points.push(at);
    true
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
