//! The main chains of a skeleton, along which strokes are drawn: spine, tail, arms, legs. They are found by joint
//! positions in bind space, never by names.
//!
//! Joints in the character's plane of symmetry are spine, head and tail; joints with a mirrored partner are limbs. A
//! character without such a plane (a hand, a robot's arm) is divided into its longest paths.

use super::posable;
use super::posable::marked_parents;
use crate::base::NodeId;
use crate::base::math::{Aabb, Vec3};
use crate::rig::Skeleton;

/// Two positions count as equal within this fraction of the character's size.
const SAME: f32 = 0.03;
/// Chains shorter than this fraction of the character's size are ignored.
const DETAIL: f32 = 0.12;

/// The kind of a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChainKind {
    /// A chain in the plane of symmetry that carries limbs, or the only chain in the plane.
    Spine,
    /// A chain in the plane of symmetry that leaves the hips away from the spine.
    Tail,
    /// A chain beside the plane of symmetry that ends above the ground.
    Arm,
    /// A chain beside the plane of symmetry that ends on the ground.
    Leg,
    /// A chain of a character without symmetry.
    Limb,
}

/// A path of joints from ancestor to descendant, without branches.
#[derive(Clone, Debug, PartialEq)]
pub struct Chain {
    /// The kind of the chain.
    pub kind: ChainKind,
    /// The nodes of the chain's joints, each an ancestor of the next.
    pub nodes: Vec<NodeId>,
    /// The unit normal of the character's plane of symmetry; zero without symmetry.
    pub side: Vec3,
}

/// The tree of posable joints in bind space.
struct Tree {
    parent: Vec<Option<NodeId>>,
    children: Vec<Vec<NodeId>>,
    nodes: Vec<NodeId>,
    at: Vec<Vec3>,
    /// Length from each joint to its synthetic tip, metres; zero for joints with children.
    tip: Vec<f32>,
    /// Height of each joint or of its tip, whichever is lower, metres.
    low: Vec<f32>,
    size: f32,
    ground: f32,
    height: f32,
}

/// Finds the chains, the most important first: spine, tail, arms, legs. Without symmetry, finds the longest paths.
/// Empty for a skeleton without joints.
pub fn chains(skeleton: &Skeleton) -> Vec<Chain> {
    let tree = Tree::new(skeleton);
    if tree.nodes.is_empty() {
        return Vec::new();
    }
    let found = match tree.symmetry() {
        Some((axis, middle)) => tree.symmetric_chains(axis, middle),
        None => Vec::new(),
    };
    if found.is_empty() { tree.longest_paths() } else { found }
}

/// Returns the axis (0..=2) across a character's plane of symmetry in bind space, the plane's coordinate on it, and
/// the distance within which two positions count as equal. `None` without symmetry.
pub(super) fn symmetry(skeleton: &Skeleton) -> Option<(usize, f32, f32)> {
    let tree = Tree::new(skeleton);
    tree.symmetry().map(|(axis, middle)| (axis, middle, SAME * tree.size))
}

impl Tree {
    fn new(skeleton: &Skeleton) -> Self {
        let count = skeleton.nodes.len();
        let mut marked = vec![false; count];
        let nodes = posable(skeleton);
        nodes.iter().for_each(|n| marked[n.index()] = true);
        let parent = marked_parents(skeleton, &marked);
        let mut children = vec![Vec::new(); count];
        let ordered: Vec<NodeId> = skeleton.order.iter().copied().filter(|n| marked[n.index()]).collect();
        for &n in &ordered {
            if let Some(p) = parent[n.index()] {
                children[p.index()].push(n);
            }
        }
        let mut at = vec![Vec3::ZERO; count];
        for joint in skeleton.joints.iter().rev() {
            at[joint.node.index()] = joint.bind_from_joint.translation.into();
        }
        let mut tip = vec![0.0_f32; count];
        let mut low: Vec<f32> = at.iter().map(|p| p.y).collect();
        for bone in skeleton.bones.iter().filter(|b| b.child.is_none()) {
            let node = skeleton.joints[bone.parent.index()].node.index();
            tip[node] = tip[node].max((bone.tail - bone.head).length());
            low[node] = low[node].min(bone.tail.y);
        }
        let aabb = Aabb::of(ordered.iter().map(|n| at[n.index()]));
        let longest_tip = tip.iter().copied().fold(0.0, f32::max);
        let size = aabb.diagonal().max(longest_tip);
        let ground = ordered.iter().map(|n| low[n.index()]).fold(f32::INFINITY, f32::min);
        let height = aabb.max.y - ground;
        Self { parent, children, nodes: ordered, at, tip, low, size, ground, height }
    }

