//! Tests of the substeps.

use super::{bent, farthest, few, folded, posed, posed_on_gpu};
use crate::base::math::{Quat, Vec3};
use crate::deform::testing::{RADIUS, cylinder, rest};
use crate::deform::volume::Params;
use crate::deform::volume::motion::Step;
use crate::deform::volume::substeps::Plan;
use crate::deform::{CpuGraph, Graph, Kernels, Recipe, surface::Display};
use crate::gpu::testing::{assert_silent, device};
use crate::rig::PosedRig;
use std::sync::Arc;

#[test]
fn a_frame_with_substeps_does_not_depend_on_the_frame_before() {
    let (bound, pose) = folded();
    let recipe = Recipe::volume(Params { contact: 2, substeps: 3, ..few() });
    let alone = posed(&bound, &recipe, &pose);
    let mut graph = CpuGraph::new(&bound, &recipe).unwrap();
    for pose in [&bent(&bound, Quat::from_rotation_z(-2.0)), &pose] {
        graph.evaluate(&PosedRig::new(&bound.character.skeleton, pose), &[], &mut Display::default());
    }
    assert_eq!(graph.control(), alone);
    // The rest of the way is that of one step where nothing bends.
    let still = |substeps| posed(&bound, &Recipe::volume(Params { substeps, ..few() }), &rest(&bound));
    assert!(farthest(&still(5), &still(1)) < 1e-5 * RADIUS);
}

#[test]
fn substeps_are_the_same_on_the_gpu_and_change_without_a_new_binding() {
    let Some(device) = device() else { return };
    let (bound, pose) = folded();
    let rig = PosedRig::new(&bound.character.skeleton, &pose);
    let kernels = Arc::new(Kernels::new(&device).unwrap());
    // Without contact, few vertices can differ: pairs of contact change with the last bit of a distance.
    for (contact, limit) in [(0, 1e-3), (2, 0.02)] {
        let recipe = |substeps| Recipe::volume(Params { contact, substeps, ..few() });
        let mut graph = Graph::new(&kernels, &bound, &recipe(1), false).unwrap();
        let mut shape = |substeps| {
            assert!(graph.adopt(&recipe(substeps)));
            posed_on_gpu(&device, &mut graph, &rig, bound.character.control.positions.len())
        };
        let [one, four, automatic, again] = [1, 4, 0, 1].map(&mut shape);
        assert!(one == again && farthest(&one, &four) > 0.01 * RADIUS);
        for (substeps, shape) in [(4, four), (0, automatic)] {
            let twin = posed(&bound, &recipe(substeps), &pose);
            let far = shape.iter().zip(&twin).filter(|(a, b)| a.distance(**b) > limit * RADIUS).count();
            let most = farthest(&shape, &twin);
            println!(
                "contact {contact}, {substeps}: {far} of {} vertices differ, by at most {most}",
                twin.len()
            );
            assert!(far * 50 < twin.len(), "{contact}, {substeps}: {far} of {}", twin.len());
        }
    }
    assert_silent(&device);
}

#[test]
fn the_number_of_substeps_is_kept_in_its_range() {
    let sane = |substeps| Params { substeps, ..Params::default() }.sane().substeps;
    assert_eq!([0, 1, 16, 99].map(sane), [0, 1, 16, 16]);
    let mut params = Params::default();
    assert!(params.set_number("substeps", 4.2) && params.substeps == 4);
}

#[test]
fn the_shape_does_not_jump_where_a_pose_needs_one_more_solve() {
    let bound = cylinder(2, 24, 64);
    let skeleton = &bound.character.skeleton;
    for (contact, limits) in [(0, &[90.0][..]), (3, &[45.0, 135.0])] {
        let params = Params { contact, ..few() };
        for axis in [Vec3::X, Vec3::Y, Vec3::new(0.6, 0.8, 0.0)] {
            for limit in limits {
                let at = |degrees: f32| {
                    let pose = bent(&bound, Quat::from_axis_angle(axis, (limit + degrees).to_radians()));
                    let plan = Plan::of(&params, None, skeleton, &PosedRig::new(skeleton, &pose));
                    (plan.count, posed(&bound, &Recipe::volume(params), &pose))
                };
                let [(few, a), (still, b), (more, c)] = [-0.5, -0.2, 0.1].map(at);
                assert_eq!((few, more), (still, still + 1), "{axis} {limit}");
                let [before, across] = [farthest(&a, &b), farthest(&b, &c)];
                println!("{axis} {limit}: {} {}", before / RADIUS, across / RADIUS);
                assert!(across < 1.5 * before, "{axis} {limit}: {across} {before}");
            }
        }
    }
}

#[test]
fn the_pose_determines_the_number_of_solves_if_the_user_does_not() {
    let (bound, _) = folded();
    let skeleton = &bound.character.skeleton;
    let count = |params: &Params, degrees: f32, step: Option<&Step>| {
        let pose = bent(&bound, Quat::from_rotation_x(degrees.to_radians()));
        Plan::of(params, step, skeleton, &PosedRig::new(skeleton, &pose)).count
    };
    let of = |params: &Params| [0.0, 40.0, 90.0, 100.0, 170.0].map(|degrees| count(params, degrees, None));
    assert_eq!(of(&Params::default()), [1, 1, 1, 2, 2]);
    assert_eq!(of(&Params { contact: 1, ..Params::default() }), [1, 1, 2, 3, 4]);
    assert_eq!(of(&Params { substeps: 3, ..Params::default() }), [3; 5]);
    assert_eq!(of(&Params::only_contact(3)), [1; 5]);
    assert_eq!(count(&Params::default(), 170.0, Some(&Step::ONWARD)), 1);
    // A rotation of the whole body counts for nothing.
    let mut pose = rest(&bound);
    pose.local[0].rotation = Quat::from_rotation_z(3.0).into();
    assert_eq!(PosedRig::new(skeleton, &pose).largest_rotation(skeleton), 0.0);
}
