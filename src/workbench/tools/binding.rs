//! Draws the binding: the scale vector from each attachment point to the skin (thesis, chapter 3). The colour of a line
//! shows the skin weight of the selected joint or, if no joint is selected, the bone. With the planar binding, also
//! draws the dividing planes at the selected joint.

use super::EditContext;
use crate::base::math::Vec3;
use crate::base::{BoneId, NodeId};
use crate::bind::{Attachments, BindOptions, Binding, dividing_square};
use crate::render::Lines;
use crate::scene::{color_of_index, color_of_weight};

/// Width of the lines that show a dividing plane, points.
const PLANE: f32 = 2.0;

/// Draws the dividing planes at the selected joint, if the document's binding has planes. The planes move with the
/// joint.
pub fn planes(context: &EditContext, selected: Option<NodeId>, out: &mut Lines) {
    let (skeleton, binding) = (&context.character.skeleton, context.session.document().binding());
    let joint = selected.and_then(|n| skeleton.nodes.get(n.index())?.joint);
    let Some(joint) = joint.filter(|_| binding.method == Binding::Planar) else { return };
    let Some(world_from_bind) = context.rig.skinning.get(joint.index()) else { return };
    let turn = BindOptions::turn(binding.planes.get(&joint).copied().unwrap_or_default());
    let meets = |b: &usize| {
        let bone = &skeleton.bones[*b];
        skeleton.joints[bone.parent.index()].skinned && (bone.parent == joint || bone.child == Some(joint))
    };
    for a in (0..skeleton.bones.len()).filter(meets) {
        for b in (a + 1..skeleton.bones.len()).filter(meets) {
            let Some(square) = dividing_square(skeleton, joint, [a, b].map(BoneId::from), turn) else {
                continue;
            };
            let [p, q, r, s] = square.map(|x| world_from_bind.transform_point3(x));
            out.polyline(&[p, q, r, s, p], color_of_index(a), PLANE, 0.0);
            out.polyline(&[p, r], color_of_index(a), PLANE, 0.0);
            out.polyline(&[q, s], color_of_index(b), PLANE, 0.0);
        }
    }
}

/// Maximum number of drawn vectors. More vectors would hide the skin, so the tool skips some of them.
const MOST: usize = 6000;

/// Draws the scale vectors of the vertices that the selected joint influences, or of all vertices. Each vector ends
/// where linear blend skinning places its vertex.
pub fn lines(context: &EditContext, attachments: &Attachments, selected: Option<NodeId>, out: &mut Lines) {
    let control = &context.character.control;
    let joint = selected.and_then(|n| context.character.skeleton.nodes.get(n.index())?.joint);
    let weight_on = |v: usize| {
        let of =
            control.influences.of(v).filter(|(j, _)| joint.is_some_and(|k| k.index() == usize::from(*j)));
        of.map(|(_, w)| w).sum::<f32>()
    };
    let count = control.positions.len().min(attachments.bone.len());
    let wanted = |v: &usize| joint.is_none() || weight_on(*v) > 0.0;
    let shown = (0..count).filter(wanted).count();
    for v in (0..count).filter(wanted).step_by(shown.div_ceil(MOST).max(1)) {
        let bone = attachments.bone[v].index();
        let Some(posed) = context.rig.bones.get(bone) else { continue };
        let from = posed.head.lerp(posed.tail, attachments.t[v]);
        let joints = control.influences.of(v);
        let to: Vec3 = joints
            .filter_map(|(j, w)| {
                Some(context.rig.skinning.get(usize::from(j))?.transform_point3(control.positions[v]) * w)
            })
            .sum();
        let color = match joint {
            Some(_) => color_of_weight(weight_on(v)),
            None => color_of_index(bone),
        };
        out.polyline(&[from, to], color, 1.5, 0.0);
    }
}
