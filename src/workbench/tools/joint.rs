//! The joint tool poses a single joint. In a headset, the trigger grabs the nearest joint, which rotates with the hand;
//! a root joint also translates. In the window, the user rotates and translates the joint by a gizmo and by keys. A
//! joint stays within its limit.

use super::{EditContext, Moment};
use crate::base::NodeId;
use crate::base::math::{DQuat, DVec3};
use crate::pose::Adjustment;
use crate::rig::{Pose, keep_limit, move_joint};
use crate::workbench::{Haptic, Rigid, Rules, Tracking};

/// A joint that is held.
struct HeldJoint {
    node: NodeId,
    /// Pose at the grab.
    start: Pose,
    /// Tool tip at the grab.
    hand: Rigid,
    /// The last rotation and translation, and whether the partner mirrors them.
    last: (DQuat, DVec3, bool),
    /// How the body differed from the motion beneath it at the grab.
    over: Vec<Adjustment>,
}

/// State of the joint tool.
#[derive(Default)]
pub struct JointTool {
    held: Option<HeldJoint>,
}

impl JointTool {
    /// Whether a joint is held.
    pub fn is_busy(&self) -> bool {
        self.held.is_some()
    }

    /// Grabs a joint. Returns false if the joint cannot be posed.
    pub fn hold(&mut self, context: &EditContext, node: NodeId) -> bool {
        if !context.body.posable.contains(&node) {
            return false;
        }
        let (start, over) = (context.pose.clone(), context.over_motion());
        let last = (DQuat::IDENTITY, DVec3::ZERO, false);
        self.held = Some(HeldJoint { node, start, hand: Rigid::default(), last, over });
        true
    }

    /// Adds the last rotation and translation to the motion, if one plays.
    pub fn ride(&mut self, context: &mut EditContext) {
        let Some(held) = &mut self.held else { return };
        if context.beneath_into(&held.over, &mut held.start) {
            let (turn, shift, mirror) = held.last;
            self.set(context, turn, shift, mirror);
        }
    }

    /// Rotates and moves the held joint, relative to the grab pose, world space; with `mirror`, also its partner.
    pub fn set(&mut self, context: &mut EditContext, turn: DQuat, shift: DVec3, mirror: bool) {
        let Some(held) = &mut self.held else { return };
        held.last = (turn, shift, mirror);
        let skeleton = &context.character.skeleton;
        let mut pose = held.start.clone();
        let mut moved = move_joint(skeleton, &mut pose, held.node, turn, shift);
        let mirror = context.body.mirror.as_ref().filter(|_| mirror);
        if let Some((mirror, partner)) = mirror.and_then(|m| Some((m, m.partner(held.node)?)))
            && partner != held.node
        {
            let plane = mirror.plane(&context.rig);
            let (turn, shift) = (plane.turn(turn), plane.direction(shift));
            moved = moved.and_then(|()| move_joint(skeleton, &mut pose, partner, turn, shift));
        }
        let limits = context.session.document().limits();
        for node in std::iter::once(held.node).chain(mirror.and_then(|m| m.partner(held.node))) {
            let before = &held.start.local[node.index()];
            keep_limit(skeleton, limits, node, before, &mut pose.local[node.index()]);
        }
        match moved {
            Ok(()) => context.show(&pose),
            Err(error) => context.refuse(&error),
        }
    }

    /// Releases the joint and commits the displayed pose to the document.
    pub fn let_go(&mut self, context: &mut EditContext) {
        let Some(held) = self.held.take() else { return };
        if context.pose == held.start {
            return;
        }
        let (wanted, now) = (context.pose.clone(), context.session.posed());
        if let Some(edit) = context.adjustment(context.session.document().strokes(), &now, &wanted) {
            context.apply(edit);
        }
    }

    /// Cancels the grab and restores the pose.
    pub fn cancel(&mut self, context: &mut EditContext) {
        if self.held.take().is_some() {
            context.show_document();
        }
    }

    /// Runs one frame of a tracked hand. `near` is the joint that the hand last touched.
    pub fn step(&mut self, context: &mut EditContext, moment: &mut Moment, near: Option<NodeId>) {
        let hand = moment.hand();
        let (tip, trigger) = (hand.tip, hand.trigger);
        let tracked = hand.tip_tracking == Tracking::Tracked;
        if self.held.is_none() {
            let node = near.filter(|_| trigger.pressed && tracked && !hand.on_panel);
            if let Some(node) = node.filter(|n| self.hold(context, *n)) {
                self.held = self.held.take().map(|h| HeldJoint { node, hand: tip, ..h });
                moment.feel(moment.tool, Haptic::Selection);
            }
            return;
        }
        if !trigger.down {
            let taps = |h: &HeldJoint| {
                let (turn, shift, _) = h.last;
                moment.is_tap(turn, shift)
            };
            if moment.rules >= Rules::Twelfth && self.held.as_ref().is_some_and(taps) {
                return self.cancel(context);
            }
            return self.let_go(context);
        }
        let Some(held) = self.held.as_ref().filter(|_| tracked) else { return };
        let turn = tip.orientation.as_dquat() * held.hand.orientation.as_dquat().inverse();
        let is_root = context.character.skeleton.nodes[held.node.index()].parent.is_none();
        let way = (tip.position - held.hand.position).as_dvec3();
        let shift = if is_root { way } else { DVec3::ZERO };
        self.set(context, turn.normalize(), shift, moment.preferences.mirror);
    }
}
