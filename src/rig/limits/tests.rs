//! Properties of limits: what is allowed stays, the nearest rotation is allowed, continuous and final.

use super::*;
use crate::base::Random;
use crate::base::math::DMat3;
use proptest::prelude::*;

fn limit(twist: [f32; 2], swing: [f32; 4]) -> Limit {
    Limit { twist, swing, ..Limit::open(DQuat::IDENTITY) }
}

/// An elbow: bends about +x by 140 degrees, by nothing else, and twists by 10 degrees.
fn elbow() -> Limit {
    limit([-0.175, 0.175], [2.44, 0.0, 0.0, 0.0])
}

fn angle() -> impl Strategy<Value = f32> {
    prop_oneof![Just(0.0_f32), Just(std::f32::consts::PI), 0.0_f32..3.1]
}

prop_compose! {
    fn any_limit()(low in angle(), high in angle(), swing in [angle(), angle(), angle(), angle()]) -> Limit {
        limit([-low, high], swing)
    }
}

prop_compose! {
    fn any_rotation()(axis in prop::array::uniform3(-1.0_f64..1.0), angle in 0.0..PI, special in 0..6) -> DQuat {
        let axis = match special {
            0 => DVec3::Z,
            1 => DVec3::X,
            2 => DVec3::NEG_Y,
            _ => DVec3::from(axis).try_normalize().unwrap_or(DVec3::X),
        };
        DQuat::from_axis_angle(axis, if special == 3 { PI } else { angle })
    }
}

proptest! {
    #[test]
    fn the_nearest_rotation_is_allowed_and_stays(limit in any_limit(), q in any_rotation()) {
        let near = limit.clamp(q);
        prop_assert!(near.is_finite() && (near.length() - 1.0).abs() < 1e-9, "{near}");
        prop_assert!(limit.excess(near) < 1e-4, "{} after {}", limit.excess(near), limit.excess(q));
        prop_assert_eq!(limit.clamp(near), near);
        prop_assert!(near.dot(q) >= 0.0);
        if limit.excess(q) == 0.0 {
            prop_assert_eq!(near, q);
        }
        // A limit that includes the rotation allows it, and everything that it allowed before.
        let wider = limit.including(q);
        prop_assert!(wider.excess(q) < 1e-4, "{wider:?} {}", wider.excess(q));
        prop_assert!(wider.excess(near) < 1e-4 && wider.validate().is_ok());
        prop_assert_eq!(wider.clamp(q), q);
        prop_assert!(!limit.room(q).is_nan() && limit.room(q) >= 0.0);
    }

    #[test]
    fn the_rest_pose_is_allowed_and_a_pure_twist_has_no_swing(limit in any_limit(), twist in -3.0..3.0) {
        prop_assert_eq!(limit.clamp(DQuat::IDENTITY), DQuat::IDENTITY);
        let parts = SwingTwist::new(DQuat::from_rotation_z(twist));
        prop_assert!(parts.swing == DVec2::ZERO && (parts.twist - twist).abs() < 1e-12);
    }

    #[test]
    fn swing_and_twist_give_the_rotation(q in any_rotation()) {
        let parts = SwingTwist::new(q);
        prop_assert!(parts.rotation().dot(q).abs() > 1.0 - 1e-9);
        prop_assert!(parts.swing.length() <= PI + 1e-9);
        // The swing moves the bone as the whole rotation does.
        prop_assert!((swing(parts.swing) * DVec3::Z).distance(q * DVec3::Z) < 1e-7);
    }

    #[test]
    fn a_small_step_gives_a_small_step(limit in any_limit(), q in any_rotation(), way in prop::array::uniform3(-1.0_f64..1.0)) {
        let parts = SwingTwist::new(q);
        let [low, high] = limit.twist.map(f64::from);
        // Away from the places where no nearest rotation is continuous.
        let opposite = (parts.twist - 0.5 * (low + high)).rem_euclid(TAU);
        prop_assume!(parts.swing.length() < 2.8 && (opposite - PI).abs() > 0.05 && parts.twist.abs() < 3.1);
        let step = 1e-5;
        let next = DQuat::from_scaled_axis(DVec3::from(way) * step) * q;
        let apart = limit.clamp(next).angle_between(limit.clamp(q));
        prop_assert!(apart < 40.0 * step + 3.0 * ROUNDING, "{apart}");
    }
}

