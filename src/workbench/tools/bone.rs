//! The bone tool: strokes inside a mesh without a skeleton become chains of bones. The joint tool drags the joints of
//! these bones.
//!
//! The joints of a stroke depend on the interior of the mesh. To compute this interior takes too long for a frame. The
//! front end computes the joints ([`Request::Bones`]) and returns them to [`attached`].

use super::{EditContext, Moment, pen};
use crate::base::ChainId;
use crate::base::math::Vec3;
use crate::document::{Edit, Operation};
use crate::pose::{BoneChain, attach};
use crate::render::{JOINT, Lines};
use crate::rig::Pose;
use crate::scene::{BoneSketch, DrawnBones};
use crate::workbench::{Haptic, Request, Rules, Tracking};

/// Maximum distance from the tip to a joint for dragging, room metres.
const REACH: f32 = 0.025;
/// Minimum distance that moves a joint, room metres.
const STILL: f32 = 0.002;
/// Maximum number of samples. A stroke that reaches this number ends.
const MOST: usize = 4096;
/// Colour of the stroke that is being drawn, and of strokes whose joints are being computed.
const STROKE: [u8; 4] = [255, 172, 64, 255];

/// A joint of a chain.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Joint {
    chain: usize,
    joint: usize,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum BoneAct {
    #[default]
    Idle,
    Draws,
    /// A joint, its offset from the tip at the press, and whether the history has a step of the drag, as in old
    /// takes.
    Drags(Joint, Vec3, bool),
}

/// State of the bone tool.
#[derive(Default)]
pub struct BoneTool {
    act: BoneAct,
    points: Vec<Vec3>,
    hover: Option<Joint>,
}

impl BoneTool {
    /// Whether a stroke or a drag is in progress.
    pub fn is_busy(&self) -> bool {
        self.act != BoneAct::Idle
    }

    /// Cancels the current stroke or drag without any trace.
    pub fn cancel(&mut self, context: &mut EditContext) {
        match self.act {
            BoneAct::Drags(_, _, true) => {
                context.run(Operation::Undo);
            }
            BoneAct::Drags(..) => {
                context.end_draft(false);
            }
            _ => {}
        }
        self.act = BoneAct::Idle;
        self.points.clear();
    }

    /// Forgets the joint near the hand, after the document changed.
    pub fn document_changed(&mut self) {
        self.hover = None;
    }

    /// Runs one frame. With `drags`, the trigger drags joints; otherwise the trigger draws bones. Returns a request
    /// when a stroke ends. `eye` is the camera's position in world space if the stroke is drawn in a window.
    pub fn step(
        &mut self,
        context: &mut EditContext,
        moment: &mut Moment,
        (drags, eye): (bool, Option<Vec3>),
    ) -> Option<Request> {
        let hand = moment.hand();
        let (tip, tracked) = (hand.tip.position, hand.tip_tracking == Tracking::Tracked);
        let (pressed, down, on_panel) = (hand.trigger.pressed, hand.trigger.down, hand.on_panel);
        if self.act == BoneAct::Idle {
            let near = (drags && tracked && !on_panel)
                .then(|| nearest(context, tip, REACH * moment.scale))
                .flatten();
            if near.is_some() && near != self.hover {
                moment.feel(moment.tool, Haptic::Hover);
            }
            self.hover = near;
            if pressed && tracked && !on_panel {
                match near {
                    _ if !is_bare(context) => {
                        let advice = "this character has bones: draw bones in a mesh without a skeleton";
                        context.notice = Some(advice.into());
                        moment.feel(moment.tool, Haptic::Limit);
                    }
                    _ if context.pose != Pose::rest(&context.character.skeleton) => {
                        let advice = "bones are drawn in the rest pose: undo the moves of the mesh first";
                        context.notice = Some(advice.into());
                        moment.feel(moment.tool, Haptic::Limit);
                    }
                    Some(joint) => {
                        self.act = BoneAct::Drags(joint, place(context, joint).unwrap_or(tip) - tip, false);
                        moment.feel(moment.tool, Haptic::Selection);
                    }
                    None if drags => {}
                    None => {
                        self.points.clear();
                        self.act = BoneAct::Draws;
                        moment.feel(moment.tool, Haptic::Contact);
                    }
                }
            }
        }
        match self.act {
            BoneAct::Idle => None,
            BoneAct::Draws => {
                if down && tracked {
                    pen::draw(&mut self.points, moment, MOST);
                }
                if down && self.points.len() < MOST {
                    return None;
                }
                pen::end(&mut self.points, moment, MOST);
                self.act = BoneAct::Idle;
                let stroke = std::mem::take(&mut self.points);
                if stroke.len() < 2 {
                    moment.feel(moment.tool, Haptic::Limit);
                    return None;
                }
                moment.feel(moment.tool, Haptic::Selection);
                let p = moment.preferences;
                let reach = REACH * moment.scale;
                let bones = p.bones as usize;
                Some(Request::Bones(Box::new(BoneSketch { stroke, eye, bones, mirror: p.mirror, reach })))
            }
            BoneAct::Drags(joint, from_tip, recorded) => {
                let to = tip + from_tip;
                let far = place(context, joint).is_some_and(|old| old.distance(to) > STILL * moment.scale);
                if down && tracked && far {
                    let edit = Edit::SetBones(dragged(context, joint, to));
                    if context.drag(edit, recorded, moment.rules) {
                        self.act = BoneAct::Drags(joint, from_tip, moment.rules < Rules::Thirteenth);
                    }
                }
                if !down {
                    context.end_draft(true);
                    self.act = BoneAct::Idle;
                }
                None
            }
        }
    }

