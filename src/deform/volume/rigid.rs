//! Rigid parts: exposed, connected parts of the mesh that follow one joint, such as a helmet or the parts of a robot.
//! Parts inside others, such as teeth and eyes, are soft instead: the flesh around them would pass through them.

use super::place::{Place, Vertices};
use crate::base::JointId;
use crate::base::math::DVec3;
use crate::geom::{Thickness, apart, root, unite};
use crate::rig::Skeleton;
use std::collections::BTreeMap;

/// A part of the mesh is rigid if this fraction or more of the weights of each of its vertices belongs to one joint.
const RIGID: f64 = 0.98;

/// A part is exposed if this fraction or more of its vertices have no surface in front of them.
const EXPOSED: f64 = 0.33;
/// Surfaces farther away than this do not cover a vertex, in edge lengths of a cube.
const FAR: f64 = 4.0;

/// Returns the vertices of each rigid part, with the first joint of the node that the part follows. `surface` has the
/// triangles of `vertices`; cubes have the edge length `size`.
pub(super) fn rigid_parts(
    skeleton: &Skeleton,
    vertices: &Vertices,
    surface: &Thickness,
    size: f64,
) -> Vec<(JointId, Vec<u32>)> {
    let first = skeleton.first_joints();
    let sole = |v: &u32| -> Option<JointId> {
        let weights = || vertices.weights.of(*v as usize).map(|(j, weight)| (first[j], weight));
        let of = |joint| weights().filter(|w| w.0 == joint).map(|w| w.1).sum::<f64>();
        weights().map(|w| w.0).find(|joint| of(*joint) >= RIGID)
    };
    let mut above = apart(vertices.positions.len());
    vertices.triangles.iter().for_each(|t| t[1..].iter().for_each(|&v| unite(&mut above, t[0], v)));
    let mut all: Vec<u32> = vertices.triangles.iter().flatten().copied().collect();
    all.sort_unstable();
    all.dedup();
    let mut parts: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    all.into_iter().for_each(|v| parts.entry(root(&mut above, v)).or_default().push(v));
    let free = |v: &&u32| {
        let (x, outward) = (vertices.positions[**v as usize], vertices.normals[**v as usize]);
        surface.below(x, -outward, 0.02 * size).is_none_or(|distance| distance > FAR * size)
    };
    let exposed = |part: &[u32]| part.iter().filter(free).count() as f64 >= EXPOSED * part.len() as f64;
    let rigid = |part: Vec<u32>| {
        let joint = sole(&part[0])?;
        (part.iter().all(|v| sole(v) == Some(joint)) && exposed(&part)).then_some((joint, part))
    };
    parts.into_values().filter_map(rigid).collect()
}

/// Gives all vertices of each rigid part the place of the vertex nearest to the part's middle. The vertices take only the
/// displacement at that place, so the part keeps its shape. `places` has the vertices' own places.
pub(super) fn stiffen(parts: &[(JointId, Vec<u32>)], positions: &[DVec3], places: &mut [Option<Place>]) {
    for (_, part) in parts {
        let x = |v: u32| positions[v as usize];
        let middle = part.iter().map(|&v| x(v)).sum::<DVec3>() / part.len() as f64;
        let placed =
            part.iter().filter_map(|&v| Some((x(v).distance_squared(middle), v, places[v as usize]?)));
        let nearest = placed.min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let place = nearest.map(|(_, _, place)| Place { apart: 1.0, ..place });
        part.iter().for_each(|&v| places[v as usize] = place);
    }
}
