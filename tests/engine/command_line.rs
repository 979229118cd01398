//! Wrong command lines give one clear line and the right exit code, and leave no file. These tests need no device.

use crate::common;

use std::path::Path;
use std::process::{Command, Output};

/// Runs the program with arguments separated by spaces; `JOINT` stands for a joint's name, a first `lab` for `sinew-lab`.
fn sinew(folder: &Path, arguments: &str, joint: &str) -> Output {
    let (program, arguments) = match arguments.strip_prefix("lab ") {
        Some(rest) => (env!("CARGO_BIN_EXE_sinew-lab"), rest),
        None => (env!("CARGO_BIN_EXE_sinew"), arguments),
    };
    let mut command = Command::new(program);
    let arguments = arguments.split_whitespace().map(|a| a.replace("JOINT", joint));
    // No display, so that no window opens.
    command.env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY");
    command.current_dir(folder).args(arguments).output().unwrap()
}

/// Returns all files below a folder, with sizes.
fn content(folder: &Path) -> Vec<(String, u64)> {
    let mut out = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().map(|e| e.unwrap()) {
        out.push((entry.path().display().to_string(), entry.metadata().unwrap().len()));
        if entry.path().is_dir() {
            out.extend(content(&entry.path()));
        }
    }
    out.sort();
    out
}

/// Arguments, and words that the error line must contain.
const REFUSED: [(&str, &str); 57] = [
    ("compare ok.glb --bends --rotate JOINT=x:20 --out o", "rotate one joint at a time"),
    ("cage ok.glb --import .", ".: a folder as a cage is not supported; name an .obj or .glb file"),
    ("save ok.glb --budget-mm -1 --out o.glb", "the error budget is not above 0"),
    (
        "deform ok.glb --on cpu --out o.glb --set max_iterations=ten",
        "\"ten\" is not a whole number, 0 or more",
    ),
    ("edit ok.glb", "no window can be opened"),
    ("nope.glb", "no window can be opened"),
    ("inspect none.glb", "none.glb: No such file or directory (os error 2); check the name"),
    ("demo none.glb --out o", "none.glb: No such"),
    ("bind .", ".: not a regular file; name a file"),
    ("demo empty.glb --out o", "empty.glb: JSON: it is empty"),
    ("deform garbage.gltf", "garbage.gltf: JSON"),
    ("compare short.glb --out o", "short.glb: GLB"),
    ("render cut.glb --out o.png", "cut.glb: GLB container"),
    ("inspect model.obj", "neither glTF JSON nor a binary glTF"),
    ("inspect nothing.gltf", "\"asset\" with the version is missing"),
    ("play none.journal --out o", "none.journal: No such"),
    ("play model.obj --out o", "this is no Sinew journal"),
    ("play . --out o", "name a file"),
    ("deform ok.glb --on cpu --out model.obj/o.glb", "a file is in the way"),
    ("deform ok.glb --on cpu --out o.fbx", "end the name of --out in .glb, .gltf, .vrm, .obj or .png"),
    ("deform ok.glb --on cpu --out o", "end the name of --out in"),
    ("render ok.glb --out o.glb", "end the name of --out in .png"),
    ("render ok.glb --out o.png --focus Tail", "there is no node \"Tail\""),
    ("demo ok.glb --out model.obj", "model.obj: File exists (os error 17); a file is in the way"),
    ("compare ok.glb --out model.obj --on cpu", "model.obj: File exists"),
    ("lab generate nope --out o.glb", "choose one of box, plus, human, chibi, golem"),
    ("lab generate box --out model.obj/o.glb", "a file is in the way"),
    ("lab generate box --out .", "name a file"),
    ("deform ok.glb --on cpu --set torsion", "write NAME=VALUE"),
    ("deform ok.glb --on cpu --set nope=1", "springs has no parameter nope; it has surface"),
    ("deform ok.glb --on cpu --set torsion=NaN", "is not a number; give a number"),
    ("deform ok.glb --on cpu --set max_iterations=-1", "-1 is not a whole number, 0 or more"),
    ("deform ok.glb --on cpu --set start=nope", "\"nope\" is no skinning method"),
    ("deform ok.glb --on cpu --clip nope", "the file has no animation"),
    ("deform ok.glb --on cpu --time 1", "choose a clip by --clip"),
    ("deform ok.glb --on cpu --pose none.json", "none.json: No such"),
    ("deform ok.glb --on cpu --pose garbage.gltf", "garbage.gltf: line 1"),
    ("deform ok.glb --on cpu --rotate =", "there is no node"),
    ("deform ok.glb --on cpu --rotate Elbow", "has no '='"),
    ("deform ok.glb --on cpu --rotate Elbow=x:90", "there is no node \"Elbow\""),
    ("deform ok.glb --on cpu --rotate JOINT=x", "has no ':'"),
    ("deform ok.glb --on cpu --rotate JOINT=q:1", "\"q\" is no axis"),
    ("deform ok.glb --on cpu --rotate JOINT=x:NaN", "\"NaN\" is no angle"),
    ("deform ok.glb --on cpu --rotate JOINT=x:1e40", "\"1e40\" is no angle"),
    ("deform twins.glb --on cpu --rotate Twin=x:9", "2 nodes are named \"Twin\"; write "),
    ("fast twins.glb --pin Twin --out o.glb", "2 nodes are named \"Twin\"; write "),
    ("deform twins.glb --on cpu --rotate #99=x:9", "there is no node \"#99\""),
    ("bind ok.glb --smooth 99", "ask for at most 10"),
    ("deform ok.glb --out ok.glb", "ok.glb: the output would replace the input; give --out another path"),
    ("fast ok.glb --out ./ok.glb", "the output would replace the input"),
    ("bind ok.glb --weights heat --out ok.glb", "the output would replace the input"),
    ("rig ok.glb --bones twice.json --out ok.glb", "the output would replace the input"),
    ("save ok.glb --out ok.glb", "the output would replace the input"),
    ("bind project.glb --weights heat --out o.glb", "project.glb: the new file would not contain the edits"),
    (
        "rig project.glb --bones twice.json --out o.glb",
        "project.glb: the new file would not contain the edits",
    ),
    (
        "rig ok.glb --bones twice.json --out o.glb",
        "twice.json: bones: bone 1: the name \"A\" is empty or repeated",
    ),
    ("compare ok.glb --methods lbs,nope --out o --on cpu", "\"nope\" is no deformation method"),
];

