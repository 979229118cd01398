//! The as-rigid-as-possible energy of a flat mesh over the positions of all vertices, for comparison with FAST: figures
//! 6 and 7 of the FAST paper.
//!
//! Jacobson et al. 2012, equation 4 with one rotation in the plane per triangle (Liu et al. 2008) or per cluster of
//! triangles (section 3.2). The x and y of a vertex are the unknowns; z is not used.

use crate::base::Result;
use crate::base::math::{DVec2, DVec3, Vec3};
use crate::geom::{Cholesky, Entry, half_cotangents};

/// Limit of a step, relative to the size of the mesh, below which [`Unreduced::solve`] stops.
const ENOUGH: f64 = 1e-7;

/// A flat mesh with the clusters of its triangles.
pub(super) struct Unreduced {
    rest: Vec<DVec2>,
    triangles: Vec<[u32; 3]>,
    /// Half the cotangents of the triangles' corners.
    weights: Vec<[f64; 3]>,
    cluster: Vec<usize>,
}

impl Unreduced {
    /// Takes one rotation per triangle.
    pub fn new(positions: &[Vec3], triangles: &[[u32; 3]]) -> Self {
        let of = |t: &[u32; 3]| half_cotangents(t.map(|v| positions[v as usize].as_dvec3()));
        Self {
            rest: positions.iter().map(|p| p.truncate().as_dvec2()).collect(),
            weights: triangles.iter().map(of).collect(),
            triangles: triangles.to_vec(),
            cluster: (0..triangles.len()).collect(),
        }
    }

    /// Takes one rotation per cluster; `cluster` returns the cluster of a triangle.
    pub fn clustered(mut self, cluster: impl Fn(&[u32; 3]) -> usize) -> Self {
        self.cluster = self.triangles.iter().map(cluster).collect();
        self
    }

    /// Calls `act` with the triangle, the vertices and the weight of every edge.
    fn edges(&self, mut act: impl FnMut(usize, usize, usize, f64)) {
        for (t, (corners, weights)) in self.triangles.iter().zip(&self.weights).enumerate() {
            for k in 0..3 {
                act(t, corners[(k + 1) % 3] as usize, corners[(k + 2) % 3] as usize, weights[k]);
            }
        }
    }

    /// Returns the rotations that fit a shape best, as unit complex numbers per cluster.
    fn rotations(&self, x: &[DVec2]) -> Vec<DVec2> {
        let mut out = vec![DVec2::ZERO; self.cluster.iter().max().map_or(0, |k| k + 1)];
        self.edges(|t, i, j, weight| {
            let (a, b) = (self.rest[i] - self.rest[j], x[i] - x[j]);
            out[self.cluster[t]] += weight * DVec2::new(a.dot(b), a.perp_dot(b));
        });
        out.iter().map(|r| r.try_normalize().unwrap_or(DVec2::X)).collect()
    }

    /// Returns the energy of a shape with the best rotations, square metres.
    pub fn energy(&self, x: &[Vec3]) -> f64 {
        let x: Vec<DVec2> = x.iter().map(|p| p.truncate().as_dvec2()).collect();
        let rotations = self.rotations(&x);
        let mut sum = 0.0;
        self.edges(|t, i, j, weight| {
            let wanted = rotations[self.cluster[t]].rotate(self.rest[i] - self.rest[j]);
            sum += 0.5 * weight * (x[i] - x[j] - wanted).length_squared();
        });
        sum
    }

    /// Returns the angle by which a shape rotates each vertex, radians: of the mean rotation of its triangles.
    pub fn angles(&self, x: &[Vec3]) -> Vec<f64> {
        let x: Vec<DVec2> = x.iter().map(|p| p.truncate().as_dvec2()).collect();
        let mut own = vec![DVec2::ZERO; self.triangles.len()];
        self.edges(|t, i, j, weight| {
            let (a, b) = (self.rest[i] - self.rest[j], x[i] - x[j]);
            own[t] += weight * DVec2::new(a.dot(b), a.perp_dot(b));
        });
        let mut out = vec![DVec2::ZERO; x.len()];
        for (t, turn) in self.triangles.iter().zip(own) {
            t.iter().for_each(|&v| out[v as usize] += turn.try_normalize().unwrap_or(DVec2::X));
        }
        out.iter().map(|r| r.to_angle()).collect()
    }

