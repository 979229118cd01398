//! Tests of FAST against known results.

use super::*;
use crate::asset::Influences;
use crate::base::math::{DAffine3, DQuat, DVec3, Vec3};
use crate::deform::testing;

struct Made {
    positions: Vec<Vec3>,
    triangles: Vec<[u32; 3]>,
    weights: Influences,
    handles: Vec<Handle>,
}

impl Made {
    fn shape(&self) -> Shape<'_> {
        Shape {
            positions: &self.positions,
            triangles: &self.triangles,
            weights: &self.weights,
            handles: &self.handles,
        }
    }

    fn bind(&self, params: &Params) -> Reduced {
        Reduced::bind(&self.shape(), params).unwrap()
    }

    /// Applies linear blend skinning to all vertices with the transforms of all handles.
    fn skinned(&self, reduced: &Reduced, maps: &[DAffine3]) -> Vec<DVec3> {
        let blend = |v: usize| {
            reduced
                .weights
                .of(v)
                .map(|(j, w)| w * maps[j].transform_point3(self.positions[v].as_dvec3()))
                .sum()
        };
        (0..self.positions.len()).map(blend).collect()
    }
}

/// Returns the test cylinder with a chain of `bones` handles.
fn cylinder(bones: usize) -> Made {
    let bound = testing::cylinder(bones, 12, 12 * bones);
    let character = &bound.character;
    let handles =
        (0..bones).map(|k| Handle { pivot: Vec3::Y * k as f32, parent: k.checked_sub(1) }).collect();
    Made {
        positions: character.control.positions.clone(),
        triangles: character.control.triangles.clone(),
        weights: character.control.influences.clone(),
        handles,
    }
}

fn turned(angle: f64, about: DVec3) -> DAffine3 {
    DAffine3::from_translation(about)
        * DAffine3::from_quat(DQuat::from_rotation_z(angle))
        * DAffine3::from_translation(-about)
}

#[test]
fn rest_has_no_energy_and_stays() {
    let made = cylinder(4);
    for extra in [0, 6] {
        let reduced = made.bind(&Params { extra, ..Params::default() });
        assert_eq!(reduced.handles, 4 + extra as usize);
        let constrained = reduced.constrain(vec![Constraint::on_handle(0, Vec3::ZERO)]).unwrap();
        let mut solver = Solver::new(&reduced, &constrained);
        let solved = solver.solve(15, Acceleration::Anderson);
        assert!(solved.converged, "{solved:?}");
        let energy = solver.energy(&reduced);
        assert!(energy.abs() < 1e-7 * reduced.offset, "{energy}");
        let maps = solver.exact(&reduced);
        for (x, rest) in made.skinned(&reduced, &maps).iter().zip(&made.positions) {
            assert!(x.distance(rest.as_dvec3()) < 1e-5, "{x} {rest}");
        }
    }
}

#[test]
fn with_all_handles_given_it_is_linear_blend_skinning() {
    let made = cylinder(3);
    let reduced = made.bind(&Params::default());
    let constraints = (0..3).map(|handle| Constraint::Full { handle }).collect();
    let constrained = reduced.constrain(constraints).unwrap();
    let mut solver = Solver::new(&reduced, &constrained);
    let given: Vec<DAffine3> = (0..3).map(|k| turned(0.7 * k as f64, DVec3::Y * k as f64)).collect();
    let targets: Vec<Target> = given.iter().map(|m| Target::Map(*m)).collect();
    solver.set_targets(&reduced, &constrained, &targets);
    solver.solve(3, Acceleration::Anderson);
    let maps = solver.exact(&reduced);
    for (a, b) in made.skinned(&reduced, &maps).iter().zip(made.skinned(&reduced, &given)) {
        assert!(a.distance(b) < 1e-6, "{a} {b}");
    }
}

/// Returns constraints that bend a cylinder: points hold both ends, and the upper end moves by `by`.
fn pulled(reduced: &Reduced, by: DVec3) -> (Constrained, Vec<Target>) {
    let points = [Vec3::ZERO, Vec3::new(0.25, 0.0, 0.0), Vec3::Y * 4.0];
    let handles = [0, 0, reduced.given - 1];
    let constraints = handles.iter().zip(points).map(|(&h, x)| Constraint::on_handle(h, x)).collect();
    let moves = [DVec3::ZERO, DVec3::ZERO, by];
    let targets = points.iter().zip(moves).map(|(x, d)| Target::Point(x.as_dvec3() + d)).collect();
    (reduced.constrain(constraints).unwrap(), targets)
}

