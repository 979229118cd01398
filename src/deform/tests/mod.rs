//! Tests of geometric skinning (docs/internals.md, *Geometric methods*) and of the display stage (*Display surface and
//! normals*) against known results.

mod characters;
mod geometric;
mod gpu;
mod layout;
mod research;
mod surface;

use super::testing::{cylinder, rest};
use super::{Bound, Geometric, Streams};
use crate::base::math::{Quat, Vec3};
use crate::base::testing::shared as shared_data;
use crate::rig::{Pose, PosedRig};

/// Deforms a character in a pose by the CPU reference of a method and returns the result, per control vertex.
fn deform(method: &Geometric, bound: &Bound, pose: &Pose) -> Streams {
    let mut streams = Streams::default();
    let rig = PosedRig::new(&bound.character.skeleton, pose);
    method.bind(bound).unwrap().reference(&rig, &mut streams);
    streams
}

/// Returns a pose of two unit bones with the second joint rotated.
fn bent(bound: &Bound, turn: Quat) -> Pose {
    let mut pose = rest(bound);
    pose.local[1].rotation = turn.into();
    pose
}

/// Returns a pose in which every joint moves differently.
pub(in crate::deform) fn contorted(bound: &Bound) -> Pose {
    let mut pose = rest(bound);
    for (k, local) in pose.local.iter_mut().enumerate() {
        let k = k as f32;
        local.rotation = Quat::from_euler(glam::EulerRot::XYZ, 0.4 + 0.2 * k, 0.9 - 0.3 * k, -0.5).into();
        local.translation[0] += 0.1 * k;
    }
    pose
}

fn volume(positions: &[Vec3], triangles: &[[u32; 3]]) -> f32 {
    let six: f32 = triangles
        .iter()
        .map(|t| {
            let [a, b, c] = t.map(|v| positions[v as usize]);
            a.dot(b.cross(c))
        })
        .sum();
    six.abs() / 6.0
}
