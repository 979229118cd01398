//! The ten tasks in the window, by mouse and keys.

use super::characters::{face, human, joints, load};
use super::{Effort, TASKS, compare, outcomes};
use crate::desktop::Desktop;
use crate::window::stage::{Session, changed, keep, keys};
use sinew::app::report::{Ask, Event, Text};
use sinew::base::math::Vec3;
use sinew::document::Document;
use sinew::scene::Model;
use sinew::workbench::{Command, GrabBy, Tool};
use std::path::Path;

/// Width of a slider's track, logical pixels.
const TRACK: f32 = 110.0;
/// Distance from the centre of a slider's number to the right end of its track, logical pixels.
const NUMBER: f32 = 29.0;

/// A person at the window, and the program.
struct Person<'a> {
    s: Session,
    desktop: &'a Desktop,
    folder: &'a Path,
    model: Model,
    presses: u32,
}

impl Person<'_> {
    /// Presses keys together: one press.
    fn key(&mut self, keysyms: &[u32]) {
        self.presses += 1;
        self.s.press(self.desktop, keysyms);
    }

    fn letter(&mut self, letter: u8) {
        self.key(&[u32::from(letter)]);
    }

    /// Drags with the first button through pixels; one pixel is a click.
    fn drag(&mut self, path: &[[f32; 2]]) {
        self.presses += 1;
        self.s.drag(self.desktop, 1, path);
    }

    fn pixel(&self, at: Vec3) -> [f32; 2] {
        self.s.app.pixel(at)
    }

    /// Draws through world positions.
    fn draw(&mut self, path: &[Vec3]) {
        let straight = path.windows(2).flat_map(|p| (0..8).map(|i| p[0].lerp(p[1], i as f32 / 8.0)));
        let path: Vec<[f32; 2]> = straight.chain(path.last().copied()).map(|p| self.pixel(p)).collect();
        self.drag(&path);
    }

    /// Finds a text that is accepted; scrolls the side panel until it shows. `what` describes it.
    fn find_where(&mut self, what: &str, accepts: impl Fn(&Text) -> bool) -> Text {
        self.s.find_where(self.desktop, what, accepts)
    }

    fn find(&mut self, text: &str) -> Text {
        self.find_where(text, |t| t.text == text)
    }

    /// Clicks a text.
    fn click(&mut self, text: &str) {
        self.presses += 1;
        self.s.click(self.desktop, text);
    }

    /// Opens a section of the side panel, whose title may end with a number.
    fn section(&mut self, title: &str) {
        let [x, y, _] = self.find_where(title, |t| t.text.split(" (").next() == Some(title)).centre;
        self.drag(&[[x, y]]);
    }

    /// Drags the slider in the row of a label to the share `to` of its track.
    fn slide(&mut self, label: &str, to: f32) {
        let label = self.find(label);
        let texts = self.s.texts();
        // The number is left or right of the label, in the side panel.
        let beside = |t: &&Text| {
            let [across, down] = [0, 1].map(|k| (t.centre[k] - label.centre[k]).abs());
            down < 6.0 && across < 260.0 && t.text.trim_end_matches([' ', '%', '°']).parse::<f32>().is_ok()
        };
        let number = texts.iter().find(beside).unwrap_or_else(|| panic!("no number beside {label:?}"));
        let right = [number.centre[0] - NUMBER * number.right[0], number.centre[1]];
        let at = |share: f32| [right[0] - (1.0 - share) * TRACK * number.right[0], right[1]];
        self.drag(&[at(0.5), at(0.5 * (0.5 + to)), at(to)]);
    }

    fn rest<const N: usize>(&self, names: [&str; N]) -> [Vec3; N] {
        joints(&self.model, &self.model.rest(), names)
    }

    /// Opens a copy of a file as a new task, seen from the front, with all settings as at first. Setting up is no part of
    /// the task.
    fn open(&mut self, file: &str, number: usize) {
        let name = format!("task{number}.glb");
        std::fs::copy(self.folder.join(file), self.folder.join(&name)).unwrap();
        self.s.app.ask(&Ask::Command(Command::Open(name.clone().into())));
        self.s
            .app
            .event("a character", |e| matches!(e, Event::Loaded(p) if p.ends_with(&name)).then_some(()));
        self.s.app.until("the character", |t| t.history == [1, 0] && t.idle);
        self.model = load(&self.folder.join(&name));
        for command in [Command::Tool(Tool::Line), Command::GrabBy(GrabBy::Body), Command::AutoKey(false)] {
            self.s.app.ask(&Ask::Command(command));
        }
        self.s.press(self.desktop, &[u32::from(b'3')]);
        self.s.press(self.desktop, &[u32::from(b'1')]);
        self.s.app.rest();
        self.presses = 0;
    }

    /// Saves the document, for the check of the outcome.
    fn saved(&mut self, number: usize) -> (Model, Document) {
        let path = self.folder.join(format!("task{number}.project.glb"));
        if path.exists() {
            self.s.press(self.desktop, &[keys::CONTROL, u32::from(b's')]);
            // The window counts the document as saved while a job still writes it.
            self.s.app.until("the saved project", |t| !t.unsaved && t.idle);
        } else {
            self.s.save(self.desktop);
        }
        let model = load(&path);
        let document = model.document.clone().unwrap();
        (model, document)
    }

    /// Where a joint shows, world space.
    fn displayed(&mut self, number: usize, name: &str) -> Vec3 {
        let time = self.s.app.turn.time;
        let presses = self.presses;
        let (model, document) = self.saved(number);
        self.presses = presses;
        joints(&model, &document.state(model.skeleton(), time).pose, [name])[0]
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

fn arm(p: &mut Person<'_>) {
    let [shoulder, elbow, wrist] = p.rest(["LeftUpperArm", "LeftLowerArm", "LeftHand"]);
    p.draw(&[shoulder, elbow, wrist]);
    let reach = shoulder.distance(elbow) + elbow.distance(wrist);
    let up = Vec3::new(1.0, 0.6, 0.0).normalize() * reach;
    p.draw(&[shoulder, shoulder + 0.5 * up, shoulder + up]);
}

fn wrist(p: &mut Person<'_>) {
    let [wrist] = p.rest(["LeftHand"]);
    let at = p.pixel(wrist);
    p.drag(&[at]);
    for key in [b'r', b'x', b'4', b'5'] {
        p.letter(key);
    }
    p.key(&[keys::RETURN]);
}

fn lean(p: &mut Person<'_>) {
    for foot in p.rest(["LeftFoot", "RightFoot"]) {
        let at = p.pixel(foot);
        p.drag(&[at]);
        p.letter(b'p');
    }
    p.letter(b'b');
    let [chest] = p.rest(["Chest"]);
    p.draw(&[chest, chest + Vec3::new(0.12, -0.08, 0.0)]);
}

fn ring(p: &mut Person<'_>) {
    let [shoulder, elbow] = p.rest(["LeftUpperArm", "LeftLowerArm"]);
    let (axis, middle) = ((elbow - shoulder).normalize(), shoulder.lerp(elbow, 0.55));
    // A line across the arm that begins and ends beside it is a ring.
    let aside = Vec3::Z.cross(axis).normalize();
    p.letter(b'd');
    p.draw(&[middle - aside * 0.14, middle + aside * 0.14]);
    let front = middle + Vec3::Z * 0.04;
    p.draw(&[front, front + aside * 0.04]);
    p.letter(b'i');
    p.at_frame(24);
    // The section of the skin tool has opened with the tool.
    p.slide("amplitude", 0.9);
    p.letter(b'i');
}

fn flesh(p: &mut Person<'_>) {
    p.slide("Twist", 0.9);
}

fn the_face(p: &mut Person<'_>) {
    p.section("Morphs");
    p.click_last("Key");
    p.at_frame(24);
    let smile = p.find("smile");
    let texts = p.s.texts();
    let row = |t: &&Text| (t.centre[1] - smile.centre[1]).abs() < 6.0;
    let number = texts.iter().filter(row).max_by(|a, b| a.centre[0].total_cmp(&b.centre[0])).unwrap();
    let [x, y, _] = number.centre;
    p.drag(&[[x - 60.0, y], [x - 45.0, y], [x - NUMBER, y]]);
    p.click_last("Key");
}

fn walk(p: &mut Person<'_>) {
    p.key(&[keys::SHIFT, u32::from(b'g')]);
    p.key(&[keys::SHIFT, u32::from(b'g')]);
    p.letter(b'b');
    p.click("Auto key");
    p.letter(b'i');
    for step in 1..4 {
        p.at_frame(6 * step);
        let name = ["LeftFoot", "RightFoot"][step as usize % 2];
        let foot = p.displayed(7, name);
        p.draw(&[foot, foot + Vec3::new([-0.15, 0.15][step as usize % 2], 0.12, 0.0)]);
    }
    p.at_frame(0);
    p.key(&[keys::SHIFT, u32::from(b't')]);
    p.click_last("All");
    p.click_last("× 2");
}

fn clip(p: &mut Person<'_>) {
    p.section("Clips");
    p.click_near("+", "Wave");
    let [shoulder, elbow, wrist] = p.rest(["RightUpperArm", "RightLowerArm", "RightHand"]);
    p.key(&[keys::ESCAPE]);
    p.draw(&[shoulder, elbow, wrist]);
    let reach = shoulder.distance(elbow) + elbow.distance(wrist);
    let up = Vec3::new(-1.0, 0.5, 0.0).normalize() * reach;
    p.draw(&[shoulder, shoulder + 0.5 * up, shoulder + up]);
}

fn method(p: &mut Person<'_>) {
    p.key(&[keys::SHIFT, keys::TAB]);
    p.s.app.until("the divider", |t| t.divider.is_some() && t.idle);
    keep(&p.desktop.screenshot(), "task_compared");
    p.key(&[keys::SHIFT, keys::TAB]);
    p.key(&[keys::TAB]);
}

impl Person<'_> {
    /// Clicks the ruler of the timeline at a frame: one press.
    fn at_frame(&mut self, frame: u32) {
        let [_, top, _, tall] = self.s.app.turn.viewport.map(|v| v as f32);
        let (left, right) = (158.0, self.s.app.turn.size[0] as f32 - 16.0);
        let x = left + (right - left) * frame as f32 / 48.0;
        self.drag(&[[x, top + tall + 47.0]]);
        self.s.app.until("the time", |t| t.time.is_some_and(|s| (s * 24.0 - f64::from(frame)).abs() < 0.6));
    }

    /// Clicks the lowest place of a text.
    fn click_last(&mut self, text: &str) {
        self.find(text);
        let texts = self.s.texts();
        let all = texts.iter().filter(|t| t.text == text);
        let [x, y, _] = all.max_by(|a, b| a.centre[1].total_cmp(&b.centre[1])).unwrap().centre;
        self.drag(&[[x, y]]);
    }

    /// Clicks a text in the row of another text.
    fn click_near(&mut self, text: &str, row: &str) {
        let row = self.find(row);
        let in_row = |t: &Text| t.text == text && (t.centre[1] - row.centre[1]).abs() < 8.0;
        let [x, y, _] = self.find_where(text, in_row).centre;
        self.drag(&[[x, y]]);
    }
}

