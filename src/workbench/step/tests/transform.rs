//! Tests of numeric posing: exact values, undo steps, copy and paste, mirroring, reset and refused input.

use super::*;
use crate::base::math::rotation_of;
use crate::document::{Key, Operation};
use crate::rig::local_from_world;

const OTHER_ARM: usize = 7;
const CHEST: usize = 1;

fn id(node: usize) -> NodeId {
    NodeId::from(node)
}

/// A biped whose chest has a scale of 2 and whose hips have a scale of 0.5 in the edited pose.
fn scaled() -> Script {
    let mut s = Script::biped();
    for (node, scale) in [(HIPS, 0.5), (CHEST, 2.0)] {
        place(&mut s, node, |local| local.scale = [scale; 3]);
    }
    s
}

/// A biped whose left arm is raised by strokes.
fn stroked() -> Script {
    let mut s = Script::biped();
    s.draw(RIGHT, &arm(0.0));
    s.draw(RIGHT, &arm(0.7));
    assert!(s.strokes()[0].offset.is_some());
    s
}

fn local(s: &Script, node: usize) -> Trs {
    s.bench.pose().local[node]
}

fn place(s: &mut Script, node: usize, change: impl FnOnce(&mut Trs)) {
    let mut local = local(s, node);
    change(&mut local);
    s.bench.run_command(Command::Place(id(node), Box::new(local), false));
    assert_eq!(s.bench.notice(), None);
    s.step();
}

fn steps(s: &Script) -> usize {
    s.bench.session().history().0
}

fn is_same(a: &Pose, b: &Pose) -> bool {
    let near = |(a, b): (&Trs, &Trs)| {
        a.translation().distance(b.translation()) < 1e-5
            && a.scale().distance(b.scale()) < 1e-5
            && a.rotation().dot(b.rotation()).abs() > 1.0 - 1e-6
    };
    a.weights == b.weights && a.local.iter().zip(&b.local).all(near)
}

/// Sets world and local values of the elbow and checks that the edited pose has them.
fn check_values(s: &mut Script) {
    let at = Vec3::new(0.4, 1.2, 0.3);
    let turn = Quat::from_euler(glam::EulerRot::XYZ, 0.4, 2.0, -1.0);
    let skeleton = &s.bench.character().skeleton;
    let (position, rotation) = (Some(at.as_dvec3()), Some(turn.as_dquat()));
    let wanted = local_from_world(skeleton, s.bench.pose(), id(ELBOW), position, rotation).unwrap();
    let wanted = Trs { scale: [1.5, 0.5, 2.0], ..wanted };
    place(s, ELBOW, |local| *local = wanted);
    let world = s.bench.rig().world[ELBOW];
    assert!(Vec3::from(world.translation).distance(at) < 1e-5, "{world:?}");
    let unscaled = world * crate::base::math::Affine3A::from_scale(Vec3::from(wanted.scale).recip());
    assert!(rotation_of(&unscaled).dot(turn).abs() > 1.0 - 1e-6, "{world:?}");
    let now = local(s, ELBOW);
    assert!(now.scale().distance(wanted.scale()) < 1e-5, "{now:?}");
    assert!(now.translation().distance(wanted.translation()) < 1e-5, "{now:?}");
    assert_eq!(*s.bench.pose(), s.bench.session().posed());
}

#[test]
fn values_are_exact_under_scaled_parents_and_under_strokes() {
    check_values(&mut scaled());
    let mut s = stroked();
    let (steps_before, strokes) = (steps(&s), s.strokes().len());
    check_values(&mut s);
    assert_eq!((steps(&s), s.strokes().len()), (steps_before + 1, strokes));
    assert!(s.strokes().iter().all(|l| l.enabled));
    check_values(&mut s);
    let hash = s.hash();
    s.bench.run_command(Command::Undo);
    s.step();
    assert_ne!(s.hash(), hash);
}

#[test]
fn a_scale_under_strokes_is_saved_with_the_document() {
    let mut s = stroked();
    place(&mut s, HAND, |local| local.scale = [2.0; 3]);
    let document = s.bench.session().document();
    let json = serde_json::to_value(document).unwrap();
    let skeleton = &s.bench.character().skeleton;
    assert_eq!(crate::document::Document::from_json(json, skeleton).unwrap(), *document);
}

/// A biped with two keys, whose motion shows between them.
fn moving(mut s: Script) -> Script {
    s.bench.run_command(Command::Key);
    s.step();
    let mut pose = s.bench.pose().clone();
    pose.local[ARM].rotation = Quat::from_rotation_z(1.0).into();
    pose.local[HAND].scale = [1.5; 3];
    s.bench.apply(Edit::SetKey(Key { time: 1.0, pose }), false);
    s.step();
    s.bench.run_command(Command::Scrub(0.5));
    s.step();
    assert!(s.bench.shown_time().is_some());
    s
}

