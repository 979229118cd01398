//! Taking hold of the body: the chain above a held point turns so that the point follows the hand, and the held bone
//! takes the hand's turning. Pinned joints stay where they are.
//!
//! Every solve starts from the pose at the beginning of the grab, so that nothing drifts and the way the hand took does
//! not matter. Chains of two holds never share a joint, so they are solved one after the other, root first. A chain is
//! solved by damped least squares on the turns of its joints (Wampler 1986; Buss, "Introduction to inverse kinematics
//! with Jacobian transpose, pseudoinverse and damped least squares methods", 2004), in f64.

mod limbs;

use self::limbs::{branches, hinges, twists};
use super::carries_all;
use super::pinned::Pinned;
use crate::base::NodeId;
use crate::base::math::{DAffine3, DMat3, DQuat, DVec3};
use crate::rig::{
    Pose, Skeleton, is_regular, local_affine, marked_parents, nearest, posable, turn_between, world,
    world_from_parent,
};

/// Steps of a solve at most.
const STEPS: usize = 64;
/// A solve ends when the point is nearer to its goal than this share of the chain's length.
const DONE: f64 = 1e-6;
/// Damping as a share of the chain's length.
const DAMPING: f64 = 0.02;
/// A joint turns by no more than this in a step, radians.
const LARGEST_TURN: f64 = 0.35;
/// A limb stretched beyond this share of its length needs to be told which way to bend.
const STRETCHED: f64 = 0.985;
/// A chain is taken to be no longer than this share of its length: a limb never locks.
const REACH: f64 = 0.9995;

/// Where a held point should be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Goal {
    /// World, metres.
    pub position: DVec3,
    /// World turn of the hand since it took hold.
    pub turn: DQuat,
}

/// A held or pinned point.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hold {
    pub node: NodeId,
    /// In the node's space.
    pub point: DVec3,
}

/// A grab of one body by one or more hands.
pub struct Grab {
    pub(super) start: Pose,
    /// World transforms of the start.
    pub(super) before: Vec<DAffine3>,
    /// Nodes that posing moves.
    pub(super) marked: Vec<bool>,
    pub(super) parents: Vec<Option<NodeId>>,
    /// Joints whose children part.
    branches: Vec<bool>,
    /// Joints that only spread a bone's twist: who holds one holds the bone.
    pub(super) twists: Vec<bool>,
    pub(super) pinned: Vec<bool>,
    /// Per node: the axis about which it bends, in its parent's space in rest.
    pub(super) hinges: Vec<DVec3>,
    /// Depth in the hierarchy.
    depth: Vec<usize>,
    holds: Vec<Hold>,
    /// Only the held bones themselves turn.
    alone: bool,
    /// Brings pins back that the limbs have lost.
    pinning: Option<Box<Pinned>>,
}

/// A point that has to be brought to its goal, with the turn its node is to have.
#[derive(Clone, Copy, Debug)]
pub(super) struct Task {
    pub hold: Hold,
    pub goal: Goal,
    pub pin: bool,
    /// The node's turn is given: not that of a pinned joint in a hand, which keeps its place alone.
    pub turns: bool,
}

/// The pose being changed.
struct Work<'a> {
    skeleton: &'a Skeleton,
    pose: Pose,
    world: Vec<DAffine3>,
}

impl Grab {
    /// Of a character in a pose, some of whose nodes are pinned.
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
            alone: false,
            pinning: None,
        }
    }

    /// Turns the held bones alone: no joint above them bends.
    pub fn alone(mut self) -> Self {
        self.alone = true;
        self
    }

    /// Takes hold of a node at a world point; goals come in the order of holds.
    pub fn hold(&mut self, node: NodeId, point: DVec3) {
        let twist = self.twists.get(node.index()).copied().unwrap_or(false);
        let node = self.parents.get(node.index()).copied().flatten().filter(|_| twist).unwrap_or(node);
        let world_from_node = self.before.get(node.index()).copied().unwrap_or_default();
        let usable = is_regular(world_from_node.matrix3) && point.is_finite();
        let point = if usable { world_from_node.inverse().transform_point3(point) } else { DVec3::ZERO };
        self.holds.push(Hold { node, point });
    }

    /// The pose that brings the held points to their goals, one per hold, as far as lengths and pins allow; and by
    /// how much the worst of them is missed, metres.
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
            // The whole turn from where earlier tasks left the node.
            let turned = DMat3::from_quat(task.goal.turn) * self.before[i].matrix3;
            let turn = nearest(turned * work.world[i].matrix3.inverse());
            let moved = work.world[i].transform_point3(task.hold.point).distance(task.goal.position);
            if task.pin && moved < 1e-9 && turn.xyz().length() < 1e-9 {
                continue;
            }
            if self.shifts(skeleton, task) {
                work.place(task.hold, turn, task.goal.position);
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

    /// Whether a task moves its node with all that hangs on it.
    pub(super) fn shifts(&self, skeleton: &Skeleton, task: &Task) -> bool {
        !task.pin && !self.pinned[task.hold.node.index()] && carries_all(skeleton, task.hold.node)
    }

    /// Holds with finite goals, two on one node as one; then the pins.
    pub(super) fn tasks(&self, goals: &[Goal]) -> Vec<Task> {
        let mut tasks: Vec<Task> = Vec::new();
        for (hold, goal) in self.holds.iter().zip(goals) {
            let i = hold.node.index();
            let finite = goal.position.is_finite() && goal.turn.is_finite();
            if !finite || i >= self.before.len() {
                continue;
            }
            let goal = Goal { position: goal.position, turn: goal.turn.normalize() };
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

    /// Two hands on one bone: their middle is held; the line between them turns the bone, and the hands' own turning
    /// is what is left for its twist.
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

    /// The joints that turn for a task, its own first, upwards to the first that is pinned (it turns, but stays) or
    /// whose parent parts into branches or is held.
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

    /// Turns a chain so that the point comes to its goal and the node takes its turn.
    fn bend(&self, work: &mut Work, task: &Task, turn: DQuat, chain: &[NodeId]) {
        // Root first from here on.
        let nodes: Vec<NodeId> = chain.iter().rev().copied().collect();
        let mut links = Links::new(work, &nodes, task);
        let last = nodes.len() - 1;
        // First the joint of the held node goes where the node's turn wants it.
        links.turn_from(last, turn);
        if last > 0 {
            let wanted = task.goal.position - (links.tip - links.at[last]);
            self.unlock(work, &mut links, &nodes, wanted);
            links.reach(last, wanted, false);
        }
        if !task.pin {
            // What is left is done by all, the held bone included: the point matters more than the turn.
            let arm = links.tip - links.at[last];
            let wanted = task.goal.position - links.at[last];
            if last == 0 && arm.length() > 1e-9 {
                links.turn_from(0, crate::rig::smallest_turn(arm, wanted));
            }
            links.reach(nodes.len(), task.goal.position, true);
        }
        work.turn_all(&nodes, &links.turn);
    }

    /// A limb that is straight does not know which way to bend: it is bent about its hinge by what the shorter
    /// distance asks for.
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
        }
    }
}

