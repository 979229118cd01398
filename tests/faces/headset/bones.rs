//! Bare meshes are rigged by strokes: bones are drawn inside the mesh, and the rigged character opens.

use super::bed::Runtime;
use super::details::Details;
use super::review::press;
use super::shaping::AT_PALETTE;
use super::stage::{Session, differing};
use sinew::app::report::Event;
use sinew::asset::Asset;
use sinew::base::math::Vec3;
use sinew::bind::{BindOptions, Character};
use sinew::export::RigBone;
use sinew::lab::rigging::{Agreement, agreement, empty_joints, nearest_nodes, strip};
use sinew::pose::BoneChain;
use sinew::rig::{Axis, PosedRig, rotate_joint};
use sinew::scene::{Model, SkinColors};
use sinew::ui::Section;
use sinew::ui::palette::Spot;
use sinew::workbench::{Command, Tool};
use std::path::{Path, PathBuf};

/// Chains shorter than this fraction of the diagonal of the character's bounding box are not drawn: faces, fingers.
const SHORT: f32 = 0.09;
/// Maximum number of times that a test waits for 100 frames until the weights are computed.
const MOST_WAITS: usize = 200;
/// Maximum number of bones per stroke.
const MOST: usize = 5;

/// Returns the polylines along the bones of a skeleton, longest first: each follows the child with the longest way to a leaf.
/// Chains that leave others begin at their own first joint.
fn chains(bones: &[RigBone], short: f32) -> Vec<Vec<Vec3>> {
    let at = |k: usize| Vec3::from(bones[k].head);
    let children = |k: usize| -> Vec<usize> {
        let of = |b: &RigBone| b.parent.as_deref() == Some(bones[k].name.as_str());
        (0..bones.len()).filter(|&c| of(&bones[c])).collect()
    };
    fn reach(k: usize, at: &dyn Fn(usize) -> Vec3, children: &dyn Fn(usize) -> Vec<usize>) -> f32 {
        let far = |c: usize| at(k).distance(at(c)) + reach(c, at, children);
        children(k).into_iter().map(far).fold(0.0, f32::max)
    }
    let mut out = Vec::new();
    let mut starts: Vec<usize> = (0..bones.len()).filter(|&k| bones[k].parent.is_none()).collect();
    while let Some(start) = starts.pop() {
        let (mut line, mut k) = (vec![at(start)], start);
        loop {
            let mut next = children(k);
            next.sort_by(|a, b| {
                let far = |c: usize| at(k).distance(at(c)) + reach(c, &at, &children);
                far(*a).total_cmp(&far(*b))
            });
            let Some(longest) = next.pop() else { break };
            starts.extend(next);
            k = longest;
            line.push(at(k));
        }
        line.push(Vec3::from(bones[k].tail));
        line.dedup_by(|b, a| a.distance(*b) < 1e-3 * short);
        out.push(line);
    }
    let length = |line: &[Vec3]| line.windows(2).map(|p| p[0].distance(p[1])).sum::<f32>();
    out.retain(|line| length(line) > short);
    out.sort_by(|a, b| length(b).total_cmp(&length(a)));
    out
}

/// A character without bones, in a session of its own.
struct Bare {
    character: Character,
    bones: Vec<RigBone>,
    runtime: Runtime,
    session: Session,
}

impl Bare {
    fn new(file: &Path) -> Option<Self> {
        let asset = Asset::load(file).unwrap();
        let character = Character::from_asset(&asset).unwrap();
        let stripped = strip(&asset, &character).unwrap();
        let (runtime, session) = Session::start_with("bare.glb", &stripped.glb, &[])?;
        Some(Self { character, bones: stripped.bones, runtime, session })
    }

    /// Returns the chains of bones to draw in the bare mesh. Its unit may differ from the unit of the character's bind
    /// pose.
    fn chains(&self, bare: &Model) -> Vec<Vec<Vec3>> {
        chains(&self.bones, SHORT * bare.bound.character.control.aabb.diagonal())
    }

