//! The ten tasks in the headset. A seated person works on a figure of half its size, with both hands below the shoulders.

use super::characters::{face, human, joints, load};
use super::{Effort, TASKS, compare, outcomes};
use crate::headset::bed::{App, Runtime, STEP, show};
use crate::headset::stage::{Session, differing, saved, words};
use sinew::app::report::{Ask, Event, Text};
use sinew::base::math::Vec3;
use sinew::document::Document;
use sinew::puppet::{Player, PuppetState, Script};
use sinew::scene::Model;
use sinew::workbench::{Command, Tool};
use std::path::Path;

/// Height of the eyes of a seated person, metres.
const EYES: f32 = 1.2;
/// Height of the shoulders below the eyes, metres.
const SHOULDERS: f32 = 0.2;
/// The hands rest where the palette shows and the right hand's ray reaches all panels.
pub(super) const AT_PALETTE: &str =
    "left at -0.12 0.9 -0.4 &\nright turn 0 0 0 &\nright at 0.2 0.9 -0.2\nwait 0.3";
/// Ends of a slider's track on the details panel, pixels.
const TRACK: [f32; 2] = [40.0, 250.0];

/// Distances from the label of the time within which its slider's track lies on the palette, pixels to the right.
const TIME: [f32; 2] = [-60.0, 420.0];

/// A seated person with the headset, and the program.
pub(super) struct Person<'a> {
    pub(super) s: Session,
    runtime: &'a Runtime,
    model: Model,
    presses: u32,
    /// Greatest height of a hand relative to the shoulders, metres.
    highest: f32,
}

/// Whether each trigger, squeeze and button of a state is pressed.
fn pressed(state: &PuppetState) -> Vec<bool> {
    let hand = |h: &sinew::puppet::Controller| {
        let b = &h.buttons;
        [h.trigger > 0.5, h.squeeze > 0.5, b.a_click, b.b_click, b.stick_click, b.system_click]
    };
    state.hands.iter().flat_map(hand).collect()
}

impl<'a> Person<'a> {
    /// A person sits down in front of the session's character.
    pub(super) fn sit(runtime: &'a Runtime, s: Session, model: Model) -> Self {
        let mut person = Self { s, runtime, model, presses: 0, highest: f32::NEG_INFINITY };
        person.shrink();
        person
    }

    /// Scales the figure to half its size with both hands beside it. A file opens in life size.
    fn shrink(&mut self) {
        self.play(&format!(
            "head at 0 {EYES} 0 &\nhead turn 0 0 0 &\nleft at -0.1 0.8 0.2 &\nright at 0.1 0.8 0.2\nwait 0.07"
        ));
        self.play(
            "left squeeze 1 &\nright squeeze 1\nwait 0.07\nleft at -0.05 0.42 0.2 over 0.4 &\n\
             right at 0.05 0.42 0.2 over 0.4\nwait 0.07\nleft squeeze 0 &\nright squeeze 0\nwait 0.07",
        );
        let scale = self.s.app.frame.world_from_room.scale;
        assert!((scale - 2.0).abs() < 0.1, "the scale is {scale}");
    }

    /// Plays a script, counts its presses, and notes the highest hand.
    pub(super) fn play(&mut self, script: &str) {
        let mut player = Player::new(Script::read(script, Path::new("task")).unwrap());
        let mut before = pressed(&self.s.puppet.state);
        while player.advance(STEP, &mut self.s.puppet.state) {
            let state = &self.s.puppet.state;
            let now = pressed(state);
            self.presses += now.iter().zip(&before).filter(|(now, before)| **now && !**before).count() as u32;
            before = now;
            let shoulders = state.head.position.y - SHOULDERS;
            let hands = state.hands.iter().map(|h| h.pose.position.y - shoulders);
            self.highest = hands.fold(self.highest, f32::max);
            show(&mut self.s.puppet, &mut self.s.app);
        }
    }

    /// Finds a text on a panel.
    pub(super) fn find(&mut self, panel: &str, text: &str) -> Text {
        let texts = self.s.app.texts();
        let found = texts.iter().find(|t| t.panel == panel && t.text == text);
        found.cloned().unwrap_or_else(|| {
            let texts: Vec<&str> =
                texts.iter().filter(|t| t.panel == panel).map(|t| t.text.as_str()).collect();
            panic!("no {text:?} on the panel {panel:?}: {texts:?}")
        })
    }

