//! The fingers of a tracked hand pose the fingers of a character's hand. The pose is a preview until the user lets go;
//! then it becomes one undo step.

use super::EditContext;
use crate::base::NodeId;
use crate::pose::{Adjustment, FingerRig, Fingers};
use crate::rig::{Pose, keep_limit};

/// Smallest influence with which skin follows a joint of a finger.
const FOLLOWS: f32 = 0.05;

struct HeldFingers {
    /// Pose before.
    start: Pose,
    /// The displayed pose.
    pose: Pose,
    /// The hand, and with mirror its partner.
    rigs: Vec<FingerRig>,
    /// How the body differed from the motion beneath it at the beginning.
    over: Vec<Adjustment>,
    /// Memory for the pose of the next frame.
    next: Pose,
}

/// State of the fingers that follow a tracked hand.
#[derive(Default)]
pub struct FingerTool {
    held: Option<HeldFingers>,
}

impl FingerTool {
    /// Whether fingers follow a hand.
    pub fn is_busy(&self) -> bool {
        self.held.is_some()
    }

    /// Lets the fingers of the hand to which a joint belongs follow; with `mirror`, also those of its partner. Returns
    /// false if the joint belongs to no hand.
    pub fn hold(&mut self, context: &EditContext, node: NodeId, mirror: bool) -> bool {
        let character = &context.character;
        let mut carries = vec![false; character.skeleton.nodes.len()];
        for v in 0..character.control.positions.len() {
            for (joint, weight) in character.control.influences.of(v) {
                let joint = character.skeleton.joints.get(usize::from(joint));
                if let Some(joint) = joint.filter(|_| weight > FOLLOWS) {
                    carries[joint.node.index()] = true;
                }
            }
        }
        let rig = |node: NodeId| FingerRig::of(&character.skeleton, node, |n| carries[n.index()]);
        let Some((hand, own)) = rig(node) else { return false };
        let mut rigs = vec![own];
        let partner = context.body.mirror.as_ref().filter(|_| mirror).and_then(|m| m.partner(hand));
        rigs.extend(partner.and_then(rig).filter(|(other, _)| *other != hand).map(|(_, rig)| rig));
        let (pose, over) = (context.pose.clone(), context.over_motion());
        self.held = Some(HeldFingers { start: pose.clone(), next: pose.clone(), pose, rigs, over });
        true
    }

    /// Lets the rest of the body follow the motion, if one plays.
    pub fn ride(&mut self, context: &mut EditContext) {
        let Some(HeldFingers { pose, next, rigs, over, .. }) = &mut self.held else { return };
        if !context.beneath_into(over, next) {
            return;
        }
        for node in rigs.iter().flat_map(FingerRig::nodes) {
            next.local[node.index()] = pose.local[node.index()];
        }
        std::mem::swap(next, pose);
        context.show(pose);
    }

    /// Gives the character's fingers the angles of tracked fingers. A joint stays within its limit.
    pub fn follow(&mut self, context: &mut EditContext, tracked: &Fingers) {
        let Some(held) = &mut self.held else { return };
        let skeleton = &context.character.skeleton;
        let limits = context.session.document().limits();
        for rig in &held.rigs {
            rig.give(skeleton, tracked, &mut held.pose);
            for node in rig.nodes() {
                let before = &held.start.local[node.index()];
                keep_limit(skeleton, limits, node, before, &mut held.pose.local[node.index()]);
            }
        }
        context.show(&held.pose);
    }

    /// Ends following and commits the displayed pose.
    pub fn let_go(&mut self, context: &mut EditContext) {
        let Some(held) = self.held.take() else { return };
        if held.pose == held.start {
            return;
        }
        let now = context.session.posed();
        if let Some(edit) = context.adjustment(context.session.document().strokes(), &now, &held.pose) {
            context.apply(edit);
        }
    }

    /// Ends following and restores the pose.
    pub fn cancel(&mut self, context: &mut EditContext) {
        if self.held.take().is_some() {
            context.show_document();
        }
    }
}