/// The program is killed after a stroke; the next start offers the document, which is then exported.
fn recover(desktop: &Desktop, folder: &Path) -> Effort {
    let s = Session::open(desktop, folder, &["human.glb"]);
    let model = load(&folder.join("human.glb"));
    let mut p = Person { s, desktop, folder, model, presses: 0 };
    p.s.look_from(desktop, b'1');
    arm(&mut p);
    let hash = p.s.app.hash();
    let Person { s, model, .. } = p;
    s.app.kill();
    let s = Session::open(desktop, folder, &["human.glb"]);
    let mut p = Person { s, desktop, folder, model, presses: 0 };
    p.s.app.until("the offer", |t| t.question.starts_with("Recover"));
    let frame = p.s.app.turn.frame;
    p.key(&[keys::RETURN]);
    p.s.app.until("the recovered document", |t| t.question.is_empty() && t.history[0] == 3);
    p.s.app.rest();
    assert_eq!(p.s.app.hash(), hash);
    p.key(&[keys::CONTROL, u32::from(b'e')]);
    p.s.app.until("where to export to", |t| t.question.starts_with("Export"));
    p.key(&[keys::RETURN]);
    p.s.app.until("the export", |t| t.message.contains("human.posed.glb"));
    let effort = Effort { frames: p.s.app.turn.frame - frame, presses: p.presses };
    let exported = load(&folder.join("human.posed.glb"));
    let [shoulder, hand] = joints(&exported, &exported.rest(), ["LeftUpperArm", "LeftHand"]);
    assert!(hand.y > shoulder.y, "the exported hand hangs: {hand} {shoulder}");
    p.s.app.kill();
    effort
}

