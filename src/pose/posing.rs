//! Posing by a baseline and an offset stroke (thesis 7.2; docs/internals.md, *Strokes and posing*). The warp between
//! the two strokes gives every selected joint a target position. The joints then rotate, root first, so that bones
//! point to these targets.
//!
//! **(differs)** from the thesis if bone lengths are kept: a bone takes the *direction between the target positions* of
//! its two joints. If the bone pointed from its actual position to the target of its end, it would flip backwards as
//! soon as the offset stroke is shorter than the baseline.

use super::{Selected, Stroke, Warp};
use crate::base::NodeId;
use crate::base::math::{DAffine3, DQuat, DVec3};
use crate::rig::{
    JointLimit, Limits, Pose, Skeleton, best_turn, is_regular, local_affine, marked_parents, posable,
    turn_between, world_from_parent, world_into,
};

/// Rotations below this limit (radians) and translations below this fraction of the stroke's length are rounding
/// errors and leave the pose unchanged.
const NOTHING: f64 = 1e-9;

/// Whether a stroke may change bone lengths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lengths {
    /// Bones keep their lengths; joints follow the stroke's shape.
    #[default]
    Keep,
    /// Joints move exactly to their new positions; bones stretch.
    Stretch,
}

/// Whether the topmost selected joint of a chain translates or only rotates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RootMotion {
    /// Translates joints that carry the whole character (see [`carries_all`]), such as hips, but not an arm's root.
    #[default]
    Auto,
    /// Only rotates.
    Fixed,
    /// Translates and rotates.
    Free,
}

/// Options of posing by a stroke.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Posing {
    /// Whether bones keep their lengths.
    pub lengths: Lengths,
    /// Whether the topmost joint translates.
    pub root: RootMotion,
    /// Whether the controller's roll twists the joints.
    pub roll: bool,
}

/// Returns the pose with the selected joints moved from the baseline to the offset stroke. Unselected nodes follow
/// their parents rigidly. Equal strokes leave the pose unchanged.
///
/// Joints below a node with zero scale cannot rotate and stay unchanged.
pub fn pose_by_stroke(
    skeleton: &Skeleton,
    pose: &Pose,
    selection: &[Selected],
    baseline: &Stroke,
    offset: &Stroke,
    posing: Posing,
) -> Pose {
    let mut out = pose.clone();
    Poser::new(skeleton, selection, baseline, offset, posing).apply(skeleton, &mut out);
    out
}

/// Precomputed [`pose_by_stroke`] for one pair of strokes, applicable to any number of poses.
#[derive(Clone, Debug)]
pub struct Poser {
    /// Whether each node is selected; the per-node fields below are undefined for other nodes.
    marked: Vec<bool>,
    parents: Vec<Option<NodeId>>,
    children: Vec<Vec<NodeId>>,
    /// Whether the node translates or only rotates.
    moves: Vec<bool>,
    /// Warp at the node's parameter: maps a point `x` to `to + turn (x - from)`.
    turn: Vec<DQuat>,
    from: Vec<DVec3>,
    to: Vec<DVec3>,
    /// Translations below this length (metres) are rounding errors.
    nothing: f64,
    /// Limits of the selected joints that have one; empty if none has.
    limits: Vec<Option<JointLimit>>,
    // Scratch buffers.
    target: Vec<DVec3>,
    shift: Vec<DVec3>,
    before: Vec<DAffine3>,
    world: Vec<DAffine3>,
    pairs: Vec<(DVec3, DVec3)>,
}

impl Poser {
    /// Precomputes the warp of a pair of strokes for the selected joints.
    pub fn new(
        skeleton: &Skeleton,
        selection: &[Selected],
        baseline: &Stroke,
        offset: &Stroke,
        posing: Posing,
    ) -> Self {
        let warp = Warp::new(baseline, offset, posing.roll);
        let count = skeleton.nodes.len();
        let mut marked = vec![false; count];
        let mut turn = vec![DQuat::IDENTITY; count];
        let (mut from, mut to) = (vec![DVec3::ZERO; count], vec![DVec3::ZERO; count]);
        for s in selection.iter().filter(|s| s.node.index() < count) {
            let i = s.node.index();
            marked[i] = true;
            turn[i] = warp.rotation(s.t);
            from[i] = baseline.spline().position(s.t);
            to[i] = offset.spline().position(warp.offset_parameter(s.t));
        }
        let parents = marked_parents(skeleton, &marked);
        let mut children = vec![Vec::new(); count];
        let mut moves = vec![false; count];
        for &id in skeleton.order.iter().filter(|id| marked[id.index()]) {
            let i = id.index();
            if let Some(p) = parents[i] {
                moves[i] = posing.lengths == Lengths::Stretch;
                children[p.index()].push(id);
            } else {
                moves[i] = match posing.root {
                    RootMotion::Auto => carries_all(skeleton, id),
                    RootMotion::Fixed => false,
                    RootMotion::Free => true,
                };
            }
        }
        let scale = baseline.spline().length().max(offset.spline().length());
        let most = children.iter().map(Vec::len).max().unwrap_or(0);
        Self {
            marked,
            parents,
            children,
            moves,
            turn,
            from,
            to,
            nothing: NOTHING * scale,
            limits: Vec::new(),
            target: vec![DVec3::ZERO; count],
            shift: vec![DVec3::ZERO; count],
            before: vec![DAffine3::IDENTITY; count],
            world: vec![DAffine3::IDENTITY; count],
            pairs: Vec::with_capacity(most),
        }
    }

