//! Figures 2, 6 and 7: edited arms, and the localisation of joints.

use super::super::easel::Easel;
use super::caged::{Caged, Part, Turns, along, made, rise, thicken};
use crate::base::math::{Aabb, DVec3, Vec3, Vec4};
use crate::base::{Error, Result};
use crate::cage::localisation;
use crate::generate::Kind;
use crate::render::{JOINT, Lines};
use crate::rig::Axis;
use crate::scene::{Cell, color_of_weight};

/// The left arm raised to the horizontal, the forearm bent upwards.
const BENT: Turns = &[("LeftUpperArm", Axis::Z, 45.0), ("LeftLowerArm", Axis::Z, 105.0)];

/// The joints of the arm.
const SHOULDER: &str = "LeftUpperArm";
const ELBOW: &str = "LeftLowerArm";
const WRIST: &str = "LeftHand";

pub(super) fn methods(easel: &mut Easel<'_>) -> Result<Vec<Vec<Cell>>> {
    let cage = made(&*easel.model(Kind::Human)?, 200)?;
    let mut rows = vec![Vec::new(), Vec::new()];
    for (method, name) in [("lbs", "LBS"), ("dqs", "DQS"), ("cor", "centres of rotation")] {
        let sitter = easel.sitter(Kind::Human, method, [8.0, 10.0], [360, 400])?;
        let mut caged = Caged::new(sitter, &cage)?;
        for (row, edited) in rows.iter_mut().zip([false, true]) {
            let what = if edited { "thicker upper arm" } else { "as the file has it" };
            if edited {
                thick_upper_arm(&mut caged)?;
            }
            if row.is_empty() {
                caged.pose(&[])?;
                caged.sitter.frame = Some(cube(&caged, 0.36)?);
                let rest = [caged.look(None, &[Part::Cage], &format!("rest\n{what}"))?];
                row.extend(caged.pictures(&rest)?);
            }
            caged.pose(BENT)?;
            caged.sitter.frame = Some(cube(&caged, 0.3)?);
            let bent = [caged.look(None, &[], &format!("{name}\n{what}"))?];
            row.extend(caged.pictures(&bent)?);
        }
    }
    Ok(rows)
}

/// Returns a cube around the posed elbow; `half` is half its edge, metres.
fn cube(caged: &Caged, half: f32) -> Result<Aabb> {
    let at = caged.posed_joint(ELBOW)?.as_vec3();
    Ok(Aabb { min: at - Vec3::splat(half), max: at + Vec3::splat(half) })
}

/// Thickens the upper arm of the rest cage.
fn thick_upper_arm(caged: &mut Caged) -> Result<()> {
    let bone = [caged.joint(SHOULDER)?, caged.joint(ELBOW)?];
    let (arm, below) = (caged.share(SHOULDER)?, caged.share(ELBOW)?);
    caged.edit(|v, x| {
        let t = along(x, bone);
        let weight = arm[v] * (1.0 - below[v]) * rise(0.0, 0.4, t);
        thicken(x, bone, 1.0 + 0.9 * weight)
    })
}

pub(super) fn localisations(easel: &mut Easel<'_>) -> Result<Vec<Vec<Cell>>> {
    let model = easel.model(Kind::Chibi)?;
    let control = &model.bound.character.control;
    let joints = &model.skeleton().joints;
    let linear = |byte: u8| (f32::from(byte) / 255.0).powf(2.2);
    let mut rows = vec![Vec::new(), Vec::new()];
    for name in ["LeftLowerArm", "RightUpperArm", "LeftLowerLeg", "Neck"] {
        let mut sitter = easel.sitter(Kind::Chibi, "lbs", [14.0, 6.0], [320, 400])?;
        let node = sitter.node(name)?;
        let none = || Error::input(format!("{name:?} moves no skin"), "name another joint");
        let joint = model.skeleton().nodes[node.index()].joint.ok_or_else(none)?;
        let parent = joints[joint.index()].parent.map(|p| p.index());
        let values = localisation(&control.influences, joint.index(), parent);
        let ends = values.iter().fold((f64::MAX, f64::MIN), |(low, high), &v| (low.min(v), high.max(v)));
        let part = |v: &f64| ((v - ends.0) / (ends.1 - ends.0).max(1e-9)) as f32;
        let color = |v: &f64| Vec4::from_array(color_of_weight(part(v)).map(linear));
        sitter.studio = easel.painted(&model, &values.iter().map(color).collect::<Vec<_>>())?;
        let shape = sitter.evaluate(None)?;
        let mut lines = Lines::default();
        lines.dot(joints[joint.index()].bind_from_joint.translation.into(), JOINT, 10.0);
        let range = format!("{name}\n{:.2} to {:.2}", ends.0, ends.1);
        rows[0].push(sitter.picture(&shape, &lines, &range)?);
        sitter.look_at([name, name], 0.12)?;
        rows[1].push(sitter.picture(&shape, &lines, "near the joint")?);
    }
    Ok(rows)
}

