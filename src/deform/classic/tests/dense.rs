//! Independent dense solvers in f64 for whole meshes. Written from the papers and from the definitions of libigl's
//! `cotmatrix` and `arap_linear_block`, they share no function with the solvers under test. Some of their results are
//! stored as constants, so that the solvers and their tests cannot change together.

use super::*;

type Matrix = Vec<Vec<f64>>;

/// Solves by Gaussian elimination with partial pivoting. `b` has any number of right-hand sides.
fn solve(mut a: Matrix, mut b: Matrix) -> Matrix {
    let n = a.len();
    for k in 0..n {
        let pivot = (k..n).max_by(|&i, &j| a[i][k].abs().total_cmp(&a[j][k].abs())).unwrap();
        a.swap(k, pivot);
        b.swap(k, pivot);
        for i in k + 1..n {
            let f = a[i][k] / a[k][k];
            if f == 0.0 {
                continue;
            }
            let (row, other) = a.split_at_mut(i);
            other[0].iter_mut().zip(&row[k]).skip(k).for_each(|(x, y)| *x -= f * y);
            let (row, other) = b.split_at_mut(i);
            other[0].iter_mut().zip(&row[k]).for_each(|(x, y)| *x -= f * y);
        }
    }
    for k in (0..n).rev() {
        for c in 0..b[k].len() {
            let known: f64 = (k + 1..n).map(|j| a[k][j] * b[j][c]).sum();
            b[k][c] = (b[k][c] - known) / a[k][k];
        }
    }
    b
}

/// Minimises `½ xᵀ A x - xᵀ b` with the rows of `x` outside `free` fixed (libigl's `min_quad_with_fixed`).
fn with_fixed(a: &Matrix, b: &Matrix, x: &Matrix, free: &[usize]) -> Matrix {
    let is_free = |j: usize| free.contains(&j);
    let rows = free.iter().map(|&i| free.iter().map(|&j| a[i][j]).collect()).collect();
    let right = free.iter().map(|&i| {
        let held = |c: usize| (0..a.len()).filter(|&j| !is_free(j)).map(|j| a[i][j] * x[j][c]).sum::<f64>();
        (0..b[i].len()).map(|c| b[i][c] - held(c)).collect()
    });
    let solved = solve(rows, right.collect());
    let mut out = x.clone();
    for (row, &i) in solved.into_iter().zip(free) {
        out[i] = row;
    }
    out
}

fn rows(points: &[DVec3]) -> Matrix {
    points.iter().map(|p| vec![p.x, p.y, p.z]).collect()
}

fn vectors(rows: &Matrix) -> Vec<DVec3> {
    rows.iter().map(|r| DVec3::new(r[0], r[1], r[2])).collect()
}

/// Computes half cotangents at the corners from side lengths and Heron's area, like libigl's `cotmatrix_entries`.
fn entries(x: &[DVec3], t: [u32; 3]) -> [f64; 3] {
    let p = t.map(|v| x[v as usize]);
    let l = [p[1].distance(p[2]), p[2].distance(p[0]), p[0].distance(p[1])];
    let s = (l[0] + l[1] + l[2]) / 2.0;
    let double_area = 2.0 * (s * (s - l[0]) * (s - l[1]) * (s - l[2])).sqrt();
    [0, 1, 2].map(|k| {
        let (a, b, c) = (l[k], l[(k + 1) % 3], l[(k + 2) % 3]);
        (b * b + c * c - a * a) / double_area / 4.0
    })
}

/// Returns the rotation `R` that maximises `tr(R S)`, by power iteration on Davenport's matrix.
fn rotation(s: [[f64; 3]; 3]) -> DQuat {
    let gain = |q: DQuat| {
        let m = crate::base::math::DMat3::from_quat(q).to_cols_array_2d();
        // tr(R S) = Σ R_ab S_ba; m[b][a] is R_ab.
        (0..3).map(|a| (0..3).map(|b| m[b][a] * s[b][a]).sum::<f64>()).sum::<f64>()
    };
    // The shift makes the largest eigenvalue also the largest in absolute value.
    let b = |i: usize, j: usize| s[j][i];
    let trace = b(0, 0) + b(1, 1) + b(2, 2);
    let z = [b(1, 2) - b(2, 1), b(2, 0) - b(0, 2), b(0, 1) - b(1, 0)];
    let mut k = [[0.0; 4]; 4];
    for (i, j) in (0..9).map(|n| (n / 3, n % 3)) {
        k[i][j] = b(i, j) + b(j, i) - if i == j { trace } else { 0.0 };
        k[i][3] = -z[i];
        k[3][i] = -z[i];
    }
    k[3][3] = trace;
    let shift = 4.0 * k.iter().flatten().fold(0.0f64, |m, v| m.max(v.abs()));
    (0..4).for_each(|i| k[i][i] += shift);
    // 40 squarings equal 2^40 iterations.
    for _ in 0..40 {
        let mut square = [[0.0; 4]; 4];
        for (i, j, l) in (0..64).map(|n| (n / 16, n / 4 % 4, n % 4)) {
            square[i][j] += k[i][l] * k[l][j];
        }
        let size = square.iter().flatten().fold(0.0f64, |m, v| m.max(v.abs()));
        k = square.map(|row| row.map(|v| v / size));
    }
    let best = (0..4).max_by(|&i, &j| k[i][i].total_cmp(&k[j][j])).unwrap();
    let q = DQuat::from_xyzw(k[0][best], k[1][best], k[2][best], k[3][best]).normalize();
    if gain(q) >= gain(q.inverse()) { q } else { q.inverse() }
}

