//! Grabs a bone: the joint chain above the grabbed point rotates so that the point follows the hand, and the bone
//! follows the hand's rotation. Pinned joints stay in place.
//!
//! Every solve starts from the pose at the beginning of the grab, so nothing drifts and the path of the hand does not
//! matter. Joints with limits stay within them ([`limited`]). The chains of two holds never share a joint, so they are
//! solved one after the other, root first. Damped least squares on joint rotations solve a chain (Wampler 1986; Buss,
//! "Introduction to inverse kinematics with Jacobian transpose, pseudoinverse and damped least squares methods", 2004),
//! in f64.

mod limbs;
mod limited;

use self::limbs::{branches, twists};
use self::limited::{Bounded, bounded};
use super::carries_all;
use super::pinned::Pinned;
use crate::base::NodeId;
use crate::base::math::{DAffine3, DMat3, DQuat, DVec3};
use crate::rig::{
    JointLimits, Limits, Pose, Skeleton, hinges, is_regular, local_affine, marked_parents, nearest, posable,
    turn_between, world, world_from_parent,
};

/// Maximum number of steps of a solve.
const STEPS: usize = 64;
/// A solve ends when the point's distance to its goal is below this fraction of the chain's length.
const DONE: f64 = 1e-6;
/// Damping as a fraction of the chain's length.
const DAMPING: f64 = 0.02;
/// Maximum rotation of a joint per step, radians.
const LARGEST_TURN: f64 = 0.35;
/// A limb stretched beyond this fraction of its length needs an explicit bend direction.
const STRETCHED: f64 = 0.985;
/// Maximum reach of a chain as a fraction of its length, so that a grab does not lock a limb straight. A limb that is
/// straighter at the beginning keeps its reach.
const REACH: f64 = 0.9995;

/// Target of a held point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Goal {
    /// Target position, world space, metres.
    pub position: DVec3,
    /// World-space rotation of the hand since the grab began.
    pub turn: DQuat,
}

/// A held or pinned point on a node.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hold {
    pub node: NodeId,
    /// Position in the node's local space.
    pub point: DVec3,
}

/// A grab of one character by one or more hands.
pub struct Grab {
    pub(super) start: Pose,
    /// World transforms at the beginning of the grab.
    pub(super) before: Vec<DAffine3>,
    /// Whether posing may move the node.
    pub(super) marked: Vec<bool>,
    pub(super) parents: Vec<Option<NodeId>>,
    /// Whether the joint's children form separate branches.
    branches: Vec<bool>,
    /// Whether the joint only spreads a bone's twist. A grab of such a joint grabs the bone.
    pub(super) twists: Vec<bool>,
    pub(super) pinned: Vec<bool>,
    /// Bend axis per node, in the parent's space in the rest pose.
    pub(super) hinges: Vec<DVec3>,
    depth: Vec<usize>,
    pub(super) holds: Vec<Hold>,
    /// World transform of each held node when its hold began.
    first: Vec<DMat3>,
    /// Rotation of each held node from `before` to `first`. Empty until [`Grab::restart`].
    turned: Vec<DQuat>,
    /// Whether only the held bones rotate, and no joints above them.
    alone: bool,
    /// Solver that restores pins violated by the limb solve.
    pinning: Option<Box<Pinned>>,
    /// Limits of the joints, which allow the pose at the beginning of the grab.
    pub(super) limits: JointLimits,
    /// Whether joints that hang on a pinned joint rotate in a grab of the whole body, as in takes before version 9.
    turns_below_pins: bool,
    /// Whether a grab bends a limb that is straight at its beginning, as in takes before version 13.
    bends_straight: bool,
}

/// A held or pinned point with its target.
#[derive(Clone, Copy, Debug)]
pub(super) struct Task {
    pub hold: Hold,
    pub goal: Goal,
    pub pin: bool,
    /// Whether the task prescribes the node's rotation; false for a pinned joint that is also held.
    pub turns: bool,
}

/// A pose during the solve, with its world transforms.
struct Work<'a> {
    skeleton: &'a Skeleton,
    pose: Pose,
    world: Vec<DAffine3>,
}