    /// Draws a line with the right hand and waits until its bones are in the document.
    fn draw(&mut self, line: &[Vec3]) {
        let s = &mut self.session;
        let steps = s.app.frame.history[0];
        let from = s.tip(line[0]);
        s.play(&format!("right turn 0 0 0\nright at {from}\nwait 0.07\nright trigger 1"));
        for point in &line[1..] {
            let to = s.tip(*point);
            s.play(&format!("right at {to} over 0.3"));
        }
        s.play("right trigger 0");
        s.app.until_frame(3000, "with the drawn bones", |f| f.history[0] == steps + 1);
    }

    /// Rigs the mesh in the details panel and returns the rigged file. Waits until it is open.
    fn rig(&mut self) -> PathBuf {
        let s = &mut self.session;
        s.play(AT_PALETTE);
        let details = Details::open(s, &self.runtime, Section::Rig);
        let bones: usize = details.bench.session().document().bones().iter().map(BoneChain::bones).sum();
        let seen = s.app.events.len();
        details.press(s, &Spot::Text(format!("Rig the mesh by {bones} bones")));
        // The weights of many joints take minutes in a build that is not optimised for speed, so frames are counted.
        let rigged = |e: &Event| match e {
            Event::Written(path) if path.to_string_lossy().contains("rigged") => Some(path.clone()),
            Event::Failed(problem) => panic!("{problem}"),
            _ => None,
        };
        let found = (0..MOST_WAITS).find_map(|_| {
            s.app.frames(100);
            s.app.events[seen..].iter().find_map(rigged)
        });
        let path = found.expect("no rigged character");
        let opened = |e: &Event| matches!(e, Event::Loaded(p) if *p == path).then_some(());
        if s.app.events[seen..].iter().find_map(opened).is_none() {
            s.app.event("it is open", opened);
        }
        s.app.frames(10);
        press(s, None, &Spot::Command(Command::Details));
        if path.is_absolute() { path } else { self.runtime.path("").join(path) }
    }

    /// Checks the rigged file and compares its weights with the removed ones.
    fn check(&self, path: &Path) -> Agreement {
        let new = Character::from_asset(&Asset::load(path).unwrap()).unwrap();
        let node_of = nearest_nodes(&self.character, &new);
        let out = agreement(&self.character, &new, &node_of).unwrap();
        assert_eq!((empty_joints(&new), out.weightless), (0, 0), "{}", path.display());
        out
    }
}

#[test]
fn a_bare_mesh_is_rigged_by_strokes_and_posed() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/human.glb");
    let Some(mut bare) = Bare::new(&file) else { return };
    let mut drawn = 0;
    bare.session.app.press(Command::Tool(Tool::Bone));
    bare.session.app.press(Command::Mirror(true));
    // Only the middle and the left side: the mirrored strokes give the right side.
    let chains: [&[&str]; 4] = [
        &["Hips", "Spine", "Spine1", "Chest", "Neck", "Head"],
        &["LeftUpperArm", "LeftLowerArm", "LeftHand", "LeftMiddle1"],
        &["LeftUpperLeg", "LeftLowerLeg", "LeftFoot"],
        &["LeftFoot", "LeftToes"],
    ];
    for chain in chains {
        let head = |name: &&str| Vec3::from(bare.bones.iter().find(|b| b.name == **name).unwrap().head);
        let line: Vec<Vec3> = chain.iter().map(head).collect();
        let bones = line.len() - 1;
        bare.session.app.press(Command::BonesPerStroke(bones as u32));
        let central = line.iter().all(|p| p.x.abs() < 0.02);
        // The hand draws beside the bones; the stroke is centred.
        let beside: Vec<Vec3> = line.iter().map(|p| *p + Vec3::new(0.01, -0.005, 0.015)).collect();
        bare.draw(&beside);
        drawn += if central { bones } else { 2 * bones };
    }
    bare.session.app.frames(3);
    bare.session.app.picture("bones_drawn");
    // A stroke in the air gives no bones, and the message says why.
    let hash = bare.session.app.hash();
    bare.session.line("right", Vec3::new(2.0, 1.0, 1.0), Vec3::new(2.0, 1.5, 1.0));
    bare.session.app.event("the refusal", |e| {
        matches!(e, Event::Failed(m) if m.contains("not in the body")).then_some(())
    });
    assert_eq!(bare.session.app.hash(), hash);

    let path = bare.rig();
    let told = bare.check(&path);
    println!(
        "{} bones: rms {:.2}, at most {:.1} thousandths of the height",
        drawn,
        told.mean * 1e3,
        told.most * 1e3
    );
    assert!(told.mean < 0.01, "{told:?}");
    let model = Model::load(&path, &BindOptions::default()).unwrap();
    assert_eq!(model.skeleton().joints.iter().filter(|j| j.skinned).count(), drawn);
    // The bones lie where the removed ones were.
    let rig = PosedRig::new(model.skeleton(), &model.rest());
    let old: Vec<Vec3> = bare.bones.iter().flat_map(|b| [b.head.into(), b.tail.into()]).collect();
    for bone in &rig.bones {
        let off = old.iter().map(|p| p.distance(bone.head)).fold(f32::INFINITY, f32::min);
        assert!(off < 0.12, "a joint is {off} m from any of the removed ones: {}", bone.head);
    }
    // The rigged character can be bent like any other, and its weights show as colours.
    let limb = rig.bones.iter().max_by(|a, b| a.head.distance(a.tail).total_cmp(&b.head.distance(b.tail)));
    let node = {
        let bone = rig.bones.iter().position(|b| Some(b.head) == limb.map(|l| l.head)).unwrap();
        model.skeleton().joints[model.skeleton().bones[bone].parent.index()].node
    };
    let mut pose = model.rest();
    rotate_joint(model.skeleton(), &mut pose, node, &[(Axis::X, 40.0)]).unwrap();
    bare.session.app.frames(3);
    let plain = bare.session.app.picture("bones_rigged");
    bare.session.app.press(Command::Colors(SkinColors::Weights));
    bare.session.app.frames(3);
    let colored = bare.session.app.picture("bones_weights");
    assert!(differing(&plain, &colored) > 2000, "the weights are not shown");
    bare.session.app.quit();
    assert_eq!(bare.runtime.findings(), "");
}

