//! Tests of every kind: specified counts, a closed surface with outward normals, good triangles, valid weights.

use super::*;
use crate::asset::Asset;
use crate::base::math::Vec3;
use crate::bind::Character;
use std::collections::HashSet;
use std::path::PathBuf;

fn load(bytes: &[u8]) -> (Asset, Character) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("model.glb");
    std::fs::write(&path, bytes).unwrap();
    let asset = Asset::load(&path).unwrap();
    assert!(asset.problems.is_empty(), "{:?}", asset.problems);
    let character = Character::from_asset(&asset).unwrap();
    (asset, character)
}

fn corners(character: &Character, triangle: &[u32; 3]) -> [Vec3; 3] {
    triangle.map(|v| character.control.positions[v as usize])
}

/// Asserts that the mesh is closed, edge-manifold and consistently oriented.
fn assert_closed(triangles: &[[u32; 3]]) {
    let edges = || triangles.iter().flat_map(|t| [(t[0], t[1]), (t[1], t[2]), (t[2], t[0])]);
    let set: HashSet<(u32, u32)> = edges().collect();
    assert_eq!(set.len(), triangles.len() * 3, "an edge is used twice in one direction");
    assert!(edges().all(|(a, b)| set.contains(&(b, a))), "an edge is open");
}

fn smallest_angle([a, b, c]: [Vec3; 3]) -> f32 {
    let at = |a: Vec3, b: Vec3, c: Vec3| (b - a).angle_between(c - a);
    at(a, b, c).min(at(b, c, a)).min(at(c, a, b)).to_degrees()
}

/// Asserts all properties that every kind has; returns the character for more tests.
fn assert_sound(bytes: &[u8], counts: Counts) -> (Asset, Character) {
    let (asset, character) = load(bytes);
    let control = &character.control;
    assert_eq!(asset.skins[0].joints.len(), counts.joints);
    assert_eq!(control.positions.len(), counts.vertices);
    assert_eq!(control.triangles.len(), counts.triangles);
    assert_closed(&control.triangles);
    let volume: f32 =
        control.triangles.iter().map(|t| corners(&character, t)).map(|[a, b, c]| a.dot(b.cross(c))).sum();
    assert!(volume > 0.0, "turned inside out");
    // The weights are read from the file's bytes, because the loader would renormalise them.
    for primitive in &asset.source.json["meshes"][0]["primitives"].as_array().unwrap().clone() {
        let accessor =
            &asset.source.json["accessors"][primitive["attributes"]["WEIGHTS_0"].as_u64().unwrap() as usize];
        let view = &asset.source.json["bufferViews"][accessor["bufferView"].as_u64().unwrap() as usize];
        let start =
            (view["byteOffset"].as_u64().unwrap() + accessor["byteOffset"].as_u64().unwrap()) as usize;
        for vertex in 0..accessor["count"].as_u64().unwrap() as usize {
            let row = &asset.source.buffers[0][start + vertex * 8..start + vertex * 8 + 8];
            let sum: u32 = row.chunks(2).map(|w| u32::from(u16::from_le_bytes([w[0], w[1]]))).sum();
            assert_eq!(sum, u32::from(u16::MAX));
        }
    }
    for (position, normal) in character.display.positions.iter().zip(&character.display.normals) {
        assert!(position.is_finite() && (normal.length() - 1.0).abs() < 1e-3);
        assert!(position.y > -1e-3, "under the ground: {position}");
    }
    (asset, character)
}

/// Asserts that a remeshed body has good triangles, and vertex normals that agree with them.
fn assert_good_triangles(character: &Character) {
    let angles: Vec<f32> =
        character.control.triangles.iter().map(|t| smallest_angle(corners(character, t))).collect();
    let least = angles.iter().copied().fold(f32::INFINITY, f32::min);
    let mean = angles.iter().sum::<f32>() / angles.len() as f32;
    let narrow = angles.iter().filter(|a| **a < 25.0).count();
    assert!(least > 8.0, "smallest angle {least}");
    assert!(mean > 48.0, "mean smallest angle {mean}");
    assert!(narrow * 100 < angles.len(), "{narrow} of {} triangles under 25 degrees", angles.len());
    let display = &character.display;
    let backwards = display.triangles.iter().filter(|t| {
        let [a, b, c] = t.map(|v| display.positions[v as usize]);
        let normal: Vec3 = t.iter().map(|&v| display.normals[v as usize]).sum();
        (b - a).cross(c - a).dot(normal) <= 0.0
    });
    assert!(backwards.count() * 1000 < display.triangles.len());
}

/// Asserts that `foreign` joints (by name prefix) have at most `share` of the weight of the vertices that `which`
/// selects.
fn assert_no_bleeding(
    character: &Character,
    which: impl Fn(Vec3, &str) -> bool,
    foreign: &[&str],
    share: f32,
) {
    let skeleton = &character.skeleton;
    let name = |j: u16| skeleton.nodes[skeleton.joints[j as usize].node.index()].name.as_str();
    let mut picked = 0;
    for (v, &p) in character.control.positions.iter().enumerate() {
        let entries: Vec<_> = character.control.influences.of(v).collect();
        if !which(p, name(entries[0].0)) {
            continue;
        }
        picked += 1;
        let caught: f32 =
            entries.iter().filter(|e| foreign.iter().any(|f| name(e.0).starts_with(f))).map(|e| e.1).sum();
        assert!(caught <= share, "vertex {v} at {p}: {caught}");
    }
    assert!(picked > 50, "only {picked} vertices to look at");
}