impl Grab {
    /// Starts a grab of a posed character with pinned nodes.
    pub fn new(skeleton: &Skeleton, pose: &Pose, pins: &[NodeId]) -> Self {
        let count = skeleton.nodes.len();
        let mut marked = vec![false; count];
        posable(skeleton).iter().for_each(|n| marked[n.index()] = true);
        let parents = marked_parents(skeleton, &marked);
        let mut pinned = vec![false; count];
        let is_joint = |p: &&NodeId| p.index() < count && skeleton.nodes[p.index()].joint.is_some();
        pins.iter().filter(is_joint).for_each(|p| pinned[p.index()] = true);
        let mut depth = vec![0; count];
        for &id in &skeleton.order {
            depth[id.index()] = skeleton.nodes[id.index()].parent.map_or(0, |p| depth[p.index()] + 1);
        }
        let rest = world(skeleton, &Pose::rest(skeleton));
        let twists = twists(skeleton, &marked, &parents, &rest);
        Self {
            branches: branches(skeleton, &marked, &twists, &parents, &rest),
            twists,
            hinges: hinges(skeleton, &parents, &rest),
            start: pose.clone(),
            before: world(skeleton, pose),
            marked,
            parents,
            pinned,
            depth,
            holds: Vec::new(),
            first: Vec::new(),
            turned: Vec::new(),
            alone: false,
            pinning: None,
            limits: JointLimits::default(),
            turns_below_pins: false,
            bends_straight: false,
        }
    }

    /// Keeps joints within their limits. A joint that starts beyond its limit may stay there or go back.
    pub fn limited(mut self, skeleton: &Skeleton, limits: &Limits) -> Self {
        self.limits = JointLimits::new(skeleton, limits, &self.start);
        self
    }

    /// Lets a grab of the whole body rotate joints that hang on a pinned joint, as grabs of takes before version 9.
    pub(super) fn turning_below_pins(mut self) -> Self {
        self.turns_below_pins = true;
        self
    }

    /// Lets a grab bend a limb that is straight at its beginning, as grabs of takes before version 13.
    pub fn bending_straight(mut self) -> Self {
        self.bends_straight = true;
        self
    }

    /// Restricts the grab to the held bones: no joint above them rotates.
    pub fn alone(mut self) -> Self {
        self.alone = true;
        self
    }

    /// Adds a hold of a node at a world-space point. Goals follow the order of the holds.
    pub fn hold(&mut self, node: NodeId, point: DVec3) {
        let twist = self.twists.get(node.index()).copied().unwrap_or(false);
        let node = self.parents.get(node.index()).copied().flatten().filter(|_| twist).unwrap_or(node);
        let world_from_node = self.before.get(node.index()).copied().unwrap_or_default();
        let usable = is_regular(world_from_node.matrix3) && point.is_finite();
        let point = if usable { world_from_node.inverse().transform_point3(point) } else { DVec3::ZERO };
        self.holds.push(Hold { node, point });
        self.first.push(world_from_node.matrix3);
    }

    /// Continues the grab from another pose, within the limits. Holds and goals stay: a goal's rotation still counts from
    /// the beginning of its hold.
    pub fn restart(&mut self, skeleton: &Skeleton, pose: &Pose, limits: &Limits) {
        self.start.copy_from(pose);
        self.before = world(skeleton, pose);
        self.limits = JointLimits::new(skeleton, limits, pose);
        self.pinning = None;
        let now = |hold: &Hold| self.before.get(hold.node.index()).map(|w| w.matrix3);
        let turned = self.holds.iter().zip(&self.first).map(|(hold, first)| {
            let usable = now(hold).filter(|m| is_regular(*m) && is_regular(*first));
            usable.map_or(DQuat::IDENTITY, |m| nearest(*first * m.inverse()))
        });
        self.turned = turned.collect();
    }

    /// Whether the grab continues from another pose than that of its beginning.
    pub(super) fn is_restarted(&self) -> bool {
        !self.turned.is_empty()
    }

