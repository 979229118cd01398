//! Tests of the dynamics against known results.

use super::cpu::{VertexMotion, advance};
use super::{REACH, Rest, steps};
use crate::base::math::{Quat, Vec3};
use crate::bind::shapes::Shape;
use crate::bind::{BindOptions, bind_attachments};
use crate::deform::clock::{Clock, Way};
use crate::deform::springs::Params;
use crate::deform::{Bound, CpuGraph, Graph, Kernels, Recipe};
use crate::gpu::testing::{assert_silent, device};
use crate::rig::{Pose, PosedRig};
use proptest::prelude::*;
use std::f32::consts::TAU;
use std::sync::Arc;

const FREE: Rest = Rest { haste: 1.0, reach: f32::MAX };

/// Displaces a vertex by 1 m, releases it, and returns its state after every frame.
fn let_go(frequency: f32, damping: f32, rate: u32, steps: u32, frames: u32) -> Vec<VertexMotion> {
    let mut me = VertexMotion { position: Vec3::X, ..VertexMotion::default() };
    (0..frames)
        .map(|_| {
            advance(FREE, TAU * frequency, damping, (1.0 / rate as f32, steps), &mut me, Vec3::ZERO);
            me
        })
        .collect()
}

/// Returns the displacement at time `t` of a damped oscillator that starts at displacement 1 with zero velocity.
fn closed_form(frequency: f64, damping: f64, t: f64) -> f64 {
    let omega = std::f64::consts::TAU * frequency;
    let damped = omega * (1.0 - damping * damping).sqrt();
    (-damping * omega * t).exp() * ((damped * t).cos() + damping * omega / damped * (damped * t).sin())
}

#[test]
fn a_vertex_let_go_is_a_damped_oscillator_and_halved_steps_halve_what_it_is_off() {
    for (frequency, damping) in [(2.0f32, 0.1f32), (4.0, 0.3), (1.0, 0.0)] {
        let off = |steps: u32| {
            let found = let_go(frequency, damping, 60, steps, 60);
            let apart = found.iter().enumerate().map(|(k, me)| {
                let t = (k + 1) as f64 / 60.0;
                (f64::from(me.position.x) - closed_form(frequency.into(), damping.into(), t)).abs()
            });
            apart.fold(0.0, f64::max)
        };
        let (coarse, fine, finer) = (off(8), off(16), off(32));
        assert!(coarse < 0.03, "{frequency} Hz, {damping}: {coarse}");
        assert!(fine < 0.6 * coarse && finer < 0.6 * fine, "{coarse} {fine} {finer}");
    }
}

#[test]
fn energy_falls_and_all_comes_to_rest_in_equilibrium() {
    let found = let_go(3.0, 0.15, 60, 8, 300);
    let omega = TAU * 3.0;
    // Compares energies over whole periods: within one, the integrator's modified energy differs from the true one.
    let energy =
        |me: &VertexMotion| me.velocity.length_squared() + omega * omega * me.position.length_squared();
    for pair in found.chunks_exact(20).collect::<Vec<_>>().windows(2) {
        assert!(energy(&pair[1][19]) < 0.5 * energy(&pair[0][19]), "{}", energy(&pair[1][19]));
    }
    assert!(found[299].position.length() < 1e-5 && found[299].velocity.length() < 1e-3);
    // The vertex overshoots its target.
    assert!(found.iter().any(|me| me.position.x < -0.4));
}

#[test]
fn steady_motion_leaves_no_lag() {
    let mut me = VertexMotion::default();
    for k in 1..=600 {
        advance(FREE, TAU * 3.0, 0.3, (1.0 / 60.0, 8), &mut me, Vec3::X * (k as f32 / 60.0));
    }
    assert!((me.position.x - 10.0).abs() < 1e-3 && (me.velocity.x - 1.0).abs() < 1e-2, "{me:?}");
}

#[test]
fn a_clock_runs_in_sub_steps_and_starts_anew_after_cuts() {
    let mut clock = Clock::default();
    assert_eq!(clock.tick(true), None);
    clock.set(Some(0.0));
    assert_eq!(clock.tick(true), Some(Way::Start));
    for k in 1..50 {
        clock.set(Some(f64::from(k) / 30.0));
        assert!(matches!(clock.tick(true), Some(Way::Run(passed)) if steps(passed) == 16));
    }
    assert_eq!(clock.tick(true), Some(Way::Run(0.0)), "time stands still");
    clock.set(Some(0.5));
    assert_eq!(clock.tick(true), Some(Way::Start), "it goes back");
    clock.set(Some(9.0));
    assert_eq!(clock.tick(true), Some(Way::Start), "it jumps");
    assert_eq!(clock.tick(false), None);
    assert_eq!(clock.tick(true), Some(Way::Start), "it was off");
}

