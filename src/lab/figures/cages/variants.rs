//! Figures 8 to 10: variants of a character, frames between variants, and a punch.

use super::super::easel::Easel;
use super::caged::{Caged, Part, Turns, made, rise, thicken};
use crate::base::Result;
use crate::base::math::DVec3;
use crate::generate::Kind;
use crate::rig::Axis;
use crate::scene::Cell;

/// Wanted number of cage vertices.
const CAGE: usize = 160;
/// The sides of the body: prefix of joint names, and direction along x.
const SIDES: [(&str, f64); 2] = [("Left", 1.0), ("Right", -1.0)];

/// A variant: its caption, edits of the rest cage, and pose.
type Variant = (&'static str, fn(&mut Caged) -> Result<()>, Turns<'static>);

const VARIANTS: [Variant; 6] = [
    ("the file's shape", |_| Ok(()), &[("LeftUpperArm", Axis::Z, -25.0), ("RightUpperArm", Axis::Z, 25.0)]),
    ("longer legs", |c| legs(c, 0.35), STEP),
    ("big head", |c| head(c, 1.7), &[("Head", Axis::Z, 14.0), ("RightUpperArm", Axis::Z, -100.0)]),
    ("thin arms", |c| arms(c, 0.55), RAISED),
    (
        "wide shoulders",
        |c| {
            shoulders(c, 0.11)?;
            arms(c, 1.5)
        },
        FLEXED,
    ),
    (
        "round belly, short legs",
        |c| {
            belly(c, 1.7)?;
            legs(c, -0.2)
        },
        &[("LeftUpperArm", Axis::Z, 20.0), ("RightUpperArm", Axis::Z, -20.0), ("Spine1", Axis::Z, 8.0)],
    ),
];

const STEP: Turns<'static> = &[
    ("LeftUpperLeg", Axis::X, -35.0),
    ("LeftLowerLeg", Axis::X, 30.0),
    ("RightUpperLeg", Axis::X, 20.0),
    ("RightLowerLeg", Axis::X, 15.0),
];
const RAISED: Turns<'static> = &[("LeftUpperArm", Axis::Z, 100.0), ("RightUpperArm", Axis::Z, -100.0)];
const FLEXED: Turns<'static> = &[
    ("LeftUpperArm", Axis::Z, 45.0),
    ("LeftLowerArm", Axis::Z, 100.0),
    ("RightUpperArm", Axis::Z, -45.0),
    ("RightLowerArm", Axis::Z, -100.0),
];

fn person(easel: &mut Easel<'_>, angle: [f32; 2], size: [u32; 2]) -> Result<Caged> {
    let cage = made(&*easel.model(Kind::Human)?, CAGE)?;
    Caged::new(easel.sitter(Kind::Human, "lbs", angle, size)?, &cage)
}

/// Lengthens or shortens the legs by a height in metres. The feet stay on the ground.
fn legs(caged: &mut Caged, by: f64) -> Result<()> {
    let (hip, ankle) = (caged.joint("LeftUpperLeg")?.y, caged.joint("LeftFoot")?.y);
    // The stretch ends below the hanging hands.
    let top = ankle + 0.85 * (hip - ankle);
    caged.edit(|_, x| x + DVec3::Y * by * ((x.y - ankle) / (top - ankle)).clamp(0.0, 1.0))
}

fn head(caged: &mut Caged, factor: f64) -> Result<()> {
    let (at, share) = (caged.joint("Head")?, caged.share("Head")?);
    caged.edit(|v, x| at + (x - at) * (1.0 + (factor - 1.0) * share[v]))
}

/// Scales both arms, without the hands, about the arms' bones.
fn arms(caged: &mut Caged, factor: f64) -> Result<()> {
    for (side, _) in SIDES {
        let name = |part: &str| format!("{side}{part}");
        let [shoulder, elbow, wrist] =
            [caged.joint(&name("UpperArm"))?, caged.joint(&name("LowerArm"))?, caged.joint(&name("Hand"))?];
        let arm = caged.share(&name("UpperArm"))?;
        let (below, hand) = (caged.share(&name("LowerArm"))?, caged.share(&name("Hand"))?);
        // An earlier edit, such as wide shoulders, may have moved the arm.
        let moved = |c: &Caged, joint: &str| c.posed_joint(&name(joint));
        caged.pose(&[])?;
        let shift = moved(caged, "LowerArm")? - elbow;
        caged.edit(|v, x| {
            let factor = 1.0 + (factor - 1.0) * arm[v] * (1.0 - hand[v]);
            let at = x - shift;
            let upper = thicken(at, [shoulder, elbow], factor);
            upper.lerp(thicken(at, [elbow, wrist], factor), below[v]) + shift
        })?;
    }
    Ok(())
}

