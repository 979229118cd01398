use super::*;
use crate::base::BoneId;
use crate::base::math::Affine3A;
use crate::deform::blend::{Blend, Factor};
use crate::deform::cor::centers;
use crate::deform::irs::IrsParams;
use crate::deform::skinning_cpu::SkinningReference;
use crate::deform::testing::{self, RADIUS, scaled};
use crate::deform::{CpuGraph, Recipe, Reference};
use std::f32::consts::{FRAC_PI_2, PI};
use std::sync::Arc;

const SIDES: usize = 16;
const RINGS: usize = 16;

fn methods() -> Vec<Geometric> {
    let mut list = testing::methods();
    list.push(Geometric::Irs(IrsParams { length_correction: true, ..IrsParams::DEFAULT }));
    list
}

/// Returns the distances of the joint's edge ring from the y axis.
fn joint_ring(streams: &Streams) -> impl Iterator<Item = f32> + '_ {
    let start = RINGS / 2 * SIDES;
    streams.position[start..start + SIDES].iter().map(|p| p.x.hypot(p.z))
}

#[test]
fn bind_pose_is_exact() {
    let bound = cylinder(3, SIDES, 24);
    let size = bound.character.control.aabb.diagonal();
    for method in methods() {
        let streams = deform(&method, &bound, &rest(&bound));
        for (i, (x, bind)) in streams.position.iter().zip(&bound.character.control.positions).enumerate() {
            assert!(x.distance(*bind) <= 1e-6 * size, "{}: vertex {i} {x} {bind}", method.name());
            let a = *bind - bound.attachments.scale_vector[i];
            assert!(streams.attachment[i].distance(a) <= 1e-6 * size, "{}: attachment {i}", method.name());
        }
    }
}

#[test]
fn root_motion_moves_every_vertex_rigidly() {
    let bound = cylinder(3, SIDES, 24);
    let mut pose = rest(&bound);
    let motion = Affine3A::from_rotation_translation(
        Quat::from_axis_angle(Vec3::new(1.0, 2.0, -0.5).normalize(), 2.5),
        Vec3::new(0.7, -1.1, 0.4),
    );
    let (_, turn, shift) = motion.to_scale_rotation_translation();
    (pose.local[0].rotation, pose.local[0].translation) = (turn.into(), shift.into());
    for method in methods() {
        let streams = deform(&method, &bound, &pose);
        for (x, bind) in streams.position.iter().zip(&bound.character.control.positions) {
            let expected = motion.transform_point3(*bind);
            assert!(x.distance(expected) < 3e-6, "{}: {x} {expected}", method.name());
        }
    }
}

#[test]
fn twist_collapses_lbs_by_the_cosine_of_half_the_angle() {
    let bound = cylinder(2, SIDES, RINGS);
    for degrees in [30.0f32, 90.0, 150.0, 180.0] {
        let angle = degrees.to_radians();
        let streams = deform(&Geometric::Lbs, &bound, &bent(&bound, Quat::from_rotation_y(angle)));
        let expected = RADIUS * (0.5 * angle).cos().abs();
        assert!(joint_ring(&streams).all(|r| (r - expected).abs() < 1e-5), "{degrees}");
    }
}

#[test]
fn twist_keeps_the_radius_of_dqs_cor_and_irs() {
    let bound = cylinder(2, SIDES, RINGS);
    for method in [Geometric::Dqs, Geometric::Cor, Geometric::Irs(IrsParams::DEFAULT), Geometric::Stb] {
        let streams = deform(&method, &bound, &bent(&bound, Quat::from_rotation_y(179.0f32.to_radians())));
        let worst = joint_ring(&streams).map(|r| (r / RADIUS - 1.0).abs()).fold(0.0, f32::max);
        assert!(worst < 0.01, "{}: {worst}", method.name());
    }
}

