//! Weights for a mesh that has none, by heat.
//!
//! I. Baran, J. Popović, "Automatic rigging and animation of 3D characters", 2007, section 4: each bone in turn is hot and
//! all others cold, every vertex takes up the heat of the bone nearest to it the faster the nearer it is, and heat flows
//! over the surface: `(L + M H) w = M H p`, with the cotangent Laplacian `L`, vertices' areas `M`, `H = 1 / d²` and `p` one
//! where the bone is the nearest. The weights of all bones sum to one. The matrix is factored once for all bones.
//!
//! (differs) Whether a vertex sees a bone is told by its normal: the bone must not lie in front of the skin. A point of
//! the surface is a bone without length, which every vertex sees. Weights below [`LEAST`] and beyond the [`MOST`]
//! heaviest are dropped.

use super::cache::{Cache, Key};
use crate::asset::Influences;
use crate::base::math::{DVec3, Vec3};
use crate::base::{Error, Result};
use crate::geom::half_cotangents;
use faer::linalg::solvers::Solve;
use faer::sparse::linalg::solvers::Llt;
use faer::sparse::{SparseColMat, Triplet};
use faer::{Mat, Side};
use rayon::prelude::*;

/// Weights smaller than this share are dropped.
const LEAST: f64 = 0.005;
/// Influences of a vertex at most.
const MOST: usize = 8;
/// Bones are equally near within this share.
const TIE: f64 = 1e-4;
/// A bone nearer than this, in sizes of the mesh, is as if it were so far: on the surface heat would be endless.
const NEAREST: f64 = 2e-3;
/// Cosine beyond which a bone lies in front of the skin.
const IN_FRONT: f64 = 0.2;
/// Right sides solved for at once.
const BATCH: usize = 16;

/// A bone, or a point where both ends are one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HeatSite {
    /// Whose weight it is: a joint or a handle; several may have one owner.
    pub owner: u16,
    /// Where it begins, in the space of the positions.
    pub head: Vec3,
    /// Where it ends.
    pub tail: Vec3,
}

/// Weights over the sites' owners for every vertex. Parts of a mesh that hang together by nothing get theirs apart.
///
/// # Errors
/// [`Error::Input`] without sites, for numbers that are not finite, indices beyond the vertices, or a matrix that cannot be
/// factored.
pub fn heat_weights(positions: &[Vec3], triangles: &[[u32; 3]], sites: &[HeatSite]) -> Result<Influences> {
    let n = positions.len();
    let wrong = |problem: &str| Err(Error::input(problem, "give the mesh a skeleton inside of it"));
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
        let mut x = Mat::from_fn(n, batch.len(), |v, k| {
            let share = 1.0 / near[v].owners.len() as f64;
            if near[v].owners.contains(&batch[k]) { share * mesh.uptake(v, &near[v]) } else { 0.0 }
        });
        if let Some(factor) = &factor {
            factor.solve_in_place(x.as_mut());
        }
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

/// As [`heat_weights`], from the cache where they were computed before.
///
/// # Errors
/// As [`heat_weights`].
pub fn kept_heat_weights(
    cache: Option<&Cache>,
    positions: &[Vec3],
    triangles: &[[u32; 3]],
    sites: &[HeatSite],
) -> Result<Influences> {
    let Some(cache) = cache else { return heat_weights(positions, triangles, sites) };
    let owners: Vec<u16> = sites.iter().map(|s| s.owner).collect();
    let ends: Vec<Vec3> = sites.iter().flat_map(|s| [s.head, s.tail]).collect();
    let key = Key::new("heat weights 1").points(positions).bytes(bytemuck::cast_slice(triangles));
    let key = key.bytes(bytemuck::cast_slice(&owners)).points(&ends);
    let kept = cache.get(&key).and_then(|bytes| unpacked(&bytes, positions.len(), &owners));
    if let Some(kept) = kept {
        return Ok(kept);
    }
    let made = heat_weights(positions, triangles, sites)?;
    cache.put(&key, &packed(&made));
    Ok(made)
}

/// Per vertex the number of influences, then joint and weight of each.
fn packed(influences: &Influences) -> Vec<u8> {
    let mut out = Vec::new();
    for v in 0..influences.len() {
        let of = influences.of(v);
        out.push(of.len() as u8);
        for (joint, weight) in of {
            out.extend(joint.to_le_bytes());
            out.extend(weight.to_le_bytes());
        }
    }
    out
}

fn unpacked(mut bytes: &[u8], vertices: usize, owners: &[u16]) -> Option<Influences> {
    let mut out = Influences::default();
    for _ in 0..vertices {
        let (&count, rest) = bytes.split_first()?;
        bytes = rest;
        let mut row = Vec::with_capacity(usize::from(count));
        for _ in 0..count {
            let (joint, rest) = bytes.split_first_chunk::<2>()?;
            let (weight, rest) = rest.split_first_chunk::<4>()?;
            bytes = rest;
            row.push((u16::from_le_bytes(*joint), f32::from_le_bytes(*weight)));
        }
        let sound = row.iter().all(|(j, w)| owners.contains(j) && *w > 0.0 && *w <= 1.0);
        if row.is_empty() || !sound {
            return None;
        }
        out.push(row);
    }
    bytes.is_empty().then_some(out)
}

/// The nearest sites of a vertex.
struct Near {
    owners: Vec<u16>,
    /// `1 / d²`, of a mesh of size one.
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
        // A part of flat triangles only must take up some heat too.
        let mean = area.iter().sum::<f64>() / area.len().max(1) as f64;
        let least = if mean > 0.0 { 1e-6 * mean } else { 1.0 };
        area.iter_mut().for_each(|a| *a = a.max(least));
        normals.iter_mut().for_each(|n| *n = n.normalize_or_zero());
        Self { positions, triangles, normals, area, center, size }
    }

    /// The nearest of the sites that do not lie in front of the skin; of all where every one does.
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

    /// `L + M H`, factored; none without a vertex.
    fn factor(&self, near: &[Near]) -> Result<Option<Llt<usize, f64>>> {
        let n = self.positions.len();
        if n == 0 {
            return Ok(None);
        }
        let mut entries: Vec<Triplet<usize, usize, f64>> = Vec::with_capacity(n + 9 * self.triangles.len());
        entries.extend((0..n).map(|v| Triplet::new(v, v, self.uptake(v, &near[v]))));
        for (corners, weights) in &self.triangles {
            for k in 0..3 {
                let (a, b) = (corners[(k + 1) % 3], corners[(k + 2) % 3]);
                let w = weights[k];
                entries.push(Triplet::new(a, a, w));
                entries.push(Triplet::new(b, b, w));
                entries.push(Triplet::new(a.max(b), a.min(b), -w));
            }
        }
        let remedy = "mend the mesh's degenerate triangles";
        let matrix = SparseColMat::<usize, f64>::try_new_from_triplets(n, n, &entries)
            .map_err(|e| Error::input(format!("the mesh's heat matrix cannot be made: {e:?}"), remedy))?;
        let factor = matrix
            .sp_cholesky(Side::Lower)
            .map_err(|e| Error::input(format!("the mesh's heat matrix cannot be factored: {e:?}"), remedy))?;
        Ok(Some(factor))
    }
}

