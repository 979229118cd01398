//! Points and regions of a surface as handles, in meshes with or without a skeleton (Jacobson et al. 2012, figures 7
//! and 13).
//!
//! The weights of the handles are bounded biharmonic weights, as in the paper. They are computed in cubes that enclose
//! the mesh ([`biharmonic_weights`]). All corners of the cubes around a handle's vertices have the weight 1, so the
//! vertices follow their handle exactly.

use super::{Handle, Params, Reduced, Shape};
use crate::asset::Influences;
use crate::base::math::{DVec3, Vec3};
use crate::base::{Error, Result};
use crate::bind::weights::biharmonic_weights;
use crate::geom::{Cubes, Enclosure, weld};

/// Approximate number of cubes in which the weights are computed.
const CUBES: usize = 4000;
/// Weights up to this size are dropped.
const NEGLIGIBLE: f64 = 1e-4;

/// Returns, per grip, the corners of the cubes in which its vertices lie, and two grips that need the same corner. Such a
/// corner goes to the grip with fewer vertices, else to the first one. `place` returns the cube of a vertex.
pub(super) fn claim(
    cubes: &Cubes,
    grips: &[Vec<u32>],
    place: impl Fn(usize) -> Option<(usize, [f64; 8])>,
) -> (Vec<Vec<u32>>, Option<[usize; 2]>) {
    let mut order: Vec<usize> = (0..grips.len()).collect();
    order.sort_by_key(|&k| grips[k].len());
    let mut owner = vec![None; cubes.nodes.len()];
    let (mut nodes, mut shared) = (vec![Vec::new(); grips.len()], None);
    for k in order {
        for (cell, _) in grips[k].iter().filter_map(|&v| place(v as usize)) {
            for &node in &cubes.cells[cell] {
                match owner[node as usize].replace(k) {
                    None => nodes[k].push(node),
                    Some(other) if other != k => {
                        owner[node as usize] = Some(other);
                        shared = shared.or(Some([k.min(other), k.max(other)]));
                    }
                    Some(_) => {}
                }
            }
        }
    }
    nodes.iter_mut().for_each(|own| own.sort_unstable());
    (nodes, shared)
}

/// Binds a mesh by handles on its surface. A grip is the list of a handle's vertices: one vertex for a point, several
/// for a region. Handle `k` of the result is grip `k`; its pivot is the mean of its vertices. A part of the mesh
/// without a grip follows the nearest one. `progress` receives the completed fraction and returns false to cancel;
/// then the result is `None`.
///
/// # Errors
/// [`Error::Input`] if there are no grips, a grip is empty, a vertex does not exist, or two grips are so near that they
/// share a cube; also the errors of [`Reduced::bind`] and of [`biharmonic_weights`].
pub fn bind_grips(
    positions: &[Vec3],
    triangles: &[[u32; 3]],
    grips: &[Vec<u32>],
    params: &Params,
    progress: &(dyn Fn(f32) -> bool + Sync),
) -> Result<Option<Reduced>> {
    if grips.is_empty() || grips.iter().flatten().any(|&v| v as usize >= positions.len()) {
        return Err(Error::input("a grip names no vertex of the mesh", "choose points on the mesh"));
    }
    let finite = positions.iter().all(|p| p.is_finite());
    if let Some(empty) = grips.iter().position(Vec::is_empty) {
        return Err(Error::input(format!("grip {} has no vertex", empty + 1), "choose a larger region"));
    }
    let x: Vec<DVec3> = positions.iter().map(|p| p.as_dvec3()).collect();
    let weld = weld(positions, |_, _| true);
    let joined: Vec<[u32; 3]> = triangles.iter().map(|t| t.map(|v| weld.first_of(v))).collect();
    let enclosure = if finite { Enclosure::with_cubes(&x, &joined, &[], CUBES) } else { None };
    let Some(enclosure) = enclosure else {
        return Err(Error::input("the mesh has no triangles with area", "choose another mesh"));
    };
    let place = |v: usize| enclosure.of_vertex(weld.first_of(v as u32) as usize);
    let (nodes, shared) = claim(&enclosure.cubes, grips, place);
    if let Some([a, b]) = shared {
        let size = enclosure.cubes.size;
        let problem = format!("grips {} and {} are less than two cubes of {size} m apart", a + 1, b + 1);
        return Err(Error::input(problem, "choose points that are farther apart"));
    }
    if let Some(k) = nodes.iter().position(Vec::is_empty) {
        let problem = format!("grip {} is on no triangle with area", k + 1);
        return Err(Error::input(problem, "choose a point on the surface"));
    }
    let Some(weights) = biharmonic_weights(&enclosure.cubes, &nodes, progress)? else { return Ok(None) };
    let handles: Vec<Handle> = grips
        .iter()
        .map(|grip| {
            let sum: DVec3 = grip.iter().map(|&v| x[v as usize]).sum();
            Handle { pivot: (sum / grip.len() as f64).as_vec3(), parent: None }
        })
        .collect();
    let nearest = |v: usize| {
        let away = |k: &usize| handles[*k].pivot.distance_squared(positions[v]);
        (0..handles.len()).min_by(|a, b| away(a).total_cmp(&away(b))).unwrap_or(0)
    };
    let mut influences = Influences::default();
    for v in 0..positions.len() {
        let at = |k: usize| {
            let (cell, corner) = place(v)?;
            let of = |(n, share): (&u32, f64)| weights[k][*n as usize] * share;
            Some(enclosure.cubes.cells[cell].iter().zip(corner).map(of).sum::<f64>())
        };
        let mut row: Vec<(u16, f64)> = (0..handles.len())
            .filter_map(|k| Some((k as u16, at(k)?)))
            .filter(|e| e.1 > NEGLIGIBLE)
            .collect();
        let sum: f64 = row.iter().map(|e| e.1).sum();
        if sum <= 0.0 {
            row = vec![(nearest(v) as u16, 1.0)];
        } else {
            row.iter_mut().for_each(|e| e.1 /= sum);
        }
        row.sort_by(|a, b| b.1.total_cmp(&a.1));
        influences.push(row.into_iter().map(|(k, w)| (k, w as f32)));
    }
    Reduced::bind(&Shape { positions, triangles, weights: &influences, handles: &handles }, params).map(Some)
}
