//! Tests of FAST as a node of the deformer graph: the pose that it passes to later nodes.

use crate::base::NodeId;
use crate::base::math::{Quat, Vec3};
use crate::deform::surface::Display;
use crate::deform::{Bound, CpuGraph, Recipe, Streams, testing};
use crate::rig::{Pose, PosedRig};

/// Returns a pose of five joints in which only the last joint moves; the joints between follow the first.
fn pulled(bound: &Bound) -> PosedRig {
    let last = bound.character.skeleton.joints.iter().map(|j| j.node).next_back().unwrap();
    pulled_by(bound, last)
}

/// Returns a pose in which only this node moves.
fn pulled_by(bound: &Bound, last: NodeId) -> PosedRig {
    let mut pose = testing::rest(bound);
    let skeleton = &bound.character.skeleton;
    let local = &mut pose.local[last.index()];
    local.rotation = (local.rotation() * Quat::from_rotation_z(-1.2)).into();
    local.translation = (local.translation() + Vec3::new(0.8, -0.4, 0.0)).into();
    PosedRig::new(skeleton, &pose)
}

fn shape(bound: &Bound, rig: &PosedRig, method: &str) -> Vec<Vec3> {
    let mut graph = CpuGraph::new(bound, &Recipe::from_name(method).unwrap()).unwrap();
    graph.evaluate(rig, &[], &mut Display::default());
    graph.control().to_vec()
}

#[test]
fn free_joints_go_where_the_shape_puts_them_and_placed_ones_stay() {
    let bound = testing::cylinder(5, 10, 40);
    let rig = pulled(&bound);
    let recipe = Recipe::from_name("fast").unwrap();
    let node = recipe.geometric.bind(&bound).unwrap();
    let posed = node.evaluate(&rig, &mut Streams::default()).expect("FAST finds a pose of its own");
    let apart = |j: usize| {
        let (a, b) = (posed.skinning[j], rig.skinning[j]);
        let at = Vec3::Y * j as f32;
        a.transform_point3(at).distance(b.transform_point3(at))
            + posed.rotation[j].angle_between(rig.rotation[j])
    };
    assert!(apart(0) < 1e-4 && apart(4) < 1e-4, "{} {}", apart(0), apart(4));
    assert!((1..4).all(|j| apart(j) > 0.05), "{:?}", [apart(1), apart(2), apart(3)]);
    // The rotation increases from joint to joint.
    let turned: Vec<f32> = (0..5).map(|j| posed.rotation[j].angle_between(Quat::IDENTITY)).collect();
    assert!(turned.windows(2).all(|w| w[1] > w[0] - 0.02), "{turned:?}");
    // Bones start and end at their joints.
    for bone in bound.character.skeleton.bones.iter().zip(&posed.bones).filter(|(b, _)| b.child.is_some()) {
        let child = bone.0.child.unwrap().index();
        assert!(bone.1.tail.distance(posed.skinning[child].transform_point3(bone.0.tail)) < 1e-6);
    }
}

#[test]
fn single_joints_hold_their_position_or_nothing() {
    let bound = testing::cylinder(5, 10, 40);
    let rig = pulled(&bound);
    let of = |settings: &[(&str, f32)]| {
        let mut recipe = Recipe::from_name("fast").unwrap();
        assert!(settings.iter().all(|(name, value)| recipe.set_number(name, *value)));
        let node = recipe.geometric.bind(&bound).unwrap();
        node.evaluate(&rig, &mut Streams::default()).unwrap()
    };
    // Distance and angle between the pose and the solved pose at a joint.
    let apart = |posed: &PosedRig, j: usize| {
        let at = Vec3::Y * j as f32;
        let moved = posed.skinning[j].transform_point3(at).distance(rig.skinning[j].transform_point3(at));
        (moved, posed.rotation[j].angle_between(rig.rotation[j]))
    };
    let (moved, turned) = apart(&of(&[("joints.4", 2.0)]), 4);
    assert!(moved < 1e-4 && turned > 0.2, "position: {moved} {turned}");
    let (moved, turned) = apart(&of(&[("joints.4", 1.0)]), 4);
    assert!(moved > 0.2 && turned > 0.2, "nothing: {moved} {turned}");
    let posed = of(&[("joints.2", 3.0)]);
    for (j, limit) in [(2, 1e-4), (4, 1e-4)] {
        let (moved, turned) = apart(&posed, j);
        assert!(moved < limit && turned < 1e-3, "transform {j}: {moved} {turned}");
    }
    // A free root keeps the shape where the other joints hold it.
    let posed = of(&[("joints.0", 1.0), ("joints.3", 2.0)]);
    assert!(apart(&posed, 0).0 > 0.05 && apart(&posed, 3).0 < 1e-4 && apart(&posed, 4).0 < 1e-4);
    // With every joint free, the shape is rigid, and its first joint stays.
    let free: Vec<(String, f32)> = (0..5).map(|j| (format!("joints.{j}"), 1.0)).collect();
    let posed = of(&free.iter().map(|(n, v)| (n.as_str(), *v)).collect::<Vec<_>>());
    let at = |j: usize| posed.skinning[j].transform_point3(Vec3::Y * j as f32);
    assert!(at(0).length() < 1e-4, "{}", at(0));
    for j in 1..5 {
        assert!((at(j).distance(at(0)) - j as f32).abs() < 0.02, "{j}: {}", at(j));
    }
}

