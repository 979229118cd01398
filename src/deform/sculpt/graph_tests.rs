//! Tests of sculpt layers in the deformer graphs: GPU against CPU reference, in several poses, for every method.

use super::*;
use crate::deform::springs::{Params, Variant};
use crate::deform::surface::Display;
use crate::deform::testing::{RADIUS, cylinder, methods, rest};
use crate::deform::{Bound, CpuGraph, Geometric, Graph, Kernels, Recipe, volume};
use crate::gpu::testing::{assert_silent, device};
use crate::rig::{Pose, PosedRig};
use std::sync::Arc;

const SIDES: usize = 24;
/// The middle vertex ring of the sculpt layers: halfway along the first bone.
const MIDDLE: usize = 16;
const REACH: usize = 6;

fn body() -> Bound {
    cylinder(2, SIDES, 64)
}

/// Returns a band around the first bone: one kinematic vertex ring, with passive rings on both sides.
fn band(bound: &Bound, id: u32, middle: usize, form: impl FnOnce(&[u32]) -> BoundForm) -> BoundSculpt {
    let ring = |r: usize| (r * SIDES..(r + 1) * SIDES).map(|v| v as u32);
    let mut vertices: Vec<u32> = ring(middle).collect();
    let mut falloff = vec![1.0; SIDES];
    for d in 1..REACH {
        let u = 1.0 - d as f32 / REACH as f32;
        for r in [middle - d, middle + d] {
            vertices.extend(ring(r));
            falloff.extend([u * u * (3.0 - 2.0 * u); SIDES]);
        }
    }
    let scale_vectors = vertices.iter().map(|&v| bound.attachments.scale_vector[v as usize]).collect();
    BoundSculpt { id: SculptId(id), scale_vectors, falloff, form: form(&vertices), vertices }
}

fn swell(bound: &Bound, id: u32, middle: usize, amount: f32) -> BoundSculpt {
    let profile = Profile { curve: Curve::Even, amount, ..Profile::default() };
    band(bound, id, middle, |v| BoundForm::Profile {
        profile,
        t: vec![0.5; v.len()],
        about: v.iter().map(|&v| About::new(Vec3::Y, bound.attachments.scale_vector[v as usize])).collect(),
    })
}

fn drawn(bound: &Bound, id: u32, middle: usize, offset: Vec3) -> BoundSculpt {
    band(bound, id, middle, |v| BoundForm::Drawn {
        offsets: vec![offset; SIDES],
        sources: (SIDES..v.len())
            .map(|i| [((i % SIDES) as u32, 1.0), (0, 0.0), (0, 0.0), (0, 0.0)])
            .collect(),
    })
}

fn on(ids: &[u32]) -> Vec<SculptState> {
    let state = |&id: &u32| SculptState { id: SculptId(id), amplitude: 1.0, stiffness: 32.0, seconds: 0.0 };
    ids.iter().map(state).collect()
}

fn bent(bound: &Bound, angle: f32, twist: f32) -> Pose {
    let mut pose = rest(bound);
    pose.local[0].rotation = Quat::from_rotation_x(0.4).into();
    pose.local[1].rotation = (Quat::from_rotation_z(angle) * Quat::from_rotation_y(twist)).into();
    pose
}

fn recipes() -> Vec<Recipe> {
    let mut out: Vec<Recipe> = methods().into_iter().map(Recipe::geometric).collect();
    out.push(Recipe::default());
    // The signed angles of `thesis` jump, and each iteration amplifies the rounding errors of a jump.
    let mut thesis = Recipe::from_name("thesis").unwrap();
    thesis.springs.as_mut().unwrap().max_iterations = 5;
    out.push(thesis);
    out
}

fn solve(
    bound: &Bound,
    recipe: &Recipe,
    sculpts: &[BoundSculpt],
    states: &[SculptState],
    pose: &Pose,
) -> Vec<Vec3> {
    let mut graph = CpuGraph::new(bound, recipe).unwrap();
    graph.set_sculpts(sculpts);
    graph.set_sculpt_states(states);
    let rig = PosedRig::new(&bound.character.skeleton, pose);
    graph.evaluate(&rig, &[], &mut Display::default());
    graph.control().to_vec()
}

fn furthest(a: &[Vec3], b: &[Vec3]) -> f32 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max)
}

