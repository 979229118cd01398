//! Tests with known answers.

use super::{Deformer, JointMotion};
use crate::asset::Influences;
use crate::base::math::{Affine3A, DVec3, Quat, Vec3};
use crate::base::testing::shared;
use crate::bind::weights::known::cylinder;
use crate::bind::weights::{Hinge, STEPS, quasi_harmonic_weights, swing_samples, twist_samples};
use crate::deform::testing::{RADIUS, cylinder as tube, rest};
use crate::deform::volume::gold::Elements;
use crate::deform::{Bound, Geometric, Streams, swing_twist};
use crate::rig::{Pose, PosedRig};
use std::f32::consts::FRAC_PI_2;

fn deform(method: &Geometric, bound: &Bound, pose: &Pose) -> Streams {
    let mut streams = Streams::default();
    let rig = PosedRig::new(&bound.character.skeleton, pose);
    method.bind(bound).unwrap().reference(&rig, &mut streams);
    streams
}

/// The motion of a joint at the origin with a bone along z.
fn motion(rotation: Quat, deformer: Deformer) -> JointMotion {
    JointMotion::new(Affine3A::from_quat(rotation), Vec3::ZERO, Vec3::Z, deformer)
}

#[test]
fn energies_of_the_known_cylinder_over_gold_are_those_of_another_implementation() {
    let Some(known) = cylinder() else { return };
    let Some(path) = shared("known/eid_cylinder_n4.json") else { return };
    let json: serde_json::Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let bones = [true, false].map(|rotates| -> Vec<u32> {
        (0..known.side.len() as u32).filter(|&n| known.side[n as usize] == Some(rotates)).collect()
    });
    let start = quasi_harmonic_weights(&known.cubes, &bones, 0, &|_| true).unwrap().unwrap().swap_remove(0);
    let hinge = Hinge { cubes: &known.cubes, side: &known.side, start: &start, pivot: DVec3::ZERO };
    let weights = |samples: &[_]| hinge.minimise(samples, STEPS).unwrap().weights;
    let (swing, twist) = (weights(&swing_samples(DVec3::Z)), weights(&twist_samples(DVec3::Z)));
    let elements = Elements::cubes(&known.cubes.nodes, &known.cubes.cells).unwrap();
    let energy = |motion: &JointMotion, s: &[f64], t: &[f64]| {
        let nodes = known.cubes.nodes.iter().zip(s.iter().zip(t));
        let moved =
            |(x, (s, t)): (&DVec3, (&f64, &f64))| motion.apply(x.as_vec3(), *s as f32, *t as f32).as_dvec3();
        elements.energy(&nodes.map(moved).collect::<Vec<_>>()) / known.cubes.size.powi(2)
    };
    for pose in json["poses"].as_array().unwrap() {
        let name = pose["pose"].as_str().unwrap();
        let part = |kind: &str| {
            let part = name.split('+').find_map(|part| part.strip_prefix(kind));
            part.map_or(0.0, |degrees| degrees.parse::<f32>().unwrap().to_radians())
        };
        let rotation = Quat::from_rotation_x(part("bend")) * Quat::from_rotation_z(part("twist"));
        let number = |name: &str| pose[name].as_f64().unwrap();
        let ratio =
            |deformer, s: &[f64], t: &[f64]| energy(&motion(rotation, deformer), s, t) / number("gold");
        let (swing_twist, linear) = (Deformer::SwingTwist, Deformer::Linear);
        let bbw = &known.biharmonic;
        let cases = [
            ("swtw_emw", ratio(swing_twist, &swing, &twist)),
            ("swtw_bbw", ratio(swing_twist, bbw, bbw)),
            ("lbs_emw_s", ratio(linear, &swing, &swing)),
            ("lbs_emw_t", ratio(linear, &twist, &twist)),
            ("lbs_bbw", ratio(linear, bbw, bbw)),
        ];
        for (column, ratio) in cases {
            assert!((ratio / number(column) - 1.0).abs() < 0.01, "{name} {column}: {ratio}");
        }
        let own = ratio(swing_twist, &swing, &twist);
        let least = number("lbs_bbw").min(number("dqs_bbw"));
        assert!(own < least, "{name}: {own} {least}");
    }
}

