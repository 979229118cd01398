//! Tests of limits in strokes, limb grabs, bone grabs and full-body grabs.

use super::{FullBodyGrab, Goal, Grab, Posing, Sample, Stroke, StrokeLayer, pose_by_stroke, select};
use crate::base::math::{DQuat, DVec3, Quat, Trs, Vec3};
use crate::base::{NodeId, Random};
use crate::bind::shapes::capsule;
use crate::deform::fast::{Body, Params};
use crate::rig::{
    JointLimits, Limit, Limits, Pose, Skeleton, bone_frames, posable, random, skeleton, tree, world,
};
use std::sync::Arc;

/// A tenth of a degree.
const EXACT: f64 = 0.1 * std::f64::consts::PI / 180.0;

/// A hinge about the bend axis, from 0 to an angle in degrees.
fn hinge(skeleton: &Skeleton, node: NodeId, most: f32) -> Limit {
    let frame = bone_frames(skeleton)[node.index()];
    Limit { twist: [0.0; 2], swing: [most.to_radians(), 0.0, 0.0, 0.0], ..Limit::open(frame) }
}

/// The largest excess of a pose over the limits, radians.
fn excess(skeleton: &Skeleton, limits: &Limits, pose: &Pose) -> f64 {
    let bound = JointLimits::new(skeleton, limits, &Pose::rest(skeleton));
    let of = |n: &NodeId| bound.of(*n).unwrap().excess(pose.local[n.index()].rotation().as_dquat());
    limits.keys().map(of).fold(0.0, f64::max)
}

fn at(skeleton: &Skeleton, pose: &Pose, name: &str) -> DVec3 {
    world(skeleton, pose)[skeleton.find(name).unwrap().index()].translation
}

/// The angle between the bones at a joint, degrees; 0 for a straight limb.
fn bend(skeleton: &Skeleton, pose: &Pose, names: [&str; 3]) -> f64 {
    let [a, b, c] = names.map(|n| at(skeleton, pose, n));
    (b - a).angle_between(c - b).to_degrees()
}

const ARM: [&str; 3] = ["arm.L", "elbow.L", "hand.L"];

/// The biped with turned joints below a node that scales from centimetres and, if `mirrored`, mirrors.
fn odd(mirrored: bool) -> (Skeleton, Pose) {
    let (plain, _) = tree();
    let mut rng = Random::new(77);
    let turns: Vec<Quat> = plain.nodes.iter().map(|_| rng.rotation()).collect();
    let scale = Vec3::new(if mirrored { -0.01 } else { 0.01 }, 0.01, 0.01);
    let mut nodes = vec![("_root", None, Trs::new(Vec3::ZERO, Quat::from_rotation_y(0.3), scale))];
    for (i, node) in plain.nodes.iter().enumerate() {
        let above = node.parent.map_or(Quat::IDENTITY, |p| turns[p.index()]);
        let place = above.inverse() * (node.rest.translation() * 100.0);
        let local = Trs::new(place, above.inverse() * turns[i], Vec3::ONE);
        nodes.push((node.name.as_str(), Some(node.parent.map_or(0, |p| p.index() + 1)), local));
    }
    skeleton(&nodes)
}

