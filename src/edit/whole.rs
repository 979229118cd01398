//! Taking hold of the whole body: held bones go with their hands, pinned ones stay, and everything between finds its place
//! by the shape's own stiffness ([`crate::deform::fast`]; paper 2, figure 11). The result is a pose: bones keep their
//! lengths, turned as the solved transforms turn and aimed where these put the next joints; what lengths leave undone at
//! the hands and pins is done by bending the chains there.
//!
//! The shape without energy is the pose at the beginning of the grab, so that nothing moves by itself.

use super::carries_all;
use super::world::{best_turn, is_regular, local_affine, nearest, turn_between, world, world_from_parent};
use super::{Goal, Grab};
use crate::base::math::{DAffine3, DMat3, DQuat, DVec3};
use crate::base::{JointId, NodeId, Result};
use crate::deform::fast::{Acceleration, Body, Constrained, Constraint, Reduced, Solver, Target};
use crate::rig::{Pose, PosedRig, Skeleton};
use std::sync::Arc;

/// Iterations of a frame at most; frames start where the last one ended.
const ITERATIONS: u32 = 30;
/// Iterations of the first frame at most.
const FIRST: u32 = 120;

/// A held point.
#[derive(Clone, Copy, Debug)]
struct Hold {
    node: NodeId,
    handle: usize,
    /// World, when it was taken hold of.
    start: DVec3,
}

/// A grab of the whole body by one or more hands.
pub struct WholeGrab {
    body: Arc<Body>,
    reduced: Reduced,
    start: Pose,
    before: Vec<DAffine3>,
    /// Transforms of the handles at the beginning.
    maps: Vec<DAffine3>,
    pins: Vec<NodeId>,
    holds: Vec<Hold>,
    solver: Option<(Constrained, Solver)>,
}

impl WholeGrab {
    /// Of a character in a pose, some of whose nodes are pinned.
    pub fn new(skeleton: &Skeleton, body: &Arc<Body>, pose: &Pose, pins: &[NodeId]) -> Self {
        let maps = body.posed(&PosedRig::new(skeleton, pose));
        let is_joint = |n: &&NodeId| skeleton.nodes.get(n.index()).is_some_and(|n| n.joint.is_some());
        Self {
            reduced: body.reduced.around(&maps),
            body: body.clone(),
            start: pose.clone(),
            before: world(skeleton, pose),
            maps,
            pins: pins.iter().filter(is_joint).copied().collect(),
            holds: Vec::new(),
            solver: None,
        }
    }

    /// Takes hold of a node at a world point; goals come in the order of holds.
    pub fn hold(&mut self, skeleton: &Skeleton, node: NodeId, point: DVec3) {
        let joint = skeleton.nodes.get(node.index()).and_then(|n| n.joint);
        let handle = joint.map_or(0, |j| self.body.handle(skeleton, j));
        let start = if point.is_finite() { point } else { DVec3::ZERO };
        self.holds.push(Hold { node, handle, start });
        self.solver = None;
    }

    /// The pose for these goals, one per hold, and by how much the worst of them is missed, metres.
    ///
    /// # Errors
    /// Where the constraints cannot be solved for.
    pub fn solve(&mut self, skeleton: &Skeleton, goals: &[Goal]) -> Result<(Pose, f64)> {
        let usable = |g: &Goal| g.position.is_finite() && g.turn.is_finite();
        let goals: Vec<Goal> = self
            .holds
            .iter()
            .enumerate()
            .map(|(k, hold)| {
                let rest = Goal { position: hold.start, turn: DQuat::IDENTITY };
                goals.get(k).copied().filter(usable).unwrap_or(rest)
            })
            .collect();
        let still =
            |(hold, goal): (&Hold, &Goal)| goal.position == hold.start && goal.turn.xyz().length() < 1e-12;
        if self.holds.iter().zip(&goals).all(still) {
            return Ok((self.start.clone(), 0.0));
        }
        let (constraints, targets) = self.constraints(skeleton, &goals);
        let first = self.solver.is_none();
        if first {
            let constrained = self.reduced.constrain(constraints)?;
            let solver = Solver::new(&self.reduced, &constrained);
            self.solver = Some((constrained, solver));
        }
        let Some((constrained, solver)) = &mut self.solver else { return Ok((self.start.clone(), 0.0)) };
        solver.set_targets(&self.reduced, constrained, &targets);
        solver.solve(if first { FIRST } else { ITERATIONS }, Acceleration::Anderson);
        let maps = solver.exact(&self.reduced);
        let fitted = self.fitted(skeleton, &maps);
        Ok(self.finished(skeleton, fitted, &goals))
    }

    /// What is prescribed: the whole transform of a bone that one hand holds and of a pinned one, points of a bone that
    /// several hands hold.
    fn constraints(&self, skeleton: &Skeleton, goals: &[Goal]) -> (Vec<Constraint>, Vec<Target>) {
        let (mut constraints, mut targets) = (Vec::new(), Vec::new());
        for (hold, goal) in self.holds.iter().zip(goals) {
            let alone = self.holds.iter().filter(|h| h.handle == hold.handle).count() == 1;
            let map = self.maps[hold.handle];
            if alone || !is_regular(map.matrix3) {
                let moved = DAffine3::from_translation(goal.position)
                    * DAffine3::from_quat(goal.turn.normalize())
                    * DAffine3::from_translation(-hold.start)
                    * map;
                constraints.push(Constraint::Full { handle: hold.handle });
                targets.push(Target::Map(moved));
            } else {
                let point = map.inverse().transform_point3(hold.start).as_vec3();
                constraints.push(Constraint::on_handle(hold.handle, point));
                targets.push(Target::Point(goal.position));
            }
        }
        for joint in self.pins.iter().filter_map(|n| skeleton.nodes[n.index()].joint) {
            let handle = self.body.handle(skeleton, joint);
            if self.holds.iter().all(|h| h.handle != handle) {
                constraints.push(Constraint::Full { handle });
                targets.push(Target::Map(self.maps[handle]));
            }
        }
        (constraints, targets)
    }

