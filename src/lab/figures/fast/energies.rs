//! Different energies: figures 8 and 10 of the FAST paper.

use super::framing;
use super::held::{Held, Move, bare, within};
use crate::base::Result;
use crate::base::math::{Quat, Vec3};
use crate::bind::shapes::Shape;
use crate::commands::fast::surfaced;
use crate::deform::classic::{Arap, ArapOptions, Energy, Lists};
use crate::geom::Measure;
use crate::lab::figures::easel::Easel;
use crate::render::Lines;
use crate::rig::PosedRig;
use crate::scene::{Cell, Model};
use std::f32::consts::PI;
use std::sync::Arc;

/// Half the side of the bumpy plane, metres, and the number of bumps along a side.
const PLANE: (f32, f32) = (1.0, 8.0);

/// Builds a square sheet with round bumps, `side` vertices along a side.
fn bumpy(side: u32) -> Result<Arc<Model>> {
    let (half, bumps) = PLANE;
    let cell = 2.0 * half / bumps;
    let mut positions = Vec::new();
    for (i, j) in (0..side).flat_map(|j| (0..side).map(move |i| (i, j))) {
        let at = |i: u32| half * (2.0 * i as f32 / (side - 1) as f32 - 1.0);
        let (x, z) = (at(i), at(j));
        // Distance to the centre of the bump, in radii.
        let away = |x: f32| ((x + half) / cell).fract() - 0.5;
        let r = away(x).hypot(away(z)) / 0.42;
        let height = 0.34 * cell * (1.0 - r * r).max(0.0).powi(2);
        positions.push(Vec3::new(x, height, z));
    }
    let mut triangles = Vec::new();
    for (i, j) in (0..side - 1).flat_map(|j| (0..side - 1).map(move |i| (i, j))) {
        let at = |i: u32, j: u32| j * side + i;
        let quad = [at(i, j), at(i, j + 1), at(i + 1, j + 1), at(i + 1, j)];
        let even = (i + j) % 2 == 0;
        let split = if even { [[0, 1, 2], [0, 2, 3]] } else { [[0, 1, 3], [1, 2, 3]] };
        triangles.extend(split.map(|t: [usize; 3]| t.map(|k| quad[k])));
    }
    bare(positions, triangles)
}

pub(super) fn bumps(easel: &mut Easel<'_>) -> Result<Vec<Vec<Cell>>> {
    let model = bumpy(97)?;
    let control = &model.bound.character.control;
    let lift = Vec3::new(-0.25, 0.75, 0.0);
    let grips = [within(&model, |x| x.x < -0.9), within(&model, |x| x.x > 0.9)];
    let moves = [Move::full(Vec3::ZERO, Quat::IDENTITY), Move::full(lift, Quat::IDENTITY)];
    let view = ([24.0, 24.0], [460, 400]);
    let settings = [("extra", 30.into()), ("clusters", 64.into()), ("energy", "rims".into())];
    let mut held = Held::new(easel, &model, &grips, &settings, view)?;
    held.sitter.frame = Some(framing(Vec3::new(-0.8, 0.0, -0.8), Vec3::new(0.8, 0.75, 0.8)));
    let rest = held.shot(&[moves[0]; 2], "two regions")?;
    let ours = held.shot(&moves, "FAST, spokes and rims\n30 abstract handles")?;
    // The unreduced energies start from the shape of FAST.
    let start = held.pose(&moves)?.control;
    let passive = within(&model, |x| x.x.abs() <= 0.9);
    let mut unreduced = |energy: Energy, caption: &str| -> Result<Cell> {
        let options = ArapOptions { energy, iterations: 200, tolerance: 1e-6 };
        let lists = Lists { kinematic: &grips[1], passive: &passive, fixed: &grips[0] };
        let mut x: Vec<_> = start.iter().map(|p| p.as_dvec3()).collect();
        Arap::new(&control.positions, &control.triangles, &lists, options)?.solve(&mut x)?;
        let x = x.iter().map(|p| p.as_vec3()).collect();
        let shape = surfaced(&model, &PosedRig::new(model.skeleton(), &model.rest()), x);
        let mut lines = Lines::default();
        held.dots(&shape, &mut lines);
        held.sitter.picture(&shape, &lines, caption)
    };
    let spokes = unreduced(Energy::Spokes, "unreduced, spokes alone")?;
    let rims = unreduced(Energy::SpokesAndRims, "unreduced, spokes and rims")?;
    Ok(vec![vec![rest, spokes], vec![rims, ours]])
}

pub(super) fn shells(easel: &mut Easel<'_>) -> Result<Vec<Vec<Cell>>> {
    let shape = Shape { bones: 1, rings: 72, segments: 64, radius: 0.3, length: 1.2, blend: 0.0 };
    let mut asset = shape.bare_asset();
    let part = asset.meshes.remove(0).primitives.remove(0);
    let model = bare(part.positions, part.triangles)?;
    let grips = [within(&model, |x| x.y < 0.0), within(&model, |x| x.y > 1.2)];
    let stay = Move::full(Vec3::ZERO, Quat::IDENTITY);
    let twisted = Move::full(Vec3::ZERO, Quat::from_rotation_y(0.8 * PI));
    // The upper region stays on an arc of the length of the body.
    let angle = 0.75 * PI;
    let (radius, top) = (1.2 / angle, 1.2 + 0.15);
    let (sin, cos) = (top / radius).sin_cos();
    let place = Vec3::new(radius * (1.0 - cos), radius * sin - top, 0.0);
    let bent = Move::full(place, Quat::from_rotation_z(-top / radius));
    let control = &model.bound.character.control;
    let solid = Measure::of_mesh(&control.positions, control.triangles.clone());
    let mut rows = Vec::new();
    for (energy, label) in [("rims", "spokes and rims: a shell"), ("volume", "inside: a solid")] {
        let settings = [("extra", 30.into()), ("clusters", 160.into()), ("energy", energy.into())];
        let mut held = Held::new(easel, &model, &grips, &settings, ([16.0, 8.0], [400, 400]))?;
        held.sitter.frame = Some(framing(Vec3::new(-0.4, -0.3, -0.4), Vec3::new(1.1, 1.5, 0.4)));
        let mut row = Vec::new();
        for (moves, caption) in [(stay, "two regions"), (bent, "bent"), (twisted, "twisted")] {
            let shape = held.pose(&[stay, moves])?;
            let volume = solid.volume(&shape.control) / solid.bind_volume();
            let mut lines = Lines::default();
            held.dots(&shape, &mut lines);
            let caption = format!("{label}\n{caption}, volume {volume:.2}");
            row.push(held.sitter.picture(&shape, &lines, &caption)?);
        }
        rows.push(row);
    }
    Ok(rows)
}
