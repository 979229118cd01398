//! Finds places where skin weights and bones do not fit the mesh.

use super::flesh::{Flesh, flesh_joints};
use crate::base::math::{Aabb, DVec3, Vec3};
use crate::base::{JointId, NodeId};
use crate::bind::Character;
use crate::geom::Interior;

/// Number of cubes in which the parts of the mesh are found.
pub(super) const CUBES: usize = 6000;
/// A joint pulls at a vertex if its weight there is at least this.
const PULL: f32 = 0.2;
/// Two joints with more than this many joints between them, along the hierarchy, do not belong to one limb.
const NEAR: usize = 2;
/// Meshes whose sizes differ by this factor may have different units of length, such as metres and millimetres.
const UNEVEN: f32 = 500.0;
/// A bone counts as a bone without length if it is at most this long, as a fraction of the diagonal of the mesh.
const NO_LENGTH: f64 = 1e-4;
/// A joint moves no vertex if none of its weights exceeds this.
pub(super) const NONE: f32 = 1e-3;

/// Places where weights and bones do not fit the mesh.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Diagnosis {
    /// Number of vertices in parts of the mesh that no bone crosses. Such a vertex takes the weights of a part nearby,
    /// or keeps its own weights.
    pub boneless_vertices: usize,
    /// Joints that move no vertex although their bones lie in the mesh.
    pub idle: Vec<JointId>,
    /// Joints that move no vertex and whose bones lie outside the mesh.
    pub outside: Vec<JointId>,
    /// The nodes that draw the largest and the smallest mesh, and the ratio of the meshes' sizes. `None` unless the
    /// sizes differ so much that one of the meshes may have another unit of length.
    pub uneven: Option<([NodeId; 2], f32)>,
    /// Joints whose bones are shorter than a cube, so that they share cubes and have similar weights.
    pub crowded: Vec<JointId>,
    /// Number of triangles without area.
    pub flat_triangles: usize,
    /// Number of vertices that joints of different limbs pull at, and the two joints of the first such vertex.
    pub torn: Option<(usize, [JointId; 2])>,
}

/// Examines a character's weights and bones.
pub fn diagnose(character: &Character) -> Diagnosis {
    let (control, skeleton) = (&character.control, &character.skeleton);
    let mut out = Diagnosis::default();
    let flesh = Flesh::of(character, CUBES);
    if let Some(flesh) = &flesh {
        let cubes = &flesh.enclosure.cubes;
        let lies_apart = |v: &usize| {
            let place = flesh.cube_of(*v).filter(|_| !control.rigid[*v]);
            place.is_some_and(|(cell, _)| !flesh.anchored[cubes.cells[cell][0] as usize])
        };
        out.boneless_vertices = (0..control.positions.len()).filter(lies_apart).count();
    }
    out.crowded = flesh.as_ref().map(|f| crowded(character, f)).unwrap_or_default();
    out.uneven = uneven(character);
    out.flat_triangles = control.triangles.iter().filter(|t| is_flat(&control.positions, t)).count();
    let positions: Vec<DVec3> = control.positions.iter().map(|x| x.as_dvec3()).collect();
    let interior = Interior::new(&positions, &control.triangles, CUBES);
    let mut most = vec![0.0f32; skeleton.joints.len()];
    for (joint, weight) in (0..control.influences.len()).flat_map(|v| control.influences.of(v)) {
        most[usize::from(joint)] = most[usize::from(joint)].max(weight);
    }
    let moves = |j: JointId| {
        let node = skeleton.joints[j.index()].node;
        skeleton.joints.iter().zip(&most).any(|(other, w)| other.node == node && *w > NONE)
    };
    for bone in
        skeleton.bones.iter().filter(|b| b.head != b.tail && skeleton.joints[b.parent.index()].skinned)
    {
        let middle = bone.head.lerp(bone.tail, 0.5).as_dvec3();
        if moves(bone.parent) {
            continue;
        }
        let inside = interior.as_ref().is_some_and(|i| i.depth(middle).is_some());
        let list = if inside { &mut out.idle } else { &mut out.outside };
        if !list.contains(&bone.parent) {
            list.push(bone.parent);
        }
    }
    // Only joints with bones in the flesh count, since rigs also have control joints between limbs.
    let joints = flesh_joints(character);
    let place = |joint: u16| joints.iter().position(|j| j.joint.index() == usize::from(joint));
    let above = |j: usize| std::iter::successors(Some(j), |&j| joints[j].parent).collect::<Vec<_>>();
    let distance = |a: usize, b: usize| {
        let (a, b) = (above(a), above(b));
        let common = a.iter().position(|j| b.contains(j)).unwrap_or(a.len());
        common + b.iter().position(|j| a.get(common) == Some(j)).unwrap_or(b.len())
    };
    for v in (0..control.positions.len()).filter(|&v| !control.rigid[v]) {
        let strong = control.influences.of(v).filter(|e| e.1 >= PULL);
        let pulls: Vec<usize> = strong.filter_map(|(joint, _)| place(joint)).collect();
        let pairs = pulls.iter().enumerate().flat_map(|(k, a)| pulls[k + 1..].iter().map(move |b| [*a, *b]));
        if let Some(pair) = pairs.into_iter().find(|&[a, b]| distance(a, b) > NEAR + 1) {
            let (count, _) = out.torn.get_or_insert((0, pair.map(|j| joints[j].joint)));
            *count += 1;
        }
    }
    out
}

