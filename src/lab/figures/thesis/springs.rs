//! Figures of chapter 1 and section 4.2: linear and dual quaternion skinning, and the springs.

use super::super::easel::{Easel, Sitter};
use super::binding::{capsule, section};
use crate::base::Result;
use crate::base::math::{Aabb, Vec3, Vec4};
use crate::document::DeformerSettings;
use crate::generate::Kind;
use crate::render::Lines;
use crate::rig::Axis;
use crate::scene::Cell;
use serde_json::Value;

/// Settings of the springs as the thesis prints them.
fn thesis(parameters: &[(&str, f64)]) -> DeformerSettings {
    let parameters = parameters.iter().map(|(name, value)| {
        let whole = *name == "max_iterations";
        ((*name).to_owned(), if whole { Value::from(*value as u64) } else { Value::from(*value) })
    });
    DeformerSettings { method: "thesis".into(), parameters: parameters.collect() }
}

/// A capsule of four bones, bent or twisted at its two middle joints by `degrees` in all.
fn turned(easel: &mut Easel<'_>, settings: DeformerSettings, axis: Axis, degrees: f32) -> Result<Sitter> {
    let mut sitter = capsule(easel, 4, settings, [240, 400])?;
    for joint in ["joint 1", "joint 3"] {
        sitter.turn(joint, axis, 0.5 * degrees)?;
    }
    let twisted = axis == Axis::Y;
    let min = Vec3::new(if twisted { -0.45 } else { -0.8 }, -0.25, -0.2);
    let max = Vec3::new(if twisted { 0.45 } else { 0.3 }, 1.45, 0.2);
    sitter.frame = Some(Aabb { min, max });
    sitter.studio.look_mut().wire = true;
    Ok(sitter)
}

/// A capsule of two bones, bent or twisted at its joint.
fn bent(easel: &mut Easel<'_>, settings: DeformerSettings, axis: Axis, degrees: f32) -> Result<Sitter> {
    let mut sitter = capsule(easel, 2, settings, [320, 420])?;
    sitter.turn("joint 1", axis, degrees)?;
    sitter.frame = Some(Aabb { min: Vec3::new(-0.7, -0.2, -0.2), max: Vec3::new(0.45, 1.4, 0.2) });
    sitter.studio.look_mut().wire = true;
    Ok(sitter)
}

/// Figures 2 and 3: a twist of 180 degrees and a bend of 135 degrees by LBS and by DQS.
pub fn skinning(easel: &mut Easel<'_>) -> Result<Vec<Vec<Cell>>> {
    let mut rows = Vec::new();
    // Just below half a turn: at half a turn the direction of the shorter way is a matter of rounding.
    for (axis, degrees, motion) in
        [(Axis::Y, 179.0, "twisted by 180 degrees"), (Axis::Z, 135.0, "bent by 135 degrees")]
    {
        let mut row = Vec::new();
        for (method, name) in [("lbs", "LBS"), ("dqs", "DQS")] {
            let mut sitter = bent(easel, DeformerSettings::of(method), axis, degrees)?;
            row.push(sitter.shot(None, &format!("{name}, {motion}"))?);
        }
        rows.push(row);
    }
    Ok(rows)
}

/// Figure 17: sections of a bend under growing sets of the thesis's forces.
pub fn forces(easel: &mut Easel<'_>) -> Result<Vec<Vec<Cell>>> {
    let sets: [(&[(&str, f64)], &str); 4] = [
        (&[("max_iterations", 0.0)], "rigid: the bones' torque is zero"),
        (&[("length", 1.0), ("surface", 0.3)], "torques and surface springs\nclose the gaps"),
        (&[("length", 0.1), ("surface", 4.0)], "stiffer surface springs,\nsofter length springs"),
        (&[("length", 1.0), ("surface", 1.0), ("torsion", 4.0)], "stiffer torsion springs"),
    ];
    let mut row = Vec::new();
    for (parameters, caption) in sets {
        let mut sitter = bent(easel, thesis(parameters), Axis::Z, 80.0)?;
        let shape = sitter.evaluate(None)?;
        row.push(section(&mut sitter, &shape, caption)?);
    }
    Ok(vec![row])
}

