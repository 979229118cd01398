use super::*;
use crate::base::Random;
use crate::base::math::{Quat, Vec3};
use crate::rig::{chain, random, tree};

fn at(skeleton: &Skeleton, pose: &Pose, name: &str) -> DVec3 {
    world(skeleton, pose)[skeleton.find(name).unwrap().index()].translation
}

fn lengths(skeleton: &Skeleton, pose: &Pose) -> Vec<f64> {
    let w = world(skeleton, pose);
    let edge = |i: usize| {
        skeleton.nodes[i].parent.map_or(0.0, |p| w[i].translation.distance(w[p.index()].translation))
    };
    (0..w.len()).map(edge).collect()
}

#[test]
fn a_hand_follows_and_keeps_its_direction_and_the_chest_stays() {
    let (skeleton, pose) = tree();
    let hand = skeleton.find("hand.L").unwrap();
    let mut grab = Grab::new(&skeleton, &pose, &[]);
    let held = at(&skeleton, &pose, "hand.L") + DVec3::new(0.04, 0.02, 0.0);
    grab.hold(hand, held);
    let turn = DQuat::from_rotation_z(0.6);
    for step in [DVec3::new(-0.1, 0.2, 0.15), DVec3::new(-0.25, -0.1, 0.3), DVec3::new(-0.2, 0.0, 0.0)] {
        let (posed, missed) = grab.solve(&skeleton, &[Goal { position: held + step, turn }]);
        assert!(missed < 1e-4, "missed by {missed} at {step}");
        let w = world(&skeleton, &posed)[hand.index()];
        assert!((w.matrix3 * DVec3::X).distance(turn * DVec3::X) < 1e-4);
        for (a, b) in lengths(&skeleton, &pose).iter().zip(lengths(&skeleton, &posed)) {
            assert!((a - b).abs() < 1e-5);
        }
        for name in ["chest", "arm.L", "head", "hand.R", "foot.L"] {
            assert!(at(&skeleton, &pose, name).distance(at(&skeleton, &posed, name)) < 1e-9, "{name}");
        }
        // The same goal gives the same pose, independent of the goals between the two calls.
        let (again, _) = grab.solve(&skeleton, &[Goal { position: held + step, turn }]);
        assert_eq!(posed, again);
    }
    // A goal at the grabbed point changes nothing.
    let (same, _) = grab.solve(&skeleton, &[Goal { position: held, turn: DQuat::IDENTITY }]);
    for (a, b) in same.local.iter().zip(&pose.local) {
        assert!((a.rotation().dot(b.rotation()).abs() - 1.0).abs() < 1e-6);
    }
}

#[test]
fn out_of_reach_the_arm_points_there_and_tells_by_how_much_it_misses() {
    let (skeleton, pose) = tree();
    let mut grab = Grab::new(&skeleton, &pose, &[]);
    let held = at(&skeleton, &pose, "hand.L");
    grab.hold(skeleton.find("hand.L").unwrap(), held);
    let goal = DVec3::new(0.5, 3.0, 0.8);
    let (posed, missed) = grab.solve(&skeleton, &[Goal { position: goal, turn: DQuat::IDENTITY }]);
    let shoulder = at(&skeleton, &pose, "arm.L");
    let arm = at(&skeleton, &posed, "hand.L") - shoulder;
    assert!(arm.angle_between(goal - shoulder) < 0.05, "{arm}");
    assert!((missed - (goal.distance(shoulder) - 0.55)).abs() < 0.01, "{missed}");
}

#[test]
fn hips_go_down_and_pinned_feet_stay_with_knees_forward() {
    let (skeleton, pose) = tree();
    let feet = ["foot.L", "foot.R"].map(|n| skeleton.find(n).unwrap());
    let mut grab = Grab::new(&skeleton, &pose, &feet);
    let held = at(&skeleton, &pose, "hips");
    grab.hold(skeleton.find("hips").unwrap(), held);
    for depth in [0.02, 0.1, 0.3, 0.5] {
        let goal = held + DVec3::new(0.05, -depth, 0.03);
        let turn = DQuat::from_rotation_y(0.2);
        let (posed, missed) = grab.solve(&skeleton, &[Goal { position: goal, turn }]);
        assert!(missed < 1e-3, "{missed} at {depth}");
        for side in ["L", "R"] {
            let foot = format!("foot.{side}");
            assert!(at(&skeleton, &posed, &foot).distance(at(&skeleton, &pose, &foot)) < 1e-3);
            let i = skeleton.find(&foot).unwrap().index();
            let turned = world(&skeleton, &posed)[i].matrix3 * DVec3::Z;
            assert!(turned.distance(DVec3::Z) < 1e-4, "a pinned foot keeps its direction");
            let knee = at(&skeleton, &posed, &format!("knee.{side}"));
            let straight =
                (at(&skeleton, &posed, &format!("leg.{side}")) + at(&skeleton, &posed, &foot)) * 0.5;
            assert!(depth < 0.05 || knee.z > straight.z + 0.03, "{side} at {depth}: {knee} {straight}");
        }
    }
}

