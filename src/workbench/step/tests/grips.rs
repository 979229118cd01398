//! Grips on the skin of a bare capsule: points, regions, moves, holds, keys, and replay.

use super::marks::seen;
use super::*;
use crate::base::GripId;
use crate::bind::shapes::Shape;
use crate::rig::GripHold;
use crate::surface::Grip;
use crate::workbench::{Command, Tool};

fn bare() -> (Script, Arc<Character>) {
    let shape = Shape { bones: 1, rings: 24, segments: 12, radius: 0.15, length: 1.8, blend: 0.3 };
    let character = Arc::new(Character::from_asset(&shape.bare_asset()).unwrap());
    let mut s = Script::new(&character);
    s.bench.run_command(Command::Tool(Tool::Grip));
    (s, character)
}

fn grips(s: &Script) -> &[Grip] {
    s.bench.session().document().grips()
}

/// Puts the tip near the skin and lets the probe camera see the skin in the rest pose.
fn aim(s: &mut Script, character: &Character, from: Vec3, towards: Vec3) {
    let way = (towards - from).normalize();
    s.turned(RIGHT, from, Quat::from_rotation_arc(Vec3::NEG_Z, way));
    let draw = s.input.hands[RIGHT].draw;
    s.input.hands[RIGHT].surface = seen(character, from, way, s.input.time + DT, draw);
    s.step();
}

/// Presses the trigger once where the hand points.
fn click(s: &mut Script, character: &Character, from: Vec3, towards: Vec3) {
    aim(s, character, from, towards);
    s.input.hands[RIGHT].draw = 1.0;
    aim(s, character, from, towards);
    s.input.hands[RIGHT].draw = 0.0;
    aim(s, character, from, towards);
}

/// Drags from a place to another with the trigger held, away from all skin.
fn drag(s: &mut Script, places: &[Vec3]) {
    s.input.hands[RIGHT].surface = None;
    s.draw(RIGHT, places);
}

/// Squeezes once at a place.
fn squeeze(s: &mut Script, place: Vec3) {
    s.input.hands[RIGHT].surface = None;
    s.at(RIGHT, place);
    s.step();
    s.input.hands[RIGHT].grab = 1.0;
    s.step();
    s.input.hands[RIGHT].grab = 0.0;
    s.step();
}

#[test]
fn points_are_added_moved_held_removed_and_replayed() {
    let (mut s, character) = bare();
    let side = |y: f32| [Vec3::new(0.3, y, 0.0), Vec3::new(0.0, y, 0.0)];
    for y in [0.1, 0.9, 1.7] {
        click(&mut s, &character, side(y)[0], side(y)[1]);
    }
    assert_eq!(grips(&s).len(), 3, "{:?}", s.bench.notice());
    assert_eq!(s.bench.session().document().deformer().method, "fast");
    assert!(s.bench.output().probes[RIGHT].is_some());
    let place = |s: &Script, id: usize| {
        let v = grips(s)[id].vertices.iter().next().unwrap() as usize;
        character.control.positions[v] + Vec3::from(grips(s)[id].translation)
    };
    let first = place(&s, 2);
    assert!(first.distance(Vec3::new(0.15, 1.7, 0.0)) < 0.1, "{first}");
    // The same place again grabs the point; without motion nothing changes.
    let hash = s.hash();
    drag(&mut s, &[first, first]);
    assert_eq!(s.hash(), hash);
    let by = Vec3::new(0.2, 0.1, 0.05);
    drag(&mut s, &[first, first + by * 0.5, first + by]);
    assert!(place(&s, 2).distance(first + by) < 1e-5, "{:?}", grips(&s)[2]);
    assert_eq!(s.bench.pose().grips[2].translation, grips(&s)[2].translation);
    // One undo step.
    s.bench.run_command(Command::Undo);
    assert_eq!(s.hash(), hash);
    s.bench.run_command(Command::Redo);
    // A squeeze changes what the grip holds, and grabs nothing.
    let holds = |s: &Script| grips(s)[2].hold;
    let view = s.bench.output().world_from_room;
    for wanted in [GripHold::Full, GripHold::Free] {
        squeeze(&mut s, first + by);
        assert_eq!(holds(&s), wanted);
    }
    assert_eq!(s.bench.output().world_from_room, view);
    s.bench.run_command(Command::GripHold);
    assert_eq!((holds(&s), s.bench.selected_grip()), (GripHold::Position, Some(grips(&s)[2].id)));
    // Away from the skin, a press adds nothing.
    drag(&mut s, &[Vec3::splat(3.0), Vec3::splat(3.1)]);
    assert_eq!(grips(&s).len(), 3);
    s.bench.run_command(Command::RemoveStroke);
    assert_eq!(grips(&s).len(), 2);
    s.bench.run_command(Command::RemoveStroke);
    s.bench.run_command(Command::RemoveStroke);
    assert!(grips(&s).is_empty());
    s.bench.run_command(Command::RemoveStroke);
    assert!(s.bench.notice().is_some_and(|n| n.contains("nothing to remove")));
    // Grips of a document that was left without them stay undoable to the first step.
    while s.bench.session().history().0 > 1 {
        s.bench.run_command(Command::Undo);
    }
    assert_eq!(s.bench.session().document().deformer().method, "");
    // Recorded input gives the same document.
    let skeleton = Arc::new(character.skeleton.clone());
    let recording = s.bench.session().recording();
    let replayed = Session::replay(&recording, Box::new(move |_| Ok(skeleton.clone()))).unwrap();
    assert_eq!(replayed.document().hash(), s.hash());
}

