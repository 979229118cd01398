//! Tests of skeletons built from small files with known results.

use super::*;
use crate::asset::{Asset, Influences, Mesh, Node, Primitive, Skin};
use crate::base::math::{Affine3A, Mat4, Quat, Trs, Vec2, Vec3};
use crate::base::{JointId, MeshId, NodeId, SkinId};
use crate::bind::Character;

fn node(name: &str, parent: Option<usize>, at: Vec3) -> Node {
    Node {
        name: name.into(),
        parent: parent.map(NodeId::from),
        children: Vec::new(),
        rest: Trs::new(at, Quat::IDENTITY, Vec3::ONE),
        matrix: None,
        mesh: None,
        skin: None,
        weights: Vec::new(),
    }
}

fn drawing(mesh: usize, skin: Option<usize>, node: Node) -> Node {
    Node { mesh: Some(MeshId::from(mesh)), skin: skin.map(SkinId::from), ..node }
}

/// Creates a mesh of points; if `skinned`, each point is bound to one entry of the skin's joint list.
fn mesh(points: &[(Vec3, u16)], skinned: bool) -> Mesh {
    let mut influences = Influences::default();
    if skinned {
        points.iter().for_each(|p| influences.push([(p.1, 1.0)]));
    }
    let primitive = Primitive {
        positions: points.iter().map(|p| p.0).collect(),
        normals: vec![Vec3::Y; points.len()],
        uvs: vec![Vec2::ZERO; points.len()],
        triangles: if points.len() > 2 { vec![[0, 1, 2]] } else { vec![] },
        influences,
        ..Default::default()
    };
    Mesh { name: "mesh".into(), primitives: vec![primitive] }
}

fn skin(joints: &[usize], inverse_bind: Vec<Mat4>) -> Skin {
    Skin { name: "skin".into(), joints: joints.iter().map(|&j| NodeId::from(j)).collect(), inverse_bind }
}

fn file(nodes: Vec<Node>, meshes: Vec<Mesh>, skins: Vec<Skin>) -> Asset {
    let mut asset = Asset { nodes, meshes, skins, ..Default::default() };
    for i in 0..asset.nodes.len() {
        match asset.nodes[i].parent {
            Some(p) => asset.nodes[p.index()].children.push(NodeId::from(i)),
            None => asset.roots.push(NodeId::from(i)),
        }
    }
    asset
}

fn moved(by: Vec3) -> Mat4 {
    Mat4::from_translation(by)
}

fn assert_near(a: Vec3, b: Vec3) {
    assert!(a.distance(b) < 1e-5, "{a} is not {b}");
}

#[test]
fn joints_skip_plain_nodes_and_leaves_get_tips() {
    let nodes = vec![
        node("root", None, Vec3::Z),
        node("hip", Some(0), Vec3::ZERO),
        node("plain", Some(1), Vec3::Y),
        node("knee", Some(2), Vec3::Y),
        node("ankle", Some(3), Vec3::Y),
        drawing(0, Some(0), node("body", None, Vec3::splat(9.0))),
    ];
    // The ankle's vertices lie along its +X axis; the farther vertex is 0.5 away.
    let points = [(Vec3::ZERO, 0), (Vec3::new(0.3, 3.0, 0.0), 2), (Vec3::new(0.5, 3.0, 0.0), 2)];
    let binds = [0.0, 2.0, 3.0].map(|y| moved(-Vec3::Y * y)).to_vec();
    let s =
        Skeleton::from_asset(&file(nodes, vec![mesh(&points, true)], vec![skin(&[1, 3, 4], binds)])).unwrap();
    assert_eq!(
        s.joints.iter().map(|j| j.parent).collect::<Vec<_>>(),
        [None, Some(JointId(0)), Some(JointId(1))]
    );
    assert_eq!(s.nodes.len(), 6);
    assert_eq!((s.nodes[2].joint, s.nodes[3].joint), (None, Some(JointId(1))));
    // The rest pose of the first joint places the skin one metre along Z; the mesh node's own transform is ignored.
    assert_near(s.skins[0].bind_from_mesh.translation.into(), Vec3::Z);
    let ends: Vec<(Vec3, Vec3)> = s.bones.iter().map(|b| (b.head, b.tail)).collect();
    assert_eq!(ends.len(), 3);
    assert_near(ends[0].1, Vec3::new(0.0, 2.0, 1.0));
    assert_near(ends[1].1, Vec3::new(0.0, 3.0, 1.0));
    assert_near(ends[2].1, Vec3::new(0.5, 3.0, 1.0));
    assert_eq!((s.bones[1].child, s.bones[2].child), (Some(JointId(2)), None));
}