#[test]
fn every_method_on_the_gpu_shows_the_twin_s_edits_and_forgets_them() {
    let Some(device) = device() else { return };
    let kernels = Arc::new(Kernels::new(&device).unwrap());
    let bound = body();
    let sculpts = [swell(&bound, 0, MIDDLE, 0.4), drawn(&bound, 1, MIDDLE + 4, Vec3::new(0.05, 0.02, 0.0))];
    let rig = PosedRig::new(&bound.character.skeleton, &bent(&bound, 1.2, 0.8));
    let limit = 1e-4 * bound.character.control.aabb.diagonal();
    for recipe in recipes() {
        let name = recipe.name();
        let mut graph = Graph::new(&kernels, &bound, &recipe, false).unwrap();
        let frame = |graph: &mut Graph| -> Vec<Vec3> {
            device
                .run(|frame| {
                    graph.record(frame, &rig);
                    Ok(())
                })
                .unwrap();
            let raw: Vec<[f32; 4]> =
                device.read(graph.control_positions(), bound.character.control.positions.len()).unwrap();
            raw.into_iter().map(|[x, y, z, _]| Vec3::new(x, y, z)).collect()
        };
        let plain = frame(&mut graph);
        graph.set_sculpts(&sculpts).unwrap();
        let off = frame(&mut graph);
        assert!(plain == off, "{name}: edits that are off change nothing, to the bit");
        let mut states = on(&[0, 1]);
        graph.set_sculpt_states(&states);
        let both = frame(&mut graph);
        let twin = solve(&bound, &recipe, &sculpts, &states, &bent(&bound, 1.2, 0.8));
        assert!(furthest(&both, &twin) <= limit, "{name}: {}", furthest(&both, &twin) / limit);
        assert!(furthest(&both, &plain) > 0.2 * RADIUS, "{name} shows them");
        assert!(frame(&mut graph) == both, "{name}: the same again");
        states[0].amplitude = -0.5;
        graph.set_sculpt_states(&states);
        let other = frame(&mut graph);
        let twin = solve(&bound, &recipe, &sculpts, &states, &bent(&bound, 1.2, 0.8));
        assert!(furthest(&other, &twin) <= limit, "{name}: {}", furthest(&other, &twin) / limit);
        if let Some(own) = recipe.springs {
            // Changes the parameters while the layers are active.
            let params = match own.variant {
                Variant::Sinew => Params { hold: 2.0, ..own },
                Variant::Thesis => Params { bone: 2.0, ..own },
            };
            graph.set_springs(&params);
            let changed = Recipe { springs: Some(params), ..recipe.clone() };
            let twin = solve(&bound, &changed, &sculpts, &states, &bent(&bound, 1.2, 0.8));
            let off = furthest(&frame(&mut graph), &twin) / limit;
            assert!(off <= 1.0, "{name}: {off}");
            graph.set_springs(&own);
        }
        // Replaces the offsets of the same vertices, as direct manipulation does.
        let offsets = [[0.0, 0.03, 0.06]; SIDES];
        assert!(graph.reform_sculpt(SculptId(1), Reform::Offsets(&offsets)));
        assert!(!graph.reform_sculpt(SculptId(1), Reform::Offsets(&offsets[1..])), "{name}: too few");
        assert!(!graph.reform_sculpt(SculptId(7), Reform::Offsets(&offsets)), "{name}: no such edit");
        let waves = Curve::Wave(Wave { count: 2.0, speed: 1.0, phase: 0.5 });
        let profile = Profile { curve: waves, amount: 0.3, ..Profile::default() };
        assert!(graph.reform_sculpt(SculptId(0), Reform::Profile(&profile)));
        graph.set_sculpt_states(&states);
        let reformed = frame(&mut graph);
        let mut anew = [swell(&bound, 0, MIDDLE, 0.3), drawn(&bound, 1, MIDDLE + 4, offsets[0].into())];
        let BoundForm::Profile { profile: old, .. } = &mut anew[0].form else { panic!() };
        *old = profile;
        graph.set_sculpts(&anew).unwrap();
        graph.set_sculpt_states(&states);
        assert!(frame(&mut graph) == reformed, "{name}: the same as bound anew, to the bit");
        assert!(furthest(&reformed, &other) > 0.05 * RADIUS, "{name} shows it");
        let twin = solve(&bound, &recipe, &anew, &states, &bent(&bound, 1.2, 0.8));
        assert!(furthest(&reformed, &twin) <= limit, "{name}: {}", furthest(&reformed, &twin) / limit);
        // Replaces the layers, then removes all.
        graph.set_sculpts(&sculpts[1..]).unwrap();
        graph.set_sculpt_states(&on(&[1]));
        let twin = solve(&bound, &recipe, &sculpts[1..], &on(&[1]), &bent(&bound, 1.2, 0.8));
        assert!(furthest(&frame(&mut graph), &twin) <= limit, "{name}");
        graph.set_sculpts(&[]).unwrap();
        assert!(frame(&mut graph) == plain, "{name}: gone without a trace");
    }
    assert_silent(&device);
}

