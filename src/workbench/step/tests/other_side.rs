//! Tests of marks, pulls, offset strokes and knots with mirror on.

use super::marks::seen;
use super::*;
use crate::surface::{Form, Sculpt, SurfacePoint, mirrored_points};

/// Distance of the limbs' axes from the plane of symmetry, metres.
const SIDE: f32 = 0.4;

/// Two limbs along y, at both sides of the plane x = 0, which hang on one joint in the plane.
fn limbs() -> Arc<Character> {
    let limb = capsule(1, 24, 24, 0.15, 1.0);
    let count = limb.control.positions.len() as u32;
    let left = limb.control.positions.iter().map(|x| *x + Vec3::X * SIDE);
    let right = limb.control.positions.iter().map(|x| Vec3::new(-x.x - SIDE, x.y, x.z));
    let triangles = &limb.control.triangles;
    let turned = triangles.iter().map(|t| [t[0], t[2], t[1]].map(|v| v + count));
    let joints = [
        (0.0, 0.0, None),
        (SIDE, 0.0, Some(0)),
        (SIDE, 1.0, Some(1)),
        (-SIDE, 0.0, Some(0)),
        (-SIDE, 1.0, Some(3)),
    ];
    let joints = joints.map(|(x, y, parent)| (Vec3::new(x, y, 0.0), parent));
    let mut influences = Influences::default();
    for joint in [1, 3] {
        (0..count).for_each(|_| influences.push([(joint, 1.0)]));
    }
    let triangles = triangles.iter().copied().chain(turned).collect();
    Arc::new(Character::from_parts(left.chain(right).collect(), triangles, &joints, influences).unwrap())
}

fn script(character: &Arc<Character>, by: MarkBy) -> Script {
    let mut s = Script::new(character);
    s.bench.run_command(Command::MarkBy(by));
    s.bench.run_command(Command::Mirror(true));
    assert_eq!(s.bench.notice(), None);
    s
}

/// Draws on the skin through these places, each with the direction to the skin. Each sample arrives two frames late.
fn draw(s: &mut Script, character: &Character, places: &[(Vec3, Vec3)]) {
    let mut queue = std::collections::VecDeque::from([None, None]);
    for i in 0..places.len() + 12 {
        let (place, way) = places[i.min(places.len() - 1)];
        s.turned(RIGHT, place, Quat::from_rotation_arc(Vec3::NEG_Z, way));
        s.input.hands[RIGHT].draw = if i < places.len() { 1.0 } else { 0.0 };
        s.input.hands[RIGHT].surface = queue.pop_front().flatten();
        s.step();
        let draw = s.input.hands[RIGHT].draw;
        queue.push_back(seen(character, place, way, s.input.time, draw));
    }
    s.input.hands[RIGHT].surface = None;
}

/// The places of a ring around the limb at `x`.
fn around(x: f32) -> Vec<(Vec3, Vec3)> {
    let place = |i: usize| {
        let angle = 0.99 * std::f32::consts::TAU * i as f32 / 60.0;
        let out = Vec3::new(angle.cos(), 0.0, angle.sin());
        (out * 0.3 + Vec3::new(x, 0.5, 0.0), -out)
    };
    (0..60).map(place).collect()
}

/// The places of a stroke up the front of a limb.
fn up(x: f32) -> Vec<(Vec3, Vec3)> {
    (0..40).map(|i| (Vec3::new(x, 0.2 + 0.6 * i as f32 / 39.0, 0.3), Vec3::NEG_Z)).collect()
}

/// Asserts that each sculpt layer of the second mark is the mirror image of that of the first one.
fn assert_mirrored(s: &Script, character: &Character) {
    let document = s.bench.session().document();
    let [first, second] = document.marks() else { panic!("{} marks", document.marks().len()) };
    let mirror = s.bench.context.body.mirror.as_ref().unwrap();
    let places = |points: &[SurfacePoint]| -> Vec<Vec3> {
        let place = |p| s.bench.context.body.bind_position(character, p).unwrap();
        points.iter().map(place).collect()
    };
    let images = places(&mirrored_points(character, mirror, &first.points).unwrap());
    assert!(images.iter().zip(places(&second.points)).all(|(a, b)| a.distance(b) < 1e-4));
    let of = |mark| -> Vec<&Sculpt> { document.sculpts().iter().filter(|l| l.mark == Some(mark)).collect() };
    let (own, other) = (of(first.id), of(second.id));
    assert_eq!(own.len(), other.len());
    let flip = Vec3::new(-1.0, 1.0, 1.0);
    for (own, other) in own.iter().zip(other) {
        let (Form::Drawn(a), Form::Drawn(b)) = (&own.form, &other.form) else { panic!() };
        let at = |s: &Sculpt, k: usize| character.control.positions[s.region.kinematic[k] as usize];
        // A point on an edge counts to one of its two triangles, so few vertices are in one of the regions only.
        let mut alone = 0;
        for (k, offset) in b.iter().enumerate() {
            let image = at(other, k) * flip;
            let twin = (0..a.len())
                .min_by(|i, j| at(own, *i).distance(image).total_cmp(&at(own, *j).distance(image)));
            let twin = twin.unwrap();
            if at(own, twin).distance(image) > 1e-4 {
                alone += 1;
                continue;
            }
            assert!(
                (Vec3::from(a[twin]) * flip).distance(Vec3::from(*offset)) < 1e-3,
                "{offset:?}, {:?}",
                a[twin]
            );
        }
        assert!(alone * 8 <= b.len(), "{alone} of {}", b.len());
        assert!(a.iter().any(|offset| Vec3::from(*offset).length() > 0.02));
    }
}

