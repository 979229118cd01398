//! Scenarios: jumps, flight and kept views; a grab recorded in real time; fingers that follow tracked fingers.

use super::bed::{Runtime, show};
use super::stage::{Session, differing, joints, words};
use sinew::app::report::{Ask, Event};
use sinew::asset::Property;
use sinew::base::math::Vec3;
use sinew::document::{Motion, Target};
use sinew::rig::{Pose, PosedRig};
use sinew::workbench::{Command, GrabBy, Travel};

/// Position of the head in the world.
fn eye(s: &Session) -> Vec3 {
    s.app.frame.world_from_room.point(s.app.frame.head.position)
}

pub fn the_free_hand_jumps_and_flies_and_a_kept_view_comes_back(s: &mut Session, runtime: &Runtime) {
    let (hash, start) = (s.app.hash(), eye(s));
    s.app.press(Command::Palette);
    s.app.press(Command::KeepView(0));
    // Straight ahead and upwards, so that the panel at the hand does not cover the place.
    s.play("left turn 0 15 0\nwait 0.1");
    let before = s.app.picture("jump_before");
    s.play("left stick 0 1\nwait 0.1");
    let arc = s.app.picture("jump");
    assert!(differing(&before, &arc) > 60, "the arc shows: {} pixels", differing(&before, &arc));
    assert!(eye(s).distance(start) < 1e-3, "nothing moves before the release");
    s.play("left stick 0 0\nwait 0.1");
    let jumped = eye(s) - start;
    assert!(jumped.y.abs() < 1e-3 && jumped.length() > 0.5, "{jumped}");
    s.app.press(Command::Travel(Travel::Fly));
    s.play("left stick 0 -1\nwait 0.5\nleft stick 0 0\nwait 0.1");
    let flown = eye(s) - start - jumped;
    assert!(flown.length() > 0.2 && flown.dot(jumped) < 0.0, "back: {flown} {jumped}");
    s.app.press(Command::GoToView(0));
    assert!(eye(s).distance(start) < 1e-3, "{} {start}", eye(s));
    s.app.press(Command::Travel(Travel::Jump));
    // The palette makes way for the arc, and comes back.
    s.app.press(Command::Palette);
    let palette = |s: &Session| s.app.frame.palette_place.is_some();
    assert!(palette(s));
    s.play("left stick 0 1\nwait 0.1");
    assert!(!palette(s), "the palette covers the place");
    s.app.press(Command::Cancel);
    assert!(palette(s));
    s.play("left stick 0 0\nwait 0.1");
    assert!(eye(s).distance(start) < 1e-3, "the jump was cancelled");
    assert_eq!((s.app.hash(), s.app.frame.history), (hash, [1, 0]));
    assert_eq!(runtime.findings(), "");
}

