//! Grips on a mesh without a skeleton: six points by the mouse, dragged, undone, saved and opened again.

use super::stage::{Session, changed, keep, keys, shape};
use crate::desktop::Desktop;
use sinew::base::math::Vec3;
use sinew::bind::BindOptions;
use sinew::scene::Model;

/// Heights of the points, metres; there are two points at each.
const HEIGHTS: [f32; 3] = [0.1, 0.9, 1.7];

#[test]
fn six_points_on_a_bare_mesh_are_dragged_by_the_mouse_saved_and_opened_again() {
    let Some(desktop) = Desktop::start() else { return };
    let folder = tempfile::Builder::new().prefix("sdesk").tempdir().unwrap();
    let glb = sinew::export::unedited(&shape().bare_asset()).unwrap();
    std::fs::write(folder.path().join("bare.glb"), glb).unwrap();
    let mut s = Session::open(&desktop, folder.path(), &["bare.glb", "--forget"]);
    s.look_from(&desktop, b'1');
    s.press(&desktop, &[u32::from(b'h')]);
    let side = shape().radius * std::f32::consts::FRAC_1_SQRT_2;
    let point = |k: usize| Vec3::new(if k.is_multiple_of(2) { -side } else { side }, HEIGHTS[k / 2], side);
    for k in 0..6 {
        let at = s.app.pixel(point(k));
        s.drag(&desktop, 1, &[at]);
        s.app.until("the point", |t| t.history[0] == k + 2 && t.idle);
    }
    let still = desktop.screenshot();
    let before = s.app.hash();
    // The skin follows while the button is down.
    let path = |from: Vec3, by: Vec3, s: &Session| -> Vec<[f32; 2]> {
        (0..=8).map(|i| s.app.pixel(from + by * (i as f32 / 8.0))).collect()
    };
    let up = path(point(5), Vec3::new(0.25, 0.2, 0.0), &s);
    s.point(&desktop, up[0]);
    s.app.rest();
    s.button(&desktop, 1, true);
    up[1..].iter().for_each(|to| s.point(&desktop, *to));
    s.app.until("the drag", |t| t.busy);
    // The window draws while something is held.
    let frame = s.app.turn.frame;
    s.app.until("the moved skin", |t| t.frame > frame + 4);
    keep(&changed(&desktop, &s, &still, 0.005), "grips_live");
    assert_eq!(s.app.hash(), before, "the document changes when the button is released");
    // Undo during the drag drops it.
    s.press_on(&desktop, &[keys::CONTROL, u32::from(b'z')]);
    s.app.until("the dropped drag", |t| !t.busy);
    s.button(&desktop, 1, false);
    s.app.rest();
    assert_eq!((s.app.hash(), s.app.turn.history), (before.clone(), [7, 0]));
    s.drag(&desktop, 1, &up);
    s.app.until("the drag", |t| t.history[0] == 8 && t.idle);
    let down = path(point(0), Vec3::new(-0.15, -0.1, 0.0), &s);
    s.drag(&desktop, 1, &down);
    s.app.until("the second drag", |t| t.history[0] == 9 && t.idle);
    keep(&desktop.screenshot(), "grips");
    let done = s.app.hash();
    s.save(&desktop);
    s.close(&desktop);

    let model = Model::load(&folder.path().join("bare.project.glb"), &BindOptions::default()).unwrap();
    let document = model.document.as_ref().unwrap();
    assert_eq!((document.hash(), document.grips().len()), (done.clone(), 6));
    let place = |k: usize| Vec3::from(document.grips()[k].translation);
    assert!(place(5).distance(Vec3::new(0.25, 0.2, 0.0)) < 0.02, "{}", place(5));
    assert!(place(0).distance(Vec3::new(-0.15, -0.1, 0.0)) < 0.02, "{}", place(0));
    assert!((1..5).all(|k| place(k) == Vec3::ZERO), "another point moved");
    let s = Session::open(&desktop, folder.path(), &["bare.project.glb", "--forget"]);
    assert_eq!(s.app.hash(), done);
    keep(&desktop.screenshot(), "grips_again");
    s.close(&desktop);
}
