//! Exports of generated and real files: nothing lost, shapes reproduced, receipts true.

use crate::common;

use crate::common::{data_files, generated, load_data};
use sinew::asset::Asset;
use sinew::base::math::{Quat, Vec3};
use sinew::bind::Character;
use sinew::document::AssetRef;
use sinew::export::{Builder, Key, Moment, Options, Shape, evaluate, posed, project, unedited};
use sinew::rig::{Pose, PosedRig, Skeleton};

/// Returns a pose that bends every joint a little; `phase` varies the angles.
fn bent(skeleton: &Skeleton, phase: f32, amount: f32) -> Pose {
    let mut pose = Pose::rest(skeleton);
    for (i, node) in skeleton.nodes.iter().enumerate().filter(|n| n.1.joint.is_some()) {
        let angle = amount * (i as f32 * 1.3 + phase).sin();
        let axis = Vec3::new((i as f32).cos(), (i as f32 * 2.0).sin(), 0.5).normalize();
        let turned = node.rest.rotation() * Quat::from_axis_angle(axis, angle);
        pose.local[i].rotation = turned.to_array();
    }
    pose
}

/// Evaluates a copy of the asset whose nodes have the pose.
fn shown(asset: &Asset, pose: &Pose) -> (Vec<Vec3>, Vec<Vec3>) {
    let mut asset = asset.clone();
    for (node, local) in asset.nodes.iter_mut().zip(&pose.local) {
        if node.rest != *local {
            (node.rest, node.matrix) = (*local, None);
        }
    }
    for (node, weights) in asset.nodes.iter_mut().zip(&pose.weights) {
        node.weights.clone_from(weights);
    }
    let drawn = evaluate(&asset, Moment::Static);
    drawn.iter().map(|d| (d.position.as_vec3(), d.normal.as_vec3())).unzip()
}

/// Returns a shape that bones cannot reproduce: waves along the normals where `mask` is true, with tilted normals.
fn waves(asset: &Asset, pose: &Pose, height: f32, mask: impl Fn(usize) -> bool) -> (Vec<Vec3>, Vec<Vec3>) {
    let (mut positions, mut normals) = shown(asset, pose);
    let size = sinew::base::math::Aabb::of(positions.iter().copied()).diagonal();
    for (i, (p, n)) in positions.iter_mut().zip(&mut normals).enumerate().filter(|v| mask(v.0)) {
        let wave = (p.x * 40.0 / size + p.y * 63.0 / size).sin();
        *p += *n * height * size * wave + Vec3::new(0.0, 0.3 * height * size, 0.0);
        *n = (*n + Vec3::new(0.3 * wave, 0.1, -0.2 * wave) + Vec3::splat(1e-3 * (i % 7) as f32)).normalize();
    }
    (positions, normals)
}

fn same_asset(a: &Asset, b: &Asset) {
    let text = |asset: &Asset| {
        let mut asset = asset.clone();
        asset.source = Default::default();
        asset.path = Default::default();
        format!("{asset:?}")
    };
    assert!(text(a) == text(b), "{}: the export differs", a.path.display());
}

#[test]
fn unedited_exports_are_identical_and_not_larger() {
    for (path, asset) in data_files(false) {
        let out = unedited(&asset).unwrap();
        let again = Asset::from_slice(&out, &path).unwrap();
        same_asset(&asset, &again);
        assert_eq!(AssetRef::of(&asset).hash, AssetRef::of(&again).hash, "{}", path.display());
        let before = std::fs::metadata(&path).unwrap().len()
            + if path.extension().is_some_and(|e| e == "gltf") {
                let external: usize = asset.source.buffers.iter().map(Vec::len).sum();
                let images: usize = asset.source.image_files.iter().flatten().map(|f| f.0.len()).sum();
                (external + images) as u64
            } else {
                0
            };
        // Checks alignment, the container's headers, and one buffer view per packed image.
        assert!(out.len() as u64 <= before + 64 + 90 * asset.images.len() as u64, "{}", path.display());
        if path.extension().is_some_and(|e| e == "glb") {
            assert_eq!(again.source.buffers[0], asset.source.buffers[0]);
            assert_eq!(again.source.json, asset.source.json);
            assert!(out.len() as u64 <= before);
        }
    }
    let generated = generated();
    same_asset(&generated, &Asset::from_slice(&unedited(&generated).unwrap(), "g").unwrap());
}

