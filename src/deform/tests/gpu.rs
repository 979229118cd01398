//! Tests of the GPU against the CPU reference, on a device with validation layers.

use super::*;
use crate::asset::Influences;
use crate::deform::blend::Painted;
use crate::deform::geometric_gpu::GeometricPipelines;
use crate::deform::irs::IrsParams;
use crate::deform::rig_buffers::{ControlBuffers, RigBuffers, StreamBuffers};
use crate::deform::surface::{Crease, Display, SurfacePipelines, bind};
use crate::deform::testing::methods;
use crate::gpu::Device;
use crate::gpu::testing::{assert_silent, device};
use std::sync::Arc;

/// Returns the tolerance: 1e-5 of the bounding box's diagonal.
fn tolerance(bound: &Bound) -> f32 {
    1e-5 * bound.character.control.aabb.diagonal()
}

fn points(device: &Arc<Device>, buffer: &crate::gpu::Buffer, count: usize) -> Vec<Vec3> {
    let raw = device.read::<[f32; 4]>(buffer, count).unwrap();
    raw.iter().map(|p| Vec3::new(p[0], p[1], p[2])).collect()
}

fn assert_near(got: &[Vec3], expected: &[Vec3], limit: f32, what: &str) {
    assert_eq!(got.len(), expected.len());
    for (i, (a, b)) in got.iter().zip(expected).enumerate() {
        assert!(a.distance(*b) <= limit, "{what}: element {i}: GPU {a}, twin {b}");
    }
}

/// Creates a character with five influences per vertex, a prop vertex, and a joint with non-uniform scale.
fn many_influences() -> (Bound, Pose) {
    let bound = cylinder(6, 16, 36);
    let mut character = (*bound.character).clone();
    let mut influences = Influences::default();
    for v in 0..character.control.positions.len() {
        let mut list: Vec<(u16, f32)> =
            (0..6u16).map(|j| (j, ((v * 7 + j as usize * 13) % 17) as f32)).filter(|e| e.1 > 1.0).collect();
        let sum: f32 = list.iter().map(|e| e.1).sum();
        list.iter_mut().for_each(|e| e.1 /= sum);
        list.sort_by(|a, b| b.1.total_cmp(&a.1));
        influences.push(list);
    }
    character.control.influences = influences;
    character.control.rigid[11] = true;
    let bound = bound.with(character.into(), bound.attachments.clone());
    let mut pose = contorted(&bound);
    pose.local[2].scale = [1.3, 0.8, 1.1];
    (bound, pose)
}

fn check_all(device: &Arc<Device>, bound: &Bound, pose: &Pose) {
    let control = ControlBuffers::new(device, bound).unwrap();
    let pipelines = GeometricPipelines::new(device).unwrap();
    let mut rig = RigBuffers::new(device, &bound.character.skeleton).unwrap();
    let vertices = bound.character.control.positions.len();
    let out = StreamBuffers::new(device, vertices).unwrap();
    let posed = PosedRig::new(&bound.character.skeleton, pose);
    let mut methods = methods();
    methods.push(Geometric::Irs(IrsParams { length_correction: true, ..IrsParams::DEFAULT }));
    for method in methods {
        let mut state = pipelines.bind(&method, bound, &control, &rig, &out).unwrap();
        device
            .run(|frame| {
                frame.phase("upload");
                rig.update(frame, &posed);
                state.update(frame, &posed);
                frame.phase("skin");
                pipelines.record(&state, &rig, frame);
                Ok(())
            })
            .unwrap();
        let twin = deform(&method, bound, pose);
        let limit = tolerance(bound);
        assert_near(&points(device, &out.position, vertices), &twin.position, limit, method.name());
    }
}

#[test]
fn every_method_equals_its_twin() {
    let Some(device) = device() else { return };
    let bound = cylinder(3, 16, 24);
    check_all(&device, &bound, &contorted(&bound));
    check_all(&device, &bound, &rest(&bound));
    let (bound, pose) = many_influences();
    check_all(&device, &bound, &pose);
    assert_silent(&device);
}

