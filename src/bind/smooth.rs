//! Smooths attachment points and projects them back onto the bones, alternately (thesis 3.2, fig. 7 and 8).

use super::attach::{BoneTopology, nearest_bone, point_on, project};
use super::report::EdgeLengths;
use super::{Attachments, Character};
use crate::base::math::Vec3;
use crate::base::{BoneId, JointId};
use crate::geom::ControlMesh;
use crate::rig::Skeleton;
use rayon::prelude::*;
use std::iter;

/// A gap counts as wider than the widest gap only if it exceeds the widest gap times this factor. The factor absorbs
/// rounding errors.
const SLACK: f32 = 1.0 + 1e-4;

/// Maximum passes of [`hold_back`] per round. Holding vertices back may widen gaps to their neighbours, which are
/// then held back too. If the limit is reached, the round is discarded and smoothing ends.
const HOLD_BACK: usize = 100;

/// Moves each attachment point towards the mean of its neighbours and projects it on a bone, `rounds` times.
///
/// A gap is the distance between the attachment points of an edge's vertices, divided by the edge length. **Differs**
/// from the thesis, where a plain mean and the nearest of all bones enlarge the largest gap on most rigs:
/// - A neighbour has weight `g / |x_i - x_j|^2` with the edge's gap `g`; the vertex itself has the sum of these
///   weights. The largest gaps therefore close first, and unevenly spaced vertices keep unevenly spaced points.
/// - A point moves along its own bone, or past a joint to the nearest bone there. It changes to a neighbour's bone if
///   that bone is nearer. The nearest of all bones could belong to another finger.
/// - A vertex whose step would create a gap wider than the widest one takes a smaller step or none in that round. The
///   largest gap therefore never grows by more than the fraction 1e-4.
pub(super) fn smooth(
    character: &Character,
    topology: &BoneTopology,
    attachments: &mut Attachments,
    rounds: u32,
) {
    let (skeleton, control) = (&character.skeleton, &character.control);
    let at_joint: Vec<Vec<BoneId>> =
        (0..skeleton.joints.len()).map(|j| topology.at_joint(JointId::from(j))).collect();
    let lengths = EdgeLengths::of(control);
    let mut points: Vec<Vec3> =
        (0..control.positions.len()).map(|v| attachments.point(skeleton, v)).collect();
    let mut widest = lengths.widest_gap(control, &points);
    for _ in 0..rounds {
        // Candidate steps of a vertex, from the largest step to no step.
        let steps = |v: usize| {
            let now = (attachments.bone[v], attachments.t[v]);
            if control.rigid[v] {
                return [now; 4];
            }
            let mean = mean_point(control, &lengths, &points, v);
            let own = slide(skeleton, &at_joint, now.0, mean);
            let ring = control.adjacency.of(v).iter().map(|&n| attachments.bone[n as usize]);
            let keep = |b: BoneId| f32::from(u8::from(b == own.0));
            let near = nearest_bone(skeleton, iter::once(own.0).chain(ring), mean, keep);
            let half_way = slide(skeleton, &at_joint, now.0, 0.5 * (points[v] + mean));
            [near.filter(|n| n.0 != own.0).unwrap_or(own), own, half_way, now]
        };
        let steps: Vec<[(BoneId, f32); 4]> = (0..points.len()).into_par_iter().map(steps).collect();
        let Some((chosen, moved)) = hold_back(skeleton, control, &lengths, &points, &steps, widest) else {
            return;
        };
        for v in 0..points.len() {
            let (bone, t) = steps[v][chosen[v]];
            attachments.set(skeleton, v, control.positions[v], bone, t);
        }
        points = moved;
        widest = lengths.widest_gap(control, &points).min(widest);
    }
}

