//! Every reading command opens every file that a writing command writes, for Sinew's own characters and all methods. The
//! opened file has the written shape.

use sinew::base::math::{Aabb, Vec3};
use sinew::deform::Recipe;
use std::path::Path;
use std::process::Command;

/// One of Sinew's own characters and the arguments of the commands for it.
struct Subject {
    name: &'static str,
    /// Joint rotations in the format of `--rotate`.
    pose: [&'static str; 2],
    /// Bone for a ring in the format of `--edit ring=`.
    ring: &'static str,
    pin: &'static str,
    grab: &'static str,
    /// Name of a clip in the character's file.
    clip: Option<&'static str>,
    methods: &'static [&'static str],
}

const ALL: &[&str] = &Recipe::NAMES;

const SUBJECTS: [Subject; 4] = [
    Subject {
        name: "box",
        pose: ["Bone2=x:50", "Bone3=y:70"],
        ring: "Bone2",
        pin: "Bone1",
        grab: "Bone4",
        clip: None,
        methods: ALL,
    },
    Subject {
        name: "plus",
        pose: ["Left2=z:50", "Up1=x:40"],
        ring: "Left2",
        pin: "Center",
        grab: "Left4",
        clip: None,
        methods: ALL,
    },
    Subject {
        name: "human",
        pose: ["LeftLowerArm=y:-90", "Spine1=x:20"],
        ring: "LeftUpperArm",
        pin: "Hips",
        grab: "LeftHand",
        clip: Some("Wave"),
        methods: &["springs"],
    },
    Subject {
        name: "chibi",
        pose: ["LeftLowerArm=y:-70", "Head=y:30"],
        ring: "RightUpperArm",
        pin: "Hips",
        grab: "RightHand",
        // Saving a clip takes seconds. The human's clip passes all commands.
        clip: None,
        methods: &["springs"],
    },
];

/// Runs the program in a folder. Spaces separate the arguments; `~` stands for a space inside an argument.
fn sinew(folder: &Path, arguments: &str) {
    let words = arguments.split_whitespace().map(|a| a.replace('~', " "));
    let out = Command::new(env!("CARGO_BIN_EXE_sinew")).current_dir(folder).args(words).output().unwrap();
    let error = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success(), "sinew {arguments}: {error}");
}

/// Returns the vertices of an .obj file.
fn vertices(path: &Path) -> Vec<Vec3> {
    let text = std::fs::read_to_string(path).unwrap();
    let numbers = |line: &str| {
        let mut numbers = line.split_whitespace().map(|n| n.parse::<f32>().unwrap());
        Vec3::from_array(std::array::from_fn(|_| numbers.next().unwrap()))
    };
    text.lines().filter_map(|l| l.strip_prefix("v ")).map(numbers).collect()
}

/// Returns the largest distance between two shapes over the diagonal of the first shape.
fn apart(a: &Path, b: &Path) -> f32 {
    let (a, b) = (vertices(a), vertices(b));
    assert_eq!(a.len(), b.len());
    let largest = a.iter().zip(&b).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max);
    largest / Aabb::of(a.iter().copied()).diagonal()
}

/// A written file, and an .obj file of the written shape.
struct Written {
    file: String,
    shape: String,
    /// Options with which a project shows that shape; mostly none, because it has its own method and motion. `None` for
    /// an exported file.
    shown: Option<&'static str>,
}

/// Runs every command that writes a glTF file.
fn write(at: &Path, s: &Subject) -> Vec<Written> {
    let (name, turn) = (s.name, format!("--rotate {} --rotate {}", s.pose[0], s.pose[1]));
    let mut out = Vec::new();
    for method in s.methods {
        let deform = format!("deform {name}.glb --method {method} --on cpu {turn}");
        sinew(at, &format!("{deform} --out {method}.obj"));
        sinew(at, &format!("{deform} --out {method}.glb"));
        out.push(Written { file: format!("{method}.glb"), shape: format!("{method}.obj"), shown: None });
    }
    let edit = format!("--edit ring={}@0.5~profile=even~amount=0.4", s.ring);
    sinew(at, &format!("sculpt {name}.glb {edit} {turn} --on cpu --out sculpted.glb"));
    sinew(at, "deform sculpted.glb --on cpu --out sculpted.obj");
    out.push(Written { file: "sculpted.glb".into(), shape: "sculpted.obj".into(), shown: Some("") });
    sinew(at, "save sculpted.glb --on cpu --out saved.glb");
    out.push(Written { file: "saved.glb".into(), shape: "sculpted.obj".into(), shown: Some("") });
    sinew(at, "bake sculpted.glb --frames 0-0 --on cpu --out frames");
    sinew(at, "bake --join frames --out joined.glb");
    out.push(Written { file: "joined.glb".into(), shape: "sculpted.obj".into(), shown: None });
    // A cage on top of the ring and the pose; then keys of the cage.
    let moves = "--move 5=0.1,0.02,0 --move 20=0,0.05,-0.1";
    sinew(at, &format!("cage sculpted.glb --make 40 {moves} --on cpu --out caged.glb"));
    sinew(at, "deform caged.glb --on cpu --out caged.obj");
    let moved = apart(&at.join("sculpted.obj"), &at.join("caged.obj"));
    assert!(moved > 1e-3, "{name}: the cage moves the skin by {moved} of its size");
    out.push(Written { file: "caged.glb".into(), shape: "caged.obj".into(), shown: Some("") });
    sinew(at, "save caged.glb --on cpu --out saved_cage.glb");
    out.push(Written { file: "saved_cage.glb".into(), shape: "caged.obj".into(), shown: Some("") });
    sinew(at, "cage caged.glb --move 5=0,0,0 --key 1 --on cpu --out first.glb");
    sinew(at, "cage first.glb --move 5=0.2,0,0 --key 0 --on cpu --out keyed_cage.glb");
    sinew(at, "deform keyed_cage.glb --time 0 --on cpu --out keyed_cage.obj");
    let moved = apart(&at.join("caged.obj"), &at.join("keyed_cage.obj"));
    assert!(moved > 1e-3, "{name}: the key moves the skin by {moved} of its size");
    out.push(Written {
        file: "keyed_cage.glb".into(),
        shape: "keyed_cage.obj".into(),
        shown: Some("--time 0"),
    });
    sinew(at, "bake keyed_cage.glb --frames 0-2 --fps 2 --on cpu --out cage_frames");
    sinew(at, "bake --join cage_frames --out joined_cage.glb");
    out.push(Written { file: "joined_cage.glb".into(), shape: "keyed_cage.obj".into(), shown: None });
    if let Some(clip) = s.clip {
        sinew(at, &format!("save {name}.glb --clip {clip} --on cpu --out moving.glb"));
        sinew(at, "deform moving.glb --time 0 --on cpu --out moving.obj");
        out.push(Written { file: "moving.glb".into(), shape: "moving.obj".into(), shown: Some("--time 0") });
        sinew(at, "bake moving.glb --frames 0-2 --fps 5 --on cpu --out moving");
        sinew(at, "bake --join moving --budget-mm 1 --out budget.glb");
        out.push(Written { file: "budget.glb".into(), shape: "moving.obj".into(), shown: None });
    }
    out
}