/// Exports a pose with waves, reads it back, and returns the receipt and the export.
fn round_trip(
    asset: &Asset,
    options: &Options,
    keys: usize,
    mask: fn(usize) -> bool,
) -> sinew::export::Receipt {
    let character = Character::from_asset(asset).unwrap();
    let poses: Vec<_> = (0..keys).map(|k| bent(&character.skeleton, k as f32, 0.5)).collect();
    let shapes: Vec<_> = poses.iter().map(|p| waves(asset, p, 0.01, mask)).collect();
    let keys: Vec<_> = poses
        .iter()
        .zip(&shapes)
        .enumerate()
        .map(|(i, (pose, shape))| Key {
            time_s: i as f32 * 0.5,
            pose,
            shape: Some(Shape { positions: &shape.0, normals: &shape.1 }),
        })
        .collect();
    let export = posed(asset, &character, &keys, options).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let receipt = export.write(folder.path().join("out.glb"), &keys).unwrap();
    keep(asset, &export.glb, keys.len(), options.compatible);
    let control = &character.control;
    let crossings = sinew::geom::Crossings::new(control, &vec![1.0; control.positions.len()]);
    // A project's receipt counts them too.
    let shown = project::shown(asset, &character, &keys, &&*keys, options, &serde_json::json!({})).unwrap();
    let saved = shown.measure(&folder.path().join("project.glb"), &keys, &&*keys).unwrap();
    let counts = |r: &sinew::export::Receipt| r.keys.iter().map(|k| k.crossings).collect::<Vec<_>>();
    assert_eq!(counts(&saved), counts(&receipt));
    for (key, (positions, _)) in receipt.keys.iter().zip(&shapes) {
        let mut x = control.positions.clone();
        let display = character.display.control_of.iter().zip(positions);
        display.for_each(|(&v, position)| x[v as usize] = *position);
        assert_eq!(key.crossings, crossings.report(&x).crossings);
    }
    println!("{}: {receipt}", asset.path.display());
    // The other reader may not support the original's geometry.
    let packed = |e: &str| ["draco", "meshopt", "quantization"].iter().any(|w| e.contains(w));
    let required = asset.source.json["extensionsUsed"].as_array().into_iter().flatten();
    let plain = !required.filter_map(|e| e.as_str()).any(packed);
    assert!(receipt.independent || !plain, "{receipt}");
    receipt
}

/// Copies the export into the folder `SINEW_KEEP`, if set, for tools/validate.mjs.
fn keep(asset: &Asset, glb: &[u8], keys: usize, compatible: bool) {
    if let Some(folder) = std::env::var_os("SINEW_KEEP") {
        let stem = asset.path.file_stem().unwrap().to_string_lossy().into_owned();
        let name = format!("{stem}.{keys}{}.glb", if compatible { ".c" } else { "" });
        std::fs::write(std::path::Path::new(&folder).join(name), glb).unwrap();
    }
}

/// The exported shape is within 0.1 mm on 1.8 m, in any unit of the file.
fn assert_met(receipt: &sinew::export::Receipt) {
    for key in &receipt.keys {
        assert!(key.largest_of_diagonal < 0.1e-3 / 1.8, "{receipt}");
        assert!(key.normal_largest_degrees < 0.6, "{receipt}");
    }
}

#[test]
fn a_generated_character_is_reproduced_and_stored_sparsely() {
    let asset = generated();
    let all = round_trip(&asset, &Options::default(), 1, |_| true);
    assert_met(&all);
    assert!(all.targets > 0 && all.morph_vertices > 0);
    let few = round_trip(&asset, &Options::default(), 1, |v| v % 16 == 0);
    assert_met(&few);
    assert!(few.morph_vertices * 10 < all.morph_vertices && few.bytes + 2000 < all.bytes, "{few} {all}");
    let none = round_trip(&asset, &Options::default(), 1, |_| false);
    assert_eq!((none.targets, none.morph_vertices), (0, 0));
    assert!(none.bytes < few.bytes);
    let animated = round_trip(&asset, &Options::default(), 3, |_| true);
    assert_met(&animated);
    assert_eq!((animated.keys.len(), animated.targets), (3, 3));
}