#[test]
fn display_equals_its_twin_with_and_without_morphs() {
    let Some(device) = device() else { return };
    let (bound, pose) = many_influences();
    let mut character = (*bound.character).clone();
    // One half of the character gets authored normals, and one vertex gets no faces.
    for (k, n) in character.display.normals.iter_mut().enumerate().skip(300) {
        *n = (*n + 0.5 * Vec3::new((k as f32).cos(), 0.0, 0.2)).normalize();
    }
    character.display.positions.push(Vec3::ZERO);
    character.display.normals.push(Vec3::X);
    character.display.control_of.push(0);
    let bound = bound.with(character.into(), bound.attachments.clone());
    let surface = bind(&bound.character, Crease::Source);
    let control = ControlBuffers::new(&device, &bound).unwrap();
    let mut rig = RigBuffers::new(&device, &bound.character.skeleton).unwrap();
    let vertices = bound.character.control.positions.len();
    let out = StreamBuffers::new(&device, vertices).unwrap();
    let (skin, display) =
        (GeometricPipelines::new(&device).unwrap(), SurfacePipelines::new(&device).unwrap());
    let posed = PosedRig::new(&bound.character.skeleton, &pose);
    let twin_control = deform(&Geometric::Lbs, &bound, &pose).position;
    let shown = bound.character.display.positions.len();
    let morph: Vec<Vec3> = (0..shown)
        .map(|k| if k % 3 == 0 { Vec3::new(0.02, 0.1, (k as f32).sin() * 0.05) } else { Vec3::ZERO })
        .collect();
    for morph in [&[][..], &morph] {
        let state = skin.bind(&Geometric::Lbs, &bound, &control, &rig, &out).unwrap();
        let view = display.bind(&surface, &control, &rig, &out.position, !morph.is_empty()).unwrap();
        device
            .run(|frame| {
                frame.phase("upload");
                rig.update(frame, &posed);
                view.set_morph(frame, &crate::deform::rig_buffers::padded(morph));
                frame.phase("skin");
                skin.record(&state, &rig, frame);
                frame.phase("display");
                display.record(&view, frame);
                Ok(())
            })
            .unwrap();
        let mut twin = Display::default();
        surface.reference(&posed, &twin_control, morph, &mut twin);
        assert_near(
            &points(&device, &view.positions, shown),
            &twin.positions,
            tolerance(&bound),
            "positions",
        );
        assert_near(&points(&device, &view.normals, shown), &twin.normals, 2e-4, "normals");
    }
    assert_silent(&device);
}

#[test]
fn what_frames_read_of_a_method_changes_without_binding() {
    use crate::deform::irs::Reach;
    use crate::deform::{Graph, Kernels, Recipe, fast, springs, volume};
    let Some(device) = device() else { return };
    let kernels = Arc::new(Kernels::new(&device).unwrap());
    let bound = cylinder(3, 16, 24);
    let posed = PosedRig::new(&bound.character.skeleton, &contorted(&bound));
    let shape = |graph: &mut Graph| {
        device
            .run(|frame| {
                graph.record(frame, &posed);
                Ok(())
            })
            .unwrap();
        points(&device, graph.control_positions(), bound.character.control.positions.len())
    };
    let irs = |as_parent| {
        let reach = Reach { as_parent, ..Reach::HALF };
        Geometric::Irs(IrsParams { reach, ..IrsParams::DEFAULT })
    };
    let count = bound.character.control.positions.len();
    let few = |iterations| Geometric::Fast(fast::Params { iterations, ..fast::Params::deformer() });
    let firm =
        |firmness| Recipe::volume(volume::Params { cubes: 500, firmness, ..volume::Params::default() });
    let touching =
        |contact| Recipe::volume(volume::Params { cubes: 500, contact, ..volume::Params::default() });
    let soft = |torsion| Recipe::springs(springs::Params { torsion, ..springs::Params::default() });
    for [a, b] in [
        [0.2, 0.9].map(|factor| Recipe::geometric(Geometric::Blend { factor, painted: Painted::NONE })),
        [0.3, 0.7].map(|share| {
            let painted = Painted::new((0..count).map(|v| if v % 3 == 0 { share } else { 0.0 }));
            Recipe::geometric(Geometric::Blend { factor: 0.5, painted })
        }),
        [0.5, 0.1].map(|p| Recipe::geometric(irs(p))),
        [1, 30].map(|n| Recipe::geometric(few(n))),
        [1.0, 3.0].map(soft),
        [0.1, 3.0].map(firm),
        [0, 3].map(touching),
    ] {
        let name = a.name();
        let mut graph = Graph::new(&kernels, &bound, &a, false).unwrap();
        let first = shape(&mut graph);
        assert!(a.can_become(&b) && graph.adopt(&b), "{name}");
        let second = shape(&mut graph);
        assert!(second != first, "{name} shows it");
        assert!(second == shape(&mut Graph::new(&kernels, &bound, &b, false).unwrap()), "{name}: as bound");
        assert!(graph.adopt(&a) && shape(&mut graph) == first, "{name}: and back");
        let other = Recipe::geometric(Geometric::Lbs);
        assert!(!graph.adopt(&other) && shape(&mut graph) == first, "{name} is not linear skinning");
    }
    assert_silent(&device);
}

