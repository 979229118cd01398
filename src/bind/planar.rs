//! Planar binding: dividing planes at the joints cut the mesh into one region per bone (thesis 3.2, eq. 13).

use super::BindOptions;
use super::attach::{BoneTopology, project};
use crate::base::math::{Quat, Vec3};
use crate::base::{BoneId, JointId};
use crate::rig::Skeleton;
use std::collections::BTreeMap;

/// Bones shorter than this fraction of the longest bone have no direction; the joints at their ends are merged.
const NO_LENGTH: f32 = 1e-5;

/// The dividing planes of a skeleton.
///
/// Let `u` and `v` be the unit directions of two bones away from their common joint. Their dividing plane contains the
/// half-vector `u + v` and the cross product of `u` and `v`; its normal is `v - u`. Around a joint, `x` therefore lies
/// in the region of the bone whose direction `u` has the largest `(x - joint) · u`.
pub(super) struct Dividers {
    ends: Vec<Option<[End; 2]>>,
    sites: Vec<Site>,
    /// Index of the site of each joint.
    site_of: Vec<usize>,
}

/// One end of a bone: its position, and the direction from this end along the bone.
#[derive(Clone, Copy)]
struct End {
    site: Option<usize>,
    at: Vec3,
    out: Vec3,
}

/// A joint, or several joints merged at one position.
#[derive(Default)]
struct Site {
    /// Bones with a length that meet here, with their directions away from here.
    bones: Vec<(BoneId, Vec3)>,
    /// Inverse of the user's rotation of the dividing planes.
    straightened: Quat,
}

impl Dividers {
    pub fn new(skeleton: &Skeleton, topology: &BoneTopology, planes: &BTreeMap<JointId, [f32; 3]>) -> Self {
        let along = |b: BoneId| {
            let bone = &skeleton.bones[b.index()];
            bone.tail - bone.head
        };
        let longest = topology.skinned.iter().map(|&b| along(b).length()).fold(0.0, f32::max);
        let has_length = |b: BoneId| along(b).length() > NO_LENGTH * longest;
        let mut above: Vec<usize> = (0..skeleton.joints.len()).collect();
        // The two joints of a zero-length bone share the site of the upper joint.
        for &b in topology.skinned.iter().filter(|&&b| !has_length(b)) {
            let bone = &skeleton.bones[b.index()];
            if let Some(child) = bone.child {
                let (from, to) =
                    (root_of(&mut above, child.index()), root_of(&mut above, bone.parent.index()));
                above[from] = to;
            }
        }
        let site_of: Vec<usize> = (0..above.len()).map(|j| root_of(&mut above, j)).collect();
        let mut sites: Vec<Site> = site_of.iter().map(|_| Site::default()).collect();
        for (joint, turn) in planes {
            if let Some(&site) = site_of.get(joint.index()) {
                sites[site].straightened = BindOptions::turn(*turn).inverse();
            }
        }
        let mut ends = vec![None; skeleton.bones.len()];
        for &b in topology.skinned.iter().filter(|&&b| has_length(b)) {
            let bone = &skeleton.bones[b.index()];
            let direction = along(b).normalize_or_zero();
            let head = End { site: Some(site_of[bone.parent.index()]), at: bone.head, out: direction };
            let tail = End { site: bone.child.map(|c| site_of[c.index()]), at: bone.tail, out: -direction };
            for end in [head, tail] {
                if let Some(site) = end.site {
                    sites[site].bones.push((b, end.out));
                }
            }
            ends[b.index()] = Some([head, tail]);
        }
        Self { ends, sites, site_of }
    }

    /// Returns the bone whose region contains `x`, and the parameter on it. The search starts at the bone `start`.
    pub fn bind(&self, skeleton: &Skeleton, start: BoneId, x: Vec3) -> (BoneId, f32) {
        let mut bone = start;
        if self.ends[start.index()].is_none() {
            let owner = &skeleton.bones[start.index()];
            match self.winner(self.site_of[owner.parent.index()], owner.head, x, start) {
                Some(b) => bone = b,
                None => return (start, 0.0),
            }
        }
        // The search crosses each joint at most once, because the joint's winner for `x` never changes and a skeleton
        // has no cycles.
        for _ in 0..self.ends.len() {
            let Some(ends) = &self.ends[bone.index()] else { break };
            let next =
                ends.iter().find_map(|end| self.winner(end.site?, end.at, x, bone).filter(|&w| w != bone));
            match next {
                Some(b) => bone = b,
                None => break,
            }
        }
        (bone, self.parameter(skeleton, bone, x))
    }

