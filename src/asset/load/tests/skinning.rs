use super::builder::{Build, SQUARE, U8, everything};
use super::told;
use crate::asset::Influences;
use serde_json::json;

/// Builds a square bound to three joints by `(joints, weights)` sets that all four vertices share.
fn bound(sets: &[([u8; 4], [f32; 4])]) -> Build {
    let mut b = Build::new();
    let positions = b.floats("VEC3", &SQUARE);
    let node = b.show(json!({"attributes": {"POSITION": positions}, "mode": 6}));
    for (set, (joints, weights)) in sets.iter().enumerate() {
        let joints = b.accessor(&joints.repeat(4), U8, "VEC4", 4);
        let weights = b.floats("VEC4", &weights.repeat(4));
        let attributes = &mut b.json["meshes"][0]["primitives"][0]["attributes"];
        attributes[format!("JOINTS_{set}")] = json!(joints);
        attributes[format!("WEIGHTS_{set}")] = json!(weights);
    }
    let joints: Vec<usize> = (0..3).map(|i| b.push("nodes", json!({"name": format!("joint {i}")}))).collect();
    b.push("skins", json!({"joints": joints}));
    b.json["nodes"][node]["skin"] = json!(0);
    b
}

fn of(influences: &Influences) -> Vec<(u16, f32)> {
    influences.of(3).collect()
}

#[test]
fn sets_are_merged_sorted_and_normalised() {
    let asset = bound(&[([0, 1, 2, 0], [0.125, 0.25, 0.0, 0.0]), ([2, 1, 0, 0], [0.25, 0.375, 0.0, 0.0])]);
    let asset = asset.load().unwrap();
    assert_eq!(asset.problems, []);
    assert_eq!(of(&asset.meshes[0].primitives[0].influences), [(1, 0.625), (2, 0.25), (0, 0.125)]);
    let unequal = bound(&[([0, 1, 0, 0], [2.0, 2.0, 0.0, 0.0])]).load().unwrap();
    assert_eq!(of(&unequal.meshes[0].primitives[0].influences), [(0, 0.5), (1, 0.5)]);
    assert!(told(&unequal, "shape", "4 vertices do not sum to 1 (one sums to 4)"));
}

#[test]
fn integer_weights_are_fractions() {
    for shorts in [false, true] {
        let mut b = bound(&[([0, 1, 0, 0], [1.0, 0.0, 0.0, 0.0])]);
        let weights = if shorts {
            b.shorts("VEC4", 4, &[13107, 52428, 0, 0].repeat(4))
        } else {
            b.accessor(&[51, 204, 0, 0].repeat(4), U8, "VEC4", 4)
        };
        b.json["accessors"][weights]["normalized"] = json!(true);
        b.json["meshes"][0]["primitives"][0]["attributes"]["WEIGHTS_0"] = json!(weights);
        let asset = b.load().unwrap();
        assert_eq!(asset.problems, []);
        let found = of(&asset.meshes[0].primitives[0].influences);
        assert!((found[0].1 - 0.8).abs() < 1e-6 && (found[1].1 - 0.2).abs() < 1e-6 && found[0].0 == 1);
    }
}

#[test]
fn bad_weights_are_dropped_and_told() {
    let asset = bound(&[([0, 1, 2, 2], [0.5, -1.0, f32::NAN, 0.5])]).load().unwrap();
    assert_eq!(of(&asset.meshes[0].primitives[0].influences), [(0, 0.5), (2, 0.5)]);
    assert!(told(&asset, "shape", "8 weights are negative or not finite"));
    let asset = bound(&[([2, 2, 2, 2], [0.0; 4])]).load().unwrap();
    assert_eq!(of(&asset.meshes[0].primitives[0].influences), [(0, 1.0)]);
    assert!(told(&asset, "mesh \"shape\"", "weights sum to 0") && told(&asset, "", "repaint or bind again"));
}

#[test]
fn joints_beyond_the_skin_matter_only_with_weight() {
    assert!(bound(&[([9, 0, 0, 0], [0.0, 1.0, 0.0, 0.0])]).load().unwrap().problems.is_empty());
    let refusal = bound(&[([9, 0, 0, 0], [0.5, 0.5, 0.0, 0.0])]).refusal();
    assert!(refusal.contains("vertex 0 is bound to joint 9, but its skin has 3 joints"), "{refusal}");
}

#[test]
fn incomplete_bindings_are_told() {
    let mut b = bound(&[([0; 4], [1.0, 0.0, 0.0, 0.0])]);
    b.json["nodes"][0].as_object_mut().unwrap().remove("skin");
    let asset = b.load().unwrap();
    assert!(
        asset.meshes[0].primitives[0].influences.is_empty()
            && told(&asset, "shape", "no node gives it a skin")
    );
    let asset = bound(&[]).load().unwrap();
    assert!(told(&asset, "shape", "follows its node rigidly"));
    let mut b = bound(&[([0; 4], [1.0, 0.0, 0.0, 0.0])]);
    b.json["meshes"][0]["primitives"][0]["attributes"].as_object_mut().unwrap().remove("WEIGHTS_0");
    assert!(told(&b.load().unwrap(), "shape", "JOINTS_0 without WEIGHTS_0"));
}

#[test]
fn skins_need_joints_and_enough_finite_matrices() {
    let mut b = everything();
    b.json["skins"][0]["joints"] = json!([]);
    assert!(b.refusal().contains("skin 0: it has no joints"));
    b.json["skins"][0]["joints"] = json!([1, 2, 0]);
    assert!(b.refusal().contains("3 joints but 2 inverse bind matrices"));
    b.json["skins"][0]["joints"] = json!([1, 7]);
    assert!(b.refusal().contains("node 7, but the file has 3"));
    let mut b = everything();
    let broken = b.floats("MAT4", &[f32::NAN; 32]);
    b.json["skins"][0]["inverseBindMatrices"] = json!(broken);
    assert!(b.refusal().contains("inverse bind matrix of its joint 0 is not finite"));
    b.json["skins"][0].as_object_mut().unwrap().remove("inverseBindMatrices");
    assert_eq!(b.load().unwrap().skins[0].inverse_bind, [glam::Mat4::IDENTITY; 2]);
}

#[test]
fn a_skeleton_root_that_is_none_is_told_and_not_exported() {
    let with = |root: serde_json::Value| {
        let mut b = bound(&[([0; 4], [1.0, 0.0, 0.0, 0.0])]);
        b.json["nodes"][1]["children"] = json!([2, 3]);
        b.json["skins"][0]["skeleton"] = root;
        let asset = b.load().unwrap();
        let is_told =
            told(&asset, "skin", "no node above all its joints; it is ignored and left out of exports");
        let character = crate::bind::Character::from_asset(&asset).unwrap();
        let pose = crate::rig::Pose::rest(&character.skeleton);
        let keys = [crate::export::Key { time_s: 0.0, pose: &pose, shape: None }];
        let out = crate::export::posed(&asset, &character, &keys, &Default::default()).unwrap();
        let exported = crate::asset::Asset::from_slice(&out.glb, "out.glb").unwrap();
        (is_told, exported.source.json["skins"][0].get("skeleton").cloned())
    };
    assert_eq!(with(json!(1)), (false, Some(json!(1))));
    for root in [json!(99), json!(-1), json!("root"), json!(0), json!(2)] {
        assert_eq!(with(root.clone()), (true, None), "{root}");
    }
}