/// Solves ARAP on the whole mesh like `igl::arap`, with `iterations` rounds of rotations and positions.
fn arap(
    rest: &[DVec3],
    triangles: &[[u32; 3]],
    free: &[usize],
    start: &[DVec3],
    energy: Energy,
    iterations: u32,
) -> Vec<DVec3> {
    let n = rest.len();
    let mut laplacian = vec![vec![0.0; n]; n];
    for t in triangles {
        let c = entries(rest, *t);
        for k in 0..3 {
            let (i, j) = (t[(k + 1) % 3] as usize, t[(k + 2) % 3] as usize);
            for (a, b, v) in [(i, i, 1.0), (j, j, 1.0), (i, j, -1.0), (j, i, -1.0)] {
                laplacian[a][b] += v * c[k];
            }
        }
    }
    let mut x = start.to_vec();
    for _ in 0..iterations {
        let rotations: Vec<DQuat> = (0..n)
            .map(|v| {
                let mut s = [[0.0; 3]; 3];
                let mut add = |i: usize, j: usize, w: f64| {
                    let (e, f) = (rest[i] - rest[j], x[i] - x[j]);
                    (0..9).for_each(|k| s[k / 3][k % 3] += w * e[k / 3] * f[k % 3]);
                };
                for t in triangles.iter().filter(|t| t.contains(&(v as u32))) {
                    let c = entries(rest, *t);
                    for k in 0..3 {
                        let (i, j) = (t[(k + 1) % 3] as usize, t[(k + 2) % 3] as usize);
                        if energy == Energy::SpokesAndRims || i == v || j == v {
                            add(i, j, c[k]);
                        }
                    }
                }
                rotation(s)
            })
            .collect();
        let mut b = vec![DVec3::ZERO; n];
        for t in triangles {
            let c = entries(rest, *t);
            for k in 0..3 {
                let (i, j) = (t[(k + 1) % 3] as usize, t[(k + 2) % 3] as usize);
                let e = rest[i] - rest[j];
                let turned = match energy {
                    Energy::Spokes => (rotations[i] * e + rotations[j] * e) / 2.0,
                    Energy::SpokesAndRims => {
                        t.iter().map(|&v| rotations[v as usize] * e).sum::<DVec3>() / 3.0
                    }
                };
                b[i] += turned * c[k];
                b[j] -= turned * c[k];
            }
        }
        x = vectors(&with_fixed(&laplacian, &rows(&b), &rows(&x), free));
    }
    x
}

/// Returns the 3 x 7 matrix A_i of eq. 4 for a point. The matrix maps (s, h, t) to `s v + h × v + t`.
fn point_rows(v: DVec3) -> [[f64; 7]; 3] {
    [
        [v.x, 0.0, v.z, -v.y, 1.0, 0.0, 0.0],
        [v.y, -v.z, 0.0, v.x, 0.0, 1.0, 0.0],
        [v.z, v.y, -v.x, 0.0, 0.0, 0.0, 1.0],
    ]
}