    /// Returns the bone at a site whose region contains `x`; `current` wins ties.
    fn winner(&self, site: usize, at: Vec3, x: Vec3, current: BoneId) -> Option<BoneId> {
        let offset = self.sites[site].straightened * (x - at);
        let slack = 1e-6 * offset.length();
        let mut best: Option<(BoneId, f32)> = None;
        for &(bone, out) in &self.sites[site].bones {
            let score = offset.dot(out) + if bone == current { slack } else { 0.0 };
            if best.is_none_or(|(_, most)| score > most) {
                best = Some((bone, score));
            }
        }
        best.map(|(b, _)| b)
    }

    /// Returns `t = d_p / (d_p + d_c)` from the distances to the nearest dividing plane at each end (eq. 13).
    fn parameter(&self, skeleton: &Skeleton, bone: BoneId, x: Vec3) -> f32 {
        let Some(ends) = &self.ends[bone.index()] else { return 0.0 };
        let [p, c] = ends.map(|end| self.distance(&end, bone, x));
        let t = p / (p + c);
        if t.is_finite() { t } else { project(&skeleton.bones[bone.index()], x) }
    }

    /// Returns the distance to the nearest dividing plane at an end. At a free end, the plane is perpendicular to the
    /// bone.
    fn distance(&self, end: &End, bone: BoneId, x: Vec3) -> f32 {
        let across = (x - end.at).dot(end.out).max(0.0);
        let Some(site) = end.site.map(|s| &self.sites[s]) else { return across };
        let offset = site.straightened * (x - end.at);
        let others = site.bones.iter().filter(|o| o.0 != bone);
        let normals = others.filter_map(|o| (end.out - o.1).try_normalize());
        let nearest = normals.map(|n| offset.dot(n).max(0.0)).reduce(f32::min);
        nearest.unwrap_or_else(|| offset.dot(end.out).max(0.0))
    }
}

/// Returns the corners of a square on the dividing plane of two bones that meet at a joint: bind space, metres. The
/// square is as wide as the shorter bone is long, and its centre is the joint. `turn` is the user's rotation of the
/// planes. Returns `None` if a bone does not end at the joint, or if the bones have no plane.
pub fn dividing_square(
    skeleton: &Skeleton,
    joint: JointId,
    bones: [BoneId; 2],
    turn: Quat,
) -> Option<[Vec3; 4]> {
    let out = |b: BoneId| {
        let bone = skeleton.bones.get(b.index())?;
        let along = bone.tail - bone.head;
        if bone.parent == joint {
            Some((bone.head, along))
        } else {
            (bone.child == Some(joint)).then_some((bone.tail, -along))
        }
    };
    let [(at, a), (_, b)] = [out(bones[0])?, out(bones[1])?];
    let (u, v) = (a.try_normalize()?, b.try_normalize()?);
    let normal = (v - u).try_normalize()?;
    let half = (u + v).try_normalize().unwrap_or_else(|| normal.any_orthonormal_vector());
    let size = 0.5 * a.length().min(b.length());
    let (x, y) = (turn * half * size, turn * normal.cross(half) * size);
    Some([at + x + y, at - x + y, at - x - y, at + x - y])
}

/// Returns the representative of an element (union-find with path halving).
fn root_of(above: &mut [usize], mut at: usize) -> usize {
    while above[at] != at {
        above[at] = above[above[at]];
        at = above[at];
    }
    at
}

#[cfg(test)]
mod tests {
    use super::super::{Binding, Character, bind_attachments};
    use super::*;
    use crate::asset::Influences;

    /// Creates vertices without triangles, all skinned to joint 0.
    fn points(x: &[Vec3], joints: &[(Vec3, Option<usize>)]) -> Character {
        let mut influences = Influences::default();
        x.iter().for_each(|_| influences.push([(0, 1.0)]));
        Character::from_parts(x.to_vec(), vec![], joints, influences).unwrap()
    }

    fn bind(c: &Character, planes: &[(u32, [f32; 3])]) -> Vec<(u32, f32)> {
        let planes = planes.iter().map(|&(j, turn)| (JointId(j), turn)).collect();
        let options = BindOptions { method: Binding::Planar, smooth: 0, planes, ..BindOptions::default() };
        let (a, _) = bind_attachments(c, &options).unwrap();
        // Control vertices are renumbered; this restores the given order.
        c.display.control_of.iter().map(|&v| (a.bone[v as usize].0, a.t[v as usize])).collect()
    }

