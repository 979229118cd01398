//! Surface and silhouette tools: draw, pull, change the profile, undo, redo, save and export.

use super::stage::{Session, changed, cut, folder, keep, keys, shape};
use crate::desktop::Desktop;
use image::RgbImage;
use sinew::app::report::{Ask, Event};
use sinew::base::math::Vec3;
use sinew::bind::BindOptions;
use sinew::rig::{Pose, PosedRig};
use sinew::scene::Model;
use sinew::surface::Form;
use sinew::workbench::Command;

/// Returns the point on the front of the skin at a height `y` and a distance `x` to the right.
fn front(x: f32, y: f32) -> Vec3 {
    Vec3::new(x, y, (shape().radius.powi(2) - x * x).sqrt())
}

/// Returns a curve beside the right outline; its distance from the outline is largest in the middle.
fn accent() -> Vec<Vec3> {
    let bow = |t: f32| 0.06 * (t * std::f32::consts::PI).sin();
    (0..=14).map(|i| i as f32 / 14.0).map(|t| Vec3::new(0.16 + bow(t), 1.1 + 0.4 * t, 0.0)).collect()
}

/// Counts the red pixels of a picture.
fn red(picture: &RgbImage) -> usize {
    picture.pixels().filter(|p| i32::from(p[0]) - i32::from(p[1].max(p[2])) > 60).count()
}

