//! A cylinder with two bones: figure 3.

use super::super::easel::Easel;
use super::CUBES;
use super::cubes::Cubed;
use super::stand::{Deformer, Stand, Turn, found, weighed};
use crate::asset::{Asset, Influences};
use crate::base::Result;
use crate::base::math::{Aabb, Vec3, Vec4};
use crate::bind::shapes::Shape;
use crate::bind::weights::{Points, WeightMethod, swing_twist_weights};
use crate::bind::{BindOptions, Cache};
use crate::export::reweigh;
use crate::rig::Axis;
use crate::scene::{Cell, Model};
use std::f32::consts::TAU;
use std::time::Duration;

/// The name of the joint in the middle.
const MIDDLE: &str = "joint 1";
/// Linear colours of the squares on the skin.
const SQUARES: [Vec4; 2] = [Vec4::new(0.76, 0.61, 0.35, 1.0), Vec4::new(0.05, 0.14, 0.26, 1.0)];
/// Number of squares around the cylinder.
const AROUND: f32 = 12.0;

/// Draws a bend and a twist by a quarter turn. In each row, "elastic weights" are the minimum for that kind of motion.
pub(super) fn cylinder(easel: &mut Easel<'_>) -> Result<Vec<Vec<Cell>>> {
    let shape = Shape { bones: 2, rings: 120, segments: 96, radius: 0.15, length: 1.2, blend: 0.5 };
    let asset = shape.capsule_asset();
    let cast = [
        Deformer::Linear,
        Deformer::LinearElastic,
        Deformer::Dual,
        Deformer::DualElastic,
        Deformer::SwingTwist,
        Deformer::Solved,
    ];
    let mut rows = Vec::new();
    for (turn, twists) in [(Turn::About(Axis::Z, -90.0), false), (Turn::Twist(90.0), true)] {
        let smooth = weighed(&asset, WeightMethod::Biharmonic)?;
        let elastic = if twists { twisting(&asset)? } else { weighed(&asset, WeightMethod::Elastic)? };
        let cubed = Cubed::new(&elastic.bound.character, CUBES, twists)?;
        let mut stand = Stand::of(easel, [smooth, elastic], cubed, ([20.0, 10.0], [260, 420]))?;
        stand.put(&[(MIDDLE, turn)])?;
        stand.studio = easel.painted(&stand.elastic, &squares(&stand.elastic))?;
        let low = Vec3::new(if twists { -0.3 } else { -0.2 }, -0.16, -0.2);
        let high = Vec3::new(if twists { 0.3 } else { 0.75 }, if twists { 1.36 } else { 0.8 }, 0.2);
        stand.frame = Some(Aabb { min: low, max: high });
        let shapes = stand.cast(easel, &cast)?;
        rows.push(stand.pictures(&shapes)?);
    }
    Ok(rows)
}

/// Colours the skin with squares, so that twist is visible.
fn squares(model: &Model) -> Vec<Vec4> {
    let edge = TAU * 0.15 / AROUND;
    let color = |x: &Vec3| {
        let around = (x.z.atan2(x.x) / TAU * AROUND + 0.01).floor() as i32;
        let along = (x.y / edge + 0.01).floor() as i32;
        SQUARES[(around + along).rem_euclid(2) as usize]
    };
    model.bound.character.control.positions.iter().map(color).collect()
}

/// Replaces the skin weights of the cylinder by those that minimise the energy of twists.
fn twisting(asset: &Asset) -> Result<Model> {
    let model = Model::bind(asset.clone(), &BindOptions::default(), Duration::ZERO)?;
    let (joints, at) = found(&model, MIDDLE)?;
    let own = joints[at].joint.index() as u16;
    let base = joints[at].parent.map_or(own, |p| joints[p].joint.index() as u16);
    let character = &model.bound.character;
    let cache = Cache::platform();
    let made = swing_twist_weights(cache.as_ref(), character, Points::Vertices, CUBES, &|_| true)?;
    let made = made.unwrap_or_default();
    let mut influences = Influences::default();
    for v in 0..made.len() {
        let entry = made.of(v).iter().find(|e| e.joint as usize == at);
        let twist = entry.map_or(0.0, |e| e.twist);
        let mut row = vec![(own, twist), (base, 1.0 - twist)];
        row.retain(|e| e.1 > 0.0);
        row.sort_by(|a, b| b.1.total_cmp(&a.1));
        influences.push(row);
    }
    Model::bind(reweigh(asset, character, &influences)?.asset, &BindOptions::default(), Duration::ZERO)
}