    /// Returns the pose that brings the held points closest to their goals, within bone lengths and pins. `goals` has
    /// one goal per hold. Also returns the largest remaining distance to a goal, metres.
    pub fn solve(&mut self, skeleton: &Skeleton, goals: &[Goal]) -> (Pose, f64) {
        let mut tasks = self.tasks(goals);
        tasks.sort_by_key(|t| (self.depth[t.hold.node.index()], t.hold.node));
        let held: Vec<NodeId> = tasks.iter().filter(|t| !t.pin).map(|t| t.hold.node).collect();
        let mut work = Work { skeleton, pose: self.start.clone(), world: self.before.clone() };
        for task in tasks.iter().filter(|t| t.turns) {
            let i = task.hold.node.index();
            if !is_regular(work.world[i].matrix3) || !is_regular(self.before[i].matrix3) {
                continue;
            }
            // Earlier tasks may have rotated the node already, so compute the rotation that remains.
            let turned = DMat3::from_quat(task.goal.turn) * self.before[i].matrix3;
            let turn = nearest(turned * work.world[i].matrix3.inverse());
            let moved = work.world[i].transform_point3(task.hold.point).distance(task.goal.position);
            if task.pin && moved < 1e-9 && turn.xyz().length() < 1e-9 {
                continue;
            }
            if self.shifts(skeleton, task) {
                work.place(&self.limits, task.hold, turn, task.goal.position);
            } else {
                let chain = self.chain(task, &held);
                self.bend(&mut work, task, turn, &chain);
            }
        }
        let finite =
            work.pose.local.iter().all(|l| l.rotation.iter().chain(&l.translation).all(|v| v.is_finite()));
        if !finite {
            work.pose.copy_from(&self.start);
            work.refresh();
        } else if tasks.iter().any(|t| t.pin) {
            let known = self.pinning.take().filter(|p| p.fits(&tasks));
            let mut pinned = known.unwrap_or_else(|| Box::new(Pinned::limbs(skeleton, self, &tasks)));
            if pinned.hold(skeleton, self, &work.pose, &tasks) {
                work.pose.copy_from(pinned.pose());
                work.refresh();
            }
            self.pinning = Some(pinned);
        }
        let missed = |task: &Task| {
            let world = &work.world[task.hold.node.index()];
            world.transform_point3(task.hold.point).distance(task.goal.position)
        };
        let missed = tasks.iter().filter(|t| !t.pin).map(missed).fold(0.0, f64::max);
        (work.pose, missed)
    }

    /// Returns whether the task translates its node together with all descendants.
    pub(super) fn shifts(&self, skeleton: &Skeleton, task: &Task) -> bool {
        !task.pin && !self.pinned[task.hold.node.index()] && carries_all(skeleton, task.hold.node)
    }

    /// Returns tasks for holds with finite goals, merging two holds on one node, and then tasks for the pins.
    pub(super) fn tasks(&self, goals: &[Goal]) -> Vec<Task> {
        let mut tasks: Vec<Task> = Vec::new();
        for (k, (hold, goal)) in self.holds.iter().zip(goals).enumerate() {
            let i = hold.node.index();
            let finite = goal.position.is_finite() && goal.turn.is_finite();
            if !finite || i >= self.before.len() {
                continue;
            }
            let turn = goal.turn.normalize();
            let turn = self.turned.get(k).map_or(turn, |turned| turn * *turned);
            let goal = Goal { position: goal.position, turn };
            match tasks.iter_mut().find(|t| t.hold.node == hold.node) {
                Some(first) => *first = self.both(first, hold, &goal),
                None => tasks.push(Task { hold: *hold, goal, pin: false, turns: true }),
            }
        }
        for (i, _) in self.pinned.iter().enumerate().filter(|(_, p)| **p) {
            let node = NodeId::from(i);
            let turns = tasks.iter().all(|t| t.hold.node != node);
            let goal = Goal { position: self.before[i].translation, turn: DQuat::IDENTITY };
            tasks.push(Task { hold: Hold { node, point: DVec3::ZERO }, goal, pin: true, turns });
        }
        tasks
    }

