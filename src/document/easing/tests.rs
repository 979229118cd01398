//! Tests of easing: chosen keys get their slopes, and all other segments keep their motion.

use super::*;
use crate::asset::Property;
use crate::base::NodeId;
use crate::base::math::Quat;
use crate::document::testing::session;
use crate::document::{Edit, Session, asset};

fn opened(channels: Vec<Channel>) -> Session<'static> {
    let mut s = session();
    s.apply(Edit::Open { asset: asset() }).unwrap();
    let slot = |c: Channel| Slot { target: c.target.clone(), channel: Some(c) };
    s.apply(Edit::Keys(KeyEdit::Channels(channels.into_iter().map(slot).collect()))).unwrap();
    s
}

/// Returns the channel with keys at 0, 1, 2.5, 3 and 4 s.
fn channel(property: Property, interpolation: Interpolation) -> Channel {
    let times = vec![0.0, 1.0, 2.5, 3.0, 4.0];
    let values: Vec<f32> = match property {
        Property::Rotation => {
            let turn = |a: f32, b: f32| (Quat::from_rotation_x(a) * Quat::from_rotation_y(b)).to_array();
            // The fourth key has the other sign.
            let other = turn(0.5, -0.6).map(|v| -v);
            [turn(0.0, 0.0), turn(0.5, 0.3), turn(0.9, -0.2), other, turn(0.1, 0.4)].concat()
        }
        _ => vec![0.0, 0.0, 1.0, 2.0, 4.0, 1.0, 3.0, -1.0, 1.0, 3.0, -1.0, 1.0, 7.0, 2.0, 1.0],
    };
    Channel { target: Target::node(NodeId(2), property), interpolation, times, values }
}

fn ease(s: &mut Session, times: &[f64], easing: Easing) -> Channel {
    let target = s.document().motion().channels()[0].target.clone();
    let keys: Vec<KeyAt> = times.iter().map(|&time| KeyAt { target: target.clone(), time }).collect();
    if let Some(edit) = s.document().easing(&keys, easing) {
        s.apply(Edit::Keys(edit)).unwrap();
    }
    s.document().motion().channels()[0].clone()
}

/// Returns the largest difference of two channels in a range of times. Quaternions of opposite signs are equal.
fn apart(a: &Channel, b: &Channel, [from, to]: [f64; 2]) -> f32 {
    let difference = |i: u32| {
        let time = from + (to - from) * f64::from(i) / 101.0;
        let (a, b) = (a.at(time), b.at(time));
        let with = |sign: f32| a.iter().zip(&b).map(|(a, b)| (a - sign * b).abs()).fold(0.0, f32::max);
        if a.len() == 4 { with(1.0).min(with(-1.0)) } else { with(1.0) }
    };
    (0..=100).map(difference).fold(0.0, f32::max)
}

/// Returns the slope just before (-1) or after (1) a time, units per second.
fn slope(c: &Channel, time: f64, side: f64) -> Vec<f32> {
    let step = 1e-3;
    let (a, b) = (c.at(time), c.at(time + side * step));
    a.iter().zip(&b).map(|(a, b)| ((f64::from(b - a)) / (side * step)) as f32).collect()
}

fn size(v: &[f32]) -> f32 {
    v.iter().map(|x| x * x).sum::<f32>().sqrt()
}

#[test]
fn only_the_segments_at_chosen_keys_change_and_undo_restores_the_channel() {
    for property in [Property::Translation, Property::Rotation] {
        for interpolation in [Interpolation::Step, Interpolation::Linear, Interpolation::CubicSpline] {
            for easing in Easing::ALL {
                let mut old = channel(property, interpolation);
                if interpolation == Interpolation::CubicSpline {
                    old = Channel { interpolation: Interpolation::Linear, ..old };
                    old.set_interpolation(interpolation);
                }
                let mut s = opened(vec![old.clone()]);
                let steps = s.history().0;
                let new = ease(&mut s, &[1.0], easing);
                let label = format!("{property:?} {interpolation:?} {easing:?}");
                // Within 0.2 ms of the next key, a hold jumps.
                for range in [[2.5, 2.9997], [3.0, 3.9997], [4.0, 5.0]] {
                    let apart = apart(&old, &new, range);
                    assert!(apart < 1e-5, "{label}: {apart} in {range:?}");
                }
                for time in &old.times {
                    assert!(apart(&old, &new, [*time, *time]) < 1e-6, "{label}: the key at {time}");
                }
                if s.history().0 > steps {
                    s.run(crate::document::Operation::Undo).unwrap();
                }
                assert_eq!(s.document().motion().channels()[0], old, "{label}");
            }
        }
    }
}

#[test]
fn chosen_keys_have_the_wanted_slopes() {
    for property in [Property::Translation, Property::Rotation] {
        let old = channel(property, Interpolation::Linear);
        let eased = |easing| ease(&mut opened(vec![old.clone()]), &[1.0], easing);
        let [before, after] = [-1.0, 1.0].map(|side| slope(&old, 1.0, side));
        let close = |a: &[f32], b: &[f32]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 0.02);
        let at = |c: &Channel| [-1.0, 1.0].map(|side| slope(c, 1.0, side));
        let arrives = eased(Easing::In);
        assert!(size(&at(&arrives)[0]) < 0.02 && close(&at(&arrives)[1], &after), "{property:?}");
        let leaves = eased(Easing::Out);
        assert!(close(&at(&leaves)[0], &before) && size(&at(&leaves)[1]) < 0.02, "{property:?}");
        let rests = eased(Easing::InOut);
        assert!(at(&rests).iter().all(|s| size(s) < 0.02), "{property:?}");
        let smooth = eased(Easing::Smooth);
        assert!(close(&at(&smooth)[0], &at(&smooth)[1]), "{property:?}: {:?}", at(&smooth));
        assert_eq!(eased(Easing::Linear), old, "a key of a LINEAR channel has these slopes already");
        assert_eq!(eased(Easing::Step).at(2.4), old.at(1.0));
    }
}