/// A tube of two bones, bent by `bend` and twisted by `twist` about its middle.
fn bent(deformer: Deformer, bend: f32, twist: f32) -> (Bound, Vec<Vec3>) {
    let bound = tube(2, 24, 48);
    let mut pose = rest(&bound);
    pose.local[1].rotation = (Quat::from_rotation_x(bend) * Quat::from_rotation_y(twist)).into();
    let mut params = swing_twist::Params { cubes: 3000, ..swing_twist::Params::DEFAULT };
    params.joints.insert(crate::base::JointId(1), deformer);
    let shape = deform(&Geometric::SwingTwist(params), &bound, &pose).position;
    (bound, shape)
}

#[test]
fn a_twisted_tube_keeps_its_thickness_and_a_bent_one_does_not_bulge() {
    let (bound, twisted) = bent(Deformer::SwingTwist, 0.0, 2.0);
    for (x, rest) in twisted.iter().zip(&bound.character.control.positions) {
        assert!((x.x.hypot(x.z) - rest.x.hypot(rest.z)).abs() < 1e-4 && (x.y - rest.y).abs() < 1e-4, "{x}");
    }
    let thinnest = |shape: &[Vec3]| {
        shape[..shape.len() - 2].iter().map(|x| x.x.hypot(x.z)).fold(f32::INFINITY, f32::min) / RADIUS
    };
    assert!(thinnest(&bent(Deformer::Linear, 0.0, 2.0).1) < 0.7);
    // Largest distance of the skin to the bent bones, without the caps.
    let farthest = |shape: &[Vec3]| {
        let joint = Vec3::Y;
        let ends = [Vec3::ZERO, joint + Quat::from_rotation_x(FRAC_PI_2) * Vec3::Y];
        let to = |x: &Vec3, end: Vec3| {
            let along = end - joint;
            x.distance(joint + along * ((*x - joint).dot(along) / along.length_squared()).clamp(0.0, 1.0))
        };
        let near = |x: &&Vec3| x.distance(joint) < 0.8;
        let distance = |x: &Vec3| to(x, ends[0]).min(to(x, ends[1]));
        shape.iter().filter(near).map(distance).fold(0.0, f32::max) / RADIUS
    };
    let [own, spherical] =
        [Deformer::SwingTwist, Deformer::Spherical].map(|d| farthest(&bent(d, FRAC_PI_2, 0.0).1));
    assert!(own <= 1.05 && spherical > own + 0.05, "{own} {spherical}");
}

#[test]
fn linear_deformers_are_linear_blend_skinning() {
    let (bound, shape) = bent(Deformer::Linear, 1.2, 0.7);
    let params = swing_twist::Params { cubes: 3000, ..swing_twist::Params::DEFAULT };
    let binding = swing_twist::bind(&bound, &params).unwrap();
    let mut influences = Influences::default();
    for v in 0..shape.len() {
        let swing = match binding.of(v) {
            [entry] => entry.swing,
            [] => f32::from(binding.base[v] == 1),
            more => panic!("{more:?}"),
        };
        influences.push([(1, swing), (0, 1.0 - swing)].into_iter().filter(|e| e.1 > 0.0));
    }
    let mut character = (*bound.character).clone();
    character.control.influences = influences;
    let same = bound.with(character.into(), bound.attachments.clone());
    let mut pose = rest(&same);
    pose.local[1].rotation = (Quat::from_rotation_x(1.2) * Quat::from_rotation_y(0.7)).into();
    for (a, b) in deform(&Geometric::Lbs, &same, &pose).position.iter().zip(&shape) {
        assert!(a.distance(*b) < 1e-6, "{a} {b}");
    }
}