/// Opens a file with every reading command, and opens the files that these commands write.
fn read(at: &Path, s: &Subject, written: &Written, device: bool) {
    let Written { file, shape, shown } = written;
    sinew(at, &format!("inspect {file}"));
    sinew(at, &format!("deform {file} {} --on cpu --out back.obj", shown.unwrap_or_default()));
    let off = apart(&at.join(shape), &at.join("back.obj"));
    // A single file uses a budget of 1 mm. All characters are at least a metre tall.
    let limit = if file == "budget.glb" { 2e-3 } else { 1e-4 };
    assert!(off < limit, "{}: {file} comes back {off} of its size off", s.name);
    let project = shown.is_some();
    // Files of different methods differ only in their morph targets, so one file per character passes all commands. Of
    // the files with a cage, the one with keys passes all commands.
    let still_cage = ["caged.glb", "saved_cage.glb"].contains(&file.as_str());
    if still_cage || !project && file != "springs.glb" {
        return;
    }
    let (turn, pin, grab) = (s.pose[0], s.pin, s.grab);
    sinew(at, &format!("bind {file} --json"));
    sinew(at, &format!("deform {file} --on cpu --rotate {turn} --out second.glb"));
    sinew(at, &format!("fast {file} --pin {pin} --grab {grab}=+0.01,0,0.01 --out third.glb"));
    let mut seconds = vec!["second.glb", "third.glb"];
    // A file with a clip is itself an output of `save`, which evaluates all frames of the clip.
    if file != "moving.glb" {
        sinew(at, &format!("save {file} --on cpu --out fourth.glb"));
        // A project keeps the method of the file's corrections, or of the project before.
        sinew(at, &format!("deform fourth.glb {} --on cpu --out fourth.obj", shown.unwrap_or_default()));
        let off = apart(&at.join(shape), &at.join("fourth.obj"));
        assert!(off < limit, "{}: a project of {file} is {off} of its size off", s.name);
        seconds.push("fourth.glb");
    }
    for second in seconds {
        sinew(at, &format!("deform {second} --method lbs --on cpu"));
    }
    if device {
        sinew(at, &format!("render {file} --size 64x64 --out picture.png"));
        sinew(at, &format!("compare {file} --methods lbs --on cpu --out compared"));
    }
    // Playing draws every kind of picture; one character with several meshes and one without a clip pass it.
    if device && file == "saved.glb" && ["box", "human"].contains(&s.name) {
        sinew(at, &format!("play {file} --out played"));
    }
}

/// Writes and opens all files of one character.
fn check(name: &str) {
    let device = sinew::gpu::Device::new(&Default::default()).is_ok();
    if !device {
        sinew::base::testing::skip("gpu", "there is no Vulkan device for pictures of what was written");
    }
    let subject = SUBJECTS.iter().find(|s| s.name == name).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("assets/{name}.glb"));
    std::fs::copy(own, at.join(format!("{name}.glb"))).unwrap();
    for written in write(at, subject) {
        // Rendering is the slowest step, so only three files are rendered.
        let drawn = device && ["springs.glb", "saved.glb", "budget.glb"].contains(&written.file.as_str());
        read(at, subject, &written, drawn);
    }
}

// One test per character, so that they run at the same time.

#[test]
fn whatever_a_command_writes_of_the_human_every_command_opens() {
    check("human");
}

#[test]
fn whatever_a_command_writes_of_the_chibi_every_command_opens() {
    check("chibi");
}

#[test]
fn whatever_a_command_writes_of_the_box_every_command_opens() {
    check("box");
}

#[test]
fn whatever_a_command_writes_of_the_plus_every_command_opens() {
    check("plus");
}