pub fn a_grab_is_recorded_and_plays(s: &mut Session, runtime: &Runtime) {
    s.app.press(Command::Record(true));
    let from = words(s.stage(Vec3::Y * 1.5));
    s.play(&format!("right at {from}\nwait 0.07\nright squeeze 1\nwait 0.07\nright by 0.4 -0.1 0 over 0.6"));
    s.play("right by -0.8 0 0 over 0.9\nright squeeze 0\nwait 0.1");
    let end = s.app.frame.time.expect("the end of the recording shows");
    assert!(end > 1.0, "{end} s");
    assert_eq!(s.app.frame.history, [2, 0], "one step");
    s.app.press(Command::Record(false));
    let (model, document) = s.save(runtime);
    let place = |time: f64| {
        let pose = document.state(model.skeleton(), Some(time)).pose;
        Vec3::from(PosedRig::new(model.skeleton(), &pose).world[3].translation)
    };
    let steps: Vec<Vec3> = (0..=20).map(|i| place(end * f64::from(i) / 20.0)).collect();
    let most = steps.iter().map(|p| p.x).fold(f32::MIN, f32::max);
    assert!(steps[0].x.abs() < 1e-3 && most > 0.15 && steps[20].x < -0.15, "there and back: {steps:?}");
    assert!(steps.windows(2).all(|p| p[0].distance(p[1]) < 0.25), "{steps:?}");
    assert!(joints(&model, &document)[3].x < -0.15, "the pose after the grab stays");

    // The lowest bone is turned while the recorded motion plays under the hand.
    let first = document.motion().clone();
    s.app.press(Command::GrabBy(GrabBy::Bone));
    s.app.press(Command::Record(true));
    s.app.press(Command::Scrub(0.0));
    let from = words(s.stage(Vec3::Y * 0.35));
    s.play(&format!("right at {from}\nwait 0.07\nright squeeze 1\nwait 0.1"));
    let early = s.app.picture("recorded_over");
    s.play("right by 0.05 0 0 over 0.5");
    let late = s.app.picture("recorded_over_later");
    assert!(differing(&early, &late) > 300, "the motion plays: {} pixels", differing(&early, &late));
    s.play("right squeeze 0\nwait 0.1");
    s.app.press(Command::Record(false));
    s.app.press(Command::GrabBy(GrabBy::default()));
    let (model, document) = s.save(runtime);
    let node = |joint: usize| model.skeleton().joints[joint].node;
    let of = |joint: usize, motion: &Motion| {
        motion.channel(&Target::node(node(joint), Property::Rotation)).cloned()
    };
    for joint in 1..3 {
        let [before, after] = [&first, document.motion()].map(|motion| of(joint, motion));
        assert!(before.is_some() && before == after, "joint {joint} keeps its motion");
    }
    assert_ne!(of(0, &first), of(0, document.motion()), "the lowest bone has new keys");
}

pub fn tracked_fingers_pose_those_of_a_person(s: &mut Session, runtime: &Runtime) {
    let glb = sinew::generate::glb(sinew::generate::Kind::Human).unwrap();
    std::fs::write(runtime.path("person.glb"), &glb).unwrap();
    s.app.ask(&Ask::Command(Command::Open("person.glb".into())));
    s.app.event("the file", |e| matches!(e, Event::Loaded(_)).then_some(()));
    s.app.event("the body on the stage", |e| matches!(e, Event::Shown(_)).then_some(()));
    s.app.press(Command::Palette);
    let (model, _) = s.save(runtime);
    let skeleton = model.skeleton();
    let rest = Pose::rest(skeleton).world(skeleton);
    let place = |name: &str| Vec3::from(rest[skeleton.find(name).unwrap().index()].translation);
    let touch = s.tip(place("LeftMiddle2"));
    s.play(&format!("right turn 0 0 0\nright at {touch}\nwait 0.1"));
    let curl = |s: &mut Session, value: f32| {
        let hand = &mut s.puppet.state.hands[0];
        (hand.fingers, hand.curl) = (true, [value; 5]);
        show(&mut s.puppet, &mut s.app);
        s.app.frames(4);
    };
    curl(s, 0.0);
    s.app.press(Command::Fingers(true));
    assert!(s.app.frame.busy, "the fingers follow");
    curl(s, 1.0);
    s.app.picture("fingers");
    s.app.press(Command::Fingers(false));
    assert_eq!(s.app.frame.history, [2, 0], "one step");
    let (model, document) = s.save(runtime);
    let pose = document.posed(model.skeleton()).world(skeleton);
    let wrist = skeleton.find("LeftHand").unwrap().index();
    let reach = |world: &[sinew::base::math::Affine3A], name: &str| {
        world[skeleton.find(name).unwrap().index()].translation.distance(world[wrist].translation)
    };
    for finger in ["Index", "Middle", "Ring", "Pinky"] {
        let [open, closed] = [&rest, &pose].map(|world| reach(world, &format!("Left{finger}End")));
        assert!(closed < 0.8 * open, "{finger}: {closed} {open}");
        let [a, b] = [&rest, &pose].map(|world| reach(world, &format!("Right{finger}End")));
        assert!((a - b).abs() < 1e-4, "the other hand stays");
    }
    let hand = &mut s.puppet.state.hands[0];
    (hand.fingers, hand.curl) = (false, [0.0; 5]);
}