#[test]
fn methods_that_turn_scale_vectors_are_radial() {
    // Equation 24 multiplies the length of every scale vector by the same factor in any pose.
    let bound = body();
    let sculpts = [swell(&bound, 0, MIDDLE, 0.4)];
    let pose = bent(&bound, 1.2, 0.8);
    let rig = PosedRig::new(&bound.character.skeleton, &pose);
    let (head, tail) = (rig.bones[0].head, rig.bones[0].tail);
    for method in [Geometric::Rigid, Geometric::Irs(Default::default())] {
        let recipe = Recipe::geometric(method);
        let x = solve(&bound, &recipe, &sculpts, &on(&[0]), &pose);
        for (i, &v) in sculpts[0].vertices.iter().enumerate() {
            let t = bound.attachments.t[v as usize];
            let distance = x[v as usize].distance(head + (tail - head) * t);
            let wanted = RADIUS * (1.0 + 0.4 * sculpts[0].falloff[i]);
            assert!((distance - wanted).abs() < 1e-5, "{}: {distance} for {wanted}", recipe.name());
        }
    }
}

#[test]
fn springs_come_to_the_targets_end_at_the_rim_and_stay_smooth() {
    let bound = body();
    let sculpts = [swell(&bound, 0, MIDDLE, 0.4)];
    let radius = |x: &[Vec3], r: usize| {
        let ring = &x[r * SIDES..(r + 1) * SIDES];
        ring.iter().map(|x| Vec3::new(x.x, 0.0, x.z).length()).sum::<f32>() / SIDES as f32 / RADIUS
    };
    let x = solve(&bound, &Recipe::default(), &sculpts, &on(&[0]), &rest(&bound));
    let profile: Vec<f32> = (0..=64).map(|r| radius(&x, r)).collect();
    eprintln!("{:?}", &profile[8..25]);
    assert!((profile[MIDDLE] - 1.4).abs() < 0.04, "{}", profile[MIDDLE]);
    for r in (0..MIDDLE - REACH - 1).chain(MIDDLE + REACH + 2..=64) {
        assert!((profile[r] - 1.0).abs() < 0.01, "ring {r} outside: {}", profile[r]);
    }
    // No kink: second differences stay below those of a straight-sided tent.
    for w in profile.windows(3) {
        assert!((w[0] - 2.0 * w[1] + w[2]).abs() < 0.4 / REACH as f32, "{w:?}");
    }
    for pair in profile[MIDDLE - REACH..=MIDDLE].windows(2) {
        assert!(pair[1] > pair[0] - 1e-3, "it rises all the way");
    }
    // Less stiffness gives less displacement; zero stiffness gives zero displacement.
    let with = |stiffness: f32| {
        let states = [SculptState { stiffness, ..on(&[0])[0] }];
        radius(&solve(&bound, &Recipe::default(), &sculpts, &states, &rest(&bound)), MIDDLE)
    };
    let (weak, none) = (with(0.3), with(0.0));
    assert!(weak > 1.02 && weak < profile[MIDDLE] - 0.02 && (none - 1.0).abs() < 1e-4, "{weak} {none}");
    let stiffest = with(1e6);
    assert!((stiffest - 1.4).abs() < 1e-3, "{stiffest}");
}