    /// The pose of the start with every joint turned as its handle turned, root first, and aimed at where the handles
    /// below it put their joints.
    fn fitted(&self, skeleton: &Skeleton, maps: &[DAffine3]) -> Pose {
        fit(skeleton, &self.body, &self.start, &self.before, &self.maps, maps)
    }

    /// Brings hands and pins to where they are to be, by the chains that end there.
    fn finished(&self, skeleton: &Skeleton, fitted: Pose, goals: &[Goal]) -> (Pose, f64) {
        let after = world(skeleton, &fitted);
        let mut grab = Grab::new(skeleton, &fitted, &[]);
        let mut wanted = Vec::new();
        let mut add = |node: NodeId, start: DVec3, goal: Goal| {
            let (before, after) = (self.before[node.index()], after[node.index()]);
            if !is_regular(before.matrix3) || !is_regular(after.matrix3) {
                return;
            }
            let turned = after.matrix3 * before.matrix3.inverse();
            if turned.determinant() <= 0.0 || carries_all(skeleton, node) && goal.position == start {
                return;
            }
            let point = after.transform_point3(before.inverse().transform_point3(start));
            grab.hold(node, point);
            let turn = goal.turn.normalize() * nearest(turned).inverse();
            wanted.push(Goal { position: goal.position, turn: turn.normalize() });
        };
        for (hold, goal) in self.holds.iter().zip(goals) {
            add(hold.node, hold.start, *goal);
        }
        for pin in &self.pins {
            if self.holds.iter().all(|h| h.node != *pin) {
                let start = self.before[pin.index()].translation;
                add(*pin, start, Goal { position: start, turn: DQuat::IDENTITY });
            }
        }
        grab.solve(skeleton, &wanted)
    }
}

/// A pose whose bones keep their lengths, as near as that allows to transforms of the handles, from a pose to start at.
pub fn fit_pose(skeleton: &Skeleton, body: &Body, start: &Pose, to: &[DAffine3]) -> Pose {
    let from = body.posed(&PosedRig::new(skeleton, start));
    fit(skeleton, body, start, &world(skeleton, start), &from, to)
}

/// A pose whose bones keep their lengths, as near as that allows to transforms of the handles: every joint turns as its
/// handle turned since `start` (whose world transforms and handles are `before` and `from`), and is aimed at where the
/// handles below it put their joints; joints without one above them go where theirs puts them.
fn fit(
    skeleton: &Skeleton,
    body: &Body,
    start: &Pose,
    before: &[DAffine3],
    from: &[DAffine3],
    to: &[DAffine3],
) -> Pose {
    let own = |i: usize| skeleton.nodes[i].joint.and_then(|j: JointId| body.own_handle(j));
    // Where a handle puts what its node had at the beginning.
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
        after[i] = world_from_parent(skeleton, id, &after) * local_affine(skeleton, id, &pose.local[i]);
        let Some(handle) = own(i) else { continue };
        let parent = world_from_parent(skeleton, id, &after);
        if topmost[i] && is_regular(parent.matrix3) {
            let step = moved(handle, before[i].translation) - after[i].translation;
            let local = pose.local[i].translation().as_dvec3() + parent.matrix3.inverse() * step;
            if local.is_finite() {
                pose.local[i].translation = local.as_vec3().into();
                after[i] = parent * local_affine(skeleton, id, &pose.local[i]);
            }
        }
        let turned = to[handle].matrix3 * regular_inverse(from[handle].matrix3);
        let turn =
            if is_regular(turned) && turned.determinant() > 0.0 { nearest(turned) } else { DQuat::IDENTITY };
        // With this turn, where would the joints below be, and where should they.
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
        let new = local * old;
        let new = if new.dot(old) < 0.0 { -new } else { new };
        if new.is_finite() {
            pose.local[i].rotation = new.normalize().as_quat().into();
        }
        after[i] = parent * local_affine(skeleton, id, &pose.local[i]);
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

    #[test]
    fn both_ends_are_held_and_the_middle_finds_its_place() {
        let character = capsule(8, 40, 10, 0.12, 2.0);
        let skeleton = &character.skeleton;
        let body = Arc::new(Body::bind(&character, &Params::default()).unwrap());
        let mut pose = Pose::rest(skeleton);
        let posable = super::super::posable(skeleton);
        let middle = posable[3];
        pose.local[middle.index()].rotation = DQuat::from_rotation_x(0.4).as_quat().into();
        let (low, high) = (posable[0], posable[7]);
        let start = world(skeleton, &pose);
        let mut grab = WholeGrab::new(skeleton, &body, &pose, &[low]);
        let held = start[high.index()].translation;
        grab.hold(skeleton, high, held);
        let (same, missed) = grab.solve(skeleton, &[Goal { position: held, turn: DQuat::IDENTITY }]).unwrap();
        assert!(same == pose && missed == 0.0);
        // Near to where it was, nearly nothing moves: the pose itself is the rest shape.
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
                // Many joints share in the bend.
                let turned = posable.iter().filter(|n| {
                    let (a, b) = (&posed.local[n.index()], &pose.local[n.index()]);
                    a.rotation().angle_between(b.rotation()) > 0.05
                });
                assert!(turned.count() >= 5);
            }
        }
        // Hands that tell nonsense change nothing.
        let nonsense = [Goal { position: DVec3::NAN, turn: DQuat::IDENTITY }];
        assert_eq!(grab.solve(skeleton, &nonsense).unwrap().0, pose);
    }
}
