//! Tests that the palette does not cover the character.

use super::details_tests::{bench_mut, room};
use super::tests::{Room, tracked};
use super::*;
use crate::base::math::{Quat, Vec2};
use crate::document::{Edit, Key};
use crate::workbench::{Capsule, Rigid, Tracking};

const HEAD: Vec3 = Vec3::new(0.0, 1.6, 0.0);

/// Returns a character in front of the user with arms stretched out.
fn person() -> Vec<Capsule> {
    let at = |x: f32, y: f32| Vec3::new(x, y, -1.4);
    let bone = |a: Vec3, b: Vec3, radius: f32| Capsule { ends: [a, b], radius };
    let mut out = vec![bone(at(0.0, 0.95), at(0.0, 1.5), 0.17), bone(at(0.0, 1.5), at(0.0, 1.75), 0.12)];
    for side in [-1.0, 1.0] {
        out.push(bone(at(0.2 * side, 1.45), at(0.5 * side, 1.45), 0.06));
        out.push(bone(at(0.5 * side, 1.45), at(0.8 * side, 1.45), 0.05));
        out.push(bone(at(0.1 * side, 0.95), at(0.1 * side, 0.05), 0.09));
    }
    out
}

/// Returns panels in front of the character; `hands` is the number of tracked controllers.
fn before_person(hands: usize) -> Room {
    let mut room = Room::new();
    room.state.preferences.palette = false;
    if hands == 1 {
        room.input.hands[1 - room.tool].grip.tracking = Tracking::Lost;
    }
    room.step(80);
    room.panels.surroundings.body = person();
    room.state.preferences.palette = true;
    room.step(1);
    room
}

fn place(room: &Room, panel: Panel) -> Placement {
    *room.panels.out().placements.iter().find(|p| p.panel == panel).unwrap()
}

/// Counts the points of the character's skin that the palette or the wrist panel hides from the head.
fn hidden(room: &Room) -> usize {
    let eye = room.input.head.pose.position;
    let mut hidden = 0;
    for capsule in &room.panels.surroundings.body {
        let axis = (capsule.ends[1] - capsule.ends[0]).normalize_or(Vec3::Y);
        let (side, front) = (axis.any_orthonormal_vector(), axis.cross(axis.any_orthonormal_vector()));
        for i in 0..=8 {
            for k in 0..12 {
                let (sin, cos) = (k as f32 * std::f32::consts::TAU / 12.0).sin_cos();
                let on = capsule.ends[0].lerp(capsule.ends[1], i as f32 / 8.0);
                let to = on + (side * cos + front * sin) * capsule.radius - eye;
                let orientation = Quat::from_rotation_arc(Vec3::NEG_Z, to.normalize());
                let ray = Rigid { position: eye, orientation };
                for panel in [Panel::Palette, Panel::Wrist] {
                    let met = place(room, panel).meet(&ray);
                    hidden += usize::from(
                        met.is_some_and(|(_, at)| at.cmpge(Vec2::ZERO).all() && at.cmple(Vec2::ONE).all()),
                    );
                }
            }
        }
    }
    hidden
}

/// Returns the palette's angles to the right of the character and below the eyes, in degrees, and its distance from the
/// head, in metres.
fn stands(room: &Room) -> [f32; 3] {
    let eye = room.input.head.pose.position;
    let to = place(room, Panel::Palette).pose.position - eye;
    let ahead = room.panels.surroundings.middle().unwrap() - eye;
    let heading = |v: Vec3| v.x.atan2(-v.z);
    let aside = clear::wrapped(heading(to) - heading(ahead));
    [aside.to_degrees(), -(to.y / to.length()).asin().to_degrees(), to.length()]
}

#[test]
fn with_one_controller_it_opens_beside_the_line_of_sight_and_stays() {
    for (tool, side) in [(1, -1.0), (0, 1.0)] {
        let mut room = before_person(1);
        room.tool = tool;
        room.input.hands[1 - tool].grip.tracking = Tracking::Lost;
        room.input.hands[tool].grip.tracking = Tracking::Tracked;
        room.state.preferences.palette = false;
        room.step(80);
        room.state.preferences.palette = true;
        room.step(1);
        let [aside, below, away] = stands(&room);
        assert!((25.0..=35.0).contains(&(aside * side)), "{aside}");
        assert!((10.0..50.0).contains(&below) && (away - 0.5).abs() < 0.01, "{below} {away}");
        assert_eq!(hidden(&room), 0);
        let palette = place(&room, Panel::Palette);
        assert!((palette.pose.orientation * Vec3::Z).dot((HEAD - palette.pose.position).normalize()) > 0.999);
        // An open palette stays in place while head and character move.
        room.input.head.pose.orientation = Quat::from_rotation_y(0.5 * side);
        room.input.head.pose.position.x += 0.2;
        room.panels.surroundings.body.iter_mut().for_each(|c| c.ends = c.ends.map(|p| p - Vec3::X * side));
        room.step(30);
        assert_eq!(place(&room, Panel::Palette).pose, palette.pose);
        room.state.preferences.palette = false;
        room.step(1);
        room.state.preferences.palette = true;
        room.step(1);
        assert_ne!(place(&room, Panel::Palette).pose, palette.pose);
        assert_eq!(hidden(&room), 0);
    }
}

