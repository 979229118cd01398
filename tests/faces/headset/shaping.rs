//! Tests of sculpt layers: a keyed bulge around the upper arm that swells as the elbow bends, and an accent stroke.

use super::bed::Runtime;
use super::details::Details;
use super::palette::{slider, target};
use super::review::press;
use super::stage::{RADIUS, Session, covered, differing, words};
use sinew::base::math::Vec3;
use sinew::bind::BindOptions;
use sinew::document::Target;
use sinew::scene::Model;
use sinew::surface::Form;
use sinew::ui::Section;
use sinew::ui::palette::{Page, Spot};
use sinew::workbench::{Command, CommandKind, GrabBy, Tool};

/// Distance between the hand and the arm's axis while the hand circles the arm, metres.
const ROUND: f32 = 0.09;
/// Distance by which two pulls move the ring outwards, metres, and the part of the first pull. After it, the skin shows
/// farther from its bind shape than a hand reaches for a mark.
const PULLED: f32 = 0.045;
const FIRST: f32 = 0.028;

/// Returns the positions of left shoulder, elbow and hand in the rest pose, world space, metres.
fn arm(model: &Model) -> [Vec3; 3] {
    let skeleton = model.skeleton();
    let rig = sinew::rig::PosedRig::new(skeleton, &model.rest());
    ["LeftUpperArm", "LeftLowerArm", "LeftHand"]
        .map(|name| rig.world[skeleton.find(name).unwrap().index()].translation.into())
}

/// Sets the amplitude of the selected sculpt layer to the fraction `share` of its range, in the details panel.
fn amplitude(s: &mut Session, runtime: &Runtime, share: f32) {
    let details = Details::open(s, runtime, Section::Shape);
    details.slide(s, "amplitude", share);
    details.close(s);
}

/// Opens a palette page and drags a slider to the fraction `share` of its track.
fn slide(s: &mut Session, page: Page, kind: CommandKind, share: f32) {
    press(s, None, &Spot::Page(page));
    let (from, to) = (words(slider(s, page, kind, 0.5)), words(slider(s, page, kind, share)));
    s.play(&format!(
        "right look {from}\nwait 0.1\nright trigger 1\nwait 0.07\nright look {to}\nwait 0.1\nright trigger 0\nwait 0.07"
    ));
}

fn choose(s: &mut Session, page: Page, command: Command) {
    press(s, None, &Spot::Page(page));
    press(s, Some(page), &Spot::Command(command));
}

/// Draws a ring: the right hand circles an axis at a distance `round`, beginning in front of the body (+Z), and points at
/// the axis. Returns the first point of the ring on the skin.
pub fn arc_of_ring(s: &mut Session, middle: Vec3, axis: Vec3, round: f32) -> Vec3 {
    let out = (Vec3::Z - axis * axis.z).normalize();
    let centre = words(s.stage(middle));
    let start = words(s.stage(middle + out * round));
    let turn = s.app.frame.world_from_room.rotation * s.app.room_from_stage.orientation;
    let about = words(turn.inverse() * axis);
    s.play(&format!("left at -0.5 0.8 0 &\nright at {start}\nright look {centre}\nwait 0.1"));
    s.app.until_frame(100, "seeing the skin", |f| f.surface[1].is_some());
    let held = Vec3::from(s.app.frame.surface[1].unwrap());
    s.play(&format!(
        "right trigger 1\nright arc {centre} {about} 362 over 2\nwait 0.07\nright trigger 0\nwait 0.1"
    ));
    held
}

/// Script that moves both hands to positions from which the right hand's ray can press the palette.
pub const AT_PALETTE: &str = "left at -0.12 1.3 -0.4 &\nright turn 0 0 0 &\nright at 0.2 1.3 -0.2\nwait 0.3";

