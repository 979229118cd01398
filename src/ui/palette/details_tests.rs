//! Tests of the details panel: every section is reached by the ray, its targets are large, and it gives commands.

use super::tests::Room;
use super::{Panel, Section, Spot, details, theme};
use crate::base::{ChainId, MarkId, NodeId, SculptId};
use crate::bind::weights::WeightMethod;
use crate::bind::{BindOptions, Binding, Character, Smoothing};
use crate::cage::{Cage, CageMesh};
use crate::deform::sculpt::{Along, Around, Curve};
use crate::deform::swing_twist::Deformer;
use crate::document::{DeformerSettings, Edit};
use crate::pose::BoneChain;
use crate::render::Filter;
use crate::scene::{FactorSource, SkinColors, recipe};
use crate::surface::{Form, Reach, Region, Sculpt, SurfacePoint, SurfaceStroke};
use crate::workbench::{
    BindChange, CageSet, Command, CommandKind, MarkBy, Preferences, SkinPart, Tool, WAVE, Workbench, biped,
    session,
};
use std::sync::Arc;

/// A room in which the details panel shows a person with springs.
pub(super) fn room() -> Room {
    room_with(biped())
}

pub(super) fn room_with(character: Arc<Character>) -> Room {
    let mut room = Room::new();
    let mut bench = Workbench::new(session(&character), character, Preferences::default());
    bench.apply(Edit::SetDeformer(DeformerSettings::of("springs")), false);
    room.bench = Some(bench);
    room.state.preferences.palette = false;
    room.state.preferences.details = true;
    follow(&mut room);
    room
}

/// Runs the commands of the room and steps it twice.
pub(super) fn follow(room: &mut Room) {
    let commands = std::mem::take(&mut room.commands);
    if let Some(bench) = &mut room.bench {
        commands.into_iter().for_each(|c| bench.run_command(c));
        let Preferences { palette, details, .. } = room.state.preferences;
        room.state.follow(bench);
        (room.state.preferences.palette, room.state.preferences.details) = (palette, details);
    }
    room.step(3);
}

pub(super) fn text(text: &str) -> Spot {
    Spot::Text(text.to_owned())
}

pub(super) fn bench(room: &Room) -> &Workbench {
    room.bench.as_ref().unwrap()
}

pub(super) fn bench_mut(room: &mut Room) -> &mut Workbench {
    room.bench.as_mut().unwrap()
}

#[test]
fn every_section_is_chosen_and_has_large_print() {
    let mut room = room();
    for (section, word) in [
        (Section::Deformer, "Twist"),
        (Section::Shape, "Draw on the skin, then pull at the mark."),
        (Section::Rig, "COLOURS ON THE SKIN"),
        (Section::Cage, "NEW CAGE, VERTICES"),
        (Section::Morphs, "The character has no morph targets."),
        (Section::Outliner, "JOINTS (16)"),
        (Section::Transform, "Touch a joint"),
        (Section::Keys, "No keys yet"),
        (Section::Poses, "Keep"),
        (Section::Clips, "The file has none."),
        (Section::Display, "SKIN"),
        (Section::History, "Open"),
    ] {
        room.press(&Spot::Section(section));
        let words = &room.panels.canvases[Panel::Details as usize].words;
        assert!(words.iter().any(|w| w.0.starts_with(word)), "{section:?}: no {word:?} in {words:?}");
        // 30 arcminutes.
        let least = words.iter().map(|w| w.1.height()).fold(f32::INFINITY, f32::min);
        assert!(least >= 0.5 * theme::PER_DEGREE, "{section:?}: {least}");
        let size = Panel::Details.size().map(|n| n as f32);
        assert!(words.iter().all(|w| w.1.max.x < size[0] - theme::MARGIN), "{section:?}: {words:?}");
    }
}

/// Scrolls down until a word shows.
pub(super) fn shows(room: &mut Room, word: &str) {
    assert!(room.panels.find(&text(word)).is_some() || room.scrolls_to(&text(word)), "{word}");
}

/// Presses words of a section and checks that each gives its command. The commands run.
pub(super) fn presses(room: &mut Room, section: Section, words: &[(&str, Command)]) {
    room.press(&Spot::Section(section));
    follow(room);
    for (word, command) in words {
        shows(room, word);
        room.press(&text(word));
        assert_eq!(room.commands, std::slice::from_ref(command), "{word}");
        assert_large(room);
        follow(room);
    }
}

