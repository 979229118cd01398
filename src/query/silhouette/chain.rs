//! Finds the piece of a silhouette that an accent stroke selects.

use super::SilhouettePoint;
use crate::base::math::Vec3;
use crate::base::{Error, Result};
use crate::render::View;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

/// Maximum distance between neighbouring silhouette points per axis, pixels.
const GAP: i32 = 4;
/// Cost factor on the length of a step across a gap.
const ACROSS: f32 = 3.0;
/// Additional cost factor of a step whose distance from the stroke equals the stroke's length.
const ASIDE: f32 = 4.0;

/// Largest length of the piece of silhouette, as a multiple of the stroke's length: a stroke in front of the body would take
/// the outlines of several limbs.
const LONGEST: f32 = 4.0;

/// Returns the piece of silhouette between the points nearest to the stroke's two ends (thesis 7.3). It is the
/// shortest path over neighbouring points, across small gaps. Steps cost more with increasing distance from the
/// stroke, which selects the nearer side of a closed outline, and with increasing jumps in depth.
///
/// `stroke` holds at least two image positions, pixels. `view` and `size` belong to the image.
///
/// # Errors
/// There is no silhouette, no silhouette connects both ends, the one that does is much longer than the stroke, or the stroke
/// is invalid.
pub fn chain(
    points: &[SilhouettePoint],
    stroke: &[[f32; 2]],
    view: &View,
    size: [u32; 2],
) -> Result<Vec<SilhouettePoint>> {
    let refuse = |problem: &str, remedy: &str| Err(Error::input(problem, remedy));
    let length: f32 = stroke.windows(2).map(|p| apart(p[0], p[1])).sum();
    if !(length.is_finite() && length > 0.0) {
        return refuse("the accent stroke has no length", "draw a line");
    }
    let nearest = |to: [f32; 2]| {
        let away = |i: &usize| apart(points[*i].pixel, to);
        (0..points.len()).min_by(|a, b| away(a).total_cmp(&away(b)))
    };
    let (Some(first), Some(last)) = (nearest(stroke[0]), nearest(stroke[stroke.len() - 1])) else {
        return refuse("there is no silhouette", "look at the character");
    };
    if first == last {
        return refuse("both ends of the accent stroke mean one point", "draw along a silhouette");
    }
    let aside = |p: &SilhouettePoint| {
        let away = stroke.windows(2).map(|s| to_segment(p.pixel, s[0], s[1])).fold(f32::INFINITY, f32::min);
        1.0 + ASIDE * away / length
    };
    // Width of a pixel at a distance of one metre, metres.
    let footprint = view.ray_right.length() / size[0].max(1) as f32;
    let width = |p: &SilhouettePoint| footprint * Vec3::from(p.position).distance(view.eye);
    let weights: Vec<f32> = points.iter().map(aside).collect();
    let widths: Vec<f32> = points.iter().map(width).collect();
    let Some(way) = shortest(points, (first, last), &weights, &widths) else {
        return refuse("no silhouette joins the ends of the accent stroke", "draw along one silhouette");
    };
    let found: f32 = way.windows(2).map(|w| apart(points[w[0]].pixel, points[w[1]].pixel)).sum();
    if found > LONGEST * length {
        let problem = "the silhouette between the ends of the accent stroke is much longer than the stroke";
        return refuse(problem, "draw beside the silhouette that should move");
    }
    Ok(way.into_iter().map(|i| points[i]).collect())
}

fn apart(a: [f32; 2], b: [f32; 2]) -> f32 {
    (a[0] - b[0]).hypot(a[1] - b[1])
}

fn to_segment(p: [f32; 2], a: [f32; 2], b: [f32; 2]) -> f32 {
    let (dx, dy) = (b[0] - a[0], b[1] - a[1]);
    let square = dx * dx + dy * dy;
    let s = if square > 0.0 { ((p[0] - a[0]) * dx + (p[1] - a[1]) * dy) / square } else { 0.0 };
    let s = s.clamp(0.0, 1.0);
    apart(p, [a[0] + dx * s, a[1] + dy * s])
}

