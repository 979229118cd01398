//! Flesh that stops flesh: a bulging calf meets the thigh at a bent knee, and a hand presses into the belly.

use super::review::press;
use super::shaping::{AT_PALETTE, arc_of_ring, look_near};
use super::stage::{Session, differing, words};
use image::RgbImage;
use sinew::app::report::Event;
use sinew::base::math::{Quat, Vec3};
use sinew::bind::BindOptions;
use sinew::deform::Recipe;
use sinew::document::Document;
use sinew::geom::CrossingsReport;
use sinew::rig::PosedRig;
use sinew::scene::{Evaluator, Model, Where, recipe};
use sinew::ui::palette::{Page, Spot};
use sinew::workbench::{Command, GrabBy, Tool};

/// Distance between the hand and the calf's axis while the hand circles the calf, metres.
const ROUND: f32 = 0.08;
/// Distance by which the hand pulls the ring outwards, metres.
const PULLED: f32 = 0.02;

/// Returns the positions of joints in a pose, world space, metres.
fn joints<const N: usize>(model: &Model, rig: &PosedRig, names: [&str; N]) -> [Vec3; N] {
    names.map(|name| rig.world[model.skeleton().find(name).unwrap().index()].translation.into())
}

/// Returns the control vertices of a document's shape with other contact cycles or another recipe.
fn shape(model: &Model, document: &Document, recipe: &Recipe) -> (Vec<Vec3>, CrossingsReport) {
    let mut evaluator = Evaluator::new(&Where::Cpu, model, recipe).unwrap();
    evaluator.set_document(model, document).unwrap();
    let x = evaluator.evaluate(model, &document.posed(model.skeleton())).unwrap().control;
    let report = model.crossings().report(&x);
    (x, report)
}

/// Grabs the limb at a joint, moves it to a position and rotates it about the x axis, degrees.
fn move_limb(s: &mut Session, from: Vec3, to: Vec3, pitch: f32) {
    let (from, to) = (words(s.stage(from)), words(s.stage(to)));
    s.play(&format!(
        "right turn 0 0 0\nright at {from}\nwait 0.1\nright squeeze 1\nwait 0.07\nright turn 0 {pitch} 0 over 0.4 &\nright at {to} over 0.4\nwait 0.07\nright squeeze 0\nwait 0.1"
    ));
}