    /// Merges two hands on one bone. The midpoint is the held point, the line between the hands rotates the bone, and
    /// the average of the hand rotations twists the bone.
    fn both(&self, first: &Task, hold: &Hold, goal: &Goal) -> Task {
        let world = &self.before[hold.node.index()];
        let line = world.transform_vector3(hold.point - first.hold.point);
        let mean = first.goal.turn.slerp(goal.turn, 0.5);
        let wanted = goal.position - first.goal.position;
        let arc = crate::rig::smallest_turn(mean * line, wanted);
        Task {
            hold: Hold { node: hold.node, point: (first.hold.point + hold.point) * 0.5 },
            goal: Goal {
                position: (first.goal.position + goal.position) * 0.5,
                turn: (arc * mean).normalize(),
            },
            pin: false,
            turns: true,
        }
    }

    /// Returns, per node, whether the node keeps its local transform in a grab of the whole body: the node hangs on a
    /// pinned joint, and no joint of a task is at or below it.
    pub(super) fn kept_by_pins(&self, skeleton: &Skeleton, tasks: &[Task]) -> Vec<bool> {
        let mut leads = vec![false; self.pinned.len()];
        for task in tasks {
            let line = std::iter::successors(Some(task.hold.node), |n| skeleton.nodes[n.index()].parent);
            line.for_each(|n| leads[n.index()] = true);
        }
        let mut kept = vec![false; self.pinned.len()];
        for &id in skeleton.order.iter().filter(|n| !self.turns_below_pins && !leads[n.index()]) {
            let parent = skeleton.nodes[id.index()].parent;
            kept[id.index()] = parent.is_some_and(|p| self.pinned[p.index()] || kept[p.index()]);
        }
        kept
    }

    /// Returns the joints that rotate for a task, from the task's node upwards. The chain ends at a pinned joint, which
    /// may rotate but not move. It also ends below a parent that is held or that branches.
    pub(super) fn chain(&self, task: &Task, held: &[NodeId]) -> Vec<NodeId> {
        let mut chain = vec![task.hold.node];
        let mut at = task.hold.node;
        if self.alone && !task.pin {
            return chain;
        }
        while task.pin && at == task.hold.node || !self.pinned[at.index()] {
            let Some(parent) = self.parents[at.index()] else { break };
            if self.branches[parent.index()] || held.contains(&parent) {
                break;
            }
            chain.push(parent);
            at = parent;
        }
        chain
    }

    /// Rotates a chain so that the point reaches its goal and the node takes its target rotation.
    fn bend(&self, work: &mut Work, task: &Task, turn: DQuat, chain: &[NodeId]) {
        // From here on, nodes are ordered root first.
        let nodes: Vec<NodeId> = chain.iter().rev().copied().collect();
        let mut links = Links::new(work, &nodes, task, &self.limits);
        if self.bends_straight {
            links.first = [0.0; 2];
        }
        let last = nodes.len() - 1;
        // First, apply the target rotation to the held node's joint.
        links.turn_from(last, turn);
        links.bound(last);
        if last > 0 {
            let wanted = task.goal.position - (links.tip - links.at[last]);
            self.unlock(work, &mut links, &nodes, wanted);
            links.reach(last, wanted, false);
        }
        if !task.pin {
            // Rotate all joints, the held bone too, to remove the remaining position error, because position has
            // priority over rotation.
            let arm = links.tip - links.at[last];
            let wanted = task.goal.position - links.at[last];
            if last == 0 && arm.length() > 1e-9 {
                links.turn_from(0, crate::rig::smallest_turn(arm, wanted));
                links.bound(0);
            }
            links.reach(nodes.len(), task.goal.position, true);
        }
        work.turn_all(&self.limits, &nodes, &links.turn);
    }