#[test]
fn a_tip_without_a_side_continues_the_parent_bone() {
    let nodes = || {
        vec![
            node("a", None, Vec3::ZERO),
            node("b", Some(0), Vec3::X * 2.0),
            node("twist", Some(1), Vec3::ZERO),
            drawing(0, Some(0), node("body", None, Vec3::ZERO)),
        ]
    };
    let binds = vec![moved(Vec3::ZERO), moved(-Vec3::X * 2.0), moved(-Vec3::X * 2.0)];
    let tip = |points: &[(Vec3, u16)]| {
        let asset = file(nodes(), vec![mesh(points, true)], vec![skin(&[0, 1, 2], binds.clone())]);
        let s = Skeleton::from_asset(&asset).unwrap();
        assert_eq!(s.bones[1].head, s.bones[1].tail, "the twist joint's bone has no length");
        s.bones[2].tail
    };
    // Without vertices, the tip is at half the length of the nearest ancestor bone that has a length.
    assert_near(tip(&[(Vec3::ZERO, 0)]), Vec3::X * 3.0);
    // With vertices in all directions, the tip is in the parent's direction, as far away as the vertices.
    let around = [Vec3::X, -Vec3::X, Vec3::Y, -Vec3::Y].map(|d| (Vec3::X * 2.0 + 0.25 * d, 2));
    assert_near(tip(&around), Vec3::X * 2.25);
}

#[test]
fn skins_that_share_a_joint_share_bind_space() {
    // The second skin's meshes are in centimetres and rotated; its first joint is missing in the first skin.
    let mesh_from_bind =
        Affine3A::from_scale_rotation_translation(Vec3::splat(100.0), Quat::from_rotation_x(1.0), Vec3::ONE);
    let to_second = Mat4::from(mesh_from_bind.inverse());
    let nodes = vec![
        node("a", None, Vec3::new(5.0, 0.0, 0.0)),
        node("b", Some(0), Vec3::Y),
        node("c", Some(1), Vec3::Y),
        drawing(0, Some(0), node("one", None, Vec3::ZERO)),
        drawing(1, Some(1), node("two", None, Vec3::ZERO)),
    ];
    let triangle = |p: Vec3| [(p, 1), (p + 0.1 * Vec3::X, 1), (p + 0.1 * Vec3::Z, 1)];
    let first = triangle(Vec3::Y);
    let second = first.map(|(p, j)| (mesh_from_bind.transform_point3(p), j));
    let skins = vec![
        skin(&[0, 1], vec![moved(Vec3::ZERO), moved(-Vec3::Y)]),
        skin(&[2, 1, 0], vec![moved(-2.0 * Vec3::Y) * to_second, moved(-Vec3::Y) * to_second, to_second]),
    ];
    let asset = file(nodes, vec![mesh(&first, true), mesh(&second, true)], skins);
    let c = Character::from_asset(&asset).unwrap();
    assert_eq!(c.skeleton.joints.len(), 3, "equal bindings of a node are one joint");
    assert_eq!(c.skeleton.skins[1].joints, [JointId(2), JointId(1), JointId(0)]);
    assert_eq!(c.control.positions.len(), 3, "both meshes meet in bind space and are welded");
    assert_near(c.display.positions[0], Vec3::new(5.0, 1.0, 0.0));
}

#[test]
fn another_binding_of_a_node_is_another_joint() {
    let nodes = vec![
        node("a", None, Vec3::ZERO),
        node("b", Some(0), Vec3::Y),
        node("c", Some(1), Vec3::Y),
        drawing(0, Some(0), node("one", None, Vec3::ZERO)),
        drawing(0, Some(1), node("two", None, Vec3::ZERO)),
    ];
    let points = [(Vec3::Y, 0), (Vec3::Y + Vec3::X, 1), (Vec3::Y + Vec3::Z, 2)];
    let straight = vec![moved(Vec3::ZERO), moved(-Vec3::Y), moved(-2.0 * Vec3::Y)];
    let bent = vec![moved(Vec3::ZERO), Mat4::from_rotation_z(0.5) * moved(-Vec3::Y), moved(-2.0 * Vec3::Y)];
    let asset =
        file(nodes, vec![mesh(&points, true)], vec![skin(&[0, 1, 2], straight), skin(&[0, 1, 2], bent)]);
    let s = Skeleton::from_asset(&asset).unwrap();
    assert_eq!(s.joints.len(), 4);
    assert_eq!(s.skins[1].joints, [JointId(0), JointId(3), JointId(2)]);
    assert_eq!((s.joints[3].node, s.joints[3].parent), (NodeId(1), Some(JointId(0))));
    // The bones of both joints at the node end at the node's child.
    assert_eq!(
        s.bones_of(JointId(3)).map(|b| s.bones[b.index()].child).collect::<Vec<_>>(),
        [Some(JointId(2))]
    );
}

