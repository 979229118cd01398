//! Bones that the user draws as strokes inside a mesh without a skeleton.
//!
//! Each stroke gives a chain of bones. A chain is attached to the nearest bone that exists when the chain is drawn, so
//! all chains form one hierarchy.

use crate::base::math::{DVec3, Vec3, distance_to_segment};
use crate::base::{ChainId, Error, Result};
use crate::export::RigBone;
use serde::{Deserialize, Serialize};

/// Maximum number of bones of a chain.
pub const MAX_CHAIN: usize = 64;
/// Maximum number of chains.
pub const MAX_CHAINS: usize = 256;
/// A point of a stroke becomes a corner if it deviates from the straight line between the corners beside it by more
/// than this fraction of the stroke's length.
const CORNER: f64 = 0.04;
/// Two joints nearer than this fraction of the chain's length become one.
const CLOSE: f32 = 0.01;

/// A chain of bones.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BoneChain {
    /// Id within the document.
    pub id: ChainId,
    /// Joints from the first joint to the end of the last bone, world space in the rest pose, metres; at least two.
    pub joints: Vec<[f32; 3]>,
    /// The bone that carries the chain: an earlier chain, and the index of a bone in that chain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<(ChainId, usize)>,
    /// The chain on the other side of the body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partner: Option<ChainId>,
}

impl BoneChain {
    /// Number of bones.
    pub fn bones(&self) -> usize {
        self.joints.len().saturating_sub(1)
    }

    /// Head and tail of each bone, world space, metres.
    pub fn segments(&self) -> impl Iterator<Item = [Vec3; 2]> {
        self.joints.windows(2).map(|pair| [pair[0].into(), pair[1].into()])
    }
}

/// Places joints along a line. `bones` is the number of bones of equal length; 0 places a joint at each corner of the
/// line. Returns `None` if the line has no length.
pub fn joints_of_line(line: &[DVec3], bones: usize) -> Option<Vec<Vec3>> {
    let lengths: Vec<f64> = std::iter::once(0.0)
        .chain(line.windows(2).scan(0.0, |sum, p| {
            *sum += p[0].distance(p[1]);
            Some(*sum)
        }))
        .collect();
    let length = *lengths.last()?;
    if !(length > 0.0 && length.is_finite()) {
        return None;
    }
    let mut joints: Vec<Vec3> = if bones == 0 {
        corners(line, CORNER * length).into_iter().map(|i| line[i].as_vec3()).collect()
    } else {
        let at = |wanted: f64| {
            let i = lengths.partition_point(|l| *l < wanted).clamp(1, line.len() - 1);
            let span = lengths[i] - lengths[i - 1];
            let t = if span > 0.0 { (wanted - lengths[i - 1]) / span } else { 0.0 };
            line[i - 1].lerp(line[i], t.clamp(0.0, 1.0)).as_vec3()
        };
        let bones = bones.min(MAX_CHAIN);
        (0..=bones).map(|k| at(length * k as f64 / bones as f64)).collect()
    };
    let close = CLOSE * length as f32;
    let end = joints.pop()?;
    joints.dedup_by(|b, a| a.distance(*b) <= close);
    while joints.len() > 1 && joints.last().is_some_and(|j| j.distance(end) <= close) {
        joints.pop();
    }
    joints.truncate(MAX_CHAIN);
    joints.push(end);
    (joints.len() > 1 && joints[0] != end).then_some(joints)
}

/// Returns the indices of the corners of a line, with both ends (Douglas and Peucker 1973).
fn corners(line: &[DVec3], tolerance: f64) -> Vec<usize> {
    let last = line.len() - 1;
    let mut keep = vec![0, last];
    let mut spans = vec![[0, last]];
    while let Some([a, b]) = spans.pop() {
        let deviation = |i: usize| {
            let along = line[b] - line[a];
            let t = ((line[i] - line[a]).dot(along) / along.length_squared().max(f64::MIN_POSITIVE))
                .clamp(0.0, 1.0);
            line[i].distance(line[a] + along * t)
        };
        let worst = (a + 1..b).map(|i| (deviation(i), i)).max_by(|x, y| x.0.total_cmp(&y.0));
        if let Some((_, i)) = worst.filter(|w| w.0 > tolerance) {
            keep.push(i);
            spans.extend([[a, i], [i, b]]);
        }
    }
    keep.sort_unstable();
    keep
}