#[test]
fn bend_loses_volume_in_lbs_and_bulges_in_dqs() {
    let bound = cylinder(2, SIDES, RINGS);
    let pose = bent(&bound, Quat::from_rotation_z(FRAC_PI_2));
    let triangles = &bound.character.control.triangles;
    let at_rest = volume(&bound.character.control.positions, triangles);
    // The bulge on the outside of the bend is the largest distance of the surface from its nearest bone.
    let bulge = |s: &Streams| {
        let reach = |p: &Vec3| {
            let low = p.distance(Vec3::Y * p.y.clamp(0.0, 1.0));
            low.min(p.distance(Vec3::new(p.x.clamp(-1.0, 0.0), 1.0, 0.0)))
        };
        s.position[SIDES..RINGS * SIDES].iter().map(reach).fold(0.0, f32::max) / RADIUS
    };
    let [lbs, dqs, cor, blend] =
        [Geometric::Lbs, Geometric::Dqs, Geometric::Cor, blend(0.5)].map(|m| deform(&m, &bound, &pose));
    let kept = |s: &Streams| volume(&s.position, triangles) / at_rest;
    assert!(kept(&lbs) < 0.96, "{}", kept(&lbs));
    assert!(bulge(&dqs) > 1.2 && bulge(&lbs) < 1.1, "{} {}", bulge(&dqs), bulge(&lbs));
    assert!(kept(&cor) > kept(&lbs) && bulge(&cor) < bulge(&dqs), "{} {}", kept(&cor), bulge(&cor));
    assert!((bulge(&lbs)..bulge(&dqs)).contains(&bulge(&blend)));
}

#[test]
fn blend_ends_are_the_two_methods_and_factors_may_vary() {
    let bound = cylinder(2, SIDES, RINGS);
    let pose = contorted(&bound);
    let same = |a: &[Vec3], b: &[Vec3]| a.iter().zip(b).all(|(a, b)| a.distance(*b) < 1e-6);
    let (lbs, dqs) = (deform(&Geometric::Lbs, &bound, &pose), deform(&Geometric::Dqs, &bound, &pose));
    assert!(same(&deform(&blend(0.0), &bound, &pose).position, &lbs.position));
    assert!(same(&deform(&blend(1.0), &bound, &pose).position, &dqs.position));
    let half = lbs.position.len() / 2;
    let factors: Arc<[f32]> = (0..lbs.position.len()).map(|i| if i >= half { 1.0 } else { 0.0 }).collect();
    let mut streams = Streams::default();
    let rig = PosedRig::new(&bound.character.skeleton, &pose);
    let painted = Blend::new(&bound, Factor::PerVertex(factors)).unwrap();
    SkinningReference::new(&bound, painted).unwrap().reference(&rig, &mut streams);
    assert!(same(&streams.position[..half], &lbs.position[..half]));
    assert!(same(&streams.position[half..], &dqs.position[half..]));
    assert!(Blend::new(&bound, Factor::PerVertex([0.5].into())).is_err());
}

#[test]
fn irs_turns_both_sides_of_a_joint_half_way() {
    let bound = cylinder(2, SIDES, RINGS);
    let start = RINGS / 2 * SIDES;
    let mut swapped = (*bound.attachments).clone();
    for i in start..start + SIDES {
        let low = swapped.bone[i] == BoneId(0);
        (swapped.bone[i], swapped.t[i]) = if low { (BoneId(1), 0.0) } else { (BoneId(0), 1.0) };
    }
    let swapped = bound.with(bound.character.clone(), swapped.into());
    let turn = Quat::from_rotation_z(1.7) * Quat::from_rotation_y(0.4);
    for method in methods().into_iter().filter(|m| m.name() == "irs") {
        let pose = bent(&bound, turn);
        let (a, b) = (deform(&method, &bound, &pose), deform(&method, &swapped, &pose));
        for i in start..start + SIDES {
            assert!(a.position[i].distance(b.position[i]) < 1e-6);
        }
    }
    // The ring rotates by exactly half the angle, by equations 15 and 16 at full weight.
    let streams =
        deform(&Geometric::Irs(IrsParams::DEFAULT), &bound, &bent(&bound, Quat::from_rotation_z(1.7)));
    for i in start..start + SIDES {
        let s = bound.attachments.scale_vector[i];
        assert!(streams.position[i].distance(Vec3::Y + Quat::from_rotation_z(0.85) * s) < 1e-6);
    }
}

