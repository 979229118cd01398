//! Posing by a baseline and an offset stroke (thesis 7.2; methods 7): every selected joint is moved by the warp
//! between the two, and the hierarchy is turned, root first, so that bones point that way.
//!
//! **(differs)** from the thesis where lengths are kept: a bone is turned to the *direction between the new
//! positions* of its two joints. Aimed at the new position itself it would turn around and point backwards as
//! soon as the offset stroke is drawn shorter than the baseline.

use super::{Selected, Stroke, Warp};
use crate::base::NodeId;
use crate::base::math::{DAffine3, DQuat, DVec3};
use crate::rig::{
    Pose, Skeleton, best_turn, is_regular, local_affine, marked_parents, posable, turn_between,
    world_from_parent, world_into,
};

/// Turns below this (radians) and moves below this share of the stroke's length are rounding, and leave the
/// pose as it is, to the bit.
const NOTHING: f64 = 1e-9;

/// What a stroke does to bone lengths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lengths {
    /// Bones keep their lengths; joints follow the stroke's shape.
    #[default]
    Keep,
    /// Joints land on their new positions; bones stretch.
    Stretch,
}

/// Whether the topmost selected joint of a chain moves, or stays and turns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RootMotion {
    /// It moves where it carries the whole character (see [`carries_all`]): hips move, an arm is not torn off.
    #[default]
    Auto,
    /// It stays.
    Fixed,
    /// It moves.
    Free,
}

/// How a stroke poses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Posing {
    /// Bone lengths.
    pub lengths: Lengths,
    /// The topmost joint.
    pub root: RootMotion,
    /// Whether the controller's roll twists.
    pub roll: bool,
}

/// The pose with the selected joints moved from the baseline to the offset stroke. Everything not selected
/// follows its parent rigidly. Equal strokes give an equal pose.
///
/// Joints under a node that flattens space (a zero scale) cannot be turned and stay as they are.
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

/// What a pair of strokes does to poses: [`pose_by_stroke`] again and again, without finding the warp again.
#[derive(Clone, Debug)]
pub struct Poser {
    /// The selected nodes; whatever is per node below is of no meaning for others.
    marked: Vec<bool>,
    parents: Vec<Option<NodeId>>,
    children: Vec<Vec<NodeId>>,
    /// Whether it moves or only turns.
    moves: Vec<bool>,
    /// The warp at the node's parameter: a point goes to `to + turn (x - from)`.
    turn: Vec<DQuat>,
    from: Vec<DVec3>,
    to: Vec<DVec3>,
    /// Moves below this (metres) are rounding.
    nothing: f64,
    // Room to work in.
    target: Vec<DVec3>,
    shift: Vec<DVec3>,
    before: Vec<DAffine3>,
    world: Vec<DAffine3>,
    pairs: Vec<(DVec3, DVec3)>,
}

impl Poser {
    /// Of a pair of strokes on a skeleton.
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
            target: vec![DVec3::ZERO; count],
            shift: vec![DVec3::ZERO; count],
            before: vec![DAffine3::IDENTITY; count],
            world: vec![DAffine3::IDENTITY; count],
            pairs: Vec::with_capacity(most),
        }
    }

    /// Poses a pose of the same skeleton. Does not allocate.
    pub fn apply(&mut self, skeleton: &Skeleton, pose: &mut Pose) {
        world_into(skeleton, pose, &mut self.before);
        self.world.copy_from_slice(&self.before);
        for &id in skeleton.order.iter().filter(|id| self.marked[id.index()]) {
            let i = id.index();
            let goal = self.to[i] + self.turn[i] * (self.before[i].translation - self.from[i]);
            // A topmost joint that stays takes the targets of its whole chain along.
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
        self.world[i] =
            world_from_parent(skeleton, node, &self.world) * local_affine(skeleton, node, &pose.local[i]);
    }

    /// Moves a node to its world target by its own translation.
    fn place(&mut self, skeleton: &Skeleton, pose: &mut Pose, node: NodeId) {
        let i = node.index();
        let parent = world_from_parent(skeleton, node, &self.world);
        let step = self.target[i] - self.world[i].translation;
        if !step.is_finite() || step.length() <= self.nothing || !is_regular(parent.matrix3) {
            return;
        }
        let local = parent.matrix3.inverse() * step;
        // Added to the old translation, so that a small step keeps its digits.
        let moved = pose.local[i].translation().as_dvec3() + local;
        pose.local[i].translation = moved.as_vec3().into();
        self.refresh(skeleton, pose, node);
    }

    /// Turns a node by the stroke's rotation, corrected by the smallest turn that makes its bones point from its target to
    /// those of its selected children. All in the space of the node's parent, so that directions are exact under parents of
    /// any scale.
    fn turn(&mut self, skeleton: &Skeleton, pose: &mut Pose, node: NodeId) {
        let i = node.index();
        let parent = world_from_parent(skeleton, node, &self.world).matrix3;
        let parent_before = world_from_parent(skeleton, node, &self.before).matrix3;
        let Some(wanted) = turn_between(parent_before, self.turn[i], parent) else {
            return;
        };
        let to_parent = parent.inverse();
        let local = local_affine(skeleton, node, &pose.local[i]);
        self.pairs.clear();
        for &child in &self.children[i] {
            let direction = self.target[child.index()] - self.target[i];
            // A bone of no length (a twist joint on its parent) has a direction of rounding only.
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
        // Of the two quaternions of a rotation the one near the old: keys blend the short way.
        let new = delta * old;
        let rotation = if new.dot(old) < 0.0 { -new } else { new };
        pose.local[i].rotation = rotation.normalize().as_quat().into();
        self.refresh(skeleton, pose, node);
    }
}

/// A descendant's position in a node's own space; what lies between moves rigidly.
fn child_in(skeleton: &Skeleton, pose: &Pose, node: NodeId, child: NodeId) -> DVec3 {
    let mut at = DVec3::ZERO;
    let mut id = child;
    while id != node {
        at = local_affine(skeleton, id, &pose.local[id.index()]).transform_point3(at);
        match skeleton.nodes[id.index()].parent {
            Some(parent) => id = parent,
            None => break,
        }
    }
    at
}

/// Whether moving a joint moves the whole character: no joint is above it; or at most two are, each with one
/// child, and it branches three ways or more, as hips below a root bone on the ground do.
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
