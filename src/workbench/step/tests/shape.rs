//! Tests of the selected sculpt layer: palette commands, keys and displayed values.

use super::*;
use crate::base::MarkId;
use crate::deform::blend::Painted;
use crate::deform::classic::Method;
use crate::deform::sculpt::{Around, Curve, Profile, Wave};
use crate::deform::{Geometric, Recipe};
use crate::document::{DeformerSettings, Edit, Key, KeyEdit, KeyValue, Target};
use crate::scene::CONTACT;
use crate::surface::{Form, Reach, Region, Sculpt, SurfacePoint, SurfaceStroke};

/// A capsule with `count` sculpt layers; the newest is a freely drawn layer.
fn shaped(count: u32) -> Script {
    let character = Arc::new(capsule(2, 24, 24, 0.15, 1.0));
    let mut s = Script::new(&character);
    for k in 0..count {
        let point = |triangle: u32| SurfacePoint {
            triangle,
            barycentrics: [1.0 / 3.0; 3],
            pressure: 1.0,
            time: 0.0,
            lifted: false,
        };
        let points = vec![point(400 + 40 * k), point(402 + 40 * k)];
        let mark = SurfaceStroke { id: MarkId(k), name: String::new(), points, closed: false, radius: 0.1 };
        let region = Region::from_mark(&character, &mark, Reach::Edges(3)).unwrap();
        let form = match k {
            0 => Form::Profile(Profile { curve: Curve::Even, amount: 0.2, ..Profile::default() }),
            _ => Form::Drawn(vec![[0.0, 0.0, 0.03]; region.kinematic.len()]),
        };
        let sculpt = Sculpt::new(SculptId(k), Some(mark.id), region, form);
        let add = Edit::AddSculpt { index: None, sculpt: Box::new(sculpt) };
        s.bench.apply(Edit::Group(vec![Edit::AddMark { index: None, mark: Box::new(mark) }, add]), false);
    }
    s.step();
    s
}

fn amplitude(s: &Script) -> f32 {
    s.bench.shape_state().unwrap().amplitude
}

#[test]
fn a_slider_is_one_step_and_another_shape_is_another() {
    let mut s = shaped(2);
    let (hash, steps) = (s.hash(), s.bench.session().history().0);
    for k in 1..=5 {
        s.bench.run_command(Command::Amplitude(0.2 * k as f32 + 0.5));
        s.step();
    }
    assert_eq!(s.bench.session().history().0, steps + 1);
    assert_eq!(amplitude(&s), 1.5);
    s.bench.run_command(Command::SelectShape(1));
    assert_eq!(s.bench.shape_state().unwrap().place, [1, 2], "around at the end");
    s.bench.run_command(Command::Stiffness(4.0));
    s.bench.run_command(Command::Amplitude(1e9));
    s.bench.run_command(Command::Amplitude(f32::NAN));
    s.step();
    let shape = s.bench.shape().unwrap();
    assert_eq!((shape.id.0, shape.stiffness), (0, 4.0));
    assert!(shape.amplitude.is_finite());
    assert_eq!(s.bench.session().history().0, steps + 3, "stiffness and amplitude are two steps");
    for _ in 0..3 {
        s.bench.run_command(Command::Undo);
    }
    assert_eq!(s.hash(), hash);
}

#[test]
fn profiles_and_waves_and_what_is_gone() {
    let mut s = shaped(2);
    s.bench.run_command(Command::WaveSpeed(2.0));
    assert!(s.bench.notice().is_some_and(|n| n.contains("no wave")), "{:?}", s.bench.notice());
    let wave = Wave { count: 2.0, speed: 1.0, phase: 0.0 };
    s.bench.run_command(Command::Profile(Curve::Wave(wave)));
    s.bench.run_command(Command::WaveSpeed(2.0));
    s.bench.run_command(Command::WaveCount(3.0));
    s.bench.run_command(Command::WavePhase(1.0));
    let curve = s.bench.shape_state().unwrap().curve;
    assert_eq!(curve, Some(Curve::Wave(Wave { count: 3.0, speed: 2.0, phase: 1.0 })));
    let seconds = |s: &Script| s.bench.sculpt_states()[0].seconds;
    s.step();
    let before = seconds(&s);
    s.step();
    assert!(seconds(&s) > before, "waves travel");
    s.bench.run_command(Command::ShapeOn(false));
    s.step();
    assert_eq!(s.bench.sculpt_states().len(), 1, "one of two takes part");
    s.bench.run_command(Command::RemoveShape);
    let document = s.bench.session().document();
    assert_eq!((document.sculpts().len(), document.marks().len()), (1, 1), "its mark goes with it");
    s.bench.run_command(Command::RemoveShape);
    s.bench.run_command(Command::RemoveShape);
    assert!(s.bench.notice().is_some_and(|n| n.contains("no shape")));
}

