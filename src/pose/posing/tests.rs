use super::*;
use crate::base::Random;
use crate::base::math::{Quat, Trs, Vec3};
use crate::pose::{Sample, select};
use crate::rig::{chain, moved, random, skeleton, tree};

fn stroke(points: &[Vec3]) -> Stroke {
    Stroke::from_knots(points.iter().map(|&p| Sample::at(p, 0.0)).collect()).unwrap()
}

fn at(skeleton: &Skeleton, pose: &Pose) -> Vec<Vec3> {
    pose.world(skeleton).iter().map(|w| w.translation.into()).collect()
}

fn largest_change(a: &Pose, b: &Pose) -> f32 {
    let floats = |t: &Trs| [&t.translation[..], &t.rotation[..], &t.scale[..]].concat();
    let pairs = a.local.iter().zip(&b.local);
    pairs
        .flat_map(|(a, b)| floats(a).into_iter().zip(floats(b)))
        .map(|(a, b)| (a - b).abs())
        .fold(0.0, f32::max)
}

fn options(lengths: Lengths, root: RootMotion) -> Posing {
    Posing { lengths, root, roll: true }
}

/// Returns a half circle of the given arc length that starts at the origin along +x and bends up.
fn half_circle(length: f32, knots: usize) -> Stroke {
    let r = length / std::f32::consts::PI;
    let point = |i: usize| {
        let a = std::f32::consts::PI * i as f32 / (knots - 1) as f32;
        Vec3::new(r * a.sin(), r * (1.0 - a.cos()), 0.0)
    };
    stroke(&(0..knots).map(point).collect::<Vec<_>>())
}

#[test]
fn an_offset_equal_to_the_baseline_changes_nothing() {
    for seed in 1..40 {
        let (skeleton, mut pose) = random(seed, 24, seed % 2 == 0);
        let mut rng = Random::new(seed);
        for local in &mut pose.local {
            local.rotation = (rng.rotation() * local.rotation()).to_array();
        }
        let points: Vec<Vec3> = (0..6).map(|_| rng.vector()).collect();
        let line = stroke(&points);
        for (lengths, root) in [
            (Lengths::Keep, RootMotion::Auto),
            (Lengths::Keep, RootMotion::Free),
            (Lengths::Stretch, RootMotion::Free),
            (Lengths::Stretch, RootMotion::Fixed),
        ] {
            let picked = select((&skeleton, &[]), &pose, &line, 10.0);
            assert!(picked.len() >= 12);
            let posed = pose_by_stroke(&skeleton, &pose, &picked, &line, &line, options(lengths, root));
            assert!(largest_change(&pose, &posed) <= 1e-6, "seed {seed}: {}", largest_change(&pose, &posed));
        }
    }
}

#[test]
fn a_straight_chain_bends_onto_a_half_circle_at_every_scale() {
    for scale in [1e-2, 1.0, 1e3_f32] {
        let (skeleton, pose) = chain(10, 0.1 * scale);
        let line = stroke(&[Vec3::ZERO, Vec3::X * 0.9 * scale]);
        let arc = half_circle(0.9 * scale, 33);
        let picked = select((&skeleton, &[]), &pose, &line, 0.01 * scale);
        assert_eq!(picked.len(), 10);
        let posed = pose_by_stroke(&skeleton, &pose, &picked, &line, &arc, Posing::default());
        let radius = 0.9 * scale / std::f32::consts::PI;
        let placed = at(&skeleton, &posed);
        for (i, x) in placed.iter().enumerate() {
            // Bones are chords and keep their lengths, so the circle through the joints is 0.5 % larger than the arc's.
            let off = (*x - Vec3::Y * radius).length() / radius - 1.0;
            assert!(off.abs() < 0.012, "joint {i}: {off}");
        }
        for pair in placed.windows(2) {
            assert!(((pair[1] - pair[0]).length() / (0.1 * scale) - 1.0).abs() < 1e-5);
        }
        // The last joint points along the end of the arc, in direction -x, and no joint twists about the chain. The
        // spline's natural end conditions straighten the arc slightly.
        let tip = posed.world(&skeleton)[9];
        assert!((tip.transform_vector3(Vec3::X) + Vec3::X).length() < 0.03);
        for w in posed.world(&skeleton) {
            assert!((w.transform_vector3(Vec3::Z) - Vec3::Z).length() < 1e-4);
        }
        // With stretching, the joints lie on the arc itself.
        let stretch = options(Lengths::Stretch, RootMotion::Auto);
        let posed = pose_by_stroke(&skeleton, &pose, &picked, &line, &arc, stretch);
        for x in at(&skeleton, &posed) {
            assert!(((x - Vec3::Y * radius).length() / radius - 1.0).abs() < 1e-3);
        }
    }
}