#[test]
fn bind_matrices_that_no_vertex_needs_do_not_change_the_scale() {
    // The mesh is in centimetres. The bind matrices of the root and of a control are as for a mesh in metres.
    let mut arm = node("arm", Some(0), Vec3::Y);
    arm.rest = Trs::new(Vec3::Y, Quat::IDENTITY, Vec3::splat(0.01));
    let nodes = vec![
        node("root", None, Vec3::ZERO),
        arm,
        node("control", Some(0), Vec3::X),
        drawing(0, Some(0), node("body", None, Vec3::ZERO)),
    ];
    let inverse_bind = vec![Mat4::IDENTITY, moved(Vec3::Y * -100.0), moved(Vec3::NEG_X)];
    let points = [(Vec3::Y * 100.0, 1), (Vec3::new(50.0, 150.0, 0.0), 1)];
    let asset = file(nodes, vec![mesh(&points, true)], vec![skin(&[0, 1, 2], inverse_bind)]);
    let skeleton = Skeleton::from_asset(&asset).unwrap();
    let rig = PosedRig::new(&skeleton, &Pose::rest(&skeleton));
    assert_eq!(rig.scale, 1.0);
    for (joint, skinning) in rig.skinning.iter().enumerate() {
        assert_near(skinning.transform_point3(Vec3::new(1.0, 2.0, 3.0)), Vec3::new(1.0, 2.0, 3.0));
        let at = skeleton.joints[joint].bind_from_joint.translation;
        assert_near(at.into(), [Vec3::ZERO, Vec3::Y, Vec3::X][joint]);
    }
    let placed = skeleton.skins[0].bind_from_mesh.transform_point3(points[1].0);
    assert_near(placed, Vec3::new(0.5, 1.5, 0.0));
}

#[test]
fn names_become_unique() {
    let names = ["Arm", "Arm", "Arm.001", "Arm", ""];
    let nodes = names.iter().map(|n| node(n, None, Vec3::ZERO)).collect();
    let s = Skeleton::from_asset(&file(nodes, vec![], vec![])).unwrap();
    let got: Vec<&str> = s.nodes.iter().map(|n| n.name.as_str()).collect();
    assert_eq!(got, ["Arm", "Arm.002", "Arm.001", "Arm.003", ""]);
    assert_eq!(s.find("Arm.003"), Some(NodeId(3)));
    assert_eq!(s.repeated, [("Arm".to_owned(), vec![NodeId(0), NodeId(1), NodeId(3)])].into());
}

#[test]
fn a_sword_stays_in_the_hand_in_bind_space() {
    // At rest the arm hangs down; in bind space it points along X.
    let down = Trs::new(Vec3::ZERO, Quat::from_rotation_z(-std::f32::consts::FRAC_PI_2), Vec3::ONE);
    let nodes = vec![
        node("root", None, Vec3::ZERO),
        Node { rest: down, ..node("arm", Some(0), Vec3::ZERO) },
        node("grip", Some(1), Vec3::X),
        drawing(0, None, node("sword", Some(2), Vec3::ZERO)),
        drawing(1, Some(0), node("body", None, Vec3::ZERO)),
    ];
    let sword = mesh(&[(Vec3::Y, 0), (Vec3::Z, 0), (Vec3::ZERO, 0)], false);
    let body = mesh(&[(Vec3::ZERO, 0), (Vec3::X, 1), (Vec3::Y, 0)], true);
    let binds = vec![moved(Vec3::ZERO), moved(Vec3::ZERO)];
    let asset = file(nodes, vec![sword, body], vec![skin(&[0, 1], binds)]);
    let c = Character::from_asset(&asset).unwrap();
    let prop = c.skeleton.prop_joint(NodeId(3)).unwrap();
    assert!(!c.skeleton.joints[prop.index()].skinned);
    assert_eq!(c.skeleton.joints[prop.index()].parent, Some(JointId(1)));
    assert_near(c.display.positions[0], Vec3::new(1.0, 1.0, 0.0));
    let rig = PosedRig::new(&c.skeleton, &Pose::rest(&c.skeleton));
    assert_near(
        rig.skinning[prop.index()].transform_point3(c.display.positions[0]),
        Vec3::new(1.0, -1.0, 0.0),
    );
    // The prop's joint owns a bone of length zero. The prop is not welded to the body's vertex at the same position.
    let bone = &c.skeleton.bones[c.skeleton.bones_of(prop).next().unwrap().index()];
    assert_eq!((bone.child, bone.head), (None, bone.tail));
    assert_eq!(c.control.positions.len(), 6);
    assert_eq!(c.control.rigid.iter().filter(|r| **r).count(), 3);
}

