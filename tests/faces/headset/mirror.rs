//! Test of the mirror window, which shows the headset's image on the desktop.

use super::bed::Runtime;
use super::stage::Session;
use crate::desktop::Desktop;
use image::RgbImage;
use image::imageops::{FilterType, crop_imm, resize};
use std::path::Path;
use x11rb::protocol::xproto::Window;

/// Captures the contents of a window and saves the image as a PNG file.
fn shown(desktop: &Desktop, window: Window, size: [u32; 2], name: &str) -> RgbImage {
    let corner = desktop.corner(window).map(|v| v as u32);
    let picture = crop_imm(&desktop.screenshot(), corner[0], corner[1], size[0], size[1]).to_image();
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("headset").join(name).with_extension("png");
    picture.save(path).unwrap();
    picture
}

/// Crops the centre of one eye's image to the aspect ratio of `size`, then resizes the crop to `size`.
fn eye(both: &RgbImage, right: bool, size: [u32; 2]) -> RgbImage {
    let [w, h] = [both.width() / 2, both.height()];
    let scale = (f64::from(size[0]) / f64::from(w)).max(f64::from(size[1]) / f64::from(h));
    let [cw, ch] = size.map(|s| (f64::from(s) / scale).round() as u32);
    let left = if right { w } else { 0 } + (w - cw) / 2;
    let cut = crop_imm(both, left, (h - ch) / 2, cw, ch).to_image();
    resize(&cut, size[0], size[1], FilterType::Triangle)
}

/// Returns the mean absolute difference of the channel values, 0..=255.
fn difference(a: &RgbImage, b: &RgbImage) -> f64 {
    assert_eq!(a.dimensions(), b.dimensions());
    let sum: u64 = a.as_raw().iter().zip(b.as_raw()).map(|(a, b)| u64::from(a.abs_diff(*b))).sum();
    sum as f64 / a.as_raw().len() as f64
}

/// Waits until the mirror window has displayed four more images.
fn settle(s: &mut Session) {
    let enough = s.app.frame.mirrored + 4;
    s.app.until_frame(200, "in the mirror", |f| f.mirrored >= enough);
}

#[test]
fn a_window_on_the_desktop_shows_what_the_left_eye_sees() {
    let (Some(runtime), Some(desktop)) = (Runtime::start(), Desktop::start()) else { return };
    let mut s = Session::before(&runtime, &["--mirror", "left"], Some(&desktop));
    s.bend("right");
    s.play("head turn 12 -8 0\nwait 0.1");
    settle(&mut s);
    let window = desktop.window().expect("a mirror");
    let mut size = [800, 600];
    for round in ["mirror_whole", "mirror_cut"] {
        let both = s.app.picture(round);
        let seen = shown(&desktop, window, size, &format!("{round}_window"));
        let (left, right) = (eye(&both, false, size), eye(&both, true, size));
        let (near, far) = (difference(&seen, &left), difference(&seen, &right));
        println!("{round}: {near:.2} from the left eye, {far:.2} from the right one");
        assert!(
            near < 1.5 && far > 2.0 * near,
            "{round}: {near} from the left eye, {far} from the right one"
        );
        // After a resize, the centre of the eye's image fills the window.
        size = [420, 560];
        desktop.resize(window, size);
        settle(&mut s);
        settle(&mut s);
    }
    // The session continues after the mirror window is closed.
    desktop.close(window);
    s.app.frames(4);
    let (count, hash) = (s.app.frame.mirrored, s.app.hash());
    assert_eq!(desktop.window(), None);
    s.play("right press a");
    s.app.frames(2);
    s.play("right release a");
    assert_eq!((s.app.frame.mirrored, s.app.frame.state.as_str()), (count, "FOCUSED"));
    assert_ne!(s.app.hash(), hash, "undo does nothing after the mirror was closed");
    s.app.quit();
    assert_eq!(runtime.findings(), "");
}
