//! The timeline in the window: keys, scrubbing and playing; then a comparison of two deformers.

use super::posing::{arc, baseline};
use super::stage::{Session, changed, cut, difference, folder, keep, keys};
use crate::desktop::Desktop;
use sinew::bind::BindOptions;
use sinew::scene::Model;

#[test]
fn two_poses_are_keyed_scrubbed_and_played_and_two_deformers_compared() {
    let Some(desktop) = Desktop::start() else { return };
    let folder = folder();
    let mut s = Session::open(&desktop, folder.path(), &["capsule.glb", "--forget"]);
    s.look_from(&desktop, b'1');
    s.press(&desktop, &[u32::from(b'i')]);
    s.app.until("the first key", |t| t.history[0] == 2);
    s.draw(&desktop, &baseline());
    s.draw(&desktop, &arc());
    s.app.until("the pose", |t| t.history[0] == 4 && t.time.is_none());
    let rate = 24.0;
    for i in 1..=12 {
        s.press(&desktop, &[keys::RIGHT]);
        s.app.until("the next frame", |t| {
            t.time.is_some_and(|time| (time * rate - f64::from(i)).abs() < 1e-3)
        });
    }
    let upright = desktop.screenshot();
    s.press(&desktop, &[keys::ESCAPE]);
    s.app.until("the pose being edited", |t| t.time.is_none() && t.idle);
    let bent = changed(&desktop, &s, &upright, 0.01);
    s.press(&desktop, &[u32::from(b'i')]);
    s.app.until("the second key", |t| t.history[0] == 5 && t.time == Some(0.5));
    // Steps back to the middle of the motion.
    for _ in 0..6 {
        s.press(&desktop, &[keys::LEFT]);
    }
    s.app.until("the middle", |t| t.time == Some(0.25) && t.idle);
    let half = desktop.screenshot_when("the middle of the motion", |now| {
        let now = cut(now, &s, &desktop);
        [&upright, &bent].into_iter().all(|other| difference(&now, &cut(other, &s, &desktop)) > 0.005)
    });
    keep(&half, "scrubbed");
    let hash = s.app.hash();
    // A click on the ruler below the picture sets the time in proportion to the position, clamped to the ruler.
    let [_, top, _, tall] = s.app.turn.viewport.map(|v| v as f32);
    let ruler = top + tall + 47.0;
    let (left, right) = (158.0, s.app.turn.size[0] as f32 - 16.0);
    let at = |share: f32| [left + share * (right - left), ruler];
    let mut told = Vec::new();
    // The ruler shows two seconds, which is longer than the motion.
    let whole = 2.0;
    for share in [0.1, 0.2, 0.7] {
        s.drag(&desktop, 1, &[at(0.5), at(0.5 * (0.5 + share)), at(share)]);
        told.push(s.app.turn.time.expect("the motion shows"));
        if share == 0.2 {
            keep(&desktop.screenshot(), "dragged_on_the_timeline");
        }
    }
    for (share, time) in [0.1, 0.2, 0.7].into_iter().zip(&told) {
        assert!((time - whole * share).abs() < 0.6 / rate, "{time} s at {share} of the ruler");
    }
    s.drag(&desktop, 1, &[at(0.5), at(-0.05)]);
    assert_eq!(s.app.turn.time, Some(0.0));
    let begun = desktop.screenshot();
    s.drag(&desktop, 1, &[at(0.5), at(1.02)]);
    assert_eq!(s.app.turn.time, Some(whole));
    changed(&desktop, &s, &begun, 0.01);
    assert_eq!(s.app.hash(), hash, "scrubbing changed the document");
    s.drag(&desktop, 1, &[at(0.5), at(0.125)]);
    assert_eq!(s.app.turn.time, Some(0.25));
    s.press_on(&desktop, &[u32::from(b' ')]);
    s.app.until("time that runs", |t| t.playing);
    let mut last = s.app.turn.time;
    let mut rounds = 0;
    s.app.until("two rounds", |t| {
        rounds += u32::from(t.time < last);
        last = t.time;
        rounds == 2
    });
    s.press_on(&desktop, &[u32::from(b' ')]);
    s.app.until("rest", |t| !t.playing && t.idle);
    assert_eq!(s.app.hash(), hash, "playing changed the document");
    let stood = s.app.turn.time.unwrap() * rate;
    assert!((stood - stood.round()).abs() < 1e-3 && stood <= 12.0, "between frames: {stood}");

    // Compares two deformers on one pose; the dividing line is dragged.
    s.press(&desktop, &[keys::ESCAPE]);
    s.app.until("the pose being edited", |t| t.time.is_none() && t.idle);
    let one = cut(&desktop.screenshot(), &s, &desktop);
    s.press(&desktop, &[keys::SHIFT, keys::TAB]);
    s.app.until("the divider", |t| t.divider == Some(0.5) && t.idle);
    let [x, y, width, height] = s.app.turn.viewport.map(|v| v as f32);
    let at = |share: f32| [x + share * width, y + height * 0.8];
    s.drag(&desktop, 1, &[at(0.5), at(0.45), at(0.3)]);
    assert!((s.app.turn.divider.unwrap() - 0.3).abs() < 0.01, "{:?}", s.app.turn.divider);
    // Compares only parts of the picture without the brush.
    let (line, tall) = ((0.3 * width) as u32, height as u32);
    let part = |picture: &image::RgbImage, from: u32, to: u32| {
        image::imageops::crop_imm(picture, from, 60, to - from, tall - 60).to_image()
    };
    let two = desktop.screenshot_when("the other method right of the line alone", |now| {
        let two = cut(now, &s, &desktop);
        let left = difference(&part(&one, 0, line - 40), &part(&two, 0, line - 40));
        let right = difference(&part(&one, line + 40, width as u32), &part(&two, line + 40, width as u32));
        left < 1e-5 && right > 1e-4
    });
    keep(&two, "wipe");
    s.press(&desktop, &[keys::SHIFT, keys::TAB]);
    s.app.until("no divider", |t| t.divider.is_none() && t.idle);
    assert_eq!(s.app.hash(), hash, "comparing changed the document");

    // The second key is dragged to 0.75 s. Below the ruler, the first row has all keys.
    let texts = s.texts();
    let row = texts.iter().find(|t| t.text == "10 keys").expect("the row of all keys").centre[1];
    let key = |time: f64| [left + (time / whole) as f32 * (right - left), row];
    let steps = s.app.turn.history[0];
    s.drag(&desktop, 1, &[key(0.5), key(0.6), key(0.75)]);
    s.app.until("the dragged key", |t| t.history == [steps + 1, 0] && t.idle);
    assert_ne!(s.app.hash(), hash);
    let hash = s.app.hash();
    // Undo drops a box over the keys, and neither undoes a step nor selects them.
    let chosen = |s: &mut Session| {
        let texts = s.texts();
        texts.into_iter().find(|t| t.text.ends_with(" selected")).map(|t| t.text)
    };
    let before = chosen(&mut s);
    assert!(before.is_some(), "the dragged key is selected");
    s.point(&desktop, key(1.5));
    s.app.rest();
    s.button(&desktop, 1, true);
    [key(1.4), key(1.0)].into_iter().for_each(|to| s.point(&desktop, to));
    s.press(&desktop, &[keys::CONTROL, u32::from(b'z')]);
    s.button(&desktop, 1, false);
    s.app.rest();
    assert_eq!((s.app.turn.history, chosen(&mut s)), ([steps + 1, 0], before));
    s.save(&desktop);
    s.close(&desktop);
    let model = Model::load(&folder.path().join("capsule.project.glb"), &BindOptions::default()).unwrap();
    let document = model.document.unwrap();
    assert_eq!((document.hash(), document.motion().key_times()), (hash, vec![0.0, 0.75]));
}