/// Arguments that the parser rejects.
const USAGE: [(&str, &str); 14] = [
    ("bind ok.glb --weights heat --out a.glb --project o.glb", "cannot be used with"),
    ("deform ok.glb --clip Walk --time -5", "write a number of seconds, 0 or more"),
    ("export ok.glb", "there is no command 'export'"),
    ("", "Usage"),
    ("frob", "unrecognized subcommand or file 'frob'"),
    ("demo a b", "unexpected argument"),
    ("deform ok.glb --method nurbs", "choose one of rigid, lbs"),
    ("deform ok.glb --clip 0 --time NaN", "write a number of seconds, 0 or more"),
    ("deform ok.glb --clip 0 --time inf", "write a number of seconds, 0 or more"),
    ("render ok.glb --out o.png --size 0x0", "write WIDTHxHEIGHT"),
    ("render ok.glb --out o.png --size axb", "write WIDTHxHEIGHT"),
    ("render ok.glb --out o.png --yaw NaN", "write a finite number"),
    ("render ok.glb --out o.png --zoom 0", "give a number above 0"),
    ("bind ok.glb --smooth=-1", "-1 is not in"),
];

/// Returns a character with two joints named `Twin`.
fn twins() -> Vec<u8> {
    let asset = common::generated();
    let mut builder = sinew::export::Builder::of(&asset).unwrap();
    for joint in &asset.skins[0].joints[1..3] {
        builder.json["nodes"][joint.index()]["name"] = "Twin".into();
    }
    builder.glb().unwrap()
}