    fn edge(&self, child: NodeId) -> f32 {
        self.parent[child.index()].map_or(0.0, |p| (self.at[child.index()] - self.at[p.index()]).length())
    }

    /// Returns the longest path from a joint to a descendant through joints that satisfy `allowed`, and the path's
    /// length including the tip.
    fn longest(&self, from: NodeId, allowed: &dyn Fn(NodeId) -> bool) -> (Vec<NodeId>, f32) {
        // Parents precede children in `nodes`, so the reverse order visits children before their parents.
        let mut best = vec![(0.0_f32, None); self.at.len()];
        for &n in self.nodes.iter().rev() {
            let own = self.children[n.index()]
                .iter()
                .filter(|c| allowed(**c))
                .map(|c| (best[c.index()].0 + self.edge(*c), Some(*c)))
                .fold((self.tip[n.index()], None), |a, b| if b.0 > a.0 { b } else { a });
            best[n.index()] = own;
        }
        let mut path = vec![from];
        while let (_, Some(next)) = best[path[path.len() - 1].index()] {
            path.push(next);
        }
        (path, best[from.index()].0)
    }

    /// Returns the axis across the best plane of symmetry, and the plane's coordinate on this axis.
    fn symmetry(&self) -> Option<(usize, f32)> {
        self.nodes.first()?;
        let close = SAME * self.size;
        let judged = [0, 2, 1].map(|axis| {
            let mut along: Vec<f32> = self.nodes.iter().map(|n| self.at[n.index()][axis]).collect();
            along.sort_by(f32::total_cmp);
            let middle = along[along.len() / 2];
            let off: Vec<NodeId> = self
                .nodes
                .iter()
                .copied()
                .filter(|n| (self.at[n.index()][axis] - middle).abs() > close)
                .collect();
            let has_partner = |n: &&NodeId| {
                let mut mirrored = self.at[n.index()];
                mirrored[axis] = 2.0 * middle - mirrored[axis];
                off.iter().any(|m| (self.at[m.index()] - mirrored).length() < close)
            };
            (off.iter().filter(has_partner).count(), off.len(), axis, middle)
        });
        // The axis with the most paired joints wins; the order of the axes decides ties. A plane of symmetry needs at
        // least four paired joints.
        let best = judged.into_iter().fold(None::<(usize, usize, usize, f32)>, |best, j| match best {
            Some(b) if b.0 >= j.0 => Some(b),
            _ => Some(j),
        })?;
        let (paired, off, axis, middle) = best;
        (paired >= 4 && paired * 10 >= off * 7).then_some((axis, middle))
    }