#[test]
fn a_hinge_allows_one_axis_only() {
    let elbow = elbow();
    for degrees in [0.0_f64, 1.0, 90.0, 139.0] {
        let bent = DQuat::from_rotation_x(degrees.to_radians());
        assert_eq!(elbow.clamp(bent), bent, "{degrees}");
        // The nearest bend of an oblique swing has the same component about x.
        let oblique = swing(DVec2::new(degrees.to_radians(), 0.3));
        assert!(elbow.clamp(oblique).angle_between(bent) < 1e-6, "{degrees}");
    }
    assert!(elbow.clamp(DQuat::from_rotation_x(-0.5)).angle_between(DQuat::IDENTITY) < 1e-6);
    let over = elbow.clamp(DQuat::from_rotation_x(3.0));
    assert!((SwingTwist::new(over).swing.x - 2.44).abs() < 1e-6);
    let twisted = elbow.clamp(DQuat::from_rotation_x(1.0) * DQuat::from_rotation_z(0.5));
    let parts = SwingTwist::new(twisted);
    assert!((parts.twist - 0.175).abs() < 1e-6 && (parts.swing.x - 1.0).abs() < 1e-6);
    // The thin sides of a hinge are no end of its range.
    assert!(elbow.room(DQuat::from_rotation_x(1.0)) > 0.1);
    assert!(elbow.room(DQuat::from_rotation_x(2.44)) < 1e-6);
    assert_eq!(limit([0.0, 0.0], [0.0; 4]).room(DQuat::IDENTITY), f64::INFINITY);
    assert_eq!(Limit::open(DQuat::IDENTITY).room(DQuat::from_rotation_x(PI)), f64::INFINITY);
}

#[test]
fn the_nearest_swing_is_nearer_than_all_others_of_the_cone() {
    let mut random = Random::new(8);
    for _ in 0..40 {
        let unit = |r: &mut Random| r.unit() * 1.5;
        let cone = limit([-1.0, 1.0], std::array::from_fn(|_| unit(&mut random)));
        let v = random.vector().truncate().as_dvec2() * 2.0;
        let near = in_ellipse(v, cone.half(v));
        for k in 0..720 {
            let rim = cone.rim(f64::from(k) * TAU / 720.0);
            let inside = ratio(v, cone.half(v)) <= 1.0;
            assert!(inside || v.distance(rim) >= v.distance(near) - 1e-9, "{v} {near} {rim}");
            assert!(ratio(rim, cone.half(rim)) < 1.0 + 1e-9);
        }
    }
}

#[test]
fn a_limit_around_rotations_allows_them_with_a_margin() {
    let mut random = Random::new(4);
    for _ in 0..30 {
        let all: Vec<DQuat> = (0..20)
            .map(|_| {
                let v = random.vector().as_dvec3();
                swing(DVec2::new(v.x + 0.4, 0.6 * v.y)) * DQuat::from_rotation_z(0.5 * v.z)
            })
            .collect();
        let limit = Limit::around(DQuat::IDENTITY, all.iter().copied(), 0.1);
        assert!(limit.validate().is_ok());
        for q in &all {
            assert_eq!(limit.clamp(*q), *q);
        }
        let most = all.iter().map(|q| SwingTwist::new(*q).swing.x).fold(0.0, f64::max);
        assert!(limit.excess(swing(DVec2::X * (most + 0.099))) < 1e-6);
        // The margin is not wide: the cone exceeds the extreme swing by at most the factor of the diagonal.
        assert!(f64::from(limit.swing[0]) <= 1.42 * (most + 0.1));
    }
}

#[test]
fn joints_with_odd_orients_are_limited_about_the_same_axes_in_their_space() {
    let mut random = Random::new(31);
    for _ in 0..50 {
        let (rest, frame) = (random.rotation().as_dquat(), random.rotation().as_dquat());
        let bound = JointLimit::new(&Limit { frame: frame.as_quat().into(), ..elbow() }, rest);
        let q = random.rotation().as_dquat();
        let local = (rest * frame * q * frame.inverse()).normalize();
        let near = bound.clamp(local);
        assert!(bound.excess(near) < 1e-5, "{}", bound.excess(near));
        assert!(bound.relative(near).angle_between(elbow().clamp(q)) < 1e-5);
        assert_eq!(bound.clamp(near), near);
        // The correction leads to the nearest rotation.
        let turn = DQuat::from_scaled_axis(bound.correction(local));
        assert!((turn * local).normalize().angle_between(near) < 2e-5);
        // A joint that starts beyond its limit may stay there and go back.
        let wide = bound.including(local);
        assert_eq!(wide.clamp(local), local);
        assert_eq!(wide.clamp(near), near);
    }
    let m = DMat3::from_quat(elbow().frame());
    assert!(m.determinant() > 0.0);
}

#[test]
fn wrong_limits_are_refused_and_wrong_numbers_do_no_harm() {
    assert!(elbow().validate().is_ok());
    for wrong in [
        limit([0.1, 0.2], [1.0; 4]),
        limit([-0.1, 4.0], [1.0; 4]),
        limit([-0.1, 0.1], [-0.1, 1.0, 1.0, 1.0]),
        limit([f32::NAN, 0.1], [1.0; 4]),
        limit([-0.1, 0.1], [1.0, f32::INFINITY, 1.0, 1.0]),
        Limit { frame: [0.0; 4], ..elbow() },
    ] {
        assert!(wrong.validate().is_err(), "{wrong:?}");
        let sane = wrong.sane();
        assert!(sane.validate().is_ok() || sane.frame == [0.0; 4]);
        let q = DQuat::from_xyzw(f64::NAN, 0.0, 0.0, 1.0);
        assert!(
            sane.clamp(q).is_nan()
                && sane.including(DQuat::from_rotation_x(1.0)).swing.iter().all(|v| v.is_finite())
        );
    }
}
