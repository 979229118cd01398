//! Computes skin weights by heat diffusion for a mesh without weights.
//!
//! I. Baran, J. Popović, "Automatic rigging and animation of 3D characters", 2007, section 4. Each bone in turn is hot,
//! and all other bones are cold. Every vertex receives heat from its nearest bone only, and a nearer bone gives more
//! heat. The heat diffuses over the surface. The weights `w` of the hot bone solve `(L + M H) w = M H p`. `L` is the
//! cotangent Laplacian and `M` holds the vertex areas. `H` is `1 / d²`, where `d` is a vertex's distance to its nearest
//! bone. `p` is one for vertices whose nearest bone is the hot bone, and zero for other vertices. The weights of all
//! bones sum to one. The matrix is factored once for all bones.
//!
//! **Differs** from the paper: the vertex normal decides whether a vertex sees a bone. A vertex does not see a bone
//! that lies outside the surface. A site may also be a point of the surface, a bone without length that every vertex
//! sees. Weights up to [`LEAST`] and all but the [`MOST`] largest weights of a vertex are dropped.

mod kept;
#[cfg(test)]
mod tests;

pub use kept::kept_heat_weights;
pub(crate) use kept::kept_influences;

use crate::asset::Influences;
use crate::base::math::{DVec3, Vec3};
use crate::base::{Error, Result};
use crate::geom::{Cholesky, Columns, Entry, half_cotangents};
use rayon::prelude::*;

/// Weights up to this value are dropped.
const LEAST: f64 = 0.005;
/// Maximum influences per vertex.
const MOST: usize = 8;
/// Bones whose distances differ by less than this fraction count as equally near.
const TIE: f64 = 1e-4;
/// Minimum distance to a bone in units of the mesh size; a zero distance would give infinite heat.
const NEAREST: f64 = 2e-3;
/// A bone lies outside the surface at a vertex if the cosine of the angle between the vertex normal and the direction
/// to the bone exceeds this value.
const IN_FRONT: f64 = 0.2;
/// Number of right-hand sides solved together.
const BATCH: usize = 16;

/// A bone, or a point if head and tail are equal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HeatSite {
    /// The joint or handle that gets the weight; several sites may have the same owner.
    pub owner: u16,
    /// Start of the bone, in the same space as the mesh positions.
    pub head: Vec3,
    /// End of the bone, in the same space as the mesh positions.
    pub tail: Vec3,
}

/// Computes the weights of every vertex. The joint indices of the result are the owners of the sites. Disconnected
/// parts are solved independently.
///
/// # Errors
/// [`Error::Input`] if there are no sites, a number is not finite, an index is out of range or the matrix cannot be
/// factored.
pub fn heat_weights(positions: &[Vec3], triangles: &[[u32; 3]], sites: &[HeatSite]) -> Result<Influences> {
    let n = positions.len();
    let wrong = |problem: &str| Err(Error::input(problem, "give the mesh a skeleton that lies inside"));
    if sites.is_empty() {
        return wrong("there is no bone to weigh the mesh by");
    }
    let finite = sites.iter().all(|s| s.head.is_finite() && s.tail.is_finite());
    if !finite || positions.iter().any(|p| !p.is_finite()) {
        return wrong("a bone or a vertex is not finite");
    }
    if triangles.iter().flatten().any(|&v| v as usize >= n) {
        return wrong("a triangle names a vertex that does not exist");
    }
    let mesh = Mesh::new(positions, triangles);
    let near: Vec<Near> = (0..n).into_par_iter().map(|v| mesh.nearest(v, sites)).collect();
    let factor = mesh.factor(&near)?;
    let mut owners: Vec<u16> = near.iter().flat_map(|near| near.owners.iter().copied()).collect();
    owners.sort_unstable();
    owners.dedup();
    let mut rows: Vec<Vec<(u16, f64)>> = vec![Vec::new(); n];
    for batch in owners.chunks(BATCH) {
        let mut x = Columns::from_fn(n, batch.len(), |v, k| {
            let share = 1.0 / near[v].owners.len() as f64;
            if near[v].owners.contains(&batch[k]) { share * mesh.uptake(v, &near[v]) } else { 0.0 }
        });
        factor.solve(&mut x);
        for (k, &owner) in batch.iter().enumerate() {
            for (v, row) in rows.iter_mut().enumerate() {
                let w = x[(v, k)];
                if w.is_finite() && w > LEAST {
                    row.push((owner, w));
                }
            }
        }
    }
    let mut out = Influences::default();
    for (mut row, near) in rows.into_iter().zip(&near) {
        row.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        row.truncate(MOST);
        if row.is_empty() {
            row.push((near.owners[0], 1.0));
        }
        let sum: f64 = row.iter().map(|e| e.1).sum();
        out.push(row.into_iter().map(|(owner, w)| (owner, (w / sum) as f32)));
    }
    Ok(out)
}