/// Moves the shoulders and arms apart, each by a distance in metres.
fn shoulders(caged: &mut Caged, by: f64) -> Result<()> {
    let shares = [caged.share("LeftShoulder")?, caged.share("RightShoulder")?];
    caged.edit(|v, x| {
        let sides = SIDES.iter().zip(&shares);
        x + DVec3::X * by * sides.map(|((_, sign), share)| sign * share[v]).sum::<f64>()
    })
}

/// Scales the trunk about the spine, most at the belly.
fn belly(caged: &mut Caged, factor: f64) -> Result<()> {
    let (low, high) = (caged.joint("Hips")?, caged.joint("Chest")?);
    let limbs = ["LeftUpperArm", "RightUpperArm", "LeftUpperLeg", "RightUpperLeg"];
    let shares = limbs.map(|joint| caged.share(joint));
    let [a, b, c, d] = shares;
    let shares = [a?, b?, c?, d?];
    caged.edit(|v, x| {
        let limb: f64 = shares.iter().map(|share| share[v]).sum();
        let height = rise(low.y - 0.1, low.y + 0.12, x.y) * (1.0 - rise(high.y - 0.12, high.y + 0.1, x.y));
        thicken(x, [low, high], 1.0 + (factor - 1.0) * height * (1.0 - limb).max(0.0))
    })
}

pub(super) fn variants(easel: &mut Easel<'_>) -> Result<Vec<Vec<Cell>>> {
    let mut caged = person(easel, [16.0, 4.0], [300, 460])?;
    let (mut rest, mut posed) = (Vec::new(), Vec::new());
    for (caption, change, turns) in VARIANTS {
        caged.pose(&[])?;
        caged.reset()?;
        change(&mut caged)?;
        rest.push(caged.look(None, &[Part::Cage], caption)?);
        caged.pose(turns)?;
        posed.push(caged.look(None, &[], "posed")?);
    }
    Ok(vec![caged.pictures(&rest)?, caged.pictures(&posed)?])
}

pub(super) fn between(easel: &mut Easel<'_>) -> Result<Vec<Vec<Cell>>> {
    let mut caged = person(easel, [24.0, 4.0], [260, 440])?;
    let keyed = [&VARIANTS[4], &VARIANTS[1], &VARIANTS[5]];
    let mut joints: Vec<&str> = keyed.iter().flat_map(|v| v.2).map(|turn| turn.0).collect();
    joints.sort_unstable();
    joints.dedup();
    caged.pose(&[])?;
    for (time, (_, change, turns)) in keyed.iter().enumerate() {
        caged.reset()?;
        change(&mut caged)?;
        caged.key_cage(time as f64)?;
        caged.key_pose(time as f64, &joints, turns)?;
    }
    caged.reset()?;
    let (mut plain, mut cages) = (Vec::new(), Vec::new());
    for k in 0..=6 {
        let time = f64::from(k) / 3.0;
        let what = if k % 3 == 0 { keyed[k as usize / 3].0 } else { "between" };
        plain.push(caged.look(Some(time), &[], &format!("{time:.2} s\n{what}"))?);
        cages.push(caged.look(Some(time), &[Part::Cage], "current cage")?);
    }
    Ok(vec![caged.pictures(&plain)?, caged.pictures(&cages)?])
}

