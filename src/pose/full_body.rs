//! Full-body grabs: held bones follow the hands, pinned bones stay, and the elastic shape places all other bones
//! ([`crate::deform::fast`]; Jacobson et al. 2012, figure 11). In the resulting pose, bones keep their lengths and pins
//! hold exactly; goals out of reach are missed. Joints stay within their limits.
//!
//! A frame has three steps. First, a skeleton-only solve ([`super::pinned`]) brings the bones to the goals. It starts
//! from the pose at the beginning of the grab, so the path of the hand does not matter. Second, the elastic shape
//! relaxes from that pose, with the held and pinned bones fixed. Starting there avoids torn or folded shapes. Third,
//! the skeleton is fitted to the shape's transforms. The smallest rotations then bring the held and pinned points back
//! to their goals and pins.
//!
//! The shape's rest state is the pose at the beginning of the grab. If nothing is pinned, the topmost joints stay where
//! the skeleton-only solve puts them. An unpinned shape would follow a single hand as a whole.

use super::grab::Task;
use super::pinned::Pinned;
use super::{Goal, Grab};
use crate::base::math::{DAffine3, DMat3, DQuat, DVec3};
use crate::base::{JointId, NodeId, Result};
use crate::deform::fast::{Acceleration, Body, Constrained, Constraint, Reduced, Solver, Target};
use crate::rig::{
    JointLimits, Limits, Pose, PosedRig, Skeleton, best_turn, is_regular, local_affine, nearest,
    turn_between, world_from_parent,
};
use std::sync::Arc;

/// Solver iterations per frame, without acceleration. The fixed number keeps the motion smooth: a small step of the
/// hand causes a small step of the body, even before convergence.
const ITERATIONS: u32 = 40;

/// A grab of the whole body by one or more hands.
pub struct FullBodyGrab {
    body: Arc<Body>,
    reduced: Reduced,
    grab: Grab,
    /// Handle transforms at the beginning of the grab.
    maps: Vec<DAffine3>,
    starts: Vec<(NodeId, DVec3)>,
    /// Held nodes that may rotate freely.
    open: Vec<NodeId>,
    work: Option<Work>,
}

/// State shared by all frames of a grab.
struct Work {
    pinned: Pinned,
    constrained: Constrained,
    solver: Solver,
    /// Handles of the elastic shape whose transforms the solver keeps fixed.
    given: Vec<usize>,
    /// Per node, whether it keeps its local transform because it hangs on a pinned joint.
    kept: Vec<bool>,
    rig: PosedRig,
    now: Vec<DAffine3>,
    targets: Vec<Target>,
}

impl FullBodyGrab {
    /// Starts a full-body grab of a posed character with pinned nodes.
    pub fn new(skeleton: &Skeleton, body: &Arc<Body>, pose: &Pose, pins: &[NodeId]) -> Self {
        let maps = body.posed(&PosedRig::new(skeleton, pose));
        Self {
            reduced: body.reduced.around(&maps),
            body: body.clone(),
            grab: Grab::new(skeleton, pose, pins),
            maps,
            starts: Vec::new(),
            open: Vec::new(),
            work: None,
        }
    }

    /// Keeps joints within their limits. A joint that starts beyond its limit may stay there or go back.
    pub fn limited(mut self, skeleton: &Skeleton, limits: &Limits) -> Self {
        self.grab = self.grab.limited(skeleton, limits);
        self
    }

    /// Lets joints that hang on a pinned joint rotate, as grabs of takes before version 9.
    pub fn turning_below_pins(mut self) -> Self {
        self.grab = self.grab.turning_below_pins();
        self
    }

    /// Adds a hold of a node at a world-space point. Goals follow the order of the holds.
    pub fn hold(&mut self, node: NodeId, point: DVec3) {
        let point = if point.is_finite() { point } else { DVec3::ZERO };
        self.grab.hold(node, point);
        self.starts.push((node, point));
        self.work = None;
    }

