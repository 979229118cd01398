//! Evaluates clips at a time (glTF 2.0, section 3.11 and appendix C, "Animation Sampler Interpolation").

use super::Curve;
use crate::asset::{Channel, Clip, Property};
use crate::rig::Pose;

/// Writes the clip's values at `time_s` (seconds) to the animated parts of `pose`. Other parts stay unchanged.
///
/// Before the first key the first value holds, after the last key the last value. NaN counts as time 0. STEP keeps
/// the previous key's value. LINEAR interpolates linearly, or by slerp along the shorter arc for rotations.
/// CUBICSPLINE is the Hermite spline with tangents scaled by the key interval; it normalises rotations. Skips
/// channels whose node or number of weights does not match the pose. Does not allocate.
pub fn sample(clip: &Clip, time_s: f64, pose: &mut Pose) {
    let time_s = if time_s.is_nan() { 0.0 } else { time_s };
    for channel in &clip.channels {
        let node = channel.node.index();
        match channel.property {
            Property::Weights => {
                if let Some(weights) = pose.weights.get_mut(node) {
                    evaluate(channel, time_s, weights);
                }
            }
            property => {
                if let Some(local) = pose.local.get_mut(node) {
                    match property {
                        Property::Translation => evaluate(channel, time_s, &mut local.translation),
                        Property::Rotation => evaluate(channel, time_s, &mut local.rotation),
                        _ => evaluate(channel, time_s, &mut local.scale),
                    }
                }
            }
        }
    }
}

/// Evaluates one channel into `out`, whose length is the number of floats per key, see [`Curve::evaluate`].
pub fn evaluate(channel: &Channel, time: f64, out: &mut [f32]) {
    let rotation = channel.property == Property::Rotation;
    let (times, values) = (&channel.times[..], &channel.values[..]);
    Curve { interpolation: channel.interpolation, rotation, times, values }.evaluate(time, out);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::asset::Interpolation;
    use crate::base::NodeId;
    use crate::base::math::{Quat, Trs, Vec3};

    fn clip(property: Property, interpolation: Interpolation, times: &[f32], values: &[f32]) -> Clip {
        let channel = Channel {
            node: NodeId(0),
            property,
            interpolation,
            times: times.to_vec(),
            values: values.to_vec(),
        };
        Clip { name: "c".into(), channels: vec![channel] }
    }

    fn pose() -> Pose {
        Pose { local: vec![Trs::IDENTITY], weights: vec![vec![0.0, 0.0]], ..Pose::default() }
    }

    #[test]
    fn step_holds_and_linear_interpolates_and_both_clamp() {
        let values = [1.0, 2.0, 3.0, 5.0, 6.0, 7.0];
        for (time, step, linear) in [
            (0.0, 1.0, 1.0),
            (1.0, 1.0, 1.0),
            (2.0, 1.0, 3.0),
            (2.999, 1.0, 4.998),
            (3.0, 5.0, 5.0),
            (9.0, 5.0, 5.0),
        ] {
            let mut p = pose();
            sample(&clip(Property::Translation, Interpolation::Step, &[1.0, 3.0], &values), time, &mut p);
            assert_eq!(p.local[0].translation[0], step);
            sample(&clip(Property::Scale, Interpolation::Linear, &[1.0, 3.0], &values), time, &mut p);
            assert!((p.local[0].scale[0] - linear).abs() < 1e-5);
        }
    }

    #[test]
    fn rotations_take_the_shorter_arc_at_constant_speed() {
        let (a, b) = (Quat::from_rotation_y(0.2), Quat::from_rotation_y(2.2));
        for b in [b, -b] {
            let values = [a.to_array(), b.to_array()].concat();
            let c = clip(Property::Rotation, Interpolation::Linear, &[0.0, 2.0], &values);
            for (time, angle) in [(0.0, 0.2), (0.5, 0.7), (1.0, 1.2), (1.5, 1.7), (2.0, 2.2)] {
                let mut p = pose();
                sample(&c, time, &mut p);
                let turned = p.local[0].rotation() * Vec3::Z;
                assert!((turned - Quat::from_rotation_y(angle) * Vec3::Z).length() < 1e-5, "{time}");
            }
        }
    }

    #[test]
    fn cubic_spline_reproduces_a_cubic() {
        // With tangents equal to the derivative of x(t) = t^3 - 2 t on [1, 3], the spline equals the polynomial.
        let (x, d) = (|t: f32| t * t * t - 2.0 * t, |t: f32| 3.0 * t * t - 2.0);
        let mut values = Vec::new();
        for t in [1.0, 3.0] {
            values.extend([d(t); 3]);
            values.extend([x(t); 3]);
            values.extend([d(t); 3]);
        }
        let c = clip(Property::Translation, Interpolation::CubicSpline, &[1.0, 3.0], &values);
        for t in [1.0, 1.3, 2.0, 2.9, 3.0] {
            let mut p = pose();
            sample(&c, f64::from(t), &mut p);
            assert!((p.local[0].translation[1] - x(t)).abs() < 1e-4, "{t}");
        }
    }

    #[test]
    fn spline_rotations_are_unit_and_weights_are_sampled_as_a_block() {
        let mut values = Vec::new();
        for q in [Quat::IDENTITY, Quat::from_rotation_x(1.5)] {
            values.extend([0.0; 4]);
            values.extend(q.to_array());
            values.extend([0.0; 4]);
        }
        let mut p = pose();
        sample(&clip(Property::Rotation, Interpolation::CubicSpline, &[0.0, 1.0], &values), 0.5, &mut p);
        let q = Quat::from_array(p.local[0].rotation);
        assert!((q.length() - 1.0).abs() < 1e-6);
        // Both ends have equal weight at the middle, which gives the bisecting rotation.
        assert!(q.angle_between(Quat::from_rotation_x(0.75)) < 1e-3);
        let weights = clip(Property::Weights, Interpolation::Linear, &[0.0, 1.0], &[0.0, 1.0, 1.0, 0.0]);
        sample(&weights, 0.25, &mut p);
        assert_eq!(p.weights[0], [0.25, 0.75]);
        sample(&weights, f64::NAN, &mut p);
        assert_eq!(p.weights[0], [0.0, 1.0]);
    }
}