#[test]
fn the_energy_never_rises() {
    let made = cylinder(4);
    let reduced = made.bind(&Params { extra: 8, ..Params::default() });
    let (constrained, targets) = pulled(&reduced, DVec3::new(2.5, -2.5, 0.7));
    for acceleration in [Acceleration::Plain, Acceleration::Anderson] {
        let mut last = f64::INFINITY;
        for count in (1..40).chain([80, 160]) {
            let mut solver = Solver::new(&reduced, &constrained);
            solver.set_targets(&reduced, &constrained, &targets);
            solver.solve(count, acceleration);
            let energy = solver.energy(&reduced);
            // A plain run with more iterations continues a run with fewer. Accelerated runs differ in their last
            // step, so their energy need not decrease with the number of iterations.
            if acceleration == Acceleration::Plain {
                assert!(energy <= last + 1e-7 * reduced.offset, "{count}: {last} {energy}");
            }
            last = energy;
        }
        let mut solver = Solver::new(&reduced, &constrained);
        solver.set_targets(&reduced, &constrained, &targets);
        let mut last = f64::INFINITY;
        for frame in 0..30 {
            solver.solve(5, acceleration);
            let energy = solver.energy(&reduced);
            assert!(energy <= last + 1e-7 * reduced.offset, "frame {frame}: {last} {energy}");
            last = energy;
        }
    }
}

mod grips;
mod posed;
mod reference;
mod volume;

#[test]
fn a_pose_can_be_the_rest_shape() {
    let made = cylinder(4);
    let reduced = made.bind(&Params { extra: 4, ..Params::default() });
    let pose: Vec<DAffine3> = (0..4).map(|k| turned(0.4 * k as f64, DVec3::Y * k as f64)).collect();
    let around = reduced.around(&pose);
    let point = Vec3::new(0.0, 3.5, 0.1);
    let constraints = vec![Constraint::Full { handle: 0 }, Constraint::on_handle(3, point)];
    let constrained = around.constrain(constraints).unwrap();
    let mut solver = Solver::new(&around, &constrained);
    let held = pose[3].transform_point3(point.as_dvec3());
    solver.set_targets(&around, &constrained, &[Target::Map(pose[0]), Target::Point(held)]);
    solver.solve(15, Acceleration::Anderson);
    assert!(solver.energy(&around).abs() < 1e-6 * around.offset, "{}", solver.energy(&around));
    let maps = solver.exact(&around);
    for (a, b) in made.skinned(&around, &maps).iter().zip(made.skinned(&made.bind(&Params::default()), &pose))
    {
        assert!(a.distance(b) < 1e-4, "{a} {b}");
    }
}

#[test]
fn a_translation_of_the_constraints_translates_the_result() {
    let made = cylinder(4);
    let reduced = made.bind(&Params { extra: 5, ..Params::default() });
    let (constrained, targets) = pulled(&reduced, DVec3::new(1.0, -1.5, 0.5));
    let by = DVec3::new(7.0, -3.0, 11.0);
    let solve = |targets: &[Target]| {
        let mut solver = Solver::new(&reduced, &constrained);
        solver.set_targets(&reduced, &constrained, targets);
        solver.solve(15, Acceleration::Plain);
        made.skinned(&reduced, &solver.exact(&reduced))
    };
    let moved = |t: &Target| if let Target::Point(x) = t { Target::Point(*x + by) } else { *t };
    let there = solve(&targets.iter().map(moved).collect::<Vec<_>>());
    for (a, b) in solve(&targets).iter().zip(there) {
        assert!((*a + by).distance(b) < 1e-4, "{a} {b}");
    }
}

#[test]
fn placed_points_are_where_they_were_placed_and_a_size_changes_nothing() {
    let made = cylinder(4);
    let results = [1.0, 100.0].map(|size: f32| {
        let mut made = cylinder(4);
        made.positions.iter_mut().for_each(|x| *x *= size);
        made.handles.iter_mut().for_each(|h| h.pivot *= size);
        let reduced = made.bind(&Params { extra: 4, ..Params::default() });
        let grip = Constraint::on_surface(&reduced, &made.positions, &[(3, 0.5), (4, 0.5)]);
        let constraints = vec![Constraint::on_handle(0, Vec3::ZERO), Constraint::Full { handle: 3 }, grip];
        let constrained = reduced.constrain(constraints).unwrap();
        let mut solver = Solver::new(&reduced, &constrained);
        let f = f64::from(size);
        let map =
            DAffine3::from_translation(DVec3::new(1.0, -0.4, 0.0) * f) * turned(-0.8, DVec3::Y * 3.5 * f);
        let grip = DVec3::new(-0.1, 0.02, 0.3) * f;
        let targets = [Target::Point(DVec3::ZERO), Target::Map(map), Target::Point(grip)];
        solver.set_targets(&reduced, &constrained, &targets);
        solver.solve(30, Acceleration::Anderson);
        let maps = solver.exact(&reduced);
        assert!(maps[0].transform_point3(DVec3::ZERO).length() < 2e-5 * f);
        assert!(maps[3].translation.distance(map.translation) < 1e-5 * f);
        let skin = made.skinned(&reduced, &maps);
        assert!(((skin[3] + skin[4]) * 0.5).distance(grip) < 2e-5 * f);
        skin.into_iter().map(|x| x / f).collect::<Vec<_>>()
    });
    for (a, b) in results[0].iter().zip(&results[1]) {
        assert!(a.distance(*b) < 1e-3, "{a} {b}");
    }
    assert_eq!(made.positions.len(), results[0].len());
}

