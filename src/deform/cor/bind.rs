//! Centres of rotation (Le & Hodgins 2016, equations 1 and 4).

use crate::base::math::{DVec3, Vec3};
use crate::deform::rest::SkinCage;
use crate::geom::ControlMesh;
use rayon::prelude::*;
use std::collections::BTreeMap;

/// Width `σ` of the similarity kernel (0.1 in the paper's section 4).
pub const SIGMA: f64 = 0.1;

/// Cells per unit of weight in the quadrature. A cell is 0.16 σ wide, and the grouping error is proportional to the
/// square of this width.
const CELLS: f64 = 64.0;

/// One sample of the integral: all triangles with nearly equal weights for one pair of joints.
#[derive(Clone, Copy, Default)]
struct Cell {
    /// Sum over triangles of `area w_j w_k`.
    mass: f64,
    /// Sum over triangles of mass times the mean value of the corners.
    moment: DVec3,
    /// Mass-weighted mean weight of the first joint.
    first: f64,
    /// Mass-weighted mean weight of the second joint.
    second: f64,
}

type Pair = (u16, u16);

/// Returns the centre of rotation of each control vertex, bind space, metres: the mean of the triangle centres,
/// weighted by area and by the similarity of weights (equation 1),
/// `s(p, v) = Σ_{j≠k} w_pj w_pk w_vj w_vk exp(-((w_pj w_vk - w_pk w_vj) / σ)²)`.
///
/// A vertex with a single joint or without similar triangles has its own position as the centre, which gives plain
/// LBS. **(differs)** The integral is a sum over pairs of joints, and each term depends on only two weights.
/// Triangles are therefore grouped by these two weights into cells of width 1/64, so the binding time is linear in
/// the mesh size. The paper searches for similar vertices instead.
pub fn centers(control: &ControlMesh) -> Vec<Vec3> {
    centers_of(control, &control.positions)
}

/// The coordinates of the centres of rotation in a cage, from those of the skin: the product of equation 14 of Corda et al.
/// 2020. The areas of the triangles stay those of the file's rest shape.
pub fn center_coordinates(control: &ControlMesh, skin: &SkinCage) -> SkinCage {
    let (count, cage) = (control.positions.len(), skin.cage);
    let mut rows = vec![0.0; skin.rows.len()];
    // Three columns at a time are the components of a position.
    for first in (0..cage).step_by(3) {
        let columns = first..cage.min(first + 3);
        let values: Vec<Vec3> = (0..count)
            .map(|v| {
                let value = |k: usize| skin.rows[v * cage + k];
                let mut out = [0.0; 3];
                columns.clone().zip(&mut out).for_each(|(k, out)| *out = value(k));
                out.into()
            })
            .collect();
        for (v, center) in centers_of(control, &values).into_iter().enumerate() {
            for (k, value) in columns.clone().zip(center.to_array()) {
                rows[v * cage + k] = value;
            }
        }
    }
    SkinCage { cage, rows }
}

/// Averages values of the vertices as equation 1 averages positions.
fn centers_of(control: &ControlMesh, values: &[Vec3]) -> Vec<Vec3> {
    let pairs = gather(control, values);
    let one = |vertex: usize| -> Vec3 {
        let own = values[vertex];
        let weights: Vec<(u16, f32)> = control.influences.of(vertex).collect();
        let (mut mass, mut moment) = (0.0, DVec3::ZERO);
        for (a, b) in unordered(&weights) {
            let (a, b) = if a.0 < b.0 { (a, b) } else { (b, a) };
            let Some(cells) = pairs.get(&(a.0, b.0)) else { continue };
            let (wa, wb) = (f64::from(a.1), f64::from(b.1));
            for cell in cells {
                let apart = (wa * cell.second - wb * cell.first) / SIGMA;
                let similarity = wa * wb * (-apart * apart).exp();
                mass += similarity * cell.mass;
                moment += similarity * cell.moment;
            }
        }
        // If even the most similar triangles are very dissimilar, the sums underflow.
        if mass > 1e-300 { (moment / mass).as_vec3() } else { own }
    };
    (0..control.positions.len()).into_par_iter().map(one).collect()
}

/// Groups all triangles by pair of joints and by weights.
fn gather(control: &ControlMesh, values: &[Vec3]) -> BTreeMap<Pair, Vec<Cell>> {
    // Areas are relative to the model's size, which cancels in the quotient and prevents underflow.
    let unit = f64::from(control.aabb.diagonal()).max(1e-30);
    let mut cells: BTreeMap<(Pair, u32), Cell> = BTreeMap::new();
    let mut mean: Vec<(u16, f32)> = Vec::new();
    for triangle in &control.triangles {
        let [a, b, c] = triangle.map(|v| control.positions[v as usize].as_dvec3() / unit);
        let area = (b - a).cross(c - a).length() * 0.5;
        if area.is_nan() || area <= 0.0 {
            continue;
        }
        let [a, b, c] = triangle.map(|v| values[v as usize].as_dvec3() / unit);
        let center = (a + b + c) * (unit / 3.0);
        mean.clear();
        for &v in triangle {
            for (joint, weight) in control.influences.of(v as usize) {
                match mean.iter_mut().find(|(j, _)| *j == joint) {
                    Some((_, sum)) => *sum += weight / 3.0,
                    None => mean.push((joint, weight / 3.0)),
                }
            }
        }
        mean.sort_unstable_by_key(|&(joint, _)| joint);
        for (j, k) in unordered(&mean) {
            let (wj, wk) = (f64::from(j.1), f64::from(k.1));
            let index = (wj * CELLS) as u32 * 1024 + (wk * CELLS) as u32;
            let cell = cells.entry(((j.0, k.0), index)).or_default();
            let mass = area * wj * wk;
            if mass > 0.0 {
                cell.mass += mass;
                cell.moment += mass * center;
                cell.first += mass * wj;
                cell.second += mass * wk;
            }
        }
    }
    let mut pairs: BTreeMap<Pair, Vec<Cell>> = BTreeMap::new();
    for ((pair, _), mut cell) in cells {
        if cell.mass > 0.0 {
            cell.first /= cell.mass;
            cell.second /= cell.mass;
            pairs.entry(pair).or_default().push(cell);
        }
    }
    pairs
}

fn unordered(list: &[(u16, f32)]) -> impl Iterator<Item = ((u16, f32), (u16, f32))> + '_ {
    list.iter().enumerate().flat_map(|(i, &a)| list[i + 1..].iter().map(move |&b| (a, b)))
}