#[test]
fn a_ring_is_pulled_out_and_keyed_with_the_elbow() {
    let bytes = std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/assets/human.glb")).unwrap();
    let Some((runtime, mut s)) = Session::start_with("human.glb", &bytes, &[]) else { return };
    let model = Model::load(&runtime.path("human.glb"), &BindOptions::default()).unwrap();
    let [shoulder, elbow, hand] = arm(&model);
    let axis = (elbow - shoulder).normalize();
    let middle = shoulder.lerp(elbow, 0.55);
    // Unit vector perpendicular to the arm's axis, towards the front of the body (+Z).
    let out = (Vec3::Z - axis * axis.z).normalize();

    s.play(AT_PALETTE);
    let at = words(target(&s, None, &Spot::Command(Command::Tool(Tool::Skin))));
    s.play(&format!("right look {at}\nwait 0.1\nright trigger 1\nwait 0.07\nright trigger 0\nwait 0.07"));
    assert_eq!(s.app.frame.tool, Tool::Skin);
    let held = arc_of_ring(&mut s, middle, axis, ROUND);
    assert_eq!(s.app.frame.history, [2, 0], "opened, ring");

    // The hand pulls the front of the ring away from the bone, and pulls it again where the skin shows then.
    for (k, ends) in [[0.0, FIRST], [FIRST, PULLED]].into_iter().enumerate() {
        let [from, to] = ends.map(|way| s.tip(held + out * way));
        s.play(&format!(
            "right turn 0 0 0\nright at {from}\nwait 0.2\nright trigger 1\nwait 0.07\nright at {to} over 0.3\nwait 0.07\nright trigger 0\nwait 0.1"
        ));
        assert_eq!(s.app.frame.history, [3 + k, 0], "opened, ring, shape, and its change");
    }

    // Key the start of the motion with amplitude 0, which makes the sculpt layer flat.
    s.play(AT_PALETTE);
    amplitude(&mut s, &runtime, 1.0 / 3.0);
    choose(&mut s, Page::Time, Command::Key);
    // Key the motion about one second later, with a bent elbow and a higher amplitude.
    slide(&mut s, Page::Time, CommandKind::Scrub, 0.5);
    let later = s.app.frame.time.expect("the motion does not show");
    assert!((0.7..=1.3).contains(&later), "{later}");
    amplitude(&mut s, &runtime, 2.0 / 3.0);
    s.app.press(Command::GrabBy(GrabBy::Limb));
    let grip = words(s.stage(hand));
    let bent = words(s.stage(elbow + Vec3::new(0.0, 0.08, 0.23)));
    s.play(&format!(
        "right turn 0 0 0\nright at {grip}\nwait 0.1\nright squeeze 1\nwait 0.07\nright at {bent} over 0.3\nwait 0.07\nright squeeze 0\nwait 0.1"
    ));
    s.play(AT_PALETTE);
    choose(&mut s, Page::Time, Command::Key);

    // Capture images close to the elbow, with the palette out of view.
    let mut pictures = Vec::new();
    for (share, name) in [(0.0, "shaping_flat"), (0.5 * later as f32, "shaping_swollen")] {
        s.play(AT_PALETTE);
        slide(&mut s, Page::Time, CommandKind::Scrub, share);
        look_near(&mut s, elbow);
        pictures.push(s.app.picture(name));
        s.play("head at 0 1.6 0 &\nhead turn 0 0 0");
    }
    assert!(differing(&pictures[0], &pictures[1]) > 500, "the keys look alike");
    assert!(pictures.iter().all(|p| covered(p).iter().all(|n| *n > 1000)));
    s.play(AT_PALETTE);
    choose(&mut s, Page::Time, Command::Play(true));
    look_near(&mut s, elbow);
    let first = s.app.picture("shaping_playing_0");
    // A constant interval between images could equal the motion's length, so the interval grows each time.
    let moves = (1..=8).any(|k| {
        let before = s.app.frame.time;
        s.app.until_frame(100, "time going on", |f| f.time.is_some() && f.time != before);
        s.app.frames(3 * k);
        differing(&first, &s.app.picture(&format!("shaping_playing_{k}"))) > 100
    });
    assert!(moves, "playing changes nothing");

    let hash = s.app.hash();
    let (model, document) = s.end(&runtime);
    assert_eq!(document.hash(), hash);
    let ([ring], [shape]) = (document.marks(), document.sculpts()) else {
        panic!("{} marks, {} shapes", document.marks().len(), document.sculpts().len())
    };
    assert!(ring.closed && shape.mark == Some(ring.id));
    let Form::Drawn(offsets) = &shape.form else { panic!("it was drawn by hand") };
    let mean = offsets.iter().map(|o| Vec3::from(*o).length()).sum::<f32>() / offsets.len() as f32;
    assert!((0.6 * PULLED..1.4 * PULLED).contains(&mean), "pulled out by {mean} m");
    let motion = document.motion();
    let amplitude = motion.channel(&Target::SculptAmplitude(shape.id)).expect("the amplitude has no keys");
    assert_eq!(amplitude.times.len(), 2, "{:?}", amplitude.times);
    assert!(amplitude.value(0)[0].abs() < 0.1 && amplitude.value(1)[0] > 0.8, "{amplitude:?}");
    // Halfway between the keys, both the elbow angle and the amplitude have intermediate values.
    let angle = |time: f64| {
        let state = document.state(model.skeleton(), Some(time));
        let rig = sinew::rig::PosedRig::new(model.skeleton(), &state.pose);
        let [a, b, c] = ["LeftUpperArm", "LeftLowerArm", "LeftHand"]
            .map(|n| Vec3::from(rig.world[model.skeleton().find(n).unwrap().index()].translation));
        ((b - a).angle_between(c - b).to_degrees(), state.sculpts[0].amplitude)
    };
    let [start, middle, end] = [0.0, 0.5 * amplitude.times[1], amplitude.times[1]].map(angle);
    assert!(end.0 > start.0 + 50.0 && (start.0..end.0).contains(&middle.0), "{start:?} {middle:?} {end:?}");
    assert!(start.1 < middle.1 && middle.1 < end.1, "{start:?} {middle:?} {end:?}");
}