#[test]
fn real_characters_are_reproduced() {
    for (_, asset) in data_files(true) {
        assert_met(&round_trip(&asset, &Options::default(), 1, |_| true));
        assert_met(&round_trip(&asset, &Options::default(), 2, |v| v % 5 == 0));
    }
}

/// Computes the editor's linear blend skinning of the control mesh in single precision.
fn skinned(character: &Character, pose: &Pose) -> Vec<Vec3> {
    let rig = PosedRig::new(&character.skeleton, pose);
    let control = &character.control;
    let at = |v: usize| {
        let x = control.positions[v];
        control
            .influences
            .of(v)
            .map(|(j, w)| rig.skinning[usize::from(j)].transform_point3(x) * w)
            .sum::<Vec3>()
    };
    character.display.control_of.iter().map(|&c| at(c as usize)).collect()
}

#[test]
fn what_bones_give_needs_no_morph_targets() {
    for (_, asset) in data_files(true).into_iter().filter(|a| a.1.nodes.iter().all(|n| n.weights.is_empty()))
    {
        let character = Character::from_asset(&asset).unwrap();
        let pose = bent(&character.skeleton, 2.0, 0.6);
        let (positions, normals) = (skinned(&character, &pose), shown(&asset, &pose).1);
        let key =
            Key { time_s: 0.0, pose: &pose, shape: Some(Shape { positions: &positions, normals: &normals }) };
        let export = posed(&asset, &character, &[key], &Options::default()).unwrap();
        let receipt = export.receipt(&Asset::from_slice(&export.glb, &asset.path).unwrap(), &[key]).unwrap();
        assert_met(&receipt);
        // Only seams may differ from the file's skinning: the control mesh has one weight for both sides.
        let vertices = character.display.positions.len();
        assert!(receipt.morph_vertices * 20 < vertices, "{receipt} of {vertices}");
    }
}

/// Twists two bones by `angle`. The nearest bone carries each vertex rigidly, so the shape does not collapse.
fn twisted(angle: f32, scale: f32) -> sinew::export::Receipt {
    let asset = generated();
    let character = Character::from_asset(&asset).unwrap();
    let mut pose = Pose::rest(&character.skeleton);
    let joint = character.skeleton.joints[2].node.index();
    pose.local[joint].rotation = Quat::from_rotation_y(angle).to_array();
    pose.local[joint].scale = [scale; 3];
    let (_, normals) = shown(&asset, &pose);
    let positions = character.display.positions.clone();
    let key =
        Key { time_s: 0.0, pose: &pose, shape: Some(Shape { positions: &positions, normals: &normals }) };
    let export = posed(&asset, &character, &[key], &Options::default()).unwrap();
    export.receipt(&Asset::from_slice(&export.glb, &asset.path).unwrap(), &[key]).unwrap()
}

#[test]
fn twists_are_met_and_what_cannot_be_is_reported() {
    for degrees in [90.0f32, 150.0, 175.0, 179.0] {
        let receipt = twisted(degrees.to_radians(), 1.0);
        assert!(
            receipt.singular + receipt.steadied == 0 && receipt.largest_mm() < 0.1,
            "{degrees}: {receipt}"
        );
    }
    // At 180° LBS collapses the ring between both bones to a point, so the export moves its weights off the middle.
    let half_turn = twisted(std::f32::consts::PI, 1.0);
    assert!(
        half_turn.steadied > 0 && half_turn.singular == 0 && !half_turn.problems.is_empty(),
        "{half_turn}"
    );
    assert!(half_turn.largest_mm() < 0.1, "{half_turn}");
    // A bone scaled to zero cannot be inverted; the receipt states it.
    let gone = twisted(0.0, 0.0);
    assert!(gone.singular > 0 && !gone.problems.is_empty() && gone.largest_mm() > 1.0, "{gone}");
    assert!(gone.largest_mm().is_finite());
}

