//! Pinned joints stay where they are while hands pull the body, far or near; Sinew's own human and, where the shared
//! data is, other figures.

use super::*;
use crate::base::NodeId;
use crate::bind::BindOptions;
use crate::editor::Model;
use crate::rig::Pose;
use std::path::{Path, PathBuf};

/// A figure: its file, what is pinned, a hand, the belly, and the height that its reaches are measured in.
struct Figure {
    model: Model,
    pins: Vec<NodeId>,
    hand: NodeId,
    belly: NodeId,
    /// Metres of the world per metre of a person of 1.9 m.
    scale: f32,
}

const HUMAN: (&str, &[&str], &str, &str) =
    ("assets/human.glb", &["LeftFoot", "RightFoot"], "LeftHand", "Spine1");
/// Under the shared data.
const OTHERS: [(&str, &[&str], &str, &str); 5] = [
    ("derived/makehuman_male_8infl.glb", &["foot.L", "foot.R"], "wrist.L", "spine04"),
    ("characters/mannequiny.glb", &["foot.l", "foot.r"], "hand.l", "spine_01"),
    (
        "khronos/CesiumMan/glTF-Binary/CesiumMan.glb",
        &["leg_joint_L_3", "leg_joint_R_3"],
        "Skeleton_arm_joint_L__2_",
        "Skeleton_torso_joint_2",
    ),
    ("characters/quaternius/modular_men/Adventurer.glb", &["Foot.L", "Foot.R"], "Hand.L", "Abdomen"),
    (
        "khronos/Fox/glTF-Binary/Fox.glb",
        &["b_LeftHand_011", "b_RightHand_08", "b_LeftFoot02_018", "b_RightFoot02_022"],
        "b_Head_05",
        "b_Spine01_02",
    ),
];

fn shared(path: &str) -> Option<PathBuf> {
    let root = std::env::var_os("SINEW_DATA").map(PathBuf::from);
    let path =
        root.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data")).join(path);
    if !path.exists() {
        println!("skipped: no shared data ({})", path.display());
    }
    path.exists().then_some(path)
}

impl Figure {
    fn load(path: &Path, (pins, hand, belly): (&[&str], &str, &str)) -> Self {
        let model = Model::load(path, &BindOptions::default()).unwrap();
        let find = |n: &str| model.skeleton().find(n).unwrap_or_else(|| panic!("{n} in {}", path.display()));
        let size = model.bound.character.control.aabb.size();
        let mut pins: Vec<NodeId> = pins.iter().map(|n| find(n)).collect();
        pins.sort_unstable();
        Self { pins, hand: find(hand), belly: find(belly), scale: size.max_element() / 1.9, model }
    }

    fn human() -> Self {
        let (path, pins, hand, belly) = HUMAN;
        Self::load(&Path::new(env!("CARGO_MANIFEST_DIR")).join(path), (pins, hand, belly))
    }

    /// A script at this figure with its pins set.
    fn script(&self, by: GrabBy) -> Script {
        let preferences = Preferences { grab: by, ..Preferences::default() };
        let session = self.model.start(None).unwrap();
        let bench = Workbench::new(session, self.model.bound.character.clone(), preferences);
        let mut s = Script { bench, input: Input { focused: true, ..Input::default() }, frames: Vec::new() };
        s.bench.change(Edit::SetPins(self.pins.clone()));
        assert_eq!(s.bench.session().document().pins(), self.pins, "{:?}", s.bench.notice());
        s.at(0, Vec3::splat(500.0));
        s.at(RIGHT, Vec3::splat(500.0));
        s.step();
        s
    }

    /// A place inside the flesh of a joint's bone.
    fn place(&self, s: &Script, node: NodeId) -> Vec3 {
        let joint = self.model.skeleton().nodes[node.index()].joint.unwrap();
        let bone = self.model.skeleton().bones_of(joint).next().unwrap();
        let bone = s.bench.rig().bones[bone.index()];
        bone.head.lerp(bone.tail, 0.5)
    }
}

/// What must hold in a frame.
struct Check {
    pins: Vec<(NodeId, DVec3, Quat)>,
    lengths: Vec<f32>,
    unit: f32,
}

impl Check {
    fn new(figure: &Figure, s: &Script) -> Self {
        let rig = s.bench.rig();
        let pin = |n: &NodeId| {
            let world = rig.world[n.index()];
            (*n, Vec3::from(world.translation).as_dvec3(), world.to_scale_rotation_translation().1)
        };
        Self {
            pins: figure.pins.iter().map(pin).collect(),
            lengths: lengths(&figure.model, s),
            unit: figure.scale,
        }
    }

    fn off(&self, s: &Script) -> (f32, f32) {
        let (mut off, mut turned) = (0.0_f32, 0.0_f32);
        for (node, at, turn) in &self.pins {
            let world = s.bench.rig().world[node.index()];
            off = off.max((Vec3::from(world.translation).as_dvec3() - at).length() as f32 / self.unit);
            let apart = world.to_scale_rotation_translation().1 * turn.inverse();
            turned = turned.max(2.0 * Vec3::new(apart.x, apart.y, apart.z).length());
        }
        (off, turned)
    }

