//! Shows the limits of joints: marks joints that reach their limits while a tool moves them, and draws the cone of the
//! selected joint.

use super::EditContext;
use crate::base::math::{DQuat, DVec3, Vec3};
use crate::base::{NodeId, Version};
use crate::render::Lines;
use crate::rig::{JointLimit, Limit, Pose, swing};
use std::f64::consts::TAU;
use std::fmt::Write;

/// A joint reaches its limit at this angle from it, radians, and leaves it at the second angle.
const NEAR: [f64; 2] = [0.005, 0.02];
/// A joint that has rotated by less than this angle, radians, was not moved.
const MOVED: f32 = 1e-3;
/// Colour of joints at their limits.
pub const AT_LIMIT: [u8; 4] = [255, 70, 40, 255];
const CONE: [u8; 4] = [120, 220, 255, 220];
const SPOKE: [u8; 4] = [120, 220, 255, 110];
const ARC: [u8; 4] = [255, 214, 90, 230];
const NOW: [u8; 4] = [255, 255, 255, 230];
/// Number of segments of the cone's rim and of the arc of twist.
const SEGMENTS: usize = 48;
/// Length of the cone, as a fraction of the bone, and radius of the arc, as a fraction of the cone.
const SIZE: [f32; 2] = [0.7, 0.3];

/// Which joints stand at their limits while a tool moves them.
#[derive(Default)]
pub struct LimitWatch {
    /// The displayed pose before the tool.
    start: Pose,
    /// Version of the displayed pose that was examined last.
    version: Option<Version>,
    busy: bool,
    /// Joints at their limits, and whether the tool has moved each.
    at: Vec<(NodeId, bool)>,
    /// The names of the joints that the tool has moved to their limits, in words.
    text: String,
    /// The joints that `text` names.
    named: Vec<NodeId>,
}

impl LimitWatch {
    /// Examines the displayed pose. `busy` says whether a tool is changing the pose. Returns whether a joint has just
    /// reached its limit.
    pub fn watch(&mut self, context: &EditContext, busy: bool) -> bool {
        let reached = self.examine(context, busy);
        self.name(context);
        reached
    }

    fn examine(&mut self, context: &EditContext, busy: bool) -> bool {
        let limits = context.session.document().limits();
        if limits.is_empty() {
            self.at.clear();
            (self.version, self.busy) = (None, busy);
            return false;
        }
        let begins = busy && !self.busy;
        self.busy = busy;
        if !busy || begins && self.version.is_none() {
            self.at.clear();
            if self.version != Some(context.pose_version) {
                self.start.copy_from(&context.pose);
                self.version = Some(context.pose_version);
            }
            return false;
        }
        if !begins && self.version == Some(context.pose_version) {
            return false;
        }
        self.version = Some(context.pose_version);
        let nodes = &context.character.skeleton.nodes;
        let mut reached = false;
        for (node, limit) in limits {
            let i = node.index();
            let (Some(from), Some(now)) = (self.start.local.get(i), context.pose.local.get(i)) else {
                continue;
            };
            let limit = JointLimit::new(limit, nodes[i].rest.rotation().as_dquat());
            let room = |q: glam::Quat| limit.room(q.as_dquat());
            let place = self.at.iter().position(|(n, _)| n == node);
            // A joint that starts at its limit has not just reached it.
            let was = place.is_some() || begins && room(from.rotation()) < NEAR[0];
            let is = room(now.rotation()) < NEAR[usize::from(was)];
            let moved = from.rotation().angle_between(now.rotation()) > MOVED;
            match place {
                Some(place) if !is => drop(self.at.swap_remove(place)),
                Some(place) => self.at[place].1 = moved,
                None if is => self.at.push((*node, moved)),
                None => {}
            }
            reached |= is && !was;
        }
        reached
    }

    /// Writes the text if other joints stand at their limits than before.
    fn name(&mut self, context: &EditContext) {
        if self.joints().eq(self.named.iter().copied()) {
            return;
        }
        let mut named = std::mem::take(&mut self.named);
        named.clear();
        named.extend(self.joints());
        self.text.clear();
        let name = |node: &NodeId| &*context.character.skeleton.nodes[node.index()].name;
        // A String takes any text.
        let _ = match &named[..] {
            [] => Ok(()),
            [one] => write!(self.text, "{} is at its limit", name(one)),
            [one, two] => write!(self.text, "{} and {} are at their limits", name(one), name(two)),
            [one, rest @ ..] => {
                write!(self.text, "{} and {} other joints are at their limits", name(one), rest.len())
            }
        };
        self.named = named;
    }

