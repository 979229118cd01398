//! A real character held by both wrists: the body follows by its own stiffness, pinned feet stay.

use super::bed::Runtime;
use super::data::shared;
use super::stage::{Session, covered, words};
use sinew::base::NodeId;
use sinew::base::math::Vec3;
use sinew::bind::BindOptions;
use sinew::editor::{Command, GrabBy, Model};
use sinew::front::report::Event;
use sinew::rig::{Pose, PosedRig};
use std::path::Path;

/// Names of both wrists, both feet and the hips in the characters that are tried.
const NAMES: [[&str; 5]; 2] = [
    ["wrist.L", "wrist.R", "foot.L", "foot.R", "root"],
    ["LeftHand", "RightHand", "LeftFoot", "RightFoot", "Hips"],
];

/// What both hands do: towards the user, up, and to the user's right.
const PULL: Vec3 = Vec3::new(0.15, 0.1, 0.45);

fn places(model: &Model, pose: &Pose, nodes: &[NodeId; 5]) -> [Vec3; 5] {
    let rig = PosedRig::new(model.skeleton(), pose);
    nodes.map(|n| rig.world[n.index()].translation.into())
}

#[test]
fn both_wrists_of_a_real_character_are_pulled_and_its_pinned_feet_stay() {
    let Some(runtime) = Runtime::start() else { return };
    // The MakeHuman man with 163 joints, else the project's own human.
    let own = || Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/human.glb");
    let file = shared("derived/makehuman_male_8infl.glb").unwrap_or_else(own);
    let model = Model::load(&file, &BindOptions::default()).unwrap();
    let skeleton = model.skeleton();
    let known = |names: &[&str; 5]| {
        let nodes = names.map(|n| skeleton.find(n));
        nodes.iter().all(Option::is_some).then(|| nodes.map(Option::unwrap))
    };
    let mut nodes = NAMES.iter().find_map(known).expect("a character with hands and feet");
    let rest = model.rest();
    // The user's left hand takes the wrist that is on the left as seen.
    if places(&model, &rest, &nodes)[0].x > places(&model, &rest, &nodes)[1].x {
        nodes.swap(0, 1);
    }
    let [left, right, foot, other_foot, hips] = places(&model, &rest, &nodes);

    let mut s = Session::with(&runtime, &file.display().to_string(), &[], None);
    let shown = |e: &Event| matches!(e, Event::Shown(_)).then_some(());
    if s.app.events.iter().find_map(shown).is_none() {
        s.app.event("the body on the stage", shown);
    }
    let middle = words(s.stage(hips));
    s.play(&format!("head look {middle}\nwait 0.1"));
    s.play("left at -0.5 1 0.3 &\nright at 0.5 1 0.3\nwait 0.1");
    for foot in [foot, other_foot] {
        let at = s.tip(foot);
        s.play(&format!("right at {at}\nwait 0.1"));
        s.app.press(Command::TogglePin);
    }
    s.app.press(Command::GrabBy(GrabBy::Body));
    if s.app.frame.palette {
        s.app.press(Command::Palette);
    }
    s.play("right at 0.5 1 0.3\nwait 0.1");
    let before = s.app.picture("whole_before");
    let steps = s.app.frame.history[0];
    let (a, b) = (words(s.stage(left)), words(s.stage(right)));
    s.play(&format!("left at {a} &\nright at {b}\nwait 0.1\nleft squeeze 1 &\nright squeeze 1\nwait 0.1"));
    let by = words(PULL / s.app.frame.world_from_room.scale);
    s.play(&format!("left by {by} over 0.4 &\nright by {by} over 0.4\nwait 0.1"));
    assert!(s.app.frame.busy, "nothing is held: {:?}", s.app.frame);
    let held = s.app.picture("whole_held");
    let hash = s.app.hash();
    s.play("left squeeze 0 &\nright squeeze 0\nwait 0.1");
    assert_ne!(s.app.hash(), hash, "letting go changed nothing");
    assert_eq!(s.app.frame.history, [steps + 1, 0], "one step of undo");
    // The palette tells what it did to the body.
    s.app.press(Command::Palette);
    let strain =
        s.app.event("the strain", |e| if let Event::Measured(m) = e { Some(m.clone()) } else { None });
    s.play("left at -0.6 1 0.3 &\nright at 0.6 1 0.3\nwait 0.1");
    s.app.picture("whole_after");

    let (all, now) = (covered(&before), covered(&held));
    assert!(all.iter().chain(&now).all(|n| *n > 500), "{all:?} {now:?}");
    let half = before.width() / 2;
    for eye in 0..2 {
        let changed = before.enumerate_pixels().zip(held.pixels()).filter(|((x, _, a), b)| {
            usize::from(*x >= half) == eye && (0..3).any(|i| a[i].abs_diff(b[i]) > 24)
        });
        assert!(changed.count() > 300, "eye {eye} sees no change");
    }
    let volume = strain.volume_ratio.expect("a closed body");
    assert!((volume - 1.0).abs() < 0.05, "{strain:?}");

    let (model, document) = s.end(&runtime);
    let pose = document.posed(model.skeleton());
    let now = places(&model, &pose, &nodes);
    for (k, before) in [left, right].into_iter().enumerate() {
        assert!(now[k].distance(before + PULL) < 0.02, "hand {k}: {} {}", now[k], before + PULL);
    }
    for (k, before) in [(2, foot), (3, other_foot)] {
        assert!(now[k].distance(before) < 5e-3, "a pinned foot went from {before} to {}", now[k]);
    }
    assert!((now[4] - hips).dot(PULL) > 0.02 * PULL.length(), "the body stayed: {hips} {}", now[4]);
    // Bones keep their lengths: only the root is moved, all others turn.
    for (id, node) in model.skeleton().nodes.iter().enumerate() {
        let (a, b) = (rest.local[id].translation(), pose.local[id].translation());
        let moved = a.distance(b);
        assert!(moved < 1e-4 || NodeId::from(id) == nodes[4], "\"{}\" was torn off by {moved}", node.name);
    }
    println!("volume {volume}, hips by {}", now[4] - hips);
}
