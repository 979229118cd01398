//! How the weights are found: figures 11, 12 and 13.

use super::super::easel::Easel;
use super::joint::FleshyJoint;
use super::plot::plot;
use super::stand::{View, drawn, painted, picture};
use crate::base::Result;
use crate::base::math::{Aabb, DQuat, DVec3, Vec3};
use crate::bind::weights::{STEPS, swing_samples, twist_samples};
use crate::generate::Kind;
use crate::render::{BASELINE, OFFSET};
use crate::scene::{Cell, Evaluation};
use std::f64::consts::FRAC_PI_2;

/// The joint of these figures.
const HIP: &str = "LeftUpperLeg";
/// Approximate number of cubes.
const CUBES: usize = 4000;
/// Iterations in figure 12; `ALL` is the number until the weights hardly change.
const SHOWN: usize = 30;
const ALL: usize = 300;
/// Number of angles per direction and axis in figure 11.
const ANGLES: usize = 8;

fn hip(easel: &mut Easel<'_>) -> Result<FleshyJoint> {
    FleshyJoint::new(&easel.model(Kind::Golem)?, HIP, CUBES)
}

/// Returns rotations about the axes of the swing samples, at equal steps of the angle in both directions.
fn many(bone: DVec3) -> Vec<DQuat> {
    let quarter = swing_samples(bone);
    let part = |q: &DQuat, k: usize| DQuat::IDENTITY.slerp(*q, k as f64 / ANGLES as f64);
    quarter.iter().flat_map(|q| (1..=ANGLES).map(move |k| part(q, k))).collect()
}

pub(super) fn samples(easel: &mut Easel<'_>) -> Result<Vec<Vec<Cell>>> {
    let joint = hip(easel)?;
    let (few, more) = (swing_samples(joint.bone), many(joint.bone));
    let [one, other] = [&few, &more].map(|s| joint.weights(s, STEPS).map(|m| joint.on_skin(&m.weights)));
    let (one, other) = (one?, other?);
    let off: Vec<f32> = one.iter().zip(&other).map(|(a, b)| (a - b).abs()).collect();
    let most = off.iter().copied().fold(0.0, f32::max);
    let mean = off.iter().sum::<f32>() / off.len().max(1) as f32;
    let large: Vec<f32> = off.iter().map(|d| 10.0 * d).collect();
    let mut row = Vec::new();
    let text = |count: usize| format!("swing weight by {count} rotations");
    let last = format!("difference, enlarged 10 times\nat most {most:.3}, on average {mean:.4}");
    for (weights, text) in [(&one, text(few.len())), (&other, text(more.len())), (&large, last)] {
        row.push(tinted(easel, &joint, weights, None, &text)?);
    }
    Ok(vec![row])
}

/// Renders the hip in the colours of weights, at rest or as a given shape.
fn tinted(
    easel: &mut Easel<'_>,
    joint: &FleshyJoint,
    weights: &[f32],
    shape: Option<&Evaluation>,
    text: &str,
) -> Result<Cell> {
    const VIEW: View = ([35.0, 6.0], [420, 440]);
    let model = &joint.model;
    let rest = drawn(model, &model.rest(), model.bound.character.control.positions.clone());
    let (center, half) = (joint.pivot.as_vec3() - 0.1 * Vec3::Y, Vec3::splat(0.4));
    let frame = Aabb { min: center - half, max: center + half };
    picture(&mut painted(easel, model, weights)?, VIEW, &frame, shape.unwrap_or(&rest), text)
}

pub(super) fn convergence(easel: &mut Easel<'_>) -> Result<Vec<Vec<Cell>>> {
    let joint = hip(easel)?;
    let model = joint.model.clone();
    let body = drawn(&model, &model.rest(), model.bound.character.control.positions.clone());
    let mut studio = easel.studio(&model)?;
    let mut row = Vec::new();
    for (name, samples) in [("swing", swing_samples(joint.bone)), ("twist", twist_samples(joint.bone))] {
        let full = joint.solve(&samples, SHOWN)?;
        let reduced = joint.weights(&samples, ALL)?.energies;
        let least = reduced.last().copied().unwrap_or_default();
        let error = |values: &[f64], least: f64| -> Vec<f64> {
            values.iter().take(SHOWN + 1).map(|e| (e / least - 1.0).max(0.0)).collect()
        };
        let (full, reduced) = (error(&full.energies, full.least), error(&reduced, least));
        let steps = |values: &[f64]| match values.iter().position(|e| *e < 0.01) {
            Some(steps) => format!("{steps} steps"),
            None => format!("more than {SHOWN} steps"),
        };
        let caption = [
            format!("{name} of the hip; below 1 %: all positions"),
            format!("after {}, weights after {}", steps(&full), steps(&reduced)),
        ];
        let picture = plot(&mut studio, &body, &[(&full, OFFSET), (&reduced, BASELINE)], 420)?;
        row.push(Cell { picture, caption: caption.into() });
    }
    Ok(vec![row])
}

pub(super) fn fit(easel: &mut Easel<'_>) -> Result<Vec<Vec<Cell>>> {
    let joint = hip(easel)?;
    let samples = swing_samples(joint.bone);
    let solved = joint.solve(&samples, 0)?;
    let fitted = joint.fitted(&samples, &solved.shapes);
    let direct = joint.weights(&samples, STEPS)?.weights;
    let bend = DQuat::from_axis_angle(DVec3::X, -FRAC_PI_2);
    let model = &joint.model;
    let mut rows = vec![Vec::new(), Vec::new()];
    for (weights, name) in [(&fitted, "fitted to solved shapes"), (&direct, "minimal energy")] {
        let energy = joint.energy(weights, &samples)? / solved.least;
        let skin = joint.on_skin(weights);
        let moved = |(x, w): (&Vec3, &f32)| *x + *w * joint.moved(x.as_dvec3(), bend).as_vec3();
        let control = model.bound.character.control.positions.iter().zip(&skin).map(moved).collect();
        let shape = drawn(model, &model.rest(), control);
        let text = format!("{name}\nenergy {energy:.2}");
        rows[0].push(tinted(easel, &joint, &skin, None, &text)?);
        rows[1].push(tinted(easel, &joint, &skin, Some(&shape), &format!("{name}\nlinear, bent by 90°"))?);
    }
    Ok(rows)
}