    fn symmetric_chains(&self, axis: usize, middle: f32) -> Vec<Chain> {
        let close = SAME * self.size;
        let central = |n: NodeId| (self.at[n.index()][axis] - middle).abs() <= close;
        let mut side = Vec3::ZERO;
        side[axis] = 1.0;
        // A limb starts at the first joint beside the plane. The distance from the plane to this joint does not count
        // as length. The length must reach [`DETAIL`] with the tip, and half of [`DETAIL`] without the tip. A path that
        // starts on the ground is a foot control, not a limb.
        let is_limb = |c: NodeId| {
            let (path, length) = self.longest(c, &|_| true);
            let tip = path.last().map_or(0.0, |n| self.tip[n.index()]);
            let raised = self.at[c.index()].y > self.ground + 0.05 * self.height;
            raised && length >= DETAIL * self.size && length - tip >= 0.5 * DETAIL * self.size
        };
        let starts: Vec<NodeId> = self
            .nodes
            .iter()
            .copied()
            .filter(|&n| !central(n) && self.parent[n.index()].is_none_or(central) && is_limb(n))
            .collect();
        // A pair of limbs belongs to the nearest common ancestor of both limbs, because some rigs have one pelvis joint
        // per side.
        let mut pairs_at = vec![0_usize; self.at.len()];
        let mut pair_length = vec![0.0_f32; self.at.len()];
        for (i, a) in starts.iter().enumerate() {
            let mut mirrored = self.at[a.index()];
            mirrored[axis] = 2.0 * middle - mirrored[axis];
            let partner =
                starts[i + 1..].iter().find(|b| (self.at[b.index()] - mirrored).length() < 2.0 * close);
            if let Some(common) = partner.and_then(|b| self.common_ancestor(*a, *b)) {
                pairs_at[common.index()] += 1;
                let longest = &mut pair_length[common.index()];
                *longest = longest.max(self.longest(*a, &|_| true).1);
            }
        }
        // Foot controls hang from the root on the ground, so the hips are the first joint where long pairs begin.
        let long = 0.5 * pair_length.iter().copied().fold(0.0, f32::max);
        let starts_here = |n: &NodeId| pairs_at[n.index()] > 0 && pair_length[n.index()] >= long;
        let Some(hips) = self.nodes.iter().copied().find(|n| central(*n) && starts_here(n)) else {
            return Vec::new();
        };
        let mut ways: Vec<(usize, f32, Vec<NodeId>)> = self.children[hips.index()]
            .iter()
            .filter(|c| central(**c))
            .map(|&c| {
                let (path, length) = self.longest(c, &central);
                (path.iter().map(|n| pairs_at[n.index()]).sum(), length + self.edge(c), path)
            })
            .filter(|(_, length, _)| *length >= DETAIL * self.size)
            .collect();
        // The head is on the side of the arms. Without arms it is in front, since a glTF character faces +Z.
        let front = |path: &[NodeId]| path.last().map_or(0.0, |n| self.at[n.index()].z);
        ways.sort_by(|a, b| {
            b.0.cmp(&a.0).then(front(&b.2).total_cmp(&front(&a.2))).then(b.1.total_cmp(&a.1))
        });
        let mut out = Vec::new();
        for (i, (_, _, path)) in ways.into_iter().take(2).enumerate() {
            let (kind, mut nodes) =
                if i == 0 { (ChainKind::Spine, vec![hips]) } else { (ChainKind::Tail, Vec::new()) };
            let last_pair = path.iter().rposition(|n| pairs_at[n.index()] > 0).map_or(0, |i| i + 1);
            nodes.extend(if i == 0 { self.up_to_head(path, last_pair) } else { path });
            out.push(Chain { kind, nodes, side });
        }
        let mut limbs: Vec<(f32, Chain)> = Vec::new();
        for &start in &starts {
            let (path, length) = self.longest(start, &|_| true);
            let nodes = self.up_to_hand(path);
            let end = nodes.last().map_or(0.0, |n| self.low[n.index()]);
            let grounded = end < self.ground + 0.2 * self.height;
            let kind = if grounded { ChainKind::Leg } else { ChainKind::Arm };
            limbs.push((length, Chain { kind, nodes, side }));
        }
        limbs.sort_by(|a, b| b.0.total_cmp(&a.0));
        for kind in [ChainKind::Arm, ChainKind::Leg] {
            out.extend(limbs.iter().filter(|(_, c)| c.kind == kind).map(|(_, c)| c.clone()).take(4));
        }
        out
    }

    /// Returns the nearest common ancestor of two joints.
    fn common_ancestor(&self, a: NodeId, b: NodeId) -> Option<NodeId> {
        let above = |n: NodeId| std::iter::successors(self.parent[n.index()], |p| self.parent[p.index()]);
        let of_b: Vec<NodeId> = above(b).collect();
        above(a).find(|n| of_b.contains(n))
    }

    /// Cuts off the eye or jaw at the end of a path: ends the path at the first branching joint from index `from` on.
    fn up_to_head(&self, mut path: Vec<NodeId>, from: usize) -> Vec<NodeId> {
        if let Some(head) = (from..path.len()).find(|&i| self.children[path[i].index()].len() >= 2) {
            path.truncate(head + 1);
        }
        path
    }

    /// Cuts off the finger at a path's end: ends it at the first joint after the second that branches three ways.
    fn up_to_hand(&self, mut path: Vec<NodeId>) -> Vec<NodeId> {
        if let Some(hand) = (2..path.len()).find(|&i| self.children[path[i].index()].len() >= 3) {
            path.truncate(hand + 1);
        }
        path
    }

