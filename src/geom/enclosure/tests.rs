use super::*;

type Mesh = (Vec<DVec3>, Vec<[u32; 3]>);

const AHEAD: DVec3 = DVec3::new(0.3, 0.5, 0.4);

/// Creates a box with outward normals. Each side has `n` x `n` squares; the vertices are welded.
fn cuboid(low: DVec3, high: DVec3, n: u32) -> Mesh {
    let (mut positions, mut triangles) = (Vec::new(), Vec::new());
    let mut known = std::collections::HashMap::new();
    for (axis, side) in (0..6).map(|k| (k / 2, k as u32 % 2)) {
        let mut vertex = |i: u32, j: u32| {
            let mut at = [0; 3];
            (at[axis], at[(axis + 1) % 3], at[(axis + 2) % 3]) = (side * n, i, j);
            *known.entry(at).or_insert_with(|| {
                positions.push(low + (high - low) * DVec3::from(at.map(f64::from)) / f64::from(n));
                positions.len() as u32 - 1
            })
        };
        for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))) {
            let [a, b, c, d] = [(i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)].map(|(i, j)| vertex(i, j));
            triangles.extend(if side == 1 { [[a, b, c], [a, c, d]] } else { [[a, c, b], [a, d, c]] });
        }
    }
    (positions, triangles)
}

/// Creates an open sheet with `n` x `n` squares.
fn sheet(n: u32, at: impl Fn(f64, f64) -> DVec3) -> Mesh {
    let all = |n: u32| (0..n).flat_map(move |i| (0..n).map(move |j| (i, j)));
    let positions = all(n + 1).map(|(i, j)| at(f64::from(i) / f64::from(n), f64::from(j) / f64::from(n)));
    let square = |(i, j): (u32, u32)| {
        let [a, b] = [i * (n + 1) + j, (i + 1) * (n + 1) + j];
        [[a, b, b + 1], [a, b + 1, a + 1]]
    };
    (positions.collect(), all(n).flat_map(square).collect())
}

fn both(a: Mesh, b: Mesh) -> Mesh {
    let first = a.0.len() as u32;
    let triangles = a.1.into_iter().chain(b.1.iter().map(|t| t.map(|v| v + first))).collect();
    (a.0.into_iter().chain(b.0).collect(), triangles)
}

/// Encloses a mesh and checks the result: each vertex of a triangle has a cube whose corners reproduce the vertex's
/// position, all cubes have equal edges, and every node belongs to a cube.
fn enclose(mesh: &Mesh, segments: &[[DVec3; 2]], size: f64) -> Enclosure {
    let out = Enclosure::new(&mesh.0, &mesh.1, segments, size).unwrap();
    for &v in mesh.1.iter().flatten() {
        let (cube, weights) = out.of_vertex(v as usize).unwrap();
        assert!(place(&out, cube, weights).distance(mesh.0[v as usize]) < 1e-9);
        assert!(weights.iter().all(|w| (-1e-9..1.0 + 1e-9).contains(w)));
    }
    let mut used = vec![false; out.cubes.nodes.len()];
    for corners in &out.cubes.cells {
        let at = corners.map(|n| out.cubes.nodes[n as usize]);
        for corner in 0..8 {
            let far = DVec3::from([0, 1, 2].map(|k| f64::from(corner as u8 >> k & 1)));
            assert!((at[corner] - at[0]).distance(far * out.cubes.size) < 1e-9);
            used[corners[corner] as usize] = true;
        }
    }
    assert!(used.iter().all(|used| *used));
    (0..segments.len()).for_each(|s| assert!(!out.along(s).is_empty()));
    out
}

fn place(of: &Enclosure, cube: usize, weights: [f64; 8]) -> DVec3 {
    of.cubes.cells[cube].iter().zip(weights).map(|(&n, w)| w * of.cubes.nodes[n as usize]).sum()
}

/// Number of cubes at the place of a cube, including this one.
fn stacked(of: &Enclosure, cube: usize) -> usize {
    let low = |c: &[u32; 8]| of.cubes.nodes[c[0] as usize];
    of.cubes
        .cells
        .iter()
        .filter(|c| low(c).distance(low(&of.cubes.cells[cube])) < 1e-6 * of.cubes.size)
        .count()
}