/// Takes about 13 minutes: `cargo test --test faces -- --ignored twelve`.
#[test]
#[ignore = "takes minutes; run it after changes of the bone tool or the weights"]
fn twelve_bare_meshes_are_rigged_by_strokes() {
    let data = PathBuf::from(std::env::var("SINEW_DATA").unwrap_or_else(|_| "../shared/data".into()));
    let files = [
        "derived/makehuman_male_4infl.glb",
        "derived/valid_Black_M_1_Casual_plain.glb",
        "derived/armadillo_19joints_180k.glb",
        "khronos/CesiumMan/glTF-Binary/CesiumMan.glb",
        "khronos/Fox/glTF-Binary/Fox.glb",
        "khronos/RiggedFigure/glTF-Binary/RiggedFigure.glb",
        "characters/mannequiny.glb",
        "characters/robot.glb",
        "characters/lumberjack.glb",
        "characters/kaykit/Knight.glb",
        "characters/quaternius/Bunny.gltf",
        "characters/godot_platformer_player.glb",
    ];
    for file in files {
        let path = data.join(file);
        assert!(path.exists(), "{} is missing", path.display());
        let Some(mut bare) = Bare::new(&path) else { return };
        bare.session.app.press(Command::Tool(Tool::Bone));
        let model = Model::load(&bare.runtime.path("bare.glb"), &BindOptions::default()).unwrap();
        let inside = |p: &Vec3| model.interior().is_some_and(|i| i.depth(p.as_dvec3()).is_some());
        // Some rigs have control bones outside of the body.
        for line in bare.chains(&model).into_iter().filter(|l| l.iter().any(inside)) {
            bare.session.app.press(Command::BonesPerStroke((line.len() - 1).clamp(1, MOST) as u32));
            bare.draw(&line);
        }
        assert!(bare.session.app.frame.history[0] > 1, "{file}: no bone was drawn");
        let name = Path::new(file).file_stem().unwrap().to_string_lossy().into_owned();
        bare.session.app.picture(&format!("bones_{name}"));
        let path = bare.rig();
        let told = bare.check(&path);
        println!("{name}: rms {:.2}, at most {:.1} thousandths", told.mean * 1e3, told.most * 1e3);
        bare.session.app.quit();
        assert_eq!(bare.runtime.findings(), "");
    }
}