/// Checks that everything that the ray can press in the details panel is large.
pub(super) fn assert_large(room: &Room) {
    let canvas = &room.panels.canvases[Panel::Details as usize];
    let targets = canvas.targets();
    assert!(targets.len() > Section::ALL.len(), "{targets:?}");
    // The stick moves the scroll bar, which is as high as the content.
    for rect in targets.iter().filter(|r| r.height() < 400.0) {
        assert!(rect.width().min(rect.height()) >= details::TARGET - 0.1, "{rect:?}");
    }
}

#[test]
fn an_open_list_scrolls_by_the_stick() {
    use crate::deform::Recipe;
    use crate::ui::panels::deformer::method_label;
    let mut room = room();
    room.press(&Spot::Section(Section::Deformer));
    follow(&mut room);
    let now = bench(&room).session().document().deformer().method.clone();
    room.press(&text(method_label(&now)));
    room.step(4);
    let [first, last] = [Recipe::NAMES[0], Recipe::NAMES[Recipe::NAMES.len() - 1]];
    let scroll = room.panels.memory.details.scroll;
    for (name, stick) in [(last, -1.0), (first, 1.0)] {
        let spot = text(method_label(name));
        assert!(room.panels.find(&spot).is_none(), "the list is longer than its place");
        let names = Recipe::NAMES.iter().filter(|name| **name != now);
        let shown = names.filter_map(|name| room.panels.target(&text(method_label(name)))).next();
        room.aim(shown.unwrap());
        room.input.hands[1].stick[1] = stick;
        room.step(60);
        room.input.hands[1].stick[1] = 0.0;
        room.step(3);
        assert!(room.panels.find(&spot).is_some(), "{name}");
    }
    assert_eq!(room.panels.memory.details.scroll, scroll, "the panel below stays");
    room.press(&text(method_label(first)));
    assert_eq!(room.commands, [Command::Deformer(first.into())]);
}

#[test]
fn everything_about_a_sculpt_layer_is_pressed() {
    let mut room = room();
    let region = Region { kinematic: vec![0], t: vec![0.5], ..Region::default() };
    for id in 0..2 {
        let form = Form::Drawn(vec![[0.0, 0.1, 0.0]]);
        let sculpt = Box::new(Sculpt::new(SculptId(id), None, region.clone(), form));
        bench_mut(&mut room).apply(Edit::AddSculpt { index: None, sculpt }, false);
    }
    follow(&mut room);
    let [_, second] = [0, 1].map(|i| bench(&room).session().document().sculpts()[i].name.clone());
    let wave = Command::Profile(Curve::Wave(WAVE));
    presses(
        &mut room,
        Section::Shape,
        &[("2 of 2, next", Command::SelectShape(1)), ("1 of 2, next", Command::SelectShape(1))],
    );
    presses(&mut room, Section::Shape, &[(&second, Command::ShapeOn(false))]);
    room.press(&text("drawn by hand"));
    presses(&mut room, Section::Shape, &[]);
    room.press(&text("drawn by hand"));
    room.press(&text("wave"));
    assert_eq!(room.commands, [wave]);
    follow(&mut room);
    let labels = ["amplitude", "stiffness", "waves", "a second", "phase", "growth", "tilt"];
    let kinds = [
        CommandKind::Amplitude,
        CommandKind::Stiffness,
        CommandKind::WaveCount,
        CommandKind::WaveSpeed,
        CommandKind::WavePhase,
        CommandKind::Growth,
        CommandKind::Tilt,
    ];
    for (label, kind) in labels.into_iter().zip(kinds) {
        let (panel, [_, y]) = room.panels.find(&text(label)).unwrap();
        let placement = room.placement(panel);
        let [from, to] = [0.2, 0.8].map(|share| placement.point([details::rail(share), y]));
        room.drag(from, to, |_| ());
        let kinds: Vec<CommandKind> = room.commands.iter().map(Command::kind).collect();
        assert!(!kinds.is_empty() && kinds.iter().all(|k| *k == kind), "{label}: {kinds:?}");
        follow(&mut room);
    }
    let (edge, own) = (bench(&room).edge(), bench(&room).shape_edge());
    let all = Reach::default();
    presses(
        &mut room,
        Section::Shape,
        &[
            ("Each bone", Command::Along(Along::Bone)),
            ("All bones", Command::Along(Along::Stroke)),
            ("Straight", Command::Reach(Reach::Euclidean(all.metres(own)))),
            ("Offset", Command::MarkBy(MarkBy::Offset)),
            ("Knots", Command::MarkBy(MarkBy::Knots)),
            ("Pull", Command::MarkBy(MarkBy::Pull)),
            ("By skin", Command::NewReach(Some(Reach::Along(all.metres(edge))))),
            ("As the brush", Command::NewReach(None)),
            ("By edges", Command::NewReach(Some(all))),
        ],
    );
    shows(&mut room, "all round");
    room.press(&text("all round"));
    presses(&mut room, Section::Shape, &[]);
    shows(&mut room, "all round");
    room.press(&text("all round"));
    room.press(&text("bulge"));
    assert_eq!(room.commands, [Command::Around(Some(Around { curve: Curve::Parabola, facing: 0.0 }))]);
    follow(&mut room);
    shows(&mut room, "facing");
    presses(&mut room, Section::Shape, &[("Shape on the selected joint's bones", Command::ShapeOnBone)]);
    presses(&mut room, Section::Shape, &[("Remove", Command::RemoveShape)]);
    assert_eq!(bench(&room).session().document().sculpts().len(), 1);
    presses(
        &mut room,
        Section::Shape,
        &[
            ("Positions", Command::Silhouettes(Filter::Position)),
            ("Follow the hand", Command::AccentDepth(true)),
            ("Keep", Command::AccentDepth(false)),
        ],
    );
}

