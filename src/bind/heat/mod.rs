//! Weights by heat for a mesh that has none.
//!
//! I. Baran, J. Popović, "Automatic rigging and animation of 3D characters", 2007, section 4. Each bone in
//! turn is hot and all others are cold. Every vertex takes up the heat of its nearest bone, the faster the
//! nearer it is, and heat flows over the surface: `(L + M H) w = M H p`, with the cotangent Laplacian `L`,
//! vertex areas `M`, `H = 1 / d²`, and `p` one where the bone is the nearest. The weights of all bones sum
//! to one. The matrix is factored once for all bones.
//!
//! (differs) Whether a vertex sees a bone is decided by its normal: the bone must not lie in front of the skin. A point of
//! the surface is a bone without length, which every vertex sees. Weights below [`LEAST`] and beyond the [`MOST`]
//! heaviest are dropped.

mod kept;
#[cfg(test)]
mod tests;

pub use kept::kept_heat_weights;

use crate::asset::Influences;
use crate::base::math::{DVec3, Vec3};
use crate::base::{Error, Result};
use crate::geom::{Cholesky, Columns, Entry, half_cotangents};
use rayon::prelude::*;

/// Weights below this are dropped.
const LEAST: f64 = 0.005;
/// Maximum influences per vertex.
const MOST: usize = 8;
/// Bones whose distances differ by less than this fraction are equally near.
const TIE: f64 = 1e-4;
/// Minimum distance to a bone, relative to the size of the mesh: at zero distance the heat would be infinite.
const NEAREST: f64 = 2e-3;
/// Cosine above which a bone lies in front of the skin.
const IN_FRONT: f64 = 0.2;
/// Number of right sides solved together.
const BATCH: usize = 16;

/// A bone, or a point if both ends are equal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HeatSite {
    /// The joint or handle that gets the weight; several sites may have one owner.
    pub owner: u16,
    /// Start of the bone, in the space of the positions.
    pub head: Vec3,
    /// End of the bone.
    pub tail: Vec3,
}

/// Weights over the sites' owners for every vertex. Disconnected parts of a mesh are solved independently.
///
/// # Errors
/// [`Error::Input`] without sites, for numbers that are not finite, indices beyond the vertices,
/// or a matrix that cannot be factored.
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

/// The nearest sites of a vertex.
struct Near {
    owners: Vec<u16>,
    /// `1 / d²` for a mesh of size one.
    heat: f64,
}

struct Mesh {
    positions: Vec<DVec3>,
    /// Proper triangles with half their cotangents.
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
        // A part with zero area must take up some heat too.
        let mean = area.iter().sum::<f64>() / area.len().max(1) as f64;
        let least = if mean > 0.0 { 1e-6 * mean } else { 1.0 };
        area.iter_mut().for_each(|a| *a = a.max(least));
        normals.iter_mut().for_each(|n| *n = n.normalize_or_zero());
        Self { positions, triangles, normals, area, center, size }
    }

    /// The nearest of the sites that do not lie in front of the skin; of all sites if every one does.
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

    /// `M H` of a vertex.
    fn uptake(&self, v: usize, near: &Near) -> f64 {
        self.area[v] * near.heat
    }

    /// The factor of `L + M H`.
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