/// The site nearest to a vertex, or several sites that are equally near.
struct Near {
    owners: Vec<u16>,
    /// `1 / d²`, where `d` is in units of the mesh size.
    heat: f64,
}

struct Mesh {
    positions: Vec<DVec3>,
    /// Triangles with three distinct corners, with half the cotangent at each corner.
    triangles: Vec<([usize; 3], [f64; 3])>,
    normals: Vec<DVec3>,
    area: Vec<f64>,
    center: DVec3,
    size: f64,
}

impl Mesh {
    fn new(positions: &[Vec3], triangles: &[[u32; 3]]) -> Self {
        let fold = |pick: fn(DVec3, DVec3) -> DVec3, from| {
            positions.iter().fold(from, |a: DVec3, p| pick(a, p.as_dvec3()))
        };
        let (low, high) = (fold(DVec3::min, DVec3::INFINITY), fold(DVec3::max, DVec3::NEG_INFINITY));
        let size = (high - low).length();
        let size = if size > 0.0 && size.is_finite() { size } else { 1.0 };
        let center = if positions.is_empty() { DVec3::ZERO } else { 0.5 * (low + high) };
        let positions: Vec<DVec3> = positions.iter().map(|p| (p.as_dvec3() - center) / size).collect();
        let (mut normals, mut area) = (vec![DVec3::ZERO; positions.len()], vec![0.0; positions.len()]);
        let proper = triangles.iter().filter(|t| t[0] != t[1] && t[1] != t[2] && t[2] != t[0]);
        let triangles: Vec<_> = proper
            .map(|t| {
                let corners = t.map(|v| v as usize);
                let x = corners.map(|v| positions[v]);
                let normal = 0.5 * (x[1] - x[0]).cross(x[2] - x[0]);
                for v in corners {
                    normals[v] += normal;
                    area[v] += normal.length() / 3.0;
                }
                (corners, half_cotangents(x))
            })
            .collect();
        // A lower bound on the areas, so that parts with zero area also receive some heat.
        let mean = area.iter().sum::<f64>() / area.len().max(1) as f64;
        let least = if mean > 0.0 { 1e-6 * mean } else { 1.0 };
        area.iter_mut().for_each(|a| *a = a.max(least));
        normals.iter_mut().for_each(|n| *n = n.normalize_or_zero());
        Self { positions, triangles, normals, area, center, size }
    }

    /// Returns the nearest of the sites that do not lie outside the surface. If every site lies outside, returns the
    /// nearest of all sites.
    fn nearest(&self, v: usize, sites: &[HeatSite]) -> Near {
        let (x, normal) = (self.positions[v], self.normals[v]);
        let model = |p: Vec3| (p.as_dvec3() - self.center) / self.size;
        let measured: Vec<(f64, bool)> = sites
            .iter()
            .map(|site| {
                let (head, tail) = (model(site.head), model(site.tail));
                let along = tail - head;
                let t = ((x - head).dot(along) / along.length_squared()).clamp(0.0, 1.0);
                let there = if t.is_finite() { head + t * along } else { head };
                let way = there - x;
                let seen = site.head == site.tail || way.dot(normal) <= IN_FRONT * way.length();
                (way.length().max(NEAREST), seen)
            })
            .collect();
        let any = measured.iter().any(|m| m.1);
        let usable = |m: &(f64, bool)| m.1 || !any;
        let least = measured.iter().filter(|m| usable(m)).map(|m| m.0).fold(f64::INFINITY, f64::min);
        let near = sites.iter().zip(&measured).filter(|(_, m)| usable(m) && m.0 <= least * (1.0 + TIE));
        let mut owners: Vec<u16> = near.map(|(s, _)| s.owner).collect();
        owners.sort_unstable();
        owners.dedup();
        Near { owners, heat: 1.0 / (least * least) }
    }

    /// Returns the diagonal element of `M H` for a vertex.
    fn uptake(&self, v: usize, near: &Near) -> f64 {
        self.area[v] * near.heat
    }

    /// Returns the Cholesky factor of `L + M H`.
    fn factor(&self, near: &[Near]) -> Result<Cholesky> {
        let n = self.positions.len();
        let mut entries: Vec<Entry> = Vec::with_capacity(n + 9 * self.triangles.len());
        entries.extend((0..n).map(|v| Entry::new(v, v, self.uptake(v, &near[v]))));
        for (corners, weights) in &self.triangles {
            for k in 0..3 {
                let (a, b) = (corners[(k + 1) % 3], corners[(k + 2) % 3]);
                let w = weights[k];
                entries.push(Entry::new(a, a, w));
                entries.push(Entry::new(b, b, w));
                entries.push(Entry::new(a.max(b), a.min(b), -w));
            }
        }
        Cholesky::new(n, &entries, "the mesh's heat matrix", "repair the mesh's degenerate triangles")
    }
}
