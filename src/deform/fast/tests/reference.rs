//! As-rigid-as-possible deformation without reduction, as an independent implementation in f64. Every vertex is an
//! unknown and has its own rotation over spokes and rims.

use super::*;
use crate::base::math::DMat3;

/// The unreduced problem: rest positions, and edges with half cotangents as weights.
pub(super) struct Full {
    rest: Vec<DVec3>,
    edges: Vec<(usize, usize, f64, [usize; 3])>,
}

impl Full {
    pub fn new(made: &Made) -> Self {
        let rest: Vec<DVec3> = made.positions.iter().map(|x| x.as_dvec3()).collect();
        let mut edges = Vec::new();
        for t in &made.triangles {
            let t = t.map(|v| v as usize);
            for k in 0..3 {
                let (a, b, c) = (t[k], t[(k + 1) % 3], t[(k + 2) % 3]);
                let (u, v) = (rest[b] - rest[a], rest[c] - rest[a]);
                edges.push((b, c, 0.5 * u.dot(v) / u.cross(v).length(), t));
            }
        }
        Self { rest, edges }
    }

    fn rotations(&self, x: &[DVec3]) -> Vec<DMat3> {
        let mut s = vec![DMat3::ZERO; x.len()];
        for &(i, j, w, corners) in &self.edges {
            let (e, d) = (x[i] - x[j], self.rest[i] - self.rest[j]);
            let outer = DMat3::from_cols(e * d.x, e * d.y, e * d.z) * w;
            corners.iter().for_each(|&k| s[k] += outer);
        }
        s.into_iter().map(nearest).collect()
    }

    pub fn energy(&self, x: &[DVec3]) -> f64 {
        let r = self.rotations(x);
        let part = |&(i, j, w, corners): &(usize, usize, f64, [usize; 3])| {
            let (e, d) = (x[i] - x[j], self.rest[i] - self.rest[j]);
            corners.iter().map(|&k| w / 6.0 * (e - r[k] * d).length_squared()).sum::<f64>()
        };
        self.edges.iter().map(part).sum()
    }

    /// Alternates local and global steps while some vertices are fixed.
    fn solve(&self, fixed: &[(usize, DVec3)], rounds: usize) -> Vec<DVec3> {
        let n = self.rest.len();
        let mut x = self.rest.clone();
        fixed.iter().for_each(|&(v, at)| x[v] = at);
        let mut matrix = vec![vec![0.0; n]; n];
        for &(i, j, w, _) in &self.edges {
            matrix[i][i] += w;
            matrix[j][j] += w;
            matrix[i][j] -= w;
            matrix[j][i] -= w;
        }
        for &(v, _) in fixed {
            matrix[v].fill(0.0);
            matrix[v][v] = 1.0;
        }
        let inverse = inverse(matrix);
        for _ in 0..rounds {
            let r = self.rotations(&x);
            let mut b = vec![DVec3::ZERO; n];
            for &(i, j, w, corners) in &self.edges {
                let d = self.rest[i] - self.rest[j];
                let turned = corners.iter().map(|&k| r[k] * d).sum::<DVec3>() * (w / 3.0);
                b[i] += turned;
                b[j] -= turned;
            }
            fixed.iter().for_each(|&(v, at)| b[v] = at);
            x = inverse.iter().map(|row| row.iter().zip(&b).map(|(a, b)| *a * *b).sum()).collect();
        }
        x
    }
}

/// Returns the polar factor by Higham's iteration; all blocks have positive determinants.
pub(super) fn nearest(m: DMat3) -> DMat3 {
    let mut m = m * (1.0 / m.to_cols_array().iter().map(|v| v.abs()).fold(0.0, f64::max));
    assert!(m.determinant() > 0.0, "{m}");
    for _ in 0..60 {
        m = (m + m.inverse().transpose()) * 0.5;
    }
    m
}

fn inverse(mut a: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    let n = a.len();
    let mut out = vec![vec![0.0; n]; n];
    (0..n).for_each(|i| out[i][i] = 1.0);
    for i in 0..n {
        let best = (i..n).max_by(|&p, &q| a[p][i].abs().total_cmp(&a[q][i].abs())).unwrap();
        a.swap(i, best);
        out.swap(i, best);
        let pivot = a[i][i];
        a[i].iter_mut().chain(&mut out[i]).for_each(|v| *v /= pivot);
        let (row, of) = (a[i].clone(), out[i].clone());
        for k in (0..n).filter(|&k| k != i) {
            let f = a[k][i];
            a[k].iter_mut().zip(&row).for_each(|(v, r)| *v -= f * r);
            out[k].iter_mut().zip(&of).for_each(|(v, r)| *v -= f * r);
        }
    }
    out
}