/// Draws a circle of this radius on the side of the capsule, seen from +X.
fn circle(s: &mut Script, character: &Character, radius: f32, part: f32) {
    let at = |i: usize| {
        let angle = part * std::f32::consts::TAU * i as f32 / 40.0;
        Vec3::new(0.3, 0.9 + radius * angle.cos(), 0.6 * radius * angle.sin())
    };
    aim(s, character, at(0), at(0) - Vec3::X);
    s.input.hands[RIGHT].draw = 1.0;
    for i in 0..=40 {
        aim(s, character, at(i), at(i) - Vec3::X);
    }
    s.input.hands[RIGHT].draw = 0.0;
    aim(s, character, at(40), at(40) - Vec3::X);
}

#[test]
fn a_closed_stroke_gives_the_region_inside_which_rotates_with_the_hand() {
    let (mut s, character) = bare();
    circle(&mut s, &character, 0.2, 1.0);
    assert_eq!(grips(&s).len(), 1, "{:?}", s.bench.notice());
    let region: Vec<u32> = grips(&s)[0].vertices.iter().collect();
    let positions = &character.control.positions;
    assert!(grips(&s)[0].is_region());
    let inside = |v: &u32| (positions[*v as usize] - Vec3::Y * 0.9).y.abs() < 0.32;
    assert!(region.iter().all(inside), "{region:?}");
    let middle = (0..positions.len() as u32)
        .min_by(|a, b| {
            let away = |v: &u32| positions[*v as usize].distance(Vec3::new(0.15, 0.9, 0.0));
            away(a).total_cmp(&away(b))
        })
        .unwrap();
    assert!(region.contains(&middle));
    assert!(region.len() < positions.len() / 4);
    // An open stroke gives a point at its start.
    s.bench.run_command(Command::Undo);
    circle(&mut s, &character, 0.2, 0.5);
    assert_eq!((grips(&s).len(), grips(&s)[0].is_region()), (1, false));
    s.bench.run_command(Command::Undo);
    s.bench.run_command(Command::Redo);
    s.bench.run_command(Command::Undo);
    circle(&mut s, &character, 0.2, 1.0);
    // Held in full, it rotates with the hand.
    let centre = region.iter().map(|&v| positions[v as usize]).sum::<Vec3>() / region.len() as f32;
    squeeze(&mut s, centre);
    assert_eq!(grips(&s)[0].hold, GripHold::Full);
    s.input.hands[RIGHT].surface = None;
    s.at(RIGHT, centre);
    s.step();
    s.input.hands[RIGHT].draw = 1.0;
    s.step();
    let turn = Quat::from_rotation_x(0.6);
    s.turned(RIGHT, centre + Vec3::X * 0.1, turn);
    s.step();
    s.input.hands[RIGHT].draw = 0.0;
    s.step();
    let grip = &grips(&s)[0];
    assert!(Quat::from_array(grip.rotation).angle_between(turn) < 1e-3, "{grip:?}");
    assert!(Vec3::from(grip.translation).distance(Vec3::X * 0.1) < 1e-4, "{grip:?}");
    // An interrupted drag changes nothing.
    let hash = s.hash();
    s.at(RIGHT, centre + Vec3::X * 0.1);
    s.step();
    s.input.hands[RIGHT].draw = 1.0;
    s.step();
    s.at(RIGHT, centre);
    s.step();
    assert!(s.bench.is_busy());
    s.bench.interrupt();
    assert_eq!((s.hash(), s.bench.is_busy()), (hash, false));
}