#[test]
fn an_offset_of_another_length_keeps_the_shape_and_never_folds_back() {
    let (skeleton, pose) = chain(10, 0.1);
    let line = stroke(&[Vec3::ZERO, Vec3::X * 0.9]);
    let picked = select((&skeleton, &[]), &pose, &line, 0.01);
    let same = at(
        &skeleton,
        &pose_by_stroke(&skeleton, &pose, &picked, &line, &half_circle(0.9, 33), Posing::default()),
    );
    for length in [0.3, 0.6, 1.5, 3.0] {
        let arc = half_circle(length, 33);
        let posed = pose_by_stroke(&skeleton, &pose, &picked, &line, &arc, Posing::default());
        for (a, b) in same.iter().zip(at(&skeleton, &posed)) {
            assert!((*a - b).length() < 2e-3, "{length}: {a} {b}");
        }
    }
}

#[test]
fn stretch_puts_joints_where_the_warp_says() {
    for seed in 1..20 {
        let (skeleton, pose) = random(seed, 20, seed % 2 == 0);
        let mut rng = Random::new(seed * 77);
        let line = stroke(&(0..5).map(|_| rng.vector()).collect::<Vec<_>>());
        let offset = line.mapped(|p| p + 0.2 * Vec3::new((p.y * 3.0).sin(), p.z, (p.x * 2.0).cos())).unwrap();
        let picked = select((&skeleton, &[]), &pose, &line, 10.0);
        let stretch = options(Lengths::Stretch, RootMotion::Free);
        let posed = pose_by_stroke(&skeleton, &pose, &picked, &line, &offset, stretch);
        let warp = Warp::new(&line, &offset, true);
        let (before, after) = (at(&skeleton, &pose), at(&skeleton, &posed));
        for s in &picked {
            let wanted = warp.point(s.t, before[s.node.index()].as_dvec3()).as_vec3();
            assert!((wanted - after[s.node.index()]).length() < 2e-4, "seed {seed} {s:?}");
        }
    }
}

#[test]
fn kept_lengths_point_every_bone_along_the_stroke() {
    // If every selected joint has one selected child, bones have exactly the target directions, even with mirrored
    // scales and with unselected nodes between joints.
    let (skeleton, pose) = skeleton(&[
        ("a", None, Trs::new(Vec3::ZERO, Quat::from_rotation_y(0.4), Vec3::new(-1.3, 1.3, 1.3))),
        ("_between", Some(0), Trs::new(Vec3::X * 0.1, Quat::from_rotation_z(1.0), Vec3::splat(0.5))),
        ("b", Some(1), Trs::new(Vec3::Y * 0.3, Quat::from_rotation_x(-0.7), Vec3::new(1.0, 2.0, 1.0))),
        ("c", Some(2), Trs::new(Vec3::new(0.1, 0.3, 0.0), Quat::IDENTITY, Vec3::ONE)),
        ("d", Some(3), moved(0.0, 0.2, 0.1)),
    ]);
    let before = at(&skeleton, &pose);
    let line = stroke(&[before[0], before[2], before[3], before[4]]);
    let offset = line.mapped(|p| p + Vec3::new(p.y * p.y, -p.x * 0.5, 0.3 * p.x)).unwrap();
    let picked = select((&skeleton, &[]), &pose, &line, 1e-3);
    assert_eq!(picked.len(), 4);
    let posed = pose_by_stroke(&skeleton, &pose, &picked, &line, &offset, Posing::default());
    let warp = Warp::new(&line, &offset, false);
    let after = at(&skeleton, &posed);
    for pair in picked.windows(2) {
        let (i, j) = (pair[0].node.index(), pair[1].node.index());
        let to = |k: usize, t: f64| warp.point(t, before[k].as_dvec3()).as_vec3();
        let wanted = (to(j, pair[1].t) - to(i, pair[0].t)).normalize();
        assert!(((after[j] - after[i]).normalize() - wanted).length() < 1e-5);
    }
    for i in 0..5 {
        assert_eq!(posed.local[i].scale, pose.local[i].scale);
    }
}

