//! Hubs and ends: parts of the body that are more than a line of bones, such as a head, a hand or a foot.

use crate::base::JointId;
use crate::base::math::Vec3;
use crate::rig::Skeleton;

/// Minimum number of child joints of a hub.
const CHILDREN: usize = 3;
/// Maximum distance from a hub or an end to the ends of the bones below it, as a fraction of the character's size. A
/// chest with arms and a head is larger.
const REACH: f32 = 0.35;

/// The hubs and ends of a skeleton. Files with several skins have several joints for one node; hubs and ends are first
/// joints.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Hubs {
    /// Per joint: the uppermost hub at or above it, if any. A hub is a small joint with several child joints, such as a
    /// head with the joints of a face, or a hand with fingers.
    pub of: Vec<Option<JointId>>,
    /// Per joint: whether it is an end. An end is a small joint without child joints that is the only child joint, such
    /// as a foot or the head of a body without a face. A joint beside others, such as that of a breast, is no end: its
    /// flesh is soft.
    pub ends: Vec<bool>,
}

impl Hubs {
    /// Finds hubs and ends. `first` has the first joint of each joint's node. Joints that are not `leading` are the
    /// child joints of no end's parent: vertices follow neither them nor the joints below them. `size` is the length of
    /// the longest side of the character's bounding box.
    pub fn new(skeleton: &Skeleton, first: &[JointId], leading: &[bool], size: f32) -> Self {
        let joints = &skeleton.joints;
        let above = |j: JointId| joints[j.index()].parent.map(|parent| first[parent.index()]);
        // A joint and its ancestors, upwards. A damaged file's cycle ends after as many steps as there are joints.
        let line =
            |j: JointId| std::iter::successors(Some(first[j.index()]), |j| above(*j)).take(joints.len());
        let mut leads = vec![false; joints.len()];
        (0..joints.len()).filter(|&j| leading[j]).for_each(|j| leads[first[j].index()] = true);
        let [mut children, mut followed] = [vec![0; joints.len()], vec![0; joints.len()]];
        for j in (0..joints.len()).map(JointId::from).filter(|j| first[j.index()] == *j) {
            let Some(parent) = above(j) else { continue };
            children[parent.index()] += 1;
            followed[parent.index()] += usize::from(leads[j.index()]);
        }
        let at = |j: JointId| Vec3::from(joints[j.index()].bind_from_joint.translation);
        let mut reach = vec![0.0f32; joints.len()];
        for bone in &skeleton.bones {
            for j in line(bone.parent) {
                reach[j.index()] = reach[j.index()].max(at(j).distance(bone.tail));
            }
        }
        let small = |j: JointId| reach[j.index()] <= REACH * size;
        let hub = |j: &JointId| children[j.index()] >= CHILDREN && small(*j);
        let end = |j: JointId| {
            let only = above(j).is_some_and(|parent| followed[parent.index()] == 1);
            leads[j.index()] && followed[j.index()] == 0 && only && small(j)
        };
        let of = (0..joints.len()).map(|j| line(JointId::from(j)).filter(hub).last()).collect();
        Self { of, ends: (0..joints.len()).map(|j| end(JointId::from(j))).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::asset::Influences;
    use crate::base::math::Quat;
    use crate::deform::testing::{bound, chain, cylinder, rest};
    use crate::deform::volume::cells::Cells;
    use crate::deform::volume::tests::{bent, few, posed};
    use crate::deform::{Bound, Geometric, Recipe};
    use crate::rig::{Bone, Joint};

    /// Two bones of unit length, and three small joints below the second.
    fn face() -> Skeleton {
        let mut skeleton = chain(2);
        for k in 2..5 {
            let (mut node, joint) = (skeleton.nodes[1].clone(), skeleton.joints[1].clone());
            (node.parent, node.joint) = (Some(joint.node), Some(JointId::from(k)));
            node.rest.translation = [0.0; 3];
            skeleton.order.push(k.into());
            skeleton.nodes.push(node);
            skeleton.joints.push(Joint { node: k.into(), parent: Some(JointId::from(1)), ..joint });
            let head = Vec3::new(0.0, 1.6, 0.1 * k as f32 - 0.3);
            let tail = head + 0.1 * Vec3::Y;
            skeleton.bones.push(Bone { parent: JointId::from(k), child: None, head, tail });
        }
        skeleton
    }

    /// A cylinder whose upper half is a head. `weights` gives the joints of the skin above 1.5 m.
    fn head<const N: usize>(skeleton: Skeleton, weights: impl Fn(Vec3) -> [(u16, f32); N]) -> Bound {
        let body = cylinder(2, 24, 32);
        let control = &body.character.control;
        let mut influences = Influences::default();
        for (v, x) in control.positions.iter().enumerate() {
            match x.y > 1.5 {
                true => influences.push(weights(*x)),
                false => influences.push(control.influences.of(v)),
            }
        }
        // A long foot, so that the upper half is as small in the body as a head.
        let mut positions = control.positions.clone();
        positions.iter_mut().filter(|x| x.y == 0.0).for_each(|x| x.y = -1.5);
        bound(skeleton, positions, control.triangles.clone(), influences)
    }

    #[test]
    fn a_small_joint_with_three_child_joints_is_a_hub_and_a_large_one_is_not() {
        let skeleton = face();
        let first = skeleton.first_joints();
        let hubs = |leading: [bool; 5], size: f32| Hubs::new(&skeleton, &first, &leading, size);
        let hub = Some(JointId::from(1));
        assert_eq!(hubs([true; 5], 4.0), Hubs { of: vec![None, hub, hub, hub, hub], ends: vec![false; 5] });
        assert_eq!(hubs([true; 5], 2.0), Hubs { of: vec![None; 5], ends: vec![false; 5] });
    }

    #[test]
    fn a_small_only_child_joint_without_child_joints_is_an_end() {
        let skeleton = face();
        let first = skeleton.first_joints();
        let ends = |leading: [bool; 5], size: f32| Hubs::new(&skeleton, &first, &leading, size).ends;
        assert_eq!(ends([true, true, false, false, false], 4.0), [false, true, false, false, false]);
        assert_eq!(ends([true, true, false, false, false], 2.5), [false; 5]);
        assert_eq!(ends([true, true, true, false, false], 2.5), [false, false, true, false, false]);
        assert_eq!(ends([true, true, true, true, false], 2.5), [false; 5]);
    }

    #[test]
    fn the_flesh_of_a_hub_or_an_end_turns_as_far_as_its_joint() {
        let with_face = head(face(), |_| [1, 2, 3, 4].map(|joint| (joint, 0.25)));
        let without = head(chain(2), |_| [(1, 1.0)]);
        for head in [with_face, without] {
            let control = &head.character.control;
            let turned = |recipe: &Recipe| {
                let x = posed(&head, recipe, &bent(&head, Quat::from_rotation_y(1.0)));
                let top = (0..x.len()).filter(|&v| (1.6..1.9).contains(&control.positions[v].y));
                let angle = |v: usize| {
                    let [from, to] = [control.positions[v], x[v]].map(|x| x * Vec3::new(1.0, 0.0, 1.0));
                    from.angle_between(to)
                };
                let angles: Vec<f32> = top.map(angle).collect();
                angles.iter().sum::<f32>() / angles.len() as f32
            };
            let recipes = [Recipe::geometric(Geometric::Dqs), Recipe::volume(few())];
            let [start, volume] = recipes.map(|recipe| turned(&recipe));
            // Without hubs and ends, the flesh would turn by 0.74.
            assert!((start - 1.0).abs() < 0.01 && volume > 0.95, "{start} {volume}");
        }
    }

    #[test]
    fn lips_that_share_cubes_open_as_far_as_the_start_method_opens_them() {
        // The front follows one joint of the face, and the back another joint.
        let head = head(face(), |x| [(if x.z > 0.0 { 2 } else { 3 }, 1.0)]);
        let control = &head.character.control;
        let mut pose = rest(&head);
        pose.local[2].rotation = Quat::from_rotation_x(0.4).into();
        let [start, volume] =
            [Recipe::geometric(Geometric::Dqs), Recipe::volume(few())].map(|r| posed(&head, &r, &pose));
        // The least distance by which an edge between front and back opens, of all such edges.
        let side = |v: u32| control.influences.of(v as usize).next();
        let edges = control.triangles.iter().flat_map(|t| [[t[0], t[1]], [t[1], t[2]], [t[2], t[0]]]);
        let lips: Vec<[u32; 2]> = edges
            .filter(|e| e.iter().all(|&v| control.positions[v as usize].y > 1.6) && side(e[0]) != side(e[1]))
            .collect();
        assert!(lips.len() > 20);
        let moved = |x: &[Vec3], v: u32| x[v as usize] - control.positions[v as usize];
        let open = |x: &[Vec3]| {
            lips.iter().map(|e| moved(x, e[0]).distance(moved(x, e[1]))).fold(f32::INFINITY, f32::min)
        };
        // With the cubes alone, the lips would open by an eighth of this distance.
        assert!(open(&volume) > 0.8 * open(&start), "{} of {}", open(&volume), open(&start));
        let contact = Cells::bind(&head.character, few().cubes).contact;
        assert!(
            lips.iter().flatten().all(|&v| contact.skin.place[v as usize].is_some()),
            "lips take part in contact"
        );
    }
}