    fn stretched(&self, figure: &Figure, s: &Script) -> f32 {
        let now = lengths(&figure.model, s);
        now.iter().zip(&self.lengths).map(|(a, b)| (a - b).abs() / self.unit).fold(0.0, f32::max)
    }
}

/// From every joint to its parent joint, but for the topmost ones.
fn lengths(model: &Model, s: &Script) -> Vec<f32> {
    let skeleton = model.skeleton();
    let top =
        skeleton.joints.iter().filter(|j| j.parent.is_some() && !crate::edit::carries_all(skeleton, j.node));
    let at = |n: NodeId| Vec3::from(s.bench.rig().world[n.index()].translation);
    top.map(|j| at(j.node).distance(at(skeleton.joints[j.parent.unwrap().index()].node))).collect()
}

fn far(a: &Pose, b: &Pose, figure: &Figure) -> f32 {
    let (a, b) = (a.world(figure.model.skeleton()), b.world(figure.model.skeleton()));
    let apart =
        |(a, b): (&glam::Affine3A, &glam::Affine3A)| Vec3::from(a.translation - b.translation).length();
    a.iter().zip(&b).map(apart).fold(0.0, f32::max) / figure.scale
}

fn try_out(figure: &Figure, name: &str, by: GrabBy) {
    for (way, node, d) in [
        ("up", figure.hand, Vec3::new(0.0, 0.6, 0.0)),
        ("forward", figure.hand, Vec3::new(0.0, 0.0, 0.5)),
        ("down", figure.hand, Vec3::new(0.0, -0.6, 0.0)),
        ("belly", figure.belly, Vec3::new(0.0, -0.3, 0.0)),
        ("bellyf", figure.belly, Vec3::new(0.0, -0.1, 0.3)),
        ("far", figure.hand, Vec3::new(3.0, 1.0, 0.0)),
    ]
    .into_iter()
    .filter(|w| {
        std::env::var("PINS_WAY").is_ok_and(|v| v.contains(w.0)) || std::env::var("PINS_WAY").is_err()
    }) {
        let mut s = figure.script(by);
        let check = Check::new(figure, &s);
        let start = s.bench.pose().clone();
        let at = figure.place(&s, node);
        s.at(RIGHT, at);
        s.step();
        s.input.hands[RIGHT].grab = 1.0;
        s.step();
        assert!(s.bench.is_busy());
        let (mut off, mut turned, mut long, mut jump) = (0.0_f32, 0.0_f32, 0.0_f32, 0.0_f32);
        let mut last = s.bench.pose().clone();
        let t0 = std::time::Instant::now();
        let mut where_ = 0;
        let frames = (d.length() / 0.01).min(100.0) as usize;
        for k in 0..=frames {
            s.at(RIGHT, at + d * figure.scale * (k as f32 / frames as f32));
            s.step();
            let (o, t) = check.off(&s);
            off = off.max(o);
            turned = turned.max(t);
            long = long.max(check.stretched(figure, &s));
            let j = far(&last, s.bench.pose(), figure);
            if j > jump {
                jump = j;
                where_ = k;
            }
            last = s.bench.pose().clone();
        }
        let ms = t0.elapsed().as_secs_f64() * 1e3 / (frames + 1) as f64;
        jump /= d.length() / frames as f32;
        if let Ok(folder) = std::env::var("PINS_OUT") {
            let file = format!("{folder}/{name}_{way}_{by:?}.json");
            std::fs::write(&file, crate::edit::pose_text(s.bench.pose(), figure.model.skeleton())).unwrap();
        }
        for k in (0..=10).rev() {
            s.at(RIGHT, at + d * figure.scale * (k as f32 / 10.0));
            s.step();
        }
        let back = far(&start, s.bench.pose(), figure);
        s.at(RIGHT, at + Vec3::X * 1e-5 * figure.scale);
        s.step();
        let near = far(&start, s.bench.pose(), figure);
        println!(
            "{name} {by:?} {way}: pins {off:.6} turned {turned:.6} long {long:.6} jump {jump:.4}@{where_} back {back:.6} near {near:.6} {ms:.1} ms"
        );
    }
}

#[test]
fn try_human() {
    try_out(&Figure::human(), "human", GrabBy::Body);
}

#[test]
fn try_others() {
    let only = std::env::var("PINS_ONLY").unwrap_or_default();
    for (path, pins, hand, belly) in OTHERS.into_iter().filter(|o| o.0.contains(&only)) {
        let Some(file) = shared(path) else { continue };
        let name = file.file_stem().unwrap().to_string_lossy().to_string();
        try_out(&Figure::load(&file, (pins, hand, belly)), &name, GrabBy::Body);
    }
}
