//! Tests with degenerate meshes and invalid lists.

use super::*;
use proptest::prelude::*;

/// Runs every method on a region and checks that all positions are finite and only passive vertices have moved.
fn all(rest: &[Vec3], triangles: &[[u32; 3]], lists: &Lists<'_>, start: &[DVec3]) -> Vec<Vec<DVec3>> {
    let mut out = Vec::new();
    for energy in [Energy::Spokes, Energy::SpokesAndRims] {
        let mut shape = start.to_vec();
        let options = ArapOptions { energy, ..ArapOptions::default() };
        let solved = Arap::new(rest, triangles, lists, options).unwrap().solve(&mut shape).unwrap();
        assert!(solved.energy.iter().all(|e| e.is_finite()));
        out.push(shape);
    }
    let mut shape = start.to_vec();
    Lse::new(rest, triangles, lists, LseOptions::default()).unwrap().solve(&mut shape).unwrap();
    out.push(shape);
    let mut shape = start.to_vec();
    let rotations = vec![DQuat::from_rotation_x(0.5); rest.len()];
    let anchors = vec![DVec3::X; rest.len()];
    ArapScale::new(rest, rest, triangles, lists)
        .unwrap()
        .solve(Skinned { rotations: &rotations, anchors: &anchors }, &mut shape)
        .unwrap();
    out.push(shape);
    for shape in &out {
        for (v, (x, before)) in shape.iter().zip(start).enumerate() {
            assert!(x.is_finite(), "{v}");
            assert!(x == before || lists.passive.contains(&(v as u32)), "{v} is held");
        }
    }
    out
}

#[test]
fn degenerate_triangles_fins_bowties_and_isolated_vertices() {
    let (mut rest, mut triangles) = skewed(6, 0.02);
    // Triangles that are collapsed to a point, collapsed to a line, or have a repeated vertex.
    rest[16] = rest[17];
    rest[30] = (rest[29] + rest[31]) * 0.5;
    triangles.extend([[9, 9, 10], [16, 17, 16], [24, 25, 18], [24, 25, 18]]);
    // Edges with three and four triangles, a fan joined at one vertex, a separate component, and an isolated vertex.
    let first = rest.len() as u32;
    for p in [
        [0.3, 0.4, 0.3],
        [0.6, -0.4, 0.3],
        [0.9, 1.0, 0.9],
        [0.2, 1.0, 0.9],
        [5.0, 5.0, 5.0],
        [6.0, 5.0, 5.0],
    ] {
        rest.push(p.into());
    }
    rest.extend([Vec3::new(5.0, 6.0, 5.0), Vec3::new(9.0, 9.0, 9.0)]);
    triangles.extend([
        [16, 17, first],
        [16, 17, first + 1],
        [24, first + 2, first + 3],
        [first + 4, first + 5, first + 6],
    ]);
    let kinematic = [24, 23, 25];
    let mut passive: Vec<u32> = (8..41).filter(|v| !kinematic.contains(v)).collect();
    passive.extend(first..first + 8);
    let lists = Lists { kinematic: &kinematic, passive: &passive, fixed: &[0, 1, 2, 3, 4, 5, 6] };
    let start = moved(&rest, &kinematic);
    for (method, shape) in all(&rest, &triangles, &lists, &start).iter().enumerate() {
        for lone in first as usize + 4..first as usize + 8 {
            assert_eq!(shape[lone], start[lone], "nothing holds it: it stays");
        }
        let far = largest(shape, &start);
        // LSE may scale the fan freely, because a uniform scale about its one held vertex is a similarity.
        assert!(far < if method == 2 { 50.0 } else { 3.0 }, "nothing flies off: {far} by method {method}");
    }
}

#[test]
fn regions_without_rim_without_passive_vertices_and_single_handles() {
    let (rest, triangles) = sheet(6);
    let every: Vec<u32> = (0..49).collect();
    let (handle, others): (Vec<u32>, Vec<u32>) = every.iter().partition(|v| **v == 24);
    let mut start = doubles(&rest);
    start[24] += DVec3::new(0.0, 0.4, 0.2);
    let lists = Lists { kinematic: &handle, passive: &others, fixed: &[] };
    let shapes = all(&rest, &triangles, &lists, &start);
    assert!(shapes.iter().all(|shape| largest(shape, &start) < 2.0));
    let lists = Lists { kinematic: &every, passive: &[], fixed: &[] };
    assert!(all(&rest, &triangles, &lists, &start).iter().all(|shape| *shape == start));
    let lists = Lists { kinematic: &handle, passive: &others, fixed: &[] };
    assert!(all(&rest, &[], &lists, &start).iter().all(|shape| *shape == start));
}