#[test]
fn moved_grips_become_keys_and_grips_of_a_motion_are_taken() {
    let (mut s, character) = bare();
    click(&mut s, &character, Vec3::new(0.3, 1.7, 0.0), Vec3::new(0.0, 1.7, 0.0));
    let v = grips(&s)[0].vertices.iter().next().unwrap() as usize;
    let first = character.control.positions[v];
    s.bench.run_command(Command::Key);
    s.bench.run_command(Command::AutoKey(true));
    s.bench.run_command(Command::Scrub(1.0));
    drag(&mut s, &[first, first + Vec3::X * 0.2]);
    let document = s.bench.session().document();
    let keyed: Vec<_> = document.motion().channels().iter().filter(|c| c.target.grip().is_some()).collect();
    assert!(keyed.iter().any(|c| c.times == [0.0, 1.0]), "{keyed:?}");
    s.bench.run_command(Command::AutoKey(false));
    s.bench.run_command(Command::Scrub(0.5));
    assert!((s.bench.pose().grips[0].translation[0] - 0.1).abs() < 1e-4, "{:?}", s.bench.pose().grips);
    // Taking the displayed pose takes the grips with it.
    s.bench.take_pose();
    assert!((grips(&s)[0].translation[0] - 0.1).abs() < 1e-4, "{:?}", grips(&s));
}

/// Returns the place of a grip's centre in the rest shape, moved by its translation.
fn centre(character: &Character, grip: &Grip) -> Vec3 {
    let all: Vec<Vec3> = grip.vertices.iter().map(|v| character.control.positions[v as usize]).collect();
    all.iter().sum::<Vec3>() / all.len() as f32 + Vec3::from(grip.translation)
}

#[test]
fn with_mirror_on_both_sides_get_grips_and_follow() {
    let (mut s, character) = bare();
    s.bench.run_command(Command::Mirror(true));
    assert_eq!(s.bench.notice(), None, "a bare mesh has sides too");
    let flip = Vec3::new(-1.0, 1.0, 1.0);
    let pair = |s: &Script, [a, b]: [usize; 2]| [a, b].map(|k| centre(&character, &grips(s)[k]));
    click(&mut s, &character, Vec3::new(0.3, 1.7, 0.02), Vec3::new(0.0, 1.7, 0.02));
    assert_eq!((grips(&s).len(), s.bench.session().history().0), (2, 2), "{:?}", s.bench.notice());
    let [first, other] = pair(&s, [0, 1]);
    assert!(first.x > 0.1 && other.distance(first * flip) < 1e-4, "{first} {other}");
    // A drag moves both, in one step; the other one is the mirror image.
    let hash = s.hash();
    let by = Vec3::new(0.2, 0.1, 0.05);
    drag(&mut s, &[first, first + by * 0.5, first + by]);
    let [own, other] = pair(&s, [0, 1]);
    assert!(own.distance(first + by) < 1e-5 && other.distance(own * flip) < 1e-4, "{own} {other}");
    s.bench.run_command(Command::Undo);
    assert_eq!(s.hash(), hash);
    s.bench.run_command(Command::Redo);
    // So does the partner when it is dragged back.
    drag(&mut s, &[other, other - by * flip]);
    let [own, other] = pair(&s, [0, 1]);
    assert!(own.distance(first) < 1e-4 && other.distance(first * flip) < 1e-4, "{own} {other}");
    // The holds change together, by the hand and by the panel, and a free pair is held again as a pair.
    squeeze(&mut s, first);
    assert!(grips(&s).iter().all(|g| g.hold == GripHold::Full));
    let free = Grip { hold: GripHold::Free, ..grips(&s)[1].clone() };
    s.bench.run_command(Command::Change(Box::new(Edit::SetGrip(Box::new(free))), false));
    assert!(grips(&s).iter().all(|g| g.hold == GripHold::Free));
    s.bench.run_command(Command::GripHold);
    assert!(grips(&s).iter().all(|g| g.hold == GripHold::Position));
    let [own, other] = pair(&s, [0, 1]);
    assert!(other.distance(own * flip) < 1e-4, "{own} {other}");
    // Numbers of the panel move and rotate the partner.
    let turn = Quat::from_rotation_y(0.4).to_array();
    let edit = Edit::MoveGrip { id: grips(&s)[0].id, translation: [0.0, 0.3, -0.1], rotation: turn };
    s.bench.run_command(Command::Change(Box::new(edit), false));
    let back = Quat::from_array(grips(&s)[1].rotation);
    assert!(back.angle_between(Quat::from_rotation_y(-0.4)) < 1e-4, "{back}");
    assert!(Vec3::from(grips(&s)[1].translation).distance(Vec3::new(0.0, 0.3, -0.1)) < 1e-4);
    s.bench.run_command(Command::Undo);
    // In the plane, there is one grip.
    click(&mut s, &character, Vec3::new(0.0, 0.9, 0.3), Vec3::new(0.0, 0.9, 0.0));
    assert_eq!((grips(&s).len(), s.bench.notice()), (3, None));
    // A region has a mirror image too.
    s.bench.run_command(Command::RemoveStroke);
    circle(&mut s, &character, 0.2, 1.0);
    assert_eq!(grips(&s).len(), 4, "{:?}", s.bench.notice());
    let [own, other] = [2, 3].map(|k| &grips(&s)[k]);
    assert_eq!(own.vertices.count(), other.vertices.count());
    let [a, b] = pair(&s, [2, 3]);
    assert!(own.is_region() && b.distance(a * flip) < 1e-3, "{a} {b}");
    // Both are removed together; without mirror, each alone.
    s.bench.run_command(Command::RemoveStroke);
    assert_eq!(grips(&s).len(), 2);
    s.bench.run_command(Command::Mirror(false));
    s.bench.run_command(Command::RemoveStroke);
    assert_eq!(grips(&s).len(), 1);
    // Recorded input gives the same document.
    let skeleton = Arc::new(character.skeleton.clone());
    let replayed =
        Session::replay(&s.bench.session().recording(), Box::new(move |_| Ok(skeleton.clone()))).unwrap();
    assert_eq!(replayed.document().hash(), s.hash());
}