/// Every file of the shared data that loads: unedited exports lose nothing, and posed exports match the pose.
#[test]
fn every_shared_file_that_loads_survives() {
    let (mut unchanged, mut met) = (0, 0);
    for path in common::all_files(600_000) {
        let Ok(asset) = Asset::load(&path) else { continue };
        let out = unedited(&asset).unwrap();
        // References to missing images stay, so the comparison in memory ignores them.
        let mut again = Asset::from_slice(&out, &path).unwrap();
        again.problems.clone_from(&asset.problems);
        same_asset(&asset, &again);
        unchanged += 1;
        keep(&asset, &out, 10_000 + unchanged, false);
        let Ok(character) = Character::from_asset(&asset) else { continue };
        if character.display.positions.is_empty()
            || !asset.nodes.iter().all(|n| n.rest.scale().length() < 1e6)
        {
            continue;
        }
        let pose = bent(&character.skeleton, 1.0, 0.3);
        let shape = waves(&asset, &pose, 0.01, |v| v % 2 == 0);
        if shape.0.iter().chain(&shape.1).any(|p| !p.is_finite()) {
            continue;
        }
        let key =
            Key { time_s: 0.0, pose: &pose, shape: Some(Shape { positions: &shape.0, normals: &shape.1 }) };
        let export = posed(&asset, &character, &[key], &Options::default()).unwrap();
        let receipt = export.receipt(&Asset::from_slice(&export.glb, &path).unwrap(), &[key]).unwrap();
        keep(&asset, &export.glb, 20_000 + unchanged, false);
        if receipt.singular == 0 {
            assert!(receipt.keys[0].largest_of_diagonal < 0.1e-3 / 1.8, "{}: {receipt}", path.display());
            met += 1;
        }
    }
    println!("{unchanged} files unchanged, {met} posed and met");
    assert!(unchanged == 0 || met * 3 > unchanged);
}

#[test]
fn own_weights_outside_0_to_1_stay_and_are_told() {
    let Some(asset) = load_data("khronos/SimpleMorph/glTF-Embedded/SimpleMorph.gltf") else { return };
    let character = Character::from_asset(&asset).unwrap();
    let node = asset.nodes.iter().position(|n| n.weights.len() == 2).unwrap();
    for (weights, told) in [([-0.5, 1.25], true), ([0.0, 1.0], false)] {
        let mut pose = Pose::rest(&character.skeleton);
        pose.weights[node] = weights.to_vec();
        let key = Key { time_s: 0.0, pose: &pose, shape: None };
        let export = posed(&asset, &character, &[key], &Options::default()).unwrap();
        let clamped = |p: &sinew::asset::Problem| p.text.contains("from -0.500 to 1.250; Blender clamps");
        assert_eq!(export.problems.iter().any(clamped), told, "{:?}", export.problems);
        assert_eq!(Asset::from_slice(&export.glb, "x.glb").unwrap().nodes[node].weights, weights);
    }
}

#[test]
fn compatible_mode_keeps_four_influences_and_says_its_cost() {
    let Some(asset) = load_data("derived/makehuman_male_8infl.glb") else { return };
    let full = round_trip(&asset, &Options::default(), 1, |_| false);
    assert!(full.reduction.is_none());
    let options = Options { compatible: true, ..Default::default() };
    let receipt = round_trip(&asset, &options, 1, |_| false);
    let reduction = receipt.reduction.unwrap();
    assert!(
        reduction.vertices > 100 && reduction.largest_mm > 0.0 && reduction.mean_mm <= reduction.largest_mm
    );
    assert_met(&receipt);
    let character = Character::from_asset(&asset).unwrap();
    let pose = bent(&character.skeleton, 0.0, 0.5);
    let export =
        posed(&asset, &character, &[Key { time_s: 0.0, pose: &pose, shape: None }], &options).unwrap();
    let written = Asset::from_slice(&export.glb, "c").unwrap();
    for primitive in written.meshes.iter().flat_map(|m| &m.primitives) {
        assert!((0..primitive.influences.len()).all(|v| primitive.influences.of(v).len() <= 4));
    }
    let mut primitives = written.source.json["meshes"].as_array().into_iter().flatten();
    assert!(primitives.all(|m| m["primitives"][0]["attributes"].get("JOINTS_1").is_none()));
    assert!(export.glb.len() < unedited(&asset).unwrap().len());
}

#[test]
fn bad_requests_are_refused() {
    let asset = generated();
    let character = Character::from_asset(&asset).unwrap();
    let pose = Pose::rest(&character.skeleton);
    let options = Options::default();
    let key = |time_s| Key { time_s, pose: &pose, shape: None };
    assert!(posed(&asset, &character, &[], &options).is_err());
    assert!(posed(&asset, &character, &[key(1.0), key(1.0)], &options).is_err());
    assert!(posed(&asset, &character, &[key(f32::NAN)], &options).is_err());
    let short = Shape { positions: &[Vec3::ZERO], normals: &[Vec3::Y] };
    assert!(posed(&asset, &character, &[Key { shape: Some(short), ..key(0.0) }], &options).is_err());
    let other = Pose { local: Vec::new(), weights: Vec::new(), ..Pose::default() };
    assert!(posed(&asset, &character, &[Key { pose: &other, ..key(0.0) }], &options).is_err());
    assert!(Builder::from_source("none", &Default::default()).is_err());
}

