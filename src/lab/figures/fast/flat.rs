//! Flat shapes: figures 4, 6 and 7 of the FAST paper.

use super::held::{Held, Move, bare, nearest, within};
use super::sheet::{capsule, sheet};
use super::unreduced::Unreduced;
use super::{PLACE, REGION, framing};
use crate::base::Result;
use crate::base::math::{Aabb, DVec2, Quat, Vec3, Vec4};
use crate::commands::fast::surfaced;
use crate::deform::fast::{Body, Grips, Params};
use crate::lab::figures::easel::Easel;
use crate::render::Lines;
use crate::rig::PosedRig;
use crate::scene::{Angle, Cell, Model, Studio};
use std::f32::consts::{PI, TAU};
use std::sync::Arc;

const FRONT: [f32; 2] = [0.0, 0.0];

/// The capsules of the gingerbread man's right half: two ends and a radius, metres.
const MAN: [([f64; 2], [f64; 2], f64); 4] = [
    ([0.0, 1.46], [0.0, 1.46], 0.27),
    ([0.0, 1.04], [0.0, 0.66], 0.27),
    ([0.10, 1.06], [0.62, 1.02], 0.13),
    ([0.14, 0.50], [0.26, 0.13], 0.14),
];

/// Signed distance to the gingerbread man, with rounded joints.
fn man(p: DVec2) -> f64 {
    let p = DVec2::new(p.x.abs(), p.y);
    MAN.iter().fold(f64::MAX, |sum, (a, b, radius)| {
        let (own, blend) = (capsule(p, DVec2::from(*a), DVec2::from(*b), *radius), 0.08);
        let h = (0.5 + 0.5 * (own - sum) / blend).clamp(0.0, 1.0);
        own + (sum.min(10.0) - own) * h - blend * h * (1.0 - h)
    })
}

pub(super) fn clusters(easel: &mut Easel<'_>) -> Result<Vec<Vec<Cell>>> {
    let (positions, triangles) = sheet(&man, [-1.0, 1.8], 0.03);
    let model = bare(positions, triangles)?;
    let control = &model.bound.character.control;
    let mesh = Unreduced::new(&control.positions, &control.triangles);
    let points = [[0.0, 1.5], [0.66, 1.02], [-0.66, 1.02], [0.22, 1.04], [-0.22, 1.04]].into_iter().chain([
        [0.15, 0.55],
        [-0.15, 0.55],
        [0.27, 0.10],
        [-0.27, 0.10],
    ]);
    let grips: Vec<Vec<u32>> = points.map(|[x, y]| nearest(&model, Vec3::new(x, y, 0.0))).collect();
    let place = |x: f32, y: f32| Move::place(x, y, 0.0);
    let moves = [
        place(0.24, -0.04),
        place(-0.06, 0.52),
        place(0.16, -0.40),
        place(0.06, 0.04),
        place(0.08, -0.05),
        place(0.0, 0.0),
        place(0.0, 0.0),
        place(0.38, 0.16),
        place(-0.12, 0.0),
    ];
    let mut cells = Vec::new();
    let mut shapes = Vec::new();
    for count in [2, 4, 9, 18, 36, 72, 288] {
        let settings = [("clusters", count.into()), ("extra", 0.into())];
        let mut held = Held::new(easel, &model, &grips, &settings, (FRONT, [340, 400]))?;
        held.sitter.frame = Some(framing(Vec3::new(-0.75, 0.0, 0.0), Vec3::new(0.85, 1.75, 0.0)));
        held.sitter.studio.look_mut().wire = true;
        if shapes.is_empty() {
            cells.push(held.shot(&[place(0.0, 0.0); 9], "9 points")?);
        }
        let shape = held.pose(&moves)?;
        shapes.push((count, mesh.energy(&shape.control), shape, held));
    }
    let least = shapes.iter().map(|s| s.1).fold(f64::MAX, f64::min);
    for (count, energy, shape, mut held) in shapes {
        let mut lines = Lines::default();
        held.dots(&shape, &mut lines);
        let caption = format!("r = {count}\nenergy {:.2}", energy / least);
        cells.push(held.sitter.picture(&shape, &lines, &caption)?);
    }
    let second = cells.split_off(4);
    Ok(vec![cells, second])
}

/// Builds a cigar along x, 2.2 m long.
fn cigar(step: f64) -> Result<Arc<Model>> {
    let inside = |p: DVec2| capsule(p, DVec2::new(-0.9, 0.0), DVec2::new(0.9, 0.0), 0.2);
    let (positions, triangles) = sheet(&inside, [-1.2, 1.2], step);
    bare(positions, triangles)
}

fn unreduced(model: &Model) -> Unreduced {
    let control = &model.bound.character.control;
    Unreduced::new(&control.positions, &control.triangles)
}

/// Draws a shape that does not come from a deformer.
fn drawn(
    studio: &mut Studio,
    model: &Model,
    x: Vec<Vec3>,
    (frame, size): (&Aabb, [u32; 2]),
    lines: &Lines,
    caption: &str,
) -> Result<Cell> {
    let shape = surfaced(model, &PosedRig::new(model.skeleton(), &model.rest()), x);
    let picture = studio.picture(&shape, frame, Angle { yaw: 0.0, pitch: 0.0 }, size, lines)?;
    Ok(Cell { picture, caption: caption.lines().map(str::to_owned).collect() })
}