#[test]
fn with_mirror_a_ring_is_drawn_and_pulled_on_both_limbs() {
    let character = limbs();
    let mut s = script(&character, MarkBy::Pull);
    draw(&mut s, &character, &around(SIDE));
    let sizes = |s: &Script| {
        let document = s.bench.session().document();
        (document.marks().len(), document.sculpts().len(), s.bench.session().history().0)
    };
    assert_eq!(sizes(&s), (2, 0, 2), "{:?}", s.bench.notice());
    assert!(s.bench.session().document().marks().iter().all(|m| m.closed));
    let names: Vec<&str> = s.bench.session().document().marks().iter().map(|m| &*m.name).collect();
    assert_eq!(names, ["Ring 1", "Ring 2"]);
    let hash = s.hash();
    let pull = |s: &mut Script, x: f32, from: f32, to: f32| {
        let at = |r: f32| Vec3::new(x + x.signum() * r, 0.5, 0.0);
        s.at(RIGHT, at(from));
        s.step();
        s.input.hands[RIGHT].draw = 1.0;
        for place in line(at(from), at(to), 9) {
            s.at(RIGHT, place);
            s.step();
        }
        let shown: Vec<Sculpt> = s.bench.sculpts().cloned().collect();
        s.input.hands[RIGHT].draw = 0.0;
        s.step();
        assert_eq!(shown, s.bench.session().document().sculpts(), "both sides show while the hand pulls");
    };
    pull(&mut s, SIDE, 0.15, 0.21);
    assert_eq!(sizes(&s), (2, 2, 3), "one step for both");
    assert_mirrored(&s, &character);
    s.bench.run_command(Command::Undo);
    assert_eq!(s.hash(), hash);
    s.bench.run_command(Command::Redo);
    // The other ring pulls the first one. No third mark and no third layer appear, however often.
    for _ in 0..3 {
        let before = s.hash();
        pull(&mut s, -SIDE, 0.15, 0.17);
        assert_eq!((sizes(&s).0, sizes(&s).1, s.hash() != before), (2, 2, true), "{:?}", s.bench.notice());
        assert_mirrored(&s, &character);
    }
    // The command of the outliner changes the layer that is there.
    s.bench.run_command(Command::Mirror(false));
    pull(&mut s, SIDE, 0.15, 0.2);
    assert_eq!((sizes(&s).0, sizes(&s).1), (2, 2));
    let pulled = s.bench.session().document().sculpts()[0].id;
    let [a, b] = s.bench.session().document().sculpts() else { panic!() };
    let most = |s: &Sculpt| match &s.form {
        Form::Drawn(offsets) => offsets.iter().map(|o| Vec3::from(*o).length()).fold(0.0, f32::max),
        Form::Profile(_) => panic!(),
    };
    assert!(most(a) > most(b) + 0.03, "one side only: {} and {}", most(a), most(b));
    let names = [a.name.clone(), b.name.clone()];
    s.bench.run_command(Command::OtherSide(pulled));
    assert_eq!((sizes(&s).0, sizes(&s).1), (2, 2), "{:?}", s.bench.notice());
    assert_mirrored(&s, &character);
    let [a, b] = s.bench.session().document().sculpts() else { panic!() };
    assert_eq!([a.name.clone(), b.name.clone()], names);
}

