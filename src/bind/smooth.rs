//! Alternating smoothing and reprojection of attachment points (thesis 3.2, fig. 7 and 8).

use super::attach::{BoneTopology, nearest_bone, point_on, project};
use super::report::EdgeLengths;
use super::{Attachments, Character};
use crate::base::math::Vec3;
use crate::base::{BoneId, JointId};
use crate::geom::ControlMesh;
use crate::rig::Skeleton;
use rayon::prelude::*;
use std::iter;

/// Factor above which a gap counts as wider: above rounding, so that scale makes no difference.
const SLACK: f32 = 1.0 + 1e-4;

/// Holding vertices back may widen the gaps to their neighbours, which are then held back too. After this
/// many repetitions the round is dropped and smoothing ends.
const HOLD_BACK: usize = 100;

/// Moves each point towards the mean of its one-ring and projects it on the skeleton, `rounds` times.
///
/// **Differs** from the thesis, where a plain mean and the nearest of all bones make the largest gap grow on most
/// rigs:
/// - A neighbour weighs `g / |x_i - x_j|^2`, `g` being the gap of that edge, and the vertex itself as much as all
///   of them: the worst gaps close first, and points are not spread evenly where the vertices are not.
/// - A point slides: it is projected on its own bone, and where it runs into a joint on the nearest bone there; or
///   on a bone of a neighbour where that is nearer. The nearest of all bones may be another finger.
/// - What would open a gap wider than the widest one makes a smaller step or none in that round, so the largest gap never
///   grows (by more than 1e-4 of it).
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
        // From the largest step to none.
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

/// Chooses the boldest step of each vertex with which no gap is wider than `widest`, and says where that leads;
/// none where this takes too long.
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
            // The last one stays in place, exact to the bit.
            moved[v] = if chosen[v] == 3 { points[v] } else { target(steps[v][chosen[v]]) };
        }
    }
    None
}

fn mean_point(control: &ControlMesh, lengths: &EdgeLengths, points: &[Vec3], v: usize) -> Vec3 {
    let (mut sum, mut total) = (Vec3::ZERO, 0.0);
    for n in control.adjacency.of(v).iter().map(|&n| n as usize) {
        // In units of the mean edge, because squares of lengths overflow.
        let relative = lengths.of_edge(control, v, n) / lengths.mean;
        let weight = lengths.gap(control, points, v, n) / (relative * relative);
        sum += weight * (points[n] - points[v]);
        total += weight;
    }
    if total > 0.0 && sum.is_finite() { points[v] + sum / (2.0 * total) } else { points[v] }
}

/// The point of the skeleton nearest to `x`, searched from a bone: on it, or beyond the joint at its end.
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
    // The bone is among those at the joint: ties keep it.
    let keep = |b: BoneId| f32::from(u8::from(b == from));
    joint
        .and_then(|j| nearest_bone(skeleton, at_joint[j.index()].iter().copied(), x, keep))
        .unwrap_or((from, t))
}