#[cfg(test)]
mod tests {
    use super::super::shapes::capsule;
    use super::*;

    /// Bones of one metre along +Y, and a capsule around them.
    fn arm(bones: u16) -> (Vec<Vec3>, Vec<[u32; 3]>, Vec<HeatSite>) {
        let character = capsule(usize::from(bones), 60, 16, 0.15, f32::from(bones));
        let at = |k: u16| Vec3::Y * f32::from(k);
        let sites = (0..bones).map(|k| HeatSite { owner: k, head: at(k), tail: at(k + 1) }).collect();
        (character.control.positions, character.control.triangles, sites)
    }

    fn weight(of: &Influences, v: usize, owner: u16) -> f32 {
        of.of(v).find(|e| e.0 == owner).map_or(0.0, |e| e.1)
    }

    #[test]
    fn weights_follow_bones_and_cross_over_at_the_joints() {
        let (positions, triangles, sites) = arm(3);
        let weights = heat_weights(&positions, &triangles, &sites).unwrap();
        assert_eq!(weights.len(), positions.len());
        for (v, x) in positions.iter().enumerate() {
            let sum: f32 = weights.of(v).map(|e| e.1).sum();
            assert!((sum - 1.0).abs() < 1e-5 && weights.of(v).all(|e| e.1 > 0.0), "{sum}");
            let middle = (x.y - (x.y.clamp(0.0, 2.999).floor() + 0.5)).abs() < 0.2;
            let own = x.y.clamp(0.0, 2.999) as u16;
            assert!(
                !middle || weight(&weights, v, own) > 0.9,
                "{x}: {:?}",
                weights.of(v).collect::<Vec<_>>()
            );
            // From joint to joint the next bone's weight falls and rises, the same on both sides.
            if (x.y - 1.0).abs() < 1e-4 {
                assert!((weight(&weights, v, 0) - 0.5).abs() < 0.05);
            }
        }
        let mut line: Vec<(f32, f32)> =
            positions.iter().enumerate().map(|(v, x)| (x.y, weight(&weights, v, 2))).collect();
        line.sort_by(|a, b| a.0.total_cmp(&b.0));
        assert!(line.windows(2).all(|w| w[1].1 >= w[0].1 - 0.02), "{line:?}");
    }

