//! Independent viewers show Sinew's files: a real character walks while its flesh swells. three.js plays a baked and joined
//! file; Blender shows posed, saved and joined files.

use sinew::base::testing::shared;

use sinew::asset::Property;
use sinew::base::math::Quat;
use sinew::base::{BoneId, MarkId, Progress, SculptId};
use sinew::bind::BindOptions;
use sinew::cage::Coordinates;
use sinew::deform::sculpt::{Curve, Profile};
use sinew::document::{ClipLayer, DeformerSettings, Edit, KeyEdit, KeyValue, Target};
use sinew::scene::{CageSource, Model};
use sinew::surface::{Form, Reach, Region, Sculpt, ring_mark};
use std::path::Path;
use std::process::Command;

/// Name of the document, and of the exported clip beside the clips of the file.
const NAME: &str = "walk and swell";
/// Name of the document with a cage.
const CAGED: &str = "a keyed cage";

/// Creates a project of a clip in the file, with a skin ring that swells within a second.
fn project(file: &Path, out: &Path) {
    let model = Model::load(file, &BindOptions::default()).unwrap();
    let mut session = model.start(None).unwrap();
    session.apply(Edit::Rename(NAME.into())).unwrap();
    let springs = DeformerSettings { method: "springs".into(), ..Default::default() };
    session.apply(Edit::SetDeformer(springs)).unwrap();
    let clip = ClipLayer::new(0, model.skeleton());
    session.apply(Edit::Keys(KeyEdit::Clips(vec![clip]))).unwrap();
    // Chooses the bone whose skin ring has the most vertices.
    let character = &model.bound.character;
    let deforming = character.deforming_bones();
    let skin = |b: usize| model.bound.attachments.bone.iter().filter(|x| x.index() == b).count();
    let mut bones: Vec<usize> = (0..deforming.len()).filter(|&b| deforming[b]).collect();
    bones.sort_by_key(|&b| std::cmp::Reverse(skin(b)));
    let ring = |b: &usize| {
        let mark = ring_mark(character, &model.bound.attachments, MarkId(0), BoneId::from(*b), 0.5).ok()?;
        Region::from_mark(character, &mark, Reach::Edges(4)).ok()
    };
    let region = bones.iter().find_map(ring).unwrap();
    let profile = Profile { curve: Curve::Even, amount: 0.6, ..Profile::default() };
    let sculpt = Sculpt::new(SculptId(0), None, region, Form::Profile(profile));
    session.apply(Edit::AddSculpt { index: None, sculpt: Box::new(sculpt) }).unwrap();
    for (time, amplitude) in [(0.0, 0.0), (1.0, 1.0)] {
        let keys = vec![KeyValue { target: Target::SculptAmplitude(SculptId(0)), value: vec![amplitude] }];
        session.apply(Edit::Keys(KeyEdit::Insert { time, keys })).unwrap();
    }
    let json = serde_json::to_value(session.document()).unwrap();
    sinew::export::project::save(out, &model.asset, &model.rest(), &json).unwrap();
}

/// Creates a project with linear blend skinning: a knee bends while keys of a cage play.
fn caged(file: &Path, out: &Path) {
    let model = Model::load(file, &BindOptions::default()).unwrap();
    let mut session = model.start(None).unwrap();
    session.apply(Edit::Rename(CAGED.into())).unwrap();
    session.apply(Edit::SetDeformer(DeformerSettings::of("lbs"))).unwrap();
    let made = model.new_cage(&CageSource::Made(40), Coordinates::MeanValue, &Progress::default());
    let cage = made.unwrap().0.cage;
    let (vertices, top) = (cage.vertices(), cage.mesh.positions.iter().map(|x| x.z).fold(0.0, f64::max));
    let high: Vec<f32> = cage.mesh.positions.iter().map(|x| (x.z / top) as f32).collect();
    session.apply(Edit::SetCage(Some(Box::new(cage)))).unwrap();
    let knee = model.skeleton().find("leg_joint_L_2").unwrap();
    for (time, turn, grow) in [(0.0, 0.0, 0.0), (0.5, 0.4, 0.2), (1.0, 1.0, -0.1)] {
        let offsets = (0..vertices).flat_map(|v| [grow * high[v] * high[v], 0.0, grow * high[v]]).collect();
        let cage = KeyValue { target: Target::Cage(vertices as u32), value: offsets };
        let local = model.rest().local[knee.index()];
        let turned = (local.rotation() * Quat::from_rotation_z(turn)).to_array().to_vec();
        let bend = KeyValue { target: Target::node(knee, Property::Rotation), value: turned };
        session.apply(Edit::Keys(KeyEdit::Insert { time, keys: vec![cage, bend] })).unwrap();
    }
    let json = serde_json::to_value(session.document()).unwrap();
    sinew::export::project::save(out, &model.asset, &model.rest(), &json).unwrap();
}

fn run(folder: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sinew"));
    let out = command.current_dir(folder).args(arguments).output().unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout).unwrap()
}