    /// Keeps the selected joints within their limits. A joint that a pose already has beyond its limit goes no further
    /// out.
    pub fn limited(mut self, skeleton: &Skeleton, limits: &Limits) -> Self {
        if limits.keys().any(|n| self.marked.get(n.index()) == Some(&true)) {
            let bind = |(i, node): (usize, &crate::rig::RigNode)| {
                let limit = limits.get(&NodeId::from(i)).filter(|_| self.marked[i])?;
                Some(JointLimit::new(limit, node.rest.rotation().as_dquat()))
            };
            self.limits = skeleton.nodes.iter().enumerate().map(bind).collect();
        }
        self
    }

    /// Applies the strokes to a pose of the same skeleton. Does not allocate.
    pub fn apply(&mut self, skeleton: &Skeleton, pose: &mut Pose) {
        world_into(skeleton, pose, &mut self.before);
        self.world.copy_from_slice(&self.before);
        for &id in skeleton.order.iter().filter(|id| self.marked[id.index()]) {
            let i = id.index();
            let goal = self.to[i] + self.turn[i] * (self.before[i].translation - self.from[i]);
            // If the topmost joint of a chain does not translate, shift the targets of the whole chain such that its
            // own target is its position.
            self.shift[i] = match self.parents[i] {
                Some(p) => self.shift[p.index()],
                None if self.moves[i] => DVec3::ZERO,
                None => self.before[i].translation - goal,
            };
            self.target[i] = goal + self.shift[i];
        }
        for &id in &skeleton.order {
            let i = id.index();
            self.refresh(skeleton, pose, id);
            if !self.marked[i] {
                continue;
            }
            if self.moves[i] {
                self.place(skeleton, pose, id);
            }
            self.turn(skeleton, pose, id);
        }
    }

    /// Recomputes a node's world transform after its ancestors have changed.
    fn refresh(&mut self, skeleton: &Skeleton, pose: &Pose, node: NodeId) {
        let i = node.index();
        self.world[i] = world_from_parent(skeleton, node, &self.world) * local_affine(skeleton, node, pose);
    }

    /// Moves a node to its world-space target by changing its local translation.
    fn place(&mut self, skeleton: &Skeleton, pose: &mut Pose, node: NodeId) {
        let i = node.index();
        let parent = world_from_parent(skeleton, node, &self.world);
        let step = self.target[i] - self.world[i].translation;
        if !step.is_finite() || step.length() <= self.nothing || !is_regular(parent.matrix3) {
            return;
        }
        let local = parent.matrix3.inverse() * step;
        // Add to the old translation, to preserve the precision of small steps.
        let moved = pose.local[i].translation().as_dvec3() + local;
        pose.local[i].translation = moved.as_vec3().into();
        self.refresh(skeleton, pose, node);
    }

    /// Applies the stroke's rotation, then the smallest correction that points the node's bones from its target to
    /// the targets of its selected children. Works in the parent's space, so that directions are exact for any parent
    /// scale.
    fn turn(&mut self, skeleton: &Skeleton, pose: &mut Pose, node: NodeId) {
        let i = node.index();
        let parent = world_from_parent(skeleton, node, &self.world).matrix3;
        let parent_before = world_from_parent(skeleton, node, &self.before).matrix3;
        let Some(wanted) = turn_between(parent_before, self.turn[i], parent) else {
            return;
        };
        let to_parent = parent.inverse();
        let local = local_affine(skeleton, node, pose);
        self.pairs.clear();
        for &child in &self.children[i] {
            let direction = self.target[child.index()] - self.target[i];
            // The direction of a zero-length bone (a twist joint on its parent) is only rounding error.
            if direction.length() > 1000.0 * self.nothing {
                let tip = local.transform_point3(child_in(skeleton, pose, node, child)) - local.translation;
                self.pairs.push((wanted * tip, to_parent * direction));
            }
        }
        let delta = (best_turn(&self.pairs) * wanted).normalize();
        if delta.xyz().length() < 0.5 * NOTHING {
            return;
        }
        let old = pose.local[i].rotation().as_dquat().normalize();
        // Choose the quaternion sign nearest to the old rotation, so that keys interpolate along the shorter arc.
        let new = delta * old;
        let new = match self.limits.get(i) {
            Some(Some(limit)) => limit.including(old).clamp(new),
            _ => new,
        };
        let rotation = if new.dot(old) < 0.0 { -new } else { new };
        pose.local[i].rotation = rotation.normalize().as_quat().into();
        self.refresh(skeleton, pose, node);
    }
}

/// Returns a descendant's position in a node's space. The nodes between the two have the transforms of `pose`.
fn child_in(skeleton: &Skeleton, pose: &Pose, node: NodeId, child: NodeId) -> DVec3 {
    let mut at = DVec3::ZERO;
    let mut id = child;
    while id != node {
        at = local_affine(skeleton, id, pose).transform_point3(at);
        match skeleton.nodes[id.index()].parent {
            Some(parent) => id = parent,
            None => break,
        }
    }
    at
}

/// Returns whether moving a joint moves the whole character. True if the joint is topmost, or if it has at least
/// three branches and at most two single-child joints above it, such as hips below a root bone on the ground.
pub fn carries_all(skeleton: &Skeleton, node: NodeId) -> bool {
    let mut joint = vec![false; skeleton.nodes.len()];
    for id in posable(skeleton) {
        joint[id.index()] = true;
    }
    let parents = marked_parents(skeleton, &joint);
    let children = |of: NodeId| (0..joint.len()).filter(|&i| joint[i] && parents[i] == Some(of)).count();
    let mut above = std::iter::successors(parents[node.index()], |p| parents[p.index()]);
    let Some(first) = above.next() else {
        return true;
    };
    let ancestors: Vec<NodeId> = std::iter::once(first).chain(above.take(2)).collect();
    ancestors.len() <= 2 && ancestors.iter().all(|&a| children(a) == 1) && children(node) >= 3
}

#[cfg(test)]
mod tests;