#[test]
fn limbs_and_props_scaled_to_nothing_are_finite() {
    let hidden = Trs::new(Vec3::X, Quat::IDENTITY, Vec3::ZERO);
    let nodes = vec![
        Node { rest: hidden, ..node("a", None, Vec3::ZERO) },
        node("b", Some(0), Vec3::Y),
        Node { rest: hidden, ..drawing(1, None, node("prop", None, Vec3::ZERO)) },
        drawing(0, Some(0), node("body", None, Vec3::ZERO)),
    ];
    let points = [(Vec3::ZERO, 0), (Vec3::X, 1), (Vec3::Y, 1)];
    let binds = vec![Mat4::ZERO, Mat4::ZERO];
    let meshes = vec![mesh(&points, true), mesh(&points, false)];
    let c = Character::from_asset(&file(nodes, meshes, vec![skin(&[0, 1], binds)])).unwrap();
    assert!(c.control.positions.iter().all(|p| p.is_finite()));
    assert!(c.skeleton.bones.iter().all(|b| b.head.is_finite() && b.tail.is_finite()));
    // At a nonzero scale, the prop has its full size.
    let mut pose = Pose::rest(&c.skeleton);
    pose.local[2].scale = [2.0; 3];
    let rig = PosedRig::new(&c.skeleton, &pose);
    let prop = c.skeleton.prop_joint(NodeId(2)).unwrap();
    let x = c.display.positions[c.display.parts[0].vertices.start as usize + 1];
    assert_near(rig.skinning[prop.index()].transform_point3(x), Vec3::X * 3.0);
}

#[test]
fn shear_is_kept_beside_the_transform() {
    let sheared = Mat4::from_cols_array(&[1., 0., 0., 0., 0.5, 1., 0., 0., 0., 0., 1., 0., 1., 2., 3., 1.]);
    let nodes = vec![
        Node { matrix: Some(sheared), ..node("a", None, Vec3::splat(4.0)) },
        node("b", Some(0), Vec3::Y),
    ];
    let s = Skeleton::from_asset(&file(nodes, vec![], vec![])).unwrap();
    let world = Pose::rest(&s).world(&s);
    assert_near(world[1].translation.into(), sheared.transform_point3(Vec3::Y));
}

#[test]
fn mirrored_meshes_are_wound_outwards() {
    let mirrored = Trs::new(Vec3::ZERO, Quat::IDENTITY, Vec3::new(-1.0, 1.0, 1.0));
    let nodes = vec![Node { rest: mirrored, ..drawing(0, None, node("prop", None, Vec3::ZERO)) }];
    let points = [(Vec3::ZERO, 0), (Vec3::X, 0), (Vec3::Y, 0)];
    let mut meshes = vec![mesh(&points, false)];
    meshes[0].primitives[0].normals = vec![Vec3::new(1.0, 0.0, 1.0).normalize(); 3];
    let d = Character::from_asset(&file(nodes, meshes, vec![])).unwrap().display;
    let [a, b, c] = d.triangles[0].map(|v| d.positions[v as usize]);
    assert!((b - a).cross(c - a).z > 0.0, "seen from the side that the normals show");
    assert_near(d.normals[0], Vec3::new(-1.0, 0.0, 1.0).normalize());
}

#[test]
fn too_many_copies_are_refused_and_overflow_too() {
    let copies = (0..2000).map(|i| drawing(0, None, node(&format!("{i}"), None, Vec3::ZERO))).collect();
    let points = vec![(Vec3::ZERO, 0); 9000];
    let e = Skeleton::from_asset(&file(copies, vec![mesh(&points, false)], vec![])).unwrap_err();
    assert!(e.to_string().contains("18000000 vertices"), "{e}");
    let huge = Trs::new(Vec3::ZERO, Quat::IDENTITY, Vec3::splat(1e30));
    let nodes = vec![Node { rest: huge, ..drawing(0, None, node("big", None, Vec3::ZERO)) }];
    let far = mesh(&[(Vec3::splat(1e30), 0)], false);
    let e = Character::from_asset(&file(nodes, vec![far], vec![])).unwrap_err();
    assert!(e.to_string().contains("big"), "{e}");
}