/// Draws, in a pose, the surface that a layer sculpted in bind has in that pose. Returns the difference between both
/// layers, metres. The springs reach only part of a drawn offset, so the remainder is drawn again, twice.
fn commuted(bound: &Bound, recipe: &Recipe, sculpt: &BoundSculpt, pose: &Pose) -> f32 {
    let rig = PosedRig::new(&bound.character.skeleton, pose);
    let plain = solve(bound, recipe, &[], &[], pose);
    let edited = solve(bound, recipe, std::slice::from_ref(sculpt), &on(&[0]), pose);
    let (mut again, mut now) = (sculpt.clone(), plain);
    let BoundForm::Drawn { offsets, .. } = &mut again.form else { panic!("a drawn edit") };
    offsets.fill(Vec3::ZERO);
    for _ in 0..if recipe.springs.is_some() { 3 } else { 1 } {
        let BoundForm::Drawn { offsets, .. } = &mut again.form else { panic!("a drawn edit") };
        for (offset, &v) in offsets.iter_mut().zip(&again.vertices) {
            let turn = cpu::rotation(&bound.character, &rig, v);
            *offset += encode(turn, now[v as usize], edited[v as usize]);
        }
        now = solve(bound, recipe, std::slice::from_ref(&again), &on(&[0]), pose);
    }
    furthest(&now, &edited)
}

#[test]
fn posing_and_editing_commute() {
    let bound = body();
    let limit = 1e-3 * bound.character.control.aabb.diagonal();
    let offset = Vec3::new(0.06, 0.03, -0.02);
    let (near, away) = (drawn(&bound, 0, MIDDLE + 6, offset), drawn(&bound, 0, MIDDLE - 8, offset));
    for recipe in recipes() {
        for (angle, twist) in [(0.9, 0.0), (0.5, 1.4), (-1.6, 0.3)] {
            let pose = bent(&bound, angle, twist);
            // The radial methods and the thesis's springs rotate an offset with a single bone, so nothing is asserted
            // for them near joints.
            let claims = !recipe.geometric.is_radial();
            let (far, close) =
                (commuted(&bound, &recipe, &away, &pose), commuted(&bound, &recipe, &near, &pose));
            println!("{} {angle} {twist}: {} and {} of the limit", recipe.name(), far / limit, close / limit);
            assert!(far <= limit, "{}: {far} m of {limit}", recipe.name());
            assert!(close <= limit || !claims, "{}: {close} m of {limit} near the joint", recipe.name());
        }
    }
}

#[test]
fn a_bulge_takes_part_in_the_contact_of_the_volume() {
    let bound = body();
    let control = &bound.character.control;
    let crossings = crate::geom::Crossings::new(control, &vec![RADIUS; control.positions.len()]);
    // The halves of the body do not meet where the layer is; the layer of one half reaches into the other half.
    let pose = bent(&bound, 2.2, 0.0);
    let rig = PosedRig::new(&bound.character.skeleton, &pose);
    let layers = [swell(&bound, 0, 13, 0.9)];
    let recipe =
        |contact| Recipe::volume(volume::Params { cubes: 800, contact, ..volume::Params::default() });
    let shape = |contact, amplitude| {
        let mut graph = CpuGraph::new(&bound, &recipe(contact)).unwrap();
        graph.set_sculpts(&layers);
        graph.set_sculpt_states(&[SculptState { amplitude, ..on(&[0])[0] }]);
        graph.evaluate(&rig, &[], &mut Display::default());
        graph.control().to_vec()
    };
    let of = |x: &[Vec3]| crossings.report(x).crossings;
    let [flat, through, stopped] = [(3, 0.0), (0, 1.0), (3, 1.0)].map(|(c, a)| of(&shape(c, a)));
    assert!(2 * flat < through && through > 30, "{flat} {through}");
    assert!(4 * stopped < through, "{stopped} of {through}");
    let Some(device) = device() else { return };
    let kernels = Arc::new(Kernels::new(&device).unwrap());
    let mut graph = Graph::new(&kernels, &bound, &recipe(3), false).unwrap();
    let played = |graph: &mut Graph, amplitude: f32| {
        graph.set_sculpt_states(&[SculptState { amplitude, ..on(&[0])[0] }]);
        let recorded = device.run(|frame| {
            graph.record(frame, &rig);
            Ok(())
        });
        recorded.unwrap();
        let x: Vec<[f32; 4]> = device.read(graph.control_positions(), control.positions.len()).unwrap();
        x.iter().map(|x| Vec3::new(x[0], x[1], x[2])).collect::<Vec<_>>()
    };
    graph.set_sculpts(&layers).unwrap();
    let first = played(&mut graph, 1.0);
    assert!(4 * of(&first) < through, "{} of {through}", of(&first));
    // The layer no longer moves the contact points once it is off, nor once it is removed.
    let flat = shape(3, 0.0);
    let near =
        |x: &[Vec3]| x.iter().zip(&flat).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max) < 0.05 * RADIUS;
    assert!(near(&played(&mut graph, 0.0)));
    assert_eq!(played(&mut graph, 1.0), first, "the same bits again");
    graph.set_sculpts(&[]).unwrap();
    assert!(near(&played(&mut graph, 0.0)));
    assert_silent(&device);
}