#[test]
fn springs_are_fed_by_the_pose_of_fast() {
    let bound = testing::cylinder(5, 10, 40);
    let rig = pulled(&bound);
    let (fast, springs, both) =
        (shape(&bound, &rig, "fast"), shape(&bound, &rig, "springs"), shape(&bound, &rig, "fast+springs"));
    let apart = |a: &[Vec3], b: &[Vec3]| {
        a.iter().zip(b).map(|(a, b)| f64::from(a.distance(*b))).sum::<f64>() / a.len() as f64
    };
    assert!(both.iter().all(|x| x.is_finite()));
    // The springs deform the result of FAST, not the original pose.
    let (to_fast, to_springs) = (apart(&both, &fast), apart(&both, &springs));
    assert!(to_fast > 1e-4 && to_fast < 0.25 * to_springs, "{to_fast} {to_springs}");
    // If the pose moves every joint, FAST solves only for its abstract handles.
    let mut pose = testing::rest(&bound);
    for joint in bound.character.skeleton.joints.iter().skip(1) {
        let local = &mut pose.local[joint.node.index()];
        local.rotation = (local.rotation() * Quat::from_rotation_x(0.3)).into();
    }
    let rig = PosedRig::new(&bound.character.skeleton, &pose);
    let node = Recipe::from_name("fast").unwrap().geometric.bind(&bound).unwrap();
    let posed = node.evaluate(&rig, &mut Streams::default()).unwrap();
    for (a, b) in posed.bones.iter().zip(&rig.bones) {
        assert!(a.head.distance(b.head) < 1e-4 && a.tail.distance(b.tail) < 1e-4, "{a:?} {b:?}");
    }
    let rest = PosedRig::new(&bound.character.skeleton, &Pose::rest(&bound.character.skeleton));
    let off = apart(&shape(&bound, &rest, "fast+springs"), &bound.character.control.positions);
    assert!(off < 1e-4, "at rest it moves by {off}");
}

#[test]
fn a_rigid_prop_goes_with_the_joint_that_carries_it() {
    use crate::asset::Node;
    use crate::base::MeshId;
    use crate::bind::shapes::Shape;
    use crate::bind::{BindOptions, Character, bind_attachments};
    let shape = Shape { bones: 4, rings: 24, segments: 10, radius: 0.3, length: 4.0, blend: 0.8 };
    let mut asset = shape.capsule_asset();
    let mut ball = asset.meshes[0].clone();
    for primitive in &mut ball.primitives {
        primitive.influences = Default::default();
        primitive.positions.iter_mut().for_each(|x| *x = *x * 0.1 + Vec3::new(0.5, 0.0, 0.0));
    }
    asset.meshes.push(ball);
    let joint = |asset: &crate::asset::Asset, at: usize| asset.skins[0].joints[at];
    let (carrier, last) = (joint(&asset, 2), joint(&asset, 3));
    let prop = NodeId::from(asset.nodes.len());
    asset.nodes[carrier.index()].children.push(prop);
    let mesh = Some(MeshId(1));
    let drawn =
        Node { name: "helmet".into(), parent: Some(carrier), mesh, ..asset.nodes[carrier.index()].clone() };
    asset.nodes.push(Node { children: Vec::new(), rest: crate::base::math::Trs::IDENTITY, ..drawn });
    let character = Character::from_asset(&asset).unwrap();
    let (attachments, _) = bind_attachments(&character, &BindOptions::default()).unwrap();
    let bound = Bound::new(character.into(), attachments.into());
    let skeleton = &bound.character.skeleton;
    let joint_of = |node: NodeId| skeleton.nodes[node.index()].joint.or(skeleton.prop_joint(node)).unwrap();
    let [prop, carrier] = [prop, carrier].map(joint_of);
    let rig = pulled_by(&bound, last);
    let node = Recipe::from_name("fast").unwrap().geometric.bind(&bound).unwrap();
    let posed = node.evaluate(&rig, &mut Streams::default()).unwrap();
    let [prop, head] = [prop, carrier].map(|j| posed.skinning[j.index()]);
    let turned = head.transform_vector3(Vec3::Y).angle_between(Vec3::Y);
    assert!(turned > 0.05, "the solver turns the carrier");
    for x in [Vec3::ZERO, Vec3::X, Vec3::Y] {
        assert!(prop.transform_point3(x).distance(head.transform_point3(x)) < 1e-4);
    }
}