    #[test]
    fn an_elbow_is_cut_along_its_half_vector() {
        let elbow = [(Vec3::ZERO, None), (Vec3::Y, Some(0)), (Vec3::new(1.0, 1.0, 0.0), Some(1))];
        let x = [Vec3::new(0.3, 0.4, 0.0), Vec3::new(0.41, 0.6, 0.2), Vec3::new(0.39, 0.6, 0.2)];
        let got = bind(&points(&x, &elbow), &[]);
        // The root's plane is at distance 0.4, the elbow's diagonal plane at distance (0.6 - 0.3) / sqrt 2.
        let to_diagonal = 0.3 / 2f32.sqrt();
        assert_eq!(got[0].0, 0);
        assert!((got[0].1 - 0.4 / (0.4 + to_diagonal)).abs() < 1e-5, "{}", got[0].1);
        // The points lie on either side of the diagonal; their attachment points are nearly equal.
        assert_eq!((got[1].0, got[2].0), (1, 0));
        assert!(got[1].1 < 0.02 && got[2].1 > 0.98, "{got:?}");
    }

    #[test]
    fn siblings_are_divided_and_a_turned_plane_moves_the_cut() {
        let fork = [
            (Vec3::ZERO, None),
            (Vec3::Y, Some(0)),
            (Vec3::new(-1.0, 2.0, 0.0), Some(1)),
            (Vec3::new(1.0, 2.0, 0.0), Some(1)),
        ];
        let x = [Vec3::new(0.05, 1.5, 0.0), Vec3::new(-0.05, 1.5, 0.0), Vec3::new(0.3, 0.7, 0.0)];
        let c = points(&x, &fork);
        let [stem, left, right] = [0, 1, 2];
        assert_eq!(bind(&c, &[]).iter().map(|e| e.0).collect::<Vec<_>>(), [right, left, stem]);
        let turned = bind(&c, &[(1, [0.0, 0.0, 11.5])]);
        assert_eq!(turned.iter().map(|e| e.0).collect::<Vec<_>>(), [right, right, stem]);
    }

    #[test]
    fn the_drawn_square_lies_between_the_regions_of_its_bones() {
        let elbow = [(Vec3::ZERO, None), (Vec3::Y, Some(0)), (Vec3::new(0.6, 1.4, 0.0), Some(1))];
        let turned = [5.0, 10.0, 20.0];
        for turn in [[0.0; 3], turned] {
            let c = points(&[Vec3::X], &elbow);
            let square = |j: u32, bones: [u32; 2]| {
                dividing_square(&c.skeleton, JointId(j), bones.map(BoneId), BindOptions::turn(turn))
            };
            let corners = square(1, [0, 1]).unwrap();
            let normal = (corners[1] - corners[0]).cross(corners[2] - corners[1]).normalize();
            // Corners on the outer side may lie nearer to other planes, so the test uses points near the joint.
            let near = corners.map(|x| Vec3::Y + 0.2 * (x - Vec3::Y));
            let sides = [-1e-3, 1e-3].map(|d| near.map(|x| x + d * normal)).concat();
            let bound = bind(&points(&sides, &elbow), &[(1, turn)]);
            let bones: Vec<u32> = bound.iter().map(|b| b.0).collect();
            assert!(bones == [0, 0, 0, 0, 1, 1, 1, 1] || bones == [1, 1, 1, 1, 0, 0, 0, 0], "{bones:?}");
            assert_eq!((square(0, [0, 1]), square(1, [0, 9]), square(1, [0, 0])), (None, None, None));
        }
    }

    #[test]
    fn zero_length_bones_are_crossed() {
        let twist = [(Vec3::ZERO, None), (Vec3::Y, Some(0)), (Vec3::Y, Some(1)), (Vec3::Y * 2.0, Some(2))];
        let got = bind(&points(&[Vec3::new(0.1, 0.5, 0.0), Vec3::new(0.1, 1.5, 0.0)], &twist), &[]);
        assert_eq!((got[0].0, got[1].0), (0, 2));
        assert!(got.iter().all(|e| (e.1 - 0.5).abs() < 1e-5));
        let all_at_one = [(Vec3::Y, None), (Vec3::Y, Some(0))];
        assert_eq!(bind(&points(&[Vec3::X], &all_at_one), &[]), [(0, 0.0)]);
    }
}
