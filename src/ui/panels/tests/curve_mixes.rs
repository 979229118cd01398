//! Tests of the curves together with grips and with files of any unit.

use super::keys::{SPINE, slot};
use super::*;
use crate::asset::Influences;
use crate::base::GripId;
use crate::document::{KeyCurves, KeyEdit, Slot, Target};
use crate::surface::Grip;

#[test]
fn the_rotation_of_a_grip_has_curves() {
    let mut s = Sheet::new(Section::Keys);
    s.width = 900.0;
    let id = GripId(0);
    let target = Target::Grip { grip: id, property: Property::Rotation };
    let turn = |a: f32| Quat::from_rotation_z(a).to_array();
    let Slot { channel, .. } = slot(0, Property::Rotation, [turn(0.0), turn(0.6), turn(0.2)].concat());
    let channel = channel.map(|c| crate::document::Channel { target: target.clone(), ..c });
    let elbow = slot(5, Property::Rotation, [turn(0.1), turn(0.2), turn(0.3)].concat());
    for edit in [
        Edit::SetDeformer(DeformerSettings::of("fast")),
        Edit::AddGrip { index: None, grip: Box::new(Grip::new(id, [0])) },
        Edit::Keys(KeyEdit::Channels(vec![elbow, Slot { target: target.clone(), channel }])),
    ] {
        s.bench.apply(edit, false);
        assert_eq!(s.bench.notice(), None);
    }
    (0..3).for_each(|_| s.frame(Vec::new()));
    // No joint is selected: the row of the grip is.
    let row = s.bench.timeline().sheet.rows.last().unwrap().label.clone();
    let name = s.at(&row).center();
    s.click_at(name);
    s.click("Curves");
    s.frame(Vec::new());
    s.at(&row);
    let curves = |s: &Sheet| KeyCurves::new(s.bench.session().document().motion().channel(&target).unwrap());
    let z = s.dots(theme::AXES[2]);
    assert_eq!(z.len(), 3);
    // The name has selected all keys of the row; only one is to move.
    s.click_at(z[1]);
    let (steps, before) = (s.steps(), s.bench.session().document().clone());
    s.bench.run_command(Command::Scrub(0.5));
    s.frame(Vec::new());
    s.drag_to(z[1], z[1] + vec2(0.0, -40.0));
    assert_eq!(s.steps(), steps + 1);
    let risen = (curves(&s).value(1, 2) - 0.6).to_degrees();
    assert!((5.0..15.0).contains(&risen), "{risen}");
    assert_eq!((curves(&s).value(0, 2), curves(&s).value(2, 2) as f32), (0.0, 0.2), "the other keys stay");
    // The grip turns, and the joint's keys stay.
    let skeleton = &s.bench.character().skeleton;
    let grip = s.bench.session().document().state(skeleton, Some(0.5)).pose.grips[0];
    let turned = Quat::from_array(grip.rotation).to_euler(crate::base::math::EulerRot::ZYX).0.to_degrees();
    assert!((f64::from(turned) - 34.377 - risen).abs() < 0.05, "{turned} {risen}");
    let elbow = Target::node(NodeId::from(5_usize), Property::Rotation);
    let channel = |d: &crate::document::Document| d.motion().channel(&elbow).cloned();
    assert_eq!(channel(s.bench.session().document()), channel(&before));
    s.undo();
    assert_eq!(*s.bench.session().document(), before);
    // The buttons of the other properties are off, except those that have keys.
    s.bench.run_command(Command::Select(Some(NodeId::from(5_usize))));
    s.frame(Vec::new());
    s.frame(Vec::new());
    let joint = s.bench.character().skeleton.nodes[5].name.clone();
    s.at(&joint);
}

/// The biped of the tests in other units: 100 for centimetres.
fn biped_of(scale: f32) -> Arc<crate::bind::Character> {
    let biped = biped();
    let skeleton = &biped.skeleton;
    let joint = |j: &crate::rig::Joint| {
        let at: Vec3 = j.bind_from_joint.translation.into();
        (at * scale, j.parent.map(|p| p.index()))
    };
    let joints: Vec<(Vec3, Option<usize>)> = skeleton.joints.iter().map(joint).collect();
    let control = &biped.control;
    let mut influences = Influences::default();
    for v in 0..control.positions.len() {
        influences.push(control.influences.of(v).collect::<Vec<_>>());
    }
    let positions = control.positions.iter().map(|x| *x * scale).collect();
    let triangles = control.triangles.clone();
    Arc::new(crate::bind::Character::from_parts(positions, triangles, &joints, influences).unwrap())
}

#[test]
fn the_same_drag_moves_a_joint_by_the_same_share_in_a_file_of_any_unit() {
    let mut moved = Vec::new();
    for scale in [1.0f32, 100.0, 0.01] {
        let mut s = Sheet::of(Section::Keys, &biped_of(scale));
        s.width = 900.0;
        // The spine rests: its curves are flat.
        let rest = s.bench.character().skeleton.nodes[SPINE].rest.translation();
        assert!((rest.length() / scale - 0.2).abs() < 1e-3, "{rest}");
        let keys = slot(SPINE, Property::Translation, [rest.to_array(); 3].concat());
        s.bench.apply(Edit::Keys(KeyEdit::Channels(vec![keys])), false);
        s.bench.run_command(Command::Select(Some(NodeId::from(SPINE))));
        (0..3).for_each(|_| s.frame(Vec::new()));
        s.click("Curves");
        s.click("Location");
        s.click("X");
        s.click("Z");
        let key = s.dots(theme::AXES[1])[1];
        s.drag_to(key, key + vec2(0.0, -40.0));
        let target = Target::node(NodeId::from(SPINE), Property::Translation);
        let curves = KeyCurves::new(s.bench.session().document().motion().channel(&target).unwrap());
        moved.push((curves.value(1, 1) - f64::from(rest.y)) / f64::from(scale));
        // The list shows as many digits as the size needs.
        let digits = match scale {
            1.0 => 3,
            100.0 => 1,
            _ => 5,
        };
        let number = s.words.iter().find(|w| w.0.split('.').nth(1).is_some_and(|d| d.len() == digits));
        assert!(number.is_some(), "{scale}: {:?}", s.words);
    }
    assert!(moved[0] > 1e-3, "{moved:?}");
    assert!(moved.iter().all(|m| (m - moved[0]).abs() < 1e-2 * moved[0]), "{moved:?}");
}