/// The joint in the middle of a limb that is straight, or nearly: from nothing to 1, so that nothing jumps.
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

/// A chain of joints by their world positions, the point at its end, and the turns made so far.
struct Links {
    at: Vec<DVec3>,
    tip: DVec3,
    turn: Vec<DQuat>,
    /// How readily each joint turns: a short collar bone less than the arm below it.
    ease: Vec<f64>,
}

impl Links {
    fn new(work: &Work, nodes: &[NodeId], task: &Task) -> Self {
        let at: Vec<DVec3> = nodes.iter().map(|n| work.world[n.index()].translation).collect();
        let tip = work.world[task.hold.node.index()].transform_point3(task.hold.point);
        let length = |i: usize| at.get(i + 1).unwrap_or(&tip).distance(at[i]);
        let longest = (0..at.len()).map(length).fold(0.0, f64::max);
        let ease = (0..at.len())
            .map(|i| if longest > 0.0 { (length(i) / longest).max(0.05) } else { 1.0 })
            .collect();
        Self { turn: vec![DQuat::IDENTITY; at.len()], tip, ease, at }
    }

    /// Turns a joint and all behind it.
    fn turn_from(&mut self, joint: usize, turn: DQuat) {
        let pivot = self.at[joint];
        for i in joint..self.at.len() {
            self.at[i] = pivot + turn * (self.at[i] - pivot);
            self.turn[i] = (turn * self.turn[i]).normalize();
        }
        self.tip = pivot + turn * (self.tip - pivot);
    }

    /// The length of the chain up to joint `end`, or to the tip.
    fn length(&self, end: usize) -> f64 {
        let inner: f64 = self.at[..end.min(self.at.len())].windows(2).map(|w| w[0].distance(w[1])).sum();
        let last = self.at[end.min(self.at.len()) - 1];
        inner + self.at.get(end).unwrap_or(&self.tip).distance(last)
    }

    /// Brings joint `end`, or the tip where there is none, to a place by turning the joints before it. Joints from
    /// `end` on keep their directions, unless `carry`.
    fn reach(&mut self, end: usize, wanted: DVec3, carry: bool) {
        let length = self.length(end);
        if length <= 0.0 || !length.is_finite() {
            return;
        }
        let from = wanted - self.at[0];
        let wanted = self.at[0] + from.clamp_length_max(REACH * length);
        let place = |links: &Self| links.at.get(end).copied().unwrap_or(links.tip);
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
                    // What hangs at the end keeps its direction.
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
                * local_affine(self.skeleton, id, &self.pose.local[id.index()]);
        }
    }

    /// Turns joints, root first, each by a world turn from where it is now.
    fn turn_all(&mut self, nodes: &[NodeId], turns: &[DQuat]) {
        let before = self.world.clone();
        for (node, turn) in nodes.iter().zip(turns) {
            let parent_before = world_from_parent(self.skeleton, *node, &before).matrix3;
            let parent = world_from_parent(self.skeleton, *node, &self.world).matrix3;
            let Some(local) = turn_between(parent_before, *turn, parent) else { continue };
            let entry = &mut self.pose.local[node.index()];
            let old = entry.rotation().as_dquat().normalize();
            let new = local * old;
            let new = if new.dot(old) < 0.0 { -new } else { new };
            entry.rotation = new.normalize().as_quat().into();
            self.refresh();
        }
    }

    /// Moves and turns a node with all below it.
    fn place(&mut self, hold: Hold, turn: DQuat, goal: DVec3) {
        self.turn_all(&[hold.node], &[turn]);
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
