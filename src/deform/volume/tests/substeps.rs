//! Tests of the substeps.

use super::{bent, farthest, few, folded, posed, posed_on_gpu};
use crate::base::math::Quat;
use crate::deform::testing::{RADIUS, rest};
use crate::deform::volume::Params;
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
        let [one, four, again] = [1, 4, 1].map(&mut shape);
        assert!(one == again && farthest(&one, &four) > 0.01 * RADIUS);
        let twin = posed(&bound, &recipe(4), &pose);
        let far = four.iter().zip(&twin).filter(|(a, b)| a.distance(**b) > limit * RADIUS).count();
        println!(
            "contact {contact}: {far} of {} vertices differ, by at most {}",
            twin.len(),
            farthest(&four, &twin)
        );
        assert!(far * 50 < twin.len(), "{contact}: {far} of {}", twin.len());
    }
    assert_silent(&device);
}

#[test]
fn the_number_of_substeps_is_kept_in_its_range() {
    let sane = |substeps| Params { substeps, ..Params::default() }.sane().substeps;
    assert_eq!([0, 1, 16, 99].map(sane), [1, 1, 16, 16]);
    let mut params = Params::default();
    assert!(params.set_number("substeps", 4.2) && params.substeps == 4);
}