#[test]
fn three_js_plays_a_real_characters_baked_flesh() {
    let file = "khronos/CesiumMan/glTF-Binary/CesiumMan.glb";
    let Some(file) = shared(file) else { return };
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    project(&file, &at("project.glb"));
    run(
        folder.path(),
        &["bake", "project.glb", "--frames", "0-4", "--fps", "4", "--on", "cpu", "--out", "frames"],
    );
    let receipt = run(folder.path(), &["bake", "--join", "frames", "--out", "joined.glb"]);
    println!("{receipt}");
    // A viewer must find morph target weights that change over time, and animated joints.
    let joined = sinew::asset::Asset::load(at("joined.glb")).unwrap();
    let clip = &joined.clips[0];
    assert!(clip.channels.iter().any(|c| c.property == Property::Weights));
    if sinew::gpu::Device::new(&Default::default()).is_err() {
        sinew::base::testing::skip("gpu", "there is no Vulkan device for Sinew's own pictures");
        return;
    }
    let tool = Path::new(env!("CARGO_MANIFEST_DIR")).join("tools/view-check.mjs");
    let mut check = Command::new("node");
    check.arg(tool).arg(env!("CARGO_BIN_EXE_sinew")).arg(at("project.glb")).arg("0,0.5,1").arg("--baked");
    // `--pixels 3` tolerates outline errors where character and background have the same grey.
    check.arg(at("joined.glb")).args(["--pixels", "3"]);
    if let Some(keep) = std::env::var_os("SINEW_KEEP") {
        check.arg("--keep").arg(keep);
    }
    let Ok(checked) = check.output() else {
        sinew::base::testing::skip("node", "there is no node");
        return;
    };
    let told = String::from_utf8_lossy(&checked.stdout);
    println!("{told}");
    assert!(checked.status.success(), "{told}{}", String::from_utf8_lossy(&checked.stderr));
    if told.starts_with("skipped") {
        sinew::base::testing::skip("node", told.trim());
    }
}

/// Runs Blender on files and on the shapes that the files must show. `checks` are arguments of the tool.
fn blender(folder: &Path, checks: &[&str]) {
    let tool = Path::new(env!("CARGO_MANIFEST_DIR")).join("tools/blender-check.py");
    let python = std::env::var_os("SINEW_BLENDER_PYTHON").unwrap_or_else(|| "python3".into());
    let Ok(checked) = Command::new(python).arg(tool).args(checks).current_dir(folder).output() else {
        sinew::base::testing::skip(
            "blender",
            "there is no Python; name one with Blender in SINEW_BLENDER_PYTHON",
        );
        return;
    };
    let told = String::from_utf8_lossy(&checked.stdout);
    println!("{told}");
    assert!(checked.status.success(), "{told}{}", String::from_utf8_lossy(&checked.stderr));
    if told.starts_with("skipped") {
        return sinew::base::testing::skip("blender", told.trim());
    }
    let shown = told.contains("Blender shows the same");
    assert!(shown, "Blender ended without a word: {told}");
}

#[test]
fn blender_shows_posed_saved_and_joined_files_where_sinew_has_them() {
    let file = "khronos/CesiumMan/glTF-Binary/CesiumMan.glb";
    let Some(file) = shared(file) else { return };
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    project(&file, &folder.join("project.glb"));
    let file = file.to_str().unwrap();
    for out in ["posed.glb", "posed.obj"] {
        let joints = ["--rotate", "leg_joint_L_2=x:60", "--rotate", "Skeleton_arm_joint_R=y:40"];
        let method = ["--method", "springs", "--on", "cpu", "--out", out];
        run(folder, &[&["deform", file], &joints[..], &method].concat());
    }
    run(folder, &["save", "project.glb", "--on", "cpu", "--out", "saved.glb"]);
    let frames = ["--frames", "0-48", "--fps", "48", "--on", "cpu", "--out", "frames"];
    run(folder, &[&["bake", "project.glb"], &frames[..]].concat());
    let told = run(folder, &["bake", "--join", "frames", "--budget-mm", "0.15", "--out", "joined.glb"]);
    println!("{told}");
    // All frames share a few morph targets, so there are fewer targets than frames.
    let joined = sinew::asset::Asset::load(folder.join("joined.glb")).unwrap();
    assert!(joined.meshes[0].primitives[0].morphs.len() < 49, "{told}");
    let times = ["0", "0.5", "1"];
    let shapes = times.map(|time| {
        let out = format!("at{time}.obj");
        run(folder, &["deform", "project.glb", "--time", time, "--on", "cpu", "--out", &out]);
        format!("{time}={out}")
    });
    caged(Path::new(file), &folder.join("cage.glb"));
    println!("{}", run(folder, &["save", "cage.glb", "--on", "cpu", "--out", "caged.glb"]));
    // Every key of the cage away from rest is one morph target; at most one more per key mends normals.
    let morphs = sinew::asset::Asset::load(folder.join("caged.glb")).unwrap();
    assert!((2..=5).contains(&morphs.meshes[0].primitives[0].morphs.len()));
    let caged_shapes = times.map(|time| {
        let out = format!("caged{time}.obj");
        run(folder, &["deform", "cage.glb", "--time", time, "--on", "cpu", "--out", &out]);
        format!("{time}={out}")
    });
    let mut checks = vec!["posed.glb", "=posed.obj", "saved.glb", "--clip", NAME];
    checks.extend(shapes.iter().map(String::as_str));
    checks.extend(["joined.glb", "--clip", NAME]);
    checks.extend(shapes.iter().map(String::as_str));
    checks.extend(["caged.glb", "--clip", CAGED]);
    checks.extend(caged_shapes.iter().map(String::as_str));
    blender(folder, &checks);
}
