//! Limb analysis for grabs: branching joints and twist joints.

use crate::base::NodeId;
use crate::base::math::DAffine3;
use crate::rig::Skeleton;

/// A child counts as a branch of its own if its longest path is at least this fraction of its longest sibling's.
const BRANCH: f64 = 0.3;
/// Maximum distance of a twist joint from its parent's bone, as a fraction of the bone's length.
const ON_WAY: f64 = 0.15;

/// Finds twist joints: leaf joints on the bone from their parent to a sibling. They spread the bone's twist.
pub(super) fn twists(
    skeleton: &Skeleton,
    marked: &[bool],
    parents: &[Option<NodeId>],
    rest: &[DAffine3],
) -> Vec<bool> {
    let count = skeleton.nodes.len();
    let mut has_child = vec![false; count];
    parents
        .iter()
        .zip(marked)
        .filter(|(_, m)| **m)
        .filter_map(|(p, _)| *p)
        .for_each(|p| has_child[p.index()] = true);
    let at = |i: usize| rest[i].translation;
    let on_way = |i: usize, parent: NodeId, sibling: usize| {
        let (from, way) = (at(parent.index()), at(sibling) - at(parent.index()));
        let along = way.dot(at(i) - from) / way.length_squared();
        (-0.05..0.98).contains(&along) && (from + way * along).distance(at(i)) < ON_WAY * way.length()
    };
    (0..count)
        .map(|i| {
            let Some(parent) = parents[i].filter(|_| marked[i] && !has_child[i]) else { return false };
            (0..count).any(|s| s != i && marked[s] && parents[s] == Some(parent) && on_way(i, parent, s))
        })
        .collect()
}

/// Finds joints with at least two children of comparable path length. Fingers make the hand a branching joint, but a
/// twist joint does not make the arm one.
pub(super) fn branches(
    skeleton: &Skeleton,
    marked: &[bool],
    twists: &[bool],
    parents: &[Option<NodeId>],
    rest: &[DAffine3],
) -> Vec<bool> {
    let count = skeleton.nodes.len();
    let mut longest = vec![0.0_f64; count];
    let mut paths: Vec<Vec<f64>> = vec![Vec::new(); count];
    for &id in skeleton.order.iter().rev().filter(|n| marked[n.index()] && !twists[n.index()]) {
        if let Some(p) = parents[id.index()] {
            let edge = rest[id.index()].translation.distance(rest[p.index()].translation);
            let path = edge + longest[id.index()];
            longest[p.index()] = longest[p.index()].max(path);
            paths[p.index()].push(path);
        }
    }
    let parts =
        |i: usize| longest[i] > 0.0 && paths[i].iter().filter(|p| **p >= BRANCH * longest[i]).count() >= 2;
    (0..count).map(parts).collect()
}