    /// The joints that the tool has moved to their limits, such as `LeftLowerArm is at its limit`; `None` if there are none.
    pub fn text(&self) -> Option<&str> {
        Some(self.text.as_str()).filter(|t| !t.is_empty())
    }

    /// The joints at their limits that the tool has moved.
    pub fn joints(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.at.iter().filter(|(_, moved)| *moved).map(|(node, _)| *node)
    }

    /// Draws the joints at their limits that the tool has moved.
    pub fn lines(&self, context: &EditContext, out: &mut Lines) {
        let skeleton = &context.character.skeleton;
        for node in self.joints() {
            let Some(world) = context.rig.world.get(node.index()) else { continue };
            let at: Vec3 = world.translation.into();
            for (bone, rest) in context.rig.bones.iter().zip(&skeleton.bones) {
                if skeleton.joints[rest.parent.index()].node == node {
                    out.polyline(&[bone.head, bone.head.lerp(bone.tail, 0.5)], AT_LIMIT, 5.0, 1.0);
                }
            }
            out.dot(at, AT_LIMIT, 13.0);
        }
    }
}

/// Draws the limit of a joint: the rim of its cone, the bone's direction, and the arc of twist around the bone.
pub fn cone(context: &EditContext, selected: Option<NodeId>, out: &mut Lines) {
    let skeleton = &context.character.skeleton;
    let limit = selected.and_then(|n| Some((n, context.session.document().limits().get(&n)?)));
    let Some((node, limit)) = limit else { return };
    let (Some(world), Some(local)) =
        (context.rig.world.get(node.index()), context.pose.local.get(node.index()))
    else {
        return;
    };
    let of_node = &skeleton.nodes[node.index()];
    let parent = of_node.parent.and_then(|p| context.rig.world.get(p.index()));
    let at = Vec3::from(world.translation);
    let bones = context.rig.bones.iter().zip(&skeleton.bones);
    let own = bones.filter(|(_, b)| Some(b.parent) == of_node.joint).map(|(b, _)| b.head.distance(b.tail));
    let length = own.fold(0.0, f32::max);
    let length =
        SIZE[0] * if length > 0.0 { length } else { 0.1 * context.character.control.aabb.diagonal() };
    let rest = of_node.rest.rotation().as_dquat() * limit.frame();
    // The rest orientation moves with the parent. A direction's image has the length of the cone under any scale.
    let place = |direction: DVec3| {
        let direction = (rest * direction).as_vec3();
        at + parent.map_or(direction, |p| p.transform_vector3(direction)).normalize_or_zero() * length
    };
    if !limit.swing.iter().all(|half| *half >= std::f32::consts::PI - 1e-3) {
        let rim = |i: usize| place(swing(limit.rim(TAU * i as f64 / SEGMENTS as f64)) * DVec3::Z);
        for i in 0..SEGMENTS {
            out.polyline(&[rim(i), rim(i + 1)], CONE, 2.0, 0.0);
        }
        for i in (0..SEGMENTS).step_by(SEGMENTS / 4) {
            out.polyline(&[at, rim(i)], SPOKE, 1.0, 0.0);
        }
    }
    let bound = JointLimit::new(limit, of_node.rest.rotation().as_dquat());
    let q = bound.relative(local.rotation().as_dquat());
    out.polyline(&[at, place(q * DVec3::Z)], NOW, 2.0, 0.0);
    twist(limit, q, at, place, out);
}

/// Draws the arc of twist at half of the cone's length, with a line at the present twist.
fn twist(limit: &Limit, q: DQuat, at: Vec3, place: impl Fn(DVec3) -> Vec3, out: &mut Lines) {
    let (parts, [low, high]) = (crate::rig::SwingTwist::new(q), limit.twist.map(f64::from));
    let turned = swing(parts.swing);
    let middle = at.lerp(place(turned * DVec3::Z), 0.5);
    let on_arc = |angle: f64| {
        let way = place(turned * (DQuat::from_rotation_z(angle) * DVec3::X)) - at;
        middle + way * SIZE[1]
    };
    if high - low < TAU - 1e-3 {
        let step = (high - low) / SEGMENTS as f64;
        for i in 0..SEGMENTS {
            let ends = [i, i + 1].map(|i| on_arc(low + step * i as f64));
            out.polyline(&ends, ARC, 2.0, 0.0);
        }
        for end in [low, high] {
            out.polyline(&[middle, on_arc(end)], ARC, 1.0, 0.0);
        }
        out.polyline(&[middle, on_arc(parts.twist)], NOW, 2.0, 0.0);
    }
}