/// Returns positions for the end vertices of a short cylinder: the lower end fixed, the upper end displaced.
pub(super) fn held(made: &Made) -> Vec<(usize, DVec3)> {
    let top = made.positions.iter().map(|x| x.y).fold(0.0, f32::max);
    let ends = made.positions.iter().enumerate().filter(|(_, x)| x.y < 1e-3 || x.y > top - 1e-3);
    let place = |x: &Vec3| {
        let x = x.as_dvec3();
        if x.y > 0.5 { turned(-0.6, DVec3::Y * 1.2).transform_point3(x) } else { x }
    };
    ends.map(|(v, x)| (v, place(x))).collect()
}

fn solved(made: &Made, params: &Params) -> (Reduced, Vec<DVec3>) {
    let reduced = made.bind(params);
    let held = held(made);
    let constraints =
        held.iter().map(|&(v, _)| Constraint::on_surface(&reduced, &made.positions, &[(v, 1.0)]));
    let constrained = reduced.constrain(constraints.collect()).unwrap();
    let mut solver = Solver::new(&reduced, &constrained);
    let targets: Vec<Target> = held.iter().map(|&(_, x)| Target::Point(x)).collect();
    solver.set_targets(&reduced, &constrained, &targets);
    for _ in 0..8 {
        solver.solve(100, Acceleration::Anderson);
    }
    let skin = made.skinned(&reduced, &solver.exact(&reduced));
    (reduced, skin)
}

fn shell() -> Params {
    Params { energy: Some(Energy::Rims), ..Params::default() }
}

/// Returns a short tube. A tube has no caps, because caps are flat.
fn small() -> Made {
    tube(2, 8, 6)
}

/// Returns a tube without caps, with a chain of bones.
pub(super) fn tube(bones: usize, sides: usize, rings: usize) -> Made {
    let bound = testing::cylinder(bones, sides, rings);
    let control = &bound.character.control;
    let n = control.positions.len() - 2;
    let mut weights = Influences::default();
    (0..n).for_each(|v| weights.push(control.influences.of(v)));
    let whole = |t: &&[u32; 3]| t.iter().all(|&v| (v as usize) < n);
    let handle = |k: usize| Handle { pivot: Vec3::Y * k as f32, parent: k.checked_sub(1) };
    Made {
        positions: control.positions[..n].to_vec(),
        triangles: control.triangles.iter().filter(whole).copied().collect(),
        weights,
        handles: (0..bones).map(handle).collect(),
    }
}

#[test]
fn a_handle_and_a_rotation_per_vertex_are_the_unreduced_deformation() {
    let mut made = small();
    let n = made.positions.len();
    made.weights = Influences::default();
    made.handles.clear();
    for (v, x) in made.positions.iter().enumerate() {
        made.weights.push([(v as u16, 1.0)]);
        made.handles.push(Handle { pivot: *x, parent: None });
    }
    let (reduced, skin) = solved(&made, &Params { clusters: n as u32, ..shell() });
    assert_eq!((reduced.clusters, reduced.handles), (n, n));
    let full = Full::new(&made);
    let expected = full.solve(&held(&made), 3000);
    let (own, best) = (full.energy(&skin), full.energy(&expected));
    assert!(best > 1e-3 && (own / best - 1.0).abs() < 1e-3, "{own} {best}");
    for (a, b) in skin.iter().zip(&expected) {
        assert!(a.distance(*b) < 3e-3, "{a} {b}");
    }
}

#[test]
fn more_clusters_come_nearer_to_a_rotation_per_vertex_step_by_step() {
    let made = small();
    let n = made.positions.len();
    let full = Full::new(&made);
    let best = full.energy(&full.solve(&held(&made), 3000));
    let energies: Vec<f64> = [1, 2, 4, 8, 16, n as u32]
        .map(|clusters| full.energy(&solved(&made, &Params { clusters, extra: 6, ..shell() }).1))
        .to_vec();
    println!("{energies:?} {best}");
    for pair in energies.windows(2) {
        assert!(pair[1] <= pair[0] * (1.0 + 1e-3), "{energies:?}");
    }
    // The remaining difference is due to the restriction to linear blend skinning.
    assert!(energies[5] >= best && energies[5] < 0.9 * energies[0], "{energies:?} {best}");
}
