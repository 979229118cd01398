//! Posing of real rigs: an offset stroke that equals its baseline does not change any character of the shared data. The
//! demonstration's strokes exist, keep lengths, give finite poses and belong to known characters.

use sinew::base::testing::shared;

use sinew::asset::Asset;
use sinew::base::math::{Trs, Vec3};
use sinew::document::{AssetRef, Edit, Session, demo_edits, demo_strokes};
use sinew::pose::{Posing, Sample, Stroke, pose_by_stroke, select};
use sinew::rig::{ChainKind, Pose, Skeleton, chains, posable};
use std::path::{Path, PathBuf};
use std::sync::Arc;

fn gltf_files(folder: &Path, out: &mut Vec<PathBuf>) {
    let listing = std::fs::read_dir(folder).expect("a readable folder");
    for path in listing.filter_map(|e| e.ok().map(|e| e.path())) {
        if path.is_dir() {
            gltf_files(&path, out);
        } else if path.extension().is_some_and(|e| e == "glb" || e == "gltf") {
            out.push(path);
        }
    }
}

fn largest_change(a: &Pose, b: &Pose) -> f32 {
    let floats = |t: &Trs| [&t.translation[..], &t.rotation[..], &t.scale[..]].concat();
    let pairs = a.local.iter().zip(&b.local);
    pairs
        .flat_map(|(a, b)| floats(a).into_iter().zip(floats(b)))
        .map(|(a, b)| (a - b).abs())
        .fold(0.0, f32::max)
}

/// Returns an irregular stroke through the positions of all posable joints, and the joints that it selects.
fn unchanged_by_equal_strokes(name: &str, skeleton: &Skeleton, pose: &Pose) {
    let world = pose.world(skeleton);
    let at: Vec<Vec3> = posable(skeleton).iter().map(|n| world[n.index()].translation.into()).collect();
    let knots = at.iter().step_by(1 + at.len() / 30).map(|p| Sample::at(*p, 0.0)).collect();
    let Ok(line) = Stroke::from_knots(knots) else { return };
    let selection = select((skeleton, &[]), pose, &line, line.length());
    for posing in [
        Posing::default(),
        Posing { roll: true, lengths: sinew::pose::Lengths::Stretch, ..Posing::default() },
    ] {
        let posed = pose_by_stroke(skeleton, pose, &selection, &line, &line, posing);
        let change = largest_change(pose, &posed);
        assert!(change <= 1e-6, "{name}: {change}");
    }
}

#[test]
fn equal_strokes_change_nothing_and_demo_strokes_pose_every_skinned_file() {
    let Some(folder) = shared("") else { return };
    let mut files = Vec::new();
    gltf_files(&folder, &mut files);
    files.sort();
    let (mut characters, mut without) = (0, Vec::new());
    for path in &files {
        let Ok(asset) = Asset::load(path) else { continue };
        if asset.skins.is_empty() {
            continue;
        }
        let name = path.strip_prefix(&folder).unwrap_or(path).display().to_string();
        let skeleton = Arc::new(Skeleton::from_asset(&asset).expect("a skeleton"));
        let rest = Pose::rest(&skeleton);
        unchanged_by_equal_strokes(&name, &skeleton, &rest);
        for stroke in demo_strokes(&skeleton, &rest) {
            for (_, offset) in &stroke.offsets {
                let ratio = offset.length() / stroke.baseline.length();
                // Curves round the corners of a jagged chain slightly differently.
                assert!((0.7..1.3).contains(&ratio), "{name} {:?}: {ratio}", stroke.kind);
            }
        }
        let found: Vec<String> = chains(&skeleton)
            .iter()
            .map(|c| {
                let end = |i: usize| skeleton.nodes[c.nodes[i].index()].name.as_str();
                format!("{:?} {}..{}", c.kind, end(0), end(c.nodes.len() - 1))
            })
            .collect();
        println!("{name}: {}", found.join(", "));
        let mut session = Session::new(Box::new(|_| Ok(skeleton.clone())));
        session.apply(Edit::Open { asset: AssetRef::of(&asset) }).expect("the file opens");
        characters += 1;
        let Ok(edits) = demo_edits(&skeleton, session.document()) else {
            without.push(name);
            continue;
        };
        for edit in edits {
            session.apply(edit).unwrap_or_else(|e| panic!("{name}: {e}"));
        }
        let posed = session.posed();
        let finite = posed.world(&skeleton).iter().all(|w| w.is_finite());
        assert!(finite && largest_change(&rest, &posed) > 1e-3, "{name}");
        // With kept lengths, only the character's root joint may have moved.
        let moved =
            posed.local.iter().zip(&rest.local).filter(|(a, b)| a.translation != b.translation).count();
        assert!(moved <= 2, "{name}: {moved} joints moved");
    }
    println!("{characters} characters, without strokes: {without:?}");
    assert!(characters > 50 && without.len() * 4 < characters);
}

#[test]
fn known_characters_are_recognised_by_their_geometry() {
    let Some(folder) = shared("") else { return };
    for (file, spine_end, arms) in [
        ("characters/mannequiny.glb", "head", 2),
        ("derived/makehuman_male_4infl.glb", "head", 2),
        ("khronos/Fox/glTF-Binary/Fox.glb", "head", 0),
        ("khronos/CesiumMan/glTF-Binary/CesiumMan.glb", "neck", 2),
    ] {
        let asset = Asset::load(folder.join(file)).expect(file);
        let skeleton = Skeleton::from_asset(&asset).expect(file);
        let found = chains(&skeleton);
        let spine = found.iter().find(|c| c.kind == ChainKind::Spine);
        let end = spine.and_then(|c| c.nodes.last()).map(|n| skeleton.nodes[n.index()].name.to_lowercase());
        println!("{file}: {end:?}");
        let path: Vec<&str> =
            spine.iter().flat_map(|c| &c.nodes).map(|n| skeleton.nodes[n.index()].name.as_str()).collect();
        assert!(path.iter().any(|n| n.to_lowercase().contains(spine_end)), "{file}: {path:?}");
        assert_eq!(found.iter().filter(|c| c.kind == ChainKind::Arm).count(), arms, "{file}: {found:?}");
    }
}
