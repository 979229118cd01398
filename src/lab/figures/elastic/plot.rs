//! Curves over the number of iterations, drawn as lines.

use crate::base::Result;
use crate::base::math::{Aabb, Quat, Vec3};
use crate::render::Lines;
use crate::scene::{Angle, Evaluation, Studio, print};
use image::RgbaImage;

/// Number of powers of ten on the vertical axis, below 1.
const DECADES: usize = 4;
/// Width of the picture relative to its height.
const WIDE: f32 = 1.3;
/// Distance that moves the body out of the picture, metres.
const AWAY: f32 = 50.0;
const GRID: [u8; 4] = [150, 154, 162, 255];
const INK: [u8; 4] = [240, 240, 240, 255];

/// Draws curves of values from 1 down to 10^-4 on a logarithmic axis. `body` is a shape of the studio's model.
///
/// # Errors
/// Any error of [`Studio::picture`].
pub(super) fn plot(
    studio: &mut Studio,
    body: &Evaluation,
    curves: &[(&[f64], [u8; 4])],
    height: u32,
) -> Result<RgbaImage> {
    let count = curves.iter().map(|(values, _)| values.len()).max().unwrap_or(0).max(2) - 1;
    let across = |k: usize| WIDE * k as f32 / count as f32;
    let up = |value: f64| 1.0 + value.max(f64::MIN_POSITIVE).log10() as f32 / DECADES as f32;
    let mut lines = Lines::default();
    let rule = |a: Vec3, b: Vec3, lines: &mut Lines| lines.polyline(&[a, b], GRID, 1.2, 0.0);
    for decade in 0..=DECADES {
        let y = 1.0 - decade as f32 / DECADES as f32;
        rule(Vec3::Y * y, Vec3::new(WIDE, y, 0.0), &mut lines);
        let label = format!("{:.*}", decade, 0.1f64.powi(decade as i32));
        print(&label, Vec3::new(-0.13, y - 0.045, 0.0), Quat::IDENTITY, 0.045, INK, &mut lines);
    }
    for k in (0..=count).step_by(5) {
        rule(Vec3::X * across(k), Vec3::new(across(k), 1.0, 0.0), &mut lines);
        let at = Vec3::new(across(k), -0.11, 0.0);
        print(&k.to_string(), at, Quat::IDENTITY, 0.045, INK, &mut lines);
    }
    for (values, color) in curves {
        let point = |(k, value): (usize, &f64)| Vec3::new(across(k), up(*value), 0.0);
        let points: Vec<Vec3> = values.iter().enumerate().map(point).take_while(|p| p.y >= 0.0).collect();
        lines.polyline(&points, *color, 3.5, 1.0);
        points.iter().for_each(|p| lines.dot(*p, *color, 7.0));
    }
    let mut away = body.clone();
    away.positions.iter_mut().for_each(|x| x.x += AWAY);
    let look = studio.look_mut();
    (look.floor, look.shadows) = (false, false);
    let frame = Aabb { min: Vec3::new(-0.24, -0.12, 0.0), max: Vec3::new(WIDE + 0.06, 1.05, 0.0) };
    let size = [(height as f32 * frame.size().x / frame.size().y) as u32, height];
    studio.picture(&away, &frame, Angle { yaw: 0.0, pitch: 0.0 }, size, &lines)
}