#[test]
fn where_one_side_is_taken_it_opens_on_the_other_and_it_opens_in_any_case() {
    let mut room = before_person(1);
    let open = |room: &mut Room| {
        room.state.preferences.palette = false;
        room.step(1);
        room.state.preferences.palette = true;
        room.step(1);
        (stands(room)[0], hidden(room))
    };
    // A tail on the user's left covers the palette's usual place.
    let ends = [-3.0, -0.6].map(|x| Vec3::new(x, 1.0, -1.4));
    room.panels.surroundings.body.push(Capsule { ends, radius: 0.5 });
    let (aside, covered) = open(&mut room);
    assert!(aside > 20.0 && covered == 0, "{aside} {covered}");
    // If the user looks away from the character, the palette still opens in view.
    room.panels.surroundings.body = person();
    room.input.head.pose.orientation = Quat::from_rotation_y(-2.0);
    assert!(open(&mut room).1 == 0);
    let to = (place(&room, Panel::Palette).pose.position - HEAD).normalize();
    assert!(room.input.head.pose.forward().dot(to) > 0.7);
    // Surrounds the user with capsules, so that every place is covered.
    room.panels.surroundings.body = (0..24)
        .map(|i| {
            let turn = Quat::from_rotation_y(i as f32 * 0.26);
            Capsule { ends: [0.0, 2.5].map(|y| turn * Vec3::new(0.0, y, -1.4)), radius: 0.3 }
        })
        .collect();
    assert!(open(&mut room).1 > 0);
}

#[test]
fn at_the_hand_it_goes_out_of_the_way_and_comes_back() {
    let mut room = before_person(2);
    let natural = Vec3::new(-0.25, 1.15, -0.35);
    let above_hand = |room: &Room| {
        let (at, hand) = (place(room, Panel::Palette).pose.position, room.input.hands[0].grip.pose.position);
        Vec2::new(at.x - hand.x, at.z - hand.z).length() < 1e-3
    };
    room.step(60);
    assert!(above_hand(&room) && hidden(&room) == 0, "{}", hidden(&room));
    for (x, y, z) in [
        (-0.15, 1.3, -0.4),
        (0.0, 1.2, -0.5),
        (0.0, 1.4, -0.9),
        (0.1, 1.0, -0.6),
        (0.3, 1.3, -0.5),
        (-0.6, 1.45, -0.9),
        (0.05, 0.6, -0.7),
    ] {
        room.input.hands[0].grip.pose.position = Vec3::new(x, y, z);
        room.step(100);
        assert_eq!(hidden(&room), 0, "{x} {y} {z}: {:?}", stands(&room));
    }
    room.input.hands[0].grip.pose.position = natural;
    room.step(100);
    assert!(above_hand(&room));
    // The strain panel is on the side of the palette away from the character.
    room.press(&Spot::Page(Page::View));
    let (palette, strain) = (place(&room, Panel::Palette), place(&room, Panel::Strain));
    assert!(strain.pose.position.x < palette.pose.position.x);
}

