//! Tests of the turntable with its static floor, and of the last view.

use super::*;
use crate::asset::Node;
use crate::base::math::{Trs, Turn};
use crate::bind::shapes::Shape;
use crate::geom::CrossingSegment;
use crate::workbench::{NoticeKind, Similarity};

/// A user in front of the biped, after two seconds of the turntable.
fn turned() -> Script {
    let mut s = Script::biped();
    s.input.head = Tracked {
        pose: Rigid { position: Vec3::new(0.2, 1.6, 0.4), orientation: Quat::from_rotation_y(0.3) },
        tracking: Tracking::Tracked,
    };
    s.step();
    s.bench.run_command(Command::Turntable(true));
    (0..180).for_each(|_| {
        s.step();
    });
    s
}

fn view(s: &Script) -> (Similarity, Turn) {
    (s.bench.output().world_from_room, s.bench.output().world_from_floor)
}

/// Puts a hand's tip and palm at a world position.
fn reach(s: &mut Script, hand: usize, world: Vec3) {
    let room = s.bench.output().world_from_room.inverse_point(world);
    s.at(hand, room);
}

/// End points of all displayed lines, room space.
fn ends(s: &Script) -> Vec<Vec3> {
    let out = s.bench.output();
    out.lines.segments.iter().flat_map(|l| [l.a, l.b]).map(|p| out.world_from_room.inverse_point(p)).collect()
}

#[test]
fn the_turntable_turns_the_character_and_leaves_the_floor_about_the_user() {
    let mut s = turned();
    let (first, lines) = (view(&s), ends(&s));
    let room = |s: &Script, p: Vec3| s.bench.output().world_from_room.inverse_point(p);
    let hand = room(&s, s.joint(HAND));
    let axis = room(&s, s.bench.axis());
    (0..90).for_each(|_| {
        s.step();
    });
    let now = view(&s);
    assert!((now.1.angle - first.1.angle - TURNTABLE).abs() < 1e-3, "{now:?}");
    // Points on the floor keep their room positions.
    for floor in [Vec3::ZERO, Vec3::new(3.0, 0.0, -2.0)] {
        let before = first.0.inverse_point(first.1.point(floor));
        assert!(now.0.inverse_point(now.1.point(floor)).distance(before) < 1e-5);
    }
    assert!(room(&s, s.bench.axis()).distance(axis) < 1e-5);
    let moved = room(&s, s.joint(HAND)).distance(hand);
    assert!((moved - 2.0 * 0.75 * (0.5 * TURNTABLE).sin()).abs() < 1e-3, "{moved}");
    // The four posts (a line and a dot each) stay; the two axis lines rotate with the character.
    let still = lines.iter().zip(ends(&s)).filter(|(a, b)| a.distance(*b) < 1e-5).count();
    assert_eq!((still, lines.len()), (4 * 4 + 2, 4 * 4 + 4));
}

#[test]
fn what_is_drawn_and_grabbed_on_a_turned_character_is_where_the_hand_is() {
    let mut s = turned();
    // On a running turntable, a squeeze grabs the part at the hand, and a resting hand moves nothing.
    let (hash, held) = (s.hash(), s.joint(HAND));
    reach(&mut s, RIGHT, held);
    s.step();
    s.input.hands[RIGHT].grab = 1.0;
    (0..5).for_each(|_| {
        s.step();
    });
    assert!(s.bench.is_busy() && s.joint(HAND).distance(held) < 1e-5, "{}", s.joint(HAND).distance(held));
    let still = view(&s);
    let goal = Vec3::new(0.55, 1.65, 0.2);
    let palm = still.0.point(s.input.hands[RIGHT].grip.pose.position);
    for i in 1..=20 {
        let at = palm.lerp(palm + goal - held, i as f32 / 20.0);
        reach(&mut s, RIGHT, at);
        s.step();
    }
    assert_eq!(view(&s), still, "what is held does not turn away");
    assert!(s.joint(HAND).distance(goal) < 1e-3, "{}", s.joint(HAND));
    s.input.hands[RIGHT].grab = 0.0;
    s.step();
    assert_ne!(s.hash(), hash);
    s.bench.run_command(Command::Undo);
    // After the turntable stops, the rotation stays, and strokes are in the character's space.
    s.bench.run_command(Command::Turntable(false));
    s.step();
    assert!(s.bench.output().world_from_floor.angle > 0.6);
    for angle in [0.0, 0.6] {
        let room: Vec<Vec3> =
            arm(angle).iter().map(|p| s.bench.output().world_from_room.inverse_point(*p)).collect();
        s.draw(RIGHT, &room);
    }
    assert!(s.joint(HAND).distance(arm(0.6)[29]) < 0.02, "{}", s.joint(HAND));
    assert!(s.strokes()[0].baseline.knots().iter().all(|k| (k.position[1] - 1.5).abs() < 5e-3));
}