pub(super) fn stretched(easel: &mut Easel<'_>) -> Result<Vec<Vec<Cell>>> {
    let model = cigar(0.025)?;
    let grips = [-0.9, 0.9].map(|x| nearest(&model, Vec3::X * x));
    let by = 0.4;
    let size = [640, 200];
    let frame = framing(Vec3::new(-1.5, -0.25, 0.0), Vec3::new(1.5, 0.25, 0.0));
    let close = framing(Vec3::new(-1.55, -0.18, 0.0), Vec3::new(-0.85, 0.18, 0.0));
    let mut x = model.bound.character.control.positions.clone();
    for (grip, side) in grips.iter().zip([-1.0, 1.0]) {
        grip.iter().for_each(|&v| x[v as usize].x += side * by);
    }
    unreduced(&model).solve(&grips.concat(), &mut x, 2000)?;
    let mut held = Held::new(easel, &model, &grips, &[("extra", 15.into())], (FRONT, size))?;
    let rest = held.pose(&[Move::place(0.0, 0.0, 0.0); 2])?.control;
    let ours = held.pose(&[Move::place(-by, 0.0, 0.0), Move::place(by, 0.0, 0.0)])?.control;
    let studio = &mut held.sitter.studio;
    studio.look_mut().wire = true;
    let mut rows = Vec::new();
    for (x, caption) in [(rest, "two points"), (x, "unreduced, a rotation per triangle"), (ours, "FAST")] {
        let mut lines = Lines::default();
        grips.iter().flatten().for_each(|&v| lines.dot(x[v as usize], PLACE, 12.0));
        let wide = drawn(studio, &model, x.clone(), (&frame, size), &lines, caption)?;
        rows.push(vec![wide, drawn(studio, &model, x, (&close, size), &Lines::default(), "left end")?]);
    }
    Ok(rows)
}

/// The colour of an angle, radians: the hue runs once around the circle.
fn hue(angle: f64) -> Vec4 {
    let turns = (angle as f32 / TAU).rem_euclid(1.0);
    let channel = |shift: f32| {
        let t = (turns + shift).rem_euclid(1.0) * 6.0;
        ((t - 3.0).abs() - 1.0).clamp(0.0, 1.0)
    };
    Vec4::new(channel(0.0), channel(2.0 / 3.0), channel(1.0 / 3.0), 1.0)
}

/// Returns the weight of the second grip per vertex.
fn weights(model: &Model, grips: &Grips) -> Result<Vec<f64>> {
    let params = Params { grips: grips.clone(), ..Params::default() };
    let body = Body::bind(&model.bound.character, &params)?;
    let of = |v: usize| body.reduced.weights.of(v).filter(|e| e.0 == 1).map(|e| e.1).sum();
    Ok((0..model.bound.character.control.positions.len()).map(of).collect())
}

pub(super) fn singularity(easel: &mut Easel<'_>) -> Result<Vec<Vec<Cell>>> {
    let model = cigar(0.03)?;
    let grips = [-1.0, 1.0].map(|s: f32| within(&model, |x| s * x.x > 0.92));
    let turn = |s: f32| Quat::from_rotation_z(s * 0.45 * PI);
    let moves = [-1.0, 1.0].map(|s: f32| Move::full(Vec3::new(-0.6 * s, 0.0, 0.0), turn(s)));
    let (size, frame) = ([300, 340], framing(Vec3::new(-0.8, -0.95, 0.0), Vec3::new(0.8, 0.5, 0.0)));
    let whole = framing(Vec3::new(-1.15, -0.9, 0.0), Vec3::new(1.15, 0.9, 0.0));
    let rest = &model.bound.character.control.positions;
    let mut held =
        Held::new(easel, &model, &grips, &[("extra", 0.into()), ("clusters", 4.into())], (FRONT, size))?;
    let weights = weights(&model, &held.sitter.session.document().grip_shapes())?;
    let cluster = |count: usize| {
        let weights = &weights;
        move |t: &[u32; 3]| {
            let mean = t.iter().map(|&v| weights[v as usize]).sum::<f64>() / 3.0;
            ((mean * count as f64) as usize).min(count - 1)
        }
    };
    let mut start = rest.clone();
    for ((grip, to), center) in grips.iter().zip(&moves).zip(held.centers()) {
        grip.iter().for_each(|&v| start[v as usize] = to.turn * (rest[v as usize] - center) + center + to.by);
    }
    let mut shapes = vec![(rest.clone(), "two regions".to_owned())];
    let meshes = [
        (unreduced(&model), "unreduced\nper triangle".to_owned()),
        (unreduced(&model).clustered(cluster(4)), "unreduced\nr = 4".to_owned()),
        (unreduced(&model).clustered(cluster(100)), "unreduced\nr = 100".to_owned()),
    ];
    for (mesh, caption) in meshes {
        let mut x = start.clone();
        mesh.solve(&grips.concat(), &mut x, 3000)?;
        shapes.push((x, caption));
    }
    shapes.push((held.pose(&moves)?.control, "FAST\nr = 4".to_owned()));
    let more = [("extra", 15.into()), ("clusters", 34.into())];
    let mut more = Held::new(easel, &model, &grips, &more, (FRONT, size))?;
    shapes.push((more.pose(&moves)?.control, "FAST, r = 34\n15 abstract handles".to_owned()));
    let mesh = unreduced(&model);
    let mut rows = vec![Vec::new(), Vec::new()];
    for (k, (x, caption)) in shapes.into_iter().enumerate() {
        let frame = if k == 0 { &whole } else { &frame };
        let mut lines = Lines::default();
        grips.iter().flatten().for_each(|&v| lines.dot(x[v as usize], REGION, 2.5));
        let studio = &mut held.sitter.studio;
        studio.look_mut().wire = true;
        rows[0].push(drawn(studio, &model, x.clone(), (frame, size), &lines, &caption)?);
        let colors: Vec<Vec4> = mesh.angles(&x).into_iter().map(hue).collect();
        let mut studio = easel.painted(&model, &colors)?;
        rows[1].push(drawn(&mut studio, &model, x, (frame, size), &Lines::default(), "rotations")?);
    }
    Ok(rows)
}
