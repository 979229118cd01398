use crate::base::Random;
use crate::base::math::{Quat, Vec3};
use crate::deform::clock::Frames;
use crate::deform::testing::{RADIUS, cylinder, rest};
use crate::deform::volume::{Firm, Params};
use crate::deform::{Bound, CpuGraph, Graph, Kernels, Recipe, surface::Display};
use crate::gpu::testing::{assert_silent, device};
use crate::rig::{Pose, PosedRig};
use std::f32::consts::{PI, TAU};
use std::sync::Arc;

fn few() -> Params {
    Params { cubes: 800, ..Params::default() }
}

pub(super) fn swinging(frequency: f32, damping: f32) -> Params {
    Params { dynamics: frequency, damping, ..few() }
}

/// The control vertices in each frame of a motion; frames without a time are static.
pub(super) fn play(
    bound: &Bound,
    params: Params,
    firm: &Firm,
    motion: &[(Option<f64>, Pose)],
) -> Vec<Vec<Vec3>> {
    let recipe = Recipe { firm: firm.clone(), ..Recipe::volume(params) };
    let mut graph = CpuGraph::new(bound, &recipe).unwrap();
    let frame = |(time, pose): &(Option<f64>, Pose)| {
        graph.set_time(*time);
        graph.evaluate(&PosedRig::new(&bound.character.skeleton, pose), &[], &mut Display::default());
        graph.control().to_vec()
    };
    motion.iter().map(frame).collect()
}

/// Returns a motion of the whole character, whose placement at a time is `place(time)`, with `rate` frames a second.
fn moved(
    bound: &Bound,
    seconds: f64,
    rate: f64,
    place: impl Fn(f64) -> (Vec3, Quat),
) -> Vec<(Option<f64>, Pose)> {
    let frame = |k: u32| {
        let (time, mut pose) = (f64::from(k) / rate, rest(bound));
        let (at, turn) = place(time);
        pose.local[0].translation = at.into();
        pose.local[0].rotation = turn.into();
        (Some(time), pose)
    };
    (0..=(seconds * rate).round() as u32).map(frame).collect()
}

/// Returns a motion along X that stops abruptly at the time 0.5 s.
pub(super) fn stop(bound: &Bound, seconds: f64, rate: f64) -> Vec<(Option<f64>, Pose)> {
    moved(bound, seconds, rate, |t| (Vec3::X * t.min(0.5) as f32, Quat::IDENTITY))
}

/// Mean displacement along X of the skin around the middle, per frame, metres.
pub(super) fn sway(bound: &Bound, params: Params, firm: &Firm, motion: &[(Option<f64>, Pose)]) -> Vec<f32> {
    let still: Vec<_> = motion.iter().map(|m| (None, m.1.clone())).collect();
    let (moved, still) = (play(bound, params, firm, motion), play(bound, params, firm, &still));
    let middle: Vec<usize> = (0..still[0].len()).filter(|&v| (0.7..1.3).contains(&still[0][v].y)).collect();
    let mean =
        |a: &[Vec3], b: &[Vec3]| middle.iter().map(|&v| (a[v] - b[v]).x).sum::<f32>() / middle.len() as f32;
    moved.iter().zip(&still).map(|(a, b)| mean(a, b)).collect()
}

fn farthest(a: &[Vec3], b: &[Vec3]) -> f32 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max)
}

#[test]
fn flesh_that_travels_and_turns_evenly_with_its_bones_keeps_its_shape() {
    let bound = cylinder(2, 16, 16);
    let even = moved(&bound, 1.0, 60.0, |t| (Vec3::new(3.0, 1.0, -2.0) * t as f32, Quat::IDENTITY));
    let x = play(&bound, swinging(3.0, 0.2), &Firm::default(), &even);
    for (x, (_, pose)) in x.iter().zip(&even) {
        let at = Vec3::from(pose.local[0].translation);
        let back: Vec<Vec3> = x.iter().map(|x| *x - at).collect();
        assert!(farthest(&back, &bound.character.control.positions) < 1e-3 * RADIUS);
    }
    // In a slow, steady rotation only the centrifugal force remains, which displaces the skin by (ω / 2π f)² R.
    let turning = moved(&bound, 1.0, 60.0, |t| (Vec3::ZERO, Quat::from_rotation_y(0.5 * t as f32)));
    let x = play(&bound, swinging(3.0, 0.2), &Firm::default(), &turning);
    let back: Vec<Vec3> = x[60].iter().map(|x| Quat::from_rotation_y(-0.5) * *x).collect();
    assert!(farthest(&back, &bound.character.control.positions) < 5e-3 * RADIUS);
}