#[test]
fn irs_length_correction_restores_the_distance_from_the_skeleton() {
    let bound = cylinder(2, SIDES, RINGS);
    let pose = bent(&bound, Quat::from_rotation_z(2.2));
    let rig = PosedRig::new(&bound.character.skeleton, &pose);
    let from_skeleton = |p: &Vec3| {
        let near = rig.bones.iter().map(|b| {
            let span = b.tail - b.head;
            p.distance(b.head + span * ((*p - b.head).dot(span) / span.length_squared()).clamp(0.0, 1.0))
        });
        near.fold(f32::INFINITY, f32::min)
    };
    let nearest = |length_correction| {
        let method = Geometric::Irs(IrsParams { length_correction, ..IrsParams::DEFAULT });
        let streams = deform(&method, &bound, &pose);
        let bind = &bound.character.control.positions[..(RINGS + 1) * SIDES];
        // Only vertices on the outside of the bend count. On the inside the surfaces of the two bones meet.
        let outside = bind.iter().zip(&streams.position).filter(|(x, _)| x.x > 0.1);
        outside.map(|(_, p)| from_skeleton(p) / RADIUS).fold(f32::INFINITY, f32::min)
    };
    assert!(nearest(false) < 0.9, "{}", nearest(false));
    assert!(nearest(true) > 0.999, "{}", nearest(true));
}

#[test]
fn stb_spreads_twist_and_stretch_evenly_along_the_bone() {
    let bound = cylinder(2, SIDES, RINGS);
    let mut pose = bent(&bound, Quat::from_rotation_y(2.4));
    pose.local[1].translation[1] = 1.5;
    let streams = deform(&Geometric::Stb, &bound, &pose);
    // The first quarter follows only the first bone. Half of a bone gets half of the twist and of the stretch.
    for (x, bind) in
        streams.position.iter().zip(&bound.character.control.positions).filter(|(_, b)| b.y <= 0.5)
    {
        let turned = Quat::from_rotation_y(2.4 * bind.y) * *bind;
        let expected = turned + Vec3::Y * (0.5 * bind.y);
        assert!(x.distance(expected) < 2e-6, "{bind}: {x} {expected}");
    }
}

#[test]
fn reach_of_zero_is_rigid() {
    let bound = cylinder(2, SIDES, RINGS);
    let reach = crate::deform::irs::Reach { as_parent: 0.0, as_child: 1.0 };
    let pose = contorted(&bound);
    let irs = deform(&Geometric::Irs(IrsParams { reach, ..IrsParams::DEFAULT }), &bound, &pose);
    let rigid = deform(&Geometric::Rigid, &bound, &pose);
    assert!(irs.position.iter().zip(&rigid.position).all(|(a, b)| a.distance(*b) < 1e-6));
}

#[test]
fn centers_of_a_cylinder_lie_on_its_axis() {
    let bound = cylinder(2, SIDES, RINGS);
    let centers = centers(&bound.character.control);
    for (i, center) in centers.iter().enumerate() {
        if bound.character.control.influences.of(i).len() > 1 {
            assert!(center.x.hypot(center.z) < 1e-5 * RADIUS, "vertex {i}: {center}");
            // Vertices with similar weights are at similar heights. The kernel's width is about 0.1 in weight.
            let height = bound.character.control.positions[i].y;
            assert!((center.y - height).abs() < 0.25, "vertex {i}: {center} at {height}");
        } else {
            assert_eq!(*center, bound.character.control.positions[i]);
        }
    }
}

/// The grouped integral must equal the paper's sum over all triangles.
#[test]
fn centers_agree_with_the_plain_sum() {
    let bound = cylinder(4, 7, 60);
    let control = &bound.character.control;
    let fast = centers(control);
    let weight =
        |v: usize, j: u16| control.influences.of(v).find(|e| e.0 == j).map_or(0.0, |e| f64::from(e.1));
    for v in (0..control.positions.len()).filter(|&v| control.influences.of(v).len() > 1).step_by(13) {
        let (mut mass, mut moment) = (0.0, glam::DVec3::ZERO);
        for t in &control.triangles {
            let [a, b, c] = t.map(|i| control.positions[i as usize].as_dvec3());
            let area = (b - a).cross(c - a).length() / 2.0;
            let w = |j| t.iter().map(|&i| weight(i as usize, j)).sum::<f64>() / 3.0;
            let pairs = (0..4u16).flat_map(|j| (0..4u16).map(move |k| (j, k))).filter(|(j, k)| j != k);
            let similarity: f64 = pairs
                .map(|(j, k)| {
                    let apart = (weight(v, j) * w(k) - weight(v, k) * w(j)) / crate::deform::cor::SIGMA;
                    weight(v, j) * weight(v, k) * w(j) * w(k) * (-apart * apart).exp()
                })
                .sum();
            mass += similarity * area;
            moment += similarity * area * (a + b + c) / 3.0;
        }
        let plain = (moment / mass).as_vec3();
        assert!(fast[v].distance(plain) < 0.005, "vertex {v}: {} {plain}", fast[v]);
    }
}

