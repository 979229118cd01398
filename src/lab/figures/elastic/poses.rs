//! Posed characters: figures 1, 5, 6 and 7.

use super::super::easel::Easel;
use super::stand::{Captioned, Deformer, Stand, Turn};
use crate::base::Result;
use crate::generate::Kind;
use crate::rig::Axis;
use crate::scene::Cell;

/// The deformers of most figures.
pub(super) const CAST: [Deformer; 4] =
    [Deformer::Linear, Deformer::Dual, Deformer::SwingTwist, Deformer::Solved];

pub(super) fn teaser(easel: &mut Easel<'_>) -> Result<Vec<Vec<Cell>>> {
    const POSE: [(&str, Turn); 9] = [
        ("RightUpperArm", Turn::About(Axis::Z, -45.0)),
        ("RightLowerArm", Turn::Twist(-150.0)),
        ("RightLowerArm", Turn::About(Axis::Z, -30.0)),
        ("LeftUpperArm", Turn::About(Axis::Z, -15.0)),
        ("LeftLowerArm", Turn::Forward(100.0)),
        ("LeftUpperLeg", Turn::About(Axis::X, -85.0)),
        ("LeftLowerLeg", Turn::About(Axis::X, 95.0)),
        ("Chest", Turn::About(Axis::Y, 20.0)),
        ("Head", Turn::About(Axis::Y, -35.0)),
    ];
    let mut stand = Stand::new(easel, Kind::Golem, ([12.0, 6.0], [380, 380]))?;
    stand.put(&POSE)?;
    let shapes = stand.cast(easel, &CAST)?;
    stand.look_at(["Hips", "Spine"], 0.82)?;
    let mut rows = vec![stand.pictures(&shapes)?];
    let parts = [
        ("RightLowerArm", 0.22, [0.0, 14.0], "twisted elbow"),
        ("LeftUpperLeg", 0.3, [62.0, 6.0], "bent hip"),
    ];
    for (joint, half, angle, part) in parts {
        stand.look_at([joint, joint], half)?;
        stand.view.0 = angle;
        let name =
            |text: &str| text.lines().next().map_or_else(String::new, |name| format!("{name}\n{part}"));
        let named: Vec<Captioned> = shapes.iter().map(|(text, shape)| (name(text), shape.clone())).collect();
        rows.push(stand.pictures(&named)?);
    }
    Ok(rows)
}

pub(super) fn hip(easel: &mut Easel<'_>) -> Result<Vec<Vec<Cell>>> {
    let cast = [Deformer::Dual, Deformer::SwingTwistSmooth, Deformer::SwingTwist, Deformer::Solved];
    let mut stand = Stand::new(easel, Kind::Golem, ([75.0, 4.0], [360, 420]))?;
    // The arm is raised out of the picture.
    const ARM: (&str, Turn) = ("LeftUpperArm", Turn::About(Axis::Z, 80.0));
    stand.put(&[ARM])?;
    let mut shapes = stand.cast(easel, &[Deformer::SwingTwist])?;
    shapes.iter_mut().for_each(|(text, _)| *text = "leg at rest".to_owned());
    stand.put(&[ARM, ("LeftUpperLeg", Turn::About(Axis::X, -100.0))])?;
    shapes.extend(stand.cast(easel, &cast)?);
    stand.look_at(["LeftUpperLeg", "LeftUpperLeg"], 0.36)?;
    Ok(vec![stand.pictures(&shapes)?])
}

pub(super) fn candy_wrapper(easel: &mut Easel<'_>) -> Result<Vec<Vec<Cell>>> {
    let mut stand = Stand::new(easel, Kind::Golem, ([20.0, 6.0], [360, 380]))?;
    let mut shapes = vec![stand.rest()];
    stand.put(&[("LeftLowerArm", Turn::Twist(150.0))])?;
    shapes.extend(stand.cast(easel, &CAST)?);
    stand.look_at(["LeftUpperArm", "LeftHand"], 0.26)?;
    Ok(vec![stand.pictures(&shapes)?])
}

pub(super) fn bulging(easel: &mut Easel<'_>) -> Result<Vec<Vec<Cell>>> {
    let mut stand = Stand::new(easel, Kind::Golem, ([0.0, 0.0], [360, 340]))?;
    let mut rows = Vec::new();
    for (joint, raised, turn, angle, half) in [
        ("LeftLowerArm", 45.0, Turn::Forward(115.0), [15.0, 70.0], 0.2),
        ("LeftLowerLeg", 80.0, Turn::Forward(-110.0), [80.0, 4.0], 0.24),
    ] {
        stand.put(&[("LeftUpperArm", Turn::About(Axis::Z, raised)), (joint, turn)])?;
        let shapes = stand.cast(easel, &CAST)?;
        stand.view.0 = angle;
        stand.look_at([joint, joint], half)?;
        rows.push(stand.pictures(&shapes)?);
    }
    Ok(rows)
}
