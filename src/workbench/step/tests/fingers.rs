//! Tests of fingers that follow a tracked hand.

use super::*;
use crate::pose::Fingers;

const INDEX: usize = 16;
const INDEX_END: usize = 18;

/// The biped with a thumb and three fingers at its left hand, palm down.
fn biped_with_fingers() -> Arc<Character> {
    let rows = [(0.03, [0.80, 0.84, 0.87]), (0.0, [0.80, 0.85, 0.88]), (-0.03, [0.80, 0.84, 0.87])];
    let mut places: Vec<[Vec3; 3]> = rows.iter().map(|(z, xs)| xs.map(|x| Vec3::new(x, 1.5, *z))).collect();
    places.push([(0.77, 0.035), (0.79, 0.06), (0.81, 0.08)].map(|(x, z)| Vec3::new(x, 1.5, z)));
    let base = biped();
    let skeleton = &base.skeleton;
    let mut joints: Vec<(Vec3, Option<usize>)> = skeleton
        .nodes
        .iter()
        .enumerate()
        .take(16)
        .map(|(i, n)| {
            (
                PosedRig::new(skeleton, &Pose::rest(skeleton)).world[i].translation.into(),
                n.parent.map(|p| p.index()),
            )
        })
        .collect();
    for finger in places {
        for (k, place) in finger.into_iter().enumerate() {
            joints.push((place, Some(if k == 0 { HAND } else { joints.len() - 1 })));
        }
    }
    let (mut positions, mut triangles, mut influences) = (Vec::new(), Vec::new(), Influences::default());
    for (j, (at, _)) in joints.iter().enumerate() {
        let first = positions.len() as u32;
        let size = if j < 16 { 0.03 } else { 0.006 };
        positions.extend([Vec3::X, Vec3::Y, Vec3::Z].map(|axis| *at + axis * size));
        positions.extend([Vec3::X, Vec3::Y, Vec3::Z].map(|axis| *at - axis * size));
        (0..6).for_each(|_| influences.push([(j as u16, 1.0)]));
        triangles.extend([[first, first + 1, first + 2], [first + 3, first + 5, first + 4]]);
    }
    Arc::new(Character::from_parts(positions, triangles, &joints, influences).unwrap())
}

fn fist() -> Option<Fingers> {
    Some(Fingers {
        bends: [[0.4, 0.5, 0.5], [1.2, 1.0, 0.6], [1.2, 1.0, 0.6], [1.2, 1.0, 0.6], [1.2, 1.0, 0.6]],
        spreads: [0.0; 5],
    })
}

/// A script whose tool hand touches the index finger, and whose free hand is far away.
fn script() -> Script {
    let mut s = Script::new(&biped_with_fingers());
    s.at(0, Vec3::new(-2.0, 1.0, 1.0));
    s.at(RIGHT, s.joint(INDEX));
    s.step();
    s
}

#[test]
fn fingers_follow_the_free_hand_until_they_are_kept_as_one_step() {
    let mut s = script();
    let (before, rest) = (s.hash(), s.joint(INDEX_END));
    s.input.hands[0].fingers = fist();
    s.step();
    s.bench.run_command(Command::Fingers(true));
    s.step();
    assert!(s.bench.preferences().fingers && s.bench.is_busy());
    let bent = s.joint(INDEX_END);
    assert!(bent.y < rest.y - 0.02, "the tip bends to the palm: {rest} {bent}");
    assert!((bent.z - rest.z).abs() < 0.005, "{bent}");
    assert!(s.joint(HAND).distance(Vec3::new(0.75, 1.5, 0.0)) < 1e-6);
    // No tool acts, and a hand out of sight leaves the fingers as they are.
    s.input.hands[0].fingers = None;
    s.input.hands[RIGHT].draw = 1.0;
    (0..4).for_each(|_| {
        s.step();
    });
    s.input.hands[RIGHT].draw = 0.0;
    s.step();
    assert!(s.strokes().is_empty() && s.joint(INDEX_END).distance(bent) < 1e-6 && s.hash() == before);
    let steps = s.bench.session().history().0;
    s.bench.run_command(Command::Fingers(false));
    s.step();
    assert!(!s.bench.is_busy() && s.joint(INDEX_END).distance(bent) < 1e-5);
    assert_eq!(s.bench.session().history().0, steps + 1);
    s.bench.run_command(Command::Undo);
    s.step();
    assert_eq!(s.hash(), before);
    // Undo during following restores the pose.
    s.input.hands[0].fingers = fist();
    s.step();
    s.bench.run_command(Command::Fingers(true));
    s.step();
    s.bench.run_command(Command::Undo);
    s.step();
    assert!(!s.bench.preferences().fingers && s.joint(INDEX_END).distance(rest) < 1e-6);
    assert_eq!(s.hash(), before);
}

#[test]
fn a_recording_takes_the_motion_of_fingers() {
    let mut s = script();
    s.bench.run_command(Command::Record(true));
    s.input.hands[0].fingers = Some(Fingers::default());
    s.step();
    s.bench.run_command(Command::Fingers(true));
    let closed = fist().unwrap();
    for i in 0..=90 {
        let share = i as f32 / 90.0;
        s.input.hands[0].fingers =
            Some(Fingers { bends: closed.bends.map(|f| f.map(|v| v * share)), ..closed });
        s.step();
    }
    s.bench.run_command(Command::Fingers(false));
    s.step();
    let motion = s.bench.session().document().motion();
    let nodes: Vec<_> = motion.channels().iter().map(|c| c.target.clone()).collect();
    assert_eq!(nodes.len(), 12, "each joint of the fingers: {nodes:?}");
    assert!(motion.channels().iter().all(|c| c.target.rotates() && c.times.len() < 12));
    let skeleton = s.bench.session().skeleton();
    let tip = |time: f64| -> Vec3 {
        s.bench.session().document().state(skeleton, Some(time)).pose.world(skeleton)[INDEX_END]
            .translation
            .into()
    };
    assert!(tip(0.0).y > tip(0.5).y + 0.003 && tip(0.5).y > tip(1.0).y + 0.003, "{} {}", tip(0.0), tip(1.0));
}

#[test]
fn following_is_refused_with_a_reason() {
    let mut s = script();
    let refused = |s: &mut Script, why: &str| {
        s.bench.run_command(Command::Fingers(true));
        assert!(s.bench.notice().is_some_and(|n| n.contains(why)), "{why}: {:?}", s.bench.notice());
        assert!(!s.bench.preferences().fingers && !s.bench.is_busy());
    };
    refused(&mut s, "does not see the fingers");
    s.input.hands[0].fingers = fist();
    s.at(RIGHT, Vec3::new(0.1, 0.05, 0.0));
    s.step();
    refused(&mut s, "no hand is selected");
}