/// Solves LSE on the whole mesh from eq. 3 and 4: `Σ_i |T_i(V') δ_i - (L V')_i|²` with `(s, h, t) = (AᵀA)⁻¹ Aᵀ b`.
fn lse(rest: &[DVec3], triangles: &[[u32; 3]], free: &[usize], start: &[DVec3]) -> Vec<DVec3> {
    let n = rest.len();
    let mut normal = vec![vec![0.0; 3 * n]; 3 * n];
    for i in 0..n {
        let mut ring: Vec<usize> =
            triangles.iter().filter(|t| t.contains(&(i as u32))).flatten().map(|&v| v as usize).collect();
        ring.sort_unstable();
        ring.dedup();
        ring.retain(|&j| j != i);
        let cell: Vec<usize> = [vec![i], ring.clone()].concat();
        let degree = ring.len() as f64;
        let delta = rest[i] - ring.iter().map(|&j| rest[j]).sum::<DVec3>() / degree;
        let a: Vec<[f64; 7]> = cell.iter().flat_map(|&k| point_rows(rest[k])).collect();
        let gram: Matrix =
            (0..7).map(|p| (0..7).map(|q| a.iter().map(|r| r[p] * r[q]).sum()).collect()).collect();
        let transposed: Matrix = (0..7).map(|p| a.iter().map(|r| r[p]).collect()).collect();
        let pseudo = solve(gram, transposed);
        // T δ has no translation, because differential coordinates are differences.
        let turned = point_rows(delta);
        for row in 0..3 {
            let mut residual = vec![0.0; 3 * n];
            for (slot, &k) in cell.iter().enumerate() {
                residual[3 * k + row] += if k == i { 1.0 } else { -1.0 / degree };
                for c in 0..3 {
                    let by: f64 = (0..4).map(|p| turned[row][p] * pseudo[p][3 * slot + c]).sum();
                    residual[3 * k + c] -= by;
                }
            }
            let there: Vec<usize> = (0..3 * n).filter(|&k| residual[k] != 0.0).collect();
            for &p in &there {
                there.iter().for_each(|&q| normal[p][q] += residual[p] * residual[q]);
            }
        }
    }
    let flat: Matrix = start.iter().flat_map(|p| [vec![p.x], vec![p.y], vec![p.z]]).collect();
    let free: Vec<usize> = free.iter().flat_map(|&i| [3 * i, 3 * i + 1, 3 * i + 2]).collect();
    let solved = with_fixed(&normal, &vec![vec![0.0]; 3 * n], &flat, &free);
    solved.chunks(3).map(|c| DVec3::new(c[0][0], c[1][0], c[2][0])).collect()
}

const N: u32 = 8;

/// Rest positions, triangles, region, start positions, indices of the unknowns.
type Case = (Vec<Vec3>, Vec<[u32; 3]>, Roi, Vec<DVec3>, Vec<usize>);

fn case() -> Case {
    let (rest, triangles) = sheet(N);
    let roi = Roi::of_sheet(N);
    let start = moved(&rest, &roi.kinematic);
    let free = roi.passive.iter().map(|&v| v as usize).collect();
    (rest, triangles, roi, start, free)
}

#[test]
fn arap_agrees_with_a_dense_solver_round_by_round() {
    let (rest, triangles, roi, start, free) = case();
    for energy in [Energy::Spokes, Energy::SpokesAndRims] {
        for iterations in [1, 2, 10] {
            let options = ArapOptions { energy, iterations, tolerance: 0.0 };
            let mut own = start.clone();
            Arap::new(&rest, &triangles, &roi.lists(), options).unwrap().solve(&mut own).unwrap();
            let other = arap(&doubles(&rest), &triangles, &free, &start, energy, iterations);
            let apart = largest(&own, &other);
            assert!(apart < 1e-9, "{energy:?} after {iterations}: {apart}");
            assert!(largest(&own, &start) > 0.05, "something moved");
        }
    }
}

#[test]
fn arap_with_few_fixed_vertices_agrees_too() {
    // A region with a handle but no fixed vertices; vertices outside the region hold it.
    let (rest, triangles, _, _, _) = case();
    let kinematic = [0, 1, N, N + 1, 2 * N + 2];
    let passive: Vec<u32> = (0..60).filter(|v| !kinematic.contains(v)).collect();
    let start = moved(&rest, &kinematic);
    let free: Vec<usize> = passive.iter().map(|&v| v as usize).collect();
    for energy in [Energy::Spokes, Energy::SpokesAndRims] {
        let lists = Lists { kinematic: &kinematic, passive: &passive, fixed: &[] };
        let options = ArapOptions { energy, iterations: 5, tolerance: 0.0 };
        let mut own = start.clone();
        Arap::new(&rest, &triangles, &lists, options).unwrap().solve(&mut own).unwrap();
        let other = arap(&doubles(&rest), &triangles, &free, &start, energy, 5);
        assert!(largest(&own, &other) < 1e-9, "{energy:?}: {}", largest(&own, &other));
    }
}

#[test]
fn lse_agrees_with_a_dense_solver() {
    let (rest, triangles, roi, start, free) = case();
    let mut own = start.clone();
    Lse::new(&rest, &triangles, &roi.lists(), LseOptions { rounds: 0 }).unwrap().solve(&mut own).unwrap();
    let other = lse(&doubles(&rest), &triangles, &free, &start);
    assert!(largest(&own, &other) < 1e-8, "{}", largest(&own, &other));
    assert!(largest(&own, &start) > 0.05, "something moved");
}