#[test]
fn one_of_two_joints_of_a_name_is_chosen_by_path_or_index() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path();
    std::fs::write(folder.join("twins.glb"), twins()).unwrap();
    let asset = common::generated();
    let [first, second] = [1, 2].map(|j| asset.skins[0].joints[j].index());
    let above = &asset.nodes[asset.skins[0].joints[0].index()].name;
    let shape = |joint: &str| -> String {
        let arguments = ["deform", "twins.glb", "--on", "cpu", "--json", "--method", "lbs", "--rotate"];
        let mut command = Command::new(env!("CARGO_BIN_EXE_sinew"));
        let turn = format!("{joint}=x:60");
        let out = command.current_dir(folder).args(arguments).arg(turn).output().unwrap();
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
        let mut json: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
        json["stages_ms"] = serde_json::Value::Null;
        json.to_string()
    };
    assert_eq!(shape(&format!("{above}/Twin")), shape(&format!("#{first}")));
    assert_eq!(shape("Twin/Twin"), shape(&format!("#{second}")));
    assert_ne!(shape("Twin/Twin"), shape(&format!("{above}/Twin")));
}

/// Output that cannot be written is an error at the end; a closed pipe is not an error.
#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_behind_standard_output_is_told() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path();
    std::fs::write(folder.join("ok.glb"), sinew::export::unedited(&common::generated()).unwrap()).unwrap();
    let lines = [
        "inspect ok.glb",
        "inspect ok.glb --json",
        "bind ok.glb",
        "deform ok.glb --on cpu",
        "save ok.glb --on cpu --out o.glb",
        "fast ok.glb --json",
        "recover",
    ];
    for line in lines {
        let run = |to: std::process::Stdio| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_sinew"));
            command.current_dir(folder).env("XDG_STATE_HOME", folder).env("XDG_CACHE_HOME", folder);
            command.args(line.split(' ')).stdout(to).stderr(std::process::Stdio::piped());
            command.output().unwrap()
        };
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let out = run(full.into());
        let text = String::from_utf8_lossy(&out.stderr);
        assert_eq!(out.status.code(), Some(1), "{line}: {text}");
        assert!(text.contains("standard output: No space left on device"), "{line}: {text}");
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let out = run(writer.into());
        assert!(out.status.success() && out.stderr.is_empty(), "{line}: {out:?}");
    }
}

/// Opening a file does not need the user's folders.
#[test]
fn without_a_home_files_are_opened_all_the_same() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path();
    std::fs::write(folder.join("ok.glb"), sinew::export::unedited(&common::generated()).unwrap()).unwrap();
    for line in ["inspect ok.glb", "bind ok.glb", "deform ok.glb --on cpu --out o.gltf", "inspect o.gltf"] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sinew"));
        let names =
            ["HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR", "APPDATA"];
        for name in names {
            command.env_remove(name);
        }
        let out = command.current_dir(folder).args(line.split(' ')).output().unwrap();
        assert!(out.status.success(), "{line}: {}", String::from_utf8_lossy(&out.stderr));
    }
}

#[test]
fn bad_command_lines_are_refused_in_one_line_and_leave_nothing() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path();
    let good = sinew::export::unedited(&common::generated()).unwrap();
    let joint = common::generated().nodes[2].name.clone();
    let twins = twins();
    let bone = r#"{"name": "A", "head": [0, 0, 0], "tail": [0, 1, 0]}"#;
    let twice = format!("[{bone}, {bone}]");
    for (name, bytes) in [
        ("ok.glb", &good[..]),
        ("twins.glb", &twins),
        ("cut.glb", &good[..good.len() / 2]),
        ("empty.glb", b""),
        ("garbage.gltf", b"{garbage"),
        ("short.glb", b"glTFxxxx"),
        ("model.obj", b"v 0 0 0\n"),
        ("nothing.gltf", b"{}"),
        ("twice.json", twice.as_bytes()),
        ("project.glb", include_bytes!("../fixtures/box-project.glb")),
    ] {
        std::fs::write(folder.join(name), bytes).unwrap();
    }
    assert!(sinew(folder, "bind ok.glb", &joint).status.success());
    let before = content(folder);
    let (refused, usage) = (REFUSED.iter().map(|r| (r, 1)), USAGE.iter().map(|r| (r, 2)));
    for ((arguments, words), code) in refused.chain(usage) {
        let out = sinew(folder, arguments, &joint);
        let text = String::from_utf8_lossy(&out.stderr);
        assert_eq!(out.status.code(), Some(code), "{arguments}: {text}");
        assert!(text.contains(words), "{arguments}: {text}");
        assert!(code == 2 || text.lines().count() == 1 && text.starts_with("sinew"), "{arguments}: {text}");
        assert!(out.stdout.is_empty(), "{arguments}");
        assert_eq!(content(folder), before, "{arguments} leaves something behind");
    }
}