#[test]
fn a_box_is_filled_once() {
    for (mesh, size) in [1, 4, 9].into_iter().flat_map(|n| {
        let mesh = cuboid(DVec3::new(-1.0, 3.0, 0.1), DVec3::new(1.0, 4.1, 0.8), n);
        [0.031, 0.11, 0.23, 0.55, 3.0].map(|size| (mesh.clone(), size))
    }) {
        let out = enclose(&mesh, &[], size);
        let sides = [2.0, 1.1, 0.7].map(|side: f64| ((side / size + 1e-3) as usize).div_ceil(2) * 2 + 1);
        // One cube per grid cell: no second layer, and no hole.
        assert_eq!(out.cubes.cells.len(), sides.iter().product::<usize>());
        assert_eq!(out.cubes.nodes.len(), sides.iter().map(|n| n + 1).product::<usize>());
        assert_eq!(out.components().0, 1);
        for i in 0..100u32 {
            let t = |k: u32| 0.01 + 0.98 * f64::from((i * 37 + k * 61 + i * i * k) % 101) / 101.0;
            let x = DVec3::new(-1.0, 3.0, 0.1) + DVec3::new(2.0, 1.1, 0.7) * DVec3::new(t(1), t(2), t(3));
            let (cube, weights) = out.find(x).unwrap();
            assert!(place(&out, cube, weights).distance(x) < 1e-9);
        }
        assert!(out.find(DVec3::splat(9.0)).is_none() && out.find(DVec3::NAN).is_none());
        assert!(out.find(DVec3::NEG_INFINITY).is_none() && out.of_vertex(usize::MAX).is_none());
    }
}

#[test]
fn an_open_sheet_and_a_box_without_lid_are_enclosed() {
    let (positions, triangles) =
        sheet(12, |u, v| DVec3::new(u + 0.3 * v, v, 0.2 * (5.0 * u).sin()) + AHEAD * u);
    for size in [0.021, 0.07, 0.3, 2.0] {
        let out = enclose(&(positions.clone(), triangles.clone()), &[], size);
        assert_eq!(out.components().0, 1);
        for t in &triangles {
            let middle = t.iter().map(|&v| positions[v as usize]).sum::<DVec3>() / 3.0;
            let (cube, weights) = out.find(middle).unwrap();
            assert!(place(&out, cube, weights).distance(middle) < 1e-9);
        }
    }
    let mut open = cuboid(DVec3::ZERO, DVec3::ONE, 3);
    open.1.truncate(5 * 18);
    let out = enclose(&open, &[], 0.06);
    assert_eq!(out.components().0, 1);
    assert!(out.find(DVec3::splat(0.5)).is_none(), "a bowl is empty");
}

#[test]
fn boxes_close_to_each_other_stay_apart_and_crossing_boxes_are_one() {
    let finger = |x: f64| cuboid(DVec3::new(x, 0.0, 0.0), DVec3::new(x + 1.0, 3.0, 1.0), 3);
    for size in [0.19, 0.3, 0.4, 0.7, 1.3, 5.0] {
        let out = enclose(&both(finger(0.0), finger(1.05)), &[], size);
        assert_eq!(out.components().0, 2, "{size}");
        let of_box = |cube: usize| out.components().1[out.cubes.cells[cube][0] as usize];
        for i in 0..40 {
            let y = 0.01 + 0.07 * f64::from(i);
            let sides = [0.97, 1.08].map(|x| of_box(out.find(DVec3::new(x, y, 0.4)).unwrap().0));
            assert_ne!(sides[0], sides[1]);
        }
        // Their interiors overlap, so they are one body.
        let other = cuboid(DVec3::new(-1.0, 1.0, 0.2), DVec3::new(2.0, 1.9, 0.8), 2);
        let cross = enclose(&both(finger(0.0), other), &[], size);
        assert_eq!(cross.components().0, 1, "{size}");
        assert!((0..cross.cubes.cells.len()).all(|cube| stacked(&cross, cube) == 1), "{size}");
    }
}

#[test]
fn a_plate_thinner_than_the_rays_spacing_is_one_layer() {
    // The plate is slanted or not; it lies within a layer of cells or on the border of two layers.
    for (slope, lift) in [(0.0, 0.0), (0.0, 0.2), (0.0, -0.2), (0.23, 0.0), (0.05, 0.1)] {
        let mut plate = cuboid(DVec3::new(-1.0, -0.7, 0.0), DVec3::new(1.0, 0.7, 0.02), 7);
        plate.0.iter_mut().for_each(|x| x.z += slope * x.x + lift);
        let far = both(plate, cuboid(DVec3::new(3.0, -0.2, -0.2), DVec3::new(3.4, 0.2, 0.2), 1));
        let out = enclose(&far, &[], 0.2);
        assert_eq!(out.components().0, 2);
        for cube in 0..out.cubes.cells.len() {
            assert_eq!(stacked(&out, cube), 1, "{slope} {lift}");
        }
    }
}