/// Attaches new joints to the nearest bone of existing chains. If the first joint lies within `reach` of a joint of
/// that bone, it moves there. Returns the bone that carries the new chain; `None` without chains.
pub fn attach(chains: &[BoneChain], joints: &mut [Vec3], reach: f32) -> Option<(ChainId, usize)> {
    let first = *joints.first()?;
    let bones = chains.iter().flat_map(|c| c.segments().enumerate().map(move |(k, s)| (c, k, s)));
    let (_, chain, bone, ends) = bones
        .map(|(c, k, [a, b])| (distance_to_segment(first, a, b), c, k, [a, b]))
        // Of several nearest bones, the first wins. At a joint, this is the bone that ends there, so the new chain
        // follows the end of that bone.
        .min_by(|x, y| x.0.total_cmp(&y.0))?;
    let snapped = ends.into_iter().filter(|e| e.distance(first) <= reach);
    if let Some(joint) = snapped.min_by(|a, b| a.distance(first).total_cmp(&b.distance(first))) {
        joints[0] = joint;
    }
    Some((chain.id, bone))
}

/// Checks chains of a file: ids, numbers and parents.
///
/// # Errors
/// An id is repeated, a chain has too few or too many joints, a coordinate is not finite, or a parent does not come
/// before its child.
pub fn validate_chains(chains: &[BoneChain]) -> Result<()> {
    let wrong = |problem: String| Err(Error::input(problem, "draw the bones again"));
    if chains.len() > MAX_CHAINS {
        return wrong(format!("there are {} chains of bones, more than {MAX_CHAINS}", chains.len()));
    }
    for (i, chain) in chains.iter().enumerate() {
        let id = chain.id.0;
        if chains[..i].iter().any(|c| c.id == chain.id) {
            return wrong(format!("two chains of bones have the id {id}"));
        }
        if !(2..=MAX_CHAIN + 1).contains(&chain.joints.len()) {
            return wrong(format!("the bone chain {id} has {} joints", chain.joints.len()));
        }
        if !chain.joints.iter().flatten().all(|v| v.is_finite()) {
            return wrong(format!("the bone chain {id} has a joint that is not finite"));
        }
        let carried = chain
            .parent
            .is_none_or(|(parent, bone)| chains[..i].iter().any(|c| c.id == parent && bone < c.bones()));
        if !carried {
            return wrong(format!("the bone chain {id} is attached to a bone that does not exist"));
        }
    }
    Ok(())
}

/// Returns the chains' bones for [`crate::export::rig`]. Bones are named `Bone1_1`, `Bone1_2`, ... by chain and place;
/// chains with a partner have the number of the first of the two chains and the suffix `.L` (towards +X) or `.R`. If `taken`
/// has such a name, all names get a longer prefix.
pub fn rig_bones(chains: &[BoneChain], taken: impl Fn(&str) -> bool) -> Vec<RigBone> {
    let mut prefix = String::from("Bone");
    loop {
        let bones = named(chains, &prefix);
        if !bones.iter().any(|b| taken(&b.name)) {
            return bones;
        }
        prefix += "_";
    }
}