#[test]
fn a_hand_that_takes_hold_leaves_the_palette_in_the_air_until_it_is_free() {
    let mut room = before_person(2);
    room.step(60);
    let before = place(&room, Panel::Palette).pose;
    // The palette follows the off hand while only the tool hand holds something.
    room.panels.surroundings.holds = [false, true];
    room.input.hands[0].grip.pose.position.x -= 0.1;
    room.step(60);
    assert!(place(&room, Panel::Palette).pose.position.distance(before.position) > 0.05);
    let parked = place(&room, Panel::Palette).pose;
    room.panels.surroundings.holds = [true, true];
    for i in 0..60 {
        room.input.hands[0].grip.pose.position =
            Vec3::new(-0.35, 1.15, -0.35).lerp(Vec3::new(0.0, 1.3, -1.2), i as f32 / 59.0);
        room.step(1);
        assert!(place(&room, Panel::Palette).pose.position.distance(parked.position) < 1e-3, "{i}");
        assert_eq!(hidden(&room), 0);
    }
    // After recentring, the palette stays at its physical place.
    let moved = Rigid { position: Vec3::new(0.5, 0.1, -0.2), orientation: Quat::from_rotation_y(0.8) };
    let mut carried = room.input.clone();
    carried.recentred = Some(moved);
    let carry = |pose: &mut Rigid| {
        *pose =
            Rigid { position: moved.point(pose.position), orientation: moved.orientation * pose.orientation };
    };
    carry(&mut carried.head.pose);
    carried.hands.iter_mut().for_each(|h| carry(&mut h.grip.pose));
    room.input = carried;
    room.panels.surroundings.body.iter_mut().for_each(|c| c.ends = c.ends.map(|p| moved.point(p)));
    room.step(1);
    room.input.recentred = None;
    room.step(20);
    assert!(place(&room, Panel::Palette).pose.position.distance(moved.point(parked.position)) < 1e-3);
    // If the held character moves behind the palette, the palette moves aside.
    let behind = moved.point(parked.position + (parked.position - HEAD) * 1.5);
    room.panels.surroundings.body.push(Capsule { ends: [behind; 2], radius: 0.15 });
    room.step(100);
    assert_eq!(hidden(&room), 0);
    room.panels.surroundings.body.pop();
    // Once the hand is free, the palette returns to the hand.
    room.panels.surroundings.holds = [false; 2];
    room.input.hands[0].grip = tracked(moved.point(Vec3::new(-0.25, 1.15, -0.35)).into());
    room.step(100);
    let (at, hand) = (place(&room, Panel::Palette).pose.position, room.input.hands[0].grip.pose.position);
    assert!(Vec2::new(at.x - hand.x, at.z - hand.z).length() < 1e-2);
}

#[test]
fn a_character_in_motion_does_not_push_the_palette_away_from_the_pointer() {
    let mut room = before_person(2);
    room.step(60);
    let palette = place(&room, Panel::Palette);
    room.aim(palette.point([0.3, 0.5]));
    room.step(1);
    let pushed = |room: &mut Room| {
        room.panels.surroundings.body.iter_mut().for_each(|c| c.ends = c.ends.map(|p| p - Vec3::X * 0.01));
        room.step(1);
        place(room, Panel::Palette).pose.position.distance(palette.pose.position)
    };
    for frame in 0..60 {
        let far = pushed(&mut room);
        assert!(far < 1e-4, "{far} m in frame {frame}");
    }
    assert!(hidden(&room) > 0, "the character is behind the palette");
    room.away();
    let far = (0..60).map(|_| pushed(&mut room)).fold(0.0, f32::max);
    assert!(far > 0.05 && hidden(&room) == 0, "{far} m");
}

#[test]
fn the_list_of_files_and_messages_open_before_a_near_character() {
    for away in [0.5, 0.9, 2.5] {
        let mut room = before_person(2);
        room.panels.surroundings.body.iter_mut().for_each(|c| c.ends = c.ends.map(|p| p.with_z(-away)));
        room.state.preferences.files = true;
        room.state.message = Some("no joint is near".into());
        room.step(1);
        for panel in [Panel::Files, Panel::Message] {
            let far = place(&room, panel).pose.position.distance(HEAD);
            assert!((0.4..1.1).contains(&far), "{panel:?} at {far} m");
            assert!(far < (away - 0.1).max(0.45), "{panel:?} at {far} m, the character at {away} m");
        }
    }
}

#[test]
fn a_message_comes_back_into_view_and_stays_while_it_is_seen() {
    let mut room = before_person(2);
    room.state.message = Some("no joint is near".into());
    room.step(30);
    let first = place(&room, Panel::Message).pose;
    room.input.head.pose.orientation = Quat::from_rotation_y(0.4);
    room.step(30);
    assert_eq!(place(&room, Panel::Message).pose, first, "it is in view");
    room.input.head.pose.orientation = Quat::from_rotation_y(1.2);
    room.step(60);
    let to = (place(&room, Panel::Message).pose.position - HEAD).normalize();
    assert!(room.input.head.pose.forward().dot(to) > 0.9, "{to}");
    room.input.head.pose.position.z -= 0.8;
    room.step(60);
    let far = place(&room, Panel::Message).pose.position.distance(room.input.head.pose.position);
    assert!((0.4..1.1).contains(&far), "{far} m after a walk");
}