#[test]
fn a_key_holds_pose_and_shapes_and_playing_shows_both() {
    let mut s = shaped(1);
    s.bench.run_command(Command::Amplitude(0.0));
    s.bench.run_command(Command::Key);
    s.step();
    s.bench.run_command(Command::Scrub(1.0));
    s.step();
    assert_eq!(amplitude(&s), 0.0);
    s.bench.run_command(Command::Amplitude(1.0));
    s.step();
    assert_eq!(s.bench.shown_time(), None, "a change of a shape is on the table, as one of the pose");
    assert_eq!(amplitude(&s), 1.0);
    let steps = s.bench.session().history().0;
    s.bench.run_command(Command::Key);
    s.step();
    assert_eq!(s.bench.session().history().0, steps + 1, "one step");
    s.bench.run_command(Command::Scrub(0.5));
    s.step();
    assert!((amplitude(&s) - 0.5).abs() < 1e-6, "{}", amplitude(&s));
    assert!((s.bench.sculpt_states()[0].amplitude - 0.5).abs() < 1e-6);
    s.bench.run_command(Command::Scrub(0.0));
    s.bench.run_command(Command::Play(true));
    let mut last = -1.0;
    for _ in 0..20 {
        s.step();
        let now = amplitude(&s);
        assert!(now > last, "{now} after {last}");
        last = now;
    }
    assert!(last > 0.2);
    // Grabbing the displayed pose, or keying it, also copies the sculpt states.
    s.bench.run_command(Command::Play(false));
    s.step();
    let shown = amplitude(&s);
    s.bench.take_pose();
    s.step();
    assert_eq!(s.bench.shown_time(), None);
    assert_eq!(s.bench.session().document().sculpts()[0].amplitude, shown);
}

/// A bulge on a body whose joint turns from 0 to 1 s; the motion shows the middle.
fn bulge_on_a_motion() -> (Script, Pose) {
    let mut s = shaped(1);
    for (time, degrees) in [(0.0, 0.0), (1.0, 90.0)] {
        s.bench.run_command(Command::Scrub(time));
        s.step();
        s.bench.leave_motion();
        let turns = vec![(crate::rig::Axis::X, degrees)];
        s.bench.apply(Edit::RotateJoint { node: NodeId(1), turns }, false);
        let pose = s.bench.session().posed();
        s.bench.apply(Edit::SetKey(Key { time, pose }), false);
        s.step();
    }
    s.bench.run_command(Command::Scrub(0.5));
    s.step();
    let pose = s.bench.context.pose.clone();
    assert!(pose != s.bench.session().posed() && s.bench.shown_time().is_some());
    (s, pose)
}

#[test]
fn a_bulge_changes_on_a_motion_and_the_body_stays_in_its_displayed_pose() {
    let (mut s, pose) = bulge_on_a_motion();
    let hash = s.hash();
    // Without keys, the motion shows the change.
    s.bench.run_command(Command::Amplitude(0.4));
    s.step();
    assert_eq!((amplitude(&s), s.bench.sculpt_states()[0].amplitude), (0.4, 0.4));
    assert!(s.bench.shown_time().is_some() && s.bench.context.pose == pose);
    // Keys hide the change, so the edited pose shows: the pose that was displayed.
    s.bench.run_command(Command::Key);
    s.step();
    s.bench.run_command(Command::Scrub(0.75));
    s.step();
    let pose = s.bench.context.pose.clone();
    s.bench.run_command(Command::Amplitude(0.9));
    s.step();
    assert_eq!((s.bench.shown_time(), s.bench.sculpt_states()[0].amplitude), (None, 0.9));
    let turned = |a: &Pose, b: &Pose| {
        let pairs = a.local.iter().zip(&b.local);
        pairs.map(|(a, b)| a.rotation().angle_between(b.rotation())).fold(0.0, f32::max)
    };
    assert!(turned(&s.bench.context.pose, &pose) < 1e-3);
    assert!(turned(&s.bench.session().posed(), &pose) < 1e-3);
    (0..3).for_each(|_| s.bench.run_command(Command::Undo));
    assert_eq!(s.hash(), hash, "slider, key and slider are three steps");
}