/// Solves a cylinder of four handles and returns the transforms.
fn held(reduced: &Reduced, set: &[(Constraint, Target)]) -> Vec<DAffine3> {
    let constrained = reduced.constrain(set.iter().map(|c| c.0.clone()).collect()).unwrap();
    let mut solver = Solver::new(reduced, &constrained);
    solver.set_targets(reduced, &constrained, &set.iter().map(|c| c.1).collect::<Vec<_>>());
    solver.solve(100, Acceleration::Anderson);
    solver.exact(reduced)
}

#[test]
fn contradicting_constraints_are_averaged_whatever_their_order() {
    let made = cylinder(4);
    let reduced = made.bind(&Params::default());
    let foot = (Constraint::Full { handle: 0 }, Target::Map(DAffine3::IDENTITY));
    let tip = Vec3::Y * 4.0;
    let to = |x: f64, y: f64, z: f64| (Constraint::on_handle(3, tip), Target::Point(DVec3::new(x, y, z)));
    // Three targets for one point.
    let targets = [to(1.0, 3.5, 0.0), to(2.0, 3.0, 0.0), to(0.0, 3.1, 0.9)];
    let mean = held(&reduced, &[foot.clone(), to(1.0, 3.2, 0.3)]);
    for order in [[0, 1, 2], [2, 0, 1], [1, 2, 0]] {
        let [a, b, c] = order.map(|k| targets[k].clone());
        let maps = held(&reduced, &[a, foot.clone(), b, c]);
        assert!(maps.iter().zip(&mean).all(|(a, b)| a.abs_diff_eq(*b, 1e-4)), "{maps:?} {mean:?}");
        // No target depends on the foot, which therefore stays exactly.
        assert_eq!(maps[0], DAffine3::IDENTITY);
    }
    // A repeated constraint without a contradiction counts as often as it is given.
    let maps = held(&reduced, &[foot.clone(), targets[0].clone(), targets[0].clone(), targets[1].clone()]);
    let x = maps[3].transform_point3(tip.as_dvec3());
    assert!(x.distance(DVec3::new(4.0 / 3.0, 10.0 / 3.0, 0.0)) < 1e-5, "{x}");
    // Affine transforms of a square move the diagonals' middles alike. One corner at 0.4 contradicts this by 0.4, a
    // quarter of which every corner takes.
    let corners = [
        Vec3::new(1.0, 4.0, 1.0),
        Vec3::new(-1.0, 4.0, 1.0),
        Vec3::new(-1.0, 4.0, -1.0),
        Vec3::new(1.0, 4.0, -1.0),
    ];
    let set: Vec<_> = corners
        .iter()
        .enumerate()
        .map(|(k, x)| {
            let up = if k == 3 { 0.4 } else { 0.0 };
            (Constraint::on_handle(3, *x), Target::Point(x.as_dvec3() + DVec3::Y * up))
        })
        .collect();
    let maps = held(&reduced, &[std::slice::from_ref(&foot), &set[..]].concat());
    for (k, x) in corners.iter().enumerate() {
        let up = maps[3].transform_point3(x.as_dvec3()).y - 4.0;
        let expected = [0.1, -0.1, 0.1, 0.3][k];
        assert!((up - expected).abs() < 1e-4, "{k}: {up} {expected}");
    }
}

