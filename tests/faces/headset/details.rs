//! Test of the details panel: settings, poses and history in the headset.

use super::bed::Runtime;
use super::palette::hands;
use super::review::press;
use super::shaping::AT_PALETTE;
use super::stage::{Session, saved, words};
use sinew::base::math::{Quat, Vec3};
use sinew::scene::recipe;
use sinew::ui::Section;
use sinew::ui::palette::{Page, PanelState, Panels, Placement, Spot};
use sinew::workbench::{Command, Preferences, Workbench};

/// Distance from the start of a setting's label to a point of its slider, pixels: near the left end, and right of the middle.
const TRACK: [f32; 2] = [225.0, 360.0];

/// The details panel in this process, which shows the session's document and finds its targets.
struct Details {
    panels: Panels,
    bench: Workbench,
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
        let (pose, size) = s.app.frame.details_place.expect("the details panel shows");
        words(Placement { panel, pose, size }.point([x + right / panel.size()[0] as f32, y]))
    }

    fn press(&self, s: &mut Session, spot: &Spot) {
        let at = self.at(s, spot, 0.0);
        s.play(&format!("right look {at}\nwait 0.2\nright trigger 1\nwait 0.1\nright trigger 0\nwait 0.2"));
    }
}

pub fn settings_poses_and_history_are_on_the_details_panel(s: &mut Session, runtime: &Runtime) {
    let fresh = s.app.hash();
    s.play(AT_PALETTE);
    press(s, None, &Spot::Page(Page::Session));
    press(s, Some(Page::Session), &Spot::Command(Command::Details));
    s.app.until_frame(100, "with details", |f| f.details_place.is_some());
    assert_eq!(s.app.hash(), fresh, "the panel changes no document");

    // The slider of the springs' twist.
    let details = Details::new(s, runtime, Section::Deformer);
    let torsion =
        |bench: &Workbench| recipe(bench.session().document().deformer()).unwrap().springs.unwrap().torsion;
    let before = torsion(&details.bench);
    details.press(s, &Spot::Section(Section::Deformer));
    let label = Spot::Text("Twist".into());
    let [from, to] = TRACK.map(|right| details.at(s, &label, right));
    s.play(&format!(
        "right look {from}\nwait 0.2\nright trigger 1\nwait 0.1\nright look {to} over 0.4\nwait 0.1\nright trigger 0\nwait 0.2"
    ));
    assert_eq!(s.app.frame.history, [2, 0], "opened, twist");
    s.app.picture("details_deformer");

    let details = Details::new(s, runtime, Section::Poses);
    let after = torsion(&details.bench);
    assert!((after - before).abs() > 0.3, "{before} {after}");
    details.press(s, &Spot::Section(Section::Poses));
    details.press(s, &Spot::Text("Keep".into()));
    assert_eq!(s.app.frame.history, [3, 0], "opened, twist, pose");
    s.app.picture("details_poses");

    let details = Details::new(s, runtime, Section::History);
    assert_eq!(details.bench.session().document().poses().len(), 1);
    details.press(s, &Spot::Section(Section::History));
    // Here the first step opened the saved project, in the program the character; both are in the first line.
    details.press(s, &Spot::Text("Open the project".into()));
    assert_eq!(s.app.frame.history, [1, 2], "the first step of the history");
    assert_eq!(s.app.hash(), fresh);
    details.press(s, &Spot::Command(Command::Details));
    assert!(s.app.frame.details_place.is_none());
    press(s, None, &Spot::Page(Page::Pose));
    // An unsaved document would be recovered when the file is opened again.
    s.save(runtime);
}
