//! Scenarios: grips move a mesh without a skeleton; a mark gets an offset stroke with surroundings, and a knot of the
//! mark is dragged.

use super::bed::Runtime;
use super::details::Details;
use super::shaping::AT_PALETTE;
use super::stage::{RADIUS, Session, differing, saved, shape, words};
use image::RgbImage;
use image::imageops::crop_imm;
use sinew::app::report::{Ask, Event};
use sinew::asset::Property;
use sinew::base::math::Vec3;
use sinew::document::Target;
use sinew::surface::Form;
use sinew::ui::Section;
use sinew::ui::palette::Spot;
use sinew::workbench::{Command, MarkBy, Tool};

/// Heights of the points, metres.
const HEIGHTS: [f32; 3] = [0.1, 0.9, 1.7];
/// Distance of the hand from the skin while it points at the skin, metres.
const AWAY: f32 = 0.12;

/// Opens a file and waits until the stage shows it.
fn open(s: &mut Session, file: &str) {
    s.app.ask(&Ask::Command(Command::Open(file.into())));
    s.app.event("the file", |e| matches!(e, Event::Loaded(_)).then_some(()));
    s.app.event("the body on the stage", |e| matches!(e, Event::Shown(_)).then_some(()));
}

/// Counts the clearly different pixels of each eye.
fn of_each_eye(a: &RgbImage, b: &RgbImage) -> [usize; 2] {
    let (half, height) = (a.width() / 2, a.height());
    let eye = |p: &RgbImage, k: u32| crop_imm(p, k * half, 0, half, height).to_image();
    [0, 1].map(|k| differing(&eye(a, k), &eye(b, k)))
}

/// Takes pictures until both eyes see something else than before.
fn changed(s: &mut Session, before: &RgbImage, name: &str, least: usize) -> RgbImage {
    for k in 0..60 {
        let now = s.app.picture(name);
        let pixels = of_each_eye(before, &now);
        if pixels.iter().all(|n| *n > least) {
            println!("{name}: {pixels:?} pixels changed");
            return now;
        }
        // A frame plays at most 0.1 s. On a slow machine, waits of equal length could therefore show a motion of 1 s at the
        // same moment each time.
        s.app.frames(5 + k % 4);
    }
    panic!("{name}: the eyes see no change")
}

/// Points the right hand at the front of the skin and presses the trigger once.
fn click(s: &mut Session, skin: Vec3) {
    let at = words(s.stage(skin + Vec3::Z * AWAY));
    s.play(&format!("right turn 0 0 0\nright at {at}\nwait 0.07"));
    s.app.until_frame(100, "seeing the skin", |f| {
        f.surface[1].is_some_and(|x| Vec3::from(x).distance(skin) < 0.03)
    });
    s.play("right trigger 1\nwait 0.07\nright trigger 0\nwait 0.1");
}

/// Drags from a place by a vector with the right hand's trigger.
fn drag(s: &mut Session, from: Vec3, by: Vec3) {
    let (from, to) = (s.tip(from), s.tip(from + by));
    s.play(&format!(
        "right turn 0 0 0\nright at {from}\nwait 0.07\nright trigger 1\nwait 0.07\nright at {to} over 0.3\nwait 0.07\nright trigger 0\nwait 0.07"
    ));
}

pub fn six_points_move_a_bare_mesh_which_plays_and_reopens(s: &mut Session, runtime: &Runtime) {
    let glb = sinew::export::unedited(&shape().bare_asset()).unwrap();
    std::fs::write(runtime.path("bare.glb"), glb).unwrap();
    open(s, "bare.glb");
    let bare = s.app.hash();
    s.app.press(Command::Palette);
    s.app.press(Command::Tool(Tool::Grip));
    s.app.press(Command::Mirror(true));
    let side = RADIUS * std::f32::consts::FRAC_1_SQRT_2;
    let points = HEIGHTS.map(|y| Vec3::new(side, y, side));
    for (k, point) in points.into_iter().enumerate() {
        click(s, point);
        assert_eq!(s.app.frame.history, [k + 2, 0], "a point and its mirror image are one step");
    }
    let before = s.app.picture("grips_before");
    // The pair at the top goes up and apart.
    let apart = Vec3::new(0.15, 0.12, 0.0);
    drag(s, points[2], apart);
    assert_eq!(s.app.frame.history, [5, 0], "both are moved in one step");
    let dragged = changed(s, &before, "grips_dragged", 500);
    // One point of the middle pair is keyed.
    s.app.press(Command::Mirror(false));
    s.app.press(Command::Key);
    s.app.press(Command::AutoKey(true));
    s.app.press(Command::Scrub(1.0));
    let aside = Vec3::new(0.2, 0.0, 0.1);
    drag(s, points[1], aside);
    s.app.press(Command::AutoKey(false));
    changed(s, &dragged, "grips_keyed", 500);
    let end = s.app.frame.history[0];
    assert_eq!(end, 7, "the key, and the drag with its keys");
    s.app.press(Command::Scrub(0.0));
    let start = s.app.picture("grips_start");
    s.app.press(Command::Play(true));
    changed(s, &start, "grips_playing", 500);
    s.app.press(Command::Play(false));
    // A point of the lowest pair is performed while the keyed point moves.
    s.app.press(Command::Scrub(0.0));
    s.app.press(Command::Record(true));
    let down = Vec3::new(0.1, -0.15, 0.0);
    drag(s, points[0], down);
    s.app.press(Command::Record(false));
    let end = s.app.frame.history[0];
    let done = s.app.hash();
    for _ in 1..end {
        s.app.press(Command::Undo);
    }
    assert_eq!((s.app.hash().as_str(), s.app.frame.history), (bare.as_str(), [1, end - 1]));
    for _ in 1..end {
        s.app.press(Command::Redo);
    }
    assert_eq!(s.app.hash(), done);
    let (_, document) = s.save(runtime);
    assert_eq!((document.hash(), document.grips().len()), (done.clone(), 6));
    let place = |k: usize| Vec3::from(document.grips()[k].translation);
    let flip = Vec3::new(-1.0, 1.0, 1.0);
    assert!(place(4).distance(apart) < 0.01, "{}", place(4));
    assert!(place(5).distance(place(4) * flip) < 1e-4, "{} {}", place(4), place(5));
    let keyed: Vec<_> = document.motion().channels().iter().filter(|c| c.target.grip().is_some()).collect();
    assert!(keyed.iter().any(|c| c.times == [0.0, 1.0]), "{keyed:?}");
    let target = Target::Grip { grip: document.grips()[0].id, property: Property::Translation };
    let performed = document.motion().channel(&target).expect("the performed point has keys");
    let last = performed.times[performed.times.len() - 1];
    assert!(performed.times[0] == 0.0 && last > 0.2, "{:?}", performed.times);
    let ends = [0.0, last].map(|time| Vec3::from_slice(&performed.at(time)));
    assert!(ends[0].length() < 1e-3 && ends[1].distance(down) < 0.01, "{ends:?}");
    open(s, "out/project.glb");
    assert_eq!(s.app.hash(), done);
}