#[test]
fn a_point_that_contradicts_its_handles_transform_moves_the_handle_half_way() {
    let made = cylinder(4);
    // The result does not depend on where the model is.
    for away in [Vec3::ZERO, Vec3::new(30.0, -7.0, 12.0)] {
        let mut made = cylinder(4);
        made.positions.iter_mut().for_each(|x| *x += away);
        made.handles.iter_mut().for_each(|h| h.pivot += away);
        let reduced = made.bind(&Params::default());
        let at = DAffine3::from_translation(away.as_dvec3());
        let full = at * turned(0.5, DVec3::Y * 3.0) * at.inverse();
        let tip = (away + Vec3::Y * 4.0, away.as_dvec3() + DVec3::Y * 4.0);
        let wanted = full.transform_point3(tip.1) + DVec3::new(0.4, -0.2, 0.6);
        for order in [[0, 1, 2], [2, 1, 0]] {
            let set = [
                (Constraint::Full { handle: 3 }, Target::Map(full)),
                (Constraint::Full { handle: 0 }, Target::Map(DAffine3::IDENTITY)),
                (Constraint::on_handle(3, tip.0), Target::Point(wanted)),
            ];
            let maps = held(&reduced, &order.map(|k| set[k].clone()));
            let moved = maps[3].transform_point3(tip.1) - full.transform_point3(tip.1);
            assert!(moved.distance(DVec3::new(0.2, -0.1, 0.3)) < 2e-3, "{away} {order:?}: {moved}");
            assert!((maps[3].matrix3 - full.matrix3).abs_diff_eq(crate::base::math::DMat3::ZERO, 2e-3));
        }
    }
    assert_eq!(made.handles.len(), 4);
}

#[test]
fn a_pull_straight_back_turns_the_end_round_instead_of_inside_out() {
    // Rotating the end handle by 180 degrees makes the rotations start as far from the optimum as possible.
    let made = cylinder(3);
    let reduced = made.bind(&Params::default());
    let constraints = vec![Constraint::Full { handle: 0 }, Constraint::Full { handle: 2 }];
    let constrained = reduced.constrain(constraints).unwrap();
    let mut solver = Solver::new(&reduced, &constrained);
    let half = turned(std::f64::consts::PI, DVec3::Y * 1.5);
    solver.set_targets(&reduced, &constrained, &[Target::Map(DAffine3::IDENTITY), Target::Map(half)]);
    let solved = solver.solve(200, Acceleration::Anderson);
    let maps = solver.exact(&reduced);
    assert!(maps[1].matrix3.determinant() > 0.0 && maps[1].is_finite(), "{solved:?} {:?}", maps[1]);
}

#[test]
fn odd_shapes_are_solved_or_refused_and_never_break() {
    let pull = |made: &Made| {
        let reduced = made.bind(&Params { extra: 3, ..Params::default() });
        let last = reduced.given - 1;
        let sets = [
            vec![],
            vec![Constraint::Full { handle: last }],
            vec![Constraint::on_handle(0, Vec3::ZERO), Constraint::on_handle(0, Vec3::ZERO)],
            (0..reduced.given).map(|handle| Constraint::Full { handle }).collect(),
        ];
        for set in sets {
            let constrained = reduced.constrain(set.clone()).unwrap();
            let mut solver = Solver::new(&reduced, &constrained);
            let map = turned(1.0, DVec3::ZERO);
            let targets: Vec<Target> = set
                .iter()
                .map(|c| match c {
                    Constraint::Full { .. } => Target::Map(map),
                    Constraint::Point { .. } => Target::Point(DVec3::new(0.5, 1.0, 0.0)),
                })
                .collect();
            solver.set_targets(&reduced, &constrained, &targets);
            solver.solve(15, Acceleration::Anderson);
            for map in solver.exact(&reduced) {
                assert!(map.is_finite() && map.matrix3.determinant().abs() < 1e3, "{map}");
            }
        }
    };
    // A flat mesh.
    let mut flat = cylinder(3);
    flat.positions.iter_mut().for_each(|x| x.z = 0.0);
    pull(&flat);
    // A single bone.
    pull(&cylinder(1));
    // Bones that move nothing, and a duplicate bone.
    let mut idle = cylinder(3);
    idle.handles.push(Handle { pivot: Vec3::X, parent: None });
    idle.handles.push(Handle { pivot: Vec3::Y * 2.0, parent: Some(2) });
    pull(&idle);
    // Two disconnected bodies.
    let mut two = cylinder(2);
    let n = two.positions.len() as u32;
    let more: Vec<Vec3> = two.positions.iter().map(|x| *x + Vec3::X * 3.0).collect();
    two.positions.extend(more);
    let more: Vec<[u32; 3]> = two.triangles.iter().map(|t| t.map(|v| v + n)).collect();
    two.triangles.extend(more);
    for v in 0..n as usize {
        let more: Vec<_> = two.weights.of(v).map(|(j, w)| (j + 2, w)).collect();
        two.weights.push(more);
    }
    two.handles.push(Handle { pivot: Vec3::X * 3.0, parent: None });
    two.handles.push(Handle { pivot: Vec3::new(3.0, 1.0, 0.0), parent: Some(2) });
    pull(&two);
    // Vertices without weights, and triangles without area.
    let mut bare = cylinder(2);
    bare.weights.weight.iter_mut().take(40).for_each(|w| *w = 0.0);
    bare.triangles.extend([[0, 0, 1], [5, 5, 5]]);
    bare.positions[7] = bare.positions[8];
    pull(&bare);
    // No triangles, only triangles without area, and all vertices at one point.
    let mut none = cylinder(3);
    none.triangles.clear();
    pull(&none);
    let mut line = cylinder(3);
    line.positions.iter_mut().for_each(|x| (x.x, x.z) = (0.0, 0.0));
    pull(&line);
    let mut point = cylinder(2);
    point.positions.fill(Vec3::new(1.0, 2.0, 3.0));
    pull(&point);
    // A joint far away from all vertices that it moves.
    let mut far = cylinder(3);
    far.handles[2].pivot = Vec3::splat(1e9);
    pull(&far);

    let refused = |made: &Made| Reduced::bind(&made.shape(), &Params::default()).unwrap_err().to_string();
    let mut none = cylinder(1);
    none.handles.clear();
    assert!(refused(&none).contains("joint"));
    let mut broken = cylinder(1);
    broken.positions[3].x = f32::NAN;
    assert!(refused(&broken).contains("finite"));
    let reduced = cylinder(2).bind(&Params::default());
    assert!(reduced.constrain(vec![Constraint::Full { handle: 9 }]).is_err());
    assert!(reduced.constrain(vec![Constraint::on_handle(0, Vec3::NAN)]).is_err());
}