/// Figure 18: the forces of the thesis, one after another.
pub fn accumulated(easel: &mut Easel<'_>) -> Result<Vec<Vec<Cell>>> {
    let none = [("surface", 0.0), ("length", 0.0), ("torsion", 0.0), ("bone", 0.0)];
    let mut row = Vec::new();
    for (forces, caption) in [
        (0, "rigid skinning"),
        (1, "surface springs"),
        (2, "and length springs"),
        (3, "and torsion springs"),
        (4, "and bone springs"),
    ] {
        let parameters: Vec<_> =
            none.iter().enumerate().map(|(i, (name, _))| (*name, f64::from(u8::from(i < forces)))).collect();
        let mut sitter = bent(easel, thesis(&parameters), Axis::Z, 100.0)?;
        row.push(sitter.shot(None, caption)?);
    }
    Ok(vec![row])
}

/// Figure 19: twist and swing by three skinning methods, and by springs that start from each of them.
pub fn compared(easel: &mut Easel<'_>) -> Result<Vec<Vec<Cell>>> {
    let starts = [("lbs", "LBS"), ("dqs", "DQS"), ("rigid", "rigid")];
    let mut rows = Vec::new();
    for (axis, degrees, motion) in [(Axis::Y, 270.0, "twist"), (Axis::Z, 180.0, "swing")] {
        let mut row = Vec::new();
        for (method, name) in starts {
            let mut sitter = turned(easel, DeformerSettings::of(method), axis, degrees)?;
            row.push(sitter.shot(None, &format!("{name}, {motion}"))?);
        }
        for (method, name) in starts {
            let parameters = [("start".to_owned(), method.into())].into();
            let settings = DeformerSettings { method: "springs".into(), parameters };
            let mut sitter = turned(easel, settings, axis, degrees)?;
            row.push(sitter.shot(None, &format!("springs from {name}"))?);
        }
        rows.push(row);
    }
    Ok(rows)
}

/// Figure 20: a child that stretches, by LBS and by springs, shaded and coloured by its normals.
pub fn stretching(easel: &mut Easel<'_>) -> Result<Vec<Vec<Cell>>> {
    let model = easel.model(Kind::Chibi)?;
    let mut rows = vec![Vec::new(), Vec::new()];
    for (method, name) in [("lbs", "LBS"), ("springs", "springs")] {
        let mut sitter = easel.seated(&model, DeformerSettings::of(method), [150.0, 6.0], [440, 460])?;
        for (joint, axis, degrees) in [
            ("LeftUpperArm", Axis::Z, 75.0),
            ("RightUpperArm", Axis::Z, -75.0),
            ("LeftLowerArm", Axis::Z, 30.0),
            ("RightLowerArm", Axis::Z, -30.0),
            ("Spine", Axis::X, -12.0),
            ("Chest", Axis::X, -12.0),
            ("Chest", Axis::Y, 15.0),
        ] {
            sitter.turn(joint, axis, degrees)?;
        }
        sitter.look_at(["Chest", "Neck"], 0.26)?;
        let shape = sitter.evaluate(None)?;
        rows[0].push(sitter.picture(&shape, &Lines::default(), name)?);
        let control_of = &model.bound.character.display.control_of;
        let mut colors = vec![Vec4::ONE; model.bound.character.control.positions.len()];
        for (v, normal) in control_of.iter().zip(&shape.normals) {
            colors[*v as usize] = (0.5 * *normal + Vec3::splat(0.5)).extend(1.0);
        }
        sitter.studio = easel.painted(&model, &colors)?;
        rows[1].push(sitter.picture(&shape, &Lines::default(), &format!("{name}, normals"))?);
    }
    Ok(rows)
}

/// Figure 21: a swing and a twist by the springs of the thesis with other coefficients and numbers of iterations.
pub fn coefficients(easel: &mut Easel<'_>) -> Result<Vec<Vec<Cell>>> {
    let sets: [(&[(&str, f64)], &str); 5] = [
        (&[("max_iterations", 5.0)], "all 1, 5 iterations"),
        (&[("max_iterations", 50.0)], "all 1, 50 iterations"),
        (&[("surface", 5.0)], "surface 5, 50 iterations"),
        (&[("length", 5.0)], "length 5, 50 iterations"),
        (&[("torsion", 5.0)], "torsion 5, 50 iterations"),
    ];
    let mut rows = Vec::new();
    for (axis, degrees) in [(Axis::Z, 120.0), (Axis::Y, 150.0)] {
        let mut row = Vec::new();
        for (parameters, caption) in sets {
            row.push(bent(easel, thesis(parameters), axis, degrees)?.shot(None, caption)?);
        }
        rows.push(row);
    }
    Ok(rows)
}