    #[test]
    fn it_is_the_solution_of_its_equation() {
        let (positions, triangles, sites) = arm(2);
        let mesh = Mesh::new(&positions, &triangles);
        let near: Vec<Near> = (0..positions.len()).map(|v| mesh.nearest(v, &sites)).collect();
        let weights = heat_weights(&positions, &triangles, &sites).unwrap();
        // Row by row, but where dropped weights were in the row or in a neighbour's.
        let whole = |v: usize| (0..2).all(|j| weight(&weights, v, j) > 0.0);
        let mut checked = 0;
        let mut row: Vec<f64> = vec![0.0; positions.len()];
        let mut all = vec![true; positions.len()];
        for (corners, w) in &mesh.triangles {
            for k in 0..3 {
                let (a, b) = (corners[(k + 1) % 3], corners[(k + 2) % 3]);
                let step = w[k] * f64::from(weight(&weights, a, 0) - weight(&weights, b, 0));
                row[a] += step;
                row[b] -= step;
                (all[a], all[b]) = (all[a] && whole(b), all[b] && whole(a));
            }
        }
        for v in (0..positions.len()).filter(|&v| all[v] && whole(v)) {
            let p = if near[v].owners.contains(&0) { 1.0 / near[v].owners.len() as f64 } else { 0.0 };
            let heat = mesh.uptake(v, &near[v]);
            let off = row[v] + heat * (f64::from(weight(&weights, v, 0)) - p);
            assert!(off.abs() < 1e-4 * (1.0 + heat), "vertex {v}: {off}");
            checked += 1;
        }
        assert!(checked > 40, "{checked}");
    }

    #[test]
    fn a_limb_beside_another_keeps_to_its_own_bone() {
        // Two capsules 0.1 apart: skin that faces the other one's bone does not take it.
        let (mut positions, mut triangles, mut sites) = arm(1);
        let n = positions.len() as u32;
        positions.extend(positions.clone().iter().map(|x| *x + Vec3::X * 0.4));
        triangles.extend(triangles.clone().iter().map(|t| t.map(|v| v + n)));
        let other = Vec3::X * 0.3;
        // Its bone is nearer to the first one's skin than the first one's own.
        sites.push(HeatSite { owner: 1, head: other, tail: other + Vec3::Y });
        sites[0].head.x = -0.1;
        sites[0].tail.x = -0.1;
        let weights = heat_weights(&positions, &triangles, &sites).unwrap();
        for v in (0..n as usize).filter(|&v| (0.1..0.9).contains(&positions[v].y)) {
            assert!(weight(&weights, v, 0) > 0.99, "{}", positions[v]);
        }
    }

    #[test]
    fn odd_meshes_are_weighed_and_nonsense_refused() {
        let (positions, triangles, sites) = arm(2);
        let all = |positions: &[Vec3], triangles: &[[u32; 3]]| {
            let weights = heat_weights(positions, triangles, &sites).unwrap();
            assert_eq!(weights.len(), positions.len());
            for v in 0..weights.len() {
                let sum: f32 = weights.of(v).map(|e| e.1).sum();
                assert!((sum - 1.0).abs() < 1e-5);
            }
        };
        all(&[], &[]);
        all(&positions, &[]);
        all(&[Vec3::ONE; 5], &[[0, 1, 2], [2, 3, 4]]);
        let flat: Vec<Vec3> = positions.iter().map(|x| Vec3::new(x.x, x.y, 0.0)).collect();
        all(&flat, &triangles);
        let line: Vec<Vec3> = positions.iter().map(|x| Vec3::Y * x.y).collect();
        all(&line, &triangles);
        let mut more = triangles.clone();
        more.extend([[0, 0, 1], [3, 3, 3]]);
        all(&positions, &more);
        assert!(heat_weights(&positions, &triangles, &[]).is_err());
        assert!(heat_weights(&[Vec3::NAN], &[], &sites).is_err());
        assert!(heat_weights(&positions, &[[0, 1, u32::MAX]], &sites).is_err());
    }

    #[test]
    fn kept_weights_are_the_same_and_broken_ones_made_again() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::at(folder.path(), 1 << 20);
        let (positions, triangles, sites) = arm(2);
        let made = kept_heat_weights(Some(&cache), &positions, &triangles, &sites).unwrap();
        let file = std::fs::read_dir(folder.path()).unwrap().next().unwrap().unwrap().path();
        let before = std::fs::metadata(&file).unwrap().modified().unwrap();
        assert_eq!(kept_heat_weights(Some(&cache), &positions, &triangles, &sites).unwrap(), made);
        assert_eq!(std::fs::metadata(&file).unwrap().modified().unwrap(), before, "written again");
        std::fs::write(&file, b"nonsense").unwrap();
        assert_eq!(kept_heat_weights(Some(&cache), &positions, &triangles, &sites).unwrap(), made);
        // A bone elsewhere is another question.
        let mut moved = sites.clone();
        moved[0].head.y = 0.3;
        assert_ne!(kept_heat_weights(Some(&cache), &positions, &triangles, &moved).unwrap(), made);
        assert!(unpacked(&packed(&made), positions.len(), &[0]).is_none(), "an owner that there is not");
        assert!(unpacked(&packed(&made), positions.len() + 1, &[0, 1]).is_none());
    }
}
