//! Poses a grabbed skeleton such that its pins hold. This module decides which joints may move, how easily each moves,
//! and how far a held point can reach.
//!
//! Goals are first clamped to the reach that pins allow: a held point cannot be farther from a pin than the length of
//! the bones between them. A straight limb is slightly bent about its hinge before the first step, since a straight
//! limb cannot start to shorten.

use super::Grab;
use super::grab::Task;
use super::linkage::{Ask, Linkage, Place};
use crate::base::NodeId;
use crate::base::math::{DMat3, DQuat, DVec3};
use crate::rig::{Pose, Skeleton, is_regular, nearest, world_from_parent};

/// Maximum distance between a held point and a pin, as a fraction of the length of the bones between them, so that no
/// limb locks straight.
const REACH: f64 = 0.998;
/// Number of iterations that project a goal into the reach of all pins.
const ROUNDS: usize = 24;
/// Lower limit of a joint's bone length relative to the longest bone. Joints of short bones move less easily; this
/// limit keeps them movable.
const LEAST_EASE: f64 = 0.1;
/// Translation (fraction of the character's size) and rotation (radians) of a topmost joint that each cost as much as a
/// rotation by one radian at the longest bone's joint.
const TOP: [f64; 2] = [0.08, 0.3];
/// Sine of the angle above which a limb counts as bent.
const KINK: f64 = 0.01;
/// Initial rotation of a straight limb's hinge, radians.
const UNLOCKED: f64 = 0.35;
/// Maximum number of halvings towards the starting pose if pins cannot be restored.
const HALVINGS: usize = 6;

/// A sphere that bounds the reach of a held point.
#[derive(Clone, Copy, Debug)]
struct Ball {
    centre: DVec3,
    radius: f64,
}

/// The linkage of a grab, with the reach of its held points.
pub(super) struct Pinned {
    linkage: Linkage,
    /// Placed points, one per task.
    asks: Vec<Ask>,
    /// Reach of each task's point.
    reach: Vec<Vec<Ball>>,
    /// Rotations that bend straight limbs before the first step.
    bent: Vec<(NodeId, DVec3)>,
    places: Vec<Place>,
    /// Scratch pose: a blend of the starting pose and a pose in which pins do not hold.
    between: Pose,
}

impl Pinned {
    /// Creates a linkage of all joints below `tops`. The `tops` may translate; nodes in `open` may rotate freely.
    pub fn whole(skeleton: &Skeleton, grab: &Grab, tops: &[NodeId], tasks: &[Task], open: &[NodeId]) -> Self {
        let mut below = vec![false; skeleton.nodes.len()];
        tops.iter().for_each(|t| below[t.index()] = true);
        for &id in &skeleton.order {
            below[id.index()] |= skeleton.nodes[id.index()].parent.is_some_and(|p| below[p.index()]);
        }
        let kept = grab.kept_by_pins(skeleton, tasks);
        let turns = |n: &NodeId| {
            let i = n.index();
            below[i] && grab.marked[i] && !grab.twists[i] && !kept[i] || tops.contains(n)
        };
        let joints: Vec<NodeId> = skeleton.order.iter().copied().filter(turns).collect();
        let held: Vec<NodeId> = tasks.iter().filter(|t| !t.pin).map(|t| t.hold.node).collect();
        let is_pin = |n: &NodeId| tasks.iter().any(|t| t.pin && t.hold.node == *n);
        let open: Vec<NodeId> = open.iter().copied().filter(|n| !is_pin(n)).collect();
        Self {
            reach: tasks.iter().map(|task| reach(skeleton, grab, task, tasks)).collect(),
            bent: tasks.iter().flat_map(|task| unlocked(skeleton, grab, task, &held)).collect(),
            ..Self::of(skeleton, grab, (&joints, tops), tasks, &open)
        }
    }

