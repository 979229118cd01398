//! The details panel in the headset, and the test of its settings, poses and history.

use super::bed::Runtime;
use super::palette::hands;
use super::review::press;
use super::shaping::AT_PALETTE;
use super::stage::{Session, saved, words};
use sinew::base::math::{Quat, Vec3};
use sinew::scene::recipe;
use sinew::ui::Section;
use sinew::ui::palette::{Panel, PanelState, Panels, Placement, Spot};
use sinew::workbench::{Command, Preferences, Workbench};

/// Distance from the start of a setting's label to a point of its slider, pixels: near the left end, and right of the middle.
const TRACK: [f32; 2] = [225.0, 360.0];

/// Left and right end of the track of a slider with its label at the right, pixels.
const RAIL: [f32; 2] = [40.0, 250.0];

/// The open details panel in this process, which shows the session's document and finds its targets.
pub struct Details {
    panels: Panels,
    pub bench: Workbench,
}

impl Details {
    /// Opens a section of the panel for the document in the saved project.
    fn new(s: &mut Session, runtime: &Runtime, section: Section) -> Self {
        s.save(runtime);
        let (model, _) = saved(&runtime.path("out/project.glb"));
        let session = model.start(None).unwrap();
        let bench = Workbench::new(session, model.bound.character.clone(), Preferences::default());
        let preferences = Preferences { palette: false, details: true, ..Preferences::default() };
        let state = PanelState { preferences, ..PanelState::default() };
        let mut panels = Panels::new();
        let mut input = hands(s);
        let mut step = |panels: &mut Panels, at: Option<Vec3>, draw: f32| {
            input.time += 1.0 / 30.0;
            input.hands[1].draw = draw;
            let aim = &mut input.hands[1].aim.pose;
            if let Some(at) = at {
                aim.orientation = Quat::from_rotation_arc(Vec3::NEG_Z, (at - aim.position).normalize());
            }
            panels.step(&input, 1, &state, Some(&bench));
        };
        (0..3).for_each(|_| step(&mut panels, None, 0.0));
        let tab = panels.target(&Spot::Section(section));
        for draw in [0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0] {
            step(&mut panels, tab, draw);
        }
        Self { panels, bench }
    }

    /// Returns a position `right` pixels right of a target's centre, room space, on the panel that the program reports.
    fn at(&self, s: &Session, spot: &Spot, right: f32) -> String {
        let (panel, [x, y]) = self.panels.find(spot).unwrap_or_else(|| panic!("no {spot:?}"));
        words(place(s, (panel, [x + right / panel.size()[0] as f32, y])))
    }

    /// Opens the panel from the palette and shows a section of the document. The hands are where they reach panels.
    pub fn open(s: &mut Session, runtime: &Runtime, section: Section) -> Self {
        press(s, None, &Spot::Command(Command::Details));
        s.app.until_frame(100, "with details", |f| f.details_place.is_some());
        let details = Self::new(s, runtime, section);
        details.press(s, &Spot::Section(section));
        details
    }

    /// Closes the panel.
    pub fn close(&self, s: &mut Session) {
        self.press(s, &Spot::Command(Command::Details));
        assert!(s.app.frame.details_place.is_none());
    }

    /// Drags a slider with its label at the right from its middle to the fraction `share` of its track.
    pub fn slide(&self, s: &mut Session, label: &str, share: f32) {
        let (panel, [_, y]) = self.panels.find(&Spot::Text(label.into())).expect("no such slider");
        let width = panel.size()[0] as f32;
        let x = |share: f32| (RAIL[0] + (RAIL[1] - RAIL[0]) * share) / width;
        let [from, to] = [0.5, share].map(|share| words(place(s, (panel, [x(share), y]))));
        drag(s, [&from, &to]);
    }

    pub fn press(&self, s: &mut Session, spot: &Spot) {
        let at = self.at(s, spot, 0.0);
        s.play(&format!("right look {at}\nwait 0.1\nright trigger 1\nwait 0.07\nright trigger 0\nwait 0.1"));
    }
}

/// Converts a point on the panel to room space by the panel's pose that the program reports.
fn place(s: &Session, (panel, at): (Panel, [f32; 2])) -> Vec3 {
    let (pose, size) = s.app.frame.details_place.expect("the details panel shows");
    Placement { panel, pose, size }.point(at)
}

/// Drags the ray from one position to another with the trigger pulled.
fn drag(s: &mut Session, [from, to]: [&str; 2]) {
    s.play(&format!(
        "right look {from}\nwait 0.1\nright trigger 1\nwait 0.07\nright look {to} over 0.4\nwait 0.07\nright trigger 0\nwait 0.1"
    ));
}

