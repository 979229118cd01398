//! Models built on a grid: a bar, a plus, and capsules with any number of vertices for benchmarks.

use super::model::{Model, Normals, Paint, Rig, Weights, quantize};
use crate::base::math::{IVec3, Vec3};
use std::collections::HashMap;

/// Directions of each side of a cell: the outward normal, and two tangents in counter-clockwise order.
const SIDES: [[IVec3; 3]; 6] = [
    [IVec3::X, IVec3::Y, IVec3::Z],
    [IVec3::NEG_X, IVec3::Z, IVec3::Y],
    [IVec3::Y, IVec3::Z, IVec3::X],
    [IVec3::NEG_Y, IVec3::X, IVec3::Z],
    [IVec3::Z, IVec3::X, IVec3::Y],
    [IVec3::NEG_Z, IVec3::Y, IVec3::X],
];

/// Returns a smooth step from 0 at `-width` to 1 at `width`.
fn step(x: f32, width: f32) -> f32 {
    let t = (x / width * 0.5 + 0.5).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

/// Returns the weights at `s` along a chain of bones that start at `starts`; the weights sum to one.
fn chain(s: f32, starts: &[f32], width: f32) -> Vec<f32> {
    let past = |i: usize| match starts.get(i) {
        Some(_) if i == 0 => 1.0,
        Some(start) => step(s - start, width),
        None => 0.0,
    };
    (0..starts.len()).map(|i| past(i) - past(i + 1)).collect()
}

fn tones() -> Vec<Paint> {
    vec![Paint::srgb("Light", [226, 205, 160], 0.6), Paint::srgb("Dark", [62, 104, 140], 0.5)]
}

/// Builds the surface of the filled unit cells, with flat normals and checker squares of four cells. `place` maps
/// lattice points to space.
fn cells(
    name: &'static str,
    size: IVec3,
    filled: impl Fn(IVec3) -> bool,
    place: impl Fn(IVec3) -> Vec3,
    rig: Rig,
    weigh: impl Fn(Vec3) -> Vec<f32>,
) -> Model {
    let mut vertex_of: HashMap<IVec3, u32> = HashMap::new();
    let mut points: Vec<IVec3> = Vec::new();
    let (mut triangles, mut flat, mut paint_of) = (Vec::new(), Vec::new(), Vec::new());
    for z in 0..size.z {
        for y in 0..size.y {
            for x in 0..size.x {
                let cell = IVec3::new(x, y, z);
                for [out, u, v] in SIDES {
                    if !filled(cell) || filled(cell + out) {
                        continue;
                    }
                    let corner = cell + out.max(IVec3::ZERO);
                    let [a, b, c, d] = [corner, corner + u, corner + u + v, corner + v].map(|p| {
                        *vertex_of.entry(p).or_insert_with(|| {
                            points.push(p);
                            points.len() as u32 - 1
                        })
                    });
                    // Alternating diagonals, so that the mesh has no preferred direction.
                    let even = (corner.dot(IVec3::ONE)) % 2 == 0;
                    triangles.extend(if even { [[a, b, c], [a, c, d]] } else { [[b, c, d], [b, d, a]] });
                    flat.extend([out.as_vec3(); 2]);
                    let tone = (cell / 4).dot(IVec3::ONE) % 2;
                    paint_of.extend([tone as u8; 2]);
                }
            }
        }
    }
    let positions: Vec<Vec3> = points.into_iter().map(place).collect();
    let weights: Vec<Weights> = positions.iter().map(|&p| quantize(&weigh(p))).collect();
    Model {
        name,
        rig,
        positions,
        normals: Normals::Flat(flat),
        triangles,
        paint_of,
        paints: tones(),
        weights,
        motion: None,
    }
}

/// Builds an upright bar of 10 x 40 x 10 cells, 0.25 x 1 x 0.25 m: 1802 vertices, 3600 triangles, four joints.
pub(super) fn bar() -> Model {
    let size = IVec3::new(10, 40, 10);
    let starts = [0.0, 0.25, 0.5, 0.75];
    let mut rig = Rig::default();
    for (i, &y) in starts.iter().enumerate() {
        rig.add(format!("Bone{}", i + 1), i.checked_sub(1), Vec3::Y * y);
    }
    let filled = |c: IVec3| c.cmpge(IVec3::ZERO).all() && c.cmplt(size).all();
    let place = |p: IVec3| (p - IVec3::new(5, 0, 5)).as_vec3() / 40.0;
    cells("Box", size, filled, place, rig, |p| chain(p.y, &starts, 0.1))
}

/// Builds a plus of five cubes of 16 cells, side 0.32 m: 5634 vertices, 11264 triangles, 17 joints.
pub(super) fn plus() -> Model {
    const SIDE: f32 = 0.32;
    let middle = Vec3::new(0.0, 1.5 * SIDE, 0.0);
    let arms = [("Left", Vec3::X), ("Right", Vec3::NEG_X), ("Up", Vec3::Y), ("Down", Vec3::NEG_Y)];
    let starts: [f32; 4] = std::array::from_fn(|i| SIDE * (0.5 + 0.25 * i as f32));
    let mut rig = Rig::default();
    let center = rig.add("Center", None, middle);
    for (name, direction) in arms {
        let mut parent = center;
        for (i, &start) in starts.iter().enumerate() {
            parent = rig.add(format!("{name}{}", i + 1), Some(parent), middle + direction * start);
        }
    }
    let size = IVec3::new(48, 48, 16);
    let filled = move |c: IVec3| {
        let inside = c.cmpge(IVec3::ZERO).all() && c.cmplt(size).all();
        inside && (c.x / 16 == 1 || c.y / 16 == 1)
    };
    let place = |p: IVec3| (p - IVec3::new(24, 0, 8)).as_vec3() * (SIDE / 16.0);
    let weigh = |p: Vec3| {
        let mut weights = [0.0; 17];
        let mut rest = 1.0;
        for (arm, (_, direction)) in arms.iter().enumerate() {
            let along = (p - middle).dot(*direction);
            let owned = step(along - starts[0], 0.08);
            rest *= 1.0 - owned;
            for (i, w) in chain(along, &starts, 0.04).into_iter().enumerate() {
                weights[1 + arm * 4 + i] = owned * w;
            }
        }
        weights[0] = rest;
        let sum: f32 = weights.iter().sum();
        weights.iter().map(|w| w / sum).collect()
    };
    cells("Plus", size, filled, place, rig, weigh)
}

/// Returns sine and cosine of a fraction of a full circle, by series in f64. The platform's own functions may give
/// different results on different machines.
fn turn(part: f64) -> (f32, f32) {
    let x = (part - part.round()) * std::f64::consts::TAU;
    let (mut sine, mut cosine, mut term) = (0.0, 0.0, 1.0);
    for n in 0..24 {
        match n % 4 {
            0 => cosine += term,
            1 => sine += term,
            2 => cosine -= term,
            _ => sine -= term,
        }
        term *= x / f64::from(n + 1);
    }
    (sine as f32, cosine as f32)
}

/// Builds an upright capsule, 1 m high, radius 0.15 m, with about `vertices` vertices (at least 50) and four joints.
pub(super) fn capsule(vertices: usize) -> Model {
    const RADIUS: f32 = 0.15;
    const STRAIGHT: f32 = 0.7;
    let quarter = std::f32::consts::FRAC_PI_2 * RADIUS;
    let meridian = STRAIGHT + 2.0 * quarter;
    // The poles are triangle fans, and the springs allow 255 neighbours, so at most 250 vertices lie on a ring.
    let around = ((vertices as f32 * 4.0 * quarter / meridian).sqrt() as usize).clamp(6, 250);
    let rings = ((vertices.max(50) - 2 + around / 2) / around).max(4);
    let starts = [0.0, 0.25, 0.5, 0.75];
    let mut rig = Rig::default();
    for (i, &y) in starts.iter().enumerate() {
        rig.add(format!("Bone{}", i + 1), i.checked_sub(1), Vec3::Y * y);
    }
    let mut positions = vec![Vec3::ZERO];
    let mut normals = vec![Vec3::NEG_Y];
    let circle: Vec<(f32, f32)> = (0..around).map(|i| turn(i as f64 / around as f64)).collect();
    for r in 0..rings {
        let along = meridian * (r as f32 + 1.0) / (rings as f32 + 1.0);
        // The point lies on the bottom cap, the top cap or the wall.
        let (center, bend) = if along < quarter {
            (RADIUS, along / quarter - 1.0)
        } else if along > quarter + STRAIGHT {
            (RADIUS + STRAIGHT, (along - quarter - STRAIGHT) / quarter)
        } else {
            (RADIUS + along - quarter, 0.0)
        };
        let (up, out) = turn(f64::from(bend) / 4.0);
        for &(s, c) in &circle {
            let normal = Vec3::new(c * out, up, s * out);
            normals.push(normal.normalize());
            positions.push(Vec3::Y * center + normal * RADIUS);
        }
    }
    positions.push(Vec3::Y * (STRAIGHT + 2.0 * RADIUS));
    normals.push(Vec3::Y);
    let at = |r: usize, i: usize| (1 + r * around + i % around) as u32;
    let top = positions.len() as u32 - 1;
    let mut triangles = Vec::with_capacity(2 * rings * around);
    for i in 0..around {
        triangles.push([0, at(0, i), at(0, i + 1)]);
        for r in 0..rings - 1 {
            let (a, b, c, d) = (at(r, i), at(r + 1, i), at(r + 1, i + 1), at(r, i + 1));
            triangles.extend(if (r + i) % 2 == 0 { [[a, b, c], [a, c, d]] } else { [[b, c, d], [b, d, a]] });
        }
        triangles.push([top, at(rings - 1, i + 1), at(rings - 1, i)]);
    }
    let weights = positions.iter().map(|p| quantize(&chain(p.y, &starts, 0.1))).collect();
    Model {
        name: "Tube",
        rig,
        paint_of: vec![0; triangles.len()],
        positions,
        normals: Normals::Smooth(normals),
        triangles,
        paints: tones(),
        weights,
        motion: None,
    }
}
