//! Tests of the volume energy against an independent integration.

use super::reference::{Full, held, nearest, tube};
use super::*;
use crate::base::math::DMat3;
use crate::deform::fast::bind::{SKIN, normalized};
use crate::deform::fast::energy::{Element, cube, triangle};
use crate::deform::fast::inside::Inside;
use crate::deform::fast::weights::own_weights;
use crate::geom::Cell;

/// Returns `½ ∫ |∇x' - R|²` over a full cube and the covariance `∫ ∇x'`, by Gauss quadrature with two points per
/// axis. `rest` and `x` are the corners at rest and deformed.
fn integrated(rest: &[DVec3; 8], x: &[DVec3; 8], rotation: DMat3) -> (f64, DMat3) {
    let size = rest[1].distance(rest[0]);
    let axes = [rest[1] - rest[0], rest[2] - rest[0], rest[4] - rest[0]].map(|a| a / size);
    let (mut energy, mut covariance) = (0.0, DMat3::ZERO);
    for g in 0..8usize {
        let t: [f64; 3] = std::array::from_fn(|k| 0.5 + [-0.5, 0.5][g >> k & 1] / 3.0f64.sqrt());
        let mut gradient = DMat3::ZERO;
        for (corner, x) in x.iter().enumerate() {
            let (mut slope, mut along) = ([0.0; 3], DVec3::ZERO);
            for k in 0..3 {
                let factor = |d: usize| match (d == k, corner >> d & 1 == 1) {
                    (true, high) => {
                        if high {
                            1.0
                        } else {
                            -1.0
                        }
                    }
                    (false, true) => t[d],
                    (false, false) => 1.0 - t[d],
                };
                slope[k] = (0..3).map(factor).product::<f64>() / size;
                along += axes[k] * slope[k];
            }
            gradient += DMat3::from_cols(*x * along.x, *x * along.y, *x * along.z);
        }
        let off = gradient - rotation;
        let square: f64 = off.to_cols_array().iter().map(|v| v * v).sum();
        energy += 0.5 * square * size.powi(3) / 8.0;
        covariance += gradient * (size.powi(3) / 8.0);
    }
    (energy, covariance)
}

fn corners(of: &[DVec3], cell: &Cell) -> [DVec3; 8] {
    cell.corners.map(|n| of[n as usize])
}

/// Returns the same energy from an element's Laplacian: `½ tr(D'ᵀ L D')` for differences `D' = x' - R x`.
fn by_laplacian(element: &Element, rest: &[DVec3], x: &[DVec3], rotation: DMat3) -> f64 {
    let off: Vec<DVec3> =
        element.corners().iter().map(|&v| x[v as usize] - rotation * rest[v as usize]).collect();
    let row = |i: usize| -> DVec3 { (0..off.len()).map(|j| element.laplacian(i)[j] * off[j]).sum() };
    0.5 * (0..off.len()).map(|i| off[i].dot(row(i))).sum::<f64>()
}

#[test]
fn a_cubes_edges_are_the_integral_over_it() {
    let rest: [DVec3; 8] =
        std::array::from_fn(|c| DVec3::new((c & 1) as f64, (c >> 1 & 1) as f64, (c >> 2) as f64) * 0.3);
    let x: [DVec3; 8] = std::array::from_fn(|c| {
        let s = |k: usize| (1.7 * (3 * c + k) as f64).sin() * 0.2;
        rest[c] + DVec3::new(s(0), s(1), s(2))
    });
    let cell = Cell { corners: [0, 1, 2, 3, 4, 5, 6, 7], fill: 0.5 };
    let element = cube(&cell, 0.3, 0);
    let rotation = DMat3::from_rotation_y(0.7);
    let (energy, _) = integrated(&rest, &x, rotation);
    assert!((by_laplacian(&element, &rest, &x, rotation) - 0.5 * energy).abs() < 1e-12);
    // The measure of a cube at rest is three times its filled volume.
    assert!((element.measure(&rest) - 3.0 * 0.5 * 0.027).abs() < 1e-12);
    let flat = triangle(&rest, &[0, 1, 2], 2.0).unwrap();
    assert!((flat.measure(&rest) - 2.0 * 2.0 * 0.045).abs() < 1e-12, "twice the area, twice as stiff");
    assert!(triangle(&rest, &[0, 1, 1], 1.0).is_none());
}

/// A tube and the number of cubes that fill it.
struct Filled {
    made: Made,
    cubes: f64,
}

impl Filled {
    fn new() -> Self {
        Self { made: tube(3, 8, 15), cubes: 80.0 }
    }

    fn inside(&self) -> (Inside, f64) {
        let (positions, _, size) = normalized(&self.made.positions);
        let own = own_weights(&self.made.weights);
        (Inside::of(&positions, &self.made.triangles, &own, |handle| handle, self.cubes).0.unwrap(), size)
    }