    /// Draws the bones of the document, the current stroke and the joint near the hand.
    pub fn lines(&self, context: &EditContext, out: &mut Lines) {
        for [head, tail] in context.session.document().bones().iter().flat_map(BoneChain::segments) {
            out.bone(head, tail, 8.0);
        }
        for chain in context.session.document().bones() {
            chain.joints.last().iter().for_each(|j| out.dot((**j).into(), JOINT, 5.0));
        }
        if !self.points.is_empty() {
            out.stroke(&self.points, STROKE, 3.0);
        }
        if let Some(at) = self.hover.and_then(|j| place(context, j)) {
            out.dot(at, [255, 255, 255, 255], 12.0);
        }
    }
}

/// Whether no mesh of the character has skin weights, so that bones can be drawn.
pub fn is_bare(context: &EditContext) -> bool {
    crate::deform::fast::is_bare(&context.character)
}

/// Returns the edit that removes the newest chain of bones and its partner; `None` without bones.
pub fn without_newest(context: &EditContext) -> Option<Edit> {
    let mut chains = context.session.document().bones().to_vec();
    let last = chains.pop()?;
    if chains.last().is_some_and(|c| Some(c.id) == last.partner) {
        chains.pop();
    }
    Some(Edit::SetBones(chains))
}

/// Joints at most this far apart are at one place, as a fraction of the length of the moved joint's bone.
const SAME: f32 = 1e-3;

fn place(context: &EditContext, joint: Joint) -> Option<Vec3> {
    let chain = context.session.document().bones().get(joint.chain)?;
    chain.joints.get(joint.joint).map(|j| (*j).into())
}

fn nearest(context: &EditContext, tip: Vec3, reach: f32) -> Option<Joint> {
    let chains = context.session.document().bones().iter().enumerate();
    let joints = chains.flat_map(|(chain, c)| {
        c.joints
            .iter()
            .enumerate()
            .map(move |(joint, x)| (Vec3::from(*x).distance(tip), Joint { chain, joint }))
    });
    joints.filter(|j| j.0 <= reach).min_by(|a, b| a.0.total_cmp(&b.0)).map(|j| j.1)
}

/// Returns the document's chains with a joint moved, together with the joints of other chains at the same place. If the
/// joint's chain has a mirrored partner on the other side of the body, the partner's joint moves as well.
fn dragged(context: &EditContext, joint: Joint, to: Vec3) -> Vec<BoneChain> {
    let mut chains = context.session.document().bones().to_vec();
    let Some(from) = place(context, joint) else { return chains };
    let other = chains[joint.chain].partner.and_then(|id| chains.iter().position(|c| c.id == id));
    let there = other.and_then(|chain| place(context, Joint { chain, ..joint }));
    let same = SAME * length_near(&chains[joint.chain], joint.joint);
    let mut moves = vec![(from, to)];
    if let Some(mirrored) = there.filter(|x| x.distance(from) > same) {
        // The plane of symmetry lies halfway between the two joints.
        let normal = (mirrored - from).normalize_or_zero();
        let middle = 0.5 * (mirrored + from);
        moves.push((mirrored, to - normal * (2.0 * normal.dot(to - middle))));
    }
    for x in chains.iter_mut().flat_map(|c| &mut c.joints) {
        if let Some((_, to)) = moves.iter().find(|(from, _)| from.distance(Vec3::from(*x)) <= same) {
            *x = to.to_array();
        }
    }
    chains
}