    /// Creates a linkage of the joints that a limb grab moves. A pinned joint rotates if a held limb hangs from it.
    pub fn limbs(skeleton: &Skeleton, grab: &Grab, tasks: &[Task]) -> Self {
        let held: Vec<NodeId> = tasks.iter().filter(|t| !t.pin).map(|t| t.hold.node).collect();
        let mut moves = vec![false; skeleton.nodes.len()];
        let (mut tops, mut open) = (Vec::new(), Vec::new());
        for task in tasks {
            if grab.shifts(skeleton, task) {
                tops.push(task.hold.node);
            }
            let chain = grab.chain(task, &held);
            chain.iter().for_each(|n| moves[n.index()] = true);
            if !task.pin {
                open.extend(chain.into_iter().filter(|n| *n != task.hold.node));
            }
        }
        let joints: Vec<NodeId> = skeleton.order.iter().copied().filter(|n| moves[n.index()]).collect();
        Self::of(skeleton, grab, (&joints, &tops), tasks, &open)
    }

    fn of(
        skeleton: &Skeleton,
        grab: &Grab,
        (joints, tops): (&[NodeId], &[NodeId]),
        tasks: &[Task],
        open: &[NodeId],
    ) -> Self {
        let mut length = vec![0.0_f64; skeleton.nodes.len()];
        for i in 0..length.len() {
            if let Some(p) = grab.parents[i].filter(|_| grab.marked[i] && !tops.contains(&NodeId::from(i))) {
                let edge = grab.before[i].translation.distance(grab.before[p.index()].translation);
                length[p.index()] = length[p.index()].max(edge);
            }
        }
        let longest = length.iter().copied().fold(0.0, f64::max);
        let ease = |n: &NodeId| {
            let share = if longest > 0.0 { length[n.index()] / longest } else { 1.0 };
            let share = share.max(LEAST_EASE);
            if tops.contains(n) { share.min(TOP[1]).powi(2) } else { share * share }
        };
        let size = size(grab);
        let turning: Vec<(NodeId, f64)> = joints.iter().map(|n| (*n, ease(n))).collect();
        let shifting: Vec<(NodeId, f64)> = tops.iter().map(|n| (*n, (TOP[0] * size).powi(2))).collect();
        let ask = |task: &Task| Ask {
            node: task.hold.node,
            point: task.hold.point,
            pin: task.pin,
            turns: task.turns && !open.contains(&task.hold.node),
        };
        let asks: Vec<Ask> = tasks.iter().map(ask).collect();
        Self {
            linkage: Linkage::new(skeleton, &turning, &shifting, (asks.clone(), &grab.limits), size),
            asks,
            reach: Vec::new(),
            bent: Vec::new(),
            places: Vec::new(),
            between: grab.start.clone(),
        }
    }

    /// Returns whether the linkage was made for these tasks.
    pub fn fits(&self, tasks: &[Task]) -> bool {
        self.asks.len() == tasks.len()
            && self.asks.iter().zip(tasks).all(|(a, t)| a.node == t.hold.node && a.pin == t.pin)
    }

    /// Solves for a pose close to the reference pose. In it, pins hold, and held points come as close to their goals as
    /// the pins allow. `unlock` bends straight limbs before the first step.
    pub fn solve(
        &mut self,
        skeleton: &Skeleton,
        grab: &Grab,
        (reference, unlock): (&Pose, bool),
        tasks: &[Task],
    ) {
        self.place(grab, tasks);
        let bent = unlock.then_some(self.bent.as_slice());
        if !self.linkage.solve(skeleton, reference, bent, &self.places) {
            let lost = self.linkage.pose.clone();
            self.come_back(skeleton, grab, &lost);
        }
    }

    /// Finds the pose closest to `reference` among the poses in which all pins hold. Returns whether this pose differs
    /// from `reference`.
    pub fn hold(&mut self, skeleton: &Skeleton, grab: &Grab, reference: &Pose, tasks: &[Task]) -> bool {
        self.place(grab, tasks);
        if !self.linkage.hold(skeleton, reference, &self.places) {
            self.come_back(skeleton, grab, reference);
        }
        self.linkage.pose != *reference
    }