#[test]
fn a_displayed_motion_is_taken_over_in_the_same_step() {
    for script in [Script::biped(), stroked(), scaled()] {
        let mut s = moving(script);
        let shown = s.bench.pose().clone();
        let before = steps(&s);
        check_values(&mut s);
        assert_eq!((s.bench.shown_time(), steps(&s)), (None, before + 1));
        let mut wanted = shown;
        wanted.local[ELBOW] = local(&s, ELBOW);
        assert!(is_same(s.bench.pose(), &wanted));
    }
}

#[test]
fn auto_key_keys_the_change_at_the_playhead() {
    let mut s = moving(Script::biped());
    s.bench.run_command(Command::AutoKey(true));
    let before = steps(&s);
    check_values(&mut s);
    assert_eq!(steps(&s), before + 1);
    let edited = s.bench.pose().local[ELBOW];
    s.bench.run_command(Command::Scrub(0.5));
    s.step();
    let keyed = s.bench.pose().local[ELBOW];
    assert!(keyed.translation().distance(edited.translation()) < 1e-5);
    assert!(keyed.rotation().dot(edited.rotation()).abs() > 1.0 - 1e-6);
    assert!(keyed.scale().distance(edited.scale()) < 1e-5);
}

#[test]
fn a_drag_is_one_step_in_the_edited_pose_and_in_a_motion_with_auto_key() {
    for (mut s, auto) in [(Script::biped(), false), (moving(stroked()), false), (moving(scaled()), true)] {
        s.bench.run_command(Command::AutoKey(auto));
        let before = steps(&s);
        for k in 0..10 {
            let mut local = local(&s, ELBOW);
            local.translation[1] += 0.01;
            s.bench.run_command(Command::Place(id(ELBOW), Box::new(local), k > 0));
            s.step();
        }
        assert_eq!(steps(&s), before + 1);
        place(&mut s, ELBOW, |local| local.translation[0] += 0.1);
        assert_eq!(steps(&s), before + 2);
    }
}

#[test]
fn a_drag_whose_start_was_refused_does_not_join_an_older_step() {
    let mut s = Script::biped();
    place(&mut s, ARM, |local| local.translation[1] += 0.1);
    s.bench.run_command(Command::Key);
    let before = steps(&s);
    let mut bad = local(&s, ARM);
    bad.scale[1] = 0.0;
    s.bench.run_command(Command::Place(id(ARM), Box::new(bad), false));
    bad.scale[1] = 0.5;
    s.bench.run_command(Command::Place(id(ARM), Box::new(bad), true));
    s.step();
    assert_eq!(steps(&s), before + 1);
}

#[test]
fn a_pose_pasted_onto_itself_changes_nothing() {
    let mut s = stroked();
    s.bench.select(Some(id(CHEST)));
    s.bench.run_command(Command::CopyPose);
    let (before, hash) = (steps(&s), s.hash());
    s.bench.run_command(Command::PastePose(false));
    s.step();
    assert_eq!((steps(&s), s.hash(), s.bench.notice()), (before, hash, None));
}

#[test]
fn a_copied_pose_has_the_joints_below_and_no_others() {
    let mut s = Script::biped();
    let rest = s.bench.pose().clone();
    for node in [ARM, HAND, FOOT] {
        place(&mut s, node, |local| local.rotation = Quat::from_rotation_y(0.5).into());
    }
    let posed = s.bench.pose().clone();
    s.bench.select(Some(id(ARM)));
    s.bench.run_command(Command::CopyPose);
    s.bench.run_command(Command::ResetPose(None));
    s.step();
    assert_eq!(*s.bench.pose(), rest);
    let before = steps(&s);
    s.bench.run_command(Command::PastePose(false));
    s.step();
    assert_eq!(steps(&s), before + 1);
    let mut wanted = posed;
    wanted.local[FOOT] = rest.local[FOOT];
    assert_eq!(*s.bench.pose(), wanted);
}

/// Gives the left arm a pose with all kinds of changes.
fn wave(s: &mut Script) {
    for (node, angle) in [(ARM, 0.6), (ELBOW, -0.9), (HAND, 0.3), (CHEST, 0.2)] {
        place(s, node, |local| {
            local.rotation = Quat::from_euler(glam::EulerRot::XYZ, angle, 0.4, -angle).into();
            local.translation[1] += 0.03;
            local.scale = [1.0, 1.2, 0.9];
        });
    }
}

