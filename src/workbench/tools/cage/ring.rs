//! Rings of the cage: the vertices around a limb or the trunk.

use crate::base::math::DVec3;
use crate::cage::Cage;
use crate::rig::{Bone, Mirror, Skeleton};
use std::collections::HashMap;

/// A ring may lie beyond the ends of its bone by this fraction of the bone's length.
const BEYOND: f64 = 0.1;
/// A bone belongs to one side if the distance to its mirror image is more than this fraction of its length.
const ONE_SIDED: f64 = 0.25;
/// A vertex is in the plane of symmetry if its distance from this plane is less than this fraction of the distance of the
/// ring's first vertex.
const MIDDLE: f64 = 0.1;

/// Position along a bone, in bone lengths from its head, and distance from the bone.
fn along(bone: &Bone, x: DVec3) -> (f64, f64) {
    let (head, span) = (bone.head.as_dvec3(), (bone.tail - bone.head).as_dvec3());
    let t = if span.length_squared() > 0.0 { (x - head).dot(span) / span.length_squared() } else { 0.0 };
    (t, (head + span * t.clamp(0.0, 1.0)).distance(x))
}

/// Returns the vertices of the cage in a ring around the limb at vertex `v`. A plane through `v`, perpendicular to a bone,
/// cuts the cage in loops. The ring follows the shortest loop through `v` that goes around the plane's bone: of each edge
/// that the loop crosses, it has the nearer end. Where no loop goes around a bone, the ring is `v` alone.
///
/// A coarse cage can have one loop around both legs. A ring around a bone of one side therefore has no vertex of the other
/// side, nor one in the plane of symmetry.
pub(super) fn ring(cage: &Cage, skeleton: &Skeleton, v: usize, mirror: Option<&Mirror>) -> Vec<usize> {
    let bones = skeleton.bones.iter().filter(|b| b.head.distance(b.tail) > 0.0);
    let loops = bones.filter_map(|bone| Some((bone, section(cage, bone, v)?)));
    let Some((bone, (_, mut ring))) = loops.min_by(|a, b| a.1.0.total_cmp(&b.1.0)) else { return vec![v] };
    let Some(mirror) = mirror else { return ring };
    // From the mirror image to the point: its sign tells the side, its length is twice the distance from the plane.
    let aside = |x: DVec3| x - mirror.reflect_bind(x);
    let (own, span) = (aside(cage.mesh.positions[v]), bone.tail.distance(bone.head));
    if aside(bone.head.midpoint(bone.tail).as_dvec3()).length() > ONE_SIDED * f64::from(span) {
        let same = |k: usize| aside(cage.mesh.positions[k]).dot(own) > MIDDLE * own.length_squared();
        ring.retain(|k| *k == v || same(*k));
    }
    ring
}

/// Cuts the cage by the plane through vertex `v` that is perpendicular to `bone`. Returns the length of the loop through `v`
/// and the nearer ends of the edges that it crosses. Returns `None` if the plane does not meet the bone, or if no loop
/// through `v` goes around the bone.
fn section(cage: &Cage, bone: &Bone, v: usize) -> Option<(f64, Vec<usize>)> {
    let positions = &cage.mesh.positions;
    let (t, _) = along(bone, positions[v]);
    if !(-BEYOND..=1.0 + BEYOND).contains(&t) {
        return None;
    }
    let (head, axis) = (bone.head.as_dvec3(), (bone.tail - bone.head).as_dvec3());
    let normal = axis.try_normalize()?;
    let height = |k: u32| (positions[k as usize] - positions[v]).dot(normal);
    let crosses = |a: u32, b: u32| (height(a) >= 0.0) != (height(b) >= 0.0);
    let point = |[a, b]: [u32; 2]| {
        let [x, y] = [a, b].map(|k| positions[k as usize]);
        x.lerp(y, height(a) / (height(a) - height(b)))
    };
    // Every triangle that the plane cuts joins two crossed edges.
    let mut joins: HashMap<[u32; 2], Vec<[u32; 2]>> = HashMap::new();
    for [a, b, c] in cage.mesh.triangles() {
        let cut: Vec<[u32; 2]> = [[a, b], [b, c], [c, a]]
            .into_iter()
            .filter(|e| crosses(e[0], e[1]))
            .map(|[a, b]| [a.min(b), a.max(b)])
            .collect();
        if let [e, f] = cut[..] {
            joins.entry(e).or_default().push(f);
            joins.entry(f).or_default().push(e);
        }
    }
    let start = *joins.keys().filter(|e| e.contains(&(v as u32))).min()?;
    let (mut seen, mut next) = (vec![start], start);
    // If the loop goes around the bone, the angles about the bone add up to a full turn.
    let (mut length, mut turned) = (0.0, 0.0);
    let centre = head + axis * t;
    loop {
        let last = next;
        let onward = joins[&last].iter().find(|e| !seen.contains(e));
        next = *onward.unwrap_or(&start);
        let [x, y] = [last, next].map(|e| point(e) - centre);
        length += x.distance(y);
        turned += x.cross(y).dot(normal).atan2(x.dot(y));
        if onward.is_none() {
            break;
        }
        seen.push(next);
    }
    if turned.abs() < std::f64::consts::PI {
        return None;
    }
    let nearer = |[a, b]: [u32; 2]| if height(a).abs() <= height(b).abs() { a } else { b };
    let mut ring: Vec<usize> = seen.into_iter().map(|e| nearer(e) as usize).collect();
    ring.push(v);
    ring.sort_unstable();
    ring.dedup();
    Some((length, ring))
}