fn characters() -> [(&'static str, (Skeleton, Pose)); 3] {
    [("plain", tree()), ("odd", odd(false)), ("mirrored", odd(true))]
}

#[test]
fn a_stroke_bends_an_elbow_up_to_its_limit_whatever_the_orients_are() {
    for (what, (skeleton, pose)) in characters() {
        let elbow = skeleton.find("elbow.L").unwrap();
        let names = ["arm.L", "elbow.L", "hand.L"].map(|n| at(&skeleton, &pose, n).as_vec3());
        let knots = |points: &[Vec3]| {
            Stroke::from_knots(points.iter().map(|&p| Sample::at(p, 0.0)).collect()).unwrap()
        };
        let line = knots(&names);
        let forward = (names[1] - names[0]).cross(Vec3::Y).normalize();
        let forward = if what == "mirrored" { -forward } else { forward };
        // The offset stroke bends the forearm by 150 degrees, forwards or backwards, or up.
        let lower = names[1].distance(names[2]);
        let bent = |way: Vec3, degrees: f32| {
            let along = (names[1] - names[0]).normalize();
            let (sin, cos) = degrees.to_radians().sin_cos();
            let end = names[1] + (along * cos + way * sin) * lower;
            knots(&[names[0], names[1], names[1].lerp(end, 0.5), end])
        };
        let picked = select((&skeleton, &[]), &pose, &line, 0.02);
        assert_eq!(picked.len(), 3, "{what}");
        let limits: Limits = [(elbow, hinge(&skeleton, elbow, 70.0))].into();
        let mut all = Vec::new();
        for (way, degrees) in [(forward, 60.0), (forward, 150.0), (-forward, 60.0), (Vec3::Y, 60.0)] {
            let free =
                pose_by_stroke(&skeleton, &pose, &picked, &line, &bent(way, degrees), Posing::default());
            let layer =
                StrokeLayer::new(crate::base::StrokeId(0), line.clone(), 0.02, (&skeleton, &[]), &pose)
                    .unwrap();
            let layer = layer.with_offset(bent(way, degrees));
            let kept = layer.applied(&skeleton, &limits, &pose);
            assert!(
                excess(&skeleton, &limits, &kept) < EXACT,
                "{what}: {}",
                excess(&skeleton, &limits, &kept)
            );
            assert_eq!(layer.applied(&skeleton, &Limits::new(), &pose), free);
            all.push((bend(&skeleton, &free, ARM), bend(&skeleton, &kept, ARM)));
        }
        // The bend to 60 degrees is allowed; the bend to 150 degrees stops at 70; the elbow bends neither back nor up.
        assert!((all[0].0 - all[0].1).abs() < 1.0, "{what}: {all:?}");
        assert!(all[1].0 > 90.0 && (all[1].1 - 70.0).abs() < 0.5, "{what}: {all:?}");
        assert!(all[2].0 > 30.0 && all[2].1 < 0.5 && all[3].0 > 30.0 && all[3].1 < 0.5, "{what}: {all:?}");
    }
}

#[test]
fn a_pose_beyond_its_limits_is_kept_by_strokes_that_change_nothing() {
    let (skeleton, mut pose) = tree();
    let elbow = skeleton.find("elbow.L").unwrap();
    pose.local[elbow.index()].rotation = Quat::from_rotation_y(-2.0).into();
    let limits: Limits = [(elbow, hinge(&skeleton, elbow, 30.0))].into();
    assert!(excess(&skeleton, &limits, &pose) > 1.0);
    let points = ARM.map(|n| Sample::at(at(&skeleton, &pose, n).as_vec3(), 0.0));
    let line = Stroke::from_knots(points.to_vec()).unwrap();
    let layer =
        StrokeLayer::new(crate::base::StrokeId(0), line.clone(), 0.02, (&skeleton, &[]), &pose).unwrap();
    let kept = layer.with_offset(line).applied(&skeleton, &limits, &pose);
    let apart = |q: &Trs| q.rotation().angle_between(pose.local[elbow.index()].rotation());
    assert!(apart(&kept.local[elbow.index()]) < 1e-3);
    let mut grab = Grab::new(&skeleton, &pose, &[]).limited(&skeleton, &limits);
    let held = at(&skeleton, &pose, "hand.L");
    grab.hold(skeleton.find("hand.L").unwrap(), held);
    let (same, missed) = grab.solve(&skeleton, &[Goal { position: held, turn: DQuat::IDENTITY }]);
    assert!(missed < 1e-6 && apart(&same.local[elbow.index()]) < 1e-3);
    // Farther in, the elbow does not bend; outwards it may go.
    let shoulder = at(&skeleton, &pose, "arm.L");
    for (share, more) in [(0.2, false), (1.6, true)] {
        let goal = Goal { position: shoulder + (held - shoulder) * share, turn: DQuat::IDENTITY };
        let (posed, _) = grab.solve(&skeleton, &[goal]);
        let [now, then] = [&posed, &pose].map(|p| bend(&skeleton, p, ARM));
        assert!(if more { now < then - 20.0 } else { (now - then).abs() < 0.5 }, "{share}: {now} {then}");
    }
}

/// The nearest distance to a goal of a two-bone arm with a hinge, found by trying all its poses.
fn best(shoulder: DVec3, lengths: [f64; 2], most: f64, goal: DVec3) -> f64 {
    let far = goal.distance(shoulder);
    let reach = |degrees: f64| {
        let [a, b] = lengths;
        (a * a + b * b + 2.0 * a * b * degrees.to_radians().cos()).sqrt()
    };
    let [near, away] = [reach(most), reach(0.0)];
    (near - far).max(far - away).max(0.0)
}

#[test]
fn a_grabbed_hand_comes_as_near_as_a_limited_elbow_allows() {
    for (what, (skeleton, pose)) in characters() {
        let (elbow, hand) = (skeleton.find("elbow.L").unwrap(), skeleton.find("hand.L").unwrap());
        let limits: Limits = [(elbow, hinge(&skeleton, elbow, 60.0))].into();
        let start = at(&skeleton, &pose, "hand.L");
        let shoulder = at(&skeleton, &pose, "arm.L");
        let mut grab = Grab::new(&skeleton, &pose, &[]).limited(&skeleton, &limits);
        grab.hold(hand, start);
        let mut rng = Random::new(3);
        for _ in 0..40 {
            let goal = shoulder + rng.vector().as_dvec3() * 0.6;
            let (posed, missed) = grab.solve(&skeleton, &[Goal { position: goal, turn: DQuat::IDENTITY }]);
            assert!(
                excess(&skeleton, &limits, &posed) < EXACT,
                "{what}: {}",
                excess(&skeleton, &limits, &posed)
            );
            let least = best(shoulder, [0.3, 0.25], 60.0, goal);
            assert!(missed < least + 5e-3, "{what}: missed by {missed}, could be {least} at {goal}");
            assert!(missed > least - 1e-3, "{what}");
        }
        // A grabbed bone turns alone, up to its limit.
        let mut grab = Grab::new(&skeleton, &pose, &[]).limited(&skeleton, &limits).alone();
        grab.hold(elbow, start);
        let along = start - at(&skeleton, &pose, "elbow.L");
        let side = along.cross(DVec3::Y) * if what == "mirrored" { -1.0 } else { 1.0 };
        let goal = Goal { position: start - along * 1.5 + side, turn: DQuat::IDENTITY };
        let (posed, _) = grab.solve(&skeleton, &[goal]);
        assert!(
            (bend(&skeleton, &posed, ARM) - 60.0).abs() < 0.5,
            "{what}: {}",
            bend(&skeleton, &posed, ARM)
        );
        let turned = |p: &Pose| p.local[skeleton.find("arm.L").unwrap().index()];
        assert_eq!(turned(&posed), turned(&pose));
    }
}

/// Cones of random widths for all joints but the topmost.
fn cones(skeleton: &Skeleton, rng: &mut Random) -> Limits {
    let frames = bone_frames(skeleton);
    let joints = posable(skeleton).into_iter().filter(|n| skeleton.nodes[n.index()].parent.is_some());
    let cone = |n: NodeId| {
        let swing = std::array::from_fn(|_| (rng.unit() - 0.2).max(0.0));
        (n, Limit { twist: [-0.5 * rng.unit(), 0.5 * rng.unit()], swing, ..Limit::open(frames[n.index()]) })
    };
    joints.map(cone).collect()
}

#[test]
fn limits_and_pins_hold_on_any_rig_and_for_any_goal() {
    for seed in 1..25 {
        let (skeleton, pose) = random(seed, 14, false);
        let mut rng = Random::new(seed * 7919);
        let limits = cones(&skeleton, &mut rng);
        let mut pick = || NodeId::from((rng.bits() % 14) as usize);
        let (pins, held) = ([pick()], [pick(), pick()]);
        let mut grab = Grab::new(&skeleton, &pose, &pins).limited(&skeleton, &limits);
        let before = world(&skeleton, &pose);
        held.iter().for_each(|n| grab.hold(*n, before[n.index()].translation));
        for far in [0.01, 0.3, 3.0, 1e6, f64::NAN] {
            let mut goal =
                || Goal { position: rng.vector().as_dvec3() * far, turn: rng.rotation().as_dquat() };
            let (posed, _) = grab.solve(&skeleton, &[goal(), goal()]);
            let over = excess(&skeleton, &limits, &posed);
            assert!(over < EXACT, "{seed} at {far}: {} degrees", over.to_degrees());
            assert!(
                posed.local.iter().all(|l| l.rotation.iter().chain(&l.translation).all(|v| v.is_finite()))
            );
            let after = world(&skeleton, &posed);
            for pin in pins.iter().filter(|p| skeleton.nodes[p.index()].joint.is_some()) {
                let off = after[pin.index()].translation.distance(before[pin.index()].translation);
                assert!(off < 5e-4, "{seed} at {far}: the pin is off by {off}");
            }
        }
    }
}

#[test]
fn without_limits_nothing_changes_and_wide_limits_change_little() {
    let (skeleton, pose) = tree();
    let hand = skeleton.find("hand.L").unwrap();
    let held = at(&skeleton, &pose, "hand.L");
    let goal = [Goal { position: held + DVec3::new(-0.2, 0.1, 0.2), turn: DQuat::from_rotation_z(0.3) }];
    let solve = |limits: Option<&Limits>| {
        let grab = Grab::new(&skeleton, &pose, &[]);
        let mut grab = if let Some(limits) = limits { grab.limited(&skeleton, limits) } else { grab };
        grab.hold(hand, held);
        grab.solve(&skeleton, &goal)
    };
    let plain = solve(None);
    assert_eq!(solve(Some(&Limits::new())), plain);
    let frames = bone_frames(&skeleton);
    let wide: Limits = posable(&skeleton).iter().map(|n| (*n, Limit::open(frames[n.index()]))).collect();
    let (_, missed) = solve(Some(&wide));
    assert!(missed < plain.1 + 1e-4);
}

#[test]
fn a_full_body_grab_keeps_spine_and_elbow_within_limits_and_comes_near() {
    // A chain of eight joints: pinned at the bottom, grabbed at the top.
    let character = capsule(8, 40, 10, 0.12, 2.0);
    let skeleton = &character.skeleton;
    let body = Arc::new(Body::bind(&character, &Params::default()).unwrap());
    let (pose, joints) = (Pose::rest(skeleton), posable(skeleton));
    let frames = bone_frames(skeleton);
    // The joints bend by 15 degrees only, and the fifth is a hinge of 40 degrees.
    let cone = |n: &NodeId| {
        let half = 15.0_f32.to_radians();
        (*n, Limit { twist: [-half, half], swing: [half; 4], ..Limit::open(frames[n.index()]) })
    };
    let mut limits: Limits = joints[1..].iter().map(cone).collect();
    limits.insert(joints[5], hinge(skeleton, joints[5], 40.0));
    let start = world(skeleton, &pose);
    let (low, high) = (joints[0], joints[7]);
    let held = start[high.index()].translation;
    let solve = |limits: Option<&Limits>, d: DVec3| {
        let grab = FullBodyGrab::new(skeleton, &body, &pose, &[low]);
        let mut grab = if let Some(limits) = limits { grab.limited(skeleton, limits) } else { grab };
        grab.hold(high, held);
        grab.solve(skeleton, &[Goal { position: held + d, turn: DQuat::IDENTITY }]).unwrap()
    };
    let mut last = 0.0;
    for step in 1..=8 {
        let d = DVec3::new(0.09, -0.12, 0.06) * f64::from(step);
        let (free, reached) = solve(None, d);
        assert_eq!(solve(Some(&Limits::new()), d), (free.clone(), reached));
        let (posed, missed) = solve(Some(&limits), d);
        let over = excess(skeleton, &limits, &posed);
        assert!(over < EXACT, "step {step}: {} degrees", over.to_degrees());
        let after = world(skeleton, &posed);
        assert!(after[low.index()].translation.distance(start[low.index()].translation) < 1e-3);
        assert!(after[high.index()].translation.distance(held + d) < missed + 1e-6);
        assert!(missed >= reached - 1e-4, "step {step}: {missed} {reached}");
        last = missed;
        for pair in joints.windows(2) {
            let length = |w: &[crate::base::math::DAffine3]| {
                w[pair[0].index()].translation.distance(w[pair[1].index()].translation)
            };
            assert!((length(&after) - length(&start)).abs() < 1e-5);
        }
        // No single joint can bring the hand nearer within its limit.
        let bound = JointLimits::new(skeleton, &limits, &pose);
        for node in &joints[1..7] {
            for axis in [DVec3::X, DVec3::Y, DVec3::Z].into_iter().flat_map(|a| [a, -a]) {
                let mut other = posed.clone();
                let local = &mut other.local[node.index()];
                let turned = DQuat::from_scaled_axis(axis * 0.01) * local.rotation().as_dquat();
                local.rotation = bound.clamp(*node, turned).as_quat().into();
                let there = world(skeleton, &other)[high.index()].translation.distance(held + d);
                assert!(
                    there > missed - 4e-3,
                    "step {step}: {node:?} could bring it to {there}, not {missed}"
                );
            }
        }
    }
    assert!(last > 0.05, "the limits stop the hand short: {last}");
}
