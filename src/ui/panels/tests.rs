//! Tests of the shared panels: find text, click and drag it, and apply the resulting edits.

mod curve_mixes;
mod curves;
mod keys;
mod transform;

use super::*;
use crate::asset::{Channel, Clip, Interpolation, Property};
use crate::base::NodeId;
use crate::base::math::{Quat, Vec3};
use crate::bind::{BindOptions, bind_attachments};
use crate::deform::Geometric;
use crate::deform::surface::Crease;
use crate::document::{DeformerSettings, mirrored_pose};
use crate::scene::recipe;
use crate::surface::{Form, Reach, Region, Sculpt, ring_mark};
use crate::workbench::Preferences;
use crate::workbench::{biped, session};
use egui::{Event, Modifiers, PointerButton, Pos2, RawInput, Rect, Shape, pos2, vec2};
use std::sync::Arc;

/// A single panel without the rest of the window.
pub(super) struct Sheet {
    context: egui::Context,
    pub bench: Workbench,
    memory: PanelMemory,
    section: Section,
    /// Texts of the panel with their rectangles.
    pub words: Vec<(String, Rect)>,
    /// Number of filled diamonds, the marks of keys at the playhead.
    pub diamonds: usize,
    /// Centres, colours and edges of the circles, the keys and handles of curves.
    dots: Vec<(Pos2, egui::Color32, egui::Stroke)>,
    /// Number of shapes in the last pass, and of the points of lines.
    shapes: usize,
    points: usize,
    width: f32,
    modifiers: Modifiers,
}

impl Sheet {
    fn new(section: Section) -> Self {
        let mut character = biped();
        let turn = |angle: f32| Quat::from_rotation_x(angle).to_array();
        let nod = Channel {
            node: NodeId::from(2),
            property: Property::Rotation,
            interpolation: Interpolation::Linear,
            times: vec![0.0, 2.0],
            values: [turn(0.0), turn(1.0)].concat(),
        };
        Arc::make_mut(&mut character).skeleton.clips =
            [Clip { name: "Nod".into(), channels: vec![nod] }].into();
        Self::of(section, &character)
    }

    /// A panel of a workbench with this character.
    pub fn of(section: Section, character: &Arc<crate::bind::Character>) -> Self {
        let bench = Workbench::new(session(character), character.clone(), Preferences::default());
        let context = theme::context();
        let mut sheet = Self {
            context,
            bench,
            memory: PanelMemory::default(),
            section,
            words: Vec::new(),
            diamonds: 0,
            dots: Vec::new(),
            shapes: 0,
            points: 0,
            width: 300.0,
            modifiers: Modifiers::NONE,
        };
        sheet.frame(Vec::new());
        sheet
    }

    pub fn frame(&mut self, events: Vec<Event>) {
        let screen_rect = Some(Rect::from_min_size(Pos2::ZERO, vec2(self.width, 1600.0)));
        let modifiers = std::iter::once(Event::ModifiersChanged(self.modifiers));
        let events = modifiers.chain(events).collect();
        let raw = RawInput { events, screen_rect, focused: true, ..RawInput::default() };
        let mut pressed = Pressed::default();
        let mut out = self.context.clone().run_ui(raw, |ui| {
            let tip = |_: &Command| None;
            let (bench, compared) = (&self.bench, None);
            let shows = Shows { bench, compared, window: true, rigging: None, headset: None, tip: &tip };
            self.memory.meet(&self.bench);
            self.section.show(ui, &shows, &mut self.memory, &mut pressed);
        });
        out.textures_delta.clear();
        for (command, continues) in pressed.slides {
            if !continues {
                self.bench.end_slide();
            }
            self.bench.run_command(command);
        }
        for command in pressed.commands {
            self.bench.run_command(command);
            assert_eq!(self.bench.notice(), None);
        }
        self.shapes = out.shapes.len();
        self.words.clear();
        (self.diamonds, self.points) = (0, 0);
        self.dots.clear();
        for clipped in &out.shapes {
            if let Shape::Path(path) = &clipped.shape {
                self.diamonds += usize::from(path.points.len() == 4 && path.fill == theme::FAIR);
                self.points += path.points.len();
            }
            if let Shape::Circle(circle) = &clipped.shape {
                self.dots.push((circle.center, circle.fill, circle.stroke));
            }
            if let Shape::Text(text) = &clipped.shape {
                self.words.push((text.galley.text().to_owned(), text.visual_bounding_rect()));
            }
        }
    }