#[test]
fn a_shallow_layer_is_connected_to_the_cubes_below() {
    // The long axis is z, so all rays miss the layer of the depth 0.02 in the outermost cells along x.
    let body = cuboid(DVec3::new(-1.02, -1.0, -3.0), DVec3::new(1.02, 1.0, 3.0), 5);
    let out = enclose(&body, &[], 0.4);
    let cells = [7, 7, 17];
    assert_eq!(out.cubes.cells.len(), cells.iter().product::<usize>());
    assert_eq!(out.cubes.nodes.len(), cells.iter().map(|n| n + 1).product::<usize>());
}

#[test]
fn the_layers_of_a_fold_are_connected_at_the_fold_only() {
    for n in [2, 9, 30] {
        let gap = 0.05;
        let fold = |u: f64, v: f64| {
            let across = (4.0 * (u - 0.5)).clamp(-1.0, 1.0) * 0.5 * gap;
            DVec3::new(2.0 * (u - 0.5).abs(), v, across)
        };
        let mesh = sheet(n - n % 2, fold);
        let out = enclose(&mesh, &[], 0.21);
        assert_eq!(out.components().0, 1);
        let of_layer = |x: f64, y: f64| {
            [-0.5, 0.5].map(|z| out.cubes.cells[out.find(DVec3::new(x, y, z * gap)).unwrap().0])
        };
        for y in [0.1, 0.33, 0.9] {
            let [low, high] = of_layer(0.9, y);
            assert!(low.iter().all(|node| !high.contains(node)), "{n}");
            let [low, high] = of_layer(0.005, y);
            assert_eq!(low, high);
        }
    }
}

#[test]
fn bones_have_cubes_and_hang_on_the_body() {
    let body = cuboid(DVec3::ZERO, DVec3::new(1.0, 2.0, 1.0), 3);
    let bones = [
        [DVec3::new(5.0, 5.0, 5.0), DVec3::new(6.0, 7.0, 4.0)],
        [DVec3::new(0.5, 0.5, 0.5), DVec3::new(0.6, 3.31, 0.7)],
        [DVec3::new(0.6, 3.31, 0.7), DVec3::new(1.3, 3.9, 0.7)],
        [DVec3::new(0.4, 1.0, 0.5); 2],
        [DVec3::new(-3.0, 1.0, 0.5); 2],
        [DVec3::NAN; 2],
    ];
    for size in [0.11, 0.4, 1.7] {
        let out = enclose(&body, &bones[..5], size);
        let (count, of) = out.components();
        let of = |s: usize| -> Vec<u32> {
            out.along(s).iter().map(|&c| of[out.cubes.cells[c as usize][0] as usize]).collect()
        };
        assert_eq!(count, 3, "a body with three bones, a bone, and a point: {size}");
        (0..5).for_each(|s| assert!(of(s).iter().all(|c| *c == of(s)[0])));
        assert!(of(1)[0] == of(2)[0] && of(1)[0] == of(3)[0]);
        assert!(of(0)[0] != of(1)[0] && of(4)[0] != of(1)[0] && of(4)[0] != of(0)[0]);
        assert_eq!((out.along(3).len(), out.along(4).len()), (1, 1));
        assert_eq!(out.along(3)[0] as usize, out.find(bones[3][0]).unwrap().0);
        for (s, [head, tail]) in bones[..3].iter().enumerate() {
            assert_eq!(out.along(s)[0] as usize, out.find(*head).unwrap().0);
            let far = tail.lerp(*head, 1e-9);
            assert_eq!(*out.along(s).last().unwrap() as usize, out.find(far).unwrap().0);
            let neighbors = out.along(s).windows(2).all(|pair| {
                let [a, b] = [pair[0], pair[1]].map(|c| out.cubes.cells[c as usize]);
                a != b && a.iter().filter(|node| b.contains(node)).count() == 4
            });
            assert!(neighbors, "{s}");
        }
        assert!(out.along(5).is_empty() && out.along(usize::MAX).is_empty());
        let all = Enclosure::new(&body.0, &body.1, &bones, size).unwrap();
        assert!(all.along(5).is_empty());
    }
    // A bone in a rod that all rays miss lies in the rod's cubes.
    let rod = cuboid(DVec3::new(-0.01, -2.0, -0.01), DVec3::new(0.01, 2.0, 0.01), 1);
    let out = enclose(&rod, &[[DVec3::Y * -1.9, DVec3::Y * 1.9]], 0.3);
    assert_eq!((out.components().0, out.cubes.cells.len(), out.along(0).len()), (1, 15, 13));
}

