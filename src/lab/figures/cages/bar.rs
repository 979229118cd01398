//! Figure 5: SkelUp on a bar of two bones.

use super::super::easel::Easel;
use super::caged::{Caged, Part, around, made};
use crate::base::Result;
use crate::base::math::{Aabb, DVec3, Vec3};
use crate::bind::BindOptions;
use crate::bind::shapes::Shape;
use crate::cage::{Cage, CageMesh};
use crate::document::DeformerSettings;
use crate::lab::figures::grey;
use crate::rig::Axis;
use crate::scene::{Cell, Model};
use std::sync::Arc;
use std::time::Duration;

/// Length of the bar and half its width, metres. The joint is at half the length.
const BAR: (f32, f32) = (1.0, 0.09);
/// Factor by which the cage lengthens the lower half of the bar.
const LONGER: f64 = 1.7;
/// Number of rings of the regular cage.
const RINGS: usize = 7;
/// Wanted number of vertices of the irregular cage.
const IRREGULAR: usize = 24;
/// Bends, degrees.
const BENDS: [f32; 3] = [45.0, 90.0, 135.0];
/// Name of the joint in the middle of the bar.
const MIDDLE: &str = "joint 1";

pub(super) fn bar(easel: &mut Easel<'_>) -> Result<Vec<Vec<Cell>>> {
    let model = Arc::new(model()?);
    let mut rows = Vec::new();
    for (name, cage) in [("regular", around(&model, stack())?), ("irregular", made(&model, IRREGULAR)?)] {
        for follows in [true, false] {
            rows.push(row(easel, &model, name, &cage, follows)?);
        }
    }
    Ok(rows)
}

/// Draws the bar at rest before and after the edit, and bent. Joints stay where they were unless `follows` is set.
fn row(
    easel: &mut Easel<'_>,
    model: &Arc<Model>,
    name: &str,
    cage: &Cage,
    follows: bool,
) -> Result<Vec<Cell>> {
    let mut cage = cage.clone();
    if !follows {
        cage.joints.fill(0.0);
        cage.tails.fill(0.0);
    }
    let sitter = easel.seated(model, DeformerSettings::of("lbs"), [0.0, 6.0], [300, 340])?;
    let mut caged = Caged::new(sitter, &cage)?;
    let parts = [Part::Cage, Part::Joints];
    let label = if follows { "joints follow the cage" } else { "joints stay" };
    let mut looks = vec![caged.look(None, &parts, &format!("{name} cage\nrest"))?];
    caged.edit(|_, x| longer(x))?;
    looks.push(caged.look(None, &parts, &format!("lengthened\n{label}"))?);
    for bend in BENDS {
        caged.pose(&[(MIDDLE, Axis::Z, -bend)])?;
        looks.push(caged.look(None, &[Part::Joints], &format!("bent by {bend:.0}\n{label}"))?);
    }
    caged.sitter.frame = Some(Aabb { min: Vec3::new(-0.35, -0.2, -0.2), max: Vec3::new(0.85, 1.5, 0.2) });
    caged.pictures(&looks)
}

/// Lengthens the lower half of the bar, and moves the upper half.
fn longer(x: DVec3) -> DVec3 {
    let half = 0.5 * f64::from(BAR.0);
    x + DVec3::Y * (LONGER - 1.0) * x.y.clamp(0.0, half)
}

fn model() -> Result<Model> {
    let shape = Shape { bones: 2, rings: 80, segments: 64, radius: BAR.1, length: BAR.0, blend: 0.4 };
    let mut asset = shape.bar_asset();
    grey(&mut asset);
    Model::bind(asset, &BindOptions::default(), Duration::ZERO)
}

/// Builds the regular cage: a stack of square rings, with quads between the rings and as caps.
fn stack() -> CageMesh {
    let (length, half) = (f64::from(BAR.0), 1.5 * f64::from(BAR.1));
    let margin = half - f64::from(BAR.1);
    let corner = [[-1.0, -1.0], [-1.0, 1.0], [1.0, 1.0], [1.0, -1.0]];
    let mut mesh = CageMesh::default();
    for ring in 0..RINGS {
        let y = -margin + (length + 2.0 * margin) * ring as f64 / (RINGS - 1) as f64;
        mesh.positions.extend(corner.map(|[x, z]| DVec3::new(x * half, y, z * half)));
    }
    let at = |ring: usize, k: usize| (4 * ring + k % 4) as u32;
    for (ring, k) in (0..RINGS - 1).flat_map(|ring| (0..4).map(move |k| (ring, k))) {
        mesh.faces.push(vec![at(ring, k), at(ring, k + 1), at(ring + 1, k + 1), at(ring + 1, k)]);
    }
    mesh.faces.push((0..4).rev().map(|k| at(0, k)).collect());
    mesh.faces.push((0..4).map(|k| at(RINGS - 1, k)).collect());
    mesh
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cage::check;
    use crate::rig::PosedRig;
    use crate::scene::PosedCage;

    #[test]
    fn the_regular_cage_encloses_the_bar_and_carries_its_joint() {
        let model = model().unwrap();
        let report = check(&stack(), &model.bound.character.control.positions).unwrap();
        assert!(report.outside.is_empty() && !report.turned_over);
        let mut cage = around(&model, stack()).unwrap();
        for (d, x) in cage.offsets.iter_mut().zip(&cage.mesh.positions) {
            *d = (longer(*x) - *x).as_vec3().to_array();
        }
        let rest = cage.rest(model.skeleton());
        let wanted = (LONGER as f32 - 1.0) * 0.5 * BAR.0;
        assert!((rest.joints[1].y - wanted).abs() < 0.15 * wanted, "{:?}", rest.joints);
        // The current cage of a rest pose is the rest cage.
        let mut pose = model.rest();
        pose.rest = rest;
        let coupling = model.coupled(&cage).unwrap();
        let mut posed = PosedCage::default();
        posed.follow(&model.bound.character, &coupling, &PosedRig::new(model.skeleton(), &pose));
        for (x, rest) in posed.positions.iter().zip(&cage.mesh.positions) {
            assert!(x.distance(longer(*rest)) < 1e-3, "{x} {rest}");
        }
    }
}