    pub fn at(&self, words: &str) -> Rect {
        let found = self.words.iter().find(|w| w.0 == words);
        found.unwrap_or_else(|| panic!("no {words:?} in {:?}", self.words)).1
    }

    pub fn press(&mut self, at: Pos2, pressed: bool) {
        let (button, modifiers) = (PointerButton::Primary, self.modifiers);
        self.frame(vec![
            Event::PointerMoved(at),
            Event::PointerButton { pos: at, button, pressed, modifiers },
        ]);
    }

    /// Clicks on a text.
    pub fn click(&mut self, words: &str) {
        let at = self.at(words).center();
        self.press(at, true);
        self.press(at, false);
        self.frame(Vec::new());
    }

    /// Drags the widget left of a label from one offset to others, logical pixels from the label's start.
    pub fn drag(&mut self, label: &str, from: f32, to: &[f32]) {
        let start = self.at(label).left_center();
        let place = |x: f32| pos2(start.x + x, start.y);
        self.press(place(from), true);
        to.iter().for_each(|x| self.frame(vec![Event::PointerMoved(place(*x))]));
        self.press(place(to[to.len() - 1]), false);
        self.frame(Vec::new());
    }

    pub fn steps(&self) -> usize {
        self.bench.session().history().0
    }

    pub fn key(&mut self, key: egui::Key) {
        let event = |pressed| Event::Key {
            key,
            physical_key: None,
            pressed,
            repeat: false,
            modifiers: Modifiers::NONE,
        };
        self.frame(vec![event(true), event(false)]);
    }

    /// Clicks a number and types another, one letter per frame.
    pub fn write(&mut self, over: &str, text: &str) {
        self.click(over);
        text.chars().for_each(|c| self.frame(vec![Event::Text(c.to_string())]));
    }
}

#[test]
fn a_pose_is_kept_blended_in_flipped_and_forgotten() {
    let mut sheet = Sheet::new(Section::Poses);
    let rest = sheet.bench.pose().clone();
    let mut raised = rest.clone();
    raised.local[4].rotation = Quat::from_rotation_z(1.0).to_array();
    sheet.bench.apply(Edit::SetPose(raised.clone()), false);
    sheet.frame(Vec::new());
    sheet.click("Keep");
    let document = sheet.bench.session().document();
    assert_eq!((document.poses().len(), document.poses()[0].name.as_str()), (1, "Pose 1"));
    assert_eq!(document.poses()[0].pose, raised);

    // Blending half-way is one history step, however often the slider moves; the slider then returns to 0.
    sheet.bench.apply(Edit::SetPose(rest.clone()), false);
    sheet.frame(Vec::new());
    let steps = sheet.steps();
    // The slider and its number are left of the label.
    sheet.drag("towards Pose 1", -150.0, &[-130.0, -115.0, -100.0]);
    assert_eq!(sheet.steps(), steps + 1);
    let angle = |pose: &crate::rig::Pose| pose.local[4].rotation().angle_between(rest.local[4].rotation());
    let blended = angle(sheet.bench.pose());
    assert!((0.1..0.9).contains(&blended), "{blended}");
    assert!(sheet.memory.blending.is_none());
    let from = sheet.bench.pose().clone();
    sheet.drag("towards Pose 1", -150.0, &[-149.0]);
    assert!(angle(sheet.bench.pose()) >= angle(&from), "it goes on from where it was");

    sheet.click("Pose 1");
    assert_eq!(*sheet.bench.pose(), raised);
    sheet.click("Mirror pose");
    let skeleton = &sheet.bench.character().skeleton;
    let other = mirrored_pose(skeleton, &raised).unwrap();
    assert_eq!(*sheet.bench.pose(), other);
    assert!(other.local[7].rotation().angle_between(rest.local[7].rotation()) > 0.9, "{other:?}");
    sheet.click("Pose 1");
    sheet.click("mirrored");
    assert_eq!(*sheet.bench.pose(), other);
    sheet.click("×");
    assert!(sheet.bench.session().document().poses().is_empty());
}