#[test]
fn bones_weights_and_deformers_of_joints_are_pressed() {
    let mut bare = biped();
    Arc::make_mut(&mut bare).skeleton.joints.iter_mut().for_each(|j| j.skinned = false);
    let mut room = room_with(bare);
    presses(
        &mut room,
        Section::Rig,
        &[
            ("Draw bones", Command::Tool(Tool::Bone)),
            ("Weights", Command::Colors(SkinColors::Weights)),
            ("Swing", Command::Colors(SkinColors::Swing)),
            ("Twist", Command::Colors(SkinColors::Twist)),
            ("Strain", Command::Colors(SkinColors::Strain)),
            ("Off", Command::Colors(SkinColors::Off)),
        ],
    );
    let joints = vec![[0.0; 3], [0.0, 1.0, 0.0], [0.0, 2.0, 0.0]];
    let chain = BoneChain { id: ChainId(0), joints, parent: None, partner: None };
    bench_mut(&mut room).apply(Edit::SetBones(vec![chain]), false);
    follow(&mut room);
    presses(&mut room, Section::Rig, &[("Rig the mesh by 2 bones", Command::Rig(true))]);
    room.state.rigging = Some(40);
    room.step(3);
    assert!(room.panels.find(&text("weights 40 %")).is_some());
    presses(&mut room, Section::Rig, &[("Cancel", Command::Rig(false))]);

    let mut room = self::room();
    bench_mut(&mut room).apply(Edit::SetDeformer(DeformerSettings::of("swing-twist")), false);
    bench_mut(&mut room).select(Some(NodeId(5)));
    follow(&mut room);
    presses(
        &mut room,
        Section::Rig,
        &[
            ("Linear", Command::JointDeformer(Deformer::Linear)),
            ("Spherical", Command::JointDeformer(Deformer::Spherical)),
            ("Swing-twist", Command::JointDeformer(Deformer::SwingTwist)),
        ],
    );
}

