//! Scenarios: grab the body with both hands, move and scale the world, draw a ring around a limb.

use super::bed::Runtime;
use super::stage::{RADIUS, Session, joints, shape, words};
use sinew::base::math::Vec3;
use sinew::workbench::{Command, Pen, Tool};

pub fn two_hands_take_hold_of_the_body(s: &mut Session, runtime: &Runtime) {
    let hash = s.app.hash();
    let (low, high) = (words(s.stage(Vec3::Y * 0.3)), words(s.stage(Vec3::Y * 1.5)));
    s.play(&format!(
        "left at {low} &\nright at {high}\nwait 0.07\nleft squeeze 1 &\nright squeeze 1\nwait 0.07"
    ));
    s.play("right by 0.35 -0.12 0 over 0.3\nwait 0.1\nleft squeeze 0 &\nright squeeze 0\nwait 0.07");
    assert_ne!(s.app.hash(), hash, "nothing was taken hold of");
    assert_eq!(s.app.frame.history, [2, 0], "one step of undo");
    s.app.picture("grab");
    let (model, document) = s.save(runtime);
    let joints = joints(&model, &document);
    assert!(joints[3].x > 0.15, "the upper end did not follow: {joints:?}");
    assert!(joints[0].length() < 0.1, "the lower end went along: {joints:?}");
    for pair in joints.windows(2) {
        assert!((pair[0].distance(pair[1]) - 0.45).abs() < 1e-3, "a bone changed its length: {joints:?}");
    }
}

pub fn the_world_is_pulled_and_scaled_and_no_document_changes(s: &mut Session, runtime: &Runtime) {
    let hash = s.app.hash();
    let before = s.app.frame.world_from_room;
    s.play("right at 0.5 1.2 0.2\nright squeeze 1\nwait 0.07\nright by 0.1 0.2 -0.3 over 0.4\nwait 0.07");
    s.play("right squeeze 0\nwait 0.07");
    let moved = s.app.frame.world_from_room;
    let expected = before.translation - Vec3::new(0.1, 0.2, -0.3);
    assert!(moved.translation.distance(expected) < 2e-3, "{before:?} {moved:?}");
    s.play(
        "left at -0.3 1.2 0.2 &\nright at 0.3 1.2 0.2\nwait 0.07\nleft squeeze 1 &\nright squeeze 1\nwait 0.07",
    );
    s.play("left by -0.3 0 0 over 0.4 &\nright by 0.3 0 0 over 0.4\nwait 0.07\nleft squeeze 0 &\nright squeeze 0\nwait 0.07");
    let scaled = s.app.frame.world_from_room;
    assert!((scaled.scale - 0.5).abs() < 0.01, "{scaled:?}");
    // `UndoNavigation` switches back and forth between the last two views.
    for wanted in [moved, scaled, moved] {
        s.app.press(Command::UndoNavigation);
        let now = s.app.frame.world_from_room;
        let apart = now.translation.distance(wanted.translation);
        assert!(apart < 1e-4 && (now.scale - wanted.scale).abs() < 1e-5, "{now:?} {wanted:?}");
    }
    assert_eq!((s.app.hash(), s.app.frame.history), (hash.clone(), [1, 0]));
    let (_, document) = s.save(runtime);
    assert_eq!(document.hash(), hash);
}

pub fn a_ring_is_drawn_round_a_limb_by_hand_motion_alone(s: &mut Session, runtime: &Runtime) {
    const HEIGHT: f32 = 0.7;
    s.app.press(Command::Tool(Tool::Skin));
    s.app.press(Command::Pen(Pen::Steady));
    let head = s.app.frame.head;
    // The hand circles the capsule 10 cm from the skin and always points at the capsule's axis.
    let axis = words(s.stage(Vec3::Y * HEIGHT));
    let start = words(s.stage(Vec3::new(0.0, HEIGHT, RADIUS + 0.1)));
    s.play(&format!("right at {start}\nright look {axis}\nwait 0.1"));
    s.app.until_frame(100, "seeing the skin", |f| f.surface[1].is_some());
    s.play(&format!(
        "right trigger 1\nright arc {axis} 0 1 0 362 over 2\nwait 0.07\nright trigger 0\nwait 0.1"
    ));
    assert_eq!(s.app.frame.head, head);
    s.app.picture("ring");
    // A straight mark: the hand goes up along the front, with a detour to the side.
    s.app.press(Command::Pen(Pen::Straight));
    let low = words(s.stage(Vec3::new(0.0, 0.4, RADIUS + 0.1)));
    let ahead = words(s.stage(Vec3::new(0.0, 0.4, 0.0)));
    s.play(&format!("right at {low}\nright look {ahead}\nwait 0.1\nright trigger 1\nwait 0.1"));
    s.play(
        "right by 0.08 0.1 0 over 0.4\nright by -0.08 0.1 0 over 0.4\nwait 0.07\nright trigger 0\nwait 0.1",
    );
    s.app.picture("straight_mark");
    s.app.press(Command::Pen(Pen::Free));
    let (model, document) = s.save(runtime);
    let [ring, line] = document.marks() else { panic!("{} marks", document.marks().len()) };
    assert!(ring.closed && !line.closed, "{} {}", ring.closed, line.closed);
    assert!(ring.points.len() > 30, "{} points", ring.points.len());
    let (shape, mesh) = (shape(), &model.bound.character.display);
    let edge =
        (shape.length / shape.rings as f32).max(std::f32::consts::TAU * RADIUS / shape.segments as f32);
    let place = |p: &sinew::surface::SurfacePoint| -> Vec3 {
        let corners = mesh.triangles[p.triangle as usize].map(|v| mesh.positions[v as usize]);
        corners.iter().zip(p.barycentrics).map(|(c, w)| *c * w).sum()
    };
    for point in ring.points.iter().map(place) {
        let off = Vec3::new(point.x.hypot(point.z) - RADIUS, point.y - HEIGHT, 0.0).length();
        assert!(off < edge, "{point} is {off} off the ring, an edge is {edge}");
    }
    let line: Vec<Vec3> = line.points.iter().map(place).collect();
    let [start, end] = [line[0], line[line.len() - 1]];
    assert!((start.y - 0.4).abs() < 0.02 && (end.y - 0.6).abs() < 0.02, "{start} {end}");
    assert!(line.iter().all(|p| p.x.abs() < 0.02 && p.z > 0.0), "the detour is in the mark: {line:?}");
}