#[test]
fn a_clip_of_the_file_plays_below_the_strokes_as_fast_and_as_much_as_told() {
    let mut sheet = Sheet::new(Section::Clips);
    sheet.click("+");
    let layers = |s: &Sheet| s.bench.session().document().motion().clips().to_vec();
    assert_eq!(layers(&sheet).len(), 1);
    let nod = |s: &Sheet, time: f64| {
        let skeleton = &s.bench.character().skeleton;
        let pose = s.bench.session().document().state(skeleton, Some(time)).pose;
        pose.local[2].rotation().angle_between(Quat::IDENTITY)
    };
    assert!((nod(&sheet, 1.0) - 0.5).abs() < 1e-3, "{}", nod(&sheet, 1.0));
    let steps = sheet.steps();
    sheet.drag("weight", -150.0, &[-120.0, -105.0]);
    let [layer] = &layers(&sheet)[..] else { panic!() };
    assert!((0.05..0.95).contains(&layer.weight), "{}", layer.weight);
    assert_eq!(sheet.steps(), steps + 1, "a drag is one step");
    assert!((nod(&sheet, 2.0) - layer.weight).abs() < 1e-2, "{} {}", nod(&sheet, 2.0), layer.weight);
    sheet.drag("times as fast", -110.0, &[-60.0, -50.0]);
    assert!(layers(&sheet)[0].speed > 1.2, "{}", layers(&sheet)[0].speed);
    sheet.click("loop");
    sheet.click("backwards");
    assert!(layers(&sheet)[0].looped && layers(&sheet)[0].speed < -1.2);
    sheet.click("Nod");
    assert!(!layers(&sheet)[0].enabled && nod(&sheet, 1.0) == 0.0);
    sheet.click("×");
    assert!(layers(&sheet).is_empty());
}

#[test]
fn a_cancelled_drag_of_a_slider_restores_the_document_and_does_nothing_until_its_release() {
    for command in [Command::Undo, Command::Redo, Command::Cancel] {
        let mut sheet = Sheet::new(Section::Clips);
        sheet.click("+");
        let (steps, before) = (sheet.steps(), sheet.bench.session().document().clone());
        let start = sheet.at("weight").left_center();
        let at = |x: f32| Event::PointerMoved(start + vec2(x, 0.0));
        let give = |sheet: &mut Sheet, down: bool| {
            let instead = sheet.memory.instead(command.clone(), &sheet.bench, down);
            instead.iter().for_each(|c| sheet.bench.run_command(c.clone()));
            sheet.frame(Vec::new());
            instead
        };
        sheet.press(start - vec2(150.0, 0.0), true);
        sheet.frame(vec![at(-120.0)]);
        sheet.frame(vec![at(-105.0)]);
        assert_eq!(sheet.steps(), steps + 1);
        assert_eq!(give(&mut sheet, true), Some(Command::Jump(steps)));
        sheet.frame(vec![at(-130.0)]);
        assert_eq!(*sheet.bench.session().document(), before, "the slider is still held");
        sheet.press(start - vec2(110.0, 0.0), false);
        sheet.frame(Vec::new());
        assert_eq!((sheet.steps(), sheet.bench.session().document()), (steps, &before));
        // The next drag moves the slider. After its release, the command is itself again.
        sheet.drag("weight", -150.0, &[-120.0, -105.0]);
        assert_eq!(sheet.steps(), steps + 1);
        assert_eq!(sheet.memory.instead(command.clone(), &sheet.bench, false), Some(command.clone()));
        // A press beside the slider leaves the command alone.
        sheet.press(pos2(290.0, 1590.0), true);
        assert_eq!(sheet.memory.instead(command.clone(), &sheet.bench, true), Some(command));
    }
}