#[test]
fn flesh_swings_on_at_a_stop_with_its_frequency_and_comes_to_rest() {
    let bound = cylinder(2, 16, 16);
    let frequency = 3.0;
    let x = sway(&bound, swinging(frequency, 0.1), &Firm::default(), &stop(&bound, 4.0, 120.0));
    assert!(x[..60].iter().all(|x| x.abs() < 1e-3 * RADIUS), "it starts with its bones");
    let after = &x[61..];
    let peak = after.iter().copied().fold(0.0, f32::max);
    assert!((0.1 * RADIUS..0.5 * RADIUS).contains(&peak), "{peak}");
    let crossings: Vec<usize> =
        (1..after.len()).filter(|&k| after[k - 1] > 0.0 && after[k] <= 0.0).take(3).collect();
    let found = 240.0 / (crossings[2] - crossings[0]) as f32;
    assert!((0.75 * frequency..1.3 * frequency).contains(&found), "{found} Hz");
    let end = after[after.len() - 30..].iter().fold(0.0f32, |m, x| m.max(x.abs()));
    assert!(end < 0.02 * peak, "{end} of {peak}");
    // With critical damping, flesh does not overshoot.
    let calm = sway(&bound, swinging(frequency, 1.0), &Firm::default(), &stop(&bound, 2.0, 120.0));
    assert!(calm.iter().copied().fold(0.0, f32::min) > -0.05 * peak);
}

#[test]
fn a_swing_depends_little_on_the_rate_of_frames() {
    let bound = cylinder(2, 16, 16);
    let peaks = [30.0, 60.0, 120.0].map(|rate| {
        let x = sway(&bound, swinging(2.0, 0.2), &Firm::default(), &stop(&bound, 1.2, rate));
        let low = x.iter().copied().fold(0.0, f32::min);
        (x.iter().copied().fold(0.0, f32::max), low)
    });
    println!("{peaks:?}");
    let [coarse, middle, fine] = peaks;
    assert!([coarse, middle].iter().all(|p| (0.9..1.1).contains(&(p.0 / fine.0))), "{peaks:?}");
    assert!(fine.1 < -0.2 * fine.0, "it swings back: {peaks:?}");
}

#[test]
fn a_pause_a_jump_and_no_time_give_the_equilibrium() {
    let bound = cylinder(2, 16, 16);
    let mut motion = stop(&bound, 0.6, 60.0);
    let (time, pose) = motion[33].clone();
    motion.truncate(34);
    motion.push((time, pose.clone()));
    motion.push((time.map(|t| t - 0.3), pose.clone()));
    motion.push((time.map(|t| t + 100.0), pose.clone()));
    motion.push((None, pose.clone()));
    let x = play(&bound, swinging(3.0, 0.1), &Firm::default(), &motion);
    let still = play(&bound, few(), &Firm::default(), &[(None, pose)]);
    assert!(farthest(&x[33], &still[0]) > 0.05 * RADIUS);
    (34..38).for_each(|k| assert_eq!(x[k], still[0], "{k}"));
    assert_eq!(
        play(&bound, swinging(3.0, 0.1), &Firm::default(), &motion),
        x,
        "a second run has the same bits"
    );
}

#[test]
fn any_setting_and_any_motion_stay_near_the_body() {
    let bound = cylinder(3, 12, 12);
    let mut random = Random::new(11);
    for round in 0..6 {
        let params = Params {
            cubes: 300,
            dynamics: [0.01, 3.0, 30.0][round % 3],
            damping: [0.0, 0.2, 4.0][round / 2],
            contact: [0, 2][round % 2],
            ..Params::default()
        };
        let mut time = 0.0;
        let motion: Vec<_> = (0..24)
            .map(|k| {
                let mut pose = rest(&bound);
                for local in &mut pose.local {
                    let turn =
                        Quat::from_axis_angle(random.vector().normalize_or(Vec3::X), PI * random.unit());
                    local.rotation = turn.into();
                }
                pose.local[0].translation = random.vector().into();
                time += [1e-6, 0.001, 0.02, 0.4][k % 4];
                (Some(time), pose)
            })
            .collect();
        for (x, (_, pose)) in play(&bound, params, &Firm::default(), &motion).iter().zip(&motion) {
            let rig = PosedRig::new(&bound.character.skeleton, pose);
            let mut around = crate::base::math::Aabb::of(rig.bones.iter().flat_map(|b| [b.head, b.tail]));
            around.min -= Vec3::splat(RADIUS);
            around.max += Vec3::splat(RADIUS);
            let far = x.iter().map(|x| x.distance(around.center())).fold(0.0, f32::max);
            assert!(x.iter().all(|x| x.is_finite()) && far < around.diagonal(), "{round}: {far}, {params:?}");
        }
    }
}