#[test]
fn cages_that_do_not_fit_are_refused_and_write_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    std::fs::write(folder.join("ok.glb"), sinew::export::unedited(&common::generated()).unwrap()).unwrap();
    // A box as quads, from one corner to the other, with a face list that each case changes.
    let cube = |from: [f32; 3], to: [f32; 3]| -> Vec<String> {
        let corner =
            |k: usize| -> [f32; 3] { std::array::from_fn(|a| if k >> a & 1 == 1 { to[a] } else { from[a] }) };
        let v = (0..8).map(corner).map(|x| format!("v {} {} {}", x[0], x[1], x[2]));
        let f = ["1 3 4 2", "5 6 8 7", "1 2 6 5", "3 7 8 4", "1 5 7 3", "2 4 8 6"].map(|f| format!("f {f}"));
        v.chain(f).collect()
    };
    let around = cube([-0.5, -0.5, -0.5], [0.5, 2.5, 0.5]);
    let with = |line: usize, text: &str| {
        let mut lines = around.clone();
        lines[line] = text.into();
        lines
    };
    let many: Vec<String> = (0..1250)
        .flat_map(|k| {
            let at = k as f32 * 0.01;
            cube([at, 3.0, 0.0], [at + 0.005, 3.1, 0.1]).into_iter().take(8)
        })
        .chain(around[8..].iter().cloned())
        .collect();
    let cases: [(&str, Vec<String>, &str); 8] = [
        ("open", around[..13].to_vec(), "1 face"),
        ("small", cube([-0.05, 0.5, -0.05], [0.05, 0.9, 0.05]), "outside"),
        ("twice", with(8, "f 1 3 4 4"), "has vertex 3 twice"),
        ("doubled", [around.clone(), vec!["v 0.5 2.5 0.5".into()]].concat(), "vertex 8 belongs to no face"),
        ("crossing", with(7, "v -1 -1 -1"), "cross or touch"),
        ("number", with(3, "v 1 nan 0"), "number.obj"),
        ("missing", with(9, "f 5 6 8 99"), "missing.obj"),
        ("many", many, "more than 500"),
    ];
    for (name, lines, words) in &cases {
        std::fs::write(folder.join(format!("{name}.obj")), lines.join("\n")).unwrap();
        let before = content(folder);
        let line = format!("cage ok.glb --import {name}.obj --on cpu --out o.glb --obj o.obj");
        let out = sinew(folder, &line, "");
        let error = String::from_utf8(out.stderr).unwrap();
        assert!(!out.status.success() && error.contains(words) && error.contains("; "), "{name}: {error}");
        assert!(error.contains(&format!("{name}.obj: ")), "{name}: {error}");
        assert_eq!(content(folder), before, "{name}");
    }
    // The box itself fits, and so does the box inside out, with a note; a move must name a vertex of the cage.
    std::fs::write(folder.join("good.obj"), around.join("\n")).unwrap();
    let good = sinew(folder, "cage ok.glb --import good.obj --on cpu --out o.glb", "");
    assert!(good.status.success(), "{}", String::from_utf8_lossy(&good.stderr));
    let inverted: Vec<String> = around
        .iter()
        .map(|l| match l.strip_prefix("f ") {
            Some(f) => format!("f {}", f.split(' ').rev().collect::<Vec<_>>().join(" ")),
            None => l.clone(),
        })
        .collect();
    std::fs::write(folder.join("inverted.obj"), inverted.join("\n")).unwrap();
    let told = sinew(folder, "cage ok.glb --import inverted.obj --on cpu", "");
    let text = String::from_utf8(told.stdout).unwrap();
    assert!(told.status.success() && text.contains("inside out"), "{text}");
    for (moved, words) in
        [("8=0,0,1", "from 0 to 7"), ("1=0,x,1", "VERTEX=X,Y,Z"), ("1=nan,0,0", "endlessly far")]
    {
        let out = sinew(folder, &format!("cage o.glb --move {moved} --on cpu --out p.glb"), "");
        let error = String::from_utf8(out.stderr).unwrap();
        assert!(!out.status.success() && error.contains(words), "{moved}: {error}");
        assert!(!folder.join("p.glb").exists());
    }
}
