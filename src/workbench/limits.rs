//! Commands that change the limits of joints, and the vibration of the controller when a joint reaches its limit.

use super::{CommandKind, Haptic, Workbench};
use crate::anim::limits_of_clips;
use crate::base::{Error, NodeId, Result};
use crate::document::Edit;
use crate::pose::carries_all;
use crate::rig::{Limit, Limits, Reflection, bone_frames, relative_rotation};
use serde::{Deserialize, Serialize};
use std::f32::consts::PI;

/// Half-angle of the cone, and twist to either side, of a new limit without clips, radians.
const NEW: [f32; 2] = [0.5 * PI, 0.25 * PI];

/// A change of the limits of joints, see [`Limit`]. Except for [`LimitChange::FromClips`] and [`LimitChange::Forget`],
/// it changes the limit of the selected joint. With *Mirror* on, it also changes the limit of the joint on the other
/// side.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LimitChange {
    /// Gives the joint a limit, or removes it. A new limit is the range that the clips of the file use; without clips,
    /// a cone of 90 degrees and a twist of 45 degrees to either side.
    On(bool),
    /// Sets the least and the greatest twist, degrees: -180..=0 and 0..=180.
    Twist([f32; 2]),
    /// Sets the greatest swing about +x, -x, +y and -y, degrees: 0..=180 each.
    Swing([f32; 4]),
    /// Extends the limit so that it allows the displayed pose.
    ToPose,
    /// Gives every joint that a clip of the file rotates the range that the clips use. Other joints keep theirs.
    FromClips,
    /// Removes the limits of all joints.
    Forget,
}

impl Workbench {
    /// Changes limits. With `continues`, the change joins the undo step of the previous change, unless something else
    /// was done since.
    pub(super) fn change_limits(&mut self, change: &LimitChange, continues: bool) {
        match self.changed_limits(change) {
            Ok(edit) => {
                let now = |bench: &Self| Some((None, CommandKind::Limit, bench.context.session.history()));
                let continues = continues && self.sliding == now(self);
                self.apply(edit, continues);
                self.sliding = now(self);
            }
            Err(error) => {
                self.context.notice = Some((&error).into());
                self.limit();
            }
        }
    }

    fn changed_limits(&self, change: &LimitChange) -> Result<Edit> {
        let limits = self.context.session.document().limits();
        let in_radians = |degrees: f32| if degrees.is_finite() { degrees.to_radians() } else { 0.0 };
        let set = |limit: Limit| self.limit_edit(Some(limit.sane()));
        match change {
            LimitChange::On(false) => self.limit_edit(None),
            LimitChange::On(true) => set(self.new_limit(self.limited_joint()?)),
            LimitChange::Twist(degrees) => set(Limit { twist: degrees.map(in_radians), ..self.own_limit()? }),
            LimitChange::Swing(degrees) => set(Limit { swing: degrees.map(in_radians), ..self.own_limit()? }),
            LimitChange::ToPose => {
                let (node, limit) = (self.limited_joint()?, self.own_limit()?);
                let local = self.context.pose.local[node.index()].rotation();
                set(limit.including(relative_rotation(&self.context.character.skeleton, node, &limit, local)))
            }
            LimitChange::FromClips => {
                let skeleton = &self.context.character.skeleton;
                // The topmost joints place the character, so their rotation has no range.
                let joints = self.context.body.posable.iter().filter(|n| !carries_all(skeleton, **n));
                let new = limits_of_clips(skeleton, &joints.copied().collect::<Vec<_>>());
                if new.is_empty() {
                    return Err(Error::input("no clip of this file rotates a joint", "set limits by hand"));
                }
                Ok(Edit::SetLimits(limits.iter().map(|(n, l)| (*n, *l)).chain(new).collect()))
            }
            LimitChange::Forget => Ok(Edit::SetLimits(Limits::new())),
        }
    }

    /// Returns the edit that gives the selected joint a limit, and with mirror on the joint on the other side its
    /// mirror image; without a limit, the edit removes them.
    fn limit_edit(&self, limit: Option<Limit>) -> Result<Edit> {
        let node = self.limited_joint()?;
        let set = |node, limit: Option<Limit>| Edit::SetLimit { node, limit: limit.map(Box::new) };
        let mirror = self.context.body.mirror.as_ref().filter(|_| self.preferences.mirror);
        let Some((mirror, partner)) = mirror.and_then(|m| Some((m, m.partner(node).filter(|p| *p != node)?)))
        else {
            return Ok(set(node, limit));
        };
        let reflection = Reflection::new(&self.context.character.skeleton, mirror);
        let image = limit.and_then(|limit| reflection.limit(node, &limit, partner));
        Ok(Edit::Group(vec![set(node, limit), set(partner, image)]))
    }

    fn new_limit(&self, node: NodeId) -> Limit {
        let skeleton = &self.context.character.skeleton;
        let of_clips = limits_of_clips(skeleton, &[node]).remove(&node);
        let [swing, twist] = NEW;
        let open = Limit::open(bone_frames(skeleton)[node.index()]);
        of_clips.unwrap_or(Limit { twist: [-twist, twist], swing: [swing; 4], ..open })
    }

    /// The selected joint, if it can be posed.
    fn limited_joint(&self) -> Result<NodeId> {
        self.selected().filter(|n| self.context.body.posable.contains(n)).ok_or_else(|| {
            Error::input(
                "no joint is selected, or the selected one cannot be posed",
                "select a joint of the skin",
            )
        })
    }

    /// The limit of the selected joint.
    fn own_limit(&self) -> Result<Limit> {
        let node = self.limited_joint()?;
        let limit = self.context.session.document().limits().get(&node);
        let name = &self.context.character.skeleton.nodes[node.index()].name;
        limit
            .copied()
            .ok_or_else(|| Error::input(format!("{name:?} has no limit"), "switch its limit on first"))
    }

    /// Notices which joints stand at their limits, and lets the hands feel a joint that has just reached its limit.
    pub(super) fn watch_limits(&mut self) {
        let busy = self.is_busy();
        if !self.limits.watch(&self.context, busy) || !self.preferences.haptics {
            return;
        }
        let holding = [0, 1].map(|hand| self.is_grabbing() && self.holds(hand));
        let tool = self.tool_hand();
        for (hand, holds) in holding.into_iter().enumerate() {
            if holds || holding == [false; 2] && hand == tool {
                self.output.haptics[hand] = Some(Haptic::Limit);
            }
        }
    }
}
