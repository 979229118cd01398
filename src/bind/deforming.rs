//! Finds the bones that deform the body; rigs also have control bones and end bones that no vertex follows.

use super::Character;
use crate::rig::LEAST_WEIGHT;

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
}