    /// Bends a straight limb about its hinge by the angle that the shorter distance requires, because a straight limb
    /// has no preferred bend direction.
    fn unlock(&self, work: &Work, links: &mut Links, nodes: &[NodeId], wanted: DVec3) {
        let last = nodes.len() - 1;
        let Some((hinge, fade)) = straight(&links.at) else { return };
        let at = |i: usize| links.at[i];
        let (upper, lower) = (at(hinge).distance(at(0)), at(last).distance(at(hinge)));
        let (now, then) = (at(last).distance(at(0)), wanted.distance(at(0)));
        if then >= now {
            return;
        }
        let bend = |distance: f64| {
            let cos = (upper * upper + lower * lower - distance * distance) / (2.0 * upper * lower);
            std::f64::consts::PI - cos.clamp(-1.0, 1.0).acos()
        };
        let node = nodes[hinge];
        let parent = world_from_parent(work.skeleton, node, &work.world).matrix3;
        let axis = (nearest(parent) * self.hinges[node.index()]).normalize_or_zero();
        if axis.is_finite() && axis != DVec3::ZERO {
            let angle = 0.9 * fade * (bend(then) - bend(now)).max(0.0);
            let turn = DQuat::from_axis_angle(axis, angle);
            links.turn_from(hinge, turn);
            links.turn_from(last, turn.inverse());
            (hinge..=last).for_each(|i| links.bound(i));
        }
    }
}

/// Returns the index of the middle joint of a nearly straight limb and a weight. The weight falls continuously from 1
/// (straight) to 0, so that the pose does not jump.
pub(super) fn straight(at: &[DVec3]) -> Option<(usize, f64)> {
    let last = at.len().checked_sub(1)?;
    let hinge = (1..last).max_by(|&a, &b| {
        let even = |i: usize| at[i].distance(at[0]).min(at[last].distance(at[i]));
        even(a).total_cmp(&even(b))
    })?;
    let (upper, lower) = (at[hinge].distance(at[0]), at[last].distance(at[hinge]));
    let (now, length) = (at[last].distance(at[0]), upper + lower);
    if upper <= 0.0 || lower <= 0.0 || now < STRETCHED * length {
        return None;
    }
    Some((hinge, ((now / length - STRETCHED) / (0.997 - STRETCHED)).clamp(0.0, 1.0)))
}

/// A chain as world-space joint positions, with its end point and the accumulated rotations.
#[derive(Clone)]
struct Links {
    at: Vec<DVec3>,
    tip: DVec3,
    turn: Vec<DQuat>,
    /// Distances of the last joint and of the end point from the first joint, at the beginning.
    first: [f64; 2],
    /// Mobility of each joint, by bone length: a short collar bone rotates less than the arm below it.
    ease: Vec<f64>,
    /// Limits of the joints; empty if no joint of the chain has one.
    limits: Vec<Option<Bounded>>,
}

impl Links {
    fn new(work: &Work, nodes: &[NodeId], task: &Task, limits: &JointLimits) -> Self {
        let at: Vec<DVec3> = nodes.iter().map(|n| work.world[n.index()].translation).collect();
        let tip = work.world[task.hold.node.index()].transform_point3(task.hold.point);
        let length = |i: usize| at.get(i + 1).unwrap_or(&tip).distance(at[i]);
        let longest = (0..at.len()).map(length).fold(0.0, f64::max);
        let ease = (0..at.len())
            .map(|i| if longest > 0.0 { (length(i) / longest).max(0.05) } else { 1.0 })
            .collect();
        let first = [at.last().unwrap_or(&tip), &tip].map(|p| p.distance(*at.first().unwrap_or(p)));
        let limits = bounded(work, nodes, limits);
        Self { turn: vec![DQuat::IDENTITY; at.len()], first, tip, ease, at, limits }
    }

    /// Rotates a joint and all joints after it.
    fn turn_from(&mut self, joint: usize, turn: DQuat) {
        let pivot = self.at[joint];
        for i in joint..self.at.len() {
            self.at[i] = pivot + turn * (self.at[i] - pivot);
            self.turn[i] = (turn * self.turn[i]).normalize();
        }
        self.tip = pivot + turn * (self.tip - pivot);
    }

    /// Returns the chain's length up to joint `end`, or to the tip if `end` is past the last joint.
    fn length(&self, end: usize) -> f64 {
        let inner: f64 = self.at[..end.min(self.at.len())].windows(2).map(|w| w[0].distance(w[1])).sum();
        let last = self.at[end.min(self.at.len()) - 1];
        inner + self.at.get(end).unwrap_or(&self.tip).distance(last)
    }