#[test]
fn projects_show_the_pose_and_return_the_original_for_ever() {
    let files = [
        "khronos/CesiumMan/glTF-Binary/CesiumMan.glb",
        "khronos/AnimatedMorphCube/glTF/AnimatedMorphCube.gltf",
        "characters/quaternius/modular_men/Adventurer.glb",
        "characters/valid/Black_M_1_Casual.glb",
    ];
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.glb");
    for asset in std::iter::once(generated()).chain(files.iter().filter_map(|f| load_data(f))) {
        let character = Character::from_asset(&asset).unwrap();
        let pose = bent(&character.skeleton, 1.0, 0.7);
        let shape = waves(&asset, &pose, 0.01, |v| v % 3 == 0);
        let (mut current, mut bytes) = (asset.clone(), Vec::new());
        // For a large file 4 rounds suffice to show drift.
        for round in 0..if asset.meshes.len() > 5 { 4 } else { 20 } {
            let document = serde_json::json!({ "edits": [{ "stroke": round }], "π": [0.1, 1e-30, null] });
            if round % 2 == 0 {
                project::save(&path, &current, &pose, &document).unwrap();
            } else {
                let key = Key {
                    time_s: 0.0,
                    pose: &pose,
                    shape: Some(Shape { positions: &shape.0, normals: &shape.1 }),
                };
                let export =
                    project::save_shown(&path, &current, &character, &[key], &Options::default(), &document)
                        .unwrap();
                let shown = Asset::load(&path).unwrap();
                assert_met(&export.receipt(&shown, &[key]).unwrap());
                if round == 1 {
                    keep(&asset, &export.glb, 0, false);
                }
            }
            let (original, loaded) = project::load(&path).unwrap();
            assert_eq!(loaded, document);
            let out = unedited(&original).unwrap();
            assert!(round == 0 || out == bytes, "{} drifts in round {round}", asset.path.display());
            (current, bytes) = (original, out);
        }
        assert_eq!(bytes, unedited(&asset).unwrap());
        same_asset(&asset, &current);
    }
}

#[test]
fn projects_opened_as_models_and_damaged_ones() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.glb");
    let asset = generated();
    let pose = bent(&Skeleton::from_asset(&asset).unwrap(), 1.0, 0.7);
    project::save(&path, &asset, &pose, &serde_json::json!({ "n": 1 })).unwrap();
    // Loaded as a model, the file shows the pose; saved again as a project, it does not grow.
    let shown = Asset::load(&path).unwrap();
    assert_eq!(shown.nodes[2].rest.rotation(), sinew::base::math::Trs::rotation(&pose.local[2]));
    let size = std::fs::metadata(&path).unwrap().len();
    project::save(&path, &shown, &pose, &serde_json::json!({ "n": 1 })).unwrap();
    assert!(std::fs::metadata(&path).unwrap().len() <= size);
    let (again, _) = project::load(&path).unwrap();
    assert!(again.source.json.get("extensionsUsed").is_none());

    let bytes = std::fs::read(&path).unwrap();
    let said = |text: &str, replacement: &str| {
        let at = bytes.windows(text.len()).position(|w| w == text.as_bytes()).unwrap();
        let mut bad = bytes.clone();
        bad[at..at + text.len()].copy_from_slice(replacement.as_bytes());
        std::fs::write(&path, bad).unwrap();
        project::load(&path).unwrap_err().to_string()
    };
    assert!(said("\"version\":1", "\"version\":7").contains("version 7"));
    assert!(said("\"checksum\"", "\"checkfun\"").contains("another program"));
    assert!(said("\"changes\"", "\"chances\"").contains("another program"));
    assert!(said("\"binLength\"", "\"binlength\"").contains("another program"));
    std::fs::write(&path, unedited(&asset).unwrap()).unwrap();
    assert!(project::load(&path).unwrap_err().to_string().contains("no Sinew project"));
}
