//! A cage in the headset: the user poses an arm, inflates it with two hands on the posed cage, keys the cage and plays
//! the motion.

use super::details::Details;
use super::shaping::{AT_PALETTE, look_near};
use super::stage::{Session, differing, words};
use sinew::base::Progress;
use sinew::base::math::{DVec3, Vec3};
use sinew::bind::BindOptions;
use sinew::deform::Recipe;
use sinew::document::Document;
use sinew::rig::{Pose, PosedRig};
use sinew::scene::{Evaluator, Model, PosedCage, Where};
use sinew::ui::Section;
use sinew::ui::palette::Spot;
use sinew::workbench::{CageSet, Command, GrabBy, Tool};

/// Distance by which each hand pulls its side of the arm outwards, metres.
const PULLED: f32 = 0.14;

fn at(model: &Model, rig: &PosedRig, name: &str) -> Vec3 {
    rig.world[model.skeleton().find(name).unwrap().index()].translation.into()
}

/// The vertices of the posed cage in world space, metres.
fn posed_cage(model: &Model, document: &Document, pose: &Pose) -> Vec<Vec3> {
    let coupling = model.couple(document.cage().unwrap(), &Progress::default()).unwrap();
    let mut posed = PosedCage::default();
    posed.follow(&model.bound.character, &coupling, &PosedRig::new(model.skeleton(), pose));
    posed.positions.iter().map(|x| x.as_vec3()).collect()
}

/// Mean distance of the skin of the left upper arm from the line between shoulder and elbow, at its middle, metres.
fn thickness(model: &Model, document: &Document, pose: &Pose) -> f32 {
    let mut evaluator = Evaluator::new(&Where::Cpu, model, &Recipe::from_name("lbs").unwrap()).unwrap();
    evaluator.set_document(model, document).unwrap();
    let x = evaluator.evaluate(model, pose).unwrap().control;
    let rig = PosedRig::new(model.skeleton(), pose);
    let [shoulder, elbow] = ["LeftUpperArm", "LeftLowerArm"].map(|n| at(model, &rig, n));
    let along = (elbow - shoulder).normalize();
    let bind = PosedRig::new(model.skeleton(), &model.rest());
    let [head, tail] = ["LeftUpperArm", "LeftLowerArm"].map(|n| at(model, &bind, n));
    let middle = |v: &usize| {
        let t = (model.bound.character.control.positions[*v] - head).dot(tail - head)
            / (tail - head).length_squared();
        let near = model.bound.character.control.positions[*v].distance(head.lerp(tail, t)) < 0.09;
        (0.4..0.6).contains(&t) && near
    };
    let of: Vec<f32> = (0..x.len())
        .filter(middle)
        .map(|v| {
            let from = x[v] - shoulder;
            (from - along * from.dot(along)).length()
        })
        .collect();
    assert!(of.len() > 10, "the arm has {} vertices there", of.len());
    of.iter().sum::<f32>() / of.len() as f32
}

/// Two hands take the ring of the cage around the left upper arm and pull it apart.
fn inflate(s: &mut Session, model: &Model, document: &Document, pose: &Pose) {
    let middle = |pose: &Pose| {
        let rig = PosedRig::new(model.skeleton(), pose);
        let [shoulder, elbow] = ["LeftUpperArm", "LeftLowerArm"].map(|n| at(model, &rig, n));
        (shoulder.lerp(elbow, 0.5), (elbow - shoulder).normalize())
    };
    // The vertex that is nearest at rest belongs to the arm; others may be near it in this pose.
    let (rest, _) = middle(&model.rest());
    let of = |x: &DVec3| x.as_vec3().distance(rest);
    let vertices = document.cage().unwrap().mesh.positions.iter().enumerate();
    let vertex = vertices.min_by(|a, b| of(a.1).total_cmp(&of(b.1))).unwrap().0;
    let near = posed_cage(model, document, pose)[vertex];
    let (middle, along) = middle(pose);
    let out = (near - middle).reject_from(along).normalize();
    let other = middle - out * near.distance(middle);
    let [from, to] = [near, near + out * PULLED].map(|x| s.tip(x));
    let [left_from, left_to] = [other, other - out * PULLED].map(|x| s.tip(x));
    s.play(&format!(
        "right turn 0 0 0\nleft turn 0 0 0\nright at {from}\nleft at {left_from}\nwait 0.1\nright trigger 1\nwait 0.07\n\
         left trigger 1\nwait 0.07\nright at {to} over 0.3 &\nleft at {left_to} over 0.3\nwait 0.07\nleft trigger 0\n\
         wait 0.07\nright trigger 0\nwait 0.1"
    ));
}