#[test]
fn auto_key_keys_a_bulge_on_a_motion_that_goes_on() {
    let (mut s, pose) = bulge_on_a_motion();
    s.bench.run_command(Command::AutoKey(true));
    s.bench.run_command(Command::Amplitude(0.4));
    s.step();
    assert!(s.bench.shown_time().is_some() && s.bench.context.pose == pose);
    let document = s.bench.session().document();
    let target = Target::SculptAmplitude(document.sculpts()[0].id);
    assert_eq!(document.motion().channel(&target).unwrap().times, [0.5]);
    assert_eq!(s.bench.sculpt_states()[0].amplitude, 0.4);
}

#[test]
fn auto_key_keys_the_slider() {
    let mut s = shaped(1);
    s.bench.run_command(Command::Key);
    s.bench.run_command(Command::AutoKey(true));
    s.bench.run_command(Command::Scrub(1.0));
    s.step();
    for k in 0..4 {
        s.bench.run_command(Command::Amplitude(0.9 - 0.1 * k as f32));
        s.step();
    }
    let document = s.bench.session().document();
    let id = document.sculpts()[0].id;
    let channel = document.motion().channel(&Target::SculptAmplitude(id)).unwrap();
    assert_eq!(channel.times, [0.0, 1.0]);
    assert!((channel.value(1)[0] - 0.6).abs() < 1e-6, "{channel:?}");
}

#[test]
fn keyed_settings_are_in_force_at_the_moment_shown() {
    let mut s = shaped(1);
    s.bench.apply(Edit::SetDeformer(DeformerSettings::of("springs")), false);
    let target = Target::Setting { method: "springs".into(), name: "torsion".into() };
    for (time, value) in [(0.0, 1.0), (2.0, 3.0)] {
        let keys = vec![KeyValue { target: target.clone(), value: vec![value] }];
        s.bench.apply(Edit::Keys(KeyEdit::Insert { time, keys }), false);
    }
    s.bench.run_command(Command::Scrub(1.0));
    s.step();
    assert_eq!(s.bench.recipe().springs.unwrap().torsion, 2.0);
    s.bench.leave_motion();
    assert_eq!(s.bench.recipe().springs.unwrap().torsion, 1.0, "the document's own");
    // Keys of deformer settings apply only if they belong to the current method.
    s.bench.run_command(Command::Deformer("blend".into()));
    let target = Target::Setting { method: "blend".into(), name: "factor".into() };
    let keys = vec![KeyValue { target, value: vec![0.2] }];
    s.bench.apply(Edit::Keys(KeyEdit::Insert { time: 0.0, keys }), false);
    s.bench.run_command(Command::Scrub(1.0));
    s.step();
    assert_eq!(
        *s.bench.recipe(),
        Recipe::geometric(Geometric::Blend { factor: 0.2, painted: Painted::NONE })
    );
}

#[test]
fn flesh_swings_by_sliders_that_are_one_step_each() {
    for method in ["springs", "volume"] {
        swings_by_sliders(method);
    }
}

fn swings_by_sliders(method: &str) {
    let mut s = shaped(1);
    s.bench.run_command(Command::Deformer(method.into()));
    let steps = s.bench.session().history().0;
    for value in [1.0, 2.0, 40.0, 3.504] {
        s.bench.run_command(Command::Swing(value));
    }
    s.bench.run_command(Command::Damping(f32::NAN));
    s.step();
    assert_eq!(s.bench.recipe().dynamics(), Some([3.5, 0.0]));
    assert_eq!(s.bench.session().history().0, steps + 2);
    s.bench.run_command(Command::Undo);
    s.bench.run_command(Command::Undo);
    assert!(!s.bench.recipe().swings());
    s.bench.run_command(Command::Deformer("lbs".into()));
    s.bench.run_command(Command::Swing(2.0));
    assert!(s.bench.notice().unwrap().contains("springs"));
}

