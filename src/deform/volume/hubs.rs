//! Hubs: joints with several small joints below them, such as a head with the joints of a face, or a hand with fingers.

use crate::base::JointId;
use crate::base::math::Vec3;
use crate::rig::Skeleton;

/// Minimum number of child joints of a hub.
const CHILDREN: usize = 3;
/// Maximum distance from a hub to the ends of the bones below it, as a fraction of the character's size. A chest with
/// arms and a head is larger.
const REACH: f32 = 0.35;

/// Per joint: the uppermost hub at or above it, if any. `first` has the first joint of each joint's node, and hubs are
/// first joints. `size` is the length of the longest side of the character's bounding box.
pub(super) fn hubs(skeleton: &Skeleton, first: &[JointId], size: f32) -> Vec<Option<JointId>> {
    let joints = &skeleton.joints;
    let above = |j: JointId| joints[j.index()].parent.map(|parent| first[parent.index()]);
    // A joint and its ancestors, upwards. A damaged file's cycle ends after as many steps as there are joints.
    let line = |j: JointId| std::iter::successors(Some(first[j.index()]), |j| above(*j)).take(joints.len());
    let mut children = vec![0; joints.len()];
    let own = (0..joints.len()).map(JointId::from).filter(|j| first[j.index()] == *j);
    own.filter_map(above).for_each(|parent| children[parent.index()] += 1);
    let at = |j: JointId| Vec3::from(joints[j.index()].bind_from_joint.translation);
    let mut reach = vec![0.0f32; joints.len()];
    for bone in &skeleton.bones {
        for j in line(bone.parent) {
            reach[j.index()] = reach[j.index()].max(at(j).distance(bone.tail));
        }
    }
    let hub = |j: &JointId| children[j.index()] >= CHILDREN && reach[j.index()] <= REACH * size;
    (0..joints.len()).map(|j| line(JointId::from(j)).filter(hub).last()).collect()
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

    /// A cylinder whose upper half is a head with [`face`]. `weights` gives the joints of the skin above 1.5 m.
    fn head<const N: usize>(weights: impl Fn(Vec3) -> [(u16, f32); N]) -> Bound {
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
        bound(face(), positions, control.triangles.clone(), influences)
    }

    #[test]
    fn a_small_joint_with_three_children_is_a_hub_and_a_large_one_is_not() {
        let skeleton = face();
        let first = skeleton.first_joints();
        let hub = Some(JointId::from(1));
        assert_eq!(hubs(&skeleton, &first, 4.0), [None, hub, hub, hub, hub]);
        assert_eq!(hubs(&skeleton, &first, 2.0), [None; 5]);
        assert_eq!(hubs(&chain(3), &chain(3).first_joints(), 40.0), [None; 3]);
    }

    #[test]
    fn the_flesh_of_a_hub_turns_as_far_as_the_hub() {
        let head = head(|_| [1, 2, 3, 4].map(|joint| (joint, 0.25)));
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
        let [start, volume] = [Recipe::geometric(Geometric::Dqs), Recipe::volume(few())].map(|r| turned(&r));
        // Without hubs, the flesh would turn by 0.74.
        assert!((start - 1.0).abs() < 0.01 && volume > 0.95, "{start} {volume}");
    }

    #[test]
    fn lips_that_share_cubes_open_as_far_as_the_start_method_opens_them() {
        // The front follows one joint of the face, and the back another joint.
        let head = head(|x| [(if x.z > 0.0 { 2 } else { 3 }, 1.0)]);
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