#[test]
fn a_bulge_in_a_fold_takes_part_in_the_contact_of_springs_and_skinning() {
    let bound = body();
    let control = &bound.character.control;
    let crossings = crate::geom::Crossings::new(control, &vec![RADIUS; control.positions.len()]);
    let rig = PosedRig::new(&bound.character.skeleton, &bent(&bound, 2.5, 0.0));
    let layers = [swell(&bound, 0, 11, 0.3)];
    for method in ["springs", "dqs"] {
        let overlap = |contact: u32| {
            let volume = volume::Params { cubes: 800, ..volume::Params::only_contact(contact) };
            let recipe =
                Recipe { volume: (contact > 0).then_some(volume), ..Recipe::from_name(method).unwrap() };
            let mut graph = CpuGraph::new(&bound, &recipe).unwrap();
            graph.set_sculpts(&layers);
            graph.set_sculpt_states(&on(&[0]));
            graph.evaluate(&rig, &[], &mut Display::default());
            let report = crossings.report(graph.control());
            println!("{method}, contact {contact}: {report:?}");
            report.penetration.max(report.fold_penetration)
        };
        let (through, stopped) = (overlap(0), overlap(5));
        assert!(through > 0.1 && 2.0 * stopped < through, "{method}: {stopped} of {through}");
    }
}

#[test]
fn sculpt_layers_act_on_the_rest_shape_of_a_cage() {
    use crate::deform::rest::tests::{shift, skin_of};
    let Some(device) = device() else { return };
    let kernels = Arc::new(Kernels::new(&device).unwrap());
    let bound = body();
    let skin = skin_of(&bound);
    let sculpts = [swell(&bound, 0, MIDDLE, 0.4)];
    let pose = Pose { rest: shift(&bound), ..bent(&bound, 1.2, 0.8) };
    let rig = PosedRig::new(&bound.character.skeleton, &pose);
    let limit = 1e-4 * bound.character.control.aabb.diagonal();
    for recipe in ["rigid", "dqs", "springs"].map(|name| Recipe::from_name(name).unwrap()) {
        let twin = |sculpts: &[BoundSculpt]| {
            let mut twin = CpuGraph::new(&bound, &recipe).unwrap();
            twin.set_sculpts(sculpts);
            twin.set_sculpt_states(&on(&[0]));
            twin.set_cage(Some(&skin)).unwrap();
            twin.evaluate(&rig, &[], &mut Display::default());
            twin.control().to_vec()
        };
        let wanted = twin(&sculpts);
        assert!(furthest(&wanted, &twin(&[])) > 0.1 * RADIUS, "{}", recipe.name());
        let mut graph = Graph::new(&kernels, &bound, &recipe, false).unwrap();
        graph.set_sculpts(&sculpts).unwrap();
        graph.set_sculpt_states(&on(&[0]));
        graph.set_cage(Some(&skin)).unwrap();
        device
            .run(|frame| {
                graph.record(frame, &rig);
                Ok(())
            })
            .unwrap();
        let raw: Vec<[f32; 4]> =
            device.read(graph.control_positions(), bound.character.control.positions.len()).unwrap();
        let got: Vec<Vec3> = raw.into_iter().map(|[x, y, z, _]| Vec3::new(x, y, z)).collect();
        assert!(furthest(&got, &wanted) < limit, "{}", recipe.name());
    }
    assert_silent(&device);
}