#[test]
fn contact_is_a_switch_of_every_method() {
    let mut s = shaped(1);
    let cycles = |s: &Script| s.bench.recipe().volume.map_or(0, |v| v.contact);
    for method in Recipe::NAMES {
        s.bench.run_command(Command::Deformer(method.into()));
        s.bench.run_command(Command::Contact(true));
        assert_eq!((cycles(&s), s.bench.recipe().name()), (CONTACT, method));
        s.bench.run_command(Command::Contact(false));
        assert_eq!(cycles(&s), 0);
        s.bench.run_command(Command::Undo);
        assert_eq!(cycles(&s), CONTACT);
    }
}

#[test]
fn the_reach_of_a_shape_is_chosen_in_edges_and_metres() {
    let mut s = shaped(2);
    let (hash, steps) = (s.hash(), s.bench.session().history().0);
    let moved = |s: &Script| {
        let region = &s.bench.shape().unwrap().region;
        (region.kinematic.len(), region.passive.len() + region.fixed.len())
    };
    let (held, three) = moved(&s);
    // A drag of the slider is one step; the drawn offsets stay.
    let form = s.bench.shape().unwrap().form.clone();
    for edges in [4, 5, 6] {
        s.bench.run_command(Command::Reach(Reach::Edges(edges)));
        s.step();
    }
    assert_eq!(s.bench.session().history().0, steps + 1);
    assert!(moved(&s).1 > three && moved(&s).0 == held && s.bench.shape().unwrap().form == form);
    // On a regular mesh, n edges reach about as far as n times their length along the edges.
    let (reach, edge) = (s.bench.shape_state().unwrap().reach, s.bench.shape_edge());
    let (edges, metres) = (reach.edges(edge), reach.metres(edge));
    assert_eq!((edges, (metres - 6.0 * edge).abs() < 1e-6), (6, true));
    assert_eq!(Reach::Along(metres).edges(edge), 6);
    for reach in [Reach::Along(metres), Reach::Euclidean(metres)] {
        s.bench.run_command(Command::Reach(reach));
        s.step();
        let region = &s.bench.shape().unwrap().region;
        let positions = &s.bench.character().control.positions;
        for v in region.passive.iter().chain(&region.fixed) {
            let x = positions[*v as usize];
            let away = region.kinematic.iter().map(|k| positions[*k as usize].distance(x));
            assert!(away.fold(f32::INFINITY, f32::min) <= metres + 1e-5);
        }
    }
    let (along, straight) = (moved(&s).1, {
        s.bench.run_command(Command::Reach(Reach::Along(metres)));
        moved(&s).1
    });
    assert!(along >= straight, "straight lines are shorter than paths: {along} {straight}");
    s.bench.run_command(Command::Reach(Reach::Along(f32::INFINITY)));
    s.bench.run_command(Command::Reach(Reach::Edges(u32::MAX)));
    while s.bench.session().history().0 > steps {
        s.bench.run_command(Command::Undo);
    }
    assert_eq!(s.hash(), hash);
}

