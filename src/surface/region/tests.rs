//! Tests of regions on a capsule with known results.

use super::*;
use crate::base::math::Vec3;
use crate::base::{BoneId, MarkId};
use crate::bind::shapes::capsule;
use crate::bind::{Attachments, BindOptions, bind_attachments};
use crate::surface::{SurfaceStroke, line_mark, ring_mark};

fn tube() -> (Character, Attachments) {
    let character = capsule(2, 40, 24, 0.25, 2.0);
    let (attachments, _) = bind_attachments(&character, &BindOptions::default()).unwrap();
    (character, attachments)
}

fn ring(tube: &(Character, Attachments)) -> SurfaceStroke {
    ring_mark(&tube.0, &tube.1, MarkId(0), BoneId(0), 0.53).unwrap()
}

#[test]
fn a_ring_takes_a_band_with_passive_vertices_and_a_rim_on_both_sides() {
    let tube = tube();
    let mark = ring(&tube);
    let y = |v: &u32| tube.0.control.positions[*v as usize].y;
    assert!(mark.closed && mark.points.len() >= 24);
    let region = Region::from_mark(&tube.0, &mark, Reach::default()).unwrap();
    region.validate(Some(tube.0.control.positions.len())).unwrap();
    // The mark lies between two rings of 24 vertices. On each side follow 3 rings of passive vertices and the rim.
    assert_eq!(region.kinematic.len(), 48);
    assert!(region.kinematic.iter().all(|v| (y(v) - 0.525).abs() < 0.026));
    assert_eq!((region.passive.len(), region.fixed.len()), (6 * 24, 2 * 24));
    for (v, w) in region.passive.iter().zip(&region.falloff) {
        let rings = ((y(v) - 0.525).abs() / 0.05 - 0.5).round();
        let u = 1.0 - rings / 4.0;
        assert!((w - u * u * (3.0 - 2.0 * u)).abs() < 0.03, "{rings} rings away: {w}");
    }
    // The parameter runs from 0 to 1 once around the tube.
    let mut t = region.t[..48].to_vec();
    t.sort_by(f32::total_cmp);
    assert!(t[0] < 0.05 && t[47] > 0.95 && t.windows(2).all(|p| p[1] - p[0] < 0.06));
}

#[test]
fn reach_by_edges_and_by_distance_grow_and_shrink() {
    let tube = tube();
    let mark = ring(&tube);
    let of = |reach| Region::from_mark(&tube.0, &mark, reach).unwrap();
    let four = of(Reach::Edges(4));
    let eight = of(Reach::Edges(8));
    let same = |a: &Region, b: &Region| {
        let near = |a: &f32, b: &f32| (a - b).abs() < 1e-4;
        let t = a.t.iter().zip(&b.t).all(|(a, b)| near(a, b));
        a.passive == b.passive && a.fixed == b.fixed && a.falloff == b.falloff && t
    };
    assert!(same(&four.grown(&tube.0, 4).unwrap(), &eight));
    assert!(same(&eight.grown(&tube.0, -4).unwrap(), &four));
    assert_eq!(eight.grown(&tube.0, -100).unwrap().reach, Reach::Edges(1));
    // A reach of 0.21 m covers four rings at 0.05 m, the last of which is the rim. On a tube, both kinds of distance
    // agree.
    for reach in [Reach::Along(0.21), Reach::Euclidean(0.21)] {
        let region = of(reach);
        assert!(same(&region, &four));
        let wider = region.grown(&tube.0, 2).unwrap();
        assert!(wider.passive.len() > region.passive.len());
    }
    assert!(four.with_reach(&tube.0, Reach::Along(f32::NAN)).is_err());
    assert!(four.with_reach(&tube.0, Reach::Edges(9999)).is_err());
    let whole = of(Reach::Along(100.0));
    assert!(whole.fixed.is_empty() && whole.falloff.iter().all(|w| *w == 1.0));
}

#[test]
fn softness_moves_the_rise_to_the_rim_and_keeps_the_ends() {
    let tube = tube();
    let region = Region::from_mark(&tube.0, &ring(&tube), Reach::Edges(8)).unwrap();
    let hard = region.softened(&tube.0, 0.3).unwrap();
    assert!(hard.falloff.iter().zip(&region.falloff).all(|(h, s)| h >= s));
    assert!(hard.falloff.iter().filter(|w| **w == 1.0).count() > 4 * 24);
    assert!(hard.softened(&tube.0, 1.0).unwrap() == region);
    assert!(region.softened(&tube.0, 0.0).unwrap().falloff.iter().all(|w| *w == 1.0));
}

