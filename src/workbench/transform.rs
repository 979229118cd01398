//! Numeric posing: sets, copies, pastes, mirrors and resets local transforms in the displayed pose.

use super::{Command, CommandKind, Workbench};
use crate::base::math::{DQuat, Quat, Trs};
use crate::base::{Error, NodeId, Result};
use crate::document::mirrored_pose;
use crate::rig::{
    Pose, Reflection, Skeleton, keep_limit, move_joint, turn_between, world, world_from_parent,
};

/// A joint has another rotation than the wanted one if the dot product of the quaternions is smaller.
const STOPPED: f32 = 1.0 - 1e-5;
/// Smallest absolute scale that the user can set.
const LEAST_SCALE: f32 = 1e-6;

impl Workbench {
    /// Runs a command that changes local transforms. An error becomes the notice, and the document stays unchanged.
    pub(super) fn run_transform_command(&mut self, command: &Command) {
        let (kind, continues) = (command.kind(), matches!(command, Command::Place(_, _, true)));
        if !continues {
            self.end_slide();
        }
        let done = match command {
            Command::Place(node, local, _) => {
                let done = self.change_pose(kind, continues, |bench, pose| bench.place(pose, *node, local));
                self.feel_place(*node, local, continues);
                done
            }
            Command::CopyPose => self.copy_pose(),
            Command::PastePose(mirrored) => {
                self.change_pose(kind, false, |bench, pose| bench.paste(pose, *mirrored))
            }
            Command::MirrorPose => self.change_pose(kind, false, |bench, pose| {
                let skeleton = &bench.context.character.skeleton;
                *pose = mirrored_pose(skeleton, pose).ok_or_else(no_sides)?;
                Ok(())
            }),
            Command::ResetPose(node) => self.change_pose(kind, false, |bench, pose| bench.reset(pose, *node)),
            _ => Ok(()),
        };
        if let Err(error) = done {
            self.context.refuse(&error);
            self.limit();
        }
    }

    /// Lets the hand feel that the limit of a joint has stopped a number, once per drag.
    fn feel_place(&mut self, node: NodeId, wanted: &Trs, continues: bool) {
        let now = self.context.pose.local.get(node.index()).map(Trs::rotation);
        let stopped = now.is_some_and(|now| now.dot(wanted.rotation()).abs() < STOPPED)
            && self.context.session.document().limits().contains_key(&node);
        if stopped {
            let name = &self.context.character.skeleton.nodes[node.index()].name;
            self.context.notice = Some(format!("the limit of {name} stops this rotation").into());
        }
        if stopped && !(continues && self.stopped) {
            self.limit();
        }
        self.stopped = stopped;
    }

    /// Changes the displayed pose as one undo step. A displayed motion's pose is copied to the edited pose first, as part
    /// of the same step.
    fn change_pose(
        &mut self,
        kind: CommandKind,
        continues: bool,
        change: impl FnOnce(&Self, &mut Pose) -> Result<()>,
    ) -> Result<()> {
        if self.context.rest_view {
            return Err(Error::input("the rest pose shows, for the cage", "show the current pose first"));
        }
        self.cancel();
        let mut wanted = self.context.pose.clone();
        change(self, &mut wanted)?;
        if wanted == self.context.pose {
            return Ok(());
        }
        let steps = self.context.session.history().0;
        self.borrow_pose();
        // In takes of earlier versions, the copy is a step already.
        let taken = self.context.session.history().0 > steps;
        let session = &self.context.session;
        let joins = taken || (continues && self.sliding == Some((None, kind, session.history())));
        if let Some(edit) = self.context.adjustment(session.document().strokes(), &session.posed(), &wanted) {
            self.run_edit(edit, joins);
            self.sliding = Some((None, kind, self.context.session.history()));
        }
        Ok(())
    }

    /// Sets a node's local transform, within the joint's limit. With mirror on, its partner moves and rotates as the mirror
    /// image.
    fn place(&self, pose: &mut Pose, node: NodeId, local: &Trs) -> Result<()> {
        let skeleton = &self.context.character.skeleton;
        let old = *local_of(skeleton, pose, node)?;
        let mut local = checked(skeleton, node, &old, local)?;
        let limits = self.context.session.document().limits();
        keep_limit(skeleton, limits, node, &old, &mut local);
        if let (true, Some(mirror)) = (self.preferences.mirror, &self.context.body.mirror)
            && let Some(partner) = mirror.partner(node).filter(|p| *p != node)
        {
            let parent = world_from_parent(skeleton, node, &world(skeleton, pose)).matrix3;
            let plane = mirror.plane(&self.context.rig);
            let turn = local.rotation().as_dquat() * old.rotation().as_dquat().inverse();
            let shift = parent * (local.translation().as_dvec3() - old.translation().as_dvec3());
            let turn = turn_between(parent.inverse(), turn, parent.inverse()).unwrap_or(DQuat::IDENTITY);
            if (local.rotation, local.translation) != (old.rotation, old.translation) {
                let before = *local_of(skeleton, pose, partner)?;
                move_joint(skeleton, pose, partner, plane.turn(turn), plane.direction(shift))?;
                keep_limit(skeleton, limits, partner, &before, &mut pose.local[partner.index()]);
            }
            if local.scale != old.scale {
                let axes = Reflection::new(skeleton, mirror).axes(node, partner);
                for (scale, axis) in pose.local[partner.index()].scale.iter_mut().zip(axes) {
                    if old.scale[axis] != 0.0 {
                        *scale *= local.scale[axis] / old.scale[axis];
                    }
                }
            }
        }
        pose.local[node.index()] = local;
        if pose.world(skeleton).iter().all(|w| w.is_finite()) {
            Ok(())
        } else {
            let name = &skeleton.nodes[node.index()].name;
            Err(Error::input(
                format!("{name:?} cannot have this transform: it is too large"),
                "give smaller numbers",
            ))
        }
    }