#[test]
fn with_mirror_offset_strokes_and_knots_act_on_both_limbs() {
    let character = limbs();
    let mut s = script(&character, MarkBy::Offset);
    draw(&mut s, &character, &up(SIDE + 0.02));
    assert_eq!(s.bench.session().document().marks().len(), 2);
    let skin = s.bench.awaits_mark_offset().unwrap();
    assert!(skin.iter().all(|x| x.x > 0.0), "the mark that the hand has drawn waits");
    let moved = |y: f32| Vec3::new(SIDE + 0.07, y + 0.02, skin[0].z + 0.1);
    let steps = s.bench.session().history().0;
    s.draw(RIGHT, &line(moved(0.2), moved(0.8), 30));
    assert_eq!((s.bench.session().document().sculpts().len(), s.bench.session().history().0), (2, steps + 1));
    assert_mirrored(&s, &character);
    // The stroke again changes both layers.
    s.bench.run_command(Command::RedrawOffset);
    let more = Vec3::Z * 0.1;
    let again = line(moved(0.2) + more, moved(0.8) + more, 30);
    s.at(RIGHT, again[0]);
    s.step();
    s.input.hands[RIGHT].draw = 1.0;
    for place in &again {
        s.at(RIGHT, *place);
        s.step();
    }
    let document = s.bench.session().document();
    let changed = s.bench.sculpts().zip(document.sculpts()).filter(|(shown, old)| shown.form != old.form);
    assert_eq!((changed.count(), s.bench.sculpts().count()), (2, 2), "both sides show while the hand draws");
    s.input.hands[RIGHT].draw = 0.0;
    s.step();
    assert_eq!(s.bench.session().document().sculpts().len(), 2);
    assert_mirrored(&s, &character);
    let hash = s.hash();
    // The knot at the top goes a quarter around the limb, and its image around the other one.
    s.bench.run_command(Command::MarkBy(MarkBy::Knots));
    let steps = s.bench.session().history().0;
    for side in [1.0, -1.0] {
        let ends = |s: &Script| {
            let end = |m: &crate::surface::SurfaceStroke| {
                s.bench.context.body.bind_position(&character, m.points.last().unwrap()).unwrap()
            };
            s.bench.session().document().marks().iter().map(end).collect::<Vec<_>>()
        };
        let before = ends(&s);
        s.at(RIGHT, before[usize::from(side < 0.0)]);
        s.step();
        s.input.hands[RIGHT].draw = 1.0;
        s.step();
        assert!(s.bench.is_busy());
        for i in 0..=30 {
            let angle = std::f32::consts::FRAC_PI_2 * i as f32 / 30.0;
            let out = Vec3::new(side * angle.sin(), 0.0, angle.cos());
            let place = |r: f32| out * r + Vec3::new(side * SIDE, 0.8, 0.0);
            s.at(RIGHT, place(0.16));
            s.input.hands[RIGHT].surface = seen(&character, place(0.25), -out, s.input.time, 1.0);
            s.step();
        }
        s.input.hands[RIGHT].draw = 0.0;
        s.input.hands[RIGHT].surface = None;
        s.step();
        assert_eq!(s.bench.session().history().0, steps + 1, "{:?}", s.bench.notice());
        let after = ends(&s);
        assert!(before.iter().zip(&after).all(|(a, b)| a.distance(*b) > 0.1), "{before:?} {after:?}");
        assert_mirrored(&s, &character);
        s.bench.run_command(Command::Undo);
        assert_eq!(s.hash(), hash);
    }
}

#[test]
fn a_mark_over_the_middle_stays_one_and_old_takes_draw_on_one_side() {
    let character = biped();
    let mut s = script(&character, MarkBy::Pull);
    let across = |i: usize| (Vec3::new(-0.02 + 0.001 * i as f32, 1.005, 0.3), Vec3::NEG_Z);
    draw(&mut s, &character, &(0..40).map(across).collect::<Vec<_>>());
    assert_eq!(s.bench.session().document().marks().len(), 1);
    let told = s.bench.notice().unwrap();
    assert!(told.contains("mirror: this mark reaches over the middle of the body"), "{told}");
    let character = limbs();
    for (rules, count) in [(Rules::Now, 2), (Rules::Thirteenth, 1)] {
        let mut s = script(&character, MarkBy::Pull);
        s.bench.keep_to(rules);
        draw(&mut s, &character, &around(SIDE));
        assert_eq!(s.bench.session().document().marks().len(), count, "{rules:?}");
        let at = |r: f32| Vec3::new(SIDE + r, 0.5, 0.0);
        s.at(RIGHT, at(0.15));
        s.step();
        s.draw(RIGHT, &line(at(0.15), at(0.21), 9));
        assert_eq!(s.bench.session().document().sculpts().len(), count, "{rules:?}");
        // In takes of version 13, each run of the command adds another copy.
        let first = s.bench.session().document().sculpts()[0].id;
        (0..2).for_each(|_| s.bench.run_command(Command::OtherSide(first)));
        let layers = s.bench.session().document().sculpts().len();
        assert_eq!(layers, if count == 2 { 2 } else { 3 }, "{rules:?}");
    }
}