#[test]
fn a_shape_gets_its_like_on_the_other_side() {
    let mut sheet = Sheet::new(Section::Outliner);
    let character = sheet.bench.character().clone();
    let (bound, _) = bind_attachments(&character, &BindOptions::default()).unwrap();
    let bones = character.skeleton.bones.iter().enumerate().filter(|(_, b)| b.head.x > 0.15);
    let ring = |bone: usize| ring_mark(&character, &bound, crate::base::MarkId(0), bone.into(), 0.5).ok();
    let mark = bones.into_iter().find_map(|(bone, _)| ring(bone)).unwrap();
    let region = Region::from_mark(&character, &mark, Reach::Edges(2)).unwrap();
    let form = Form::Drawn(vec![[0.0, 0.01, 0.0]; region.kinematic.len()]);
    let sculpt = Sculpt::new(SculptId(0), Some(mark.id), region, form);
    sheet.bench.apply(Edit::AddMark { index: None, mark: Box::new(mark) }, false);
    sheet.bench.apply(Edit::AddSculpt { index: None, sculpt: Box::new(sculpt) }, false);
    sheet.frame(Vec::new());
    sheet.click("other side");
    let document = sheet.bench.session().document();
    let [one, other] = document.sculpts() else { panic!("{} shapes", document.sculpts().len()) };
    let middle = |s: &Sculpt| {
        let sum: Vec3 = s.region.kinematic.iter().map(|&v| character.control.positions[v as usize]).sum();
        sum / s.region.kinematic.len() as f32
    };
    assert!(middle(one).x > 0.15 && (middle(one).x + middle(other).x).abs() < 0.05, "{:?}", middle(other));
    assert_eq!(document.marks().len(), 2);
}

#[test]
fn a_number_is_one_step_whether_it_is_typed_or_dragged() {
    let mut sheet = Sheet::new(Section::Clips);
    sheet.click("+");
    let layer = |s: &Sheet| s.bench.session().document().motion().clips()[0].clone();
    let steps = sheet.steps();
    // A percentage is typed with or without the percent sign.
    sheet.write("100 %", "57");
    assert_eq!((sheet.steps(), layer(&sheet).weight), (steps, 1.0));
    sheet.key(egui::Key::Enter);
    assert_eq!((sheet.steps(), layer(&sheet).weight), (steps + 1, 0.57));
    sheet.frame(Vec::new());
    sheet.write("57 %", "8 %");
    sheet.key(egui::Key::Enter);
    assert_eq!((sheet.steps(), layer(&sheet).weight), (steps + 2, 0.08));
    sheet.frame(Vec::new());
    for (text, key) in [("30", egui::Key::Escape), ("many", egui::Key::Enter), ("", egui::Key::Enter)] {
        sheet.write("8 %", text);
        sheet.key(key);
        (0..4).for_each(|_| sheet.frame(Vec::new()));
        assert_eq!((sheet.steps(), layer(&sheet).weight), (steps + 2, 0.08), "{text:?} and {key:?}");
    }
    // A click elsewhere ends typing and accepts the number.
    sheet.write("0.00 s", "1.25");
    sheet.press(pos2(290.0, 1590.0), true);
    sheet.press(pos2(290.0, 1590.0), false);
    sheet.frame(Vec::new());
    assert_eq!((sheet.steps(), layer(&sheet).offset), (steps + 3, 1.25));
    // Dragging the number itself changes the value slowly.
    let at = sheet.at("1.25 s").center();
    sheet.press(at, true);
    (1..30).for_each(|i| sheet.frame(vec![Event::PointerMoved(at + vec2(2.0 * i as f32, 0.0))]));
    sheet.press(at + vec2(60.0, 0.0), false);
    sheet.frame(Vec::new());
    assert!(layer(&sheet).offset > 2.0, "{}", layer(&sheet).offset);
    assert_eq!(sheet.steps(), steps + 4);
    // A press of the slider ends typing in the slider's number field.
    sheet.write("1.00", "2");
    sheet.drag("times as fast", -110.0, &[-100.0, -90.0, -80.0]);
    assert_eq!(sheet.steps(), steps + 5);
}