#[test]
fn scale_without_rotation_makes_dqs_and_cor_linear() {
    let bound = cylinder(3, SIDES, 24);
    let mut pose = rest(&bound);
    pose.local[1].scale = [1.4, 0.8, 2.0];
    let lbs = deform(&Geometric::Lbs, &bound, &pose);
    for method in [Geometric::Dqs, Geometric::Cor] {
        let other = deform(&method, &bound, &pose);
        for (a, b) in other.position.iter().zip(&lbs.position) {
            assert!(a.distance(*b) < 3e-6, "{}: {a} {b}", method.name());
        }
    }
}

#[test]
fn a_larger_character_deforms_the_same() {
    let bound = cylinder(3, SIDES, 24);
    for method in methods() {
        let unit = deform(&method, &bound, &contorted(&bound));
        for factor in [1e-2f32, 1e3] {
            let large = scaled(&bound, factor);
            let mut pose = contorted(&bound);
            for local in &mut pose.local {
                local.translation = local.translation.map(|v| v * factor);
            }
            let streams = deform(&method, &large, &pose);
            for (a, b) in streams.position.iter().zip(&unit.position) {
                assert!((*a / factor).distance(*b) < 2e-5, "{} {factor}: {a} {b}", method.name());
            }
        }
    }
}

#[test]
fn props_follow_their_joint_in_every_method() {
    let bound = cylinder(2, SIDES, RINGS);
    let mut character = (*bound.character).clone();
    let last = character.control.positions.len() - 1;
    character.control.rigid[last] = true;
    let mut attachments = (*bound.attachments).clone();
    attachments.bone[last] = BoneId(u32::MAX);
    let bound = Bound::new(character.into(), attachments.into());
    let pose = contorted(&bound);
    let rig = PosedRig::new(&bound.character.skeleton, &pose);
    let expected = rig.skinning[1].transform_point3(bound.character.control.positions[last]);
    for method in methods() {
        let streams = deform(&method, &bound, &pose);
        assert!(streams.position[last].distance(expected) < 2e-6, "{}", method.name());
        assert!(streams.attachment[last].distance(expected) < 2e-6, "{}", method.name());
    }
}

#[test]
fn a_vertex_without_bone_is_an_error_and_no_pose_gives_nan() {
    let bound = cylinder(2, SIDES, RINGS);
    let mut attachments = (*bound.attachments).clone();
    attachments.bone[5] = BoneId(99);
    let broken = bound.with(bound.character.clone(), attachments.into());
    let mut pose = bent(&bound, Quat::from_rotation_y(PI));
    pose.local[0].scale = [0.0, 1.0, -1.0];
    for method in methods() {
        let error = method.bind(&broken).err().unwrap().to_string();
        assert!(error.contains("control vertex 5 is attached to no bone"), "{error}");
        let streams = deform(&method, &bound, &pose);
        assert!(streams.position.iter().all(|p| p.is_finite()), "{}", method.name());
    }
}

#[test]
fn weights_scale_a_body_that_its_joints_scale() {
    let bound = cylinder(2, 16, 16);
    let mut pose = rest(&bound);
    pose.local[1].rotation = Quat::from_rotation_x(1.1).into();
    let mut scaled = pose.clone();
    scaled.local[0].scale = [0.01; 3];
    let origin = Vec3::from(pose.local[0].translation);
    for name in ["lbs", "dqs", "blend", "cor"] {
        let at = |pose: &Pose| {
            let mut graph = CpuGraph::new(&bound, &Recipe::from_name(name).unwrap()).unwrap();
            let rig = PosedRig::new(&bound.character.skeleton, pose);
            graph.evaluate(&rig, &[], &mut Default::default());
            graph.control().to_vec()
        };
        let (full, small) = (at(&pose), at(&scaled));
        let off = |(a, b): (&Vec3, &Vec3)| (origin + (*a - origin) * 0.01).distance(*b);
        let off = full.iter().zip(&small).map(off).fold(0.0, f32::max);
        assert!(off < 1e-5, "{name}: {off}");
    }
}

/// The blend with one factor for all vertices.
fn blend(factor: f32) -> Geometric {
    Geometric::Blend { factor, painted: crate::deform::blend::Painted::NONE }
}