#[test]
fn a_smooth_curve_does_not_overshoot() {
    let target = Target::node(NodeId(2), Property::Translation);
    let heights: [f32; 6] = [0.0, 0.1, 3.0, 3.0, 3.2, -1.0];
    let values = heights.iter().flat_map(|h| [*h, -h, 0.0]).collect();
    let times = vec![0.0, 1.0, 1.2, 2.0, 4.0, 4.1];
    let mut s = opened(vec![Channel { target, interpolation: Interpolation::Linear, times, values }]);
    let smooth = ease(&mut s, &[0.0, 1.0, 1.2, 2.0, 4.0, 4.1], Easing::Smooth);
    assert_eq!(smooth.interpolation, Interpolation::CubicSpline);
    for (key, pair) in heights.windows(2).enumerate() {
        for i in 0..=50 {
            let (from, to) = (smooth.times[key], smooth.times[key + 1]);
            let at = smooth.at(from + (to - from) * f64::from(i) / 50.0)[0];
            let (low, high) = (pair[0].min(pair[1]), pair[0].max(pair[1]));
            assert!((low - 1e-5..=high + 1e-5).contains(&at), "{at} beyond {low}..{high}");
        }
    }
    // The same holds for the angle of a rotation about one axis.
    let turns = heights.map(|h| Quat::from_rotation_x(h * 0.4).to_array());
    let target = Target::node(NodeId(2), Property::Rotation);
    let (times, values) = (smooth.times.clone(), turns.concat());
    let mut s = opened(vec![Channel { target, interpolation: Interpolation::Linear, times, values }]);
    let smooth = ease(&mut s, &[0.0, 1.0, 1.2, 2.0, 4.0, 4.1], Easing::Smooth);
    for i in 0..=400 {
        let value = smooth.at(f64::from(i) * 0.01025);
        let angle = 2.0 * value[0].atan2(value[3]);
        assert!((-0.401..=1.285).contains(&angle), "{angle}");
    }
}

#[test]
fn one_preset_for_all_keys_gives_the_simple_interpolation() {
    for property in [Property::Translation, Property::Rotation] {
        let old = channel(property, Interpolation::Linear);
        let all = old.times.clone();
        let mut s = opened(vec![old.clone()]);
        let mixed = ease(&mut s, &[1.0, 3.0], Easing::Step);
        assert_eq!(mixed.interpolation, Interpolation::CubicSpline);
        // Each hold before another curve has an additional key.
        assert_eq!(mixed.times.len(), old.times.len() + 2);
        assert_eq!(ease(&mut s, &all, Easing::Step).interpolation, Interpolation::Step);
        let straight = ease(&mut s, &all, Easing::Linear);
        assert_eq!(straight.interpolation, Interpolation::Linear);
        assert!(apart(&straight, &old, [0.0, 4.0]) < 1e-6);
        // A hold that ends at a chosen key stays a hold, and its additional key disappears with it.
        ease(&mut s, &[1.0], Easing::Step);
        let rests = ease(&mut s, &[2.5], Easing::InOut);
        assert_eq!(rests.at(2.4), rests.at(1.0));
        let straight = ease(&mut s, &all, Easing::Linear);
        assert_eq!((straight.interpolation, straight.times), (Interpolation::Linear, all));
    }
}

#[test]
fn a_straight_rotation_in_a_spline_follows_its_slerp() {
    for angle in [std::f32::consts::PI * 0.999, std::f32::consts::FRAC_PI_2, 0.19] {
        let target = Target::node(NodeId(2), Property::Rotation);
        let turns = [0.0, angle, angle + 0.2].map(|a| Quat::from_rotation_z(a).to_array());
        let interpolation = Interpolation::Linear;
        let old = Channel { target, interpolation, times: vec![0.0, 1.0, 2.0], values: turns.concat() };
        let new = ease(&mut opened(vec![old.clone()]), &[2.0], Easing::In);
        assert_eq!(new.interpolation, Interpolation::CubicSpline);
        let degrees = 2.0 * apart(&old, &new, [0.0, 1.0]).to_degrees();
        assert!(degrees < 1e-3, "{degrees}");
    }
}

#[test]
fn a_single_key_and_unknown_keys_are_left_alone() {
    let interpolation = Interpolation::CubicSpline;
    let target = Target::node(NodeId(2), Property::Translation);
    let values = vec![1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    let one = Channel { target, interpolation, times: vec![1.0], values };
    for easing in Easing::ALL {
        assert_eq!(ease(&mut opened(vec![one.clone()]), &[1.0, 7.0], easing), one);
    }
    let mut s = session();
    s.apply(Edit::Open { asset: asset() }).unwrap();
    let missing = KeyAt { target: one.target, time: 0.0 };
    assert_eq!(s.document().easing(&[missing], Easing::Smooth), None);
}