    /// Returns the longest path from each root and the longest paths that branch off, if they are long enough.
    fn longest_paths(&self) -> Vec<Chain> {
        let mut starts: Vec<NodeId> =
            self.nodes.iter().copied().filter(|n| self.parent[n.index()].is_none()).collect();
        let mut out: Vec<(f32, Vec<NodeId>)> = Vec::new();
        while let Some(start) = starts.pop() {
            let (path, length) = self.longest(start, &|_| true);
            for n in &path {
                starts.extend(self.children[n.index()].iter().filter(|c| !path.contains(c)));
            }
            out.push((length + self.edge(start), path));
        }
        out.sort_by(|a, b| b.0.total_cmp(&a.0));
        let longest = out.first().map_or(0.0, |o| o.0);
        out.into_iter()
            .filter(|(length, _)| *length > 0.0 && *length >= 0.4 * longest)
            .take(5)
            .map(|(_, nodes)| Chain { kind: ChainKind::Limb, nodes, side: Vec3::ZERO })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rig::testing::{chain, moved, skeleton, tree};

    fn names(skeleton: &Skeleton, kind: ChainKind) -> Vec<Vec<&str>> {
        let of = |c: &Chain| c.nodes.iter().map(|n| skeleton.nodes[n.index()].name.as_str()).collect();
        chains(skeleton).iter().filter(|c| c.kind == kind).map(of).collect()
    }

    #[test]
    fn a_biped_has_a_spine_two_arms_and_two_legs() {
        let (skeleton, _) = tree();
        assert_eq!(names(&skeleton, ChainKind::Spine), vec![vec!["hips", "chest", "neck", "head"]]);
        let mut arms = names(&skeleton, ChainKind::Arm);
        arms.sort();
        assert_eq!(arms, vec![vec!["arm.L", "elbow.L", "hand.L"], vec!["arm.R", "elbow.R", "hand.R"]]);
        assert_eq!(names(&skeleton, ChainKind::Leg).len(), 2);
        assert!(names(&skeleton, ChainKind::Tail).is_empty());
    }

    #[test]
    fn a_quadruped_has_spine_and_tail_and_no_arms() {
        let (skeleton, _) = skeleton(&[
            ("ground", None, moved(0.0, 0.0, 0.0)),
            ("hips", Some(0), moved(0.0, 0.6, -0.4)),
            ("back", Some(1), moved(0.0, 0.05, 0.3)),
            ("chest", Some(2), moved(0.0, 0.0, 0.3)),
            ("head", Some(3), moved(0.0, 0.25, 0.2)),
            ("tail1", Some(1), moved(0.0, 0.05, -0.15)),
            ("tail2", Some(5), moved(0.0, 0.05, -0.2)),
            ("hind.L", Some(1), moved(0.12, -0.1, 0.0)),
            ("hindfoot.L", Some(7), moved(0.0, -0.5, 0.0)),
            ("hind.R", Some(1), moved(-0.12, -0.1, 0.0)),
            ("hindfoot.R", Some(9), moved(0.0, -0.5, 0.0)),
            ("fore.L", Some(3), moved(0.12, -0.15, 0.0)),
            ("forefoot.L", Some(11), moved(0.0, -0.5, 0.0)),
            ("fore.R", Some(3), moved(-0.12, -0.15, 0.0)),
            ("forefoot.R", Some(13), moved(0.0, -0.5, 0.0)),
        ]);
        assert_eq!(names(&skeleton, ChainKind::Spine), vec![vec!["hips", "back", "chest", "head"]]);
        assert_eq!(names(&skeleton, ChainKind::Tail), vec![vec!["tail1", "tail2"]]);
        assert_eq!(names(&skeleton, ChainKind::Leg).len(), 4);
        assert!(names(&skeleton, ChainKind::Arm).is_empty());
    }

    #[test]
    fn chains_and_hands_are_taken_by_their_longest_paths() {
        let (one, _) = chain(5, 0.2);
        assert_eq!(names(&one, ChainKind::Limb), vec![vec!["j0", "j1", "j2", "j3", "j4"]]);
        let (single, _) = chain(1, 0.0);
        assert!(chains(&single).is_empty());
        assert!(chains(&Skeleton::default()).is_empty());
        let mut hand = vec![("wrist".to_owned(), None, moved(0.0, 0.0, 0.0))];
        for finger in 0..5_usize {
            let x = [0.0, 0.025, 0.047, 0.068, 0.09][finger];
            let first = hand.len();
            hand.push((format!("f{finger}a"), Some(0), moved(x - 0.05, 0.01 * finger as f32, 0.09)));
            hand.push((format!("f{finger}b"), Some(first), moved(0.0, 0.0, 0.04)));
            hand.push((format!("f{finger}c"), Some(first + 1), moved(0.0, 0.0, 0.03)));
        }
        let list: Vec<_> = hand.iter().map(|(n, p, t)| (n.as_str(), *p, *t)).collect();
        let (hand, _) = skeleton(&list);
        let fingers = names(&hand, ChainKind::Limb);
        assert_eq!(fingers.len(), 5);
        assert!(fingers.iter().filter(|f| f[0] == "wrist").count() == 1);
    }
}