pub fn an_accent_stroke_in_the_air_swells_what_is_behind_it(s: &mut Session, runtime: &Runtime) {
    let before = blue(&s.app.picture("shaping_before"));
    s.app.press(Command::Tool(Tool::Silhouette));
    s.app.press(Command::AccentDepth(true));
    let shown = blue(&s.app.picture("shaping_silhouettes"));
    assert!(
        (0..2).all(|eye| shown[eye] > before[eye] + 60),
        "both eyes see silhouettes: {before:?} {shown:?}"
    );
    // The stroke follows the capsule's right silhouette. In the middle, it lies 8 cm outside the silhouette, and 5 cm nearer
    // to the head.
    let at = |out: f32, height: f32, near: f32| Vec3::new(RADIUS + out, height, near);
    let [from, middle, to] = [at(0.0, 0.6, 0.0), at(0.08, 0.9, 0.05), at(0.0, 1.2, 0.0)].map(|p| s.tip(p));
    s.play(&format!("right turn 0 0 0\nright at {from}\nwait 0.07\nright trigger 1\nwait 0.07"));
    let plain = s.app.picture("shaping_begun");
    s.play(&format!("right at {middle} over 0.4\nright at {to} over 0.4\nwait 0.1"));
    // The skin moves before the stroke ends.
    let live = (0..60).any(|_| {
        s.app.frames(3);
        differing(&plain, &s.app.picture("shaping_live")) > 400
    });
    assert!(live && s.app.frame.history == [1, 0]);
    s.play("right trigger 0\nwait 0.1");
    s.app.until_frame(600, "shaped", |f| f.history == [2, 0]);
    s.app.press(Command::AccentDepth(false));
    s.app.frames(4);
    s.app.picture("shaping_silhouette");
    let (_, document) = s.save(runtime);
    let [shape] = document.sculpts() else { panic!("{} shapes", document.sculpts().len()) };
    let Form::Drawn(offsets) = &shape.form else { panic!("it was drawn by hand") };
    let most = offsets.iter().map(|o| o[0]).fold(0.0, f32::max);
    assert!((0.05..0.12).contains(&most), "the edge goes out by {most} m");
    let nearer = offsets.iter().map(|o| o[2]).fold(0.0, f32::max);
    assert!((0.02..0.08).contains(&nearer), "the edge comes nearer by {nearer} m");
}

/// Counts the pixels in the colour of silhouettes, per eye.
fn blue(picture: &image::RgbImage) -> [usize; 2] {
    let half = picture.width() / 2;
    let mut out = [0; 2];
    for (x, _, p) in picture.enumerate_pixels() {
        out[usize::from(x >= half)] += usize::from(p[2] > 170 && p[2].saturating_sub(p[0]) > 110);
    }
    out
}

/// Moves the head close to a joint, facing the joint, and moves the hands out of view.
pub fn look_near(s: &mut Session, joint: Vec3) {
    let (from, at) = (words(s.stage(joint + Vec3::new(0.6, 0.15, 0.4))), words(s.stage(joint)));
    s.play(&format!(
        "left at -0.6 0.6 0.4 &\nright at 0.6 0.6 0.4 &\nright turn 180 0 0 &\nhead at {from}\nhead look {at}\nwait 0.1"
    ));
}