    /// Moves joint `end` (or the tip if `end` is past the last joint) to `wanted` by rotating the joints before it.
    /// Joints from `end` on keep their directions unless `carry` is set.
    fn reach(&mut self, end: usize, wanted: DVec3, carry: bool) {
        let length = self.length(end);
        if length <= 0.0 || !length.is_finite() {
            return;
        }
        let from = wanted - self.at[0];
        let first = self.first[usize::from(end >= self.at.len())];
        let wanted = self.at[0] + from.clamp_length_max(first.clamp(REACH * length, length));
        let place = |links: &Self| links.at.get(end).copied().unwrap_or(links.tip);
        if !self.limits.is_empty() {
            return self.reach_limited(end, wanted, carry, length);
        }
        for _ in 0..STEPS {
            let x = place(self);
            let left = wanted - x;
            if left.length() <= DONE * length {
                break;
            }
            let step = left.clamp_length_max(0.3 * length);
            let mut normal = DMat3::from_diagonal(DVec3::splat((DAMPING * length).powi(2)));
            for (p, ease) in self.at[..end].iter().zip(&self.ease) {
                let r = x - *p;
                let outer = DMat3::from_cols(r * r.x, r * r.y, r * r.z);
                normal += (DMat3::from_diagonal(DVec3::splat(r.length_squared())) - outer) * (ease * ease);
            }
            let force = normal.inverse() * step;
            let turns: Vec<DVec3> = self.at[..end]
                .iter()
                .zip(&self.ease)
                .map(|(p, ease)| (x - *p).cross(force) * (ease * ease))
                .collect();
            let largest = turns.iter().map(|t| t.length()).fold(0.0, f64::max);
            if !largest.is_finite() || largest < 1e-12 {
                break;
            }
            let scale = (LARGEST_TURN / largest).min(1.0);
            for (joint, turn) in turns.into_iter().enumerate() {
                let turn = DQuat::from_scaled_axis(turn * scale);
                self.turn_from(joint, turn);
                if !carry {
                    // The joints from `end` on keep their directions.
                    self.turn_from(end, turn.inverse());
                }
            }
        }
    }
}

impl Work<'_> {
    fn refresh(&mut self) {
        for &id in &self.skeleton.order {
            self.world[id.index()] = world_from_parent(self.skeleton, id, &self.world)
                * local_affine(self.skeleton, id, &self.pose);
        }
    }

    /// Rotates joints, root first, each by a world-space rotation relative to its current orientation.
    fn turn_all(&mut self, limits: &JointLimits, nodes: &[NodeId], turns: &[DQuat]) {
        let before = self.world.clone();
        for (node, turn) in nodes.iter().zip(turns) {
            let parent_before = world_from_parent(self.skeleton, *node, &before).matrix3;
            let parent = world_from_parent(self.skeleton, *node, &self.world).matrix3;
            let Some(local) = turn_between(parent_before, *turn, parent) else { continue };
            let entry = &mut self.pose.local[node.index()];
            let old = entry.rotation().as_dquat().normalize();
            let new = limits.clamp(*node, local * old);
            let new = if new.dot(old) < 0.0 { -new } else { new };
            entry.rotation = new.normalize().as_quat().into();
            self.refresh();
        }
    }

    /// Moves and rotates a node with all descendants.
    fn place(&mut self, limits: &JointLimits, hold: Hold, turn: DQuat, goal: DVec3) {
        self.turn_all(limits, &[hold.node], &[turn]);
        let i = hold.node.index();
        let parent = world_from_parent(self.skeleton, hold.node, &self.world).matrix3;
        let step = goal - self.world[i].transform_point3(hold.point);
        if is_regular(parent) && step.is_finite() {
            let entry = &mut self.pose.local[i];
            let moved = entry.translation().as_dvec3() + parent.inverse() * step;
            entry.translation = moved.as_vec3().into();
            self.refresh();
        }
    }
}

#[cfg(test)]
mod tests;
