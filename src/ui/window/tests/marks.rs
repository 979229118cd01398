//! Tests of strokes on the skin by the mouse: rings across a limb, offset strokes, knots.

use super::*;
use crate::bind::Character;
use crate::bind::shapes::capsule;
use crate::surface::SurfacePoint;
use crate::workbench::MarkBy;
use std::sync::Arc;

const SHIFT: Modifiers = Modifiers { shift: true, ..Modifiers::NONE };

/// A capsule along y, seen from the front, with the skin tool.
fn table() -> (Table, Arc<Character>) {
    let character = Arc::new(capsule(2, 24, 24, 0.15, 1.0));
    let mut t = Table::with(character.clone());
    t.key(Key::D, Modifiers::NONE);
    (t, character)
}

fn place(character: &Character, p: &SurfacePoint) -> Vec3 {
    let corners = character.control.triangles[p.triangle as usize];
    corners.iter().zip(p.barycentrics).map(|(&v, w)| character.control.positions[v as usize] * w).sum()
}

fn way(t: &Table, a: Vec3, b: Vec3, count: usize) -> Vec<[f32; 2]> {
    let [a, b] = [a, b].map(|x| t.pixel(x));
    let at = |i: usize| [0, 1].map(|k| a[k] + (b[k] - a[k]) * i as f32 / (count - 1) as f32);
    (0..count).map(at).collect()
}

#[test]
fn a_stroke_across_a_limb_is_the_ring_in_the_plane_of_stroke_and_eye() {
    let (mut t, character) = table();
    let (a, b) = (Vec3::new(-0.35, 0.4, 0.0), Vec3::new(0.35, 0.6, 0.0));
    let stroke = way(&t, a, b, 30);
    // The ring shows before the release: as soon as the stroke leaves the limb on the other side.
    let green = u32::from_le_bytes(crate::workbench::tools::RING);
    let shown = |t: &Table| {
        let lines = t.desk.output().lines.segments.iter().filter(|l| l.color_a == green);
        lines.flat_map(|l| [l.a, l.b]).collect::<Vec<_>>()
    };
    t.to(stroke[0]);
    t.button(PointerButton::Primary, true);
    for at in &stroke[..15] {
        t.to(*at);
        assert!(shown(&t).is_empty());
    }
    stroke[15..].iter().for_each(|at| t.to(*at));
    t.frames(2);
    let preview = shown(&t);
    assert!(preview.iter().any(|x| x[2] > 0.1) && preview.iter().any(|x| x[2] < -0.1), "{preview:?}");
    assert_eq!(t.bench.drawn_mark(), Some("Ring across the limb"));
    t.button(PointerButton::Primary, false);
    t.frames(12);
    let marks = t.bench.session().document().marks();
    assert_eq!((marks.len(), marks[0].closed), (1, true), "{:?}", t.bench.notice());
    let eye = t.desk.camera().eye();
    let (first, last) =
        (t.desk.eyepiece(stroke[0]).0.ray(stroke[0]), t.desk.eyepiece(stroke[29]).0.ray(stroke[29]));
    let normal = first.1.cross(last.1).normalize();
    let mut around = [false; 4];
    for p in &marks[0].points {
        let x = place(&character, p);
        assert!((x - eye).dot(normal).abs() < 2e-3, "{x} is off the plane");
        around[usize::from(x.x > 0.0) + 2 * usize::from(x.z > 0.0)] = true;
    }
    assert_eq!(around, [true; 4], "it goes around behind");
    assert_eq!(t.bench.drawn_mark(), Some("Ring across the limb"));
    t.key(Key::X, Modifiers::NONE);
    // A stroke that begins or ends on the skin stays open.
    for (from, to) in [(Vec3::new(-0.1, 0.5, 0.0), b), (a, Vec3::new(0.1, 0.5, 0.0))] {
        let stroke = way(&t, from, to, 30);
        t.drag(PointerButton::Primary, &stroke);
        let marks = t.bench.session().document().marks();
        assert_eq!((marks.len(), marks[0].closed), (1, false));
        t.key(Key::X, Modifiers::NONE);
    }
    // A stroke beside the body is none.
    let stroke = way(&t, Vec3::new(0.3, 0.2, 0.0), Vec3::new(0.3, 0.8, 0.0), 20);
    t.drag(PointerButton::Primary, &stroke);
    assert!(t.bench.session().document().marks().is_empty() && !t.bench.is_busy());
}