#[test]
fn settings_of_fast_are_steps_of_the_document() {
    for method in ["fast", "fast+springs"] {
        let mut sheet = Sheet::new(Section::Deformer);
        sheet.bench.run_command(Command::Deformer(method.into()));
        sheet.frame(Vec::new());
        let of =
            |s: &Sheet, name: &str| s.bench.session().document().deformer().parameters.get(name).cloned();
        let steps = sheet.steps();
        sheet.drag("Hinge", 100.0, &[105.0, 110.0, 115.0]);
        let hinge = of(&sheet, "hinge").and_then(|v| v.as_f64()).unwrap_or_default();
        assert!(hinge > 0.1 && sheet.steps() == steps + 1, "{hinge}");
        sheet.click("automatic");
        sheet.click("rims");
        assert_eq!((of(&sheet, "energy"), sheet.steps()), (Some("rims".into()), steps + 2));
        sheet.click("rims");
        sheet.click("automatic");
        assert_eq!((of(&sheet, "energy"), sheet.steps()), (None, steps + 3));
        sheet.at("Select a joint.");
        let node = sheet.bench.character().skeleton.joints[3].node;
        sheet.bench.run_command(Command::Select(Some(node)));
        sheet.frame(Vec::new());
        sheet.click("as posed");
        sheet.click("position");
        assert_eq!((of(&sheet, "joints.3"), sheet.steps()), (Some(2.into()), steps + 4));
        sheet.click("position");
        sheet.click("as posed");
        assert_eq!((of(&sheet, "joints.3"), sheet.steps()), (None, steps + 5));
        (0..5).for_each(|_| sheet.bench.run_command(Command::Undo));
        assert_eq!(*sheet.bench.session().document().deformer(), DeformerSettings::of(method));
    }
}

/// A shape panel with one sculpt layer.
fn shaped() -> Sheet {
    let mut sheet = Sheet::new(Section::Shape);
    let region = Region { kinematic: vec![0], t: vec![0.5], ..Region::default() };
    let sculpt = Sculpt::new(SculptId(0), None, region, Form::Drawn(vec![[0.0, 0.1, 0.0]]));
    sheet.bench.apply(Edit::AddSculpt { index: None, sculpt: Box::new(sculpt) }, false);
    sheet.frame(Vec::new());
    sheet
}

#[test]
fn each_drag_and_each_number_of_a_shape_is_a_step_of_its_own() {
    let mut sheet = shaped();
    let steps = sheet.steps();
    let amplitude = |s: &Sheet| s.bench.session().document().sculpts()[0].amplitude;
    for (number, (over, text)) in [("1.00", "0.57"), ("0.57", "0.8")].into_iter().enumerate() {
        sheet.write(over, text);
        sheet.key(egui::Key::Enter);
        sheet.frame(Vec::new());
        assert_eq!((sheet.steps(), amplitude(&sheet)), (steps + number + 1, text.parse().unwrap()));
    }
    for step in 3..5 {
        sheet.drag("amplitude", -150.0, &[-140.0, -130.0, -120.0]);
        assert_eq!(sheet.steps(), steps + step);
    }
}

#[test]
fn the_number_of_clips_is_the_files() {
    let sheet = Sheet::new(Section::Clips);
    assert_eq!(Section::Clips.title(&sheet.bench), "Clips (1)");
}

#[test]
fn normals_follow_the_file_or_a_crease_angle_with_every_method() {
    let mut sheet = Sheet::new(Section::Deformer);
    let crease = |sheet: &Sheet| recipe(sheet.bench.session().document().deformer()).unwrap().crease;
    let steps = sheet.steps();
    sheet.click("By angle");
    assert_eq!(crease(&sheet), Crease::Angle(60f32.to_radians()));
    sheet.drag("Crease", 120.0, &[135.0, 150.0, 175.0]);
    let Crease::Angle(angle) = crease(&sheet) else { panic!() };
    assert!(angle > 2.0 && sheet.steps() == steps + 2, "{angle}");
    // Another method keeps the angle.
    for method in ["lbs", "fast", "volume", "irs"] {
        sheet.bench.run_command(Command::Deformer(method.into()));
        assert_eq!(crease(&sheet), Crease::Angle(angle), "{method}");
        sheet.frame(Vec::new());
        assert!(sheet.words.iter().any(|w| w.0 == "Crease"), "{method}");
    }
    sheet.click("Of the file");
    assert_eq!(crease(&sheet), Crease::Source);
    let bad = DeformerSettings {
        parameters: [("crease".to_owned(), 200.into())].into(),
        ..DeformerSettings::of("lbs")
    };
    assert!(recipe(&bad).unwrap_err().to_string().contains("0 to 180"));
}

