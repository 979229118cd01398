//! Tests with motions whose result is known.

use super::*;
use crate::bind::shapes;

#[test]
fn rigid_motions_of_the_handle_are_the_whole_regions() {
    for (skew, energies) in
        [(0.35, &[Energy::SpokesAndRims][..]), (0.02, &[Energy::Spokes, Energy::SpokesAndRims])]
    {
        rigid(&skewed(10, skew), energies);
    }
}

fn rigid((rest, triangles): &(Vec<Vec3>, Vec<[u32; 3]>), energies: &[Energy]) {
    let kinematic = [0, 5, 10, 60, 115, 120];
    let passive: Vec<u32> = (0..121).filter(|v| !kinematic.contains(v)).collect();
    let lists = Lists { kinematic: &kinematic, passive: &passive, fixed: &[] };
    let center = DVec3::new(0.2, 1.0, -0.5);
    for (angle, tolerance) in [(0.0, 1e-9), (0.3, 1e-6), (2.0, 1e-6)] {
        let turn = DQuat::from_axis_angle(DVec3::new(1.0, 0.4, -0.8).normalize(), angle);
        let goal: Vec<DVec3> = doubles(rest).iter().map(|p| center + turn * *p).collect();
        let start = || {
            let mut shape = doubles(rest);
            kinematic.iter().for_each(|&v| shape[v as usize] = goal[v as usize]);
            shape
        };
        let mut lse = start();
        Lse::new(rest, triangles, &lists, LseOptions::default()).unwrap().solve(&mut lse).unwrap();
        for &energy in energies {
            // The solve starts from the LSE result, since a start far from rest may reach another local minimum.
            let options = ArapOptions { energy, iterations: 3000, tolerance: 1e-10 };
            let mut shape = lse.clone();
            let solved = Arap::new(rest, triangles, &lists, options).unwrap().solve(&mut shape).unwrap();
            let apart = largest(&shape, &goal);
            assert!(apart < tolerance, "{energy:?} {angle}: {apart} after {}", solved.iterations);
            assert!(*solved.energy.last().unwrap() < 1e-10);
        }
        // Every round comes closer to the result, but slowly, because the scale and rotation of each cell are free.
        let mut before = f64::INFINITY;
        for rounds in [0, 1, 10, 100] {
            let mut shape = start();
            Lse::new(rest, triangles, &lists, LseOptions { rounds }).unwrap().solve(&mut shape).unwrap();
            let apart = largest(&shape, &goal);
            assert!(apart < before || apart < 1e-9, "LSE {angle}, {rounds} rounds: {apart} after {before}");
            before = apart;
        }
        assert!(before < 0.02 || angle > 1.0, "LSE {angle}: {before}");
    }
}

#[test]
fn lse_follows_scales_and_shifts_exactly_at_once() {
    let (rest, triangles) = sheet(8);
    let kinematic = [0, 8, 72, 80, 40];
    let passive: Vec<u32> = (0..81).filter(|v| !kinematic.contains(v)).collect();
    let lists = Lists { kinematic: &kinematic, passive: &passive, fixed: &[] };
    for (scale, shift) in [(1.0, DVec3::new(3.0, -2.0, 0.5)), (2.5, DVec3::X), (0.3, DVec3::ZERO)] {
        let goal: Vec<DVec3> = doubles(&rest).iter().map(|p| *p * scale + shift).collect();
        for rounds in [0, 1] {
            let mut shape = doubles(&rest);
            kinematic.iter().for_each(|&v| shape[v as usize] = goal[v as usize]);
            Lse::new(&rest, &triangles, &lists, LseOptions { rounds }).unwrap().solve(&mut shape).unwrap();
            assert!(largest(&shape, &goal) < 1e-6, "{scale} {rounds}: {}", largest(&shape, &goal));
        }
    }
}

