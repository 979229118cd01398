//! Finds the bones that deform the body; rigs also have control bones and end bones that no vertex follows.

use super::Character;
use crate::base::NodeId;
use crate::rig::{LEAST_WEIGHT, posable};

impl Character {
    /// Returns, per bone, whether it deforms the mesh. A bone deforms the mesh if vertices follow its joint, or if it
    /// lies on a path between two joints that vertices follow. Control bones, inverse kinematics bones and bones above
    /// the body's first joint do not deform the mesh.
    pub fn deforming_bones(&self) -> Vec<bool> {
        let followed = self.followed_joints();
        let leads = self.at_or_above(&followed);
        let between = |joint: usize, child: usize| leads[child] && self.line(joint).any(|a| followed[a]);
        let bones = self.skeleton.bones.iter().map(|b| (b.parent.index(), b.child.map(|c| c.index())));
        bones.map(|(joint, child)| followed[joint] || child.is_some_and(|c| between(joint, c))).collect()
    }

    /// Returns, per joint, whether vertices follow the joint or a joint below it.
    pub fn leading_joints(&self) -> Vec<bool> {
        self.at_or_above(&self.followed_joints())
    }

    /// Returns the nodes of the control joints: neither these joints nor joints below them move skin, and they hang on
    /// no joint that does. Examples are targets of inverse kinematics. The end joint of a limb is no control joint.
    pub fn control_nodes(&self) -> Vec<NodeId> {
        let (skeleton, followed) = (&self.skeleton, self.followed_joints());
        let leads = self.at_or_above(&followed);
        let of = |marked: &[bool]| {
            let mut nodes = vec![false; skeleton.nodes.len()];
            for (joint, _) in skeleton.joints.iter().zip(marked).filter(|(_, marked)| **marked) {
                nodes[joint.node.index()] = true;
            }
            nodes
        };
        let (followed, leads) = (of(&followed), of(&leads));
        let skinned = |n: &NodeId| skeleton.joints.iter().any(|j| j.skinned && j.node == *n);
        if !posable(skeleton).iter().any(|n| skinned(n) && followed[n.index()]) {
            return Vec::new();
        }
        let above = |n: NodeId| {
            let mut line =
                std::iter::successors(skeleton.nodes[n.index()].parent, |p| skeleton.nodes[p.index()].parent);
            line.find(|p| leads[p.index()])
        };
        let controls = |n: &NodeId| !leads[n.index()] && above(*n).is_none_or(|p| !followed[p.index()]);
        posable(skeleton).into_iter().filter(controls).collect()
    }

    /// Returns, per joint, whether vertices follow it.
    fn followed_joints(&self) -> Vec<bool> {
        let influences = &self.control.influences;
        let mut followed = vec![false; self.skeleton.joints.len()];
        for v in 0..influences.len() {
            for (joint, weight) in influences.of(v).filter(|(_, weight)| *weight > 0.0) {
                followed[usize::from(joint)] |= weight > LEAST_WEIGHT;
            }
        }
        followed
    }

    /// Returns, per joint, whether one of `joints` is the joint or lies below it.
    fn at_or_above(&self, joints: &[bool]) -> Vec<bool> {
        let mut out = joints.to_vec();
        (0..out.len()).filter(|&j| joints[j]).for_each(|j| self.line(j).for_each(|a| out[a] = true));
        out
    }

    /// The ancestors of a joint, upwards. A damaged file's cycle ends after as many steps as there are joints.
    fn line(&self, joint: usize) -> impl Iterator<Item = usize> {
        let parent = |j: usize| self.skeleton.joints[j].parent.map(|p| p.index());
        std::iter::successors(parent(joint), move |&j| parent(j)).take(self.skeleton.joints.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::asset::Influences;
    use crate::base::JointId;
    use crate::base::math::Vec3;
    use crate::rig::{Bone, Joint};

    #[test]
    fn bones_that_no_vertex_follows_are_no_part_of_the_body() {
        // Hierarchy: root > hips > spine (without weights) > head > end; hips > control.
        let parents = [None, Some(0), Some(1), Some(2), Some(3), Some(1)];
        let mut character = Character::default();
        for parent in parents {
            character.skeleton.joints.push(Joint {
                node: 0_usize.into(),
                joint_from_bind: Default::default(),
                bind_from_joint: Default::default(),
                parent: parent.map(JointId),
                skinned: true,
            });
        }
        let bones =
            [(0, Some(1)), (1, Some(2)), (1, Some(5)), (2, Some(3)), (3, Some(4)), (4, None), (5, None)];
        for (parent, child) in bones {
            let (head, tail) = (Vec3::ZERO, Vec3::Y);
            character.skeleton.bones.push(Bone {
                parent: JointId(parent),
                child: child.map(JointId),
                head,
                tail,
            });
        }
        let mut influences = Influences::default();
        influences.push(vec![(1, 1.0)]);
        influences.push(vec![(3, 0.9999), (5, 0.0001)]);
        character.control.influences = influences;
        assert_eq!(character.deforming_bones(), [false, true, true, true, true, false, false]);
    }

    #[test]
    fn control_joints_move_no_skin_and_hang_on_none_that_does() {
        // Root > hips > spine > end; root > knee target > its target; spine > weapon; a target on a root of its own.
        let parents = [None, Some(0), Some(1), Some(2), Some(0), Some(4), Some(2), None];
        let joints: Vec<(Vec3, Option<usize>)> =
            parents.iter().enumerate().map(|(k, p)| (Vec3::Y * k as f32, *p)).collect();
        let at = |weights: [u16; 3]| {
            let mut influences = Influences::default();
            weights.iter().for_each(|j| influences.push([(*j, 1.0)]));
            let corners = vec![Vec3::ZERO, Vec3::X, Vec3::Y];
            Character::from_parts(corners, vec![[0, 1, 2]], &joints, influences).unwrap()
        };
        let controls =
            |weights| -> Vec<usize> { at(weights).control_nodes().into_iter().map(|n| n.index()).collect() };
        assert_eq!(controls([1, 2, 2]), [4, 5, 7]);
        // A foot that hangs on its target makes the target a part of the body.
        assert_eq!(controls([1, 2, 5]), [7]);
        // If the root moves skin itself, only the joint on a root of its own is a control joint.
        assert_eq!(controls([0, 1, 2]), [7]);
    }
}
