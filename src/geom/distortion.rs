//! Distortion of a posed surface, computed from vertex positions only: neither the skeleton nor the rotations of a
//! deformation method are used.

use super::{ControlMesh, fit_rotation, half_cotangents};
use crate::base::math::{DMat3, DQuat, DVec3, Vec3};
use rayon::prelude::*;
use std::collections::BTreeMap;

/// Edges shorter than this fraction of the mean edge are ignored, because rounding errors dominate their lengths.
const SHORT: f64 = 0.01;

/// Compares poses of a mesh with its bind shape. Built once; props (rigid vertices) are excluded.
#[derive(Clone, Debug)]
pub struct Distortion {
    bind: Vec<DVec3>,
    triangles: Vec<[u32; 3]>,
    /// Weights of each triangle's edges: edge `k` lies opposite to corner `k`.
    weights: Vec<[f64; 3]>,
    /// Triangles at each vertex.
    around: Vec<Vec<u32>>,
    edges: Vec<[u32; 2]>,
    /// Triangles that share an edge with each triangle.
    beside: Vec<Vec<u32>>,
    area: f64,
}

/// Distortion of a pose.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct DistortionReport {
    /// Largest ratio, over all edges, of posed length to bind length.
    pub elongation: f64,
    /// As-rigid-as-possible energy with spokes and rims (Chao et al. 2010), divided by the area of the bind shape.
    pub energy: f64,
    /// Number of triangles that are turned over. The expected normal of a triangle is its bind normal, rotated by the
    /// mean rotation of the neighbouring triangles. A triangle is turned over if its posed normal differs from the
    /// expected normal by more than 90°.
    pub turned_over: usize,
}

impl Distortion {
    /// Prepares the comparison with a character's bind shape.
    pub fn new(control: &ControlMesh) -> Self {
        let soft = |t: &&[u32; 3]| !t.iter().any(|&v| control.rigid[v as usize]);
        let bind: Vec<DVec3> = control.positions.iter().map(|x| x.as_dvec3()).collect();
        let proper = |t: &&[u32; 3]| t[0] != t[1] && t[1] != t[2] && t[2] != t[0];
        let triangles: Vec<[u32; 3]> =
            control.triangles.iter().filter(soft).filter(proper).copied().collect();
        let corners = |t: &[u32; 3]| t.map(|v| bind[v as usize]);
        let mut around = vec![Vec::new(); bind.len()];
        let mut at_edge: BTreeMap<[u32; 2], Vec<u32>> = BTreeMap::new();
        for (t, k) in triangles.iter().zip(0u32..) {
            t.iter().for_each(|&v| around[v as usize].push(k));
            for [a, b] in [[t[0], t[1]], [t[1], t[2]], [t[2], t[0]]] {
                at_edge.entry([a.min(b), a.max(b)]).or_default().push(k);
            }
        }
        let mut beside = vec![Vec::new(); triangles.len()];
        for pair in at_edge.values().filter(|l| l.len() == 2) {
            beside[pair[0] as usize].push(pair[1]);
            beside[pair[1] as usize].push(pair[0]);
        }
        let length = |e: &[u32; 2]| bind[e[0] as usize].distance(bind[e[1] as usize]);
        let mean = at_edge.keys().map(length).sum::<f64>() / at_edge.len().max(1) as f64;
        let edges = at_edge.keys().filter(|e| length(e) > SHORT * mean).copied().collect();
        let area = |t: &[u32; 3]| {
            let [a, b, c] = corners(t);
            0.5 * (b - a).cross(c - a).length()
        };
        let weights = triangles.iter().map(|t| half_cotangents(corners(t))).collect();
        let area = triangles.iter().map(area).sum();
        Self { weights, around, edges, beside, area, triangles, bind }
    }

    /// Measures a pose. A rigid motion of the pose does not change the result.
    ///
    /// # Panics
    /// Unless there is one position per vertex.
    pub fn report(&self, positions: &[Vec3]) -> DistortionReport {
        let x: Vec<DVec3> = positions.iter().map(|x| x.as_dvec3()).collect();
        let length = |x: &[DVec3], e: &[u32; 2]| x[e[0] as usize].distance(x[e[1] as usize]);
        let elongation = self.edges.iter().map(|e| length(&x, e) / length(&self.bind, e)).fold(0.0, f64::max);
        let energy = if self.area > 0.0 { self.energy(&x) / self.area } else { 0.0 };
        DistortionReport { elongation, energy, turned_over: self.over(&x).len() }
    }

    /// Returns per vertex the largest `|l / l0 - 1|` of its edges in a pose; 0 without edges.
    ///
    /// # Panics
    /// Unless there is one position per vertex.
    pub fn strain(&self, positions: &[Vec3]) -> Vec<f32> {
        let mut out = vec![0.0f32; positions.len()];
        for e in &self.edges {
            let bind = self.bind[e[0] as usize].distance(self.bind[e[1] as usize]) as f32;
            let strain = (positions[e[0] as usize].distance(positions[e[1] as usize]) / bind - 1.0).abs();
            e.iter().for_each(|&v| out[v as usize] = out[v as usize].max(strain));
        }
        out
    }