#[test]
fn a_bulging_calf_meets_the_thigh_and_a_hand_presses_into_the_belly() {
    let bytes = std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/assets/human.glb")).unwrap();
    let Some((runtime, mut s)) = Session::start_with("human.glb", &bytes, &[]) else { return };
    let model = Model::load(&runtime.path("human.glb"), &BindOptions::default()).unwrap();
    let rest = PosedRig::new(model.skeleton(), &model.rest());
    let [knee, foot, hand] = joints(&model, &rest, ["LeftLowerLeg", "LeftFoot", "LeftHand"]);
    let skin = &model.bound.character.control.positions;
    let front = |v: &&Vec3| (1.0..1.1).contains(&v.y) && v.x.abs() < 0.08;
    let belly = skin.iter().filter(front).fold(Vec3::NEG_INFINITY, |a, b| if b.z > a.z { *b } else { a });

    let contact = Spot::Command(Command::Contact(true));
    s.app.press(Command::Deformer("volume".into()));
    s.play(AT_PALETTE);
    press(&mut s, None, &Spot::Page(Page::View));
    press(&mut s, Some(Page::View), &contact);
    assert_eq!(s.app.frame.history, [3, 0], "opened, method, contact");

    // A ring around the calf, which the hand pulls outwards.
    s.app.press(Command::Tool(Tool::Skin));
    let held = arc_of_ring(&mut s, knee.lerp(foot, 0.3), (foot - knee).normalize(), ROUND);
    let out = (held - knee).reject_from((foot - knee).normalize()).normalize();
    let (from, to) = (s.tip(held), s.tip(held + out * PULLED));
    s.play(&format!(
        "right turn 0 0 0\nright at {from}\nwait 0.1\nright trigger 1\nwait 0.07\nright at {to} over 0.3\nwait 0.07\nright trigger 0\nwait 0.1"
    ));
    assert_eq!(s.app.frame.history, [5, 0], "ring, shape");
    look_near(&mut s, knee);
    let straight = s.app.picture("flesh_straight");

    // The foot goes behind the thigh.
    s.app.press(Command::GrabBy(GrabBy::Limb));
    move_limb(&mut s, foot, knee + Quat::from_rotation_x(2.1) * (foot - knee), 110.0);
    look_near(&mut s, knee);
    let bent = s.app.picture("flesh_knee");
    assert!(differing(&straight, &bent) > 1000, "the knee does not bend");
    s.play("head at 0 1.6 0 &\nhead turn 0 0 0");

    // The wrist goes to the surface of the belly.
    move_limb(&mut s, hand, belly + Vec3::new(0.06, 0.0, 0.005), 0.0);
    let before = s.app.hash();
    look_near(&mut s, belly);
    let pressed = s.app.picture("flesh_belly");
    s.play("head at 0 1.6 0 &\nhead turn 0 0 0");
    s.play(AT_PALETTE);
    press(&mut s, Some(Page::View), &contact);
    look_near(&mut s, belly);
    let through = s.app.picture("flesh_belly_without_contact");
    assert!(differing(&pressed, &through) > 30, "contact changes nothing that shows");
    // A red curve shows where the hand passes through the belly.
    s.play("head at 0 1.6 0 &\nhead turn 0 0 0");
    s.play(AT_PALETTE);
    let measured = |e: &Event| matches!(e, Event::Measured(_)).then_some(());
    let count = |s: &Session| s.app.events.iter().filter_map(measured).count();
    let (earlier, steps) = (count(&s), s.app.frame.history);
    press(&mut s, Some(Page::View), &Spot::Command(Command::Crossings(true)));
    if count(&s) == earlier {
        s.app.event("the crossings", measured);
    }
    look_near(&mut s, belly);
    let curve = s.app.picture("flesh_belly_crossings");
    let red = |p: &RgbImage| p.pixels().filter(|p| p.0[0] > 180 && p.0[1].max(p.0[2]) < 110).count();
    println!("red pixels: {} with the curve, {} without", red(&curve), red(&through));
    assert!(red(&curve) > red(&through) + 20, "no curve shows the crossings");
    assert_eq!(s.app.frame.history, steps, "a view is no edit");
    s.app.press(Command::Undo);
    assert_eq!(s.app.hash(), before);

    let (model, document) = s.end(&runtime);
    let rig = PosedRig::new(model.skeleton(), &document.posed(model.skeleton()));
    let [hip, knee, foot, hand] =
        joints(&model, &rig, ["LeftUpperLeg", "LeftLowerLeg", "LeftFoot", "LeftHand"]);
    let angle = (knee - hip).angle_between(foot - knee).to_degrees();
    assert!((112.0..135.0).contains(&angle), "the knee bends by {angle} degrees");
    assert_eq!((document.marks().len(), document.sculpts().len()), (1, 1));
    let own = recipe(document.deformer()).unwrap();
    let volume = own.volume.expect("the method is volume");
    assert!(volume.contact > 0);
    let without =
        Recipe { volume: Some(sinew::deform::volume::Params { contact: 0, ..volume }), ..own.clone() };
    let lbs = Recipe::from_name("lbs").unwrap();
    let (touching, apart, linear) =
        (shape(&model, &document, &own), shape(&model, &document, &without), shape(&model, &document, &lbs));
    let count = |(_, report): &(Vec<Vec3>, CrossingsReport)| report.crossings;
    println!("crossings: contact {}, without {}, LBS {}", count(&touching), count(&apart), count(&linear));
    assert!(count(&apart) > 50 && 4 * count(&touching) < count(&apart), "contact leaves crossings");
    assert!(4 * count(&touching) < count(&linear));
    // Both the hand and the belly give way, and so do calf and thigh.
    let influences = &model.bound.character.control.influences;
    let gives = |near: Vec3, parts: &[&str]| {
        let of: Vec<u16> = parts
            .iter()
            .map(|n| model.skeleton().find(n).unwrap())
            .map(|n| model.skeleton().joints.iter().position(|j| j.node == n).unwrap() as u16)
            .collect();
        (0..skin.len())
            .filter(|&v| influences.of(v).next().is_some_and(|(joint, _)| of.contains(&joint)))
            .filter(|&v| apart.0[v].distance(near) < 0.25)
            .map(|v| apart.0[v].distance(touching.0[v]))
            .fold(0.0, f32::max)
    };
    let arm = gives(hand, &["LeftHand", "LeftLowerArmTwist", "LeftLowerArm"]);
    let trunk = gives(hand, &["Hips", "Spine", "Spine1", "Spine2"]);
    let calf = gives(knee, &["LeftLowerLeg", "LeftLowerLegTwist"]);
    let thigh = gives(knee, &["LeftUpperLeg", "LeftUpperLegTwist"]);
    println!("gives way, m: arm {arm}, trunk {trunk}, calf {calf}, thigh {thigh}");
    assert!([arm, trunk, calf, thigh].iter().all(|d| *d > 0.001));
}