/// Returns the bits of all transforms after each of several frames, solved with vectors of one width.
fn bits<S: pulp::Simd>(simd: S, reduced: &Reduced, set: &Constrained, to: &[Target]) -> Vec<u64> {
    let mut solver = Solver::with_lanes(S::F32_LANES, reduced, set);
    let mut out = Vec::new();
    for (k, acceleration) in
        [Acceleration::Plain, Acceleration::Anderson].into_iter().cycle().take(6).enumerate()
    {
        let part =
            |t: &Target| if let Target::Point(x) = t { Target::Point(*x * (k + 1) as f64 / 6.0) } else { *t };
        let targets: Vec<Target> = to.iter().map(part).collect();
        solver.set_targets(reduced, set, &targets);
        if k == 4 {
            // Half a turn away from the solution, rotations are not proven by Newton's method.
            solver.start_from(reduced, &vec![turned(3.1, DVec3::ZERO); reduced.given]);
        }
        let solved = simd.vectorize(solver.iterate(12, acceleration));
        out.extend([u64::from(solved.iterations), u64::from(solved.rejected)]);
        for map in solver.exact(reduced) {
            out.extend(map.to_cols_array().map(f64::to_bits));
        }
        out.push(solver.energy(reduced).to_bits());
    }
    out
}

#[test]
fn every_width_of_vector_gives_the_same_bits() {
    let made = cylinder(4);
    for (extra, clusters) in [(4, 0), (9, 37), (0, 3)] {
        let reduced = made.bind(&Params { extra, clusters, ..Params::default() });
        let (set, to) = pulled(&reduced, DVec3::new(2.5, -2.5, 0.7));
        let one = bits(pulp::Scalar, &reduced, &set, &to);
        assert_eq!(one, bits(pulp::Scalar128b, &reduced, &set, &to));
        assert_eq!(one, bits(pulp::Scalar256b, &reduced, &set, &to));
        assert_eq!(one, bits(pulp::Scalar512b, &reduced, &set, &to));
        #[cfg(target_arch = "x86_64")]
        {
            use pulp::x86::{V3, V4};
            V3::try_new().inspect(|simd| assert_eq!(one, bits(*simd, &reduced, &set, &to)));
            V4::try_new().inspect(|simd| assert_eq!(one, bits(*simd, &reduced, &set, &to)));
        }
        // The width that the program chooses.
        let mut solver = Solver::new(&reduced, &set);
        let mut other = Solver::with_lanes(1, &reduced, &set);
        for solver in [&mut solver, &mut other] {
            solver.set_targets(&reduced, &set, &to);
        }
        solver.solve(9, Acceleration::Anderson);
        pulp::Simd::vectorize(pulp::Scalar, other.iterate(9, Acceleration::Anderson));
        assert_eq!(solver.exact(&reduced), other.exact(&reduced));
    }
}
