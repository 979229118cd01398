//! Tests of curves: an edit changes one curve at one key, and undo restores the channel to the bit.

use super::*;
use crate::base::math::Quat;
use crate::base::{NodeId, Random};
use crate::document::testing::session;
use crate::document::{Easing, Edit, Operation, Session, Slot, asset};
use crate::rig::Limit;

const NODE: NodeId = NodeId(2);

/// Returns a session with a channel that has keys at 0, 1, 2.5, 3 and 4 s. The channel `Some(easing)` is a CUBICSPLINE whose
/// key at 1 s has this easing.
fn opened(property: Property, interpolation: Interpolation, easing: Option<Easing>) -> Session<'static> {
    let times = vec![0.0, 1.0, 2.5, 3.0, 4.0];
    let values: Vec<f32> = match property {
        Property::Rotation => {
            let turn =
                |x: f32, y: f32, z: f32| rotation_of_euler([x, y, z].map(f64::from)).as_quat().to_array();
            // The fourth key has the other sign.
            let other = turn(0.5, -0.6, 1.1).map(|v| -v);
            [turn(0.1, 0.0, 0.2), turn(0.5, 0.3, -0.4), turn(0.9, -0.2, 0.0), other, turn(0.1, 0.4, 0.3)]
                .concat()
        }
        _ => vec![0.5, 0.5, 1.0, 2.0, 4.0, 1.0, 3.0, -1.0, 1.0, 3.0, -1.0, 1.0, 7.0, 2.0, 1.0],
    };
    let mut s = session();
    s.apply(Edit::Open { asset: asset() }).unwrap();
    let channel = Channel { target: Target::node(NODE, property), interpolation, times, values };
    let slot = Slot { target: channel.target.clone(), channel: Some(channel.clone()) };
    s.apply(Edit::Keys(KeyEdit::Channels(vec![slot]))).unwrap();
    if let Some(easing) = easing {
        let key = KeyAt { target: channel.target, time: 1.0 };
        s.apply(Edit::Keys(s.document().easing(&[key], easing).unwrap())).unwrap();
    }
    s
}

/// Yields sessions with all interpolations, and one whose key at 1 s holds.
fn sessions(property: Property) -> impl Iterator<Item = Session<'static>> {
    let linear = Interpolation::Linear;
    [
        (Interpolation::Step, None),
        (linear, None),
        (linear, Some(Easing::Smooth)),
        (linear, Some(Easing::Step)),
    ]
    .into_iter()
    .map(move |(interpolation, easing)| opened(property, interpolation, easing))
}

fn channel(s: &Session) -> Channel {
    s.document().motion().channels()[0].clone()
}

fn curves(s: &Session) -> KeyCurves {
    KeyCurves::new(&channel(s))
}

fn value(s: &Session, curves: &KeyCurves, key: usize, curve: usize, value: f64) -> Edit {
    Edit::Keys(curves.set_value((s.document(), s.skeleton()), key, curve, value))
}

/// Returns the values of all curves at a time.
fn at(curves: &KeyCurves, time: f64) -> Vec<f64> {
    let mut out = Vec::new();
    curves.sample(&[time], &mut out);
    out
}

/// Returns the slopes of the sampled curves just before (-1) or after (1) a time, per second.
fn sampled_slope(curves: &KeyCurves, time: f64, side: f64) -> Vec<f64> {
    let step = 2e-3;
    let (a, b) = (at(curves, time), at(curves, time + side * step));
    a.iter().zip(&b).map(|(a, b)| (b - a) / (side * step)).collect()
}

fn assert_close(a: &[f64], b: &[f64], error: f64, label: &str) {
    let apart = a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(a.len() == b.len() && apart <= error, "{label}: {a:?} {b:?}");
}