#[test]
fn what_is_not_moved_stays() {
    let (rest, triangles) = sheet(8);
    let roi = Roi::of_sheet(8);
    let given = doubles(&rest);
    let mut shape = given.clone();
    let solved = Arap::new(&rest, &triangles, &roi.lists(), ArapOptions::default())
        .unwrap()
        .solve(&mut shape)
        .unwrap();
    assert!(largest(&shape, &given) < 1e-12 && solved.iterations == 1);
    let mut shape = given.clone();
    Lse::new(&rest, &triangles, &roi.lists(), LseOptions::default()).unwrap().solve(&mut shape).unwrap();
    assert!(largest(&shape, &given) < 1e-8, "{}", largest(&shape, &given));
}

#[test]
fn scale_vectors_of_one_rigid_motion_turn_with_it() {
    let (rest, triangles) = sheet(8);
    let roi = Roi::of_sheet(8);
    let turn = DQuat::from_rotation_y(1.1) * DQuat::from_rotation_x(-0.4);
    let move_it = |p: DVec3| turn * p + DVec3::new(1.0, 2.0, 3.0);
    let goal: Vec<DVec3> = doubles(&rest).iter().map(|p| move_it(*p)).collect();
    let below: Vec<Vec3> = rest.iter().map(|p| Vec3::new(p.x, -0.2, 0.5)).collect();
    let scale: Vec<Vec3> = rest.iter().zip(&below).map(|(x, a)| *x - *a).collect();
    let anchors: Vec<DVec3> = below.iter().map(|a| move_it(a.as_dvec3())).collect();
    let mut shape = goal.clone();
    roi.passive.iter().for_each(|&v| shape[v as usize] = DVec3::ZERO);
    let rotations = vec![turn; rest.len()];
    let mut solver = ArapScale::new(&rest, &scale, &triangles, &roi.lists()).unwrap();
    solver.solve(Skinned { rotations: &rotations, anchors: &anchors }, &mut shape).unwrap();
    assert!(largest(&shape, &goal) < 1e-6, "{}", largest(&shape, &goal));
}

/// Solves a bar of 1.6 m whose held upper end is rotated by `angle`. Returns rest and solved positions, energies.
fn bent(angle: f64, energy: Energy) -> (Vec<Vec3>, Vec<DVec3>, Vec<f64>) {
    let character = shapes::bar(2, 24, 4, 0.15, 1.6);
    let rest = character.control.positions.clone();
    let of = |keep: &dyn Fn(f32) -> bool| -> Vec<u32> {
        (0..rest.len() as u32).filter(|&v| keep(rest[v as usize].y)).collect()
    };
    let (fixed, kinematic) = (of(&|y| y < 0.1), of(&|y| y > 1.5));
    let passive = of(&|y| (0.1..=1.5).contains(&y));
    let lists = Lists { kinematic: &kinematic, passive: &passive, fixed: &fixed };
    let mut shape = doubles(&rest);
    let turn = DQuat::from_rotation_z(-angle);
    // The start is the circular arc of a bent rod of this length.
    let (middle, radius) = (DVec3::new(0.0, 0.8, 0.0), 0.35);
    for &v in &kinematic {
        let from_end = shape[v as usize] - DVec3::new(0.0, 1.6, 0.0);
        let end = middle + DVec3::new(radius, 0.0, 0.0) + turn * DVec3::new(-radius, 0.8, 0.0);
        shape[v as usize] = end + turn * from_end;
    }
    let options = ArapOptions { energy, iterations: 400, tolerance: 1e-9 };
    let solved =
        Arap::new(&rest, &character.control.triangles, &lists, options).unwrap().solve(&mut shape).unwrap();
    (rest, shape, solved.energy)
}