    /// Points at a text on a panel and pulls the trigger.
    pub(super) fn press(&mut self, panel: &str, text: &str) {
        let at = words(self.find(panel, text).centre.into());
        self.play(&format!(
            "right look {at}\nwait 0.07\nright trigger 1\nwait 0.07\nright trigger 0\nwait 0.1"
        ));
    }

    /// Scrolls the details panel by the stick until it shows a text.
    pub(super) fn reveal(&mut self, text: &str) {
        for _ in 0..30 {
            if self.s.app.texts().iter().any(|t| t.panel == "details" && t.text == text) {
                return;
            }
            self.play("right stick 0 -1\nwait 0.2\nright stick 0 0\nwait 0.07");
        }
        self.find("details", text);
    }

    /// Drags the slider in the row of a label from its middle to the share `to` of its track, on the details panel.
    fn slide(&mut self, label: &str, to: f32) {
        self.reveal(label);
        let found = self.find("details", label);
        let texts = self.s.app.texts();
        let in_row = |t: &&Text| t.panel == "details" && (t.pixel[1] - found.pixel[1]).abs() < 10.0;
        let last = texts.iter().filter(in_row).map(|t| t.pixel[0]).fold(found.pixel[0], f32::max);
        // The label is left of the slider and its number, or between slider and number.
        let track = if last - found.pixel[0] > 250.0 { [last - 288.0, last - 38.0] } else { TRACK };
        let at = |share: f32| {
            let x = track[0] + (track[1] - track[0]) * share - found.pixel[0];
            words(Vec3::from(found.centre) + Vec3::from(found.right) * x)
        };
        self.drag(&at(0.5), &at(to));
    }

    /// Drags the slider of a row that begins with a name and ends with a number to its right end, on the details panel.
    fn slide_row(&mut self, name: &str) {
        let name = self.find("details", name);
        let in_row = |t: &&Text| t.panel == "details" && (t.pixel[1] - name.pixel[1]).abs() < 8.0;
        let texts = self.s.app.texts();
        let number = texts.iter().filter(in_row).max_by(|a, b| a.pixel[0].total_cmp(&b.pixel[0])).unwrap();
        let at = |x: f32| words(Vec3::from(number.centre) + Vec3::from(number.right) * x);
        self.drag(&at(-120.0), &at(-30.0));
    }

    /// Drags the slider of the time on the page *Time*, and watches the time as a person would.
    pub(super) fn scrub(&mut self, seconds: f32) {
        let texts = self.s.app.texts();
        // The page's tab has the same name and is above the slider.
        let labels = texts.iter().filter(|t| t.panel == "palette" && t.text == "Time");
        let label = labels.max_by(|a, b| a.pixel[1].total_cmp(&b.pixel[1])).expect("no slider");
        let at = |x: f32| words(Vec3::from(label.centre) + Vec3::from(label.right) * x);
        self.play(&format!("right look {}\nwait 0.07\nright trigger 1\nwait 0.07", at(0.0)));
        let [mut left, mut right] = TIME;
        for _ in 0..14 {
            let middle = 0.5 * (left + right);
            self.play(&format!("right look {} over 0.1\nwait 0.07", at(middle)));
            let now = self.s.app.frame.time.unwrap_or_default() as f32;
            if (now - seconds).abs() < 0.03 {
                break;
            }
            if now < seconds {
                left = middle;
            } else {
                right = middle;
            }
        }
        self.play("right trigger 0\nwait 0.07");
        let now = self.s.app.frame.time.unwrap_or_default() as f32;
        assert!((now - seconds).abs() < 0.03, "the time is {now} s instead of {seconds} s");
    }

    /// Where a joint shows, world space.
    pub(super) fn displayed(&mut self, name: &str) -> [Vec3; 1] {
        let time = self.s.app.frame.time;
        let (model, document) = self.saved();
        joints(&model, &document.state(model.skeleton(), time).pose, [name])
    }

