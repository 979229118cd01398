use super::*;
use crate::base::testing::shared;
use std::f64::consts::FRAC_PI_2;
use std::path::Path;

fn read<const N: usize>(path: &Path) -> Vec<DVec3> {
    let bytes = std::fs::read(path).unwrap();
    let numbers: Vec<f64> = bytes.as_chunks::<8>().0.iter().map(|b| f64::from_le_bytes(*b)).collect();
    assert_eq!(numbers.len(), 3 * N);
    numbers.as_chunks::<3>().0.iter().map(|v| DVec3::from_array(*v)).collect()
}

/// Returns the lines of one section of a mesh file in the MEDIT text format, as numbers.
fn section<'a>(text: &'a str, name: &'a str) -> impl Iterator<Item = Vec<f64>> + 'a {
    let mut lines = text.lines().skip_while(move |l| l.trim() != name).skip(1);
    let count: usize = lines.next().unwrap().trim().parse().unwrap();
    lines.take(count).map(|l| l.split_whitespace().map(|n| n.parse().unwrap()).collect())
}

fn smoothstep(t: f64) -> f64 {
    let t = t.clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

/// A bar of cubes along z, 2 by 2 by `length`, and the nodes of its two ends.
fn bar(length: u32, size: f64) -> (Vec<DVec3>, Vec<[u32; 8]>, [Vec<u32>; 2]) {
    let node = |i: u32, j: u32, k: u32| (k * 3 + j) * 3 + i;
    let (mut nodes, mut cells) = (Vec::new(), Vec::new());
    for k in 0..=length {
        for (i, j) in (0..3).flat_map(|j| (0..3).map(move |i| (i, j))) {
            nodes.push(DVec3::new(f64::from(i) - 1.0, f64::from(j) - 1.0, f64::from(k)) * size);
            if i < 2 && j < 2 && k < length {
                let corner = |c: u32| node(i + (c & 1), j + (c >> 1 & 1), k + (c >> 2 & 1));
                cells.push([0, 1, 2, 3, 4, 5, 6, 7].map(corner));
            }
        }
    }
    let last = nodes.len() as u32;
    (nodes, cells, [(0..9).collect(), (last - 9..last).collect()])
}

#[test]
fn rest_stays_at_rest_and_a_rigid_motion_moves_everything_rigidly() {
    let (rest, cells, ends) = bar(8, 0.3);
    let elements = Elements::cubes(&rest, &cells).unwrap();
    let mut gold = Gold::new(elements, &ends.concat()).unwrap();
    let mut x = rest.clone();
    let minimum = gold.minimise(&mut x, 1e-12, 50);
    assert!(minimum.energy < 1e-24 && x.iter().zip(&rest).all(|(a, b)| a.distance(*b) < 1e-12));
    let turn = DQuat::from_rotation_y(1.1) * DQuat::from_rotation_x(-0.4);
    let moved: Vec<DVec3> = rest.iter().map(|p| turn * *p + DVec3::new(5.0, -2.0, 1.0)).collect();
    ends.concat().iter().for_each(|&n| x[n as usize] = moved[n as usize]);
    let minimum = gold.minimise(&mut x, 1e-12, 4000);
    let off = x.iter().zip(&moved).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
    assert!(minimum.energy < 1e-10 && off < 1e-4, "{minimum:?} {off}");
}

#[test]
fn the_energy_falls_at_every_step_and_the_shape_does_not_depend_on_the_scale() {
    let bent = |size: f64| {
        let (rest, cells, ends) = bar(10, size);
        let mut gold = Gold::new(Elements::cubes(&rest, &cells).unwrap(), &ends.concat()).unwrap();
        let turn = DQuat::from_rotation_x(FRAC_PI_2);
        let middle = DVec3::Z * 5.0 * size;
        let mut x = rest.clone();
        ends[1].iter().for_each(|&n| x[n as usize] = turn * (rest[n as usize] - middle) + middle);
        let mut last = f64::INFINITY;
        for step in 0..60 {
            let energy = gold.step(&mut x);
            assert!(energy <= last * (1.0 + 1e-12), "step {step}: {energy} after {last}");
            last = energy;
        }
        assert!(last > 1e-3 * size * size);
        let energy = gold.elements().energy(&x);
        (x.iter().map(|p| *p / size).collect::<Vec<_>>(), energy / (size * size))
    };
    let (small, large) = (bent(0.01), bent(1000.0));
    assert!(small.0.iter().zip(&large.0).all(|(a, b)| a.distance(*b) < 1e-8));
    assert!((small.1 / large.1 - 1.0).abs() < 1e-9, "{} {}", small.1, large.1);
}

#[test]
fn volumes_that_cannot_be_solved_are_refused() {
    let (rest, cells, _) = bar(2, 1.0);
    let told = |result: Result<Gold>| result.err().expect("refused").to_string();
    let cubes = || Elements::cubes(&rest, &cells).unwrap();
    assert!(told(Gold::new(cubes(), &[])).contains("node 0 has no held node"));
    assert!(told(Gold::new(cubes(), &[999])).contains("node 999"));
    let beyond = Elements::cubes(&rest, &[[0, 1, 2, 3, 4, 5, 6, 99]]).unwrap_err().to_string();
    assert!(beyond.contains("node 99"), "{beyond}");
    let flat = Elements::tetrahedra(&rest, &[[0, 1, 3, 4]]).unwrap_err().to_string();
    assert!(flat.contains("tetrahedron 0 has no volume"), "{flat}");
}

/// `known/tet_s`: minima of energy B on 1,142 tetrahedra, made by independent code.
#[test]
fn tetrahedra_reach_the_known_minima() {
    let Some(folder) = shared("known") else { return };
    let text = std::fs::read_to_string(folder.join("tetcyl_s.mesh")).unwrap();
    let rest: Vec<DVec3> = section(&text, "Vertices").map(|v| DVec3::new(v[0], v[1], v[2])).collect();
    let cells: Vec<[u32; 4]> =
        section(&text, "Tetrahedra").map(|v| [0, 1, 2, 3].map(|k| v[k] as u32 - 1)).collect();
    assert_eq!((rest.len(), cells.len()), (363, 1142));
    let bytes = std::fs::read(folder.join("tet_s/fixed.i32")).unwrap();
    let held: Vec<u32> = bytes.as_chunks::<4>().0.iter().map(|b| u32::from_le_bytes(*b)).collect();
    let mut gold = Gold::new(Elements::tetrahedra(&rest, &cells).unwrap(), &held).unwrap();
    for (pose, wanted, about) in [("bend90", 0.338_546_80, DVec3::X), ("twist180", 0.697_246_30, DVec3::Z)] {
        let target = read::<74>(&folder.join(format!("tet_s/{pose}_target.f64")));
        let known = read::<363>(&folder.join(format!("tet_s/{pose}.f64")));
        let angle = if pose == "bend90" { FRAC_PI_2 } else { 2.0 * FRAC_PI_2 };
        let turned = |p: &DVec3| DQuat::from_axis_angle(about, angle * smoothstep((p.z + 1.5) / 3.0)) * *p;
        let mut x: Vec<DVec3> = rest.iter().map(turned).collect();
        held.iter().zip(&target).for_each(|(&n, at)| x[n as usize] = *at);
        let minimum = gold.minimise(&mut x, 1e-11, 5000);
        assert!(minimum.converged && (minimum.energy / wanted - 1.0).abs() < 1e-6, "{pose}: {minimum:?}");
        let off = x.iter().zip(&known).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
        assert!(off < 1e-3, "{pose}: {off} from the known shape");
    }
}

/// `known/eid_cylinder_n4`: minima of energy A on 1,664 cubes, made by independent code that stopped at 1e-4 or so.
#[test]
fn cubes_reach_the_known_minima() {
    let Some(folder) = shared("known") else { return };
    let text = std::fs::read_to_string(folder.join("eid_cylinder_n4.txt")).unwrap();
    let rows: Vec<Vec<f64>> =
        text.lines().skip(1).map(|l| l.split_whitespace().map(|n| n.parse().unwrap()).collect()).collect();
    let size = 0.25;
    let places: Vec<[i32; 3]> = rows.iter().map(|r| [0, 1, 2].map(|k| r[k] as i32)).collect();
    let index: std::collections::HashMap<[i32; 3], u32> = places.iter().copied().zip(0..).collect();
    let rest: Vec<DVec3> = places.iter().map(|p| DVec3::from_array(p.map(f64::from)) * size).collect();
    let cell = |p: &[i32; 3]| -> Option<[u32; 8]> {
        let corner = |c: i32| index.get(&[p[0] + (c & 1), p[1] + (c >> 1 & 1), p[2] + (c >> 2 & 1)]).copied();
        let corners: Vec<u32> = (0..8).map(corner).collect::<Option<_>>()?;
        let inside = (f64::from(p[0]) + 0.5).hypot(f64::from(p[1]) + 0.5) * size < 1.0;
        inside.then(|| corners.try_into().unwrap())
    };
    let cells: Vec<[u32; 8]> = places.iter().filter_map(cell).collect();
    assert_eq!((rest.len(), cells.len()), (2277, 1664));
    let held: Vec<u32> = (0..).zip(&rows).filter(|(_, r)| r[3] > 0.0).map(|(n, _)| n).collect();
    let mut gold = Gold::new(Elements::cubes(&rest, &cells).unwrap(), &held).unwrap();
    let poses =
        [(90.0, 0.0, 130.535_34), (0.0, 90.0, 145.749_2), (90.0, 90.0, 200.414), (60.0, 45.0, 104.525_2)];
    for (bend, twist, wanted) in poses {
        let turn =
            DQuat::from_rotation_x(f64::to_radians(bend)) * DQuat::from_rotation_z(f64::to_radians(twist));
        // Linear blend skinning by the file's bounded biharmonic weights; bone 1 turns, bone 2 stays.
        let weight = |r: &[f64]| if r[3] > 0.0 { 2.0 - r[3] } else { r[4] };
        let start = |(p, r): (&DVec3, &Vec<f64>)| p.lerp(turn * *p, weight(r));
        let mut x: Vec<DVec3> = rest.iter().zip(&rows).map(start).collect();
        let minimum = gold.minimise(&mut x, 1e-9, 5000);
        let energy = minimum.energy / (size * size);
        assert!(
            minimum.converged && (energy / wanted - 1.0).abs() < 1e-4,
            "{bend} {twist}: {energy} {minimum:?}"
        );
    }
}
