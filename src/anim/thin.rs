//! Removes keys within an error bound (Ramer 1972, Douglas & Peucker 1973). Distances are measured between values at
//! the same time.

use super::Curve;
use crate::asset::{Channel, Interpolation, Property};

/// Selects which of `count` keys to keep. Every removed key lies at most `within` from the interpolation between its
/// kept neighbours. `apart(a, b, i)` returns the distance of key `i` from the interpolation between the keys `a` and
/// `b`. The first and last keys stay. Also returns the largest distance of a removed key.
pub fn thin(
    count: usize,
    within: f64,
    mut apart: impl FnMut(usize, usize, usize) -> f64,
) -> (Vec<bool>, f64) {
    let mut kept = vec![false; count];
    let mut worst: f64 = 0.0;
    let Some(last) = count.checked_sub(1) else { return (kept, worst) };
    (kept[0], kept[last]) = (true, true);
    let mut open = vec![(0, last)];
    while let Some((a, b)) = open.pop() {
        let farthest = (a + 1..b).map(|i| (apart(a, b, i), i)).max_by(|x, y| x.0.total_cmp(&y.0));
        match farthest {
            Some((apart, i)) if apart > within => {
                kept[i] = true;
                open.extend([(a, i), (i, b)]);
            }
            Some((apart, _)) => worst = worst.max(apart),
            None => {}
        }
    }
    (kept, worst)
}

/// Removes the keys of a LINEAR channel that interpolation between the remaining keys reproduces with an error of at
/// most `within`. `distance(value, interpolated)` returns the error of a key. A constant channel keeps one key;
/// channels that are not LINEAR stay unchanged. Rotations must match both slerp and linear interpolation of
/// quaternions, which some programs use (Blender).
pub fn thin_channel(channel: &Channel, within: f64, distance: impl Fn(&[f32], &[f32]) -> f64) -> Channel {
    let count = channel.times.len();
    let width = channel.values.len() / count.max(1);
    if channel.interpolation != Interpolation::Linear || count < 2 || width == 0 {
        return channel.clone();
    }
    let value = |i: usize| &channel.values[i * width..(i + 1) * width];
    let (mut ends, mut line) = (vec![0.0; 2 * width], vec![0.0; width]);
    let apart = |a: usize, b: usize, i: usize| {
        ends[..width].copy_from_slice(value(a));
        ends[width..].copy_from_slice(value(b));
        let times = [channel.times[a], channel.times[b]];
        let turns = channel.property == Property::Rotation;
        let mut way = |rotation: bool| {
            let curve =
                Curve { interpolation: Interpolation::Linear, rotation, times: &times, values: &ends };
            curve.evaluate(f64::from(channel.times[i]), &mut line);
            if turns && !rotation {
                let length = line.iter().map(|v| v * v).sum::<f32>().sqrt().max(f32::MIN_POSITIVE);
                line.iter_mut().for_each(|v| *v /= length);
            }
            distance(value(i), &line)
        };
        let apart = way(turns);
        if turns { apart.max(way(false)) } else { apart }
    };
    let (mut kept, _) = thin(count, within, apart);
    let ends = distance(value(0), value(count - 1));
    kept[count - 1] &= ends > 0.0 || kept.iter().filter(|k| **k).count() > 2;
    let indices = || (0..count).filter(|&i| kept[i]);
    Channel {
        times: indices().map(|i| channel.times[i]).collect(),
        values: indices().flat_map(value).copied().collect(),
        ..channel.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::NodeId;
    use crate::base::math::Quat;

    #[test]
    fn keys_on_the_way_between_others_go_and_the_rest_is_within_the_error() {
        let angle = |t: f32| if t < 1.0 { t } else { 1.0 + (t - 1.0).powi(2) };
        let times: Vec<f32> = (0..=60).map(|i| i as f32 / 30.0).collect();
        let values = times.iter().flat_map(|&t| Quat::from_rotation_x(angle(t)).to_array()).collect();
        let channel = Channel {
            node: NodeId(0),
            property: Property::Rotation,
            interpolation: Interpolation::Linear,
            times: times.clone(),
            values,
        };
        let quat = |v: &[f32]| Quat::from_slice(v);
        let turned = |a: &[f32], b: &[f32]| f64::from(quat(a).angle_between(quat(b)));
        let mut before = usize::MAX;
        for within in [1e-3, 1e-2, 0.1] {
            let thin = thin_channel(&channel, within, turned);
            assert!(thin.times.len() < before.min(30), "{}", thin.times.len());
            before = thin.times.len();
            for (&time, value) in times.iter().zip(channel.values.chunks(4)) {
                let mut got = [0.0; 4];
                crate::anim::evaluate(&thin, f64::from(time), &mut got);
                // The angle between nearly equal quaternions has only half of f32's significant digits.
                assert!(turned(&got, value) <= within + 1e-3);
            }
        }
        // A rotation at constant speed is one slerp, but programs that interpolate quaternions linearly need more
        // keys.
        let turn = |t: &f32| Quat::from_rotation_y(*t).to_array();
        let values = times.iter().flat_map(turn).collect();
        let kept = thin_channel(&Channel { values, ..channel.clone() }, 1e-3, turned).times;
        assert!((4..12).contains(&kept.len()), "{kept:?}");
        for pair in kept.windows(2) {
            let [a, b] = [pair[0], pair[1]].map(Quat::from_rotation_y);
            let straight = |u: f32| (a * (1.0 - u) + b * u).normalize();
            let off = |u: f32| straight(u).angle_between(a.slerp(b, u));
            assert!((1..10).all(|i| off(i as f32 * 0.1) < 3e-3), "{pair:?}");
        }
        let still = Channel { values: [0.0, 0.0, 0.0, 1.0].repeat(61), ..channel.clone() };
        assert_eq!(thin_channel(&still, 0.0, turned).times, [0.0]);
        let stepped = Channel { interpolation: Interpolation::Step, ..channel };
        assert_eq!(thin_channel(&stepped, 1.0, turned).values, stepped.values);
        assert_eq!(thin(0, 1.0, |_, _, _| 0.0).0, Vec::<bool>::new());
    }
}