#[test]
fn scale_vectors_agree_with_a_dense_solver() {
    let (rest, triangles, roi, start, free) = case();
    let (anchors, rotations, scale) = skinned(&rest);
    let mut own = start.clone();
    let mut solver = ArapScale::new(&rest, &scale, &triangles, &roi.lists()).unwrap();
    solver.solve(Skinned { rotations: &rotations, anchors: &anchors }, &mut own).unwrap();
    let n = rest.len();
    let (x, s) = (doubles(&rest), doubles(&scale));
    let (mut laplacian, mut b) = (vec![vec![0.0; n]; n], vec![DVec3::ZERO; n]);
    for t in &triangles {
        let c = entries(&x, *t);
        for k in 0..3 {
            let (i, j) = (t[(k + 1) % 3] as usize, t[(k + 2) % 3] as usize);
            for (p, q, v) in [(i, i, 1.0), (j, j, 1.0), (i, j, -1.0), (j, i, -1.0)] {
                laplacian[p][q] += v * c[k];
            }
            let turned = rotations[i] * (s[i] - s[j]) + rotations[j] * (s[i] - s[j]);
            b[i] += turned * (0.5 * c[k]);
            b[j] -= turned * (0.5 * c[k]);
        }
    }
    let given: Vec<DVec3> = start.iter().zip(&anchors).map(|(x, a)| *x - *a).collect();
    let solved = vectors(&with_fixed(&laplacian, &rows(&b), &rows(&given), &free));
    let other: Vec<DVec3> = solved.iter().zip(&anchors).map(|(s, a)| *s + *a).collect();
    assert!(largest(&own, &other) < 1e-9, "{}", largest(&own, &other));
}

/// Returns anchors, rotations and scale vectors of two bones across the sheet; the second bone is bent.
pub(super) fn skinned(rest: &[Vec3]) -> (Vec<DVec3>, Vec<DQuat>, Vec<Vec3>) {
    let bend = DQuat::from_rotation_z(0.6);
    let below = |p: &Vec3| Vec3::new(p.x, -0.3, 0.5);
    let second = |p: &Vec3| p.x > 0.5;
    let joint = DVec3::new(0.5, -0.3, 0.5);
    let anchor = |p: &Vec3| {
        let a = below(p).as_dvec3();
        if second(p) { joint + bend * (a - joint) } else { a }
    };
    let rotation = |p: &Vec3| if second(p) { bend } else { DQuat::IDENTITY };
    (
        rest.iter().map(anchor).collect(),
        rest.iter().map(rotation).collect(),
        rest.iter().map(|p| *p - below(p)).collect(),
    )
}

#[test]
fn stored_numbers() {
    let (rest, triangles, roi, start, _) = case();
    let at = [11usize, 24, 47, 59];
    let run = |solve: &mut dyn FnMut(&mut [DVec3])| {
        let mut shape = start.clone();
        solve(&mut shape);
        at.map(|v| shape[v])
    };
    let arap = |energy, iterations| {
        let options = ArapOptions { energy, iterations, tolerance: 0.0 };
        run(&mut |shape| {
            Arap::new(&rest, &triangles, &roi.lists(), options).unwrap().solve(shape).unwrap();
        })
    };
    let lse = run(&mut |shape| {
        Lse::new(&rest, &triangles, &roi.lists(), LseOptions { rounds: 0 }).unwrap().solve(shape).unwrap();
    });
    let found = [arap(Energy::Spokes, 10), arap(Energy::SpokesAndRims, 10), lse];
    for (found, stored) in found.iter().zip(STORED) {
        for (x, y) in found.iter().zip(stored) {
            assert!(x.distance(y.into()) < 1e-6, "{found:?}");
        }
    }
}

/// Results of the dense solvers above: spokes, spokes and rims, LSE. The tested solvers match them to 1e-8.
const STORED: [[[f64; 3]; 4]; 3] = [
    [
        [0.376486476, 0.068801431, 0.148739510],
        [0.946136830, 0.296840744, 0.115050909],
        [0.598481882, 0.189465592, 0.586188521],
        [0.744648500, 0.172318595, 0.595882099],
    ],
    [
        [0.322489087, 0.124542883, 0.132620303],
        [0.849861283, 0.153650429, 0.174036022],
        [0.603234388, 0.187964056, 0.586705917],
        [0.813489581, 0.171291877, 0.671271601],
    ],
    [
        [0.319972069, 0.153800548, 0.135700112],
        [0.836544843, 0.117096084, 0.213202655],
        [0.548245090, 0.149961407, 0.585746929],
        [0.855661031, 0.211090350, 0.624878145],
    ],
];