#[test]
fn last_view_leads_back_exactly_and_from_there_back_again() {
    let mut s = turned();
    let step = |s: &mut Script, command: Command| {
        s.bench.run_command(command);
        s.step();
        view(s)
    };
    let turned_view = view(&s);
    let first = step(&mut s, Command::UndoNavigation);
    assert_eq!(first.1, Turn::NONE);
    assert!(!s.bench.preferences().turntable, "it would turn away from the view at once");
    assert_eq!(step(&mut s, Command::UndoNavigation), turned_view);
    assert_eq!(step(&mut s, Command::UndoNavigation), first);
    assert_eq!(step(&mut s, Command::UndoNavigation), turned_view);
    // Pull, scale, snap, level and life size: each restores the previous view, including heading, scale and rotation.
    let pull = |s: &mut Script, spread: f32| {
        let places = [-0.3, 0.3].map(|x| Vec3::new(x, 0.4, 0.9));
        for (hand, place) in places.into_iter().enumerate() {
            s.at(hand, place);
        }
        s.step();
        s.input.hands.iter_mut().for_each(|h| h.grab = 1.0);
        for i in 0..10 {
            for (hand, place) in places.into_iter().enumerate() {
                let by = Vec3::new([-spread, spread][hand], 0.1 * hand as f32, 0.05) * (i as f32 / 9.0);
                s.at(hand, place + by);
            }
            s.step();
        }
        s.input.hands.iter_mut().for_each(|h| h.grab = 0.0);
        s.step();
    };
    type Change<'a> = &'a dyn Fn(&mut Script);
    let changes: [Change<'_>; 5] = [
        &|s| pull(s, 0.2),
        &|s| s.bench.run_command(Command::SnapTurn(2)),
        &|s| {
            s.bench.run_command(Command::RollWorld(true));
            pull(s, -0.1);
        },
        &|s| s.bench.run_command(Command::RollWorld(false)),
        &|s| s.bench.run_command(Command::LifeSize),
    ];
    for (i, change) in changes.into_iter().enumerate() {
        let before = view(&s);
        change(&mut s);
        s.step();
        let after = view(&s);
        assert_ne!(before, after, "{i}");
        for expected in [before, after, before, after] {
            assert_eq!(step(&mut s, Command::UndoNavigation), expected, "{i}");
        }
    }
    assert_eq!(view(&s).1, Turn::NONE, "life size shows the character's front");
}

#[test]
fn a_pull_while_the_turntable_turns_is_the_last_view() {
    let mut s = turned();
    let held = Vec3::new(0.1, 0.4, 0.9);
    s.at(RIGHT, held);
    s.step();
    s.input.hands[RIGHT].grab = 1.0;
    s.step();
    let before = view(&s);
    s.at(RIGHT, held + Vec3::X * 0.3);
    s.step();
    s.input.hands[RIGHT].grab = 0.0;
    (0..30).for_each(|_| {
        s.step();
    });
    assert_ne!(view(&s).1, before.1, "it goes on turning");
    s.bench.run_command(Command::UndoNavigation);
    s.step();
    assert!(view(&s).0.translation.distance(before.0.translation) < 1e-5);
    assert_eq!((view(&s).0.rotation, view(&s).1), (before.0.rotation, before.1));
}

#[test]
fn a_sword_does_not_move_the_turntables_axis() {
    let mut asset =
        Shape { bones: 3, rings: 12, segments: 8, radius: 0.2, length: 1.5, blend: 0.5 }.capsule_asset();
    let bare = Script::new(&Arc::new(Character::from_asset(&asset).unwrap())).bench.axis();
    let skinned = asset.nodes.iter().position(|n| n.mesh.is_some()).unwrap();
    let rest = Trs::new(Vec3::X * 3.0, Quat::IDENTITY, Vec3::ONE);
    let sword = Node { name: "Sword".into(), skin: None, parent: None, rest, ..asset.nodes[skinned].clone() };
    asset.roots.push(NodeId::from(asset.nodes.len()));
    asset.nodes.push(sword);
    let mut s = Script::new(&Arc::new(Character::from_asset(&asset).unwrap()));
    assert_eq!(s.bench.axis(), bare);
    s.bench.keep_to(Rules::Eighth);
    assert!(s.bench.axis().distance(bare) > 1.0);
}

