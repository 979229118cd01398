//! Weights as colours, and what they do to a pose: figures 8 and 9.

use super::super::easel::Easel;
use super::CUBES;
use super::cubes::sums;
use super::poses::CAST;
use super::stand::{Stand, Turn, View, found};
use crate::base::Result;
use crate::bind::Cache;
use crate::bind::weights::{Points, swing_twist_weights};
use crate::generate::Kind;
use crate::rig::Axis;
use crate::scene::Cell;

/// The weights of one joint per control vertex.
struct Weights {
    swing: Vec<f32>,
    twist: Vec<f32>,
    /// The sum of the biharmonic weights of the joint and everything below it.
    smooth: Vec<f32>,
}

fn weights(stand: &Stand, joint: &str) -> Result<Weights> {
    let (joints, at) = found(&stand.elastic, joint)?;
    let (character, cache) = (&stand.elastic.bound.character, Cache::platform());
    let made = swing_twist_weights(cache.as_ref(), character, Points::Vertices, CUBES, &|_| true)?;
    let made = made.unwrap_or_default();
    let own = |v: usize| made.of(v).iter().find(|e| e.joint as usize == at).copied().unwrap_or_default();
    Ok(Weights {
        swing: (0..made.len()).map(|v| own(v).swing).collect(),
        twist: (0..made.len()).map(|v| own(v).twist).collect(),
        smooth: sums(&stand.smooth.bound.character, &joints).iter().map(|w| w[at]).collect(),
    })
}

/// Draws the weights of a joint in the first row, and a pose in the second row.
fn compared(
    easel: &mut Easel<'_>,
    joint: &str,
    (view, half): (View, f32),
    turns: &[(&str, Turn)],
) -> Result<Vec<Vec<Cell>>> {
    let mut stand = Stand::new(easel, Kind::Human, view)?;
    stand.look_at([joint, joint], half)?;
    let of = weights(&stand, joint)?;
    let mut first = stand.pictures(&[stand.rest()])?;
    for (weights, text) in [
        (&of.smooth, "biharmonic weight"),
        (&of.swing, "elastic weight of the swing"),
        (&of.twist, "elastic weight of the twist"),
    ] {
        first.push(stand.painted(easel, weights, text)?);
    }
    stand.put(turns)?;
    stand.look_at([joint, joint], half)?;
    let shapes = stand.cast(easel, &CAST)?;
    Ok(vec![first, stand.pictures(&shapes)?])
}

pub(super) fn shoulder(easel: &mut Easel<'_>) -> Result<Vec<Vec<Cell>>> {
    const RAISED: [(&str, Turn); 2] =
        [("LeftUpperArm", Turn::About(Axis::Z, 110.0)), ("LeftUpperArm", Turn::Twist(60.0))];
    compared(easel, "LeftUpperArm", (([15.0, 6.0], [360, 380]), 0.26), &RAISED)
}

pub(super) fn heel(easel: &mut Easel<'_>) -> Result<Vec<Vec<Cell>>> {
    const BENT: [(&str, Turn); 1] = [("LeftFoot", Turn::About(Axis::X, 45.0))];
    compared(easel, "LeftFoot", (([80.0, 6.0], [360, 340]), 0.17), &BENT)
}