    /// Adds a hold like [`FullBodyGrab::hold`], but lets the node rotate freely.
    pub fn hold_point(&mut self, node: NodeId, point: DVec3) {
        self.hold(node, point);
        self.open.push(node);
    }

    /// Continues the grab from another pose, within the limits. Holds and goals stay, see [`Grab::restart`]. From then on,
    /// the skeleton alone is solved: an elastic shape that rests in another pose takes tens of milliseconds to prepare,
    /// too long for each frame of a motion.
    pub fn restart(&mut self, skeleton: &Skeleton, pose: &Pose, limits: &Limits) {
        self.grab.restart(skeleton, pose, limits);
        let Grab { holds, before, .. } = &self.grab;
        for ((_, start), hold) in self.starts.iter_mut().zip(holds) {
            *start = before.get(hold.node.index()).map_or(*start, |w| w.transform_point3(hold.point));
        }
    }

    /// Returns the pose for these goals, one per hold, and the largest distance to a goal, metres.
    ///
    /// # Errors
    /// The constraint system cannot be solved.
    pub fn solve(&mut self, skeleton: &Skeleton, goals: &[Goal]) -> Result<(Pose, f64)> {
        let usable = |g: &Goal| g.position.is_finite() && g.turn.is_finite();
        let goals: Vec<Goal> = self
            .starts
            .iter()
            .enumerate()
            .map(|(k, (_, start))| {
                let rest = Goal { position: *start, turn: DQuat::IDENTITY };
                goals.get(k).copied().filter(usable).unwrap_or(rest)
            })
            .collect();
        let still = |((_, start), goal): (&(NodeId, DVec3), &Goal)| {
            goal.position == *start && goal.turn.xyz().length() < 1e-12
        };
        let tasks = self.grab.tasks(&goals);
        if self.grab.is_restarted() {
            let mut pinned = Pinned::whole(skeleton, &self.grab, &self.tops(skeleton), &tasks, &self.open);
            pinned.solve(skeleton, &self.grab, (&self.grab.start, true), &tasks);
            return Ok((pinned.pose().clone(), missed(&pinned, &tasks)));
        }
        if self.starts.iter().zip(&goals).all(still) {
            return Ok((self.grab.start.clone(), 0.0));
        }
        if self.work.is_none() {
            self.work = Some(self.begin(skeleton, &tasks)?);
        }
        let Some(work) = &mut self.work else { return Ok((self.grab.start.clone(), 0.0)) };
        // First solve the skeleton alone, so that the shape starts from a pose in which the pins hold.
        work.pinned.solve(skeleton, &self.grab, (&self.grab.start, true), &tasks);
        work.rig.pose(skeleton, work.pinned.pose());
        self.body.read(&work.rig, &mut work.now);
        work.targets.clear();
        work.targets.extend(work.given.iter().map(|h| Target::Map(work.now[*h])));
        work.solver.set_targets(&self.reduced, &work.constrained, &work.targets);
        work.solver.start_from(&self.reduced, &work.now);
        work.solver.solve(ITERATIONS, Acceleration::Plain);
        let maps = work.solver.exact(&self.reduced);
        let Grab { start, before, limits, .. } = &self.grab;
        let kept = |i: usize| work.kept[i];
        let fitted = fit(skeleton, (&self.body, limits, &kept), start, before, &self.maps, &maps);
        work.pinned.solve(skeleton, &self.grab, (&fitted, false), &tasks);
        Ok((work.pinned.pose().clone(), missed(&work.pinned, &tasks)))
    }

