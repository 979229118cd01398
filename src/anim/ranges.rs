//! The ranges of rotation that the clips of a file use, as limits of the joints.

use super::evaluate;
use crate::asset::{Interpolation, Property};
use crate::base::NodeId;
use crate::base::math::{DQuat, DVec2, Quat};
use crate::rig::{Limit, Limits, Skeleton, SwingTwist, bone_frames};

/// Angle that the limits allow beyond the clips, radians: 5 degrees.
const MARGIN: f64 = 5.0 * std::f64::consts::PI / 180.0;
/// A joint whose clips rotate it by less than this angle, radians, does not move.
const STILL: f64 = 0.005;
/// Number of samples between two keys.
const BETWEEN: usize = 2;
/// The swings of a hinge spread along its axis at least this many times as far as across.
const HINGE: f64 = 2.0;

/// Returns a limit for each of these nodes that a clip of the file rotates: the range of all clips, with a margin of 5
/// degrees on every side, so that no range is smaller. Nodes that no clip rotates get no limit. If a joint swings
/// mostly about one axis, this axis becomes the x of the limit's frame.
pub fn limits_of_clips(skeleton: &Skeleton, nodes: &[NodeId]) -> Limits {
    let frames = bone_frames(skeleton);
    let limit = |node: &NodeId| {
        let rotations = rotations_of_clips(skeleton, *node);
        let first = rotations.first()?;
        if rotations.iter().all(|q| q.angle_between(*first) < STILL) {
            return None;
        }
        let rest = skeleton.nodes[node.index()].rest.rotation().as_dquat().normalize();
        let in_frame = |frame: DQuat| {
            let (to, from) = ((rest * frame).inverse(), frame);
            rotations.iter().map(move |q| to * *q * from)
        };
        let canonical = frames[node.index()];
        let swings = in_frame(canonical).map(|q| SwingTwist::new(q).swing);
        let frame = canonical * DQuat::from_rotation_z(main_axis(swings));
        Some((*node, Limit::around(frame, in_frame(frame), MARGIN)))
    };
    nodes.iter().filter(|n| n.index() < skeleton.nodes.len()).filter_map(limit).collect()
}

/// Returns all rotations that the clips give a node, at their keys and between them.
fn rotations_of_clips(skeleton: &Skeleton, node: NodeId) -> Vec<DQuat> {
    let channels = skeleton.clips.iter().flat_map(|clip| &clip.channels);
    let mut out = Vec::new();
    for channel in channels.filter(|c| c.node == node && c.property == Property::Rotation) {
        let mut push = |time: f64| {
            let mut value = [0.0, 0.0, 0.0, 1.0];
            evaluate(channel, time, &mut value);
            let q = Quat::from_array(value);
            if q.is_finite() && q.length() > 1e-3 {
                out.push(q.as_dquat().normalize());
            }
        };
        for (i, time) in channel.times.iter().enumerate() {
            push(f64::from(*time));
            let next = channel.times.get(i + 1).filter(|_| channel.interpolation != Interpolation::Step);
            for k in 1..=BETWEEN {
                let share = k as f64 / (BETWEEN + 1) as f64;
                next.into_iter().for_each(|next| push(f64::from(*time) + f64::from(next - time) * share));
            }
        }
    }
    out
}

/// Returns the angle from x to the axis along which swing vectors spread, radians, -π/2..=π/2; 0 if they spread in all
/// directions.
fn main_axis(swings: impl Iterator<Item = DVec2>) -> f64 {
    let (mut xx, mut xy, mut yy) = (0.0, 0.0, 0.0);
    for v in swings {
        (xx, xy, yy) = (xx + v.x * v.x, xy + v.x * v.y, yy + v.y * v.y);
    }
    // The eigenvalues of the second moment.
    let (mean, apart) = (0.5 * (xx + yy), (0.5 * (xx - yy)).hypot(xy));
    let (large, small) = (mean + apart, (mean - apart).max(0.0));
    if large > HINGE * HINGE * small { 0.5 * (2.0 * xy).atan2(xx - yy) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::asset::{Channel, Clip};
    use crate::base::math::{DVec3, Trs, Vec3};
    use crate::rig::{JointLimit, tree};

    fn clip(node: NodeId, rotations: &[Quat]) -> Clip {
        let channel = Channel {
            node,
            property: Property::Rotation,
            interpolation: Interpolation::Linear,
            times: (0..rotations.len()).map(|i| i as f32).collect(),
            values: rotations.iter().flat_map(|q| q.to_array()).collect(),
        };
        Clip { name: "clip".into(), channels: vec![channel] }
    }

    #[test]
    fn an_elbow_that_clips_bend_about_an_oblique_axis_becomes_a_hinge_about_it() {
        let mut skeleton = tree().0;
        let [elbow, arm, knee] = ["elbow.L", "arm.L", "knee.L"].map(|n| skeleton.find(n).unwrap());
        // Odd orients: the elbow's own axes say nothing.
        let odd = Quat::from_euler(glam::EulerRot::XYZ, 0.4, 1.1, -0.8);
        let rest = skeleton.nodes[elbow.index()].rest;
        skeleton.nodes[elbow.index()].rest = Trs { rotation: odd.into(), ..rest };
        let hand = skeleton.find("hand.L").unwrap().index();
        let place = odd.inverse() * skeleton.nodes[hand].rest.translation();
        skeleton.nodes[hand].rest.translation = place.into();
        // The bone runs along x; the elbow bends about an axis between y and z.
        let axis = Vec3::new(0.0, -0.8, 0.6);
        let bend = |angle: f32| Quat::from_axis_angle(axis, angle) * odd;
        let still = [Quat::IDENTITY; 2];
        skeleton.clips =
            vec![clip(elbow, &[0.1, 0.9, 1.9].map(bend)), clip(arm, &[]), clip(knee, &still)].into();
        skeleton.clips.iter().for_each(|c| assert!(c.channels.len() == 1));
        let limits = limits_of_clips(&skeleton, &[arm, elbow, knee, NodeId(900)]);
        assert_eq!(limits.keys().copied().collect::<Vec<_>>(), [elbow]);
        let limit = &limits[&elbow];
        let swing = limit.swing.map(f64::from);
        let across = swing[2].max(swing[3]);
        assert!((swing[0].max(swing[1]) - 1.9 - MARGIN).abs() < 1e-4, "{swing:?}");
        assert!((across - MARGIN).abs() < 1e-3 && (swing[0].min(swing[1]) - MARGIN).abs() < 1e-3);
        assert!(limit.twist.iter().all(|t| (f64::from(t.abs()) - MARGIN).abs() < 1e-3), "{limit:?}");
        let bound = JointLimit::new(limit, odd.as_dquat());
        for angle in [0.0, 0.5, 1.9, 1.98] {
            let local = bend(angle).as_dquat();
            assert_eq!(bound.clamp(local), local, "{angle}");
        }
        assert!(bound.excess(bend(2.2).as_dquat()) > 0.2);
        let side = DQuat::from_axis_angle(DVec3::new(0.0, 0.6, 0.8), 0.5) * odd.as_dquat();
        assert!(bound.excess(side) > 0.4);
    }
}