    /// Returns the unreduced energy (model size one) of the solved tube, with optimal rotations for cubes and shell,
    /// and the energy that the solver reports.
    fn solved(&self, params: &Params) -> (f64, f64, Reduced) {
        let reduced = Reduced::filled(&self.made.shape(), params, self.cubes).unwrap();
        let held = held(&self.made);
        let on =
            |&(v, _): &(usize, DVec3)| Constraint::on_surface(&reduced, &self.made.positions, &[(v, 1.0)]);
        let constrained = reduced.constrain(held.iter().map(on).collect()).unwrap();
        let mut solver = Solver::new(&reduced, &constrained);
        let targets: Vec<Target> = held.iter().map(|&(_, x)| Target::Point(x)).collect();
        solver.set_targets(&reduced, &constrained, &targets);
        for _ in 0..10 {
            solver.solve(100, Acceleration::Anderson);
        }
        let (inside, _) = self.inside();
        let rows = solver.model_transforms();
        let map = |j: usize, x: DVec3| {
            let row = |d: usize| DVec3::from_slice(rows.row(4 * j + d));
            row(0) * x.x + row(1) * x.y + row(2) * x.z + row(3)
        };
        // Uses only the given handles; abstract handles also have weights inside.
        let x: Vec<DVec3> = (0..inside.nodes.len())
            .map(|n| inside.weights.of(n).map(|(j, w)| w * map(j, inside.nodes[n])).sum())
            .collect();
        let part = |cell: &Cell| {
            let (rest, x) = (corners(&inside.nodes, cell), corners(&x, cell));
            let rotation = nearest(integrated(&rest, &x, DMat3::ZERO).1);
            cell.fill * integrated(&rest, &x, rotation).0
        };
        let cubes: f64 = inside.cells.iter().map(part).sum();
        let skin = self.made.skinned(&reduced, &solver.exact(&reduced));
        let skin = SKIN * inside.size * Full::new(&self.made).energy(&skin) / reduced.size.powi(2);
        (cubes + skin, solver.energy(&reduced), reduced)
    }
}

#[test]
fn the_inside_is_filled_and_its_weights_are_those_of_the_skin_around() {
    let filled = Filled { made: tube(3, 12, 36), cubes: 3000.0 };
    let (inside, size) = filled.inside();
    let volume: f64 = inside.cells.iter().map(|c| c.fill * (inside.size * size).powi(3)).sum();
    let low = filled.made.positions.iter().map(|x| x.y).fold(f32::INFINITY, f32::min);
    let high = filled.made.positions.iter().map(|x| x.y).fold(0.0, f32::max);
    let radius = filled.made.positions.iter().map(|x| x.x).fold(0.0, f32::max);
    // The cross-section has twelve sides.
    let section = 6.0 * f64::from(radius).powi(2) * (std::f64::consts::TAU / 12.0).sin();
    let expected = section * f64::from(high - low);
    assert!((volume / expected - 1.0).abs() < 0.02, "{volume} {expected}");
    assert!(inside.cells.iter().all(|c| c.fill > 0.0 && c.fill < 1.0 + 1e-9));
    // At one height, weights are equal from the surface to the axis.
    let (positions, ..) = normalized(&filled.made.positions);
    let own = own_weights(&filled.made.weights);
    for (n, x) in inside.nodes.iter().enumerate() {
        let sum: f64 = inside.weights.of(n).map(|(_, w)| w).sum();
        assert!((sum - 1.0).abs() < 1e-6);
        let off = |v: usize| (positions[v].y - x.y).abs();
        let beside = (0..positions.len()).min_by(|&a, &b| off(a).total_cmp(&off(b))).unwrap();
        let of = |w: &Weights, v: usize, j: usize| w.of(v).find(|e| e.0 == j).map_or(0.0, |e| e.1);
        for j in 0..3 {
            let (a, b) = (of(&inside.weights, n, j), of(&own, beside, j));
            assert!((a - b).abs() < 0.12, "{x}: {a} {b}");
        }
    }
}

#[test]
fn with_more_clusters_the_energy_is_the_unreduced_one_step_by_step() {
    let filled = Filled::new();
    let counts = [1, 2, 4, 8, 24, 10_000];
    let all: Vec<(f64, f64, Reduced)> =
        counts.iter().map(|&clusters| filled.solved(&Params { clusters, ..Params::default() })).collect();
    let cells = filled.inside().0.cells.len();
    let last = &all[5].2;
    assert_eq!(
        (last.energy, last.parts.cubes, last.clusters),
        (Energy::Volume, cells, cells + filled.made.positions.len())
    );
    let energies: Vec<f64> = all.iter().map(|a| a.0).collect();
    println!("{energies:?} {}", all[5].1);
    for pair in energies.windows(2) {
        assert!(pair[1] <= pair[0] * (1.0 + 1e-3), "{energies:?}");
    }
    assert!(energies[5] < 0.95 * energies[0], "{energies:?}");
    // With one rotation per cube and vertex, the solver's energy is the integral plus small terms.
    assert!((all[5].1 / energies[5] - 1.0).abs() < 0.01, "{} {energies:?}", all[5].1);
}