#[test]
fn improper_input_is_skipped_and_nothing_is_none() {
    let none =
        |p: &[DVec3], t: &[[u32; 3]], s: &[[DVec3; 2]], size: f64| Enclosure::new(p, t, s, size).is_none();
    let (mut positions, mut triangles) = cuboid(DVec3::ZERO, DVec3::ONE, 1);
    assert!(none(&[], &[], &[], 1.0) && none(&positions, &[], &[], 1.0) && none(&[], &triangles, &[], 1.0));
    assert!(none(&[DVec3::NAN; 3], &[[0, 1, 2]], &[[DVec3::INFINITY; 2]], 1.0));
    assert!(none(&positions, &triangles, &[[DVec3::MAX, DVec3::MIN]], 1.0));
    assert!([f64::INFINITY].iter().all(|size| none(&positions, &triangles, &[], *size)));
    assert!([0.0, -1.0, f64::NAN].iter().all(|size| none(&[], &[], &[[DVec3::ONE; 2]], *size)));
    let fine = Enclosure::new(&[], &[], &[[DVec3::ZERO, DVec3::X]], 1e-9).unwrap();
    assert!(fine.cubes.size >= 1.0 / FINEST);
    positions.extend([DVec3::NAN, DVec3::splat(1e300), DVec3::new(0.5, 0.5, 3.0)]);
    triangles.extend([[0, 1, 8], [0, 0, 9], [77, 1, 2], [0, 0, 0]]);
    let out = Enclosure::new(&positions, &triangles, &[], 0.3).unwrap();
    assert!((8..12).all(|v| out.of_vertex(v).is_none()) && (0..8).all(|v| out.of_vertex(v).is_some()));
    assert_eq!(out.components().0, 1);
    // Triangles without area, and a single point.
    let line = (vec![DVec3::ZERO, DVec3::ONE, DVec3::splat(2.0)], vec![[0, 1, 2]]);
    assert_eq!(enclose(&line, &[], 0.3).components().0, 1);
    assert_eq!(enclose(&(vec![DVec3::ONE; 3], vec![[0, 1, 2]]), &[], 0.3).cubes.cells.len(), 1);
    assert_eq!(Enclosure::with_cubes(&[], &[], &[[DVec3::ONE; 2]], 50).unwrap().cubes.cells.len(), 1);
    // Two tetrahedra that share a vertex, and a third triangle at an edge.
    let mut tips: Mesh = (vec![DVec3::ZERO], vec![]);
    for side in [1.0, -1.0] {
        let first = tips.0.len() as u32;
        tips.0.extend(DVec3::AXES.map(|axis| axis * side + DVec3::splat(side)));
        tips.1.extend(
            [[1, 2, 3], [0, 2, 1], [0, 3, 2], [0, 1, 3]]
                .map(|t| t.map(|v| if v == 0 { 0 } else { v - 1 + first })),
        );
    }
    tips.0.push(DVec3::new(-1.0, 2.0, 0.0));
    tips.1.push([0, 1, 7]);
    assert_eq!(enclose(&tips, &[], 0.17).components().0, 1);
}

#[test]
fn the_count_is_met_and_the_result_is_reproducible() {
    let bones = [[DVec3::new(0.2, 0.2, 0.2), DVec3::new(2.2, 3.2, 1.2)]];
    let mesh = both(
        cuboid(DVec3::ZERO, DVec3::new(1.0, 2.0, 0.5), 8),
        sheet(8, |u, v| DVec3::new(u, 2.0 * v, 0.9 + 0.2 * u * v)),
    );
    for count in [30, 1000, 20_000] {
        let run = || Enclosure::with_cubes(&mesh.0, &mesh.1, &bones, count).unwrap();
        let (a, b) = (run(), run());
        let ratio = a.cubes.cells.len() as f64 / count as f64;
        assert!((0.6..1.5).contains(&ratio) && (count < 1000 || (0.9..1.1).contains(&ratio)), "{ratio}");
        assert!(a.cubes.cells == b.cubes.cells && a.cubes.nodes == b.cubes.nodes);
        assert!(a.of_vertex == b.of_vertex && a.along == b.along && a.cube_of == b.cube_of);
    }
}