#[test]
fn energy_never_rises_and_a_bar_bends_smoothly() {
    for energy in [Energy::Spokes, Energy::SpokesAndRims] {
        let (rest, shape, energies) = bent(1.57, energy);
        assert!(energies.len() > 5 && energies[0] > 0.0);
        for pair in energies.windows(2) {
            assert!(pair[1] <= pair[0] * (1.0 + 1e-12), "{energy:?}: {energies:?}");
        }
        assert!(*energies.last().unwrap() < 0.5 * energies[0]);
        // The result is symmetric in z, like the bar and the handles.
        let mirrored =
            |p: &Vec3| rest.iter().position(|q| q.distance(Vec3::new(p.x, p.y, -p.z)) < 1e-5).unwrap();
        for (p, x) in rest.iter().zip(&shape) {
            let other = shape[mirrored(p)];
            assert!(x.distance(DVec3::new(other.x, other.y, -other.z)) < 2e-2, "{p}");
        }
        // The cross-sections in the middle of the bar rotate evenly, by a small angle from each to the next.
        let section = |k: usize| {
            let at = |p: &Vec3| (p.y - 1.6 * k as f32 / 24.0).abs() < 1e-4;
            let here: Vec<DVec3> = rest.iter().zip(&shape).filter(|(p, _)| at(p)).map(|(_, x)| *x).collect();
            here.iter().sum::<DVec3>() / here.len() as f64
        };
        let axis: Vec<DVec3> = (2..22).map(|k| (section(k + 1) - section(k)).normalize()).collect();
        for pair in axis.windows(2) {
            assert!(pair[0].angle_between(pair[1]) < 0.45, "{energy:?}");
        }
        let whole = axis[0].angle_between(axis[axis.len() - 1]);
        assert!(whole > 0.8, "{whole}");
    }
}

#[test]
fn the_same_start_gives_the_same_result_to_the_bit() {
    let (rest, triangles) = sheet(12);
    let roi = Roi::of_sheet(12);
    let mut arap = Arap::new(&rest, &triangles, &roi.lists(), ArapOptions::default()).unwrap();
    let mut lse = Lse::new(&rest, &triangles, &roi.lists(), LseOptions::default()).unwrap();
    let start = moved(&rest, &roi.kinematic);
    let run = |arap: &mut Arap, lse: &mut Lse| {
        let (mut a, mut b) = (start.clone(), start.clone());
        arap.solve(&mut a).unwrap();
        lse.solve(&mut b).unwrap();
        (a, b)
    };
    let first = run(&mut arap, &mut lse);
    arap.solve(&mut doubles(&rest)).unwrap();
    lse.solve(&mut doubles(&rest)).unwrap();
    assert_eq!(run(&mut arap, &mut lse), first);
}

#[test]
fn size_does_not_matter() {
    let (rest, triangles) = sheet(8);
    let roi = Roi::of_sheet(8);
    let solve = |scale: f32| {
        let rest: Vec<Vec3> = rest.iter().map(|p| *p * scale).collect();
        let start = moved(&rest, &roi.kinematic);
        // The translation of the handle is scaled, too.
        let start: Vec<DVec3> = start
            .iter()
            .zip(&rest)
            .enumerate()
            .map(|(v, (x, p))| match roi.kinematic.contains(&(v as u32)) {
                true => p.as_dvec3() + DVec3::new(0.0, 0.2, 0.1) * f64::from(scale),
                false => *x,
            })
            .collect();
        let (mut a, mut b) = (start.clone(), start);
        Arap::new(&rest, &triangles, &roi.lists(), ArapOptions::default()).unwrap().solve(&mut a).unwrap();
        Lse::new(&rest, &triangles, &roi.lists(), LseOptions::default()).unwrap().solve(&mut b).unwrap();
        let down = |x: Vec<DVec3>| x.iter().map(|p| *p / f64::from(scale)).collect::<Vec<_>>();
        (down(a), down(b))
    };
    let one = solve(1.0);
    for scale in [1e-6, 1e5] {
        let other = solve(scale);
        assert!(largest(&one.0, &other.0) < 1e-4 && largest(&one.1, &other.1) < 1e-4, "{scale}");
    }
}