#[test]
fn a_posed_arm_is_inflated_by_two_hands_on_its_cage_posed_again_keyed_and_played() {
    let bytes = std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/assets/human.glb")).unwrap();
    let Some((runtime, mut s)) = Session::start_with("human.glb", &bytes, &[]) else { return };
    let model = Model::load(&runtime.path("human.glb"), &BindOptions::default()).unwrap();
    let bind = PosedRig::new(model.skeleton(), &model.rest());
    s.app.press(Command::Deformer("lbs".into()));
    s.play(AT_PALETTE);
    let details = Details::open(&mut s, &runtime, Section::Cage);
    details.press(&mut s, &Spot::Text("120".into()));
    s.app.until_frame(6000, "with a cage", |f| f.history[0] == 3);
    details.close(&mut s);

    // The left hand of the character goes up.
    s.app.press(Command::Tool(Tool::Grab));
    s.app.press(Command::GrabBy(GrabBy::Limb));
    let lift = |s: &mut Session, from: Vec3, to: Vec3| {
        let (from, to) = (words(s.stage(from)), words(s.stage(to)));
        s.play(&format!(
            "right turn 0 0 0\nright at {from}\nwait 0.1\nright squeeze 1\nwait 0.07\nright at {to} over 0.3\nwait 0.07\nright squeeze 0\nwait 0.1"
        ));
    };
    let hand = at(&model, &bind, "LeftHand");
    let elbow = at(&model, &bind, "LeftLowerArm");
    lift(&mut s, hand, elbow + Vec3::new(0.02, 0.2, 0.12));
    assert_eq!(s.app.frame.history, [4, 0], "opened, method, cage, pose");
    let (_, document) = s.save(&runtime);
    let pose = document.posed(model.skeleton());
    let before = thickness(&model, &document, &pose);
    let plain = s.app.hash();

    s.app.press(Command::Tool(Tool::Cage));
    s.app.press(Command::CageSet(CageSet::Ring));
    look_near(&mut s, elbow);
    let slim = s.app.picture("cage_slim");
    s.play("head at 0 1.6 0 &\nhead turn 0 0 0");
    inflate(&mut s, &model, &document, &pose);
    assert_eq!(s.app.frame.history, [5, 0], "the cage moved once");
    look_near(&mut s, elbow);
    let thick = s.app.picture("cage_thick");
    assert!(differing(&slim, &thick) > 200, "the arm looks the same");
    s.play("head at 0 1.6 0 &\nhead turn 0 0 0");
    let (_, inflated) = s.save(&runtime);
    let pose = inflated.posed(model.skeleton());
    let after = thickness(&model, &inflated, &pose);
    println!("the upper arm: {before} m, then {after} m");
    assert!(after > 1.15 * before, "{before} {after}");
    s.app.press(Command::Undo);
    s.app.until_frame(600, "undone", |f| f.history == [4, 1]);
    s.app.frames(4);
    assert_eq!(s.app.hash(), plain);
    s.app.press(Command::Redo);
    s.app.until_frame(600, "done again", |f| f.history == [5, 0]);

    // After another pose, the arm is still thick. Cage and pose get keys of their own.
    let rig = PosedRig::new(model.skeleton(), &pose);
    s.app.press(Command::Tool(Tool::Grab));
    let hand = at(&model, &rig, "LeftHand");
    lift(&mut s, hand, hand + Vec3::new(0.0, -0.15, 0.1));
    assert_eq!(s.app.frame.history, [6, 0]);
    let (_, again) = s.save(&runtime);
    let posed = again.posed(model.skeleton());
    let still = thickness(&model, &again, &posed);
    assert!((still / after - 1.0).abs() < 0.1, "{after} {still}");
    s.app.press(Command::Key);
    s.app.press(Command::KeyCage);
    s.app.press(Command::Scrub(1.0));
    s.app.press(Command::Tool(Tool::Cage));
    let keyed = s.save(&runtime).1;
    let shown = keyed.state(model.skeleton(), Some(1.0)).pose;
    inflate(&mut s, &model, &keyed, &shown);
    s.app.press(Command::Play(true));
    s.app.frames(20);
    s.app.press(Command::Play(false));

    let (model, document) = s.end(&runtime);
    let channel = document.cage_channel().expect("the cage has keys");
    assert_eq!(channel.times, [0.0, 1.0]);
    let thick = |t: f64| thickness(&model, &document, &document.state(model.skeleton(), Some(t)).pose);
    let [first, half, last] = [0.0, 0.5, 1.0].map(thick);
    println!("keyed: {first} m, {half} m, {last} m");
    assert!(last > 1.1 * first && half > first && half < last, "{first} {half} {last}");
}