    /// The handles without parents.
    fn top_handles(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.body.joints.len()).filter(|h| self.body.parents[*h].is_none())
    }

    /// The nodes of the topmost joints.
    fn tops(&self, skeleton: &Skeleton) -> Vec<NodeId> {
        self.top_handles().map(|h| skeleton.joints[self.body.joints[h].index()].node).collect()
    }

    fn begin(&self, skeleton: &Skeleton, tasks: &[Task]) -> Result<Work> {
        let handle = |task: &Task| {
            let joint = skeleton.nodes[task.hold.node.index()].joint?;
            self.body.carrying_handle(skeleton, joint)
        };
        let mut given: Vec<usize> = Vec::new();
        for handle in tasks.iter().filter_map(handle) {
            if !given.contains(&handle) {
                given.push(handle);
            }
        }
        if tasks.iter().all(|t| !t.pin) {
            let free: Vec<usize> = self.top_handles().filter(|h| !given.contains(h)).collect();
            given.extend(free);
        }
        let constraints = given.iter().map(|h| Constraint::Full { handle: *h }).collect();
        let constrained = self.reduced.constrain(constraints)?;
        Ok(Work {
            pinned: Pinned::whole(skeleton, &self.grab, &self.tops(skeleton), tasks, &self.open),
            solver: Solver::new(&self.reduced, &constrained),
            constrained,
            given,
            kept: self.grab.kept_by_pins(skeleton, tasks),
            rig: PosedRig::new(skeleton, &self.grab.start),
            now: Vec::new(),
            targets: Vec::new(),
        })
    }
}

/// Returns the largest distance of a held point to its goal, metres.
fn missed(pinned: &Pinned, tasks: &[Task]) -> f64 {
    let held = tasks.iter().enumerate().filter(|(_, t)| !t.pin);
    held.map(|(k, t)| pinned.point(k).distance(t.goal.position)).fold(0.0, f64::max)
}

/// Fits a pose with constant bone lengths to the handle transforms `to`. `before` and `from` are the world and handle
/// transforms of `start`. Every joint that is not `kept` takes its handle's rotation, then points at the target
/// positions of its child joints. Joints without a parent handle move to the target positions of their own handles.
fn fit(
    skeleton: &Skeleton,
    (body, limits, kept): (&Body, &JointLimits, &dyn Fn(usize) -> bool),
    start: &Pose,
    before: &[DAffine3],
    from: &[DAffine3],
    to: &[DAffine3],
) -> Pose {
    let own = |i: usize| skeleton.nodes[i].joint.and_then(|j: JointId| body.own_handle(j));
    // Maps a point by a handle's motion from `from` to `to`.
    let moved = |handle: usize, x: DVec3| {
        let usable = is_regular(from[handle].matrix3) && to[handle].is_finite();
        if usable { to[handle].transform_point3(from[handle].inverse().transform_point3(x)) } else { x }
    };
    let mut below: Vec<Vec<(usize, usize)>> = vec![Vec::new(); skeleton.nodes.len()];
    let mut topmost = vec![false; skeleton.nodes.len()];
    for (i, topmost) in topmost.iter_mut().enumerate() {
        let Some(handle) = own(i) else { continue };
        match body.parents[handle] {
            Some(parent) => {
                let node = skeleton.joints[body.joints[parent].index()].node.index();
                below[node].push((i, handle));
            }
            None => *topmost = true,
        }
    }
    let mut pose = start.clone();
    let mut after = before.to_vec();
    for &id in &skeleton.order {
        let i = id.index();
        after[i] = world_from_parent(skeleton, id, &after) * local_affine(skeleton, id, &pose);
        let Some(handle) = own(i).filter(|_| !kept(i)) else { continue };
        let parent = world_from_parent(skeleton, id, &after);
        if topmost[i] && is_regular(parent.matrix3) {
            let step = moved(handle, before[i].translation) - after[i].translation;
            let local = pose.local[i].translation().as_dvec3() + parent.matrix3.inverse() * step;
            if local.is_finite() {
                pose.local[i].translation = local.as_vec3().into();
                after[i] = parent * local_affine(skeleton, id, &pose);
            }
        }
        let turned = to[handle].matrix3 * regular_inverse(from[handle].matrix3);
        let turn =
            if is_regular(turned) && turned.determinant() > 0.0 { nearest(turned) } else { DQuat::IDENTITY };
        // For each child joint: its offset from this joint after the rotation, and its target offset.
        let aims: Vec<(DVec3, DVec3)> = below[i]
            .iter()
            .map(|&(child, handle)| {
                let arm = before[child].translation - before[i].translation;
                (turn * arm, moved(handle, before[child].translation) - after[i].translation)
            })
            .filter(|(a, b)| a.length() > 1e-9 && b.length() > 1e-9 && b.is_finite())
            .collect();
        let turn = best_turn(&aims) * turn;
        let parent_before = world_from_parent(skeleton, id, before).matrix3;
        let Some(local) = turn_between(parent_before, turn, parent.matrix3) else { continue };
        let old = start.local[i].rotation().as_dquat().normalize();
        let new = limits.clamp(id, local * old);
        let new = if new.dot(old) < 0.0 { -new } else { new };
        if new.is_finite() {
            pose.local[i].rotation = new.normalize().as_quat().into();
        }
        after[i] = parent * local_affine(skeleton, id, &pose);
    }
    pose
}