/// Runs Dijkstra's algorithm over points within [`GAP`] of each other. `weights` are the steps' cost factors, and
/// `widths` are the pixel widths at each point, metres.
fn shortest(
    points: &[SilhouettePoint],
    (first, last): (usize, usize),
    weights: &[f32],
    widths: &[f32],
) -> Option<Vec<usize>> {
    let cell = |p: &SilhouettePoint| p.pixel.map(|x| x.floor() as i32);
    let mut at: HashMap<[i32; 2], Vec<usize>> = HashMap::with_capacity(points.len());
    points.iter().enumerate().for_each(|(i, p)| at.entry(cell(p)).or_default().push(i));
    let mut best = vec![f32::INFINITY; points.len()];
    let mut from = vec![usize::MAX; points.len()];
    // Costs are not negative, so their bit patterns have the same order.
    let mut queue = BinaryHeap::from([Reverse((0u32, first))]);
    best[first] = 0.0;
    while let Some(Reverse((bits, i))) = queue.pop() {
        let so_far = f32::from_bits(bits);
        if i == last {
            let mut way = vec![last];
            while way[way.len() - 1] != first {
                way.push(from[way[way.len() - 1]]);
            }
            way.reverse();
            return Some(way);
        }
        if so_far > best[i] {
            continue;
        }
        let [x, y] = cell(&points[i]);
        for (dx, dy) in (-GAP..=GAP).flat_map(|dx| (-GAP..=GAP).map(move |dy| (dx, dy))) {
            for &k in at.get(&[x + dx, y + dy]).map_or(&[][..], |list| list) {
                if k == i {
                    continue;
                }
                let step = apart(points[i].pixel, points[k].pixel);
                let gap = if step > 1.5 { ACROSS } else { 1.0 };
                let space = Vec3::from(points[i].position).distance(points[k].position.into());
                let jump = space / widths[i].min(widths[k]).max(f32::MIN_POSITIVE);
                // Along a silhouette the surface recedes from the camera, so a small change of depth is not a jump.
                let far = (jump - 4.0 * step).clamp(0.0, 1e6);
                let cost = so_far + (gap * step + far) * 0.5 * (weights[i] + weights[k]);
                if cost < best[k] {
                    best[k] = cost;
                    from[k] = i;
                    queue.push(Reverse((cost.to_bits(), k)));
                }
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::Camera;

    fn view() -> View {
        Camera { eye: Vec3::Z * 5.0, target: Vec3::ZERO, up: Vec3::Y, fov_y: 0.5 }.view(1.0)
    }

    fn at(pixel: [f32; 2], z: f32) -> SilhouettePoint {
        let width = view().ray_right.length() / 100.0 * 5.0;
        let position = [(pixel[0] - 50.0) * width, (50.0 - pixel[1]) * width, z];
        SilhouettePoint {
            pixel,
            part: 0,
            triangle: 0,
            barycentrics: [1.0, 0.0, 0.0],
            position,
            strength: 1.0,
        }
    }

    /// A circle of pixels around the image centre, radius 30.
    fn circle() -> Vec<SilhouettePoint> {
        let mut out: Vec<SilhouettePoint> = Vec::new();
        for k in 0..720 {
            let (s, c) = (k as f32 / 720.0 * std::f32::consts::TAU).sin_cos();
            let pixel = [50.0 + 30.0 * c, 50.0 + 30.0 * s].map(|x| x.floor() + 0.5);
            if out.iter().all(|p| p.pixel != pixel) {
                out.push(at(pixel, 0.0));
            }
        }
        out
    }

    #[test]
    fn of_a_closed_outline_the_side_at_the_stroke_is_meant() {
        let points = circle();
        for side in [-1.0, 1.0] {
            // A stroke from left to right that passes above or below the centre. Its ends are nearly opposite on the
            // circle, so both halves of the circle are equally long.
            let stroke = [[19.0, 50.0], [50.0, 50.0 + 38.0 * side], [81.0, 50.0]];
            let way = chain(&points, &stroke, &view(), [100, 100]).unwrap();
            assert!(way.len() > 40, "{}", way.len());
            assert!(way[0].pixel[0] < 22.0 && way[way.len() - 1].pixel[0] > 78.0);
            assert!(way.iter().all(|p| (p.pixel[1] - 50.0) * side > -4.0), "{side}");
            assert!(way.windows(2).all(|p| apart(p[0].pixel, p[1].pixel) < 1.5));
        }
    }

    #[test]
    fn a_short_stroke_inside_an_outline_takes_none_of_its_long_halves() {
        let error =
            chain(&circle(), &[[45.0, 50.0], [55.0, 50.0]], &view(), [100, 100]).unwrap_err().to_string();
        assert!(error.contains("much longer than the stroke; draw beside"), "{error}");
    }

    #[test]
    fn small_gaps_are_crossed_and_large_ones_are_not() {
        let line = |skip: std::ops::Range<u32>| -> Vec<SilhouettePoint> {
            (10..90).filter(|x| !skip.contains(x)).map(|x| at([x as f32 + 0.5, 50.5], 0.0)).collect()
        };
        let stroke = [[12.0, 45.0], [88.0, 45.0]];
        let way = chain(&line(40..43), &stroke, &view(), [100, 100]).unwrap();
        assert_eq!((way[0].pixel[0], way[way.len() - 1].pixel[0]), (11.5, 87.5));
        let error = chain(&line(40..60), &stroke, &view(), [100, 100]).unwrap_err().to_string();
        assert!(error.contains("joins"), "{error}");
    }

    #[test]
    fn a_silhouette_far_behind_is_no_short_cut() {
        // The silhouette in front makes a detour. A straight shortcut lies two metres behind its middle.
        let mut points: Vec<SilhouettePoint> = Vec::new();
        for x in 10..90 {
            let up = 12.0 - (x as f32 - 50.0).abs() * 0.3;
            points.push(at([x as f32 + 0.5, (50.0 - up).floor() + 0.5], 0.0));
            if (30..70).contains(&x) {
                points.push(at([x as f32 + 0.5, 50.5], -2.0));
            }
        }
        let way = chain(&points, &[[10.0, 50.0], [90.0, 50.0]], &view(), [100, 100]).unwrap();
        assert!(way.iter().all(|p| p.position[2] == 0.0));
    }

    #[test]
    fn what_is_no_stroke_or_no_silhouette_is_refused() {
        let points = circle();
        let says = |points: &[SilhouettePoint], stroke: &[[f32; 2]]| {
            chain(points, stroke, &view(), [100, 100]).unwrap_err().to_string()
        };
        assert!(says(&points, &[]).contains("no length"));
        assert!(says(&points, &[[1.0, 1.0], [f32::NAN, 2.0]]).contains("no length"));
        assert!(says(&points, &[[90.0, 50.0], [90.5, 50.0]]).contains("one point"));
        assert!(says(&[], &[[1.0, 1.0], [2.0, 2.0]]).contains("no silhouette"));
    }
}
