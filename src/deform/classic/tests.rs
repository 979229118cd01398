//! Tests against known results and against independent dense solvers.

mod dense;
mod known;
mod robust;

use super::{Arap, ArapOptions, ArapScale, Energy, Lists, Lse, LseOptions, Skinned};
use crate::base::math::{DQuat, DVec3, Vec3};

/// Creates a rippled sheet of `n` by `n` squares, 1 metre wide, with irregular diagonals and some obtuse triangles.
fn sheet(n: u32) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    skewed(n, 0.35)
}

/// Creates a rippled sheet. If `skew` is 0, no edge has a negative weight.
fn skewed(n: u32, skew: f32) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let at = |x: u32, y: u32| y * (n + 1) + x;
    let point = |x: u32, y: u32| {
        let (u, v) = (x as f32 / n as f32, y as f32 / n as f32);
        let skew = skew / n as f32 * ((7 * x + 3 * y) % 5) as f32;
        Vec3::new(u + skew, 0.08 * (5.0 * u).sin() * (4.0 * v).cos(), v + 0.3 * skew * skew)
    };
    let points = (0..=n).flat_map(|y| (0..=n).map(move |x| point(x, y))).collect();
    let mut triangles = Vec::new();
    for (x, y) in (0..n).flat_map(|y| (0..n).map(move |x| (x, y))) {
        let [a, b, c, d] = [at(x, y), at(x + 1, y), at(x + 1, y + 1), at(x, y + 1)];
        match (x * 5 + y * 3) % 3 {
            0 => triangles.extend([[a, b, d], [b, c, d]]),
            _ => triangles.extend([[a, b, c], [a, c, d]]),
        }
    }
    (points, triangles)
}

/// The vertex lists of a sheet: a kinematic handle in the middle, a fixed border, and all other vertices passive.
struct Roi {
    kinematic: Vec<u32>,
    passive: Vec<u32>,
    fixed: Vec<u32>,
}

impl Roi {
    fn of_sheet(n: u32) -> Self {
        let mut out = Self { kinematic: Vec::new(), passive: Vec::new(), fixed: Vec::new() };
        for (y, x) in (0..=n).flat_map(|y| (0..=n).map(move |x| (y, x))) {
            let (dx, dy) = (x.abs_diff(n / 2), y.abs_diff(n / 2));
            let list = if dx.max(dy) <= 1 {
                &mut out.kinematic
            } else if x == 0 || y == 0 || x == n || y == n {
                &mut out.fixed
            } else {
                &mut out.passive
            };
            list.push(y * (n + 1) + x);
        }
        out
    }

    fn lists(&self) -> Lists<'_> {
        Lists { kinematic: &self.kinematic, passive: &self.passive, fixed: &self.fixed }
    }
}

fn doubles(points: &[Vec3]) -> Vec<DVec3> {
    points.iter().map(|p| p.as_dvec3()).collect()
}

/// Returns the start positions, with the handle lifted and rotated.
fn moved(rest: &[Vec3], kinematic: &[u32]) -> Vec<DVec3> {
    let mut shape = doubles(rest);
    let turn = DQuat::from_axis_angle(DVec3::new(0.3, 1.0, 0.2).normalize(), 0.8);
    let center = kinematic.iter().map(|&v| shape[v as usize]).sum::<DVec3>() / kinematic.len() as f64;
    for &v in kinematic {
        let x = &mut shape[v as usize];
        *x = center + DVec3::new(0.05, 0.3, -0.1) + turn * (*x - center);
    }
    shape
}

fn largest(a: &[DVec3], b: &[DVec3]) -> f64 {
    a.iter().zip(b).fold(0.0, |m, (a, b)| m.max(a.distance(*b)))
}