    /// Drags the ray over a panel from one room position to another.
    fn drag(&mut self, from: &str, to: &str) {
        self.play(&format!(
            "right look {from}\nwait 0.07\nright trigger 1\nwait 0.07\nright look {to} over 0.3\nwait 0.07\nright trigger 0\nwait 0.07"
        ));
    }

    /// Moves the right hand's tip through world positions with the trigger pulled.
    fn draw(&mut self, path: &[Vec3]) {
        let at: Vec<String> = path.iter().map(|p| self.s.tip(*p)).collect();
        let way: String = at[1..].iter().map(|p| format!("right at {p} over 0.1\n")).collect();
        self.play(&format!("right turn 0 0 0\nright at {}\nwait 0.07\nright trigger 1\n{way}wait 0.07\nright trigger 0\nwait 0.07", at[0]));
    }

    /// Squeezes at a world position, moves the hand to another one, and lets go.
    pub(super) fn pull(&mut self, from: Vec3, to: Vec3) {
        let (from, to) = (words(self.s.stage(from)), words(self.s.stage(to)));
        self.play(&format!(
            "right turn 0 0 0\nright at {from}\nwait 0.07\nright squeeze 1\nwait 0.07\nright at {to} over 0.3\nwait 0.07\nright squeeze 0\nwait 0.07"
        ));
    }

    /// Moves the hands to the palette and chooses a page.
    pub(super) fn page(&mut self, page: &str) {
        self.play(AT_PALETTE);
        self.press("palette", page);
    }

    pub(super) fn rest<const N: usize>(&self, names: [&str; N]) -> [Vec3; N] {
        joints(&self.model, &self.model.rest(), names)
    }

    /// Opens a file as a new task, with all settings as at first. Setting up is no part of the task.
    fn open(&mut self, file: &str) {
        self.s.app.ask(&Ask::Command(Command::Open(file.into())));
        self.s.app.event("a character", |e| matches!(e, Event::Loaded(_)).then_some(()));
        self.s.app.event("the body on the stage", |e| matches!(e, Event::Shown(_)).then_some(()));
        self.model = load(&self.runtime.path(file));
        for command in
            [Command::Tool(Tool::Line), Command::GrabBy(Default::default()), Command::AutoKey(false)]
        {
            self.s.app.press(command);
        }
        if self.s.app.details() {
            self.s.app.press(Command::Details);
        }
        self.shrink();
        self.play(AT_PALETTE);
        self.press("palette", "Pose");
        self.presses = 0;
    }

    /// Saves the document, for the check of the outcome.
    pub(super) fn saved(&mut self) -> (Model, Document) {
        self.s.app.ask(&Ask::Command(Command::Save));
        self.s.app.event("a saved project", |e| {
            matches!(e, Event::Written(p) if p.ends_with("project.glb")).then_some(())
        });
        saved(&self.runtime.path("out/project.glb"))
    }
}

impl App {
    /// Whether the details panel shows.
    fn details(&self) -> bool {
        self.frame.details_place.is_some()
    }
}