#[test]
fn ten_tasks_are_done_in_the_window_by_mouse_and_keys() {
    let Some(desktop) = Desktop::start() else { return };
    let folder = tempfile::Builder::new().prefix("stask").tempdir().unwrap();
    let folder = folder.path();
    std::fs::write(folder.join("human.glb"), human()).unwrap();
    std::fs::write(folder.join("face.glb"), face()).unwrap();
    let s = Session::open(&desktop, folder, &["human.glb", "--forget"]);
    let model = load(&folder.join("human.glb"));
    let mut p = Person { s, desktop: &desktop, folder, model, presses: 0 };
    let mut efforts = Vec::new();
    for (k, ((file, task, outcome), (name, _))) in WORK.iter().zip(TASKS).enumerate() {
        println!("{name}");
        p.open(file, k + 1);
        let (frame, before) = (p.s.app.turn.frame, desktop.screenshot());
        task(&mut p);
        p.s.app.rest();
        efforts.push(Effort { frames: p.s.app.turn.frame - frame, presses: p.presses });
        // All methods and settings of the flesh show the same rest pose.
        let shows = ![4, 8].contains(&k);
        let after = if shows { changed(&desktop, &p.s, &before, 0.0) } else { desktop.screenshot() };
        keep(&after, &format!("task_{}", k + 1));
        let (model, document) = p.saved(k + 1);
        outcome(&model, &document);
    }
    p.s.close(&desktop);
    efforts.push(recover(&desktop, folder));
    compare(1, &efforts);
}