#[test]
fn a_pose_pasted_mirrored_and_back_is_the_same() {
    for mut s in [Script::biped(), stroked()] {
        wave(&mut s);
        let before = s.bench.pose().clone();
        s.bench.select(Some(id(ARM)));
        s.bench.run_command(Command::CopyPose);
        s.bench.run_command(Command::PastePose(true));
        s.step();
        let after = s.bench.pose().clone();
        assert!(is_same(
            &Pose { local: after.local[..OTHER_ARM].to_vec(), ..Pose::default() },
            &Pose { local: before.local[..OTHER_ARM].to_vec(), ..Pose::default() }
        ));
        s.bench.run_command(Command::ResetPose(Some(id(ARM))));
        s.bench.run_command(Command::ResetPose(Some(id(ELBOW))));
        s.bench.run_command(Command::ResetPose(Some(id(HAND))));
        s.bench.select(Some(id(OTHER_ARM)));
        s.bench.run_command(Command::CopyPose);
        s.bench.run_command(Command::PastePose(true));
        s.step();
        assert_eq!(s.bench.notice(), None);
        assert!(is_same(s.bench.pose(), &after));
    }
}

#[test]
fn the_other_hand_is_the_mirror_image() {
    let mut s = Script::biped();
    wave(&mut s);
    place(&mut s, CHEST, |local| local.rotation = [0.0, 0.0, 0.0, 1.0]);
    s.bench.select(Some(id(ARM)));
    s.bench.run_command(Command::CopyPose);
    s.bench.run_command(Command::PastePose(true));
    s.step();
    let image = s.joint(HAND) * Vec3::new(-1.0, 1.0, 1.0);
    assert!(s.joint(OTHER_HAND).distance(image) < 1e-5, "{} {image}", s.joint(OTHER_HAND));
}

#[test]
fn a_joint_without_a_partner_is_mirrored_onto_itself() {
    let mut s = Script::biped();
    place(&mut s, CHEST, |local| {
        local.rotation = Quat::from_rotation_z(0.4).into();
        local.translation[0] += 0.1;
    });
    s.bench.select(Some(id(CHEST)));
    s.bench.run_command(Command::CopyPose);
    s.bench.run_command(Command::PastePose(true));
    s.step();
    let chest = local(&s, CHEST);
    assert!(chest.rotation().dot(Quat::from_rotation_z(-0.4)).abs() > 1.0 - 1e-6, "{chest:?}");
    assert!((chest.translation[0] + 0.1).abs() < 1e-6, "{chest:?}");
}

#[test]
fn a_pose_mirrored_twice_is_the_same() {
    for mut s in [Script::biped(), stroked(), moving(Script::biped())] {
        wave(&mut s);
        let (before, at) = (s.bench.pose().clone(), steps(&s));
        s.bench.run_command(Command::MirrorPose);
        s.step();
        assert_eq!((steps(&s), s.bench.notice()), (at + 1, None));
        assert!(!is_same(s.bench.pose(), &before));
        s.bench.run_command(Command::MirrorPose);
        s.step();
        assert!(is_same(s.bench.pose(), &before));
    }
}

#[test]
fn with_mirror_on_the_partner_follows() {
    for mut s in [Script::biped(), moving(Script::biped())] {
        let image = |s: &Script| s.joint(HAND) * Vec3::new(-1.0, 1.0, 1.0);
        place(&mut s, ARM, |local| local.rotation = [0.0, 0.0, 0.0, 1.0]);
        s.bench.run_command(Command::ResetPose(None));
        s.bench.run_command(Command::Mirror(true));
        place(&mut s, ARM, |local| {
            local.rotation = Quat::from_euler(glam::EulerRot::XYZ, 0.4, 0.8, -0.3).into();
            local.translation[1] += 0.2;
            local.scale = [1.3, 1.0, 1.1];
        });
        assert!(s.joint(OTHER_HAND).distance(image(&s)) < 1e-5, "{} {}", s.joint(OTHER_HAND), image(&s));
        assert_eq!(local(&s, OTHER_ARM).scale, [1.3, 1.0, 1.1]);
        let chest = local(&s, CHEST);
        place(&mut s, CHEST, |local| local.rotation = Quat::from_rotation_x(0.3).into());
        assert_ne!(local(&s, CHEST), chest, "a joint without a partner moves alone");
        s.bench.run_command(Command::ResetPose(Some(id(ARM))));
        s.step();
        let rest = &s.bench.character().skeleton.nodes;
        assert_eq!([ARM, OTHER_ARM].map(|n| local(&s, n)), [ARM, OTHER_ARM].map(|n| rest[n].rest));
    }
}