#[test]
fn an_edit_of_a_curve_is_undone_and_redone_to_the_bit_and_a_drag_is_one_edit() {
    let mut random = Random::new(5);
    for property in [Property::Translation, Property::Rotation, Property::Scale] {
        for mut s in sessions(property) {
            for _ in 0..60 {
                let (before, old) = (s.document().clone(), curves(&s));
                let pick = |n: usize, r: &mut Random| ((r.unit() * n as f32) as usize).min(n - 1);
                let (key, curve) = (pick(old.times().len(), &mut random), pick(3, &mut random));
                let side = pick(3, &mut random);
                let sets = random.unit() < 0.5;
                let edit = |s: &Session, amount: f64| match sets {
                    true => Some(value(s, &old, key, curve, amount)),
                    false => old.set_slope(key, curve, amount, [side != 1, side != 0]).map(Edit::Keys),
                };
                // A drag: each edit replaces the one before.
                let mut amount = || f64::from(random.unit() * 6.0 - 3.0);
                let Some(first) = edit(&s, amount()) else { continue };
                s.apply(first).unwrap();
                for _ in 0..3 {
                    let next = edit(&s, amount()).unwrap();
                    s.run(Operation::Continue(next)).unwrap();
                }
                let after = s.document().clone();
                let (steps, operations) = (s.history().0, s.recording());
                assert!(matches!(&operations[operations.len() - 1], Operation::Do(_)), "one edit per drag");
                s.run(Operation::Undo).unwrap();
                assert_eq!((s.document(), s.document().hash()), (&before, before.hash()));
                s.run(Operation::Redo).unwrap();
                assert_eq!((s.document(), s.history().0), (&after, steps));
                let text = serde_json::to_string(&operations).unwrap();
                assert_eq!(serde_json::from_str::<Vec<Operation>>(&text).unwrap(), operations);
            }
        }
    }
}

#[test]
fn a_dragged_handle_gives_its_curve_the_slope_and_keeps_all_else() {
    for property in [Property::Translation, Property::Rotation] {
        for (n, s) in sessions(property).enumerate() {
            let old = curves(&s);
            for key in 0..5 {
                for (side, sign) in [(0, -1.0), (1, 1.0)] {
                    for curve in 0..3 {
                        let label = format!("{property:?} {n}, key {key}, side {side}, curve {curve}");
                        let edit = old.set_slope(key, curve, 1.7, [side == 0, side == 1]);
                        assert_eq!(edit.is_some(), old.slope(key, curve, side).is_some(), "{label}");
                        let Some(edit) = edit else { continue };
                        let mut changed = session();
                        for operation in s.recording() {
                            changed.run(operation).unwrap();
                        }
                        changed.apply(Edit::Keys(edit)).unwrap();
                        let new = curves(&changed);
                        assert_eq!(channel(&changed).interpolation, Interpolation::CubicSpline);
                        assert_eq!(new.times(), old.times(), "{label}");
                        let time = old.times()[key];
                        let mut wanted = sampled_slope(&old, time, sign);
                        let released = side == 1 && (n == 0 || (n == 3 && key == 1));
                        if released {
                            // A value that was held becomes straight.
                            let times = old.times();
                            let straight =
                                |c| (old.value(key + 1, c) - old.value(key, c)) / (times[key + 1] - time);
                            wanted = (0..3).map(straight).collect();
                        }
                        wanted[curve] = 1.7;
                        let slope: Vec<f64> = (0..3).map(|c| new.slope(key, c, side).unwrap()).collect();
                        // A held rotation becomes a slerp, whose Euler angles are not straight.
                        if property == Property::Translation || !released {
                            assert_close(&slope, &wanted, 0.03, &label);
                        }
                        assert!((slope[curve] - 1.7).abs() < 1e-4, "{label}: {slope:?}");
                        assert_close(&sampled_slope(&new, time, sign), &slope, 0.05, &label);
                        // The other keys keep their values, the other segments their shape.
                        let segment = key + side - 1;
                        for other in (0..4).filter(|k| *k != segment) {
                            let (from, to) = (old.times()[other], old.times()[other + 1]);
                            for i in 0..=20 {
                                // A hold jumps within 0.2 ms of the next key.
                                let time = from + (to - 2e-4 - from) * f64::from(i) / 20.0;
                                assert_close(&at(&new, time), &at(&old, time), 2e-4, &label);
                            }
                        }
                        (0..5).for_each(|k| {
                            let time = old.times()[k];
                            assert_close(&at(&new, time), &at(&old, time), 1e-5, &label);
                        });
                    }
                }
            }
        }
    }
}