#[test]
fn box_and_plus_have_the_thesis_counts() {
    for kind in [Kind::Box, Kind::Plus] {
        let (_, character) = assert_sound(&glb(kind).unwrap(), kind.counts());
        let angles = character.control.triangles.iter().map(|t| smallest_angle(corners(&character, t)));
        assert!(angles.fold(90.0, f32::min) > 44.9, "right-angled halves of squares");
    }
    assert_eq!((Kind::Box.counts().vertices, Kind::Box.counts().triangles), (1802, 3600));
    assert_eq!((Kind::Plus.counts().vertices, Kind::Plus.counts().triangles), (5634, 11264));
}

#[test]
fn the_chibi_is_sound() {
    let kind = Kind::Chibi;
    assert_eq!((kind.counts().vertices, kind.counts().triangles), (16314, 32624));
    let (asset, character) = assert_sound(&glb(kind).unwrap(), kind.counts());
    assert_good_triangles(&character);
    assert!((character.control.aabb.size().y - 1.1).abs() < 0.05);
    assert!(asset.clips.len() == 1 && asset.clips[0].duration() > 1.0);
    // The left hand does not follow the trunk or the right side.
    assert_no_bleeding(&character, |p, _| p.x > 0.27 && p.y < 0.4, &["Hips", "Spine", "Chest", "Right"], 0.0);
}

#[test]
fn the_human_is_sound_and_its_fingers_are_apart() {
    let kind = Kind::Human;
    let counts = kind.counts();
    assert!((counts.vertices as f32 / 10774.0 - 1.0).abs() < 0.01);
    assert!((counts.triangles as f32 / 21204.0 - 1.0).abs() < 0.01);
    let (_, character) = assert_sound(&glb(kind).unwrap(), counts);
    assert_good_triangles(&character);
    assert!((character.control.aabb.size().y - 1.76).abs() < 0.03);
    let fingers = ["Thumb", "Index", "Middle", "Ring", "Pinky"];
    for (f, finger) in fingers.iter().enumerate() {
        // The palm may share weights with the thumb's root; phalanges of other fingers may not have any weight.
        let phalanges = |o: usize| (1..=3).map(move |i| format!("Left{}{i}", fingers[o]));
        let others: Vec<String> =
            (0..5).filter(|&o| o != f).flat_map(phalanges).chain(["Right".into()]).collect();
        let others: Vec<&str> = others.iter().map(String::as_str).collect();
        let (middle, end) = (format!("Left{finger}2"), format!("Left{finger}3"));
        assert_no_bleeding(&character, |_, own| own == middle || own == end, &others, 0.02);
    }
    // The arms do not move the waist, and the trunk does not move the lower arms.
    let arms = ["LeftUpperArm", "LeftLowerArm", "LeftHand", "RightUpperArm", "RightLowerArm", "RightHand"];
    assert_no_bleeding(&character, |p, _| p.x.abs() < 0.15 && p.y < 1.2, &arms, 0.0);
    assert_no_bleeding(&character, |_, own| own == "LeftLowerArm", &["Chest", "Spine", "Hips"], 0.0);
}

#[test]
fn the_golem_is_sound() {
    let kind = Kind::Golem;
    assert_eq!((kind.counts().vertices, kind.counts().triangles), (90002, 180_000));
    let (_, character) = assert_sound(&glb(kind).unwrap(), kind.counts());
    assert_good_triangles(&character);
}

#[test]
fn tubes_have_about_the_vertices_asked_for() {
    for vertices in [10_000, 100_000] {
        let (_, character) = load(&tube(vertices).unwrap());
        let control = &character.control;
        assert!((control.positions.len() as f32 / vertices as f32 - 1.0).abs() < 0.01);
        assert_eq!(control.triangles.len(), 2 * control.positions.len() - 4);
        assert_closed(&control.triangles);
        assert_eq!(character.skeleton.joints.len(), 4);
    }
    assert!(!tube(0).unwrap().is_empty());
}

#[test]
fn the_files_in_assets_are_what_the_generator_writes() {
    let assets = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("assets");
    for kind in [Kind::Box, Kind::Plus, Kind::Human, Kind::Chibi] {
        let file = assets.join(format!("{}.glb", kind.name()));
        let stored = std::fs::read(&file).unwrap();
        assert!(
            stored == glb(kind).unwrap(),
            "{}: run `sinew-lab generate {}` again",
            file.display(),
            kind.name()
        );
    }
}

#[test]
fn names_are_known_and_others_refused() {
    for kind in Kind::ALL {
        assert_eq!(Kind::from_name(kind.name()).unwrap(), kind);
    }
    assert!(Kind::from_name("cube").unwrap_err().to_string().contains("chibi"));
}