/// Returns the joints whose bones are shorter than a cube. Joints without a bone length, such as twist joints, do not
/// count.
fn crowded(character: &Character, flesh: &Flesh) -> Vec<JointId> {
    let least = NO_LENGTH * f64::from(character.control.aabb.diagonal());
    let length = |joint: JointId| {
        let bones = character.skeleton.bones_of(joint).map(|b| &character.skeleton.bones[b.index()]);
        bones.map(|b| f64::from(b.head.distance(b.tail))).fold(0.0, f64::max)
    };
    let short = |j: &JointId| (least..flesh.enclosure.cubes.size).contains(&length(*j));
    flesh.joints.iter().map(|j| j.joint).filter(short).collect()
}

/// Returns the largest and the smallest mesh if their sizes differ by [`UNEVEN`] or more.
fn uneven(character: &Character) -> Option<([NodeId; 2], f32)> {
    let display = &character.display;
    let mut sizes: Vec<(NodeId, Aabb)> = Vec::new();
    for part in &display.parts {
        let bounds = Aabb::of(part.vertices.clone().map(|v| display.positions[v as usize]));
        match sizes.iter_mut().find(|s| s.0 == part.node) {
            Some((_, all)) => *all = Aabb::of([all.min, all.max, bounds.min, bounds.max]),
            None => sizes.push((part.node, bounds)),
        }
    }
    sizes.retain(|(_, b)| b.diagonal() > 0.0);
    let size = |s: &&(NodeId, Aabb)| s.1.diagonal();
    let large = sizes.iter().max_by(|a, b| size(a).total_cmp(&size(b)))?;
    let small = sizes.iter().min_by(|a, b| size(a).total_cmp(&size(b)))?;
    let ratio = size(&large) / size(&small);
    (ratio >= UNEVEN).then_some(([large.0, small.0], ratio))
}

/// Whether a triangle has no area within the precision of its positions.
fn is_flat(positions: &[Vec3], t: &[u32; 3]) -> bool {
    let [a, b, c] = t.map(|v| positions[v as usize].as_dvec3());
    let longest = (b - a).length_squared().max((c - a).length_squared()).max((c - b).length_squared());
    (b - a).cross(c - a).length() <= 1e-6 * longest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::asset::Influences;
    use crate::bind::shapes::capsule;

    #[test]
    fn a_sound_character_has_no_findings_and_spoiled_ones_have() {
        let sound = capsule(6, 48, 12, 0.15, 6.0);
        assert_eq!(diagnose(&sound), Diagnosis::default());
        // The second bone's vertices follow the first, and one vertex follows both ends of the capsule.
        let mut spoiled = sound.clone();
        let mut influences = Influences::default();
        for v in 0..sound.control.positions.len() {
            if v == 40 {
                influences.push([(0, 0.5), (5, 0.5)]);
            } else {
                let row = sound.control.influences.of(v).map(|(j, w)| (if j == 1 { 0 } else { j }, w));
                let mut merged: Vec<(u16, f32)> = Vec::new();
                for (joint, w) in row {
                    match merged.iter_mut().find(|e| e.0 == joint) {
                        Some(e) => e.1 += w,
                        None => merged.push((joint, w)),
                    }
                }
                influences.push(merged);
            }
        }
        spoiled.control.influences = influences;
        let found = diagnose(&spoiled);
        assert_eq!(found.idle, [JointId(1)]);
        assert_eq!(found.torn, Some((1, [JointId(0), JointId(5)])));
        // A part of the mesh far from all bones.
        let mut apart = sound.clone();
        let first = apart.control.positions.len() as u32;
        for corner in [[0.0, 0.0, 0.0], [0.1, 0.0, 0.0], [0.0, 0.1, 0.0]] {
            apart.control.positions.push(Vec3::from(corner) + Vec3::X * 2.0);
            apart.control.rigid.push(false);
            apart.control.influences.push([(0, 1.0)]);
        }
        apart.control.triangles.push([first, first + 1, first + 2]);
        assert_eq!(diagnose(&apart).boneless_vertices, 3);
    }
}