#[test]
fn a_pulled_ring_lights_up_and_is_pulled_again_where_it_shows() {
    let (mut t, _) = table();
    let stroke = way(&t, Vec3::new(-0.35, 0.5, 0.0), Vec3::new(0.35, 0.5, 0.0), 30);
    t.drag(PointerButton::Primary, &stroke);
    let white = u32::from_le_bytes([255; 4]);
    let lit = |t: &Table| t.desk.output().lines.segments.iter().any(|l| l.color_a == white);
    let grown = |t: &Table| {
        let document = t.bench.session().document();
        assert_eq!((document.marks().len(), document.sculpts().len()), (1, 1), "{:?}", t.bench.notice());
        let Form::Drawn(offsets) = &document.sculpts()[0].form else { panic!() };
        offsets.iter().map(|o| Vec3::from(*o).length()).sum::<f32>() / offsets.len() as f32
    };
    let mut radius = 0.15;
    for waits in [true, false] {
        // The picture shows the side of the ring near its outermost point.
        let side = |out: f32| Vec3::new(0.95 * (radius + out), 0.5, 0.31 * (radius + out));
        let stroke = way(&t, side(0.0), side(0.06), 12);
        t.to(t.pixel(Vec3::new(0.0, 0.8, 0.15)));
        t.frames(3);
        assert!(!lit(&t), "the mouse is away from the ring");
        t.to(stroke[0]);
        if waits {
            // The skin under the mouse is known in the next frame, without another event.
            t.frame();
            assert!(lit(&t) && t.desk.output().dirty);
            t.frame();
            assert!(lit(&t) && t.desk.output().pick.is_none(), "the window can sleep");
        }
        t.button(PointerButton::Primary, true);
        t.frames(2);
        stroke.iter().for_each(|at| t.to(*at));
        t.button(PointerButton::Primary, false);
        t.frames(12);
        radius = 0.15 + grown(&t);
        assert!(radius > if waits { 0.18 } else { 0.22 }, "{waits}: {radius}");
    }
}

#[test]
fn an_offset_stroke_lies_at_the_depth_of_its_mark() {
    let (mut t, _) = table();
    t.key(Key::M, SHIFT);
    assert_eq!(t.bench.preferences().marks, MarkBy::Offset);
    let (low, high) = (Vec3::new(0.01, 0.2, 0.149), Vec3::new(0.01, 0.8, 0.149));
    let stroke = way(&t, low, high, 30);
    t.drag(PointerButton::Primary, &stroke);
    assert!(t.bench.awaits_mark_offset().is_some());
    let d = Vec3::X * 0.12;
    let stroke = way(&t, low + d, high + d, 30);
    t.drag(PointerButton::Primary, &stroke);
    let document = t.bench.session().document();
    assert_eq!((document.marks().len(), document.sculpts().len()), (1, 1), "{:?}", t.bench.notice());
    let Form::Drawn(offsets) = &document.sculpts()[0].form else { panic!() };
    for offset in offsets {
        // A pixel is 2 mm wide.
        assert!(Vec3::from(*offset).distance(d) < 8e-3, "{offset:?}");
    }
    // Shift-L draws it again; Escape no longer waits.
    t.key(Key::L, SHIFT);
    assert!(t.bench.awaits_mark_offset().is_some());
    t.key(Key::Escape, Modifiers::NONE);
    assert!(t.bench.awaits_mark_offset().is_none());
}

#[test]
fn escape_ends_the_wait_for_the_offset_of_a_line() {
    let mut t = Table::new();
    t.drag(PointerButton::Primary, &t.arm(0.0));
    assert!(t.bench.awaits_offset().is_some());
    let drawn = t.hash();
    // Escape drops the stroke in progress, and only then the wait.
    let stroke = t.arm(0.7);
    t.to(stroke[0]);
    t.button(PointerButton::Primary, true);
    stroke.iter().for_each(|at| t.to(*at));
    assert!(t.bench.is_busy());
    t.key(Key::Escape, Modifiers::NONE);
    t.button(PointerButton::Primary, false);
    assert!(!t.bench.is_busy() && t.bench.awaits_offset().is_some());
    t.key(Key::Escape, Modifiers::NONE);
    assert!(t.bench.awaits_offset().is_none() && t.hash() == drawn);
    let hint = panels::hint(&t.desk, Some(&t.bench));
    assert!(hint.starts_with("Draw a line along the joints"), "{hint}");
    // The next stroke is a baseline. It begins beside the knots of the first one.
    let stroke: Vec<[f32; 2]> = t.arm(0.0).iter().map(|[x, y]| [*x, y + 14.0]).collect();
    t.drag(PointerButton::Primary, &stroke);
    assert_eq!(t.bench.session().document().strokes().len(), 2);
}

#[test]
fn the_mouse_drags_a_knot() {
    let (mut t, character) = table();
    let (low, high) = (Vec3::new(0.01, 0.2, 0.149), Vec3::new(0.01, 0.8, 0.149));
    let stroke = way(&t, low, high, 30);
    t.drag(PointerButton::Primary, &stroke);
    t.bench.run_command(Command::MarkBy(MarkBy::Knots));
    let goal = Vec3::new(0.1, 0.7, 0.11);
    let stroke = way(&t, high, goal, 12);
    t.drag(PointerButton::Primary, &stroke);
    let marks = t.bench.session().document().marks();
    assert_eq!(marks.len(), 1);
    let last = place(&character, &marks[0].points[marks[0].points.len() - 1]);
    assert!(last.distance(goal) < 0.02, "{last}");
}
