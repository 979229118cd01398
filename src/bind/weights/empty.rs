//! Vertices for joints that would move none.
//!
//! The cubes of the flesh are larger than a joint of a lip or of a fingertip, so several joints may share the nodes of
//! one cube. A joint whose bone lies just outside of the mesh crosses no cube at all.

use super::doctor::{CUBES, NONE};
use super::flesh::{bones, flesh_joints};
use super::skin::MOST;
use crate::asset::Influences;
use crate::base::math::{DVec3, distance_to_segment};
use crate::bind::{Character, HeatSite};
use crate::geom::Interior;

/// Largest sum of the weights that empty joints take from a vertex. The other joints keep a part, so that no joint
/// loses its last vertex.
const SHARE: f32 = 0.9;
/// At least so many vertices lie within the reach of an empty joint.
const FEW: usize = 4;
/// The reach of an empty joint is at least this fraction of the distance from its bone to the nearest vertex.
const DEEP: f32 = 0.5;
/// A bone outside of the mesh lies apart if the nearest vertex is farther than its length, and farther than this
/// fraction of the diagonal of the mesh. Its joint takes no vertices.
const APART: f32 = 0.02;

/// Lets every joint that moves no vertex take a part of the weights of the vertices nearest to its bones. The part is
/// largest at the nearest vertex, and falls smoothly to zero at a distance of the bone's length beyond. The joint
/// takes only from vertices that its relatives move, if there are any: the nearest joints above it and below it that
/// move vertices, and the joints beside it. Joints whose bones lie apart from the mesh stay empty.
pub(super) fn give_vertices_to_empty_joints(character: &Character, weights: Influences) -> Influences {
    let control = &character.control;
    let joints = flesh_joints(character);
    let index = |joint: u16| joints.iter().position(|j| j.joint.index() == usize::from(joint));
    let places: Vec<Option<usize>> = (0..character.skeleton.joints.len()).map(|j| index(j as u16)).collect();
    let mut moves = vec![false; joints.len()];
    for (joint, weight) in (0..weights.len()).flat_map(|v| weights.of(v)) {
        if let Some(j) = places[usize::from(joint)] {
            moves[j] |= weight > NONE;
        }
    }
    if moves.iter().all(|m| *m) {
        return weights;
    }
    let mut taken: Vec<Vec<(u16, f32)>> = vec![Vec::new(); weights.len()];
    let sites = bones(character);
    let mut interior: Option<Option<Interior>> = None;
    let mut is_inside = |site: &HeatSite| {
        let interior = interior.get_or_insert_with(|| {
            let positions: Vec<DVec3> = control.positions.iter().map(|x| x.as_dvec3()).collect();
            Interior::new(&positions, &control.triangles, CUBES)
        });
        let middle = site.head.lerp(site.tail, 0.5).as_dvec3();
        interior.as_ref().is_some_and(|i| i.depth(middle).is_some())
    };
    for empty in (0..joints.len()).filter(|&j| !moves[j]) {
        let owner = joints[empty].joint.0 as u16;
        let own: Vec<&HeatSite> = sites.iter().filter(|s| s.owner == owner).collect();
        let distance = |v: usize| {
            let x = control.positions[v];
            own.iter().map(|s| distance_to_segment(x, s.head, s.tail)).fold(f32::INFINITY, f32::min)
        };
        let soft = (0..weights.len()).filter(|&v| !control.rigid[v] && weights.of(v).len() > 0);
        let all: Vec<(f32, usize)> = soft.map(|v| (distance(v), v)).collect();
        let above = |j: usize| std::iter::successors(joints[j].parent, |&p| joints[p].parent);
        let up = |j: usize| above(j).find(|&p| moves[p]);
        let parent = up(empty);
        let is_relative = |j: usize| {
            moves[j] && (Some(j) == parent || parent.is_some_and(|p| Some(j) == up(p)) || up(j) == parent)
        };
        let relatives: Vec<bool> = (0..joints.len()).map(is_relative).collect();
        let related = |v: usize| {
            let of = weights.of(v).filter(|e| places[usize::from(e.0)].is_some_and(|j| relatives[j]));
            of.map(|e| e.1).sum::<f32>() >= 0.5
        };
        let near: Vec<(f32, usize)> = all.iter().copied().filter(|e| related(e.1)).collect();
        let mut near = if near.is_empty() { all } else { near };
        near.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let length = own.iter().map(|s| s.head.distance(s.tail)).fold(0.0, f32::max);
        let Some(&(nearest, _)) = near.first() else { continue };
        if nearest > length.max(APART * control.aabb.diagonal()) && !own.iter().any(|s| is_inside(s)) {
            continue;
        }
        let few = near[FEW.min(near.len()) - 1].0 - nearest;
        // The last of the few vertices lies within the reach, not at its end.
        let reach = length.max(1.5 * few).max(DEEP * nearest).max(f32::MIN_POSITIVE);
        for (d, v) in near {
            let t = 1.0 - (d - nearest) / reach;
            if t <= 0.0 {
                break;
            }
            taken[v].push((owner, SHARE * t * t * (3.0 - 2.0 * t)));
        }
    }
    let mut out = Influences::default();
    for (v, taken) in taken.iter().enumerate() {
        if taken.is_empty() {
            out.push(weights.of(v));
            continue;
        }
        let sum: f32 = taken.iter().map(|e| e.1).sum();
        let part = (SHARE / sum).min(1.0);
        let left = 1.0 - part * sum;
        let mut row: Vec<(u16, f32)> = weights.of(v).map(|(j, w)| (j, w * left)).collect();
        for &(joint, w) in taken {
            match row.iter_mut().find(|e| e.0 == joint) {
                Some(e) => e.1 += w * part,
                None => row.push((joint, w * part)),
            }
        }
        row.retain(|e| e.1 > 0.0);
        row.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        row.truncate(MOST);
        let sum: f32 = row.iter().map(|e| e.1).sum();
        out.push(row.into_iter().map(|(j, w)| (j, w / sum)));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::math::Vec3;
    use crate::bind::shapes::capsule;

    /// The capsule with all weights of the middle joints given to their neighbours.
    fn without_middle(character: &Character) -> Influences {
        let mut out = Influences::default();
        for v in 0..character.control.positions.len() {
            let first = character.control.influences.of(v).next().unwrap().0;
            out.push([(if first < 3 { 0 } else { 4 }, 1.0)]);
        }
        out
    }

    #[test]
    fn empty_joints_take_the_nearest_vertices_and_others_keep_theirs() {
        let character = capsule(5, 48, 12, 0.15, 5.0);
        let given = without_middle(&character);
        let filled = give_vertices_to_empty_joints(&character, given.clone());
        let mut most = [0.0f32; 5];
        for v in 0..filled.len() {
            let row: Vec<(u16, f32)> = filled.of(v).collect();
            assert!((row.iter().map(|e| e.1).sum::<f32>() - 1.0).abs() < 1e-6);
            assert!(row.windows(2).all(|e| e[0].1 >= e[1].1), "{row:?}");
            let y = character.control.positions[v].y;
            for (joint, w) in row {
                most[usize::from(joint)] = most[usize::from(joint)].max(w);
                // A joint that was empty moves only vertices near its own bone.
                let (head, tail) = (f32::from(joint), f32::from(joint) + 1.0);
                assert!(given.of(v).any(|e| e.0 == joint) || (head - 1.2..tail + 1.2).contains(&y));
            }
        }
        assert!(most.iter().all(|w| *w > 0.4), "{most:?}");
        // Complete weights stay as they are.
        let own = &character.control.influences;
        assert_eq!(give_vertices_to_empty_joints(&character, own.clone()), *own);
    }

    #[test]
    fn a_bone_apart_from_the_mesh_stays_empty() {
        let mut character = capsule(3, 24, 12, 0.15, 3.0);
        for bone in character.skeleton.bones.iter_mut().filter(|b| b.parent.index() == 1) {
            bone.head += Vec3::X * 5.0;
            bone.tail += Vec3::X * 5.0;
        }
        let mut given = Influences::default();
        (0..character.control.positions.len()).for_each(|_| given.push([(0, 0.5), (2, 0.5)]));
        assert_eq!(give_vertices_to_empty_joints(&character, given.clone()), given);
    }
}