/// Replaces each attachment point by the mean of itself and its neighbours, projected on the nearest bone of the
/// skin's joints, `rounds` times (thesis, 3.2). The largest gap may grow, for example where fingers are close.
pub(super) fn smooth_plainly(
    character: &Character,
    topology: &BoneTopology,
    attachments: &mut Attachments,
    rounds: u32,
) {
    let (skeleton, control) = (&character.skeleton, &character.control);
    for _ in 0..rounds {
        let points: Vec<Vec3> =
            (0..control.positions.len()).map(|v| attachments.point(skeleton, v)).collect();
        let step = |v: usize| {
            let (now, ring) = (attachments.bone[v], control.adjacency.of(v));
            if control.rigid[v] || ring.is_empty() {
                return (now, attachments.t[v]);
            }
            let sum = ring.iter().fold(points[v], |sum, &n| sum + points[n as usize]);
            let mean = sum / (ring.len() + 1) as f32;
            let keep = |b: BoneId| f32::from(u8::from(b == now));
            let near = nearest_bone(skeleton, topology.skinned.iter().copied(), mean, keep);
            near.unwrap_or((now, attachments.t[v]))
        };
        let steps: Vec<(BoneId, f32)> = (0..points.len()).into_par_iter().map(step).collect();
        for (v, (bone, t)) in steps.into_iter().enumerate() {
            attachments.set(skeleton, v, control.positions[v], bone, t);
        }
    }
}

/// Chooses the largest possible step of each vertex, so that no gap becomes wider than `widest`. Returns the steps and
/// the resulting points, or `None` after [`HOLD_BACK`] passes.
fn hold_back(
    skeleton: &Skeleton,
    control: &ControlMesh,
    lengths: &EdgeLengths,
    points: &[Vec3],
    steps: &[[(BoneId, f32); 4]],
    widest: f32,
) -> Option<(Vec<usize>, Vec<Vec3>)> {
    let target = |(bone, t): (BoneId, f32)| point_on(&skeleton.bones[bone.index()], t);
    let mut chosen = vec![0; steps.len()];
    let mut moved: Vec<Vec3> = steps.iter().map(|s| target(s[0])).collect();
    for _ in 0..HOLD_BACK {
        let mut wide: Vec<usize> = control
            .adjacency
            .edges()
            .map(|(a, b)| [a as usize, b as usize])
            .filter(|&[a, b]| (moved[a], moved[b]) != (points[a], points[b]))
            .filter(|&[a, b]| lengths.gap(control, &moved, a, b) > widest * SLACK)
            .flatten()
            .collect();
        if wide.is_empty() {
            return Some((chosen, moved));
        }
        wide.sort_unstable();
        wide.dedup();
        for v in wide {
            chosen[v] = (chosen[v] + 1).min(3);
            // The last candidate keeps the point bit for bit.
            moved[v] = if chosen[v] == 3 { points[v] } else { target(steps[v][chosen[v]]) };
        }
    }
    None
}

fn mean_point(control: &ControlMesh, lengths: &EdgeLengths, points: &[Vec3], v: usize) -> Vec3 {
    let (mut sum, mut total) = (Vec3::ZERO, 0.0);
    for n in control.adjacency.of(v).iter().map(|&n| n as usize) {
        // Lengths are relative to the mean edge, because squared lengths could overflow.
        let relative = lengths.of_edge(control, v, n) / lengths.mean;
        let weight = lengths.gap(control, points, v, n) / (relative * relative);
        sum += weight * (points[n] - points[v]);
        total += weight;
    }
    if total > 0.0 && sum.is_finite() { points[v] + sum / (2.0 * total) } else { points[v] }
}

/// Returns the point nearest to `x` on the bone `from`, or on the bones at its end joint if `x` lies beyond that end.
fn slide(skeleton: &Skeleton, at_joint: &[Vec<BoneId>], from: BoneId, x: Vec3) -> (BoneId, f32) {
    let bone = &skeleton.bones[from.index()];
    let t = project(bone, x);
    let joint = if t <= 0.0 {
        Some(bone.parent)
    } else if t >= 1.0 {
        bone.child
    } else {
        None
    };
    // The bones at the joint include `from`. If distances tie, the point stays on `from`.
    let keep = |b: BoneId| f32::from(u8::from(b == from));
    joint
        .and_then(|j| nearest_bone(skeleton, at_joint[j.index()].iter().copied(), x, keep))
        .unwrap_or((from, t))
}