#[test]
fn roll_of_the_controller_twists_the_chain_and_nothing_else() {
    let (skeleton, pose) = chain(5, 0.25);
    let line = stroke(&[Vec3::ZERO, Vec3::X]);
    let knots = (0..=8).map(|i| Sample {
        orientation: Quat::from_rotation_x(i as f32 * 0.2).to_array(),
        ..Sample::at(Vec3::X * i as f32 / 8.0, 0.0)
    });
    let rolled = Stroke::from_knots(knots.collect()).unwrap();
    let picked = select((&skeleton, &[]), &pose, &line, 0.01);
    let posed =
        pose_by_stroke(&skeleton, &pose, &picked, &line, &rolled, Posing { roll: true, ..Posing::default() });
    for (i, w) in posed.world(&skeleton).iter().enumerate() {
        let expected = Quat::from_rotation_x(1.6 * i as f32 / 4.0);
        assert!((w.transform_vector3(Vec3::Y) - expected * Vec3::Y).length() < 1e-4, "joint {i}");
        assert!((Vec3::from(w.translation) - Vec3::X * 0.25 * i as f32).length() < 1e-5);
    }
    let plain = pose_by_stroke(&skeleton, &pose, &picked, &line, &rolled, Posing::default());
    assert!(largest_change(&plain, &pose) < 1e-6);
}

#[test]
fn hips_move_and_an_arm_stays_attached() {
    let (skeleton, pose) = tree();
    let before = at(&skeleton, &pose);
    let id = |name: &str| skeleton.find(name).unwrap().index();
    let spine = stroke(&[before[id("hips")], before[id("chest")], before[id("neck")], before[id("head")]]);
    let crouch = spine.mapped(|p| p + Vec3::new(0.0, -0.3, 0.1)).unwrap();
    let picked = select((&skeleton, &[]), &pose, &spine, 0.02);
    let posed = at(&skeleton, &pose_by_stroke(&skeleton, &pose, &picked, &spine, &crouch, Posing::default()));
    for (a, b) in before.iter().zip(&posed) {
        assert!((*b - *a - Vec3::new(0.0, -0.3, 0.1)).length() < 1e-5);
    }
    let arm = stroke(&[before[id("arm.L")], before[id("elbow.L")], before[id("hand.L")]]);
    let raised = arm.mapped(|p| Vec3::new(p.x, p.y + 0.3 + (p.x - 0.2) * 0.8, p.z)).unwrap();
    let picked = select((&skeleton, &[]), &pose, &arm, 0.02);
    let posed = at(&skeleton, &pose_by_stroke(&skeleton, &pose, &picked, &arm, &raised, Posing::default()));
    assert!((posed[id("arm.L")] - before[id("arm.L")]).length() < 1e-6);
    assert!(posed[id("hand.L")].y > before[id("hand.L")].y + 0.2);
    assert!((posed[id("hand.R")] - before[id("hand.R")]).length() < 1e-6);
}