type Task = fn(&mut Person<'_>);
type Outcome = fn(&Model, &Document);

/// The file, the work and the outcome of the first nine tasks.
const WORK: [(&str, Task, Outcome); 9] = [
    ("human.glb", arm, outcomes::arm),
    ("human.glb", wrist, outcomes::wrist),
    ("human.glb", lean, outcomes::lean),
    ("human.glb", ring, outcomes::ring),
    ("human.glb", flesh, outcomes::flesh),
    ("face.glb", the_face, outcomes::face),
    ("human.glb", walk, outcomes::walk),
    ("human.glb", clip, outcomes::clip),
    ("human.glb", method, outcomes::method),
];

pub(super) fn arm(p: &mut Person<'_>) {
    let [shoulder, elbow, wrist] = p.rest(["LeftUpperArm", "LeftLowerArm", "LeftHand"]);
    p.draw(&[shoulder, elbow, wrist]);
    let reach = shoulder.distance(elbow) + elbow.distance(wrist);
    let up = Vec3::new(1.0, 0.6, 0.2).normalize() * reach;
    p.draw(&[shoulder, shoulder + 0.5 * up, shoulder + up]);
}

fn wrist(p: &mut Person<'_>) {
    let [wrist] = p.rest(["LeftHand"]);
    p.press("palette", "Joint");
    // The hand turns about the wrist.
    let (tip, middle) = (p.s.tip(wrist), words(p.s.stage(wrist)));
    p.play(&format!(
        "right turn 0 0 0\nright at {tip}\nwait 0.07\nright trigger 1\nwait 0.07\nright arc {middle} 1 0 0 45 over 0.4\nwait 0.07\nright trigger 0\nwait 0.07"
    ));
}

/// Pins both feet: a pull of the trigger while the hand holds a joint pins the joint.
pub(super) fn pin_feet(p: &mut Person<'_>) {
    for foot in p.rest(["LeftFoot", "RightFoot"]) {
        let at = words(p.s.stage(foot));
        p.play(&format!(
            "right turn 0 0 0\nright at {at}\nwait 0.07\nright squeeze 1\nwait 0.07\nright trigger 1\nwait 0.07\nright trigger 0 &\nright squeeze 0\nwait 0.07"
        ));
    }
}

fn lean(p: &mut Person<'_>) {
    pin_feet(p);
    let [chest] = p.rest(["Chest"]);
    p.pull(chest, chest + Vec3::new(0.05, -0.05, 0.2));
}

fn ring(p: &mut Person<'_>) {
    let [shoulder, elbow] = p.rest(["LeftUpperArm", "LeftLowerArm"]);
    let (axis, middle) = ((elbow - shoulder).normalize(), shoulder.lerp(elbow, 0.55));
    p.press("palette", "Skin");
    // The hand circles the arm and points at it.
    let out = (Vec3::Z - axis * axis.z).normalize();
    let (centre, start) = (words(p.s.stage(middle)), words(p.s.stage(middle + out * 0.12)));
    let turn = p.s.app.frame.world_from_room.rotation * p.s.app.room_from_stage.orientation;
    let about = words(turn.inverse() * axis);
    p.play(&format!("left at -0.5 0.6 0 &\nright at {start}\nright look {centre}\nwait 0.07"));
    p.s.app.until_frame(100, "seeing the skin", |f| f.surface[1].is_some());
    let held = Vec3::from(p.s.app.frame.surface[1].unwrap());
    p.play(&format!(
        "right trigger 1\nright arc {centre} {about} 362 over 2\nwait 0.07\nright trigger 0\nwait 0.1"
    ));
    p.draw(&[held, held + out * 0.02, held + out * 0.04]);
    p.page("Time");
    p.press("palette", "Key");
    p.scrub(1.0);
    p.press("palette", "Details");
    p.press("details", "Shape");
    p.slide("amplitude", 0.9);
    p.press("palette", "Key");
}

fn flesh(p: &mut Person<'_>) {
    p.press("palette", "Details");
    p.press("details", "Deformer");
    p.slide("Twist", 0.9);
}

fn the_face(p: &mut Person<'_>) {
    p.press("palette", "Details");
    p.press("details", "Morphs");
    p.press("details", "Key");
    p.page("Time");
    p.scrub(1.0);
    p.slide_row("smile");
    p.press("details", "Key");
}

fn walk(p: &mut Person<'_>) {
    p.press("palette", "Grab body");
    p.press("palette", "Grab bone");
    p.page("Time");
    p.press("palette", "Auto key");
    p.press("palette", "Key");
    for step in 1..4 {
        p.scrub(0.25 * step as f32);
        let name = ["LeftFoot", "RightFoot"][step % 2];
        let [foot] = p.displayed(name);
        p.pull(foot, foot + Vec3::new(0.0, 0.08, if step == 3 { -0.2 } else { 0.2 }));
        p.play(AT_PALETTE);
    }
    p.scrub(0.0);
    p.press("palette", "Details");
    p.press("details", "Keys");
    p.press("details", "All");
    p.press("details", "× 2");
}

fn clip(p: &mut Person<'_>) {
    p.press("palette", "Details");
    p.press("details", "Clips");
    p.press("details", "+");
    let [shoulder, elbow, wrist] = p.rest(["RightUpperArm", "RightLowerArm", "RightHand"]);
    p.draw(&[shoulder, elbow, wrist]);
    let reach = shoulder.distance(elbow) + elbow.distance(wrist);
    let up = Vec3::new(-1.0, 0.5, 0.3).normalize() * reach;
    p.draw(&[shoulder, shoulder + 0.5 * up, shoulder + up]);
}

fn method(p: &mut Person<'_>) {
    p.page("View");
    let before = p.s.app.picture("task_springs");
    p.press("palette", "B  DQS");
    p.play("right look 2 1 2\nwait 0.1");
    let after = p.s.app.picture("task_dqs");
    assert!(differing(&before, &after) > 0, "both methods look alike");
}

/// The program is killed after a stroke; the next start resumes the document, which is then exported.
fn recover(runtime: &Runtime, mut s: Session) -> Effort {
    let model = load(&runtime.path("human.glb"));
    s.app.ask(&Ask::Command(Command::Open("human.glb".into())));
    s.app.event("a character", |e| matches!(e, Event::Loaded(_)).then_some(()));
    s.app.event("the body on the stage", |e| matches!(e, Event::Shown(_)).then_some(()));
    let mut p = Person::sit(runtime, s, model);
    arm(&mut p);
    let hash = p.s.app.hash();
    // The runtime serves one puppet at a time.
    let Person { s: Session { app, puppet }, .. } = p;
    app.kill();
    drop(puppet);
    let puppet = runtime.puppet();
    let app = App::start(runtime, &["human.glb", "--out", "out", "--samples", "1"]);
    let mut s = Session { app, puppet };
    s.app.event("a character", |e| matches!(e, Event::Loaded(_)).then_some(()));
    s.focus();
    s.app.until_frame(300, "the recovered strokes", |f| f.history[0] == 3);
    assert_eq!(s.app.hash(), hash);
    let model = load(&runtime.path("human.glb"));
    let mut p = Person { s, runtime, model, presses: 0, highest: f32::NEG_INFINITY };
    let frame = p.s.app.frame.frame;
    p.s.play(&format!("head at 0 {EYES} 0 &\n{AT_PALETTE}"));
    if !p.s.app.frame.palette {
        p.s.app.press(Command::Palette);
    }
    p.page("Session");
    p.press("palette", "Export");
    let written = |e: &Event| matches!(e, Event::Written(p) if p.ends_with("posed.glb")).then_some(());
    if !p.s.app.events.iter().any(|e| written(e).is_some()) {
        p.s.app.event("the export", written);
    }
    let effort = Effort { frames: p.s.app.frame.frame - frame, presses: p.presses };
    assert!(p.highest < 0.0, "a hand was {} m above the shoulders", p.highest);
    let names = ["LeftUpperArm", "LeftHand"];
    let exported = load(&runtime.path("out/posed.glb"));
    let [shoulder, hand] = joints(&exported, &exported.rest(), names);
    assert!(hand.y > shoulder.y, "the exported hand hangs: {hand} {shoulder}");
    p.s.end(runtime);
    effort
}

#[test]
fn ten_tasks_are_done_in_the_headset_by_a_seated_person() {
    let Some((runtime, s)) = Session::start_with("human.glb", &human(), &[]) else { return };
    std::fs::write(runtime.path("face.glb"), face()).unwrap();
    let model = load(&runtime.path("human.glb"));
    let mut p = Person::sit(&runtime, s, model);
    let mut efforts = Vec::new();
    for ((file, task, outcome), (name, _)) in WORK.iter().zip(TASKS) {
        println!("{name}");
        p.open(file);
        let (frame, before) = (p.s.app.frame.frame, p.s.app.picture("task_before"));
        task(&mut p);
        efforts.push(Effort { frames: p.s.app.frame.frame - frame, presses: p.presses });
        let picture = p.s.app.picture(&format!("task_{}", efforts.len()));
        assert!(differing(&before, &picture) > 100, "{name}: nothing shows");
        let (model, document) = p.saved();
        outcome(&model, &document);
        assert!(p.highest < 0.0, "{name}: a hand was {} m above the shoulders", p.highest);
    }
    let Person { s: Session { app, puppet }, .. } = p;
    app.quit();
    drop(puppet);
    assert_eq!(runtime.findings(), "");
    let s = Session::on(&runtime, &[]);
    efforts.push(recover(&runtime, s));
    compare(0, &efforts);
}