#[test]
fn the_binding_is_changed_and_regions_are_attached() {
    let mut room = room();
    let bind = |change| Command::Bind(change, false);
    presses(
        &mut room,
        Section::Rig,
        &[
            ("Direct", bind(BindChange::Method(Binding::Direct))),
            ("Plain", bind(BindChange::Smoothing(Smoothing::Plain))),
            ("Bounded", bind(BindChange::Smoothing(Smoothing::Bounded))),
            ("Planar", bind(BindChange::Method(Binding::Planar))),
        ],
    );
    shows(&mut room, "Select a joint.");
    let barycentrics = [0.5, 0.25, 0.25];
    let point = |triangle| SurfacePoint { triangle, barycentrics, pressure: 1.0, time: 0.0, lifted: false };
    let (id, name, points) = (MarkId(0), "Mark 1".to_owned(), vec![point(0), point(1)]);
    let mark = SurfaceStroke { id, name, points, closed: false, radius: 0.1 };
    bench_mut(&mut room).apply(Edit::AddMark { index: None, mark: Box::new(mark) }, false);
    bench_mut(&mut room).select(Some(NodeId(5)));
    follow(&mut room);
    let name = bench(&room).character().skeleton.nodes[5].name.clone();
    let part = SkinPart::Mark { id: MarkId(0), rings: 2 };
    presses(
        &mut room,
        Section::Rig,
        &[
            (&format!("Attach Mark 1 to {name}"), bind(BindChange::Attach(part))),
            ("Place Mark 1", bind(BindChange::Place(part))),
        ],
    );
    for (label, change) in [("smoothing rounds", 0), ("head to tail", 1)] {
        room.press(&Spot::Section(Section::Rig));
        shows(&mut room, label);
        let (panel, [_, y]) = room.panels.find(&text(label)).unwrap();
        let placement = room.placement(panel);
        let [from, to] = [0.2, 0.8].map(|share| placement.point([details::rail(share), y]));
        room.drag(from, to, |_| ());
        let fits = |c: &Command| match c {
            Command::Bind(BindChange::Rounds(_), _) => change == 0,
            Command::Bind(BindChange::PlaceAt(0, Some(_)), _) => change == 1,
            _ => false,
        };
        assert!(!room.commands.is_empty() && room.commands.iter().all(fits), "{label}: {:?}", room.commands);
        follow(&mut room);
    }
    presses(
        &mut room,
        Section::Rig,
        &[("×", bind(BindChange::Remove(0))), ("Reset the binding", bind(BindChange::Reset))],
    );
    assert_eq!(*bench(&room).session().document().binding(), BindOptions::default());
    let weigh = |method: WeightMethod| (method.label(), Command::Weigh(method));
    presses(&mut room, Section::Rig, &WeightMethod::ALL.map(weigh));
    room.state.rigging = Some(40);
    room.step(3);
    presses(&mut room, Section::Rig, &[("Cancel", Command::Rig(false))]);
}

#[test]
fn cages_are_made_changed_and_removed() {
    let mut room = room();
    for (text, vertices) in [("60", 60), ("120", 120), ("240", 240)] {
        presses(&mut room, Section::Cage, &[(text, Command::MakeCage(vertices))]);
    }
    let character = bench(&room).character().clone();
    let (joints, bones) = (character.skeleton.joints.len(), character.skeleton.bones.len());
    let corner = |i: usize| [i & 1, i >> 1 & 1, i >> 2].map(|c| c as f64 * 4.0 - 2.0);
    let faces = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    let mesh = CageMesh {
        positions: (0..8).map(|i| corner(i).into()).collect(),
        faces: faces.map(|f| f.to_vec()).to_vec(),
    };
    let mut offsets = vec![[0.0; 3]; 8];
    offsets[3][0] = 0.1;
    let cage = Cage {
        name: "Box".into(),
        mesh,
        joints: vec![0.125; 8 * joints],
        tails: vec![0.125; 8 * bones],
        offsets,
        ..Cage::default()
    };
    bench_mut(&mut room).apply(Edit::SetCage(Some(Box::new(cage))), false);
    bench_mut(&mut room).run_command(Command::Tool(Tool::Grab));
    follow(&mut room);
    presses(
        &mut room,
        Section::Cage,
        &[
            ("Move the cage", Command::Tool(Tool::Cage)),
            ("Vertex", Command::CageSet(CageSet::Vertex)),
            ("Ring", Command::CageSet(CageSet::Ring)),
            ("Stroke", Command::CageSet(CageSet::Stroke)),
            ("Brush", Command::CageSet(CageSet::Brush)),
            ("Current pose", Command::CageRest(false)),
            ("Rest pose", Command::CageRest(true)),
            ("Key", Command::KeyCage),
            ("Export .obj", Command::ExportCage),
            ("Reset", Command::ResetCage),
            ("Remove", Command::RemoveCage),
        ],
    );
    assert!(bench(&room).session().document().cage().is_none());
}

#[test]
fn a_slider_of_the_springs_is_one_step_and_the_history_goes_back() {
    let mut room = room();
    let twist =
        |room: &Room| recipe(bench(room).session().document().deformer()).unwrap().springs.unwrap().torsion;
    let (before, steps) = (twist(&room), bench(&room).session().history().0);
    let label = room.panels.target(&text("Twist")).unwrap();
    // The slider begins right of the label. The panel is 0.8 m away.
    let (panel, at) = room.panels.find(&text("Twist")).unwrap();
    let placement = room.placement(panel);
    let right = |pixels: f32| placement.point([at[0] + pixels / Panel::Details.size()[0] as f32, at[1]]);
    assert!(label.distance(right(0.0)) < 1e-4);
    room.drag(right(4.0 * details::TARGET), right(7.0 * details::TARGET), follow);
    let after = twist(&room);
    assert!((after - before).abs() > 0.2, "{before} {after}");
    assert_eq!(bench(&room).session().history().0, steps + 1, "a drag is one step");
    room.press(&Spot::Section(Section::History));
    room.press(&text("Open"));
    follow(&mut room);
    assert_eq!(bench(&room).session().history().0, 1);
}