    /// Blends `lost`, a pose in which pins do not hold, with the starting pose, in which they do. Halves the weight of
    /// `lost` until the pins can be restored.
    fn come_back(&mut self, skeleton: &Skeleton, grab: &Grab, lost: &Pose) {
        let mut share = 1.0;
        for k in 0..=HALVINGS {
            share = if k == HALVINGS { 0.0 } else { 0.5 * share };
            for ((between, a), b) in self.between.local.iter_mut().zip(&grab.start.local).zip(&lost.local) {
                between.rotation = a.rotation().slerp(b.rotation(), share).normalize().into();
                between.translation = a.translation().lerp(b.translation(), share).into();
            }
            if self.linkage.hold(skeleton, &self.between, &self.places) {
                return;
            }
        }
        self.linkage.pose.copy_from(&grab.start);
    }

    /// Clamps the goals to the reach that pins allow.
    fn place(&mut self, grab: &Grab, tasks: &[Task]) {
        self.places.clear();
        for (k, task) in tasks.iter().enumerate() {
            let reach = self.reach.get(k).filter(|_| !task.pin).map_or(&[][..], Vec::as_slice);
            let position = into(task.goal.position, reach);
            let linear = DMat3::from_quat(task.goal.turn) * grab.before[task.hold.node.index()].matrix3;
            self.places.push(Place { position, linear });
        }
    }

    /// Returns the last solved pose.
    pub fn pose(&self) -> &Pose {
        &self.linkage.pose
    }

    /// Returns the position of a task's point in the last solved pose.
    pub fn point(&self, task: usize) -> DVec3 {
        self.linkage.point(task)
    }
}

/// Returns the diagonal of the joints' bounding box, metres.
fn size(grab: &Grab) -> f64 {
    let (mut low, mut high) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
    let joints = grab.before.iter().zip(&grab.marked).filter(|(_, m)| **m).map(|(w, _)| w.translation);
    for x in joints.filter(|x| x.is_finite()) {
        (low, high) = (low.min(x), high.max(x));
    }
    let size = (high - low).length();
    if size.is_finite() && size > 0.0 { size } else { 1.0 }
}

/// Returns spheres that bound the reach of a held point, one per pin.
fn reach(skeleton: &Skeleton, grab: &Grab, task: &Task, tasks: &[Task]) -> Vec<Ball> {
    if task.pin {
        return Vec::new();
    }
    let parent = |n: &NodeId| skeleton.nodes[n.index()].parent;
    let above = |n: NodeId| -> Vec<NodeId> { std::iter::successors(Some(n), parent).collect() };
    let at = |n: NodeId| grab.before[n.index()].translation;
    let own = above(task.hold.node);
    let world = grab.before[task.hold.node.index()];
    let arm = world.transform_point3(task.hold.point).distance(world.translation);
    let ball = |pin: &Task| {
        let other = above(pin.hold.node);
        let common = *own.iter().find(|n| other.contains(n))?;
        let length = |way: &[NodeId]| -> f64 {
            let end = way.iter().position(|n| *n == common).unwrap_or(0);
            way[..=end].windows(2).map(|w| at(w[0]).distance(at(w[1]))).sum()
        };
        let radius = REACH * (length(&own) + length(&other)) + arm;
        let now = world.transform_point3(task.hold.point).distance(pin.goal.position);
        Some(Ball { centre: pin.goal.position, radius: radius.max(now) })
    };
    tasks.iter().filter(|t| t.pin).filter_map(ball).collect()
}

/// Returns approximately the point inside all balls that is closest to `place`.
fn into(place: DVec3, balls: &[Ball]) -> DVec3 {
    let inside = |x: DVec3, ball: &Ball| ball.centre + (x - ball.centre).clamp_length_max(ball.radius);
    (0..ROUNDS).fold(place, |x, _| balls.iter().fold(x, inside))
}