#[test]
fn a_joint_with_several_selected_children_fits_them_all() {
    let (skeleton, pose) = tree();
    let before = at(&skeleton, &pose);
    let id = |name: &str| skeleton.find(name).unwrap().index();
    let line =
        stroke(&["hand.L", "elbow.L", "arm.L", "chest", "arm.R", "elbow.R", "hand.R"].map(|n| before[id(n)]));
    let tilt = Quat::from_rotation_z(0.4);
    let centre = before[id("chest")];
    let tilted = line.mapped(|p| centre + tilt * (p - centre)).unwrap();
    let picked = select((&skeleton, &[]), &pose, &line, 0.01);
    assert_eq!(picked.len(), 7);
    let posed = at(&skeleton, &pose_by_stroke(&skeleton, &pose, &picked, &line, &tilted, Posing::default()));
    for name in ["arm.L", "hand.L", "arm.R", "hand.R", "head"] {
        let wanted = centre + tilt * (before[id(name)] - centre);
        assert!((posed[id(name)] - wanted).length() < 1e-4, "{name}");
    }
}

#[test]
fn a_rigid_motion_of_character_and_strokes_moves_the_result_rigidly() {
    let motion = Quat::from_rotation_y(2.0) * Quat::from_rotation_x(-0.6);
    let (shift, scale) = (Vec3::new(4.0, -2.0, 1.0), 100.0);
    for seed in 1..10 {
        let (skeleton, pose) = random(seed, 16, false);
        let mut rng = Random::new(seed * 31);
        let knot = |p: Vec3, q: Quat| Sample { orientation: q.to_array(), ..Sample::at(p, 0.0) };
        let line: Vec<Vec3> = (0..5).map(|_| rng.vector()).collect();
        let bent: Vec<Vec3> = line.iter().map(|p| *p + 0.3 * Vec3::new(p.y, p.z * p.x, -p.x)).collect();
        let make = |points: &[Vec3], map: &dyn Fn(Vec3) -> Vec3, q: Quat| {
            Stroke::from_knots(points.iter().map(|&p| knot(map(p), q)).collect()).unwrap()
        };
        let map = |p: Vec3| motion * (p * scale) + shift;
        let picked = select((&skeleton, &[]), &pose, &make(&line, &|p| p, Quat::IDENTITY), 5.0);
        let plain = pose_by_stroke(
            &skeleton,
            &pose,
            &picked,
            &make(&line, &|p| p, Quat::IDENTITY),
            &make(&bent, &|p| p, Quat::IDENTITY),
            Posing::default(),
        );
        let mut elsewhere = pose.clone();
        let root = pose.local[0];
        elsewhere.local[0] =
            Trs::new(map(root.translation()), motion * root.rotation(), root.scale() * scale);
        let (b, o) = (make(&line, &map, motion), make(&bent, &map, motion));
        let there = pose_by_stroke(&skeleton, &elsewhere, &picked, &b, &o, Posing::default());
        for (a, b) in at(&skeleton, &plain).iter().zip(at(&skeleton, &there)) {
            assert!((map(*a) - b).length() < 2e-4 * scale, "seed {seed}");
        }
    }
}

#[test]
fn flattened_and_coinciding_joints_give_no_nan() {
    let (skeleton, pose) = skeleton(&[
        ("a", None, moved(0.0, 0.0, 0.0)),
        ("b", Some(0), moved(0.0, 0.0, 0.0)),
        ("c", Some(1), Trs::new(Vec3::X, Quat::IDENTITY, Vec3::new(0.0, 1.0, 1.0))),
        ("d", Some(2), moved(1.0, 0.0, 0.0)),
        ("e", Some(3), moved(0.0, 0.5, 0.0)),
    ]);
    let line = stroke(&[Vec3::ZERO, Vec3::X]);
    let picked = select((&skeleton, &[]), &pose, &line, 2.0);
    for lengths in [Lengths::Keep, Lengths::Stretch] {
        let bent = stroke(&[Vec3::ZERO, Vec3::new(0.3, 0.4, 0.0), Vec3::Y]);
        let posed =
            pose_by_stroke(&skeleton, &pose, &picked, &line, &bent, options(lengths, RootMotion::Free));
        assert!(at(&skeleton, &posed).iter().all(|p| p.is_finite()));
    }
}