#[test]
fn a_message_makes_way_for_the_other_panels() {
    for (details, files) in [(false, false), (true, false), (false, true)] {
        let mut room = before_person(2);
        (room.state.preferences.details, room.state.preferences.files) = (details, files);
        room.state.message = Some("no joint is near".into());
        let palm = room.input.hands[1 - room.tool].grip.pose.position;
        let mut moved = 0.0_f32;
        for i in 0..12 {
            // The off hand goes across the view, with the palette above it.
            let x = -0.4 + 0.07 * i as f32;
            room.input.hands[1 - room.tool].grip.pose.position = palm.with_x(x).with_z(-0.45);
            room.step(40);
            let own = place(&room, Panel::Message);
            let sight = |p: &Placement| clear::Sight::of_panel(p, HEAD, 0.0);
            for other in room.panels.out().placements.iter().filter(|p| p.panel != Panel::Message) {
                let clear = !sight(&own).meets(&sight(other), 0.0);
                assert!(clear, "{details} {files}: {:?} covers the message at {x}", other.panel);
            }
            let to = (own.pose.position - HEAD).normalize();
            assert!(Vec3::NEG_Z.angle_between(to).to_degrees() < 60.0, "{to}");
            moved = moved.max(to.x.abs());
        }
        assert!(moved > 0.1, "it was covered");
    }
}

#[test]
fn panels_at_the_hand_make_way_for_the_arc_of_a_jump() {
    let mut room = room();
    room.state.preferences.palette = true;
    for (stick, wanted) in [(0.0, true), (1.0, false), (0.0, true)] {
        room.input.hands[0].stick = [0.0, stick];
        room.input.time += 0.1;
        let input = room.input.clone();
        bench_mut(&mut room).step(&input);
        room.step(1);
        let shows = |panel| room.panels.out.placements.iter().any(|p| p.panel == panel);
        assert_eq!([Panel::Palette, Panel::Wrist].map(shows), [wanted; 2], "stick at {stick}");
        assert!(shows(Panel::Details));
    }
}

#[test]
fn the_details_open_where_no_other_panel_covers_them() {
    for x in (0..15).map(|i| -0.5 + 0.07 * i as f32) {
        let mut room = before_person(2);
        room.input.hands[1 - room.tool].grip.pose.position = Vec3::new(x, 1.25, -0.45);
        room.step(40);
        room.state.preferences.details = true;
        room.step(1);
        let sight = |p: &Placement| clear::Sight::of_panel(p, HEAD, 0.0);
        let uncovered = |room: &Room| {
            let own = place(room, Panel::Details);
            let others: Vec<_> =
                room.panels.out().placements.iter().filter(|p| p.panel != Panel::Details).collect();
            assert!(others.iter().any(|p| p.panel == Panel::Palette));
            for other in others {
                assert!(
                    !sight(&own).meets(&sight(other), 0.0),
                    "{:?} covers the details at {x}",
                    other.panel
                );
            }
            own
        };
        let before = uncovered(&room);
        // The palette changes hands, so the open details make room for it.
        room.input.hands[room.tool].grip.pose.position = Vec3::new(-x, 1.25, -0.45);
        room.tool = 1 - room.tool;
        room.step(1);
        assert_ne!(uncovered(&room).pose, before.pose);
        room.step(40);
        uncovered(&room);
    }
}

#[test]
fn the_panels_keep_their_places_while_a_motion_plays() {
    let mut room = room();
    let Room { panels, bench, input, .. } = &mut room;
    let bench = bench.as_mut().unwrap();
    for (time, angle) in [(0.0, 0.0), (1.0, 1.0)] {
        let mut pose = bench.pose().without_rest();
        pose.local[4].rotation = (Quat::from_rotation_z(angle) * pose.local[4].rotation()).into();
        bench.apply(Edit::SetKey(Key { time, pose }), false);
    }
    let mut seen = |bench: &mut Workbench, frames: usize| {
        for _ in 0..frames {
            input.time += 0.02;
            bench.step(input);
            panels.see(bench, bench.rig());
        }
        panels.surroundings.body.clone()
    };
    bench.run_command(Command::Scrub(0.0));
    let before = seen(bench, 1);
    bench.run_command(Command::Play(true));
    assert_eq!(seen(bench, 20), before);
    bench.run_command(Command::Play(false));
    assert!(bench.shown_time().is_some_and(|t| t > 0.2));
    assert_ne!(seen(bench, 1), before);
}