/// Returns rotations that bend a task's limb about its hinge if the limb is straight.
fn unlocked(skeleton: &Skeleton, grab: &Grab, task: &Task, held: &[NodeId]) -> Vec<(NodeId, DVec3)> {
    let chain: Vec<NodeId> = grab.chain(task, held).into_iter().rev().collect();
    let at: Vec<DVec3> = chain.iter().map(|n| grab.before[n.index()].translation).collect();
    let Some((hinge, fade)) = super::grab::straight(&at) else { return Vec::new() };
    let upper = at[hinge].distance(at[0]);
    let first = (0..hinge).rev().find(|&i| at[hinge].distance(at[i]) >= 0.6 * upper).unwrap_or(0);
    let frame = |node: NodeId| nearest_turn(world_from_parent(skeleton, node, &grab.before).matrix3);
    let axis = frame(chain[hinge]) * grab.hinges[chain[hinge].index()];
    // If the limb is already slightly bent the other way, bend it further in that direction.
    let last = chain.len() - 1;
    let way = |a: usize, b: usize| (at[b] - at[a]).normalize_or_zero();
    let axis = if way(first, hinge).cross(way(hinge, last)).dot(axis) < -KINK { -axis } else { axis };
    let turn = |k: usize, angle: f64| (chain[k], frame(chain[k]).inverse() * axis * angle * fade);
    vec![turn(first, -0.5 * UNLOCKED), turn(hinge, UNLOCKED), turn(last, -0.5 * UNLOCKED)]
}

fn nearest_turn(m: DMat3) -> DQuat {
    if is_regular(m) && m.determinant() > 0.0 { nearest(m) } else { DQuat::IDENTITY }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Random;
    use crate::pose::Goal;
    use crate::rig::{random, world};

    fn lengths(skeleton: &Skeleton, pose: &Pose) -> Vec<f64> {
        let w = world(skeleton, pose);
        let edge = |i: usize, p: NodeId| w[i].translation.distance(w[p.index()].translation);
        (0..w.len()).map(|i| skeleton.nodes[i].parent.map_or(0.0, |p| edge(i, p))).collect()
    }

    #[test]
    fn pins_hold_on_any_rig_with_nodes_between_and_scales_and_mirrors() {
        for seed in 1..25 {
            let (skeleton, pose) = random(seed, 16, false);
            let mut rng = Random::new(seed * 104_729);
            let mut pick = || NodeId::from((rng.bits() % 16) as usize);
            let pins = [pick(), pick()];
            let held = pick();
            let mut grab = Grab::new(&skeleton, &pose, &pins);
            let before = world(&skeleton, &pose);
            let point = before[held.index()].translation;
            grab.hold(held, point);
            let mut chain = Grab::new(&skeleton, &pose, &pins);
            chain.hold(held, point);
            let size = size(&grab);
            for far in [0.01, 0.1, 1.0, 1e3] {
                let goal = Goal {
                    position: point + rng.vector().as_dvec3() * (far * size),
                    turn: rng.rotation().as_dquat(),
                };
                let tasks = grab.tasks(&[goal]);
                let mut pinned = Pinned::whole(&skeleton, &grab, &[NodeId::from(0)], &tasks, &[]);
                pinned.solve(&skeleton, &grab, (&pose, true), &tasks);
                for posed in [pinned.pose().clone(), chain.solve(&skeleton, &[goal]).0] {
                    let after = world(&skeleton, &posed);
                    for pin in tasks.iter().filter(|t| t.pin).map(|t| t.hold.node.index()) {
                        let off = after[pin].translation.distance(before[pin].translation);
                        assert!(off < 2e-4 * size, "{seed} at {far}: {pin} is off by {}", off / size);
                    }
                    for (a, b) in lengths(&skeleton, &pose).iter().zip(lengths(&skeleton, &posed)).skip(1) {
                        assert!((a - b).abs() < 1e-4 * size, "{seed} at {far}");
                    }
                    assert!(posed.local.iter().all(|l| l.rotation().is_finite()));
                }
            }
        }
    }
}