#[test]
fn a_pinned_joint_turns_and_stays() {
    let (skeleton, pose) = chain(6, 0.2);
    let id = |i: usize| NodeId::from(i);
    let mut grab = Grab::new(&skeleton, &pose, &[id(2)]);
    grab.hold(id(5), DVec3::X);
    let goal = DVec3::new(0.7, 0.3, 0.1);
    let (posed, missed) = grab.solve(&skeleton, &[Goal { position: goal, turn: DQuat::IDENTITY }]);
    assert!(missed < 1e-4, "{missed}");
    for i in 0..3 {
        assert!(at(&skeleton, &posed, &format!("j{i}")).distance(DVec3::X * 0.2 * i as f64) < 1e-6);
    }
}

#[test]
fn two_hands_hold_two_points_or_one_bone() {
    let (skeleton, pose) = tree();
    let id = |n: &str| skeleton.find(n).unwrap();
    let mut grab = Grab::new(&skeleton, &pose, &[]);
    let (l, r) = (at(&skeleton, &pose, "hand.L"), at(&skeleton, &pose, "hand.R"));
    grab.hold(id("hand.L"), l);
    grab.hold(id("hand.R"), r);
    let up = DVec3::new(0.0, 0.3, 0.2);
    let inwards = DVec3::X * 0.2;
    let goals = [
        Goal { position: l + up - inwards, turn: DQuat::IDENTITY },
        Goal { position: r + up + inwards, turn: DQuat::IDENTITY },
    ];
    let (posed, missed) = grab.solve(&skeleton, &goals);
    assert!(missed < 1e-4, "{missed}");
    assert!(at(&skeleton, &posed, "hand.L").distance(goals[0].position) < 1e-4);
    assert!(at(&skeleton, &posed, "hand.R").distance(goals[1].position) < 1e-4);
    // If two hands hold the hips, the line between the hands rotates the whole body.
    let mut grab = Grab::new(&skeleton, &pose, &[]);
    let hips = at(&skeleton, &pose, "hips");
    grab.hold(id("hips"), hips + DVec3::X * 0.2);
    grab.hold(id("hips"), hips - DVec3::X * 0.2);
    let turned = DQuat::from_rotation_y(0.5);
    let goal = |side: f64| Goal { position: hips + turned * DVec3::X * 0.2 * side, turn: DQuat::IDENTITY };
    let (posed, _) = grab.solve(&skeleton, &[goal(1.0), goal(-1.0)]);
    let facing = world(&skeleton, &posed)[0].matrix3 * DVec3::Z;
    assert!(facing.distance(turned * DVec3::Z) < 1e-4);
    assert!(at(&skeleton, &posed, "hips").distance(hips) < 1e-5);
    // Hold the elbow and the hand of one arm.
    let mut grab = Grab::new(&skeleton, &pose, &[]);
    let elbow = at(&skeleton, &pose, "elbow.L");
    grab.hold(id("elbow.L"), elbow + DVec3::X * 0.05);
    grab.hold(id("hand.L"), l + DVec3::X * 0.05);
    let stay = DQuat::IDENTITY;
    let goals = [
        Goal { position: elbow + DVec3::new(0.0, 0.1, 0.0), turn: stay },
        Goal { position: l + DVec3::new(0.0, 0.15, 0.0), turn: DQuat::from_rotation_x(1.0) },
    ];
    let (posed, _) = grab.solve(&skeleton, &goals);
    let side = world(&skeleton, &posed)[id("hand.L").index()].matrix3 * DVec3::Y;
    assert!(side.z > 0.5, "the hand took the turn of its own controller: {side}");
}

#[test]
fn any_goal_on_any_rig_gives_a_finite_pose_of_the_same_lengths() {
    for seed in 1..30 {
        let (skeleton, pose) = random(seed, 14, false);
        let mut rng = Random::new(seed * 7919);
        let mut pick = || NodeId::from((rng.bits() % 14) as usize);
        let pins = [pick()];
        let mut grab = Grab::new(&skeleton, &pose, &pins);
        let (a, b) = (pick(), pick());
        for node in [a, b] {
            grab.hold(node, DVec3::new(0.1, 0.2, 0.3));
        }
        for huge in [1.0, 1e3, 1e18, f64::NAN] {
            let mut goal =
                || Goal { position: rng.vector().as_dvec3() * huge, turn: rng.rotation().as_dquat() };
            let (posed, _) = grab.solve(&skeleton, &[goal(), goal()]);
            assert!(
                posed.local.iter().all(|l| l.rotation.iter().chain(&l.translation).all(|v| v.is_finite()))
            );
            for (l, p) in posed.local.iter().zip(&pose.local) {
                assert_eq!(l.scale, p.scale);
            }
        }
    }
}