proptest! {
    #[test]
    fn no_setting_explodes(
        frequency in 0.0f32..1e4, damping in 0.0f32..100.0, seconds in 0.0f32..1.0,
        haste in 1.0f32..1e4, targets in prop::collection::vec(prop::array::uniform3(-1e3f32..1e3), 1..20),
    ) {
        let mut me = VertexMotion::default();
        let rest = Rest { haste, reach: REACH };
        for target in targets {
            let steps = (f64::from(seconds) / super::STEP).ceil() as u32;
            let target = Vec3::from(target);
            advance(rest, TAU * frequency, damping, (seconds, steps), &mut me, target);
            prop_assert!(me.position.is_finite() && me.velocity.is_finite());
            prop_assert!(me.position.distance(target) <= REACH + 1e-3, "{}", me.position.distance(target));
        }
    }
}

fn capsule() -> Bound {
    let shape = Shape { bones: 2, rings: 24, segments: 16, radius: 0.15, length: 2.0, blend: 0.3 };
    let character = shape.capsule();
    let (attachments, _) = bind_attachments(&character, &BindOptions::default()).unwrap();
    Bound::new(Arc::new(character), Arc::new(attachments))
}

/// Returns a motion that bends the elbow within a third of a second, then holds still for the rest of `frames`.
fn bending(bound: &Bound, frames: u32) -> Vec<(f64, PosedRig)> {
    let skeleton = &bound.character.skeleton;
    let elbow = skeleton.joints[skeleton.bones[1].parent.index()].node;
    (0..frames)
        .map(|k| {
            let mut pose = Pose::rest(skeleton);
            pose.local[elbow.index()].rotation = Quat::from_rotation_z(0.06 * k.min(20) as f32).into();
            (f64::from(k) / 60.0, PosedRig::new(skeleton, &pose))
        })
        .collect()
}

fn frames(graph: &mut CpuGraph, motion: &[(f64, PosedRig)]) -> Vec<Vec<Vec3>> {
    let frame = |(time, rig): &(f64, PosedRig)| {
        graph.set_time(Some(*time));
        graph.evaluate(rig, &[], &mut Default::default());
        graph.control().to_vec()
    };
    motion.iter().map(frame).collect()
}

#[test]
fn flesh_lags_overshoots_and_settles_and_the_gpu_agrees() {
    let bound = capsule();
    let diagonal = bound.character.control.aabb.diagonal();
    let motion = bending(&bound, 120);
    let still = Recipe::springs(Params::default());
    let swinging = Recipe::springs(Params { dynamics: 3.0, damping: 0.2, ..Params::default() });
    let calm = frames(&mut CpuGraph::new(&bound, &still).unwrap(), &motion);
    let mut twin = CpuGraph::new(&bound, &swinging).unwrap();
    let first = frames(&mut twin, &motion);
    let off = |a: &[Vec3], b: &[Vec3]| a.iter().zip(b).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max);
    assert_eq!(first[0], calm[0], "it starts in equilibrium");
    assert!(off(&first[3], &calm[3]) > 1e-4 * diagonal, "it lags: {}", off(&first[3], &calm[3]));
    assert!(off(&first[22], &calm[22]) > 1e-3 * diagonal, "it overshoots");
    assert!(off(&first[119], &calm[119]) < 2e-4 * diagonal, "it settles: {}", off(&first[119], &calm[119]));
    // A second run and a new graph give bitwise equal results.
    assert_eq!(frames(&mut twin, &motion), first);
    assert_eq!(frames(&mut CpuGraph::new(&bound, &swinging).unwrap(), &motion), first);
    // Without a time there are no dynamics.
    twin.set_time(None);
    twin.evaluate(&motion[10].1, &[], &mut Default::default());
    assert_eq!(twin.control(), calm[10]);
    let Some(device) = device() else { return };
    let kernels = Arc::new(Kernels::new(&device).unwrap());
    let mut graph = Graph::new(&kernels, &bound, &swinging, false).unwrap();
    for ((time, rig), twin) in motion.iter().zip(&first).take(40) {
        graph.set_time(Some(*time));
        let recorded = device.run(|frame| {
            graph.record(frame, rig);
            Ok(())
        });
        recorded.unwrap();
        let gpu: Vec<[f32; 4]> = device.read(graph.control_positions(), twin.len()).unwrap();
        let gpu: Vec<Vec3> = gpu.iter().map(|g| Vec3::new(g[0], g[1], g[2])).collect();
        assert!(off(&gpu, twin) < 5e-4 * diagonal, "{time}: {}", off(&gpu, twin));
    }
    assert_silent(&device);
}