/// Returns a ring by the rules of takes before version 10: the vertices around the bone nearest to vertex `v`, at about
/// the same place along the bone as `v`.
pub(super) fn band(cage: &Cage, skeleton: &Skeleton, v: usize) -> Vec<usize> {
    let positions = &cage.mesh.positions;
    let x = positions[v];
    let near = |b: &&Bone| along(b, x).1;
    let bones = skeleton.bones.iter().filter(|b| b.head.distance(b.tail) > 0.0);
    let Some(bone) = bones.min_by(|a, b| near(a).total_cmp(&near(b))) else { return vec![v] };
    let (t, distance) = along(bone, x);
    let length = f64::from(bone.tail.distance(bone.head));
    // The ring extends half of the mean edge length at `v` to both sides. No vertex of the ring is more than twice as
    // far from the bone as `v`.
    let edges = cage.mesh.edges();
    let own: Vec<f64> = edges
        .iter()
        .filter(|e| e.contains(&(v as u32)))
        .map(|e| positions[e[0] as usize].distance(positions[e[1] as usize]))
        .collect();
    let band = 0.5 * own.iter().sum::<f64>() / own.len().max(1) as f64;
    (0..positions.len())
        .filter(|&k| {
            let (u, far) = along(bone, positions[k]);
            ((u - t) * length).abs() <= band && far <= 2.0 * distance.max(1e-9)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::nearest;
    use super::*;
    use crate::asset::Asset;
    use crate::base::Progress;
    use crate::base::math::Vec3;
    use crate::bind::BindOptions;
    use crate::cage::Coordinates;
    use crate::generate::{Kind, glb};
    use crate::rig::Pose;
    use crate::scene::{CageSource, Model};
    use std::time::Duration;

    /// Returns the ring at the cage's vertex nearest to a joint, moved.
    fn ring_at(model: &Model, cage: &Cage, joint: &str, aside: DVec3) -> (DVec3, Vec<DVec3>) {
        let skeleton = model.skeleton();
        let world = Pose::rest(skeleton).world(skeleton);
        let x: Vec3 = world[skeleton.find(joint).unwrap().index()].translation.into();
        let (v, _) = nearest(&cage.mesh.positions, x.as_dvec3() + aside).unwrap();
        let mirror = Mirror::of_skin(skeleton, &model.bound.character.control.positions);
        let ring = ring(cage, skeleton, v, mirror.as_ref());
        assert!(ring.contains(&v));
        (cage.mesh.positions[v], ring.into_iter().map(|k| cage.mesh.positions[k]).collect())
    }

    #[test]
    fn a_ring_goes_around_one_limb_or_around_the_trunk() {
        let asset = Asset::from_slice(&glb(Kind::Human).unwrap(), "human.glb").unwrap();
        let model = Model::bind(asset, &BindOptions::default(), Duration::ZERO).unwrap();
        for vertices in [60, 120, 240] {
            let source = CageSource::Made(vertices);
            let cage = model.new_cage(&source, Coordinates::default(), &Progress::default()).unwrap().0.cage;
            for (joint, side) in
                [("LeftLowerLeg", 1.0), ("RightLowerLeg", -1.0), ("LeftLowerArm", 1.0), ("RightFoot", -1.0)]
            {
                let (v, ring) = ring_at(&model, &cage, joint, DVec3::X * (0.12 * side));
                assert!(ring.len() >= 3, "{vertices} {joint}: {ring:?}");
                assert!(ring.iter().all(|x| x.x * side > 0.01), "{vertices} {joint}, at {v}: {ring:?}");
            }
            // The cage may have one loop around both thighs.
            let (v, ring) = ring_at(&model, &cage, "LeftUpperLeg", DVec3::new(0.15, -0.2, 0.0));
            assert!(ring.len() >= 3 && ring.iter().all(|x| x.x > 0.01), "{vertices}, at {v}: {ring:?}");
            let (v, ring) = ring_at(&model, &cage, "Spine1", DVec3::X * 0.2);
            let has = |of: &dyn Fn(&DVec3) -> bool| ring.iter().any(of);
            assert!(has(&|x| x.x > 0.05) && has(&|x| x.x < -0.05), "{vertices}, at {v}: {ring:?}");
            assert!(has(&|x| x.z > v.z + 0.02) && has(&|x| x.z < v.z - 0.02), "{vertices}, at {v}: {ring:?}");
            // Edges of the trunk are up to 0.6 m long in the coarsest cage.
            let most = if vertices == 60 { 0.35 } else { 0.25 };
            assert!(ring.iter().all(|x| (x.y - v.y).abs() < most), "{vertices}, at {v}: {ring:?}");
        }
    }
}