#[test]
fn frames_that_continue_the_last_one_twist_once_round() {
    let bound = cylinder(2, 16, 32);
    let twist = |degrees: f32| {
        let mut pose = rest(&bound);
        pose.local[1].rotation = Quat::from_rotation_y(degrees.to_radians()).into();
        pose
    };
    let motion: Vec<_> = (0..=36).map(|k| (None, twist(10.0 * k as f32))).collect();
    let params = Params { frames: Frames::Dependent, cycles: 8, ..few() };
    let x = play(&bound, params, &Firm::default(), &motion).pop().unwrap();
    let rest = &bound.character.control.positions;
    // Mean rotation angle of each ring relative to bind. The rotation is distributed over the whole length of the
    // flesh.
    let angle = |ring: usize, expected: f32| {
        let turned = Quat::from_rotation_y(expected);
        let of = |v: usize| {
            let (a, b) = (turned * (rest[v] * Vec3::new(1.0, 0.0, 1.0)), x[v] * Vec3::new(1.0, 0.0, 1.0));
            a.cross(b).y.atan2(a.dot(b))
        };
        expected + (0..16).map(|k| of(ring * 16 + k)).sum::<f32>() / 16.0
    };
    let angles: Vec<f32> = (0..=32).map(|r| angle(r, TAU * r as f32 / 32.0)).collect();
    assert!(angles.is_sorted_by(|a, b| a < b), "{angles:?}");
    assert!(
        (angles[16] - PI).abs() < 0.3
            && (angles[32] + angles[0] - TAU).abs() < 0.3
            && angles[32] - angles[0] > PI,
        "{angles:?}"
    );
    // A frame that does not depend on earlier frames cannot distinguish a full turn from none.
    let alone = play(&bound, few(), &Firm::default(), &[(None, twist(360.0))]);
    assert!(farthest(&alone[0], rest) < 0.02 * RADIUS);
}

#[test]
fn the_gpu_swings_like_its_reference() {
    let Some(device) = device() else { return };
    let bound = cylinder(2, 16, 16);
    let mut motion = stop(&bound, 0.9, 30.0);
    for (k, (_, pose)) in motion.iter_mut().enumerate() {
        pose.local[1].rotation = Quat::from_rotation_z(0.06 * k.min(20) as f32).into();
    }
    let kernels = Arc::new(Kernels::new(&device).unwrap());
    let dependent = Params { frames: Frames::Dependent, ..few() };
    for params in [swinging(3.0, 0.2), Params { contact: 2, ..swinging(4.0, 0.5) }, dependent] {
        let reference = play(&bound, params, &Firm::default(), &motion);
        let mut graph = Graph::new(&kernels, &bound, &Recipe::volume(params), false).unwrap();
        for ((time, pose), reference) in motion.iter().zip(&reference) {
            graph.set_time(*time);
            let rig = PosedRig::new(&bound.character.skeleton, pose);
            let recorded = device.run(|frame| {
                graph.record(frame, &rig);
                Ok(())
            });
            recorded.unwrap();
            let gpu: Vec<[f32; 4]> = device.read(graph.control_positions(), reference.len()).unwrap();
            let gpu: Vec<Vec3> = gpu.iter().map(|g| Vec3::new(g[0], g[1], g[2])).collect();
            let off = farthest(&gpu, reference);
            assert!(off < 2e-3 * RADIUS, "{time:?}: {off}, {params:?}");
        }
        // After `forget` the result equals that of an independent frame.
        graph.forget();
        graph.set_time(None);
        let (_, pose) = &motion[20];
        let rig = PosedRig::new(&bound.character.skeleton, pose);
        let recorded = device.run(|frame| {
            graph.record(frame, &rig);
            Ok(())
        });
        recorded.unwrap();
        let gpu: Vec<[f32; 4]> = device.read(graph.control_positions(), reference[0].len()).unwrap();
        let gpu: Vec<Vec3> = gpu.iter().map(|g| Vec3::new(g[0], g[1], g[2])).collect();
        let alone = play(
            &bound,
            Params { frames: Frames::Independent, dynamics: 0.0, ..params },
            &Firm::default(),
            &[(None, pose.clone())],
        );
        assert!(farthest(&gpu, &alone[0]) < 2e-3 * RADIUS);
    }
    assert_silent(&device);
}
