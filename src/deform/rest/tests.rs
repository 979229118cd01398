//! Tests of the rest stream. They compare the GPU with the CPU reference, and a changed rest shape with a character
//! that is bound in that shape. They also check the way back to the file's rest shape.

use super::{Rested, SkinCage};
use crate::base::math::Vec3;
use crate::deform::irs::IrsParams;
use crate::deform::surface::Display;
use crate::deform::testing::{cylinder, methods, rest};
use crate::deform::tests::contorted;
use crate::deform::{Bound, CpuGraph, Geometric, Graph, Kernels, Recipe, volume};
use crate::gpu::testing::{assert_silent, device};
use crate::rig::{Pose, PosedRig, RestShift};
use std::sync::Arc;

/// Returns the trilinear weights of a point in the bounding box of a character.
fn corners(bound: &Bound, x: Vec3) -> [f32; 8] {
    let aabb = bound.character.control.aabb;
    let u = (x - aabb.min) / aabb.size();
    std::array::from_fn(|k| {
        let side = |axis: usize| if k >> axis & 1 == 1 { u[axis] } else { 1.0 - u[axis] };
        side(0) * side(1) * side(2)
    })
}

pub(in crate::deform) fn skin_of(bound: &Bound) -> SkinCage {
    let rows = bound.character.control.positions.iter().flat_map(|x| corners(bound, *x)).collect();
    SkinCage { cage: 8, rows }
}

/// Returns a rest shape that is longer, leans, and is thicker at one end.
pub(in crate::deform) fn shift(bound: &Bound) -> RestShift {
    let aabb = bound.character.control.aabb;
    let size = aabb.size();
    let cage: Vec<Vec3> = (0..8)
        .map(|k| {
            let side = |axis: usize| if k >> axis & 1 == 1 { 1.0 } else { -1.0 };
            let up = side(1) * 0.5 + 0.5;
            Vec3::new(
                side(0) * 0.2 * size.x * up + 0.1 * size.y * up,
                0.15 * size.y * up,
                side(2) * 0.1 * size.z,
            )
        })
        .collect();
    let of = |x: Vec3| -> Vec3 { corners(bound, x).iter().zip(&cage).map(|(w, d)| *w * *d).sum() };
    let skeleton = &bound.character.skeleton;
    let mut out = RestShift::of_cage(cage.clone());
    out.joints = skeleton.joints.iter().map(|j| of(Vec3::from(j.bind_from_joint.translation))).collect();
    out.tails = skeleton.bones.iter().map(|b| of(b.tail)).collect();
    out.place(skeleton);
    out
}

fn recipes() -> Vec<Recipe> {
    let mut geometric = methods();
    geometric.push(Geometric::Irs(IrsParams { length_correction: true, ..IrsParams::DEFAULT }));
    let mut out: Vec<Recipe> = geometric.into_iter().map(Recipe::geometric).collect();
    out.extend(["springs", "thesis", "fast"].map(|name| Recipe::from_name(name).unwrap()));
    out.push(Recipe::volume(volume::Params { cubes: 300, cycles: 2, ..volume::Params::default() }));
    out
}

fn on_cpu(bound: &Bound, recipe: &Recipe, skin: &SkinCage, poses: &[&Pose]) -> Vec<Vec<Vec3>> {
    let mut graph = CpuGraph::new(bound, recipe).unwrap();
    graph.set_cage(Some(skin)).unwrap();
    let run = |pose: &&Pose| {
        graph.evaluate(&PosedRig::new(&bound.character.skeleton, pose), &[], &mut Display::default());
        graph.control().to_vec()
    };
    poses.iter().map(run).collect()
}

#[test]
fn the_rest_pose_of_every_method_is_the_rest_shape_of_the_cage() {
    let bound = cylinder(3, 16, 24);
    let (skin, mut pose) = (skin_of(&bound), rest(&bound));
    pose.rest = shift(&bound);
    let size = bound.character.control.aabb.diagonal();
    for recipe in recipes() {
        let shape = on_cpu(&bound, &recipe, &skin, &[&pose]).remove(0);
        for (v, (x, y)) in bound.character.control.positions.iter().zip(&shape).enumerate() {
            let wanted = *x + skin.offset(v, &pose.rest.cage);
            // The spring solver stops before full precision.
            let within = if recipe.springs.is_some() { 2e-3 } else { 2e-5 };
            assert!(y.distance(wanted) < within * size, "{} {v}: {y} {wanted}", recipe.name());
        }
    }
}