#[test]
fn grips_pose_the_skin_alike_on_both_sides_and_in_every_order_of_frames() {
    use crate::base::GripId;
    use crate::deform::fast::{GripShape, Grips};
    use crate::deform::surface::Display;
    use crate::deform::{CpuGraph, Graph, Kernels, Recipe};
    use crate::rig::{GripHold, GripPose};
    let Some(device) = device() else { return };
    let kernels = Arc::new(Kernels::new(&device).unwrap());
    let bound = cylinder(3, 16, 24);
    let positions = &bound.character.control.positions;
    let top: Vec<u32> = (0..positions.len() as u32).filter(|&v| positions[v as usize].y > 2.7).collect();
    let side = (0..positions.len() as u32).find(|&v| positions[v as usize].y > 1.2).unwrap();
    let shapes = [(0, vec![side]), (1, top)];
    let shapes = shapes.map(|(id, vertices)| GripShape { id: GripId(id), vertices });
    let mut recipe = Recipe::from_name("fast").unwrap();
    let plain = recipe.clone();
    recipe.set_grips(&Grips::new(shapes.to_vec()));
    assert!(!plain.can_become(&recipe) && recipe.can_become(&recipe.clone()));
    let grip = |id, hold, x: Vec3, turn: Quat| GripPose {
        id: GripId(id),
        hold,
        translation: x.to_array(),
        rotation: turn.to_array(),
    };
    let mut pose = rest(&bound);
    pose.grips.push(grip(0, GripHold::Position, Vec3::new(0.1, 0.05, 0.2), Quat::IDENTITY));
    pose.grips.push(grip(1, GripHold::Full, Vec3::new(0.4, -0.3, 0.0), Quat::from_rotation_z(-0.8)));
    let mut other = contorted(&bound);
    other.grips.clone_from(&pose.grips);
    other.grips[1].hold = GripHold::Free;
    let poses = [pose, other].map(|pose| PosedRig::new(&bound.character.skeleton, &pose));
    let mut graph = Graph::new(&kernels, &bound, &recipe, false).unwrap();
    let mut twin = CpuGraph::new(&bound, &recipe).unwrap();
    let mut first: Vec<Vec<Vec3>> = Vec::new();
    for k in [0, 1, 0, 1] {
        device
            .run(|frame| {
                graph.record(frame, &poses[k]);
                Ok(())
            })
            .unwrap();
        let shape = points(&device, graph.control_positions(), positions.len());
        twin.evaluate(&poses[k], &[], &mut Display::default());
        assert_near(&shape, twin.control(), tolerance(&bound), "grips");
        let moved = shape.iter().zip(positions).filter(|(a, b)| a.distance(**b) > 0.05).count();
        assert!(moved > 100, "{moved}");
        match first.get(k) {
            Some(known) => assert!(*known == shape, "an earlier frame changes pose {k}"),
            None => first.push(shape),
        }
    }
    let at = first[0][side as usize];
    assert!(at.distance(positions[side as usize] + Vec3::new(0.1, 0.05, 0.2)) < 1e-3, "{at}");
    assert_silent(&device);
}