#[test]
fn a_dragged_key_moves_one_curve_and_keeps_the_slopes_of_a_spline() {
    for property in [Property::Translation, Property::Rotation] {
        for (n, mut s) in sessions(property).enumerate() {
            let before = s.history().0;
            let (old, interpolation) = (curves(&s), channel(&s).interpolation);
            for key in 0..5 {
                for curve in 0..3 {
                    let label = format!("{property:?} {n}, key {key}, curve {curve}");
                    let to = old.value(key, curve) + 0.6;
                    s.apply(value(&s, &old, key, curve, to)).unwrap();
                    let new = curves(&s);
                    assert_eq!(
                        (channel(&s).interpolation, new.times()),
                        (interpolation, old.times()),
                        "{label}"
                    );
                    for k in 0..5 {
                        let mut wanted = at(&old, old.times()[k]);
                        if k == key {
                            wanted[curve] = to;
                        }
                        assert_close(&at(&new, new.times()[k]), &wanted, 1e-5, &label);
                    }
                    if interpolation == Interpolation::CubicSpline {
                        for side in [0, 1] {
                            let slopes =
                                |c: &KeyCurves| [0, 1, 2].map(|i| c.slope(key, i, side).unwrap_or(9.0));
                            assert_close(&slopes(&new), &slopes(&old), 1e-4, &label);
                        }
                    }
                    // A held value stays held.
                    if (n == 0 && key < 4) || (n == 3 && key == 1) {
                        let end = old.times()[key + 1] - 3e-4;
                        assert_close(&at(&new, end), &at(&new, old.times()[key]), 1e-6, &label);
                    }
                    if property == Property::Rotation {
                        for i in 0..=100 {
                            let q = channel(&s).at(f64::from(i) * 0.04);
                            let length = q.iter().map(|v| v * v).sum::<f32>().sqrt();
                            assert!((length - 1.0).abs() < 1e-5, "{label}: {length}");
                        }
                    }
                    s.run(Operation::Jump(before)).unwrap();
                }
            }
        }
    }
}

#[test]
fn euler_angles_follow_a_rotation_over_several_turns() {
    let mut s = session();
    s.apply(Edit::Open { asset: asset() }).unwrap();
    let times: Vec<f64> = (0..9).map(f64::from).collect();
    let turns = times.iter().flat_map(|t| Quat::from_rotation_z(1.4 * *t as f32).to_array()).collect();
    let (target, interpolation) = (Target::node(NODE, Property::Rotation), Interpolation::Linear);
    let spin = Channel { target: target.clone(), interpolation, times, values: turns };
    let curves = KeyCurves::new(&spin);
    for key in 0..9 {
        assert!((curves.value(key, 2) - 1.4 * key as f64).abs() < 1e-3, "{}", curves.value(key, 2));
        assert!(curves.value(key, 0).abs() + curves.value(key, 1).abs() < 1e-3);
    }
    let (fine, mut out) = ((0..=800).map(|i| f64::from(i) * 0.01).collect::<Vec<_>>(), Vec::new());
    curves.sample(&fine, &mut out);
    let mut late = Vec::new();
    // A part of the time shows the same angles as the whole.
    curves.sample(&fine[650..], &mut late);
    assert_close(&late, &out[3 * 650..], 1e-9, "the end");
    for (time, angles) in fine.iter().zip(out.chunks(3)) {
        assert!((angles[2] - 1.4 * time).abs() < 1e-3, "{time}: {angles:?}");
    }
    // Where the angle about Y is a quarter turn, the slopes stay finite, and the sampled motion is continuous.
    let steep: Vec<f32> = [0.8, std::f32::consts::FRAC_PI_2, 2.2]
        .iter()
        .flat_map(|y| (Quat::from_rotation_y(*y) * Quat::from_rotation_x(0.2)).to_array())
        .collect();
    let steep = KeyCurves::new(&Channel { target, interpolation, times: vec![0.0, 1.0, 2.0], values: steep });
    assert!(steep.value(2, 1) > 2.1, "the angle goes on beyond a quarter turn: {}", steep.value(2, 1));
    for curve in 0..3 {
        let edit = steep.set_slope(1, curve, 0.5, [true, true]).unwrap();
        let KeyEdit::Curve { parts, .. } = edit else { panic!() };
        let numbers = parts.iter().flat_map(|p| [p.arriving, p.leaving]).flatten();
        assert!(numbers.clone().count() == 8 && numbers.into_iter().all(|v| v.abs() < 10.0), "{parts:?}");
    }
}