fn named(chains: &[BoneChain], prefix: &str) -> Vec<RigBone> {
    let mean = |c: &BoneChain| c.joints.iter().map(|j| j[0]).sum::<f32>() / c.joints.len() as f32;
    let place = |id: ChainId| chains.iter().position(|c| c.id == id);
    let name = |c: &BoneChain, bone: usize| {
        let own = place(c.id).unwrap_or_default();
        let other = c.partner.and_then(place).filter(|&p| chains[p].partner == Some(c.id) && p != own);
        let side = other.map_or("", |p| {
            let left = (mean(c), own < p) > (mean(&chains[p]), p < own);
            if left { ".L" } else { ".R" }
        });
        format!("{prefix}{}_{}{side}", other.unwrap_or(own).min(own) + 1, bone + 1)
    };
    let mut out = Vec::new();
    for chain in chains {
        for (k, pair) in chain.joints.windows(2).enumerate() {
            let above = match k {
                0 => chain.parent.and_then(|(id, bone)| Some(name(&chains[place(id)?], bone))),
                _ => Some(name(chain, k - 1)),
            };
            out.push(RigBone { name: name(chain, k), head: pair[0], tail: pair[1], parent: above });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(points: &[[f64; 3]]) -> Vec<DVec3> {
        let dense = points
            .windows(2)
            .flat_map(|p| (0..20).map(|i| DVec3::from(p[0]).lerp(DVec3::from(p[1]), f64::from(i) / 20.0)));
        dense.chain(points.last().map(|p| DVec3::from(*p))).collect()
    }

    #[test]
    fn joints_lie_at_corners_or_in_equal_distances() {
        let bent = line(&[[0.0, 0.0, 0.0], [1.0, 0.1, 0.0], [2.0, 0.0, 0.5], [2.0, -1.0, 0.5]]);
        let corners = joints_of_line(&bent, 0).unwrap();
        assert_eq!(corners.len(), 4);
        assert!(corners[1].distance(Vec3::new(1.0, 0.1, 0.0)) < 0.06, "{corners:?}");
        let straight = line(&[[0.0; 3], [3.0, 0.0, 0.0]]);
        assert_eq!(joints_of_line(&straight, 0).unwrap(), [Vec3::ZERO, Vec3::X * 3.0]);
        let three = joints_of_line(&straight, 3).unwrap();
        assert!(three.iter().zip(0..4).all(|(j, k)| j.distance(Vec3::X * k as f32) < 1e-6), "{three:?}");
        assert_eq!(joints_of_line(&[DVec3::ONE; 5], 2), None);
        assert_eq!(joints_of_line(&[DVec3::ONE], 2), None);
        assert_eq!(joints_of_line(&straight, 1000).unwrap().len(), MAX_CHAIN + 1);
    }

    #[test]
    fn chains_are_attached_to_the_nearest_bone_and_share_its_joint() {
        let spine = BoneChain {
            id: ChainId(4),
            joints: vec![[0.0, 1.0, 0.0], [0.0, 1.3, 0.0], [0.0, 1.6, 0.0]],
            parent: None,
            partner: None,
        };
        let mut arm = [Vec3::new(0.02, 1.58, 0.0), Vec3::new(0.6, 1.5, 0.0)];
        assert_eq!(attach(std::slice::from_ref(&spine), &mut arm, 0.05), Some((ChainId(4), 1)));
        assert_eq!(arm[0], Vec3::new(0.0, 1.6, 0.0));
        let mut leg = [Vec3::new(0.1, 0.9, 0.0), Vec3::new(0.1, 0.0, 0.0)];
        assert_eq!(attach(std::slice::from_ref(&spine), &mut leg, 0.05), Some((ChainId(4), 0)));
        assert_eq!(leg[0], Vec3::new(0.1, 0.9, 0.0));
        assert_eq!(attach(&[], &mut leg, 0.05), None);

        let side = |id: u32, x: f32, partner: u32| BoneChain {
            id: ChainId(id),
            joints: vec![[x, 1.5, 0.0], [2.0 * x, 1.5, 0.0]],
            parent: Some((ChainId(4), 1)),
            partner: Some(ChainId(partner)),
        };
        let chains = [spine, side(5, -0.2, 6), side(6, 0.2, 5)];
        validate_chains(&chains).unwrap();
        let bones = rig_bones(&chains, |_| false);
        let names: Vec<&str> = bones.iter().map(|b| b.name.as_str()).collect();
        assert_eq!(names, ["Bone1_1", "Bone1_2", "Bone2_1.R", "Bone2_1.L"]);
        assert_eq!(bones[3].parent.as_deref(), Some("Bone1_2"));
        assert_eq!(rig_bones(&chains, |n| n == "Bone1_2")[0].name, "Bone_1_1");
    }

    #[test]
    fn damaged_chains_are_refused() {
        let good =
            BoneChain { id: ChainId(1), joints: vec![[0.0; 3], [1.0; 3]], parent: None, partner: None };
        validate_chains(std::slice::from_ref(&good)).unwrap();
        for (chains, word) in [
            (vec![good.clone(), good.clone()], "id 1"),
            (vec![BoneChain { joints: vec![[0.0; 3]], ..good.clone() }], "1 joints"),
            (vec![BoneChain { joints: vec![[0.0; 3], [f32::NAN; 3]], ..good.clone() }], "finite"),
            (vec![BoneChain { parent: Some((ChainId(1), 0)), ..good.clone() }], "does not exist"),
            (
                vec![good.clone(), BoneChain { id: ChainId(2), parent: Some((ChainId(1), 1)), ..good }],
                "does not exist",
            ),
        ] {
            let error = validate_chains(&chains).unwrap_err().to_string();
            assert!(error.contains(word), "{error}");
        }
    }
}