#[test]
fn twist_joints_make_no_branch_and_are_held_as_their_bone() {
    let (mut list, moved) = (Vec::new(), crate::rig::moved);
    list.push(("hips", None, moved(0.0, 1.0, 0.0)));
    list.push(("leg", Some(0), moved(0.1, 0.0, 0.0)));
    list.push(("legTwist", Some(1), moved(0.0, -0.25, 0.01)));
    list.push(("knee", Some(1), moved(0.0, -0.45, 0.02)));
    list.push(("kneeTwist", Some(3), moved(0.0, -0.22, -0.01)));
    list.push(("foot", Some(3), moved(0.0, -0.45, -0.02)));
    list.push(("other", Some(0), moved(-0.1, 0.0, 0.0)));
    list.push(("otherFoot", Some(6), moved(0.0, -0.9, 0.0)));
    let (skeleton, pose) = crate::rig::skeleton(&list);
    let id = |n: &str| skeleton.find(n).unwrap();
    let mut grab = Grab::new(&skeleton, &pose, &[]);
    let held = at(&skeleton, &pose, "foot");
    grab.hold(id("foot"), held);
    let goal = held + DVec3::new(0.1, 0.25, 0.2);
    let (posed, missed) = grab.solve(&skeleton, &[Goal { position: goal, turn: DQuat::IDENTITY }]);
    assert!(missed < 1e-4, "the whole leg bends: {missed}");
    assert!(at(&skeleton, &posed, "leg").distance(at(&skeleton, &pose, "leg")) < 1e-9);
    // A grabbed twist joint moves its bone without twisting it.
    let mut grab = Grab::new(&skeleton, &pose, &[]);
    grab.hold(id("legTwist"), at(&skeleton, &pose, "legTwist"));
    let goal = at(&skeleton, &pose, "legTwist") + DVec3::new(0.0, 0.05, 0.15);
    let (posed, _) = grab.solve(&skeleton, &[Goal { position: goal, turn: DQuat::IDENTITY }]);
    let twist = id("legTwist").index();
    assert_eq!(posed.local[twist], pose.local[twist]);
    assert!(at(&skeleton, &posed, "knee").z > 0.1);
}

#[test]
fn a_straight_limb_that_is_held_still_stays_straight_and_one_that_is_turned_keeps_its_length() {
    let (skeleton, mut pose) = tree();
    // Nearly straight: an exactly straight limb has no direction to bend in.
    for (name, axis) in [("elbow.L", Vec3::NEG_Y), ("knee.R", Vec3::X)] {
        let node = skeleton.find(name).unwrap().index();
        pose.local[node].rotation = Quat::from_axis_angle(axis, 0.02).into();
    }
    for name in ["hand.L", "foot.R"] {
        let (node, held) = (skeleton.find(name).unwrap(), at(&skeleton, &pose, name));
        let goal = |position| [Goal { position, turn: DQuat::IDENTITY }];
        let mut grab = Grab::new(&skeleton, &pose, &[]);
        grab.hold(node, held);
        let still = grab.solve(&skeleton, &goal(held)).0;
        let turned = |posed: &Pose| {
            let pairs = posed.local.iter().zip(&pose.local);
            pairs.map(|(a, b)| a.rotation().angle_between(b.rotation())).fold(0.0, f32::max)
        };
        assert!(turned(&still) < 1e-6, "{name}: {}", turned(&still));
        let mut old = Grab::new(&skeleton, &pose, &[]).bending_straight();
        old.hold(node, held);
        assert!(turned(&old.solve(&skeleton, &goal(held)).0) > 0.01, "{name}");
        // A pull sideways and outwards rotates the straight limb.
        let root = at(&skeleton, &pose, if name == "hand.L" { "arm.L" } else { "leg.R" });
        let length = held.distance(root);
        let posed = grab.solve(&skeleton, &goal(held + (held - root) * 0.4 + DVec3::Z * 0.5 * length)).0;
        assert!((at(&skeleton, &posed, name).distance(root) - length).abs() < 1e-5 * length, "{name}");
        // A pull inwards bends it, and a small pull bends it a little.
        let inwards = |part: f64| grab_to(&skeleton, &pose, node, held, held - (held - root) * part);
        assert!(turned(&inwards(0.3)) > 0.5 && (0.01..0.2).contains(&turned(&inwards(1e-3))), "{name}");
    }
}

fn grab_to(skeleton: &Skeleton, pose: &Pose, node: NodeId, held: DVec3, position: DVec3) -> Pose {
    let mut grab = Grab::new(skeleton, pose, &[]);
    grab.hold(node, held);
    grab.solve(skeleton, &[Goal { position, turn: DQuat::IDENTITY }]).0
}