#[test]
fn influences_of_irs_are_set_for_all_joints_and_for_one() {
    let mut sheet = Sheet::new(Section::Deformer);
    sheet.bench.run_command(Command::Deformer("irs".into()));
    sheet.frame(Vec::new());
    let params = |sheet: &Sheet| match recipe(sheet.bench.session().document().deformer()).unwrap().geometric
    {
        Geometric::Irs(params) => params,
        _ => panic!(),
    };
    sheet.drag("Own bones", 140.0, &[150.0, 165.0, 180.0]);
    let all = params(&sheet).reach;
    assert!(all.as_parent > 0.7 && all.as_child == 0.5, "{all:?}");
    sheet.bench.select(Some(NodeId(5)));
    (0..2).for_each(|_| sheet.frame(Vec::new()));
    let joint = sheet.bench.character().skeleton.nodes[5].joint.unwrap();
    let settings = sheet.bench.session().document().deformer().clone();
    // The second slider of this name is that of the joint.
    let own = crate::deform::irs::Reach { as_parent: 0.25, as_child: 0.75 };
    let mut with = settings.clone();
    with.parameters.insert("joints".into(), serde_json::json!({ joint.index().to_string(): own }));
    sheet.bench.apply(Edit::SetDeformer(with), false);
    assert_eq!(params(&sheet).reach_of(joint), own);
    (0..2).for_each(|_| sheet.frame(Vec::new()));
    sheet.click("As all joints");
    assert_eq!(*sheet.bench.session().document().deformer(), settings);
    sheet.click("Keep lengths");
    assert!(params(&sheet).length_correction);
}

#[test]
fn a_panel_draws_the_commands_that_the_table_lists_there() {
    let mut sheet = transform::transform();
    sheet.click("Select the other side");
    assert_eq!(sheet.bench.selected(), Some(NodeId::from(8)));
    sheet.click("Select the parent");
    assert_eq!(sheet.bench.selected(), Some(NodeId::from(7)));
    let mut sheet = Sheet::new(Section::Display);
    let before = sheet.bench.preferences().clone();
    for kind in CommandKind::listed(WindowPlace::Display) {
        let (on, _) = kind.switch(&before).unwrap();
        sheet.click(kind.label());
        assert_eq!(kind.switch(sheet.bench.preferences()).map(|s| s.0), Some(!on), "{kind:?}");
    }
}

#[test]
fn the_history_names_the_joints_that_a_grab_moves_over_a_stroke() {
    use crate::base::StrokeId;
    use crate::pose::{Adjustment, Sample, Stroke, StrokeLayer};
    let mut s = Sheet::new(Section::History);
    let skeleton = s.bench.character().skeleton.clone();
    let knots = [Vec3::new(0.2, 1.5, 0.0), Vec3::new(0.75, 1.5, 0.0)].map(|p| Sample::at(p, 0.0)).to_vec();
    let line = Stroke::from_knots(knots).unwrap();
    let layer = StrokeLayer::new(StrokeId(0), line, 0.05, (&skeleton, &[]), s.bench.pose()).unwrap();
    s.bench.apply(Edit::AddStroke { index: None, layer: Box::new(layer.clone()) }, false);
    let by_hand = |node: usize, angle: f32| Adjustment {
        node: NodeId::from(node),
        turn: Quat::from_rotation_z(angle).to_array(),
        shift: [0.0; 3],
        grow: [0.0; 3],
    };
    let mut change = |adjustments: Vec<Adjustment>, enabled: bool| {
        let new = StrokeLayer { adjustments, enabled, ..layer.clone() };
        s.bench.apply(Edit::SetStroke(Box::new(new)), false);
    };
    change(vec![by_hand(5, 0.2)], true);
    change(vec![by_hand(5, 0.3), by_hand(6, 0.1), by_hand(2, 0.1)], true);
    change(vec![by_hand(5, 0.3), by_hand(6, 0.1)], true);
    change(vec![by_hand(5, 0.3), by_hand(6, 0.1)], false);
    s.frame(Vec::new());
    let name = |node: usize| &skeleton.nodes[node].name;
    let steps = [
        format!("Move {}", name(5)),
        format!("Move {} and 2 more", name(5)),
        format!("Move {}", name(2)),
        "Change Stroke 1".to_owned(),
    ];
    let shown: Vec<&String> = s.words.iter().map(|w| &w.0).collect();
    assert_eq!(shown[shown.len() - 4..], steps.iter().collect::<Vec<_>>()[..], "{shown:?}");
}