#[test]
fn a_shape_on_a_bone_has_a_profile_along_and_around_it() {
    let character = Arc::new(capsule(2, 24, 24, 0.15, 1.0));
    let mut s = Script::new(&character);
    s.bench.run_command(Command::ShapeOnBone);
    assert!(s.bench.notice().unwrap().contains("no joint is selected"));
    s.bench.select(Some(NodeId(1)));
    s.bench.run_command(Command::ShapeOnBone);
    assert!(s.bench.notice().unwrap().contains("still being attached"));
    let attachments = Arc::new(crate::bind::bind_attachments(&character, &Default::default()).unwrap().0);
    s.bench.know_binding(attachments.clone());
    s.bench.run_command(Command::ShapeOnBone);
    let steps = s.bench.session().history().0;
    let around = |facing| Some(Around { curve: Curve::Parabola, facing });
    for command in [
        Command::Profile(Curve::Even),
        Command::Growth(0.5),
        Command::Around(around(0.0)),
        Command::Around(around(0.4)),
        Command::Around(around(std::f32::consts::FRAC_PI_2)),
        Command::Tilt(20.0),
        Command::Tilt(0.0),
    ] {
        s.bench.run_command(command);
        s.step();
    }
    assert_eq!(
        s.bench.session().history().0,
        steps + 4,
        "profile, growth, around and tilt are one step each"
    );
    let sculpt = s.bench.shape().unwrap();
    assert!(sculpt.mark.is_none() && sculpt.region.passive.is_empty());
    let bound = sculpt.bind(&character, &attachments).unwrap();
    let mut field = crate::deform::sculpt::Field::new(std::slice::from_ref(&bound));
    field.set(s.bench.sculpt_states());
    // The bulge faces +X, is half of the distance from the bone there, and nothing at -X.
    let mut sides = [0, 0];
    for (v, offset) in field.iter() {
        let x = character.control.positions[v as usize];
        let out = Vec3::new(x.x, 0.0, x.z);
        if out.length() < 1e-3 {
            // A pole has no side.
            continue;
        }
        let from = (out.z.atan2(out.x) / std::f32::consts::PI).abs();
        let goal = attachments.scale_vector[v as usize] * (0.5 * (1.0 - from * from));
        assert!(offset.offset.distance(goal) < 1e-4, "{} at {x}", offset.offset);
        sides[usize::from(x.x > 0.0)] += 1;
    }
    assert!(sides[0] > 20 && sides[1] > 20);
    s.bench.run_command(Command::SelectShape(1));
    let drawn =
        Sculpt { form: Form::Drawn(vec![[0.0; 3]; sculpt_len(&s)]), ..s.bench.shape().unwrap().clone() };
    s.bench.apply(Edit::SetSculpt(Box::new(drawn)), false);
    s.bench.run_command(Command::Tilt(3.0));
    assert!(s.bench.notice().unwrap().contains("drawn by hand"));
}

fn sculpt_len(s: &Script) -> usize {
    s.bench.shape().unwrap().region.kinematic.len()
}

/// The layer whose surroundings the last frame asked for.
fn asked(s: &mut Script) -> Option<Sculpt> {
    s.step().requests.iter().find_map(|r| match r {
        Request::Refit(refit) if refit.sculpt.awaits_surroundings() => Some(refit.sculpt.clone()),
        _ => None,
    })
}

/// A layer with its surroundings, as the job answers.
fn answer(asked: &Sculpt) -> Sculpt {
    let mut new = asked.clone();
    let passive = new.region.passive.len();
    new.surroundings.as_mut().unwrap().offsets = vec![[0.0, 0.0, 0.01]; passive];
    new
}

#[test]
fn surroundings_are_asked_for_whenever_a_drawn_layer_lacks_them() {
    let mut s = shaped(2);
    s.bench.run_command(Command::Deformer("lbs".into()));
    assert!(asked(&mut s).is_none());
    let steps = s.bench.session().history().0;
    s.bench.run_command(Command::Surroundings(Some(Method::Arap)));
    let layer = asked(&mut s).unwrap();
    assert!(asked(&mut s).is_none(), "asked twice");
    // A slider in the meantime neither asks again nor discards the answer.
    s.bench.run_command(Command::Amplitude(0.5));
    assert!(asked(&mut s).is_none());
    s.bench.receive(answer(&layer));
    s.step();
    let solved = s.bench.shape().unwrap().clone();
    assert_eq!((solved.surroundings.as_ref(), solved.amplitude), (answer(&layer).surroundings.as_ref(), 0.5));
    assert_eq!(s.bench.session().history().0, steps + 2);
    // Another reach has other passive vertices.
    s.bench.run_command(Command::Reach(Reach::Edges(5)));
    let wider = asked(&mut s).unwrap();
    assert!(wider.region.passive.len() > layer.region.passive.len());
    // The answer comes after an undo: the layer of that step is the former one.
    s.bench.run_command(Command::Undo);
    s.bench.receive(answer(&wider));
    s.step();
    assert_eq!(s.bench.shape(), Some(&solved));
    // After the redo, the layer lacks them again.
    s.bench.run_command(Command::Redo);
    let again = asked(&mut s).unwrap();
    s.bench.receive(answer(&again));
    s.step();
    assert!(!s.bench.shape().unwrap().awaits_surroundings());
    // A profile has none; a layer with a profile is refused.
    s.bench.run_command(Command::Profile(Curve::Parabola));
    assert!(s.bench.notice().is_none() && s.bench.shape().unwrap().surroundings.is_none());
    s.bench.run_command(Command::Surroundings(Some(Method::Lse)));
    assert!(s.bench.notice().unwrap().contains("profile"));
    assert!(asked(&mut s).is_none());
}