#[test]
fn poses_are_kept_taken_and_forgotten_without_typing() {
    let mut room = room();
    room.press(&Spot::Section(Section::Poses));
    room.press(&text("Keep"));
    follow(&mut room);
    assert_eq!(bench(&room).session().document().poses()[0].name, "Pose 1");
    room.press(&text("Pose 1"));
    follow(&mut room);
    room.press(&text("×"));
    follow(&mut room);
    assert!(bench(&room).session().document().poses().is_empty());
}

#[test]
fn a_name_is_typed_on_the_keyboard_below_the_panel() {
    let mut room = room();
    room.press(&Spot::Section(Section::Poses));
    assert!(room.panels.find(&text("q")).is_none(), "nobody types");
    // The field shows the proposed name.
    room.press(&text("Pose 1"));
    let (details, keyboard) = (room.placement(Panel::Details), room.placement(Panel::Keyboard));
    assert!(keyboard.point([0.5, 0.0]).y < details.point([0.5, 1.0]).y, "the keyboard is below the panel");
    for key in ["Capital", "H", "i", "x", "Delete", "Space", "2"] {
        room.press(&text(key));
    }
    room.press(&text("Enter"));
    follow(&mut room);
    assert_eq!(bench(&room).session().document().poses()[0].name, "Hi 2");
    assert!(room.panels.find(&text("q")).is_none(), "the keyboard stays");
    // Cancel leaves the field without a pose.
    room.press(&text("Pose 1"));
    room.press(&text("a"));
    room.press(&text("Cancel"));
    follow(&mut room);
    assert_eq!(bench(&room).session().document().poses().len(), 1);
    // A closed panel has no keyboard.
    room.press(&text("a"));
    assert!(room.panels.find(&text("q")).is_some());
    room.state.preferences.details = false;
    room.step(2);
    assert!(room.panels.find(&text("q")).is_none());
}

#[test]
fn a_joint_is_selected_by_its_name_and_the_stick_scrolls_to_others() {
    let mut room = room();
    room.press(&Spot::Section(Section::Outliner));
    let name = |n: usize| bench(&room).character().skeleton.nodes[n].name.clone();
    let (first, last) = (name(1), name(15));
    room.press(&text(&first));
    follow(&mut room);
    let selected = bench(&room).selected().unwrap();
    assert_eq!(bench(&room).character().skeleton.nodes[selected.index()].name, first);
    assert!(room.panels.find(&text(&last)).is_some() || room.scrolls_to(&text(&last)));
    room.press(&Spot::Command(Command::Details));
    assert_eq!(std::mem::take(&mut room.commands), [Command::Details]);
}

#[test]
fn the_tabs_are_large_and_their_labels_fit() {
    let room = room();
    let canvas = &room.panels.canvases[Panel::Details as usize];
    for section in Section::ALL {
        let (_, tab) = room.panels.spots[Panel::Details as usize]
            .iter()
            .find(|(spot, _)| *spot == Spot::Section(section))
            .unwrap();
        assert!(tab.height() >= details::TARGET && tab.width() >= details::TARGET, "{section:?} {tab:?}");
        let label = canvas.words.iter().find(|w| w.0 == section.label() && tab.contains(w.1.center()));
        let label = label.unwrap_or_else(|| panic!("no {section:?} in {:?}", canvas.words)).1;
        assert!(tab.contains_rect(label) && label.height() >= theme::BODY * 0.6, "{section:?} {label:?}");
    }
}

