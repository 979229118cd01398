use super::builder::{Build, everything};
use super::told;
use crate::base::math::{Mat4, Quat, Vec3};
use serde_json::json;

fn loaded(matrix: Mat4) -> crate::asset::Node {
    let mut b = Build::new();
    b.push("nodes", json!({"matrix": matrix.to_cols_array()}));
    b.load().unwrap().nodes[0].clone()
}

#[test]
fn matrices_are_decomposed_and_kept_where_that_loses_shear() {
    let rotation = Quat::from_rotation_y(0.8) * Quat::from_rotation_x(2.5);
    for scale in [Vec3::new(1.0, 2.0, 3.0), Vec3::new(-1.0, 0.5, 0.25), -Vec3::ONE, Vec3::new(1.0, 0.0, 2.0)]
    {
        let matrix = Mat4::from_scale_rotation_translation(scale, rotation, Vec3::new(4.0, 5.0, 6.0));
        let node = loaded(matrix);
        assert!(Mat4::from(node.rest.affine()).abs_diff_eq(matrix, 1e-5), "{scale}: {:?}", node.rest);
        assert!(node.matrix.is_none(), "{scale}");
    }
    let sheared = Mat4::from_quat(rotation)
        * Mat4::from_cols_array(&[
            1.0, 0.0, 0.0, 0.0, 0.7, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 2.0, 3.0, 1.0,
        ]);
    let node = loaded(sheared);
    assert_eq!(node.matrix, Some(sheared));
    let angle = node.rest.rotation().angle_between(rotation);
    assert!(angle > 0.01 && angle < 0.5, "the rotation nearest to the sheared one, {angle}");
}

#[test]
fn the_hierarchy_must_be_a_forest() {
    let with = |children: [serde_json::Value; 3]| {
        let mut b = Build::new();
        for (index, children) in children.into_iter().enumerate() {
            b.push("nodes", json!({"name": format!("n{index}"), "children": children}));
        }
        b
    };
    let asset = with([json!([2]), json!([]), json!([1])]).load().unwrap();
    assert_eq!(asset.nodes[1].parent.unwrap().0, 2);
    assert_eq!(asset.roots.len(), 1);
    assert!(
        with([json!([1]), json!([2]), json!([0])]).refusal().contains("node \"n0\": it is its own ancestor")
    );
    assert!(with([json!([0]), json!([]), json!([])]).refusal().contains("own ancestor"));
    assert!(with([json!([1]), json!([]), json!([1])]).refusal().contains("node \"n1\": it has two parents"));
    assert!(with([json!([1, 1]), json!([]), json!([])]).refusal().contains("two parents"));
    assert!(with([json!([3]), json!([]), json!([])]).refusal().contains("node 3, but the file has 3"));
}

#[test]
fn scenes_choose_the_roots() {
    let mut b = everything();
    b.push("scenes", json!({"nodes": [2, 1]}));
    b.json["scene"] = json!(1);
    let asset = b.load().unwrap();
    assert_eq!(asset.roots.iter().map(|r| r.0).collect::<Vec<_>>(), [1]);
    assert!(
        told(&asset, "scene 1", "\"knee\" is not a root") && told(&asset, "scene 1", "\"hip\" is in it more")
    );
    b.json["scene"] = json!(5);
    assert!(told(&b.load().unwrap(), "file", "default scene 5 does not exist"));
}

#[test]
fn transforms_are_mended_or_refused() {
    let mut b = everything();
    b.json["nodes"][2]["rotation"] = json!([0, 0, 0, 0]);
    b.json["nodes"][1]["rotation"] = json!([0, 0, 3, 4]);
    b.json["nodes"][0]["weights"] = json!([0.25, 0.5]);
    let asset = b.load().unwrap();
    assert!(told(&asset, "knee", "rotation has no length") && told(&asset, "hip", "length 5"));
    assert_eq!(asset.nodes[1].rest.rotation, [0.0, 0.0, 0.6, 0.8]);
    assert!(told(&asset, "square", "2 morph weights for 1") && asset.nodes[0].weights == [0.25]);
    assert!(asset.nodes.iter().all(|n| n.rest.affine().is_finite()));
    b.json["nodes"][2]["scale"] = json!([1e30, 1, 1]);
    assert!(b.refusal().contains("node \"knee\": its transform is out of range"));
    b.json["nodes"][2]["scale"] = json!([1e8, 1, 1]);
    b.json["nodes"][1]["scale"] = json!([1e8, 1, 1]);
    assert!(b.refusal().contains("node \"knee\": its transform in world space"));
    b.json["nodes"][2]["scale"] = json!([1, 1]);
    assert!(b.refusal().contains("\"scale\" does not have 3 numbers"));
}