#[test]
fn what_does_not_fit_is_refused_with_a_reason() {
    let (rest, triangles) = sheet(4);
    let make = |rest: &[Vec3], triangles: &[[u32; 3]], kinematic: &[u32], passive: &[u32], fixed: &[u32]| {
        let lists = Lists { kinematic, passive, fixed };
        let arap = Arap::new(rest, triangles, &lists, ArapOptions::default()).err().unwrap().to_string();
        let lse = Lse::new(rest, triangles, &lists, LseOptions::default()).err().unwrap().to_string();
        assert_eq!(arap, lse);
        arap
    };
    assert!(make(&rest, &triangles, &[], &[1], &[]).contains("no kinematic"));
    assert!(make(&rest, &triangles, &[1], &[25], &[]).contains("vertex 25"));
    assert!(make(&rest, &triangles, &[1], &[2], &[1]).contains("vertex 1 twice"));
    assert!(make(&rest, &triangles, &[1], &[2, 2], &[]).contains("vertex 2 twice"));
    assert!(make(&rest, &[[0, 1, 99]], &[1], &[2], &[]).contains("triangle 0"));
    let mut broken = rest.clone();
    broken[7].x = f32::NAN;
    assert!(make(&broken, &triangles, &[6], &[7, 8], &[]).contains("rest position of vertex 7"));
    let lists = Lists { kinematic: &[6], passive: &[7, 8], fixed: &[] };
    let mut arap = Arap::new(&rest, &triangles, &lists, ArapOptions::default()).unwrap();
    assert!(arap.solve(&mut [DVec3::ZERO; 3]).unwrap_err().to_string().contains("3 positions"));
    let mut shape = doubles(&rest);
    shape[6].y = f64::INFINITY;
    assert!(arap.solve(&mut shape).unwrap_err().to_string().contains("given position of vertex 6"));
    // A fan of thousands of triangles exceeds LSE's limit: the matrix has an entry per pair of neighbours.
    let n = 6000;
    let ring = |k: u32| (f32::from(k as u16) / n as f32 * std::f32::consts::TAU).sin_cos();
    let mut fan = vec![Vec3::ZERO];
    fan.extend((0..n).map(|k| Vec3::new(ring(k).0, 0.0, ring(k).1)));
    let triangles: Vec<[u32; 3]> = (0..n).map(|k| [0, 1 + k, 1 + (k + 1) % n]).collect();
    let passive: Vec<u32> = (0..n).collect();
    let lists = Lists { kinematic: &[n], passive: &passive, fixed: &[] };
    let error = Lse::new(&fan, &triangles, &lists, LseOptions::default()).err().unwrap().to_string();
    assert!(error.contains("vertex 0 has 6000 neighbours"), "{error}");
    Arap::new(&fan, &triangles, &lists, ArapOptions::default()).unwrap().solve(&mut doubles(&fan)).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None,
        rng_seed: proptest::test_runner::RngSeed::Fixed(11), ..ProptestConfig::default() })]

    #[test]
    fn any_soup_gives_numbers(
        points in prop::collection::vec(prop::array::uniform3(-3i8..4), 6..24),
        corners in prop::collection::vec(prop::array::uniform3(0u32..24), 0..40),
        roles in prop::collection::vec(0u8..3, 24),
        shift in prop::array::uniform3(-5.0f64..5.0),
    ) {
        // The points are on a lattice, so that some coincide or are collinear.
        let rest: Vec<Vec3> = points.iter().map(|p| Vec3::from(p.map(f32::from))).collect();
        let n = rest.len() as u32;
        let triangles: Vec<[u32; 3]> = corners.iter().map(|t| t.map(|v| v % n)).collect();
        let list = |role: u8| (1..n).filter(|&v| roles[v as usize] == role).collect::<Vec<u32>>();
        let (kinematic, passive, fixed) = ([vec![0], list(0)].concat(), list(1), list(2));
        let lists = Lists { kinematic: &kinematic, passive: &passive, fixed: &fixed };
        let mut start = doubles(&rest);
        start[0] += DVec3::from(shift);
        for shape in all(&rest, &triangles, &lists, &start) {
            prop_assert!(shape.iter().all(|x| x.abs().max_element() < 1e6), "{shape:?}");
        }
    }
}