    /// Whether [`Command::PastePose`] has a pose to paste.
    pub fn has_copied_pose(&self) -> bool {
        !self.copied.is_empty()
    }

    fn copy_pose(&mut self) -> Result<()> {
        let skeleton = &self.context.character.skeleton;
        let top = self
            .selected()
            .ok_or_else(|| Error::input("no joint is selected", "select the topmost joint to copy first"))?;
        let mut below = vec![false; skeleton.nodes.len()];
        for &id in &skeleton.order {
            let parent = skeleton.nodes[id.index()].parent;
            below[id.index()] = id == top || parent.is_some_and(|p| below[p.index()]);
        }
        let posable = &self.context.body.posable;
        let nodes = skeleton.order.iter().filter(|n| below[n.index()] && (**n == top || posable.contains(n)));
        self.copied = nodes.map(|n| (*n, self.context.pose.local[n.index()])).collect();
        self.context.notice = None;
        Ok(())
    }

    fn paste(&self, pose: &mut Pose, mirrored: bool) -> Result<()> {
        if self.copied.is_empty() {
            return Err(Error::input("no pose is copied", "select a joint and copy its pose first"));
        }
        if !mirrored {
            self.copied.iter().for_each(|(node, local)| pose.local[node.index()] = *local);
            return Ok(());
        }
        let skeleton = &self.context.character.skeleton;
        let mirror = self.context.body.mirror.as_ref().ok_or_else(no_sides)?;
        let reflection = Reflection::new(skeleton, mirror);
        for (node, local) in &self.copied {
            let of_node = &skeleton.nodes[node.index()];
            if of_node.joint.is_none() || of_node.remainder.is_some() {
                continue;
            }
            // A joint without a partner, such as a joint of the spine, is reflected onto itself.
            let to = mirror.partner(*node).unwrap_or(*node);
            if let Some(local) = reflection.local(*node, local, to) {
                pose.local[to.index()] = local;
            }
        }
        Ok(())
    }

    /// Gives a node, and with mirror on its partner, the local transform of the rest pose; without a node, all nodes.
    fn reset(&self, pose: &mut Pose, node: Option<NodeId>) -> Result<()> {
        let skeleton = &self.context.character.skeleton;
        let Some(node) = node else {
            pose.local.iter_mut().zip(&skeleton.nodes).for_each(|(local, node)| *local = node.rest);
            return Ok(());
        };
        local_of(skeleton, pose, node)?;
        let mirror = self.context.body.mirror.as_ref().filter(|_| self.preferences.mirror);
        for node in std::iter::once(node).chain(mirror.and_then(|m| m.partner(node))) {
            pose.local[node.index()] = skeleton.nodes[node.index()].rest;
        }
        Ok(())
    }
}

fn no_sides() -> Error {
    Error::input("this body has no two sides", "mirroring needs joints on the left and on the right")
}

fn local_of<'a>(skeleton: &Skeleton, pose: &'a Pose, node: NodeId) -> Result<&'a Trs> {
    pose.local.get(node.index()).ok_or_else(|| {
        let problem = format!("there is no node #{}", node.index());
        Error::input(problem, format!("the character has {} nodes", skeleton.nodes.len()))
    })
}

/// Checks the values of a local transform and normalises its rotation. A scale of zero that the node already has is valid.
fn checked(skeleton: &Skeleton, node: NodeId, old: &Trs, new: &Trs) -> Result<Trs> {
    let name = &skeleton.nodes[node.index()].name;
    let refuse = |problem: &str, fix: &str| Err(Error::input(format!("{name:?} cannot have {problem}"), fix));
    if !new.translation.iter().chain(&new.rotation).chain(&new.scale).all(|v| v.is_finite()) {
        return refuse("a value that is not finite", "give finite numbers");
    }
    if old.scale.iter().zip(&new.scale).any(|(old, new)| new != old && new.abs() < LEAST_SCALE) {
        return refuse("a scale of zero", "give a scale that is not zero");
    }
    let rotation = Quat::from_array(new.rotation);
    if rotation.length() < 1e-6 {
        return refuse("a rotation whose quaternion is zero", "give a unit quaternion");
    }
    // Keeps the bits of a rotation that has not changed.
    let rotation = if new.rotation == old.rotation { new.rotation } else { rotation.normalize().into() };
    Ok(Trs { rotation, ..*new })
}