#[test]
fn what_is_open_stays_a_shell_and_limbs_in_one_cube_stay_apart() {
    // A cylinder and a sheet beside it.
    let mut made = cylinder(2);
    let n = made.positions.len() as u32;
    made.positions.extend([Vec3::new(2.0, 0.0, 0.0), Vec3::new(3.0, 0.0, 0.0), Vec3::new(2.0, 1.0, 0.3)]);
    made.triangles.push([n, n + 1, n + 2]);
    (0..3).for_each(|_| made.weights.push([(1, 1.0)]));
    let reduced = made.bind(&Params::default());
    assert_eq!((reduced.energy, reduced.parts.all, reduced.parts.open), (Energy::Volume, 2, 1));
    made.triangles.retain(|t| t.contains(&n));
    let reduced = made.bind(&Params { energy: Some(Energy::Volume), ..Params::default() });
    assert_eq!((reduced.energy, reduced.parts.cubes, reduced.parts.open), (Energy::Rims, 0, 1));

    // Two cylinders a tenth of a cube apart. No cube corner has weights of both.
    let mut two = cylinder(1);
    let radius = two.positions.iter().map(|x| x.x).fold(0.0, f32::max);
    let n = two.positions.len() as u32;
    let gap = 2.1 * radius;
    two.positions.extend(two.positions.clone().iter().map(|x| *x + Vec3::X * gap));
    two.triangles.extend(two.triangles.clone().iter().map(|t| t.map(|v| v + n)));
    (0..n).for_each(|_| two.weights.push([(1, 1.0)]));
    let (positions, ..) = normalized(&two.positions);
    let own = own_weights(&two.weights);
    let (inside, parts) = Inside::of(&positions, &two.triangles, &own, |handle| handle, 60.0);
    let inside = inside.unwrap();
    assert!(parts.open == 0 && inside.size > 0.1 * f64::from(radius));
    for n in 0..inside.nodes.len() {
        assert_eq!(inside.weights.of(n).count(), 1, "{}", inside.nodes[n]);
    }
}

#[test]
fn a_twisted_bar_keeps_its_thickness_and_has_no_ripples() {
    // Between the handles, a circular cylinder twists without a change of radius.
    let bound = testing::cylinder(2, 16, 96);
    let control = &bound.character.control;
    let made = Made {
        positions: control.positions.clone(),
        triangles: control.triangles.clone(),
        weights: control.influences.clone(),
        handles: vec![Handle { pivot: Vec3::ZERO, parent: None }, Handle { pivot: Vec3::Y, parent: Some(0) }],
    };
    let twisted = |params: Params| {
        let reduced = made.bind(&Params { clusters: 80, ..params });
        let ends = (0..2).map(|handle| Constraint::Full { handle }).collect();
        let constrained = reduced.constrain(ends).unwrap();
        let mut solver = Solver::new(&reduced, &constrained);
        let turn = DAffine3::from_quat(DQuat::from_rotation_y(110f64.to_radians()));
        solver.set_targets(&reduced, &constrained, &[Target::Map(DAffine3::IDENTITY), Target::Map(turn)]);
        solver.solve(400, Acceleration::Anderson);
        let skin = made.skinned(&reduced, &solver.exact(&reduced));
        let radius = |r: usize| skin[16 * r].x.hypot(skin[16 * r].z) / 0.25;
        let profile: Vec<f64> = (0..=96).map(radius).collect();
        let thinnest = profile.iter().copied().fold(1.0, f64::min);
        let bends = profile.windows(3).map(|w| (w[0] - 2.0 * w[1] + w[2]).powi(2)).sum::<f64>();
        (thinnest, (bends / 97.0).sqrt())
    };
    for extra in [15, 30] {
        let (shell, _) = twisted(Params { extra, energy: Some(Energy::Rims), ..Params::default() });
        let (volume, ripples) = twisted(Params { extra, ..Params::default() });
        println!("{extra}: thinnest {shell} {volume}, ripples {ripples}");
        assert!(volume > 0.9 && 1.0 - volume < 0.6 * (1.0 - shell), "{extra}: {shell} {volume}");
        assert!(ripples < 8e-3, "{extra}: {ripples}");
    }
    let (skinned, _) = twisted(Params::default());
    assert!(skinned < 0.65, "{skinned}");
}
