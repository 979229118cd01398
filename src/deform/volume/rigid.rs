//! Rigid parts: exposed, connected parts of the mesh that follow one joint, such as a helmet or the parts of a robot.
//! Parts inside others, such as teeth and eyes, are soft instead: the flesh around them would pass through them.

use super::place::{Place, Vertices};
use crate::base::JointId;
use crate::base::math::DVec3;
use crate::geom::{Thickness, connected};
use crate::rig::Skeleton;
use std::collections::{BTreeMap, BTreeSet};

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
    let of = connected(vertices.positions.len(), vertices.triangles.iter().copied());
    let all: BTreeSet<u32> = vertices.triangles.iter().flatten().copied().collect();
    let mut parts: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    all.into_iter().for_each(|v| parts.entry(of[v as usize]).or_default().push(v));
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

#[cfg(test)]
mod tests {
    use crate::base::math::{Quat, Vec3};
    use crate::deform::testing::{RADIUS, bound, cylinder};
    use crate::deform::volume::tests::{bent, few, posed};
    use crate::deform::{Geometric, Recipe};

    #[test]
    fn a_part_that_follows_one_joint_keeps_its_shape_and_moves_with_the_flesh() {
        let body = cylinder(2, 24, 32);
        let control = &body.character.control;
        // A plate beside the joint, half in the flesh, with the weights of the second joint.
        let plate: Vec<Vec3> = (0..8u32)
            .map(|k| {
                let side = |axis: u32, low: f32, high: f32| if k >> axis & 1 == 1 { high } else { low };
                Vec3::new(side(0, -0.1, 0.1), side(1, 0.8, 1.2), side(2, 0.2, 0.3))
            })
            .collect();
        let first = control.positions.len() as u32;
        let quads = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
        let faces = quads.iter().flat_map(|q: &[u32; 4]| [[q[0], q[1], q[2]], [q[0], q[2], q[3]]]);
        let triangles = control.triangles.iter().copied().chain(faces.map(|t| t.map(|v| v + first)));
        let mut influences = control.influences.clone();
        plate.iter().for_each(|_| influences.push([(1, 1.0)]));
        let positions = control.positions.iter().chain(&plate).copied().collect();
        let dressed = bound(body.character.skeleton.clone(), positions, triangles.collect(), influences);
        let pose = bent(&dressed, Quat::from_rotation_x(-1.2));
        let of = |recipe: &Recipe| posed(&dressed, recipe, &pose).split_off(first as usize);
        let [start, plate] = [Recipe::geometric(Geometric::Dqs), Recipe::volume(few())].map(|r| of(&r));
        let moved: Vec<Vec3> = plate.iter().zip(&start).map(|(a, b)| *a - *b).collect();
        assert!(moved.iter().all(|m| m.distance(moved[0]) < 1e-5), "the plate keeps its shape");
        assert!(moved[0].length() > 0.02 * RADIUS, "the plate follows the flesh");
    }
}