#[test]
fn a_character_that_is_bound_in_the_rest_shape_deforms_the_same() {
    let bound = cylinder(3, 16, 24);
    let (skin, mut pose) = (skin_of(&bound), contorted(&bound));
    pose.rest = shift(&bound);
    let rested = Rested::new(&bound, &skin, &pose.rest).bound;
    // The shifted skeleton has its own rest translations, so the pose over it needs other local translations.
    let mut plain = pose.without_rest();
    for (i, local) in plain.local.iter_mut().enumerate() {
        let node = crate::base::NodeId::from(i);
        local.translation = (local.translation() + pose.rest.local(node)).into();
    }
    let rig = PosedRig::new(&rested.character.skeleton, &plain);
    let size = bound.character.control.aabb.diagonal();
    let springs = Recipe::from_name("springs").unwrap();
    // The other methods precompute weights from positions. A cage does not change these weights.
    let same = |r: &Recipe| {
        matches!(
            r.geometric,
            Geometric::Rigid | Geometric::Lbs | Geometric::Dqs | Geometric::Blend { .. } | Geometric::Irs(_)
        ) && r.volume.is_none()
    };
    for recipe in recipes().into_iter().filter(same) {
        let shape = on_cpu(&bound, &recipe, &skin, &[&pose]).remove(0);
        let mut own =
            CpuGraph::new(&rested.with(shown(&bound, &rested), rested.attachments.clone()), &recipe).unwrap();
        own.evaluate(&rig, &[], &mut Display::default());
        let far = shape.iter().zip(own.control()).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max);
        // Springs keep the edges' coherence and the mean edge lengths of the file's rest shape.
        let within = if recipe.springs == springs.springs { 2e-2 } else { 2e-5 };
        assert!(far < within * size, "{}: {far}", recipe.name());
    }
}

/// Returns the character in the changed rest shape, with a display mesh.
fn shown(bound: &Bound, rested: &Bound) -> Arc<crate::bind::Character> {
    let mut character = (*rested.character).clone();
    character.display = bound.character.display.clone();
    Arc::new(character)
}

#[test]
fn the_gpu_follows_like_the_reference_and_returns_to_the_same_bits() {
    let Some(device) = device() else { return };
    let kernels = Arc::new(Kernels::new(&device).unwrap());
    let bound = cylinder(3, 16, 24);
    let skin = skin_of(&bound);
    let plain = contorted(&bound);
    let shifted = Pose { rest: shift(&bound), ..plain.clone() };
    let count = bound.character.control.positions.len();
    let size = bound.character.control.aabb.diagonal();
    for recipe in recipes() {
        let mut graph = Graph::new(&kernels, &bound, &recipe, false).unwrap();
        let run = |graph: &mut Graph, pose: &Pose| -> Vec<[f32; 4]> {
            let rig = PosedRig::new(&bound.character.skeleton, pose);
            device
                .run(|frame| {
                    graph.record(frame, &rig);
                    Ok(())
                })
                .unwrap();
            device.read(graph.control_positions(), count).unwrap()
        };
        let before = run(&mut graph, &plain);
        graph.set_cage(Some(&skin)).unwrap();
        assert!(run(&mut graph, &plain) == before, "{}: a cage at rest", recipe.name());
        let there = run(&mut graph, &shifted);
        let wanted = on_cpu(&bound, &recipe, &skin, &[&shifted]).remove(0);
        let iterated = recipe.springs.is_some() || recipe.volume.is_some();
        let within = if iterated { 2e-3 } else { 2e-5 };
        for (v, (got, wanted)) in there.iter().zip(&wanted).enumerate() {
            let got = Vec3::new(got[0], got[1], got[2]);
            assert!(got.distance(*wanted) < within * size, "{} {v}: {got} {wanted}", recipe.name());
        }
        assert!(run(&mut graph, &plain) == before, "{}: back at rest", recipe.name());
        run(&mut graph, &shifted);
        graph.set_cage(None).unwrap();
        assert!(run(&mut graph, &plain) == before, "{}: without the cage", recipe.name());
    }
    assert_silent(&device);
}
