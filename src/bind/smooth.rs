//! Alternating smoothing and reprojection of attachment points (thesis 3.2, fig. 7 and 8).

use super::attach::{BoneTopology, nearest_bone};
use super::{Attachments, Character};
use crate::base::math::Vec3;

/// Replaces each point by the mean of itself and its one-ring and projects it on the nearest bone, `rounds` times.
///
/// Candidates are the bone that the vertex has now and the bones that share a joint with it: a point can slide
/// past a joint, from round to round as far as it needs, but never jump to a finger or a leg beside its own.
pub(super) fn smooth(
    character: &Character,
    topology: &BoneTopology,
    attachments: &mut Attachments,
    rounds: u32,
) {
    let (skeleton, control) = (&character.skeleton, &character.control);
    let near = topology.neighborhoods(skeleton);
    let count = control.positions.len();
    let mut points: Vec<Vec3> = (0..count).map(|v| attachments.point(skeleton, v)).collect();
    for _ in 0..rounds {
        let means: Vec<Vec3> = (0..count)
            .map(|v| {
                let ring = control.adjacency.of(v);
                let sum = ring.iter().fold(points[v], |sum, &n| sum + points[n as usize]);
                sum / (ring.len() + 1) as f32
            })
            .collect();
        for v in (0..count).filter(|&v| !control.rigid[v] && !control.adjacency.of(v).is_empty()) {
            let candidates = near[attachments.bone[v].index()].iter().copied();
            if let Some((bone, t)) = nearest_bone(skeleton, candidates, means[v], |_| 0.0) {
                attachments.set(skeleton, v, control.positions[v], bone, t);
                points[v] = attachments.point(skeleton, v);
            }
        }
    }
}