/// Keys the pose at 0 and 0.5 s and drags the second key to 0.75 s on the open dope sheet.
fn keys_are_dragged_and_undo_drops_a_box(s: &mut Session) {
    for command in [Command::Key, Command::Scrub(0.5), Command::Key] {
        s.app.press(command);
    }
    let steps = s.app.frame.history[0];
    let text = |s: &mut Session, end: &str| {
        let texts = s.app.texts();
        texts.into_iter().find(|t| t.panel == "details" && t.text.ends_with(end))
    };
    // The numbers of the ruler, which are frames, begin at their lines. These are the distances from the line of a number
    // to the middle of the number, pixels.
    let [zero, one] = [("0", 10.0), ("24", 16.0)].map(|(number, middle)| {
        let texts: Vec<_> = s.app.texts().into_iter().filter(|t| t.panel == "details").collect();
        let at = texts.iter().find(|t| t.text == number);
        let at = at.unwrap_or_else(|| panic!("no {number} on the ruler"));
        Vec3::from(at.centre) - middle * Vec3::from(at.right)
    });
    let row = text(s, " keys").expect("the row of all keys");
    let (right, down) = (Vec3::from(row.right), Vec3::from(row.down).normalize());
    let place = |time: f32| {
        let at = zero.lerp(one, time);
        words(at + down * (Vec3::from(row.centre) - at).dot(down))
    };
    assert!((one - zero).dot(right) > 0.0);
    drag(s, [&place(0.5), &place(0.75)]);
    assert_eq!(s.app.frame.history, [steps + 1, 0], "one step");
    let chosen = text(s, " selected").expect("the dragged key is selected").text;
    // The undo button of the other hand drops a box, which selects nothing, and undoes no step.
    s.play(&format!(
        "right look {}\nwait 0.1\nright trigger 1\nwait 0.07\nright look {} over 0.3\nleft press a\nwait 0.07\nleft release a\nwait 0.07\nright trigger 0\nwait 0.1",
        place(1.2),
        place(1.0)
    ));
    assert_eq!(s.app.frame.history, [steps + 1, 0], "undo reached the document");
    assert_eq!(text(s, " selected").map(|t| t.text), Some(chosen));
    s.app.press(Command::Undo);
    assert_eq!(s.app.frame.history, [steps, 1], "without a drag, undo undoes");
    s.app.press(Command::Redo);
}

pub fn settings_poses_and_history_are_on_the_details_panel(s: &mut Session, runtime: &Runtime) {
    let fresh = s.app.hash();
    s.play(AT_PALETTE);
    let details = Details::open(s, runtime, Section::Deformer);
    assert_eq!(s.app.hash(), fresh, "the panel changes no document");

    // The slider of the springs' twist.
    let torsion =
        |bench: &Workbench| recipe(bench.session().document().deformer()).unwrap().springs.unwrap().torsion;
    let before = torsion(&details.bench);
    let label = Spot::Text("Twist".into());
    let [from, to] = TRACK.map(|right| details.at(s, &label, right));
    drag(s, [&from, &to]);
    assert_eq!(s.app.frame.history, [2, 0], "opened, twist");
    s.app.picture("details_deformer");

    let details = Details::new(s, runtime, Section::Poses);
    let after = torsion(&details.bench);
    assert!((after - before).abs() > 0.3, "{before} {after}");
    details.press(s, &Spot::Section(Section::Poses));
    details.press(s, &Spot::Text("Keep".into()));
    assert_eq!(s.app.frame.history, [3, 0], "opened, twist, pose");
    s.app.picture("details_poses");

    details.press(s, &Spot::Section(Section::Keys));
    keys_are_dragged_and_undo_drops_a_box(s);
    s.app.picture("details_keys");

    let details = Details::new(s, runtime, Section::History);
    assert_eq!(details.bench.session().document().poses().len(), 1);
    assert_eq!(details.bench.session().document().motion().key_times(), [0.0, 0.75]);
    details.press(s, &Spot::Section(Section::History));
    // Here the first step opened the saved project, in the program the character; both are in the first line.
    details.press(s, &Spot::Text("Open the project".into()));
    assert_eq!(s.app.frame.history, [1, 5], "the first step of the history");
    assert_eq!(s.app.hash(), fresh);
    details.close(s);
    // An unsaved document would be recovered when the file is opened again.
    s.save(runtime);
}
