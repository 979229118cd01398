//! What the saved documents of the tasks must hold, whichever face made them.

use super::characters::joints;
use sinew::asset::Property;
use sinew::base::math::{Quat, Vec3};
use sinew::document::{Document, Target};
use sinew::rig::{Pose, PosedRig};
use sinew::scene::{Model, recipe};
use sinew::surface::Form;

const ARM: [&str; 3] = ["LeftUpperArm", "LeftLowerArm", "LeftHand"];
const FEET: [&str; 2] = ["LeftFoot", "RightFoot"];

fn pose(model: &Model, document: &Document) -> Pose {
    document.posed(model.skeleton())
}

/// The left hand is as high as the left shoulder at least, and the bones keep their lengths.
pub fn arm(model: &Model, document: &Document) {
    let now = joints(model, &pose(model, document), ARM);
    let rest = joints(model, &model.rest(), ARM);
    assert!(now[2].y > now[0].y, "the hand hangs: {now:?}");
    for k in 0..2 {
        let change = now[k].distance(now[k + 1]) - rest[k].distance(rest[k + 1]);
        assert!(change.abs() < 1e-3, "a bone changed its length by {change} m");
    }
    assert_eq!(document.strokes().len(), 1);
}

/// The left hand turned by 30 to 60 degrees, and its wrist stayed where it was.
pub fn wrist(model: &Model, document: &Document) {
    let (now, rest) = (pose(model, document), model.rest());
    let hand = model.skeleton().find("LeftHand").unwrap();
    let turn = |pose: &Pose| -> Quat {
        let rig = PosedRig::new(model.skeleton(), pose);
        rig.world[hand.index()].to_scale_rotation_translation().1
    };
    let angle = turn(&now).angle_between(turn(&rest)).to_degrees();
    assert!((30.0..60.0).contains(&angle), "the hand turned by {angle} degrees");
    let [wrist, before] = [&now, &rest].map(|p| joints(model, p, ["LeftHand"])[0]);
    assert!(wrist.distance(before) < 5e-3, "the wrist moved from {before} to {wrist}");
}

/// The hips leaned by 5 cm at least, and both pinned feet stayed.
pub fn lean(model: &Model, document: &Document) {
    let (now, rest) = (pose(model, document), model.rest());
    assert_eq!(document.pins().len(), 2);
    let [hips, before] = [&now, &rest].map(|p| joints(model, p, ["Chest"])[0]);
    assert!(hips.distance(before) > 0.05, "the chest moved from {before} to {hips}");
    let height = model.bound.character.control.positions.iter().map(|p| p.y).fold(0.0, f32::max);
    for (now, before) in joints(model, &now, FEET).iter().zip(joints(model, &rest, FEET)) {
        assert!(now.distance(before) < 5e-4 * height, "a pinned foot went from {before} to {now}");
    }
}

/// A ring around a limb is pulled out, and two keys give it different amplitudes.
pub fn ring(_: &Model, document: &Document) {
    let ([ring], [layer]) = (document.marks(), document.sculpts()) else {
        panic!("{} marks, {} layers", document.marks().len(), document.sculpts().len())
    };
    assert!(ring.closed && layer.mark == Some(ring.id));
    let Form::Drawn(offsets) = &layer.form else { panic!("it was drawn by hand") };
    let most = offsets.iter().map(|o| Vec3::from(*o).length()).fold(0.0, f32::max);
    assert!(most > 0.01, "pulled out by {most} m");
    let keys = document.motion().channel(&Target::SculptAmplitude(layer.id)).expect("no keys");
    assert!(keys.times.len() >= 2 && keys.times[1] > keys.times[0], "{:?}", keys.times);
    let apart = (keys.value(0)[0] - keys.value(1)[0]).abs();
    assert!(apart > 0.3, "the keys differ by {apart}");
}

/// The springs' twist differs from its default.
pub fn flesh(_: &Model, document: &Document) {
    let now = recipe(document.deformer()).unwrap().springs.unwrap().torsion;
    let plain = sinew::deform::springs::Params::default().torsion;
    assert!((now - plain).abs() > 0.3, "{plain} became {now}");
}

/// The first morph target is keyed from nothing to most of its weight.
pub fn face(_: &Model, document: &Document) {
    let motion = document.motion();
    let keys = motion
        .channels()
        .iter()
        .find(|c| matches!(c.target, Target::Node { property: Property::Weights, .. }))
        .expect("no keys");
    assert_eq!(keys.times.len(), 2, "{:?}", keys.times);
    let (start, end) = (keys.value(0), keys.value(1));
    assert!(start[0] == 0.0 && end[0] > 0.8 && end[1..].iter().all(|w| *w == 0.0), "{start:?} {end:?}");
}

/// Four keys of the legs, which are twice as far apart as they were set.
pub fn walk(model: &Model, document: &Document) {
    let times = document.motion().key_times();
    assert_eq!(times.len(), 4, "{times:?}");
    let steps: Vec<f64> = times.windows(2).map(|t| t[1] - t[0]).collect();
    assert!(times[0] == 0.0 && steps.iter().all(|s| *s > 0.3), "{times:?}");
    let foot = |time: f64| joints(model, &document.state(model.skeleton(), Some(time)).pose, FEET);
    let places: Vec<[Vec3; 2]> = times.iter().map(|t| foot(*t)).collect();
    for pair in places.windows(2) {
        let moved = (0..2).map(|k| pair[0][k].distance(pair[1][k])).fold(0.0, f32::max);
        assert!(moved > 0.03, "two keys look alike: {pair:?}");
    }
}

/// The file's clip plays below a stroke.
pub fn clip(model: &Model, document: &Document) {
    assert_eq!((document.motion().clips().len(), document.strokes().len()), (1, 1));
    let at = |time: f64| document.state(model.skeleton(), Some(time)).pose;
    let length = model.skeleton().clips[0].duration();
    let moves = (1..8).any(|k| at(0.0) != at(f64::from(length) * f64::from(k) / 8.0));
    assert!(moves, "the clip does not move the body");
}

/// The document's method is another one than springs.
pub fn method(_: &Model, document: &Document) {
    let method = &document.deformer().method;
    assert!(sinew::deform::Recipe::NAMES.contains(&method.as_str()) && method != "springs", "{method}");
}