#[test]
fn the_body_is_grabbed_its_skin_pulled_and_its_outline_drawn_anew_and_exported() {
    let Some(desktop) = Desktop::start() else { return };
    let folder = folder();
    let mut s = Session::open(&desktop, folder.path(), &["capsule.glb", "--forget"]);
    let rest = s.app.hash();
    s.look_from(&desktop, b'1');
    let before = desktop.screenshot();

    // A line on the skin is a mark. A pull at its middle makes a bulge.
    s.press(&desktop, &[u32::from(b'd')]);
    s.draw(&desktop, &(0..=12).map(|i| front(-0.09 + 0.015 * i as f32, 0.7)).collect::<Vec<_>>());
    s.app.until("the mark", |t| t.history[0] == 2 && t.idle);
    // The flesh below the mark becomes firmer, and the skin shows it.
    s.app.ask(&Ask::Command(Command::Deformer("volume".into())));
    s.app.until("the method", |t| t.history[0] == 3 && t.idle);
    let plain = red(&cut(&desktop.screenshot(), &s, &desktop));
    s.click(&desktop, "Firm here");
    s.app.until("the firm region", |t| t.history[0] == 4 && t.idle);
    s.click(&desktop, "Show on the skin");
    let firm = desktop.screenshot_when("the firm region", |now| red(&cut(now, &s, &desktop)) > plain + 300);
    keep(&firm, "firm");
    s.click(&desktop, "Show on the skin");
    for left in [3, 2] {
        s.press(&desktop, &[keys::CONTROL, u32::from(b'z')]);
        s.app.until("the step undone", |t| t.history[0] == left && t.idle);
    }
    let grip = s.app.pixel(front(0.0, 0.7));
    let pull: Vec<[f32; 2]> = (0..10).map(|i| [grip[0] + 2.0 * i as f32, grip[1] - 5.0 * i as f32]).collect();
    s.drag(&desktop, 1, &pull);
    s.app.until("the bulge", |t| t.history[0] == 3 && t.idle);
    keep(&desktop.screenshot(), "bulge");

    // The right outline moves to the drawn line.
    s.press(&desktop, &[u32::from(b's')]);
    s.app.rest();
    let shown = desktop.screenshot();
    keep(&shown, "silhouettes");
    let path: Vec<[f32; 2]> = accent().iter().map(|p| s.app.pixel(*p)).collect();
    s.point(&desktop, path[0]);
    s.app.rest();
    s.button(&desktop, 1, true);
    path[1..].iter().for_each(|to| s.point(&desktop, *to));
    s.app.until("the skin at the stroke", |t| t.idle);
    // The skin follows during the stroke.
    let live = changed(&desktop, &s, &shown, 0.003);
    keep(&live, "silhouette_live");
    assert_eq!(s.app.turn.history[0], 3, "the stroke goes on");
    s.button(&desktop, 1, false);
    s.app.until("the outline", |t| t.history[0] == 4 && t.idle);
    keep(&changed(&desktop, &s, &before, 0.002), "silhouette");

    // Grabs the upper end and pulls it to the left.
    s.press(&desktop, &[u32::from(b'b')]);
    let from = s.app.pixel(front(0.0, 1.72));
    let grab: Vec<[f32; 2]> = (0..12).map(|i| [from[0] - 8.0 * i as f32, from[1] + 1.0 * i as f32]).collect();
    s.drag(&desktop, 1, &grab);
    s.app.until("the grab", |t| t.history[0] == 5 && t.idle);
    keep(&desktop.screenshot(), "grabbed");
    let posed = s.app.hash();
    for left in (1..5).rev() {
        s.press(&desktop, &[keys::CONTROL, u32::from(b'z')]);
        s.app.until("the step undone", |t| t.history[0] == left);
    }
    s.app.rest();
    assert_eq!(s.app.hash(), rest);
    for again in 2..=5 {
        s.press(&desktop, &[keys::CONTROL, keys::SHIFT, u32::from(b'z')]);
        s.app.until("the step done again", |t| t.history[0] == again);
    }
    s.app.rest();
    assert_eq!(s.app.hash(), posed);

    s.save(&desktop);
    s.press(&desktop, &[keys::CONTROL, u32::from(b'e')]);
    s.app.until("where to export to", |t| t.question.starts_with("Export"));
    s.press(&desktop, &[keys::RETURN]);
    s.app.until("the export", |t| t.message.contains("capsule.posed.glb"));
    s.close(&desktop);

    let model = Model::load(&folder.path().join("capsule.project.glb"), &BindOptions::default()).unwrap();
    let document = model.document.as_ref().unwrap();
    assert_eq!(document.hash(), posed);
    let [bulge, outline] = document.sculpts() else { panic!("{} edits", document.sculpts().len()) };
    assert_eq!((document.marks().len(), bulge.mark), (1, Some(document.marks()[0].id)));
    let furthest = |form: &Form| {
        let Form::Drawn(offsets) = form else { panic!() };
        offsets
            .iter()
            .map(|o| Vec3::from(*o))
            .fold(Vec3::ZERO, |a, b| if b.length() > a.length() { b } else { a })
    };
    // The bulge moved up as far as the mouse, and the outline moved to the right as far as the stroke.
    assert!(furthest(&bulge.form).y > 0.05, "{}", furthest(&bulge.form));
    let right = furthest(&outline.form);
    assert!((0.04..0.1).contains(&right.x) && right.x > 2.0 * right.y.abs(), "{right}");
    // The tip follows the pointer.
    let tip = |model: &Model, pose: &Pose| {
        let nodes = &model.skeleton().nodes;
        let last = nodes.iter().rposition(|n| n.joint.is_some()).unwrap();
        Vec3::from(PosedRig::new(model.skeleton(), pose).world[last].translation)
    };
    let here = tip(&model, &document.posed(model.skeleton()));
    assert!(here.x < -0.03, "{here}");
    let exported = Model::load(&folder.path().join("capsule.posed.glb"), &BindOptions::default()).unwrap();
    let there = tip(&exported, &Pose::rest(exported.skeleton()));
    assert!(there.distance(here) < 1e-4, "{there} {here}");
    assert!(folder.path().join("capsule.posed.receipt.txt").exists());
}

#[test]
fn a_stroke_far_from_every_outline_is_told_and_changes_nothing() {
    let Some(desktop) = Desktop::start() else { return };
    let folder = folder();
    let mut s = Session::open(&desktop, folder.path(), &["capsule.glb", "--forget"]);
    let rest = s.app.hash();
    s.press(&desktop, &[u32::from(b's')]);
    let [x, y, width, height] = s.app.turn.viewport.map(|v| v as f32);
    let path: Vec<[f32; 2]> = (0..8).map(|i| [x + width * 0.05 + 4.0 * i as f32, y + height * 0.1]).collect();
    s.drag(&desktop, 1, &path);
    let told = s.app.events.iter().any(|e| matches!(e, Event::Failed(_)));
    if !told {
        s.app.event("the trouble", |e| matches!(e, Event::Failed(_)).then_some(()));
    }
    s.app.rest();
    assert!(s.app.turn.message.contains("silhouette"), "{}", s.app.turn.message);
    assert_eq!(s.app.hash(), rest);
    s.close(&desktop);
}
