//! The README's five steps from a file to a posed export, as a new user does them. The README shows the window at the end
//! of each step: this test writes these pictures to `target/tmp/desk/first-1.png` to `first-5.png`.

use super::stage::{Session, keep, keys};
use crate::desktop::Desktop;
use image::RgbImage;
use sinew::base::math::{Quat, Vec3};
use sinew::bind::BindOptions;
use sinew::rig::PosedRig;
use sinew::scene::Model;
use std::path::Path;

/// Returns the positions of the named joints in the document's pose, world space.
fn joints<const N: usize>(model: &Model, names: [&str; N]) -> [Vec3; N] {
    let pose = model.document.as_ref().map_or_else(|| model.rest(), |d| d.posed(model.skeleton()));
    let rig = PosedRig::new(model.skeleton(), &pose);
    names.map(|name| rig.world[model.skeleton().find(name).unwrap().index()].translation.into())
}

/// Saves a screenshot of the window, cropped to the window.
fn picture(s: &mut Session, desktop: &Desktop, step: u32) {
    s.app.rest();
    let [x, y] = desktop.corner(s.window).map(|v| v as u32);
    let [width, height] = s.app.turn.size;
    let screen = desktop.screenshot();
    let window: RgbImage = image::imageops::crop_imm(&screen, x, y, width, height).to_image();
    keep(&window, &format!("first-{step}"));
}

#[test]
fn the_first_steps_of_the_readme_lead_from_a_file_to_a_posed_export() {
    let Some(desktop) = Desktop::start() else { return };
    let folder = tempfile::Builder::new().prefix("sdesk").tempdir().unwrap();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/human.glb");
    std::fs::copy(&file, folder.path().join("human.glb")).unwrap();
    let rest = Model::load(&file, &BindOptions::default()).unwrap();

    // 1. Opens the file; the window shows the whole character from the front.
    let mut s = Session::open(&desktop, folder.path(), &["human.glb", "--forget"]);
    s.look_from(&desktop, b'1');
    picture(&mut s, &desktop, 1);

    // 2. Draws a baseline and an offset stroke for the left arm, then for the back.
    let names = ["LeftUpperArm", "LeftLowerArm", "LeftHand"];
    let [shoulder, elbow, wrist] = joints(&rest, names);
    let straight = |points: &[Vec3]| -> Vec<Vec3> {
        let piece = |p: &[Vec3]| (0..8).map(|i| p[0].lerp(p[1], i as f32 / 8.0)).collect::<Vec<_>>();
        points.windows(2).flat_map(piece).chain(points.last().copied()).collect()
    };
    s.draw(&desktop, &straight(&[shoulder, elbow, wrist]));
    s.app.until("the baseline", |t| t.history[0] == 2 && t.idle);
    let reach = shoulder.distance(elbow) + elbow.distance(wrist);
    let raised = |share: f32| {
        let turn = Quat::from_rotation_z(0.15 + 0.65 * share);
        turn * Vec3::X * (reach * share)
    };
    s.draw(&desktop, &(0..=16).map(|i| shoulder + raised(i as f32 / 16.0)).collect::<Vec<_>>());
    s.app.until("the raised arm", |t| t.history[0] == 3 && t.idle);
    picture(&mut s, &desktop, 2);

    // 3. Pins both feet by clicks. Rotates the other arm by a ring of the joint tool.
    let pressed = |s: &mut Session, key: u8| s.press(&desktop, &[u32::from(key)]);
    for foot in joints(&rest, ["LeftFoot", "RightFoot"]) {
        let at = s.app.pixel(foot);
        s.drag(&desktop, 1, &[at]);
        pressed(&mut s, b'p');
    }
    pressed(&mut s, b'j');
    let [other] = joints(&rest, ["RightUpperArm"]);
    let [x, y] = s.app.pixel(other);
    s.drag(&desktop, 1, &[[x, y]]);
    let ring = |angle: f32| [x - 62.0 * angle.cos(), y - 62.0 * angle.sin()];
    let steps = s.app.turn.history[0];
    s.drag(&desktop, 1, &(0..=8).map(|i| ring(0.9 - 0.07 * i as f32)).collect::<Vec<_>>());
    s.app.until("the turned arm", |t| t.history[0] == steps + 1 && t.idle);
    picture(&mut s, &desktop, 3);

    // 4. Compares two deformers side by side.
    let posed = s.app.hash();
    s.press(&desktop, &[keys::SHIFT, keys::TAB]);
    s.app.until("the divider", |t| t.divider.is_some() && t.idle);
    let [x, y, width, height] = s.app.turn.viewport.map(|v| v as f32);
    let at = |share: f32| [x + share * width, y + height * 0.85];
    s.drag(&desktop, 1, &[at(0.5), at(0.52), at(0.56)]);
    picture(&mut s, &desktop, 4);
    s.press(&desktop, &[keys::SHIFT, keys::TAB]);
    s.app.until("no divider", |t| t.divider.is_none() && t.idle);
    assert_eq!(s.app.hash(), posed, "comparing changed the document");

    // 5. Saves and exports.
    s.save(&desktop);
    s.press(&desktop, &[keys::CONTROL, u32::from(b'e')]);
    s.app.until("where to export to", |t| t.question.starts_with("Export"));
    s.press(&desktop, &[keys::RETURN]);
    s.app.until("the export", |t| t.message.contains("human.posed.glb"));
    picture(&mut s, &desktop, 5);
    s.close(&desktop);

    let read = |name: &str| Model::load(&folder.path().join(name), &BindOptions::default()).unwrap();
    let project = read("human.project.glb");
    let document = project.document.as_ref().unwrap();
    assert_eq!((document.hash(), document.pins().len()), (posed, 2));
    let [_, _, hand] = joints(&project, names);
    assert!(
        hand.y > shoulder.y + 0.3 * reach && hand.distance(shoulder) <= reach * 1.01,
        "{hand} {shoulder}"
    );
    let [right, before] = [&project, &rest].map(|m| joints(m, ["RightHand"])[0]);
    assert!(right.distance(before) > 0.1, "the other arm stayed at {right}");
    let [there] = joints(&read("human.posed.glb"), ["LeftHand"]);
    assert!(there.distance(hand) < 1e-3, "{there} {hand}");
    let receipt = std::fs::read_to_string(folder.path().join("human.posed.receipt.txt")).unwrap();
    assert!(receipt.contains("distance largest"), "{receipt}");
}