fn length_near(chain: &BoneChain, joint: usize) -> f32 {
    let near = chain.segments().skip(joint.saturating_sub(1)).take(2);
    near.map(|[a, b]| a.distance(b)).fold(0.0, f32::max)
}

/// Returns the document's chains with a new chain, and its mirror image if there is a plane of symmetry and the chain
/// does not lie in it. Each new chain is attached to the nearest bone.
pub fn attached(chains: &[BoneChain], drawn: &DrawnBones, first_id: ChainId) -> Vec<BoneChain> {
    let mut joints = drawn.joints.clone();
    let off = |x: Vec3| drawn.plane.map_or(0.0, |[point, normal]| normal.dot(x - point));
    let normal = drawn.plane.map_or(Vec3::ZERO, |p| p[1]);
    let central = drawn.plane.is_some() && joints.iter().all(|j| off(*j).abs() <= drawn.reach);
    if central {
        joints.iter_mut().for_each(|j| *j -= normal * off(*j));
    } else if off(joints[0]).abs() <= 0.25 * drawn.reach {
        joints[0] = joints[0] - normal * off(joints[0]);
    }
    let parent = attach(chains, &mut joints, drawn.reach);
    let array = |joints: &[Vec3]| joints.iter().map(|j| j.to_array()).collect();
    let mut out = chains.to_vec();
    let own = BoneChain { id: first_id, joints: array(&joints), parent, partner: None };
    if drawn.plane.is_none() || central {
        out.push(own);
        return out;
    }
    let mirrored: Vec<Vec3> = joints.iter().map(|j| *j - normal * (2.0 * off(*j))).collect();
    let partner_of = |id: ChainId| {
        let chain = chains.iter().find(|c| c.id == id)?;
        chain.partner.filter(|p| chains.iter().any(|c| c.id == *p))
    };
    let other = ChainId(first_id.0 + 1);
    let parent = parent.map(|(id, bone)| (partner_of(id).unwrap_or(id), bone));
    out.push(BoneChain { partner: Some(other), ..own });
    out.push(BoneChain { id: other, joints: array(&mirrored), parent, partner: Some(first_id) });
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(joints: &[[f32; 3]], plane: bool) -> DrawnBones {
        DrawnBones {
            joints: joints.iter().map(|j| Vec3::from(*j)).collect(),
            reach: 0.05,
            mirror: plane,
            plane: plane.then_some([Vec3::ZERO, Vec3::X]),
        }
    }

    #[test]
    fn chains_in_the_plane_are_single_and_others_have_partners() {
        let spine = drawn(&[[0.01, 1.0, 0.0], [-0.02, 1.3, 0.0], [0.0, 1.6, 0.0]], true);
        let chains = attached(&[], &spine, ChainId(0));
        assert!(chains.len() == 1 && chains[0].partner.is_none());
        assert!(chains[0].joints.iter().all(|j| j[0] == 0.0), "{chains:?}");
        let arm = drawn(&[[0.02, 1.58, 0.0], [0.4, 1.5, 0.0], [0.7, 1.5, 0.0]], true);
        let chains = attached(&chains, &arm, ChainId(1));
        assert_eq!(chains.len(), 3);
        assert_eq!(chains[1].joints[0], [0.0, 1.6, 0.0], "it joins the spine");
        assert_eq!(chains[2].joints[0], [0.0, 1.6, 0.0]);
        assert_eq!((chains[1].joints[2], chains[2].joints[2]), ([0.7, 1.5, 0.0], [-0.7, 1.5, 0.0]));
        assert_eq!((chains[1].partner, chains[2].partner), (Some(ChainId(2)), Some(ChainId(1))));
        // A finger of the one side is attached to the hand of that side.
        let finger = drawn(&[[0.7, 1.5, 0.01], [0.8, 1.5, 0.02]], true);
        let chains = attached(&chains, &finger, ChainId(3));
        assert_eq!((chains[3].parent, chains[4].parent), (Some((ChainId(1), 1)), Some((ChainId(2), 1))));
        crate::pose::validate_chains(&chains).unwrap();
        let single = attached(&chains, &drawn(&[[0.1, 1.0, 0.0], [0.1, 0.0, 0.0]], false), ChainId(9));
        assert!(single.len() == 6 && single[5].partner.is_none());
    }
}
