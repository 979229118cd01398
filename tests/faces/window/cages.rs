//! A cage in the window: the user drops it as a file, moves it with the mouse, undoes, poses, keys, saves and exports.

use super::drop::drop_files;
use super::stage::{Session, changed, folder, keep, keys};
use crate::desktop::Desktop;
use sinew::app::report::Event;
use sinew::base::math::Vec3;
use sinew::bind::BindOptions;
use sinew::scene::Model;
use std::fmt::Write;

const ALT: u32 = 0xffe9;
/// Heights of the rings of the cage, metres.
const HEIGHTS: [f32; 6] = [-0.3, 0.2, 0.65, 1.1, 1.55, 2.1];
const SIDES: usize = 6;
const RADIUS: f32 = 0.28;
/// The dragged vertex: on the right, in the third ring.
const VERTEX: usize = 2 * SIDES;

/// Returns a prism of quads around the capsule as `.obj`.
fn prism() -> String {
    let mut out = String::new();
    for y in HEIGHTS {
        for k in 0..SIDES {
            let (sin, cos) = (std::f32::consts::TAU * k as f32 / SIDES as f32).sin_cos();
            writeln!(out, "v {} {y} {}", RADIUS * cos, RADIUS * sin).unwrap();
        }
    }
    let at = |ring: usize, k: usize| ring * SIDES + k % SIDES + 1;
    for r in 0..HEIGHTS.len() - 1 {
        for k in 0..SIDES {
            writeln!(out, "f {} {} {} {}", at(r, k), at(r + 1, k), at(r + 1, k + 1), at(r, k + 1)).unwrap();
        }
    }
    let top = HEIGHTS.len() - 1;
    for [a, b, c, d] in [[0, 1, 2, 3], [0, 3, 4, 5]] {
        writeln!(out, "f {} {} {} {}", at(0, a), at(0, b), at(0, c), at(0, d)).unwrap();
        writeln!(out, "f {} {} {} {}", at(top, d), at(top, c), at(top, b), at(top, a)).unwrap();
    }
    out
}

#[test]
fn a_dropped_cage_is_dragged_posed_keyed_saved_and_exported() {
    let Some(desktop) = Desktop::start() else { return };
    let folder = folder();
    std::fs::write(folder.path().join("cage.obj"), prism()).unwrap();
    let mut s = Session::open(&desktop, folder.path(), &["capsule.glb", "--forget"]);
    s.look_from(&desktop, b'1');
    let corner = desktop.corner(s.window);
    let drop = |s: &Session, name: &str| {
        let uri = format!("file://{}/{name}\r\n", folder.path().display());
        drop_files(&desktop, s.window, [corner[0] + 400, corner[1] + 300], &uri);
    };
    // A file that is not a cage leaves the document unchanged.
    let rest = s.app.hash();
    std::fs::write(folder.path().join("open.obj"), "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n").unwrap();
    drop(&s, "open.obj");
    s.app.until("the trouble", |t| t.message.contains("open.obj"));
    assert_eq!(s.app.hash(), rest);
    drop(&s, "cage.obj");
    s.app.until("the cage", |t| t.history[0] == 2 && t.idle);
    let caged = s.app.hash();

    s.press(&desktop, &[u32::from(b'c')]);
    let before = desktop.screenshot();
    let drag: Vec<Vec3> = (0..=12).map(|i| Vec3::new(RADIUS + 0.01 * i as f32, HEIGHTS[2], 0.0)).collect();
    s.draw(&desktop, &drag);
    s.app.until("the moved cage", |t| t.history[0] == 3 && t.idle);
    keep(&changed(&desktop, &s, &before, 0.002), "cage");
    let dragged = s.app.hash();
    s.press(&desktop, &[keys::CONTROL, u32::from(b'z')]);
    s.app.until("the cage undone", |t| t.history[0] == 2 && t.idle);
    assert_eq!(s.app.hash(), caged);
    s.press(&desktop, &[keys::CONTROL, keys::SHIFT, u32::from(b'z')]);
    s.app.until("the cage moved again", |t| t.history[0] == 3 && t.idle);
    assert_eq!(s.app.hash(), dragged);

    // The user grabs the upper end and pulls it to the left; then the cage gets a key.
    s.press(&desktop, &[u32::from(b'b')]);
    let from = s.app.pixel(Vec3::new(0.0, 1.72, 0.15));
    let grab: Vec<[f32; 2]> = (0..12).map(|i| [from[0] - 8.0 * i as f32, from[1] + i as f32]).collect();
    s.drag(&desktop, 1, &grab);
    s.app.until("the grab", |t| t.history[0] == 4 && t.idle);
    s.press(&desktop, &[ALT, u32::from(b'k')]);
    s.app.until("the key", |t| t.history[0] == 5 && t.idle);
    s.press(&desktop, &[u32::from(b'c')]);
    keep(&desktop.screenshot(), "cage_posed");
    s.save(&desktop);
    s.press(&desktop, &[keys::CONTROL, u32::from(b'e')]);
    s.app.until("where to export to", |t| t.question.starts_with("Export"));
    s.press(&desktop, &[keys::RETURN]);
    s.app.until("the export", |t| t.message.contains("capsule.posed.glb"));
    let events = s.close(&desktop);
    assert!(events.iter().any(|e| matches!(e, Event::Loaded(p) if p.ends_with("capsule.glb"))));

    let model = Model::load(&folder.path().join("capsule.project.glb"), &BindOptions::default()).unwrap();
    let document = model.document.as_ref().unwrap();
    let cage = document.cage().unwrap();
    assert_eq!(cage.vertices(), SIDES * HEIGHTS.len());
    let off = Vec3::from(cage.offsets[VERTEX]).distance(Vec3::new(0.12, 0.0, 0.0));
    assert!(off < 0.01, "the vertex is {off} m off");
    let others = cage.offsets.iter().enumerate().filter(|(v, _)| *v != VERTEX);
    assert!(others.map(|o| Vec3::from(*o.1).length()).fold(0.0, f32::max) < 1e-5, "another vertex moved");
    assert_eq!(document.cage_channel().map(|c| c.times.len()), Some(1));
}