    /// Alternates local and global steps from the shape `x`, in which the vertices `held` stay in place.
    ///
    /// # Errors
    /// The errors of the factorisation.
    pub fn solve(&self, held: &[u32], x: &mut [Vec3], rounds: u32) -> Result<()> {
        let mut unknown = vec![Some(0usize); x.len()];
        held.iter().for_each(|&v| unknown[v as usize] = None);
        let mut count = 0;
        for of in unknown.iter_mut().flatten() {
            *of = count;
            count += 1;
        }
        let mut entries = Vec::new();
        self.edges(|_, i, j, weight| {
            [unknown[i], unknown[j]]
                .into_iter()
                .flatten()
                .for_each(|u| entries.push(Entry::new(u, u, weight)));
            if let (Some(a), Some(b)) = (unknown[i], unknown[j]) {
                entries.push(Entry::new(a.max(b), a.min(b), -weight));
            }
        });
        let factor = Cholesky::new(count, &entries, "the mesh's matrix", "repair its degenerate triangles")?;
        let mut now: Vec<DVec2> = x.iter().map(|p| p.truncate().as_dvec2()).collect();
        let size = now.iter().fold(0.0, |m: f64, p| m.max(p.length()));
        for _ in 0..rounds {
            let rotations = self.rotations(&now);
            let mut right = vec![DVec3::ZERO; count];
            self.edges(|t, i, j, weight| {
                let wanted = weight * rotations[self.cluster[t]].rotate(self.rest[i] - self.rest[j]);
                for (own, other, wanted) in [(i, j, wanted), (j, i, -wanted)] {
                    let Some(u) = unknown[own] else { continue };
                    let fixed = if unknown[other].is_none() { weight * now[other] } else { DVec2::ZERO };
                    right[u] += (wanted + fixed).extend(0.0);
                }
            });
            factor.solve_vectors(&mut right);
            let mut moved: f64 = 0.0;
            for (own, p) in unknown.iter().zip(&mut now) {
                if let Some(u) = own {
                    let new = right[*u].truncate();
                    moved = moved.max(new.distance(*p));
                    *p = new;
                }
            }
            if moved <= ENOUGH * size {
                break;
            }
        }
        x.iter_mut().zip(&now).for_each(|(x, p)| *x = p.as_vec2().extend(x.z));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::sheet::{capsule, sheet};
    use super::*;

    /// A rigid motion costs nothing, and is found from its two held ends; a stretched sheet costs the least energy.
    #[test]
    fn held_ends_that_move_rigidly_move_everything_rigidly() {
        let (positions, triangles) = sheet(&|p| capsule(p, DVec2::ZERO, DVec2::X, 0.3), [-0.4, 1.4], 0.1);
        let held: Vec<u32> =
            (0..positions.len() as u32).filter(|&v| !(0.0..1.0).contains(&positions[v as usize].x)).collect();
        let turned = |p: Vec3| Vec3::new(-p.y, p.x, 0.0) + Vec3::new(0.2, 0.1, 0.0);
        let mut x = positions.clone();
        held.iter().for_each(|&v| x[v as usize] = turned(positions[v as usize]));
        let mesh = Unreduced::new(&positions, &triangles);
        mesh.solve(&held, &mut x, 2000).unwrap();
        let off = x.iter().zip(&positions).map(|(a, p)| a.distance(turned(*p))).fold(0.0, f32::max);
        assert!(off < 1e-4 && mesh.energy(&x) < 1e-8, "{off}");
        assert!(mesh.angles(&x).iter().all(|a| (a - std::f64::consts::FRAC_PI_2).abs() < 1e-3));
        let mut stretched = positions.clone();
        held.iter().for_each(|&v| stretched[v as usize].x += 0.3 * positions[v as usize].x.signum());
        let start = mesh.energy(&stretched);
        let one = Unreduced::new(&positions, &triangles).clustered(|_| 0);
        let mut other = stretched.clone();
        mesh.solve(&held, &mut stretched, 200).unwrap();
        one.solve(&held, &mut other, 200).unwrap();
        let [least, clustered] = [&stretched, &other].map(|x| mesh.energy(x));
        assert!(least > 0.0 && least < 0.5 * start && clustered >= least, "{start} {least} {clustered}");
    }
}