#[test]
fn on_a_caged_mesh_a_grip_is_where_its_skin_is() {
    use crate::cage::Coordinates;
    use crate::document::CageMove;
    use crate::scene::{CageSource, Evaluator, Model, Where};
    const SHEAR: f32 = 0.1;
    let shape = Shape { bones: 1, rings: 24, segments: 12, radius: 0.15, length: 1.8, blend: 0.3 };
    let model = Model::bind(shape.bare_asset(), &Default::default(), std::time::Duration::ZERO).unwrap();
    let source = CageSource::Made(40);
    let (new, _) = model.new_cage(&source, Coordinates::MeanValue, &Default::default()).unwrap();
    let character = model.bound.character.clone();
    let mut s = Script::new(&character);
    s.bench.run_command(Command::Tool(Tool::Grip));
    let cage = &new.cage.mesh.positions;
    let up = |v: usize| CageMove { vertex: v as u32, offset: [0.0, 0.0, SHEAR * cage[v].y as f32] };
    s.bench.change(Edit::SetCage(Some(Box::new(new.cage.clone()))));
    s.bench.change(Edit::MoveCage((0..cage.len()).map(up).collect()));
    s.bench.know_coupling((new.cage.mesh.clone(), new.cage.coordinates), new.coupling.clone());
    let evaluated = |s: &Script| {
        let document = s.bench.session().document();
        let mut evaluator = Evaluator::new(&Where::Cpu, &model, &document.recipe().unwrap()).unwrap();
        evaluator.set_document(&model, document).unwrap();
        evaluator.evaluate(&model, &s.bench.session().posed()).unwrap().control
    };
    // The hand sees the sheared skin.
    let moved = |x: Vec3| x + Vec3::Z * SHEAR * x.y;
    let sheared: Vec<Vec3> = character.control.positions.iter().map(|x| moved(*x)).collect();
    let click = |s: &mut Script, y: f32| {
        let (from, way) = (moved(Vec3::new(0.3, y, 0.0)), Vec3::NEG_X);
        for draw in [0.0, 1.0, 0.0] {
            s.turned(RIGHT, from, Quat::from_rotation_arc(Vec3::NEG_Z, way));
            s.input.hands[RIGHT].draw = draw;
            let rest = seen(&character, Vec3::new(0.3, y, 0.0), way, s.input.time + DT, draw);
            let place = |mut sample: SurfaceSample| {
                let corners = character.display.triangles[sample.triangle as usize];
                let x = corners.map(|v| sheared[character.display.control_of[v as usize] as usize]);
                sample.position = x.iter().zip(sample.barycentrics).map(|(x, w)| *x * w).sum();
                sample
            };
            s.input.hands[RIGHT].surface = rest.map(place);
            s.step();
        }
    };
    for y in [0.1, 0.9, 1.7] {
        click(&mut s, y);
    }
    assert_eq!(grips(&s).len(), 3, "{:?}", s.bench.notice());
    let off = |s: &Script, by: Vec3| {
        let shape = evaluated(s);
        let away = |g: &Grip| {
            let v = g.vertices.iter().next().unwrap() as usize;
            shape[v].distance(sheared[v] + if g.id.0 == 2 { by } else { Vec3::ZERO })
        };
        grips(s).iter().map(away).fold(0.0, f32::max)
    };
    assert!(off(&s, Vec3::ZERO) < 5e-3, "new grips move nothing: {}", off(&s, Vec3::ZERO));
    // The hand takes the grip at its skin, and the skin follows.
    let v = grips(&s)[2].vertices.iter().next().unwrap() as usize;
    let by = Vec3::new(0.1, 0.1, 0.0);
    drag(&mut s, &[sheared[v], sheared[v] + by * 0.5, sheared[v] + by]);
    println!("the skin is {} m off", off(&s, by));
    assert!(off(&s, by) < 0.04, "{}", off(&s, by));
}