pub fn a_mark_gets_an_offset_stroke_with_surroundings_and_its_knot_is_dragged(
    s: &mut Session,
    runtime: &Runtime,
) {
    s.play(AT_PALETTE);
    let details = Details::open(s, runtime, Section::Shape);
    details.press(s, &Spot::Text("LSE".into()));
    details.close(s);
    s.app.press(Command::Palette);
    s.app.press(Command::MarkBy(MarkBy::Offset));
    // The mark goes up the front.
    let front = |x: f32, y: f32| Vec3::new(x, y, (RADIUS * RADIUS - x * x).sqrt());
    let hand = |s: &Session, skin: Vec3| words(s.stage(skin + Vec3::Z * AWAY));
    let (from, to) = (hand(s, front(0.0, 0.5)), hand(s, front(0.0, 0.9)));
    s.play(&format!("right turn 0 0 0\nright at {from}\nwait 0.1"));
    s.app.until_frame(100, "seeing the skin", |f| f.surface[1].is_some());
    s.play(&format!("right trigger 1\nright at {to} over 0.3\nwait 0.07\nright trigger 0\nwait 0.1"));
    assert_eq!(s.app.frame.history, [2, 0], "opened, mark");
    let plain = s.app.picture("offset_mark");
    // Its offset stroke lies in the air, a hand's width before the skin.
    let out = Vec3::Z * 0.09;
    s.line("right", front(0.0, 0.5) + out, front(0.0, 0.9) + out);
    s.app.frames(2);
    assert_eq!(s.app.frame.history, [3, 0], "offset stroke");
    let offset = changed(s, &plain, "offset_stroke", 500);
    // The knot at the upper end goes around the body.
    s.app.press(Command::MarkBy(MarkBy::Knots));
    let at = s.tip(front(0.0, 0.9));
    let beside = hand(s, front(0.09, 0.9));
    s.play(&format!(
        "right turn 0 0 0\nright at {at}\nwait 0.1\nright trigger 1\nwait 0.07\nright at {beside} over 0.4\nwait 0.1\nright trigger 0\nwait 0.1"
    ));
    assert_eq!(s.app.frame.history, [4, 0], "the knot");
    changed(s, &offset, "offset_knot", 100);
    let mut document = s.save(runtime).1;
    for _ in 0..40 {
        if !document.sculpts()[0].awaits_surroundings() {
            break;
        }
        s.app.frames(8);
        document = s.save(runtime).1;
    }
    let ([mark], [layer]) = (document.marks(), document.sculpts()) else { panic!("{document:?}") };
    let Form::Drawn(offsets) = &layer.form else { panic!("{layer:?}") };
    let most = offsets.iter().map(|o| Vec3::from(*o).length()).fold(0.0, f32::max);
    assert!((0.07..0.12).contains(&most), "the skin goes out by {most} m");
    let around = layer.surroundings.as_ref().map_or(0, |s| s.offsets.len());
    assert_eq!((layer.mark, around), (Some(mark.id), layer.region.passive.len()));
    let (model, _) = saved(&runtime.path("out/project.glb"));
    let display = &model.bound.character.display;
    let last = mark.points.last().unwrap();
    let corners = display.triangles[last.triangle as usize].map(|v| display.positions[v as usize]);
    let end: Vec3 = corners.iter().zip(last.barycentrics).map(|(c, w)| *c * w).sum();
    assert!(end.distance(front(0.09, 0.9)) < 0.03, "the knot is at {end}");
    s.app.press(Command::NewSurroundings(None));
    s.app.press(Command::MarkBy(MarkBy::Pull));
}