#[test]
fn the_turntable_turns_about_the_character_wherever_it_was_moved() {
    let mut s = turned();
    s.bench.run_command(Command::Turntable(false));
    s.step();
    // Move the full body one metre sideways.
    let from = s.bench.axis();
    let hips = s.joint(HIPS);
    let mut local = s.bench.pose().local[HIPS];
    local.translation[0] += 1.0;
    s.bench.apply(Edit::SetLocal { node: NodeId::from(HIPS), local }, false);
    s.step();
    assert!(s.joint(HIPS).distance(hips + Vec3::X) < 1e-5);
    assert!(s.bench.axis().distance(from + Vec3::X) < 1e-5);
    let room = |s: &Script| s.bench.output().world_from_room.inverse_point(s.joint(HIPS));
    let before = room(&s);
    s.bench.run_command(Command::Turntable(true));
    (0..200).for_each(|_| {
        s.step();
    });
    assert!(room(&s).distance(before) < 1e-4, "{before} {}", room(&s));
}

#[test]
fn panels_learn_where_the_character_is_and_what_the_hands_hold() {
    let mut s = turned();
    let mut about = crate::workbench::Surroundings::default();
    let held = s.joint(HAND);
    reach(&mut s, RIGHT, held);
    s.step();
    s.input.hands[RIGHT].grab = 1.0;
    s.step();
    s.bench.surroundings(s.bench.rig(), &mut about);
    assert_eq!(about.holds, [false, true]);
    let hand = s.bench.output().world_from_room.inverse_point(s.joint(HAND));
    let near = about.body.iter().flat_map(|c| c.ends).map(|p| p.distance(hand)).fold(f32::INFINITY, f32::min);
    assert!(near < 1e-5 && about.body.iter().all(|c| c.radius < 0.5), "{near}");
}

#[test]
fn crossings_are_drawn_in_the_pose_that_they_were_measured_in() {
    let mut s = Script::biped();
    let anchored = |s: &Script| s.bench.output().lines.anchors.len();
    let segment =
        CrossingSegment { ends: [(0, [1.0, 0.0, 0.0]), (1, [0.0, 1.0, 0.0])], at: [Vec3::X, Vec3::Y] };
    s.step();
    assert!(!s.bench.awaits_readings(), "nobody asked");
    s.bench.run_command(Command::Crossings(true));
    s.step();
    assert!(s.bench.awaits_readings() && anchored(&s) == 0);
    s.bench.receive_crossings(s.bench.shown_pose().version, vec![segment; 3]);
    s.step();
    assert!(!s.bench.awaits_readings() && anchored(&s) == 3);
    // The curve of another pose is not drawn.
    s.bench.receive_crossings(Version::new(), vec![segment; 3]);
    s.step();
    assert_eq!(anchored(&s), 0);
    s.bench.receive_crossings(s.bench.shown_pose().version, vec![segment; 100_000]);
    s.step();
    assert!(anchored(&s) < 5000, "a frame draws a limited number");
    s.bench.run_command(Command::Crossings(false));
    s.step();
    assert_eq!(anchored(&s), 0);
}

#[test]
fn a_very_large_or_small_body_is_told_at_life_size() {
    for (size, told) in [(160.0, Some("160 m")), (1.7, None), (0.017, Some("1.7 cm"))] {
        let mut s = Script::biped();
        s.bench.bounds = Aabb { min: Vec3::ZERO, max: Vec3::splat(size) };
        s.bench.run_command(Command::LifeSize);
        let notice = s.bench.told().map(|n| (n.kind, n.text.clone()));
        assert_eq!(notice.is_some(), told.is_some(), "{notice:?}");
        assert!(notice.is_none_or(|(kind, text)| kind == NoticeKind::Fact && text.contains(told.unwrap())));
        assert_eq!(s.bench.output().world_from_room.scale, 1.0);
    }
}