#[test]
fn keys_are_selected_by_the_ray_and_deleted() {
    let mut room = room();
    if let Some(bench) = &mut room.bench {
        for time in [0.0, 1.0] {
            bench.run_command(Command::Scrub(time));
            bench.run_command(Command::Key);
        }
    }
    follow(&mut room);
    room.press(&Spot::Section(Section::Keys));
    follow(&mut room);
    let rows = |room: &Room| bench(room).timeline().sheet.rows.clone();
    let [first, second] = [0, 1].map(|i| rows(&room)[i].label.clone());
    let pixel = |room: &Room, name: &str| {
        let words = &room.panels.canvases[Panel::Details as usize].words;
        words.iter().find(|w| w.0 == name).unwrap_or_else(|| panic!("no {name:?} in {words:?}")).1
    };
    let apart = pixel(&room, &second).center().y - pixel(&room, &first).center().y;
    assert!(apart >= details::TARGET, "rows are targets: {apart}");
    let key = egui::pos2(pixel(&room, "24").min.x - 3.0, pixel(&room, &first).center().y);
    let point = |room: &Room, at: egui::Pos2| {
        let placement = room.placement(Panel::Details);
        let size = Panel::Details.size().map(|n| n as f32);
        placement.point([at.x / size[0], at.y / size[1]])
    };
    let at = point(&room, key);
    room.drag(at, at, follow);
    assert!(room.panels.find(&text("1 selected")).is_some());
    room.press(&text("Delete"));
    follow(&mut room);
    assert_eq!(rows(&room)[0].times, [0.0]);
    // A drag on empty ground boxes both keys of the second row.
    let y = pixel(&room, &second).center().y;
    let [from, to] = [0.4, 1.6].map(|t| {
        let (zero, one) = (pixel(&room, "0").min.x - 3.0, pixel(&room, "24").min.x - 3.0);
        point(&room, egui::pos2(zero + (one - zero) * t, y))
    });
    room.drag(from, to, follow);
    assert!(room.panels.find(&text("1 selected")).is_some());
}

#[test]
fn parts_of_the_mesh_are_hidden() {
    let mut room = room();
    let hide = |parts: &[u32]| Command::Change(Box::new(Edit::SetHidden(parts.to_vec())), false);
    presses(&mut room, Section::Outliner, &[("mesh", hide(&[0])), ("mesh", hide(&[]))]);
    assert!(bench(&room).session().document().hidden().is_empty());
}

#[test]
fn the_share_of_dqs_is_painted_and_loaded() {
    let mut room = room();
    bench_mut(&mut room).apply(Edit::SetDeformer(DeformerSettings::of("blend")), false);
    follow(&mut room);
    presses(
        &mut room,
        Section::Deformer,
        &[
            ("Paint", Command::MarkBy(MarkBy::Paint)),
            ("Show", Command::Colors(SkinColors::Blend)),
            ("From vertex colours", Command::LoadFactors(FactorSource::Colors)),
            ("From NAME.blend.png", Command::LoadFactors(FactorSource::Beside)),
        ],
    );
    shows(&mut room, "painted share");
    let (panel, [_, y]) = room.panels.find(&text("painted share")).unwrap();
    let placement = room.placement(panel);
    let [from, to] = [0.2, 0.8].map(|share| placement.point([details::rail(share), y]));
    room.drag(from, to, |_| ());
    assert!(!room.commands.is_empty(), "a slider");
    assert!(room.commands.iter().all(|c| matches!(c, Command::PaintShare(_))), "{:?}", room.commands);
}

#[test]
fn the_stick_scrolls_to_the_end_and_not_beyond() {
    let mut room = room();
    bench_mut(&mut room).run_command(Command::Select(Some(NodeId(5))));
    room.press(&Spot::Section(Section::Transform));
    follow(&mut room);
    let places = |room: &Room| -> Vec<egui::Rect> {
        room.panels.canvases[Panel::Details as usize].words.iter().map(|w| w.1).collect()
    };
    let down = |room: &mut Room| {
        // Frames are long at times.
        room.input.hands[room.tool].stick[1] = -1.0;
        for _ in 0..30 {
            room.input.time += 0.1;
            room.step(1);
        }
        room.input.hands[room.tool].stick[1] = 0.0;
    };
    down(&mut room);
    let end = places(&room);
    assert!(room.panels.memory.details.scroll > 100.0);
    for word in ["Copy", "Key joint", "Limit this joint"] {
        let at = room.panels.target(&text(word)).unwrap();
        room.aim(at);
        room.step(3);
        // A hint comes after the rows.
        assert_eq!(places(&room)[..end.len()], end, "the rows stay when the ray moves to {word}");
        down(&mut room);
        assert_eq!(places(&room)[..end.len()], end, "{word}");
    }
    // A shorter content is drawn at its end.
    bench_mut(&mut room).run_command(Command::Select(None));
    follow(&mut room);
    assert_eq!(room.panels.memory.details.scroll, 0.0);
    let words = &room.panels.canvases[Panel::Details as usize].words;
    assert!(words.iter().any(|w| w.0.starts_with("Touch a joint")), "{words:?}");
}