fn regular_inverse(m: DMat3) -> DMat3 {
    if is_regular(m) { m.inverse() } else { DMat3::IDENTITY }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bind::shapes::capsule;
    use crate::deform::fast::Params;
    use crate::rig::world;

    #[test]
    fn both_ends_are_held_and_the_middle_finds_its_place() {
        let character = capsule(8, 40, 10, 0.12, 2.0);
        let skeleton = &character.skeleton;
        let body = Arc::new(Body::bind(&character, &Params::default()).unwrap());
        let mut pose = Pose::rest(skeleton);
        let posable = crate::rig::posable(skeleton);
        let middle = posable[3];
        pose.local[middle.index()].rotation = DQuat::from_rotation_x(0.4).as_quat().into();
        let (low, high) = (posable[0], posable[7]);
        let start = world(skeleton, &pose);
        let mut grab = FullBodyGrab::new(skeleton, &body, &pose, &[low]);
        let held = start[high.index()].translation;
        grab.hold(high, held);
        let (same, missed) = grab.solve(skeleton, &[Goal { position: held, turn: DQuat::IDENTITY }]).unwrap();
        assert!(same == pose && missed == 0.0);
        // For a small hand movement, the pose hardly changes, because the starting pose is the rest shape.
        let goal = |d: DVec3| [Goal { position: held + d, turn: DQuat::IDENTITY }];
        let (near, _) = grab.solve(skeleton, &goal(DVec3::X * 1e-4)).unwrap();
        for (a, b) in world(skeleton, &near).iter().zip(&start) {
            assert!(a.translation.distance(b.translation) < 1e-3);
        }
        for step in 1..=6 {
            let d = DVec3::new(0.09, -0.1, 0.02) * f64::from(step);
            let (posed, missed) = grab.solve(skeleton, &goal(d)).unwrap();
            assert!(missed < 1e-3, "step {step}: missed by {missed}");
            let after = world(skeleton, &posed);
            assert!(after[high.index()].translation.distance(held + d) < 1e-3);
            assert!(after[low.index()].translation.distance(start[low.index()].translation) < 1e-3);
            for pair in posable.windows(2) {
                let length =
                    |w: &[DAffine3]| w[pair[0].index()].translation.distance(w[pair[1].index()].translation);
                assert!((length(&after) - length(&start)).abs() < 1e-5);
            }
            if step == 6 {
                // Many joints contribute to the bend.
                let turned = posable.iter().filter(|n| {
                    let (a, b) = (&posed.local[n.index()], &pose.local[n.index()]);
                    a.rotation().angle_between(b.rotation()) > 0.05
                });
                assert!(turned.count() >= 5);
            }
        }
        // Goals that are not finite change nothing.
        let nonsense = [Goal { position: DVec3::NAN, turn: DQuat::IDENTITY }];
        assert_eq!(grab.solve(skeleton, &nonsense).unwrap().0, pose);
    }
}
