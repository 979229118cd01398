//! Tests of the drawing plane and of the navigation through folders.

use super::*;
use crate::ui::palette::{FileEntry, FileKind, FileList};
use crate::workbench::Request;

fn fixed(t: &Table) -> WorkingPlane {
    t.desk.fixed_plane().expect("a plane")
}

#[test]
fn the_plane_to_draw_on_is_turned_and_moved_and_strokes_lie_on_it() {
    let mut t = Table::new();
    assert!(t.desk.fixed_plane().is_none());
    // Alt-D fixes the drawing plane through the root, facing the camera.
    t.key(Key::D, Modifiers::ALT);
    assert!(t.desk.moves_plane && fixed(&t).normal.distance(Vec3::Z) < 1e-5);
    let root = fixed(&t).origin;
    // Seen from the front, the green ring is a line across the right arrow. The arrow has priority.
    let [x, y] = t.pixel(root);
    t.drag(PointerButton::Primary, &[[x + 50.0, y], [x + 80.0, y]]);
    let moved = fixed(&t).origin - root;
    assert!(moved.x > 0.05 && moved.y.abs() < 1e-5 && moved.z.abs() < 1e-5, "{moved}");
    assert!(t.bench.session().history() == (1, 1), "the plane is no part of the document");
    // Seen from above, the green ring is a circle.
    t.key(Key::Num7, Modifiers::NONE);
    let [x, y] = t.pixel(fixed(&t).origin);
    let start = [x + 62.0 * 0.8, y - 62.0 * 0.6];
    t.drag(PointerButton::Primary, &[start, [start[0] - 0.6 * 31.0, start[1] - 0.8 * 31.0]]);
    let normal = fixed(&t).normal;
    assert!((normal.x.atan2(normal.z) - 0.5).abs() < 0.03 && normal.y.abs() < 1e-4, "{normal}");
    // The right button restores the plane from before the drag.
    let before = fixed(&t);
    t.to([x + 50.0, y]);
    t.frames(2);
    t.button(PointerButton::Primary, true);
    t.to([x + 90.0, y]);
    assert_ne!(fixed(&t), before);
    t.button(PointerButton::Secondary, true);
    t.button(PointerButton::Secondary, false);
    assert!(fixed(&t).origin.distance(before.origin) < 1e-5 && t.desk.hold == Hold::Free);
    t.button(PointerButton::Primary, false);
    t.key(Key::Escape, Modifiers::NONE);
    assert!(!t.desk.moves_plane && t.desk.choices().plane != Plane::Camera);
    // Strokes lie on the fixed plane, although the plane does not face the camera.
    t.key(Key::Num1, Modifiers::NONE);
    let normal = crate::base::math::Quat::from_rotation_y(0.05) * Vec3::Z;
    t.desk.set_plane(WorkingPlane { origin: root, normal });
    let before = fixed(&t);
    t.drag(PointerButton::Primary, &t.arm(0.0));
    t.drag(PointerButton::Primary, &t.arm(0.7));
    let layer = &t.bench.session().document().strokes()[0];
    let knots = layer.baseline.knots().iter().chain(layer.offset.as_ref().unwrap().knots());
    for knot in knots {
        let off = (Vec3::from(knot.position) - before.origin).dot(before.normal);
        assert!(off.abs() < 1e-4, "{off} beside the plane");
    }
    // The user cannot draw on a plane that is seen edge-on.
    let plane = WorkingPlane { origin: root, normal: Vec3::X };
    t.desk.set_plane(plane);
    let steps = t.bench.session().history();
    t.key(Key::Home, Modifiers::NONE);
    t.drag(PointerButton::Primary, &t.arm(0.3));
    assert_eq!(t.bench.session().history(), steps);
    t.key(Key::D, Modifiers::SHIFT);
    assert_eq!(t.desk.choices().plane, Plane::Camera);
}

fn entry(folder: &str, name: &str, kind: FileKind) -> FileEntry {
    FileEntry { path: [folder, name].iter().collect(), name: name.into(), note: String::new(), kind }
}

#[test]
fn an_empty_window_walks_through_folders_by_keys_and_by_the_mouse() {
    let mut desk = WindowEditor::new(Choices::default());
    let mut input = WindowInput { size: SIZE, scale: 1.0, focused: true, ..WindowInput::default() };
    desk.facts.files = FileList {
        folder: "/home/me".into(),
        entries: vec![
            entry("/home/me", "walks", FileKind::Folder),
            entry("/home/me", "hero.glb", FileKind::Character),
        ],
        ..FileList::default()
    };
    let mut frame = |desk: &mut WindowEditor, events: Vec<Event>| -> Vec<Ask> {
        input.time += 0.1;
        input.events = events;
        desk.step(&input, None).asks.clone()
    };
    let key = |key| {
        let modifiers = Modifiers::NONE;
        vec![Event::Key { key, physical_key: None, pressed: true, repeat: false, modifiers }]
    };
    let opens = |path: &str| vec![Ask::Editor(Request::Open(path.into()))];
    frame(&mut desk, vec![]);
    assert_eq!(frame(&mut desk, key(Key::Enter)), opens("/home"), "the first line is the folder above");
    frame(&mut desk, key(Key::ArrowDown));
    assert_eq!(frame(&mut desk, key(Key::Enter)), opens("/home/me/walks"));
    for _ in 0..5 {
        frame(&mut desk, key(Key::ArrowDown));
    }
    assert_eq!(frame(&mut desk, key(Key::Enter)), opens("/home/me/hero.glb"));
    assert_eq!(frame(&mut desk, key(Key::Backspace)), opens("/home"));
    // A new folder's list starts at its first line; the root folder has no parent.
    desk.facts.files.follow(FileList {
        folder: "/".into(),
        entries: vec![entry("/", "home", FileKind::Folder)],
        ..FileList::default()
    });
    frame(&mut desk, vec![]);
    assert_eq!(frame(&mut desk, key(Key::Enter)), opens("/home"));
    assert_eq!(frame(&mut desk, key(Key::Backspace)), []);
    // Clicks at many heights in the middle of the window. Every request must open `/home`, the only line of the list.
    let mut asked = Vec::new();
    for y in (300..560).step_by(10) {
        let pos = pos2(640.0, y as f32);
        let button = |pressed| Event::PointerButton {
            pos,
            button: PointerButton::Primary,
            pressed,
            modifiers: Modifiers::NONE,
        };
        frame(&mut desk, vec![Event::PointerMoved(pos)]);
        frame(&mut desk, vec![button(true)]);
        asked.extend(frame(&mut desk, vec![button(false)]));
    }
    assert!(!asked.is_empty() && asked.iter().all(|a| opens("/home").contains(a)), "{asked:?}");
}