pub(super) fn scales(easel: &mut Easel<'_>) -> Result<Vec<Vec<Cell>>> {
    let model = easel.model(Kind::Human)?;
    type Change = fn(&mut Caged) -> Result<()>;
    let edits: [(usize, &str, Change); 3] = [
        (40, "hand enlarged", large_hand),
        (120, "forearm thickened", thick_forearm),
        (300, "biceps inflated", large_biceps),
    ];
    let mut rows = vec![Vec::new(), Vec::new(), Vec::new()];
    for (wanted, what, change) in edits {
        let cage = made(&model, wanted)?;
        let sitter = easel.sitter(Kind::Human, "lbs", [8.0, 6.0], [400, 400])?;
        let mut caged = Caged::new(sitter, &cage)?;
        let cages = format!("{} cage vertices", caged.vertices());
        caged.pose(BENT)?;
        caged.sitter.frame = Some(cube(&caged, 0.42)?);
        let mut looks = vec![caged.look(None, &[Part::Cage], &format!("bent arm\n{cages}"))?];
        change(&mut caged)?;
        looks.push(caged.look(None, &[Part::Cage], &format!("{what}\ncurrent cage edited"))?);
        looks.push(caged.look(None, &[], what)?);
        for (row, cell) in rows.iter_mut().zip(caged.pictures(&looks)?) {
            row.push(cell);
        }
    }
    Ok(rows)
}

fn large_hand(caged: &mut Caged) -> Result<()> {
    let (wrist, hand) = (caged.posed_joint(WRIST)?, caged.share(WRIST)?);
    caged.edit_current(|v, x| wrist + (x - wrist) * (1.0 + 0.8 * hand[v]))
}

fn thick_forearm(caged: &mut Caged) -> Result<()> {
    let bone = [caged.posed_joint(ELBOW)?, caged.posed_joint(WRIST)?];
    let (arm, hand) = (caged.share(ELBOW)?, caged.share(WRIST)?);
    caged.edit_current(|v, x| thicken(x, bone, 1.0 + 0.8 * arm[v] * (1.0 - hand[v])))
}

/// Inflates the upper arm on the side to which the forearm is bent.
fn large_biceps(caged: &mut Caged) -> Result<()> {
    let [shoulder, elbow, wrist] =
        [caged.posed_joint(SHOULDER)?, caged.posed_joint(ELBOW)?, caged.posed_joint(WRIST)?];
    let bone = [shoulder, elbow];
    let axis = (elbow - shoulder).normalize_or(DVec3::X);
    let inwards = (wrist - elbow).reject_from_normalized(axis).normalize_or(DVec3::Y);
    let (arm, below) = (caged.share(SHOULDER)?, caged.share(ELBOW)?);
    caged.edit_current(|v, x| {
        let t = along(x, bone);
        let out = (x - shoulder).reject_from_normalized(axis).normalize_or_zero().dot(inwards);
        let middle = rise(0.1, 0.45, t) * (1.0 - rise(0.65, 1.0, t));
        let weight = arm[v] * (1.0 - below[v]) * middle * rise(-0.2, 0.7, out);
        thicken(x, bone, 1.0 + 1.2 * weight)
    })
}