    /// Returns `Σ_v min_R Σ w |e' - R e|²`. The inner sum runs over the edges of the triangles at vertex `v`, with bind
    /// edge `e`, posed edge `e'` and cotangent weight `w`. Every triangle counts a third at each of its vertices, so
    /// that a uniform stretch gives the membrane energy.
    fn energy(&self, x: &[DVec3]) -> f64 {
        let of = |triangles: &Vec<u32>| {
            let edges = || {
                triangles.iter().flat_map(|&t| {
                    let (t, w) = (self.triangles[t as usize], self.weights[t as usize]);
                    [[1, 2, 0], [2, 0, 1], [0, 1, 2]].map(|[a, b, opposite]| {
                        let along = |x: &[DVec3]| x[t[b] as usize] - x[t[a] as usize];
                        (along(&self.bind), along(x), w[opposite] / 3.0)
                    })
                })
            };
            let covariance = edges().fold(DMat3::ZERO, |sum, (rest, posed, w)| {
                sum + DMat3::from_cols(rest * posed.x, rest * posed.y, rest * posed.z) * w
            });
            let rotation = fit_rotation(covariance, DQuat::IDENTITY);
            edges().map(|(rest, posed, w)| w * (posed - rotation * rest).length_squared()).sum::<f64>()
        };
        self.around.par_iter().filter(|t| !t.is_empty()).map(of).collect::<Vec<f64>>().iter().sum()
    }

    /// Returns the number of triangles that are turned over; see [`DistortionReport::turned_over`].
    ///
    /// # Panics
    /// Unless there is one position per vertex.
    pub fn turned_over(&self, positions: &[Vec3]) -> usize {
        self.over(&positions.iter().map(|x| x.as_dvec3()).collect::<Vec<_>>()).len()
    }

    fn over(&self, x: &[DVec3]) -> Vec<u32> {
        let frame = |x: &[DVec3], t: &[u32; 3]| {
            let [a, b, c] = t.map(|v| x[v as usize]);
            let (along, normal) = ((b - a).try_normalize()?, (b - a).cross(c - a).try_normalize()?);
            Some(DMat3::from_cols(along, normal.cross(along), normal))
        };
        let frames: Vec<Option<(DMat3, DMat3)>> =
            self.triangles.iter().map(|t| Some((frame(&self.bind, t)?, frame(x, t)?))).collect();
        let over = |t: usize| {
            let (rest, posed) = frames[t]?;
            let beside = self.beside[t].iter().filter_map(|&o| frames[o as usize]);
            let sum = beside.fold(DMat3::ZERO, |sum, (rest, posed)| sum + posed * rest.transpose());
            let mean = fit_rotation(sum.transpose(), DQuat::IDENTITY);
            (sum != DMat3::ZERO && (mean * rest.z_axis).dot(posed.z_axis) < 0.0).then_some(t as u32)
        };
        (0..self.triangles.len()).into_par_iter().filter_map(over).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A flat grid of `n` by `n` squares.
    fn grid(n: u32) -> ControlMesh {
        let mut mesh = ControlMesh::default();
        for i in 0..=n {
            mesh.positions.extend((0..=n).map(|j| Vec3::new(i as f32, j as f32, 0.0)));
        }
        for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))) {
            let at = |i: u32, j: u32| i * (n + 1) + j;
            mesh.triangles.push([at(i, j), at(i + 1, j), at(i + 1, j + 1)]);
            mesh.triangles.push([at(i, j), at(i + 1, j + 1), at(i, j + 1)]);
        }
        mesh.rigid = vec![false; mesh.positions.len()];
        mesh
    }

    #[test]
    fn known_deformations_have_known_distortions() {
        let mesh = grid(6);
        let distortion = Distortion::new(&mesh);
        let turn = crate::base::math::Quat::from_rotation_x(2.0);
        let moved: Vec<Vec3> = mesh.positions.iter().map(|x| turn * *x + Vec3::ONE).collect();
        let rigid = distortion.report(&moved);
        assert!(rigid.energy < 1e-9 && (rigid.elongation - 1.0).abs() < 1e-6 && rigid.turned_over == 0);
        // The grid is stretched to twice its length along x. A strain of 1 has the membrane energy 1 per unit area.
        let long: Vec<Vec3> = mesh.positions.iter().map(|x| *x * Vec3::new(2.0, 1.0, 1.0)).collect();
        let long = distortion.report(&long);
        assert!((long.energy - 1.0).abs() < 1e-6 && (long.elongation - 2.0).abs() < 1e-6, "{long:?}");
        // One vertex pulled across its neighbours turns triangles over.
        let mut folded = mesh.positions.clone();
        folded[3 * 7 + 3] += Vec3::new(1.6, 0.1, 0.0);
        assert!(distortion.report(&folded).turned_over > 0);
        assert_eq!(Distortion::new(&ControlMesh::default()).report(&[]), DistortionReport::default());
    }
}