#[test]
fn reset_gives_the_rest_pose_of_one_joint_or_of_all() {
    for mut s in [Script::biped(), stroked(), moving(stroked())] {
        wave(&mut s);
        let (before, rest) = (s.bench.pose().clone(), Pose::rest(&s.bench.character().skeleton));
        let at = steps(&s);
        s.bench.run_command(Command::ResetPose(Some(id(ELBOW))));
        s.step();
        let mut wanted = before;
        wanted.local[ELBOW] = rest.local[ELBOW];
        assert!(is_same(s.bench.pose(), &wanted));
        s.bench.run_command(Command::ResetPose(None));
        s.step();
        assert!(is_same(s.bench.pose(), &rest));
        assert_eq!(steps(&s), at + 2);
        s.bench.run_command(Command::Undo);
        s.step();
        assert!(is_same(s.bench.pose(), &wanted));
    }
}

#[test]
fn bad_input_is_refused_with_the_name_of_the_node() {
    let mut s = moving(Script::biped());
    let name = s.bench.character().skeleton.nodes[ARM].name.clone();
    let (hash, before, good) = (s.hash(), steps(&s), local(&s, ARM));
    let bad = [
        Trs { translation: [f32::NAN, 0.0, 0.0], ..good },
        Trs { translation: [0.0, f32::INFINITY, 0.0], ..good },
        Trs { rotation: [f32::NAN; 4], ..good },
        Trs { rotation: [0.0; 4], ..good },
        Trs { scale: [1.0, 0.0, 1.0], ..good },
        Trs { scale: [1.0, f32::NAN, 1.0], ..good },
        Trs { translation: [3e38; 3], scale: [3e38; 3], ..good },
    ];
    for bad in bad {
        s.bench.run_command(Command::Place(id(ARM), Box::new(bad), false));
        let notice = s.bench.notice().unwrap_or_default().to_owned();
        assert!(notice.contains(&format!("{name:?}")), "{bad:?}: {notice}");
        s.step();
        assert_eq!((s.hash(), steps(&s)), (hash.clone(), before), "{bad:?}");
        assert!(s.bench.shown_time().is_some(), "the motion still shows");
    }
    s.bench.select(None);
    for (command, says) in [
        (Command::Place(id(99), Box::new(good), false), "99"),
        (Command::ResetPose(Some(id(99))), "99"),
        (Command::CopyPose, "no joint is selected"),
        (Command::PastePose(false), "no pose is copied"),
        (Command::PastePose(true), "no pose is copied"),
    ] {
        s.bench.run_command(command.clone());
        let notice = s.bench.notice().unwrap_or_default();
        assert!(notice.contains(says), "{command:?}: {notice}");
    }
    assert_eq!(steps(&s), before);
}

#[test]
fn a_body_without_sides_cannot_be_mirrored() {
    let mut s = Script::new(&Arc::new(capsule(2, 24, 24, 0.15, 1.0)));
    s.bench.run_command(Command::MirrorPose);
    assert!(s.bench.notice().is_some_and(|n| n.contains("no two sides")));
    s.bench.select(Some(id(1)));
    s.bench.run_command(Command::CopyPose);
    s.bench.run_command(Command::PastePose(true));
    assert!(s.bench.notice().is_some_and(|n| n.contains("no two sides")));
}

#[test]
fn a_new_value_after_undo_is_a_step_of_its_own() {
    let mut s = Script::biped();
    let before = steps(&s);
    place(&mut s, ARM, |local| local.translation[1] += 0.1);
    s.bench.context.run(Operation::Undo);
    assert_eq!(steps(&s), before);
    let mut local = local(&s, ARM);
    local.translation[1] += 0.2;
    s.bench.run_command(Command::Place(id(ARM), Box::new(local), true));
    s.step();
    assert_eq!(steps(&s), before + 1);
}

#[test]
fn the_parent_and_the_partner_of_a_joint_are_selected_or_the_reason_is_told() {
    let mut s = Script::biped();
    let mut after = |from: Option<usize>, command: Command| {
        s.bench.forget_notice();
        s.bench.select(from.map(id));
        s.bench.run_command(command);
        (s.bench.selected().map(NodeId::index), s.bench.notice().unwrap_or_default().to_owned())
    };
    assert_eq!(after(Some(ELBOW), Command::SelectParent), (Some(ELBOW - 1), String::new()));
    assert_eq!(after(Some(ELBOW), Command::SelectPartner), (Some(ELBOW + 3), String::new()));
    for (from, command, says) in [
        (Some(0), Command::SelectParent, "no joint is above it"),
        (Some(1), Command::SelectPartner, "no partner on the other side"),
        (None, Command::SelectParent, "no joint is selected"),
    ] {
        let (selected, notice) = after(from, command);
        assert!(selected == from && notice.contains(says), "{selected:?} {notice}");
    }
}