#[test]
fn a_line_crosses_the_faces_between_its_samples() {
    let tube = tube();
    let mut mark = line_mark(&tube.0, &tube.1, MarkId(1), BoneId(1), [0.1, 0.9], 0.0).unwrap();
    let all = Region::from_mark(&tube.0, &mark, Reach::Edges(3)).unwrap();
    let ends = [mark.points[0], mark.points[mark.points.len() - 1]];
    mark.points = ends.to_vec();
    let two = Region::from_mark(&tube.0, &mark, Reach::Edges(3)).unwrap();
    assert_eq!(all.kinematic, two.kinematic, "{:?} {:?}", ends[0], ends[1]);
    let y = |v: &u32| tube.0.control.positions[*v as usize].y;
    for (v, t) in two.kinematic.iter().zip(&two.t) {
        assert!((t - ((y(v) - 1.125) / 1.0).clamp(0.0, 1.0)).abs() < 0.01, "{t} at {}", y(v));
        assert!(tube.0.control.positions[*v as usize].z > 0.2, "the front");
    }
    mark.points[1].lifted = true;
    let apart = Region::from_mark(&tube.0, &mark, Reach::Edges(3)).unwrap();
    assert!(apart.kinematic.len() <= 8, "what is lifted is not joined");
}

#[test]
fn bones_have_their_own_vertices() {
    let tube = tube();
    let on = Region::on_bones(&tube.0, &tube.1, &[BoneId(1)]).unwrap();
    assert!(on.passive.is_empty() && on.kinematic.iter().all(|v| tube.1.bone[*v as usize] == BoneId(1)));
    let y = |v: &u32| tube.0.control.positions[*v as usize].y;
    for (v, t) in on.kinematic.iter().zip(&on.t) {
        assert!((t - ((y(v) - 1.0) / 1.25).clamp(0.0, 1.0)).abs() < 1e-4, "{t} at {}", y(v));
    }
    assert!(Region::on_bones(&tube.0, &tube.1, &[]).is_err());
}

#[test]
fn regions_that_do_not_fit_are_refused_with_a_reason() {
    let tube = tube();
    let good = Region::from_mark(&tube.0, &ring(&tube), Reach::default()).unwrap();
    let count = tube.0.control.positions.len();
    type Change = (&'static str, fn(&mut Region));
    let changes: [Change; 7] = [
        ("no kinematic", |r| r.kinematic.clear()),
        ("different lengths", |r| r.t.truncate(1)),
        ("different lengths", |r| r.falloff.push(0.0)),
        ("falloff", |r| r.falloff[0] = f32::NAN),
        ("falloff", |r| r.softness = 2.0),
        ("does not have", |r| r.fixed[0] = 1 << 30),
        ("twice", |r| r.passive[0] = r.kinematic[0]),
    ];
    for (says, change) in changes {
        let mut bad = good.clone();
        change(&mut bad);
        let error = bad.validate(Some(count)).unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
    }
    let mut mark = ring(&tube);
    mark.points[0].triangle = u32::MAX;
    assert!(Region::from_mark(&tube.0, &mark, Reach::default()).is_err());
}

#[test]
fn a_segment_has_the_bones_of_its_helper_joints() {
    use crate::asset::Influences;
    use crate::base::JointId;
    use crate::surface::segment_bones;
    // A limb along y with a twist joint half-way, and a branch to the side.
    let joints = [
        (Vec3::ZERO, None),
        (Vec3::Y, Some(0)),
        (Vec3::Y * 0.5, Some(0)),
        (Vec3::Y * 2.0, Some(1)),
        (Vec3::X * 0.8, Some(0)),
    ];
    let corners = vec![Vec3::ZERO, Vec3::X, Vec3::Y];
    let mut influences = Influences::default();
    (0..3).for_each(|_| influences.push([(0, 1.0)]));
    let character = Character::from_parts(corners, vec![[0, 1, 2]], &joints, influences).unwrap();
    let skeleton = &character.skeleton;
    let of = |joint: u32| {
        let bones = segment_bones(skeleton, JointId(joint));
        bones.iter().map(|b| skeleton.bones[b.index()].parent.0).collect::<Vec<_>>()
    };
    let root = of(0);
    assert!(root.contains(&2) && !root.contains(&1) && !root.contains(&4), "{root:?}");
    assert_eq!(skeleton.bones[segment_bones(skeleton, JointId(0))[0].index()].child, Some(JointId(1)));
    assert_eq!(of(1), [1]);
}
