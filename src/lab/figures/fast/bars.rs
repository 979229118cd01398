//! Bars that bend and twist: figures 9 and 13 of the FAST paper.

use super::{Sitter, Wish, framing, model, moved};
use crate::asset::Influences;
use crate::base::Result;
use crate::base::math::{DAffine3, DQuat, DVec3, Vec3};
use crate::bind::Character;
use crate::bind::shapes::Shape;
use crate::lab::figures::easel::Easel;
use crate::scene::{Cell, Model};
use std::f64::consts::PI;

/// Height of a bar in metres, and the fraction of the distance to the next handle within which a handle has full
/// weight.
const BAR: (f32, f32) = (1.5, 0.1);
/// Number of rotation clusters. With the default of two per handle, a bar's flat sides would show ripples.
pub(super) const CLUSTERS: u32 = 160;

/// Builds a bar with evenly spaced handles from end to end; weights blend linearly between neighbouring handles.
fn bar_with(handles: usize, radius: f32) -> Result<Model> {
    let (length, flat) = BAR;
    let shape = Shape { bones: 1, rings: 96, segments: 72, radius, length, blend: 0.0 };
    let character: Character = shape.bar();
    let mesh = &character.control;
    let last = handles - 1;
    let at = |k: usize| Vec3::Y * (length * k as f32 / last as f32);
    let mut weights = Influences::default();
    for x in &mesh.positions {
        let t = x.y / length * last as f32;
        let k = (t.floor().max(0.0) as usize).min(last - 1);
        let upper = ((t - k as f32 - flat) / (1.0 - 2.0 * flat)).clamp(0.0, 1.0);
        let mut entries = vec![(k as u16, 1.0 - upper), (k as u16 + 1, upper)];
        entries.retain(|e| e.1 > 0.0);
        entries.sort_by(|a, b| b.1.total_cmp(&a.1));
        weights.push(entries);
    }
    let joints: Vec<_> = (0..handles).map(|k| (at(k), k.checked_sub(1))).collect();
    model(mesh.positions.clone(), mesh.triangles.clone(), &joints, weights)
}

/// Returns the transform of the cross-section at height `y` of a bar bent into an arc of `angle` radians.
fn on_arc(y: f64, angle: f64) -> DAffine3 {
    let length = f64::from(BAR.0);
    let (radius, turned) = (length / angle, angle * y / length);
    let place = DVec3::new(radius * (1.0 - turned.cos()), radius * turned.sin(), 0.0);
    DAffine3::from_translation(place)
        * DAffine3::from_quat(DQuat::from_rotation_z(-turned))
        * DAffine3::from_translation(DVec3::Y * -y)
}

pub(super) fn bar(easel: &mut Easel<'_>) -> Result<Vec<Vec<Cell>>> {
    let length = f64::from(BAR.0);
    let mut sitter = Sitter::new(easel, bar_with(2, 0.14)?, [24.0, 14.0], [360, 480])?;
    let ends = |map| [(0, Wish::Map(DAffine3::IDENTITY)), (1, Wish::Map(map))];
    let bent = || ends(on_arc(length, PI * 0.72));
    let twisted = || ends(moved(DVec3::Y, 110.0, DVec3::ZERO, DVec3::ZERO));
    let upright = framing(Vec3::new(-0.3, -0.02, -0.3), Vec3::new(0.3, 1.52, 0.3));
    let aside = framing(Vec3::new(-0.3, -0.05, -0.3), Vec3::new(1.15, 1.05, 0.3));
    let mut rows = vec![Vec::new(), Vec::new()];
    for extra in [0, 15, 30] {
        let label = if extra == 0 { "skinned".to_owned() } else { format!("{extra} abstract ones") };
        rows[0].push(sitter.shot(extra, &twisted(), &upright, &format!("twisted by 110\n{label}"))?);
        rows[1].push(sitter.shot(extra, &bent(), &aside, &format!("bent by 130\n{label}"))?);
    }
    for (row, extra) in rows.iter_mut().zip([15, 30]) {
        row.insert(0, sitter.shot(extra, &[], &upright, &format!("two handles\n{extra} abstract ones"))?);
    }
    Ok(rows)
}

pub(super) fn regions(easel: &mut Easel<'_>) -> Result<Vec<Vec<Cell>>> {
    let length = f64::from(BAR.0);
    let mut sitter = Sitter::new(easel, bar_with(5, 0.08)?, [20.0, 14.0], [380, 440])?;
    let upright = framing(Vec3::new(-0.3, -0.02, -0.3), Vec3::new(0.3, 1.52, 0.3));
    let aside = framing(Vec3::new(-0.3, -0.2, -0.3), Vec3::new(1.1, 0.75, 0.3));
    let curled = || -> Vec<(usize, Wish)> {
        (0..5).map(|k| (k, Wish::Map(on_arc(length * k as f64 / 4.0, PI * 1.1)))).collect()
    };
    let wrung = || -> Vec<(usize, Wish)> {
        let turn = |k: usize| moved(DVec3::Y, 95.0 * k as f64, DVec3::ZERO, DVec3::ZERO);
        (0..5).map(|k| (k, Wish::Map(turn(k)))).collect()
    };
    let mut rows = vec![Vec::new(), Vec::new()];
    for (extra, label) in [(0, "skinned"), (15, "15 abstract handles")] {
        rows[0].push(sitter.shot(extra, &curled(), &aside, label)?);
        rows[1].push(sitter.shot(extra, &wrung(), &upright, label)?);
    }
    for row in &mut rows {
        row.insert(0, sitter.shot(15, &[], &upright, "five handles")?);
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::super::{bound, solved};
    use super::*;
    use crate::render::Lines;

    #[test]
    fn abstract_handles_give_back_what_skinning_loses() {
        let model = bar_with(2, 0.14).unwrap();
        let volume = |extra: u32, map: DAffine3| {
            let wishes = [(0, Wish::Map(DAffine3::IDENTITY)), (1, Wish::Map(map))];
            let body = bound(&model, extra).unwrap();
            let shape = solved(&model, &body, &wishes, &mut Lines::default()).unwrap();
            model.measure(&shape.control).volume_ratio.unwrap()
        };
        let twist = moved(DVec3::Y, 110.0, DVec3::ZERO, DVec3::ZERO);
        let five = bar_with(5, 0.08).unwrap();
        let wrung = |extra: u32| {
            let turn = |k: usize| Wish::Map(moved(DVec3::Y, 95.0 * k as f64, DVec3::ZERO, DVec3::ZERO));
            let wishes: Vec<(usize, Wish)> = (0..5).map(|k| (k, turn(k))).collect();
            let body = bound(&five, extra).unwrap();
            let shape = solved(&five, &body, &wishes, &mut Lines::default()).unwrap();
            five.measure(&shape.control).volume_ratio.unwrap()
        };
        let [skinned, some] = [0, 15].map(wrung);
        assert!(skinned < 0.8 && some > skinned + 0.05, "{skinned} {some}");
        let [skinned, some, more] = [0, 15, 30].map(|extra| volume(extra, twist));
        assert!(skinned < 0.7 && some > 0.8 && more > 0.75, "{skinned} {some} {more}");
        let arc = on_arc(f64::from(BAR.0), PI * 0.72);
        let [skinned, some] = [0, 15].map(|extra| volume(extra, arc));
        assert!((some - 1.0).abs() < (skinned - 1.0).abs(), "{skinned} {some}");
    }
}