/// The vertices of a stroke's baseline belong to the cage on which it was drawn.
#[test]
fn another_cage_ends_the_baseline_of_a_cage_stroke() {
    use crate::cage::Coordinates;
    use crate::scene::{CageSource, Model, NewCage};
    use crate::workbench::CageSet;
    let shape = Shape { bones: 2, rings: 24, segments: 12, radius: 0.15, length: 1.8, blend: 0.3 };
    let model = Model::bind(shape.capsule_asset(), &Default::default(), std::time::Duration::ZERO).unwrap();
    let cages: Vec<NewCage> = [40, 120]
        .map(|n| model.new_cage(&CageSource::Made(n), Coordinates::MeanValue, &Default::default()).unwrap().0)
        .into();
    let mut s = Script::new(&model.bound.character);
    s.bench.run_command(Command::Tool(Tool::Cage));
    s.bench.run_command(Command::CageSet(CageSet::Stroke));
    for new in &cages {
        s.bench.change(Edit::SetCage(Some(Box::new(new.cage.clone()))));
        s.bench.know_coupling((new.cage.mesh.clone(), new.cage.coordinates), new.coupling.clone());
    }
    s.step();
    let top = cages[1].cage.mesh.positions.iter().map(|x| x.as_vec3()).max_by(|a, b| a.y.total_cmp(&b.y));
    let top = top.unwrap();
    s.draw(RIGHT, &[top, top - Vec3::Y * 0.2, top - Vec3::Y * 0.4]);
    s.step();
    assert!(s.bench.awaits_cage_offset(), "{:?}", s.bench.notice());
    s.bench.run_command(Command::Undo);
    let coupling = (cages[0].cage.mesh.clone(), cages[0].cage.coordinates);
    s.bench.know_coupling(coupling, cages[0].coupling.clone());
    s.step();
    assert!(!s.bench.awaits_cage_offset());
    // A cage whose coupling failed says why.
    s.bench.run_command(Command::Redo);
    let error = crate::base::Error::input("the cage is open", "close it");
    s.bench.coupling_failed(&cages[0].cage, &error);
    s.draw(RIGHT, &[top, top - Vec3::Y * 0.2]);
    assert!(s.bench.notice().is_some_and(|n| n.contains("wait a moment")), "{:?}", s.bench.notice());
    s.bench.coupling_failed(&cages[1].cage, &error);
    s.draw(RIGHT, &[top, top - Vec3::Y * 0.2]);
    assert!(s.bench.notice().is_some_and(|n| n.contains("the cage is open")), "{:?}", s.bench.notice());
}

#[test]
fn a_grab_of_the_body_tells_that_grips_hold_the_skin() {
    for (method, hold, told) in [
        ("fast", GripHold::Position, true),
        ("fast", GripHold::Free, false),
        ("lbs", GripHold::Position, false),
    ] {
        let mut s = Script::biped();
        let grip = Grip { hold, ..Grip::new(GripId(0), [0]) };
        s.bench.change(Edit::AddGrip { index: None, grip: Box::new(grip) });
        s.bench.run_command(Command::Deformer(method.into()));
        s.bench.run_command(Command::Tool(Tool::Grab));
        let hand = s.joint(HAND);
        s.at(RIGHT, hand);
        s.step();
        s.input.hands[RIGHT].grab = 1.0;
        s.step();
        assert!(s.bench.is_busy());
        let notice = s.bench.told().is_some_and(|n| n.starts_with("1 grip holds"));
        assert_eq!(notice, told, "{method}, {hold:?}: {:?}", s.bench.notice());
    }
}
