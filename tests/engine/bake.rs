//! `sinew bake`: killed, continued, joined.

use crate::common;

use sinew::asset::{Interpolation, Property};
use sinew::base::math::Quat;
use sinew::bind::BindOptions;
use sinew::document::{Channel, DeformerSettings, Edit, KeyEdit, Slot, Target};
use sinew::project::bake::Bake;
use sinew::scene::Model;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// Returns a project of a capsule that bends over five seconds, with springs that take many iterations.
fn project(path: &Path) {
    let model = Model::bind(common::generated(), &BindOptions::default(), Duration::ZERO).unwrap();
    let mut session = model.start(None).unwrap();
    let parameters = [("max_iterations".to_owned(), 200.into()), ("stop".to_owned(), "never".into())];
    let springs = DeformerSettings { method: "springs".into(), parameters: parameters.into() };
    session.apply(Edit::SetDeformer(springs)).unwrap();
    let channel = Channel {
        target: Target::node(model.skeleton().joints[2].node, Property::Rotation),
        interpolation: Interpolation::Linear,
        times: vec![0.0, 2.5, 5.0],
        values: [0.0, 1.6, -0.8].map(|a| Quat::from_rotation_x(a).to_array()).concat(),
    };
    let slot = Slot { target: channel.target.clone(), channel: Some(channel) };
    session.apply(Edit::Keys(KeyEdit::Channels(vec![slot]))).unwrap();
    let json = serde_json::to_value(session.document()).unwrap();
    sinew::export::project::save(path, &model.asset, &model.rest(), &json).unwrap();
}

fn sinew(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sinew"));
    command.current_dir(folder).args(arguments).stdin(Stdio::null());
    command
}

fn run(folder: &Path, arguments: &[&str]) -> String {
    let out = sinew(folder, arguments).output().unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout).unwrap()
}

/// Returns the finished frames with their modification times.
fn finished(folder: &Path) -> BTreeMap<String, (std::time::SystemTime, Vec<u8>)> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let frames = entries.filter(|e| e.file_name().to_string_lossy().starts_with("frame_"));
    frames
        .filter_map(|e| {
            let name = e.file_name().to_string_lossy().into_owned();
            Some((name, (e.metadata().ok()?.modified().ok()?, std::fs::read(e.path()).ok()?)))
        })
        .collect()
}

#[test]
fn a_killed_bake_goes_on_without_redoing_finished_frames() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    project(&folder.join("p.glb"));
    let arguments = ["bake", "p.glb", "--frames", "1-40", "--fps", "24", "--on", "cpu", "--out", "a"];
    let mut kept = BTreeMap::new();
    for least in [2, 9] {
        let mut child =
            sinew(folder, &arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        while finished(&folder.join("a")).len() < least {
            assert!(child.try_wait().unwrap().is_none(), "the bake ended before it could be killed");
            std::thread::yield_now();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let after = finished(&folder.join("a"));
        for (name, frame) in &kept {
            assert_eq!(&after[name], frame, "{name} was written again");
        }
        kept = after;
    }
    assert!(kept.len() < 40);
    let told = run(folder, &arguments);
    assert!(told.contains(&format!("{} baked, {} were there", 40 - kept.len(), kept.len())), "{told}");
    let all = finished(&folder.join("a"));
    assert_eq!(all.len(), 40);
    for (name, frame) in &kept {
        assert_eq!(&all[name], frame, "{name} was written again");
    }
    // The bytes equal those of a bake without a kill and with other ranges.
    for range in ["31-40", "1-30"] {
        run(folder, &["bake", "p.glb", "--frames", range, "--fps", "24", "--on", "cpu", "--out", "b"]);
    }
    let undisturbed = finished(&folder.join("b"));
    assert!(all.iter().map(|(n, f)| (n, &f.1)).eq(undisturbed.iter().map(|(n, f)| (n, &f.1))));

    let told = run(folder, &["bake", "--join", "a", "--budget-mm", "0.5", "--out", "j.glb"]);
    assert!(told.contains("frames 1-40") && told.contains("morph targets"), "{told}");
    let clip = sinew::asset::Asset::load(folder.join("j.glb")).unwrap().clips.remove(0);
    assert!((clip.duration() - 39.0 / 24.0).abs() < 1e-5);
    assert_eq!(Bake::open(&folder.join("a")).unwrap().frames().unwrap().len(), 40);

    let wrong = |arguments: &[&str]| {
        let out = sinew(folder, arguments).output().unwrap();
        assert!(!out.status.success());
        String::from_utf8(out.stderr).unwrap()
    };
    assert!(wrong(&["bake", "p.glb", "--frames", "9-3"]).contains("FIRST-LAST"));
    assert!(wrong(&["bake", "--join", "nowhere"]).contains("bake.json"));
    assert!(
        wrong(&["bake", "p.glb", "--fps", "30", "--frames", "1", "--on", "cpu", "--out", "a"])
            .contains("another project, rate")
    );
}