/// Joints of the punch: the body, the arm and the fingers.
const PUNCHING: [&str; 18] = [
    "Spine1",
    "Chest",
    "LeftUpperArm",
    "LeftLowerArm",
    "RightUpperArm",
    "RightLowerArm",
    "LeftIndex1",
    "LeftIndex2",
    "LeftIndex3",
    "LeftMiddle1",
    "LeftMiddle2",
    "LeftMiddle3",
    "LeftRing1",
    "LeftRing2",
    "LeftRing3",
    "LeftPinky1",
    "LeftPinky2",
    "LeftPinky3",
];
/// Bends of the three joints of a finger in a fist, degrees.
const FIST: [(&str, f32); 3] = [("1", -75.0), ("2", -95.0), ("3", -55.0)];
/// Inclination of the arm at rest, degrees. A rotation by this angle about z makes the arm horizontal.
const SLOPE: f32 = 46.0;
/// Times of the pose keys: guard, fist drawn back, impact, fist held out, guard.
const POSES: [f64; 5] = [0.0, 0.3, 0.5, 0.62, 1.0];
/// Times of the cage keys, with the factor by which the hand is larger.
const CAGES: [(f64, f64); 3] = [(0.36, 1.0), (0.54, 2.6), (0.85, 1.0)];
/// Times of the pictures.
const FRAMES: [f64; 8] = [0.0, 0.3, 0.42, 0.5, 0.54, 0.62, 0.8, 1.0];

/// Returns the rotations of a moment of the punch: twist of the trunk, rotations of the upper arm, and the bend of the
/// elbow, degrees.
fn moment(trunk: f32, upper: &[(Axis, f32)], bend: f32) -> Vec<(String, Axis, f32)> {
    let mut out: Vec<(String, Axis, f32)> = Vec::new();
    let mut add = |joint: &str, axis: Axis, degrees: f32| out.push((joint.to_owned(), axis, degrees));
    add("Spine1", Axis::Y, trunk);
    add("Chest", Axis::Y, trunk);
    upper.iter().for_each(|&(axis, degrees)| add("LeftUpperArm", axis, degrees));
    // Elbows bend about the line that is upright when the arm is horizontal.
    for (axis, degrees) in [(Axis::Z, SLOPE), (Axis::Y, -bend), (Axis::Z, -SLOPE)] {
        add("LeftLowerArm", axis, degrees);
    }
    add("RightUpperArm", Axis::Z, 25.0);
    add("RightUpperArm", Axis::X, -30.0);
    for (axis, degrees) in [(Axis::Z, -SLOPE), (Axis::Y, 115.0), (Axis::Z, SLOPE)] {
        add("RightLowerArm", axis, degrees);
    }
    for finger in ["Index", "Middle", "Ring", "Pinky"] {
        FIST.iter().for_each(|&(k, degrees)| add(&format!("Left{finger}{k}"), Axis::Z, degrees));
    }
    out
}

pub(super) fn punch(easel: &mut Easel<'_>) -> Result<Vec<Vec<Cell>>> {
    let mut caged = person(easel, [62.0, 4.0], [360, 420])?;
    let guard: &[(Axis, f32)] = &[(Axis::Z, -20.0), (Axis::X, -35.0)];
    let back: &[(Axis, f32)] = &[(Axis::Z, -10.0), (Axis::X, 25.0)];
    let out: &[(Axis, f32)] = &[(Axis::Z, SLOPE), (Axis::Y, -80.0)];
    let moments = [
        moment(0.0, guard, 115.0),
        moment(14.0, back, 120.0),
        moment(-14.0, out, 4.0),
        moment(-15.0, out, 8.0),
        moment(0.0, guard, 115.0),
    ];
    for (time, turns) in POSES.into_iter().zip(&moments) {
        let turns: Vec<(&str, Axis, f32)> = turns.iter().map(|t| (t.0.as_str(), t.1, t.2)).collect();
        caged.key_pose(time, &PUNCHING, &turns)?;
    }
    let (wrist, hand) = (caged.joint("LeftHand")?, caged.share("LeftHand")?);
    for (time, factor) in CAGES {
        caged.reset()?;
        caged.edit(|v, x| wrist + (x - wrist) * (1.0 + (factor - 1.0) * hand[v]))?;
        caged.key_cage(time)?;
    }
    caged.reset()?;
    let mut looks = Vec::new();
    for time in FRAMES {
        let mut caption = format!("{time:.2} s");
        if POSES.contains(&time) {
            caption.push_str(", pose key");
        }
        if CAGES.iter().any(|key| key.0 == time) {
            caption.push_str(", cage key");
        }
        let parts: &[Part] = if time == CAGES[1].0 { &[Part::Cage] } else { &[] };
        looks.push(caged.look(Some(time), parts, &caption)?);
    }
    let mut cells = caged.pictures(&looks)?;
    let last = cells.split_off(FRAMES.len() / 2);
    Ok(vec![cells, last])
}
