//! Precomputed data of a character for grabs and marks: thickness around bones, nearest bone, skin connectivity.

use crate::base::math::{Vec3, distance_to_segment};
use crate::base::{JointId, NodeId};
use crate::bind::Character;
use crate::geom::Walk;
use crate::rig::{Mirror, PosedRig, posable};
use crate::surface::SurfacePoint;

/// Fraction of a bone's vertices that lie within the bone's soft-tissue radius.
const FLESH: f32 = 0.85;

/// Fraction of a bone's length beyond which a grab selects the joint at the end.
const AT_END: f32 = 0.85;

/// Precomputed data of a character.
#[derive(Default)]
pub struct Body {
    /// Nodes that posing moves.
    pub posable: Vec<NodeId>,
    /// Posable nodes that move no skin and that tools in space do not take ([`Character::control_nodes`]).
    pub controls: Vec<NodeId>,
    /// The mirror symmetry of the joints; `None` for a character without one.
    pub mirror: Option<Mirror>,
    /// `mirror`, else the symmetry of the skin alone.
    pub sides: Option<Mirror>,
    /// Triangle adjacency of the welded skin.
    pub walk: Walk,
    /// Mean edge length of the skin in the bind pose, metres.
    pub edge: f32,
    /// Soft-tissue radius of each bone, metres; negative for bones that cannot be grabbed.
    flesh: Vec<f32>,
    /// Maximum distance from each bone to its vertices, metres.
    pub girth: Vec<f32>,
    /// Joint with the greatest weight, per control vertex.
    joint: Vec<u16>,
}

/// The bone nearest to a hand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Touch {
    /// Index into [`crate::rig::Skeleton::bones`].
    pub bone: usize,
    /// The joint node that moves the bone.
    pub node: NodeId,
    /// Distance to the soft tissue, metres; negative inside.
    pub distance: f32,
}

impl Body {
    /// Computes the data of a character.
    pub fn new(character: &Character) -> Self {
        let (skeleton, control) = (&character.skeleton, &character.control);
        let posable = posable(skeleton);
        let can_turn = |joint: usize| posable.contains(&skeleton.joints[joint].node);
        let mut bones_of = vec![Vec::new(); skeleton.joints.len()];
        for (b, bone) in skeleton.bones.iter().enumerate() {
            bones_of[bone.parent.index()].push(b);
        }
        let joint: Vec<u16> = (0..control.positions.len())
            .map(|v| control.influences.of(v).next().map_or(0, |(joint, _)| joint))
            .collect();
        let mut reach: Vec<Vec<f32>> = vec![Vec::new(); skeleton.bones.len()];
        for (x, joint) in control.positions.iter().zip(&joint) {
            let near = bones_of.get(usize::from(*joint)).into_iter().flatten().map(|&b| {
                let bone = &skeleton.bones[b];
                (distance_to_segment(*x, bone.head, bone.tail), b)
            });
            if let Some((distance, b)) = near.min_by(|a, b| a.0.total_cmp(&b.0)) {
                reach[b].push(distance);
            }
        }
        let girth = reach.iter().map(|distances| distances.iter().copied().fold(0.0, f32::max)).collect();
        let flesh = reach
            .iter_mut()
            .zip(&skeleton.bones)
            .map(|(distances, bone)| {
                if !can_turn(bone.parent.index()) {
                    return -1.0;
                }
                let nth = (distances.len() as f32 * FLESH) as usize;
                if nth >= distances.len() {
                    return 0.0;
                }
                *distances.select_nth_unstable_by(nth, f32::total_cmp).1
            })
            .collect();
        let (mut length, mut count) = (0.0_f64, 0_usize);
        for (a, b) in control.adjacency.edges() {
            length += f64::from(control.positions[a as usize].distance(control.positions[b as usize]));
            count += 1;
        }
        Self {
            posable,
            controls: character.control_nodes(),
            mirror: Mirror::new(skeleton),
            sides: Mirror::of_skin(skeleton, &control.positions),
            walk: Walk::new(&control.triangles),
            edge: (length / count.max(1) as f64) as f32,
            flesh,
            girth,
            joint,
        }
    }

    /// The nodes that tools in space take: the posable nodes without the control joints.
    pub fn reachable(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.posable.iter().copied().filter(|n| !self.controls.contains(n))
    }

    /// The bone whose soft tissue is nearest to a point, within `reach` metres.
    pub fn touch(&self, character: &Character, rig: &PosedRig, point: Vec3, reach: f32) -> Option<Touch> {
        let bones = rig.bones.iter().zip(&character.skeleton.bones).zip(&self.flesh).enumerate();
        let controls =
            |joint: JointId| self.controls.contains(&character.skeleton.joints[joint.index()].node);
        let nearest = bones
            .filter(|(_, ((_, rest), flesh))| {
                **flesh >= 0.0 && !controls(rest.parent) && !rest.child.is_some_and(controls)
            })
            .map(|(bone, ((pose, rest), flesh))| Touch {
                bone,
                node: character.skeleton.joints[rest.parent.index()].node,
                distance: distance_to_segment(point, pose.head, pose.tail) - flesh,
            })
            .filter(|t| t.distance <= reach)
            .min_by(|a, b| a.distance.total_cmp(&b.distance))?;
        // A grab near the end of a bone selects the child joint: a grab at the wrist moves the hand.
        let (pose, bone) = (&rig.bones[nearest.bone], &character.skeleton.bones[nearest.bone]);
        let along = (point - pose.head).dot(pose.tail - pose.head);
        let over = along > AT_END * pose.head.distance_squared(pose.tail);
        let child = bone.child.filter(|_| over).map(|c| character.skeleton.joints[c.index()].node);
        let child = child.filter(|c| self.posable.contains(c));
        Some(Touch { node: child.unwrap_or(nearest.node), ..nearest })
    }

    /// The posable node with the greatest influence on a display triangle.
    pub fn node_of(&self, character: &Character, triangle: u32) -> Option<NodeId> {
        let corner = self.walk.corners(triangle)?[0];
        let joint = *self.joint.get(corner as usize)?;
        let node = character.skeleton.joints.get(usize::from(joint))?.node;
        self.posable.contains(&node).then_some(node)
    }

    /// Positions of all control vertices after linear blend skinning, world space, metres.
    pub fn skinned(&self, character: &Character, rig: &PosedRig) -> Vec<Vec3> {
        let place = |(v, x): (usize, &Vec3)| {
            let of = character.control.influences.of(v);
            of.filter_map(|(j, w)| Some(rig.skinning.get(usize::from(j))?.transform_point3(*x) * w)).sum()
        };
        character.control.positions.iter().enumerate().map(place).collect()
    }

    /// Position of a skin point in bind space, metres.
    pub fn bind_position(&self, character: &Character, point: &SurfacePoint) -> Option<Vec3> {
        self.walk.position(&(point.triangle, point.barycentrics), &character.control.positions)
    }

    /// Position of a skin point after linear blend skinning, world space, metres. With other deformers, the position is
    /// an approximation.
    pub fn skinned_position(
        &self,
        character: &Character,
        rig: &PosedRig,
        point: &SurfacePoint,
    ) -> Option<Vec3> {
        let mut out = Vec3::ZERO;
        for (corner, share) in self.walk.corners(point.triangle)?.into_iter().zip(point.barycentrics) {
            let x = *character.control.positions.get(corner as usize)?;
            for (joint, weight) in character.control.influences.of(corner as usize) {
                out += rig.skinning.get(usize::from(joint))?.transform_point3(x) * (weight * share);
            }
        }
        out.is_finite().then_some(out)
    }
}