#[test]
fn a_key_stays_within_the_limit_of_its_joint_and_a_scale_is_not_zero() {
    let mut s = opened(Property::Rotation, Interpolation::Linear, None);
    let limit = Limit { twist: [-0.5, 0.5], swing: [0.8; 4], ..Limit::open(DQuat::IDENTITY) };
    s.apply(Edit::SetLimit { node: NODE, limit: Some(Box::new(limit)) }).unwrap();
    let old = curves(&s);
    s.apply(value(&s, &old, 0, 0, 2.0)).unwrap();
    let new = curves(&s);
    let rotation = |c: &KeyCurves, key: usize| rotation_of_euler(c.angles(key));
    assert!(limit.excess(rotation(&new, 0)) < 1e-5 && new.value(0, 0) > 0.6, "{:?}", new.angles(0));
    // A key beyond the limit may stay where it is or go back.
    let far = limit.excess(rotation(&old, 3));
    assert!(far > 0.1);
    s.apply(value(&s, &old, 3, 2, old.value(3, 2) + 0.5)).unwrap();
    assert!(limit.excess(rotation(&curves(&s), 3)) < far + 1e-5);
    let mut s = opened(Property::Scale, Interpolation::Linear, None);
    let old = curves(&s);
    s.apply(value(&s, &old, 1, 1, 0.0)).unwrap();
    assert!(channel(&s).value(1)[1] > 0.0);
}

#[test]
fn wrong_parts_are_refused_and_a_moved_key_takes_its_curve_along() {
    let mut s = opened(Property::Translation, Interpolation::Linear, Some(Easing::Step));
    let target = channel(&s).target;
    let part = KeyPart::value(0, 1.0);
    for (time, parts, word) in [
        (1.0, vec![KeyPart::value(3, 1.0)], "3 components"),
        (1.5, vec![part], "no key at 1.5 s"),
        (1.0, vec![KeyPart::value(0, f32::NAN)], "not finite"),
        (channel(&s).times[2], vec![part], "only ends the value"),
    ] {
        let before = s.document().clone();
        let key = KeyAt { target: target.clone(), time };
        let error = s.apply(Edit::Keys(KeyEdit::Curve { key, parts })).unwrap_err();
        assert!(error.to_string().contains(word), "{error}");
        assert_eq!(*s.document(), before);
    }
    // The slope that arrives after a held value has no effect.
    let key = KeyAt { target: target.clone(), time: 2.5 };
    let parts = vec![KeyPart { component: 0, value: None, arriving: Some(5.0), leaving: None }];
    let before = s.document().clone();
    s.apply(Edit::Keys(KeyEdit::Curve { key, parts })).unwrap();
    assert_eq!(*s.document(), before);

    let old = curves(&s);
    let keys: Vec<f64> = channel(&s).times.iter().copied().filter(|t| (2.4..3.5).contains(t)).collect();
    let preview = old.moved(&keys, 0.25);
    let moved = keys.iter().map(|&time| KeyAt { target: target.clone(), time }).collect();
    s.apply(Edit::Keys(KeyEdit::Move { keys: moved, seconds: 0.25 })).unwrap();
    assert_eq!(preview, curves(&s));
    assert_eq!(preview.times(), [0.0, 1.0, 2.75, 3.25, 4.0]);
}
